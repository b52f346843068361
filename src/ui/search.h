/* search: from one moment to the next at which a condition begins to hold. */
#ifndef NVMTOP_UI_SEARCH_H
#define NVMTOP_UI_SEARCH_H

#include "model/condition.h"
#include "ui/canvas.h"

struct ui;
struct ui_scene;

/* Where a condition begins to hold. */
struct search {
	char text[CONDITION_TEXT]; /* as it was typed; "": none yet */
	struct condition c;
	bool bound; /* to the session that is shown */
	bool names; /* of ranges: the text is in one */
	int64_t at_ns; /* up to here they have been looked at */
	bool going, back, again; /* again: it has gone round the end */
	struct condition_search run;
};

void search_go(struct ui *u, const struct ui_scene *s); /* a step of it */
void search_forget(struct ui *u); /* another session is shown: the condition is bound anew */
void search_draw(const struct ui *u, struct canvas *c);

#endif
