/* keys: the keys that every view has, and how a key is found.
 *
 * The order is that of the key bar, and within a group that of the help page.  No
 * single key does harm: a split escape sequence may arrive as Esc, [ and A. */
#include "ui/header.h"
#include "ui/screen.h"

#include "util/intl.h"

static const char *bar_space(const struct ui *u, const struct ui_scene *s)
{
	return u->vp.playing || u->vp.follow ? _("pause") : _("play");
}

static const char *bar_mark(const struct ui *u, const struct ui_scene *s)
{
	return u->vp.live ? _("mark") : NULL;
}

static const char *bar_record(const struct ui *u, const struct ui_scene *s)
{
	return !u->vp.live ? NULL : s->recording ? _("stop rec") : _("record");
}

/* What moves through time is shown where time is: in charts, or in the strip below a list. */
static const char *bar_zoom(const struct ui *u, const struct ui_scene *s)
{
	return u->view->plain ? NULL : _("zoom");
}

static const char *bar_marks(const struct ui *u, const struct ui_scene *s)
{
	return s->live && (u->view->plain || (!u->frame.n_marks && !u->at.events.h)) ? NULL : _("marks");
}

static const char *bar_goto(const struct ui *u, const struct ui_scene *s)
{
	return s->live && u->view->plain ? NULL : _("go to");
}

static const char *bar_speed(const struct ui *u, const struct ui_scene *s)
{
	return u->vp.follow || (s->live && u->view->plain) ? NULL : _("speed");
}

static const char *bar_nudge(const struct ui *u, const struct ui_scene *s)
{
	return u->second.about ? _("move B") : NULL;
}

static const char *bar_escape(const struct ui *u, const struct ui_scene *s)
{
	if (s->opening)
		return _("stay here");
	if (u->over || u->about_chosen)
		return _("close");
	return !s->live ? (s->has_live ? _("live") : NULL) : u->vp.follow ? NULL : _("now");
}

static const char *bar_why(const struct ui *u, const struct ui_scene *s)
{
	return !u->over && about_can(u) ? _("about") : _("keys");
}

/* clang-format off */
static const struct key_entry views_entry = {
	KEYS_VIEWS, WHEN_ALWAYS, { { 0, 0, 0 } }, act_view,
	"1 .. 9  a", N_("this view: overview, GPU, ...; a: all signals"), NULL, NULL, NULL, 0
};

