/* A recording without a screen: in a script, over SSH, under systemd, around a
 * command.  Everything that can fail is tried before the first sample. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/keeping.h"
#include "cmd/label.h"
#include "cmd/stream.h"
#include "cmd/summary.h"
#include "cmd/ttykeys.h"
#include "nvmtop/canvas.h"
#include "nvmtop/clock.h"
#include "nvmtop/intl.h"
#include "nvmtop/marks.h"
#include "nvmtop/trace.h"

#define PROGRESS_NS (NS_PER_S / 4)
/* How long a command that was told to end may take before the recording ends
 * without it. */
#define GRACE_NS    (2 * NS_PER_S)

struct recorder {
	const struct options *o;
	struct root *root;
	struct engine *engine;
	struct trace_series *series; /* one of the three: to files */
	struct trace_writer *stream; /* and to standard output */
	struct keep *keep;           /* or held, and written when triggered */
	size_t kept_told;
	struct trouble trouble;
	struct tally tally; /* in front of it */
	uint64_t lost;      /* rows it lost, as far as the engine was told */
	int signals;
	struct ttykeys keys;
	struct label label; /* being typed */
	struct inbox *marks; /* from other programs; NULL: they cannot be taken */
	bool no_keys;        /* standard input has ended */
	bool quiet;          /* somebody else may have the terminal */
	bool progress;       /* one line on standard error, rewritten in place */
	int shown;           /* columns of it on the terminal now */
	int64_t since_ns;    /* when the first sample was due */
	int64_t until_ns;    /* when to stop; INT64_MAX: not by itself */
	bool stop;
	bool asked; /* a command was asked to end */

	pid_t child;      /* 0: none, or it has ended */
	int child_status; /* as an exit status */
};

static bool to_stdout(const struct options *o)
{
	return o->out && !strcmp(o->out, "-");
}

/* What was written so far; of a stream, too. */
static void written(const struct recorder *r, struct trace_series_stats *out)
{
	struct trace_writer_stats ws;

	struct keep_stats ks;

	if (r->series) {
		trace_series_stats(r->series, out);
		return;
	}
	if (r->keep) {
		keep_stats(r->keep, &ks);
		memset(out, 0, sizeof *out);
		memcpy(out->rows, ks.rows, sizeof out->rows);
		out->marks = r->tally.marks;
		return;
	}
	trace_writer_stats(r->stream, &ws);
	memset(out, 0, sizeof *out);
	out->bytes = ws.bytes;
	out->marks = ws.marks;
	memcpy(out->rows, ws.rows, sizeof out->rows);
	out->lost_rows = ws.lost_rows;
	out->full = ws.failed; /* a pipe that has gone does not come back */
}

static void progress_wipe(struct recorder *r)
{
	if (r->shown)
		fprintf(stderr, "\r%*s\r", r->shown, "");
	r->shown = 0;
}

static void say(struct recorder *r, const char *text)
{
	progress_wipe(r);
	fprintf(stderr, "nvmtop: %s\n", text);
}

static int terminal_columns(void)
{
	struct winsize ws;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_col ? ws.ws_col : 80;
}

/* Over what stood there before. */
static void progress_put(struct recorder *r, const char *line, int used, int columns)
{
	int wipe = r->shown < columns ? r->shown : columns; /* the window may have shrunk */

	fprintf(stderr, "\r%s%*s", line, wipe > used ? wipe - used : 0, "");
	r->shown = used;
	if (r->label.open) /* the cursor stands behind what is typed */
		fprintf(stderr, "\r%s", line);
}

/* As many of the parts as the line holds, the most important first. */
static void progress_show(struct recorder *r)
{
	struct engine_stats es;
	struct trace_series_stats ws;
	char part[5][160], line[1024] = "", elapsed[32], size[32];
	int columns = terminal_columns() - 1, used = 0, len = 0;

	pid_t front = tcgetpgrp(STDERR_FILENO);
	if (!r->progress || (front >= 0 && front != getpgrp()))
		return;
	if (r->label.open) {
		used = label_show(&r->label, line, sizeof line, columns - 1);
		progress_put(r, line, used, columns);
		return;
	}
	engine_stats(r->engine, &es);
	written(r, &ws);
	text_elapsed(elapsed, sizeof elapsed, clock_now_ns() - r->since_ns);
	text_bytes(size, sizeof size, ws.bytes);
	snprintf(part[0], sizeof part[0], "%s %s", _("recording"), elapsed);
	snprintf(part[1], sizeof part[1], _("%llu samples"), (unsigned long long)ws.rows[TIER_FAST]);
	snprintf(part[2], sizeof part[2], _("%llu late"), (unsigned long long)es.late[TIER_FAST]);
	snprintf(part[3], sizeof part[3], "%s", size);
	snprintf(part[4], sizeof part[4], P_("%llu mark", "%llu marks", ws.marks),
		 (unsigned long long)ws.marks);
	if (r->keep)
		keeping_progress(r->keep, part[0], part[3], sizeof part[0]);
	for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
		int wide = text_width(part[i]) + (used ? 2 : 0);
		if (used + wide > columns)
			break;
		len += snprintf(line + len, sizeof line - (size_t)len, "%s%s", used ? "  " : "", part[i]);
		used += wide;
	}
	const char *keys = r->keep ? _("w write  s mark  S with a label  q stop") : _("s mark  S with a label  q stop");
	if (used + 4 + text_width(keys) > columns)
		keys = r->keep ? _("w write  q stop") : _("s mark  q stop");
	if (r->keys.on && used + 4 + text_width(keys) <= columns) {
		snprintf(line + len, sizeof line - (size_t)len, "    %s", keys);
		used += 4 + text_width(keys);
	}
	progress_put(r, line, used, columns);
}

