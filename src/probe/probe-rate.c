/* Reads counters of the kernel as rates: what each core did in its time, and the bytes of disks and of network
 * interfaces.
 *
 * A rate is the increase since the reading before, so that the mean of rates is that of the counter. Counters that
 * belong together begin anew together: a core that was offline, a card that was plugged in again.
 *
 * The kernel says what a core did when its tick comes, in hundredths of a second, and a task in step with the tick is
 * counted wrong; how busy the core was is measured better by `cpu`. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/clock.h"
#include "util/intl.h"
#include "util/num.h"
#include "model/missing.h"
#include "probe/cpu.h"

#define PERIOD_NS (NS_PER_S / 10)
#define TIMES     5 /* of a core: user, nice, system, idle, and all that it had */
#define DEVICES   32
#define SECTOR    512

struct rates {
	struct probe probe;
	void (*take)(struct rates *r, int64_t t_ns, double *now); /* NaN with the reason where there is none */
	size_t n, group; /* counters, and those that begin anew together */
	bool shares;     /* the last of a group is what the others are parts of */
	int64_t t_ns;    /* of the reading before; 0: there is none */
	int16_t core[CORES_MAX]; /* its group, or -1 */
	double counts[];         /* n of the reading before, n of this one */
};

/* Whether all counters of a group were known, are known, and none fell. */
static bool goes_on(const double *from, const double *to, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!(from[i] <= to[i]))
			return false;
	return true;
}

static void rates_read(struct probe *p, int64_t t_ns, double *row)
{
	struct rates *r = (struct rates *)p;
	double *from = r->counts, *to = r->counts + r->n;

	r->take(r, t_ns, to);
	row += p->column;
	for (size_t parts = r->group - r->shares, k = 0; k < r->n; k += r->group, from += r->group, to += r->group) {
		double whole = r->shares ? (to[parts] - from[parts]) / 100 : (double)(t_ns - r->t_ns) / NS_PER_S;
		bool known = r->t_ns && whole > 0 && goes_on(from, to, r->group);
		for (size_t i = 0; i < parts; i++)
			*row++ = known          ? (to[i] - from[i]) / whole
				 : isnan(to[i]) ? to[i]
						: missing_value(MISSING_SECOND, 0);
	}
	memcpy(r->counts, r->counts + r->n, r->n * sizeof *r->counts);
	r->t_ns = t_ns;
}

static const struct probe_ops rates_ops = {rates_read, probe_free};

static struct rates *rates_new(struct probe_ctx *o, size_t n, size_t group, size_t files, struct err *e)
{
	struct rates *r = probe_new(o, sizeof *r + 2 * n * sizeof *r->counts, files, &rates_ops, PERIOD_NS, e);

	if (r) {
		r->n = n;
		r->group = group;
		memset(r->core, -1, sizeof r->core);
	}
	return r;
}

/* Adds a channel whose name is joined of three parts. */
static int add(struct probe_ctx *o, struct channel_form *form, const char *prefix, const char *of, const char *what,
	       int index, const struct reason *missing, struct err *e)
{
	struct channel ch;
	char name[64];

	text_join(name, sizeof name, prefix, of, what);
	form->name = name;
	form->period_ns = PERIOD_NS;
	form->window_ns = PERIOD_NS > o->tick_ns ? PERIOD_NS : o->tick_ns;
	channel_form(o, &ch, form);
	ch.index = (uint16_t)index;
	if (missing)
		reason_set(missing, o, &ch);
	return probe_ctx_add(o, &ch, e);
}

/* --- the time of cores --- */

static void take_times(struct rates *r, int64_t t_ns, double *now)
{
	char buf[64 * 1024];
	ssize_t size = attr_read(r->probe.attrs, r->probe.root, t_ns, buf, sizeof buf);
	double why = missing_value(MISSING_ERROR, (unsigned)errno);
	struct stat_line line;

	for (size_t i = 0; i < r->n; i++)
		now[i] = size < 0 ? why : missing_said(MISSING_FIELD, "cpu", 3);
	for (size_t i = 0; size >= 0 && i < CORES_MAX; i++)
		for (size_t k = 0; r->core[i] >= 0 && k < TIMES; k++)
			now[(size_t)r->core[i] * TIMES + k] = missing_value(MISSING_OFFLINE, (unsigned)i);
	for (const char *p = buf; size > 0 && stat_line_next(&p, buf + size, &line);) {
		int group = line.core < 0 ? 0 : line.core < CORES_MAX ? r->core[line.core] : -1;
		for (size_t k = 0; group >= 0 && k < TIMES; k++)
			now[(size_t)group * TIMES + k] = !line.good ? missing_said(MISSING_TEXT, line.text, line.len)
							 : k < TIMES - 1 ? (double)line.v[k] : (double)line.total;
	}
}

