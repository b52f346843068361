/* The settings that hold, as a file that would have them hold. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/settings-merge.h"
#include "cli/cli.h"
#include "util/intl.h"

static void tell(void *path, unsigned line, const char *text)
{
	char shown[256];

	text_printable(shown, sizeof shown, path, strlen(path));
	fprintf(stderr, "nvmtop: %s:%u: %s\n", shown, line, text);
}

int cmd_config(const struct options *o)
{
	struct app_settings *c = malloc(sizeof *c);
	int status = 0;
	struct err e;

	if (!c || app_settings_load(c, o, &e) < 0) {
		if (!c)
			err_set(&e, ERR_FAILED, _("out of memory"));
		free(c);
		return complain(&e);
	}
	if (e.code != ERR_NONE)
		status = complain(&e);
	else if (c->troubles) { /* all of them, not only the first */
		const struct conf_reader who = {tell, c->path, ui_view_name};
		struct settings again = SETTINGS_DEFAULT;

		conf_load(c->path, false, &again, &who, &e);
	}
	conf_write(&c->begun, true, stdout);
	free(c);
	return stdout_result(status);
}
