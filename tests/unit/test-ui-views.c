/* The views: how to reach them, what each shows, which row is chosen. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <locale.h>

#include "ui-bench.h"
#include "ui/heat-strip.h"
#include "ui/view.h"

/* The active tab, without blanks. */
static void assert_view(struct bench *b, const char *label)
{
	char text[64] = "";
	size_t n = 0;

	for (int x = 0; x < b->canvas.w; x++) {
		const struct cell *p = &b->canvas.cells[(b->canvas.h - 2) * b->canvas.w + x];

		if (p->style == STYLE_TAB && p->ch[0] != L' ' && n + 1 < sizeof(text))
			text[n++] = (char)p->ch[0];
	}
	text[n] = 0;
	assert_string_equal(text, label);
}

static void keys_and_tabs_lead_to_every_view(void **state)
{
	char tabs[32][32];
	struct bench b;
	int n = 0;

	(void)state;
	for (size_t i = 0; views_at(i); i++)
		if (views_at(i)->label && !views_at(i)->wanted)
			snprintf(tabs[n++], sizeof(tabs[0]), "%c%s", (int)views_at(i)->key, views_at(i)->label);
	assert_string_equal(tabs[0], "1Overview");
	for (int live = 0; live < 2; live++) {
		start(&b, 150, 30, live, CHARSET_ASCII);
		assert_view(&b, tabs[0]);
		for (int i = n - 1; i >= 0; i--) {
			press(&b, (uint32_t)tabs[i][0], 0);
			assert_view(&b, tabs[i]);
		}
		press(&b, K_BACKTAB, 0);
		assert_view(&b, tabs[n - 1]);
		press(&b, K_TAB, 0);
		assert_view(&b, tabs[0]);
		for (int i = 1; i < n; i++) {
			press(&b, K_TAB, 0);
			assert_view(&b, tabs[i]);
		}
		press(&b, K_TAB, MOD_SHIFT);
		assert_view(&b, tabs[n - 2]);
		for (int i = 0; i < n; i++) {
			int x = (int)(strstr(line(&b, -2), tabs[i] + 1) - line(&b, -2));

			mouse(&b, MOUSE_PRESS, 1, x + 1, 28);
			assert_view(&b, tabs[i]);
			mouse(&b, MOUSE_DRAG, 1, 1, 28); /* dragged over the others */
			assert_view(&b, tabs[i]);
		}
		/* From a list, too; but in a prompt a digit is text. */
		press(&b, K_F1, 0);
		assert_shows(&b, "sync mark with a label");
		press(&b, '5', 0);
		assert_hides(&b, "sync mark with a label");
		assert_view(&b, "5Power");
		press(&b, 'g', 0);
		press(&b, '1', 0);
		assert_shows(&b, "go to: 1");
		assert_view(&b, "5Power");
		stop(&b);
	}
}

static void the_view_stays_when_a_trace_is_opened(void **state)
{
	struct bench b;

	(void)state;
	start(&b, 100, 30, true, CHARSET_ASCII);
	press(&b, '6', 0);
	b.scene.live = false;
	ui_reset(b.ui, &b.scene);
	draw(&b);
	assert_view(&b, "6Thermal");
	stop(&b);
}

/* How much a line of tabs has of the name of the fourth view: 3 all, 2 three letters, 1 these without a blank, 0 its
 * number. */
static int named(const char *tabs)
{
	static const char *const forms[] = {" 4 ", " 4Mem ", " 4 Mem ", " 4 Memory "};
	int i = 3;

	while (i > 0 && !strstr(tabs, forms[i]))
		i--;
	assert_non_null(strstr(tabs, forms[i]));
	return i;
}

static void tabs_shrink_to_numbers(void **state)
{
	static const char *const fifth[] = {" 5 ", " 5Pow", " 5 Pow", " 5 Power"};
	int before = 3, widths[4] = {0};
	struct bench b;
	char tabs[1100];

	(void)state;
	for (int w = 200; w >= 36; w--) {
		start(&b, w, 24, true, CHARSET_ASCII);
		assert_memory_equal(line(&b, -2), " 1 Overview ", 12);
		snprintf(tabs, sizeof(tabs), "%s ", line(&b, -2));
		assert_true(named(tabs) <= before);
		before = named(tabs);
		if (widths[before]++ == 0) {
			mouse(&b, MOUSE_PRESS, 1, (int)(strstr(tabs, fifth[before]) - tabs) + 1, 22);
			assert_view(&b, "5Power");
			press(&b, '4', 0);
			assert_non_null(strstr(line(&b, -2), "4 Memory"));
		}
		stop(&b);
	}
	for (int i = 0; i < 4; i++)
		assert_true(widths[i] > 0);
	/* Without a line for tabs the header names the view. */
	start(&b, 60, 13, true, CHARSET_ASCII);
	assert_memory_equal(line(&b, 0), " nvmtop", 7);
	press(&b, '5', 0);
	assert_memory_equal(line(&b, 0), " Power  ", 8);
	stop(&b);
}

