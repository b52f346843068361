/* A recorder, and a recovery, that dies at each of its calls to the kernel in
 * turn, or to which each of them fails: what is left is always something that
 * becomes a complete trace, and what is missing from it is said.
 *
 * The linker puts the functions here in front of the real ones (--wrap), so the
 * code under test is the shipped one.  Nothing is really synced: a killed process
 * loses nothing that the kernel has, and a real sync takes its time. */
#include "test-trace.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "trace/reader.h"

#define FAST 2600

enum fault { FAULT_NONE, FAULT_KILL, FAULT_TEAR, FAULT_ERROR, FAULT_ERRORS, FAULT_READ };

/* Shared with the children. */
struct state {
	enum fault fault;
	int at, num; /* which call, errno */
	_Atomic int calls, reads;
	atomic_bool joining; /* the first sync is that of the join */
	int result;
	struct err err;
	atomic_int syncs, syncing; /* of the side file and of the part, one after the other */
	atomic_int folders;        /* of the folder */
	atomic_bool stuck;         /* the disk takes for ever */
};
static struct state *state;
static struct script *script;
static unsigned kills, errors;

/* Whether this call is to fail; a fatal one does not return. */
static bool fault_now(void)
{
	int call = atomic_fetch_add(&state->calls, 1) + 1;

	if (state->fault == FAULT_KILL && call == state->at)
		kill(getpid(), SIGKILL);
	if ((state->fault == FAULT_ERROR && call == state->at) ||
	    (state->fault == FAULT_ERRORS && call >= state->at)) {
		errno = state->num;
		return true;
	}
	return false;
}

ssize_t __real_pwrite(int fd, const void *p, size_t n, off_t at);
ssize_t __wrap_pwrite(int fd, const void *p, size_t n, off_t at);
ssize_t __wrap_pwrite(int fd, const void *p, size_t n, off_t at)
{
	if (fault_now())
		return -1;
	if (state->fault == FAULT_TEAR && atomic_load(&state->calls) == state->at) {
		if (__real_pwrite(fd, p, n / 2 + 1, at) > 0)
			kill(getpid(), SIGKILL);
	}
	return __real_pwrite(fd, p, n, at);
}

ssize_t __real_pread(int fd, void *p, size_t n, off_t at);
ssize_t __wrap_pread(int fd, void *p, size_t n, off_t at);
ssize_t __wrap_pread(int fd, void *p, size_t n, off_t at)
{
	if (state->fault == FAULT_READ && atomic_fetch_add(&state->reads, 1) + 1 == state->at) {
		errno = state->num;
		return -1;
	}
	return __real_pread(fd, p, n, at);
}

int __wrap_fdatasync(int fd);
int __wrap_fdatasync(int fd)
{
	(void)fd;
	atomic_store(&state->joining, true);
	atomic_fetch_add(&state->syncs, 1);
	atomic_fetch_add(&state->syncing, 1);
	while (atomic_load(&state->stuck))
		usleep(1000);
	atomic_fetch_sub(&state->syncing, 1);
	return fault_now() ? -1 : 0;
}

int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
	(void)fd;
	atomic_fetch_add(&state->folders, 1);
	return fault_now() ? -1 : 0;
}

int __real_ftruncate(int fd, off_t size);
int __wrap_ftruncate(int fd, off_t size);
int __wrap_ftruncate(int fd, off_t size)
{
	return fault_now() ? -1 : __real_ftruncate(fd, size);
}

int __real_renameat2(int from, const char *a, int to, const char *b, unsigned flags);
int __wrap_renameat2(int from, const char *a, int to, const char *b, unsigned flags);
int __wrap_renameat2(int from, const char *a, int to, const char *b, unsigned flags)
{
	return fault_now() ? -1 : __real_renameat2(from, a, to, b, flags);
}

int __real_linkat(int from, const char *a, int to, const char *b, int flags);
int __wrap_linkat(int from, const char *a, int to, const char *b, int flags);
int __wrap_linkat(int from, const char *a, int to, const char *b, int flags)
{
	return fault_now() ? -1 : __real_linkat(from, a, to, b, flags);
}

