/* Reads the GPUs of a Thor or a PC through NVML.
 *
 * The statements of a board share one session: one library, and a reader with a thread for each device, which
 * reads what is asked for. The driver renews nothing more often than each 20 ms, and most things each 100 or
 * 200 ms. Power comes with its own times: each reading goes into one row, with its age beside it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "probe/nvml.h"
#include "probe/nvml-power.h"
#include "util/clock.h"
#include "util/intl.h"
#include "probe/probe-nvml.h"
#include "probe/async-reader.h"

#define PASS_NS     (50 * NS_PER_MS)
#define NO_TIMES_NS (20 * NS_PER_MS) /* a pass where power has no times: they are as exact as the passes */
#define RENEWED_NS  (100 * NS_PER_MS)
#define SAMPLE_NS   (20 * NS_PER_MS)
#define GENTLE_NS   (2 * NS_PER_S)
#define SHARE       0.25 /* a call for the counter takes 4 ms */
#define PATIENCE_NS (5 * NS_PER_S)
#define GPU_NAME    16

static const struct quantity {
	const char *word, *channel; /* %s: "gpu", "gpu1"; from gpu1 on, engines have it as a prefix */
	const char *label;
	enum unit unit;
	enum family family;
	double lo, hi;
} quantities[NVML_POWER + 1] = {
	[NVML_UTIL] = {"util", "%s.util", "GPU", UNIT_PERCENT, FAMILY_GPU, 0, 100},
	[NVML_FREQ] = {"freq", "%s.freq", N_("GPU clock"), UNIT_HZ, FAMILY_GPU, 0, NAN},
	[NVML_TEMP] = {"temp", "temp.%s", "GPU", UNIT_CELSIUS, FAMILY_HEAT, NAN, NAN},
	[NVML_MEMORY] = {"memory", "%s.memory", N_("GPU memory"), UNIT_KB, FAMILY_MEMORY, 0, NAN},
	[NVML_ENC] = {"enc", "NVENC.util", "NVENC", UNIT_PERCENT, FAMILY_OTHER, 0, 100},
	[NVML_DEC] = {"dec", "NVDEC.util", "NVDEC", UNIT_PERCENT, FAMILY_OTHER, 0, 100},
	[NVML_JPG] = {"jpg", "NVJPG.util", "NVJPG", UNIT_PERCENT, FAMILY_OTHER, 0, 100},
	[NVML_OFA] = {"ofa", "OFA.util", "OFA", UNIT_PERCENT, FAMILY_OTHER, 0, 100},
	[NVML_POWER] = {"power", "%s.power", "GPU", UNIT_MILLIWATT, FAMILY_POWER, NAN, NAN},
};

/* Opens the library in a thread; nvml, refused and why do not change after its only pass. */
struct opening {
	const char *library;
	bool tried, refused;
	struct nvml *nvml;
	char why[200];
};

/* Used by the thread of one device. */
struct device_reader {
	struct nvml *nvml;
	unsigned device;
	struct nvml_power *power;
};

struct session {
	unsigned users;
	struct nvml *nvml;
	struct {
		struct async_reader *reader;
		struct nvml_power *power;
	} devices[];
};

/* What a statement reads of one device. */
struct nvml_probe {
	struct probe probe;
	struct session *session;
	struct {
		uint16_t column;
		enum nvml_quantity quantity;
		enum channel_kind kind;
	} at[NVML_POWER];
	size_t n;
	struct nvml_power *power; /* NULL: not asked for, or none */
	bool counts;              /* there is a counter, too */
	uint16_t power_column;    /* of X.power, X.power.age, X.energy, X.energy.age */
	int64_t tick_ns;
	bool begun;
};

static void opening_read(void *arg, int64_t t_ns, uint64_t wanted, double *v)
{
	struct opening *o = arg;

	(void)t_ns;
	(void)wanted;
	v[0] = 0;
	if (!o->tried)
		o->nvml = nvml_open(o->library, &o->refused, o->why, sizeof o->why);
	o->tried = true;
}

static void opening_close(void *arg)
{
	struct opening *o = arg;

	if (o->nvml)
		nvml_close(o->nvml);
	free(o);
}

static void device_read(void *arg, int64_t t_ns, uint64_t wanted, double *v)
{
	struct device_reader *r = arg;

	(void)t_ns;
	for (int q = 0; q < NVML_POWER; q++)
		if (wanted >> q & 1)
			v[q] = nvml_read(r->nvml, r->device, (enum nvml_quantity)q);
	if (wanted >> NVML_POWER & 1)
		nvml_power_read(r->power);
}

static void device_close(void *arg)
{
	struct device_reader *r = arg;

	nvml_power_free(r->power);
	nvml_close(r->nvml);
	free(r);
}

