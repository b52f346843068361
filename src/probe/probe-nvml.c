/* Reads the GPUs of a Thor or a PC through NVML.
 *
 * The statements of a board share one session: one library, and a reader with a thread for each device, which
 * reads what is asked for. The driver renews most things each 100 or 200 ms. Power comes with its own times: each
 * reading goes into one row, with its age beside it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/nvml.h"
#include "probe/nvml-device.h"
#include "util/clock.h"
#include "util/intl.h"
#include "util/job.h"
#include "probe/probe-nvml.h"

#define PASS_NS     (50 * NS_PER_MS)
#define NO_TIMES_NS (20 * NS_PER_MS) /* a pass where power has no times: they are as exact as the passes */
#define RENEWED_NS  (100 * NS_PER_MS)
#define SAMPLE_NS   (20 * NS_PER_MS)
#define GENTLE_NS   (2 * NS_PER_S)
#define SHARE       0.25 /* a call for the counter takes 4 ms */
#define PATIENCE_NS (5 * NS_PER_S)

static const struct quantity {
	const char *word;
	struct channel_form form; /* name: %s is "gpu", "gpu1"; from gpu1 on, engines have it as a prefix */
} quantities[NVML_POWER + 1] = {
	[NVML_UTIL] = {"util",
		       {"%s.util", "GPU", NULL, N_("the driver's mean over 1/6 s to 1 s"), UNIT_PERCENT,
			FAMILY_GPU, 100, RENEWED_NS}},
	[NVML_FREQ] = {"freq",
		       {"%s.freq", N_("GPU clock"), NULL, NULL, UNIT_HZ, FAMILY_GPU, NAN, RENEWED_NS}},
	[NVML_TEMP] = {"temp", {"temp.%s", "GPU", NULL, NULL, UNIT_CELSIUS, FAMILY_HEAT, NAN, RENEWED_NS}},
	[NVML_MEMORY] = {"memory",
			 {"%s.memory", N_("GPU memory"), NULL, NULL, UNIT_KB, FAMILY_MEMORY, NAN,
			  RENEWED_NS}},
	[NVML_ENC] = {"enc",
		      {"NVENC.util", "NVENC", NULL, NULL, UNIT_PERCENT, FAMILY_OTHER, 100, RENEWED_NS}},
	[NVML_DEC] = {"dec",
		      {"NVDEC.util", "NVDEC", NULL, NULL, UNIT_PERCENT, FAMILY_OTHER, 100, RENEWED_NS}},
	[NVML_JPG] = {"jpg",
		      {"NVJPG.util", "NVJPG", NULL, NULL, UNIT_PERCENT, FAMILY_OTHER, 100, RENEWED_NS}},
	[NVML_OFA] = {"ofa", {"OFA.util", "OFA", NULL, NULL, UNIT_PERCENT, FAMILY_OTHER, 100, RENEWED_NS}},
	[NVML_POWER] = {"power",
			{"%s.power", "GPU", NULL, NULL, UNIT_MILLIWATT, FAMILY_POWER, NAN, RENEWED_NS}},
};

/* Opens the library, which may hang. */
struct opening {
	struct job job;
	const char *library;
	bool refused;
	struct nvml *nvml;
	char why[200];
};

struct session {
	unsigned users;
	struct nvml *nvml;
	struct {
		struct nvml_reader *power; /* the argument of the reader */
		struct async_reader *reader;
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
	struct nvml_reader *power; /* NULL: not asked for, or none */
	bool counts;               /* there is a counter, too */
	uint16_t power_column;     /* of X.power, X.power.age, X.energy, X.energy.age */
	bool begun;
};

static void session_release(struct session *s)
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
	struct nvml_reading r = {.value = NAN};
	double sum = 0;
	int count = 0;

	while (count <= n->probe.tick_ns / SAMPLE_NS && nvml_reader_take(n->power, counter, &r)) {
		sum += r.value;
		count++;
	}
	to[0] = counter || !count ? r.value : channel_round(CHANNEL_RAIL_POWER, sum / count);
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
	       (nvml_reader_take(n->power, false, &before) || nvml_reader_take(n->power, true, &before)))
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
		session_release(n->session);
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

