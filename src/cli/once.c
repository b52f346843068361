/* Prints one reading of everything, as a table or as JSON. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "board/machine.h"
#include "cli/verb.h"
#include "util/clock.h"
#include "model/missing.h"
#include "util/intl.h"
#include "util/json-csv.h"
#include "util/num.h"
#include "model/timeline.h"
#include "serve/openmetrics.h"
#include "util/replace.h"


struct reading {
	const struct channel *channel;
	double value;
	char reason[256]; /* "" if there is a value */
};

/* Why a channel had no value when it was read last. */
static void reason_now(const struct live *l, const struct channel *c, char *out, size_t size)
{
	struct timeline *t = log_view_timeline(l->view);
	struct change why = {.to = ""};

	t->ops->reason(t, c->name, INT64_MAX, &why);
	missing_at(out, size, c, why.to);
}

/* A load is only meaningful as a mean over some time; of power both are said. */
#define LOAD_NS   (100 * NS_PER_MS)
#define LOAD_ZOOM 20

static double load_mean(struct timeline *t, size_t i)
{
	struct bin bins[(LOAD_NS >> LOAD_ZOOM) + 1], all = {.n = 0};
	int64_t first, last;

	if (!t->ops->extent(t, &first, &last))
		return NAN;
	t->ops->columns(t, i, LOAD_ZOOM, (last - LOAD_NS) >> LOAD_ZOOM, sizeof bins / sizeof *bins, bins);
	for (size_t k = 0; k < sizeof bins / sizeof *bins; k++)
		bin_merge(&all, &bins[k]);
	/* Further digits are rounding errors of the sum. */
	return all.n ? round(all.sum / (double)all.n * 1000) / 1000 : NAN;
}

/* Values that are differences need a second reading, one tick of the slow tier later, or later still on a
 * busy machine. A value that is missing after this time is reported as missing. */
#define COMES_NS (300 * NS_PER_MS)
#define LOOK_NS  (20 * NS_PER_MS)

static bool is_load(const struct channel *c)
{
	return c->tier == TIER_FAST && c->unit == UNIT_PERCENT;
}

static double value_of(const struct live *l, const struct channel *c, size_t i)
{
	struct timeline *t = log_view_timeline(l->view);
	int64_t at;

	if (c->missing[0])
		return NAN;
	return is_load(c) ? load_mean(t, i) : timeline_newest(t, i, clock_now_ns(), &at);
}

static bool all_there(const struct live *l)
{
	const struct session *s = engine_session(l->engine);

	live_look(l);
	for (size_t i = 0; i < s->n_channels; i++)
		if (!s->channels[i].missing[0] && isnan(value_of(l, &s->channels[i], i)))
			return false;
	return true;
}

/* Does not wait in a tree of files that do not change: values that are differences never appear there. */
static void wait_for_values(const struct live *l)
{
	int64_t until;

	nanosleep(&(struct timespec){.tv_nsec = LOAD_NS}, NULL);
	until = clock_now_ns() + COMES_NS;
	while (root_is_live(l->root) && !all_there(l) && clock_now_ns() < until)
		nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
}

static void reading_take(struct reading *r, const struct live *l, size_t i)
{
	r->channel = &engine_session(l->engine)->channels[i];
	r->reason[0] = '\0';
	r->value = value_of(l, r->channel, i);
	if (isnan(r->value))
		reason_now(l, r->channel, r->reason, sizeof r->reason);
}

/* Fifteen digits are more than any sensor measures. */
static void put_real(struct record *r, const char *name, double v)
{
	char text[32];

	snprintf(text, sizeof text, "%.15g", v);
	record_key(r, name);
	printf("%s%s", text, text[strcspn(text, ".e")] ? "" : ".0");
}

