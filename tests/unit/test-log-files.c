/* A recording split over several files: together they are the stream, no row is duplicated or lost, and
 * everything missing is counted. */
#include "test-log.h"
#include "trace/trace.h"

#define FILES 12

/* --- a simulated disk --- */

static pthread_mutex_t disk = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answers = PTHREAD_COND_INITIALIZER;
static int write_errno, sync_errno; /* 0: success */
static bool hangs;
static off_t longest; /* that a file can be; 0: no limit */
static unsigned syncs;

ssize_t __real_write(int fd, const void *p, size_t n);
ssize_t __wrap_write(int fd, const void *p, size_t n);
ssize_t __wrap_write(int fd, const void *p, size_t n)
{
	struct stat st;
	int num = 0;

	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		pthread_mutex_lock(&disk);
		while (hangs)
			pthread_cond_wait(&answers, &disk);
		num = longest && st.st_size + (off_t)n > longest ? EFBIG : write_errno;
		pthread_mutex_unlock(&disk);
	}
	errno = num;
	return num ? -1 : __real_write(fd, p, n);
}

int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);
int __wrap_fdatasync(int fd)
{
	int num;

	pthread_mutex_lock(&disk);
	syncs++;
	num = sync_errno;
	pthread_mutex_unlock(&disk);
	errno = num;
	return num ? -1 : __real_fdatasync(fd);
}

static void disk_is(int writes, int sync, bool held)
{
	pthread_mutex_lock(&disk);
	write_errno = writes;
	sync_errno = sync;
	hangs = held;
	pthread_cond_broadcast(&answers);
	pthread_mutex_unlock(&disk);
}

/* --- checks --- */

static struct sink *stream; /* of the newest one */

static struct log_out *series_with(const struct trace_limits *limits, size_t buffer)
{
	struct log_out *w = writer();

	log_out_limits(w, limits);
	log_out_options(w)->buffer = buffer;
	stream = stream_begin(w, &about, false);
	return w;
}

static struct log_out *series(const struct trace_limits *limits)
{
	return series_with(limits, 32 << 20);
}

/* Write everything; returns the number of files. */
static size_t finish(struct log_out *w, bool complete)
{
	char name[PATH_MAX];
	size_t n = 0;
	bool is;

	stream_close(stream);
	log_out_finish(w);
	assert_true(log_out_wait(w, clock_now_ns() + 30 * NS_PER_S));
	for (; log_out_file(w, n, name, sizeof(name), &is); n++)
		if (complete)
			assert_true(is);
	return n;
}

/* Read the next file; its rows continue those of the files before. */
static void read_one(struct log_out *w, size_t i, struct seen *s, struct column all[TIERS])
{
	char name[PATH_MAX];
	struct file f;

	assert_true(log_out_file(w, i, name, sizeof(name), NULL));
	f = slurp(name);
	read_without_stat(&f, s, false);
	for (int t = 0; t < TIERS; t++)
		for (size_t row = 0; row < s->rows[t].n; row++)
			column_add(&all[t], about.width[t], s->rows[t].t_ns[row],
				   s->rows[t].values + row * about.width[t]);
	columns_free(s->rows);
	free(f.p);
}

static void expect_all(const struct column all[TIERS])
{
	for (int t = 0; t < TIERS; t++) {
		assert_int_equal(all[t].n, pushed[t].n);
		assert_memory_equal(all[t].t_ns, pushed[t].t_ns, all[t].n * sizeof(*all[t].t_ns));
	}
}

/* Push rows, 0.1 s at a time, until the condition holds; returns the number of seconds. */
static double push_until(struct log_out *w, double from, bool (*is)(const struct log_out_stats *))
{
	struct log_out_stats st;

	for (int i = 0; i < 1000; i++, from += 0.1) {
		push(stream, START + (int64_t)(from * 10 + 0.5) * 100 * NS_PER_MS, 0.1);
		log_out_stats(w, &st);
		if (is(&st))
			return from + 0.1;
		nanosleep(&(struct timespec) {.tv_nsec = 10000000}, NULL);
	}
	fail_msg("it did not come to that: %zu files, %llu bytes, %llu wait, %s", st.files,
		 (unsigned long long)st.bytes, (unsigned long long)st.queued, st.err.text);
	return 0;
}

static bool two_files(const struct log_out_stats *st)
{
	return st->files > 2 || (st->files == 2 && st->bytes > 0 && st->queued == 0);
}

static bool all_written(const struct log_out_stats *st)
{
	return st->bytes > 0 && st->queued == 0;
}

static bool in_trouble(const struct log_out_stats *st)
{
	return st->err.code != ERR_NONE;
}

static bool no_trouble(const struct log_out_stats *st)
{
	return st->err.code == ERR_NONE && st->queued < 100000;
}

/* --- tests --- */

