/* nvtx-ring: writes NVTX ranges into the file of this process.
 *
 * It runs inside of other people's programs, so it must be harmless: nothing waits for another
 * thread or for the recorder, all that can fail is left out and counted.  What is mapped
 * is also allocated, so that a full disk cannot raise SIGBUS.  No descriptor stays open. */
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
	LEVELS = 256,    /* deeper ranges are dropped */
	TABLE = 1 << 17, /* strings that are found again */
	PROBES = 32,
	/* Places that PUSH, START and MARK leave for POP and END.  POP always finds one, as at most
	 * half as many ranges are open. */
	RESERVE = 4096,
	BATCH = 64,        /* ranges that a thread takes from NVTX_RATE at once */
	CHUNK = 256 << 10, /* bytes that the strings grow by */
	RING = NVTX_RECORDS * sizeof(struct nvtx_record),
	LENGTH = NVTX_RINGS_AT + NVTX_RINGS * RING,
	RETRY = 1000, /* calls after which a thread asks again for a ring */
};

struct level {
	uint32_t depth, second, left;
	uint32_t kept[LEVELS / 32]; /* one bit for each open range that was written */
};

static __thread struct thread {
	struct nvtx_ring *ring;
	struct nvtx_record *records;
	uint64_t written, read;
	uint32_t tid, ids, open, wait;
	volatile sig_atomic_t busy; /* a signal handler may come in between */
	struct level level[NVTX_DOMAINS];
} self;

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
static _Atomic uint32_t strings_ready; /* bytes mapped so far */
static _Atomic uint32_t strings_most;  /* less than NVTX_STRINGS once the disk is full */
static _Atomic int ring_ready[NVTX_RINGS];
static _Atomic uint32_t nobody, unknown = 1;
static _Atomic uint32_t *_Atomic reading = &unknown;

static _Atomic uint64_t table[TABLE]; /* hash << 32 | offset, 0: free */
static char filter[1024];             /* NVMTOP_NVTX */
static int unlimited;
static pthread_key_t key;

#define LOAD(x)       atomic_load_explicit(&(x), memory_order_relaxed)
#define SEE(x)        atomic_load_explicit(&(x), memory_order_acquire)
#define PUBLISH(x, v) atomic_store_explicit(&(x), v, memory_order_release)
#define ADD(x, n)     atomic_fetch_add_explicit(&(x), n, memory_order_relaxed)
#define FENCE()       atomic_signal_fence(memory_order_seq_cst)

static char *place(struct nvtx_head *h, size_t at)
{
	return (char *)h + at;
}

/* Allocates and maps a part of the file; again is harmless. */
static int grow(struct nvtx_head *h, int fd, size_t at, size_t n)
{
	struct rlimit most;
	int tries = 100, done;

	if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur < at + n)
		return 0; /* to go beyond it would raise SIGXFSZ */
	do
		done = fallocate(fd, 0, (off_t)at, (off_t)n) == 0;
	while (!done && errno == EINTR && tries--);
	return done && mmap(place(h, at), n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, (off_t)at) !=
			       MAP_FAILED;
}

static int grow_later(struct nvtx_head *h, size_t at, size_t n)
{
	int before = errno, fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC), ok = 0;
	struct stat st;

	if (fd >= 0) {
		ok = fstat(fd, &st) == 0 && st.st_ino == inode && grow(h, fd, at, n);
		close(fd);
	}
	errno = before;
	return ok;
}

/* The time at which a process started, 0: it is gone. */
static uint64_t started(int pid)
{
	char name[32], text[1024], *p;
	ssize_t n;
	int fd, i;

	snprintf(name, sizeof name, "/proc/%d/stat", pid);
	if ((fd = open(name, O_RDONLY | O_CLOEXEC)) < 0)
		return 0;
	n = read(fd, text, sizeof text - 1);
	close(fd);
	text[n < 0 ? 0 : n] = 0;
	for (p = strrchr(text, ')'), i = 2; p && i < 22; i++)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p, NULL, 10) : 0;
}

/* Removes the files of processes that are gone, unless there is a recorder for them, and
 * ends those that this process had before exec. */
static void tidy(int dir, const struct nvtx_process *me, int recorder)
{
	DIR *list = fdopendir(openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	struct nvtx_process h;
	struct dirent *d;
	struct stat st;
	const uint32_t one = 1;
	int fd, own;

	while (list && (d = readdir(list))) {
		if (strncmp(d->d_name, "nvtx-", 5) || !strcmp(d->d_name, NVTX_RECORDER) ||
		    (fd = openat(dir, d->d_name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)) < 0)
			continue;
		if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
		    pread(fd, &h, sizeof h, 0) == sizeof h && h.magic == NVTX_MAGIC &&
		    h.pid_ns == me->pid_ns) {
			own = h.pid == me->pid && h.start == me->start;
			if (!recorder && (own || started((int)h.pid) != h.start) &&
			    flock(fd, LOCK_EX | LOCK_NB) == 0)
				unlinkat(dir, d->d_name, 0);
			else if (own)
				(void)!pwrite(fd, &one, sizeof one, offsetof(struct nvtx_head, ended));
		}
		close(fd);
	}
	if (list)
		closedir(list);
}

