/* The command line.  One table makes the parser and --help, so that neither
 * can know an option that the other does not. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "util/intl.h"

/* The place of a member; one of another type does not compile. */
#define AT(member, type)                                                                                     \
	(offsetof(struct options, member) + 0 * sizeof _Generic(((struct options *)NULL)->member, type : 0))

#define FLAG(member) .take = value_flag, .at = AT(member, bool)
#define TEXT(member) .take = value_text, .at = AT(member, const char *)
#define RATE(member) .take = value_hz, .at = AT(member, double)
#define TIME(member) .take = value_time, .at = AT(member, int64_t)
#define FILE_IN(member) .take = value_input, .at = AT(member, const char *)

static const struct option_entry table[] = {
	{.help = N_("Modes (default: the live screen)")},
	{"record", NULL, N_("record to FILE without a screen; -: a stream to standard output"), .mode = MODE_RECORD},
	{"replay", "FILE", N_("replay a saved trace (also: nvmtop FILE); -: a stream, live"), FILE_IN(replay)},
	{"recover", "FILE", N_("complete an interrupted recording"), .mode = MODE_RECOVER,
	 FILE_IN(recover)},
	{"demo", NULL, N_("sample a simulated board"), .take = value_demo},
	{"once", NULL, N_("print one reading of everything"), .mode = MODE_ONCE},
	{"boards", NULL, N_("list the board, its signals, and the missing ones with the reason"),
	 .mode = MODE_BOARDS},
	{"print", "WxH", N_("print one frame of the screen as text"), .mode = MODE_PRINT,
	 .take = value_print},
	{"mark", NULL, N_("set a mark, with an optional LABEL, in your recordings and live screens"),
	 .mode = MODE_MARK},
	{"report", NULL, N_("print statistics of each phase of a trace; compare several traces"),
	 .mode = MODE_REPORT},
	{"export", "FORM", N_("convert a trace to csv, jsonl, perfetto or nvmt1"), .mode = MODE_EXPORT,
	 .take = value_export},
	{"cut", "FILE", N_("write the range --from .. --to of a trace to a new trace"),
	 .mode = MODE_CUT, FILE_IN(input)},
	{"join", NULL, N_("join several traces of one board into one trace"), .mode = MODE_JOIN},
	{"check", "FILE", N_("validate a trace file"), .mode = MODE_CHECK,
	 FILE_IN(input)},
	{"print-config", NULL, N_("print the effective settings as a settings file"),
	 .mode = MODE_CONFIG},
	{"help", NULL, N_("show this help"), .mode = MODE_HELP, .letter = 'h'},
	{"version", NULL, N_("show the version"), .mode = MODE_VERSION, .letter = 'V'},
	{.help = N_("Recording")},
	{"output", "FILE", N_("write the trace to FILE (default: nvmtop-DATE-TIME.nvmt)"),
	 .take = value_output, .letter = 'o'},
	{"force", NULL, N_("overwrite FILE if it exists"), FLAG(force)},
	{"duration", "SEC", N_("stop after SEC seconds (also 1m30s, 250ms)"), .take = value_duration},
	{"delay", "SEC", N_("start SEC seconds later; a COMMAND starts at once"), TIME(delay_ns)},
	{"stop-on-eof", NULL, N_("stop when standard input is closed"), FLAG(stop_on_eof)},
	{"sync", "SEC", N_("flush to the disk every SEC seconds (5)"), .take = value_sync},
	{"split", "SEC|BYTES", N_("start a new file every SEC seconds or BYTES (such as 500M)"),
	 .take = value_split},
	{"max-size", "BYTES", N_("stop before the recording exceeds BYTES"), .take = value_max_size},
	{"keep", "SEC", N_("keep the last SEC seconds in memory; w, SIGUSR2 or --trigger writes them"),
	 .take = value_keep},
	{"trigger", "CONDITION", N_("with --keep: write when this becomes true: 'gpu > 95 for 2s'"),
	 .take = value_trigger},
	{"after", "SEC", N_("with --keep: also write SEC seconds after the trigger (0)"), TIME(after_ns)},
	{"to", "PID|SEC", N_("with --mark: only the process PID; otherwise the end of the range"),
	 TEXT(to_text)},
	{.help = N_("Analysis (--report, --export, --cut, --join)")},
	{"format", "NAME", N_("for --report: table, json, csv or markdown; for --print: text or svg"),
	 .take = value_format},
	{"summary", NULL, N_("for --report: print only the table of phases"), FLAG(summary)},
	{"per", "N", N_("for --report: each phase has N items; print energy and time per item"),
	 .take = value_per},
	{"select", "NAMES", N_("only these signals, such as gpu.util,*.power"), TEXT(pick.select)},
	{"phase", "N|LABEL", N_("only the phase with this number or label (n:N, label:LABEL: only one of "
				"them)"),
	 TEXT(pick.epoch)},
	{"epoch", "N|LABEL", N_("same as --phase"), TEXT(pick.epoch)},
	{"from", "SEC", N_("only from SEC seconds after the start; --to SEC: only up to SEC"),
	 .take = value_from},
	{"tier", "NAME", N_("for --export: only fast, medium or slow"), .take = value_tier},
	{"resample", "HZ", N_("for --export: resample all signals to HZ rows a second"),
	 RATE(resample_hz)},
	{.help = N_("Display")},
	{"json", NULL, N_("with --once: as one JSON object"), FLAG(json)},
	{"paths", NULL, N_("with --boards: print only the kernel files it may need, one per line"),
	 FLAG(paths)},
	{"follow", NULL, N_("with --replay: follow FILE while it is being recorded"), FLAG(follow)},
	{"history", "BYTES|SEC", N_("memory for the live history (32Mi), or the time to keep in detail"),
	 .take = value_history},
	{"at", "SEC", N_("with --replay: show the time SEC seconds after the start"), .take = value_at},
	{"with", "FILE", N_("with --replay: show a second trace below each signal"), TEXT(with)},
	{"align", "MARK|start", N_("with --with: align at a mark (label or m3) or at the start"),
	 TEXT(align)},
	{"view", "NAME", N_("initial view"), TEXT(view)},
	{"frames", "HZ", N_("frames per second, 0.1 to 60 (default: when something changes)"),
	 .take = value_frames},
	{"ascii", NULL, N_("draw with ASCII characters only"), FLAG(ascii)},
	{"color", "WHEN", N_("auto, never, 8, 16, 256 or truecolor"), .take = value_color},
	{"theme", "NAME",
	 N_("auto, dark, light, high-contrast, colour-blind (both also -dark, -light) or mono"),
	 .take = value_theme},
	{"no-mouse", NULL, N_("do not use the mouse"), FLAG(term.no_mouse)},
	{"config", "FILE", N_("settings file (~/.config/nvmtop/nvmtop.conf)"),
	 TEXT(config)},
	{"no-config", NULL, N_("neither read nor save settings"), FLAG(no_config)},
	{.help = N_("Sampling")},
	{"fast-hz", "HZ", N_("rate of GPU, CPU, memory and EMC (1000)"), RATE(hz[TIER_FAST])},
	{"medium-hz", "HZ", N_("rate of power rails and clocks (100)"), RATE(hz[TIER_MEDIUM])},
	{"slow-hz", "HZ", N_("rate of temperatures (10)"), RATE(hz[TIER_SLOW])},
	{"gentle", NULL, N_("read the GPU less than twice a second, so that it can fall asleep"),
	 FLAG(gentle)},
	{"nice", "N", N_("sample at niceness N (-20 to 19) instead of in real time"), .take = value_nice},
	{"board", "NAME|FILE", N_("use this board instead of the detected one"), TEXT(board)},
	{"sysroot", "DIR", N_("read all kernel files below DIR instead of /"), TEXT(sysroot)},
};

