/* The library that NVTX loads into a program: what it writes, and that it is harmless.  Each case runs
 * in a process of its own, with a folder of its own; this process is the recorder. */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include "../nvtx/nvtx-file.h"
#include "../nvtx/nvtx-load.h"

static char folder[64], library[512], text[1 << 16];
static int recorder = -1; /* holds the lock of a recorder */
static int others_calls;

/* Another injection library is in front of ours. */
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(const void *(*get)(uint32_t));
int InitializeInjectionNvtx2(const void *(*get)(uint32_t))
{
	return get && ++others_calls;
}

#define must(what)                                                                                           \
	do {                                                                                                 \
		if (!(what)) {                                                                               \
			fprintf(stderr, "# line %d: %s\n", __LINE__, #what);                                 \
			_exit(1);                                                                            \
		}                                                                                            \
	} while (0)

static int setup(void **state)
{
	const char *program = getenv("NVMTOP");
	(void)state;
	strcpy(folder, "/tmp/nvmtop-test-nvtx-XXXXXX");
	if (!program || strlen(program) < 11 || !mkdtemp(folder))
		return -1;
	snprintf(library, sizeof library, "%.*s/libnvmtop-nvtx.so", (int)strlen(program) - 11, program);
	recorder = nvtx_file_recorder(folder, 1);
	setenv("NVMTOP_NVTX_DIR", folder, 1);
	setenv("NVMTOP_NVTX", "all", 1);
	return recorder < 0;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	close(recorder);
	snprintf(command, sizeof command, "rm -rf %s", folder);
	return system(command);
}

/* Runs it in a child and returns how that ended. */
static int in_child(void (*run)(void))
{
	int status;
	pid_t pid;

	fflush(NULL);
	if (!(pid = fork())) {
		close(recorder);
		run();
		exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void print(const struct nvtx_record *r, void *data)
{
	void *const *of = data;

	nvtx_file_print(of[0], r, of[1]);
}

/* The n-th file, mapped; NULL: there is none. */
static struct nvtx_head *nth(int n)
{
	char path[400];

	return nvtx_file_path(folder, n, path, sizeof path) ? nvtx_file_open(path) : NULL;
}

/* The records of a file as text. */
static const char *records(struct nvtx_head *h)
{
	FILE *f = (*text = 0, fmemopen(text, sizeof text, "w"));
	void *of[] = {h, f};

	assert_non_null(h);
	nvtx_file_drain(h, print, of);
	fclose(f);
	return text;
}

static const char *names(struct nvtx_head *h)
{
	FILE *f = (*text = 0, fmemopen(text, sizeof text, "w"));

	nvtx_file_notes(h, f);
	fclose(f);
	return text;
}

static void load(void)
{
	must(nvtx_load(library));
}

/* Each call of both modules */

static void calls(void)
{
	struct nvtx_attr a = {.version = 3,
			      .size = sizeof a,
			      .colour_type = 1,
			      .colour = 0xff00ff00,
			      .payload_type = ATTR_DOUBLE,
			      .message_type = 1,
			      .message.text = "attr"};
	struct nvtx_attr small = {.version = 3, .size = 24, .message_type = 1, .message.text = "unseen"};
	struct nvtx_attr w = {.version = 3,
			      .size = sizeof w,
			      .message_type = 2,
			      .message.wide = L"\x00fc\x20ac\x1f600\xd800"};
	int out = open("/dev/null", O_RDWR), before[2] = {dup(1), dup(2)}, pipes[2];
	uint64_t id, id2;
	void *d, *s;
	char c;

	load();
	/* it prints nothing */
	must(pipe2(pipes, O_NONBLOCK) == 0 && out >= 0 && dup2(pipes[1], 1) == 1 && dup2(pipes[1], 2) == 2);
#define same(call)                                                                                           \
	do {                                                                                                 \
		errno = 4711;                                                                                \
		call;                                                                                        \
		must(errno == 4711);                                                                         \
	} while (0)
	a.payload.f64 = 1.0;
	same(must(nvtx.push_a("a") == 0));
	same(must(nvtx.push_w(L"w") == 1));
	same(must(nvtx.push_ex(&a) == 2));
	same(must(nvtx.push_ex(&small) == 3));
	same(must(nvtx.push_ex(NULL) == 4));
	same(d = nvtx.domain_a("D"));
	must(d && d == nvtx.domain_w(L"D") && d != nvtx.domain_a("E"));
	same(s = nvtx.register_a(d, "registered"));
	must(s && s == nvtx.register_w(d, L"registered"));
	w.payload_type = ATTR_I32;
	w.payload.u64 = 0x1234567800000007;
	w.category = 9;
	same(must(nvtx.domain_push(d, &w) == 0));
	w.message_type = 3;
	w.message.registered = s;
	w.payload_type = (int32_t)0xDFBD0009;
	same(must(nvtx.domain_push(d, &w) == 1));
	same(nvtx.domain_mark(d, &w));
	same(must(nvtx.domain_pop(d) == 1));
	for (int i = 4; i >= 0; i--)
		same(must(nvtx.pop() == i));
	same(must(nvtx.pop() < 0));
	same(must(nvtx.domain_pop(d) == 0));
	must(nvtx.domain_pop(d) < 0 && nvtx.domain_pop(NULL) < 0);
	same(nvtx.mark_a("ma"));
	same(nvtx.mark_w(L"mw"));
	same(nvtx.mark_ex(&a));
	same(id = nvtx.start_a("sa"));
	same(id2 = nvtx.start_w(L"sw"));
	must(id && id2 && id != id2);
	same(nvtx.end(id));
	same(nvtx.end(id2));
	same(id = nvtx.start_ex(&a));
	same(nvtx.end(id));
	same(id = nvtx.domain_start(d, &a));
	same(nvtx.domain_end(d, id));
	same(nvtx.category_a(1, "c"));
	same(nvtx.category_w(2, L"\xe7"));
	same(nvtx.domain_category_a(d, 1, "c"));
	same(nvtx.domain_category_w(d, 2, L"\xe7"));
	same(nvtx.thread_a(77, "thread"));
	same(nvtx.thread_w(78, L"thr\xe9"
			       L"ad"));
	same(must(!nvtx.resource(d, &a)));
	same(nvtx.resource_end(NULL));
	same(nvtx.domain_destroy(d));
	same(nvtx.initialize(NULL));
	dup2(before[0], 1);
	dup2(before[1], 2);
	must(read(pipes[0], &c, 1) < 0);
}

static void test_calls(void **state)
{
	struct nvtx_head *h;

	(void)state;
	assert_int_equal(in_child(calls), 0);
	h = nth(0);
	assert_string_equal(records(h), "push 0 a\n"
					"push 0 w\n"
					"push 0 attr ff00ff00 3:3ff0000000000000\n"
					"push 0 -\n"
					"push 0 -\n"
					"push 1 ü€😀\xef\xbf\xbd #9 2:7\n"
					"push 1 registered #9\n"
					"mark 1 registered #9\n"
					"pop 1\n"
					"pop 0\npop 0\npop 0\npop 0\npop 0\n"
					"pop 1\n"
					"mark 0 ma\nmark 0 mw\n"
					"mark 0 attr ff00ff00 3:3ff0000000000000\n"
					"start 0 sa\nstart 0 sw\nend 0\nend 0\n"
					"start 0 attr ff00ff00 3:3ff0000000000000\nend 0\n"
					"start 1 attr ff00ff00 3:3ff0000000000000\nend 1\n");
	assert_string_equal(names(h), "domain 1 D\ndomain 2 E\n"
				      "category 0 c #1\ncategory 0 ç #2\ncategory 1 c #1\ncategory 1 ç #2\n"
				      "thread 0 thread #77\nthread 0 thréad #78\n");
	assert_string_equal(nvtx_file_string(h, h->name), "test-nvtx");
	assert_int_equal(h->process.size, sizeof *h);
	assert_null(nth(1));
}

/* A name of any length, and the END of another thread */

static uint64_t passed;

static void *ends(void *unused)
{
	nvtx.end(passed);
	return unused;
}

static void long_names(void)
{
	char name[5000];
	pthread_t id;

	load();
	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = 0;
	nvtx.push_a(name);
	nvtx.pop();
	nvtx.push_a("");
	nvtx.pop();
	passed = nvtx.start_a("other thread");
	must(pthread_create(&id, NULL, ends, NULL) == 0 && pthread_join(id, NULL) == 0);
}

static uint64_t id_of_start;

static void check_long(const struct nvtx_record *r, void *data)
{
	struct nvtx_head *h = data;

	if (r->kind == NVTX_PUSH)
		assert_true(strlen(nvtx_file_string(h, r->name)) == NVTX_NAME ||
			    !*nvtx_file_string(h, r->name));
	if (r->kind == NVTX_START)
		id_of_start = (uint64_t)r->tid << 32 | r->id;
	if (r->kind == NVTX_END)
		assert_int_equal((uint64_t)r->tid << 32 | r->id, id_of_start);
}

static void test_long(void **state)
{
	struct nvtx_head *h;

	(void)state;
	assert_int_equal(in_child(long_names), 0);
	h = nth(0);
	assert_int_equal(nvtx_file_drain(h, check_long, h), 6);
	assert_int_equal(h->rings, 2);
}

/* libnvToolsExt.so.1, and another library in front with the same symbols */

static void version_2(void)
{
	must(nvtx_load_2(library));
	must(nvtx.push_a("two") == 0 && nvtx.pop() == 0 && !others_calls);
}

static void test_version_2(void **state)
{
	(void)state;
	assert_int_equal(in_child(version_2), 0);
	assert_string_equal(records(nth(0)), "push 0 two\npop 0\n");
}

static void other(void)
{
	int (*init)(const void *(*)(uint32_t)) = NULL;

	*(void **)&init = dlsym(RTLD_DEFAULT, "InitializeInjectionNvtx2");
	must(init && init(nvtx_export) && others_calls == 1 && !nvtx.push_a);
	load();
	must(others_calls == 1 && nvtx.push_a && nvtx.push_a("ours") == 0);
}

static void test_other(void **state)
{
	(void)state;
	assert_int_equal(in_child(other), 0);
	assert_string_equal(records(nth(0)), "push 0 ours\n");
}

/* Each dynamic object has tables of its own. */
static void objects(void)
{
	struct nvtx_calls first;

	load();
	first = nvtx;
	memset(&nvtx, 0, sizeof nvtx);
	load();
	must(first.push_a("first") == 0 && nvtx.push_a("second") == 1 && first.pop() == 1 && nvtx.pop() == 0);
}

static void test_objects(void **state)
{
	(void)state;
	assert_int_equal(in_child(objects), 0);
	assert_string_equal(records(nth(0)), "push 0 first\npush 0 second\npop 0\npop 0\n");
	assert_null(nth(1));
}

/* A recorder that comes and goes */

static void recorders(void)
{
	struct nvtx_head *h;

	load();
	h = nth(0);
	must(h && !h->reading);
	must(nvtx.push_a("before") == 0 && !h->rings);
	h->reading = 1;
	must(nvtx.push_a("seen") == 1 && nvtx.pop() == 1 && nvtx.pop() == 0);
	must(nvtx.push_a("open") == 0);
	must(!strcmp(records(h), "push 0 seen\npop 0\npush 0 open\n"));
	h->reading = 0;
	must(nvtx.push_a("after") == 1 && nvtx.pop() == 1 && nvtx.pop() == 0);
	must(!strcmp(records(h), ""));
	nvtx.end(nvtx.start_a("after"));
	nvtx.mark_a("after");
	must(!strcmp(records(h), ""));
}

static void test_recorders(void **state)
{
	(void)state;
	flock(recorder, LOCK_UN);
	assert_int_equal(in_child(recorders), 0);
	assert_null(nth(0)); /* nothing is to be read */
}

/* A full ring: each pop that is there belongs to the push before it. */

static uint64_t pushes, pops;
static int level, deepest;

static void nests(const struct nvtx_record *r, void *data)
{
	(void)data;
	if (r->kind == NVTX_PUSH) {
		pushes++;
		level++;
	} else if (r->kind == NVTX_POP) {
		pops++;
		level--;
	}
	deepest = level > deepest ? level : deepest;
	if (level < 0)
		fail_msg("a pop without push");
}

static void full(void)
{
	load();
	for (int i = 0; i < 100; i++)
		nvtx.push_a("outer");
	for (int i = 0; i < 50000; i++) {
		nvtx.push_a("inner");
		nvtx.pop();
	}
	for (int i = 99; i >= 0; i--)
		must(nvtx.pop() == i);
}

static void test_full(void **state)
{
	struct nvtx_head *h;

	(void)state;
	assert_int_equal(in_child(full), 0);
	h = nth(0);
	pushes = pops = 0;
	level = deepest = 0;
	nvtx_file_drain(h, nests, NULL);
	assert_int_equal(pushes, pops);
	assert_int_equal(deepest, 101);
	assert_true(pushes > 10000);
	assert_int_equal(pushes + h->lost[NVTX_LOST_FULL], 50100);
}

/* More levels than it remembers one by one, and more than a ring has places for */
static void deep(void)
{
	load();
	for (int i = 0; i < 3000; i++)
		must(nvtx.push_a("deep") == i);
	for (int i = 2999; i >= 0; i--)
		must(nvtx.pop() == i);
}

static void too_deep(void)
{
	load();
	for (int i = 0; i < 40000; i++)
		must(nvtx.push_a("deep") == i);
	for (int i = 39999; i >= 0; i--)
		must(nvtx.pop() == i);
	must(nvtx.push_a("after") == 0 && nvtx.pop() == 0);
}

static void test_deep(void **state)
{
	struct nvtx_head *h;

	(void)state;
	assert_int_equal(in_child(deep), 0);
	pushes = pops = 0;
	level = deepest = 0;
	nvtx_file_drain(nth(0), nests, NULL);
	assert_true(pushes == 3000 && pops == 3000 && deepest == 3000);
	teardown(NULL);
	setup(NULL);
	assert_int_equal(in_child(too_deep), 0);
	h = nth(0);
	pushes = pops = 0;
	level = deepest = 0;
	nvtx_file_drain(h, nests, NULL);
	assert_true(pushes == pops && deepest > 10000);
	assert_int_equal(pushes + h->lost[NVTX_LOST_FULL] + h->lost[NVTX_LOST_DEPTH], 40001);
}

/* Processes */

static void forks(void)
{
	struct nvtx_attr a = {.version = 3, .size = sizeof a, .message_type = 3};
	int status;
	void *d;

	load();
	d = nvtx.domain_a("D");
	a.message.registered = nvtx.register_a(d, "known before");
	must(nvtx.push_a("parent") == 0);
	for (int i = 0; i < 20000; i++) { /* more strings than the parent had at first */
		char name[40];

		snprintf(name, sizeof name, "many names, %d", i);
		(void)nvtx.register_a(d, name);
	}
	if (!fork()) {
		must(nvtx.domain_push(d, &a) == 0 && nvtx.domain_pop(d) == 0);
		must(nvtx.domain_a("D") == d && nvtx.pop() < 0); /* what is open belongs to the parent */
		must(nvtx.push_a("many names, 19999") == 0);
		if (!fork()) {
			must(nvtx.pop() < 0 && nvtx.push_a("grandchild") == 0);
			exit(0);
		}
		must(wait(&status) > 0 && !status);
		nvtx.pop();
		exit(0);
	}
	must(wait(&status) > 0 && !status);
	must(nvtx.pop() == 0);
}

static void test_forks(void **state)
{
	char all[1024] = "";

	(void)state;
	assert_int_equal(in_child(forks), 0);
	for (int i = 0; i < 3; i++) {
		strcat(all, records(nth(i)));
		strcat(all, names(nth(i)));
	}
	/* in the order of their numbers, which is that of their names if these have one length */
	assert_non_null(strstr(all, "push 0 parent\npop 0\ndomain 1 D\n"));
	assert_non_null(
		strstr(all, "push 1 known before\npop 1\npush 0 many names, 19999\npop 0\ndomain 1 D\n"));
	assert_non_null(strstr(all, "push 0 grandchild\ndomain 1 D\n"));
	assert_null(nth(3));
}

static bool left_out(bool yes, const char *why)
{
	if (yes)
		print_message("# left out: %s\n", why);
	return yes;
}

/* The emulator does not follow exec(). */
static bool emulated(void)
{
	const char *emulator = getenv("EMU");

	return left_out(emulator && *emulator, "this machine emulates another one");
}

static void execs(void)
{
	load();
	nvtx.push_a("before exec");
	execl("/proc/self/exe", "test-nvtx", "exec", library, NULL);
	_exit(1);
}

static void test_exec(void **state)
{
	(void)state;
	if (emulated())
		return;
	assert_int_equal(in_child(execs), 0);
	assert_string_equal(records(nth(0)), "push 0 before exec\n");
	assert_string_equal(records(nth(1)), "push 0 after exec\npop 0\n");
	assert_null(nth(2));
}

static void execs_idle(void)
{
	load();
	execl("/proc/self/exe", "test-nvtx", "exec-idle", library, NULL);
	_exit(1);
}

static void test_exec_idle(void **state)
{
	(void)state;
	if (emulated())
		return;
	flock(recorder, LOCK_UN);
	assert_int_equal(in_child(execs_idle), SIGKILL);
	assert_non_null(nth(0)); /* only that of the second program */
	assert_null(nth(1));
}

static void killed(void)
{
	load();
	nvtx.push_a("killed");
	raise(SIGKILL);
}

static void nothing(void)
{
	load();
}

static void test_killed(void **state)
{
	char path[400];

	(void)state;
	assert_int_equal(in_child(killed), SIGKILL);
	assert_int_equal(in_child(nothing), 0);
	assert_non_null(nth(1)); /* a recorder is there: it is the one that removes them */
	assert_true(nvtx_file_path(folder, 1, path, sizeof path));
	unlink(path);
	flock(recorder, LOCK_UN);
	assert_int_equal(in_child(nothing), 0);
	assert_null(nth(0));
}

static void lives_on(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* also where the test fails */
	load();
	nvtx.push_a("lives");
	while (1)
		pause();
}

/* So few that it cannot look at all other files: it takes no program for dead. */
static bool few_descriptors(rlim_t most)
{
	struct rlimit few;
	pid_t pid = fork();
	int status;

	if (pid)
		return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	if (getrlimit(RLIMIT_NOFILE, &few) < 0 || (few.rlim_cur = most, setrlimit(RLIMIT_NOFILE, &few)) < 0)
		_exit(1);
	nvtx_load(library);
	raise(SIGKILL); /* no leak check without descriptors */
	return false;
}

/* One of the files is that of this process. */
static bool has_file(pid_t pid)
{
	struct nvtx_head *h;
	bool has = false;

	for (int n = 0; !has && (h = nth(n)); n++) {
		has = h->process.pid == (uint64_t)pid;
		munmap(h, NVTX_FILE_SIZE);
	}
	return has;
}

static void test_few_descriptors(void **state)
{
	bool good = true;
	pid_t lives;

	(void)state;
	fflush(NULL);
	if (!(lives = fork())) {
		close(recorder);
		lives_on();
	}
	assert_true(lives > 0);
	while (!has_file(lives)) {
		assert_int_equal(waitpid(lives, NULL, WNOHANG), 0);
		usleep(1000);
	}
	flock(recorder, LOCK_UN);
	for (rlim_t most = 1; most < 32; most++)
		good = good && few_descriptors(most) && has_file(lives);
	kill(lives, SIGKILL);
	assert_int_equal(waitpid(lives, NULL, 0), lives);
	assert_true(good);
}

/* A program with more rights than its user */
static void test_setuid(void **state)
{
	char copy[128], command[1200];
	int status;

	(void)state;
	if (emulated())
		return;
	snprintf(copy, sizeof copy, "%s/secure", folder);
	snprintf(command, sizeof command, "cp /proc/%d/exe %s && chmod 755 %s %s && %s plain %s",
		 (int)getpid(), copy, copy, folder, copy, library);
	status = system(command);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	if (left_out(geteuid() != 0 || chown(copy, 65534, 65534) || chmod(copy, 04755), "only root makes setuid programs"))
		return;
	snprintf(command, sizeof command, "chmod 777 %s && rm -f %s/nvtx-*[0-9] && %s secure %s", folder,
		 folder, copy, library);
	status = system(command);
	if (left_out(WIFEXITED(status) && WEXITSTATUS(status) == 77, "no setuid programs here"))
		return;
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	assert_null(nth(0));
}

/* Threads */

static void *short_thread(void *tid)
{
	*(pid_t *)tid = (pid_t)syscall(SYS_gettid);
	nvtx.push_a("short");
	nvtx.pop();
	return NULL;
}

static void ending_threads(void)
{
	pthread_t id;
	pid_t tid;

	load();
	for (int i = 0; i < 1000; i++) {
		must(pthread_create(&id, NULL, short_thread, &tid) == 0 && pthread_join(id, NULL) == 0);
		/* joined a moment before the kernel forgets it */
		while (syscall(SYS_tgkill, getpid(), tid, 0) == 0)
			sched_yield();
	}
}

static uint32_t last_tid;

static void tids(const struct nvtx_record *r, void *data)
{
	*(int *)data += r->tid != last_tid;
	last_tid = r->tid;
}

static void test_ending_threads(void **state)
{
	struct nvtx_head *h;
	int different = 0;

	(void)state;
	assert_int_equal(in_child(ending_threads), 0);
	h = nth(0);
	assert_int_equal(h->rings, 1);
	assert_int_equal(nvtx_file_drain(h, tids, &different), 2000);
	assert_true(different > 1);
}

/* The threads of a program outlive what loaded the library. */
static void *after_close(void *handle)
{
	nvtx.push_a("before");
	dlclose(handle);
	nvtx.pop();
	return NULL;
}

static void closes(void)
{
	void *handle = dlopen(library, RTLD_LAZY);
	pthread_t id;

	load();
	dlclose(handle);
	handle = dlopen(library, RTLD_LAZY);
	must(pthread_create(&id, NULL, after_close, handle) == 0 && pthread_join(id, NULL) == 0);
	nvtx.push_a("main");
}

static void test_closes(void **state)
{
	(void)state;
	assert_int_equal(in_child(closes), 0);
	assert_string_equal(records(nth(0)), "push 0 before\npop 0\npush 0 main\n");
}

/* Eight threads and a reader in one process, for sanitizers; NVTX_TEST_RANGES sets the number of ranges. */

enum { THREADS = 8 };
static long ranges = 80000;
static atomic_int running;
static atomic_long written, seen;
static long got[THREADS][2], wrong;

static void *work(void *arg)
{
	long me = (long)(intptr_t)arg;
	char name[64];
	void *d = nvtx.domain_a("worker");
	struct nvtx_attr a = {.version = 3, .size = sizeof a, .message_type = 1, .payload_type = ATTR_U64};

	a.message.text = name;
	for (long i = 0; i < ranges / THREADS; i++) {
		snprintf(name, sizeof name, "range %ld of any thread", i % 1000);
		a.payload.u64 = (uint64_t)me << 32 | (uint64_t)(i % 1000);
		nvtx.domain_push(d, &a);
		nvtx.domain_pop(d);
		if (i % 500 == 499)
			for (written += 500; written - seen > 2000;) /* so that no ring is ever full */
				sched_yield();
	}
	running--;
	return NULL;
}

static void checks(const struct nvtx_record *r, void *data)
{
	char name[64];

	if (r->kind == NVTX_POP) {
		got[0][1]++;
		seen++;
		return;
	}
	snprintf(name, sizeof name, "range %u of any thread", (unsigned)r->value);
	got[r->value >> 32 & 7][0]++;
	wrong += r->kind != NVTX_PUSH || strcmp(name, nvtx_file_string(data, r->name)) != 0;
}

static void eight(void)
{
	pthread_t id[THREADS];
	struct nvtx_head *h;
	long sum = 0;

	load();
	must((h = nth(0)));
	running = THREADS;
	for (long i = 0; i < THREADS; i++)
		must(pthread_create(&id[i], NULL, work, (void *)(intptr_t)i) == 0);
	while (running)
		nvtx_file_drain(h, checks, h);
	for (int i = 0; i < THREADS; i++)
		pthread_join(id[i], NULL);
	nvtx_file_drain(h, checks, h);
	for (int i = 0; i < THREADS; i++) {
		must(got[i][0] > 0);
		sum += got[i][0];
	}
	must(!wrong && sum == got[0][1] && !h->lost[NVTX_LOST_FULL] && sum == ranges / THREADS * THREADS && !h->lost[NVTX_LOST_NAME]);
	must(h->strings < 60000 && h->rings <= THREADS); /* each name once, but for races */
}

static void test_eight(void **state)
{
	(void)state;
	if (getenv("NVTX_TEST_RANGES"))
		ranges = atol(getenv("NVTX_TEST_RANGES"));
	assert_int_equal(in_child(eight), 0);
}

/* A signal handler that marks ranges, too */

static void handler(int signal)
{
	int before = nvtx.push_a("handler");

	(void)signal;
	if (nvtx.pop() != before)
		_exit(2);
}

static void signals(void)
{
	struct itimerval often = {{0, 50}, {0, 50}};
	struct nvtx_head *h;

	load();
	must((h = nth(0)));
	signal(SIGPROF, handler);
	must(setitimer(ITIMER_PROF, &often, NULL) == 0);
	pushes = pops = 0;
	level = 0;
	for (int i = 0; i < 300000; i++) {
		must(nvtx.push_a("main") == 0 && nvtx.push_a("nested") == 1);
		must(nvtx.pop() == 1 && nvtx.pop() == 0);
		if (i % 4000 == 0)
			nvtx_file_drain(h, nests, NULL);
	}
	signal(SIGPROF, SIG_IGN);
	nvtx_file_drain(h, nests, NULL);
	must(pushes == pops && pushes >= 600000 && h->lost[NVTX_LOST_FULL] == 0);
}

static void test_signals(void **state)
{
	(void)state;
	assert_int_equal(in_child(signals), 0);
}

/* What is chosen, and how much of it */

static void chosen(void)
{
	struct nvtx_attr a = {.version = 3, .size = sizeof a, .message_type = 1, .message.text = "x"};
	const char *const all[] = {"A", "AB", "B"};

	load();
	must(nvtx.push_a("default") == 0 && nvtx.pop() == 0);
	for (int i = 0; i < 3; i++) {
		void *d = nvtx.domain_a(all[i]);

		must(nvtx.domain_push(d, &a) == 0 && nvtx.domain_pop(d) == 0);
		nvtx.domain_end(d, nvtx.domain_start(d, &a));
	}
}

static void test_chosen(void **state)
{
	(void)state;
	setenv("NVMTOP_NVTX", "A,B", 1);
	assert_int_equal(in_child(chosen), 0);
	assert_string_equal(records(nth(0)),
			    "push 1 x\npop 1\nstart 1 x\nend 1\npush 3 x\npop 3\nstart 3 x\nend 3\n");
	setenv("NVMTOP_NVTX", "default", 1);
	teardown(NULL);
	setup(NULL);
	setenv("NVMTOP_NVTX", "default", 1);
	assert_int_equal(in_child(chosen), 0);
	assert_string_equal(records(nth(0)), "push 0 default\npop 0\n");
}

static int64_t second;
static int in_second, most;

static void seconds(const struct nvtx_record *r, void *data)
{
	(void)data;
	if (r->t / 1000000000 != second) {
		second = r->t / 1000000000;
		in_second = 0;
	}
	in_second += r->kind == NVTX_PUSH;
	most = in_second > most ? in_second : most;
	pushes += r->kind == NVTX_PUSH;
	pops += r->kind == NVTX_POP;
}

static void flood(void)
{
	struct nvtx_head *h;

	load();
	must((h = nth(0)));
	pushes = pops = 0;
	for (int i = 0; i < 1000000; i++) {
		nvtx.push_a("flood");
		nvtx.pop();
		if (i % 5000 == 0)
			nvtx_file_drain(h, seconds, NULL);
	}
	nvtx_file_drain(h, seconds, NULL);
	must(most <= NVTX_RATE && pushes >= NVTX_RATE && pushes == pops);
	must(pushes + h->lost[NVTX_LOST_RATE] + h->lost[NVTX_LOST_FULL] == 1000000);
}

static void test_flood(void **state)
{
	(void)state;
	unsetenv("NVMTOP_NVTX");
	assert_int_equal(in_child(flood), 0);
}

/* Names that never come twice: those with numbers of emit_nvtx lose these, others their name. */

static const char *last_name;

static void keep_name(const struct nvtx_record *r, void *data)
{
	if (r->kind == NVTX_PUSH)
		last_name = nvtx_file_string(data, r->name);
}

static void many(void)
{
	struct nvtx_head *h;
	char name[128];

	load();
	must((h = nth(0)));
	for (int i = 0; i < 1500000; i++) {
		snprintf(name, sizeof name, i < 300000 ? "aten::mm, seq = %d, op_id = 5" : "name %d", i);
		nvtx.push_a(name);
		nvtx.pop();
		if (i % 5000 == 0)
			nvtx_file_drain(h, keep_name, h);
		if (i == 1000)
			must(!strncmp(last_name, "aten::mm, seq = ", 16));
		if (i == 299999) {
			nvtx_file_drain(h, keep_name, h);
			must(!strcmp(last_name, "aten::mm") && !h->lost[NVTX_LOST_NAME]);
		}
	}
	nvtx.push_a("aten::mm, op_id = 5");
	nvtx_file_drain(h, keep_name, h);
	must(!strcmp(last_name, "aten::mm") && h->lost[NVTX_LOST_NAME] > 100000 && h->strings <= NVTX_STRINGS);
}

static void test_many(void **state)
{
	(void)state;
	assert_int_equal(in_child(many), 0);
}

static void domains_full(void)
{
	struct nvtx_attr a = {.version = 3, .size = sizeof a, .message_type = 1, .message.text = "x"};
	struct nvtx_head *h;
	char name[32];
	void *d = NULL;

	load();
	must((h = nth(0)));
	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof name, "domain %d", i);
		d = nvtx.domain_a(name);
		must(nvtx.domain_push(d, &a) == 0 && nvtx.domain_pop(d) == 0);
	}
	must(h->lost[NVTX_LOST_DOMAINS] == 5000 - (NVTX_DOMAINS - 3));
}

static void test_domains_full(void **state)
{
	(void)state;
	assert_int_equal(in_child(domains_full), 0);
	pushes = pops = 0;
	level = 0;
	assert_int_equal(nvtx_file_drain(nth(0), nests, NULL), 2 * (NVTX_DOMAINS - 3));
}

/* No place */

static void no_folder(void)
{
	setenv("NVMTOP_NVTX_DIR", "/nonexistent/folder", 1);
	must(!nvtx_load(library) && !nvtx_load(library));
	setenv("NVMTOP_NVTX_DIR", folder, 1);
	must(!nvtx_load(library)); /* it is decided at the beginning */
}

static void relative_folder(void)
{
	setenv("NVMTOP_NVTX_DIR", "tmp", 1);
	must(!nvtx_load(library));
}

/* Without a file of its own, what is lost is counted in that of the recorder. */
static struct nvtx_recorder *counted(void)
{
	struct nvtx_recorder *page;
	char name[128];
	int fd;

	snprintf(name, sizeof name, "%s/%s", folder, NVTX_RECORDER);
	fd = open(name, O_RDWR | O_CLOEXEC);
	page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	must(page != MAP_FAILED && close(fd) == 0);
	return page;
}

static void lose(const struct nvtx_recorder *page, enum nvtx_lost cause)
{
	uint64_t before = page->lost[cause];
	int status;

	load();
	must(!nth(0) && nvtx.push_a("a") == 0 && nvtx.push_a("b") == 1 && nvtx.pop() == 1 && nvtx.pop() == 0);
	nvtx.end(nvtx.start_a("c"));
	nvtx.mark_a("d");
	must(page->lost[cause] == before + 4);
	if (!fork()) { /* a child is the same */
		must(nvtx.push_a("e") == 0 && nvtx.pop() == 0);
		exit(0);
	}
	must(wait(&status) > 0 && status == 0 && page->lost[cause] == before + 5);
}

static void small_files(void)
{
	struct rlimit few = {100000, RLIM_INFINITY};
	struct nvtx_recorder *page = counted();

	must(setrlimit(RLIMIT_FSIZE, &few) == 0);
	lose(page, NVTX_LOST_FSIZE);
}

/* All descriptors are taken between two calls of a parent, so that its child has none. */
static void no_descriptors(void)
{
	struct nvtx_recorder *page = counted();
	int status;

	load();
	must(nth(0) && nvtx.push_a("a") == 0);
	if (!fork()) {
		while (dup(0) >= 0)
			;
		must(nvtx.push_a("b") == 0 && nvtx.pop() == 0);
		_exit(page->lost[NVTX_LOST_NOFILE] != 1); /* no leak check without descriptors */
	}
	must(wait(&status) > 0 && status == 0);
}

static int put_text(const char *path, const char *what)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd >= 0 && write(fd, what, strlen(what)) > 0 && close(fd) == 0;
}

