/* command: a program of the user's, found and started. */
#ifndef NVMTOP_CLI_COMMAND_H
#define NVMTOP_CLI_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

#include "util/err.h"

/* Is there a program of that name? Checked before anything is recorded; otherwise errno has the reason. */
bool command_find(const char *name);
/* 0, and its process; what fails behind the fork is its exit status: 126 or 127. */
int command_start(char **argv, pid_t *child, struct err *e);

#endif
