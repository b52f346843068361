/* Records without a screen: in a script, over SSH, under systemd, around a command. Everything that can fail
 * is tried before the first sample. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/alert.h"
#include "app/pretrigger.h"
#include "record/naming.h"
#include "cli/recorder.h"
#include "cli/verb.h"
#include "app/recording.h"
#include "app/stream.h"
#include "util/clock.h"
#include "util/intl.h"
#include "util/io.h"

#define PROGRESS_NS (NS_PER_S / 4)
/* Grace period for a command that was asked to end; then the recording ends without it. */
#define GRACE_NS    (2 * NS_PER_S)

/* With --kill the command has a process group of its own, which the terminal does not reach with ours. */
static bool has_group(const struct recorder *r)
{
	return r->child && r->o->kill;
}

static int command_kill(const struct recorder *r, int sig)
{
	return kill(has_group(r) ? -r->child : r->child, sig);
}

/* Restores the terminal and stops the process; resumes when continued. */
static void suspend(struct recorder *r)
{
	recorder_line_wipe(r);
	ttykeys_stop(&r->keys);
	if (has_group(r)) {
		command_kill(r, SIGSTOP);
		terminal_pass(r->child, getpgrp());
	}
	raise(SIGSTOP);
	if (has_group(r)) {
		terminal_pass(getpgrp(), r->child);
		command_kill(r, SIGCONT);
	}
	if (r->progress && !r->o->command)
		ttykeys_start(&r->keys);
}

static void reap(struct recorder *r)
{
	int status;

	if (!r->child || waitpid(r->child, &status, WNOHANG | (has_group(r) ? WUNTRACED : 0)) != r->child)
		return;
	if (WIFSTOPPED(status)) {
		suspend(r);
		return;
	}
	terminal_pass(r->child, getpgrp());
	r->child = 0;
	r->child_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	if (r->writer)
		log_out_options(r->writer)->reason = LOG_COMMAND_ENDED;
	r->stop = true;
}

/* A recording without a command ends at once. With one, the first request is forwarded to the command,
 * unless the terminal sent it to both; the recording continues while the command ends. The second
 * request ends the recording. */
static void asked_to_end(struct recorder *r, int sig, bool from_terminal)
{
	if (!r->child || r->asked)
		r->stop = true;
	r->asked = true;
	if (!r->child || (from_terminal && !has_group(r)))
		return;
	command_kill(r, sig);
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
			if (r->since_ns)
				engine_mark(r->engine, clock_now_ns(), "");
			break;
		case SIGUSR2:
			if (r->keep)
				pretrigger_trigger(r->keep, clock_now_ns(), "SIGUSR2");
			else
				recorder_say(r, keeping_nothing());
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
			pretrigger_trigger(r->keep, clock_now_ns(), "w");
		else if (key == 'S' && marks)
			label_begin(&r->label, clock_now_ns());
		if (key < 0) {
			ttykeys_stop(&r->keys);
			r->no_keys = true;
		}
	}
}

/* Is --stop-on-eof active? Not while standard input is a terminal that delivers keys. */
static bool awaits_eof(const struct recorder *r)
{
	return r->o->stop_on_eof && !r->keys.on && !r->no_keys;
}

static void take_eof(struct recorder *r)
{
	if (awaits_eof(r) && stdin_ended())
		r->stop = r->no_keys = true;
}

/* Waits for the next event, at most until then_ns. */
static void wait_for_something(struct recorder *r, int64_t then_ns)
{
	struct pollfd p[3] = {{.fd = r->signals, .events = POLLIN},
			      {.fd = r->keys.on || awaits_eof(r) ? STDIN_FILENO : -1, .events = POLLIN},
			      {.fd = r->marks ? inbox_fd(r->marks) : -1, .events = POLLIN}};
	int64_t left = then_ns - clock_now_ns();

	if (left > 0)
		poll(p, 3, (int)(left / NS_PER_MS > 60000 ? 60000 : left / NS_PER_MS + 1));
	if (p[2].revents)
		inbox_read(r->marks);
}

static void say_new(struct recorder *r, struct err *said, const struct err *now)
{
	if (now->text[0] && strcmp(said->text, now->text) != 0)
		recorder_say(r, (*said = *now).text);
}

