/* about: the panel with the details of the selected row: source, sampling rate, limits, and the reason
 * if it has no value. */
#include "ui/draw.h"
#include "ui/header.h"
#include "ui/range-stats.h"
#include "ui/rows.h"
#include "ui/screen.h"

#include "model/missing.h"
#include "util/intl.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define LINES_MAX 24
#define LINE_MAX  256
#define WIDTH     76

struct sheet {
	int n;
	struct {
		const char *name;
		char text[LINE_MAX];
		enum style style;
	} line[LINES_MAX];
};

bool about_can(const struct ui *u)
{
	return u->about && u->chosen >= 0 && u->chosen < u->n_rows && u->rows[u->chosen].kind == ROW_SIGNAL;
}

static char *add(struct sheet *sheet, const char *name, enum style style)
{
	int at = sheet->n < LINES_MAX ? sheet->n++ : LINES_MAX - 1;

	sheet->line[at].name = name;
	sheet->line[at].style = style;
	sheet->line[at].text[0] = 0;
	return sheet->line[at].text;
}

/* Formats v with the unit that the row uses. */
static void number(const struct ui *u, char out[64], const struct channel *ch, double v)
{
	enum unit unit = quantity_of(ch, v);
	char text[QUANTITY_TEXT];

	quantity_text(text, unit, v, 12);
	snprintf(out, 64, *rows_unit(u, unit) ? "%s %s" : "%s", text, rows_unit(u, unit));
}

/* The actual sampling rate over the two seconds before the playhead (4 to 400 rows). */
static double reached_hz(struct ui *u, const struct ui_scene *s, size_t channel)
{
	enum tier tier = u->about->channels[channel].tier;
	int64_t at = u->vp.head_ns, before;
	double n = 2 * u->about->hz[tier];

	n = n < 4 ? 4 : n > 400 ? 400 : floor(n);
	s->timeline->ops->value(s->timeline, channel, u->vp.head_ns, &at);
	before = s->timeline->ops->step(s->timeline, tier, at, -(int)n);
	/* Unknown near the start: there may be fewer than n rows. */
	return before <= u->extent.first_ns || before >= at ? NAN : n / ((double)(at - before) / 1e9);
}

static void add_rate(struct sheet *sheet, struct ui *u, const struct ui_scene *s, size_t channel)
{
	const struct channel *ch = &u->about->channels[channel];
	double hz = u->about->hz[ch->tier], reached = reached_hz(u, s, channel);
	char *text = add(sheet, _("sampled"), STYLE_TEXT), period[32], *at = text;

	at += snprintf(at, LINE_MAX,
		       P_("%g time a second (%s tier)", "%g times a second (%s tier)", hz == 1 ? 1 : 2), hz,
		       tier_name(ch->tier));
	if (!isnan(reached))
		snprintf(at, LINE_MAX - (size_t)(at - text), _(", reached here: %.4g"), reached);
	if (ch->period_ns <= 0)
		return;
	range_length(period, ch->period_ns);
	snprintf(add(sheet, _("renewed"), STYLE_TEXT), LINE_MAX, _("every %s; held in between"), period);
}

static void add_limits(struct sheet *sheet, const struct ui *u, const struct channel *ch)
{
	char warn[64], crit[64], *text;

	number(u, warn, ch, ch->warn);
	number(u, crit, ch, ch->crit);
	if (ch->warn > 0 || ch->crit > 0) {
		text = add(sheet, _("limits"), STYLE_TEXT);
		if (ch->warn > 0 && ch->crit > 0)
			snprintf(text, LINE_MAX, _("slowed down or warned of from %s, critical from %s"),
				 warn, crit);
		else
			snprintf(text, LINE_MAX,
				 ch->warn > 0 ? _("warned of from %s") : _("critical from %s"),
				 ch->warn > 0 ? warn : crit);
	}
	if (isfinite(ch->lo) && isfinite(ch->hi) && ch->lo < ch->hi) {
		number(u, warn, ch, ch->lo);
		number(u, crit, ch, ch->hi);
		snprintf(add(sheet, _("range"), STYLE_TEXT), LINE_MAX, _("%s to %s"), warn, crit);
	}
}

