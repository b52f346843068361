/* The extension is read chunk by chunk.  A chunk that is unknown is skipped, one
 * whose sum is wrong is skipped and named; only without clocks or channels is
 * the whole of it of no use, and the header has to do. */
#include <stdlib.h>
#include <unistd.h>

#include "util/intl.h"
#include "trace/output.h"
#include "trace/reader.h"

#define CHECK_AT_OPEN ((size_t)8 << 20) /* bytes of columns; more are checked when they are asked for */

struct walk {
	struct trace *t;
	size_t at; /* of the chunk */
	bool has_anchor, bad_marks;
	size_t n_facts, n_channels, checked;
	struct run *runs; /* in the order of the file */
	size_t n_runs;
	bool no_memory;
};

/* Room for one more at the end of an array of n; it doubles. */
static void *grow(struct walk *w, void *array, size_t n, size_t size)
{
	void *bigger;

	if (n & (n - 1) || n == 1)
		return array;
	bigger = reallocarray(array, n ? 2 * n : 2, size);
	if (!bigger)
		w->no_memory = true;
	return bigger ? bigger : array;
}

static void bad(struct walk *w, uint32_t id)
{
	char name[5];

	chunk_name(id, name);
	trace_damage(w->t, _("chunk %s of the extension, at offset %llu, has a wrong checksum"), name,
		     (unsigned long long)w->at);
}

static void read_facts(struct walk *w, const uint8_t *p, size_t n)
{
	for (size_t used; n > 0; p += used, n -= used) {
		struct trace *t = w->t;

		t->facts = grow(w, t->facts, w->n_facts, sizeof(*t->facts));
		if (w->no_memory)
			return;
		used = fact_decode(p, n, &t->facts[w->n_facts]);
		if (used == 0) {
			bad(w, CHUNK_FACTS);
			return;
		}
		w->n_facts++;
	}
}

static void read_channels(struct walk *w, const uint8_t *p, size_t n)
{
	for (size_t used; n > 0; p += used, n -= used) {
		struct trace *t = w->t;
		struct source *s;

		t->channels = grow(w, t->channels, w->n_channels, sizeof(*t->channels));
		t->sources = grow(w, t->sources, w->n_channels, sizeof(*t->sources));
		if (w->no_memory)
			return;
		s = &t->sources[w->n_channels];
		memset(s, 0, sizeof(*s));
		used = channel_decode(p, n, &t->channels[w->n_channels], &s->place);
		if (used == 0 || w->n_channels == MAX_CHANNELS) {
			bad(w, CHUNK_CHANNELS);
			return;
		}
		w->n_channels++;
	}
}

static void read_marks(struct walk *w, const uint8_t *p, size_t n)
{
	uint64_t row;

	for (size_t used; n > 0; p += used, n -= used) {
		struct trace *t = w->t;

		t->marks = grow(w, t->marks, t->n_marks, sizeof(*t->marks));
		if (w->no_memory)
			return;
		used = mark_decode(p, n, &t->marks[t->n_marks], &row);
		if (used == 0) {
			bad(w, CHUNK_MARKS);
			w->bad_marks = true;
			return;
		}
		t->n_marks++;
	}
}

static void read_gaps(struct walk *w, const uint8_t *p, size_t n)
{
	for (; n >= GAP_SIZE; p += GAP_SIZE, n -= GAP_SIZE) {
		struct trace *t = w->t;

		t->gaps = grow(w, t->gaps, t->n_gaps, sizeof(*t->gaps));
		if (w->no_memory)
			return;
		if (gap_decode(p, &t->gaps[t->n_gaps]))
			t->n_gaps++;
		else
			bad(w, CHUNK_GAPS);
	}
}

static void read_changes(struct walk *w, const uint8_t *p, size_t n)
{
	for (size_t used; n > 0; p += used, n -= used) {
		struct trace *t = w->t;

		t->changes = grow(w, t->changes, t->n_changes, sizeof(*t->changes));
		if (w->no_memory)
			return;
		used = change_decode(p, n, &t->changes[t->n_changes]);
		if (used == 0) {
			bad(w, CHUNK_CHANGES);
			return;
		}
		t->n_changes++;
	}
}

static void read_runs(struct walk *w, const uint8_t *p, size_t n)
{
	for (; n >= RUN_SIZE; p += RUN_SIZE, n -= RUN_SIZE) {
		w->runs = grow(w, w->runs, w->n_runs, sizeof(*w->runs));
		if (w->no_memory)
			return;
		run_decode(p, &w->runs[w->n_runs++]);
	}
}

