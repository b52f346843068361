/* A key is answered in milliseconds, and a disk may take as long as it likes: a thread
 * waits for it, and is left to its fate where nobody wants any more what it waits for.
 * The kernel lets go of a thread when the disk has answered, and not before. */
#include "cmd/away.h"

#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>

#include "nvmtop/clock.h"
#include "nvmtop/intl.h"

static pthread_mutex_t left_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned n_left;

static void count_left(int by)
{
	pthread_mutex_lock(&left_lock);
	n_left += (unsigned)by;
	pthread_mutex_unlock(&left_lock);
}

static void forget(struct away *a)
{
	pthread_cond_destroy(&a->news);
	pthread_mutex_destroy(&a->lock);
}

static void *away_run(void *arg)
{
	struct away *a = arg;
	bool left;

	prctl(PR_SET_NAME, a->name);
	a->run(a);
	pthread_mutex_lock(&a->lock);
	a->done = true;
	left = a->left;
	pthread_cond_signal(&a->news);
	pthread_mutex_unlock(&a->lock);
	if (!left)
		return NULL;
	forget(a);
	a->drop(a);
	count_left(-1);
	return NULL;
}

int away_start(struct away *a, const char *name, void (*run)(struct away *a), void (*drop)(struct away *a),
	       struct err *e)
{
	int num;

	a->run = run;
	a->drop = drop;
	a->done = a->left = false;
	snprintf(a->name, sizeof a->name, "%s", name);
	pthread_mutex_init(&a->lock, NULL);
	thread_cond_init(&a->news);
	num = thread_start(&a->thread, away_run, a);
	if (!num)
		return 0;
	forget(a);
	return err_sys(e, ERR_FAILED, num, _("a file cannot be read while the screen goes on: no thread"));
}

bool away_done(struct away *a, int64_t until_ns)
{
	bool done;

	pthread_mutex_lock(&a->lock);
	while (!a->done && thread_wait(&a->news, &a->lock, until_ns))
		continue;
	done = a->done;
	pthread_mutex_unlock(&a->lock);
	return done;
}

bool away_is_left(struct away *a)
{
	bool left;

	pthread_mutex_lock(&a->lock);
	left = a->left;
	pthread_mutex_unlock(&a->lock);
	return left;
}

void away_take(struct away *a)
{
	pthread_join(a->thread, NULL);
	forget(a);
}

void away_leave(struct away *a)
{
	bool done;

	pthread_mutex_lock(&a->lock);
	a->left = true;
	done = a->done;
	if (!done) {
		count_left(1);
		pthread_detach(a->thread); /* which is the last that knows of it, from now on */
	}
	pthread_mutex_unlock(&a->lock);
	if (!done)
		return;
	away_take(a);
	a->drop(a);
}

unsigned away_left_behind(int64_t until_ns)
{
	unsigned n;

	for (;;) {
		pthread_mutex_lock(&left_lock);
		n = n_left;
		pthread_mutex_unlock(&left_lock);
		if (!n || clock_now_ns() >= until_ns)
			return n;
		nanosleep(&(struct timespec) {.tv_nsec = NS_PER_MS}, NULL);
	}
}