/* Adds the reason why the row has no value now. */
static void add_why(struct sheet *sheet, const struct ui *u, const struct ui_scene *s, const struct row *row)
{
	const struct channel *ch = &u->about->channels[row->channel];
	int64_t now_ns = u->vp.follow || !u->extent.any ? INT64_MAX : u->vp.head_ns;
	struct change why = {.to = ""};

	if (ch->missing[0]) {
		const char *remedy = reason_remedy(ch->missing);

		snprintf(add(sheet, _("missing"), STYLE_TEXT), LINE_MAX, "%.*s",
			 remedy ? (int)(remedy - ch->missing) - 2 : LINE_MAX, ch->missing);
		if (remedy)
			snprintf(add(sheet, _("remedy"), STYLE_STRONG), LINE_MAX, "%s", remedy);
		return;
	}
	if (!isnan(row->value))
		return;
	if (s->timeline->ops->reason)
		s->timeline->ops->reason(s->timeline, ch->name, now_ns, &why);
	missing_at(add(sheet, _("missing"), STYLE_TEXT), LINE_MAX, ch, why.to);
}

static void fill(struct sheet *sheet, struct ui *u, const struct ui_scene *s)
{
	const struct row *row = &u->rows[u->chosen];
	const struct channel *ch = &u->about->channels[row->channel];
	char now[64];

	add_why(sheet, u, s, row);
	if (!isnan(row->value)) {
		number(u, now, ch, row->value);
		snprintf(add(sheet, _("value"), STYLE_STRONG), LINE_MAX, "%s", now);
	}
	if (row->second.any && !isnan(row->second.value)) {
		const char *note = u->second.about->channels[row->second.channel].note;

		/* Channels of the same name may be measured differently: the note says how. */
		number(u, now, ch, row->second.value);
		snprintf(add(sheet, _("in B"), STYLE_STRONG), LINE_MAX, *note && strcmp(note, ch->note) ? "%s; %s" : "%s",
			 now, note);
	}
	/* The reason for a missing channel already names the source. */
	if (ch->source[0] || !ch->missing[0])
		snprintf(add(sheet, _("source"), STYLE_TEXT), LINE_MAX, "%s",
			 ch->source[0] ? ch->source
			 : s->live     ? _("not known")
				       : _("the trace does not name it"));
	if (ch->note[0])
		snprintf(add(sheet, _("note"), STYLE_TEXT), LINE_MAX, "%s", ch->note);
	if (!ch->missing[0])
		add_rate(sheet, u, s, row->channel);
	add_limits(sheet, u, ch);
	snprintf(add(sheet, _("name"), STYLE_DIM), LINE_MAX, *unit_name(ch->unit) ? _("%s, in %s") : "%s",
		 ch->name, unit_name(ch->unit));
}

/* The mean of a channel; nothing where it is read too rarely to have one. */
static void add_mean(struct sheet *sheet, struct ui *u, const struct ui_scene *s, int channel, const struct range *r)
{
	const struct channel *ch = channel < 0 ? NULL : &u->about->channels[channel];
	char value[64], *text;
	struct span span;

	if (!ch || ch->missing[0])
		return;
	text = add(sheet, ch->label, STYLE_STRONG);
	span_read(s->timeline, (size_t)channel, r->begin_ns, r->end_ns, &span);
	number(u, value, ch, span.mean);
	if ((double)(r->end_ns - r->begin_ns) < 3e9 / u->about->hz[ch->tier] || r->end_ns - r->begin_ns < 3 * ch->period_ns)
		snprintf(text, LINE_MAX, "%s", _("--  shorter than three readings"));
	else
		snprintf(text, LINE_MAX, _("mean %s"), value);
}

