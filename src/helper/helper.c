/* nvmtop-control: the only part of nvmtop that runs as root and changes something. It is started by control_open(),
 * through pkexec or sudo, and takes verbs, numbers and names that the installed board file and the configurations of
 * NVIDIA's programs have; no path, no variable and nothing that a user can write widens that. src/control/control.h has
 * the requests and the answers.
 *
 *   nvmtop-control [--revert]    answers the requests on its standard input, one a line
 *   nvmtop-control REQUEST...    answers one
 *
 * The build for tests (NVMTOP_CONTROL_TEST: the board files of its sources), which is never installed, needs no root and
 * takes --sysroot DIR, below which are then all files and programs. What it says is in English: it has no environment. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "helper/local.h"
#include "probe/attr.h"
#include "util/clock.h"
#include "util/num.h"

#define WORDS_MOST 40
#define LINE_MOST  1024
#define FOR_LEAST  NS_PER_S
#define FOR_MOST   (86400 * NS_PER_S)
#define LOOK_MS    5000 /* how often one that waits looks whether it still has to */

#ifdef NVMTOP_CONTROL_TEST
#define TEST 1
#else
#define TEST 0
#endif

static char caller[16]; /* the user who has started it */
static unsigned dies_at;
unsigned work_writes;
int work_patience;

void work_wrote(void)
{
	if (++work_writes == dies_at)
		raise(SIGKILL);
}

const char *work_top(const struct root *r)
{
	return root_is_live(r) ? "" : root_dir(r);
}

