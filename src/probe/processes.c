/* Lists the processes of this machine.
 *
 * The CPU load is the difference from the previous reading, for a process that is still the same; GPU users
 * come from the driver's table of mappings, from NVML, or, if both are inaccessible, from open descriptors of
 * the GPU's device. Reading a thousand files takes milliseconds, and the name of a user may come from a
 * network: a job does it, only while a view shows them.
 *
 * The user and the command line rarely change, and reading the latter takes a lock of the process: they are
 * kept from one reading to the next, and each reading reads a part of them again.
 *
 * A process may choose any name, with blanks, brackets, line feeds and escapes: the fields after it are
 * counted from the last bracket. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/intl.h"
#include "util/job.h"
#include "util/num.h"
#include "probe/nvml.h"
#include "probe/processes.h"

#define NVMAP_CLIENTS "/sys/kernel/debug/nvmap/iovmm/clients"
#define NVMAP_DEVICE  "/dev/nvmap"
#define PACE_NS       (3 * NS_PER_S / 2)
#define MOST          65536
#define USERS         64
#define TURNS         64 /* user and command line are read again at every 64th reading */

struct procs {
	struct job job;
	bool running;
	struct root *root;
	int self; /* the pid of nvmtop; 0: it is not among these processes */
	struct procs_list shown; /* the last reading; not changed while the job runs */
	int64_t due_ns;

	/* What follows is used by the job only, while it runs. */
	struct procs_list next;
	int rc;
	int64_t read_ns, shown_ns; /* when they were read; 0: never */
	struct nvml *nvml;
	bool nvml_tried;
	char nvml_why[200];
	struct {
		uid_t uid;
		char name[32];
	} users[USERS];
	size_t n_users;
};

#define PF_KTHREAD 0x00200000

bool proc_stat_parse(const char *text, size_t len, struct proc *out)
{
	const char *open = memchr(text, '(', len), *close = memrchr(text, ')', len);
	long long utime, stime, start, rss, flags;
	char state, name[64], rest[512];
	int parent, priority;
	int64_t pid;
	long threads;

	if (!open || !close || close < open || !num_i64(text, open, &pid) || pid <= 0 || pid > INT32_MAX)
		return false;
	snprintf(rest, sizeof rest, "%.*s", (int)(text + len - close - 1), close + 1);
	/* Some of those that are left out are larger than a long long. */
	if (sscanf(rest,
		   " %c %d %*s %*s %*s %*s %lld %*s %*s %*s %*s %lld %lld %*s %*s %d %*s %ld %*s %lld %*s %lld",
		   &state, &parent, &flags, &utime, &stime, &priority, &threads, &start, &rss) != 9)
		return false;
	if (parent < 0 || utime < 0 || stime < 0 || start < 0 || rss < 0)
		return false;
	*out = (struct proc) {.pid = (int)pid,
			      .parent = parent,
			      .start = (uint64_t)start,
			      .state = state < '!' || state > '~' ? '?' : state,
			      .cpu = NAN,
			      .gpu_kb = NAN,
			      .rss_kb = (double)rss * ((double)sysconf(_SC_PAGESIZE) / 1024),
			      .kernel = flags & PF_KTHREAD,
			      .age_s = NAN,
			      .ticks = (uint64_t)utime + (uint64_t)stime,
			      .priority = priority,
			      .threads = threads};
	text_printable(name, sizeof(name), open + 1, (size_t)(close - open - 1));
	snprintf(out->name, sizeof(out->name), out->kernel ? "[%.61s]" : "%s", name);
	return true;
}

void proc_command_parse(char *text, size_t len, char out[PROC_COMMAND])
{
	while (len && (text[len - 1] == '\0' || text[len - 1] == ' '))
		len--;
	for (size_t i = 0; i < len; i++)
		if (text[i] == '\0')
			text[i] = ' ';
	text_shortened(out, PROC_COMMAND, text, len);
}

/* CLIENT PROCESS PID SIZE, where PROCESS may contain blanks and SIZE ends in K. */
bool proc_nvmap_parse(const char *line, size_t len, int *pid, double *kb, char type[10])
{
	char text[512], unit;
	long long p, v;
	int n;

	snprintf(text, sizeof(text), "%.*s", (int)len, line);
	for (const char *at = text; (at = strpbrk(at, " \t")); at++) {
		n = -1;
		if (sscanf(at, "%lld %lld%c %n", &p, &v, &unit, &n) != 3 || n < 0 || at[n] || unit != 'K' || p <= 0 ||
		    p > INT32_MAX || v < 0)
			continue;
		*pid = (int)p;
		*kb = (double)v;
		text_printable(type, 10, text, strcspn(text, " \t"));
		return true;
	}
	return false;
}

