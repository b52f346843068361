/* Conditions: what is accepted and what is rejected, and that a search over a timeline gives the same
 * result as a plain loop over its rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/condition.h"

enum { GPU, CPU, CPU4, RAM, LATE, POWER, VIN_V, VIN_W, HOT, OC1, OC2, DEAD, ZONE, CHANNELS };

static struct channel channels[CHANNELS] = {
	[GPU] = {.name = "gpu.util",
		 .label = "GPU",
		 .kind = CHANNEL_GPU_UTIL,
		 .index = 0,
		 .tier = TIER_FAST,
		 .column = 0,
		 .unit = UNIT_PERCENT},
	[CPU] = {.name = "cpu.util",
		 .label = "CPU",
		 .kind = CHANNEL_CPU_UTIL,
		 .index = 0,
		 .tier = TIER_FAST,
		 .column = 1,
		 .unit = UNIT_PERCENT},
	[CPU4] = {.name = "cpu4.util",
		  .label = "cpu4",
		  .kind = CHANNEL_CORE_UTIL,
		  .index = 4,
		  .tier = TIER_FAST,
		  .column = 2,
		  .unit = UNIT_PERCENT},
	[RAM] = {.name = "ram.used",
		 .label = "RAM",
		 .kind = CHANNEL_RAM_USED,
		 .index = 0,
		 .tier = TIER_FAST,
		 .column = 3,
		 .unit = UNIT_KB},
	[LATE] = {.name = "nvmtop.late",
		  .label = "late",
		  .kind = CHANNEL_OTHER,
		  .index = 0,
		  .tier = TIER_FAST,
		  .column = 4,
		  .unit = UNIT_NONE},
	[POWER] = {.name = "power.total",
		   .label = "Total",
		   .kind = CHANNEL_POWER_TOTAL,
		   .index = 0,
		   .tier = TIER_MEDIUM,
		   .column = 0,
		   .unit = UNIT_MILLIWATT},
	[VIN_V] = {.name = "VDD_IN.voltage",
		   .label = "VDD_IN",
		   .kind = CHANNEL_RAIL_VOLTAGE,
		   .index = 0,
		   .tier = TIER_MEDIUM,
		   .column = 1,
		   .unit = UNIT_MILLIVOLT},
	[VIN_W] = {.name = "VDD_IN.power",
		   .label = "VDD_IN",
		   .kind = CHANNEL_RAIL_POWER,
		   .index = 0,
		   .tier = TIER_MEDIUM,
		   .column = 2,
		   .unit = UNIT_MILLIWATT},
	[HOT] = {.name = "temp.hottest",
		 .label = "hottest",
		 .kind = CHANNEL_HOTTEST,
		 .index = 0,
		 .tier = TIER_SLOW,
		 .column = 0,
		 .unit = UNIT_CELSIUS},
	[OC1] = {.name = "throttle.oc1",
		 .label = "oc1",
		 .kind = CHANNEL_THROTTLE,
		 .index = 0,
		 .tier = TIER_SLOW,
		 .column = 1,
		 .unit = UNIT_NONE},
	[OC2] = {.name = "throttle.oc2",
		 .label = "oc2",
		 .kind = CHANNEL_THROTTLE,
		 .index = 1,
		 .tier = TIER_SLOW,
		 .column = 2,
		 .unit = UNIT_NONE},
	[DEAD] = {.name = "emc.util",
		  .label = "EMC",
		  .kind = CHANNEL_EMC_UTIL,
		  .tier = TIER_FAST,
		  .column = 5,
		  .unit = UNIT_PERCENT,
		  .missing = "not readable without root"},
	[ZONE] = {.name = "temp.Package id 0",
		  .label = "Package id 0",
		  .kind = CHANNEL_TEMPERATURE,
		  .index = 0,
		  .tier = TIER_SLOW,
		  .column = 3,
		  .unit = UNIT_CELSIUS},
};

static const struct session session = {
	.channels = channels,
	.n_channels = CHANNELS,
	.width = {6, 3, 4},
	.hz = {1000, 100, 10},
};

static struct err e;

static bool bound(struct condition *c, const char *text)
{
	if (condition_parse(c, text, &e) < 0 || condition_bind(c, &session, &e) < 0)
		return false;
	return true;
}

static void understood(void **state)
{
	static const struct {
		const char *text;
		size_t channel;
		const char *true_at; /* below the limit, at it, above it */
		double limit;
		int64_t hold_ns;
	} good[] = {
		{"gpu > 95", GPU, "001", 95, 0},
		{"gpu>95%", GPU, "001", 95, 0},
		{" GPU.Util >= 9.5e1 % for 2s ", GPU, "011", 95, 2 * NS_PER_S},
		{"gpu > 95 FOR 500ms", GPU, "001", 95, NS_PER_S / 2},
		{"cpu4 < 10", CPU4, "100", 10, 0},
		{"power > 25 W", POWER, "001", 25000, 0},
		{"power>25w", POWER, "001", 25000, 0},
		{"power > 0.025kW", POWER, "001", 25000, 0},
		{"total > 5000mw for 1m30s", POWER, "001", 5000, 90 * NS_PER_S},
		{"VDD_IN > 20W", VIN_W, "001", 20000, 0},
		{"vdd_in <= 4.9 V", VIN_V, "110", 4900, 0},
		{"VDD_IN.power != 0 mW", VIN_W, "101", 0, 0},
		{"hottest >= 85C", HOT, "011", 85, 0},
		{"hottest >= 85\302\260C", HOT, "011", 85, 0},
		{"hottest > -5.5", HOT, "001", -5.5, 0},
		{"ram > 2 GiB", RAM, "001", 2097152, 0},
		{"ram = 512MB", RAM, "010", 500000, 0},
		{"ram == 7kB", RAM, "010", 7, 0},
		{"late > 0", LATE, "001", 0, 0},
		{"[Package id 0] > 70", ZONE, "001", 70, 0},
	};
	struct condition c;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		if (!bound(&c, good[i].text))
			fail_msg("%s: %s", good[i].text, e.text);
		assert_int_equal(c.n, 1);
		assert_int_equal(c.terms[0].channel, good[i].channel);
		assert_int_equal(c.terms[0].tier, channels[good[i].channel].tier);
		assert_int_equal(c.terms[0].column, channels[good[i].channel].column);
		for (int side = -1; side <= 1; side++)
			assert_int_equal(term_compare(&c.terms[0], c.terms[0].limit + side),
					 good[i].true_at[side + 1] == '1');
		assert_false(term_compare(&c.terms[0], NAN));
		if (fabs(c.terms[0].limit - good[i].limit) > 1e-9)
			fail_msg("%s: %g", good[i].text, c.terms[0].limit);
		assert_true(c.terms[0].hold_ns == good[i].hold_ns);
	}
}

