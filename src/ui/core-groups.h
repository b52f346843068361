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

/* Is core n one of "cpu0,3-5", the label of a clock? */
bool cores_list_has(const char *label, int64_t n);
/* Fills groups in the order of their clocks and returns how many there are. Cores without a clock, and those
 * of more clocks than fit, are the last group. */
int core_groups(const struct session *about, struct core_group groups[CORE_GROUPS_MAX]);
/* The text for a core without a load: "off" while other cores have one, else "--". */
const char *core_no_load(struct ui *u, const struct ui_scene *s);

#endif
