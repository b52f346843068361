/* label-input: reads the label of a mark on the progress line. */
#ifndef NVMTOP_APP_LABEL_INPUT_H
#define NVMTOP_APP_LABEL_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/marks.h"

struct label {
	bool open;
	int64_t t_ns; /* time of the mark: when its key was pressed */
	char text[MARK_LABEL];
};

void label_begin(struct label *l, int64_t t_ns);
/* Handles a key of ttykeys_next(). Returns true if the mark is to be set now; l->open is true while input
 * continues. */
bool label_take(struct label *l, int key);
/* Formats the line in at most `columns` columns; returns the columns used. */
int label_show(const struct label *l, char *out, size_t size, int columns);

#endif
