/* One change: is it allowed, what would it write, note what is before, do it, and see whether it took. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helper/local.h"
#include "probe/attr.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/num.h"
#include "util/text.h"

#define DROP_CACHES "/proc/sys/vm/drop_caches"

/* What a change comes to. */
struct plan {
	struct control_file *files; /* as they are to be */
	size_t n;
	int64_t mode;
	char does[200]; /* in words, for --dry-run */
};

static bool is_digits(const char *text)
{
	return *text && strlen(text) < 19 && !text[strspn(text, "0123456789")];
}

/* Is it one of the words of a list? */
static bool is_listed(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = list; len && (p = strstr(p, word)); p += len)
		if ((p == list || p[-1] == ' ') && (!p[len] || p[len] == ' '))
			return true;
	return false;
}

/* These return false for a value that is not allowed; or with the reason in c->why. */

/* A range of Hz within "MIN..MAX", or of steps; "max" is the highest. */
static bool plan_clock(const struct control_item *u, struct control_change *c, struct plan *p)
{
	const char *allowed = u->allowed, *end = allowed + strlen(allowed),
		   *dots = strstr(allowed, "..");
	const char *last = dots ? dots + 2 : strrchr(allowed, ' ') ? strrchr(allowed, ' ') + 1 : allowed;
	bool cap = !control_is_max(u->files[u->n - 1].path);
	char low[24] = "", high[24] = "";
	int64_t least = 0, most = INT64_MAX;

	sscanf(c->wanted, "%23[0-9]..%23s", low, high);
	bool max = !strcmp(high, "max");
	if (max && !cap)
		snprintf(high, sizeof high, "%.20s", last);
	int64_t from = strtoll(low, NULL, 10), to = strtoll(high, NULL, 10); /* of a cap 0: none */
	if (!is_digits(low) || (!is_digits(high) && !(max && cap)))
		return false;
	if (dots) {
		num_i64(allowed, end, &least);
		num_i64(dots + 2, end, &most);
	} else if (!is_listed(allowed, low) || !is_listed(allowed, high))
		return false;
	if (from < least || to > most || (cap ? from != 0 : from > to))
		return false;
	snprintf(c->wanted, sizeof c->wanted, "%s..%s", low, cap && !to ? "max" : high);
	for (size_t i = 0; i < p->n; i++)
		snprintf(p->files[i].text, sizeof p->files[i].text, "%lld",
			 (long long)((cap || control_is_max(p->files[i].path) ? to : from) /
				     control_scale(p->files[i].path)));
	return true;
}

static bool plan_mode(struct work *w, const struct control_item *u, struct control_change *c, struct plan *p)
{
	char words[sizeof u->allowed], *rest = words, *word;

	/* "2:MODE_30W", or a number alone */
	strcpy(words, u->allowed);
	while ((word = strsep(&rest, " "))) {
		const char *id = strsep(&word, ":");
		p->mode = strtoll(id, NULL, 10);
		if ((is_digits(c->wanted) && strtoll(c->wanted, NULL, 10) == p->mode && *id) ||
		    (word && !strcmp(word, c->wanted))) {
			snprintf(c->wanted, sizeof c->wanted, "%s", word ? word : id);
			if (mode_needs_reboot(w->root, p->mode))
				snprintf(c->why, sizeof c->why,
					 "it needs a reboot; run `sudo nvpmodel -m %lld`",
					 (long long)p->mode);
			snprintf(p->does, sizeof p->does, "runs %s -m %lld", CONTROL_NVPMODEL,
				 (long long)p->mode);
			return !*c->why;
		}
	}
	return false;
}

static bool plan_fan(struct work *w, const struct control_item *u, struct control_change *c, struct plan *p)
{
	char *value = c->wanted;
	size_t len = strlen(value);

	if (len > 1 && value[len - 1] == '%' && value[len - 2] <= '9')
		value[len - 1] = '\0';
	p->n = 0;
	if (!is_digits(value)) {
		snprintf(p->does, sizeof p->does, "%s",
			 control_fan_service(w->root) != SERVICE_NONE ? "starts nvfancontrol.service"
								      : "switches automatic control on");
		return is_listed(u->allowed, value) && !strstr(value, "..");
	}
	long long percent = strtoll(value, NULL, 10);
	if (percent > 100)
		return false;
	if (!fan_can_watch(w->root)) {
		strcpy(c->why, "no temperature can be read, and it would have to be watched");
		return false;
	}
	p->n = u->n;
	snprintf(p->files[0].text, sizeof p->files[0].text, "%lld", (percent * 255 + 50) / 100);
	if (p->n > 1)
		strcpy(p->files[1].text, text_ends_in(p->files[1].path, "/temp_control") ? "0" : "1");
	strcat(value, "%");
	return true;
}

