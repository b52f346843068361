/* cli: the command line; one file a verb. */
#ifndef NVMTOP_CLI_CLI_H
#define NVMTOP_CLI_CLI_H

#include "app/app.h"

/* 0, or -1 with the error. */
int options_parse(struct options *o, int argc, char **argv, struct err *e);

/* Each returns the exit status. */
int cmd_record(const struct options *o);
int cmd_recover(const struct options *o);
int cmd_once(const struct options *o);
int cmd_boards(const struct options *o);
int cmd_print(const struct options *o);
int cmd_report(const struct options *o);
int cmd_export(const struct options *o);
int cmd_cut(const struct options *o);
int cmd_join(const struct options *o);
int cmd_check(const struct options *o);
int cmd_mark(const struct options *o);
int cmd_config(const struct options *o);

/* A closed or full standard output is an error, not silence. */
int stdout_flush(int status);

/* Run it in a child process, so that a sensor that hangs does not delay the end. Returns the exit
 * status; the output is complete by then. */
int run_apart(int (*what)(const struct options *o), const struct options *o);

#endif
