/* nvtx-ring: writes NVTX ranges into the file of this process.
 *
 * It runs inside of other people's programs, so it must be harmless: nothing waits for another
 * thread or for the recorder, all that can fail is left out and counted.  What is mapped
 * is also allocated, so that a full disk cannot raise SIGBUS.  No descriptor stays open.
 *
 * A thread has a slot, which is found again by the next one once the thread is gone: that needs no destructor, for
 * which glibc has other symbols since 2.34. */
#include "nvtx/nvtx-local.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "nvmtop/mark.h"
#include "nvtx/nvtx-ring.h"

enum {
	LEVELS = 256, /* of these, each is known that was written; deeper ones are, up to the first that was not */
	TABLE = 1 << 17, /* strings that are found again */
	PROBES = 32,
	RESERVE = 4096,    /* places for END; POP always finds one, as PUSH leaves one for each open range */
	BATCH = 64,        /* ranges that a thread takes from NVTX_RATE at once */
	CHUNK = 64 << 10, /* bytes that strings and notes grow by */
	RING = NVTX_RECORDS * sizeof(struct nvtx_record),
	RETRY = 1000, /* calls after which a thread asks again for a slot or a ring */
	PAGE = 64 << 10, /* the largest page of a kernel */
	OUT = NVTX_DOMAINS - 2,  /* further domains that are not to be recorded, */
	OVER = NVTX_DOMAINS - 1, /* and those for which there is no place */
};

struct ring_level {
	uint32_t depth, second, left;
	uint32_t deep;              /* ranges from LEVELS on that were written */
	uint32_t kept[LEVELS / 32]; /* one bit for each open range that was written */
};

struct thread {
	struct nvtx_ring *ring;
	struct nvtx_record *records;
	uint64_t written, read;
	uint32_t open, wait, domains;
	enum nvtx_lost why; /* it has no ring */
	struct ring_level level[NVTX_DOMAINS];
};

static __thread struct {
	struct thread *thread; /* of its slot, or NULL */
	uint32_t slot, tid, ids, wait;
	enum nvtx_lost why;	    /* it has no slot */
	volatile sig_atomic_t busy; /* a signal handler may come in between */
} self;

static struct ring_slot {
	_Atomic uint32_t tid; /* 0: free */
	struct thread *thread;
	struct nvtx_record *records; /* the ring of this number */
} slots[NVTX_RINGS];

static struct domain {
	_Alignas(64) _Atomic uint64_t used; /* second << 32 | ranges in it */
	_Atomic uint32_t name;
	_Atomic int off;
} domains[NVTX_DOMAINS];

/* The file.  It is NEW until the first call, also that of a child after fork. */
enum { NEW, MAKING, READY, FAILED };
static _Atomic int state;
static struct nvtx_head *_Atomic head;
static struct nvtx_head *inherited; /* of the parent */
static char path[512];
static ino_t inode;
static _Atomic uint32_t notes_ready, strings_ready; /* bytes mapped so far */
static _Atomic uint32_t notes_most;		    /* 0 once the disk is full */
static _Atomic uint32_t strings_most;		    /* less than NVTX_STRINGS then */
static _Atomic uint32_t nobody, unknown = 1;
static _Atomic uint32_t *_Atomic reading = &unknown;

/* What is lost is counted in the file, or that of the recorder, which was mapped over our own memory. */
static char pages[2 * PAGE];
static struct nvtx_recorder *recorder;
static _Atomic uint64_t early[NVTX_CAUSES]; /* before there is one */
static _Atomic uint64_t *_Atomic lost = early;
static enum nvtx_lost no_file; /* why there is none */

static _Atomic uint64_t table[TABLE]; /* hash << 32 | offset, 0: free */
static char filter[1024];             /* NVMTOP_NVTX */
static int unlimited;

#define LOAD(x)       atomic_load_explicit(&(x), memory_order_relaxed)
#define SEE(x)        atomic_load_explicit(&(x), memory_order_acquire)
#define PUBLISH(x, v) atomic_store_explicit(&(x), v, memory_order_release)
#define ADD(x, n)     atomic_fetch_add_explicit(&(x), n, memory_order_relaxed)
#define FENCE()       atomic_signal_fence(memory_order_seq_cst)

