/* thread: how threads begin here, and how they wait for each other by the one clock. */
#ifndef NVMTOP_UTIL_THREAD_H
#define NVMTOP_UTIL_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Begin run(arg) on a thread of its own, in which every signal is blocked but its own
 * faults (SIGSEGV, SIGBUS, ...): the others are those of the thread that looks after
 * them, and SIGXFSZ and SIGPIPE of none.  A handler with SA_ONSTACK has a stack of its
 * own there, for as long as run() lasts: which therefore returns and does not
 * pthread_exit().
 * Returns 0, or what pthread_create() returns. */
int thread_start(pthread_t *out, void *(*run)(void *), void *arg);

/* Is that thread of this process asleep in the kernel, and not only kept from a core? */
bool thread_sleeps(pid_t thread);

/* A flag is 0 until it is set. */
void thread_flag_set(_Atomic uint32_t *flag);
/* Wait until it is, but not past until_ns (CLOCK_MONOTONIC), and perhaps for less: the caller looks again. */
void thread_flag_wait(const _Atomic uint32_t *flag, int64_t until_ns);

/* For thread_wait().  Returns 0, or an error number.  Ended by pthread_cond_destroy(). */
int thread_cond_init(pthread_cond_t *c);

/* With the lock held: wait for c, until until_ns of clock_now_ns() at the latest.
 * False: that time has come. */
bool thread_wait(pthread_cond_t *c, pthread_mutex_t *lock, int64_t until_ns);

#endif
