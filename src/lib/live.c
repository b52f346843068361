/* Live values and energy windows for other programs. Handles are numbers in a table, so that one that was closed, or that
 * was another process's, is found to be unknown instead of being followed. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/engine.h"
#include "lib/lib.h"
#include "model/energy.h"
#include "util/clock.h"
#include "util/intl.h"

#define LIVES   64                  /* handles at a time */
#define LOOK_NS (2 * NS_PER_MS)     /* interval of looking for the next reading */

/* Calls the functions of a handle with rows. */
struct caller {
	struct sink sink;
	nvmtop_rows_fn *fn[TIERS];
	void *arg[TIERS];
};

struct live {
	nvmtop_live number; /* its index and how many were before it; 0: free */
	struct shared *shared;
	struct caller *caller; /* or NULL */
};

static struct live lives[LIVES];
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER; /* of the handles; held for no longer than a look takes */
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER; /* held while one is opened or closed, which may take a second */
static _Atomic int64_t numbers;

static void forget_all(void)
{
	pthread_rwlock_init(&table, NULL);
	pthread_mutex_init(&changing, NULL);
	memset(lives, 0, sizeof(lives));
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forget_all);
}

/* The tally of a live handle or of that of a window, with the table locked for reading; NULL, and it is not locked. */
static struct tally *enter(int64_t number, bool window)
{
	struct live *l = &lives[(uint64_t)number % LIVES];

	pthread_rwlock_rdlock(&table);
	if (number > 0 && l->number > 0 && (window || l->number == number))
		return shared_tally(l->shared);
	pthread_rwlock_unlock(&table);
	return NULL;
}

static void leave(void)
{
	pthread_rwlock_unlock(&table);
}

static int unknown(struct err *e)
{
	return err_set(e, ERR_USAGE, "%s", _("there is no such handle: it was closed, or belongs to the process before fork()"));
}

static int no_window(struct err *e)
{
	return err_set(e, ERR_USAGE, "%s",
		       _("there is no such window: it was forgotten, or its handle was closed, or belongs to the process before fork()"));
}

static int64_t next_number(size_t index)
{
	return (atomic_fetch_add(&numbers, 1) + 1) * LIVES + (int64_t)index;
}

static int open_live(struct live *l, const nvmtop_options *given, struct err *e)
{
	struct wish w = {.any = !given};
	nvmtop_options o;

	if (options_of(&o, given, e) < 0 || wish_of(&w, &o, e) < 0 || !(l->shared = shared_open(&w, e)))
		return -1;
	engine_wait_warm(shared_engine(l->shared), -1);
	return 0;
}

nvmtop_live nvmtop_live_open(const nvmtop_options *options, nvmtop_error *error)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct err e = {.code = ERR_NONE};
	struct live made = {.number = 0};
	size_t i = 0;

	lib_begin();
	pthread_once(&once, watch_forks);
	if (shared_refused(&e) == 0 && open_live(&made, options, &e) == 0) {
		pthread_mutex_lock(&changing);
		while (i < LIVES && lives[i].number != 0)
			i++;
		pthread_rwlock_wrlock(&table);
		if (i < LIVES) {
			made.number = next_number(i);
			lives[i] = made;
		}
		pthread_rwlock_unlock(&table);
		pthread_mutex_unlock(&changing);
		if (i == LIVES) {
			shared_close(made.shared, false);
			err_set(&e, ERR_USAGE, _("more than %d handles are open: close those that are not needed"), LIVES);
		}
	}
	lib_error(error, &e);
	return made.number;
}

static int caller_begin(struct sink *s, const struct session *about, struct err *e)
{
	(void)s;
	(void)about;
	(void)e;
	return 0;
}

static void caller_rows(struct sink *s, const struct rows *r)
{
	const struct caller *c = (const struct caller *)s;
	nvmtop_rows out = {(int)r->tier, r->n, r->width, r->t_ns, r->values};

	if (!c->fn[r->tier])
		return;
	shared_inside(true);
	c->fn[r->tier](c->arg[r->tier], &out);
	shared_inside(false);
}

static int caller_end(struct sink *s, struct err *e)
{
	(void)s;
	(void)e;
	return 0;
}

static const struct sink_ops caller_ops = {
	.begin = caller_begin,
	.rows = caller_rows,
	.end = caller_end,
};

