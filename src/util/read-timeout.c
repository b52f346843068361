/* A driver can hold a read for as long as it likes, and nothing ends a read that the
 * kernel is in.  While a board is looked at for the first time another thread makes
 * the reads, and is left to its fate when one hangs: so that nvmtop starts all the
 * same and can say which file it was.  Never on the sampling path. */
#include "util/read-timeout.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/descriptors.h"
#include "util/thread.h"

#define FIRST_NS NS_PER_S
#define THEN_NS  (NS_PER_S / 10)

struct reader {
	pthread_mutex_t lock;
	pthread_cond_t asked, answered;
	enum { IDLE, ASKED, ANSWERED, LEFT } state;
	int fd; /* its own: who asked may close theirs before it has begun to read */
	size_t size;
	off_t at;
	ssize_t n;
	int error;
	char buf[TIMED_READ_MAX];
};

static struct {
	pthread_mutex_t lock; /* one read at a time */
	struct reader *reader;
	unsigned hung;
} patient = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *reader_run(void *arg)
{
	struct reader *r = arg;

	pthread_mutex_lock(&r->lock);
	while (r->state != LEFT) {
		if (r->state != ASKED) {
			pthread_cond_wait(&r->asked, &r->lock);
			continue;
		}
		pthread_mutex_unlock(&r->lock);
		ssize_t n = r->at < 0 ? read(r->fd, r->buf, r->size) : pread(r->fd, r->buf, r->size, r->at);
		int error = errno;
		close(r->fd);
		pthread_mutex_lock(&r->lock);
		r->n = n;
		r->error = error;
		if (r->state == ASKED)
			r->state = ANSWERED;
		pthread_cond_signal(&r->answered);
	}
	pthread_mutex_unlock(&r->lock);
	pthread_cond_destroy(&r->answered);
	pthread_cond_destroy(&r->asked);
	pthread_mutex_destroy(&r->lock);
	free(r);
	return NULL;
}

static struct reader *reader_new(void)
{
	struct reader *r = calloc(1, sizeof *r);
	pthread_t thread;

	if (!r)
		return NULL;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->asked, NULL);
	thread_cond_init(&r->answered);
	int failed = thread_start(&thread, reader_run, r);
	if (!failed) {
		pthread_detach(thread);
		return r;
	}
	free(r);
	errno = failed;
	return NULL;
}

/* With its lock held: until it has answered, or no longer. */
static bool wait_for(struct reader *r)
{
	int64_t until = clock_now_ns() + (patient.hung ? THEN_NS : FIRST_NS);

	while (r->state == ASKED && thread_wait(&r->answered, &r->lock, until))
		continue;
	return r->state == ANSWERED;
}

static ssize_t ask(struct reader *r, int fd, void *buf, size_t size, off_t at)
{
	int error = ETIME, own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	ssize_t n = -1;

	if (own < 0) {
		descriptors_note(errno);
		return -1;
	}
	pthread_mutex_lock(&r->lock);
	r->fd = own;
	r->size = size;
	r->at = at;
	r->state = ASKED;
	pthread_cond_signal(&r->asked);
	if (wait_for(r)) {
		r->state = IDLE;
		n = r->n;
		error = r->error;
		if (n > 0)
			memcpy(buf, r->buf, (size_t)n);
	} else {
		r->state = LEFT;
		patient.hung++;
		patient.reader = NULL;
	}
	pthread_mutex_unlock(&r->lock);
	errno = error;
	return n;
}

ssize_t timed_read(int fd, void *buf, size_t size, off_t at)
{
	ssize_t n = -1;
	int error;

	pthread_mutex_lock(&patient.lock);
	if (!patient.reader)
		patient.reader = reader_new();
	if (patient.reader)
		n = ask(patient.reader, fd, buf, size < TIMED_READ_MAX ? size : TIMED_READ_MAX, at);
	error = errno;
	pthread_mutex_unlock(&patient.lock);
	errno = error;
	return n;
}

unsigned timed_reads_abandoned(void)
{
	unsigned n;

	pthread_mutex_lock(&patient.lock);
	n = patient.hung;
	pthread_mutex_unlock(&patient.lock);
	return n;
}

void timed_read_end(void)
{
	struct reader *r;

	pthread_mutex_lock(&patient.lock);
	r = patient.reader;
	patient.reader = NULL;
	pthread_mutex_unlock(&patient.lock);
	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->state = LEFT;
	pthread_cond_signal(&r->asked);
	pthread_mutex_unlock(&r->lock);
}
