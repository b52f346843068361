/* procs: the processes of this machine, their CPU load, memory and GPU memory. */
#ifndef NVMTOP_PROBE_PROCESSES_H
#define NVMTOP_PROBE_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/root.h"

#define PROC_COMMAND 1024	/* bytes; a longer command line ends in "..." */

/* Unknown values are NaN. */
struct proc {
	int pid, parent;
	uint64_t start;		/* clock ticks after boot: identifies a process together with its pid */
	char name[64];		/* printable; that of a kernel thread in brackets */
	char command[PROC_COMMAND]; /* printable, its arguments between blanks; "" if it has none */
	char user[32];		/* printable; the number if it has no name */
	char state;		/* R, S, D, T, Z, ... as in proc(5) */
	bool self;		/* nvmtop itself */
	bool kernel;		/* a kernel thread */
	bool gpu;		/* it is known to use the GPU */
	double cpu;		/* percent of one core since the previous reading; NaN at the first */
	double rss_kb;
	double gpu_kb;		/* memory that it has mapped for the GPU */
	char type[10];		/* what nvmap or NVML calls it: user, compute, graphics; "" */
	int priority;		/* as in top: 20 is usual, less is more urgent */
	long threads;
	double age_s;		/* since its start */
	uint64_t ticks;		/* of CPU time, since its start */
};

struct procs_list {
	uint64_t serial;	/* of the reading */
	size_t n;
	struct proc *procs;	/* in order of pid */
	char gpu_missing[200];	/* "" or why GPU use is unknown, and what would help */
};

/* Reads nothing yet. Returns NULL and sets *e if out of memory. */
struct procs *procs_open(struct root *root, struct err *e);
void procs_close(struct procs *p);	/* NULL is fine */

/* Call while a view shows the processes: a job reads them every 1.5 s. Returns the newest reading, valid
 * until the next call; its serial and n are 0 while there is none. */
const struct procs_list *procs_poll(struct procs *p);
/* Makes one reading in this thread. Returns NULL if /proc cannot be listed or out of memory. */
const struct procs_list *procs_read(struct procs *p);

/* Returns the made-up processes of a demo, t_s seconds after its start. Valid until the next call; not
 * thread-safe. */
const struct procs_list *procs_demo(double t_s);

/* Sends a signal to exactly that process, and not to another one that has its number by now. Returns -1 and
 * sets *e on error. */
int procs_signal(int pid, uint64_t start, int sig, struct err *e);

/* Parses /proc/PID/stat. Returns false if the text is malformed. */
bool proc_stat_parse(const char *text, size_t len, struct proc *out);
/* Makes one printable line of /proc/PID/cmdline, whose arguments end in 0. */
void proc_command_parse(char *text, size_t len, char out[PROC_COMMAND]);
/* Parses a line of the table of nvmap's clients: the pid, its KiB, and what kind of client it is. Returns false for a
 * heading, a total, or a client in the kernel. */
bool proc_nvmap_parse(const char *line, size_t len, int *pid, double *kb, char type[10]);

#endif
