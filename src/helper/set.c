/* One change: is it allowed, what would it write, note what is before, do it, and see whether it took. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "board/conf.h"
#include "helper/local.h"
#include "probe/attr.h"
#include "util/clock.h"
#include "util/intl.h"
#include "util/num.h"
#include "util/text.h"

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

static bool is_refused(struct control_change *c, const char *allowed)
{
	if (*allowed)
		snprintf(c->why, sizeof c->why, _("allowed is %.200s"), allowed);
	else
		snprintf(c->why, sizeof c->why, "%s", _("what is allowed cannot be read"));
	return false;
}

/* A range of Hz within "MIN..MAX", or of steps; "max" is the highest. */
static bool plan_clock(const struct control_unit *u, struct control_change *c, struct plan *p)
{
	const char *allowed = u->item.allowed, *dots = strstr(allowed, "..");
	const char *last = strrchr(allowed, ' ') ? strrchr(allowed, ' ') + 1 : allowed;
	char low[24], high[24];
	bool cap = !control_is_max(u->files[u->n - 1].path), ok = true;
	int64_t hz[2], least = 0, most = INT64_MAX;

	const char *middle = strstr(c->wanted, "..");
	snprintf(low, sizeof low, "%.*s", middle ? (int)(middle - c->wanted) : 0, c->wanted);
	snprintf(high, sizeof high, "%s", middle ? middle + 2 : "");
	if (!strcmp(high, "max") && !cap)
		snprintf(high, sizeof high, "%.20s", dots ? dots + 2 : last);
	if (!is_digits(low) || (!is_digits(high) && strcmp(high, "max") != 0))
		return is_refused(c, allowed);
	hz[0] = strtoll(low, NULL, 10);
	hz[1] = is_digits(high) ? strtoll(high, NULL, 10) : 0;
	if (dots) {
		num_i64(allowed, allowed + strlen(allowed), &least);
		num_i64(dots + 2, allowed + strlen(allowed), &most);
		ok = hz[0] >= least && hz[1] <= most && (!cap || hz[0] == 0);
	} else
		ok = is_listed(allowed, low) && is_listed(allowed, high);
	if (!ok || (hz[0] > hz[1] && !cap))
		return is_refused(c, allowed);
	snprintf(c->wanted, sizeof c->wanted, "%s..%s", low, cap && !hz[1] ? "max" : high);
	for (size_t i = 0; i < p->n; i++) {
		int64_t of = control_is_max(p->files[i].path) || cap ? hz[1] : hz[0];
		snprintf(p->files[i].text, sizeof p->files[i].text, "%lld",
			 (long long)(of / control_scale(p->files[i].path)));
	}
	return true;
}

static bool plan_mode(struct work *w, const struct control_unit *u, struct control_change *c, struct plan *p)
{
	const char *word = u->item.allowed;
	char name[80] = "";
	bool found = false;

	/* "2:MODE_30W", or a number alone */
	for (; *word && !found; word += strcspn(word, " "), word += *word == ' ') {
		int len = (int)strcspn(word, " "), digits = (int)strcspn(word, ": ");
		snprintf(name, sizeof name, "%.*s", len, word);
		p->mode = strtoll(name, NULL, 10);
		found = (is_digits(c->wanted) && strtoll(c->wanted, NULL, 10) == p->mode) ||
			(name[digits] && !strcmp(name + digits + 1, c->wanted));
		memmove(name, name + digits + (name[digits] == ':'),
			strlen(name) + 1 - (size_t)digits - (name[digits] == ':'));
	}
	if (!found)
		return is_refused(c, u->item.allowed);
	if (*name)
		snprintf(c->wanted, sizeof c->wanted, "%s", name);
	if (mode_needs_reboot(w->root, p->mode)) {
		snprintf(c->why, sizeof c->why, _("it needs a reboot; run `sudo nvpmodel -m %lld`"),
			 (long long)p->mode);
		return false;
	}
	snprintf(p->does, sizeof p->does, _("runs %s -m %lld"), CONTROL_NVPMODEL, (long long)p->mode);
	return true;
}

