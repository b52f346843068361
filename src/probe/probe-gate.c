/* Reads whether a unit is powered down. Reading these files wakes nothing. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "model/missing.h"
#include "probe/open.h"
#include "util/intl.h"

static const char *const gate_files[] = {"gpu_powered_on", "is_railgated", "power/runtime_status"};

double gate_read(struct attr *a, const struct root *r, int64_t t_ns)
{
	/* Off, then on; another text ("unsupported") means nothing. */
	static const char *const words[] = {"0", "off", "yes", "suspended", "1", "on", "no", "active", "suspending",
					    "resuming", "error"};
	char text[24];
	ssize_t n = attr_read(a, r, t_ns, text, sizeof text - 1);

	if (n < 0)
		return missing_value(MISSING_ERROR, (unsigned)errno);
	while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' '))
		n--;
	text[n] = '\0';
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (!strcmp(text, words[i]))
			return i < 4;
	return missing_said(MISSING_TEXT, text, (size_t)n);
}

bool device_dir(const struct root *r, const char *key, const char *value, char dir[192], struct reason *why)
{
	char text[160];
	struct place place;

	if (!strcmp(key, "dir"))
		return text_join(dir, 192, value) < 192;
	if (strcmp(key, "devfreq") != 0)
		return false;
	text_join(text, sizeof text, value, "/device");
	if (place_set(&place, "devfreq", text) && place_find(&place, r, "") == 0)
		return text_join(dir, 192, place.dir, "/device") < 192;
	text_join(text, sizeof text, "devfreq ", value);
	reason_add(why, text, ENOENT);
	return false;
}

bool gate_open(struct attr *a, const struct root *r, const struct statement *s, struct reason *why)
{
	char dir[192], path[192];

	for (size_t i = 0; i < s->n_settings; i++) {
		if (!device_dir(r, s->settings[i].key, s->settings[i].value, dir, why))
			continue;
		for (size_t k = 0; k < sizeof gate_files / sizeof *gate_files; k++) {
			if (text_join(path, sizeof path, dir, "/", gate_files[k]) >= sizeof path)
				continue;
			if (attr_open(a, r, path) == 0 && !isnan(gate_read(a, r, 0)))
				return true;
			attr_close(a);
		}
		reason_add(why, path, file_exists(r, path) ? ENODATA : ENOENT);
	}
	a->path[0] = '\0';
	return false;
}
