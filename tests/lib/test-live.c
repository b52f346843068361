/* Live values and energy windows as another program has them: only the installed header. The truth is a tree of files
 * whose power this program sets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <nvmtop/nvmtop.h>

#include "fork.h"

#define CHIP "/tree/sys/class/hwmon/hwmon3/"

static char folder[] = "/tmp/nvmtop-live-XXXXXX";
static char path[128], tree[128];

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void put(const char *file, const char *text)
{
	char name[256];

	snprintf(name, sizeof(name), "%s" CHIP "%s", folder, file);
	FILE *f = fopen(name, "r+");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* Rails of 5 V: the module draws `ma`. */
static void draw(int ma)
{
	char text[16];

	snprintf(text, sizeof(text), "%05d\n", ma);
	put("curr1_input", text);
}

static nvmtop_live open_tree(void)
{
	nvmtop_options o = NVMTOP_OPTIONS_INIT;
	nvmtop_error e = NVMTOP_ERROR_INIT;

	o.sysroot = tree;
	nvmtop_live l = nvmtop_live_open(&o, &e);
	if (!l)
		print_message("%s\n", e.text);
	assert_true(l > 0);
	assert_string_equal(e.text, "");
	return l;
}

static nvmtop_live open_demo(void)
{
	nvmtop_options o = NVMTOP_OPTIONS_INIT;

	o.board = "demo";
	nvmtop_live l = nvmtop_live_open(&o, NULL);
	assert_true(l > 0);
	return l;
}

static void close_live(nvmtop_live l)
{
	nvmtop_error e = NVMTOP_ERROR_INIT;

	assert_int_equal(nvmtop_live_close(l, &e), 0);
	assert_int_equal(e.code, NVMTOP_OK);
}

/* Threads of this process with that name. */
static int threads(const char *name)
{
	DIR *d = opendir("/proc/self/task");
	int n = 0;

	for (struct dirent *e; d && (e = readdir(d));) {
		char file[300], comm[32] = "";
		snprintf(file, sizeof(file), "/proc/self/task/%s/comm", e->d_name);
		FILE *f = fopen(file, "r");
		if (f && fgets(comm, sizeof(comm), f))
			n += !strncmp(comm, name, strlen(name));
		if (f)
			fclose(f);
	}
	if (d)
		closedir(d);
	return n;
}

/* Engines of this process; a thread that was joined may be seen for a moment. */
static void assert_engines(int wanted)
{
	for (int i = 0; i < 5000 && threads("nvmtop-engine") != wanted; i++)
		usleep(1000);
	assert_int_equal(threads("nvmtop-engine"), wanted);
}

/* The value once it is what is wanted; a loaded machine is waited for. */
static double await(nvmtop_live l, int64_t id, double wanted)
{
	double v = NAN;

	for (int i = 0; i < 5000; i++) {
		int64_t t;

		assert_int_equal(nvmtop_live_read(l, &id, 1, &v, &t), 0);
		if (isnan(wanted) ? isnan(v) : fabs(v - wanted) < 0.5)
			break;
		usleep(2000);
	}
	return v;
}

