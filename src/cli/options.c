/* Parses the command line: the verb, also --record or --replay, then the options of that verb. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/verb.h"
#include "trace/log-out.h"
#include "util/intl.h"

/* A set of options. */
struct option_list {
	const struct option_entry *at[128];
	size_t n;
};

/* The state of parsing. */
struct line {
	struct options *o;
	const struct verb *verb;
	bool by_mode;		/* verb given by an option, or not at all */
	struct option_list own; /* options of the verb */
	struct option_list all; /* options of any verb, including aliases of verbs */
	struct option_entry modes[4];
	char **words;
	int n, at;
	const char **operands;
	size_t n_operands;
};

static bool has_name(const struct option_list *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->at[i]->name, name))
			return true;
	return false;
}

static void add(struct option_list *l, const struct option_entry *t)
{
	if (l->n < sizeof l->at / sizeof *l->at && !has_name(l, t->name))
		l->at[l->n++] = t;
}

static void add_group(struct option_list *l, const struct option_group *g)
{
	for (size_t i = 0; g && i < g->n; i++)
		add(l, &g->entries[i]);
}

static void add_verb(struct option_list *l, const struct verb *v)
{
	for (size_t i = 0; v->groups[i]; i++)
		add_group(l, v->groups[i]);
	add_group(l, &group_common);
}

static void list_all(struct line *l)
{
	size_t n = 0;

	for (size_t i = 0; verbs[i] && n < sizeof l->modes / sizeof *l->modes; i++)
		if (verbs[i]->also_option) {
			l->modes[n] = (struct option_entry) {.name = verbs[i]->name};
			add(&l->all, &l->modes[n++]);
		}
	for (size_t i = 0; verbs[i]; i++)
		add_verb(&l->all, verbs[i]);
}

/* Shell aliases may pass sampling and drawing options before any mode option. */
static void list_own(struct line *l)
{
	add_verb(&l->own, l->verb);
	if (!l->by_mode)
		return;
	add_group(&l->own, l->verb->also);
	add_group(&l->own, &group_sampling);
	add_group(&l->own, &group_drawing);
}

/* Finds an option by its name or an unambiguous prefix of it. */
static const struct option_entry *find(const struct option_list *l, const char *name, size_t length)
{
	const struct option_entry *found = NULL;
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		if (!strncmp(l->at[i]->name, name, length)) {
			if (!l->at[i]->name[length])
				return l->at[i];
			found = l->at[i];
			n++;
		}
	return n == 1 ? found : NULL;
}

static bool is_long(const char *word)
{
	return !strncmp(word, "--", 2);
}

/* The verb that this option is an alias of, or NULL. */
static const struct verb *mode_of(const struct line *l, const char *word)
{
	const struct option_entry *t = is_long(word) ? find(&l->all, word + 2, strcspn(word + 2, "=")) : NULL;

	for (size_t i = 0; t && verbs[i]; i++)
		if (verbs[i]->name == t->name)
			return verbs[i];
	return NULL;
}

/* No value begins with "--", so every word that does is an option. */
static int choose(struct line *l, struct err *e)
{
	const struct verb *v;

	l->verb = l->n > 1 ? verb_find(l->words[1]) : NULL;
	l->at = l->verb ? 2 : 1;
	l->by_mode = !l->verb;
	for (int i = 1; l->by_mode && i < l->n && strcmp(l->words[i], "--") != 0; i++) {
		if (!(v = mode_of(l, l->words[i])))
			continue;
		if (l->verb && l->verb != v)
			return err_set(e, ERR_USAGE, _("only one of --%s and --%s can be given"),
				       l->verb->name, v->name);
		l->verb = v;
	}
	if (!l->verb)
		l->verb = &verb_screen;
	l->o->verb = l->verb;
	l->o->mode = l->verb->runs_as;
	return 0;
}

