/* The command line.  One table makes the parser and --help, so that neither
 * can know an option that the other does not. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/options.h"
#include "nvmtop/intl.h"

/* The place of a member; one of another type does not compile. */
#define AT(member, type)                                                                                     \
	(offsetof(struct options, member) + 0 * sizeof _Generic(((struct options *)NULL)->member, type : 0))

#define FLAG(member) .take = value_flag, .at = AT(member, bool)
#define TEXT(member) .take = value_text, .at = AT(member, const char *)
#define RATE(member) .take = value_hz, .at = AT(member, double)
#define TIME(member) .take = value_time, .at = AT(member, int64_t)

static const struct option_entry table[] = {
	{.help = N_("What to do (without any of these: the live screen)")},
	{"record", NULL, N_("record without a screen, into FILE; -: as a stream"), .mode = MODE_RECORD},
	{"replay", "FILE", N_("show a saved trace; -: a stream, live"), TEXT(replay)},
	{"recover", "FILE", N_("complete a recording that was interrupted"), .mode = MODE_RECOVER,
	 TEXT(recover)},
	{"demo", NULL, N_("a made-up board, to see what nvmtop looks like"), .take = value_demo},
	{"once", NULL, N_("print one reading of everything"), .mode = MODE_ONCE},
	{"boards", NULL, N_("say which board this is, what it has, and what is missing and why"),
	 .mode = MODE_BOARDS},
	{"print", "WxH", N_("print one frame of the screen as text"), .mode = MODE_PRINT,
	 .take = value_print},
	{"mark", NULL, N_("put a mark, with LABEL if there is one, into what you record or look at"),
	 .mode = MODE_MARK},
	{"report", NULL, N_("numbers of each epoch of a trace; of several traces: compare them"),
	 .mode = MODE_REPORT},
	{"export", "FORM", N_("write a trace as csv, jsonl or perfetto"), .mode = MODE_EXPORT,
	 .take = value_export},
	{"cut", "FILE", N_("write the stretch --from .. --to of a trace as a trace of its own"),
	 .mode = MODE_CUT, TEXT(input)},
	{"join", NULL, N_("write several traces of one board as one trace"), .mode = MODE_JOIN},
	{"check", "FILE", N_("hold a trace from any writer against the format"), .mode = MODE_CHECK,
	 TEXT(input)},
	{"print-config", NULL, N_("print the settings that hold, as a file of settings"),
	 .mode = MODE_CONFIG},
	{"help", NULL, N_("show this help"), .mode = MODE_HELP, .letter = 'h'},
	{"version", NULL, N_("show the version"), .mode = MODE_VERSION},
	{.help = N_("Recording")},
	{"output", "FILE", N_("write the trace to FILE (default: nvmtop-DATE-TIME.bin)"),
	 .take = value_output, .letter = 'o'},
	{"force", NULL, N_("overwrite FILE if it exists"), FLAG(force)},
	{"duration", "SEC", N_("stop after SEC seconds (also 1m30s, 250ms)"), .take = value_duration},
	{"delay", "SEC", N_("begin after SEC seconds"), TIME(delay_ns)},
	{"stop-on-eof", NULL, N_("stop when standard input is closed"), FLAG(stop_on_eof)},
	{"sync", "SEC", N_("have the disk keep everything that is older (5)"), .take = value_sync},
	{"split", "SEC|BYTES", N_("go on in a new file that often, or before one gets larger (500M)"),
	 .take = value_split},
	{"max-size", "BYTES", N_("end before the recording gets larger"), .take = value_max_size},
	{"keep", "SEC", N_("hold the last SEC seconds, and write them out on w, SIGUSR2 or --trigger"),
	 .take = value_keep},
	{"trigger", "CONDITION", N_("with --keep: when this begins to hold: 'gpu > 95 for 2s'"),
	 .take = value_trigger},
	{"after", "SEC", N_("with --keep: and SEC seconds after that (0)"), TIME(after_ns)},
	{"to", "PID|SEC", N_("with --mark: only into that of process PID; else the end of a stretch"),
	 TEXT(to_text)},
	{.help = N_("Numbers (--report, --export, --cut, --join)")},
	{"format", "NAME", N_("of --report: table, json, csv or markdown; of --print: text or svg"),
	 .take = value_format},
	{"per", "N", N_("of --report: each epoch did N items; give energy and time of one"),
	 .take = value_per},
	{"select", "NAMES", N_("only these signals, such as gpu.util,*.power"), TEXT(pick.select)},
	{"epoch", "N|LABEL", N_("only this epoch, or all of this label"), TEXT(pick.epoch)},
	{"from", "SEC", N_("only from SEC seconds after the start; --to SEC: only up to there"),
	 .take = value_from},
	{"tier", "NAME", N_("of --export: only fast, medium or slow"), .take = value_tier},
	{"resample", "HZ", N_("of --export: all signals on one time base of HZ rows a second"),
	 RATE(resample_hz)},
	{.help = N_("Showing")},
	{"json", NULL, N_("with --once: as one JSON object"), FLAG(json)},
	{"paths", NULL, N_("with --boards: only the kernel files that the board may need, one a line"),
	 FLAG(paths)},
	{"follow", NULL, N_("with --replay: FILE is still being recorded, show it live"), FLAG(follow)},
	{"history", "BYTES|SEC", N_("memory of the live screen (32Mi), or how far back it is fine"),
	 .take = value_history},
	{"at", "SEC", N_("with --replay: show the moment SEC seconds after the start"), .take = value_at},
	{"with", "FILE", N_("with --replay: and under each signal the same one of this trace"), TEXT(with)},
	{"align", "MARK|start", N_("with --with: where the two meet: a label, m3, or their start"),
	 TEXT(align)},
	{"view", "NAME", N_("begin with this view"), TEXT(view)},
	{"frames", "HZ", N_("draw so often a second, 0.1 to 60 (default: as things change)"),
	 .take = value_frames},
	{"ascii", NULL, N_("draw with ASCII characters only"), FLAG(ascii)},
	{"color", "WHEN", N_("auto, never, 8, 16, 256 or truecolor"), .take = value_color},
	{"theme", "NAME",
	 N_("auto, dark, light, high-contrast, colour-blind (both also -dark, -light) or mono"),
	 .take = value_theme},
	{"no-mouse", NULL, N_("leave the mouse to the terminal"), FLAG(term.no_mouse)},
	{"config", "FILE", N_("read and keep the settings there (~/.config/nvmtop/nvmtop.conf)"),
	 TEXT(config)},
	{"no-config", NULL, N_("read and keep no settings"), FLAG(no_config)},
	{.help = N_("Sampling")},
	{"fast-hz", "HZ", N_("rate of GPU, CPU, memory and EMC (1000)"), RATE(hz[TIER_FAST])},
	{"medium-hz", "HZ", N_("rate of power rails and clocks (100)"), RATE(hz[TIER_MEDIUM])},
	{"slow-hz", "HZ", N_("rate of temperatures (10)"), RATE(hz[TIER_SLOW])},
	{"gentle", NULL, N_("read the GPU less than twice a second, so that it can fall asleep"),
	 FLAG(gentle)},
	{"nice", "N", N_("sample at niceness N (-20 to 19) instead of in real time"), .take = value_nice},
	{"board", "NAME|FILE", N_("use this board instead of the one that is recognised"), TEXT(board)},
	{"sysroot", "DIR", N_("read everything of the kernel below DIR instead of /"), TEXT(sysroot)},
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
		_("Usage: nvmtop [OPTION]...\n"
		  "       nvmtop --record [OPTION]... [FILE] [-- COMMAND [ARGUMENT]...]\n"
		  "       nvmtop --replay FILE\n"
		  "       nvmtop --report|--export FORM|--join [OPTION]... FILE...\n"
		  "       nvmtop --mark [LABEL]\n"
		  "A live, recording and replaying monitor for NVIDIA Jetson boards.\n"));
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
		_("Exit status: 0 done, 1 failed, 2 wrong use, 3 the file was damaged but what could be read "
		  "was.\n"
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
			  "--export, --cut, --join and --check can be done at a time"));
	o->mode = mode;
	return 0;
}

static int take(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	if (t->mode != MODE_TOP && choose(o, t->mode, e) < 0)
		return -1;
	return t->take ? t->take(o, t, value, e) : 0;
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

/* The table as getopt_long() wants it. */
static void known_options(struct option known[ENTRIES + 1])
{
	size_t n = 0;

	for (size_t i = 0; i < ENTRIES; i++)
		if (table[i].name)
			known[n++] = (struct option) {table[i].name,
						      table[i].argument ? required_argument : no_argument,
						      NULL, code_of(&table[i])};
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
		int code = getopt_long(argc, argv, "-:o:h", known, NULL);

		if (code == -1)
			break;
		if (code == '?' || code == ':')
			return unknown(e, code, argv[at]);
		if (code == 1)
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
		return err_set(e, ERR_USAGE, _("there is no COMMAND behind \"--\""));
	if (take_operands(o, e) < 0 || value_to(o, e) < 0)
		return -1;
	return o->mode == MODE_MARK && take_label(o, e) < 0 ? -1 : options_check(o, e);
}
