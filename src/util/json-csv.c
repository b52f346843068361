/* Numbers and names in JSON and CSV: exact, and the same in every locale. */
#include <math.h>
#include <string.h>

#include "util/num.h"
#include "util/json-csv.h"

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

static void put_json_text(FILE *f, const char *text)
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

static void indent(const struct record *r)
{
	if (r->indented && r->depth > 0)
		fprintf(r->f, "\n%*s", 2 * r->depth, "");
}

void record_key(struct record *r, const char *name)
{
	if (r->comma)
		putc(',', r->f);
	r->comma = true;
	indent(r);
	if (r->as == AS_HEAD) {
		fputs(name, r->f);
	} else if (r->as == AS_JSON && name) {
		put_json_text(r->f, name);
		fputs(r->indented ? ": " : ":", r->f);
	}
}

static void put_value(FILE *f, const struct value *v, bool json)
{
	if (v->is == A_NUMBER)
		json ? put_json_num(f, v->v) : put_num(f, v->v);
	else if (v->is == A_COUNT)
		fprintf(f, "%lld", (long long)v->n);
	else if (v->is == A_TIME)
		put_seconds(f, v->n);
	else if (v->is == A_TRUTH)
		fputs(v->n ? "true" : "false", f);
	else if (!json)
		put_csv_text(f, v->text);
	else if (v->is == A_LABEL && !*v->text)
		fputs("null", f);
	else
		put_json_text(f, v->text ? v->text : "");
}

void record_put(struct record *r, const struct value *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!(list[i].in & (r->as == AS_JSON ? IN_JSON : IN_CSV)))
			continue;
		record_key(r, list[i].name);
		if (r->as != AS_HEAD)
			put_value(r->f, &list[i], r->as == AS_JSON);
	}
}

void record_line(struct record *r)
{
	if (r->as == AS_JSON)
		fputs(r->comma ? ",\n" : "", r->f);
	else
		putc('\n', r->f);
	r->comma = false;
}

void json_open(struct record *r, const char *name, char bracket)
{
	record_key(r, name);
	putc(bracket, r->f);
	r->comma = false;
	r->depth++;
}

void json_close(struct record *r, const char *brackets)
{
	for (; *brackets; brackets++) {
		r->depth--;
		if (r->comma && r->indented)
			fprintf(r->f, "\n%*s", 2 * r->depth, "");
		putc(*brackets, r->f);
		r->comma = true;
	}
}
