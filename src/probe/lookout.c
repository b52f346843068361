/* Looks for what may come late: a driver that is loaded after nvmtop was started, a swap file, rights. Channels without a
 * source keep their columns, so that rows have one width; the statements that they came from are opened again, in a
 * probe set of the lookout whose rows continue those of the first one. What is found there stays: its probes are read
 * by two probes for each tier of the first set, of which one is derived, as those of it that are: both copy the values
 * into the reserved columns. Sets are only appended to the list, so that the sampling thread walks it without a lock.
 *
 * Texts count when two looks in a row have found them: one may fall into the middle of a change, of a file or of
 * several that belong together. A file that is missing or empty has no text.
 *
 * The kernel announces devices (uevents), but not every source is a device, and not every container may hear it. */
#include "probe/lookout.h"

#include <errno.h>
#include <linux/netlink.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/array.h"
#include "util/clock.h"
#include "probe/async-reader.h"

#define LOOK_NS   NS_PER_S
#define SHARE     0.05
#define TEXTS     48
#define OFTEN_NS  (60 * NS_PER_S) /* sources are looked for once a second for so long after the start, */
#define NEWS_NS   (5 * NS_PER_S)  /* and after news of a device; */
#define SELDOM_NS (10 * NS_PER_S) /* then this often */
#define FIRST_NS  (10 * NS_PER_MS)

struct text {
	lookout_read *read;
	void *arg;
	struct change change; /* the last one: to what it is now */
	atomic_bool untold;   /* it belongs to the thread that takes changes until that has taken it */
	char next[LOOKOUT_TEXT]; /* found once; "": nothing new */
	int64_t next_ns;
};

/* A statement some of whose n channels are missing. */
struct wanted {
	const struct statement *s;
	int64_t tick_ns;
	size_t first, n;
	bool hangs; /* a file did not answer: each try would leave a thread behind */
};

/* What one search has found. Does not change once it is in the list, but for what the sampling thread uses. */
struct found {
	struct probe_set set; /* its rows continue those of the first set */
	struct found *_Atomic next;
	size_t n;
	struct place_found {
		size_t channel; /* of the first set */
		size_t from;    /* of this one */
	} *places;
	struct channel *channels; /* the first set's, as they are described from now on */
	size_t base[TIERS];
	double *rows[TIERS];
};

/* Owned by the reader; may outlive the probe set. */
struct lookout {
	struct async_reader *reader;
	struct root *root;
	struct text texts[TEXTS];
	size_t n_texts;

	struct wanted *wanted;
	size_t n_wanted;
	void *board;
	void (*release)(void *board);
	struct channel *first, *known; /* the first set's, and as they are described now */
	size_t n_known, width[TIERS];
	double hz[TIERS];
	bool has_nice, gentle;
	int nice;
	int uevents; /* a socket, or -1 */
	int64_t often_until_ns, searched_ns;
	int64_t grid_ns; /* of the first set's rows */
	struct found *_Atomic found, *_Atomic *end;
};

/* Two for each tier that may be missing something: the second is derived. */
struct late {
	struct probe probe;
	struct lookout *lookout;
};

/* --- texts --- */

static void text_look(struct lookout *l, struct text *t, int64_t t_ns)
{
	char text[LOOKOUT_TEXT] = "";

	if (!t->read(l->root, t->arg, text, sizeof text) || !text[0] || !strcmp(text, t->change.to)) {
		t->next[0] = '\0';
	} else if (strcmp(text, t->next) != 0) {
		memcpy(t->next, text, sizeof t->next);
		t->next_ns = t_ns;
	} else if (!atomic_load_explicit(&t->untold, memory_order_acquire)) {
		memcpy(t->change.from, t->change.to, sizeof t->change.from);
		memcpy(t->change.to, text, sizeof t->change.to);
		t->change.t_ns = t->next_ns;
		t->next[0] = '\0';
		atomic_store_explicit(&t->untold, true, memory_order_release);
	}
}

void lookout_text(struct lookout *l, const char *what, lookout_read *read, void *arg, const char *now)
{
	struct text *t = &l->texts[l->n_texts];

	if (l->n_texts == TEXTS) {
		free(arg);
		return;
	}
	l->n_texts++;
	t->read = read;
	t->arg = arg;
	text_join(t->change.what, sizeof t->change.what, what);
	text_printable(t->change.to, sizeof t->change.to, now, strlen(now));
}