static const struct async_reader_ops opening_ops = {opening_read, opening_close};
static const struct async_reader_ops device_ops = {device_read, device_close};

static void let_go(struct session *s)
{
	if (--s->users)
		return;
	for (unsigned i = 0; i < nvml_devices(s->nvml); i++)
		async_reader_stop(s->devices[i].reader);
	nvml_close(s->nvml);
	free(s);
}

/* Each reading goes into one row; where rows are rarer than readings, into one row with its neighbours. */
static void take_readings(struct nvml_probe *n, bool counter, int64_t t_ns, double *to)
{
	struct nvml_reading r;
	double sum = 0;
	int count = 0;

	while (count <= n->tick_ns / SAMPLE_NS && nvml_power_take(n->power, counter, &r)) {
		sum = counter ? r.value : sum + r.value;
		count++;
	}
	to[0] = count ? counter ? sum : channel_round(CHANNEL_RAIL_POWER, sum / count) : (double)NAN;
	to[1] = count ? (double)(t_ns - r.t_ns) / (double)NS_PER_MS : (double)NAN;
}

static void nvml_probe_read(struct probe *p, int64_t t_ns, double *row)
{
	struct nvml_probe *n = (struct nvml_probe *)p;
	struct nvml_reading before;
	double v[SLOW_VALUES];

	if (probe_take(p, t_ns, v))
		for (size_t i = 0; i < n->n; i++)
			row[n->at[i].column] = channel_round(n->at[i].kind, v[n->at[i].quantity]);
	if (!n->power)
		return;
	while (!n->begun &&
	       (nvml_power_take(n->power, false, &before) || nvml_power_take(n->power, true, &before)))
		;
	n->begun = true;
	take_readings(n, false, t_ns, &row[n->power_column]);
	if (n->counts)
		take_readings(n, true, t_ns, &row[n->power_column + 2]);
}

static void nvml_probe_close(struct probe *p)
{
	struct nvml_probe *n = (struct nvml_probe *)p;

	if (n->session)
		let_go(n->session);
	probe_free(p);
}

static void nvml_probe_gentle(struct probe *p, struct probe_set *r)
{
	async_reader_set_period(p->readers[0], GENTLE_NS);
	for (size_t i = 0; i < r->n_channels; i++) {
		struct channel *c = &r->channels[i];
		if (channel_is_nvml(c))
			c->period_ns = GENTLE_NS;
		if (channel_is_nvml(c) && c->window_ns == nvml_window_ns(NVML_BY_COUNTER))
			c->window_ns = GENTLE_NS;
	}
}

static const struct probe_ops nvml_ops = {nvml_probe_read, nvml_probe_close};

/* Waits for the only pass, but no longer than patience_ns, because a driver may hang. Returns false if it did
 * not end; at 0 it is made here. */
static bool wait_for(struct async_reader *s, int64_t patience_ns)
{
	const struct timespec moment = {.tv_nsec = NS_PER_MS};
	struct async_reader_seen seen = {.pass = 0};
	int64_t until = clock_now_ns() + patience_ns;
	double v[1];

	if (patience_ns == 0)
		async_reader_ask(s, clock_now_ns());
	else
		async_reader_start(s);
	while (!async_reader_take(s, &seen, clock_now_ns(), v)) {
		if (clock_now_ns() >= until)
			return false;
		nanosleep(&moment, NULL);
	}
	return true;
}

/* Returns false if out of memory. */
static bool add_device(struct session *s, unsigned i, bool threads)
{
	struct device_reader *r = calloc(1, sizeof *r);
	struct nvml_power *power = r ? nvml_power_new(s->nvml, i) : NULL;
	bool has_times = nvml_source(nvml_device(s->nvml, i)) == NVML_BY_SAMPLES;

	if (!power) {
		free(r);
		return false;
	}
	*r = (struct device_reader) {nvml_hold(s->nvml), i, power};
	s->devices[i].power = power;
	s->devices[i].reader = async_reader_new("nvmtop-nvml", &device_ops, r, NVML_POWER,
						has_times ? PASS_NS : NO_TIMES_NS, SHARE);
	if (s->devices[i].reader && threads)
		async_reader_start(s->devices[i].reader);
	return s->devices[i].reader;
}

/* Takes over nvml. Returns NULL if out of memory. */
static struct session *session_new(struct nvml *nvml, bool threads)
{
	unsigned n = nvml_devices(nvml);
	struct session *s = calloc(1, sizeof *s + n * sizeof s->devices[0]);

	if (!s)
		return NULL;
	s->users = 1;
	s->nvml = nvml_hold(nvml);
	for (unsigned i = 0; i < n; i++)
		if (!add_device(s, i, threads)) {
			let_go(s);
			return NULL;
		}
	return s;
}

/* Returns the session of the probe set, or a new one; NULL with the reason. *refused: an NVML is there all the
 * same. */
