/* open: what every kind of probe needs to add channels to a probe set.
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
	size_t words_min, words_max; /* after the name */
	const char *settings;        /* keys, with blanks around each */
	bool place;                  /* needs at least one candidate of SETTINGS_PLACE */
	bool expression;             /* a formula follows */
	opener *open;
};
#define SETTINGS_CHANNEL " label kind unit family index lo hi note period hint "
#define SETTINGS_PLACE   " path hwmon zone devfreq "

/* All kinds; each is defined next to its opener. */
#define PROBE_KINDS(X)                                                                                       \
	X(cpu)                                                                                               \
	X(cpufreq)                                                                                           \
	X(pressure) X(load) X(ram) X(swap) X(gpu) X(emc) X(gated) X(limits) X(pinned) X(engine) X(nvml)      \
		X(zram) X(nvmap) X(freeblock) X(rail) X(power) X(temp) X(fan) X(pwm) X(throttle) X(value)    \
			X(total) X(energy) X(hottest) X(wave) X(event) X(cputime) X(disk) X(net) X(freeram)
#define PROBE_KIND(name) extern const struct probe_kind probe_kind_##name;
PROBE_KINDS(PROBE_KIND)

/* Returns true if key is one of the words of list, which has blanks around each. */
bool setting_listed(const char *list, const char *key);
/* Returns the value of the nth setting of that key, or NULL. */
const char *setting_nth(const struct statement *s, const char *key, size_t nth);
const char *setting_get(const struct statement *s, const char *key);

#define statement_error(s, e, ...) line_error((s)->file, (s)->line, e, __VA_ARGS__)

/* Fills in a channel called name (made printable, and unique by a number suffix if wild is set): kind, label,
 * unit, family, index and range from the form of the name, then from the statement. */
void channel_describe(const struct probe_ctx *o, struct channel *c, const char *name, bool wild);
/* The same for a kind that is known; CHANNEL_OTHER: as the name says. */
void channel_describe_as(const struct probe_ctx *o, struct channel *c, const char *name, enum channel_kind kind,
			 bool wild);

/* The properties that a kind of probe fixes for a channel; lo is 0. */
struct channel_form {
	const char *name, *label, *source, *note; /* label NULL: from its name; others: none */
	enum unit unit;
	enum family family;
	double hi;
	int64_t period_ns, window_ns;
	enum channel_kind kind; /* else as the name says */
};
void channel_form(const struct probe_ctx *o, struct channel *c, const struct channel_form *form);

/* Adds the channel; its column is the next one. Returns -1 and sets *e if its name is in use or out of
 * memory. */
int probe_ctx_add(struct probe_ctx *o, const struct channel *c, struct err *e);
int probe_ctx_add_probe(struct probe_ctx *o, struct probe *p, struct err *e);
/* Ends an opener: adds the probe if something was found; otherwise, or if a channel could not be added (added
 * is -1), closes it. Returns the result of the opener. */
int probe_ctx_finish(struct probe_ctx *o, struct probe *p, int added, bool found, struct err *e);

/* Returns a probe of size bytes, zeroed, with its head filled in and n_attrs files; NULL and sets *e if out
 * of memory. The channels added from now on are its columns, from p->column on. */
void *probe_new(const struct probe_ctx *o, size_t size, size_t n_attrs, const struct probe_ops *ops,
		int64_t period_ns, struct err *e);

/* Why a channel is missing, collected while its candidates are tried. */
struct reason {
	char tried[200];
	bool there;     /* there is something, though of no use */
	bool denied;    /* more privileges would help */
	bool debugfs;   /* something in debugfs was missing */
	bool hidden;    /* the directory is not accessible: the file may not even exist */
	char cure[120]; /* what would help, if known; or "" */
};
void reason_add(struct reason *why, const char *what, int error);
void reason_add_text(struct reason *why, const char *what, const char *text);
void reason_add_place(struct reason *why, const struct place *p, int error);
/* Writes the reason to c->missing, with what would help (also from the setting hint=). */
void reason_set(const struct reason *why, const struct probe_ctx *o, struct channel *c);
/* Sets what the channel is read from; if path is NULL, why it is missing. */
void channel_source(const struct probe_ctx *o, struct channel *c, const char *path, const struct reason *why);
/* reason_set() for one thing that is missing. */
void reason_one(const struct probe_ctx *o, struct channel *c, const char *what, int error);

/* A row of a kind of probe: a channel for the number in a file. What is 0 is not said. */
struct value_row {
	const char *probe;           /* the word of the statement */
	const char *prefix, *suffix; /* of the channel's name; between them is what the statement or the kernel calls it */
	const char *keys;            /* the settings that say where it may be, with blanks around each */
	const char *attribute;       /* of hwmon, or "" */
	double scale;                /* of the file's number to the unit */
	enum value_text { VALUE_NUMBER, VALUE_CLOCK, VALUE_STATE } text; /* a clock of cores; a word for off or on */
	/* Not read while that is off, then 0: the power of the unit, which may have to be known; or missing: the
	 * measurement of a fan. */
	enum value_gate { GATE_NONE, GATE_POWER, GATE_NEEDED, GATE_TACHOMETER } gate;
	const char *file; /* what is read where a devfreq= names only the device */
	int64_t period_ns;
	enum channel_kind kind; /* else as the name says */
	enum unit unit;         /* else as the kind says */
	const char *label;      /* after its name */
};

/* Finds the first place of the statement for that row that can be read, else the first that is there and may return. Returns
 * false with the reason. */
bool value_find(const struct probe_ctx *o, const struct value_row *row, struct place *p, struct reason *why);
/* Fills in a channel of a row; what is it between prefix and suffix. */
void value_describe(const struct probe_ctx *o, struct channel *ch, const struct value_row *row, const char *what,
		    bool wild);
/* Adds that channel, for the file of place, which was found. If place is NULL it is missing, with why; if why is NULL the
 * file may come later. */
int value_add(struct probe_ctx *o, const struct value_row *row, const struct place *place, struct channel *ch,
	      struct reason *why, struct err *e);
/* The same for one of all places of a kind. label may be NULL. */
int value_add_wild(struct probe_ctx *o, const struct value_row *row, struct place p, const char *what,
		   const char *label, struct err *e);

/* Opens the first power state file in the directories that the statement names (dir=, devfreq=):
 * gpu_powered_on, is_railgated, power/runtime_status. Reading it does not wake the unit. */
bool gate_open(struct attr *a, const struct root *r, const struct statement *s, struct reason *why);
/* Returns 1 if powered down, 0 if not, NaN if unknown. */
double gate_read(struct attr *a, const struct root *r, int64_t t_ns);
/* Gets the directory of the device that a dir= or devfreq= names. Returns false with the reason, or for
 * another key. */
bool device_dir(const struct root *r, const char *key, const char *value, char dir[192], struct reason *why);

/* Returns true if a hwmon chip of that name is a thermal zone that is read already. */
bool value_is_zone(const struct probe_set *probes, const char *chip);

/* Adds to a channel what its place says: the limits of a temperature, the most of a cooling device. */
void heat_describe(const struct root *r, const struct place *place, struct channel *ch);
/* Returns true if a thermal zone of that type reports a constant or an estimate as if it were measured. */
bool heat_is_made_up(const char *zone);

/* Parses "0-3,6" or "0 1 2" into a set of numbers below max. Returns how many are in it, 0 if the text is invalid. */
size_t cpulist_parse(const char *text, bool *set, size_t max);
/* The same for the text of a file. */
size_t cpulist_read(const struct root *r, const char *path, bool *set, size_t max);

#endif
