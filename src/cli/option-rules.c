/* Options that make no sense together, or not with what is to be done: the sentence of
 * the first rule that is broken. */
#include <string.h>

#include "cli/options.h"
#include "util/intl.h"

struct rule {
	bool broken;
	const char *text;
};

static int hold(const struct rule *rules, size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++)
		if (rules[i].broken)
			return err_set(e, ERR_USAGE, "%s", _(rules[i].text));
	return 0;
}

#define HOLD(rules, e) hold(rules, sizeof(rules) / sizeof *(rules), e)

static bool is_stream(const char *path)
{
	return path && !strcmp(path, "-");
}

/* On the screen, or as one frame of it. */
static bool shows(const struct options *o)
{
	return o->mode == MODE_TOP || o->mode == MODE_PRINT;
}

/* Reads a board for as long as it runs. */
static bool samples(const struct options *o)
{
	return o->mode == MODE_RECORD || (o->mode == MODE_TOP && !o->replay);
}

/* What is written. */
static int check_output(const struct options *o, struct err *e)
{
	bool records = o->mode == MODE_RECORD;
	bool writes = o->mode == MODE_EXPORT || o->mode == MODE_CUT || o->mode == MODE_JOIN;
	const struct rule rules[] = {
		{!records && !writes && o->out,
		 N_("an output FILE is only for --record; to show a saved trace use --replay FILE")},
		{!records && !writes && o->force,
		 N_("--force is only for --record, --export, --cut and --join")},
		{is_stream(o->out) && o->force, N_("--force is only for a file: a stream overwrites "
						   "nothing")},
	};

	return HOLD(rules, e);
}

/* How it is recorded. */
static int check_recording(const struct options *o, struct err *e)
{
	bool records = o->mode == MODE_RECORD;
	bool limited =
		o->limits.sync_ns || o->limits.split_ns || o->limits.split_bytes || o->limits.max_bytes;
	const struct rule rules[] = {
		{!records && o->command, N_("a COMMAND to run is only for --record")},
		{!records && (o->duration_ns || o->delay_ns),
		 N_("--duration and --delay are only for --record")},
		{!records && o->stop_on_eof, N_("--stop-on-eof is only for --record")},
		{o->stop_on_eof && o->command,
		 N_("--stop-on-eof cannot be used with a COMMAND, which reads standard input")},
		{!samples(o) && limited, N_("--sync, --split and --max-size are only for --record and the "
					    "live screen")},
		{is_stream(o->out) && limited,
		 N_("--sync, --split and --max-size are only for files, not for a stream")},
		{o->keep_ns && !samples(o), N_("--keep is only for the live screen and --record")},
		{(o->trigger || o->after_ns) && !o->keep_ns, N_("--trigger and --after need --keep SEC")},
		{o->keep_ns && records && is_stream(o->out),
		 N_("--keep writes files, not a stream: give the name of a file")},
		{o->keep_ns && records && limited, N_("--sync, --split and --max-size cannot be used with "
						      "--record --keep")},
		{o->has_nice && !samples(o), N_("--nice is only for the live screen and --record")},
	};

	return HOLD(rules, e);
}

/* What is taken out of traces. */
static int check_numbers(const struct options *o, struct err *e)
{
	bool numbers = o->mode == MODE_REPORT || o->mode == MODE_EXPORT;
	bool makes_trace = o->mode == MODE_CUT || o->mode == MODE_JOIN;
	const struct rule rules[] = {
		{o->mode != MODE_REPORT && (o->has_format || o->per > 0 || o->summary),
		 N_("--format, --per and --summary are only for --report")},
		{o->mode != MODE_EXPORT && (o->pick.tier >= 0 || o->resample_hz > 0),
		 N_("--tier and --resample are only for --export")},
		{!numbers && (o->pick.select || o->pick.epoch),
		 N_("--select and --phase are only for --report and --export")},
		{!numbers && o->mode != MODE_CUT && (o->pick.has_from || o->pick.has_to),
		 N_("--from and --to are only for --report, --export, --cut; --to PID also for --mark")},
		{o->pick.has_from && o->pick.has_to && o->pick.from_ns >= o->pick.to_ns,
		 N_("--from must be before --to")},
		{o->mode == MODE_CUT && !o->pick.has_from && !o->pick.has_to,
		 N_("--cut needs --from SEC, --to SEC or both")},
		{makes_trace && !o->out, N_("--cut and --join need -o FILE for the new trace")},
		{makes_trace && is_stream(o->out),
		 N_("--cut and --join write a trace to a file, not to standard output")},
		{o->mode == MODE_JOIN && o->n_files < 2, N_("--join needs two or more traces")},
	};

	return HOLD(rules, e);
}

/* What is replayed. */
static int check_replay(const struct options *o, struct err *e)
{
	const struct rule rules[] = {
		{o->follow && (!o->replay || o->mode != MODE_TOP),
		 N_("--follow is only for --replay FILE on the screen")},
		{is_stream(o->replay) && o->has_at && o->mode == MODE_TOP,
		 N_("--at needs a complete recording: it cannot be used with a live stream")},
		{o->with && (!o->replay || !shows(o)),
		 N_("--with FILE is only for --replay FILE, on the screen or with --print")},
		{o->with && o->replay && (is_stream(o->with) || is_stream(o->replay) || o->follow),
		 N_("--with compares two saved traces: it cannot be used with a stream or with --follow")},
		{o->align && !o->with, N_("--align needs --with FILE")},
		{o->has_at && !o->replay, N_("--at needs --replay FILE")},
		{o->replay && !shows(o), N_("--replay is only for the screen and --print")},
	};

	return HOLD(rules, e);
}

/* What is shown or printed. */
static int check_screen(const struct options *o, struct err *e)
{
	bool settings = shows(o) || o->mode == MODE_CONFIG;
	const struct rule rules[] = {
		{o->mode != MODE_ONCE && o->json, N_("--json is only for --once")},
		{o->mode != MODE_BOARDS && o->paths, N_("--paths is only for --boards")},
		{o->config && o->no_config, N_("--config and --no-config exclude each other")},
		{o->config && !settings,
		 N_("--config is only for the screen, --print and --print-config")},
		{(o->has_theme || o->term.no_mouse) && !settings,
		 N_("--theme and --no-mouse are only for the screen, --print and --print-config")},
		{o->picture && o->mode != MODE_PRINT, N_("--format text and svg are only for --print")},
		{o->view && !shows(o), N_("--view is only for the screen and --print")},
		{o->frames > 0 && o->mode != MODE_TOP, N_("--frames is only for the screen")},
		{o->has_history && o->mode != MODE_TOP && o->mode != MODE_CONFIG,
		 N_("--history is only for the screen and --print-config")},
		{o->board && !*o->board,
		 N_("--board needs the name or the file of a board; nvmtop --boards lists them")},
	};

	return HOLD(rules, e);
}

int options_check(const struct options *o, struct err *e)
{
	if (check_output(o, e) < 0 || check_numbers(o, e) < 0 || check_recording(o, e) < 0)
		return -1;
	return check_replay(o, e) < 0 ? -1 : check_screen(o, e);
}
