/* From settings to text.  A file that a person has written stays theirs: only the
 * lines that set something are made anew, each in its place. */
#include <string.h>

#include "conf/words.h"

static const char head[] =
	"# nvmtop: what its screen looks like. What is chosen on the screen (F2 there) is\n"
	"# written here; comments, and lines that nvmtop does not know, stay as they are.\n";

static const char lists_about[] =
	"# Rows of a view: hidden; with so many lines; moved. Names as in nvmtop --once --json, such as\n"
	"# hide.overview = swap.used, fan.rpm\n"
	"# lines.overview = gpu.util 6, power.total 3\n"
	"# move.power = VDD_IN.power first, VDD_CPU_CV.power after VDD_IN.power\n";

struct writing {
	const struct settings *s;
	bool all;
	FILE *out;
	unsigned done; /* bits of the words that have their line */
	size_t n_lists;
	struct {
		enum conf_list list;
		char view[SETTINGS_VIEW];
	} lists[SETTINGS_CHARTS]; /* that have their line */
};

static void put_word(struct writing *w, size_t i)
{
	char value[VALUE_SIZE];

	conf_words(i)->give(w->s, value);
	fprintf(w->out, "%s = %s\n", conf_words(i)->key, value);
	w->done |= 1u << i;
}

static bool has(const struct chart_setting *c, enum conf_list list)
{
	return list == LIST_HIDE ? c->hidden : list == LIST_LINES ? c->lines > 0 : c->moved;
}

static void put_item(struct writing *w, enum conf_list list, const struct chart_setting *c)
{
	char name[WORD_SIZE], after[WORD_SIZE];

	conf_encode(name, c->name);
	conf_encode(after, c->after);
	fputs(name, w->out);
	if (list == LIST_LINES)
		fprintf(w->out, " %d", c->lines);
	else if (list == LIST_MOVE)
		fprintf(w->out, "%s%s", c->after[0] ? " after " : " first", after);
}

static bool listed(const struct writing *w, enum conf_list list, const char *view)
{
	for (size_t i = 0; i < w->n_lists; i++)
		if (w->lists[i].list == list && !strcmp(w->lists[i].view, view))
			return true;
	return false;
}

/* All of a view in one line; nothing where there is nothing. */
static void put_list(struct writing *w, enum conf_list list, const char *view)
{
	bool any = false;

	if (listed(w, list, view))
		return;
	for (size_t i = 0; i < w->s->n_charts; i++) {
		const struct chart_setting *c = &w->s->charts[i];

		if (strcmp(c->view, view) || !has(c, list))
			continue;
		if (any)
			fputs(", ", w->out);
		else
			fprintf(w->out, "%s.%s = ", conf_lists[list], view);
		put_item(w, list, c);
		any = true;
	}
	if (!any)
		return;
	fputc('\n', w->out);
	if (w->n_lists < SETTINGS_CHARTS) {
		w->lists[w->n_lists].list = list;
		strcpy(w->lists[w->n_lists++].view, view);
	}
}

static bool is_default(const struct settings *s, size_t i)
{
	char now[VALUE_SIZE], as[VALUE_SIZE];
	static const struct settings without = {.mouse = true};

	conf_words(i)->give(s, now);
	conf_words(i)->give(&without, as);
	return !strcmp(now, as);
}

/* A word of which there was none yet: behind the comment that shows it, "#theme = auto". */
static void put_shown(struct writing *w, const char *text, size_t n)
{
	struct conf_line l;

	if (n < 2 || *text != '#' || conf_line(&l, text + 1, n - 1) != LINE_SETS)
		return;
	for (size_t i = 0; conf_words(i); i++)
		if (!(w->done & 1u << i) && (w->all || !is_default(w->s, i)) &&
		    l.key_n == strlen(conf_words(i)->key) && !memcmp(l.key, conf_words(i)->key, l.key_n))
			put_word(w, i);
}

static bool sets_word(struct writing *w, const struct conf_line *l)
{
	for (size_t i = 0; conf_words(i); i++) {
		if (l->key_n != strlen(conf_words(i)->key) || memcmp(l->key, conf_words(i)->key, l->key_n))
			continue;
		if (!(w->done & 1u << i))
			put_word(w, i);
		return true;
	}
	return false;
}

/* Is a word set by a line further below?  Then it has its place there. */
static unsigned set_in(const char *text, size_t n)
{
	unsigned set = 0;

	for (const char *p = text, *end = text + n; p < end;) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t len = (size_t)((nl ? nl : end) - p);
		struct conf_line l;

		if (conf_line(&l, p, len) == LINE_SETS)
			for (size_t i = 0; conf_words(i); i++)
				if (l.key_n == strlen(conf_words(i)->key) &&
				    !memcmp(l.key, conf_words(i)->key, l.key_n))
					set |= 1u << i;
		p += len + (nl ? 1 : 0);
	}
	return set;
}

static void rewrite(struct writing *w, const char *text, size_t n)
{
	unsigned set = set_in(text, n);

	for (const char *p = text, *end = text + n; p < end;) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t len = (size_t)((nl ? nl : end) - p);
		enum conf_kind kind;
		char view[SETTINGS_VIEW];
		struct conf_line l;
		int list = -1;

		kind = conf_line(&l, p, len);
		if (kind == LINE_SETS)
			list = conf_list_of(l.key, l.key_n, view);
		if (list >= 0) {
			put_list(w, (enum conf_list)list, view);
		} else if (kind != LINE_SETS || !sets_word(w, &l)) {
			fwrite(p, 1, len, w->out);
			fputc('\n', w->out);
			if (kind == LINE_NOTHING) {
				unsigned done = w->done;

				w->done |= set;
				put_shown(w, p, len);
				w->done = done | (w->done & ~set);
			}
		}
		p += len + (nl ? 1 : 0);
	}
}

static void fresh(struct writing *w)
{
	fputs(head, w->out);
	for (size_t i = 0; conf_words(i); i++) {
		char value[VALUE_SIZE];

		fputs("\n# ", w->out);
		for (const char *p = conf_words(i)->about; *p; p++) {
			fputc(*p, w->out);
			if (*p == '\n')
				fputs("# ", w->out);
		}
		fputc('\n', w->out);
		if (w->all || !is_default(w->s, i)) {
			put_word(w, i);
			continue;
		}
		conf_words(i)->give(w->s, value);
		fprintf(w->out, "#%s = %s\n", conf_words(i)->key, value);
	}
	fprintf(w->out, "\n%s", lists_about);
}

int conf_write(const struct settings *s, const char *before, size_t n, bool all, FILE *out)
{
	struct writing w = {.s = s, .all = all, .out = out};

	if (before && n)
		rewrite(&w, before, n);
	else
		fresh(&w);
	for (size_t i = 0; conf_words(i); i++)
		if (!(w.done & 1u << i) && !is_default(s, i))
			put_word(&w, i);
	for (size_t i = 0; i < s->n_charts; i++)
		for (int list = 0; list < LISTS; list++)
			if (has(&s->charts[i], (enum conf_list)list))
				put_list(&w, (enum conf_list)list, s->charts[i].view);
	return ferror(out) ? -1 : 0;
}
