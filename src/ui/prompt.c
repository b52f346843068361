/* prompt: the line in which a place or a condition is typed, and how any such line is edited.
 *
 * What is of no use stays there to be mended, with a word why. */
#include "ui/screen.h"

#include "util/intl.h"

#include <string.h>

void prompt_open(struct ui *u, enum prompt_kind kind)
{
	if (!u->extent.any || !u->at.bar.h)
		return;
	u->prompting = kind;
	u->prompt[0] = u->prompt_wrong[0] = 0;
}

static bool go_to(struct ui *u, const struct ui_scene *s)
{
	int64_t t;

	viewport_settle(&u->vp, &u->extent, s->now_ns);
	if (!strcmp(u->prompt, "end") || !strcmp(u->prompt, "now")) {
		viewport_now(&u->vp, &u->extent, s->now_ns);
		return true;
	}
	if (goto_parse(u->prompt, s->timeline, &u->extent, u->vp.head_ns, &t)) {
		viewport_jump(&u->vp, &u->extent, s->now_ns, t);
		return true;
	}
	snprintf(u->prompt_wrong, sizeof(u->prompt_wrong), "%s", _("no such place; try"));
	return false;
}

static bool enter(struct ui *u, const struct ui_scene *s)
{
	struct err e;

	if (!s->timeline || !u->extent.any)
		return true;
	if (u->prompting == PROMPT_GOTO)
		return !u->prompt[0] || go_to(u, s);
	if (!u->prompt[0] && !u->search.text[0])
		return true;
	if (search_begin(u, s, u->prompt[0] ? u->prompt : u->search.text, &e))
		return true;
	snprintf(u->prompt_wrong, sizeof(u->prompt_wrong), "%.255s", e.text);
	return false;
}

/* UTF-8; one that does not fit any more is not taken. */
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

/* Without the last character. */
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

void prompt_edit(char *text, size_t size, uint32_t key)
{
	if (key == K_BACKSPACE || key == K_DELETE)
		shorten(text);
	else if (is_text(key))
		append(text, size, key);
}

bool prompt_key(struct ui *u, const struct ui_scene *s, const struct event *ev)
{
	size_t room = u->prompting == PROMPT_GOTO ? 32 : sizeof(u->prompt);

	if (ev->mods & (MOD_CTRL | MOD_ALT))
		return false;
	u->prompt_wrong[0] = 0;
	if (ev->key == K_ESC && !ev->pasted) {
		u->prompting = PROMPT_NONE;
	} else if (!u->prompt[0] && (ev->key == K_BACKSPACE || ev->key == K_DELETE)) {
		u->prompting = PROMPT_NONE;
	} else if (ev->key == K_ENTER && !ev->pasted) {
		if (enter(u, s))
			u->prompting = PROMPT_NONE;
	} else {
		prompt_edit(u->prompt, room, ev->key);
	}
	return true;
}

/* Examples with blanks between them, as many as there is room for. */
static void draw_examples(struct canvas *c, int x, int y, int w, const char *text)
{
	int n = (int)strlen(text);
	char shown[128];

	while (n > 0 && n > w) {
		do
			n--;
		while (n > 0 && strncmp(text + n, "  ", 2));
		while (n > 0 && text[n - 1] == ' ')
			n--;
	}
	snprintf(shown, sizeof(shown), "%.*s", n, text);
	canvas_text(c, x, y, w, STYLE_DIM, shown);
}

void prompt_draw(struct ui *u, struct canvas *c)
{
	int x = u->at.name.x, y = u->at.bar.y, right = c->w - u->at.name.x;
	bool go = u->prompting == PROMPT_GOTO;

	x += canvas_text(c, x, y, right - x, STYLE_KEY, go ? _("go to:") : _("search:")) + 1;
	x += canvas_text(c, x, y, right - x - 1, STYLE_STRONG, u->prompt);
	if (x < right)
		canvas_put(c, x, y, STYLE_SELECTED, L' ');
	x += 3;
	if (u->prompt_wrong[0])
		x += screen_cut(u, c, x, y, right - x, STYLE_WARN, u->prompt_wrong) + 2;
	if (go)
		draw_examples(c, x, y, right - x, "12.5  1:23  +10s  -2m  50%  14:32:05  m3  end");
	else if (!u->prompt_wrong[0])
		draw_examples(c, x, y, right - x,
			      "gpu > 95   power > 25 W for 2s   hottest >= 85   throttled");
}
