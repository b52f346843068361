/* The recorder's side of NVTX: files that the test writes in place of the library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nvtx/nvtx-ring.h"
#include "random.h"
#include "record/nvtx.h"

#define SIZE (NVTX_RINGS_AT + (size_t)8 * NVTX_RECORDS * sizeof(struct nvtx_record))

/* --- the program --- */

static char folder[64], path[128];
static struct nvtx_head *head;

static void string_put(uint32_t at, const char *text)
{
	char *p = (char *)head + NVTX_STRINGS_AT + at;
	uint32_t n = (uint32_t)strlen(text);

	memcpy(p, &n, 4);
	memcpy(p + 4, text, n + 1);
}

enum { RUN = 8, STEP = 24, DOMAIN = 48, PROGRAM = 64, THREAD = 80, ESCAPE = 96, LONG = 128 };

static uint64_t started(pid_t pid)
{
	char name[32], text[1024] = "", *p;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/stat", (int)pid);
	f = fopen(name, "r");
	assert_non_null(f);
	assert_non_null(fgets(text, sizeof(text), f));
	fclose(f);
	p = strrchr(text, ')');
	for (int i = 2; i < 22; i++)
		p = strchr(p + 1, ' ');
	return strtoull(p, NULL, 10);
}

static void note(uint32_t i, enum nvtx_kind kind, uint16_t domain, uint32_t number, uint32_t name)
{
	((struct nvtx_note *)(void *)((char *)head + NVTX_NOTES_AT))[i] =
		(struct nvtx_note) {.kind = (uint16_t)kind, .domain = domain, .number = number, .name = name};
}

/* The number of the recorder. */
static uint32_t number(void)
{
	struct nvtx_recorder page = {.reading = 0};
	char name[128];
	int fd;

	snprintf(name, sizeof(name), "%s/" NVTX_RECORDER, folder);
	fd = open(name, O_RDONLY);
	assert_true(fd >= 0 && read(fd, &page, sizeof(page)) == sizeof(page) && page.reading != 0);
	close(fd);
	return page.reading;
}

static void program_at(pid_t pid, int time, bool reading)
{
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/nvtx-%d-%d", folder, (int)pid, time);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0 && ftruncate(fd, (off_t)SIZE) == 0);
	head = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(head != MAP_FAILED);
	close(fd);
	head->process = (struct nvtx_process) {
		.version = NVTX_VERSION, .size = sizeof(*head), .pid = (uint64_t)pid, .start = started(pid)};
	assert_int_equal(stat("/proc/self/ns/pid", &st), 0);
	head->process.pid_ns = st.st_ino;
	head->reading = reading ? number() : 0;
	head->rings = 2;
	head->notes = 2;
	head->name = PROGRAM;
	note(0, NVTX_DOMAIN, 1, 0, DOMAIN);
	note(1, NVTX_THREAD, 0, 7, THREAD);
	string_put(RUN, "run");
	string_put(STEP, "step");
	string_put(DOMAIN, "copies");
	string_put(PROGRAM, "python3");
	string_put(THREAD, "loader");
	string_put(ESCAPE, "a\033[31mb");
	head->process.magic = NVTX_MAGIC;
}

static void program(pid_t pid, bool reading)
{
	program_at(pid, 9, reading);
}

static void program_end(void)
{
	munmap(head, SIZE);
	unlink(path);
}

static void put(unsigned ring, struct nvtx_record r)
{
	uint64_t at = head->ring[ring].written;
	struct nvtx_record *to = (void *)((char *)head + NVTX_RINGS_AT);

	to[ring * (size_t)NVTX_RECORDS + at % NVTX_RECORDS] = r;
	head->ring[ring].written = at + 1;
}

static void push(unsigned ring, int64_t t, uint16_t domain, uint32_t name)
{
	put(ring, (struct nvtx_record) {
			  .t = t, .kind = NVTX_PUSH, .domain = domain, .name = name, .tid = 7 + ring});
}

