/* Checks a recording: the checksum of each chunk, the order of its rows and events, and that there are as many rows as
 * its INDEX chunks count. A reader notes what is wrong with a chunk that it uses, so here all of them are used. */
#include "trace/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/intl.h"
#include "trace/log-read.h"
#include "trace/nvmt1.h"
#include "trace/trace-file.h"

struct check {
	void (*found)(void *to, const char *text);
	void *to;
	bool (*progress)(void *arg, double done);
	void *arg;
	bool stopped;
	struct checked *out;
};

static void check_found(void *of, const char *text)
{
	struct check *c = of;

	c->out->wrong++;
	c->found(c->to, text);
}

static bool check_goes_on(void *of, double done)
{
	struct check *c = of;

	c->stopped |= c->progress && !c->progress(c->arg, done);
	return !c->stopped;
}

static int check_log(struct check *c, int fd, const char *shown, struct err *e)
{
	struct trace *r = trace_open_logs(&fd, 1, shown, e);
	struct log_items items = {.n = 0};
	struct log_damage damage;
	struct log_head h;
	char text[512];
	size_t marks;

	if (!r)
		return -1;
	log_scan(r, r->begin, r->size, r->begin, &items);
	for (size_t i = 0; i < items.n && check_goes_on(c, 0.5 * (double)i / (double)items.n); i++)
		log_read_chunk(r, &items.p[i], &h);
	for (int t = 0; t < TIERS; t++) {
		const struct log_block *b;
		uint64_t n = r->rows[t], row = 0, first;

		c->out->rows[t] = n;
		for (; row < n && check_goes_on(c, 0.5 + 0.5 * ((double)row / (double)n + t) / TIERS); row = first + b->n)
			if (!(b = log_block_of(r, t, row, &first)))
				break;
	}
	while (!c->stopped && trace_ranges_more(&r->timeline))
		;
	trace_marks(r, &marks);
	trace_damage(r, &damage);
	c->out->chunks = items.n;
	c->out->unknown = damage.unknown;
	c->out->marks = marks;
	if (!c->stopped && !r->tail.ended)
		check_found(c, _("it has no END: the recording was interrupted"));
	if (!c->stopped && r->tail.torn > 0 && !r->tail.other) {
		snprintf(text, sizeof(text), _("the last %llu bytes are no chunk"), (unsigned long long)r->tail.torn);
		check_found(c, text);
	}
	if (!c->stopped && trace_damage_text(r, text, sizeof(text)))
		check_found(c, text);
	free(items.p);
	trace_close(r);
	return 0;
}

int trace_check(const char *path, void (*found)(void *to, const char *text), void *to,
		bool (*progress)(void *arg, double done), void *arg, struct checked *out, struct err *e)
{
	struct check c = {.found = found, .to = to, .progress = progress, .arg = arg, .out = out};
	struct nvmt1_import import = {.found = check_found, .progress = check_goes_on, .of = &c};
	struct trace_piece p;
	int rc;

	memset(out, 0, sizeof(*out));
	if (trace_piece_open(&p, path, e) < 0)
		return -1;
	out->version1 = p.version1;
	if (!p.version1) {
		rc = check_log(&c, p.fd, p.shown, e);
	} else {
		rc = nvmt1_import(p.fd, p.shown, &import, e);
		memcpy(out->rows, import.rows, sizeof(out->rows));
		out->marks = import.marks;
		close(p.fd);
	}
	return rc == 0 && c.stopped ? err_set(e, ERR_FAILED, _("stopped: %s was not checked to its end"), p.shown) : rc;
}
