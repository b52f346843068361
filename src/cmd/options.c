/* The command line.  One table makes the parser and --help, so that neither
 * can know an option that the other does not. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "nvmtop/clock.h"
#include "nvmtop/condition.h"
#include "nvmtop/conf.h"
#include "nvmtop/intl.h"
#include "nvmtop/num.h"
#include "nvmtop/trace.h"

#define HZ_MIN 0.1
#define HZ_MAX 10000.0

enum {
	OPT_RECORD = 256,
	OPT_REPLAY,
	OPT_RECOVER,
	OPT_ONCE,
	OPT_JSON,
	OPT_PATHS,
	OPT_BOARDS,
	OPT_PRINT,
	OPT_MARK,
	OPT_TO,
	OPT_REPORT,
	OPT_EXPORT,
	OPT_CUT,
	OPT_JOIN,
	OPT_CHECK,
	OPT_FORMAT,
	OPT_PER,
	OPT_TIER,
	OPT_RESAMPLE,
	OPT_SELECT,
	OPT_EPOCH,
	OPT_FROM,
	OPT_DEMO,
	OPT_FORCE,
	OPT_DURATION,
	OPT_DELAY,
	OPT_EOF,
	OPT_FOLLOW,
	OPT_SYNC,
	OPT_SPLIT,
	OPT_MAX_SIZE,
	OPT_KEEP,
	OPT_HISTORY,
	OPT_AFTER,
	OPT_TRIGGER,
	OPT_AT,
	OPT_WITH,
	OPT_ALIGN,
	OPT_VIEW,
	OPT_FRAMES,
	OPT_FAST,
	OPT_MEDIUM,
	OPT_SLOW,
	OPT_GENTLE,
	OPT_NICE,
	OPT_BOARD,
	OPT_SYSROOT,
	OPT_ASCII,
	OPT_COLOR,
	OPT_THEME,
	OPT_NO_MOUSE,
	OPT_CONFIG,
	OPT_NO_CONFIG,
	OPT_PRINT_CONFIG,
	OPT_HELP,
	OPT_VERSION,
	OPT_HEADING,
};

static const struct entry {
	const char *name; /* NULL: a heading */
	int code;
	const char *argument; /* NULL: takes none */
	const char *help;
} table[] = {
	{NULL, OPT_HEADING, NULL, N_("What to do (without any of these: the live screen)")},
	{"record", OPT_RECORD, NULL, N_("record without a screen, into FILE; -: as a stream")},
	{"replay", OPT_REPLAY, "FILE", N_("show a saved trace; -: a stream, live")},
	{"recover", OPT_RECOVER, "FILE", N_("complete a recording that was interrupted")},
	{"demo", OPT_DEMO, NULL, N_("a made-up board, to see what nvmtop looks like")},
	{"once", OPT_ONCE, NULL, N_("print one reading of everything")},
	{"boards", OPT_BOARDS, NULL, N_("say which board this is, what it has, and what is missing and why")},
	{"print", OPT_PRINT, "WxH", N_("print one frame of the screen as text")},
	{"mark", OPT_MARK, NULL, N_("put a mark, with LABEL if there is one, into what you record or look at")},
	{"report", OPT_REPORT, NULL, N_("numbers of each epoch of a trace; of several traces: compare them")},
	{"export", OPT_EXPORT, "FORM", N_("write a trace as csv, jsonl or perfetto")},
	{"cut", OPT_CUT, "FILE", N_("write the stretch --from .. --to of a trace as a trace of its own")},
	{"join", OPT_JOIN, NULL, N_("write several traces of one board as one trace")},
	{"check", OPT_CHECK, "FILE", N_("hold a trace from any writer against the format")},
	{"print-config", OPT_PRINT_CONFIG, NULL, N_("print the settings that hold, as a file of settings")},
	{"help", OPT_HELP, NULL, N_("show this help")},
	{"version", OPT_VERSION, NULL, N_("show the version")},
	{NULL, OPT_HEADING, NULL, N_("Recording")},
	{"output", 'o', "FILE", N_("write the trace to FILE (default: nvmtop-DATE-TIME.bin)")},
	{"force", OPT_FORCE, NULL, N_("overwrite FILE if it exists")},
	{"duration", OPT_DURATION, "SEC", N_("stop after SEC seconds (also 1m30s, 250ms)")},
	{"delay", OPT_DELAY, "SEC", N_("begin after SEC seconds")},
	{"stop-on-eof", OPT_EOF, NULL, N_("stop when standard input is closed")},
	{"sync", OPT_SYNC, "SEC", N_("have the disk keep everything that is older (5)")},
	{"split", OPT_SPLIT, "SEC|BYTES", N_("go on in a new file that often, or before one gets larger (500M)")},
	{"max-size", OPT_MAX_SIZE, "BYTES", N_("end before the recording gets larger")},
	{"keep", OPT_KEEP, "SEC", N_("hold the last SEC seconds, and write them out on w, SIGUSR2 or --trigger")},
	{"trigger", OPT_TRIGGER, "CONDITION", N_("with --keep: when this begins to hold: 'gpu > 95 for 2s'")},
	{"after", OPT_AFTER, "SEC", N_("with --keep: and SEC seconds after that (0)")},
	{"to", OPT_TO, "PID|SEC", N_("with --mark: only into that of process PID; else the end of a stretch")},
	{NULL, OPT_HEADING, NULL, N_("Numbers (--report, --export, --cut, --join)")},
	{"format", OPT_FORMAT, "NAME", N_("of --report: table, json, csv or markdown; of --print: text or svg")},
	{"per", OPT_PER, "N", N_("of --report: each epoch did N items; give energy and time of one")},
	{"select", OPT_SELECT, "NAMES", N_("only these signals, such as gpu.util,*.power")},
	{"epoch", OPT_EPOCH, "N|LABEL", N_("only this epoch, or all of this label")},
	{"from", OPT_FROM, "SEC", N_("only from SEC seconds after the start; --to SEC: only up to there")},
	{"tier", OPT_TIER, "NAME", N_("of --export: only fast, medium or slow")},
	{"resample", OPT_RESAMPLE, "HZ", N_("of --export: all signals on one time base of HZ rows a second")},
	{NULL, OPT_HEADING, NULL, N_("Showing")},
	{"json", OPT_JSON, NULL, N_("with --once: as one JSON object")},
	{"paths", OPT_PATHS, NULL, N_("with --boards: only the kernel files that the board may need, one a line")},
	{"follow", OPT_FOLLOW, NULL, N_("with --replay: FILE is still being recorded, show it live")},
	{"history", OPT_HISTORY, "BYTES|SEC", N_("memory of the live screen (32Mi), or how far back it is fine")},
	{"at", OPT_AT, "SEC", N_("with --replay: show the moment SEC seconds after the start")},
	{"with", OPT_WITH, "FILE", N_("with --replay: and under each signal the same one of this trace")},
	{"align", OPT_ALIGN, "MARK|start", N_("with --with: where the two meet: a label, m3, or their start")},
	{"view", OPT_VIEW, "NAME", N_("begin with this view")},
	{"frames", OPT_FRAMES, "HZ", N_("draw so often a second, 0.1 to 60 (default: as things change)")},
	{"ascii", OPT_ASCII, NULL, N_("draw with ASCII characters only")},
	{"color", OPT_COLOR, "WHEN", N_("auto, never, 8, 16, 256 or truecolor")},
	{"theme", OPT_THEME, "NAME", N_("auto, dark, light, high-contrast, colour-blind (both also -dark, -light) or mono")},
	{"no-mouse", OPT_NO_MOUSE, NULL, N_("leave the mouse to the terminal")},
	{"config", OPT_CONFIG, "FILE", N_("read and keep the settings there (~/.config/nvmtop/nvmtop.conf)")},
	{"no-config", OPT_NO_CONFIG, NULL, N_("read and keep no settings")},
	{NULL, OPT_HEADING, NULL, N_("Sampling")},
	{"fast-hz", OPT_FAST, "HZ", N_("rate of GPU, CPU, memory and EMC (1000)")},
	{"medium-hz", OPT_MEDIUM, "HZ", N_("rate of power rails and clocks (100)")},
	{"slow-hz", OPT_SLOW, "HZ", N_("rate of temperatures (10)")},
	{"gentle", OPT_GENTLE, NULL, N_("read the GPU less than twice a second, so that it can fall asleep")},
	{"nice", OPT_NICE, "N", N_("sample at niceness N (-20 to 19) instead of in real time")},
	{"board", OPT_BOARD, "NAME|FILE", N_("use this board instead of the one that is recognised")},
	{"sysroot", OPT_SYSROOT, "DIR", N_("read everything of the kernel below DIR instead of /")},
};