/* Reports changes in the state of the disk. Returns false if the recording is full or has failed. */
static bool watch_disk(struct recorder *r)
{
	struct log_out_stats s;
	char text[sizeof s.err.text];

	recorder_written(r, &s);
	recording_trouble(&r->trouble, &s, text, sizeof text);
	if (text[0])
		recorder_say(r, text);
	engine_add_lost(r->engine, s.lost_rows - r->lost);
	r->lost = s.lost_rows;
	say_new(r, &r->removed, &s.removed);
	say_new(r, &r->kept, &s.kept);
	if (s.full)
		recorder_say(r, recording_full());
	return !s.full && !s.failed;
}

static void watch_alerts(struct recorder *r)
{
	char text[ALERT_NEWS];

	while (r->alerts && alerts_news(r->alerts, text, sizeof text))
		recorder_say(r, text);
}

/* Sends --kill when it is due. */
static void kill_command(struct recorder *r)
{
	struct err e;

	if (r->killed || r->asked || !r->child || clock_now_ns() < r->kill_ns)
		return;
	r->killed = true;
	if (command_kill(r, r->o->kill) < 0 && errno != ESRCH) {
		err_sys(&e, ERR_FAILED, errno, _("cannot send --kill to the COMMAND"));
		recorder_say(r, e.text);
	}
}

/* Records until the time is over, a signal arrives, the command ends or the size limit is reached. */
static void run(struct recorder *r)
{
	char text[1024];
	bool failed;

	while (!r->stop) {
		int64_t now = clock_now_ns();

		if (now >= r->until_ns) {
			kill_command(r);
			break;
		}
		/* The shell does not notify a background job that it was moved to the foreground. */
		if (r->progress && !r->keys.on && !r->no_keys)
			ttykeys_start(&r->keys);
		recorder_line(r);
		/* A closed pipe is only detected by waking up. */
		int64_t wake = now + (r->progress || r->to_pipe ? PROGRESS_NS : NS_PER_S);
		wait_for_something(r, wake < r->until_ns ? wake : r->until_ns);
		take_signals(r);
		take_keys(r, true);
		take_eof(r);
		while (r->keep && keeping_news(r->keep, &r->kept_told, text, sizeof text, &failed))
			recorder_say(r, text);
		while (hangs_news(&r->hangs_told, r->engine, text, sizeof text))
			recorder_say(r, text);
		watch_alerts(r);
		if (!watch_disk(r))
			break;
	}
	recorder_line_wipe(r);
}

static void pause_before(struct recorder *r, int64_t until_ns)
{
	while (!r->stop && clock_now_ns() < until_ns) {
		wait_for_something(r, until_ns);
		take_signals(r);
		if (r->until_ns < until_ns) /* the command was asked to end; its grace period is shorter */
			until_ns = r->until_ns;
		take_keys(r, false);
		take_eof(r);
	}
}

/* A closed pipe is the normal end of a stream without a duration or command. */
static bool left_by_reader(const struct recorder *r)
{
	struct log_out_stats ws;

	if (!r->to_pipe)
		return false;
	log_out_stats(r->writer, &ws);
	return ws.reader_gone && !r->o->duration_ns && !r->o->command;
}

/* Prints the summary and returns the exit status. */
static int summary(struct recorder *r, const struct summary_moment *before, const struct summary_moment *after)
{
	struct summary s = {.before = *before, .after = *after};
	char names[8192], bin[PATH_MAX], why[512];

	if (r->to_pipe) {
		snprintf(names, sizeof names, "%s", _("standard output"));
	} else {
		recording_names(r->writer, MANY_FILES, names, sizeof names);
		text_printable(bin, sizeof bin, r->o->out ? r->o->out : "", r->o->out ? strlen(r->o->out) : 0);
		if (r->bins && log_out_file(r->writer, 1, NULL, 0, NULL))
			snprintf(names + strlen(names), sizeof names - strlen(names), "%s", _(", and each as .bin"));
		else if (r->bins)
			snprintf(names + strlen(names), sizeof names - strlen(names), _(" and %s"), bin);
	}
	recording_summary(&s, r->o, r->engine, r->writer, names);
	if (!r->o->quiet)
		summary_print(&s, stderr);
	summary_free(&s);
	if (left_by_reader(r) || !lost_text(&s.written, why, sizeof why))
		return 0;
	recorder_say(r, why);
	return ERR_FAILED;
}

