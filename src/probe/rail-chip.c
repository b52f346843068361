/* A chip on a slow bus. Each value takes a transfer or two, some kernels wait for a conversion in each
 * read, and a bus that hangs blocks a read for seconds: so a reader thread uses at most half of the
 * bus's time, and a tick takes the newest values. A chip that hangs affects only its own rails. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/clock.h"
#include "probe/rail.h"
#include "probe/async-reader.h"

#define SHARE      0.5 /* of the time that a chip may be read */
#define FIRST_PASS NS_PER_S

/* The thread's own once it runs. */
struct bench {
	struct root *root;
	size_t n;
	struct meter meters[CHIP_METERS];
};

struct chip {
	unsigned holders;
	struct async_reader *slow;
	struct async_reader_seen seen;
	struct bench *bench; /* the slow's */
	char dir[PLACE_DIR];
	int64_t floor_ns, cost_ns;
	int64_t at_ns, period_ns; /* the tick that was served last, and the tier's period */
	int64_t read_ns;          /* when what is new at that tick was read; 0: nothing is */
	double values[CHIP_METERS][METER_VALUES];
	bool heard, hangs;
	int64_t first_ns, window_ns; /* the first tick; when the count began */
	unsigned count;
	double rate;
};

void meter_path(const struct place *place, int which, const char *ending, char *out, size_t size)
{
	static const char *const hwmon[METER_VALUES] = {"/in", "/curr", "/power"};
	static const char *const iio[METER_VALUES] = {"/in_voltage", "/in_current", "/in_power"};
	const char *number = place->stem + strcspn(place->stem, "0123456789");

	text_join(out, size, place->dir, (place->kind == PLACE_IIO ? iio : hwmon)[which], number);
	text_join(out, size, out, ending, "");
}

int meter_open(struct meter *m, const struct root *r)
{
	char path[192];
	int error = ENOENT;

	for (int i = 0; i < METER_VALUES; i++) {
		meter_path(&m->place, i, "_input", path, sizeof path);
		if (attr_open(&m->attrs[i], r, path) < 0 && (i == 0 || errno != ENOENT))
			error = errno;
	}
	if ((attr_is_open(&m->attrs[METER_VOLTAGE]) && attr_is_open(&m->attrs[METER_CURRENT])) ||
	    attr_is_open(&m->attrs[METER_POWER]))
		return 0;
	meter_close(m);
	errno = error;
	return -1;
}

void meter_close(struct meter *m)
{
	for (int i = 0; i < METER_VALUES; i++)
		attr_close(&m->attrs[i]);
}

static bool is_open(const struct meter *m)
{
	return attr_is_open(&m->attrs[METER_VOLTAGE]) || attr_is_open(&m->attrs[METER_POWER]);
}

static void forget(double values[METER_VALUES])
{
	for (int i = 0; i < METER_VALUES; i++)
		values[i] = NAN;
}

bool meter_read(struct meter *m, const struct root *r, double values[METER_VALUES])
{
	static const enum channel_kind kinds[METER_VALUES] = {CHANNEL_RAIL_VOLTAGE, CHANNEL_RAIL_CURRENT,
							      CHANNEL_RAIL_POWER};

	forget(values);
	for (int i = 0; i < METER_VALUES; i++) {
		/* power of hwmon: microwatts */
		double scale = i == METER_POWER && m->place.kind != PLACE_IIO ? 1e-3 : 1;
		if (!attr_is_open(&m->attrs[i]) || attr_value(&m->attrs[i], r, scale, kinds[i], &values[i]))
			continue;
		int error = errno;
		forget(values);
		if (attr_gone(error))
			meter_close(m);
		errno = error;
		return false;
	}
	if (!attr_is_open(&m->attrs[METER_POWER]))
		values[METER_POWER] = values[METER_VOLTAGE] * values[METER_CURRENT] / 1000;
	return true;
}

/* The driver was bound again: the files are dead and may be elsewhere now. */
static bool reopen(struct meter *m, const struct root *r, int64_t t_ns)
{
	if (t_ns < m->retry_ns)
		return false;
	m->retry_ns = t_ns + NS_PER_S;
	return place_find(&m->place, r, "in") == 0 && meter_open(m, r) == 0;
}

static void bench_read(void *arg, int64_t t_ns, uint64_t wanted, double *v)
{
	struct bench *b = arg;

	(void)wanted;
	for (size_t i = 0; i < b->n; i++, v += METER_VALUES)
		if (is_open(&b->meters[i]) || reopen(&b->meters[i], b->root, t_ns))
			meter_read(&b->meters[i], b->root, v);
}

