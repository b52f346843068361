/* Reads what the Board view shows of the machine, in a job, because a disk or dpkg's list may take long. */
#include <stdlib.h>
#include <string.h>

#include "app/loop.h"
#include "util/job.h"

#define PERIOD_NS (2 * NS_PER_S)

struct host_reader {
	struct job job;
	struct root *root;
	struct host read, shown;
	int64_t next_ns;
	bool runs, any;
};

static void read_run(struct job *j)
{
	struct host_reader *h = (struct host_reader *)j;

	host_read(h->root, &h->read);
}

static void read_drop(struct job *j)
{
	struct host_reader *h = (struct host_reader *)j;

	root_close(h->root);
	free(h);
}

const struct host *host_reader_poll(struct host_reader **at, struct root *root, int64_t now_ns)
{
	struct host_reader *h = *at;

	if (!h) {
		h = *at = calloc(1, sizeof *h);
		if (!h)
			return NULL;
		h->root = root_hold(root);
	}
	if (h->runs && job_done(&h->job, 0)) {
		h->runs = false;
		h->shown = h->read;
		h->any = true;
	}
	if (!h->runs && now_ns >= h->next_ns) {
		h->next_ns = now_ns + PERIOD_NS;
		h->runs = job_start(&h->job, read_run, read_drop, NULL) == 0;
	}
	return h->any ? &h->shown : NULL;
}

void host_reader_free(struct host_reader *h)
{
	if (!h)
		return;
	if (h->runs)
		job_cancel(&h->job);
	else
		read_drop(&h->job);
}