/* Order of comparisons with and (&) and or (
 * ), in reverse Polish notation. */
static void shape(const struct condition *c, const char *polish)
{
	char found[2 * CONDITION_TERMS + 1] = "";

	for (size_t i = 0; i < c->n_ops; i++)
		found[i] = c->ops[i].apply == expr_and  ? '&'
			   : c->ops[i].apply == expr_or ? '|'
							: (char)('0' + c->ops[i].index);
	assert_string_equal(found, polish);
}

static void joined(void **state)
{
	struct condition c;

	(void)state;
	assert_true(bound(&c, "gpu > 1 and cpu > 2 for 3s or power > 4W && ram<5kB||cpu4>6"));
	assert_int_equal(c.n, 5);
	shape(&c, "01&23&|4|");
	assert_true(c.terms[1].hold_ns == 3 * NS_PER_S);
	assert_true(condition_uses(&c, TIER_FAST) && condition_uses(&c, TIER_MEDIUM));
	assert_false(condition_uses(&c, TIER_SLOW));
	/* Any throttling, combined with another comparison. */
	assert_true(bound(&c, "gpu > 1 and throttled for 2s"));
	shape(&c, "012|&");
	assert_int_equal(c.terms[0].channel, GPU);
	assert_int_equal(c.terms[1].channel, OC1);
	assert_int_equal(c.terms[2].channel, OC2);
	assert_true(c.terms[1].hold_ns == 2 * NS_PER_S && c.terms[2].hold_ns == 2 * NS_PER_S);
	/* No throttling. */
	assert_true(bound(&c, "throttled == 0"));
	shape(&c, "01&");
	/* Parentheses. */
	assert_true(bound(&c, "gpu > 1 and (cpu > 2 or ( cpu4 < 3 )) && ram < 4 kB"));
	shape(&c, "012|&3&");
}

