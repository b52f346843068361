/* Power modes and jetson_clocks. nvpmodel may fail, ask for a reboot or, in a container, do nothing and say that all is
 * well: so the caps that its configuration has for a mode are compared with those that the kernel has. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "board/conf.h"
#include "helper/local.h"
#include "probe/attr.h"
#include "util/clock.h"
#include "util/num.h"
#include "util/text.h"

#define LINES_MAX 1024
#define STORE     "jetson_clocks"
#define KNEXT     "_KNEXT" /* of a path on newer kernels */

/* "MAX_FREQ /sys/..." in the section of the parameter GPU, or "GPU MAX_FREQ 612000000" in that of a mode. */
struct mode_line {
	bool param;
	char of[48], arg[48], text[160];
};
struct mode_conf {
	struct mode_line lines[LINES_MAX];
	size_t n;
};

static struct mode_conf *conf_read(const struct root *r, int64_t wanted)
{
	struct mode_conf *c = calloc(1, sizeof *c);
	char *text = c ? conf_text(r, CONF_MODES) : NULL, param[48] = "";
	const char *at = text, *name;
	bool here = false; /* in the section of that mode */
	struct conf_line l;
	int64_t id;

	while (conf_next(&at, &l) && c->n < LINES_MAX) {
		struct mode_line *p = &c->lines[c->n];
		size_t first = *param ? 0 : 1;
		if (l.begins) {
			here = conf_mode(&l, &id, &name) && id == wanted;
			snprintf(param, sizeof param, "%s", strcmp(l.words[0], "PARAM") ? "" : conf_value(&l, "NAME="));
		} else if ((*param || here) && l.n > first + 1) {
			p->param = *param;
			snprintf(p->of, sizeof p->of, "%s", first ? l.words[0] : param);
			snprintf(p->arg, sizeof p->arg, "%s", l.words[first]);
			snprintf(p->text, sizeof p->text, "%s", l.words[first + 1]);
			c->n++;
		}
	}
	free(text);
	return c;
}

/* The file that an argument of a parameter is in, that of newer kernels first; NULL: none that there is. */
static const char *conf_path(const struct mode_conf *c, const struct root *r, const char *of, const char *arg)
{
	const char *found = NULL;
	size_t len = strlen(arg);

	for (size_t i = 0; i < c->n; i++) {
		const struct mode_line *p = &c->lines[i];
		if (!p->param || strcmp(p->of, of) != 0 || strncmp(p->arg, arg, len) != 0 ||
		    p->text[0] != '/' || !file_exists(r, p->text))
			continue;
		if (!strcmp(p->arg + len, KNEXT))
			return p->text;
		found = p->arg[len] ? found : p->text;
	}
	return found;
}

bool mode_needs_reboot(const struct root *r, int64_t id)
{
	int64_t now_id = -1;
	struct mode_conf *to = conf_read(r, id),
			 *from = conf_mode_now(r, &now_id) ? conf_read(r, now_id) : NULL;
	bool needed = false;

	for (size_t i = 0; to && i < to->n && !needed; i++) {
		const struct mode_line *l = &to->lines[i];
		char text[64] = "";
		if (l->param || !text_ends_in(l->arg, "_PG_MASK"))
			continue;
		/* what is, by the file, else by the configuration of the mode that is set */
		const char *path = conf_path(to, r, l->of, l->arg);
		if (!path || !file_line(r, path, text, sizeof text))
			for (size_t k = 0; from && k < from->n; k++)
				if (!from->lines[k].param && !strcmp(from->lines[k].of, l->of) &&
				    !strcmp(from->lines[k].arg, l->arg))
					snprintf(text, sizeof text, "%.60s", from->lines[k].text);
		needed = *text && strtoll(text, NULL, 0) != strtoll(l->text, NULL, 0);
	}
	free(to);
	free(from);
	return needed;
}

/* The highest step up to `most`, which nvpmodel sets; without steps -1. */
static int64_t step_of(const struct root *r, const char *path, int64_t most)
{
	char list[2048], *p = list;
	int64_t best = -1, lowest = INT64_MAX, v;

	if (!path || root_read(r, path, list, sizeof list) <= 0)
		return -1;
	for (char *word; (word = strsep(&p, " \n"));) {
		if (!num_i64(word, word + strlen(word), &v))
			continue;
		lowest = v < lowest ? v : lowest;
		best = v <= most && v > best ? v : best;
	}
	return best >= 0 ? best : lowest < INT64_MAX ? lowest : -1;
}

