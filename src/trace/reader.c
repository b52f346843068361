/* A trace is mapped and never copied; its rows are the timeline.  The header
 * says how many rows there should be, the size of the file how many there can
 * be, and the smaller of the two is believed. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nvmtop/intl.h"
#include "trace/output.h"
#include "trace/build.h"
#include "trace/unpack.h"

static struct trace *trace_of(struct timeline *tl)
{
	return (struct trace *)tl;
}

static const struct session *get_session(struct timeline *tl)
{
	return &trace_of(tl)->session;
}

static bool get_extent(struct timeline *tl, int64_t *first_ns, int64_t *last_ns)
{
	struct trace *t = trace_of(tl);

	shelves_look(t);
	t->asked_ns = clock_now_ns();
	*first_ns = t->first_ns;
	*last_ns = t->last_ns;
	return t->known;
}

static void get_columns(struct timeline *tl, size_t channel, int zoom, int64_t first, size_t n,
			struct bin *out)
{
	trace_columns(trace_of(tl), channel, zoom, first, n, out);
}

static double get_value(struct timeline *tl, size_t channel, int64_t t_ns, int64_t *at_ns)
{
	struct trace *t = trace_of(tl);
	enum tier tier;
	uint64_t row;
	double v;

	if (channel >= t->session.n_channels)
		return NAN;
	tier = t->channels[channel].tier;
	row = t_ns == INT64_MAX ? t->section[tier].rows : row_find(t, tier, t_ns + 1);
	if (row == 0)
		return NAN;
	if (at_ns)
		*at_ns = row_ns(t, tier, row - 1);
	v = cell_read(t, channel, row - 1);
	trace_touch(t, 4 * AROUND);
	return map_left(&t->file) < t->size || map_torn(&t->file) < t->size ? (double)NAN : v;
}

static int64_t get_step(struct timeline *tl, enum tier tier, int64_t t_ns, int n)
{
	struct trace *t = trace_of(tl);
	uint64_t rows = t->section[tier].rows, row = row_find(t, tier, t_ns), far;

	if (rows == 0)
		return t_ns;
	if (n > 0) {
		if (row < rows && row_ns(t, tier, row) == t_ns)
			row = row_find(t, tier, t_ns + 1);
		far = row + (unsigned)n - 1;
		return row_ns(t, tier, far < rows ? far : rows - 1);
	}
	far = (uint64_t) - (int64_t)n;
	row = row > far ? row - far : 0;
	return row_ns(t, tier, row < rows ? row : rows - 1);
}

static size_t get_marks(struct timeline *tl, int64_t from_ns, int64_t to_ns, struct mark *out, size_t max)
{
	struct trace *t = trace_of(tl);
	size_t lo = 0, hi = t->n_marks, n = 0;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->marks[mid].t_ns < from_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < t->n_marks && t->marks[lo].t_ns < to_ns && n < max; lo++)
		out[n++] = t->marks[lo];
	return n;
}

static size_t get_gaps(struct timeline *tl, int64_t from_ns, int64_t to_ns, struct gap *out, size_t max)
{
	struct trace *t = trace_of(tl);
	size_t lo = 0, hi = t->n_gaps, n = 0;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->gap_reach[mid] < from_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < t->n_gaps && t->gaps[lo].from_ns < to_ns && n < max; lo++)
		if (t->gaps[lo].to_ns >= from_ns)
			out[n++] = t->gaps[lo];
	return n;
}

static int by_mark_time(const void *a, const void *b)
{
	const struct mark *m = a, *n = b;

	if (m->t_ns != n->t_ns)
		return m->t_ns < n->t_ns ? -1 : 1;
	return (m->id > n->id) - (m->id < n->id);
}

static int by_gap_time(const void *a, const void *b)
{
	const struct gap *g = a, *h = b;

	return (g->from_ns > h->from_ns) - (g->from_ns < h->from_ns);
}

/* Oldest first, and found by bisection. */
static int events_sort(struct trace *t)
{
	if (t->n_marks > 1)
		qsort(t->marks, t->n_marks, sizeof(*t->marks), by_mark_time);
	if (t->n_gaps > 1)
		qsort(t->gaps, t->n_gaps, sizeof(*t->gaps), by_gap_time);
	t->gap_reach = calloc(t->n_gaps + 1, sizeof(*t->gap_reach));
	if (!t->gap_reach)
		return -1;
	for (size_t i = 0; i < t->n_gaps; i++) {
		int64_t before = i > 0 ? t->gap_reach[i - 1] : INT64_MIN;

		t->gap_reach[i] = t->gaps[i].to_ns > before ? t->gaps[i].to_ns : before;
	}
	return 0;
}

static int open_plain(const char *path)
{
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not hang */
}