static void pop(unsigned ring, int64_t t, uint16_t domain)
{
	put(ring, (struct nvtx_record) {.t = t, .kind = NVTX_POP, .domain = domain, .tid = 7 + ring});
}

/* --- what came --- */

static struct range got[4096];
static size_t n_got, n_marks, n_changes;
static char marked[64], lost[256];

static void take_ranges(struct engine *to, const struct range *list, size_t n)
{
	(void)to;
	for (size_t i = 0; i < n; i++, n_got++) {
		assert_true(list[i].end_ns >= list[i].begin_ns && list[i].name && list[i].lane);
		if (n_got < 4096)
			got[n_got] = list[i];
	}
}

static uint64_t take_mark(struct engine *to, int64_t t_ns, const char *label)
{
	(void)to;
	(void)t_ns;
	n_marks++;
	snprintf(marked, sizeof(marked), "%s", label);
	return n_marks;
}

static void take_change(struct engine *to, const struct change *c)
{
	(void)to;
	n_changes++;
	assert_string_equal(c->what, "ranges.lost");
	assert_true(strlen(lost) + sizeof(c->to) < sizeof(lost));
	strcat(strcat(lost, c->to), ";");
}

static struct nvtx *recorder(void)
{
	static const struct nvtx_ops ops = {take_ranges, take_mark, take_change};
	struct err e;
	struct nvtx *n = nvtx_new(&ops, NULL, false, 0, NULL, &e);

	assert_non_null(n);
	n_got = n_marks = n_changes = 0;
	*lost = '\0';
	assert_int_equal(nvtx_take(n, &e), 0);
	return n;
}