/* Give the terminal back, stop, and go on where we were when continued. */
static void suspend(struct recorder *r)
{
	progress_wipe(r);
	ttykeys_stop(&r->keys);
	raise(SIGSTOP);
	if (r->progress && !r->o->command)
		ttykeys_start(&r->keys);
}

static void reap(struct recorder *r)
{
	int status;

	if (!r->child || waitpid(r->child, &status, WNOHANG) != r->child)
		return;
	r->child = 0;
	r->child_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	r->stop = true;
}

/* A recording without a command ends at once.  With one, a request is passed on
 * to the command, unless the terminal sent it to both of us; the recording goes
 * on while the command ends, and the second request ends it. */
static void asked_to_end(struct recorder *r, int sig, bool from_terminal)
{
	if (!r->child || r->asked)
		r->stop = true;
	r->asked = true;
	if (!r->child || from_terminal)
		return;
	kill(r->child, sig);
	r->child_status = 128 + sig;
	int64_t grace = clock_now_ns() + GRACE_NS;
	if (grace < r->until_ns)
		r->until_ns = grace;
}

static void take_signals(struct recorder *r)
{
	bool from_terminal;
	int sig;

	while ((sig = signals_next(r->signals, &from_terminal))) {
		switch (sig) {
		case SIGUSR1:
			engine_mark(r->engine, clock_now_ns(), "");
			break;
		case SIGUSR2:
			if (r->keep)
				keep_trigger(r->keep, clock_now_ns(), "SIGUSR2");
			else
				say(r, keeping_nothing());
			break;
		case SIGCHLD:
			reap(r);
			break;
		case SIGTSTP:
			suspend(r);
			break;
		default:
			if (signal_ends(sig))
				asked_to_end(r, sig, from_terminal);
			break;
		}
	}
}

static void take_keys(struct recorder *r, bool marks)
{
	int key;

	while ((key = ttykeys_next(&r->keys))) {
		if (r->label.open) {
			if (label_take(&r->label, key))
				engine_mark(r->engine, r->label.t_ns, r->label.text);
			if (key > 0)
				continue;
		}
		if (key == 'q' || key == 'Q' || key < 0 || (key == 4 && r->o->stop_on_eof)) /* Ctrl-D */
			r->stop = true;
		else if (key == 's' && marks)
			engine_mark(r->engine, clock_now_ns(), "");
		else if (key == 'w' && r->keep)
			keep_trigger(r->keep, clock_now_ns(), "w");
		else if (key == 'S' && marks)
			label_begin(&r->label, clock_now_ns());
		if (key < 0) {
			ttykeys_stop(&r->keys);
			r->no_keys = true;
		}
	}
}

/* --stop-on-eof, where standard input is not a terminal with keys. */
static bool awaits_eof(const struct recorder *r)
{
	return r->o->stop_on_eof && !r->keys.on && !r->no_keys;
}

static void take_eof(struct recorder *r)
{
	if (awaits_eof(r) && stdin_ended())
		r->stop = r->no_keys = true;
}

/* Wait for whatever comes first, at most until then_ns. */
static void wait_for_something(struct recorder *r, int64_t then_ns)
{
	struct pollfd p[2] = {{.fd = r->signals, .events = POLLIN},
			      {.fd = r->keys.on || awaits_eof(r) ? STDIN_FILENO : -1, .events = POLLIN}};
	int64_t left = then_ns - clock_now_ns();

	if (left > 0)
		poll(p, 2, (int)(left / NS_PER_MS > 60000 ? 60000 : left / NS_PER_MS + 1));
}

