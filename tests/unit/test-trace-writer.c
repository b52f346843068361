/* The files around a recording: what is refused, what is left, what a disk that
 * is full or a second recorder leads to. */
#include "test-trace.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "trace/join.h"
#include "trace/lanes.h"

static void refused(const char *path, bool force, const char *word)
{
	struct err e = {.code = ERR_NONE};
	struct trace_writer *w = trace_writer_new(path, force, &e);

	assert_null(w);
	assert_int_not_equal(e.code, ERR_NONE);
	if (!strstr(e.text, word))
		fail_msg("'%s' is not in: %s", word, e.text);
	assert_null(trace_writer_new(path, force, NULL));
}

static void put_file(const char *name, const char *text)
{
	FILE *f = fopen(in_folder(name), "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void test_refused(void **state)
{
	char path[8192];

	(void)state;
	refused("", false, "empty");
	refused(test_folder, false, "folder");
	refused(test_folder, true, "folder");
	refused(in_folder(""), false, "folder");
	refused(in_folder("nowhere/x.bin"), false, "no folder");
	put_file("file", "mine");
	refused(in_folder("file/x.bin"), false, "Not a directory");
	refused(in_folder("file"), false, "already exists");
	refused("/dev/full", true, "regular file");
	refused("/proc/x.bin", false, "cannot record");
	assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
	refused(in_folder("pipe"), true, "regular file");
	assert_int_equal(symlink("nowhere/at/all", in_folder("link")), 0);
	refused(in_folder("link"), false, "symbolic link");
	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	refused(path, false, "too long");
	path[250] = '\0';
	refused(path, false, "too long");
	assert_false(there("file.part") || there("file.part.side"));
}

static void test_never_begun(void **state)
{
	struct trace_writer *w = trace_writer_new(in_folder("never.bin"), false, NULL);

	(void)state;
	assert_non_null(w);
	assert_true(there("never.bin.part"));
	trace_writer_free(w);
	assert_false(there("never.bin") || there("never.bin.part") || there("never.bin.part.side"));
	trace_writer_free(NULL);
}

static void test_two_recorders(void **state)
{
	struct trace_writer *w = trace_writer_new(in_folder("two.bin"), false, NULL);

	(void)state;
	assert_non_null(w);
	refused(in_folder("two.bin"), true, "by another process");
	trace_writer_free(w);
	put_file("left.bin.part", "dead");
	refused(in_folder("left.bin"), true, "left.bin.part is left");
	assert_true(there("left.bin.part"));
	put_file("left2.bin.part.side", "dead");
	refused(in_folder("left2.bin"), true, "left2.bin.part.side is left");
	assert_false(there("left2.bin.part"));
}

static int record(struct trace_writer *w, const struct script *s, struct err *e)
{
	struct sink *sink = trace_writer_sink(w);
	size_t at[TIERS] = {0};

	if (sink->ops->begin(sink, &s->session, e) < 0)
		return -1;
	script_push_paced(s, w, at, s->t_ns[TIER_FAST][s->n[TIER_FAST] / 2]);
	sink->ops->mark(sink, &(struct mark) {1, s->t_ns[TIER_FAST][s->n[TIER_FAST] / 2], "half"});
	script_push_paced(s, w, at, INT64_MAX);
	return sink->ops->end(sink, e);
}

static void test_force(void **state)
{
	struct script *s = script_new(31, 200, 2, 2, 2, false);
	struct err e = {.code = ERR_NONE};
	struct trace_writer *w;
	struct trace *t;

	(void)state;
	put_file("old \xc3\xa4.bin", "an earlier recording");
	w = trace_writer_new(in_folder("old \xc3\xa4.bin"), true, &e);
	assert_non_null(w);
	assert_string_equal(trace_writer_path(w), in_folder("old \xc3\xa4.bin"));
	assert_int_equal(record(w, s, &e), 0);
	trace_writer_free(w);
	assert_false(there("old \xc3\xa4.bin.part") || there("old \xc3\xa4.bin.part.side"));
	t = trace_open(in_folder("old \xc3\xa4.bin"), &e);
	assert_non_null(t);
	assert_int_equal(e.code, ERR_NONE);
	trace_close(t);
	script_free(s);
}

/* Somebody makes a file of that name while it is being recorded. */
static void test_name_taken_meanwhile(void **state)
{
	struct script *s = script_new(32, 200, 2, 2, 2, false);
	struct err e = {.code = ERR_NONE};
	struct trace_writer *w = trace_writer_new(in_folder("race.bin"), false, &e);
	struct trace *t;
	char text[8] = "";
	FILE *f;

	(void)state;
	put_file("race.bin", "theirs");
	assert_int_equal(record(w, s, &e), -1);
	assert_non_null(strstr(e.text, "race.bin.part"));
	trace_writer_free(w);
	f = fopen(in_folder("race.bin"), "r");
	assert_non_null(fgets(text, sizeof(text), f));
	fclose(f);
	assert_string_equal(text, "theirs");
	t = trace_open(in_folder("race.bin.part"), &e); /* it is complete */
	assert_non_null(t);
	assert_int_equal(e.code, ERR_NONE);
	trace_close(t);
	script_free(s);
}

/* A limit that is met while recording: nobody dies, it is said once, and what
 * was recorded until then is a complete trace below that limit. */
static void limited(const char *name, rlim_t limit)
{
	struct script *s = script_new(33, 4000, 8, 8, 8, false);
	struct err e = {.code = ERR_NONE};
	struct trace_writer *w = trace_writer_new(in_folder(name), false, &e);
	struct rlimit before, now;
	struct trace_writer_stats stats;
	struct trace_summary sum;
	struct trace *t;

	assert_non_null(w);
	getrlimit(RLIMIT_FSIZE, &before);
	now = before;
	now.rlim_cur = limit;
	setrlimit(RLIMIT_FSIZE, &now);
	assert_int_equal(record(w, s, &e), -1);
	setrlimit(RLIMIT_FSIZE, &before);
	trace_writer_stats(w, &stats);
	assert_true(stats.failed && stats.complete);
	assert_int_not_equal(stats.err.code, ERR_NONE);
	assert_non_null(strstr(stats.err.text, "File too large"));
	assert_int_equal(e.code, ERR_FAILED);
	assert_non_null(strstr(e.text, "the samples until then are in"));
	assert_int_equal(stats.rows[TIER_FAST] + stats.rows[TIER_MEDIUM] + stats.rows[TIER_SLOW] +
				 stats.lost_rows,
			 4000 + 400 + 40);
	trace_writer_free(w);
	t = trace_open(in_folder(name), &e);
	assert_non_null(t);
	assert_int_equal(e.code, ERR_NONE);
	trace_summary(t, &sum);
	assert_in_range(sum.bytes, 1, limit);
	trace_close(t);
	script_free(s);
}

static void test_file_limit(void **state)
{
	(void)state;
	limited("small.bin", 100000);
	limited("join.bin", HEADER_SIZE + 4000 * FAST_SIZE + 1000);
}

/* The same on a disk that is really full, where one can be had. */
static void test_full_disk(void **state)
{
	struct script *s = script_new(34, 60000, 16, 8, 16, true);
	struct err e = {.code = ERR_NONE}, opened = {.code = ERR_FAILED};
	struct trace_writer *w;
	struct trace *t;
	char path[600];

	(void)state;
	snprintf(path, sizeof(path), "%s", in_folder("disk"));
	assert_int_equal(mkdir(path, 0700), 0);
	if (mount("none", path, "tmpfs", 0, "size=5m") < 0) {
		print_message("# skipped: no small disk can be mounted here, but by root (%s)\n", strerror(errno));
		script_free(s);
		return;
	}
	w = trace_writer_new(in_folder("disk/full.bin"), false, &e);
	if (w) {
		int r = record(w, s, &e);

		trace_writer_free(w);
		/* Its own end had a place kept for it. */
		t = trace_open(in_folder("disk/full.bin"), &opened);
		refused(in_folder("disk/more.bin"), false, "full");
		if (t)
			trace_close(t);
		umount(path);
		assert_int_equal(r, -1);
		assert_non_null(t);
		assert_int_equal(opened.code, ERR_NONE);
		assert_non_null(strstr(e.text, "No space left"));
	} else {
		umount(path);
		fail_msg("%s", e.text);
	}
	script_free(s);
}

/* Pages of the blocks that are in memory. */
static size_t resident(const struct lanes *q)
{
	static unsigned char in[BLOCK_COUNT * sizeof(struct block) / 4096 + 1];
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n = 0, all;
	uintptr_t from = ((uintptr_t)q->pool + page - 1) & ~(page - 1);

	all = ((uintptr_t)(q->pool + BLOCK_COUNT) - from) / page;
	assert_int_equal(mincore((void *)from, all * page, in), 0);
	for (size_t i = 0; i < all; i++)
		n += in[i] & 1;
	return n;
}

/* A disk that stands still: rows are lost, counted and a gap; marks are not. */
static void test_no_room(void **state)
{
	struct script *s = script_new(35, 60000, 16, 8, 16, true);
	struct lanes q;
	struct err e = {.code = ERR_NONE};
	size_t width = s->session.width[TIER_FAST], gaps = 0, marks = 0, rows = 0;
	struct block *b;

	(void)state;
	assert_int_equal(lanes_init(&q, &e), 0);
	assert_true(resident(&q) <= 2);
	assert_int_equal(lanes_begin(&q, &s->session, &e), 0);
	lanes_rows(&q, &(struct rows) {TIER_FAST, s->n[TIER_FAST], width, s->t_ns[TIER_FAST],
				       s->values[TIER_FAST]});
	assert_true(q.lost > 0);
	assert_int_equal(q.lost + q.rows[TIER_FAST], s->n[TIER_FAST]);
	for (uint64_t id = 1; id <= 500; id++)
		lanes_mark(&q, &(struct mark) {id, s->t_ns[TIER_FAST][id], "while the disk stands still"});
	assert_int_equal(q.marks, 500);
	lanes_gap(&q, &(struct gap) {TIER_SLOW, GAP_LATE, START_NS, START_NS + 1, 1});
	lanes_seal(&q, true);
	while ((b = lanes_take(&q))) {
		const uint8_t *p = b->bytes + CHUNK_HEAD;
		size_t n = block_finish(b) - CHUNK_HEAD - CHUNK_CRC;
		uint64_t row;
		struct mark m;
		struct gap g;

		if (b->lane == LANE_FAST && b->used != HEADER_SIZE)
			rows += b->used / FAST_SIZE;
		for (size_t used = 1; b->id == CHUNK_MARKS && n > 0 && used > 0; n -= used, p += used) {
			used = mark_decode(p, n, &m, &row);
			assert_int_equal(m.id, ++marks);
			assert_int_equal(row, q.rows[TIER_FAST]);
		}
		for (; b->id == CHUNK_GAPS && n >= GAP_SIZE; n -= GAP_SIZE, p += GAP_SIZE) {
			assert_true(gap_decode(p, &g));
			if (g.cause == GAP_LOST) {
				assert_int_equal(g.missed, q.lost);
				assert_int_equal(g.from_ns, s->t_ns[TIER_FAST][q.rows[TIER_FAST] - 1]);
				assert_int_equal(g.to_ns, s->t_ns[TIER_FAST][s->n[TIER_FAST] - 1]);
			}
			gaps++;
		}
		lanes_give(&q, b);
	}
	assert_int_equal(gaps, 2);
	assert_int_equal(marks, 500);
	assert_int_equal(rows, q.rows[TIER_FAST]);
	assert_int_equal(q.n_free, BLOCK_COUNT);
	assert_true(resident(&q) > BLOCK_COUNT);
	lanes_release(&q);
	assert_int_equal(resident(&q), 0);
	/* and it goes on */
	lanes_rows(&q, &(struct rows) {TIER_FAST, 1, width,
				       &(int64_t) {s->t_ns[TIER_FAST][s->n[TIER_FAST] - 1] + 1000000},
				       s->values[TIER_FAST]});
	assert_int_equal(q.rows[TIER_FAST], rows + 1);
	lanes_free(&q);
	script_free(s);
}

/* All of a script, and that on the disk. */
static void record_dead(void *script)
{
	struct script *s = script;
	struct trace_writer *w = trace_writer_new(in_folder("dead.bin"), false, NULL);
	struct sink *sink = trace_writer_sink(w);
	struct trace_writer_stats stats;
	size_t at[TIERS] = {0};

	sink->ops->begin(sink, &s->session, NULL);
	sink->ops->mark(sink, &(struct mark) {1, START_NS + 1, "first"});
	script_push(s, sink, at, INT64_MAX);
	do {
		usleep(50000);
		trace_writer_stats(w, &stats);
	} while (stats.bytes < HEADER_SIZE + 3000 * FAST_SIZE + 300 * MEDIUM_SIZE + 30 * SLOW_SIZE);
	usleep(600000);
}

/* Killed at any moment: joining what is there gives a complete trace.  The
 * child is killed while it records, and by a file that is cut anywhere. */
static void test_join_what_is_left(void **state)
{
	struct script *s = script_new(36, 3000, 4, 3, 3, true);
	struct err e = {.code = ERR_NONE};
	struct joined joined;
	struct trace *t;
	int part, side;

	(void)state;
	killed_after(record_dead, s);
	t = trace_open(in_folder("dead.bin.part"), &e);
	assert_non_null(t);
	assert_int_equal(e.code, ERR_DAMAGED);
	trace_close(t);
	part = open(in_folder("dead.bin.part"), O_RDWR);
	side = open(in_folder("dead.bin.part.side"), O_RDWR);
	assert_int_equal(trace_join(part, side, "dead.bin", &joined, &e), 0);
	assert_int_equal(joined.rows[TIER_FAST], 3000);
	assert_int_equal(joined.rows[TIER_MEDIUM], 300);
	assert_int_equal(joined.rows[TIER_SLOW], 30);
	assert_int_equal(joined.marks, 1);
	/* Joined twice, or interrupted and joined again, it is the same. */
	assert_int_equal(trace_join(part, side, "dead.bin", &joined, &e), 0);
	assert_int_equal(joined.rows[TIER_FAST], 3000);
	/* The journal cut anywhere: whole, with less in it. */
	for (off_t cut = lseek(side, 0, SEEK_END); cut > 0; cut -= cut / 40 + 1) {
		assert_int_equal(ftruncate(part, HEADER_SIZE + 2500 * FAST_SIZE + 13), 0);
		assert_int_equal(ftruncate(side, cut), 0);
		assert_int_equal(trace_join(part, side, "dead.bin", &joined, &e), 0);
		assert_int_equal(joined.rows[TIER_FAST], 2500);
		t = trace_open(in_folder("dead.bin.part"), &e);
		assert_non_null(t);
		trace_close(t);
	}
	close(part);
	close(side);
	script_free(s);
}

/* What the progress line shows, and the ends that are not by the book. */
static void test_stats_while_running(void **state)
{
	struct script *s = script_new(37, 500, 2, 1, 1, false);
	struct trace_writer *w = trace_writer_new(in_folder("stats.bin"), false, NULL);
	struct trace_writer_stats stats;
	struct sink *sink = trace_writer_sink(w);
	size_t at[TIERS] = {0};
	struct stat st;

	(void)state;
	assert_int_equal(sink->ops->begin(sink, &s->session, NULL), 0);
	assert_int_equal(sink->ops->begin(sink, &s->session, NULL), -1);
	script_push(s, sink, at, INT64_MAX);
	trace_writer_stats(w, &stats);
	assert_int_equal(stats.rows[TIER_FAST], 500);
	assert_int_equal(sink->ops->end(sink, NULL), 0);
	assert_int_equal(sink->ops->end(sink, NULL), 0);
	trace_writer_stats(w, &stats);
	assert_int_equal(stat(in_folder("stats.bin"), &st), 0);
	assert_int_equal(stats.bytes, st.st_size);
	trace_writer_free(w);
	/* free() alone ends it, too */
	w = trace_writer_new(in_folder("freed.bin"), false, NULL);
	sink = trace_writer_sink(w);
	assert_int_equal(sink->ops->begin(sink, &s->session, NULL), 0);
	trace_writer_free(w);
	assert_true(there("freed.bin"));
	script_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_never_begun),
		cmocka_unit_test(test_two_recorders),
		cmocka_unit_test(test_force),
		cmocka_unit_test(test_name_taken_meanwhile),
		cmocka_unit_test(test_file_limit),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_join_what_is_left),
		cmocka_unit_test(test_stats_while_running),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