/* Replaces the caller of a handle by a copy with another function, or by none. */
static int caller_change(struct live *l, int tier, nvmtop_rows_fn *fn, void *arg, struct err *e)
{
	struct caller *before = l->caller, *c = calloc(1, sizeof(*c));
	bool calls = false;

	if (!c)
		return err_set(e, ERR_FAILED, "%s", _("out of memory"));
	if (before) {
		*c = *before;
		shared_detach(l->shared, &before->sink, true, e);
	}
	free(before);
	c->sink.ops = &caller_ops;
	c->fn[tier] = fn;
	c->arg[tier] = arg;
	for (int i = 0; i < TIERS; i++)
		calls |= c->fn[i] != NULL;
	l->caller = calls && shared_attach(l->shared, &c->sink, false, true, e) == 0 ? c : NULL;
	if (!l->caller)
		free(c);
	return calls && !l->caller ? -1 : 0;
}

int nvmtop_live_on_rows(nvmtop_live live, int tier, nvmtop_rows_fn *fn, void *arg, nvmtop_error *error)
{
	struct live *l = &lives[(uint64_t)live % LIVES];
	struct err e = {.code = ERR_NONE};

	if (tier < 0 || tier >= TIERS)
		err_set(&e, ERR_USAGE, _("there is no tier %d"), tier);
	if (e.code != ERR_NONE || shared_refused(&e) < 0)
		return lib_error(error, &e);
	pthread_mutex_lock(&changing);
	if (live <= 0 || l->number != live)
		unknown(&e);
	else if (caller_change(l, tier, fn, arg, &e) == 0)
		e.code = ERR_NONE;
	pthread_mutex_unlock(&changing);
	return lib_error(error, &e);
}

int nvmtop_live_close(nvmtop_live live, nvmtop_error *error)
{
	struct live *l = &lives[(uint64_t)live % LIVES], gone;
	struct err e = {.code = ERR_NONE};

	if (shared_refused(&e) < 0)
		return lib_error(error, &e);
	pthread_mutex_lock(&changing);
	if (live <= 0 || l->number != live) {
		unknown(&e);
	} else {
		pthread_rwlock_wrlock(&table);
		gone = *l;
		memset(l, 0, sizeof(*l));
		pthread_rwlock_unlock(&table);
		if (gone.caller)
			shared_detach(gone.shared, &gone.caller->sink, true, &e);
		free(gone.caller);
		tally_window_forget(shared_tally(gone.shared), live, 0);
		shared_close(gone.shared, false);
		e.code = ERR_NONE;
	}
	pthread_mutex_unlock(&changing);
	return lib_error(error, &e);
}

uint64_t nvmtop_live_signals(nvmtop_live live)
{
	struct tally *t = enter(live, false);
	size_t n = 0;

	if (!t)
		return 0;
	tally_channels(t, &n);
	leave();
	return n;
}

int nvmtop_live_describe(nvmtop_live live, int64_t id, nvmtop_signal *signal)
{
	struct tally *t = enter(live, false);
	const struct channel *all;
	struct tally_value v;
	char reason[300] = "";
	int status = -1;
	size_t n;

	if (!t)
		return -1;
	all = tally_channels(t, &n);
	if (signal && id >= 0 && (size_t)id < n) {
		v = tally_newest(t, (size_t)id, clock_now_ns());
		if (isnan(v.value))
			tally_reason(t, (size_t)id, v, reason, sizeof(reason));
		status = signal_out(signal, &all[id], tally_hz(t, all[id].tier), reason);
	}
	leave();
	return status;
}

int64_t nvmtop_live_find(nvmtop_live live, const char *name)
{
	struct tally *t = enter(live, false);
	const struct channel *all;
	int64_t found = -1;
	size_t n;

	if (!t)
		return -1;
	all = tally_channels(t, &n);
	for (size_t i = 0; name && i < n && found < 0; i++)
		if (!strcmp(all[i].name, name))
			found = (int64_t)i;
	leave();
	return found;
}

int nvmtop_live_read(nvmtop_live live, const int64_t *ids, size_t n, double *values, int64_t *times)
{
	struct tally *t = (ids && values) || n == 0 ? enter(live, false) : NULL;
	int status;

	if (!t)
		return -1;
	status = tally_read(t, ids, n, values, times);
	leave();
	return status;
}

nvmtop_window nvmtop_energy_begin(nvmtop_live live, nvmtop_error *error)
{
	int64_t now_ns = clock_now_ns();
	struct tally *t = enter(live, false);
	struct err e = {.code = ERR_NONE};
	nvmtop_window number = 0;

	if (t) {
		number = next_number((uint64_t)live % LIVES);
		if (tally_window_begin(t, live, number, now_ns, &e) < 0)
			number = 0;
		leave();
	} else {
		unknown(&e);
	}
	lib_error(error, &e);
	return number;
}