#define ENTRIES (sizeof table / sizeof *table)

/* What getopt_long() gives for an entry: its letter, or a number that is none. */
static int code_of(const struct option_entry *t)
{
	return t->letter ? t->letter : 256 + (int)(t - table);
}

static const struct option_entry *entry_of(int code)
{
	for (size_t i = 0; i < ENTRIES; i++)
		if (table[i].name && code_of(&table[i]) == code)
			return &table[i];
	return NULL;
}

void options_help(FILE *out)
{
	fprintf(out, "%s",
		_("Usage: nvmtop [OPTION]... [FILE]\n"
		  "       nvmtop --record [OPTION]... [FILE] [-- COMMAND [ARGUMENT]...]\n"
		  "       nvmtop --report|--export FORM|--join [OPTION]... FILE...\n"
		  "       nvmtop --mark [LABEL]\n"
		  "Monitor, recorder and replay for NVIDIA Jetson boards.\n"));
	for (size_t i = 0; i < ENTRIES; i++) {
		const struct option_entry *t = &table[i];
		char letter[] = "-x, ", left[64];

		if (!t->name) {
			fprintf(out, "\n%s:\n", _(t->help));
			continue;
		}
		letter[1] = t->letter;
		snprintf(left, sizeof left, "%s--%s%s%s", t->letter ? letter : "", t->name,
			 t->argument ? " " : "", t->argument ? t->argument : "");
		fprintf(out, "  %-22s %s\n", left, _(t->help));
	}
	fprintf(out, "\n%s:\n", _("Keys on the screen"));
	const char *group, *keys, *what, *before = "";
	for (size_t i = 0; ui_key(i, &group, &keys, &what); i++) {
		if (strcmp(group, before) != 0)
			fprintf(out, " %s\n", group);
		fprintf(out, "  %-22s %s\n", keys, what);
		before = group;
	}
	fprintf(out, "\n%s",
		_("Exit status: 0 success, 1 failure, 2 usage error, 3 damaged file, processed as far as "
		  "possible.\n"
		  "With a COMMAND: its exit status, or 128+N when signal N ended it.\n"));
}

