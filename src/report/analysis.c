/* Computes epochs, ticks and statistics of one trace. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/intl.h"
#include "util/num.h"
#include "report/analysis.h"

#define KEPT (32u << 20) /* bytes of results; if there are more, a phase is recomputed when it is printed */

static size_t first_of(const struct session *s, enum channel_kind kind)
{
	for (size_t i = 0; i < s->n_channels; i++)
		if (s->channels[i].kind == kind && !s->channels[i].missing[0])
			return i;
	return SIZE_MAX;
}

/* Returns the index of a channel's results, which it gets if it has none. */
static size_t result_at(struct analysis *a, size_t channel)
{
	size_t i = 0;

	while (i < a->n_results && a->channels.list[i] != channel)
		i++;
	if (i == a->n_results)
		a->channels.list[a->n_results++] = channel;
	return i;
}

void power_set(struct analysis *a, const struct power_parts *p)
{
	a->power = *p;
	a->total = (struct channel) {.kind = CHANNEL_POWER_TOTAL, .unit = UNIT_MILLIWATT, .tier = TIER_MEDIUM};
	if (p->n > 0)
		a->total.tier = a->session->channels[p->channel[0]].tier;
	power_parts_text(p, a->session, false, a->power_name, sizeof(a->power_name));
}

/* Appends channels that only the table of phases needs to the selected ones. A sum of power has its results behind
 * those of all channels. */
static int keys_find(struct analysis *a)
{
	static const enum channel_kind kinds[KEYS] = {[KEY_GPU] = CHANNEL_GPU_UTIL, [KEY_HOTTEST] = CHANNEL_HOTTEST};
	size_t *list = realloc(a->channels.list, (a->channels.n + KEYS + POWER_PARTS) * sizeof(*list));
	struct power_parts parts;

	if (!list)
		return -1;
	a->channels.list = list;
	a->n_results = a->channels.n = a->brief ? 0 : a->channels.n;
	power_parts_find(&parts, a->session);
	power_set(a, &parts);
	a->at[KEY_POWER] = SIZE_MAX;
	for (size_t i = 0; i < parts.n && parts.add_up; i++)
		a->at[KEY_POWER] = a->power_at[i] = result_at(a, parts.channel[i]);
	for (int k = KEY_GPU; k < KEYS; k++) {
		size_t channel = first_of(a->session, kinds[k]);

		a->at[k] = channel == SIZE_MAX ? SIZE_MAX : result_at(a, channel);
	}
	list[a->n_results] = SIZE_MAX;
	if (parts.add_up && parts.n > 1)
		a->at[KEY_POWER] = a->n_results;
	return 0;
}

static void power_add_up(const struct analysis *a, struct result *results)
{
	struct energy_result each[POWER_PARTS];

	if (a->at[KEY_POWER] != a->n_results)
		return;
	for (size_t i = 0; i < a->power.n; i++)
		each[i] = results[a->power_at[i]].energy;
	results[a->n_results] = (struct result) {.energy = power_parts_sum(each, a->power.n)};
}

const struct result *key_of(const struct analysis *a, const struct part *p, enum key k)
{
	return a->at[k] == SIZE_MAX ? NULL : &p->results[a->at[k]];
}

static int parts_keep(struct analysis *a)
{
	size_t room = a->n_results + 1, n = a->epochs.n;

	a->now = calloc(1, sizeof(*a->now));
	a->whole.results = calloc(room, sizeof(*a->whole.results));
	if (!a->now || !a->whole.results)
		return -1;
	a->now->results = calloc(room, sizeof(*a->now->results));
	if (n <= KEPT / (sizeof(*a->kept) + room * sizeof(*a->kept->results)))
		a->kept = calloc(n, sizeof(*a->kept));
	for (size_t i = 0; a->kept && i < n; i++) {
		a->kept[i].results = calloc(room, sizeof(*a->kept[i].results));
		if (!a->kept[i].results)
			return -1;
	}
	return a->now->results ? 0 : -1;
}

