/* limit: names the one thing that limits the machine, from the samples of the last second.
 *
 * Loads are means over that second, so a single busy millisecond is no limit. To avoid flicker, a load
 * stays a limit while it is within SLACK of its threshold, for up to three seconds after it last reached
 * it. The result depends only on the timeline, so a replay shows the same as the live screen. A value
 * that was not read is neither over nor under a limit: the text says that it is missing. */
#include "ui/limit.h"

#include "ui/quantity.h"
#include "ui/screen.h"
#include "util/intl.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#define GPU_PERCENT    95
#define EMC_PERCENT    90
#define CORE_PERCENT   95
#define SLACK          5
#define IO_CORES       0.5 /* cores waiting for a disk */
#define IO_STALL       50  /* percent of the time */
#define MEMORY_STALL   10
#define MEMORY_FREE    0.05            /* of the RAM */
#define SWAP_GROWTH    16384           /* kB in a second */
#define COUNT_NS       (2 * NS_PER_S)  /* counts are read once a second */
#define EVENTS_MOST    256             /* of a throttling that pauses */
#define SECOND_ZOOM    24              /* 17 ms */
#define SECOND_COLUMNS 64
#define SLACK_ZOOM     26              /* 67 ms */
#define SLACK_COLUMNS  60              /* 4 s */
#define BACK_ZOOM      29              /* 0.54 s */
#define BACK_COLUMNS   512             /* 4.6 minutes, a multiple of 8 */
#define ONSET_ZOOM     26
#define NOT_FOUND      SIZE_MAX

struct look {
	struct timeline *t;
	const struct session *about;
	int64_t at_ns;
	struct limit *out;
};

static const struct channel *channel_at(const struct look *l, size_t channel)
{
	return &l->about->channels[channel];
}

static bool is_read(const struct look *l, size_t channel, enum channel_kind kind)
{
	const struct channel *ch = channel_at(l, channel);

	return ch->kind == kind && !ch->missing[0];
}

static int zoom_from(const struct look *l, size_t channel, int zoom)
{
	double hz = l->about->hz[channel_at(l, channel)->tier];
	int base = zoom_base(hz > 0 ? hz : 1);

	return base > zoom ? base : zoom;
}

/* The samples of the last second; of a slow channel without any, the newest one. */
static struct bin second(const struct look *l, size_t channel)
{
	int zoom = zoom_from(l, channel, SECOND_ZOOM);
	int64_t last = l->at_ns >> zoom, first = ((l->at_ns - NS_PER_S) >> zoom) + 1;
	struct bin bins[SECOND_COLUMNS], all = {.n = 0};

	if (first > last) /* a column is longer than a second */
		first = last;
	l->t->ops->columns(l->t, channel, zoom, first, (size_t)(last - first + 1), bins);
	for (int64_t i = 0; i <= last - first; i++)
		if (bins[i].n)
			bin_merge(&all, &bins[i]);
	if (!all.n && zoom > BACK_ZOOM)
		bin_add(&all, l->t->ops->value(l->t, channel, l->at_ns, NULL));
	return all;
}

static double mean(const struct look *l, size_t channel)
{
	struct bin b = second(l, channel);

	return b.n ? b.sum / (double)b.n : NAN;
}

static double value(const struct look *l, size_t channel, int64_t ago_ns)
{
	return l->t->ops->value(l->t, channel, l->at_ns - ago_ns, NULL);
}

/* Returns true if the mean load `now` has reached the threshold; or if it is within SLACK of it, and the
 * mean of some second in the last SLACK_COLUMNS reached it. */
static bool reached(const struct look *l, size_t channel, double now, double threshold)
{
	int zoom = zoom_from(l, channel, SLACK_ZOOM), each = (int)(NS_PER_S >> zoom);
	struct bin bins[SLACK_COLUMNS];
	double sum = 0, n = 0;

	if (!(now >= threshold - SLACK) || now >= threshold || !each)
		return now >= threshold;
	l->t->ops->columns(l->t, channel, zoom, (l->at_ns >> zoom) - SLACK_COLUMNS + 1, SLACK_COLUMNS, bins);
	for (int i = 0; i < SLACK_COLUMNS; i++) {
		const struct bin *in = &bins[i], *out = i < each ? NULL : &bins[i - each];

		sum += (in->n ? in->sum : 0) - (out && out->n ? out->sum : 0);
		n += (double)in->n - (out ? (double)out->n : 0);
		if (i >= each - 1 && sum >= threshold * n && n > 0)
			return true;
	}
	return false;
}

