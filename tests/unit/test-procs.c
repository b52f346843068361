/* Processes: parsing works for any process name, CPU use is a difference, and a signal only reaches the
 * intended process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "probe/processes.h"

#define REST " S 7 1 1 0 -1 4194560 9 0 0 0 120 30 0 0 20 0 3 0 5000 123456789 10 18446744073709551615 1 1 0\n"

static bool parse(const char *text, struct proc *p)
{
	return proc_stat_parse(text, strlen(text), p);
}

static void test_stat(void **state)
{
	struct proc p;

	(void)state;
	assert_true(parse("42 (name)" REST, &p));
	assert_int_equal(p.pid, 42);
	assert_int_equal(p.parent, 7);
	assert_int_equal(p.start, 5000);
	assert_int_equal(p.threads, 3);
	assert_int_equal(p.ticks, 150);
	assert_int_equal(p.state, 'S');
	assert_true(p.rss_kb == 10 * (double)sysconf(_SC_PAGESIZE) / 1024);
	assert_true(isnan(p.cpu) && isnan(p.gpu_kb));
	assert_string_equal(p.name, "name");
	assert_true(parse("42 (a) R 1 (b) c)" REST, &p));
	assert_string_equal(p.name, "a) R 1 (b) c");
	assert_true(parse("42 (\033[2J\n)" REST, &p));
	assert_string_equal(p.name, "?[2J?");
	assert_true(parse("42 ()" REST, &p));
}

static void test_stat_that_is_none(void **state)
{
	static const char *const bad[] = {"",     "42",      "42 (x",         "42 (x)",   "42 (x) S",        "x (x)" REST,
					  ") ( ", "0 (x)" REST, "-5 (x)" REST, "42 )x(" REST, "99999999999 (x)" REST};
	struct proc p;
	char noise[200];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(parse(bad[i], &p));
	srand(3);
	for (int round = 0; round < 50000; round++) {
		size_t n = (size_t)rand() % sizeof(noise);

		for (size_t i = 0; i < n; i++)
			noise[i] = "0123456789 ()-S\n\033"[rand() % 17];
		proc_stat_parse(noise, n, &p);
	}
}

static void test_nvmap(void **state)
{
	int pid;
	double kb;
	char type[10];
#define PARSE(text) proc_nvmap_parse(text, strlen(text), &pid, &kb, type)

	(void)state;
	assert_true(PARSE("user                         gpu_burn     7979   23525644K"));
	assert_int_equal(pid, 7979);
	assert_true(kb == 23525644);
	assert_string_equal(type, "user");
	assert_true(PARSE("user a name with blanks 12 0K  "));
	assert_int_equal(pid, 12);
	assert_false(PARSE("CLIENT                        PROCESS      PID        SIZE"));
	assert_false(PARSE("total                                            23549320K"));
	assert_false(PARSE("kernel kernel 0 100K"));
	assert_false(PARSE("user x 12 100"));
	assert_false(PARSE("user x 12 -100K"));
	assert_false(PARSE("user x 99999999999 100K"));
	assert_false(PARSE("K"));
	assert_false(PARSE(""));
}

static void test_command(void **state)
{
	char out[PROC_COMMAND], args[] = "/usr/bin/python3\0a b\0\0--x\0\0", noise[4000];

	(void)state;
	proc_command_parse(args, sizeof(args), out);
	assert_string_equal(out, "/usr/bin/python3 a b  --x");
	proc_command_parse(args, 0, out);
	assert_string_equal(out, "");
	proc_command_parse((char[]) {" \0"}, 2, out);
	assert_string_equal(out, "");
	proc_command_parse((char[]) {"\033[2J\n\302\2331m\377"}, 10, out);
	assert_string_equal(out, "?[2J???1m?");
	memset(noise, 'x', sizeof(noise));
	proc_command_parse(noise, sizeof(noise), out);
	assert_int_equal(strlen(out), PROC_COMMAND - 1);
	assert_string_equal(out + PROC_COMMAND - 5, "x...");
	srand(5);
	for (int round = 0; round < 20000; round++) {
		size_t n = (size_t)rand() % (PROC_COMMAND + 9);

		for (size_t i = 0; i < n; i++)
			noise[i] = (char)rand();
		proc_command_parse(noise, n, out);
		for (const char *p = out; *p; p++)
			assert_true((unsigned char)*p >= ' ' && *p != 0x7f);
	}
}

/* A child that burns CPU time, or one that sleeps. */
static pid_t child(bool burns)
{
	pid_t pid = fork();

	if (pid == 0) {
		signal(SIGTERM, SIG_DFL);
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* also where the test fails */
		for (;;)
			if (!burns)
				pause();
	}
	return pid;
}

static const struct proc *get(struct procs *p, int pid)
{
	const struct procs_list *l = procs_read(p);

	assert_non_null(l);
	for (size_t i = 0; i < l->n; i++)
		if (l->procs[i].pid == pid)
			return &l->procs[i];
	return NULL;
}

static void test_cpu_and_signals(void **state)
{
	struct err e;
	struct root *root = root_open("/", &e);
	struct procs *p = procs_open(root, &e);
	pid_t burner = child(true), sleeper = child(false);
	const struct proc *found;
	uint64_t start;
	int status;

	(void)state;
	found = get(p, getpid());
	assert_non_null(found);
	assert_true(found->self && isnan(found->cpu) && !found->kernel);
	assert_non_null(strstr(found->command, "test-procs"));
	assert_true(found->age_s >= 0 && found->age_s < 600);
	found = get(p, sleeper);
	assert_non_null(found);
	start = found->start;
	/* On any machine, however busy, the CPU use is eventually visible. */
	double most = 0;
	for (int i = 0; i < 100 && most < 5; i++) {
		nanosleep(&(struct timespec) {0, 200000000}, NULL);
		found = get(p, burner);
		assert_non_null(found);
		most = found->cpu > most ? found->cpu : most;
	}
	assert_true(most >= 5);
	found = get(p, sleeper);
	assert_true(found->cpu >= 0 && found->cpu < 50);

	/* A different process with that pid: not signalled. */
	assert_int_equal(procs_signal(sleeper, start + 1, SIGKILL, &e), -1);
	assert_int_equal(waitpid(sleeper, &status, WNOHANG), 0);
	assert_int_equal(procs_signal(sleeper, start, SIGTERM, &e), 0);
	assert_int_equal(waitpid(sleeper, &status, 0), sleeper);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	assert_int_equal(procs_signal(sleeper, start, SIGTERM, &e), -1);
	kill(burner, SIGKILL);
	waitpid(burner, &status, 0);
	procs_close(p);
	root_close(root);
}

/* A job reads processes in the background; one still running is abandoned. */
static void test_job(void **state)
{
	const struct procs_list *l;
	struct err e;
	struct root *root = root_open("/", &e);
	struct procs *p = procs_open(root, &e);

	(void)state;
	l = procs_poll(p);
	assert_int_equal(l->n, 0);
	assert_int_equal(l->serial, 0);
	for (int i = 0; i < 1000 && l->serial < 2; i++) {
		nanosleep(&(struct timespec) {0, 20000000}, NULL);
		l = procs_poll(p);
	}
	assert_true(l->serial >= 2 && l->n > 0);
	procs_close(p);
	p = procs_open(root, &e);
	procs_poll(p);
	procs_close(p);
	root_close(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stat),  cmocka_unit_test(test_stat_that_is_none),
		cmocka_unit_test(test_nvmap), cmocka_unit_test(test_command),
		cmocka_unit_test(test_cpu_and_signals),
		cmocka_unit_test(test_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