int analysis_begin(struct analysis *a, struct trace *t, const struct selection *p, double per, bool brief,
		   struct reading *r, struct err *e)
{
	memset(a, 0, sizeof(*a));
	a->trace = t;
	a->session = trace_session(t);
	a->counted = trace_lists_gaps(t);
	a->per = per;
	a->brief = brief;
	if (channels_find(t, p, &a->channels, e) < 0 || epochs_find(t, p, &a->epochs, e) < 0)
		return -1;
	if (keys_find(a) < 0 || parts_keep(a) < 0)
		return err_set(e, ERR_FAILED, _("out of memory"));
	for (size_t i = 0; i < a->epochs.n; i++)
		r->ns += a->epochs.list[i].to_ns - a->epochs.list[i].from_ns;
	return 0;
}

static void tick(void *to, int64_t ns)
{
	struct reading *r = to;

	if (r && r->progress)
		r->progress(fmin((double)(r->done += ns) / (double)r->ns, 1));
}

/* Computes the statistics of a part over its spans. The rows that are read are added to `whole` as well. */
static int part_make(const struct analysis *a, struct part *p, const struct epoch *spans, size_t n,
		     struct stats *whole, struct reading *r)
{
	struct channels all = {a->channels.list, a->n_results};

	if (stats_make(a->trace, &all, spans, n, whole, p->results, tick, r) < 0)
		return -1;
	power_add_up(a, p->results);
	return 0;
}

static void part_begin(const struct analysis *a, struct part *p, size_t epoch)
{
	p->epoch = a->epochs.list[epoch];
	p->duration_ns = p->epoch.to_ns - p->epoch.from_ns;
	ticks_count(a, p);
}

const struct part *part_load(const struct analysis *a, size_t epoch)
{
	struct part *p = a->now;

	if (a->kept)
		return &a->kept[epoch];
	part_begin(a, p, epoch);
	if (part_make(a, p, &p->epoch, 1, NULL, NULL) < 0)
		p->no_memory = true;
	return p;
}

/* Merges adjacent epochs into one span, for integrals. */
static size_t spans_merge(struct epoch *out, const struct epochs *eps)
{
	size_t n = 0;

	for (size_t i = 0, last; i < eps->n; i = last + 1) {
		last = epochs_chain(eps, i);
		out[n] = eps->list[i];
		out[n].to_ns = eps->list[last].to_ns;
		out[n++].end_ns = eps->list[last].end_ns;
	}
	return n;
}

/* If there are few phases they are computed in the same pass as the whole, else when they are printed. */
static int parts_make(struct analysis *a, const struct epoch *spans, size_t n, struct reading *r)
{
	struct channels all = {a->channels.list, a->n_results};
	bool joined = a->kept && a->epochs.n > 1;
	struct stats *whole = joined ? stats_begin(a->trace, &all, spans, n, a->whole.results) : NULL;
	int done = joined && !whole ? -1 : 0;

	for (size_t i = 0; done == 0 && i < a->epochs.n; i++) {
		struct part *p = a->kept ? &a->kept[i] : a->now;

		part_begin(a, p, i);
		ticks_sum(&a->whole, p);
		a->whole.duration_ns += p->duration_ns;
		done = a->kept ? part_make(a, p, &p->epoch, 1, whole, r) : 0;
	}
	if (done < 0)
		stats_free(whole);
	else if (!a->kept)
		return part_make(a, &a->whole, spans, n, NULL, r);
	else if (whole)
		stats_end(whole);
	else
		memcpy(a->whole.results, a->kept[0].results, a->n_results * sizeof(*a->whole.results));
	if (done == 0)
		power_add_up(a, a->whole.results);
	return done;
}

int analyse(struct analysis *a, struct reading *r, struct err *e)
{
	struct epoch *spans = calloc(a->epochs.n, sizeof(*spans));
	int done = -1;

	a->whole.epoch.from_ns = a->epochs.list[0].from_ns;
	a->whole.epoch.to_ns = a->epochs.list[a->epochs.n - 1].to_ns;
	if (spans)
		done = parts_make(a, spans, spans_merge(spans, &a->epochs), r);
	free(spans);
	return done < 0 ? err_set(e, ERR_FAILED, _("out of memory")) : 0;
}

static void part_free(struct part *p)
{
	if (p)
		free(p->results);
}

