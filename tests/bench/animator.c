/* A power rail whose truth is known: writes the file of a rail as a kernel would have it, and logs the power that
 * it stands for. Shares nothing with nvmtop.
 *
 *   animator [--chip US] [--seconds S] [--seed N] [--volts MV] [--plain] FILE TRUTH SHAPE ...
 *
 *   square MS DUTY LOW HIGH     power in W, HIGH for DUTY (0 .. 1) of each MS
 *   random ON OFF LOW HIGH      switches at random moments, after ON and OFF ms on average
 *   sine MS LOW HIGH            in steps of half a millisecond
 *   noise MS LOW HIGH           a new random power every MS
 *   count MS                    every MS a value that was not there for the last 5000
 *   work MS REST POWER NOISE    loads of MS with an NVTX mark "work" and rests of REST ms with "rest" in turn; a load is
 *                               POWER plus a random number of standard deviation NOISE
 *   ranges S                    the load follows NVTX ranges of this program: step 70 ms, infer 12.6 ms, copy 6 ms
 *                               in main, rests between them; every S seconds the names get the next number (step-0)
 *
 * FILE is a current in mA at MV (5000). Without --chip it has the power of the moment; with it, the mean of the last
 * whole window of so many microseconds, as drivers of averaging chips do.  TRUTH gets, at the end, lines
 *   P NS MILLIWATT     the power from then on, by CLOCK_MONOTONIC
 *   R NS NS NAME       a range
 *   L NS               the most by which a change was late
 * A change is logged when it is made, so a late one is no error. --plain: no real-time priority. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "nvtx/nvtx-load.h"

#define MS INT64_C(1000000)
#define S  INT64_C(1000000000)

struct change {
	int64_t t_ns;
	double mw;
};

struct span {
	int64_t begin_ns, end_ns;
	char name[24];
};

/* What is next: the power of now, and how long it lasts. */
struct load {
	double mw;
	int64_t for_ns;
};

static struct change *changes;
static struct span *spans;
static size_t n_changes, n_spans, changes_room, spans_room;
static double args[5], volts_mv = 5000;
static int64_t start_ns, late_ns;
static uint64_t seed = 1;
static int file = -1;
static volatile sig_atomic_t ended;

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * S + t.tv_nsec;
}

/* 0 .. 1, by xorshift64* */
static double uniform(void)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return (double)((seed * UINT64_C(2685821657736338717)) >> 11) * 0x1p-53;
}

static double normal(void)
{
	return sqrt(-2 * log(1 - uniform())) * cos(2 * M_PI * uniform());
}

static int64_t exponential(double mean_ms)
{
	return (int64_t)(-mean_ms * log(1 - uniform()) * (double)MS) + 1;
}

static int64_t ms(double v)
{
	return (int64_t)(v * (double)MS);
}

static struct load square(int64_t t_ns)
{
	static bool high;

	high = !high;
	return (struct load) {1000 * args[high ? 3 : 2], ms(args[0] * (high ? args[1] : 1 - args[1]))};
}

static struct load random_steps(int64_t t_ns)
{
	static bool high;

	high = !high;
	return (struct load) {1000 * args[high ? 3 : 2], exponential(args[high ? 0 : 1])};
}

static struct load sine(int64_t t_ns)
{
	double at = (double)(t_ns - start_ns) / (args[0] * (double)MS);

	return (struct load) {1000 * (args[1] + (args[2] - args[1]) * (0.5 + 0.5 * sin(2 * M_PI * at))),
			      MS / 2};
}

static struct load noise(int64_t t_ns)
{
	return (struct load) {1000 * (args[1] + (args[2] - args[1]) * uniform()), ms(args[0])};
}

static struct load count(int64_t t_ns)
{
	static int n;

	n = (n + 1) % 5000;
	return (struct load) {(1000 + n) * volts_mv / 1000, ms(args[0])};
}

static struct load work(int64_t t_ns)
{
	static bool high;

	high = !high;
	if (nvtx.mark_a)
		nvtx.mark_a(high ? "work" : "rest");
	return high ? (struct load) {1000 * (args[2] + args[3] * normal()), ms(args[0])}
		    : (struct load) {1000 * args[2] / 3, ms(args[1])};
}