static void split_by_time(void **state)
{
	struct log_out *w = series(&(struct trace_limits) {.split.ns = 2 * NS_PER_S});
	struct column all[TIERS] = {{.n = 0}};
	struct log_out_stats st;
	static struct seen seen;
	struct mark mark = {.t_ns = START};
	uint64_t seq = 0, marks = 0;
	size_t n;

	(void)state;
	for (int i = 0; i < 100; i++) { /* a mark at each step, also at the boundaries */
		push(stream, START + i * 100 * NS_PER_MS, 0.1);
		for (int k = 0; k < 10; k++) {
			mark.id++;
			mark.t_ns = START + i * 100 * NS_PER_MS + k * 10 * NS_PER_MS;
			stream->ops->mark(stream, &mark);
		}
		nanosleep(&(struct timespec) {.tv_nsec = 5000000}, NULL);
	}
	n = finish(w, true);
	assert_in_range(n, 4, 6);
	for (size_t i = 0; i < n; i++) {
		char next[64];
		int64_t first;

		read_one(w, i, &seen, all);
		first = all[TIER_FAST].t_ns[all[TIER_FAST].n - 1];
		assert_int_equal(seen.first_seq, seq);
		seq = seen.next_seq;
		snprintf(next, sizeof(next), "a.%zu.nvmt", i + 2);
		assert_string_equal(seen.next, i + 1 < n ? next : "");
		assert_int_equal(seen.reason, i + 1 < n ? LOG_SPLIT : LOG_STOPPED);
		for (size_t k = 0; k < seen.n_marks; k++) {
			assert_int_equal(seen.marks[k].id, ++marks);
			assert_true(seen.marks[k].t_ns <= first + 200 * NS_PER_MS);
			/* a mark after rows that are not older may be too late for its file */
			assert_in_range(seen.marks[k].t_ns - START - ((int64_t)marks - 1) * 10 * NS_PER_MS, 0,
					100 * NS_PER_MS);
		}
	}
	assert_int_equal(marks, 1000);
	expect_all(all);
	log_out_stats(w, &st);
	assert_true(st.lost_rows == 0 && st.marks == 1000 && st.rows[TIER_FAST] == pushed[TIER_FAST].n);
	log_out_free(w);
	columns_free(all);
}

static bool equal_bits(double a, double b)
{
	return !memcmp(&a, &b, sizeof(a));
}

/* The rows [from, to) of the fast tier are missing; the others are those that were pushed, and so are the columns. */
static void expect_trace(struct trace *t, size_t from, size_t to)
{
	static int64_t t_ns[1024];
	static double values[1024];
	struct timeline *tl = trace_timeline(t);
	const struct column *all = &pushed[TIER_FAST];
	size_t n = (size_t)trace_rows(t, TIER_FAST), width = about.width[TIER_FAST];
	struct bin is, was;

	assert_int_equal(n, all->n - (to - from));
	for (size_t row = 0; row < n; row += 1000) {
		size_t more = n - row < 1000 ? n - row : 1000;

		trace_row_times(t, TIER_FAST, row, more, t_ns);
		for (size_t c = 0; c < width; c++) {
			trace_row_values(t, c, row, more, values);
			for (size_t i = 0; i < more; i++) {
				size_t at = row + i < from ? row + i : row + i + (to - from);

				assert_int_equal(t_ns[i], all->t_ns[at]);
				assert_true(isnan(values[i]) ? isnan(all->values[at * width + c])
							     : equal_bits(values[i], all->values[at * width + c]));
			}
		}
	}
	for (int zoom = 22; zoom < 40; zoom++)
		for (size_t row = 0; row < all->n;) {
			int64_t column = all->t_ns[row] >> zoom;

			tl->ops->columns(tl, 0, zoom, column, 1, &is);
			was = (struct bin) {.n = 0};
			for (; row < all->n && all->t_ns[row] >> zoom == column; row++)
				if (row < from || row >= to)
					bin_add(&was, all->values[row * width]);
			assert_int_equal(is.n, was.n);
			if (was.n > 0) {
				assert_true(equal_bits(is.min, was.min) && equal_bits(is.max, was.max));
				assert_true(fabs(is.sum - was.sum) <= 1e-9 * fabs(was.sum));
			}
		}
}

static struct trace *open_trace(const char *const *paths, size_t n)
{
	struct err e;
	struct trace *t = trace_open_files(paths, n, false, NULL, NULL, &e);

	if (!t)
		fail_msg("%s", e.text);
	assert_int_equal(e.code, ERR_NONE);
	return t;
}

