/* A disk may take seconds to write, and keys must not wait for it: a job writes the
 * settings soon after a change, so that a crash loses none. */
#include "app/settings-save.h"

#include <stdlib.h>

#include "util/clock.h"
#include "util/intl.h"
#include "util/job.h"

#define AFTER_NS (300 * NS_PER_MS) /* after the last change, */
#define MOST_NS  (2 * NS_PER_S)    /* but no later after the first */

struct save {
	struct job job;
	const struct app_settings *chosen;
	struct settings now;
	bool again; /* as in app_settings_save() */
	int rc;
	struct err err;
};

struct settings_saver {
	const struct app_settings *chosen;
	struct settings now;
	bool wanted, written;
	int64_t first_ns, last_ns; /* of the changes not written yet */
	struct save *save;         /* running, or NULL */
	struct err err;            /* of the last save; ERR_NONE: it succeeded */
};

struct settings_saver *settings_saver_new(const struct app_settings *c)
{
	struct settings_saver *s = calloc(1, sizeof *s);

	if (s)
		s->chosen = c;
	return s;
}

void settings_saver_want(struct settings_saver *s, const struct settings *now)
{
	s->now = *now;
	s->last_ns = clock_now_ns();
	if (!s->wanted)
		s->first_ns = s->last_ns;
	s->wanted = true;
}

static void run(struct job *j)
{
	struct save *v = (struct save *)j;

	v->rc = app_settings_save(v->chosen, &v->now, v->again, &v->err);
}

static void drop(struct job *j)
{
	free(j);
}

static int64_t due_ns(const struct settings_saver *s)
{
	return s->last_ns + AFTER_NS < s->first_ns + MOST_NS ? s->last_ns + AFTER_NS : s->first_ns + MOST_NS;
}

static void start(struct settings_saver *s)
{
	struct save *v = malloc(sizeof *v);

	if (!v)
		return; /* settings_saver_end() writes */
	v->chosen = s->chosen;
	v->now = s->now;
	v->again = s->written;
	if (job_start(&v->job, run, drop, &s->err) < 0) {
		free(v);
		return;
	}
	s->save = v;
	s->wanted = false;
}

/* True: it has failed. */
static bool take(struct settings_saver *s)
{
	bool failed = s->save->rc < 0;

	s->err.code = ERR_NONE;
	if (failed)
		s->err = s->save->err;
	else
		s->written = true;
	free(s->save);
	s->save = NULL;
	return failed;
}

bool settings_saver_failed(struct settings_saver *s, struct err *e)
{
	bool failed = s->save && job_done(&s->save->job, 0) && take(s);

	if (s->wanted && !s->save && clock_now_ns() >= due_ns(s))
		start(s);
	if (failed)
		*e = s->err;
	return failed;
}

int settings_saver_patience_ms(const struct settings_saver *s)
{
	int64_t left;

	if (!s || !s->wanted || s->save)
		return -1;
	left = due_ns(s) - clock_now_ns();
	return left > 0 ? (int)(left / NS_PER_MS) + 1 : 0;
}

int settings_saver_end(struct settings_saver *s, struct err *e)
{
	int rc = 0;

	if (!s)
		return 0;
	if (s->save && job_done(&s->save->job, INT64_MAX))
		take(s);
	if (s->wanted || s->err.code != ERR_NONE)
		rc = app_settings_save(s->chosen, &s->now, s->written, e);
	free(s);
	return rc;
}
