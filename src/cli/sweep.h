/* sweep: a command in every combination of settings, and what each of them costs. */
#ifndef NVMTOP_CLI_SWEEP_H
#define NVMTOP_CLI_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "control/control.h"
#include "report/compare.h"
#include "util/err.h"

#define SWEEP_AXES    8
#define SWEEP_CHOICES 64 /* of an axis */
#define SWEEP_ROWS    1000

/* The values of one setting: "gpu=306M,612M". */
struct sweep_axis {
	char word[32]; /* "gpu" */
	const struct control_item *item;
	struct sweep_choice {
		char shown[96]; /* as it was written; of a mode its name */
		char sent[96];	/* in a request; "": as it was before the sweep */
	} list[SWEEP_CHOICES];
	size_t n;
	char now[96]; /* what would be sent for the value before the sweep; "": not known */
};

/* What came of a setting; each is worse than those before. */
enum sweep_result {
	SWEEP_LEFT, /* the sweep ended before */
	SWEEP_RAN,
	SWEEP_UNSETTLED,
	SWEEP_FAILED,	  /* the command, in one of its runs at least */
	SWEEP_UNRECORDED, /* a run was not recorded */
	SWEEP_NOT,	  /* the machine has another value: not run, as with those below */
	SWEEP_REFUSED,
	SWEEP_UNSET
};

struct sweep_row {
	const struct sweep_choice *choice[SWEEP_AXES];
	char name[200]; /* "MAXN gpu=306M" */
	char file[224]; /* its recordings are FOLDER/FILE-1.nvmt and so on */
	bool now;	/* is how the machine was before the sweep */
	enum sweep_result result;
	char why[600];	 /* sentences, with "; " between them */
	int exit_status; /* of the last run in which the command failed */
	size_t failed;	 /* runs of that kind, which do not count */
	struct side seconds, joules, watts, throttled; /* of the runs that have it; throttled: percent of the time, of what
							* throttled longest */
	double within;	 /* joules: the largest error bound of a run; NaN: unknown */
	double hottest;	 /* C, of all runs; NaN: unknown */
	double events;	 /* of throttling; NaN: none are counted here */
	char mark;	 /* '*': none is better in both time and energy; '~': not by more than the runs differ; ' ' */
};

struct sweep_table {
	const struct sweep_axis *axes;
	struct sweep_row *rows;
	size_t n_axes, n_rows;
	double per;	 /* items a run; 0: not given */
	char power[512]; /* whose joules they are */
};

/* Adds a sentence to those of the row. */
void sweep_say(struct sweep_row *row, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds a run to the row. Returns -1 and sets *e if its recording cannot be read. */
int sweep_add(struct sweep_table *t, struct sweep_row *row, const char *file, struct err *e);
/* Sets the marks, of time against energy. */
void sweep_compare(struct sweep_table *t);
void sweep_print(const struct sweep_table *t, FILE *f);
/* Replaces the file; returns -1 and sets *e on error. */
int sweep_csv(const struct sweep_table *t, const char *path, struct err *e);

#endif
