/* files: the saved traces that can be opened from the screen, found while it goes on. */
#ifndef NVMTOP_APP_FILES_H
#define NVMTOP_APP_FILES_H

#include "util/err.h"
#include "ui/ui.h"

/* Zeroed: nothing has been read yet. */
struct files {
	struct ui_file *list; /* newest first; as far as it has been read */
	size_t n;
	uint64_t serial;  /* changes with the list */
	char at[128];     /* the file that is looked into, printable; "" between two */
	struct scan *scan; /* NULL: all has been read */
	int64_t since_ns;
};

/* Look for traces in a folder anew; what is still being looked for is not begun again. */
int files_read(struct files *f, const char *folder, struct err *e);
/* Take over what has been found, waiting for the end of it until then; true when the list
 * or what is told of it has changed. */
bool files_take(struct files *f, int64_t until_ns);
/* How long until it is worth to look again, in ms; -1: all has been read. */
int files_patience_ms(const struct files *f);
void files_free(struct files *f);

#endif