static void read_columns(struct walk *w, const uint8_t *p, uint64_t n)
{
	struct trace *t = w->t;
	struct columns c = {.chunk = w->at, .at = w->at + CHUNK_HEAD + COLUMNS_HEAD};
	size_t *count;

	if (!columns_decode(p, n, &c.head)) {
		bad(w, CHUNK_COLUMNS);
		return;
	}
	count = &t->n_columns[c.head.tier];
	if (*count > 0) {
		const struct columns_head *h = &t->columns[c.head.tier][*count - 1].head;

		if (c.head.row < h->row + h->rows) {
			bad(w, CHUNK_COLUMNS);
			return;
		}
	}
	w->checked += (size_t)n;
	if (w->checked <= CHECK_AT_OPEN && !columns_check(t, &c))
		bad(w, CHUNK_COLUMNS); /* it stays in the list: its rows are missing */
	t->columns[c.head.tier] = grow(w, t->columns[c.head.tier], *count, sizeof(c));
	if (!w->no_memory)
		t->columns[c.head.tier][(*count)++] = c;
}

static void read_pyramid(struct walk *w, const uint8_t *p, uint64_t n)
{
	struct piece piece = {.payload = p, .at = w->at};
	struct trace *t = w->t;
	const struct shelf *s;

	if (!pyramid_head_decode(p, n, &piece.head)) {
		bad(w, CHUNK_PYRAMID);
		return;
	}
	s = &t->shelf[piece.head.tier];
	for (int k = 0; k < s->levels; k++) {
		const struct level *l = &s->level[k];

		if (l->zoom == piece.head.zoom && l->n > 0 && l->piece[l->n - 1].head.first >= piece.head.first) {
			bad(w, CHUNK_PYRAMID);
			return;
		}
	}
	w->checked += (size_t)n;
	if (w->checked <= CHECK_AT_OPEN) {
		piece.checked = get_u32(p + n) == chunk_crc(p, (size_t)n);
		if (!piece.checked) {
			bad(w, CHUNK_PYRAMID); /* without it the tier's columns are not whole: they are made anew */
			return;
		}
	}
	if (shelf_put(&t->shelf[piece.head.tier], &piece) < 0)
		w->no_memory = true;
}

static void read_anchor(struct walk *w, const uint8_t *p, size_t n)
{
	struct trace *t = w->t;
	struct clock_anchor a;

	for (; n >= ANCHOR_SIZE; p += ANCHOR_SIZE, n -= ANCHOR_SIZE) {
		anchor_decode(p, &a);
		if (a.mono_ns < 0 || a.mono_ns > INT64_C(1) << 61) {
			bad(w, CHUNK_ANCHOR);
			return;
		}
		t->anchors = grow(w, t->anchors, t->n_anchors, sizeof(*t->anchors));
		if (w->no_memory)
			return;
		if (!w->has_anchor)
			t->session.start = a;
		w->has_anchor = true;
		t->anchors[t->n_anchors++] = a;
	}
}

static void read_rates(struct walk *w, const uint8_t *p, size_t n)
{
	for (int t = 0; n >= RATES_SIZE && t < TIERS; t++) {
		double hz = get_f64(p + 8 * t);

		if (hz >= 1e-3 && hz <= 1e6)
			w->t->session.hz[t] = hz;
		else
			bad(w, CHUNK_RATES);
	}
}

static void read_chunk(struct walk *w, const struct chunk *c, const uint8_t *p)
{
	size_t n = (size_t)c->length;

	if (c->version != CHUNK_VERSION)
		return;
	if (c->id == CHUNK_COLUMNS) {
		read_columns(w, p, c->length);
		return;
	}
	if (c->id == CHUNK_PYRAMID) {
		read_pyramid(w, p, c->length);
		return;
	}
	if (get_u32(p + n) != chunk_crc(p, n)) {
		bad(w, c->id);
		w->bad_marks |= c->id == CHUNK_MARKS;
		return;
	}
	switch (c->id) {
	case CHUNK_ANCHOR:
		read_anchor(w, p, n);
		break;
	case CHUNK_RATES:
		read_rates(w, p, n);
		break;
	case CHUNK_FACTS:
		read_facts(w, p, n);
		break;
	case CHUNK_CHANNELS:
		read_channels(w, p, n);
		break;
	case CHUNK_MARKS:
		read_marks(w, p, n);
		break;
	case CHUNK_GAPS:
		read_gaps(w, p, n);
		break;
	case CHUNK_CHANGES:
		read_changes(w, p, n);
		break;
	case CHUNK_RUNS:
		read_runs(w, p, n);
		break;
	default:
		break;
	}
}

/* Every column of a row must belong to exactly one channel. */
static bool channels_sound(struct walk *w)
{
	struct session *s = &w->t->session;
	uint8_t taken[TIERS][MAX_CHANNELS] = {{0}};

	memset(s->width, 0, sizeof(s->width));
	for (size_t i = 0; i < w->n_channels; i++)
		s->width[w->t->channels[i].tier]++;
	for (size_t i = 0; i < w->n_channels; i++) {
		const struct channel *c = &w->t->channels[i];

		if (c->column >= s->width[c->tier] || taken[c->tier][c->column]++)
			return false;
	}
	return w->n_channels > 0;
}

