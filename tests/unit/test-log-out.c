/* What an output writes to a file or a pipe, and what happens when the disk or the reader is slow,
 * full or gone. */
#include "test-log.h"
#include "trace/trace.h"

/* Across the boundary of a level 2 and a level 3 span. */
static void round_trip(void **state)
{
	struct log_out *w = writer();
	struct sink *s;
	static struct seen seen;
	struct file f;

	(void)state;
	s = stream_begin(w, &about, false);
	push(s, START, 20);
	s->ops->mark(s, &(struct mark) {1, START + 5 * NS_PER_S, "first"});
	s->ops->mark(s, &(struct mark) {2, START + 6 * NS_PER_S, ""});
	s->ops->gap(s, &(struct gap) {TIER_FAST, GAP_LATE, START + 10, START + 20, 3});
	s->ops->change(s, &(struct change) {START + 9, "mode", "15W", "30W"});
	push(s, START + 20 * NS_PER_S, 40);
	end(w, s);
	f = slurp(path);
	read_all(&f, &seen);
	expect_rows(&seen);
	assert_int_equal(seen.kinds[LOG_META], 8);
	assert_int_equal(seen.kinds[LOG_INDEX], 1 + 1); /* level 2 ends; the end */
	assert_int_equal(seen.kinds[LOG_STAT], 8 + 2 + 2);
	assert_int_equal(seen.kinds[LOG_LOD], 8 + 2 * 3 + 2 * 3);
	assert_int_equal(seen.kinds[LOG_END], 1);
	assert_true(seen.n_marks == 2 && seen.n_gaps == 1 && seen.n_changes == 1);
	assert_string_equal(seen.marks[0].label, "first");
	assert_string_equal(seen.changes[0].to, "30W");
	assert_true(seen.gaps[0].missed == 3);
	columns_free(seen.rows);
	free(f.p);
}

/* A tier half a second late gets its own chunks; one after its group was closed is lost, and the file
 * says so. */
static void late_rows(void **state)
{
	struct log_out *w = writer();
	struct sink *s;
	int64_t t_ns[2] = {START + 3 * NS_PER_S, START + 26 * NS_PER_S};
	double v[4] = {1, 2, 3, 4};
	static struct seen seen;
	struct file f;

	(void)state;
	s = stream_begin(w, &about, false);
	for (int64_t i = 0; i < 50; i++) {
		int64_t at = START + i * 500 * NS_PER_MS;
		double fast[3] = {(double)i, 1, 2};

		s->ops->rows(s, &(struct rows) {TIER_FAST, 1, 3, &at, fast});
		column_add(&pushed[TIER_FAST], 3, at, fast);
		if (i > 0) {
			at -= 500 * NS_PER_MS;
			s->ops->rows(s, &(struct rows) {TIER_MEDIUM, 1, 2, &at, v});
			column_add(&pushed[TIER_MEDIUM], 2, at, v);
		}
	}
	s->ops->rows(s, &(struct rows) {TIER_SLOW, 2, 2, t_ns, v});
	column_add(&pushed[TIER_SLOW], 2, t_ns[1], v + 2);
	end(w, s);
	f = slurp(path);
	read_without_stat(&f, &seen, true);
	expect_rows(&seen);
	assert_int_equal(seen.n_gaps, 1);
	assert_true(seen.gaps[0].tier == TIER_SLOW && seen.gaps[0].cause == GAP_LOST &&
		    seen.gaps[0].missed == 1 && seen.gaps[0].from_ns == t_ns[0] &&
		    seen.gaps[0].to_ns == t_ns[1]);
	columns_free(seen.rows);
	free(f.p);
}

/* Three hours without rows: all spans between are closed, and none is written. */
static void long_pause(void **state)
{
	struct log_out *w = writer();
	struct sink *s;
	static struct seen seen;
	struct file f;

	(void)state;
	s = stream_begin(w, &about, false);
	push(s, START, 3);
	push(s, START + 10795 * NS_PER_S, 3);
	end(w, s);
	f = slurp(path);
	read_all(&f, &seen);
	expect_rows(&seen);
	assert_int_equal(seen.kinds[LOG_INDEX], 1 + 1);
	columns_free(seen.rows);
	free(f.p);
}