static void put_reading(struct record *r, const struct reading *got, double mean)
{
	const struct channel *c = got->channel;
	bool power = c->kind == CHANNEL_RAIL_POWER || c->kind == CHANNEL_POWER_TOTAL;

	json_open(r, NULL, '{');
	PUT(r, {"name", IN_JSON, TEXT_OF(c->name)}, {"label", IN_JSON, TEXT_OF(c->label)},
	    {"kind", IN_JSON, TEXT_OF(channel_kind_name(c->kind))},
	    {"family", IN_JSON, TEXT_OF(family_name(c->family))},
	    {"tier", IN_JSON, TEXT_OF(tier_name(c->tier))}, {"unit", IN_JSON, TEXT_OF(unit_name(c->unit))},
	    {"source", IN_JSON, TEXT_OF(c->source)}, {"note", c->note[0] ? IN_JSON : 0, TEXT_OF(c->note)});
	if (!isnan(c->warn))
		put_real(r, "warn", c->warn);
	if (!isnan(c->crit))
		put_real(r, "crit", c->crit);
	if (c->window_ns > 0)
		put_real(r, "window_s", (double)c->window_ns / NS_PER_S);
	if (c->age_ns > 0)
		put_real(r, "age_s", (double)c->age_ns / NS_PER_S);
	if (power && !isnan(mean))
		put_real(r, "mean", mean);
	if (isnan(got->value))
		PUT(r, {"value", IN_JSON, LABEL_OF("")});
	else
		put_real(r, "value", got->value);
	PUT(r, {"reason", got->reason[0] ? IN_JSON : 0, TEXT_OF(got->reason)});
	json_close(r, "}");
}

/* What is not a signal. The switch of all clocks is read as one. */
static void put_machine(struct record *r, const struct live *l, struct procs *procs)
{
	const struct session *s = engine_session(l->engine);
	struct machine_source of = {.root = l->root, .channels = s->channels, .n = s->n_channels};
	size_t pinned = channel_find(s->channels, s->n_channels, "clocks.pinned");
	struct reading got;

	if (pinned < s->n_channels) {
		reading_take(&got, l, pinned);
		of.pinned = &got.value;
		of.unpinned = got.reason;
	}
	root_give_up(true);
	of.procs = procs ? procs_read(procs) : NULL;
	machine_json(r, "machine", &of, false);
	root_give_up(false);
}

static void print_json(const struct live *l, struct procs *procs)
{
	const struct session *s = engine_session(l->engine);
	struct record r = {.f = stdout, .indented = true};
	struct clock_anchor now;
	struct reading got;

	clock_anchor(&now);
	json_open(&r, NULL, '{');
	PUT(&r, {"version", IN_JSON, COUNT_OF(MACHINE_JSON_VERSION)}, {"nvmtop", IN_JSON, TEXT_OF(PACKAGE_VERSION)});
	put_real(&r, "time", (double)now.real_ns / (double)NS_PER_S);
	json_open(&r, "facts", '{');
	for (size_t i = 0; i < s->n_facts; i++)
		PUT(&r, {s->facts[i].key, IN_JSON, TEXT_OF(s->facts[i].value)});
	json_close(&r, "}");
	if (!fact_get(s->facts, s->n_facts, "demo"))
		put_machine(&r, l, procs);
	json_open(&r, "channels", '[');
	for (size_t i = 0; i < s->n_channels; i++) {
		reading_take(&got, l, i);
		put_reading(&r, &got, got.channel->missing[0] ? NAN : load_mean(log_view_timeline(l->view), i));
	}
	json_close(&r, "]}");
	putchar('\n');
}

static void print_table(const struct live *l)
{
	const struct session *s = engine_session(l->engine);
	const char *notice = fact_get(s->facts, s->n_facts, "notice");
	struct reading r;
	int wide = 0;

	for (size_t i = 0; i < s->n_channels; i++)
		if ((int)strlen(s->channels[i].name) > wide)
			wide = (int)strlen(s->channels[i].name);
	const char *title = fact_get(s->facts, s->n_facts, "title");
	const char *release = fact_get(s->facts, s->n_facts, "release");
	printf("%s%s%s\n", title ? title : "", release ? " · " : "", release ? release : "");
	if (notice)
		printf("%s\n", notice);
	for (size_t i = 0; i < s->n_channels; i++) {
		char number[32] = "--";
		reading_take(&r, l, i);
		if (!isnan(r.value))
			snprintf(number, sizeof number, r.value == rint(r.value) ? "%.0f" : "%.1f", r.value);
		printf("%-*s %14s %-4s %s\n", wide, r.channel->name, number, unit_name(r.channel->unit),
		       r.reason[0] ? r.reason : r.channel->note);
	}
}

