/* Lists what can be set on this machine, with its value: of what the board file says. Reads files only, since a program
 * takes longer to start than all of this. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "board/conf.h"
#include "board/machine.h"
#include "control/units.h"
#include "util/intl.h"
#include "util/num.h"
#include "util/text.h"

#define SWAP_LEAST (64 * 1024 * 1024)

static const char *const kind_words[CONTROL_KINDS] = {"fan",      "mode",       "clocks", "clocks",
						      "governor", "3d-scaling", "swap",   "drop-caches"};

static enum control_kind kind_of(const struct control_statement *s)
{
	enum control_kind kind = CONTROL_FAN;

	while (strcmp(kind_words[kind], s->kind) != 0)
		kind++;
	return kind == CONTROL_PINNED && *s->name ? CONTROL_CLOCK : kind;
}

static const char *base(const char *path)
{
	return strrchr(path, '/') + 1;
}

int64_t control_scale(const char *path)
{
	return strncmp(base(path), "scaling_", 8) ? 1 : 1000;
}

bool control_is_max(const char *path)
{
	return text_ends_in(path, "/max_freq") || text_ends_in(path, "/scaling_max_freq");
}

/* Returns -1 if the file has another text. */
static int64_t number_of(const struct control_file *f)
{
	const char *end = f->text + strlen(f->text);
	int64_t n;

	return num_i64(f->text, end, &n) == end ? n * control_scale(f->path) : -1;
}

enum control_service control_fan_service(const struct root *r)
{
	static const char *const units[] = {"/etc/systemd/system/nvfancontrol.service",
					    "/lib/systemd/system/nvfancontrol.service"};

	if (conf_fan_regulated(r))
		return SERVICE_ACTIVE;
	return file_exists(r, CONF_FAN) && (file_exists(r, units[0]) || file_exists(r, units[1]))
		       ? SERVICE_STOPPED
		       : SERVICE_NONE;
}

/* --- finding --- */

static struct control_unit *add_unit(struct control_units *u, const struct control_statement *s,
				     enum control_kind kind, unsigned number)
{
	struct control_unit *all = reallocarray(u->at, u->n + 1, sizeof *all);

	if (!all)
		return NULL;
	u->at = all;
	struct control_unit *c = memset(&all[u->n++], 0, sizeof *c);
	c->s = s;
	c->item.kind = kind;
	snprintf(c->item.name, sizeof c->item.name, "%s%s%s", s->kind, *s->name ? "." : "", s->name);
	if (number)
		text_number(c->item.name, sizeof c->item.name, c->item.name, number);
	return c;
}

static bool add_file(struct control_unit *c, const struct root *r, const char *path)
{
	struct control_file *all = reallocarray(c->files, c->n + 1, sizeof *all);
	struct statvfs fs;

	if (!all)
		return false;
	c->files = all;
	struct control_file *f = memset(&all[c->n++], 0, sizeof *f);
	text_join(f->path, sizeof f->path, path);
	int fd = root_open_file(r, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 && fstatvfs(fd, &fs) == 0 && (fs.f_flag & ST_RDONLY))
		snprintf(c->item.refused, sizeof c->item.refused,
			 _("%.100s is on a file system that cannot be written to, as in a container"), path);
	if (fd >= 0)
		close(fd);
	if (!file_line(r, path, f->text, sizeof f->text))
		snprintf(c->item.missing, sizeof c->item.missing, "%.100s: %.50s", path, root_error(errno));
	return true;
}

