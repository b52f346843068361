/* nvmtop-control: the only part of nvmtop that runs as root and changes something. It is started by control_open(),
 * through pkexec or sudo, and takes verbs, numbers and names that the installed board file and the configurations of
 * NVIDIA's programs have; no path, no variable and nothing that a user can write widens that. src/control/control.h has
 * the requests and the answers.
 *
 *   nvmtop-control [--revert]    answers the requests on its standard input, one a line
 *   nvmtop-control REQUEST...    answers one
 *
 * The build for tests (NVMTOP_CONTROL_TEST), which is never installed, needs no root and takes --sysroot DIR, below
 * which are then all files and programs. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "helper/local.h"
#include "probe/attr.h"
#include "util/clock.h"
#include "util/intl.h"
#include "util/num.h"

#define WORDS_MOST 40
#define LINE_MOST  1024
#define FOR_LEAST  NS_PER_S
#define FOR_MOST   (86400 * NS_PER_S)

void work_log(const struct work *w, const char *fmt, ...)
{
	char text[900];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	(void)w;
#ifdef NVMTOP_CONTROL_TEST
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s/log", root_dir(w->root));
	FILE *f = fopen(path, "a");
	if (f) {
		fprintf(f, "%s\n", text);
		fclose(f);
	}
#else
	syslog(LOG_NOTICE, "%s", text);
#endif
}

#ifdef NVMTOP_CONTROL_TEST
static int dies_at;
int work_patience;

void work_wrote(void)
{
	if (dies_at && --dies_at == 0)
		raise(SIGKILL);
}
#endif

void work_report(struct work *w, struct control_change *c, enum control_result result)
{
	static const int status[CONTROL_RESULTS] = {
		[CONTROL_NOT] = 1, [CONTROL_FAILED] = 1, [CONTROL_REFUSED] = 4};
	char why[sizeof c->why], before[sizeof c->before], after[sizeof c->after];

	c->result = result;
	if (w->status != 1 && status[result])
		w->status = status[result];
	text_printable(why, sizeof why, c->why, strlen(c->why));
	text_printable(before, sizeof before, c->before, strlen(c->before));
	text_printable(after, sizeof after, c->after, strlen(c->after));
	printf("change\t%s\t%s\t%s\t%s\t%s\t%u\t%lld\t%s\n", c->name, before, c->wanted, after,
	       control_result_words[result], c->id, (long long)(c->left_ns / NS_PER_MS), why);
	fflush(stdout);
	if (result != CONTROL_WOULD)
		work_log(w, "user %s: %s: %s -> %s: %s, now %s%s%s", w->caller, c->name, before, c->wanted,
			 control_result_words[result], after, *why ? ": " : "", why);
}

int work_read(struct work *w, struct err *e)
{
	control_units_free(&w->units);
	return control_units(w->board, w->root, &w->units, e);
}

/* --- requests --- */

static int select_ids(struct work *w, char *const *ids, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct entry *e = undo_find(w, (unsigned)strtoul(ids[i], NULL, 10));
		if (e)
			e->mark = ENTRY_SELECTED;
	}
	return 0;
}

static int usage(struct err *e, const char *text, const char *word)
{
	return err_set(e, ERR_USAGE, "%s%s", text, word);
}

/* Makes changes such as "gpu=306000000..612000000" of "clocks". */
static int change_each(struct work *w, const char *verb, char *const *words, size_t n, struct err *e)
{
	char name[40];

	if (!n)
		return usage(e, _("a value is needed after "), verb);
	for (size_t i = 0; i < n; i++) { /* all or nothing */
		const char *equals = strchr(words[i], '=');
		snprintf(name, sizeof name, "%s.%.*s", verb, equals ? (int)(equals - words[i]) : 0, words[i]);
		if (!equals || !control_unit_find(&w->units, name))
			return usage(e, _("no such thing can be set here: "), words[i]);
	}
	for (size_t i = 0; i < n; i++) {
		snprintf(name, sizeof name, "%s.%.*s", verb, (int)strcspn(words[i], "="), words[i]);
		struct control_unit *u = control_unit_find(&w->units, name);
		if (u)
			set_change(w, u, strchr(words[i], '=') + 1);
	}
	return 0;
}

