/* view-files: the saved traces, to choose one. */
#include "screen.h"

#include "nvmtop/intl.h"

#include <string.h>

static int files_length(const struct ui *u, const struct ui_scene *s)
{
	(void)u;
	return s->n_files > 100000 ? 100000 : (int)s->n_files;
}

static void settle(struct ui *u, int n, int h)
{
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

static void files_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	int n = files_length(u, s), h = u->at.body.h, x = u->at.name.x, w = c->w - 2 * x;
	int name_w = w > 60 ? w / 2 : w > 40 ? 28 : w;

	if (!n) {
		canvas_text(c, x, u->at.body.y, w, STYLE_DIM,
			    _("There are no saved traces here; r records one."));
		return;
	}
	settle(u, n, h);
	for (int i = 0; i < h && u->over_scroll + i < n; i++) {
		const struct ui_file *f = &s->files[u->over_scroll + i];
		bool chosen = u->over_scroll + i == u->file_at;
		enum style style = chosen ? STYLE_SELECTED : f->readable ? STYLE_TEXT : STYLE_DIM;
		int y = u->at.body.y + i;

		for (int k = 0; chosen && k < w; k++)
			canvas_put(c, x + k, y, style, L' ');
		canvas_put(c, x, y, style, chosen ? L'>' : L' ');
		screen_cut(u, c, x + 2, y, name_w - 3, style, f->name);
		if (w - name_w > 8)
			canvas_text(c, x + name_w, y, w - name_w,
				    chosen        ? STYLE_SELECTED
				    : f->readable ? STYLE_DIM
						  : STYLE_WARN,
				    f->about);
	}
	u->below = n - u->over_scroll - h;
}

static bool files_act(struct ui *u, const struct ui_scene *s, enum action a, struct request *r)
{
	int n = files_length(u, s), page = u->at.body.h > 1 ? u->at.body.h - 1 : 1;

	if (a != ACT_ENTER && !act_lines(a, page))
		return false;
	if (a == ACT_ENTER && u->file_at < n && s->files[u->file_at].readable) {
		r->kind = REQUEST_OPEN;
		memcpy(r->path, s->files[u->file_at].path, sizeof(r->path));
		r->path[sizeof(r->path) - 1] = 0;
	}
	u->file_at += act_lines(a, page);
	settle(u, n, u->at.body.h);
	r->redraw = true;
	return true;
}

/* Once to choose a file, once more to open it. */
static bool files_click(struct ui *u, const struct ui_scene *s, int x, int y, struct request *r)
{
	int at = u->over_scroll + y - u->at.body.y;

	(void)x;
	if (at >= (int)s->n_files)
		return false;
	if (at == u->file_at)
		return files_act(u, s, ACT_ENTER, r);
	u->file_at = at;
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
