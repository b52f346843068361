/* The live screen, a trace on it, and one frame of either as text. */
#include <string.h>

#include "cli/verb.h"
#include "util/intl.h"

static int check_replay(const struct options *o, struct err *e)
{
	const struct option_rule rules[] = {
		{o->has_at && is_stream(o->replay) && !o->print_w,
		 N_("--at needs a complete recording: it cannot be used with a live stream")},
		{o->follow && o->print_w, N_("--follow is only for the screen, not for --print")},
		{o->with && (is_stream(o->with) || is_stream(o->replay) || o->follow),
		 N_("--with compares two saved traces: it cannot be used with a stream or with --follow")},
		{o->align && !o->with, N_("--align needs --with FILE")},
	};

	return RULES(rules, e);
}

/* Samples, instead of reading a FILE. */
static int check_live(const struct options *o, struct err *e)
{
	const struct option_rule rules[] = {
		{o->has_at, N_("--at needs a FILE to replay")},
		{o->follow, N_("--follow needs a FILE to replay")},
		{o->with, N_("--with needs a FILE to replay, which the second one is compared with")},
		{o->align, N_("--align needs --with FILE")},
	};

	return RULES(rules, e);
}

static bool records(const struct options *o)
{
	return o->limits.sync_ns || o->limits.split_ns || o->limits.split_bytes || o->limits.max_bytes ||
	       o->keep_ns || o->has_nice;
}

static int check_shown(const struct options *o, struct err *e)
{
	const struct option_rule rules[] = {
		{o->config && o->no_config, N_("--config and --no-config exclude each other")},
		{o->picture && !o->print_w, N_("--format text and svg are only for --print")},
		{o->print_w && (o->frames > 0 || (o->has_history && !o->replay)),
		 N_("--frames, --interval and --history are only for the screen, not for --print")},
		{records(o) && (o->replay || o->print_w),
		 N_("--flush, --split, --max-size, --keep and --nice are only for nvmtop record and the live "
		    "screen")},
	};

	return RULES(rules, e) < 0 ? -1 : check_pretrigger(o, e);
}

static int finish_screen(struct options *o, struct err *e)
{
	char shown[128];

	if (o->n_files > 1) {
		text_printable(shown, sizeof shown, o->files[1], strlen(o->files[1]));
		return err_set(e, ERR_USAGE,
			       _("unexpected file \"%s\": use --with FILE to show a second trace, or nvmtop "
				 "record to write one"),
			       shown);
	}
	o->replay = o->n_files ? o->files[0] : NULL;
	if ((o->replay ? check_replay(o, e) : check_live(o, e)) < 0)
		return -1;
	return check_shown(o, e);
}

static int finish_replay(struct options *o, struct err *e)
{
	if (o->n_files == 0)
		return err_set(e, ERR_USAGE, _("nvmtop replay needs a FILE"));
	return finish_screen(o, e);
}

static int run(const struct options *o)
{
	if (!o->print_w)
		return cmd_top(o);
	return o->replay ? cmd_print(o) : run_apart(cmd_print, o);
}

/* As enum picture. */
static const char *const pictures[] = {"", "text", "svg", NULL};
static const struct option_entry own[] = {
	{"view", "NAME", N_("initial view"), TEXT(view)},
	{"frames", "HZ", N_("frames per second, 0.1 to 60 (default: when something changes)"),
	 NUMBER(frames), .least = 0.1, .most = 60, .wants = N_("a rate from 0.1 to 60 per second")},
	{"interval", "SEC", N_("the same as the time between two frames"), .letter = 'd',
	 .take = value_interval},
	{"print", "WxH", N_("print one frame of the screen as text"), .take = value_print},
	{"format", "NAME", N_("for --print: text or svg"), WORD(picture, enum picture, pictures),
	 .wants = N_("text or svg")},
};
static const struct option_group options = {N_("Screen"), OPTIONS(own)};

const struct verb verb_screen = {
	.operands = "[FILE]",
	.groups = {&options, &group_replay, &group_drawing, &group_settings, &group_history, &group_files,
		   &group_keep, &group_sampling, &group_priority},
	.runs_as = MODE_TOP,
	.takes_marks = true,
	.finish = finish_screen,
	.run = run,
};

const struct verb verb_replay = {
	.name = "replay",
	.mode_value = true,
	.operands = "FILE",
	.summary = N_("show a saved trace (also: nvmtop FILE); -: a stream, live"),
	.groups = {&options, &group_replay, &group_drawing, &group_settings},
	.also = &group_history,
	.runs_as = MODE_TOP,
	.takes_marks = true,
	.finish = finish_replay,
	.run = run,
};