#define ENTRIES (sizeof table / sizeof *table)

static const struct entry *entry_of(int code)
{
	for (size_t i = 0; i < ENTRIES; i++)
		if (table[i].name && table[i].code == code)
			return &table[i];
	return NULL;
}

static const char *short_form(int code)
{
	return code == 'o' ? "-o, " : code == OPT_HELP ? "-h, " : "";
}

void options_help(FILE *out)
{
	fprintf(out, "%s",
		_("Usage: nvmtop [OPTION]...\n"
		  "       nvmtop --record [OPTION]... [FILE] [-- COMMAND [ARGUMENT]...]\n"
		  "       nvmtop --replay FILE\n"
		  "       nvmtop --report|--export FORM|--join [OPTION]... FILE...\n"
		  "       nvmtop --mark [LABEL]\n"
		  "A live, recording and replaying monitor for NVIDIA Jetson boards.\n"));
	for (size_t i = 0; i < ENTRIES; i++) {
		const struct entry *t = &table[i];
		char left[64];
		if (!t->name) {
			fprintf(out, "\n%s:\n", _(t->help));
			continue;
		}
		snprintf(left, sizeof left, "%s--%s%s%s", short_form(t->code), t->name,
			 t->argument ? " " : "", t->argument ? t->argument : "");
		fprintf(out, "  %-22s %s\n", left, _(t->help));
	}
	fprintf(out, "\n%s:\n", _("Keys on the screen"));
	const char *keys, *what;
	for (size_t i = 0; ui_key(i, &keys, &what); i++)
		fprintf(out, "  %-22s %s\n", keys, what);
	fprintf(out, "\n%s",
		_("Exit status: 0 done, 1 failed, 2 wrong use, 3 the file was damaged but what could be read "
		  "was.\n"
		  "With a COMMAND: its exit status, or 128+N when signal N ended it.\n"));
}

