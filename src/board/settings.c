/* Finds the settings of the machine that users change while it runs; changes are recorded. The lowest and
 * highest clocks are channels and are not included. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/intl.h"
#include "util/num.h"
#include "util/text.h"
#include "board/conf.h"
#include "board/machine.h"
#include "board/parsed.h"
#include "probe/lookout.h"

#define ONLINE      "/sys/devices/system/cpu/online"
#define MODE_STATUS "/var/lib/nvpmodel/status"
#define CONF_SIZE   ((size_t)256 * 1024)

/* The number of the power mode is in "pmode:0002" of its status file. Its name is in a line of the
 * configuration such as "< POWER_MODEL ID=2 NAME=MODE_30W >". Numbers mean different modes on different
 * modules, so a mode without a name is not reported. */

/* The name that the configuration has for a mode, cached. */
struct mode {
	bool known;
	int64_t id;
	char name[48];
};

/* Takes the next line at *p, and moves *p behind it. Returns false at the end. */
static bool conf_next(const char **p, struct conf_line *l)
{
	for (l->n = 0; !l->n && **p; *p += **p == '\n') {
		const char *end = *p + strcspn(*p, "\n"), *at = *p;
		size_t used = 0;
		bool quoted = false, within = false;

		*p = end;
		at += strspn(at, " \t");
		l->begins = *at == '<';
		for (; at < end && used + 2 < sizeof l->text && (quoted || *at != '#'); at++) {
			bool blank = !quoted && strchr(" \t\r<>", *at);

			quoted ^= *at == '"';
			if (!blank && !within && l->n == sizeof l->words / sizeof *l->words)
				break;
			if (!blank && !within)
				l->words[l->n++] = l->text + used;
			if (blank ? within : *at != '"')
				l->text[used++] = blank ? '\0' : *at;
			within = !blank;
		}
		l->text[used] = '\0';
	}
	return l->n;
}

const char *conf_value(const struct conf_line *l, const char *key)
{
	for (size_t i = 1; i < l->n; i++)
		if (!strncmp(l->words[i], key, strlen(key)))
			return l->words[i] + strlen(key);
	return "";
}

static bool is_number(const char *word, int64_t *n)
{
	const char *end = word + strlen(word);

	return num_i64(word, end, n) == end;
}

void conf_each(const struct root *r, const char *path, void (*visit)(void *arg, const struct conf_line *l), void *arg)
{
	char *conf = malloc(CONF_SIZE);
	const char *p = conf;
	struct conf_line l;

	if (conf && root_read(r, path, conf, CONF_SIZE) > 0)
		while (conf_next(&p, &l))
			visit(arg, &l);
	free(conf);
}

bool conf_mode(const struct conf_line *l, int64_t *id, const char **name)
{
	*name = conf_value(l, "NAME=");
	return l->begins && **name && !strcmp(l->words[0], "POWER_MODEL") && is_number(conf_value(l, "ID="), id);
}

static void mode_visit(void *mode, const struct conf_line *l)
{
	struct mode *m = mode;
	const char *name;
	int64_t id;

	if (!m->known && conf_mode(l, &id, &name) && id == m->id) {
		text_printable(m->name, sizeof m->name, name, strlen(name));
		m->known = true;
	}
}

bool conf_mode_now(const struct root *r, int64_t *id)
{
	char text[32];

	return file_word(r, MODE_STATUS, "pmode:", text, sizeof text) && num_i64(text, text + strlen(text), id);
}

/* Gets the mode's name. Returns false if no mode is set or it has no name. */
static bool mode_read(const struct root *r, void *mode, char *out, size_t size)
{
	struct mode *m = mode;
	int64_t id;

	if (!conf_mode_now(r, &id))
		return false;
	if (!m->known || m->id != id) {
		*m = (struct mode) {.id = id};
		conf_each(r, CONF_MODES, mode_visit, m);
	}
	if (!m->known)
		return false;
	snprintf(out, size, "%s", m->name);
	return true;
}

bool find_mode(const struct root *r, char *out, size_t size)
{
	return mode_read(r, &(struct mode) {.known = false}, out, size);
}

/* "FAN1:FAN_PROFILE:quiet" of nvfancontrol; without it "fmode:quiet" of nvpmodel. */
static bool fan_profile(const struct root *r, void *arg, char *out, size_t size)
{
	(void)arg;
	return machine_field_text(r, &machine_fan_fields[0], "", out, size);
}

