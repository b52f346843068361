/* tally: its inside, for the files of this folder. */
#ifndef NVMTOP_LIVE_TALLY_H
#define NVMTOP_LIVE_TALLY_H

#include <pthread.h>
#include <stdatomic.h>

#include "engine/engine.h"
#include "live/live.h"
#include "model/energy.h"

/* Readings of a power channel: those of its values, or what its counter rises by. */
struct track {
	struct power_reading *ring;
	size_t room, n; /* n: so far */
};
enum { TRACKS = METER_SUMS };

struct power {
	size_t channel;
	struct energy_meter meter;
	struct track tracks[TRACKS];
	double joules; /* told last */
};

struct window_part {
	struct energy e;
	size_t next; /* of the track's readings */
	uint64_t readings;
};

struct window {
	struct window *next;
	int64_t owner, number, from_ns, to_ns; /* to_ns: INT64_MAX until it ends */
	struct window_part parts[]; /* of each power channel and track */
};

/* Of a load: seconds at 100 % that come to the same. */
struct busy {
	double seconds;
	int64_t t_ns; /* of its newest value */
};

#define SECONDS 64 /* of which bins are kept */

struct tally {
	struct sink sink;
	struct engine *engine;
	const struct channel *_Atomic channels;
	size_t n_channels;
	double hz[TIERS];

	pthread_mutex_t lock; /* protects what follows; held for some microseconds */
	const struct session *about; /* NULL: it has not begun, or has ended */
	int64_t second[SECONDS], now[TIERS], row_ns[TIERS];
	struct bin *bins; /* of each second and channel */
	struct busy *busy; /* of each channel */
	struct fact *facts; /* of now */
	struct power *powers;
	size_t n_powers, n_windows;
	struct window *windows;
};

/* With the lock held: passes new readings to the windows, and frees a window. */
void windows_feed(struct tally *t);
void window_drop(struct tally *t, struct window **at);

#endif
