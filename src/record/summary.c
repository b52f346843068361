/* What is told of a recording is read in its files, as a report of them would: what never reached the disk is in no sum. A
 * quantity that was not measured gets a line that says so; a stream cannot be read again, and has what its output counts. */
#include "record/summary.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "record/hangs.h"
#include "trace/trace.h"
#include "util/clock.h"
#include "util/intl.h"
#include "util/text.h"

#define CLOCK_STEP_NS (NS_PER_S / 10) /* smaller differences are normal clock discipline */
#define CHANGES       4 /* that are told */

/* Appends; truncates what does not fit. */
static void add(char *buf, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void add(char *buf, size_t size, const char *fmt, ...)
{
	size_t len = strlen(buf);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf + len, size - len, fmt, ap);
	va_end(ap);
}

static void watts(char *buf, size_t size, double mw)
{
	snprintf(buf, size, fabs(mw) < 1000 ? "%.3f W" : "%.2f W", mw / 1000);
}

static void joules(char *buf, size_t size, double j)
{
	if (fabs(j) < 100000)
		snprintf(buf, size, fabs(j) < 1000 ? "%.2f J" : "%.0f J", j);
	else
		snprintf(buf, size, "%.1f kJ", j / 1000);
}

static void span(char *buf, size_t size, int64_t ns)
{
	if (ns < NS_PER_MS)
		snprintf(buf, size, "%.0f us", (double)ns / 1000);
	else if (ns < NS_PER_S)
		snprintf(buf, size, "%.1f ms", (double)ns / (double)NS_PER_MS);
	else
		snprintf(buf, size, "%.1f s", (double)ns / (double)NS_PER_S);
}

/* --- what the files have --- */

void summary_read(struct summary *s)
{
	size_t n = 0, files = 0;
	char(*names)[PATH_MAX];
	const char **paths;
	struct err e;

	while (log_out_file(s->writer, files, NULL, 0, NULL))
		files++;
	names = calloc(files + 1, sizeof *names);
	paths = calloc(files + 1, sizeof *paths);
	power_parts_find(&s->parts, s->about);
	/* One that is gone, or damaged from its beginning, is not read. */
	for (size_t i = 0; names && paths && i < files; i++)
		if (log_out_file(s->writer, i, names[n], sizeof *names, NULL) && trace_recording(names[n], NULL)) {
			paths[n] = names[n];
			n++;
		}
	s->trace = n ? trace_open_files(paths, n, false, NULL, NULL, &e) : NULL;
	free(paths);
	free(names);
	if (s->trace && (!trace_extent(s->trace, &s->from_ns, &s->to_ns) ||
			 trace_session(s->trace)->n_channels != s->about->n_channels))
		summary_free(s);
	for (size_t i = 0; i < s->parts.n; i++) {
		const struct energy_source *source = s->trace ? trace_source(s->trace, s->parts.channel[i]) : NULL;

		s->energy[i] = source ? energy_between(source, trace_timeline(s->trace), s->from_ns, s->to_ns)
				      : (struct energy_result) {.joules = NAN, .within = NAN};
	}
}

void summary_free(struct summary *s)
{
	trace_close(s->trace);
	s->trace = NULL;
}

static struct span_stats readings(const struct summary *s, size_t channel)
{
	struct span_stats r = {.n = 0};

	if (s->trace)
		trace_stat(s->trace, channel, s->from_ns, s->to_ns + 1, &r);
	return r;
}

/* --- each line --- */

bool lost_text(const struct log_out_stats *w, char *buf, size_t size)
{
	uint64_t lost = w->lost_rows + w->given_lost, gaps = w->gap_rows + w->given_lost, events = log_out_lost_events(w);

	buf[0] = '\0';
	if (lost > gaps)
		snprintf(buf, size,
			 P_("%llu row was lost because it could not be written; no file has a gap for it",
			    "%llu rows were lost because they could not be written; the files have gaps for "
			    "%llu of them",
			    lost),
			 (unsigned long long)lost, (unsigned long long)gaps);
	else if (lost > 0)
		snprintf(buf, size,
			 P_("%llu row was lost because it could not be written in time; it is recorded as a gap",
			    "%llu rows were lost because they could not be written in time; they are recorded "
			    "as gaps",
			    lost),
			 (unsigned long long)lost);
	if (events > 0)
		add(buf, size,
		    P_("%s%llu event (a mark, change, notice or range) was lost because it could not be written",
		       "%s%llu events (marks, changes, notices, ranges) were lost because they could not be written", events),
		    lost > 0 ? "; " : "", (unsigned long long)events);
	return log_out_lacks(w);
}

