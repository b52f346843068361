/* A mark at the same moment in a recording and in Nsight Systems: "record -- nsys profile ... PROGRAM" has nsys run a
 * shell that sets it and then becomes the program. To nsys it is a mark of NVTX. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/verb.h"
#include "nsys/nvtx-client.h"
#include "util/clock.h"
#include "util/intl.h"

enum { CORE = 1, MARK = 2 };

int nvtx_mark(const char *label, int64_t *t_ns, struct err *e)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *tool = path ? dlopen(path, RTLD_LAZY) : NULL; /* stays loaded */
	void (*mark)(const char *text) = NULL;

	if (nvtx_begin(tool))
		*(void **)&mark = nvtx_function(CORE, MARK);
	if (!mark)
		return err_set(e, ERR_FAILED,
			       _("--nvtx: no NVTX tool accepts marks here (NVTX_INJECTION64_PATH %s)"),
			       path ? path : _("is not set"));
	*t_ns = clock_now_ns();
	mark(label);
	*t_ns += (clock_now_ns() - *t_ns) / 2;
	return 0;
}

/* The program of "nsys profile": a long option has its value after "=", a short one in the next word. */
static size_t program_of(char **argv)
{
	const char *name = strrchr(argv[0], '/');
	size_t i = 2;

	if (strcmp(name ? name + 1 : argv[0], "nsys") || !argv[1] || strcmp(argv[1], "profile"))
		return 0;
	while (argv[i] && argv[i][0] == '-')
		i += argv[i][1] != '-' && argv[i + 1] ? 2 : 1;
	return argv[i] && strcmp(argv[i], "true") && strcmp(argv[i], "false") && command_find(argv[i]) ? i : 0;
}

char **nsys_command(char **argv)
{
	static char exe[PATH_MAX], label[32], pid[16];
	static char shell[] = "sh", flag[] = "-c";
	static char script[] = "\"$0\" mark --nvtx --pid \"$1\" \"$2\" >/dev/null 2>&1; shift 2; exec \"$@\"";
	static char *const words[] = {shell, flag, script, exe, pid, label};
	static char **made;
	size_t at = program_of(argv), n = 0, more = sizeof(words) / sizeof(words[0]);

	while (argv[n])
		n++;
	if (!at || readlink("/proc/self/exe", exe, sizeof(exe) - 1) <= 0 || !(made = calloc(n + more + 1, sizeof(*made))))
		return argv;
	snprintf(label, sizeof(label), NSYS_MARK "%llx", (unsigned long long)clock_now_ns());
	snprintf(pid, sizeof(pid), "%ld", (long)getpid());
	memcpy(made, argv, at * sizeof(*made));
	memcpy(made + at, words, sizeof(words));
	memcpy(made + at + more, argv + at, (n - at) * sizeof(*made));
	return made;
}