static void marks_end(struct recorder *r)
{
	struct err e;
	uint64_t refused;

	/* A label that is still being typed counts. */
	if (r->label.open)
		engine_mark(r->engine, r->label.t_ns, r->label.text);
	r->label.open = false;
	refused = inbox_close(r->marks);
	if (refused)
		fprintf(stderr,
			P_("nvmtop: ignored %llu malformed or stale mark message\n",
			   "nvmtop: ignored %llu malformed or stale mark messages\n", refused),
			(unsigned long long)refused);
	/* The command may end if a mark fails. */
	r->marks = r->child ? inbox_open(&e) : NULL;
}

/* Ends the stream and waits until it is stored, and makes FILE.bin of it. */
static int stream_end(struct recorder *r, struct err *e)
{
	bool bin = r->o->out && text_ends_in(r->o->out, ".bin");
	struct err making;
	int failed;

	ttykeys_stop(&r->keys);
	engine_stop(r->engine);
	if (r->keep) {
		keeping_end(r->keep, r->signals);
		return 0;
	}
	log_out_finish(r->writer);
	if (r->to_pipe) {
		failed = log_out_end(r->writer, e);
		return failed && left_by_reader(r) ? 0 : failed;
	}
	bin &= recording_wait(r->writer, r->signals);
	failed = log_out_result(r->writer, e);
	if (!bin)
		return failed;
	progress_watch(r->signals);
	if (record_bins(r->writer, r->o->force, progress_step, NULL, &making) < 0) {
		if (failed)
			complain(e);
		*e = making;
		return -1;
	}
	r->bins = true;
	return failed;
}

/* Waits for the command if the recording ended first or never began. */
static void wait_for_command(struct recorder *r)
{
	reap(r); /* its SIGCHLD may have been taken while the disk was waited for */
	while (r->child && r->child_status == 0) {
		wait_for_something(r, r->killed || r->asked ? INT64_MAX : r->kill_ns);
		take_signals(r);
		kill_command(r);
	}
}

/* --delay: the command runs unrecorded until then. Returns false if there is nothing left to record. */
static bool delay(struct recorder *r, struct err *e)
{
	command_release(&r->go);
	r->until_ns = INT64_MAX;
	pause_before(r, clock_now_ns() + r->o->delay_ns);
	if (!r->stop && !r->asked)
		return true;
	wait_for_command(r);
	err_set(e, ERR_NONE, "%s", _("stopped before the recording began; nothing was written"));
	return false;
}

/* What is missing of the NVTX ranges. */
static void say_ranges(struct recorder *r)
{
	const char *from = r->o->phases_from;
	char missing[1024], text[1024], domain[64];
	bool any = nvtx_news(r->nvtx, &r->ranges, missing, sizeof missing);

	if (r->ranges.left_out > 0) {
		snprintf(text, sizeof text,
			 P_("the NVTX ranges of %zu program that started before the command are left out; "
			    "--nvtx-from=all records them",
			    "the NVTX ranges of %zu programs that started before the command are left out; "
			    "--nvtx-from=all records them",
			    r->ranges.left_out),
			 r->ranges.left_out);
		recorder_say(r, text);
	}
	if (any && (r->ranges.any || !r->other_library))
		recorder_say(r, missing);
	if (!from || !r->ranges.any || r->ranges.phases)
		return;
	text_printable(domain, sizeof domain, from, strlen(from));
	snprintf(text, sizeof text, _("no NVTX range was of the domain \"%s\": there are no phases of it"), domain);
	recorder_say(r, text);
}