static struct channel *channel(struct bench *b, const char *label)
{
	for (size_t i = 0; i < b->fake.about.n_channels; i++)
		if (!strcmp(b->fake.channels[i].label, label))
			return &b->fake.channels[i];
	fail_msg("no channel %s", label);
	return NULL;
}

/* A panel shows when more lines follow. */
static void a_panel_says_that_there_is_more(void **state)
{
	struct bench b;

	(void)state;
	start(&b, 60, 11, false, CHARSET_ASCII);
	memset(channel(&b, "GPU")->source, 'x', 159);
	press(&b, K_DOWN, 0);
	press(&b, K_ENTER, 0);
	assert_shows(&b, "source");
	assert_shows(&b, "x~ |");
	stop(&b);
}

static void a_row_tells_about_itself(void **state)
{
	struct bench b;

	(void)state;
	start(&b, 100, 30, false, CHARSET_ASCII);
	snprintf(channel(&b, "GPU")->source, 160, "/sys/devices/gpu.0/counters");
	snprintf(channel(&b, "CPU")->missing, 200, "tried /proc/stat (permission denied): sudo shows it");
	channel(&b, "EMC")->period_ns = 25 * NS_PER_MS;
	channel(&b, "EMC")->crit = 90;
	snprintf(channel(&b, "EMC")->note, 96, "not validated");
	press(&b, '?', 0); /* nothing chosen: the keys */
	assert_shows(&b, "sync mark with a label");
	press(&b, '?', 0);
	assert_hides(&b, "sync mark with a label");
	press(&b, K_ENTER, 0); /* nothing to show details of */
	assert_hides(&b, "source");
	press(&b, K_DOWN, 0);
	assert_memory_equal(line(&b, 3), ">GPU", 4);
	press(&b, '?', 0);
	assert_shows(&b, "/sys/devices/gpu.0/counters");
	assert_shows(&b, "1000 times a second (fast tier), reached here: 1000 ");
	assert_hides(&b, "sync mark with a label");
	press(&b, K_DOWN, 0); /* it follows */
	assert_shows(&b, "missing  tried /proc/stat (permission denied): sudo shows it");
	assert_hides(&b, "reached here");
	press(&b, K_DOWN, 0);
	assert_shows(&b, "renewed  every 25 ms");
	assert_shows(&b, "critical from 90.0 %");
	assert_shows(&b, "0.0 % to 100.0 %");
	assert_shows(&b, "not validated");
	/* One Esc for each: the panel, the choice, the trace. */
	assert_int_equal(press(&b, K_ESC, 0).kind, REQUEST_NONE);
	assert_hides(&b, "renewed");
	assert_shows(&b, ">EMC");
	assert_int_equal(press(&b, K_ESC, 0).kind, REQUEST_NONE);
	assert_hides(&b, ">EMC");
	assert_int_equal(press(&b, K_ESC, 0).kind, REQUEST_LIVE);
	/* The mouse: first click chooses, second shows details. */
	mouse(&b, MOUSE_PRESS, 1, 3, 3);
	assert_shows(&b, ">GPU");
	mouse(&b, MOUSE_PRESS, 1, 3, 3);
	assert_shows(&b, "/sys/devices/gpu.0/counters");
	mouse(&b, MOUSE_PRESS, 1, 3, 3);
	assert_hides(&b, "/sys/devices/gpu.0/counters");
	press(&b, '3', 0); /* another view: nothing is chosen there */
	assert_hides(&b, "\n>");
	stop(&b);
}

