/* prompt: line input for a time, a search, a label or a filter.
 *
 * Invalid input stays in the line for correction, with an error message. */
#include "ui/draw.h"
#include "ui/screen.h"

#include "util/intl.h"

#include <string.h>

/* Append a character as UTF-8; ignore it if there is no room. */
static void append(char *text, size_t size, uint32_t c)
{
	size_t len = strlen(text), n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};

	if (len + n >= size)
		return;
	text[len + n] = 0;
	for (size_t i = n - 1; i > 0; i--, c >>= 6)
		text[len + i] = (char)(0x80 | (c & 0x3f));
	text[len] = (char)(first[n == 1 ? 0 : n] | c);
}

/* Remove the last character. */
static void shorten(char *text)
{
	size_t len = strlen(text);

	while (len && ((unsigned char)text[len - 1] & 0xc0) == 0x80)
		len--;
	text[len ? len - 1 : 0] = 0;
}

static bool is_text(uint32_t c)
{
	return c >= ' ' && c != K_BACKSPACE && (c < 0x80 || c > 0x9f) && (c < 0xd800 || c > 0xdfff) &&
	       c < 0x110000;
}

static bool prompt_key(struct ui *u, const struct ui_scene *s, const struct event *ev, struct request *r)
{
	struct prompt_line *l = &u->line;
	const struct prompt *p = l->prompt;
	bool rubout = ev->key == K_BACKSPACE || ev->key == K_DELETE;

	if (ev->mods & (MOD_CTRL | MOD_ALT))
		return false;
	l->wrong[0] = 0;
	if (ev->key == K_ENTER && !ev->pasted) {
		modal_close(u);
		if (p->enter && !p->enter(u, s, r))
			u->modals.n++; /* it stays, to be corrected */
		return true;
	}
	if ((ev->key == K_ESC && !ev->pasted) || (rubout && !l->text[0] && p->backs_out)) {
		l->text[0] = 0;
		modal_close(u);
	} else if (rubout) {
		shorten(l->text);
	} else if (is_text(ev->key)) {
		append(l->text, p->room, ev->key);
	}
	if (p->changed)
		p->changed(u, l->text);
	return true;
}

/* Draw as many parts of the hint as fit; parts are separated by two or more blanks. */
static void draw_hint(struct canvas *c, int x, int y, int w, const char *hint)
{
	char text[160];

	for (snprintf(text, sizeof(text), "%s", hint); text_width(text) > w;) {
		size_t n = strlen(text);

		while (n > 0 && strncmp(text + n, "  ", 2) != 0)
			n--;
		while (n > 0 && text[n - 1] == ' ')
			n--;
		text[n] = 0;
	}
	canvas_text(c, x, y, w, STYLE_DIM, text);
}

static bool prompt_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	const struct prompt *p = u->line.prompt;
	int x = u->at.name.x, y = u->at.bar.y, right = c->w - x;

	x += canvas_text(c, x, y, right - x, STYLE_KEY, _(p->title)) + 1;
	x += canvas_text(c, x, y, right - x - 1, STYLE_STRONG, u->line.text);
	if (x < right)
		canvas_put(c, x, y, STYLE_SELECTED, L' ');
	x += 3;
	if (u->line.wrong[0])
		x += screen_cut(u, c, x, y, right - x, STYLE_WARN, u->line.wrong) + 2;
	if (x < right)
		draw_hint(c, x, y, right - x, p->examples ? p->examples : _(p->hint));
	return true;
}

bool prompt_open(struct ui *u, const struct prompt *p, const char *text, int64_t t_ns, const struct view *view)
{
	static const struct modal prompt = {prompt_key, prompt_draw, false};

	if (!modal_open(u, &prompt, view))
		return false;
	u->line = (struct prompt_line) {.prompt = p, .t_ns = t_ns};
	snprintf(u->line.text, p->room, "%s", text);
	return true;
}
