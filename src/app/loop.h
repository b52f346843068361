/* top: the screen while it is there, which its loop and what is done on request share. */
#ifndef NVMTOP_APP_LOOP_H
#define NVMTOP_APP_LOOP_H

#include "app/settings-merge.h"
#include "app/app.h"
#include "app/files.h"
#include "app/recording.h"
#include "app/settings-save.h"
#include "app/pending-open.h"
#include "app/source.h"

struct top {
	const struct options *o;
	struct app_settings *chosen;
	struct settings_saver *saver; /* once something was changed */
	bool may_not_keep;            /* told that what is changed lasts for this time only */
	struct source source;
	struct recording recording;

	struct term *term;
	struct ui *ui;
	struct canvas canvas;
	struct ui_scene scene;
	struct files files;
	struct pending_open showing; /* what comes onto the screen next */
	struct procs *procs;         /* while somebody has looked at them */
	struct procs_list procs_list;
	char message[sizeof((struct err *)NULL)->text];
	int signals;
	int64_t drawn_ns;
	int64_t repaint_ns; /* somebody else may have written to the terminal; 0: no */
	bool redraw, quit;
};

/* top.c: a line for the person; "" takes it away.  A notify_fn: to is a struct top. */
void top_say(void *to, enum style style, const char *text);
/* Everything of the scene that changes with time, as it is now. */
void top_look(struct top *t);

/* requests.c */
void top_carry_out(struct top *t, const struct request *r);

#endif
