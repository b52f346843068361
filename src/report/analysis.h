/* analysis: the numbers of a trace, before they are written down. */
#ifndef REPORT_ANALYSIS_H
#define REPORT_ANALYSIS_H

#include "report/out.h"
#include "report/stats.h"

struct ticks {
	uint64_t rows, late, lost; /* late, lost: ticks that have no row */
	uint64_t gaps;
	int64_t longest_ns;
};

/* An epoch, or all that was picked. */
struct part {
	struct epoch epoch;
	int64_t duration_ns;
	struct ticks ticks[TIERS];
	struct result *results; /* one a channel */
};

struct analysis {
	struct trace *trace;
	const struct session *session;
	struct channels channels;
	struct epochs epochs;
	struct part *parts; /* one an epoch */
	struct part whole;
	bool counted; /* the trace says itself which ticks are missing; else its times do */
	double per;   /* items in each epoch; 0: none */
	size_t total; /* of channels: the board's total power; SIZE_MAX: none */
};

struct reading {
	report_progress *progress;
	uint64_t rows, done; /* of all traces */
};

/* What analyse() will read, for the progress. */
int analysis_begin(struct analysis *a, struct trace *t, const struct pick *p, double per, struct reading *r,
		   struct err *e);
int analyse(struct analysis *a, struct reading *r, struct err *e);
void analysis_free(struct analysis *a);

const struct channel *channel_of(const struct analysis *a, size_t i);
/* Energy in joules of a channel in mW, or NaN. */
double energy_of(const struct analysis *a, const struct part *p, size_t i);
/* Its mean over the time that is covered, in watts. */
double mean_power(const struct analysis *a, const struct part *p, size_t i);
/* Of a temperature: from the first to the last sample. */
double rise_of(const struct analysis *a, const struct part *p, size_t i);
/* Seconds for which a channel that says "throttled" did. */
double throttled_of(const struct analysis *a, const struct part *p, size_t i);
/* Seconds of the part for which nothing is known of the channel's power. */
double uncovered_of(const struct analysis *a, const struct part *p, size_t i);
/* For how many items of --per the part stands; 0: it does not say. */
double items_of(const struct analysis *a, const struct part *p);

/* "epoch 3", "epoch 3, inference", "whole". */
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

void write_tables(struct out *o, const struct analysis *a, bool markdown);
void write_json(struct out *o, const struct analysis *list, size_t n);
void write_csv(struct out *o, const struct analysis *list, size_t n);

/* A line of a table: cells with their widths (negative: to the left). */
void table_line(struct out *o, bool markdown, const char *const *cells, const int *widths, size_t n);
/* Room for names: at least so much, and no two of them look the same when cut to it. */
int names_room(const char *const *names, size_t n, int least);
void table_rule(struct out *o, const int *widths, size_t n); /* Markdown's, below the heads */

/* Comparison of several traces, and of epochs that occur repeatedly. */
void compare_tables(struct out *o, const struct analysis *list, size_t n, bool markdown);
void compare_json(struct out *o, const struct analysis *list, size_t n);
void compare_csv(struct out *o, const struct analysis *list, size_t n);
bool compare_wanted(const struct analysis *list, size_t n); /* is there anything to compare */

#endif