static void reading_reason(void *arg, size_t channel, char *out, size_t size)
{
	reason_now(arg, &engine_session(((struct live *)arg)->engine)->channels[channel], out, size);
}

static int print_metrics(struct live *l, FILE *f, bool textfile, struct err *e)
{
	const struct session *s = engine_session(l->engine);
	size_t *channels = calloc(s->n_channels + 1, sizeof *channels);
	double *values = calloc(s->n_channels + 1, sizeof *values);
	struct metrics m = {.about = s, .channels = channels, .n = s->n_channels, .values = values, .reason = reading_reason,
			    .arg = l, .textfile = textfile};

	if (!channels || !values) {
		free(channels);
		free(values);
		return err_set(e, ERR_FAILED, "%s", _("out of memory"));
	}
	for (size_t i = 0; i < s->n_channels; i++) {
		channels[i] = i;
		values[i] = value_of(l, &s->channels[i], i);
	}
	openmetrics_write(f, &m);
	free(channels);
	free(values);
	return 0;
}

/* Whoever reads the file sees the old text or the new one. */
static int write_textfile(struct live *l, const char *path, struct err *e)
{
	struct replacement to;
	int fd = replace_open(&to, path), r = -1, num;
	FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
	char shown[512];

	text_printable(shown, sizeof shown, path, strlen(path));
	errno = f ? 0 : errno;
	if (f && print_metrics(l, f, true, e) < 0) {
		num = 0;
	} else if (f && fflush(f) == 0 && fchmod(fd, 0644) == 0 && replace_done(&to, fd) == 0) {
		num = 0;
		r = 0;
	} else {
		num = errno;
		err_sys(e, ERR_FAILED, num, _("cannot write %s"), shown);
	}
	if (r < 0)
		replace_drop(&to);
	if (f)
		fclose(f);
	else if (fd >= 0)
		close(fd);
	return r;
}

static int cmd_once(const struct options *o)
{
	struct live l;
	struct err e;
	int status = 0;
	struct procs *procs = NULL;

	if (signals_open(&e) < 0 || live_open(&l, o, -1, &e) < 0)
		return complain(&e);
	if (e.code != ERR_NONE)
		complain(&e);
	if ((o->json || o->once_form == ONCE_JSON) && (procs = procs_open(l.root, &e)))
		procs_read(procs); /* the CPU load of processes needs two readings */
	engine_wait_warm(l.engine, -1);
	wait_for_values(&l);
	engine_stop(l.engine); /* so that all samples are in the log */
	live_look(&l);
	root_give_up(true);
	if (o->textfile)
		status = write_textfile(&l, o->textfile, &e) < 0 ? complain(&e) : 0;
	else if (o->once_form == ONCE_OPENMETRICS)
		status = print_metrics(&l, stdout, false, &e) < 0 ? complain(&e) : 0;
	else if (o->json || o->once_form == ONCE_JSON)
		print_json(&l, procs);
	else
		print_table(&l);
	root_give_up(false);
	procs_close(procs);
	live_close(&l);
	return status;
}

static int finish(struct options *o, struct err *e)
{
	const struct option_rule rules[] = {
		{o->textfile && (o->json || o->once_form == ONCE_JSON), N_("--textfile writes OpenMetrics, not JSON")},
		{o->json && o->once_form == ONCE_OPENMETRICS, N_("only one of --json and --format openmetrics can be given")},
	};

	return RULES(rules, e) < 0 ? -1 : operands_none(o, e);
}

/* Order of enum once_form. */
static const char *const once_forms[] = {"table", "json", "openmetrics", NULL};
static const struct option_entry own[] = {
	{"json", NULL, N_("as one JSON object"), FLAG(json)},
	{"format", "FORMAT", N_("table (default), json or openmetrics"), WORD(once_form, enum once_form, once_forms),
	 .wants = N_("table, json or openmetrics")},
	{"textfile", "FILE", N_("write it to FILE, all at once, for the textfile collector of node_exporter"), TEXT(textfile)},
};
static const struct option_group options = {NULL, OPTIONS(own)};

const struct verb verb_once = {
	.name = "once",
	.operands = "",
	.summary = N_("print one reading of every signal"),
	.groups = {&options, &group_sampling},
	.runs_as = MODE_ONCE,
	.apart = true,
	.finish = finish,
	.run = cmd_once,
};