static void the_chosen_row_is_in_view(void **state)
{
	struct bench b;

	(void)state;
	start(&b, 80, 24, true, CHARSET_ASCII);
	press(&b, 'a', 0);
	for (int i = 0; i < 100; i++) {
		press(&b, K_DOWN, 0);
		if (!strstr(b.text, "\n>"))
			fail_msg("%d: the chosen row is not to be seen\n%s", i, b.text);
	}
	assert_hides(&b, " more (PgDn)"); /* the last one */
	press(&b, K_PGUP, 0);
	assert_shows(&b, " more (PgDn)");
	assert_shows(&b, "\n>");
	for (int i = 0; i < 100; i++)
		press(&b, K_UP, 0);
	assert_memory_equal(line(&b, 3), ">GPU", 4);
	mouse(&b, MOUSE_PRESS, 5, 3, 5); /* the wheel scrolls it away */
	assert_hides(&b, ">GPU");
	press(&b, K_DOWN, 0);
	assert_shows(&b, "\n>CPU");
	stop(&b);
}

static void cores_stand_below_their_clock(void **state)
{
	const char *order[] = {"\n cpu0,3-5", "limits ", "\n 0 ", "\n 5 ", "\n cpu1-2", "\n 1 ", "\n 2 ", "\n  6 ", "\n 11 "};
	struct bench b;
	struct channel *ch;
	const char *p;

	(void)state;
	start(&b, 100, 40, false, CHARSET_ASCII);
	ch = channel(&b, "CPU clock");
	snprintf(ch->label, sizeof(ch->label), "cpu0,3-5");
	snprintf(ch->name, sizeof(ch->name), "cpu0.freq");
	fake_add(&b.fake, "cpu1-2", CHANNEL_CPU_FREQ, 1, TIER_MEDIUM, UNIT_HZ, FAMILY_CPU);
	ch = fake_add(&b.fake, "cpu0 min", CHANNEL_FREQ_LIMIT, 0, TIER_SLOW, UNIT_HZ, FAMILY_CPU);
	snprintf(ch->name, sizeof(ch->name), "cpu0.freq_min");
	ch = fake_add(&b.fake, "cpu0 max", CHANNEL_FREQ_LIMIT, 0, TIER_SLOW, UNIT_HZ, FAMILY_CPU);
	snprintf(ch->name, sizeof(ch->name), "cpu0.freq_max");
	ui_reset(b.ui, &b.scene);
	press(&b, '3', 0);
	p = b.text;
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		p = strstr(p, order[i]);
		if (!p)
			fail_msg("\"%s\" is not in its place in\n%s", order[i], b.text);
	}
	/* Each core has a row, below what fits. */
	assert_hides(&b, "CPU cores");
	for (int i = 0; i < 16; i++)
		press(&b, K_DOWN, 0);
	assert_shows(&b, "\n>  cpu11");
	stop(&b);
	start(&b, 160, 40, false, CHARSET_ASCII);
	ch = channel(&b, "CPU clock");
	snprintf(ch->label, sizeof(ch->label), "cpu0-11");
	snprintf(ch->name, sizeof(ch->name), "cpu0.freq");
	fake_fact(&b.fake, "cpu0.governor", "schedutil");
	ui_reset(b.ui, &b.scene);
	press(&b, '3', 0);
	assert_shows(&b, "\n cpu0-11 schedutil");
	stop(&b);
}

/* Every signal is in one band, and the bands fit into the lines. */
static void heat_strips_fit(void **state)
{
	(void)state;
	for (int ascii = 0; ascii < 2; ascii++)
		for (int n = 1; n <= 256; n++)
			for (int lines = 1; lines <= 60; lines++) {
				struct heat_fit f = heat_fit(n, lines, ascii);

				assert_true(f.units >= 1 && f.per >= 1 && f.bands >= 1 && f.lines >= 1);
				assert_true(f.bands * f.per >= n && (f.bands - 1) * f.per < n);
				assert_true(f.lines <= lines && f.bands * f.units <= f.lines * (ascii ? 1 : 2));
				/* Signals share a band only if there is no room for one each. */
				assert_true(f.per == 1 || n > lines * (ascii ? 1 : 2));
			}
}

/* The style of the first character of a text in the frame. */
static int style_of(const struct bench *b, const char *text)
{
	for (int y = 0; y < b->canvas.h; y++) {
		const char *at = strstr(line(b, y), text);

		if (at)
			return b->canvas.cells[y * b->canvas.w + (int)(at - line(b, y))].style;
	}
	return -1;
}

