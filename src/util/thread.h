/* thread: how threads begin here, and how they wait for each other by the one clock. */
#ifndef NVMTOP_UTIL_THREAD_H
#define NVMTOP_UTIL_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Start run(arg) on a new thread in which all signals are blocked but synchronous faults (SIGSEGV,
 * SIGBUS, ...): other signals go to the thread that reads them, SIGXFSZ and SIGPIPE to none. A handler
 * with SA_ONSTACK has an alternate stack there while run() runs, which must therefore return and not
 * call pthread_exit(). Returns 0, or what pthread_create() returns. */
int thread_start(pthread_t *out, void *(*run)(void *), void *arg);

/* Is that thread of this process asleep in the kernel, and not only kept from a core? */
bool thread_sleeps(pid_t thread);

/* A flag is 0 until it is set. */
void thread_flag_set(_Atomic uint32_t *flag);
/* Wait until it is set, at most until until_ns (CLOCK_MONOTONIC). May return early: the caller checks
 * again. */
void thread_flag_wait(const _Atomic uint32_t *flag, int64_t until_ns);

/* For thread_wait().  Returns 0, or an error number.  Ended by pthread_cond_destroy(). */
int thread_cond_init(pthread_cond_t *c);

/* With the lock held: wait for c, until until_ns of clock_now_ns() at the latest.
 * False: that time has come. */
bool thread_wait(pthread_cond_t *c, pthread_mutex_t *lock, int64_t until_ns);

#endif
