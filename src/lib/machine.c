/* The description of the machine, for programs. */
#include <stdlib.h>
#include <time.h>

#include "board/board.h"
#include "board/machine.h"
#include "lib/lib.h"
#include "util/clock.h"
#include "util/intl.h"

#define LOAD_NS (100 * NS_PER_MS)

/* The CPU load of those that use the GPU needs two readings. */
static const struct procs_list *read_processes(struct procs *procs)
{
	const struct procs_list *list = procs ? procs_read(procs) : NULL;
	bool any = false;

	for (size_t i = 0; list && i < list->n; i++)
		any |= list->procs[i].gpu;
	if (!any)
		return list;
	nanosleep(&(struct timespec) {.tv_nsec = LOAD_NS}, NULL);
	return procs_read(procs);
}

char *nvmtop_machine(int for_others, nvmtop_error *error)
{
	static const double hz[TIERS] = {1000, 100, 10};
	struct err e = {.code = ERR_NONE}, unheard;
	char why[256], *text = NULL;
	size_t size;

	lib_begin();
	struct root *root = root_open(lib_sysroot(), &e);
	struct board *board = root ? board_detect(root, why, sizeof why, &e) : NULL;
	struct probe_set *probes = board ? board_resolve(board, root, hz, why, &e) : NULL;
	struct record to = {.f = probes ? open_memstream(&text, &size) : NULL};
	if (to.f) {
		struct procs *procs = procs_open(root, &unheard);
		root_give_up(true);
		machine_json(&to, NULL,
			     &(struct machine_source) {root, probes->channels, probes->n_channels, read_processes(procs), NULL, NULL},
			     for_others);
		root_give_up(false);
		procs_close(procs);
		if (fclose(to.f) != 0)
			free(text), text = NULL;
	}
	if (probes && !text)
		err_set(&e, ERR_FAILED, _("out of memory"));
	if (probes)
		probe_set_free(probes);
	board_free(board);
	root_close(root);
	lib_error(error, &e);
	return text;
}
