/* json-csv: numbers and names in JSON and CSV. */
#ifndef NVMTOP_UTIL_JSON_CSV_H
#define NVMTOP_UTIL_JSON_CSV_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define TEXT_BUFFER 65536 /* for a stream with billions of short numbers */

void put_num(FILE *f, double v);       /* exact; nothing for NaN */
void put_single(FILE *f, double v);    /* the same for the value of a float */
void put_seconds(FILE *f, int64_t ns); /* with nine decimals */
void put_json_num(FILE *f, double v);  /* null for NaN and infinity */
void put_csv_text(FILE *f, const char *text);

#define IN_CSV  1
#define IN_JSON 2
#define IN_BOTH 3
#define CSV_AND(json) (IN_CSV + ((json) ? IN_JSON : 0))

/* Named values: members of JSON, cells of CSV, or only the names, for the CSV header. */
struct value {
	const char *name; /* NULL: an element of an array */
	int in;
	enum { A_NUMBER, A_COUNT, A_TIME, A_TEXT, A_LABEL, A_TRUTH } is;
	double v; /* NaN: null, or empty */
	int64_t n; /* for a time: in ns, written in seconds */
	const char *text; /* for a label: "" is null */
};
#define NUMBER_OF(x) A_NUMBER, .v = (x)
#define COUNT_OF(x) A_COUNT, .n = (int64_t)(x)
#define TIME_OF(x) A_TIME, .n = (x)
#define TEXT_OF(x) A_TEXT, .text = (x)
#define LABEL_OF(x) A_LABEL, .text = (x)
#define TRUTH_OF(x) A_TRUTH, .n = (x)

struct record {
	FILE *f;
	enum { AS_JSON, AS_CSV, AS_HEAD } as;
	bool comma; /* needed before the next value */
	bool indented; /* JSON with one value per line */
	int depth;     /* its nesting depth */
};
void record_put(struct record *r, const struct value *list, size_t n);
#define PUT(r, ...)                                                                                          \
	record_put(r, (const struct value[]) {__VA_ARGS__},                                                  \
		   sizeof((const struct value[]) {__VA_ARGS__}) / sizeof(struct value))
void record_key(struct record *r, const char *name); /* to be followed by a value */
void record_line(struct record *r); /* ends the line; in JSON, unless it is empty */
void json_open(struct record *r, const char *name, char bracket);
void json_close(struct record *r, const char *brackets);

#endif