static void test_values(void **state)
{
	nvmtop_signal s = {.size = NVMTOP_SIGNAL_SIZE};
	int64_t id, at, before;
	double v;

	(void)state;
	draw(2000);
	nvmtop_live l = open_tree();
	id = nvmtop_live_find(l, "VDD_IN.power");
	assert_true(id >= 0 && (uint64_t)id < nvmtop_live_signals(l));
	assert_int_equal(nvmtop_live_describe(l, id, &s), 0);
	assert_string_equal(s.name, "VDD_IN.power");
	assert_string_equal(s.unit, "mW");
	assert_string_equal(s.missing, "");
	assert_int_equal(s.tier, NVMTOP_MEDIUM);
	assert_true(s.period_s == 0.01);
	assert_false(isnan(s.window_s));
	assert_true(fabs(await(l, id, 10000) - 10000) < 0.5);
	before = now_ns();
	draw(3000);
	assert_true(fabs(await(l, id, 15000) - 15000) < 0.5);
	assert_int_equal(nvmtop_live_read(l, &id, 1, &v, &at), 0);
	assert_true(at > before && at <= now_ns());
	/* A driver that says something else: missing, with the reason, and there again. */
	put("curr1_input", "broken\n");
	assert_true(isnan(await(l, id, NAN)));
	assert_int_equal(nvmtop_live_describe(l, id, &s), 0);
	assert_true(s.missing[0]);
	int64_t current = nvmtop_live_find(l, "VDD_IN.current");
	/* the file may have been read while it was empty */
	s.missing[0] = '\0';
	for (int i = 0; i < 1000 && !strstr(s.missing, "broken"); i++, usleep(10000))
		assert_int_equal(nvmtop_live_describe(l, current, &s), 0);
	assert_non_null(strstr(s.missing, "curr1_input"));
	assert_non_null(strstr(s.missing, "broken"));
	draw(2000);
	assert_true(fabs(await(l, id, 10000) - 10000) < 0.5);
	/* One that never has a value says why. */
	int64_t never = nvmtop_live_find(l, "memory.pressure");
	assert_int_equal(nvmtop_live_describe(l, never, &s), 0);
	assert_true(s.missing[0]);
	assert_true(isnan(await(l, never, NAN)));
	close_live(l);
}

/* Demo values are computed: so none is missing but for the load of the machine. */
static void test_all(void **state)
{
	nvmtop_live l = open_demo();
	uint64_t n = nvmtop_live_signals(l);
	int64_t ids[256], at[256];
	double v[256];
	int there = 0;

	(void)state;
	assert_true(n > 40 && n < 256);
	for (uint64_t i = 0; i < n; i++) {
		nvmtop_signal s = {.size = NVMTOP_SIGNAL_SIZE};
		ids[i] = (int64_t)i;
		assert_int_equal(nvmtop_live_describe(l, ids[i], &s), 0);
		assert_int_equal(nvmtop_live_find(l, s.name), ids[i]);
		assert_true(s.period_s > 0);
	}
	for (int round = 0; round < 500 && there < 30; round++) {
		assert_int_equal(nvmtop_live_read(l, ids, n, v, at), 0);
		there = 0;
		for (uint64_t i = 0; i < n; i++)
			there += !isnan(v[i]) && at[i] > 0 && at[i] <= now_ns();
		usleep(2000);
	}
	assert_true(there >= 30);
	assert_int_equal(nvmtop_live_read(l, ids, n, v, NULL), 0);
	close_live(l);
}