/* What is before the first "clocks max" again. */
static int clocks_restore(struct work *w, struct control_unit *u, struct err *e)
{
	struct control_change c = {.wanted = "restore"};
	bool any = false;

	for (size_t i = 0; i < w->n_entries; i++)
		if (!strcmp(w->entries[i].name, u->item.name)) {
			w->entries[i].mark = w->dry ? ENTRY_STAYS : ENTRY_SELECTED;
			any = true;
		}
	if (any && !w->dry)
		return undo_back(w, e);
	strcpy(c.name, u->item.name);
	strcpy(c.before, u->item.value);
	strcpy(c.after, u->item.value);
	bool max = !strcmp(u->item.value, "max");
	if (max && !any && w->folder >= 0)
		snprintf(c.why, sizeof c.why, "%s",
			 _("the clocks were not set to max here: what they were before is not known; a "
			   "reboot ends it"));
	work_report(w, &c, w->dry ? CONTROL_WOULD : max ? CONTROL_REFUSED : CONTROL_AS_IS);
	return 0;
}

static int restore(struct work *w, char *const *names, size_t n, struct err *e)
{
	struct control_change c = {.id = 0};

	for (size_t i = 0; i < n; i++)
		if (!control_unit_find(&w->units, names[i]) && !undo_oldest(w, names[i]))
			return usage(e, _("no such thing can be set here: "), names[i]);
	for (size_t i = 0; i < w->n_entries; i++) {
		bool named = !n;
		for (size_t k = 0; k < n; k++)
			named = named || !strcmp(names[k], w->entries[i].name);
		w->entries[i].mark = named ? ENTRY_SELECTED : ENTRY_STAYS;
	}
	if (!w->dry)
		return undo_back(w, e);
	for (size_t i = 0; i < w->n_entries; i++) {
		const struct entry *one = &w->entries[i];
		const struct control_unit *u = control_unit_find(&w->units, one->name);
		if (one->mark != ENTRY_SELECTED || undo_oldest(w, one->name) != one)
			continue;
		strcpy(c.name, one->name);
		strcpy(c.before, u ? u->item.value : "");
		strcpy(c.wanted, one->before);
		work_report(w, &c, CONTROL_WOULD);
	}
	return 0;
}

/* Makes timed changes stay. */
static void keep(struct work *w, char *const *ids, size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		unsigned id = (unsigned)strtoul(ids[i], NULL, 10);
		struct entry *one = undo_find(w, id);
		struct control_change c = {.id = id};
		const struct control_unit *u = one ? control_unit_find(&w->units, one->name) : NULL;
		for (size_t k = 0; k < w->n_made; k++)
			w->made[k] = w->made[k] == id ? 0 : w->made[k];
		if (!one || !one->until_ms)
			continue;
		one->until_ms = 0;
		strcpy(c.name, one->name);
		strcpy(c.before, one->before);
		strcpy(c.wanted, u ? u->item.value : "");
		strcpy(c.after, c.wanted);
		bool saved = undo_save(w, e) == 0;
		if (!saved)
			snprintf(c.why, sizeof c.why, "%.230s", e->text);
		work_report(w, &c, saved ? CONTROL_DONE : CONTROL_FAILED);
	}
}

static int answer_words(struct work *w, char *const *words, size_t n, struct err *e)
{
	static const struct {
		const char *verb;
		size_t least, most;
	} verbs[] = {{"mode", 2, 2},
		     {"clocks", 2, WORDS_MOST},
		     {"governor", 2, WORDS_MOST},
		     {"3d-scaling", 2, 2},
		     {"swap", 2, 2},
		     {"drop-caches", 1, 1},
		     {"restore", 1, WORDS_MOST},
		     {"revert", 2, WORDS_MOST},
		     {"keep", 2, WORDS_MOST}};
	const char *verb = n ? words[0] : "";
	bool fan = !strncmp(verb, "fan", 3);
	size_t v = 0;
	struct control_unit *u = control_unit_find(&w->units, verb);

	while (v < sizeof verbs / sizeof *verbs && strcmp(verbs[v].verb, verb) != 0)
		v++;
	if (!fan && v == sizeof verbs / sizeof *verbs)
		return usage(e, _("unknown request: "), verb);
	if (n < (fan ? 2 : verbs[v].least) || n > (fan ? 2 : verbs[v].most))
		return usage(e, _("too few or too many words after "), verb);
	bool undo = !strcmp(verb, "revert") || !strcmp(verb, "keep");
	for (size_t i = 1; undo && i < n; i++)
		if (strlen(words[i]) > 9 || words[i][strspn(words[i], "0123456789")])
			return usage(e, _("not the number of a change: "), words[i]);
	if (!strcmp(verb, "restore"))
		return restore(w, words + 1, n - 1, e);
	if (undo && w->dry)
		return usage(e, _("--dry-run does not go with "), verb);
	if (!strcmp(verb, "keep"))
		return keep(w, words + 1, n - 1, e), 0;
	if (undo)
		return select_ids(w, words + 1, n - 1) < 0 ? -1 : undo_back(w, e);
	if (!strcmp(verb, "governor") || (!strcmp(verb, "clocks") && strchr(words[1], '=')))
		return change_each(w, verb, words + 1, n - 1, e);
	if (!u || (!strcmp(verb, "clocks") && n > 2))
		return usage(e, _("no such thing can be set here: "), u ? words[2] : verb);
	if (!strcmp(verb, "clocks") && !strcmp(words[1], "restore"))
		return clocks_restore(w, u, e);
	set_change(w, u, n > 1 ? words[1] : "");
	return 0;
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
			return usage(e, _("--for needs a time from 1s to 24h"), "");
	*n = kept;
	return 0;
}

