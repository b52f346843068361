/* nvtx-ring: the shared file in which a program's NVTX ranges reach the recorder.
 *
 * One process, one file nvtx-PID-STARTTIME[.N] in the folder.  STARTTIME is field 22 of /proc/PID/stat; .N is there if the
 * process made files before, which exec leaves behind.  PID is that of the process's own
 * PID namespace, whose inode is in the head.  The file has these areas, which are there
 * once they are used:
 *
 *     0                          struct nvtx_head
 *     NVTX_NOTES_AT              notes: names of domains, threads and categories
 *     NVTX_STRINGS_AT            strings: u32 length, bytes, NUL; 4 byte aligned
 *     NVTX_RINGS_AT              NVTX_RECORDS records for each ring
 *
 * A recorder holds flock(LOCK_EX) on the file NVTX_RECORDER of the folder (LOCK_NB, tried again later: libraries take
 * LOCK_SH for a moment), which begins with struct nvtx_recorder.  It writes this anew, with a number of its own as
 * `reading`, and 0 there at its end.  Programs that cannot have a file count in it what they lose.
 *
 * The library sets `reading` of its file to that number at the beginning if a recorder holds the lock, so that
 * programs are recorded from their first call on.  A recorder
 *   - if `reading` is not its number, sets each `read` to `written` (what is left is an earlier
 *     recorder's), then sets `reading`; sets it to 0 before it lets the file go;
 *   - removes a file that is drained and whose process is gone, or left it by exec;
 *   - ignores a POP or END without its PUSH or START: that came before it.
 * Without a recorder the library removes files of processes that are gone.
 *
 * Nothing in the file can be trusted; a program can also truncate it. */
#ifndef NVTX_RING_H
#define NVTX_RING_H

#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/stat.h>

#include "nvmtop/mark.h"

#define NVTX_RECORDER "nvtx-recorder"
#define NVTX_MAGIC    0x787476706f746d6eULL /* "nmtopvtx" */
enum {
	NVTX_VERSION = 3,
	NVTX_RINGS = 256,
	NVTX_RECORDS = 32768, /* of one ring, a power of two */
	NVTX_NOTES = 16384,
	NVTX_DOMAINS = 4096,
	NVTX_NAME = 1023,             /* longest string in bytes; longer ones are cut */
	NVTX_STRINGS = 16 << 20,      /* bytes */
	NVTX_NOTES_AT = 64 << 10,     /* in the file */
	NVTX_STRINGS_AT = 576 << 10,
	NVTX_RINGS_AT = NVTX_STRINGS_AT + NVTX_STRINGS,
	NVTX_RATE = 200000, /* ranges of a domain in a second, without NVMTOP_NVTX=all */
};

/* Why a range or mark is lost.  Each is counted once, where it is lost: made = recorded + lost. */
enum nvtx_lost {
	/* by the program, in its head */
	NVTX_LOST_RATE,
	NVTX_LOST_THREADS, /* there are NVTX_RINGS */
	NVTX_LOST_DOMAINS,
	NVTX_LOST_DEPTH,
	NVTX_LOST_BUSY,  /* in a signal handler, or while another thread makes the file */
	/* there or, without a file, in that of the recorder: what the system refused */
	NVTX_LOST_SPACE,  /* ENOSPC: the folder is full */
	NVTX_LOST_FSIZE,  /* RLIMIT_FSIZE */
	NVTX_LOST_MEMORY, /* ENOMEM: RLIMIT_AS */
	NVTX_LOST_NOFILE, /* RLIMIT_NOFILE */
	NVTX_LOST_FILE,   /* another error */
	/* the range is there, without this */
	NVTX_LOST_NAME,
	NVTX_LOST_END,
	NVTX_CAUSES,
	/* by the recorder */
	NVTX_LOST_FULL = NVTX_CAUSES, /* `dropped` of the rings */
	NVTX_LOST_OPEN,		      /* too many are open at a time */
	NVTX_LOST_LANES,	      /* of too many domains of threads */
	NVTX_LOST_LATE,		      /* it was read too late to be put in order */
	NVTX_LOST_MARKS,
	NVTX_ALL_CAUSES,
};

/* What a record says.  Those up to MORE are in rings, the others are notes. */
enum nvtx_kind {
	NVTX_NONE, /* a note that is not yet complete */
	NVTX_PUSH,
	NVTX_POP,
	NVTX_START, /* value: the id that END has, of any thread and ring */
	NVTX_END,
	NVTX_MARK,
	NVTX_MORE,    /* of the PUSH or START that comes next in the ring: its category, as tid, and the payload of a START */
	NVTX_DOMAIN,  /* domain, name */
	NVTX_THREAD,  /* tid, name; the last one is valid */
	NVTX_CATEGORY, /* domain, its number as tid, name */
};

/* As in NVTX's event attributes. */
enum nvtx_payload { NVTX_NO_PAYLOAD, NVTX_U64, NVTX_I64, NVTX_DOUBLE, NVTX_U32, NVTX_I32, NVTX_FLOAT };