/* What a program gets wrong is an error, and no crash. */
static void test_wrong(void **state)
{
	const nvmtop_live wrong[] = {0, -1, 1, 63, INT64_MAX, INT64_MIN};
	nvmtop_joules j = {.size = NVMTOP_JOULES_SIZE}, short_one = {.size = 8};
	nvmtop_signal s = {.size = NVMTOP_SIGNAL_SIZE}, unknown = {.size = 5};
	nvmtop_error e = NVMTOP_ERROR_INIT;
	nvmtop_options o = NVMTOP_OPTIONS_INIT;
	int64_t ids[3] = {0, -1, 0}, at[3];
	double v[3];

	(void)state;
	nvmtop_live l = open_demo();
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_int_equal(nvmtop_live_read(wrong[i], ids, 1, v, at), -1);
		assert_int_equal(nvmtop_live_signals(wrong[i]), 0);
		assert_int_equal(nvmtop_live_describe(wrong[i], 0, &s), -1);
		assert_int_equal(nvmtop_live_find(wrong[i], "gpu.util"), -1);
		assert_int_equal(nvmtop_live_on_rows(wrong[i], NVMTOP_FAST, NULL, NULL, &e), -1);
		assert_int_equal(e.code, NVMTOP_USAGE);
		assert_int_equal(nvmtop_energy_begin(wrong[i], &e), 0);
		assert_int_equal(e.code, NVMTOP_USAGE);
		assert_int_equal(nvmtop_energy_end(wrong[i]), -1);
		assert_int_equal(nvmtop_energy_forget(wrong[i]), -1);
		assert_int_equal(nvmtop_energy_result(wrong[i], -1, &j, &e), -1);
		assert_int_equal(e.code, NVMTOP_USAGE);
		assert_true(e.text[0]);
		assert_int_equal(nvmtop_live_close(wrong[i], &e), -1);
	}
	/* A wrong id does not spoil the others. */
	assert_int_equal(nvmtop_live_read(l, ids, 3, v, at), -1);
	assert_true(isnan(v[1]) && at[1] == 0);
	ids[1] = (int64_t)nvmtop_live_signals(l);
	assert_int_equal(nvmtop_live_read(l, ids, 3, v, at), -1);
	ids[1] = INT64_MAX;
	assert_int_equal(nvmtop_live_read(l, ids, 3, v, at), -1);
	assert_true(v[0] == v[2] || (isnan(v[0]) && isnan(v[2])) || at[2] > at[0]);
	assert_int_equal(nvmtop_live_read(l, NULL, 3, v, at), -1);
	assert_int_equal(nvmtop_live_read(l, ids, 3, NULL, at), -1);
	assert_int_equal(nvmtop_live_read(l, NULL, 0, NULL, NULL), 0);
	assert_int_equal(nvmtop_live_describe(l, -1, &s), -1);
	assert_int_equal(nvmtop_live_describe(l, INT64_MAX, &s), -1);
	assert_int_equal(nvmtop_live_describe(l, 0, NULL), -1);
	assert_int_equal(nvmtop_live_describe(l, 0, &unknown), -1);
	assert_int_equal(nvmtop_live_find(l, NULL), -1);
	assert_int_equal(nvmtop_live_find(l, "no.such"), -1);
	assert_int_equal(nvmtop_live_on_rows(l, 3, NULL, NULL, &e), -1);
	assert_int_equal(nvmtop_live_on_rows(l, -1, NULL, NULL, NULL), -1);

	nvmtop_window w = nvmtop_energy_begin(l, &e);
	assert_true(w > 0);
	assert_int_equal(nvmtop_energy_result(w, 0, NULL, &e), -1);
	assert_int_equal(nvmtop_energy_result(w, 0, &short_one, &e), -1);
	assert_int_equal(nvmtop_energy_result(w, -1, &j, &e), 0); /* it has not ended: up to now, without a wait */
	/* A handle is no window, and a window is no handle. */
	assert_int_equal(nvmtop_energy_end(l), -1);
	assert_int_equal(nvmtop_energy_result(l, 0, &j, &e), -1);
	assert_int_equal(nvmtop_live_read(w, ids, 1, v, at), -1);
	assert_int_equal(nvmtop_live_close(w, &e), -1);
	assert_int_equal(nvmtop_energy_end(w), 0);
	assert_int_equal(nvmtop_energy_end(w), -1);
	assert_int_equal(nvmtop_energy_result(w, -1, &j, &e), 0);
	assert_int_equal(nvmtop_energy_result(w, INT64_MAX, &j, &e), 0);
	assert_int_equal(nvmtop_energy_result(w, INT64_MIN, &j, &e), 0);
	nvmtop_joules sum = j, none = j, many = j;
	none.seconds = 0;
	many.n = NVMTOP_POWERS + 1;
	assert_int_equal(nvmtop_energy_subtract(&sum, &none), -1);
	assert_int_equal(nvmtop_energy_subtract(&sum, &many), -1);
	assert_int_equal(nvmtop_energy_subtract(&many, &sum), -1);
	assert_memory_equal(&sum, &j, sizeof(j));
	assert_int_equal(nvmtop_energy_forget(w), 0);
	assert_int_equal(nvmtop_energy_forget(w), -1);
	assert_int_equal(nvmtop_energy_result(w, -1, &j, &e), -1);
	assert_int_equal(nvmtop_energy_subtract(&j, NULL), -1);
	assert_int_equal(nvmtop_energy_subtract(NULL, &j), -1);
	assert_int_equal(nvmtop_energy_subtract(&j, &short_one), -1);

	/* Closed: it and its windows are unknown, also when another one has its place. */
	w = nvmtop_energy_begin(l, &e);
	close_live(l);
	nvmtop_live other = open_demo();
	assert_int_not_equal(other, l);
	assert_int_equal(nvmtop_live_read(l, ids, 1, v, at), -1);
	assert_int_equal(nvmtop_live_signals(l), 0);
	assert_int_equal(nvmtop_live_describe(l, 0, &s), -1);
	assert_int_equal(nvmtop_live_find(l, "gpu.util"), -1);
	assert_int_equal(nvmtop_live_on_rows(l, NVMTOP_FAST, NULL, NULL, NULL), -1);
	assert_int_equal(nvmtop_energy_begin(l, NULL), 0);
	assert_int_equal(nvmtop_energy_end(w), -1);
	assert_int_equal(nvmtop_energy_result(w, -1, &j, &e), -1);
	assert_int_equal(nvmtop_energy_forget(w), -1);
	assert_int_equal(nvmtop_live_close(l, &e), -1);
	assert_int_equal(e.code, NVMTOP_USAGE);
	/* An error struct of a size that the library does not know is left alone. */
	e = (nvmtop_error) {.size = 4, .code = 77};
	assert_int_equal(nvmtop_live_close(l, &e), -1);
	assert_int_equal(e.code, 77);
	e = (nvmtop_error)NVMTOP_ERROR_INIT;
	close_live(other);

	o.board = "no_such_board";
	assert_int_equal(nvmtop_live_open(&o, &e), 0);
	assert_true(e.text[0]);
	o.board = "demo";
	o.fast_hz = 1e9;
	assert_int_equal(nvmtop_live_open(&o, &e), 0);
	assert_int_equal(e.code, NVMTOP_USAGE);
	o.size = 3;
	assert_int_equal(nvmtop_live_open(&o, NULL), 0);
}

