/* A directory may take long to answer, on a network forever, and a key is answered in milliseconds: a
 * job creates the files of a recording. */
#include "record/open-recording.h"

#include <stdlib.h>

#include "record/naming.h"
#include "util/intl.h"
#include "util/job.h"

struct record_open {
	struct job job;
	struct trace_limits limits;
	struct log_writer *series;
	struct err err;
};

static void drop(struct job *j)
{
	struct record_open *o = (struct record_open *)j;

	log_writer_free(o->series);
	free(o);
}

static void run(struct job *j)
{
	struct record_open *o = (struct record_open *)j;

	o->series = record_now(&o->limits, &o->err);
}

struct record_open *record_open_start(const struct trace_limits *limits, struct err *e)
{
	struct record_open *o = calloc(1, sizeof *o);

	if (!o) {
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	o->limits = *limits;
	if (job_start(&o->job, run, drop, e) == 0)
		return o;
	free(o);
	return NULL;
}

bool record_open_done(struct record_open *o, int64_t until_ns)
{
	return job_done(&o->job, until_ns);
}

struct log_writer *record_open_take(struct record_open *o, struct err *e)
{
	struct log_writer *s = o->series;

	if (!s)
		*e = o->err;
	free(o);
	return s;
}

void record_open_cancel(struct record_open *o)
{
	job_cancel(&o->job);
}
