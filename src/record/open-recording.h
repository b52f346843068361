/* opening: a recording whose files are made while the screen goes on. */
#ifndef NVMTOP_RECORD_OPEN_RECORDING_H
#define NVMTOP_RECORD_OPEN_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/trace.h"

/* Begin to make the files of a new recording, of a name with the time in it.  NULL with
 * the sentence. */
struct record_open *record_open_start(const struct trace_limits *limits, struct err *e);
/* Is it known what came of it?  Waits for that until until_ns of clock_now_ns(). */
bool record_open_done(struct record_open *o, int64_t until_ns);
/* The end of one that is done: the recording, or NULL with the sentence. */
struct log_writer *record_open_take(struct record_open *o, struct err *e);
/* Discards it at any time: files that it created or will still create are removed. */
void record_open_cancel(struct record_open *o);

#endif