static void limits_and_what_is_left(void **state)
{
	struct bench b;
	struct channel *ch;

	(void)state;
	start(&b, 160, 40, false, CHARSET_ASCII);
	b.fake.constant = 1; /* every value is 5 */
	ch = channel(&b, "soc1");
	ch->warn = 99;
	ch->crit = 104.5;
	ui_reset(b.ui, &b.scene);
	press(&b, '6', 0);
	assert_shows(&b, "99.0     104.5      94.0<      5.0"); /* the nearest is marked */
	assert_shows(&b, "soc1 headroom 94.0"); /* the lowest of all zones */
	assert_shows(&b, "no limit                           5.0");
	ch->warn = 12; /* near the limit from 4 on */
	draw(&b);
	assert_int_equal(style_of(&b, "7.0<"), STYLE_WARN);
	ch->warn = 4.5;
	draw(&b);
	assert_int_equal(style_of(&b, "-0.5<"), STYLE_ALERT);
	stop(&b);
}

/* Duration of throttling and rise of counts within the view, not since boot. */
static void throttling_is_what_it_was_in_view(void **state)
{
	struct bench b;

	(void)state;
	start(&b, 120, 60, false, CHARSET_ASCII);
	b.fake.exact = true;
	fake_add(&b.fake, "gpu-throttle-alert", CHANNEL_THROTTLE, 0, TIER_SLOW, UNIT_NONE, FAMILY_HEAT);
	fake_add(&b.fake, "dla", CHANNEL_THROTTLE, 9, TIER_SLOW, UNIT_NONE, FAMILY_HEAT);
	fake_add(&b.fake, "over-current 1", CHANNEL_THROTTLE_COUNT, 0, TIER_SLOW, UNIT_NONE, FAMILY_HEAT);
	ui_reset(b.ui, &b.scene);
	press(&b, '6', 0);
	assert_shows(&b, "  gpu             10.0 s");
	assert_shows(&b, "  dla               none");
	assert_shows(&b, "  over-current 1      +1");
	assert_hides(&b, "over-current 1       8");
	stop(&b);
}

static void rails_are_slow(struct bench *b)
{
	for (size_t i = 0; i < b->fake.about.n_channels; i++)
		if (b->fake.channels[i].kind == CHANNEL_POWER_TOTAL ||
		    b->fake.channels[i].kind == CHANNEL_RAIL_POWER)
			b->fake.channels[i].tier = TIER_SLOW;
}

/* The line of a rail in the table contains this text. */
static void assert_rail(const struct bench *b, const char *name, const char *text)
{
	char at[200];
	const char *p = strstr(strchr(strchr(b->text, '\n') + 1, '\n'), name); /* not on the limit line */

	assert_non_null(p);
	snprintf(at, sizeof(at), "%.*s", (int)strcspn(p, "\n"), p);
	if (!strstr(at, text))
		fail_msg("\"%s\" is not in \"%s\"", text, at);
}

/* 5 mW between any two times give the same energy at any zoom; gaps without measurement add nothing. */
static void energy_is_power_over_time(void **state)
{
	struct bench b;

	(void)state;
	start(&b, 120, 40, false, CHARSET_ASCII);
	b.fake.constant = 1;
	rails_are_slow(&b);
	press(&b, '5', 0);
	ui_seek(b.ui, &b.scene, 60 * NS_PER_S);
	draw(&b);
	/* 20 s after mark 1, 60 s after the start: 0.1 and 0.3 J */
	assert_shows(&b, "J since mark 1\n");
	assert_shows(&b, " mean 0.0 W over 20.0 s");
	assert_shows(&b, " 0.3 J since start");
	assert_shows(&b, " mean 0.0 W over 1:00.0");
	ui_seek(b.ui, &b.scene, 39 * NS_PER_S);
	draw(&b);
	assert_shows(&b, "J since start\n");
	/* Also for rails, and for the selection. */
	assert_rail(&b, "GPU_SOC", " 0.2");
	press(&b, 'v', 0);
	ui_seek(b.ui, &b.scene, 19 * NS_PER_S);
	draw(&b);
	assert_rail(&b, "GPU_SOC", " 0.1");
	assert_shows(&b, "J selected\n");
	assert_shows(&b, " mean 0.0 W over 20.0 s");
	press(&b, K_ESC, 0);
	ui_seek(b.ui, &b.scene, 39 * NS_PER_S);
	draw(&b);
	assert_shows(&b, " 0.2 J since start"); /* 0.195 */
	b.fake.gaps[0] = (struct gap) {TIER_SLOW, GAP_LATE, FAKE_START, FAKE_START + 30 * NS_PER_S, 300};
	b.fake.n_gaps = 1;
	ui_seek(b.ui, &b.scene, 58 * NS_PER_S);
	draw(&b);
	assert_shows(&b, " 0.1 J since start"); /* 0.14: half of it is a gap */
	stop(&b);
}

