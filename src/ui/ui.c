/* ui: makes a frame of the screen, and handles the change of timelines.
 *
 * The order within a frame matters: the viewport is settled before anything is drawn, and the
 * minimap comes last because it reuses the buffers of the charts. */
#include "ui/charts.h"
#include "ui/draw.h"
#include "ui/header.h"
#include "ui/screen.h"

#include "ui/align.h"

#include "util/intl.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define VALUES_MS 250 /* numbers that change faster are unreadable */
#define FRAME_MS  100
#define FIRST_MS  8   /* until the first samples */
#define YOUNG_MS  400 /* for this time, show numbers as soon as they arrive */
#define PLAY_MS   40
#define WORK_MS   10 /* during a search: little work, often */

bool ui_key(size_t i, const char **group, const char **keys, const char **what)
{
	const struct key_entry *k = keys_help(i);

	if (!k)
		return false;
	*group = _(keys_group(k->group));
	*keys = k->shown;
	*what = _(k->what);
	return true;
}

void hit_add(struct ui *u, int x, int y, int w, key_handler *handler, int arg)
{
	if (u->frame.n_hits < HITS_MAX)
		u->frame.hits[u->frame.n_hits++] = (struct hit) {x, y, w, handler, arg};
}

static void no_view(const char *name, struct err *e)
{
	char shown[80], list[160] = "";
	size_t used = 0;

	text_printable(shown, sizeof(shown), name, strlen(name));
	for (size_t i = 0; ui_view_name(i); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
					 ui_view_name(i));
	err_set(e, ERR_USAGE, _("unknown view \"%s\"; known: %s"), shown, list);
}

/* name NULL: the first view. False: no such view. */
static bool begin_with(struct ui *u, const char *name)
{
	size_t i = name ? views_named(name) : 0;

	if (i == N_VIEWS)
		return false;
	*(views_at(i)->covers ? &u->over : &u->view) = views_at(i);
	return true;
}

struct ui *ui_new(const struct ui_options *o, struct err *e)
{
	struct ui *u = calloc(1, sizeof(*u));

	if (!u || views_begin(u) < 0) {
		err_set(e, ERR_FAILED, _("No memory for the screen."));
		ui_free(u);
		return NULL;
	}
	u->charset = o->charset;
	u->frame_ms = o->frame_ms;
	u->settings = o->settings ? *o->settings : SETTINGS_DEFAULT;
	u->view = views_at(0);
	u->chosen = -1;
	if (!begin_with(u, o->view)) {
		no_view(o->view, e);
		ui_free(u);
		return NULL;
	}
	viewport_reset(&u->vp, true);
	return u;
}

void ui_free(struct ui *u)
{
	if (!u)
		return;
	free(u->rows);
	free(u->height);
	free(u->places);
	views_end(u);
	present_forget(u);
	free(u);
}

const struct settings *ui_settings(const struct ui *u)
{
	return &u->settings;
}

unsigned screen_when(const struct ui *u)
{
	if (u->over)
		return WHEN_COVERED;
	return !u->vp.live ? WHEN_REPLAY : u->vp.follow ? WHEN_NOW : WHEN_BACK;
}

const char *screen_fact(const struct ui *u, const char *key)
{
	const char *value = u->about ? fact_get(present_facts(&u->present, u->about), u->about->n_facts, key) : NULL;

	return value ? value : "";
}

static void read_extent(struct ui *u, const struct ui_scene *s)
{
	u->extent = (struct extent) {false, 0, 0};
	if (s->timeline && u->about)
		align_extent(s->timeline, &u->extent);
	second_extend(u, s);
}

/* On out of memory, the old rows are not shown. */
void screen_look(struct ui *u, const struct ui_scene *s)
{
	const struct session *about = s->timeline ? s->timeline->ops->session(s->timeline) : NULL;
	bool anew = false, other = second_look(u, s);

	if (other || s->timeline != u->timeline || about != u->about || u->built != u->view ||
	    (about && !u->rows)) {
		anew = s->timeline != u->timeline || about != u->about;
		u->n_rows = 0;
		if (anew)
			present_forget(u);
		u->about = NULL;
		if (rows_build(u, about) < 0)
			about = NULL;
		u->timeline = s->timeline;
	}
	u->vp.live = s->live;
	if (!s->live)
		u->vp.follow = false;
	read_extent(u, s);
	second_match(u);
	if (!anew)
		return;
	memset(&u->ranges, 0, sizeof(u->ranges));
	u->events = events_wanted(u, s);
	search_forget(u);
	views_reset(u);
}

void screen_say(struct ui *u, enum style style, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(u->said, sizeof(u->said), fmt, args);
	va_end(args);
	u->said_style = style;
}

