/* Measures the load of the memory controller: its busy clock cycles relative to its clock, which is a signal of its own and
 * read once for both.
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

/* The last column is the clock, the one before it the load, if there is one. */
static void emc_read(struct probe *p, int64_t t_ns, double *row)
{
	double rate_hz = attr_number(&p->attrs[RATE], p->root, t_ns, 1, CHANNEL_EMC_RATE), busy_khz, v;

	row[p->column + p->width - 1] = channel_round(CHANNEL_EMC_RATE, rate_hz);
	if (p->width == 1)
		return;
	busy_khz = attr_number(&p->attrs[ACTIVITY], p->root, t_ns, 1, CHANNEL_OTHER);
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

static int open_emc(struct probe_ctx *o, struct err *e)
{
	static const struct value_row activity = {.keys = " activity ", .attribute = ""},
				      rate = {.keys = " rate ", .attribute = ""};
	struct probe *p = probe_new(o, sizeof *p, FILES, &emc_ops, READ_NS, e);
	struct reason why = {.denied = false}, why_no_clock = why;
	struct place busy, clock;
	struct channel load, ch;
	char dir[sizeof busy.path];
	long long us;

	if (!p)
		return -1;
	p->thread = "nvmtop-emc";
	channel_describe(o, &load, "emc.util", false);
	channel_describe(o, &ch, "emc.rate", false);
	bool ticks = value_find(o, &rate, &clock, &why_no_clock), counts = value_find(o, &activity, &busy, &why);
	channel_source(o, &ch, ticks ? clock.path : NULL, &why_no_clock);
	if (ticks) {
		p->waits = clock.took_ns > QUICK_NS;
		attr_open(&p->attrs[RATE], o->root, clock.path);
	}
	if (ticks && counts) {
		p->waits |= busy.took_ns > QUICK_NS;
		attr_open(&p->attrs[ACTIVITY], o->root, busy.path);
		/* The driver averages over its sample period: reading more often gives nothing new. */
		text_join(dir, (size_t)(strrchr(busy.path, '/') - busy.path) + 1, busy.path);
		if (file_number_of(o->root, &us, dir, "/sample_period_usec") == 0 && us <= 1000000 && us * 1000 > READ_NS)
			p->period_ns = us * 1000;
		load.window_ns = p->period_ns;
		snprintf(load.source, sizeof load.source, "%.70s kHz / %.70s Hz", busy.path, clock.path);
		snprintf(load.note, sizeof load.note, "%s",
			 strstr(busy.path, "/bpmp/") ? _("not validated: the unit of the firmware's count is not public")
			 : strstr(busy.path, "/cactmon/") ? _("not validated: not yet compared with tegrastats") : "");
	} else {
		reason_set(counts ? &why_no_clock : &why, o, &load);
		p->column++;
	}
	load.period_ns = ch.period_ns = p->period_ns;
	int added = probe_ctx_add(o, &load, e) < 0 ? -1 : probe_ctx_add(o, &ch, e);
	return probe_ctx_finish(o, p, added, ticks, e);
}

const struct probe_kind probe_kind_emc = {
	"emc", 0, 0, " activity rate hint ", false, false, open_emc};
