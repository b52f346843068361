/* What an open trace holds in memory, filled from a log; what it reads from the file goes to
 * the log's reader. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/intl.h"
#include "trace/log-trace.h"
#include "trace/output.h"

int log_trace_fd(const char *path)
{
	int fd = strcmp(path, "-") == 0 ? -1 : header_file(path);
	uint8_t magic[4];

	/* A file of version 1 may have chunks of a log behind its rows. */
	if (fd >= 0 && read_at(fd, magic, 4, 0) == 4 && get_u32(magic) != NVMT_MAGIC && log_begins(fd))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static void *copy(const void *list, size_t n, size_t size)
{
	void *to = calloc(n + 1, size);

	if (to && n > 0)
		memcpy(to, list, n * size);
	return to;
}

static int copy_events(struct trace *t)
{
	const struct mark *marks = log_reader_marks(t->log, &t->n_marks);
	const struct change *changes = log_reader_changes(t->log, &t->n_changes);
	const struct clock_anchor *anchors = log_reader_anchors(t->log, &t->n_anchors);
	const struct gap *gaps;
	size_t n;

	gaps = log_reader_gaps(t->log, &n);
	t->marks = copy(marks, t->n_marks, sizeof(*marks));
	t->changes = copy(changes, t->n_changes, sizeof(*changes));
	t->anchors = copy(anchors, t->n_anchors, sizeof(*anchors));
	t->gaps = calloc(n + 1, sizeof(*t->gaps));
	if (!t->marks || !t->changes || !t->anchors || !t->gaps)
		return -1;
	/* The clock of the rows stands still while the machine is suspended. */
	for (size_t i = 0; i < n; i++)
		if (gaps[i].cause != LOG_SUSPENDED)
			t->gaps[t->n_gaps++] = gaps[i];
	return events_sort(t);
}

int log_trace_load(struct trace *t, int fd, struct err *e)
{
	t->log = log_reader_open(fd, t->shown, e);
	if (!t->log)
		return -1;
	t->session = *log_reader_session(t->log);
	t->channels = copy(t->session.channels, t->session.n_channels, sizeof(*t->channels));
	t->facts = copy(t->session.facts, t->session.n_facts, sizeof(*t->facts));
	t->sources = calloc(t->session.n_channels + 1, sizeof(*t->sources)); /* all the same */
	if (!t->channels || !t->facts || !t->sources || copy_events(t) < 0)
		return err_set(e, ERR_FAILED, _("out of memory while reading %s"), t->shown);
	t->session.channels = t->channels;
	t->session.facts = t->facts;
	t->extended = true;
	t->size = (size_t)log_reader_bytes(t->log);
	t->known = log_reader_extent(t->log, &t->first_ns, &t->last_ns);
	for (enum tier tier = 0; tier < TIERS; tier++)
		t->section[tier].rows = log_reader_rows(t->log, tier);
	log_trace_look(t);
	return 0;
}

void log_trace_look(struct trace *t)
{
	char text[512];

	if (!log_damage_text(t->log, text, sizeof(text)))
		return;
	t->damage.code = ERR_NONE; /* more may have been found */
	trace_damage(t, "%s", text);
}

static void name_rail(char out[25], const struct channel *c)
{
	snprintf(out, 25, "%.24s", c->label);
}

void log_trace_header(const struct trace *t, struct trace_header *out)
{
	const char *board = fact_get(t->session.facts, t->session.n_facts, "board");

	memset(out, 0, sizeof(*out));
	if (board)
		text_printable(out->board, sizeof(out->board), board, strlen(board));
	for (size_t i = 0; i < t->session.n_channels; i++) {
		const struct channel *c = &t->channels[i];

		if (c->kind == CHANNEL_CORE_UTIL && c->index < MAX_CORES && c->index >= out->cores)
			out->cores = c->index + 1U;
		out->emc |= c->kind == CHANNEL_EMC_UTIL;
		if (c->kind == CHANNEL_RAIL_POWER && c->index < MAX_RAILS) {
			name_rail(out->rail[c->index], c);
			out->rails = c->index >= out->rails ? c->index + 1U : out->rails;
		}
		if (c->kind == CHANNEL_TEMPERATURE && c->index < MAX_ZONES) {
			name_rail(out->zone[c->index], c);
			out->zones = c->index >= out->zones ? c->index + 1U : out->zones;
		}
	}
}

/* Those that are rounded to floats when they are sampled. */
bool log_trace_is_single(const struct channel *c)
{
	switch (c->kind) {
	case CHANNEL_CPU_UTIL:
	case CHANNEL_CORE_UTIL:
	case CHANNEL_EMC_UTIL:
	case CHANNEL_RAIL_POWER:
	case CHANNEL_TEMPERATURE:
		return true;
	default:
		return false;
	}
}

int log_trace_peek(int fd, const char *shown, struct trace_summary *out, struct err *e)
{
	struct log_reader *r = log_reader_open(fd, shown, e);
	const struct session *s;
	const char *board;
	int64_t first, last;
	size_t marks;

	if (!r)
		return -1;
	s = log_reader_session(r);
	board = fact_get(s->facts, s->n_facts, "board");
	log_reader_marks(r, &marks);
	out->bytes = (int64_t)log_reader_bytes(r);
	out->duration_ns = log_reader_extent(r, &first, &last) ? last - s->start.mono_ns : 0;
	for (enum tier t = 0; t < TIERS; t++)
		out->rows[t] = log_reader_rows(r, t);
	out->marks = marks;
	out->real_ns = s->start.real_ns;
	if (board)
		text_printable(out->board, sizeof(out->board), board, strlen(board));
	log_reader_close(r);
	return 0;
}
