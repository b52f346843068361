/* rail: reads the chips that measure the power of rails. */
#ifndef NVMTOP_PROBE_RAIL_H
#define NVMTOP_PROBE_RAIL_H

#include "probe/attr.h"
#include "model/channel.h"

enum { METER_VOLTAGE, METER_CURRENT, METER_POWER, METER_VALUES };
#define CHIP_METERS 16

/* One channel of a chip: three files, or two and their product, or one. */
struct meter {
	struct place place; /* found */
	struct attr *attrs; /* METER_VALUES of them */
	int64_t retry_ns;
};

/* Gets the path of one of its three files ("_input"), or, with another ending (hwmon: "_max"), of a file that
 * belongs to it. */
void meter_path(const struct place *place, int which, const char *ending, char *out, size_t size);

/* Returns 0, or -1 with errno if neither voltage and current nor power can be opened. */
int meter_open(struct meter *m, const struct root *r);
void meter_close(struct meter *m);

/* Reads mV, mA and mW. If one of the files cannot be read all three are NaN, the reason is in that of the one, which it
 * returns, with errno; else -1. Opens a meter again whose files are gone; if it cannot, it returns METER_VALUES. */
int meter_read(struct meter *m, const struct root *r, int64_t t_ns, double values[METER_VALUES]);

/* Reads the limits of the current (mA) into ch->warn and ch->crit; the chip's defaults are not limits. */
void rail_limits(const struct root *r, const struct place *place, struct channel *ch);

/* Returns true for a hwmon chip of that driver: its in4 and above and curr4 are shunts and sums, not
 * rails. */
bool rail_is_ina3221(const struct root *r, const struct place *place);

/* Returns the time over which the chip averages, in ns: 0 if it does not, WINDOW_UNKNOWN if its driver does not
 * say. note gets what the driver does, if it averages. */
int64_t rail_window(const struct root *r, const struct place *place, char *note, size_t size);

#endif
