/* The baseline: the cost of reading every file at every tick with simple, efficient code.
 *
 *   reader [--open] [--fifo] [--cpu N] [--seconds N] [--out FILE] HZ HZ HZ <LIST
 *
 * LIST has lines "TIER PATH", with TIER 0, 1 or 2; "TIER !PATH" is opened and closed each
 * time, as files that cannot seek must be. One thread per tier sleeps until absolute times,
 * reads each of its files from the start into a buffer, parses every number with strtoll()
 * and appends a row to a growing array, written to FILE at the end. Prints one JSON object:
 * rows, late ticks, lateness, and its stalls.
 *
 * --open opens and closes every file each time, as a quick script would.
 *
 * --fifo without files is the control: a real-time thread that does nothing shows the
 * latency of the machine. With --cpu N it also stays on that core, above all other
 * real-time threads, and reports when it had to wait for the core: ticks late at the same
 * time had the same cause. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define TIERS     3
#define FILES_MAX 512
#define NUMBERS   64 /* most numbers per file */
#define NS_PER_S  INT64_C(1000000000)

struct file {
	char path[512];
	bool reopen;
	int fd;
};

struct tier {
	struct file files[FILES_MAX];
	size_t n_files;
	int64_t period_ns, until_ns;
	int64_t *rows; /* time, then numbers; grows */
	size_t used, room;
	int32_t *late_us; /* lateness of each tick, rounded down; grows */
	size_t n_ticks, ticks_room;
	uint64_t late; /* ticks that started more than a period late */
	int64_t *spans; /* those more than a fifth of a period late: due, begun; grows */
	size_t n_spans, spans_room;
	pthread_t thread;
};

static struct tier tiers[TIERS];
static int64_t start_ns;
static bool fifo, open_each;
static int cpu = -1; /* any */

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static void *grow(void *p, size_t used, size_t *room, size_t more, size_t each)
{
	if (used + more <= *room)
		return p;
	*room = (*room ? 2 * *room : 1024) + more;
	p = realloc(p, *room * each);
	if (!p)
		abort();
	return p;
}

static ssize_t read_whole(struct file *f, char *buf, size_t size)
{
	ssize_t n;
	int fd = f->fd;

	if (f->reopen)
		fd = open(f->path, O_RDONLY | O_CLOEXEC);
	else
		lseek(fd, 0, SEEK_SET);
	n = read(fd, buf, size - 1);
	if (f->reopen && fd >= 0)
		close(fd);
	buf[n > 0 ? n : 0] = '\0';
	return n;
}

static void take_numbers(struct tier *t, const char *text)
{
	const char *p = text;

	t->rows = grow(t->rows, t->used, &t->room, NUMBERS, sizeof *t->rows);
	for (int n = 0; n < NUMBERS && *p;) {
		char *end;

		if (*p < '0' || *p > '9') {
			p++;
			continue;
		}
		t->rows[t->used++] = strtoll(p, &end, 10);
		p = end;
		n++;
	}
}

/* Of /proc/stat, keep the lines of the cores and drop the interrupts. */
static void cut_stat(const struct file *f, char *text)
{
	size_t n = strlen(f->path);
	char *intr = n >= 10 && !strcmp(f->path + n - 10, "/proc/stat") ? strstr(text, "\nintr") : NULL;

	if (intr)
		*intr = '\0';
}

static void tick(struct tier *t, int64_t due)
{
	static _Thread_local char buf[16384];
	int64_t now = now_ns();

	t->late += now - due > t->period_ns;
	/* A stall of more than a period makes another thread's tick late by part of it. */
	if (now - due > t->period_ns / 5) {
		t->spans = grow(t->spans, t->n_spans, &t->spans_room, 2, sizeof *t->spans);
		t->spans[t->n_spans++] = due;
		t->spans[t->n_spans++] = now;
	}
	t->late_us = grow(t->late_us, t->n_ticks, &t->ticks_room, 1, sizeof *t->late_us);
	t->late_us[t->n_ticks++] = (int32_t)((now - due) / 1000);
	t->rows = grow(t->rows, t->used, &t->room, 1, sizeof *t->rows);
	t->rows[t->used++] = now;
	for (size_t i = 0; i < t->n_files; i++) {
		if (read_whole(&t->files[i], buf, sizeof buf) <= 0)
			continue;
		cut_stat(&t->files[i], buf);
		take_numbers(t, buf);
	}
}

