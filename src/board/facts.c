/* Makes facts of what is known about the machine. Those that users change while it runs are settings: they are looked at again,
 * and changes are recorded. The lowest and highest clocks are channels and are not included. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board/conf.h"
#include "board/machine.h"
#include "board/board.h"
#include "probe/lookout.h"
#include "util/intl.h"
#include "util/text.h"

static int fact_add(struct probe_set *probes, const char *key, const char *value, struct err *e)
{
	if (fact_get(probes->facts, probes->n_facts, key) || !*value)
		return 0;
	return probe_set_add_fact(probes, key, value) < 0 ? err_set(e, ERR_FAILED, _("out of memory")) : 0;
}

/* --- settings --- */

/* Where a setting is read, and what its reader keeps. */
struct setting_source {
	char path[192];		     /* or the key of a field of the machine */
	long long last, changes;     /* the newest speed of a fan; the number of the mode */
	char name[LOOKOUT_TEXT]; /* of the mode */
};

/* The configuration is read again when the number of the mode is another one. */
static bool mode_read(const struct root *r, void *source, char *out, size_t size)
{
	struct setting_source *s = source;
	int64_t id;

	if (!conf_mode_now(r, &id))
		return false;
	if (!s->name[0] || s->last != id)
		conf_mode_name(r, id, s->name);
	s->last = id;
	text_join(out, size, s->name);
	return *out;
}

static bool field_read(const struct root *r, void *source, char *out, size_t size)
{
	return machine_field_text(r, machine_field_find(((struct setting_source *)source)->path), "", out, size);
}

static bool line_read(const struct root *r, void *source, char *out, size_t size)
{
	return file_line(r, ((struct setting_source *)source)->path, out, size);
}

/* Where the control of a fan is switched off, its speed is set by hand, or by a program that is not known here: then only
 * its first changes are told. */
#define FAN_CHANGES 16
static bool fan_read(const struct root *r, void *source, char *out, size_t size)
{
	struct setting_source *s = source;
	char control[256];
	long long on, speed;

	if (!conf_fan_control(r, s->path, control) || root_read_i64(r, control, &on) < 0 ||
	    root_read_i64(r, s->path, &speed) < 0 || speed < 0 || speed > 255)
		return false;
	bool legacy = text_ends_in(control, "/temp_control"); /* 1 is automatic, else above 1 is */
	if (conf_fan_regulated(r) || on > !legacy) {
		snprintf(out, size, "auto");
		return true;
	}
	if (speed != s->last && s->changes == FAN_CHANGES)
		return false;
	s->changes += speed != s->last;
	s->last = speed;
	snprintf(out, size, !on && !legacy ? "off" : "%lld%%", (speed * 100 + 127) / 255);
	return true;
}

static bool switch_read(const struct root *r, void *source, char *out, size_t size)
{
	long long on;

	if (root_read_i64(r, ((struct setting_source *)source)->path, &on) < 0)
		return false;
	snprintf(out, size, "%s", on ? "on" : "off");
	return true;
}

/* "off", or "8.2 GB in 13, last /swapfile": the kernel lists what is added last at the end. */
static bool swap_read(const struct root *r, void *source, char *out, size_t size)
{
	struct swap_area swaps[SWAPS_MAX];
	int n = swaps_read(r, swaps);
	char total[32];
	double kb = 0;

	(void)source;
	for (int i = 0; i < n; i++)
		kb += swaps[i].kb;
	text_bytes(total, sizeof total, (uint64_t)kb * 1024);
	snprintf(out, size, n > 0 ? "%s in %d, last %.30s" : "off", total, n, n > 0 ? swaps[n - 1].device : "");
	return n >= 0;
}

/* Adds a setting that has a value now. Returns the number of settings, -1: out of memory. */
static int setting_add(struct probe_set *probes, const char *key, lookout_read *read, const char *path)
{
	struct setting_source *s = calloc(1, sizeof *s);
	char now[LOOKOUT_TEXT] = "";

	if (!s)
		return -1;
	text_join(s->path, sizeof s->path, path);
	if (!read(probes->root, s, now, sizeof now) || !now[0]) {
		free(s);
		return 0;
	}
	lookout_text(probes->lookout, key, read, s, now);
	return probe_set_add_fact(probes, key, now) < 0 ? -1 : 1;
}

