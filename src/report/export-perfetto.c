/* Perfetto's protobuf format: a tenth of the size of its JSON, and with a clock snapshot, so that samples
 * are aligned with ftrace and the program's events. A trace is a sequence of packets, field 1 of the
 * top-level message. Field numbers are those of trace_packet, track_event, track_descriptor and
 * clock_snapshot.proto. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/export.h"
#include "util/array.h"

enum {
	TRACE_PACKET = 1,
	PACKET_CLOCKS = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_CLOCK_ID = 58,
	PACKET_TRACK = 60,
	SNAPSHOT_CLOCK = 1,
	SNAPSHOT_PRIMARY = 2,
	CLOCK_ID = 1,
	CLOCK_TIME = 2,
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	TRACK_CHILDREN = 11,
	TRACK_RANK = 12,
	TRACK_DESCRIPTION = 14,
	COUNTER_UNIT = 3,
	COUNTER_MULTIPLIER = 4,
	COUNTER_UNIT_NAME = 6,
	PROCESS_PID = 1, /* also of a thread */
	PROCESS_NAME = 6,
	THREAD_TID = 2,
	THREAD_NAME = 5,
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_TRACK = 11,
	EVENT_CATEGORY = 22,
	EVENT_NAME = 23,
	EVENT_VALUE = 44,
	ANNOTATION_BOOL = 2,
	ANNOTATION_UINT = 3,
	ANNOTATION_INT = 4,
	ANNOTATION_DOUBLE = 5,
	ANNOTATION_NAME = 10,
};
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum { CHILDREN_BY_RANK = 3 };
enum { CLOCK_REAL = 1, CLOCK_MONO = 3, CLOCK_BOOT = 6 };

/* Tracks: the board, marks, epochs, gaps of each tier, changes, one per family, one per signal; processes, their
 * threads, and one per lane of ranges, or more where ranges of a lane overlap without one being in the other. The board
 * is not a process: its number would collide with a process of another trace that this one is merged
 * with. */
enum {
	UUID_BOARD = 1,
	UUID_MARKS,
	UUID_EPOCHS,
	UUID_GAPS,
	UUID_GAPS_TIER,
	UUID_CHANGES = UUID_GAPS_TIER + TIERS,
	UUID_FAMILY,
	UUID_SIGNAL = UUID_FAMILY + FAMILIES,
	UUID_RANGES = 1 << 20
};

#define SEQUENCE 1

struct message {
	size_t n;
	uint8_t bytes[2048];
};

/* A track of slices that nest. */
struct slice_track {
	const struct range_lane *lane;
	int64_t inner_ns; /* end of the innermost open slice; INT64_MAX: none is open */
};

struct slice {
	int64_t end_ns, outer_ns; /* outer: the inner_ns of its track before */
	size_t track;
};

struct slices {
	struct slice_track *tracks;
	struct slice *open; /* in order of begin */
	size_t n_tracks, n_open;
	size_t next; /* index of the one that ends next */
};

static void put_varint(struct message *m, uint64_t v)
{
	do {
		if (m->n < sizeof(m->bytes))
			m->bytes[m->n++] = (uint8_t)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
	} while (v >>= 7);
}

static void put_int(struct message *m, unsigned field, uint64_t v)
{
	put_varint(m, field << 3);
	put_varint(m, v);
}

static void put_double(struct message *m, unsigned field, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	put_varint(m, field << 3 | 1);
	for (int i = 0; i < 64 && m->n < sizeof(m->bytes); i += 8)
		m->bytes[m->n++] = (uint8_t)(bits >> i);
}

/* Messages stay below the limit: texts of a trace have at most some hundred bytes. */
static void put_bytes(struct message *m, unsigned field, const void *p, size_t n)
{
	put_varint(m, field << 3 | 2);
	put_varint(m, n);
	if (n > sizeof(m->bytes) - m->n)
		n = sizeof(m->bytes) - m->n;
	memcpy(m->bytes + m->n, p, n);
	m->n += n;
}

static void put_text(struct message *m, unsigned field, const char *text)
{
	put_bytes(m, field, text, strlen(text));
}

static void put_message(struct message *m, unsigned field, const struct message *inner)
{
	put_bytes(m, field, inner->bytes, inner->n);
}

static void packet(struct export *x, struct message *m)
{
	struct message head = {.n = 0};

	put_int(m, PACKET_SEQUENCE, SEQUENCE);
	put_varint(&head, TRACE_PACKET << 3 | 2);
	put_varint(&head, m->n);
	fwrite(head.bytes, 1, head.n, x->f);
	fwrite(m->bytes, 1, m->n, x->f);
}

static bool anchored(const struct export *x)
{
	return x->session->start.real_ns != 0;
}