/* As many handles and windows as there can be, and one more. */
static void test_many(void **state)
{
	static nvmtop_window w[4097];
	nvmtop_error e = NVMTOP_ERROR_INIT;
	nvmtop_live l[65];
	int n = 0, k = 0;

	(void)state;
	while (n < 65 && (l[n] = n ? nvmtop_live_open(NULL, &e) : open_demo()))
		n++;
	assert_int_equal(n, 64);
	assert_int_equal(e.code, NVMTOP_USAGE);
	assert_engines(1);
	while (k < 4097 && (w[k] = nvmtop_energy_begin(l[k % 64], &e)))
		k++;
	assert_int_equal(k, 4096);
	assert_int_equal(e.code, NVMTOP_USAGE);
	for (int i = 0; i < k; i += 2)
		assert_int_equal(nvmtop_energy_forget(w[i]), 0);
	assert_true(nvmtop_energy_begin(l[0], &e) > 0);
	for (int i = 0; i < n; i++)
		close_live(l[i]);
	assert_engines(0);
}

static nvmtop_joules result(nvmtop_window w, int64_t wait_ns)
{
	nvmtop_joules j = {.size = NVMTOP_JOULES_SIZE};
	nvmtop_error e = NVMTOP_ERROR_INIT;

	assert_int_equal(nvmtop_energy_result(w, wait_ns, &j, &e), 0);
	assert_string_equal(e.text, "");
	return j;
}

static const nvmtop_rail *rail(const nvmtop_joules *j, int64_t signal)
{
	for (uint64_t i = 0; i < j->n; i++)
		if (j->rail[i].signal == signal)
			return &j->rail[i];
	fail();
	return NULL;
}

