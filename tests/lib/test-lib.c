/* libnvmtop as another program has it: only its own header, and what it says
 * when something is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <nvmtop/mark.h>
#include <nvmtop/nvmtop.h>

#include "fork.h"

static char folder[] = "/tmp/nvmtop-lib-XXXXXX";
static char path[128];

static nvmtop_recorder *start(nvmtop_error *e)
{
	nvmtop_options o = NVMTOP_OPTIONS_INIT;

	o.board = "demo";
	o.force = 1;
	return nvmtop_start(path, &o, e);
}

/* In place of that of libc: a disk that does not respond for a while. */
static atomic_bool disk_hangs;
__attribute__((visibility("default"))) ssize_t write(int fd, const void *p, size_t n)
{
	while (atomic_load(&disk_hangs))
		nanosleep(&(struct timespec) {.tv_nsec = 1000000}, NULL);
	return syscall(SYS_write, fd, p, n);
}

static void test_versions(void **state)
{
	(void)state;
	assert_int_equal(nvmtop_api_version(), NVMTOP_API_VERSION);
	assert_string_equal(nvmtop_version(), PACKAGE_VERSION);
}

static void test_record(void **state)
{
	nvmtop_header h = {.size = NVMTOP_HEADER_SIZE};
	nvmtop_epoch epoch[8] = {{.size = NVMTOP_EPOCH_SIZE}};
	nvmtop_error e = NVMTOP_ERROR_INIT;
	uint64_t n;

	(void)state;
	nvmtop_recorder *r = start(&e);
	assert_non_null(r);
	assert_int_equal(e.code, NVMTOP_OK);
	assert_string_equal(e.text, "");
	assert_int_equal(nvmtop_wait_for_warmup(r, -1), 1);
	uint64_t before = nvmtop_sample_count(r);
	assert_true(before >= 10);
	usleep(20000);
	assert_true(nvmtop_sample_count(r) > before); /* not in steps of what is handed over at once */
	assert_int_equal(nvmtop_is_running(r), 1);
	assert_int_equal(nvmtop_sync(r, "first \033[31mphase"), 1);
	usleep(200000);
	assert_int_equal(nvmtop_sync(r, NULL), 2);
	assert_int_equal(access(path, F_OK), 0);
	while (nvmtop_sample_count(r) < 300)
		usleep(1000);
	assert_int_equal(nvmtop_stop(r, &e), 0);
	assert_int_equal(nvmtop_stop(r, &e), 0);
	assert_int_equal(nvmtop_is_running(r), 0);
	assert_int_equal(nvmtop_sync(r, "too late"), 0);
	uint64_t count = nvmtop_sample_count(r);
	nvmtop_free(r);

	nvmtop_trace *t = nvmtop_open(path, &e);
	assert_non_null(t);
	assert_int_equal(e.code, NVMTOP_OK);
	assert_int_equal(nvmtop_get_header(t, &h), 0);
	assert_string_equal(h.board, "demo");
	assert_int_equal(h.cores, 12);
	assert_int_equal(h.rows[0], count);
	assert_int_equal(h.marks, 2);
	assert_true(h.start_real_ns > 0);
	const nvmtop_fast *fast = nvmtop_fast_rows(t, &n);
	assert_int_equal(n, count);
	for (uint64_t i = 0; i < n; i++) {
		assert_true(fast[i].gpu_load <= 1000);
		assert_true(i == 0 || fast[i].time_s > fast[i - 1].time_s);
	}
	assert_int_equal(nvmtop_epochs(t, NULL, 0), 3);
	assert_int_equal(nvmtop_epochs(t, epoch, 8), 3);
	assert_string_equal(epoch[1].label, "first ?[31mphase");
	assert_string_equal(epoch[2].label, "");
	assert_int_equal(epoch[0].n + epoch[1].n + epoch[2].n, n);
	for (int i = 1; i < 3; i++) {
		assert_int_equal(epoch[i].first, epoch[i - 1].first + epoch[i - 1].n);
		assert_true(epoch[i].start_s == epoch[i - 1].end_s);
		/* The first sample of an epoch is the first that is not older than its mark. */
		if (epoch[i].n > 0)
			assert_true(fast[epoch[i].first].time_s >= epoch[i].start_s);
		if (epoch[i].first > 0)
			assert_true(fast[epoch[i].first - 1].time_s < epoch[i].start_s);
	}
	nvmtop_close(t);
}

