/* Statements to a board. Every error that does not depend on the machine is found here, so that a file
 * that loads is a file that works. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/intl.h"
#include "board/parser.h"

#define DEPTH_MAX      8
#define STATEMENTS_MAX 2048
#define MATCHES_MAX    1024
#define FACTS_MAX      64
#define CLUES_MAX      64

static int wrong(const struct parser *p, struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int wrong(const struct parser *p, struct err *e, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return err_set(e, ERR_FAILED, "%s:%u: %s", p->lexer.file, p->lexer.line, text);
}

static int no_memory(const struct parser *p, struct err *e)
{
	return wrong(p, e, _("out of memory"));
}

/* Have the board free p with everything else; p is freed at once on error. */
static int keep(const struct parser *p, void *array, struct err *e)
{
	struct board *b = p->b;
	void **all = array ? board_grow(b->arrays, b->n_arrays, sizeof *all) : NULL;

	if (!all) {
		free(array);
		return no_memory(p, e);
	}
	b->arrays = all;
	all[b->n_arrays++] = array;
	return 0;
}

/* The words behind the first one, joined by blanks, made safe to show. */
static void join_words(const struct words *w, size_t from, char *out, size_t size)
{
	char text[512];
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = from; i < w->n && used < sizeof text; i++)
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i > from ? " " : "",
					 w->word[i].text);
	text_printable(out, size, text, strlen(text));
}

