/* Minima and maxima are of windows of fixed length, of all readings: "since the last scrape" would be wrong for each of two
 * scrapers. */
#include "serve/scrape.h"

#include <math.h>
#include <stdlib.h>

#include "serve/openmetrics.h"

static const int windows[OPENMETRICS_WINDOWS] = {15, 60}; /* seconds */
static const char *const labels[OPENMETRICS_WINDOWS] = {"15s", "60s"};

struct scrape {
	struct tally *t;
	struct tally_value *newest; /* of each channel */
};

static void scrape_reason(void *arg, size_t channel, char *out, size_t size)
{
	const struct scrape *s = arg;

	tally_reason(s->t, channel, s->newest[channel], out, size);
}

int scrape_write(FILE *f, struct tally *t, const size_t *channels, size_t n, int64_t now_ns, bool older)
{
	struct session about = {.channels = tally_channels(t, &about.n_channels)};
	struct fact *facts = tally_facts(t, &about.n_facts);
	size_t all = about.n_channels;
	double *values = calloc(2 * all + 1, sizeof *values), *totals = values + all;
	struct bin *bins = calloc(OPENMETRICS_WINDOWS * all + 1, sizeof *bins);
	struct scrape s = {t, calloc(all + 1, sizeof *s.newest)};
	struct metrics m = {.about = &about, .channels = channels, .n = n, .values = values, .totals = totals,
			    .reason = scrape_reason, .arg = &s, .n_windows = OPENMETRICS_WINDOWS, .textfile = older};
	bool whole = facts && values && bins && s.newest;

	about.facts = facts;
	for (size_t k = 0; whole && k < n; k++) {
		size_t i = channels[k];
		const struct channel *c = &about.channels[i];

		s.newest[i] = tally_newest(t, i, now_ns);
		values[i] = s.newest[i].value;
		totals[i] = c->unit == UNIT_MILLIWATT ? tally_joules(t, i) : c->unit == UNIT_PERCENT ? tally_busy(t, i) : (double)NAN;
		for (int w = 0; w < OPENMETRICS_WINDOWS; w++)
			bins[(size_t)w * all + i] = tally_last(t, i, windows[w]);
	}
	for (int w = 0; w < OPENMETRICS_WINDOWS; w++)
		m.windows[w] = (struct metric_window) {labels[w], bins + (size_t)w * all};
	if (whole)
		openmetrics_write(f, &m);
	free(facts);
	free(values);
	free(bins);
	free(s.newest);
	return whole ? 0 : -1;
}
