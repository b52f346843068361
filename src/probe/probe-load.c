/* The load average of one minute: how many processes wanted a core, or waited
 * for a disk.  The kernel renews it every 5 seconds. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "nvmtop/clock.h"
#include "nvmtop/intl.h"
#include "nvmtop/num.h"
#include "open.h"

#define FILE_NAME "/proc/loadavg"
#define RENEW_NS  (5 * NS_PER_S)
#define READ_NS   NS_PER_S

struct load {
	struct probe probe;
	const struct root *root;
	struct attr attr;
	uint16_t column;
};

/* "0.20 0.18 0.12 ...": whole, a point, hundredths. */
static double parse(const char *p, const char *end)
{
	int64_t whole, part;

	if (!(p = num_i64(p, end, &whole)) || whole < 0 || end - p < 4 || p[0] != '.' || p[3] != ' ')
		return NAN;
	if (p[1] < '0' || p[1] > '9' || num_i64(p + 1, p + 3, &part) != p + 3)
		return NAN;
	return (double)whole + (double)part / 100;
}

static void load_read(struct probe *p, int64_t t_ns, double *row)
{
	struct load *l = (struct load *)p;
	char buf[64];

	(void)t_ns;
	ssize_t n = attr_read(&l->attr, l->root, buf, sizeof buf);
	row[l->column] = n > 0 ? parse(buf, buf + n) : NAN;
}

static void load_close(struct probe *p)
{
	struct load *l = (struct load *)p;

	attr_close(&l->attr);
	free(l);
}

static const struct probe_ops load_ops = {load_read, load_close};

int open_load(struct opening *o, struct err *e)
{
	struct load *l = probe_new(o, sizeof *l, &load_ops, READ_NS, e);
	struct channel ch;

	if (!l)
		return -1;
	l->root = o->root;
	channel_describe(o, &ch, "load.1", false);
	ch.family = FAMILY_CPU;
	ch.lo = 0;
	ch.period_ns = RENEW_NS;
	snprintf(ch.label, sizeof ch.label, "%s", _("Load"));
	snprintf(ch.note, sizeof ch.note, "%s", _("processes that run or wait, mean of 1 min"));
	snprintf(ch.source, sizeof ch.source, "%s", FILE_NAME);
	bool there = attr_open(&l->attr, o->root, FILE_NAME) == 0;
	if (!there) {
		struct reason why = {.denied = false};
		reason_add(&why, FILE_NAME, errno);
		reason_tell(&why, o->s, &ch);
	}
	const struct channel *added = opening_add(o, &ch, e);
	if (added)
		l->column = added->column;
	if (added && there)
		return opening_add_probe(o, &l->probe, e);
	load_close(&l->probe);
	return added ? 0 : -1;
}