static int bad_value(struct err *e, int code, const char *value, const char *expected)
{
	char shown[128];

	text_printable(shown, sizeof shown, value, strlen(value));
	return err_set(e, ERR_USAGE, _("\"%s\" is not a value for --%s: it takes %s"), shown,
		       entry_of(code)->name, expected);
}

static int parse_hz(double *out, int code, const char *value, struct err *e)
{
	if (num_double(value, out) && *out >= HZ_MIN && *out <= HZ_MAX)
		return 0;
	return bad_value(e, code, value, _("a rate from 0.1 to 10000 per second"));
}

static int parse_time(int64_t *out, int code, const char *value, struct err *e)
{
	if (num_duration_ns(value, out))
		return 0;
	return bad_value(e, code, value, _("a time such as 90, 1.5, 250ms, 1m30s or 1:02:03"));
}

static int parse_bytes(uint64_t *out, int code, const char *value, struct err *e)
{
	if (num_bytes(value, out) && *out >= TRACE_BYTES_MIN)
		return 0;
	return bad_value(e, code, value, _("a number of bytes such as 500k, 100M or 2G, at least 64Ki"));
}

/* A plain number is seconds. */
static int parse_split(struct options *o, const char *value, struct err *e)
{
	o->limits.split_ns = 0;
	o->limits.split_bytes = 0;
	if (num_duration_ns(value, &o->limits.split_ns) && o->limits.split_ns >= NS_PER_S)
		return 0;
	o->limits.split_ns = 0;
	if (*value && !strchr("0123456789", value[strlen(value) - 1]) &&
	    num_bytes(value, &o->limits.split_bytes) && o->limits.split_bytes >= TRACE_BYTES_MIN)
		return 0;
	return bad_value(e, OPT_SPLIT, value,
			 _("a time of at least 1 second such as 3600 or 1h, or a size of at least 64Ki "
			   "such as 500M"));
}

