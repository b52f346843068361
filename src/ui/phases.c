/* What there is between the marks, and its statistics.
 *
 * Means, extremes and energy come from columns in no time.  The 95th percentile
 * needs the samples: it is worked out between the frames, a signal at a time, and
 * where there are too many of them it is estimated from columns and says so. */
#include "ui/goto.h"
#include "ui/phases.h"
#include "ui/range-stats.h"
#include "ui/rows.h"

#include "util/intl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BUDGET 16384 /* columns looked at between two frames */

void phases_free(void *state)
{
	struct phases *e = state;

	for (size_t i = 0; i < CHOSEN_MAX; i++)
		free(e->sheets[i].cells);
	free(e->channels);
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

/* The signals in the order in which people ask for them. */
static bool list_channels(struct phases *e, const struct session *about)
{
	static const enum channel_kind means[MEANS_MAX] = {CHANNEL_POWER_TOTAL, CHANNEL_GPU_UTIL,
							   CHANNEL_CPU_UTIL,    CHANNEL_EMC_UTIL,
							   CHANNEL_RAM_USED,    CHANNEL_HOTTEST};

	e->channels = calloc(about->n_channels + 1, sizeof(*e->channels));
	e->scratch = span_scratch_new();
	if (!e->channels || !e->scratch)
		return false;
	for (size_t rank = 0; rank <= FIRST_KINDS; rank++)
		for (size_t i = 0; i < about->n_channels; i++)
			if (rank_of(&about->channels[i]) == rank && !about->channels[i].missing[0] &&
			    !channel_counts(&about->channels[i]))
				e->channels[e->n_channels++] = i;
	e->power = rows_find(about, CHANNEL_POWER_TOTAL, -1);
	for (int k = 0; k < MEANS_MAX; k++) {
		int i = rows_find(about, means[k], -1);

		if (i >= 0 && !about->channels[i].missing[0])
			e->means[e->n_means++] = i;
	}
	for (size_t i = 0; i < CHOSEN_MAX; i++) {
		e->sheets[i].cells = calloc(e->n_channels + 1, sizeof(*e->sheets[i].cells));
		if (!e->sheets[i].cells)
			return false;
	}
	e->about = about;
	return true;
}

struct phases *phases_look(struct ui *u)
{
	struct phases *e = ui_state(u, &view_phases);

	if (!u->about)
		return NULL;
	if (e->about == u->about)
		return e;
	phases_free(e);
	if (list_channels(e, u->about))
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
	struct ui *u;
	struct phases *e;
};

static bool take_mark(void *arg, const struct mark *m)
{
	struct walk *w = arg;
	struct phases *e = w->e;
	struct phase *p;

	if (e->n >= PHASES_MAX) {
		e->more = true;
		return true;
	}
	/* One before the first sample begins the first phase. */
	if (e->n == 1 && e->phases[0].id == 0 && m->t_ns <= w->u->extent.first_ns)
		e->n = 0;
	else if (e->n)
		e->phases[e->n - 1].to_ns = m->t_ns;
	p = add_phase(e);
	if (!p)
		return true;
	*p = (struct phase) {.from_ns = m->t_ns, .to_ns = w->u->extent.last_ns, .id = m->id};
	memcpy(p->label, m->label, sizeof(p->label));
	return false;
}

void phases_list(struct ui *u, const struct ui_scene *s, struct phases *e)
{
	struct walk w = {u, e};
	struct phase *p;

	e->n = 0;
	e->more = false;
	p = add_phase(e);
	if (!p)
		return;
	*p = (struct phase) {.from_ns = u->extent.first_ns, .to_ns = u->extent.last_ns};
	snprintf(p->label, sizeof(p->label), "%s", _("start"));
	goto_each_mark(s->timeline, &u->extent, take_mark, &w);
	if (e->at >= e->n)
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

/* What a sheet says stays there while it is made anew. */
static void sheet_take(struct sheet *sh, const struct phase *p, size_t n, bool provisional, int64_t now_ns)
{
	bool same = sh->set && sh->id == p->id && sh->from_ns == p->from_ns;

	if (same && sh->to_ns == p->to_ns && sh->provisional == provisional && !provisional)
		return;
	if (same && (sh->done < n || now_ns - sh->made_ns < NS_PER_S) && sh->provisional == provisional)
		return;
	if (!same)
		memset(sh->cells, 0, n * sizeof(*sh->cells));
	sh->id = p->id;
	sh->from_ns = p->from_ns;
	sh->to_ns = p->to_ns;
	sh->made_ns = now_ns;
	sh->provisional = provisional;
	sh->set = true;
	sh->done = 0;
}

void phases_sheets(struct phases *e, const struct ui_scene *s)
{
	bool provisional = !s->live && s->notice;

	e->n_sheets = 0;
	for (size_t i = 0; i < e->n_chosen; i++) {
		const struct phase *p = phases_find(e, e->chosen[i]);

		if (p)
			sheet_take(&e->sheets[e->n_sheets++], p, e->n_channels, provisional, s->now_ns);
	}
	if (!e->n_sheets && e->n)
		sheet_take(&e->sheets[e->n_sheets++], &e->phases[e->at], e->n_channels, provisional,
			   s->now_ns);
}

bool phases_busy(const struct phases *e)
{
	for (size_t i = 0; i < e->n_sheets; i++)
		if (e->sheets[i].done < e->n_channels)
			return true;
	return false;
}

/* How many columns a quantile will look at. */
static int64_t work_of(const struct ui *u, size_t channel, const struct sheet *sh)
{
	double hz = u->about->hz[u->about->channels[channel].tier];
	int64_t n = (sh->to_ns - sh->from_ns) >> zoom_base(hz > 0 ? hz : 1);

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
			size_t channel = e->channels[sh->done];
			struct figure *cell = &sh->cells[sh->done];
			struct span span;

			if (budget <= 0)
				return true;
			budget -= work_of(u, channel, sh);
			span_read(s->timeline, channel, sh->from_ns, sh->to_ns, &span);
			cell->mean = span.mean;
			cell->max = span.max;
			cell->p95 = span_quantile(s->timeline, e->scratch, channel, sh->from_ns, sh->to_ns,
						  0.95, &cell->exact);
			/* A column at the border may be of the neighbour, and leap higher. */
			if (cell->p95 > cell->max)
				cell->p95 = cell->max;
			cell->ready = true;
		}
	}
	return false;
}

struct line *phases_line(struct phases *e, const struct ui_scene *s, size_t i)
{
	const struct phase *p = &e->phases[i];
	struct line *l = &e->lines[i % LINES_MAX];
	bool provisional = !s->live && s->notice;
	struct span span;

	if (!provisional && l->to_ns && l->from_ns == p->from_ns && l->to_ns == p->to_ns)
		return l;
	l->from_ns = p->from_ns;
	l->to_ns = provisional ? 0 : p->to_ns;
	l->power = (struct span) {NAN, NAN, NAN, 0, 0, NAN};
	if (e->power >= 0)
		span_read(s->timeline, (size_t)e->power, p->from_ns, p->to_ns, &l->power);
	for (int k = 0; k < e->n_means; k++) {
		span_read(s->timeline, (size_t)e->means[k], p->from_ns, p->to_ns, &span);
		l->mean[k] = span.mean;
	}
	return l;
}
