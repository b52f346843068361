/* Recordings started from the screen, which continues meanwhile. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/recording.h"
#include "record/naming.h"
#include "util/clock.h"
#include "util/intl.h"
#include "util/job.h"

#define COMPLETE_MS 40                /* whether it has begun, or is complete, is polled */
#define ANSWER_NS   (100 * NS_PER_MS) /* that a folder has before the screen goes on */
#define SHORT_NS    (500 * NS_PER_MS) /* to wait for the disk at the end without a word */
#define LOOK_NS     (50 * NS_PER_MS)

void recording_trouble(struct trouble *was, const struct log_out_stats *now, char *out, size_t size)
{
	out[0] = '\0';
	if (now->err.code != ERR_NONE) {
		if (!was->said)
			snprintf(out, size, "%s", now->err.text);
		was->said = true;
	} else if (was->said) {
		snprintf(out, size, _("the recording continues in %s"), now->path);
	} else if (now->holes > was->holes && now->last.code != ERR_NONE) {
		snprintf(out, size, _("%s; the recording continues in %s"), now->last.text, now->path);
	}
	if (now->err.code == ERR_NONE) {
		was->said = false;
		was->holes = now->holes;
	}
}

const char *recording_full(void)
{
	return _("the recording has reached --max-size");
}

static bool name_of(struct log_out *w, size_t i, char *out, size_t size)
{
	char path[4096];
	bool complete;

	if (!log_out_file(w, i, path, sizeof path, &complete))
		return false;
	text_printable(out, size, path, strlen(path));
	if (!complete)
		snprintf(out + strlen(out), size - strlen(out), _(" (ended early)"));
	return true;
}

void recording_names(struct log_out *s, size_t most, char *out, size_t size)
{
	char shown[4096];
	size_t n = 0, used = 0;

	while (log_out_file(s, n, NULL, 0, NULL))
		n++;
	out[0] = '\0';
	for (size_t i = 0; i < n && used < size; i++) {
		if (n > most && i == 2) {
			used += (size_t)snprintf(out + used, size - used, " ...");
			i = n - 1;
		}
		name_of(s, i, shown, sizeof shown);
		used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : "", shown);
		if (most == 1)
			break;
	}
	if (n > most && used < size)
		snprintf(out + used, size - used, P_(" (%zu file)", " (%zu files)", n), n);
}

void recording_summary(struct summary *s, const struct options *o, struct engine *g, struct log_out *w,
		       const char *names)
{
	s->engine = g;
	s->about = engine_session(g);
	s->writer = w;
	s->file = names;
	log_out_stats(w, &s->written);
	priority_text(o, s->priority, sizeof s->priority);
	summary_read(s);
}

/* What was written by now; rows that could not be count as lost. */
static void look(struct recording *r)
{
	uint64_t lost = r->written.lost_rows;

	log_out_stats(r->writer, &r->written);
	engine_add_lost(r->engine, r->written.lost_rows - lost);
}

/* Also called at the end of the program. */
static void fail(struct recording *r, enum style style, const char *why)
{
	snprintf(r->failed, sizeof r->failed, "%s", why);
	r->saved[0] = '\0';
	r->tell(r->to, style, r->failed);
}

/* Its files exist, or e has the reason. */
static void begin(struct recording *r, struct err *e)
{
	memset(&r->written, 0, sizeof r->written);
	r->trouble = (struct trouble) {.holes = 0};
	if (r->writer) {
		if (log_out_begin(r->writer, r->log, r->since_ns, INT64_MAX, e) == 0) {
			r->until_ns = 0;
			return;
		}
		log_out_free(r->writer);
		r->writer = NULL;
	}
	fail(r, STYLE_ALERT, e->text);
}

/* A directory may take long to answer, on a network forever, and a key is answered in milliseconds: a
 * job creates the files of a recording. */
struct opening {
	struct job job;
	struct trace_limits limits;
	struct log_out *writer;
	struct err err;
};

static void opening_drop(struct job *j)
{
	struct opening *o = (struct opening *)j;

	log_out_free(o->writer);
	free(o);
}

static void opening_run(struct job *j)
{
	struct opening *o = (struct opening *)j;

	o->writer = record_now(&o->limits, &o->err);
}

/* Whether its folder has answered until then; if so, it begins. */
static bool begun(struct recording *r, int64_t until_ns)
{
	struct opening *o = r->opening;

	if (!job_done(&o->job, until_ns))
		return false;
	r->opening = NULL;
	r->writer = o->writer;
	begin(r, &o->err);
	free(o);
	return true;
}

void recording_start(struct recording *r, struct engine *g, struct log *log)
{
	struct err e;

	r->engine = g;
	r->log = log;
	r->since_ns = clock_now_ns();
	summary_moment(&r->before, g);
	r->opening = calloc(1, sizeof *r->opening);
	if (!r->opening) {
		fail(r, STYLE_ALERT, _("out of memory"));
		return;
	}
	r->opening->limits = r->o->limits;
	if (job_start(&r->opening->job, opening_run, opening_drop, &e) < 0) {
		free(r->opening);
		r->opening = NULL;
		fail(r, STYLE_ALERT, e.text);
	} else if (!begun(r, clock_now_ns() + ANSWER_NS)) {
		r->tell(r->to, STYLE_WARN,
			_("this folder does not answer yet: the recording starts when it does"));
	}
}

bool recording_on(const struct recording *r)
{
	return r->opening || (r->writer && !r->ending);
}

