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
#include "control/control.h"
#include "util/array.h"
#include "util/intl.h"
#include "util/num.h"
#include "util/text.h"

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

static struct control_item *add_item(struct control_list *u, const struct control_statement *s, unsigned number)
{
	struct control_item *c = array_add(&u->at, &u->n, sizeof *c);

	if (!c)
		return NULL;
	c->kind = s->kind;
	snprintf(c->name, sizeof c->name, "%s%s%s", control_words[s->kind], *s->name ? "." : "", s->name);
	if (number)
		text_number(c->name, sizeof c->name, c->name, number);
	return c;
}

static bool add_file(struct control_item *c, const struct root *r, const char *path)
{
	struct control_file *f = array_add(&c->files, &c->n, sizeof *f);
	struct statvfs fs;

	if (!f)
		return false;
	text_join(f->path, sizeof f->path, path);
	int fd = root_open_file(r, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 && fstatvfs(fd, &fs) == 0 && (fs.f_flag & ST_RDONLY))
		snprintf(c->refused, sizeof c->refused,
			 _("%.100s is on a file system that cannot be written to, as in a container"), path);
	if (fd >= 0)
		close(fd);
	if (!file_line(r, path, f->text, sizeof f->text))
		snprintf(c->missing, sizeof c->missing, "%.100s: %.50s", path, root_error(errno));
	return true;
}

/* Adds a file that a place names, if it is there, and those that belong to it. */
static bool add_files(struct control_item *c, const struct root *r, const char *path)
{
	char other[256];

	if (strlen(path) >= sizeof c->files->path || !file_exists(r, path))
		return true;
	if (c->kind == CONTROL_CLOCK && control_is_max(path)) {
		snprintf(other, sizeof other, "%.*smin_freq", (int)(strstr(base(path), "max_freq") - path),
			 path);
		if (!add_file(c, r, other))
			return false;
	}
	if (!add_file(c, r, path))
		return false;
	return c->kind != CONTROL_FAN || !conf_fan_control(r, path, other) || add_file(c, r, other);
}

/* Adds the files of each group of cores for "policy*". */
static bool add_each(struct control_item *c, const struct root *r, const char *pattern)
{
	const char *star = strchr(pattern, '*');
	char folder[192], path[256], **names;
	bool ok = true;
	size_t n;

	snprintf(folder, sizeof folder, "%.*s", (int)(star - pattern), pattern);
	char *begin = strrchr(folder, '/');
	*begin++ = '\0';
	if (root_list(r, folder, &names, &n) < 0)
		return errno != ENOMEM;
	for (size_t i = 0; i < n && ok; i++)
		if (!strncmp(names[i], begin, strlen(begin))) {
			snprintf(path, sizeof path, "%s/%.60s%s", folder, names[i], star + 1);
			ok = add_files(c, r, path);
		}
	free(names);
	return ok;
}

/* Adds what one statement says: the first of its places that there is; of "hwmon=*" each fan whose control can be
 * switched. */
static bool add_items(struct control_list *u, const struct control_statement *s, const struct root *r)
{
	struct place p = s->places[0];
	unsigned at = 0, number = 0;
	size_t used = 0;
	char path[224];

	if (s->kind == CONTROL_FAN && !strcmp(p.name, "*")) {
		while (place_next(&p, r, "pwm", &at)) {
			snprintf(path, sizeof path, "%s_enable", p.path);
			struct control_item *fan =
				file_exists(r, path) ? add_item(u, s, number++) : NULL;
			if (file_exists(r, path) && (!fan || !add_files(fan, r, p.path)))
				return false;
		}
		return true;
	}
	struct control_item *c = add_item(u, s, 0);
	size_t n = s->kind == CONTROL_MODE ? 0 : s->n_places; /* its file is NVIDIA's program's */
	for (size_t i = 0; c && i < n && !c->n; i++) {
		p = s->places[i];
		if (p.kind == PLACE_PATH && strchr(p.path, '*')
			    ? !add_each(c, r, p.path)
			    : place_find(&p, r, "pwm") == 0 && !add_files(c, r, p.path))
			return false;
	}
	for (size_t i = 0; c && i < n && !c->n && used < sizeof c->refused; i++) {
		const struct place *no = &s->places[i];
		bool named = no->kind != PLACE_PATH;
		used += (size_t)snprintf(c->refused + used, sizeof c->refused - used, "%s%s%s%s",
					 i ? ", " : _("not here: "), named ? no->name : no->path,
					 named ? "/" : "", no->which);
	}
	return c;
}

/* --- reading --- */

static void allow(struct control_item *i, const char *word)
{
	size_t used = strlen(i->allowed);

	if (used + strlen(word) + 2 < sizeof i->allowed)
		snprintf(i->allowed + used, sizeof i->allowed - used, "%s%s", used ? " " : "", word);
}