/* Sort the runs into those of each channel; they must be in order there. */
static int runs_sort(struct walk *w)
{
	struct trace *t = w->t;
	size_t at = 0;

	t->runs = calloc(w->n_runs + 1, sizeof(*t->runs));
	if (!t->runs)
		return -1;
	for (size_t i = 0; i < w->n_runs; i++)
		if (w->runs[i].channel < w->n_channels)
			t->sources[w->runs[i].channel].n_runs++;
	for (size_t c = 0; c < w->n_channels; c++) {
		t->sources[c].run = at;
		at += t->sources[c].n_runs;
		t->sources[c].n_runs = 0;
	}
	for (size_t i = 0; i < w->n_runs; i++) {
		const struct run *r = &w->runs[i];
		struct source *s;
		struct run *before;

		if (r->channel >= w->n_channels || r->count == 0 || r->row > UINT64_MAX / 2 ||
		    r->count > UINT64_MAX / 2)
			continue;
		s = &t->sources[r->channel];
		before = s->n_runs > 0 ? &t->runs[s->run + s->n_runs - 1] : NULL;
		if (before && r->row < before->row + before->count)
			trace_damage(t, _("the runs of channel %s are out of order"),
				     t->channels[r->channel].name);
		else
			t->runs[s->run + s->n_runs++] = *r;
	}
	t->n_runs = w->n_runs;
	return 0;
}

/* All chunks from w->at on; notes where they stop being whole. */
static void walk_chunks(struct walk *w)
{
	struct trace *t = w->t;
	bool closed = false;
	struct chunk c;

	while (t->size - w->at >= CHUNK_HEAD + CHUNK_CRC) {
		if (!chunk_head_decode(t->map + w->at, &c)) {
			bad(w, c.id);
			return;
		}
		if (c.length > t->size - w->at - CHUNK_HEAD - CHUNK_CRC)
			break;
		read_chunk(w, &c, t->map + w->at + CHUNK_HEAD);
		w->at += CHUNK_HEAD + (size_t)c.length + CHUNK_CRC;
		trace_touch(t, c.length < AROUND ? (size_t)c.length : AROUND);
		closed = c.id == CHUNK_CLOSE;
	}
	if (!closed || w->at != t->size)
		trace_damage(t, _("it ends at offset %llu, in the extension"), (unsigned long long)t->size);
}

int extension_read(struct trace *t, size_t at)
{
	struct walk w = {.t = t, .at = at};
	int r = 0;

	walk_chunks(&w);
	if (w.no_memory) {
		r = -1;
	} else if (w.has_anchor && channels_sound(&w)) {
		t->extended = true;
		t->session.channels = t->channels;
		t->session.n_channels = w.n_channels;
		t->session.facts = t->facts;
		t->session.n_facts = w.n_facts;
		r = runs_sort(&w);
		if (r == 0 && w.bad_marks)
			r = sync_marks(t);
	} else {
		trace_damage(t, _("its extension has no clocks or no channels"));
		memset(&t->session.start, 0, sizeof(t->session.start));
		memset(t->n_columns, 0, sizeof(t->n_columns));
		t->n_gaps = 0;
		t->n_changes = 0;
	}
	free(w.runs);
	return r;
}

bool extension_peek(int fd, uint64_t at, struct clock_anchor *out)
{
	uint8_t head[CHUNK_HEAD + ANCHOR_SIZE + CHUNK_CRC];
	struct chunk c;

	for (int i = 0; i < 2; i++) { /* who wrote it, then the clocks */
		if (at > INT64_MAX - sizeof(head) ||
		    read_at(fd, head, sizeof(head), (off_t)at) != (ssize_t)sizeof(head))
			return false;
		if (!chunk_head_decode(head, &c) || c.length > INT32_MAX)
			return false;
		if (c.id == CHUNK_ANCHOR && c.version == CHUNK_VERSION && c.length == ANCHOR_SIZE &&
		    get_u32(head + CHUNK_HEAD + ANCHOR_SIZE) == chunk_crc(head + CHUNK_HEAD, ANCHOR_SIZE)) {
			anchor_decode(head + CHUNK_HEAD, out);
			return true;
		}
		at += CHUNK_HEAD + c.length + CHUNK_CRC;
	}
	return false;
}

bool close_chunk(const uint8_t *map, size_t size, const uint8_t **payload)
{
	const size_t n = CHUNK_HEAD + CLOSE_SIZE + CHUNK_CRC;
	const uint8_t *p;
	struct chunk c;

	if (size < HEADER_SIZE + n)
		return false;
	p = map + size - n;
	*payload = p + CHUNK_HEAD;
	return chunk_head_decode(p, &c) && c.id == CHUNK_CLOSE && c.version == CHUNK_VERSION &&
	       c.length == CLOSE_SIZE && get_u32(*payload + CLOSE_SIZE) == chunk_crc(*payload, CLOSE_SIZE);
}