/* Given together in any order, and one behind the other in one file. */
static void one_trace(void **state)
{
	struct log_out *w = series(&(struct trace_limits) {.split.ns = 9 * NS_PER_S});
	static char names[FILES][PATH_MAX], again[PATH_MAX];
	const char *paths[FILES], *one = again;
	struct column all[TIERS] = {{.n = 0}};
	static struct seen seen;
	size_t n, before[FILES + 1] = {0}, count;
	const struct gap *gaps;
	struct trace *t;
	struct err e;
	FILE *out;

	(void)state;
	for (int i = 0; i < 80; i++) {
		push(stream, START + i * 500 * NS_PER_MS, 0.5);
		nanosleep(&(struct timespec) {.tv_nsec = 5000000}, NULL);
	}
	n = finish(w, true);
	assert_in_range(n, 4, FILES);
	snprintf(again, sizeof(again), "%s/again.nvmt", folder);
	out = fopen(again, "w");
	for (size_t i = 0; i < n; i++) {
		struct file f;

		read_one(w, i, &seen, all);
		before[i + 1] = all[TIER_FAST].n;
		assert_true(log_out_file(w, i, names[i], sizeof(names[i]), NULL));
		paths[n - 1 - i] = names[i];
		f = slurp(names[i]);
		assert_int_equal(fwrite(f.p, 1, f.n, out), f.n);
		free(f.p);
	}
	fclose(out);

	t = open_trace(paths, n);
	assert_string_equal(trace_path(t), names[0]);
	assert_string_equal(trace_last_path(t), names[n - 1]);
	expect_trace(t, 0, 0);
	trace_gaps(t, &count);
	assert_int_equal(count, 0);
	trace_close(t);
	t = open_trace(&one, 1);
	expect_trace(t, 0, 0);
	trace_close(t);

	/* One in the middle is missing, in either form. */
	for (size_t i = 0; i + 1 < n; i++)
		paths[i] = names[i < 2 ? i : i + 1];
	out = fopen(again, "w");
	for (size_t i = 0; i + 1 < n; i++) {
		struct file f = slurp(paths[i]);

		fwrite(f.p, 1, f.n, out);
		free(f.p);
	}
	fclose(out);
	for (int i = 0; i < 2; i++) {
		t = i ? open_trace(&one, 1) : open_trace(paths, n - 1);
		expect_trace(t, before[2], before[3]);
		gaps = trace_gaps(t, &count);
		assert_int_equal(count, TIERS);
		for (size_t k = 0; k < count; k++) {
			const struct column *c = &pushed[gaps[k].tier];
			size_t row = 0;

			assert_int_equal(gaps[k].cause, GAP_ABSENT);
			while (c->t_ns[row] != gaps[k].from_ns)
				row++;
			assert_int_equal(c->t_ns[row + gaps[k].missed + 1], gaps[k].to_ns);
		}
		trace_close(t);
	}

	paths[1] = paths[0];
	assert_null(trace_open_files(paths, 2, false, NULL, NULL, &e));
	assert_non_null(strstr(e.text, "the same file"));
	log_out_free(w);
	columns_free(all);
}

static void split_by_size(void **state)
{
	struct log_out *w = series(&(struct trace_limits) {.split.bytes = 100000});
	struct column all[TIERS] = {{.n = 0}};
	static struct seen seen;
	char name[PATH_MAX];
	struct stat st;
	size_t n;

	(void)state;
	for (int i = 0; i < 400; i++) {
		push(stream, START + i * 50 * NS_PER_MS, 0.05);
		nanosleep(&(struct timespec) {.tv_nsec = 5000000}, NULL);
	}
	n = finish(w, true);
	assert_in_range(n, 2, FILES);
	for (size_t i = 0; i < n; i++) {
		read_one(w, i, &seen, all);
		assert_true(log_out_file(w, i, name, sizeof(name), NULL) && stat(name, &st) == 0);
		assert_true(st.st_size <= 100000);
		assert_true(i + 1 == n || st.st_size > 50000);
	}
	expect_all(all);
	log_out_free(w);
	columns_free(all);
}

static void max_size(void **state)
{
	struct log_out *w = series(&(struct trace_limits) {.max_bytes = 150000});
	struct column all[TIERS] = {{.n = 0}};
	struct log_out_stats st;
	static struct seen seen;
	struct stat file;

	(void)state;
	push(stream, START, 30);
	/* The thread that writes finds it out. */
	for (int i = 0; i < 6000; i++) {
		log_out_stats(w, &st);
		if (st.full)
			break;
		nanosleep(&(struct timespec) {.tv_nsec = 10000000}, NULL);
	}
	assert_true(st.full && st.until_ns < START + 30 * NS_PER_S);
	assert_int_equal(finish(w, true), 1);
	assert_int_equal(stat(path, &file), 0);
	assert_in_range(file.st_size, 90000, 150000);
	read_one(w, 0, &seen, all);
	assert_int_equal(seen.reason, LOG_LIMIT);
	log_out_stats(w, &st);
	assert_int_equal(st.lost_rows, 0);
	for (int t = 0; t < TIERS; t++) {
		assert_true(all[t].n > 0 && all[t].n == st.rows[t] && all[t].n < pushed[t].n);
		assert_memory_equal(all[t].t_ns, pushed[t].t_ns, all[t].n * sizeof(int64_t));
		assert_true(all[t].t_ns[all[t].n - 1] < st.until_ns);
		assert_true(pushed[t].t_ns[all[t].n] >= st.until_ns);
	}
	log_out_free(w);
	columns_free(all);
}

