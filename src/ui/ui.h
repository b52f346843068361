/* ui: the contents of the screen and the meaning of keys. No terminal, threads or files: a pure
 * function from (ui, scene) to cells and from events to requests. */
#ifndef NVMTOP_UI_UI_H
#define NVMTOP_UI_UI_H

#include "board/machine.h"
#include "ui/canvas.h"
#include "ui/event.h"
#include "probe/processes.h"
#include "ui/settings.h"
#include "model/timeline.h"

struct control_list;

/* A trace or a folder in the list of files. */
struct ui_file {
	char path[512];
	char name[128];		/* printable */
	bool readable;
	bool folder;		/* a folder, or "..": list it with REQUEST_LIST */
	bool damaged;
	int64_t changed_ns;	/* time of the last write, CLOCK_REALTIME */
	int64_t duration_ns;
	uint64_t bytes, marks;
	char board[32];
};

/* The alignment of a second trace with the first. */
struct ui_align {
	int64_t shift_ns;	/* added to the times of the second trace */
	char text[128];		/* for display: "aligned at mark 1" */
};

/* how: the label of a mark in both traces, "m3" for mark 3 of both, or "start". NULL: the first
 * mark with the same label in both, else with the same number, else the first samples. -1: no
 * such mark. */
int ui_align(struct timeline *a, struct timeline *b, const char *how, struct ui_align *out, struct err *e);

enum ui_trial_state {
	TRIAL_ASKED,		/* the helper has not answered yet */
	TRIAL_KEEP,		/* it can be kept until until_ns */
	TRIAL_BACK,		/* it is being put back */
};

/* A change of a setting that is put back unless it is kept. */
struct ui_trial {
	char name[40];		/* of the setting; "": there is none */
	char from[96], to[96];
	enum ui_trial_state state;
	int64_t until_ns;
};

/* All that is drawn but is not state of the ui; the caller sets it before each call. */
struct ui_scene {
	struct timeline *timeline;	/* NULL: the board is being opened */
	bool live;		/* the timeline grows; false: a saved trace */
	bool has_live;		/* REQUEST_LIVE is possible */
	int64_t now_ns;		/* CLOCK_MONOTONIC; drives play and pause */
	int64_t wall_ns;	/* CLOCK_REALTIME at now_ns */
	const char *trace_name;	/* replay: the name of the file */
	struct timeline *with;	/* the second trace, shown row by row under the first, or NULL */
	const char *with_name;
	const struct ui_align *align;
	const char *remote;	/* the remote source of the samples, or NULL */
	const char *notice;	/* a problem of that source, or NULL */

	bool recording;
	const char *completing;		/* a recording that has stopped but is not complete, or NULL */
	const char *record_name;
	int64_t record_since_ns;
	int64_t record_until_ns;	/* end of the last recording; 0: none, or not ended */
	uint64_t record_bytes, record_marks, record_lost;
	const char *record_error;	/* why it ended, or NULL */
	const char *record_done;	/* the file that Enter opens now, or NULL */

	uint64_t late;		/* late ticks so far, fast tier */
	uint64_t lost;
	double own_cpu;		/* percent of a core; NaN: not known */
	int64_t rows_ns;	/* how far every sample is kept if it is less than the settings ask for; else 0 */
	bool stalled;		/* no new rows: sampling hangs */
	const char *hangs;	/* the signal whose file does not answer, or NULL */
	int64_t hangs_ns;	/* and for how long */

	const char *message;	/* a line shown until the next key, or NULL */
	enum style message_style;

	const struct procs_list *procs;	/* NULL: not read; see ui_wants_procs() */
	uint64_t procs_serial;
	const char *procs_kept;	/* why none of them can be ended; NULL: they can */
	const struct machine *machine; /* NULL: not read; see ui_wants_machine() */
	const struct control_list *control; /* of control/control.h: what can be set; NULL: not read; the same */
	const char *control_kept; /* why nothing of it can be set; NULL: it can */
	struct ui_trial trial;

