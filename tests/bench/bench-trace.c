/* Measures opening, navigating and aggregating a long trace.
 *
 *   bench-trace make FILE HOURS      record a synthetic 12-core board at 1000, 100 and
 *                                    10 Hz, as fast as the disk allows
 *   bench-trace strip FILE           remove the extension, as if from another writer
 *   bench-trace look FILE            open it, draw frames at every zoom and print the
 *                                    times; first without, then with its columns
 *   bench-trace check FILE           compare minima and maxima at every zoom with a
 *                                    plain scan of all fast rows
 *   bench-trace columns FILE FOLDER  write the values of each fast channel
 *
 * Times depend on the machine. Compare the time to build columns with that of a pass that
 * only sums the bytes. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../unit/stream-to.h"
#include "trace/trace.h"
#include "ui/ui.h"
#include "trace/format.h"

#define CORES 12
#define RAILS 4
#define ZONES 9

/* --- recording --- */

static struct channel channels[64];
static struct fact facts[] = {{"board", "agx_orin"}, {"title", "Jetson AGX Orin"}, {"demo", "yes"}};
static struct session about = {.channels = channels, .hz = {1000, 100, 10}, .facts = facts, .n_facts = 3};

static void add(enum channel_kind kind, unsigned index, enum tier tier, enum unit unit, enum family family,
		const char *name)
{
	struct channel *c = &channels[about.n_channels++];

	c->kind = kind;
	c->index = (uint16_t)index;
	c->tier = tier;
	c->column = (uint16_t)about.width[tier]++;
	c->unit = unit;
	c->family = family;
	c->lo = unit == UNIT_PERCENT ? 0 : (double)NAN;
	c->hi = unit == UNIT_PERCENT ? 100 : (double)NAN;
	c->warn = c->crit = (double)NAN;
	snprintf(c->name, sizeof(c->name), "%s%u.%s", name, index, channel_kind_name(kind));
	snprintf(c->label, sizeof(c->label), "%s%u", name, index);
}

static void board(void)
{
	add(CHANNEL_GPU_UTIL, 0, TIER_FAST, UNIT_PERCENT, FAMILY_GPU, "GPU");
	add(CHANNEL_CPU_UTIL, 0, TIER_FAST, UNIT_PERCENT, FAMILY_CPU, "CPU");
	for (unsigned i = 0; i < CORES; i++)
		add(CHANNEL_CORE_UTIL, i, TIER_FAST, UNIT_PERCENT, FAMILY_CPU, "cpu");
	add(CHANNEL_RAM_USED, 0, TIER_FAST, UNIT_KB, FAMILY_MEMORY, "RAM");
	add(CHANNEL_RAM_AVAILABLE, 0, TIER_FAST, UNIT_KB, FAMILY_MEMORY, "free");
	add(CHANNEL_EMC_UTIL, 0, TIER_FAST, UNIT_PERCENT, FAMILY_MEMORY, "EMC");
	for (unsigned i = 0; i < RAILS; i++) {
		add(CHANNEL_RAIL_VOLTAGE, i, TIER_MEDIUM, UNIT_MILLIVOLT, FAMILY_POWER, "RAIL");
		add(CHANNEL_RAIL_CURRENT, i, TIER_MEDIUM, UNIT_MILLIAMPERE, FAMILY_POWER, "RAIL");
		add(CHANNEL_RAIL_POWER, i, TIER_MEDIUM, UNIT_MILLIWATT, FAMILY_POWER, "RAIL");
	}
	for (unsigned i = 0; i < ZONES; i++)
		add(CHANNEL_TEMPERATURE, i, TIER_SLOW, UNIT_CELSIUS, FAMILY_HEAT, "zone");
	about.start = (struct clock_anchor) {INT64_C(5000000000000), INT64_C(1763650000000000000), 0};
}

static uint64_t seed = 1;

