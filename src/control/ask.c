/* Only the helper writes settings: it is started for a session of requests, as root, and all that it answers is checked
 * as a file would be. Reading and asking need no root, so nvmtop itself never runs with more than its user has. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/control.h"
#include "util/clock.h"
#include "util/intl.h"
#include "util/io.h"
#include "util/num.h"

#define PROGRAM PKGLIBEXECDIR "/nvmtop-control"
#define PKEXEC  "/usr/bin/pkexec"
#define SUDO    "/usr/bin/sudo"
#define LINE    1024

struct control_session {
	char program[PATH_MAX];
	FILE *from; /* a socket */
	pid_t pid;  /* of the helper, or of what runs it; 0: it is gone */
};

const char *const control_result_words[CONTROL_RESULTS] = {"done",    "as-is",  "not",
							   "refused", "failed", "would"};

/* Reads a line and splits it at tabs. Returns the number of fields, 0 at the end, -1 for what cannot be a line of the helper. */
static int answer_read(FILE *from, char line[LINE], char *fields[9])
{
	char *rest = line, printable[LINE];
	size_t length;
	int n = 0;

	if (!fgets(line, LINE, from))
		return 0;
	length = strlen(line);
	if (!length || line[length - 1] != '\n')
		return feof(from) ? 0 : -1;
	line[length - 1] = '\0';
	for (; rest; n++) {
		if (n == 9)
			return -1;
		fields[n] = strsep(&rest, "\t");
		text_printable(printable, sizeof printable, fields[n], strlen(fields[n]));
		if (strcmp(printable, fields[n]) != 0)
			return -1;
	}
	return n;
}

/* Takes a whole number from 0 to most. */
static bool answer_number(const char *text, int64_t most, int64_t *out)
{
	const char *end = text + strlen(text);

	return num_i64(text, end, out) == end && *out >= 0 && *out <= most;
}

static bool answer_text(char *out, size_t size, const char *text)
{
	return snprintf(out, size, "%s", text) < (int)size;
}

static bool answer_change(char *const f[9], struct control_change *c)
{
	int64_t id, left_ms;
	int result = 0;

	*c = (struct control_change) {.id = 0};
	while (result < CONTROL_RESULTS && strcmp(f[5], control_result_words[result]) != 0)
		result++;
	if (strcmp(f[0], "change") != 0 || !*f[1] || result == CONTROL_RESULTS ||
	    !answer_number(f[6], UINT_MAX, &id) || !answer_number(f[7], INT64_MAX / NS_PER_MS, &left_ms))
		return false;
	c->result = (enum control_result)result;
	c->id = (unsigned)id;
	c->left_ns = left_ms * NS_PER_MS;
	return answer_text(c->name, sizeof c->name, f[1]) && answer_text(c->before, sizeof c->before, f[2]) &&
	       answer_text(c->wanted, sizeof c->wanted, f[3]) &&
	       answer_text(c->after, sizeof c->after, f[4]) && answer_text(c->why, sizeof c->why, f[8]);
}

/* Waits for a helper that has closed its end. Returns its exit status, or 128 + a signal. */
static int session_wait(struct control_session *s)
{
	int status = 0;

	while (s->pid && waitpid(s->pid, &status, 0) < 0 && errno == EINTR)
		continue;
	s->pid = 0;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Waits for what runs the helper only where it answered: it may hang. */
static void session_end(struct control_session *s, bool waits)
{
	if (s->from)
		fclose(s->from);
	s->from = NULL;
	if (waits)
		session_wait(s);
}

static int not_valid(const struct control_session *s, struct err *e)
{
	return err_set(e, ERR_FAILED, _("%s gave an answer that is not valid: is it of another version than nvmtop?"), s->program);
}

/* Reads changes up to the end of an answer. Returns its status; -1 and sets *e if there is none. */
static int answer(struct control_session *s, void (*visit)(void *arg, const struct control_change *c),
		  void *arg, struct err *e)
{
	char line[LINE], *f[9];
	struct control_change c;
	int64_t status;
	int n;

	while ((n = answer_read(s->from, line, f)) == 9 && answer_change(f, &c))
		if (visit)
			visit(arg, &c);
	if (n == 3 && !strcmp(f[0], "end") && answer_number(f[1], 4, &status)) {
		err_set(e, status == 0 ? ERR_NONE : status == 2 ? ERR_USAGE : ERR_FAILED, "%s", f[2]);
		return (int)status;
	}
	if (n)
		return not_valid(s, e);
	return err_set(e, ERR_FAILED,
		       _("%s ended with status %d before it had answered; nvmtop control restore puts back what it changed"),
		       s->program, session_wait(s));
}

/* Starts argv and waits until the helper is ready. Returns -1 and sets *e if it is not, and *status if it ended instead of
 * an answer, else -1. */
static int session_begin(struct control_session *s, const char *const *argv, bool quiet, int *status, struct err *e)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	sigset_t none, usual;
	char line[LINE], *f[9], *words[8] = {NULL};
	int pair[2], num, n;

	*status = -1;
	for (n = 0; argv[n]; n++)
		memcpy(&words[n], &argv[n], sizeof *words); /* posix_spawn() does not change them */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(e, ERR_FAILED, errno, _("cannot start %s"), argv[0]);
	s->from = fdopen(pair[0], "r");
	if (!s->from)
		close(pair[0]);
	sigemptyset(&none);
	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE);
	sigaddset(&usual, SIGXFSZ);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, pair[1], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&files, pair[1], STDOUT_FILENO);
	if (quiet)
		posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&how);
	posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&how, &none);
	posix_spawnattr_setsigdefault(&how, &usual);
	num = s->from ? posix_spawn(&s->pid, argv[0], &files, &how, words, environ) : ENOMEM;
	posix_spawnattr_destroy(&how);
	posix_spawn_file_actions_destroy(&files);
	close(pair[1]);
	if (num) {
		s->pid = 0;
		session_end(s, false);
		return err_sys(e, ERR_FAILED, num, _("cannot start %s"), argv[0]);
	}
	n = answer_read(s->from, line, f);
	if (n == 2 && !strcmp(f[0], "ready") && !strcmp(f[1], "1"))
		return 0;
	if (n == 3 && !strcmp(f[0], "end"))
		err_num(e, ERR_FAILED, strcmp(f[1], "4") ? 0 : EACCES, "%s", f[2]);
	else if (n != 0)
		not_valid(s, e);
	else {
		*status = session_wait(s);
		err_set(e, ERR_FAILED, _("%s ended with status %d before it had begun"), s->program, *status);
	}
	session_end(s, n == 3);
	return -1;
}