/* A permanent error: the next file starts with the chunk that could not be written, so nothing is lost. */
static void next_after_error(void **state)
{
	struct log_out *w = series(&(struct trace_limits) {0});
	struct column all[TIERS] = {{.n = 0}};
	struct log_out_stats st;
	static struct seen first, second;
	struct err e;
	double at;
	bool complete;

	(void)state;
	push(stream, START, 3);
	at = push_until(w, 3, all_written);
	disk_is(EIO, 0, false);
	at = push_until(w, at, in_trouble);
	stream->ops->mark(stream,
				      &(struct mark) {1, START + (int64_t)(at * 1e9), "meanwhile"});
	at += push_until(w, at, in_trouble) - at;
	disk_is(0, 0, false);
	at = push_until(w, at, two_files);
	push(stream, START + (int64_t)(at * 10 + 0.5) * 100 * NS_PER_MS, 2);
	assert_int_equal(finish(w, false), 2);
	assert_true(log_out_file(w, 0, NULL, 0, &complete) && !complete);
	assert_true(log_out_file(w, 1, NULL, 0, &complete) && complete);
	assert_int_equal(log_out_result(w, &e), -1);
	assert_int_equal(e.num, EIO);
	assert_non_null(strstr(e.text, "a.nvmt")); /* not the next one, which could not be written at first */
	read_one(w, 0, &first, all);
	read_one(w, 1, &second, all);
	assert_true(second.n_gaps == 0 && second.n_marks == 1);
	assert_string_equal(second.marks[0].label, "meanwhile");
	expect_all(all);
	log_out_stats(w, &st);
	assert_true(st.rows[TIER_FAST] == all[TIER_FAST].n && st.holes == 1 && st.lost_rows == 0);
	log_out_free(w);
	columns_free(all);
}

/* What is lost for lack of room is a gap where it was, and counted as such; what follows is whole. */
/* A file that ends without its END is none that is missing, whatever the times of the rows at its edge: late, or late
 * after a tick that was skipped. */
static void late_at_an_edge(void **state)
{
	struct log_out *w = series(&(struct trace_limits) {.split.ns = 2 * NS_PER_S});
	static char names[FILES][PATH_MAX];
	const char *paths[FILES];
	int64_t before_ns = START - NS_PER_MS;
	struct stat st;
	struct trace *t;
	struct err e;
	size_t n, count;

	(void)state;
	for (int64_t ns = START; ns < START + 12 * NS_PER_S; ns += NS_PER_MS) {
		bool edge = log_cell(ns) != log_cell(ns - NS_PER_MS), skipped = edge && log_cell(ns) % 2;
		int64_t t_ns = skipped ? ns + NS_PER_MS : edge ? ns + 6 * NS_PER_MS / 10 : ns;

		if (skipped)
			stream->ops->gap(stream, &(struct gap) {TIER_FAST, GAP_LATE, before_ns, t_ns, 1});
		stream->ops->rows(stream, &(struct rows) {TIER_FAST, 1, about.width[TIER_FAST], &t_ns, (double[8]) {0}});
		before_ns = t_ns;
		ns += skipped ? NS_PER_MS : 0;
		if (edge)
			nanosleep(&(struct timespec) {.tv_nsec = 2000000}, NULL);
	}
	n = finish(w, true);
	assert_in_range(n, 4, FILES);
	for (size_t i = 0; i < n; i++) {
		assert_true(log_out_file(w, i, names[i], sizeof(names[i]), NULL));
		paths[i] = names[i];
		assert_int_equal(stat(names[i], &st), 0);
		assert_int_equal(truncate(names[i], st.st_size - 30), 0);
	}
	t = trace_open_files(paths, n, false, NULL, NULL, &e);
	assert_non_null(t);
	trace_gaps(t, &count);
	assert_int_equal(count, 0);
	trace_close(t);
	log_out_free(w);
}

static void gap_in_the_middle(void **state)
{
	struct column all[TIERS] = {{.n = 0}};
	struct log_out_stats st;
	static struct seen seen;
	uint64_t missed[TIERS] = {0};
	struct log_out *w;

	(void)state;
	disk_is(0, 0, true);
	w = series_with(&(struct trace_limits) {0}, 100000);
	push(stream, START, 40);
	disk_is(0, 0, false);
	push_until(w, 40, no_trouble);
	assert_int_equal(finish(w, true), 1);
	read_one(w, 0, &seen, all);
	for (size_t i = 0; i < seen.n_gaps; i++) {
		assert_true(seen.gaps[i].cause == GAP_LOST && seen.gaps[i].from_ns <= seen.gaps[i].to_ns);
		missed[seen.gaps[i].tier] += seen.gaps[i].missed;
	}
	log_out_stats(w, &st);
	assert_true(missed[TIER_FAST] > 0);
	for (int t = 0; t < TIERS; t++)
		assert_int_equal(all[t].n + missed[t], pushed[t].n);
	assert_int_equal(st.lost_rows, missed[0] + missed[1] + missed[2]);
	assert_int_equal(st.gap_rows, st.lost_rows);
	log_out_free(w);
	columns_free(all);
}

#define RANGES 500 /* a second */

static bool take_range(void *arg, const struct range *r)
{
	uint8_t *got = arg;

	assert_int_equal(got[r->value]++, 0);
	return true;
}