/* Options that say what to do; two different ones exclude each other. */
static int choose(struct options *o, enum mode mode, struct err *e)
{
	bool asks = mode == MODE_HELP || mode == MODE_VERSION;

	if (o->mode != MODE_TOP && o->mode != mode && !asks)
		return err_set(
			e, ERR_USAGE,
			_("only one of --record, --recover, --once, --boards, --print, --mark, --report, "
			  "--export, --cut, --join and --check can be given"));
	o->mode = mode;
	return 0;
}

static int take(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	if (t->mode != MODE_TOP && choose(o, t->mode, e) < 0)
		return -1;
	return t->take ? t->take(o, t, value, e) : 0;
}

/* On the screen and for --print, an operand is a trace to show. */
static int take_shown(struct options *o, struct err *e)
{
	char shown[128];
	size_t extra = o->replay ? 0 : 1;

	if (extra < o->n_files) {
		text_printable(shown, sizeof shown, o->files[extra], strlen(o->files[extra]));
		return err_set(e, ERR_USAGE,
			       _("unexpected file \"%s\": use --with FILE to show a second trace, or "
				 "--record to write one"),
			       shown);
	}
	if (o->n_files > 0)
		o->replay = o->files[0];
	return 0;
}

/* An option that still waits for its FILE takes the first operand in front of it. */
static int take_awaited(struct options *o, struct err *e)
{
	if (!o->awaits)
		return 0;
	if (o->n_files == 0)
		return err_set(e, ERR_USAGE, _("--%s needs a FILE"), o->awaits->name);
	option_input(o, o->files[0]);
	memmove(o->files, o->files + 1, --o->n_files * sizeof *o->files);
	return 0;
}