/* A FILE.bin is there at the end, complete, and nothing beside it. */
static void test_version1(void **state)
{
	nvmtop_options o = NVMTOP_OPTIONS_INIT;
	nvmtop_header h = {.size = NVMTOP_HEADER_SIZE};
	nvmtop_error e = NVMTOP_ERROR_INIT;
	char bin[160], log[170];

	(void)state;
	snprintf(bin, sizeof(bin), "%s/old.bin", folder);
	snprintf(log, sizeof(log), "%s.nvmt", bin);
	o.board = "demo";
	nvmtop_recorder *r = nvmtop_start(bin, &o, &e);
	assert_non_null(r);
	assert_int_equal(nvmtop_wait_for_warmup(r, -1), 1);
	assert_int_equal(nvmtop_sync(r, "phase"), 1);
	assert_int_equal(access(bin, F_OK), -1);
	assert_int_equal(nvmtop_stop(r, &e), 0);
	uint64_t count = nvmtop_sample_count(r);
	nvmtop_free(r);
	assert_int_equal(access(log, F_OK), -1);
	nvmtop_trace *t = nvmtop_open(bin, &e);
	assert_non_null(t);
	assert_int_equal(nvmtop_get_header(t, &h), 0);
	assert_int_equal(h.rows[0], count);
	assert_int_equal(h.marks, 1);
	nvmtop_close(t);
	assert_null(nvmtop_start(bin, &o, &e));
	assert_int_equal(e.number, EEXIST);
	unlink(bin);
}

static void test_refused(void **state)
{
	nvmtop_options o = NVMTOP_OPTIONS_INIT;
	nvmtop_error e = NVMTOP_ERROR_INIT;

	(void)state;
	assert_null(nvmtop_start(NULL, NULL, &e));
	assert_int_equal(e.code, NVMTOP_USAGE);
	assert_null(nvmtop_start("/no/such/folder/x.bin", NULL, &e));
	assert_int_equal(e.code, NVMTOP_FAILED);
	assert_non_null(strstr(e.text, "/no/such/folder"));
	assert_int_equal(e.number, ENOENT);
	/* In the words of a program, not of a command line. */
	assert_null(nvmtop_start(path, NULL, &e));
	assert_int_equal(e.number, EEXIST);
	assert_non_null(strstr(e.text, "\"force\""));
	assert_null(strstr(e.text, "--"));
	o.board = "no_such_board";
	assert_null(nvmtop_start(path, &o, NULL));
	o.board = "demo";
	o.fast_hz = 1e9;
	assert_null(nvmtop_start(path, &o, &e));
	assert_int_equal(e.code, NVMTOP_USAGE);
	o.fast_hz = NAN;
	assert_null(nvmtop_start(path, &o, &e));
	o.fast_hz = 0;
	o.size = 100000;
	assert_null(nvmtop_start(path, &o, &e));
	assert_int_equal(e.code, NVMTOP_USAGE);
	nvmtop_free(NULL);
	nvmtop_close(NULL);
}