/* Ranges that are lost for lack of room are counted in the file. */
static void lost_ranges(void **state)
{
	static const struct range_lane lane = {.pid = 1, .tid = 1, .process = "p", .thread = "t"};
	static struct range list[RANGES];
	static uint8_t got[40 * RANGES];
	const struct change *changes;
	uint64_t n_got = 0, told = 0;
	char name[PATH_MAX];
	struct log_out *w;
	struct trace *t;
	struct err e;
	size_t n;

	(void)state;
	memset(got, 0, sizeof(got));
	disk_is(0, 0, true);
	w = series_with(&(struct trace_limits) {0}, 100000);
	for (size_t i = 0; i < 40; i++) {
		for (size_t j = 0; j < RANGES; j++) {
			int64_t at = START + (int64_t)i * NS_PER_S + (int64_t)j * NS_PER_MS;

			list[j] = (struct range) {.begin_ns = at, .end_ns = at + 500, .name = "r", .lane = &lane, .value = i * RANGES + j};
		}
		stream->ops->ranges(stream, list, RANGES);
		push(stream, START + (int64_t)i * NS_PER_S, 1);
	}
	disk_is(0, 0, false);
	push_until(w, 40, no_trouble);
	assert_int_equal(finish(w, true), 1);
	assert_true(log_out_file(w, 0, name, sizeof(name), NULL));
	t = trace_open(name, &e);
	assert_non_null(t);
	trace_ranges(trace_timeline(t), START, START + 100 * NS_PER_S, 0, take_range, got);
	for (size_t i = 0; i < 40 * RANGES; i++)
		n_got += got[i];
	changes = trace_changes(t, &n);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(changes[i].what, "ranges.lost"))
			told += strtoull(changes[i].to, NULL, 10);
	assert_true(n_got > 0 && told > 0);
	assert_int_equal(n_got + told, 40 * RANGES);
	trace_close(t);
	log_out_free(w);
}

#define OF_A_KIND 40

/* So are marks, changes and gaps: each is in the file, or counted there and in the result. */
static void lost_events(void **state)
{
	uint64_t marks, changes = 0, gaps = 0, told = 0;
	const struct change *c;
	const struct gap *g;
	struct log_out_stats st;
	char name[PATH_MAX];
	struct log_out *w;
	struct trace *t;
	struct err e;
	size_t n;

	(void)state;
	disk_is(0, 0, true);
	channels[CHANNELS - 1].kind = CHANNEL_OTHER; /* no throttling is noticed */
	w = series_with(&(struct trace_limits) {0}, 100000);
	for (int i = 0; i < OF_A_KIND; i++) {
		int64_t at = START + i * NS_PER_S;

		stream->ops->mark(stream, &(struct mark) {(uint64_t)i + 1, at + 1, ""});
		stream->ops->change(stream, &(struct change) {at + 1, "mode", "15W", "30W"});
		stream->ops->gap(stream, &(struct gap) {TIER_FAST, GAP_LATE, at + 1, at + NS_PER_MS, 2});
		push(stream, at, 1);
	}
	disk_is(0, 0, false);
	push_until(w, OF_A_KIND, no_trouble);
	assert_int_equal(finish(w, true), 1);
	log_out_stats(w, &st);
	assert_true(log_out_lacks(&st));
	assert_true(log_out_file(w, 0, name, sizeof(name), NULL));
	t = trace_open(name, &e);
	assert_non_null(t);
	trace_marks(t, &n);
	marks = n;
	c = trace_changes(t, &n);
	for (size_t i = 0; i < n; i++) {
		changes += !strcmp(c[i].what, "mode");
		told += strcmp(c[i].what, "events.lost") ? 0 : strtoull(c[i].to, NULL, 10);
	}
	g = trace_gaps(t, &n);
	for (size_t i = 0; i < n; i++)
		gaps += g[i].cause == GAP_LATE;
	assert_in_range(changes, 1, OF_A_KIND - 1);
	assert_int_equal(st.lost.marks, OF_A_KIND - marks);
	assert_int_equal(st.lost.events, 2 * OF_A_KIND - changes - gaps);
	assert_int_equal(told, st.lost.marks + st.lost.events);
	channels[CHANNELS - 1].kind = CHANNEL_THROTTLE_COUNT;
	trace_close(t);
	log_out_free(w);
}

/* Rows of all tiers, whose last channel has that value. */
static void push_throttled(double from, double to, double throttled)
{
	const int64_t period[TIERS] = {NS_PER_MS, 10 * NS_PER_MS, 100 * NS_PER_MS};

	for (int64_t at = START + llround(from * 1e9); at < START + llround(to * 1e9); at += NS_PER_MS)
		for (enum tier t = 0; t < TIERS; t++) {
			const double v[3] = {(double)random_below(1000), t == TIER_SLOW ? throttled : 2, 3};

			if ((at - START) % period[t] == 0)
				stream->ops->rows(stream, &(struct rows) {t, 1, about.width[t], &at, v});
		}
}