static void refused(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{"", "the name of a signal"},
		{"   ", "the name of a signal"},
		{"> 5", "column 1: expected the name of a signal, found \">\""},
		{"gpu", "a comparison"},
		{"gpu 5", "\"5\""},
		{"gpu >", "a number"},
		{"gpu > x", "\"x\""},
		{"gpu > 1.2.3", "column 7: expected a number, found \"1.2.3\""},
		{"gpu > 5 W", "not a unit of gpu.util"},
		{"gpu > 5 parsecs", "parsecs"},
		{"gpu > 5parsecs", "a unit"},
		{"gpu > 5 for", "a time"},
		{"gpu > 5 for ever", "\"ever\""},
		{"gpu > 5 and", "the name of a signal"},
		{"gpu > 5 nor cpu > 5", "\"nor\""},
		{"(gpu > 5", "column 9: expected an operator or \")\", found the end"},
		{"gpu > 5)", "column 8"},
		{"(gpu) > 5", "column 5: expected a comparison"},
		{"gpu > 5 + 3", "column 9"},
		{"gpu > 5 > 3", "column 9"},
		{"t > 5 and", "column 10"},
		{"power > 25", "needs a unit: mW, W, kW"},
		{"VDD_IN > 5", "it matches VDD_IN.voltage, VDD_IN.power"},
		{"VDD_IN > 5 C", "it matches VDD_IN.voltage, VDD_IN.power"},
		{"late > 5 W", "has no unit"},
		{"emc > 5", "not readable without root"},
		{"gpx > 5", "gpu, cpu, ram, power, hottest"},
		{"vdd_out > 1W", "VDD_IN.voltage, VDD_IN.power"},
		{"cpu7 > 5", "cpu.util, cpu4.util"},
		{"throttled > 5 W", "has no unit"},
		{"[gpu > 5", "\"]\""},
		{"gpu\x1b[2J > 5", "[2J"},
		{"gp\x1b > 5", "gp?"},
	};
	struct condition c;
	char text[400];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		e = (struct err) {.code = ERR_NONE};
		if (bound(&c, bad[i].text))
			fail_msg("%s: taken", bad[i].text);
		assert_int_equal(e.code, ERR_USAGE);
		if (!strstr(e.text, bad[i].says) || strchr(e.text, '\x1b'))
			fail_msg("%s: %s", bad[i].text, e.text);
	}
	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(condition_parse(&c, text, &e), -1);
	text[100] = '\0';
	assert_int_equal(condition_parse(&c, text, &e), -1);
	/* 33 comparisons fit into the text but not into the table. */
	text[0] = '\0';
	for (int i = 0; i < 33; i++)
		sprintf(text + strlen(text), "%sa<1", i ? " or " : "");
	assert_int_equal(condition_parse(&c, text, &e), -1);
	assert_non_null(strstr(e.text, "32"));
	struct session none = session;
	none.n_channels = CPU4;
	assert_int_equal(condition_parse(&c, "throttled", &e), 0);
	assert_int_equal(condition_bind(&c, &none, &e), -1);
	assert_false(c.bound);
}