/* The mean covers the time with values. */
static void a_total_that_dies_keeps_its_mean(void **state)
{
	struct bench b;

	(void)state;
	start(&b, 120, 40, false, CHARSET_ASCII);
	b.fake.constant = 39100;
	b.fake.dead_ns = FAKE_START + 5 * NS_PER_S;
	ui_seek(b.ui, &b.scene, 9 * NS_PER_S);
	draw(&b);
	assert_null(strstr(b.text, "nan"));
	press(&b, '5', 0);
	draw(&b);
	assert_shows(&b, " 195.5 J since start");
	assert_shows(&b, " mean 39.1 W over 5.0 of 9.0 s");
	stop(&b);
	start(&b, 120, 40, false, CHARSET_ASCII);
	b.fake.constant = 3910000;
	rails_are_slow(&b);
	press(&b, '5', 0);
	ui_seek(b.ui, &b.scene, 60 * NS_PER_S);
	draw(&b);
	assert_shows(&b, " 234.6 kJ since start ");
	stop(&b);
}

static double cold_then_dead(const struct fake *f, size_t i, int64_t t_ns)
{
	return f->channels[i].kind == CHANNEL_TEMPERATURE && t_ns >= FAKE_START + 5 * NS_PER_S ? NAN : 5;
}

static void a_sensor_that_dies_has_no_headroom(void **state)
{
	struct bench b;

	(void)state;
	start(&b, 160, 40, false, CHARSET_ASCII);
	b.fake.value = cold_then_dead;
	channel(&b, "gpu")->warn = 99;
	ui_reset(b.ui, &b.scene);
	press(&b, '2', 0);
	ui_seek(b.ui, &b.scene, 4 * NS_PER_S);
	draw(&b);
	assert_shows(&b, "94.0 to throttle");
	ui_seek(b.ui, &b.scene, 20 * NS_PER_S);
	draw(&b);
	assert_null(strstr(b.text, "to throttle"));
	stop(&b);
}

static int style_at(const struct bench *b, const char *text, int dx)
{
	const char *p = strstr(strchr(strchr(b->text, '\n') + 1, '\n'), text), *from; /* not on the limit line */
	int y = 0;

	assert_non_null(p);
	for (const char *q = b->text; q < p; q++)
		y += *q == '\n';
	for (from = p; from > b->text && from[-1] != '\n'; from--)
		;
	return b->canvas.cells[(size_t)y * (size_t)b->canvas.w + (size_t)(p - from + dx)].style;
}

static void a_rail_over_its_limit_is_red(void **state)
{
	static const struct {
		double limit;
		int style;
		enum hue bar;
		const char *headroom;
	} cases[] = {{10, STYLE_STRONG, HUE_POWER, " 50 %"},
		     {5.1, STYLE_WARN, HUE_WARN, " 2 %"},
		     {4, STYLE_ALERT, HUE_ALERT, " -25 %"},
		     {0, STYLE_STRONG, HUE_OTHER, " --"}};
	struct bench b;

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		start(&b, 120, 40, false, CHARSET_ASCII);
		b.fake.constant = 1;
		for (size_t i = 0; i < b.fake.about.n_channels; i++)
			if (b.fake.channels[i].kind == CHANNEL_RAIL_CURRENT)
				b.fake.channels[i].crit = b.fake.channels[i].index == 1 ? cases[k].limit : 100;
		ui_reset(b.ui, &b.scene);
		press(&b, '5', 0);
		assert_rail(&b, "CPU_CV", cases[k].headroom);
		assert_int_equal(style_at(&b, "CPU_CV ", 17), cases[k].style);
		/* The shade of the bar's first cell tells its position. */
		assert_int_equal((style_at(&b, "CPU_CV ", 29) - STYLE_SHADES) / (2 * SHADES), cases[k].bar);
		stop(&b);
	}
}