/* Adds the files that belong to the one that a place names. */
static bool add_files(struct control_unit *c, const struct root *r, const char *path)
{
	int folder = (int)(base(path) - path - 1);
	char other[192];
	bool ok = true;

	if (c->item.kind == CONTROL_CLOCK && control_is_max(path)) {
		size_t at = (size_t)(strstr(base(path), "max_freq") - path);
		snprintf(other, sizeof other, "%.*smin_freq", (int)at, path);
		ok = add_file(c, r, other);
	}
	ok = ok && add_file(c, r, path);
	if (c->item.kind != CONTROL_FAN || !ok)
		return ok;
	snprintf(other, sizeof other, "%s_enable", path);
	if (!file_exists(r, other))
		snprintf(other, sizeof other, "%.*s/temp_control", folder, path);
	return !file_exists(r, other) || add_file(c, r, other);
}

/* Adds the files of each group of cores for "policy*". */
static bool add_each(struct control_unit *c, const struct root *r, const char *pattern)
{
	const char *star = strchr(pattern, '*');
	char folder[192], path[256], **names;
	bool ok = true;
	size_t n, len;

	snprintf(folder, sizeof folder, "%.*s", (int)(star - pattern), pattern);
	const char *begin = base(folder);
	len = strlen(begin);
	folder[begin - folder - 1] = '\0';
	if (root_list(r, folder, &names, &n) < 0)
		return errno != ENOMEM;
	for (size_t i = 0; i < n && ok; i++) {
		if (strncmp(names[i], begin, len) != 0)
			continue;
		snprintf(path, sizeof path, "%s/%.60s%s", folder, names[i], star + 1);
		ok = strlen(path) >= sizeof c->files->path || !file_exists(r, path) || add_files(c, r, path);
	}
	free(names);
	return ok;
}

static int find_files(struct control_unit *c, const struct root *r)
{
	size_t used = 0;

	for (size_t i = 0; i < c->s->n_places && !c->n; i++) {
		struct place p = c->s->places[i];
		if (p.kind == PLACE_PATH && strchr(p.path, '*')
			    ? !add_each(c, r, p.path)
			    : place_find(&p, r, "pwm") == 0 && file_exists(r, p.path) &&
				      !add_files(c, r, p.path))
			return -1;
	}
	for (size_t i = 0; i < c->s->n_places && !c->n && used < sizeof c->item.refused; i++) {
		const struct place *p = &c->s->places[i];
		used += (size_t)snprintf(c->item.refused + used, sizeof c->item.refused - used, "%s%s%s%s",
					 i ? ", " : _("not here: "),
					 p->kind == PLACE_PATH ? p->path : p->name,
					 p->kind == PLACE_PATH ? "" : "/", p->which);
	}
	return 0;
}

/* Each fan of the hwmon chips whose control can be switched. */
static int find_fans(struct control_units *u, const struct control_statement *s, const struct root *r)
{
	struct place p = s->places[0];
	unsigned at = 0, number = 0;
	char path[224];

	while (place_next(&p, r, "pwm", &at)) {
		snprintf(path, sizeof path, "%s_enable", p.path);
		if (!file_exists(r, path))
			continue;
		struct control_unit *c = add_unit(u, s, CONTROL_FAN, number++);
		if (!c || !add_files(c, r, p.path))
			return -1;
	}
	return 0;
}

/* --- reading --- */

static void allow(struct control_item *i, const char *word)
{
	size_t used = strlen(i->allowed);

	if (used + strlen(word) + 2 < sizeof i->allowed)
		snprintf(i->allowed + used, sizeof i->allowed - used, "%s%s", used ? " " : "", word);
}