struct nvtx_record {
	int64_t t;       /* CLOCK_MONOTONIC, ns */
	uint64_t value;  /* of PUSH and MARK the payload; U32, I32 and FLOAT are in its low half */
	uint32_t name;   /* offset in the strings, 0: none */
	uint32_t colour; /* ARGB, 0: none */
	uint16_t domain; /* 0: the default domain, which has no note */
	uint8_t kind, payload;
	uint32_t tid;
};

/* A ring is written by one thread at a time.  Both counts grow without end: record i is in
 * slot i % NVTX_RECORDS, those from read to written - 1 are valid. */
struct nvtx_ring {
	_Alignas(64) _Atomic uint64_t written;
	_Atomic uint64_t dropped;           /* ranges and marks, since the ring was full */
	_Alignas(64) _Atomic uint64_t read; /* by the recorder */
};

/* magic is stored last: before that, the file is not complete. */
struct nvtx_process {
	uint64_t magic;
	uint32_t version, size; /* sizeof(struct nvtx_head) */
	uint32_t pid, uid;
	uint64_t start;  /* STARTTIME */
	uint64_t pid_ns; /* inode of /proc/self/ns/pid */
};

enum nvtx_ended { NVTX_RUNS, NVTX_EXITS, NVTX_EXECED };

struct nvtx_head {
	struct nvtx_process process;
	_Alignas(64) _Atomic uint32_t reading;
	_Alignas(64) _Atomic uint32_t rings; /* used so far */
	_Atomic uint32_t strings;            /* bytes used; only offsets from records lead to whole ones */
	_Atomic uint32_t notes;              /* used; kind is stored last */
	_Atomic uint32_t ended;              /* enum nvtx_ended */
	uint32_t name;                       /* of the process */
	_Atomic uint64_t lost[NVTX_CAUSES];
	struct nvtx_ring ring[NVTX_RINGS];
};

/* The file of the recorder. */
struct nvtx_recorder {
	uint64_t magic;
	uint32_t version;
	_Atomic uint32_t reading;
	_Atomic uint64_t lost[NVTX_CAUSES];
	uint8_t rest[4080 - NVTX_CAUSES * 8]; /* of a page */
};

/* The folder: $NVMTOP_NVTX_DIR, which sets *asked, or else that of the marks' sockets; where these are in /tmp, one in
 * /dev/shm, since a ring on a disk makes both sides wait for its writes.  Returns its length, 0: none. */
static inline size_t nvtx_ring_folder(char *out, size_t size, int *asked)
{
	const char *dir = getenv("NVMTOP_NVTX_DIR");
	size_t n = dir ? strlen(dir) : 0;
	char disk[64];
	struct stat st;

	*asked = n > 0;
	if (*asked) {
		if (dir[0] != '/' || n >= size)
			return 0;
		memcpy(out, dir, n + 1);
		return n;
	}
	n = nvmtop_mark_folder(out, size);
	snprintf(disk, sizeof disk, "/tmp/nvmtop-%lu", (unsigned long)geteuid());
	if (n == 0 || strcmp(out, disk) != 0 || stat("/dev/shm", &st) < 0 || !(st.st_mode & S_ISVTX))
		return n;
	return (size_t)snprintf(out, size, "/dev/shm%s", disk + 4);
}

/* STARTTIME of a process; 0: it is gone, if nobody has waited for it, too; a dead leader with other threads is not. */
static inline uint64_t nvtx_started(int pid)
{
	char name[32], text[1024], *p, state = 'X';
	uint64_t field = 0, threads = 0;
	ssize_t n = -1;
	int fd, i;

	snprintf(name, sizeof name, "/proc/%d/stat", pid);
	if ((fd = open(name, O_RDONLY | O_CLOEXEC)) >= 0) {
		n = read(fd, text, sizeof text - 1);
		close(fd);
	}
	text[n < 0 ? 0 : n] = 0;
	for (p = strrchr(text, ')'), i = 3; p && i <= 22; i++) {
		p = strchr(p + 1, ' ');
		state = p && i == 3 ? p[1] : state;
		threads = i == 21 ? field : threads;
		for (field = 0; p && p[1] >= '0' && p[1] <= '9' && p++;) /* strtoull() is another symbol since 2.38 */
			field = field * 10 + (uint64_t)(*p - '0');
	}
	return p && ((state != 'Z' && state != 'X') || threads > 1) ? field : 0;
}

_Static_assert(sizeof(struct nvtx_record) == 32 && sizeof(struct nvtx_ring) == 128 && sizeof(struct nvtx_recorder) == 4096,
	       "layout");
_Static_assert(sizeof(struct nvtx_head) <= NVTX_NOTES_AT &&
		       NVTX_NOTES_AT + NVTX_NOTES * sizeof(struct nvtx_record) <= NVTX_STRINGS_AT,
	       "layout");

#endif