/* The folder, if only this user can write to it, or if it was asked for. */
static int folder(char *name, size_t size)
{
	struct stat st;
	int fd, asked;

	if (!nvtx_ring_folder(name, size, &asked))
		return -1;
	mkdir(name, 0700);
	fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && !asked &&
	    (fstat(fd, &st) < 0 || st.st_uid != geteuid() || (st.st_mode & 077))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* A child knows the strings and domains of its parent by the same numbers.  mapped: what the parent
 * had mapped of its strings at the time of the fork. */
static void inherit(struct nvtx_head *h, uint32_t mapped)
{
	uint32_t n = atomic_load(&inherited->strings), i;

	n = n < mapped ? n : mapped;
	memcpy(place(h, NVTX_STRINGS_AT), place(inherited, NVTX_STRINGS_AT), n);
	atomic_store(&h->strings, n);
	for (i = 1; i < NVTX_DOMAINS; i++)
		if (LOAD(domains[i].name))
			h->note[i] = inherited->note[i];
}

static uint32_t intern(struct nvtx_head *h, const char *s, size_t n);

static int make_file(void)
{
	struct nvtx_process me = {.version = NVTX_VERSION,
				  .size = sizeof(struct nvtx_head),
				  .pid = (uint32_t)getpid(),
				  .uid = geteuid(),
				  .start = started(getpid())};
	char name[sizeof path - 64];
	int dir = folder(name, sizeof name), fd, n, recorder;
	struct nvtx_head *h;
	struct stat st;
	uint32_t mapped = inherited ? LOAD(strings_ready) : CHUNK, i;

	if (dir < 0)
		return 0;
	me.pid_ns = stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
	fd = openat(dir, NVTX_RECORDER, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	recorder = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	if (fd >= 0)
		close(fd);
	tidy(dir, &me, recorder);
	close(dir);
	for (n = 0, fd = -1; n < 100 && fd < 0; n++) {
		int len = snprintf(path, sizeof path, "%s/nvtx-%u-%llu", name, me.pid,
				   (unsigned long long)me.start);

		if (n)
			snprintf(path + len, sizeof path - (size_t)len, ".%d", n);
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0 && errno != EEXIST)
			return 0;
	}
	if (fd < 0)
		return 0;
	h = mmap(NULL, LENGTH, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (h == MAP_FAILED || fstat(fd, &st) < 0 || !grow(h, fd, 0, NVTX_STRINGS_AT + mapped)) {
		close(fd);
		unlink(path);
		if (h != MAP_FAILED)
			munmap(h, LENGTH);
		return 0;
	}
	close(fd);
	inode = st.st_ino;
	for (i = 0; i < NVTX_RINGS; i++)
		atomic_store(&ring_ready[i], 0);
	atomic_store(&strings_ready, mapped);
	atomic_store(&strings_most, NVTX_STRINGS);
	atomic_store(&h->strings, 8);
	if (inherited) {
		inherit(h, mapped);
		munmap(inherited, LENGTH);
		inherited = NULL;
	}
	h->process = me;
	atomic_store(&h->notes, NVTX_DOMAINS);
	atomic_store(&h->reading, recorder);
	h->note[0].name =
		intern(h, program_invocation_short_name, strnlen(program_invocation_short_name, NVTX_NAME));
	h->note[0].kind = NVTX_PROCESS;
	__atomic_store_n(&h->process.magic, NVTX_MAGIC, __ATOMIC_RELEASE);
	PUBLISH(head, h);
	PUBLISH(reading, &h->reading);
	return 1;
}

/* NULL: there is none, or another thread is making it. */
static struct nvtx_head *file(void)
{
	struct nvtx_head *h = SEE(head);
	int before = errno, made, expected = NEW;

	if (h || !atomic_compare_exchange_strong(&state, &expected, MAKING))
		return h;
	made = make_file();
	if (!made)
		PUBLISH(reading, &nobody);
	atomic_store(&state, made ? READY : FAILED);
	errno = before;
	return SEE(head);
}

/* A child has a file of its own from its first call on; what is open belongs to the parent. */
static void forked(void)
{
	struct nvtx_head *h = LOAD(head);
	int i;

	self.ring = NULL;
	self.tid = self.open = self.wait = 0;
	self.busy = 0;
	for (i = 0; i < NVTX_DOMAINS; i++)
		memset(self.level[i].kept, 0, sizeof self.level[i].kept);
	if (LOAD(state) == FAILED)
		return;
	if (h)
		inherited = h;
	atomic_store(&head, NULL);
	atomic_store(&reading, &unknown);
	atomic_store(&state, NEW);
}

/* Runs at the end of a thread: another one can use its ring. */
static void leave(void *unused)
{
	struct nvtx_ring *r = self.ring;

	(void)unused;
	self.ring = NULL;
	if (r)
		PUBLISH(r->tid, 0);
}

__attribute__((destructor)) static void finish(void)
{
	struct nvtx_head *h = SEE(head);

	if (!h || h->process.pid != (uint32_t)getpid())
		return;
	if (atomic_load(&h->reading))
		atomic_store(&h->ended, 1);
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
	atomic_store(&domains[NVTX_DOMAINS - 1].off, 1);
	if (pthread_key_create(&key, leave) || pthread_atfork(NULL, NULL, forked) || !file()) {
		atomic_store(&state, FAILED);
		PUBLISH(reading, &nobody);
	}
}

int nvtx_open(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int before = errno;

	if (getauxval(AT_SECURE)) /* more rights than the user who set the environment */
		return 0;
	pthread_once(&once, begin);
	errno = before;
	return atomic_load(&state) != FAILED;
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
	uint32_t length = (uint32_t)n, size = (length + 8) & ~3U, at = LOAD(h->strings), ready;
	char *p;

	most = most < LOAD(strings_most) ? most : LOAD(strings_most);
	do
		if (at < 8 || at > most - size)
			return 0;
	while (!atomic_compare_exchange_weak(&h->strings, &at, at + size));
	while ((ready = SEE(strings_ready)) < at + size) {
		if (!grow_later(h, NVTX_STRINGS_AT + ready, CHUNK)) {
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
		ADD(h->unnamed, 1);
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

static uint32_t wide(struct nvtx_head *h, const wchar_t *s)
{
	char text[NVTX_NAME + 1];

	return intern(h, text, utf8(text, s));
}

static uint32_t string(struct nvtx_head *h, enum nvtx_message type, const void *s)
{
	if (type == NVTX_REGISTERED)
		return (uint32_t)(uintptr_t)s;
	if (!s || (type != NVTX_TEXT && type != NVTX_WIDE))
		return 0;
	return type == NVTX_TEXT ? intern(h, s, strnlen(s, NVTX_NAME)) : wide(h, s);
}

/* Records */

static uint32_t own_tid(struct thread *t)
{
	if (!t->tid)
		t->tid = (uint32_t)syscall(SYS_gettid);
	return t->tid;
}

static int claim(struct thread *t, struct nvtx_head *h)
{
	uint32_t i, free_ring, seen;

	if (t->wait) {
		t->wait--;
		return 0;
	}
	for (i = 0; i < NVTX_RINGS; i++) {
		free_ring = 0;
		if (!atomic_compare_exchange_strong(&h->ring[i].tid, &free_ring, own_tid(t)))
			continue;
		if (!SEE(ring_ready[i]) && !grow_later(h, NVTX_RINGS_AT + i * (size_t)RING, RING)) {
			PUBLISH(h->ring[i].tid, 0);
			break;
		}
		PUBLISH(ring_ready[i], 1);
		for (seen = LOAD(h->rings); seen <= i;)
			if (atomic_compare_exchange_weak(&h->rings, &seen, i + 1))
				break;
		t->records = (struct nvtx_record *)place(h, NVTX_RINGS_AT + i * (size_t)RING);
		t->written = LOAD(h->ring[i].written);
		t->read = SEE(h->ring[i].read);
		t->open = 0;
		t->ring = &h->ring[i];
		pthread_setspecific(key, t);
		return 1;
	}
	t->wait = RETRY;
	return 0;
}

static int within_rate(struct level *l, struct domain *d, int64_t t)
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
	uint64_t need = kind == NVTX_POP ? 0 : kind == NVTX_END ? t->open : RESERVE, value = 0;
	uint8_t payload = 0;
	int64_t at;

	if (!h)
		return 0;
	if (!t->ring && !claim(t, h)) {
		ADD(h->ringless, 1);
		return 0;
	}
	ring = t->ring;
	if (t->written - t->read + need >= NVTX_RECORDS)
		t->read = SEE(ring->read);
	if (t->written - t->read + need >= NVTX_RECORDS || (kind == NVTX_PUSH && t->open >= RESERVE / 2)) {
		PUBLISH(ring->dropped, LOAD(ring->dropped) + 1);
		return 0;
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	at = now.tv_sec * (int64_t)1000000000 + now.tv_nsec;
	if (need == RESERVE && !within_rate(&t->level[domain], &domains[domain], at)) {
		ADD(h->left_out[domain], 1);
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
				      .tid = own_tid(t)};
	PUBLISH(ring->written, ++t->written);
	return 1;
}

static int put(struct thread *t, uint32_t domain, enum nvtx_kind kind, uint64_t id, enum nvtx_message type,
	       const void *message, const struct nvtx_attributes *a)
{
	int done;

	if (LOAD(domains[domain].off) || t->busy)
		return 0;
	t->busy = 1;
	FENCE();
	done = write_record(t, domain, kind, id, type, message, a);
	FENCE();
	t->busy = 0;
	return done;
}

static int on(void)
{
	return LOAD(*LOAD(reading)) != 0;
}

static uint32_t known(uint32_t domain)
{
	return domain < NVTX_DOMAINS ? domain : NVTX_DOMAINS - 1;
}

int nvtx_push(uint32_t domain, enum nvtx_message type, const void *message, const struct nvtx_attributes *a)
{
	struct thread *t = &self;
	struct level *l = &t->level[domain = known(domain)];
	uint32_t depth = l->depth++;

	if (on() && depth < LEVELS && put(t, domain, NVTX_PUSH, 0, type, message, a)) {
		l->kept[depth / 32] |= 1U << depth % 32;
		t->open++;
	}
	return (int)depth;
}

int nvtx_pop(uint32_t domain)
{
	struct thread *t = &self;
	struct level *l = &t->level[domain = known(domain)];
	uint32_t depth = l->depth - 1, bit;

	if (!l->depth)
		return -1;
	bit = depth < LEVELS ? l->kept[depth / 32] & 1U << depth % 32 : 0;
	if (bit)
		l->kept[depth / 32] &= ~bit;
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
	struct thread *t = &self;
	uint64_t id = (uint64_t)own_tid(t) << 32 | (t->ids += 2);

	if (on() && put(t, known(domain), NVTX_START, id | 1, type, message, a))
		id |= 1;
	return id;
}

void nvtx_end(uint32_t domain, uint64_t id)
{
	if ((id & 1) && on())
		put(&self, known(domain), NVTX_END, id, NVTX_NO_MESSAGE, NULL, NULL);
}

void nvtx_mark(uint32_t domain, enum nvtx_message type, const void *message, const struct nvtx_attributes *a)
{
	if (on())
		put(&self, known(domain), NVTX_MARK, 0, type, message, a);
}

void *nvtx_register(enum nvtx_message type, const void *text)
{
	struct nvtx_head *h = file();

	return h ? (void *)(uintptr_t)string(h, type, text) : NULL;
}

static void note(struct nvtx_record *n, enum nvtx_kind kind, uint32_t domain, uint32_t tid, uint32_t name)
{
	n->domain = (uint16_t)domain;
	n->tid = tid;
	n->name = name;
	__atomic_store_n(&n->kind, (uint8_t)kind, __ATOMIC_RELEASE);
}

uint32_t nvtx_domain(enum nvtx_message type, const void *text)
{
	struct nvtx_head *h = file();
	uint32_t name = h ? string(h, type, text) : 0, i, length;
	const char *p;

	if (!name)
		return NVTX_DOMAINS - 1;
	p = place(h, NVTX_STRINGS_AT + name);
	memcpy(&length, p, 4);
	for (i = 1; i < NVTX_DOMAINS - 1; i++) {
		uint32_t found = 0;

		if (atomic_compare_exchange_strong(&domains[i].name, &found, name))
			note(&h->note[i], NVTX_DOMAIN, i, 0, name);
		else if (found != name)
			continue;
		atomic_store(&domains[i].off, !allowed(p + 4, length));
		return i;
	}
	return i;
}

static void note_add(enum nvtx_kind kind, uint32_t domain, uint32_t number, enum nvtx_message type, const void *text)
{
	struct nvtx_head *h = file();
	uint32_t name = h ? string(h, type, text) : 0, i;

	if (name && LOAD(h->notes) < NVTX_NOTES && (i = ADD(h->notes, 1)) < NVTX_NOTES)
		note(&h->note[i], kind, domain, number, name);
}

void nvtx_name_thread(uint32_t tid, enum nvtx_message type, const void *name)
{
	note_add(NVTX_THREAD, 0, tid, type, name);
}

void nvtx_name_category(uint32_t domain, uint32_t category, enum nvtx_message type, const void *name)
{
	note_add(NVTX_CATEGORY, known(domain), category, type, name);
}
