/* The engine thread evaluates the conditions. Each alert has a thread of its own while its command runs, because an exec
 * from a file system that hangs waits, too. posix_spawn() does not copy this process, so the sampler has no page faults,
 * and unlike execvp() it starts no shell for a script without "#!". */
#include "app/alert.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "model/missing.h"
#include "record/watch.h"
#include "util/clock.h"
#include "util/descriptors.h"
#include "util/intl.h"
#include "util/json-csv.h"
#include "util/num.h"
#include "util/thread.h"

#define EVERY_NS (60 * NS_PER_S)
#define LAST_NS	 (2 * NS_PER_S) /* that a command has at the end */
#define OBEY_NS	 (NS_PER_S / 2) /* and after each signal */
#define LOOK_MS	 50
#define VARS	 7 /* at most, of the environment */

enum news { FAILED, HELD, FLOODS, STOPPED, ABSENT, TOTAL, NEWS };

struct alert {
	struct alerts *all;
	char command[PATH_MAX];
	struct watch watch;
	int64_t sent_ns; /* time of the row of the latest alert */
	unsigned long sent;
	char *vars; /* its environment: strings, and an empty one at the end */
	pthread_t thread; /* if started: runs the command, sets done and ends */
	bool started;
	_Atomic uint32_t done;
	char output[1 << 16];  /* of the command, and how much it is */
	size_t n_output;
	struct {
		char text[ALERT_NEWS];
		bool told;
	} news[NEWS];
};

struct alerts {
	struct sink sink;
	struct engine *engine;
	const struct session *about;
	int64_t every_ns;
	_Atomic int64_t until_ns; /* of commands */
	pthread_mutex_t lock;	  /* protects the news */
	bool left;		  /* a thread that does not end uses this */
	size_t n;
	struct alert list[];
};

/* Of each kind only the first sentence counts. */
__attribute__((format(printf, 3, 4))) static void alert_say(struct alert *a, enum news kind, const char *format, ...)
{
	char what[400];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof what, format, args);
	va_end(args);
	pthread_mutex_lock(&a->all->lock);
	if (!a->news[kind].text[0])
		snprintf(a->news[kind].text, sizeof a->news[kind].text, _("alert \"%s\": %s"), a->watch.when.text, what);
	pthread_mutex_unlock(&a->all->lock);
}

bool alerts_news(struct alerts *all, char *out, size_t size)
{
	bool is = false;

	pthread_mutex_lock(&all->lock);
	for (size_t i = 0; i < all->n * NEWS && !is; i++) {
		struct alert *a = &all->list[i / NEWS];

		is = a->news[i % NEWS].text[0] && !a->news[i % NEWS].told;
		if (is) {
			a->news[i % NEWS].told = true;
			snprintf(out, size, "%s", a->news[i % NEWS].text);
		}
	}
	pthread_mutex_unlock(&all->lock);
	return is;
}

/* --- the command --- */

/* Reads what is there. At the end of the output, or once it is too much, the pipe is closed. */
static void output_read(struct alert *a, const char *shown, int *fd)
{
	size_t most = sizeof a->output - 1;
	ssize_t n = 0;

	while (*fd >= 0 && a->n_output < most && (n = read(*fd, a->output + a->n_output, most - a->n_output)) > 0)
		a->n_output += (size_t)n;
	if (*fd < 0 || (n < 0 && errno == EAGAIN))
		return;
	if (a->n_output == most)
		alert_say(a, FLOODS, _("%s printed more than 64 KiB, of which no more is read"), shown);
	close(*fd);
	*fd = -1;
}

/* Starts the command, with its output in a pipe. Returns 0 or an errno. */
static int command_start(struct alert *a, pid_t *pid, int *output)
{
	char *argv[] = {a->command, NULL}, **env, *v;
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	sigset_t all, none;
	size_t n = VARS + 1;
	int ends[2], failed;

	for (char **p = environ; *p; p++)
		n++;
	env = calloc(n, sizeof *env);
	if (!env || pipe2(ends, O_CLOEXEC) < 0) {
		failed = errno;
		free(env);
		return failed;
	}
	n = 0;
	for (v = a->vars; *v; v += strlen(v) + 1)
		env[n++] = v;
	for (char **p = environ; *p; p++) { /* without those of an alert that started this nvmtop */
		for (v = a->vars; *v && strncmp(v, *p, strcspn(v, "=") + 1) != 0; v += strlen(v) + 1)
			continue;
		if (!*v)
			env[n++] = *p;
	}
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&how);
	posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
	posix_spawnattr_setsigdefault(&how, &all);
	posix_spawnattr_setsigmask(&how, &none);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&files, ends[1], STDERR_FILENO);
	failed = posix_spawnp(pid, a->command, &files, &how, argv, env);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&how);
	free(env);
	close(ends[1]);
	if (!failed)
		descriptors_restore(*pid);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	*output = ends[0];
	return failed;
}

