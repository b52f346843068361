/* Manages the channels and probes of a board. A probe set grows only while a board is resolved: once the
 * samplers run, nothing in it moves. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "probe/lookout.h"
#include "probe/probe.h"
#include "probe/reader-thread.h"
#include "util/clock.h"

#define LOOK_NS  (NS_PER_MS / 10)
#define QUICK_NS (NS_PER_MS / 2) /* for all passes of a bus */

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
	return async_reader_take(p->reader, &p->seen, p->tick_ns, t_ns, v);
}

void probe_set_free(struct probe_set *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_probes; i++)
		r->probes[i]->ops->close(r->probes[i]);
	if (r->lookout)
		lookout_stop(r->lookout);
	free(r->probes);
	free(r->channels);
	free(r->facts);
	root_close(r->root);
	free(r);
}

/* Makes room for one more in an array of n; it grows whenever n is a power of two. */
static void *grow(void *array, size_t n, size_t each)
{
	if (n & (n - 1))
		return array;
	return reallocarray(array, n ? n * 2 : 1, each);
}

struct channel *probe_set_add_channel(struct probe_set *r, const struct channel *c)
{
	struct channel *all = grow(r->channels, r->n_channels, sizeof *all);

	if (!all)
		return NULL;
	r->channels = all;
	struct channel *added = &all[r->n_channels++];
	*added = *c;
	added->column = (uint16_t)r->width[c->tier]++;
	return added;
}

int probe_set_add_probe(struct probe_set *r, struct probe *p)
{
	struct probe **all = grow(r->probes, r->n_probes, sizeof(struct probe *));

	if (!all) {
		p->ops->close(p);
		return -1;
	}
	r->probes = all;
	all[r->n_probes++] = p;
	return 0;
}

int probe_set_add_fact(struct probe_set *r, const char *key, const char *value)
{
	struct fact *all = grow(r->facts, r->n_facts, sizeof *all);

	if (!all)
		return -1;
	r->facts = all;
	struct fact *f = &all[r->n_facts++];
	text_printable(f->key, sizeof f->key, key, strlen(key));
	text_shortened(f->value, sizeof f->value, value, strlen(value));
	return 0;
}

const struct channel *probe_set_find(const struct probe_set *r, const char *name)
{
	for (size_t i = 0; i < r->n_channels; i++)
		if (!strcmp(r->channels[i].name, name))
			return &r->channels[i];
	return NULL;
}

static const struct channel *at_column(const struct probe_set *r, enum tier tier, uint16_t column)
{
	for (size_t i = 0; i < r->n_channels; i++)
		if (r->channels[i].tier == tier && r->channels[i].column == column)
			return &r->channels[i];
	return NULL;
}

/* Returns the nth set that was found later, or NULL. */
static struct probe_set *later(const struct probe_set *r, size_t nth)
{
	return r->lookout ? lookout_set(r->lookout, nth) : NULL;
}

static const struct channel *hanging(const struct probe_set *r, int64_t now_ns, size_t *nth, int64_t *since_ns)
{
	const struct channel *c = NULL;
	const struct probe_set *late;

	for (size_t i = 0; i < r->n_probes; i++) {
		const struct probe *p = r->probes[i];
		const struct async_reader *s = p->reader;

		if (s && (*since_ns = async_reader_hangs(s, now_ns)) && !(*nth)--)
			return at_column(r, p->tier, p->column);
	}
	for (size_t i = 0; !c && (late = later(r, i)); i++)
		c = hanging(late, now_ns, nth, since_ns);
	return c;
}

const struct channel *probe_set_hanging(const struct probe_set *r, int64_t now_ns, size_t nth,
					int64_t *since_ns)
{
	return hanging(r, now_ns, &nth, since_ns);
}

bool probe_set_rescue(struct probe_set *r, int64_t now_ns, int64_t *look_ns)
{
	struct probe_set *late;
	bool rows = false;

	for (size_t i = 0; i < r->n_probes; i++)
		if (r->probes[i]->reader)
			rows |= reader_bus_rescue(r->probes[i]->reader, now_ns, look_ns);
	for (size_t i = 0; (late = later(r, i)); i++)
		rows |= probe_set_rescue(late, now_ns, look_ns);
	return rows;
}

static size_t add_late(const struct probe_set *r, struct late_readings out[LATE_GROUPS], size_t n)
{
	static const char prefix[] = "nvmtop-";
	const struct probe_set *late;

	for (size_t i = 0; i < r->n_probes; i++) {
		const struct async_reader *s = r->probes[i]->reader;
		const char *name = s ? s->name + sizeof prefix - 1 : "";
		size_t at = 0;

		for (size_t k = 0; k < i && s; k++) /* several probes share one */
			s = r->probes[k]->reader == s ? NULL : s;
		while (s && at < n && strcmp(out[at].of, name) != 0)
			at++;
		if (!s || at == LATE_GROUPS)
			continue;
		if (at == n) {
			out[n] = (struct late_readings) {.n = 0};
			text_join(out[n++].of, sizeof out->of, name);
		}
		out[at].n += async_reader_late(s);
	}
	for (size_t i = 0; (late = later(r, i)); i++)
		n = add_late(late, out, n);
	return n;
}