static void *run(void *arg)
{
	struct tier *t = arg;
	struct sched_param p = {.sched_priority = cpu < 0 ? 15 : 50};

	if (cpu >= 0) {
		cpu_set_t one;

		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (sched_setaffinity(0, sizeof one, &one))
			perror("reader: sched_setaffinity");
	}
	if (fifo) {
		prctl(PR_SET_TIMERSLACK, 1UL);
		if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &p))
			fprintf(stderr, "reader: SCHED_FIFO is refused\n");
	}
	for (int64_t due = start_ns; due < t->until_ns; due += t->period_ns) {
		struct timespec at = {.tv_sec = due / NS_PER_S, .tv_nsec = due % NS_PER_S};

		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
			continue;
		tick(t, due);
	}
	return NULL;
}

static void add_file(char *line)
{
	int tier = line[0] - '0';
	char *path = line + 2;
	struct file *f;

	line[strcspn(line, "\n")] = '\0';
	if (tier < 0 || tier >= TIERS || line[1] != ' ' || tiers[tier].n_files == FILES_MAX) {
		fprintf(stderr, "reader: not a file of a tier: %s\n", line);
		exit(2);
	}
	f = &tiers[tier].files[tiers[tier].n_files];
	f->reopen = *path == '!';
	snprintf(f->path, sizeof f->path, "%s", path + f->reopen);
	f->reopen |= open_each;
	f->fd = open(f->path, O_RDONLY | O_CLOEXEC);
	if (f->fd < 0)
		return; /* a missing signal costs nothing */
	if (f->reopen)
		close(f->fd);
	tiers[tier].n_files++;
}

static int by_size(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

static void tell(int seconds)
{
	struct tier *t = &tiers[0];
	size_t n = t->n_ticks;

	struct timespec real;

	clock_gettime(CLOCK_REALTIME, &real);
	int64_t to_real = real.tv_sec * NS_PER_S + real.tv_nsec - now_ns();
	qsort(t->late_us, n, sizeof *t->late_us, by_size);
	printf("{\"seconds\": %d, \"rows\": [%zu, %zu, %zu], \"files\": [%zu, %zu, %zu], \"late\": %llu, "
	       "\"p50_us\": %d, \"p99_us\": %d, \"max_us\": %d, \"spans_real_ns\": [",
	       seconds, tiers[0].n_ticks, tiers[1].n_ticks, tiers[2].n_ticks, tiers[0].n_files,
	       tiers[1].n_files, tiers[2].n_files, (unsigned long long)t->late, n ? t->late_us[n / 2] : 0,
	       n ? t->late_us[n * 99 / 100] : 0, n ? t->late_us[n - 1] : 0);
	for (size_t i = 0; i < t->n_spans; i += 2)
		printf("%s[%lld, %lld]", i ? ", " : "", (long long)(t->spans[i] + to_real),
		       (long long)(t->spans[i + 1] + to_real));
	printf("]}\n");
}

static int save(const char *path)
{
	FILE *f = fopen(path, "wb");
	bool good = f;

	for (int i = 0; good && i < TIERS; i++)
		good = fwrite(tiers[i].rows, sizeof *tiers[i].rows, tiers[i].used, f) == tiers[i].used;
	if (f && fclose(f))
		good = false;
	if (!good)
		perror(path);
	return good ? 0 : 1;
}

int main(int argc, char **argv)
{
	const char *out = NULL;
	int seconds = 10, arg = 1;
	char line[600];

	for (; arg < argc && argv[arg][0] == '-'; arg++) {
		if (!strcmp(argv[arg], "--fifo"))
			fifo = true;
		else if (!strcmp(argv[arg], "--open"))
			open_each = true;
		else if (!strcmp(argv[arg], "--cpu") && arg + 1 < argc)
			cpu = atoi(argv[++arg]);
		else if (!strcmp(argv[arg], "--seconds") && arg + 1 < argc)
			seconds = atoi(argv[++arg]);
		else if (!strcmp(argv[arg], "--out") && arg + 1 < argc)
			out = argv[++arg];
		else
			break;
	}
	if (argc - arg != TIERS || seconds < 1) {
		fprintf(stderr,
			"usage: reader [--open] [--fifo] [--cpu N] [--seconds N] [--out FILE] HZ HZ HZ <LIST\n");
		return 2;
	}
	while (fgets(line, sizeof line, stdin))
		add_file(line);
	start_ns = now_ns() + NS_PER_S / 100;
	for (int i = 0; i < TIERS; i++) {
		double hz = atof(argv[arg + i]);

		tiers[i].period_ns = hz > 0 ? (int64_t)((double)NS_PER_S / hz) : NS_PER_S;
		tiers[i].until_ns = hz > 0 ? start_ns + seconds * NS_PER_S : start_ns;
		if (pthread_create(&tiers[i].thread, NULL, run, &tiers[i]))
			return 1;
	}
	for (int i = 0; i < TIERS; i++)
		pthread_join(tiers[i].thread, NULL);
	tell(seconds);
	return out ? save(out) : 0;
}