	const char *files_folder;	/* the listed folder, printable */
	const struct ui_file *files;	/* its traces, newest first, then folders */
	size_t n_files;
	uint64_t files_serial;	/* changes with the list */
	const char *files_at;	/* the file being read, "" between two; NULL: complete */
	const char *opening;	/* the trace being opened, or NULL */
};

enum request_kind {
	REQUEST_NONE,
	REQUEST_QUIT,
	REQUEST_MARK,		/* at t_ns, with a label */
	REQUEST_RECORD,		/* start or stop */
	REQUEST_KEEP,		/* write the look-back buffer up to t_ns */
	REQUEST_LIST,		/* fill scene.files from path; "": the folder of the shown trace */
	REQUEST_OPEN,		/* path; second: as the second trace, as --with */
	REQUEST_CLOSE_SECOND,
	REQUEST_STAY,		/* cancel REQUEST_OPEN */
	REQUEST_LIVE,		/* close the trace, if has_live */
	REQUEST_PART,		/* the next (by 1) or previous (by -1) file of this recording */
	REQUEST_KILL,		/* pid, start and sig */
	REQUEST_CONTROL,	/* set label to path; without a label path is "keep" or "revert" of the trial, or "":
				 * leave it to itself */
	REQUEST_SUSPEND,
	REQUEST_SETTINGS,	/* ui_settings() has changed */
	REQUEST_COPY,		/* the screen to a file, as text or SVG (svg) */
	REQUEST_EXPORT,		/* all signals of [t_ns, to_ns) to a file, in columns of that zoom */
	REQUEST_REPAINT,
};

struct request {
	enum request_kind kind;
	bool redraw;		/* the screen has changed */
	int64_t t_ns, to_ns;
	int pid, sig, by, zoom;
	uint64_t start;
	char path[512];
	bool second;
	bool svg;
	char label[64];		/* UTF-8; can be "" */
};

struct ui_options {
	enum charset charset;
	const char *view;	/* NULL: the first view */
	const struct settings *settings; /* NULL: default; copied */
	int frame_ms;		/* interval of frames and numbers; 0: automatic */
};

struct ui;
struct ui *ui_new(const struct ui_options *o, struct err *e);	/* ERR_USAGE: no such view */
void ui_free(struct ui *u);

/* The current settings. */
const struct settings *ui_settings(const struct ui *u);

/* Show a new timeline. Live: follow now. A saved trace: paused at its end, all of it in view as
 * far as the zooms allow; space plays it from the start. */
void ui_reset(struct ui *u, const struct ui_scene *s);

/* The same, but keep zoom and speed: the new trace continues the one before, or (at_end)
 * precedes it. */
void ui_go_on(struct ui *u, const struct ui_scene *s, bool at_end, bool play);
/* Whether a trace was played to its end; true once each time. */
bool ui_played_out(struct ui *u);

/* Move the playhead to this time (ns after the timeline's start), paused. */
void ui_seek(struct ui *u, const struct ui_scene *s, int64_t after_start_ns);

/* The time until the screen changes without an event, in ms; -1: it does not. */
int ui_frame_ms(const struct ui *u, const struct ui_scene *s);

/* Whether a prompt or a question is open: do not show another timeline now. */
bool ui_is_asking(const struct ui *u);

/* Continue long work, such as a search or the statistics of phases, for a millisecond or two.
 * Call before each ui_draw(); true: there is more. */
bool ui_advance(struct ui *u, const struct ui_scene *s);

void ui_draw(struct ui *u, const struct ui_scene *s, struct canvas *c);
struct request ui_event(struct ui *u, const struct ui_scene *s, const struct event *ev);

/* Whether the screen shows the processes. */
bool ui_wants_procs(const struct ui *u, const struct ui_scene *s);
/* The same for libraries, disks and addresses of the machine, and for what can be set. */
bool ui_wants_machine(const struct ui *u, const struct ui_scene *s);

/* The names of the views, for --view and its error message; NULL past the end. */
const char *ui_view_name(size_t i);

/* The keys for --help: group, names and effect, ordered by group. False past the end. */
bool ui_key(size_t i, const char **group, const char **keys, const char **what);

#endif
