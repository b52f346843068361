/* Reads the GPU of a Thor or a PC through NVML.
 *
 * The statements of a board share one session: one library, one thread. It reads the utilisation at every
 * pass and the rest ten times a second, and only what is used. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "probe/nvml.h"
#include "util/clock.h"
#include "util/intl.h"
#include "probe/probe-nvml.h"
#include "probe/async-reader.h"

#define PASS_NS     (20 * NS_PER_MS)
#define OTHER_NS    (100 * NS_PER_MS)
#define GENTLE_NS   (2 * NS_PER_S)
#define SHARE       0.1
#define PATIENCE_NS (5 * NS_PER_S)
#define SLOTS       (NVML_DEVICES * NVML_QUANTITIES)

static const struct quantity {
	const char *word, *channel; /* %s: "gpu", "gpu1"; from gpu1 on, engines have it as a prefix */
	const char *label;
	enum channel_kind kind;
	enum unit unit;
	enum family family;
	double hi;
} quantities[NVML_QUANTITIES] = {
	[NVML_UTIL] = {"util", "%s.util", "GPU", CHANNEL_GPU_UTIL, UNIT_PERCENT, FAMILY_GPU, 100},
	[NVML_FREQ] = {"freq", "%s.freq", N_("GPU clock"), CHANNEL_GPU_FREQ, UNIT_HZ, FAMILY_GPU, NAN},
	[NVML_POWER] = {"power", "%s.power", "GPU", CHANNEL_RAIL_POWER, UNIT_MILLIWATT, FAMILY_POWER, NAN},
	[NVML_TEMP] = {"temp", "temp.%s", "GPU", CHANNEL_TEMPERATURE, UNIT_CELSIUS, FAMILY_HEAT, NAN},
	[NVML_MEMORY] = {"memory", "%s.memory", N_("GPU memory"), CHANNEL_OTHER, UNIT_KB, FAMILY_MEMORY, NAN},
	[NVML_ENC] = {"enc", "NVENC.util", "NVENC", CHANNEL_ENGINE_UTIL, UNIT_PERCENT, FAMILY_OTHER, 100},
	[NVML_DEC] = {"dec", "NVDEC.util", "NVDEC", CHANNEL_ENGINE_UTIL, UNIT_PERCENT, FAMILY_OTHER, 100},
	[NVML_JPG] = {"jpg", "NVJPG.util", "NVJPG", CHANNEL_ENGINE_UTIL, UNIT_PERCENT, FAMILY_OTHER, 100},
	[NVML_OFA] = {"ofa", "OFA.util", "OFA", CHANNEL_ENGINE_UTIL, UNIT_PERCENT, FAMILY_OTHER, 100},
};

/* Used by the reader thread; nvml, refused and why do not change after its first pass. */
struct reader {
	const char *library;
	bool tried, refused;
	struct nvml *nvml;
	char why[200];
	double last[SLOTS];
	int64_t due_ns[SLOTS];
};

struct session {
	struct async_reader *slow;
	const struct nvml *nvml; /* does not change */
	unsigned users;
};

struct nvml_probe {
	struct probe probe;
	struct session *session;
	struct {
		uint16_t slot, column;
		enum channel_kind kind;
	} at[SLOTS];
	size_t n;
};

static void reader_read(void *arg, int64_t t_ns, uint64_t wanted, double *v)
{
	struct reader *r = arg;

	if (!r->tried) {
		r->tried = true;
		r->nvml = nvml_open(r->library, &r->refused, r->why, sizeof r->why);
	}
	for (unsigned i = 0; r->nvml && i < nvml_devices(r->nvml) * NVML_QUANTITIES; i++) {
		enum nvml_quantity q = (enum nvml_quantity)(i % NVML_QUANTITIES);
		if (!(wanted >> i & 1))
			continue;
		if (q == NVML_UTIL || t_ns >= r->due_ns[i]) {
			r->last[i] = nvml_read(r->nvml, i / NVML_QUANTITIES, q);
			r->due_ns[i] = t_ns + OTHER_NS;
		}
		v[i] = r->last[i];
	}
}