static size_t by_name(const struct look *l, const char *name)
{
	for (size_t i = 0; i < l->about->n_channels; i++)
		if (!strcmp(channel_at(l, i)->name, name) && !channel_at(l, i)->missing[0])
			return i;
	return NOT_FOUND;
}

/* Returns the channel of that kind with the highest mean, or NOT_FOUND if none has a value. */
static size_t highest(const struct look *l, enum channel_kind kind, double *most)
{
	size_t found = NOT_FOUND;

	*most = NAN;
	for (size_t i = 0; i < l->about->n_channels; i++) {
		double v = is_read(l, i, kind) ? mean(l, i) : NAN;

		if (isnan(v) || v <= *most)
			continue;
		*most = v;
		found = i;
	}
	return found;
}

/* Returns the start of the time up to now in which the channel was never below `least` for longer than
 * about a second. *all is false if that is before the columns that were searched. */
static int64_t began(const struct look *l, size_t channel, double least, bool *all)
{
	enum { PIECE = BACK_COLUMNS / 8 };
	int zoom = zoom_from(l, channel, BACK_ZOOM), fine = zoom_from(l, channel, ONSET_ZOOM);
	int64_t now = l->at_ns >> zoom, oldest = now, first = now + 1, parts = INT64_C(1) << (zoom - fine);
	struct bin bins[PIECE];

	for (int64_t i = now; i > now - BACK_COLUMNS && oldest - i <= 2; i--) {
		if (i < first) {
			first -= PIECE;
			l->t->ops->columns(l->t, channel, zoom, first, PIECE, bins);
		}
		if (bins[i - first].n && bins[i - first].max >= least)
			oldest = i;
	}
	*all = oldest > now - BACK_COLUMNS + 2;
	l->t->ops->columns(l->t, channel, fine, oldest * parts, (size_t)parts, bins);
	for (int64_t i = 0; i < parts; i++)
		if (bins[i].n && bins[i].max >= least)
			return (oldest * parts + i) * (INT64_C(1) << fine);
	return oldest * (INT64_C(1) << zoom);
}

/* The duration since it began somewhere in the column from began_ns on. */
static int64_t since(const struct look *l, int64_t began_ns)
{
	int64_t first_ns, last_ns;

	began_ns += INT64_C(1) << (ONSET_ZOOM - 1);
	if (l->t->ops->extent(l->t, &first_ns, &last_ns) && began_ns < first_ns)
		began_ns = first_ns;
	return l->at_ns > began_ns ? l->at_ns - began_ns : 0;
}

/* A duration, as in "3.6 s", with '>' before it if not all of it was searched. */
static void duration_text(char out[QUANTITY_TEXT], int64_t ns, bool all)
{
	quantity_lasted(out, ns);
	if (!all) {
		memmove(out + 1, out, strlen(out) + 1);
		out[0] = '>';
	}
}

#define DEGREE "\302\260"

__attribute__((format(printf, 3, 4))) static void append(char *out, size_t size, const char *fmt, ...)
{
	size_t used = strlen(out);
	va_list args;

	va_start(args, fmt);
	vsnprintf(out + used, size - used, fmt, args);
	va_end(args);
}

/* Appends a part, separated by a middle dot. */
#define PART(out, ...)                                                                                       \
	do {                                                                                                 \
		if ((out)[0])                                                                                \
			append(out, sizeof(out), " \302\267 ");                                              \
		append(out, sizeof(out), __VA_ARGS__);                                                       \
	} while (0)
#define LONG(...)  PART(l->out->text, __VA_ARGS__)
#define SHORT(...) PART(l->out->short_text, __VA_ARGS__)
#define BOTH(...)                                                                                            \
	do {                                                                                                 \
		LONG(__VA_ARGS__);                                                                           \
		SHORT(__VA_ARGS__);                                                                          \
	} while (0)

static void set(struct look *l, enum limit_kind kind, const char *what, const char *view)
{
	l->out->kind = kind;
	l->out->alarm = kind >= LIMIT_POWER;
	l->out->view = view;
	snprintf(l->out->what, sizeof(l->out->what), "%s", what);
}