/* The steps that the kernel lists beside a file, else its lowest and highest. */
static void allow_clocks(struct control_item *i, const struct root *r, const struct control_file *f)
{
	bool cores = control_scale(f->path) != 1;
	const char *zeros = cores ? "000" : "";
	char folder[192], list[2048], *p = list, word[96];
	long long lowest, highest;

	snprintf(folder, sizeof folder, "%.*s", (int)(base(f->path) - f->path), f->path);
	text_join(word, sizeof word, cores ? "scaling_" : "", "available_frequencies");
	text_join(folder, sizeof folder, folder, word);
	if (root_read(r, folder, list, sizeof list) > 0)
		for (char *step; (step = strsep(&p, " \n"));)
			if (*step && !step[strspn(step, "0123456789")]) {
				snprintf(word, sizeof word, "%.20s%s", step, zeros);
				allow(i, word);
			}
	if (i->allowed[0])
		return;
	*strrchr(folder, '/') = '\0';
	if (!cores || file_number_of(r, &lowest, folder, "/cpuinfo_min_freq") < 0 ||
	    file_number_of(r, &highest, folder, "/cpuinfo_max_freq") < 0)
		snprintf(word, sizeof word, "%s", i->value);
	else
		snprintf(word, sizeof word, "%lld000..%lld000", lowest, highest);
	allow(i, word);
}

static void read_clocks(struct control_unit *c, const struct root *r)
{
	int64_t lowest = INT64_MAX, highest = 0;

	for (size_t i = 0; i < c->n; i++) {
		int64_t hz = number_of(&c->files[i]);
		if (hz < 0)
			return;
		lowest = hz < lowest ? hz : lowest;
		highest = hz > highest ? hz : highest;
	}
	if (!c->n)
		return;
	if (control_is_max(c->files[c->n - 1].path)) {
		snprintf(c->item.value, sizeof c->item.value, "%lld..%lld", (long long)lowest,
			 (long long)highest);
		allow_clocks(&c->item, r, &c->files[0]);
		return;
	}
	snprintf(c->item.value, sizeof c->item.value, "0..%lld", (long long)highest);
	if (!highest) /* a cap of 0 is none */
		strcpy(c->item.value, "0..max");
	allow(&c->item, "0..max");
}

static void read_governor(struct control_unit *c, const struct root *r)
{
	char path[192], list[512];

	if (!c->n)
		return;
	bool cores = control_scale(c->files[0].path) != 1;
	snprintf(path, sizeof path, "%.*s%savailable_governors",
		 (int)(base(c->files[0].path) - c->files[0].path), c->files[0].path, cores ? "scaling_" : "");
	if (root_read(r, path, list, sizeof list) > 0)
		for (char *p = list, *word; (word = strsep(&p, " \n"));)
			if (*word)
				allow(&c->item, word);
	for (size_t i = 1; i < c->n; i++)
		if (strcmp(c->files[i].text, c->files[0].text) != 0) {
			snprintf(c->item.missing, sizeof c->item.missing, _("not the same for all: %s, %s"),
				 c->files[0].text, c->files[i].text);
			return;
		}
	strcpy(c->item.value, c->files[0].text);
}

static void read_fan(struct control_unit *c, const struct root *r, const struct machine *m)
{
	enum control_service service = control_fan_service(r);
	const struct control_file *pwm = &c->files[0], *control = c->n > 1 ? &c->files[1] : NULL;
	bool legacy = control && text_ends_in(control->path, "/temp_control");
	int64_t speed = c->n ? number_of(pwm) : -1, on = control ? number_of(control) : 1;

	if (!c->n)
		return;
	allow(&c->item, "0..100");
	if (control || service != SERVICE_NONE)
		allow(&c->item, "auto");
	for (size_t i = 0; i < m->fan_profiles.n && service != SERVICE_NONE; i++)
		allow(&c->item, ((const struct machine_name *)m->fan_profiles.at)[i].name);
	if (service == SERVICE_ACTIVE)
		snprintf(c->item.value, sizeof c->item.value, "%s",
			 *m->fan_profile ? m->fan_profile : m->fan_default);
	else if (on < 0 || speed < 0)
		return;
	else if (legacy ? on == 1 : on > 1)
		strcpy(c->item.value, "auto");
	else if (!legacy && !on)
		snprintf(c->item.missing, sizeof c->item.missing, _("%.100s is 0: nothing sets its speed"),
			 control->path);
	else
		snprintf(c->item.value, sizeof c->item.value, "%d%%", (int)((speed * 100 + 127) / 255));
}

