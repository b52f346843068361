/* A trace is mapped and never copied; its rows are the timeline. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/intl.h"
#include "trace/audit.h"
#include "trace/build.h"
#include "trace/log-trace.h"
#include "trace/output.h"
#include "trace/unpack.h"

static int load(struct trace *t, const struct trace_tuning *tuning)
{
	uint64_t counts[4];
	const uint8_t *closing;
	bool large, trusted;
	size_t end;

	header_check(t, counts);
	if (header_interrupted(t, counts)) {
		counts[0] = (t->size - HEADER_SIZE) / FAST_SIZE;
		trace_damage(t,
			     _("the recording was interrupted, its header has no counts; "
			       "the fast section is shown, %llu rows up to offset %llu"),
			     (unsigned long long)counts[0],
			     (unsigned long long)(HEADER_SIZE + counts[0] * FAST_SIZE));
	}
	end = header_sections(t, counts);
	large = end - HEADER_SIZE > tuning->at_once && !tuning->sure;
	/* Who has written an end and stored columns has looked at the times: a second look
	 * can wait until the first picture is there. */
	trusted = large && close_chunk(t->map, t->size, &closing);
	if (!large)
		sections_check(t);
	else if (!trusted)
		sections_probe(t, (1U << TIERS) - 1);
	else
		sections_ends(t);
	if (end < t->size && (extension_begins(t, end) || close_chunk(t->map, t->size, &closing)) &&
	    extension_read(t, end) < 0)
		return -1;
	if (!t->extended && (header_session(t) < 0 || sync_marks(t) < 0))
		return -1;
	extent_find(t);
	shelves_open(t, tuning);
	if (trusted) {
		sections_probe(t, shelves_empty(t));
		extent_find(t);
	}
	if (events_sort(t) < 0)
		return -1;
	leaps_tell(t);
	return 0;
}

static struct trace *trace_new(const char *path)
{
	struct trace *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->timeline.ops = &trace_ops;
	t->path = strdup(path);
	t->shown = malloc(strlen(path) + 1);
	t->edges = calloc(TIERS, sizeof(*t->edges));
	t->nonsense = nonsense_new();
	if (t->path && t->shown && t->edges && t->nonsense) {
		text_printable(t->shown, strlen(path) + 1, path, strlen(path));
		return t;
	}
	trace_close(t);
	return NULL;
}

struct trace *trace_open_tuned(const char *path, const struct trace_tuning *tuning, struct err *e)
{
	uint8_t header[HEADER_SIZE];
	struct trace *t = trace_new(path);
	struct err damage = {.code = ERR_NONE};
	off_t size = 0;
	int fd;

	if (!t) {
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	fd = log_trace_fd(path);
	if (fd >= 0 && log_trace_load(t, fd, e) < 0) {
		trace_close(t);
		return NULL;
	}
	if (fd >= 0) {
		t->told = t->damage;
		if (e)
			*e = t->damage;
		return t;
	}
	fd = stream_open_trace(path, t->shown, &damage);
	if (fd == -1) {
		if (e)
			*e = damage;
		trace_close(t);
		return NULL;
	}
	t->damage = damage;
	if (fd < 0)
		fd = header_file(path);
	fd = header_read(fd, t->shown, header, &size, e);
	if (fd >= 0 && map_open(&t->file, fd, (size_t)size) < 0) {
		err_sys(e, ERR_FAILED, errno, _("cannot read %s"), t->shown);
		close(fd);
	} else if (fd >= 0) {
		t->map = t->file.bytes;
		t->size = t->file.size;
	}
	if (t->map && load(t, tuning) < 0) {
		err_set(e, ERR_FAILED, _("out of memory while reading %s"), t->shown);
	} else if (t->map) {
		shelves_look(t); /* it may have become shorter meanwhile */
		nonsense_tell(t);
		t->told = t->damage;
		if (e)
			*e = t->damage;
		return t;
	}
	trace_close(t);
	return NULL;
}

int trace_view(const struct trace *t, struct map *own, struct trace *view)
{
	int fd = fcntl(t->file.fd, F_DUPFD_CLOEXEC, 0);

	if (fd < 0 || map_open(own, fd, t->file.size) < 0) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	*view = *t;
	view->file = *own;
	view->map = own->bytes;
	view->touched = 0;
	view->store = NULL;
	view->build = NULL;
	return 0;
}

struct trace *trace_open(const char *path, struct err *e)
{
	struct trace_tuning sure = trace_tuned;

	sure.sure = true;
	return trace_open_tuned(path, &sure, e);
}

struct trace *trace_open_view(const char *path, struct err *e)
{
	return trace_open_tuned(path, &trace_tuned, e);
}

void trace_look(struct trace *t, struct trace_state *out)
{
	shelves_look(t);
	if (!t->log)
		nonsense_tell(t);
	out->built = t->build ? build_part(t->build) : 1;
	out->building = t->build != NULL;
	out->estimated = t->estimated;
	out->news = strcmp(t->told.text, t->damage.text) != 0;
	out->damage = t->damage;
	t->told = t->damage;
	t->estimated = false;
}

void trace_settle(struct trace *t)
{
	shelves_fill(t);
	while (t->build || t->audit) {
		if (t->build)
			build_wait(t->build);
		else
			audit_wait(t->audit);
		shelves_look(t);
	}
}

void trace_close(struct trace *t)
{
	if (!t)
		return;
	shelves_close(t);
	for (int i = 0; i < TIERS; i++) {
		free(t->columns[i]);
		free(t->times[i].t_ns);
	}
	log_reader_close(t->log);
	map_close(&t->file);
	free(t->edges);
	free(t->channels);
	free(t->facts);
	free(t->sources);
	free(t->runs);
	free(t->marks);
	free(t->gaps);
	free(t->changes);
	free(t->gap_reach);
	free(t->anchors);
	nonsense_free(t->nonsense);
	free(t->path);
	free(t->shown);
	free(t);
}

struct timeline *trace_timeline(struct trace *t)
{
	return &t->timeline;
}

const char *trace_path(const struct trace *t)
{
	return t->path;
}

void trace_summary(const struct trace *t, struct trace_summary *out)
{
	const char *board = fact_get(t->session.facts, t->session.n_facts, "board");

	memset(out, 0, sizeof(*out));
	out->bytes = (int64_t)t->size;
	out->duration_ns = t->known ? t->last_ns - t->session.start.mono_ns : 0;
	for (int i = 0; i < TIERS; i++)
		out->rows[i] = t->section[i].rows;
	out->marks = t->n_marks;
	out->real_ns = t->session.start.real_ns;
	if (board)
		text_printable(out->board, sizeof(out->board), board, strlen(board));
}