int64_t screen_wall(const struct ui *u, int64_t t_ns)
{
	if (!u->about || !u->about->start.real_ns)
		return 0;
	return clock_wall_ns(&u->about->start, t_ns);
}

void screen_clock(char out[SCREEN_CLOCK], int64_t wall_ns)
{
	time_t t = (time_t)(wall_ns / NS_PER_S);
	struct tm tm;

	if (!wall_ns || !localtime_r(&t, &tm) || !strftime(out, SCREEN_CLOCK, "%H:%M:%S", &tm))
		out[0] = 0;
}

void screen_moment(const struct ui *u, const struct ui_scene *s, int64_t t_ns, char out[QUANTITY_TEXT])
{
	int64_t step = viewport_column_ns(&u->vp), wall = screen_wall(u, t_ns);
	char clock[SCREEN_CLOCK];

	step = step < NS_PER_MS ? NS_PER_MS : step > NS_PER_S / 10 ? NS_PER_S / 10 : step;
	if (!s->live || !wall) {
		quantity_time(out, t_ns - u->extent.first_ns, step);
		return;
	}
	screen_clock(clock, wall);
	snprintf(out, QUANTITY_TEXT, "%s.%0*d", clock, step < NS_PER_S / 10 ? 3 : 1,
		 (int)(wall % NS_PER_S / (step < NS_PER_S / 10 ? NS_PER_MS : NS_PER_S / 10)));
}

bool ui_advance(struct ui *u, const struct ui_scene *s)
{
	screen_look(u, s);
	if (u->search.going)
		search_go(u, s);
	if (u->ranges.more) {
		u->ranges.more = false;
		ranges_prepare(u, s);
	}
	if (u->ranges.reading)
		ranges_ready(u, s);
	u->frame.more = (views_top(u)->tick && views_top(u)->tick(u, s)) || u->ranges.more || u->ranges.reading;
	return u->search.going || u->frame.more;
}

/* Clicks and questions refer to what is drawn. */
static void forget_picture(struct ui *u)
{
	u->frame.n_hits = 0;
	u->frame.trial = false;
	u->modals.asked = false;
}

void ui_reset(struct ui *u, const struct ui_scene *s)
{
	u->timeline = NULL;
	u->about = NULL;
	present_forget(u);
	u->n_rows = 0;
	viewport_reset(&u->vp, s->live);
	if (u->over && u->over->transient)
		u->over = NULL;
	u->modals.n = 0;
	u->drag.on = u->selection.on = false;
	forget_picture(u);
	u->said[0] = 0;
	u->scroll = u->over_scroll = 0;
	screen_look(u, s);
	viewport_settle(&u->vp, &u->extent, s->now_ns);
	second_reset(u, s);
}

void ui_go_on(struct ui *u, const struct ui_scene *s, bool at_end, bool play)
{
	struct viewport was = u->vp;
	struct viewport *v = &u->vp;

	ui_reset(u, s);
	v->speed = was.speed;
	if (!was.fit) {
		v->zoom = was.zoom;
		v->merge = was.merge;
		v->fit = false;
	}
	if (u->extent.any)
		viewport_jump(v, &u->extent, s->now_ns, at_end ? u->extent.last_ns : u->extent.first_ns);
	if (play)
		viewport_space(v, &u->extent, s->now_ns);
}

bool ui_played_out(struct ui *u)
{
	bool out = u->vp.played_out;

	u->vp.played_out = false;
	return out;
}

void ui_seek(struct ui *u, const struct ui_scene *s, int64_t after_start_ns)
{
	const int64_t most = INT64_C(1) << 61;
	int64_t by = after_start_ns < 0 ? 0 : after_start_ns > most ? most : after_start_ns;

	screen_look(u, s);
	if (u->extent.any)
		viewport_jump(&u->vp, &u->extent, s->now_ns, u->extent.first_ns + by);
}

/* Startup, while signals get their first values. */
static bool is_young(const struct ui *u)
{
	return !u->extent.any || u->extent.last_ns - u->extent.first_ns < YOUNG_MS * NS_PER_MS;
}

/* Of what is shown besides a trial. */
static int frame_ms(const struct ui *u, const struct ui_scene *s)
{
	int64_t column_ms = viewport_column_ns(&u->vp) / NS_PER_MS;

	if (u->ranges.reading)
		return 0;
	if (u->search.going || u->frame.more || u->ranges.more)
		return WORK_MS;
	if (u->vp.playing)
		return u->frame_ms ? u->frame_ms : PLAY_MS;
	if (s->live && views_top(u)->every_ms)
		return u->frame_ms ? u->frame_ms : views_top(u)->every_ms;
	if (!s->live || !u->vp.follow)
		return s->recording || s->completing ? 1000 : -1;
	if (u->over)
		return 1000;
	if (is_young(u))
		return u->extent.any ? 5 * FIRST_MS : FIRST_MS;
	if (u->frame_ms)
		return u->frame_ms;
	return column_ms <= FRAME_MS ? FRAME_MS : column_ms < VALUES_MS ? (int)column_ms : VALUES_MS;
}

