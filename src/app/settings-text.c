/* Settings as text. Each setting is one row of a table: key, comment, parser, formatter. People edit the
 * file: invalid lines are reported with their number, and the rest is used. The whole file is written
 * from the table: comments added by a user are lost. */
#include "app/settings-file.h"

#include <inttypes.h>
#include <string.h>

#include "util/clock.h"
#include "util/intl.h"
#include "util/num.h"

#define WORD_SIZE  (3 * SETTINGS_NAME)
#define VALUE_SIZE 64
#define BLANK      " \t\r"

const char *const conf_themes[THEMES * GROUNDS + 1] = {
	[THEME_STANDARD * GROUNDS] = "auto", "dark", "light",
	[THEME_CONTRAST * GROUNDS] = "high-contrast", "high-contrast-dark", "high-contrast-light",
	[THEME_SAFE * GROUNDS] = "colour-blind", "colour-blind-dark", "colour-blind-light",
	[THEME_TERMINAL * GROUNDS] = "terminal", "terminal-dark", "terminal-light",
	[THEME_MONO * GROUNDS] = "mono", "mono", "mono",
};

bool conf_theme(const char *text, enum theme *theme, enum ground *ground)
{
	for (int i = 0; conf_themes[i]; i++)
		if (!strcmp(conf_themes[i], text)) {
			*theme = (enum theme)(i / GROUNDS);
			*ground = (enum ground)(i % GROUNDS);
			return true;
		}
	return false;
}

const char *conf_theme_name(enum theme theme, enum ground ground)
{
	return conf_themes[theme * GROUNDS + ground];
}

static bool take_theme(struct settings *s, const char *value)
{
	return conf_theme(value, &s->theme, &s->ground);
}

static void give_theme(const struct settings *s, char *out)
{
	strcpy(out, conf_theme_name(s->theme, s->ground));
}

static bool take_mouse(struct settings *s, const char *value)
{
	bool yes = !strcmp(value, "yes");

	if (!yes && strcmp(value, "no"))
		return false;
	s->mouse = yes;
	return true;
}

static void give_mouse(const struct settings *s, char *out)
{
	strcpy(out, s->mouse ? "yes" : "no");
}

static bool take_charts(struct settings *s, const char *value)
{
	s->braille = !strcmp(value, "braille");
	return s->braille || !strcmp(value, "blocks");
}

static void give_charts(const struct settings *s, char *out)
{
	strcpy(out, s->braille ? "braille" : "blocks");
}

static bool may_be_view(const char *name)
{
	return strlen(name) < SETTINGS_VIEW && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz-")];
}

/* The caller checks that the view exists. */
static bool take_view(struct settings *s, const char *value)
{
	if (!may_be_view(value))
		return false;
	strcpy(s->view, strcmp(value, "overview") ? value : "");
	return true;
}

static void give_view(const struct settings *s, char *out)
{
	strcpy(out, s->view[0] ? s->view : "overview");
}

static bool take_frames(struct settings *s, const char *value)
{
	double hz = 0;

	if (strcmp(value, "auto") && (!num_double(value, &hz) || hz < 0.1 || hz > 60))
		return false;
	s->frames = hz;
	return true;
}

static void give_frames(const struct settings *s, char *out)
{
	if (s->frames > 0)
		num_text(out, s->frames);
	else
		strcpy(out, "auto");
}

bool conf_history(const char *text, int64_t *ns)
{
	if (strcmp(text, "0") == 0)
		*ns = 0;
	else if (!num_duration_ns(text, ns) || *ns < 10 * NS_PER_S || *ns > 7 * 86400 * NS_PER_S)
		return false;
	return true;
}

static bool take_history(struct settings *s, const char *value)
{
	return conf_history(value, &s->history_ns);
}

/* Uses the largest unit that divides the value. */
static void give_history(const struct settings *s, char *out)
{
	static const struct unit {
		const char *name;
		int64_t ns;
	} units[] = {{"h", 3600 * NS_PER_S}, {"min", 60 * NS_PER_S}, {"s", NS_PER_S}, {"", 1}};
	const struct unit *u = units;

	while (s->history_ns % u->ns)
		u++;
	if (s->history_ns == 0)
		strcpy(out, "0");
	else if (*u->name)
		snprintf(out, VALUE_SIZE, "%" PRId64 "%s", s->history_ns / u->ns, u->name);
	else
		strcpy(out + num_text(out, (double)s->history_ns / (double)NS_PER_S), "s");
}

