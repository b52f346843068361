/* Parses board files. Every error that does not depend on the machine is found here, so that a file that
 * loads also works.
 *
 * Words are unquoted in place: what is parsed from a file points into its text. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/array.h"
#include "util/intl.h"
#include "util/io.h"
#include "util/num.h"
#include "board/board.h"

#define FILE_MAX  (1024 * 1024)
#define FILES_MAX 64
#define SIGNALS_MAX 2048
#define WORDS_MAX 64
#define PAST_MAX_NS (600 * INT64_C(1000000000))

/* A file being parsed, and its last statement. */
struct parser {
	struct board *b;
	const struct parser *outer; /* the file that includes this one, or NULL */
	const char *file;
	unsigned line, next_line;
	char *p, *end; /* the rest of the text; modified in place */
	struct word {
		char *text;   /* without its quotes */
		char *equals; /* the first '=' outside quotes, or NULL */
	} word[WORDS_MAX];
	size_t n;
	char *expression; /* what follows a word that begins with '=', or NULL */
};

/* Freed with the board. */
struct memory {
	struct memory *next;
	max_align_t bytes[];
};

static void *board_alloc(struct board *b, size_t size)
{
	struct memory *m = calloc(1, sizeof *m + size);

	if (!m)
		return NULL;
	m->next = b->memory;
	b->memory = m;
	return m->bytes;
}

#define wrong(p, e, ...) line_error((p)->file, (p)->line, e, __VA_ARGS__)

/* Returns the next line, with continuation lines joined by blanks; it ends at *stop_out. Returns NULL at the
 * end of the file. */
static char *take_line(struct parser *p, char **stop_out)
{
	char *start = p->p;

	if (p->p >= p->end)
		return NULL;
	p->line = p->next_line;
	for (;;) {
		char *nl = memchr(p->p, '\n', (size_t)(p->end - p->p));
		char *stop = nl ? nl : p->end;
		p->p = nl ? nl + 1 : p->end;
		p->next_line++;
		char *last = stop;
		if (last > start && last[-1] == '\r')
			*--last = ' ';
		if (!nl || last == start || last[-1] != '\\') {
			*stop = '\0';
			*stop_out = stop;
			return start;
		}
		last[-1] = *stop = ' ';
	}
}

/* Takes one word at *at, unquoted in place, and moves *at past it. */
static int take_word(struct parser *p, char **at, struct word *w, struct err *e)
{
	char *from = *at, *to = *at;
	bool quoted = false;

	w->text = to;
	w->equals = NULL;
	for (; *from && (quoted || (*from != ' ' && *from != '\t')); from++) {
		if (*from == '"') {
			quoted = !quoted;
			continue;
		}
		if (quoted && *from == '\\' && (from[1] == '"' || from[1] == '\\'))
			from++;
		else if (!quoted && *from == '=' && !w->equals)
			w->equals = to;
		*to++ = *from;
	}
	if (quoted)
		return wrong(p, e, _("a quote (\") is not closed"));
	*at = from + (*from != '\0');
	*to = '\0';
	return 0;
}

static int take_words(struct parser *p, char *at, struct err *e)
{
	p->n = 0;
	p->expression = NULL;
	for (;;) {
		at += strspn(at, " \t");
		if (!*at || *at == '#')
			return 0;
		if (*at == '=') { /* what follows, up to a comment, without the blanks around it */
			at++;
			at += strspn(at, " \t");
			char *end = at + strcspn(at, "#");
			while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
				end--;
			*end = '\0';
			p->expression = at;
			return *at ? 0 : wrong(p, e, _("nothing follows the ="));
		}
		if (p->n == WORDS_MAX)
			return wrong(p, e, _("more than 64 words in one statement"));
		if (take_word(p, &at, &p->word[p->n++], e) < 0)
			return -1;
	}
}

