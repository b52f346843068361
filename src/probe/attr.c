/* Finds and reads small kernel files. All but the search for a devfreq device is also used on the sampling
 * path, when a driver was rebound and its files must be found again: so there is no allocation and no stdio,
 * and numbers are tried one after the other instead of reading a directory. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/missing.h"
#include "probe/attr.h"
#include "util/clock.h"
#include "util/num.h"

#define INPUT_MAX  128
#define FILE_FLAGS (O_RDONLY | O_NONBLOCK | O_NOCTTY)

size_t text_join_list(char *dst, size_t size, const char *const *parts)
{
	size_t used = 0, whole = 0;

	for (; *parts; parts++) {
		size_t len = strlen(*parts);
		whole += len;
		if (len > size - 1 - used)
			len = size - 1 - used;
		memmove(dst + used, *parts, len);
		used += len;
	}
	dst[used] = '\0';
	return whole;
}

size_t text_number(char *dst, size_t size, const char *prefix, unsigned n)
{
	char digits[12];
	char *p = digits + sizeof digits - 1;

	*p = '\0';
	do
		*--p = (char)('0' + n % 10);
	while (n /= 10);
	return text_join(dst, size, prefix, p);
}

bool file_line(const struct root *r, const char *path, char *out, size_t size)
{
	char buf[512];

	ssize_t n = root_read_trusted(r, path, buf, sizeof buf);
	if (n < 0)
		return false;
	const char *end = memchr(buf, '\n', (size_t)n);
	size_t len = end ? (size_t)(end - buf) : (size_t)n;
	while (len && (buf[len - 1] == '\0' || buf[len - 1] == ' '))
		len--;
	text_shortened(out, size, buf, len);
	return true;
}

bool file_line_list(const struct root *r, char *out, size_t size, const char *const *parts)
{
	char path[256];

	text_join_list(path, sizeof path, parts);
	return file_line(r, path, out, size);
}

int file_number_list(const struct root *r, long long *out, const char *const *parts)
{
	char path[256];

	text_join_list(path, sizeof path, parts);
	return root_read_i64(r, path, out);
}

/* How each kind of place is called in a board file; the folders of those that have numbers, their name and value. */
static const struct {
	const char *key, *dir, *name, *value;
	unsigned most;
} place_kinds[] = {
	[PLACE_PATH] = {"path", NULL, NULL, NULL, 0},
	[PLACE_HWMON] = {"hwmon", "/sys/class/hwmon/hwmon", "/name", NULL, PLACES_MAX},
	[PLACE_ZONE] = {"zone", "/sys/class/thermal/thermal_zone", "/type", "temp", PLACES_MAX},
	[PLACE_DEVFREQ] = {"devfreq", NULL, NULL, NULL, 0},
	[PLACE_IIO] = {"iio", NULL, NULL, NULL, 0},
	[PLACE_BUS] = {"bus", "/sys/class/hwmon/hwmon", "/name", NULL, PLACES_MAX},
	[PLACE_COOLING] = {"cooling", "/sys/class/thermal/cooling_device", "/type", "cur_state", 256},
};

bool place_set(struct place *p, const char *key, const char *value)
{
	int kind = 0;

	memset(p, 0, sizeof *p);
	while (kind < PLACE_COOLING && strcmp(place_kinds[kind].key, key) != 0)
		kind++;
	if (kind == PLACE_COOLING)
		return false;
	p->kind = (enum place_kind)kind;
	if (kind == PLACE_PATH)
		return text_join(p->path, sizeof p->path, value) < sizeof p->path && *value == '/';
	if (kind == PLACE_ZONE)
		return text_join(p->name, sizeof p->name, value) < sizeof p->name && *value;
	const char *slash = strchr(value, '/');
	if (!slash || slash == value || !slash[1] || (size_t)(slash - value) >= sizeof p->name)
		return false;
	memcpy(p->name, value, (size_t)(slash - value));
	p->name[slash - value] = '\0';
	return text_join(p->which, sizeof p->which, slash + 1) < sizeof p->which;
}