int __real_unlinkat(int fd, const char *name, int flags);
int __wrap_unlinkat(int fd, const char *name, int flags);
int __wrap_unlinkat(int fd, const char *name, int flags)
{
	return fault_now() ? -1 : __real_unlinkat(fd, name, flags);
}

static int record_to(const char *path, bool over)
{
	struct trace_writer *w = trace_writer_new(path, over, &state->err);
	struct sink *sink;
	size_t at[TIERS] = {0};
	int r;

	if (!w)
		return -1;
	if (over)
		trace_writer_whole(w);
	sink = trace_writer_sink(w);
	sink->ops->begin(sink, &script->session, &state->err);
	script_push(script, sink, at, script->t_ns[TIER_FAST][FAST / 2]);
	sink->ops->mark(sink, &(struct mark) {1, script->t_ns[TIER_FAST][FAST / 2], "half"});
	/* Some of it reaches the file by itself, the rest at the end. */
	usleep(state->at % 8 == 5 ? 200000 : 0);
	script_push(script, sink, at, INT64_MAX);
	r = sink->ops->end(sink, &state->err);
	trace_writer_free(w);
	return r;
}

static int record(const char *path)
{
	return record_to(path, false);
}

/* In the place of one that is there: all of it, or what was there before. */
static int record_over(const char *path)
{
	return record_to(path, true);
}

static int recover(const char *path)
{
	struct trace_recovery r;

	return trace_recover(path, &r, &state->err);
}

/* True when the child came to its end. */
static bool in_child(int (*run)(const char *path), const char *path, enum fault fault, int at, int num)
{
	int status;
	pid_t pid;

	state->fault = fault;
	state->at = at;
	state->num = num;
	atomic_store(&state->calls, 0);
	atomic_store(&state->reads, 0);
	atomic_store(&state->joining, false);
	state->err = (struct err) {.code = ERR_NONE};
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		state->result = run(path);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	state->fault = FAULT_NONE;
	if (WIFEXITED(status)) {
		assert_int_equal(WEXITSTATUS(status), 0);
		return true;
	}
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	kills++;
	return false;
}

static void clean(const char *name)
{
	char other[64];

	__real_unlinkat(AT_FDCWD, in_folder(name), 0);
	snprintf(other, sizeof(other), "%s.part", name);
	__real_unlinkat(AT_FDCWD, in_folder(other), 0);
	snprintf(other, sizeof(other), "%s.part.side", name);
	__real_unlinkat(AT_FDCWD, in_folder(other), 0);
}

static void nothing_left(const char *name)
{
	char other[64];

	snprintf(other, sizeof(other), "%s.part", name);
	assert_false(there(other));
	snprintf(other, sizeof(other), "%s.part.side", name);
	assert_false(there(other));
}

/* A sound trace of the first rows of each tier, every value where it belongs; all
 * of them, when `all`. */
static void judge(const char *name, bool all)
{
	struct err e;
	struct trace *t = trace_open(in_folder(name), &e);

	if (!t || e.code != ERR_NONE)
		fail_msg("%s", e.text);
	for (int tier = 0; tier < TIERS; tier++) {
		size_t width = script->session.width[tier];
		uint64_t rows = t->section[tier].rows;

		assert_true(rows <= script->n[tier]);
		if (all)
			assert_int_equal(rows, script->n[tier]);
		for (size_t c = 0; c < script->session.n_channels; c++) {
			const struct channel *ch = &script->channels[c];

			for (uint64_t row = 0; (int)ch->tier == tier && t->extended && row < rows; row += 7) {
				double v = cell_read(t, c, row);

				/* Rows may have come without what stands beside them. */
				if (!isnan(v) || all)
					assert_true(same_value(
						v, script->values[tier][row * width + ch->column]));
			}
		}
	}
	assert_true(t->n_marks <= 1 && (!all || t->n_marks == 1));
	trace_close(t);
}

