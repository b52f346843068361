/* The rig grows while a board is resolved and never again: once the samplers
 * run, nothing in it moves. */
#include <stdlib.h>
#include <string.h>

#include "crew.h"
#include "nvmtop/probe.h"

void rig_free(struct rig *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_probes; i++)
		r->probes[i]->ops->close(r->probes[i]);
	free(r->probes);
	free(r->channels);
	free(r->facts);
	root_close(r->root);
	free(r);
}

/* Room for one more in an array of n; it grows whenever n is a power of two. */
static void *grow(void *array, size_t n, size_t each)
{
	if (n & (n - 1))
		return array;
	return reallocarray(array, n ? n * 2 : 1, each);
}

struct channel *rig_add_channel(struct rig *r, const struct channel *c)
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

int rig_add_probe(struct rig *r, struct probe *p)
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

int rig_add_fact(struct rig *r, const char *key, const char *value)
{
	struct fact *all = grow(r->facts, r->n_facts, sizeof *all);

	if (!all)
		return -1;
	r->facts = all;
	struct fact *f = &all[r->n_facts++];
	text_printable(f->key, sizeof f->key, key, strlen(key));
	text_printable(f->value, sizeof f->value, value, strlen(value));
	return 0;
}

const struct channel *rig_find(const struct rig *r, const char *name)
{
	for (size_t i = 0; i < r->n_channels; i++)
		if (!strcmp(r->channels[i].name, name))
			return &r->channels[i];
	return NULL;
}

static const struct channel *at_column(const struct rig *r, enum tier tier, uint16_t column)
{
	for (size_t i = 0; i < r->n_channels; i++)
		if (r->channels[i].tier == tier && r->channels[i].column == column)
			return &r->channels[i];
	return NULL;
}

const struct channel *rig_hanging(const struct rig *r, int64_t now_ns)
{
	uint16_t column;

	for (size_t i = 0; i < r->n_probes; i++) {
		const struct probe *p = r->probes[i];
		if (p->hangs && p->hangs(p, now_ns, &column))
			return at_column(r, p->tier, column);
	}
	return NULL;
}

void rig_be_gentle(struct rig *r)
{
	for (size_t i = 0; i < r->n_probes; i++)
		if (r->probes[i]->gentle)
			r->probes[i]->gentle(r->probes[i], r);
}

void rig_start(struct rig *r, int64_t until_ns)
{
	for (size_t i = 0; i < r->n_probes; i++)
		if (r->probes[i]->start)
			r->probes[i]->start(r->probes[i]);
	crew_settle(until_ns);
}
