/* Joules of a recording: the sampler counts them from its start, but a recording that begins later starts
 * at 0. */
#include <math.h>

#include "model/stream.h"

void joules_begin(struct joules *j, const struct session *about)
{
	j->channel = NULL;
	j->before = NAN;
	for (size_t i = 0; i < about->n_channels && !j->channel; i++)
		if (about->channels[i].unit == UNIT_JOULE && !about->channels[i].missing[0])
			j->channel = &about->channels[i];
}

bool joules_count(struct joules *j, enum tier tier, double *rows, size_t width, size_t n, double *was)
{
	if (!j->channel || j->channel->tier != tier)
		return false;
	for (size_t i = 0; i < n; i++) {
		double *counted = &rows[i * width + j->channel->column];

		if (was)
			was[i] = *counted;
		if (isnan(j->before))
			j->before = *counted;
		*counted -= j->before;
	}
	return true;
}
