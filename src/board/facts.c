/* Facts about the machine, for the header of the screen and for readers of the trace a year later. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/intl.h"
#include "util/num.h"
#include "board/parsed.h"

/* The first line of a small file; NULs at its end, as in the device tree, cut. */
static bool first_line(const struct root *r, const char *path, char *out, size_t size)
{
	char buf[512];

	ssize_t n = root_read(r, path, buf, sizeof buf);
	if (n <= 0)
		return false;
	size_t len = strcspn(buf, "\n");
	text_printable(out, size, buf, len);
	return len > 0;
}

/* "# R36 (release), REVISION: 4.3, GCID: ..." is L4T 36.4.3. */
static bool l4t_release(const struct root *r, char *out, size_t size)
{
	char line[256];
	int major, end = 0;
	char revision[24];

	if (!first_line(r, "/etc/nv_tegra_release", line, sizeof line))
		return false;
	if (sscanf(line, "# R%4d (release), REVISION: %20[0-9.]%n", &major, revision, &end) < 2)
		return false;
	snprintf(out, size, "L4T %d.%s", major, revision);
	return true;
}

/* KEY=value or KEY="value" of a file of such lines. */
static bool shell_value(const char *text, const char *key, char *out, size_t size)
{
	size_t len = strlen(key);

	for (const char *p = text; p; p = strchr(p, '\n')) {
		p += *p == '\n';
		if (strncmp(p, key, len) != 0 || p[len] != '=')
			continue;
		p += len + 1;
		char quote = *p == '"' || *p == '\'' ? *p++ : '\0';
		const char stop[3] = {'\n', quote, '\0'};
		text_printable(out, size, p, strcspn(p, stop));
		return *out;
	}
	return false;
}

static bool os_release(const struct root *r, char *out, size_t size)
{
	char text[4096];

	return (root_read(r, "/etc/os-release", text, sizeof text) > 0 ||
		root_read(r, "/usr/lib/os-release", text, sizeof text) > 0) &&
	       shell_value(text, "PRETTY_NAME", out, size);
}

static bool ram_total(const struct root *r, char *out, size_t size)
{
	char text[512];
	int64_t kb;

	if (root_read(r, "/proc/meminfo", text, sizeof text) <= 0)
		return false;
	const char *p = strstr(text, "MemTotal:");
	if (!p || !num_i64(p + 9, text + strlen(text), &kb))
		return false;
	snprintf(out, size, "%lld", (long long)kb);
	return true;
}

/* The most special NVIDIA name of a chip in compatible. */
static bool soc_name(const struct root *r, char *out, size_t size)
{
	static const char *const socs[] = {"tegra210", "tegra186", "tegra194", "tegra234", "tegra264"};
	char blob[4096], entry[32];

	ssize_t len = root_read(r, "/proc/device-tree/compatible", blob, sizeof blob);
	for (ssize_t i = 0; i < len; i += (ssize_t)strlen(blob + i) + 1)
		for (size_t k = 0; k < sizeof socs / sizeof *socs; k++) {
			snprintf(entry, sizeof entry, "nvidia,%s", socs[k]);
			if (strcmp(blob + i, entry) != 0)
				continue;
			snprintf(out, size, "%s", socs[k]);
			return true;
		}
	return false;
}

static bool device_model(const struct root *r, char *out, size_t size)
{
	char text[256];

	/* The second is what is handed to a container. */
	ssize_t n = root_read(r, "/proc/device-tree/model", text, sizeof text);
	if (n <= 0)
		n = root_read(r, "/tmp/nv_jetson_model", text, sizeof text);
	if (n > 0)
		text_printable(out, size, text, strcspn(text, "\n"));
	return n > 0 && *out;
}

static bool module(const struct root *r, char *out, size_t size)
{
	char blob[4096];

	ssize_t len = root_read(r, "/proc/device-tree/compatible", blob, sizeof blob);
	return len > 0 && table_module(blob, (size_t)len, out, size);
}

