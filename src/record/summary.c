/* A quantity that was not measured has a line with the reason: without it the reader could not tell. */
#include "record/summary.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "record/silence.h"
#include "util/clock.h"
#include "util/intl.h"
#include "util/text.h"

#define CLOCK_STEP_NS (NS_PER_S / 10) /* less is how clocks are kept right */

struct line {
	const char *title;
	char text[320];
};

enum { SAMPLES, LATENESS, POWER, HOTTEST, THROTTLING, NOTICES, CHANGES, MARKS, OWN, LINES };

/* Append; what has no room is cut. */
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

/* Rows that were sampled and are not in it, but for those that came later than it ends. */
static uint64_t summary_lost(const struct summary *s)
{
	uint64_t lost = s->lost;

	for (int t = 0; t < TIERS; t++)
		lost += s->tally->lost[t];
	return lost;
}

bool summary_incomplete(const struct summary *s, char *buf, size_t size)
{
	unsigned long long lost = summary_lost(s);

	snprintf(buf, size,
		 P_("%llu row was lost because it could not be written in time; it is recorded as a gap",
		    "%llu rows were lost because they could not be written in time; they are recorded as "
		    "gaps",
		    lost),
		 lost);
	return lost > 0;
}

static void tell_samples(const struct summary *s, char *buf, size_t size)
{
	const uint64_t *rows = s->rows;
	uint64_t late = 0, lost = summary_lost(s);

	for (int t = 0; t < TIERS; t++)
		late += s->tally->late[t];
	snprintf(buf, size, _("%llu fast, %llu medium, %llu slow; %llu late, %llu lost"),
		 (unsigned long long)rows[TIER_FAST], (unsigned long long)rows[TIER_MEDIUM],
		 (unsigned long long)rows[TIER_SLOW], (unsigned long long)late, (unsigned long long)lost);
}

/* Of the fast tier: the others have more time than they need. */
static void tell_lateness(const struct summary *s, char *buf, size_t size)
{
	static const double shares[] = {0.5, 0.99, 1};
	char text[3][32];

	buf[0] = '\0';
	for (int i = 0; i < 3; i++) {
		int64_t ns = lateness_ns(&s->after.fast, &s->before.fast, shares[i]);

		if (ns < 0)
			return;
		span(text[i], sizeof text[i], ns);
	}
	/* TRANSLATORS: half of the ticks began within the first time, nearly all within the second. */
	snprintf(buf, size, _("50 %% within %s, 99 %% within %s, all within %s; longest interval "), text[0],
		 text[1], text[2]);
	span(text[0], sizeof text[0], s->tally->longest_ns[TIER_FAST]);
	add(buf, size, "%s", text[0]);
}

static bool power_is_known(const struct tally *t)
{
	return t->power.known && t->power.mj.covered_ns > 0;
}

static double mean_mw(const struct tally_power *p)
{
	return integral_get(&p->mj) / ((double)p->mj.covered_ns / (double)NS_PER_S);
}

static void tell_power(const struct summary *s, char *buf, size_t size)
{
	const struct tally_power *p = &s->tally->power;
	char mean[32], most[32], energy[32];
	double all = (double)(s->tally->end_ns - s->tally->start_ns);

	watts(mean, sizeof mean, mean_mw(p));
	watts(most, sizeof most, p->most_mw);
	joules(energy, sizeof energy, integral_get(&p->mj) / 1000);
	/* TRANSLATORS: watts, watts, joules. */
	snprintf(buf, size, _("mean %s, maximum %s, energy %s"), mean, most, energy);
	if ((double)p->mj.covered_ns < 0.95 * all)
		add(buf, size, _(" (measured %.0f %% of the time)"), 100 * (double)p->mj.covered_ns / all);
	if (p->gpu_alone)
		add(buf, size, "%s", _("; of the GPU alone, by NVML"));
}

/* Those that throttled (or the notices), for how long or how often; none if the channel was never read. */
static void tell_throttling(const struct summary *s, bool notices, char *buf, size_t size)
{
	const struct tally *t = s->tally;
	bool known = false;
	char time[32];

	buf[0] = '\0';
	for (size_t i = 0; i < t->n_throttles; i++) {
		const struct tally_signal *x = &t->throttles[i];
		const char *between = buf[0] ? ", " : "";

		if (x->notice != notices)
			continue;
		known |= x->values > 0;
		if (!x->events)
			continue;
		span(time, sizeof time, x->above_ns);
		if (x->counts)
			add(buf, size, P_("%s%s %llu time", "%s%s %llu times", x->events), between, x->label,
			    (unsigned long long)x->events);
		else
			add(buf, size, _("%s%s for %s"), between, x->label, time);
	}
	if (!buf[0] && !notices)
		snprintf(buf, size, "%s", known ? _("none") : _("not measured"));
}

/* Of how the machine is set, and of sensors that answer or do not. */
static void tell_changes(const struct summary *s, char *buf, size_t size)
{
	const struct tally *t = s->tally;
	char text[CHANGE_TEXT];

	snprintf(buf, size, "%s", t->changes ? "" : _("none"));
	for (size_t i = 0; i < t->changes && i < TALLY_CHANGES; i++) {
		change_text(text, &t->change[i]);
		add(buf, size, "%s%s", i ? "; " : "", text);
	}
	if (t->changes > TALLY_CHANGES)
		add(buf, size, P_("; and %llu more", "; and %llu more", t->changes - TALLY_CHANGES),
		    (unsigned long long)(t->changes - TALLY_CHANGES));
}

