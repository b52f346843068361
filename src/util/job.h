/* job: work that may wait for a disk or a driver, done by one of a few threads. */
#ifndef NVMTOP_UTIL_JOB_H
#define NVMTOP_UTIL_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "util/err.h"
#include "util/thread.h"

#define JOBS_MAX 4 /* that run at a time, not counting abandoned ones */

/* The first member of a piece of work; its members are job.c's own. */
struct job {
	void (*run)(struct job *j);
	void (*drop)(struct job *j);
	struct job *next;
	enum { JOB_QUEUED, JOB_RUNS, JOB_DONE } state;
	bool cancelled;
};

/* Queue a job. drop(j) frees it and its result, on the last thread that uses it. -1: no thread could be
 * created; the job was not started and still belongs to the caller. */
int job_start(struct job *j, void (*run)(struct job *j), void (*drop)(struct job *j), struct err *e);
/* Is it done?  Waits for that until until_ns of clock_now_ns().  It is the caller's again then. */
bool job_done(struct job *j, int64_t until_ns);
/* run() polls this from time to time. */
bool job_is_cancelled(struct job *j);
/* Its result is not wanted: it is dropped, at once or when run() returns. */
void job_cancel(struct job *j);
/* The same, but it is run before. */
void job_detach(struct job *j);

/* To poll: readable when a job has ended since jobs_fd_clear(). -1: not available. */
int jobs_fd(void);
void jobs_fd_clear(void);

/* How many that were cancelled or detached still run; waits for them until then. */
unsigned jobs_abandoned(int64_t until_ns);

#endif