/* Operands are files to read where files are read. */
static int take_operands(struct options *o, struct err *e)
{
	if (take_awaited(o, e) < 0)
		return -1;
	if (o->mode == MODE_TOP || o->mode == MODE_PRINT)
		return take_shown(o, e);
	if (o->mode == MODE_REPORT || o->mode == MODE_EXPORT || o->mode == MODE_JOIN) {
		if (o->n_files == 0)
			return err_set(e, ERR_USAGE, _("missing FILE: give the name of a trace"));
		if (o->mode == MODE_EXPORT && o->n_files > 1)
			return err_set(e, ERR_USAGE, _("--export takes one FILE at a time"));
		return 0;
	}
	for (size_t i = 0; i < o->n_files; i++)
		if (option_operand(o, o->files[i], e) < 0)
			return -1;
	return 0;
}

/* The operand of --mark; behind "--" it may begin with a dash. */
static int take_label(struct options *o, struct err *e)
{
	for (; o->command && *o->command; o->command++)
		if (option_operand(o, *o->command, e) < 0)
			return -1;
	o->label = o->out;
	o->out = NULL;
	o->command = NULL;
	return 0;
}

static int unknown(struct err *e, int code, char *word)
{
	char shown[128];

	text_printable(shown, sizeof shown, word, strlen(word));
	if (code == ':')
		return err_set(e, ERR_USAGE, _("\"%s\" needs a value"), shown);
	return option_unknown(e, table, ENTRIES, word, shown);
}

/* The FILE of a mode may stand anywhere behind its option: "--cut --from 1 FILE". */
static int has_arg(const struct option_entry *t)
{
	if (t->take == value_input)
		return optional_argument;
	return t->argument ? required_argument : no_argument;
}

/* The table as getopt_long() wants it. */
static void known_options(struct option known[ENTRIES + 1])
{
	size_t n = 0;

	for (size_t i = 0; i < ENTRIES; i++)
		if (table[i].name)
			known[n++] = (struct option) {table[i].name, has_arg(&table[i]), NULL,
						      code_of(&table[i])};
	known[n] = (struct option) {0};
}

/* All up to the command; --help and --version end it. */
static int read_line(struct options *o, int argc, char **argv, struct err *e)
{
	struct option known[ENTRIES + 1];

	known_options(known);
	/* "-": operands come in their place, so that those before "--" can be
	 * told from the command behind it. ":": the sentences are ours. */
	opterr = 0;
	while (optind < argc && o->mode != MODE_HELP && o->mode != MODE_VERSION) {
		int at = optind;
		int code = getopt_long(argc, argv, "-:o:hV", known, NULL);

		if (code == -1)
			break;
		/* The next word, where it is an option, is not the value of this one. */
		if (code != '?' && code != 1 && optarg && optarg == argv[at + 1] && !strncmp(optarg, "--", 2))
			code = ':';
		if (code == '?' || code == ':')
			return unknown(e, code, argv[at]);
		if (code == 1 && o->awaits)
			option_input(o, optarg);
		else if (code == 1)
			o->files[o->n_files++] = optarg;
		else if (take(o, entry_of(code), optarg, e) < 0)
			return -1;
	}
	return 0;
}

int options_parse(struct options *o, int argc, char **argv, struct err *e)
{
	static const char **files; /* as long as argv */

	*o = (struct options) {.sysroot = "/", .hz = {1000, 100, 10}, .pick = {.tier = -1}};
	free(files);
	o->files = files = calloc((size_t)argc + 1, sizeof *o->files);
	if (!o->files)
		return err_set(e, ERR_FAILED, _("out of memory"));
	if (read_line(o, argc, argv, e) < 0)
		return -1;
	if (o->mode == MODE_HELP || o->mode == MODE_VERSION)
		return 0;
	if (optind < argc)
		o->command = argv + optind;
	else if (argc > 1 && !strcmp(argv[argc - 1], "--") && o->mode == MODE_RECORD)
		return err_set(e, ERR_USAGE, _("missing COMMAND after \"--\""));
	if (take_operands(o, e) < 0 || value_to(o, e) < 0)
		return -1;
	return o->mode == MODE_MARK && take_label(o, e) < 0 ? -1 : options_check(o, e);
}
