/* log-bytes: a log as the bytes that a file of it would have. */
#ifndef TEST_LOG_BYTES_H
#define TEST_LOG_BYTES_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "trace/log-out.h"

struct log_made {
	struct sink *sink; /* takes the stream */
	struct log *log;
	struct log_out *out;
	int fd;
};

/* Begins it. options: session, uuid, seq and reason. */
static inline void log_make(struct log_made *m, const struct session *about, const struct log_out_options *options)
{
	struct err e;

	m->fd = memfd_create("log", MFD_CLOEXEC);
	m->log = log_new(&(struct log_bound) {.now = false}, &e);
	m->out = log_out_fd(fcntl(m->fd, F_DUPFD_CLOEXEC, 3), &e);
	if (m->fd < 0 || !m->log || !m->out)
		abort();
	*log_out_options(m->out) = *options;
	log_out_options(m->out)->buffer = SIZE_MAX / 4;
	m->sink = log_sink(m->log);
	if (log_out_begin(m->out, m->log, INT64_MIN, INT64_MAX, &e) < 0 || m->sink->ops->begin(m->sink, about, &e) < 0)
		abort();
}

/* Appends its bytes. end: with what waits in memory, and END. */
static inline void log_made(struct log_made *m, bool end, struct log_bytes *to)
{
	struct log_out_stats stats;
	uint8_t part[4096];
	struct err e;
	ssize_t n;

	if (end)
		m->sink->ops->end(m->sink, NULL);
	while (!end && (log_out_stats(m->out, &stats), stats.queued > 0))
		nanosleep(&(struct timespec) {.tv_nsec = 1000000}, NULL);
	if (!end)
		log_out_discard(m->out);
	else if (log_out_end(m->out, &e) < 0)
		abort();
	log_out_free(m->out);
	log_free(m->log);
	lseek(m->fd, 0, SEEK_SET);
	while ((n = read(m->fd, part, sizeof(part))) > 0)
		log_bytes_put(to, part, (size_t)n);
	close(m->fd);
}

#endif
