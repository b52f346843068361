/* The share of the cores' time in which they had nothing to run while one of their tasks waited for a
 * disk, from the first line of /proc/stat.
 *
 * The kernel counts it in hundredths of a second for the core on which the wait began, so it is a hint
 * and not a measurement: it may even decrease. Over a second, over all online cores, it is good enough
 * to distinguish waiting from idling. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "util/clock.h"
#include "util/intl.h"
#include "util/num.h"
#include "probe/open.h"

#define FILE_NAME "/proc/stat"
#define READ_NS   (NS_PER_S / 10)
#define WINDOW    10 /* readings: a second */
#define FIELDS    8  /* user nice system idle iowait irq softirq steal; guests are in user */
#define IOWAIT    4

struct iowait {
	struct file_probe file;
	int n;                                 /* readings so far */
	int64_t total[WINDOW], waited[WINDOW]; /* the oldest first */
	uint16_t column;
};

/* "cpu  10132153 290696 3084719 46828483 16683 0 25195 0 ..." */
static bool parse(const char *p, const char *end, int64_t *total, int64_t *waited)
{
	if (end - p < 5 || memcmp(p, "cpu ", 4) != 0)
		return false;
	p += 4;
	*total = 0;
	for (int i = 0; i < FIELDS; i++) {
		int64_t v;

		while (p < end && *p == ' ')
			p++;
		if (!(p = num_i64(p, end, &v)) || v < 0 || v > INT64_MAX / 16)
			return false;
		*total += v;
		if (i == IOWAIT)
			*waited = v;
	}
	return true;
}

/* Another reading; the share since the oldest one, or NaN. */
static double look(struct iowait *w)
{
	int64_t total, waited = 0, all, part;
	double share = NAN;
	char buf[256];

	ssize_t n = attr_read(&w->file.attr, w->file.root, buf, sizeof buf);
	if (n <= 0 || !parse(buf, buf + n, &total, &waited)) {
		w->n = 0;
		return NAN;
	}
	/* It ran backwards: what was before is compared with nothing. */
	if (w->n > 0 && (total < w->total[w->n - 1] || waited < w->waited[w->n - 1]))
		w->n = 0;
	if (w->n > 0) {
		all = total - w->total[0];
		part = waited - w->waited[0];
		if (all > 0 && part <= all)
			share = 100 * (double)part / (double)all;
	}
	if (w->n == WINDOW) {
		w->n--;
		memmove(w->total, w->total + 1, sizeof w->total - sizeof w->total[0]);
		memmove(w->waited, w->waited + 1, sizeof w->waited - sizeof w->waited[0]);
	}
	w->total[w->n] = total;
	w->waited[w->n++] = waited;
	return share;
}

static void iowait_read(struct probe *p, int64_t t_ns, double *row)
{
	struct iowait *w = (struct iowait *)p;

	(void)t_ns;
	row[w->column] = look(w);
}

static const struct probe_ops iowait_ops = {iowait_read, file_probe_close};

static int open_iowait(struct probe_ctx *o, struct err *e)
{
	struct iowait *w = probe_new(o, sizeof *w, &iowait_ops, READ_NS, e);
	struct channel ch;

	if (!w)
		return -1;
	w->file.root = o->root;
	channel_describe(o, &ch, "cpu.iowait", false);
	ch.family = FAMILY_CPU;
	ch.unit = UNIT_PERCENT;
	ch.lo = 0;
	ch.hi = 100;
	ch.period_ns = READ_NS;
	snprintf(ch.label, sizeof ch.label, "%s", _("I/O wait"));
	snprintf(ch.note, sizeof ch.note, "%s",
		 _("idle while a task waits for a disk; mean of 1 s, of all cores"));
	snprintf(ch.source, sizeof ch.source, "%s", FILE_NAME);
	bool there = attr_open(&w->file.attr, o->root, FILE_NAME) == 0;
	if (there) {
		look(w); /* what the first reading is compared with */
	} else {
		struct reason why = {.denied = false};
		reason_add(&why, FILE_NAME, errno);
		reason_set(&why, o, &ch);
	}
	int added = probe_ctx_column(o, &ch, &w->column, e);

	return probe_ctx_finish(o, &w->file.probe, added, there, e);
}

const struct probe_kind probe_kind_iowait = {"iowait", 0, 0, " hint ", false, false, open_iowait};
