/* A FUSE file system for tests: serves a directory read-only, like sysfs, and lets single
 * files misbehave as drivers do. A hanging read is uninterruptible, and errors come from
 * the kernel.
 *
 *   slowfs FOLDER RULES MOUNTPOINT     runs in the foreground until SIGTERM or umount
 *
 * As in sysfs, stat reports 4096 bytes, a read at offset 0 generates the text again, and a
 * file opened before its driver was unbound returns ENODEV from then on, even if a file of
 * that name returns. The content of FOLDER may change meanwhile.
 *
 * RULES is a file with one rule per line. More can be written to MOUNTPOINT/.rules at any
 * time; their times count from then.
 *
 *   PATTERN WHAT [FROM_MS [TO_MS]]     from now on, or from then on, or between
 *
 * PATTERN is a path from the mount point, with * and ? within a name, and includes
 * everything below it. The newest active rule applies. WHAT is one of
 *
 *   EIO, EAGAIN...   every read fails with this error
 *   gone             does not exist; other names, such as links, need their own rule
 *   wait=US          a read takes at least this many microseconds
 *   hang             a read started meanwhile ends with this rule
 *   open:wait=US, open:hang, list:wait=US, list:hang
 *                    the same for opening a file or listing a directory
 *   whole            a regular file as on a disk: real size, any offset, mmap
 *   ramp=LO:HI:MS    a number that rises and falls once every MS
 *   clear            ends all rules with exactly this PATTERN */
#ifndef FUSE_USE_VERSION /* set by configure */
#define FUSE_USE_VERSION 32
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <fuse.h>
#include <fuse_lowlevel.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CONTROL   "/.rules"
#define RULES_MAX 256
#define TEXT_MAX  4096
#define HUNG_MAX  1000
#define NS_PER_MS INT64_C(1000000)

enum what { FAIL, GONE, WAIT, HANG, RAMP, WHOLE };
enum when { READ, OPEN, LIST };

struct rule {
	char pattern[256];
	enum what what;
	enum when when;      /* WAIT, HANG */
	int error;           /* FAIL */
	int64_t duration_ns; /* WAIT; RAMP: the period */
	double lo, hi;       /* RAMP */
	int64_t from_ns, to_ns;
};

struct handle {
	bool is_control, whole;
	int fd;
	int64_t opened_ns;
	pthread_mutex_t lock; /* protects the text, which reads at later offsets share */
	size_t len;
	char text[TEXT_MAX];
	char path[];
};