static const struct word {
	const char *key;
	const char *about;                                   /* comment lines, without "# " */
	bool (*take)(struct settings *s, const char *value); /* returns false for an invalid value */
	void (*give)(const struct settings *s, char *out);   /* formats VALUE_SIZE bytes */
	const char *takes;                                   /* valid values, for messages */
} words[] = {
	{"theme",
	 "Colours: auto (as the terminal's background asks for), dark, light, high-contrast,\n"
	 "colour-blind, terminal (its own colours; these three also with -dark or -light), mono.",
	 take_theme, give_theme,
	 N_("auto, dark, light, high-contrast, colour-blind, terminal (all three also with -dark or -light) or mono")},
	{"charts", "What charts are drawn with: blocks, or braille (twice as many columns).", take_charts, give_charts,
	 N_("blocks or braille")},
	{"mouse", "Use the mouse: yes or no.", take_mouse, give_mouse, N_("yes or no")},
	{"view", "The view to begin with: overview, gpu, cpu, memory, power, thermal, ...", take_view,
	 give_view, N_("the name of a view, such as overview, gpu or power")},
	{"frames", "Frame rate: frames a second, 0.1 to 60; auto: when something changes.", take_frames, give_frames,
	 N_("auto, or a number from 0.1 to 60")},
	{"history",
	 "How long the live screen keeps every sample, such as 10min; 0: only now. What is older\n"
	 "has minimum, maximum and mean, for a day.",
	 take_history, give_history, N_("0, or a time from 10s to 168h such as 1h")},
};

#define END_OF_WORDS (words + sizeof words / sizeof *words)

/* Settings for the rows of a view, such as hide.overview = gpu.util, ... */
enum list { LIST_HIDE, LIST_LINES, LIST_MOVE, LISTS };
static const char *const lists[LISTS] = {"hide", "lines", "move"};

/* Returns list and view of a key such as "hide.overview"; -1 for other keys. */
static int list_of(const char *key, const char **view)
{
	size_t n = strcspn(key, ".");

	*view = key + n + 1;
	for (int i = 0; key[n] && **view && may_be_view(*view) && i < LISTS; i++)
		if (strlen(lists[i]) == n && !strncmp(key, lists[i], n))
			return i;
	return -1;
}

void conf_merge(struct settings *now, const struct settings *begun, const struct settings *kept)
{
	char was[VALUE_SIZE], is[VALUE_SIZE];

	for (const struct word *w = words; w < END_OF_WORDS; w++) {
		w->give(begun, was);
		w->give(now, is);
		if (strcmp(was, is))
			continue;
		w->give(kept, is);
		w->take(now, is);
	}
}

/* Names are percent-encoded: blanks, commas, "=", "#" and "%". */
static bool plain(unsigned char c)
{
	return c > ' ' && c < 0x7f && !strchr("%,=#", c);
}

static void put_name(FILE *out, const char *name)
{
	for (const unsigned char *p = (const unsigned char *)name; *p; p++)
		fprintf(out, plain(*p) ? "%c" : "%%%02x", *p);
}

static bool take_name(char out[SETTINGS_NAME], const char *word)
{
	static const char hex[] = "0123456789abcdef";
	size_t used = 0;

	for (; *word; word++) {
		int c = (unsigned char)*word;

		if (c == '%') {
			const char *high = word[1] ? strchr(hex, word[1]) : NULL;
			const char *low = high && word[2] ? strchr(hex, word[2]) : NULL;

			if (!low)
				return false;
			c = (int)(high - hex) * 16 + (int)(low - hex);
			word += 2;
		} else if (!plain((unsigned char)c)) {
			return false;
		}
		if (!c || used + 1 >= SETTINGS_NAME)
			return false;
		out[used++] = (char)c;
	}
	out[used] = 0;
	return used > 0;
}

struct reading {
	struct settings *s;
	const struct conf_reader *who;
	unsigned line;
};