static void user_name(struct procs *r, uid_t uid, char out[32])
{
	struct passwd pw, *found = NULL;
	char buf[1024];
	size_t i = 0;

	while (i < r->n_users && r->users[i].uid != uid)
		i++;
	if (i == r->n_users) {
		i = r->n_users < USERS ? r->n_users++ : (size_t)uid % USERS;
		r->users[i].uid = uid;
		if (root_is_live(r->root) && getpwuid_r(uid, &pw, buf, sizeof(buf), &found) == 0 && found)
			text_printable(r->users[i].name, 32, pw.pw_name, strlen(pw.pw_name));
		else
			snprintf(r->users[i].name, 32, "%u", (unsigned)uid);
	}
	memcpy(out, r->users[i].name, 32);
}

static int by_pid(const void *a, const void *b)
{
	const struct proc *p = a, *q = b;

	return p->pid < q->pid ? -1 : p->pid > q->pid;
}

static struct proc *find(const struct procs_list *l, int pid)
{
	struct proc key = {.pid = pid};

	return l->n ? bsearch(&key, l->procs, l->n, sizeof(*l->procs), by_pid) : NULL;
}

/* Are the user and the command line those of the previous reading? The program is the same, and they were not
 * kept long. */
static bool is_kept(const struct procs *r, const struct proc *p, const struct proc *was)
{
	return was && !strcmp(p->name, was->name) && ((uint64_t)p->pid + r->shown.serial) % TURNS;
}

static void read_command(struct procs *r, struct proc *p)
{
	char path[64], text[PROC_COMMAND + 2];

	snprintf(path, sizeof(path), "/proc/%d/cmdline", p->pid);
	ssize_t n = p->kernel ? 0 : root_read(r->root, path, text, sizeof(text));
	if (n > 0)
		proc_command_parse(text, (size_t)n, p->command);
}

/* Returns false if the process has ended or cannot be read. */
static bool read_one(struct procs *r, const char *pid, struct proc *p, double seconds, double uptime_s)
{
	char path[64], text[1024];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	int fd = root_open_file(r->root, path, O_RDONLY);
	if (fd < 0)
		return false;
	ssize_t n = read(fd, text, sizeof(text));
	bool good = n > 0 && proc_stat_parse(text, (size_t)n, p);
	const struct proc *was = good ? find(&r->shown, p->pid) : NULL;
	if (was && was->start != p->start)
		was = NULL;
	if (is_kept(r, p, was)) {
		memcpy(p->user, was->user, sizeof(p->user));
		strcpy(p->command, was->command);
	} else if (good && fstat(fd, &st) == 0) {
		user_name(r, st.st_uid, p->user);
		read_command(r, p);
	} else {
		good = false;
	}
	close(fd);
	if (!good)
		return false;
	p->self = p->pid == r->self;
	p->age_s = fmax(uptime_s - (double)p->start / (double)sysconf(_SC_CLK_TCK), 0); /* the uptime is older */
	if (was && p->ticks >= was->ticks && seconds > 0)
		p->cpu = (double)(p->ticks - was->ticks) / (double)sysconf(_SC_CLK_TCK) / seconds * 100;
	return true;
}

