/* The sentences of ring mode, and its options as the sink wants them. */
#include "app/pretrigger.h"

#include <string.h>

#include "app/recording.h"
#include "util/clock.h"
#include "util/intl.h"

int condition_option(struct condition *c, const char *option, const char *text, const struct session *about, struct err *e)
{
	char why[sizeof e->text];

	if (condition_parse(c, text, e) == 0 && (!about || condition_bind(c, about, e) == 0))
		return 0;
	memcpy(why, e->text, sizeof why);
	return err_set(e, ERR_USAGE, "--%s: %s", option, why);
}

static void take_mark(void *engine, int64_t t_ns, const char *label)
{
	engine_mark(engine, t_ns, label);
}

struct pretrigger *keeping_new(const struct options *o, struct engine *g, struct log *log, int64_t keep_ns, struct err *e)
{
	struct pretrigger_options k = {.keep_ns = keep_ns,
				 .after_ns = o->after_ns,
				 .path = o->mode == MODE_RECORD ? o->out : NULL,
				 .force = o->force,
				 .log = log,
				 .mark = take_mark,
				 .mark_arg = g};
	struct condition when;

	if (o->trigger) {
		if (condition_option(&when, "trigger", o->trigger, engine_session(g), e) < 0)
			return NULL;
		k.when = &when;
	}
	return pretrigger_new(&k, engine_session(g), e);
}

const char *keeping_nothing(void)
{
	return _("no look-back buffer: start nvmtop with --keep SEC");
}

static void seconds(char *buf, size_t size, int64_t ns)
{
	if (ns % NS_PER_S == 0)
		snprintf(buf, size, "%lld s", (long long)(ns / NS_PER_S));
	else
		snprintf(buf, size, "%.1f s", (double)ns / (double)NS_PER_S);
}

void keeping_begun(const struct options *o, struct pretrigger *k, char *buf, size_t size)
{
	char shown[256], memory[32], span[32];
	struct pretrigger_stats s;

	pretrigger_stats(k, &s);
	text_bytes(memory, sizeof memory, s.memory_most);
	seconds(span, sizeof span, o->keep_ns);
	if (!o->trigger) {
		snprintf(buf, size,
			 _("keeping the last %s in memory (at most %s); w or SIGUSR2 writes them to a file"),
			 span, memory);
		return;
	}
	text_printable(shown, sizeof shown, o->trigger, strlen(o->trigger));
	snprintf(buf, size,
		 _("keeping the last %s in memory (at most %s); w, SIGUSR2 or %s writes them to a file"),
		 span, memory, shown);
}

void keeping_progress(struct pretrigger *k, char *held, char *files, size_t size)
{
	struct pretrigger_stats s;
	char elapsed[32];

	pretrigger_stats(k, &s);
	text_elapsed(elapsed, sizeof elapsed, s.held_ns);
	snprintf(held, size, "%s %s", s.writing ? _("writing, keeping") : _("keeping"), elapsed);
	snprintf(files, size, P_("%zu file", "%zu files", s.files), s.files);
}

static void tell_file(const struct pretrigger_file *f, char *buf, size_t size)
{
	char shown[512], bytes[32], span[32], lost[512];

	text_printable(shown, sizeof shown, f->path, strlen(f->path));
	if (f->err.code != ERR_NONE) {
		snprintf(buf, size, "%s", f->err.text);
		return;
	}
	text_bytes(bytes, sizeof bytes, f->written.bytes);
	snprintf(span, sizeof span, "%.1f s", (double)(f->to_ns - f->from_ns) / (double)NS_PER_S);
	lost_text(&f->written, lost, sizeof lost);
	snprintf(buf, size, P_("%s: %s, %s, %llu mark%s%s", "%s: %s, %s, %llu marks%s%s", f->written.marks), shown, span, bytes,
		 (unsigned long long)f->written.marks, *lost ? "; " : "", lost);
}

bool keeping_news(struct pretrigger *k, size_t *told, char *buf, size_t size, bool *failed)
{
	char text[900];
	struct pretrigger_file f;

	if (!pretrigger_file(k, *told, &f))
		return false;
	++*told;
	*failed = f.err.code != ERR_NONE;
	tell_file(&f, text, sizeof text);
	if (*failed)
		snprintf(buf, size, "%s", text);
	else
		snprintf(buf, size, _("wrote %s"), text);
	return true;
}

static bool wait_file(void *signals, struct log_out *w)
{
	return recording_wait(w, *(const int *)signals);
}

void keeping_end(struct pretrigger *k, int signals)
{
	pretrigger_end(k, wait_file, &signals);
}

int keeping_ended(const struct options *o, struct pretrigger *k)
{
	char text[900], memory[32], span[32];
	struct pretrigger_stats s;
	struct pretrigger_file f;

	pretrigger_stats(k, &s);
	if (!o->keep_ns && !s.files)
		return 0;
	seconds(span, sizeof span, o->keep_ns);
	text_bytes(memory, sizeof memory, s.memory);
	if (o->mode != MODE_RECORD)
		fprintf(stderr, P_("nvmtop: %zu file was written\n", "nvmtop: %zu files were written\n", s.files - s.failed),
			s.files - s.failed);
	else
		fprintf(stderr, _("nvmtop: kept the last %s in %s; %llu samples, triggered: %llu, files: %zu\n"),
		span, memory, (unsigned long long)s.written.rows[TIER_FAST], (unsigned long long)s.triggers,
		s.files - s.failed);
	size_t first = s.files > PRETRIGGER_FILES ? s.files - PRETRIGGER_FILES : 0;
	if (first)
		fprintf(stderr, P_("  %zu earlier file\n", "  %zu earlier files\n", first), first);
	for (size_t i = first; pretrigger_file(k, i, &f); i++) {
		tell_file(&f, text, sizeof text);
		fprintf(stderr, "  %s\n", text);
	}
	if (!s.files)
		fprintf(stderr, "  %s\n", _("nothing was written"));
	return s.failed ? ERR_FAILED : 0;
}
