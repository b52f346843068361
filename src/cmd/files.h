/* files: the saved traces that can be opened from the screen. */
#ifndef NVMTOP_FILES_H
#define NVMTOP_FILES_H

#include "nvmtop/ui.h"

struct files {
	struct ui_file *list;
	size_t n;
};

/* Look for traces in a folder, newest first; replaces what was in f. */
void files_scan(struct files *f, const char *folder);
void files_free(struct files *f);

#endif
