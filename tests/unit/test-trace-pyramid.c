/* Columns of a long trace equal a plain scan over its samples, bit for bit and at
 * every zoom, wherever they come from; and nothing that happens to the file or to
 * the cache changes that. */
#include "test-trace.h"
#include "trace/build.h"

#include <sys/mman.h>
#include <sys/wait.h>

#define ROWS 40000

static const struct trace_tuning at_once = {.at_once = UINT64_MAX}, later = {.workers = 2},
				 kept = {.workers = 2, .keep = true};

/* --- the plain scan --- */

struct plain {
	int base;
	int64_t first, last; /* columns of zoom base */
	struct bin *bins;
};

static struct plain plain_scan(const struct script *s, const struct channel *c, size_t rows)
{
	size_t width = s->session.width[c->tier];
	const int64_t *t_ns = s->t_ns[c->tier];
	struct plain p = {.base = zoom_base(s->session.hz[c->tier])};

	p.first = t_ns[0] >> p.base;
	p.last = t_ns[rows - 1] >> p.base;
	p.bins = calloc((size_t)(p.last - p.first) + 1, sizeof(*p.bins));
	for (size_t r = 0; r < rows; r++)
		bin_add(&p.bins[(t_ns[r] >> p.base) - p.first], s->values[c->tier][r * width + c->column]);
	return p;
}

/* In place: columns of the next coarser zoom. */
static void plain_halve(struct plain *p)
{
	int64_t first = p->first >> 1, last = p->last >> 1;

	for (int64_t i = first; i <= last; i++) {
		struct bin b = {0, 0, 0, 0};

		for (int64_t half = 2 * i; half <= 2 * i + 1; half++)
			if (half >= p->first && half <= p->last)
				bin_merge(&b, &p->bins[half - p->first]);
		p->bins[i - first] = b;
	}
	p->first = first;
	p->last = last;
	p->base++;
}

static bool same_bin(const struct bin *a, const struct bin *b)
{
	return a->n == b->n && (a->n == 0 || (same_value(a->min, b->min) && same_value(a->max, b->max) &&
					      same_value(a->sum, b->sum)));
}

static size_t channel_named(const struct session *s, const char *name)
{
	for (size_t i = 0; i < s->n_channels; i++)
		if (!strcmp(s->channels[i].name, name))
			return i;
	return SIZE_MAX;
}

#define PIECE 500

/* All columns of all zooms of each third channel. */
static void compare(const struct script *s, struct trace *t, const size_t rows[TIERS])
{
	struct timeline *tl = trace_timeline(t);

	for (size_t c = 0; c < s->session.n_channels; c += 3) {
		const struct channel *ch = &s->channels[c];
		size_t mine = channel_named(tl->ops->session(tl), ch->name);
		struct plain p;

		if (mine == SIZE_MAX || rows[ch->tier] == 0)
			continue;
		p = plain_scan(s, ch, rows[ch->tier]);
		for (; p.base <= ZOOM_MAX; plain_halve(&p)) {
			struct bin got[PIECE];

			for (int64_t i = p.first - 2; i <= p.last + 2; i += PIECE) {
				tl->ops->columns(tl, mine, p.base, i, PIECE, got);
				for (int64_t k = i; k < i + PIECE; k++) {
					static const struct bin none;
					const struct bin *want =
						k < p.first || k > p.last ? &none : &p.bins[k - p.first];

					if (!same_bin(want, &got[k - i]))
						fail_msg("%s, zoom %d, column %lld: n %llu, sum %a; plain n "
							 "%llu, sum %a",
							 ch->name, p.base, (long long)k,
							 (unsigned long long)got[k - i].n, got[k - i].sum,
							 (unsigned long long)want->n, want->sum);
				}
			}
		}
		free(p.bins);
	}
}

/* --- the traces --- */

/* Irregular times, holes of any length, rows at the same time. */
static struct script *irregular(uint64_t seed)
{
	struct script *s = script_new(seed, ROWS, 5, 2, 3, true);