/* The most memory that this process held, in MB; NaN: the kernel does not say. */
static double peak_mb(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	unsigned long long kb;
	double mb = NAN;
	char line[128];

	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "VmHWM: %llu", &kb) == 1)
			mb = (double)kb * 1.024 / 1000;
	if (f)
		fclose(f);
	return mb;
}

static void tell_own(const struct summary *s, char *buf, size_t size)
{
	int64_t ran = s->tally->ran_ns;
	double mb = peak_mb();

	/* Beginning and ending alone would be a large share of less. */
	if (ran >= NS_PER_S / 10)
		snprintf(buf, size, _("%.2f %% of a core"), 100 * (double)s->tally->cpu_ns / (double)ran);
	else
		snprintf(buf, size, "%s", _("too short to measure its CPU time"));
	if (!isnan(mb))
		add(buf, size, _(", %.1f MB of memory"), mb);
	if (s->priority[0])
		add(buf, size, "; %s", s->priority);
}

static void fill(const struct summary *s, struct line lines[LINES])
{
	const struct tally_signal *hottest = tally_hottest(s->tally);

	memset(lines, 0, LINES * sizeof *lines);
	lines[SAMPLES].title = _("samples:");
	tell_samples(s, lines[SAMPLES].text, sizeof lines->text);
	lines[LATENESS].title = _("lateness:");
	tell_lateness(s, lines[LATENESS].text, sizeof lines->text);
	lines[POWER].title = _("power:");
	if (power_is_known(s->tally))
		tell_power(s, lines[POWER].text, sizeof lines->text);
	lines[HOTTEST].title = _("hottest:");
	if (hottest)
		snprintf(lines[HOTTEST].text, sizeof lines->text, "%s %.1f C", hottest->label, hottest->most);
	lines[THROTTLING].title = _("throttling:");
	tell_throttling(s, false, lines[THROTTLING].text, sizeof lines->text);
	lines[NOTICES].title = _("notices:");
	tell_throttling(s, true, lines[NOTICES].text, sizeof lines->text);
	lines[CHANGES].title = _("changes:");
	tell_changes(s, lines[CHANGES].text, sizeof lines->text);
	lines[MARKS].title = _("marks:");
	snprintf(lines[MARKS].text, sizeof lines->text, "%llu", (unsigned long long)s->marks);
	if (s->lost_marks)
		add(lines[MARKS].text, sizeof lines->text,
		    P_("; %llu was lost because it could not be written",
		       "; %llu were lost because they could not be written", s->lost_marks),
		    (unsigned long long)s->lost_marks);
	lines[OWN].title = _("nvmtop:");
	tell_own(s, lines[OWN].text, sizeof lines->text);
}

void summary_moment(struct summary_moment *m, const struct engine *g)
{
	engine_stats(g, &m->stats);
	engine_lateness(g, TIER_FAST, &m->fast);
	clock_anchor(&m->clocks);
}

/* The time of samples stops while the machine is suspended, and the wall clock in the file is that of
 * its start. */
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
	if (set >= CLOCK_STEP_NS)
		fprintf(out, _("  clock: was set forward by %s; the file uses the time before the change\n"),
			text);
	else if (set <= -CLOCK_STEP_NS)
		fprintf(out, _("  clock: was set back by %s; the file uses the time before the change\n"),
			text);
}

static void print_silence(const struct summary *s, FILE *out)
{
	char text[160];

	for (size_t i = 0;
	     s->engine && silence_line(s->engine, i, s->tally->start_ns, s->tally->end_ns, text, sizeof text);
	     i++)
		fprintf(out, _("  no answer: %s\n"), text);
}

void summary_print(const struct summary *s, FILE *out)
{
	struct line lines[LINES];
	char elapsed[32], size[32];
	int wide = 0;

	fill(s, lines);
	text_lasted(elapsed, sizeof elapsed, s->tally->end_ns - s->tally->start_ns);
	text_bytes(size, sizeof size, s->bytes);
	fprintf(out, _("nvmtop: recorded %s in %s (%s)\n"), elapsed, s->file, size);
	for (int i = 0; i < LINES; i++)
		wide = text_width(lines[i].title) > wide ? text_width(lines[i].title) : wide;
	for (int i = 0; i < LINES; i++) {
		if (i == NOTICES && !lines[i].text[0])
			continue; /* until there are any */
		fprintf(out, "  %s%*s %s\n", lines[i].title, wide - text_width(lines[i].title), "",
			lines[i].text[0] ? lines[i].text : _("not measured"));
	}
	if (s->holes)
		fprintf(out,
			P_("  interrupted: %llu time, %.1f s\n", "  interrupted: %llu times, %.1f s\n",
			   s->holes),
			(unsigned long long)s->holes, (double)s->hole_ns / (double)NS_PER_S);
	print_silence(s, out);
	print_clocks(s, out);
}

void summary_line(const struct summary *s, char *buf, size_t size)
{
	const struct tally_signal *hottest = tally_hottest(s->tally);
	char text[128];

	snprintf(buf, size, _("%llu late"), (unsigned long long)s->tally->late[TIER_FAST]);
	if (power_is_known(s->tally)) {
		watts(text, sizeof text, mean_mw(&s->tally->power));
		add(buf, size, _("; mean %s"), text);
		watts(text, sizeof text, s->tally->power.most_mw);
		add(buf, size, _(", maximum %s"), text);
		joules(text, sizeof text, integral_get(&s->tally->power.mj) / 1000);
		add(buf, size, ", %s", text);
	}
	if (hottest)
		add(buf, size, "; %s %.1f C", hottest->label, hottest->most);
}
