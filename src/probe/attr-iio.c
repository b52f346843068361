/* IIO devices of an I2C driver, as L4T 28 to 32 show their power monitors: the
 * folder of the driver holds one of each chip ("6-0040"), and that the device's,
 * whose name is not the same on all kernels. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/attr.h"

/* The rail p->which in one device's directory p->dir.  *error: EACCES when the
 * names may not be read. */
static bool iio_which(struct place *p, const struct root *r, int *error)
{
	char label[72];

	for (unsigned n = 0; n < 4; n++) {
		text_number(p->stem, sizeof p->stem, "", n);
		if (!file_line_of(r, label, sizeof label, p->dir, "/rail_name_", p->stem)) {
			*error = errno == EACCES ? EACCES : *error;
			continue;
		}
		if (strcmp(label, p->which) != 0)
			continue;
		text_join(p->path, sizeof p->path, p->dir, "/in_voltage", p->stem);
		text_join(p->path, sizeof p->path, p->path, "_input");
		return true;
	}
	return false;
}

int iio_each(const struct root *r, const char *driver, bool (*visit)(void *arg, const char *dir), void *arg)
{
	char **chips, **devices, path[160], dir[240];
	size_t n_chips, n;
	bool enough = false;

	text_join(path, sizeof path, "/sys/bus/i2c/drivers/", driver);
	if (root_list(r, path, &chips, &n_chips) < 0)
		return -1;
	for (size_t i = 0; i < n_chips && !enough; i++) {
		text_join(path, sizeof path, "/sys/bus/i2c/drivers/", driver, "/");
		/* "6-0040"; not bind, uevent and so on */
		if (!strchr(chips[i], '-') ||
		    text_join(path, sizeof path, path, chips[i], "/") >= sizeof path ||
		    root_list(r, path, &devices, &n) < 0)
			continue;
		for (size_t k = 0; k < n && !enough; k++)
			if ((!strncmp(devices[k], "iio:device", 10) || !strcmp(devices[k], "iio_device")) &&
			    text_join(dir, sizeof dir, path, devices[k]) < PLACE_DIR)
				enough = visit(arg, dir);
		free(devices);
	}
	free(chips);
	return 0;
}

struct iio_search {
	struct place *place;
	const struct root *root;
	unsigned seen;
	bool found;
	int error;
};

static bool iio_visit(void *arg, const char *dir)
{
	struct iio_search *s = arg;

	text_join(s->place->dir, sizeof s->place->dir, dir);
	s->found = iio_which(s->place, s->root, &s->error) && s->seen++ == s->place->nth;
	return s->found;
}

int place_find_iio(struct place *p, const struct root *r)
{
	struct iio_search s = {.place = p, .root = r, .error = ENOENT};

	if (iio_each(r, p->name, iio_visit, &s) < 0)
		return -1;
	if (!s.found) {
		p->path[0] = '\0';
		errno = s.error;
	}
	return s.found ? 0 : -1;
}