	for (int t = 0; t < TIERS; t++) {
		int64_t by = 0;

		for (size_t r = 0; r < s->n[t]; r++) {
			unsigned dice = (unsigned)(script_random(s) % 8000);

			if (dice == 0)
				by += (int64_t)(script_random(s) % (uint64_t)(9 * NS_PER_S)); /* longer ones are gaps */
			else if (dice < 20)
				by += (int64_t)(script_random(s) % (uint64_t)NS_PER_S);
			s->t_ns[t][r] += by;
			if (dice > 7900 && r > 0 && t != TIER_FAST)
				s->t_ns[t][r] = s->t_ns[t][r - 1];
		}
	}
	return s;
}

/* Never faster than the disk: the writer drops rows rather than wait. */
static void push_paced(const struct script *s, struct log_writer *w)
{
	size_t at[TIERS] = {0};
	int64_t end = 0;

	for (int t = 0; t < TIERS; t++)
		if (s->t_ns[t][s->n[t] - 1] > end)
			end = s->t_ns[t][s->n[t] - 1];
	for (int64_t ns = START_NS; ns < end + NS_PER_S / 20; ns += NS_PER_S / 20) {
		script_push(s, log_writer_sink(w), at, ns);
		assert_true(log_writer_ready(w));
	}
}

static const char *record(struct script *s, const char *name)
{
	static char path[512];
	struct log_writer *w;
	struct log_writer_stats stats;
	struct sink *sink;

	snprintf(path, sizeof(path), "%s", in_folder(name));
	w = log_writer_new(path, true, NULL);
	sink = log_writer_sink(w);
	assert_int_equal(sink->ops->begin(sink, &s->session, NULL), 0);
	push_paced(s, w);
	assert_int_equal(sink->ops->end(sink, NULL), 0);
	log_writer_stats(w, &stats);
	assert_int_equal(stats.lost_rows, 0);
	log_writer_free(w);
	return path;
}

/* The same file without the chunks of stored columns. */
static void unstore(const char *path)
{
	static uint8_t bytes[32 << 20];
	FILE *f = fopen(path, "r+b");
	size_t n = fread(bytes, 1, sizeof(bytes), f), at, to;

	at = HEADER_SIZE + get_u64(bytes + H_COUNTS) * FAST_SIZE +
	     get_u64(bytes + H_COUNTS + 8) * MEDIUM_SIZE + get_u64(bytes + H_COUNTS + 16) * SLOW_SIZE +
	     get_u64(bytes + H_COUNTS + 24) * SYNC_SIZE;
	for (to = at; at < n;) {
		size_t one = CHUNK_HEAD + (size_t)get_u64(bytes + at + 8) + CHUNK_CRC;

		if (get_u32(bytes + at) != CHUNK_PYRAMID) {
			memmove(bytes + to, bytes + at, one);
			to += one;
		}
		at += one;
	}
	assert_true(to < n);
	rewind(f);
	assert_int_equal(fwrite(bytes, 1, to, f), to);
	fflush(f);
	assert_int_equal(ftruncate(fileno(f), (off_t)to), 0);
	fclose(f);
}

static struct trace *open_as(const char *path, const struct trace_tuning *how)
{
	struct err e = {.code = ERR_NONE};
	struct trace *t = trace_open_tuned(path, how, &e);

	if (!t || e.code != ERR_NONE)
		fail_msg("%s", e.text);
	return t;
}

/* Ask for something, so that whatever is missing is begun with. */
static bool is_building(struct trace *t)
{
	struct trace_state st;
	struct bin b;

	trace_columns(t, 0, ZOOM_MAX, 0, 1, &b);
	trace_look(t, &st);
	return st.building;
}

static void look_and_close(const struct script *s, struct trace *t)
{
	trace_settle(t);
	assert_false(is_building(t));
	compare(s, t, s->n);
	trace_close(t);
}

/* --- tests --- */