static void tell_samples(const struct summary *s, char *buf, size_t size)
{
	const uint64_t *rows = s->written.rows, *late = s->written.late;
	size_t n = channel_find(s->about->channels, s->about->n_channels, "nvmtop.late_readings");
	double rise = n < s->about->n_channels ? readings(s, n).rise : 0;

	snprintf(buf, size, _("%llu fast, %llu medium, %llu slow; %llu late, %llu lost"),
		 (unsigned long long)rows[TIER_FAST], (unsigned long long)rows[TIER_MEDIUM],
		 (unsigned long long)rows[TIER_SLOW],
		 (unsigned long long)(late[TIER_FAST] + late[TIER_MEDIUM] + late[TIER_SLOW]),
		 (unsigned long long)(s->written.lost_rows + s->written.given_lost));
	if (rise > 0)
		add(buf, size, "; %s: %.0f", s->about->channels[n].label, rise);
}

/* Only for the fast tier: the others have time to spare. */
static void tell_lateness(const struct summary *s, char *buf, size_t size)
{
	static const double shares[] = {0.5, 0.99, 1};
	char text[3][32];

	for (int i = 0; i < 3; i++) {
		int64_t ns = lateness_ns(&s->after.stats.lateness, &s->before.stats.lateness, shares[i]);

		if (ns < 0)
			return;
		span(text[i], sizeof text[i], ns);
	}
	/* TRANSLATORS: half of the ticks began within the first time, nearly all within the second. */
	snprintf(buf, size, _("50 %% within %s, 99 %% within %s, all within %s"), text[0], text[1], text[2]);
	if (s->written.longest_ns == 0)
		return;
	span(text[0], sizeof text[0], s->written.longest_ns);
	add(buf, size, _("; longest interval %s"), text[0]);
}

/* Appends it. most: in mW; NaN: it is not known. */
static void tell_energy(const struct energy_result *r, double most, char *buf, size_t size)
{
	char text[32];

	watts(text, sizeof text, 1e3 * r->joules / r->known_s);
	add(buf, size, _("mean %s"), text);
	watts(text, sizeof text, most);
	if (!isnan(most))
		add(buf, size, _(", maximum %s"), text);
	joules(text, sizeof text, r->joules);
	add(buf, size, _(", energy %s"), text);
}

/* Appends the sum of those that add up. Returns it; its joules are NaN if it is not known. */
static struct energy_result tell_sum(const struct summary *s, char *buf, size_t size)
{
	const struct power_parts *p = &s->parts;
	struct energy_result sum = power_parts_sum(s->energy, p->add_up ? p->n : 0);

	if (!isnan(sum.joules))
		tell_energy(&sum, p->n == 1 ? readings(s, p->channel[0]).max : NAN, buf, size);
	return sum;
}

static void tell_power(const struct summary *s, char *buf, size_t size)
{
	struct energy_result sum = tell_sum(s, buf, size);
	double share = sum.known_s * 1e9 / (double)summary_lasted_ns(s);
	char names[200];

	for (size_t i = 0; i < s->parts.n && isnan(sum.joules); i++) {
		if (isnan(s->energy[i].joules))
			continue;
		add(buf, size, "%s%s: ", *buf ? "; " : "", s->about->channels[s->parts.channel[i]].label);
		tell_energy(&s->energy[i], NAN, buf, size);
	}
	if (isnan(sum.joules))
		return;
	if (share < 0.95)
		add(buf, size, _(" (measured %.0f %% of the time)"), 100 * share);
	if (s->about->channels[s->parts.channel[0]].kind == CHANNEL_POWER_TOTAL)
		return;
	power_parts_text(&s->parts, s->about, true, names, sizeof names);
	/* TRANSLATORS: such as "; GPU alone" */
	add(buf, size, s->parts.n == 1 ? _("; %s alone") : _("; the sum of %s"), names);
}

