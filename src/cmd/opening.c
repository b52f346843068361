/* A folder may take as long as it likes to answer, on a network for ever, and a key is
 * answered in milliseconds: a thread makes the files of a recording, and is left to its
 * fate where nobody waits for them any more. */
#include "cmd/opening.h"

#include <stdlib.h>
#include <sys/prctl.h>

#include "cmd/naming.h"
#include "nvmtop/intl.h"
#include "nvmtop/thread.h"

struct opening {
	struct trace_limits limits;
	pthread_t thread;
	pthread_mutex_t lock; /* for what follows */
	pthread_cond_t news;
	bool done, left;
	struct trace_series *series;
	struct err err;
};

static void opening_free(struct opening *o)
{
	trace_series_free(o->series);
	pthread_cond_destroy(&o->news);
	pthread_mutex_destroy(&o->lock);
	free(o);
}

static void *opening_run(void *arg)
{
	struct opening *o = arg;
	struct trace_series *s;
	struct err e;
	bool left;

	prctl(PR_SET_NAME, "nvmtop-opening");
	s = trace_series_now(&o->limits, &e);
	pthread_mutex_lock(&o->lock);
	o->series = s;
	if (!s)
		o->err = e;
	o->done = true;
	left = o->left;
	pthread_cond_signal(&o->news);
	pthread_mutex_unlock(&o->lock);
	if (left)
		opening_free(o);
	return NULL;
}

struct opening *opening_start(const struct trace_limits *limits, struct err *e)
{
	struct opening *o = calloc(1, sizeof *o);
	int num;

	if (!o) {
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	o->limits = *limits;
	pthread_mutex_init(&o->lock, NULL);
	thread_cond_init(&o->news);
	num = thread_start(&o->thread, opening_run, o);
	if (num) {
		err_sys(e, ERR_FAILED, num, _("no recording can be begun: no thread"));
		opening_free(o);
		return NULL;
	}
	return o;
}

bool opening_done(struct opening *o, int64_t until_ns)
{
	bool done;

	pthread_mutex_lock(&o->lock);
	while (!o->done && thread_wait(&o->news, &o->lock, until_ns))
		continue;
	done = o->done;
	pthread_mutex_unlock(&o->lock);
	return done;
}

struct trace_series *opening_take(struct opening *o, struct err *e)
{
	struct trace_series *s;

	pthread_join(o->thread, NULL);
	s = o->series;
	o->series = NULL;
	if (!s)
		*e = o->err;
	opening_free(o);
	return s;
}

void opening_leave(struct opening *o)
{
	bool done;

	pthread_mutex_lock(&o->lock);
	o->left = true;
	done = o->done;
	if (!done)
		pthread_detach(o->thread); /* which is the last that knows of it, from now on */
	pthread_mutex_unlock(&o->lock);
	if (!done)
		return;
	pthread_join(o->thread, NULL);
	opening_free(o);
}