int work_lock(struct work *w, int seconds, struct err *e)
{
	int fd = openat(w->folder, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	int64_t until = clock_now_ns() + seconds * NS_PER_S;

	while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (clock_now_ns() > until) {
			close(fd);
			return err_set(e, ERR_FAILED, _("another change is being made; try again"));
		}
		nanosleep(&(struct timespec) {.tv_nsec = 20 * NS_PER_MS}, NULL);
	}
	return fd < 0 ? err_sys(e, ERR_FAILED, errno, "%s/lock", CONTROL_FOLDER) : fd;
}

static int answer(struct work *w, char **words, size_t n)
{
	struct err e = {.code = ERR_NONE};
	int fd = -1;

	w->status = 0;
	if (take_options(w, words, &n, &e) == 0) {
		if (!w->dry && w->folder < 0) {
			w->status = 4;
			err_set(&e, ERR_FAILED, _("only root can change anything"));
		} else if ((w->dry || (fd = work_lock(w, 3, &e)) >= 0) &&
			   (w->folder < 0 || undo_load(w, &e) == 0) && work_read(w, &e) == 0)
			answer_words(w, words, n, &e);
	}
	if (fd >= 0)
		close(fd);
	if (e.code != ERR_NONE && !w->status)
		w->status = e.code == ERR_USAGE ? 2 : 1;
	printf("end\t%d\t%s\n", w->status, e.code != ERR_NONE ? e.text : "");
	fflush(stdout);
	return w->status;
}

/* Splits a request at its blanks. Returns false if it is not one: each word is printable, and not empty. */
static bool split(char *line, char *words[WORDS_MOST], size_t *n)
{
	for (const char *p = line; *p; p++)
		if (*p < ' ' || *p > '~')
			return false;
	*n = 0;
	for (char *word; (word = strsep(&line, " "));) {
		if (!*word || *n == WORDS_MOST)
			return false;
		words[(*n)++] = word;
	}
	return true;
}

static int session(struct work *w, bool revert)
{
	char line[LINE_MOST], *words[WORDS_MOST];
	struct err e = {.code = ERR_NONE};
	size_t n;
	int fd;

	puts("ready\t1");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin)) {
		size_t len = strlen(line);
		bool whole = len && line[len - 1] == '\n';
		if (whole)
			line[len - 1] = '\0';
		if (whole && split(line, words, &n)) {
			answer(w, words, n);
			continue;
		}
		printf("end\t2\t%s\n",
		       _("not a request: a line of at most 40 words of printable characters"));
		fflush(stdout);
		if (!whole)
			break;
	}
	w->status = 0;
	w->dry = false;
	if (revert && w->folder >= 0 && w->n_made) {
		fd = work_lock(w, 60, &e);
		if (fd >= 0 && undo_load(w, &e) == 0 && work_read(w, &e) == 0) {
			for (size_t i = 0; i < w->n_made; i++) {
				struct entry *one = undo_find(w, w->made[i]);
				if (one)
					one->mark = ENTRY_SELECTED;
			}
			undo_back(w, &e);
		}
	}
	if (e.code != ERR_NONE)
		w->status = 1;
	printf("end\t%d\t%s\n", w->status, e.code != ERR_NONE ? e.text : "");
	fflush(stdout);
	return w->status;
}

/* Puts a timed change back when its time has come, unless it is kept until then. */
static int expire(struct work *w, const char *id)
{
	struct err e = {.code = ERR_NONE};
	struct entry *one;

	for (;;) {
		if (undo_load(w, &e) < 0 || !(one = undo_find(w, (unsigned)strtoul(id, NULL, 10))) ||
		    !one->until_ms || strcmp(one->boot, w->boot) != 0)
			return 0;
		int64_t left = one->until_ms - undo_now_ms();
		if (left <= 0)
			break;
		clock_nanosleep(
			CLOCK_BOOTTIME, 0,
			&(struct timespec) {.tv_sec = left / 1000, .tv_nsec = left % 1000 * NS_PER_MS}, NULL);
	}
	int fd = work_lock(w, 600, &e);
	if (fd < 0 || undo_load(w, &e) < 0 || work_read(w, &e) < 0)
		return 1;
	one = undo_find(w, (unsigned)strtoul(id, NULL, 10));
	if (!one || !one->until_ms)
		return 0;
	one->mark = ENTRY_SELECTED;
	undo_back(w, &e);
	return w->status;
}