/* More came than was kept for a disk that hung: the rest is a recording, and its end says what it lacks. */
static void test_lost(void **state)
{
	nvmtop_error e = NVMTOP_ERROR_INIT, again = NVMTOP_ERROR_INIT;
	nvmtop_recorder *r = start(&e);
	nvmtop_trace *t;
	char label[64] = "";

	(void)state;
	assert_non_null(r);
	assert_int_equal(nvmtop_wait_for_warmup(r, -1), 1);
	atomic_store(&disk_hangs, true);
	srandom(1);
	for (int i = 0; i < 800000; i++) {
		for (size_t k = 0; k < sizeof(label) - 1; k++)
			label[k] = (char)(' ' + 1 + random() % 94);
		nvmtop_sync(r, label);
	}
	atomic_store(&disk_hangs, false);
	assert_int_equal(nvmtop_stop(r, &e), -1);
	assert_int_equal(e.code, NVMTOP_FAILED);
	assert_non_null(strstr(e.text, "lost because"));
	assert_int_equal(nvmtop_stop(r, &again), -1);
	assert_string_equal(again.text, e.text);
	nvmtop_free(r);
	t = nvmtop_open(path, &e);
	assert_non_null(t);
	nvmtop_close(t);
}

/* What a program gets wrong is an error, and no crash. */
static void test_wrong_calls(void **state)
{
	nvmtop_error e = NVMTOP_ERROR_INIT, unset = {.size = 3, .code = 77};
	nvmtop_options half = {.size = sizeof(size_t) + sizeof(char *) / 2};
	nvmtop_header h = {.size = NVMTOP_HEADER_SIZE};
	nvmtop_signal s = {.size = NVMTOP_SIGNAL_SIZE};
	nvmtop_epoch epoch = {.size = 0};
	uint64_t n = 5;
	double v;

	(void)state;
	assert_null(nvmtop_open(NULL, &e));
	assert_int_equal(e.code, NVMTOP_USAGE);
	assert_true(e.text[0]);
	assert_null(nvmtop_start("", NULL, &e));
	assert_int_equal(e.code, NVMTOP_USAGE);
	assert_null(nvmtop_start(path, &half, &e));
	assert_int_equal(e.code, NVMTOP_USAGE);
	assert_null(nvmtop_open("/no/such/file", &unset));
	assert_int_equal(unset.code, 77);

	assert_int_equal(nvmtop_stop(NULL, NULL), -1);
	assert_int_equal(nvmtop_stop(NULL, &e), -1);
	assert_int_equal(e.code, NVMTOP_USAGE);
	assert_int_equal(nvmtop_sync(NULL, "mark"), 0);
	assert_int_equal(nvmtop_sample_count(NULL), 0);
	assert_int_equal(nvmtop_is_running(NULL), 0);
	assert_int_equal(nvmtop_wait_for_warmup(NULL, -1), 0);

	assert_int_equal(nvmtop_get_header(NULL, &h), -1);
	assert_null(nvmtop_fast_rows(NULL, &n));
	assert_int_equal(n, 0);
	assert_null(nvmtop_slow_rows(NULL, NULL));
	assert_int_equal(nvmtop_epochs(NULL, NULL, 0), 0);
	assert_int_equal(nvmtop_signals(NULL), 0);
	assert_int_equal(nvmtop_get_signal(NULL, 0, &s), -1);
	assert_int_equal(nvmtop_find_signal(NULL, "gpu.util"), -1);
	assert_int_equal(nvmtop_times(NULL, NVMTOP_FAST, 0, 1, &v), 0);
	assert_int_equal(nvmtop_values(NULL, 0, 0, 1, &v), 0);

	nvmtop_trace *t = nvmtop_open(path, &e);
	assert_non_null(t);
	assert_int_equal(nvmtop_get_header(t, NULL), -1);
	assert_null(nvmtop_medium_rows(t, NULL));
	assert_int_equal(nvmtop_epochs(t, NULL, 1), 0);
	assert_int_equal(nvmtop_epochs(t, &epoch, 1), 0);
	assert_int_equal(nvmtop_get_signal(t, 0, NULL), -1);
	assert_int_equal(nvmtop_find_signal(t, NULL), -1);
	assert_int_equal(nvmtop_times(t, NVMTOP_FAST, 0, 1, NULL), 0);
	assert_int_equal(nvmtop_values(t, 0, 0, 1, NULL), 0);
	nvmtop_close(t);
}

