/* Reads what slows the machine down: active cooling devices, and counts of over-current events. A cooling
 * device that only notifies is a notice.
 *
 * A cooling device is identified by its type, because its number changes from boot to boot. Only type,
 * max_state and cur_state are ever read: other files in the directory (thermal_trip_event_block) block until
 * something trips. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "util/clock.h"
#include "util/intl.h"
#include "util/text.h"
#include "probe/open.h"

#define DEVICES_MAX 256
#define THERMAL     "/sys/class/thermal/cooling_device"

struct device {
	struct probe probe; /* its file: cur_state */
	char type[72];
	unsigned nth; /* among those of that type */
	int64_t retry_ns;
};

/* Returns true for a device that slows nothing: the kernel only reports that the surface is too hot to
 * touch. */
static bool only_tells(const char *type)
{
	return text_ends_in(type, "hot-surface-alert");
}

bool cooling_slows(const char *type)
{
	static const char *const endings[] = {"-throttle-alert", "-balanced"};
	static const char *const begins[] = {"devfreq-", "cpufreq-", "thermal-devfreq-", "thermal-cpufreq-"};

	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		if (text_ends_in(type, endings[i]))
			return true;
	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		if (!strncmp(type, begins[i], strlen(begins[i])))
			return true;
	return false;
}

/* Gets the directory of cooling device n and its type. Returns false if it does not exist. */
static bool device_type(const struct root *r, unsigned n, char *dir, size_t size, char *type,
			size_t type_size)
{
	text_number(dir, size, THERMAL, n);
	return file_line_of(r, type, type_size, dir, "/type") && *type;
}

static int find_again(struct device *d)
{
	char dir[64], path[96], type[72];
	unsigned seen = 0;

	for (unsigned n = 0; n < DEVICES_MAX; n++) {
		if (!device_type(d->probe.root, n, dir, sizeof dir, type, sizeof type) ||
		    strcmp(type, d->type) != 0 || seen++ != d->nth)
			continue;
		text_join(path, sizeof path, dir, "/cur_state");
		return attr_open(d->probe.attrs, d->probe.root, path);
	}
	return -1;
}

static void device_read(struct probe *p, int64_t t_ns, double *row)
{
	struct device *d = (struct device *)p;
	double state = NAN;

	if (!attr_is_open(p->attrs) && t_ns >= d->retry_ns) {
		d->retry_ns = t_ns + NS_PER_S;
		find_again(d);
	}
	if (attr_is_open(p->attrs) && !attr_number(p->attrs, p->root, &state)) {
		if (attr_gone(errno))
			attr_close(p->attrs);
		state = NAN;
	}
	row[p->column] = state;
}

static const struct probe_ops device_ops = {device_read, probe_free};

static unsigned count_of(const struct probe_ctx *o, const char *type)
{
	unsigned n = 0;

	for (size_t i = 0; i < o->probes->n_probes; i++)
		n += o->probes->probes[i]->ops == &device_ops &&
		     !strcmp(((const struct device *)o->probes->probes[i])->type, type);
	return n;
}

static int add_device(struct probe_ctx *o, const char *dir, const char *type, struct err *e)
{
	struct device *d = probe_new(o, sizeof *d, 1, &device_ops, 0, e);
	struct channel ch;
	const char *label = only_tells(type) ? _("hot to touch") : type;
	char text[192];
	long long most;

	if (!d)
		return -1;
	text_join(d->type, sizeof d->type, type);
	d->nth = count_of(o, type);
	snprintf(text, sizeof text, "%s.%.36s", only_tells(type) ? "notice" : "throttle", type);
	channel_describe(o, &ch, text, true);
	text_printable(ch.label, sizeof ch.label, label, strlen(label));
	if (file_number_of(o->root, &most, dir, "/max_state") == 0 && most > 0)
		ch.hi = (double)most;
	text_join(text, sizeof text, dir, "/cur_state");
	bool good = attr_open(d->probe.attrs, o->root, text) == 0;
	if (good)
		text_join(ch.source, sizeof ch.source, text);
	else
		reason_one(o, &ch, text, errno);
	return probe_ctx_finish(o, &d->probe, probe_ctx_add(o, &ch, e), good, e);
}

/* Adds ocN_event_cnt of the chip soctherm_oc as values like others. */
static int add_counts(struct probe_ctx *o, size_t *found, struct err *e)
{
	char dir[64], path[96], name[40], label[40];

	for (unsigned n = 0; n < 64; n++) {
		text_number(dir, sizeof dir, "/sys/class/hwmon/hwmon", n);
		if (!file_line_of(o->root, name, sizeof name, dir, "/name") ||
		    strcmp(name, "soctherm_oc") != 0)
			continue;
		for (unsigned k = 1; k <= 8; k++) {
			char place[64];
			snprintf(path, sizeof path, "%s/oc%u_event_cnt", dir, k);
			if (!file_exists(o->root, path))
				continue;
			snprintf(name, sizeof name, "throttle.oc%u", k);
			snprintf(label, sizeof label, _("over-current %u"), k);
			snprintf(place, sizeof place, "soctherm_oc/oc%u_event_cnt", k);
			const char *words[] = {name};
			const struct setting settings[] = {{"hwmon", place},
							   {"kind", "throttle_count"},
							   {"label", label},
							   {"period", "1s"}};
			struct statement s = {.file = o->s->file,
					      .line = o->s->line,
					      .tier = o->s->tier,
					      .probe = "value",
					      .words = words,
					      .n_words = 1,
					      .settings = settings,
					      .n_settings = sizeof settings / sizeof *settings};
			struct probe_ctx inner = *o;
			inner.s = &s;
			if (probe_kind_value.open(&inner, e) < 0)
				return -1;
			++*found;
		}
		return 0;
	}
	return 0;
}

static int open_throttle(struct probe_ctx *o, struct err *e)
{
	char dir[64], type[72];
	size_t found = 0;

	for (unsigned n = 0; n < DEVICES_MAX; n++) {
		if (!device_type(o->root, n, dir, sizeof dir, type, sizeof type) ||
		    (!cooling_slows(type) && !only_tells(type)))
			continue;
		if (add_device(o, dir, type, e) < 0)
			return -1;
		found += !only_tells(type);
	}
	if (add_counts(o, &found, e) < 0)
		return -1;
	if (found)
		return 0;
	struct channel ch;
	channel_describe(o, &ch, "throttle", true);
	reason_one(o, &ch, _("cooling devices that throttle"), ENOENT);
	return probe_ctx_add(o, &ch, e);
}

const struct probe_kind probe_kind_throttle = {"throttle", 0, 0, " hint ", false, false, open_throttle};
