/* A slow reader polls the watched files, so that a file that hangs holds up nothing else. A text counts
 * when two polls in a row have found it: one may fall into the middle of a change, of a file or of
 * several that belong together. A file that is missing or empty has no text. */
#include "probe/watched.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "util/clock.h"
#include "util/num.h"
#include "probe/async-reader.h"

#define LOOK_NS NS_PER_S
#define SHARE   0.02
#define ITEMS   48
#define QUEUE   64 /* a power of 2; the oldest that were not taken stay */

struct item {
	char what[sizeof((struct change *)NULL)->what];
	struct attr attr;
	watched_read *read;
	void *arg;
	char text[WATCHED_TEXT];
	char next[WATCHED_TEXT]; /* found once; "": nothing new */
	int64_t next_ns;
};

/* The reader's; it may outlive the probe set. */
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
	struct async_reader *slow;
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

/* One that fails is opened anew: with the last core of a group its files go, and others
 * come. */
static bool read_file(struct item *it, const struct root *r, char *out, size_t size)
{
	char buf[160], path[sizeof it->attr.path];
	ssize_t n = -1;

	if (attr_is_open(&it->attr))
		n = attr_read(&it->attr, r, buf, sizeof buf);
	if (n < 0) {
		attr_close(&it->attr);
		text_join(path, sizeof path, it->attr.path, "", "");
		if (attr_open(&it->attr, r, path) < 0)
			return false;
		n = attr_read(&it->attr, r, buf, sizeof buf);
	}
	if (n <= 0)
		return false;
	const char *end = memchr(buf, '\n', (size_t)n);
	text_printable(out, size, buf, end ? (size_t)(end - buf) : (size_t)n);
	return true;
}

static void look(struct watched *w, struct item *it, int64_t t_ns)
{
	char text[WATCHED_TEXT] = "";
	bool known = it->read ? it->read(w->root, it->arg, text, sizeof text)
			      : read_file(it, w->root, text, sizeof text);

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

static void watched_close(void *arg)
{
	struct watched *w = arg;

	for (size_t i = 0; i < w->n; i++) {
		attr_close(&w->items[i].attr);
		free(w->items[i].arg);
	}
	root_close(w->root);
	free(w);
}

void watched_free(struct watched *w)
{
	watched_close(w);
}

struct watched *watched_new(struct root *r)
{
	struct watched *w = calloc(1, sizeof *w);

	if (w)
		w->root = root_hold(r);
	return w;
}

static struct item *item_new(struct watched *w, const char *what, const char *now)
{
	struct item *it = &w->items[w->n];

	if (w->n == ITEMS)
		return NULL;
	w->n++;
	it->attr.fd = -1;
	text_join(it->what, sizeof it->what, what, "", "");
	text_printable(it->text, sizeof it->text, now, strlen(now));
	return it;
}

void watched_file(struct watched *w, const char *what, const char *path, const char *now)
{
	struct item *it = item_new(w, what, now);

	if (it)
		attr_open(&it->attr, w->root, path);
}

void watched_text(struct watched *w, const char *what, watched_read *read, void *arg, const char *now)
{
	struct item *it = item_new(w, what, now);

	if (it) {
		it->read = read;
		it->arg = arg;
	} else {
		free(arg);
	}
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

static void watching_close(struct probe *p)
{
	struct watching *s = (struct watching *)p;

	async_reader_stop(s->slow);
	free(s);
}

int watched_add(struct watched *w, struct probe_set *probes)
{
	static const struct probe_ops ops = {watching_read, watching_close};
	static const struct async_reader_ops reader = {watched_look, watched_close};
	struct watching *s = calloc(1, sizeof *s);

	if (!s) {
		watched_close(w);
		return -1;
	}
	s->probe.ops = &ops;
	s->probe.tier = TIER_SLOW;
	s->probe.period_ns = LOOK_NS;
	s->probe.changed = watching_changed;
	s->watched = w;
	s->slow = async_reader_new("nvmtop-state", &reader, w, 0, LOOK_NS, SHARE);
	if (!s->slow) {
		free(s);
		return -1;
	}
	s->probe.readers[0] = s->slow;
	return probe_set_add_probe(probes, &s->probe);
}
