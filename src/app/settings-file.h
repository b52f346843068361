/* settings-file: nvmtop.conf, overridden by options, then changed on the screen. */
#ifndef NVMTOP_APP_SETTINGS_FILE_H
#define NVMTOP_APP_SETTINGS_FILE_H

#include <limits.h>
#include <stdio.h>

#include "app/app.h"
#include "ui/settings.h"

#define CONF_MOST 65536 /* largest settings file, bytes */

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
/* Give *now the values of *kept for what is as it was in *begun. */
void conf_merge(struct settings *now, const struct settings *begun, const struct settings *kept);

/* $XDG_CONFIG_HOME/nvmtop/nvmtop.conf, or in ~/.config.  -1: neither variable is set. */
int conf_path(char *out, size_t size);
/* Read and write a file.  A missing file is an error only with must.  Saving makes
 * folders, replaces the file as a whole or not at all, and follows a symbolic link. */
int conf_load(const char *path, bool must, struct settings *s, const struct conf_reader *who, struct err *e);
int conf_save(const char *path, const struct settings *s, struct err *e);

struct app_settings {
	struct settings kept;  /* as the file has them */
	struct settings begun; /* with the command line */
	char path[PATH_MAX];   /* "": none is read or written */
	char trouble[256];     /* the first line that cannot be read, or "" */

	struct settings now; /* with what was changed on the screen */
	int64_t due_ns;      /* when to save them; 0: nothing to save */
	struct save *save;   /* running, or NULL */
	struct err err;      /* of the last save; ERR_NONE: it succeeded */
	bool reported;       /* that one failed */
};

/* tell as in struct conf_reader, with c; NULL: c->trouble gets the first bad line. */
int app_settings_load(struct app_settings *c, const struct options *o,
		      void (*tell)(void *c, unsigned line, const char *text), struct err *e);
/* Fill in the options of the screen and of the terminal. */
void app_settings_options(const struct app_settings *c, const struct options *o, struct ui_options *ui,
			  struct term_options *term);

/* Copies *now, and saves soon what was changed since the start.  Does not block. */
void app_settings_changed(struct app_settings *c, const struct settings *now);
/* Saves when it is time.  True the first time that it failed, with the reason in *e. */
bool app_settings_failed(struct app_settings *c, struct err *e);
/* Milliseconds until that must be called; -1: not needed. */
int app_settings_patience_ms(const struct app_settings *c);
/* Waits until everything is written.  -1: failed. */
int app_settings_end(struct app_settings *c, struct err *e);

#endif
