/* Names that change with every product and release, and are therefore text files beside the boards: "KEY
 * VALUE" a line, # begins a comment. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board/parsed.h"

#define TABLE_MAX (64 * 1024)
#define BLANKS    " \t\r"

/* The value of key in a table's text. */
static bool look_up(const char *text, const char *key, size_t key_len, char *out, size_t size)
{
	for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n') {
		p += strspn(p, BLANKS);
		size_t len = strcspn(p, BLANKS "\n");
		if (*p == '#' || len != key_len || memcmp(p, key, len) != 0)
			continue;
		p += len;
		p += strspn(p, BLANKS);
		len = strcspn(p, "\r\n");
		text_printable(out, size, p, len);
		return *out;
	}
	return false;
}

/* The whole of one of the installed text files, or NULL; to be freed. */
static char *load(const char *name)
{
	char path[512];

	if (!board_find_file(name, path, sizeof path))
		return NULL;
	FILE *f = fopen(path, "re");
	char *text = f ? malloc(TABLE_MAX) : NULL;
	if (text)
		text[fread(text, 1, TABLE_MAX - 1, f)] = '\0';
	if (f)
		fclose(f);
	return text;
}

/* "36.4.7": the whole of it, then "36.4", then "36". */
bool table_jetpack(const char *release, char *out, size_t size)
{
	char *text = load("jetpack.txt");
	size_t len = strspn(release, "0123456789.");
	bool found = false;

	while (text && len && !(found = look_up(text, release, len, out, size)))
		while (len && release[--len] != '.')
			;
	free(text);
	return found;
}

/* "p3701-0000" of what stands in front of a blank, -super or -b00. */
static size_t number_length(const char *p, size_t len)
{
	if (len < 10 || p[5] != '-' || (len > 10 && p[10] != '-'))
		return 0;
	return strspn(p + 1, "0123456789") == 4 && strspn(p + 6, "0123456789") >= 4 ? 10 : 0;
}

/* Whole entries of every length first, because "...-as-..." is more specific than the number in it; then
 * the number of the module behind the carrier's. */
bool table_module(const char *compatible, size_t size_in, char *out, size_t size)
{
	static const char vendor[] = "nvidia,";
	const size_t head = sizeof vendor - 1;
	char *text = load("modules.txt");
	bool found = false;

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; text && !found && i < size_in; i += strlen(compatible + i) + 1) {
			const char *p = compatible + i;
			if (strncmp(p, vendor, head) != 0)
				continue;
			p += head;
			size_t len = strlen(p);
			const char *plus = strrchr(p, '+');
			if (pass == 1) {
				len -= plus ? (size_t)(plus + 1 - p) : 0;
				p = plus ? plus + 1 : p;
				len = number_length(p, len);
			}
			found = len && look_up(text, p, len, out, size);
		}
	free(text);
	return found;
}
