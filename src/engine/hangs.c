/* A read that hung is still reported after it returned: the hole in the trace is found later, and then
 * needs an explanation. */
#include "engine/hangs.h"

int hangs_init(struct hangs *h)
{
	h->n = 0;
	return pthread_mutex_init(&h->lock, NULL) ? -1 : 0;
}

void hangs_close(struct hangs *h)
{
	pthread_mutex_destroy(&h->lock);
}

/* The entry of that channel that is still open, or a new one; NULL: too many. */
static struct engine_hang *hang_of(struct hangs *h, const struct channel *c, int64_t since_ns)
{
	for (size_t i = 0; i < h->n; i++)
		if (h->all[i].channel == c && !h->all[i].until_ns)
			return &h->all[i];
	if (h->n == ENGINE_HANGS)
		return NULL;
	h->all[h->n] = (struct engine_hang) {.channel = c, .since_ns = since_ns};
	return &h->all[h->n++];
}

void hangs_look(struct hangs *h, const struct probe_set *probes, int64_t now_ns)
{
	const struct channel *c;
	bool still[ENGINE_HANGS] = {false};
	int64_t since;

	pthread_mutex_lock(&h->lock);
	for (size_t i = 0; (c = probe_set_hanging(probes, now_ns, i, &since)); i++) {
		struct engine_hang *a = hang_of(h, c, since);

		if (a)
			still[a - h->all] = true;
	}
	for (size_t i = 0; i < h->n; i++)
		if (!h->all[i].until_ns && !still[i])
			h->all[i].until_ns = now_ns;
	pthread_mutex_unlock(&h->lock);
}

bool hangs_get(struct hangs *h, size_t nth, struct engine_hang *out)
{
	bool is;

	pthread_mutex_lock(&h->lock);
	is = nth < h->n;
	if (is)
		*out = h->all[nth];
	pthread_mutex_unlock(&h->lock);
	return is;
}
