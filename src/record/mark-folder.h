/* folder: the folder with the sockets of this user, and what is in it. */
#ifndef NVMTOP_RECORD_MARK_FOLDER_H
#define NVMTOP_RECORD_MARK_FOLDER_H

#include <stdbool.h>
#include <sys/un.h>

#include "util/err.h"

/* The address for this process; creates the folder and removes sockets of processes that have ended. */
int folder_own(struct sockaddr_un *out, struct err *e);

/* The address of a process; false: no folder is private to this user. */
bool folder_of(long pid, struct sockaddr_un *out);

/* Calls for each socket of this user. -1 with the sentence: the folder exists and is not private to this
 * user. */
int folder_each(void (*call)(void *to, const struct sockaddr_un *at), void *to, struct err *e);

/* The process in the name of a socket; 0: it is no such name. */
long folder_pid(const char *path);

bool folder_listens(const struct sockaddr_un *at);

/* Removes the socket if nothing listens there and its process has ended. */
void folder_sweep(const struct sockaddr_un *at);

#endif
