/* verb: what a verb of the command line is, and the tables of options that verbs share.  One file a verb. */
#ifndef NVMTOP_CLI_VERB_H
#define NVMTOP_CLI_VERB_H

#include <stddef.h>
#include <sys/types.h>

#include "app/app.h"

/* 0, or -1 with the error. */
int options_parse(struct options *o, int argc, char **argv, struct err *e);

/* Run it in a child process, so that a sensor that hangs does not delay the end. Returns the exit
 * status; the output is complete by then. */
int run_apart(int (*what)(const struct options *o), const struct options *o);
/* As stdout_result(), of all that was written. */
int stdout_flush(int status);

/* The command of a recording: is there a program of that name?  Otherwise errno has the reason. */
bool command_find(const char *name);
/* 0, and its process; what fails behind the fork is its exit status: 126 or 127. */
int command_start(char **argv, pid_t *child, struct err *e);

struct option_entry;

/* Put the value of an option (NULL where it takes none) into *o; -1 with the sentence. */
typedef int option_taker(struct options *o, const struct option_entry *t, const char *value, struct err *e);

struct option_entry {
	const char *name;
	const char *argument; /* what --help calls its value; NULL: takes none */
	const char *help;
	char letter; /* its short form; 0: has none */
	option_taker *take;
	size_t at;  /* the place of the value in struct options */
	size_t has; /* of a bool that is set with it; 0: none */
	double least, most;	  /* of a time in seconds (most 0: any), or of a number */
	const char *const *words; /* what it is one of: enumerators from 0 on; NULL behind the last */
	const char *wants;	  /* for the sentence about any other value */
};

struct option_group {
	const char *title; /* NULL: the options of one verb only */
	const struct option_entry *entries;
	size_t n;
};

#define OPTIONS(table) .entries = table, .n = sizeof(table) / sizeof *(table)

struct verb {
	const char *name; /* NULL: the live screen, which needs no verb */
	const char *mode; /* the option that is its other name, when it is not the name */
	bool mode_value;  /* a word behind that option is the first operand */
	const char *operands;
	const char *summary;
	const struct option_group *groups[12]; /* in addition to the common ones; NULL ends the list */
	const struct option_group *also;       /* accepted with the mode option, without effect */
	enum mode runs_as;
	bool apart;	  /* runs in a child process: see run_apart() */
	bool takes_marks; /* SIGUSR1 and SIGUSR2 stay blocked until it reads them */
	bool runs_command;
	/* Give the operands their place, and refuse what makes no sense together. */
	int (*finish)(struct options *o, struct err *e);
	int (*run)(const struct options *o); /* the exit status */
};

extern const struct verb verb_screen, verb_record, verb_replay, verb_recover, verb_once, verb_boards, verb_mark,
	verb_report, verb_export, verb_cut, verb_join, verb_check, verb_config;

/* All of them, the screen first; NULL behind the last. */
extern const struct verb *const verbs[];
const char *verb_mode(const struct verb *v); /* its option's name; NULL: it has none */
const struct verb *verb_find(const char *name); /* NULL: no verb has that name */
void verb_title(const struct verb *v, char *out, size_t size);

/* Without a verb (the screen) a list of the verbs, too. */
void verb_help(const struct verb *v, FILE *out);

/* The place of a member; one of another type does not compile. */
#define AT(member, type)                                                                                     \
	(offsetof(struct options, member) + 0 * sizeof _Generic(((struct options *)NULL)->member, type : 0))

#define HAS(member) .has = AT(member, bool)
#define FLAG(member) .take = value_flag, .at = AT(member, bool)
#define TEXT(member) .take = value_text, .at = AT(member, const char *)
#define TIME(member) .take = value_time, .at = AT(member, int64_t)
#define NUMBER(member) .take = value_number, .at = AT(member, double)
#define RATE(member) NUMBER(member), .least = 0.1, .most = 10000, .wants = N_("a rate from 0.1 to 10000 per second")
#define WORD(member, type, list) .take = value_word, .at = AT(member, type), .words = list

/* Into the member that the entry names. */
option_taker value_flag, value_text, value_time, value_number, value_word;

/* Each for one option, into the members that are its own. */
option_taker value_demo, value_print, value_output, value_split, value_max_size, value_trigger, value_tier,
	value_history, value_interval, value_theme, value_nice, value_pid;
int value_form(struct options *o, const char *value, struct err *e);

extern const struct option_group group_common, group_output, group_sampling, group_priority, group_files, group_keep,
	group_replay, group_drawing, group_settings, group_history, group_signals, group_time;

/* A word of the command line as a message may print it, until the next call. */
const char *shown_word(const char *word);

/* finish() for those without operands, with one file to read (its input), and with files to read. */
int operands_none(struct options *o, struct err *e);
int operands_input(struct options *o, struct err *e);
int operands_files(struct options *o, struct err *e);
/* The first is read (its input), the second is where the result goes. */
int operands_in_out(struct options *o, struct err *e);
/* The options as parsed: a single instance. */
int operand_out(struct options *o, const char *text, struct err *e);
int operand_unexpected(const char *text, struct err *e);

struct option_rule {
	bool broken;
	const char *text;
};
/* ERR_USAGE with the sentence of the first rule that is broken. */
int rules_check(const struct option_rule *rules, size_t n, struct err *e);
#define RULES(rules, e) rules_check(rules, sizeof(rules) / sizeof *(rules), e)

bool is_stream(const char *path); /* "-" */
int check_pretrigger(const struct options *o, struct err *e);
int check_time(const struct options *o, struct err *e);

#endif
