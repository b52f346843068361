/* Measures the load of the memory controller: its busy clock cycles relative to its clock.
 *
 * actmon_avg_activity (tegra210 to 194) and cactmon (tegra234) contain a rate in kHz: count * 1000 /
 * sample_period_us. So the percentage does not depend on the sample period. The unit of the firmware's files
 * (bpmp .. actmon/mc_all_*) is not public; the same is assumed.
 *
 * On a tegra234 the result has not been compared with tegrastats, and may be off by a factor of 2, as the
 * channel's note states.
 *
 * Reading the clock queries another processor, and the activity is updated only when its file is opened: another
 * thread does both. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/missing.h"
#include "util/clock.h"
#include "util/intl.h"
#include "probe/open.h"

#define READ_NS (10 * NS_PER_MS)
#define OVER    110 /* percent; above it the two files do not match */

enum { RATE, ACTIVITY, FILES };

static void emc_read(struct probe *p, int64_t t_ns, double *row)
{
	double busy_khz = attr_number(&p->attrs[ACTIVITY], p->root, t_ns, 1, CHANNEL_OTHER);
	double rate_hz = attr_number(&p->attrs[RATE], p->root, t_ns, 1, CHANNEL_OTHER), v;

	if (isnan(rate_hz) || isnan(busy_khz))
		v = isnan(rate_hz) ? rate_hz : busy_khz;
	else if (rate_hz <= 0)
		v = missing_said(MISSING_RANGE, "0 Hz", 4);
	else if (busy_khz < 0 || busy_khz > rate_hz / 1000 * OVER / 100)
		v = missing_value(MISSING_RANGE, 0);
	else
		v = fmin(busy_khz / (rate_hz / 1000) * 100, 100);
	row[p->column] = channel_round(CHANNEL_EMC_UTIL, v);
}

static const struct probe_ops emc_ops = {emc_read, probe_free};

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
	struct probe *p = probe_new(o, sizeof *p, FILES, &emc_ops, READ_NS, e);
	struct reason why = {.denied = false};
	struct place busy, clock;
	struct channel ch;

	if (!p)
		return -1;
	p->thread = "nvmtop-emc";
	channel_describe(o, &ch, "emc.util", false);
	bool found = value_find(o, &activity, &busy, &why) && value_find(o, &rate, &clock, &why);
	if (found) {
		p->waits = busy.took_ns > QUICK_NS || clock.took_ns > QUICK_NS;
		attr_open(&p->attrs[ACTIVITY], o->root, busy.path);
		attr_open(&p->attrs[RATE], o->root, clock.path);
		p->period_ns = ch.period_ns = ch.window_ns = sample_period(o->root, busy.path);
		snprintf(ch.source, sizeof ch.source, "%.70s kHz / %.70s Hz", busy.path, clock.path);
		if (!ch.note[0])
			snprintf(ch.note, sizeof ch.note, "%s", doubt(busy.path));
	} else {
		reason_set(&why, o, &ch);
	}
	return probe_ctx_finish(o, p, probe_ctx_add(o, &ch, e), found, e);
}

const struct probe_kind probe_kind_emc = {
	"emc", 0, 0, " activity rate label note hint ", false, false, open_emc};