/* Is there a program of that name?  Found out before anything is recorded. */
static bool find_program(const char *name)
{
	char file[4096];
	const char *path = getenv("PATH");

	if (strchr(name, '/'))
		return access(name, X_OK) == 0;
	errno = ENOENT;
	for (const char *p = path ? path : "/usr/local/bin:/usr/bin:/bin"; *p;) {
		size_t len = strcspn(p, ":");
		int n = snprintf(file, sizeof file, "%.*s/%s", len ? (int)len : 1, len ? p : ".", name);
		if (n > 0 && (size_t)n < sizeof file && access(file, X_OK) == 0)
			return true;
		p += len + (p[len] == ':');
	}
	return false;
}

static int start_command(struct recorder *r, struct err *e)
{
	char **argv = r->o->command;

	r->child = fork();
	if (r->child < 0) {
		r->child = 0;
		return err_sys(e, ERR_FAILED, errno, _("cannot start the command \"%s\""), argv[0]);
	}
	if (r->child == 0) {
		signals_default();
		execvp(argv[0], argv);
		dprintf(STDERR_FILENO, "nvmtop: %s: %s\n", argv[0], strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	return 0;
}

/* What the disk does is said when it happens; false: there is no room left. */
static bool watch_disk(struct recorder *r)
{
	struct trace_series_stats s;
	char text[sizeof s.err.text];

	written(r, &s);
	recording_trouble(&r->trouble, &s, text, sizeof text);
	if (text[0])
		say(r, text);
	engine_add_lost(r->engine, s.lost_rows - r->lost);
	r->lost = s.lost_rows;
	if (s.full && r->series)
		say(r, recording_full());
	return !s.full;
}

static void watch_keep(struct recorder *r)
{
	char text[1024];
	bool failed;

	while (r->keep && keeping_news(r->keep, &r->kept_told, text, sizeof text, &failed))
		say(r, text);
}

/* Until the time is over, somebody asks, the command ends or it is large enough. */
static void run(struct recorder *r)
{
	while (!r->stop) {
		int64_t now = clock_now_ns();
		if (now >= r->until_ns)
			break;
		/* Begun with & and brought to the front: the shell tells nobody. */
		if (r->progress && !r->keys.on && !r->no_keys)
			ttykeys_start(&r->keys);
		progress_show(r);
		/* Of a pipe that was closed nobody else tells. */
		int64_t wake = now + (r->progress || r->stream ? PROGRESS_NS : NS_PER_S);
		wait_for_something(r, wake < r->until_ns ? wake : r->until_ns);
		take_signals(r);
		take_keys(r, true);
		take_eof(r);
		watch_keep(r);
		if (!watch_disk(r))
			break;
	}
	progress_wipe(r);
}

static void pause_before(struct recorder *r, int64_t until_ns)
{
	while (!r->stop && clock_now_ns() < until_ns) {
		wait_for_something(r, until_ns);
		take_signals(r);
		take_keys(r, false);
		take_eof(r);
	}
}

static void summary(struct recorder *r, const struct summary_moment *before)
{
	struct summary s = {.tally = &r->tally, .before = *before};
	struct trace_series_stats ws;
	char names[8192];

	written(r, &ws);
	if (r->series)
		recording_names(r->series, names, sizeof names);
	else
		snprintf(names, sizeof names, "%s", _("standard output"));
	summary_moment(&s.after, r->engine);
	s.file = names;
	s.bytes = ws.bytes;
	memcpy(s.rows, ws.rows, sizeof s.rows);
	s.marks = ws.marks;
	s.lost = ws.lost_rows;
	s.holes = ws.holes;
	s.hole_ns = ws.hole_ns;
	priority_text(r->o, s.priority, sizeof s.priority);
	summary_print(&s, stderr);
}

/* Late ticks are likelier then, and there is something that can be done. */
static void say_priority(struct recorder *r, const struct engine_stats *now)
{
	char how[160];

	if (now->realtime || r->o->has_nice)
		return;
	priority_text(r->o, how, sizeof how);
	say(r, how);
}

static void say_holding(struct recorder *r)
{
	char text[512];

	keeping_begun(r->o, r->keep, text, sizeof text);
	say(r, text);
}

static void take_mark(void *to, int64_t t_ns, const char *label)
{
	engine_mark(to, t_ns, label);
}

/* From here on, until the end: what comes at another time has nothing to be in. */
static void marks_begin(struct recorder *r)
{
	struct err e;

	r->marks = inbox_open(take_mark, r->engine, &e);
	if (!r->marks)
		complain(&e);
}

static void marks_end(struct recorder *r)
{
	struct inbox_stats s = {0, 0};

	/* The moment counts, even if its name was still being typed. */
	if (r->label.open)
		engine_mark(r->engine, r->label.t_ns, r->label.text);
	r->label.open = false;
	if (r->marks)
		inbox_stats(r->marks, &s);
	inbox_close(r->marks);
	r->marks = NULL;
	if (s.refused)
		fprintf(stderr,
			P_("nvmtop: %llu message to the socket for marks was none, or not of this time\n",
			   "nvmtop: %llu messages to the socket for marks were none, or not of this time\n",
			   s.refused),
			(unsigned long long)s.refused);
}

/* Whoever closes the pipe of a stream without an end of its own ends it. */
static bool left_by_reader(const struct recorder *r)
{
	struct trace_writer_stats ws;

	trace_writer_stats(r->stream, &ws);
	return ws.reader_gone && !r->o->duration_ns && !r->o->command;
}

/* The end of the stream, and until it is all where it belongs. */
static int detach(struct recorder *r, struct sink *sink, struct err *e)
{
	int failed = engine_detach(r->engine, sink, e);

	if (r->series)
		return trace_series_wait(r->series, e);
	if (r->keep)
		return failed;
	return failed && left_by_reader(r) ? 0 : failed;
}

static struct sink *sink_of(struct recorder *r)
{
	if (r->keep)
		return keep_sink(r->keep);
	return r->series ? trace_series_sink(r->series) : trace_writer_sink(r->stream);
}

/* What ring mode says at its end; the exit status. */
static int keep_ended(struct recorder *r)
{
	struct keep_stats s;

	keep_stats(r->keep, &s);
	keeping_summary(r->o, r->keep, stderr);
	return s.failed ? 1 : 0;
}

/* From the first sample to the complete file; the exit status. */
static int record(struct recorder *r)
{
	struct sink *sink = tally_init(&r->tally, sink_of(r));
	struct summary_moment before;
	struct err e;
	int status = 0;

	if (r->series)
		tally_of_series(&r->tally, r->series);
	engine_wait_warm(r->engine, -1);
	pause_before(r, clock_now_ns() + r->o->delay_ns);
	if (r->stop) {
		fprintf(stderr, _("nvmtop: stopped before the recording began; nothing was written\n"));
		return 0;
	}
	summary_moment(&before, r->engine);
	say_priority(r, &before.stats);
	r->since_ns = clock_now_ns();
	r->until_ns = r->o->duration_ns ? r->since_ns + r->o->duration_ns : INT64_MAX;
	if (engine_attach(r->engine, sink, true, &e) < 0)
		return complain(&e);
	marks_begin(r);
	if (r->keep)
		say_holding(r);
	if (r->o->command && start_command(r, &e) < 0)
		status = complain(&e);
	else
		run(r);
	marks_end(r);
	r->until_ns = clock_now_ns();
	int saved = detach(r, sink, &e);
	if (r->keep)
		status = keep_ended(r);
	else if (!r->series ? saved == 0 : trace_series_part(r->series, 0, NULL, 0, NULL))
		summary(r, &before);
	if (saved < 0)
		status = complain(&e);
	/* The time was over before the command was. */
	while (r->child && r->child_status == 0) {
		wait_for_something(r, INT64_MAX);
		take_signals(r);
	}
	return r->child_status ? r->child_status : status;
}

int cmd_record(const struct options *o)
{
	struct recorder r = {.o = o, .signals = -1};
	struct board *board;
	char name[64];
	struct err e;
	int status;

	r.signals = signals_open(&e);
	if (r.signals < 0)
		return complain(&e);
	if (o->command && !find_program(o->command[0])) {
		int missing = errno == ENOENT || errno == ENOTDIR;
		err_sys(&e, ERR_FAILED, errno, _("cannot run \"%s\""), o->command[0]);
		complain(&e);
		return missing ? 127 : 126;
	}
	trace_name_now(name, sizeof name);
	r.quiet = to_stdout(o) && stream_is_shown_elsewhere();
	if (to_stdout(o))
		r.stream = stream_to_stdout(&e);
	else if (!o->keep_ns)
		r.series = trace_series_new(o->out ? o->out : name, o->force, &o->limits, &e);
	if (!r.stream && !r.series && !o->keep_ns)
		return complain(&e);
	struct rig *rig = open_rig(o, &r.root, &board, NULL, 0, &e);
	if (rig) {
		board_free(board);
		r.engine = engine_for(o, rig, &e);
	}
	if (r.engine && o->keep_ns)
		r.keep = keeping_new(o, r.engine, &e);
	if (r.engine && (r.keep || !o->keep_ns) && engine_start(r.engine, &e) == 0) {
		r.progress = !o->command && !r.quiet && isatty(STDERR_FILENO);
		if (r.progress)
			ttykeys_start(&r.keys);
		status = record(&r);
		ttykeys_stop(&r.keys);
	} else {
		status = complain(&e);
	}
	engine_free(r.engine);
	root_close(r.root);
	trace_series_free(r.series);
	keep_free(r.keep);
	trace_writer_free(r.stream);
	tally_free(&r.tally);
	return status;
}