static bool plan_fan(struct work *w, const struct control_unit *u, struct control_change *c, struct plan *p)
{
	char *value = c->wanted;
	size_t len = strlen(value);
	const char *control = u->n > 1 ? u->files[1].path : NULL;

	if (len > 1 && value[len - 1] == '%' && value[len - 2] <= '9')
		value[len - 1] = '\0';
	bool by_hand = is_digits(value);
	p->n = 0;
	if (by_hand ? strtoll(value, NULL, 10) > 100
		    : !is_listed(u->item.allowed, value) || strstr(value, ".."))
		return is_refused(c, u->item.allowed);
	if (!by_hand) {
		snprintf(p->does, sizeof p->does, "%s",
			 control_fan_service(w->root) != SERVICE_NONE ? _("starts nvfancontrol.service")
								      : _("switches automatic control on"));
		return true;
	}
	if (!fan_can_watch(w->root)) {
		snprintf(c->why, sizeof c->why, "%s",
			 _("no temperature can be read, and it would have to be watched"));
		return false;
	}
	p->n = u->n;
	snprintf(p->files[0].text, sizeof p->files[0].text, "%lld",
		 (strtoll(value, NULL, 10) * 255 + 50) / 100);
	if (control)
		strcpy(p->files[1].text, text_ends_in(control, "/temp_control") ? "0" : "1");
	strcat(value, "%");
	return true;
}

static bool plan_swap(struct work *w, const struct control_unit *u, struct control_change *c, struct plan *p)
{
	const char *dots = strstr(u->item.allowed, "..");
	const struct entry *first = w->folder < 0 ? NULL : undo_oldest(w, u->item.name);
	uint64_t bytes = 0;

	if (strcmp(c->wanted, "off") != 0) {
		if (!num_bytes(c->wanted, &bytes) || !dots || bytes < 64 * 1024 * 1024 ||
		    bytes > strtoull(dots + 2, NULL, 10))
			return is_refused(c, u->item.allowed);
		snprintf(c->wanted, sizeof c->wanted, "%llu", (unsigned long long)(bytes & ~UINT64_C(4095)));
	}
	if (swap_exists(w->root) && w->folder >= 0 && (!first || strcmp(first->before, "off") != 0)) {
		snprintf(c->why, sizeof c->why, _("there is a %s that was not made here; remove it"),
			 CONTROL_SWAPFILE);
		return false;
	}
	if (strcmp(c->wanted, "off") != 0)
		snprintf(p->does, sizeof p->does, _("makes %s of %s bytes, and swaps to it"),
			 CONTROL_SWAPFILE, c->wanted);
	else
		snprintf(p->does, sizeof p->does, _("removes %s"), CONTROL_SWAPFILE);
	return true;
}

/* Returns false, and why it is refused. */
static bool plan_make(struct work *w, const struct control_unit *u, struct control_change *c, struct plan *p)
{
	switch (u->item.kind) {
	case CONTROL_FAN:
		return plan_fan(w, u, c, p);
	case CONTROL_MODE:
		return plan_mode(w, u, c, p);
	case CONTROL_PINNED:
		if (strcmp(c->wanted, "max") != 0)
			return is_refused(c, u->item.allowed);
		if (file_exists(w->root, CONTROL_JETSON_CLOCKS)) {
			p->n = 0;
			snprintf(p->does, sizeof p->does, _("runs %s"), CONTROL_JETSON_CLOCKS);
		}
		for (size_t i = 1; i < p->n; i++)
			if (control_is_max(p->files[i].path))
				strcpy(p->files[i - 1].text, p->files[i].text);
		return true;
	case CONTROL_CLOCK:
		return plan_clock(u, c, p);
	case CONTROL_GOVERNOR:
		if (!is_listed(u->item.allowed, c->wanted))
			return is_refused(c, u->item.allowed);
		for (size_t i = 0; i < p->n; i++)
			snprintf(p->files[i].text, sizeof p->files[i].text, "%.40s", c->wanted);
		return true;
	case CONTROL_3D:
		if (!is_listed(u->item.allowed, c->wanted))
			return is_refused(c, u->item.allowed);
		strcpy(p->files[0].text, strcmp(c->wanted, "on") ? "0" : "1");
		return true;
	case CONTROL_SWAP:
		return plan_swap(w, u, c, p);
	default: /* CONTROL_CACHES */
		snprintf(p->does, sizeof p->does, _("writes 3 to %s"), "/proc/sys/vm/drop_caches");
		return true;
	}
}

