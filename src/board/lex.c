/* Words are unquoted where they stand: the file's text is the memory of
 * everything that was parsed from it. */
#include <stdbool.h>
#include <string.h>

#include "board/lex.h"
#include "util/intl.h"

void lex_begin(struct lexer *l, const char *file, char *text, size_t len)
{
	if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
		text += 3;
		len -= 3;
	}
	*l = (struct lexer) {.file = file, .line = 1, .next_line = 1, .p = text, .end = text + len};
	*l->end = '\0';
}

static int complain(const struct lexer *l, struct err *e, const char *text)
{
	return err_set(e, ERR_FAILED, "%s:%u: %s", l->file, l->line, text);
}

/* Cut the next line off, up to *stop, and put blanks for what joins it to the
 * one behind.  NULL at the end of the file. */
static char *take_line(struct lexer *l, char **stop_out)
{
	char *start = l->p;

	if (l->p >= l->end)
		return NULL;
	l->line = l->next_line;
	for (;;) {
		char *nl = memchr(l->p, '\n', (size_t)(l->end - l->p));
		char *stop = nl ? nl : l->end;
		l->p = nl ? nl + 1 : l->end;
		l->next_line++;
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

/* Does the line contain a control byte? It ends at end, not at a NUL. */
static bool is_text(const char *p, const char *end)
{
	for (; p < end; p++)
		if (((unsigned char)*p < 0x20 && *p != '\t') || *p == 0x7f)
			return false;
	return true;
}

/* One word at *p, unquoted in place; *p moves behind it. */
static int take_word(struct lexer *l, char **p, struct word *w, struct err *e)
{
	char *from = *p, *to = *p;
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
		return complain(l, e, _("a quote (\") is not closed"));
	*p = from + (*from != '\0');
	*to = '\0';
	return 0;
}

/* What follows the lone '=': up to a comment, without the blanks around it. */
static char *take_expression(char *p)
{
	p += strspn(p, " \t");
	char *end = p + strcspn(p, "#");
	while (end > p && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*end = '\0';
	return p;
}

static int take_words(struct lexer *l, char *p, struct words *w, struct err *e)
{
	w->n = 0;
	w->expression = NULL;
	for (;;) {
		p += strspn(p, " \t");
		if (!*p || *p == '#')
			return 0;
		if (*p == '=') {
			w->expression = take_expression(p + 1);
			return *w->expression ? 0 : complain(l, e, _("nothing follows the ="));
		}
		if (w->n == WORDS_MAX)
			return complain(l, e, _("more than 64 words in one statement"));
		if (take_word(l, &p, &w->word[w->n++], e) < 0)
			return -1;
	}
}

int lex_next(struct lexer *l, struct words *w, struct err *e)
{
	char *line, *stop;

	while ((line = take_line(l, &stop))) {
		if (!is_text(line, stop))
			return complain(l, e, _("a control character; a board file is plain text"));
		if (take_words(l, line, w, e) < 0)
			return -1;
		if (w->n || w->expression)
			return 1;
	}
	return 0;
}