/* Power that does not change: joules are its product with the time, which this program measures, too. */
static void test_windows(void **state)
{
	double watts[3] = {10, 30, 10}, true_joules = 0;
	int64_t t[4];

	(void)state;
	draw(2000);
	nvmtop_live l = open_tree();
	int64_t id = nvmtop_live_find(l, "VDD_IN.power");
	await(l, id, 10000);
	usleep(300000); /* the step to it is not in any window */
	nvmtop_window idle = nvmtop_energy_begin(l, NULL);
	usleep(200000);
	assert_int_equal(nvmtop_energy_end(idle), 0);
	nvmtop_joules base = result(idle, -1);
	assert_true(fabs(base.joules - 10 * base.seconds) < 1e-6 && base.within > 0);
	assert_true(base.guessed_s == 0 && fabs(base.known_s - base.seconds) < 1e-6);
	assert_true(base.readings > 0);
	assert_true(base.total >= 0 && rail(&base, base.total)->joules == base.joules);
	assert_true(base.n >= 4);

	/* An outer window with two others in it, one of which goes on after it. */
	nvmtop_window outer = nvmtop_energy_begin(l, NULL), inner = 0, late = 0;
	t[0] = now_ns();
	for (int i = 0; i < 3; i++) {
		draw((int)(watts[i] * 200));
		if (i == 1)
			inner = nvmtop_energy_begin(l, NULL);
		if (i == 2)
			late = nvmtop_energy_begin(l, NULL);
		usleep(250000);
		if (i == 1)
			assert_int_equal(nvmtop_energy_end(inner), 0);
		t[i + 1] = now_ns();
		true_joules += watts[i] * (double)(t[i + 1] - t[i]) / 1e9;
	}
	nvmtop_joules now = result(outer, 0); /* has not ended */
	assert_int_equal(nvmtop_energy_end(outer), 0);
	nvmtop_joules guessed = result(outer, 0), j = result(outer, -1), in = result(inner, -1);
	assert_true(now.seconds > 0.7 && now.seconds <= j.seconds);
	assert_true(guessed.within >= j.within && guessed.seconds == j.seconds);
	assert_true(j.guessed_s == 0);
	assert_true(fabs(j.joules - true_joules) <= fmax(j.within, 0.5));
	assert_true(fabs(in.joules - 30 * in.seconds) <= fmax(in.within, 0.5));
	assert_true(rail(&j, id)->joules > 0);
	usleep(50000);
	assert_int_equal(nvmtop_energy_end(late), 0);
	nvmtop_joules after = result(late, -1);
	assert_true(fabs(after.joules - 10 * after.seconds) <= fmax(after.within, 0.5));
	/* The same is said later. */
	usleep(400000);
	nvmtop_joules again = result(outer, 0);
	assert_true(fabs(again.joules - j.joules) < 0.2 && again.guessed_s == 0);

	/* Less the idle power, 20 W are left of the inner one. */
	assert_int_equal(nvmtop_energy_subtract(&in, &base), 0);
	assert_true(fabs(in.joules - 20 * in.seconds) <= fmax(in.within, 0.5));
	assert_true(in.within > 0 && rail(&in, in.total)->joules == in.joules);
	close_live(l);
}

/* A window of no time, and one of before there was anything. */
static void test_short(void **state)
{
	draw(2000);
	nvmtop_live l = open_tree();

	(void)state;
	await(l, nvmtop_live_find(l, "VDD_IN.power"), 10000);
	usleep(200000);
	for (int i = 0; i < 200; i++) {
		nvmtop_window w = nvmtop_energy_begin(l, NULL);
		assert_int_equal(nvmtop_energy_end(w), 0);
		nvmtop_joules j = result(w, i % 2 ? -1 : 0);
		assert_true(j.seconds < 0.1);
		assert_true(isnan(j.joules) || fabs(j.joules - 10 * j.seconds) < 1e-6);
		assert_int_equal(nvmtop_energy_forget(w), 0);
	}
	close_live(l);
}

