/* Formats tables as text or Markdown. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/num.h"
#include "report/analysis.h"

size_t text_cells(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xC0) != 0x80;
	return n;
}

static const char *skip_cells(const char *text, size_t n)
{
	for (; n > 0 && *text; n--)
		do
			text++;
		while (((unsigned char)*text & 0xC0) == 0x80);
	return text;
}

static size_t tail_of(size_t room)
{
	return room > 12 ? 8 : room / 2;
}

/* Shortens a long text in the middle: names differ at both ends. */
static void cut_text(FILE *o, const char *text, size_t width)
{
	size_t w = text_cells(text), tail = tail_of(width);
	const char *end;

	if (w <= width) {
		fputs(text, o);
		return;
	}
	end = skip_cells(text, width - tail - 1);
	fwrite(text, 1, (size_t)(end - text), o);
	putc('~', o);
	fputs(skip_cells(text, w - tail), o);
}

/* Are two names equal after being shortened to that width? */
static bool look_same(const char *a, const char *b, size_t room)
{
	size_t tail = tail_of(room), wa = text_cells(a), wb = text_cells(b), head;

	if (wa <= room || wb <= room || !strcmp(a, b))
		return false;
	head = (size_t)(skip_cells(a, room - tail - 1) - a);
	return !strncmp(a, b, head) && !strcmp(skip_cells(a, wa - tail), skip_cells(b, wb - tail));
}

int names_room(const char *const *names, size_t n, int least)
{
	size_t room = (size_t)least;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			while (look_same(names[i], names[j], room))
				room++;
	return (int)room;
}

#define ROOM_LEAST 20
#define ROOM_MOST  48

int room_with(int room, const char *text)
{
	int wide = (int)text_cells(text);

	wide = wide < ROOM_LEAST ? ROOM_LEAST : wide > ROOM_MOST ? ROOM_MOST : wide;
	return room > wide ? room : wide;
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
	size_t owed = 0; /* blanks are written only if something follows */

	for (size_t i = 0; i < t->n; i++) {
		size_t room = (size_t)abs(t->wide[i]), w = text_cells(cells[i]),
		       blanks = w < room ? room - w : 0;

		if (t->page->markdown) {
			markdown_cell(o, cells[i]);
			continue;
		}
		owed += (i > 0) + (t->wide[i] > 0 ? blanks : 0);
		if (w > 0) {
			fprintf(o, "%*s", (int)owed, "");
			owed = 0;
		}
		cut_text(o, cells[i], t->wide[i] < 0 ? room : w);
		owed += t->wide[i] < 0 ? blanks : 0;
	}
	fputs(t->page->markdown ? "|\n" : "\n", o);
}

static void row_end(struct table *t)
{
	const char *cells[TABLE_MOST];

	if (t->rows++ == 0) {
		line(t, t->head);
		for (size_t i = 0; t->page->markdown && i < t->n; i++)
			fputs(t->wide[i] < 0 ? "|---" : "|--:", t->page->f);
		fputs(t->page->markdown ? "|\n" : "", t->page->f);
	}
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