/* Joins the words from index `from` on with blanks, made printable. */
static void join_words(const struct parser *p, size_t from, char *out, size_t size)
{
	char text[512];
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = from; i < p->n && used < sizeof text; i++)
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i > from ? " " : "",
					 p->word[i].text);
	text_printable(out, size, text, strlen(text));
}

/* Letters, digits and the other characters that a file name may contain. */
static bool is_name(const char *text)
{
	return *text && *text != '-' && *text != '.' &&
	       !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.+")];
}

static int parse_board(struct parser *p, int unused, struct err *e)
{
	if (p->b->name[0])
		return wrong(p, e, _("this file already names the board \"%s\""), p->b->name);
	if (p->n != 2 || !is_name(p->word[1].text) || strlen(p->word[1].text) >= sizeof p->b->name)
		return wrong(p, e, _("\"board\" needs one name of at most 31 letters, digits, _ - . +"));
	strcpy(p->b->name, p->word[1].text);
	return 0;
}

static int parse_title(struct parser *p, int unused, struct err *e)
{
	if (p->b->title[0])
		return wrong(p, e, _("%s is stated twice"), "title");
	join_words(p, 1, p->b->title, sizeof p->b->title);
	return 0;
}

/* Takes the words from index `from` on as places. */
static int parse_places(struct parser *p, size_t from, struct place **places, size_t *n, struct err *e)
{
	char key[16];

	*places = board_alloc(p->b, p->n * sizeof **places);
	if (!*places)
		return wrong(p, e, _("out of memory"));
	for (size_t i = from; i < p->n; i++) {
		const char *text = p->word[i].text, *equals = p->word[i].equals;
		snprintf(key, sizeof key, "%.*s", equals ? (int)(equals - text) : 0, text);
		if (!equals || !place_set(&(*places)[(*n)++], key, equals + 1))
			return wrong(p, e,
				     _("\"%s\" is not a place; expected path=/FILE, hwmon=CHIP/LABEL, zone=TYPE "
				       "or devfreq=NODE/FILE"),
				     text);
	}
	return 0;
}

/* Each word is a clue; those of model and of sense are one. */
static int parse_clue(struct parser *p, int kind, struct err *e)
{
	const size_t size = 96;
	bool joined = kind == CLUE_MODEL || kind == CLUE_SENSE;
	char *text = joined ? board_alloc(p->b, size) : NULL;
	struct clue *c = NULL;

	if (joined && !text)
		return wrong(p, e, _("out of memory"));
	if (joined)
		join_words(p, 1, text, size);
	for (size_t i = 1; i < (joined ? 2 : p->n); i++) {
		c = array_add(&p->b->clues, &p->b->n_clues, sizeof *c);
		if (!c)
			return wrong(p, e, _("out of memory"));
		*c = (struct clue) {.kind = (enum clue_kind)kind, .text = joined ? text : p->word[i].text};
	}
	return kind == CLUE_SENSE ? parse_places(p, 1, &c->places, &c->n_places, e) : 0;
}

const char *const control_words[CONTROL_KINDS] = {"fan", "mode", "clocks", "clocks", "governor", "3d-scaling", "swap", "drop-caches"};

