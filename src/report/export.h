/* export: samples in time order, and the formats they are written in. */
#ifndef NVMTOP_REPORT_EXPORT_H
#define NVMTOP_REPORT_EXPORT_H

#include "report/report.h"
#include "report/select.h"
#include "trace/range-order.h"
#include "util/json-csv.h"

#define RESAMPLED TIERS /* tier of a row that has the values of all tiers */

/* Index of a channel in a row of its tier. */
struct place {
	enum tier tier;
	size_t slot;
	bool single; /* its values are floats */
};

struct export
{
	FILE *f;
	struct trace *trace;
	const struct session *session;
	struct channels channels;
	struct place *places; /* one per channels.list[i] */
	uint64_t epoch; /* of the current rows */
	/* End of a gap in progress; 0: none. */
	int64_t gap_end[TIERS];
	bool has_ranges;
	struct slices *slices; /* of Perfetto */
	int error;	       /* errno of what made the output incomplete */
};

struct row {
	int64_t t_ns;
	int tier; /* or RESAMPLED: values of all channels */
	const double *values; /* spaced by `stride` */
	size_t stride;
};

struct form {
	void (*begin)(struct export *x);
	void (*epoch)(struct export *x, const struct epoch *ep, bool begins);
	void (*row)(struct export *x, const struct row *r);
	void (*mark)(struct export *x, const struct mark *m);
	void (*gap)(struct export *x, const struct gap *g);
	void (*end)(struct export *x);
	void (*change)(struct export *x, const struct change *c);
	void (*range)(struct export *x, const struct range *r); /* in order of begin */
};

extern const char *const gap_causes[]; /* their names */

#define EXPORT_EXTERN(name) extern const struct form form_##name;
EXPORT_FORMS(EXPORT_EXTERN)

/* Stores the value of channels.list[i]. Returns false if rows of that tier do not have it. */
static inline bool row_value(const struct export *x, const struct row *r, size_t i, double *v)
{
	if (r->tier == RESAMPLED)
		*v = r->values[i];
	else if (r->tier == (int)x->places[i].tier)
		*v = r->values[x->places[i].slot * r->stride];
	else
		return false;
	return true;
}

#endif
