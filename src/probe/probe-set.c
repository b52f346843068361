/* Manages the channels and probes of a board. A probe set grows only while a board is resolved: once the
 * samplers run, nothing in it moves. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "probe/lookout.h"
#include "probe/probe.h"
#include "probe/reader-thread.h"
#include "util/array.h"
#include "util/clock.h"

#define LOOK_NS (NS_PER_MS / 10)

void probe_free(struct probe *p)
{
	for (size_t i = 0; i < p->n_attrs; i++)
		attr_close(&p->attrs[i]);
	free(p);
}

void probe_stop(struct probe *p)
{
	async_reader_stop(p->reader);
	probe_free(p);
}

bool probe_take(struct probe *p, int64_t t_ns, double *v)
{
	async_reader_ask(p->reader, t_ns);
	return async_reader_take(p->reader, p->tick_ns, t_ns, v);
}

void probe_set_free(struct probe_set *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_probes; i++)
		probe_close(r->probes[i]);
	if (r->lookout)
		lookout_stop(r->lookout);
	free(r->probes);
	free(r->channels);
	free(r->facts);
	root_close(r->root);
	free(r);
}

struct channel *probe_set_add_channel(struct probe_set *r, const struct channel *c)
{
	struct channel *added = array_add(&r->channels, &r->n_channels, sizeof *added);

	if (!added)
		return NULL;
	*added = *c;
	added->column = (uint16_t)r->width[c->tier]++;
	return added;
}

int probe_set_add_probe(struct probe_set *r, struct probe *p)
{
	struct probe **added = array_add(&r->probes, &r->n_probes, sizeof *added);

	if (!added) {
		probe_close(p);
		return -1;
	}
	*added = p;
	return 0;
}

int probe_set_add_fact(struct probe_set *r, const char *key, const char *value)
{
	struct fact *f = array_add(&r->facts, &r->n_facts, sizeof *f);

	if (!f)
		return -1;
	text_printable(f->key, sizeof f->key, key, strlen(key));
	text_shortened(f->value, sizeof f->value, value, strlen(value));
	return 0;
}

const struct channel *probe_set_find(const struct probe_set *r, const char *name)
{
	size_t i = channel_find(r->channels, r->n_channels, name);

	return i < r->n_channels ? &r->channels[i] : NULL;
}

static const struct channel *at_column(const struct probe_set *r, enum tier tier, uint16_t column)
{
	for (size_t i = 0; i < r->n_channels; i++)
		if (r->channels[i].tier == tier && r->channels[i].column == column)
			return &r->channels[i];
	return NULL;
}

/* Where a walk over all that have a reader is, also of those that were found later. All 0 at first. */
struct walk {
	const struct probe_set *set; /* of the last one */
	size_t i, nth;
};

static struct probe *walk_next(const struct probe_set *r, struct walk *w)
{
	for (w->set = w->set ? w->set : r; w->set; w->i = 0) {
		while (w->i < w->set->n_probes) {
			struct probe *p = w->set->probes[w->i++];
			if (p->reader)
				return p;
		}
		w->set = r->lookout ? lookout_set(r->lookout, w->nth++) : NULL;
	}
	return NULL;
}

const struct channel *probe_set_hanging(const struct probe_set *r, int64_t now_ns, size_t nth,
					int64_t *since_ns)
{
	struct walk w = {.i = 0};
	struct probe *p;

	while ((p = walk_next(r, &w)))
		if ((*since_ns = async_reader_hangs(p->reader, now_ns)) && !nth--)
			return at_column(w.set, p->tier, p->column);
	return NULL;
}

bool probe_set_rescue(struct probe_set *r, int64_t now_ns, int64_t *look_ns)
{
	struct walk w = {.i = 0};
	struct probe *p;
	bool rows = false;

	while ((p = walk_next(r, &w)))
		rows |= reader_bus_rescue(p->reader, now_ns, look_ns);
	return rows;
}

uint64_t probe_set_late(const struct probe_set *r)
{
	struct walk w = {.i = 0};
	struct probe *p;
	uint64_t n = 0;

	while ((p = walk_next(r, &w)))
		n += async_reader_late(p->reader);
	return n;
}

bool probe_set_changed(const struct probe_set *r, struct change *out)
{
	for (size_t i = 0; i < r->n_probes; i++)
		if (r->probes[i]->changed && r->probes[i]->changed(r->probes[i], out))
			return true;
	return r->lookout && lookout_changed(r->lookout, out);
}

const struct channel *probe_set_channels(const struct probe_set *r)
{
	const struct channel *now = r->lookout ? lookout_channels(r->lookout) : NULL;

	return now ? now : r->channels;
}

void probe_set_be_gentle(struct probe_set *r)
{
	for (size_t i = 0; i < r->n_probes; i++)
		if (r->probes[i]->gentle)
			r->probes[i]->gentle(r->probes[i], r);
	if (r->lookout)
		lookout_be_gentle(r->lookout);
}

void probe_set_read(struct probe_set *r, double *const rows[TIERS])
{
	for (int derived = 0; derived <= 1; derived++)
		for (size_t i = 0; i < r->n_probes; i++) {
			struct probe *p = r->probes[i];

			if (p->derived == derived)
				probe_read(p, clock_now_ns(), rows[p->tier]);
		}
}

/* Without a thread the sampling thread makes the passes. */
void probe_set_start(struct probe_set *r, int64_t grid_ns)
{
	const struct timespec moment = {.tv_nsec = LOOK_NS};
	struct async_reader **some = calloc(r->n_probes + 1, sizeof(struct async_reader *));

	for (size_t i = 0; some && i < r->n_probes; i++) {
		const struct async_reader *first = r->probes[i]->reader;
		size_t n = 0;
		for (size_t k = i; first && !first->bus && k < r->n_probes; k++) {
			struct async_reader *s = r->probes[k]->reader;
			if (s && !s->bus && !strcmp(s->bus_name, first->bus_name))
				some[n++] = s;
		}
		if (n)
			reader_bus_new(first->bus_name, some, n, false, r->has_nice ? &r->nice : NULL, grid_ns);
	}
	free(some);
	for (size_t i = 0; i < r->n_probes; i++) {
		const struct async_reader *s = r->probes[i]->reader;
		while (s && s->bus && !s->bus->rows && atomic_load(&s->pass) <= 1 && clock_now_ns() < grid_ns - NS_PER_MS)
			nanosleep(&moment, NULL);
	}
	if (r->lookout)
		lookout_start(r->lookout, r, grid_ns);
}