/* GPU memory is part of used memory, and an unknown part has no layer. */
static void memory_is_a_stack(void **state)
{
	struct bench b;
	struct channel *gpu, *ram;

	(void)state;
	start(&b, 120, 40, false, CHARSET_ASCII);
	b.fake.constant = 16 << 20; /* kB, of everything */
	ram = channel(&b, "RAM");
	ram->hi = 64 << 20;
	ui_reset(b.ui, &b.scene);
	press(&b, '4', 0);
	assert_shows(&b, "= used 16.0 GiB  25 %");
	assert_shows(&b, ". available 48.0 GiB  75 %");
	gpu = channel(&b, "GPU clock");
	strcpy(gpu->name, "gpu.memory");
	gpu->hi = 8 << 20; /* its own memory */
	ui_reset(b.ui, &b.scene);
	draw(&b);
	assert_shows(&b, "= used 16.0 GiB  25 %");
	strcpy(gpu->name, "nvmap.used");
	gpu->hi = NAN;
	strcpy(channel(&b, "CPU clock")->name, "ram.cached");
	ui_reset(b.ui, &b.scene);
	draw(&b);
	assert_shows(&b, "# GPU 16.0 GiB  25 %");
	assert_shows(&b, "= programs  0.0 GiB   0 %");
	assert_shows(&b, ": cache 16.0 GiB  25 %");
	assert_shows(&b, ". free 32.0 GiB  50 %");
	stop(&b);
}

static void what_is_not_there_is_said(void **state)
{
	struct bench b;

	(void)state;
	start(&b, 80, 24, true, CHARSET_ASCII);
	for (size_t i = 0; i < b.fake.about.n_channels; i++)
		b.fake.channels[i].kind = CHANNEL_OTHER;
	b.fake.about.n_facts = 0;
	ui_reset(b.ui, &b.scene);
	press(&b, '2', 0);
	assert_shows(&b, "none that nvmtop can read");
	press(&b, '3', 0);
	assert_shows(&b, "the trace has no CPU signals");
	press(&b, '4', 0);
	assert_shows(&b, "only Jetsons report");
	press(&b, '5', 0);
	assert_shows(&b, "nothing here measures it");
	press(&b, '6', 0);
	assert_shows(&b, "no temperature is shown here");
	press(&b, '9', 0);
	assert_shows(&b, "the trace does not name its board");
	stop(&b);
	start(&b, 80, 24, true, CHARSET_ASCII);
	snprintf(
		channel(&b, "EMC")->missing, 200,
		"tried /sys/kernel/debug/cactmon/mc_all (permission denied); nvmtop-setup makes it readable");
	ui_reset(b.ui, &b.scene);
	press(&b, '9', 0);
	assert_shows(&b, "Missing, and why");
	assert_shows(&b, "makes it readable"); /* the remedy, although long */
	assert_shows(&b, "MODE_30W");
	stop(&b);
}

/* Processes from..to-1, named p0, p1, ...; each uses more CPU than the next. */
static void read_processes(struct bench *b, struct procs_list *l, int from, int to)
{
	free(l->procs);
	*l = (struct procs_list) {.procs = calloc((size_t)(to - from), sizeof(*l->procs))};
	assert_non_null(l->procs);
	for (int i = from; i < to; i++) {
		struct proc *p = &l->procs[l->n++];

		*p = (struct proc) {.pid = 100 + i, .start = 7, .state = 'S', .cpu = 100 - i};
		snprintf(p->name, sizeof(p->name), "p%d", i);
	}
	b->scene.procs = l;
	b->scene.procs_serial++;
}

