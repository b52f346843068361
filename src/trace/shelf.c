/* A column of a zoom between two levels is made of those of the finer one, in
 * the halves that timeline.h wants. */
#include "trace/shelf.h"

#include <stdlib.h>

static struct level *level_of(struct shelf *s, int zoom)
{
	int at = 0;

	while (at < s->levels && s->level[at].zoom < zoom)
		at++;
	if (at < s->levels && s->level[at].zoom == zoom)
		return &s->level[at];
	if (s->levels == PYRAMID_LEVELS)
		return NULL;
	memmove(&s->level[at + 1], &s->level[at], (size_t)(s->levels - at) * sizeof(s->level[0]));
	s->level[at] = (struct level) {.zoom = zoom};
	s->levels++;
	return &s->level[at];
}

int shelf_put(struct shelf *s, const struct piece *p)
{
	struct level *l = level_of(s, p->head.zoom);
	size_t at;

	if (!l)
		return 0;
	if (l->n == l->room) {
		size_t room = l->room ? 2 * l->room : 16;
		struct piece *more = reallocarray(l->piece, room, sizeof(*more));

		if (!more)
			return -1;
		l->piece = more;
		l->room = room;
	}
	for (at = l->n; at > 0 && l->piece[at - 1].head.first > p->head.first; at--)
		;
	memmove(&l->piece[at + 1], &l->piece[at], (l->n - at) * sizeof(*p));
	l->piece[at] = *p;
	l->n++;
	return 0;
}

void shelf_clear(struct shelf *s)
{
	for (int i = 0; i < s->levels; i++)
		free(s->level[i].piece);
	memset(s, 0, sizeof(*s));
}

/* Whether the pieces follow each other and hold all rows. */
static bool level_whole(const struct level *l, size_t width, uint64_t rows)
{
	uint64_t row = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct pyramid_head *h = &l->piece[i].head;

		if (h->width != width || h->row != row ||
		    (i > 0 && h->first < l->piece[i - 1].head.first + l->piece[i - 1].head.columns))
			return false;
		row += h->rows;
	}
	return row == rows;
}

void shelf_settle(struct shelf *s, size_t width, int base, uint64_t rows)
{
	int kept = 0;

	for (int i = 0; i < s->levels; i++) {
		struct level l = s->level[i];

		if (l.zoom >= base && level_whole(&l, width, rows))
			s->level[kept++] = l;
		else
			free(l.piece);
	}
	s->levels = kept;
}

static bool piece_good(struct shelf *s, struct piece *p)
{
	size_t n = PYRAMID_HEAD + p->head.columns * pyramid_record(p->head.width);
	struct pyramid_head now;

	if (p->checked)
		return true;
	if (!pyramid_head_decode(p->payload, n, &now) || now.columns != p->head.columns ||
	    now.first != p->head.first || get_u32(p->payload + n) != chunk_crc(p->payload, n)) {
		s->bad = p;
		return false;
	}
	p->checked = true;
	s->touched += n;
	return true;
}

static bool has_column(const struct piece *p, int64_t column)
{
	return column >= p->head.first && column - p->head.first < p->head.columns;
}

struct piece *level_piece(const struct level *l, int64_t column)
{
	size_t lo = 0, hi = l->n;

	while (lo < hi) { /* the first that begins behind it */
		size_t mid = lo + (hi - lo) / 2;

		if (l->piece[mid].head.first <= column)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo > 0 && has_column(&l->piece[lo - 1], column) ? &l->piece[lo - 1] : NULL;
}

/* The same, which is often the one that was found before. */
static struct piece *piece_of(struct level *l, int64_t column)
{
	struct piece *p;

	if (l->last < l->n && has_column(&l->piece[l->last], column))
		return &l->piece[l->last];
	p = level_piece(l, column);
	if (p)
		l->last = (size_t)(p - l->piece);
	return p;
}

static struct bin load(struct shelf *s, struct level *l, size_t channel, int64_t column)
{
	struct piece *p = piece_of(l, column);

	if (!p || !piece_good(s, p) || channel >= p->head.width)
		return (struct bin) {0, 0, 0, 0};
	s->touched += pyramid_record(p->head.width);
	return lod_bin(p->payload + PYRAMID_HEAD +
			       (size_t)(column - p->head.first) * pyramid_record(p->head.width),
		       channel);
}

static struct bin bin_of(struct shelf *s, struct level *l, size_t channel, int zoom, int64_t column,
			 int64_t first, int64_t last)
{
	struct bin b = {0, 0, 0, 0}, later;

	if (column < first >> (zoom - l->zoom) || column > last >> (zoom - l->zoom))
		return b;
	if (zoom == l->zoom)
		return load(s, l, channel, column);
	b = bin_of(s, l, channel, zoom - 1, 2 * column, first, last);
	later = bin_of(s, l, channel, zoom - 1, 2 * column + 1, first, last);
	bin_merge(&b, &later);
	return b;
}

struct bin shelf_bin(struct shelf *s, size_t channel, int zoom, int64_t column, int64_t first_ns,
		     int64_t last_ns)
{
	int i = 0;

	while (i + 1 < s->levels && s->level[i + 1].zoom <= zoom)
		i++;
	return bin_of(s, &s->level[i], channel, zoom, column, first_ns >> s->level[i].zoom,
		      last_ns >> s->level[i].zoom);
}
