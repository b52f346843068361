/* Measures the load of the memory controller: its busy clock cycles relative to its clock.
 *
 * actmon_avg_activity (tegra210 to 194) and cactmon (tegra234) contain a rate in kHz: count * 1000 /
 * sample_period_us. So the percentage does not depend on the sample period. The unit of the firmware's files
 * (bpmp .. actmon/mc_all_*) is not public; the same is assumed.
 *
 * On a tegra234 the result has not been compared with tegrastats, and may be off by a factor of 2, as the
 * channel's note states.
 *
 * Reading the clock queries another processor, and the activity is updated only when its file is opened: a
 * reader thread does both. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/missing.h"
#include "util/clock.h"
#include "util/intl.h"
#include "probe/open.h"
#include "probe/async-reader.h"

#define READ_NS (10 * NS_PER_MS)
#define TAKE_NS (5 * NS_PER_MS) /* how often the reader's values are taken */
#define OVER    110             /* percent; above it the two files do not match */

/* The reader's values: percent, and the clock in Hz for a channel that shows it. */
enum { UTIL, RATE, VALUES };

/* Used by the reader thread only. */
struct reader {
	struct root *root;
	struct attr activity, rate;
};

struct emc {
	struct probe probe;
	int64_t every_ns; /* the thread's period */
	char rate_path[sizeof((struct attr *)0)->path];
};

static void reader_read(void *arg, int64_t t_ns, double *v)
{
	struct reader *r = arg;
	double busy_khz = attr_poll(&r->activity, r->root, t_ns),
	       rate_hz = attr_poll(&r->rate, r->root, t_ns);

	v[RATE] = rate_hz;
	if (isnan(rate_hz) || isnan(busy_khz))
		v[UTIL] = isnan(rate_hz) ? rate_hz : busy_khz;
	else if (rate_hz <= 0)
		v[UTIL] = missing_said(MISSING_RANGE, "0 Hz", 4);
	else if (busy_khz < 0 || busy_khz > rate_hz / 1000 * OVER / 100)
		v[UTIL] = missing_value(MISSING_RANGE, 0);
	else
		v[UTIL] = fmin(busy_khz / (rate_hz / 1000) * 100, 100);
}

static void reader_close(void *arg)
{
	struct reader *r = arg;

	attr_close(&r->activity);
	attr_close(&r->rate);
	root_close(r->root);
	free(r);
}

static const struct async_reader_ops reader_ops = {reader_read, reader_close};

static void emc_read(struct probe *p, int64_t t_ns, double *row)
{
	double v[VALUES];

	if (probe_take(p, t_ns, v))
		row[p->column] = channel_round(CHANNEL_EMC_UTIL, v[UTIL]);
}

static const struct probe_ops emc_ops = {emc_read, probe_stop};

/* The clock with which emc.util is computed, as a channel of another tier; the reader is owned by the emc
 * probe, which is closed together with this one. */
static void rate_read(struct probe *p, int64_t t_ns, double *row)
{
	double v[VALUES];

	if (probe_take(p, t_ns, v))
		row[p->column] = v[RATE];
}

static const struct probe_ops rate_ops = {rate_read, probe_free};

/* Returns the emc probe that reads that file at least that often, or NULL. */
static const struct emc *emc_with(const struct probe_set *r, const char *path, int64_t period_ns)
{
	for (size_t i = 0; i < r->n_probes; i++) {
		const struct emc *m = (const struct emc *)r->probes[i];
		if (m->probe.ops == &emc_ops && !strcmp(m->rate_path, path) &&
		    m->every_ns <= (period_ns > READ_NS ? period_ns : READ_NS))
			return m;
	}
	return NULL;
}

bool emc_reads(const struct probe_set *r, const char *path, int64_t period_ns)
{
	return emc_with(r, path, period_ns) != NULL;
}

int emc_add_rate(struct probe_ctx *o, const struct channel *ch, const char *path, struct err *e)
{
	struct probe *p = probe_new(o, sizeof *p, 0, &rate_ops, ch->period_ns, e);

	if (!p)
		return -1;
	p->reader = emc_with(o->probes, path, ch->period_ns)->probe.reader;
	return probe_ctx_finish(o, p, probe_ctx_add(o, ch, e), true, e);
}

/* Opens the first of the statement's candidates that contains a number. */
static bool open_first(struct reader *r, struct attr *a, const struct statement *s, const char *key,
		       struct reason *why)
{
	const char *path;
	double number;

	for (size_t i = 0; (path = setting_nth(s, key, i)); i++) {
		if (attr_open(a, r->root, path) == 0 && attr_number(a, r->root, &number))
			return true;
		int error = errno;
		attr_close(a);
		reason_add(why, path, error);
	}
	return false;
}

/* The driver averages over its sample period: reading more often gives nothing new. */
static int64_t sample_period(const struct root *r, const char *activity)
{
	char dir[sizeof((struct attr *)0)->path];
	long long us;

	text_join(dir, (size_t)(strrchr(activity, '/') - activity) + 1, activity);
	if (file_number_of(r, &us, dir, "/sample_period_usec") < 0 || us <= 0 || us > 1000000)
		return READ_NS;
	return us * 1000 > READ_NS ? us * 1000 : READ_NS;
}

static const char *doubt(const char *activity)
{
	if (strstr(activity, "/bpmp/"))
		return _("not validated: the unit of the firmware's count is not public");
	if (strstr(activity, "/cactmon/"))
		return _("not validated: not yet compared with tegrastats");
	return "";
}

/* Returns NULL if out of memory. */
static struct reader *reader_new(struct root *root)
{
	struct reader *r = calloc(1, sizeof *r);

	if (!r)
		return NULL;
	r->activity.fd = r->rate.fd = -1;
	r->root = root_hold(root);
	return r;
}

static int open_emc(struct probe_ctx *o, struct err *e)
{
	struct emc *m = probe_new(o, sizeof *m, 0, &emc_ops, TAKE_NS, e);
	struct reader *r = m ? reader_new(o->probes->root) : NULL;
	struct reason why = {.denied = false};
	struct channel ch;

	if (!r) {
		free(m);
		return statement_error(o->s, e, _("out of memory"));
	}
	channel_describe(o, &ch, "emc.util", false);
	bool found = open_first(r, &r->activity, o->s, "activity", &why) &&
		     open_first(r, &r->rate, o->s, "rate", &why);
	if (found) {
		text_join(m->rate_path, sizeof m->rate_path, r->rate.path);
		m->every_ns = ch.period_ns = ch.window_ns = sample_period(o->root, r->activity.path);
		snprintf(ch.source, sizeof ch.source, "%.70s kHz / %.70s Hz", r->activity.path, r->rate.path);
		if (!ch.note[0])
			snprintf(ch.note, sizeof ch.note, "%s", doubt(r->activity.path));
	} else {
		reason_set(&why, o, &ch);
	}
	m->probe.reader =
		async_reader_new("nvmtop-emc", &reader_ops, r, VALUES, found ? ch.period_ns : READ_NS, 0.2);
	if (m->probe.reader && found)
		async_reader_on_bus_of(m->probe.reader, &r->rate);
	int added = m->probe.reader ? probe_ctx_add(o, &ch, e)
					: statement_error(o->s, e, _("out of memory"));

	return probe_ctx_finish(o, &m->probe, added, found, e);
}

const struct probe_kind probe_kind_emc = {
	"emc", 0, 0, " activity rate label note hint ", false, false, open_emc};
