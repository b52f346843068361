/* Which cores exist, which are online, and their idle time in /proc/stat. An offline core has no line
 * there, and lines are identified by the N of cpuN: they are not consecutive. */
#include <string.h>
#include <unistd.h>

#include "probe/cpu.h"
#include "util/num.h"

/* The fields behind "cpuN": the sum of all of them and of idle and iowait. */
static const char *parse_line(const char *p, const char *end, int64_t *total, int64_t *idle)
{
	int field = 0;
	int64_t v;

	*total = *idle = 0;
	while (p < end && *p != '\n') {
		p = num_i64(p, end, &v);
		if (!p || v < 0 || v > INT64_MAX / 16 || field >= 16)
			return NULL;
		*total = (int64_t)((uint64_t)*total + (uint64_t)v);
		if (field == 3 || field == 4)
			*idle += v;
		field++;
	}
	return field >= 4 && p < end ? p + 1 : NULL;
}

/* False when the text is not what it should be, or ends within the cpu lines
 * and is not the whole file. */
static bool parse(struct cpu_look *c, const char *p, const char *end, bool whole)
{
	int64_t total, idle, n;

	for (unsigned i = 0; i < c->cores.n; i++)
		c->stat.idle[i] = -1;
	if (end - p < 5 || memcmp(p, "cpu ", 4) != 0 || !(p = parse_line(p + 4, end, &c->stat.total, &idle)))
		return false;
	while (end - p >= 3 && !memcmp(p, "cpu", 3)) {
		p += 3;
		if (p == end || *p < '0' || *p > '9' || !(p = num_i64(p, end, &n)) ||
		    !(p = parse_line(p, end, &total, &idle)))
			return false;
		if (n < CORES_MAX && c->cores.slot[n] >= 0)
			c->stat.idle[c->cores.slot[n]] = idle;
	}
	return whole || p < end;
}

bool look_stat(struct cpu_look *c, int64_t t_ns)
{
	ssize_t n = attr_read(&c->stat_file, c->root, c->buf, c->size);

	c->stat.t_ns = t_ns;
	c->stat.fresh = n > 0 && parse(c, c->buf, c->buf + n, (size_t)n < c->size);
	if (c->stat.fresh || n < 0 || c->size == sizeof c->buf)
		return c->stat.fresh;
	c->size = sizeof c->buf; /* more cores than when it was opened */
	n = attr_read(&c->stat_file, c->root, c->buf, c->size);
	c->stat.fresh = n > 0 && parse(c, c->buf, c->buf + n, (size_t)n < c->size);
	return c->stat.fresh;
}

/* Without such a file the lines of /proc/stat are used. */
void look_online(struct cpu_look *c)
{
	char text[256];
	ssize_t n = -1;

	if (attr_is_open(&c->online_file))
		n = attr_read(&c->online_file, c->root, text, sizeof text - 1);
	while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == '\0'))
		n--;
	text[n > 0 ? n : 0] = '\0';
	bool known = n > 0 && cpulist_parse(text, c->set, CORES_MAX) > 0;
	for (unsigned i = 0; i < c->cores.n; i++)
		c->cores.online[i] = known ? c->set[c->cores.id[i]] : c->stat.idle[i] >= 0;
}

static void add_cores(struct cores *k, const bool *set)
{
	k->n = 0;
	for (unsigned i = 0; i < CORES_MAX; i++) {
		k->slot[i] = -1;
		if (!set[i])
			continue;
		k->slot[i] = (int16_t)k->n;
		k->id[k->n++] = (uint16_t)i;
	}
}

/* All possible cores: also those that are offline now have a channel. */
static void find_cores(struct cpu_look *c)
{
	static const char *const lists[] = {"/sys/devices/system/cpu/present",
					    "/sys/devices/system/cpu/possible"};
	char text[256];

	for (int i = 0; i < 2; i++)
		if (file_line(c->root, lists[i], text, sizeof text) &&
		    cpulist_parse(text, c->set, CORES_MAX) > 0) {
			add_cores(&c->cores, c->set);
			return;
		}
	memset(c->set, true, sizeof c->set);
	add_cores(&c->cores, c->set);
	bool taken = look_stat(c, 0);
	for (unsigned i = 0; i < CORES_MAX; i++)
		c->set[i] = taken && c->stat.idle[i] >= 0;
	add_cores(&c->cores, c->set);
}

int look_open(struct cpu_look *c, const struct root *r)
{
	c->root = r;
	c->stat.tick_ns = (double)NS_PER_S / (double)sysconf(_SC_CLK_TCK);
	c->size = sizeof c->buf;
	c->online_file.fd = -1;
	if (attr_open(&c->stat_file, r, "/proc/stat") < 0)
		return -1;
	attr_open(&c->online_file, r, "/sys/devices/system/cpu/online");
	find_cores(c);
	if (look_stat(c, 0)) {
		/* Only the cpu lines, with room for longer numbers; the interrupts'
		 * line behind them can have many kilobytes. */
		const char *rest = memmem(c->buf, sizeof c->buf, "\nintr", 5);
		if (rest)
			c->size = (size_t)(rest - c->buf) * 5 / 4 + 512;
		if (c->size > sizeof c->buf)
			c->size = sizeof c->buf;
	}
	look_online(c);
	return 0;
}

void look_close(struct cpu_look *c)
{
	attr_close(&c->stat_file);
	attr_close(&c->online_file);
}
