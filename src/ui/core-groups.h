/* core-groups: which cores share a clock. */
#ifndef NVMTOP_UI_CORE_GROUPS_H
#define NVMTOP_UI_CORE_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct session;
struct ui;
struct ui_scene;

#define CORE_GROUPS_MAX 8
#define CORE_GROUP_MAX  256

struct core_group {
	int clock; /* channel of the clock; -1: unknown */
	size_t core[CORE_GROUP_MAX]; /* channels of the loads */
	int n;
};

/* Returns true if core n is in the label of a clock, such as "cpu0,3-5". */
bool cores_list_has(const char *label, int64_t n);
/* Fills groups in the order of their clocks and returns their number. The last group has the cores without
 * a clock, and those of clocks that do not fit. */
int core_groups(const struct session *about, struct core_group groups[CORE_GROUPS_MAX]);
/* The text for a core without a load: "off" if the other cores have one, else "--". */
const char *core_no_load(struct ui *u, const struct ui_scene *s);

#endif