/* Appends the clock of the GPU, of the memory, or of the core `index`. */
static void add_clock(struct look *l, enum channel_kind kind, unsigned index)
{
	size_t found = NOT_FOUND, cap;
	char name[64], now[QUANTITY_TEXT], most[QUANTITY_TEXT];

	for (size_t i = 0; i < l->about->n_channels; i++)
		if (is_read(l, i, kind) && channel_at(l, i)->index <= index)
			found = i;
	double hz = found == NOT_FOUND ? NAN : mean(l, found);
	if (isnan(hz))
		return;
	const struct channel *ch = channel_at(l, found);
	snprintf(name, sizeof(name), "%s_max", ch->name);
	cap = by_name(l, name);
	double allowed = cap == NOT_FOUND ? NAN : value(l, cap, 0);
	bool held = allowed < 0.995 * ch->hi;
	quantity_text(now, UNIT_HZ, held ? allowed : hz, 6);
	quantity_text(most, UNIT_HZ, ch->hi, 6);
	if (held) {
		LONG(_("clock held at %s of %s MHz"), now, most);
		SHORT("%s MHz", now);
	} else if (isfinite(ch->hi)) {
		LONG(_("clock %s of %s MHz"), now, most);
	} else {
		LONG(_("clock %s MHz"), now);
	}
}

/* The zone that is closest to its throttling temperature, or furthest above it. */
static size_t hottest(const struct look *l, double *celsius)
{
	size_t found = NOT_FOUND;
	double least = INFINITY;

	for (size_t i = 0; i < l->about->n_channels; i++) {
		struct bin b = {.n = 0};

		if (is_read(l, i, CHANNEL_TEMPERATURE))
			b = second(l, i);
		double v = b.n ? b.max : NAN;
		/* Drivers report 0 if there is no limit. The comparisons are false for NaN. */
		if (channel_at(l, i)->warn > 0 && channel_at(l, i)->warn - v < least) {
			least = channel_at(l, i)->warn - v;
			*celsius = v;
			found = i;
		}
	}
	return found;
}

/* Appends a name unless the list has it. */
static void add_name(char *list, size_t size, const char *name)
{
	const char *shown = !strcmp(name, "gpu") ? "GPU" : !strcmp(name, "cpu") ? "CPU" : name;
	const char *at = strstr(list, shown);

	if (!at || (at[strlen(shown)] && at[strlen(shown)] != ','))
		append(list, size, "%s%s", list[0] ? ", " : "", shown);
}

/* "99.3 C, limit 99.0" */
static void limit_text(char out[64], enum unit unit, double v, double limit)
{
	char now[QUANTITY_TEXT], most[QUANTITY_TEXT];

	quantity_text(now, unit, v, 6);
	quantity_text(most, unit, limit, 6);
	/* TRANSLATORS: a value, its unit and its limit: "3.21 A, limit 3.00". */
	snprintf(out, 64, _("%s %s, limit %s"), now, unit == UNIT_CELSIUS ? DEGREE "C" : quantity_unit(unit),
		 most);
}

/* How long a channel has been throttling, its pauses of up to a second not counted; 0: it did not in the last second.
 * *all is false if there are too many of them to be searched. */
static int64_t throttled(const struct look *l, size_t channel, bool *all)
{
	struct state_event e;
	struct span_stats in;
	int64_t from_ns = l->at_ns + 1;
	int n = 0;

	while (n < EVENTS_MOST && l->t->ops->states(l->t, channel, from_ns - NS_PER_S, from_ns, &e, 1)) {
		from_ns = e.from_ns;
		n++;
	}
	*all = n < EVENTS_MOST;
	if (n == 0)
		return 0;
	l->t->ops->stat(l->t, channel, from_ns, l->at_ns, &in);
	return in.above_ns > 0 ? (int64_t)in.above_ns : 1;
}

/* Finds what is throttled and for how long, or else a zone that is past its limit. */
static bool find_heat(struct look *l)
{
	char names[64] = "", name[32], lasts[QUANTITY_TEXT], temperature[64];
	int64_t lasted_ns = 0;
	bool all = true, cores = true;
	double v = NAN;
	size_t zone = hottest(l, &v);
	const struct channel *hot = zone == NOT_FOUND ? NULL : channel_at(l, zone);

	for (size_t i = 0; i < l->about->n_channels; i++) {
		bool one_all;
		int64_t one_ns = is_read(l, i, CHANNEL_THROTTLE) ? throttled(l, i, &one_all) : 0;

		if (!one_ns)
			continue;
		events_name(name, channel_at(l, i));
		add_name(names, sizeof(names), name);
		cores &= !strncmp(name, "cpu", 3);
		lasted_ns = one_ns > lasted_ns ? one_ns : lasted_ns;
		all &= one_all;
	}
	if (!names[0] && !(hot && v >= hot->warn))
		return false;
	set(l, LIMIT_HEAT, _("heat"), "thermal");
	if (!names[0])
		lasted_ns = since(l, began(l, zone, hot->warn, &all));
	duration_text(lasts, lasted_ns, all);
	if (names[0]) {
		/* TRANSLATORS: such as "GPU throttled 3.6 s". */
		LONG(_("%s throttled %s"), names, lasts);
		SHORT(_("throttled %s"), lasts);
	} else {
		/* TRANSLATORS: a zone is hotter than its limit: "too hot for 3.6 s". */
		BOTH(_("too hot for %s"), lasts);
	}
	if (hot) {
		limit_text(temperature, UNIT_CELSIUS, v, hot->warn);
		append(l->out->text, sizeof(l->out->text), ": %s %s", hot->label, temperature);
		append(l->out->short_text, sizeof(l->out->short_text), ": %s", temperature);
	}
	add_clock(l, names[0] && cores ? CHANNEL_CPU_FREQ : CHANNEL_GPU_FREQ, UINT16_MAX);
	return true;
}

