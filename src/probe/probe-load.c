/* The load averages of 1, 5 and 15 minutes: how many processes wanted a core, or
 * waited for a disk.  The kernel renews them every 5 seconds. */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "util/clock.h"
#include "util/intl.h"
#include "util/num.h"
#include "probe/open.h"

#define FILE_NAME "/proc/loadavg"
#define RENEW_NS  (5 * NS_PER_S)
#define READ_NS   NS_PER_S
#define LOADS     3

struct load {
	struct file_probe file;
	uint16_t column[LOADS];
};

/* "0.20 0.18 0.12 ...": whole, a point, hundredths, a blank.  NULL: it is not. */
static const char *parse(const char *p, const char *end, double *out)
{
	int64_t whole, part;

	if (!(p = num_i64(p, end, &whole)) || whole < 0 || end - p < 4 || p[0] != '.' || p[3] != ' ')
		return NULL;
	if (p[1] < '0' || p[1] > '9' || num_i64(p + 1, p + 3, &part) != p + 3)
		return NULL;
	*out = (double)whole + (double)part / 100;
	return p + 4;
}

static void load_read(struct probe *p, int64_t t_ns, double *row)
{
	struct load *l = (struct load *)p;
	char buf[64];

	(void)t_ns;
	ssize_t n = attr_read(&l->file.attr, l->file.root, buf, sizeof buf);
	const char *at = n > 0 ? buf : NULL;
	for (int i = 0; i < LOADS; i++) {
		row[l->column[i]] = NAN;
		if (at)
			at = parse(at, buf + n, &row[l->column[i]]);
	}
}

static const struct probe_ops load_ops = {load_read, file_probe_close};

static int open_load(struct probe_ctx *o, struct err *e)
{
	static const struct {
		const char *name, *label, *note;
	} loads[LOADS] = {{"load.1", N_("Load"), N_("processes that run or wait, mean of 1 min")},
			  {"load.5", N_("Load 5 min"), N_("processes that run or wait, mean of 5 min")},
			  {"load.15", N_("Load 15 min"), N_("processes that run or wait, mean of 15 min")}};
	struct load *l = probe_new(o, sizeof *l, &load_ops, READ_NS, e);
	int added = 0;
	struct channel ch;
	struct reason why = {.denied = false};

	if (!l)
		return -1;
	l->file.root = o->root;
	bool there = attr_open(&l->file.attr, o->root, FILE_NAME) == 0;
	if (!there)
		reason_add(&why, FILE_NAME, errno);
	for (int i = 0; i < LOADS && added == 0; i++) {
		channel_describe(o, &ch, loads[i].name, false);
		ch.family = FAMILY_CPU;
		ch.lo = 0;
		ch.period_ns = RENEW_NS;
		snprintf(ch.label, sizeof ch.label, "%s", _(loads[i].label));
		snprintf(ch.note, sizeof ch.note, "%s", _(loads[i].note));
		snprintf(ch.source, sizeof ch.source, "%s", FILE_NAME);
		if (!there)
			reason_set(&why, o, &ch);
		added = probe_ctx_column(o, &ch, &l->column[i], e);
	}
	return probe_ctx_finish(o, &l->file.probe, added, there, e);
}

const struct probe_kind probe_kind_load = {"load", 0, 0, " hint ", false, false, open_load};
