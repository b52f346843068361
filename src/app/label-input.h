/* label: the name of a mark, typed on the line of progress. */
#ifndef NVMTOP_APP_LABEL_INPUT_H
#define NVMTOP_APP_LABEL_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/marks.h"

struct label {
	bool open;
	int64_t t_ns; /* when it was asked for: the time of the mark */
	char text[MARK_LABEL];
};

void label_begin(struct label *l, int64_t t_ns);
/* A key as ttykeys_next() gave it.  True: the mark is to be set now; otherwise
 * l->open says whether more is to come. */
bool label_take(struct label *l, int key);
/* What stands on the line, at most so many columns; returns the columns. */
int label_show(const struct label *l, char *out, size_t size, int columns);

#endif
