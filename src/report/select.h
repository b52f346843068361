/* select: the selected signals and time ranges of a trace. */
#ifndef NVMTOP_REPORT_SELECT_H
#define NVMTOP_REPORT_SELECT_H

#include "report/report.h"

/* From a mark to the next one. */
struct epoch {
	uint64_t id; /* of the mark that it begins with; 0: before the first */
	char label[sizeof(((struct mark *)NULL)->label)];
	int64_t from_ns, to_ns;
	int64_t end_ns; /* its rows are older than this: to_ns, or just behind the last row */
};

struct epochs {
	struct epoch *list;
	size_t n;
};

/* The selected epochs, cut to --from and --to, oldest first. */
int epochs_find(const struct trace *t, const struct selection *p, struct epochs *out, struct err *e);
void epochs_free(struct epochs *l);

/* Indices of the selected channels, in the order of the session; each
 * pattern must name one that is there. */
struct channels {
	size_t *list;
	size_t n;
};
int channels_find(const struct trace *t, const struct selection *p, struct channels *out, struct err *e);
void channels_free(struct channels *l);

/* The path for messages and tables. */
const char *shown_path(const struct trace *t, char *out, size_t size);

/* COVER_PERIODS of a tier. */
int64_t cover_ns(const struct session *s, enum tier tier);

#endif