int nvmtop_energy_end(nvmtop_window window)
{
	int64_t now_ns = clock_now_ns();
	struct tally *t = enter(window, true);
	int status = -1;

	if (t) {
		status = tally_window_end(t, window, now_ns) == TALLY_ENDED ? 0 : -1;
		leave();
	}
	return status;
}

int nvmtop_energy_forget(nvmtop_window window)
{
	struct tally *t = enter(window, true);
	int status = -1;

	if (t) {
		status = tally_window_forget(t, 0, window) ? 0 : -1;
		leave();
	}
	return status;
}

static nvmtop_rail rail_of(const struct tally_energy *e)
{
	return (nvmtop_rail) {(int64_t)e->channel, e->energy.joules, e->energy.within, e->energy.known_s, e->guessed_s, e->readings};
}

/* One look. Returns false if there is no such window. */
static bool get_window(nvmtop_window window, nvmtop_joules *out, bool *complete)
{
	struct tally *t = enter(window, true);
	struct tally_energy list[NVMTOP_POWERS];
	struct energy_result of[POWER_PARTS], sum;
	struct session about = {.n_channels = 0};
	struct power_parts parts;
	size_t n = SIZE_MAX, found = 0;

	if (!t)
		return false;
	about.channels = tally_channels(t, &about.n_channels);
	power_parts_find(&parts, &about);
	n = tally_window_get(t, window, list, NVMTOP_POWERS, &out->seconds, complete);
	leave();
	if (n == SIZE_MAX)
		return false;
	out->known_s = out->guessed_s = 0;
	out->readings = 0;
	out->total = -1;
	out->n = n < NVMTOP_POWERS ? n : NVMTOP_POWERS;
	for (size_t i = 0; i < out->n; i++) {
		out->rail[i] = rail_of(&list[i]);
		for (size_t k = 0; k < parts.n && (parts.n == 1 || parts.add_up); k++) {
			if (parts.channel[k] != list[i].channel)
				continue;
			of[found++] = list[i].energy;
			out->total = parts.n == 1 ? out->rail[i].signal : -1;
			out->guessed_s = fmax(out->guessed_s, list[i].guessed_s);
			out->readings += list[i].readings;
		}
	}
	sum = found && found == parts.n ? power_parts_sum(of, found) : (struct energy_result) {NAN, NAN, 0, NULL};
	out->joules = sum.joules;
	out->within = sum.within;
	out->known_s = sum.known_s;
	return true;
}

int nvmtop_energy_result(nvmtop_window window, int64_t wait_ns, nvmtop_joules *joules, nvmtop_error *error)
{
	int64_t now_ns = clock_now_ns(), until_ns = wait_ns < 0 || wait_ns > INT64_MAX - now_ns ? INT64_MAX : now_ns + wait_ns;
	struct err e = {.code = ERR_NONE};
	bool complete = false;

	if (!joules || joules->size != NVMTOP_JOULES_SIZE)
		err_set(&e, ERR_USAGE, "%s", _("the result is NULL, or its size is not NVMTOP_JOULES_SIZE"));
	while (e.code == ERR_NONE && !complete) {
		if (!get_window(window, joules, &complete))
			no_window(&e);
		/* The thread of a callback brings the readings itself. */
		if (clock_now_ns() >= until_ns || shared_refused(NULL) < 0)
			break;
		if (!complete)
			nanosleep(&(struct timespec) {.tv_nsec = LOOK_NS}, NULL);
	}
	return lib_error(error, &e);
}

static void subtract(double *joules, double *within, double seconds, double idle, double idle_within, double idle_s)
{
	*joules -= idle * (seconds / idle_s);
	*within = hypot(*within, idle_within * (seconds / idle_s));
}

int nvmtop_energy_subtract(nvmtop_joules *joules, const nvmtop_joules *idle)
{
	if (!joules || !idle || joules->size != NVMTOP_JOULES_SIZE || idle->size != NVMTOP_JOULES_SIZE ||
	    joules->n > NVMTOP_POWERS || idle->n > NVMTOP_POWERS || !(idle->seconds > 0))
		return -1;
	for (size_t i = 0; i < joules->n; i++) {
		nvmtop_rail *rail = &joules->rail[i];
		const nvmtop_rail *base = NULL;

		for (size_t k = 0; k < idle->n; k++)
			if (idle->rail[k].signal == rail->signal)
				base = &idle->rail[k];
		if (!base)
			rail->joules = rail->within = (double)NAN;
		else
			subtract(&rail->joules, &rail->within, rail->known_s, base->joules, base->within, base->known_s);
	}
	subtract(&joules->joules, &joules->within, joules->known_s, idle->joules, idle->within, idle->known_s);
	return 0;
}
