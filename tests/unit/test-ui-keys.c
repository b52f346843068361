/* The effect of keys: a row's maximum, events, files, and saving. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ui-bench.h"
#include "ui/moment.h"

/* A throttle from 30 s and one from 40 s, ten seconds each; a count that rises at 70 s. */
static void add_throttles(struct fake *f)
{
	fake_add(f, "thermal-gpu-throttle-alert", CHANNEL_THROTTLE, 0, TIER_MEDIUM, UNIT_NONE, FAMILY_OTHER);
	fake_add(f, "over-current", CHANNEL_THROTTLE_COUNT, 0, TIER_SLOW, UNIT_NONE, FAMILY_OTHER);
}

static void maximum_of_a_row(void **state)
{
	struct bench b;

	start(&b, 120, 40, false, CHARSET_BLOCKS);
	b.fake.constant = 1;
	b.fake.spike_ns = FAKE_START + 23456 * NS_PER_MS;
	press(&b, 'm', 0);
	assert_shows(&b, "maximum of GPU: 100.0 % at 23.4");
	press(&b, '[', 0);
	type(&b, "gmax");
	press(&b, K_ENTER, 0);
	assert_shows(&b, "maximum of GPU: 100.0 %");
	press(&b, '[', 0);
	type(&b, "gmin");
	press(&b, K_ENTER, 0);
	assert_shows(&b, "minimum of GPU: 5.0 %");
	stop(&b);
}

/* The result is compared with every sample. */
static void extremes_of_any_stretch(void **state)
{
	struct fake f;

	fake_init(&f, 20 * NS_PER_S);
	f.exact = true;
	for (f.base = 17; f.base <= 19; f.base++)
		for (int64_t from = 1; from < 17; from += 3)
			for (size_t ch = 0; ch < 3; ch++) {
				int64_t a = FAKE_START + from * 977 * NS_PER_MS, z = a + 1234567891 / from, t = 0;
				double best = -1, v;

				assert_true(moment_extreme(&f.timeline, ch, a, z, 1, &t, &v));
				for (int64_t at = a / NS_PER_MS * NS_PER_MS; at < z; at += NS_PER_MS)
					best = fmax(best, fake_value(&f, ch, at));
				assert_true(v >= best && fake_value(&f, ch, t) == v);
				assert_true(t >= a - NS_PER_MS && t <= z + NS_PER_MS);
			}
}

static void events_one_after_the_other(void **state)
{
	struct fake f;
	struct extent e;
	int64_t t = FAKE_START, wanted[] = {20, 30, 60, 70};

	fake_init(&f, 100 * NS_PER_S);
	add_throttles(&f);
	fake_change(&f, FAKE_START + 20 * NS_PER_S, "mode", "MODE_30W", "MAXN");
	f.gaps[f.n_gaps++] = (struct gap) {.from_ns = FAKE_START + 60 * NS_PER_S, .to_ns = FAKE_START + 61 * NS_PER_S, .tier = TIER_FAST};
	e = (struct extent) {true, f.first_ns, f.last_ns};
	for (int i = 0; i < 4; i++) {
		assert_true(moment_event(&f.timeline, &e, t, 1, &t));
		assert_int_equal((t - FAKE_START) / NS_PER_S, wanted[i]);
	}
	assert_false(moment_event(&f.timeline, &e, t, 1, &t));
	t = f.last_ns;
	for (int i = 4; i-- > 0;) {
		assert_true(moment_event(&f.timeline, &e, t, -1, &t));
		assert_int_equal((t - FAKE_START) / NS_PER_S, wanted[i]);
	}
	assert_false(moment_event(&f.timeline, &e, t, -1, &t));
}

/* The remedy is the important part of a reason and stays visible. */
static void remedy_of_a_missing_value(void **state)
{
	static const char reason[] = "tried /sys/kernel/debug/a/long/way/to/a/file (Permission denied); sudo nvmtop-setup opens it";
	struct bench b;

	start(&b, 80, 24, true, CHARSET_BLOCKS);
	strcpy(b.fake.channels[0].missing, reason);
	press(&b, 'a', 0);
	press(&b, '1', 0);
	ui_reset(b.ui, &b.scene);
	draw(&b);
	assert_shows(&b, "sudo nvmtop-setup opens it");
	press(&b, K_DOWN, 0);
	press(&b, K_ENTER, 0);
	assert_shows(&b, "remedy");
	assert_hides(&b, "does not name it");
	stop(&b);
}

static void what_is_in_view_is_saved(void **state)
{
	struct request r;
	struct bench b;

	start(&b, 120, 40, false, CHARSET_BLOCKS);
	press(&b, 'p', 0);
	r = press(&b, 'c', 0);
	assert_int_equal(r.kind, REQUEST_EXPORT);
	assert_int_equal(r.t_ns, b.fake.first_ns);
	assert_int_equal(r.to_ns, b.fake.last_ns + 1);
	press(&b, '[', 0);
	press(&b, 'V', 0);
	press(&b, 'p', 0);
	r = press(&b, 'c', 0);
	assert_int_equal(r.kind, REQUEST_EXPORT);
	assert_int_equal(r.t_ns, FAKE_START + 85 * NS_PER_S);
	stop(&b);
}

static void a_search_without_a_unit(void **state)
{
	struct bench b;

	start(&b, 120, 40, false, CHARSET_BLOCKS);
	type(&b, "/power > 20");
	press(&b, K_ENTER, 0);
	while (ui_advance(b.ui, &b.scene))
		;
	draw(&b);
	assert_shows(&b, "power > 20: from ");
	type(&b, "/power > max");
	press(&b, K_ENTER, 0);
	assert_shows(&b, "expected a number, found \"max\"");
	stop(&b);
}

static void enter_opens_what_was_recorded(void **state)
{
	struct request r;
	struct bench b;

	start(&b, 120, 40, true, CHARSET_BLOCKS);
	b.scene.record_done = "/tmp/a.nvmt";
	r = press(&b, K_ENTER, 0);
	assert_int_equal(r.kind, REQUEST_OPEN);
	assert_string_equal(r.path, "/tmp/a.nvmt");
	stop(&b);
}

static void nothing_is_recorded_while_the_disk_is_full(void **state)
{
	struct bench b;

	start(&b, 120, 40, true, CHARSET_BLOCKS);
	b.scene.recording = true;
	b.scene.record_error = "the disk is full";
	draw(&b);
	assert_shows(&b, "not recording");
	assert_hides(&b, "REC");
	stop(&b);
}

static void the_limit_line_leads_to_its_view(void **state)
{
	struct bench b;

	start(&b, 120, 40, true, CHARSET_BLOCKS);
	if (strstr(line(&b, 1), "2 GPU")) {
		mouse(&b, MOUSE_PRESS, 1, 117, 1);
		assert_null(strstr(line(&b, 1), "2 GPU"));
	}
	stop(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(maximum_of_a_row),
		cmocka_unit_test(extremes_of_any_stretch),
		cmocka_unit_test(events_one_after_the_other),
		cmocka_unit_test(remedy_of_a_missing_value),
		cmocka_unit_test(what_is_in_view_is_saved),
		cmocka_unit_test(a_search_without_a_unit),
		cmocka_unit_test(enter_opens_what_was_recorded),
		cmocka_unit_test(nothing_is_recorded_while_the_disk_is_full),
		cmocka_unit_test(the_limit_line_leads_to_its_view),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
