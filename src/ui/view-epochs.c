/* view-epochs: the phases between the marks, and what each of them took.
 *
 * Above, a line a phase; below, all signals of the phases that were chosen, side by
 * side and held against the first of them, or of the one that the line is on.
 *
 * Means, extremes and energy come from columns in no time.  The 95th percentile
 * needs the samples: it is worked out between the frames, a signal at a time, and
 * where there are too many of them it is estimated from columns and says so. */
#include "screen.h"

#include "nvmtop/intl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PHASES_MAX 4096
#define CHOSEN_MAX 8
#define LINES_MAX  128
#define MEANS_MAX  6
#define FIXED      3     /* lines of a sheet that are no signal: duration, energy, time without */
#define BUDGET     16384 /* columns looked at between two frames */

struct phase {
	int64_t from_ns, to_ns;
	uint64_t id; /* of the mark that begins it; 0: the start */
	char label[64];
};

/* What stands in the list. */
struct line {
	int64_t from_ns, to_ns; /* 0, 0: not taken */
	struct span power;
	double mean[MEANS_MAX];
};

struct figure {
	bool ready, exact;
	double mean, p95, max;
};

/* All signals of a phase. */
struct sheet {
	uint64_t id;
	int64_t from_ns, to_ns, made_ns;
	bool set, provisional;
	size_t done;
	struct figure *cells;
};

struct phases {
	const struct session *about;
	struct phase *phases;
	size_t n, room;
	bool more, failed; /* there are more than PHASES_MAX; there is no memory for all */
	size_t at, top;
	int scroll; /* of the signals */
	uint64_t chosen[CHOSEN_MAX];
	size_t n_chosen;
	size_t *channels, n_channels;
	int power, means[MEANS_MAX], n_means;
	struct sheet sheets[CHOSEN_MAX];
	size_t n_sheets;
	struct line lines[LINES_MAX];
	struct span_scratch *scratch;
};

/* --- what there is --- */

static void forget(struct phases *e)
{
	for (size_t i = 0; i < CHOSEN_MAX; i++)
		free(e->sheets[i].cells);
	free(e->channels);
	free(e->phases);
	free(e->scratch);
	memset(e, 0, sizeof(*e));
}

