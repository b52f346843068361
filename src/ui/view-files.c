/* view-files: the saved traces, to choose one. */
#include "ui/screen.h"

#include "util/intl.h"

#include <string.h>

static int files_length(const struct ui *u, const struct ui_scene *s)
{
	(void)u;
	return s->n_files > 100000 ? 100000 : (int)s->n_files;
}

/* The last line is for what is still to come. */
static int list_lines(const struct ui *u, const struct ui_scene *s)
{
	return s->files_at && u->at.body.h > 0 ? u->at.body.h - 1 : u->at.body.h;
}

/* Where the one that a person has chosen is by now: others are found while it is. */
static void follow(struct ui *u, const struct ui_scene *s)
{
	if (u->files_serial == s->files_serial)
		return;
	u->files_serial = s->files_serial;
	for (size_t i = 0; u->file_chosen[0] && i < s->n_files; i++)
		if (!strcmp(s->files[i].path, u->file_chosen))
			u->file_at = (int)i;
}

static void settle(struct ui *u, const struct ui_scene *s)
{
	int n = files_length(u, s), h = list_lines(u, s);

	follow(u, s);
	if (u->file_at >= n)
		u->file_at = n - 1;
	if (u->file_at < 0)
		u->file_at = 0;
	if (u->over_scroll > u->file_at)
		u->over_scroll = u->file_at;
	if (u->over_scroll < u->file_at - h + 1)
		u->over_scroll = u->file_at - h + 1;
	if (u->over_scroll < 0)
		u->over_scroll = 0;
}

static void choose(struct ui *u, const struct ui_scene *s, int at)
{
	u->file_at = at;
	settle(u, s);
	if (u->file_at < files_length(u, s))
		memcpy(u->file_chosen, s->files[u->file_at].path, sizeof(u->file_chosen));
}

/* What is still to come, and the file that is waited for. */
static void draw_reading(struct ui *u, const struct ui_scene *s, struct canvas *c, int y, int w)
{
	char text[192];

	if (s->files_at[0])
		snprintf(text, sizeof(text), _("Reading this folder: %s"), s->files_at);
	else
		snprintf(text, sizeof(text), "%s", _("Reading this folder."));
	screen_cut(u, c, u->at.name.x, y, w, STYLE_WARN, text);
}

static void draw_file(struct ui *u, const struct ui_file *f, struct canvas *c, int y, int w, bool chosen)
{
	int x = u->at.name.x, name_w = w > 60 ? w / 2 : w > 40 ? 28 : w;
	enum style style = chosen ? STYLE_SELECTED : f->readable || f->folder ? STYLE_TEXT : STYLE_DIM;

	for (int k = 0; chosen && k < w; k++)
		canvas_put(c, x + k, y, style, L' ');
	canvas_put(c, x, y, style, chosen ? L'>' : L' ');
	screen_cut(u, c, x + 2, y, name_w - 3, style, f->name);
	if (w - name_w > 8)
		screen_cut(u, c, x + name_w, y, w - name_w,
			   chosen        ? STYLE_SELECTED
			   : f->readable || f->folder ? STYLE_DIM
					 : STYLE_WARN,
			   f->about);
}

static void files_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	int n = files_length(u, s), h = list_lines(u, s), y = u->at.body.y, w = c->w - 2 * u->at.name.x;

	settle(u, s);
	for (int i = 0; i < h && u->over_scroll + i < n; i++)
		draw_file(u, &s->files[u->over_scroll + i], c, y++, w, u->over_scroll + i == u->file_at);
	if (s->files_at)
		draw_reading(u, s, c, y, w);
	else if (!n || s->files[0].folder)
		canvas_text(c, u->at.name.x, y, w, STYLE_DIM,
			    _("There are no saved traces here; r records one."));
	u->below = n - u->over_scroll - h;
}

static bool files_act(struct ui *u, const struct ui_scene *s, enum action a, struct request *r)
{
	int n = files_length(u, s), page = u->at.body.h > 1 ? u->at.body.h - 1 : 1;

	if (a != ACT_ENTER && !act_lines(a, page))
		return false;
	settle(u, s);
	r->redraw = true;
	if (a == ACT_ENTER && u->file_at < n && s->files[u->file_at].folder) {
		r->kind = REQUEST_LIST;
		snprintf(r->path, sizeof(r->path), "%s", s->files[u->file_at].path);
		u->file_chosen[0] = 0;
		u->file_at = 0;
		return true;
	}
	if (a == ACT_ENTER && u->file_at < n && s->files[u->file_at].readable) {
		r->kind = REQUEST_OPEN;
		memcpy(r->path, s->files[u->file_at].path, sizeof(r->path));
		r->path[sizeof(r->path) - 1] = 0;
	}
	choose(u, s, u->file_at + act_lines(a, page));
	return true;
}

/* Once to choose a file, once more to open it. */
static bool files_click(struct ui *u, const struct ui_scene *s, int x, int y, struct request *r)
{
	int line = y - u->at.body.y, at = u->over_scroll + line;

	(void)x;
	if (at >= files_length(u, s) || line >= list_lines(u, s))
		return false;
	if (at == u->file_at)
		return files_act(u, s, ACT_ENTER, r);
	choose(u, s, at);
	return true;
}

const struct view view_files = {
	.name = "files",
	.when = WHEN_FILES,
	.draw = files_draw,
	.act = files_act,
	.length = files_length,
	.click = files_click,
};