static void report(const struct reading *r, const char *fmt, const char *what, const char *more)
{
	char text[512], shown[64];

	text_printable(shown, sizeof shown, what, strlen(what));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(text, sizeof text, fmt, shown, more);
#pragma GCC diagnostic pop
	if (r->who->tell)
		r->who->tell(r->who->to, r->line, text);
}

static void check_view(const struct reading *r, const char *name)
{
	char list[256] = "";
	size_t used = 0;

	if (!r->who->view)
		return;
	for (size_t i = 0; r->who->view(i); i++) {
		if (!strcmp(r->who->view(i), name))
			return;
		if (used < sizeof list)
			used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "",
						 r->who->view(i));
	}
	report(r, _("unknown view \"%s\"; known: %s"), name, list);
}

/* The settings of a row, created if missing; last: move them to the end, since moves are applied in
 * order. Returns NULL if there is no room. */
static struct chart_setting *chart(struct settings *s, const char *view, const char *name, bool last)
{
	struct chart_setting c = {.hidden = false}, *end = s->charts + s->n_charts, *at = s->charts;

	while (at < end && (strcmp(at->view, view) || strcmp(at->name, name)))
		at++;
	if (at == s->charts + SETTINGS_CHARTS)
		return NULL;
	if (at < end && !last)
		return at;
	if (at < end) {
		c = *at;
		memmove(at, at + 1, (size_t)(end - at - 1) * sizeof *at);
		s->n_charts--;
	}
	strcpy(c.view, view);
	strcpy(c.name, name);
	end = &s->charts[s->n_charts++];
	*end = c;
	return end;
}

/* "gpu.util", "gpu.util 3", "gpu.util after cpu.util", "gpu.util first". */
static bool take_item(struct settings *s, enum list list, const char *view, const char *text)
{
	char item[4 * WORD_SIZE], name[SETTINGS_NAME], after[SETTINGS_NAME] = "", *rest = item, *w, *word[4];
	struct chart_setting *c;
	int64_t lines = 0;
	size_t n = 0;

	if ((size_t)snprintf(item, sizeof item, "%s", text) >= sizeof item)
		return false;
	while (n < 4 && (w = strsep(&rest, " \t")))
		if (*w)
			word[n++] = w;
	if (n != (list == LIST_HIDE ? 1 : 2) && (list != LIST_MOVE || n != 3))
		return false;
	if (!take_name(name, word[0]))
		return false;
	if (list == LIST_LINES) {
		const char *end = num_i64(word[1], word[1] + strlen(word[1]), &lines);

		if (!end || *end || lines < 1 || lines > CHART_LINES_MAX)
			return false;
	} else if (list == LIST_MOVE && strcmp(word[1], n == 2 ? "first" : "after")) {
		return false;
	}
	if (n == 3 && (!take_name(after, word[2]) || !strcmp(name, after)))
		return false;
	c = chart(s, view, name, list == LIST_MOVE);
	if (!c)
		return false;
	if (list == LIST_HIDE) {
		c->hidden = true;
	} else if (list == LIST_LINES) {
		c->lines = (unsigned char)lines;
	} else {
		c->moved = true;
		strcpy(c->after, after);
	}
	return true;
}

static void take_list(const struct reading *r, enum list list, const char *view, char *p)
{
	static const char *const takes[LISTS] = {
		N_("\"%s\": %s takes names of signals separated by commas, such as gpu.util, emc.util"),
		N_("\"%s\": %s takes names with a number of lines, such as gpu.util 4, power.total 2"),
		N_("\"%s\": %s takes items such as emc.util after gpu.util, or power.total first"),
	};

	while (*p) {
		char *item = p;

		p += strcspn(p, ",");
		if (*p)
			*p++ = 0;
		if (!take_item(r->s, list, view, item)) {
			report(r, _(takes[list]), item, lists[list]);
			return;
		}
	}
	check_view(r, view);
}

/* Removes leading and trailing blanks. */
static char *trim(char *text)
{
	size_t n;

	text += strspn(text, BLANK);
	for (n = strlen(text); n && strchr(BLANK, text[n - 1]); n--)
		continue;
	text[n] = 0;
	return text;
}