static void reader_close(void *arg)
{
	struct reader *r = arg;

	if (r->nvml)
		nvml_close(r->nvml);
	free(r);
}

static const struct async_reader_ops reader_ops = {reader_read, reader_close};

static void let_go(struct session *s)
{
	if (--s->users)
		return;
	async_reader_stop(s->slow);
	free(s);
}

static void nvml_probe_read(struct probe *p, int64_t t_ns, double *row)
{
	struct nvml_probe *n = (struct nvml_probe *)p;
	double v[SLOW_VALUES];

	if (!probe_take(p, t_ns, v))
		return;
	for (size_t i = 0; i < n->n; i++)
		row[n->at[i].column] = channel_round(n->at[i].kind, v[n->at[i].slot]);
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
	}
}

static const struct probe_ops nvml_ops = {nvml_probe_read, nvml_probe_close};

/* Waits for the first pass, but no longer than patience_ns, because a driver may hang. Returns false if it
 * did not end. */
static bool first_pass(struct async_reader *s, int64_t patience_ns)
{
	struct async_reader_seen seen = {.pass = 0};
	struct timespec moment = {.tv_nsec = NS_PER_MS};
	int64_t until = clock_now_ns() + patience_ns;
	double v[SLOW_VALUES];

	if (!patience_ns)
		async_reader_ask(s, clock_now_ns());
	else
		async_reader_start(s);
	while (!async_reader_take(s, &seen, 0, clock_now_ns(), v)) {
		if (clock_now_ns() >= until)
			return false;
		nanosleep(&moment, NULL);
	}
	return true;
}

/* Returns the session of the probe set, or a new one; NULL with the reason. *refused: an NVML is there all the same. */
static struct session *session_open(const struct probe_set *probes, const char *library, int64_t patience_ns,
				    bool *refused, char *why, size_t size)
{
	for (size_t i = 0; i < probes->n_probes; i++)
		if (probes->probes[i]->ops == &nvml_ops) {
			struct session *s = ((struct nvml_probe *)probes->probes[i])->session;
			s->users++;
			return s;
		}
	struct session *s = calloc(1, sizeof *s);
	struct reader *r = calloc(1, sizeof *r);
	snprintf(why, size, "%s", _("out of memory"));
	if (!s || !r) {
		free(s);
		free(r);
		return NULL;
	}
	r->library = library;
	s->users = 1;
	s->slow = async_reader_new("nvmtop-nvml", &reader_ops, r, SLOTS, PASS_NS, SHARE);
	if (!s->slow) {
		free(s);
		return NULL;
	}
	bool answered = first_pass(s->slow, patience_ns);
	if (answered && r->nvml) {
		s->nvml = r->nvml;
		return s;
	}
	*refused = !answered || r->refused;
	snprintf(why, size, "%s", answered ? r->why : _("NVML did not answer within 5 s: check the driver"));
	let_go(s);
	return NULL;
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
		for (int q = 0; q < NVML_QUANTITIES; q++)
			known |= !strcmp(s->words[i], quantities[q].word);
		if (!known)
			return statement_error(s, e,
					       _("unknown NVML quantity \"%s\"; known: util freq power temp "
						 "memory enc dec jpg ofa"),
					       s->words[i]);
	}
	return 0;
}

static void name_of(char *out, size_t size, unsigned device, const struct quantity *q)
{
	char gpu[16] = "gpu";
	const char *wild = strstr(q->channel, "%s");

	if (device)
		snprintf(gpu, sizeof gpu, "gpu%u", device);
	if (wild)
		snprintf(out, size, "%.*s%s%s", (int)(wild - q->channel), q->channel, gpu, wild + 2);
	else
		snprintf(out, size, "%s%s%s", device ? gpu : "", device ? "." : "", q->channel);
}