/* After whatever happened: it is there, or becomes it, or there was nothing. */
static void becomes_sound(const char *name, bool all)
{
	struct trace_recovery r;
	struct err e;
	char part[64];

	snprintf(part, sizeof(part), "%s.part", name);
	if (there(name) && !there(part)) {
		judge(name, all);
		if (trace_recover(in_folder(name), &r, &e) == 0) /* leftovers beside it */
			assert_true(r.left_over);
	} else if (trace_recover(in_folder(name), &r, &e) == 0) {
		judge(name, all);
	} else {
		assert_false(all);
		if (!strstr(e.text, "nothing was recorded") && !strstr(e.text, "nothing to recover"))
			fail_msg("%s", e.text);
		clean(name);
	}
	nothing_left(name);
	clean(name);
}

static void test_recorder_dies(void **unused)
{
	int calls = 0, joins = 0;

	(void)unused;
	for (int tear = 0; tear < 2; tear++)
		for (int at = 1;; at++) {
			bool ended =
				in_child(record, in_folder("a.bin"), tear ? FAULT_TEAR : FAULT_KILL, at, 0);

			if (ended && at > atomic_load(&state->calls)) {
				assert_int_equal(state->result, 0);
				becomes_sound("a.bin", true);
				break;
			}
			calls++;
			joins += atomic_load(&state->joining);
			becomes_sound("a.bin", atomic_load(&state->joining));
		}
	assert_true(calls > 40 && joins > 10); /* or nothing was put in front of anything */
}

static void copy(const char *from, const char *to)
{
	uint8_t bytes[65536];
	int in = open(in_folder(from), O_RDONLY), out = open(in_folder(to), O_WRONLY | O_CREAT, 0600);
	off_t at = 0;
	ssize_t n;

	assert_true(in >= 0 && out >= 0);
	while ((n = pread(in, bytes, sizeof(bytes), at)) > 0) {
		assert_int_equal(__real_pwrite(out, bytes, (size_t)n, at), n);
		at += n;
	}
	close(in);
	close(out);
}

/* The recorder died in its join, then the recovery at any of its own calls, and
 * then the next one. */
static void test_recovery_dies(void **unused)
{
	int calls = 0;

	(void)unused;
	for (int first = 1;; first++) {
		assert_false(in_child(record, in_folder("dead.bin"), FAULT_KILL, first, 0));
		if (atomic_load(&state->joining) && there("dead.bin.part.side"))
			break;
		becomes_sound("dead.bin", false);
	}
	for (int tear = 0; tear < 2; tear++)
		for (int at = 1;; at++) {
			bool ended;

			copy("dead.bin.part", "b.bin.part");
			copy("dead.bin.part.side", "b.bin.part.side");
			ended = in_child(recover, in_folder("b.bin"), tear ? FAULT_TEAR : FAULT_KILL, at, 0);
			if (ended && at > atomic_load(&state->calls)) {
				assert_int_equal(state->result, 0);
				becomes_sound("b.bin", true);
				break;
			}
			calls++;
			/* Once more, at the same place. */
			if (!ended && there("b.bin.part"))
				in_child(recover, in_folder("b.bin"), FAULT_KILL, at, 0);
			becomes_sound("b.bin", true);
		}
	assert_true(calls > 10);
	clean("dead.bin");
}

static off_t size_of(const char *name)
{
	struct stat st;

	return stat(in_folder(name), &st) == 0 ? st.st_size : -1;
}

/* Each call fails, once or from then on: it is said, nobody dies, and what was
 * recorded is a trace or becomes one. */
static void test_calls_fail(void **unused)
{
	static const int nums[] = {ENOSPC, EIO, EDQUOT};

	(void)unused;
	for (size_t i = 0; i < sizeof(nums) / sizeof(nums[0]); i++)
		for (int at = 1;; at++) {
			enum fault fault = (at + (int)i) % 2 ? FAULT_ERROR : FAULT_ERRORS;
			bool there_now;

			assert_true(in_child(record, in_folder("c.bin"), fault, at, nums[i]));
			if (at > atomic_load(&state->calls)) {
				assert_int_equal(state->result, 0);
				becomes_sound("c.bin", true);
				break;
			}
			errors++;
			there_now = there("c.bin") && !there("c.bin.part");
			if (state->result < 0) {
				assert_int_equal(state->err.code, ERR_FAILED);
				assert_non_null(strstr(state->err.text, "c.bin"));
				assert_non_null(strstr(state->err.text, strerror(nums[i])));
				/* What cannot be recovered is not left over. */
				if (fault == FAULT_ERROR && there("c.bin.part"))
					assert_true(size_of("c.bin.part") >= HEADER_SIZE);
			} else {
				assert_true(there_now);
			}
			becomes_sound("c.bin", state->result == 0);
		}
}