static void range_open(int64_t t_ns, const char *name, int64_t number)
{
	if (n_spans == spans_room)
		spans = realloc(spans, (spans_room = 2 * spans_room + 64) * sizeof(*spans));
	if (!spans)
		abort();
	struct span *s = &spans[n_spans++];
	*s = (struct span) {.begin_ns = t_ns, .end_ns = -1};
	snprintf(s->name, sizeof(s->name), "%s-%lld", name, (long long)number);
	if (nvtx.push_a)
		nvtx.push_a(s->name);
}

static void range_close(int64_t t_ns)
{
	size_t i = n_spans;

	while (i > 0 && spans[i - 1].end_ns >= 0)
		i--;
	if (i == 0)
		return;
	spans[i - 1].end_ns = t_ns;
	if (nvtx.pop)
		nvtx.pop();
}

/* A turn is step, infer, copy, infer, each followed by a rest of random length. */
static struct load ranges(int64_t t_ns)
{
	static const struct {
		const char *name;
		double ms, watts;
	} turn[] = {{"step", 70, 20}, {"infer", 12.6, 25}, {"copy", 6, 12}, {"infer", 12.6, 25}};
	static unsigned at;
	static int64_t number = -1;
	unsigned i = at / 2 % 4;

	if (at++ % 2) {
		range_close(t_ns);
		return (struct load) {5000, ms(3 + 17 * uniform())};
	}
	if (i == 0 && (t_ns - start_ns) / ms(1000 * args[0]) != number) {
		if (number >= 0)
			range_close(t_ns);
		number = (t_ns - start_ns) / ms(1000 * args[0]);
		range_open(t_ns, "main", number);
	}
	range_open(t_ns, turn[i].name, number);
	return (struct load) {1000 * turn[i].watts, ms(turn[i].ms)};
}

static const struct shape {
	const char *name;
	int n;
	struct load (*next)(int64_t t_ns);
} shapes[] = {{"square", 4, square}, {"random", 4, random_steps}, {"sine", 3, sine},    {"noise", 3, noise},
	      {"count", 1, count},   {"work", 4, work},           {"ranges", 1, ranges}};

static void write_power(double mw)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%06.0f\n", mw * 1000 / volts_mv);

	if (pwrite(file, text, (size_t)n, 0) != n) {
		perror("animator");
		exit(1);
	}
}

static void note(int64_t t_ns, double mw)
{
	if (n_changes == changes_room)
		changes = realloc(changes, (changes_room = 2 * changes_room + 4096) * sizeof(*changes));
	if (!changes)
		abort();
	changes[n_changes++] = (struct change) {t_ns, mw};
}

/* The file has whole milliamperes: so has the truth, where the file has the power of the moment. */
static double set_power(double mw, bool averages, int64_t *t_ns)
{
	if (!averages) {
		int64_t before = now_ns();
		mw = round(mw * 1000 / volts_mv) * volts_mv / 1000;
		write_power(mw);
		*t_ns = (before + now_ns()) / 2;
	}
	note(*t_ns, mw);
	return mw;
}

