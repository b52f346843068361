/* Encodes channels in version 1, which can lose information: unsigned fields cannot represent "missing",
 * negative currents or fractions. */
#include <math.h>
#include <stdlib.h>

#include "util/intl.h"
#include "trace/layout.h"

const size_t row_size[TIERS + 1] = {FAST_SIZE, MEDIUM_SIZE, SLOW_SIZE, SYNC_SIZE};

const struct field_about field_about[FIELDS] = {
	[FIELD_NONE] = {.source = "", .kind = CHANNEL_OTHER},
	[FIELD_GPU] = {"fast.gpu_load", TIER_FAST, 1, F_GPU, 0, TENTHS, CHANNEL_GPU_UTIL, UNIT_PERCENT,
		       FAMILY_GPU, "gpu.util", "", "GPU"},
	[FIELD_CPU] = {"fast.cpu_aggregate", TIER_FAST, 1, F_CPU, 0, F32, CHANNEL_CPU_UTIL, UNIT_PERCENT,
		       FAMILY_CPU, "cpu.util", "", "CPU"},
	[FIELD_CORE] = {"fast.cpu_util", TIER_FAST, MAX_CORES, F_CORES, H_CORES, F32, CHANNEL_CORE_UTIL,
			UNIT_PERCENT, FAMILY_CPU, "cpu", ".util", "cpu"},
	[FIELD_RAM_USED] = {"fast.ram_used_kb", TIER_FAST, 1, F_RAM_USED, 0, U64, CHANNEL_RAM_USED, UNIT_KB,
			    FAMILY_MEMORY, "ram.used", "", "RAM"},
	[FIELD_RAM_AVAILABLE] = {"fast.ram_available_kb", TIER_FAST, 1, F_RAM_AVAILABLE, 0, U64,
				 CHANNEL_RAM_AVAILABLE, UNIT_KB, FAMILY_MEMORY, "ram.available", "",
				 "RAM free"},
	[FIELD_EMC] = {"fast.emc_util", TIER_FAST, 1, F_EMC, H_EMC, F32, CHANNEL_EMC_UTIL, UNIT_PERCENT,
		       FAMILY_MEMORY, "emc.util", "", "EMC"},
	[FIELD_VOLTAGE] = {"medium.voltage_mv", TIER_MEDIUM, MAX_RAILS, M_VOLTAGE, H_RAILS, U32,
			   CHANNEL_RAIL_VOLTAGE, UNIT_MILLIVOLT, FAMILY_POWER, "", ".voltage", ""},
	[FIELD_CURRENT] = {"medium.current_ma", TIER_MEDIUM, MAX_RAILS, M_CURRENT, H_RAILS, U32,
			   CHANNEL_RAIL_CURRENT, UNIT_MILLIAMPERE, FAMILY_POWER, "", ".current", ""},
	[FIELD_POWER] = {"medium.power_mw", TIER_MEDIUM, MAX_RAILS, M_POWER, H_RAILS, F32, CHANNEL_RAIL_POWER,
			 UNIT_MILLIWATT, FAMILY_POWER, "", ".power", ""},
	[FIELD_TEMPERATURE] = {"slow.temp_c", TIER_SLOW, MAX_ZONES, S_TEMPERATURE, H_ZONES, F32,
			       CHANNEL_TEMPERATURE, UNIT_CELSIUS, FAMILY_HEAT, "temp.", "", ""},
};

/* The field for a channel, or FIELD_NONE if its tier or index does not fit. */
static enum field field_for(const struct channel *c)
{
	for (unsigned f = FIELD_NONE + 1; f < FIELDS; f++) {
		if (field_about[f].kind != c->kind)
			continue;
		if (field_about[f].tier != c->tier || (field_about[f].slots > 1 && c->index >= field_about[f].slots))
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
		unsigned slot = field_about[f].slots > 1 ? c->index : 0;

		if (f == FIELD_NONE || taken[f][slot])
			continue;
		taken[f][slot] = true;
		l->cells[c->tier][l->n[c->tier]++] = (struct cell) {i, f, slot};
		f = field_about[f].tier == TIER_MEDIUM ? FIELD_POWER : f;
		if (slot >= l->used[f])
			l->used[f] = slot + 1;
		l->emc |= f == FIELD_EMC && !c->missing[0];
	}
}

static uint32_t whole_hz(double hz)
{
	return hz >= 1 && hz < 1e9 ? (uint32_t)lround(hz) : 1;
}

void header_encode(uint8_t *h, const struct session *about, const struct layout *l)
{
	const char *board = fact_get(about->facts, about->n_facts, "board");

	memset(h, 0, HEADER_SIZE);
	put_u32(h + H_MAGIC, NVMT_MAGIC);
	put_u32(h + H_VERSION, NVMT_VERSION);
	board = board ? board : "unknown";
	text_printable((char *)h + H_BOARD, H_CORES - H_BOARD, board, strlen(board));
	h[H_CORES] = (uint8_t)l->used[FIELD_CORE];
	h[H_RAILS] = (uint8_t)l->used[FIELD_POWER];
	h[H_ZONES] = (uint8_t)l->used[FIELD_TEMPERATURE];
	h[H_EMC] = l->emc;
	for (int t = 0; t < TIERS; t++)
		put_u32(h + H_HZ + 4 * t, whole_hz(about->hz[t]));
	for (enum tier t = TIER_MEDIUM; t < TIERS; t++)
		for (size_t i = 0; i < l->n[t]; i++) {
			const struct cell *c = &l->cells[t][i];
			const struct channel *from = &about->channels[c->channel];
			bool zone = t == TIER_SLOW;
			const char *name = zone && from->kernel[0] ? from->kernel : from->label;
			uint8_t *to = h + (zone ? H_ZONE_NAMES : H_RAIL_NAMES) + c->slot * NAME_SIZE;

			if (zone || c->field == FIELD_POWER || !to[0])
				text_printable((char *)to, NAME_SIZE, name, strlen(name));
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
	uint8_t *p = row + field_about[f].at + 4 * slot;

	switch (field_about[f].type) {
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
		for (unsigned i = 0; i < (field_about[f].slots > 1 ? l->used[f] : 1); i++)
			if (field_about[f].tier == tier && field_about[f].type == F32)
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
	const uint8_t *p = row + field_about[f].at + 4 * slot;

	switch (field_about[f].type) {
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
