/* Polls the watched files with a separate reader, so that a file that hangs delays nothing else. A text
 * counts when two polls in a row have found it: one may fall into the middle of a change, of a file or of
 * several that belong together. A file that is missing or empty has no text. */
#include "probe/watched.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "util/clock.h"
#include "probe/async-reader.h"

#define LOOK_NS NS_PER_S
#define SHARE   0.02
#define ITEMS   48
#define QUEUE   64 /* a power of 2; a change that does not fit is dropped */

struct item {
	char what[sizeof((struct change *)NULL)->what];
	watched_read *read;
	void *arg;
	char text[WATCHED_TEXT];
	char next[WATCHED_TEXT]; /* found once; "": nothing new */
	int64_t next_ns;
};

/* Owned by the reader; may outlive the probe set. */
struct watched {
	struct root *root;
	struct item items[ITEMS];
	size_t n;
	struct change queue[QUEUE];
	atomic_uint head, tail; /* put by the reader, taken by one other thread */
};

struct watching {
	struct probe probe;
	struct watched *watched;
};

static void put(struct watched *w, const struct item *it)
{
	unsigned head = atomic_load_explicit(&w->head, memory_order_relaxed);
	struct change *c = &w->queue[head % QUEUE];

	if (head - atomic_load_explicit(&w->tail, memory_order_acquire) == QUEUE)
		return;
	memset(c, 0, sizeof *c);
	c->t_ns = it->next_ns;
	memcpy(c->what, it->what, sizeof c->what);
	memcpy(c->from, it->text, sizeof c->from);
	memcpy(c->to, it->next, sizeof c->to);
	atomic_store_explicit(&w->head, head + 1, memory_order_release);
}

static void look(struct watched *w, struct item *it, int64_t t_ns)
{
	char text[WATCHED_TEXT] = "";
	bool known = it->read(w->root, it->arg, text, sizeof text);

	if (!known || !text[0] || !strcmp(text, it->text)) {
		it->next[0] = '\0';
	} else if (strcmp(text, it->next) != 0) {
		memcpy(it->next, text, sizeof it->next);
		it->next_ns = t_ns;
	} else {
		put(w, it);
		memcpy(it->text, text, sizeof it->text);
		it->next[0] = '\0';
	}
}

static void watched_look(void *arg, int64_t t_ns, uint64_t wanted, double *v)
{
	struct watched *w = arg;

	(void)wanted;
	(void)v;
	for (size_t i = 0; i < w->n; i++)
		look(w, &w->items[i], t_ns);
}

void watched_free(void *watched)
{
	struct watched *w = watched;

	for (size_t i = 0; i < w->n; i++)
		free(w->items[i].arg);
	root_close(w->root);
	free(w);
}

struct watched *watched_new(struct root *r)
{
	struct watched *w = calloc(1, sizeof *w);

	if (w)
		w->root = root_hold(r);
	return w;
}

void watched_text(struct watched *w, const char *what, watched_read *read, void *arg, const char *now)
{
	struct item *it = &w->items[w->n];

	if (w->n == ITEMS) {
		free(arg);
		return;
	}
	w->n++;
	it->read = read;
	it->arg = arg;
	text_join(it->what, sizeof it->what, what);
	text_printable(it->text, sizeof it->text, now, strlen(now));
}

/* A probe set without threads, which is read once, does not poll for changes. */
static void watching_read(struct probe *p, int64_t t_ns, double *row)
{
	(void)p;
	(void)t_ns;
	(void)row;
}

static bool watching_changed(struct probe *p, struct change *out)
{
	struct watched *w = ((struct watching *)p)->watched;
	unsigned tail = atomic_load_explicit(&w->tail, memory_order_relaxed);

	if (tail == atomic_load_explicit(&w->head, memory_order_acquire))
		return false;
	*out = w->queue[tail % QUEUE];
	atomic_store_explicit(&w->tail, tail + 1, memory_order_release);
	return true;
}

int watched_add(struct watched *w, struct probe_set *probes)
{
	static const struct probe_ops ops = {watching_read, probe_stop};
	static const struct async_reader_ops reader = {watched_look, watched_free};
	struct watching *s = calloc(1, sizeof *s);

	if (!s) {
		watched_free(w);
		return -1;
	}
	s->probe.ops = &ops;
	s->probe.tier = TIER_SLOW;
	s->probe.period_ns = LOOK_NS;
	s->probe.changed = watching_changed;
	s->watched = w;
	s->probe.readers[0] = async_reader_new("nvmtop-state", &reader, w, 0, LOOK_NS, SHARE);
	if (!s->probe.readers[0]) {
		free(s);
		return -1;
	}
	return probe_set_add_probe(probes, &s->probe);
}