static bool plan_swap(struct work *w, const struct control_item *u, struct control_change *c, struct plan *p)
{
	const char *dots = strstr(u->allowed, "..");
	const struct entry *first = undo_oldest(w, u->name);
	uint64_t bytes = 0;

	snprintf(p->does, sizeof p->does, "removes %s", CONTROL_SWAPFILE);
	if (strcmp(c->wanted, "off") != 0) {
		if (!num_bytes(c->wanted, &bytes) || !dots || bytes < CONTROL_SWAP_LEAST ||
		    bytes > strtoull(dots + 2, NULL, 10))
			return false;
		snprintf(c->wanted, sizeof c->wanted, "%llu", (unsigned long long)(bytes & ~UINT64_C(4095)));
		snprintf(p->does, sizeof p->does, "makes %s of %s bytes, and swaps to it",
			 CONTROL_SWAPFILE, c->wanted);
	}
	if (w->folder >= 0 && (!first || strcmp(first->before, "off") != 0) && swap_exists(w->root))
		snprintf(c->why, sizeof c->why, "there is a %s that was not made here; remove it",
			 CONTROL_SWAPFILE);
	return !*c->why;
}

static bool plan_make(struct work *w, const struct control_item *u, struct control_change *c, struct plan *p)
{
	bool listed = is_listed(u->allowed, c->wanted);

	switch (u->kind) {
	case CONTROL_FAN:
		return plan_fan(w, u, c, p);
	case CONTROL_MODE:
		return plan_mode(w, u, c, p);
	case CONTROL_PINNED:
		if (file_exists(w->root, CONTROL_JETSON_CLOCKS)) {
			p->n = 0;
			snprintf(p->does, sizeof p->does, "runs %s", CONTROL_JETSON_CLOCKS);
		}
		for (size_t i = 1; i < p->n; i++)
			if (control_is_max(p->files[i].path))
				strcpy(p->files[i - 1].text, p->files[i].text);
		return !strcmp(c->wanted, "max");
	case CONTROL_CLOCK:
		return plan_clock(u, c, p);
	case CONTROL_GOVERNOR:
		for (size_t i = 0; listed && i < p->n; i++)
			snprintf(p->files[i].text, sizeof p->files[i].text, "%.60s", c->wanted);
		return listed;
	case CONTROL_3D:
		strcpy(p->files[0].text, strcmp(c->wanted, "on") ? "0" : "1");
		return listed;
	case CONTROL_SWAP:
		return plan_swap(w, u, c, p);
	default: /* CONTROL_CACHES */
		snprintf(p->does, sizeof p->does, "writes 3 to %s", DROP_CACHES);
		return true;
	}
}

/* Returns 0: done and seen; 1: done, and not as wanted; -1: failed. */
static int carry_out(struct work *w, const struct control_item *u, const char *wanted, const struct plan *p,
		     char why[240])
{
	int result = 0;

	switch (u->kind) {
	case CONTROL_MODE:
		return mode_set(w, p->mode, why);
	case CONTROL_PINNED:
		return p->n ? write_files(w, p->files, p->n, why) : clocks_max(w, why);
	case CONTROL_SWAP:
		return swap_set(w, wanted, why);
	case CONTROL_CACHES:
		sync();
		if (write_text(w->root, DROP_CACHES, "3") == 0)
			return 0;
		snprintf(why, 240, DROP_CACHES ": %s", strerror(errno));
		return -1;
	case CONTROL_FAN:
		if (!p->n)
			return strcmp(wanted, "auto") ? fan_service(w, wanted, true, why)
						      : fan_auto(w, u, why);
		if (control_fan_service(w->root) == SERVICE_ACTIVE)
			result = fan_service(w, NULL, false, why);
		result = result ? result : write_files(w, p->files, p->n, why);
		/* also where only a part of it was done */
		if (program_apart(w->root, "watch", NULL, result ? (char[240]) {0} : why) == 0)
			return result;
		fan_auto(w, u, (char[240]) {0});
		return -1;
	default:
		return write_files(w, p->files, p->n, why);
	}
}

