/* present: how the machine was set at the playhead, and which sensors did not answer. */
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
	struct fact *facts; /* its own, as changed; NULL: not read yet */
	size_t n_facts;
	size_t count;       /* of changes up to the playhead */
	int64_t newest_ns;
	struct dead {
		size_t channel;
		char since[QUANTITY_TEXT]; /* it has not answered */
	} dead[DEAD_MAX];
	size_t n_dead;
};

bool present_read(struct ui *u, const struct ui_scene *s); /* true: otherwise than before */
void present_forget(struct ui *u); /* another session is shown */
/* The session's facts as they were then. */
const struct fact *present_facts(const struct present *p, const struct session *about);

#endif