static struct session *session_open(const struct probe_set *probes, const char *library, int64_t patience_ns,
				    bool *refused, char *why, size_t size)
{
	struct session *s = NULL;

	for (size_t i = 0; i < probes->n_probes; i++)
		if (probes->probes[i]->ops == &nvml_ops) {
			s = ((struct nvml_probe *)probes->probes[i])->session;
			s->users++;
			return s;
		}
	struct opening *o = calloc(1, sizeof *o);
	snprintf(why, size, "%s", _("out of memory"));
	if (!o)
		return NULL;
	o->library = library;
	struct async_reader *thread = async_reader_new("nvmtop-nvml", &opening_ops, o, 1, NS_PER_S, SHARE);
	if (!thread)
		return NULL;
	if (!wait_for(thread, patience_ns)) {
		*refused = true;
		snprintf(why, size, "%s", _("NVML did not answer within 5 s: check the driver"));
	} else if (o->nvml) {
		s = session_new(o->nvml, patience_ns > 0);
	} else {
		*refused = o->refused;
		snprintf(why, size, "%s", o->why);
	}
	async_reader_stop(thread);
	return s;
}

static bool asked(const struct statement *s, const char *word)
{
	for (size_t i = 0; i < s->n_words; i++)
		if (!strcmp(s->words[i], word))
			return true;
	return false;
}

static int check_words(const struct statement *s, struct err *e)
{
	for (size_t i = 0; i < s->n_words; i++) {
		bool known = !strcmp(s->words[i], "optional");
		for (int q = 0; q <= NVML_POWER; q++)
			known |= !strcmp(s->words[i], quantities[q].word);
		if (!known)
			return statement_error(s, e,
					       _("unknown NVML quantity \"%s\"; known: util freq power temp "
						 "memory enc dec jpg ofa"),
					       s->words[i]);
	}
	return 0;
}

/* If d is NULL the channel is missing, because of why. */
static void describe(struct probe_ctx *o, struct channel *ch, unsigned device, int which,
		     const struct nvml_device *d, const char *why)
{
	const struct quantity *q = &quantities[which];
	const char *label = _(q->label), *wild = strstr(q->channel, "%s");
	char gpu[GPU_NAME] = "gpu", name[sizeof ch->name];

	if (device)
		snprintf(gpu, sizeof gpu, "gpu%u", device);
	if (wild)
		snprintf(name, sizeof name, "%.*s%s%s", (int)(wild - q->channel), q->channel, gpu, wild + 2);
	else
		snprintf(name, sizeof name, "%s%s%s", device ? gpu : "", device ? "." : "", q->channel);
	channel_describe(o, ch, name, false);
	if (!wild)
		ch->kind = CHANNEL_ENGINE_UTIL;
	ch->unit = q->unit;
	ch->family = q->family;
	ch->lo = q->lo;
	ch->hi = q->hi;
	if (device)
		snprintf(ch->label, sizeof ch->label, "%.20s %u", label, device);
	else
		text_printable(ch->label, sizeof ch->label, label, strlen(label));
	if (!d)
		text_printable(ch->missing, sizeof ch->missing, why, strlen(why));
	else if (*d->missing[which])
		snprintf(ch->missing, sizeof ch->missing, "NVML, %.60s: %.90s", d->name, d->missing[which]);
	else
		snprintf(ch->source, sizeof ch->source, "NVML: %s", d->name);
	ch->period_ns = RENEWED_NS;
	if (which == NVML_UTIL && !ch->missing[0] && !ch->note[0])
		snprintf(ch->note, sizeof ch->note, "%s", _("the driver's mean over 1/6 s to 1 s"));
	if (which == NVML_MEMORY && d)
		ch->hi = d->total_kb;
}

/* Adds a channel that stands beside a power or a counter. */
static int add_beside(struct probe_ctx *o, const struct channel *of, const char *name, bool counts,
		      const char *missing, struct err *e)
{
	struct channel ch;

	channel_describe(o, &ch, name, false);
	ch.kind = counts ? CHANNEL_COUNTER : CHANNEL_OTHER;
	ch.unit = counts ? UNIT_JOULE : UNIT_NONE;
	ch.family = FAMILY_POWER;
	ch.period_ns = counts ? RENEWED_NS : of->period_ns;
	text_join(ch.source, sizeof ch.source, *missing ? "" : of->source);
	text_join(ch.missing, sizeof ch.missing, missing);
	snprintf(ch.note, sizeof ch.note, "%s",
		 counts ? _("since the driver was loaded") : _("ms from the end of a reading to its row"));
	return probe_ctx_add(o, &ch, e);
}

