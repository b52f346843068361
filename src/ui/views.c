/* views: the list of views, and the line of tabs.
 *
 * A view is one file that ends in one table; it is here by its name alone.  The
 * tabs are one quiet line: where it has no room for all names, the longest are
 * abbreviated, but that of the view that is shown, and at last only the numbers
 * stay. */
#include "ui/screen.h"

#include "util/intl.h"

#include <stdlib.h>
#include <string.h>

#define ENTRY(name) &view_##name,
static const struct view *const views[] = {VIEWS(ENTRY)};

const struct view *views_at(size_t i)
{
	return i < N_VIEWS ? views[i] : NULL;
}

int views_begin(struct ui *u)
{
	for (size_t i = 0; i < N_VIEWS; i++)
		if (!(u->state[i] = calloc(1, views[i]->state + 1)))
			return -1;
	return 0;
}

void views_end(struct ui *u)
{
	for (size_t i = 0; i < N_VIEWS; i++) {
		if (views[i]->free && u->state[i])
			views[i]->free(u->state[i]);
		free(u->state[i]);
	}
}

void views_reset(struct ui *u)
{
	for (size_t i = 0; i < N_VIEWS; i++)
		if (views[i]->reset)
			views[i]->reset(u->state[i]);
}

static size_t index_of(const struct view *v)
{
	size_t i = 0;

	while (i < N_VIEWS && views[i] != v)
		i++;
	return i;
}

void *ui_state(const struct ui *u, const struct view *v)
{
	return u->state[index_of(v)];
}

const char *ui_view_name(size_t i)
{
	return i < N_VIEWS ? views[i]->name : NULL;
}

const char *ui_view_renamed(const char *name)
{
	for (size_t i = 0; i < N_VIEWS; i++)
		if (views[i]->renamed && !strcmp(name, views[i]->renamed))
			return views[i]->name;
	return name;
}

const struct view *views_top(const struct ui *u)
{
	return u->over ? u->over : u->view;
}

/* Another view is on top: the modals of the one before it close. */
static void leave(struct ui *u)
{
	while (u->modals.n && u->modals.stack[u->modals.n - 1].view &&
	       u->modals.stack[u->modals.n - 1].view != views_top(u))
		modal_close(u);
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
	leave(u);
}

void views_cover(struct ui *u, const struct view *v)
{
	u->over = u->over == v ? NULL : v;
	u->over_scroll = 0;
	leave(u);
}

void act_view(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	views_show(u, views[arg]);
}

/* The next one that has a tab, round the end. */
void act_turn(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	size_t at = index_of(u->view);

	do
		at = (at + N_VIEWS + (size_t)arg) % N_VIEWS;
	while (!views[at]->label);
	act_view(u, s, r, (int)at);
}

void view_scroll(int *at, int by, int length)
{
	*at = *at + by < length ? *at + by : length - 1;
	*at = *at > 0 ? *at : 0;
}

int view_lines(enum move how, int by, int page)
{
	return how == MOVE_PAGE ? by * page : by;
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

	for (size_t i = 0; i < N_VIEWS; i++) {
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
	for (size_t i = 0; i < N_VIEWS; i++)
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
	for (size_t i = 0; i < N_VIEWS; i++) {
		int w;

		if (!views[i]->label)
			continue;
		w = draw_tab(u, c, views[i], x, y, most);
		hit_add(u, x, y, w, act_view, (int)i);
		x += w + gap;
	}
}
