/* conf: settings in a file that people read and write, too. */
#ifndef NVMTOP_APP_SETTINGS_FILE_H
#define NVMTOP_APP_SETTINGS_FILE_H

#include <stdio.h>

#include "util/err.h"
#include "ui/settings.h"

/* Who reads: tell is NULL or is called with what cannot be read in line `line` (from 1), in
 * a sentence; view(i) are the names of the views, up to a NULL.  view NULL: any may be one. */
struct conf_reader {
	void (*tell)(void *to, unsigned line, const char *text);
	void *to;
	const char *(*view)(size_t i);
};

/* "auto", "light", "high-contrast-dark", ...  False: there is no such theme. */
bool conf_theme(const char *text, enum theme *theme, enum ground *ground);
const char *conf_theme_name(enum theme theme, enum ground ground);

/* "auto" (0 and 0), "64M", "1h".  False: it is neither a size from 4 MiB to 64 GiB, with a
 * letter, nor a time from 10 s to 7 days. */
bool conf_history(const char *text, uint64_t *bytes, int64_t *span_ns);

/* Change *s by what the text (n bytes of anything) says; the rest stays as it is.  What
 * is said of a view that there is not is told, and kept: another version may have it. */
void conf_read(struct settings *s, const char *text, size_t n, const struct conf_reader *who);

/* The text that gives *s when it is read.  all: settings that have their default, too.
 * -1: the stream failed. */
int conf_write(const struct settings *s, bool all, FILE *out);

/* $XDG_CONFIG_HOME/nvmtop/nvmtop.conf, or in ~/.config.  -1: there is no such place. */
int conf_path(char *out, size_t size);

/* The same from and to a file.  Where there is none nothing is read, and that is no error
 * unless it must exist; folders are made.  A file is replaced as a whole or not at all, a link
 * to it stays. */
int conf_load(const char *path, bool must, struct settings *s, const struct conf_reader *who, struct err *e);
int conf_save(const char *path, const struct settings *s, struct err *e);
/* Would it work?  -1 with the sentence. */
int conf_may_save(const char *path, struct err *e);

#endif