static int parse_history(struct options *o, const char *value, struct err *e)
{
	const struct history_bound none = {0, 0};

	o->history = none;
	if (num_duration_ns(value, &o->history.span_ns) && o->history.span_ns >= 10 * NS_PER_S &&
	    o->history.span_ns <= 7 * 86400 * NS_PER_S)
		return 0;
	o->history = none;
	if (*value && !strchr("0123456789", value[strlen(value) - 1]) && num_bytes(value, &o->history.bytes) &&
	    o->history.bytes >= 4 << 20 && o->history.bytes <= UINT64_C(64) << 30)
		return 0;
	return bad_value(e, OPT_HISTORY, value,
			 _("a size from 4Mi to 64Gi such as 64M, or a time from 10s to 168h such as 1h"));
}

static int parse_sync(struct options *o, const char *value, struct err *e)
{
	if (num_duration_ns(value, &o->limits.sync_ns) && o->limits.sync_ns >= NS_PER_S / 10 &&
	    o->limits.sync_ns <= 86400 * NS_PER_S)
		return 0;
	return bad_value(e, OPT_SYNC, value, _("a time from 100ms to 24h"));
}

static int parse_size(struct options *o, int code, const char *value, struct err *e)
{
	const char *end = value + strlen(value);
	int64_t w, h;

	const char *p = num_i64(value, end, &w);
	if (p && *p == 'x') {
		p = num_i64(p + 1, end, &h);
		if (p == end && w >= 1 && w <= 1000 && h >= 1 && h <= 1000) {
			o->print_w = (int)w;
			o->print_h = (int)h;
			return 0;
		}
	}
	return bad_value(e, code, value, _("columns and rows such as 120x40, at most 1000x1000"));
}

static int parse_colour(struct options *o, int code, const char *value, struct err *e)
{
	static const struct {
		const char *name;
		enum colour_choice choice;
	} names[] = {{"auto", COLOUR_AUTO},
		     {"never", COLOUR_NEVER},
		     {"8", COLOUR_8},
		     {"16", COLOUR_16},
		     {"256", COLOUR_256},
		     {"truecolor", COLOUR_RGB}};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(names[i].name, value)) {
			o->term.colour = names[i].choice;
			return 0;
		}
	return bad_value(e, code, value, _("auto, never, 8, 16, 256 or truecolor"));
}

static int parse_nice(struct options *o, int code, const char *value, struct err *e)
{
	const char *end = value + strlen(value);
	int64_t n;

	if (num_i64(value, end, &n) != end || n < -20 || n > 19)
		return bad_value(e, code, value, _("a whole number from -20 to 19"));
	o->nice = (int)n;
	o->has_nice = true;
	return 0;
}

static int parse_pid(long *out, int code, const char *value, struct err *e)
{
	const char *end = value + strlen(value);
	int64_t pid;

	if (num_i64(value, end, &pid) != end || pid < 1 || pid > INT32_MAX)
		return bad_value(e, code, value, _("the number of a process"));
	*out = (long)pid;
	return 0;
}

static int parse_trigger(struct options *o, const char *value, struct err *e)
{
	char why[sizeof e->text];
	struct condition c;

	if (o->trigger)
		return err_set(e, ERR_USAGE, _("there is one --trigger at most: put \"or\" between conditions"));
	o->trigger = value;
	if (condition_parse(&c, value, e) == 0)
		return 0;
	memcpy(why, e->text, sizeof why);
	return err_set(e, ERR_USAGE, "--trigger: %s", why);
}

/* Options that say what to do; two different ones exclude each other. */
static int choose(struct options *o, enum mode mode, struct err *e)
{
	if (o->mode != MODE_TOP && o->mode != mode)
		return err_set(e, ERR_USAGE,
			       _("only one of --record, --recover, --once, --boards, --print, --mark, --report, "
				 "--export, --cut, --join and --check can be done at a time"));
	o->mode = mode;
	return 0;
}

static int operand(struct options *o, const char *text, struct err *e)
{
	char shown[128];

	text_printable(shown, sizeof shown, text, strlen(text));
	if (o->out && o->mode == MODE_MARK)
		return err_set(e, ERR_USAGE, _("\"%s\" is one label too many: put one of several words in quotes"),
			       shown);
	if (o->out)
		return err_set(e, ERR_USAGE, _("\"%s\" is one file too many: a recording goes into one file"),
			       shown);
	o->out = text;
	return 0;
}