/* A mark right before the end has a sample behind it. */
static void test_last_mark(void **state)
{
	nvmtop_epoch epoch[3] = {{.size = NVMTOP_EPOCH_SIZE}};
	nvmtop_error e = NVMTOP_ERROR_INIT;

	(void)state;
	for (int i = 0; i < 5; i++) {
		nvmtop_recorder *r = start(&e);
		assert_non_null(r);
		nvmtop_wait_for_warmup(r, -1);
		assert_int_equal(nvmtop_sync(r, "last"), 1);
		if (nvmtop_stop(r, &e) != 0)
			fail_msg("%s", e.text);
		nvmtop_free(r);
		nvmtop_trace *t = nvmtop_open(path, &e);
		assert_int_equal(nvmtop_epochs(t, epoch, 3), 2);
		assert_true(epoch[1].n > 0);
		nvmtop_close(t);
	}
}

/* The first row has a load of the CPU, on this machine as on a board; a mark that comes before
 * it keeps its time, and is at row 0. */
static void test_first_row(void **state)
{
	nvmtop_options o = NVMTOP_OPTIONS_INIT;
	nvmtop_epoch epoch[2] = {{.size = NVMTOP_EPOCH_SIZE}};
	nvmtop_error e = NVMTOP_ERROR_INIT;
	uint64_t n;

	(void)state;
	o.board = "generic";
	o.force = 1;
	nvmtop_recorder *r = nvmtop_start(path, &o, &e);
	assert_non_null(r);
	assert_int_equal(nvmtop_sync(r, "early"), 1);
	nvmtop_wait_for_warmup(r, -1);
	assert_int_equal(nvmtop_stop(r, &e), 0);
	nvmtop_free(r);
	nvmtop_trace *t = nvmtop_open(path, &e);
	const nvmtop_fast *fast = nvmtop_fast_rows(t, &n);
	assert_true(n > 0);
	for (uint64_t i = 0; i < n; i++)
		assert_false(isnan(fast[i].cpu_aggregate));
	assert_int_equal(nvmtop_epochs(t, epoch, 2), 2);
	/* On a busy machine there may be rows before the mark, and those are older. */
	assert_true(epoch[1].first < n);
	assert_true(epoch[1].start_s <= fast[epoch[1].first].time_s);
	assert_true(epoch[1].first == 0 || fast[epoch[1].first - 1].time_s < epoch[1].start_s);
	nvmtop_close(t);
}

/* In a child of fork() a recorder does nothing, and nothing is waited for; another one can
 * be started there.  That of the parent goes on. */
