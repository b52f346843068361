/* Each setting is one row of a table: key, comment, parser, formatter. */
#include <inttypes.h>
#include <string.h>

#include "app/settings-words.h"
#include "util/clock.h"
#include "util/intl.h"
#include "util/num.h"

static const char *const theme_names[THEMES][GROUNDS] = {
	[THEME_STANDARD] = {"auto", "dark", "light"},
	[THEME_CONTRAST] = {"high-contrast", "high-contrast-dark", "high-contrast-light"},
	[THEME_SAFE] = {"colour-blind", "colour-blind-dark", "colour-blind-light"},
	[THEME_MONO] = {"mono", "mono", "mono"},
};

const char *const conf_lists[LISTS] = {"hide", "lines", "move"};

bool conf_theme(const char *text, enum theme *theme, enum ground *ground)
{
	for (int t = 0; t < THEMES; t++)
		for (int g = 0; g < GROUNDS; g++)
			if (!strcmp(theme_names[t][g], text)) {
				*theme = (enum theme)t;
				*ground = (enum ground)g;
				return true;
			}
	return false;
}

const char *conf_theme_name(enum theme theme, enum ground ground)
{
	return (unsigned)theme < THEMES && (unsigned)ground < GROUNDS ? theme_names[theme][ground] : "auto";
}

static bool take_theme(struct settings *s, const char *value)
{
	return conf_theme(value, &s->theme, &s->ground);
}

