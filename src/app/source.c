/* The source of the screen: the local board, a recording made elsewhere, or a saved trace. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/open-trace.h"
#include "app/pretrigger.h"
#include "app/source.h"
#include "util/clock.h"
#include "util/intl.h"
#include "util/job.h"
#include "trace/trace.h"

#define SIGNAL_NS (20 * NS_PER_MS) /* interval of checking for signals while waiting for a disk */
#define BUILT_NS  (NS_PER_S / 5)   /* polling interval while columns are built; otherwise once a second */

/* Opening a board reads hundreds of files and may load a library, for which no frame waits. */
struct starting {
	struct job job;
	const struct options *o;
	int64_t history_ns;
	struct live live;
	struct err err; /* as from live_open() */
	bool failed;
};

static void starting_run(struct job *j)
{
	struct starting *n = (struct starting *)j;

	n->failed = live_open(&n->live, n->o, n->history_ns, &n->err) < 0;
}

static void starting_drop(struct job *j)
{
	struct starting *n = (struct starting *)j;

	live_close(&n->live);
	free(n);
}

static int start_live(struct source *s, struct err *e)
{
	struct starting *n = calloc(1, sizeof *n);

	if (!n)
		return err_set(e, ERR_FAILED, _("out of memory"));
	n->o = s->o;
	n->history_ns = s->o->keep_ns > s->history_ns ? s->o->keep_ns : s->history_ns;
	if (job_start(&n->job, starting_run, starting_drop, e) < 0) {
		free(n);
		return -1;
	}
	s->starting = n;
	return 0;
}

/* Reports the signals that are missing only because this user may not read them. */
static void report_locked(struct source *s)
{
	const struct session *about = engine_session(s->live.engine);
	const char *first = NULL;
	unsigned long n = 0;
	char text[160];

	for (size_t i = about->n_channels; i-- > 0;)
		if (strstr(about->channels[i].missing, "sudo nvmtop-setup")) {
			first = about->channels[i].label;
			n++;
		}
	if (!n || geteuid() == 0)
		return;
	snprintf(text, sizeof text,
		 P_("%lu signal needs root (%s): sudo nvmtop-setup opens it to all users",
		    "%lu signals need root, such as %s: sudo nvmtop-setup opens them to all users", n),
		 n, first);
	s->tell(s->to, STYLE_TEXT, text);
}

/* The board is open: accepts marks from other programs. */
static void begin_live(struct source *s, const struct err *lacking)
{
	char text[sizeof lacking->text];
	struct err no_marks;

	s->begun_ns = clock_now_ns();
	report_locked(s);
	if (s->o->keep_ns) {
		keeping_begun(s->o, s->live.keep, text, sizeof text);
		s->tell(s->to, STYLE_TEXT, text);
	}
	s->marks = inbox_open(&no_marks);
	if (no_marks.code != ERR_NONE)
		s->tell(s->to, STYLE_WARN, no_marks.text);
	if (s->marks)
		inbox_attach(s->marks, s->live.engine);
	if (lacking->code != ERR_NONE)
		s->tell(s->to, STYLE_WARN, lacking->text);
}

/* Gets the board once it is open. Returns true if something changed. */
static bool take_live(struct source *s)
{
	struct starting *n = s->starting;

	if (!n || !job_done(&n->job, 0))
		return false;
	s->starting = NULL;
	s->live = n->live;
	s->failed.code = ERR_NONE;
	if (n->failed)
		s->failed = n->err;
	else
		begin_live(s, &n->err);
	free(n);
	return true;
}

/* Closes the shown trace and the second one. */
static void drop_trace(struct source *s)
{
	fetch_close(s->with);
	s->with = NULL;
	fetch_close(s->trace);
	s->trace = NULL;
}

bool source_samples(const struct source *s)
{
	return s->live.engine || s->starting;
}

bool source_has_live(const struct source *s)
{
	return s->remote || source_samples(s);
}

void source_show_live(struct source *s)
{
	drop_trace(s);
}

