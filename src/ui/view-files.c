/* view-files: the saved traces, to choose one. */
#include "ui/draw.h"
#include "ui/screen.h"

#include "util/intl.h"

#include <string.h>

struct files {
	char chosen[512]; /* its path; "": none was chosen, it is the first */
	uint64_t serial;  /* of the list in which it is at `at` */
	int at;
};

static struct files *state_of(const struct ui *u)
{
	return ui_state(u, &view_files);
}

static int length(const struct ui_scene *s)
{
	return s->n_files > 100000 ? 100000 : (int)s->n_files;
}

/* The last line is for what is still to come. */
static int list_lines(const struct ui *u, const struct ui_scene *s)
{
	return s->files_at && u->at.body.h > 0 ? u->at.body.h - 1 : u->at.body.h;
}

/* Where the one that a person has chosen is by now: others are found while it is. */
static void follow(struct files *f, const struct ui_scene *s)
{
	if (f->serial == s->files_serial)
		return;
	f->serial = s->files_serial;
	for (size_t i = 0; f->chosen[0] && i < s->n_files; i++)
		if (!strcmp(s->files[i].path, f->chosen))
			f->at = (int)i;
}

static void settle(struct ui *u, const struct ui_scene *s)
{
	struct files *f = state_of(u);
	int n = length(s), h = list_lines(u, s);

	follow(f, s);
	if (f->at >= n)
		f->at = n - 1;
	if (f->at < 0)
		f->at = 0;
	if (u->over_scroll > f->at)
		u->over_scroll = f->at;
	if (u->over_scroll < f->at - h + 1)
		u->over_scroll = f->at - h + 1;
	if (u->over_scroll < 0)
		u->over_scroll = 0;
}

static void choose(struct ui *u, const struct ui_scene *s, int at)
{
	struct files *f = state_of(u);

	f->at = at;
	settle(u, s);
	if (f->at < length(s))
		memcpy(f->chosen, s->files[f->at].path, sizeof(f->chosen));
}

static void draw_file(struct ui *u, const struct ui_file *f, struct canvas *c, int y, int w, bool chosen)
{
	int x = u->at.name.x, name_w = w > 60 ? w / 2 : w > 40 ? 28 : w;
	enum style style = chosen ? STYLE_SELECTED : f->readable ? STYLE_TEXT : STYLE_DIM;

	for (int k = 0; chosen && k < w; k++)
		canvas_put(c, x + k, y, style, L' ');
	canvas_put(c, x, y, style, chosen ? L'>' : L' ');
	screen_cut(u, c, x + 2, y, name_w - 3, style, f->name);
	if (w - name_w > 8)
		screen_cut(u, c, x + name_w, y, w - name_w,
			   chosen        ? STYLE_SELECTED
			   : f->readable ? STYLE_DIM
					 : STYLE_WARN,
			   f->about);
}

static void files_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	int n = length(s), h = list_lines(u, s), y = u->at.body.y, w = c->w - 2 * u->at.name.x;
	char text[192];

	settle(u, s);
	for (int i = 0; i < h && u->over_scroll + i < n; i++)
		draw_file(u, &s->files[u->over_scroll + i], c, y++, w, u->over_scroll + i == state_of(u)->at);
	if (s->files_at) {
		snprintf(text, sizeof(text), s->files_at[0] ? _("Reading this folder: %s") : _("Reading this folder."),
			 s->files_at);
		screen_cut(u, c, u->at.name.x, y, w, STYLE_WARN, text);
	}
	if (!n && !s->files_at)
		canvas_text(c, u->at.name.x, y, w, STYLE_DIM,
			    _("There are no saved traces here; r records one."));
	u->frame.below = n - u->over_scroll - h;
}

static void files_move(struct ui *u, const struct ui_scene *s, enum move how, int by)
{
	settle(u, s);
	choose(u, s, state_of(u)->at + view_lines(how, by, u->at.body.h > 1 ? u->at.body.h - 1 : 1));
}

static void open_chosen(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	const struct files *f = state_of(u);

	settle(u, s);
	if (f->at < length(s) && s->files[f->at].readable) {
		r->kind = REQUEST_OPEN;
		memcpy(r->path, s->files[f->at].path, sizeof(r->path));
		r->path[sizeof(r->path) - 1] = 0;
	}
	choose(u, s, f->at);
}

/* Once to choose a file, once more to open it. */
static bool files_click(struct ui *u, const struct ui_scene *s, int x, int y, struct request *r)
{
	int line = y - u->at.body.y, at = u->over_scroll + line;

	if (at >= length(s) || line >= list_lines(u, s))
		return false;
	if (at == state_of(u)->at)
		open_chosen(u, s, r, 0);
	else
		choose(u, s, at);
	return true;
}

static const struct key_entry keys[] = {
	{KEYS_MARKS, WHEN_COVERED, {{K_ENTER, 0, 0}},
	 open_chosen, "Enter", N_("open the selected trace"), "Enter", N_("open"), NULL, 0},
	{.handler = NULL},
};

const struct view view_files = {
	.keys = keys,
	.covers = true,
	.transient = true,
	.state = sizeof(struct files),
	.draw = files_draw,
	.move = files_move,
	.click = files_click,
};
