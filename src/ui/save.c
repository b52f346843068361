/* save: the key that saves the screen or the data in view to a file. */
#include "ui/screen.h"

#include "util/intl.h"

/* Export the selection, or the data in view. */
static void export(struct ui *u, struct request *r)
{
	if (!u->extent.any)
		return;
	r->kind = REQUEST_EXPORT;
	r->zoom = u->vp.zoom;
	if (select_get(u, &r->t_ns, &r->to_ns))
		return;
	r->t_ns = viewport_first(&u->vp) * viewport_column_ns(&u->vp);
	r->to_ns = viewport_cell_ns(&u->vp, u->at.chart.w - 1) + 1;
	if (r->t_ns < u->extent.first_ns)
		r->t_ns = u->extent.first_ns;
	if (r->to_ns > u->extent.last_ns + 1)
		r->to_ns = u->extent.last_ns + 1;
}

/* Any other key cancels. */
static bool copy_key(struct ui *u, const struct ui_scene *s, const struct event *ev, struct request *r)
{
	if (ev->pasted || (ev->mods & (MOD_CTRL | MOD_ALT)))
		return false;
	modal_close(u);
	r->svg = ev->key == 's';
	if (r->svg || ev->key == 't')
		r->kind = REQUEST_COPY;
	else if (ev->key == 'c')
		export(u, r);
	return true;
}

static bool copy_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	int x = u->at.name.x, right = c->w - x;
	int64_t from, to;

	x += canvas_text(c, x, u->at.bar.y, right - x, STYLE_KEY, _("save:")) + 2;
	canvas_text(c, x, u->at.bar.y, right - x, STYLE_KEY_TEXT,
		    select_get(u, &from, &to)
			    ? _("c: the selection as CSV   t: the screen as text   s: as SVG   Esc: no")
			    : _("c: data in view as CSV   t: the screen as text   s: as SVG   Esc: no"));
	return true;
}

void act_copy(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	static const struct modal copy = {copy_key, copy_draw, false};

	modal_open(u, &copy, NULL);
}
