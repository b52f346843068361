/* procs: who uses this machine: the processes, what they take of the CPU, of
 * memory and of the GPU. */
#ifndef NVMTOP_PROBE_PROCESSES_H
#define NVMTOP_PROBE_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/root.h"

/* What is not known is NaN. */
struct proc {
	int pid, parent;
	uint64_t start;		/* clock ticks after boot: with the pid it is one process for ever */
	char name[64];		/* printable; of a kernel thread in brackets */
	char user[32];		/* printable; the number where it has no name */
	char state;		/* R, S, D, T, Z, ... as proc(5) has it */
	bool self;		/* nvmtop itself */
	bool gpu;		/* it is known to use the GPU */
	double cpu;		/* percent of one core since the reading before; NaN at the first */
	double rss_kb;
	double gpu_kb;		/* memory that it has mapped for the GPU */
	long threads;
};

struct procs_list {
	size_t n;
	struct proc *procs;	/* in order of pid */
	char gpu_missing[200];	/* "" or why nothing is known about the GPU, and what would unlock it */
	double interval_s;	/* that cpu is about */
	double cost_ms;		/* of CPU time, to read it */
};

/* Reads nothing yet.  root must outlive it. */
struct procs *procs_open(const struct root *root, struct err *e);
void procs_close(struct procs *p);	/* NULL is fine */

/* Somebody looks: from now on a thread reads every 1.5 s; wanted false: no longer. */
void procs_want(struct procs *p, bool wanted);
/* The newest reading, or one with n 0 while there is none; its number in *serial,
 * which grows: when it is still the one that out has, out stays as it is.  Copied into out, whose procs is reused and grown: free() it at last.
 * -1: out of memory. */
int procs_get(struct procs *p, struct procs_list *out, uint64_t *serial);
/* One reading, now, in this thread; for --print. */
int procs_read(struct procs *p);

/* Send a signal to exactly that process: one that has ended and whose number
 * another has taken is not hit.  -1 with the sentence. */
int procs_signal(int pid, uint64_t start, int sig, struct err *e);

/* Parse /proc/PID/stat; ticks gets utime + stime.  False: it is none. */
bool proc_stat_parse(const char *text, size_t len, struct proc *out, uint64_t *ticks);
/* A line of the table of nvmap's clients: the pid and its KiB.  False: a heading, a
 * total, or of the kernel. */
bool proc_nvmap_parse(const char *line, size_t len, int *pid, double *kb);

#endif