static void bench_free(void *arg)
{
	struct bench *b = arg;

	for (size_t i = 0; i < b->n; i++)
		meter_close(&b->meters[i]);
	root_close(b->root);
	free(b);
}

static const struct async_reader_ops bench_ops = {bench_read, bench_free};

struct chip *chip_new(struct root *r, const char *dir, int64_t tick_ns)
{
	struct chip *c = calloc(1, sizeof *c);
	struct bench *b = calloc(1, sizeof *b);

	if (!c || !b) {
		free(b);
		free(c);
		return NULL;
	}
	b->root = root_hold(r);
	c->slow = async_reader_new("nvmtop-rails", &bench_ops, b, (size_t)CHIP_METERS * METER_VALUES, tick_ns,
				   SHARE);
	if (!c->slow) {
		free(c);
		return NULL;
	}
	async_reader_at_random(c->slow, tick_ns);
	c->bench = b;
	c->holders = 1;
	c->period_ns = tick_ns;
	c->floor_ns = INT64_MAX;
	c->rate = NAN;
	text_join(c->dir, sizeof c->dir, dir, "", "");
	for (int i = 0; i < CHIP_METERS; i++)
		forget(c->values[i]);
	return c;
}

bool chip_hangs(const struct chip *c)
{
	return c->hangs;
}

void chip_set_hanging(struct chip *c)
{
	c->hangs = true;
}

const char *chip_dir(const struct chip *c)
{
	return c->dir;
}

void chip_hold(struct chip *c)
{
	c->holders++;
}

void chip_release(struct chip *c)
{
	if (--c->holders)
		return;
	async_reader_stop(c->slow);
	free(c);
}

int chip_add(struct chip *c, const struct meter *m, const double values[METER_VALUES], int64_t floor_ns,
	     int64_t cost_ns)
{
	struct bench *b = c->bench;

	if (b->n == CHIP_METERS)
		return -1;
	b->meters[b->n] = *m;
	memcpy(c->values[b->n], values, sizeof c->values[b->n]);
	c->cost_ns += cost_ns;
	if (floor_ns < c->floor_ns)
		c->floor_ns = floor_ns;
	async_reader_set_period(c->slow, c->floor_ns > c->period_ns ? c->floor_ns : c->period_ns);
	return (int)b->n++;
}

size_t chip_meters(const struct chip *c)
{
	return c->bench->n;
}

const struct place *chip_place(const struct chip *c, int meter)
{
	return &c->bench->meters[meter].place;
}

int64_t chip_period(const struct chip *c)
{
	int64_t least = (int64_t)((double)c->cost_ns / SHARE);

	return least > c->period_ns && least > c->floor_ns ? least : c->floor_ns;
}

int64_t chip_cost(const struct chip *c)
{
	return c->cost_ns;
}

struct async_reader *chip_reader(const struct chip *c)
{
	return c->slow;
}

static void count_rate(struct chip *c, int64_t t_ns)
{
	if (c->window_ns && t_ns - c->window_ns < NS_PER_S)
		return;
	if (c->window_ns)
		c->rate = c->count * (double)NS_PER_S / (double)(t_ns - c->window_ns);
	c->window_ns = t_ns;
	c->count = 0;
}

/* What was read when the chip was found goes for the first ticks, until the
 * thread has made its first pass. */
static void hear(struct chip *c, int64_t t_ns)
{
	c->read_ns = 0;
	if (async_reader_take(c->slow, &c->seen, t_ns, &c->values[0][0])) {
		c->heard = true;
		c->count += !c->seen.stale;
		c->read_ns = c->seen.stale ? 0 : c->seen.t_ns;
	}
	if (!c->first_ns)
		c->first_ns = t_ns;
	if (!c->heard && t_ns - c->first_ns > FIRST_PASS)
		for (int i = 0; i < CHIP_METERS; i++)
			forget(c->values[i]);
}

int64_t chip_values(struct chip *c, int64_t t_ns, int meter, double values[METER_VALUES], double *rate)
{
	if (t_ns != c->at_ns) {
		c->at_ns = t_ns;
		async_reader_ask(c->slow, t_ns);
		hear(c, t_ns);
		count_rate(c, t_ns);
	}
	memcpy(values, c->values[meter], sizeof c->values[meter]);
	*rate = c->rate;
	return c->read_ns;
}
