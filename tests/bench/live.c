/* What live values cost, and whether the joules of windows hold their bounds.
 *
 *   make tests/bench/live && tests/bench/live [--results N] [--seconds S]
 *
 * From the top of the build tree, best as root: the animator wants real-time priority. animator.c writes the file of a
 * rail in a tree of files and logs the power that it stands for; windows of 0.1 to 5 s begin at random moments, many at a
 * time. Each is asked for at its end, when the rest after the last reading is guessed, and again later. Fails if a bound
 * of the interface is not held: 20 us for 100 values, 30 us for begin and end (medians), 90 % of the joules within theirs. */
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <nvmtop/nvmtop.h>

#define VALUES  100
#define TIMES   1000
#define MOST    4000
#define CHANGES (1 << 20)
#define CHIP    "tree/sys/class/hwmon/hwmon3/"

static const struct kind {
	const char *what, *chip_us;
	int averages;
	const char *shape[6];
} kinds[] = {
	{"square 1 s", "0", 0, {"square", "1000", "0.5", "5", "25"}},
	{"square 100 ms", "0", 0, {"square", "100", "0.2", "5", "25"}},
	{"random steps 60 ms", "0", 0, {"random", "60", "60", "5", "25"}},
	{"sine 200 ms, mean of 106 ms", "105600", 1, {"sine", "200", "5", "25"}},
};
#define KINDS (sizeof(kinds) / sizeof(*kinds))

struct span {
	int64_t from_ns, to_ns; /* planned, then as they were */
	nvmtop_window window;
	double guessed[2], joules[2]; /* and bounds */
	double guessed_s;
};

static char folder[] = "/dev/shm/nvmtop-live-XXXXXX";
static struct span spans[MOST];
static struct {
	int64_t t_ns;
	double mw;
} *changes;
static size_t n_changes;
static double call_us[TIMES];

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_value);
	return n ? v[n / 2] : NAN;
}

/* $D is the folder. */
static void sh(const char *command)
{
	if (system(command)) {
		fprintf(stderr, "live: failed: %s\n", command);
		exit(1);
	}
}

static double joules_true(int64_t from_ns, int64_t to_ns)
{
	double j = 0;

	for (size_t i = 0; i < n_changes; i++) {
		int64_t a = changes[i].t_ns, b = i + 1 < n_changes ? changes[i + 1].t_ns : INT64_MAX;

		a = a > from_ns ? a : from_ns;
		b = b < to_ns ? b : to_ns;
		j += b > a ? changes[i].mw / 1e3 * (double)(b - a) / 1e9 : 0;
	}
	return j;
}

static pid_t animate(const struct kind *k, double seconds, int seed)
{
	char program[128], file[128], truth[128], s[16], n[16];
	pid_t child = fork();

	if (child)
		return child;
	snprintf(program, sizeof(program), "%s/animator", folder);
	snprintf(file, sizeof(file), "%s/" CHIP "curr1_input", folder);
	snprintf(truth, sizeof(truth), "%s/truth", folder);
	snprintf(s, sizeof(s), "%.1f", seconds);
	snprintf(n, sizeof(n), "%d", seed);
	execl(program, "animator", "--chip", k->chip_us, "--seconds", s, "--seed", n, file, truth, k->shape[0], k->shape[1],
	      k->shape[2], k->shape[3], k->shape[4], (char *)NULL);
	_exit(127);
}

static void read_truth(void)
{
	char line[128];
	long long t;
	double mw;

	snprintf(line, sizeof(line), "%s/truth", folder);
	FILE *f = fopen(line, "r");
	for (n_changes = 0; f && n_changes < CHANGES && fgets(line, sizeof(line), f);)
		if (sscanf(line, "P %lld %lf", &t, &mw) == 2) {
			changes[n_changes].t_ns = t;
			changes[n_changes++].mw = mw;
		}
	if (!f || fclose(f)) {
		perror("truth");
		exit(1);
	}
}

static void get(struct span *s, int64_t wait_ns, double out[2])
{
	nvmtop_joules j = {.size = NVMTOP_JOULES_SIZE};
	nvmtop_error e = NVMTOP_ERROR_INIT;

	if (nvmtop_energy_result(s->window, wait_ns, &j, &e) < 0)
		fprintf(stderr, "live: %s\n", e.text);
	out[0] = j.joules;
	out[1] = j.within;
	s->guessed_s = wait_ns == 0 ? j.guessed_s : s->guessed_s;
}

static nvmtop_live open_live(void)
{
	nvmtop_options o = NVMTOP_OPTIONS_INIT;
	nvmtop_error e = NVMTOP_ERROR_INIT;
	char tree[64];

	snprintf(tree, sizeof(tree), "%s/tree", folder);
	o.sysroot = tree;
	nvmtop_live l = nvmtop_live_open(&o, &e);
	if (!l) {
		fprintf(stderr, "live: %s\n", e.text);
		exit(1);
	}
	return l;
}