bool conf_fan_regulated(const struct root *r)
{
	return file_exists(r, "/sys/fs/cgroup/system.slice/nvfancontrol.service") ||
	       file_exists(r, "/sys/fs/cgroup/systemd/system.slice/nvfancontrol.service");
}

bool conf_fan_control(const struct root *r, const char *pwm, char out[256])
{
	snprintf(out, 256, "%.200s_enable", pwm);
	if (!file_exists(r, out))
		snprintf(out, 256, "%.*s/temp_control", (int)(strrchr(pwm, '/') - pwm), pwm);
	return file_exists(r, out);
}

/* A file of what can be set. */
struct setting_file {
	char path[192];
	unsigned changes; /* of the speed of a fan */
	long long last;
};

/* Where the control of a fan is switched off, its speed is set by hand, or by a program that is not known here: then only
 * its first changes are told. */
#define FAN_CHANGES 16
static bool fan_read(const struct root *r, void *fan, char *out, size_t size)
{
	struct setting_file *f = fan;
	char control[256];
	long long on, speed;

	if (!conf_fan_control(r, f->path, control) || root_read_i64(r, control, &on) < 0 ||
	    root_read_i64(r, f->path, &speed) < 0 || speed < 0 || speed > 255)
		return false;
	bool legacy = text_ends_in(control, "/temp_control"); /* 1 is automatic, else above 1 is */
	if (conf_fan_regulated(r) || on > !legacy) {
		snprintf(out, size, "auto");
		return true;
	}
	if (speed != f->last && f->changes == FAN_CHANGES)
		return false;
	f->changes += speed != f->last;
	f->last = speed;
	snprintf(out, size, !on && !legacy ? "off" : "%lld%%", (speed * 100 + 127) / 255);
	return true;
}

static bool switch_read(const struct root *r, void *file, char *out, size_t size)
{
	long long on;

	if (root_read_i64(r, ((struct setting_file *)file)->path, &on) < 0)
		return false;
	snprintf(out, size, "%s", on ? "on" : "off");
	return true;
}

/* "off", or "8.2 GB in 13, last /swapfile": the kernel lists what is added last at the end. */
static bool swap_read(const struct root *r, void *arg, char *out, size_t size)
{
	char text[8192], total[32], *rest = text, *line, last[40] = "";
	uint64_t kb = 0, one;
	unsigned n = 0;

	(void)arg;
	if (root_read(r, "/proc/swaps", text, sizeof text) <= 0)
		return false;
	strsep(&rest, "\n");
	while ((line = strsep(&rest, "\n")) != NULL)
		if (sscanf(line, "%39s %*s %" SCNu64, last, &one) == 2) {
			kb += one;
			n++;
		}
	text_bytes(total, sizeof total, kb * 1024);
	snprintf(out, size, n ? "%s in %u, last %.30s" : "off", total, n, last);
	return true;
}

/* The first line of a file. */
static bool line_read(const struct root *r, void *path, char *out, size_t size)
{
	return path && file_line(r, path, out, size);
}

/* Returns the number of texts, -1: out of memory. */
static int add_text(struct probe_set *probes, struct lookout *l, const char *key, lookout_read *read,
		    void *arg)
{
	char now[LOOKOUT_TEXT] = "";

	if (!read(probes->root, arg, now, sizeof now) || !now[0]) {
		free(arg);
		return 0;
	}
	lookout_text(l, key, read, arg, now);
	return probe_set_add_fact(probes, key, now) < 0 ? -1 : 1;
}

/* Adds the governor of each clock that has limits; it is shown with them. */
static int add_governors(struct probe_set *probes, struct lookout *l)
{
	char key[48], path[192];
	int result = 0;

	for (size_t i = 0; i < probes->n_channels && result >= 0; i++) {
		const struct channel *c = &probes->channels[i];
		const char *dot = strchr(c->name, '.'), *slash = strrchr(c->source, '/');

		if (c->kind != CHANNEL_FREQ_LIMIT || c->missing[0] || !dot || !slash ||
		    strcmp(dot, ".freq_max") != 0)
			continue;
		snprintf(key, sizeof key, "%.*s.governor", (int)(dot - c->name), c->name);
		snprintf(path, sizeof path, "%.*s/%s", (int)(slash - c->source), c->source,
			 !strncmp(slash, "/scaling_", 9) ? "scaling_governor" : "governor");
		result = add_text(probes, l, key, line_read, strdup(path));
	}
	return result;
}

