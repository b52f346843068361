/* Runs the ticks of all tiers in one thread: a wake-up costs more than a row, and a tick of a slower tier
 * coincides with one of the fast tier. Anything that could block for long is read by reader threads, so that
 * tiers never wait for each other.
 *
 * The thread sleeps until absolute times, so that errors do not add up to a drift, and wakes at once when
 * stopped: the sleep is a futex on the stop word, which costs as much as clock_nanosleep().
 *
 * SCHED_FIFO reduces late wake-ups on a busy machine from some percent to none. If it is refused, the thread
 * runs without it. The priority stays below 50, at which the kernel runs its threaded interrupts. */
#include "engine/pacer.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "engine/engine.h"
#include "util/clock.h"
#include "util/intl.h"
#include "util/thread.h"

#define PRIORITY 20

struct pacer {
	struct sampler *samplers[TIERS]; /* the fastest first; then NULL */
	pthread_t thread;
	bool started;
	bool has_nice; /* run at this niceness, and not with SCHED_FIFO */
	int nice;
	_Atomic uint32_t stop, done;
	atomic_bool realtime;
};

struct pacer *pacer_new(struct sampler *const samplers[TIERS], struct err *e)
{
	struct pacer *p = calloc(1, sizeof(*p));

	if (!p) {
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	for (int t = 0, n = 0; t < TIERS; t++)
		if (samplers[t])
			p->samplers[n++] = samplers[t];
	return p;
}

void pacer_free(struct pacer *p)
{
	free(p);
}

/* On Linux niceness is a property of the thread, and 0 means the calling one. */
int pacer_set_nice(struct pacer *p, int nice, struct err *e)
{
	int now = getpriority(PRIO_PROCESS, 0), refused;

	if (nice < now) { /* lowering it needs a privilege, raising it does not */
		refused = setpriority(PRIO_PROCESS, 0, nice) ? errno : 0;
		if (refused)
			return err_sys(
				e, ERR_FAILED, refused,
				_("cannot sample at niceness %d; use sudo, or a niceness from %d to 19"),
				nice, now);
		setpriority(PRIO_PROCESS, 0, now);
	}
	p->has_nice = true;
	p->nice = nice;
	return 0;
}

int engine_realtime_refused(void)
{
	struct sched_param fifo = {.sched_priority = PRIORITY}, before;
	int policy, refused;

	if (pthread_getschedparam(pthread_self(), &policy, &before))
		return EINVAL;
	refused = pthread_setschedparam(pthread_self(), SCHED_FIFO, &fifo);
	if (!refused)
		pthread_setschedparam(pthread_self(), policy, &before);
	return refused;
}

static void *pacer_run(void *arg)
{
	struct sched_param param = {.sched_priority = PRIORITY};
	struct pacer *p = arg;
	int64_t now;

	prctl(PR_SET_NAME, "nvmtop-sampler");
	prctl(PR_SET_TIMERSLACK, 1UL);
	if (p->has_nice)
		setpriority(PRIO_PROCESS, 0, p->nice);
	else if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &param) == 0)
		atomic_store_explicit(&p->realtime, true, memory_order_relaxed);
	now = clock_now_ns();
	for (;;) {
		int64_t due = INT64_MAX;

		for (int i = 0; i < TIERS && p->samplers[i]; i++)
			due = sampler_due(p->samplers[i]) < due ? sampler_due(p->samplers[i]) : due;
		while (!atomic_load_explicit(&p->stop, memory_order_acquire) && now < due) {
			thread_flag_wait(&p->stop, due);
			now = clock_now_ns();
		}
		if (atomic_load_explicit(&p->stop, memory_order_acquire))
			break;
		for (int i = 0; i < TIERS && p->samplers[i]; i++)
			if (sampler_due(p->samplers[i]) <= now) {
				now = sampler_run(p->samplers[i], now);
				if (now < 0)
					return NULL;
			}
	}
	thread_flag_set(&p->done);
	return NULL;
}

int pacer_start(struct pacer *p, int64_t grid_ns, struct err *e)
{
	int failed;

	for (int i = 0; i < TIERS && p->samplers[i]; i++)
		sampler_begin(p->samplers[i], grid_ns);
	failed = thread_start(&p->thread, pacer_run, p);
	if (failed)
		return err_sys(e, ERR_FAILED, failed, _("cannot start the sampling thread"));
	p->started = true;
	return 0;
}

int pacer_replace(struct pacer *p)
{
	if (p->started)
		pthread_detach(p->thread);
	p->started = thread_start(&p->thread, pacer_run, p) == 0;
	return p->started ? 0 : -1;
}

/* Waits on a futex because pthread_timedjoin_np() uses the wall clock, which may step. */
bool pacer_stop(struct pacer *p, int64_t until_ns)
{
	thread_flag_set(&p->stop);
	while (p->started && !atomic_load_explicit(&p->done, memory_order_acquire)) {
		if (clock_now_ns() >= until_ns)
			return false;
		thread_flag_wait(&p->done, until_ns);
	}
	if (p->started)
		pthread_join(p->thread, NULL);
	p->started = false;
	return true;
}

bool pacer_is_realtime(const struct pacer *p)
{
	return atomic_load_explicit(&p->realtime, memory_order_relaxed);
}