static void put_clock(struct message *snapshot, unsigned id, int64_t ns)
{
	struct message c = {.n = 0};

	put_int(&c, CLOCK_ID, id);
	put_int(&c, CLOCK_TIME, (uint64_t)ns);
	put_message(snapshot, SNAPSHOT_CLOCK, &c);
}

static void write_snapshot(struct export *x, const struct clock_anchor *a)
{
	struct message snapshot = {.n = 0}, m = {.n = 0};

	put_clock(&snapshot, CLOCK_BOOT, a->boot_ns);
	put_clock(&snapshot, CLOCK_MONO, a->mono_ns);
	put_clock(&snapshot, CLOCK_REAL, a->real_ns);
	put_int(&snapshot, SNAPSHOT_PRIMARY, CLOCK_BOOT);
	put_int(&m, PACKET_TIMESTAMP, (uint64_t)a->boot_ns);
	put_int(&m, PACKET_CLOCK_ID, CLOCK_BOOT);
	put_message(&m, PACKET_CLOCKS, &snapshot);
	packet(x, &m);
}

/* rest has the fields specific to the track. */
static void write_track(struct export *x, uint64_t uuid, uint64_t parent, uint64_t rank, const char *name,
			const struct message *rest)
{
	struct message t = *rest, m = {.n = 0};

	put_int(&t, TRACK_UUID, uuid);
	if (parent)
		put_int(&t, TRACK_PARENT, parent);
	put_int(&t, TRACK_RANK, rank);
	put_text(&t, TRACK_NAME, name);
	put_message(&m, PACKET_TRACK, &t);
	packet(x, &m);
}

/* Children are shown in the order of their ranks. */
static void write_group(struct export *x, uint64_t uuid, uint64_t parent, uint64_t rank, const char *name)
{
	struct message order = {.n = 0};

	put_int(&order, TRACK_CHILDREN, CHILDREN_BY_RANK);
	write_track(x, uuid, parent, rank, name, &order);
}

static void write_clocks(struct export *x)
{
	size_t n;
	const struct clock_anchor *a = trace_anchors(x->trace, &n);

	for (size_t i = 0; i < n && anchored(x); i++)
		write_snapshot(x, &a[i]);
}

/* Label, source, note and the reason if it has no value. */
static void put_description(struct message *m, const struct channel *c)
{
	const char *const parts[] = {c->label, c->source, c->note, c->missing};
	char text[640];
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i][0] && n < sizeof(text))
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", n ? "; " : "", parts[i]);
	if (text[0])
		put_text(m, TRACK_DESCRIPTION, text);
}

/* Perfetto formats sizes in bytes; other units are passed by name. */
static void write_signal(struct export *x, size_t i)
{
	const struct channel *c = &x->session->channels[x->channels.list[i]];
	struct message counter = {.n = 0}, t = {.n = 0};

	if (c->unit == UNIT_KB) {
		put_int(&counter, COUNTER_UNIT, 3);
		put_int(&counter, COUNTER_MULTIPLIER, 1024);
	} else if (*unit_name(c->unit)) {
		put_text(&counter, COUNTER_UNIT_NAME, unit_name(c->unit));
	}
	put_description(&t, c);
	put_message(&t, TRACK_COUNTER, &counter);
	write_track(x, UUID_SIGNAL + i, UUID_FAMILY + (unsigned)c->family, i, c->name, &t);
}

static void perfetto_begin(struct export *x)
{
	const struct session *s = x->session;
	const char *title = fact_get(s->facts, s->n_facts, "title");
	bool has[FAMILIES] = {false};

	if (!title)
		title = fact_get(s->facts, s->n_facts, "board");
	x->slices = x->has_ranges ? calloc(1, sizeof(*x->slices)) : NULL;
	if (x->has_ranges && !x->slices)
		x->error = ENOMEM;
	write_clocks(x);
	write_group(x, UUID_BOARD, 0, 0, title ? title : "nvmtop");
	write_group(x, UUID_EPOCHS, UUID_BOARD, 0, "phases");
	write_group(x, UUID_MARKS, UUID_BOARD, 1, "marks");
	write_group(x, UUID_GAPS, UUID_BOARD, 2, "gaps");
	for (unsigned t = 0; t < TIERS; t++)
		write_group(x, UUID_GAPS_TIER + t, UUID_GAPS, t, tier_name((enum tier)t));
	write_group(x, UUID_CHANGES, UUID_BOARD, 3, "changes");
	for (size_t i = 0; i < x->channels.n; i++)
		has[s->channels[x->channels.list[i]].family] = true;
	for (int f = 0; f < FAMILIES; f++)
		if (has[f])
			write_group(x, UUID_FAMILY + (unsigned)f, UUID_BOARD, 4 + (unsigned)f,
				    family_name((enum family)f));
	for (size_t i = 0; i < x->channels.n; i++)
		write_signal(x, i);
}