/* Mounts a file system of this size on the folder. */
static void small_disk(const char *size)
{
	char user[64], group[64];

	snprintf(user, sizeof user, "0 %u 1", (unsigned)getuid());
	snprintf(group, sizeof group, "0 %u 1", (unsigned)getgid());
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) || !put_text("/proc/self/setgroups", "deny") ||
	    !put_text("/proc/self/uid_map", user) || !put_text("/proc/self/gid_map", group) ||
	    mount("none", folder, "tmpfs", 0, size))
		_exit(77);
}

static void no_space(void)
{
	small_disk("size=100k");
	recorder = nvtx_file_recorder(folder, 1);
	lose(counted(), NVTX_LOST_SPACE);
}

static void no_recorder(void)
{
	small_disk("size=100k");
	must(!nvtx_load(library) && !nth(0));
}

static void little_space(void)
{
	struct nvtx_head *h;
	char name[32];

	small_disk("size=500k");
	load(); /* for the head, not for a ring */
	must((h = nth(0)));
	h->reading = 1;
	for (int i = 0; i < 5000; i++)
		must(nvtx.push_a("x") == 0 && nvtx.pop() == 0);
	must(h->lost[NVTX_LOST_SPACE] == 5000 && h->rings == 0);
	for (int i = 0; i < 100000; i++) {
		snprintf(name, sizeof name, "string %d", i);
		(void)nvtx.register_a(NULL, name);
	}
	must(h->lost[NVTX_LOST_NAME] > 0);
}