static void describe(struct probe_ctx *o, struct channel *ch, unsigned device, int which)
{
	const struct quantity *q = &quantities[which];
	const char *label = _(q->label);
	char name[48];

	name_of(name, sizeof name, device, q);
	channel_describe(o, ch, name, false);
	/* Only the first GPU has the kinds that exist once for the trace and the screen. */
	bool first = device == 0 || q->kind == CHANNEL_RAIL_POWER || q->kind == CHANNEL_TEMPERATURE ||
		     q->kind == CHANNEL_ENGINE_UTIL;
	ch->kind = first ? q->kind : CHANNEL_OTHER;
	ch->unit = q->unit;
	ch->family = q->family;
	ch->lo = q->kind == CHANNEL_RAIL_POWER || q->kind == CHANNEL_TEMPERATURE ? (double)NAN : 0;
	ch->hi = q->hi;
	if (device)
		snprintf(ch->label, sizeof ch->label, "%.20s %u", label, device);
	else
		text_printable(ch->label, sizeof ch->label, label, strlen(label));
}

/* If d is NULL the channel is missing, because of why. */
static int add(struct probe_ctx *o, struct nvml_probe *n, unsigned device, int which,
	       const struct nvml_device *d, const char *why, struct err *e)
{
	struct channel ch;

	describe(o, &ch, device, which);
	if (d && *d->missing[which]) {
		snprintf(ch.missing, sizeof ch.missing, "NVML, %.60s: %.90s", d->name, d->missing[which]);
	} else if (!d) {
		text_printable(ch.missing, sizeof ch.missing, why, strlen(why));
	} else {
		unsigned slot = device * NVML_QUANTITIES + (unsigned)which;
		async_reader_want(n->session->slow, slot);
		snprintf(ch.source, sizeof ch.source, "NVML: %s", d->name);
		ch.period_ns = which == NVML_UTIL ? async_reader_period_ns(n->session->slow) : OTHER_NS;
		if (which == NVML_UTIL && !ch.note[0])
			snprintf(ch.note, sizeof ch.note, "%s", _("the driver's mean over 1/6 s to 1 s"));
		if (which == NVML_MEMORY)
			ch.hi = d->total_kb;
		n->at[n->n].slot = (uint16_t)slot;
		n->at[n->n].kind = ch.kind;
	}
	n->at[n->n].column = (uint16_t)o->probes->width[ch.tier];
	int added = probe_ctx_add(o, &ch, e);

	if (added == 0 && !ch.missing[0])
		n->n++;
	return added;
}

static int add_all(struct probe_ctx *o, struct nvml_probe *n, const char *why, struct err *e)
{
	unsigned devices = n->session ? nvml_devices(n->session->nvml) : 1;

	for (unsigned k = 0; k < devices; k++)
		for (int q = 0; q < NVML_QUANTITIES; q++)
			if (asked(o->s, quantities[q].word) &&
			    add(o, n, k, q, n->session ? nvml_device(n->session->nvml, k) : NULL, why, e) < 0)
				return -1;
	return 0;
}

int open_nvml_library(struct probe_ctx *o, const char *library, int64_t patience_ns, struct err *e)
{
	char why[200] = "";
	bool refused = false;

	if (check_words(o->s, e) < 0)
		return -1;
	struct nvml_probe *n = probe_new(o, sizeof *n, 0, &nvml_ops, 0, e);
	if (!n)
		return -1;
	n->probe.gentle = nvml_probe_gentle;
	n->session = session_open(o->probes, library, patience_ns, &refused, why, sizeof why);
	if (n->session)
		n->probe.readers[0] = n->session->slow;
	if (!n->session && !refused && asked(o->s, "optional")) {
		nvml_probe_close(&n->probe);
		return 0;
	}
	int added = add_all(o, n, why, e);

	/* The probe is added even without channels: another statement may share the session. */
	return probe_ctx_finish(o, &n->probe, added, n->session != NULL, e);
}

/* NVML describes the running machine, not that of a sysroot. */
static int open_nvml(struct probe_ctx *o, struct err *e)
{
	struct nvml_probe none = {.n = 0};

	if (root_is_live(o->root))
		return open_nvml_library(o, NVML_LIBRARY, PATIENCE_NS, e);
	if (check_words(o->s, e) < 0)
		return -1;
	return asked(o->s, "optional") ? 0
				       : add_all(o, &none, _("NVML can be read on the live machine only"), e);
}

const struct probe_kind probe_kind_nvml = {"nvml", 1, 10, " hint ", false, false, open_nvml};
