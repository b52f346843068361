/* Encodes channels in version 1, which can lose information: unsigned fields cannot represent "missing",
 * negative currents or fractions. */
#include <math.h>
#include <stdlib.h>

#include "util/intl.h"
#include "trace/layout.h"

const size_t row_size[TIERS + 1] = {FAST_SIZE, MEDIUM_SIZE, SLOW_SIZE, SYNC_SIZE};

enum type { TENTHS, U32, U64, F32 };

static const struct {
	const char *name;
	enum tier tier;
	unsigned slots, at; /* of 4 bytes each if there are several; at: offset in the row */
	enum type type;
	enum channel_kind kind;
} fields[FIELDS] = {
	[FIELD_NONE] = {"", TIER_FAST, 0, 0, TENTHS, CHANNEL_OTHER},
	[FIELD_GPU] = {"fast.gpu_load", TIER_FAST, 1, F_GPU, TENTHS, CHANNEL_GPU_UTIL},
	[FIELD_CORE] = {"fast.cpu_util", TIER_FAST, MAX_CORES, F_CORES, F32, CHANNEL_CORE_UTIL},
	[FIELD_CPU] = {"fast.cpu_aggregate", TIER_FAST, 1, F_CPU, F32, CHANNEL_CPU_UTIL},
	[FIELD_RAM_USED] = {"fast.ram_used_kb", TIER_FAST, 1, F_RAM_USED, U64, CHANNEL_RAM_USED},
	[FIELD_RAM_AVAILABLE] = {"fast.ram_available_kb", TIER_FAST, 1, F_RAM_AVAILABLE, U64,
				 CHANNEL_RAM_AVAILABLE},
	[FIELD_EMC] = {"fast.emc_util", TIER_FAST, 1, F_EMC, F32, CHANNEL_EMC_UTIL},
	[FIELD_VOLTAGE] = {"medium.voltage_mv", TIER_MEDIUM, MAX_RAILS, M_VOLTAGE, U32, CHANNEL_RAIL_VOLTAGE},
	[FIELD_CURRENT] = {"medium.current_ma", TIER_MEDIUM, MAX_RAILS, M_CURRENT, U32, CHANNEL_RAIL_CURRENT},
	[FIELD_POWER] = {"medium.power_mw", TIER_MEDIUM, MAX_RAILS, M_POWER, F32, CHANNEL_RAIL_POWER},
	[FIELD_TEMPERATURE] = {"slow.temp_c", TIER_SLOW, MAX_ZONES, S_TEMPERATURE, F32, CHANNEL_TEMPERATURE},
};

unsigned field_slots(enum field f)
{
	return fields[f].slots;
}

enum tier field_tier(enum field f)
{
	return fields[f].tier;
}

const char *field_name(enum field f)
{
	return fields[f].name;
}

/* The field for a channel, or FIELD_NONE if its tier or index does not fit. */
static enum field field_for(const struct channel *c)
{
	for (unsigned f = FIELD_NONE + 1; f < FIELDS; f++) {
		if (fields[f].kind != c->kind)
			continue;
		if (fields[f].tier != c->tier || (fields[f].slots > 1 && c->index >= fields[f].slots))
			return FIELD_NONE;
		return (enum field)f;
	}
	return FIELD_NONE;
}

void layout_make(struct layout *l, const struct session *about)
{
	bool taken[FIELDS][MAX_CORES] = {{false}};

	memset(l, 0, sizeof(*l));
	for (size_t i = 0; i < about->n_channels; i++) {
		const struct channel *c = &about->channels[i];
		enum field f = field_for(c);
		unsigned slot = fields[f].slots > 1 ? c->index : 0;

		if (f == FIELD_NONE || taken[f][slot])
			continue;
		taken[f][slot] = true;
		l->cells[c->tier][l->n[c->tier]++] = (struct cell) {i, f, slot};
		f = fields[f].tier == TIER_MEDIUM ? FIELD_POWER : f;
		if (slot >= l->used[f])
			l->used[f] = slot + 1;
		l->emc |= f == FIELD_EMC && !c->missing[0];
	}
	for (unsigned i = 0; i < l->used[FIELD_POWER]; i++)
		if (!taken[FIELD_POWER][i])
			l->powerless |= 1U << i;
}

/* Copies text into a field of size bytes, cut between characters. */
static void put_name(uint8_t *p, size_t size, const char *text)
{
	size_t n = strlen(text);

	if (n >= size) {
		n = size - 1;
		while (n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80)
			n--;
	}
	memset(p, 0, size);
	memcpy(p, text, n);
}

static uint32_t whole_hz(double hz)
{
	return hz >= 1 && hz < 1e9 ? (uint32_t)lround(hz) : 1;
}

