/* analysis: the statistics of a trace, before formatting. */
#ifndef NVMTOP_REPORT_ANALYSIS_H
#define NVMTOP_REPORT_ANALYSIS_H

#include "report/stats.h"
#include "util/json-csv.h"

struct ticks {
	uint64_t rows, late, lost; /* late, lost: ticks without a row */
	uint64_t gaps;
	int64_t longest_ns;
	int64_t span_ns; /* duration of the part between the first and the last row of the trace */
	int64_t hole_ns; /* of that, gaps too long to be covered */
};

/* The channels in the table of phases. */
enum key { KEY_POWER, KEY_GPU, KEY_HOTTEST, KEYS };

/* A phase, or the whole selection. */
struct part {
	struct epoch epoch;
	int64_t duration_ns;
	struct ticks ticks[TIERS];
	struct result *results; /* n_results */
	bool no_memory;         /* it could not be computed, now or before */
};

static inline double seconds_of(const struct part *p)
{
	return (double)p->duration_ns / 1e9;
}

struct analysis {
	struct trace *trace;
	const struct session *session;
	struct channels channels;
	struct epochs epochs;
	struct part whole;
	bool brief;        /* only the keys are selected */
	bool counted;      /* missing ticks are recorded in the trace, not derived from times */
	double per;        /* items per epoch; 0: not given */
	size_t n_results;  /* channels, followed by additional keys */
	size_t at[KEYS];   /* indices of the results of keys; SIZE_MAX: none */
	struct power_parts power;
	size_t power_at[POWER_PARTS]; /* if they add up */
	char power_name[512];
	struct channel total; /* stands for their sum, whose name it has not */
	struct part *kept; /* one per epoch; NULL: too many to keep */
	struct part *now;  /* in that case, the one loaded last */
};

/* Ranges have the joules of these. */
void power_set(struct analysis *a, const struct power_parts *p);
static inline bool power_adds_up(const struct analysis *a)
{
	return a->power.n > 0 && a->power.add_up;
}

struct reading {
	report_progress *progress;
	int64_t ns, done; /* sum over all traces */
};

/* Prepares analyse() and adds the time that it will read, for the progress. */
int analysis_begin(struct analysis *a, struct trace *t, const struct selection *p, double per, bool brief,
		   struct reading *r, struct err *e);
int analyse(struct analysis *a, struct reading *r, struct err *e);
void analysis_free(struct analysis *a);

/* Returns the results of an epoch, valid until the next call. */
const struct part *part_load(const struct analysis *a, size_t epoch);
/* SIZE_MAX: the trace has no such signal. */
static inline size_t key_channel(const struct analysis *a, enum key k)
{
	return a->at[k] == SIZE_MAX ? SIZE_MAX : a->channels.list[a->at[k]];
}
/* Returns NULL if the trace has no such signal. */
const struct result *key_of(const struct analysis *a, const struct part *p, enum key k);

void ticks_count(const struct analysis *a, struct part *p);
void ticks_sum(struct part *whole, const struct part *p);

const struct channel *channel_of(const struct analysis *a, size_t i);
/* For a temperature the last minus the first sample; for a counter the sum of its increases. */
double rise_of(const struct analysis *a, const struct part *p, size_t i);
/* Seconds for which a throttle channel was above 0. */
double throttled_of(const struct analysis *a, const struct part *p, size_t i);
/* The covered time of a channel and the whole span; a counter covers all of it. */
void known_of(const struct analysis *a, const struct part *p, size_t i, double *known_ns, double *span_ns);
/* Minimum covered share from which results are extrapolated to the rest. */
#define KNOWN_ENOUGH 0.99
/* Energy over the whole duration, extrapolated from the covered time. */
double full_energy(const struct part *p, size_t i);
/* The same per item; NaN if too little time is covered. */
double item_energy(const struct analysis *a, const struct part *p, size_t i);
/* Number of --per items in the part; 0: not given. */
double items_of(const struct analysis *a, const struct part *p);

/* "phase 3", "phase 3, inference", "whole". */
void part_title(const struct analysis *a, const struct part *p, char *out, size_t size);

/* A display unit: W for mW, MHz for Hz. */
struct shown {
	const char *unit;
	double factor;
};
struct shown shown_unit(const struct channel *c, double largest);
/* Formats v with the number of decimals appropriate for `largest`. */
size_t shown_text(char *out, double v, double largest);
/* The same with a sign, "" for NaN; out has SIGNED_TEXT bytes. */
#define SIGNED_TEXT 36
void signed_text(char *out, double v, double largest);

/* The output of a report. */
struct page {
	FILE *f;
	bool markdown;
	int room;    /* width of signal names, the same in all tables */
	int columns; /* width of the terminal; 0: no terminal, nothing is left out or shortened */
};
void write_head(const struct page *o, const struct analysis *a); /* before the tables */
void write_phases(const struct page *o, const struct analysis *a); /* one line per phase */
/* Everything about each phase; or the table of the whole, and how to get the rest (which write_more() says). */
void write_parts(const struct page *o, const struct analysis *a);
void write_whole(const struct page *o, const struct analysis *a);
void write_more(FILE *f);
/* What bounds the joules of a channel. */
void write_energy_note(FILE *f, const struct energy_source *s, const char *name);
/* The channels of the whole without a value all or part of the time, with the reasons. */
void write_unmeasured(const struct page *o, const struct analysis *a);
/* Gets the reason why channel i has no value. Returns false if none is known; out then says so. */
bool unmeasured_reason(const struct analysis *a, size_t i, char *out, size_t size);
void write_json(FILE *f, const struct analysis *list, size_t n, size_t n_first);
void write_csv(FILE *f, const struct analysis *list, size_t n, size_t n_first);

/* A table: its columns with their widths (negative: left-aligned) and heads. Cells are filled row by row;
 * the heads are printed before the first row. */
#define TABLE_MOST 9
#define CELL_TEXT  1200
struct table {
	const struct page *page;
	size_t n;
	int wide[TABLE_MOST];
	const char *head[TABLE_MOST];
	unsigned spare;    /* bits of columns that are left out on a narrow terminal, the last one first */
	unsigned left_out; /* those that are */
	size_t rows, filled;
	char cell[TABLE_MOST][CELL_TEXT];
};
void cell_text(struct table *t, const char *text);
void cell_shown(struct table *t, double v, double largest);  /* as shown_text() */
void cell_if(struct table *t, bool known, double v, double largest); /* "" if not known */
void cell_signed(struct table *t, double v, double largest); /* as signed_text() */
void cell_fixed(struct table *t, double v, int decimals);
/* The width of a column with that text, too. */
int room_with(int room, const char *text);

/* Compares the phases of n runs, of which the first n_first are those of the first side; n: there is one side. */
void compare_tables(const struct page *o, bool all, const struct analysis *list, size_t n, size_t n_first);

#endif
