/* A stream is a journal with the fast rows in it.  Its description has to be the first
 * thing in the side file; where the beginning of the stream is damaged or lost, one of
 * its copies is put there in the end (resettle.c). */
#include "trace/apart.h"

#include "trace/output.h"

static int add(int fd, off_t *end, const void *p, size_t n)
{
	if (write_at(fd, p, n, *end) < 0)
		return -1;
	*end += (off_t)n;
	return 0;
}

/* Rows that are known to have been there and are lost are zeroes, which the repair
 * finds; as many as the bytes that are lost can have held. */
static int add_hole(struct apart *u, uint64_t rows)
{
	static const uint8_t none[64 * FAST_SIZE];

	for (; rows > 0; rows -= rows < 64 ? rows : 64)
		if (add(u->part, &u->part_end, none, (rows < 64 ? (size_t)rows : 64) * FAST_SIZE) < 0)
			return -1;
	return 0;
}

/* Vouch for the rows so far.  With `lost` for none of those since the last time. */
static int cover(struct apart *u, bool lost)
{
	uint8_t p[CHUNK_HEAD + COVER_SIZE + CHUNK_CRC];

	u->runs += lost; /* one that nobody has seen */
	for (int t = 0; t < TIERS; t++)
		put_u64(p + CHUNK_HEAD + 8 * t, u->end[t]);
	put_u64(p + CHUNK_HEAD + 8 * TIERS, u->runs);
	return add(u->side, &u->side_end, p, chunk_seal(p, CHUNK_COVER, COVER_SIZE));
}

static bool in_doubt(const struct apart *u)
{
	return u->doubted[TIER_FAST] || u->doubted[TIER_MEDIUM] || u->doubted[TIER_SLOW];
}

/* Rows come behind all that belongs to them: after a damage those are in doubt that
 * come first in each tier, and no others. */
static int note_rows(struct apart *u, enum tier t, uint64_t end)
{
	bool was = in_doubt(u);

	if (end > u->end[t])
		u->end[t] = end;
	u->doubted[t] = false;
	return was && !in_doubt(u) ? cover(u, true) : 0;
}

static void note_channels(struct apart *u, const uint8_t *p, size_t n)
{
	struct channel c;
	struct place place;

	for (size_t used; n > 0; p += used, n -= used) {
		used = channel_decode(p, n, &c, &place);
		if (used == 0)
			return;
		u->has[c.tier] = true;
	}
}

static int visit_channels(void *to, uint32_t id, uint8_t *p, size_t n)
{
	if (id == CHUNK_CHANNELS)
		note_channels(to, p, n);
	return 0;
}

/* Whether rows of a tier that may have none are waited for is not known before. */
static void doubt_all(struct apart *u)
{
	for (int t = 0; t < TIERS; t++)
		u->doubted[t] = u->has[t] || !(u->settled || u->known);
}

/* What is damaged here is damaged there, too. */
static int tell_broken(struct apart *u)
{
	static const uint8_t none[4096];

	if (u->told < u->framer.broken) {
		if (!in_doubt(u) && cover(u, false) < 0)
			return -1;
		doubt_all(u);
	}
	while (u->told < u->framer.broken) {
		uint64_t n = u->framer.broken - u->told;

		n = n < sizeof(none) ? n : sizeof(none);
		if (add(u->side, &u->side_end, none, (size_t)n) < 0)
			return -1;
		u->told += n;
	}
	return 0;
}

static int put_chunk(struct apart *u, uint32_t id, const uint8_t *p, size_t n)
{
	memcpy(u->chunk + CHUNK_HEAD, p, n);
	return add(u->side, &u->side_end, u->chunk, chunk_seal(u->chunk, id, n));
}

static int visit_about(void *to, uint32_t id, uint8_t *p, size_t n)
{
	return put_chunk(to, id, p, n);
}

static bool describes_all(const struct again_in *about)
{
	bool anchor = false, rates = false, channels = false;

	for (size_t i = 0; i < about->parts; i++) {
		uint32_t id = get_u32(about->part[i].p);

		anchor |= id == CHUNK_ANCHOR;
		rates |= id == CHUNK_RATES;
		channels |= id == CHUNK_CHANNELS;
	}
	return anchor && rates && channels;
}

/* The first chunk of all.  Text before a stream is no damage. */
static void open_up(struct apart *u, uint32_t id)
{
	u->opened = true;
	u->headed = id == CHUNK_STREAM;
	u->foreign = u->headed ? u->framer.broken : 0;
	u->told = u->framer.broken;
	if (!u->headed)
		doubt_all(u);
}

/* The first that describes nothing.  A description of which nothing is missing
 * belongs before it; another one is waited for. */
static int begin(struct apart *u)
{
	u->begun = true;
	u->settled = u->headed && u->framer.broken == u->foreign && describes_all(&u->about);
	/* What is lost before the first channels cannot have been channels: all but the
	 * last chunk of them are full. */
	u->likely = describes_all(&u->about) && u->framer.broken == u->channels_at &&
		    u->framer.broken - u->foreign < BLOCK_BYTES - 2 * CHANNEL_MAX;
	if (!u->settled)
		return 0;
	again_each(&u->about, visit_channels, u);
	return again_each(&u->about, visit_about, u);
}