/* Operands are files to read where files are read. */
static int take_operands(struct options *o, struct err *e)
{
	if (o->mode == MODE_REPORT || o->mode == MODE_EXPORT || o->mode == MODE_JOIN) {
		if (o->n_files == 0)
			return err_set(e, ERR_USAGE, _("there is no FILE: give the name of a trace"));
		if (o->mode == MODE_EXPORT && o->n_files > 1)
			return err_set(e, ERR_USAGE, _("--export takes one FILE at a time"));
		return 0;
	}
	for (size_t i = 0; i < o->n_files; i++)
		if (operand(o, o->files[i], e) < 0)
			return -1;
	return 0;
}

static int word_find(const char *const *words, int n, const char *value)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(words[i], value))
			return i;
	return -1;
}

static int parse_format(struct options *o, int code, const char *value, struct err *e)
{
	static const char *const names[] = {"table", "json", "csv", "markdown", "text", "svg"};
	int i = word_find(names, 6, value);

	if (i < 0)
		return bad_value(e, code, value, _("table, json, csv or markdown; for --print text or svg"));
	if (i >= 4) {
		o->picture = i == 4 ? PICTURE_TEXT : PICTURE_SVG;
		return 0;
	}
	o->format = (enum report_format)i;
	o->has_format = true;
	return 0;
}

static int parse_form(struct options *o, int code, const char *value, struct err *e)
{
	static const char *const names[] = {"csv", "jsonl", "perfetto"};
	int i = word_find(names, 3, value);

	if (i < 0)
		return bad_value(e, code, value, _("csv, jsonl or perfetto"));
	o->form = (enum export_form)i;
	return 0;
}

static int parse_tier(struct options *o, int code, const char *value, struct err *e)
{
	o->pick.tier = tier_find(value);
	return o->pick.tier >= 0 ? 0 : bad_value(e, code, value, _("fast, medium or slow"));
}

static int parse_per(struct options *o, int code, const char *value, struct err *e)
{
	if (num_double(value, &o->per) && o->per > 0)
		return 0;
	return bad_value(e, code, value, _("a number of items above 0"));
}

/* A process for --mark, a time for what reads traces; known when all is read. */
static int parse_to(struct options *o, const char *value, struct err *e)
{
	if (!value)
		return 0;
	if (o->mode == MODE_MARK)
		return parse_pid(&o->to, OPT_TO, value, e);
	o->pick.has_to = true;
	return parse_time(&o->pick.to_ns, OPT_TO, value, e);
}

