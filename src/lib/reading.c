/* Presents a trace as arrays in the layout of version 1. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/lib.h"
#include "util/clock.h"
#include "util/intl.h"
#include "nvmtop/nvmtop.h"
#include "trace/layout.h"
#include "trace/trace.h"

_Static_assert(sizeof(nvmtop_fast) == 98 && sizeof(nvmtop_medium) == 104 && sizeof(nvmtop_slow) == 72,
	       "rows are those of version 1");

nvmtop_trace *nvmtop_open(const char *path, nvmtop_error *error)
{
	struct err e = {.code = ERR_NONE};
	struct trace *t = NULL;

	lib_begin();
	if (path)
		t = trace_open(path, &e);
	else
		err_set(&e, ERR_USAGE, "%s", _("the file name of the trace is NULL"));
	lib_error(error, &e);
	return (nvmtop_trace *)t;
}

void nvmtop_close(nvmtop_trace *t)
{
	trace_close(trace_in(t));
}

int nvmtop_get_header(const nvmtop_trace *t, nvmtop_header *out)
{
	uint8_t h[HEADER_SIZE];
	struct trace_summary s;
	struct layout l;
	const struct session *about;
	const char *board;

	if (!t || !out || out->size != NVMTOP_HEADER_SIZE)
		return -1;
	about = trace_session(trace_in(t));
	layout_make(&l, about);
	header_encode(h, about, &l);
	trace_summary(trace_in(t), &s);
	*out = (nvmtop_header) {.size = NVMTOP_HEADER_SIZE,
				.cores = h[H_CORES],
				.rails = h[H_RAILS],
				.zones = h[H_ZONES],
				.emc = h[H_EMC],
				.marks = trace_epochs(trace_in(t), NULL, 0) - 1,
				.duration_s = (double)s.duration_ns / NS_PER_S,
				.start_real_ns = s.real_ns};
	for (int i = 0; i < TIERS; i++) {
		out->hz[i] = about->hz[i];
		out->rows[i] = s.rows[i];
	}
	board = fact_get(about->facts, about->n_facts, "board");
	if (board)
		text_printable(out->board, sizeof(out->board), board, strlen(board));
	for (size_t i = 0; i < MAX_RAILS; i++)
		memcpy(out->rail_name[i], h + H_RAIL_NAMES + i * NAME_SIZE, NAME_SIZE);
	for (size_t i = 0; i < MAX_ZONES; i++)
		memcpy(out->zone_name[i], h + H_ZONE_NAMES + i * NAME_SIZE, NAME_SIZE);
	return 0;
}

static const void *rows(const nvmtop_trace *t, enum tier tier, uint64_t *n)
{
	if (n)
		*n = 0;
	if (!t || !n)
		return NULL;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return trace_raw(trace_in(t), tier, n);
#else
	(void)tier;
	return NULL;
#endif
}

const nvmtop_fast *nvmtop_fast_rows(const nvmtop_trace *t, uint64_t *n)
{
	return rows(t, TIER_FAST, n);
}

const nvmtop_medium *nvmtop_medium_rows(const nvmtop_trace *t, uint64_t *n)
{
	return rows(t, TIER_MEDIUM, n);
}

const nvmtop_slow *nvmtop_slow_rows(const nvmtop_trace *t, uint64_t *n)
{
	return rows(t, TIER_SLOW, n);
}

static double seconds(const struct session *about, int64_t t_ns)
{
	return (double)(t_ns - about->start.mono_ns) / NS_PER_S;
}

uint64_t nvmtop_epochs(const nvmtop_trace *t, nvmtop_epoch *out, uint64_t max)
{
	const struct session *about;
	struct trace_epoch *all;
	uint64_t n, got;

	if (!t || (max > 0 && (!out || out->size != NVMTOP_EPOCH_SIZE)))
		return 0;
	about = trace_session(trace_in(t));
	n = trace_epochs(trace_in(t), NULL, 0);
	got = n < max ? n : max;
	all = got > 0 ? calloc(got, sizeof(*all)) : NULL;
	if (!all)
		return got > 0 ? 0 : n;
	trace_epochs(trace_in(t), all, got);
	for (uint64_t i = 0; i < got; i++) {
		out[i] = (nvmtop_epoch) {.size = NVMTOP_EPOCH_SIZE,
					 .id = all[i].id,
					 .first = all[i].first,
					 .n = all[i].n,
					 .start_s = seconds(about, all[i].from_ns),
					 .end_s = seconds(about, all[i].to_ns)};
		memcpy(out[i].label, all[i].label, sizeof(out[i].label));
	}
	free(all);
	return n;
}
