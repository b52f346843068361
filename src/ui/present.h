/* present: the settings of the machine at the playhead, and sensors that do not answer. */
#ifndef NVMTOP_UI_PRESENT_H
#define NVMTOP_UI_PRESENT_H

#include "model/timeline.h"
#include "ui/quantity.h"

struct ui;
struct ui_scene;

#define DEAD_MAX 64
struct present {
	int64_t tick;       /* when this was read */
	const struct session *about;
	struct fact *facts; /* a copy with changes applied; NULL: not read yet */
	size_t n_facts;
	size_t count;       /* of changes up to the playhead */
	int64_t newest_ns;
	struct dead {
		size_t channel;
		char since[QUANTITY_TEXT]; /* when it stopped answering */
	} dead[DEAD_MAX];
	size_t n_dead;
};

bool present_read(struct ui *u, const struct ui_scene *s); /* true: something changed */
void present_forget(struct ui *u); /* when another session is shown */
/* The facts of the session at the playhead. */
const struct fact *present_facts(const struct present *p, const struct session *about);

#endif
