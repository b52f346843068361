/* job: work that may block on a disk or a driver, done by a thread of its own. */
#ifndef NVMTOP_UTIL_JOB_H
#define NVMTOP_UTIL_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "util/err.h"
#include "util/thread.h"

/* First member of a job; private to job.c. */
struct job {
	void (*run)(struct job *j);
	void (*drop)(struct job *j);
	struct job *next;
	bool done, cancelled;
};

/* Begins a job. drop(j) frees it and its result, on the last thread that uses it. Returns -1 if no thread
 * could be created; the job was not started and still belongs to the caller. */
int job_start(struct job *j, void (*run)(struct job *j), void (*drop)(struct job *j), struct err *e);
/* Waits until the job is done, at most until until_ns of clock_now_ns(). Returns true if it is done; the
 * caller owns it again. */
bool job_done(struct job *j, int64_t until_ns);
/* To be polled by run(). */
bool job_is_cancelled(struct job *j);
/* Discards the job: it is dropped at once if it is done, else when run() returns. */
void job_cancel(struct job *j);

/* A descriptor that is readable if a job has ended since jobs_fd_clear(). -1: not available. */
int jobs_fd(void);
void jobs_fd_clear(void);

/* Waits, at most until until_ns, for cancelled jobs. Returns the number of those that are not done. */
unsigned jobs_abandoned(int64_t until_ns);

#endif
