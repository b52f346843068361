/* header: the first line (board, trace, recording) and the key bar.
 *
 * Items are placed from the edges inwards, the most important first. An item that does not fit is omitted
 * as a whole, so that no number is truncated. */
#include "ui/control.h"
#include "ui/draw.h"
#include "ui/header.h"
#include "ui/screen.h"

#include "util/clock.h"
#include "util/intl.h"

#include <string.h>

#define SIZE_W 6 /* "999 kB", "1.2 MB" */

/* Draws text that ends at `right` and begins at or after `limit`. Returns the new right end. */
static int put_left_of(struct canvas *c, int right, int y, int limit, enum style s, const char *text, int gap)
{
	int w = text_width(text);

	if (!*text || right - w < limit)
		return right;
	canvas_text(c, right - w, y, w, s, text);
	return right - w - gap;
}

/* The wall clock of the values on the screen: now, or that of the playhead when looking back. */
static int64_t shown_wall(const struct ui *u, const struct ui_scene *s)
{
	if (u->vp.follow || !u->about || !u->extent.any)
		return s->live ? s->wall_ns : 0;
	return screen_wall(u, u->vp.head_ns);
}

/* "00:48", "1:02:03": a plain number could be mistaken for a part of the name. */
static void since_text(char out[QUANTITY_TEXT], int64_t ns)
{
	if (ns >= 0 && ns < 3600 * NS_PER_S)
		snprintf(out, QUANTITY_TEXT, "%02d:%02d", (int)(ns / NS_PER_S / 60),
			 (int)(ns / NS_PER_S % 60));
	else
		quantity_clock(out, ns, 0);
}

static int draw_record(const struct ui *u, const struct ui_scene *s, struct canvas *c, int right, int limit)
{
	char size[QUANTITY_TEXT], since[QUANTITY_TEXT], marks[48] = "";
	const char *name = screen_name(s->record_name);
	int x, fixed;

	quantity_bytes(size, s->record_bytes);
	since_text(since, s->now_ns - s->record_since_ns);
	if (s->record_marks)
		snprintf(marks, sizeof(marks), P_("%llu mark", "%llu marks", s->record_marks),
			 (unsigned long long)s->record_marks);
	/* The widest size is assumed, so that the name does not move. */
	fixed = 5 + 2 + text_width(since) + 2 + (text_width(size) < SIZE_W ? SIZE_W : text_width(size));
	if (right - fixed < limit)
		fixed = 5;
	if (right - fixed < limit)
		return right;
	if (fixed == 5) {
		x = right - 5;
	} else {
		int more = (*marks ? text_width(marks) + 2 : 0), named = text_width(name) + 1;

		if (right - fixed - more < limit)
			more = 0, marks[0] = 0;
		if (right - fixed - more - named < limit)
			named = 0;
		x = right - fixed - more - named;
		if (named)
			canvas_text(c, x + 6, 0, named - 1, STYLE_TEXT, name);
		canvas_textf(c, x + 6 + named, 0, right - x, STYLE_TEXT, "%s  %*s%s%s", since, SIZE_W, size,
			     *marks ? "  " : "", marks);
	}
	canvas_put(c, x, 0, STYLE_RECORD, screen_glyph(u, 0x25CF, '*'));
	canvas_text(c, x + 2, 0, 3, STYLE_RECORD, "REC");
	return x - 2;
}

/* The recording has ended, but its file is still being written. */
static int draw_completing(const struct ui_scene *s, struct canvas *c, int right, int limit)
{
	char text[160];
	int at;

	/* TRANSLATORS: the recording of that name. */
	snprintf(text, sizeof(text), _("completing %s"), screen_name(s->completing));
	at = put_left_of(c, right, 0, limit, STYLE_RECORD, text, 3);
	if (at == right)
		at = put_left_of(c, right, 0, limit, STYLE_RECORD, _("completing"), 3);
	return at;
}