void work_log(const struct work *w, const char *fmt, ...)
{
	char text[900], path[PATH_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	if (!TEST) {
		syslog(LOG_NOTICE, "%s", text);
		return;
	}
	snprintf(path, sizeof path, "%s/log", root_dir(w->root));
	FILE *f = fopen(path, "a");
	if (f) {
		fprintf(f, "%s\n", text);
		fclose(f);
	}
}

struct control_change work_change(const struct work *w, const char *name, const char *wanted)
{
	const struct control_item *u = control_find(&w->items, name);
	struct control_change c = {.id = 0};

	snprintf(c.name, sizeof c.name, "%s", name);
	snprintf(c.before, sizeof c.before, "%s", u ? u->value : "");
	snprintf(c.wanted, sizeof c.wanted, "%s", wanted);
	return c;
}

void work_report(struct work *w, struct control_change *c, enum control_result result)
{
	static const int status[CONTROL_RESULTS] = {
		[CONTROL_NOT] = 1, [CONTROL_FAILED] = 1, [CONTROL_REFUSED] = 4};
	const struct control_item *u = control_find(&w->items, c->name);
	const char *now = u ? u->value : "";
	char why[sizeof c->why], before[sizeof c->before], after[sizeof c->after];

	if (w->status != 1 && status[result])
		w->status = status[result];
	text_printable(why, sizeof why, c->why, strlen(c->why));
	text_printable(before, sizeof before, c->before, strlen(c->before));
	text_printable(after, sizeof after, now, strlen(now));
	printf("change\t%s\t%s\t%s\t%s\t%s\t%u\t%lld\t%s\n", c->name, before, c->wanted, after,
	       control_result_words[result], c->id, (long long)(c->left_ns / NS_PER_MS), why);
	fflush(stdout);
	if (result != CONTROL_WOULD)
		work_log(w, "user %s: %s: %s -> %s: %s, now %s%s%s", caller, c->name, before, c->wanted,
			 control_result_words[result], after, *why ? ": " : "", why);
}

int work_read(struct work *w, struct err *e)
{
	control_list_free(&w->items);
	return control_list(w->board, w->root, &w->items, e);
}

int work_lock(struct work *w, int seconds, struct err *e)
{
	int fd = openat(w->folder, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	int64_t until = clock_now_ns() + seconds * NS_PER_S;

	while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (clock_now_ns() > until) {
			close(fd);
			return err_set(e, ERR_FAILED, "another change is being made; try again");
		}
		nanosleep(&(struct timespec) {.tv_nsec = 20 * NS_PER_MS}, NULL);
	}
	return fd < 0 ? err_sys(e, ERR_FAILED, errno, "%s/lock", CONTROL_FOLDER) : fd;
}

/* --- requests: words[0] is the verb --- */

static int usage(struct err *e, const char *text, const char *word)
{
	return err_set(e, ERR_USAGE, "%s%s", text, word);
}

static int restore(struct work *w, char *const *words, size_t n, struct err *e)
{
	for (size_t i = 1; i < n; i++)
		if (!control_find(&w->items, words[i]) && !undo_oldest(w, words[i]))
			return usage(e, "no such thing can be set here: ", words[i]);
	for (size_t i = 0; i < w->n_entries; i++) {
		struct entry *one = &w->entries[i];
		bool named = n == 1;
		for (size_t k = 1; k < n; k++)
			named = named || !strcmp(words[k], one->name);
		one->mark = named && !w->dry ? ENTRY_SELECTED : ENTRY_STAYS;
		if (named && w->dry && undo_oldest(w, one->name) == one) {
			struct control_change c = work_change(w, one->name, one->before);
			work_report(w, &c, CONTROL_WOULD);
		}
	}
	return w->dry ? 0 : undo_back(w, e);
}

/* "max"; "restore", what was before the first "max"; or changes such as "gpu=306000000..612000000". */
static int set_values(struct work *w, char *const *words, size_t n, struct err *e)
{
	struct control_item *u = control_find(&w->items, words[0]);
	char name[40];

	if (!strcmp(words[0], "governor") || (!strcmp(words[0], "clocks") && strchr(words[1], '='))) {
		for (int pass = 0; pass < 2; pass++) /* all or nothing: first are all looked at */
			for (size_t i = 1; i < n; i++) {
				const char *equals = strchr(words[i], '=');
				snprintf(name, sizeof name, "%s.%.*s", words[0],
					 equals ? (int)(equals - words[i]) : 0, words[i]);
				u = control_find(&w->items, name);
				if (!equals || !u)
					return usage(e, "no such thing can be set here: ", words[i]);
				if (pass)
					set_change(w, u, equals + 1);
			}
		return 0;
	}
	if (!u || n > 2)
		return usage(e, "no such thing can be set here: ", words[u ? 2 : 0]);
	if (strcmp(words[0], "clocks") != 0 || strcmp(words[1], "restore") != 0) {
		set_change(w, u, n > 1 ? words[1] : "");
		return 0;
	}
	if (undo_oldest(w, words[0]))
		return restore(w, (char *const[]) {words[1], words[0]}, 2, e);
	struct control_change c = work_change(w, words[0], words[1]);
	bool max = !strcmp(c.before, "max");
	if (max && !w->dry)
		strcpy(c.why, "the clocks were not set to max here: what they were before is not known; a "
				"reboot ends it");
	work_report(w, &c, w->dry ? CONTROL_WOULD : max ? CONTROL_REFUSED : CONTROL_AS_IS);
	return 0;
}

/* "revert" puts changes back, "keep" makes those stay that have a time. */
static int by_number(struct work *w, char *const *words, size_t n, struct err *e)
{
	bool keeps = !strcmp(words[0], "keep");
	unsigned ids[WORDS_MOST];

	if (w->dry)
		return usage(e, "--dry-run does not go with ", words[0]);
	for (size_t i = 1; i < n; i++) {
		if (strlen(words[i]) > 9 || words[i][strspn(words[i], "0123456789")])
			return usage(e, "not the number of a change: ", words[i]);
		ids[i] = (unsigned)strtoul(words[i], NULL, 10);
	}
	for (size_t i = 1; i < n; i++) {
		struct entry *one = undo_find(w, ids[i]);
		for (size_t k = 0; keeps && k < w->n_made; k++)
			w->made[k] = w->made[k] == ids[i] ? 0 : w->made[k];
		if (one && !keeps)
			one->mark = ENTRY_SELECTED;
		if (!one || !keeps || !one->until_ms)
			continue;
		one->until_ms = 0;
		const struct control_item *u = control_find(&w->items, one->name);
		struct control_change c = work_change(w, one->name, u ? u->value : "");
		c.id = ids[i];
		strcpy(c.before, one->before);
		bool saved = undo_save(w, e) == 0;
		if (!saved)
			snprintf(c.why, sizeof c.why, "%.230s", e->text);
		work_report(w, &c, saved ? CONTROL_DONE : CONTROL_FAILED);
	}
	return keeps ? 0 : undo_back(w, e);
}

static int answer_words(struct work *w, char *const *words, size_t n, struct err *e)
{
	static int (*const answers[])(struct work *w, char *const *words, size_t n, struct err *e) = {
		[VERB_SET] = set_values, [VERB_RESTORE] = restore, [VERB_KEEP] = by_number, [VERB_REVERT] = by_number};
	const struct control_verb *v = control_verb(n ? words[0] : "");

	if (!v || v->does == VERB_LIST)
		return usage(e, "unknown request: ", n ? words[0] : "");
	if (n - 1 < v->least || n - 1 > v->most)
		return usage(e, "too few or too many words after ", words[0]);
	return answers[v->does](w, words, n, e);
}

/* Takes the options out of the words. */
static int take_options(struct work *w, char **words, size_t *n, struct err *e)
{
	size_t kept = 0;

	w->dry = false;
	w->for_ns = 0;
	for (size_t i = 0; i < *n; i++)
		if (!strcmp(words[i], "--dry-run"))
			w->dry = true;
		else if (strcmp(words[i], "--for") != 0)
			words[kept++] = words[i];
		else if (++i == *n || !num_duration_ns(words[i], &w->for_ns) || w->for_ns < FOR_LEAST ||
			 w->for_ns > FOR_MOST)
			return usage(e, "--for needs a time from 1s to 24h", "");
	*n = kept;
	return 0;
}

/* Ends an answer. */
static int answered(struct work *w, const struct err *e)
{
	if (e->code != ERR_NONE && !w->status)
		w->status = e->code == ERR_USAGE ? 2 : 1;
	printf("end\t%d\t%s\n", w->status, e->code != ERR_NONE ? e->text : "");
	fflush(stdout);
	return w->status;
}

static int answer(struct work *w, char **words, size_t n)
{
	struct err e = {.code = ERR_NONE};
	int fd = -1;

	w->status = 0;
	for (size_t k = 0; k < n; k++)
		for (const char *p = words[k]; *p || p == words[k]; p++)
			if (*p <= ' ' || *p > '~') {
				usage(&e, "not a request: an empty word, a blank or a control character",
				      "");
				return answered(w, &e);
			}
	if (take_options(w, words, &n, &e) == 0) {
		if (!w->dry && w->folder < 0) {
			w->status = 4;
			err_set(&e, ERR_FAILED, "only root can change anything");
		} else if ((w->dry || (fd = work_lock(w, 3, &e)) >= 0) &&
			   (w->folder < 0 || undo_load(w, &e) == 0) && work_read(w, &e) == 0)
			answer_words(w, words, n, &e);
	}
	if (fd >= 0)
		close(fd);
	return answered(w, &e);
}

/* Puts back changes that were made before; timed: those that are not kept. */
static int put_back(struct work *w, const unsigned *ids, size_t n, bool timed)
{
	struct err e = {.code = ERR_NONE};
	int fd = work_lock(w, INT_MAX, &e); /* whoever has it: it is not left undone */

	w->status = 0;
	w->dry = false;
	if (fd >= 0 && undo_load(w, &e) == 0 && work_read(w, &e) == 0) {
		for (size_t i = 0; i < n; i++) {
			struct entry *one = undo_find(w, ids[i]);
			if (one && (!timed || one->until_ms))
				one->mark = ENTRY_SELECTED;
		}
		undo_back(w, &e);
	}
	if (fd >= 0)
		close(fd);
	if (e.code != ERR_NONE)
		work_log(w, "%s", e.text);
	return answered(w, &e);
}

static int session(struct work *w, bool revert)
{
	char line[LINE_MOST], *words[WORDS_MOST];
	struct err none = {.code = ERR_NONE}, e;

	puts("ready\t1");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin)) {
		char *rest = line, *end = strchr(line, '\n');
		size_t n = 0;
		if (end)
			*end = '\0';
		while (n < WORDS_MOST && (words[n] = strsep(&rest, " ")))
			n++;
		if (end && !rest) {
			answer(w, words, n);
			continue;
		}
		w->status = 0;
		usage(&e, "not a request: a line of at most 40 words of printable characters", "");
		answered(w, &e);
		if (!end)
			break;
	}
	if (revert && w->folder >= 0 && w->n_made)
		return put_back(w, w->made, w->n_made, false);
	w->status = 0;
	return answered(w, &none);
}

