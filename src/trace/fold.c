/* The fold of the live history, for many rows at once: values are added in time
 * order within a column of the tier's base zoom, and a column of any other zoom
 * is the merge of its two halves.  So the sums are equal to the last bit,
 * whoever computed them. */
#include "trace/fold.h"

/* The columns of `levels` zooms from base up end: each goes into the next
 * coarser. */
static void fold_close(struct fold *f, int base, int levels)
{
	struct bin *b = &f->level[base];

	for (int k = 0; k < levels; k++, b++) {
		if (b[0].n == 0)
			continue;
		if (b[1].n == 0)
			b[1] = b[0];
		else
			bin_merge(&b[1], &b[0]);
		b[0].n = 0;
	}
}

/* How many levels a step from one base column to another closes. */
static int levels_closed(int64_t from, int64_t to, int most)
{
	uint64_t differs = (uint64_t)(from ^ to);
	int n = differs ? 64 - __builtin_clzll(differs) : 0;

	return n < most ? n : most;
}

void plan_init(struct plan *p, int base, int top, int64_t first_ns)
{
	p->base = base;
	p->top = top;
	p->mid = top < base + 6 ? top : base + 6;
	p->row_by_row = false;
	p->column = first_ns >> base;
}

/* Entry i is of column `column` of zoom `from`. */
static void plan_left(struct plan *p, size_t i, int64_t column, int from)
{
	int64_t before = p->column >> (from - p->base);

	p->before[i] = before >> (p->top - from);
	p->close[i] = (unsigned char)levels_closed(before, column, p->top - from + 1);
	p->column = column * (INT64_C(1) << (from - p->base));
}

/* How many of n rows end with a column of zoom mid; all when they are the last.
 */
static size_t plan_cut(const struct plan *p, const int64_t *t_ns, size_t n, bool last)
{
	size_t rows = n;

	while (!last && rows > 0 && t_ns[rows - 1] >> p->mid == t_ns[n - 1] >> p->mid)
		rows--;
	return rows;
}

static void plan_pairs(struct plan *p, const int64_t *t_ns)
{
	p->n_left = p->n_merges = 0;
	for (size_t i = 0; i < p->rows; i++) {
		bool again = i > 0 && t_ns[i] >> p->base == t_ns[i - 1] >> p->base;

		p->leader[i] = again ? p->leader[i - 1] : (uint16_t)i;
		if (!again)
			p->left[p->n_left++] = (uint16_t)i;
	}
	for (int zoom = p->base + 1; zoom <= p->mid; zoom++) {
		size_t kept = 0;

		for (size_t i = 0; i < p->n_left; i++) {
			if (kept > 0 && t_ns[p->left[kept - 1]] >> zoom == t_ns[p->left[i]] >> zoom) {
				p->merge[p->n_merges].to = p->left[kept - 1];
				p->merge[p->n_merges++].from = p->left[i];
			} else {
				p->left[kept++] = p->left[i];
			}
		}
		p->n_left = kept;
	}
	for (size_t i = 0; i < p->n_left; i++)
		plan_left(p, i, t_ns[p->left[i]] >> p->mid, p->mid);
}

/* Plan for the first rows of n; p->rows says how many. */
void plan_make(struct plan *p, const int64_t *t_ns, size_t n, bool last)
{
	p->rows = p->row_by_row ? 0 : plan_cut(p, t_ns, n, last);
	if (p->rows > 0) {
		plan_pairs(p, t_ns);
		return;
	}
	p->row_by_row = true; /* from here on: columns below mid stay open between plans */
	p->rows = p->n_left = n;
	for (size_t i = 0; i < n; i++)
		plan_left(p, i, t_ns[i] >> p->base, p->base);
}

static void merge(struct bin *b, const struct bin *later)
{
	if (b->n == 0)
		*b = *later;
	else if (later->n > 0)
		bin_merge(b, later);
}

/* Close what ends before entry i; a column of zoom top that is complete goes to
 * out, whose first one is column `first`. */
static void fold_step(struct fold *f, const struct plan *p, size_t i, int from, struct bin *out,
		      int64_t first)
{
	int close = p->close[i];

	if (close > p->top - from) {
		fold_close(f, from, p->top - from);
		out[p->before[i] - first] = f->level[p->top];
		f->level[p->top].n = 0;
	} else if (close > 0) {
		fold_close(f, from, close);
	}
}

void fold_values(struct fold *f, const struct plan *p, const double *v, struct bin *out, int64_t first)
{
	struct bin bins[STEP];

	if (p->row_by_row) {
		for (size_t i = 0; i < p->rows; i++) {
			fold_step(f, p, i, p->base, out, first);
			bin_add(&f->level[p->base], v[i]);
		}
		return;
	}
	for (size_t i = 0; i < p->rows; i++) {
		if (p->leader[i] == i)
			bins[i] = (struct bin) {v[i], v[i], v[i], v[i] == v[i]}; /* NaN is none */
		else
			bin_add(&bins[p->leader[i]], v[i]);
	}
	for (size_t i = 0; i < p->n_merges; i++)
		merge(&bins[p->merge[i].to], &bins[p->merge[i].from]);
	for (size_t i = 0; i < p->n_left; i++) {
		fold_step(f, p, i, p->mid, out, first);
		merge(&f->level[p->mid], &bins[p->left[i]]);
	}
}

void fold_end(struct fold *f, const struct plan *p, struct bin *out, int64_t first)
{
	fold_close(f, p->base, p->top - p->base);
	out[(p->column >> (p->top - p->base)) - first] = f->level[p->top];
}
