/* The command that a recording goes around. */
#include "cli/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/verb.h"
#include "util/descriptors.h"
#include "util/intl.h"

bool command_find(const char *name)
{
	char file[4096];
	const char *path = getenv("PATH");

	if (strchr(name, '/'))
		return access(name, X_OK) == 0;
	errno = ENOENT;
	for (const char *p = path ? path : "/usr/local/bin:/usr/bin:/bin"; *p;) {
		size_t len = strcspn(p, ":");
		int n = snprintf(file, sizeof file, "%.*s/%s", len ? (int)len : 1, len ? p : ".", name);
		if (n > 0 && (size_t)n < sizeof file && access(file, X_OK) == 0)
			return true;
		p += len + (p[len] == ':');
	}
	return false;
}

int command_start(char **argv, pid_t *child, struct err *e)
{
	pid_t pid = fork();

	if (pid < 0)
		return err_sys(e, ERR_FAILED, errno, _("cannot start the command \"%s\""), argv[0]);
	if (pid == 0) {
		char shown[512];

		signals_default();
		descriptors_restore();
		execvp(argv[0], argv);
		int num = errno;

		text_printable(shown, sizeof shown, argv[0], strlen(argv[0]));
		dprintf(STDERR_FILENO, "nvmtop: %s: %s\n", shown, strerror(num));
		_exit(num == ENOENT ? 127 : 126);
	}
	*child = pid;
	return 0;
}
