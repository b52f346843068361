/* nvtx-ring: writes NVTX ranges into the file of this process.
 *
 * It runs inside of other people's programs, so it must be harmless: nothing waits for another
 * thread or for the recorder, all that can fail is left out and counted.  What is used of
 * the file is allocated before, so that a full disk cannot raise SIGBUS.  No descriptor stays open.
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

enum {
	LEVELS = 256, /* of these, each is known that was written; deeper ones up to the first that was not */
	TABLE = 1 << 17, /* strings that are found again */
	PROBES = 32,
	RESERVE = 4096,   /* places for END; POP always finds one, as PUSH leaves one for each open range */
	BATCH = 64,       /* ranges that a thread takes from NVTX_RATE at once */
	CHUNK = 64 << 10, /* bytes that strings grow by */
	RING = NVTX_RECORDS * sizeof(struct nvtx_record),
	RETRY = 1000,        /* calls after which a thread asks again for a slot or a ring */
	PAGE = 64 << 10,     /* the largest page of a kernel */
	OUT = NVTX_OVER - 1, /* further domains that are not to be recorded */
};

/* Of a domain in a thread. */
struct ring_level {
	uint32_t depth, second, left; /* left: ranges of that second that it may write without asking */
	uint32_t deep;                /* ranges from LEVELS on that were written */
	uint32_t kept[LEVELS / 32];   /* one bit for each open range that was written */
};

static __thread struct ring_thread {
	struct ring_level *level; /* of its slot, one for each domain; or NULL */
	struct nvtx_ring *ring;   /* of its slot, or NULL */
	struct nvtx_record *records;
	uint64_t written, read;
	uint32_t slot, tid, ids, open; /* open: ranges that were written */
	uint32_t wait;                 /* calls before it asks again for what it cannot have, */
	enum nvtx_lost why;            /* and why not */
	volatile sig_atomic_t busy;    /* a signal handler may come in between */
} self;

static struct ring_slot {
	_Atomic uint32_t tid; /* 0: free */
	struct ring_level *level;
	struct nvtx_record *records; /* the ring of this number */
} slots[NVTX_RINGS];

static const struct nvtx_string none;
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
static _Atomic uint32_t strings_ready; /* bytes allocated so far */
static _Atomic uint32_t strings_most;  /* less than NVTX_STRINGS once the disk is full */
static _Atomic uint32_t nobody, unknown = 1;
static _Atomic uint32_t *_Atomic reading = &unknown;

/* What is lost is counted in the file, or that of the recorder, which was mapped over our own memory. */
static char pages[2 * PAGE];
static struct nvtx_recorder *recorder;
static _Atomic uint64_t early[NVTX_CAUSES]; /* before there is one */
static _Atomic uint64_t *_Atomic lost = early;
static enum nvtx_lost no_file; /* why there is none */

static _Atomic uint64_t table[TABLE]; /* hash << 32 | offset, 0: free */
static char filter[1024];             /* NVMTOP_NVTX: domains; empty: all of them */
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

/* --- what is lost --- */

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
	return error == ENOSPC || error == EDQUOT   ? NVTX_LOST_SPACE
	       : error == EFBIG                     ? NVTX_LOST_FSIZE
	       : error == ENOMEM || error == EAGAIN ? NVTX_LOST_MEMORY
	       : error == EMFILE || error == ENFILE ? NVTX_LOST_NOFILE
						    : NVTX_LOST_FILE;
}

/* --- the parts of the file --- */

/* Allocates a part of the file; again is harmless.  False: see errno. */
static int grow(int fd, size_t at, size_t n)
{
	struct rlimit most;
	int tries = 100, done;

	if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur < at + n) {
		errno = EFBIG; /* to go beyond it would raise SIGXFSZ */
		return 0;
	}
	do
		done = fallocate(fd, 0, (off_t)at, (off_t)n) == 0;
	while (!done && errno == EINTR && tries--);
	return done;
}

/* The same once the file is there; to: a ring, which is mapped, too, or NULL. */
static enum nvtx_lost grow_later(size_t at, size_t n, struct nvtx_record **to)
{
	int before = errno, fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC),
	    done = fd >= 0 && grow(fd, at, n);
	enum nvtx_lost why;

	if (done && to &&
	    (*to = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)at)) == MAP_FAILED) {
		*to = NULL;
		done = 0;
	}
	why = done ? NVTX_NOT_LOST : cause_of(errno);
	if (fd >= 0)
		close(fd);
	errno = before;
	return why;
}

