/* phases: the phases between marks, and their statistics.
 *
 * All numbers of a frame end at last_ns, which advances a few times per second while a phase
 * grows.
 *
 * Mean, extremes and energy come from columns, which is fast. The 95th percentile needs the
 * samples: it is computed between frames, one signal at a time. With too many samples it is
 * estimated from columns and marked as an estimate. */
#include "ui/align.h"
#include "ui/goto.h"
#include "ui/phases.h"
#include "ui/range-stats.h"
#include "ui/rows.h"

#include "util/intl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BUDGET  16384 /* columns read between two frames */
#define CALM_NS (250 * NS_PER_MS)

/* Phases that do not begin with a mark, and those that only the second trace has. */
#define ID_RECORDING UINT64_MAX
#define ID_AFTER     (UINT64_MAX - 1)
#define ID_BESIDE    (UINT64_C(1) << 63)

void phases_free(void *state)
{
	struct phases *e = state;

	for (size_t i = 0; i < CHOSEN_MAX * TRACES; i++)
		free(e->sheets[i].cells);
	free(e->channels);
	free(e->beside);
	free(e->order);
	free(e->phases);
	free(e->scratch);
	memset(e, 0, sizeof(*e));
}

static const enum channel_kind first_kinds[] = {
	CHANNEL_POWER_TOTAL, CHANNEL_GPU_UTIL,    CHANNEL_CPU_UTIL, CHANNEL_EMC_UTIL, CHANNEL_RAM_USED,
	CHANNEL_HOTTEST,     CHANNEL_RAIL_POWER,  CHANNEL_GPU_FREQ, CHANNEL_CPU_FREQ, CHANNEL_EMC_RATE,
	CHANNEL_ENGINE_UTIL, CHANNEL_TEMPERATURE, CHANNEL_FAN,      CHANNEL_CORE_UTIL};
#define FIRST_KINDS (sizeof(first_kinds) / sizeof(first_kinds[0]))

static size_t rank_of(const struct channel *ch)
{
	size_t i = 0;

	while (i < FIRST_KINDS && first_kinds[i] != ch->kind)
		i++;
	return i;
}

static bool make_room(struct phases *e, size_t n)
{
	bool made = true;

	e->channels = calloc(n, sizeof(*e->channels));
	e->beside = calloc(n, sizeof(*e->beside));
	e->order = calloc(n, sizeof(*e->order));
	e->scratch = span_scratch_new();
	for (size_t i = 0; i < CHOSEN_MAX * TRACES; i++)
		made &= (e->sheets[i].cells = calloc(n, sizeof(*e->sheets[i].cells))) != NULL;
	return made && e->channels && e->beside && e->order && e->scratch;
}

static void power_find(struct ui *u, struct phases *e)
{
	const struct session *about[TRACES] = {u->about, u->second.about};
	char name[TRACES][512];

	for (int i = 0; i < TRACES && about[i]; i++) {
		power_parts_find(&e->power[i], about[i]);
		power_parts_text(&e->power[i], about[i], false, name[i], sizeof(name[i]));
		if (!e->power[i].add_up || strcmp(name[i], name[0]) != 0)
			e->power[i].n = 0;
	}
}

/* List the signals in display order. */
static bool list_channels(struct ui *u, struct phases *e)
{
	static const enum channel_kind means[MEANS_MAX] = {CHANNEL_POWER_TOTAL, CHANNEL_GPU_UTIL,
							   CHANNEL_EMC_UTIL,    CHANNEL_HOTTEST,
							   CHANNEL_CPU_UTIL,    CHANNEL_RAM_USED};
	const struct session *about = u->about;

	if (!make_room(e, about->n_channels + 1))
		return false;
	for (size_t rank = 0; rank <= FIRST_KINDS; rank++)
		for (size_t i = 0; i < about->n_channels; i++)
			if (rank_of(&about->channels[i]) == rank && !about->channels[i].missing[0] &&
			    !channel_counts(&about->channels[i]))
				e->channels[e->n_channels++] = i;
	power_find(u, e);
	for (int k = 0; k < MEANS_MAX; k++) {
		int i = rows_find(about, means[k], -1);

		if (i >= 0 && !about->channels[i].missing[0])
			e->means[e->n_means++] = i;
	}
	for (size_t i = 0; i < e->n_channels; i++) {
		e->beside[i] = second_channel(u, e->channels[i]);
		e->order[i] = i;
	}
	e->about = about;
	e->with = u->second.about;
	return true;
}

