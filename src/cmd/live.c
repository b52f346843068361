/* From options to an engine that samples into a history. */
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "nvmtop/history.h"
#include "nvmtop/intl.h"

struct rig *open_rig(const struct options *o, struct root **root, struct board **board, char *why,
		     size_t size, struct err *e)
{
	char chosen[256] = "";
	struct rig *rig = NULL;

	*board = NULL;
	*root = root_open(o->sysroot, e);
	if (!*root)
		return NULL;
	if (o->board) {
		*board = board_load(o->board, e);
		snprintf(chosen, sizeof chosen, "%s", _("chosen on the command line"));
	} else {
		*board = board_detect(*root, chosen, sizeof chosen, e);
	}
	if (*board)
		rig = board_resolve(*board, *root, o->hz, chosen, e);
	if (!rig) {
		board_free(*board);
		root_close(*root);
		*board = NULL;
		*root = NULL;
		return NULL;
	}
	if (o->gentle)
		rig_be_gentle(rig);
	if (why)
		snprintf(why, size, "%s", chosen);
	return rig;
}

int live_open(struct live *l, const struct options *o, struct err *e)
{
	struct board *board;

	memset(l, 0, sizeof *l);
	struct rig *rig = open_rig(o, &l->root, &board, NULL, 0, e);
	if (!rig)
		return -1;
	board_free(board);
	l->engine = engine_new(rig, o->hz, e);
	if (!l->engine)
		goto failed;
	l->history = history_new(e);
	/* Attached before the first row: one that is older than the attaching is not told. */
	if (!l->history || engine_attach(l->engine, history_sink(l->history), true, e) < 0 ||
	    engine_start(l->engine, e) < 0)
		goto failed;
	return 0;
failed:
	live_close(l);
	return -1;
}

void live_close(struct live *l)
{
	engine_free(l->engine);
	history_free(l->history);
	root_close(l->root);
	memset(l, 0, sizeof *l);
}
