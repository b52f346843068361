/* Assigns operands to options, and checks that several verbs share. */
#include <string.h>

#include "cli/verb.h"
#include "util/intl.h"

bool is_stream(const char *path)
{
	return path && !strcmp(path, "-");
}

int rules_check(const struct option_rule *rules, size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++)
		if (rules[i].broken)
			return err_set(e, ERR_USAGE, "%s", _(rules[i].text));
	return 0;
}

const char *shown_word(const char *word)
{
	static char shown[128];

	text_printable(shown, sizeof shown, word, strlen(word));
	return shown;
}

int operand_unexpected(const char *text, struct err *e)
{
	return err_set(e, ERR_USAGE, _("unexpected argument \"%s\""), shown_word(text));
}

int operands_none(struct options *o, struct err *e)
{
	return o->n_files > 0 ? operand_unexpected(o->files[0], e) : 0;
}

int operands_files(struct options *o, struct err *e)
{
	if (o->n_files > 0)
		return check_time(o, e);
	return err_set(e, ERR_USAGE, _("missing FILE: give the name of a trace"));
}

int operand_out(struct options *o, const char *text, struct err *e)
{
	if (o->out)
		return err_set(e, ERR_USAGE, _("only one output file can be given, not also \"%s\""), shown_word(text));
	o->out = text;
	return 0;
}

int operands_in_out(struct options *o, struct err *e)
{
	if (o->n_files == 0)
		return err_set(e, ERR_USAGE, _("nvmtop %s needs a FILE"), o->verb->name);
	o->input = o->files[0];
	for (size_t i = 1; i < o->n_files; i++)
		if (operand_out(o, o->files[i], e) < 0)
			return -1;
	return 0;
}

int operands_input(struct options *o, struct err *e)
{
	if (operands_in_out(o, e) < 0)
		return -1;
	return o->out ? operand_unexpected(o->out, e) : 0;
}

int check_files(const struct options *o, struct err *e)
{
	for (size_t i = 0; o->n_files > 1 && i < o->n_files; i++)
		if (is_stream(o->files[i]))
			return err_set(e, ERR_USAGE, "%s", _("\"-\" is read alone: it cannot be one of several files"));
	return 0;
}

int check_time(const struct options *o, struct err *e)
{
	if (o->pick.has_from && o->pick.has_to && o->pick.from_ns >= o->pick.to_ns)
		return err_set(e, ERR_USAGE, _("--from must be before --to"));
	return 0;
}

int check_alerts(const struct options *o, struct err *e)
{
	return o->alert_ns && !o->n_on ? err_set(e, ERR_USAGE, "%s", _("--every needs --on")) : 0;
}

int check_pretrigger(const struct options *o, struct err *e)
{
	if ((o->trigger || o->after_ns) && !o->keep_ns)
		return err_set(e, ERR_USAGE, _("--trigger and --after need --keep SEC"));
	return 0;
}