/* --- its strings --- */

/* emit_nvtx numbers each of its names, so that none comes twice. */
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
	uint32_t length = (uint32_t)n, size = (length + 8) & ~3U, at = LOAD(h->strings), ready;
	char *p;

	most = most < LOAD(strings_most) ? most : LOAD(strings_most);
	do
		if (at < 8 || at > most - size)
			return 0;
	while (!atomic_compare_exchange_weak(&h->strings, &at, at + size));
	while ((ready = SEE(strings_ready)) < at + size) {
		if (grow_later(NVTX_STRINGS_AT + ready, CHUNK, NULL)) {
			atomic_store(&strings_most, ready);
			return 0;
		}
		atomic_compare_exchange_strong(&strings_ready, &ready, ready + CHUNK);
	}
	p = place(h, NVTX_STRINGS_AT + at);
	memcpy(p, &length, 4);
	memcpy(p + 4, s, n);
	p[4 + n] = 0;
	return at;
}

static uint32_t intern(struct nvtx_head *h, const char *s, size_t n)
{
	uint32_t code = hash(s, n), length = (uint32_t)n, at, i;
	size_t cut;
	uint64_t known;

	for (i = 0; i < PROBES && (known = SEE(table[(code + i) % TABLE])); i++) {
		const char *p = place(h, NVTX_STRINGS_AT + (uint32_t)known);

		if (known >> 32 == code && !memcmp(p, &length, 4) && !memcmp(p + 4, s, n))
			return (uint32_t)known;
	}
	cut = without_numbers(s, n);
	if (cut < n)
		return (at = append(h, s, n, NVTX_STRINGS / 2)) ? at : intern(h, s, cut);
	at = append(h, s, n, NVTX_STRINGS);
	if (!at)
		ADD(h->lost[NVTX_LOST_NAME], 1);
	if (at && i < PROBES &&
	    !atomic_compare_exchange_strong(&table[(code + i) % TABLE], &known, (uint64_t)code << 32 | at))
		return intern(h, s, n); /* another thread was faster */
	return at;
}

/* --- the file as a whole --- */

/* Removes the files of processes that are gone, and those that this process had before exec. */
static void tidy(const char *folder, const struct nvtx_process *me)
{
	const int how = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
	DIR *list = opendir(folder);
	struct nvtx_process of;
	struct dirent *d;
	uint64_t start;
	int fd;

	while (list && (d = readdir(list))) {
		if (strncmp(d->d_name, "nvtx-", 5) || !strcmp(d->d_name, NVTX_RECORDER) ||
		    (fd = openat(dirfd(list), d->d_name, how)) < 0)
			continue;
		if (pread(fd, &of, sizeof of, 0) == sizeof of && of.magic == NVTX_MAGIC &&
		    of.pid_ns == me->pid_ns &&
		    (of.pid == me->pid || (nvtx_started((int)of.pid, &start) == 0 && start != of.start)))
			unlinkat(dirfd(list), d->d_name, 0);
		close(fd);
	}
	if (list)
		closedir(list);
}

/* Whether there is a recorder.  Its counters are mapped over our own memory, which needs no more of it.  A child that
 * cannot do so has what its parent mapped. */
