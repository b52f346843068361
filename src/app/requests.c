/* Keys and the mouse produce requests in the ui; this file executes them. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/loop.h"
#include "record/naming.h"
#include "util/clock.h"
#include "util/intl.h"

#define LIST_NS   (100 * NS_PER_MS) /* how long to wait for the list of a folder */
#define NAME_SIZE 4160
#define TRIES     100

/* The user has confirmed the request. */
static void end_process(struct top *t, const struct request *r)
{
	char text[96];
	struct err e;

	if (t->scene.procs_kept) {
		top_say(t, STYLE_WARN, t->scene.procs_kept);
	} else if (procs_signal(r->pid, r->start, r->sig, &e) < 0) {
		top_say(t, STYLE_ALERT, e.text);
	} else {
		snprintf(text, sizeof text,
			 r->sig == SIGKILL ? _("process %d was sent SIGKILL")
					   : _("process %d was sent SIGTERM"),
			 r->pid);
		top_say(t, STYLE_TEXT, text);
	}
}

/* Explains why marks and recordings need a local source. */
static void say_elsewhere(struct top *t)
{
	if (t->source.remote && !t->source.trace)
		top_say(t, STYLE_WARN,
			_("This screen is read-only: set marks with nvmtop mark there, record with tee "
			  "here."));
}

/* Creates nvmtop-DATE-TIME.SUFFIX in a folder ("", or ends in "/"); never replaces a file. name has NAME_SIZE
 * bytes. */
static FILE *create(char *name, int folder_len, const char *folder, const char *suffix, struct err *e)
{
	char base[40];
	FILE *out;
	int fd = -1;

	name_now(base, sizeof base);
	for (int i = 1; fd < 0 && i <= TRIES; i++) {
		char number[16] = "";

		if (i > 1)
			snprintf(number, sizeof number, ".%d", i);
		snprintf(name, NAME_SIZE, "%.*s%s%s.%s", folder_len, folder, base, number, suffix);
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out) {
		err_sys(e, ERR_FAILED, errno, _("cannot write %s"), name);
		if (fd >= 0)
			close(fd);
	}
	return out;
}

/* Closes the file, or removes it if it could not be written. */
static int finish(FILE *out, const char *name, struct err *e)
{
	bool failed;
	int num;

	errno = 0;
	failed = ferror(out);
	failed |= fclose(out) != 0;
	if (!failed)
		return 0;
	num = errno ? errno : EIO;
	unlink(name);
	return err_sys(e, ERR_FAILED, num, _("cannot write %s"), name);
}

/* Draws the screen again, without the question just answered. */
static void copy_screen(struct top *t, bool svg)
{
	const struct settings *s = ui_settings(t->ui);
	enum ground ground = s->ground != GROUND_AUTO ? s->ground : term_ground(t->term);
	struct canvas c = {0};
	char name[NAME_SIZE], text[NAME_SIZE + 16];
	struct err e;
	FILE *out;

	if (canvas_resize(&c, t->canvas.w, t->canvas.h) < 0)
		return;
	top_look(t);
	ui_draw(t->ui, &t->scene, &c);
	out = create(name, 0, "", svg ? "svg" : "txt", &e);
	if (out && svg)
		term_svg(&c, s->theme, ground, out);
	else if (out)
		canvas_print(&c, out);
	if (!out || finish(out, name, &e) < 0) {
		top_say(t, STYLE_ALERT, e.text);
	} else {
		snprintf(text, sizeof text, _("saved %s"), name);
		top_say(t, STYLE_TEXT, text);
	}
	canvas_free(&c);
}

