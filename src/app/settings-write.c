/* The file is written whole, from the table: comments of its own are not kept. */
#include <string.h>

#include "app/settings-words.h"

static const char head[] = "# nvmtop: settings of the screen (F2 there). nvmtop writes this file whole: only the\n"
			   "# values of its settings are kept.\n";

static const char lists_about[] =
	"# Rows of a view: hidden; with so many lines; moved. Names as in nvmtop once --json, such as\n"
	"# hide.overview = swap.used, fan.rpm\n"
	"# lines.overview = gpu.util 6, power.total 3\n"
	"# move.power = VDD_IN.power first, VDD_CPU_CV.power after VDD_IN.power\n";

static bool has(const struct chart_setting *c, enum conf_list list)
{
	return list == LIST_HIDE ? c->hidden : list == LIST_LINES ? c->lines > 0 : c->moved;
}

static void put_item(FILE *out, enum conf_list list, const struct chart_setting *c)
{
	char name[WORD_SIZE], after[WORD_SIZE];

	conf_encode(name, c->name);
	conf_encode(after, c->after);
	fputs(name, out);
	if (list == LIST_LINES)
		fprintf(out, " %d", c->lines);
	else if (list == LIST_MOVE)
		fprintf(out, "%s%s", c->after[0] ? " after " : " first", after);
}

/* One line for all rows of a view, written at its first row. */
static void put_list(FILE *out, const struct settings *s, enum conf_list list, size_t i)
{
	const char *view = s->charts[i].view;

	for (size_t k = 0; k < i; k++)
		if (has(&s->charts[k], list) && !strcmp(s->charts[k].view, view))
			return;
	fprintf(out, "%s.%s = ", conf_lists[list], view);
	for (size_t k = i; k < s->n_charts; k++) {
		if (!has(&s->charts[k], list) || strcmp(s->charts[k].view, view))
			continue;
		if (k > i)
			fputs(", ", out);
		put_item(out, list, &s->charts[k]);
	}
	fputc('\n', out);
}

static void put_word(FILE *out, const struct settings *s, const struct conf_word *w, bool all)
{
	static const struct settings without = SETTINGS_DEFAULT;
	char value[VALUE_SIZE], usual[VALUE_SIZE];

	w->give(s, value);
	w->give(&without, usual);
	fputs("\n# ", out);
	for (const char *p = w->about; *p; p++) {
		fputc(*p, out);
		if (*p == '\n')
			fputs("# ", out);
	}
	fprintf(out, "\n%s%s = %s\n", !all && !strcmp(value, usual) ? "#" : "", w->key, value);
}

int conf_write(const struct settings *s, bool all, FILE *out)
{
	fputs(head, out);
	for (size_t i = 0; conf_words(i); i++)
		put_word(out, s, conf_words(i), all);
	fprintf(out, "\n%s", lists_about);
	for (size_t i = 0; i < s->n_charts; i++)
		for (int list = 0; list < LISTS; list++)
			if (has(&s->charts[i], (enum conf_list)list))
				put_list(out, s, (enum conf_list)list, i);
	return ferror(out) ? -1 : 0;
}