static const struct key_entry common[] = {
	{ KEYS_VIEWS, WHEN_ALWAYS, { { K_TAB, 0, 1 }, { K_BACKTAB, 0, -1 }, { K_BACKTAB, MOD_SHIFT, -1 }, { K_TAB, MOD_SHIFT, -1 } },
	  act_turn, "Tab", N_("next view; Shift-Tab: previous view"), NULL, NULL, NULL, 0 },
	{ KEYS_MARKS, WHEN_CHARTS, { { 's', 0, REQUEST_MARK } },
	  act_live, "s", N_("set a sync mark now"), "s", NULL, bar_mark, 0 },
	{ KEYS_MARKS, WHEN_CHARTS, { { 'S', 0, 0 } },
	  act_label, "S", N_("set a sync mark with a label"), NULL, NULL, NULL, 0 },
	{ KEYS_MARKS, WHEN_CHARTS, { { 'r', 0, REQUEST_RECORD } },
	  act_live, "r", N_("start or stop recording to a file"), "r", NULL, bar_record, 0 },
	{ KEYS_MARKS, WHEN_CHARTS, { { 'w', 0, REQUEST_KEEP } },
	  act_live, "w", N_("write the pre-trigger buffer to a file (needs --keep)"), NULL, NULL, NULL, 0 },
	{ KEYS_TIME, WHEN_CHARTS, { { ' ', 0, 0 } },
	  act_space, "Space", N_("pause, or play from the cursor"), "Space", NULL, bar_space, 0 },
	{ KEYS_MARKS, WHEN_CHARTS, { { 'o', 0, 0 } },
	  act_open, "o", N_("list saved traces and open one"), "o", N_("open"), NULL, 0 },
	{ KEYS_TIME, WHEN_CHARTS, { { '+', 0, 1 }, { '=', 0, 1 }, { '-', 0, -1 }, { '_', 0, -1 } },
	  act_zoom, "+ -", N_("zoom in, zoom out: half, twice as much time"), "+ -", NULL, bar_zoom, 0 },
	{ KEYS_TIME, WHEN_CHARTS, { { '0', 0, 0 } },
	  act_all, "0", N_("show the whole recording"), NULL, NULL, NULL, 0 },
	{ KEYS_TIME, WHEN_CHARTS, { { K_LEFT, 0, -1 }, { K_RIGHT, 0, 1 }, { K_LEFT, MOD_SHIFT, -8 }, { K_RIGHT, MOD_SHIFT, 8 },
				    { K_LEFT, MOD_CTRL, -8 }, { K_RIGHT, MOD_CTRL, 8 } },
	  act_pan, "Left Right", N_("back, forward in time; with Shift: by one screen"), NULL, NULL, NULL, 0 },
	{ KEYS_TIME, WHEN_CHARTS, { { 'h', 0, -1 }, { K_LEFT, MOD_ALT, -1 }, { 'l', 0, 1 }, { K_RIGHT, MOD_ALT, 1 } },
	  act_cursor, "h l", N_("move the cursor by a dot: shows the values at that time"), NULL, NULL, NULL, 0 },
	{ KEYS_TIME, WHEN_CHARTS, { { ',', 0, -1 }, { '.', 0, 1 } },
	  act_step, ", .", N_("one sample back, forward"), NULL, NULL, NULL, 0 },
	{ KEYS_TIME, WHEN_CHARTS, { { K_HOME, 0, -1 }, { K_END, 0, 1 } },
	  act_ends, "Home End", N_("to the start; to now or the end of the trace"), NULL, NULL, NULL, 0 },
	{ KEYS_TIME, WHEN_CHARTS, { { '[', 0, -1 }, { ']', 0, 1 } },
	  act_go_mark, "[ ]", N_("previous, next mark or event"), "[ ]", NULL, bar_marks, 0 },
	{ KEYS_TIME, WHEN_CHARTS, { { 'm', 0, 1 }, { 'M', 0, -1 } },
	  act_extreme, "m M", N_("to the maximum, the minimum of the selected row"), NULL, NULL, NULL, 0 },
	{ KEYS_MARKS, WHEN_CHARTS, { { 'e', 0, 1 }, { 'E', 0, -1 } },
	  act_part, "e E", N_("next, previous file of a split recording"), NULL, NULL, NULL, 0 },
	{ KEYS_TIME, WHEN_CHARTS, { { 'g', 0, 0 } },
	  act_goto, "g", N_("go to: 1:23, +10s, 50%, 14:32:05, m3, max, end"), "g", NULL, bar_goto, 0 },
	{ KEYS_TIME, WHEN_CHARTS, { { '/', 0, 0 } },
	  act_search, "/", N_("search: gpu > 95, power > 25 for 2s"), NULL, NULL, NULL, 0 },
	{ KEYS_TIME, WHEN_CHARTS, { { 'n', 0, 1 }, { 'N', 0, -1 } },
	  act_search_next, "n N", N_("next match, previous match"), NULL, NULL, NULL, 0 },
	{ KEYS_STRETCH, WHEN_CHARTS, { { 'v', 0, 0 } },
	  act_select, "v", N_("start a selection at the cursor; again: end it there (or drag the mouse)"), NULL, NULL, NULL, 0 },
	{ KEYS_STRETCH, WHEN_CHARTS, { { 'V', 0, 0 } },
	  act_select_phase, "V", N_("select the phase around the cursor"), NULL, NULL, NULL, 0 },
	{ KEYS_STRETCH, WHEN_CHARTS, { { 'x', 0, 0 } },
	  act_phases_hint, NULL, NULL, NULL, NULL, NULL, 0 },
	{ KEYS_SCREEN, WHEN_CHARTS, { { K_F2, 0, 0 }, { 'O', 0, 0 } },
	  act_setup, "F2 O", N_("settings: colours, mouse, rows"), NULL, NULL, NULL, 0 },
	{ KEYS_GROUPS, 0, { { 0, 0, 0 } }, NULL, NULL, NULL, NULL, NULL, NULL, 0 }, /* here stand those of the view */
	{ KEYS_STRETCH, WHEN_CHARTS, { { 'L', 0, 0 } },
	  act_loop, "L", N_("loop the selection or phase"), NULL, NULL, NULL, 0 },
	{ KEYS_STRETCH, WHEN_CHARTS, { { '{', 0, -1 }, { '}', 0, 1 } },
	  act_nudge, "{ }", N_("move the trace of --with by a dot"), "{ }", NULL, bar_nudge, 0 },
	{ KEYS_TIME, WHEN_CHARTS, { { '<', 0, -1 }, { '>', 0, 1 } },
	  act_speed, "< >", N_("play slower, faster: 1/10 to 64 times, or all"), "< >", NULL, bar_speed, 0 },
	{ KEYS_ROWS, WHEN_ALWAYS, { { K_UP, 0, -1 }, { 'k', 0, -1 }, { K_DOWN, 0, 1 }, { 'j', 0, 1 } },
	  act_line, "Up Down", N_("select the row above, below; in a list: scroll"), NULL, NULL, NULL, 0 },
	{ KEYS_ROWS, WHEN_ALWAYS, { { K_PGUP, 0, -1 }, { 'b', MOD_CTRL, -1 }, { K_PGDN, 0, 1 }, { 'f', MOD_CTRL, 1 } },
	  act_page, "PgUp PgDn", N_("scroll by a page"), NULL, NULL, NULL, 0 },
	{ KEYS_ROWS, WHEN_CHARTS, { { K_ENTER, 0, 0 } },
	  act_about, "Enter", N_("details of the selected row, or why it is missing"), NULL, NULL, NULL, 0 },
	{ KEYS_ROWS, WHEN_CHARTS, { { 'z', 0, 0 } },
	  act_solo, "z", N_("show only the selected row, and back"), NULL, NULL, NULL, 0 },
	{ KEYS_ROWS, WHEN_CHARTS, { { 'H', 0, 0 } },
	  act_hide, "H", N_("hide the selected row"), NULL, NULL, NULL, 0 },
	{ KEYS_ROWS, WHEN_CHARTS, { { 'K', 0, -1 }, { K_UP, MOD_SHIFT, -1 }, { 'J', 0, 1 }, { K_DOWN, MOD_SHIFT, 1 } },
	  act_shift, "K J", N_("move the row up, down (Shift-Up, Shift-Down)"), NULL, NULL, NULL, 0 },
	{ KEYS_ROWS, WHEN_CHARTS, { { ')', 0, 1 }, { '(', 0, -1 } },
	  act_height, ") (", N_("make the selected row taller, shorter"), NULL, NULL, NULL, 0 },
	{ KEYS_SCREEN, WHEN_ALWAYS, { { 'p', 0, 0 } },
	  act_copy, "p", N_("save what is in view or selected as CSV, or the screen as text or SVG"), NULL, NULL, NULL, 0 },
	{ KEYS_SCREEN, WHEN_ALWAYS, { { K_ESC, 0, 0 } },
	  act_escape, "Esc", N_("back: from a list, from the past, from a trace"), "Esc", NULL, bar_escape, WHEN_COVERED },
	{ KEYS_SCREEN, WHEN_ALWAYS, { { '?', 0, 0 } },
	  act_why, "?", N_("details of the selected row; without one: all keys"), "?", NULL, bar_why, WHEN_ALWAYS },
	{ KEYS_SCREEN, WHEN_ALWAYS, { { K_F1, 0, 0 } },
	  act_help, "F1", N_("all keys"), NULL, NULL, NULL, 0 },
	{ KEYS_SCREEN, WHEN_ALWAYS, { { 'l', MOD_CTRL, REQUEST_REPAINT } },
	  act_request, "Ctrl-L", N_("redraw the screen"), NULL, NULL, NULL, 0 },
	{ KEYS_SCREEN, WHEN_ALWAYS, { { 'z', MOD_CTRL, REQUEST_SUSPEND } },
	  act_request, "Ctrl-Z", N_("suspend (fg continues)"), NULL, NULL, NULL, 0 },
	{ KEYS_SCREEN, WHEN_ALWAYS, { { 'q', 0, REQUEST_QUIT }, { 'c', MOD_CTRL, REQUEST_QUIT } },
	  act_request, "q Ctrl-C", N_("quit"), "q", N_("quit"), NULL, WHEN_ALWAYS },
};
#define COMMON (sizeof(common) / sizeof(common[0]))

