/* test-stream: a sink that holds what comes out of a stream against what went in. */
#ifndef TEST_STREAM_H
#define TEST_STREAM_H

#include "test-trace.h"

/* --- a sink that compares --- */

struct checker {
	struct sink sink;
	const struct script *script;
	uint64_t rows[TIERS], wrong, gaps, missed, marks, ends, skipped;
	int64_t last_ns[TIERS];
	size_t at[TIERS];
	struct mark mark[8];
	int64_t mark_after_ns[8]; /* the last fast row before it */
	unsigned begins;
	bool begun, exact;
};

static int check_begin(struct sink *s, const struct session *about, struct err *e)
{
	struct checker *c = (struct checker *)s;
	const struct session *was = &c->script->session;

	(void)e;
	c->begun = true;
	c->begins++;
	assert_int_equal(about->n_channels, was->n_channels);
	assert_int_equal(about->n_facts, was->n_facts);
	assert_memory_equal(&about->start, &was->start, sizeof(was->start));
	for (size_t i = 0; i < was->n_channels; i++) {
		assert_string_equal(about->channels[i].name, was->channels[i].name);
		assert_int_equal(about->channels[i].kind, was->channels[i].kind);
		assert_int_equal(about->channels[i].column, was->channels[i].column);
	}
	for (int t = 0; t < TIERS; t++) {
		assert_int_equal(about->width[t], was->width[t]);
		assert_true(about->hz[t] == was->hz[t]);
	}
	return 0;
}

static bool same(double a, double b)
{
	return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof(a)) == 0;
}

static void check_rows(struct sink *s, const struct rows *r)
{
	struct checker *c = (struct checker *)s;
	const struct script *w = c->script;
	enum tier t = r->tier;

	for (size_t i = 0; i < r->n; i++) {
		assert_true(r->t_ns[i] > c->last_ns[t]);
		c->last_ns[t] = r->t_ns[i];
		while (c->at[t] < w->n[t] && w->t_ns[t][c->at[t]] < r->t_ns[i]) {
			c->at[t]++;
			c->skipped++;
		}
		c->rows[t]++;
		if (c->at[t] == w->n[t] || w->t_ns[t][c->at[t]] != r->t_ns[i]) {
			c->wrong++;
			continue;
		}
		for (size_t k = 0; k < r->width; k++) {
			double is = r->values[i * r->width + k], was = w->values[t][c->at[t] * r->width + k];

			/* Damage may cost values, and must not change them. */
			if (!same(is, was) && (c->exact || !isnan(is)))
				c->wrong++;
		}
		c->at[t]++;
	}
}

static void check_mark(struct sink *s, const struct mark *m)
{
	struct checker *c = (struct checker *)s;

	if (c->marks < 8) {
		c->mark[c->marks] = *m;
		c->mark_after_ns[c->marks] = c->last_ns[TIER_FAST];
	}
	c->marks++;
}

static void check_gap(struct sink *s, const struct gap *g)
{
	struct checker *c = (struct checker *)s;

	c->gaps++;
	if (g->cause == GAP_LOST)
		c->missed += g->missed;
}

static int check_end(struct sink *s, struct err *e)
{
	(void)e;
	((struct checker *)s)->ends++;
	return 0;
}

static struct sink *checker_init(struct checker *c, const struct script *script)
{
	static const struct sink_ops ops = {check_begin, check_rows, check_mark, check_gap, check_end, NULL, NULL};

	memset(c, 0, sizeof(*c));
	c->sink.ops = &ops;
	c->script = script;
	c->exact = true;
	return &c->sink;
}

static uint8_t *load(const char *path, size_t *n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	off_t size = lseek(fd, 0, SEEK_END);
	uint8_t *p = malloc((size_t)size + 1);

	assert_int_equal(pread(fd, p, (size_t)size, 0), size);
	close(fd);
	*n = (size_t)size;
	return p;
}

static void store(const char *path, const uint8_t *p, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_int_equal(write(fd, p, n), (ssize_t)n);
	close(fd);
}

/* Whether rows that are there have the values that went in, or none.  How many of the
 * GPU's have none although there was one. */
static size_t unpacked_is_true(const struct script *s, struct trace *t)
{
	struct timeline *tl = trace_timeline(t);
	const struct session *about = tl->ops->session(tl);
	size_t missing = 0;

	assert_int_equal(about->n_channels, s->session.n_channels);
	for (size_t i = 0; i < s->session.n_channels; i++) {
		const struct channel *c = &s->channels[i];

		for (size_t r = 0; r < s->n[c->tier]; r++) {
			int64_t at;
			double v = tl->ops->value(tl, i, s->t_ns[c->tier][r], &at);
			double was = s->values[c->tier][r * s->session.width[c->tier] + c->column];

			if (at != s->t_ns[c->tier][r])
				continue;
			assert_true(isnan(v) || same(v, was));
			missing += c->kind == CHANNEL_GPU_UTIL && isnan(v) && !isnan(was);
		}
	}
	return missing;
}

#endif