/* Returns 0: done and seen; 1: done, and not as wanted; -1: failed. */
static int carry_out(struct work *w, const struct control_unit *u, const char *wanted, const struct plan *p,
		     char why[240])
{
	bool by_hand = text_ends_in(wanted, "%");
	int result;

	switch (u->item.kind) {
	case CONTROL_MODE:
		return mode_set(w, p->mode, why);
	case CONTROL_PINNED:
		return p->n ? write_files(w, p->files, p->n, why) : clocks_max(w, why);
	case CONTROL_SWAP:
		return swap_set(w, wanted, why);
	case CONTROL_CACHES:
		sync();
		result = write_text(w->root, "/proc/sys/vm/drop_caches", "3");
		if (result < 0)
			snprintf(why, 240, "/proc/sys/vm/drop_caches: %s", strerror(errno));
		return result;
	case CONTROL_FAN:
		if (!by_hand)
			return strcmp(wanted, "auto") ? fan_service(w, wanted, true, why)
						      : fan_auto(w, u, why);
		result =
			control_fan_service(w->root) == SERVICE_ACTIVE ? fan_service(w, NULL, false, why) : 0;
		result = result ? result : write_files(w, p->files, p->n, why);
		return result ? result : program_apart(w, "watch", NULL, why);
	default:
		return write_files(w, p->files, p->n, why);
	}
}

static bool files_are(const struct control_unit *u, const struct plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (strcmp(u->files[i].text, p->files[i].text) != 0)
			return false;
	return true;
}

void set_change(struct work *w, struct control_unit *u, const char *wanted)
{
	struct control_change c = {.id = 0};
	struct plan p = {.files = calloc(u->n + 1, sizeof *p.files), .n = u->n};
	enum control_kind kind = u->item.kind;
	char name[40], why[240] = "", number[16];
	struct err e;

	strcpy(c.name, u->item.name);
	strcpy(c.before, u->item.value);
	strcpy(c.after, u->item.value);
	snprintf(c.wanted, sizeof c.wanted, "%s", wanted);
	strcpy(name, c.name);
	if (!p.files || u->item.refused[0]) {
		snprintf(c.why, sizeof c.why, "%s", p.files ? u->item.refused : _("out of memory"));
		work_report(w, &c, CONTROL_REFUSED);
		free(p.files);
		return;
	}
	if (u->n)
		memcpy(p.files, u->files, u->n * sizeof *p.files);
	if (!plan_make(w, u, &c, &p)) {
		work_report(w, &c, CONTROL_REFUSED);
		free(p.files);
		return;
	}
	if (p.n && !p.does[0])
		snprintf(p.does, sizeof p.does, _("writes %s to %s%s"), p.files[p.n - 1].text,
			 p.files[p.n - 1].path, p.n > 1 ? _(" and what belongs to it") : "");
	bool as_is = kind != CONTROL_CACHES && !strcmp(c.before, c.wanted) &&
		     (kind == CONTROL_PINNED || files_are(u, &p)) &&
		     (kind != CONTROL_MODE || mode_check(w->root, p.mode, why) == 0);
	if (as_is || w->dry) {
		snprintf(c.why, sizeof c.why, "%s", as_is ? "" : p.does);
		work_report(w, &c, as_is ? CONTROL_AS_IS : CONTROL_WOULD);
		free(p.files);
		return;
	}
	if (kind != CONTROL_CACHES && !(c.id = undo_add(w, u, &e))) {
		snprintf(c.why, sizeof c.why, _("nothing was changed: %.200s"), e.text);
		work_report(w, &c, CONTROL_FAILED);
		free(p.files);
		return;
	}
	int result = carry_out(w, u, c.wanted, &p, why);
	free(p.files);
	/* u is gone with this */
	u = work_read(w, &e) < 0 ? NULL : control_unit_find(&w->units, name);
	if (u)
		strcpy(c.after, u->item.value);
	if (!result && kind != CONTROL_CACHES && kind != CONTROL_FAN && strcmp(c.after, c.wanted) != 0)
		result = 1;
	if (result && *why)
		snprintf(c.why, sizeof c.why, "%s", why);
	else if (result)
		snprintf(c.why, sizeof c.why, _("it has %s now"), c.after);
	if (!result && w->for_ns && c.id) {
		snprintf(number, sizeof number, "%u", c.id);
		c.left_ns = w->for_ns;
		if (program_apart(w, "expire", number, why) < 0)
			snprintf(c.why, sizeof c.why, _("it does not end by itself: %.200s"), why);
	}
	/* of a file that is not there any more, nothing is to be known */
	if (kind == CONTROL_SWAP && (!strcmp(c.after, "off") && !swap_exists(w->root))) {
		for (struct entry *one; (one = undo_oldest(w, name));)
			undo_drop(w, one->id);
		undo_save(w, &e);
		c.id = 0;
	}
	unsigned *all = c.id ? reallocarray(w->made, w->n_made + 1, sizeof *all) : NULL;
	if (all) {
		w->made = all;
		w->made[w->n_made++] = c.id;
	}
	work_report(w, &c, !result ? CONTROL_DONE : result < 0 ? CONTROL_FAILED : CONTROL_NOT);
}
