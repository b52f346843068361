/* How many reads a recording of many hours takes until something of it can be shown, which is what a slow disk makes one
 * wait for: one an INDEX, and a few for what is asked of all of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "fake-pread.h"
#include "log-bytes.h"
#include "random.h"
#include "trace/log-read.h"

#define HOURS	 6
#define CHANNELS 8
#define ROWS	 (HOURS * 3600)
#define START	 ((INT64_C(3) << 45) - INT64_C(7200) * NS_PER_S) /* within a span of the highest level */
#define MORE	 12 /* reads of the first chunk, of the last group, and of END */

static unsigned n_reads;

ssize_t faked_pread(int fd, void *buf, size_t size, off64_t offset)
{
	n_reads++;
	return pread_really(fd, buf, size, offset);
}

static void test_reads(void **state)
{
	struct channel channels[CHANNELS];
	struct session about = {.channels = channels, .n_channels = CHANNELS, .width = {CHANNELS}, .hz = {1}, .start = {START, 1, START}};
	struct log_bytes bytes = {.n = 0};
	struct span_stats stat;
	struct log_made made;
	unsigned n_index = 0;
	struct log_head h;
	struct trace *t;
	double sum = 0;
	struct err e;
	int fd;

	(void)state;
	memset(channels, 0, sizeof(channels));
	for (unsigned i = 0; i < CHANNELS; i++)
		channels[i] = (struct channel) {.name = {'a', (char)('0' + i)}, .tier = TIER_FAST, .column = (uint16_t)i};
	log_make(&made, &about, &(struct log_out_options) {.session = 7});
	for (int64_t i = 0; i < ROWS; i++) {
		int64_t t_ns = START + i * NS_PER_S;
		double v[CHANNELS];

		for (unsigned c = 0; c < CHANNELS; c++)
			v[c] = (double)random_below(1000000);
		sum += v[3];
		made.sink->ops->rows(made.sink, &(struct rows) {TIER_FAST, 1, CHANNELS, &t_ns, v});
	}
	log_made(&made, true, &bytes);
	for (size_t at = 0; log_head_get(bytes.p + at, &h) && h.kind != LOG_END; at += LOG_HEAD + h.stored)
		n_index += h.kind == LOG_INDEX;
	assert_in_range(n_index, HOURS * 6, HOURS * 8);

	fd = memfd_create("log", MFD_CLOEXEC);
	assert_int_equal(write(fd, bytes.p, bytes.n), bytes.n);
	n_reads = 0;
	t = trace_open_logs(&fd, 1, "test", &e);
	assert_non_null(t);
	assert_int_equal(trace_rows(t, TIER_FAST), ROWS);
	assert_in_range(n_reads, n_index, n_index + MORE);

	n_reads = 0;
	trace_stat(t, 3, START, START + ROWS * NS_PER_S, &stat);
	assert_int_equal(stat.n, ROWS);
	assert_true(stat.sum == sum);
	assert_in_range(n_reads, 1, MORE);
	trace_close(t);
	log_bytes_free(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_reads)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