void analysis_free(struct analysis *a)
{
	for (size_t i = 0; a->kept && i < a->epochs.n; i++)
		part_free(&a->kept[i]);
	part_free(a->now);
	part_free(&a->whole);
	free(a->kept);
	free(a->now);
	channels_free(&a->channels);
	epochs_free(&a->epochs);
}

const struct channel *channel_of(const struct analysis *a, size_t i)
{
	return a->channels.list[i] == SIZE_MAX ? &a->total : &a->session->channels[a->channels.list[i]];
}

double rise_of(const struct analysis *a, const struct part *p, size_t i)
{
	const struct channel *c = channel_of(a, i);

	if (channel_counts(c))
		return p->results[i].n > 0 ? p->results[i].steps : NAN;
	return c->unit == UNIT_CELSIUS ? p->results[i].last - p->results[i].first : NAN;
}

double throttled_of(const struct analysis *a, const struct part *p, size_t i)
{
	if (channel_of(a, i)->kind != CHANNEL_THROTTLE || p->results[i].n == 0)
		return NAN;
	return (double)p->results[i].above_ns / 1e9;
}

void known_of(const struct analysis *a, const struct part *p, size_t i, double *known_ns, double *span_ns)
{
	const struct channel *c = channel_of(a, i);
	const struct result *r = &p->results[i];
	const struct ticks *k = &p->ticks[c->tier];

	*span_ns = *known_ns = (double)k->span_ns;
	if (c->unit == UNIT_MILLIWATT || c->kind == CHANNEL_THROTTLE)
		*known_ns = r->energy.known_s * 1e9;
	else if (!channel_counts(c) && r->n + r->missing > 0)
		*known_ns = (double)(k->span_ns - (isnan(r->counted) ? k->hole_ns : 0)) * (double)r->n /
			    (double)(r->n + r->missing);
}

double full_energy(const struct part *p, size_t i)
{
	return watts_of(&p->results[i]) * seconds_of(p);
}

double item_energy(const struct analysis *a, const struct part *p, size_t i)
{
	double known, span;

	known_of(a, p, i, &known, &span);
	return known < KNOWN_ENOUGH * span ? NAN : full_energy(p, i) / items_of(a, p);
}

double items_of(const struct analysis *a, const struct part *p)
{
	return p == &a->whole ? a->per * (double)a->epochs.n : a->per;
}

void part_title(const struct analysis *a, const struct part *p, char *out, size_t size)
{
	if (p == &a->whole)
		snprintf(out, size, "%s", _("whole"));
	else if (p->epoch.label[0])
		snprintf(out, size, _("phase %llu, %s"), (unsigned long long)p->epoch.id, p->epoch.label);
	else
		snprintf(out, size, _("phase %llu"), (unsigned long long)p->epoch.id);
}

struct shown shown_unit(const struct channel *c, double largest)
{
	switch (c->unit) {
	case UNIT_HZ:
		return (struct shown) {"MHz", 1e-6};
	case UNIT_KB:
		return largest >= 1048576 ? (struct shown) {"GiB", 1.0 / 1048576}
					  : (struct shown) {"MiB", 1.0 / 1024};
	case UNIT_MILLIVOLT:
		return (struct shown) {"V", 1e-3};
	case UNIT_MILLIAMPERE:
		return (struct shown) {"A", 1e-3};
	case UNIT_MILLIWATT:
		return (struct shown) {"W", 1e-3};
	default:
		return (struct shown) {unit_name(c->unit), 1};
	}
}

size_t shown_text(char *out, double v, double largest)
{
	static const double steps[] = {1000, 100, 10, 1, 0.1, 0.01};
	double size = fabs(largest);
	int decimals = 0;

	if (isnan(v)) {
		strcpy(out, "--");
		return 2;
	}
	while (size > 0 && decimals < 6 && size < steps[decimals])
		decimals++;
	return num_fixed(out, v, size > 0 ? decimals : 3);
}

void signed_text(char *out, double v, double largest)
{
	char text[NUM_TEXT];

	out[0] = '\0';
	if (isnan(v))
		return;
	shown_text(text, v, largest);
	snprintf(out, SIGNED_TEXT, "%s%s", text[0] == '-' ? "" : "+", text);
}
