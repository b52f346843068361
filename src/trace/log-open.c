/* Opens the files of a log: what it is about is in the first META, what is in it in the newest INDEX, in those that lead on
 * from there, and in the heads of the chunks that none of them lists. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/intl.h"
#include "trace/log-read.h"

#define DAY_NS (86400 * NS_PER_S)

/* --- the first chunk, and what describes it --- */

int log_begins_at(struct trace *r, struct err *e)
{
	uint64_t size = r->source->size, to = size < LOG_FRONT ? size : LOG_FRONT;
	const uint8_t *p;
	struct log_head h;

	r->begin = log_source_find(r->source, 0, 0, to);
	p = r->begin + LOG_HEAD <= to ? r->source->get(r->source, r->begin, LOG_HEAD) : NULL;
	if (!p || !log_head_get(p, &h))
		return 0;
	r->id = h.session;
	if (h.version == LOG_VERSION)
		return 1;
	return err_set(e, ERR_FAILED,
		       _("%s was written by another version of nvmtop: its format has version %u, this one reads "
			 "%u"),
		       r->shown, h.version, LOG_VERSION);
}

int log_undescribed(const struct trace *r, struct err *e)
{
	if (r->newer)
		return err_set(e, ERR_FAILED, _("%s needs a newer version of nvmtop"), r->shown);
	if (r->damage.first == LOG_FAULT_CONTENT)
		return err_set(e, ERR_FAILED, _("%s cannot be read: its description has times that are out of range"),
			       r->shown);
	if (r->mangled)
		return err_set(e, ERR_FAILED,
			       _("%s went through a terminal, which changes bytes: use ssh -T"), r->shown);
	return err_set(e, ERR_FAILED, _("%s does not say which signals it has: its description is damaged"),
		       r->shown);
}

/* Takes the first full META that can be read: that of the first chunk, or else one found further on. */
static int describe(struct trace *r, struct err *e)
{
	struct log_item item;
	struct log_scan s;
	struct log_head h;

	log_scan_begin(&s, r, r->begin, r->size, r->begin);
	while (r->n_generations == 0 && log_scan_next(&s, &item, &h))
		log_meta_new(r, &item);
	return r->n_generations > 0 ? 0 : log_undescribed(r, e);
}

/* --- what is in it --- */

static void rows_extent(struct trace *r)
{
	for (enum tier t = 0; t < TIERS; t++) {
		uint64_t rows = r->rows[t], first;
		const struct log_block *b = rows > 0 ? log_block_of(r, t, 0, &first) : NULL;

		if (b && (!r->any || b->t_ns[0] < r->first_ns))
			r->first_ns = b->t_ns[0];
		b = b ? log_block_of(r, t, rows - 1, &first) : NULL;
		if (b && (!r->any || b->t_ns[b->n - 1] > r->last_ns))
			r->last_ns = b->t_ns[b->n - 1];
		r->any |= b != NULL;
	}
	/* Rows that are lost are at the beginning of their cell. */
	if (r->any && log_cell(r->first_ns) < log_cell(r->session.start.mono_ns)) {
		log_note(r, LOG_FAULT_CONTENT, r->begin, LOG_SEQ_NONE, log_cell(r->first_ns), 0);
		r->session.start = (struct clock_anchor) {.mono_ns = r->first_ns};
	}
}

/* What came before the start is part of how it was then; no recording goes on for a day without a row. */
static void reach(struct trace *r, int64_t from_ns, int64_t to_ns)
{
	int64_t start_ns = r->session.start.mono_ns > 0 ? r->session.start.mono_ns : 0;
	int64_t most_ns = (r->any ? r->last_ns : start_ns) + DAY_NS;

	from_ns = from_ns > start_ns ? from_ns : start_ns;
	to_ns = to_ns > start_ns ? to_ns : start_ns;
	from_ns = from_ns < most_ns ? from_ns : most_ns;
	to_ns = to_ns < most_ns ? to_ns : most_ns;
	r->from_ns = from_ns < r->from_ns ? from_ns : r->from_ns;
	r->to_ns = to_ns > r->to_ns ? to_ns : r->to_ns;
}

/* A gap lies between rows. The begin of the first range is not looked for: there may be one from the start on. */
static void extent(struct trace *r)
{
	const struct mark *marks = r->events[EVENTS_MARK].p;
	const struct change *changes = r->events[EVENTS_CHANGE].p;
	int64_t end_ns = log_ranges_end(r);
	bool ranges = false;

	if (r->any) {
		r->from_ns = r->first_ns;
		r->to_ns = r->last_ns;
	}
	if (r->events[EVENTS_MARK].n)
		reach(r, marks[0].t_ns, marks[r->events[EVENTS_MARK].n - 1].t_ns);
	if (r->events[EVENTS_CHANGE].n)
		reach(r, changes[0].t_ns, changes[r->events[EVENTS_CHANGE].n - 1].t_ns);
	for (size_t i = 0; i < r->n_groups; i++)
		ranges |= r->groups[i].flags & LOG_GROUP_RANGES;
	if (ranges)
		reach(r, r->session.start.mono_ns, end_ns);
}

int log_files_read(struct trace *r, struct err *e)
{
	struct log_head h;
	struct stat st;
	bool good;
	int rc;

	log_forget(r);
	log_file_end(&r->file);
	for (struct log_piece *f = r->files; f < r->files + r->n_files; f++) {
		if (fstat(f->fd, &st) < 0)
			return err_sys(e, ERR_FAILED, errno, _("cannot read %s"), r->shown);
		f->at = r->size;
		f->size = (uint64_t)st.st_size;
		r->size += f->size;
	}
	log_file_begin(&r->file, r->files, r->n_files);
	r->source = &r->file.source;
	rc = log_begins_at(r, e);
	if (rc <= 0)
		return rc < 0 ? -1 : err_set(e, ERR_FAILED, _("%s is not an nvmtop recording"), r->shown);
	if (describe(r, e) < 0)
		return -1;
	good = log_groups_read(r) == 0;
	if (good) {
		/* Channels may be added during a recording. */
		if (r->newest > r->generations[0].number || r->n_generations > 1)
			log_groups_visit(r, LOG_GROUP_META, log_meta_new);
		rows_extent(r);
		if (r->end.kind && log_read_chunk(r, &r->end, &h))
			log_end_take(r);
		good = log_events_read(r);
	}
	if (!good)
		return err_set(e, ERR_FAILED, _("out of memory while reading %s"), r->shown);
	extent(r);
	return r->newer ? log_undescribed(r, e) : 0;
}

struct trace *log_files_new(size_t n, const char *shown, struct err *e)
{
	struct trace *r = trace_new(&log_files_place, &log_timeline_ops);

	if (r) {
		r->shown = strdup(shown);
		r->files = calloc(n, sizeof(*r->files));
		/* A picture of some hours has up to 8 MB of LOD, and asks for all of it again for each channel. */
		r->caches[LOG_STRIPS].most *= 2;
	}
	if (r && r->shown && r->files)
		return r;
	trace_close(r);
	err_set(e, ERR_FAILED, _("out of memory"));
	return NULL;
}

struct trace *trace_open_logs(const int *fds, size_t n, const char *shown, struct err *e)
{
	struct trace *r = log_files_new(n, shown, e);

	for (size_t i = 0; i < n; i++)
		if (r)
			r->files[r->n_files++].fd = fds[i];
		else
			close(fds[i]);
	if (r && log_files_read(r, e) == 0)
		return r;
	trace_close(r);
	return NULL;
}