/* Runs the command until it has ended, or does not end though it was told to. */
static void *command_run(void *arg)
{
	struct alert *a = arg;
	char shown[128], last[200], *line;
	int64_t obey_ns = 0;
	int output = -1, status = 0, sig = 0, failed;
	pid_t pid, got = 0;

	memset(a->output, 0, a->n_output);
	a->n_output = 0;
	text_printable(shown, sizeof shown, a->command, strlen(a->command));
	failed = command_start(a, &pid, &output);
	if (failed)
		alert_say(a, FAILED, _("cannot run %s: %s"), shown, strerror(failed));
	while (!failed && (got = waitpid(pid, &status, WNOHANG)) == 0) {
		struct pollfd p = {.fd = output, .events = POLLIN};

		if (clock_now_ns() - obey_ns >= atomic_load(&a->all->until_ns)) {
			if (sig == SIGKILL)
				break;
			sig = sig ? SIGKILL : SIGTERM;
			obey_ns += OBEY_NS;
			kill(-pid, sig);
			alert_say(a, STOPPED, _("%s still ran at the end and was stopped"), shown);
		}
		poll(&p, 1, LOOK_MS);
		output_read(a, shown, &output);
	}
	output_read(a, shown, &output);
	if (output >= 0)
		close(output);
	failed = got > 0 && status != 0 && !sig && !a->news[FLOODS].text[0]; /* a closed pipe ends it, too */
	while (a->n_output > 0 && a->output[a->n_output - 1] == '\n')
		a->output[--a->n_output] = '\0';
	line = strrchr(a->output, '\n');
	line = line ? line + 1 : a->output;
	text_printable(last, sizeof last, line, strlen(line));
	if (failed && WIFSIGNALED(status))
		alert_say(a, FAILED, _("%s was ended by signal %d"), shown, WTERMSIG(status));
	else if (failed)
		alert_say(a, FAILED, _("%s failed with status %d%s%s"), shown, WEXITSTATUS(status), *last ? ": " : "", last);
	thread_flag_set(&a->done);
	return NULL;
}

/* --- the alert --- */

/* The variables of the command; NULL if out of memory. */
static char *alert_vars(struct alert *a, int64_t t_ns)
{
	const struct condition *c = &a->watch.when;
	struct condition_eval *v = &a->watch.eval;
	char sentence[1024] = "", value[NUM_TEXT], when[32] = "", *vars = NULL;
	size_t size, used = 0, is = 0;
	struct record r = {.f = open_memstream(&vars, &size), .as = AS_JSON};
	const struct channel *of;
	struct clock_anchor now;
	struct tm tm;

	if (!r.f)
		return NULL;
	fputs("NVMTOP_JSON=", r.f);
	json_open(&r, NULL, '{');
	json_open(&r, "values", '{');
	for (size_t i = 0; i < c->n; i++) {
		bool again = !v->term[i].seen_ns;

		for (size_t k = 0; k < i; k++)
			again |= c->terms[k].channel == c->terms[i].channel;
		if (again)
			continue;
		of = &a->all->about->channels[c->terms[i].channel];
		num_text_single(value, v->term[i].value);
		record_key(&r, of->name);
		fputs(value, r.f);
		if (used < sizeof sentence)
			used += (size_t)snprintf(sentence + used, sizeof sentence - used, _("%s%s is %s%s%s"),
						 used ? ", " : "", of->name, value, *unit_name(of->unit) ? " " : "",
						 unit_name(of->unit));
	}
	if (used < sizeof sentence)
		snprintf(sentence + used, sizeof sentence - used, " (%s)", c->text);
	clock_anchor(&now); /* the clock may have been set since the start */
	int64_t wall_ns = clock_wall_ns(&now, t_ns);
	time_t seconds = (time_t)(wall_ns / NS_PER_S);
	json_close(&r, "}");
	PUT(&r, {"alert", IN_JSON, TEXT_OF(sentence)}, {"condition", IN_JSON, TEXT_OF(c->text)},
	    {"time", IN_JSON, TIME_OF(wall_ns)});
	json_close(&r, "}");
	if (gmtime_r(&seconds, &tm))
		strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &tm);
	while (is + 1 < c->n && !condition_term_holds(v, is))
		is++;
	of = &a->all->about->channels[c->terms[is].channel];
	num_text_single(value, v->term[is].value);
	fprintf(r.f, "%cNVMTOP_ALERT=%s%cNVMTOP_CONDITION=%s%cNVMTOP_TIME=%s%c", 0, sentence, 0, c->text, 0, when, 0);
	fprintf(r.f, "NVMTOP_SIGNAL=%s%cNVMTOP_VALUE=%s%cNVMTOP_UNIT=%s%c%c", of->name, 0, value, 0, unit_name(of->unit), 0, 0);
	if (fclose(r.f) == 0)
		return vars;
	free(vars);
	return NULL;
}

