/* Which settings hold.  What the command line says is for this time only: it is not
 * written into the file unless it was chosen on the screen as well. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/settings-merge.h"
#include "util/intl.h"

static void note(void *to, unsigned line, const char *text)
{
	struct app_settings *c = to;
	const char *slash = strrchr(c->path, '/');
	char name[64];

	if (c->troubles++)
		return;
	slash = slash ? slash + 1 : c->path;
	text_printable(name, sizeof name, slash, strlen(slash));
	snprintf(c->trouble, sizeof c->trouble, "%s:%u: %s", name, line, text);
}

static void override(struct settings *s, const struct options *o)
{
	if (o->has_theme) {
		s->theme = o->term.theme;
		s->ground = o->term.ground;
	}
	if (o->term.no_mouse)
		s->mouse = false;
	if (o->view)
		snprintf(s->view, sizeof s->view, "%s", o->view);
	if (o->frames > 0)
		s->frames = o->frames;
	if (o->has_history) {
		s->history_bytes = o->history.bytes;
		s->history_ns = o->history.span_ns;
	}
}

int app_settings_load(struct app_settings *c, const struct options *o, struct err *e)
{
	const struct conf_reader who = {note, c, ui_view_name};

	c->kept = SETTINGS_DEFAULT;
	c->path[0] = c->trouble[0] = 0;
	c->troubles = 0;
	if (o->config)
		snprintf(c->path, sizeof c->path, "%s", o->config);
	else if (!o->no_config && conf_path(c->path, sizeof c->path) < 0)
		c->path[0] = 0;
	e->code = ERR_NONE;
	if (c->path[0] && conf_load(c->path, o->config != NULL, &c->kept, &who, e) < 0) {
		/* One that was not asked for does not stop anybody. */
		if (o->config)
			return -1;
		snprintf(c->trouble, sizeof c->trouble, "%.255s", e->text);
		c->troubles = 1;
	}
	c->begun = c->kept;
	override(&c->begun, o);
	return 0;
}

static bool same_charts(const struct settings *a, const struct settings *b)
{
	if (a->n_charts != b->n_charts)
		return false;
	for (size_t i = 0; i < a->n_charts; i++) {
		const struct chart_setting *x = &a->charts[i], *y = &b->charts[i];

		if (strcmp(x->view, y->view) || strcmp(x->name, y->name) || x->hidden != y->hidden ||
		    x->lines != y->lines || x->moved != y->moved || (x->moved && strcmp(x->after, y->after)))
			return false;
	}
	return true;
}

static bool same_theme(const struct settings *a, const struct settings *b)
{
	return a->theme == b->theme && a->ground == b->ground;
}

static bool same_history(const struct settings *a, const struct settings *b)
{
	return a->history_bytes == b->history_bytes && a->history_ns == b->history_ns;
}

static bool app_settings_changed(const struct app_settings *c, const struct settings *now)
{
	const struct settings *b = &c->begun;

	return !same_theme(b, now) || b->mouse != now->mouse || strcmp(b->view, now->view) ||
	       b->frames < now->frames || b->frames > now->frames || !same_history(b, now) ||
	       !same_charts(b, now);
}

int app_settings_save(const struct app_settings *c, const struct settings *now, bool again, struct err *e)
{
	struct settings *s;
	int rc;

	if (!c->path[0] || (!again && !app_settings_changed(c, now)))
		return 0;
	s = malloc(sizeof *s);
	if (!s)
		return err_set(e, ERR_FAILED, _("out of memory"));
	*s = *now;
	if (same_theme(now, &c->begun)) {
		s->theme = c->kept.theme;
		s->ground = c->kept.ground;
	}
	if (now->mouse == c->begun.mouse)
		s->mouse = c->kept.mouse;
	if (!strcmp(now->view, c->begun.view))
		memcpy(s->view, c->kept.view, sizeof s->view);
	if (!(now->frames < c->begun.frames) && !(now->frames > c->begun.frames))
		s->frames = c->kept.frames;
	if (same_history(now, &c->begun)) {
		s->history_bytes = c->kept.history_bytes;
		s->history_ns = c->kept.history_ns;
	}
	rc = conf_save(c->path, s, e);
	free(s);
	return rc;
}

void app_settings_options(const struct app_settings *c, const struct options *o, struct ui_options *ui,
			  struct term_options *term)
{
	ui->settings = &c->begun;
	/* A view in the file that there is not (any more) was told, and is no reason to end. */
	ui->view = o->view;
	for (size_t i = 0; !o->view && c->begun.view[0] && ui_view_name(i); i++)
		if (!strcmp(ui_view_name(i), c->begun.view))
			ui->view = c->begun.view;
	ui->frame_ms = c->begun.frames > 0 ? (int)(1000 / c->begun.frames) : 0;
	term->theme = c->begun.theme;
	term->ground = c->begun.ground;
	term->no_mouse = !c->begun.mouse;
}

enum charset charset_of(const struct options *o)
{
	return o->ascii ? CHARSET_ASCII : term_charset();
}
