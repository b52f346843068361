/* processes-order: which processes are listed, and in what order.
 *
 * The order changes only with a new reading, so that a process does not move while the user
 * selects it. */
#include "ui/processes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool passes(const struct processes *ps, const struct proc *p)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", p->pid);
	return strcasestr(p->command, ps->filter) || strcasestr(p->name, ps->filter) || strcasestr(p->user, ps->filter) ||
	       !strcmp(pid, ps->filter);
}

/* Larger first, unknown last. */
static int falling(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) - isnan(b);
	return (a < b) - (a > b);
}

static int compare(const struct proc *a, const struct proc *b, enum proc_sort by)
{
	int c = 0;

	switch (by) {
	case PROC_BY_GPU:
		c = b->gpu - a->gpu;
		if (!c && a->gpu)
			c = falling(a->gpu_kb, b->gpu_kb);
		if (!c)
			c = falling(a->cpu, b->cpu);
		break;
	case PROC_BY_CPU:
		c = falling(a->cpu, b->cpu);
		break;
	case PROC_BY_MEMORY:
		c = falling(a->rss_kb, b->rss_kb);
		break;
	case PROC_BY_PID:
		break;
	}
	return c ? c : (a->pid > b->pid) - (a->pid < b->pid);
}

/* qsort() passes no context to the comparison; the screen has one thread. */
static const struct proc *sorted;
static enum proc_sort sorted_by;

static int compare_order(const void *a, const void *b)
{
	const struct proc_line *x = a, *y = b;

	return compare(&sorted[x->at], &sorted[y->at], sorted_by);
}

/* Add the children of `parent` in list order; returns the number of lines. */
static int grow(const struct proc *procs, const struct proc_line *flat, int n, struct proc_line *out,
		int used, unsigned char *taken, int parent, int depth)
{
	for (int i = 0; i < n; i++) {
		const struct proc *p = &procs[flat[i].at];

		if (taken[i] || p->parent != parent || p->pid == p->parent)
			continue;
		taken[i] = 1;
		out[used] = flat[i];
		out[used++].depth = (unsigned char)depth;
		if (depth < PROC_DEPTH_MAX)
			used = grow(procs, flat, n, out, used, taken, p->pid, depth + 1);
	}
	return used;
}

static bool is_there(const struct proc *procs, const struct proc_line *flat, int n, int pid)
{
	for (int i = 0; i < n; i++)
		if (procs[flat[i].at].pid == pid)
			return true;
	return false;
}

/* Put parents before their children. A process whose parent is not listed becomes a root. */
static void make_tree(struct processes *ps, const struct proc *procs)
{
	int n = ps->n, used = 0;
	struct proc_line *out = malloc((size_t)n * sizeof(*out));
	unsigned char *taken = calloc((size_t)n, 1);

	for (int i = 0; out && taken && i < n; i++) {
		const struct proc_line *l = &ps->line[i];

		if (taken[i] || is_there(procs, ps->line, n, procs[l->at].parent))
			continue;
		taken[i] = 1;
		out[used] = *l;
		out[used++].depth = 0;
		used = grow(procs, ps->line, n, out, used, taken, procs[l->at].pid, 1);
	}
	/* Processes below the maximum depth, or in a cycle (the list is not read atomically). */
	for (int i = 0; out && taken && i < n; i++)
		if (!taken[i])
			out[used++] = ps->line[i];
	if (out && taken)
		memcpy(ps->line, out, (size_t)n * sizeof(*out));
	free(out);
	free(taken);
}

int processes_busiest(const struct procs_list *l, size_t *at, int n)
{
	int used = 0;

	for (size_t i = 0; i < l->n; i++) {
		int k;

		if (l->procs[i].kernel)
			continue;
		if (used < n)
			used++;
		else if (compare(&l->procs[i], &l->procs[at[n - 1]], PROC_BY_GPU) > 0)
			continue;
		for (k = used - 1; k > 0 && compare(&l->procs[i], &l->procs[at[k - 1]], PROC_BY_GPU) < 0; k--)
			at[k] = at[k - 1];
		at[k] = i;
	}
	return used;
}

void processes_order(struct processes *ps, const struct ui_scene *s)
{
	const struct procs_list *l = s->procs;
	struct proc_line *line;

	if (!l || (ps->serial == s->procs_serial && !ps->again))
		return;
	ps->n = ps->hidden = 0;
	line = realloc(ps->line, (l->n + 1) * sizeof(*line));
	if (!line)
		return;
	ps->line = line;
	ps->serial = s->procs_serial;
	ps->again = false;
	for (size_t i = 0; i < l->n && i < 100000; i++)
		if (l->procs[i].kernel && !ps->kernel)
			ps->hidden++;
		else if (passes(ps, &l->procs[i]))
			line[ps->n++] = (struct proc_line) {
				.at = i, .pid = l->procs[i].pid, .start = l->procs[i].start};
	sorted = l->procs;
	sorted_by = ps->sort;
	if (ps->n > 1)
		qsort(line, (size_t)ps->n, sizeof(*line), compare_order);
	if (ps->tree && ps->n > 1)
		make_tree(ps, l->procs);
}
