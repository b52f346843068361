/* Measures CPU utilisation from the kernel's records of context switches: exact to the microsecond, for users
 * who may read them (root, CAP_PERFMON, or any user if kernel.perf_event_paranoid is 0 or less).
 *
 * Each core writes its switches into its own ring, with CLOCK_MONOTONIC. It is idle from a switch that names
 * process 0 as the next one, until a switch away from it. Some kernels write no record for the idle task
 * itself: so idle begins when another task is switched out and ends when one is switched in, and no record of
 * the idle task is needed.
 *
 * In a PID namespace every process outside also has the number 0 and would look idle, so this source is not
 * used there. Interrupts on an idle core are not switches and are not counted, as the channel's note states. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "probe/cpu.h"
#include "util/intl.h"

#define RING_BYTES  (128 * 1024)     /* 2700 switches: 50 ms of a storm */
#define TICK_MAX_NS (40 * NS_PER_MS) /* a ring that is emptied less often overflows before a storm is seen */
#define RETRY_NS    NS_PER_S
#define SETTLE_NS   (30 * NS_PER_MS)

#define FIRST_PID_NAMESPACE "pid:[4026531836]"

enum state { UNKNOWN, IDLE, BUSY };

struct ring {
	int fd;
	struct perf_event_mmap_page *page;
	enum state state;
	int64_t at_ns;    /* accounted for up to here */
	int64_t idle_ns;  /* so far, where it is known */
	bool gap;         /* part of the current read is unknown */
	int64_t since_ns; /* no record since then, with state UNKNOWN */
	int64_t idle;     /* idle ticks in /proc/stat at since_ns; -1: none yet */
	int64_t retry_ns;
};

struct by_perf {
	size_t page_size, ring_size; /* the latter without the first page */
	struct ring ring[CORES_MAX];
};

static void ring_close(struct by_perf *b, struct ring *r)
{
	if (r->page)
		munmap(r->page, b->page_size + b->ring_size);
	if (r->fd >= 0)
		close(r->fd);
	r->page = NULL;
	r->fd = -1;
}

