/* A signal handler may do little: it finds the map by address in a table of fixed size, maps a page of
 * zeroes over the missing one and records its offset. mmap() takes no lock of the C library; POSIX does
 * not list it as async-signal-safe, but on Linux it is. */
#include "util/map.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SLOTS 64

/* from is set last and cleared first: 0 is free, 1 is being filled in. */
static struct slot {
	atomic_uintptr_t from;
	atomic_size_t size, torn;
} slots[SLOTS];

static struct sigaction before;
static atomic_size_t page;

static void torn_at(struct slot *s, size_t offset)
{
	size_t lowest = atomic_load(&s->torn);

	while (offset < lowest && !atomic_compare_exchange_weak(&s->torn, &lowest, offset))
		;
}

bool map_mend(const siginfo_t *how)
{
	uintptr_t at = (uintptr_t)how->si_addr;
	int saved = errno;

	if (how->si_code <= 0) /* sent by a process */
		return false;
	for (size_t i = 0; i < SLOTS; i++) {
		struct slot *s = &slots[i];
		uintptr_t from = atomic_load(&s->from);
		size_t offset;
		void *p;

		if (from <= 1 || at < from || at - from >= atomic_load(&s->size))
			continue;
		offset = (at - from) / atomic_load(&page) * atomic_load(&page);
		p = mmap((void *)(from + offset), atomic_load(&page), PROT_READ,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		errno = saved;
		if (p == MAP_FAILED)
			return false;
		torn_at(s, offset);
		return true;
	}
	return false;
}

static void on_bus(int sig, siginfo_t *how, void *where)
{
	if (map_mend(how))
		return;
	if (before.sa_flags & SA_SIGINFO) {
		before.sa_sigaction(sig, how, where);
	} else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
		before.sa_handler(sig);
	} else {
		/* It happens again on return, and the core shows its place. */
		signal(sig, SIG_DFL);
		if (how->si_code <= 0)
			raise(sig);
	}
}

static void guard(void)
{
	struct sigaction act = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO | SA_ONSTACK}, now;

	if (sigaction(SIGBUS, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_bus)
		return;
	before = now;
	sigemptyset(&act.sa_mask);
	sigaction(SIGBUS, &act, NULL);
}

void map_guard(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* two may open their first file at once */

	pthread_mutex_lock(&lock);
	atomic_store(&page, (size_t)sysconf(_SC_PAGESIZE));
	guard();
	pthread_mutex_unlock(&lock);
}

static int slot_take(void)
{
	for (int i = 0; i < SLOTS; i++) {
		uintptr_t nothing = 0;

		if (atomic_compare_exchange_strong(&slots[i].from, &nothing, 1))
			return i;
	}
	errno = ENOMEM;
	return -1;
}

int map_open(struct map *m, int fd, size_t size)
{
	int slot;
	void *p;

	m->bytes = NULL;
	map_guard();
	slot = slot_take();
	if (slot < 0)
		return -1;
	p = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED) {
		atomic_store(&slots[slot].from, 0);
		return -1;
	}
	/* Otherwise reading one byte may map two megabytes. */
	madvise(p, size, MADV_NOHUGEPAGE);
	atomic_store(&slots[slot].size, size);
	atomic_store(&slots[slot].torn, size);
	atomic_store(&slots[slot].from, (uintptr_t)p);
	*m = (struct map) {p, size, fd, slot};
	return 0;
}

void map_close(struct map *m)
{
	if (!m->bytes)
		return;
	atomic_store(&slots[m->slot].from, 1);
	munmap((void *)(uintptr_t)m->bytes, m->size);
	atomic_store(&slots[m->slot].from, 0);
	close(m->fd);
	m->bytes = NULL;
}

size_t map_torn(const struct map *m)
{
	return atomic_load(&slots[m->slot].torn);
}

size_t map_left(const struct map *m)
{
	struct stat st;

	if (fstat(m->fd, &st) < 0 || st.st_size < 0)
		return 0;
	return (uint64_t)st.st_size < m->size ? (size_t)st.st_size : m->size;
}

void map_release(const struct map *m)
{
	madvise((void *)(uintptr_t)m->bytes, m->size, MADV_DONTNEED);
}

void map_want(const struct map *m, size_t at, size_t n)
{
	size_t from = at / atomic_load(&page) * atomic_load(&page);

	if (at < m->size && n > 0)
		madvise((void *)(uintptr_t)(m->bytes + from),
			(n < m->size - at ? n : m->size - at) + (at - from), MADV_WILLNEED);
}
