/* Finds sensors that no channel reads: a carrier may have power monitors that the board file does not list, and then
 * power.total is not the whole power. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/text.h"
#include "board/parsed.h"
#include "probe/open.h"

#define HWMON "/sys/class/hwmon"
#define IIO   "/sys/bus/iio/devices"

static bool begins(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

/* Gets the first line of a file in a device's folder, or "". */
static void line_of(const struct root *r, const char *dir, const char *file, char out[40])
{
	if (!file_line_of(r, out, 40, dir, "/", file))
		out[0] = '\0';
}

static bool is_read(const struct probe_set *probes, const char *device)
{
	char part[80];

	snprintf(part, sizeof part, "/%.70s/", device);
	for (size_t i = 0; i < probes->n_channels; i++)
		if (strstr(probes->channels[i].source, part))
			return true;
	return false;
}

static bool measures(const char *file, bool iio)
{
	if (iio)
		return begins(file, "in_power") || begins(file, "in_current");
	return (begins(file, "power") && (text_ends_in(file, "_input") || text_ends_in(file, "_average"))) ||
	       ((begins(file, "curr") || begins(file, "temp") || begins(file, "fan")) && text_ends_in(file, "_input")) ||
	       !strcmp(file, "rpm") || (begins(file, "pwm") && !strchr(file, '_'));
}

static bool names_channel(const char *file)
{
	return !strcmp(file, "label") ||
	       (text_ends_in(file, "_label") &&
		(begins(file, "in") || begins(file, "power") || begins(file, "curr") || begins(file, "temp") ||
		 begins(file, "fan")));
}

/* Returns false for USB sources (ucsi), which report what was negotiated and measure nothing, and for
 * ina3221x, whose rails are found by name or are missing with a reason. */
static bool is_other(const char *name)
{
	return *name && !begins(name, "ucsi") && strcmp(name, "ina3221x") != 0;
}

/* Appends ", ina226 (hwmon6: VIN)" if that device measures something. */
static void unlisted_add(const struct probe_set *probes, const struct root *r, const char *folder, const char *device, char *out, size_t size)
{
	char dir[128], name[40], label[40], labels[120] = "", **files;
	size_t n, used;
	bool measured = false;

	snprintf(dir, sizeof dir, "%s/%.70s", folder, device);
	line_of(r, dir, "name", name);
	if (!is_other(name) || value_is_zone(probes, name) || root_list(r, dir, &files, &n) < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		measured |= measures(files[i], !strcmp(folder, IIO));
		if (!names_channel(files[i]))
			continue;
		line_of(r, dir, files[i], label);
		used = strlen(labels);
		if (*label && strcmp(label, "NC") != 0 && !begins(label, "sum of "))
			snprintf(labels + used, sizeof labels - used, "%s %s", used ? "," : ":", label);
	}
	free(files);
	used = strlen(out);
	if (measured)
		snprintf(out + used, size - used, "%s%s (%.40s%s)", used ? ", " : "", name, device, labels);
}

bool board_unlisted(const struct probe_set *probes, const struct root *r, char *out, size_t size)
{
	static const struct {
		const char *folder, *prefix;
	} lists[] = {{HWMON, "hwmon"}, {IIO, "iio:device"}};
	char text[512] = "", **devices;
	size_t n;

	for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
		if (root_list(r, lists[k].folder, &devices, &n) < 0)
			continue;
		for (size_t i = 0; i < n; i++)
			if (begins(devices[i], lists[k].prefix) && !is_read(probes, devices[i]))
				unlisted_add(probes, r, lists[k].folder, devices[i], text, sizeof text);
		free(devices);
	}
	text_shortened(out, size, text, strlen(text));
	return *out;
}