size_t probe_set_late(const struct probe_set *r, struct late_readings out[LATE_GROUPS])
{
	return add_late(r, out, 0);
}

bool probe_set_changed(const struct probe_set *r, struct change *out)
{
	for (size_t i = 0; i < r->n_probes; i++)
		if (r->probes[i]->changed && r->probes[i]->changed(r->probes[i], out))
			return true;
	return r->lookout && lookout_changed(r->lookout, out);
}

bool probe_set_found(const struct probe_set *r, size_t *channel, struct channel *now)
{
	return r->lookout && lookout_found(r->lookout, channel, now);
}

void probe_set_be_gentle(struct probe_set *r)
{
	for (size_t i = 0; i < r->n_probes; i++)
		if (r->probes[i]->gentle)
			r->probes[i]->gentle(r->probes[i], r);
	if (r->lookout)
		lookout_be_gentle(r->lookout);
}

/* Readers with random moments come first, the others by period: a short one does not wait for many files. */
static int64_t rank_of(const struct async_reader *s)
{
	return s->tick_ns ? 0 : async_reader_period_ns(s);
}

/* Lists the readers that are on no bus, each once, by rank. */
static size_t list_readers(const struct probe_set *r, struct async_reader **out)
{
	size_t n = 0, at;

	for (size_t i = 0; i < r->n_probes; i++) {
		struct async_reader *s = r->probes[i]->reader;

		for (at = 0; at < n && out[at] != s; at++)
			continue;
		if (!s || s->bus || at < n)
			continue;
		for (at = n++; at && rank_of(out[at - 1]) > rank_of(s); at--)
			out[at] = out[at - 1];
		out[at] = s;
	}
	return n;
}

static bool was_read(const struct reader_bus *b)
{
	for (size_t i = 0; i < b->n; i++)
		if (atomic_load(&b->readers[i]->pass) <= 1)
			return false;
	return true;
}

void probe_set_read(struct probe_set *r, double *const rows[TIERS])
{
	for (int derived = 0; derived <= 1; derived++)
		for (size_t i = 0; i < r->n_probes; i++) {
			struct probe *p = r->probes[i];

			if (p->derived == derived)
				p->ops->read(p, clock_now_ns(), rows[p->tier]);
		}
}

/* Returns true if the first passes of a bus took so little together that they hold up no other one. What reads no
 * values does so at its leisure. */
static bool is_quick(const struct reader_bus *b)
{
	double cost = 0;

	for (size_t i = 0; i < b->n; i++) {
		if (!b->readers[i]->n || atomic_load(&b->readers[i]->begun_ns))
			return false;
		cost += atomic_load(&b->readers[i]->cost_ns);
	}
	return was_read(b) && cost < (double)QUICK_NS;
}

/* Without a thread the sampling thread makes the passes. */
void probe_set_start(struct probe_set *r, int64_t grid_ns)
{
	const struct timespec moment = {.tv_nsec = LOOK_NS};
	const int *nice = r->has_nice ? &r->nice : NULL;
	struct async_reader **all = calloc(2 * r->n_probes + 1, sizeof(struct async_reader *)), **some;
	struct reader_bus *b, **buses = calloc(r->n_probes + 1, sizeof(struct reader_bus *));
	size_t n = all && buses ? list_readers(r, all) : 0, n_buses = 0, k;

	some = n ? all + n : NULL;
	for (size_t i = 0; i < n; i++) {
		k = 0;
		for (size_t at = i; at < n; at++)
			if (!all[at]->bus && !strcmp(all[at]->bus_name, all[i]->bus_name))
				some[k++] = all[at];
		if (k && (b = reader_bus_new(all[i]->bus_name, some, k, false, nice, grid_ns)))
			buses[n_buses++] = b;
	}
	/* Buses that answer at once share a thread from now on. */
	k = 0;
	for (size_t i = 0; i < n_buses; i++) {
		while (!was_read(buses[i]) && clock_now_ns() < grid_ns - NS_PER_MS)
			nanosleep(&moment, NULL);
		size_t of = buses[i]->n;
		memcpy(some + k, buses[i]->readers, of * sizeof *some);
		if (is_quick(buses[i]) && reader_bus_dissolve(buses[i]))
			k += of;
	}
	if (k)
		reader_bus_new("nvmtop-files", some, k, false, nice, grid_ns);
	free(buses);
	free(all);
	if (r->lookout)
		lookout_start(r->lookout, r, grid_ns);
}