struct phases *phases_look(struct ui *u)
{
	struct phases *e = ui_state(u, &view_phases);

	if (!u->about)
		return NULL;
	if (e->about == u->about && e->with == u->second.about)
		return e;
	phases_free(e);
	if (list_channels(u, e))
		return e;
	phases_free(e);
	return NULL;
}

struct phases *phases_shown(struct ui *u)
{
	struct phases *e = ui_state(u, &view_phases);

	return u->about && e->about == u->about && e->n ? e : NULL;
}

static struct phase *add_phase(struct phases *e)
{
	if (e->n == e->room) {
		size_t room = e->room ? 2 * e->room : 64;
		struct phase *more = realloc(e->phases, room * sizeof(*more));

		e->failed |= !more;
		if (!more)
			return NULL;
		e->phases = more;
		e->room = room;
	}
	return &e->phases[e->n++];
}

struct walk {
	struct phases *e;
	int trace;
	int64_t first_ns, last_ns;
	struct stretch recorded; /* 0, 0: no recording */
	struct phase *open;      /* the last phase so far */
	size_t next;             /* where to search next for a phase of the first trace */
};

/* As reports pair the phases of two traces: by label, and those without by number. */
static bool same(const struct phase *p, uint64_t number, const char *label)
{
	return !p->at[1].to_ns && !strcmp(p->label, label) && (*label || p->number == number);
}

/* Find the phase of the first trace that matches this one of the second, or add a phase. */
static struct phase *place_for(struct walk *w, uint64_t id, uint64_t number, const char *label)
{
	struct phases *e = w->e;
	struct phase *p;

	for (size_t i = 0; w->trace && i < e->n; i++) {
		size_t at = (w->next + i) % e->n;

		if (!same(&e->phases[at], number, label))
			continue;
		w->next = at + 1;
		return &e->phases[at];
	}
	e->more |= e->n >= PHASES_MAX;
	p = e->more ? NULL : add_phase(e);
	if (!p)
		return NULL;
	*p = (struct phase) {.id = w->trace ? id | ID_BESIDE : id, .number = number};
	snprintf(p->label, sizeof(p->label), "%s", label);
	return p;
}

/* End one phase and begin the next. */
static bool cut(struct walk *w, int64_t t_ns, uint64_t id, uint64_t number, const char *label)
{
	size_t open = w->open ? (size_t)(w->open - w->e->phases) : 0;
	struct phase *p;

	/* A mark before the first sample begins the first phase. */
	if (w->open && t_ns <= w->open->at[w->trace].from_ns) {
		w->open->at[w->trace] = (struct stretch) {0, 0};
		if (!w->open->at[0].to_ns && open + 1 == w->e->n)
			w->e->n--;
		w->open = NULL;
	}
	p = place_for(w, id, number, label);
	if (!p)
		return true;
	if (w->open)
		w->e->phases[open].at[w->trace].to_ns = t_ns;
	p->at[w->trace] = (struct stretch) {t_ns, w->last_ns > t_ns ? w->last_ns : t_ns};
	w->open = p;
	return false;
}

/* Handle a recording that started or ended before t_ns. */
static void cut_recording(struct walk *w, int64_t t_ns)
{
	if (w->recorded.from_ns && w->recorded.from_ns <= t_ns) {
		cut(w, w->recorded.from_ns, ID_RECORDING, 0, _("start"));
		w->recorded.from_ns = 0;
	}
	if (w->recorded.to_ns && w->recorded.to_ns <= t_ns) {
		cut(w, w->recorded.to_ns, ID_AFTER, 0, _("not recorded"));
		w->recorded.to_ns = 0;
	}
}