static int open_cputime(struct probe_ctx *o, struct err *e)
{
	static const struct {
		const char *name, *note;
	} times[TIMES - 1] = {{".user", N_("in programs, guests included")},
			      {".nice", N_("in programs of low priority")},
			      {".system", N_("in the kernel, without interrupts")},
			      {".idle", N_("idle, without waiting for a disk")}};
	bool set[CORES_MAX] = {false};
	struct reason why = {.denied = false};
	size_t n = cores_present(o->root, set);
	struct rates *r = rates_new(o, (n + 1) * TIMES, TIMES, 1, e);
	char of[16], source[32];
	int group = 0, added = 0;

	if (!r)
		return -1;
	r->take = take_times;
	r->shares = true;
	bool found = attr_open(r->probe.attrs, o->root, "/proc/stat") == 0;
	if (!found)
		reason_add(&why, "/proc/stat", errno);
	for (int core = -1; core < CORES_MAX && added == 0; core++) {
		if (core >= 0 && !set[core])
			continue;
		of[0] = '\0';
		if (core >= 0)
			text_number(of, sizeof of, "", (unsigned)core);
		snprintf(source, sizeof source, "/proc/stat cpu%s", of);
		if (core >= 0)
			r->core[core] = (int16_t)++group;
		for (int i = 0; i < TIMES - 1 && added == 0; i++) {
			struct channel_form form = {.source = found ? source : NULL, .note = times[i].note,
						    .unit = UNIT_PERCENT, .family = FAMILY_CPU, .hi = 100};
			added = add(o, &form, "cpu", of, times[i].name, core < 0 ? 0 : core, found ? NULL : &why, e);
		}
	}
	return probe_ctx_finish(o, &r->probe, added, found, e);
}

/* --- devices --- */

/* "reads merged sectors ms writes merged sectors ms ..." */
static void take_disk(struct rates *r, int64_t t_ns, double *now)
{
	struct attr *a = r->probe.attrs;
	char buf[512];
	int64_t n[7];
	ssize_t size = attr_read(a, r->probe.root, t_ns, buf, sizeof buf);
	const char *p = buf, *end = buf + (size > 0 ? size : 0);

	now[0] = now[1] = missing_value(MISSING_ERROR, (unsigned)errno);
	for (int i = 0; i < 7 && size >= 0; i++)
		if (!(p = num_i64(p, end, &n[i])) || n[i] < 0) {
			now[0] = now[1] = missing_said(MISSING_TEXT, buf, strcspn(buf, "\n"));
			return;
		}
	for (int i = 0; i < 2 && size >= 0; i++)
		now[i] = (double)n[i ? 6 : 2] * SECTOR;
}

static void take_net(struct rates *r, int64_t t_ns, double *now)
{
	for (int i = 0; i < 2; i++)
		now[i] = attr_number(&r->probe.attrs[i], r->probe.root, t_ns, 1, CHANNEL_OTHER);
}

struct devices {
	const char *prefix, *folder;
	void (*take)(struct rates *r, int64_t t_ns, double *now);
	const char *file[2], *what[2]; /* a file of both values, or one of each */
};

static const struct devices disks = {"disk.", "/sys/block/", take_disk, {"/stat", NULL}, {".read", ".write"}};
static const struct devices nets = {"net.", "/sys/class/net/", take_net,
				    {"/statistics/rx_bytes", "/statistics/tx_bytes"}, {".rx", ".tx"}};

static int add_device(struct probe_ctx *o, const struct devices *d, const char *name, struct err *e)
{
	struct rates *r = rates_new(o, 2, 2, d->file[1] ? 2 : 1, e);
	struct reason why = {.denied = false};
	char path[192], shown[40];
	int added = 0;

	if (!r)
		return -1;
	r->take = d->take;
	text_printable(shown, sizeof shown, name, strlen(name));
	for (int i = 0; i < 2 && added == 0; i++) {
		struct channel_form form = {.source = path, .unit = UNIT_BYTE_RATE, .family = FAMILY_OTHER, .hi = NAN};
		text_join(path, sizeof path, d->folder, name, d->file[i] ? d->file[i] : d->file[0]);
		if (d->file[i] && attr_open(&r->probe.attrs[i], o->root, path) < 0)
			reason_add(&why, path, errno);
		added = add(o, &form, d->prefix, shown, d->what[i], 0, *why.tried ? &why : NULL, e);
	}
	return probe_ctx_finish(o, &r->probe, added, !*why.tried, e);
}

/* Partitions, memory that is a disk, and devices that pass everything on to others would be counted twice. */
static bool is_device(const struct root *r, const struct devices *d, const char *name)
{
	char path[192];

	text_join(path, sizeof path, d->folder, name, "/device");
	return file_exists(r, path) && !strstr(name, "boot") && !strstr(name, "rpmb");
}

/* Those that are named, whether they are there or not; else those that are there now. In a container the interfaces
 * are made up, and are taken as they are. */
static int open_devices(struct probe_ctx *o, const struct devices *d, struct err *e)
{
	char **names;
	size_t n, devices = 0, added = 0;
	int result = 0;

	for (size_t i = 0; i < o->s->n_words && !result; i++)
		result = add_device(o, d, o->s->words[i], e);
	if (o->s->n_words || root_list(o->root, d->folder, &names, &n) < 0)
		return result;
	for (size_t i = 0; i < n; i++)
		devices += is_device(o->root, d, names[i]);
	for (size_t i = 0; i < n && !result && added < DEVICES; i++) {
		bool wanted = devices || d == &disks ? is_device(o->root, d, names[i]) : strcmp(names[i], "lo") != 0;
		if (wanted && strlen(names[i]) <= 32) {
			result = add_device(o, d, names[i], e);
			added++;
		}
	}
	free(names);
	return result;
}

static int open_disk(struct probe_ctx *o, struct err *e)
{
	return open_devices(o, &disks, e);
}

static int open_net(struct probe_ctx *o, struct err *e)
{
	return open_devices(o, &nets, e);
}

const struct probe_kind probe_kind_cputime = {"cputime", 0, 0, " hint ", false, false, open_cputime};
const struct probe_kind probe_kind_disk = {"disk", 0, DEVICES, " hint ", false, false, open_disk};
const struct probe_kind probe_kind_net = {"net", 0, DEVICES, " hint ", false, false, open_net};
