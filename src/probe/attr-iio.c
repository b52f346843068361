/* Finds the IIO devices of an I2C driver, as which L4T 28 to 32 expose their power monitors: the driver's
 * folder has one folder per chip ("6-0040"), which has that of the IIO device; the name of the latter differs
 * between kernels. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/attr.h"
#include "util/array.h"

#define DRIVERS "/sys/bus/i2c/drivers/"

/* Appends the rails of the device in p->dir to the *n that are known. */
static void add_rails(struct place **all, size_t *n, struct place *p, const struct root *r, int *error)
{
	for (unsigned i = 0; i < 4; i++) {
		text_number(p->stem, sizeof p->stem, "", i);
		if (!file_line_of(r, p->which, sizeof p->which, p->dir, "/rail_name_", p->stem)) {
			*error = errno == EACCES ? EACCES : *error;
			continue;
		}
		text_join(p->path, sizeof p->path, p->dir, "/in_voltage", p->stem, "_input");
		struct place *more = array_add(all, n, sizeof *more);
		if (!more)
			return;
		*more = *p;
	}
}

struct place *iio_rails(const struct root *r, const char *driver, size_t *n, int *error)
{
	struct place p = {.kind = PLACE_IIO}, *all = NULL;
	char **chips, **devices, path[160];
	size_t n_chips, n_devices;

	*n = 0;
	*error = ENOENT;
	text_join(p.name, sizeof p.name, driver);
	text_join(path, sizeof path, DRIVERS, driver);
	if (root_list(r, path, &chips, &n_chips) < 0) {
		*error = errno;
		return NULL;
	}
	for (size_t i = 0; i < n_chips; i++) {
		/* "6-0040"; not bind, uevent and so on */
		if (!strchr(chips[i], '-') ||
		    text_join(path, sizeof path, DRIVERS, driver, "/", chips[i], "/") >= sizeof path ||
		    root_list(r, path, &devices, &n_devices) < 0)
			continue;
		for (size_t k = 0; k < n_devices; k++)
			if ((!strncmp(devices[k], "iio:device", 10) || !strcmp(devices[k], "iio_device")) &&
			    text_join(p.dir, sizeof p.dir, path, devices[k]) < sizeof p.dir)
				add_rails(&all, n, &p, r, error);
		free(devices);
	}
	free(chips);
	return all;
}

int place_find_iio(struct place *p, const struct root *r)
{
	unsigned nth = p->nth, seen = 0;
	bool found = false;
	size_t n;
	int error;
	struct place *all = iio_rails(r, p->name, &n, &error);

	for (size_t i = 0; i < n && !found; i++) {
		found = !strcmp(all[i].which, p->which) && seen++ == nth;
		if (found)
			*p = all[i];
	}
	free(all);
	p->nth = nth;
	if (found)
		return 0;
	p->path[0] = '\0';
	errno = error;
	return -1;
}
