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

/* Called by the inbox thread for each mark, in order of arrival. */
typedef void inbox_take(void *to, int64_t t_ns, const char *label);

/* Opens the socket of this process and starts a thread that reads it. Each signal read from the signalfd
 * `signals` counts as a mark, too; -1 means none. Removes the sockets of recorders that were killed. Returns
 * NULL and sets *e on failure, for example if the folder is not private to this user. */
struct inbox;
struct inbox *inbox_open(inbox_take *take, void *to, int signals, struct err *e);
/* Stops receiving; delivers marks that were sent before. Returns the number of rejected datagrams: malformed,
 * stale or from another user. b may be NULL. */
uint64_t inbox_close(struct inbox *b);

/* Accepts marks from the start of the process on: from other programs, from `nvmtop mark` and from
 * SIGUSR1, which must be blocked. Marks that arrive before the recording begins are queued and keep
 * their times. Returns NULL if out of memory. *told is the reason why marks from other programs cannot
 * be received, or ERR_NONE. */
struct marker;
struct marker *marker_open(struct err *told);
/* An inbox_take callback; marker is a struct marker. */
void marker_take(void *marker, int64_t t_ns, const char *label);
/* Discards queued and future marks. */
void marker_drop(struct marker *m);
/* Passes queued and future marks to the engine: the recording has begun. */
void marker_begin(struct marker *m, struct engine *g);
/* Stops accepting marks; returns the same as inbox_close(). */
uint64_t marker_end(struct marker *m);
void marker_free(struct marker *m); /* calls marker_end() first; m may be NULL */

/* Sends a mark at t_ns to process `to`, or to all receivers of this user if `to` is 0. Returns how many
 * accepted it and lists their process ids in `whom`. Returns 0 and sets *e if there is no receiver; -1 and sets *e if
 * one does not accept the mark within a second. */
int marks_send(int64_t t_ns, const char *label, long to, char *whom, size_t size, struct err *e);

#endif