/* A condition that becomes true too soon, or while its command runs, has its alert later if it holds then. */
static bool alert_take(void *arg, int64_t t_ns)
{
	struct alert *a = arg;
	int failed;

	if (a->sent && t_ns - a->sent_ns < a->all->every_ns)
		return false;
	if (a->started && !atomic_load(&a->done)) {
		if (!a->news[HELD].text[0]) /* which only this thread writes */
			alert_say(a, HELD, _("its command still runs after %.0f s, and is not started again before it ends"),
				  (double)(t_ns - a->sent_ns) / (double)NS_PER_S);
		return false;
	}
	if (a->started)
		pthread_join(a->thread, NULL);
	free(a->vars);
	a->vars = alert_vars(a, t_ns);
	atomic_store(&a->done, 0);
	failed = a->vars ? thread_start(&a->thread, command_run, a) : ENOMEM;
	a->started = !failed;
	if (failed)
		alert_say(a, FAILED, _("cannot run %s: %s"), a->command, strerror(failed));
	engine_mark(a->all->engine, t_ns, a->watch.when.text);
	a->sent_ns = t_ns;
	a->sent++;
	return true;
}

/* Says which signal of the condition had no value, and why. */
static void alert_end(struct alert *a)
{
	const struct session *about = a->all->about;
	const struct condition_eval *v = &a->watch.eval;

	watch_end(&a->watch);
	for (size_t i = 0; i < v->c->n; i++) {
		const struct channel *c = &about->channels[v->c->terms[i].channel];
		char why[MISSING_REASON] = "";

		if (v->term[i].seen_ns && a->watch.newest_ns[c->tier] - v->term[i].seen_ns <= v->bridge_ns[c->tier])
			continue;
		if (isnan(v->term[i].missing))
			missing_reason(why, v->term[i].missing, c, about->channels, about->n_channels);
		alert_say(a, ABSENT, v->term[i].seen_ns ? _("%s had no value at the end%s%s") : _("%s had no value%s%s"), c->name,
			  *why ? ": " : "", why);
	}
	alert_say(a, TOTAL, P_("sent %lu time", "sent %lu times", a->sent), a->sent);
}

/* --- the sink --- */

static int begin(struct sink *s, const struct session *about, struct err *e)
{
	struct alerts *all = (struct alerts *)s;

	(void)e;
	all->about = about;
	for (size_t i = 0; i < all->n; i++)
		watch_begin(&all->list[i].watch, about);
	return 0;
}

static void take_rows(struct sink *s, const struct rows *r)
{
	struct alerts *all = (struct alerts *)s;

	for (size_t i = 0; i < all->n && r->n > 0; i++)
		watch_rows(&all->list[i].watch, r);
}

int alerts_finish(void *alerts, const struct session *now, struct err *e)
{
	struct alerts *all = alerts;

	(void)now;
	(void)e;
	for (size_t i = 0; i < all->n; i++)
		watch_end(&all->list[i].watch);
	return 0;
}

static int end(struct sink *s, struct err *e)
{
	struct alerts *all = (struct alerts *)s;

	(void)e;
	for (size_t i = 0; i < all->n; i++)
		alert_end(&all->list[i]);
	return 0;
}

struct alerts *alerts_new(const struct options *o, struct engine *g, struct err *e)
{
	static const struct sink_ops ops = {.begin = begin, .rows = take_rows, .end = end};
	struct alerts *all = calloc(1, sizeof *all + o->n_on * sizeof all->list[0]);

	if (!all) {
		err_set(e, ERR_FAILED, "%s", _("out of memory"));
		return NULL;
	}
	all->sink.ops = &ops;
	all->engine = g;
	all->every_ns = o->alert_ns ? o->alert_ns : EVERY_NS;
	atomic_init(&all->until_ns, INT64_MAX);
	pthread_mutex_init(&all->lock, NULL);
	for (all->n = 0; all->n < o->n_on; all->n++) {
		struct alert *a = &all->list[all->n];

		a->all = all;
		a->watch.take = alert_take;
		a->watch.arg = a;
		snprintf(a->command, sizeof a->command, "%s", o->on[all->n].command);
		if (condition_option(&a->watch.when, "on", o->on[all->n].condition, engine_session(g), e) < 0) {
			alerts_free(all);
			return NULL;
		}
	}
	return all;
}

struct sink *alerts_sink(struct alerts *all)
{
	return &all->sink;
}

void alerts_end(struct alerts *all)
{
	int64_t until_ns = clock_now_ns() + LAST_NS, late_ns = until_ns + 3 * OBEY_NS;

	atomic_store(&all->until_ns, until_ns);
	for (size_t i = 0; i < all->n; i++) {
		struct alert *a = &all->list[i];

		while (a->started && !atomic_load(&a->done) && clock_now_ns() < late_ns)
			thread_flag_wait(&a->done, late_ns);
		if (a->started && atomic_load(&a->done)) {
			pthread_join(a->thread, NULL);
		} else if (a->started) {
			alert_say(a, STOPPED, _("the file system of its command does not answer"));
			all->left = true;
		}
		a->started = false;
	}
}

void alerts_free(struct alerts *all)
{
	if (!all || all->left)
		return;
	for (size_t i = 0; i < all->n; i++) {
		watch_free(&all->list[i].watch);
		free(all->list[i].vars);
	}
	pthread_mutex_destroy(&all->lock);
	free(all);
}