struct heard {
	pthread_t thread;
	nvmtop_live live;
	int calls, wrong, refused;
	int64_t newest;
	uint64_t rows;
};

static void hear(void *arg, const nvmtop_rows *rows)
{
	struct heard *h = arg;
	nvmtop_joules j = {.size = NVMTOP_JOULES_SIZE};
	nvmtop_error e = NVMTOP_ERROR_INIT;
	int64_t id = 0, at;
	double v;

	h->thread = pthread_self();
	for (size_t i = 0; i < rows->n; i++) {
		h->wrong += rows->times[i] <= h->newest || rows->times[i] > now_ns();
		h->newest = rows->times[i];
	}
	h->wrong += rows->tier != NVMTOP_MEDIUM || rows->width == 0 || rows->n == 0;
	h->wrong += nvmtop_live_read(h->live, &id, 1, &v, &at) != 0;
	nvmtop_window w = nvmtop_energy_begin(h->live, NULL);
	h->wrong += nvmtop_energy_end(w) != 0 || nvmtop_energy_result(w, -1, &j, NULL) != 0 || nvmtop_energy_forget(w) != 0;
	h->refused += nvmtop_live_close(h->live, &e) == -1 && e.code == NVMTOP_USAGE;
	h->refused += nvmtop_live_open(NULL, &e) == 0 && e.code == NVMTOP_USAGE;
	h->refused += nvmtop_live_on_rows(h->live, NVMTOP_MEDIUM, NULL, NULL, &e) == -1;
	h->refused += nvmtop_start("/dev/null/x", NULL, &e) == NULL;
	h->rows += rows->n;
	__atomic_add_fetch(&h->calls, 1, __ATOMIC_RELEASE);
}

static void hear_fast(void *arg, const nvmtop_rows *rows)
{
	__atomic_add_fetch((int *)arg, rows->tier == NVMTOP_FAST ? 1 : 1000000, __ATOMIC_RELEASE);
}

static int calls(int *n)
{
	return __atomic_load_n(n, __ATOMIC_ACQUIRE);
}

static void test_rows(void **state)
{
	nvmtop_live l = open_demo();
	struct heard h = {.live = l};
	int fast = 0;

	(void)state;
	assert_int_equal(nvmtop_live_on_rows(l, NVMTOP_MEDIUM, hear, &h, NULL), 0);
	assert_int_equal(nvmtop_live_on_rows(l, NVMTOP_FAST, hear_fast, &fast, NULL), 0);
	while (calls(&h.calls) < 5 || calls(&fast) < 5)
		usleep(1000);
	assert_int_equal(nvmtop_live_on_rows(l, NVMTOP_MEDIUM, NULL, NULL, NULL), 0);
	int before = h.calls, heard = calls(&fast);
	assert_false(pthread_equal(h.thread, pthread_self()));
	assert_int_equal(h.wrong, 0);
	assert_int_equal(h.refused, 4 * h.calls);
	while (calls(&fast) < heard + 3)
		usleep(1000);
	assert_int_equal(h.calls, before);
	assert_true(calls(&fast) < 1000000);
	close_live(l);
}