/* Appends the highest temperature, with the label of the zone that had it. The board may leave zones out. */
static void tell_hottest(const struct summary *s, char *buf, size_t size)
{
	struct span_stats most = {.n = 0};
	const char *label = NULL;
	bool by_board = false;

	for (size_t i = 0; i < s->about->n_channels && !by_board; i++)
		if (s->about->channels[i].kind == CHANNEL_HOTTEST && (most = readings(s, i)).n > 0) {
			label = s->about->channels[i].label;
			by_board = true;
		}
	for (size_t i = 0; i < s->about->n_channels; i++) {
		const struct channel *c = &s->about->channels[i];
		struct span_stats r = {.n = 0};

		if (c->kind == CHANNEL_TEMPERATURE)
			r = readings(s, i);
		if (r.n > 0 && (by_board ? fabs(r.max - most.max) <= 0 : !label || r.max > most.max)) {
			most = r;
			label = c->label;
		}
	}
	if (label)
		add(buf, size, "%s%s %.1f C", *buf ? "; " : "", label, most.max);
}

/* What throttled (or the notices), and for how long or how often. Channels that were never read are skipped. */
static void tell_states(const struct summary *s, bool notices, char *buf, size_t size)
{
	bool known = false;
	char time[32];

	for (size_t i = 0; i < s->about->n_channels; i++) {
		const struct channel *c = &s->about->channels[i];
		bool counts = c->kind == CHANNEL_THROTTLE_COUNT;
		const char *between = buf[0] ? ", " : "";
		struct span_stats r;

		if ((notices ? c->kind != CHANNEL_NOTICE : c->kind != CHANNEL_THROTTLE && !counts) || (r = readings(s, i)).n == 0)
			continue;
		known = true;
		if (counts && r.rise >= 1) {
			add(buf, size, P_("%s%s %llu time", "%s%s %llu times", (uint64_t)r.rise), between, c->label,
			    (unsigned long long)r.rise);
		} else if (!counts && r.max > 0) {
			span(time, sizeof time, (int64_t)r.above_ns);
			add(buf, size, _("%s%s for %s"), between, c->label, time);
		}
	}
	if (!buf[0] && !notices)
		snprintf(buf, size, "%s", known ? _("none") : _("not measured"));
}

static void tell_throttles(const struct summary *s, char *buf, size_t size)
{
	tell_states(s, false, buf, size);
}

static void tell_notices(const struct summary *s, char *buf, size_t size)
{
	tell_states(s, true, buf, size);
}

/* Settings that changed, and sensors that stopped answering or answer again: the first ones. */
static void tell_changes(const struct summary *s, char *buf, size_t size)
{
	size_t n = 0;
	const struct change *list = s->trace ? trace_changes(s->trace, &n) : NULL;
	char text[CHANGE_TEXT];

	snprintf(buf, size, "%s", n > 0 ? "" : _("none"));
	for (size_t i = 0; i < n && i < CHANGES; i++) {
		change_text(text, &list[i]);
		add(buf, size, "%s%s", i ? "; " : "", text);
	}
	if (n > CHANGES)
		add(buf, size, P_("; and %llu more", "; and %llu more", n - CHANGES), (unsigned long long)(n - CHANGES));
}

static void tell_marks(const struct summary *s, char *buf, size_t size)
{
	snprintf(buf, size, "%llu", (unsigned long long)s->written.marks);
	if (s->written.lost.marks)
		add(buf, size,
		    P_("; %llu was lost because it could not be written",
		       "; %llu were lost because they could not be written", s->written.lost.marks),
		    (unsigned long long)s->written.lost.marks);
}

/* The cost of nvmtop, and how its samplers were scheduled. */
static void tell_own(const struct summary *s, char *buf, size_t size)
{
	int64_t ran = s->after.clocks.mono_ns - s->before.clocks.mono_ns;
	FILE *f = fopen("/proc/self/status", "r");
	unsigned long long kb;
	char line[128];

	/* In a shorter run, startup and exit alone would dominate. */
	if (ran >= NS_PER_S / 10)
		snprintf(buf, size, _("%.2f %% of a core"), 100 * (double)(s->after.cpu_ns - s->before.cpu_ns) / (double)ran);
	else
		snprintf(buf, size, "%s", _("too short to measure its CPU time"));
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "VmHWM: %llu", &kb) == 1)
			add(buf, size, _(", %.1f MB of memory"), (double)kb * 1.024 / 1000);
	if (f)
		fclose(f);
	if (s->priority[0])
		add(buf, size, "; %s", s->priority);
}