/* Read the header of what may be a trace; closes the descriptor when it is none. */
static int open_checked(int fd, const char *shown, uint8_t header[HEADER_SIZE], off_t *size, struct err *e)
{
	struct stat st;
	ssize_t n = 0;

	if (fd < 0)
		return err_sys(e, ERR_FAILED, errno, _("cannot read %s"), shown);
	if (fstat(fd, &st) < 0)
		err_sys(e, ERR_FAILED, errno, _("cannot read %s"), shown);
	else if (S_ISDIR(st.st_mode))
		err_set(e, ERR_FAILED, _("%s is a folder, not a trace"), shown);
	else if (!S_ISREG(st.st_mode))
		err_set(e, ERR_FAILED, _("%s is not an ordinary file: a trace must be one"), shown);
	else if (st.st_size == 0)
		err_set(e, ERR_FAILED, _("%s is empty: there is no trace in it"), shown);
	else if ((n = read_at(fd, header, HEADER_SIZE, 0)) < 0)
		err_sys(e, ERR_FAILED, errno, _("cannot read %s"), shown);
	else if (n < 4 || get_u32(header + H_MAGIC) != NVMT_MAGIC)
		err_set(e, ERR_FAILED, _("%s is not a trace: it does not begin with the bytes of NVMT"),
			shown);
	else if (n < HEADER_SIZE)
		err_set(e, ERR_FAILED,
			_("%s is cut off within its header, at byte %zd of %d: nothing can be read"), shown,
			n, HEADER_SIZE);
	else if (get_u32(header + H_VERSION) != NVMT_VERSION)
		err_set(e, ERR_FAILED, _("%s is a trace of version %u: this program reads version %d"), shown,
			get_u32(header + H_VERSION), NVMT_VERSION);
	else {
		*size = st.st_size;
		return fd;
	}
	close(fd);
	return -1;
}

static bool extension_begins(const struct trace *t, size_t at)
{
	size_t left = t->size - at;
	uint8_t id[4];

	put_u32(id, CHUNK_OPEN);
	return left > 0 && memcmp(t->map + at, id, left < 4 ? left : 4) == 0;
}

/* A recording that was not ended has no counts; the fast rows are there. */
static bool interrupted(const struct trace *t, const uint64_t counts[4])
{
	return counts[0] == 0 && counts[1] == 0 && counts[2] == 0 && counts[3] == 0 &&
	       t->size > HEADER_SIZE && !extension_begins(t, HEADER_SIZE);
}

/* Lay the sections out, each as far as the file goes.  Returns where they end. */
static size_t sections_find(struct trace *t, const uint64_t counts[4])
{
	static const size_t sizes[4] = {FAST_SIZE, MEDIUM_SIZE, SLOW_SIZE, SYNC_SIZE};
	static const char *const names[4] = {"fast", "medium", "slow", "sync point"};
	size_t at = HEADER_SIZE;
	bool cut = false;

	for (int i = 0; i < 4; i++) {
		uint64_t fit = cut ? 0 : (t->size - at) / sizes[i];
		uint64_t rows = counts[i] < fit ? counts[i] : fit;

		if (rows < counts[i]) {
			trace_damage(t,
				     _("it ends at offset %llu, in the %s section, with %llu of %llu rows; "
				       "what is there is shown"),
				     (unsigned long long)t->size, names[i], (unsigned long long)rows,
				     (unsigned long long)counts[i]);
			cut = true;
		}
		if (i < TIERS)
			t->section[i] = (struct section) {at, rows};
		else
			t->sync_at = at, t->n_sync = rows;
		at += (size_t)rows * sizes[i];
	}
	return cut ? t->size : at;
}

static void header_check(struct trace *t, uint64_t counts[4])
{
	const uint8_t *h = t->map, *closing;

	for (int i = 0; i < 4; i++)
		counts[i] = get_u64(h + H_COUNTS + 8 * i);
	if (close_chunk(t->map, t->size, &closing) && get_u32(closing + 48) != chunk_crc(h, HEADER_SIZE)) {
		trace_damage(t, _("the header, at offset 0, is not as it was written; "
				  "the counts are taken from the end of the file"));
		for (int i = 0; i < 4; i++)
			counts[i] = get_u64(closing + 16 + 8 * i);
	}
	if (h[H_CORES] > MAX_CORES || h[H_RAILS] > MAX_RAILS || h[H_ZONES] > MAX_ZONES)
		trace_damage(t,
			     _("the header, at offset 40, has %u cores, %u rails and %u zones; "
			       "at most %d, %d and %d can be"),
			     h[H_CORES], h[H_RAILS], h[H_ZONES], MAX_CORES, MAX_RAILS, MAX_ZONES);
	for (int i = 0; i < TIERS; i++) {
		static const double usual[TIERS] = {1000, 100, 10};
		uint32_t hz = get_u32(h + H_HZ + 4 * i);

		t->session.hz[i] = hz > 0 && hz <= 1000000 ? hz : usual[i];
		if (hz == 0 || hz > 1000000)
			trace_damage(t, _("the header, at offset %d, has a rate of %u Hz"), H_HZ + 4 * i, hz);
	}
}