static uint64_t noise(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void fill(double *v, enum tier tier, uint64_t row)
{
	for (size_t i = 0; i < about.n_channels; i++) {
		const struct channel *c = &channels[i];
		double x;

		if (c->tier != tier)
			continue;
		x = (double)((row * (i + 1) / 64 + (noise() >> 54)) % 10000) / 100;
		v[c->column] = channel_round(c->kind, c->unit == UNIT_KB            ? 1e6 + 1e5 * x
						      : c->unit == UNIT_MILLIVOLT   ? 5000 + x
						      : c->unit == UNIT_MILLIAMPERE ? 30 * x
										    : x);
	}
	for (size_t i = 0; tier == TIER_MEDIUM && i < RAILS; i++)
		v[3 * i + 2] = channel_round(CHANNEL_RAIL_POWER, v[3 * i] * v[3 * i + 1] / 1000);
}

static void push(struct sink *sink, enum tier tier, uint64_t row, int64_t period)
{
	int64_t t_ns = about.start.mono_ns + (int64_t)row * period + (int64_t)(noise() % 60000);
	double v[64];

	fill(v, tier, row);
	sink->ops->rows(sink, &(struct rows) {tier, 1, about.width[tier], &t_ns, v});
}

static int make(const char *path, double hours)
{
	struct err e = {.code = ERR_NONE};
	struct log_out *w = log_out_new(path, true, &e);
	struct log_out_stats st = {.bytes = 0};
	uint64_t rows = (uint64_t)(hours * 3600e3), marks = 0;
	int64_t began = clock_now_ns(), ended;
	struct sink *sink;

	board();
	if (!w) {
		fprintf(stderr, "%s\n", e.text);
		return 1;
	}
	sink = stream_begin(w, &about, false);
	for (uint64_t row = 0; row < rows; row++) {
		if (row % 64 == 0 && !log_out_ready(w)) /* not faster than the disk */
			break;
		if (row % 600000 == 300000)
			sink->ops->mark(sink,
					&(struct mark) {++marks, about.start.mono_ns + (int64_t)row * 1000000,
							"phase"});
		push(sink, TIER_FAST, row, NS_PER_MS);
		if (row % 10 == 0)
			push(sink, TIER_MEDIUM, row / 10, 10 * NS_PER_MS);
		if (row % 100 == 0)
			push(sink, TIER_SLOW, row / 100, 100 * NS_PER_MS);
	}
	ended = clock_now_ns();
	if (stream_end(w, sink, &e) < 0) {
		fprintf(stderr, "%s\n", e.text);
		return 1;
	}
	log_out_stats(w, &st);
	printf("%s: %.2f h, %llu fast rows, %.3f GB, %llu rows lost; %.1f s, %.1f s to join\n", path, hours,
	       (unsigned long long)st.rows[TIER_FAST], (double)st.bytes / 1e9,
	       (unsigned long long)st.lost_rows, (double)(ended - began) / 1e9,
	       (double)(clock_now_ns() - ended) / 1e9);
	log_out_free(w);
	return 0;
}

static int strip(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t h[HEADER_SIZE];
	off_t end;

	if (!f || fread(h, HEADER_SIZE, 1, f) != 1) {
		perror(path);
		return 1;
	}
	fclose(f);
	end = (off_t)(HEADER_SIZE + get_u64(h + H_COUNTS) * FAST_SIZE +
		      get_u64(h + H_COUNTS + 8) * MEDIUM_SIZE + get_u64(h + H_COUNTS + 16) * SLOW_SIZE +
		      get_u64(h + H_COUNTS + 24) * SYNC_SIZE);
	if (truncate(path, end) < 0) {
		perror(path);
		return 1;
	}
	printf("%s: %.3f GB without its extension\n", path, (double)end / 1e9);
	return 0;
}

/* --- drawing --- */

struct screen {
	struct trace *trace;
	struct ui *ui;
	struct canvas canvas;
	struct ui_scene scene;
};

static int64_t bytes_of(const struct trace *t)
{
	struct trace_summary s;

	trace_summary(t, &s);
	return s.bytes;
}

static double ms(int64_t ns)
{
	return (double)ns / 1e6;
}

static int64_t cpu_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

static int64_t frame_cpu; /* CPU time of the last frame: its duration without other load */

static int64_t frame(struct screen *s)
{
	int64_t began = clock_now_ns(), cpu = cpu_ns(CLOCK_THREAD_CPUTIME_ID);

	s->scene.now_ns = began;
	ui_draw(s->ui, &s->scene, &s->canvas);
	frame_cpu = cpu_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	return clock_now_ns() - began;
}

static long status_kb(const char *key)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[128];
	long kb = 0;

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)))
			kb = atol(line + strlen(key) + 1);
	if (f)
		fclose(f);
	return kb;
}