/* The version of the package that every L4T has: "36.4.4-20250616085344". */
static bool l4t_package(const struct root *r, char *out, size_t size)
{
	static const char wanted[] = "\nPackage: nvidia-l4t-core\n";
	const size_t room = 16 * 1024 * 1024;
	char soc[32];
	char *text = soc_name(r, soc, sizeof soc) ? malloc(room) : NULL;

	if (!text)
		return false;
	out[0] = '\0';
	ssize_t n = root_read(r, "/var/lib/dpkg/status", text, room);
	const char *p = n > 0 ? strstr(text, wanted) : NULL;
	const char *end = p ? strstr(p + 1, "\n\n") : NULL;
	const char *version = p ? strstr(p + 1, "\nVersion: ") : NULL;
	if (version && (!end || version < end)) {
		version += strlen("\nVersion: ");
		size_t len = strspn(version, "0123456789.");
		snprintf(out, size, "L4T %.*s", (int)(len < 24 ? len : 24), version);
	}
	free(text);
	return *out;
}

static bool l4t(const struct root *r, char *out, size_t size)
{
	return l4t_release(r, out, size) || l4t_package(r, out, size);
}

static bool release(const struct root *r, char *out, size_t size)
{
	return l4t(r, out, size) || os_release(r, out, size);
}

static bool jetpack(const struct root *r, char *out, size_t size)
{
	char text[64];

	return l4t(r, text, sizeof text) && table_jetpack(text + strlen("L4T "), out, size);
}

static bool kernel(const struct root *r, char *out, size_t size)
{
	return first_line(r, "/proc/sys/kernel/osrelease", out, size);
}

static bool hostname(const struct root *r, char *out, size_t size)
{
	return first_line(r, "/proc/sys/kernel/hostname", out, size) ||
	       first_line(r, "/etc/hostname", out, size);
}

static const struct {
	const char *key;
	bool (*find)(const struct root *r, char *out, size_t size);
} finders[] = {
	{"model", device_model}, {"module", module}, {"soc", soc_name},      {"release", release},
	{"jetpack", jetpack},    {"kernel", kernel}, {"hostname", hostname}, {"ram_total_kb", ram_total},
};

static int add(struct probe_set *probes, const char *key, const char *value, struct err *e)
{
	if (fact_get(probes->facts, probes->n_facts, key) || !*value)
		return 0;
	return probe_set_add_fact(probes, key, value) < 0 ? err_set(e, ERR_FAILED, _("out of memory")) : 0;
}

/* A made-up board has a made-up memory, and none of this machine's facts. */
static int demo_facts(struct probe_set *probes, struct err *e)
{
	char text[32];
	const struct channel *ram = probe_set_find(probes, "ram.used");

	if (add(probes, "demo", "yes", e) < 0)
		return -1;
	if (!ram || !(ram->hi > 0 && ram->hi < 1e15))
		return 0;
	snprintf(text, sizeof text, "%.0f", ram->hi);
	return add(probes, "ram_total_kb", text, e);
}

int board_facts(const struct board *b, const struct root *r, const char *why, struct probe_set *probes,
		struct err *e)
{
	char text[160];

	if (add(probes, "board", b->name, e) < 0 || add(probes, "title", b->title, e) < 0 ||
	    add(probes, "why", why ? why : "", e) < 0)
		return -1;
	for (size_t i = 0; i < b->n_facts; i++)
		if (add(probes, b->facts[i].key, b->facts[i].value, e) < 0)
			return -1;
	if (b->demo)
		return demo_facts(probes, e);
	for (size_t i = 0; i < sizeof finders / sizeof *finders; i++) {
		text[0] = '\0';
		if (finders[i].find(r, text, sizeof text) && add(probes, finders[i].key, text, e) < 0)
			return -1;
	}
	if (board_unlisted(probes, r, text, sizeof text) && add(probes, "other_sensors", text, e) < 0)
		return -1;
	if (board_settings(r, probes) < 0)
		return err_set(e, ERR_FAILED, _("out of memory"));
	/* In the user's language, which the board file cannot be. */
	if (!strcmp(b->name, "generic"))
		return add(probes, "notice",
			   _("not a known Jetson: showing CPU, memory and sensors of this Linux machine"), e);
	return 0;
}
