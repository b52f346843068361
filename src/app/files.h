/* files: list of the traces in a folder, read in the background. */
#ifndef NVMTOP_APP_FILES_H
#define NVMTOP_APP_FILES_H

#include "util/err.h"
#include "ui/ui.h"

/* All zero: nothing read yet. */
struct files {
	struct ui_file *list; /* newest first; may be incomplete */
	size_t n;
	uint64_t serial;  /* changes with the list */
	char at[128];     /* the file being read, printable, or "" */
	struct scan *scan; /* NULL: complete */
};

/* Read the folder again, unless that is still running. */
int files_read(struct files *f, const char *folder, struct err *e);
/* Update the list, waiting for its end until then; true if something changed. */
bool files_take(struct files *f, int64_t until_ns);
/* Milliseconds until the next files_update(); -1: complete. */
int files_patience_ms(const struct files *f);
void files_free(struct files *f);

#endif
