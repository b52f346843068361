/* The fan. Profiles are those of nvfancontrol, which reads them when its service starts. A speed that was set by hand
 * is watched: nothing else would answer to heat then. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "board/conf.h"
#include "helper/local.h"
#include "probe/open.h"
#include "util/clock.h"
#include "util/io.h"
#include "util/text.h"

#define CONF_MOST ((size_t)256 * 1024)
#define DEFAULT   "FAN_DEFAULT_PROFILE"
#define SERVICE   "nvfancontrol.service"

void fan_state(const struct root *r, char out[128])
{
	static const char *const words[] = {"none ", "stopped ", "active "};
	char *text = conf_text(r, CONF_FAN);
	const char *at = text;
	struct conf_line l;

	strcpy(out, words[control_fan_service(r)]);
	while (conf_next(&at, &l)) {
		size_t used = strlen(out);
		if (l.n > 1 && !strcmp(l.words[0], DEFAULT))
			snprintf(out + used, 128 - used, "%s%s", out[used - 1] == ' ' ? "" : ",", l.words[1]);
	}
	free(text);
}

/* Writes other profiles, "quiet,cool", into the lines of the configuration that say with which it begins. The file may
 * be a link, but not out of /etc. */
static int conf_write(const struct root *r, const char *profiles, char why[240])
{
	char link[32], etc[PATH_MAX], path[PATH_MAX] = "", *text = malloc(CONF_MOST), *new = NULL;
	const char *p = profiles;
	size_t size;
	int result = -1, fd = root_open_file(r, CONF_FAN, O_RDONLY | O_NONBLOCK);
	ssize_t n = fd < 0 || !text ? -1 : read_all(fd, text, CONF_MOST - 1, 0);
	FILE *f = NULL;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	snprintf(etc, sizeof etc, "%s/etc/", work_top(r));
	if (n >= 0 && readlink(link, path, sizeof path - 1) > 0) {
		if ((size_t)n < CONF_MOST - 1 && !strncmp(path, etc, strlen(etc)))
			f = open_memstream(&new, &size);
		else
			errno = EPERM;
	}
	if (f) {
		text[n] = '\0';
		for (size_t len, at = 0; text[at]; at += len) {
			const char *line = text + at;
			size_t word = strspn(line, " \t"), key = strcspn(line + word, " \t\n");
			size_t value = word + key + strspn(line + word + key, " \t");
			size_t rest = value + strcspn(line + value, " \t\r\n");
			len = strcspn(line, "\n");
			len += line[len] == '\n';
			if (key != strlen(DEFAULT) || strncmp(line + word, DEFAULT, key) != 0) {
				fwrite(line, 1, len, f);
				continue;
			}
			fprintf(f, "%.*s%.*s%.*s", (int)value, line, (int)strcspn(p, ","), p,
				(int)(len - rest), line + rest);
			p += strcspn(p, ",");
			p = *p ? p + 1 : profiles;
		}
		if (fclose(f) == 0)
			result = write_anew(path, new, size);
	}
	if (result < 0)
		snprintf(why, 240, "cannot change %s: %s", CONF_FAN, strerror(errno));
	if (fd >= 0)
		close(fd);
	free(new);
	free(text);
	return result;
}

/* Does the service run, and say that it has the first of these profiles? */
static bool has_profile(const struct root *r, const char *profiles)
{
	char text[1024], key[80];

	snprintf(key, sizeof key, "FAN_PROFILE:%.*s", (int)strcspn(profiles, ","), profiles);
	const char *p =
		root_read_trusted(r, CONF_FAN_STATUS, text, sizeof text) > 0 ? strstr(text, key) : NULL;
	return p && strchr(" \t\r\n", p[strlen(key)]);
}

int fan_service(struct work *w, const char *profiles, bool active, char why[240])
{
	char now[128], status[PATH_MAX];
	bool on = control_fan_service(w->root) == SERVICE_ACTIVE;

	fan_state(w->root, now);
	if (profiles &&
	    (strcmp(strchr(now, ' ') + 1, profiles) != 0 || (active && !has_profile(w->root, profiles)))) {
		if ((on && PROGRAM(w, 30, why, CONTROL_SYSTEMCTL, "stop", SERVICE) < 0) ||
		    conf_write(w->root, profiles, why) < 0)
			return -1;
		on = false;
		/* it has the profile before, and would go on with it */
		snprintf(status, sizeof status, "%s%s", work_top(w->root), CONF_FAN_STATUS);
		unlink(status);
		work_wrote();
	}
	if (on != active && PROGRAM(w, 30, why, CONTROL_SYSTEMCTL, active ? "start" : "stop", SERVICE) < 0)
		return -1;
	for (int64_t until = clock_now_ns() + 5 * NS_PER_S;;) {
		on = control_fan_service(w->root) == SERVICE_ACTIVE;
		if (on == active && (!on || !profiles || has_profile(w->root, profiles)))
			return 0;
		if (clock_now_ns() > until)
			break;
		nanosleep(&(struct timespec) {.tv_nsec = 50 * NS_PER_MS}, NULL);
	}
	snprintf(why, 240, "%s",
		 active ? "nvfancontrol.service was started, and does not run with that profile"
			: "nvfancontrol.service was stopped, and still runs");
	return 1;
}

int fan_auto(struct work *w, const struct control_item *u, char why[240])
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

/* In mC; INT_MIN: no zone can be read. */
static int hottest(const struct root *r)
{
	struct place p = {.kind = PLACE_ZONE};
	unsigned at = 0;
	int most = INT_MIN;
	long long t;

	while (place_next(&p, r, "temp", &at))
		if (!heat_is_made_up(p.name) && root_read_i64(r, p.path, &t) == 0 && t > -40000 && t < 200000 && t > most)
			most = (int)t;
	return most;
}

bool fan_can_watch(const struct root *r)
{
	return hottest(r) != INT_MIN;
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
	for (bool any = true; any; nanosleep(&(struct timespec) {.tv_sec = 1}, NULL)) {
		int t = hottest(w->root);
		/* Without what is noted it is not known whether it was set here: then it is not left alone. */
		bool lost = undo_load(w, &e) < 0, hot = lost || t >= CONTROL_HOT_C * 1000 || t == INT_MIN;
		any = work_read(w, &e) < 0;
		for (size_t i = 0; i < w->items.n; i++) {
			struct control_item *u = &w->items.at[i];
			const struct entry *first = undo_oldest(w, u->name);
			bool by_hand = u->kind == CONTROL_FAN && text_ends_in(u->value, "%") &&
				       (lost || (first && !strcmp(first->boot, w->boot)));
			any = any || by_hand;
			if (!by_hand || !hot)
				continue;
			if (lost || t == INT_MIN)
				snprintf(why, sizeof why, "%.200s",
					 lost ? e.text : "no temperature can be read");
			else
				snprintf(why, sizeof why, "the hottest zone has %d C", t / 1000);
			work_log(w, "%s: %s: automatic control is restored", u->name, why);
			int turn = w->folder < 0 ? -1 : work_lock(w, 10, &e); /* heat does not wait longer */
			if (fan_auto(w, u, why) != 0) {
				work_log(w, "%s: %s; it gets its highest speed", u->name, why);
				write_text(w->root, u->files[0].path, "255");
			}
			if (turn >= 0)
				close(turn);
		}
	}
	return 0;
}