/* One engine for recorders and handles with the same options; each can end before the others. */
static void test_shared(void **state)
{
	nvmtop_options o = NVMTOP_OPTIONS_INIT;
	nvmtop_error e = NVMTOP_ERROR_INIT;
	int64_t id, at;
	double v;

	(void)state;
	o.board = "demo";
	o.force = 1;
	for (int first = 0; first < 2; first++) {
		nvmtop_live l = first ? open_demo() : 0;
		nvmtop_recorder *r = nvmtop_start(path, &o, &e);
		assert_non_null(r);
		l = l ? l : nvmtop_live_open(NULL, &e); /* whatever runs */
		assert_true(l > 0);
		nvmtop_live more = open_demo();
		assert_engines(1);
		assert_int_equal(nvmtop_wait_for_warmup(r, -1), 1);
		assert_int_equal(nvmtop_sync(r, "one"), 1);
		close_live(more);
		if (first)
			close_live(l);
		while (nvmtop_sample_count(r) < 200)
			usleep(1000);
		assert_int_equal(nvmtop_sync(r, "two"), 2);
		assert_int_equal(nvmtop_stop(r, &e), 0);
		nvmtop_free(r);
		if (!first) {
			id = nvmtop_live_find(l, "gpu.util");
			for (int i = 0; i < 3; i++) {
				usleep(60000);
				while (nvmtop_live_read(l, &id, 1, &v, &at) == 0 && isnan(v))
					usleep(1000);
				assert_true(now_ns() - at < INT64_C(60000000));
			}
			close_live(l);
		}
		assert_engines(0);
		nvmtop_trace *t = nvmtop_open(path, &e);
		assert_non_null(t);
		assert_int_equal(nvmtop_epochs(t, NULL, 0), 3);
		nvmtop_close(t);
	}
	/* Two recordings number their marks each; other options are other engines. */
	char second[160];
	snprintf(second, sizeof(second), "%s-2", path);
	nvmtop_recorder *a = nvmtop_start(path, &o, &e), *b = nvmtop_start(second, &o, &e);
	assert_true(a && b);
	assert_int_equal(nvmtop_sync(a, "a"), 1);
	assert_int_equal(nvmtop_sync(b, "b"), 1);
	assert_int_equal(nvmtop_sync(a, "a"), 2);
	nvmtop_free(a);
	assert_int_equal(nvmtop_is_running(b), 1);
	nvmtop_live l = open_tree();
	assert_engines(2);
	assert_int_equal(nvmtop_live_find(l, "VDDQ_VDD2_1V8AO.power"), -1);
	nvmtop_free(b);
	close_live(l);
	unlink(second);
}

struct marker {
	nvmtop_recorder *recorder;
	int calls, stopped;
};

static void mark_and_stop(void *arg, const nvmtop_rows *rows)
{
	struct marker *m = arg;

	(void)rows;
	nvmtop_sync(m->recorder, "row");
	m->stopped += nvmtop_stop(m->recorder, NULL) == 0; /* its thread cannot wait for itself */
	__atomic_add_fetch(&m->calls, 1, __ATOMIC_RELEASE);
}

/* A callback sets marks while the recording is stopped: neither waits for the other. */
static void test_stop(void **state)
{
	nvmtop_options o = NVMTOP_OPTIONS_INIT;

	(void)state;
	o.board = "demo";
	o.force = 1;
	for (int i = 0; i < 4; i++) {
		struct marker m = {.recorder = nvmtop_start(path, &o, NULL)};
		nvmtop_live l = nvmtop_live_open(NULL, NULL);
		assert_non_null(m.recorder);
		assert_int_equal(nvmtop_live_on_rows(l, NVMTOP_FAST, mark_and_stop, &m, NULL), 0);
		while (calls(&m.calls) < 3)
			usleep(1000);
		assert_int_equal(nvmtop_stop(m.recorder, NULL), 0);
		assert_int_equal(nvmtop_sync(m.recorder, "late"), 0);
		assert_int_equal(nvmtop_live_on_rows(l, NVMTOP_FAST, NULL, NULL, NULL), 0);
		assert_int_equal(m.stopped, 0);
		nvmtop_free(m.recorder);
		close_live(l);
	}
}

