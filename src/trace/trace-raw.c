/* libnvmtop gives rows as version 1 has them: they are mapped from such a file, or packed into
 * a temporary one first. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/layout.h"
#include "trace/nvmt1.h"
#include "trace/trace-file.h"

/* Maps fd, which is taken over, with rows from `at` on. */
static void map_rows(struct trace *t, int fd, uint64_t at)
{
	struct stat st;

	for (int i = 0; i < TIERS; i++) {
		t->raw_at[i] = at;
		at += t->rows[i] * row_size[i];
	}
	if (fstat(fd, &st) == 0 && (uint64_t)st.st_size >= at && at > 0 && map_open(&t->raw, fd, (size_t)at) == 0)
		return;
	close(fd);
}

/* A section of the file may be longer than what can be used of it. */
static bool same_counts(const struct trace *t)
{
	struct nvmt1_summary s;

	return nvmt1_peek(t->version1, &s) && !memcmp(s.rows, t->rows, sizeof(s.rows));
}

static void prepare(struct trace *t)
{
	int fd;

	if (t->version1 >= 0 && same_counts(t)) {
		fd = fcntl(t->version1, F_DUPFD_CLOEXEC, 3);
		if (fd >= 0)
			map_rows(t, fd, HEADER_SIZE);
		return;
	}
	fd = trace_temporary();
	if (fd >= 0 && nvmt1_pack(t, fd) == 0)
		map_rows(t, fd, 0);
	else if (fd >= 0)
		close(fd);
}

const void *trace_raw(struct trace *t, enum tier tier, uint64_t *n)
{
	pthread_mutex_lock(&t->raw_lock);
	if (!t->raw.bytes)
		prepare(t);
	pthread_mutex_unlock(&t->raw_lock);
	*n = t->raw.bytes ? t->rows[tier] : 0;
	return *n > 0 ? t->raw.bytes + t->raw_at[tier] : NULL;
}
