/* processes: the state of the list of processes, between its order and its picture. */
#ifndef NVMTOP_UI_PROCESSES_H
#define NVMTOP_UI_PROCESSES_H

#include "ui/ui.h"

#define PROC_DEPTH_MAX 12

enum proc_sort { PROC_BY_GPU, PROC_BY_CPU, PROC_BY_MEMORY, PROC_BY_PID };

/* A newer list can be there before it is drawn: what a key or a click means is found by
 * the process, not by its place. */
struct proc_line {
	size_t at; /* in the list of `serial` */
	int pid;
	uint64_t start;
	unsigned char depth;
};

struct processes {
	enum proc_sort sort;
	bool tree;
	bool again; /* the order is to be made anew */
	char filter[32];
	int pid; /* the chosen one, or 0 */
	uint64_t start;
	struct proc_line *line;
	int n, first_y;
	uint64_t serial; /* of the reading that the lines are of */
};

/* Make the lines, where a new reading or another order asks for it. */
void processes_order(struct processes *ps, const struct ui_scene *s);

#endif