static void test_no_place(void **state)
{
	int status;

	(void)state;
	assert_int_equal(in_child(no_folder), 0);
	assert_int_equal(in_child(relative_folder), 0);
	assert_int_equal(in_child(small_files), 0);
	assert_int_equal(in_child(no_descriptors), 0);
	status = in_child(no_space);
	if (left_out(WIFEXITED(status) && WEXITSTATUS(status) == 77, "no file system can be mounted here"))
		return;
	assert_int_equal(status, 0);
	assert_int_equal(in_child(no_recorder), 0);
	assert_int_equal(in_child(little_space), 0);
}

/* Without a name for it, the folder of the marks' sockets, which must be this user's alone */
static void usual(void)
{
	unsetenv("NVMTOP_NVTX_DIR");
	setenv("XDG_RUNTIME_DIR", folder, 1);
	load();
}

static void usual_open(void)
{
	unsetenv("NVMTOP_NVTX_DIR");
	setenv("XDG_RUNTIME_DIR", folder, 1);
	must(!nvtx_load(library));
}

static void usual_killed(void)
{
	usual();
	raise(SIGKILL);
}

static void test_usual(void **state)
{
	char path[400], run[100];
	struct stat st;

	(void)state;
	snprintf(run, sizeof run, "%s/nvmtop", folder);
	assert_int_equal(in_child(usual_killed), SIGKILL);
	assert_true(stat(run, &st) == 0 && (st.st_mode & 07777) == 0700);
	assert_true(nvtx_file_path(run, 0, path, sizeof path));
	assert_true(stat(path, &st) == 0 && (st.st_mode & 07777) == 0600);
	chmod(run, 0755);
	assert_int_equal(in_child(usual_open), 0);
}

int main(int argc, char **argv)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_calls),        T(test_long),           T(test_version_2), T(test_other),
		T(test_objects),      T(test_recorders),      T(test_full),      T(test_deep),
		T(test_forks),        T(test_exec),           T(test_exec_idle), T(test_killed),
		T(test_few_descriptors), T(test_setuid),       T(test_ending_threads), T(test_closes),    T(test_eight),
		T(test_signals),      T(test_chosen),         T(test_flood),     T(test_many),
		T(test_domains_full), T(test_no_place),       T(test_usual),
	};

	if (argc == 3) { /* as another program: see above */
		if (!strcmp(argv[1], "secure") && !getauxval(AT_SECURE))
			return 77;
		if (!nvtx_load(argv[2]))
			_exit(3); /* no leak check, which cannot run with other rights */
		if (!strcmp(argv[1], "exec-idle"))
			raise(SIGKILL);
		nvtx.push_a("after exec");
		nvtx.pop();
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
