/* row-order: rows of a view that the user has hidden, moved or resized.
 *
 * The view defines the rows and their order; these settings apply on top. A row is identified by
 * its channel; a heading or a text by the next signal. So the settings also work on another
 * board, which may lack some rows and have others.
 *
 * Only moved rows are stored, each with the row before it. The rest keep the order of the view,
 * which may change in a later version. */
#include "ui/header.h"
#include "ui/rows.h"
#include "ui/screen.h"

#include "util/intl.h"

#include <stdlib.h>
#include <string.h>

static bool here(const struct ui *u, const struct chart_setting *c)
{
	return !strcmp(c->view, u->view->name);
}

static struct chart_setting *setting_of(struct ui *u, const char *id)
{
	for (size_t i = 0; *id && i < u->settings.n_charts; i++)
		if (here(u, &u->settings.charts[i]) && !strcmp(u->settings.charts[i].name, id))
			return &u->settings.charts[i];
	return NULL;
}

/* Get or create the setting of a row; NULL: the list is full. */
static struct chart_setting *setting_for(struct ui *u, const char *id)
{
	struct settings *s = &u->settings;
	struct chart_setting *c = setting_of(u, id);

	if (c || !*id)
		return c;
	if (s->n_charts == SETTINGS_CHARTS || strlen(u->view->name) >= sizeof(c->view)) {
		screen_say(u, STYLE_WARN, "%s", _("The list of row settings is full."));
		return NULL;
	}
	c = &s->charts[s->n_charts++];
	*c = (struct chart_setting) {.hidden = false};
	strcpy(c->view, u->view->name);
	strcpy(c->name, id);
	return c;
}

/* Remove settings without effect. */
static void tidy(struct settings *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n_charts; i++)
		if (s->charts[i].hidden || s->charts[i].lines || s->charts[i].moved)
			s->charts[kept++] = s->charts[i];
	s->n_charts = kept;
}

static void name_places(const struct row_list *l, struct spot *places)
{
	char above[16] = "";
	size_t n_above = 0;
	const char *next = "";

	for (int i = l->n - 1; i >= 0; i--) {
		const struct row *row = &l->rows[i];
		struct spot *p = &places[i];

		*p = (struct spot) {.signal = row->kind == ROW_SIGNAL, .natural = i};
		p->part = row->kind == ROW_SIGNAL && row->part &&
			  l->about->channels[row->channel].kind == CHANNEL_RAIL_POWER;
		p->head = row->kind == ROW_HEADING;
		p->unit = "";
		if (p->signal) {
			const struct channel *ch = &l->about->channels[row->channel];
			char name[32];

			next = ch->name;
			n_above = 0;
			snprintf(p->id, sizeof(p->id), "%s", next);
			events_name(name, ch);
			snprintf(p->name, sizeof(p->name), "%s", row->name[0] ? row->name : name);
			p->unit = quantity_unit(quantity_of(ch, 0));
			continue;
		}
		if (n_above + 1 < sizeof(above))
			n_above++;
		memset(above, '^', n_above);
		above[n_above] = 0;
		snprintf(p->id, sizeof(p->id), "%s%s", above, next);
		snprintf(p->name, sizeof(p->name), "%s", row->name);
	}
}

static int find(const struct spot *places, int n, const char *id)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(places[i].id, id))
			return i;
	return -1;
}

/* Move an entry from index `from` to index `to`. */
static void shift(struct spot *places, int from, int to)
{
	struct spot p = places[from];

	if (from < to)
		memmove(&places[from], &places[from + 1], (size_t)(to - from) * sizeof(p));
	else
		memmove(&places[to + 1], &places[to], (size_t)(from - to) * sizeof(p));
	places[to] = p;
}

static void put_in_order(const struct ui *u, struct spot *places, int n)
{
	for (size_t i = 0; i < u->settings.n_charts; i++) {
		const struct chart_setting *c = &u->settings.charts[i];
		int from, after;

		if (!here(u, c) || !c->moved)
			continue;
		from = find(places, n, c->name);
		after = c->after[0] ? find(places, n, c->after) : -1;
		if (from < 0 || (c->after[0] && after < 0))
			continue;
		shift(places, from, after < from ? after + 1 : after);
	}
}

