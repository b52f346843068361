/* A buffer of its own, since an export is billions of short numbers. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "util/num.h"
#include "report/out.h"

void out_init(struct out *o, FILE *f)
{
	o->f = f;
	o->failed = false;
	o->used = 0;
}

static void write_out(struct out *o, const void *p, size_t n)
{
	if (n > 0 && !o->failed && fwrite(p, 1, n, o->f) != n) {
		o->failed = true;
		o->error = errno;
	}
}

void out_flush(struct out *o)
{
	write_out(o, o->bytes, o->used);
	o->used = 0;
}

void out_bytes(struct out *o, const void *p, size_t n)
{
	if (n > sizeof(o->bytes) - o->used)
		out_flush(o);
	if (n > sizeof(o->bytes)) {
		write_out(o, p, n);
		return;
	}
	memcpy(o->bytes + o->used, p, n);
	o->used += n;
}

void out_char(struct out *o, char c)
{
	if (o->used == sizeof(o->bytes))
		out_flush(o);
	o->bytes[o->used++] = c;
}

void out_text(struct out *o, const char *text)
{
	out_bytes(o, text, strlen(text));
}

void out_int(struct out *o, uint64_t v)
{
	char text[24];
	size_t n = sizeof(text);

	do
		text[--n] = (char)('0' + v % 10);
	while (v /= 10);
	out_bytes(o, text + n, sizeof(text) - n);
}

void out_num(struct out *o, double v)
{
	char text[NUM_TEXT];

	if (!isnan(v))
		out_bytes(o, text, num_text(text, v));
}

void out_single(struct out *o, double v)
{
	char text[NUM_TEXT];

	if (!isnan(v))
		out_bytes(o, text, num_text_single(text, v));
}

void out_seconds(struct out *o, int64_t ns)
{
	char text[NUM_TEXT];

	out_bytes(o, text, num_seconds(text, ns));
}

void out_json_num(struct out *o, double v)
{
	if (isfinite(v))
		out_num(o, v);
	else
		out_text(o, "null");
}

void out_json_text(struct out *o, const char *text)
{
	static const char hex[] = "0123456789abcdef";

	out_char(o, '"');
	for (const char *p = text; *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (c == '"' || c == '\\')
			out_char(o, '\\');
		if (c >= 0x20) {
			out_char(o, *p);
			continue;
		}
		out_text(o, "\\u00");
		out_char(o, hex[c >> 4]);
		out_char(o, hex[c & 15]);
	}
	out_char(o, '"');
}

void out_json_member(struct out *o, const char *name, const char *text)
{
	out_format(o, ",\"%s\":", name);
	if (*text)
		out_json_text(o, text);
	else
		out_text(o, "null");
}

void out_csv_text(struct out *o, const char *text)
{
	if (!text[strcspn(text, ",\"\r\n")]) {
		out_text(o, text);
		return;
	}
	out_char(o, '"');
	for (const char *p = text; *p; p++) {
		if (*p == '"')
			out_char(o, '"');
		out_char(o, *p);
	}
	out_char(o, '"');
}

void out_format(struct out *o, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	out_text(o, text);
}
