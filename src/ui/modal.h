/* modal: what takes the keys until it is closed: a line that is typed, a question.  It stands in the
 * place of the key bar. */
#ifndef NVMTOP_UI_MODAL_H
#define NVMTOP_UI_MODAL_H

#include "model/condition.h"
#include "ui/canvas.h"

struct ui;
struct ui_scene;
struct event;
struct request;

struct modal {
	/* False: the key is not for it. */
	bool (*key)(struct ui *u, const struct ui_scene *s, const struct event *ev, struct request *r);
	/* False: there is nothing to ask any more. */
	bool (*draw)(struct ui *u, const struct ui_scene *s, struct canvas *c);
	/* Any key or press closes it; only a key that comes after a picture with the question is given to it. */
	bool question;
};

#define MODALS_MAX 4

struct modals {
	struct {
		const struct modal *modal;
		const struct view *view; /* NULL, or closed when another is shown */
	} stack[MODALS_MAX];
	int n;
	bool asked; /* the question on top is in the last picture */
};

/* view: NULL, or the one that it belongs to.  False: there is no line to show it in, or too many are open. */
bool modal_open(struct ui *u, const struct modal *m, const struct view *view);
const struct modal *modal_top(const struct ui *u); /* NULL: none */
void modal_close(struct ui *u);                    /* the one on top */

/* A line that is typed. */
struct prompt {
	const char *title; /* to be translated */
	size_t room;       /* bytes with the 0 */
	/* Examples or keys, three blanks between them, as many as there is room for.  examples are not translated. */
	const char *examples, *hint;
	bool backs_out; /* Backspace closes it when it is empty */
	/* Enter.  False: it is of no use, and u->line.wrong says why. */
	bool (*enter)(struct ui *u, const struct ui_scene *s, struct request *r);
	void (*changed)(struct ui *u, const char *text); /* NULL, or at each key; Esc: "" */
};

struct prompt_line {
	const struct prompt *prompt;
	char text[CONDITION_TEXT];
	char wrong[256];
	int64_t t_ns; /* of the key that opened it */
};

/* text: what stands in it at first. */
bool prompt_open(struct ui *u, const struct prompt *p, const char *text, int64_t t_ns, const struct view *view);

#endif
