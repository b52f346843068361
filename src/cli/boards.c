/* Reports what nvmtop detected on this machine: the board and why, each channel with its source, and for each
 * missing channel the reason and what would enable it. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board/machine.h"
#include "cli/verb.h"
#include "model/missing.h"
#include "util/clock.h"
#include "util/intl.h"

static void print_fact(const struct probe_set *probes, const char *key, const char *title)
{
	const char *value = fact_get(probes->facts, probes->n_facts, key);

	if (value)
		printf("  %s: %s\n", title, value);
}

static void print_facts(const struct probe_set *probes)
{
	for (const struct machine_field *f = machine_fields; f->key; f++)
		if (f->title && f->fact)
			print_fact(probes, f->fact, _(f->title));
	print_fact(probes, "mode", _("Power mode"));
	print_fact(probes, "priority", _("Priority"));
	print_fact(probes, "notice", _("Notice"));
	print_fact(probes, "other_sensors", _("Other sensors"));
}

static int name_width(const struct probe_set *probes)
{
	int width = 4;

	for (size_t i = 0; i < probes->n_channels; i++)
		if ((int)strlen(probes->channels[i].name) > width)
			width = (int)strlen(probes->channels[i].name);
	return width;
}

static bool stands_here(const struct channel *c, bool missing, enum family family)
{
	return !c->missing[0] != missing && c->family == family;
}

/* Prints why there is no value now, what time a value is of and how it was obtained, and its limits. */
static void print_more(const struct probe_set *probes, const struct channel *c, double v)
{
	const char *open = "  (", *next = "; ";
	char reason[MISSING_REASON];

	/* A difference of readings has no value at the first one. */
	if (isnan(v) && missing_why(v) != MISSING && missing_why(v) != MISSING_SECOND) {
		missing_reason(reason, v, c, probes->channels, probes->n_channels);
		printf(_("%sno value now: %s"), open, reason), open = next;
	}
	if (c->window_ns >= NS_PER_S)
		printf(_("%swindow %g s"), open, (double)c->window_ns / 1e9), open = next;
	else if (c->window_ns > 0)
		printf(_("%swindow %g ms"), open, (double)c->window_ns / 1e6), open = next;
	else if (c->window_ns == WINDOW_UNKNOWN)
		printf(_("%swindow not known"), open), open = next;
	if (c->age_ns > 0)
		printf(_("%sage up to %g ms"), open, (double)c->age_ns / 1e6), open = next;
	if (c->note[0])
		printf("%s%s", open, c->note), open = next;
	if (!isnan(c->warn))
		printf(_("%swarns at %g"), open, c->warn), open = next;
	if (!isnan(c->crit))
		printf(_("%scritical at %g"), open, c->crit), open = next;
	puts(open == next ? ")" : "");
}

/* Prints the available or missing channels of a family; available ones below its title. */
static void print_family(const struct probe_set *probes, double *const rows[TIERS], bool missing, enum family family,
			 int width)
{
	static const char *const titles[FAMILIES] = {N_("GPU"),   N_("CPU"),  N_("Memory"),
						     N_("Power"), N_("Heat"), N_("Other")};
	const char *reason = "";
	bool any = false;

	for (size_t i = 0; i < probes->n_channels; i++) {
		const struct channel *c = &probes->channels[i];
		if (!stands_here(c, missing, family))
			continue;
		if (!any && !missing)
			printf(" %s\n", _(titles[family]));
		any = true;
		if (missing) {
			printf("  %-*s  %s\n", width, c->name,
			       strcmp(reason, c->missing) ? c->missing : _("for the same reason"));
		} else {
			printf("  %-*s  %-6s %-4s %s", width, c->name, tier_name(c->tier), unit_name(c->unit),
			       c->source);
			print_more(probes, c, rows[c->tier][c->column]);
		}
		reason = c->missing;
	}
}

static void print_channels(const struct options *o, const struct probe_set *probes, double *const rows[TIERS],
			   bool missing)
{
	int width = name_width(probes);
	size_t n = 0;

	for (size_t i = 0; i < probes->n_channels; i++)
		n += !probes->channels[i].missing[0] != missing;
	if (!n)
		return;
	if (missing)
		printf(_("\nMissing (%zu), and what was tried:\n"), n);
	else
		printf(_("\nSignals (%zu): name, how often it is read (fast %g, medium %g, slow %g times a "
			 "second), unit, source,\n  and the time over which a value is a mean (window); without it, it is of its moment\n"),
		       n, o->hz[TIER_FAST], o->hz[TIER_MEDIUM], o->hz[TIER_SLOW]);
	for (int family = 0; family < FAMILIES; family++)
		print_family(probes, rows, missing, (enum family)family, width);
}

static void print_known(void *arg, struct board *b, const struct err *e)
{
	const char *current = (*(struct board *const *)arg)->name;
	char path[PATH_MAX];

	if (b) {
		text_printable(path, sizeof path, b->path, strlen(b->path));
		printf("%s %-12s %s  (%s)\n", strcmp(b->name, current) ? " " : "*", b->name,
		       b->title, path);
	} else
		printf("  %s\n", e->text);
}

static void print_path(void *arg, const char *path)
{
	char shown[PATH_MAX];

	(void)arg;
	text_printable(shown, sizeof shown, path, strlen(path));
	puts(shown);
}

static int cmd_boards(const struct options *o)
{
	struct root *root;
	struct board *board;
	char why[256];
	double *rows[TIERS] = {NULL};
	int status = 0;
	struct err e, lacking;

	struct probe_set *probes = open_probes(o, &root, &board, why, sizeof why, &e);
	if (!probes)
		return complain(&e);
	lacking = e;
	if (o->paths) {
		board_paths(board, print_path, NULL);
		goto out;
	}
	/* Omitted for a tree from another machine. */
	if (root_is_live(root) && describe_priority(o, probes, &e) < 0) {
		status = complain(&e);
		goto out;
	}
	for (enum tier t = 0; t < TIERS; t++) {
		rows[t] = malloc((probes->width[t] + 1) * sizeof(double));
		if (!rows[t]) {
			err_set(&e, ERR_FAILED, _("out of memory"));
			status = complain(&e);
			goto out;
		}
		for (size_t i = 0; i < probes->width[t]; i++)
			rows[t][i] = NAN;
	}
	printf(_("This is %s (%s): %s.\n"), board->title, board->name, why);
	print_facts(probes);
	if (lacking.code != ERR_NONE)
		printf("  %s: %s\n", _("Notice"), lacking.text);
	root_give_up(true);
	probe_set_read(probes, rows);
	root_give_up(false);
	print_channels(o, probes, rows, false);
	print_channels(o, probes, rows, true);
	printf("\n%s:\n", _("Known boards"));
	board_each(print_known, &board);
out:
	for (enum tier t = 0; t < TIERS; t++)
		free(rows[t]);
	probe_set_free(probes);
	board_free(board);
	root_close(root);
	return status;
}

static const struct option_entry own[] = {
	{"paths", NULL, N_("print only the kernel files it may need, one per line"), FLAG(paths)},
};
static const struct option_group options = {NULL, OPTIONS(own)};

const struct verb verb_boards = {
	.name = "boards",
	.operands = "",
	.summary = N_("list the board, its signals, and the missing ones with the reason"),
	.groups = {&options, &group_sampling},
	.apart = true,
	.finish = operands_none,
	.run = cmd_boards,
};