/* The record of an end that found no room: later files do not say that it goes on. */
static void lost_end_of_a_state(void **state)
{
	struct log_out_stats st = {.bytes = 0};
	struct state_event events[4];
	struct timeline *line;
	char name[PATH_MAX];
	struct log_out *w;
	struct trace *t;
	double at = 45;
	struct err e;
	size_t n;

	(void)state;
	channels[CHANNELS - 1].kind = CHANNEL_THROTTLE;
	w = series_with(&(struct trace_limits) {.split.ns = 5 * NS_PER_S}, 20000);
	push_throttled(0, 3, 1);
	while (!all_written(&st)) {
		nanosleep(&(struct timespec) {.tv_nsec = 10000000}, NULL);
		log_out_stats(w, &st);
	}
	disk_is(0, 0, true);
	push_throttled(3, 5, 1);
	push_throttled(5, at, 0);
	disk_is(0, 0, false);
	do {
		push_throttled(at, at + 0.5, 0);
		at += 0.5;
		nanosleep(&(struct timespec) {.tv_nsec = 10000000}, NULL);
		log_out_stats(w, &st);
	} while (at < 90 && (st.files < 3 || !no_trouble(&st)));
	n = finish(w, true);
	assert_in_range(n, 3, FILES);
	log_out_stats(w, &st);
	assert_true(st.lost.events > 0);
	assert_true(log_out_file(w, n - 1, name, sizeof(name), NULL));
	t = trace_open(name, &e);
	assert_non_null(t);
	line = trace_timeline(t);
	assert_int_equal(line->ops->states(line, SIZE_MAX, 0, INT64_MAX, events, 4), 0);
	trace_close(t);
	log_out_free(w);
	channels[CHANNELS - 1].kind = CHANNEL_THROTTLE_COUNT;
}

static void push_tier(enum tier tier, double from, double to)
{
	const int64_t period[TIERS] = {NS_PER_MS, 10 * NS_PER_MS, 100 * NS_PER_MS};
	const double v[3] = {1, 2, 3};

	for (int64_t at = START + llround(from * 1e9); at < START + llround(to * 1e9); at += period[tier]) {
		stream->ops->rows(stream, &(struct rows) {tier, 1, about.width[tier], &at, v});
		column_add(&pushed[tier], about.width[tier], at, v);
	}
}

/* A recording that is ended while a next file is due, and some tiers have not come that far, has all rows until its end. */
static void ends_at_a_split(void **state)
{
	struct log_out *w = series(&(struct trace_limits) {.split.ns = 2 * NS_PER_S});
	int64_t end_ns = START + 2400 * NS_PER_MS;
	struct column all[TIERS] = {{.n = 0}};
	struct log_out_stats st = {.bytes = 0};
	static struct seen seen;
	size_t n;

	(void)state;
	push(stream, START, 1.9);
	push_tier(TIER_FAST, 1.9, 2.6);
	while (!all_written(&st)) {
		nanosleep(&(struct timespec) {.tv_nsec = 10000000}, NULL);
		log_out_stats(w, &st);
	}
	assert_int_equal(st.files, 1);
	assert_true(log_out_end_at(w, &end_ns, true));
	push_tier(TIER_FAST, 2.6, 4);
	push_tier(TIER_MEDIUM, 1.9, 4);
	push_tier(TIER_SLOW, 1.9, 4);
	n = finish(w, true);
	for (size_t i = 0; i < n; i++)
		read_one(w, i, &seen, all);
	for (int t = 0; t < TIERS; t++) {
		size_t want = 0;

		while (pushed[t].t_ns[want] < log_cell_ns(log_cell(end_ns) + 1))
			want++;
		assert_int_equal(all[t].n, want);
		assert_memory_equal(all[t].t_ns, pushed[t].t_ns, want * sizeof(*all[t].t_ns));
	}
	log_out_free(w);
	columns_free(all);
}

/* Another program truncates the file: what comes is in the next one, and it is said. */
static void truncated(void **state)
{
	struct log_out *w = series(&(struct trace_limits) {0});
	struct column all[TIERS] = {{.n = 0}};
	static struct seen seen;
	char name[PATH_MAX];
	bool complete;
	struct err e;
	double at;

	(void)state;
	at = push_until(w, 0, all_written);
	assert_true(log_out_file(w, 0, name, sizeof(name), NULL));
	assert_int_equal(truncate(name, 0), 0);
	push_until(w, at, two_files);
	assert_int_equal(finish(w, false), 2);
	assert_true(log_out_file(w, 0, NULL, 0, &complete) && !complete);
	assert_int_equal(log_out_result(w, &e), -1);
	assert_non_null(strstr(e.text, "a.nvmt ended early: another program has truncated it"));
	read_one(w, 1, &seen, all);
	assert_true(all[TIER_FAST].n > 0);
	log_out_free(w);
	columns_free(all);
}

