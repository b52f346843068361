/* nvmtop 0.1 wrote behind the sync points what version 1 cannot hold, as chunks:
 *
 *   id[4] version(u32) length(u64) crc(u32 of these 16 bytes) payload crc(u32 of the payload)
 *
 * A chunk that is unknown is skipped, a damaged one is skipped and reported.  Without clocks or
 * channels the extension is not used. */
#include <stdlib.h>

#include "util/intl.h"
#include "trace/log.h"
#include "trace/nvmt1-file.h"

#define HEAD	     20
#define CRC	     4
#define PAYLOAD_MAX  (UINT64_C(64) << 20)
#define ID(a, b, c, d) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)
enum {
	ID_OPEN = ID('N', 'V', 'M', 'X'),
	ID_ANCHOR = ID('A', 'N', 'C', 'H'),
	ID_RATES = ID('R', 'A', 'T', 'E'),
	ID_FACTS = ID('F', 'A', 'C', 'T'),
	ID_CHANNELS = ID('C', 'H', 'A', 'N'),
	ID_MARKS = ID('M', 'A', 'R', 'K'),
	ID_GAPS = ID('G', 'A', 'P', 'S'),
	ID_CHANGES = ID('S', 'T', 'A', 'T'),
	ID_RUNS = ID('R', 'U', 'N', 'S'),
	ID_COLUMNS = ID('C', 'O', 'L', 'S'),
	ID_CLOSE = ID('E', 'N', 'D', 'X'),
};

struct walk {
	struct nvmt1 *f;
	uint64_t at; /* of the chunk */
	size_t n_facts, n_channels;
	struct run *runs; /* in the order of the file */
	size_t n_runs;
	bool no_memory;
};

/* Room for one more element behind n; the size doubles. */
static void *grow(struct walk *w, void *array, size_t n, size_t size)
{
	void *bigger;

	if (n & (n - 1) || n == 1)
		return array;
	bigger = reallocarray(array, n ? 2 * n : 2, size);
	w->no_memory |= !bigger;
	return bigger ? bigger : array;
}

static void bad(struct walk *w, uint32_t id)
{
	char name[5];

	for (int i = 0; i < 4; i++)
		name[i] = (char)(id >> (8 * i));
	name[4] = '\0';
	for (int i = 0; i < 4; i++)
		if (name[i] < ' ' || name[i] > '~')
			name[i] = '?';
	nvmt1_damage(w->f, _("chunk %s of the extension, at offset %llu, has a wrong checksum"), name,
		     (unsigned long long)w->at);
}

static bool time_sound(int64_t t_ns)
{
	return t_ns >= 0 && t_ns < INT64_C(1) << 62;
}

static int64_t get_time(struct log_in *in)
{
	int64_t t_ns = log_get_i64(in);

	in->bad |= !time_sound(t_ns);
	return t_ns;
}

static void read_fact(struct walk *w, struct log_in *in)
{
	struct nvmt1 *f = w->f;

	f->facts = grow(w, f->facts, w->n_facts, sizeof(*f->facts));
	if (w->no_memory)
		return;
	log_get_str(in, f->facts[w->n_facts].key, sizeof(f->facts->key));
	log_get_str(in, f->facts[w->n_facts].value, sizeof(f->facts->value));
	w->n_facts += !in->bad;
}

static int get_name(struct log_in *in, int (*find)(const char *), int otherwise)
{
	char name[64];
	int found;

	log_get_str(in, name, sizeof(name));
	found = find(name);
	return found >= 0 ? found : otherwise;
}

