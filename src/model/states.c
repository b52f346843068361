/* A state that is looked at from time to time is missed if it is short; one that is found in every row is not, however
 * short. One that flickers is one event, so that the list of a recording stays short. */
#include "model/states.h"

#include <math.h>
#include <stdlib.h>

#include "model/stats.h"

struct state_watch *state_watches_new(const struct session *about, size_t *n)
{
	struct state_watch *list = calloc(about->n_channels + 1, sizeof(*list));

	*n = 0;
	for (size_t i = 0; list && i < about->n_channels; i++) {
		const struct channel *c = &about->channels[i];
		enum state_kind kind = c->kind == CHANNEL_THROTTLE         ? STATE_THROTTLED
				       : c->kind == CHANNEL_NOTICE         ? STATE_NOTICE
				       : c->kind == CHANNEL_THROTTLE_COUNT ? STATE_COUNT
									   : STATE_KINDS;

		if (kind == STATE_KINDS)
			continue;
		list[(*n)++] = (struct state_watch) {.at = {c->tier, c->column},
						     .hole_ns = stats_hole_ns(about->hz[c->tier]),
						     .last_ns = INT64_MIN,
						     .now = {.channel = (uint32_t)i, .kind = (uint8_t)kind}};
	}
	return list;
}

bool state_watch_take(struct state_watch *w, int64_t t_ns, double v, struct state_event *ended)
{
	struct state_event *now = &w->now;
	bool first = w->last_ns == INT64_MIN, done, begins;

	if (isnan(v))
		return false;
	if (w->above && t_ns - w->last_ns > w->hole_ns) {
		w->above = false; /* for how long is not known */
	} else if (w->above) {
		now->to_ns = t_ns;
		now->above_ns += t_ns - w->last_ns;
	}
	done = now->count > 0 && !w->above && t_ns - now->to_ns >= STATE_APART_NS;
	if (done) {
		*ended = *now;
		now->count = 0;
	}
	begins = now->kind == STATE_COUNT ? !first && v > w->last : v > 0 && !w->above;
	if (begins && now->count == 0) {
		now->from_ns = t_ns;
		now->above_ns = 0;
		now->flags = first ? STATE_BEFORE : 0;
	}
	if (begins) {
		now->to_ns = t_ns;
		now->count += now->kind == STATE_COUNT ? (uint64_t)fmin(v - w->last, 1e9) : 1;
	}
	w->above = now->kind != STATE_COUNT && v > 0;
	w->last_ns = t_ns;
	w->last = v;
	return done;
}

size_t states_between(const struct state_event *list, const int64_t *reach, size_t n, size_t channel, int64_t from_ns,
		      int64_t to_ns, struct state_event *out, size_t max)
{
	size_t end = times_from(list, n, sizeof(*list), offsetof(struct state_event, from_ns), to_ns),
	       got = 0;

	for (size_t i = end; i > 0 && got < max && reach[i - 1] >= from_ns; i--)
		if (list[i - 1].to_ns >= from_ns && (channel == SIZE_MAX || list[i - 1].channel == channel))
			out[got++] = list[i - 1];
	for (size_t i = 0; i < got / 2; i++) {
		struct state_event e = out[i];

		out[i] = out[got - 1 - i];
		out[got - 1 - i] = e;
	}
	return got;
}
