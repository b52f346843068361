/* processes: the list of processes: its state, its order and its lines. */
#ifndef NVMTOP_UI_PROCESSES_H
#define NVMTOP_UI_PROCESSES_H

#include "ui/layout.h"
#include "ui/ui.h"

#define PROC_DEPTH_MAX 12

enum proc_sort { PROC_BY_GPU, PROC_BY_CPU, PROC_BY_MEMORY, PROC_BY_PID };

/* What is a full bar. */
struct proc_bars {
	double cpu;         /* percent of a core: 100, 200, 400... as the busiest needs */
	double rss_kb, gpu_kb; /* all memory; NaN: not known */
};

/* Where the columns begin, from the left; 0: there is no room for it. */
struct proc_columns {
	int pid, user, state, threads, age, gpu, cpu, memory, command;
	int user_w, bar_w, command_w;
};

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
	bool kernel; /* kernel threads are listed, too */
	bool whole;  /* the chosen one is shown in full below the list */
	bool again; /* the order is to be made anew */
	char filter[32];
	int pid; /* the chosen one, or 0 */
	uint64_t start;
	struct proc_line *line;
	int n, first_y, lines; /* lines: of the screen, for processes */
	int hidden;      /* kernel threads that are not listed */
	uint64_t serial; /* of the reading that the lines are of */
	struct proc_bars bars;
};

/* The n of a list that do most, in the default order without kernel threads; returns how many. */
int processes_busiest(const struct procs_list *l, size_t *at, int n);
/* Make the lines, where a new reading or another order asks for it. */
void processes_order(struct processes *ps, const struct ui_scene *s);

/* processes-draw.c */
struct proc_columns processes_columns(int x, int w);
void processes_bars(const struct ui *u, const struct procs_list *l, struct proc_bars *bars);
/* The headings of numbers; what is sorted by stands out. */
void processes_heads(const struct ui *u, struct canvas *c, const struct proc_columns *k, int y, enum proc_sort sort);
/* Its line: depth of the tree, chosen: over the whole width w. */
void processes_line(const struct ui *u, struct canvas *c, const struct proc_columns *k, const struct proc_bars *bars,
		    const struct proc *p, int depth, int y, bool chosen);
/* Three digits and a unit of 1024; "--" for NaN. */
void processes_memory(char out[16], double kb);
/* "42 s", "3:05", "7:12 h", "12 d"; "--" for NaN. */
void processes_age(char out[16], double s);

/* processes-panel.c: the busiest, in the overview. */
#define PROCESSES_PANEL_LINES 6 /* with its border */
#define PROCESSES_PANEL_SCREEN 50 /* lines of a screen that has room for it */
void processes_panel_draw(struct ui *u, const struct ui_scene *s, struct canvas *c, const struct rect *at);

#endif
