/* out: text and bytes to a stream, quickly, and what went wrong. */
#ifndef NVMTOP_REPORT_OUT_H
#define NVMTOP_REPORT_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct out {
	FILE *f;
	bool failed;
	int error; /* errno of the first failure */
	size_t used;
	char bytes[65536];
};

void out_init(struct out *o, FILE *f);
void out_flush(struct out *o);
void out_bytes(struct out *o, const void *p, size_t n);
void out_char(struct out *o, char c);
void out_text(struct out *o, const char *text);
void out_int(struct out *o, uint64_t v);
void out_num(struct out *o, double v);       /* exact; nothing for NaN */
void out_single(struct out *o, double v);    /* the same of a float: as that */
void out_seconds(struct out *o, int64_t ns); /* with nine decimals */
void out_json_num(struct out *o, double v);  /* null for what is no number */
void out_json_text(struct out *o, const char *text);
void out_json_member(struct out *o, const char *name, const char *text); /* behind others; null for "" */
void out_csv_text(struct out *o, const char *text);
void out_format(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