static void *place(struct nvtx_head *h, size_t at)
{
	return (char *)h + at;
}

/* What was counted early must not stay there, whoever comes first. */
static void count_to(_Atomic uint64_t *to)
{
	atomic_store(&lost, to);
	for (int i = 0; i < NVTX_CAUSES; i++)
		atomic_fetch_add(&to[i], atomic_exchange(&early[i], 0));
}

static void count(enum nvtx_lost cause)
{
	_Atomic uint64_t *to = atomic_load(&lost);

	atomic_fetch_add(&to[cause], 1);
	if (to == early && (to = atomic_load(&lost)) != early)
		atomic_fetch_add(&to[cause], atomic_exchange(&early[cause], 0));
}

static enum nvtx_lost cause_of(int error)
{
	switch (error) {
	case ENOSPC:
	case EDQUOT:
		return NVTX_LOST_SPACE;
	case EFBIG:
		return NVTX_LOST_FSIZE;
	case ENOMEM:
	case EAGAIN:
		return NVTX_LOST_MEMORY;
	case EMFILE:
	case ENFILE:
		return NVTX_LOST_NOFILE;
	default:
		return NVTX_LOST_FILE;
	}
}

/* Allocates and maps a part of the file, there or, if to is NULL, anywhere; again is harmless.  NULL: see errno. */
static void *grow(void *to, int fd, size_t at, size_t n)
{
	struct rlimit most;
	int tries = 100, done;

	if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur < at + n) {
		errno = EFBIG; /* to go beyond it would raise SIGXFSZ */
		return NULL;
	}
	do
		done = fallocate(fd, 0, (off_t)at, (off_t)n) == 0;
	while (!done && errno == EINTR && tries--);
	if (!done)
		return NULL;
	to = mmap(to, n, PROT_READ | PROT_WRITE, MAP_SHARED | (to ? MAP_FIXED : 0), fd, (off_t)at);
	return to == MAP_FAILED ? NULL : to;
}

static void *grow_later(void *to, size_t at, size_t n)
{
	int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC), error;
	struct stat st;

	if (fd < 0)
		return NULL;
	to = fstat(fd, &st) == 0 && st.st_ino == inode ? grow(to, fd, at, n) : NULL;
	error = errno;
	close(fd);
	errno = error;
	return to;
}

/* Has an area mapped up to there. */
static int reach(struct nvtx_head *h, size_t area, _Atomic uint32_t *ready, uint32_t end)
{
	uint32_t now;

	while ((now = SEE(*ready)) < end) {
		int before = errno, grown = grow_later(place(h, area + now), area + now, CHUNK) != NULL;

		errno = before;
		if (!grown)
			return 0;
		atomic_compare_exchange_strong(ready, &now, now + CHUNK);
	}
	return 1;
}

/* Removes the files of processes that are gone, unless there is a recorder for them, and
 * ends those that this process had before exec. */
static void tidy(const char *folder, const struct nvtx_process *me, int recorded)
{
	DIR *list = opendir(folder);
	struct nvtx_process h;
	struct dirent *d;
	struct stat st;
	const uint32_t execed = NVTX_EXECED;
	char mine[64];
	int fd, own, n = snprintf(mine, sizeof mine, "nvtx-%u-%llu", me->pid, (unsigned long long)me->start);

	while (list && (d = readdir(list))) {
		if (strncmp(d->d_name, mine, recorded ? (size_t)n : 5) || !strcmp(d->d_name, NVTX_RECORDER) ||
		    (fd = openat(dirfd(list), d->d_name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)) < 0)
			continue;
		if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
		    pread(fd, &h, sizeof h, 0) == sizeof h && h.magic == NVTX_MAGIC &&
		    h.pid_ns == me->pid_ns) {
			own = h.pid == me->pid && h.start == me->start;
			if (!recorded && (own || nvtx_started((int)h.pid) != h.start))
				unlinkat(dirfd(list), d->d_name, 0);
			else if (own)
				(void)!pwrite(fd, &execed, sizeof execed, offsetof(struct nvtx_head, ended));
		}
		close(fd);
	}
	if (list)
		closedir(list);
}

