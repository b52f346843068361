/* views: the list of views, and the line of tabs.
 *
 * A view is one file that ends in one table; it is here by its name alone.  The
 * tabs are one quiet line: where it has no room for all names, the longest are
 * abbreviated, but that of the view that is shown, and at last only the numbers
 * stay. */
#include "ui/screen.h"

#include "util/intl.h"

#include <string.h>

static const struct view *const views[] = {
	&view_overview, &view_gpu,       &view_cpu,   &view_memory, &view_power, &view_thermal,
	&view_epochs,   &view_processes, &view_board, &view_signals, &view_help,   &view_setup,
};
#define VIEWS (sizeof(views) / sizeof(views[0]))

const struct view *views_at(size_t i)
{
	return i < VIEWS ? views[i] : NULL;
}

const char *ui_view_name(size_t i)
{
	return i < VIEWS ? views[i]->name : NULL;
}

const char *ui_view_renamed(const char *name)
{
	return strcmp(name, "epochs") ? name : view_epochs.name;
}

/* The next one that has a tab, round the end. */
static const struct view *next(const struct view *from, int step)
{
	size_t at = 0;

	while (at < VIEWS && views[at] != from)
		at++;
	if (at == VIEWS)
		return &view_overview;
	do
		at = (at + VIEWS + (size_t)(VIEWS + (size_t)step)) % VIEWS;
	while (!views[at]->label);
	return views[at];
}

const struct view *views_turn(const struct ui *u, enum action a)
{
	if (a == ACT_VIEW_NEXT || a == ACT_VIEW_PREV)
		return next(u->view, a == ACT_VIEW_NEXT ? 1 : -1);
	if (a < ACT_VIEW_1 || a > ACT_VIEW_9)
		return NULL;
	for (size_t i = 0; i < VIEWS; i++)
		if (views[i]->label && views[i]->key == '1' + (uint32_t)(a - ACT_VIEW_1))
			return views[i];
	return NULL;
}

void views_show(struct ui *u, const struct view *v)
{
	u->over = NULL;
	if (u->view == v)
		return;
	u->view = v;
	u->scroll = 0;
	u->chosen = -1;
	u->about_chosen = false;
	u->solo = false;
}

#define LABEL_LEAST 4 /* shorter abbreviations say nothing */

/* Of the name on a tab when none may be wider than `most`; 0: numbers alone. */
static int label_width(const struct ui *u, const struct view *v, int most)
{
	int w = text_width(_(v->label));

	return w <= most || v == u->view ? w : most;
}

/* With a name of width `full` in full. */
static int line_width(int gap, int most, int full)
{
	int w = (full > most ? full - most : 0) - gap;

	for (size_t i = 0; i < VIEWS; i++) {
		int label = views[i]->label ? text_width(_(views[i]->label)) : 0;

		if (views[i]->label)
			w += 2 + (label < most ? label : most) + gap;
	}
	return w;
}

/* Returns how wide it is. */
static int draw_tab(struct ui *u, struct canvas *c, const struct view *v, int x, int y, int most)
{
	enum style style = v == u->view ? STYLE_STRONG : STYLE_KEY_TEXT;
	int w = label_width(u, v, most);

	canvas_put(c, x, y, style, (wchar_t)v->key);
	if (!w)
		return 1;
	if (w < text_width(_(v->label)))
		canvas_put(c, x + 2 + canvas_text(c, x + 2, y, w - 1, style, _(v->label)), y, style, L'.');
	else
		canvas_text(c, x + 2, y, w, style, _(v->label));
	return 2 + w;
}

void tabs_draw(struct ui *u, struct canvas *c)
{
	int x = u->at.name.x, y = u->at.tabs.y, room = c->w - 2 * x, gap = 3, widest = 0, most;

	if (!u->at.tabs.h)
		return;
	for (size_t i = 0; i < VIEWS; i++)
		if (views[i]->label && text_width(_(views[i]->label)) > widest)
			widest = text_width(_(views[i]->label));
	most = widest;
	while (gap > 1 && line_width(gap, most, widest) > room)
		gap--;
	/* The widest in full, so that no letter changes when another view is shown. */
	while (most >= LABEL_LEAST && line_width(gap, most, widest) > room)
		most--;
	if (most < LABEL_LEAST && most < widest)
		most = line_width(gap, LABEL_LEAST, text_width(_(u->view->label))) > room ? 0 : LABEL_LEAST;
	for (size_t i = 0; i < VIEWS; i++) {
		int w;

		if (!views[i]->label)
			continue;
		w = draw_tab(u, c, views[i], x, y, most);
		if (u->n_hits < (int)(sizeof(u->hits) / sizeof(u->hits[0])))
			u->hits[u->n_hits++] = (struct hit) {
				x, y, w, (enum action)(ACT_VIEW_1 + (int)(views[i]->key - '1'))};
		x += w + gap;
	}
}
