/* Provides rows as version 1 has them to libnvmtop, from a private file of version 1: a mapped file of the user raises
 * SIGBUS when another program truncates it. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "trace/log-read.h"
#include "trace/nvmt1-file.h"
#include "trace/trace-file.h"

/* Maps a file if it has all rows of the trace. */
static bool map_rows(struct trace *t, int fd)
{
	struct err unheard;
	struct nvmt1 *f = nvmt1_open(fd, t->shown, NULL, NULL, &unheard);
	bool all = f != NULL;
	void *p = MAP_FAILED;

	for (enum tier i = 0; all && i < TIERS; i++) {
		t->packed.at[i] = f->at[i];
		all = f->rows[i] >= trace_rows(t, i);
	}
	if (all)
		p = mmap(NULL, t->packed.size = f->size, PROT_READ, MAP_PRIVATE, fd, 0);
	free(f);
	t->packed.p = p == MAP_FAILED ? NULL : p;
	return t->packed.p != NULL;
}

static void prepare(struct trace *t)
{
	int fd = trace_temporary();
	ssize_t copied = 1;
	off_t at = 0;

	while (fd >= 0 && t->version1 >= 0 && (copied > 0 || (copied < 0 && errno == EINTR)))
		copied = sendfile(fd, t->version1, &at, SIZE_MAX / 2);
	if (fd >= 0 && (copied != 0 || !map_rows(t, fd)) && lseek(fd, 0, SEEK_SET) == 0 && nvmt1_put(t, fd, NULL, NULL) == 0)
		map_rows(t, fd);
	close(fd);
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
