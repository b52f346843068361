/* Checks a recording: reads every chunk and row, and computes levels of detail and statistics again from the
 * rows, so that wrong ones are found even if their checksum is right. */
#include "trace/check.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/intl.h"
#include "trace/log-builder.h"
#include "trace/log-range.h"
#include "trace/log-tree.h"
#include "trace/nvmt1.h"
#include "trace/trace-file.h"

#define BATCH	  1024
#define WINDOW_NS (100 * NS_PER_MS)
#define CLOSE	  1e-9 /* relative error: sums may be added in another order */

struct check {
	struct log_reader *r;
	struct log_items items; /* aux: zoom of a LOD, level of a STAT; before[0]: made from rows */
	struct log_bytes file, again;
	void (*found)(void *to, const char *text);
	void *to;
	bool (*progress)(void *arg, double done);
	void *arg;
	bool stopped;
	struct checked *out;
};

static void report(struct check *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void report(struct check *c, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	c->out->wrong++;
	c->found(c->to, text);
}

static bool goes_on(struct check *c, double done)
{
	c->stopped |= c->progress && !c->progress(c->arg, done);
	return !c->stopped;
}

/* --- chunks --- */

static void check_index(struct check *c, const struct log_item *index)
{
	struct log_listing l;
	bool good = log_listing_read(c->r, index, &l);

	for (size_t i = 0; good && i < l.own.n; i++)
		if (!log_item_there(c->r, &l.own.p[i])) {
			report(c, _("the INDEX at offset %llu lists a chunk at offset %llu, which is not there"),
			       (unsigned long long)index->at, (unsigned long long)l.own.p[i].at);
			break;
		}
	if (!good)
		report(c, _("the INDEX at offset %llu is damaged"), (unsigned long long)index->at);
	log_listing_free(&l);
}

static bool pass_over(void *unused, const struct range *r)
{
	(void)unused;
	(void)r;
	return true;
}

static void check_ranges(struct check *c, const struct log_item *item)
{
	struct err e;
	struct ranges *names = ranges_new(0, &e);

	if (names && !log_ranges_get(c->file.p, c->file.n, names, pass_over, NULL))
		report(c, _("the ranges at offset %llu are damaged"), (unsigned long long)item->at);
	ranges_free(names);
}

static void check_events(struct check *c, const struct log_item *item)
{
	struct log_in in = {c->file.p, c->file.p + c->file.n, false}, record;
	struct log_event ev;
	bool good = true;

	while (log_get_record(&in, &record))
		good &= log_event_get(item->kind, &record, &ev);
	if (in.bad || !good)
		report(c, _("the events at offset %llu are damaged"), (unsigned long long)item->at);
}

static void check_chunks(struct check *c)
{
	struct log_head h;

	log_scan(c->r, c->r->begin, c->r->size, &c->items);
	for (size_t i = 0; i < c->items.n && goes_on(c, 0.3 * (double)i / (double)c->items.n); i++) {
		struct log_item *item = &c->items.p[i];

		if (!log_read_chunk(c->r, item, &h, &c->file))
			continue;
		if ((item->kind == LOG_LOD || item->kind == LOG_STAT) && c->file.n > 0)
			item->aux = c->file.p[0];
		else if (item->kind == LOG_INDEX)
			check_index(c, item);
		else if (item->kind == LOG_RANGE)
			check_ranges(c, item);
		else if (item->kind == LOG_META && !log_meta_good(c->file.p, c->file.n))
			report(c, _("the description at offset %llu has times that are out of range"),
			       (unsigned long long)item->at);
		else if (log_has_events(item->kind))
			check_events(c, item);
	}
	c->out->chunks = c->items.n;
}

/* --- LOD and STAT --- */

static bool close_to(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) && isnan(b);
	return fabs(a - b) <= CLOSE * fmax(fmax(fabs(a), fabs(b)), 1e-300);
}