void source_take_trace(struct source *s, struct trace *trace, const struct err *damage)
{
	char notice[sizeof damage->text];

	drop_trace(s);
	s->trace = trace;
	s->built[0] = '\0';
	s->trace_look_ns = 0;
	if (damage->code != ERR_NONE)
		s->tell(s->to, STYLE_WARN, damage->text);
	else if (trace_notice(trace, notice, sizeof notice))
		s->tell(s->to, STYLE_WARN, notice);
}

void source_take_second(struct source *s, struct trace *with, const struct err *damage)
{
	struct err e = *damage;
	struct ui_align align;

	if (with && !(with = with_aligned(s->o, s->trace, with, &align, &e))) {
		s->tell(s->to, STYLE_ALERT, e.text);
		return;
	}
	fetch_close(s->with);
	s->with = with;
	if (!with)
		return;
	s->align = align;
	if (e.code != ERR_NONE)
		s->tell(s->to, STYLE_WARN, e.text);
}

/* Waits for the disk, or for a signal; used before the screen opens. */
static int wait_for(struct source *s, const char *const *paths, size_t n, struct fetched *out, struct err *e)
{
	struct fetch *f = fetch_start(paths, n, true, e);
	int sig;

	while (f && !fetch_done(f, clock_now_ns() + SIGNAL_NS))
		while ((sig = signals_next(s->signals, NULL)))
			if (signal_ends(sig)) {
				fetch_leave(f);
				return err_set(e, ERR_FAILED, _("stopped before the recording arrived"));
			}
	if (!f)
		return -1;
	fetch_take(f, out);
	*e = out->err;
	return out->trace ? 0 : -1;
}

static int show_trace(struct source *s, struct err *e)
{
	struct fetched got;

	if (wait_for(s, s->o->files, s->o->n_files, &got, e) < 0)
		return -1;
	memcpy(s->next, got.next, sizeof s->next);
	source_take_trace(s, got.trace, e);
	return 0;
}

static int show_with(struct source *s, struct err *e)
{
	struct fetched got;

	if (wait_for(s, &s->o->with, 1, &got, e) < 0)
		return -1;
	s->with = with_aligned(s->o, s->trace, got.trace, &s->align, e);
	if (s->with && e->code != ERR_NONE)
		s->tell(s->to, STYLE_WARN, e->text);
	return s->with ? 0 : -1;
}

/* Opens a recording made elsewhere, which may go on; what is complete is shown as a trace. */
static int follow(struct source *s, struct err *e)
{
	bool complete;

	s->remote = remote_open(s->o->replay, s->history_ns, s->signals, &complete, e);
	if (s->remote)
		return 0;
	if (!complete)
		return -1;
	return show_trace(s, e);
}

int source_open(struct source *s, struct err *e)
{
	if (!s->o->replay)
		return start_live(s, e);
	if (s->o->follow || !strcmp(s->o->replay, "-"))
		return follow(s, e);
	if (show_trace(s, e) < 0)
		return -1;
	return s->o->with ? show_with(s, e) : 0;
}

void source_close(struct source *s)
{
	remote_close(s->remote);
	inbox_close(s->marks);
	drop_trace(s);
	if (s->starting)
		job_cancel(&s->starting->job);
	live_close(&s->live);
}

static void engine_scene(const struct engine *g, struct ui_scene *scene)
{
	struct engine_stats es;

	engine_stats(g, &es);
	scene->late = es.late[TIER_FAST];
	scene->lost = es.lost[TIER_FAST];
	scene->own_cpu = es.cpu_percent;
	for (int tier = 0; tier < TIERS; tier++)
		scene->stalled |= es.stalled[tier];
	scene->hangs = es.hangs ? es.hangs->name : NULL;
	scene->hangs_ns = es.hangs ? scene->now_ns - es.hangs_since_ns : 0;
}