static bool take_mark(void *arg, const struct mark *m)
{
	struct walk *w = arg;

	cut_recording(w, m->t_ns);
	return cut(w, m->t_ns, m->id, m->id, m->label);
}

static void list_trace(struct walk *w, struct timeline *t, const struct extent *extent)
{
	bool recorded = w->recorded.from_ns > 0;

	cut(w, extent->first_ns, 0, 0, recorded && w->recorded.from_ns > extent->first_ns ? _("not recorded") : _("start"));
	goto_each_mark(t, extent, take_mark, w);
	cut_recording(w, w->last_ns);
}

void phases_list(struct ui *u, const struct ui_scene *s, struct phases *e)
{
	struct walk w = {.e = e};
	struct extent extent;

	e->n = 0;
	e->more = false;
	align_extent(s->timeline, &extent);
	if (!extent.any)
		return;
	if (!s->live || extent.last_ns < e->last_ns || extent.last_ns - e->last_ns >= CALM_NS)
		e->last_ns = extent.last_ns;
	w.last_ns = e->last_ns;
	if (s->live && s->record_since_ns)
		w.recorded = (struct stretch) {s->record_since_ns, s->record_until_ns};
	list_trace(&w, s->timeline, &extent);
	if (u->second.about) {
		align_extent(u->second.timeline, &extent);
		w = (struct walk) {.e = e, .trace = 1, .last_ns = extent.last_ns};
		if (extent.any)
			list_trace(&w, u->second.timeline, &extent);
	}
	if (e->n && e->at >= e->n)
		e->at = e->n - 1;
}

bool phases_chosen(const struct phases *e, uint64_t id, size_t *place)
{
	for (size_t i = 0; i < e->n_chosen; i++)
		if (e->chosen[i] == id)
			return *place = i, true;
	return false;
}

const struct phase *phases_find(const struct phases *e, uint64_t id)
{
	for (size_t i = 0; i < e->n; i++)
		if (e->phases[i].id == id)
			return &e->phases[i];
	return NULL;
}

static struct timeline *timeline_of(const struct ui *u, const struct ui_scene *s, int trace)
{
	return trace ? u->second.timeline : s->timeline;
}

/* The old quantiles stay visible until the new ones are computed, at most once a second. */
static void sheet_take(struct ui *u, const struct ui_scene *s, struct phases *e, const struct phase *p, int trace)
{
	struct sheet *sh = &e->sheets[e->n_sheets];
	const struct stretch *of = &p->at[trace];
	bool provisional = !s->live && s->notice;
	bool was = sh->set && sh->id == p->id && sh->trace == trace && sh->of.from_ns == of->from_ns;

	if (!of->to_ns)
		return;
	e->n_sheets++;
	if (was && sh->of.to_ns == of->to_ns && !provisional && !sh->provisional)
		return;
	if (was && provisional && s->now_ns - sh->made_ns < NS_PER_S)
		return;
	for (size_t i = 0; i < e->n_channels; i++) {
		struct figure *f = &sh->cells[i];
		struct span span = {NAN, NAN, NAN, 0, 0, NAN};
		int channel = trace ? e->beside[i] : (int)e->channels[i];

		if (channel >= 0)
			span_read(timeline_of(u, s, trace), (size_t)channel, of->from_ns, of->to_ns, &span);
		if (!was)
			*f = (struct figure) {.p95 = NAN};
		f->mean = span.mean;
		f->max = span.max;
	}
	if (!was || (sh->done == e->n_channels && s->now_ns - sh->made_ns >= NS_PER_S)) {
		sh->done = 0;
		sh->made_ns = s->now_ns;
	}
	sh->id = p->id;
	sh->trace = trace;
	sh->of = *of;
	sh->provisional = provisional;
	sh->set = true;
}

