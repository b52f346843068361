/* ui: what is on the screen and what a key means.  No terminal, no thread, no
 * file: a pure function of (ui, scene) to cells, and of events to requests. */
#ifndef NVMTOP_UI_UI_H
#define NVMTOP_UI_UI_H

#include "probe/host.h"
#include "ui/canvas.h"
#include "ui/event.h"
#include "probe/processes.h"
#include "ui/settings.h"
#include "model/timeline.h"

/* A saved trace in the list that `o` opens, or a folder. */
struct ui_file {
	char path[512];
	char name[128];		/* printable */
	bool readable;
	bool folder;		/* a folder, or "..": to be listed with REQUEST_LIST */
	bool damaged;
	int64_t changed_ns;	/* when it was written last, as CLOCK_REALTIME */
	int64_t duration_ns;
	uint64_t bytes, marks;
	char board[32];
};

/* How a second trace is laid over the first. */
struct ui_align {
	int64_t shift_ns;	/* to be added to the second's times */
	char text[128];		/* "aligned at mark 1", for people */
};

/* how: the label of a mark that both have, "m3" for mark 3 of both, "start"; NULL: the
 * first mark that both have by label, or else by number, or else their first samples.
 * -1: what was asked for is not there. */
int ui_align(struct timeline *a, struct timeline *b, const char *how, struct ui_align *out, struct err *e);

/* Everything that is drawn and is not the ui's own state; filled in anew by the
 * caller before each call. */
struct ui_scene {
	struct timeline *timeline;	/* NULL: the board is still being opened */
	bool live;		/* the timeline grows; false: a saved trace */
	bool has_live;		/* REQUEST_LIVE leads somewhere */
	int64_t now_ns;		/* CLOCK_MONOTONIC; drives play and pause */
	int64_t wall_ns;	/* CLOCK_REALTIME at now_ns */
	const char *trace_name;	/* replay: the file's name */
	struct timeline *with;	/* NULL, or a second trace under the first, row by row */
	const char *with_name;
	const struct ui_align *align;
	const char *remote;	/* NULL, or where the samples come from, when not from here */
	const char *notice;	/* NULL, or what is wrong with where they come from */

	bool recording;
	const char *completing;		/* NULL, or the file of a recording that has ended and is not complete yet */
	const char *record_name;
	int64_t record_since_ns;
	int64_t record_until_ns;	/* when the last one ended; 0: it has not, or there is none */
	uint64_t record_bytes, record_marks, record_lost;
	const char *record_error;	/* NULL, or why it ended */
	const char *record_done;	/* NULL, or the file to be opened by Enter now */

	uint64_t late;		/* ticks skipped so far, fast tier */
	uint64_t lost;
	double own_cpu;		/* percent of a core; NaN: not known */
	bool stalled;		/* there are no new rows: sampling hangs */
	const char *hangs;	/* NULL, or the name of a signal whose file does not answer, */
	int64_t hangs_ns;	/* and for how long */

	const char *message;	/* NULL, or one line to show until the next key */
	enum style message_style;

	const struct procs_list *procs;	/* NULL: nobody has read them; see ui_wants_procs() */
	uint64_t procs_serial;
	const struct host *host; /* NULL: not read; see ui_wants_host() */

	const char *files_folder;	/* that is listed, printable */
	const struct ui_file *files;	/* the traces in it, newest first, then the folders */
	size_t n_files;
	uint64_t files_serial;	/* another number: another list */
	const char *files_at;	/* NULL: it is complete; else the file that is looked into, "" between two */
	const char *opening;	/* NULL, or the trace that is being opened, and not there yet */
};

enum request_kind {
	REQUEST_NONE,
	REQUEST_QUIT,
	REQUEST_MARK,		/* at t_ns, with a label */
	REQUEST_RECORD,		/* start or stop */
	REQUEST_KEEP,		/* write what is held until t_ns */
	REQUEST_LIST,		/* fill scene.files from the folder at path; "": where the shown trace lies */
	REQUEST_OPEN,		/* path; second: to compare with the one that is shown, as --with */
	REQUEST_CLOSE_SECOND,
	REQUEST_STAY,		/* open nothing, after all */
	REQUEST_LIVE,		/* close the trace, if has_live */
	REQUEST_PART,		/* the next (by 1) or the previous (-1) file of this recording */
	REQUEST_KILL,		/* pid, start and sig */
	REQUEST_SUSPEND,
	REQUEST_SETTINGS,	/* ui_settings() has changed */
	REQUEST_COPY,		/* the screen to a file, as text or (svg) as a picture */
	REQUEST_EXPORT,		/* all signals of [t_ns, to_ns) to a file, by columns of that zoom */
	REQUEST_REPAINT,
};

struct request {
	enum request_kind kind;
	bool redraw;		/* something on the screen changed */
	int64_t t_ns, to_ns;
	int pid, sig, by, zoom;
	uint64_t start;
	char path[512];
	bool second;
	bool svg;
	char label[64];		/* UTF-8; may be "" */
};

struct ui_options {
	enum charset charset;
	const char *view;	/* NULL: the first */
	const struct settings *settings; /* NULL: none; copied */
	int frame_ms;		/* pace of pictures and numbers; 0: as often as they change and can be read */
};

struct ui;
struct ui *ui_new(const struct ui_options *o, struct err *e);	/* ERR_USAGE: no such view */
void ui_free(struct ui *u);

/* As they are now. */
const struct settings *ui_settings(const struct ui *u);

/* A new timeline is shown.  Live follows now.  A saved trace is shown whole,
 * as far as the zooms allow, with the playhead at its end, paused: what
 * happened first, then space plays it from the start. */
void ui_reset(struct ui *u, const struct ui_scene *s);

/* The same, but with the zoom and the speed that there were: it goes on where the one
 * before ended, or (at_end) ended where that one begins. */
void ui_go_on(struct ui *u, const struct ui_scene *s, bool at_end, bool play);
/* Has a trace been played to its end?  Once for each time. */
bool ui_played_out(struct ui *u);

/* Show this moment (nanoseconds after the timeline's start) at the playhead, paused. */
void ui_seek(struct ui *u, const struct ui_scene *s, int64_t after_start_ns);

/* How long until the picture changes by itself, in ms; -1: not before an event. */
int ui_frame_ms(const struct ui *u, const struct ui_scene *s);

/* Somebody types, or is asked something: no moment to show another timeline. */
bool ui_is_asking(const struct ui *u);

/* Go on with what takes longer than a frame may: a search, statistics of long
 * phases.  A millisecond or two of it, before each ui_draw(); true: there is more. */
bool ui_advance(struct ui *u, const struct ui_scene *s);

void ui_draw(struct ui *u, const struct ui_scene *s, struct canvas *c);
struct request ui_event(struct ui *u, const struct ui_scene *s, const struct event *ev);

/* Whether the processes are looked at now. */
bool ui_wants_procs(const struct ui *u, const struct ui_scene *s);
/* The same of the machine's libraries, disks and addresses. */
bool ui_wants_host(const struct ui *u, const struct ui_scene *s);

/* The names of the views, for --view and its error; NULL past the end. */
const char *ui_view_name(size_t i);
/* The current name of a view, for one that may be of version 0.1. */
const char *ui_view_renamed(const char *name);

/* The keys, for --help: what they are about, their names and what they do; those of
 * a group come together.  False past the end. */
bool ui_key(size_t i, const char **group, const char **keys, const char **what);

#endif
