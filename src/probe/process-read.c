/* One reading of all processes below a root. The CPU load is the difference to the previous reading, for
 * a process that is still the same; GPU users come from the driver's table of mappings, from NVML, or,
 * if both are inaccessible, from open descriptors of the GPU's device. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/intl.h"
#include "util/num.h"
#include "probe/process-read.h"

#define NVMAP_CLIENTS "/sys/kernel/debug/nvmap/iovmm/clients"
#define NVMAP_DEVICE  "/dev/nvmap"
#define MOST          65536
#define USERS         64

struct before {
	int pid;
	uint64_t start, ticks;
};

struct user {
	uid_t uid;
	char name[32];
};

struct reader {
	const struct root *root;
	struct nvml *nvml;
	bool nvml_tried;
	char nvml_why[200];
	struct before *before; /* of the last reading, in order of pid */
	size_t n_before;
	int64_t before_ns;
	struct user users[USERS];
	size_t n_users;
};

struct reader *reader_open(const struct root *root)
{
	struct reader *r = calloc(1, sizeof(*r));

	if (r)
		r->root = root;
	return r;
}

void reader_close(struct reader *r)
{
	if (!r)
		return;
	if (r->nvml)
		nvml_close(r->nvml);
	free(r->before);
	free(r);
}

static void user_name(struct reader *r, uid_t uid, char out[32])
{
	struct passwd pw, *found = NULL;
	char buf[1024];
	struct user *u;

	for (size_t i = 0; i < r->n_users; i++)
		if (r->users[i].uid == uid) {
			memcpy(out, r->users[i].name, sizeof(r->users[i].name));
			return;
		}
	u = &r->users[r->n_users < USERS ? r->n_users++ : (size_t)uid % USERS];
	u->uid = uid;
	if (root_is_live(r->root) && getpwuid_r(uid, &pw, buf, sizeof(buf), &found) == 0 && found)
		text_printable(u->name, sizeof(u->name), pw.pw_name, strlen(pw.pw_name));
	else
		snprintf(u->name, sizeof(u->name), "%u", (unsigned)uid);
	memcpy(out, u->name, sizeof(u->name));
}

static const struct before *before_of(const struct reader *r, int pid, uint64_t start)
{
	size_t lo = 0, hi = r->n_before;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->before[mid].pid < pid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < r->n_before && r->before[lo].pid == pid && r->before[lo].start == start ? &r->before[lo]
											    : NULL;
}

/* False: it has ended meanwhile, or may not be read. */
static bool read_one(struct reader *r, const char *pid, struct proc *p, uint64_t *ticks)
{
	char path[64], text[1024];
	struct stat st;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	fd = root_open_file(r->root, path, O_RDONLY);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text));
	if (n <= 0 || fstat(fd, &st) < 0 || !proc_stat_parse(text, (size_t)n, p, ticks)) {
		close(fd);
		return false;
	}
	close(fd);
	user_name(r, st.st_uid, p->user);
	p->self = root_is_live(r->root) && p->pid == getpid();
	return true;
}

static bool is_number(const char *name)
{
	if (!*name)
		return false;
	for (const char *c = name; *c; c++)
		if (!isdigit((unsigned char)*c))
			return false;
	return true;
}

static int by_pid(const void *a, const void *b)
{
	const struct proc *p = a, *q = b;

	return p->pid < q->pid ? -1 : p->pid > q->pid;
}

static struct proc *find(struct procs_list *l, int pid)
{
	struct proc key = {.pid = pid};

	return l->n ? bsearch(&key, l->procs, l->n, sizeof(*l->procs), by_pid) : NULL;
}

static void take_gpu(struct procs_list *l, int pid, double kb)
{
	struct proc *p = find(l, pid);

	if (!p)
		return;
	p->gpu = true;
	if (!isnan(kb))
		p->gpu_kb = isnan(p->gpu_kb) ? kb : p->gpu_kb + kb;
}

/* A process that is not in the table has nothing mapped. */
static void others_have_none(struct procs_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (isnan(l->procs[i].gpu_kb))
			l->procs[i].gpu_kb = 0;
}

/* 0: the table was read; otherwise why not. */
static int read_nvmap(struct reader *r, struct procs_list *l)
{
	int fd = root_open_file(r->root, NVMAP_CLIENTS, O_RDONLY);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char line[512];
	double kb;
	int pid;

	if (!f) {
		int why = errno;

		if (fd >= 0)
			close(fd);
		return why;
	}
	while (fgets(line, sizeof(line), f))
		if (proc_nvmap_parse(line, strcspn(line, "\n"), &pid, &kb))
			take_gpu(l, pid, kb);
	fclose(f);
	others_have_none(l);
	return 0;
}

