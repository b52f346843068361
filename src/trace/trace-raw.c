/* Provides rows as version 1 has them to libnvmtop, from a private copy: a mapped file of the user raises
 * SIGBUS when another program truncates it. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "trace/layout.h"
#include "trace/log-read.h"
#include "trace/nvmt1.h"
#include "trace/trace-file.h"

static int copy_rows(int from, int to, size_t n)
{
	off_t at = HEADER_SIZE, end = HEADER_SIZE + (off_t)n;

	while (at < end) {
		ssize_t copied = sendfile(to, from, &at, (size_t)(end - at));

		if (copied == 0 || (copied < 0 && errno != EINTR))
			return -1;
	}
	return 0;
}

static void prepare(struct trace *t)
{
	struct trace_summary s;
	/* The sections are copied only if all their rows are usable. */
	bool same = t->version1 >= 0 && nvmt1_peek(t->version1, &s);
	int fd = trace_temporary();
	void *p = MAP_FAILED;

	if (fd < 0)
		return;
	t->packed.size = 0;
	for (enum tier i = 0; i < TIERS; i++) {
		t->packed.at[i] = t->packed.size;
		t->packed.size += (size_t)trace_rows(t, i) * row_size[i];
		same = same && s.rows[i] == trace_rows(t, i);
	}
	if (t->packed.size > 0 && (same ? copy_rows(t->version1, fd, t->packed.size) : nvmt1_rows(t, fd)) == 0)
		p = mmap(NULL, t->packed.size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	t->packed.p = p == MAP_FAILED ? NULL : p;
}

const void *trace_raw(struct trace *t, enum tier tier, uint64_t *n)
{
	pthread_mutex_lock(&t->packed_lock);
	if (!t->packed.p)
		prepare(t);
	pthread_mutex_unlock(&t->packed_lock);
	*n = t->packed.p ? trace_rows(t, tier) : 0;
	return *n > 0 ? t->packed.p + t->packed.at[tier] : NULL;
}
