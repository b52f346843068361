/* Starts an engine that samples into a log in memory. */
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "app/app.h"
#include "app/pretrigger.h"
#include "record/nvtx.h"
#include "util/intl.h"

#define LARGE (64 * 1024) /* bytes; a ring, a writer's buffers, the buffers of a join */

struct probe_set *open_probes(const struct options *o, struct root **root, struct board **board, char *why,
			      size_t size, struct err *e)
{
	struct err unread = {.code = ERR_NONE};
	char chosen[256] = "";
	struct probe_set *probes = NULL;

	*board = NULL;
	*root = root_open(o->sysroot, e);
	if (!*root)
		return NULL;
	if (o->board) {
		*board = board_load(o->board, e);
		snprintf(chosen, sizeof chosen, "%s", _("chosen on the command line"));
	} else {
		*board = board_detect(*root, chosen, sizeof chosen, e);
		if (*board)
			unread = *e;
	}
	if (*board)
		probes = board_resolve(*board, *root, o->hz, chosen, e);
	if (!probes) {
		board_free(*board);
		root_close(*root);
		*board = NULL;
		*root = NULL;
		return NULL;
	}
	if (o->gentle)
		probe_set_be_gentle(probes);
	if (unread.code != ERR_NONE)
		*e = unread;
	if (why)
		snprintf(why, size, "%s", chosen);
	return probes;
}

void priority_text(const struct options *o, char *buf, size_t size)
{
	int refused = o->has_nice ? 0 : engine_realtime_refused();

	if (o->has_nice)
		snprintf(buf, size, _("niceness %d, as requested"), o->nice);
	else if (!refused)
		snprintf(buf, size, "%s", _("real time (SCHED_FIFO)"));
	else if (geteuid() == 0)
		snprintf(buf, size, "%s",
			 _("not real time: SCHED_FIFO is refused even to root; in a container add --cap-add "
			   "SYS_NICE"));
	else
		snprintf(buf, size, "%s",
			 _("not real time: SCHED_FIFO is not granted; use sudo, or setcap cap_sys_nice+ep on "
			   "nvmtop"));
}

int describe_priority(const struct options *o, struct probe_set *probes, struct err *e)
{
	struct fact f;

	priority_text(o, f.value, sizeof f.value);
	return probe_set_add_fact(probes, "priority", f.value) < 0
		       ? err_set(e, ERR_FAILED, "%s", _("out of memory"))
		       : 0;
}

struct engine *engine_for(const struct options *o, struct probe_set *probes, struct err *e)
{
	struct engine *engine;

	/* A single reading ends before nvmtop's own cost can be measured. */
	if (o->mode != MODE_ONCE &&
	    (describe_priority(o, probes, e) < 0 || engine_own_channels(probes, e) < 0)) {
		probe_set_free(probes);
		return NULL;
	}
	engine = engine_new(probes, o->hz, e);
	if (engine && o->has_nice && engine_set_nice(engine, o->nice, e) < 0) {
		engine_free(engine);
		return NULL;
	}
#ifdef __GLIBC__
	malloc_trim(0); /* release what board detection used */
	/* Return large freed blocks to the kernel. */
	mallopt(M_MMAP_THRESHOLD, LARGE);
#endif
	return engine;
}

struct log_bound history_bound(int64_t history_ns)
{
	/* What fits the time that is the default fits, in proportion, any time. */
	return (struct log_bound) {.rows_ns = history_ns, .bytes = LOG_ROWS_BYTES * (1 + (uint64_t)(history_ns / LOG_ROWS_NS))};
}

int live_open(struct live *l, const struct options *o, int64_t history_ns, struct err *e)
{
	bool screen = history_ns >= 0;
	int64_t keep_ns = o->keep_ns ? o->keep_ns : history_ns;
	struct log_bound bound = history_bound(screen ? history_ns : LOG_ROWS_NS);
	struct err lacking;

	bound.now = true;
	memset(l, 0, sizeof *l);
	struct probe_set *probes = open_probes(o, &l->root, &l->board, NULL, 0, e);
	if (!probes)
		return -1;
	lacking = *e;
	l->engine = engine_for(o, probes, e);
	if (!l->engine)
		goto failed;
	engine_begin_in_past(l->engine);
	if (screen)
		l->nvtx = nvtx_attach(l->engine, true, 0, NULL, e);
	l->log = log_new(&bound, e);
	l->view = l->log ? log_view_new(l->log, e) : NULL;
	if (!l->view)
		goto failed;
	/* w always works: without --keep it writes all rows in memory. */
	keep_ns = keep_ns > PRETRIGGER_MIN_NS ? keep_ns : PRETRIGGER_MIN_NS;
	if (screen && !(l->keep = keeping_new(o, l->engine, l->log, keep_ns, e)))
		goto failed;
	if (screen && o->trigger)
		log_sink(l->log)->next = pretrigger_sink(l->keep);
	if (engine_begin(l->engine, log_sink(l->log), e) < 0 || engine_start(l->engine, e) < 0)
		goto failed;
	*e = lacking;
	return 0;
failed:
	live_close(l);
	return -1;
}

void live_close(struct live *l)
{
	engine_free(l->engine);
	pretrigger_free(l->keep);
	log_view_free(l->view);
	log_free(l->log);
	nvtx_free(l->nvtx);
	board_free(l->board);
	root_close(l->root);
	memset(l, 0, sizeof *l);
}

struct timeline *live_look(const struct live *l)
{
	log_view_look(l->view);
	return log_view_timeline(l->view);
}

bool live_is_demo(const struct live *l)
{
	const struct session *about = l->engine ? engine_session(l->engine) : NULL;

	return about && fact_get(about->facts, about->n_facts, "demo");
}

const struct procs_list *live_demo_procs(const struct live *l, int64_t now_ns)
{
	struct timeline *t = live_is_demo(l) ? log_view_timeline(l->view) : NULL;

	return t ? procs_demo((double)(now_ns - t->ops->session(t)->start.mono_ns) / (double)NS_PER_S) : NULL;
}
