/* options: what an option of the command line is, for the files that make it up:
 * the table, the values and what goes together. */
#ifndef NVMTOP_CLI_OPTIONS_H
#define NVMTOP_CLI_OPTIONS_H

#include <stddef.h>

#include "cli/cli.h"

/* Put the value of an option (NULL where it takes none) into *o; -1 with the sentence. */
typedef int option_taker(struct options *o, const struct option_entry *t, const char *value, struct err *e);

struct option_entry {
	const char *name;     /* NULL: a heading */
	const char *argument; /* what --help calls its value; NULL: takes none */
	const char *help;
	char letter; /* its short form; 0: has none */
	enum mode mode;	    /* what it has the program do; MODE_TOP: it only says how */
	option_taker *take; /* NULL: the mode is all there is to it */
	size_t at;	    /* for value_flag() and its like: the place in struct options */
};

/* Into the member that the entry names. */
option_taker value_flag, value_text, value_hz, value_time;

/* Into the member that the entry names, with "=FILE"; else the next operand is the FILE. */
option_taker value_input;
void option_input(struct options *o, const char *file);

/* Each for one option, into the members that are its own. */
option_taker value_demo, value_print, value_export, value_output, value_duration, value_sync, value_split,
	value_max_size, value_keep, value_trigger, value_format, value_per, value_from, value_tier, value_history,
	value_at, value_frames, value_color, value_theme, value_nice;

/* --to, once it is known what is to be done: a process for --mark, else a time. */
int value_to(struct options *o, struct err *e);

/* ERR_USAGE for a word that is none of the n options of the table, or has a value that it does not take.
 * shown: the word as it may be printed. */
int option_unknown(struct err *e, const struct option_entry *table, size_t n, const char *word, const char *shown);

/* What is left over is where the trace goes: of that there is one. */
int option_operand(struct options *o, const char *text, struct err *e);

/* ERR_USAGE for the first thing that makes no sense together. */
int options_check(const struct options *o, struct err *e);

#endif