static int recorder_find(const char *folder)
{
	char name[sizeof path];
	struct nvtx_recorder *at = (void *)(pages + (PAGE - (uintptr_t)pages % PAGE) % PAGE);
	int fd, locked;

	snprintf(name, sizeof name, "%s/%s", folder, NVTX_RECORDER);
	if ((fd = open(name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)) < 0)
		return 0;
	locked = flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	flock(fd, LOCK_UN); /* what is mapped would hold it */
	if (lseek(fd, 0, SEEK_END) >= (off_t)sizeof *recorder &&
	    mmap(at, sizeof *recorder, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == at)
		recorder = at->magic == NVTX_MAGIC && at->version == NVTX_VERSION ? at : NULL;
	close(fd);
	return locked && recorder;
}

/* A child knows the strings, domains and categories of its parent by the same numbers. */
static void inherit(struct nvtx_head *h, uint32_t strings)
{
	const struct nvtx_note *from = place(inherited, NVTX_NOTES_AT);
	struct nvtx_note *to = place(h, NVTX_NOTES_AT);
	uint32_t n = atomic_load(&inherited->strings);

	n = n < strings ? n : strings;
	memcpy(place(h, NVTX_STRINGS_AT), place(inherited, NVTX_STRINGS_AT), n);
	atomic_store(&h->strings, n);
	for (int i = 0; i < NVTX_NOTES; i++)
		if (from[i].kind == NVTX_DOMAIN || from[i].kind == NVTX_CATEGORY)
			to[h->notes++] = from[i];
	munmap(inherited, NVTX_RINGS_AT);
	inherited = NULL;
}

/* NULL: see errno. */
static struct nvtx_head *make_file(void)
{
	struct nvtx_process me = {.version = NVTX_VERSION,
				  .size = sizeof(struct nvtx_head),
				  .pid = (uint64_t)getpid()};
	const uint32_t strings = inherited ? LOAD(strings_ready) : CHUNK;
	char folder[sizeof path - 64];
	int fd, asked, recorded;
	struct nvtx_head *h = MAP_FAILED;
	struct timespec now;
	struct stat st;

	errno = 0;
	if (!nvtx_ring_folder(folder, sizeof folder, &asked) || nvtx_started(getpid(), &me.start) < 0)
		return NULL;
	mkdir(folder, 0700);
	if (!asked && !nvmtop_mark_safe(folder, 0)) /* others can write to it */
		return NULL;
	me.pid_ns = stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
	recorded = recorder_find(folder);
	if (!recorded)
		tidy(folder, &me);
	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(path, sizeof path, "%s/nvtx-%d-%lld%09ld", folder, (int)getpid(), (long long)now.tv_sec,
		 now.tv_nsec);
	if ((fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)) < 0)
		return NULL;
	if (grow(fd, 0, NVTX_STRINGS_AT + strings))
		h = mmap(NULL, NVTX_RINGS_AT, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (h == MAP_FAILED) {
		unlink(path);
		return NULL;
	}
	atomic_store(&strings_ready, strings);
	atomic_store(&strings_most, NVTX_STRINGS);
	atomic_store(&h->strings, 8);
	if (inherited)
		inherit(h, strings);
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

/* Its address is looked up by a call, which the compiler would repeat. */
static inline struct ring_thread *own(void)
{
	struct ring_thread *t = &self;

	__asm__("" : "+r"(t));
	return t;
}

static uint32_t own_tid(struct ring_thread *t)
{
	if (!t->tid)
		t->tid = (uint32_t)syscall(SYS_gettid);
	return t->tid;
}

/* A child has a file of its own from its first call on; what is open belongs to the parent, as do the slots. */
static void forked(void)
{
	struct nvtx_head *h = LOAD(head);

	memset((void *)&self, 0, sizeof self);
	if (h)
		inherited = h;
	atomic_store(&lost, early);
	atomic_store(&head, NULL);
	atomic_store(&reading, &unknown);
	atomic_store(&state, NEW);
}

static int allowed(const char *name, size_t n)
{
	for (const char *p = filter, *end; *p; p = end + (*end == ',')) {
		end = strchrnul(p, ',');
		if ((size_t)(end - p) == n && !memcmp(p, name, n))
			return 1;
	}
	return !*filter;
}

__attribute__((constructor)) static void begin(void)
{
	const char *f = getenv("NVMTOP_NVTX");

	unlimited = f && !strcmp(f, "all");
	if (f && !unlimited && strlen(f) < sizeof filter)
		strcpy(filter, f);
	atomic_store(&domains[0].off, !allowed("default", 7));
	atomic_store(&domains[OUT].off, 1);
	/* With more rights than the user who set the environment, there is no file; nor where a child would write to
	 * that of its parent. */
	if (getauxval(AT_SECURE) || pthread_atfork(NULL, NULL, forked)) {
		atomic_store(&state, FAILED);
		atomic_store(&reading, &nobody);
	}
}

/* Where nothing records, nobody else removes the file. */
__attribute__((destructor)) static void finish(void)
{
	struct nvtx_head *h = SEE(head);

	if (h && h->process.pid == (uint64_t)getpid() && !atomic_load(&h->reading))
		unlink(path);
}

int nvtx_open(void)
{
	file();
	return LOAD(state) == MAKING || SEE(lost) != early; /* there is a place to count, at least */
}

/* --- names --- */

static size_t utf8(char *out, const wchar_t *s)
{
	size_t n = 0;

	for (; *s && n + 4 <= NVTX_NAME; s++) {
		uint32_t c = (uint32_t)*s > 0x10ffff || (*s >= 0xd800 && *s < 0xe000) ? 0xfffd : (uint32_t)*s;
		unsigned more = (c >= 0x80) + (c >= 0x800) + (c >= 0x10000); /* bytes after the first */

		out[n++] = (char)(more ? (0xff00U >> (more + 1) & 0xff) | c >> 6 * more : c);
		while (more-- > 0)
			out[n++] = (char)(0x80 | (c >> 6 * more & 63));
	}
	return n;
}

/* Its length in *n; wide ones are in buf as UTF-8.  NULL: there is none. */
static const char *text_of(struct nvtx_string m, char buf[NVTX_NAME + 1], size_t *n)
{
	if (!m.s || (m.type != NVTX_TEXT && m.type != NVTX_WIDE))
		return NULL;
	*n = m.type == NVTX_TEXT ? strnlen(m.s, NVTX_NAME) : utf8(buf, m.s);
	return m.type == NVTX_TEXT ? m.s : buf;
}

static uint32_t string(struct nvtx_head *h, struct nvtx_string m)
{
	char buf[NVTX_NAME + 1];
	size_t n;
	const char *s = text_of(m, buf, &n);

	return m.type == NVTX_REGISTERED ? (uint32_t)(uintptr_t)m.s : s ? intern(h, s, n) : 0;
}

void *nvtx_register(struct nvtx_string text)
{
	struct nvtx_head *h = file();

	return h ? (void *)(uintptr_t)string(h, text) : NULL;
}

static int note_add(struct nvtx_head *h, enum nvtx_kind kind, uint32_t domain, uint32_t number, uint32_t name)
{
	uint32_t i = name && LOAD(h->notes) < NVTX_NOTES ? ADD(h->notes, 1) : NVTX_NOTES;
	struct nvtx_note *n = place(h, NVTX_NOTES_AT + i * sizeof *n);

	if (i >= NVTX_NOTES)
		return 0;
	n->name = name;
	n->number = number;
	n->domain = (uint16_t)domain;
	__atomic_store_n(&n->kind, (uint16_t)kind, __ATOMIC_RELEASE);
	return 1;
}

uint32_t nvtx_domain(struct nvtx_string text)
{
	struct nvtx_head *h = file();
	char buf[NVTX_NAME + 1];
	size_t n;
	const char *s = text_of(text, buf, &n);
	uint32_t name = h && s ? intern(h, s, n) : 0, i;
	int off = s && !allowed(s, n);

	for (i = 1; name && i < OUT; i++) {
		uint32_t found = 0;

		if (!atomic_compare_exchange_strong(&domains[i].name, &found, name) && found != name)
			continue;
		if (!found && !note_add(h, NVTX_DOMAIN, i, 0, name)) {
			atomic_store(&domains[i].name, 0);
			break;
		}
		atomic_store(&domains[i].off, off);
		return i;
	}
	return off ? OUT : NVTX_OVER;
}

void nvtx_name(enum nvtx_kind kind, uint32_t domain, uint32_t number, struct nvtx_string name)
{
	struct nvtx_head *h = file();

	if (h)
		note_add(h, kind, domain, number, string(h, name));
}

/* --- threads --- */

/* Whether it asks for what it cannot have: at first, and again after so many calls. */
static int asks(struct ring_thread *t)
{
	return !t->wait || !--t->wait;
}

/* Gets a free slot, or that of a thread that is gone, with its levels, or t->why. */
static __attribute__((noinline)) void slot_get(struct ring_thread *t)
{
	const size_t size = NVTX_DOMAINS * sizeof *t->level;
	int before = errno;
	uint32_t i, of;

	t->busy = 1;
	FENCE();
	for (i = 0; i < NVTX_RINGS; i++) {
		of = LOAD(slots[i].tid);
		if ((!of || of == own_tid(t) || (syscall(SYS_tgkill, getpid(), of, 0) < 0 && errno == ESRCH)) &&
		    atomic_compare_exchange_strong(&slots[i].tid, &of, own_tid(t)))
			break;
	}
	t->why = NVTX_LOST_THREADS;
	if (i < NVTX_RINGS) {
		struct ring_level *l = slots[i].level;

		if (l && madvise(l, size, MADV_DONTNEED) < 0) /* which clears it */
			memset(l, 0, size);
		else if (!l)
			l = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (l != MAP_FAILED) {
			t->slot = i;
			t->level = slots[i].level = l;
		} else {
			t->why = cause_of(errno);
			PUBLISH(slots[i].tid, 0);
		}
	}
	t->wait = t->level ? 0 : RETRY;
	errno = before;
	FENCE();
	t->busy = 0;
}

/* NULL: there is none for this thread. */
static struct ring_level *level(struct ring_thread *t, uint32_t domain)
{
	if (!t->level && !t->busy && asks(t))
		slot_get(t);
	return t->level ? &t->level[domain] : NULL;
}

static int ring_get(struct ring_thread *t, struct nvtx_head *h)
{
	struct ring_slot *s = &slots[t->slot];
	uint32_t seen;

	t->why = s->records ? NVTX_NOT_LOST
			    : grow_later(NVTX_RINGS_AT + t->slot * (size_t)RING, RING, &s->records);
	if (t->why) {
		t->wait = RETRY;
		return 0;
	}
	for (seen = LOAD(h->rings); seen <= t->slot;)
		if (atomic_compare_exchange_weak(&h->rings, &seen, t->slot + 1))
			break;
	t->records = s->records;
	t->ring = &h->ring[t->slot];
	t->written = LOAD(t->ring->written);
	t->read = SEE(t->ring->read);
	return 1;
}

/* --- records --- */

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

/* 64 bits wide. */
static uint64_t payload(const struct nvtx_attributes *a, uint8_t *type)
{
	static const uint8_t types[] = {
		[NVTX_U64] = NVTX_UNSIGNED, [NVTX_U32] = NVTX_UNSIGNED,    [NVTX_I64] = NVTX_SIGNED,
		[NVTX_I32] = NVTX_SIGNED,   [NVTX_DOUBLE] = NVTX_FLOATING, [NVTX_FLOAT] = NVTX_FLOATING};
	uint32_t low = (uint32_t)a->payload;
	uint64_t value = a->payload;
	float narrow;
	double wide;

	*type = (uint32_t)a->payload_type < sizeof types ? types[a->payload_type] : NVTX_NO_PAYLOAD;
	if (a->payload_type == NVTX_FLOAT) {
		memcpy(&narrow, &low, sizeof narrow);
		wide = (double)narrow;
		memcpy(&value, &wide, sizeof value);
	} else if (a->payload_type == NVTX_U32 || a->payload_type == NVTX_I32) {
		value = a->payload_type == NVTX_U32 ? low : (uint64_t)(int32_t)low;
	}
	return *type == NVTX_NO_PAYLOAD ? 0 : value;
}

static enum nvtx_lost record_write(struct ring_thread *t, struct ring_level *l, enum nvtx_kind kind,
				   uint64_t id, struct nvtx_string message, const struct nvtx_attributes *a)
{
	struct nvtx_head *h = file();
	int begins = kind != NVTX_POP && kind != NVTX_END;
	uint64_t need = kind == NVTX_POP ? 0 : t->open + (begins ? RESERVE : 0);
	uint32_t domain;
	struct nvtx_record *r;
	struct timespec now;
	int64_t at;

	if (!h)
		return LOAD(state) == FAILED ? no_file : NVTX_LOST_BUSY;
	if (!l)
		return t->why;
	domain = (uint32_t)(l - t->level);
	if (domain == NVTX_OVER)
		return NVTX_LOST_DOMAINS;
	if (!t->ring && (!asks(t) || !ring_get(t, h)))
		return t->why;
	if (t->written - t->read + need >= NVTX_RECORDS)
		t->read = SEE(t->ring->read);
	if (t->written - t->read + need >= NVTX_RECORDS)
		return need >= NVTX_RECORDS ? NVTX_LOST_DEPTH : NVTX_LOST_FULL;
	clock_gettime(CLOCK_MONOTONIC, &now);
	at = now.tv_sec * (int64_t)1000000000 + now.tv_nsec;
	if (begins && !within_rate(l, &domains[domain], at))
		return NVTX_LOST_RATE;
	r = &t->records[t->written % NVTX_RECORDS];
	*r = (struct nvtx_record) {.t = at,
				   .tid = kind == NVTX_END ? (uint32_t)(id >> 32) : t->tid,
				   .id = (uint32_t)id,
				   .name = begins ? string(h, message) : 0,
				   .domain = (uint16_t)domain,
				   .kind = (uint8_t)kind};
	if (a) {
		r->value = payload(a, &r->payload);
		r->colour = a->colour_type == 1 ? a->colour : 0;
		r->category = a->category;
	}
	PUBLISH(t->ring->written, ++t->written);
	return NVTX_NOT_LOST;
}

/* True: it is written, else it is counted why not; a range without its end is there. */
static int put(struct ring_thread *t, struct ring_level *l, enum nvtx_kind kind, uint64_t id,
	       struct nvtx_string message, const struct nvtx_attributes *a)
{
	enum nvtx_lost why = NVTX_LOST_BUSY;

	if (!t->busy) {
		t->busy = 1;
		FENCE();
		why = record_write(t, l, kind, id, message, a);
		FENCE();
		t->busy = 0;
	}
	if (why)
		count(kind == NVTX_POP || kind == NVTX_END ? NVTX_LOST_END : why);
	return !why;
}

static int on(uint32_t domain)
{
	return LOAD(*LOAD(reading)) != 0 && !LOAD(domains[domain].off);
}

/* Whether the range that is open at that depth was written. */
static int kept(const struct ring_level *l, uint32_t depth)
{
	return depth < LEVELS ? (int)(l->kept[depth / 32] >> depth % 32 & 1) : depth - LEVELS < l->deep;
}

int nvtx_push(uint32_t domain, struct nvtx_string message, const struct nvtx_attributes *a)
{
	struct ring_thread *t = own();
	struct ring_level *l = level(t, domain);
	uint32_t depth = l ? l->depth++ : 0;

	if (!on(domain))
		return l ? (int)depth : -1;
	if (depth > LEVELS && !kept(l, depth - 1)) {
		count(NVTX_LOST_DEPTH);
	} else if (put(t, l, NVTX_PUSH, 0, message, a)) {
		if (depth < LEVELS)
			l->kept[depth / 32] |= 1U << depth % 32;
		else
			l->deep++;
		t->open++;
	}
	return l ? (int)depth : -1;
}

int nvtx_pop(uint32_t domain)
{
	struct ring_thread *t = own();
	struct ring_level *l = level(t, domain);
	uint32_t depth;
	int written;

	if (!l || !l->depth)
		return -1;
	depth = l->depth - 1;
	written = kept(l, depth);
	if (written && depth < LEVELS)
		l->kept[depth / 32] &= ~(1U << depth % 32);
	else if (written)
		l->deep--;
	FENCE();
	l->depth = depth;
	if (!written)
		return (int)depth;
	if (on(domain))
		put(t, l, NVTX_POP, 0, none, NULL);
	t->open -= t->open > 0;
	return (int)depth;
}

/* The lowest bit of an id says that its START was written. */
uint64_t nvtx_start(uint32_t domain, struct nvtx_string message, const struct nvtx_attributes *a)
{
	struct ring_thread *t = own();
	uint64_t id = (uint64_t)own_tid(t) << 32 | (t->ids += 2);

	return on(domain) && put(t, level(t, domain), NVTX_START, id | 1, message, a) ? id | 1 : id;
}

void nvtx_end(uint32_t domain, uint64_t id)
{
	struct ring_thread *t = own();

	if ((id & 1) && on(domain))
		put(t, level(t, domain), NVTX_END, id, none, NULL);
}

void nvtx_mark(uint32_t domain, struct nvtx_string message, const struct nvtx_attributes *a)
{
	struct ring_thread *t = own();

	if (on(domain))
		put(t, level(t, domain), NVTX_MARK, 0, message, a);
}
