/* compare: shows a second trace below the first, row by row.
 *
 * Each signal of the second trace is drawn below that of the first, with the same scale and columns. Two
 * charts in the same cells would be unreadable at four dots of height or without colours. The second
 * trace is read on its own clock, so its columns are displaced by up to half a column. Time, moving
 * between marks and everything outside the rows refer to the first trace. */
#include "ui/draw.h"
#include "ui/range-stats.h"
#include "ui/rows.h"
#include "ui/screen.h"

#include "ui/align.h"
#include "util/intl.h"

#include <math.h>
#include <string.h>

/* Kinds that mean the same on every board, regardless of the name. */
static bool universal(enum channel_kind kind)
{
	return kind == CHANNEL_GPU_UTIL || kind == CHANNEL_CPU_UTIL || kind == CHANNEL_RAM_USED ||
	       kind == CHANNEL_RAM_AVAILABLE || kind == CHANNEL_EMC_UTIL || kind == CHANNEL_POWER_TOTAL ||
	       kind == CHANNEL_HOTTEST || kind == CHANNEL_GPU_FREQ || kind == CHANNEL_EMC_RATE;
}

static bool alone(const struct session *about, enum channel_kind kind)
{
	int n = 0;

	for (size_t i = 0; i < about->n_channels; i++)
		n += about->channels[i].kind == kind;
	return n == 1;
}

/* The channel of `there` that matches channel i of `here`; -1: none. */
static int match(const struct session *here, size_t i, const struct session *there)
{
	const struct channel *ch = &here->channels[i];
	int k = rows_named(there, ch->name);

	if (k < 0 && universal(ch->kind) && alone(here, ch->kind) && alone(there, ch->kind))
		k = rows_find(there, ch->kind, -1);
	return k >= 0 && there->channels[k].unit == ch->unit ? k : -1;
}

int second_channel(const struct ui *u, size_t channel)
{
	return u->second.about && u->about ? match(u->about, channel, u->second.about) : -1;
}

void second_match(struct ui *u)
{
	struct second *b = &u->second;

	if (b->rows == u->rows)
		return;
	b->rows = u->rows;
	b->here = second_only(u, false, NULL, 0);
	b->there = second_only(u, true, NULL, 0);
	for (int i = 0; i < u->n_rows; i++) {
		int k = u->rows[i].kind == ROW_SIGNAL ? second_channel(u, u->rows[i].channel) : -1;

		u->rows[i].second =
			(struct second_row) {.any = k >= 0, .channel = k < 0 ? 0 : (size_t)k, .value = NAN};
	}
}

bool second_look(struct ui *u, const struct ui_scene *s)
{
	const struct session *about = s->with ? s->with->ops->session(s->with) : NULL;
	bool other = s->with != u->second.timeline || about != u->second.about;

	u->second.timeline = s->with;
	u->second.about = about;
	if (other)
		u->second.rows = NULL;
	return other;
}

void second_extend(struct ui *u, const struct ui_scene *s)
{
	const int64_t most = INT64_C(1) << 61;
	struct second *b = &u->second;

	if (!b->about)
		return;
	b->provisional = s->notice != NULL;
	b->shift_ns = (s->align ? s->align->shift_ns : 0) + b->nudge_ns;
	align_extent(b->timeline, &b->extent);
	b->extent.first_ns += b->shift_ns;
	b->extent.last_ns += b->shift_ns;
	/* Only the end is extended: a second trace that starts earlier does so before time 0. */
	if (u->extent.any && b->extent.any && b->extent.last_ns > u->extent.last_ns)
		u->extent.last_ns = b->extent.last_ns < most ? b->extent.last_ns : most;
}

/* Moves to the earlier of the two ends, where both traces may have samples. */
void second_reset(struct ui *u, const struct ui_scene *s)
{
	struct second *b = &u->second;
	struct extent a;

	b->nudge_ns = 0;
	b->rows = NULL;
	if (!s->with || !b->about || !b->extent.any || !u->extent.any)
		return;
	align_extent(s->timeline, &a);
	viewport_jump(&u->vp, &u->extent, s->now_ns,
		      a.last_ns < b->extent.last_ns ? a.last_ns : b->extent.last_ns);
}

void act_nudge(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	const int64_t most = INT64_C(1) << 60;
	int64_t to = u->second.nudge_ns + arg * viewport_column_ns(&u->vp);

	if (!u->second.about)
		screen_say(u, STYLE_DIM, "%s",
			   _("There is no second trace: nvmtop FILE --with FILE"));
	else if (to > -most && to < most)
		u->second.nudge_ns = to;
}

/* The first column of the second trace that is drawn. */
static int64_t first_column(const struct ui *u)
{
	int64_t half = viewport_column_ns(&u->vp) / 2;

	return viewport_first(&u->vp) - viewport_column(&u->vp, u->second.shift_ns + half);
}