/* Enums are stored as names, so that an unknown one becomes "other". */
static void read_channel(struct walk *w, struct log_in *all)
{
	struct nvmt1 *f = w->f;
	uint32_t size = log_get_u32(all);
	const uint8_t *p = log_in_take(all, size);
	struct log_in in = {p, p ? p + size : NULL, !p};
	struct channel *c;
	struct place *place;
	unsigned field;
	int tier;

	f->channels = grow(w, f->channels, w->n_channels, sizeof(*f->channels));
	f->places = grow(w, f->places, w->n_channels, sizeof(*f->places));
	if (w->no_memory || !p || w->n_channels == MAX_CHANNELS) {
		all->bad = true;
		return;
	}
	c = &f->channels[w->n_channels];
	place = &f->places[w->n_channels];
	memset(c, 0, sizeof(*c));
	c->index = (uint16_t)log_get_u16(&in);
	c->column = (uint16_t)log_get_u16(&in);
	field = log_get_u16(&in);
	place->slot = (uint16_t)log_get_u16(&in);
	c->lo = log_get_f64(&in);
	c->hi = log_get_f64(&in);
	c->period_ns = log_get_i64(&in);
	c->warn = log_get_f64(&in);
	c->crit = log_get_f64(&in);
	log_get_str(&in, c->name, sizeof(c->name));
	log_get_str(&in, c->label, sizeof(c->label));
	c->kind = (enum channel_kind)get_name(&in, channel_kind_find, CHANNEL_OTHER);
	tier = get_name(&in, tier_find, -1);
	c->unit = (enum unit)get_name(&in, unit_find, UNIT_NONE);
	c->family = (enum family)get_name(&in, family_find, FAMILY_OTHER);
	log_get_str(&in, c->source, sizeof(c->source));
	log_get_str(&in, c->note, sizeof(c->note));
	log_get_str(&in, c->missing, sizeof(c->missing));
	if (in.p < in.end)
		log_get_str(&in, c->kernel, sizeof(c->kernel));
	c->tier = (enum tier)tier;
	place->field = (uint8_t)field;
	if (c->kind == CHANNEL_THROTTLE && !strcmp(c->name, "throttle.hot-surface-alert"))
		c->kind = CHANNEL_NOTICE; /* 0.1 wrote the wrong kind */
	if (in.bad || tier < 0 || field >= FIELDS ||
	    (field != FIELD_EXTRA && (place->slot >= field_slots((enum field)field) ||
				      field_tier((enum field)field) != c->tier)))
		all->bad = true;
	else
		w->n_channels++;
}

static void read_mark(struct walk *w, struct log_in *in)
{
	struct nvmt1 *f = w->f;
	struct mark *m;

	f->marks = grow(w, f->marks, f->n_marks, sizeof(*f->marks));
	if (w->no_memory)
		return;
	m = &f->marks[f->n_marks];
	m->id = log_get_u64(in);
	m->t_ns = get_time(in);
	log_get_u64(in); /* its fast row */
	log_get_str(in, m->label, sizeof(m->label));
	f->n_marks += !in->bad;
}

static void read_gap(struct walk *w, struct log_in *in)
{
	struct nvmt1 *f = w->f;
	struct gap *g;
	unsigned tier;

	f->gaps = grow(w, f->gaps, f->n_gaps, sizeof(*f->gaps));
	if (w->no_memory)
		return;
	g = &f->gaps[f->n_gaps];
	tier = log_get_u8(in);
	g->tier = (enum tier)tier;
	g->cause = log_get_u8(in) == GAP_LOST ? GAP_LOST : GAP_LATE;
	log_get_u16(in);
	g->from_ns = get_time(in);
	g->to_ns = get_time(in);
	g->missed = log_get_u64(in);
	in->bad |= tier >= TIERS || g->from_ns > g->to_ns;
	f->n_gaps += !in->bad;
}

static void read_change(struct walk *w, struct log_in *all)
{
	struct nvmt1 *f = w->f;
	uint32_t size = log_get_u32(all);
	const uint8_t *p = log_in_take(all, size);
	struct log_in in = {p, p ? p + size : NULL, !p};
	struct change *c;

	f->changes = grow(w, f->changes, f->n_changes, sizeof(*f->changes));
	if (w->no_memory)
		return;
	c = &f->changes[f->n_changes];
	memset(c, 0, sizeof(*c));
	c->t_ns = get_time(&in);
	log_get_str(&in, c->what, sizeof(c->what));
	log_get_str(&in, c->from, sizeof(c->from));
	log_get_str(&in, c->to, sizeof(c->to));
	all->bad |= in.bad;
	f->n_changes += !in.bad;
}

static void read_run(struct walk *w, struct log_in *in)
{
	struct run *r;

	w->runs = grow(w, w->runs, w->n_runs, sizeof(*w->runs));
	if (w->no_memory)
		return;
	r = &w->runs[w->n_runs];
	r->channel = log_get_u32(in);
	r->row = log_get_u64(in);
	r->count = log_get_u64(in);
	r->value = log_get_f64(in);
	w->n_runs += !in->bad;
}

