/* Finds the settings of the machine that users change while it runs; changes are recorded. The lowest and
 * highest clocks are channels and are not included. */
#include <errno.h>
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

#define MODE_STATUS "/var/lib/nvpmodel/status"
#define CONF_SIZE   ((size_t)256 * 1024)
#define MODES_MAX   128

/* The number of the power mode is in "pmode:0002" of its status file. Its name is in a line of the
 * configuration such as "< POWER_MODEL ID=2 NAME=MODE_30W >". Numbers mean different modes on different
 * modules, so a mode without a name is not reported. */

/* The name that the configuration has for a mode, cached; "": to be looked up. */
struct mode {
	int64_t id;
	char name[48];
};

char *conf_text(const struct root *r, const char *path)
{
	char *text = malloc(CONF_SIZE);

	if (text && root_read(r, path, text, CONF_SIZE) > 0)
		return text;
	free(text);
	return NULL;
}

bool conf_next(const char **p, struct conf_line *l)
{
	for (l->n = 0; !l->n && *p && **p; *p += **p == '\n') {
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

bool conf_mode(const struct conf_line *l, int64_t *id, const char **name)
{
	*name = conf_value(l, "NAME=");
	return l->begins && **name && !strcmp(l->words[0], "POWER_MODEL") && is_number(conf_value(l, "ID="), id);
}

/* Gets the name that the configuration of modes has for a number. */
static bool conf_mode_name(const char *modes, int64_t id, char name[48])
{
	struct conf_line l;
	const char *text;
	int64_t n;

	name[0] = '\0';
	while (!name[0] && conf_next(&modes, &l))
		if (conf_mode(&l, &n, &text) && n == id)
			text_printable(name, 48, text, strlen(text));
	return name[0];
}

size_t conf_profiles(const struct root *r, char names[CONF_PROFILES][48], char usual[48])
{
	char *text = conf_text(r, CONF_FAN);
	const char *at = text;
	struct conf_line l;
	size_t n = 0, k;

	usual[0] = '\0';
	while (conf_next(&at, &l)) {
		if (l.n > 1 && !strcmp(l.words[0], "FAN_DEFAULT_PROFILE"))
			text_printable(usual, 48, l.words[1], strlen(l.words[1]));
		if (l.n < 2 || strcmp(l.words[0], "FAN_PROFILE") != 0 || n == CONF_PROFILES)
			continue;
		text_printable(names[n], 48, l.words[1], strlen(l.words[1]));
		for (k = 0; strcmp(names[k], names[n]) != 0; k++)
			continue;
		n += k == n; /* else it is of another fan */
	}
	free(text);
	return n;
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
	if (!m->name[0] || m->id != id) {
		char *modes = conf_text(r, CONF_MODES);
		m->id = id;
		conf_mode_name(modes, id, m->name);
		free(modes);
	}
	text_join(out, size, m->name);
	return *out;
}

bool find_mode(const struct root *r, char *out, size_t size)
{
	return mode_read(r, &(struct mode) {.id = 0}, out, size);
}

/* A field of the machine by its key. */
static bool field_read(const struct root *r, void *key, char *out, size_t size)
{
	return key && machine_field_text(r, machine_field_find(key), "", out, size);
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
	struct swap_area swaps[SWAPS_MAX];
	int n = swaps_read(r, swaps);
	char total[32];
	double kb = 0;

	(void)arg;
	for (int i = 0; i < n; i++)
		kb += swaps[i].kb;
	text_bytes(total, sizeof total, (uint64_t)kb * 1024);
	snprintf(out, size, n > 0 ? "%s in %d, last %.30s" : "off", total, n, n > 0 ? swaps[n - 1].device : "");
	return n >= 0;
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
			text_join(key, sizeof key, control_words[c->kind]);
			if (n)
				text_number(key, sizeof key, key, (unsigned)n);
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

		if (c->kind == CONTROL_SWAP)
			result = add_text(probes, l, "swap", swap_read, NULL);
		else if (c->kind == CONTROL_FAN)
			result = add_files(probes, l, c, "pwm", fan_read);
		else if (c->kind == CONTROL_3D)
			result = add_files(probes, l, c, "", switch_read);
	}
	return result;
}

int board_settings(const struct board *b, struct probe_set *probes)
{
	struct lookout *l = probes->lookout;
	struct mode *m;

	if (add_controls(b, probes, l) < 0 || add_governors(probes, l) < 0 || !(m = calloc(1, sizeof *m)) || add_text(probes, l, "mode", mode_read, m) < 0 ||
	    add_text(probes, l, "cpu.online", field_read, strdup("cpu.online")) < 0)
		return -1;
	return add_text(probes, l, "fan.profile", field_read, strdup("fan.profile")) < 0 ? -1 : 0;
}

/* "< PM_CONFIG DEFAULT=2 >", after the modes or before them. */
void machine_read_settings(struct machine *m, const struct root *r)
{
	char *modes = conf_text(r, CONF_MODES), wanted[48] = "", usual[48], profiles[CONF_PROFILES][48], at[40];
	const char *p = modes, *name;
	struct conf_line l;
	size_t n = 0;
	int64_t id;

	while (conf_next(&p, &l) && n < MODES_MAX) {
		if (l.begins && !strcmp(l.words[0], "PM_CONFIG"))
			snprintf(wanted, sizeof wanted, "%s", conf_value(&l, "DEFAULT="));
		if (!conf_mode(&l, &id, &name))
			continue;
		snprintf(at, sizeof at, "power_mode.modes[%zu].", n++);
		machine_put_number(m, at, "id", (double)id);
		machine_put_text(m, at, "name", name, 48);
	}
	if (!n)
		machine_missing(m, "power_mode.", "modes", CONF_MODES, _("no modes in it, or it is not there"));
	bool named = is_number(wanted, &id) && conf_mode_name(modes, id, usual);
	machine_put_text(m, "power_mode.", "default", named ? usual : wanted, 0);
	free(modes);
	n = conf_profiles(r, profiles, usual);
	machine_put_text(m, "fan.", "default_profile", usual, 0);
	for (size_t i = 0; i < n; i++) {
		snprintf(at, sizeof at, "fan.profiles[%zu]", i);
		machine_put_text(m, at, "", profiles[i], 48);
	}
}
