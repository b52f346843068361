/* How busy the memory controller is: the clock cycles in which it was, against
 * the clock that it has.
 *
 * actmon_avg_activity (tegra210 to 194) and cactmon (tegra234) hold a rate in
 * kHz: count * 1000 / sample_period_us.  So the percentage has nothing to do
 * with the sample period.  What the firmware's own files (bpmp .. actmon/mc_all_*)
 * count in is not public; they are taken for the same.
 *
 * On a tegra234 nobody has yet compared the result with tegrastats, and it may
 * be off by a factor of 2: the channel says so.
 *
 * The clock is a question to another processor, and debugfs files are opened for
 * every read: a thread of its own does both. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nvmtop/clock.h"
#include "nvmtop/intl.h"
#include "open.h"
#include "slow.h"

#define READ_NS (10 * NS_PER_MS)
#define OVER    110 /* percent: beyond it the two files do not go together */

/* The thread's. */
struct reader {
	struct root *root;
	struct attr activity, rate;
	int64_t retry_ns;
};

struct emc {
	struct probe probe;
	struct slow *slow;
	struct slow_seen seen;
	uint16_t column;
};

static bool take(struct reader *r, struct attr *a, double *out)
{
	if (!attr_is_open(a))
		return false;
	if (attr_number(a, r->root, out))
		return *out >= 0;
	if (attr_gone(errno))
		attr_close(a);
	return false;
}

static void reader_read(void *arg, int64_t t_ns, uint64_t wanted, double *v)
{
	struct reader *r = arg;
	double busy_khz, rate_hz;

	(void)wanted;
	if (t_ns >= r->retry_ns) {
		r->retry_ns = t_ns + NS_PER_S;
		if (!attr_is_open(&r->activity))
			attr_open(&r->activity, r->root, r->activity.path);
		if (!attr_is_open(&r->rate))
			attr_open(&r->rate, r->root, r->rate.path);
	}
	if (!take(r, &r->activity, &busy_khz) || !take(r, &r->rate, &rate_hz) || rate_hz <= 0)
		return;
	double percent = busy_khz / (rate_hz / 1000) * 100;
	if (percent <= OVER)
		v[0] = fmin(percent, 100);
}

static void reader_close(void *arg)
{
	struct reader *r = arg;

	attr_close(&r->activity);
	attr_close(&r->rate);
	root_close(r->root);
	free(r);
}

static const struct slow_ops reader_ops = {reader_read, reader_close};

static void emc_read(struct probe *p, int64_t t_ns, double *row)
{
	struct emc *m = (struct emc *)p;
	double v[1];

	slow_ask(m->slow, t_ns);
	if (slow_take(m->slow, &m->seen, t_ns, v))
		row[m->column] = channel_round(CHANNEL_EMC_UTIL, v[0]);
}

static void emc_start(struct probe *p)
{
	slow_start(((struct emc *)p)->slow);
}

static void emc_close(struct probe *p)
{
	struct emc *m = (struct emc *)p;

	slow_stop(m->slow);
	free(m);
}

static const struct probe_ops emc_ops = {emc_read, emc_close};

/* The first of the statement's candidates that opens and holds a number. */
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

/* The driver averages over its sample period: more often tells nothing new. */
static int64_t sample_period(const struct root *r, const char *activity)
{
	char path[192];
	const char *slash = strrchr(activity, '/');
	long long us;

	int n = snprintf(path, sizeof path, "%.*s/sample_period_usec", (int)(slash ? slash - activity : 0),
			 activity);
	if (n < 0 || (size_t)n >= sizeof path || root_read_i64(r, path, &us) < 0 || us <= 0 || us > 1000000)
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

/* NULL: no memory. */
static struct reader *reader_new(const struct root *root)
{
	struct reader *r = calloc(1, sizeof *r);

	if (!r)
		return NULL;
	r->activity.fd = r->rate.fd = -1;
	r->root = root_open(root_dir(root), NULL);
	if (!r->root) {
		free(r);
		return NULL;
	}
	return r;
}

int open_emc(struct opening *o, struct err *e)
{
	struct emc *m = probe_new(o, sizeof *m, &emc_ops, 0, e);
	struct reader *r = m ? reader_new(o->root) : NULL;
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
		ch.period_ns = sample_period(o->root, r->activity.path);
		snprintf(ch.source, sizeof ch.source, "%.70s kHz / %.70s Hz", r->activity.path, r->rate.path);
		if (!ch.note[0])
			snprintf(ch.note, sizeof ch.note, "%s", doubt(r->activity.path));
	} else {
		reason_tell(&why, o->s, &ch);
	}
	m->slow = slow_new("nvmtop-emc", &reader_ops, r, 1, found ? ch.period_ns : READ_NS, 0.2);
	m->probe.start = emc_start;
	const struct channel *added = m->slow ? opening_add(o, &ch, e) : NULL;
	if (!m->slow)
		statement_error(o->s, e, _("out of memory"));
	if (added)
		m->column = added->column;
	if (!added || !found) {
		emc_close(&m->probe);
		return added ? 0 : -1;
	}
	return opening_add_probe(o, &m->probe, e);
}
