/* search: finds the next time at which a condition begins to hold. */
#ifndef NVMTOP_UI_SEARCH_H
#define NVMTOP_UI_SEARCH_H

#include "model/condition.h"
#include "ui/canvas.h"

struct ui;
struct ui_scene;

/* The state of the search. */
struct search {
	char text[CONDITION_TEXT]; /* as typed; "": none yet */
	struct condition c;
	bool bound; /* to the current session */
	bool names; /* the text is part of the name of a range */
	int64_t at_ns; /* names were searched up to here */
	bool going, back, again; /* again: wrapped around */
	struct condition_search run;
};

void search_go(struct ui *u, const struct ui_scene *s); /* one step */
void search_forget(struct ui *u); /* another session is shown: bind the condition again */
void search_draw(const struct ui *u, struct canvas *c);

#endif
