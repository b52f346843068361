/* Reads the GPUs of a Thor or a PC through NVML.
 *
 * The statements of a board share the library; what a statement reads of one device is a probe, and one thread reads
 * for all of them. The driver renews most things each 100 or 200 ms. Power comes with its own times: each reading
 * goes into one row, with its age beside it. */
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

#define GENTLE_NS   (2 * NS_PER_S)
#define PATIENCE_NS (5 * NS_PER_S)

struct nvml_probe {
	struct probe probe;
	struct nvml_reader *reader; /* owned by the probe's reader */
	struct {
		uint16_t column;
		enum nvml_quantity quantity;
		enum channel_kind kind;
	} at[NVML_VALUES];
	size_t n;
	bool power, counter;   /* that are read */
	uint16_t power_column; /* of X.power, X.power.age, X.energy, X.energy.age */
	bool begun;
};

/* Each reading goes into one row; where rows are rarer than readings, into one row with its neighbours. */
static void take_readings(struct nvml_probe *n, bool counter, int64_t t_ns, double *to)
{
	struct nvml_reading r = {.value = NAN};
	double sum = 0;
	int count = 0;

	while (count <= n->probe.tick_ns / NVML_SAMPLE_NS && nvml_reader_take(n->reader, counter, &r)) {
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
	double v[NVML_VALUES];

	if (probe_take(p, t_ns, v))
		for (size_t i = 0; i < n->n; i++)
			row[n->at[i].column] = channel_round(n->at[i].kind, v[n->at[i].quantity]);
	while (!n->begun &&
	       (nvml_reader_take(n->reader, false, &before) || nvml_reader_take(n->reader, true, &before)))
		continue;
	n->begun = true;
	if (n->power)
		take_readings(n, false, t_ns, &row[n->power_column]);
	if (n->counter)
		take_readings(n, true, t_ns, &row[n->power_column + 2]);
}

static void nvml_probe_gentle(struct probe *p, struct probe_set *r)
{
	async_reader_set_period(p->reader, GENTLE_NS);
	for (size_t i = 0; i < r->n_channels; i++) {
		struct channel *c = &r->channels[i];
		if (channel_is_nvml(c))
			c->period_ns = GENTLE_NS;
		if (channel_is_nvml(c) && c->window_ns == nvml_window_ns(NVML_BY_COUNTER))
			c->window_ns = GENTLE_NS;
	}
}

static const struct probe_ops nvml_ops = {nvml_probe_read, probe_stop};

/* Opens the library, which may hang. */
struct opening {
	struct job job;
	const char *library;
	bool refused;
	struct nvml *nvml;
	char why[200];
};

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

/* Returns the library, held: that of the probe set, or a new one; NULL with the reason. *refused: an NVML is there all
 * the same. */
static struct nvml *library_open(const struct probe_set *probes, const char *library, int64_t patience_ns,
				 bool *refused, char *why, size_t size)
{
	struct nvml *nvml = NULL;

	for (size_t i = 0; i < probes->n_probes; i++)
		if (probes->probes[i]->ops == &nvml_ops)
			return nvml_hold(nvml_reader_library(((struct nvml_probe *)probes->probes[i])->reader));
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
	snprintf(why, size, "%s", o->why);
	nvml = o->nvml ? nvml_hold(o->nvml) : NULL;
	opening_drop(&o->job);
	return nvml;
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
			known |= !strcmp(s->words[i], nvml_fields[q].word);
		if (!known)
			return statement_error(s, e,
					       _("unknown NVML quantity \"%s\"; known: util freq power temp "
						 "memory enc dec jpg ofa"),
					       s->words[i]);
	}
	return 0;
}

/* Describes the channel of a quantity, or of the age of its readings. If d is NULL it is missing, because of why. */
static void describe(struct probe_ctx *o, struct channel *ch, unsigned device, enum nvml_quantity q,
		     const struct nvml_device *d, const char *why)
{
	struct channel_form form = nvml_fields[q].form;
	const char *gpu = strstr(form.name, "gpu");
	char number[12] = "", name[sizeof ch->name];

	if (device)
		text_number(number, sizeof number, "", device);
	if (gpu)
		snprintf(name, sizeof name, "%.*sgpu%s%s", (int)(gpu - form.name), form.name, number, gpu + 3);
	else
		snprintf(name, sizeof name, "%s%s%s%s", device ? "gpu" : "", number, device ? "." : "", form.name);
	form.name = name;
	channel_form(o, ch, &form);
	if (q == NVML_POWER || q == NVML_TEMP)
		ch->lo = NAN;
	if (q == NVML_MEMORY && d)
		ch->hi = d->total_kb;
	if (device && form.label)
		snprintf(ch->label, sizeof ch->label, "%.20s %u", _(form.label), device);
	if (!d)
		text_printable(ch->missing, sizeof ch->missing, why, strlen(why));
	else if (*d->missing[q] && (q != NVML_POWER || nvml_source(d) == NVML_NO_POWER))
		snprintf(ch->missing, sizeof ch->missing, "NVML, %.60s: %.90s", d->name, d->missing[q]);
	else
		snprintf(ch->source, sizeof ch->source, "NVML: %s", d->name);
}

