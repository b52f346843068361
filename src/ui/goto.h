/* goto: the syntax of the `g` prompt. */
#ifndef NVMTOP_UI_GOTO_H
#define NVMTOP_UI_GOTO_H

#include "model/timeline.h"
#include "ui/viewport.h"

/* "12.5", "1:23", "2m": after the start; "+10s", "-2m": relative to head_ns; "50%"; "m3": mark 3; "start",
 * "end", "now". "14:32:05", "2026-11-20 14:32:05.25": local time within the recording, or else hours
 * after the start. False: invalid, or no such mark or time. */
bool goto_parse(const char *text, struct timeline *t, const struct extent *e, int64_t head_ns, int64_t *out);

/* Visits all marks in order until visit() returns true. Returns whether it did. */
bool goto_each_mark(struct timeline *t, const struct extent *e, bool (*visit)(void *arg, const struct mark *m),
		    void *arg);

/* The first mark with this label, or with this id if label is NULL; false: none. */
bool goto_find(struct timeline *t, const struct extent *e, const char *label, uint64_t id, struct mark *out);

/* The newest mark in [from, to); false: none. */
bool goto_newest(struct timeline *t, int64_t from, int64_t to, struct mark *out);

/* The newest mark before t_ns (n < 0) or the oldest after it; false: none. */
bool goto_mark(struct timeline *t, const struct extent *e, int64_t t_ns, int n, int64_t *out);

#endif