/* Letters, digits and the other characters that a file name may contain. */
static bool is_name(const char *text)
{
	if (!*text || *text == '-' || *text == '.')
		return false;
	for (const char *p = text; *p; p++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.+", *p))
			return false;
	return true;
}

static int add_fact(struct parser *p, const char *key, const char *value, struct err *e)
{
	struct board *b = p->b;

	if (fact_get(b->facts, b->n_facts, key))
		return wrong(p, e, _("%s is stated twice"), key);
	if (b->n_facts == FACTS_MAX || strlen(key) >= sizeof b->facts->key || !is_name(key))
		return wrong(p, e, _("\"%s\" is not a valid fact key, or there are too many facts"), key);
	struct fact *all = board_grow(b->facts, b->n_facts, sizeof *all);
	if (!all)
		return no_memory(p, e);
	b->facts = all;
	struct fact *f = &all[b->n_facts++];
	text_printable(f->key, sizeof f->key, key, strlen(key));
	text_printable(f->value, sizeof f->value, value, strlen(value));
	return 0;
}

static int parse_board(struct parser *p, const struct words *w, struct err *e)
{
	if (p->b->name[0])
		return wrong(p, e, _("this file already names the board \"%s\""), p->b->name);
	if (w->n != 2 || !is_name(w->word[1].text) || strlen(w->word[1].text) >= sizeof p->b->name)
		return wrong(p, e, _("\"board\" needs one name of at most 31 letters, digits, _ - . +"));
	strcpy(p->b->name, w->word[1].text);
	return 0;
}

static int parse_title(struct parser *p, const struct words *w, struct err *e)
{
	if (w->n < 2)
		return wrong(p, e, _("\"title\" needs a display name"));
	if (p->b->title[0])
		return wrong(p, e, _("%s is stated twice"), "title");
	join_words(w, 1, p->b->title, sizeof p->b->title);
	return 0;
}

static int parse_match(struct parser *p, const struct words *w, struct err *e)
{
	struct board *b = p->b;

	if (w->n < 2)
		return wrong(p, e,
			     _("\"match\" needs entries of /proc/device-tree/compatible, such as "
			       "nvidia,p3701-0000"));
	for (size_t i = 1; i < w->n; i++) {
		char **all =
			b->n_matches < MATCHES_MAX ? board_grow(b->matches, b->n_matches, sizeof *all) : NULL;
		if (!all)
			return b->n_matches < MATCHES_MAX ? no_memory(p, e)
							  : wrong(p, e, _("too many matches"));
		b->matches = all;
		all[b->n_matches++] = w->word[i].text;
	}
	return 0;
}

static struct clue *add_clue(struct parser *p, enum clue_kind kind, struct err *e)
{
	struct board *b = p->b;
	struct clue *all = b->n_clues < CLUES_MAX ? board_grow(b->clues, b->n_clues, sizeof *all) : NULL;

	if (!all) {
		wrong(p, e, _("out of memory, or more than %d lines of model, alias and sense"), CLUES_MAX);
		return NULL;
	}
	b->clues = all;
	struct clue *c = &all[b->n_clues++];
	*c = (struct clue) {.kind = kind};
	return c;
}

static int parse_model(struct parser *p, const struct words *w, struct err *e)
{
	struct clue *c;

	if (w->n < 2)
		return wrong(p, e, _("\"model\" needs the beginning of /proc/device-tree/model"));
	if (!(c = add_clue(p, CLUE_MODEL, e)))
		return -1;
	join_words(w, 1, c->text, sizeof c->text);
	return 0;
}

static int parse_alias(struct parser *p, const struct words *w, struct err *e)
{
	struct clue *c;

	if (w->n < 2)
		return wrong(p, e, _("\"alias\" needs names, such as JETSON_ORIN_NANO"));
	for (size_t i = 1; i < w->n; i++) {
		if (!(c = add_clue(p, CLUE_ALIAS, e)))
			return -1;
		text_printable(c->text, sizeof c->text, w->word[i].text, strlen(w->word[i].text));
	}
	return 0;
}

static int parse_sense(struct parser *p, const struct words *w, struct err *e)
{
	struct clue *c;
	char key[16];

	if (w->n < 2 || w->n > CLUE_PLACES + 1)
		return wrong(p, e,
			     _("\"sense\" needs one to %d places, such as hwmon=CHIP/LABEL or zone=TYPE"),
			     CLUE_PLACES);
	if (!(c = add_clue(p, CLUE_SENSE, e)))
		return -1;
	join_words(w, 1, c->text, sizeof c->text);
	for (size_t i = 1; i < w->n; i++) {
		const char *text = w->word[i].text, *equals = w->word[i].equals;
		snprintf(key, sizeof key, "%.*s", equals ? (int)(equals - text) : 0, text);
		if (!equals || !place_set(&c->places[c->n_places++], key, equals + 1))
			return wrong(
				p, e,
				_("\"%s\" is not a place; expected path=/FILE, hwmon=CHIP/LABEL, zone=TYPE "
				  "or devfreq=NODE/FILE"),
				text);
	}
	return 0;
}

static int parse_fact(struct parser *p, const struct words *w, struct err *e)
{
	char value[160];
	bool named = !strcmp(w->word[0].text, "fact");

	if (w->n < (named ? 3u : 2u))
		return wrong(p, e, _("\"%s\" needs a text"), w->word[named && w->n > 1].text);
	join_words(w, named ? 2 : 1, value, sizeof value);
	return add_fact(p, w->word[named].text, value, e);
}

static int parse_demo(struct parser *p, const struct words *w, struct err *e)
{
	if (w->n != 1)
		return wrong(p, e, _("\"demo\" takes no argument"));
	p->b->demo = true;
	return 0;
}

static int parse_include(struct parser *p, const struct words *w, struct err *e)
{
	char path[sizeof p->b->path];
	const char *slash = strrchr(p->lexer.file, '/');

	if (w->n != 2)
		return wrong(p, e, _("\"include\" needs one file"));
	const char *file = w->word[1].text;
	int folder = *file == '/' || !slash ? 0 : (int)(slash - p->lexer.file + 1);
	int n = snprintf(path, sizeof path, "%.*s%s", folder, p->lexer.file, file);
	if (n < 0 || (size_t)n >= sizeof path)
		return wrong(p, e, _("the path of the included file is too long"));
	/* A user's own board may include installed files. */
	if (!strchr(file, '/') && access(path, F_OK) < 0) {
		char elsewhere[sizeof path];
		if (board_find_file(file, elsewhere, sizeof elsewhere))
			strcpy(path, elsewhere);
	}
	if (p->depth >= DEPTH_MAX)
		return wrong(p, e, _("files are included more than %d levels deep"), DEPTH_MAX);
	for (const struct parser *o = p; o; o = o->outer)
		if (!strcmp(o->lexer.file, path))
			return wrong(p, e, _("\"%s\" includes itself"), path);
	struct err why;
	if (board_parse_file(p->b, path, p, &why) == 0)
		return 0;
	/* A file that cannot be read is reported with the line that includes it. */
	if (strncmp(why.text, path, strlen(path)) != 0 || why.text[strlen(path)] != ':')
		return wrong(p, e, "%s", why.text);
	if (e)
		*e = why;
	return -1;
}

static const struct {
	const char *word;
	int (*say)(struct parser *p, const struct words *w, struct err *e);
} sayings[] = {
	{"board", parse_board}, {"title", parse_title}, {"match", parse_match}, {"soc", parse_fact},
	{"notice", parse_fact}, {"fact", parse_fact},   {"demo", parse_demo},   {"include", parse_include},
	{"model", parse_model}, {"alias", parse_alias}, {"sense", parse_sense},
};

static bool is_key(const char *text, const char *equals)
{
	return equals > text && strspn(text, "abcdefghijklmnopqrstuvwxyz_") == (size_t)(equals - text);
}

/* TIER PROBE [WORD...] [KEY=VALUE...] [= EXPRESSION] */
static int parse_signal(struct parser *p, const struct words *w, struct err *e)
{
	struct board *b = p->b;
	struct statement s = {.file = p->lexer.file, .line = p->lexer.line, .expression = w->expression};
	int tier = tier_find(w->word[0].text);

	if (w->n < 2)
		return wrong(p, e, _("\"%s\" needs a probe"), w->word[0].text);
	if (b->n_statements == STATEMENTS_MAX)
		return wrong(p, e, _("more than %d signals"), STATEMENTS_MAX);
	const char **words = calloc(WORDS_MAX, sizeof *words);
	if (keep(p, words, e) < 0)
		return -1;
	struct setting *settings = calloc(WORDS_MAX, sizeof *settings);
	if (keep(p, settings, e) < 0)
		return -1;
	s.tier = (enum tier)tier;
	s.probe = w->word[1].text;
	s.words = words;
	s.settings = settings;
	for (size_t i = 2; i < w->n; i++) {
		char *text = w->word[i].text, *equals = w->word[i].equals;
		if (!equals) {
			if (s.n_settings)
				return wrong(p, e, _("\"%s\" follows a KEY=VALUE; names come first"), text);
			if (strcmp(text, "*") != 0 && !is_name(text))
				return wrong(p, e,
					     _("\"%s\" is not a valid name; use letters, digits, _ - . "
					       "+"),
					     text);
			words[s.n_words++] = text;
			continue;
		}
		if (!is_key(text, equals))
			return wrong(p, e, _("\"%s\": the key of a KEY=VALUE must be lower case"), text);
		*equals = '\0';
		settings[s.n_settings++] = (struct setting) {text, equals + 1};
	}
	if (probe_check(&s, e) < 0)
		return -1;
	struct statement *all = board_grow(b->statements, b->n_statements, sizeof *all);
	if (!all)
		return no_memory(p, e);
	b->statements = all;
	all[b->n_statements++] = s;
	return 0;
}

int board_say(struct parser *p, const struct words *w, struct err *e)
{
	if (!w->n)
		return wrong(p, e, _("a line cannot begin with ="));
	const char *first = w->word[0].text;
	for (size_t i = 0; i < sizeof sayings / sizeof *sayings; i++)
		if (!strcmp(first, sayings[i].word)) {
			if (w->expression)
				return wrong(p, e, _("\"%s\" takes no ="), first);
			return sayings[i].say(p, w, e);
		}
	if (tier_find(first) >= 0)
		return parse_signal(p, w, e);
	return wrong(
		p, e,
		_("unknown statement \"%s\"; a line begins with board, title, match, model, alias, sense, "
		  "soc, notice, fact, demo, include, or with a tier: fast, medium, slow"),
		first);
}
