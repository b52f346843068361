/* Where the columns of a trace come from: from its extension, else from the
 * cache, else they are made of the rows, at once for a small trace and in the
 * background for a large one.
 *
 * All of this is looked at by the thread that draws, once a frame: whether the
 * file has become shorter, and how far the background has come. */
#include <unistd.h>

#include "util/intl.h"
#include "trace/audit.h"
#include "trace/build.h"
#include "trace/log-trace.h"

#define MEMORY_MOST (UINT64_C(32) << 20) /* where no file can be made */
#define TRIES       4
#define ALL         ((1U << TIERS) - 1) /* tiers */

const struct trace_tuning trace_tuned = {.at_once = UINT64_C(48) << 20, .workers = 0, .keep = true};

unsigned shelves_empty(const struct trace *t)
{
	unsigned tiers = 0;

	for (int i = 0; i < TIERS; i++)
		if (t->section[i].rows > 0 && t->session.width[i] > 0 &&
		    t->session.width[i] <= PYRAMID_WIDEST && t->shelf[i].levels == 0)
			tiers |= 1U << i;
	return tiers;
}

static uint64_t rows_bytes(const struct trace *t, unsigned tiers)
{
	uint64_t n = 0;

	for (int i = 0; i < TIERS; i++)
		if (tiers & 1U << i)
			n += t->section[i].rows * row_size[i];
	return n;
}

static void settle(struct trace *t)
{
	for (int i = 0; i < TIERS; i++)
		shelf_settle(&t->shelf[i], t->session.width[i], zoom_base(t->session.hz[i]),
			     t->section[i].rows);
}

static bool identify(const struct trace *t, struct store_id *id)
{
	struct stat st;

	if (fstat(t->file.fd, &st) < 0 || (uint64_t)st.st_size != t->size || st.st_nlink == 0)
		return false;
	store_identify(id, &st, t->map, t->size);
	return true;
}

static void release(struct trace *t)
{
	store_close(t->store);
	t->store = NULL;
}

/* Of these tiers. */
static void clear(struct trace *t, unsigned tiers)
{
	if (t->unsure & tiers) { /* the others are begun with again */
		audit_free(t->audit);
		t->audit = NULL;
		t->unsure &= ~tiers;
	}
	for (int i = 0; i < TIERS; i++)
		if (tiers & 1U << i)
			shelf_clear(&t->shelf[i]);
}

/* All that was made or read of columns. */
static void forget(struct trace *t)
{
	build_free(t->build);
	t->build = NULL;
	clear(t, ALL); /* and ends an audit */
	release(t);
}

/* Make what is missing, `coarser` after it did not fit. */
static void begin(struct trace *t, unsigned tiers, int coarser)
{
	struct store_id id;
	struct store *s = NULL;
	uint64_t most;

	if (t->store) { /* there is one: what it has is made again, too */
		clear(t, ALL);
		release(t);
		tiers = shelves_empty(t);
	}
	most = rows_bytes(t, tiers) / 6 + (1 << 20);
	clear(t, tiers);
	if (t->tuning.keep && t->damage.code == ERR_NONE && identify(t, &id))
		s = store_file(&id, most);
	if (!s)
		s = store_file(NULL, most);
	if (!s)
		s = store_memory(MEMORY_MOST);
	t->coarser = coarser;
	t->build = s ? build_start(t, tiers, s, t->tuning.workers, coarser) : NULL;
}

/* When it fails, columns are estimated. */
static void at_once(struct trace *t, unsigned tiers)
{
	struct build *b;
	struct store *s;
	int tries = 0;

	do {
		s = store_memory(rows_bytes(t, tiers) + (1 << 20));
		b = s ? build_start(t, tiers, s, AT_ONCE, 4 * tries) : NULL;
		if (!b)
			return;
		if (!build_failed(b)) {
			t->store = build_release(b);
			build_free(b);
			return;
		}
		build_free(b);
		clear(t, tiers);
	} while (++tries < TRIES);
}

void shelves_open(struct trace *t, const struct trace_tuning *tuning)
{
	t->tuning = *tuning;
	settle(t);
	t->bare = t->known && shelves_empty(t);
	for (int i = 0; i < TIERS; i++)
		if (t->shelf[i].levels > 0)
			t->unsure |= 1U << i;
}

/* Whether the cache has what is missing. */
static bool cached(struct trace *t, unsigned tiers)
{
	struct shelf shelf[TIERS];
	struct store_id id;

	if (!t->tuning.keep || !identify(t, &id))
		return false;
	memset(shelf, 0, sizeof(shelf));
	t->store = store_load(&id, shelf);
	for (int i = 0; i < TIERS; i++) {
		if (tiers & 1U << i)
			t->shelf[i] = shelf[i];
		else
			shelf_clear(&shelf[i]);
	}
	settle(t);
	if (!shelves_empty(t))
		return true;
	store_discard(t->store);
	t->store = NULL;
	return false;
}

void shelves_fill(struct trace *t)
{
	unsigned tiers;

	if (t->unsure && !t->audit && !(t->audit = audit_start(t, t->unsure)))
		t->unsure = 0;
	if (!t->bare)
		return;
	t->bare = false;
	tiers = shelves_empty(t);
	if (rows_bytes(t, tiers) <= t->tuning.at_once)
		at_once(t, tiers);
	else if (!cached(t, tiers))
		begin(t, tiers, 0);
}

void shelves_close(struct trace *t)
{
	forget(t);
}