/* Without an anchor, times count from the start on a clock of the trace. */
static void write_event(struct export *x, int64_t t_ns, const struct message *event)
{
	struct message m = {.n = 0};

	if (anchored(x)) {
		put_int(&m, PACKET_TIMESTAMP, (uint64_t)t_ns);
		put_int(&m, PACKET_CLOCK_ID, CLOCK_MONO);
	} else {
		put_int(&m, PACKET_TIMESTAMP, (uint64_t)(t_ns - x->session->start.mono_ns));
	}
	put_message(&m, PACKET_EVENT, event);
	packet(x, &m);
}

static void write_named(struct export *x, int64_t t_ns, unsigned type, uint64_t track, const char *name)
{
	struct message event = {.n = 0};

	put_int(&event, EVENT_TYPE, type);
	put_int(&event, EVENT_TRACK, track);
	if (name)
		put_text(&event, EVENT_NAME, name);
	write_event(x, t_ns, &event);
}

/* A process, or a thread of it. */
static void write_owner(struct export *x, uint64_t uuid, uint64_t parent, const struct range_lane *l, bool thread)
{
	struct message ids = {.n = 0}, t = {.n = 0};
	const char *name = thread ? l->thread : l->process;

	put_int(&ids, PROCESS_PID, l->pid);
	if (thread)
		put_int(&ids, THREAD_TID, l->tid);
	if (*name)
		put_text(&ids, thread ? THREAD_NAME : PROCESS_NAME, name);
	put_message(&t, thread ? TRACK_THREAD : TRACK_PROCESS, &ids);
	write_track(x, uuid, parent, 0, name, &t);
}

/* Describes a track with its parents: those of one thread and process are described by its first lane. */
static void track_describe(struct export *x, size_t i)
{
	const struct slices *s = x->slices;
	const struct range_lane *l = s->tracks[i].lane;
	uint64_t process, thread;
	size_t k = 0;

	while (s->tracks[k].lane->pid != l->pid)
		k++;
	process = UUID_RANGES + 3 * k;
	if (k == i)
		write_owner(x, process, 0, l, false);
	for (k = 0; s->tracks[k].lane->pid != l->pid || s->tracks[k].lane->tid != l->tid; k++)
		;
	thread = UUID_RANGES + 3 * k + 1;
	if (k == i && l->tid)
		write_owner(x, thread, process, l, true);
	write_track(x, UUID_RANGES + 3 * i + 2, l->tid ? thread : process, 0, *l->domain ? l->domain : "NVTX",
		    &(struct message) {.n = 0});
}

/* The first track of the lane that has room for the range; -1: out of memory. */
static ptrdiff_t track_for(struct export *x, const struct range *r)
{
	struct slices *s = x->slices;

	for (size_t i = 0; i < s->n_tracks; i++)
		if (s->tracks[i].lane == r->lane && r->end_ns <= s->tracks[i].inner_ns)
			return (ptrdiff_t)i;
	struct slice_track *added = array_add(&s->tracks, &s->n_tracks, sizeof(*added));
	if (!added)
		return -1;
	*added = (struct slice_track) {r->lane, INT64_MAX};
	track_describe(x, s->n_tracks - 1);
	return (ptrdiff_t)s->n_tracks - 1;
}

static void put_note(struct message *event, const char *name, unsigned field, uint64_t bits)
{
	struct message m = {.n = 0};
	double v;

	memcpy(&v, &bits, sizeof(v));
	if (field == ANNOTATION_DOUBLE)
		put_double(&m, field, v);
	else
		put_int(&m, field, bits);
	put_text(&m, ANNOTATION_NAME, name);
	put_message(event, EVENT_ANNOTATION, &m);
}

/* Of those that end at a time the innermost, which began last, is the next. */
static void slice_end(struct export *x)
{
	struct slices *s = x->slices;
	struct slice ended = s->open[s->next];

	s->n_open--;
	memmove(s->open + s->next, s->open + s->next + 1, (s->n_open - s->next) * sizeof(ended));
	s->next = 0;
	for (size_t i = 1; i < s->n_open; i++)
		if (s->open[i].end_ns <= s->open[s->next].end_ns)
			s->next = i;
	s->tracks[ended.track].inner_ns = ended.outer_ns;
	write_named(x, ended.end_ns, TYPE_END, UUID_RANGES + 3 * ended.track + 2, NULL);
}

