/* marks: receives marks from other programs, and sends one for `nvmtop mark`. mark.h defines the
 * datagram and the address. */
#ifndef NVMTOP_RECORD_MARKS_H
#define NVMTOP_RECORD_MARKS_H

#include "engine/engine.h"

#define MARK_LABEL  64		/* bytes of a label, including its NUL */
#define MARK_OLDEST_S 5		/* maximum age of a mark, in seconds, when it is sent */

/* Parses one datagram. sent_ns and now_ns are the times when it was sent and read (CLOCK_MONOTONIC). Returns
 * false if it is not a mark, has another version, is too long, was older than MARK_OLDEST_S when sent, or
 * lies in the future. The label is made printable. */
bool mark_parse(const char *text, size_t len, int64_t sent_ns, int64_t now_ns, int64_t *t_ns,
		char label[MARK_LABEL]);

/* Writes the folder for a socket of this process, which exists then: that of services, if NVMTOP_RUNTIME_DIR names one, else
 * that of this user. Returns 1 or 0; -1 and sets *e if there is none that is safe. */
int runtime_folder(char *out, size_t size, struct err *e);

/* Opens the socket of this process, at which marks of other programs wait, and removes those of recorders that were
 * killed. Returns NULL if out of memory. *e is why marks of other programs cannot be received, for example if the folder
 * is not private to this user, or ERR_NONE. */
struct inbox;
struct inbox *inbox_open(struct err *e);
/* Has the engine read it from now on, and take the marks. */
void inbox_attach(struct inbox *b, struct engine *g);
/* For a poll() where no engine reads it, else -1; and reads and discards what waits there. */
int inbox_fd(const struct inbox *b);
void inbox_read(struct inbox *b);
/* Stops receiving; takes marks that were sent before. Returns the number of rejected datagrams: malformed,
 * stale or from another user. b may be NULL. */
uint64_t inbox_close(struct inbox *b);

/* Sends a mark at t_ns to process `to`, or to all receivers of this user if `to` is 0. Returns how many
 * accepted it and lists their process ids in `whom`. Returns 0 and sets *e if there is no receiver; -1 and sets *e if
 * one does not accept the mark within a second. */
int marks_send(int64_t t_ns, const char *label, long to, char *whom, size_t size, struct err *e);

#endif