static int take(struct options *o, int code, const char *value, struct err *e)
{
	switch (code) {
	case 1:
		o->files[o->n_files++] = value;
		return 0;
	case 'o':
		return operand(o, value, e);
	case OPT_REPORT:
		return choose(o, MODE_REPORT, e);
	case OPT_EXPORT:
		return choose(o, MODE_EXPORT, e) < 0 ? -1 : parse_form(o, code, value, e);
	case OPT_CUT:
		o->input = value;
		return choose(o, MODE_CUT, e);
	case OPT_JOIN:
		return choose(o, MODE_JOIN, e);
	case OPT_CHECK:
		o->input = value;
		return choose(o, MODE_CHECK, e);
	case OPT_FORMAT:
		return parse_format(o, code, value, e);
	case OPT_PER:
		return parse_per(o, code, value, e);
	case OPT_TIER:
		return parse_tier(o, code, value, e);
	case OPT_RESAMPLE:
		return parse_hz(&o->resample_hz, code, value, e);
	case OPT_SELECT:
		o->pick.select = value;
		return 0;
	case OPT_EPOCH:
		o->pick.epoch = value;
		return 0;
	case OPT_FROM:
		o->pick.has_from = true;
		return parse_time(&o->pick.from_ns, code, value, e);
	case OPT_RECORD:
		return choose(o, MODE_RECORD, e);
	case OPT_ONCE:
		return choose(o, MODE_ONCE, e);
	case OPT_BOARDS:
		return choose(o, MODE_BOARDS, e);
	case OPT_PRINT:
		return choose(o, MODE_PRINT, e) < 0 ? -1 : parse_size(o, code, value, e);
	case OPT_MARK:
		return choose(o, MODE_MARK, e);
	case OPT_TO:
		o->to_text = value;
		return 0;
	case OPT_RECOVER:
		o->recover = value;
		return choose(o, MODE_RECOVER, e);
	case OPT_REPLAY:
		o->replay = value;
		return 0;
	case OPT_DEMO:
		o->board = "demo";
		return 0;
	case OPT_JSON:
		o->json = true;
		return 0;
	case OPT_PATHS:
		o->paths = true;
		return 0;
	case OPT_FORCE:
		o->force = true;
		return 0;
	case OPT_DURATION:
		if (parse_time(&o->duration_ns, code, value, e) < 0)
			return -1;
		return o->duration_ns ? 0 : bad_value(e, code, value, _("a time longer than 0"));
	case OPT_DELAY:
		return parse_time(&o->delay_ns, code, value, e);
	case OPT_EOF:
		o->stop_on_eof = true;
		return 0;
	case OPT_FOLLOW:
		o->follow = true;
		return 0;
	case OPT_SYNC:
		return parse_sync(o, value, e);
	case OPT_SPLIT:
		return parse_split(o, value, e);
	case OPT_MAX_SIZE:
		return parse_bytes(&o->limits.max_bytes, code, value, e);
	case OPT_HISTORY:
		return parse_history(o, value, e);
	case OPT_KEEP:
		if (parse_time(&o->keep_ns, code, value, e) < 0)
			return -1;
		return o->keep_ns >= NS_PER_S / 10 ? 0 : bad_value(e, code, value, _("a time of at least 100ms"));
	case OPT_AFTER:
		return parse_time(&o->after_ns, code, value, e);
	case OPT_TRIGGER:
		return parse_trigger(o, value, e);
	case OPT_AT:
		o->has_at = true;
		return parse_time(&o->at_ns, code, value, e);
	case OPT_WITH:
		o->with = value;
		return 0;
	case OPT_ALIGN:
		o->align = value;
		return 0;
	case OPT_FRAMES:
		if (num_double(value, &o->frames) && o->frames >= 0.1 && o->frames <= 60)
			return 0;
		return bad_value(e, code, value, _("a rate from 0.1 to 60 per second"));
	case OPT_VIEW:
		o->view = value;
		return 0;
	case OPT_FAST:
		return parse_hz(&o->hz[TIER_FAST], code, value, e);
	case OPT_MEDIUM:
		return parse_hz(&o->hz[TIER_MEDIUM], code, value, e);
	case OPT_SLOW:
		return parse_hz(&o->hz[TIER_SLOW], code, value, e);
	case OPT_GENTLE:
		o->gentle = true;
		return 0;
	case OPT_NICE:
		return parse_nice(o, code, value, e);
	case OPT_BOARD:
		o->board = value;
		return 0;
	case OPT_SYSROOT:
		o->sysroot = value;
		return 0;
	case OPT_ASCII:
		o->ascii = true;
		return 0;
	case OPT_THEME:
		o->has_theme = true;
		return conf_theme(value, &o->term.theme, &o->term.ground)
			       ? 0
			       : bad_value(e, code, value,
					   _("auto, dark, light, high-contrast, colour-blind (both also with "
					     "-dark or -light) or mono"));
	case OPT_NO_MOUSE:
		o->term.no_mouse = true;
		return 0;
	case OPT_CONFIG:
		o->config = value;
		return 0;
	case OPT_NO_CONFIG:
		o->no_config = true;
		return 0;
	case OPT_PRINT_CONFIG:
		return choose(o, MODE_CONFIG, e);
	case OPT_COLOR:
		return parse_colour(o, code, value, e);
	default:
		return -1;
	}
}