/* Once a read fails, in a recorder or in a recovery: nobody takes that for a recording
 * without anything in it, or a complete one for one that is not, and writes over it. */
static void test_reads_fail(void **unused)
{
	static const char *const left[] = {"dead.bin", "whole.bin"};
	int failed = 0;

	(void)unused;
	for (int at = 1;; at++) {
		assert_true(in_child(record, in_folder("d.bin"), FAULT_READ, at, EIO));
		if (at > atomic_load(&state->reads))
			break;
		if (state->result < 0)
			assert_non_null(strstr(state->err.text, strerror(EIO)));
		failed += state->result < 0;
		becomes_sound("d.bin", true);
	}
	becomes_sound("d.bin", true);
	for (int first = 1;; first++) {
		assert_false(in_child(record, in_folder("dead.bin"), FAULT_KILL, first, 0));
		if (atomic_load(&state->joining) && there("dead.bin.part.side"))
			break;
		clean("dead.bin");
	}
	assert_true(in_child(record, in_folder("whole.bin"), FAULT_NONE, 0, 0));
	assert_int_equal(rename(in_folder("whole.bin"), in_folder("whole.bin.part")), 0);
	for (size_t i = 0; i < 2; i++)
		for (int at = 1;; at++) {
			char part[32], side[32];

			snprintf(part, sizeof(part), "%s.part", left[i]);
			snprintf(side, sizeof(side), "%s.part.side", left[i]);
			copy(part, "e.bin.part");
			if (there(side))
				copy(side, "e.bin.part.side");
			assert_true(in_child(recover, in_folder("e.bin"), FAULT_READ, at, EIO));
			if (state->result < 0)
				assert_non_null(strstr(state->err.text, strerror(EIO)));
			failed += state->result < 0;
			becomes_sound("e.bin", true);
			if (at > atomic_load(&state->reads))
				break;
		}
	assert_true(failed > 10);
	clean("dead.bin");
	clean("whole.bin");
}

/* Single bits anywhere in the two files, and cuts: a sound trace or a clear no. */
static void test_flips(void **unused)
{
	unsigned recovered = 0, damaged = 0;
	struct trace_recovery r;
	struct err e;

	(void)unused;
	assert_false(in_child(record, in_folder("dead.bin"), FAULT_KILL, 12, 0));
	assert_true(there("dead.bin.part"));
	for (int i = 0; i < 300; i++) {
		const char *name = i & 1 ? "f.bin.part.side" : "f.bin.part";
		struct stat st;
		struct trace *t;
		uint8_t byte;
		off_t at;
		int fd;

		copy("dead.bin.part", "f.bin.part");
		copy("dead.bin.part.side", "f.bin.part.side");
		fd = open(in_folder(name), O_RDWR);
		assert_int_equal(fstat(fd, &st), 0);
		at = (off_t)(script_random(script) % (uint64_t)st.st_size);
		if (i % 10 < 8) {
			assert_int_equal(pread(fd, &byte, 1, at), 1);
			byte ^= (uint8_t)(1 << (script_random(script) & 7));
			assert_int_equal(__real_pwrite(fd, &byte, 1, at), 1);
		} else {
			assert_int_equal(__real_ftruncate(fd, at), 0);
		}
		close(fd);
		if (trace_recover(in_folder("f.bin"), &r, &e) == 0) {
			recovered++;
			damaged += e.code == ERR_DAMAGED;
			t = trace_open(in_folder("f.bin"), &e);
			if (!t || e.code != ERR_NONE)
				fail_msg("flip %d at %lld of %s: %s", i, (long long)at, name, e.text);
			trace_close(t);
		} else {
			assert_int_equal(e.code, ERR_FAILED);
		}
		clean("f.bin");
	}
	print_message("# %u of 300 damaged recordings recovered, %u said what is damaged\n", recovered,
		      damaged);
	assert_true(recovered > 250 && damaged > 100);
	clean("dead.bin");
}

