/* The directory is never read as a whole, and counters_reset never at all: reading it clears the
 * counters for every reader.
 *
 * Reading counters or load marks a GPU that is awake as in use, for half a second: reading more often
 * than twice a second keeps it awake. A sleeping GPU is not woken, and the other files here do neither. */
#include "probe/nvgpu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/clock.h"
#include "util/num.h"

#define CYCLES_NS 2.5 /* of the fastest clock that any of them can be thought to have */

void nvgpu_where(struct nvgpu_where *w, const struct statement *s)
{
	w->n = 0;
	for (size_t i = 0; i < s->n_settings && w->n < NVGPU_CANDIDATES; i++) {
		const struct setting *t = &s->settings[i];
		struct nvgpu_candidate *c = &w->at[w->n];
		bool devfreq = !strcmp(t->key, "devfreq");
		if (!devfreq && strcmp(t->key, "dir") != 0)
			continue;
		c->devfreq = devfreq;
		if (text_join(c->name, sizeof c->name, t->value, "", "") < sizeof c->name)
			w->n++;
	}
}

static bool named(const struct nvgpu_where *w, const char *device)
{
	const char *dot = strchr(device, '.');

	for (size_t i = 0; dot && i < w->n; i++)
		if (w->at[i].devfreq && (!strcmp(dot + 1, w->at[i].name) || !strcmp(device, w->at[i].name)))
			return true;
	return false;
}

bool nvgpu_expected(const struct nvgpu_where *w, const struct root *r)
{
	char **names;
	size_t n;
	bool found = false;

	if (root_list(r, "/sys/bus/platform/devices", &names, &n) < 0)
		return false;
	for (size_t i = 0; i < n && !found; i++)
		found = named(w, names[i]); /* "17000000.gpu" */
	free(names);
	return found;
}

void nvgpu_init(struct nvgpu *g)
{
	memset(g, 0, sizeof *g);
	g->attr.fd = g->powered.fd = g->slept.fd = -1;
	g->cycles_ns = CYCLES_NS;
}

void nvgpu_close(struct nvgpu *g)
{
	attr_close(&g->attr);
	attr_close(&g->powered);
	attr_close(&g->slept);
}

bool nvgpu_counters(struct nvgpu *g, int64_t *busy, int64_t *total)
{
	char buf[64];
	ssize_t n = attr_read(&g->attr, g->root, buf, sizeof buf);
	const char *p;

	if (n < 0)
		return false;
	errno = EINVAL;
	p = num_i64(buf, buf + n, busy);
	return p && num_i64(p, buf + n, total) && *busy >= 0 && *total >= 0;
}

bool nvgpu_load(struct nvgpu *g, double *percent)
{
	double permille;

	if (!attr_number(&g->attr, g->root, &permille))
		return false;
	errno = EINVAL;
	*percent = permille / 10;
	return permille >= 0 && permille <= 1000;
}

bool nvgpu_off(struct nvgpu *g)
{
	char buf[16] = "";

	if (!attr_is_open(&g->powered) || attr_read(&g->powered, g->root, buf, sizeof buf - 1) <= 0)
		return false;
	if (g->railgated)
		return !strncmp(buf, "yes", 3);
	return buf[0] == '0' || !strncmp(buf, "off", 3);
}

int64_t nvgpu_slept(struct nvgpu *g)
{
	double ms;

	if (!attr_is_open(&g->slept) || !attr_number(&g->slept, g->root, &ms))
		return -1;
	return (int64_t)ms;
}

static bool open_below(const struct nvgpu *g, struct attr *a, const char *file)
{
	char path[192];

	if (text_join(path, sizeof path, g->dir, "/", file) >= sizeof path) {
		errno = ENAMETOOLONG;
		return false;
	}
	return attr_open(a, g->root, path) == 0;
}

bool nvgpu_open(struct nvgpu *g, const struct root *r, const char *dir, bool counters)
{
	nvgpu_close(g);
	g->root = r;
	g->counters = counters;
	if (dir != g->dir)
		text_join(g->dir, sizeof g->dir, dir, "", "");
	if (!open_below(g, &g->attr, counters ? "counters" : "load"))
		return false;
	g->railgated = false;
	if (!open_below(g, &g->powered, "gpu_powered_on"))
		g->railgated = open_below(g, &g->powered, "is_railgated");
	open_below(g, &g->slept, "power/runtime_suspended_time");
	return true;
}

/* The highest of available_frequencies, as cycles in a nanosecond. */
static double fastest(const struct nvgpu *g)
{
	char path[256], **names, text[1024];
	size_t n;
	int64_t hz, most = 0;

	text_join(path, sizeof path, g->dir, "/devfreq", "");
	if (root_list(g->root, path, &names, &n) < 0)
		return CYCLES_NS;
	for (size_t i = 0; i < n; i++) {
		snprintf(path, sizeof path, "%s/devfreq/%.40s/available_frequencies", g->dir, names[i]);
		ssize_t len = root_read(g->root, path, text, sizeof text);
		for (const char *p = text; len > 0 && (p = num_i64(p, text + len, &hz));)
			most = hz > most ? hz : most;
	}
	free(names);
	/* A little more, for clocks that the list rounds. */
	return most > 100000000 && most < 5000000000 ? (double)most * 1.02e-9 : CYCLES_NS;
}

/* Do they count?  While the GPU is off ("0 0") the question stays open. */
static bool counters_move(struct nvgpu *g)
{
	int64_t busy, first, total;
	struct timespec wait = {.tv_nsec = 2 * NS_PER_MS};

	if (!nvgpu_counters(g, &busy, &first))
		return false;
	if (busy == 0 && first == 0)
		return true;
	nanosleep(&wait, NULL);
	return nvgpu_counters(g, &busy, &total) && total != first;
}

static bool try_dir(struct nvgpu *g, const struct root *r, const char *dir, int64_t interval_ns,
		    struct reason *why)
{
	double percent;
	char what[192];

	if (nvgpu_open(g, r, dir, true)) {
		g->cycles_ns = fastest(g);
		if ((double)interval_ns * g->cycles_ns < (double)NVGPU_MASK && counters_move(g))
			return true;
	}
	if (nvgpu_open(g, r, dir, false) && (nvgpu_load(g, &percent) || errno == EAGAIN))
		return true;
	text_join(what, sizeof what, dir, "/load", "");
	reason_add(why, what, errno);
	nvgpu_close(g);
	return false;
}

bool nvgpu_find(struct nvgpu *g, const struct root *r, const struct nvgpu_where *w, int64_t interval_ns,
		struct reason *why)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct nvgpu_candidate *c = &w->at[i];
		char text[160];
		struct place place;
		if (!c->devfreq) {
			if (try_dir(g, r, c->name, interval_ns, why))
				return true;
			continue;
		}
		text_join(text, sizeof text, c->name, "/", "device");
		if (!place_set(&place, "devfreq", text) || place_find(&place, r, "") < 0) {
			text_join(text, sizeof text, "devfreq ", c->name, "");
			reason_add(why, text, ENOENT);
			continue;
		}
		text_join(text, sizeof text, place.dir, "/device", "");
		if (try_dir(g, r, text, interval_ns, why))
			return true;
	}
	return false;
}