/* Adds what can be set at each file that the first place which is there stands for: "fan", "fan1". */
static int setting_add_control(struct probe_set *probes, const struct control_statement *c, const char *attribute, lookout_read *read)
{
	int added = 0, n = 0;
	char key[24];

	for (size_t k = 0; k < c->n_places && !n; k++) {
		struct place p = c->places[k];
		bool each = !strcmp(p.name, "*");
		unsigned at = 0;

		while (added >= 0 && (each ? place_next(&p, probes->root, attribute, &at)
					   : at++ == 0 && place_find(&p, probes->root, attribute) == 0)) {
			text_join(key, sizeof key, control_words[c->kind]);
			if (n)
				text_number(key, sizeof key, key, (unsigned)n);
			added = setting_add(probes, key, read, p.path);
			n += added;
		}
	}
	return added;
}

/* The governor of each clock that has limits is shown with them. */
static int setting_add_governor(struct probe_set *probes, const struct channel *c)
{
	const char *dot = strchr(c->name, '.'), *slash = strrchr(c->source, '/');
	char key[48], path[192];

	if (c->kind != CHANNEL_FREQ_LIMIT || c->missing[0] || !dot || !slash || strcmp(dot, ".freq_max") != 0)
		return 0;
	snprintf(key, sizeof key, "%.*s.governor", (int)(dot - c->name), c->name);
	snprintf(path, sizeof path, "%.*s/%s", (int)(slash - c->source), c->source,
		 !strncmp(slash, "/scaling_", 9) ? "scaling_governor" : "governor");
	return setting_add(probes, key, line_read, path);
}

static int add_settings(const struct board *b, struct probe_set *probes)
{
	int result = 0;

	for (size_t i = 0; i < b->n_controls && result >= 0; i++) {
		const struct control_statement *c = &b->controls[i];

		if (c->kind == CONTROL_SWAP)
			result = setting_add(probes, "swap", swap_read, "");
		else if (c->kind == CONTROL_FAN)
			result = setting_add_control(probes, c, "pwm", fan_read);
		else if (c->kind == CONTROL_3D)
			result = setting_add_control(probes, c, "", switch_read);
	}
	for (size_t i = 0; i < probes->n_channels && result >= 0; i++)
		result = setting_add_governor(probes, &probes->channels[i]);
	return result < 0 || setting_add(probes, "mode", mode_read, "") < 0 ||
			       setting_add(probes, "cpu.online", field_read, "cpu.online") < 0 ||
			       setting_add(probes, "fan.profile", field_read, "fan.profile") < 0
		       ? -1
		       : 0;
}

/* --- the whole --- */

int board_facts(const struct board *b, const struct root *r, const char *why, struct probe_set *probes,
		struct err *e)
{
	char text[sizeof(((struct fact *)NULL)->value)];
	const struct channel *ram = probe_set_find(probes, "ram.used");

	if (fact_add(probes, "board", b->name, e) < 0 || fact_add(probes, "title", b->title, e) < 0 ||
	    fact_add(probes, "why", why ? why : "", e) < 0)
		return -1;
	for (size_t i = 0; i < b->n_facts; i++)
		if (fact_add(probes, b->facts[i].key, b->facts[i].value, e) < 0)
			return -1;
	/* A demo has a simulated memory size, and no facts of this machine. */
	if (b->demo) {
		text[0] = '\0';
		if (ram && ram->hi > 0 && ram->hi < 1e15)
			snprintf(text, sizeof text, "%.0f", ram->hi);
		return fact_add(probes, "demo", "yes", e) < 0 || fact_add(probes, "ram_total_kb", text, e) < 0 ? -1 : 0;
	}
	for (const struct machine_field *f = machine_fields; f->key; f++)
		if (f->fact && machine_field_text(r, f, "", text, sizeof text) && fact_add(probes, f->fact, text, e) < 0)
			return -1;
	if (board_unlisted(probes, r, text, sizeof text) && fact_add(probes, "other_sensors", text, e) < 0)
		return -1;
	if (add_settings(b, probes) < 0)
		return err_set(e, ERR_FAILED, _("out of memory"));
	/* Not in the board file, because it is translated. */
	if (!strcmp(b->name, "generic"))
		return fact_add(probes, "notice",
				_("not a known Jetson: showing CPU, memory and sensors of this Linux machine"), e);
	return 0;
}