/* Fragments of conditions and random bytes: always a result, and always a message on error. */
static void fuzzed(void **state)
{
	static const char *const pieces[] = {
		"gpu",       "cpu4",   "[Package id 0]",
		"throttled", "VDD_IN", " ",
		">",         ">=",     "==",
		"=",         "!",      "&&",
		"||",        "|",      "and",
		"or",        "for",    "5",
		"-",         "1e999",  "1e3",
		".",         "%",      "W",
		"GiB",       "2s",     "1m30s",
		"(",         ")",      "[",
		"]",         "\t",     "\xc2\xb0",
		"\xff",      "\x1b",   "\n",
		"\x01",
	};
	uint64_t seed = 12345;
	size_t taken = 0;
	struct condition c;
	char text[300];

	(void)state;
	for (int round = 0; round < 200000; round++) {
		size_t n = 0;

		for (int i = 0; i < 12; i++) {
			seed = seed * 6364136223846793005U + 1442695040888963407U;
			unsigned r = (unsigned)(seed >> 33);
			if (r % 4 == 0)
				break;
			n += (size_t)sprintf(text + n, "%s",
					     pieces[r / 4 % (sizeof(pieces) / sizeof(*pieces))]);
		}
		text[n] = '\0';
		e = (struct err) {.code = ERR_NONE};
		if (condition_parse(&c, text, &e) < 0 || condition_bind(&c, &session, &e) < 0) {
			assert_int_equal(e.code, ERR_USAGE);
			assert_true(e.text[0]);
			for (const char *p = e.text; *p; p++)
				assert_true((unsigned char)*p >= ' ' && *p != 127);
			continue;
		}
		taken++;
		assert_true(c.n >= 1 && c.n <= CONDITION_TERMS);
		for (size_t i = 0; i < c.n; i++)
			assert_true(c.terms[i].channel < CHANNELS && isfinite(c.terms[i].limit));
	}
	assert_true(taken > 10);
}

/* --- over rows --- */

static bool fast(struct condition_eval *v, int64_t ms, double gpu, double cpu)
{
	double row[6] = {gpu, cpu, 0, 0, 0, 0};

	return condition_row(v, TIER_FAST, ms * NS_PER_MS, row);
}

static void held(void **state)
{
	struct condition_eval v;
	struct condition c;

	(void)state;
	assert_true(bound(&c, "gpu > 50 for 10ms"));
	condition_start(&v, &c, session.hz);
	for (int ms = 0; ms < 10; ms++)
		assert_false(fast(&v, ms, 51, 0));
	assert_true(fast(&v, 10, 51, 0));
	assert_true(fast(&v, 11, 51, 0));
	/* A missing value is as a row that is missing. */
	assert_true(fast(&v, 12, NAN, 0));
	assert_true(fast(&v, 23, 51, 0));
	/* Late rows count by their times ... */
	assert_false(fast(&v, 24, 50, 0));
	assert_false(fast(&v, 25, 51, 0));
	assert_true(fast(&v, 225, 51, 0));
	/* ... but a long gap interrupts. */
	assert_false(fast(&v, 225 + 251, 51, 0));
	assert_true(fast(&v, 225 + 261, 51, 0));
	/* A missing value is not different from 5. */
	assert_true(bound(&c, "gpu != 5"));
	condition_start(&v, &c, session.hz);
	assert_false(fast(&v, 1, NAN, 0));
	assert_true(fast(&v, 2, 4, 0));
	/* "and" binds tighter. */
	assert_true(bound(&c, "gpu > 5 or gpu > 1 and cpu > 1"));
	condition_start(&v, &c, session.hz);
	assert_false(fast(&v, 1, 2, 0));
	assert_true(fast(&v, 2, 2, 2));
	assert_true(fast(&v, 3, 6, 0));
	assert_false(fast(&v, 4, 0, 2));
}

static void other_tier(void **state)
{
	double medium[3] = {30000, 0, 0};
	struct condition_eval v;
	struct condition c;

	(void)state;
	assert_true(bound(&c, "power > 20 W and gpu < 10"));
	condition_start(&v, &c, session.hz);
	assert_false(fast(&v, 1, 5, 0));
	assert_true(condition_row(&v, TIER_MEDIUM, 2 * NS_PER_MS, medium));
	assert_true(fast(&v, 100, 5, 0));
	/* The medium tier stopped: its last values are no longer valid. */
	assert_true(fast(&v, 252, 5, 0));
	assert_false(fast(&v, 253, 5, 0));
}

