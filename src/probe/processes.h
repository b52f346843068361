/* procs: the processes of this machine, their CPU load, memory and GPU memory. */
#ifndef NVMTOP_PROBE_PROCESSES_H
#define NVMTOP_PROBE_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/root.h"

/* What is not known is NaN. */
struct proc {
	int pid, parent;
	uint64_t start;		/* clock ticks after boot: identifies a process together with its pid */
	char name[64];		/* printable; of a kernel thread in brackets */
	char user[32];		/* printable; the number where it has no name */
	char state;		/* R, S, D, T, Z, ... as proc(5) has it */
	bool self;		/* nvmtop itself */
	bool gpu;		/* it is known to use the GPU */
	double cpu;		/* percent of one core since the reading before; NaN at the first */
	double rss_kb;
	double gpu_kb;		/* memory that it has mapped for the GPU */
	long threads;
	uint64_t ticks;		/* of CPU time, since its start */
};

struct procs_list {
	uint64_t serial;	/* of the reading */
	size_t n;
	struct proc *procs;	/* in order of pid */
	char gpu_missing[200];	/* "" or why nothing is known about the GPU, and what would unlock it */
	double interval_s;	/* that cpu is about */
	double cost_ms;		/* of CPU time, to read it */
};

/* Reads nothing yet. */
struct procs *procs_open(struct root *root, struct err *e);
void procs_close(struct procs *p);	/* NULL is fine */

/* To be called while a view shows them: a job reads every 1.5 s.  The newest reading,
 * valid until the next call; its serial is 0 and n 0 while there is none. */
const struct procs_list *procs_poll(struct procs *p);
/* One reading, now, in this thread; NULL: out of memory. */
const struct procs_list *procs_read(struct procs *p);

/* Send a signal to exactly that process: one that has ended and whose number
 * another has taken is not hit.  -1 with the sentence. */
int procs_signal(int pid, uint64_t start, int sig, struct err *e);

/* Parse /proc/PID/stat; ticks gets utime + stime.  False: it is none. */
bool proc_stat_parse(const char *text, size_t len, struct proc *out, uint64_t *ticks);
/* A line of the table of nvmap's clients: the pid and its KiB.  False: a heading, a
 * total, or of the kernel. */
bool proc_nvmap_parse(const char *line, size_t len, int *pid, double *kb);

#endif