/* "control KIND [NAME] PLACE..." */
static int parse_control(struct parser *p, int unused, struct err *e)
{
	static const struct {
		const char *names; /* of which one is needed */
		bool places;
	} needs[CONTROL_KINDS] = {[CONTROL_FAN] = {NULL, true},
				  [CONTROL_MODE] = {NULL, true},
				  [CONTROL_CLOCK] = {" gpu cpu emc ", true},
				  [CONTROL_GOVERNOR] = {" gpu cpu ", true},
				  [CONTROL_3D] = {NULL, true}};
	struct board *b = p->b;
	struct control_statement *c;
	size_t from = p->n > 2 && !p->word[2].equals ? 3 : 2;
	const char *word = p->word[1].text, *name = from == 3 ? p->word[2].text : "";
	int kind = 0;
	char listed[48];

	while (kind < CONTROL_KINDS && strcmp(control_words[kind], word) != 0)
		kind++;
	if (kind == CONTROL_KINDS)
		return wrong(p, e, _("\"%s\" cannot be set; expected fan, mode, clocks, governor, 3d-scaling, swap or drop-caches"), word);
	kind += kind == CONTROL_PINNED && p->n > 2; /* all clocks together have no name and no place */
	snprintf(listed, sizeof listed, " %s ", name);
	if (needs[kind].names ? !*name || !strstr(needs[kind].names, listed) : *name)
		return needs[kind].names ? wrong(p, e, _("\"control %s\" needs one of the names%s"), word, needs[kind].names)
					 : wrong(p, e, _("\"control %s\" takes no name"), word);
	if ((p->n > from) != needs[kind].places)
		return needs[kind].places ? wrong(p, e, _("\"control %s\" needs places"), word)
					  : wrong(p, e, _("\"control %s\" takes no places"), word);
	for (size_t i = 0; i < b->n_controls; i++)
		if ((int)b->controls[i].kind == kind && !strcmp(b->controls[i].name, name))
			return wrong(p, e, _("%s is stated twice"), "control");
	c = array_add(&b->controls, &b->n_controls, sizeof *c);
	if (!c)
		return wrong(p, e, _("out of memory"));
	*c = (struct control_statement) {.kind = (enum control_kind)kind, .name = name};
	return parse_places(p, from, &c->places, &c->n_places, e);
}

/* "fact KEY TEXT", or "KEY TEXT" for soc and notice. */
static int parse_fact(struct parser *p, int named, struct err *e)
{
	struct board *b = p->b;
	const char *key = p->word[named && p->n > 1].text;
	struct fact *f;

	if (p->n < (named ? 3u : 2u))
		return wrong(p, e, _("\"%s\" needs a text"), key);
	if (fact_get(b->facts, b->n_facts, key))
		return wrong(p, e, _("%s is stated twice"), key);
	if (strlen(key) >= sizeof f->key || !is_name(key))
		return wrong(p, e, _("\"%s\" is not a valid name; use letters, digits, _ - . +"), key);
	f = array_add(&b->facts, &b->n_facts, sizeof *f);
	if (!f)
		return wrong(p, e, _("out of memory"));
	strcpy(f->key, key);
	join_words(p, named ? 2 : 1, f->value, sizeof f->value);
	return 0;
}

static int parse_demo(struct parser *p, int unused, struct err *e)
{
	p->b->demo = true;
	if (p->n == 2 && (!num_duration_ns(p->word[1].text, &p->b->past_ns) || p->b->past_ns > PAST_MAX_NS))
		return wrong(p, e, _("\"demo\" needs a time of at most 10m, not \"%s\""), p->word[1].text);
	return 0;
}

static int parse_file(struct board *b, const char *path, const struct parser *outer, struct err *e);