/* The folder is not waited for any more. */
static void give_up(struct recording *r)
{
	job_cancel(&r->opening->job);
	r->opening = NULL;
	fail(r, STYLE_WARN, _("nothing was recorded: the folder did not answer"));
}

/* A line for the screen, and the full text for after it. */
static void record_tell(struct recording *r)
{
	struct summary s = {.before = r->before, .after = r->after};
	char elapsed[32], size[32], more[160], names[4096], name[512], text[sizeof r->failed];
	size_t unused;
	FILE *out;

	look(r);
	recording_names(r->writer, MANY_FILES, names, sizeof names);
	recording_names(r->writer, 1, name, sizeof name);
	recording_summary(&s, r->o, r->engine, r->writer, names);
	text_lasted(elapsed, sizeof elapsed, summary_lasted_ns(&s));
	text_bytes(size, sizeof size, s.written.bytes);
	summary_line(&s, more, sizeof more);
	snprintf(text, sizeof text,
		 r->written.full
			 ? P_("--max-size is reached: saved %.400s, Enter opens it: %s, %s, %llu mark; %s",
			      "--max-size is reached: saved %.400s, Enter opens it: %s, %s, %llu marks; %s",
			      s.written.marks)
			 : P_("saved %.400s, Enter opens it: %s, %s, %llu mark; %s",
			      "saved %.400s, Enter opens it: %s, %s, %llu marks; %s", s.written.marks),
		 name, elapsed, size, (unsigned long long)s.written.marks, more);
	r->tell(r->to, STYLE_TEXT, text);
	if (!log_out_file(r->writer, 0, r->saved, sizeof r->saved, NULL))
		r->saved[0] = '\0';
	free(r->summary);
	r->summary = NULL;
	out = open_memstream(&r->summary, &unused);
	if (!out) {
		summary_free(&s);
		return;
	}
	if (r->written.full)
		fprintf(out, "nvmtop: %s\n", recording_full());
	summary_print(&s, out);
	fclose(out);
	if (lost_text(&s.written, text, sizeof text))
		fail(r, STYLE_WARN, text);
	summary_free(&s);
}

void recording_end(struct recording *r)
{
	int64_t now = clock_now_ns();

	if (r->opening)
		give_up(r);
	if (!r->writer || r->ending)
		return;
	r->ending = true;
	free(r->summary);
	r->summary = NULL;
	summary_moment(&r->after, r->engine); /* what is missed while its files are ended is not its own */
	log_out_end_at(r->writer, &now, true);
	log_out_finish(r->writer);
	r->until_ns = now;
}

/* It has ended, and is complete or the wait is over. */
static void complete(struct recording *r)
{
	struct err e;
	int saved = log_out_result(r->writer, &e);
	if (log_out_file(r->writer, 0, NULL, 0, NULL))
		record_tell(r);
	if (saved < 0)
		fail(r, STYLE_ALERT, e.text);
	log_out_free(r->writer);
	r->writer = NULL;
	r->ending = false;
}

bool recording_wait(struct log_out *w, int signals)
{
	int64_t since_ns = clock_now_ns();
	bool done, said = false, enough = false;
	struct ttykeys keys = {.on = false};
	struct err e;
	int sig, key;

	while (!(done = log_out_wait(w, clock_now_ns() + LOOK_NS)) && !enough) {
		if (clock_now_ns() - since_ns < SHORT_NS)
			continue;
		if (!said) {
			log_out_result(w, &e);
			fprintf(stderr, _("nvmtop: %s; waiting for it, Ctrl-C ends without it\n"), e.text);
			ttykeys_start(&keys);
			said = true;
		}
		while ((sig = signals_next(signals, NULL)) != 0)
			enough |= signal_ends(sig);
		while ((key = ttykeys_next(&keys)) > 0)
			enough |= key == 'q' || key == 'Q';
	}
	ttykeys_stop(&keys);
	return done;
}

void recording_finish(struct recording *r, int signals)
{
	if (!r->writer)
		return;
	recording_end(r);
	recording_wait(r->writer, signals);
	complete(r);
}

int recording_patience_ms(const struct recording *r)
{
	return r->ending ? COMPLETE_MS : -1;
}

void recording_watch(struct recording *r)
{
	char text[sizeof r->failed];

	if (r->opening && begun(r, 0) && r->writer)
		r->tell(r->to, STYLE_TEXT, _("the recording has started"));
	if (!r->writer)
		return;
	if (r->ending) {
		if (log_out_wait(r->writer, 0))
			complete(r);
		return;
	}
	look(r);
	recording_trouble(&r->trouble, &r->written, text, sizeof text);
	if (r->written.full)
		recording_end(r);
	else if (text[0] && r->written.err.code == ERR_NONE) /* the header shows what is wrong */
		r->tell(r->to, STYLE_WARN, text);
}

void recording_scene(struct recording *r, struct ui_scene *s)
{
	s->recording = r->writer && !r->ending;
	s->completing = NULL;
	s->record_error = NULL;
	s->record_done = r->saved[0] ? r->saved : NULL;
	s->record_since_ns = r->since_ns;
	s->record_until_ns = r->until_ns;
	if (!r->writer)
		return;
	look(r);
	s->record_name = r->written.path;
	if (r->ending)
		s->completing = r->written.path;
	s->record_bytes = r->written.bytes;
	s->record_marks = r->written.marks;
	s->record_lost = r->written.lost_rows;
	s->record_error = r->written.err.code != ERR_NONE ? r->written.err.text : NULL;
}

void recording_free(struct recording *r)
{
	free(r->summary);
}
