/* Prints the effective settings as a settings file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/settings-file.h"
#include "cli/verb.h"
#include "util/intl.h"

static void tell(void *c, unsigned line, const char *text)
{
	const char *path = ((struct app_settings *)c)->path;
	char shown[256];

	text_printable(shown, sizeof shown, path, strlen(path));
	fprintf(stderr, "nvmtop: %s:%u: %s\n", shown, line, text);
}

static int cmd_config(const struct options *o)
{
	struct app_settings *c = malloc(sizeof *c);
	int status = 0;
	struct err e;

	if (!c || app_settings_load(c, o, tell, &e) < 0) {
		if (!c)
			err_set(&e, ERR_FAILED, _("out of memory"));
		free(c);
		return complain(&e);
	}
	if (e.code != ERR_NONE)
		status = complain(&e);
	conf_write(&c->begun, true, stdout);
	free(c);
	return stdout_result(status);
}

static int finish(struct options *o, struct err *e)
{
	const struct option_rule rules[] = {
		{o->config && o->no_config, N_("--config and --no-config exclude each other")},
	};

	return RULES(rules, e) < 0 ? -1 : operands_none(o, e);
}

const struct verb verb_config = {
	.name = "config",
	.mode = "print-config",
	.operands = "",
	.summary = N_("print the effective settings as a settings file"),
	.groups = {&group_settings, &group_drawing, &group_history},
	.finish = finish,
	.run = cmd_config,
};