static void test_fork(void **state)
{
	nvmtop_options o = NVMTOP_OPTIONS_INIT;
	nvmtop_error e = NVMTOP_ERROR_INIT;
	char file[160];
	int status;

	(void)state;
	snprintf(file, sizeof(file), "%s/child.nvmt", folder);
	nvmtop_recorder *r = start(&e);
	assert_non_null(r);
	pid_t child = fork();
	if (child == 0) {
		int wrong = 0;

		alarm(30);
		wrong += nvmtop_sync(r, "child") != 0;
		wrong += nvmtop_is_running(r) != 0;
		wrong += nvmtop_sample_count(r) != 0;
		wrong += nvmtop_wait_for_warmup(r, -1) != 0;
		wrong += nvmtop_stop(r, &e) != -1 || e.code != NVMTOP_USAGE || !strstr(e.text, "fork");
		nvmtop_free(r);
		o.board = "demo";
		if (FORK_ALLOCATES) {
			r = nvmtop_start(file, &o, &e);
			wrong += !r || nvmtop_sync(r, "own") != 1 || nvmtop_stop(r, &e) != 0;
			nvmtop_free(r);
		}
		_exit(wrong);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(unlink(file), FORK_ALLOCATES ? 0 : -1);
	assert_int_equal(nvmtop_sync(r, "parent"), 1);
	assert_int_equal(nvmtop_stop(r, &e), 0);
	nvmtop_free(r);
}

/* A program that was built with an older, shorter struct. */
static void test_old_options(void **state)
{
	struct {
		size_t size;
		const char *board;
	} old = {sizeof(old), "demo"};
	char file[160];
	nvmtop_error e = NVMTOP_ERROR_INIT;

	(void)state;
	snprintf(file, sizeof(file), "%s/old.nvmt", folder);
	nvmtop_recorder *r = nvmtop_start(file, (const nvmtop_options *)&old, &e);
	assert_non_null(r);
	nvmtop_free(r);
	assert_int_equal(unlink(file), 0);
}

static void test_no_trace(void **state)
{
	nvmtop_error e = NVMTOP_ERROR_INIT;
	nvmtop_header h = {.size = 3};

	(void)state;
	assert_null(nvmtop_open("/dev/null", &e));
	assert_int_equal(e.code, NVMTOP_FAILED);
	assert_null(nvmtop_open("/no/such/file", &e));
	assert_non_null(strstr(e.text, "/no/such/file"));
	nvmtop_trace *t = nvmtop_open(path, NULL);
	assert_non_null(t);
	assert_int_equal(nvmtop_get_header(t, &h), -1);
	nvmtop_close(t);
}

static void *marks(void *arg)
{
	nvmtop_recorder *r = arg;

	for (int i = 0; i < 50; i++)
		assert_true(nvmtop_sync(r, "thread") > 0);
	return NULL;
}

/* Marks from several threads: each has an id of its own, and none is lost. */
static void test_threads(void **state)
{
	nvmtop_error e = NVMTOP_ERROR_INIT;
	pthread_t thread[4];

	(void)state;
	nvmtop_recorder *r = start(&e);
	assert_non_null(r);
	nvmtop_wait_for_warmup(r, -1);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, marks, r), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(nvmtop_stop(r, &e), 0);
	nvmtop_free(r);
	nvmtop_trace *t = nvmtop_open(path, &e);
	assert_int_equal(nvmtop_epochs(t, NULL, 0), 201);
	nvmtop_close(t);
}

static int interrupted;

static void on_signal(int sig)
{
	(void)sig;
	interrupted++;
}

/* The program's own signals stay its own. */
static void test_signals(void **state)
{
	struct sigaction act = {.sa_handler = on_signal}, now;
	nvmtop_error e = NVMTOP_ERROR_INIT;

	(void)state;
	sigaction(SIGTERM, &act, NULL);
	nvmtop_recorder *r = start(&e);
	assert_non_null(r);
	sigaction(SIGTERM, NULL, &now);
	assert_true(now.sa_handler == on_signal);
	for (int i = 0; i < 20; i++)
		kill(getpid(), SIGTERM);
	assert_true(interrupted > 0);
	assert_int_equal(nvmtop_is_running(r), 1);
	nvmtop_free(r);
	signal(SIGTERM, SIG_DFL);
}

/* Each signal: what it is, found by its name, a value and a time for each row of
 * its tier; those that version 1 has, too, are the same. */
