/* settings-file: nvmtop.conf, overridden by options, then changed on the screen. */
#ifndef NVMTOP_APP_SETTINGS_FILE_H
#define NVMTOP_APP_SETTINGS_FILE_H

#include <limits.h>
#include <stdio.h>

#include "app/app.h"
#include "ui/settings.h"

#define CONF_MOST 65536 /* largest settings file, bytes */

/* tell (may be NULL) is called with a sentence for each invalid line, counted from 1; view(i) returns the
 * names of the views, then NULL. If view is NULL, any name is valid. */
struct conf_reader {
	void (*tell)(void *to, unsigned line, const char *text);
	void *to;
	const char *(*view)(size_t i);
};

/* The names of all themes, each with every ground; NULL ends the list. */
extern const char *const conf_themes[];
/* Parses "auto", "light", "high-contrast-dark", ... Returns false for an unknown theme. */
bool conf_theme(const char *text, enum theme *theme, enum ground *ground);
const char *conf_theme_name(enum theme theme, enum ground ground);

/* Parses "auto" (0 and 0), "64M", "1h". Returns false unless it is a size with a unit, 4 MiB to 64 GiB,
 * or a time from 10 s to 7 days. */
bool conf_history(const char *text, int64_t *ns);

/* Applies n bytes of text to *s; other settings are unchanged. Rows of an unknown view are reported and
 * kept, since another version may know it. */
void conf_read(struct settings *s, const char *text, size_t n, const struct conf_reader *who);
/* Writes *s as text; a setting with its default value is a comment. Returns -1 if writing failed. */
int conf_write(const struct settings *s, FILE *out);
/* Sets the settings in *now that are unchanged since *begun to the values of *kept. */
void conf_merge(struct settings *now, const struct settings *begun, const struct settings *kept);

/* Stores $XDG_CONFIG_HOME/nvmtop/nvmtop.conf, or the same in ~/.config. Returns -1 if neither variable is
 * set. */
int conf_path(char *out, size_t size);
/* Read and write a settings file. A missing file is an error only with must. Saving creates folders,
 * replaces the file atomically and follows symbolic links. */
int conf_load(const char *path, bool must, struct settings *s, const struct conf_reader *who, struct err *e);
int conf_save(const char *path, const struct settings *s, struct err *e);

struct app_settings {
	struct settings kept;  /* as in the file */
	struct settings begun; /* overridden by the command line */
	char path[PATH_MAX];   /* "": no file is read or written */
	char trouble[256];     /* the first invalid line, or "" */

	struct settings now; /* with changes made on the screen */
	int64_t due_ns;      /* time of the next save; 0: nothing to save */
	struct save *save;   /* running, or NULL */
	struct err err;      /* of the last save; ERR_NONE: it succeeded */
	bool reported;       /* the last failure was reported */
};

/* tell as in struct conf_reader, with c; if it is NULL, c->trouble gets the first invalid line. */
int app_settings_load(struct app_settings *c, const struct options *o,
		      void (*tell)(void *c, unsigned line, const char *text), struct err *e);
/* Fills in the options of the screen and of the terminal. */
void app_settings_options(const struct app_settings *c, const struct options *o, struct ui_options *ui,
			  struct term_options *term);

/* Copies *now, and soon saves what has changed since the start. Does not block. */
void app_settings_changed(struct app_settings *c, const struct settings *now);
/* Saves if it is time. Returns true once after a failure, with the reason in *e. */
bool app_settings_failed(struct app_settings *c, struct err *e);
/* Milliseconds until app_settings_failed() must be called; -1: not needed. */
int app_settings_patience_ms(const struct app_settings *c);
/* Waits until everything is written. Returns -1 with *e if that failed. */
int app_settings_end(struct app_settings *c, struct err *e);

#endif
