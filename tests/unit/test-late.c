/* Sources that come while nvmtop runs: each has values after the next look for it or the one after that, and the
 * recording says when. Counted in looks, which come once a second: a busy machine makes them later, not more. */
#include <stdatomic.h>

#include "stream-to.h"
#include "engine/engine.h"
#include "probe/lookout.h"
#include "test-probe-tree.h"
#include "trace/follow.h"
#include "trace/log-out.h"
#include "trace/trace.h"
#include "live-log.h"

#define LOOKS    2   /* from the appearance of a source to its values */
#define PATIENCE 120 /* seconds; only a test that fails waits so long */

static const char here[] = "fast ram\n"
			   "fast gpu dir=/sys/devices/gpu.0\n"
			   "fast emc activity=/sys/kernel/debug/cactmon/mc_all rate=/sys/kernel/debug/emc/rate\n"
			   "medium rail VDD_IN\n"
			   "medium rail VDD_SOC hwmon=ina3221/VDD_SOC\n"
			   "medium total VDD_IN\n"
			   "medium value gpu.freq devfreq=gpu/cur_freq\n"
			   "slow limits gpu devfreq=gpu\n"
			   "slow gated gpu dir=/sys/devices/gpu.0\n"
			   "slow temp cpu zone=cpu-thermal\n"
			   "slow temp gpu zone=gpu-thermal\n"
			   "slow hottest\n"
			   "slow fan rpm hwmon=pwmfan/rpm\n"
			   "slow swap\n"
			   "slow engine NVENC devfreq=nvenc\n"
			   "slow engine NVDEC optional devfreq=nvdec\n"
			   "slow engine OFA optional devfreq=ofa\n"
			   "slow throttle\n";

static void make_gpu(struct tree *t)
{
	tree_file(t, "/sys/devices/gpu.0/load", "731\n");
	tree_file(t, "/sys/devices/gpu.0/power/runtime_status", "active\n");
}

static void make_devfreq(struct tree *t)
{
	tree_file(t, "/sys/devices/f/17000000.gpu/of_node/name", "gpu");
	tree_link(t, "/sys/class/devfreq/17000000.gpu/device", "../../../devices/f/17000000.gpu");
	tree_file(t, "/sys/class/devfreq/17000000.gpu/cur_freq", "612000000\n");
	tree_file(t, "/sys/class/devfreq/17000000.gpu/min_freq", "306000000\n");
	tree_file(t, "/sys/class/devfreq/17000000.gpu/max_freq", "1020000000\n");
}

static void make_engine(struct tree *t)
{
	tree_file(t, "/sys/devices/f/154c0000.nvenc/of_node/name", "nvenc");
	tree_link(t, "/sys/class/devfreq/154c0000.nvenc/device", "../../../devices/f/154c0000.nvenc");
	tree_file(t, "/sys/class/devfreq/154c0000.nvenc/cur_freq", "729600000\n");
	tree_file(t, "/sys/class/devfreq/15480000.nvdec/cur_freq", "576000000\n");
}

static void make_emc(struct tree *t)
{
	tree_file(t, "/sys/kernel/debug/emc/rate", "2000000000\n");
	tree_file(t, "/sys/kernel/debug/cactmon/mc_all", "500000\n");
}

static void make_rails(struct tree *t)
{
	tree_rail(t, 4, 1, "VDD_IN", "5000\n", "1400\n");
	tree_rail(t, 4, 3, "VDD_SOC", "5000\n", "360\n");
}

static void make_zone(struct tree *t)
{
	tree_zone(t, 7, "gpu-thermal", "46500\n");
}

static void make_fan(struct tree *t)
{
	tree_hwmon(t, 2, "rpm", "1830\n");
	tree_hwmon(t, 2, "name", "pwmfan\n");
}

static void make_swap(struct tree *t)
{
	tree_file(t, "/proc/meminfo", "MemTotal: 8000 kB\nMemAvailable: 5000 kB\nSwapTotal: 4000 kB\nSwapFree: 3000 kB\n");
}

static void make_throttle(struct tree *t)
{
	tree_file(t, "/sys/class/thermal/cooling_device3/cur_state", "2\n");
	tree_file(t, "/sys/class/thermal/cooling_device3/max_state", "3\n");
	tree_file(t, "/sys/class/thermal/cooling_device3/type", "cpu-throttle-alert\n");
	tree_file(t, "/sys/class/thermal/cooling_device4/cur_state", "1\n");
	tree_file(t, "/sys/class/thermal/cooling_device4/type", "gpu-throttle-alert\n");
}