/* Adds a channel whose readings have their own times, with their age; later: where it is missing it may be found. */
static int add_timed(struct probe_ctx *o, const struct channel *of, bool later, struct err *e)
{
	struct channel age;
	char name[sizeof of->name + 8];

	if (probe_ctx_add(o, of, e) < 0)
		return -1;
	if (of->missing[0] && !later)
		return 0;
	snprintf(name, sizeof name, "%s.age", of->name);
	channel_form(o, &age,
		     &(struct channel_form) {name, NULL, NULL, N_("ms from the end of a reading to its row"),
					     UNIT_NONE, FAMILY_POWER, NAN, of->period_ns, 0, 0});
	text_join(age.source, sizeof age.source, of->source);
	text_join(age.missing, sizeof age.missing, of->missing);
	return probe_ctx_add(o, &age, e);
}

static int add_power(struct probe_ctx *o, struct nvml_probe *n, unsigned device, const struct nvml_device *d,
		     const char *why, struct err *e)
{
	enum nvml_source source = d ? nvml_source(d) : NVML_NO_POWER;
	struct channel power, energy;

	describe(o, &power, device, NVML_POWER, d, why);
	describe(o, &energy, device, NVML_ENERGY, d, why);
	if (source != NVML_NO_POWER)
		power.window_ns = nvml_window_ns(source);
	if (source == NVML_BY_SAMPLES)
		power.period_ns = power.window_ns = o->tick_ns > NVML_SAMPLE_NS ? o->tick_ns : NVML_SAMPLE_NS;
	if (source == NVML_BY_AVERAGE && !power.note[0])
		snprintf(power.note, sizeof power.note, "%s", _("mean of 1 s"));
	if (n) {
		n->power = source != NVML_NO_POWER;
		n->counter = n->power && !energy.missing[0];
		n->power_column = (uint16_t)o->probes->width[power.tier];
	}
	return add_timed(o, &power, !d, e) < 0 ? -1 : add_timed(o, &energy, !d, e);
}

/* Adds what the statement asks for of one device. Without a library n is NULL, and all is missing because of why. */
static int add_channels(struct probe_ctx *o, struct nvml_probe *n, unsigned device, const char *why,
			struct err *e)
{
	const struct nvml_device *d = n ? nvml_device(nvml_reader_library(n->reader), device) : NULL;
	struct channel ch;

	for (enum nvml_quantity q = 0; q < NVML_VALUES; q++) {
		if (!asked(o->s, nvml_fields[q].word))
			continue;
		describe(o, &ch, device, q, d, why);
		if (!ch.missing[0]) {
			n->at[n->n].column = (uint16_t)o->probes->width[ch.tier];
			n->at[n->n].quantity = q;
			n->at[n->n++].kind = ch.kind;
		}
		if (probe_ctx_add(o, &ch, e) < 0)
			return -1;
	}
	return asked(o->s, nvml_fields[NVML_POWER].word) ? add_power(o, n, device, d, why, e) : 0;
}

/* Makes the probe of one device, even if it has none of what is asked for: other statements find the library by it. */
static int open_device(struct probe_ctx *o, struct nvml *nvml, unsigned device, struct err *e)
{
	const struct nvml_device *d = nvml_device(nvml, device);
	struct nvml_probe *n = probe_new(o, sizeof *n, 0, &nvml_ops, 0, e);
	unsigned wanted = 0;

	if (!n)
		return -1;
	for (int q = 0; q <= NVML_POWER; q++)
		if (asked(o->s, nvml_fields[q].word) && (q == NVML_POWER || !*d->missing[q]))
			wanted |= 1U << q;
	n->probe.gentle = nvml_probe_gentle;
	n->probe.reader = nvml_reader_new(nvml, device, wanted, &n->reader);
	if (!n->probe.reader) {
		probe_free(&n->probe);
		return statement_error(o->s, e, _("out of memory"));
	}
	return probe_ctx_finish(o, &n->probe, add_channels(o, n, device, "", e), true, e);
}

int open_nvml_library(struct probe_ctx *o, const char *library, int64_t patience_ns, struct err *e)
{
	bool refused = false;
	char why[200];
	int result = 0;

	if (check_words(o->s, e) < 0)
		return -1;
	struct nvml *nvml = library_open(o->probes, library, patience_ns, &refused, why, sizeof why);
	if (!nvml)
		return !refused && asked(o->s, "optional") ? 0 : add_channels(o, NULL, 0, why, e);
	for (unsigned i = 0; i < nvml_devices(nvml) && result == 0; i++)
		result = open_device(o, nvml, i, e);
	nvml_close(nvml);
	return result;
}

/* NVML describes the running machine, not that of a sysroot. */
static int open_nvml(struct probe_ctx *o, struct err *e)
{
	if (root_is_live(o->root))
		return open_nvml_library(o, NVML_LIBRARY, PATIENCE_NS, e);
	if (check_words(o->s, e) < 0)
		return -1;
	return asked(o->s, "optional") ? 0
				       : add_channels(o, NULL, 0, _("NVML can be read on the live machine only"), e);
}

const struct probe_kind probe_kind_nvml = {"nvml", 1, 10, " hint ", false, false, open_nvml};