static void read_mode(struct control_unit *c, const struct root *r, const struct machine *m)
{
	const struct machine_name *modes = m->modes.at;
	char word[80];
	int64_t id;

	bool known = conf_mode_now(r, &id);
	for (size_t i = 0; i < m->modes.n; i++) {
		/* a name with a blank is not a word */
		bool plain = !modes[i].name[strcspn(modes[i].name, " \t:")];
		snprintf(word, sizeof word, "%.0f%s%s", modes[i].id, plain ? ":" : "",
			 plain ? modes[i].name : "");
		allow(&c->item, word);
		if (known && (double)id == modes[i].id)
			snprintf(c->item.value, sizeof c->item.value, "%s", modes[i].name);
	}
	if (!c->item.value[0])
		snprintf(c->item.missing, sizeof c->item.missing, "%s",
			 known ? _("the mode that is set has no name in " CONF_MODES)
			       : _("/var/lib/nvpmodel/status has no mode"));
	if (!file_exists(r, CONTROL_NVPMODEL))
		snprintf(c->item.refused, sizeof c->item.refused, _("%s is not here, as in a container"),
			 CONTROL_NVPMODEL);
}

static void read_swap(struct control_unit *c, const struct root *r)
{
	char swaps[4096], word[64];
	struct stat st;
	struct statvfs fs;

	int fd = root_open_file(r, "/", O_RDONLY | O_DIRECTORY);
	bool on = root_read(r, "/proc/swaps", swaps, sizeof swaps) > 0 &&
		  strstr(swaps, "\n" CONTROL_SWAPFILE " ");
	if (on && (fd < 0 || fstatat(fd, &CONTROL_SWAPFILE[1], &st, AT_SYMLINK_NOFOLLOW) < 0))
		snprintf(c->item.missing, sizeof c->item.missing, "%s: %s", CONTROL_SWAPFILE,
			 strerror(errno));
	else if (on)
		snprintf(c->item.value, sizeof c->item.value, "%lld", (long long)st.st_size);
	else
		strcpy(c->item.value, "off");
	allow(&c->item, "off");
	/* a disk that is full stops more than what swaps */
	if (fd >= 0 && fstatvfs(fd, &fs) == 0) {
		uint64_t room = (uint64_t)fs.f_frsize *
				(fs.f_bavail > fs.f_blocks / 20 ? fs.f_bavail - fs.f_blocks / 20 : 0);
		snprintf(word, sizeof word, "%d..%llu", SWAP_LEAST, (unsigned long long)room);
		if (room >= SWAP_LEAST)
			allow(&c->item, word);
	}
	if (fd >= 0)
		close(fd);
}

/* Adds copies of the files of all units of that kind. */
static bool gather(struct control_unit *c, const struct control_units *u, enum control_kind kind)
{
	for (size_t i = 0; i < u->n; i++) {
		const struct control_unit *from = &u->at[i];
		if (from->item.kind != kind || !from->n)
			continue;
		struct control_file *all = reallocarray(c->files, c->n + from->n, sizeof *all);
		if (!all)
			return false;
		c->files = all;
		memcpy(all + c->n, from->files, from->n * sizeof *all);
		c->n += from->n;
	}
	return true;
}

/* All clocks are at their highest if none has a lower one. */
static void read_pinned(struct control_unit *c)
{
	size_t pairs = 0, equal = 0;

	for (size_t i = 1; i < c->n; i++)
		if (control_is_max(c->files[i].path)) {
			pairs++;
			equal += !strcmp(c->files[i - 1].text, c->files[i].text);
		}
	if (!pairs)
		strcpy(c->item.refused, _("no clock here has limits that can be set"));
	else
		strcpy(c->item.value, equal == pairs ? "max" : "dynamic");
	strcpy(c->item.allowed, "max restore");
}