/* More marks than an INDEX repeats. */
static void many_marks(void **state)
{
	static struct seen seen;
	struct log_out *w = writer();
	struct sink *s;
	struct file f;

	(void)state;
	s = stream_begin(w, &about, false);
	push(s, START, 3);
	for (uint64_t i = 1; i <= MARKS; i++)
		s->ops->mark(s, &(struct mark) {i, START + (int64_t)i, "step"});
	push(s, START + 3 * NS_PER_S, 8);
	s->ops->mark(s, &(struct mark) {MARKS + 1, START, "late"});
	end(w, s);
	f = slurp(path);
	read_all(&f, &seen);
	expect_rows(&seen);
	assert_int_equal(seen.n_marks, MARKS + 1);
	assert_int_equal(seen.incomplete, 1);
	assert_int_equal(seen.events, 0);
	columns_free(seen.rows);
	free(f.p);
}

static void wait_for(struct log_out *w, bool (*done)(const struct log_out_stats *), const char *what)
{
	struct log_out_stats st;

	for (int i = 0; i < 1000; i++) {
		log_out_stats(w, &st);
		if (done(&st))
			return;
		nanosleep(&(struct timespec) {.tv_nsec = 10000000}, NULL);
	}
	fail_msg("%s", what);
}

static bool has_rows(const struct log_out_stats *st)
{
	return st->rows[TIER_FAST] == 20;
}

static bool has_failed(const struct log_out_stats *st)
{
	return st->failed;
}

/* A live cell is written when its time is over, even if nothing follows. */
static void cadence(void **state)
{
	struct log_out *w = writer();
	struct sink *s;
	struct session now = about;
	struct log_out_stats st = {.bytes = 0};

	(void)state;
	clock_anchor(&now.start);
	s = stream_begin(w, &now, true);
	for (int64_t i = 0; i < 20; i++)
		s->ops->rows(s,
			     &(struct rows) {TIER_FAST, 1, 3, &(int64_t) {now.start.mono_ns + i * NS_PER_MS},
					     (double[]) {1, 2, 3}});
	for (int i = 0; i < 1000 && !has_rows(&st); i++) { /* as an engine does */
		s->ops->rest(s);
		nanosleep(&(struct timespec) {.tv_nsec = 10000000}, NULL);
		log_out_stats(w, &st);
	}
	assert_true(has_rows(&st));
	end(w, s);
}