bool file_exists(const struct root *r, const char *path)
{
	int fd = root_open_file(r, path, FILE_FLAGS);

	if (fd < 0)
		return errno == EACCES; /* it exists; opening it will report why it cannot be used */
	close(fd);
	return true;
}

/* Sets path to dir/stem + ending if such a file exists. */
static bool place_try(struct place *p, const struct root *r, const char *stem, const char *ending)
{
	if (text_join(p->path, sizeof p->path, p->dir, "/", stem, ending) >= sizeof p->path ||
	    !file_exists(r, p->path))
		return false;
	text_join(p->stem, sizeof p->stem, stem);
	return true;
}

/* Tries the value of a hwmon attribute, then the power of the same channel. */
static bool place_input(struct place *p, const struct root *r, const char *stem, const char *attribute)
{
	char power[32];

	if (place_try(p, r, stem,
		      !strcmp(attribute, "pwm")	 ? ""
		      : !strcmp(attribute, "oc") ? "_event_cnt"
						 : "_input"))
		return true;
	if (!strcmp(attribute, "power")) /* for chips that only average */
		return place_try(p, r, stem, "_average");
	if (strcmp(attribute, "in") != 0)
		return false;
	text_join(power, sizeof power, "power", stem + 2);
	return place_try(p, r, power, "_input");
}

/* Searches the chip's directory p->dir by label, by the label of the whole chip, then by the attribute's
 * name. */
static bool hwmon_which(struct place *p, const struct root *r, const char *attribute)
{
	char path[192], label[72], stem[32];
	unsigned absent = 0;

	for (unsigned n = 0; n < INPUT_MAX && absent < 16; n++) {
		text_number(stem, sizeof stem, attribute, n);
		if (!file_line_of(r, label, sizeof label, p->dir, "/", stem, "_label"))
			absent++;
		else if (!strcmp(label, p->which) && place_input(p, r, stem, attribute))
			return true;
	}
	text_join(path, sizeof path, p->dir, "/label");
	text_number(stem, sizeof stem, attribute, 1);
	if (file_line(r, path, label, sizeof label) && !strcmp(label, p->which) &&
	    place_input(p, r, stem, attribute))
		return true;
	return place_try(p, r, p->which, "_input") || place_input(p, r, p->which, attribute) ||
	       (!strchr(p->which, '/') && place_try(p, r, p->which, ""));
}

/* "ina*" matches every name with that prefix. */
static bool name_fits(const char *pattern, const char *name)
{
	size_t len = strlen(pattern);

	if (len && pattern[len - 1] == '*')
		return !strncmp(pattern, name, len - 1);
	return !strcmp(pattern, name);
}

bool place_number(struct place *p, const struct root *r, unsigned n, char name[PLACE_NAME])
{
	text_number(p->dir, sizeof p->dir, place_kinds[p->kind].dir, n);
	return file_line_of(r, name, PLACE_NAME, p->dir, place_kinds[p->kind].name);
}

/* Gets attribute n of a chip and what it is called, unless its measurement is disabled. */
static bool hwmon_nth(struct place *p, const struct root *r, const char *attribute, unsigned n)
{
	char stem[32];
	long long on;

	text_number(stem, sizeof stem, attribute, n);
	if (!place_input(p, r, stem, attribute))
		return false;
	if (!file_line_of(r, p->which, sizeof p->which, p->dir, "/", stem, "_label") || !*p->which)
		text_join(p->which, sizeof p->which, !strcmp(attribute, "oc") ? strrchr(p->path, '/') + 1 : stem);
	return !strcmp(attribute, "pwm") || file_number_of(r, &on, p->dir, "/", stem, "_enable") < 0 || on;
}

