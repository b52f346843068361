/* views: the list of views, and the line of tabs.
 *
 * A view is one file that ends in one table; it is here by its name alone.  The
 * tabs are one quiet line: where it has no room for all names, the numbers stay and
 * only the view that is shown keeps its name. */
#include "screen.h"

#include "nvmtop/intl.h"

#include <string.h>

static const struct view *const views[] = {
	&view_overview, &view_gpu,     &view_cpu,   &view_memory,
	&view_power,    &view_thermal, &view_epochs,   &view_processes, &view_board, &view_help,
	&view_setup,
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

/* How wide the line is with so many blanks between two tabs; gap 0: numbers alone. */
static int width(const struct ui *u, int gap)
{
	int w = 0;

	for (size_t i = 0; i < VIEWS; i++)
		if (views[i]->label)
			w += 1 + (gap || views[i] == u->view ? 1 + text_width(_(views[i]->label)) : 0) +
			     (gap ? gap : 1);
	return w - (gap ? gap : 1);
}

void tabs_draw(struct ui *u, struct canvas *c)
{
	int x = u->at.name.x, y = u->at.tabs.y, room = c->w - 2 * x, gap = 3;

	if (!u->at.tabs.h)
		return;
	while (gap > 0 && width(u, gap) > room)
		gap--;
	for (size_t i = 0; i < VIEWS; i++) {
		bool here = views[i] == u->view;
		int from = x;

		if (!views[i]->label)
			continue;
		canvas_put(c, x++, y, here ? STYLE_STRONG : STYLE_KEY_TEXT, (wchar_t)views[i]->key);
		if (gap || here) {
			x++;
			x += canvas_text(c, x, y, c->w - x, here ? STYLE_STRONG : STYLE_KEY_TEXT,
					 _(views[i]->label));
		}
		if (u->n_hits < (int)(sizeof(u->hits) / sizeof(u->hits[0])))
			u->hits[u->n_hits++] = (struct hit) {
				from, y, x - from, (enum action)(ACT_VIEW_1 + (int)(views[i]->key - '1'))};
		x += gap ? gap : 1;
	}
}
