/* attr: one small file of the kernel, how it was found, and its number. */
#ifndef NVMTOP_PROBE_ATTR_H
#define NVMTOP_PROBE_ATTR_H

#include <sys/types.h>

#include "model/channel.h"
#include "util/root.h"

enum place_kind { PLACE_PATH, PLACE_HWMON, PLACE_ZONE, PLACE_DEVFREQ, PLACE_IIO, PLACE_BUS };

#define PLACE_DIR  112 /* bytes of a directory's path, with its end */
#define PLACE_NAME 72
#define PLACES_MAX 128 /* chips and zones */

/* A place is how a person names it ("the label VDD_IN on an ina3221"), and,
 * once found, where that is today.  Numbers of hwmon and zones change from
 * boot to boot and when a driver is bound again; the names do not. */
struct place {
	enum place_kind kind;
	/* The chip's name ("ina*": any that begins so), the zone's type, the node's name, "1-0040". */
	char name[PLACE_NAME];
	char which[72];      /* the label, the attribute ("temp1", "rpm"), the file */
	unsigned nth;        /* when several have that name: 0 = the first */
	char dir[PLACE_DIR]; /* found: "/sys/class/hwmon/hwmon3" */
	char stem[64];       /* found: "in1", "temp1", "rpm", "temp"; of an IIO device: "0" of rail_name_0 */
	char path[192];      /* as given (PLACE_PATH), else dir/stem with its ending */
};

/* Fill in from the text of a setting: path=FILE, hwmon=CHIP/WHICH, zone=TYPE,
 * devfreq=NODE/FILE, iio=DRIVER/RAIL, bus=BUS-ADDRESS/inN.  False when it is none of these or too long. */
bool place_set(struct place *p, const char *key, const char *value);

/* Search for it below the root; attribute is the kind of hwmon attribute whose labels are compared:
 * "temp", "in", "power", "fan". Allocates nothing except for devfreq and iio. 0, or -1 with errno
 * (ENOENT: no such chip, label, zone). */
int place_find(struct place *p, const struct root *r, const char *attribute);

/* Number n of the chips or, if it is one, of the zones: its directory, and the name. False: there is none. */
bool place_number(struct place *p, const struct root *r, unsigned n, char name[PLACE_NAME]);

/* place_find() for PLACE_IIO; EACCES when the names of rails may not be read. */
int place_find_iio(struct place *p, const struct root *r);

/* All rails of the IIO devices of that I2C driver, found; to be freed. *error: why there are not more;
 * EACCES when names may not be read. */
struct place *iio_rails(const struct root *r, const char *driver, size_t *n, int *error);

/* The same but for nth and where it was found? */
bool place_equal(const struct place *a, const struct place *b);

/* Does it exist? Also true if it may not be opened. */
bool file_exists(const struct root *r, const char *path);

/* The first line of a small file, made printable. False if there is none. */
bool file_line(const struct root *r, const char *path, char *out, size_t size);

/* The texts behind size, joined into dst and cut to size; the length without the cut.  The first may be dst
 * itself. */
#define text_join(dst, size, ...) text_join_list(dst, size, (const char *const[]) {__VA_ARGS__, NULL})
size_t text_join_list(char *dst, size_t size, const char *const *parts);
/* file_line() and root_read_i64() of a path that is joined from texts. */
#define file_line_of(r, out, size, ...)                                                                      \
	file_line_list(r, out, size, (const char *const[]) {__VA_ARGS__, NULL})
#define file_number_of(r, out, ...) file_number_list(r, out, (const char *const[]) {__VA_ARGS__, NULL})
bool file_line_list(const struct root *r, char *out, size_t size, const char *const *parts);
int file_number_list(const struct root *r, long long *out, const char *const *parts);

/* prefix + n, as in "hwmon12". */
size_t text_number(char *dst, size_t size, const char *prefix, unsigned n);

struct attr {
	int fd;    /* -1: closed; with `each` the folder it is in, or -1 where that cannot be held */
	bool each; /* not seekable: opened for every read */
	char path[192];
	int64_t retry_ns; /* attr_reopen() */
};

int attr_open(struct attr *a, const struct root *r, const char *path); /* 0 or -1 with errno */
void attr_close(struct attr *a);
bool attr_is_open(const struct attr *a);

/* Read from its start; the number of bytes, or -1 with errno. */
ssize_t attr_read(struct attr *a, const struct root *r, char *buf, size_t size);

/* Read one decimal integer.  False with errno; EINVAL: something else is in it. */
bool attr_number(struct attr *a, const struct root *r, double *out);
/* The same times scale, which must be a value of that kind; ERANGE: it cannot be one. */
bool attr_value(struct attr *a, const struct root *r, double scale, enum channel_kind kind, double *out);

/* For a file that comes and goes: if it is closed, open its path, at most once a second. */
bool attr_reopen(struct attr *a, const struct root *r, int64_t t_ns);
/* The number in such a file; NaN: none now.  A file that is gone, or cannot be read for a second, is opened again. */
double attr_poll(struct attr *a, const struct root *r, int64_t t_ns);

/* Does the error mean that this file is gone and must be searched again? */
bool attr_gone(int error);

#endif