/* What is to be there as a whole or not at all leaves what was there before. */
static void test_all_or_nothing(void **unused)
{
	int failed = 0;

	(void)unused;
	for (int at = 1;; at++) {
		int fd = open(in_folder("o.bin"), O_WRONLY | O_CREAT, 0600);

		assert_int_equal(__real_pwrite(fd, "old", 3, 0), 3);
		close(fd);
		assert_true(in_child(record_over, in_folder("o.bin"), at % 2 ? FAULT_ERRORS : FAULT_ERROR, at,
				     ENOSPC));
		if (state->result < 0)
			assert_int_equal(size_of("o.bin"), 3);
		else
			judge("o.bin", true);
		failed += state->result < 0;
		clean("o.bin");
		if (at > atomic_load(&state->calls))
			break;
	}
	assert_true(failed > 10);
}

/* The disk is asked as often as it should be; and while it takes its time, what
 * is written reaches the kernel all the same. */
static void test_sync(void **unused)
{
	struct trace_writer *w = trace_writer_new(in_folder("sync.bin"), false, NULL);
	struct sink *sink = trace_writer_sink(w);
	size_t at[TIERS] = {0};
	off_t before;
	int64_t since;

	(void)unused;
	state->fault = FAULT_NONE;
	atomic_store(&state->syncs, 0);
	atomic_store(&state->folders, 0);
	trace_writer_sync_every(w, 100 * NS_PER_MS);
	since = clock_now_ns();
	assert_int_equal(sink->ops->begin(sink, &script->session, NULL), 0);
	for (int i = 0; i < 1000 && atomic_load(&state->syncs) < 8; i++)
		usleep(10000);
	assert_true(atomic_load(&state->syncs) >= 8); /* four times both files */
	assert_true(clock_now_ns() - since >= 400 * NS_PER_MS);
	assert_int_equal(atomic_load(&state->folders), 1); /* its names are there after the first */
	atomic_store(&state->stuck, true);
	for (int i = 0; i < 1000 && !atomic_load(&state->syncing); i++)
		usleep(10000);
	before = size_of("sync.bin.part");
	script_push(script, sink, at, script->t_ns[TIER_FAST][FAST / 2]);
	for (int i = 0; i < 1000 && size_of("sync.bin.part") < before + FAST / 2 * FAST_SIZE; i++)
		usleep(10000);
	assert_int_equal(atomic_load(&state->syncing), 1);
	assert_int_equal(size_of("sync.bin.part"), before + FAST / 2 * FAST_SIZE);
	atomic_store(&state->stuck, false);
	script_push(script, sink, at, INT64_MAX);
	assert_int_equal(sink->ops->end(sink, NULL), 0);
	trace_writer_free(w);

	w = trace_writer_new(in_folder("slow.bin"), false, NULL);
	sink = trace_writer_sink(w);
	atomic_store(&state->syncs, 0);
	assert_int_equal(sink->ops->begin(sink, &script->session, NULL), 0);
	usleep(400000);
	assert_int_equal(atomic_load(&state->syncs), 0); /* 5 s */
	sink->ops->end(sink, NULL);
	trace_writer_free(w);
	clean("sync.bin");
	clean("slow.bin");
}

static int setup(void **unused)
{
	state = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	script = script_new(61, FAST, 4, 3, 3, true);
	return state == MAP_FAILED ? -1 : folder_make(unused);
}

static int teardown(void **unused)
{
	print_message("# killed %u times, failed %u times, at every call that writes\n", kills, errors);
	script_free(script);
	return folder_remove(unused);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recorder_dies), cmocka_unit_test(test_recovery_dies),
		cmocka_unit_test(test_calls_fail),    cmocka_unit_test(test_reads_fail),
		cmocka_unit_test(test_flips),         cmocka_unit_test(test_all_or_nothing),
		cmocka_unit_test(test_sync),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