static enum control_result change(struct work *w, const struct control_item *u, struct control_change *c,
				  struct plan *p)
{
	enum control_kind kind = u->kind;
	char text[240] = "", number[16];
	struct err e;

	if (u->refused[0] || !p->files) {
		snprintf(c->why, sizeof c->why, "%s", p->files ? u->refused : "out of memory");
		return CONTROL_REFUSED;
	}
	if (u->n)
		memcpy(p->files, u->files, u->n * sizeof *p->files);
	if (!plan_make(w, u, c, p)) {
		if (!*c->why)
			snprintf(c->why, sizeof c->why, *u->allowed ? "allowed is %.200s" : "%.200s",
				 *u->allowed ? u->allowed : "what is allowed cannot be read");
		return CONTROL_REFUSED;
	}
	bool as_is = kind != CONTROL_CACHES && !strcmp(c->before, c->wanted) &&
		     (kind != CONTROL_MODE || mode_check(w->root, p->mode, text) == 0) &&
		     (kind != CONTROL_SWAP || swap_exists(w->root) == (strcmp(c->wanted, "off") != 0));
	for (size_t i = 0; i < p->n && kind != CONTROL_PINNED && kind != CONTROL_MODE; i++)
		as_is = as_is && !strcmp(u->files[i].text, p->files[i].text);
	if (as_is)
		return CONTROL_AS_IS;
	if (w->dry && *p->does)
		strcpy(c->why, p->does);
	else if (w->dry)
		snprintf(c->why, sizeof c->why, "writes %.40s to %.140s%s", p->files[p->n - 1].text,
			 p->files[p->n - 1].path, p->n > 1 ? " and what belongs to it" : "");
	if (w->dry)
		return CONTROL_WOULD;
	if (kind != CONTROL_CACHES && !(c->id = undo_add(w, u, &e))) {
		snprintf(c->why, sizeof c->why, "nothing was changed: %.200s", e.text);
		return CONTROL_FAILED;
	}
	int result = carry_out(w, u, c->wanted, p, text);
	/* u is gone with this */
	u = work_read(w, &e) < 0 ? NULL : control_find(&w->items, c->name);
	const char *now = u ? u->value : "";
	if (!result && kind != CONTROL_CACHES && kind != CONTROL_FAN && strcmp(now, c->wanted) != 0)
		result = 1;
	if (result)
		snprintf(c->why, sizeof c->why, *text ? "%s" : "it has %s now", *text ? text : now);
	/* of a file that is not there any more, nothing is to be known */
	if (kind == CONTROL_SWAP && !strcmp(now, "off") && !swap_exists(w->root)) {
		for (struct entry *one; (one = undo_oldest(w, c->name));)
			undo_drop(w, one->id);
		undo_save(w, &e);
		c->id = 0;
	}
	snprintf(number, sizeof number, "%u", c->id);
	if (!result && w->for_ns && c->id) {
		if (program_apart(w->root, "expire", number, text) == 0)
			c->left_ns = w->for_ns;
		else {
			snprintf(c->why, sizeof c->why, "it does not end by itself: %.200s", text);
			result = -1;
		}
	}
	unsigned *made = c->id ? array_add(&w->made, &w->n_made, sizeof *made) : NULL;
	if (made)
		*made = c->id;
	return !result ? CONTROL_DONE : result < 0 ? CONTROL_FAILED : CONTROL_NOT;
}

void set_change(struct work *w, struct control_item *u, const char *wanted)
{
	struct control_change c = work_change(w, u->name, wanted);
	struct plan p = {.files = calloc(u->n + 1, sizeof *p.files), .n = u->n};
	enum control_result result = change(w, u, &c, &p);

	free(p.files);
	work_report(w, &c, result);
}