static int64_t open_screen(struct screen *s, const char *path, int w, int h)
{
	struct ui_options o = {.charset = CHARSET_BRAILLE};
	int64_t began = clock_now_ns();
	struct err e;

	memset(s, 0, sizeof(*s));
	s->trace = trace_open(path, &e);
	if (!s->trace) {
		fprintf(stderr, "%s\n", e.text);
		exit(1);
	}
	s->scene = (struct ui_scene) {
		.timeline = trace_timeline(s->trace), .trace_name = path, .own_cpu = (double)NAN};
	s->scene.now_ns = clock_now_ns();
	s->ui = ui_new(&o, &e);
	canvas_resize(&s->canvas, w, h);
	ui_reset(s->ui, &s->scene);
	frame(s);
	return clock_now_ns() - began;
}

static void close_screen(struct screen *s)
{
	ui_free(s->ui);
	canvas_free(&s->canvas);
	trace_close(s->trace);
}

static void press(struct screen *s, uint32_t key)
{
	struct event ev = {.kind = EVENT_KEY, .key = key};

	s->scene.now_ns = clock_now_ns();
	ui_event(s->ui, &s->scene, &ev);
}

/* At each zoom some pans and random jumps; reports the slowest frame. */
static void tour(struct screen *s, const char *what)
{
	struct timeline *tl = s->scene.timeline;
	int64_t first, last, worst = 0, sum = 0, worst_cpu = 0;
	int n = 0, zooms = 0;

	tl->ops->extent(tl, &first, &last);
	for (int step = 0; step < 32; step++, zooms++) {
		for (int i = 0; i < 20; i++) {
			if (i % 4 == 3)
				ui_seek(s->ui, &s->scene, (int64_t)(noise() % (uint64_t)(last - first)));
			else
				press(s, i & 1 ? K_LEFT : K_RIGHT);
			int64_t took = frame(s);

			sum += took;
			worst = took > worst ? took : worst;
			worst_cpu = frame_cpu > worst_cpu ? frame_cpu : worst_cpu;
			n++;
		}
		press(s, '+');
	}
	printf("  %-34s %d frames at %d zooms: mean %.2f ms, slowest %.1f ms (%.1f ms of them computing)\n",
	       what, n, zooms, ms(sum) / n, ms(worst), ms(worst_cpu));
}

struct pass {
	const uint8_t *map;
	size_t from, to;
	uint64_t sum;
};

static void *pass_main(void *arg)
{
	struct pass *p = arg;

	for (size_t i = p->from; i + 8 <= p->to; i += 8) {
		uint64_t v;

		memcpy(&v, p->map + i, 8);
		p->sum += v;
		if (i % (16 << 20) == 0 && i > p->from)
			madvise((void *)(uintptr_t)(p->map + i - (16 << 20)), 16 << 20, MADV_DONTNEED);
	}
	return NULL;
}

/* How fast the file's bytes can be summed at all, with as many threads. */
static double plain_pass(const char *path, size_t size, int threads)
{
	struct pass p[16];
	pthread_t id[16];
	int64_t began;
	FILE *f = fopen(path, "rb");
	uint8_t *map = f ? mmap(NULL, size, PROT_READ, MAP_SHARED, fileno(f), 0) : MAP_FAILED;

	if (map == MAP_FAILED)
		return 0;
	began = clock_now_ns();
	for (int i = 0; i < threads; i++) {
		p[i] = (struct pass) {map, size / (size_t)threads / 4096 * 4096 * (size_t)i,
				      size / (size_t)threads / 4096 * 4096 * (size_t)(i + 1), 0};
		pthread_create(&id[i], NULL, pass_main, &p[i]);
	}
	for (int i = 0; i < threads; i++)
		pthread_join(id[i], NULL);
	munmap(map, size);
	fclose(f);
	return (double)size / 1e9 / ((double)(clock_now_ns() - began) / 1e9);
}

