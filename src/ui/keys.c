/* keys: the keys common to all views and their handlers, which the mouse uses too.
 *
 * The table is in the order of the key bar and, within a group, of the help page. No single key is
 * destructive, as a split escape sequence may arrive as Esc, [ and A. Actions outside this folder (quit,
 * mark, record, open) are only requested, so keys, mouse, scripts and tests take the same path. */
#include "ui/charts.h"
#include "ui/header.h"
#include "ui/screen.h"

#include "util/intl.h"

#include <stdlib.h>
#include <string.h>

static void act_space(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	viewport_space(&u->vp, &u->extent, s->now_ns);
}

void act_zoom(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	viewport_zoom(&u->vp, &u->extent, s->now_ns, arg);
}

/* arg: eighths of the screen. */
void act_pan(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	int by = u->vp.columns * arg / 8;

	viewport_pan(&u->vp, &u->extent, s->now_ns, by ? by : arg);
}

static void act_all(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	viewport_all(&u->vp, &u->extent, s->now_ns);
}

static void act_cursor(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	viewport_cursor(&u->vp, &u->extent, s->now_ns, arg);
}

static void act_ends(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	if (arg < 0)
		viewport_jump(&u->vp, &u->extent, s->now_ns, u->extent.first_ns);
	else
		viewport_now(&u->vp, &u->extent, s->now_ns);
}

static void act_step(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	if (!u->extent.any || (u->vp.follow && arg > 0))
		return;
	viewport_settle(&u->vp, &u->extent, s->now_ns);
	viewport_jump(&u->vp, &u->extent, s->now_ns,
		      s->timeline->ops->step(s->timeline, TIER_FAST, u->vp.head_ns, arg));
}

static void act_speed(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	viewport_speed(&u->vp, &u->extent, s->now_ns, arg);
}

/* arg: enum request_kind */
void act_request(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	r->kind = (enum request_kind)arg;
}

static bool is_live(struct ui *u, const struct ui_scene *s)
{
	if (!s->live)
		screen_say(u, STYLE_DIM, "%s",
			   s->has_live ? _("A saved trace stays as it is; Esc leads to the live screen.")
				       : _("A saved trace stays as it is."));
	return s->live;
}

/* arg: enum request_kind */
void act_live(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	if (is_live(u, s))
		r->kind = (enum request_kind)arg;
}

static void act_part(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	r->kind = REQUEST_PART;
	r->by = arg;
}

/* The mark gets the time of the key that opened the prompt. */
static bool label_enter(struct ui *u, const struct ui_scene *s, struct request *r)
{
	r->kind = REQUEST_MARK;
	r->t_ns = u->line.t_ns;
	memcpy(r->label, u->line.text, sizeof(r->label));
	return true;
}

static void act_label(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	static const struct prompt label = {.title = N_("label of the mark:"),
					    .room = sizeof(r->label),
					    .hint = N_("Enter: set the mark   Esc: no mark"),
					    .enter = label_enter};

	/* Without a line for the prompt, the mark has no label. */
	if (is_live(u, s) && !prompt_open(u, &label, "", r->t_ns, NULL))
		r->kind = REQUEST_MARK;
}

static void act_open(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	views_cover(u, &view_files);
	r->kind = REQUEST_LIST;
}

/* arg: VIEW_... */
void act_cover(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	views_cover(u, views_at((size_t)arg));
}

void act_about(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	struct range range;

	if (s->record_done) {
		r->kind = REQUEST_OPEN;
		snprintf(r->path, sizeof(r->path), "%s", s->record_done);
	} else if (about_can(u) || ranges_here(u, s, &range)) {
		u->about_chosen = !u->about_chosen;
	}
}

static void act_why(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	if (!u->over && about_can(u))
		act_about(u, s, r, arg);
	else
		views_cover(u, &view_help);
}

static void act_escape(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	const struct view *v = views_top(u);

	if (s->opening)
		r->kind = REQUEST_STAY;
	else if (v->escape && v->escape(u))
		return;
	else if (u->over)
		u->over = NULL;
	else if (u->search.going)
		u->search.going = false;
	else if (u->selection.on)
		u->selection.on = false;
	else if (u->about_chosen)
		u->about_chosen = false;
	else if (u->solo)
		u->solo = false;
	else if (u->chosen >= 0)
		u->chosen = -1;
	else if (!s->live)
		r->kind = REQUEST_LIVE;
	else if (!u->vp.follow)
		viewport_now(&u->vp, &u->extent, s->now_ns);
}

