/* settings-file: settings as a text file. */
#ifndef NVMTOP_APP_SETTINGS_FILE_H
#define NVMTOP_APP_SETTINGS_FILE_H

#include <stdio.h>

#include "util/err.h"
#include "ui/settings.h"

/* tell (may be NULL) gets a sentence about each bad line, counted from 1; view(i) are the
 * names of the views, up to NULL.  view NULL: any name is valid. */
struct conf_reader {
	void (*tell)(void *to, unsigned line, const char *text);
	void *to;
	const char *(*view)(size_t i);
};

/* "auto", "light", "high-contrast-dark", ...  False: unknown theme. */
bool conf_theme(const char *text, enum theme *theme, enum ground *ground);
const char *conf_theme_name(enum theme theme, enum ground ground);

/* "auto" (0 and 0), "64M", "1h".  False: neither a size with a unit from 4 MiB to 64 GiB nor
 * a time from 10 s to 7 days. */
bool conf_history(const char *text, uint64_t *bytes, int64_t *span_ns);

/* Apply the n bytes of text to *s; other settings stay.  Rows of an unknown view are
 * reported and kept, since another version may know it. */
void conf_read(struct settings *s, const char *text, size_t n, const struct conf_reader *who);

/* Write *s as text.  all: also settings with their default.  -1: the stream failed. */
int conf_write(const struct settings *s, bool all, FILE *out);

/* $XDG_CONFIG_HOME/nvmtop/nvmtop.conf, or in ~/.config.  -1: neither variable is set. */
int conf_path(char *out, size_t size);

/* The same from and to a file.  A missing file is an error only with must.  Saving makes
 * folders, replaces the file as a whole or not at all, and follows a symbolic link. */
int conf_load(const char *path, bool must, struct settings *s, const struct conf_reader *who, struct err *e);
int conf_save(const char *path, const struct settings *s, struct err *e);
/* Check that saving would work: 0, or -1 with *e. */
int conf_may_save(const char *path, struct err *e);

#endif
