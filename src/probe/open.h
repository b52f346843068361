/* open: what every kind of probe needs to become channels of a probe set.
 *
 * To add a kind: write its opener and its probe_kind_NAME in a file, and name it in PROBE_KINDS. */
#ifndef NVMTOP_PROBE_OPEN_H
#define NVMTOP_PROBE_OPEN_H

#include "probe/attr.h"
#include "probe/probe.h"

struct probe_ctx {
	struct probe_set *probes;
	const struct root *root; /* the probe set's */
	const struct statement *s;
	int64_t tick_ns; /* the period of the statement's tier */
};

typedef int opener(struct probe_ctx *o, struct err *e);

/* A statement of a board file. */
struct probe_kind {
	const char *name;
	size_t words_min, words_max; /* behind the name */
	const char *settings;        /* keys, with blanks around each */
	bool place;                  /* needs at least one candidate of SETTINGS_PLACE */
	bool expression;             /* a formula follows */
	opener *open;
};
#define SETTINGS_CHANNEL " label kind unit family index lo hi note period hint "
#define SETTINGS_PLACE   " path hwmon zone devfreq "

/* All of them; each is defined beside its opener. */
#define PROBE_KINDS(X)                                                                                       \
	X(cpu)                                                                                               \
	X(cpufreq)                                                                                           \
	X(iowait) X(load) X(ram) X(swap) X(gpu) X(emc) X(gated) X(limits) X(pinned) X(engine) X(nvml)        \
		X(zram) X(nvmap) X(freeblock) X(rail) X(power) X(temp) X(fan) X(pwm) X(throttle) X(value)    \
			X(total) X(hottest) X(wave)
#define PROBE_KIND(name) extern const struct probe_kind probe_kind_##name;
PROBE_KINDS(PROBE_KIND)

/* The value of the nth setting of that key, or NULL. */
const char *setting_nth(const struct statement *s, const char *key, size_t nth);
const char *setting_get(const struct statement *s, const char *key);

/* err_set() with "FILE:LINE: " before it. */
int statement_error(const struct statement *s, struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Fill in a channel called name (made safe, and unique by a number suffix when wild is set): kind,
 * label, unit, family, index and range by the form of the name, then by the statement. */
void channel_describe(const struct probe_ctx *o, struct channel *c, const char *name, bool wild);

/* What a statement of its own makes of a channel; lo is 0. */
struct channel_form {
	const char *name, *label, *source, *note; /* NULL: by its name; none */
	enum unit unit;
	enum family family;
	double hi;
	int64_t period_ns;
};
void channel_form(const struct probe_ctx *o, struct channel *c, const struct channel_form *form);

/* Add it: its column is the next one.  -1 with the error (name in use, memory). */
int probe_ctx_add(struct probe_ctx *o, const struct channel *c, struct err *e);
int probe_ctx_add_probe(struct probe_ctx *o, struct probe *p, struct err *e);
/* The end of an opener: the probe reads what was found; else, or when a channel could
 * not be added (added: -1), it is closed.  Returns what the opener does. */
int probe_ctx_finish(struct probe_ctx *o, struct probe *p, int added, bool found, struct err *e);

/* A probe of size bytes, zeroed, with its head filled in and n_attrs files; NULL with the error. The
 * channels that are added from now on are its columns, from p->column on. */
void *probe_new(const struct probe_ctx *o, size_t size, size_t n_attrs, const struct probe_ops *ops,
		int64_t period_ns, struct err *e);

/* Why a channel is missing, collected while its candidates are tried. */
struct reason {
	char tried[200];
	bool denied;    /* more rights would help */
	bool debugfs;   /* something in debugfs was missing */
	bool hidden;    /* the directory is not accessible: the file may not even exist */
	char cure[120]; /* what would help, where that is known; or "" */
};
void reason_add(struct reason *why, const char *what, int error);
void reason_add_text(struct reason *why, const char *what, const char *text);
void reason_add_place(struct reason *why, const struct place *p, int error);
/* Into c->missing, with what would unlock it (also from the setting hint=). */
void reason_set(const struct reason *why, const struct probe_ctx *o, struct channel *c);
/* The same for one thing that is missing. */
void reason_one(const struct probe_ctx *o, struct channel *c, const char *what, int error);

/* Does the probe set's emc probe read that file as its clock, that often? Then a channel of the
 * opening's tier can take it from there instead of reading it twice: it is added. */
bool emc_reads(const struct probe_set *r, const char *path, int64_t period_ns);
int emc_add_rate(struct probe_ctx *o, const struct channel *ch, const char *path, struct err *e);

/* Open the first power state file in the directories that the statement names (dir=, devfreq=):
 * gpu_powered_on, is_railgated, power/runtime_status. Asking does not wake the unit. */
bool gate_open(struct attr *a, const struct root *r, const struct statement *s, struct reason *why);
/* 1: powered down, 0: not, NaN: no answer. */
double gate_read(struct attr *a, const struct root *r);
/* The directory of the device that a dir= or devfreq= names; false with the reason, or for another key. */
bool device_dir(const struct root *r, const char *key, const char *value, char dir[192], struct reason *why);

/* Is the channel's value a constant or an estimate that a thermal zone shows as
 * if it were measured? */
bool value_is_made_up(const struct probe_set *r, const struct channel *c);

/* Does a cooling device of that type slow something down?  Fans do not. */
bool cooling_slows(const char *type);

/* "0-3,6" as a set of numbers below max; how many are in it, 0 when it is no
 * such list. */
size_t cpulist_parse(const char *text, bool *set, size_t max);
/* The same of a file. */
size_t cpulist_read(const struct root *r, const char *path, bool *set, size_t max);

#endif