static void test_stored(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 4; seed++) {
		struct script *s = irregular(seed * 77);
		const char *path = record(s, "stored.bin");
		struct trace *t = open_as(path, &later);

		for (int i = 0; i < TIERS; i++) /* of few rows it is not worth it */
			assert_int_equal(t->shelf[i].levels > 0, s->n[i] >= 8192);
		assert_true(t->shelf[TIER_FAST].levels > 1);
		look_and_close(s, t);
		script_free(s);
	}
}

static void test_made(void **state)
{
	struct script *s = irregular(5);
	const char *path = record(s, "made.bin");

	(void)state;
	unstore(path);
	look_and_close(s, open_as(path, &at_once));
	look_and_close(s, open_as(path, &later));
	script_free(s);
}

/* While they are being made nothing is wrong, only less exact: bounds lie within
 * the true ones, and where there are samples there is a column. */
static void test_meanwhile(void **state)
{
	struct script *s = irregular(6);
	const char *path = record(s, "meanwhile.bin");
	const struct channel *ch = &s->channels[0];
	struct trace *t;

	(void)state;
	unstore(path);
	t = open_as(path, &later);
	for (int round = 0; round < 3; round++) {
		struct plain p = plain_scan(s, ch, s->n[TIER_FAST]);

		for (; p.base <= ZOOM_MAX; plain_halve(&p))
			for (int64_t i = p.first; i <= p.last && i < p.first + 2000; i++) {
				const struct bin *want = &p.bins[i - p.first];
				struct bin got;

				trace_columns(t, 0, p.base, i, 1, &got);
				assert_true(got.n <= want->n);
				if (got.n)
					assert_true(got.min >= want->min && got.max <= want->max);
			}
		free(p.bins);
	}
	look_and_close(s, t);
	script_free(s);
}

/* A clock that went back, in a file of which nobody has looked at every row. */
static void test_disorder(void **state)
{
	struct script *s = irregular(7);
	const char *path = record(s, "disorder.bin");
	const uint64_t row = 20011;
	size_t rows[TIERS] = {row, s->n[TIER_MEDIUM], s->n[TIER_SLOW]};
	struct trace_state st;
	struct trace *t;
	uint8_t zero[8] = {0};
	char want[128];
	int fd;

	(void)state;
	unstore(path);
	fd = open(path, O_WRONLY);
	assert_int_equal(pwrite(fd, zero, 8, (off_t)(HEADER_SIZE + row * FAST_SIZE)), 8);
	close(fd);
	t = open_as(path, &later); /* none of the rows that are looked at */
	is_building(t);
	trace_settle(t);
	trace_look(t, &st);
	assert_int_equal(st.damage.code, ERR_DAMAGED);
	snprintf(want, sizeof(want), "row %d of the fast section, at offset %d", (int)row,
		 (int)(HEADER_SIZE + row * FAST_SIZE));
	assert_non_null(strstr(st.damage.text, want));
	compare(s, t, rows);
	trace_close(t);
	script_free(s);
}

/* The one file of the cache that ends as a finished one does; "": there is none. */
static const char *cached(int *count)
{
	static char path[1024];
	DIR *d = opendir(in_folder("cache/nvmtop"));
	struct dirent *f;

	path[0] = '\0';
	*count = 0;
	while (d && (f = readdir(d)))
		if (f->d_name[0] != '.') {
			++*count;
			snprintf(path, sizeof(path), "%s/%.300s", in_folder("cache/nvmtop"), f->d_name);
		}
	if (d)
		closedir(d);
	return path;
}

