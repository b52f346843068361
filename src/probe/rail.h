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

/* Returns how often the chip renews its values, in ns, if that is known and longer than a tick, else 0. note
 * gets over what the values are means, if they are. */
int64_t rail_renews(const struct root *r, const struct place *place, int64_t tick_ns, char *note,
		    size_t size);

/* Used by the reader thread only, once it runs. */
struct bench {
	struct root *root;
	size_t n;
	struct meter meters[CHIP_METERS];
};

/* Each rail has a reference to it. */
struct chip {
	unsigned holders;
	struct async_reader *slow;
	struct async_reader_seen seen;
	struct bench *bench; /* owned by slow */
	char dir[PLACE_DIR];
	int64_t floor_ns, cost_ns; /* how often it has new values, and what one pass takes */
	int64_t at_ns, period_ns;  /* the tick that was served last, and the tier's period */
	int64_t read_ns;           /* when the values that are new at that tick were read; 0: none are */
	double values[CHIP_METERS][METER_VALUES];
	bool heard;
	bool hangs;                  /* a file did not answer: no more reads while rails are opened */
	int64_t first_ns, window_ns; /* the first tick; when the count began */
	unsigned count;
	double rate;
};

/* Creates the chip of that directory, with a reference to the root. Returns NULL if out of memory. */
struct chip *chip_new(struct root *r, const char *dir, int64_t tick_ns);
void chip_release(struct chip *c); /* the last release frees it */

/* Takes over an open meter, which just gave these values, renews them every floor_ns (0: always) and takes
 * cost_ns to read. Returns its number, or -1 if the chip is full. Call only before the chip is started. */
int chip_add(struct chip *c, const struct meter *m, const double values[METER_VALUES], int64_t floor_ns,
	     int64_t cost_ns);
int64_t chip_period(const struct chip *c); /* how often it will be read; 0: at every tick */

/* Gets the newest values of a meter: NaN if they could not be read, or if the chip has not answered for long.
 * rate gets the passes per second over the last second. Returns when the values were read, or 0 if they are
 * those of the previous tick. */
int64_t chip_values(struct chip *c, int64_t t_ns, int meter, double values[METER_VALUES], double *rate);

#endif
