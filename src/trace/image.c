/* Most values are those of the row before.  So only what differs is encoded, and
 * compared with what a reader will make of it together with all that depends on
 * the same bytes. */
#include "trace/image.h"

#include <math.h>
#include <stdlib.h>

int image_init(struct image *m, const struct layout *l, enum tier tier, size_t width)
{
	*m = (struct image) {.layout = l, .tier = tier, .width = width};
	m->values = calloc(width + 1, sizeof(*m->values));
	if (!m->values)
		return -1;
	row_blank(m->row, l, tier);
	return 0;
}

void image_free(struct image *m)
{
	free(m->values);
	m->values = NULL;
}

/* A rail whose power is no channel of its own still gets it, so that readers of
 * version 1 find it. */
static void power_fill(uint8_t *row, const struct layout *l, const double *values)
{
	double volt[MAX_RAILS], amp[MAX_RAILS];

	for (unsigned i = 0; i < MAX_RAILS; i++)
		volt[i] = amp[i] = NAN;
	for (size_t i = 0; i < l->n_fields[TIER_MEDIUM]; i++) {
		const struct cell *c = &l->cells[TIER_MEDIUM][i];

		if (c->place.field == FIELD_VOLTAGE)
			volt[c->place.slot] = values[c->column];
		else if (c->place.field == FIELD_CURRENT)
			amp[c->place.slot] = values[c->column];
	}
	for (unsigned i = 0; i < l->rails; i++)
		if (l->powerless >> i & 1)
			cell_encode(row, FIELD_POWER, i, volt[i] * amp[i] / 1000);
}

/* Encode what differs; the cells of which a reader may now make something else. */
static uint32_t encode(struct image *m, const double *values)
{
	const struct cell *cells = m->layout->cells[m->tier];
	uint32_t touched = 0;

	for (size_t i = 0; i < m->layout->n_fields[m->tier]; i++) {
		const struct cell *c = &cells[i];
		const double *v = &values[c->column];

		if (m->any && !memcmp(v, &m->values[c->column], sizeof(*v)))
			continue;
		cell_encode(m->row, (enum field)c->place.field, c->place.slot, *v);
		touched |= c->mates;
	}
	if (touched && m->tier == TIER_MEDIUM && m->layout->powerless)
		power_fill(m->row, m->layout, values);
	return touched;
}

void image_set(struct image *m, const double *values)
{
	const struct cell *cells = m->layout->cells[m->tier];
	uint32_t touched;

	if (m->any && !memcmp(m->values, values, m->width * sizeof(*values)))
		return;
	touched = encode(m, values);
	for (; touched; touched &= touched - 1) {
		const struct cell *c = &cells[__builtin_ctz(touched)];
		double v = cell_decode(m->row, (enum field)c->place.field, c->place.slot);
		uint32_t bit = touched & -touched;

		m->lossy = same_value(values[c->column], v) ? m->lossy & ~bit : m->lossy | bit;
	}
	memcpy(m->values, values, m->width * sizeof(*values));
	m->any = true;
}