/* Finds the rail with the highest current as a share of its limit. */
static size_t fullest_rail(const struct look *l, double *share, double *current, double *limit)
{
	size_t found = NOT_FOUND;

	*share = 0;
	for (size_t i = 0; i < l->about->n_channels; i++) {
		const struct channel *ch = channel_at(l, i);
		double least = isnan(ch->crit) ? ch->warn : ch->crit, v;

		if (!is_read(l, i, CHANNEL_RAIL_CURRENT) || !(least > 0))
			continue;
		v = mean(l, i);
		if (!(v / least > *share))
			continue;
		*share = v / least;
		*current = v;
		*limit = least;
		found = i;
	}
	return found;
}

/* Finds over-current events, or a rail at its limit. */
static bool find_power(struct look *l)
{
	char text[64];
	double share, current = NAN, limit = NAN, rise = 0, total;
	size_t rail = fullest_rail(l, &share, &current, &limit);
	const char *name = "";

	for (size_t i = 0; i < l->about->n_channels; i++) {
		struct span_stats in;

		if (!is_read(l, i, CHANNEL_THROTTLE_COUNT))
			continue;
		l->t->ops->stat(l->t, i, l->at_ns - COUNT_NS, l->at_ns + 1, &in);
		if (in.rise > 0) {
			rise += in.rise;
			name = channel_at(l, i)->label;
		}
	}
	if (!(rise > 0) && !(share >= 1))
		return false;
	set(l, LIMIT_POWER, _("power"), "power");
	if (rise > 0) {
		/* TRANSLATORS: an event counter, and by how much it rose: "over-current 1: 2 events". */
		BOTH(P_("%s: %.0f event in 2 s", "%s: %.0f events in 2 s", (unsigned long)rise), name, rise);
	} else {
		bool all;
		int64_t lasted_ns = since(l, began(l, rail, limit, &all));

		duration_text(text, lasted_ns, all);
		/* TRANSLATORS: such as "at the current limit for 3.6 s". */
		BOTH(_("at the current limit for %s"), text);
		limit_text(text, UNIT_MILLIAMPERE, current, limit);
		append(l->out->text, sizeof(l->out->text), ": %s %s", channel_at(l, rail)->label, text);
		append(l->out->short_text, sizeof(l->out->short_text), ": %s", text);
	}
	if (highest(l, CHANNEL_POWER_TOTAL, &total) != NOT_FOUND) {
		quantity_text(text, UNIT_MILLIWATT, total, 6);
		LONG("%s W", text);
	}
	add_clock(l, CHANNEL_GPU_FREQ, UINT16_MAX);
	return true;
}

static void say_busy(struct look *l, double percent)
{
	BOTH(_("%.0f %% busy over the last second"), percent);
}

/* Finds a busy unit that exists once: EMC, GPU. */
static bool find_unit(struct look *l, enum limit_kind kind, enum channel_kind load, double threshold,
		      enum channel_kind clock, const char *view)
{
	double v;
	size_t i = highest(l, load, &v);

	if (i == NOT_FOUND || !reached(l, i, v, threshold))
		return false;
	set(l, kind, channel_at(l, i)->label, view);
	say_busy(l, v);
	add_clock(l, clock, UINT16_MAX);
	return true;
}

static bool find_core(struct look *l)
{
	double most, all;
	size_t core = highest(l, CHANNEL_CORE_UTIL, &most), cpu = highest(l, CHANNEL_CPU_UTIL, &all);

	if (cpu != NOT_FOUND && reached(l, cpu, all, CORE_PERCENT)) {
		set(l, LIMIT_CORE, channel_at(l, cpu)->label, "cpu");
		say_busy(l, all);
		add_clock(l, CHANNEL_CPU_FREQ, 0);
		return true;
	}
	if (core == NOT_FOUND || !reached(l, core, most, CORE_PERCENT))
		return false;
	set(l, LIMIT_CORE, channel_at(l, core)->label, "cpu");
	say_busy(l, most);
	if (cpu != NOT_FOUND)
		LONG(_("mean of all cores %.0f %%"), all);
	add_clock(l, CHANNEL_CPU_FREQ, channel_at(l, core)->index);
	return true;
}

