/* Numbers and names as JSON and CSV have them: exact, and the same in every locale. */
#include <math.h>
#include <string.h>

#include "util/num.h"
#include "report/text.h"

void put_num(FILE *f, double v)
{
	char text[NUM_TEXT];

	if (!isnan(v))
		fwrite(text, 1, num_text(text, v), f);
}

void put_single(FILE *f, double v)
{
	char text[NUM_TEXT];

	if (!isnan(v))
		fwrite(text, 1, num_text_single(text, v), f);
}

void put_seconds(FILE *f, int64_t ns)
{
	char text[NUM_TEXT];

	fwrite(text, 1, num_seconds(text, ns), f);
}

void put_json_num(FILE *f, double v)
{
	if (isfinite(v))
		put_num(f, v);
	else
		fputs("null", f);
}

void put_json_text(FILE *f, const char *text)
{
	putc('"', f);
	while (*text) {
		size_t plain = 0;

		while ((unsigned char)text[plain] >= 0x20 && text[plain] != '"' && text[plain] != '\\')
			plain++;
		fwrite(text, 1, plain, f);
		text += plain;
		if (*text) {
			fprintf(f, (unsigned char)*text < 0x20 ? "\\u%04x" : "\\%c", *text);
			text++;
		}
	}
	putc('"', f);
}

void put_json_string(FILE *f, const char *before, const char *text)
{
	fputs(before, f);
	put_json_text(f, text);
}

void put_json_member(FILE *f, const char *name, const char *text)
{
	fprintf(f, ",\"%s\":", name);
	if (*text)
		put_json_text(f, text);
	else
		fputs("null", f);
}

void put_csv_text(FILE *f, const char *text)
{
	if (!text[strcspn(text, ",\"\r\n")]) {
		fputs(text, f);
		return;
	}
	putc('"', f);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', f);
		putc(*text, f);
	}
	putc('"', f);
}
