/* A disk may take seconds, and a key is answered in milliseconds: a thread of its
 * own writes the settings, soon after a change, so that a crash or a kill of the
 * screen loses none.  There is none of it until something is changed. */
#include "cmd/saver.h"

#include <stdlib.h>
#include <sys/prctl.h>

#include "nvmtop/clock.h"
#include "nvmtop/thread.h"

#define AFTER_NS (300 * NS_PER_MS) /* the last change, */
#define MOST_NS  (2 * NS_PER_S)    /* but of one that is followed by others not later */

struct saver {
	const struct chosen *chosen;
	pthread_t thread;
	bool started;

	pthread_mutex_t lock; /* for what follows, held for moments */
	pthread_cond_t news;
	struct settings now;
	bool wanted, ending, told;
	int64_t first_ns, last_ns; /* of the changes that are wanted */
	struct err err;            /* of the last time; ERR_NONE: it is written */

	bool written; /* the thread's, and then who ends it */
};

struct saver *saver_new(const struct chosen *c)
{
	struct saver *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	s->chosen = c;
	s->told = true;
	pthread_mutex_init(&s->lock, NULL);
	thread_cond_init(&s->news);
	return s;
}

/* With the lock held, which is given away for the time of the writing. */
static void save(struct saver *s, struct settings *copy)
{
	struct err e;

	*copy = s->now;
	s->wanted = false;
	pthread_mutex_unlock(&s->lock);
	e.code = ERR_NONE;
	/* What was written once and is now as it began is to be taken back there, too. */
	if (chosen_save(s->chosen, copy, s->written, &e) == 0) {
		s->written = true;
		e.code = ERR_NONE;
	}
	pthread_mutex_lock(&s->lock);
	s->err = e;
	s->told = e.code == ERR_NONE;
}

static void *saver_run(void *arg)
{
	struct settings *copy;
	struct saver *s = arg;

	prctl(PR_SET_NAME, "nvmtop-settings");
	copy = malloc(sizeof *copy);
	pthread_mutex_lock(&s->lock);
	while (copy && !s->ending) {
		int64_t until = s->last_ns + AFTER_NS;

		if (until > s->first_ns + MOST_NS)
			until = s->first_ns + MOST_NS;
		if (!s->wanted) {
			pthread_cond_wait(&s->news, &s->lock);
		} else if (clock_now_ns() < until) {
			thread_wait(&s->news, &s->lock, until);
		} else {
			save(s, copy);
		}
	}
	pthread_mutex_unlock(&s->lock);
	free(copy);
	return NULL;
}

void saver_want(struct saver *s, const struct settings *now)
{
	pthread_mutex_lock(&s->lock);
	s->now = *now;
	s->last_ns = clock_now_ns();
	if (!s->wanted)
		s->first_ns = s->last_ns;
	s->wanted = true;
	/* Without the thread the end writes. */
	if (!s->started)
		s->started = thread_start(&s->thread, saver_run, s) == 0;
	pthread_cond_signal(&s->news);
	pthread_mutex_unlock(&s->lock);
}

bool saver_failed(struct saver *s, struct err *e)
{
	bool failed;

	pthread_mutex_lock(&s->lock);
	failed = !s->told;
	s->told = true;
	*e = s->err;
	pthread_mutex_unlock(&s->lock);
	return failed;
}

int saver_end(struct saver *s, struct err *e)
{
	int rc = 0;

	if (!s)
		return 0;
	pthread_mutex_lock(&s->lock);
	s->ending = true;
	pthread_cond_signal(&s->news);
	pthread_mutex_unlock(&s->lock);
	if (s->started)
		pthread_join(s->thread, NULL);
	if (s->wanted || s->err.code != ERR_NONE)
		rc = chosen_save(s->chosen, &s->now, s->written, e);
	pthread_cond_destroy(&s->news);
	pthread_mutex_destroy(&s->lock);
	free(s);
	return rc;
}