static void read_anchor(struct walk *w, struct log_in *in)
{
	struct nvmt1 *f = w->f;
	struct clock_anchor *a;

	f->anchors = grow(w, f->anchors, f->n_anchors, sizeof(*f->anchors));
	if (w->no_memory)
		return;
	a = &f->anchors[f->n_anchors];
	a->mono_ns = log_get_i64(in);
	a->real_ns = log_get_i64(in);
	a->boot_ns = log_get_i64(in);
	in->bad |= a->mono_ns < 0 || a->mono_ns > INT64_C(1) << 61;
	a->real_ns = time_sound(a->real_ns) ? a->real_ns : 0;
	a->boot_ns = time_sound(a->boot_ns) ? a->boot_ns : 0;
	f->n_anchors += !in->bad;
}

static void read_rates(struct walk *w, struct log_in *in)
{
	for (int t = 0; t < TIERS; t++) {
		double hz = log_get_f64(in);

		if (hz >= 1e-3 && hz <= 1e6)
			w->f->session.hz[t] = hz;
		else
			in->bad = true;
	}
}

/* Rows of further channels stay in the file until they are needed. */
static void read_columns(struct walk *w, uint64_t length)
{
	struct nvmt1 *f = w->f;
	uint8_t p[24];
	struct columns c = {.at = w->at + HEAD};
	struct columns *list, *before;
	uint32_t tier;

	if (length < sizeof(p) || length > PAYLOAD_MAX || !nvmt1_read(f, p, sizeof(p), c.at)) {
		bad(w, ID_COLUMNS);
		return;
	}
	tier = get_u32(p);
	c.columns = get_u32(p + 4);
	c.row = get_u64(p + 8);
	c.rows = get_u64(p + 16);
	before = tier < TIERS && f->n_columns[tier] > 0 ? &f->columns[tier][f->n_columns[tier] - 1] : NULL;
	if (tier >= TIERS || c.columns == 0 || c.columns > MAX_CHANNELS || c.rows == 0 || c.rows > length ||
	    (length - sizeof(p)) != c.rows * c.columns * 8 || c.row >= f->section[tier].rows ||
	    (before && c.row < before->row + before->rows)) {
		bad(w, ID_COLUMNS);
		return;
	}
	list = grow(w, f->columns[tier], f->n_columns[tier], sizeof(c));
	f->columns[tier] = list;
	if (!w->no_memory)
		list[f->n_columns[tier]++] = c;
}

static void read_chunk(struct walk *w, uint32_t id, uint64_t length)
{
	static const struct {
		uint32_t id;
		void (*read)(struct walk *w, struct log_in *in);
	} kinds[] = {
		{ID_ANCHOR, read_anchor}, {ID_RATES, read_rates},     {ID_FACTS, read_fact},
		{ID_CHANNELS, read_channel}, {ID_MARKS, read_mark},   {ID_GAPS, read_gap},
		{ID_CHANGES, read_change}, {ID_RUNS, read_run},
	};
	struct log_in in;
	uint8_t *p;
	size_t k = 0;

	if (id == ID_COLUMNS) {
		read_columns(w, length); /* checked when its rows are read */
		return;
	}
	while (k < sizeof(kinds) / sizeof(kinds[0]) && kinds[k].id != id)
		k++;
	p = length <= PAYLOAD_MAX ? malloc((size_t)length + CRC) : NULL;
	if (!p || !nvmt1_read(w->f, p, (size_t)length + CRC, w->at + HEAD) ||
	    get_u32(p + length) != log_crc(p, (size_t)length)) {
		bad(w, id);
		free(p);
		return;
	}
	in = (struct log_in) {p, p + length, false};
	while (k < sizeof(kinds) / sizeof(kinds[0]) && in.p < in.end && !in.bad && !w->no_memory)
		kinds[k].read(w, &in);
	if (in.bad)
		bad(w, id);
	free(p);
}

/* Walk over all chunks behind the sync points. False: no extension. */
static bool walk(struct walk *w)
{
	struct nvmt1 *f = w->f;
	bool any = false, closed = false;
	uint8_t head[HEAD];

	while (f->size - w->at >= HEAD + CRC && nvmt1_read(f, head, HEAD, w->at)) {
		uint32_t id = get_u32(head);
		uint64_t length = get_u64(head + 8);

		if (!any && id != ID_OPEN)
			return false;
		any = true;
		if (get_u32(head + 16) != log_crc(head, 16)) {
			bad(w, id);
			return true;
		}
		if (length > f->size - w->at - HEAD - CRC)
			break;
		if (get_u32(head + 4) == 1)
			read_chunk(w, id, length);
		w->at += HEAD + length + CRC;
		closed = id == ID_CLOSE;
	}
	if (any && (!closed || w->at != f->size))
		nvmt1_damage(f, _("it ends at offset %llu, in the extension"), (unsigned long long)f->size);
	return any;
}