/* Puts a timed change back when its time has come, unless it is kept until then. */
static int expire(struct work *w, const char *number)
{
	unsigned id = (unsigned)strtoul(number, NULL, 10);
	struct err e = {.code = ERR_NONE};

	for (;;) {
		/* what cannot be read is tried, and said, when it is taken back */
		const struct entry *one = undo_load(w, &e) < 0 ? NULL : undo_find(w, id);
		if (e.code != ERR_NONE)
			return put_back(w, &id, 1, true);
		if (!one || !one->until_ms || strcmp(one->boot, w->boot) != 0)
			return 0;
		int64_t left = one->until_ms - undo_now_ms();
		if (left <= 0)
			return put_back(w, &id, 1, true);
		left = left < LOOK_MS ? left : LOOK_MS;
		clock_nanosleep(
			CLOCK_BOOTTIME, 0,
			&(struct timespec) {.tv_sec = left / 1000, .tv_nsec = left % 1000 * NS_PER_MS}, NULL);
	}
}

/* --- beginning --- */

/* Of what the caller has nothing is left but its number: no variable, limit, timer, signal or open file. Ctrl-C and
 * Ctrl-Z are for who has started this; the end is that of the input. */
static void clean(bool apart)
{
	static const int limits[] = {RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_DATA, RLIMIT_AS};
	const char *id = getenv("PKEXEC_UID"), *die = getenv("NVMTOP_CONTROL_DIE"),
		   *patience = getenv("NVMTOP_CONTROL_PATIENCE");

	id = id ? id : getenv("SUDO_UID");
	if (id && *id && strlen(id) < 11 && !id[strspn(id, "0123456789")])
		strcpy(caller, id);
	else
		snprintf(caller, sizeof caller, "%u", (unsigned)getuid());
	dies_at = TEST && die ? (unsigned)atoi(die) : 0;
	work_patience = TEST && patience ? atoi(patience) : 0;
	if (clearenv() || setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1) < 0 || chdir("/") < 0)
		_exit(1);