bool place_next(struct place *p, const struct root *r, const char *attribute, unsigned *at)
{
	const unsigned each = p->kind == PLACE_HWMON ? PLACE_EACH : 1;

	while (*at < each * place_kinds[p->kind].most) {
		unsigned n = *at / each, k = (*at)++ % each;

		if (k == 0 && !place_number(p, r, n, p->name))
			*at = (n + 1) * each;
		else if (p->kind == PLACE_HWMON ? hwmon_nth(p, r, attribute, k)
						: place_try(p, r, place_kinds[p->kind].value, ""))
			return true;
	}
	return false;
}

/* Returns true if hwmon chip n is the device at an address of an I2C bus; in a tree without the bus's list of
 * devices, goes from the chip's device to its neighbours. */
static bool is_on_bus(const struct place *p, const struct root *r, unsigned n)
{
	char path[224], number[24];

	text_number(number, sizeof number, "/hwmon/hwmon", n);
	text_join(path, sizeof path, "/sys/bus/i2c/devices/", p->name, number, "/name");
	if (file_exists(r, path))
		return true;
	text_join(path, sizeof path, p->dir, "/device/../", p->name, number, "/name");
	return file_exists(r, path);
}

static bool find_numbered(struct place *p, const struct root *r, const char *attribute)
{
	char name[PLACE_NAME];
	unsigned seen = 0;

	for (unsigned n = 0; n < place_kinds[p->kind].most; n++)
		if (place_number(p, r, n, name) &&
		    (p->kind == PLACE_BUS ? is_on_bus(p, r, n) : name_fits(p->name, name)) &&
		    (p->kind == PLACE_BUS     ? place_try(p, r, p->which, "_input")
		     : p->kind == PLACE_HWMON ? hwmon_which(p, r, attribute)
					      : place_try(p, r, place_kinds[p->kind].value, "")) &&
		    seen++ == p->nth)
			return true;
	return false;
}

/* Finds a device by its name or its node of the device tree. In containers the tree is masked; there the name of the
 * device, "154c0000.nvenc", contains that of the node. */
static int find_devfreq(struct place *p, const struct root *r)
{
	char **names, node[72];
	bool found = false;
	size_t n;

	if (root_list(r, "/sys/class/devfreq", &names, &n) < 0)
		return -1; /* errno may be another than that it is not there */
	for (size_t i = 0; i < n && !found; i++) {
		const char *dot = strchr(names[i], '.');

		if (text_join(p->dir, sizeof p->dir, "/sys/class/devfreq/", names[i]) >= sizeof p->dir)
			continue;
		if (!file_line_of(r, node, sizeof node, p->dir, "/device/of_node/name"))
			text_join(node, sizeof node, dot ? dot + 1 : "");
		found = (!strcmp(p->name, names[i]) || !strcmp(p->name, node)) && place_try(p, r, p->which, "");
	}
	free(names);
	errno = ENOENT;
	return found ? 0 : -1;
}

bool place_equal(const struct place *a, const struct place *b)
{
	return a->kind == b->kind && !strcmp(a->name, b->name) && !strcmp(a->which, b->which);
}

int place_find(struct place *p, const struct root *r, const char *attribute)
{
	if (p->kind == PLACE_IIO)
		return place_find_iio(p, r);
	if (p->kind == PLACE_DEVFREQ)
		return find_devfreq(p, r);
	if (p->kind == PLACE_PATH || find_numbered(p, r, attribute))
		return 0;
	errno = ENOENT;
	return -1;
}

/* Opens the file for every read from now on, relative to its directory, which is kept open: walking the path
 * costs more than the read. */
static void open_each(struct attr *a, const struct root *r)
{
	const char *slash = strrchr(a->path, '/');
	char folder[sizeof a->path];

	attr_close(a);
	a->each = true;
	text_join(folder, (size_t)(slash - a->path) + 1, a->path);
	a->fd = root_open_file(r, folder, O_PATH | O_DIRECTORY);
}

int attr_open(struct attr *a, const struct root *r, const char *path)
{
	a->each = false;
	text_join(a->path, sizeof a->path, path);
	a->fd = root_open_file(r, path, FILE_FLAGS);
	if (a->fd >= 0)
		return 0;
	a->error = errno;
	return -1;
}

