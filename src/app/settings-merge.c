/* An option of the command line overrides a setting for one run: it is saved only when
 * the same setting is changed on the screen. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/settings-merge.h"
#include "app/settings-words.h"
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
		/* A file that the user did not name is no reason to stop. */
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

/* Settings whose text is equal are equal. */
static bool same_value(const struct conf_word *w, const struct settings *a, const struct settings *b)
{
	char x[VALUE_SIZE], y[VALUE_SIZE];

	w->give(a, x);
	w->give(b, y);
	return !strcmp(x, y);
}

static bool changed(const struct settings *begun, const struct settings *now)
{
	for (size_t i = 0; conf_words(i); i++)
		if (!same_value(conf_words(i), begun, now))
			return true;
	return !same_charts(begun, now);
}

int app_settings_save(const struct app_settings *c, const struct settings *now, bool again, struct err *e)
{
	char value[VALUE_SIZE];
	struct settings *s;
	int rc;

	if (!c->path[0] || (!again && !changed(&c->begun, now)))
		return 0;
	s = malloc(sizeof *s);
	if (!s)
		return err_set(e, ERR_FAILED, _("out of memory"));
	*s = *now;
	for (size_t i = 0; conf_words(i); i++) {
		if (!same_value(conf_words(i), &c->begun, now))
			continue;
		conf_words(i)->give(&c->kept, value);
		conf_words(i)->take(s, value);
	}
	rc = conf_save(c->path, s, e);
	free(s);
	return rc;
}

void app_settings_options(const struct app_settings *c, const struct options *o, struct ui_options *ui,
			  struct term_options *term)
{
	ui->settings = &c->begun;
	/* An unknown view in the file was reported when it was read. */
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