/* In a child of fork() a handle is unknown, and nothing is waited for; another one can be opened there. */
static void test_fork(void **state)
{
	nvmtop_live l = open_demo();
	nvmtop_window w = nvmtop_energy_begin(l, NULL);
	nvmtop_signal s = {.size = NVMTOP_SIGNAL_SIZE};
	int64_t id = 0, at;
	double v;
	int status;

	(void)state;
	pid_t child = fork();
	if (child == 0) {
		nvmtop_joules j = {.size = NVMTOP_JOULES_SIZE};
		nvmtop_error e = NVMTOP_ERROR_INIT;
		int wrong = 0;

		alarm(30);
		wrong += nvmtop_live_read(l, &id, 1, &v, &at) != -1;
		wrong += nvmtop_energy_end(w) != -1;
		wrong += nvmtop_energy_result(w, -1, &j, &e) != -1 || !strstr(e.text, "fork");
		wrong += nvmtop_energy_begin(l, &e) != 0 || !strstr(e.text, "fork");
		wrong += nvmtop_energy_forget(w) != -1;
		wrong += nvmtop_live_signals(l) != 0;
		wrong += nvmtop_live_describe(l, 0, &s) != -1;
		wrong += nvmtop_live_find(l, "gpu.util") != -1;
		wrong += nvmtop_live_on_rows(l, NVMTOP_FAST, NULL, NULL, &e) != -1;
		wrong += nvmtop_live_close(l, &e) != -1;
		if (FORK_ALLOCATES) {
			nvmtop_options o = NVMTOP_OPTIONS_INIT;
			o.board = "demo";
			nvmtop_live own = nvmtop_live_open(&o, &e);
			wrong += own <= 0 || own == l || nvmtop_live_read(own, &id, 1, &v, &at) != 0;
			wrong += nvmtop_live_read(l, &id, 1, &v, &at) != -1;
			wrong += nvmtop_live_close(own, &e) != 0;
		}
		_exit(wrong);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(nvmtop_live_read(l, &id, 1, &v, &at), 0);
	assert_int_equal(nvmtop_energy_end(w), 0);
	close_live(l);
}

static int ended;

static void *use(void *arg)
{
	nvmtop_joules j = {.size = NVMTOP_JOULES_SIZE};
	nvmtop_live l = *(nvmtop_live *)arg;
	int64_t ids[3] = {0, 20, 40}, at[3];
	double v[3];

	/* Its handle is closed meanwhile: an error from then on. */
	while (!__atomic_load_n(&ended, __ATOMIC_ACQUIRE)) {
		nvmtop_live_read(l, ids, 3, v, at);
		nvmtop_window w = nvmtop_energy_begin(l, NULL);
		nvmtop_energy_end(w);
		nvmtop_energy_result(w, 0, &j, NULL);
		nvmtop_energy_forget(w);
		usleep(100); /* others get the lock, too */
	}
	return NULL;
}

/* Handles are closed while other threads use them. */
static void test_threads(void **state)
{
	nvmtop_live l[4], keep = open_demo();
	pthread_t thread[4];

	(void)state;
	for (int i = 0; i < 4; i++) {
		l[i] = open_demo();
		assert_int_equal(pthread_create(&thread[i], NULL, use, &l[i]), 0);
	}
	for (int i = 0; i < 4; i++) {
		usleep(20000);
		close_live(l[i]);
	}
	__atomic_store_n(&ended, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	close_live(keep);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values), cmocka_unit_test(test_all),    cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_many),   cmocka_unit_test(test_windows), cmocka_unit_test(test_short),
		cmocka_unit_test(test_rows),   cmocka_unit_test(test_shared), cmocka_unit_test(test_fork),
		cmocka_unit_test(test_threads), cmocka_unit_test(test_stop),
	};
	const char *roots = getenv("NVMTOP_ROOTS");
	char text[512];
	int failed;

	if (!mkdtemp(folder) || !roots)
		return 1;
	snprintf(path, sizeof(path), "%s/run.nvmt", folder);
	snprintf(tree, sizeof(tree), "%s/tree", folder);
	snprintf(text, sizeof(text), "cp -a '%s/orin_nano-36-super' '%s'", roots, tree);
	if (system(text))
		return 1;
	put("in1_input", "5000\n");
	snprintf(text, sizeof(text), "%s" CHIP "samples", folder);
	unlink(text); /* the chip has the power of the moment */
	snprintf(text, sizeof(text), "%s" CHIP "update_interval", folder);
	unlink(text);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	snprintf(text, sizeof(text), "rm -rf '%s'", folder);
	return system(text) ? 1 : failed;
}