/* A chunk of stored columns is not as it was written: make them anew. */
static void bad_columns(struct trace *t)
{
	for (int i = 0; i < TIERS; i++) {
		const struct piece *p = t->shelf[i].bad;

		if (!p || t->build)
			continue;
		if (!t->store || p->payload == t->map + p->at + CHUNK_HEAD) {
			trace_damage(t,
				     _("chunk %s of the extension, at offset %llu, has a wrong checksum"),
				     "PYRM", (unsigned long long)p->at);
		} else {
			store_discard(t->store);
			t->store = NULL;
			clear(t, ALL);
		}
		clear(t, 1U << i);
		begin(t, shelves_empty(t), 0);
	}
}

/* The columns that the trace brought along were held against its rows. */
static void audited(struct trace *t)
{
	struct audited found;
	unsigned wrong = 0;

	for (int i = 0; i < TIERS; i++) {
		if (!(t->unsure & 1U << i) || !audit_result(t->audit, (enum tier)i, &found))
			continue;
		if (found.leap > 0 && t->n_leaps < LEAPS) {
			t->leap[t->n_leaps++] = (struct leap) {(enum tier)i, found.leap};
			leaps_tell(t);
		}
		if (found.row != UINT64_MAX)
			section_end(t, (enum tier)i, found.row);
		else if (found.wrong > 0)
			trace_damage(t,
				     _("the stored columns of the %s tier, at offset %llu, do not match its "
				       "rows; the rows are shown"),
				     tier_name((enum tier)i), (unsigned long long)found.at);
		else
			continue;
		wrong |= 1U << i;
		t->times[i].n = 0;
		t->edges[i].zoom = 0;
	}
	audit_free(t->audit);
	t->audit = NULL;
	t->unsure = 0;
	if (!wrong)
		return;
	clear(t, wrong);
	extent_find(t);
	begin(t, shelves_empty(t), 0);
}

/* How many rows of each section lie before this offset. */
static void sections_shrink(struct trace *t, size_t size)
{
	for (int i = 0; i < TIERS; i++) {
		struct section *s = &t->section[i];
		uint64_t fit = size > s->at ? (size - s->at) / row_size[i] : 0;

		if (s->rows > fit)
			s->rows = fit;
	}
	for (int i = 0; i < TIERS; i++)
		while (t->n_columns[i] > 0) {
			const struct columns *c = &t->columns[i][t->n_columns[i] - 1];

			if (c->at + (size_t)c->head.rows * c->head.columns * 8 + CHUNK_CRC <= size)
				break;
			t->n_columns[i]--;
		}
}

static const char *place_of(const struct trace *t, size_t at)
{
	for (int i = TIERS; i-- > 0;)
		if (at >= t->section[i].at)
			return at < t->section[i].at + t->section[i].rows * row_size[i]
				       ? tier_name((enum tier)i)
				       : NULL;
	return NULL;
}

/* The file has become shorter, or a part of it cannot be read: what is left is
 * shown. */
static void shrunk(struct trace *t, size_t size, bool torn)
{
	const char *tier = place_of(t, size);

	forget(t);
	t->damage.code = ERR_NONE; /* this is news, and more than what was wrong before */
	t->nonsense_is_damage = false;
	if (torn && tier)
		trace_damage(
			t,
			_("it cannot be read at offset %llu, in the %s section; what is before it is shown"),
			(unsigned long long)size, tier);
	else if (torn)
		trace_damage(t,
			     _("it cannot be read at offset %llu, behind the samples; the samples are shown"),
			     (unsigned long long)size);
	else if (tier)
		trace_damage(t,
			     _("it was truncated to %llu bytes while it was open, in the %s section; the "
			       "rest is shown"),
			     (unsigned long long)size, tier);
	else
		trace_damage(t, _("it was truncated to %llu bytes while it was open, behind the samples"),
			     (unsigned long long)size);
	t->size = size;
	sections_shrink(t, size);
	for (int i = 0; i < TIERS; i++) {
		t->times[i].n = 0;
		t->edges[i].zoom = 0;
	}
	extent_find(t);
	if (t->known)
		begin(t, shelves_empty(t), 0);
}

static void built(struct trace *t)
{
	struct build *b = t->build;
	bool cut = false, ok = !build_failed(b);
	int coarser = t->coarser;
	unsigned made = 0;

	for (int i = 0; i < TIERS; i++) {
		uint64_t row = build_disorder(b, (enum tier)i);

		if (row == UINT64_MAX)
			continue;
		cut = true;
		section_end(t, (enum tier)i, row);
		t->times[i].n = 0;
		t->edges[i].zoom = 0;
	}
	for (int i = 0; i < TIERS; i++)
		if (build_makes(b, (enum tier)i))
			made |= 1U << i;
	t->build = NULL;
	if (ok) {
		t->store = build_release(b);
		build_free(b);
		return;
	}
	clear(t, made);
	build_free(b);
	extent_find(t);
	if (cut)
		begin(t, shelves_empty(t), 0);
	else if (map_torn(&t->file) == t->file.size && coarser < 4 * TRIES)
		begin(t, made, coarser + 4); /* it did not fit */
}

void shelves_look(struct trace *t)
{
	size_t left, torn;

	if (t->log) {
		log_trace_look(t);
		return;
	}
	left = map_left(&t->file);
	torn = map_torn(&t->file);
	if (left < t->size)
		shrunk(t, left, false);
	else if (torn < t->size)
		shrunk(t, torn, true);
	if (t->build && build_done(t->build))
		built(t);
	if (t->store && store_torn(t->store)) {
		release(t);
		clear(t, ALL);
		begin(t, shelves_empty(t), 0);
	}
	bad_columns(t);
	if (t->audit && !t->build && audit_done(t->audit))
		audited(t);
}