static const struct late {
	const char *channel;
	double value;
	bool silent; /* no event: another channel has it */
	void (*make)(struct tree *t); /* NULL: that of the row before */
} lates[] = {
	{"gpu.util", 73.1, false, make_gpu},
	{"gpu.gated", 0, false, NULL},
	{"gpu.freq", 612e6, false, make_devfreq},
	{"gpu.freq_max", 1020e6, false, NULL},
	{"NVENC.freq", 729.6e6, false, make_engine},
	{"NVDEC.freq", 576e6, false, NULL},
	{"emc.util", 25, false, make_emc},
	{"emc.rate", 2e9, false, NULL},
	{"VDD_IN.power", 7000, false, make_rails},
	{"VDD_IN.voltage", 5000, true, NULL},
	{"VDD_SOC.power", 1800, false, NULL},
	{"power.total", 7000, false, NULL},
	{"temp.gpu", 46.5, false, make_zone},
	{"temp.hottest", 46.5, true, NULL},
	{"fan.rpm", 1830, false, make_fan},
	{"swap.used", 1000, false, make_swap},
	{"throttle", 2, false, make_throttle},
};
#define LATES (sizeof lates / sizeof *lates)

static atomic_uint looks;
static atomic_bool hang;

static bool count_look(const struct root *r, void *arg, char *out, size_t size)
{
	(void)r;
	(void)arg;
	(void)out;
	(void)size;
	atomic_fetch_add(&looks, 1);
	while (atomic_load(&hang))
		usleep(1000);
	return false;
}

static struct engine *engine_on(struct tree *t)
{
	static const double hz[TIERS] = {1000, 100, 10};
	struct probe_set *probes;
	struct err e;

	tree_begin(t);
	tree_file(t, "/proc/meminfo", "MemTotal: 8000 kB\nMemAvailable: 5000 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n");
	tree_zone(t, 0, "cpu-thermal", "41000\n");
	tree_file(t, "/sys/bus/platform/devices/15480000.nvdec/uevent", "");
	tree_resolve(t, here);
	assert_null(probe_set_find(t->probes, "OFA.freq")); /* not of this machine */
	probes = t->probes;
	t->probes = NULL; /* the engine's from now on */
	atomic_store(&looks, 0);
	lookout_text(probes->lookout, "looks", count_look, NULL, "");
	struct engine *g = engine_new(probes, hz, &e);
	assert_non_null(g);
	return g;
}

static int64_t channel_of(const struct session *s, const char *name)
{
	for (size_t i = 0; i < s->n_channels; i++)
		if (!strcmp(s->channels[i].name, name))
			return (int64_t)i;
	fail_msg("no channel %s", name);
	return -1;
}

/* The newest one; not every row has one. */
static bool has_value(struct timeline *tl, const struct late *l)
{
	const struct session *s = tl->ops->session(tl);
	size_t i = (size_t)channel_of(s, l->channel);
	int64_t first, t = INT64_MAX;
	double v = NAN;

	for (int n = 0; n < 1000 && isnan(v) && tl->ops->extent(tl, &first, &t); n++) {
		t = tl->ops->step(tl, s->channels[i].tier, INT64_MAX, -1 - n);
		v = tl->ops->value(tl, i, t, NULL);
	}
	return fabs(v - l->value) <= 1e-4 * l->value;
}

/* How often it was told that the channel is read now. */
static unsigned events_of(struct timeline *tl, const char *channel)
{
	struct change changes[4 * LATES];
	size_t n = tl->ops->changes(tl, 0, INT64_MAX, changes, 4 * LATES);
	unsigned events = 0;

	for (size_t k = 0; k < n; k++)
		events += !strcmp(changes[k].what, channel) && !strcmp(changes[k].to, "now read");
	return events;
}

static void assert_recorded(struct timeline *tl)
{
	const struct session *s = tl->ops->session(tl);

	for (size_t i = 0; i < LATES; i++) {
		const struct channel *c = &s->channels[channel_of(s, lates[i].channel)];
		unsigned events = events_of(tl, c->name);

		if (events != !lates[i].silent)
			fail_msg("%s: %u events", c->name, events);
		if (c->missing[0] || !c->source[0])
			fail_msg("%s: missing \"%s\", source \"%s\"", c->name, c->missing, c->source);
		if (!has_value(tl, &lates[i]))
			fail_msg("%s has no value at the end of the recording", c->name);
	}
}