static void wait_built(struct screen *s)
{
	int64_t began = clock_now_ns(), cpu = cpu_ns(CLOCK_PROCESS_CPUTIME_ID), worst = 0, worst_cpu = 0,
		drawn = 0;
	double gb = (double)bytes_of(s->trace) / 1e9, seconds;
	struct trace_state st;
	int n = 0;

	for (;;) {
		int64_t took;

		trace_look(s->trace, &st);
		if (!st.building)
			break;
		press(s, n & 1 ? K_LEFT : K_RIGHT);
		if (n % 16 == 15)
			press(s, n % 32 == 15 ? '+' : '-');
		took = frame(s);
		worst = took > worst ? took : worst;
		worst_cpu = frame_cpu > worst_cpu ? frame_cpu : worst_cpu;
		drawn += frame_cpu;
		n++;
		usleep(20000);
	}
	seconds = (double)(clock_now_ns() - began) / 1e9;
	cpu = cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu - drawn;
	if (n > 0)
		printf("  columns made in the background     %.2f s, %.2f GB/s (%.2f GB a second of "
		       "computing)\n"
		       "  %d frames meanwhile                slowest %.1f ms (%.1f ms of them computing)\n",
		       seconds, gb / seconds, gb / ((double)cpu / 1e9), n, ms(worst), ms(worst_cpu));
}

static int look(const char *path)
{
	static const int sizes[][2] = {{120, 40}, {200, 60}};
	struct trace_state st;
	struct screen s;
	int64_t first = open_screen(&s, path, 120, 40);
	size_t size = (size_t)bytes_of(s.trace);
	int cores = (int)sysconf(_SC_NPROCESSORS_ONLN);

	trace_look(s.trace, &st);
	printf("%s: %.3f GB, %llu fast rows%s\n", path, (double)size / 1e9,
	       (unsigned long long)trace_rows(s.trace, TIER_FAST), st.building ? ", no columns in it" : "");
	printf("  first frame                        %.1f ms\n", ms(first));
	wait_built(&s);
	close_screen(&s);
	for (int i = 0; i < 2; i++) {
		char what[64];

		first = open_screen(&s, path, sizes[i][0], sizes[i][1]);
		trace_look(s.trace, &st);
		snprintf(what, sizeof(what), "%dx%d", sizes[i][0], sizes[i][1]);
		if (i == 0)
			printf("  first frame, opened again          %.1f ms%s\n", ms(first),
			       st.building ? ", no columns in the cache" : "");
		tour(&s, what);
		close_screen(&s);
	}
	printf("  memory                             %ld MB at most with mapped pages, %ld MB of its own\n",
	       status_kb("VmHWM:") / 1024, status_kb("RssAnon:") / 1024);
	cores = cores < 16 ? cores : 16;
	printf("  a pass that only adds up           %.2f GB/s with %d threads\n",
	       plain_pass(path, size, cores), cores);
	return 0;
}

/* --- comparison with a plain scan --- */