/* Allows the words that the kernel lists beside a file: "frequencies", "governors". */
static void allow_listed(struct control_item *i, const struct root *r, const char *path, const char *what)
{
	bool cores = control_scale(path) != 1, clocks = i->kind == CONTROL_CLOCK;
	char file[256], list[2048], hz[32], *p = list;

	snprintf(file, sizeof file, "%.*s%savailable_%s", (int)(base(path) - path), path,
		 cores ? "scaling_" : "", what);
	if (root_read(r, file, list, sizeof list) <= 0)
		return;
	for (char *word; (word = strsep(&p, " \n"));) {
		if (clocks && word[strspn(word, "0123456789")])
			continue;
		snprintf(hz, sizeof hz, "%.20s%s", word, cores ? "000" : "");
		if (*word)
			allow(i, clocks ? hz : word);
	}
}

static void read_clocks(struct control_item *c, const struct root *r)
{
	int64_t lowest = INT64_MAX, highest = 0;
	const char *path = c->n ? c->files[c->n - 1].path : NULL;
	long long least, most;
	char range[96], folder[192];

	for (size_t i = 0; i < c->n; i++) {
		int64_t hz = number_of(&c->files[i]);
		if (hz < 0)
			return;
		lowest = hz < lowest ? hz : lowest;
		highest = hz > highest ? hz : highest;
	}
	if (!path)
		return;
	if (!control_is_max(path)) {
		strcpy(c->allowed, "0..max");
		strcpy(c->value, "0..max"); /* a cap of 0 is none */
		if (highest)
			snprintf(c->value, sizeof c->value, "0..%lld", (long long)highest);
		return;
	}
	snprintf(c->value, sizeof c->value, "%lld..%lld", (long long)lowest, (long long)highest);
	allow_listed(c, r, c->files[0].path, "frequencies");
	if (*c->allowed)
		return;
	/* without steps the lowest and the highest */
	strcpy(range, c->value);
	snprintf(folder, sizeof folder, "%.*s", (int)(base(c->files[0].path) - c->files[0].path),
		 c->files[0].path);
	if (control_scale(path) != 1 && file_number_of(r, &least, folder, "cpuinfo_min_freq") == 0 &&
	    file_number_of(r, &most, folder, "cpuinfo_max_freq") == 0)
		snprintf(range, sizeof range, "%lld000..%lld000", least, most);
	allow(c, range);
}

static void read_governor(struct control_item *c, const struct root *r)
{
	if (!c->n)
		return;
	allow_listed(c, r, c->files[0].path, "governors");
	strcpy(c->value, c->files[0].text);
	for (size_t i = 1; i < c->n && *c->value; i++)
		if (strcmp(c->files[i].text, c->files[0].text) != 0) {
			snprintf(c->missing, sizeof c->missing, _("not the same for all: %s, %s"),
				 c->files[0].text, c->files[i].text);
			*c->value = '\0';
		}
}

static void read_fan(struct control_item *c, const struct root *r)
{
	char profiles[CONF_PROFILES][48], usual[48];
	enum control_service service = control_fan_service(r);
	const struct control_file *pwm = &c->files[0], *control = c->n > 1 ? &c->files[1] : NULL;
	bool legacy = control && text_ends_in(control->path, "/temp_control");
	int64_t speed = c->n ? number_of(pwm) : -1, on = control ? number_of(control) : 1;

	if (!c->n)
		return;
	allow(c, "0..100");
	if (control || service != SERVICE_NONE)
		allow(c, "auto");
	size_t n = conf_profiles(r, profiles, usual);
	for (size_t i = 0; i < n && service != SERVICE_NONE; i++)
		allow(c, profiles[i]);
	if (service == SERVICE_ACTIVE) {
		if (!machine_field_text(r, machine_field_find("fan.profile"), "", c->value, sizeof c->value))
			strcpy(c->value, usual);
	} else if (on < 0 || speed < 0)
		return;
	else if (legacy ? on == 1 : on > 1)
		strcpy(c->value, "auto");
	else if (!legacy && !on)
		snprintf(c->missing, sizeof c->missing, _("%.100s is 0: nothing sets its speed"),
			 control->path);
	else
		snprintf(c->value, sizeof c->value, "%d%%", (int)((speed * 100 + 127) / 255));
}

static void read_mode(struct control_item *c, const struct root *r)
{
	char word[80], *modes = conf_text(r, CONF_MODES), text[48];
	const char *at = modes, *name;
	struct conf_line l;
	int64_t id, now;

	bool known = conf_mode_now(r, &now);
	while (conf_next(&at, &l)) {
		if (!conf_mode(&l, &id, &name))
			continue;
		/* a name with a blank is not a word */
		text_printable(text, sizeof text, name, strlen(name));
		bool plain = !text[strcspn(text, " \t:")];
		snprintf(word, sizeof word, "%lld%s%s", (long long)id, plain ? ":" : "", plain ? text : "");
		allow(c, word);
		if (known && id == now)
			strcpy(c->value, text);
	}
	free(modes);
	if (!c->value[0])
		snprintf(c->missing, sizeof c->missing,
			 known ? _("the mode that is set has no name in %s") : _("%s has no mode"),
			 known ? CONF_MODES : "/var/lib/nvpmodel/status");
	if (!file_exists(r, CONTROL_NVPMODEL))
		snprintf(c->refused, sizeof c->refused, _("%s is not here, as in a container"), CONTROL_NVPMODEL);
}