static void test_values(void **state)
{
	nvmtop_header h = {.size = NVMTOP_HEADER_SIZE};
	nvmtop_signal s = {.size = NVMTOP_SIGNAL_SIZE}, wrong = {.size = 5};
	static double v[100000], at[100000];
	nvmtop_error e = NVMTOP_ERROR_INIT;
	uint64_t n;
	int known = 0, beyond = 0;

	(void)state;
	nvmtop_trace *t = nvmtop_open(path, &e);
	assert_non_null(t);
	assert_int_equal(nvmtop_get_header(t, &h), 0);
	const nvmtop_fast *fast = nvmtop_fast_rows(t, &n);
	assert_true(n > 0 && n < 100000);
	assert_int_equal(nvmtop_times(t, NVMTOP_FAST, 0, 100000, at), n);
	for (uint64_t i = 0; i < n; i++)
		assert_true(fabs(at[i] - fast[i].time_s) < 1e-9);
	assert_true(nvmtop_signals(t) > 20);
	for (uint64_t i = 0; i < nvmtop_signals(t); i++) {
		assert_int_equal(nvmtop_get_signal(t, i, &s), 0);
		assert_int_equal(nvmtop_find_signal(t, s.name), i);
		assert_true(s.name[0] && s.tier >= NVMTOP_FAST && s.tier <= NVMTOP_SLOW);
		assert_int_equal(nvmtop_values(t, i, 0, 100000, v), h.rows[s.tier]);
		beyond += !strcmp(s.unit, "Hz");
		if (strcmp(s.name, "gpu.util") != 0)
			continue;
		known++;
		assert_string_equal(s.unit, "%");
		for (uint64_t k = 0; k < n; k++)
			assert_true(fabs(v[k] * 10 - fast[k].gpu_load) < 1e-6);
	}
	assert_int_equal(known, 1);
	assert_true(beyond > 0);
	/* From the middle on, up to the end, behind it, and what is not there. */
	assert_int_equal(nvmtop_values(t, 0, n - 3, 10, v), 3);
	assert_int_equal(nvmtop_values(t, 0, n, 10, v), 0);
	assert_int_equal(nvmtop_values(t, 0, UINT64_MAX, UINT64_MAX, v), 0);
	assert_int_equal(nvmtop_times(t, NVMTOP_FAST, n - 1, UINT64_MAX, at), 1);
	assert_int_equal(nvmtop_values(t, nvmtop_signals(t), 0, 1, v), 0);
	assert_int_equal(nvmtop_times(t, 3, 0, 1, at), 0);
	assert_int_equal(nvmtop_times(t, -1, 0, 1, at), 0);
	assert_int_equal(nvmtop_find_signal(t, "no.such"), -1);
	assert_int_equal(nvmtop_get_signal(t, nvmtop_signals(t), &s), -1);
	assert_int_equal(nvmtop_get_signal(t, 0, &wrong), -1);
	nvmtop_close(t);
}

/* A board of which nothing is there: version 1 has a load of 0, and the values
 * say that it was not read, and why. */
static void test_missing(void **state)
{
	nvmtop_options o = NVMTOP_OPTIONS_INIT;
	nvmtop_signal s = {.size = NVMTOP_SIGNAL_SIZE};
	char file[160];
	double v[16];
	nvmtop_error e = NVMTOP_ERROR_INIT;
	uint64_t n;

	(void)state;
	snprintf(file, sizeof(file), "%s/proc", folder);
	assert_int_equal(mkdir(file, 0700), 0);
	snprintf(file, sizeof(file), "%s/proc/meminfo", folder);
	FILE *f = fopen(file, "w");
	assert_non_null(f);
	fputs("MemTotal: 1000 kB\nMemAvailable: 600 kB\n", f);
	assert_int_equal(fclose(f), 0);
	snprintf(file, sizeof(file), "%s/none.nvmt", folder);
	o.board = "agx_orin";
	o.sysroot = folder;
	nvmtop_recorder *r = nvmtop_start(file, &o, &e);
	assert_non_null(r);
	while (nvmtop_sample_count(r) < 16)
		usleep(1000);
	nvmtop_free(r);
	nvmtop_trace *t = nvmtop_open(file, &e);
	assert_non_null(t);
	int64_t gpu = nvmtop_find_signal(t, "gpu.util");
	assert_true(gpu >= 0);
	assert_int_equal(nvmtop_get_signal(t, (uint64_t)gpu, &s), 0);
	assert_true(s.missing[0]);
	assert_int_equal(nvmtop_values(t, (uint64_t)gpu, 0, 16, v), 16);
	const nvmtop_fast *fast = nvmtop_fast_rows(t, &n);
	for (int i = 0; i < 16; i++) {
		assert_true(isnan(v[i]));
		assert_int_equal(fast[i].gpu_load, 0);
	}
	assert_int_equal(nvmtop_values(t, (uint64_t)nvmtop_find_signal(t, "ram.used"), 0, 16, v), 16);
	assert_true(v[15] == 400);
	nvmtop_close(t);
	assert_int_equal(unlink(file), 0);
	snprintf(file, sizeof(file), "%s/proc/meminfo", folder);
	assert_int_equal(unlink(file), 0);
	snprintf(file, sizeof(file), "%s/proc", folder);
	assert_int_equal(rmdir(file), 0);
}