/* A reader that reads nothing: DATA is dropped and counted, followed by a gap. */
static void slow_pipe(void **state)
{
	int ends[2];
	struct err e = {.code = ERR_NONE};
	struct log_out *w;
	struct log_out_stats st;
	struct sink *s;
	static struct seen seen;
	struct file f;
	uint64_t missed[TIERS] = {0};
	char buf[65536];
	FILE *out;
	ssize_t n;

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_true(fcntl(ends[1], F_SETPIPE_SZ, 4096) > 0);
	w = log_out_fd(ends[1], &e);
	assert_non_null(w);
	log_out_options(w)->buffer = 20000;
	s = stream_begin(w, &about, false);
	push(s, START, 20);
	s->ops->mark(s, &(struct mark) {1, START + 5 * NS_PER_S, "kept"});
	log_out_stats(w, &st);
	assert_true(st.dropping && st.lost_rows > 1000 && st.queued < 120000);
	out = fopen(path, "w");
	assert_non_null(out);
	assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	for (int i = 0; i < 200; i++) { /* it reads again */
		while ((n = read(ends[0], buf, sizeof(buf))) > 0)
			assert_int_equal(fwrite(buf, 1, (size_t)n, out), n);
		nanosleep(&(struct timespec) {.tv_nsec = 5000000}, NULL);
		log_out_stats(w, &st);
		if (!st.queued)
			break;
	}
	columns_free(pushed); /* bins of lost data are not compared */
	push(s, START + 20 * NS_PER_S, 1);
	stream_close(s);
	log_out_finish(w);
	while (!log_out_wait(w, 0)) {
		while ((n = read(ends[0], buf, sizeof(buf))) > 0)
			assert_int_equal(fwrite(buf, 1, (size_t)n, out), n);
		nanosleep(&(struct timespec) {.tv_nsec = 1000000}, NULL);
	}
	log_out_stats(w, &st);
	assert_false(st.failed);
	assert_int_equal(log_out_end(w, &e), 0);
	log_out_free(w);
	while ((n = read(ends[0], buf, sizeof(buf))) > 0)
		assert_int_equal(fwrite(buf, 1, (size_t)n, out), n);
	fclose(out);
	close(ends[0]);
	f = slurp(path);
	read_without_stat(&f, &seen, false);
	assert_int_equal(seen.n_marks, 1);
	for (size_t i = 0; i < seen.n_gaps; i++)
		missed[seen.gaps[i].tier] += seen.gaps[i].missed;
	assert_int_equal(seen.rows[TIER_FAST].n + missed[TIER_FAST], 21000);
	assert_int_equal(seen.rows[TIER_MEDIUM].n + missed[TIER_MEDIUM], 2100);
	assert_int_equal(seen.rows[TIER_SLOW].n + missed[TIER_SLOW], 210);
	assert_true(missed[TIER_FAST] > 1000);
	columns_free(seen.rows);
	free(f.p);
}

/* What the pipe has, to the file. Waits until nothing is queued, or for the end. */
static void pipe_read(int from, FILE *to, struct log_out *o, bool end)
{
	struct log_out_stats st;
	char buf[65536];
	ssize_t n;

	for (int i = 0; i < 1000; i++) {
		bool done = log_out_wait(o, 0);

		log_out_stats(o, &st);
		while ((n = read(from, buf, sizeof(buf))) > 0)
			assert_int_equal(fwrite(buf, 1, (size_t)n, to), n);
		if (end ? done : !st.queued)
			return;
		nanosleep(&(struct timespec) {.tv_nsec = 2000000}, NULL);
	}
	fail_msg("%s", "the pipe is read, and is not written to");
}

/* Where rows of a span were dropped, its statistics are, too: those of a whole recording are those of its rows. What is
 * dropped ends at many places: also just before the statistics. */
static void dropped_spans(void **state)
{
	(void)state;
	for (size_t buffer = 4000; buffer <= 64000; buffer += 4000) {
		int ends[2];
		struct err e = {.code = ERR_NONE};
		struct log_out *w;
		struct sink *s;
		FILE *out = fopen(path, "w");
		int64_t at = START;
		struct trace *t;

		assert_non_null(out);
		assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
		assert_true(fcntl(ends[1], F_SETPIPE_SZ, 4096) > 0);
		assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
		w = log_out_fd(ends[1], &e);
		assert_non_null(w);
		log_out_options(w)->buffer = buffer;
		s = stream_begin(w, &about, false);
		for (int64_t until; at < START + 60 * NS_PER_S; at = until) {
			int64_t group = log_cell_ns(log_span_cell(log_span(log_cell(at), 1) + 1, 1));

			push(s, at, 2); /* some is read, then nothing until the group has just ended */
			pipe_read(ends[0], out, w, false);
			until = group + NS_PER_S;
			push(s, at + 2 * NS_PER_S, (double)(until - at - 2 * NS_PER_S) / NS_PER_S);
		}
		stream_close(s);
		log_out_finish(w);
		pipe_read(ends[0], out, w, true);
		assert_int_equal(log_out_end(w, &e), 0);
		log_out_free(w);
		close(ends[0]);
		assert_int_equal(fclose(out), 0);
		t = trace_open(path, &e);
		assert_non_null(t);
		for (size_t i = 0; i < about.n_channels; i++) {
			const struct channel *c = &about.channels[i];
			struct timeline *line = trace_timeline(t);
			struct span_stats stat;
			uint64_t known = 0, n = trace_rows(t, c->tier);

			line->ops->stat(line, i, START, at, &stat);
			for (uint64_t row = 0; row < n; row++) {
				double v;

				trace_row_values(t, i, row, 1, &v);
				known += !isnan(v);
			}
			assert_int_equal(stat.n, known);
		}
		trace_close(t);
		columns_free(pushed);
	}
}