static int find_all(const struct board *b, const struct root *r, struct control_units *u)
{
	size_t n;
	const struct control_statement *s = board_controls(b, &n);

	for (int kind = 0; kind < CONTROL_KINDS; kind++)
		for (size_t i = 0; i < n; i++) {
			if ((int)kind_of(&s[i]) != kind)
				continue;
			bool any = kind == CONTROL_FAN && !strcmp(s[i].places[0].name, "*");
			if (any && find_fans(u, &s[i], r) < 0)
				return -1;
			struct control_unit *c = any ? NULL : add_unit(u, &s[i], (enum control_kind)kind, 0);
			if (!any && (!c || (kind != CONTROL_MODE && find_files(c, r) < 0)))
				return -1;
		}
	for (size_t i = 0; i < u->n; i++) {
		struct control_unit *c = &u->at[i];
		bool pinned = c->item.kind == CONTROL_PINNED;
		if ((pinned || c->item.kind == CONTROL_MODE) && !gather(c, u, CONTROL_CLOCK))
			return -1;
		if (pinned && !gather(c, u, CONTROL_FAN))
			return -1;
	}
	return 0;
}

int control_units(const struct board *b, const struct root *r, struct control_units *u, struct err *e)
{
	struct machine *m = machine_new();

	*u = (struct control_units) {NULL, 0};
	if (!m || find_all(b, r, u) < 0) {
		machine_free(m);
		control_units_free(u);
		return err_set(e, ERR_FAILED, _("out of memory"));
	}
	machine_read_settings(m, r);
	for (size_t i = 0; i < u->n; i++) {
		struct control_unit *c = &u->at[i];
		switch (c->item.kind) {
		case CONTROL_FAN:
			read_fan(c, r, m);
			break;
		case CONTROL_MODE:
			read_mode(c, r, m);
			break;
		case CONTROL_PINNED:
			read_pinned(c);
			break;
		case CONTROL_CLOCK:
			read_clocks(c, r);
			break;
		case CONTROL_GOVERNOR:
			read_governor(c, r);
			break;
		case CONTROL_3D:
			if (c->n && !c->item.missing[0])
				strcpy(c->item.value, strcmp(c->files[0].text, "0") ? "on" : "off");
			strcpy(c->item.allowed, "on off");
			break;
		case CONTROL_SWAP:
			read_swap(c, r);
			break;
		default: /* CONTROL_CACHES */
			if (!file_exists(r, "/proc/sys/vm/drop_caches"))
				strcpy(c->item.refused, _("there is no /proc/sys/vm/drop_caches"));
		}
		if (c->item.value[0])
			c->item.missing[0] = '\0';
	}
	machine_free(m);
	return 0;
}

void control_units_free(struct control_units *u)
{
	for (size_t i = 0; i < u->n; i++)
		free(u->at[i].files);
	free(u->at);
	*u = (struct control_units) {NULL, 0};
}

struct control_unit *control_unit_find(const struct control_units *u, const char *name)
{
	for (size_t i = 0; i < u->n; i++)
		if (!strcmp(u->at[i].item.name, name))
			return &u->at[i];
	return NULL;
}

int control_list(const struct board *b, const struct root *r, struct control_list *l, struct err *e)
{
	struct control_units u;

	*l = (struct control_list) {NULL, 0};
	if (control_units(b, r, &u, e) < 0)
		return -1;
	l->at = calloc(u.n + 1, sizeof *l->at);
	for (; l->at && l->n < u.n; l->n++)
		l->at[l->n] = u.at[l->n].item;
	control_units_free(&u);
	return l->at ? 0 : err_set(e, ERR_FAILED, _("out of memory"));
}

void control_list_free(struct control_list *l)
{
	free(l->at);
	*l = (struct control_list) {NULL, 0};
}

const struct control_item *control_find(const struct control_list *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->at[i].name, name))
			return &l->at[i];
	return NULL;
}