static int folder;
/* Ended rules are kept: they tell which open files are dead. */
static struct rule rules[RULES_MAX];
static size_t n_rules;
static pthread_mutex_t rules_lock = PTHREAD_MUTEX_INITIALIZER;

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void sleep_until(int64_t ns)
{
	struct timespec t = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

static bool fits(const struct rule *r, const char *path)
{
	return fnmatch(r->pattern, path, FNM_PATHNAME | FNM_LEADING_DIR) == 0;
}

/* The newest rule active at that time. */
static bool find_rule_when(const char *path, enum what what, enum when when, int64_t t_ns, struct rule *out)
{
	bool found = false;

	pthread_mutex_lock(&rules_lock);
	for (size_t i = n_rules; i-- && !found;) {
		const struct rule *r = &rules[i];
		found = r->what == what && r->when == when && t_ns >= r->from_ns && t_ns < r->to_ns &&
			fits(r, path);
		if (found)
			*out = *r;
	}
	pthread_mutex_unlock(&rules_lock);
	return found;
}

static bool find_rule(const char *path, enum what what, int64_t t_ns, struct rule *out)
{
	return find_rule_when(path, what, READ, t_ns, out);
}

static bool is_gone(const char *path)
{
	struct rule r;

	return find_rule(path, GONE, now_ns(), &r);
}

static bool was_gone_since(const char *path, int64_t since_ns, int64_t until_ns)
{
	bool was = false;

	pthread_mutex_lock(&rules_lock);
	for (size_t i = 0; i < n_rules && !was; i++) {
		const struct rule *r = &rules[i];
		was = r->what == GONE && r->from_ns < r->to_ns && r->from_ns <= until_ns &&
		      r->to_ns > since_ns && fits(r, path);
	}
	pthread_mutex_unlock(&rules_lock);
	return was;
}

static int error_of(const char *name)
{
	static const struct {
		const char *name;
		int error;
	} errors[] = {
		{"EAGAIN", EAGAIN},       {"EBUSY", EBUSY},         {"EINVAL", EINVAL}, {"EIO", EIO},
		{"ENODATA", ENODATA},     {"ENODEV", ENODEV},       {"ENXIO", ENXIO},   {"EPERM", EPERM},
		{"EREMOTEIO", EREMOTEIO}, {"ETIMEDOUT", ETIMEDOUT},
	};

	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (!strcmp(errors[i].name, name))
			return errors[i].error;
	return 0;
}

static bool parse_what(struct rule *r, const char *word)
{
	double number;

	if (!strncmp(word, "open:", 5) || !strncmp(word, "list:", 5)) {
		r->when = *word == 'o' ? OPEN : LIST;
		word += 5;
		if (strcmp(word, "hang") && strncmp(word, "wait=", 5))
			return false;
	}
	if (!strcmp(word, "whole")) {
		r->what = WHOLE;
	} else if (!strcmp(word, "gone")) {
		r->what = GONE;
	} else if (!strcmp(word, "hang")) {
		r->what = HANG;
	} else if (sscanf(word, "wait=%lf", &number) == 1 && number >= 0 && number <= 1e9) {
		r->what = WAIT;
		r->duration_ns = (int64_t)(number * 1000);
	} else if (sscanf(word, "ramp=%lf:%lf:%lf", &r->lo, &r->hi, &number) == 3 && number >= 1 &&
		   number <= 1e6) {
		r->what = RAMP;
		r->duration_ns = (int64_t)number * NS_PER_MS;
	} else {
		r->what = FAIL;
		r->error = error_of(word);
		return r->error != 0;
	}
	return true;
}

static bool parse_ms(const char *word, int64_t base_ns, int64_t *out)
{
	char *end;
	double ms = strtod(word, &end);

	if (end == word || *end || !(ms >= 0 && ms <= 1e9))
		return false;
	*out = base_ns + (int64_t)(ms * 1e6);
	return true;
}

static void clear_rules(const char *pattern, int64_t at_ns)
{
	for (size_t i = 0; i < n_rules; i++)
		if (!strcmp(rules[i].pattern, pattern) && rules[i].to_ns > at_ns)
			rules[i].to_ns = at_ns;
}

/* Parses the line in place; 0 or an errno. */
static int add_rule(char *line, int64_t t_ns)
{
	struct rule r = {.from_ns = t_ns, .to_ns = INT64_MAX};
	char *rest = NULL, *words[5];
	size_t n = 0;
	int error = 0;

	for (char *w = strtok_r(line, " \t\n", &rest); w && n < 5; w = strtok_r(NULL, " \t\n", &rest))
		words[n++] = w;
	if (n == 0 || words[0][0] == '#')
		return 0;
	if (n < 2 || n > 4 || words[0][0] != '/' || strlen(words[0]) >= sizeof r.pattern)
		return EINVAL;
	strcpy(r.pattern, words[0]);
	pthread_mutex_lock(&rules_lock);
	if (!strcmp(words[1], "clear"))
		clear_rules(r.pattern, t_ns);
	else if (!parse_what(&r, words[1]) || (n > 2 && !parse_ms(words[2], t_ns, &r.from_ns)) ||
		 (n > 3 && !parse_ms(words[3], t_ns, &r.to_ns)))
		error = EINVAL;
	else if (n_rules == RULES_MAX)
		error = ENOSPC;
	else
		rules[n_rules++] = r;
	pthread_mutex_unlock(&rules_lock);
	return error;
}

static const char *below(const char *path)
{
	return path[1] ? path + 1 : ".";
}

static struct handle *handle_of(const struct fuse_file_info *file)
{
	return (struct handle *)(uintptr_t)file->fh;
}

static bool is_whole(const char *path)
{
	struct rule r;

	return find_rule(path, WHOLE, now_ns(), &r);
}

static int slow_getattr(const char *path, struct stat *st, struct fuse_file_info *file)
{
	if (!strcmp(path, CONTROL)) {
		*st = (struct stat) {.st_mode = S_IFREG | 0200, .st_nlink = 1, .st_uid = getuid()};
		return 0;
	}
	int fd = file ? handle_of(file)->fd : -1;
	if (fd < 0 && is_gone(path))
		return -ENOENT;
	if ((fd < 0 ? fstatat(folder, below(path), st, AT_SYMLINK_NOFOLLOW) : fstat(fd, st)) < 0)
		return -errno;
	if (S_ISREG(st->st_mode) && !is_whole(path))
		st->st_size = TEXT_MAX;
	return 0;
}

/* Wait like a driver or a disk. Stopping the file system ends a hang. */
static void spend(const char *path, enum when when, int64_t begin_ns)
{
	struct fuse_session *session = fuse_get_session(fuse_get_context()->fuse);
	struct rule r;

	if (find_rule_when(path, HANG, when, begin_ns, &r))
		while (find_rule_when(path, HANG, when, now_ns(), &r) && !fuse_session_exited(session))
			sleep_until(now_ns() + 2 * NS_PER_MS);
	if (find_rule_when(path, WAIT, when, begin_ns, &r))
		sleep_until(begin_ns + r.duration_ns);
}

static int slow_readlink(const char *path, char *to, size_t size)
{
	if (is_gone(path))
		return -ENOENT;
	ssize_t n = readlinkat(folder, below(path), to, size - 1);
	if (n < 0)
		return -errno;
	to[n] = '\0';
	return 0;
}

static int slow_readdir(const char *path, void *to, fuse_fill_dir_t fill, off_t offset,
			struct fuse_file_info *file, enum fuse_readdir_flags flags)
{
	char name[4096];
	struct dirent *entry;

	(void)offset;
	(void)file;
	(void)flags;
	spend(path, LIST, now_ns());
	if (is_gone(path))
		return -ENOENT;
	int fd = openat(folder, below(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		int error = errno;
		if (fd >= 0)
			close(fd);
		return -error;
	}
	while ((entry = readdir(dir))) {
		int n = snprintf(name, sizeof name, "%s/%s", path[1] ? path : "", entry->d_name);
		if (n > 0 && (size_t)n < sizeof name && !is_gone(name))
			fill(to, entry->d_name, NULL, 0, 0);
	}
	closedir(dir);
	return 0;
}

static int slow_open(const char *path, struct fuse_file_info *file)
{
	bool is_control = !strcmp(path, CONTROL);
	int fd = -1;

	if (((file->flags & O_ACCMODE) == O_WRONLY) != is_control)
		return -EACCES;
	if (!is_control)
		spend(path, OPEN, now_ns());
	int64_t t_ns = now_ns();
	if (!is_control) {
		if (is_gone(path))
			return -ENOENT;
		fd = openat(folder, below(path), O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return -errno;
	}
	struct handle *h = calloc(1, sizeof *h + strlen(path) + 1);
	if (!h) {
		if (fd >= 0)
			close(fd);
		return -ENOMEM;
	}
	*h = (struct handle) {.is_control = is_control,
			      .whole = !is_control && is_whole(path),
			      .fd = fd,
			      .opened_ns = t_ns};
	pthread_mutex_init(&h->lock, NULL);
	strcpy(h->path, path);
	file->fh = (uint64_t)(uintptr_t)h;
	file->direct_io = !h->whole;
	return 0;
}

static int slow_release(const char *path, struct fuse_file_info *file)
{
	struct handle *h = handle_of(file);

	(void)path;
	if (h->fd >= 0)
		close(h->fd);
	pthread_mutex_destroy(&h->lock);
	free(h);
	return 0;
}

/* Read the current text into h->text; 0 or a negative errno. */
static int make_text(struct handle *h)
{
	int64_t t_ns = now_ns();
	struct rule r;

	if (was_gone_since(h->path, h->opened_ns, t_ns))
		return -ENODEV;
	if (find_rule(h->path, FAIL, t_ns, &r))
		return -r.error;
	if (find_rule(h->path, RAMP, t_ns, &r)) {
		double at = (double)((t_ns - r.from_ns) % r.duration_ns) / (double)r.duration_ns;
		double value = r.lo + (r.hi - r.lo) * (1 - fabs(2 * at - 1));
		h->len = (size_t)snprintf(h->text, sizeof h->text, "%.0f\n", value);
		return 0;
	}
	ssize_t n = pread(h->fd, h->text, sizeof h->text, 0);
	if (n < 0)
		return -errno;
	h->len = (size_t)n;
	return 0;
}

static int slow_read(const char *path, char *to, size_t size, off_t offset, struct fuse_file_info *file)
{
	struct handle *h = handle_of(file);
	int error = 0;

	(void)path;
	if (offset == 0 || h->whole)
		spend(h->path, READ, now_ns());
	if (h->whole) {
		ssize_t n = pread(h->fd, to, size, offset);
		return n < 0 ? -errno : (int)n;
	}
	pthread_mutex_lock(&h->lock);
	if (offset == 0)
		error = make_text(h);
	size_t at = (size_t)offset < h->len ? (size_t)offset : h->len;
	if (size > h->len - at)
		size = h->len - at;
	if (!error)
		memcpy(to, h->text + at, size);
	pthread_mutex_unlock(&h->lock);
	return error ? error : (int)size;
}

static int slow_write(const char *path, const char *from, size_t size, off_t offset,
		      struct fuse_file_info *file)
{
	int64_t t_ns = now_ns();
	char text[TEXT_MAX], *rest = NULL;

	(void)path;
	(void)offset;
	if (!handle_of(file)->is_control || size >= sizeof text)
		return -EINVAL;
	memcpy(text, from, size);
	text[size] = '\0';
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		int error = add_rule(line, t_ns);
		if (error)
			return -error;
	}
	return (int)size;
}

/* Called for shell redirections. */
static int slow_truncate(const char *path, off_t size, struct fuse_file_info *file)
{
	(void)size;
	(void)file;
	return strcmp(path, CONTROL) ? -EACCES : 0;
}

/* The kernel may cache that a name exists, or a path would cost a request for each of its names: what is gone meanwhile
 * cannot be opened, read or listed all the same. It must not cache anything else. */
static void *slow_init(struct fuse_conn_info *connection, struct fuse_config *config)
{
	(void)connection;
	config->attr_timeout = config->negative_timeout = 0;
	config->entry_timeout = 0.5;
	return NULL;
}

static const struct fuse_operations operations = {
	.init = slow_init,
	.getattr = slow_getattr,
	.readlink = slow_readlink,
	.readdir = slow_readdir,
	.open = slow_open,
	.read = slow_read,
	.write = slow_write,
	.truncate = slow_truncate,
	.release = slow_release,
};

static int read_rules(const char *name)
{
	int64_t t_ns = now_ns();
	char line[1024];
	FILE *f = fopen(name, "re");
	int error = f ? 0 : errno;

	for (unsigned n = 1; f && !error && fgets(line, sizeof line, f); n++) {
		error = add_rule(line, t_ns);
		if (error)
			fprintf(stderr, "slowfs: %s:%u: %s\n", name, n, strerror(error));
	}
	if (f)
		fclose(f);
	else
		fprintf(stderr, "slowfs: %s: %s\n", name, strerror(error));
	return error ? -1 : 0;
}

/* A hanging read occupies a thread. From 3.12 on, libfuse has ten by default, and further requests would
 * wait, which would distort the test. */
static int loop(struct fuse *f)
{
#if FUSE_USE_VERSION >= 312
	struct fuse_loop_config *config = fuse_loop_cfg_create();
	int failed;

	fuse_loop_cfg_set_max_threads(config, HUNG_MAX);
	fuse_loop_cfg_set_idle_threads(config, HUNG_MAX);
	failed = fuse_loop_mt(f, config);
	fuse_loop_cfg_destroy(config);
	return failed;
#else
	return fuse_loop_mt(f, &(struct fuse_loop_config) {.max_idle_threads = HUNG_MAX});
#endif
}

static int serve(char *name, const char *at)
{
	char *words[] = {name, (char[]) {"-o"}, (char[]) {"fsname=slowfs"}, NULL};
	struct fuse_args args = FUSE_ARGS_INIT(3, words);
	struct fuse *f = fuse_new(&args, &operations, sizeof operations, NULL);
	int failed = -1;

	if (f && fuse_mount(f, at) == 0) {
		if (fuse_set_signal_handlers(fuse_get_session(f)) == 0) {
			failed = loop(f);
			fuse_remove_signal_handlers(fuse_get_session(f));
		}
		fuse_unmount(f);
	}
	if (f)
		fuse_destroy(f);
	fuse_opt_free_args(&args);
	return failed ? 1 : 0;
}

int main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "usage: slowfs FOLDER RULES MOUNTPOINT\n");
		return 2;
	}
	folder = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0) {
		fprintf(stderr, "slowfs: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	/* Inherited by threads: a wait of 320 us takes 320 us. */
	prctl(PR_SET_TIMERSLACK, 1UL);
	/* It stands for a kernel, which does not wait behind busy programs; where that is permitted. */
	setpriority(PRIO_PROCESS, 0, -20);
	if (read_rules(argv[2]) < 0)
		return 1;
	return serve(argv[0], argv[3]);
}
