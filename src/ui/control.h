/* control: the lines of the Board view that can be set: the choice of a value, the question, and the line of a trial, a
 * change that is put back unless it is kept. */
#ifndef NVMTOP_UI_CONTROL_H
#define NVMTOP_UI_CONTROL_H

#include "control/control.h"
#include "ui/canvas.h"
#include "ui/keys.h"
#include "ui/layout.h"

#define CONTROL_LINES 32
#define CONTROL_NAME  sizeof(((struct control_item *)NULL)->name)
#define CONTROL_TITLE 64

/* The state of the Board view. */
struct control_lines {
	int height, top, shown; /* lines of the page; its first line on the screen, and how many lines: as last drawn */
	struct {
		char name[CONTROL_NAME];
		struct rect at;        /* y: from the first line of the page */
	} line[CONTROL_LINES];         /* as last drawn */
	int n;
	char chosen[CONTROL_NAME];     /* "": none */
	int at;                        /* in the choice of its values */
	char wanted[96];               /* the value that the question is about */
};

/* "GPU clock" for the setting "clocks.gpu". */
void control_title(char out[CONTROL_TITLE], const char *name);

/* Enter on the chosen line, or on the value that is chosen for it. */
key_handler act_set;
bool control_is_choosing(const struct ui *u);
/* Draws the choice, if it is open, beside its line. */
void control_choice_draw(struct ui *u, const struct ui_scene *s, struct canvas *c, const struct rect *line);

/* Draws the trial in place of the key bar. Returns false if there is none. */
bool control_trial_draw(struct ui *u, const struct ui_scene *s, struct canvas *c);
/* Returns true if the key was for the trial. */
bool control_trial_key(struct ui *u, const struct ui_scene *s, const struct event *ev, struct request *r);

#endif