static int set_up(void **state)
{
	(void)state;
	/* In memory where there is such a folder: most of the time would be the file system's. */
	snprintf(folder, sizeof(folder), "%s/nvtx-test-XXXXXX", access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp");
	assert_non_null(mkdtemp(folder));
	setenv("NVMTOP_NVTX_DIR", folder, 1);
	return 0;
}

static int tear_down(void **state)
{
	char name[128];

	(void)state;
	snprintf(name, sizeof(name), "%s/" NVTX_RECORDER, folder);
	unlink(name);
	assert_int_equal(rmdir(folder), 0);
	return 0;
}

static void ranges_of_a_thread(void **state)
{
	struct nvtx *n;
	int64_t t = clock_now_ns();

	(void)state;
	n = recorder();
	program(getpid(), true);
	push(0, t, 0, RUN);
	push(0, t + 10, 0, STEP);
	push(0, t + 15, 1, ESCAPE); /* another domain: its own lane */
	pop(0, t + 20, 0);
	pop(0, t + 25, 1);
	nvtx_poll(n, false);
	assert_int_equal(n_got, 2);
	assert_string_equal(got[0].name, "step");
	assert_true(got[0].begin_ns == t + 10 && got[0].end_ns == t + 20 && got[0].depth == 1);
	assert_true(got[0].lane->pid == (uint32_t)getpid() && got[0].lane->tid == 7);
	assert_string_equal(got[0].lane->process, "python3");
	assert_string_equal(got[0].lane->thread, "loader");
	assert_string_equal(got[0].lane->domain, "");
	assert_string_equal(got[1].lane->domain, "copies");
	assert_true(got[1].depth == 0 && !strchr(got[1].name, '\033'));
	pop(0, t + 30, 0);
	pop(0, t + 40, 0); /* of a range that began before */
	nvtx_poll(n, false);
	assert_int_equal(n_got, 3);
	assert_true(got[2].depth == 0 && got[2].lane == got[0].lane && got[2].flags == 0);
	string_put(LONG, "later"); /* than the strings were read */
	push(0, t + 50, 0, LONG);
	pop(0, t + 60, 0);
	nvtx_poll(n, false);
	assert_string_equal(got[3].name, "later");
	assert_true(head->ring[0].read == head->ring[0].written);
	nvtx_free(n);
	assert_int_equal(head->reading, 0);
	program_end();
}

static void start_and_end(void **state)
{
	struct nvtx *n = recorder();
	int64_t t = clock_now_ns();
	struct nvtx_record start = {.t = t, .kind = NVTX_START, .name = RUN, .tid = 8, .id = 77},
			   end = {.t = t + 50, .kind = NVTX_END, .tid = 8, .id = 77};

	(void)state;
	program(getpid(), true);
	put(0, end); /* this ring is read first */
	put(1, start);
	nvtx_poll(n, false);
	assert_int_equal(n_got, 1);
	assert_true(got[0].begin_ns == t && got[0].end_ns == t + 50 && got[0].depth == 0 &&
		    got[0].value == 0);
	assert_int_equal(got[0].lane->tid, 0);
	/* The start was written after its ring was read. */
	end.id = start.id = 78;
	put(0, end);
	nvtx_poll(n, false);
	put(1, start);
	nvtx_poll(n, false);
	assert_int_equal(n_got, 2);
	/* Another thread's of the same number; one with a payload, and in another domain than its end. */
	start.tid = 9;
	put(1, start);
	start.tid = end.tid = 8;
	start.payload = NVTX_UNSIGNED;
	start.value = 4;
	start.domain = 1;
	put(1, start);
	put(1, end);
	nvtx_poll(n, false);
	assert_int_equal(n_got, 3);
	assert_true(got[2].payload == RANGE_UNSIGNED && got[2].value == 4);
	nvtx_free(n);
	program_end();
}

static void categories(void **state)
{
	struct nvtx *n = recorder();
	int64_t t = clock_now_ns();

	(void)state;
	program(getpid(), true);
	put(0, (struct nvtx_record) {.t = t, .kind = NVTX_PUSH, .domain = 1, .name = RUN, .tid = 7, .category = 7});
	push(0, t, 1, STEP);
	pop(0, t + 1, 1);
	pop(0, t + 1, 1);
	nvtx_poll(n, false);
	assert_int_equal(n_got, 2);
	assert_null(got[0].category);
	assert_string_equal(got[1].category, "7");
	/* The name comes later, and one of another domain, and a thread of that number. */
	note(2, NVTX_CATEGORY, 1, 7, DOMAIN);
	note(3, NVTX_CATEGORY, 0, 7, RUN);
	head->notes = 4;
	for (uint16_t domain = 0; domain < 2; domain++) {
		put(0, (struct nvtx_record) {
			       .t = t + 2, .kind = NVTX_PUSH, .domain = domain, .name = STEP, .tid = 7, .category = 7});
		pop(0, t + 3, domain);
	}
	nvtx_poll(n, false);
	assert_int_equal(n_got, 4);
	assert_string_equal(got[2].category, "run");
	assert_string_equal(got[3].category, "copies");
	assert_string_equal(got[3].lane->thread, "loader");
	nvtx_free(n);
	program_end();
}

static void marks_and_payloads(void **state)
{
	struct nvtx *n = recorder();
	int64_t t = clock_now_ns();
	double d = 1.5;
	struct nvtx_record r = {.t = t, .kind = NVTX_MARK, .name = RUN};

	(void)state;
	program(getpid(), true);
	put(0, r);
	nvtx_poll(n, false);
	assert_string_equal(marked, "run");
	r.domain = 1;
	put(0, r);
	nvtx_poll(n, false);
	assert_string_equal(marked, "copies: run");
	r = (struct nvtx_record) {.t = t,
				  .kind = NVTX_PUSH,
				  .name = RUN,
				  .payload = NVTX_SIGNED,
				  .value = UINT64_MAX,
				  .colour = 0xff00ff00,
				  .tid = 7};
	put(0, r);
	pop(0, t, 0);
	r.payload = NVTX_FLOATING;
	memcpy(&r.value, &d, sizeof(d));
	put(0, r);
	pop(0, t, 0);
	r.payload = NVTX_FLOATING + 1; /* there is none such */
	put(0, r);
	pop(0, t, 0);
	nvtx_poll(n, false);
	assert_int_equal(n_got, 3);
	assert_true(got[2].payload == RANGE_NO_PAYLOAD && got[2].value == 0);
	assert_true(got[0].payload == RANGE_SIGNED && (int64_t)got[0].value == -1 &&
		    got[0].colour == 0xff00ff00);
	memcpy(&d, &got[1].value, sizeof(d));
	assert_true(got[1].payload == RANGE_DOUBLE && d > 1.4 && d < 1.6);
	for (int i = 0; i < 5000; i++)
		put(0, (struct nvtx_record) {.t = t, .kind = NVTX_MARK, .name = RUN});
	nvtx_poll(n, true);
	assert_in_range(n_marks, 1000, 2002);
	assert_int_equal(n_changes, 1);
	nvtx_free(n);
	program_end();
}

/* Without a descriptor it is not known whether a program lives, and it is not taken for dead: its file stays, and it is told
 * at the end that nobody reads it. */
static void without_descriptors(void **state)
{
	struct nvtx *n = recorder();
	int64_t t = clock_now_ns();
	struct rlimit most, none;
	int fd = dup(0);
	bool there;

	(void)state;
	program(getpid(), true);
	push(0, t, 0, RUN);
	nvtx_poll(n, false);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &most), 0);
	none = (struct rlimit) {(rlim_t)fd, most.rlim_max};
	close(fd);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	fd = open("/proc/self/stat", O_RDONLY);
	nvtx_poll(n, true);
	there = access(path, F_OK) == 0;
	pop(0, t + 10, 0);
	nvtx_poll(n, false);
	nvtx_free(n);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &most), 0);
	assert_int_equal(fd, -1);
	assert_true(there && access(path, F_OK) == 0);
	assert_int_equal(head->reading, 0);
	assert_int_equal(n_got, 2); /* once as open */
	assert_true(got[1].flags == 0 && got[1].end_ns == t + 10);
	program_end();
}