static void test_late(void **state)
{
	struct tree t;
	struct engine *g = engine_on(&t);
	struct live_log *history;
	struct log_out *w;
	struct log *log;
	struct timeline *tl;
	char path[128];
	unsigned since[LATES];
	struct err e;

	(void)state;
	history = live_log_new();
	snprintf(path, sizeof path, "%s/late.nvmt", t.dir);
	w = log_out_new(path, false, &e);
	assert_true(history && w);
	log = log_new(&(struct log_bound) {.now = true}, &e);
	assert_int_equal(log_out_begin(w, log, INT64_MIN, INT64_MAX, &e), 0);
	live_log_sink(history)->next = log_sink(log);
	assert_int_equal(engine_begin(g, live_log_sink(history), &e), 0);
	assert_int_equal(engine_start(g, &e), 0);
	tl = live_log_look(history);
	const struct session *about = tl->ops->session(tl);
	for (size_t i = 0; i < LATES; i++)
		if (!about->channels[channel_of(about, lates[i].channel)].missing[0] &&
		    strcmp(lates[i].channel, "temp.hottest") != 0)
			fail_msg("%s is there already", lates[i].channel);
	for (int i = 0; i < PATIENCE * 1000 && atomic_load(&looks) < 2; i++)
		usleep(1000);
	for (size_t i = 0; i < LATES; i++) {
		if (lates[i].make)
			lates[i].make(&t);
		since[i] = atomic_load(&looks);
	}
	for (size_t i = 0; i < LATES; i++)
		for (int k = 0; !has_value(live_log_look(history), &lates[i]); k++) {
			if (k == PATIENCE * 1000)
				fail_msg("%s has no value", lates[i].channel);
			if (atomic_load(&looks) > since[i] + LOOKS + 1)
				fail_msg("%s has no value after %u looks", lates[i].channel, LOOKS);
			usleep(1000);
		}
	/* Who asks again gets the new descriptions, and may keep the old ones. */
	about = tl->ops->session(tl);
	assert_string_equal(about->channels[channel_of(about, "VDD_IN.power")].missing, "");
	assert_true(about != NULL && about->channels[channel_of(about, "VDD_IN.current")].source[0]);
	for (size_t i = 0; i < LATES; i++)
		for (int k = 0; !lates[i].silent && !events_of(live_log_look(history), lates[i].channel) && k < PATIENCE * 1000; k++)
			usleep(1000);
	engine_stop(g);
	assert_int_equal(stream_end(w, log_sink(log), &e), 0);
	log_out_free(w);
	engine_free(g);
	live_log_free(history);
	struct trace *tr = trace_open(path, &e);
	assert_non_null(tr);
	assert_recorded(trace_timeline(tr));
	trace_close(tr);

	/* The same for who follows it as a stream. */
	history = live_log_new();
	int in = open(path, O_RDONLY);
	assert_true(history && in >= 0 && dup2(in, STDIN_FILENO) == STDIN_FILENO);
	close(in);
	struct follow *follow = follow_open("-", live_log_sink(history), &e);
	assert_non_null(follow);
	while (follow_take(follow, &e) >= 0)
		continue;
	assert_int_equal(e.code, ERR_NONE);
	assert_recorded(live_log_look(history));
	follow_close(follow);
	live_log_free(history);
	tree_end(&t);
}

/* What the first row with joules has, and the last one. */
struct joules {
	struct sink sink;
	size_t column;
	double first, last;
};

static int joules_begin(struct sink *s, const struct session *about, struct err *e)
{
	struct joules *j = (struct joules *)s;

	(void)e;
	j->column = about->channels[channel_of(about, "energy.total")].column;
	j->first = j->last = NAN;
	return 0;
}

static void joules_rows(struct sink *s, const struct rows *r)
{
	struct joules *j = (struct joules *)s;

	for (size_t i = 0; r->tier == TIER_MEDIUM && i < r->n; i++) {
		double v = r->values[i * r->width + j->column];
		j->last = isnan(v) ? j->last : v;
		j->first = isnan(j->first) ? v : j->first;
	}
}

static int joules_end(struct sink *s, struct err *e)
{
	(void)s;
	(void)e;
	return 0;
}

/* A recording begins some time after a rail was found: its joules begin at 0 all the same. */
static void test_joules_begin_at_0(void **state)
{
	static const struct sink_ops ops = {.begin = joules_begin, .rows = joules_rows, .end = joules_end};
	struct joules j = {.sink.ops = &ops};
	struct tree t;
	struct engine *g = engine_on(&t);
	const struct session *s = engine_session(g);
	const uint16_t *column = &s->channels[channel_of(s, "energy.total")].column;
	double counted = NAN;
	struct err e;

	(void)state;
	assert_int_equal(engine_start(g, &e), 0);
	make_rails(&t);
	for (int i = 0; i < PATIENCE * 1000 && !(counted > 0); i++) {
		engine_peek(g, TIER_MEDIUM, engine_made(g, TIER_MEDIUM) - 1, column, 1, &counted);
		usleep(1000);
	}
	assert_true(counted > 0);
	assert_int_equal(engine_begin(g, &j.sink, &e), 0);
	size_t rows = engine_made(g, TIER_MEDIUM);
	for (int i = 0; i < PATIENCE * 1000 && engine_made(g, TIER_MEDIUM) < rows + 20; i++)
		usleep(1000);
	engine_stop(g);
	assert_true(j.first >= 0 && j.first <= 0);
	assert_true(j.last > 0);
	engine_free(g);
	tree_end(&t);
}

/* A look that hangs costs no row, and the engine stops without it. */
static void test_hanging_look(void **state)
{
	struct tree t;
	struct engine *g = engine_on(&t);
	struct engine_stats stats;
	unsigned left = engine_left_behind();
	struct err e;

	(void)state;
	atomic_store(&hang, true);
	assert_int_equal(engine_start(g, &e), 0);
	assert_true(engine_wait_warm(g, -1));
	do
		engine_stats(g, &stats);
	while (stats.rows[TIER_FAST] < 100 || stats.rows[TIER_SLOW] < 3);
	engine_free(g);
	assert_int_equal(engine_left_behind(), left + 1);
	atomic_store(&hang, false);
	tree_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_late), cmocka_unit_test(test_joules_begin_at_0),
					   cmocka_unit_test(test_hanging_look)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