static void test_cache(void **state)
{
	struct script *s = irregular(8);
	const char *path = record(s, "cache.bin");
	struct trace *t;
	struct stat was, now;
	char first[1024];
	int n, fd;

	(void)state;
	unstore(path);
	setenv("XDG_CACHE_HOME", in_folder("cache"), 1);
	t = open_as(path, &kept);
	look_and_close(s, t);
	strcpy(first, cached(&n));
	assert_int_equal(n, 1);
	assert_int_equal(stat(first, &was), 0);

	t = open_as(path, &kept);
	assert_false(is_building(t)); /* there at once */
	look_and_close(s, t);

	/* one byte of it changed, in the middle: made anew */
	fd = open(first, O_RDWR);
	uint8_t byte;
	assert_int_equal(pread(fd, &byte, 1, was.st_size / 2), 1);
	byte ^= 0x10;
	assert_int_equal(pwrite(fd, &byte, 1, was.st_size / 2), 1);
	close(fd);
	t = open_as(path, &kept);
	trace_settle(t);
	compare(s, t, s->n);
	trace_settle(t);
	trace_close(t);
	assert_string_equal(cached(&n), first);
	assert_int_equal(n, 1);
	assert_int_equal(stat(first, &now), 0);
	assert_int_equal(now.st_size, was.st_size);
	t = open_as(path, &kept);
	assert_false(is_building(t));
	look_and_close(s, t);

	/* cut short, or something else altogether */
	assert_int_equal(truncate(first, was.st_size / 3), 0);
	look_and_close(s, open_as(path, &kept));
	assert_int_equal(truncate(first, 0), 0);
	look_and_close(s, open_as(path, &kept));

	/* another file by its time: made anew, and the room is bounded */
	store_cache_most = 5 << 20;
	n = 0;
	for (int i = 0; i < 400 && (off_t)i * was.st_size < 10 << 20; i++) {
		struct timespec times[2] = {{.tv_sec = 1000 + i}, {.tv_sec = 1000 + i}};

		assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
		t = open_as(path, &kept);
		look_and_close(s, t);
	}
	cached(&n);
	assert_in_range(n, 2, (5 << 20) / was.st_size); /* each anew, and the oldest are gone */
	store_cache_most = UINT64_C(4) << 30;

	/* no folder can be made there */
	setenv("XDG_CACHE_HOME", path, 1);
	t = open_as(path, &kept);
	look_and_close(s, t);
	unsetenv("XDG_CACHE_HOME");
	while (*cached(&n))
		unlink(cached(&n));
	rmdir(in_folder("cache/nvmtop"));
	script_free(s);
}

/* Nowhere but in memory is there room, and little of it. */
static void test_memory(void **state)
{
	struct script *s = irregular(9);
	const char *path = record(s, "memory.bin");
	struct trace *t;
	struct build *b;

	(void)state;
	unstore(path);
	t = open_as(path, &later);
	t->bare = false;
	b = build_start(t, 7, store_memory(300000), 2, 0);
	assert_non_null(b);
	build_wait(b);
	assert_false(build_failed(b));
	t->store = build_release(b);
	build_free(b);
	assert_true(t->shelf[TIER_FAST].level[0].zoom > pyramid_zoom(1000));
	look_and_close(s, t);
	script_free(s);
}

/* The file becomes shorter while it is open, between two questions and within one. */
static void test_shrinks(void **state)
{
	static const struct trace_tuning *const how[] = {&at_once, &later};
	struct script *s = irregular(10);

	(void)state;
	for (int i = 0; i < 6; i++) {
		const char *path = record(s, "shrinks.bin");
		size_t rows[TIERS] = {12345, 0, 0};
		struct trace_state st;
		struct trace *t;

		if (i & 1)
			unstore(path);
		t = open_as(path, how[i / 3]);
		if (i % 3 != 1)
			is_building(t);
		assert_int_equal(truncate(path, HEADER_SIZE + 12345 * FAST_SIZE + 50), 0);
		/* as if it had shrunk after the last look: what is read is a hole */
		assert_int_equal(row_at(t, TIER_FAST, 30000)[9], 0);
		assert_true(map_torn(&t->file) < t->size);
		trace_settle(t);
		compare(s, t, rows);
		trace_look(t, &st);
		assert_int_equal(st.damage.code, ERR_DAMAGED);
		assert_non_null(strstr(st.damage.text, "fast section"));
		assert_int_equal(t->section[TIER_FAST].rows, 12345);
		trace_settle(t);
		compare(s, t, rows);
		assert_int_equal(truncate(path, HEADER_SIZE + 1000 * FAST_SIZE), 0);
		double v[20]; /* for who reads rows: what is gone is missing, and not 0 */
		trace_row_values(t, 0, 990, 20, v);
		for (int k = 10; k < 20; k++)
			assert_true(isnan(v[k]));
		assert_true(same_value(v[9], s->values[TIER_FAST][999 * s->session.width[TIER_FAST]]));
		assert_int_equal(truncate(path, 0), 0);
		compare(s, t, (size_t[TIERS]) {0, 0, 0});
		trace_look(t, &st);
		trace_close(t);
	}
	script_free(s);
}