/* What was open when its process ended, or is open when a sink ends. */
static void open_ranges(void **state)
{
	struct nvtx *n = recorder();
	int64_t t = clock_now_ns();
	int ends[2];
	char byte;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		close(ends[1]);
		_exit(read(ends[0], &byte, 1) != 0);
	}
	program(child, true);
	push(0, t, 0, RUN);
	push(1, t, 0, STEP);
	pop(1, t + 70, 0);
	nvtx_poll(n, false);
	assert_int_equal(n_got, 1);
	nvtx_poll(n, true);
	assert_int_equal(n_got, 2);
	assert_true(got[1].flags == RANGE_OPEN && got[1].begin_ns == t && got[1].end_ns >= t + 70);
	close(ends[1]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	while (access(path, F_OK) == 0)
		nvtx_poll(n, false);
	assert_string_equal(got[n_got - 1].name, "run");
	assert_true(got[n_got - 1].flags == RANGE_OPEN && got[n_got - 1].begin_ns == t);
	assert_in_range(got[n_got - 1].end_ns, t + 70, clock_now_ns());
	nvtx_free(n);
	munmap(head, SIZE);
	close(ends[0]);
}

/* One that is open for longer than a second is repeated. */
static void long_ranges(void **state)
{
	struct nvtx *n = recorder();
	int64_t t = clock_now_ns();

	(void)state;
	program(getpid(), true);
	push(0, t - 2 * NS_PER_S, 0, RUN);
	while (n_got < 2 && clock_now_ns() - t < 60 * NS_PER_S) {
		usleep(1000);
		nvtx_poll(n, false);
	}
	assert_true(n_got == 2 && got[1].flags == RANGE_OPEN && got[1].end_ns - got[0].end_ns >= NS_PER_S);
	pop(0, clock_now_ns(), 0);
	nvtx_poll(n, false);
	assert_true(n_got == 3 && got[2].flags == 0);
	nvtx_free(n);
	program_end();
}