static int load(struct trace *t, const struct trace_tuning *tuning)
{
	uint64_t counts[4];
	const uint8_t *closing;
	bool large, trusted;
	size_t end;

	header_check(t, counts);
	if (interrupted(t, counts)) {
		counts[0] = (t->size - HEADER_SIZE) / FAST_SIZE;
		trace_damage(t,
			     _("the recording was interrupted, its header has no counts; "
			       "the fast section is shown, %llu rows up to offset %llu"),
			     (unsigned long long)counts[0],
			     (unsigned long long)(HEADER_SIZE + counts[0] * FAST_SIZE));
	}
	end = sections_find(t, counts);
	large = end - HEADER_SIZE > tuning->at_once;
	/* Who has written an end and stored columns has looked at the times. */
	trusted = large && close_chunk(t->map, t->size, &closing);
	if (!large)
		sections_check(t);
	else if (!trusted)
		sections_probe(t, (1U << TIERS) - 1);
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
	return events_sort(t);
}

static struct trace *trace_new(const char *path)
{
	static const struct timeline_ops ops = {get_session, get_extent, get_columns, get_value,
						get_step,    get_marks,  get_gaps,    NULL};
	struct trace *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->timeline.ops = &ops;
	t->path = strdup(path);
	t->shown = malloc(strlen(path) + 1);
	t->edges = calloc(TIERS, sizeof(*t->edges));
	if (t->path && t->shown && t->edges) {
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
	struct err damage = {ERR_NONE, ""};
	off_t size = 0;
	int fd;

	if (!t) {
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
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
		fd = open_plain(path);
	fd = open_checked(fd, t->shown, header, &size, e);
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
		t->told = t->damage;
		if (e)
			*e = t->damage;
		return t;
	}
	trace_close(t);
	return NULL;
}

struct trace *trace_open(const char *path, struct err *e)
{
	return trace_open_tuned(path, &trace_tuned, e);
}

void trace_look(struct trace *t, struct trace_state *out)
{
	shelves_look(t);
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
	while (t->build) {
		build_wait(t->build);
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
	map_close(&t->file);
	free(t->edges);
	free(t->channels);
	free(t->facts);
	free(t->sources);
	free(t->runs);
	free(t->marks);
	free(t->gaps);
	free(t->gap_reach);
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

/* The time of the last row of the finest tier that has one. */
static int64_t peek_duration(int fd, const struct trace_summary *s)
{
	uint64_t at = HEADER_SIZE;
	int64_t longest = 0;

	for (int i = 0; i < TIERS; i++) {
		uint8_t row[8];
		int64_t ns;

		if (s->rows[i] > 0 &&
		    read_at(fd, row, 8, (off_t)(at + (s->rows[i] - 1) * row_size[i])) == 8 &&
		    row_time(row, &ns) && ns > longest)
			longest = ns;
		at += s->rows[i] * row_size[i];
	}
	return longest;
}

int trace_peek(const char *path, struct trace_summary *out, struct err *e)
{
	uint8_t header[HEADER_SIZE];
	uint64_t left, at = HEADER_SIZE, syncs;
	struct clock_anchor start;
	char *shown = malloc(strlen(path) + 1);
	off_t size = 0;
	int fd;

	memset(out, 0, sizeof(*out));
	if (!shown)
		return err_set(e, ERR_FAILED, _("out of memory"));
	text_printable(shown, strlen(path) + 1, path, strlen(path));
	fd = open_checked(open_plain(path), shown, header, &size, e);
	free(shown);
	if (fd < 0)
		return -1;
	out->bytes = size;
	left = (uint64_t)size - HEADER_SIZE;
	for (int i = 0; i < TIERS; i++) {
		uint64_t rows = get_u64(header + H_COUNTS + 8 * i), fit = left / row_size[i];

		out->rows[i] = rows < fit ? rows : fit;
		left -= out->rows[i] * row_size[i];
		at += out->rows[i] * row_size[i];
	}
	syncs = get_u64(header + H_COUNTS + 24);
	out->marks = syncs < left / SYNC_SIZE ? syncs : left / SYNC_SIZE;
	at += out->marks * SYNC_SIZE;
	text_printable(out->board, sizeof(out->board), (const char *)header + H_BOARD,
		       strnlen((const char *)header + H_BOARD, H_CORES - H_BOARD));
	if (extension_peek(fd, at, &start))
		out->real_ns = start.real_ns;
	else if (at == HEADER_SIZE) /* a recording that was interrupted */
		out->rows[TIER_FAST] = left / FAST_SIZE;
	out->duration_ns = peek_duration(fd, out);
	close(fd);
	return 0;
}
