/* Reads the extension in which nvmtop 0.1 stored what version 1 cannot, chunks after the sync points:
 *
 *   id[4] version(u32) length(u64) crc(u32 of these 16 bytes) payload crc(u32 of the payload)
 *
 * Unknown chunks are skipped, damaged ones skipped and reported.  Without clocks or channels the extension
 * is not used. */
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

static void bad(struct nvmt1 *f, uint32_t id, uint64_t at)
{
	char name[5] = "";

	for (int i = 0; i < 4; i++) {
		name[i] = (char)(id >> (8 * i));
		if (name[i] < ' ' || name[i] > '~')
			name[i] = '?';
	}
	nvmt1_damage(f, _("chunk %s of the extension, at offset %llu, has a wrong checksum"), name,
		     (unsigned long long)at);
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

static int get_name(struct log_in *in, int (*find)(const char *), int otherwise)
{
	char name[64];
	int found;

	log_get_str(in, name, sizeof(name));
	found = find(name);
	return found >= 0 ? found : otherwise;
}

/* Reads an item of a chunk into zeroed memory. */
typedef void read_item(struct nvmt1 *f, struct log_in *in, void *to);

static void read_fact(struct nvmt1 *f, struct log_in *in, void *to)
{
	struct fact *fact = to;

	(void)f;
	log_get_str(in, fact->key, sizeof(fact->key));
	log_get_str(in, fact->value, sizeof(fact->value));
}

/* Enums are stored as names, so that an unknown one becomes "other". */
static void read_channel(struct nvmt1 *f, struct log_in *in, void *to)
{
	struct channel *c = to;
	struct place *place = &f->places[f->channels.n];
	unsigned field;
	int tier;

	c->index = (uint16_t)log_get_u16(in);
	c->column = (uint16_t)log_get_u16(in);
	field = log_get_u16(in);
	place->field = (uint8_t)field;
	place->slot = (uint16_t)log_get_u16(in);
	c->lo = log_get_f64(in);
	c->hi = log_get_f64(in);
	c->period_ns = log_get_i64(in);
	c->window_ns = WINDOW_UNKNOWN;
	c->warn = log_get_f64(in);
	c->crit = log_get_f64(in);
	log_get_str(in, c->name, sizeof(c->name));
	log_get_str(in, c->label, sizeof(c->label));
	c->kind = (enum channel_kind)get_name(in, channel_kind_find, CHANNEL_OTHER);
	tier = get_name(in, tier_find, -1);
	c->tier = (enum tier)tier;
	c->unit = (enum unit)get_name(in, unit_find, UNIT_NONE);
	c->family = (enum family)get_name(in, family_find, FAMILY_OTHER);
	log_get_str(in, c->source, sizeof(c->source));
	log_get_str(in, c->note, sizeof(c->note));
	log_get_str(in, c->missing, sizeof(c->missing));
	if (in->p < in->end)
		log_get_str(in, c->kernel, sizeof(c->kernel));
	if (c->kind == CHANNEL_THROTTLE && !strcmp(c->name, "throttle.hot-surface-alert"))
		c->kind = CHANNEL_NOTICE; /* 0.1 wrote the wrong kind */
	in->bad |= f->channels.n == MAX_CHANNELS || tier < 0 || field >= FIELDS ||
		   (field != FIELD_EXTRA && (place->slot >= field_slots((enum field)field) ||
					     field_tier((enum field)field) != c->tier));
}

static void read_mark(struct nvmt1 *f, struct log_in *in, void *to)
{
	struct mark *m = to;

	(void)f;
	m->id = log_get_u64(in);
	m->t_ns = get_time(in);
	log_get_u64(in); /* its fast row */
	log_get_str(in, m->label, sizeof(m->label));
}

static void read_gap(struct nvmt1 *f, struct log_in *in, void *to)
{
	struct gap *g = to;
	unsigned tier = log_get_u8(in);

	(void)f;
	g->tier = (enum tier)tier;
	g->cause = log_get_u8(in) == GAP_LOST ? GAP_LOST : GAP_LATE;
	log_get_u16(in);
	g->from_ns = get_time(in);
	g->to_ns = get_time(in);
	g->missed = log_get_u64(in);
	in->bad |= tier >= TIERS || g->from_ns > g->to_ns;
}

static void read_change(struct nvmt1 *f, struct log_in *in, void *to)
{
	struct change *c = to;

	(void)f;
	c->t_ns = get_time(in);
	log_get_str(in, c->what, sizeof(c->what));
	log_get_str(in, c->from, sizeof(c->from));
	log_get_str(in, c->to, sizeof(c->to));
}

static void read_run(struct nvmt1 *f, struct log_in *in, void *to)
{
	struct run *r = to;

	(void)f;
	r->channel = log_get_u32(in);
	r->row = log_get_u64(in);
	r->count = log_get_u64(in);
	r->value = log_get_f64(in);
}

static void read_anchor(struct nvmt1 *f, struct log_in *in, void *to)
{
	struct clock_anchor *a = to;

	(void)f;
	a->mono_ns = log_get_i64(in);
	a->real_ns = log_get_i64(in);
	a->boot_ns = log_get_i64(in);
	in->bad |= a->mono_ns < 0 || a->mono_ns > INT64_C(1) << 61;
	a->real_ns = time_sound(a->real_ns) ? a->real_ns : 0;
	a->boot_ns = time_sound(a->boot_ns) ? a->boot_ns : 0;
}

static void read_rates(struct nvmt1 *f, struct log_in *in, void *to)
{
	(void)to;
	for (int t = 0; t < TIERS; t++) {
		double hz = log_get_f64(in);

		if (hz >= 1e-3 && hz <= 1e6)
			f->session.hz[t] = hz;
		else
			in->bad = true;
	}
}

static const struct kind {
	uint32_t id;
	read_item *read;
	size_t list, size; /* list: offset in struct nvmt1; size: of an item, 0: no list */
	bool framed;	   /* each item begins with its length */
} kinds[] = {
	{ID_ANCHOR, read_anchor, offsetof(struct nvmt1, anchors), sizeof(struct clock_anchor), false},
	{ID_RATES, read_rates, 0, 0, false},
	{ID_FACTS, read_fact, offsetof(struct nvmt1, facts), sizeof(struct fact), false},
	{ID_CHANNELS, read_channel, offsetof(struct nvmt1, channels), sizeof(struct channel), true},
	{ID_MARKS, read_mark, offsetof(struct nvmt1, marks), sizeof(struct mark), false},
	{ID_GAPS, read_gap, offsetof(struct nvmt1, gaps), sizeof(struct gap), false},
	{ID_CHANGES, read_change, offsetof(struct nvmt1, changes), sizeof(struct change), true},
	{ID_RUNS, read_run, offsetof(struct nvmt1, runs), sizeof(struct run), false},
};

/* Returns -1 if out of memory. */
static int read_items(struct nvmt1 *f, const struct kind *k, struct log_in *in)
{
	struct nvmt1_list *list = (struct nvmt1_list *)(void *)((char *)f + k->list);

	while (in->p < in->end && !in->bad) {
		uint32_t size = k->framed ? log_get_u32(in) : (uint32_t)(in->end - in->p);
		void *to = k->size ? nvmt1_add(list, k->size) : NULL;
		struct log_in item = *in;

		if (k->size && !to)
			return -1;
		if (k->framed) {
			item.p = log_in_take(in, size);
			item.end = item.p ? item.p + size : NULL;
			item.bad = in->bad;
		}
		k->read(f, &item, to);
		in->bad = item.bad;
		in->p = k->framed ? in->p : item.p;
		if (to)
			list->n += !in->bad;
	}
	return 0;
}

/* Notes where rows of further channels are; they are read when needed. Returns 0, 1 if damaged, -1 if out of
 * memory. */
static int read_columns(struct nvmt1 *f, uint64_t at, uint64_t length)
{
	const struct columns *before = f->columns.p;
	struct columns c = {.at = at};
	uint64_t first = 0;
	struct columns *to;
	uint8_t p[24];

	if (length < sizeof(p) || length > PAYLOAD_MAX || !nvmt1_read(f, p, sizeof(p), at))
		return 1;
	c.tier = get_u32(p);
	c.columns = get_u32(p + 4);
	c.row = get_u64(p + 8);
	c.rows = get_u64(p + 16);
	for (size_t i = f->columns.n; i-- > 0 && first == 0;)
		first = before[i].tier == c.tier ? before[i].row + before[i].rows : 0;
	if (c.tier >= TIERS || c.columns == 0 || c.columns > MAX_CHANNELS || c.rows == 0 || c.rows > length ||
	    length - sizeof(p) != c.rows * c.columns * 8 || c.row >= f->rows[c.tier] || c.row < first)
		return 1;
	to = nvmt1_add(&f->columns, sizeof(c));
	if (!to)
		return -1;
	*to = c;
	f->columns.n++;
	return 0;
}

/* Reads the chunk whose payload is at that offset. Returns the same. */
static int read_chunk(struct nvmt1 *f, uint32_t id, uint64_t at, uint64_t length)
{
	struct log_in in;
	size_t k = 0;
	uint8_t *p;
	int rc = 1;

	if (id == ID_COLUMNS)
		return read_columns(f, at, length); /* its checksum is verified when its rows are read */
	p = length <= PAYLOAD_MAX ? malloc((size_t)length + CRC) : NULL;
	if (p && nvmt1_read(f, p, (size_t)length + CRC, at) && get_u32(p + length) == log_crc(p, (size_t)length)) {
		in = (struct log_in) {p, p + length, false};
		while (k < sizeof(kinds) / sizeof(kinds[0]) && kinds[k].id != id)
			k++;
		rc = k < sizeof(kinds) / sizeof(kinds[0]) ? read_items(f, &kinds[k], &in) : 0;
		rc = rc < 0 ? rc : in.bad;
	}
	free(p);
	return rc;
}

/* Reads all chunks after the sync points. Returns 1 if there are any, 0 if there is no extension, -1 if out
 * of memory. */
static int walk(struct nvmt1 *f)
{
	uint64_t at = f->end;
	bool any = false, closed = false;
	uint8_t head[HEAD];

	while (f->size - at >= HEAD + CRC && nvmt1_read(f, head, HEAD, at)) {
		uint32_t id = get_u32(head);
		uint64_t length = get_u64(head + 8);
		bool good = get_u32(head + 16) == log_crc(head, 16);
		int rc = 0;

		if (!any && id != ID_OPEN)
			return 0;
		any = true;
		if (good && length > f->size - at - HEAD - CRC)
			break;
		if (good && get_u32(head + 4) == 1)
			rc = read_chunk(f, id, at + HEAD, length);
		if (rc < 0)
			return -1;
		if (!good || rc > 0)
			bad(f, id, at);
		if (!good)
			return 1;
		at += HEAD + length + CRC;
		closed = id == ID_CLOSE;
	}
	if (any && (!closed || at != f->size))
		nvmt1_damage(f, _("it ends at offset %llu, in the extension"), (unsigned long long)f->size);
	return any;
}

/* Whether every column of a row belongs to exactly one channel, and there are channels and clocks. */
static bool channels_sound(struct nvmt1 *f)
{
	const struct channel *c = f->channels.p;
	bool taken[TIERS][MAX_CHANNELS] = {{false}};

	for (size_t i = 0; i < f->channels.n; i++)
		f->session.width[c[i].tier]++;
	for (size_t i = 0; i < f->channels.n; i++) {
		if (c[i].column >= f->session.width[c[i].tier] || taken[c[i].tier][c[i].column])
			return false;
		taken[c[i].tier][c[i].column] = true;
	}
	return f->channels.n > 0 && f->anchors.n > 0;
}

static int by_row(const void *a, const void *b)
{
	const struct run *r = a, *s = b;

	if (r->channel != s->channel)
		return r->channel < s->channel ? -1 : 1;
	return (r->row > s->row) - (r->row < s->row);
}

/* Sorts the runs and drops those that overlap another one or are invalid. */
static void sort_runs(struct nvmt1 *f)
{
	struct run *runs = f->runs.p, *before = NULL;
	size_t n = f->runs.n;

	f->runs.n = 0;
	if (n > 1)
		qsort(runs, n, sizeof(*runs), by_row);
	for (size_t i = 0; i < n; i++) {
		const struct run *r = &runs[i];

		if (r->channel >= f->channels.n || r->count == 0 || r->row > UINT64_MAX / 4 || r->count > UINT64_MAX / 4)
			continue;
		if (before && before->channel == r->channel && r->row < before->row + before->count) {
			nvmt1_damage(f, _("the runs of signal %s are out of order"),
				     ((struct channel *)f->channels.p)[r->channel].name);
			continue;
		}
		before = &runs[f->runs.n++];
		*before = *r;
	}
}

/* Drops the extension except its marks. */
static void drop(struct nvmt1 *f)
{
	nvmt1_damage(f, _("its extension has no clocks or no signals"));
	free(f->channels.p);
	free(f->facts.p);
	f->channels = f->facts = (struct nvmt1_list) {NULL, 0};
	f->gaps.n = f->changes.n = f->anchors.n = f->runs.n = f->columns.n = 0;
}

int nvmt1_extension(struct nvmt1 *f)
{
	int rc = walk(f);

	if (rc <= 0)
		return rc;
	f->extended = channels_sound(f);
	if (f->extended) {
		f->session.start = *(struct clock_anchor *)f->anchors.p;
		sort_runs(f);
	} else {
		drop(f);
	}
	return 0;
}

bool nvmt1_other_counts(struct nvmt1 *f, uint64_t counts[TIERS + 1])
{
	uint8_t p[HEAD + 52 + CRC];

	if (f->size < HEADER_SIZE + sizeof(p) || !nvmt1_read(f, p, sizeof(p), f->size - sizeof(p)) ||
	    get_u32(p) != ID_CLOSE || get_u64(p + 8) != 52 || get_u32(p + 16) != log_crc(p, 16) ||
	    get_u32(p + HEAD + 52) != log_crc(p + HEAD, 52) ||
	    get_u32(p + HEAD + 48) == log_crc(f->header, HEADER_SIZE))
		return false;
	for (int i = 0; i <= TIERS; i++)
		counts[i] = get_u64(p + HEAD + 16 + 8 * i);
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