/* What comes of more lanes than a recording has, and of more open ranges. */
static void too_many(void **state)
{
	struct nvtx *n = recorder();
	int64_t t = clock_now_ns();
	size_t lanes;

	(void)state;
	program(getpid(), true);
	for (uint32_t i = 1; i <= 5000; i++) {
		put(0, (struct nvtx_record) {.t = t, .kind = NVTX_PUSH, .name = RUN, .tid = 100000 + i});
		put(0, (struct nvtx_record) {.t = t + 1, .kind = NVTX_POP, .tid = 100000 + i});
	}
	nvtx_poll(n, false);
	lanes = n_got;
	assert_in_range(lanes, 4000, 4096);
	for (uint64_t i = 1; i <= 2000; i++) /* the lane of starts was not there, either */
		put(0, (struct nvtx_record) {.t = t, .kind = NVTX_START, .name = RUN, .id = (uint32_t)i});
	nvtx_poll(n, true);
	assert_string_equal(lost, "2904 lanes;");
	assert_int_equal(lanes + 2904, 7000);
	nvtx_free(n);
	program_end();
	n = recorder();
	program(getpid(), true);
	for (uint64_t i = 1; i <= 2000; i++)
		put(0, (struct nvtx_record) {.t = t, .kind = NVTX_START, .name = RUN, .id = (uint32_t)i});
	nvtx_poll(n, true);
	assert_int_equal(n_got, 1024);
	assert_string_equal(lost, "976 open;");
	nvtx_free(n);
	program_end();
}

static void without_a_recorder(void **state)
{
	struct nvtx *n, *other;
	struct err e;
	struct nvtx_news about;
	char text[400];

	(void)state;
	program(getpid(), false);
	push(0, clock_now_ns(), 0, RUN); /* left from an earlier recorder */
	pop(0, clock_now_ns(), 0);
	head->lost[NVTX_LOST_FULL] = 5;
	n = recorder();
	nvtx_poll(n, false);
	assert_int_equal(head->reading, number());
	assert_int_equal(n_got, 0);
	other = nvtx_new(&(struct nvtx_ops) {take_ranges, take_mark, take_change}, NULL, false, 0, NULL, &e);
	assert_int_equal(nvtx_take(other, &e), -1);
	assert_non_null(strstr(e.text, "another nvmtop"));
	nvtx_free(other);
	assert_true(nvtx_news(n, &about, text, sizeof(text)));
	head->lost[NVTX_LOST_FULL] = 8;
	head->lost[NVTX_LOST_RATE] = 4;
	nvtx_poll(n, true);
	assert_string_equal(lost, "4 rate;3 full;");
	assert_true(nvtx_news(n, &about, text, sizeof(text)));
	assert_non_null(strstr(text, "7 NVTX ranges and marks are missing; 4 were beyond"));
	nvtx_free(n);
	program_end();
}

/* A thread that a busy machine does not let run: two seconds are gone whenever it asks for the time. */
static _Thread_local bool starved;
static _Atomic int64_t gone_s;

int clock_gettime(clockid_t id, struct timespec *t)
{
	int r = (int)syscall(SYS_clock_gettime, id, t);

	if (starved)
		gone_s += 2;
	t->tv_sec += id == CLOCK_MONOTONIC ? gone_s : 0;
	return r;
}

struct taker {
	struct nvtx *n;
	bool starved;
	int result;
	atomic_bool done;
};

static void *take_folder(void *arg)
{
	struct taker *t = arg;
	struct err e;

	starved = t->starved;
	t->result = nvtx_take(t->n, &e);
	t->done = true;
	return NULL;
}

static void until_read(struct nvtx *n, bool read)
{
	while ((head->reading != 0) != read) {
		usleep(1000);
		nvtx_poll(n, false);
	}
}

/* A live screen lets the folder go for a recorder, and has it again afterwards. The screen is in this thread: an emulator
 * says of each thread that the process began with it. */
