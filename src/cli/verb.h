/* verb: the verbs of the command line, one file each, and the tables of options that they share. */
#ifndef NVMTOP_CLI_VERB_H
#define NVMTOP_CLI_VERB_H

#include <stddef.h>
#include <sys/types.h>

#include "app/app.h"

/* Returns -1 and sets *e if the command line is invalid. */
int options_parse(struct options *o, int argc, char **argv, struct err *e);

/* Runs `what` in a child process, so that a sensor that hangs does not delay the exit. Returns the exit
 * status; the output is complete by then. */
int run_apart(int (*what)(const struct options *o), const struct options *o);
/* Flushes standard output first; otherwise the same as stdout_result(). */
int stdout_flush(int status);

/* Does the command of a recording exist? If not, errno has the reason. */
bool command_find(const char *name);
/* Complains if it does not. Returns the exit status, as of a shell, or 0. */
int command_check(const char *name);
/* Creates the process of a command, which waits for command_release(*go); it exits if *go is closed. group: it leads
 * a process group of its own, which gets the terminal if ours has it.
 * Returns -1 and sets *e on error. If exec fails, the exit status of the child is 126 or 127. */
int command_hold(char **argv, bool group, pid_t *child, int *go, struct err *e);
void command_release(int *go);
/* Makes another process group that of the foreground, if `from` is. */
void terminal_pass(pid_t from, pid_t to);

/* The environment of a program whose NVTX ranges are to be recorded. */
enum { NVTX_LIBRARY, NVTX_FOLDER, NVTX_FILTER, NVTX_VARIABLES };
struct variable {
	const char *name, *value;
};
/* filter: as options.nvtx. Creates the folder. A library that the user has set is kept, with a sentence
 * on standard error. The values are valid until the next call. Returns whether it was kept;
 * -1 and sets *e on error. */
int nvtx_variables(const char *filter, struct variable out[NVTX_VARIABLES], struct err *e);

/* Prints the report of o->files to stdout or stderr. Returns the exit status. */
int report_files(const struct options *o, FILE *out);

/* Sets a mark in the tool of NVTX that this process runs under, and stores its time. Returns -1 and sets *e if there is
 * none. */
int nvtx_mark(const char *label, int64_t *t_ns, struct err *e);
/* The command with which "nsys profile" leaves a mark in its report and in the recording of this process, before its
 * program starts; or argv, if that is another command or its program was not recognized. */
char **nsys_command(char **argv);

struct option_entry;

/* Stores the value of an option (NULL if it takes none) in *o. Returns -1 and sets *e if it is invalid. */
typedef int option_taker(struct options *o, const struct option_entry *t, const char *value, struct err *e);

struct option_entry {
	const char *name;
	const char *argument; /* placeholder in --help; NULL: takes no value; "[=...]": only after =; "A B": take() gets two
				 * words, one after the other */
	const char *help;
	char letter; /* short option; 0: none */
	option_taker *take;
	size_t at;  /* offset of the value in struct options */
	size_t has; /* offset of a bool to set as well; 0: none */
	double least, most;	  /* in seconds for a time (most 0: no maximum), or a number */
	const char *const *words; /* valid words, of value_word() in the order of the enumerators; NULL ends the list */
	const char *wants;	  /* describes valid values in error messages */
};
bool option_value_needed(const struct option_entry *t);

struct option_group {
	const char *title; /* NULL: options of a single verb */
	const struct option_entry *entries;
	size_t n;
};

#define OPTIONS(table) .entries = table, .n = sizeof(table) / sizeof *(table)

struct verb {
	const char *name; /* NULL: the live screen, which needs no verb */
	bool also_option; /* --NAME is its alias */
	const char *operands;
	const char *summary;
	const char *about; /* lines of --help on its operands; NULL: none */
	const struct option_group *groups[12]; /* in addition to the common ones; NULL ends the list */
	const struct option_group *also;       /* accepted with that option, without effect */
	enum mode runs_as;
	bool apart;	  /* runs in a child process: see run_apart() */
	bool takes_signals; /* they stay held until it calls signals_open() */
	bool runs_command;
	/* Assigns the operands, and rejects invalid combinations. */
	int (*finish)(struct options *o, struct err *e);
	int (*run)(const struct options *o); /* returns the exit status */
};

extern const struct verb verb_screen, verb_record, verb_replay, verb_once, verb_boards, verb_mark,
	verb_report, verb_export, verb_cut, verb_check, verb_env, verb_stream, verb_serve,
	verb_control, verb_sweep;

/* All verbs, the screen first; NULL ends the list. */
extern const struct verb *const verbs[];
const struct verb *verb_find(const char *name); /* NULL: no such verb */
void verb_title(const struct verb *v, char *out, size_t size);

/* For the screen, also lists the verbs. */
void verb_help(const struct verb *v, FILE *out);

/* Offset of a member; fails to compile if the type differs. */
#define AT(member, type)                                                                                     \
	(offsetof(struct options, member) + 0 * sizeof _Generic(((struct options *)NULL)->member, type : 0))

#define HAS(member) .has = AT(member, bool)
#define FLAG(member) .take = value_flag, .at = AT(member, bool)
#define TEXT(member) .take = value_text, .at = AT(member, const char *)
#define TIME(member) .take = value_time, .at = AT(member, int64_t)
#define LIMIT(member) .take = value_limit, .at = AT(member, struct trace_limit)
#define NUMBER(member) .take = value_number, .at = AT(member, double)
#define RATE(member) NUMBER(member), .least = 0.1, .most = 10000, .wants = N_("a rate from 0.1 to 10000 per second")
#define COUNT(member, from, to) .take = value_count, .at = AT(member, int), .least = from, .most = to
#define WORD(member, type, list) .take = value_word, .at = AT(member, type), .words = list

/* Store the value in the member that the entry names. */
option_taker value_flag, value_text, value_time, value_limit, value_number, value_count, value_word;

/* Each for one option, with its own members. */
option_taker value_demo, value_print, value_output, value_max_size, value_trigger, value_on,
	value_history, value_interval, value_theme, value_signal, value_ready_fd;
int value_form(struct options *o, const char *value, struct err *e);

extern const struct option_group group_common, group_output, group_sampling, group_priority, group_files, group_keep, group_alerts,
	group_replay, group_drawing, group_settings, group_history, group_signals, group_time, group_nvtx,
	group_items;

/* A word of the command line in printable form, valid until the next call. */
const char *shown_word(const char *word);

/* finish() for verbs without operands, with one file to read (o->input), and with several files to read. */
int operands_none(struct options *o, struct err *e);
int operands_input(struct options *o, struct err *e);
int operands_files(struct options *o, struct err *e);
/* The first operand is read (o->input), the second is written (o->out). */
int operands_in_out(struct options *o, struct err *e);
/* Sets the file to write; fails if there already is one. */
int operand_out(struct options *o, const char *text, struct err *e);
int operand_unexpected(const char *text, struct err *e);

struct option_rule {
	bool broken;
	const char *text;
};
/* Sets *e to ERR_USAGE with the message of the first broken rule. Returns -1 if there is one. */
int rules_check(const struct option_rule *rules, size_t n, struct err *e);
#define RULES(rules, e) rules_check(rules, sizeof(rules) / sizeof *(rules), e)

bool is_stream(const char *path); /* is it "-"? */
int check_alerts(const struct options *o, struct err *e);
int check_pretrigger(const struct options *o, struct err *e);
int check_time(const struct options *o, struct err *e);
int check_files(const struct options *o, struct err *e); /* several: a stream is none of them */

#endif
