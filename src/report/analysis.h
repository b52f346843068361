/* analysis: the statistics of a trace, before they are formatted. */
#ifndef NVMTOP_REPORT_ANALYSIS_H
#define NVMTOP_REPORT_ANALYSIS_H

#include "report/text.h"
#include "report/stats.h"

struct ticks {
	uint64_t rows, late, lost; /* late, lost: ticks that have no row */
	uint64_t gaps;
	int64_t longest_ns;
	int64_t span_ns; /* of the part, between the first and the last row of the trace */
	int64_t hole_ns; /* of that, without rows for so long that it is not bridged */
};

/* The channels of the table of phases. */
enum key { KEY_POWER, KEY_GPU, KEY_HOTTEST, KEYS };

/* A phase, or the whole selection. */
struct part {
	struct epoch epoch;
	int64_t duration_ns;
	struct ticks ticks[TIERS];
	struct result *results; /* n_results */
};

struct analysis {
	struct trace *trace;
	const struct session *session;
	struct channels channels;
	struct epochs epochs;
	struct part whole;
	bool brief;        /* only the keys are wanted */
	bool counted;      /* missing ticks are listed in the trace, not derived from its times */
	double per;        /* items in each epoch; 0: none */
	size_t n_results;  /* of the channels, and of keys behind them */
	size_t key[KEYS];  /* channels of the trace; SIZE_MAX: none */
	size_t at[KEYS];   /* where their results are */
	struct part *kept; /* one an epoch; NULL: they would be too many */
	struct part *now;  /* else the one that was asked for last */
	bool *no_memory;   /* a part could not be computed */
};

struct reading {
	report_progress *progress;
	uint64_t rows, done; /* of all traces */
};

/* What analyse() will read, for the progress. */
int analysis_begin(struct analysis *a, struct trace *t, const struct selection *p, double per, bool brief,
		   struct reading *r, struct err *e);
int analyse(struct analysis *a, struct reading *r, struct err *e);
void analysis_free(struct analysis *a);

/* The results of an epoch, valid until the next call. */
const struct part *part_load(const struct analysis *a, size_t epoch);
/* NULL: the trace has no such signal. */
const struct result *key_of(const struct analysis *a, const struct part *p, enum key k);

void ticks_count(const struct analysis *a, struct part *p);
void ticks_sum(struct part *whole, const struct part *p);

const struct channel *channel_of(const struct analysis *a, size_t i);
/* Energy in joules of a channel in mW, or NaN. */
double energy_of(const struct analysis *a, const struct part *p, size_t i);
/* It is no further off than so many joules; NaN: how far is not known. */
double within_of(const struct analysis *a, const struct part *p, size_t i);
/* Its mean over the time that is covered, in watts. */
double mean_power(const struct analysis *a, const struct part *p, size_t i);
/* Of a temperature: from the first to the last sample; of a counter: all that it went up. */
double rise_of(const struct analysis *a, const struct part *p, size_t i);
/* Seconds for which a throttle channel was above 0. */
double throttled_of(const struct analysis *a, const struct part *p, size_t i);
/* For how much of a span a channel is known; a counter is at any time. */
void known_of(const struct analysis *a, const struct part *p, size_t i, double *known_ns, double *span_ns);
/* Below that share nothing is concluded from what is known about the rest. */
#define KNOWN_ENOUGH 0.99
/* Its energy over the whole duration, as if it had gone on like where it is known. */
double full_energy(const struct analysis *a, const struct part *p, size_t i);
/* The same of one item; NaN where too little is known. */
double item_energy(const struct analysis *a, const struct part *p, size_t i);
/* Seconds of the part for which nothing is known of the channel's power. */
double uncovered_of(const struct analysis *a, const struct part *p, size_t i);
/* Items of --per in the part; 0: not given. */
double items_of(const struct analysis *a, const struct part *p);

/* "phase 3", "phase 3, inference", "whole". */
void part_title(const struct analysis *a, const struct part *p, char *out, size_t size);

/* A unit for people: W for mW, MHz for Hz. */
struct shown {
	const char *unit;
	double factor;
};
struct shown shown_unit(const struct channel *c, double largest);
/* v with as many decimals as its size bears. */
size_t shown_text(char *out, double v, double largest);
/* The same with its sign, "" for NaN; out has SIGNED_TEXT bytes. */
#define SIGNED_TEXT 36
void signed_text(char *out, double v, double largest);

/* Where the text of a report goes. */
struct page {
	FILE *f;
	bool markdown;
	int room; /* of the names of signals: the same in tables below each other */
};
void write_head(const struct page *o, const struct analysis *a); /* above tables */
void write_phases(const struct page *o, const struct analysis *a); /* one line each */
void write_parts(const struct page *o, const struct analysis *a);
void write_json(FILE *f, const struct analysis *list, size_t n);
void write_csv(FILE *f, const struct analysis *list, size_t n);

/* A table: its columns with their widths (negative: to the left) and heads.  What is put into its
 * cells fills one row after the other; the heads are printed with the first. */
#define TABLE_MOST 9
struct table {
	const struct page *page;
	size_t n;
	int wide[TABLE_MOST];
	const char *head[TABLE_MOST];
	size_t rows, filled;
	char cell[TABLE_MOST][128];
};
size_t text_cells(const char *text); /* columns that it takes: characters */
void cell_text(struct table *t, const char *text);
void cell_shown(struct table *t, double v, double largest);  /* as shown_text() */
void cell_if(struct table *t, bool known, double v, double largest); /* else "" */
void cell_signed(struct table *t, double v, double largest); /* as signed_text() */
void cell_fixed(struct table *t, double v, int decimals);
/* The width, at least `least`, at which no two names are cut to the same text. */
int names_room(const char *const *names, size_t n, int least);

/* Comparison of several traces, and of epochs that occur repeatedly. */
void compare_tables(FILE *f, bool markdown, const struct analysis *list, size_t n);

#endif
