/* Memory from /proc/meminfo.  Used is what is not available: on a Jetson the
 * GPU's buffers are in it, and what the kernel would give back is not. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "util/clock.h"
#include "util/intl.h"
#include "util/num.h"
#include "probe/open.h"

#define PATH    "/proc/meminfo"
#define READ_NS (10 * NS_PER_MS)

struct meminfo {
	struct file_probe file;
	const char *whole, *free; /* the two lines that count */
	uint16_t used_column, free_column;
	bool swap;
};

/* The number behind "name:" at the start of a line. */
static double field(const char *text, const char *end, const char *name)
{
	size_t len = strlen(name);
	int64_t v;

	for (const char *p = text; p && p < end; p = memchr(p, '\n', (size_t)(end - p))) {
		p += *p == '\n';
		if ((size_t)(end - p) <= len || memcmp(p, name, len) != 0)
			continue;
		return num_i64(p + len, end, &v) && v >= 0 ? (double)v : NAN;
	}
	return NAN;
}

static bool take(struct meminfo *m, double *whole, double *available)
{
	char buf[4096];
	ssize_t n = attr_read(&m->file.attr, m->file.root, buf, sizeof buf);

	if (n <= 0)
		return false;
	*whole = field(buf, buf + n, m->whole);
	*available = field(buf, buf + n, m->free);
	return *available <= *whole; /* false for NaN, too */
}

static void meminfo_read(struct probe *p, int64_t t_ns, double *row)
{
	struct meminfo *m = (struct meminfo *)p;
	double whole, available;

	(void)t_ns;
	if (!take(m, &whole, &available))
		whole = available = NAN;
	row[m->used_column] = whole - available;
	if (!m->swap)
		row[m->free_column] = available;
}

static const struct probe_ops meminfo_ops = {meminfo_read, file_probe_close};

static int add(struct probe_ctx *o, const char *name, struct meminfo *m, const struct reason *why,
	       double whole, uint16_t *column, struct err *e)
{
	struct channel ch;

	channel_describe(o, &ch, name, false);
	ch.unit = UNIT_KB;
	ch.family = FAMILY_MEMORY;
	ch.lo = 0;
	ch.hi = whole;
	ch.period_ns = READ_NS;
	snprintf(ch.source, sizeof ch.source, "%s %s", PATH, m->free);
	if (strstr(name, "used"))
		snprintf(ch.source, sizeof ch.source, "%s %s - %s", PATH, m->whole, m->free);
	if (why)
		reason_set(why, o, &ch);
	return probe_ctx_column(o, &ch, column, e);
}

static int open_meminfo(struct probe_ctx *o, bool swap, struct err *e)
{
	struct meminfo *m = probe_new(o, sizeof *m, &meminfo_ops, READ_NS, e);
	struct reason why = {.denied = false};
	double whole = NAN, available = NAN;
	bool good = false;

	if (!m)
		return -1;
	m->file.root = o->root;
	m->swap = swap;
	m->whole = swap ? "SwapTotal:" : "MemTotal:";
	m->free = swap ? "SwapFree:" : "MemAvailable:";
	if (attr_open(&m->file.attr, o->root, PATH) < 0) {
		reason_add(&why, PATH, errno);
	} else if (!(good = take(m, &whole, &available))) {
		char what[64];
		snprintf(what, sizeof what, "%s %s", PATH, m->free);
		reason_add(&why, what, ENOENT);
	}
	if (swap && good && whole == 0) {
		file_probe_close(&m->file.probe); /* no swap here: nothing to read */
		return 0;
	}
	int added = add(o, swap ? "swap.used" : "ram.used", m, good ? NULL : &why, whole, &m->used_column, e);
	if (!swap && added == 0)
		added = add(o, "ram.available", m, good ? NULL : &why, whole, &m->free_column, e);
	return probe_ctx_finish(o, &m->file.probe, added, good, e);
}

/* What the GPU and the engines hold, where the driver counts it. */
struct nvmap {
	struct file_probe file;
	uint16_t column;
};

static double nvmap_value(struct nvmap *m)
{
	char buf[4096];
	ssize_t n = attr_read(&m->file.attr, m->file.root, buf, sizeof buf);

	return n > 0 ? field(buf, buf + n, "NvMapMemUsed:") : NAN;
}

static void nvmap_read(struct probe *p, int64_t t_ns, double *row)
{
	struct nvmap *m = (struct nvmap *)p;

	(void)t_ns;
	row[m->column] = nvmap_value(m);
}

static const struct probe_ops nvmap_ops = {nvmap_read, file_probe_close};

static int open_nvmap(struct probe_ctx *o, struct err *e)
{
	bool optional = o->s->n_words > 0;
	struct reason why = {.denied = false};
	struct channel ch;

	if (optional && strcmp(o->s->words[0], "optional") != 0)
		return statement_error(o->s, e, _("only \"optional\" may follow \"nvmap\""));
	struct nvmap *m = probe_new(o, sizeof *m, &nvmap_ops, 0, e);
	if (!m)
		return -1;
	m->file.root = o->root;
	bool found = attr_open(&m->file.attr, o->root, PATH) == 0 && !isnan(nvmap_value(m));
	if (!found && optional) {
		file_probe_close(&m->file.probe);
		return 0;
	}
	channel_describe(o, &ch, "nvmap.used", false);
	ch.unit = UNIT_KB;
	ch.family = FAMILY_MEMORY;
	ch.lo = 0;
	if (!setting_get(o->s, "label"))
		snprintf(ch.label, sizeof ch.label, "%s", _("GPU memory"));
	snprintf(ch.source, sizeof ch.source, "%s NvMapMemUsed", PATH);
	if (!found) {
		reason_add(&why, PATH " NvMapMemUsed", ENOENT);
		reason_set(&why, o, &ch);
	}
	int added = probe_ctx_column(o, &ch, &m->column, e);

	return probe_ctx_finish(o, &m->file.probe, added, found, e);
}

const struct probe_kind probe_kind_nvmap = {"nvmap", 0, 1, " hint ", false, false, open_nvmap};

static int open_ram(struct probe_ctx *o, struct err *e)
{
	return open_meminfo(o, false, e);
}

const struct probe_kind probe_kind_ram = {"ram", 0, 0, " hint ", false, false, open_ram};

static int open_swap(struct probe_ctx *o, struct err *e)
{
	return open_meminfo(o, true, e);
}

const struct probe_kind probe_kind_swap = {"swap", 0, 0, " hint ", false, false, open_swap};