/* The folder, if only this user can write to it, or if it was asked for.  False: see errno. */
static int folder_find(char *name, size_t size)
{
	int asked;

	errno = ENOENT;
	if (!nvtx_ring_folder(name, size, &asked))
		return 0;
	mkdir(name, 0700);
	errno = EACCES;
	return asked || nvmtop_mark_safe(name, 0);
}

/* Whether there is a recorder.  Its counters are mapped over our own memory, which needs no more of it.  A child that
 * cannot do so has what its parent mapped. */
static int recorder_find(const char *folder)
{
	char name[sizeof path];
	struct nvtx_recorder *at = (void *)(pages + (PAGE - (uintptr_t)pages % PAGE) % PAGE);
	struct stat st;
	int fd, locked;

	snprintf(name, sizeof name, "%s/%s", folder, NVTX_RECORDER);
	if ((fd = open(name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)) < 0)
		return 0;
	locked = flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	flock(fd, LOCK_UN); /* what is mapped would hold it */
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= (off_t)sizeof *recorder &&
	    mmap(at, sizeof *recorder, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == at)
		recorder = at->magic == NVTX_MAGIC && at->version == NVTX_VERSION ? at : NULL;
	close(fd);
	return locked && recorder;
}

/* A child knows the strings and domains of its parent by the same numbers. */
static void inherit(struct nvtx_head *h, uint32_t notes, uint32_t strings)
{
	const struct nvtx_record *from = place(inherited, NVTX_NOTES_AT);
	struct nvtx_record *to = place(h, NVTX_NOTES_AT);
	uint32_t n = atomic_load(&inherited->strings), kept = 0;

	n = n < strings ? n : strings;
	memcpy(place(h, NVTX_STRINGS_AT), place(inherited, NVTX_STRINGS_AT), n);
	atomic_store(&h->strings, n);
	for (uint32_t i = 0; i < notes / sizeof *from; i++)
		if (from[i].kind == NVTX_DOMAIN || from[i].kind == NVTX_CATEGORY)
			to[kept++] = from[i];
	atomic_store(&h->notes, kept);
	munmap(inherited, NVTX_RINGS_AT);
	inherited = NULL;
}

static uint32_t intern(struct nvtx_head *h, const char *s, size_t n);

