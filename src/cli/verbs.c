/* The list of verbs, and the output of --help. */
#include <stdio.h>
#include <string.h>

#include "cli/verb.h"
#include "util/intl.h"

const struct verb *const verbs[] = {&verb_screen, &verb_record, &verb_replay, &verb_report, &verb_export,
				    &verb_cut,	  &verb_check,	&verb_mark,   &verb_once,   &verb_stream,
				    &verb_serve,  &verb_boards, &verb_control, &verb_sweep, &verb_env,	  NULL};

const struct verb *verb_find(const char *name)
{
	for (size_t i = 0; verbs[i]; i++)
		if (verbs[i]->name && !strcmp(verbs[i]->name, name))
			return verbs[i];
	return NULL;
}

void verb_title(const struct verb *v, char *out, size_t size)
{
	if (v->name)
		snprintf(out, size, "nvmtop %s", v->name);
	else
		snprintf(out, size, "%s", _("the screen"));
}

static void print_group(const struct option_group *g, FILE *out)
{
	fprintf(out, "\n%s:\n", g->title ? _(g->title) : _("Options"));
	for (size_t i = 0; i < g->n; i++) {
		const struct option_entry *t = &g->entries[i];
		char letter[] = "-x, ", left[64];

		letter[1] = t->letter;
		snprintf(left, sizeof left, "%s--%s%s%s", t->letter ? letter : "", t->name,
			 option_value_needed(t) ? " " : "", t->argument ? t->argument : "");
		fprintf(out, "  %-22s %s\n", left, _(t->help));
	}
}

static void print_verbs(FILE *out)
{
	fprintf(out, "%s",
		_("Usage: nvmtop [OPTION]... [FILE]...\n"
		  "       nvmtop VERB [OPTION]... [ARGUMENT]...\n"
		  "Shows and records the load, power and heat of an NVIDIA Jetson, 1000 times a second.\n"));
	fprintf(out, "\n%s:\n", _("Verbs (nvmtop VERB --help lists its options)"));
	for (size_t i = 0; verbs[i]; i++)
		if (verbs[i]->name)
			fprintf(out, "  %-22s %s\n", verbs[i]->name, _(verbs[i]->summary));
}

static void print_keys(FILE *out)
{
	const char *group, *keys, *what, *before = "";

	fprintf(out, "\n%s:\n", _("Keys on the screen"));
	for (size_t i = 0; ui_key(i, &group, &keys, &what); i++) {
		if (strcmp(group, before) != 0)
			fprintf(out, " %s\n", group);
		fprintf(out, "  %-22s %s\n", keys, what);
		before = group;
	}
}

void verb_help(const struct verb *v, FILE *out)
{
	if (!v->name)
		print_verbs(out);
	else
		fprintf(out, _("Usage: nvmtop %s [OPTION]...%s%s\n%s\n"), v->name, *v->operands ? " " : "",
			v->operands, _(v->summary));
	if (v->about)
		fprintf(out, "\n%s", _(v->about));
	for (size_t i = 0; v->groups[i]; i++)
		print_group(v->groups[i], out);
	print_group(&group_common, out);
	if (v->name)
		return;
	print_keys(out);
	fprintf(out, "\n%s",
		_("Exit status: 0 success, 1 failure, 2 usage error, 3 damaged file, processed as far as "
		  "possible.\n"
		  "With a COMMAND: its exit status, or 128+N when signal N ended it.\n"));
}
