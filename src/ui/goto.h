/* goto: the little language of the `g` prompt. */
#ifndef NVMTOP_UI_GOTO_H
#define NVMTOP_UI_GOTO_H

#include "model/timeline.h"
#include "ui/viewport.h"

/* "12.5", "1:23", "2m": after the start; "+10s", "-2m": from head_ns; "50%";
 * "m3": mark 3; "start", "end".  "14:32:05", "2026-11-20 14:32:05.25": local time,
 * of the day on which it lies in the recording; where there is no such moment,
 * hours after the start.  False: not understood, or no such mark or moment. */
bool goto_parse(const char *text, struct timeline *t, const struct extent *e, int64_t head_ns, int64_t *out);

/* Visit all marks in order until visit() says true; whether it did. */
bool goto_each_mark(struct timeline *t, const struct extent *e, bool (*visit)(void *arg, const struct mark *m),
		    void *arg);

/* The newest mark before t_ns (n < 0) or the oldest after it; false: none. */
bool goto_mark(struct timeline *t, const struct extent *e, int64_t t_ns, int n, int64_t *out);

#endif