/* Keys and clicks apply to what was visible, whatever has been read since. */
static void a_newer_list_does_not_move_the_choice(void **state)
{
	struct procs_list l = {.n = 0};
	struct bench b;
	int y = 0;

	(void)state;
	start(&b, 100, 30, true, CHARSET_ASCII);
	press(&b, '8', 0);
	read_processes(&b, &l, 0, 12);
	draw(&b);
	/* Offers neither keys of the charts nor killing without a choice. */
	assert_shows(&b, "G P M N sort  t tree");
	assert_hides(&b, "zoom");
	assert_hides(&b, "marks");
	assert_hides(&b, "speed");
	assert_hides(&b, "x kill");
	while (y < 29 && !strstr(line(&b, y), "p6"))
		y++;
	read_processes(&b, &l, 3, 12); /* three above it have ended */
	mouse(&b, MOUSE_PRESS, 1, 4, y);
	assert_shows(&b, "x kill");
	press(&b, 'x', 0);
	assert_shows(&b, "Kill p6 (106)?");
	press(&b, 'n', 0);
	b.scene.procs_kept = "elsewhere";
	press(&b, 'x', 0);
	assert_shows(&b, "elsewhere");
	assert_hides(&b, "kill");
	b.scene.procs_kept = NULL;
	read_processes(&b, &l, 2, 12);
	press(&b, K_DOWN, 0);
	press(&b, 'x', 0);
	assert_shows(&b, "Kill p7 (107)?");
	press(&b, 'n', 0);
	read_processes(&b, &l, 0, 2); /* it has ended too, and all after it */
	press(&b, 'x', 0);
	assert_hides(&b, "Kill p");
	read_processes(&b, &l, 0, 1);
	press(&b, K_DOWN, 0);
	read_processes(&b, &l, 0, 12);
	draw(&b);
	read_processes(&b, &l, 11, 12);
	press(&b, K_PGDN, 0);
	press(&b, 'x', 0);
	assert_shows(&b, "Kill p11 (111)?");
	stop(&b);
	free(l.procs);
}

/* Only an answer to a visible question counts. */
static void a_process_is_ended_by_an_answer_alone(void **state)
{
	struct event pasted = {.kind = EVENT_KEY, .key = 'y', .pasted = 1};
	struct event ask = {.kind = EVENT_KEY, .key = 'x'};
	struct procs_list l = {.n = 0};
	struct bench b;

	(void)state;
	start(&b, 100, 30, true, CHARSET_ASCII);
	press(&b, '8', 0);
	read_processes(&b, &l, 0, 12);
	draw(&b);
	press(&b, K_DOWN, 0);
	press(&b, 'x', 0);
	assert_shows(&b, "Kill p0 (100)?");
	assert_int_equal(press(&b, 'y', 0).kind, REQUEST_KILL);
	press(&b, 'x', 0);
	assert_int_equal(ui_event(b.ui, &b.scene, &pasted).kind, REQUEST_NONE);
	assert_int_equal(press(&b, 'y', 0).kind, REQUEST_NONE);
	/* Typed ahead, before the frame is drawn. */
	assert_int_equal(ui_event(b.ui, &b.scene, &ask).kind, REQUEST_NONE);
	assert_int_equal(press(&b, 'y', 0).kind, REQUEST_NONE);
	assert_hides(&b, "Kill p0");
	/* Mouse movement and button release are allowed. */
	press(&b, 'x', 0);
	mouse(&b, MOUSE_RELEASE, 1, 4, 5);
	assert_int_equal(press(&b, 'y', 0).kind, REQUEST_KILL);
	/* Another view, or another process. */
	press(&b, 'x', 0);
	assert_shows(&b, "Kill p0 (100)?");
	mouse(&b, MOUSE_PRESS, 1, 3, 28);
	assert_hides(&b, "Kill p0");
	press(&b, '8', 0);
	assert_hides(&b, "Kill p0");
	assert_int_equal(press(&b, 'y', 0).kind, REQUEST_NONE);
	press(&b, 'x', 0);
	mouse(&b, MOUSE_PRESS, 1, 4, 5);
	assert_int_equal(press(&b, 'y', 0).kind, REQUEST_NONE);
	/* A window too small for it; a trace instead. */
	press(&b, 'x', 0);
	canvas_resize(&b.canvas, 100, 5);
	draw(&b);
	assert_int_equal(press(&b, 'y', 0).kind, REQUEST_NONE);
	canvas_resize(&b.canvas, 100, 30);
	draw(&b);
	press(&b, 'x', 0);
	b.scene.live = false;
	b.scene.procs = NULL;
	ui_reset(b.ui, &b.scene);
	assert_int_equal(press(&b, 'y', 0).kind, REQUEST_NONE);
	stop(&b);
	free(l.procs);
}