/* There is no next file before it has bytes. */
static void no_empty_next(void **state)
{
	struct log_out *w = series(&(struct trace_limits) {.split.ns = 2 * NS_PER_S});
	struct log_out_stats now = {.bytes = 0};
	char name[160];
	struct stat st;

	(void)state;
	snprintf(name, sizeof(name), "%s/a.2.nvmt", folder);
	push(stream, START, 1.9);
	while (!all_written(&now)) {
		nanosleep(&(struct timespec) {.tv_nsec = 10000000}, NULL);
		log_out_stats(w, &now);
	}
	assert_int_equal(stat(name, &st), -1);
	push_until(w, 100, two_files);
	assert_true(stat(name, &st) == 0 && st.st_size > 0);
	finish(w, true);
	log_out_free(w);
}

/* Writing fails from the first byte and later works: nothing is lost. */
static void late_start(void **state)
{
	struct column all[TIERS] = {{.n = 0}};
	struct log_out *w;
	static struct seen seen;
	double at;

	(void)state;
	disk_is(EFBIG, 0, false);
	w = series(&(struct trace_limits) {0});
	at = push_until(w, 0, in_trouble);
	disk_is(0, 0, false);
	push_until(w, at, no_trouble);
	assert_int_equal(finish(w, true), 1);
	read_one(w, 0, &seen, all);
	expect_all(all);
	log_out_free(w);
	columns_free(all);
}

/* A disk that is full for a while: all data waits and goes into the same file. */
static void full_for_a_while(void **state)
{
	struct log_out *w = series(&(struct trace_limits) {0});
	struct column all[TIERS] = {{.n = 0}};
	struct log_out_stats st;
	static struct seen seen;
	struct err e;
	double at;

	(void)state;
	disk_is(ENOSPC, 0, false);
	at = push_until(w, 0, in_trouble);
	log_out_stats(w, &st);
	assert_non_null(strstr(st.err.text, "No space left"));
	push(stream, START + (int64_t)(at * 10 + 0.5) * 100 * NS_PER_MS, 5);
	disk_is(0, 0, false);
	push_until(w, at + 5, no_trouble);
	assert_int_equal(finish(w, true), 1);
	assert_int_equal(log_out_result(w, &e), 0);
	read_one(w, 0, &seen, all);
	expect_all(all);
	log_out_stats(w, &st);
	assert_true(st.holes == 1 && st.lost_rows == 0);
	log_out_free(w);
	columns_free(all);
}

/* Full until the end: missing data is counted and reported. */
static void full_to_the_end(void **state)
{
	struct log_out *w = series(&(struct trace_limits) {0});
	struct log_out_stats st;
	struct err e;
	double at;

	(void)state;
	at = push_until(w, 0, all_written);
	disk_is(ENOSPC, 0, false);
	push_until(w, at, in_trouble);
	stream->ops->mark(stream, &(struct mark) {1, START, ""});
	finish(w, false);
	assert_int_equal(log_out_result(w, &e), -1);
	assert_int_equal(e.num, ENOSPC);
	log_out_stats(w, &st);
	assert_true(st.failed && st.lost.marks == 1 && st.marks == 0);
	assert_int_equal(st.lost_rows + st.rows[0] + st.rows[1] + st.rows[2],
			 pushed[0].n + pushed[1].n + pushed[2].n);
	disk_is(0, 0, false);
	log_out_free(w);
}

/* Ends the recording while the disk hangs; then it answers, with these errors and this limit. */
static void end_held(struct log_out *w, int writes, off_t limit)
{
	stream_close(stream);
	log_out_finish(w);
	longest = limit;
	disk_is(writes, 0, false);
	assert_true(log_out_wait(w, clock_now_ns() + 30 * NS_PER_S));
	longest = 0;
	disk_is(0, 0, false);
}

/* A disk that is full from just before the end: the one file is named. */
static void full_at_the_end(void **state)
{
	struct log_out *w = series(&(struct trace_limits) {0});
	struct log_out_stats st;
	struct err e;
	double at;

	(void)state;
	at = push_until(w, 0, all_written);
	disk_is(0, 0, true);
	push(stream, START + (int64_t)(at * 10 + 0.5) * 100 * NS_PER_MS, 5);
	end_held(w, ENOSPC, 0);
	assert_int_equal(log_out_result(w, &e), -1);
	assert_non_null(strstr(e.text, "/a.nvmt ended early: No space left"));
	log_out_stats(w, &st);
	assert_true(st.failed && st.files == 1 && st.lost_rows > 0);
	log_out_free(w);
}

/* The recording ends while data waits that takes more than one file: it goes on in the next ones. */
static void large_at_the_end(void **state)
{
	struct column all[TIERS] = {{.n = 0}};
	struct log_out *w;
	struct log_out_stats st;
	static struct seen seen;
	struct err e;

	(void)state;
	disk_is(0, 0, true);
	w = series(&(struct trace_limits) {0});
	push(stream, START, 20);
	end_held(w, 0, 20000);
	log_out_stats(w, &st);
	assert_int_equal(log_out_result(w, &e), -1);
	assert_int_equal(e.num, EFBIG);
	assert_true(st.lost_rows == 0 && !st.failed);
	assert_in_range(st.files, 3, 100);
	for (size_t i = 0; i < st.files; i++)
		read_one(w, i, &seen, all);
	expect_all(all);
	log_out_free(w);
	columns_free(all);
}