void source_scene(struct source *s, struct ui_scene *scene)
{
	scene->live = !s->trace;
	scene->has_live = source_has_live(s);
	scene->trace_name = s->trace ? trace_name(s->trace) : NULL;
	scene->remote = scene->notice = NULL;
	scene->with = s->with ? trace_timeline(s->with) : NULL;
	scene->with_name = s->with ? trace_name(s->with) : NULL;
	scene->align = &s->align;
	scene->rows_ns = 0;
	if (s->trace) {
		scene->timeline = trace_timeline(s->trace);
		scene->notice = s->built[0] ? s->built : NULL;
	} else if (s->remote) {
		remote_scene(s->remote, scene);
	} else if (s->live.view) {
		scene->timeline = live_look(&s->live);
		scene->rows_ns = log_view_state(s->live.view)->now.rows_ns;
	} else {
		scene->timeline = NULL;
		scene->notice = _("Starting.");
	}
	scene->own_cpu = NAN;
	scene->stalled = false;
	scene->hangs = NULL;
	if (s->live.engine)
		engine_scene(s->live.engine, scene);
}

int source_fd(const struct source *s)
{
	return s->remote ? remote_fd(s->remote) : -1;
}

int source_patience_ms(const struct source *s)
{
	int remote = s->remote ? remote_patience_ms(s->remote) : -1;
	int ms = ms_until(s->trace_look_ns);

	return !s->trace || (remote >= 0 && remote < ms) ? remote : ms;
}

/* Combines the states of both traces: news of either is news. */
static void look_with(struct source *s, struct trace_state *st)
{
	struct trace_state b;

	trace_look(s->with, &b);
	st->built = b.building && (!st->building || b.built < st->built) ? b.built : st->built;
	st->building |= b.building;
	if (b.news && (!st->news || st->damage.code == ERR_NONE))
		st->damage = b.damage;
	st->news |= b.news;
}

/* The trace may grow while it is read, and damage may be found in it. */
static bool watch_trace(struct source *s)
{
	char text[sizeof s->built] = "";
	struct trace_state st;

	if (!s->trace || clock_now_ns() < s->trace_look_ns)
		return false;
	trace_look(s->trace, &st);
	if (s->with)
		look_with(s, &st);
	s->trace_look_ns = clock_now_ns() + (st.building ? BUILT_NS : NS_PER_S);
	if (st.building)
		snprintf(text, sizeof text, _("Reading the trace: %d %%"), (int)(st.built * 100));
	if (st.news && st.damage.code != ERR_NONE)
		s->tell(s->to, STYLE_WARN, st.damage.text);
	bool changed = st.news || strcmp(text, s->built) != 0;
	strcpy(s->built, text);
	return changed;
}

static void watch_keep(struct source *s)
{
	char text[sizeof((struct err *)NULL)->text];
	struct pretrigger_stats k;
	bool failed;

	if (s->live.keep) {
		pretrigger_stats(s->live.keep, &k);
		recording_trouble(&s->keep_trouble, &k.written, text, sizeof text);
		if (text[0])
			s->tell(s->to, STYLE_WARN, text);
	}
	while (s->live.keep && keeping_news(s->live.keep, &s->kept_told, text, sizeof text, &failed))
		s->tell(s->to, failed ? STYLE_ALERT : STYLE_TEXT, text);
}

static void watch_sensors(struct source *s)
{
	char text[256];

	while (s->live.engine && hangs_news(&s->hangs_told, s->live.engine, text, sizeof text))
		s->tell(s->to, STYLE_WARN, text);
}

bool source_take(struct source *s, bool *ended)
{
	bool news = false;

	*ended = s->remote && remote_take(s->remote);
	news |= *ended && !s->trace;
	news |= take_live(s);
	watch_keep(s);
	watch_sensors(s);
	news |= watch_trace(s);
	return news;
}

void source_keep_write(struct source *s, int64_t t_ns, const char *label)
{
	if (!s->live.keep) {
		s->tell(s->to, STYLE_WARN, keeping_nothing());
		return;
	}
	pretrigger_trigger(s->live.keep, t_ns, label);
	s->tell(s->to, STYLE_TEXT, _("writing what is in memory"));
}

void source_keep_end(struct source *s)
{
	if (!s->live.keep || !s->live.engine)
		return;
	if (s->o->trigger)
		engine_stop(s->live.engine); /* its last rows may trigger */
	keeping_end(s->live.keep, s->signals);
}
