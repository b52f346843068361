/* Reads the description of the machine for the Board view and what can be set on it, in a job, because a disk or dpkg's
 * list may take long. */
#include <stdlib.h>
#include <string.h>

#include "app/loop.h"
#include "board/board.h"
#include "control/control.h"
#include "util/job.h"

#define PERIOD_NS (2 * NS_PER_S)

struct machine_reader {
	struct job job;
	struct root *root;
	struct board *board;
	struct machine *read, *shown; /* by the job; by views */
	struct control_list list_read, list_shown;
	int64_t next_ns;
	bool runs;
};

static void read_run(struct job *j)
{
	struct machine_reader *h = (struct machine_reader *)j;

	if (!h->read)
		h->read = calloc(1, sizeof *h->read);
	if (h->read)
		machine_read(h->read, h->root);
	control_list_free(&h->list_read);
	control_list(h->board, h->root, &h->list_read, &(struct err) {.code = ERR_NONE});
}

static void read_drop(struct job *j)
{
	struct machine_reader *h = (struct machine_reader *)j;

	root_close(h->root);
	board_free(h->board);
	free(h->read);
	free(h->shown);
	control_list_free(&h->list_read);
	control_list_free(&h->list_shown);
	free(h);
}

const struct machine *machine_reader_poll(struct machine_reader **at, const struct live *l, int64_t now_ns,
					  const struct control_list **control)
{
	struct machine_reader *h = *at;

	if (!h) {
		h = *at = calloc(1, sizeof *h);
		if (!h)
			return NULL;
		h->root = root_hold(l->root);
		h->board = board_hold(l->board);
	}
	if (h->runs && job_done(&h->job, 0)) {
		h->runs = false;
		struct machine *read = h->read;
		struct control_list list = h->list_read;
		h->read = h->shown;
		h->shown = read;
		h->list_read = h->list_shown;
		h->list_shown = list;
	}
	if (!h->runs && now_ns >= h->next_ns) {
		h->next_ns = now_ns + PERIOD_NS;
		h->runs = job_start(&h->job, read_run, read_drop, NULL) == 0;
	}
	*control = h->shown ? &h->list_shown : NULL;
	return h->shown;
}

void machine_reader_hurry(struct machine_reader *h)
{
	if (h)
		h->next_ns = 0;
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