static void take_line(const struct reading *r, char *line)
{
	char *key = trim(line), *equals = strchr(key, '='), *value, valid[256];
	const struct word *w = words;
	const char *view;
	int list;

	if (!*key || *key == '#')
		return;
	if (!equals || equals == key) {
		report(r, _("\"%s\" is not of the form name = value%s"), key, "");
		return;
	}
	*equals = 0;
	value = trim(equals + 1);
	key = trim(key);
	list = list_of(key, &view);
	while (w < END_OF_WORDS && strcmp(w->key, key))
		w++;
	if (list >= 0) {
		take_list(r, (enum list)list, view, value);
	} else if (w == END_OF_WORDS) {
		report(r, _("unknown setting \"%s\" is ignored%s"), key, "");
	} else if (!w->take(r->s, value)) {
		snprintf(valid, sizeof valid, "%s: %s", w->key, _(w->takes));
		/* TRANSLATORS: the second is "theme: auto, dark or light" */
		report(r, _("\"%s\" is not a valid value for %s"), value, valid);
	} else if (w->take == take_view) {
		check_view(r, value);
	}
}

void conf_read(struct settings *s, const char *text, size_t n, const struct conf_reader *who)
{
	struct reading r = {s, who, 0};
	char line[CONF_MOST + 1];

	for (const char *p = text, *end = text + n; p < end;) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t len = (size_t)((nl ? nl : end) - p);

		/* A NUL must not end the line; no setting contains a control character. */
		for (size_t i = 0; i < len && i < CONF_MOST; i++)
			line[i] = p[i] ? p[i] : '\1';
		line[len < CONF_MOST ? len : CONF_MOST] = 0;
		r.line++;
		take_line(&r, line);
		p += len + (nl ? 1 : 0);
	}
}

static bool has(const struct chart_setting *c, enum list list)
{
	return list == LIST_HIDE ? c->hidden : list == LIST_LINES ? c->lines > 0 : c->moved;
}

/* Writes one line for all rows of a view, at its first row. */
static void put_list(FILE *out, const struct settings *s, enum list list, size_t i)
{
	const char *view = s->charts[i].view;

	for (size_t k = 0; k < i; k++)
		if (has(&s->charts[k], list) && !strcmp(s->charts[k].view, view))
			return;
	fprintf(out, "%s.%s = ", lists[list], view);
	for (size_t k = i; k < s->n_charts; k++) {
		const struct chart_setting *c = &s->charts[k];

		if (!has(c, list) || strcmp(c->view, view))
			continue;
		fputs(k > i ? ", " : "", out);
		put_name(out, c->name);
		if (list == LIST_LINES)
			fprintf(out, " %d", c->lines);
		else if (list == LIST_MOVE)
			fputs(c->after[0] ? " after " : " first", out);
		if (list == LIST_MOVE)
			put_name(out, c->after);
	}
	fputc('\n', out);
}

static void put_word(FILE *out, const struct settings *s, const struct word *w)
{
	static const struct settings without = SETTINGS_DEFAULT;
	char value[VALUE_SIZE], usual[VALUE_SIZE];

	w->give(s, value);
	w->give(&without, usual);
	fputs("\n# ", out);
	for (const char *p = w->about; *p; p++)
		fprintf(out, *p == '\n' ? "%c# " : "%c", *p);
	fprintf(out, "\n%s%s = %s\n", !strcmp(value, usual) ? "#" : "", w->key, value);
}

int conf_write(const struct settings *s, FILE *out)
{
	fputs("# nvmtop: settings of the screen (F2 there). nvmtop writes this file whole: only the\n"
	      "# values of its settings are kept.\n",
	      out);
	for (const struct word *w = words; w < END_OF_WORDS; w++)
		put_word(out, s, w);
	fputs("\n# Rows of a view: hidden; with so many lines; moved. Names as in nvmtop once --json, such "
	      "as\n"
	      "# hide.overview = swap.used, fan.rpm\n"
	      "# lines.overview = gpu.util 6, power.total 3\n"
	      "# move.power = VDD_IN.power first, VDD_CPU_CV.power after VDD_IN.power\n",
	      out);
	for (size_t i = 0; i < s->n_charts; i++)
		for (int list = 0; list < LISTS; list++)
			if (has(&s->charts[i], (enum list)list))
				put_list(out, s, (enum list)list, i);
	return ferror(out) ? -1 : 0;
}