/* A failed sync: that file may be incomplete, so the next one is started. */
static void sync_fails(void **state)
{
	struct log_out *w = series(&(struct trace_limits) {.sync_ns = NS_PER_MS});
	struct err e;
	bool complete;

	(void)state;
	push(stream, START, 1);
	disk_is(0, EIO, false);
	push_until(w, 1, in_trouble);
	disk_is(0, 0, false);
	push_until(w, 100, two_files);
	assert_int_equal(finish(w, false), 2);
	assert_true(log_out_file(w, 0, NULL, 0, &complete) && !complete);
	assert_int_equal(log_out_result(w, &e), -1);
	log_out_free(w);
}

/* The next file cannot be created: the recording stays in the current one. */
static void cannot_split(void **state)
{
	struct log_out *w = series(&(struct trace_limits) {.split.ns = NS_PER_S});
	struct rlimit was, none;
	struct column all[TIERS] = {{.n = 0}};
	static struct seen seen;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	none = (struct rlimit) {.rlim_cur = 0, .rlim_max = was.rlim_max};
	setrlimit(RLIMIT_NOFILE, &none);
	push_until(w, 0, in_trouble);
	setrlimit(RLIMIT_NOFILE, &was);
	finish(w, true);
	read_one(w, 0, &seen, all);
	assert_true(all[TIER_FAST].n > 0);
	log_out_free(w);
	columns_free(all);
}

/* Uses the next free number; a file opened but unused is removed. */
static void names(void **state)
{
	struct log_out *w;
	char name[PATH_MAX];
	struct stat st;
	FILE *f;

	(void)state;
	snprintf(name, sizeof(name), "%s/a.2.nvmt", folder);
	f = fopen(name, "w");
	assert_non_null(f);
	fclose(f);
	w = series(&(struct trace_limits) {.split.ns = 2 * NS_PER_S});
	push_until(w, 0, two_files);
	push(stream, START + 100 * NS_PER_S, 1);
	nanosleep(&(struct timespec) {.tv_nsec = 100000000}, NULL);
	assert_in_range(finish(w, true), 2, FILES);
	assert_true(log_out_file(w, 1, name, sizeof(name), NULL));
	assert_string_equal(strrchr(name, '/'), "/a.3.nvmt");
	snprintf(name, sizeof(name), "%s/a.2.nvmt", folder);
	assert_true(stat(name, &st) == 0 && st.st_size == 0);
	for (unsigned i = 4; i < FILES; i++) {
		snprintf(name, sizeof(name), "%s/a.%u.nvmt", folder, i);
		assert_true(stat(name, &st) < 0 || st.st_size > 0);
	}
	log_out_free(w);
}

/* A hanging write blocks neither rows, nor the end, nor free(). */
static void hanging_disk(void **state)
{
	struct log_out *w;
	struct log_out_stats st;
	int64_t began = clock_now_ns();
	struct err e;

	(void)state;
	disk_is(0, 0, true);
	w = series_with(&(struct trace_limits) {0}, 100000);
	push(stream, START, 60);
	log_out_stats(w, &st);
	assert_true(st.dropping && st.lost_rows > 0 && st.queued < 400000);
	assert_non_null(strstr(st.err.text, "too slow"));
	stream_close(stream);
	log_out_finish(w);
	assert_false(log_out_wait(w, clock_now_ns() + 50 * NS_PER_MS));
	assert_int_equal(log_out_result(w, &e), -1);
	assert_non_null(strstr(e.text, "does not respond"));
	log_out_free(w);
	assert_true(clock_now_ns() - began < 20 * NS_PER_S);
	disk_is(0, 0, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(split_by_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_trace, set_up, tear_down),
		cmocka_unit_test_setup_teardown(split_by_size, set_up, tear_down),
		cmocka_unit_test_setup_teardown(max_size, set_up, tear_down),
		cmocka_unit_test_setup_teardown(next_after_error, set_up, tear_down),
		cmocka_unit_test_setup_teardown(late_at_an_edge, set_up, tear_down),
		cmocka_unit_test_setup_teardown(gap_in_the_middle, set_up, tear_down),
		cmocka_unit_test_setup_teardown(lost_ranges, set_up, tear_down),
		cmocka_unit_test_setup_teardown(lost_events, set_up, tear_down),
		cmocka_unit_test_setup_teardown(lost_end_of_a_state, set_up, tear_down),
		cmocka_unit_test_setup_teardown(ends_at_a_split, set_up, tear_down),
		cmocka_unit_test_setup_teardown(truncated, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_empty_next, set_up, tear_down),
		cmocka_unit_test_setup_teardown(late_start, set_up, tear_down),
		cmocka_unit_test_setup_teardown(full_for_a_while, set_up, tear_down),
		cmocka_unit_test_setup_teardown(full_to_the_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(full_at_the_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(large_at_the_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(sync_fails, set_up, tear_down),
		cmocka_unit_test_setup_teardown(cannot_split, set_up, tear_down),
		cmocka_unit_test_setup_teardown(names, set_up, tear_down),
		cmocka_unit_test_setup_teardown(hanging_disk, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