/* Suggestions for an unknown word. */
#define LONGEST 40 /* longer words match no option */
#define FAR  3  /* a name that differs by this many changes is no suggestion */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Edit distance: letters to replace, insert, delete or swap with the next. */
static size_t changes(const char *a, size_t n, const char *b)
{
	size_t row[3][LONGEST + 1], m = strlen(b);
	size_t *above = row[0], *last = row[1], *now = row[2], *spare;

	if (n > LONGEST || m > LONGEST)
		return FAR;
	for (size_t j = 0; j <= m; j++)
		last[j] = j;
	for (size_t i = 1; i <= n; i++) {
		now[0] = i;
		for (size_t j = 1; j <= m; j++) {
			now[j] = least(last[j - 1] + (a[i - 1] != b[j - 1]), least(last[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = least(now[j], above[j - 2] + 1);
		}
		spare = above;
		above = last;
		last = now;
		now = spare;
	}
	return last[m];
}

/* Is the name closer to the word than the best so far? */
static bool nearer(const char *word, size_t length, const char *name, size_t *best)
{
	size_t far = changes(word, length, name);

	if (far >= *best || far >= length)
		return false;
	*best = far;
	return true;
}

/* The verb, option or command that was probably meant by a word that is no verb; NULL: no idea. */
static const char *verb_near(const char *word)
{
	static const struct {
		const char *word, *near;
	} others[] = {{"version", "--version"}, {"demo", "--demo"},   {"top", "nvmtop"},     {"list", "boards"},  {"profile", "record"},
		      {"run", "record"},	{"start", "record"},   {"show", "replay"},  {"view", "replay"},
		      {"stats", "report"},	{"compare", "report"}, {"diff", "report"}};
	const char *near = NULL;
	size_t length = strlen(word), best = FAR;

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (!strcmp(word, others[i].word))
			return others[i].near;
	for (size_t i = 0; verbs[i]; i++)
		if (verbs[i]->name && length && !strncmp(verbs[i]->name, word, length))
			return verbs[i]->name;
	for (size_t i = 0; verbs[i]; i++)
		if (verbs[i]->name && nearer(word, length, verbs[i]->name, &best))
			near = verbs[i]->name;
	return near;
}

static int verb_unknown(const char *word, struct err *e)
{
	const char *near = verb_near(word);

	if (near)
		return err_set(e, ERR_USAGE, _("unknown verb \"%s\", and no such file; did you mean \"%s\"?"),
			       shown_word(word), near);
	return err_set(e, ERR_USAGE, _("unknown verb \"%s\", and no such file"), shown_word(word));
}

/* Rejects a first word that is neither a verb nor looks like a file. */
static int check_verb(const struct line *l, struct err *e)
{
	const char *word = l->n > 1 ? l->words[1] : "-";

	if (l->verb != &verb_screen || word[0] == '-' || strpbrk(word, "./") || access(word, F_OK) == 0)
		return 0;
	return verb_unknown(word, e);
}

/* Is the word a prefix of the option's name? */
static bool begins(const struct option_entry *t, const char *word, size_t length)
{
	return length > 0 && !strncmp(t->name, word, length);
}

static int several(struct err *e, const struct option_list *l, const char *word, size_t length, const char *shown)
{
	char list[200] = "";
	size_t used = 0;

	for (size_t i = 0; i < l->n; i++)
		if (begins(l->at[i], word, length) && used + strlen(l->at[i]->name) + 5 < sizeof list)
			used += (size_t)snprintf(list + used, sizeof list - used, "%s--%s", used ? ", " : "",
						 l->at[i]->name);
	return err_set(e, ERR_USAGE, _("\"%s\" is ambiguous: %s"), shown, list);
}

static int option_unknown(struct err *e, const struct option_list *l, const char *word)
{
	size_t dashes = strspn(word, "-"), length, like = 0, best = FAR;
	const char *near = NULL, *shown = shown_word(word);

	word += dashes;
	length = strcspn(word, "=");
	for (size_t i = 0; i < l->n; i++) {
		like += begins(l->at[i], word, length);
		if (nearer(word, length, l->at[i]->name, &best))
			near = l->at[i]->name;
	}
	if (dashes == 2 && (best == 0 || like == 1))
		return err_set(e, ERR_USAGE, _("\"%s\" takes no value"), shown);
	if (dashes == 2 && like > 1)
		return several(e, l, word, length, shown);
	if (near)
		return err_set(e, ERR_USAGE, _("\"%s\" is not an option; did you mean --%s?"), shown, near);
	return err_set(e, ERR_USAGE, _("\"%s\" is not an option"), shown);
}

static bool verb_has(const struct verb *v, const char *name)
{
	struct option_list l = {.n = 0};

	add_verb(&l, v);
	return has_name(&l, name);
}

/* Reports an option of other verbs, and lists those verbs. */
static int elsewhere(const struct line *l, const struct option_entry *t, struct err *e)
{
	char here[64], one[64], list[300] = "";
	size_t used = 0;

	verb_title(l->verb, here, sizeof here);
	for (size_t i = 0; verbs[i]; i++)
		if (verb_has(verbs[i], t->name)) {
			verb_title(verbs[i], one, sizeof one);
			if (used + strlen(one) + 3 < sizeof list)
				used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
							 used ? ", " : "", one);
		}
	if (!used)
		return err_set(e, ERR_USAGE, _("--%s is not an option of %s"), t->name, here);
	return err_set(e, ERR_USAGE, _("--%s is not an option of %s, but of %s"), t->name, here, list);
}

static int unknown(const struct line *l, const char *word, struct err *e)
{
	const struct option_entry *t = is_long(word) ? find(&l->all, word + 2, strcspn(word + 2, "=")) : NULL;

	if (is_long(word) && verb_find(word + 2))
		return err_set(e, ERR_USAGE, _("\"%s\" is not an option, but a verb: nvmtop %s"), word, word + 2);
	if (t && !has_name(&l->own, t->name))
		return elsewhere(l, t, e);
	return option_unknown(e, l->verb == &verb_screen ? &l->all : &l->own, word);
}

static int value_needed(const char *word, struct err *e)
{
	return err_set(e, ERR_USAGE, _("\"%s\" needs a value"), shown_word(word));
}

/* The next word if it is not an option, else NULL. */
static char *next_value(struct line *l)
{
	return l->at < l->n && !is_long(l->words[l->at]) ? l->words[l->at++] : NULL;
}

bool option_value_needed(const struct option_entry *t)
{
	return t->argument && t->argument[0] != '[';
}

static int take_long(struct line *l, const char *word, struct err *e)
{
	size_t length = strcspn(word + 2, "=");
	const char *value = word[2 + length] ? word + 2 + length + 1 : NULL;
	const struct option_entry *t;

	if (l->by_mode && mode_of(l, word)) {
		if (value)
			l->operands[l->n_operands++] = value;
		return 0;
	}
	t = length ? find(&l->own, word + 2, length) : NULL;
	if (!t || (value && !t->argument))
		return unknown(l, word, e);
	if (!value && option_value_needed(t) && !(value = next_value(l)))
		return value_needed(word, e);
	if (t->take(l->o, t, value, e) < 0)
		return -1;
	if (!t->argument || !strchr(t->argument, ' '))
		return 0;
	value = next_value(l);
	return value ? t->take(l->o, t, value, e)
		     : err_set(e, ERR_USAGE, _("--%s needs two values: %s"), t->name, t->argument);
}

static int take_letters(struct line *l, const char *word, struct err *e)
{
	for (const char *p = word + 1; *p; p++) {
		const struct option_entry *t = NULL;

		for (size_t i = 0; i < l->own.n && !t; i++)
			t = l->own.at[i]->letter == *p ? l->own.at[i] : NULL;
		if (!t)
			return unknown(l, word, e);
		if (t->argument) {
			const char *value = p[1] ? p + 1 : next_value(l);
			return value ? t->take(l->o, t, value, e) : value_needed(word, e);
		}
		if (t->take(l->o, t, NULL, e) < 0)
			return -1;
	}
	return 0;
}

/* Parses all words up to "--", or up to --help or --version. */
static int take_words(struct line *l, struct err *e)
{
	while (l->at < l->n && strcmp(l->words[l->at], "--") != 0 && !l->o->help && !l->o->version) {
		const char *word = l->words[l->at++];
		int r = 0;

		if (is_long(word))
			r = take_long(l, word, e);
		else if (word[0] == '-' && word[1])
			r = take_letters(l, word, e);
		else
			l->operands[l->n_operands++] = word;
		l->o->n_files = l->n_operands;
		if (r < 0)
			return -1;
	}
	return 0;
}

/* A recording without a suffix of ours may have the name of a program only by -o. */
static bool is_program(const char *word)
{
	char here[PATH_MAX];
	struct err e;

	snprintf(here, sizeof here, "%s%s", strchr(word, '/') ? "" : "./", word);
	if (command_find(here)) /* a recording on a FAT file system is executable, too */
		return log_file_check(word, true, &e) < 0;
	return !text_ends_in(word, ".nvmt") && !text_ends_in(word, ".bin") && command_find(word);
}

/* Rejects operands that are probably a command without "--" before it; its options may have been rejected. */
static int check_command(const struct line *l, bool rejected, struct err *e)
{
	size_t n = l->n_operands, first = n > 1 && !l->o->out && text_ends_in(l->operands[0], ".nvmt"), used = 0;
	bool several = n + (l->o->out != NULL) > 1;
	char words[300] = "";

	for (int i = l->at; i < l->n; i++)
		if (!strcmp(l->words[i], "--"))
			return 0;
	if (l->verb != &verb_record || n == 0 || !(several || is_program(l->operands[0])))
		return 0;
	for (size_t i = 0; i < n && used + 1 < sizeof words; i++) {
		const char *word = l->operands[i];
		bool here = i == first && !strchr(word, '/') && !command_find(word) && access(word, X_OK) == 0;
		used += (size_t)snprintf(words + used, sizeof words - used, "%s%s%s%s", i ? " " : "",
					 i == first ? "-- " : "", here ? "./" : "", shown_word(word));
	}
	used = least(used, sizeof words - 1);
	snprintf(words + used, sizeof words - used, "%s", rejected ? " ..." : "");
	if (several)
		return err_set(e, ERR_USAGE,
			       _("only one output file can be given; to record a command: nvmtop record %s"), words);
	return err_set(e, ERR_USAGE, _("\"%s\" is a program; to record a command: nvmtop record %s"),
		       shown_word(l->operands[0]), words);
}

/* Takes the words after "--": the command of a recording, else operands. */
static int take_rest(struct line *l, struct err *e)
{
	if (l->at >= l->n)
		return 0;
	l->at++;
	if (l->verb->runs_command && l->at == l->n)
		return err_set(e, ERR_USAGE, _("missing COMMAND after \"--\""));
	if (l->verb == &verb_screen)
		return err_set(e, ERR_USAGE, _("only nvmtop record and nvmtop sweep can run a COMMAND"));
	if (l->verb->runs_command)
		l->o->command = l->words + l->at;
	else
		for (; l->at < l->n; l->at++)
			l->operands[l->n_operands++] = l->words[l->at];
	return 0;
}

/* nvmtop help [VERB] */
static int take_help(struct options *o, int argc, char **argv, struct err *e)
{
	o->help = true;
	o->verb = argc > 2 ? verb_find(argv[2]) : &verb_screen;
	return o->verb ? 0 : verb_unknown(argv[2], e);
}

int options_parse(struct options *o, int argc, char **argv, struct err *e)
{
	static const char **operands; /* argc + 1 elements */
	static const char *const as_tegrastats[] = {"nvmtop", "stream", "--format", "tegrastats"};
	const size_t n_before = sizeof as_tegrastats / sizeof *as_tegrastats;
	static char **words;
	const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
	struct line l = {.o = o, .words = argv, .n = argc};

	*o = (struct options) {.sysroot = "/", .hz = {1000, 100, 10}, .pick = {.tier = -1}};
	free(operands);
	free(words);
	l.operands = operands = calloc((size_t)argc + 1, sizeof *operands);
	words = calloc((size_t)argc + n_before, sizeof *words);
	if (!operands || !words)
		return err_set(e, ERR_FAILED, _("out of memory"));
	if (argc > 0 && !strcmp(slash ? slash + 1 : argv[0], "nvmtop-tegrastats")) {
		memcpy(words, as_tegrastats, sizeof as_tegrastats);
		memcpy(words + n_before, argv + 1, ((size_t)argc - 1) * sizeof *words);
		l.words = argv = words;
		l.n = argc += (int)n_before - 1;
		o->in_ms = true;
	}
	if (argc > 1 && !strcmp(argv[1], "help"))
		return take_help(o, argc, argv, e);
	list_all(&l);
	if (choose(&l, e) < 0 || check_verb(&l, e) < 0)
		return -1;
	list_own(&l);
	bool rejected = take_words(&l, e) < 0;
	if (!rejected && (o->help || o->version))
		return 0;
	if (check_command(&l, rejected, e) < 0 || rejected || take_rest(&l, e) < 0)
		return -1;
	o->files = l.operands;
	o->n_files = l.n_operands;
	if (o->board && !*o->board)
		return err_set(e, ERR_USAGE,
			       _("--board needs the name or the file of a board; nvmtop boards lists them"));
	return o->verb->finish(o, e);
}