static void reader_gone(void **state)
{
	int ends[2];
	struct err e = {.code = ERR_NONE};
	struct log_out *w;
	struct log_out_stats st;
	struct sink *s;

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	w = log_out_fd(ends[1], &e);
	s = stream_begin(w, &about, false);
	close(ends[0]);
	push(s, START, 1);
	wait_for(w, has_failed, "the pipe has no reader, and that is not noticed");
	push(s, START + NS_PER_S, 1);
	assert_int_equal(stream_end(w, s, &e), -1);
	log_out_stats(w, &st);
	assert_true(st.reader_gone && st.lost_rows > 0);
	log_out_free(w);
}

/* The end does not wait for a reader that reads nothing. */
static void deaf_reader(void **state)
{
	int ends[2];
	struct err e = {.code = ERR_NONE};
	struct log_out *w;
	struct sink *s;
	int64_t began;

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	w = log_out_fd(ends[1], &e);
	s = stream_begin(w, &about, false);
	assert_true(fcntl(ends[1], F_SETPIPE_SZ, 4096) > 0);
	push(s, START, 15);
	began = clock_now_ns();
	stream_close(s);
	log_out_finish(w);
	assert_true(clock_now_ns() - began < 2 * NS_PER_S);
	assert_int_equal(log_out_end(w, &e), -1);
	assert_true(clock_now_ns() - began < 10 * NS_PER_S);
	log_out_free(w);
	close(ends[0]);
}

/* The disk fills up within a chunk: the data in the file is intact. */
static void full_disk(void **state)
{
	struct rlimit was, small = {.rlim_cur = 100000};
	struct log_out *w = writer();
	struct log_out_stats st;
	struct sink *s;
	struct err e = {.code = ERR_NONE};
	static struct seen seen;
	struct file f;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	small.rlim_max = was.rlim_max;
	s = stream_begin(w, &about, false);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	push(s, START, 30);
	assert_int_equal(stream_end(w, s, &e), -1);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	assert_int_equal(e.num, EFBIG);
	log_out_stats(w, &st);
	assert_true(st.failed && st.lost_rows > 0);
	log_out_free(w);
	f = slurp(path);
	assert_true(f.n > 50000 && f.n <= 100000 && f.n == st.bytes);
	read_all(&f, &seen);
	assert_true(seen.rows[TIER_FAST].n == st.rows[TIER_FAST] && seen.kinds[LOG_END] == 0);
	columns_free(seen.rows);
	free(f.p);
}

/* A disk that blocks every sync while `held`. */
static pthread_mutex_t disk = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answers = PTHREAD_COND_INITIALIZER;
static bool held, broken;
static unsigned syncs;

int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);
int __wrap_fdatasync(int fd)
{
	pthread_mutex_lock(&disk);
	syncs++;
	while (held)
		pthread_cond_wait(&answers, &disk);
	pthread_mutex_unlock(&disk);
	errno = EIO;
	return broken ? -1 : __real_fdatasync(fd);
}

static void disk_hold(bool hold)
{
	pthread_mutex_lock(&disk);
	held = hold;
	pthread_cond_broadcast(&answers);
	pthread_mutex_unlock(&disk);
}

static bool is_syncing(const struct log_out_stats *st)
{
	unsigned n;

	(void)st;
	pthread_mutex_lock(&disk);
	n = syncs;
	pthread_mutex_unlock(&disk);
	return n > 0;
}

static bool has_second(const struct log_out_stats *st)
{
	return st->rows[TIER_FAST] >= 1500;
}