static void give_theme(const struct settings *s, char *out)
{
	snprintf(out, VALUE_SIZE, "%s", conf_theme_name(s->theme, s->ground));
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

/* The reader checks that the view exists. */
static bool take_view(struct settings *s, const char *value)
{
	if (strlen(value) >= sizeof s->view || value[strspn(value, "abcdefghijklmnopqrstuvwxyz-")])
		return false;
	strcpy(s->view, strcmp(value, "overview") ? value : "");
	return true;
}

static void give_view(const struct settings *s, char *out)
{
	snprintf(out, VALUE_SIZE, "%s", s->view[0] ? s->view : "overview");
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
	char text[NUM_TEXT];

	num_text(text, s->frames);
	snprintf(out, VALUE_SIZE, "%s", s->frames > 0 ? text : "auto");
}

bool conf_history(const char *text, uint64_t *bytes, int64_t *span_ns)
{
	size_t n = strlen(text);

	*bytes = 0;
	*span_ns = 0;
	if (!strcmp(text, "auto"))
		return true;
	if (num_duration_ns(text, span_ns) && *span_ns >= 10 * NS_PER_S && *span_ns <= 7 * 86400 * NS_PER_S)
		return true;
	*span_ns = 0;
	if (n && !strchr("0123456789", text[n - 1]) && num_bytes(text, bytes) && *bytes >= 4 << 20 &&
	    *bytes <= UINT64_C(64) << 30)
		return true;
	*bytes = 0;
	return false;
}

static bool take_history(struct settings *s, const char *value)
{
	uint64_t bytes;
	int64_t ns;

	if (!conf_history(value, &bytes, &ns))
		return false;
	s->history_bytes = bytes;
	s->history_ns = ns;
	return true;
}

/* In the largest unit that divides it, so that 64M stays 64M. */
static void give_bytes(uint64_t bytes, char *out)
{
	static const struct {
		const char *name;
		uint64_t bytes;
	} units[] = {{"Gi", UINT64_C(1) << 30}, {"G", 1000000000}, {"Mi", 1 << 20}, {"M", 1000000},
		     {"Ki", 1 << 10},           {"k", 1000},       {"B", 1}};
	size_t i = 0;

	while (bytes % units[i].bytes)
		i++;
	snprintf(out, VALUE_SIZE, "%" PRIu64 "%s", bytes / units[i].bytes, units[i].name);
}

static void give_history(const struct settings *s, char *out)
{
	static const struct {
		const char *name;
		int64_t ns;
	} units[] = {{"h", 3600 * NS_PER_S}, {"min", 60 * NS_PER_S}, {"s", NS_PER_S}};
	char text[NUM_TEXT];

	if (s->history_bytes) {
		give_bytes(s->history_bytes, out);
		return;
	}
	for (size_t i = 0; s->history_ns && i < sizeof units / sizeof *units; i++)
		if (s->history_ns % units[i].ns == 0) {
			snprintf(out, VALUE_SIZE, "%" PRId64 "%s", s->history_ns / units[i].ns, units[i].name);
			return;
		}
	num_text(text, (double)s->history_ns / (double)NS_PER_S);
	snprintf(out, VALUE_SIZE, "%s%s", s->history_ns ? text : "auto", s->history_ns ? "s" : "");
}

static const struct conf_word words[] = {
	{"theme",
	 "Colours: auto (as the terminal's background asks for), dark, light, high-contrast,\n"
	 "colour-blind (these two also with -dark or -light), mono.",
	 take_theme, give_theme,
	 N_("auto, dark, light, high-contrast, colour-blind (both also with -dark or -light) or mono")},
	{"mouse", "Whether the mouse does something: yes or no.", take_mouse, give_mouse, N_("yes or no")},
	{"view", "The view to begin with: overview, gpu, cpu, memory, power, thermal, ...", take_view,
	 give_view, N_("the name of a view, such as overview, gpu or power")},
	{"frames", "Pictures a second, 0.1 to 60; auto: as things change.", take_frames, give_frames,
	 N_("auto, or a number from 0.1 to 60")},
	{"history",
	 "How much the live screen remembers: a size such as 64Mi, or a time such as 1h for\n"
	 "which it is fine, whatever memory that takes; auto: as is useful, in 32Mi at most.",
	 take_history, give_history,
	 N_("auto, a size from 4Mi to 64Gi such as 64M, or a time from 10s to 168h such as 1h")},
};

const struct conf_word *conf_words(size_t i)
{
	return i < sizeof words / sizeof *words ? &words[i] : NULL;
}

int conf_list_of(const char *key, size_t n, char view[SETTINGS_VIEW])
{
	for (int i = 0; i < LISTS; i++) {
		size_t len = strlen(conf_lists[i]);

		if (n <= len + 1 || memcmp(key, conf_lists[i], len) || key[len] != '.' ||
		    n - len - 1 >= SETTINGS_VIEW)
			continue;
		memcpy(view, key + len + 1, n - len - 1);
		view[n - len - 1] = 0;
		return strspn(view, "abcdefghijklmnopqrstuvwxyz-") == n - len - 1 ? i : -1;
	}
	return -1;
}

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

enum conf_kind conf_line(struct conf_line *l, const char *text, size_t n)
{
	const char *equals;

	while (n && blank(*text))
		text++, n--;
	while (n && blank(text[n - 1]))
		n--;
	if (!n || *text == '#')
		return LINE_NOTHING;
	equals = memchr(text, '=', n);
	*l = (struct conf_line) {text, equals ? equals + 1 : text + n, equals ? (size_t)(equals - text) : n,
				 0};
	l->value_n = (size_t)(text + n - l->value);
	while (l->key_n && blank(text[l->key_n - 1]))
		l->key_n--;
	while (l->value_n && blank(*l->value))
		l->value++, l->value_n--;
	return equals && l->key_n ? LINE_SETS : LINE_WRONG;
}

static bool plain(unsigned char c)
{
	return c > ' ' && c < 0x7f && !strchr("%,=#", c);
}

void conf_encode(char out[WORD_SIZE], const char *name)
{
	size_t used = 0;

	for (const unsigned char *p = (const unsigned char *)name; *p && used + 4 < WORD_SIZE; p++)
		if (plain(*p))
			out[used++] = (char)*p;
		else
			used += (size_t)snprintf(out + used, 4, "%%%02x", *p);
	out[used] = 0;
}

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool conf_decode(char out[SETTINGS_NAME], const char *word, size_t n)
{
	size_t used = 0;

	for (size_t i = 0; i < n; i++) {
		int c = (unsigned char)word[i];

		if (c == '%') {
			if (n - i < 3 || hex(word[i + 1]) < 0 || hex(word[i + 2]) < 0)
				return false;
			c = hex(word[i + 1]) * 16 + hex(word[i + 2]);
			i += 2;
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