static int ring_open(struct by_perf *b, struct ring *r, unsigned core)
{
	struct perf_event_attr a;

	memset(&a, 0, sizeof a);
	a.size = sizeof a;
	a.type = PERF_TYPE_SOFTWARE;
	a.config = PERF_COUNT_SW_DUMMY;
	a.sample_type = PERF_SAMPLE_TIME;
	a.sample_id_all = 1;
	a.context_switch = 1;
	a.exclude_kernel = 1; /* needs fewer privileges: enough where paranoid is 0 */
	a.exclude_hv = 1;
	a.use_clockid = 1;
	a.clockid = CLOCK_MONOTONIC;
	r->fd = (int)syscall(SYS_perf_event_open, &a, -1, (int)core, -1, PERF_FLAG_FD_CLOEXEC);
	void *p = MAP_FAILED;
	if (r->fd >= 0)
		p = mmap(NULL, b->page_size + b->ring_size, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	if (p == MAP_FAILED) {
		int saved = errno;
		ring_close(b, r);
		errno = saved;
		return -1;
	}
	r->page = p;
	r->state = UNKNOWN;
	r->idle = -1;
	return 0;
}

static void ring_unknown(struct ring *r, int64_t t_ns)
{
	r->state = UNKNOWN;
	r->gap = true;
	r->since_ns = t_ns;
	r->idle = -1;
}

static void pass(struct ring *r, int64_t t_ns)
{
	if (t_ns <= r->at_ns)
		return;
	if (r->state == IDLE)
		r->idle_ns += t_ns - r->at_ns;
	r->gap |= r->state == UNKNOWN;
	r->at_ns = t_ns;
}

static void take_switch(struct ring *r, const struct perf_event_header *h, uint32_t other, int64_t t_ns)
{
	bool out = h->misc & PERF_RECORD_MISC_SWITCH_OUT;

	if (!out && other != 0)
		return; /* a switch in, perhaps of the idle task; the switch out before it was recorded */
	pass(r, t_ns);
	r->state = out && other == 0 ? IDLE : BUSY;
}

/* Processes all records up to t_ns. */
static void ring_drain(const struct by_perf *b, struct ring *r, int64_t t_ns)
{
	const unsigned char *base = (const unsigned char *)r->page + b->page_size;
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = r->page->data_tail, mask = b->ring_size - 1;

	while (head - tail >= sizeof(struct perf_event_header)) {
		struct perf_event_header h; /* 8 bytes on a multiple of 8: never across the end */
		uint32_t other[2];
		uint64_t when;
		memcpy(&h, base + (tail & mask), sizeof h);
		if (h.size < sizeof h || h.size % 8 || h.size > head - tail) {
			ring_unknown(r, t_ns);
			tail = head;
			break;
		}
		if (h.type == PERF_RECORD_SWITCH_CPU_WIDE && h.size >= 24) {
			memcpy(other, base + ((tail + 8) & mask), sizeof other);
			memcpy(&when, base + ((tail + h.size - 8u) & mask), sizeof when);
			if ((int64_t)when > t_ns)
				break; /* belongs to the next read */
			take_switch(r, &h, other[0], (int64_t)when);
		} else if (h.type == PERF_RECORD_LOST) {
			ring_unknown(r, t_ns);
		}
		tail += h.size;
	}
	__atomic_store_n(&r->page->data_tail, tail, __ATOMIC_RELEASE);
}

/* A core without a switch was idle all the time, or busy all the time: its idle time in hundredths of a
 * second is enough to find out which. */
static void settle(struct ring *r, const struct cpu_stat *stat, unsigned slot)
{
	if (!stat->fresh || stat->idle[slot] < 0)
		return;
	if (r->idle < 0 || stat->idle[slot] < r->idle) {
		r->idle = stat->idle[slot];
		r->since_ns = stat->t_ns;
		return;
	}
	int64_t passed = stat->t_ns - r->since_ns;
	if (passed < SETTLE_NS)
		return;
	double idle = (double)(stat->idle[slot] - r->idle) * stat->tick_ns;
	r->state = idle >= (double)passed / 2 ? IDLE : BUSY;
	r->at_ns = stat->t_ns;
}

/* Returns how long the core has been idle so far, or -1 if a part since the last read is unknown. */
static int64_t ring_read(struct by_perf *b, struct ring *r, const struct cpu_stat *stat, int64_t t_ns,
			 unsigned slot)
{
	r->gap = r->state == UNKNOWN;
	ring_drain(b, r, t_ns);
	pass(r, t_ns);
	if (r->state == UNKNOWN)
		settle(r, stat, slot);
	return r->gap ? -1 : r->idle_ns;
}

static void perf_read(void *source, const struct cores *c, const struct cpu_stat *stat, int64_t t_ns, int64_t *idle_ns)
{
	struct by_perf *b = source;

	for (unsigned i = 0; i < c->n; i++) {
		struct ring *r = &b->ring[i];
		if (!c->online[i]) {
			ring_close(b, r); /* its event does not come back */
		} else if (r->fd < 0 && t_ns >= r->retry_ns) {
			r->retry_ns = t_ns + RETRY_NS;
			ring_open(b, r, c->id[i]);
		}
		idle_ns[i] = r->fd >= 0 ? ring_read(b, r, stat, t_ns, i) : -1;
	}
}

static void perf_close(void *source)
{
	struct by_perf *b = source;

	for (unsigned i = 0; i < CORES_MAX; i++)
		ring_close(b, &b->ring[i]);
	free(b);
}

static void *perf_open(const struct root *r, const struct cores *c, int64_t tick_ns, char *why, size_t size)
{
	char space[40] = "";
	struct by_perf *b = NULL;
	ssize_t n = readlink("/proc/self/ns/pid", space, sizeof space - 1);

	if (!root_is_live(r))
		snprintf(why, size, "%s", _("not of this machine"));
	else if (n > 0 && strcmp(space, FIRST_PID_NAMESPACE) != 0)
		snprintf(why, size, "%s", _("in a container"));
	else if (tick_ns > TICK_MAX_NS)
		snprintf(why, size, "%s", _("sampled too rarely for it"));
	else if (!(b = calloc(1, sizeof *b)))
		snprintf(why, size, "%s", _("out of memory"));
	errno = 0;
	if (!b)
		return NULL;
	b->page_size = (size_t)sysconf(_SC_PAGESIZE);
	b->ring_size = b->page_size > RING_BYTES ? b->page_size : RING_BYTES;
	for (unsigned i = 0; i < CORES_MAX; i++)
		b->ring[i].fd = -1;
	for (unsigned i = 0; i < c->n; i++) {
		if (!c->online[i] || ring_open(b, &b->ring[i], c->id[i]) == 0)
			continue;
		int saved = errno;
		snprintf(why, size, "%s", strerror(saved));
		perf_close(b);
		errno = saved;
		return NULL;
	}
	return b;
}

const struct cpu_source cpu_by_perf = {
	.name = "perf",
	.all = N_("perf: context switches"),
	.one = N_("perf: context switches of cpu"),
	.after = "",
	.open = perf_open,
	.read = perf_read,
	.close = perf_close,
};
