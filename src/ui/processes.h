/* processes: the list of processes: state, order and lines. */
#ifndef NVMTOP_UI_PROCESSES_H
#define NVMTOP_UI_PROCESSES_H

#include "ui/layout.h"
#include "ui/ui.h"

#define PROC_DEPTH_MAX 12

enum proc_sort { PROC_BY_GPU, PROC_BY_CPU, PROC_BY_MEMORY, PROC_BY_PID };

/* The value of a full bar. */
struct proc_bars {
	double cpu;         /* percent of one core: 100, 200, 400... by the busiest process */
	double rss_kb, gpu_kb; /* all memory; NaN: not known */
};

/* Positions of the columns, from the left; 0: no room. */
struct proc_columns {
	int pid, user, state, threads, age, gpu, cpu, memory, command;
	int user_w, bar_w, command_w;
};

/* A new list can arrive before it is drawn, so keys and clicks find a process by pid and start,
 * not by line. */
struct proc_line {
	size_t at; /* index into the list `serial` */
	int pid;
	uint64_t start;
	unsigned char depth;
};

struct processes {
	enum proc_sort sort;
	bool tree;
	bool kernel; /* list kernel threads too */
	bool whole;  /* show the full command line of the selected process below the list */
	bool again; /* the order must be recomputed */
	char filter[32];
	int pid; /* the selected process, or 0 */
	uint64_t start;
	struct proc_line *line;
	int n, first_y, lines; /* lines: screen lines for processes */
	int hidden;      /* kernel threads not listed */
	uint64_t serial; /* the reading that the lines belong to */
	struct proc_bars bars;
};

/* Get the n busiest processes, in the default order without kernel threads; returns their number. */
int processes_busiest(const struct procs_list *l, size_t *at, int n);
/* Make the lines if the reading or the order has changed. */
void processes_order(struct processes *ps, const struct ui_scene *s);

/* processes-draw.c */
struct proc_columns processes_columns(int x, int w);
void processes_bars(const struct ui *u, const struct procs_list *l, struct proc_bars *bars);
/* Draw the headings of the numbers; the sort column is highlighted. */
void processes_heads(const struct ui *u, struct canvas *c, const struct proc_columns *k, int y, enum proc_sort sort);
/* Draw the line of a process; depth: in the tree, chosen: highlight the whole width w. */
void processes_line(const struct ui *u, struct canvas *c, const struct proc_columns *k, const struct proc_bars *bars,
		    const struct proc *p, int depth, int y, bool chosen);
/* Three digits and a binary unit; "--" for NaN. */
void processes_memory(char out[16], double kb);
/* "42 s", "3:05", "7:12 h", "12 d"; "--" for NaN. */
void processes_age(char out[16], double s);

/* processes-panel.c: the busiest processes in the overview */
#define PROCESSES_PANEL_LINES 6 /* with border */
#define PROCESSES_PANEL_SCREEN 50 /* minimum screen height in lines */
void processes_panel_draw(struct ui *u, const struct ui_scene *s, struct canvas *c, const struct rect *at);

#endif
