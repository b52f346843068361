/* folder: the folder with the sockets of this user, and what is in it. */
#ifndef NVMTOP_RECORD_MARK_FOLDER_H
#define NVMTOP_RECORD_MARK_FOLDER_H

#include <stdbool.h>
#include <sys/un.h>

#include "util/err.h"

/* The address for this process; the folder is made, and sockets of processes
 * that are no more are removed from it. */
int folder_own(struct sockaddr_un *out, struct err *e);

/* The address of a process; false: there is no folder that is ours alone. */
bool folder_of(long pid, struct sockaddr_un *out);

/* Calls for each socket of ours.  -1 with the sentence: there is something in the place
 * of the folder that is not ours alone. */
int folder_each(void (*call)(void *to, const struct sockaddr_un *at), void *to, struct err *e);

/* The process in the name of a socket; 0: it is no such name. */
long folder_pid(const char *path);

bool folder_listens(const struct sockaddr_un *at);

/* Nobody listens there, and the process that did has gone: then it is removed. */
void folder_sweep(const struct sockaddr_un *at);

#endif
