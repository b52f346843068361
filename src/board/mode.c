/* The number of the mode is in "pmode:0002". Its name is in a line of the configuration such as "<
 * POWER_MODEL ID=2 NAME=MODE_30W >"; numbers mean different modes on different modules, so without the
 * name there is none.
 *
 * nvpmodel records the number even when it could not set the mode: at a boot that failed, or in a
 * container. So the highest clocks are compared with those of the mode ("GPU MAX_FREQ 612000000"), in
 * the files that the configuration names for them ("< PARAM TYPE=CLOCK NAME=GPU >", then "MAX_FREQ
 * /sys/..."). Lower clocks are no contradiction: heat and users lower them. */
#include "board/mode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/intl.h"
#include "util/num.h"

#define STATUS	  "/var/lib/nvpmodel/status"
#define CONF	  "/etc/nvpmodel.conf"
#define CONF_SIZE ((size_t)256 * 1024)
#define NEAR	  20 /* a clock that is higher by less than a 20th is a step of its table */

/* The section "< WORD ... NAME=name ..." or "< WORD ID=id ...": behind its first line. */
static const char *section_find(const char *text, const char *word, const char *name, int64_t id)
{
	for (const char *p = text; (p = strstr(p, word)); p++) {
		const char *end = p + strcspn(p, "\n>"), *at;
		int64_t n;

		if (name && (at = strstr(p, " NAME=")) && at < end && !strncmp(at + 6, name, strlen(name)) &&
		    strchr(" \t>", at[6 + strlen(name)]))
			return end;
		if (!name && (at = strstr(p, " ID=")) && at < end && num_i64(at + 4, end, &n) && n == id)
			return end;
	}
	return NULL;
}

/* The file that holds the highest clock of a unit. */
static bool limit_path(const struct mode *m, const char *conf, const char *unit, char *out, size_t size)
{
	const char *p = section_find(conf, "< PARAM ", unit, 0), *end = p ? p + strcspn(p, "<") : NULL;
	const char *at = p ? strstr(p, "\nMAX_FREQ /") : NULL;

	if (at && at < end) {
		at += strlen("\nMAX_FREQ ");
		text_printable(out, size, at, strcspn(at, " \t\r\n"));
	} else {
		snprintf(out, size, "%s", !strcmp(unit, "GPU") ? m->gpu : "");
	}
	return *out;
}

/* Lines "UNIT MAX_FREQ N" of the mode, up to the next section; -1 is no limit. */
static void limits_take(struct mode *m, const char *conf, const char *p)
{
	const char *end = p + strcspn(p, "<");
	char unit[32];
	long long most;

	for (m->n_limits = 0; p < end && m->n_limits < MODE_LIMITS; p += strcspn(p, "\n")) {
		p += *p == '\n';
		if (sscanf(p, "%31s MAX_FREQ %19lld", unit, &most) == 2 && most > 0 &&
		    limit_path(m, conf, unit, m->limits[m->n_limits].path, sizeof m->limits->path))
			m->limits[m->n_limits++].most = most;
	}
}

static void mode_look_up(struct mode *m, const struct root *r, int64_t id)
{
	char *conf = malloc(CONF_SIZE);
	const char *p, *name, *end;

	m->known = false;
	if (!conf || root_read(r, CONF, conf, CONF_SIZE) <= 0 ||
	    !(end = section_find(conf, "POWER_MODEL", NULL, id))) {
		free(conf);
		return;
	}
	for (p = end; p > conf && *p != '<'; p--)
		;
	name = strstr(p, " NAME=");
	if (name && name < end) {
		text_printable(m->name, sizeof m->name, name + 6, strcspn(name + 6, " \t\n>"));
		limits_take(m, conf, end);
		m->known = m->name[0];
		m->id = id;
	}
	free(conf);
}

static bool in_force(const struct mode *m, const struct root *r)
{
	long long now;

	for (size_t i = 0; i < m->n_limits; i++)
		if (root_read_i64(r, m->limits[i].path, &now) == 0 &&
		    now - m->limits[i].most > m->limits[i].most / NEAR)
			return false;
	return true;
}

bool mode_read(const struct root *r, void *mode, char *out, size_t size)
{
	struct mode *m = mode;
	char status[128];
	int64_t id;

	ssize_t n = root_read(r, STATUS, status, sizeof status);
	const char *p = n > 0 ? strstr(status, "pmode:") : NULL;
	if (!p || !num_i64(p + 6, status + n, &id))
		return false;
	if (!m->known || m->id != id)
		mode_look_up(m, r, id);
	if (!m->known)
		return false;
	/* TRANSLATORS: a power mode that nvpmodel reports although clocks are higher than it permits. */
	snprintf(out, size, in_force(m, r) ? "%s" : _("%s, not in force"), m->name);
	return true;
}