void phases_free(struct ui *u)
{
	if (u->phases)
		forget(u->phases);
	free(u->phases);
	u->phases = NULL;
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
			if (rank_of(&about->channels[i]) == rank && !about->channels[i].missing[0])
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

/* The state of the view for this session; NULL: out of memory. */
static struct phases *look(struct ui *u)
{
	if (!u->phases)
		u->phases = calloc(1, sizeof(*u->phases));
	if (!u->phases || !u->about)
		return NULL;
	if (u->phases->about != u->about) {
		forget(u->phases);
		if (!list_channels(u->phases, u->about)) {
			forget(u->phases);
			return NULL;
		}
	}
	return u->phases;
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

static void list_phases(struct ui *u, const struct ui_scene *s, struct phases *e)
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

static bool is_chosen(const struct phases *e, uint64_t id, size_t *place)
{
	for (size_t i = 0; i < e->n_chosen; i++)
		if (e->chosen[i] == id)
			return *place = i, true;
	return false;
}

static const struct phase *phase_of(const struct phases *e, uint64_t id)
{
	for (size_t i = 0; i < e->n; i++)
		if (e->phases[i].id == id)
			return &e->phases[i];
	return NULL;
}

/* --- the sheets --- */

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

static void take_sheets(struct ui *u, const struct ui_scene *s, struct phases *e)
{
	bool provisional = !s->live && s->notice;

	e->n_sheets = 0;
	for (size_t i = 0; i < e->n_chosen; i++) {
		const struct phase *p = phase_of(e, e->chosen[i]);

		if (p)
			sheet_take(&e->sheets[e->n_sheets++], p, e->n_channels, provisional, s->now_ns);
	}
	if (!e->n_sheets && e->n)
		sheet_take(&e->sheets[e->n_sheets++], &e->phases[e->at], e->n_channels, provisional,
			   s->now_ns);
	(void)u;
}

bool phases_busy(const struct ui *u)
{
	const struct phases *e = u->phases;

	if (!e || u->view != &view_epochs || u->over || !u->about || e->about != u->about)
		return false;
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

bool phases_advance(struct ui *u, const struct ui_scene *s)
{
	struct phases *e = u->phases;
	int64_t budget = BUDGET;

	if (!phases_busy(u) || !s->timeline)
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
	return phases_busy(u);
}

/* --- the list --- */

static struct line *line_of(struct ui *u, const struct ui_scene *s, struct phases *e, size_t i)
{
	const struct phase *p = &e->phases[i];
	struct line *l = &e->lines[i % LINES_MAX];
	bool provisional = !s->live && s->notice;
	struct span span;

	(void)u;
	if (!provisional && l->to_ns && l->from_ns == p->from_ns && l->to_ns == p->to_ns)
		return l;
	l->from_ns = p->from_ns;
	l->to_ns = provisional ? 0 : p->to_ns;
	l->power = (struct span) {NAN, NAN, NAN, 0, 0};
	if (e->power >= 0)
		span_read(s->timeline, (size_t)e->power, p->from_ns, p->to_ns, &l->power);
	for (int k = 0; k < e->n_means; k++) {
		span_read(s->timeline, (size_t)e->means[k], p->from_ns, p->to_ns, &span);
		l->mean[k] = span.mean;
	}
	return l;
}

static void joule_text(char out[QUANTITY_TEXT], double j, int w)
{
	quantity_text(out, UNIT_JOULE, j, w);
}

static void seconds_text(char out[QUANTITY_TEXT], int64_t ns)
{
	quantity_clock(out, ns, ns < 10 * NS_PER_S ? NS_PER_MS : NS_PER_S / 10);
}

/* Where the columns of the list stand; w 0: there is no room for it. */
struct columns {
	int label_x, label_w, from_x, from_w, lasted_x, joule_x, mean_x, means;
};

#define LASTED_W 8
#define JOULE_W  8
#define MEAN_W   7

static struct columns columns_of(const struct ui *u, const struct phases *e, int w)
{
	struct columns k = {.from_w = w >= 76 ? 12 : 0, .means = e->n_means};
	int x = u->at.name.x + 7, right = w - u->at.name.x, fixed;

	k.label_x = x;
	fixed = k.from_w + LASTED_W + 1 + JOULE_W + 1;
	k.label_w = w >= 120 ? 24 : w >= 76 ? 16 : 10;
	while (k.means > 0 && x + k.label_w + fixed + k.means * MEAN_W > right)
		k.means--;
	x += k.label_w + 1;
	k.from_x = x;
	x += k.from_w;
	k.lasted_x = x;
	x += LASTED_W + 1;
	k.joule_x = x;
	k.mean_x = x + JOULE_W;
	return k;
}

static const char *short_unit(const struct channel *ch, double v, char out[48])
{
	snprintf(out, 48, "%.31s %s", ch->label, quantity_unit(quantity_of(ch, v)));
	return out;
}

static void draw_titles(struct ui *u, struct canvas *c, const struct phases *e, const struct columns *k,
			int y)
{
	canvas_text(c, u->at.name.x + 2, y, k->label_x + k->label_w - u->at.name.x - 2, STYLE_DIM,
		    _("phase"));
	if (k->from_w)
		canvas_right(c, k->from_x, y, k->from_w - 2, STYLE_DIM, _("from"));
	canvas_right(c, k->lasted_x, y, LASTED_W, STYLE_DIM, _("lasted"));
	canvas_right(c, k->joule_x, y, JOULE_W, STYLE_DIM, "J");
	for (int i = 0; i < k->means; i++) {
		const struct channel *ch = &u->about->channels[e->means[i]];
		char text[48];

		short_unit(ch, e->n ? e->lines[0].mean[i] : 0, text);
		if (text_width(text) >= MEAN_W)
			snprintf(text, sizeof(text), "%s",
				 quantity_unit(quantity_of(ch, e->lines[0].mean[i])));
		canvas_right(c, k->mean_x + i * MEAN_W, y, MEAN_W, STYLE_DIM, text);
	}
}

static void draw_line(struct ui *u, const struct ui_scene *s, struct canvas *c, struct phases *e,
		      const struct columns *k, size_t i, int y)
{
	const struct phase *p = &e->phases[i];
	struct line *l = line_of(u, s, e, i);
	char text[QUANTITY_TEXT], at[QUANTITY_TEXT];
	int x = u->at.name.x;
	size_t place;

	if (is_chosen(e, p->id, &place))
		canvas_put(c, x, y, STYLE_MARK, (wchar_t)(L'A' + (wchar_t)place));
	snprintf(text, sizeof(text), "%llu", (unsigned long long)p->id);
	canvas_right(c, x + 2, y, 4, p->id ? STYLE_MARK : STYLE_DIM, p->id ? text : "");
	canvas_text(c, k->label_x, y, k->label_w, p->id ? STYLE_TEXT : STYLE_DIM, p->label);
	if (k->from_w) {
		screen_moment(u, s, p->from_ns, at);
		canvas_right(c, k->from_x, y, k->from_w - 2, STYLE_DIM, at);
	}
	seconds_text(text, p->to_ns - p->from_ns);
	canvas_right(c, k->lasted_x, y, LASTED_W, STYLE_TEXT, text);
	joule_text(text, span_joule(&l->power), JOULE_W - 1);
	canvas_right(c, k->joule_x, y, JOULE_W, STYLE_STRONG, text);
	/* Energy of a part of the time only. */
	if (l->power.n && l->power.covered_ns < p->to_ns - p->from_ns)
		canvas_put(c, k->joule_x + JOULE_W, y, STYLE_WARN, L'!');
	for (int m = 0; m < k->means; m++) {
		const struct channel *ch = &u->about->channels[e->means[m]];

		quantity_text(text, quantity_of(ch, l->mean[m]), l->mean[m], MEAN_W - 2);
		canvas_right(c, k->mean_x + m * MEAN_W, y, MEAN_W, STYLE_TEXT, text);
	}
	if (i == e->at) {
		if (u->at.name.x > 0)
			canvas_put(c, u->at.name.x - 1, y, STYLE_STRONG, L'>');
		for (int j = u->at.name.x + 2; j < k->label_x + k->label_w; j++)
			c->cells[(size_t)y * (size_t)c->w + (size_t)j].style = STYLE_SELECTED;
	}
}

/* Lines for the list: as many as there are phases, half of the room at most. */
static int list_lines(const struct ui *u, const struct phases *e)
{
	int most = u->at.body.h / 2;

	if (most < 3)
		most = u->at.body.h < 3 ? u->at.body.h : 3;
	return e->n < (size_t)most ? (int)e->n : most;
}

static void draw_list(struct ui *u, const struct ui_scene *s, struct canvas *c, struct phases *e)
{
	struct columns k = columns_of(u, e, c->w);
	int lines = list_lines(u, e);

	if (e->at < e->top)
		e->top = e->at;
	if (e->at >= e->top + (size_t)lines)
		e->top = e->at - (size_t)lines + 1;
	if (e->top + (size_t)lines > e->n)
		e->top = e->n - (size_t)lines;
	for (int i = 0; i < lines; i++)
		draw_line(u, s, c, e, &k, e->top + (size_t)i, u->at.body.y + i);
	if (u->at.axis.h)
		draw_titles(u, c, e, &k, u->at.axis.y);
	u->below = (int)(e->n - e->top) - lines;
}

/* --- side by side --- */

struct sides {
	int name_w, number_w, x, shown;
	bool p95;
};

static int side_width(const struct sides *k, int i)
{
	return (k->number_w + 1) * (k->p95 ? 3 : 2) + (i ? k->number_w + 2 : 0) + 2;
}

static struct sides sides_of(const struct ui *u, const struct phases *e, int w)
{
	struct sides k = {.name_w = u->at.name.w + 5, .number_w = 7, .p95 = true};
	int right = w - u->at.name.x, x;

	k.x = u->at.name.x + k.name_w;
	/* Narrower first, then fewer. */
	for (;; k.number_w--) {
		x = k.x;
		k.shown = 0;
		while (k.shown < (int)e->n_sheets && x + side_width(&k, k.shown) <= right + 2)
			x += side_width(&k, k.shown++);
		if (k.shown == (int)e->n_sheets || k.number_w == 5)
			break;
	}
	if (!k.shown)
		k.p95 = false, k.shown = 1;
	return k;
}

static void draw_sides_titles(struct ui *u, struct canvas *c, const struct phases *e, const struct sides *k,
			      int y)
{
	int x = k->x;

	for (int i = 0; i < k->shown; i++) {
		const struct phase *p = phase_of(e, e->sheets[i].id);
		int w = side_width(k, i) - 2, nw = k->number_w + 1;
		char text[96] = "";

		if (p && p->id)
			snprintf(text, sizeof(text), "%c  %llu %s", e->n_chosen ? 'A' + i : ' ',
				 (unsigned long long)p->id, p->label);
		else if (p)
			snprintf(text, sizeof(text), "%c  %s", e->n_chosen ? 'A' + i : ' ', p->label);
		canvas_text(c, x + 1, y, w - 1, STYLE_MARK, text);
		canvas_right(c, x, y + 1, nw, STYLE_DIM, _("mean"));
		if (k->p95)
			canvas_right(c, x + nw, y + 1, nw, STYLE_DIM, "p95");
		canvas_right(c, x + nw * (k->p95 ? 2 : 1), y + 1, nw, STYLE_DIM, _("max"));
		/* TRANSLATORS: the difference of the mean to that of the first; at most 6 columns. */
		if (i)
			canvas_right(c, x + nw * (k->p95 ? 3 : 2), y + 1, nw, STYLE_DIM, _("+/- A"));
		x += side_width(k, i);
	}
	if (e->n_sheets > (size_t)k->shown)
		canvas_textf(c, u->at.name.x, y, k->x - u->at.name.x - 1, STYLE_WARN, _("%d have no room"),
			     (int)e->n_sheets - k->shown);
}

static void put_text(struct canvas *c, int x, int y, int w, const char *text, const char *sign, double v)
{
	char both[QUANTITY_TEXT + 2];

	snprintf(both, sizeof(both), "%s%s", isnan(v) ? "" : sign, text);
	canvas_right(c, x, y, w, isnan(v) ? STYLE_DIM : STYLE_TEXT, both);
}

static void put_number(struct canvas *c, int x, int y, int w, enum style style, enum unit unit, double v,
		       const char *sign)
{
	char text[QUANTITY_TEXT], both[QUANTITY_TEXT + 2];

	quantity_text(text, unit, v, w - 1 - (*sign != 0));
	snprintf(both, sizeof(both), "%s%s", isnan(v) ? "" : sign, text);
	canvas_right(c, x, y, w, isnan(v) ? STYLE_DIM : style, both);
}

static void put_difference(struct canvas *c, int x, int y, int w, enum unit unit, double v, double first)
{
	double d = v - first;
	char text[QUANTITY_TEXT];

	if (isnan(d))
		return;
	quantity_text(text, unit, fabs(d), w - 2);
	if (strspn(text, "0.") == strlen(text)) /* as far as it can be seen */
		put_number(c, x, y, w, STYLE_DIM, unit, 0, "");
	else
		put_number(c, x, y, w, STYLE_STRONG, unit, fabs(d), d < 0 ? "-" : "+");
}

static void draw_signal(struct ui *u, struct canvas *c, const struct phases *e, const struct sides *k,
			size_t n, int y)
{
	const struct channel *ch = &u->about->channels[e->channels[n]];
	int x = k->x, nw = k->number_w + 1;
	const struct figure *first = &e->sheets[0].cells[n];
	enum unit unit = quantity_of(ch, first->ready ? first->max : 0);
	char name[32], text[3][QUANTITY_TEXT];

	events_name(name, ch);
	canvas_text(c, u->at.name.x, y, u->at.name.w, STYLE_TEXT, name);
	if (text_width(name) > u->at.name.w)
		canvas_put(c, u->at.name.x + u->at.name.w - 1, y, STYLE_DIM, screen_glyph(u, 0x2026, '~'));
	canvas_text(c, u->at.name.x + u->at.name.w + 1, y, 4, STYLE_DIM, quantity_unit(unit));
	for (int i = 0; i < k->shown; i++) {
		const struct figure *cell = &e->sheets[i].cells[n];
		int at = x;

		x += side_width(k, i);
		if (!cell->ready) {
			canvas_put(c, at + nw - 1, y, STYLE_DIM, screen_glyph(u, 0x2026, '.'));
			continue;
		}
		quantity_alike(text, unit, (const double[]) {cell->mean, cell->max, cell->p95}, 3, nw - 2);
		put_text(c, at, y, nw, text[0], "", cell->mean);
		at += nw;
		if (k->p95) {
			put_text(c, at, y, nw, text[2], cell->exact ? "" : "~", cell->p95);
			at += nw;
		}
		put_text(c, at, y, nw, text[1], "", cell->max);
		if (i && first->ready)
			put_difference(c, at + nw, y, nw, unit, cell->mean, first->mean);
	}
}

/* Duration, energy, and for how long nothing was measured. */
static void draw_fixed(struct ui *u, const struct ui_scene *s, struct canvas *c, struct phases *e,
		       const struct sides *k, int which, int y)
{
	static const char *const names[FIXED] = {N_("Duration"), N_("Energy"), N_("Unmeasured")};
	int x = k->x, nw = k->number_w + 1;
	double first = NAN;

	canvas_text(c, u->at.name.x, y, u->at.name.w, STYLE_TEXT, _(names[which]));
	canvas_text(c, u->at.name.x + u->at.name.w + 1, y, 4, STYLE_DIM, which == 1 ? "J" : "s");
	for (int i = 0; i < k->shown; i++) {
		const struct sheet *sh = &e->sheets[i];
		struct span power = {NAN, NAN, NAN, 0, 0};
		double v = (double)(sh->to_ns - sh->from_ns) / 1e9;

		if (which && e->power >= 0)
			span_read(s->timeline, (size_t)e->power, sh->from_ns, sh->to_ns, &power);
		if (which == 1)
			v = span_joule(&power);
		else if (which == 2)
			v = (double)(sh->to_ns - sh->from_ns - power.covered_ns) / 1e9;
		put_number(c, x, y, nw, which == 2 && v > 0 ? STYLE_WARN : STYLE_STRONG, UNIT_JOULE, v, "");
		if (!i)
			first = v;
		else
			put_difference(c, x + nw * (k->p95 ? 3 : 2), y, nw, UNIT_JOULE, v, first);
		x += side_width(k, i);
	}
}

static bool any_estimate(const struct phases *e)
{
	for (size_t i = 0; i < e->n_sheets; i++)
		for (size_t n = 0; n < e->n_channels; n++)
			if (e->sheets[i].cells[n].ready && !e->sheets[i].cells[n].exact)
				return true;
	return false;
}

static void draw_sides(struct ui *u, const struct ui_scene *s, struct canvas *c, struct phases *e)
{
	int y = u->at.body.y + list_lines(u, e) + 1, end = u->at.body.y + u->at.body.h;
	struct sides k = sides_of(u, e, c->w);
	int rows = FIXED + (int)e->n_channels, room, fixed = FIXED;

	/* Where little fits, what can be read in the list above leaves first. */
	if (u->at.body.h < 12)
		y--, fixed = 0, rows = (int)e->n_channels;
	if (y + 2 >= end)
		return;
	draw_sides_titles(u, c, e, &k, y);
	y += 2;
	if (any_estimate(e) && k.p95) {
		/* TRANSLATORS: of numbers that stand behind a ~. */
		canvas_text(c, u->at.name.x, y - 1, k.x - u->at.name.x - 1, STYLE_DIM,
			    text_width(_("~ estimated")) < k.x - u->at.name.x ? _("~ estimated") : "~");
	}
	room = end - y;
	if (e->scroll > rows - room)
		e->scroll = rows > room ? rows - room : 0;
	for (int i = e->scroll; i < rows && y < end; i++, y++) {
		if (i < fixed)
			draw_fixed(u, s, c, e, &k, i, y);
		else
			draw_signal(u, c, e, &k, (size_t)(i - fixed), y);
	}
}

static void epochs_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	struct phases *e = look(u);

	if (!u->extent.any)
		canvas_text(c, u->at.name.x, u->at.body.y, c->w - u->at.name.x, STYLE_DIM,
			    s->live ? _("Waiting for the first samples.")
				    : _("There is no sample in this trace."));
	if (!e || !u->at.body.h || !u->extent.any)
		return;
	list_phases(u, s, e);
	if (!e->n)
		return;
	take_sheets(u, s, e);
	draw_list(u, s, c, e);
	draw_sides(u, s, c, e);
	if (e->more)
		screen_say(u, STYLE_WARN, _("only the first %d phases are listed"), PHASES_MAX);
}

/* --- keys --- */

static void choose(struct ui *u, struct phases *e)
{
	uint64_t id = e->phases[e->at].id;
	size_t place;

	if (is_chosen(e, id, &place)) {
		memmove(&e->chosen[place], &e->chosen[place + 1],
			(e->n_chosen - place - 1) * sizeof(e->chosen[0]));
		e->n_chosen--;
		return;
	}
	if (e->n_chosen == CHOSEN_MAX) {
		screen_say(u, STYLE_WARN, _("no more than %d at once"), CHOSEN_MAX);
		return;
	}
	e->chosen[e->n_chosen++] = id;
}

/* To the charts of the phase. */
static void go(struct ui *u, const struct ui_scene *s, const struct phases *e)
{
	const struct phase *p = &e->phases[e->at];

	views_show(u, &view_overview);
	viewport_show(&u->vp, &u->extent, s->now_ns, p->from_ns, p->to_ns);
	select_set(u, p->from_ns, p->to_ns);
}

static bool epochs_act(struct ui *u, const struct ui_scene *s, enum action a, struct request *r)
{
	struct phases *e = u->phases;
	int page = u->at.body.h / 2 > 1 ? u->at.body.h / 2 : 1;

	(void)r;
	if (!e || e->about != u->about || !e->n)
		return false;
	switch (a) {
	case ACT_UP:
	case ACT_SCROLL_UP:
		e->at -= e->at > 0;
		return true;
	case ACT_DOWN:
	case ACT_SCROLL_DOWN:
		e->at += e->at + 1 < e->n;
		return true;
	case ACT_PAGE_UP:
		e->scroll = e->scroll > page ? e->scroll - page : 0;
		return true;
	case ACT_PAGE_DOWN:
		e->scroll += page;
		return true;
	case ACT_CHOOSE:
		choose(u, e);
		return true;
	case ACT_ABOUT:
		go(u, s, e);
		return true;
	case ACT_ESC:
		if (!e->n_chosen || u->search.going || u->selection.on)
			return false;
		e->n_chosen = 0;
		return true;
	default:
		return false;
	}
}

/* Once to see a phase, once more to choose it. */
static bool epochs_click(struct ui *u, const struct ui_scene *s, int x, int y)
{
	struct phases *e = u->phases;
	int line = y - u->at.body.y;

	(void)s;
	(void)x;
	if (!e || !e->n || e->about != u->about || line < 0 || line >= list_lines(u, e))
		return false;
	if (e->at == e->top + (size_t)line)
		choose(u, e);
	e->at = e->top + (size_t)line;
	return true;
}

static int epochs_length(const struct ui *u, const struct ui_scene *s)
{
	(void)s;
	return u->phases ? (int)u->phases->n : 0;
}

const struct view view_epochs = {
	.name = "epochs",
	.label = N_("Epochs"),
	.key = '7',
	.plain = true,
	.draw = epochs_draw,
	.act = epochs_act,
	.length = epochs_length,
	.click = epochs_click,
};