void second_prepare(struct ui *u)
{
	struct second *b = &u->second;
	int64_t from, to, step = viewport_column_ns(&u->vp);

	b->n_marks = b->n_gaps = 0;
	if (!b->about)
		return;
	from = first_column(u) * step;
	to = from + u->vp.columns * step;
	b->n_gaps = b->timeline->ops->gaps(b->timeline, from, to, b->gaps, GAPS_MAX);
	b->n_marks = b->timeline->ops->marks(b->timeline, from, to, b->marks, MARKS_MAX);
	memset(b->mark_at, 0, sizeof(b->mark_at));
	for (size_t i = 0; i < b->n_marks; i++) {
		int cell = viewport_cell(&u->vp, b->marks[i].t_ns + b->shift_ns);

		if (cell >= 0)
			b->mark_at[cell] = 1;
	}
}

void second_read(struct ui *u, struct row *row, double *min, double *max)
{
	struct second *b = &u->second;
	struct second_row *r = &row->second;
	struct chart_axis axis = {.zoom = u->vp.zoom,
				  .merge = u->vp.merge,
				  .first = first_column(u),
				  .n = u->vp.columns,
				  .gaps = b->gaps,
				  .n_gaps = b->n_gaps};
	const struct channel *ch;

	if (!r->any || !b->about)
		return;
	ch = &b->about->channels[r->channel];
	if (ch->missing[0])
		return;
	chart_columns(b->timeline, r->channel, &axis, u->frame.bins, b->columns, &r->summary);
	for (int i = 0; i < axis.n; i++) {
		double most = b->columns[i].any ? b->columns[i].max : NAN;

		b->level[i] = most >= row->limit ? ALARM_CRIT : (unsigned char)rows_alarm(ch, most);
	}
	*min = fmin(*min, r->summary.min); /* fmin() and fmax() ignore NaN */
	*max = fmax(*max, r->summary.max);
	select_stats(u, b->timeline, r->channel, b->shift_ns, b->provisional, &r->chosen, &r->summary);
	r->value = rows_value_of(b->timeline, r->channel, u->vp.head_ns - b->shift_ns);
	r->alarm = (unsigned char)rows_alarm(ch, r->value);
}

/* Draws the numbers of its marks, as far as they fit. */
static void draw_marks(struct ui *u, struct canvas *c, int y, int from)
{
	for (size_t i = 0; i < u->second.n_marks; i++) {
		int cell = viewport_cell(&u->vp, u->second.marks[i].t_ns + u->second.shift_ns);
		int x = u->at.chart.x + cell, w;
		char text[32];

		w = snprintf(text, sizeof(text), "%llu", (unsigned long long)u->second.marks[i].id);
		if (cell < 0 || x < from || x + w > u->at.chart.x + u->at.chart.w)
			continue;
		canvas_text(c, x, y, w, STYLE_MARK, text);
		from = x + w + 1;
	}
}

void second_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	int x = u->at.name.x, y = u->at.second.y, right = c->w - x;
	const struct second *b = &u->second;
	char text[256], clock[QUANTITY_TEXT];

	if (!u->at.second.h)
		return;
	x = screen_put(c, x, y, right, STYLE_STRONG, "B") - 1;
	x = screen_put(c, x, y, right, STYLE_TEXT, screen_name(s->with_name));
	if (!b->about || !b->extent.any) {
		screen_put(c, x, y, right, STYLE_WARN, _("This trace has no samples."));
		return;
	}
	if (s->align)
		x = screen_put(c, x, y, right, STYLE_DIM, s->align->text);
	if (b->nudge_ns) {
		quantity_time(clock, b->nudge_ns, viewport_column_ns(&u->vp));
		snprintf(text, sizeof(text), _("moved by %s%s"), b->nudge_ns > 0 ? "+" : "", clock);
		x = screen_put(c, x, y, right, STYLE_TEXT, text);
	}
	if (u->extent.any && u->extent.first_ns - b->extent.first_ns >= NS_PER_S / 10) {
		quantity_time(clock, u->extent.first_ns - b->extent.first_ns, NS_PER_S / 10);
		snprintf(text, sizeof(text), _("begins %s before A"), clock);
		x = screen_put(c, x, y, right, STYLE_DIM, text);
	}
	if (b->here || b->there) {
		/* TRANSLATORS: signals that only one of the two traces has. */
		if (b->here && b->there)
			snprintf(text, sizeof(text), _("only in A: %zu, only in B: %zu (see Board)"), b->here,
				 b->there);
		else
			snprintf(text, sizeof(text),
				 b->here ? _("only in A: %zu (see Board)") : _("only in B: %zu (see Board)"),
				 b->here + b->there);
		x = screen_put(c, x, y, right, STYLE_WARN, text);
	}
	if (!u->view->plain) /* a plain view has no charts */
		draw_marks(u, c, y, x - 1);
}

size_t second_only(const struct ui *u, bool in_b, char *out, size_t size)
{
	const struct session *here = in_b ? u->second.about : u->about;
	const struct session *there = in_b ? u->about : u->second.about;
	size_t n = 0, used = 0;

	for (size_t i = 0; here && there && i < here->n_channels; i++) {
		const struct channel *ch = &here->channels[i];
		int k = ch->missing[0] ? 0 : match(here, i, there);

		if (ch->missing[0] || (k >= 0 && !there->channels[k].missing[0]))
			continue;
		n++;
		if (used < size)
			used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "", ch->name);
	}
	if (used && used >= size)
		memcpy(out + size - 4, "...", 4);
	return n;
}