/* The second trace has its own line if the window is high enough. */
static int draw_names(const struct ui *u, const struct ui_scene *s, struct canvas *c, int right, int limit)
{
	const char *name = screen_name(s->trace_name);
	char text[256];

	if (!s->with)
		return put_left_of(c, right, 0, limit, STYLE_TEXT, name, 3);
	snprintf(text, sizeof(text), u->at.second.h ? "A %s" : "A %s  B %s", name, screen_name(s->with_name));
	return put_left_of(c, right, 0, limit, STYLE_TEXT, text, 3);
}

/* The board, its power mode and release, as far as they fit. */
static void draw_title(const struct ui *u, struct canvas *c, int x, int right)
{
	static const char *const keys[] = {"title", "mode", "release"};
	/* Without tabs, the title names the view. */
	bool named = !u->at.tabs.h && u->view != views_at(0) && u->view->label;
	const char *title = named ? _(u->view->label) : "nvmtop";
	int w = text_width(title), gap = 2;

	if (x + w > right)
		return;
	x += canvas_text(c, x, 0, w, STYLE_TITLE, title);
	if (*screen_fact(u, "demo") && x + 2 + text_width("DEMO") <= right)
		x += 2, x += canvas_text(c, x, 0, right - x, STYLE_KEY, "DEMO");
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *text = screen_fact(u, keys[i]);

		if (i == 0 && !*text)
			text = screen_fact(u, "board");
		if (!*text)
			continue;
		if (x + gap + text_width(text) > right)
			break;
		if (gap == 3)
			canvas_put(c, x + 1, 0, STYLE_DIM, screen_glyph(u, 0xB7, '-'));
		canvas_text(c, x + gap, 0, right - x - gap, i == 0 ? STYLE_TEXT : STYLE_DIM, text);
		x += gap + text_width(text);
		gap = 3;
	}
}

void header_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	int margin = u->at.name.x, right = c->w - margin, limit = margin + 8;
	char clock[SCREEN_CLOCK];

	if (!u->at.header.h)
		return;
	screen_clock(clock, shown_wall(u, s));
	right = put_left_of(c, right, 0, limit, STYLE_DIM, clock, 3);
	if (s->recording && s->record_error)
		/* TRANSLATORS: short; of the recording: nothing is written now. */
		right = put_left_of(c, right, 0, limit, STYLE_ALERT, _("not recording"), 3);
	else if (s->recording)
		right = draw_record(u, s, c, right, limit);
	else if (s->completing)
		right = draw_completing(s, c, right, limit);
	else if (s->remote)
		right = put_left_of(c, right, 0, limit, STYLE_TEXT, s->remote, 3);
	else if (!s->live)
		right = draw_names(u, s, c, right, limit);
	draw_title(u, c, margin, right);
}

static const char *opening_text(struct ui *u, const struct ui_scene *s)
{
	snprintf(u->frame.alarm, sizeof(u->frame.alarm), _("Opening %s.   Esc: stay here"), s->opening);
	return u->frame.alarm;
}

/* Returns true if the second line is hidden or shows a worse problem. */
static bool opening_untold(const struct ui *u, const struct ui_scene *s)
{
	return s->opening && (!u->at.limit.h || s->record_error || (s->recording && s->record_lost));
}

/* In order of severity. */
const char *header_alarm(struct ui *u, const struct ui_scene *s, enum style *style)
{
	unsigned long long lost = s->record_lost;

	*style = STYLE_ALERT;
	if (s->record_error)
		return s->record_error;
	if (s->recording && lost) {
		snprintf(u->frame.alarm, sizeof(u->frame.alarm),
			 P_("%llu row could not be written to the recording: the disk is too slow.",
			    "%llu rows could not be written to the recording: the disk is too slow.", lost),
			 lost);
		return u->frame.alarm;
	}
	*style = STYLE_WARN;
	if (s->opening)
		return opening_text(u, s);
	if (s->notice)
		return s->notice;
	if (s->live && s->stalled)
		return _("Sampling hangs: a sensor does not answer.");
	if (s->live && s->hangs) {
		snprintf(u->frame.alarm, sizeof(u->frame.alarm), _("%s has not answered for %.1f s: its driver hangs."),
			 s->hangs, (double)s->hangs_ns / (double)NS_PER_S);
		return u->frame.alarm;
	}
	return "";
}