/* What only makes sense together. */
static int check(const struct options *o, struct err *e)
{
	bool numbers = o->mode == MODE_REPORT || o->mode == MODE_EXPORT;
	bool writes = o->mode == MODE_EXPORT || o->mode == MODE_CUT || o->mode == MODE_JOIN;
	const struct {
		bool wrong;
		const char *text;
	} rules[] = {
		{o->mode == MODE_RECOVER && o->out && !trace_is_stream(o->recover),
		 N_("a FILE to write is for --recover only when it recovers a stream")},
		{o->mode != MODE_RECORD && o->mode != MODE_RECOVER && !writes && o->out,
		 N_("a FILE to write is only for --record; to show a saved trace use --replay FILE")},
		{o->mode != MODE_RECORD && o->command, N_("a COMMAND to run is only for --record")},
		{o->mode != MODE_RECORD && (o->duration_ns || o->delay_ns),
		 N_("--duration and --delay are only for --record")},
		{o->mode == MODE_RECOVER && o->force && !trace_is_stream(o->recover),
		 N_("--force is for --recover only when it recovers a stream: a recording is never overwritten")},
		{o->mode != MODE_RECORD && o->mode != MODE_RECOVER && !writes && o->force,
		 N_("--force is only for --record, --recover, --export, --cut and --join")},
		{o->mode != MODE_REPORT && (o->has_format || o->per > 0),
		 N_("--format and --per are only for --report")},
		{o->mode != MODE_EXPORT && (o->pick.tier >= 0 || o->resample_hz > 0),
		 N_("--tier and --resample are only for --export")},
		{!numbers && (o->pick.select || o->pick.epoch),
		 N_("--select and --epoch are only for --report and --export")},
		{!numbers && o->mode != MODE_CUT && (o->pick.has_from || o->pick.has_to),
		 N_("--from and --to are only for --report, --export, --cut; --to PID also for --mark")},
		{o->pick.has_from && o->pick.has_to && o->pick.from_ns >= o->pick.to_ns,
		 N_("--from must lie before --to")},
		{o->mode == MODE_CUT && !o->pick.has_from && !o->pick.has_to,
		 N_("--cut needs --from SEC, --to SEC or both")},
		{(o->mode == MODE_CUT || o->mode == MODE_JOIN) && !o->out,
		 N_("--cut and --join need -o FILE for the new trace")},
		{(o->mode == MODE_CUT || o->mode == MODE_JOIN) && o->out && !strcmp(o->out, "-"),
		 N_("--cut and --join write a trace into a file, not to standard output")},
		{o->mode == MODE_JOIN && o->n_files < 2, N_("--join needs two or more traces")},
		{o->mode != MODE_RECORD && o->stop_on_eof, N_("--stop-on-eof is only for --record")},
		{o->stop_on_eof && o->command,
		 N_("with a COMMAND standard input is the command's: --stop-on-eof cannot be used")},
		{o->out && !strcmp(o->out, "-") && o->force, N_("--force is for a file: a stream overwrites nothing")},
		{o->follow && (!o->replay || o->mode != MODE_TOP), N_("--follow goes with --replay FILE on the screen")},
		{o->replay && !strcmp(o->replay, "-") && o->has_at && o->mode == MODE_TOP,
		 N_("--at needs the whole recording: it cannot be used with a stream that still comes")},
		{(o->mode != MODE_RECORD && (o->mode != MODE_TOP || o->replay)) &&
			 (o->limits.sync_ns || o->limits.split_ns || o->limits.split_bytes ||
			  o->limits.max_bytes),
		 N_("--sync, --split and --max-size are only for what records: --record, and the live screen")},
		{o->out && !strcmp(o->out, "-") &&
			 (o->limits.sync_ns || o->limits.split_ns || o->limits.split_bytes ||
			  o->limits.max_bytes),
		 N_("--sync, --split and --max-size are for files: a stream has no disk")},
		{o->keep_ns && o->mode != MODE_RECORD && (o->mode != MODE_TOP || o->replay),
		 N_("--keep is only for the live screen and --record")},
		{(o->trigger || o->after_ns) && !o->keep_ns, N_("--trigger and --after need --keep SEC")},
		{o->keep_ns && o->mode == MODE_RECORD && o->out && !strcmp(o->out, "-"),
		 N_("--keep writes files, not a stream: give the name of a file")},
		{o->keep_ns && o->mode == MODE_RECORD &&
			 (o->limits.sync_ns || o->limits.split_ns || o->limits.split_bytes ||
			  o->limits.max_bytes),
		 N_("--sync, --split and --max-size are for a recording that goes on: not with --record --keep")},
		{o->mode != MODE_ONCE && o->json, N_("--json is only for --once")},
		{o->mode != MODE_BOARDS && o->paths, N_("--paths is only for --boards")},
		{o->has_nice && ((o->mode != MODE_TOP && o->mode != MODE_RECORD) || o->replay),
		 N_("--nice is only for the live screen and --record")},
		{o->with && (!o->replay || (o->mode != MODE_TOP && o->mode != MODE_PRINT)),
		 N_("--with FILE goes with --replay FILE, on the screen or with --print")},
		{o->with && o->replay && (!strcmp(o->with, "-") || !strcmp(o->replay, "-") || o->follow),
		 N_("--with lays one saved trace over another: not with a stream, and not with --follow")},
		{o->align && !o->with, N_("--align needs --with FILE")},
		{o->has_at && !o->replay, N_("--at needs --replay FILE")},
		{o->replay && o->mode != MODE_TOP && o->mode != MODE_PRINT,
		 N_("--replay goes with the screen or with --print only")},
		{o->config && o->no_config, N_("--config and --no-config: only one of them")},
		{(o->config || o->no_config) && o->mode != MODE_TOP && o->mode != MODE_PRINT && o->mode != MODE_CONFIG,
		 N_("--config and --no-config go with the screen, --print or --print-config only")},
		{(o->has_theme || o->term.no_mouse) && o->mode != MODE_TOP && o->mode != MODE_PRINT &&
			 o->mode != MODE_CONFIG,
		 N_("--theme and --no-mouse go with the screen, --print or --print-config only")},
		{o->picture && o->mode != MODE_PRINT, N_("--format text and svg are for --print")},
		{o->view && o->mode != MODE_TOP && o->mode != MODE_PRINT,
		 N_("--view goes with the screen or with --print only")},
		{o->frames > 0 && o->mode != MODE_TOP, N_("--frames goes with the screen only")},
		{o->board && !*o->board,
		 N_("--board needs the name or the file of a board; nvmtop --boards lists them")},
	};

	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (rules[i].wrong)
			return err_set(e, ERR_USAGE, "%s", _(rules[i].text));
	return 0;
}

