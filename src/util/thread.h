/* thread: creates threads, and waits by CLOCK_MONOTONIC. */
#ifndef NVMTOP_UTIL_THREAD_H
#define NVMTOP_UTIL_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Starts run(arg) on a new thread in which all signals are blocked except synchronous faults (SIGSEGV,
 * SIGBUS, ...): other signals go to the thread that reads them, SIGXFSZ and SIGPIPE to none. Returns 0, or
 * the error number of pthread_create(). */
int thread_start(pthread_t *out, void *(*run)(void *), void *arg);

/* Is that thread of this process blocked in the kernel, rather than waiting for a CPU? */
bool thread_sleeps(pid_t thread);

/* A flag is 0 until it is set. */
void thread_flag_set(_Atomic uint32_t *flag);
/* Waits until the flag is set, at most until until_ns (CLOCK_MONOTONIC). May return early: the caller
 * checks again. */
void thread_flag_wait(const _Atomic uint32_t *flag, int64_t until_ns);

/* With the lock held, waits for c, at most until until_ns of clock_now_ns(). Returns false on timeout. */
bool thread_wait(pthread_cond_t *c, pthread_mutex_t *lock, int64_t until_ns);

#endif