static void compare(struct trace *t, size_t channel, uint64_t *wrong, uint64_t *compared)
{
	struct timeline *tl = trace_timeline(t);
	uint64_t rows = trace_rows(t, TIER_FAST);
	int64_t first = 0, last = 0, t_ns[1024];
	int base = 24;

	trace_extent(t, &first, &last);
	size_t n = (size_t)((last >> base) - (first >> base)) + 1;
	struct bin *plain = calloc(n, sizeof(*plain)), *got = malloc(8192 * sizeof(*got));
	double v[1024];

	for (uint64_t row = 0; plain && row < rows; row += 1024) {
		size_t part = rows - row < 1024 ? (size_t)(rows - row) : 1024;

		trace_row_times(t, TIER_FAST, row, part, t_ns);
		trace_row_values(t, channel, row, part, v);
		for (size_t i = 0; i < part; i++)
			bin_add(&plain[(t_ns[i] >> base) - (first >> base)], v[i]);
	}
	for (int zoom = base; plain && got && zoom <= ZOOM_MAX; zoom++) {
		for (int64_t c = first >> zoom; c <= last >> zoom; c += 8192) {
			tl->ops->columns(tl, channel, zoom, c, 8192, got);
			for (int64_t i = c; i < c + 8192 && i <= last >> zoom; i++, (*compared)++) {
				const struct bin *want = &plain[i - (first >> zoom)];

				if (got[i - c].n != want->n ||
				    (want->n && (got[i - c].min != want->min || got[i - c].max != want->max)))
					(*wrong)++;
			}
		}
		for (int64_t i = first >> (zoom + 1); i <= last >> (zoom + 1); i++) {
			struct bin b = {0, 0, 0, 0};

			for (int64_t half = 2 * i; half <= 2 * i + 1; half++)
				if (half >= first >> zoom && half <= last >> zoom)
					bin_merge(&b, &plain[half - (first >> zoom)]);
			plain[i - (first >> (zoom + 1))] = b;
		}
	}
	free(plain);
	free(got);
}

static int check(const char *path)
{
	uint64_t wrong = 0, compared = 0;
	struct err e;
	struct trace *t = trace_open(path, &e);

	if (!t) {
		fprintf(stderr, "%s\n", e.text);
		return 1;
	}
	const struct session *s = trace_session(t);

	for (size_t c = 0, done = 0; c < s->n_channels && done < 3; c++)
		if (s->channels[c].tier == TIER_FAST && c % 7 == 0) {
			compare(t, c, &wrong, &compared);
			done++;
		}
	printf("%s: %llu columns of zooms 24 to %d compared with a plain scan, %llu wrong\n", path,
	       (unsigned long long)compared, ZOOM_MAX, (unsigned long long)wrong);
	trace_close(t);
	return wrong > 0;
}

/* Write the values of each fast channel to FOLDER/NUMBER.f64, for tests/bench/report.sh. */
static int columns(const char *path, const char *folder)
{
	static double v[64][2048];
	static int64_t t_ns[2048];
	struct err e;
	struct trace *t = trace_open(path, &e);
	const struct session *s = t ? trace_session(t) : NULL;
	size_t list[64], n = 0, got;
	double *to[64];
	FILE *f[64];
	char name[4096];
	bool good = t != NULL;

	for (size_t i = 0; good && i < s->n_channels && n < 64; i++) {
		if (s->channels[i].tier != TIER_FAST)
			continue;
		snprintf(name, sizeof(name), "%s/%zu.f64", folder, n);
		f[n] = fopen(name, "wb");
		good = f[n] != NULL;
		to[n] = v[n];
		list[n++] = i;
	}
	for (uint64_t row = 0; good && row < trace_rows(t, TIER_FAST); row += got) {
		uint64_t left = trace_rows(t, TIER_FAST) - row;

		got = trace_read(t, TIER_FAST, row, left < 2048 ? (size_t)left : 2048, t_ns, list, n, to);
		for (size_t i = 0; i < n; i++)
			good &= fwrite(v[i], sizeof(double), got, f[i]) == got;
	}
	for (size_t i = 0; i < n; i++)
		good &= f[i] && fclose(f[i]) == 0;
	trace_close(t);
	if (!good)
		perror(path);
	return !good;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "make"))
		return make(argv[2], strtod(argv[3], NULL));
	if (argc == 3 && !strcmp(argv[1], "strip"))
		return strip(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "look"))
		return look(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "check"))
		return check(argv[2]);
	if (argc == 4 && !strcmp(argv[1], "columns"))
		return columns(argv[2], argv[3]);
	fprintf(stderr, "usage: bench-trace make FILE HOURS | strip FILE | look FILE | check FILE | columns FILE FOLDER\n");
	return 2;
}