/* arg: enum move; negative: backwards. */
void act_move(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	const struct view *v = views_top(u);

	(v->build ? charts_move : v->move)(u, s, (enum move)abs(arg), arg < 0 ? -1 : 1);
}

static void act_phases_hint(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	screen_say(u, STYLE_DIM, "%s", _("7 shows the phases, of which x chooses some to be compared"));
}

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

/* Keys that move in time are shown only with charts or, below a list, with the minimap. */
static const char *bar_zoom(const struct ui *u, const struct ui_scene *s)
{
	return u->view->plain ? NULL : _("zoom");
}

static const char *bar_marks(const struct ui *u, const struct ui_scene *s)
{
	return s->live && (u->view->plain || (!u->frame.n_marks && !u->at.events.h)) ? NULL : _("marks");
}

static const char *bar_level(const struct ui *u, const struct ui_scene *s)
{
	return u->at.ranges.h ? _("level") : NULL;
}

static const char *bar_ranges(const struct ui *u, const struct ui_scene *s)
{
	return ranges_any(u) && !u->view->plain ? _("ranges") : NULL;
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
const struct key_entry keys_views = {
	KEYS_VIEWS, WHEN_ALWAYS, { { 0, 0, 0 } }, act_view,
	"1 .. 9  a", N_("show a view by its number; a: all signals"), NULL, NULL, NULL, 0
};

const struct key_entry keys_common[] = {
	{ KEYS_VIEWS, WHEN_ALWAYS, { { K_TAB, 0, 1 }, { K_BACKTAB, 0, -1 }, { K_BACKTAB, MOD_SHIFT, -1 }, { K_TAB, MOD_SHIFT, -1 } },
	  act_turn, "Tab", N_("next view; Shift-Tab: previous view"), NULL, NULL, NULL, 0 },
	{ KEYS_MARKS, WHEN_CHARTS, { { 's', 0, REQUEST_MARK } },
	  act_live, "s", N_("set a sync mark now"), "s", NULL, bar_mark, 0 },
	{ KEYS_MARKS, WHEN_CHARTS, { { 'S', 0, 0 } },
	  act_label, "S", N_("set a sync mark with a label"), NULL, NULL, NULL, 0 },
	{ KEYS_MARKS, WHEN_CHARTS, { { 'r', 0, REQUEST_RECORD } },
	  act_live, "r", N_("start or stop recording to a file"), "r", NULL, bar_record, 0 },
	{ KEYS_MARKS, WHEN_CHARTS, { { 'w', 0, REQUEST_KEEP } },
	  act_live, "w", N_("write what is in memory to a file"), NULL, NULL, NULL, 0 },
	{ KEYS_TIME, WHEN_CHARTS, { { ' ', 0, 0 } },
	  act_space, "Space", N_("pause, or play from the cursor"), "Space", NULL, bar_space, 0 },
	{ KEYS_MARKS, WHEN_CHARTS, { { 'o', 0, 0 } },
	  act_open, "o", N_("list saved traces and open one"), "o", N_("open"), NULL, 0 },
	{ KEYS_VIEWS, WHEN_CHARTS, { { 'R', 0, VIEW_ranges } },
	  act_view, "R", N_("NVTX ranges by name: count, time, joules"), "R", NULL, bar_ranges, 0 },
	{ KEYS_TIME, WHEN_CHARTS, { { '+', 0, 1 }, { '=', 0, 1 }, { '-', 0, -1 }, { '_', 0, -1 } },
	  act_zoom, "+ -", N_("zoom in, zoom out: half, twice as much time"), "+ -", NULL, bar_zoom, 0 },
	{ KEYS_TIME, WHEN_CHARTS, { { '0', 0, 0 } },
	  act_all, "0", N_("show the whole recording"), NULL, NULL, NULL, 0 },
	{ KEYS_TIME, WHEN_CHARTS, { { K_LEFT, 0, -1 }, { K_RIGHT, 0, 1 }, { K_LEFT, MOD_SHIFT, -8 }, { K_RIGHT, MOD_SHIFT, 8 },
				    { K_LEFT, MOD_CTRL, -8 }, { K_RIGHT, MOD_CTRL, 8 } },
	  act_pan, "Left Right", N_("back, forward in time; with Shift: by one screen"), NULL, NULL, NULL, 0 },
	{ KEYS_TIME, WHEN_CHARTS, { { 'h', 0, -1 }, { K_LEFT, MOD_ALT, -1 }, { 'l', 0, 1 }, { K_RIGHT, MOD_ALT, 1 } },
	  act_cursor, "h l", N_("move the cursor by a column: shows the values at that time"), NULL, NULL, NULL, 0 },
	{ KEYS_TIME, WHEN_CHARTS, { { ',', 0, -1 }, { '.', 0, 1 } },
	  act_step, ", .", N_("one sample back, forward"), NULL, NULL, NULL, 0 },
	{ KEYS_TIME, WHEN_CHARTS, { { K_HOME, 0, -1 }, { K_END, 0, 1 } },
	  act_ends, "Home End", N_("to the start; to now or the end of the trace"), NULL, NULL, NULL, 0 },
	{ KEYS_TIME, WHEN_CHARTS, { { '[', 0, -1 }, { ']', 0, 1 } },
	  act_go_mark, "[ ]", N_("previous, next mark or event"), "[ ]", NULL, bar_marks, 0 },
	{ KEYS_TIME, WHEN_CHARTS, { { 'd', 0, 1 }, { 'D', 0, -1 } },
	  act_range_level, "d D", N_("inner, outer level of ranges: [ ] then stop at its edges, Enter shows details"), "d D", NULL, bar_level, 0 },
	{ KEYS_TIME, WHEN_CHARTS, { { 't', 0, 0 } },
	  act_range_lane, "t", N_("ranges of another thread"), NULL, NULL, NULL, 0 },
	{ KEYS_TIME, WHEN_CHARTS, { { 'm', 0, 1 } },
	  act_extreme, "m", N_("to the maximum of the selected row"), NULL, NULL, NULL, 0 },
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
	{ KEYS_SCREEN, WHEN_CHARTS, { { K_F2, 0, VIEW_settings }, { 'O', 0, VIEW_settings } },
	  act_cover, "F2 O", N_("settings: colours, mouse, rows"), NULL, NULL, NULL, 0 },
	{ .group = KEYS_VIEWS, .handler = NULL }, /* replaced by the keys of the view */
	{ KEYS_STRETCH, WHEN_CHARTS, { { 'L', 0, 0 } },
	  act_loop, "L", N_("loop the selection or phase"), NULL, NULL, NULL, 0 },
	{ KEYS_STRETCH, WHEN_CHARTS, { { '{', 0, -1 }, { '}', 0, 1 } },
	  act_nudge, "{ }", N_("move the trace of --with by a column"), "{ }", NULL, bar_nudge, 0 },
	{ KEYS_TIME, WHEN_CHARTS, { { '<', 0, -1 }, { '>', 0, 1 } },
	  act_speed, "< >", N_("play slower, faster: 1/10 to 64 times, or all"), "< >", NULL, bar_speed, 0 },
	{ KEYS_ROWS, WHEN_ALWAYS, { { K_UP, 0, -MOVE_LINE }, { 'k', 0, -MOVE_LINE }, { K_DOWN, 0, MOVE_LINE }, { 'j', 0, MOVE_LINE } },
	  act_move, "Up Down", N_("select the row above, below; in a list: scroll"), NULL, NULL, NULL, 0 },
	{ KEYS_ROWS, WHEN_ALWAYS, { { K_PGUP, 0, -MOVE_PAGE }, { 'b', MOD_CTRL, -MOVE_PAGE }, { K_PGDN, 0, MOVE_PAGE }, { 'f', MOD_CTRL, MOVE_PAGE } },
	  act_move, "PgUp PgDn", N_("scroll by a page"), NULL, NULL, NULL, 0 },
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
	{ KEYS_SCREEN, WHEN_ALWAYS, { { K_F1, 0, VIEW_help } },
	  act_cover, "F1", N_("all keys"), NULL, NULL, NULL, 0 },
	{ KEYS_SCREEN, WHEN_ALWAYS, { { 'l', MOD_CTRL, REQUEST_REPAINT } },
	  act_request, "Ctrl-L", N_("redraw the screen"), NULL, NULL, NULL, 0 },
	{ KEYS_SCREEN, WHEN_ALWAYS, { { 'z', MOD_CTRL, REQUEST_SUSPEND } },
	  act_request, "Ctrl-Z", N_("suspend (fg continues)"), NULL, NULL, NULL, 0 },
	{ KEYS_SCREEN, WHEN_ALWAYS, { { 'q', 0, REQUEST_QUIT }, { 'c', MOD_CTRL, REQUEST_QUIT } },
	  act_request, "q Ctrl-C", N_("quit"), "q", N_("quit"), NULL, WHEN_ALWAYS },
	{ .group = KEYS_GROUPS, .handler = NULL },
};
/* clang-format on */