static void take_gpu(struct procs_list *l, int pid, double kb, const char *type)
{
	struct proc *p = find(l, pid);

	if (!p)
		return;
	p->gpu = true;
	if (!p->type[0]) /* compute comes first */
		snprintf(p->type, sizeof(p->type), "%s", type);
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

/* Returns 0 if the table was read, else an errno. */
static int read_nvmap(struct procs *r, struct procs_list *l)
{
	int fd = root_open_file(r->root, NVMAP_CLIENTS, O_RDONLY);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char line[512], type[10];
	double kb;
	int pid;

	if (!f) {
		int why = errno;

		if (fd >= 0)
			close(fd);
		return why;
	}
	while (fgets(line, sizeof(line), f))
		if (proc_nvmap_parse(line, strcspn(line, "\n"), &pid, &kb, type))
			take_gpu(l, pid, kb, type);
	fclose(f);
	others_have_none(l);
	return 0;
}

/* Sets p->gpu if the process has the GPU's device open; works only for processes of this user, whose
 * descriptors are visible. */
static void look_at_descriptors(struct procs *r, struct proc *p)
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

static void take_from_nvml(void *to, int pid, double kb, bool graphics)
{
	take_gpu(to, pid, kb, graphics ? "graphics" : "compute");
}

static bool read_nvml(struct procs *r, struct procs_list *l)
{
	bool any = false;

	/* NVML knows the running machine only. */
	if (!root_is_live(r->root))
		return false;
	if (!r->nvml_tried) {
		r->nvml_tried = true;
		r->nvml = nvml_open(NVML_LIBRARY, NULL, r->nvml_why, sizeof(r->nvml_why));
	}
	for (unsigned i = 0; r->nvml && i < nvml_devices(r->nvml); i++)
		any |= nvml_processes(r->nvml, i, take_from_nvml, l);
	return any;
}

static void read_gpu(struct procs *r, struct procs_list *l)
{
	int why = read_nvmap(r, l), fd;

	l->gpu_missing[0] = 0;
	if (why == 0 || read_nvml(r, l))
		return;
	fd = root_open_file(r->root, NVMAP_DEVICE, O_PATH);
	if (fd >= 0) { /* a Jetson whose table cannot be read */
		close(fd);
		for (size_t i = 0; i < l->n; i++)
			if (!l->procs[i].kernel)
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

/* Reads all processes in the order of the directory's list, which is that of their pids. */
static int read_all(struct procs *r, struct procs_list *l, double seconds)
{
	long long now;
	double uptime_s = root_read_i64(r->root, "/proc/uptime", &now) == 0 && now >= 0 ? (double)now : (double)NAN;
	char **names;
	size_t n;

	l->n = 0;
	if (root_list(r->root, "/proc", &names, &n) < 0)
		return -1;
	n = n < MOST ? n : MOST;
	l->procs = malloc((n + 1) * sizeof(*l->procs));
	for (size_t i = 0; i < n && l->procs; i++)
		if (!names[i][strspn(names[i], "0123456789")])
			l->n += read_one(r, names[i], &l->procs[l->n], seconds, uptime_s);
	free(names);
	return l->procs ? 0 : -1;
}

static void run(struct job *j)
{
	struct procs *r = (struct procs *)j;

	r->read_ns = clock_now_ns();
	r->rc = read_all(r, &r->next, r->shown_ns ? (double)(r->read_ns - r->shown_ns) / NS_PER_S : 0);
	if (r->rc == 0)
		read_gpu(r, &r->next);
}

struct procs *procs_open(struct root *root, struct err *e)
{
	struct procs *p = calloc(1, sizeof(*p));

	if (!p)
		err_set(e, ERR_FAILED, "%s", _("out of memory"));
	else
		*p = (struct procs) {.root = root_hold(root), .self = root_is_live(root) ? getpid() : 0};
	return p;
}

static void drop(struct job *j)
{
	struct procs *p = (struct procs *)j;

	if (p->nvml)
		nvml_close(p->nvml);
	root_close(p->root);
	free(p->shown.procs);
	free(p->next.procs);
	free(p);
}

/* Makes the job's reading the one that is shown. */
static void publish(struct procs *p)
{
	if (p->rc < 0)
		return;
	free(p->shown.procs);
	p->next.serial = p->shown.serial + 1;
	p->shown = p->next;
	p->shown_ns = p->read_ns;
	p->next.procs = NULL;
}

const struct procs_list *procs_poll(struct procs *p)
{
	int64_t now = clock_now_ns();
	struct err e;

	if (p->running && job_done(&p->job, 0)) {
		p->running = false;
		publish(p);
		/* The first reading has no CPU load yet. */
		p->due_ns = now + (p->shown.serial == 1 ? PACE_NS / 5 : PACE_NS);
	}
	if (!p->running && now >= p->due_ns) {
		p->running = job_start(&p->job, run, drop, &e) == 0;
		p->due_ns = now + PACE_NS;
	}
	return &p->shown;
}

const struct procs_list *procs_read(struct procs *p)
{
	run(&p->job);
	publish(p);
	return p->rc < 0 ? NULL : &p->shown;
}

void procs_close(struct procs *p)
{
	if (p && p->running)
		job_cancel(&p->job);
	else if (p)
		drop(&p->job);
}

/* Returns true if it is still the process that was meant. */
static bool is_same(int pid, uint64_t start)
{
	char path[64], text[1024];
	struct proc now;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t n = read(fd, text, sizeof(text));
	close(fd);
	return n > 0 && proc_stat_parse(text, (size_t)n, &now) && now.start == start;
}

/* Uses a pidfd where the kernel has those (5.3), so that the process that was checked is the one that gets
 * the signal. */
int procs_signal(int pid, uint64_t start, int sig, struct err *e)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0), why = ESRCH;
	bool same = is_same(pid, start);

	if (same)
		why = (fd >= 0 ? syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0) : kill(pid, sig)) < 0 ? errno : 0;
	if (fd >= 0)
		close(fd);
	if (!same)
		return err_set(e, ERR_FAILED, _("process %d has ended already"), pid);
	return why ? err_sys(e, ERR_FAILED, why, _("cannot send signal %d to process %d"), sig, pid) : 0;
}
