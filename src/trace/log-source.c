/* The bytes of a log, by position. Heads and chunks are mostly read in order: then more and more is read at once. Elsewhere
 * what is around a place is read with it: what leads there, and what it leads to, are mostly near. */
#include <stdlib.h>

#include "trace/log-source.h"
#include "util/io.h"

#define PAGE  4096
#define BEFORE ((size_t)12 << 10)
#define AFTER  ((size_t)32 << 10)
#define AHEAD  ((size_t)128 << 10)
#define NEAR  ((size_t)64 << 10) /* so far after the last bytes is still in order */
#define FIND  ((size_t)64 << 10)

static ssize_t file_read(const struct log_file *f, uint8_t *to, size_t n, uint64_t at)
{
	size_t done = 0;

	for (size_t i = 0; done < n && i < f->n_pieces; i++) {
		const struct log_piece *p = &f->pieces[i];
		uint64_t from = at + done - p->at;
		size_t want;
		ssize_t got;

		if (from >= p->size)
			continue;
		want = p->size - from < n - done ? (size_t)(p->size - from) : n - done;
		got = read_all(p->fd, to + done, want, from);
		done += got > 0 ? (size_t)got : 0;
		if (got < 0 || (size_t)got < want)
			break; /* truncated since */
	}
	return (ssize_t)done;
}

static const uint8_t *file_get(struct log_source *source, uint64_t at, size_t n)
{
	struct log_file *f = (struct log_file *)(void *)source;
	bool on = at >= f->next && at - f->next <= NEAR, there = false;
	uint64_t from, end;
	ssize_t got;

	if (n > source->size || at > source->size - n)
		return NULL;
	for (int i = 0; i < 2 && !there; i++) {
		struct log_window *w = &f->windows[f->last ^= i];

		there = at >= w->at && at + n <= w->at + w->bytes.n;
	}
	if (!there) {
		struct log_window *w = &f->windows[f->last];

		f->ahead = !on ? AFTER : f->ahead < AHEAD / 2 ? 2 * f->ahead : AHEAD;
		from = on ? at : at > BEFORE ? at - BEFORE : 0;
		from -= from % PAGE;
		end = at + (n > f->ahead ? n : f->ahead);
		end += PAGE - 1 - (end + PAGE - 1) % PAGE;
		w->at = from;
		w->bytes.n = 0;
		got = log_bytes_add(&w->bytes, (size_t)(end - from)) ? file_read(f, w->bytes.p, (size_t)(end - from), from) : -1;
		w->bytes.failed = false;
		w->bytes.n = got > 0 ? (size_t)got : 0;
		there = at + n <= w->at + w->bytes.n;
	}
	f->next = at + n;
	return there ? f->windows[f->last].bytes.p + (at - f->windows[f->last].at) : NULL;
}

void log_file_begin(struct log_file *f, const struct log_piece *pieces, size_t n)
{
	uint64_t size = n > 0 ? pieces[n - 1].at + pieces[n - 1].size : 0;

	*f = (struct log_file) {.source = {file_get, size}, .pieces = pieces, .n_pieces = n};
}

void log_file_end(struct log_file *f)
{
	log_bytes_free(&f->windows[0].bytes);
	log_bytes_free(&f->windows[1].bytes);
}

uint64_t log_source_find(struct log_source *s, uint32_t session, uint64_t at, uint64_t to)
{
	to = to < s->size ? to : s->size;
	while (at + LOG_HEAD <= to) {
		size_t n = to - at < FIND ? (size_t)(to - at) : FIND, found;
		const uint8_t *p = s->get(s, at, n);

		found = p ? log_find(p, n, session) : n - LOG_HEAD + 1;
		if (found + LOG_HEAD <= n)
			return at + found;
		at += n - LOG_HEAD + 1;
	}
	return at;
}

bool log_chunks_next(struct log_chunks *c, struct log_head *h, uint64_t *at)
{
	for (uint64_t to = c->to; c->at + LOG_HEAD <= to;) {
		const uint8_t *p = c->source->get(c->source, c->at, LOG_HEAD);

		if (!p || !log_head_get(p, h) || (c->session && h->session != c->session)) {
			/* The chunk before may be cut short: the next one is then within its length. */
			c->at = log_source_find(c->source, c->session, c->lost ? c->at + 1 : c->within, to);
			c->lost = true;
			continue;
		}
		if (h->stored > to - c->at - LOG_HEAD) {
			if (!c->whole)
				return false;
			c->at++;
			c->lost = true;
			continue;
		}
		*at = c->at;
		c->skipped = *at > c->end ? *at - c->end : 0;
		c->cut = *at < c->end;
		c->lost = false;
		c->within = *at + LOG_HEAD;
		c->at = c->end = c->within + h->stored;
		return true;
	}
	return false;
}

void log_chunks_begin(struct log_chunks *c, struct log_source *s, uint32_t session, uint64_t from, uint64_t to)
{
	*c = (struct log_chunks) {
		.source = s, .session = session, .at = from, .within = from, .end = from, .to = to, .whole = true};
}

bool log_first(int fd, struct log_head *out)
{
	uint8_t *p = malloc(LOG_FRONT);
	ssize_t n = p ? read_all(fd, p, LOG_FRONT, 0) : -1;
	size_t at = n >= LOG_HEAD ? log_find(p, (size_t)n, 0) : 0;
	bool found = n >= LOG_HEAD && at <= (size_t)n - LOG_HEAD && log_head_get(p + at, out);

	free(p);
	return found;
}
