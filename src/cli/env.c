/* nvmtop env: prints the environment of programs whose NVTX ranges are to be recorded, for those that
 * something else starts: a service manager, a container, a shell. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/verb.h"
#include "record/nvtx.h"
#include "util/intl.h"
#include "util/io.h"

static int find_library(char out[PATH_MAX], struct err *e)
{
	static const char name[] = "libnvmtop-nvtx.so", installed[] = PKGLIBEXECDIR "/libnvmtop-nvtx.so";
	char real[PATH_MAX];

	if (build_tree_file(name, real, sizeof real) && realpath(real, out))
		return 0;
	snprintf(out, PATH_MAX, "%s", installed);
	if (access(out, R_OK) == 0)
		return 0;
	return err_sys(e, ERR_FAILED, errno, _("cannot record NVTX ranges: %s"), installed);
}

static int find_folder(char out[PATH_MAX], struct err *e)
{
	char shown[256];
	int asked;

	if (nvtx_folder(out, PATH_MAX, &asked, e) < 0)
		return -1;
	if (mkdir(out, 0700) == 0 || errno == EEXIST)
		return 0;
	text_printable(shown, sizeof shown, out, strlen(out));
	return err_sys(e, ERR_FAILED, errno, _("cannot record NVTX ranges: cannot create the folder %s"),
		       shown);
}

int nvtx_variables(const char *filter, struct variable out[NVTX_VARIABLES], struct err *e)
{
	static char library[PATH_MAX], folder[PATH_MAX];
	const char *set = getenv("NVTX_INJECTION64_PATH");
	int found = find_library(library, e);
	bool kept = set && *set && (found < 0 || strcmp(set, library) != 0);
	char shown[512];

	if (kept) {
		text_printable(shown, sizeof shown, set, strlen(set));
		fprintf(stderr,
			_("nvmtop: NVTX_INJECTION64_PATH is set to %s and is kept: that library gets the "
			  "ranges, and "
			  "nvmtop gets none; unset it to record them\n"),
			shown);
		snprintf(library, sizeof library, "%s", set);
		found = 0;
	}
	if (found < 0 || find_folder(folder, e) < 0)
		return -1;
	out[NVTX_LIBRARY] = (struct variable) {"NVTX_INJECTION64_PATH", library};
	out[NVTX_FOLDER] = (struct variable) {"NVMTOP_NVTX_DIR", folder};
	out[NVTX_FILTER] = (struct variable) {"NVMTOP_NVTX", filter};
	return kept;
}

/* As one word of a shell. */
static void print_word(const char *text)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";

	if (text[strspn(text, plain)] == '\0') {
		printf("%s", text);
		return;
	}
	putchar('\'');
	for (; *text; text++)
		if (*text == '\'')
			printf("'\\''");
		else
			putchar(*text);
	putchar('\'');
}

/* The container has the file under the same name. */
static void print_volume(const char *path, const char *how)
{
	printf("--volume ");
	print_word(path);
	putchar(':');
	print_word(path);
	printf("%s\n", how);
}

/* In quotes, with what systemd would replace escaped. */
static void print_systemd(const struct variable *v)
{
	printf("Environment=\"%s=", v->name);
	for (const char *p = v->value; *p; p++) {
		if (strchr("\\\"%", *p))
			putchar(*p == '%' ? '%' : '\\');
		putchar(*p);
	}
	printf("\"\n");
}

static int cmd_env(const struct options *o)
{
	struct variable v[NVTX_VARIABLES];
	struct err e;

	if (nvtx_variables(o->nvtx ? o->nvtx : "", v, &e) < 0)
		return complain(&e);
	if (o->env_form == ENV_SYSTEMD)
		printf("[Service]\n");
	for (size_t i = 0; i < NVTX_VARIABLES; i++) {
		if (o->env_form == ENV_SYSTEMD) {
			print_systemd(&v[i]);
			continue;
		}
		printf("%s %s=", o->env_form == ENV_DOCKER ? "--env" : "export", v[i].name);
		print_word(v[i].value);
		putchar('\n');
		if (o->env_form == ENV_DOCKER && i != NVTX_FILTER)
			print_volume(v[i].value, i == NVTX_LIBRARY ? ":ro" : "");
	}
	return stdout_result(0);
}

/* Order of enum env_form. */
static const char *const forms[] = {"sh", "systemd", "docker", NULL};
static const struct option_entry own[] = {
	{"format", "NAME",
	 N_("sh (default), systemd (a drop-in of a service) or docker (options of docker run)"),
	 WORD(env_form, enum env_form, forms), .wants = N_("sh, systemd or docker")},
};
static const struct option_group options = {NULL, OPTIONS(own)};

const struct verb verb_env = {
	.name = "env",
	.operands = "",
	.summary = N_("print the environment of programs whose NVTX ranges are to be recorded"),
	.groups = {&options, &group_nvtx},
	.finish = operands_none,
	.run = cmd_env,
};