static void fill_range(struct sheet *sheet, struct ui *u, const struct ui_scene *s, const struct range *r)
{
	int power = rows_find(u->about, CHANNEL_POWER_TOTAL, -1);
	const struct range_lane *l = r->lane;
	char text[QUANTITY_TEXT], *payload;
	double v;

	text_printable(add(sheet, _("name"), STYLE_STRONG), LINE_MAX, r->name, strlen(r->name));
	snprintf(add(sheet, _("domain"), STYLE_TEXT), LINE_MAX, "%s", l->domain[0] ? l->domain : _("default domain"));
	if (r->category)
		text_printable(add(sheet, _("category"), STYLE_TEXT), LINE_MAX, r->category, strlen(r->category));
	snprintf(add(sheet, _("thread"), STYLE_TEXT), LINE_MAX, "%s %u  %s %u", l->process, (unsigned)l->pid, l->thread,
		 (unsigned)l->tid);
	screen_moment(u, s, r->begin_ns, text);
	snprintf(add(sheet, _("begin"), STYLE_TEXT), LINE_MAX, "%s", text);
	range_length(text, r->end_ns - r->begin_ns);
	snprintf(add(sheet, _("length"), STYLE_STRONG), LINE_MAX, r->flags & RANGE_OPEN ? _("%s, not ended") : "%s", text);
	snprintf(add(sheet, _("level"), STYLE_TEXT), LINE_MAX, "%u", r->depth + 1u);
	payload = add(sheet, _("payload"), r->payload ? STYLE_TEXT : STYLE_DIM);
	memcpy(&v, &r->value, sizeof(v));
	if (!r->payload)
		snprintf(payload, LINE_MAX, "--");
	else if (r->payload == RANGE_DOUBLE)
		snprintf(payload, LINE_MAX, "%.10g", v);
	else
		snprintf(payload, LINE_MAX, r->payload == RANGE_SIGNED ? "%" PRId64 : "%" PRIu64, r->value);
	add_mean(sheet, u, s, power < 0 ? rows_find(u->about, CHANNEL_RAIL_POWER, -1) : power, r);
	add_mean(sheet, u, s, rows_find(u->about, CHANNEL_GPU_UTIL, -1), r);
}

/* Below the selected row if there is room, else above it, else at the bottom. */
static struct rect place(const struct ui *u, const struct canvas *c, int lines)
{
	struct rect r = {.x = u->at.name.x, .w = c->w - 2 * u->at.name.x, .h = lines + 2};
	int top = u->at.body.y, y = top, under = u->chosen < 0 ? 0 : u->height[u->chosen];

	for (int i = u->scroll; i < u->chosen; i++)
		y += u->height[i];
	if (r.w > WIDTH)
		r.w = WIDTH;
	if (r.h > u->at.body.h)
		r.h = u->at.body.h;
	r.y = y + under + r.h <= top + u->at.body.h ? y + under
	      : y - r.h >= top                      ? y - r.h
						    : top + u->at.body.h - r.h;
	return r;
}

void about_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	struct sheet sheet = {.n = 0};
	struct range range;
	const char *label;
	int name_w = 0, lines = 0, y;
	struct rect r;

	if (u->at.body.h < 3 || (!about_can(u) && (u->chosen >= 0 || !ranges_here(u, s, &range))))
		return;
	label = about_can(u) ? u->about->channels[u->rows[u->chosen].channel].label : _("Range");
	if (about_can(u))
		fill(&sheet, u, s);
	else
		fill_range(&sheet, u, s, &range);
	r = place(u, c, 1);
	for (int i = 0; i < sheet.n; i++) {
		int w = text_width(sheet.line[i].name);

		name_w = w > name_w ? w : name_w;
	}
	for (int i = 0; i < sheet.n; i++)
		lines += text_lines(sheet.line[i].text, r.w - 6 - name_w);
	r = place(u, c, lines);
	box_draw(u, c, &r);
	canvas_put(c, r.x + 2, r.y, STYLE_DIM, L' ');
	y = canvas_text(c, r.x + 3, r.y, r.w - 6, STYLE_STRONG, label);
	canvas_put(c, r.x + 3 + y, r.y, STYLE_DIM, L' ');
	y = r.y + 1;
	for (int i = 0; i < sheet.n && y < r.y + r.h - 1; i++) {
		canvas_text(c, r.x + 2, y, name_w, STYLE_DIM, sheet.line[i].name);
		y += text_draw(u, c, r.x + 4 + name_w, y, r.w - 6 - name_w, r.y + r.h - 1 - y,
			       sheet.line[i].style, sheet.line[i].text);
	}
}