/* Records from the first sample to the complete file. Returns the exit status. */
static int record(struct recorder *r)
{
	struct sink *sink = r->keep ? pretrigger_sink(r->keep) : log_sink(r->log);
	struct summary_moment before, after;
	char text[512];
	struct err e;
	int status = 0, lost = 0;

	if (r->o->delay_ns && !delay(r, &e)) {
		status = complain(&e);
		return r->child_status ? r->child_status : status;
	}
	inbox_attach(r->marks, r->engine);
	engine_wait_warm(r->engine, ENGINE_WARM_MS(r->o->hz[TIER_FAST]));
	summary_moment(&before, r->engine);
	/* Without real-time priority late ticks are likelier, and the user can change that. */
	if (!before.stats.realtime && !r->o->has_nice && !r->o->quiet) {
		priority_text(r->o, text, sizeof text);
		recorder_say(r, text);
	}
	r->since_ns = clock_now_ns();
	r->until_ns = r->o->duration_ns ? r->since_ns + r->o->duration_ns : INT64_MAX;
	r->kill_ns = r->o->kill ? r->until_ns : INT64_MAX;
	/* What may trigger sees the last rows before the log ends. */
	if (r->keep)
		sink->next = log_sink(pretrigger_log(r->keep));
	if (r->alerts)
		(r->keep ? sink->next : sink)->next = alerts_sink(r->alerts);
	if ((r->writer && log_out_begin(r->writer, r->log, INT64_MIN, INT64_MAX, &e) < 0) ||
	    engine_begin(r->engine, sink, &e) < 0) {
		if (r->writer)
			log_out_discard(r->writer);
		return complain(&e);
	}
	if (r->keep) {
		keeping_begun(r->o, r->keep, text, sizeof text);
		recorder_say(r, text);
	}
	if (r->o->ready_fd) { /* as s6 and others expect it */
		write_all(r->o->ready_fd, "\n", 1);
		close(r->o->ready_fd);
	}
	command_release(&r->go);
	run(r);
	marks_end(r);
	if (r->alerts)
		engine_call(r->engine, alerts_finish, r->alerts, NULL);
	r->until_ns = clock_now_ns();
	/* Ending a stream may wait for its reader; samples taken meanwhile belong to no recording. */
	summary_moment(&after, r->engine);
	int saved = stream_end(r, &e);
	if (r->nvtx)
		say_ranges(r);
	if (r->keep)
		status = keeping_ended(r->o, r->keep);
	else if (r->to_pipe ? saved == 0 : log_out_file(r->writer, 0, NULL, 0, NULL))
		lost = summary(r, &before, &after);
	if (r->writer && !r->to_pipe && log_out_file(r->writer, 0, r->file, sizeof r->file, NULL))
		r->parts = log_out_file(r->writer, 1, NULL, 0, NULL);
	if (status == 0)
		status = lost;
	if (saved < 0)
		status = complain(&e);
	if (r->alerts)
		alerts_end(r->alerts);
	watch_alerts(r);
	wait_for_command(r);
	return r->child_status ? r->child_status : status;
}

/* Locks the folder for as long as the process lives, and makes room for the first file. */
static int folder_begin(struct recorder *r, struct options *o, struct err *e)
{
	const char *dated = o->out ? NULL : "nvmtop-00000000-000000.nvmt", *path = o->out ? o->out : dated;
	struct err removed = {.text = ""}, kept = {.text = ""};
	int fd;

	if (!limit_is_set(&o->limits.retain) && !getenv("LOGS_DIRECTORY"))
		return 0;
	fd = log_folder_open(path);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return err_set(e, ERR_FAILED,
			       _("another service, or nvmtop with --retain, records to the folder of %s: choose "
				 "another folder"),
			       shown_word(path));
	o->limits.dated = dated;
	log_file_retain(path, &o->limits, &removed, &kept);
	say_new(r, &r->removed, &removed);
	say_new(r, &r->kept, &kept);
	return 0;
}

static struct log_out *files_new(const struct options *o, struct err *e)
{
	struct log_out *w;

	if (!o->out)
		return record_now(&o->limits, e);
	w = record_to(o->out, o->force, e);
	if (w)
		log_out_limits(w, &o->limits);
	return w;
}

/* Creates the process of the command and the files. The command must not write to a stream, and its process
 * ID may be in the name of a file, which is stored in name. */
static int open_output(struct recorder *r, struct options *o, unsigned run, char name[PATH_MAX],
		       struct err *e)
{
	if (r->to_pipe && !(r->writer = stream_to_stdout(e)))
		return -1;
	if (o->command && command_hold(o->command, o->kill, &r->child, &r->go, e) < 0)
		return -1;
	if (o->out && name_expand(o->out, r->child, run, name, PATH_MAX, e) < 0)
		return -1;
	o->out = o->out ? name : NULL;
	if (!r->to_pipe && run < 2 && folder_begin(r, o, e) < 0)
		return -1;
	if (!r->to_pipe && !o->keep_ns)
		r->writer = files_new(o, e);
	return r->writer || o->keep_ns ? 0 : -1;
}

