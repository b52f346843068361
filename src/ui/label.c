/* label: one asks for a mark and then says what it is called.
 *
 * The moment is that of the key; the mark itself is asked for when its name is
 * known, and finds its place all the same. */
#include "ui/screen.h"

#include "util/intl.h"

#include <string.h>

void label_open(struct ui *u, int64_t t_ns, struct request *r)
{
	u->label_ns = t_ns;
	u->label[0] = 0;
	u->labelling = u->at.bar.h > 0;
	if (u->labelling)
		return;
	/* Nowhere to write: the moment is what matters. */
	r->kind = REQUEST_MARK;
	r->t_ns = t_ns;
}

bool label_key(struct ui *u, const struct event *ev, struct request *r)
{
	if (ev->mods & (MOD_CTRL | MOD_ALT))
		return false;
	r->redraw = true;
	if (ev->key == K_ESC && !ev->pasted) {
		u->labelling = false;
	} else if (ev->key == K_ENTER && !ev->pasted) {
		u->labelling = false;
		r->kind = REQUEST_MARK;
		r->t_ns = u->label_ns;
		memcpy(r->label, u->label, sizeof(r->label));
	} else {
		prompt_edit(u->label, sizeof(u->label), ev->key);
	}
	return true;
}

void label_draw(const struct ui *u, struct canvas *c)
{
	int x = u->at.name.x, y = u->at.bar.y, right = c->w - u->at.name.x;
	const char *hint = _("Enter: set the mark   Esc: no mark");

	x += canvas_text(c, x, y, right - x, STYLE_KEY, _("label of the mark:")) + 1;
	x += canvas_text(c, x, y, right - x - 1, STYLE_STRONG, u->label);
	if (x < right)
		canvas_put(c, x, y, STYLE_SELECTED, L' ');
	x += 3;
	if (x + text_width(hint) <= right)
		canvas_text(c, x, y, right - x, STYLE_DIM, hint);
}