void header_encode(uint8_t *h, const struct session *about, const struct layout *l)
{
	const char *board = fact_get(about->facts, about->n_facts, "board");
	bool named[MAX_RAILS] = {false};

	memset(h, 0, HEADER_SIZE);
	put_u32(h + H_MAGIC, NVMT_MAGIC);
	put_u32(h + H_VERSION, NVMT_VERSION);
	put_name(h + H_BOARD, H_CORES - H_BOARD, board ? board : "unknown");
	h[H_CORES] = (uint8_t)l->used[FIELD_CORE];
	h[H_RAILS] = (uint8_t)l->used[FIELD_POWER];
	h[H_ZONES] = (uint8_t)l->used[FIELD_TEMPERATURE];
	h[H_EMC] = l->emc;
	for (int t = 0; t < TIERS; t++)
		put_u32(h + H_HZ + 4 * t, whole_hz(about->hz[t]));
	for (size_t i = 0; i < l->n[TIER_MEDIUM]; i++) {
		const struct cell *c = &l->cells[TIER_MEDIUM][i];

		if (c->field == FIELD_POWER || !named[c->slot])
			put_name(h + H_RAIL_NAMES + c->slot * NAME_SIZE, NAME_SIZE, about->channels[c->channel].label);
		named[c->slot] = true;
	}
	for (size_t i = 0; i < l->n[TIER_SLOW]; i++) {
		const struct cell *c = &l->cells[TIER_SLOW][i];
		const struct channel *zone = &about->channels[c->channel];

		put_name(h + H_ZONE_NAMES + c->slot * NAME_SIZE, NAME_SIZE, zone->kernel[0] ? zone->kernel : zone->label);
	}
}

static uint64_t whole(double v, double max)
{
	if (!(v > 0)) /* true for NaN, too */
		return 0;
	return v >= max ? (uint64_t)max : (uint64_t)llround(v);
}

void cell_encode(uint8_t *row, enum field f, unsigned slot, double v)
{
	uint8_t *p = row + fields[f].at + 4 * slot;

	switch (fields[f].type) {
	case TENTHS:
		/* There is no encoding of "missing", and readers of version 1 average over all rows: the
		 * previous reading is repeated if it is valid. */
		if (!isnan(v))
			put_u16(p, (uint16_t)whole(v * 10, UINT16_MAX));
		else if (get_u16(p) > 1000)
			put_u16(p, 0);
		break;
	case U32:
		put_u32(p, (uint32_t)whole(v, INT32_MAX));
		break;
	case U64:
		put_u64(p, whole(v, 0x1p53));
		break;
	case F32:
		put_f32(p, !isnan(v) ? (float)v : f == FIELD_EMC ? -1.0F : (float)NAN);
		break;
	}
}

void row_blank(uint8_t *row, const struct layout *l, enum tier tier)
{
	memset(row, 0, row_size[tier]);
	for (unsigned f = FIELD_NONE + 1; f < FIELDS; f++)
		for (unsigned i = 0; i < (fields[f].slots > 1 ? l->used[f] : 1); i++)
			if (fields[f].tier == tier && fields[f].type == F32)
				cell_encode(row, (enum field)f, i, NAN);
}

/* A rail that was not read at all has power NaN and zeros. */
static bool rail_missing(const uint8_t *row, unsigned slot)
{
	return isnan(get_f32(row + M_POWER + 4 * slot)) && get_u32(row + M_VOLTAGE + 4 * slot) == 0 &&
	       get_u32(row + M_CURRENT + 4 * slot) == 0;
}

static double current_decode(const uint8_t *row, unsigned slot)
{
	uint32_t volt = get_u32(row + M_VOLTAGE + 4 * slot), amp = get_u32(row + M_CURRENT + 4 * slot);
	double power = (double)get_f32(row + M_POWER + 4 * slot);

	if (rail_missing(row, slot))
		return NAN;
	if (amp > INT32_MAX) /* another writer stored a negative current unchanged */
		return (double)amp - 0x1p32;
	if (amp == 0 && power < 0 && volt > 0)
		return round(power * 1000 / volt);
	return amp;
}

double cell_decode(const uint8_t *row, enum field f, unsigned slot)
{
	const uint8_t *p = row + fields[f].at + 4 * slot;

	switch (fields[f].type) {
	case TENTHS:
		return get_u16(p) / 10.0;
	case U32:
		if (f == FIELD_CURRENT)
			return current_decode(row, slot);
		return rail_missing(row, slot) ? NAN : (double)get_u32(p);
	case U64:
		if (get_u64(row + F_RAM_USED) == 0 && get_u64(row + F_RAM_AVAILABLE) == 0)
			return NAN;
		return (double)get_u64(p);
	default:
		return f == FIELD_EMC && get_f32(p) == -1 ? NAN : (double)get_f32(p);
	}
}

bool cell_holds(enum field f, double v)
{
	return isnan(v) || range_holds(channel_range(fields[f].kind), v);
}
