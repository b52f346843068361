/* stage: replaces src/cmd/top.c, with random scenes, and checks every request and every frame. */
#ifndef TESTS_STAGE_H
#define TESTS_STAGE_H

#include "ui/ui.h"
#include "tape.h"

struct stage {
	struct ui *ui;
	struct canvas canvas; /* the last frame */
	int w, h;             /* current terminal size, possibly not drawn yet */
	struct ui_scene scene;
	bool remote, ended; /* the live source is remote; it has ended */
	bool growing;       /* the trace is still being copied */
	struct tape *live, *trace, *with;
	struct ui_align align;
	struct ui_file *files;
	size_t n_files, unread; /* unread: files not yet found */
	struct procs_list procs;
	char text[8][200]; /* texts used by the scene */
	char message[320];
	int64_t now_ns;
	bool question; /* the last frame asks whether to kill a process, unanswered */
	bool opening;  /* a trace is being opened */
	bool quit;
	uint64_t work; /* tape_asked() before the call that is checked next */
};

/* Like start(): live, one trace or two. kept: settings from the previous run, or NULL. */
void stage_begin(struct stage *st, const struct settings *kept);
void stage_end(struct stage *st);

/* Like take_events() with one event, including its request. */
void stage_give(struct stage *st, const struct event *ev);
/* Like draw() and what follows it. */
void stage_frame(struct stage *st);

/* The disk responds: with one more file of the list, or the trace to be opened. */
void stage_answer(struct stage *st);

/* One of the scene's texts, with new content; and the message line. */
const char *stage_name(struct stage *st, int i);
void stage_say(struct stage *st, const char *text);

/* The position to report on failure. */
void stage_step(uint64_t run, int step);

#endif
