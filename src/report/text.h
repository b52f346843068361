/* text: what JSON and CSV consist of. */
#ifndef NVMTOP_REPORT_TEXT_H
#define NVMTOP_REPORT_TEXT_H

#include <stdint.h>
#include <stdio.h>

#define TEXT_BUFFER 65536 /* of a stream that gets billions of short numbers */

void put_num(FILE *f, double v);       /* exact; nothing for NaN */
void put_single(FILE *f, double v);    /* the same of a float: as that */
void put_seconds(FILE *f, int64_t ns); /* with nine decimals */
void put_json_num(FILE *f, double v);  /* null for what is no number */
void put_json_text(FILE *f, const char *text);
void put_json_string(FILE *f, const char *before, const char *text); /* both, the second as a string */
void put_json_member(FILE *f, const char *name, const char *text);   /* behind others; null for "" */
void put_csv_text(FILE *f, const char *text);

#endif
