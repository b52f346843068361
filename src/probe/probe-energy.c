/* Reads energy counters, which are exact where power is a guess between two readings: those of hwmon chips, and
 * RAPL, that of the processor of a PC, whose increments are its power, too.
 *
 * All count microjoules. RAPL starts at 0 again after max_energy_range_uj. Since 2020 only root may read it:
 * anyone who can may learn what other programs compute. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/clock.h"
#include "util/intl.h"
#include "probe/open.h"

#define POWERCAP "/sys/class/powercap"
#define RAPL     "intel-rapl:"
#define MOST_W	 1e5 /* of one counter */

struct counter {
	struct probe probe;
	double range_uj;     /* where it starts at 0 again; NaN: nowhere */
	bool power;          /* the second column is the power */
	double uj, total_uj; /* the newest reading, NaN at first; the sum of its steps */
	int64_t read_ns;     /* of the newest reading */
	int64_t t_ns;        /* when it changed last; 0: not yet */
};

static void counter_read(struct probe *p, int64_t t_ns, double *row)
{
	struct counter *c = (struct counter *)p;
	double uj = attr_number(p->attrs, p->root, t_ns, 1, CHANNEL_OTHER), step = uj - c->uj, *power = row + p->column + c->power;

	*power = row[p->column] = NAN;
	if (isnan(uj)) {
		c->t_ns = 0; /* an increment over a gap is no power of a window */
		return;
	}
	step += step < 0 ? c->range_uj : 0;
	c->uj = uj;
	/* The first reading; or it was reset, perhaps by a suspend, or went on in one, which took no time. What it had counted since
	 * the last reading is not known: the sum begins again, and what falls is no rise of any time. */
	if (!(step <= MOST_W / 1e3 * (double)(t_ns - c->read_ns))) {
		row[p->column] = c->total_uj = 0;
		c->t_ns = 0;
	} else if (step > 0) {
		c->total_uj += step;
		if (c->power && c->t_ns)
			*power = channel_round(CHANNEL_RAIL_POWER, step / 1000 * (double)NS_PER_S / (double)(t_ns - c->t_ns));
		row[p->column] = c->total_uj / 1e6;
		c->t_ns = t_ns;
	}
	c->read_ns = t_ns;
}

static const struct probe_ops counter_ops = {counter_read, probe_free};

/* Adds NAME.energy, and NAME.power if power is set, for the counter in path. */
static int counter_add(struct probe_ctx *o, const char *name, const char *label, const char *path,
		       double range_uj, bool power, struct err *e)
{
	struct counter *c = probe_new(o, sizeof *c, 1, &counter_ops, 0, e);
	struct channel ch;
	struct reason why = {.denied = false};
	int added = 0;

	if (!c)
		return -1;
	c->range_uj = range_uj;
	c->power = power;
	c->uj = NAN;
	bool found = attr_open(c->probe.attrs, o->root, path) == 0;
	if (!found && (errno == EACCES || errno == EPERM)) {
		reason_add_text(&why, path, _("readable by root only"));
		snprintf(why.cure, sizeof why.cure, "%s", _("run nvmtop with sudo"));
	} else if (!found) {
		reason_add(&why, path, errno);
	}
	for (int i = 0; i <= power && added == 0; i++) {
		char full[sizeof ch.name + 16];
		snprintf(full, sizeof full, "%.36s%s", name, i ? ".power" : ".energy");
		channel_describe(o, &ch, full, true);
		text_printable(ch.label, sizeof ch.label, label, strlen(label));
		if (i) {
			ch.window_ns = o->tick_ns;
			snprintf(ch.note, sizeof ch.note, "%s", _("the increments of its energy counter"));
		} else {
			ch.kind = CHANNEL_COUNTER;
			ch.unit = UNIT_JOULE;
			ch.family = FAMILY_POWER;
		}
		channel_source(o, &ch, found ? path : NULL, &why);
		added = probe_ctx_add(o, &ch, e);
	}
	return probe_ctx_finish(o, &c->probe, added, found, e);
}

static int open_chips(struct probe_ctx *o, struct err *e)
{
	struct place p = {.kind = PLACE_HWMON};
	char name[80], shown[128];

	for (unsigned at = 0; place_next(&p, o->root, "energy", &at);) {
		snprintf(name, sizeof name, "%.30s_%.40s", p.name, p.which);
		snprintf(shown, sizeof shown, "%.60s %.60s", p.name, p.which);
		for (char *dot; (dot = strchr(name, '.'));)
			*dot = '_'; /* what is before the dot names the rail */
		if (counter_add(o, name, shown, p.path, NAN, false, e) < 0)
			return -1;
	}
	return 0;
}

/* The zones are "intel-rapl:0" and, in it, "intel-rapl:0:0"; what they are is in their file name: package-0, dram. */
static int open_rapl(struct probe_ctx *o, struct err *e)
{
	char **zones, what[40], name[64];
	long long range;
	size_t n;
	int result = 0;

	if (root_list(o->root, POWERCAP, &zones, &n) < 0)
		return 0;
	for (size_t i = 0; i < n && result == 0; i++) {
		char dir[128], path[160];
		unsigned package = 0, part = 0;
		int parts = sscanf(zones[i], RAPL "%u:%u", &package, &part);
		text_join(dir, sizeof dir, POWERCAP "/", zones[i]);
		if (parts < 1 || !file_line_of(o->root, what, sizeof what, dir, "/name"))
			continue;
		bool first = !strcmp(what, "package-0");
		snprintf(name, sizeof name, "%s", first ? "cpu" : what);
		if (parts == 2 && package)
			snprintf(name, sizeof name, "%s-%u", what, package);
		text_join(path, sizeof path, dir, "/energy_uj");
		if (file_number_of(o->root, &range, dir, "/max_energy_range_uj") < 0 || range <= 0)
			range = 0;
		result = counter_add(o, name, first ? "CPU" : what, path, range ? (double)range : (double)NAN,
				     parts == 1, e);
	}
	free(zones);
	return result;
}

static int open_energy(struct probe_ctx *o, struct err *e)
{
	return open_chips(o, e) < 0 ? -1 : open_rapl(o, e);
}

const struct probe_kind probe_kind_energy = {"energy", 0, 0, " hint ", false, false, open_energy};
