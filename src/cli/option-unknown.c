/* The message for an unknown option: what was probably meant. */
#include <stdio.h>
#include <string.h>

#include "cli/verb.h"
#include "util/intl.h"

#define LONGEST 40 /* longer ones are like no option */
#define FAR  3  /* so many changes, and it is another word */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* How many letters are to be changed, added, taken out or exchanged with the next. */
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

/* Is that the start of the option's name? */
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

int option_unknown(struct err *e, const struct option_list *l, const char *word)
{
	size_t dashes = strspn(word, "-"), length, like = 0, best = FAR;
	const char *near = NULL, *shown = shown_word(word);

	word += dashes;
	length = strcspn(word, "=");
	for (size_t i = 0; i < l->n; i++) {
		size_t far = changes(word, length, l->at[i]->name);

		like += begins(l->at[i], word, length);
		if (far < best && far < length) {
			best = far;
			near = l->at[i]->name;
		}
	}
	if (dashes == 2 && (best == 0 || like == 1))
		return err_set(e, ERR_USAGE, _("\"%s\" takes no value"), shown);
	if (dashes == 2 && like > 1)
		return several(e, l, word, length, shown);
	if (near)
		return err_set(e, ERR_USAGE, _("\"%s\" is not an option; did you mean --%s?"), shown, near);
	return err_set(e, ERR_USAGE, _("\"%s\" is not an option"), shown);
}
