/* Writes a trace with known ranges: ranges FILE.nvmt [N [LABEL [WATTS [IDS [HZ]]]]]. 4 s from monotonic 1000 s and 2026-01-01 12:00:00 UTC:
 *
 *   python3 100, thread main 100, default domain:
 *     epoch 0.1 .. 3.9 s, red; in it steps k = 0 .. 8, each 300 ms from 0.2 + 0.4 k on, payload k; in a step
 *     forward, its first 100 ms; in that "aten::addmm, seq = k, op_id = 2k", 20 ms, twice
 *   python3 100, thread loader 101, domain DALI: load, 100 ms from 0.15 + 0.5 k on, k = 0 .. 6, payload k / 2, odd ones of category
 *     7 or decode, "jpeg"
 *   python3 100, no thread, domain rpc, which overlap: request 1 1.0 .. 1.5 s, request 2 1.2 .. 1.8 s
 *   a,b"c 200, thread 200, default domain: a name with a comma, a quote and a letter beyond ASCII 2.0 .. 2.5 s,
 *     payload -3; server from 3.0 s on, which never ends
 *
 * and N short ranges, 1 us each 4 s / N, in a domain flood. VDD_IN is at 15 W in a step, at 5 W otherwise, and
 * the GPU is busy to 90 % in a step and 50 ms after it; readings of power are means of the 10 ms before. A mark "half" is at 2 s,
 * and one with the LABEL (if it is not empty) 1.5 ms after the begin. WATTS are those in a step. IDS is added to the ids
 * of processes and threads, and then every second short range is in another thread. With HZ the rows of all tiers are
 * at that rate, in the middle of their periods; 0: there are none. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/stream-to.h"
#include "trace/log-out.h"

#define START (1000 * NS_PER_S)
#define REAL  (INT64_C(1767268800) * NS_PER_S)
#define MOST  8192

static struct channel channels[] = {
	{.name = "gpu.util",
	 .label = "GPU",
	 .tier = TIER_FAST,
	 .family = FAMILY_GPU,
	 .unit = UNIT_PERCENT,
	 .kind = CHANNEL_GPU_UTIL},
	{.name = "VDD_IN.power",
	 .label = "VDD_IN",
	 .tier = TIER_MEDIUM,
	 .family = FAMILY_POWER,
	 .unit = UNIT_MILLIWATT,
	 .kind = CHANNEL_RAIL_POWER},
	{.name = "gpu.temp",
	 .label = "gpu",
	 .tier = TIER_SLOW,
	 .family = FAMILY_HEAT,
	 .unit = UNIT_CELSIUS,
	 .kind = CHANNEL_TEMPERATURE},
};
static struct fact facts[] = {{"board", "agx_orin"}};
static struct session about = {.channels = channels,
				     .n_channels = 3,
				     .width = {1, 1, 1},
				     .hz = {1000, 100, 10},
				     .start = {START, REAL, START},
				     .facts = facts,
				     .n_facts = 1};

static struct ranges *store;
static struct range *list;
static size_t n;
static double step_mw = 15000, hz = NAN;
static uint32_t ids;

static const struct range_lane *lane(uint32_t pid, uint32_t tid, const char *process, const char *thread,
				     const char *domain)
{
	struct range_lane l = {.pid = pid + ids, .tid = tid ? tid + ids : 0};

	snprintf(l.process, sizeof(l.process), "%s", process);
	snprintf(l.thread, sizeof(l.thread), "%s", thread);
	snprintf(l.domain, sizeof(l.domain), "%s", domain);
	return ranges_lane(store, &l);
}

static struct range *add(const struct range_lane *l, const char *name, double from, double length, uint16_t depth)
{
	struct range *r = &list[n++];

	*r = (struct range) {.begin_ns = START + llround(from * 1e9),
			     .end_ns = START + llround((from + length) * 1e9),
			     .name = ranges_name(store, name),
			     .lane = l,
			     .depth = depth};
	return r;
}

static void payload(struct range *r, enum range_payload type, double v)
{
	int64_t whole = (int64_t)v;

	r->payload = (uint8_t)type;
	if (type == RANGE_DOUBLE)
		memcpy(&r->value, &v, sizeof(v));
	else
		r->value = (uint64_t)whole;
}

static void fill(size_t flood)
{
	const struct range_lane *main_lane = lane(100, 100, "python3", "main", ""),
				*dali = lane(100, 101, "python3", "loader", "DALI"),
				*rpc = lane(100, 0, "python3", "", "rpc"), *odd = lane(200, 200, "a,b\"c", "", ""),
				*floods[] = {lane(300, 300, "flood", "", "flood"),
					    lane(300, ids ? 301 : 300, "flood", "", "flood")};
	char name[64];

	add(main_lane, "epoch", 0.1, 3.8, 0)->colour = 0xFFFF0000;
	for (int k = 0; k < 9; k++) {
		double at = 0.2 + 0.4 * k;

		payload(add(main_lane, "step", at, 0.3, 1), RANGE_UNSIGNED, k);
		add(main_lane, "forward", at, 0.1, 2);
		snprintf(name, sizeof(name), "aten::addmm, seq = %d, op_id = %d", k, 2 * k);
		add(main_lane, name, at + 0.01, 0.02, 3);
		add(main_lane, name, at + 0.05, 0.02, 3);
	}
	for (int k = 0; k < 7; k++) {
		struct range *r = add(dali, "load", 0.15 + 0.5 * k, 0.1, 0);

		payload(r, RANGE_DOUBLE, k / 2.0);
		r->category = k % 2 ? ranges_name(store, k == 1 ? "7" : "decode, \"jpeg\"") : NULL;
	}
	add(rpc, "request 1", 1.0, 0.5, 0);
	add(rpc, "request 2", 1.2, 0.6, 0);
	payload(add(odd, "read, \"h\xC3\xA9llo\"", 2.0, 0.5, 0), RANGE_SIGNED, -3);
	add(odd, "server", 3.0, 0.5, 0)->flags = RANGE_OPEN; /* written twice, a second apart at most */
	add(odd, "server", 3.0, 1.0, 0)->flags = RANGE_OPEN;
	for (size_t i = 0; i < flood; i++)
		add(floods[i & 1], "flood", 4.0 * (double)i / (double)flood, 1e-6, 0);
}