/* Kernel threads, and a command line longer than the screen, on request. */
static void a_process_is_shown_in_full(void **state)
{
	struct procs_list l = {.n = 0};
	struct bench b;

	(void)state;
	start(&b, 80, 24, true, CHARSET_ASCII);
	press(&b, '8', 0);
	read_processes(&b, &l, 0, 3);
	snprintf(l.procs[0].command, PROC_COMMAND, "/usr/bin/python3 %0150d the-end", 0);
	l.procs[2].kernel = true;
	draw(&b);
	assert_shows(&b, "2 processes, 0 running");
	assert_shows(&b, " python3 000");
	assert_hides(&b, "p2");
	press(&b, 'T', 0);
	assert_shows(&b, "3 processes");
	assert_shows(&b, "p2");
	press(&b, K_DOWN, 0);
	assert_hides(&b, "the-end");
	press(&b, K_ENTER, 0);
	assert_shows(&b, "the-end");
	assert_shows(&b, "/usr/bin/python3");
	press(&b, K_ESC, 0);
	assert_hides(&b, "the-end");
	assert_shows(&b, "x kill"); /* still chosen */
	stop(&b);
	free(l.procs);
}

/* The overview reads processes only if it has room, and shows the busiest. */
static void the_overview_shows_the_busiest(void **state)
{
	struct procs_list l = {.n = 0};
	struct bench b;

	(void)state;
	start(&b, 120, 50, true, CHARSET_ASCII);
	read_processes(&b, &l, 0, 9);
	for (int i = 0; i < 9; i++) {
		l.procs[i].cpu = (i * 5) % 9; /* 0 5 1 6 2 7 3 8 4 */
		l.procs[i].gpu = i == 4;
	}
	l.procs[7].kernel = true;
	draw(&b);
	assert_true(ui_wants_procs(b.ui, &b.scene));
	for (int i = 0; i < 9; i++) {
		char name[16];

		snprintf(name, sizeof(name), " p%d ", i);
		if (i == 4 || i == 5 || i == 3 || i == 1)
			assert_shows(&b, name);
		else
			assert_hides(&b, name);
	}
	canvas_resize(&b.canvas, 120, 49);
	draw(&b);
	assert_false(ui_wants_procs(b.ui, &b.scene));
	assert_hides(&b, " p4 ");
	b.scene.live = false;
	b.scene.procs = NULL;
	canvas_resize(&b.canvas, 120, 60);
	ui_reset(b.ui, &b.scene);
	draw(&b);
	assert_false(ui_wants_procs(b.ui, &b.scene));
	assert_hides(&b, "Reading the processes");
	stop(&b);
	free(l.procs);
}

static void every_view_at_every_size(void **state)
{
	static const enum charset sets[] = {CHARSET_ASCII, CHARSET_BLOCKS, CHARSET_BRAILLE};
	struct bench b;

	(void)state;
	for (size_t k = 0; k < 3; k++) {
		start(&b, 1, 1, k != 1, sets[k]);
		for (int view = '1'; view <= '9'; view++)
			for (int w = 1 + (int)k; w < 220; w += 1 + w / 2)
				for (int h = 1 + (int)k; h < 70; h += 1 + h / 2) {
					canvas_resize(&b.canvas, w, h);
					press(&b, (uint32_t)view, 0);
					press(&b, K_DOWN, 0);
					press(&b, K_DOWN, 0);
					press(&b, K_ENTER, 0);
					press(&b, K_UP, 0);
					press(&b, K_ESC, 0);
				}
		stop(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_and_tabs_lead_to_every_view),
		cmocka_unit_test(the_view_stays_when_a_trace_is_opened),
		cmocka_unit_test(tabs_shrink_to_numbers),
		cmocka_unit_test(a_row_tells_about_itself),
		cmocka_unit_test(a_panel_says_that_there_is_more),
		cmocka_unit_test(the_chosen_row_is_in_view),
		cmocka_unit_test(cores_stand_below_their_clock),
		cmocka_unit_test(heat_strips_fit),
		cmocka_unit_test(throttling_is_what_it_was_in_view),
		cmocka_unit_test(limits_and_what_is_left),
		cmocka_unit_test(energy_is_power_over_time),
		cmocka_unit_test(a_total_that_dies_keeps_its_mean),
		cmocka_unit_test(a_sensor_that_dies_has_no_headroom),
		cmocka_unit_test(a_rail_over_its_limit_is_red),
		cmocka_unit_test(memory_is_a_stack),
		cmocka_unit_test(what_is_not_there_is_said),
		cmocka_unit_test(a_newer_list_does_not_move_the_choice),
		cmocka_unit_test(a_process_is_ended_by_an_answer_alone),
		cmocka_unit_test(a_process_is_shown_in_full),
		cmocka_unit_test(the_overview_shows_the_busiest),
		cmocka_unit_test(every_view_at_every_size),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