/* Next to the trace; of the live board into the current folder. */
static void export_view(struct top *t, const struct request *r)
{
	const char *shown = t->source.trace ? trace_path(t->source.trace) : "", *slash = strrchr(shown, '/');
	char name[NAME_SIZE], text[NAME_SIZE + 80];
	size_t rows = 0;
	struct err e;
	FILE *out;

	top_look(t);
	if (!t->scene.timeline)
		return;
	out = create(name, slash ? (int)(slash - shown) + 1 : 0, shown, "csv", &e);
	if (out)
		rows = export_columns(t->scene.timeline, r->t_ns, r->to_ns, r->zoom, out);
	if (!out || finish(out, name, &e) < 0) {
		top_say(t, STYLE_ALERT, e.text);
		return;
	}
	snprintf(text, sizeof text, P_("saved %s: %lu row", "saved %s: %lu rows", rows), name, (unsigned long)rows);
	top_say(t, STYLE_TEXT, text);
}

/* Changed settings apply at once and are saved soon. */
static void settings_changed(struct top *t)
{
	const struct settings *now = ui_settings(t->ui);

	term_theme(t->term, now->theme, now->ground);
	term_mouse(t->term, !now->mouse);
	app_settings_changed(t->chosen, now);
	t->redraw = true;
}

static void toggle_recording(struct top *t)
{
	if (t->recording.ending)
		top_say(t, STYLE_WARN,
			_("The previous recording is still being completed: start a new one after that."));
	else if (recording_on(&t->recording))
		recording_end(&t->recording);
	else
		recording_start(&t->recording, t->source.live.engine, t->source.live.log);
}

/* Executes requests that need a local source, once it is there. */
static void carry_out_there(struct top *t, const struct request *r)
{
	if (t->source.starting && t->n_held < sizeof t->held / sizeof t->held[0])
		t->held[t->n_held++] = *r;
	else if (!t->source.live.engine)
		say_elsewhere(t);
	else if (r->kind == REQUEST_MARK)
		engine_mark(t->source.live.engine, r->t_ns, r->label);
	else if (r->kind == REQUEST_KEEP)
		source_keep_write(&t->source, r->t_ns, *r->label ? r->label : "w");
	else
		toggle_recording(t);
}

/* Waits a moment, which is enough for a fast disk. */
static void list_files(struct top *t, const char *folder)
{
	const char *shown = t->source.trace ? trace_path(t->source.trace) : "", *slash = strrchr(shown, '/');
	char beside[4096];
	struct err e;

	if (!*folder) {
		snprintf(beside, sizeof beside, "%.*s", slash ? (int)(slash - shown) + 1 : 1,
			 slash ? shown : ".");
		folder = beside;
	}
	if (files_read(&t->files, folder, &e) < 0)
		top_say(t, STYLE_ALERT, e.text);
	files_take(&t->files, clock_now_ns() + LIST_NS);
	t->redraw = true;
}

void top_carry_out(struct top *t, const struct request *r)
{
	t->redraw |= r->redraw;
	switch (r->kind) {
	case REQUEST_NONE:
		break;
	case REQUEST_QUIT:
		t->quit = true;
		break;
	case REQUEST_MARK:
	case REQUEST_RECORD:
	case REQUEST_KEEP:
		carry_out_there(t, r);
		break;
	case REQUEST_LIST:
		list_files(t, r->path);
		break;
	case REQUEST_OPEN:
		pending_open_start(t, r->path, r->second);
		break;
	case REQUEST_CLOSE_SECOND:
		source_take_second(&t->source, NULL, &(struct err) {.code = ERR_NONE});
		t->redraw = true;
		break;
	case REQUEST_STAY:
		pending_open_cancel(t);
		break;
	case REQUEST_PART:
		pending_open_part(t, r->by, false);
		break;
	case REQUEST_LIVE:
		pending_open_live(t);
		break;
	case REQUEST_KILL:
		end_process(t, r);
		break;
	case REQUEST_CONTROL:
		trial_request(t, r);
		break;
	case REQUEST_SUSPEND:
		term_suspend(t->term);
		t->redraw = true;
		break;
	case REQUEST_COPY:
		copy_screen(t, r->svg);
		break;
	case REQUEST_EXPORT:
		export_view(t, r);
		break;
	case REQUEST_SETTINGS:
		settings_changed(t);
		break;
	case REQUEST_REPAINT:
		term_repaint(t->term);
		t->redraw = true;
		break;
	}
}