/* Returns the n records of a STAT, of `size` bytes each, for the caller to free; NULL if it is invalid. */
static uint8_t *stats_of(const struct log_bytes *b, uint32_t *n, size_t *size)
{
	struct log_in in = {b->p, b->p + b->n, false};
	struct late_ticks late[LOG_TIERS];
	const uint8_t *p;
	uint8_t *plain;

	log_get_u16(&in);
	*size = log_get_u16(&in);
	*n = log_get_u32(&in);
	log_late_get(&in, late);
	p = *n <= LOG_CHANNELS && *size >= LOG_STAT_SIZE ? log_in_take(&in, *n * *size) : NULL;
	plain = p ? malloc(*n * *size + 1) : NULL;
	if (plain)
		log_unshuffle(plain, p, *n, *size);
	return plain;
}

static bool same_stat(const struct span_stats *s, const struct span_stats *t)
{
	double mean = t->n > 0 ? t->sum / (double)t->n : 0;

	/* The mean that was subtracted is rounded, so the squares are off as well. */
	return s->channel == t->channel && s->n == t->n && close_to(s->min, t->min) &&
	       close_to(s->max, t->max) && close_to(s->sum, t->sum) &&
	       fabs(s->squares - t->squares) <= CLOSE * (t->squares + mean * mean * 1e-6) &&
	       s->first_ns == t->first_ns && close_to(s->first, t->first) && s->last_ns == t->last_ns &&
	       close_to(s->last, t->last) && close_to(s->integral, t->integral) &&
	       s->known_ns == t->known_ns && s->above_ns == t->above_ns && close_to(s->rise, t->rise);
}

static bool same_stats(const struct log_bytes *a, const struct log_bytes *b)
{
	size_t size[2];
	uint32_t n[2];
	uint8_t *p = stats_of(a, &n[0], &size[0]), *q = stats_of(b, &n[1], &size[1]);
	bool same = p && q && n[0] == n[1];

	for (uint32_t i = 0; same && i < n[0]; i++) {
		struct span_stats s, t;

		log_stat_get(&(struct log_in) {p + i * size[0], p + (i + 1) * size[0], false}, &s);
		log_stat_get(&(struct log_in) {q + i * size[1], q + (i + 1) * size[1], false}, &t);
		same = same_stat(&s, &t);
	}
	free(p);
	free(q);
	return same;
}

static bool same_arrays(const struct log_section *a, const struct log_section *b)
{
	double x[LOG_BINS_MAX], y[LOG_BINS_MAX];
	bool same = a->tier == b->tier && a->n == b->n && a->columns == b->columns && a->first == b->first;
	struct log_walk v, w;

	log_walk_begin(&v, a);
	log_walk_begin(&w, b);
	for (uint32_t c = 0; same && c < a->columns; c++) {
		same = log_walk_get(&v, x) && log_walk_get(&w, y);
		for (uint32_t i = 0; same && i < a->n; i++)
			same = close_to(x[i], y[i]);
	}
	return same;
}

static bool same_bins(const struct log_bytes *a, const struct log_bytes *b)
{
	struct log_in in = {a->p, a->p + a->n, false}, other = {b->p, b->p + b->n, false};
	struct log_section s, t;
	int more = 1;

	if (a->n < 4 || b->n < 4 || memcmp(log_in_take(&in, 4), log_in_take(&other, 4), 4) != 0)
		return false;
	while (more > 0) {
		more = log_lod_next(&in, &s);
		if (log_lod_next(&other, &t) != more || (more > 0 && !same_arrays(&s, &t)))
			return false;
	}
	return more == 0;
}

static int by_key(const void *a, const void *b)
{
	const struct log_item *s = a, *t = b;

	if (s->kind != t->kind)
		return s->kind < t->kind ? -1 : 1;
	if (s->aux != t->aux)
		return s->aux < t->aux ? -1 : 1;
	return (s->cell > t->cell) - (s->cell < t->cell);
}

