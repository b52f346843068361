/* Options that several verbs share. */
#include "app/settings-file.h"
#include "cli/verb.h"
#include "util/intl.h"

static const struct option_entry common[] = {
	{"no-config", NULL, N_("neither read nor save settings"), FLAG(no_config)},
	{"help", NULL, N_("show this help"), .letter = 'h', FLAG(help)},
	{"version", NULL, N_("show the version"), .letter = 'V', FLAG(version)},
};
const struct option_group group_common = {N_("Common options"), OPTIONS(common)};

static const struct option_entry output[] = {
	{"output", "FILE", N_("write to FILE"), .letter = 'o', .take = value_output},
	{"force", NULL, N_("overwrite FILE if it exists"), FLAG(force)},
};
const struct option_group group_output = {N_("Output"), OPTIONS(output)};

static const struct option_entry sampling[] = {
	{"demo", NULL, N_("sample a simulated board"), .take = value_demo},
	{"fast-hz", "HZ", N_("rate of GPU, CPU, memory and EMC (1000)"), RATE(hz[TIER_FAST])},
	{"medium-hz", "HZ", N_("rate of power rails and clocks (100)"), RATE(hz[TIER_MEDIUM])},
	{"slow-hz", "HZ", N_("rate of temperatures (10)"), RATE(hz[TIER_SLOW])},
	{"gentle", NULL, N_("read the GPU less than twice a second, so that it can power down"), FLAG(gentle)},
	{"board", "NAME|FILE", N_("use this board instead of the detected one"), TEXT(board)},
	{"sysroot", "DIR", N_("read all kernel files below DIR instead of /"), TEXT(sysroot)},
};
const struct option_group group_sampling = {N_("Sampling"), OPTIONS(sampling)};

static const struct option_entry priority[] = {
	{"nice", "N", N_("sample at niceness N (-20 to 19) instead of in real time"), COUNT(nice, -20, 19),
	 HAS(has_nice), .wants = N_("a whole number from -20 to 19")},
};
const struct option_group group_priority = {N_("Priority"), OPTIONS(priority)};

static const struct option_entry files[] = {
	{"flush", "SEC", N_("flush to the disk every SEC seconds (5)"), TIME(limits.sync_ns), .least = 0.1, .most = 86400,
	 .wants = N_("a time from 100ms to 24h")},
	{"split", "SEC|BYTES", N_("start a new file every SEC seconds or BYTES (such as 500M)"),
	 LIMIT(limits.split)},
	{"max-size", "BYTES", N_("stop before the recording exceeds BYTES"), .take = value_max_size},
};
const struct option_group group_files = {N_("Recorded files"), OPTIONS(files)};

static const struct option_entry keep[] = {
	{"keep", "SEC", N_("keep the last SEC seconds in memory; w, SIGUSR2 or --trigger writes them"),
	 TIME(keep_ns), .least = 0.1, .wants = N_("a time of at least 100ms")},
	{"trigger", "CONDITION", N_("with --keep: write when this becomes true: 'gpu > 95 for 2s'"),
	 .take = value_trigger},
	{"after", "SEC", N_("with --keep: also write SEC seconds after the trigger (0)"), TIME(after_ns)},
};
const struct option_group group_keep = {N_("Keeping the last seconds"), OPTIONS(keep)};

static const struct option_entry alerts[] = {
	{"on", "CONDITION COMMAND", N_("run COMMAND, a program, when CONDITION becomes true; can be repeated"),
	 .take = value_on},
	{"every", "SEC", N_("with --on: at most once in SEC seconds each (60)"), TIME(alert_ns), .least = 1,
	 .wants = N_("a time of at least 1s")},
};
const struct option_group group_alerts = {N_("Alerts"), OPTIONS(alerts)};

static const struct option_entry replay[] = {
	{"at", "SEC", N_("show the time SEC seconds after the start"), TIME(at_ns), HAS(has_at)},
	{"follow", NULL, N_("follow FILE while it is being recorded"), FLAG(follow)},
	{"with", "FILE", N_("show a second trace below each signal"), TEXT(with)},
	{"align", "MARK|start", N_("with --with: align at a mark (label or m3) or at the start"), TEXT(align)},
};
const struct option_group group_replay = {N_("Replay of a FILE"), OPTIONS(replay)};

/* Order of enum colour_choice. */
static const char *const colours[] = {"auto", "never", "8", "16", "256", "truecolor", NULL};
static const struct option_entry drawing[] = {
	{"ascii", NULL, N_("draw with ASCII characters only"), FLAG(ascii)},
	{"color", "WHEN", N_("auto, never, 8, 16, 256 or truecolor"), WORD(term.colour, enum colour_choice, colours),
	 .wants = N_("auto, never, 8, 16, 256 or truecolor")},
};
const struct option_group group_drawing = {N_("Characters and colours"), OPTIONS(drawing)};

static const struct option_entry nvtx[] = {
	{"nvtx", "[=DOMAIN,...|all]",
	 N_("record NVTX ranges; DOMAIN,...: only these; all: no limit of 200000 a second a domain"),
	 TEXT(nvtx)},
};
const struct option_group group_nvtx = {N_("NVTX ranges"), OPTIONS(nvtx)};

static const struct option_entry settings[] = {
	{"theme", "NAME",
	 N_("auto, dark, light, high-contrast, colour-blind, terminal (-dark, -light) or mono"),
	 .take = value_theme, .words = conf_themes},
	{"no-mouse", NULL, N_("do not use the mouse"), FLAG(term.no_mouse)},
	{"config", "FILE", N_("settings file (~/.config/nvmtop/nvmtop.conf)"), TEXT(config)},
};
const struct option_group group_settings = {N_("Settings of the screen"), OPTIONS(settings)};

static const struct option_entry history[] = {
	{"history", "TIME", N_("how long the live screen keeps every sample (10m)"),
	 .take = value_history},
};
const struct option_group group_history = {N_("History"), OPTIONS(history)};

static const struct option_entry signals[] = {
	{"select", "NAMES", N_("only these signals, such as gpu.util,*.power"), TEXT(pick.select)},
	{"phase", "N|LABEL", N_("only the phase with this number or label (n:N or label:LABEL to say which)"),
	 TEXT(pick.epoch)},
};
const struct option_group group_signals = {N_("Signals and phases"), OPTIONS(signals)};

static const struct option_entry range[] = {
	{"from", "SEC", N_("only from SEC seconds after the start"), TIME(pick.from_ns), HAS(pick.has_from)},
	{"to", "SEC", N_("only up to SEC seconds after the start"), TIME(pick.to_ns), HAS(pick.has_to)},
};
const struct option_group group_time = {N_("Range of time"), OPTIONS(range)};

static const struct option_entry items[] = {
	{"per", "N", N_("each phase has N items: print energy and time per item"), NUMBER(per), .least = 5e-324, .most = 1e300,
	 .wants = N_("a number of items above 0")},
};
const struct option_group group_items = {N_("Items"), OPTIONS(items)};
