/* Nothing is looked for: whoever reads values comes across them.  So there is no
 * pass over the rows for it, and what is told is what was seen so far; --check
 * counts all. */
#include "trace/nonsense.h"

#include <pthread.h>
#include <stdlib.h>

#include "util/intl.h"
#include "trace/reader.h"

#define MOST  4096 /* values that are told apart */
#define SLOTS (2 * MOST)

struct nonsense {
	atomic_bool full;
	pthread_mutex_t lock; /* for what follows */
	size_t n, told;
	size_t channel; /* of the first that was found */
	uint64_t row;
	uint64_t seen[SLOTS]; /* row and channel, 0: none */
};

struct nonsense *nonsense_new(void)
{
	struct nonsense *n = calloc(1, sizeof(*n));

	if (n)
		pthread_mutex_init(&n->lock, NULL);
	return n;
}

void nonsense_free(struct nonsense *n)
{
	if (!n)
		return;
	pthread_mutex_destroy(&n->lock);
	free(n);
}

/* With the lock held. */
static void add(struct nonsense *n, size_t channel, uint64_t row)
{
	uint64_t key = row * MAX_CHANNELS + channel + 1, at = key * UINT64_C(0x9E3779B97F4A7C15) >> 32;

	for (at %= SLOTS; n->seen[at]; at = (at + 1) % SLOTS)
		if (n->seen[at] == key)
			return;
	n->seen[at] = key;
	if (n->n++ == 0 || row < n->row || (row == n->row && channel < n->channel)) {
		n->channel = channel;
		n->row = row;
	}
	if (n->n == MOST)
		atomic_store(&n->full, true);
}

/* What the extension says of it is true whatever the row has. */
static bool in_run(const struct trace *t, const struct source *s, uint64_t row)
{
	size_t i = run_find(t, s, row);

	return i < s->run + s->n_runs && t->runs[i].row <= row;
}

void nonsense_note(const struct trace *t, size_t channel, uint64_t first, size_t n)
{
	const struct source *s = &t->sources[channel];
	enum tier tier = t->channels[channel].tier;
	struct nonsense *to = t->nonsense;

	if (atomic_load_explicit(&to->full, memory_order_relaxed))
		return;
	pthread_mutex_lock(&to->lock);
	for (uint64_t row = first; row < first + n && to->n < MOST; row++)
		if (cell_nonsense(row_at(t, tier, row), (enum field)s->place.field, s->place.slot, NULL) &&
		    !in_run(t, s, row))
			add(to, channel, row);
	pthread_mutex_unlock(&to->lock);
}

void nonsense_tell(struct trace *t)
{
	struct nonsense *n = t->nonsense;
	size_t channel, found;
	bool full;
	uint64_t row;
	double v;

	pthread_mutex_lock(&n->lock);
	found = n->n;
	channel = n->channel;
	row = n->row;
	full = found == MOST;
	pthread_mutex_unlock(&n->lock);
	if (found == n->told || row >= t->section[t->channels[channel].tier].rows)
		return;
	if (n->told > 0) /* the sentence is ours, unless there was another before */
		t->damage.code = t->nonsense_is_damage ? ERR_NONE : t->damage.code;
	t->nonsense_is_damage = t->damage.code == ERR_NONE;
	n->told = found;
	if (!t->nonsense_is_damage)
		return;
	cell_nonsense(row_at(t, t->channels[channel].tier, row), (enum field)t->sources[channel].place.field,
		      t->sources[channel].place.slot, &v);
	trace_damage(
		t,
		full ? _("at least %zu out-of-range values are treated as missing: %s is %g in row %llu of "
			 "the %s section; --check lists all")
		     : P_("%zu out-of-range value is treated as missing: %s is %g in row %llu of the %s "
			  "section; --check lists all",
			  "%zu out-of-range values so far are treated as missing: %s is %g in row %llu of "
			  "the %s section; --check lists all",
			  found),
		found, t->channels[channel].name, v, (unsigned long long)row,
		tier_name(t->channels[channel].tier));
}