int mode_check(const struct root *r, int64_t id, char why[240])
{
	struct mode_conf *c = conf_read(r, id);
	int64_t now_id;
	bool bad = !c || !conf_mode_now(r, &now_id) || now_id != id;

	if (bad)
		snprintf(why, 240, "%s", "/var/lib/nvpmodel/status has another mode");
	for (size_t i = 0; c && i < c->n && !bad; i++) {
		const struct mode_line *l = &c->lines[i];
		bool cap = !l->param && !strcmp(l->arg, "MAX_FREQ");
		bool core = !l->param && !strcmp(l->of, "CPU_ONLINE");
		const char *path = cap || core ? conf_path(c, r, l->of, l->arg) : NULL;
		const char *end = l->text + strlen(l->text);
		long long now;
		int64_t want;
		if (!path || num_i64(l->text, end, &want) != end || root_read_i64(r, path, &now) < 0)
			continue; /* the clocks of cores that are off */
		int64_t most = want < 0 ? INT64_MAX : want;
		int64_t step = cap ? step_of(r, conf_path(c, r, l->of, "FREQ_TABLE"), most) : -1;
		/* where the steps are not known, a cap of 0 is none, and a lower one may be rounded */
		bad = core ? now != want : step >= 0 ? now != step : want > 0 && (now > want || !now);
		if (bad)
			snprintf(why, 240, "%.120s has %lld, and the mode %lld", path, now,
				 (long long)(step >= 0 ? step : want));
	}
	free(c);
	return bad ? -1 : 0;
}

bool clocks_kept(struct work *w)
{
	for (size_t i = 0; i < w->n_entries; i++)
		if (!strcmp(w->entries[i].name, "clocks") && !strcmp(w->entries[i].boot, w->boot))
			return faccessat(w->folder, STORE, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	unlinkat(w->folder, STORE, 0);
	return false;
}

/* Runs jetson_clocks, which also changes the fan: that is put back. */
static int clocks_run(struct work *w, const char *option, const char *file, char why[240])
{
	bool active = control_fan_service(w->root) == SERVICE_ACTIVE;
	char path[PATH_MAX], later[240];

	snprintf(path, sizeof path, "%s%s/%s", work_top(w->root), CONTROL_FOLDER, file);
	int result = PROGRAM(w, 30, why, CONTROL_JETSON_CLOCKS, option, path);
	if (active != (control_fan_service(w->root) == SERVICE_ACTIVE) && fan_service(w, NULL, active, later))
		work_log(w, "fan: %s", later);
	for (size_t i = 0; i < w->items.n; i++)
		if (w->items.at[i].kind == CONTROL_FAN &&
		    write_files(w, w->items.at[i].files, w->items.at[i].n, later))
			work_log(w, "fan: %s", later);
	return result;
}

int clocks_max(struct work *w, char why[240])
{
	/* It asks before it overwrites a file. */
	unlinkat(w->folder, STORE ".new", 0);
	if (clocks_run(w, "--store", STORE ".new", why) < 0)
		return -1;
	if (renameat(w->folder, STORE ".new", w->folder, STORE) < 0) {
		snprintf(why, 240, "%s --store has stored nothing: %s", CONTROL_JETSON_CLOCKS,
			 strerror(errno));
		return -1;
	}
	fsync(w->folder);
	work_wrote();
	return clocks_run(w, NULL, "", why);
}

int clocks_back(struct work *w, char why[240])
{
	if (!clocks_kept(w))
		return 0;
	int result = clocks_run(w, "--restore", STORE, why);
	if (result == 0)
		unlinkat(w->folder, STORE, 0);
	return result;
}

int mode_set(struct work *w, int64_t id, char why[240])
{
	bool pinned = clocks_kept(w);
	char number[24], said[240], other[240];
	int64_t until;

	snprintf(number, sizeof number, "%lld", (long long)id);
	/* jetson_clocks keeps the lowest clocks of the mode before */
	if (pinned && clocks_back(w, why) < 0)
		return -1;
	int result = PROGRAM(w, 60, why, CONTROL_NVPMODEL, "-m", number);
	strcpy(said, why);
	for (until = clock_now_ns() + NS_PER_S; result >= 0 && mode_check(w->root, id, why) < 0;) {
		result = clock_now_ns() > until;
		if (result)
			break;
		nanosleep(&(struct timespec) {.tv_nsec = 50 * NS_PER_MS}, NULL);
	}
	if (result == 0)
		*why = '\0';
	else if (result > 0 && strcasestr(said, "reboot"))
		snprintf(why, 240, "it needs a reboot; run `sudo nvpmodel -m %lld`", (long long)id);
	else if (result > 0 && *said)
		snprintf(why + strlen(why), 240 - strlen(why), "; nvpmodel said: %.100s", said);
	/* at their highest again, also where the mode is still the one before */
	if (pinned && clocks_max(w, result ? other : why) < 0)
		result = -1;
	return result;
}
