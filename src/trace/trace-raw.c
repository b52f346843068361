/* libnvmtop gives rows as version 1 has them: out of a private copy, since a file of the user that is
 * mapped raises SIGBUS when another program truncates it. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/layout.h"
#include "trace/nvmt1.h"
#include "trace/trace-file.h"

static void map_rows(struct trace *t, int fd)
{
	uint64_t at = 0;
	struct stat st;
	void *p;

	for (int i = 0; i < TIERS; i++) {
		t->raw_at[i] = at;
		at += t->rows[i] * row_size[i];
	}
	if (at == 0 || fstat(fd, &st) < 0 || (uint64_t)st.st_size < at)
		return;
	p = mmap(NULL, (size_t)at, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return;
	t->raw = p;
	t->raw_size = (size_t)at;
}

static int copy_rows(struct trace *t, int to)
{
	off_t at = HEADER_SIZE, end = HEADER_SIZE;

	for (int i = 0; i < TIERS; i++)
		end += (off_t)(t->rows[i] * row_size[i]);
	while (at < end) {
		ssize_t n = sendfile(to, t->version1, &at, (size_t)(end - at));

		if (n == 0 || (n < 0 && errno != EINTR))
			return -1;
	}
	return 0;
}

/* A section of the file may be longer than what can be used of it. */
static bool same_counts(const struct trace *t)
{
	struct nvmt1_summary s;

	return nvmt1_peek(t->version1, &s) && !memcmp(s.rows, t->rows, sizeof(s.rows));
}

static void prepare(struct trace *t)
{
	int fd = trace_temporary();

	if (fd < 0)
		return;
	if ((t->version1 >= 0 && same_counts(t) ? copy_rows(t, fd) : nvmt1_pack(t, fd)) == 0)
		map_rows(t, fd);
	close(fd);
}

const void *trace_raw(struct trace *t, enum tier tier, uint64_t *n)
{
	pthread_mutex_lock(&t->raw_lock);
	if (!t->raw)
		prepare(t);
	pthread_mutex_unlock(&t->raw_lock);
	*n = t->raw ? t->rows[tier] : 0;
	return *n > 0 ? t->raw + t->raw_at[tier] : NULL;
}