/* Hide a heading if all its rows are hidden. */
static void hide_heads(struct spot *places, int n)
{
	bool any = true;

	for (int i = n - 1; i >= 0; i--) {
		if (places[i].head) {
			places[i].hidden = !any;
			any = false;
		} else if (!places[i].hidden) {
			any = true;
		} else if (i == n - 1) {
			any = false;
		}
	}
}

int arrange(struct ui *u, struct row_list *l)
{
	struct spot *places = calloc((size_t)l->n + 1, sizeof(*places));
	struct row *rows = calloc((size_t)l->n + 1, sizeof(*rows));
	int n = 0;

	if (!places || !rows) {
		free(places);
		free(rows);
		return -1;
	}
	name_places(l, places);
	put_in_order(u, places, l->n);
	for (int i = 0; i < l->n; i++) {
		const struct chart_setting *c = places[i].signal ? setting_of(u, places[i].id) : NULL;

		places[i].hidden = c && c->hidden;
		places[i].lines = c ? c->lines : 0;
	}
	hide_heads(places, l->n);
	for (int i = 0; i < l->n; i++) {
		if (places[i].hidden)
			continue;
		rows[n] = l->rows[places[i].natural];
		rows[n].lines = places[i].lines;
		rows[n++].place = i;
	}
	free(u->places);
	u->places = places;
	u->n_places = l->n;
	free(l->rows);
	l->rows = rows;
	l->n = n;
	return 0;
}

/* Rebuild the rows and keep the selection if its row still exists. */
static void again(struct ui *u, int place, struct request *r)
{
	char id[SETTINGS_NAME] = "";
	int scroll = u->scroll, chosen = u->chosen;

	if (place >= 0 && place < u->n_places)
		memcpy(id, u->places[place].id, sizeof(id));
	tidy(&u->settings);
	r->kind = REQUEST_SETTINGS;
	r->redraw = true;
	if (!u->about || rows_build(u, u->about) < 0)
		return;
	u->scroll = scroll;
	for (int i = 0; i < u->n_rows; i++)
		if (*id && !strcmp(u->places[u->rows[i].place].id, id))
			u->chosen = i;
	/* removed: select the row now in its place */
	for (int i = chosen; u->chosen < 0 && chosen >= 0 && i >= 0; i--)
		if (i < u->n_rows && u->rows[i].kind == ROW_SIGNAL)
			u->chosen = i;
	u->bring = u->chosen >= 0;
}

/* Keep as many rows as possible in the view's order (longest increasing subsequence). */
static void keep_longest(struct spot *places, int n)
{
	int *best = calloc((size_t)n + 1, 2 * sizeof(*best)), *before, last = -1;

	for (int i = 0; i < n; i++)
		places[i].moved = true;
	if (!best)
		return;
	before = best + n;
	for (int i = 0; i < n; i++) {
		best[i] = 1;
		before[i] = -1;
		for (int k = 0; k < i; k++)
			if (places[k].natural < places[i].natural && best[k] + 1 > best[i]) {
				best[i] = best[k] + 1;
				before[i] = k;
			}
		if (last < 0 || best[i] > best[last])
			last = i;
	}
	for (; last >= 0; last = before[last])
		places[last].moved = false;
	free(best);
}

static void note_order(struct ui *u)
{
	struct settings *s = &u->settings;

	for (size_t i = 0; i < s->n_charts; i++)
		if (here(u, &s->charts[i]))
			s->charts[i].moved = false;
	keep_longest(u->places, u->n_places);
	for (int i = 0; i < u->n_places; i++) {
		struct chart_setting *c, moved;

		if (!u->places[i].moved)
			continue;
		c = setting_for(u, u->places[i].id);
		if (!c)
			return;
		moved = *c;
		moved.moved = true;
		strcpy(moved.after, i ? u->places[i - 1].id : "");
		memmove(c, c + 1, (size_t)(s->charts + s->n_charts - c - 1) * sizeof(*c));
		s->charts[s->n_charts - 1] = moved;
	}
}