bool lookout_changed(struct lookout *l, struct change *out)
{
	for (size_t i = 0; i < l->n_texts; i++) {
		struct text *t = &l->texts[i];
		if (!atomic_load_explicit(&t->untold, memory_order_acquire))
			continue;
		*out = t->change;
		atomic_store_explicit(&t->untold, false, memory_order_release);
		return true;
	}
	return false;
}

/* --- the search --- */

static void found_free(struct found *f)
{
	for (int t = 0; t < TIERS; t++)
		free(f->rows[t]);
	free(f->places);
	free(f->channels);
	probe_set_free(&f->set); /* frees f, whose first member it is */
}

/* A probe set that has the channels of the first one, but for those of the statements that are opened again. */
static struct found *found_new(const struct lookout *l)
{
	struct found *f = calloc(1, sizeof *f);

	if (!f)
		return NULL;
	f->set.root = root_hold(l->root);
	f->set.has_nice = l->has_nice;
	f->set.nice = l->nice;
	for (size_t i = 0, w = 0; i < l->n_known; i++) {
		while (w < l->n_wanted && i >= l->wanted[w].first + l->wanted[w].n)
			w++;
		if (w < l->n_wanted && i >= l->wanted[w].first)
			continue;
		struct channel *c = probe_set_add_channel(&f->set, &l->known[i]);
		if (!c) {
			found_free(f);
			return NULL;
		}
		c->column = l->known[i].column;
	}
	memcpy(f->base, l->width, sizeof f->base);
	memcpy(f->set.width, l->width, sizeof f->set.width);
	return f;
}

/* Whether the channel that was found is the reserved one, or one of several that it stands for: "throttle" for
 * "throttle.cpu-throttle-alert". */
static bool stands_for(const struct channel *reserved, const struct channel *c)
{
	size_t len = strlen(reserved->name);

	return reserved->missing[0] && !c->missing[0] && reserved->kind == c->kind &&
	       !strncmp(reserved->name, c->name, len) && (!c->name[len] || c->name[len] == '.');
}

/* Takes the channels of the set from `from` on for those of the statement that are missing. Returns false if there are
 * none, or if out of memory. */
static bool found_places(struct found *f, const struct lookout *l, const struct wanted *w, size_t from)
{
	size_t before = f->n;

	for (size_t k = from; k < f->set.n_channels; k++) {
		const struct channel *c = &f->set.channels[k];
		size_t i = w->first;

		while (i < w->first + w->n && !stands_for(&l->known[i], c))
			i++;
		if (i == w->first + w->n)
			continue;
		struct place_found *place = array_add(&f->places, &f->n, sizeof *place);
		if (!place)
			return false;
		*place = (struct place_found) {i, k};
	}
	return f->n > before;
}

static void found_open(struct found *f, const struct lookout *l, struct wanted *w)
{
	size_t channels = f->set.n_channels, probes = f->set.n_probes;
	unsigned given_up = root_given_up();
	struct err unheard;

	int failed = probe_open(&f->set, w->s, w->tick_ns, &unheard);
	w->hangs = root_given_up() != given_up;
	for (size_t i = probes; l->gentle && i < f->set.n_probes; i++)
		if (f->set.probes[i]->gentle)
			f->set.probes[i]->gentle(f->set.probes[i], &f->set);
	if (failed)
		f->set.n_channels = channels;
	else if (found_places(f, l, w, channels))
		return;
	while (f->set.n_probes > probes) {
		struct probe *p = f->set.probes[--f->set.n_probes];
		probe_close(p);
	}
}

/* Describes the channels as they are from now on, and starts its readers. Returns false if out of memory. */
static bool found_start(struct found *f, const struct lookout *l)
{
	struct err unheard;

	f->channels = calloc(l->n_known, sizeof *f->channels);
	if (!f->channels || probe_set_guard(&f->set, l->hz, &unheard) < 0)
		return false;
	memcpy(f->channels, l->known, l->n_known * sizeof *f->channels);
	for (size_t i = 0; i < f->n; i++) {
		struct channel now = f->set.channels[f->places[i].from], *was = &f->channels[f->places[i].channel];
		memcpy(now.name, was->name, sizeof now.name);
		memcpy(now.label, was->label, sizeof now.label);
		now.index = was->index;
		now.column = was->column;
		*was = now;
	}
	for (int t = 0; t < TIERS; t++) {
		f->rows[t] = calloc(f->set.width[t] + 1, sizeof *f->rows[t]);
		for (size_t i = 0; f->rows[t] && i < f->set.width[t]; i++)
			f->rows[t][i] = NAN;
		if (!f->rows[t])
			return false;
	}
	/* Rows of every tier come at multiples of a second after the first. */
	int64_t grid_ns = l->grid_ns, soon_ns = clock_now_ns() + FIRST_NS;
	if (grid_ns < soon_ns)
		grid_ns += (soon_ns - grid_ns + NS_PER_S - 1) / NS_PER_S * NS_PER_S;
	probe_set_start(&f->set, grid_ns);
	return true;
}