/* Every column of a row belongs to exactly one channel. */
static bool channels_sound(struct walk *w)
{
	struct session *s = &w->f->session;
	bool taken[TIERS][MAX_CHANNELS] = {{false}};

	memset(s->width, 0, sizeof(s->width));
	for (size_t i = 0; i < w->n_channels; i++)
		s->width[w->f->channels[i].tier]++;
	for (size_t i = 0; i < w->n_channels; i++) {
		const struct channel *c = &w->f->channels[i];

		if (c->column >= s->width[c->tier] || taken[c->tier][c->column])
			return false;
		taken[c->tier][c->column] = true;
	}
	return w->n_channels > 0 && w->f->n_anchors > 0;
}

/* Runs by channel; those of a channel are in the order of rows, or dropped. */
static int sort_runs(struct walk *w)
{
	struct nvmt1 *f = w->f;
	size_t *first = calloc(w->n_channels + 2, sizeof(*first));

	f->runs = calloc(w->n_runs + 1, sizeof(*f->runs));
	f->first_run = first;
	if (!f->runs || !first)
		return -1;
	for (size_t c = 0; c < w->n_channels; c++) {
		const struct run *before = NULL;

		first[c] = f->n_runs;
		for (size_t i = 0; i < w->n_runs; i++) {
			const struct run *r = &w->runs[i];

			if (r->channel != c || r->count == 0 || r->row > UINT64_MAX / 4 || r->count > UINT64_MAX / 4)
				continue;
			if (before && r->row < before->row + before->count) {
				nvmt1_damage(f, _("the runs of channel %s are out of order"), f->channels[c].name);
				continue;
			}
			f->runs[f->n_runs] = *r;
			before = &f->runs[f->n_runs++];
		}
	}
	first[w->n_channels] = f->n_runs;
	return 0;
}

static void forget(struct nvmt1 *f)
{
	nvmt1_damage(f, _("its extension has no clocks or no channels"));
	f->n_gaps = f->n_changes = f->n_anchors = 0;
	memset(f->n_columns, 0, sizeof(f->n_columns));
}

int nvmt1_extension(struct nvmt1 *f)
{
	struct walk w = {.f = f, .at = f->end};
	int rc = 0;

	if (walk(&w) && !w.no_memory) {
		f->extended = channels_sound(&w);
		if (f->extended) {
			f->session.start = f->anchors[0];
			f->session.channels = f->channels;
			f->session.n_channels = w.n_channels;
			f->session.facts = f->facts;
			f->session.n_facts = w.n_facts;
			rc = sort_runs(&w);
		} else {
			forget(f);
		}
	}
	free(w.runs);
	return w.no_memory ? -1 : rc;
}

bool nvmt1_closing(struct nvmt1 *f, uint64_t counts[4], uint32_t *header_crc)
{
	uint8_t p[HEAD + 52 + CRC];

	if (f->size < HEADER_SIZE + sizeof(p) || !nvmt1_read(f, p, sizeof(p), f->size - sizeof(p)) ||
	    get_u32(p) != ID_CLOSE || get_u64(p + 8) != 52 || get_u32(p + 16) != log_crc(p, 16) ||
	    get_u32(p + HEAD + 52) != log_crc(p + HEAD, 52))
		return false;
	for (int i = 0; i < 4; i++)
		counts[i] = get_u64(p + HEAD + 16 + 8 * i);
	*header_crc = get_u32(p + HEAD + 48);
	return true;
}

bool nvmt1_start(int fd, uint64_t at, struct clock_anchor *out)
{
	struct nvmt1 f = {.fd = fd};
	uint8_t p[HEAD + 24 + CRC];

	for (int i = 0; i < 2; i++) { /* the writer, then the clocks */
		struct log_in in = {p + HEAD, p + HEAD + 24, false};

		if (at > INT64_MAX - sizeof(p) || !nvmt1_read(&f, p, sizeof(p), at) || get_u32(p + 16) != log_crc(p, 16))
			return false;
		if (get_u32(p) == ID_ANCHOR && get_u64(p + 8) == 24 && get_u32(p + HEAD + 24) == log_crc(p + HEAD, 24)) {
			out->mono_ns = log_get_i64(&in);
			out->real_ns = log_get_i64(&in);
			out->boot_ns = log_get_i64(&in);
			return time_sound(out->real_ns);
		}
		at += HEAD + get_u64(p + 8) + CRC;
	}
	return false;
}
