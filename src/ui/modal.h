/* modal: a prompt or question that takes the keys until it is closed. It is drawn in place of the key bar. */
#ifndef NVMTOP_UI_MODAL_H
#define NVMTOP_UI_MODAL_H

#include "model/condition.h"
#include "ui/canvas.h"

struct ui;
struct ui_scene;
struct event;
struct request;

struct modal {
	/* Returns false if it does not handle the key. */
	bool (*key)(struct ui *u, const struct ui_scene *s, const struct event *ev, struct request *r);
	/* Returns false if there is nothing to ask any more. */
	bool (*draw)(struct ui *u, const struct ui_scene *s, struct canvas *c);
	/* Any key or press closes it. It gets the key only if the last frame showed the question. */
	bool question;
};

#define MODALS_MAX 4

struct modals {
	struct {
		const struct modal *modal;
		const struct view *view; /* NULL, or the modal is closed with this view */
	} stack[MODALS_MAX];
	int n;
	bool asked; /* the last frame showed the question on top */
};

/* view: NULL, or the view it belongs to. False: no line to show it in, or too many are open. */
bool modal_open(struct ui *u, const struct modal *m, const struct view *view);
const struct modal *modal_top(const struct ui *u); /* NULL: none */
void modal_close(struct ui *u);                    /* the one on top */

/* A line of text input. */
struct prompt {
	const char *title; /* to be translated */
	size_t room;       /* bytes, including the final 0 */
	/* Examples (not translated) or keys, separated by three blanks; as many as fit are shown. */
	const char *examples, *hint;
	bool backs_out; /* Backspace closes it when it is empty */
	/* Enter; or NULL. False: the text is invalid, and u->line.wrong says why. */
	bool (*enter)(struct ui *u, const struct ui_scene *s, struct request *r);
	void (*changed)(struct ui *u, const char *text); /* NULL, or called at each key; Esc: "" */
};

struct prompt_line {
	const struct prompt *prompt;
	char text[CONDITION_TEXT];
	char wrong[256];
	int64_t t_ns; /* of the key that opened it */
};

/* text: the initial text. */
bool prompt_open(struct ui *u, const struct prompt *p, const char *text, int64_t t_ns, const struct view *view);

#endif
