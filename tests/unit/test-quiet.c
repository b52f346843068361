/* The sampling path allocates nothing, takes no lock, writes nothing and, once warm, causes no page
 * faults: for a whole fake board with everything the program attaches. Wrappers of C library functions
 * count calls per thread; the kernel counts page faults. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "board/board.h"
#include "engine/engine.h"
#include "live-log.h"

#if !defined(__GLIBC__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STAND_IN 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define STAND_IN 0
#endif
#endif
#ifndef STAND_IN
#define STAND_IN 1
#endif

static atomic_bool watching;
static atomic_uint allocations, locks, writes;

#if STAND_IN
/* The sampling thread is recognized by its name. */
static void note(atomic_uint *count)
{
	char name[16] = "";

	if (!atomic_load_explicit(&watching, memory_order_relaxed))
		return;
	prctl(PR_GET_NAME, name);
	if (!strcmp(name, "nvmtop-sampler"))
		atomic_fetch_add(count, 1);
}

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t each);
void *__libc_realloc(void *p, size_t n);
void __libc_free(void *p);

void *malloc(size_t n)
{
	note(&allocations);
	return __libc_malloc(n);
}

void *calloc(size_t n, size_t each)
{
	note(&allocations);
	return __libc_calloc(n, each);
}

void *realloc(void *p, size_t n)
{
	note(&allocations);
	return __libc_realloc(p, n);
}

void free(void *p)
{
	note(&allocations);
	__libc_free(p);
}

int pthread_mutex_lock(pthread_mutex_t *m)
{
	static int (*real)(pthread_mutex_t *);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_mutex_lock");
	note(&locks);
	return real(m);
}

ssize_t write(int fd, const void *buf, size_t n)
{
	static ssize_t (*real)(int, const void *, size_t);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "write");
	note(&writes);
	return real(fd, buf, n);
}

ssize_t pwrite(int fd, const void *buf, size_t n, off_t at)
{
	static ssize_t (*real)(int, const void *, size_t, off_t);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "pwrite");
	note(&writes);
	return real(fd, buf, n, at);
}
#endif

/* Page faults, minor and major, of the sampling thread so far. */
static unsigned long faults(unsigned *threads)
{
	DIR *dir = opendir("/proc/self/task");
	unsigned long sum = 0;
	struct dirent *d;

	*threads = 0;
	assert_non_null(dir);
	while ((d = readdir(dir))) {
		char path[300], line[512], *after;
		unsigned long minor, major;
		FILE *f;

		snprintf(path, sizeof path, "/proc/self/task/%s/stat", d->d_name);
		f = fopen(path, "r");
		if (!f)
			continue;
		if (fgets(line, sizeof line, f) && (after = strrchr(line, ')')) &&
		    strstr(line, "(nvmtop-sampler)") &&
		    sscanf(after, ") %*c %*d %*d %*d %*d %*d %*u %lu %*u %lu", &minor, &major) == 2) {
			sum += minor + major;
			++*threads;
		}
		fclose(f);
	}
	closedir(dir);
	return sum;
}

static struct engine *sample(struct live_log *h, const char *root_path)
{
	static const double hz[TIERS] = {1000, 100, 10};
	struct root *root;
	struct board *b;
	struct engine *g;
	struct probe_set *r;
	char why[256];
	struct err e;

	root = root_open(root_path, &e);
	assert_non_null(root);
	b = board_detect(root, why, sizeof why, &e);
	assert_non_null(b);
	r = board_resolve(b, root, hz, why, &e);
	assert_non_null(r);
	assert_int_equal(engine_own_channels(r, &e), 0);
	g = engine_new(r, hz, &e);
	assert_non_null(g);
	assert_int_equal(engine_begin(g, live_log_sink(h), &e), 0);
	assert_int_equal(engine_start(g, &e), 0);
	board_free(b);
	root_close(root);
	return g;
}

/* Its page faults over three seconds, during which nothing else happens. */
static unsigned long watch(struct engine *g, const char *root_path)
{
	struct engine_stats before, after;
	unsigned threads, again;
	unsigned long faulted;

	atomic_store(&allocations, 0);
	atomic_store(&locks, 0);
	atomic_store(&writes, 0);
	faulted = faults(&threads);
	engine_stats(g, &before);
	atomic_store(&watching, true);
	usleep(3000000);
	atomic_store(&watching, false);
	engine_stats(g, &after);
	faulted = faults(&again) - faulted;
	print_message("# %s: %llu fast rows by %u threads: %u allocations, %u locks, %u writes, %lu faults\n",
		      root_path, (unsigned long long)(after.rows[TIER_FAST] - before.rows[TIER_FAST]),
		      threads, allocations, locks, writes, faulted);
	assert_int_equal(threads, again);
	assert_int_equal(threads, 1);
	assert_true(after.rows[TIER_FAST] > before.rows[TIER_FAST] + 100);
	assert_true(after.rows[TIER_SLOW] > before.rows[TIER_SLOW] + 2);
	assert_int_equal(allocations, 0);
	assert_int_equal(locks, 0);
	assert_int_equal(writes, 0);
	return faulted;
}

static void path_is_quiet(const char *root_path)
{
	unsigned long faulted = 1;
	struct engine *g;
	struct live_log *h;

	h = live_log_new();
	assert_non_null(h);
	g = sample(h, root_path);
	assert_true(engine_wait_warm(g, -1));
	usleep(1500000); /* every source was read, and reopened if it is retried each second */
	/* A kernel short of memory, or migrating pages, causes faults of its own. */
	for (int i = 0; i < 3 && faulted; i++)
		faulted = watch(g, root_path);
	assert_int_equal(faulted, 0);
	engine_stop(g);
	engine_free(g);
	live_log_free(h);
}

static void of_a_fake_board(void **state)
{
	char path[512];

	(void)state;
	if (!getenv("NVMTOP_ROOTS")) {
		print_message("# skipped: NVMTOP_ROOTS is to say where the fake boards are, as in make check\n");
		skip();
	}
	snprintf(path, sizeof path, "%s/agx_orin-36", getenv("NVMTOP_ROOTS"));
	path_is_quiet(path);
}

static void of_this_machine(void **state)
{
	(void)state;
	path_is_quiet("/");
}

/* Check that the wrappers count at all. */
static void stand_ins_count(void **state)
{
	void *(*volatile make)(size_t);
	char *(*volatile copy)(const char *);
	char name[16];

	(void)state;
	prctl(PR_GET_NAME, name);
	prctl(PR_SET_NAME, "nvmtop-sampler");
	atomic_store(&watching, true);
	make = malloc; /* through pointers the compiler cannot resolve */
	free(make(1));
	copy = strdup;
	free(copy("x"));
	atomic_store(&watching, false);
	prctl(PR_SET_NAME, name);
	assert_int_equal(allocations, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stand_ins_count),
		cmocka_unit_test(of_a_fake_board),
		cmocka_unit_test(of_this_machine),
	};

	if (!STAND_IN) {
		puts("1..0 # SKIP the functions of this C library cannot be stood in for: use another one");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