/* Processes with the GPU's device open: only those of this user, whose descriptors are visible. */
static void look_at_descriptors(struct reader *r, struct proc *p)
{
	char path[64], target[128];
	char **names;
	size_t n;
	int dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", p->pid);
	dir = root_open_file(r->root, path, O_RDONLY | O_DIRECTORY);
	if (dir < 0)
		return;
	if (root_list(r->root, path, &names, &n) == 0) {
		for (size_t i = 0; i < n && !p->gpu; i++) {
			ssize_t len = readlinkat(dir, names[i], target, sizeof(target) - 1);

			if (len <= 0)
				continue;
			target[len] = '\0';
			p->gpu = !strncmp(target, NVMAP_DEVICE, strlen(NVMAP_DEVICE)) ||
				 (!strncmp(target, "/dev/nv", 7) && strstr(target, "gpu"));
		}
		free(names);
	}
	close(dir);
}

static void take_from_nvml(void *to, int pid, double kb)
{
	take_gpu(to, pid, kb);
}

static bool read_nvml(struct reader *r, struct procs_list *l)
{
	bool any = false;

	/* The library is of the running machine. */
	if (!root_is_live(r->root))
		return false;
	if (!r->nvml_tried) {
		r->nvml_tried = true;
		r->nvml = nvml_open(NVML_LIBRARY, r->nvml_why, sizeof(r->nvml_why));
	}
	for (unsigned i = 0; r->nvml && i < nvml_devices(r->nvml); i++)
		any |= nvml_processes(r->nvml, i, take_from_nvml, l);
	return any;
}

static void read_gpu(struct reader *r, struct procs_list *l)
{
	int why = read_nvmap(r, l), fd;

	l->gpu_missing[0] = 0;
	if (why == 0 || read_nvml(r, l))
		return;
	fd = root_open_file(r->root, NVMAP_DEVICE, O_PATH);
	if (fd >= 0) { /* a Jetson, whose table is closed to us */
		close(fd);
		for (size_t i = 0; i < l->n; i++)
			look_at_descriptors(r, &l->procs[i]);
	}
	if (why == EACCES || why == EPERM)
		snprintf(l->gpu_missing, sizeof(l->gpu_missing),
			 _("GPU memory is not known: %s is root's; sudo nvmtop shows it"), NVMAP_CLIENTS);
	else if (r->nvml_tried && !r->nvml)
		snprintf(l->gpu_missing, sizeof(l->gpu_missing),
			 _("GPU use is not known: there is no %s, and %.80s"), NVMAP_CLIENTS, r->nvml_why);
	else if (r->nvml)
		snprintf(l->gpu_missing, sizeof(l->gpu_missing), "%s",
			 _("GPU use is not known: NVML does not list processes here"));
	else
		snprintf(l->gpu_missing, sizeof(l->gpu_missing), _("GPU use is not known: there is no %s"),
			 NVMAP_CLIENTS);
}

/* Room for one more; NULL: out of memory, or far too many. */
static struct proc *more(struct procs_list *l, size_t *room)
{
	if (l->n == *room) {
		size_t wish = *room ? 2 * *room : 256;
		struct proc *grown = wish > MOST ? NULL : realloc(l->procs, wish * sizeof(*grown));

		if (!grown)
			return NULL;
		l->procs = grown;
		*room = wish;
	}
	return &l->procs[l->n];
}

/* One process after the other, in the order in which the folder is listed: that of pid. */
static int read_all(struct reader *r, struct procs_list *l, size_t *room, double seconds)
{
	static double hz;
	struct before *now;
	char **names;
	size_t n, kept = 0;

	if (hz == 0)
		hz = (double)sysconf(_SC_CLK_TCK);
	l->n = 0;
	if (root_list(r->root, "/proc", &names, &n) < 0)
		return -1;
	now = calloc(n ? n : 1, sizeof(*now));
	for (size_t i = 0; now && i < n; i++) {
		struct proc *p = is_number(names[i]) ? more(l, room) : NULL;
		const struct before *was;
		uint64_t ticks;

		if (!p || !read_one(r, names[i], p, &ticks))
			continue;
		was = before_of(r, p->pid, p->start);
		if (was && ticks >= was->ticks && seconds > 0)
			p->cpu = (double)(ticks - was->ticks) / hz / seconds * 100;
		now[kept++] = (struct before) {p->pid, p->start, ticks};
		l->n++;
	}
	free(names);
	if (!now)
		return -1;
	free(r->before);
	r->before = now;
	r->n_before = kept;
	return 0;
}

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int reader_read(struct reader *r, struct procs_list *l, size_t *room)
{
	int64_t now_ns = clock_now_ns();
	double seconds = r->before_ns ? (double)(now_ns - r->before_ns) / NS_PER_S : 0, began = cpu_ms();

	if (read_all(r, l, room, seconds) < 0)
		return -1;
	r->before_ns = now_ns;
	read_gpu(r, l);
	l->interval_s = seconds;
	l->cost_ms = cpu_ms() - began;
	return 0;
}