/* Adds each file that the first place which is there stands for: "fan", "fan1". */
static int add_files(struct probe_set *probes, struct lookout *l, const struct control_statement *c, const char *attribute,
		     lookout_read *read)
{
	int added = 0, n = 0;
	char key[24];

	for (size_t k = 0; k < c->n_places && !n; k++) {
		struct place p = c->places[k];
		bool each = !strcmp(p.name, "*");
		unsigned at = 0;

		while (each ? place_next(&p, probes->root, attribute, &at)
			    : at++ == 0 && place_find(&p, probes->root, attribute) == 0) {
			struct setting_file *f = calloc(1, sizeof *f);
			if (!f)
				return -1;
			text_join(f->path, sizeof f->path, p.path);
			text_join(key, sizeof key, c->kind);
			if (n)
				text_number(key, sizeof key, c->kind, (unsigned)n);
			if ((added = add_text(probes, l, key, read, f)) < 0)
				return -1;
			n += added;
		}
	}
	return n;
}

/* Adds what can be set and is neither a channel nor added below. */
static int add_controls(const struct board *b, struct probe_set *probes, struct lookout *l)
{
	int result = 0;

	for (size_t i = 0; i < b->n_controls && result >= 0; i++) {
		const struct control_statement *c = &b->controls[i];

		if (!strcmp(c->kind, "swap"))
			result = add_text(probes, l, "swap", swap_read, NULL);
		else if (!strcmp(c->kind, "fan"))
			result = add_files(probes, l, c, "pwm", fan_read);
		else if (!strcmp(c->kind, "3d-scaling"))
			result = add_files(probes, l, c, "", switch_read);
	}
	return result;
}

int board_settings(const struct board *b, struct probe_set *probes)
{
	struct lookout *l = probes->lookout;
	struct mode *m;

	if (add_controls(b, probes, l) < 0 || add_governors(probes, l) < 0 || !(m = calloc(1, sizeof *m)) || add_text(probes, l, "mode", mode_read, m) < 0 ||
	    add_text(probes, l, "cpu.online", line_read, strdup(ONLINE)) < 0)
		return -1;
	return add_text(probes, l, "fan.profile", fan_profile, NULL) < 0 ? -1 : 0;
}

/* "< PM_CONFIG DEFAULT=2 >", after the modes or before them. */
static void take_mode(void *machine, const struct conf_line *l)
{
	struct machine *m = machine;
	struct machine_name *n;
	const char *name;
	int64_t id;

	if (l->begins && !strcmp(l->words[0], "PM_CONFIG"))
		text_printable(m->default_mode, sizeof m->default_mode, conf_value(l, "DEFAULT="),
			       strlen(conf_value(l, "DEFAULT=")));
	if (conf_mode(l, &id, &name) && (n = machine_add(&m->modes, machine_name_fields, sizeof *n))) {
		n->id = (double)id;
		text_printable(n->name, sizeof n->name, name, strlen(name));
	}
}

/* "FAN_DEFAULT_PROFILE quiet", "FAN_PROFILE quiet {" */
static void take_profile(void *machine, const struct conf_line *l)
{
	struct machine *m = machine;
	struct machine_name *n;

	if (l->n > 1 && !strcmp(l->words[0], "FAN_DEFAULT_PROFILE"))
		text_printable(m->fan_default, sizeof m->fan_default, l->words[1], strlen(l->words[1]));
	if (l->n < 2 || strcmp(l->words[0], "FAN_PROFILE") != 0)
		return;
	for (size_t i = 0; i < m->fan_profiles.n; i++) /* of another fan */
		if (!strcmp(((struct machine_name *)m->fan_profiles.at)[i].name, l->words[1]))
			return;
	if ((n = machine_add(&m->fan_profiles, machine_name_fields, sizeof *n)))
		text_printable(n->name, sizeof n->name, l->words[1], strlen(l->words[1]));
}

void machine_read_settings(struct machine *m, const struct root *r)
{
	int64_t id;

	machine_read_fields(m, r, machine_mode_fields, m, "", "power_mode.");
	conf_each(r, CONF_MODES, take_mode, m);
	if (!m->modes.n)
		machine_missing(m, "power_mode.", "modes", CONF_MODES, _("no modes in it, or it is not there"));
	bool numbered = is_number(m->default_mode, &id);
	for (size_t i = 0; i < m->modes.n && numbered; i++) {
		const struct machine_name *n = (const struct machine_name *)m->modes.at + i;
		if ((double)id == n->id)
			memcpy(m->default_mode, n->name, sizeof n->name);
	}
	machine_read_fields(m, r, machine_fan_fields, m, "", "fan.");
	conf_each(r, CONF_FAN, take_profile, m);
}
