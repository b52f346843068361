/* The fan. Profiles are those of nvfancontrol, which reads them when its service starts. A speed that was set by hand
 * is watched: nothing else would answer to heat then. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "board/conf.h"
#include "helper/local.h"
#include "probe/attr.h"
#include "util/clock.h"
#include "util/intl.h"
#include "util/io.h"
#include "util/text.h"

#define CONF_MOST ((size_t)256 * 1024)
#define DEFAULT   "FAN_DEFAULT_PROFILE"

static void take_profile(void *out, const struct conf_line *l)
{
	char *state = out;
	size_t used = strlen(state);

	if (l->n > 1 && !strcmp(l->words[0], DEFAULT))
		snprintf(state + used, 128 - used, "%s%s", state[used - 1] == ' ' ? "" : ",", l->words[1]);
}

void fan_state(const struct root *r, char out[128])
{
	static const char *const words[] = {"none ", "stopped ", "active "};

	strcpy(out, words[control_fan_service(r)]);
	conf_each(r, CONF_FAN, take_profile, out);
}

/* Opens the folder of the configuration, which may be a link within /etc; *name is its name there. */
static int conf_folder(const struct root *r, char path[256], const char **name)
{
	char target[192], folder[192];

	strcpy(path, CONF_FAN);
	for (int links = 0; links < 4; links++) {
		int fd = folder_of(r, path, name);
		ssize_t n = fd < 0 ? -1 : readlinkat(fd, *name, target, sizeof target - 1);
		if (n < 0)
			return fd;
		close(fd);
		target[n] = '\0';
		snprintf(folder, sizeof folder, "%.*s", target[0] == '/' ? 0 : (int)(*name - path), path);
		snprintf(path, 256, "%.120s%.120s", folder, target);
		if (strncmp(path, "/etc/", 5) != 0 || strstr(path, "/../"))
			break;
	}
	errno = ELOOP;
	return -1;
}

/* Writes other profiles, "quiet,cool", into the lines of the configuration that say with which it begins. */
static int conf_write(const struct root *r, const char *profiles, char why[240])
{
	char path[256], *text = malloc(CONF_MOST), *new = NULL;
	const char *name, *at = text, *p = profiles;
	size_t size;
	int folder = text ? conf_folder(r, path, &name) : -1;
	int fd = folder < 0 ? -1 : openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read_all(fd, text, CONF_MOST - 1, 0);
	FILE *f = n < 0 || (size_t)n == CONF_MOST - 1 ? NULL : open_memstream(&new, &size);
	int result = -1;

	if (f) {
		text[n] = '\0';
		for (size_t len; *at; at += len) {
			size_t word = strspn(at, " \t"), key = strcspn(at + word, " \t\n");
			size_t value = word + key + strspn(at + word + key, " \t");
			len = strcspn(at, "\n");
			len += at[len] == '\n';
			if (key != strlen(DEFAULT) || strncmp(at + word, DEFAULT, key) != 0) {
				fwrite(at, 1, len, f);
				continue;
			}
			size_t rest = value + strcspn(at + value, " \t\r\n");
			fprintf(f, "%.*s%.*s%.*s", (int)value, at, (int)strcspn(p, ","), p, (int)(len - rest),
				at + rest);
			p += strcspn(p, ",") + (strchr(p, ',') ? 1 : 0);
			p = *p ? p : profiles;
		}
		if (fclose(f) == 0)
			result = write_anew(r, folder, name, new, size);
	}
	if (result < 0)
		snprintf(why, 240, _("cannot change %s: %s"), CONF_FAN, strerror(errno));
	if (fd >= 0)
		close(fd);
	if (folder >= 0)
		close(folder);
	free(new);
	free(text);
	return result;
}

/* Does the service say that it has the first of these profiles? */
static bool says_profile(const struct root *r, const char *profiles)
{
	char text[1024], key[80];

	snprintf(key, sizeof key, "FAN_PROFILE:%.*s", (int)strcspn(profiles, ","), profiles);
	const char *p =
		root_read_trusted(r, CONF_FAN_STATUS, text, sizeof text) > 0 ? strstr(text, key) : NULL;
	return p && strchr(" \t\r\n", p[strlen(key)]);
}

static bool has_state(struct work *w, const char *profiles, bool active)
{
	return active == (control_fan_service(w->root) == SERVICE_ACTIVE) &&
	       (!active || !profiles || says_profile(w->root, profiles));
}

