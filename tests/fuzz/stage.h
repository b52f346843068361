/* stage: what src/cmd/top.c has around the screen and does with it, with made-up scenes;
 * and what has to be true of each answer and of each picture. */
#ifndef TESTS_STAGE_H
#define TESTS_STAGE_H

#include "ui/ui.h"
#include "tape.h"

struct stage {
	struct ui *ui;
	struct canvas canvas; /* as last drawn */
	int w, h;             /* of the terminal by now; it may not have been drawn so */
	struct ui_scene scene;
	bool remote, ended; /* what is live comes from elsewhere, until it ends */
	bool growing;       /* the trace is still being copied */
	struct tape *live, *trace, *with;
	struct ui_align align;
	struct ui_file *files;
	size_t n_files, unread; /* unread: of those that are there */
	struct procs_list procs;
	char text[8][200]; /* that the scene points to */
	char message[320];
	int64_t now_ns;
	bool question; /* whether to end a process, in the last picture, and no answer yet */
	bool opening;  /* a trace is on its way */
	bool quit;
	uint64_t work; /* tape_asked() before the call that is checked next */
};

/* As start() does: live, or a trace, or two.  kept: what a person had chosen before, or NULL. */
void stage_begin(struct stage *st, const struct settings *kept);
void stage_end(struct stage *st);

/* As take_events() does with one, and with what it asks for. */
void stage_give(struct stage *st, const struct event *ev);
/* As draw() does, and what comes after it. */
void stage_frame(struct stage *st);

/* A disk answers: with a file more of the list, with the trace that is to be opened. */
void stage_answer(struct stage *st);

/* One of its texts, another one by now; and the line for the person. */
const char *stage_name(struct stage *st, int i);
void stage_say(struct stage *st, const char *text);

/* Where this is, for what is told when something is wrong. */
void stage_step(uint64_t run, int step);

#endif