static unsigned cores_online(const struct look *l)
{
	unsigned n = 0;

	for (size_t i = 0; i < l->about->n_channels; i++)
		n += is_read(l, i, CHANNEL_CORE_UTIL) && !isnan(mean(l, i));
	return n;
}

/* Finds tasks waiting for a disk. The I/O wait is that of all cores: one waiting task is 100 / cores. */
static bool find_io(struct look *l)
{
	size_t wait = by_name(l, "cpu.iowait"), stall = by_name(l, "io.pressure");
	double waiting = wait == NOT_FOUND ? NAN : mean(l, wait),
	       stalled = stall == NOT_FOUND ? NAN : mean(l, stall);
	unsigned cores = waiting > 0 ? cores_online(l) : 0;

	if (!(waiting * cores >= 100 * IO_CORES) && !(stalled >= IO_STALL))
		return false;
	set(l, LIMIT_IO, _("io"), "cpu");
	if (!isnan(stalled))
		BOTH(_("some task waited for I/O %.0f %% of the last second"), stalled);
	if (!isnan(waiting))
		LONG(_("I/O wait %.0f %% of all cores"), waiting);
	if (isnan(stalled))
		SHORT("%s", l->out->text);
	return true;
}

static bool find_memory(struct look *l)
{
	double available;
	size_t ram = highest(l, CHANNEL_RAM_AVAILABLE, &available), swap = by_name(l, "swap.used"),
	       stall = by_name(l, "memory.pressure");
	double all = ram == NOT_FOUND ? NAN : channel_at(l, ram)->hi;
	double growth = swap == NOT_FOUND ? NAN : value(l, swap, 0) - value(l, swap, NS_PER_S);
	double stalled = stall == NOT_FOUND ? NAN : mean(l, stall);
	bool low = available < MEMORY_FREE * all, grows = growth >= SWAP_GROWTH,
	     waits = stalled >= MEMORY_STALL;
	char text[2][QUANTITY_TEXT];

	if (!low && !grows && !waits)
		return false;
	set(l, LIMIT_MEMORY, _("memory"), "memory");
	if (low) {
		quantity_alike(text, UNIT_KB, (double[]) {available, all}, 2, 6);
		BOTH(_("%s of %s GiB available"), text[0], text[1]);
	}
	if (grows) {
		quantity_text(text[0], QUANTITY_MIB, growth, 6);
		BOTH(_("swap grew by %s MiB in the last second"), text[0]);
	}
	if (waits)
		BOTH(_("some task waited for memory %.0f %% of the last second"), stalled);
	return true;
}

/* Lists the loads, none of which is at its limit. */
static void say_none(struct look *l)
{
	static const enum channel_kind kinds[] = {CHANNEL_GPU_UTIL, CHANNEL_CPU_UTIL, CHANNEL_EMC_UTIL};
	static const char *const names[] = {"GPU", "CPU", "EMC"};
	bool any = false;

	set(l, LIMIT_NONE, _("none"), NULL);
	for (int k = 0; k < 3; k++) {
		double v;

		if (highest(l, kinds[k], &v) != NOT_FOUND)
			BOTH("%s %.0f %%", names[k], v);
		else
			/* TRANSLATORS: "EMC not read": there is no value. */
			BOTH(_("%s not read"), names[k]);
		any |= !isnan(v);
	}
	if (any)
		return;
	set(l, LIMIT_UNKNOWN, _("unknown"), "board");
	l->out->text[0] = l->out->short_text[0] = 0;
	BOTH("%s", _("neither GPU nor CPU nor EMC can be read"));
}

void limit_find(struct timeline *t, int64_t at_ns, struct limit *out)
{
	struct look l = {t, t->ops->session(t), at_ns, out};

	memset(out, 0, sizeof(*out));
	if (!find_heat(&l) && !find_power(&l) &&
	    !find_unit(&l, LIMIT_EMC, CHANNEL_EMC_UTIL, EMC_PERCENT, CHANNEL_EMC_RATE, "memory") &&
	    !find_unit(&l, LIMIT_GPU, CHANNEL_GPU_UTIL, GPU_PERCENT, CHANNEL_GPU_FREQ, "gpu") &&
	    !find_core(&l) && !find_io(&l) && !find_memory(&l))
		say_none(&l);
}