/* Opens everything, and records. Returns the exit status. */
static int session(struct recorder *r, struct options *o, unsigned run)
{
	struct probe_set *probes = NULL;
	struct board *board;
	char name[PATH_MAX];
	struct err e;
	int since, status = 0;
	bool open;

	r->marks = inbox_open(&e);
	if (e.code != ERR_NONE)
		status = complain(&e);
	if (!r->marks)
		return status;
	r->to_pipe = is_stream(o->out);
	r->quiet = r->to_pipe && stream_is_shown_elsewhere();
	open = open_output(r, o, run, name, &e) == 0 && (probes = open_probes(o, &r->root, &board, NULL, 0, &e)) != NULL;
	if (open) {
		if (e.code != ERR_NONE)
			complain(&e);
		board_free(board);
		since = o->command && o->nvtx_from == NVTX_FROM_COMMAND ? (int)r->child : 0;
		r->engine = engine_for(o, probes, &e);
		open = r->engine && (!o->nvtx || (r->nvtx = nvtx_attach(r->engine, false, since, o->phases_from, &e))) &&
		       (!o->n_on || (r->alerts = alerts_new(o, r->engine, &e)));
	}
	if (open && !r->to_pipe)
		engine_unwatched(r->engine, LOG_CELL_ZOOM);
	if (open && o->keep_ns)
		r->keep = keeping_new(o, r->engine, NULL, o->keep_ns, &e);
	else if (open)
		r->log = log_new(&(struct log_bound) {.now = true}, &e);
	if ((r->keep || r->log) && engine_start(r->engine, &e) == 0) {
		r->progress = !o->command && !r->quiet && isatty(STDERR_FILENO);
		if (r->progress)
			ttykeys_start(&r->keys);
		status = record(r);
		ttykeys_stop(&r->keys);
	} else {
		status = complain(&e);
	}
	inbox_close(r->marks);
	engine_free(r->engine);
	root_close(r->root);
	pretrigger_free(r->keep);
	alerts_free(r->alerts);
	log_out_free(r->writer);
	log_free(r->log);
	nvtx_free(r->nvtx);
	return status;
}

/* --stats: on standard error, as standard output is that of the command. */
static int print_stats(struct recorder *r)
{
	const char *file = r->file;
	struct options o = {.files = &file, .n_files = 1, .pick = r->o->pick, .per = r->o->per};
	int status;

	if (!*file)
		return 0;
	if (r->parts) {
		recorder_say(r, _("the recording is in several files, and --stats reports one: give all of them to "
				  "nvmtop report"));
		return ERR_FAILED;
	}
	status = report_files(&o, stderr);
	if (r->ranges.any && status == 0) {
		o.by = REPORT_BY_RANGE;
		status = report_files(&o, stderr);
	}
	return status;
}

int record_run(struct recorder *r, unsigned run)
{
	struct options o = *r->o;
	int status, stats = 0;

	r->o = &o;
	status = session(r, &o, run);
	if (r->go >= 0) /* it could not begin */
		close(r->go);
	if (r->child) /* it ignored requests to end */
		terminal_pass(r->child, getpgrp());
	if (o.stats)
		stats = print_stats(r);
	return status ? status : stats;
}

/* A run of the command without a recording. */
static int warm_up(struct recorder *r)
{
	const struct options *o = r->o;
	struct err e;

	r->marks = inbox_open(&e); /* they are discarded, as no engine reads it */
	if (!r->marks || command_hold(o->command, o->kill, &r->child, &r->go, &e) < 0) {
		inbox_close(r->marks);
		return complain(&e);
	}
	command_release(&r->go);
	if (o->kill)
		r->kill_ns = clock_now_ns() + o->delay_ns + o->duration_ns;
	wait_for_command(r);
	inbox_close(r->marks);
	return r->child_status;
}

/* The names of all runs, before the first of them, as far as they are known. */
static int check_names(const struct options *o, struct err *e)
{
	char name[PATH_MAX], log[PATH_MAX];
	struct err unknown;

	for (int i = 1; i <= o->repeat; i++)
		if (name_expand(o->out, 0, (unsigned)i, name, sizeof name, &unknown) == 0 &&
		    (record_log(name, o->force, log, e) < 0 || log_file_check(log, o->force, e) < 0))
			return -1;
	return 0;
}

