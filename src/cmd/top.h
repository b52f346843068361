/* top: the screen while it is there, which its loop and what is done on request share. */
#ifndef CMD_TOP_H
#define CMD_TOP_H

#include "cmd/chosen.h"
#include "cmd/cmd.h"
#include "cmd/files.h"
#include "cmd/recording.h"
#include "cmd/saver.h"
#include "cmd/showing.h"
#include "cmd/source.h"

struct top {
	const struct options *o;
	struct chosen *chosen;
	struct saver *saver; /* once something was changed */
	bool may_not_keep;   /* told that what is changed lasts for this time only */
	struct source source;
	struct recording recording;

	struct term *term;
	struct ui *ui;
	struct canvas canvas;
	struct ui_scene scene;
	struct files files;
	struct showing showing; /* what comes onto the screen next */
	struct procs *procs; /* while somebody has looked at them */
	struct procs_list procs_list;
	char message[sizeof((struct err *)NULL)->text];
	int signals;
	int64_t drawn_ns;
	int64_t repaint_ns; /* somebody else may have written to the terminal; 0: no */
	bool redraw, quit;
};

/* top.c: a line for the person; "" takes it away.  A teller: to is a struct top. */
void top_say(void *to, enum style style, const char *text);
/* Everything of the scene that changes with time, as it is now. */
void top_look(struct top *t);

/* requests.c */
void top_carry_out(struct top *t, const struct request *r);

#endif
