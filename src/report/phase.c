/* The numbers of one part of a trace.  Of few parts all are kept; of many only the last
 * one, since each has some kilobytes. */
#include <math.h>
#include <string.h>

#include "report/analysis.h"

static void tick(void *to, uint64_t rows)
{
	struct reading *r = to;

	if (!r)
		return;
	r->done += rows;
	if (r->progress && r->rows > 0)
		r->progress(fmin((double)r->done / (double)r->rows, 1));
}

static size_t first_of(const struct analysis *a, enum channel_kind kind)
{
	const struct session *s = a->session;

	for (size_t i = 0; i < s->n_channels; i++)
		if (s->channels[i].kind == kind && !s->channels[i].missing[0])
			return i;
	return SIZE_MAX;
}

/* Where there is no total: of one power alone it is clear which one is meant. */
static size_t only_power(const struct analysis *a)
{
	const struct session *s = a->session;
	size_t found = SIZE_MAX, n = 0;

	for (size_t i = 0; i < s->n_channels; i++)
		if (s->channels[i].unit == UNIT_MILLIWATT && !s->channels[i].missing[0]) {
			found = i;
			n++;
		}
	return n == 1 ? found : SIZE_MAX;
}

void keys_find(struct analysis *a)
{
	a->key[KEY_POWER] = first_of(a, CHANNEL_POWER_TOTAL);
	a->key[KEY_GPU] = first_of(a, CHANNEL_GPU_UTIL);
	a->key[KEY_HOTTEST] = first_of(a, CHANNEL_HOTTEST);
	if (a->key[KEY_POWER] == SIZE_MAX)
		a->key[KEY_POWER] = only_power(a);
	for (int k = 0; k < KEYS; k++) {
		a->at[k] = SIZE_MAX;
		for (size_t i = 0; i < a->channels.n; i++)
			if (a->channels.list[i] == a->key[k])
				a->at[k] = i;
	}
}

const struct result *key_of(const struct analysis *a, const struct part *p, enum key k)
{
	if (a->key[k] == SIZE_MAX)
		return NULL;
	return p->full && a->at[k] != SIZE_MAX ? &p->results[a->at[k]] : &p->key[k];
}

int part_make(const struct analysis *a, struct part *p, const struct epoch *spans, size_t n, bool brief,
	      struct reading *r)
{
	size_t list[KEYS];
	enum key which[KEYS];
	struct result found[KEYS];
	struct channels keys = {list, 0};

	for (int k = 0; k < KEYS; k++)
		if (a->key[k] != SIZE_MAX && (brief || a->at[k] == SIZE_MAX)) {
			which[keys.n] = (enum key)k;
			list[keys.n++] = a->key[k];
		}
	p->full = !brief;
	if (keys.n > 0 && stats_make(a->trace, &keys, spans, n, found, tick, NULL) < 0)
		return -1;
	for (size_t i = 0; i < keys.n; i++)
		p->key[which[i]] = found[i];
	return brief ? 0 : stats_make(a->trace, &a->channels, spans, n, p->results, tick, r);
}

const struct part *part_load(const struct analysis *a, size_t epoch, bool brief)
{
	struct part *p = a->now;

	if (a->kept)
		return &a->kept[epoch];
	p->epoch = a->epochs.list[epoch];
	p->duration_ns = p->epoch.to_ns - p->epoch.from_ns;
	ticks_count(a, p);
	if (part_make(a, p, &p->epoch, 1, brief || a->brief, NULL) < 0)
		*a->no_memory = true;
	return p;
}
