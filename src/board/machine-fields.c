/* Reads values that are a file or a word in one, and writes what is known of the machine. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "board/machine.h"
#include "probe/attr.h"
#include "util/array.h"
#include "util/intl.h"
#include "util/num.h"

#define BLANKS " \t\r"

void machine_put_text(struct machine_writer *w, const char *key, const char *text, size_t most)
{
	char copy[PROC_COMMAND];

	text_shortened(copy, most ? most : 64, text, strlen(text));
	if (*copy)
		PUT(w->to, {key, IN_JSON, TEXT_OF(copy)});
}

void machine_put_number(struct machine_writer *w, const char *key, double v)
{
	if (isfinite(v))
		PUT(w->to, {key, IN_JSON, NUMBER_OF(v)});
}

void machine_put_truth(struct machine_writer *w, const char *key, bool v)
{
	PUT(w->to, {key, IN_JSON, TRUTH_OF(v)});
}

void machine_item(struct machine_writer *w, bool *any, const char *list)
{
	if (*any)
		json_close(w->to, "}");
	else
		json_open(w->to, list, '[');
	json_open(w->to, NULL, '{');
	*any = true;
}

void machine_items_end(struct machine_writer *w, bool any)
{
	if (any)
		json_close(w->to, "}]");
}

void machine_missing(struct machine_writer *w, const char *key, const char *what, const char *why)
{
	struct machine_lack *l = array_add(&w->missing, &w->n_missing, sizeof *l);

	if (!l)
		return;
	text_join(l->key, sizeof l->key, key);
	text_join(l->why, sizeof l->why, what, *what ? ": " : "", why);
}

bool file_word(const struct root *r, const char *path, const char *word, char *out, size_t size)
{
	char text[4096];
	const char *p = root_read_trusted(r, path, text, sizeof text) < 0 ? NULL : (errno = 0, strstr(text, word));

	if (!p)
		return false;
	p += strlen(word);
	p += strspn(p, BLANKS);
	char quote = *p == '"' || *p == '\'' ? *p++ : '\0';
	const char stop[] = {'\n', quote, '\0'};
	text_printable(out, size, p, strcspn(p, quote ? stop : BLANKS ",\n"));
	return *out;
}

bool machine_field_text(const struct root *r, const struct machine_field *f, const char *folder, char *out, size_t size)
{
	char path[256], word[32], text[4096] = "";
	int why = ENOENT;

	out[0] = '\0';
	for (const char *p = f->file, *end; p; p = *end ? end + 1 : NULL) {
		int len = (int)strcspn(p, " |");
		end = p + strcspn(p, "|");
		snprintf(path, sizeof path, "%s%s%.*s", folder, *folder ? "/" : "", len, p);
		snprintf(word, sizeof word, "%.*s", p + len < end ? (int)(end - p) - len - 1 : 0, p + len + 1);
		errno = 0;
		ssize_t n = f->find ? root_read(r, path, text, sizeof text) : 0;
		if (f->find ? f->find(r, text, n > 0 ? (size_t)n : 0, out, size) && *out
			    : *word ? file_word(r, path, word, out, size) : file_line(r, path, out, size) && *out)
			return true;
		why = why == ENOENT ? errno : why;
	}
	errno = why;
	return false;
}

/* Returns -1 for what is neither. */
static int truth_of(const char *text)
{
	static const struct {
		const char *text;
		bool truth;
	} words[] = {{"0", false},     {"suspended", false}, {"off", false}, {"no", false},
		     {"N", false},     {"disabled", false},  {"Disabled", false},
		     {"active", true}, {"on", true},         {"yes", true},
		     {"Y", true},      {"enabled", true},    {"Enabled", true}};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (!strcmp(text, words[i].text))
			return words[i].truth;
	return *text >= '1' && *text <= '9' ? 1 : -1;
}

void machine_put_fields(struct machine_writer *w, const struct machine_field *f, const char *folder, const char *object)
{
	char text[1024], path[256], key[72];
	int64_t n;

	for (; f->key; f++) {
		bool got = machine_field_text(w->of->root, f, folder, text, sizeof text);
		const char *why = got ? _("not a number") : errno ? root_error(errno) : _("not in it");
		if (got && f->is == FIELD_TEXT && !(f->personal && w->open))
			machine_put_text(w, f->key, text, f->most);
		else if (got && f->is == FIELD_TRUTH && (got = truth_of(text) >= 0))
			machine_put_truth(w, f->key, truth_of(text));
		else if (got && f->is == FIELD_NUMBER && (got = num_i64(text, text + strlen(text), &n)))
			machine_put_number(w, f->key, (double)n * f->scale);
		if (got || !object)
			continue;
		text_join(key, sizeof key, object, f->key);
		snprintf(path, sizeof path, "%s%s%.*s", folder, *folder ? "/" : "", (int)strcspn(f->file, " |"), f->file);
		machine_missing(w, key, path, why);
	}
}
