/* nvtx-ring: the shared file in which a program's NVTX ranges reach the recorder.
 *
 * One process, one file nvtx-PID-TIME in the folder; after exec it makes another, with a later time of
 * CLOCK_MONOTONIC.  PID is that of the process's own PID namespace, whose inode is in the head.  The file has these
 * areas, the last two as far as they are used:
 *
 *     0                          struct nvtx_head
 *     NVTX_NOTES_AT              struct nvtx_note: names of domains, threads and categories
 *     NVTX_STRINGS_AT            strings: u32 length, bytes, NUL; 4 byte aligned
 *     NVTX_RINGS_AT              NVTX_RECORDS records for each ring
 *
 * A recorder holds flock(LOCK_EX) on the file NVTX_RECORDER of the folder (LOCK_NB, tried again later: libraries take
 * LOCK_SH for a moment), which begins with struct nvtx_recorder.  It writes this anew, with a number of its own as
 * `reading`, and 0 there at its end.  Programs that cannot have a file count in it what they lose.  Another recorder
 * sets `wanted` there: a live screen then lets the folder go.
 *
 * The library sets `reading` of its file to that number at the beginning if a recorder holds the lock, so that
 * programs are recorded from their first call on.  A recorder
 *   - if `reading` is not its number, sets each `read` to `written` (what is left is an earlier
 *     recorder's), then sets `reading`; sets it to 0 before it lets the file go;
 *   - removes a file that is drained and whose process is gone, or has a later one;
 *   - ignores a POP or END without its PUSH or START: that came before it.
 * Without a recorder the library removes files of processes that are gone, and earlier ones of its own.
 *
 * Nothing in the file can be trusted; a program can also truncate it. */
#ifndef NVTX_RING_H
#define NVTX_RING_H

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/stat.h>

#include "nvmtop/mark.h"

#define NVTX_RECORDER "nvtx-recorder"
#define NVTX_MAGIC    0x787476706f746d6eULL /* "nmtopvtx" */
enum {
	NVTX_VERSION = 4,
	NVTX_RINGS = 256,
	NVTX_RECORDS = 32768, /* of one ring, a power of two */
	NVTX_DOMAINS = 4096,
	NVTX_OVER = NVTX_DOMAINS - 1, /* the domains for which there is no place */
	NVTX_NOTES = 6144,    /* domains, and names of threads and categories */
	NVTX_NAME = 1023,     /* longest string in bytes; longer ones are cut */
	NVTX_STRINGS = 16 << 20, /* bytes */
	NVTX_NOTES_AT = 40 << 10, /* in the file */
	NVTX_STRINGS_AT = 128 << 10,
	NVTX_RINGS_AT = NVTX_STRINGS_AT + NVTX_STRINGS,
	NVTX_RATE = 200000, /* ranges of a domain in a second, without NVMTOP_NVTX=all */
};

/* Why a range or mark is lost.  Each is counted once, where it is lost: made = recorded + lost. */
enum nvtx_lost {
	NVTX_NOT_LOST,
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
	NVTX_LOST_FULL, /* the ring is full */
	NVTX_CAUSES,
	/* by the recorder */
	NVTX_LOST_OPEN = NVTX_CAUSES, /* too many are open at a time */
	NVTX_LOST_LANES,	      /* of too many domains of threads */
	NVTX_LOST_LATE,		      /* it was read too late to be put in order */
	NVTX_LOST_MARKS,
	NVTX_ALL_CAUSES,
};

/* What a record says, or a note. */
enum nvtx_kind {
	NVTX_NONE, /* a note that is not yet complete */
	NVTX_PUSH,
	NVTX_POP,
	NVTX_START,
	NVTX_END, /* with tid and id of its START, which may be in another ring */
	NVTX_MARK,
	NVTX_DOMAIN,
	NVTX_THREAD, /* the last one of its number is valid */
	NVTX_CATEGORY,
};

enum nvtx_payload { NVTX_NO_PAYLOAD, NVTX_UNSIGNED, NVTX_SIGNED, NVTX_FLOATING };

struct nvtx_record {
	int64_t t;         /* CLOCK_MONOTONIC, ns */
	uint64_t value;    /* the payload, 64 bits wide */
	uint32_t name;     /* offset in the strings, 0: none */
	uint32_t colour;   /* ARGB, 0: none */
	uint32_t category; /* 0: none */
	uint32_t tid, id;
	uint16_t domain; /* 0: the default domain, which has no note */
	uint8_t kind, payload;
};

/* Kind is stored last. */
struct nvtx_note {
	uint32_t name, number; /* number: of a thread its ID, of a category that of the program */
	uint16_t domain, kind;
};

/* A ring is written by one thread at a time.  Both counts grow without end: record i is in
 * slot i % NVTX_RECORDS, those from read to written - 1 are valid. */
struct nvtx_ring {
	_Alignas(64) _Atomic uint64_t written;
	_Alignas(64) _Atomic uint64_t read; /* by the recorder */
};

/* magic is stored last: before that, the file is not complete. */
struct nvtx_process {
	uint64_t magic;
	uint32_t version, size; /* sizeof(struct nvtx_head) */
	uint64_t pid, start, pid_ns; /* start: field 22 of /proc/PID/stat; pid_ns: inode of /proc/self/ns/pid */
};

struct nvtx_head {
	struct nvtx_process process;
	_Alignas(64) _Atomic uint32_t reading;
	_Alignas(64) _Atomic uint32_t rings; /* used so far */
	_Atomic uint32_t strings;            /* bytes used; only offsets from records lead to whole ones */
	_Atomic uint32_t notes;              /* used */
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
	_Atomic uint32_t wanted;                       /* by another recorder */
	uint8_t rest[4096 - 24 - NVTX_CAUSES * 8]; /* of a page */
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

/* Gets the start of a process, field 22 of /proc/PID/stat; 0: it is gone, if nobody has waited for it, too; a dead
 * leader with other threads is not.  Returns -1 with errno, and 0 in *start, where that cannot be known now: a caller
 * without descriptors or memory must take nobody for dead. */
static inline int nvtx_started(int pid, uint64_t *start)
{
	char name[32], text[1024], *p;
	uint64_t field[23] = {0}; /* 3: state, 20: threads, 22: start */
	ssize_t n = -1;
	int fd, i = 2;

	*start = 0;
	snprintf(name, sizeof name, "/proc/%d/stat", pid);
	if ((fd = open(name, O_RDONLY | O_CLOEXEC)) >= 0) {
		n = read(fd, text, sizeof text - 1);
		close(fd);
	}
	if (n < 0)
		return errno == ENOENT || errno == ESRCH ? 0 : -1;
	text[n] = 0;
	for (p = strrchr(text, ')'); p && *p && i < 23; p++) /* strtoull() is another symbol since 2.38 */
		if (*p == ' ')
			i++;
		else
			field[i] = i == 3 ? (uint64_t)*p : field[i] * 10 + (uint64_t)(*p - '0');
	if (i == 23 && ((field[3] != 'Z' && field[3] != 'X') || field[20] > 1))
		*start = field[22];
	return i == 23 ? 0 : -1;
}

_Static_assert(sizeof(struct nvtx_record) == 40 && sizeof(struct nvtx_note) == 12 && sizeof(struct nvtx_ring) == 128 &&
		       sizeof(struct nvtx_recorder) == 4096 && sizeof(struct nvtx_head) <= NVTX_NOTES_AT &&
		       NVTX_NOTES_AT + NVTX_NOTES * sizeof(struct nvtx_note) <= NVTX_STRINGS_AT,
	       "layout");

#endif