/* Ends all gaps and slices that end by t_ns: events must be in time order. */
static void all_end(struct export *x, int64_t t_ns)
{
	const struct slices *s = x->slices;

	for (;;) {
		int first = -1;

		for (int t = 0; t < TIERS; t++)
			if (x->gap_end[t] && x->gap_end[t] <= t_ns &&
			    (first < 0 || x->gap_end[t] < x->gap_end[first]))
				first = t;
		if (s && s->n_open && s->open[s->next].end_ns <= t_ns &&
		    (first < 0 || s->open[s->next].end_ns < x->gap_end[first])) {
			slice_end(x);
		} else if (first >= 0) {
			write_named(x, x->gap_end[first], TYPE_END, UUID_GAPS_TIER + (unsigned)first, NULL);
			x->gap_end[first] = 0;
		} else {
			return;
		}
	}
}

static void numbered(char *out, size_t size, const char *word, uint64_t id, const char *label)
{
	snprintf(out, size, "%s %llu%s%s", word, (unsigned long long)id, *label ? ": " : "", label);
}

static void perfetto_epoch(struct export *x, const struct epoch *ep, bool begins)
{
	char name[128];

	all_end(x, begins ? ep->from_ns : ep->to_ns);
	numbered(name, sizeof(name), "phase", ep->id, ep->label);
	write_named(x, begins ? ep->from_ns : ep->to_ns, begins ? TYPE_BEGIN : TYPE_END, UUID_EPOCHS,
		    begins ? name : NULL);
}

static void perfetto_row(struct export *x, const struct row *r)
{
	double v;

	all_end(x, r->t_ns);
	for (size_t i = 0; i < x->channels.n; i++) {
		struct message event = {.n = 0};

		if (!row_value(x, r, i, &v) || !isfinite(v))
			continue;
		put_int(&event, EVENT_TYPE, TYPE_COUNTER);
		put_int(&event, EVENT_TRACK, UUID_SIGNAL + i);
		put_double(&event, EVENT_VALUE, v);
		write_event(x, r->t_ns, &event);
	}
}

static void perfetto_mark(struct export *x, const struct mark *m)
{
	char name[128];

	all_end(x, m->t_ns);
	numbered(name, sizeof(name), "mark", m->id, m->label);
	write_named(x, m->t_ns, TYPE_INSTANT, UUID_MARKS, name);
}

static void perfetto_gap(struct export *x, const struct gap *g)
{
	char name[96];

	all_end(x, g->from_ns);
	if (x->gap_end[g->tier]) /* started within another gap */
		return;
	snprintf(name, sizeof(name), "%llu ticks %s", (unsigned long long)g->missed,
		 gap_causes[g->cause]);
	write_named(x, g->from_ns, TYPE_BEGIN, UUID_GAPS_TIER + (unsigned)g->tier, name);
	x->gap_end[g->tier] = g->to_ns;
}

static void perfetto_end(struct export *x)
{
	all_end(x, INT64_MAX);
	if (x->slices) {
		free(x->slices->tracks);
		free(x->slices->open);
		free(x->slices);
	}
}

static void perfetto_change(struct export *x, const struct change *c)
{
	char name[CHANGE_TEXT];

	all_end(x, c->t_ns);
	change_text(name, c);
	write_named(x, c->t_ns, TYPE_INSTANT, UUID_CHANGES, name);
}

static void perfetto_range(struct export *x, const struct range *r)
{
	static const unsigned payloads[] = {[RANGE_UNSIGNED] = ANNOTATION_UINT,
					    [RANGE_SIGNED] = ANNOTATION_INT,
					    [RANGE_DOUBLE] = ANNOTATION_DOUBLE};
	struct message event = {.n = 0};
	struct slices *s = x->slices;
	struct slice *added;
	ptrdiff_t track;

	all_end(x, r->begin_ns);
	track = track_for(x, r);
	added = track >= 0 ? array_add(&s->open, &s->n_open, sizeof(*added)) : NULL;
	if (!added) {
		x->error = ENOMEM;
		return;
	}
	put_int(&event, EVENT_TYPE, TYPE_BEGIN);
	put_int(&event, EVENT_TRACK, UUID_RANGES + 3 * (uint64_t)track + 2);
	put_text(&event, EVENT_NAME, r->name);
	put_text(&event, EVENT_CATEGORY, range_domain(r->lane->domain));
	if (r->category)
		put_text(&event, EVENT_CATEGORY, r->category);
	if (r->payload)
		put_note(&event, "payload", payloads[r->payload], r->value);
	if (r->flags & RANGE_OPEN)
		put_note(&event, "open", ANNOTATION_BOOL, 1);
	write_event(x, r->begin_ns, &event);
	if (s->n_open == 1 || r->end_ns <= s->open[s->next].end_ns)
		s->next = s->n_open - 1;
	*added = (struct slice) {r->end_ns, s->tracks[track].inner_ns, (size_t)track};
	s->tracks[track].inner_ns = r->end_ns;
}

const struct form form_perfetto = {perfetto_begin, perfetto_epoch, perfetto_row,    perfetto_mark,
				   perfetto_gap,   perfetto_end,   perfetto_change, perfetto_range};