static bool is_same_file(const char *x, const char *y)
{
	struct stat a, b;

	return stat(x, &a) == 0 && stat(y, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int parse_include(struct parser *p, int unused, struct err *e)
{
	char path[sizeof p->b->path], elsewhere[sizeof path];
	const char *file = p->word[1].text, *slash = strrchr(p->file, '/');
	int folder = *file == '/' || !slash ? 0 : (int)(slash - p->file + 1);

	int n = snprintf(path, sizeof path, "%.*s%s", folder, p->file, file);
	if (n < 0 || (size_t)n >= sizeof path)
		return wrong(p, e, _("the path of the included file is too long"));
	/* A user's board file may include installed files. */
	if (!strchr(file, '/') && access(path, F_OK) < 0 &&
	    board_find_file(file, elsewhere, sizeof elsewhere))
		strcpy(path, elsewhere);
	for (const struct parser *o = p; o; o = o->outer)
		if (is_same_file(o->file, path))
			return wrong(p, e, _("\"%s\" would include itself; remove this line"), path);
	if (p->b->n_files >= FILES_MAX)
		return wrong(p, e, _("a board has at most %d files, with those it includes"), FILES_MAX);
	return parse_file(p->b, path, p, e);
}

static const struct {
	const char *word;
	size_t least, most; /* number of words, with the first */
	int (*parse)(struct parser *p, int kind, struct err *e);
	int kind;
	const char *needs;
} lines[] = {
	{"board", 0, WORDS_MAX, parse_board, 0, ""},
	{"title", 2, WORDS_MAX, parse_title, 0, N_("\"title\" needs a display name")},
	{"match", 2, WORDS_MAX, parse_clue, CLUE_MATCH,
	 N_("\"match\" needs entries of /proc/device-tree/compatible, such as nvidia,p3701-0000")},
	{"model", 2, WORDS_MAX, parse_clue, CLUE_MODEL, N_("\"model\" needs the beginning of /proc/device-tree/model")},
	{"alias", 2, WORDS_MAX, parse_clue, CLUE_ALIAS, N_("\"alias\" needs names, such as JETSON_ORIN_NANO")},
	{"sense", 2, WORDS_MAX, parse_clue, CLUE_SENSE, N_("\"sense\" needs places, such as hwmon=CHIP/LABEL or zone=TYPE")},
	{"soc", 0, WORDS_MAX, parse_fact, false, ""},
	{"notice", 0, WORDS_MAX, parse_fact, false, ""},
	{"fact", 0, WORDS_MAX, parse_fact, true, ""},
	{"control", 2, WORDS_MAX, parse_control, 0, N_("\"control\" needs what can be set, such as fan or clocks")},
	{"demo", 1, 2, parse_demo, 0, N_("\"demo\" takes at most one time")},
	{"include", 2, 2, parse_include, 0, N_("\"include\" needs one file")},
};

/* TIER PROBE [WORD...] [KEY=VALUE...] [= EXPRESSION] */
static int parse_signal(struct parser *p, enum tier tier, struct err *e)
{
	struct board *b = p->b;
	const char **words = board_alloc(b, p->n * sizeof *words);
	struct setting *settings = board_alloc(b, p->n * sizeof *settings);
	struct statement *s;

	if (p->n < 2)
		return wrong(p, e, _("\"%s\" needs a probe"), p->word[0].text);
	if (b->n_statements == SIGNALS_MAX)
		return wrong(p, e, _("more than %d signals"), SIGNALS_MAX);
	s = array_add(&b->statements, &b->n_statements, sizeof *s);
	if (!words || !settings || !s)
		return wrong(p, e, _("out of memory"));
	*s = (struct statement) {.file = p->file,
				 .line = p->line,
				 .tier = tier,
				 .probe = p->word[1].text,
				 .words = words,
				 .settings = settings,
				 .expression = p->expression};
	for (size_t i = 2; i < p->n; i++) {
		char *text = p->word[i].text, *equals = p->word[i].equals;
		if (!equals && s->n_settings)
			return wrong(p, e, _("\"%s\" follows a KEY=VALUE; names come first"), text);
		if (!equals && strcmp(text, "*") != 0 && !is_name(text))
			return wrong(p, e, _("\"%s\" is not a valid name; use letters, digits, _ - . +"), text);
		if (!equals) {
			words[s->n_words++] = text;
			continue;
		}
		if (equals == text || strspn(text, "abcdefghijklmnopqrstuvwxyz_") != (size_t)(equals - text))
			return wrong(p, e, _("\"%s\": the key of a KEY=VALUE must be lower case"), text);
		*equals = '\0';
		settings[s->n_settings++] = (struct setting) {text, equals + 1};
	}
	return probe_check(s, e);
}

static int parse_statement(struct parser *p, struct err *e)
{
	if (!p->n)
		return wrong(p, e, _("a line cannot begin with ="));
	const char *first = p->word[0].text;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		if (strcmp(first, lines[i].word) != 0)
			continue;
		if (p->expression)
			return wrong(p, e, _("\"%s\" takes no expression after ="), first);
		if (p->n < lines[i].least || p->n > lines[i].most)
			return wrong(p, e, "%s", _(lines[i].needs));
		return lines[i].parse(p, lines[i].kind, e);
	}
	int tier = tier_find(first);
	if (tier >= 0)
		return parse_signal(p, (enum tier)tier, e);
	return wrong(
		p, e,
		_("unknown statement \"%s\"; a line begins with board, title, match, model, alias, sense, "
		  "soc, notice, fact, control, demo, include, or with a tier: fast, medium, slow"),
		first);
}

/* Parses a copy of the text, which belongs to the board, since words point into it. */
static int parse_text(struct board *b, const char *file, const char *text, size_t len, const struct parser *outer,
		      struct err *e)
{
	size_t mark = len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
	char *copy = board_alloc(b, len + 1), *line, *stop;
	struct parser p = {.b = b, .outer = outer, .file = file, .line = 1, .next_line = 1};

	if (!copy)
		return wrong(&p, e, _("out of memory"));
	memcpy(copy, text, len);
	p.p = copy + mark;
	p.end = copy + len;
	while ((line = take_line(&p, &stop))) {
		for (const char *at = line; at < stop; at++) /* a line ends there, not at a NUL */
			if (((unsigned char)*at < 0x20 && *at != '\t') || *at == 0x7f)
				return wrong(&p, e, _("a control character; a board file is plain text"));
		if (take_words(&p, line, e) < 0 || ((p.n || p.expression) && parse_statement(&p, e) < 0))
			return -1;
	}
	return 0;
}

/* outer: the file that includes this one, or NULL. */
static int parse_file(struct board *b, const char *path, const struct parser *outer, struct err *e)
{
	char shown[512];
	size_t len;
	struct err why;
	/* The name lives as long as the statements that point to it. */
	char *name = board_alloc(b, strlen(path) + 1), *text = name ? read_file(path, FILE_MAX, &len, NULL) : NULL;
	int result;

	b->n_files++;
	if (!text) {
		int error = errno;
		text_printable(shown, sizeof shown, path, strlen(path));
		if (error == EINVAL || error == EFBIG)
			err_num(&why, ERR_FAILED, EINVAL,
				_("\"%s\" is not a board file: not a regular file of at most 1 MiB"), shown);
		else
			err_sys(&why, ERR_FAILED, error, _("cannot read the board file \"%s\""), shown);
		return outer ? wrong(outer, e, "%s", why.text) : err_num(e, why.code, why.num, "%s", why.text);
	}
	result = parse_text(b, strcpy(name, path), text, len, outer, e);
	free(text);
	return result;
}

struct board *board_parse_text(const char *path, const char *text, size_t len, struct err *e)
{
	struct board *b = calloc(1, sizeof *b);
	int result;

	if (!b) {
		err_sys(e, ERR_FAILED, errno, _("cannot read the board file \"%s\""), path);
		return NULL;
	}
	atomic_init(&b->holders, 1);
	snprintf(b->path, sizeof b->path, "%s", path);
	result = text ? parse_text(b, b->path, text, len, NULL, e) : parse_file(b, path, NULL, e);
	if (!result && (!b->name[0] || !b->title[0]))
		result = err_set(e, ERR_FAILED,
				 _("%s: a board file needs the lines \"board NAME\" and \"title TEXT\""),
				 b->path);
	else if (!result && !b->n_statements)
		result = err_set(e, ERR_FAILED, _("%s: this board file has no signals"), b->path);
	if (!result)
		return b;
	board_free(b);
	return NULL;
}

struct board *board_hold(struct board *b)
{
	atomic_fetch_add(&b->holders, 1);
	return b;
}

void board_free(struct board *b)
{
	if (!b || atomic_fetch_sub(&b->holders, 1) != 1)
		return;
	while (b->memory) {
		struct memory *m = b->memory;

		b->memory = m->next;
		free(m);
	}
	free(b->clues);
	free(b->facts);
	free(b->statements);
	free(b->controls);
	free(b);
}