/* The translated text of a key; NULL: not shown now. */
static const char *bar_text(const struct ui *u, const struct ui_scene *s, const struct key_entry *k)
{
	int arg;

	if (!k->bar_key || !(k->when & screen_when(u)) ||
	    keys_find(views_top(u), screen_when(u), k->keys[0].key, k->keys[0].mods, &arg) != k)
		return NULL;
	return k->bar_now ? k->bar_now(u, s) : _(k->bar);
}

/* Draws as many keys as fit, with two blanks between them. */
static void bar_keys(struct ui *u, const struct ui_scene *s, struct canvas *c, int right)
{
	const struct view *v = views_top(u);
	const struct key_entry *k;
	int x = u->at.name.x, y = u->at.bar.y, keep = 0;
	const char *text;

	for (size_t i = 0; (k = keys_entry(v, i)) != NULL; i++)
		if ((k->keep & screen_when(u)) && (text = bar_text(u, s, k)) != NULL)
			keep += text_width(k->bar_key) + 1 + text_width(text) + 2;
	for (size_t i = 0; (k = keys_entry(v, i)) != NULL; i++) {
		int w, key;

		text = bar_text(u, s, k);
		if (!text)
			continue;
		key = text_width(k->bar_key);
		w = key + 1 + text_width(text);
		if (k->keep & screen_when(u))
			keep -= w + 2;
		if (x + w > right - keep)
			continue;
		canvas_text(c, x, y, key, STYLE_KEY, k->bar_key);
		canvas_text(c, x + key + 1, y, w - key - 1, STYLE_KEY_TEXT, text);
		hit_add(u, x, y, w, k->handler, k->keys[0].arg);
		x += w + 2;
	}
}

/* The number of rows that do not fit, their direction and the key that scrolls there. */
static void more_text(const struct ui *u, char *out, size_t size, int n, wchar_t fine, char ascii, const char *key)
{
	/* TRANSLATORS: an arrow, a number of rows, and the name of a key. */
	snprintf(out, size, _("%lc %d more (%s)"), (wint_t)screen_glyph(u, fine, (wchar_t)ascii), n, key);
}

void bar_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	int right = c->w - u->at.name.x;
	const char *text = s->message;
	enum style style = s->message_style;
	char more[64] = "";

	if (!u->at.bar.h)
		return;
	if (modal_top(u)) {
		u->modals.asked = modal_top(u)->draw(u, s, c);
		if (u->modals.asked)
			return;
	}
	if (u->search.going) {
		search_draw(u, c);
		return;
	}
	if (!u->said[0] && control_trial_draw(u, s, c))
		return;
	if (u->said[0])
		text = u->said, style = u->said_style;
	else if (opening_untold(u, s))
		text = opening_text(u, s), style = STYLE_WARN;
	if (text) {
		screen_cut(u, c, u->at.name.x, u->at.bar.y, right - u->at.name.x, style, text);
		return;
	}
	if (u->selection.on && !u->over) {
		select_draw(u, s, c);
		return;
	}
	if (u->frame.below > 0)
		more_text(u, more, sizeof(more), u->frame.below, 0x25BC, 'v', "PgDn");
	else if (!u->over && u->scroll > 0)
		more_text(u, more, sizeof(more), u->scroll, 0x25B2, '^', "PgUp");
	if (*more && c->w >= 40)
		right = put_left_of(c, right, u->at.bar.y, c->w / 2, STYLE_DIM, more, 2);
	bar_keys(u, s, c, right);
}