/* A new file, whose name becomes path. */
static int create(const char *folder, const struct nvtx_process *me)
{
	int fd = -1, n;

	for (n = 0; n < 100 && fd < 0; n++) {
		int len = snprintf(path, sizeof path, "%s/nvtx-%u-%llu", folder, me->pid,
				   (unsigned long long)me->start);

		if (n)
			snprintf(path + len, sizeof path - (size_t)len, ".%d", n);
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	return fd;
}

/* NULL: see errno. */
static struct nvtx_head *make_file(void)
{
	struct nvtx_process me = {.version = NVTX_VERSION,
				  .size = sizeof(struct nvtx_head),
				  .pid = (uint32_t)getpid(),
				  .uid = geteuid(),
				  .start = nvtx_started(getpid())};
	uint32_t notes = inherited ? LOAD(notes_ready) : CHUNK, strings = inherited ? LOAD(strings_ready) : CHUNK;
	char folder[sizeof path - 64];
	int fd, recorded, error;
	struct nvtx_head *h;
	struct stat st;

	if (!folder_find(folder, sizeof folder))
		return NULL;
	me.pid_ns = stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
	recorded = recorder_find(folder);
	tidy(folder, &me, recorded);
	if ((fd = create(folder, &me)) < 0)
		return NULL;
	h = mmap(NULL, NVTX_RINGS_AT, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (h == MAP_FAILED || fstat(fd, &st) < 0 || !grow(h, fd, 0, NVTX_NOTES_AT + notes) ||
	    !grow(place(h, NVTX_STRINGS_AT), fd, NVTX_STRINGS_AT, strings)) {
		error = errno;
		close(fd);
		unlink(path);
		if (h != MAP_FAILED)
			munmap(h, NVTX_RINGS_AT);
		errno = error;
		return NULL;
	}
	close(fd);
	inode = st.st_ino;
	atomic_store(&notes_ready, notes);
	atomic_store(&strings_ready, strings);
	atomic_store(&notes_most, NVTX_NOTES);
	atomic_store(&strings_most, NVTX_STRINGS);
	atomic_store(&h->strings, 8);
	if (inherited)
		inherit(h, notes, strings);
	h->process = me;
	atomic_store(&h->reading, recorded ? LOAD(recorder->reading) : 0);
	count_to(h->lost);
	h->name = intern(h, program_invocation_short_name, strnlen(program_invocation_short_name, NVTX_NAME));
	__atomic_store_n(&h->process.magic, NVTX_MAGIC, __ATOMIC_RELEASE);
	return h;
}

/* NULL: there is none, or another thread is making it. */
static struct nvtx_head *file(void)
{
	struct nvtx_head *h = SEE(head);
	int before = errno, expected = NEW;

	if (h || !atomic_compare_exchange_strong(&state, &expected, MAKING))
		return h;
	for (int i = 0; i < NVTX_RINGS; i++) {
		if (slots[i].records)
			munmap(slots[i].records, RING); /* of the parent */
		slots[i].records = NULL;
	}
	if ((h = make_file()) != NULL) {
		PUBLISH(head, h);
		PUBLISH(reading, &h->reading);
	} else {
		no_file = cause_of(errno);
		if (recorder)
			count_to(recorder->lost);
		PUBLISH(reading, recorder ? &recorder->reading : &nobody);
	}
	atomic_store(&state, h ? READY : FAILED);
	errno = before;
	return h;
}

static uint32_t own_tid(void)
{
	if (!self.tid)
		self.tid = (uint32_t)syscall(SYS_gettid);
	return self.tid;
}

/* A child has a file of its own from its first call on; what is open belongs to the parent. */
static void forked(void)
{
	struct nvtx_head *h = LOAD(head);
	struct thread *t = self.thread;

	self.tid = self.wait = 0;
	self.busy = 0;
	if (t) {
		atomic_store(&slots[self.slot].tid, own_tid());
		t->ring = NULL;
		t->open = t->wait = 0;
	}
	for (uint32_t i = 0; t && i < t->domains; i++) {
		memset(t->level[i].kept, 0, sizeof t->level[i].kept);
		t->level[i].deep = 0;
	}
	if (h)
		inherited = h;
	atomic_store(&lost, early);
	atomic_store(&head, NULL);
	atomic_store(&reading, &unknown);
	atomic_store(&state, NEW);
}

__attribute__((destructor)) static void finish(void)
{
	struct nvtx_head *h = SEE(head);

	if (!h || h->process.pid != (uint32_t)getpid())
		return;
	if (atomic_load(&h->reading))
		atomic_store(&h->ended, NVTX_EXITS);
	else
		unlink(path);
}

static int allowed(const char *name, size_t n)
{
	const char *p = filter, *end;

	if (!*p || unlimited)
		return 1;
	for (; *p; p = end + (*end == ',')) {
		end = strchrnul(p, ',');
		if ((size_t)(end - p) == n && !memcmp(p, name, n))
			return 1;
	}
	return 0;
}

static void begin(void)
{
	const char *f = getenv("NVMTOP_NVTX");

	if (f && strlen(f) < sizeof filter)
		strcpy(filter, f);
	unlimited = !strcmp(filter, "all");
	atomic_store(&domains[0].off, !allowed("default", 7));
	atomic_store(&domains[OUT].off, 1);
	if (pthread_atfork(NULL, NULL, forked)) {
		atomic_store(&state, FAILED); /* a child would write to the file of its parent */
		PUBLISH(reading, &nobody);
	}
	file();
}

int nvtx_open(void)
{
	static _Atomic int once;
	int before = errno, expected = 0;

	if (getauxval(AT_SECURE)) /* more rights than the user who set the environment */
		return 0;
	if (atomic_compare_exchange_strong(&once, &expected, 1)) {
		begin();
		PUBLISH(once, 2);
	}
	/* Not for ever: in a child, the thread that began may be missing. */
	for (int i = 0; i < 1000 && SEE(once) == 1; i++)
		nanosleep(&(struct timespec) {.tv_nsec = 1000000}, NULL);
	errno = before;
	return SEE(once) == 2 && SEE(lost) != early; /* there is a place to count, at least */
}

/* Names.  emit_nvtx numbers each of its names, so that none comes twice. */

static size_t without_numbers(const char *s, size_t n)
{
	const char *a = memmem(s, n, ", seq = ", 8), *b = memmem(s, n, ", op_id = ", 10);

	if (b && (!a || b < a))
		a = b;
	return a ? (size_t)(a - s) : n;
}

static uint32_t hash(const char *s, size_t n)
{
	uint64_t h = n, w;

	for (; n > 8; s += 8, n -= 8) {
		memcpy(&w, s, 8);
		h = (h ^ w) * 0x9e3779b97f4a7c15;
		h ^= h >> 29;
	}
	w = 0;
	memcpy(&w, s, n);
	h = (h ^ w) * 0x9e3779b97f4a7c15;
	h ^= h >> 32;
	h *= 0x9e3779b97f4a7c15;
	return (uint32_t)(h >> 32);
}

/* A new string; 0: no place. */
static uint32_t append(struct nvtx_head *h, const char *s, size_t n, uint32_t most)
{
	uint32_t length = (uint32_t)n, size = (length + 8) & ~3U, at = LOAD(h->strings);
	char *p;

	most = most < LOAD(strings_most) ? most : LOAD(strings_most);
	do
		if (at < 8 || at > most - size)
			return 0;
	while (!atomic_compare_exchange_weak(&h->strings, &at, at + size));
	if (!reach(h, NVTX_STRINGS_AT, &strings_ready, at + size)) {
		atomic_store(&strings_most, SEE(strings_ready));
		return 0;
	}
	p = place(h, NVTX_STRINGS_AT + at);
	memcpy(p, &length, 4);
	memcpy(p + 4, s, n);
	p[4 + n] = 0;
	return at;
}

static int is_string(struct nvtx_head *h, uint64_t known, uint32_t code, const char *s, size_t n)
{
	const char *p = place(h, NVTX_STRINGS_AT + (uint32_t)known);
	uint32_t length;

	if (known >> 32 != code)
		return 0;
	memcpy(&length, p, 4);
	return length == n && !memcmp(p + 4, s, n);
}

static uint32_t intern(struct nvtx_head *h, const char *s, size_t n)
{
	uint32_t code = hash(s, n), at, i;
	uint64_t known;
	size_t cut;

	for (i = 0; i < PROBES && (known = SEE(table[(code + i) % TABLE])); i++)
		if (is_string(h, known, code, s, n))
			return (uint32_t)known;
	cut = without_numbers(s, n);
	if (cut < n)
		return (at = append(h, s, n, NVTX_STRINGS / 2)) ? at : intern(h, s, cut);
	at = append(h, s, n, NVTX_STRINGS);
	if (!at)
		ADD(h->lost[NVTX_LOST_NAME], 1);
	for (; at && i < PROBES; i++) {
		known = 0;
		if (atomic_compare_exchange_strong(&table[(code + i) % TABLE], &known,
						   (uint64_t)code << 32 | at))
			break;
		if (is_string(h, known, code, s, n)) /* another thread was faster */
			return (uint32_t)known;
	}
	return at;
}

static size_t utf8(char *out, const wchar_t *s)
{
	size_t n = 0;

	for (; *s && n + 4 <= NVTX_NAME; s++) {
		uint32_t c = (uint32_t)*s > 0x10ffff || (*s >= 0xd800 && *s < 0xe000) ? 0xfffd : (uint32_t)*s;

		if (c < 0x80) {
			out[n++] = (char)c;
			continue;
		}
		if (c < 0x800) {
			out[n++] = (char)(0xc0 | c >> 6);
		} else {
			if (c < 0x10000) {
				out[n++] = (char)(0xe0 | c >> 12);
			} else {
				out[n++] = (char)(0xf0 | c >> 18);
				out[n++] = (char)(0x80 | (c >> 12 & 63));
			}
			out[n++] = (char)(0x80 | (c >> 6 & 63));
		}
		out[n++] = (char)(0x80 | (c & 63));
	}
	return n;
}

/* Its length in *n; wide ones are in buf as UTF-8.  NULL: there is none. */
static const char *text_of(enum nvtx_message type, const void *s, char buf[NVTX_NAME + 1], size_t *n)
{
	if (!s || (type != NVTX_TEXT && type != NVTX_WIDE))
		return NULL;
	*n = type == NVTX_TEXT ? strnlen(s, NVTX_NAME) : utf8(buf, s);
	return type == NVTX_TEXT ? s : buf;
}

static uint32_t string(struct nvtx_head *h, enum nvtx_message type, const void *text)
{
	char buf[NVTX_NAME + 1];
	size_t n;
	const char *s = text_of(type, text, buf, &n);

	return type == NVTX_REGISTERED ? (uint32_t)(uintptr_t)text : s ? intern(h, s, n) : 0;
}

/* Threads */

static int is_gone(uint32_t tid)
{
	return syscall(SYS_tgkill, getpid(), tid, 0) < 0 && errno == ESRCH;
}

/* A free slot, or that of a thread that is gone; NVTX_RINGS: there is none. */
static uint32_t slot_find(uint32_t tid)
{
	for (uint32_t i = 0; i < NVTX_RINGS; i++) {
		uint32_t of = LOAD(slots[i].tid);

		if ((!of || of == tid || is_gone(of)) &&
		    atomic_compare_exchange_strong(&slots[i].tid, &of, tid))
			return i;
	}
	return NVTX_RINGS;
}

static struct thread *thread_make(void)
{
	const size_t size = sizeof(struct thread);
	struct thread *t;
	uint32_t i;

	if ((i = slot_find(own_tid())) == NVTX_RINGS) {
		self.why = NVTX_LOST_THREADS;
		return NULL;
	}
	t = slots[i].thread;
	if (t && madvise(t, size, MADV_DONTNEED) < 0) /* which clears it */
		memset(t, 0, size);
	if (!t && (t = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) ==
			  MAP_FAILED) {
		self.why = cause_of(errno);
		PUBLISH(slots[i].tid, 0);
		return NULL;
	}
	slots[i].thread = t;
	self.slot = i;
	return t;
}

static __attribute__((noinline)) struct thread *thread_new(void)
{
	int before = errno;

	if (self.busy) {
		self.why = NVTX_LOST_BUSY;
		return NULL;
	}
	if (self.wait) {
		self.wait--;
		return NULL;
	}
	self.busy = 1;
	FENCE();
	self.thread = thread_make();
	self.wait = self.thread ? 0 : RETRY;
	FENCE();
	self.busy = 0;
	errno = before;
	return self.thread;
}

/* NULL: see self.why. */
static struct thread *thread_get(void)
{
	return self.thread ? self.thread : thread_new();
}

static int ring_get(struct thread *t, struct nvtx_head *h)
{
	uint32_t i = self.slot, seen;
	int before = errno;

	if (t->wait) {
		t->wait--;
		return 0;
	}
	if (!slots[i].records &&
	    !(slots[i].records = grow_later(NULL, NVTX_RINGS_AT + i * (size_t)RING, RING))) {
		t->why = cause_of(errno);
		t->wait = RETRY;
		errno = before;
		return 0;
	}
	errno = before;
	for (seen = LOAD(h->rings); seen <= i;)
		if (atomic_compare_exchange_weak(&h->rings, &seen, i + 1))
			break;
	t->records = slots[i].records;
	t->written = LOAD(h->ring[i].written);
	t->read = SEE(h->ring[i].read);
	t->ring = &h->ring[i];
	return 1;
}

/* Records */

static int within_rate(struct ring_level *l, struct domain *d, int64_t t)
{
	uint32_t second = (uint32_t)(t / 1000000000), used;
	uint64_t old, new;

	if (unlimited)
		return 1;
	if (l->second == second && l->left) {
		l->left--;
		return 1;
	}
	old = LOAD(d->used);
	do {
		used = old >> 32 >= second ? (uint32_t)old : 0;
		if (used >= NVTX_RATE)
			return 0;
		new = (old >> 32 >= second ? old : (uint64_t)second << 32) + BATCH;
	} while (!atomic_compare_exchange_weak(&d->used, &old, new));
	l->second = second;
	l->left = BATCH - 1;
	return 1;
}

static int write_record(struct thread *t, uint32_t domain, enum nvtx_kind kind, uint64_t id,
			enum nvtx_message type, const void *message, const struct nvtx_attributes *a)
{
	struct nvtx_head *h = file();
	struct nvtx_ring *ring;
	struct timespec now;
	int begins = kind != NVTX_POP && kind != NVTX_END;
	uint64_t need = kind == NVTX_POP ? 0 : t->open + (begins ? RESERVE : 0), value = 0;
	uint8_t payload = 0;
	int64_t at;

	if (!h) {
		count(!begins ? NVTX_LOST_END : LOAD(state) == FAILED ? no_file : NVTX_LOST_BUSY);
		return 0;
	}
	if (domain == OVER) {
		count(NVTX_LOST_DOMAINS);
		return 0;
	}
	if (!t->ring && !ring_get(t, h)) {
		count(begins ? t->why : NVTX_LOST_END);
		return 0;
	}
	ring = t->ring;
	if (t->written - t->read + need >= NVTX_RECORDS)
		t->read = SEE(ring->read);
	if (t->written - t->read + need >= NVTX_RECORDS) {
		if (!begins || need >= NVTX_RECORDS)
			count(begins ? NVTX_LOST_DEPTH : NVTX_LOST_END);
		else
			PUBLISH(ring->dropped, LOAD(ring->dropped) + 1);
		return 0;
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	at = now.tv_sec * (int64_t)1000000000 + now.tv_nsec;
	if (begins && !within_rate(&t->level[domain], &domains[domain], at)) {
		count(NVTX_LOST_RATE);
		return 0;
	}
	a = a && a->size >= sizeof *a ? a : NULL;
	if (a && a->payload_type >= NVTX_U64 && a->payload_type <= NVTX_FLOAT) {
		payload = (uint8_t)a->payload_type;
		value = a->payload_type >= NVTX_U32 ? (uint32_t)a->payload : a->payload;
	}
	if (a && kind != NVTX_MARK && (a->category || (payload && kind == NVTX_START))) {
		t->records[t->written++ % NVTX_RECORDS] = (struct nvtx_record) {
			.t = at, .value = value, .domain = (uint16_t)domain, .kind = NVTX_MORE, .payload = payload,
			.tid = a->category};
		payload = kind == NVTX_START ? 0 : payload;
	}
	t->records[t->written % NVTX_RECORDS] =
		(struct nvtx_record) {.t = at,
				      .value = id ? id : value,
				      .name = string(h, type, message),
				      .colour = a && a->colour_type == 1 ? a->colour : 0,
				      .domain = (uint16_t)domain,
				      .kind = (uint8_t)kind,
				      .payload = payload,
				      .tid = own_tid()};
	PUBLISH(ring->written, ++t->written);
	return 1;
}

static int put(struct thread *t, uint32_t domain, enum nvtx_kind kind, uint64_t id, enum nvtx_message type,
	       const void *message, const struct nvtx_attributes *a)
{
	int done;

	if (LOAD(domains[domain].off))
		return 0;
	if (!t || self.busy) {
		if (!self.busy)
			file(); /* the place to count */
		count(kind == NVTX_END ? NVTX_LOST_END : self.busy ? NVTX_LOST_BUSY : self.why);
		return 0;
	}
	self.busy = 1;
	FENCE();
	done = write_record(t, domain, kind, id, type, message, a);
	FENCE();
	self.busy = 0;
	return done;
}

static int on(void)
{
	return LOAD(*LOAD(reading)) != 0;
}

static uint32_t known(uint32_t domain)
{
	return domain < NVTX_DOMAINS ? domain : OVER;
}

/* A range deeper than LEVELS is not written if the one around it was not. */
static int fits(const struct ring_level *l, uint32_t depth)
{
	return depth < LEVELS || depth - LEVELS == l->deep;
}

int nvtx_push(uint32_t domain, enum nvtx_message type, const void *message, const struct nvtx_attributes *a)
{
	struct thread *t = thread_get();
	struct ring_level *l;
	uint32_t depth;

	domain = known(domain);
	if (!t) {
		if (on())
			put(NULL, domain, NVTX_PUSH, 0, type, message, a);
		return -1;
	}
	l = &t->level[domain];
	depth = l->depth++;
	t->domains = t->domains > domain ? t->domains : domain + 1;
	if (!on())
		return (int)depth;
	if (!fits(l, depth)) {
		if (!LOAD(domains[domain].off))
			count(NVTX_LOST_DEPTH);
	} else if (put(t, domain, NVTX_PUSH, 0, type, message, a)) {
		if (depth < LEVELS)
			l->kept[depth / 32] |= 1U << depth % 32;
		else
			l->deep++;
		t->open++;
	}
	return (int)depth;
}

int nvtx_pop(uint32_t domain)
{
	struct thread *t = thread_get();
	struct ring_level *l;
	uint32_t depth, bit;

	domain = known(domain);
	if (!t || !t->level[domain].depth)
		return -1;
	l = &t->level[domain];
	depth = l->depth - 1;
	if (depth < LEVELS) {
		bit = l->kept[depth / 32] & 1U << depth % 32;
		l->kept[depth / 32] &= ~bit;
	} else {
		bit = depth - LEVELS < l->deep;
		l->deep -= bit;
	}
	FENCE();
	l->depth = depth;
	if (bit) {
		if (on())
			put(t, domain, NVTX_POP, 0, NVTX_NO_MESSAGE, NULL, NULL);
		t->open -= t->open > 0;
	}
	return (int)depth;
}

/* The lowest bit of an id says that its START was written. */
uint64_t nvtx_start(uint32_t domain, enum nvtx_message type, const void *message,
		    const struct nvtx_attributes *a)
{
	uint64_t id = (uint64_t)own_tid() << 32 | (self.ids += 2);

	if (on() && put(thread_get(), known(domain), NVTX_START, id | 1, type, message, a))
		id |= 1;
	return id;
}

void nvtx_end(uint32_t domain, uint64_t id)
{
	if ((id & 1) && on())
		put(thread_get(), known(domain), NVTX_END, id, NVTX_NO_MESSAGE, NULL, NULL);
}

void nvtx_mark(uint32_t domain, enum nvtx_message type, const void *message, const struct nvtx_attributes *a)
{
	if (on())
		put(thread_get(), known(domain), NVTX_MARK, 0, type, message, a);
}

void *nvtx_register(enum nvtx_message type, const void *text)
{
	struct nvtx_head *h = file();

	return h ? (void *)(uintptr_t)string(h, type, text) : NULL;
}

static int note_add(struct nvtx_head *h, enum nvtx_kind kind, uint32_t domain, uint32_t number, uint32_t name)
{
	uint32_t i;
	struct nvtx_record *n;

	if (!name || LOAD(h->notes) >= LOAD(notes_most) || (i = ADD(h->notes, 1)) >= NVTX_NOTES)
		return 0;
	if (!reach(h, NVTX_NOTES_AT, &notes_ready, (i + 1) * (uint32_t)sizeof *n)) {
		atomic_store(&notes_most, 0); /* the recorder reads them in order */
		return 0;
	}
	n = (struct nvtx_record *)place(h, NVTX_NOTES_AT) + i;
	n->domain = (uint16_t)domain;
	n->tid = number;
	n->name = name;
	__atomic_store_n(&n->kind, (uint8_t)kind, __ATOMIC_RELEASE);
	return 1;
}

uint32_t nvtx_domain(enum nvtx_message type, const void *text)
{
	struct nvtx_head *h = file();
	char buf[NVTX_NAME + 1];
	size_t n;
	const char *s = text_of(type, text, buf, &n);
	uint32_t name = h && s ? intern(h, s, n) : 0, i;
	int off = s && !allowed(s, n);

	for (i = 1; name && i < OUT; i++) {
		uint32_t found = 0;

		if (atomic_compare_exchange_strong(&domains[i].name, &found, name)) {
			if (!note_add(h, NVTX_DOMAIN, i, 0, name)) {
				atomic_store(&domains[i].name, 0);
				break;
			}
		} else if (found != name) {
			continue;
		}
		atomic_store(&domains[i].off, off);
		return i;
	}
	return off ? OUT : OVER;
}

void nvtx_name(enum nvtx_kind kind, uint32_t domain, uint32_t number, enum nvtx_message type, const void *text)
{
	struct nvtx_head *h = file();

	if (h)
		note_add(h, kind, known(domain), number, string(h, type, text));
}