#ifdef NVMTOP_CONTROL_TEST
	if (setenv("NVMTOP_BOARDS", NVMTOP_CONTROL_TEST, 1) < 0)
		_exit(1);
#endif
	umask(077);
	program_signals(apart ? SIG_DFL : SIG_IGN);
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
		setrlimit(limits[i], &(struct rlimit) {RLIM_INFINITY, RLIM_INFINITY});
	int fd = 1024;
	while (fd > STDERR_FILENO + 1)
		close(--fd);
	while ((fd = open("/dev/null", O_RDWR)) >= 0 && fd <= STDERR_FILENO)
		continue;
	close(fd);
}

int main(int argc, char **argv)
{
	char absolute[PATH_MAX] = "/", why[256];
	struct work w = {.folder = -1};
	struct err e = {.code = ERR_NONE};
	bool revert = false, may = TEST || geteuid() == 0;
	int i = 1, status;

	for (; i < argc && !strncmp(argv[i], "--", 2); i++)
		if (!strcmp(argv[i], "--revert"))
			revert = true;
		else if (!TEST || strcmp(argv[i], "--sysroot") != 0 || ++i == argc ||
			 !realpath(argv[i], absolute)) {
			printf("end\t2\t%s%.100s\n", "unknown option: ", i < argc ? argv[i] : "");
			return 2;
		}
	if (TEST && !strcmp(absolute, "/"))
		return 2;
	char **words = argv + i;
	size_t n = (size_t)(argc - i);
	bool apart = n == 1 ? !strcmp(words[0], "watch") : n == 2 && !strcmp(words[0], "expire");
	clean(apart);
	if (!TEST) {
		board_installed_only();
		openlog("nvmtop-control", LOG_PID, LOG_AUTHPRIV);
	}
	struct root *root = root_open(absolute, &e);
	struct board *board = root ? board_detect(root, why, sizeof why, &e) : NULL;
	w.root = root;
	w.board = board;
	if (board && may)
		w.folder = undo_folder(root, &e);
	if (n > WORDS_MOST)
		usage(&e, "too many words", "");
	if (board)
		file_line(root, "/proc/sys/kernel/random/boot_id", w.boot, sizeof w.boot);
	if (!board || (may && w.folder < 0) || n > WORDS_MOST)
		status = answered(&w, &e);
	else if (!n)
		status = session(&w, revert);
	else if (!apart || !may)
		status = answer(&w, words, n);
	else
		status = n == 1 ? fan_watch(&w) : expire(&w, words[1]);
	control_list_free(&w.items);
	undo_free(&w);
	free(w.made);
	board_free(board);
	root_close(root);
	return status;
}