/* The end of the block at i: a row and its parts. */
static int block_end(const struct ui *u, int i)
{
	bool whole = !u->places[i].part && u->places[i].signal;

	for (i++; whole && i < u->n_places && u->places[i].part; i++)
		;
	return i;
}

void arrange_move(struct ui *u, int from, int by, struct request *r)
{
	char id[SETTINGS_NAME];
	int end, n, to;
	bool part;

	if (from < 0)
		return;
	end = block_end(u, from);
	n = end - from;
	part = u->places[from].part;
	memcpy(id, u->places[from].id, sizeof(id));
	if (by < 0) {
		for (to = from - 1; to > 0 && u->places[to].hidden; to--)
			;
		while (!part && to > 0 && u->places[to].part)
			to--;
		if (to < 0)
			return;
		for (int i = 0; i < n; i++)
			shift(u->places, from + i, to + i);
	} else {
		for (to = end; to < u->n_places && u->places[to].hidden; to++)
			;
		if (to >= u->n_places)
			return;
		to = part ? to + 1 : block_end(u, to);
		for (int i = 0; i < n; i++)
			shift(u->places, from, to - 1);
	}
	note_order(u);
	again(u, find(u->places, u->n_places, id), r);
}

void arrange_hide(struct ui *u, int place, bool hidden, struct request *r)
{
	struct chart_setting *c = place < 0 ? NULL : setting_for(u, u->places[place].id);

	if (!c)
		return;
	c->hidden = hidden;
	if (hidden && !u->over)
		screen_say(u, STYLE_TEXT, _("%s is hidden; F2 or O shows it again."), u->places[place].name);
	again(u, hidden ? -1 : place, r);
}

void arrange_lines(struct ui *u, int place, int lines, struct request *r)
{
	struct chart_setting *c = place < 0 ? NULL : setting_for(u, u->places[place].id);

	if (!c)
		return;
	c->lines = (unsigned char)(lines < 0 ? 0 : lines > CHART_LINES_MAX ? CHART_LINES_MAX : lines);
	again(u, place, r);
}

void arrange_forget(struct ui *u, struct request *r)
{
	for (size_t i = 0; i < u->settings.n_charts; i++)
		if (here(u, &u->settings.charts[i]))
			u->settings.charts[i].hidden = u->settings.charts[i].moved = false,
			u->settings.charts[i].lines = 0;
	again(u, -1, r);
}

static int first_signal(const struct ui *u)
{
	for (int i = u->scroll < u->n_rows ? u->scroll : 0; i < u->n_rows; i++)
		if (u->rows[i].kind == ROW_SIGNAL)
			return i;
	return -1;
}

/* The displayed height of the selected row plus `by`, whether the height is set or automatic. */
static int taller(const struct ui *u, int by)
{
	int h = u->height[u->chosen] / (u->rows[u->chosen].second.any ? 2 : 1) + by;

	return h < 1 ? 1 : h;
}

/* The place of the selected row, or of the first row; -1: none. */
static int chosen_place(struct ui *u)
{
	if (u->view->plain)
		return -1;
	if (u->chosen < 0 || u->chosen >= u->n_rows)
		u->chosen = first_signal(u);
	return u->chosen < 0 ? -1 : u->rows[u->chosen].place;
}

void act_solo(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	if (u->view->plain)
		return;
	u->solo = chosen_place(u) >= 0 && !u->solo;
	u->bring = true;
}

void act_hide(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	arrange_hide(u, chosen_place(u), true, r);
}

void act_shift(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	arrange_move(u, chosen_place(u), arg, r);
}

void act_height(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	int place = chosen_place(u);

	if (place < 0)
		return;
	if (u->solo)
		u->solo = arg > 0;
	else
		arrange_lines(u, place, taller(u, arg), r);
}

bool arrange_solo(const struct ui *u)
{
	return u->solo && !u->over && about_can(u);
}
