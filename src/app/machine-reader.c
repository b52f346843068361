/* Reads the description of the machine for the Board view, in a job, because a disk or dpkg's list may take long. */
#include <stdlib.h>
#include <string.h>

#include "app/loop.h"
#include "util/job.h"

#define PERIOD_NS (2 * NS_PER_S)

struct machine_reader {
	struct job job;
	struct root *root;
	struct machine *read, *shown; /* by the job; by views */
	int64_t next_ns;
	bool runs;
};

static void read_run(struct job *j)
{
	struct machine_reader *h = (struct machine_reader *)j;

	if (!h->read)
		h->read = machine_new();
	if (h->read)
		machine_read(h->read, h->root, NULL, 0);
}

static void read_drop(struct job *j)
{
	struct machine_reader *h = (struct machine_reader *)j;

	root_close(h->root);
	machine_free(h->read);
	machine_free(h->shown);
	free(h);
}

const struct machine *machine_reader_poll(struct machine_reader **at, struct root *root, int64_t now_ns)
{
	struct machine_reader *h = *at;

	if (!h) {
		h = *at = calloc(1, sizeof *h);
		if (!h)
			return NULL;
		h->root = root_hold(root);
	}
	if (h->runs && job_done(&h->job, 0)) {
		h->runs = false;
		struct machine *read = h->read;
		h->read = h->shown;
		h->shown = read;
	}
	if (!h->runs && now_ns >= h->next_ns) {
		h->next_ns = now_ns + PERIOD_NS;
		h->runs = job_start(&h->job, read_run, read_drop, NULL) == 0;
	}
	return h->shown;
}

void machine_reader_free(struct machine_reader *h)
{
	if (!h)
		return;
	if (h->runs)
		job_cancel(&h->job);
	else
		read_drop(&h->job);
}