/* Finds a LOD or STAT in the file and returns the number of matches. Concatenated logs have several, each of
 * a part of the span. 0: it is lost, which was reported, or its span was incomplete. */
static size_t find_items(const struct check *c, const struct log_item *key, struct log_item **first)
{
	struct log_item *end = c->items.p + c->items.n, *i = c->items.p;
	size_t n = 0;

	i = i ? bsearch(key, i, c->items.n, sizeof(*key), by_key) : NULL;
	while (i && i > c->items.p && by_key(i - 1, key) == 0)
		i--;
	*first = i;
	for (; i && i + n < end && by_key(i + n, key) == 0; n++)
		;
	return n;
}

/* Compares a chunk that was made again from the rows with that of the file. */
static bool compare(void *to, const struct log_entry *e, const uint8_t *chunk, size_t n)
{
	struct check *c = to;
	struct log_item key = {.kind = e->kind, .cell = e->cell};
	struct log_item *item;
	struct log_head h;
	bool same;
	size_t there;

	(void)n;
	if ((e->kind != LOG_LOD && e->kind != LOG_STAT) || !log_head_get(chunk, &h) ||
	    log_unpack(c->r->unpacker, &h, chunk + LOG_HEAD, &c->again) != LOG_OK || c->again.n == 0)
		return true;
	key.aux = c->again.p[0];
	there = find_items(c, &key, &item);
	for (size_t i = 0; i < there; i++)
		item[i].before[0] = 1;
	if (there != 1 || !log_read_chunk(c->r, item, &h, &c->file))
		return true;
	same = e->kind == LOG_LOD ? same_bins(&c->file, &c->again) : same_stats(&c->file, &c->again);
	if (!same)
		report(c, _("the %s at offset %llu is not that of the rows"), e->kind == LOG_LOD ? "LOD" : "STAT",
		       (unsigned long long)item->at);
	return true;
}

static void check_unmade(struct check *c)
{
	for (size_t i = 0; i < c->items.n; i++) {
		const struct log_item *item = &c->items.p[i];

		if ((item->kind == LOG_LOD || item->kind == LOG_STAT) && item->aux && !item->before[0])
			report(c, _("the %s at offset %llu is of a span without rows"),
			       item->kind == LOG_LOD ? "LOD" : "STAT", (unsigned long long)item->at);
	}
}

/* --- rows --- */

static bool push_rows(struct check *c, struct log_builder *b, enum tier tier, uint64_t *row, uint64_t end)
{
	const struct session *s = &c->r->session;
	size_t width = s->width[tier];
	double *values = malloc((width * BATCH + 1) * sizeof(*values)), column[BATCH];
	int64_t t_ns[BATCH];
	struct gap late[BATCH];

	for (size_t n; values && *row < end; *row += n) {
		n = end - *row < BATCH ? (size_t)(end - *row) : BATCH;
		log_reader_times(c->r, tier, *row, n, t_ns);
		for (size_t k = 0; k < s->n_channels; k++) {
			if (s->channels[k].tier != tier)
				continue;
			log_reader_values(c->r, k, *row, n, column);
			for (size_t i = 0; i < n; i++)
				values[i * width + s->channels[k].column] = column[i];
		}
		for (size_t i = 0, n_late = log_reader_late(c->r, tier, *row, n, late); i < n_late; i++)
			log_builder_gap(b, &late[i]);
		log_builder_rows(b, &(struct rows) {tier, n, width, t_ns, values});
	}
	free(values);
	return values != NULL;
}

/* Returns the time of the oldest row that is not pushed yet, or INT64_MAX if there is none. */
static int64_t oldest(struct check *c, const uint64_t row[TIERS])
{
	int64_t ns, first = INT64_MAX;

	for (enum tier t = 0; t < TIERS; t++) {
		if (row[t] >= log_reader_rows(c->r, t))
			continue;
		log_reader_times(c->r, t, row[t], 1, &ns);
		first = ns < first ? ns : first;
	}
	return first;
}

