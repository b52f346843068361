/* attr: finds a small kernel file, and reads its number. */
#ifndef NVMTOP_PROBE_ATTR_H
#define NVMTOP_PROBE_ATTR_H

#include <sys/types.h>

#include "model/channel.h"
#include "util/root.h"

enum place_kind {
	PLACE_PATH,
	PLACE_HWMON,
	PLACE_ZONE,
	PLACE_DEVFREQ,
	PLACE_IIO,
	PLACE_BUS,
	PLACE_COOLING,
};

#define PLACE_DIR  112 /* bytes of a directory's path, with its NUL */
#define PLACE_NAME 72
#define PLACES_MAX 128 /* limit for the numbers of chips and zones */
#define PLACE_EACH 64  /* and of what one chip measures */

/* A place names a file as a person would ("the label VDD_IN on an ina3221"), and contains its path once it is
 * found. Numbers of hwmon chips and zones change from boot to boot and when a driver is rebound; names do
 * not. */
struct place {
	enum place_kind kind;
	/* The chip's name ("ina*": any with that prefix), the type of the zone or of the cooling device, the
	 * node's name, "1-0040". */
	char name[PLACE_NAME];
	char which[72];      /* the label, the attribute ("temp1", "rpm"), the file */
	unsigned nth;        /* if several have that name: 0 = the first */
	char dir[PLACE_DIR]; /* found: "/sys/class/hwmon/hwmon3" */
	char stem[64];       /* found: "in1", "temp1", "rpm", "temp"; of an IIO device: "0" of rail_name_0 */
	char path[192];      /* as given (PLACE_PATH), else dir/stem with its ending */
	int64_t took_ns;     /* the first read of the file; 0: it was not read yet */
};

/* Fills in a place from a setting: path=FILE, hwmon=CHIP/WHICH, zone=TYPE, devfreq=NODE/FILE,
 * iio=DRIVER/RAIL, bus=BUS-ADDRESS/inN. Returns false if it is none of these or too long. */
bool place_set(struct place *p, const char *key, const char *value);

/* Searches for the place below the root; attribute is the kind of hwmon attribute whose labels are compared:
 * "temp", "in", "power", "fan". Allocates only for devfreq and iio. Returns 0, or -1 with errno (ENOENT: no
 * such chip, label, zone). */
int place_find(struct place *p, const struct root *r, const char *attribute);

/* Gets the directory and the name of hwmon chip n, or of zone or cooling device n if p is one. Returns false
 * if it does not exist. */
bool place_number(struct place *p, const struct root *r, unsigned n, char name[PLACE_NAME]);

/* Gets the next zone, cooling device or hwmon attribute of that kind that there is, with what it is called; *at is 0 at
 * first. Leaves out those whose _enable is 0. */
bool place_next(struct place *p, const struct root *r, const char *attribute, unsigned *at);

/* place_find() for PLACE_IIO; errno is EACCES if the names of rails cannot be read. */
int place_find_iio(struct place *p, const struct root *r);

/* Returns all rails of the IIO devices of that I2C driver, found; to be freed. *error is why there are not
 * more: EACCES if their names cannot be read. */
struct place *iio_rails(const struct root *r, const char *driver, size_t *n, int *error);

/* Compares all but nth and where the place was found. */
bool place_equal(const struct place *a, const struct place *b);

/* Returns true if the file exists, even without permission to open it. */
bool file_exists(const struct root *r, const char *path);

/* Gets the first line of a small file, made printable. Returns false if it cannot be read. */
bool file_line(const struct root *r, const char *path, char *out, size_t size);

/* Joins the texts after size into dst, cut to size. Returns the length without the cut. The first text may be
 * dst itself. */
#define text_join(dst, size, ...) text_join_list(dst, size, (const char *const[]) {__VA_ARGS__, NULL})
size_t text_join_list(char *dst, size_t size, const char *const *parts);
/* file_line() and root_read_i64() for a path that is joined from texts. */
#define file_line_of(r, out, size, ...)                                                                      \
	file_line_list(r, out, size, (const char *const[]) {__VA_ARGS__, NULL})
#define file_number_of(r, out, ...) file_number_list(r, out, (const char *const[]) {__VA_ARGS__, NULL})
bool file_line_list(const struct root *r, char *out, size_t size, const char *const *parts);
int file_number_list(const struct root *r, long long *out, const char *const *parts);

/* Writes prefix + n, as in "hwmon12". */
size_t text_number(char *dst, size_t size, const char *prefix, unsigned n);

struct attr {
	int fd;    /* -1: closed; with `each`: its folder, or -1 if that cannot be kept open */
	bool each; /* not seekable: opened for every read */
	char path[192];
	int64_t retry_ns; /* earliest time at which it is opened again */
	int error;        /* why it is closed */
	struct place *place;   /* where it is searched when it is gone; NULL: it has a fixed path */
	const char *attribute; /* for that */
};

int attr_open(struct attr *a, const struct root *r, const char *path); /* 0 or -1 with errno */
void attr_close(struct attr *a);
bool attr_is_open(const struct attr *a);

/* Reads from the start of the file. Returns the number of bytes, or -1 with errno. A file that is gone is closed. One
 * that is closed, or with a fixed path cannot be read, is opened again, at most once a second and unless t_ns is 0. */
ssize_t attr_read(struct attr *a, const struct root *r, int64_t t_ns, char *buf, size_t size);

/* The same for one decimal integer, times scale, as a value of that kind. Returns NaN with the reason (model/missing.h)
 * and errno: EINVAL if the file contains something else, ERANGE if that is out of range for the kind. */
double attr_number(struct attr *a, const struct root *r, int64_t t_ns, double scale, enum channel_kind kind);

#endif