int ui_frame_ms(const struct ui *u, const struct ui_scene *s)
{
	int ms = frame_ms(u, s);

	return s->trial.name[0] && (ms < 0 || ms > VALUES_MS) ? VALUES_MS : ms;
}

static void draw_small(struct canvas *c)
{
	char text[64];
	int w;

	snprintf(text, sizeof(text), _("needs %dx%d"), LAYOUT_MIN_W, LAYOUT_MIN_H);
	w = text_width(text);
	if (w > c->w)
		snprintf(text, sizeof(text), "%dx%d", LAYOUT_MIN_W, LAYOUT_MIN_H);
	canvas_text(c, 0, c->h / 2, c->w, STYLE_DIM, text);
}

static void draw_empty(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	canvas_text(c, u->at.name.x, u->at.body.y, c->w - u->at.name.x, STYLE_DIM,
		    s->live ? _("Waiting for the first samples.") : _("This trace has no samples."));
}

static void draw_view(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	if (!u->view->plain && !u->extent.any) {
		draw_empty(u, s, c);
		return;
	}
	if (!u->view->plain)
		axis_draw(u, s, c);
	ranges_draw(u, c);
	(u->view->build ? charts_draw : u->view->draw)(u, s, c);
	if (!u->view->plain && !u->over)
		events_draw(u, s, c);
	if (u->at.panel.h)
		u->view->foot_draw(u, s, c, &(struct rect) {1, u->at.panel.y, c->w - 2, u->at.panel.h});
}

static void draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	struct layout_wish wish = {
		.w = c->w, .h = c->h, .replay = !s->live && (!u->over || u->over->panel)};
	int64_t pace;

	canvas_clear(c);
	screen_look(u, s);
	wish.second = s->with != NULL;
	wish.events = (u->events || u->present.count) && !u->view->plain;
	wish.ranges = ranges_lines(u, s, c->h) * !u->view->plain;
	wish.compact = u->view->compact;
	wish.panel = (!u->over || u->over->panel) && u->view->foot ? u->view->foot(u, c->w, c->h) : 0;
	wish.solo = arrange_solo(u);
	u->at = layout_screen(&wish);
	u->frame.w = c->w;
	u->frame.h = c->h;
	if (u->at.small) {
		draw_small(c);
		return;
	}
	if (u->charset != CHARSET_ASCII)
		u->charset = u->settings.braille ? CHARSET_BRAILLE : CHARSET_BLOCKS;
	u->vp.per_cell = spark_per_cell(u->charset);
	u->vp.columns = u->at.chart.w * u->vp.per_cell;
	viewport_settle(&u->vp, &u->extent, s->now_ns);
	pace = is_young(u) ? FIRST_MS : u->frame_ms ? u->frame_ms : VALUES_MS;
	u->frame.tick = s->now_ns / (pace * NS_PER_MS) * 64 + u->vp.zoom;
	u->frame.below = 0;
	u->frame.more = false;
	u->frame.n_marks = 0;
	present_read(u, s);

	header_draw(u, s, c);
	limit_line_draw(u, s, c);
	if (u->extent.any) {
		axis_prepare(u, s);
		ranges_prepare(u, s);
		second_prepare(u);
	}
	second_draw(u, s, c);
	if (!u->over || u->over->panel)
		draw_view(u, s, c);
	if (u->over)
		u->over->draw(u, s, c);
	tabs_draw(u, c);
	bar_draw(u, s, c);
	if ((!u->over || u->over->panel) && u->extent.any)
		minimap_draw(u, s, c);
	/* A recording must be visible even without a header. */
	if (!u->at.header.h && (s->recording || s->completing))
		canvas_put(c, c->w - 1, 0, STYLE_RECORD, screen_glyph(u, 0x25CF, '*'));
}

void ui_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	forget_picture(u);
	draw(u, s, c);
	/* Close a question that is no longer drawn, whatever the cause. */
	if (modal_top(u) && modal_top(u)->question && !u->modals.asked)
		modal_close(u);
}

bool ui_is_asking(const struct ui *u)
{
	return modal_top(u) != NULL;
}

bool ui_wants_procs(const struct ui *u, const struct ui_scene *s)
{
	int lines = views_top(u)->procs;

	return s->live && lines && u->frame.h >= lines;
}

bool ui_wants_machine(const struct ui *u, const struct ui_scene *s)
{
	return s->live && u->view->host && !u->over;
}
