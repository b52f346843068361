/* label-input: the label of a mark, typed on the progress line. */
#ifndef NVMTOP_APP_LABEL_INPUT_H
#define NVMTOP_APP_LABEL_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/marks.h"

struct label {
	bool open;
	int64_t t_ns; /* time of the mark: when the key was pressed */
	char text[MARK_LABEL];
};

void label_begin(struct label *l, int64_t t_ns);
/* Handle a key of ttykeys_next(). True: set the mark now; otherwise l->open tells whether input continues. */
bool label_take(struct label *l, int key);
/* Format the line in at most so many columns; returns the columns used. */
int label_show(const struct label *l, char *out, size_t size, int columns);

#endif
