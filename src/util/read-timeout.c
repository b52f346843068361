/* A driver can block a read for as long as it likes, and nothing ends a read that the kernel is
 * in.  While a board is detected a job makes each read, and is abandoned when it hangs: nvmtop
 * starts all the same and reports which file it was.  Never on the sampling path. */
#include "util/read-timeout.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/descriptors.h"
#include "util/job.h"

#define FIRST_NS NS_PER_S
#define THEN_NS  (NS_PER_S / 10)

struct timed_read {
	struct job job;
	int fd; /* a duplicate: the caller may close its own before the read starts */
	size_t size;
	off_t at;
	ssize_t n;
	int error;
	char buf[TIMED_READ_MAX];
};

static _Atomic unsigned hung;

static void run(struct job *j)
{
	struct timed_read *r = (struct timed_read *)j;

	r->n = r->at < 0 ? read(r->fd, r->buf, r->size) : pread(r->fd, r->buf, r->size, r->at);
	r->error = errno;
}

static void drop(struct job *j)
{
	close(((struct timed_read *)j)->fd);
	free(j);
}

static struct timed_read *begin(int fd, size_t size, off_t at)
{
	struct timed_read *r = malloc(sizeof(*r));
	struct err e;

	if (!r)
		return NULL;
	r->size = size < TIMED_READ_MAX ? size : TIMED_READ_MAX;
	r->at = at;
	r->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (r->fd < 0)
		descriptors_note(errno);
	else if (job_start(&r->job, run, drop, &e) == 0)
		return r;
	else
		close(r->fd);
	free(r);
	return NULL;
}

ssize_t timed_read(int fd, void *buf, size_t size, off_t at)
{
	struct timed_read *r = begin(fd, size, at);
	int error = ETIME;
	ssize_t n = -1;

	if (!r)
		return -1;
	if (job_done(&r->job, clock_now_ns() + (hung ? THEN_NS : FIRST_NS))) {
		n = r->n;
		error = r->error;
		if (n > 0)
			memcpy(buf, r->buf, (size_t)n);
		drop(&r->job);
	} else {
		hung++;
		job_cancel(&r->job);
	}
	errno = error;
	return n;
}

unsigned timed_reads_abandoned(void)
{
	return hung;
}
