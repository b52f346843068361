/* Reads the configuration of power modes and fans, and what is set of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board/conf.h"
#include "board/machine.h"
#include "probe/attr.h"
#include "util/intl.h"
#include "util/num.h"

#define CONF_SIZE   ((size_t)256 * 1024)
#define MODES_MAX   128

/* The number of the power mode is in "pmode:0002" of its status file. Its name is in a line of the
 * configuration such as "< POWER_MODEL ID=2 NAME=MODE_30W >". Numbers mean different modes on different
 * modules, so a mode without a name is not reported. */

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

bool conf_mode_name(const struct root *r, int64_t id, char name[48])
{
	char *modes = conf_text(r, CONF_MODES);
	const char *at = modes, *text;
	struct conf_line l;
	int64_t n;

	name[0] = '\0';
	while (!name[0] && conf_next(&at, &l))
		if (conf_mode(&l, &n, &text) && n == id)
			text_printable(name, 48, text, strlen(text));
	free(modes);
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

	return file_word(r, CONF_MODE_STATUS, "pmode:", text, sizeof text) && num_i64(text, text + strlen(text), id);
}

bool find_mode(const struct root *r, const char *status, size_t len, char *out, size_t size)
{
	char name[48] = "";
	int64_t id;

	(void)status, (void)len;
	if (conf_mode_now(r, &id) && conf_mode_name(r, id, name))
		text_join(out, size, name);
	return *name;
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

/* "< PM_CONFIG DEFAULT=2 >", after the modes or before them. */
void machine_put_modes(struct machine_writer *w)
{
	char *modes = conf_text(w->of->root, CONF_MODES), wanted[48] = "", usual[48];
	const char *p = modes, *name;
	struct conf_line l;
	bool any = false;
	int64_t id;

	for (size_t n = 0; n < MODES_MAX && conf_next(&p, &l);) {
		if (l.begins && !strcmp(l.words[0], "PM_CONFIG"))
			snprintf(wanted, sizeof wanted, "%s", conf_value(&l, "DEFAULT="));
		if (!conf_mode(&l, &id, &name))
			continue;
		n++;
		machine_item(w, &any, "modes");
		machine_put_number(w, "id", (double)id);
		machine_put_text(w, "name", name, 48);
	}
	machine_items_end(w, any);
	free(modes);
	if (!any)
		machine_missing(w, "power_mode.modes", CONF_MODES, _("no modes in it, or it is not there"));
	bool named = is_number(wanted, &id) && conf_mode_name(w->of->root, id, usual);
	machine_put_text(w, "default", named ? usual : wanted, 0);
}

void machine_put_profiles(struct machine_writer *w)
{
	char usual[48], profiles[CONF_PROFILES][48];
	size_t n = conf_profiles(w->of->root, profiles, usual);

	machine_put_text(w, "default_profile", usual, 0);
	if (n)
		json_open(w->to, "profiles", '[');
	for (size_t i = 0; i < n; i++)
		machine_put_text(w, NULL, profiles[i], 48);
	if (n)
		json_close(w->to, "]");
}