/* What runs the helper as root: in the order in which they are tried. */
static const struct way {
	const char *program, *asks, *silent; /* options, which may ask for a password or not; NULL: none */
} ways[] = {{PKEXEC, NULL, "--disable-internal-agent"}, {SUDO, "--", "-n"}};

/* Can pkexec ask for a password? SILENT: only by a window; its rules may need none. */
static bool has_agent(enum control_how how)
{
	int terminal;

	if (how == CONTROL_SILENT || getenv("DISPLAY") || getenv("WAYLAND_DISPLAY"))
		return true;
	terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (terminal >= 0)
		close(terminal);
	return terminal >= 0;
}

struct control_session *control_open(const struct root *r, enum control_how how, bool revert, struct err *e)
{
	const char *argv[8] = {NULL}, **own = argv + 2; /* before it what runs it as root */
	struct control_session *s = calloc(1, sizeof *s);
	bool live = root_is_live(r), quiet = how == CONTROL_SILENT;
	const struct way *tried = NULL;
	int status = -1, n = 0;

	if (!s) {
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	snprintf(s->program, sizeof s->program, "%s", PROGRAM);
	if (!live && !build_tree_file("src/nvmtop-control-test", s->program, sizeof s->program)) {
		err_set(e, ERR_FAILED,
			_("settings below another folder than / are changed only by tests, in a source tree that was built"));
		goto failed;
	}
	if (access(s->program, X_OK) < 0) {
		err_set(e, ERR_FAILED, _("settings are changed by %s, which cannot be run (%s): install all of nvmtop"),
			s->program, strerror(errno));
		goto failed;
	}
	own[n++] = s->program;
	if (revert)
		own[n++] = "--revert";
	if (!live) {
		own[n++] = "--sysroot";
		own[n++] = root_dir(r);
	}
	if (!live || how == CONTROL_PLAIN || geteuid() == 0) {
		if (session_begin(s, own, quiet, &status, e) == 0)
			return s;
		goto failed;
	}
	/* 127: pkexec has no agent, nor a rule; 126: the user closed the question */
	for (const struct way *w = ways; w < ways + 2 && (!tried || status == 127); w++) {
		const char *option = quiet ? w->silent : w->asks;

		if (access(w->program, X_OK) < 0 || (w == ways && !has_agent(how)))
			continue;
		own[-2] = w->program;
		own[-1] = option ? option : w->program;
		if (session_begin(s, option ? argv : argv + 1, quiet, &status, e) == 0)
			return s;
		tried = w;
	}
	if (!tried)
		err_num(e, ERR_FAILED, EACCES,
			_("changes need root, and neither %s nor %s can ask for it here: run nvmtop as root"), PKEXEC, SUDO);
	else if (quiet && (status == 1 || status >= 126))
		err_num(e, ERR_FAILED, EACCES,
			_("changes need root; sudo -v in this terminal (Ctrl-Z, then fg), or run sudo nvmtop"));
	else if (status == 1 || status == 126 || status == 127)
		err_num(e, ERR_FAILED, EACCES,
			_("%s does not let you change settings; docs/control.md says how a group is allowed to"), tried->program);
failed:
	session_end(s, false);
	free(s);
	return NULL;
}

int control_ask(struct control_session *s, const char *const *words,
		void (*visit)(void *arg, const struct control_change *c), void *arg, struct err *e)
{
	char line[LINE];
	size_t used = 0;

	for (; *words; words++) {
		if (!**words || (*words)[strcspn(*words, " \t\n")])
			return err_set(e, ERR_USAGE, _("a word of a request is empty, or has a blank in it")), 2;
		used += (size_t)snprintf(line + used, sizeof line - used, "%s%c", *words, words[1] ? ' ' : '\n');
		if (used >= sizeof line)
			return err_set(e, ERR_USAGE, _("the request is too long")), 2;
	}
	/* A line fits into the empty socket, so it is sent as a whole. If the helper is gone, the answer says so. */
	while (send(fileno(s->from), line, used, MSG_NOSIGNAL) < 0 && errno == EINTR)
		continue;
	return answer(s, visit, arg, e);
}

int control_close(struct control_session *s, void (*visit)(void *arg, const struct control_change *c),
		  void *arg, struct err *e)
{
	int status;

	shutdown(fileno(s->from), SHUT_WR);
	status = answer(s, visit, arg, e);
	session_end(s, status >= 0);
	free(s);
	return status;
}
