/* select: the selected signals and time ranges of a trace. */
#ifndef NVMTOP_REPORT_SELECT_H
#define NVMTOP_REPORT_SELECT_H

#include "report/report.h"

/* The time from one mark to the next. */
struct epoch {
	uint64_t id; /* of the mark at its start; 0: before the first mark */
	char label[sizeof(((struct mark *)NULL)->label)];
	int64_t from_ns, to_ns;
	int64_t end_ns; /* rows before this time: to_ns, or just after the last row */
};

struct epochs {
	struct epoch *list;
	size_t n;
};

/* Finds the selected epochs, oldest first, clipped to --from and --to. */
int epochs_find(const struct trace *t, const struct selection *p, struct epochs *out, struct err *e);
/* Index of the last of the epochs from i on that follow without interruption. */
size_t epochs_chain(const struct epochs *l, size_t i);
void epochs_free(struct epochs *l);

/* Numbers of the selected channels in the order of the session. Each pattern must match at least one.
 * channels_select() returns 1 with the pattern that does not in `missing`, or -1 if out of memory. */
struct channels {
	size_t *list;
	size_t n;
};
int channels_select(const struct session *s, const char *select, int tier, struct channels *out, char *missing, size_t size);
int channels_find(const struct trace *t, const struct selection *p, struct channels *out, struct err *e);
void channels_free(struct channels *l);

/* Formats the path for messages and tables. */
const char *shown_path(const struct trace *t, char *out, size_t size);

#endif
