/* The file is replaced by rename(), so that a full disk or a power loss leaves the old one. A disk may
 * take seconds to write, and keys must not wait for it: a job writes the settings soon after a change, so
 * that a crash loses none. A command-line option overrides a setting for one run: it is saved only if the
 * same setting is changed on the screen. */
#include "app/settings-file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/intl.h"
#include "util/io.h"
#include "util/job.h"
#include "util/replace.h"

#define AFTER_NS (300 * NS_PER_MS) /* delay from a change to the save */

struct save {
	struct job job;
	struct settings settings;
	int rc;
	struct err err;
	char path[PATH_MAX];
};

int conf_path(char *out, size_t size)
{
	const char *home = getenv("HOME"), *xdg = getenv("XDG_CONFIG_HOME");
	int n;

	/* XDG specification: relative paths are ignored. */
	if (xdg && *xdg == '/')
		n = snprintf(out, size, "%s/nvmtop/nvmtop.conf", xdg);
	else if (home && *home == '/')
		n = snprintf(out, size, "%s/.config/nvmtop/nvmtop.conf", home);
	else
		return -1;
	return n < 0 || (size_t)n >= size ? -1 : 0;
}

int conf_load(const char *path, bool must, struct settings *s, const struct conf_reader *who, struct err *e)
{
	size_t n;
	char *text = read_file(path, CONF_MOST, &n, NULL);

	if (!text && !must && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (!text)
		return err_sys(e, ERR_FAILED, errno, _("cannot read the settings: %s"), path);
	conf_read(s, text, n, who);
	free(text);
	return 0;
}

static int make_folders(char *path)
{
	struct stat st;
	int rc = 0;

	for (char *slash = path; rc == 0 && (slash = strchr(slash + 1, '/'));) {
		*slash = 0;
		rc = stat(path, &st) < 0 ? mkdir(path, 0700) : 0;
		*slash = '/';
	}
	return rc;
}

/* Follows symbolic links. */
static int target(char out[PATH_MAX], const char *path)
{
	if (realpath(path, out))
		return 0;
	if (errno != ENOENT || strlen(path) >= PATH_MAX)
		return -1;
	strcpy(out, path);
	return 0;
}

/* Never replace a file that is too long or not regular: nvmtop did not write it. */
static bool is_ours(const char *path, mode_t *mode)
{
	struct stat st;
	size_t n;
	char *text = read_file(path, CONF_MOST, &n, &st);

	if (text)
		*mode = st.st_mode & 0777;
	free(text);
	return text || errno == ENOENT;
}

static int replace(const char *path, const struct settings *s, mode_t mode)
{
	struct replacement r;
	int fd = replace_open(&r, path), rc = -1, num;
	FILE *out = fd < 0 ? NULL : fdopen(dup(fd), "w");

	if (out) {
		rc = conf_write(s, out);
		if (fclose(out) != 0)
			rc = -1;
		if (rc == 0)
			rc = fchmod(fd, mode) < 0 ? -1 : replace_done(&r, fd);
	}
	num = errno;
	if (fd >= 0) {
		replace_drop(&r);
		close(fd);
	}
	errno = num;
	return rc;
}

int conf_save(const char *path, const struct settings *s, struct err *e)
{
	char there[PATH_MAX];
	mode_t mode = 0644;

	if (target(there, path) < 0 || make_folders(there) < 0 || !is_ours(there, &mode) ||
	    replace(there, s, mode) < 0)
		return err_sys(e, ERR_FAILED, errno, _("cannot save the settings in %s"), path);
	return 0;
}

static void note(void *to, unsigned line, const char *text)
{
	struct app_settings *c = to;
	const char *slash = strrchr(c->path, '/');
	char name[64];

	if (c->trouble[0])
		return;
	slash = slash ? slash + 1 : c->path;
	text_printable(name, sizeof name, slash, strlen(slash));
	snprintf(c->trouble, sizeof c->trouble, "%s:%u: %s", name, line, text);
}

static void override(struct settings *s, const struct options *o)
{
	if (o->has_theme) {
		s->theme = o->term.theme;
		s->ground = o->term.ground;
	}
	if (o->term.no_mouse)
		s->mouse = false;
	if (o->view)
		snprintf(s->view, sizeof s->view, "%s", o->view);
	if (o->frames > 0)
		s->frames = o->frames;
	if (o->has_history)
		s->history_ns = o->history_ns;
}

int app_settings_load(struct app_settings *c, const struct options *o,
		      void (*tell)(void *c, unsigned line, const char *text), struct err *e)
{
	const struct conf_reader who = {tell ? tell : note, c, ui_view_name};

	memset(c, 0, sizeof *c);
	c->kept = SETTINGS_DEFAULT;
	if (o->config)
		snprintf(c->path, sizeof c->path, "%s", o->config);
	else if (!o->no_config && conf_path(c->path, sizeof c->path) < 0)
		c->path[0] = 0;
	e->code = ERR_NONE;
	if (c->path[0] && conf_load(c->path, o->config != NULL, &c->kept, &who, e) < 0) {
		/* The default file may be unreadable. */
		if (o->config)
			return -1;
		snprintf(c->trouble, sizeof c->trouble, "%.255s", e->text);
	}
	c->begun = c->kept;
	override(&c->begun, o);
	return 0;
}

void app_settings_options(const struct app_settings *c, const struct options *o, struct ui_options *ui,
			  struct term_options *term)
{
	ui->settings = &c->begun;
	/* An unknown view in the file was reported when it was read. */
	ui->view = o->view;
	for (size_t i = 0; !o->view && c->begun.view[0] && ui_view_name(i); i++)
		if (!strcmp(ui_view_name(i), c->begun.view))
			ui->view = c->begun.view;
	ui->frame_ms = c->begun.frames > 0 ? (int)(1000 / c->begun.frames) : 0;
	term->theme = c->begun.theme;
	term->ground = c->begun.ground;
	term->no_mouse = !c->begun.mouse;
}

void app_settings_changed(struct app_settings *c, const struct settings *now)
{
	c->now = *now;
	if (c->path[0] && !c->due_ns)
		c->due_ns = clock_now_ns() + AFTER_NS;
}

static void run(struct job *j)
{
	struct save *v = (struct save *)j;

	v->rc = conf_save(v->path, &v->settings, &v->err);
}

static void drop(struct job *j)
{
	free(j);
}

static void start(struct app_settings *c)
{
	struct save *v = malloc(sizeof *v);

	c->due_ns = clock_now_ns() + AFTER_NS; /* retry */
	if (!v)
		return;
	v->settings = c->now;
	conf_merge(&v->settings, &c->begun, &c->kept);
	strcpy(v->path, c->path);
	if (job_start(&v->job, run, drop, &c->err) < 0) {
		free(v);
		return;
	}
	c->save = v;
	c->due_ns = 0;
}

/* Handles the end of a save. */
static void take(struct app_settings *c)
{
	c->err.code = ERR_NONE;
	if (c->save->rc < 0)
		c->err = c->save->err;
	free(c->save);
	c->save = NULL;
}

bool app_settings_failed(struct app_settings *c, struct err *e)
{
	if (c->save && job_done(&c->save->job, 0))
		take(c);
	if (c->due_ns && !c->save && clock_now_ns() >= c->due_ns)
		start(c);
	if (c->reported || c->err.code == ERR_NONE)
		return false;
	c->reported = true;
	*e = c->err;
	return true;
}

int app_settings_patience_ms(const struct app_settings *c)
{
	return c->due_ns && !c->save ? ms_until(c->due_ns) : -1;
}

int app_settings_end(struct app_settings *c, struct err *e)
{
	if (c->save && job_done(&c->save->job, INT64_MAX))
		take(c);
	if (!c->due_ns && c->err.code == ERR_NONE)
		return 0;
	conf_merge(&c->now, &c->begun, &c->kept);
	return conf_save(c->path, &c->now, e);
}
