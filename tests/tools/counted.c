/* A program that counts the NVTX ranges that it makes: counted FILE WHAT [N]. FILE gets their number, also of a program that
 * is killed.
 *
 *   forks N       a child after the other, each with 5 ranges, one of which it leaves open
 *   processes N   as many children at a time, which all have made a range before the first of them ends
 *   threads N     as many threads at a time
 *   domains N     a range in each of them
 *   deep N        as many ranges, one in the other
 *   many N        one after the other, and half as many by start and end
 *   one           a range, and the end
 *   killed N      one after the other; then one is open, and SIGKILL
 *   steady        without an end, some in each ms
 *   signals N     one after the other, and others in a signal handler
 *   fsize, as, nofile N    the same as processes, with a limit in each child that leaves no place for its file */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../nvtx/nvtx-load.h"

static _Atomic uint64_t *made;
static pthread_barrier_t all_there;

static void push(const char *name)
{
	nvtx.push_a(name);
	++*made;
}

static void range(const char *name)
{
	push(name);
	nvtx.pop();
}

static void many(int n)
{
	for (int i = 0; i < n; i++) {
		range("one of many");
		if (i % 2 == 0) {
			nvtx.end(nvtx.start_a("by start"));
			++*made;
		}
	}
}

static void forks(int n)
{
	for (int i = 0; i < n; i++) {
		if (fork() == 0) {
			push("child");
			for (int k = 0; k < 4; k++)
				range("in it");
			_exit(0);
		}
		wait(NULL);
	}
}

/* The last child takes the place of all: it closes the pipe that the others wait for. */
static void processes(int n, int resource, rlim_t limit)
{
	struct rlimit most;
	int go[2], there[2];
	char byte;

	if (pipe(go) < 0 || pipe(there) < 0)
		exit(1);
	for (int i = 0; i < n; i++) {
		if (fork() != 0)
			continue;
		close(go[1]);
		if (limit && (getrlimit((enum __rlimit_resource)resource, &most) < 0 || (most.rlim_cur = limit, 0) ||
			      setrlimit((enum __rlimit_resource)resource, &most) < 0))
			exit(1);
		push("all are there");
		if (write(there[1], "", 1) != 1 || read(go[0], &byte, 1) != 0)
			exit(1);
		nvtx.pop();
		for (int k = 0; k < 100; k++)
			range("of one of them");
		if (limit)
			_exit(0); /* a leak check cannot run, either */
		exit(0);
	}
	close(there[1]);
	for (int i = 0; i < n; i++)
		if (read(there[0], &byte, 1) != 1)
			exit(1);
	close(go[1]);
	while (wait(NULL) > 0)
		continue;
}

static void *thread(void *unused)
{
	push("of a thread");
	pthread_barrier_wait(&all_there);
	nvtx.pop();
	for (int i = 0; i < 10; i++)
		range("later");
	pthread_barrier_wait(&all_there);
	return unused;
}

static void threads(int n)
{
	pthread_t *id = calloc((size_t)n, sizeof(*id));

	pthread_barrier_init(&all_there, NULL, (unsigned)n);
	for (int i = 0; id && i < n; i++)
		if (pthread_create(&id[i], NULL, thread, NULL) != 0)
			exit(1);
	for (int i = 0; id && i < n; i++)
		pthread_join(id[i], NULL);
	free(id);
}

static void domains(int n)
{
	struct nvtx_attr a = {.version = 3, .size = sizeof(a), .message_type = 1, .message.text = "of a domain"};
	char name[32];

	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "domain %d", i);
		void *d = nvtx.domain_a(name);
		nvtx.domain_push(d, &a);
		++*made;
		nvtx.domain_pop(d);
	}
}

static void deep(int n)
{
	for (int i = 0; i < n; i++)
		push("deep");
	for (int i = 0; i < n; i++)
		nvtx.pop();
	range("after it");
}

static void handler(int number)
{
	(void)number;
	range("in a handler");
}

static void signals(int n)
{
	timer_t timer;
	struct itimerspec often = {{0, 20000}, {0, 20000}};
	struct sigevent how = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};

	signal(SIGUSR1, handler);
	if (timer_create(CLOCK_MONOTONIC, &how, &timer) < 0 || timer_settime(timer, 0, &often, NULL) < 0)
		exit(1);
	many(n);
	timer_delete(timer);
	signal(SIGUSR1, SIG_IGN);
}

int main(int argc, char **argv)
{
	const char *library = getenv("NVTX_INJECTION64_PATH"), *what = argc > 2 ? argv[2] : "";
	int fd = argc > 2 ? open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1, n = argc > 3 ? atoi(argv[3]) : 1;

	if (fd < 0 || ftruncate(fd, sizeof(*made)) < 0 ||
	    (made = mmap(NULL, sizeof(*made), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) == MAP_FAILED || !library ||
	    !nvtx_load(library))
		return 1;
	if (!strcmp(what, "forks"))
		forks(n);
	else if (!strcmp(what, "processes"))
		processes(n, 0, 0);
	else if (!strcmp(what, "fsize"))
		processes(n, RLIMIT_FSIZE, 1000);
	else if (!strcmp(what, "as"))
		processes(n, RLIMIT_AS, 1);
	else if (!strcmp(what, "nofile"))
		processes(n, RLIMIT_NOFILE, 1);
	else if (!strcmp(what, "threads"))
		threads(n);
	else if (!strcmp(what, "domains"))
		domains(n);
	else if (!strcmp(what, "deep"))
		deep(n);
	else if (!strcmp(what, "steady"))
		for (;; nanosleep(&(struct timespec) {.tv_nsec = 1000000}, NULL))
			many(10);
	else if (!strcmp(what, "signals"))
		signals(n);
	else
		many(n);
	if (!strcmp(what, "killed")) {
		push("open");
		raise(SIGKILL);
	}
	return 0;
}
