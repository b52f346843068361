/* Formats tables as text or Markdown. */
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>

#include "util/num.h"
#include "util/text.h"
#include "report/analysis.h"

#define ROOM_LEAST 20 /* of the names in the first column, if the terminal has no room for whole ones */
#define ROOM_GOOD  40 /* for which columns are left out */

int room_with(int room, const char *text)
{
	int wide = text_width(text);

	return room > wide ? room : wide;
}

/* Shortens a text in the middle: names differ at both ends. Only for a terminal. */
static void shorten(char *text, int room)
{
	const char *head = text, *next = text;
	const char *more = strcmp(nl_langinfo(CODESET), "UTF-8") ? "~" : "\u2026";
	mbstate_t state = {0};
	int wide = text_width(text), used = 0, width;
	char out[CELL_TEXT];
	wchar_t ch;

	if (wide <= room)
		return;
	for (; text_next(&next, &state, &ch, &width); used += width) {
		if (used + width <= room - room / 3 - 1)
			head = next;
		if (wide - used - width <= room / 3)
			break;
	}
	snprintf(out, sizeof(out), "%.*s%s%s", (int)(head - text), text, more, next);
	strcpy(text, out);
}

/* Decides which columns a terminal has room for, and how wide the first one is. */
static void columns_fit(struct table *t)
{
	int columns = t->page->columns, room = abs(t->wide[0]), rest = (int)t->n - 1;

	for (size_t i = 1; i < t->n; i++)
		rest += abs(t->wide[i]);
	if (!columns || t->page->markdown)
		return;
	for (size_t i = t->n; --i > 0 && rest + (room < ROOM_GOOD ? room : ROOM_GOOD) > columns;)
		if (t->spare & 1u << i) {
			rest -= abs(t->wide[i]) + 1;
			t->left_out |= 1u << i;
		}
	if (rest + room > columns)
		room = columns - rest > ROOM_LEAST ? columns - rest : ROOM_LEAST;
	t->wide[0] = -room;
}

static void markdown_cell(FILE *o, const char *text)
{
	fputs("| ", o);
	for (; *text; text++) {
		if (strchr("|\\*_`<", *text))
			putc('\\', o);
		putc(*text, o);
	}
	putc(' ', o);
}

static void line(const struct table *t, const char *const *cells)
{
	FILE *o = t->page->f;
	int owed = 0; /* blanks are written only if something follows */

	for (size_t i = 0; i < t->n; i++) {
		int room = abs(t->wide[i]), w = text_width(cells[i]), blanks = w < room ? room - w : 0;

		if (t->left_out & 1u << i)
			continue;
		if (t->page->markdown) {
			markdown_cell(o, cells[i]);
			continue;
		}
		owed += (i > 0) + (t->wide[i] > 0 ? blanks : 0);
		if (w > 0) {
			fprintf(o, "%*s%s", owed, "", cells[i]);
			owed = 0;
		}
		owed += t->wide[i] < 0 ? blanks : 0;
	}
	fputs(t->page->markdown ? "|\n" : "\n", o);
}

static void row_end(struct table *t)
{
	const char *cells[TABLE_MOST];

	if (t->rows++ == 0) {
		columns_fit(t);
		line(t, t->head);
		for (size_t i = 0; t->page->markdown && i < t->n; i++)
			fputs(t->wide[i] < 0 ? "|---" : "|--:", t->page->f);
		fputs(t->page->markdown ? "|\n" : "", t->page->f);
	}
	if (t->page->columns && !t->page->markdown)
		shorten(t->cell[0], abs(t->wide[0]));
	for (size_t i = 0; i < t->n; i++)
		cells[i] = t->cell[i];
	line(t, cells);
	t->filled = 0;
}

void cell_text(struct table *t, const char *text)
{
	snprintf(t->cell[t->filled], sizeof(t->cell[0]), "%s", text);
	if (++t->filled == t->n)
		row_end(t);
}

void cell_shown(struct table *t, double v, double largest)
{
	char text[NUM_TEXT];

	shown_text(text, v, largest);
	cell_text(t, text);
}

void cell_if(struct table *t, bool known, double v, double largest)
{
	if (known)
		cell_shown(t, v, largest);
	else
		cell_text(t, "");
}

void cell_signed(struct table *t, double v, double largest)
{
	char text[SIGNED_TEXT];

	signed_text(text, v, largest);
	cell_text(t, text);
}

void cell_fixed(struct table *t, double v, int decimals)
{
	char text[NUM_TEXT];

	num_fixed(text, v, decimals);
	cell_text(t, text);
}