static void yields(bool busy)
{
	static const struct nvtx_ops none = {take_ranges, take_mark, take_change};
	struct err e;
	struct nvtx *live = nvtx_new(&none, NULL, true, 0, NULL, &e), *n = nvtx_new(&none, NULL, false, 0, NULL, &e);
	struct taker taker = {.n = n, .starved = busy};
	pthread_t thread;

	program(getpid(), false);
	until_read(live, true);
	assert_int_equal(pthread_create(&thread, NULL, take_folder, &taker), 0);
	while (!taker.done) {
		nvtx_poll(live, false);
		usleep(1000);
	}
	pthread_join(thread, NULL);
	assert_int_equal(taker.result, 0);
	assert_int_equal(head->reading, 0);
	push(0, clock_now_ns(), 0, RUN);
	nvtx_poll(n, false);
	assert_int_equal(head->reading, number());
	nvtx_free(n);
	assert_int_equal(head->reading, 0);
	until_read(live, true);
	nvtx_free(live);
	program_end();
}

static void a_screen_yields(void **state)
{
	(void)state;
	yields(false);
}

static void a_screen_yields_on_a_busy_machine(void **state)
{
	(void)state;
	yields(true);
}

/* One that gives up before it has the folder: the screen has it again. */
static void a_screen_comes_back(void **state)
{
	struct err e;
	struct nvtx *live = nvtx_new(&(struct nvtx_ops) {take_ranges, take_mark, take_change}, NULL, true, 0, NULL, &e);
	const uint32_t wanted = 1;
	char name[128];
	int fd;

	(void)state;
	program(getpid(), false);
	until_read(live, true);
	snprintf(name, sizeof(name), "%s/" NVTX_RECORDER, folder);
	fd = open(name, O_WRONLY);
	assert_int_equal(pwrite(fd, &wanted, sizeof(wanted), offsetof(struct nvtx_recorder, wanted)), sizeof(wanted));
	close(fd);
	until_read(live, false);
	until_read(live, true);
	assert_int_equal(head->reading, number());
	nvtx_free(live);
	program_end();
}

/* After exec a program has another file, whichever of the two is found first. */
static void files_before_exec(void **state)
{
	char before[128];
	struct nvtx *n = recorder();

	(void)state;
	program(getpid(), true);
	push(0, clock_now_ns(), 0, RUN);
	snprintf(before, sizeof(before), "%s", path);
	munmap(head, SIZE);
	program_at(getpid(), 10, true);
	while (access(before, F_OK) == 0)
		nvtx_poll(n, false);
	assert_int_equal(n_got, 1);
	assert_true(got[0].flags == RANGE_OPEN);
	push(0, clock_now_ns(), 0, STEP);
	pop(0, clock_now_ns(), 0);
	nvtx_poll(n, false);
	assert_int_equal(n_got, 2);
	assert_string_equal(got[1].name, "step");
	nvtx_free(n);
	program_end();
}

/* A flood is read in parts, and all of it. */
static void floods(void **state)
{
	struct nvtx *n = recorder();
	int64_t t, cpu, next = 0;
	size_t rounds = 100, all = 0;

	(void)state;
	program(getpid(), true);
	nvtx_poll(n, false);
	cpu = clock_cpu_ns();
	for (size_t i = 0; i < rounds; i++) {
		t = clock_now_ns();
		for (int k = 0; k < NVTX_RECORDS / 2; k++, all++) {
			push(k % 2, t, 0, k % 3 ? RUN : STEP);
			pop(k % 2, t + 5, 0);
		}
		while (head->ring[0].read != head->ring[0].written ||
		       head->ring[1].read != head->ring[1].written)
			next = nvtx_poll(n, false);
	}
	assert_true(next > 0);
	cpu = clock_cpu_ns() - cpu;
	nvtx_poll(n, true);
	assert_int_equal(n_got + strtoull(lost, NULL, 10), all); /* late, if the machine stops for a second */
	printf("# %.0f ns of CPU a range, with the writing\n", (double)cpu / (double)all);
	nvtx_free(n);
	program_end();
}

