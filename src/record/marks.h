/* marks: receiving marks of other programs, and how nvmtop mark sends one. mark.h defines the datagram
 * and the address. */
#ifndef NVMTOP_RECORD_MARKS_H
#define NVMTOP_RECORD_MARKS_H

#include "engine/engine.h"

#define MARK_LABEL  64		/* bytes of a label, with its end */
#define MARK_OLDEST_S 5		/* how long before it was sent a mark may lie */

/* One datagram.  sent_ns: when it was sent, now_ns: when it was read, both of
 * CLOCK_MONOTONIC.  False: it is none, of another version, longer than it may
 * be, older than MARK_OLDEST_S when it was sent, or from the future.  label is
 * printable. */
bool mark_parse(const char *text, size_t len, int64_t sent_ns, int64_t now_ns, int64_t *t_ns,
		char label[MARK_LABEL]);

/* Called by a thread of the inbox for each mark, in the order of arrival. */
typedef void inbox_take(void *to, int64_t t_ns, const char *label);

/* A socket for this process, and a thread that reads it. signals: a signalfd, each signal of which is a
 * mark too; -1: none. NULL with the sentence when there is no folder that is private to this user;
 * sockets of recorders that were killed are removed. */
struct inbox;
struct inbox *inbox_open(inbox_take *take, void *to, int signals, struct err *e);
/* Stop receiving; marks that were sent before are delivered first. Returns how many datagrams were no
 * mark, of another user or of another time. NULL is fine. */
uint64_t inbox_close(struct inbox *b);

/* Marks from the start of the process on: those of other programs, of nvmtop mark and SIGUSR1, which is
 * blocked, are accepted at once; those before the recording begins wait for it, and keep their own time.
 * NULL: out of memory; *told: why marks of other programs cannot be received, or ERR_NONE. */
struct marker;
struct marker *marker_open(struct err *told);
/* As marks are set from elsewhere: marker is a struct marker. */
void marker_take(void *marker, int64_t t_ns, const char *label);
/* Discard waiting and future marks. */
void marker_drop(struct marker *m);
/* A recording has begun: pass waiting and future marks to it. */
void marker_begin(struct marker *m, struct engine *g);
/* No more marks are accepted; as inbox_close(). */
uint64_t marker_end(struct marker *m);
void marker_free(struct marker *m); /* ends first; NULL is fine */

/* Send a mark at t_ns to the receiver of that process, or to all of this user when `to` is 0. Returns
 * how many accepted it, and their processes in the text of `whom`. -1 with the sentence
 * when there is none, or one does not accept it within a second. */
int marks_send(int64_t t_ns, const char *label, long to, char *whom, size_t size, struct err *e);

#endif
