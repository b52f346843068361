/* What a chunk of columns begins with, and which zooms are stored. */
#include "trace/pyramid.h"

size_t pyramid_head_encode(uint8_t *p, const struct pyramid_head *h)
{
	put_u32(p, (uint32_t)h->tier);
	put_u32(p + 4, (uint32_t)h->zoom);
	put_u32(p + 8, h->width);
	put_u32(p + 12, h->columns);
	put_u64(p + 16, (uint64_t)h->first);
	put_u64(p + 24, h->row);
	put_u64(p + 32, h->rows);
	put_u64(p + 40, 0);
	return PYRAMID_HEAD;
}

bool pyramid_head_decode(const uint8_t *p, uint64_t length, struct pyramid_head *h)
{
	uint32_t tier, zoom;

	if (length < PYRAMID_HEAD)
		return false;
	tier = get_u32(p);
	zoom = get_u32(p + 4);
	h->width = get_u32(p + 8);
	h->columns = get_u32(p + 12);
	h->first = (int64_t)get_u64(p + 16);
	h->row = get_u64(p + 24);
	h->rows = get_u64(p + 32);
	if (tier >= TIERS || zoom < ZOOM_MIN || zoom > ZOOM_MAX || h->width == 0 ||
	    h->width > PYRAMID_WIDEST || h->columns == 0)
		return false;
	h->tier = (enum tier)tier;
	h->zoom = (int)zoom;
	return h->first >= 0 && h->first <= (INT64_MAX >> zoom) - h->columns &&
	       h->row <= UINT64_MAX - h->rows &&
	       (length - PYRAMID_HEAD) / pyramid_record(h->width) == h->columns &&
	       (length - PYRAMID_HEAD) % pyramid_record(h->width) == 0;
}

int pyramid_zoom(double hz)
{
	int zoom = zoom_base(hz) + 7;

	return zoom < ZOOM_MAX ? zoom : ZOOM_MAX;
}

int pyramid_levels(int zoom, int64_t first_ns, int64_t last_ns)
{
	int n = 1;

	while (zoom + PYRAMID_STEP <= ZOOM_MAX && (last_ns >> zoom) - (first_ns >> zoom) >= PYRAMID_FEW) {
		zoom += PYRAMID_STEP;
		n++;
	}
	return n;
}