/* Marks of other programs: only when asked for, and of one recorder a process. */
static void test_marks(void **state)
{
	nvmtop_options o = NVMTOP_OPTIONS_INIT;
	char file[160];
	nvmtop_epoch epoch[4] = {{.size = NVMTOP_EPOCH_SIZE}};
	nvmtop_error e = NVMTOP_ERROR_INIT;
	int status;

	(void)state;
	setenv("XDG_RUNTIME_DIR", folder, 1);
	snprintf(file, sizeof(file), "%s/marks.nvmt", folder);
	o.board = "demo";
	o.force = 1;
	nvmtop_recorder *r = nvmtop_start(file, &o, &e);
	assert_non_null(r);
	assert_int_equal(nvmtop_mark("nobody listens"), 0);
	nvmtop_free(r);

	o.marks = 1;
	r = nvmtop_start(file, &o, &e);
	assert_non_null(r);
	pid_t child = fork();
	if (child == 0)
		execlp("sh", "sh", "-c", "exec $EMU \"$NVMTOP\" mark 'from outside'", (char *)NULL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	/* What was sent may still wait to be taken in. */
	uint64_t own = nvmtop_sync(r, "own");
	assert_in_range(own, 1, 2);

	char second[160];
	snprintf(second, sizeof(second), "%s/second.nvmt", folder);
	assert_null(nvmtop_start(second, &o, &e));
	assert_non_null(strstr(e.text, "socket"));
	assert_int_equal(access(second, F_OK), -1);

	assert_int_equal(nvmtop_stop(r, &e), 0);
	nvmtop_free(r);
	nvmtop_trace *t = nvmtop_open(file, &e);
	assert_int_equal(nvmtop_epochs(t, epoch, 4), 3);
	int at = strcmp(epoch[1].label, "own") ? 2 : 1; /* they stand in the order of their times */
	assert_string_equal(epoch[at].label, "own");
	assert_string_equal(epoch[3 - at].label, "from outside");
	nvmtop_close(t);
	assert_int_equal(unlink(file), 0);
	snprintf(file, sizeof(file), "%s/nvmtop", folder);
	assert_int_equal(rmdir(file), 0);
}

static void test_detect(void **state)
{
	char name[64] = "", title[64] = "", why[8] = "";
	nvmtop_error e = NVMTOP_ERROR_INIT;

	(void)state;
	assert_int_equal(nvmtop_detect_board(name, sizeof(name), title, sizeof(title), why, sizeof(why), &e),
			 0);
	assert_true(name[0] && title[0]);
	assert_true(strlen(why) < sizeof(why));
	assert_int_equal(nvmtop_detect_board(NULL, 0, NULL, 0, NULL, 0, NULL), 0);
}

static void test_machine(void **state)
{
	nvmtop_error e = NVMTOP_ERROR_INIT;
	char *all = nvmtop_machine(0, &e), *shared = nvmtop_machine(1, &e);

	(void)state;
	assert_non_null(all);
	assert_non_null(shared);
	assert_int_equal(e.code, NVMTOP_OK);
	assert_true(all[0] == '{' && all[strlen(all) - 1] == '}');
	assert_non_null(strstr(all, "\"kernel\":\""));
	assert_null(strstr(shared, "\"address\""));
	assert_null(strstr(shared, "\"command\""));
	free(all);
	free(shared);
}

/* What tests/tools/ranges writes. */
static void test_ranges(void **state)
{
	nvmtop_range r = {.size = NVMTOP_RANGE_SIZE};
	nvmtop_error e = NVMTOP_ERROR_INIT;
	const char *emu = getenv("EMU"), *program = getenv("NVMTOP");
	char file[64], command[1024];
	double last = 0;
	int n = 0, seen = 0;

	(void)state;
	snprintf(file, sizeof(file), "%s/ranges.nvmt", folder);
	snprintf(command, sizeof(command), "%s $(dirname '%s')/../tests/tools/ranges %s", emu ? emu : "",
		 program ? program : "src/nvmtop", file);
	assert_int_equal(system(command), 0);
	nvmtop_trace *t = nvmtop_open(file, &e);
	assert_non_null(t);
	nvmtop_ranges *all = nvmtop_ranges_open(t, 0, INFINITY, &e);
	assert_non_null(all);
	for (; nvmtop_ranges_next(all, &r) == 1; n++) {
		assert_true(r.begin_s >= last && r.end_s > r.begin_s);
		last = r.begin_s;
		if (!strcmp(r.name, "epoch")) {
			assert_true(r.begin_s == 0.1 && r.end_s == 3.9 && r.depth == 0 && !r.open && r.pid == 100);
			assert_true(r.colour == 0xFFFF0000 && r.payload == NVMTOP_NO_PAYLOAD);
			assert_string_equal(r.thread, "main");
			assert_string_equal(r.domain, "");
			assert_string_equal(r.category, "");
			seen++;
		} else if (!strcmp(r.name, "step") && r.payload == NVMTOP_UNSIGNED && r.value.u == 8) {
			assert_true(r.depth == 1 && r.begin_s == 3.4);
			seen++;
		} else if (!strcmp(r.name, "load") && r.payload == NVMTOP_DOUBLE && r.value.d == 0.5) {
			assert_string_equal(r.domain, "DALI");
			assert_string_equal(r.category, "7");
			assert_true(r.tid == 101);
			seen++;
		} else if (r.payload == NVMTOP_SIGNED && r.value.i == -3) {
			assert_string_equal(r.process, "a,b\"c");
			seen++;
		} else if (r.open) {
			assert_string_equal(r.name, "server");
			assert_true(r.end_s == 4);
			seen++;
		}
	}
	assert_true(n == 48 && seen == 5);
	assert_int_equal(nvmtop_ranges_next(all, &r), 0);
	r.size = 1;
	assert_int_equal(nvmtop_ranges_next(all, &r), -1);
	assert_int_equal(nvmtop_ranges_next(all, NULL), -1);
	r.size = NVMTOP_RANGE_SIZE;
	assert_int_equal(nvmtop_ranges_next(NULL, &r), -1);
	nvmtop_ranges_close(all);
	nvmtop_ranges_close(NULL);
	assert_null(nvmtop_ranges_open(NULL, 0, 1, &e));
	assert_int_equal(e.code, NVMTOP_USAGE);
	assert_null(nvmtop_ranges_open(t, 0, NAN, NULL));
	nvmtop_ranges *some = nvmtop_ranges_open(t, 2.3, 2.4, &e);
	for (n = 0; nvmtop_ranges_next(some, &r) == 1; n++)
		assert_true(r.begin_s < 2.4 && r.end_s > 2.3);
	assert_int_equal(n, 3); /* epoch, step, and one of the other process; forward ends where this begins */
	nvmtop_ranges_close(some);
	nvmtop_close(t);
	unlink(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions),    cmocka_unit_test(test_record),
		cmocka_unit_test(test_version1),
		cmocka_unit_test(test_values),      cmocka_unit_test(test_refused),
		cmocka_unit_test(test_wrong_calls), cmocka_unit_test(test_fork),
		cmocka_unit_test(test_last_mark),   cmocka_unit_test(test_first_row),
		cmocka_unit_test(test_no_trace),    cmocka_unit_test(test_threads),
		cmocka_unit_test(test_old_options), cmocka_unit_test(test_signals),
		cmocka_unit_test(test_detect),      cmocka_unit_test(test_missing),
		cmocka_unit_test(test_marks),	    cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_machine),      cmocka_unit_test(test_lost),
	};

	if (!mkdtemp(folder))
		return 99;
	snprintf(path, sizeof(path), "%s/run.nvmt", folder);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	rmdir(folder);
	return failed;
}
