/* Finds sensors that no channel reads: a carrier may have power monitors that the board file does not list, and then
 * power.total is not the whole power. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/text.h"
#include "board/board.h"
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

/* What measures something, below each of the folders, and what names it. */
static const char *const values[] = {"power*_input", "power*_average", "curr*_input", "temp*_input", "fan*_input",
				     "rpm", "pwm", "pwm[0-9]", "pwm[0-9][0-9]", NULL};
static const char *const values_iio[] = {"in_power*", "in_current*", NULL};
static const char *const labels[] = {"label", "in*_label", "power*_label", "curr*_label", "temp*_label", "fan*_label", NULL};

static bool is_one_of(const char *const *patterns, const char *file)
{
	while (*patterns && fnmatch(*patterns, file, 0) != 0)
		patterns++;
	return *patterns;
}

/* Appends ", ina226 (hwmon6: VIN)" if that device measures something. USB sources (ucsi) report what was negotiated; rails of
 * ina3221x are found by name or are missing with a reason. */
static void unlisted_add(const struct probe_set *probes, const struct root *r, const char *folder, const char *device, char *out, size_t size)
{
	char dir[128], name[40], label[40], named[120] = "", **files;
	size_t n, used;
	bool measured = false;

	snprintf(dir, sizeof dir, "%s/%.70s", folder, device);
	line_of(r, dir, "name", name);
	if (!*name || begins(name, "ucsi") || !strcmp(name, "ina3221x") || value_is_zone(probes, name) ||
	    root_list(r, dir, &files, &n) < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		measured |= is_one_of(strcmp(folder, IIO) ? values : values_iio, files[i]);
		if (!is_one_of(labels, files[i]))
			continue;
		line_of(r, dir, files[i], label);
		used = strlen(named);
		if (*label && strcmp(label, "NC") != 0 && !begins(label, "sum of "))
			snprintf(named + used, sizeof named - used, "%s %s", used ? "," : ":", label);
	}
	free(files);
	used = strlen(out);
	if (measured)
		snprintf(out + used, size - used, "%s%s (%.40s%s)", used ? ", " : "", name, device, named);
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
