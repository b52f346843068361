/* The table by phase: a line each, of what is asked for first. */
#include <math.h>
#include <string.h>

#include "util/intl.h"
#include "util/num.h"
#include "report/analysis.h"

static void phase_name(const struct analysis *a, const struct part *p, char *out, size_t size)
{
	if (p == &a->whole)
		snprintf(out, size, "%s", _("whole"));
	else
		snprintf(out, size, "%llu%s%s", (unsigned long long)p->epoch.id, *p->epoch.label ? " " : "",
			 p->epoch.label);
}

/* Whether some of its energy is not known. */
static bool phase_row(struct table *t, const struct analysis *a, const struct part *p)
{
	const struct result *power = key_of(a, p, KEY_POWER), *gpu = key_of(a, p, KEY_GPU),
			    *hottest = key_of(a, p, KEY_HOTTEST);
	double joules = power ? joules_of(power) : NAN;
	double watts = power ? watts_of(power) : NAN;
	bool unknown = power && p->duration_ns - power->covered_ns >
					cover_ns(a->session, a->session->channels[a->key[KEY_POWER]].tier);
	char name[96], text[7][NUM_TEXT];

	phase_name(a, p, name, sizeof(name));
	num_fixed(text[0], (double)(p->epoch.from_ns - a->session->start.mono_ns) / 1e9, 3);
	num_fixed(text[1], (double)(p->epoch.to_ns - a->session->start.mono_ns) / 1e9, 3);
	num_fixed(text[2], (double)p->duration_ns / 1e9, 3);
	shown_text(text[3], joules, joules);
	shown_text(text[4], watts, watts);
	shown_text(text[5], gpu ? mean_of(gpu) : NAN, 10);
	shown_text(text[6], hottest ? hottest->max : NAN, 10);
	table_row(t, (const char *[]) {name, text[0], text[1], text[2], text[3], text[4], text[5], text[6],
				       unknown && !isnan(joules) ? "!" : ""});
	return unknown && !isnan(joules);
}

void write_phases(FILE *o, const struct analysis *a, bool markdown)
{
	struct table t = {
		o,
		markdown,
		9,
		{-17, 9, 9, 8, 9, 7, 6, 6, -1},
		{_("phase"), _("from s"), _("to s"), _("s"), "J", _("mean W"), "GPU %", _("max C"), ""},
		false};
	bool unknown = false;

	for (size_t i = 0; i < a->epochs.n; i++)
		unknown |= phase_row(&t, a, part_load(a, i));
	if (a->epochs.n > 1)
		unknown |= phase_row(&t, a, &a->whole);
	if (markdown)
		putc('\n', o);
	if (unknown)
		fputs(_("!: the power is unknown for part of this time, which adds no joules\n"), o);
	if (a->key[KEY_POWER] != SIZE_MAX &&
	    a->session->channels[a->key[KEY_POWER]].kind != CHANNEL_POWER_TOTAL)
		fprintf(o, _("J and W are those of %s, the only power signal\n"),
			a->session->channels[a->key[KEY_POWER]].name);
	putc('\n', o);
}