/* Opens again what is missing, and starts what is found. What is complete is not looked for any more. */
static void search(struct lookout *l)
{
	struct found *f = found_new(l);
	size_t kept = 0;

	root_give_up(true);
	for (size_t w = 0; f && w < l->n_wanted; w++)
		if (!l->wanted[w].hangs)
			found_open(f, l, &l->wanted[w]);
	root_give_up(false);
	if (!f || !f->n || !found_start(f, l)) {
		if (f)
			found_free(f);
		return;
	}
	l->known = f->channels;
	for (size_t w = 0; w < l->n_wanted; w++) {
		bool missing = false;
		for (size_t i = 0; i < l->wanted[w].n; i++)
			missing |= l->known[l->wanted[w].first + i].missing[0] != '\0';
		if (missing)
			l->wanted[kept++] = l->wanted[w];
	}
	l->n_wanted = kept;
	atomic_store_explicit(l->end, f, memory_order_release);
	l->end = &f->next;
}

/* Returns true if the kernel told of a device since the last call. */
static bool uevents_came(const struct lookout *l)
{
	char text[256];
	bool news = false;
	ssize_t n;

	for (int i = 0; l->uevents >= 0 && i < 1000; i++) {
		n = recv(l->uevents, text, sizeof text, MSG_DONTWAIT);
		if (n < 0 && errno != ENOBUFS)
			break;
		news |= n < 0 || (n > 5 && (!memcmp(text, "add@", 4) || !memcmp(text, "bind@", 5)));
	}
	return news;
}

static void lookout_pass(void *arg, int64_t t_ns, double *v)
{
	struct lookout *l = arg;

	(void)v;
	for (size_t i = 0; i < l->n_texts; i++)
		text_look(l, &l->texts[i], t_ns);
	if (uevents_came(l) && l->often_until_ns < t_ns + NEWS_NS)
		l->often_until_ns = t_ns + NEWS_NS;
	if (!l->n_wanted || t_ns - l->searched_ns < (t_ns < l->often_until_ns ? LOOK_NS / 2 : SELDOM_NS))
		return;
	l->searched_ns = t_ns;
	search(l);
}

/* --- on the sampling path --- */

/* Makes the values of one search for a row. Returns false if a read hung and another thread makes the rows now. */
static bool found_read(struct found *f, struct probe *late, int64_t t_ns, double *row)
{
	double *own = f->rows[late->tier];

	memcpy(own, row, f->base[late->tier] * sizeof *own); /* what derived values are computed from */
	for (size_t i = 0; i < f->set.n_probes; i++) {
		struct probe *p = f->set.probes[i];
		if (p->tier != late->tier || p->derived != late->derived || t_ns < p->due_ns)
			continue;
		atomic_store_explicit(&p->from_ns, late->from_ns, memory_order_relaxed);
		probe_read(p, t_ns, own);
		if (probes_left_me())
			return false;
		if (p->period_ns > 0)
			p->due_ns = (t_ns / p->period_ns + 1) * p->period_ns;
		late->timed |= p->timed;
		late->read_ns = p->read_ns > late->read_ns ? p->read_ns : late->read_ns;
	}
	for (size_t i = 0; i < f->n; i++) {
		const struct place_found *place = &f->places[i];
		const struct channel *c = &f->channels[place->channel];
		if (c->tier != late->tier)
			continue;
		bool again = i && place->channel == f->places[i - 1].channel;
		double v = own[f->set.channels[place->from].column];
		row[c->column] = again ? fmax(row[c->column], v) : v;
	}
	return true;
}

static void late_read(struct probe *p, int64_t t_ns, double *row)
{
	struct found *f = atomic_load_explicit(&((struct late *)p)->lookout->found, memory_order_acquire);

	p->read_ns = 0;
	while (f && found_read(f, p, t_ns, row))
		f = atomic_load_explicit(&f->next, memory_order_acquire);
}