void phases_sheets(struct ui *u, const struct ui_scene *s, struct phases *e)
{
	e->n_sheets = 0;
	for (size_t i = 0; i < e->n_chosen; i++) {
		const struct phase *p = phases_find(e, e->chosen[i]);

		for (int trace = 0; p && trace < TRACES; trace++)
			sheet_take(u, s, e, p, trace);
	}
	for (int trace = 0; !e->n_chosen && e->n && trace < TRACES; trace++)
		sheet_take(u, s, e, &e->phases[e->at], trace);
}

bool phases_busy(const struct phases *e)
{
	for (size_t i = 0; i < e->n_sheets; i++)
		if (e->sheets[i].done < e->n_channels)
			return true;
	return false;
}

/* The number of columns that a quantile reads. */
static int64_t work_of(const struct ui *u, size_t channel, const struct sheet *sh)
{
	const struct session *about = sh->trace ? u->second.about : u->about;
	double hz = about->hz[about->channels[channel].tier];
	int64_t n = (sh->of.to_ns - sh->of.from_ns) >> zoom_base(hz > 0 ? hz : 1);

	return n > BUDGET ? BUDGET : n + 64;
}

bool phases_tick(struct ui *u, const struct ui_scene *s)
{
	struct phases *e = phases_shown(u);
	int64_t budget = BUDGET;

	if (!e || !s->timeline)
		return false;
	for (size_t i = 0; i < e->n_sheets; i++) {
		struct sheet *sh = &e->sheets[i];

		for (; sh->done < e->n_channels; sh->done++) {
			int channel = sh->trace ? e->beside[sh->done] : (int)e->channels[sh->done];
			struct figure *cell = &sh->cells[sh->done];

			if (budget <= 0)
				return true;
			cell->ready = true;
			if (channel < 0)
				continue;
			budget -= work_of(u, (size_t)channel, sh);
			cell->p95 = span_quantile(timeline_of(u, s, sh->trace), e->scratch, (size_t)channel,
						  sh->of.from_ns, sh->of.to_ns, 0.95, &cell->exact);
		}
	}
	return false;
}

const struct line *phases_line(struct ui *u, const struct ui_scene *s, struct phases *e, size_t i, int trace)
{
	const struct stretch *of = &e->phases[i].at[trace];
	struct line *l = &e->lines[trace][i % LINES_MAX];
	bool provisional = !s->live && s->notice;
	struct timeline *t = timeline_of(u, s, trace);

	if (!of->to_ns)
		return NULL;
	if (!provisional && l->of.to_ns && l->of.from_ns == of->from_ns && l->of.to_ns == of->to_ns)
		return l;
	*l = (struct line) {.of = *of, .power = {NAN, NAN, NAN, 0, 0, NAN}};
	for (int k = 0; k < e->n_means; k++) {
		int channel = trace ? second_channel(u, (size_t)e->means[k]) : e->means[k];
		struct span span = {NAN, NAN, NAN, 0, 0, NAN};

		if (channel >= 0)
			span_read(t, (size_t)channel, of->from_ns, of->to_ns, &span);
		l->mean[k] = u->about->channels[e->means[k]].kind == CHANNEL_HOTTEST ? span.max : span.mean;
	}
	if (e->power[trace].n > 0)
		power_span(t, &e->power[trace], of->from_ns, of->to_ns, &l->power);
	if (provisional)
		l->of.to_ns = 0;
	return l;
}

void phases_name(const struct ui *u, const struct phases *e, const struct phase *p, int trace, char out[PHASE_NAME])
{
	size_t place;
	char letter[4] = "", number[24] = "";
	const char *blank = p->number && *p->label ? " " : "";

	if (u->second.about)
		snprintf(letter, sizeof(letter), "%c ", 'A' + trace);
	else if (phases_chosen(e, p->id, &place))
		snprintf(letter, sizeof(letter), "%c ", (char)('A' + (int)place));
	if (p->number)
		snprintf(number, sizeof(number), "%llu", (unsigned long long)p->number);
	snprintf(out, PHASE_NAME, "%s%s%s%s", letter, number, blank, p->label);
}
