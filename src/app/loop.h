/* loop: state of the running screen, shared by its loop and the requests. */
#ifndef NVMTOP_APP_LOOP_H
#define NVMTOP_APP_LOOP_H

#include "app/app.h"
#include "app/files.h"
#include "app/recording.h"
#include "app/settings-file.h"
#include "app/pending-open.h"
#include "app/source.h"

struct top {
	const struct options *o;
	struct app_settings *chosen;
	struct source source;
	struct recording recording;

	struct term *term;
	struct ui *ui;
	struct canvas canvas;
	struct ui_scene scene;
	struct files files;
	struct pending_open showing; /* the trace being opened */
	struct procs *procs;         /* NULL until a view shows them */
	char message[sizeof((struct err *)NULL)->text];
	int signals;
	int64_t drawn_ns;
	int64_t repaint_ns; /* when to repaint, because another program wrote to the terminal; 0: never */
	bool redraw, quit;
};

/* Show a message; "" removes it.  A notify_fn: to is a struct top. */
void top_say(void *to, enum style style, const char *text);
/* Update everything in the scene that changes with time. */
void top_look(struct top *t);

/* requests.c */
void top_carry_out(struct top *t, const struct request *r);

#endif
