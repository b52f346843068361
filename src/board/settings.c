/* Finds the settings of the machine that users change while it runs; changes are recorded. The lowest and
 * highest clocks are channels and are not included. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/intl.h"
#include "util/num.h"
#include "board/parsed.h"
#include "probe/lookout.h"

#define ONLINE      "/sys/devices/system/cpu/online"
#define FAN_STATUS  "/var/lib/nvfancontrol/status"
#define MODE_STATUS "/var/lib/nvpmodel/status"
#define CONF        "/etc/nvpmodel.conf"
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

/* A line of the configuration that has words: "< POWER_MODEL ID=2 NAME=MODE_30W >" begins a section, "GPU MAX_FREQ
 * 612000000" is in one. '#' begins a comment anywhere but in quotes. */
struct conf_line {
	bool begins; /* a section; the words are without < and > */
	size_t n;
	char text[256];
	const char *words[8];
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

/* The value of a word such as "ID=2", or "". */
static const char *conf_value(const struct conf_line *l, const char *key)
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

static void mode_look_up(struct mode *m, const struct root *r, int64_t id)
{
	char *conf = malloc(CONF_SIZE);
	const char *p = conf;
	struct conf_line l;
	int64_t n;

	m->known = false;
	m->id = id;
	if (!conf || root_read(r, CONF, conf, CONF_SIZE) <= 0)
		p = "";
	while (!m->known && conf_next(&p, &l)) {
		const char *name = conf_value(&l, "NAME=");

		m->known = l.begins && *name && !strcmp(l.words[0], "POWER_MODEL") &&
			   is_number(conf_value(&l, "ID="), &n) && n == id;
		if (m->known)
			text_printable(m->name, sizeof m->name, name, strlen(name));
	}
	free(conf);
}

/* Gets the mode's name. Returns false if no mode is set or it has no name. */
static bool mode_read(const struct root *r, void *mode, char *out, size_t size)
{
	struct mode *m = mode;
	char status[128];
	int64_t id;

	ssize_t n = root_read_trusted(r, MODE_STATUS, status, sizeof status);
	const char *p = n > 0 ? strstr(status, "pmode:") : NULL;
	if (!p || !num_i64(p + 6, status + n, &id))
		return false;
	if (!m->known || m->id != id)
		mode_look_up(m, r, id);
	if (!m->known)
		return false;
	snprintf(out, size, "%s", m->name);
	return true;
}

/* "FAN1:FAN_PROFILE:quiet" of nvfancontrol; without it "fmode:quiet" of nvpmodel. */
static bool fan_profile(const struct root *r, void *arg, char *out, size_t size)
{
	static const struct {
		const char *file, *before;
	} places[] = {{FAN_STATUS, "FAN_PROFILE:"}, {MODE_STATUS, "fmode:"}};
	char text[1024];

	(void)arg;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		const char *p;
		if (root_read_trusted(r, places[i].file, text, sizeof text) <= 0 ||
		    !(p = strstr(text, places[i].before)))
			continue;
		p += strlen(places[i].before);
		text_printable(out, size, p, strcspn(p, " \t\n"));
		return *out;
	}
	return false;
}

/* The first line of a file. */
static bool line_read(const struct root *r, void *path, char *out, size_t size)
{
	return path && file_line(r, path, out, size);
}

static int add_text(struct probe_set *probes, struct lookout *l, const char *key, lookout_read *read,
		    void *arg)
{
	char now[LOOKOUT_TEXT] = "";

	if (!read(probes->root, arg, now, sizeof now) || !now[0]) {
		free(arg);
		return 0;
	}
	lookout_text(l, key, read, arg, now);
	return probe_set_add_fact(probes, key, now);
}

/* Adds the governor of each clock that has limits; it is shown with them. */
static int add_governors(struct probe_set *probes, struct lookout *l)
{
	char key[48], path[192];
	int result = 0;

	for (size_t i = 0; i < probes->n_channels && !result; i++) {
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

int board_settings(struct probe_set *probes)
{
	struct lookout *l = probes->lookout;
	struct mode *m;

	if (add_governors(probes, l) < 0 || !(m = calloc(1, sizeof *m)) || add_text(probes, l, "mode", mode_read, m) < 0 ||
	    add_text(probes, l, "cpu.online", line_read, strdup(ONLINE)) < 0)
		return -1;
	return add_text(probes, l, "fan.profile", fan_profile, NULL);
}