/* SIGBUS anywhere else is what it always was. */
static void test_other_faults(void **state)
{
	int status;
	pid_t child = fork();

	(void)state;
	if (child == 0) {
		int fd = memfd_create("x", 0);
		volatile const uint8_t *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);

		signal(SIGBUS, SIG_DFL); /* cmocka has a handler of its own */
		map_guard();
		_exit(p[0]); /* the file has no byte */
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
}

/* Stored columns that are not as they were written, or lie. */
static void test_bad_store(void **state)
{
	static uint8_t bytes[32 << 20];
	struct script *s = irregular(11);
	const char *path = record(s, "bad.bin");
	struct script dice = {.seed = 4};
	FILE *f = fopen(path, "rb");
	size_t n = fread(bytes, 1, sizeof(bytes), f), at, one;
	struct err e;

	(void)state;
	fclose(f);
	at = HEADER_SIZE + get_u64(bytes + H_COUNTS) * FAST_SIZE +
	     get_u64(bytes + H_COUNTS + 8) * MEDIUM_SIZE + get_u64(bytes + H_COUNTS + 16) * SLOW_SIZE +
	     get_u64(bytes + H_COUNTS + 24) * SYNC_SIZE;
	while (get_u32(bytes + at) != CHUNK_PYRAMID)
		at += CHUNK_HEAD + (size_t)get_u64(bytes + at + 8) + CHUNK_CRC;
	one = (size_t)get_u64(bytes + at + 8);
	for (int i = 0; i < 60; i++) {
		size_t where = at + CHUNK_HEAD +
			       (i < 40 ? script_random(&dice) % PYRAMID_HEAD : script_random(&dice) % one);
		uint8_t was = bytes[where];
		struct trace *t;

		bytes[where] ^= (uint8_t)(script_random(&dice) | 1);
		if (i & 1) /* with a sum that fits */
			put_u32(bytes + at + CHUNK_HEAD + one, chunk_crc(bytes + at + CHUNK_HEAD, one));
		f = fopen(path, "wb");
		assert_int_equal(fwrite(bytes, 1, n, f), n);
		fclose(f);
		t = trace_open_tuned(path, i & 2 ? &later : &at_once, &e);
		assert_non_null(t);
		trace_settle(t);
		if (!(i & 1)) {
			assert_int_equal(e.code, ERR_DAMAGED);
			assert_non_null(strstr(e.text, "PYRM"));
		}
		if (!(i & 1) && i < 8)
			compare(s, t, s->n);
		for (int zoom = ZOOM_MIN; zoom <= ZOOM_MAX; zoom++) {
			struct bin b[64];

			trace_columns(t, 0, zoom, t->first_ns >> zoom, 64, b);
			trace_columns(t, 0, zoom, (t->last_ns >> zoom) - 60, 64, b);
		}
		trace_close(t);
		bytes[where] = was;
		put_u32(bytes + at + CHUNK_HEAD + one, chunk_crc(bytes + at + CHUNK_HEAD, one));
	}
	script_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stored),    cmocka_unit_test(test_made),
		cmocka_unit_test(test_meanwhile), cmocka_unit_test(test_disorder),
		cmocka_unit_test(test_cache),     cmocka_unit_test(test_memory),
		cmocka_unit_test(test_shrinks),   cmocka_unit_test(test_other_faults),
		cmocka_unit_test(test_bad_store),
	};

	return cmocka_run_group_tests_name("trace-pyramid", tests, folder_make, folder_remove);
}