static int unknown(struct err *e, int code, char *word)
{
	char shown[128];

	text_printable(shown, sizeof shown, word, strlen(word));
	if (code == ':')
		return err_set(e, ERR_USAGE, _("\"%s\" needs a value"), shown);
	return err_set(e, ERR_USAGE, _("\"%s\" is not an option, or not one that takes a value"), shown);
}

/* The operand of --mark; behind "--" it may begin with a dash. */
static int take_label(struct options *o, struct err *e)
{
	for (; o->command && *o->command; o->command++)
		if (operand(o, *o->command, e) < 0)
			return -1;
	o->label = o->out;
	o->out = NULL;
	o->command = NULL;
	return 0;
}

int options_parse(struct options *o, int argc, char **argv, struct err *e)
{
	struct option known[ENTRIES + 1];
	size_t n = 0;
	int code;

	*o = (struct options) {.sysroot = "/", .hz = {1000, 100, 10}, .pick = {.tier = -1}};
	static const char **files; /* as long as argv */

	free(files);
	o->files = files = calloc((size_t)argc + 1, sizeof *o->files);
	if (!o->files)
		return err_set(e, ERR_FAILED, _("out of memory"));
	memset(known, 0, sizeof known);
	for (size_t i = 0; i < ENTRIES; i++)
		if (table[i].name)
			known[n++] = (struct option) {table[i].name,
						      table[i].argument ? required_argument : no_argument,
						      NULL, table[i].code};

	/* "-": operands come in their place, so that those before "--" can be
	 * told from the command behind it. ":": the sentences are ours. */
	opterr = 0;
	while (optind < argc) {
		int at = optind;
		code = getopt_long(argc, argv, "-:o:h", known, NULL);
		if (code == -1)
			break;
		if (code == '?' || code == ':')
			return unknown(e, code, argv[at]);
		if (code == OPT_HELP || code == 'h' || code == OPT_VERSION) {
			o->mode = code == OPT_VERSION ? MODE_VERSION : MODE_HELP;
			return 0;
		}
		if (take(o, code, optarg, e) < 0)
			return -1;
	}
	if (optind < argc)
		o->command = argv + optind;
	else if (argc > 1 && !strcmp(argv[argc - 1], "--") && o->mode == MODE_RECORD)
		return err_set(e, ERR_USAGE, _("there is no COMMAND behind \"--\""));
	if (take_operands(o, e) < 0 || parse_to(o, o->to_text, e) < 0)
		return -1;
	return o->mode == MODE_MARK && take_label(o, e) < 0 ? -1 : check(o, e);
}