/* Adds gpu.power, which is described already, and gpu.energy, each with its age. */
static int add_power(struct probe_ctx *o, struct nvml_probe *n, struct channel *power, unsigned device,
		     const struct nvml_device *d, struct err *e)
{
	enum nvml_source source = d ? nvml_source(d) : NVML_NO_POWER;
	char age[sizeof power->name + 8], energy[sizeof power->name], no_counter[sizeof power->missing] = "";

	if (!d)
		text_join(no_counter, sizeof no_counter, power->missing);
	else if (*d->missing[NVML_ENERGY])
		snprintf(no_counter, sizeof no_counter, "NVML, %.60s: %.90s", d->name,
			 d->missing[NVML_ENERGY]);
	if (source != NVML_NO_POWER) {
		power->missing[0] = '\0';
		snprintf(power->source, sizeof power->source, "NVML: %s", d->name);
		power->period_ns = source == NVML_BY_SAMPLES ? SAMPLE_NS : RENEWED_NS;
		power->window_ns = nvml_window_ns(source);
		if (source == NVML_BY_SAMPLES && o->tick_ns > SAMPLE_NS)
			power->period_ns = power->window_ns = o->tick_ns;
		if (source == NVML_BY_AVERAGE && !power->note[0])
			snprintf(power->note, sizeof power->note, "%s", _("mean of 1 s"));
		n->power = n->session->devices[device].power;
		n->counts = !no_counter[0];
		n->power_column = (uint16_t)o->probes->width[power->tier];
		async_reader_want(n->probe.readers[0], NVML_POWER);
	}
	snprintf(energy, sizeof energy, "%.*s.energy", (int)(strlen(power->name) - strlen(".power")),
		 power->name);
	snprintf(age, sizeof age, "%s.age", power->name);
	if (probe_ctx_add(o, power, e) < 0 || (n->power && add_beside(o, power, age, false, "", e) < 0) ||
	    add_beside(o, power, energy, true, no_counter, e) < 0)
		return -1;
	snprintf(age, sizeof age, "%s.age", energy);
	return n->power && n->counts ? add_beside(o, power, age, false, "", e) : 0;
}

/* Adds what the statement asks for of one device; if there is no session it is missing, because of why. */
static int add_channels(struct probe_ctx *o, struct nvml_probe *n, unsigned device, const char *why,
			struct err *e)
{
	const struct nvml_device *d = n->session ? nvml_device(n->session->nvml, device) : NULL;
	struct channel ch;

	for (int q = 0; q <= NVML_POWER; q++) {
		if (!asked(o->s, quantities[q].word))
			continue;
		describe(o, &ch, device, q, d, why);
		if (q < NVML_POWER && !ch.missing[0]) {
			n->at[n->n].column = (uint16_t)o->probes->width[ch.tier];
			n->at[n->n].quantity = (enum nvml_quantity)q;
			n->at[n->n++].kind = ch.kind;
			async_reader_want(n->probe.readers[0], (size_t)q);
		}
		if ((q == NVML_POWER ? add_power(o, n, &ch, device, d, e) : probe_ctx_add(o, &ch, e)) < 0)
			return -1;
	}
	return 0;
}

/* One probe for each device; at least one, with which other statements share the session. */
int open_nvml_library(struct probe_ctx *o, const char *library, int64_t patience_ns, struct err *e)
{
	char why[200] = "";
	bool refused = false;
	struct session *s;
	int result = 0;

	if (check_words(o->s, e) < 0)
		return -1;
	s = session_open(o->probes, library, patience_ns, &refused, why, sizeof why);
	if (!s && !refused && asked(o->s, "optional"))
		return 0;
	for (unsigned i = 0; i < (s ? nvml_devices(s->nvml) : 1) && result == 0; i++) {
		struct nvml_probe *n = probe_new(o, sizeof *n, 0, &nvml_ops, 0, e);
		if (!n) {
			result = -1;
			break;
		}
		n->tick_ns = o->tick_ns;
		n->probe.gentle = nvml_probe_gentle;
		if (s) {
			s->users++;
			n->session = s;
			n->probe.readers[0] = s->devices[i].reader;
		}
		result = probe_ctx_finish(o, &n->probe, add_channels(o, n, i, why, e), s != NULL, e);
	}
	if (s)
		let_go(s);
	return result;
}

/* NVML describes the running machine, not that of a sysroot. */
static int open_nvml(struct probe_ctx *o, struct err *e)
{
	struct nvml_probe none = {.n = 0};

	if (root_is_live(o->root))
		return open_nvml_library(o, NVML_LIBRARY, PATIENCE_NS, e);
	if (check_words(o->s, e) < 0)
		return -1;
	return asked(o->s, "optional")
		       ? 0
		       : add_channels(o, &none, 0, _("NVML can be read on the live machine only"), e);
}

const struct probe_kind probe_kind_nvml = {"nvml", 1, 10, " hint ", false, false, open_nvml};