static void sleep_until(int64_t t_ns)
{
	struct timespec at = {.tv_sec = t_ns / S, .tv_nsec = t_ns % S};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

static void animate(const struct shape *shape, int64_t window_ns, int64_t until_ns)
{
	int64_t since_ns = start_ns, change_ns = start_ns, t_ns = start_ns;
	int64_t window_end_ns = start_ns + (int64_t)((double)window_ns * (0.01 + 0.99 * uniform()));
	int64_t window_begin_ns = start_ns; /* the first one is cut */
	double mw = 0, spent = 0;

	while (t_ns < until_ns && !ended) {
		for (; window_ns && window_end_ns <= t_ns; window_end_ns += window_ns) {
			spent += mw * (double)(window_end_ns - since_ns);
			write_power(spent / (double)(window_end_ns - window_begin_ns));
			spent = 0;
			since_ns = window_begin_ns = window_end_ns;
		}
		if (change_ns <= t_ns) {
			if (t_ns - change_ns > late_ns)
				late_ns = t_ns - change_ns;
			struct load next = shape->next(t_ns);
			int64_t made_ns = t_ns;
			double before = mw;
			mw = set_power(next.mw, window_ns, &made_ns);
			spent += before * (double)(made_ns - since_ns);
			since_ns = made_ns;
			change_ns = (t_ns - change_ns > 20 * MS ? t_ns : change_ns) + next.for_ns;
		}
		int64_t next_ns = window_ns && window_end_ns < change_ns ? window_end_ns : change_ns;
		sleep_until(next_ns < until_ns ? next_ns : until_ns);
		t_ns = now_ns();
	}
	for (size_t i = n_spans; i-- > 0;)
		if (spans[i].end_ns < 0)
			range_close(now_ns());
	note(now_ns(), mw);
}

static int save(const char *path)
{
	FILE *f = fopen(path, "w");

	for (size_t i = 0; f && i < n_changes; i++)
		fprintf(f, "P %lld %.6f\n", (long long)changes[i].t_ns, changes[i].mw);
	for (size_t i = 0; f && i < n_spans; i++)
		fprintf(f, "R %lld %lld %s\n", (long long)spans[i].begin_ns, (long long)spans[i].end_ns,
			spans[i].name);
	if (f)
		fprintf(f, "L %lld\n", (long long)late_ns);
	if (!f || fclose(f)) {
		perror(path);
		return 1;
	}
	return 0;
}

static void on_signal(int number)
{
	(void)number;
	ended = 1;
}

static int usage(void)
{
	fputs("usage: animator [--chip US] [--seconds S] [--seed N] [--volts MV] [--plain] FILE TRUTH SHAPE "
	      "...\n",
	      stderr);
	return 2;
}

int main(int argc, char **argv)
{
	const struct shape *shape = NULL;
	int64_t window_ns = 0;
	double seconds = 10;
	bool plain = false;
	int i = 1;

	for (; i < argc && argv[i][0] == '-'; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";
		if (!strcmp(argv[i], "--plain")) {
			plain = true;
			continue;
		}
		if (!strcmp(argv[i], "--chip"))
			window_ns = 1000 * atoll(value);
		else if (!strcmp(argv[i], "--seconds"))
			seconds = atof(value);
		else if (!strcmp(argv[i], "--seed"))
			seed = (strtoull(value, NULL, 10) + 1) * UINT64_C(0x9E3779B97F4A7C15);
		else if (!strcmp(argv[i], "--volts"))
			volts_mv = atof(value);
		else
			return usage();
		i++;
	}
	if (argc - i < 3)
		return usage();
	for (size_t k = 0; k < sizeof(shapes) / sizeof(*shapes); k++)
		if (!strcmp(argv[i + 2], shapes[k].name) && argc - i - 3 == shapes[k].n)
			shape = &shapes[k];
	if (!shape)
		return usage();
	for (int k = 0; k < shape->n; k++)
		args[k] = atof(argv[i + 3 + k]);
	for (int k = 0; k < 8; k++)
		uniform(); /* seeds that are alike begin alike */
	file = open(argv[i], O_WRONLY | O_CLOEXEC);
	if (file < 0) {
		perror(argv[i]);
		return 1;
	}
	if (getenv("NVTX_INJECTION64_PATH"))
		nvtx_load(getenv("NVTX_INJECTION64_PATH"));
	sigaction(SIGTERM, &(struct sigaction) {.sa_handler = on_signal}, NULL);
	sigaction(SIGINT, &(struct sigaction) {.sa_handler = on_signal}, NULL);
	prctl(PR_SET_TIMERSLACK, 1UL);
	if (!plain && sched_setscheduler(0, SCHED_FIFO, &(struct sched_param) {.sched_priority = 60}))
		fputs("animator: no real-time priority: its changes may be late\n", stderr);
	mlockall(MCL_CURRENT | MCL_FUTURE);
	write_power(0);
	start_ns = now_ns();
	note(start_ns, 0);
	animate(shape, window_ns, start_ns + (int64_t)(seconds * (double)S));
	return save(argv[i + 1]);
}
