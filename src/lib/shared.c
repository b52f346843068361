/* Engines of the library. A second sampler would double the cost, and the two would share nothing; so all who ask for the
 * same board and rates get one. After fork() a child has none of the threads, and begins with an empty list. */
#include "lib/shared.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board/board.h"
#include "engine/engine.h"
#include "trace/trace.h"
#include "util/intl.h"

struct shared {
	struct shared *next;
	struct wish wish;
	unsigned users, watchers;
	bool recorder;
	struct root *root;
	struct engine *engine;
	struct tally *tally; /* the first sink; what comes and goes is behind it */
	_Atomic uint64_t row_0; /* the first fast row of the latest recording */
};

static pthread_mutex_t control = PTHREAD_MUTEX_INITIALIZER; /* an engine has one controlling thread at a time */
static struct shared *engines;
static _Thread_local bool is_inside;

static void forget_all(void)
{
	pthread_mutex_init(&control, NULL);
	engines = NULL;
	is_inside = false;
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forget_all);
}

void shared_inside(bool inside)
{
	is_inside = inside;
}

int shared_refused(struct err *e)
{
	return is_inside ? err_set(e, ERR_USAGE, "%s", _("a callback must not open, close, start or stop anything"))
			 : 0;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool serves(const struct shared *s, const struct wish *w)
{
	if (w->recorder && s->recorder)
		return false;
	return w->any || (same_text(s->wish.board, w->board) && same_text(s->wish.sysroot, w->sysroot) &&
			  !memcmp(s->wish.hz, w->hz, sizeof(w->hz)) && s->wish.gentle == w->gentle);
}

static struct probe_set *open_probes(struct shared *s, struct err *e)
{
	struct probe_set *probes = NULL;
	const struct wish *w = &s->wish;
	char why[256] = "";
	struct board *board;

	s->root = root_open(w->sysroot, e);
	if (!s->root)
		return NULL;
	if (w->board)
		snprintf(why, sizeof(why), "%s", _("chosen by the program"));
	board = w->board ? board_load(w->board, e) : board_detect(s->root, why, sizeof(why), e);
	if (board)
		probes = board_resolve(board, s->root, w->hz, why, e);
	board_free(board);
	if (probes && w->gentle)
		probe_set_be_gentle(probes);
	return probes;
}

/* nvmtop's own CPU use, late ticks and lost rows are channels, as of the command line. */
static int start(struct shared *s, struct err *e)
{
	struct probe_set *probes = open_probes(s, e);

	if (!probes)
		return -1;
	if (engine_own_channels(probes, e) < 0) {
		probe_set_free(probes);
		return -1;
	}
	s->engine = engine_new(probes, s->wish.hz, e);
	if (!s->engine || !(s->tally = tally_new(s->engine, e)))
		return -1;
	engine_unwatched(s->engine, LOG_CELL_ZOOM);
	if (!s->wish.recorder)
		return engine_begin(s->engine, tally_sink(s->tally), e) < 0 ? -1 : engine_start(s->engine, e);
	/* The recording, which joins at once, counts joules from its beginning. */
	if (engine_start(s->engine, e) < 0)
		return -1;
	engine_wait_warm(s->engine, ENGINE_WARM_MS(s->wish.hz[TIER_FAST]));
	return engine_begin(s->engine, tally_sink(s->tally), e);
}

static void end(struct shared *s)
{
	engine_free(s->engine);
	tally_free(s->tally);
	root_close(s->root);
	free((char *)(uintptr_t)s->wish.board);
	free((char *)(uintptr_t)s->wish.sysroot);
	free(s);
}

static struct shared *begin(const struct wish *w, struct err *e)
{
	struct shared *s = calloc(1, sizeof(*s));

	if (s) {
		s->wish = *w;
		s->wish.board = w->board ? strdup(w->board) : NULL;
		s->wish.sysroot = w->sysroot ? strdup(w->sysroot) : NULL;
	}
	if (!s || !s->wish.board != !w->board || !s->wish.sysroot != !w->sysroot)
		err_set(e, ERR_FAILED, "%s", _("out of memory"));
	else if (start(s, e) == 0)
		return s;
	if (s)
		end(s);
	return NULL;
}

struct shared *shared_open(const struct wish *w, struct err *e)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct shared *s;

	if (shared_refused(e) < 0)
		return NULL;
	pthread_once(&once, watch_forks);
	pthread_mutex_lock(&control);
	for (s = engines; s && !serves(s, w); s = s->next)
		continue;
	if (!s && (s = begin(w, e))) {
		s->next = engines;
		engines = s;
	}
	if (s) {
		s->users++;
		s->recorder |= w->recorder;
		e->code = ERR_NONE; /* missing signals give their own reason */
	}
	pthread_mutex_unlock(&control);
	return s;
}

void shared_close(struct shared *s, bool recorder)
{
	struct shared **at = &engines;

	pthread_mutex_lock(&control);
	s->recorder &= !recorder;
	if (--s->users == 0) {
		while (*at != s)
			at = &(*at)->next;
		*at = s->next;
		end(s);
	}
	pthread_mutex_unlock(&control);
}

struct engine *shared_engine(const struct shared *s)
{
	return s->engine;
}

struct tally *shared_tally(const struct shared *s)
{
	return s->tally;
}

struct joining {
	struct shared *shared;
	struct sink *sink;
	bool recording;
};

static int shared_join(void *arg, const struct session *now, struct err *e)
{
	struct joining *j = arg;
	struct sink *last = tally_sink(j->shared->tally);

	if (j->sink->ops->begin(j->sink, now, e) < 0)
		return -1;
	while (last->next)
		last = last->next;
	last->next = j->sink;
	j->sink->next = NULL;
	if (j->recording) {
		engine_begin_again(j->shared->engine);
		atomic_store(&j->shared->row_0, engine_made(j->shared->engine, TIER_FAST));
	}
	return 0;
}

static int shared_leave(void *arg, const struct session *now, struct err *e)
{
	struct joining *j = arg;
	struct sink *before = tally_sink(j->shared->tally);

	(void)now;
	while (before->next != j->sink)
		before = before->next;
	before->next = j->sink->next;
	return j->sink->ops->end(j->sink, e);
}

/* n: more watchers. */
static void shared_watch(struct shared *s, int n)
{
	pthread_mutex_lock(&control);
	s->watchers += (unsigned)n;
	engine_unwatched(s->engine, s->watchers ? 0 : LOG_CELL_ZOOM);
	pthread_mutex_unlock(&control);
}

int shared_attach(struct shared *s, struct sink *sink, bool recording, bool watched, struct err *e)
{
	struct joining j = {s, sink, recording};

	if (shared_refused(e) < 0)
		return -1;
	if (recording && !s->wish.recorder) /* else it was when that opened it */
		engine_wait_warm(s->engine, ENGINE_WARM_MS(s->wish.hz[TIER_FAST]));
	if (engine_call(s->engine, shared_join, &j, e) < 0)
		return -1;
	shared_watch(s, watched);
	return 0;
}

int shared_detach(struct shared *s, struct sink *sink, bool watched, struct err *e)
{
	int status;

	if (shared_refused(e) < 0)
		return -1;
	status = engine_call(s->engine, shared_leave, &(struct joining) {s, sink, false}, e);
	shared_watch(s, -(int)watched);
	return status;
}

uint64_t shared_recorded(const struct shared *s)
{
	return engine_made(s->engine, TIER_FAST) - atomic_load(&s->row_0);
}
