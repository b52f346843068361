/* live: the newest values of a stream, and what all its rows come to, for those who ask at times of their own: other
 * programs (libnvmtop), the verbs that pass values on, a scrape.
 *
 *	struct tally *t = tally_new(engine, &e);
 *	engine_begin(engine, tally_sink(t), &e);
 *	...
 *	struct tally_value v = tally_newest(t, i, clock_now_ns());
 *	if (isnan(v.value))
 *		tally_reason(t, i, v, reason, sizeof reason);
 *	struct bin last = tally_last(t, i, 15);
 *	double joules = tally_joules(t, i);
 *	...
 *	engine_stop(engine);
 *	tally_free(t);
 *
 * Channels are numbered as in the session. Functions may be called from any thread between begin() of the sink (so after
 * engine_begin()) and tally_free(). None makes the sampler wait; a value is
 * read without any lock, from the row that the sampler made last: it is fresher than what the stream had, of which the newest
 * row is some 40 to 65 ms old. Means and joules are of the rows that sinks got. */
#ifndef NVMTOP_LIVE_LIVE_H
#define NVMTOP_LIVE_LIVE_H

#include "model/energy.h"

struct engine;
struct tally;

/* engine: whose rows these will be. Returns NULL and sets *e if out of memory. */
struct tally *tally_new(struct engine *engine, struct err *e);
struct sink *tally_sink(struct tally *t);
void tally_free(struct tally *t); /* after end(), or if it never began; NULL is fine */

/* The channels as they are described now; valid until end(). NULL with 0 before begin(). */
const struct channel *tally_channels(const struct tally *t, size_t *n);

double tally_hz(const struct tally *t, enum tier tier);

struct tally_value {
	double value; /* NaN, with the reason, if it is missing or older than three periods of the channel, and 50 ms */
	int64_t t_ns; /* when it was read (a missing one: or should have been); its age is now_ns - t_ns. 0: never */
	bool old;     /* it is missing because there is no newer one */
};
/* now_ns: clock_now_ns(). */
struct tally_value tally_newest(struct tally *t, size_t channel, int64_t now_ns);
/* The same of many, in one pass. Returns -1 if a channel does not exist; its value is NaN, its time 0. */
int tally_read(struct tally *t, const int64_t *channels, size_t n, double *values, int64_t *t_ns);
/* One sentence why there is no value: what tally_newest() gave. */
void tally_reason(const struct tally *t, size_t channel, struct tally_value v, char *out, size_t size);

/* All values of the last whole seconds (1 .. TALLY_SECONDS) of CLOCK_MONOTONIC, or as many as there were yet. */
#define TALLY_SECONDS 60
struct bin tally_last(struct tally *t, size_t channel, int seconds);

/* Joules of a power channel since begin(), by its counter where that is better; never less than before. NaN: it is no
 * power channel, or has not been read yet. */
double tally_joules(struct tally *t, size_t channel);
/* Of a load in percent: the seconds at 100 % since begin() that come to the same; never less than before. NaN: it is none,
 * or has not been read yet. */
double tally_busy(struct tally *t, size_t channel);

/* Copies the facts as they are now, to be freed. Returns NULL with 0 if out of memory, or before begin(). */
struct fact *tally_facts(struct tally *t, size_t *n);

/* Energy windows: the joules of every power channel between two moments, by the estimator of all other joules. */
#define TALLY_WINDOWS 4096 /* at most */
/* A window begins at t_ns, with a number that no other has. Returns -1 and sets *e if there are too many. */
int tally_window_begin(struct tally *t, int64_t owner, int64_t number, int64_t t_ns, struct err *e);
enum tally_end { TALLY_ENDED, TALLY_HAD_ENDED, TALLY_UNKNOWN };
enum tally_end tally_window_end(struct tally *t, int64_t number, int64_t t_ns);
/* Forgets one window, or with number 0 all of an owner. Returns false if there is none. */
bool tally_window_forget(struct tally *t, int64_t owner, int64_t number);

struct tally_energy {
	size_t channel;
	struct energy_result energy; /* known for less than the window where readings are missing */
	double guessed_s;	 /* of that, the time after the last reading, for which it is taken to stay; the bound is wider */
	uint64_t readings;	 /* of the window */
};
/* Of each power channel, the first `most` of them; of a window that has not ended: up to now. Returns their number, or
 * SIZE_MAX if there is no such window. *complete: of each that is being read, there is a reading after the end. */
size_t tally_window_get(struct tally *t, int64_t number, struct tally_energy *out, size_t most, double *seconds,
			bool *complete);

#endif