/* --- all of them --- */

void summary_moment(struct summary_moment *m, const struct engine *g)
{
	engine_stats(g, &m->stats);
	clock_anchor(&m->clocks);
	m->cpu_ns = clock_cpu_ns();
}

int64_t summary_lasted_ns(const struct summary *s)
{
	int64_t until = s->written.until_ns, end = s->after.clocks.mono_ns;

	return (end < until ? end : until) - s->before.clocks.mono_ns;
}

/* Sample times stop while the machine is suspended, and the wall clock in the file is that of its start. */
static void print_clocks(const struct summary *s, FILE *out)
{
	const struct clock_anchor *a = &s->before.clocks, *b = &s->after.clocks;
	int64_t asleep = (b->boot_ns - b->mono_ns) - (a->boot_ns - a->mono_ns);
	int64_t set = (b->real_ns - b->boot_ns) - (a->real_ns - a->boot_ns);
	char text[32];

	text_lasted(text, sizeof text, asleep);
	if (asleep >= CLOCK_STEP_NS)
		fprintf(out, _("  suspended: %s, not counted in the times of the file\n"), text);
	text_lasted(text, sizeof text, set < 0 ? -set : set);
	if (set >= CLOCK_STEP_NS || set <= -CLOCK_STEP_NS)
		fprintf(out,
			set > 0 ? _("  clock: was set forward by %s; the file uses the time before the change\n")
				: _("  clock: was set back by %s; the file uses the time before the change\n"),
			text);
}

static void print_hangs(const struct summary *s, FILE *out)
{
	int64_t from = s->before.clocks.mono_ns, to = from + summary_lasted_ns(s);
	char text[160];

	for (size_t i = 0; s->engine && hangs_line(s->engine, i, from, to, text, sizeof text); i++)
		fprintf(out, _("  no answer: %s\n"), text);
}

void summary_print(const struct summary *s, FILE *out)
{
	static const struct {
		const char *title;
		void (*tell)(const struct summary *s, char *buf, size_t size);
		bool by_files;
	} lines[] = {
		{N_("samples:"), tell_samples, false},     {N_("lateness:"), tell_lateness, false},
		{N_("power:"), tell_power, true},          {N_("hottest:"), tell_hottest, true},
		{N_("throttling:"), tell_throttles, true}, {N_("notices:"), tell_notices, true},
		{N_("changes:"), tell_changes, true},      {N_("marks:"), tell_marks, false},
		{N_("nvmtop:"), tell_own, false},
	};
	const size_t n = sizeof lines / sizeof *lines;
	bool stream = !log_out_file(s->writer, 0, NULL, 0, NULL);
	char elapsed[32], size[32], text[320];
	int wide = 0;

	text_lasted(elapsed, sizeof elapsed, summary_lasted_ns(s));
	text_bytes(size, sizeof size, s->written.bytes);
	fprintf(out, _("nvmtop: recorded %s to %s (%s)\n"), elapsed, s->file, size);
	for (size_t i = 0; i < n; i++)
		wide = text_width(_(lines[i].title)) > wide ? text_width(_(lines[i].title)) : wide;
	for (size_t i = 0; i < n; i++) {
		const char *title = _(lines[i].title);

		text[0] = '\0';
		if (lines[i].by_files && stream)
			snprintf(text, sizeof text, "%s", _("not told of a stream, which cannot be read again"));
		else
			lines[i].tell(s, text, sizeof text);
		if (lines[i].tell == tell_notices && (stream || !text[0]))
			continue; /* none counted */
		fprintf(out, "  %s%*s %s\n", title, wide - text_width(title), "",
			text[0] ? text : _("not measured"));
	}
	if (s->written.holes)
		fprintf(out,
			P_("  interrupted: %llu time, %.1f s\n", "  interrupted: %llu times, %.1f s\n",
			   s->written.holes),
			(unsigned long long)s->written.holes, (double)s->written.hole_ns / (double)NS_PER_S);
	print_hangs(s, out);
	print_clocks(s, out);
}

void summary_line(const struct summary *s, char *buf, size_t size)
{
	char power[128] = "";

	snprintf(buf, size, _("%llu late"), (unsigned long long)s->written.late[TIER_FAST]);
	tell_sum(s, power, sizeof power);
	if (*power)
		add(buf, size, "; %s", power);
	tell_hottest(s, buf, size);
}