static int by_end(const void *a, const void *b)
{
	const struct range *p = a, *q = b;

	if (p->end_ns != q->end_ns)
		return p->end_ns < q->end_ns ? -1 : 1;
	return q->depth - p->depth; /* the inner one ends first */
}

/* Is a moment, in ms, in a step that is longer by `more`? */
static bool in_step(int ms, int more)
{
	return ms >= 200 && (ms - 200) / 400 < 9 && (ms - 200) % 400 < 300 + more;
}

static void push(struct sink *s, enum tier tier, int ms, double v)
{
	int64_t t_ns = START + ms * NS_PER_MS;

	s->ops->rows(s, &(struct rows) {tier, 1, 1, &t_ns, &v});
}

static void mark(struct sink *s, int64_t t_ns, const char *label)
{
	static uint64_t marks;
	struct mark m = {.id = ++marks, .t_ns = t_ns};

	snprintf(m.label, sizeof(m.label), "%s", label);
	s->ops->mark(s, &m);
}

/* Whether a tier with a row every `usual` ms has one at that time. */
static bool due(int ms, int usual)
{
	int period = hz > 0 ? (int)lround(1000 / hz) : 0;

	return isnan(hz) ? ms % usual == 0 : period && ms % period == period / 2;
}

static void record(struct sink *s, const char *label)
{
	size_t done = 0;

	for (int ms = 0; ms <= 4000; ms++) {
		size_t first = done;

		if (ms == 2 && label)
			mark(s, START + 3 * NS_PER_MS / 2, label);
		if (ms == 2000)
			mark(s, START + 2 * NS_PER_S, "half");
		if (due(ms, 1))
			push(s, TIER_FAST, ms, in_step(ms, 50) ? 90 : 0);
		if (due(ms, 10))
			push(s, TIER_MEDIUM, ms, in_step(ms - 1, 0) ? step_mw : 5000);
		if (due(ms, 100))
			push(s, TIER_SLOW, ms, 50 + ms / 1000.0);
		while (done < n && list[done].end_ns <= START + ms * NS_PER_MS && done - first < MOST)
			done++;
		if (done > first)
			s->ops->ranges(s, list + first, done - first);
	}
	if (done < n)
		s->ops->ranges(s, list + done, n - done);
}

int main(int argc, char **argv)
{
	size_t flood = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	struct err e = {.code = ERR_NONE};
	struct log_out *w = argc > 1 ? log_out_new(argv[1], true, &e) : NULL;
	struct sink *s;

	store = ranges_new(1, &e);
	list = calloc(flood + 100, sizeof(*list));
	for (size_t i = 0; i < about.n_channels; i++)
		channels[i].lo = channels[i].hi = channels[i].warn = channels[i].crit = NAN;
	hz = argc > 6 ? strtod(argv[6], NULL) : hz;
	for (int t = 0; hz > 0 && t < TIERS; t++)
		about.hz[t] = hz;
	if (!w || !store || !list) {
		fprintf(stderr, "ranges FILE.nvmt [N [LABEL [WATTS [IDS [HZ]]]]]: %s\n", e.text);
		return 1;
	}
	s = stream_begin(w, &about, false);
	step_mw = argc > 4 ? 1000 * strtod(argv[4], NULL) : step_mw;
	ids = argc > 5 ? (uint32_t)strtoul(argv[5], NULL, 10) : 0;
	fill(flood);
	qsort(list, n, sizeof(*list), by_end);
	record(s, argc > 3 && *argv[3] ? argv[3] : NULL);
	if (stream_end(w, s, &e) < 0)
		fprintf(stderr, "%s\n", e.text);
	log_out_free(w);
	ranges_free(store);
	free(list);
	return e.code != ERR_NONE;
}