void attr_close(struct attr *a)
{
	if (a->fd >= 0)
		close(a->fd);
	a->fd = -1;
	a->each = false;
}

bool attr_is_open(const struct attr *a)
{
	return a->fd >= 0 || a->each;
}

static bool in_debugfs(const char *path)
{
	return !strncmp(path, "/sys/kernel/debug/", 18);
}

/* Some files of debugfs compute their value when they are opened, and refuse pread. */
static ssize_t read_anew(struct attr *a, const struct root *r, char *buf, size_t size)
{
	int fd = a->fd < 0 ? -1
			   : openat(a->fd, strrchr(a->path, '/') + 1, FILE_FLAGS | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0) /* also for a link, which must not lead out of the root */
		fd = root_open_file(r, a->path, FILE_FLAGS);
	if (fd < 0)
		return -1;
	ssize_t n = root_read_at(fd, buf, size, -1);
	int saved = errno;
	close(fd);
	errno = saved;
	return n;
}

static ssize_t read_once(struct attr *a, const struct root *r, char *buf, size_t size)
{
	if (a->each)
		return read_anew(a, r, buf, size);
	ssize_t n = root_read_at(a->fd, buf, size, 0);
	/* EIO: the driver has removed this open file of debugfs. */
	if (n < 0 && (errno == ESPIPE || (errno == EIO && in_debugfs(a->path)))) {
		open_each(a, r);
		return read_anew(a, r, buf, size);
	}
	return n;
}

/* Opens the file, or what its place has now, at most once a second. */
static bool reopen(struct attr *a, const struct root *r, int64_t t_ns)
{
	if (t_ns <= 0 || t_ns < a->retry_ns)
		return false;
	a->retry_ns = t_ns + NS_PER_S;
	if (a->place && place_find(a->place, r, a->attribute) < 0)
		return false;
	return attr_open(a, r, a->place ? a->place->path : a->path) == 0;
}

/* Closes a file that is gone, or of no use, but may be replaced by another of its path: it is opened again at the next read. A unit that
 * is powered down says EAGAIN. */
static void give_up(struct attr *a, int64_t t_ns, int error)
{
	bool gone = error == ENODEV || error == ENXIO || error == ESTALE || error == EBADF;

	a->error = error;
	if (gone || (error != EAGAIN && !a->place && t_ns > 0 && t_ns >= a->retry_ns))
		attr_close(a);
	errno = error;
}

ssize_t attr_read(struct attr *a, const struct root *r, int64_t t_ns, char *buf, size_t size)
{
	if (!attr_is_open(a) && !reopen(a, r, t_ns)) {
		errno = a->error;
		return -1;
	}
	ssize_t n = read_once(a, r, buf, size);
	if (n < 0)
		give_up(a, t_ns, errno);
	return n;
}

double attr_number(struct attr *a, const struct root *r, int64_t t_ns, double scale, enum channel_kind kind)
{
	char buf[64];
	int64_t v;

	ssize_t n = attr_read(a, r, t_ns, buf, sizeof buf);
	if (n < 0)
		return missing_value(MISSING_ERROR, (unsigned)errno);
	const char *p = num_i64(buf, buf + n, &v);
	if (!p || (p < buf + n && *p != '\n' && *p != ' ' && *p != '\0')) {
		give_up(a, t_ns, EINVAL);
		return missing_said(MISSING_TEXT, buf, strnlen(buf, (size_t)n));
	}
	double per = 1 / scale;
	double value = fmod(per, 1) > 0 ? (double)v * scale : (double)v / per; /* 0.1 is not a tenth, but 10 is ten */
	if (range_holds(channel_range(kind), value))
		return value;
	give_up(a, t_ns, ERANGE);
	return missing_said(MISSING_RANGE, buf, strnlen(buf, (size_t)n));
}