/* A hanging disk blocks neither rows nor free(). */
static void held_sync(void **state)
{
	struct log_out *w = writer();
	struct sink *s;
	static struct seen seen;
	struct file f;
	int64_t began;

	(void)state;
	log_out_options(w)->sync_ns = 10 * NS_PER_MS;
	syncs = 0;
	disk_hold(true);
	s = stream_begin(w, &about, false);
	push(s, START, 1);
	wait_for(w, is_syncing, "nothing is synced");
	push(s, START + NS_PER_S, 1);
	wait_for(w, has_second, "writing waits for a sync");
	began = clock_now_ns();
	stream_close(s);
	log_out_finish(w);
	assert_false(log_out_wait(w, 0));
	log_out_free(w);
	assert_true(clock_now_ns() - began < 2 * NS_PER_S);
	disk_hold(false);
	for (int i = 0; i < 500; i++) { /* until everything is written */
		f = slurp(path);
		read_all(&f, &seen);
		if (seen.kinds[LOG_END])
			break;
		columns_free(seen.rows);
		free(f.p);
		nanosleep(&(struct timespec) {.tv_nsec = 10000000}, NULL);
	}
	assert_int_equal(seen.kinds[LOG_END], 1);
	expect_rows(&seen);
	columns_free(seen.rows);
	free(f.p);
}

/* The message shows its name with printable characters only. */
static void sync_fails(void **state)
{
	char name[160];
	struct err e = {.code = ERR_NONE};
	struct log_out *w;
	struct sink *s;

	(void)state;
	snprintf(name, sizeof(name), "%s/a\033[31m.nvmt", folder);
	w = log_out_new(name, false, &e);
	assert_non_null(w);
	log_out_options(w)->sync_ns = 0;
	s = stream_begin(w, &about, false);
	push(s, START, 1);
	broken = true;
	assert_int_equal(stream_end(w, s, &e), -1);
	broken = false;
	assert_int_equal(e.num, EIO);
	assert_non_null(strstr(e.text, "ended early"));
	assert_null(strchr(e.text, '\033'));
	log_out_free(w);
	assert_int_equal(unlink(name), 0);
}

static void names(void **state)
{
	struct log_out *w = writer(), *other;
	struct err e = {.code = ERR_NONE};
	char bad[160];

	(void)state;
	assert_null(log_out_new(path, false, &e));
	assert_int_equal(e.num, EBUSY); /* exists and is being written */
	assert_null(log_out_new(path, true, &e)); /* and is being written */
	assert_int_equal(e.num, EBUSY);
	assert_null(log_out_new(folder, true, &e));
	assert_int_equal(e.num, EISDIR);
	assert_null(log_out_new(folder, false, &e));
	assert_int_equal(e.num, EISDIR);
	snprintf(bad, sizeof(bad), "%s/none/a.nvmt", folder);
	assert_null(log_out_new(bad, false, &e));
	assert_int_equal(e.num, ENOENT);
	assert_null(log_out_new("", false, &e));
	log_out_free(w);
	other = log_out_new(path, true, &e);
	assert_non_null(other);
	log_out_free(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(round_trip, set_up, tear_down),
		cmocka_unit_test_setup_teardown(cadence, set_up, tear_down),
		cmocka_unit_test_setup_teardown(slow_pipe, set_up, tear_down),
		cmocka_unit_test_setup_teardown(dropped_spans, set_up, tear_down),
		cmocka_unit_test_setup_teardown(reader_gone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(deaf_reader, set_up, tear_down),
		cmocka_unit_test_setup_teardown(full_disk, set_up, tear_down),
		cmocka_unit_test_setup_teardown(held_sync, set_up, tear_down),
		cmocka_unit_test_setup_teardown(sync_fails, set_up, tear_down),
		cmocka_unit_test_setup_teardown(names, set_up, tear_down),
		cmocka_unit_test_setup_teardown(long_pause, set_up, tear_down),
		cmocka_unit_test_setup_teardown(many_marks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(late_rows, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
