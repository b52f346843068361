/* A recording whose recorder is dead becomes a complete trace; the summary is
 * that of a recording that ended by itself. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/verb.h"
#include "util/intl.h"
#include "trace/trace.h"

/* At most, since nobody can say when exactly it was interrupted. */
static void tell_missing(const struct trace_recovery *r)
{
	if (r->restarted)
		fprintf(stderr, _("  missing: samples after the last sync (--sync), because the machine went "
				  "down\n"));
	else
		fprintf(stderr,
			_("  missing: at most the last 250 ms, or samples after the last sync if the machine "
			  "went down\n"));
}

/* Of all tiers, as the summary of a recording tells them. */
static unsigned long long together(const uint64_t ticks[TIERS])
{
	unsigned long long n = 0;

	for (int t = 0; t < TIERS; t++)
		n += ticks[t];
	return n;
}

/* It needs a hand, and takes nothing from what was recovered. */
static void tell_left(const struct trace_recovery *r)
{
	if (r->left.code != ERR_NONE)
		fprintf(stderr, "nvmtop: %s\n", r->left.text);
}

static int tell(const struct trace_recovery *r, bool stream, const struct err *e)
{
	char elapsed[32], shown[sizeof r->path];

	text_printable(shown, sizeof shown, r->path, strlen(r->path));
	if (r->left_over) {
		if (r->left.code == ERR_NONE)
			fprintf(stderr, _("nvmtop: %s is complete; leftover files were removed\n"), shown);
		tell_left(r);
		return e->code == ERR_NONE ? 0 : complain(e);
	}
	text_lasted(elapsed, sizeof elapsed, r->last_ns);
	fprintf(stderr,
		P_("nvmtop: recovered %s in %s, with %llu mark\n",
		   "nvmtop: recovered %s in %s, with %llu marks\n", r->marks),
		elapsed, shown, (unsigned long long)r->marks);
	fprintf(stderr, _("  samples: %llu fast, %llu medium, %llu slow; %llu late, %llu lost\n"),
		(unsigned long long)r->rows[TIER_FAST], (unsigned long long)r->rows[TIER_MEDIUM],
		(unsigned long long)r->rows[TIER_SLOW], together(r->late), together(r->lost));
	if (!stream)
		tell_missing(r);
	tell_left(r);
	return e->code == ERR_NONE ? 0 : complain(e);
}

int cmd_recover(const struct options *o)
{
	bool stream = trace_is_stream(o->recover);
	struct trace_recovery r;
	struct err e;

	if ((stream ? trace_unpack(o->recover, o->out, o->force, &r, &e)
		    : trace_recover(o->recover, &r, &e)) < 0)
		return complain(&e);
	return tell(&r, stream, &e);
}

/* A line of the terminal that says yes: it begins with a y, or with what that is
 * in the user's language. */
static bool agreed(void)
{
	/* TRANSLATORS: the first letter of "yes", as it is typed. */
	const char *yes = _("y");
	char line[64];
	ssize_t n = read(STDIN_FILENO, line, sizeof line);

	return n > 0 && (line[0] == 'y' || line[0] == 'Y' || !strncmp(line, yes, strlen(yes)));
}

int offer_recovery(const char *path, struct err *e)
{
	struct trace_recovery r;
	char shown[512];

	if (!trace_interrupted(path) || !isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
		return 0; /* who opens it says what to do */
	text_printable(shown, sizeof shown, path, strlen(path));
	fprintf(stderr, _("nvmtop: the recording %s was interrupted and is incomplete.\n"), shown);
	/* TRANSLATORS: y and n are what can be typed. */
	fprintf(stderr, "%s ", _("Recover it now? [y/n]"));
	if (!agreed())
		return 0;
	if (trace_recover(path, &r, e) < 0)
		return -1;
	tell(&r, false, e);
	return 0;
}

/* There is only the part, and its recorder is at work. */
static bool recorded_now(const char *path)
{
	char part[4096];
	int n = snprintf(part, sizeof part, "%s.part", path);

	return n > 0 && (size_t)n < sizeof part && access(path, F_OK) < 0 && access(part, F_OK) == 0;
}

struct trace *open_trace(const char *path, bool view, struct err *e)
{
	char shown[512];

	text_printable(shown, sizeof shown, path, strlen(path));
	if (!trace_interrupted(path) && !recorded_now(path))
		return view ? trace_open_view(path, e) : trace_open(path, e);
	if (!trace_interrupted(path)) {
		err_set(e, ERR_FAILED,
			_("%s is still being recorded: nvmtop %s --follow shows it live"), shown,
			shown);
		return NULL;
	}
	err_set(e, ERR_FAILED,
		_("%s does not exist, but an interrupted recording of it does: nvmtop --recover %s completes "
		  "it"),
		shown, shown);
	return NULL;
}

static int finish(struct options *o, struct err *e)
{
	if (operands_in_out(o, &o->recover, e) < 0)
		return -1;
	const struct option_rule rules[] = {
		{o->out && !trace_is_stream(o->recover),
		 N_("nvmtop recover takes an output FILE only for a stream")},
		{o->force && !trace_is_stream(o->recover),
		 N_("nvmtop recover takes --force only for a stream: a recording is never overwritten")},
	};

	return RULES(rules, e);
}

const struct verb verb_recover = {
	.name = "recover",
	.mode_value = true,
	.operands = "FILE",
	.summary = N_("complete an interrupted recording"),
	.groups = {&group_output},
	.finish = finish,
	.run = cmd_recover,
};