int fan_service(struct work *w, const char *profiles, bool active, char why[240])
{
	char now[128];
	const char *base;
	bool on = control_fan_service(w->root) == SERVICE_ACTIVE;

	fan_state(w->root, now);
	if (profiles &&
	    (strcmp(strchr(now, ' ') + 1, profiles) != 0 || (active && !says_profile(w->root, profiles)))) {
		if (on && PROGRAM(w, 30, why, CONTROL_SYSTEMCTL, "stop", "nvfancontrol.service") < 0)
			return -1;
		on = false;
		if (conf_write(w->root, profiles, why) < 0)
			return -1;
		/* it has the profile before, and would go on with it */
		int folder = folder_of(w->root, CONF_FAN_STATUS, &base);
		if (folder >= 0) {
			unlinkat(folder, base, 0);
			close(folder);
			work_wrote();
		}
	}
	if (on != active &&
	    PROGRAM(w, 30, why, CONTROL_SYSTEMCTL, active ? "start" : "stop", "nvfancontrol.service") < 0)
		return -1;
	for (int64_t until = clock_now_ns() + 5 * NS_PER_S; !has_state(w, profiles, active);) {
		if (clock_now_ns() > until) {
			snprintf(why, 240, "%s",
				 active ? _("nvfancontrol.service was started, and does not run with that "
					    "profile")
					: _("nvfancontrol.service was stopped, and still runs"));
			return 1;
		}
		nanosleep(&(struct timespec) {.tv_nsec = 50 * NS_PER_MS}, NULL);
	}
	return 0;
}

int fan_auto(struct work *w, const struct control_unit *u, char why[240])
{
	if (control_fan_service(w->root) != SERVICE_NONE)
		return fan_service(w, NULL, true, why);
	struct control_file want = u->files[u->n - 1];
	strcpy(want.text, text_ends_in(want.path, "/temp_control") ? "1" : "2");
	/* chips have several ways to regulate by themselves: what it was */
	for (size_t i = 0; i < w->n_entries; i++)
		for (size_t k = 0; k < w->entries[i].n; k++) {
			const struct control_file *f = &w->entries[i].files[k];
			if (!strcmp(f->path, want.path) && text_ends_in(f->path, "_enable") &&
			    strcmp(f->text, "1") > 0)
				strcpy(want.text, f->text);
		}
	return write_files(w, &want, 1, why);
}

/* In mC; INT_MIN: no zone can be read. Two of older boards are not measured. */
static int hottest(const struct root *r)
{
	struct place p = {.kind = PLACE_ZONE};
	unsigned at = 0;
	int most = INT_MIN;
	long long t;

	while (place_next(&p, r, "temp", &at))
		if (strncmp(p.name, "PMIC", 4) != 0 && strcmp(p.name, "thermal-fan-est") != 0 &&
		    root_read_i64(r, p.path, &t) == 0 && t > -40000 && t < 200000 && t > most)
			most = (int)t;
	return most;
}

/* Is its speed fixed, by this program? */
static bool is_by_hand(struct work *w, const struct control_unit *u)
{
	const struct entry *e = u->item.kind == CONTROL_FAN && text_ends_in(u->item.value, "%")
					? undo_oldest(w, u->item.name)
					: NULL;

	return e && !strcmp(e->boot, w->boot);
}

int fan_watch(struct work *w)
{
	int lock = openat(w->folder, "watch", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600), tries = 0;
	char why[240];
	struct err e;

	/* One is enough; but the one before may be about to end. */
	while (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) < 0)
		if (lock < 0 || ++tries == 50)
			return 0;
		else
			nanosleep(&(struct timespec) {.tv_nsec = 200 * NS_PER_MS}, NULL);
	for (bool any = true; any;) {
		any = false;
		if (undo_load(w, &e) < 0 || work_read(w, &e) < 0)
			return 1;
		int t = hottest(w->root);
		for (size_t i = 0; i < w->units.n; i++) {
			struct control_unit *u = &w->units.at[i];
			if (!is_by_hand(w, u))
				continue;
			any = true;
			if (t != INT_MIN && t < CONTROL_HOT_C * 1000)
				continue;
			work_log(w,
				 t == INT_MIN
					 ? _("%s: no temperature can be read: automatic control is restored")
					 : _("%s: the hottest zone has %d C: automatic control is restored"),
				 u->item.name, t / 1000);
			int turn = work_lock(w, 10, &e); /* heat does not wait for it longer */
			if (fan_auto(w, u, why) != 0) {
				work_log(w, _("%s: %s; it gets its highest speed"), u->item.name, why);
				write_text(w->root, u->files[0].path, "255");
			}
			if (turn >= 0)
				close(turn);
		}
		nanosleep(&(struct timespec) {.tv_sec = 1}, NULL);
	}
	return 0;
}

bool fan_can_watch(const struct root *r)
{
	return hottest(r) != INT_MIN;
}