/* --repeat: runs to warm up, recorded runs up to the first that fails, and mean and spread of their phases. */
static int repeat(const struct recorder *each)
{
	const struct options *given = each->o;
	char base[64], line[160];
	char(*names)[PATH_MAX] = calloc((size_t)given->repeat, sizeof *names);
	const char **files = calloc((size_t)given->repeat, sizeof *files);
	struct options o = *given;
	struct err e = {.code = ERR_NONE};
	int status = 0, compared;
	bool go_on;

	if (!names || !files)
		err_set(&e, ERR_FAILED, _("out of memory"));
	if (!o.out) {
		name_now(base, sizeof base - sizeof ".nvmt");
		o.out = strcat(base, ".nvmt");
	}
	go_on = e.code == ERR_NONE && check_names(&o, &e) == 0;
	if (!go_on)
		status = complain(&e);
	for (int i = -o.warmup; go_on && i < o.repeat; i++) {
		struct recorder r = *each;

		r.o = &o;
		snprintf(line, sizeof line, i < 0 ? _("run %d of %d to warm up") : _("run %d of %d"),
			 i < 0 ? i + o.warmup + 1 : i + 1, i < 0 ? o.warmup : o.repeat);
		recorder_say(&r, line);
		status = i < 0 ? warm_up(&r) : record_run(&r, (unsigned)i + 1);
		if (i >= 0) {
			files[i] = strcpy(names[i], r.file);
			o.ready_fd = 0; /* was told */
		}
		go_on = !r.asked && (!status || r.killed) && (i < 0 || *r.file);
		if (!go_on)
			recorder_say(&r,
				     _("this run failed or was stopped: no more runs, and no report of them"));
	}
	if (go_on) {
		o.files = files;
		o.n_files = (size_t)o.repeat;
		compared = report_files(&o, stderr);
		o.by = REPORT_BY_RANGE;
		if (o.nvtx && compared == 0)
			compared = report_files(&o, stderr);
		status = status ? status : compared;
	} else if (!status) {
		status = ERR_FAILED;
	}
	free(names);
	free(files);
	return status;
}

static int cmd_record(const struct options *o)
{
	struct recorder r = {.o = o, .kill_ns = INT64_MAX, .go = -1};
	struct variable nvtx[NVTX_VARIABLES];
	struct err e;
	int kept = 0, status;

	r.signals = signals_open(&e);
	if (r.signals < 0)
		return complain(&e);
	if (o->command && (status = command_check(o->command[0])))
		return status;
	if (o->nvtx && (kept = nvtx_variables(o->nvtx, nvtx, &e)) < 0)
		return complain(&e);
	r.other_library = kept > 0;
	for (size_t i = 0; o->nvtx && i < NVTX_VARIABLES; i++)
		setenv(nvtx[i].name, nvtx[i].value, 1);
	return o->repeat ? repeat(&r) : record_run(&r, 0);
}

static int finish(struct options *o, struct err *e)
{
	bool splits = limit_is_set(&o->limits.split), retains = limit_is_set(&o->limits.retain);
	bool limited = o->limits.sync_ns || splits || o->limits.max_bytes || retains;

	char name[PATH_MAX];

	for (size_t i = 0; i < o->n_files; i++)
		if (operand_out(o, o->files[i], e) < 0)
			return -1;
	if (o->out && strchr(o->out, '%') &&
	    name_expand(o->out, o->command != NULL, 0, name, sizeof name, e) < 0)
		return -1;
	const struct option_rule rules[] = {
		{is_stream(o->out) && o->force, N_("--force is only for a file: a stream overwrites nothing")},
		{is_stream(o->out) && limited,
		 N_("--flush, --split, --max-size and --retain are only for files, not for a stream")},
		{retains && (o->repeat || (o->out && (strstr(o->out, "%p") || text_ends_in(o->out, ".bin")))),
		 N_("--retain cannot be used with --repeat, %p in the name, or a FILE.bin")},
		{is_stream(o->out) && o->keep_ns, N_("--keep writes files, not a stream: give the name of a file")},
		{o->stop_on_eof && o->command,
		 N_("--stop-on-eof cannot be used with a COMMAND, which reads standard input")},
		{o->kill && !(o->command && o->duration_ns), N_("--kill needs --duration and a COMMAND")},
		{o->repeat && !o->command, N_("--repeat needs a COMMAND")},
		{o->warmup && !o->repeat, N_("--warmup needs --repeat")},
		{o->per > 0 && !o->repeat && !o->stats, N_("--per needs --repeat or --stats")},
		{o->nvtx_from == NVTX_FROM_ALL && !o->nvtx, N_("--nvtx-from needs --nvtx")},
		{(o->stats || o->repeat) && (is_stream(o->out) || o->keep_ns || splits),
		 N_("--stats and --repeat report one file of a run: not with a stream, --keep or --split")},
		{o->phases_from && !o->nvtx, N_("--phases-from needs --nvtx")},
		{o->keep_ns && o->out && text_ends_in(o->out, ".bin"),
		 N_("--keep cannot be used with a FILE.bin: name a FILE.nvmt, of which nvmtop export nvmt1 makes one")},
		{o->keep_ns && limited, N_("--flush, --split, --max-size and --retain cannot be used with --keep")},
	};

	if (o->command)
		o->command = nsys_command(o->command);
	return RULES(rules, e) < 0 || check_alerts(o, e) < 0 ? -1 : check_pretrigger(o, e);
}

