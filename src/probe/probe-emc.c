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

	v[EMC_RATE] = rate_hz;
	if (isnan(rate_hz) || isnan(busy_khz))
		v[EMC_UTIL] = isnan(rate_hz) ? rate_hz : busy_khz;
	else if (rate_hz <= 0)
		v[EMC_UTIL] = missing_said(MISSING_RANGE, "0 Hz", 4);
	else if (busy_khz < 0 || busy_khz > rate_hz / 1000 * OVER / 100)
		v[EMC_UTIL] = missing_value(MISSING_RANGE, 0);
	else
		v[EMC_UTIL] = fmin(busy_khz / (rate_hz / 1000) * 100, 100);
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
	double v[EMC_VALUES];

	if (probe_take(p, t_ns, v))
		row[p->column] = channel_round(CHANNEL_EMC_UTIL, v[EMC_UTIL]);
}

static const struct probe_ops emc_ops = {emc_read, probe_stop};

/* Returns the reader of the emc probe that reads that file as its clock, at least that often, so that it is not read
 * twice; or NULL. */
struct async_reader *emc_reader(const struct probe_set *r, const char *path, int64_t period_ns)
{
	for (size_t i = 0; i < r->n_probes; i++) {
		const struct emc *m = (const struct emc *)r->probes[i];
		if (m->probe.ops == &emc_ops && !strcmp(m->rate_path, path) &&
		    m->every_ns <= (period_ns > READ_NS ? period_ns : READ_NS))
			return m->probe.reader;
	}
	return NULL;
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

static int open_emc(struct probe_ctx *o, struct err *e)
{
	static const struct value_row activity = {.keys = " activity ", .attribute = ""},
				      rate = {.keys = " rate ", .attribute = ""};
	struct emc *m = probe_new(o, sizeof *m, 0, &emc_ops, TAKE_NS, e);
	struct reader *r = m ? calloc(1, sizeof *r) : NULL;
	struct reason why = {.denied = false};
	struct place busy, clock;
	struct channel ch;

	if (!r) {
		free(m);
		return statement_error(o->s, e, _("out of memory"));
	}
	r->activity.fd = r->rate.fd = -1;
	r->root = root_hold(o->probes->root);
	channel_describe(o, &ch, "emc.util", false);
	bool found = value_find(o, &activity, &busy, &why) && value_find(o, &rate, &clock, &why);
	if (found) {
		attr_open(&r->activity, o->root, busy.path);
		attr_open(&r->rate, o->root, clock.path);
		text_join(m->rate_path, sizeof m->rate_path, clock.path);
		m->every_ns = ch.period_ns = ch.window_ns = sample_period(o->root, busy.path);
		snprintf(ch.source, sizeof ch.source, "%.70s kHz / %.70s Hz", busy.path, clock.path);
		if (!ch.note[0])
			snprintf(ch.note, sizeof ch.note, "%s", doubt(busy.path));
	} else {
		reason_set(&why, o, &ch);
	}
	m->probe.reader = async_reader_new("nvmtop-emc", &reader_ops, r, EMC_VALUES, found ? ch.period_ns : READ_NS, 0.2);
	if (m->probe.reader && found)
		async_reader_on_bus_of(m->probe.reader, &r->rate);
	int added = m->probe.reader ? probe_ctx_add(o, &ch, e)
					: statement_error(o->s, e, _("out of memory"));

	return probe_ctx_finish(o, &m->probe, added, found, e);
}

const struct probe_kind probe_kind_emc = {
	"emc", 0, 0, " activity rate label note hint ", false, false, open_emc};