static void read_swap(struct control_item *c, const struct root *r)
{
	struct swap_area swaps[SWAPS_MAX];
	int n = swaps_read(r, swaps);
	char word[64];
	struct stat st;
	struct statvfs fs;

	int fd = root_open_file(r, "/", O_RDONLY | O_DIRECTORY);
	bool on = false;
	while (n-- > 0)
		on |= !strcmp(swaps[n].device, CONTROL_SWAPFILE);
	if (on && (fd < 0 || fstatat(fd, &CONTROL_SWAPFILE[1], &st, AT_SYMLINK_NOFOLLOW) < 0))
		snprintf(c->missing, sizeof c->missing, "%s: %s", CONTROL_SWAPFILE,
			 strerror(errno));
	else if (on)
		snprintf(c->value, sizeof c->value, "%lld", (long long)st.st_size);
	else
		strcpy(c->value, "off");
	allow(c, "off");
	/* a disk that is full stops more than what swaps */
	if (fd >= 0 && fstatvfs(fd, &fs) == 0) {
		uint64_t room = (uint64_t)fs.f_frsize *
				(fs.f_bavail > fs.f_blocks / 20 ? fs.f_bavail - fs.f_blocks / 20 : 0);
		snprintf(word, sizeof word, "%d..%llu", CONTROL_SWAP_LEAST, (unsigned long long)room);
		if (room >= CONTROL_SWAP_LEAST)
			allow(c, word);
	}
	if (fd >= 0)
		close(fd);
}

/* Adds copies of the files of all units of a kind. */
static bool gather(struct control_item *c, const struct control_list *u, enum control_kind kind)
{
	for (size_t i = 0; i < u->n; i++)
		for (size_t k = 0; k < u->at[i].n && u->at[i].kind == kind; k++) {
			struct control_file *f = array_add(&c->files, &c->n, sizeof *f);
			if (!f)
				return false;
			*f = u->at[i].files[k];
		}
	return true;
}

/* All clocks are at their highest if none has a lower one. */
static void read_pinned(struct control_item *c)
{
	size_t pairs = 0, equal = 0;

	for (size_t i = 1; i < c->n; i++)
		if (control_is_max(c->files[i].path)) {
			pairs++;
			equal += !strcmp(c->files[i - 1].text, c->files[i].text);
		}
	if (!pairs)
		strcpy(c->refused, _("no clock here has limits that can be set"));
	else
		strcpy(c->value, equal == pairs ? "max" : "dynamic");
	strcpy(c->allowed, "max restore");
}

static bool find_all(const struct board *b, const struct root *r, struct control_list *u)
{
	for (int kind = 0; kind < CONTROL_KINDS; kind++)
		for (size_t i = 0; i < b->n_controls; i++)
			if ((int)b->controls[i].kind == kind && !add_items(u, &b->controls[i], r))
				return false;
	for (struct control_item *c = u->at; c < u->at + u->n; c++) {
		bool pinned = c->kind == CONTROL_PINNED, mode = c->kind == CONTROL_MODE;
		if (((pinned || mode) && !gather(c, u, CONTROL_CLOCK)) ||
		    (pinned && !gather(c, u, CONTROL_FAN)))
			return false;
	}
	return true;
}

int control_list(const struct board *b, const struct root *r, struct control_list *u, struct err *e)
{
	*u = (struct control_list) {NULL, 0};
	if (!find_all(b, r, u)) {
		control_list_free(u);
		return err_set(e, ERR_FAILED, _("out of memory"));
	}
	for (size_t i = 0; i < u->n; i++) {
		struct control_item *c = &u->at[i];
		switch (c->kind) {
		case CONTROL_FAN:
			read_fan(c, r);
			break;
		case CONTROL_MODE:
			read_mode(c, r);
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
			if (c->n && !c->missing[0])
				strcpy(c->value, strcmp(c->files[0].text, "0") ? "on" : "off");
			strcpy(c->allowed, "on off");
			break;
		case CONTROL_SWAP:
			read_swap(c, r);
			break;
		default: /* CONTROL_CACHES */
			if (!file_exists(r, "/proc/sys/vm/drop_caches"))
				strcpy(c->refused, _("there is no /proc/sys/vm/drop_caches"));
		}
		if (c->value[0])
			c->missing[0] = '\0';
	}
	return 0;
}

void control_list_free(struct control_list *u)
{
	for (size_t i = 0; i < u->n; i++)
		free(u->at[i].files);
	free(u->at);
	*u = (struct control_list) {NULL, 0};
}

struct control_item *control_find(const struct control_list *u, const char *name)
{
	for (size_t i = 0; i < u->n; i++)
		if (!strcmp(u->at[i].name, name))
			return &u->at[i];
	return NULL;
}