/* Order of enum nvtx_from. */
static const char *const nvtx_froms[] = {"command", "all", NULL};
/* Order of the numbers in value_signal(). */
static const char *const signals[] = {"none", "HUP",  "INT",  "QUIT", "ABRT", "KILL",
				      "USR1", "USR2", "ALRM", "TERM", NULL};
static const struct option_entry own[] = {
	{"output", "FILE", N_("write the trace to FILE (default: nvmtop-DATE-TIME.nvmt)"), .letter = 'o',
	 .take = value_output},
	{"force", NULL, N_("replace FILE if it is a recording or empty"), FLAG(force)},
	{"duration", "SEC", N_("stop after SEC seconds (also 1m30s, 250ms)"), TIME(duration_ns), .least = 1e-9,
	 .wants = N_("a time longer than 0")},
	{"retain", "SEC|BYTES",
	 N_("remove the oldest recordings of this name, by age (7d), total size (10G), or both: give it twice"),
	 LIMIT(limits.retain)},
	{"delay", "SEC", N_("start SEC seconds later; a COMMAND starts at once"), TIME(delay_ns)},
	{"kill", "SIG|none",
	 N_("send SIG to the COMMAND after --duration (none: it runs on, nvmtop waits for it)"),
	 .take = value_signal, .words = signals},
	{"stats", NULL, N_("print the report by phase and by range to standard error at the end"), FLAG(stats)},
	{"repeat", "N", N_("record the COMMAND N times, to NAME-1 to NAME-N; print mean and spread of each phase"),
	 COUNT(repeat, 1, 100), .wants = N_("a whole number from 1 to 100")},
	{"warmup", "N", N_("with --repeat: first run the COMMAND N times without a recording"),
	 COUNT(warmup, 0, 100), .wants = N_("a whole number from 0 to 100")},
	{"nvtx-from", "WHICH",
	 N_("with --nvtx: command (default): of programs that started with the COMMAND or after it; all"),
	 WORD(nvtx_from, enum nvtx_from, nvtx_froms), .wants = N_("command or all")},
	{"phases-from", "DOMAIN", N_("with --nvtx: set a mark where each outermost range of DOMAIN begins"),
	 TEXT(phases_from)},
	{"ready-fd", "N", N_("write a newline to descriptor N and close it when the recording has begun"),
	 .take = value_ready_fd, .at = AT(ready_fd, int), .least = 3, .most = 1 << 20,
	 .wants = N_("the number of an open descriptor, 3 or more")},
	{"stop-on-eof", NULL, N_("stop when standard input is closed"), FLAG(stop_on_eof)},
};
static const struct option_group options = {NULL, OPTIONS(own)};

const struct verb verb_record = {
	.name = "record",
	.also_option = true,
	.operands = "[FILE] [-- COMMAND [ARGUMENT]...]",
	.summary = N_("record to FILE without a screen; -: a stream to standard output"),
	.groups = {&options, &group_items, &group_nvtx, &group_files, &group_keep, &group_alerts, &group_sampling, &group_priority},
	.runs_as = MODE_RECORD,
	.takes_signals = true,
	.runs_command = true,
	.finish = finish,
	.run = cmd_record,
};