static const char *const groups[KEYS_GROUPS] = {
	[KEYS_VIEWS] = N_("Views"),
	[KEYS_MARKS] = N_("Marks and recordings"),
	[KEYS_TIME] = N_("Time"),
	[KEYS_STRETCH] = N_("Selections and phases"),
	[KEYS_ROWS] = N_("Rows"),
	[KEYS_PROCESSES] = N_("Processes"),
	[KEYS_SCREEN] = N_("Screen"),
};
/* clang-format on */

/* The i-th of a view's own; NULL past the end, and *i is the rest. */
static const struct key_entry *own(const struct view *v, size_t *i)
{
	const struct key_entry *k = v ? v->keys : NULL;

	for (; k && k->handler; k++)
		if ((*i)-- == 0)
			return k;
	return NULL;
}

const struct key_entry *keys_entry(const struct view *v, size_t i)
{
	const struct key_entry *k;

	for (size_t n = 0; n < COMMON; n++) {
		if (common[n].handler ? i-- == 0 : (k = own(v, &i)) != NULL)
			return common[n].handler ? &common[n] : k;
	}
	return NULL;
}

/* Those of all views. */
static const struct key_entry *any_entry(size_t i)
{
	const struct key_entry *k;

	if (i-- == 0)
		return &views_entry;
	for (size_t n = 0; n < COMMON; n++) {
		if (common[n].handler && i-- == 0)
			return &common[n];
		for (size_t v = 0; !common[n].handler && views_at(v); v++)
			if ((k = own(views_at(v), &i)) != NULL)
				return k;
	}
	return NULL;
}