/* --- over a timeline --- */

#define FAST 6000
#define SLOW 60

struct fake {
	struct timeline timeline;
	int64_t t_ns[2][FAST];
	double v[2][FAST]; /* GPU and HOT */
	size_t n[2];
	uint64_t seed;
};

static int which(enum tier t)
{
	return t == TIER_FAST ? 0 : 1;
}

static const struct session *fake_session(struct timeline *t)
{
	(void)t;
	return &session;
}

static bool fake_extent(struct timeline *t, int64_t *first, int64_t *last)
{
	struct fake *f = (struct fake *)t;

	*first = f->t_ns[0][0] < f->t_ns[1][0] ? f->t_ns[0][0] : f->t_ns[1][0];
	*last = f->t_ns[0][f->n[0] - 1];
	if (f->t_ns[1][f->n[1] - 1] > *last)
		*last = f->t_ns[1][f->n[1] - 1];
	return true;
}

/* The first row at or after t. */
static size_t lower(const struct fake *f, int w, int64_t t)
{
	size_t lo = 0, hi = f->n[w];

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (f->t_ns[w][mid] < t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void fake_columns(struct timeline *t, size_t channel, int zoom, int64_t first, size_t n,
			 struct bin *out)
{
	struct fake *f = (struct fake *)t;
	enum tier tier = channels[channel].tier;
	int base = zoom_base(session.hz[tier]), w = which(tier);

	memset(out, 0, n * sizeof(*out));
	for (size_t i = 0; i < n; i++) {
		int64_t c = first + (int64_t)i;
		int k = zoom;

		if (k < base) {
			c >>= base - k;
			k = base;
		}
		for (size_t r = lower(f, w, (int64_t)((uint64_t)c << k));
		     r < f->n[w] && f->t_ns[w][r] >> k == c; r++)
			bin_add(&out[i], f->v[w][r]);
	}
}

static double fake_value(struct timeline *t, size_t channel, int64_t t_ns, int64_t *at_ns)
{
	struct fake *f = (struct fake *)t;
	int w = which(channels[channel].tier);
	size_t r = lower(f, w, t_ns + 1);

	if (at_ns)
		*at_ns = r ? f->t_ns[w][r - 1] : t_ns;
	return r ? f->v[w][r - 1] : NAN;
}

static int64_t fake_step(struct timeline *t, enum tier tier, int64_t t_ns, int n)
{
	struct fake *f = (struct fake *)t;
	int w = which(tier);
	size_t r = lower(f, w, t_ns + 1);

	assert_int_equal(n, 1);
	return f->t_ns[w][r < f->n[w] ? r : f->n[w] - 1];
}

static const struct timeline_ops fake_ops = {
	.session = fake_session,
	.extent = fake_extent,
	.columns = fake_columns,
	.value = fake_value,
	.step = fake_step,
};

static unsigned chance(struct fake *f, unsigned n)
{
	f->seed = f->seed * 6364136223846793005U + 1442695040888963407U;
	return (unsigned)(f->seed >> 33) % n;
}

static void fake_make(struct fake *f, uint64_t seed)
{
	f->timeline.ops = &fake_ops;
	f->seed = seed;
	f->n[0] = FAST;
	f->n[1] = SLOW;
	for (int w = 0; w < 2; w++) {
		int64_t t = 777 * NS_PER_S + 12345;
		double v = 50;

		for (size_t i = 0; i < f->n[w]; i++) {
			t += (w ? 100 : 1) * NS_PER_MS + chance(f, 20000);
			if (!w && chance(f, 2000) == 0)
				t += 400 * NS_PER_MS;
			v = fmin(fmax(v + (double)chance(f, 11) - 5, 0), 100);
			f->t_ns[w][i] = t;
			f->v[w][i] = chance(f, 300) ? v : NAN;
		}
	}
}

/* The result after each row and its time; rows with equal times count as one. */
static size_t plain(const struct fake *f, const struct condition *c, int64_t *t_ns, bool *is)
{
	struct condition_eval v;
	size_t at[2] = {0, 0}, n = 0;

	condition_start(&v, c, session.hz);
	for (;;) {
		int64_t t[2] = {INT64_MAX, INT64_MAX};

		for (int w = 0; w < 2; w++)
			if (at[w] < f->n[w] && condition_uses(c, w ? TIER_SLOW : TIER_FAST))
				t[w] = f->t_ns[w][at[w]];
		int w = t[1] < t[0];
		if (t[w] == INT64_MAX)
			return n;
		double row[6] = {f->v[w][at[w]++]};
		is[n] = condition_row(&v, w ? TIER_SLOW : TIER_FAST, t[w], row);
		t_ns[n] = t[w];
		n += t[0] != t[1];
	}
}

static bool plain_find(const int64_t *t_ns, const bool *is, size_t n, int64_t from, bool back, int64_t *at)
{
	bool found = false;

	for (size_t i = 0; i < n; i++) {
		bool begins = is[i] && !(i && is[i - 1]);

		if (begins && (back ? t_ns[i] < from : t_ns[i] > from) && (back || !found)) {
			found = true;
			*at = t_ns[i];
		}
	}
	return found;
}

static void searched(void **state)
{
	static const char *const texts[] = {
		"gpu > 99",
		"gpu > 95 for 20ms",
		"gpu < 5 for 300ms",
		"gpu > 20 for 3s",
		"gpu > 10 for 1200ms and hottest > 40",
		"gpu == 50",
		"gpu != 50 for 200ms",
		"hottest > 70 for 500ms",
		"hottest > 60 and gpu > 60 or gpu < 2",
		"gpu >= 0 and gpu < 0",
		"gpu <= 100",
		"hottest <= 30 or gpu > 30 for 60s",
		"(hottest > 70 or gpu > 95) and gpu < 98",
		"(gpu < 3 for 5ms or hottest < 20) and (hottest > 10 or gpu == 0)",
		"gpu > 97 and (hottest < 40)",
	};
	static struct fake f;
	static int64_t t_ns[FAST + SLOW];
	static bool is[FAST + SLOW];
	struct condition_search s;
	struct condition c;
	size_t hits = 0;

	(void)state;
	for (unsigned round = 0; round < 60; round++) {
		const char *text = texts[round % (sizeof(texts) / sizeof(texts[0]))];

		fake_make(&f, round + 1);
		if (!bound(&c, text))
			fail_msg("%s: %s", text, e.text);
		size_t n = plain(&f, &c, t_ns, is);
		for (unsigned k = 0; k < 24; k++) {
			bool back = k & 1;
			int64_t from = t_ns[chance(&f, (unsigned)n)], want = 0;
			enum condition_found found;
			size_t turns = 0;

			if (k & 4)
				from += (int64_t)chance(&f, 3000000) - 1500000;
			if (k >= 20)
				from = back ? INT64_MAX - 1 : 0;
			bool there = plain_find(t_ns, is, n, from, back, &want);
			condition_search_begin(&s, &c, &f.timeline, from, back);
			while ((found = condition_search_go(&s, k & 8 ? 37 : 1000000)) == CONDITION_MORE)
				assert_true(++turns < 100000);
			if ((found == CONDITION_FOUND) != there || (there && s.at_ns != want))
				fail_msg("%s from %lld %s: %d at %lld, not %d at %lld", text,
					 (long long)from, back ? "back" : "on", (int)found,
					 (long long)s.at_ns, (int)there, (long long)want);
			hits += there;
		}
	}
	assert_true(hits > 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(understood), cmocka_unit_test(joined), cmocka_unit_test(refused),
		cmocka_unit_test(fuzzed),     cmocka_unit_test(held),   cmocka_unit_test(other_tier),
		cmocka_unit_test(searched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
