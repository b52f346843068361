/* rail: reads the chips that measure the power of rails. */
#ifndef NVMTOP_PROBE_RAIL_H
#define NVMTOP_PROBE_RAIL_H

#include "probe/async-reader.h"
#include "probe/attr.h"
#include "model/channel.h"

enum { METER_VOLTAGE, METER_CURRENT, METER_POWER, METER_VALUES };
#define CHIP_METERS 16

/* One channel of a chip: three files, or two and their product, or one. */
struct meter {
	struct place place; /* found */
	struct attr attrs[METER_VALUES];
	int64_t retry_ns;
};

/* Gets the path of one of its three files ("_input"), or, with another ending (hwmon: "_max"), of a file that
 * belongs to it. */
void meter_path(const struct place *place, int which, const char *ending, char *out, size_t size);

/* Returns 0, or -1 with errno if neither voltage and current nor power can be opened. */
int meter_open(struct meter *m, const struct root *r);
void meter_close(struct meter *m);

/* Reads mV, mA and mW. If one of the files cannot be read, all three are NaN, and it returns false with
 * errno. */
bool meter_read(struct meter *m, const struct root *r, double values[METER_VALUES]);

/* Reads the limits of the current (mA) into ch->warn and ch->crit; the chip's defaults are not limits. */
void rail_limits(const struct root *r, const struct place *place, struct channel *ch);

/* Returns true for a hwmon chip of that driver: its in4 and above and curr4 are shunts and sums, not
 * rails. */
bool rail_is_ina3221(const struct root *r, const struct place *place);

/* Returns the time over which the chip averages, in ns: 0 if it does not, WINDOW_UNKNOWN if its driver does not
 * say. note gets what the driver does, if it averages. */
int64_t rail_window(const struct root *r, const struct place *place, char *note, size_t size);

/* The meters of one chip; used by the thread of its bus only, once it runs. */
struct bench {
	struct root *root;
	size_t n;
	struct meter meters[CHIP_METERS];
	bool hangs; /* a file did not answer: no more reads while rails are opened */
};

/* Returns a reader for a chip without meters yet; NULL if out of memory. */
struct async_reader *bench_new(struct root *r, int64_t tick_ns, struct bench **out);

#endif