const struct key_entry *keys_help(size_t i)
{
	const struct key_entry *k;

	for (enum key_group group = 0; group < KEYS_GROUPS; group++)
		for (size_t n = 0; (k = any_entry(n)) != NULL; n++)
			if (k->group == group && k->shown && i-- == 0)
				return k;
	return NULL;
}

const char *keys_group(enum key_group group)
{
	return groups[group];
}

static bool matches(const struct key_entry *k, unsigned when, uint32_t key, unsigned mods, int *arg)
{
	for (int i = 0; i < KEYS_MAX && k->keys[i].key; i++)
		if ((k->when & when) && k->keys[i].key == key && k->keys[i].mods == mods)
			return *arg = k->keys[i].arg, true;
	return false;
}

const struct key_entry *keys_find(const struct view *v, unsigned when, uint32_t key, unsigned mods, int *arg)
{
	const struct key_entry *k;

	/* A character's case already says what Shift did. */
	if (key < K_UP && key > ' ')
		mods &= ~(unsigned)MOD_SHIFT;
	if ((mods & MOD_CTRL) && key >= 'A' && key <= 'Z')
		key += 'a' - 'A';
	if (key == K_NONE)
		return NULL;
	for (k = v->keys; k && k->handler; k++)
		if (matches(k, when, key, mods, arg))
			return k;
	for (size_t i = 0; (k = keys_entry(NULL, i)) != NULL; i++)
		if (matches(k, when, key, mods, arg))
			return k;
	/* The keys of the tabs are in the tables of the views. */
	for (size_t i = 0; !mods && views_at(i); i++)
		if (views_at(i)->key == key)
			return *arg = (int)i, &views_entry;
	return NULL;
}
