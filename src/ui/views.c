/* views: the list of views, and the tabs.
 *
 * A view is one file that defines one table; the list names it. Tabs take one line: if the names
 * do not fit, they shrink to three letters, except for the current view, and then to numbers. */
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

size_t views_named(const char *name)
{
	size_t i = 0;

	while (i < N_VIEWS && (!views[i]->name || strcmp(views[i]->name, name) != 0))
		i++;
	return i;
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

const struct view *views_top(const struct ui *u)
{
	return u->over ? u->over : u->view;
}

/* Close the modals of the previous view. */
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

static bool has_tab(const struct ui *u, const struct view *v)
{
	return v->label && (v == u->view || !v->wanted || v->wanted(u));
}

/* Go to the next view with a tab, wrapping around. */
void act_turn(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	size_t at = index_of(u->view);

	do
		at = (at + N_VIEWS + (size_t)arg) % N_VIEWS;
	while (!has_tab(u, views[at]));
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

/* The layouts of the tabs, from wide to narrow; the first that fits is used. */
static const struct tabs_look {
	int most; /* maximum columns of a name, except for the current view */
	int gap;  /* blanks between number and name */
	int step; /* blanks between tabs; -1: they share one */
} looks[] = {{64, 1, 2}, {64, 1, 1}, {64, 1, 0}, {3, 1, 1}, {3, 1, 0}, {3, 1, -1}, {3, 0, -1}, {0, 0, 0}, {0, 0, -1}};

/* A tab has a blank on each side. */
static int tab_width(const struct tabs_look *l, int label, bool full)
{
	if (!full && !l->most)
		return 3;
	return 3 + (full ? 1 : l->gap) + (full || label < l->most ? label : l->most);
}

/* Count the widest name in full, so that tabs hardly move when the view changes. */
static bool tabs_fit(const struct ui *u, const struct tabs_look *l, int room)
{
	int w = -l->step, widest = 0;

	for (size_t i = 0; i < N_VIEWS; i++) {
		int label, more;

		if (!has_tab(u, views[i]))
			continue;
		label = text_width(_(views[i]->label));
		more = tab_width(l, label, true) - tab_width(l, label, false);
		w += tab_width(l, label, false) + l->step;
		widest = more > widest ? more : widest;
	}
	return w + widest <= room;
}

void tabs_draw(struct ui *u, struct canvas *c)
{
	const struct tabs_look *l = looks, *last = looks + sizeof(looks) / sizeof(looks[0]) - 1;
	int x = 0, y = u->at.tabs.y;

	if (!u->at.tabs.h)
		return;
	while (l < last && !tabs_fit(u, l, c->w))
		l++;
	for (size_t i = 0; i < N_VIEWS; i++) {
		const struct view *v = views[i];
		bool shown = v == u->view;
		const char *label;
		int w, name = x + 2 + (shown ? 1 : l->gap);

		if (!has_tab(u, v))
			continue;
		label = _(v->label);
		w = tab_width(l, text_width(label), shown);
		for (int k = 0; shown && k < w; k++)
			canvas_put(c, x + k, y, STYLE_TAB, L' ');
		canvas_put(c, x + 1, y, shown ? STYLE_TAB : STYLE_KEY, (wchar_t)v->key);
		canvas_text(c, name, y, x + w - 1 - name, shown ? STYLE_TAB : STYLE_DIM, label);
		hit_add(u, x, y, w, act_view, (int)i);
		x += w + l->step;
	}
}