/* Begins and ends n windows at their times. */
static void run(nvmtop_live l, size_t n, double seconds)
{
	int64_t start_ns = now_ns();
	size_t left = n;

	for (size_t i = 0; i < n; i++) {
		double length = 0.1 * pow(50, drand48());

		length = length < seconds - 0.2 ? length : seconds - 0.2;
		spans[i] = (struct span) {.from_ns = start_ns + (int64_t)(1e9 * drand48() * (seconds - length))};
		spans[i].to_ns = spans[i].from_ns + (int64_t)(1e9 * length);
	}
	while (left > 0) {
		for (size_t i = 0; i < n; i++) {
			struct span *s = &spans[i];
			int64_t t = now_ns();

			if (!s->window && t >= s->from_ns) {
				s->window = nvmtop_energy_begin(l, NULL);
				s->from_ns = t;
			} else if (s->window && s->to_ns && t >= s->to_ns && s->guessed[1] == 0) {
				nvmtop_energy_end(s->window);
				s->to_ns = t;
				get(s, 0, s->guessed);
				s->guessed[1] = s->guessed[1] > 0 ? s->guessed[1] : NAN;
				left--;
			}
		}
		usleep(200);
	}
}

static double one_kind(const struct kind *k, size_t n, double seconds, int seed)
{
	size_t good = 0, good_guessed = 0, guessed = 0;
	double error[MOST], bound[MOST];
	int status;

	sh("rm -f $D/" CHIP "samples $D/" CHIP "update_interval");
	if (k->averages)
		sh("echo 7 >$D/" CHIP "update_interval; echo 16 >$D/" CHIP "samples");
	pid_t child = animate(k, seconds + 60, seed);
	usleep(300000);
	nvmtop_live l = open_live();
	usleep(700000);
	run(l, n, seconds);
	usleep(700000);
	for (size_t i = 0; i < n; i++)
		get(&spans[i], -1, spans[i].joules);
	nvmtop_live_close(l, NULL);
	kill(child, SIGTERM);
	waitpid(child, &status, 0);
	read_truth();
	for (size_t i = 0; i < n; i++) {
		const struct span *s = &spans[i];
		double j = joules_true(s->from_ns, s->to_ns);

		good += fabs(s->joules[0] - j) <= s->joules[1];
		guessed += s->guessed_s > 0;
		good_guessed += fabs(s->guessed[0] - j) <= s->guessed[1];
		error[i] = 100 * fabs(s->joules[0] / j - 1);
		bound[i] = 100 * s->joules[1] / j;
	}
	printf("%-28s %4zu windows: %5.1f %% within their bound, median error %.2f %%, median bound %.2f %%; at once (%zu guessed) "
	       "%5.1f %%\n",
	       k->what, n, 100.0 * (double)good / (double)n, median(error, n), median(bound, n), guessed,
	       100.0 * (double)good_guessed / (double)n);
	return (double)(good < good_guessed ? good : good_guessed) / (double)n;
}

static int costs(void)
{
	nvmtop_live l = open_live();
	uint64_t n = nvmtop_live_signals(l);
	int64_t ids[VALUES], at[VALUES];
	double v[VALUES], read_us, window_us;

	for (int i = 0; i < VALUES; i++)
		ids[i] = (int64_t)((uint64_t)i % n);
	for (int i = 0; i < TIMES; i++) {
		int64_t t = now_ns();

		nvmtop_live_read(l, ids, VALUES, v, at);
		call_us[i] = (double)(now_ns() - t) / 1e3;
		usleep(500);
	}
	read_us = median(call_us, TIMES);
	for (int i = 0; i < TIMES; i++) {
		int64_t t = now_ns();
		nvmtop_window w = nvmtop_energy_begin(l, NULL);

		nvmtop_energy_end(w);
		call_us[i] = (double)(now_ns() - t) / 1e3;
		nvmtop_energy_forget(w);
		usleep(500);
	}
	window_us = median(call_us, TIMES);
	nvmtop_live_close(l, NULL);
	printf("reading %d values: %.2f us (median of %d)\nbegin and end of a window: %.2f us (median of %d)\n", VALUES, read_us,
	       TIMES, window_us, TIMES);
	return read_us <= 20 && window_us <= 30 ? 0 : 1;
}

int main(int argc, char **argv)
{
	double seconds = 15, worst = 1;
	size_t results = 400;
	int status;

	for (int i = 1; i + 1 < argc; i += 2) {
		results = strcmp(argv[i], "--results") == 0 ? (size_t)atol(argv[i + 1]) : results;
		seconds = strcmp(argv[i], "--seconds") == 0 ? atof(argv[i + 1]) : seconds;
	}
	changes = calloc(CHANGES, sizeof(*changes));
	if (!mkdtemp(folder) || !changes || results > MOST || results < KINDS || seconds < 1)
		return 2;
	setenv("D", folder, 1);
	setenv("NVMTOP_BOARDS", "boards", 0);
	sh("${CC:-cc} -O2 -std=gnu11 -I tests -o $D/animator tests/bench/animator.c -ldl -lm");
	sh("python3 tests/tools/board.py unpack $D tests/boards/orin_nano-36-super.txt && mv $D/orin_nano-36-super $D/tree");
	sh("echo 5000 >$D/" CHIP "in1_input; echo 001000 >$D/" CHIP "curr1_input");
	srand48(getpid());
	status = costs();
	for (size_t k = 0; k < KINDS; k++) {
		double part = one_kind(&kinds[k], results / KINDS, seconds, (int)k + 1);

		worst = part < worst ? part : worst;
	}
	sh("rm -rf $D");
	if (status || worst < 0.9)
		printf("a bound is not held\n");
	return status || worst < 0.9;
}