/* --- beginning --- */

static char caller_id[16];

/* Nothing of what the caller set is left but its number. */
static void clean(void)
{
	const char *id = getenv("PKEXEC_UID");

	id = id ? id : getenv("SUDO_UID");
	if (id && *id && strlen(id) < 11 && !id[strspn(id, "0123456789")])
		strcpy(caller_id, id);
	else
		snprintf(caller_id, sizeof caller_id, "%u", (unsigned)getuid());
#ifdef NVMTOP_CONTROL_TEST
	const char *die = getenv("NVMTOP_CONTROL_DIE");
	const char *patience = getenv("NVMTOP_CONTROL_PATIENCE");
	dies_at = die ? atoi(die) : 0;
	work_patience = patience ? atoi(patience) : 0;
#endif
	if (clearenv() || setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1) < 0 || chdir("/") < 0)
		_exit(1);
	umask(077);
	for (int fd; (fd = open("/dev/null", O_RDWR)) >= 0;)
		if (fd > STDERR_FILENO) {
			close(fd);
			break;
		}
}

int main(int argc, char **argv)
{
	struct board *board = NULL;
	struct root *root;
	struct work w = {.folder = -1, .caller = caller_id, .self = PKGLIBEXECDIR "/nvmtop-control"};
	const char *top = "/";
	bool revert = false;
	char why[256], *words[WORDS_MOST];
	struct err e = {.code = ERR_NONE};
	int i = 1;
	size_t n = 0;

#ifdef NVMTOP_CONTROL_TEST
	static char self[PATH_MAX], absolute[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
	self[len > 0 ? len : 0] = '\0';
	w.self = self;
	if (i + 1 < argc && !strcmp(argv[i], "--revert"))
		revert = i++;
	if (i + 1 >= argc || strcmp(argv[i++], "--sysroot") != 0 || !realpath(argv[i++], absolute) ||
	    !strcmp(absolute, "/"))
		return 2;
	top = absolute;
#else
	board_installed_only();
	openlog("nvmtop-control", LOG_PID, LOG_AUTHPRIV);
#endif
	clean();
	for (; i < argc && !strncmp(argv[i], "--", 2); i++) {
		revert = true;
		if (!strcmp(argv[i], "--revert"))
			continue;
		printf("end\t2\t%s%.100s\n", _("unknown option: "), argv[i]);
		return 2;
	}
	for (; i < argc && n < WORDS_MOST; i++)
		words[n++] = argv[i];
	/* Ctrl-C is for who has started this; the end is that of the input. */
	bool apart = n && (!strcmp(words[0], "expire") || !strcmp(words[0], "watch"));
	signal(SIGPIPE, SIG_IGN);
	for (size_t k = 0; k < 4 && !apart; k++)
		signal((int[]) {SIGINT, SIGHUP, SIGQUIT, SIGTERM}[k], SIG_IGN);
	w.root = root = root_open(top, &e);
	if (root)
		w.board = board = board_detect(root, why, sizeof why, &e);
#ifdef NVMTOP_CONTROL_TEST
	bool may = true;
#else
	bool may = geteuid() == 0;
#endif
	if (w.board && may)
		w.folder = undo_folder(w.root, &e);
	if (i < argc || !w.board || (may && w.folder < 0)) {
		printf("end\t%d\t%s\n", i < argc ? 2 : 1, i < argc ? _("too many words") : e.text);
		return i < argc ? 2 : 1;
	}
	file_line(w.root, "/proc/sys/kernel/random/boot_id", w.boot, sizeof w.boot);
	for (size_t k = 0; k < n; k++)
		for (const char *p = words[k]; *p; p++)
			if (*p <= ' ' || *p > '~') {
				printf("end\t2\t%s\n",
				       _("not a request: a word with a blank or a control character"));
				return 2;
			}
	int status = !n                   ? session(&w, revert)
		     : !apart || !may     ? answer(&w, words, n)
		     : words[0][0] == 'w' ? fan_watch(&w)
		     : n == 2             ? expire(&w, words[1])
					  : 2;
	control_units_free(&w.units);
	undo_free(&w);
	free(w.made);
	board_free(board);
	root_close(root);
	return status;
}