const struct channel *lookout_channels(const struct lookout *l)
{
	const struct channel *now = NULL;

	for (struct found *f = atomic_load_explicit(&l->found, memory_order_acquire); f;
	     f = atomic_load_explicit(&f->next, memory_order_acquire))
		now = f->channels;
	return now;
}

struct probe_set *lookout_set(const struct lookout *l, size_t nth)
{
	struct found *f = atomic_load_explicit(&l->found, memory_order_acquire);

	while (f && nth--)
		f = atomic_load_explicit(&f->next, memory_order_acquire);
	return f ? &f->set : NULL;
}

/* --- the whole --- */

static void lookout_free(void *arg)
{
	struct lookout *l = arg;
	struct found *f = atomic_load(&l->found);

	while (f) {
		struct found *next = atomic_load(&f->next);
		found_free(f);
		f = next;
	}
	for (size_t i = 0; i < l->n_texts; i++)
		free(l->texts[i].arg);
	if (l->board)
		l->release(l->board);
	if (l->uevents >= 0)
		close(l->uevents);
	free(l->wanted);
	free(l->first);
	root_close(l->root);
	free(l);
}

struct lookout *lookout_new(struct probe_set *probes, const double hz[TIERS])
{
	static const struct async_reader_ops ops = {lookout_pass, lookout_free};
	struct lookout *l = calloc(1, sizeof *l);

	if (!l)
		return NULL;
	l->root = root_hold(probes->root);
	l->uevents = -1;
	l->end = &l->found;
	memcpy(l->hz, hz, sizeof l->hz);
	l->reader = async_reader_new("nvmtop-lookout", &ops, l, 0, LOOK_NS, SHARE);
	if (!l->reader) {
		lookout_free(l);
		return NULL;
	}
	return probes->lookout = l;
}

int lookout_statement(struct lookout *l, const struct statement *s, int64_t tick_ns, size_t first, size_t n)
{
	struct wanted *added = array_add(&l->wanted, &l->n_wanted, sizeof *added);

	if (!added)
		return -1;
	*added = (struct wanted) {.s = s, .tick_ns = tick_ns, .first = first, .n = n};
	return 0;
}

void lookout_keep(struct lookout *l, void *board, void (*release)(void *board))
{
	l->board = board;
	l->release = release;
}

static const struct probe_ops late_ops = {late_read, probe_free};

int lookout_reserve(struct lookout *l, struct probe_set *probes)
{
	bool missing[TIERS] = {false};

	for (size_t w = 0; w < l->n_wanted; w++)
		missing[probes->channels[l->wanted[w].first].tier] = true;
	for (int i = 0; i < 2 * TIERS; i++) {
		if (!missing[i / 2])
			continue;
		struct late *late = calloc(1, sizeof *late);
		if (!late)
			return -1;
		late->probe.ops = &late_ops;
		late->probe.tier = (enum tier)(i / 2);
		late->probe.derived = i % 2;
		late->lookout = l;
		if (probe_set_add_probe(probes, &late->probe) < 0)
			return -1;
	}
	return 0;
}

void lookout_start(struct lookout *l, const struct probe_set *probes, int64_t grid_ns)
{
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK, .nl_groups = 1};
	int64_t now = clock_now_ns();

	l->first = l->known = calloc(probes->n_channels + 1, sizeof *l->known);
	if (!l->known)
		l->n_wanted = 0;
	else if (probes->n_channels)
		memcpy(l->known, probes->channels, probes->n_channels * sizeof *l->known);
	l->n_known = probes->n_channels;
	memcpy(l->width, probes->width, sizeof l->width);
	l->has_nice = probes->has_nice;
	l->nice = probes->nice;
	l->grid_ns = grid_ns;
	l->searched_ns = now;
	l->often_until_ns = now + OFTEN_NS;
	if (root_is_live(l->root) && l->n_wanted)
		l->uevents = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);
	if (l->uevents >= 0 && bind(l->uevents, (struct sockaddr *)&kernel, sizeof kernel) < 0) {
		close(l->uevents);
		l->uevents = -1;
	}
	async_reader_start(l->reader);
}

void lookout_be_gentle(struct lookout *l)
{
	l->gentle = true;
}

void lookout_stop(struct lookout *l)
{
	async_reader_stop(l->reader);
}