/* A copy of the description. */
static int take_again(struct apart *u, const uint8_t *p, size_t n)
{
	bool was = in_doubt(u);
	int r;

	if (u->settled || u->known)
		return 0;
	r = again_take(&u->again, p, n);
	if (r <= 0)
		return r;
	u->known = true;
	again_each(&u->again, visit_channels, u);
	for (int t = 0; t < TIERS; t++)
		u->doubted[t] &= u->has[t];
	return was && !in_doubt(u) ? cover(u, true) : 0;
}

static bool is_another(const struct apart *u, uint32_t id, const uint8_t *p, size_t n)
{
	if (id != CHUNK_AGAIN || n < AGAIN_MORE)
		return id == CHUNK_STREAM && u->opened;
	return (u->settled && get_u32(p) != u->about.sum) || (u->known && get_u32(p) != u->again.sum);
}

/* Where the beginning is lost rows count from the first that anything is there of. */
static bool count_from(struct apart *u, enum tier t, uint64_t row)
{
	if (row > UINT64_MAX / 4)
		return false;
	if (!u->counted[t] && !u->headed) {
		u->front.base[t] = row;
		u->end[t] = row;
		if (t == TIER_FAST)
			u->rows = row;
	}
	u->counted[t] = true;
	return row >= u->front.base[t];
}

static int take_fast(struct apart *u, const uint8_t *p, size_t n)
{
	uint64_t first = get_u64(p + n - 8), rows = n / FAST_SIZE;

	if (first < u->rows || first - u->rows > (u->framer.broken - u->broken) / FAST_SIZE)
		return 0;
	if (add_hole(u, first - u->rows) < 0 || add(u->part, &u->part_end, p, n - 8) < 0)
		return -1;
	u->rows = first + rows;
	u->broken = u->framer.broken;
	return note_rows(u, TIER_FAST, u->rows);
}

static int take_rows(struct apart *u, uint32_t id, const uint8_t *p, size_t n)
{
	enum tier t = id == CHUNK_FAST ? TIER_FAST : id == CHUNK_MEDIUM ? TIER_MEDIUM : TIER_SLOW;
	uint64_t rows = n / row_size[t];

	if (rows == 0 || n % row_size[t] != 8 || !count_from(u, t, get_u64(p + n - 8)))
		return 0;
	if (u->front.first_ns[t] < 0 && !row_time(p, &u->front.first_ns[t]))
		u->front.first_ns[t] = -1;
	if (t == TIER_FAST)
		return take_fast(u, p, n);
	if (put_chunk(u, id, p, n) < 0)
		return -1;
	return note_rows(u, t, get_u64(p + n - 8) + rows);
}

/* Something that belongs to rows. */
static int take_other(struct apart *u, uint32_t id, const uint8_t *p, size_t n)
{
	struct columns_head h;

	if (id == CHUNK_COLUMNS && columns_decode(p, n, &h) && !count_from(u, h.tier, h.row))
		return 0;
	if (id == CHUNK_RUNS)
		u->runs += n / RUN_SIZE;
	return put_chunk(u, id, p, n);
}

int apart_visit(void *to, uint32_t id, uint8_t *p, size_t n)
{
	struct apart *u = to;

	u->another |= is_another(u, id, p, n);
	if (u->another)
		return 0;
	if (!u->opened)
		open_up(u, id);
	if (id == CHUNK_STREAM || u->closed)
		return 0;
	if (!u->begun && journal_describes(id)) {
		if (id == CHUNK_CHANNELS && u->channels_at == UINT64_MAX)
			u->channels_at = u->framer.broken;
		return again_add(&u->about, id, p, n);
	}
	if (!u->begun && begin(u) < 0)
		return -1;
	if (tell_broken(u) < 0)
		return -1;
	switch (id) {
	case CHUNK_END:
		u->closed = true;
		return 0;
	case CHUNK_AGAIN:
		return take_again(u, p, n);
	case CHUNK_FAST:
	case CHUNK_MEDIUM:
	case CHUNK_SLOW:
		return take_rows(u, id, p, n);
	case CHUNK_JOIN:
	case CHUNK_COVER: /* no stream has them */
		return 0;
	default:
		return journal_describes(id) ? 0 : take_other(u, id, p, n);
	}
}

int apart_end(struct apart *u)
{
	u->torn = framer_end(&u->framer, apart_visit, u);
	if (u->settled && u->framer.broken - u->foreign <= u->torn)
		return 0;
	return cover(u, in_doubt(u));
}

uint64_t apart_lost(const struct apart *u)
{
	return u->front.base[TIER_FAST] + u->front.base[TIER_MEDIUM] + u->front.base[TIER_SLOW];
}

void apart_init(struct apart *u, int part, int side)
{
	u->part = part;
	u->side = side;
	u->part_end = HEADER_SIZE;
	u->channels_at = UINT64_MAX;
	for (int t = 0; t < TIERS; t++)
		u->front.first_ns[t] = -1;
}

void apart_free(struct apart *u)
{
	again_free(&u->about);
	again_free(&u->again);
}