static int check_rows(struct check *c, struct err *e)
{
	const struct log_options options = {.index = true};
	struct log_builder *b = log_builder_new(&c->r->session, &options, compare, c, e);
	double span = (double)(c->r->last_ns - c->r->first_ns + 1);
	uint64_t row[TIERS] = {0};
	int64_t at = oldest(c, row), next;
	bool ok = b != NULL;

	if (c->items.n > 1)
		qsort(c->items.p, c->items.n, sizeof(*c->items.p), by_key);
	while (ok && at <= c->r->last_ns && at < INT64_MAX - WINDOW_NS &&
	       goes_on(c, 0.3 + 0.7 * (double)(at - c->r->first_ns) / span)) {
		at += WINDOW_NS;
		for (enum tier t = 0; ok && t < TIERS; t++)
			ok = push_rows(c, b, t, &row[t], log_reader_row_from(c->r, t, at));
		log_builder_run(b, at);
		next = oldest(c, row);
		at = next > at ? next : at;
	}
	if (ok && !c->stopped) {
		log_builder_end(b, LOG_STOPPED, NULL);
		check_unmade(c);
	}
	log_builder_free(b);
	return ok ? 0 : err_set(e, ERR_FAILED, _("out of memory"));
}

static void check_counts(struct check *c)
{
	struct log_tail tail;
	size_t marks;

	log_reader_tail(c->r, &tail);
	log_reader_marks(c->r, &marks);
	c->out->marks = marks;
	for (enum tier t = 0; t < TIERS; t++)
		c->out->rows[t] = log_reader_rows(c->r, t);
	if (!tail.ended)
		report(c, _("it has no END: the recording was interrupted"));
	if (tail.torn > 0 && !tail.other)
		report(c, _("the last %llu bytes are no chunk"), (unsigned long long)tail.torn);
}

static int check_log(struct check *c, int fd, uint64_t from, const char *shown, struct err *e)
{
	char text[512];
	int rc;

	c->r = log_reader_open(fd, from, shown, e);
	if (!c->r)
		return -1;
	check_chunks(c);
	rc = check_rows(c, e);
	check_counts(c);
	if (log_damage_text(c->r, text, sizeof(text)))
		report(c, "%s", text);
	c->out->unknown = c->r->damage.unknown;
	log_bytes_free(&c->file);
	log_bytes_free(&c->again);
	free(c->items.p);
	log_reader_close(c->r);
	return rc;
}

/* --- version 1 --- */

static void found_damage(void *to, const char *text)
{
	report(to, "%s", text);
}

static bool import_goes_on(void *of, double done)
{
	return goes_on(of, done);
}

static int check_version1(struct check *c, int fd, const char *shown, struct err *e)
{
	struct nvmt1_import import = {.found = found_damage, .progress = import_goes_on, .of = c};
	int rc = nvmt1_import(fd, shown, &import, e);

	memcpy(c->out->rows, import.rows, sizeof(import.rows));
	c->out->marks = import.marks;
	c->out->version1 = true;
	return rc;
}

int trace_check(const char *path, void (*found)(void *to, const char *text), void *to,
		bool (*progress)(void *arg, double done), void *arg, struct checked *out, struct err *e)
{
	struct check c = {.found = found, .to = to, .progress = progress, .arg = arg, .out = out};
	char shown[512];
	int fd, rc;

	memset(out, 0, sizeof(*out));
	text_printable(shown, sizeof(shown), path, strlen(path));
	fd = trace_file_open(path, shown, e);
	if (fd < 0)
		return -1;
	if (nvmt1_begins(fd)) {
		rc = check_version1(&c, fd, shown, e);
		close(fd);
	} else {
		rc = check_log(&c, fd, 0, shown, e);
	}
	if (rc == 0 && c.stopped)
		return err_set(e, ERR_FAILED, _("stopped: %s was not checked to its end"), shown);
	return rc;
}