static void opening_run(struct job *j)
{
	struct opening *o = (struct opening *)j;

	o->nvml = nvml_open(o->library, &o->refused, o->why, sizeof o->why);
}

static void opening_drop(struct job *j)
{
	struct opening *o = (struct opening *)j;

	if (o->nvml)
		nvml_close(o->nvml);
	free(o);
}

/* Returns NULL if out of memory. */
static struct session *session_new(struct nvml *nvml, bool threads)
{
	unsigned n = nvml_devices(nvml);
	struct session *s = calloc(1, sizeof *s + n * sizeof s->devices[0]);

	if (!s)
		return NULL;
	s->users = 1;
	s->nvml = nvml_hold(nvml);
	for (unsigned i = 0; i < n; i++) {
		bool has_times = nvml_source(nvml_device(nvml, i)) == NVML_BY_SAMPLES;
		struct nvml_reader *r = s->devices[i].power = nvml_reader_new(nvml, i);
		struct async_reader *a = r ? async_reader_new("nvmtop-nvml", &nvml_reader_ops, r, NVML_POWER,
							      has_times ? PASS_NS : NO_TIMES_NS, SHARE)
					   : NULL;
		if (!a) {
			session_release(s);
			return NULL;
		}
		s->devices[i].reader = a;
		if (threads)
			async_reader_start(a);
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
	if (!patience_ns || job_start(&o->job, opening_run, opening_drop, NULL) < 0) {
		opening_run(&o->job);
	} else if (!job_done(&o->job, clock_now_ns() + patience_ns)) {
		job_cancel(&o->job);
		*refused = true;
		snprintf(why, size, "%s", _("NVML did not answer within 5 s: check the driver"));
		return NULL;
	}
	*refused = o->refused;
	if (o->nvml)
		s = session_new(o->nvml, patience_ns > 0);
	else
		snprintf(why, size, "%s", o->why);
	opening_drop(&o->job);
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

/* Sets where it is read, or why it is missing. If d is NULL it is missing because of why. */
static void set_source(struct channel *ch, const struct nvml_device *d, enum nvml_quantity q, const char *why)
{
	if (!d)
		text_printable(ch->missing, sizeof ch->missing, why, strlen(why));
	else if (*d->missing[q])
		snprintf(ch->missing, sizeof ch->missing, "NVML, %.60s: %.90s", d->name, d->missing[q]);
	else
		snprintf(ch->source, sizeof ch->source, "NVML: %s", d->name);
}

static void describe(struct probe_ctx *o, struct channel *ch, unsigned device, int which)
{
	struct channel_form form = quantities[which].form;
	const char *wild = strstr(form.name, "%s");
	char gpu[16] = "gpu", name[sizeof ch->name];

	if (device)
		snprintf(gpu, sizeof gpu, "gpu%u", device);
	if (wild)
		snprintf(name, sizeof name, "%.*s%s%s", (int)(wild - form.name), form.name, gpu, wild + 2);
	else
		snprintf(name, sizeof name, "%s%s%s", device ? gpu : "", device ? "." : "", form.name);
	form.name = name;
	channel_form(o, ch, &form);
	if (!wild)
		ch->kind = CHANNEL_ENGINE_UTIL;
	if (which == NVML_POWER || which == NVML_TEMP)
		ch->lo = NAN;
	if (device)
		snprintf(ch->label, sizeof ch->label, "%.20s %u", _(form.label), device);
}

/* Adds gpu.power, which is described already, and gpu.energy, each with its age. */
static int add_power(struct probe_ctx *o, struct nvml_probe *n, struct channel *power, unsigned device,
		     const struct nvml_device *d, const char *why, struct err *e)
{
	enum nvml_source source = d ? nvml_source(d) : NVML_NO_POWER;
	int stem = (int)(strlen(power->name) - strlen(".power"));
	struct channel energy, age;
	char name[sizeof power->name + 16];

	snprintf(name, sizeof name, "%.*s.energy", stem, power->name);
	channel_form(o, &energy,
		     &(struct channel_form) {name, NULL, NULL, N_("since the driver was loaded"), UNIT_JOULE,
					     FAMILY_POWER, NAN, RENEWED_NS});
	energy.kind = CHANNEL_COUNTER;
	set_source(&energy, d, NVML_ENERGY, why);
	set_source(power, d, NVML_POWER, why);
	if (source != NVML_NO_POWER) {
		power->missing[0] = '\0';
		snprintf(power->source, sizeof power->source, "NVML: %s", d->name);
		power->window_ns = nvml_window_ns(source);
		if (source == NVML_BY_SAMPLES)
			power->period_ns = power->window_ns = o->tick_ns > SAMPLE_NS ? o->tick_ns : SAMPLE_NS;
		if (source == NVML_BY_AVERAGE && !power->note[0])
			snprintf(power->note, sizeof power->note, "%s", _("mean of 1 s"));
		n->power = n->session->devices[device].power;
		n->counts = !energy.missing[0];
		n->power_column = (uint16_t)o->probes->width[power->tier];
		async_reader_want(n->probe.readers[0], NVML_POWER);
	}
	for (int i = 0; i < 2; i++) {
		const struct channel *of = i ? &energy : power;
		if (probe_ctx_add(o, of, e) < 0)
			return -1;
		if (of->missing[0])
			continue;
		snprintf(name, sizeof name, "%s.age", of->name);
		channel_form(o, &age,
			     &(struct channel_form) {name, NULL, NULL,
						     N_("ms from the end of a reading to its row"), UNIT_NONE,
						     FAMILY_POWER, NAN, of->period_ns});
		text_join(age.source, sizeof age.source, of->source);
		if (probe_ctx_add(o, &age, e) < 0)
			return -1;
	}
	return 0;
}

/* Adds what the statement asks for of one device; if there is no session it is missing, because of why. */
static int add_channels(struct probe_ctx *o, struct nvml_probe *n, unsigned device, const char *why,
			struct err *e)
{
	const struct nvml_device *d = n->session ? nvml_device(n->session->nvml, device) : NULL;
	struct channel ch;

	for (int q = 0; q < NVML_POWER; q++) {
		if (!asked(o->s, quantities[q].word))
			continue;
		describe(o, &ch, device, q);
		set_source(&ch, d, (enum nvml_quantity)q, why);
		if (q == NVML_MEMORY && d)
			ch.hi = d->total_kb;
		if (!ch.missing[0]) {
			n->at[n->n].column = (uint16_t)o->probes->width[ch.tier];
			n->at[n->n].quantity = (enum nvml_quantity)q;
			n->at[n->n++].kind = ch.kind;
			async_reader_want(n->probe.readers[0], (size_t)q);
		}
		if (probe_ctx_add(o, &ch, e) < 0)
			return -1;
	}
	if (!asked(o->s, quantities[NVML_POWER].word))
		return 0;
	describe(o, &ch, device, NVML_POWER);
	return add_power(o, n, &ch, device, d, why, e);
}

/* One probe for each device; at least one, with which other statements share the session. */
int open_nvml_library(struct probe_ctx *o, const char *library, int64_t patience_ns, struct err *e)
{
	char why[200] = "";
	bool refused = false;
	int result = 0;

	if (check_words(o->s, e) < 0)
		return -1;
	struct session *s = session_open(o->probes, library, patience_ns, &refused, why, sizeof why);
	if (!s && !refused && asked(o->s, "optional"))
		return 0;
	for (unsigned i = 0; i < (s ? nvml_devices(s->nvml) : 1) && result == 0; i++) {
		struct nvml_probe *n = probe_new(o, sizeof *n, 0, &nvml_ops, 0, e);
		if (!n) {
			result = -1;
			break;
		}
		n->probe.gentle = nvml_probe_gentle;
		if (s) {
			s->users++;
			n->session = s;
			n->probe.readers[0] = s->devices[i].reader;
		}
		result = probe_ctx_finish(o, &n->probe, add_channels(o, n, i, why, e), s != NULL, e);
	}
	if (s)
		session_release(s);
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