/* More than one call reads, by a recorder that is kept from it for longer than ranges may be late. */
static void a_backlog_is_not_late(void **state)
{
	struct nvtx *n = recorder();
	int64_t t = clock_now_ns();
	size_t all = 0;

	(void)state;
	program(getpid(), true);
	nvtx_poll(n, false);
	head->rings = 8;
	for (unsigned ring = 0; ring < 8; ring++)
		for (int k = 0; k < NVTX_RECORDS / 2; k++, all++) {
			push(ring, t, 0, RUN);
			pop(ring, t + 5, 0);
		}
	nvtx_poll(n, false);
	assert_in_range(n_got, 1, all - 1);
	while (clock_now_ns() < t + 2 * NS_PER_S)
		nanosleep(&(struct timespec) {.tv_nsec = NS_PER_S / 10}, NULL);
	while (head->ring[7].read != head->ring[7].written)
		nvtx_poll(n, false);
	assert_int_equal(n_got, all);
	nvtx_free(n);
	program_end();
}

/* Whatever is in the file, it is read without harm and ranges are valid; take_ranges() looks. */
static void hostile(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		struct nvtx *n = recorder();

		program(getpid(), round % 2);
		head->rings = random_below(2) ? 8 : (uint32_t)random_next();
		head->notes = random_below(2) ? NVTX_NOTES : (uint32_t)random_next();
		for (size_t i = 0; i < 3000; i++)
			if (random_below(20))
				note((uint32_t)i, (enum nvtx_kind)random_below(12), (uint16_t)random_next(),
				     (uint32_t)random_below(20), (uint32_t)random_below(300));
		for (size_t i = 0; i < 200; i++)
			((char *)head)[NVTX_STRINGS_AT + random_below(400)] = (char)random_next();
		for (int poll = 0; poll < 3; poll++) {
			int64_t now = clock_now_ns();

			for (int i = 0; i < 1000; i++)
				put((unsigned)random_below(8),
				    (struct nvtx_record) {
					    .t = random_below(4) ? now + i : (int64_t)random_next(),
					    .id = (uint32_t)random_below(3),
					    .category = (uint32_t)random_below(9) / 6,
					    .kind = (uint8_t)random_below(8),
					    .domain = (uint16_t)random_below(random_below(9) ? 4 : 65536),
					    .payload = (uint8_t)random_below(9),
					    .tid = (uint32_t)random_below(random_below(9) ? 5 : 1000000),
					    .name = (uint32_t)(random_below(9) ? random_below(300)
									       : random_next())});
			if (random_below(4) == 0)
				head->ring[random_below(8)].written = random_next();
			if (random_below(9) == 0)
				assert_int_equal(truncate(path, (off_t)random_below(SIZE)), 0);
			nvtx_poll(n, random_below(3) == 0);
			if (access(path, F_OK) < 0 || truncate(path, (off_t)SIZE) < 0)
				break;
		}
		nvtx_free(n);
		program_end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ranges_of_a_thread, set_up, tear_down),
		cmocka_unit_test_setup_teardown(start_and_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(categories, set_up, tear_down),
		cmocka_unit_test_setup_teardown(marks_and_payloads, set_up, tear_down),
		cmocka_unit_test_setup_teardown(without_descriptors, set_up, tear_down),
		cmocka_unit_test_setup_teardown(open_ranges, set_up, tear_down),
		cmocka_unit_test_setup_teardown(long_ranges, set_up, tear_down),
		cmocka_unit_test_setup_teardown(too_many, set_up, tear_down),
		cmocka_unit_test_setup_teardown(without_a_recorder, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_screen_yields, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_screen_yields_on_a_busy_machine, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_screen_comes_back, set_up, tear_down),
		cmocka_unit_test_setup_teardown(files_before_exec, set_up, tear_down),
		cmocka_unit_test_setup_teardown(floods, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_backlog_is_not_late, set_up, tear_down),
		cmocka_unit_test_setup_teardown(hostile, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
