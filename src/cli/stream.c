/* Passes values on while they come: a line for each interval of time, in a format that other programs read. The lines of a
 * live board are made by the engine's thread and wait in a queue, so that a slow reader delays no sample. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cli/verb.h"
#include "report/copy-rows.h"
#include "serve/forms.h"
#include "trace/follow.h"
#include "util/intl.h"
#include "util/num.h"

#define QUEUE	 64   /* lines */
#define PIECE	 4096 /* bytes that a pipe takes without blocking once it is writable: PIPE_BUF */
#define STEP_NS	 (200 * NS_PER_MS) /* of a trace, that is read at a time */
#define LAST_MS	 1000
#define DELAY_NS NS_PER_S /* from such an interval on, rows may come some tenths of a second late */

#define FORM(name) &form_of_##name,
static const struct stream_form *const forms[] = {STREAM_FORMS(FORM)};

struct line {
	char *text;
	size_t size;
};

struct stream {
	const struct options *o;
	const struct stream_form *form;
	struct lines lines;
	struct channels channels;
	bool begun, live;
	int fd, signals;
	bool ended;	  /* by a signal, or because nobody reads */
	bool unread;	  /* the reader is gone */
	uint64_t left;	  /* lines that were not written at the end */
	int error;	  /* errno of a failed write */

	pthread_mutex_t lock; /* protects the queue */
	struct line queue[QUEUE];
	size_t first, n;
	int wake; /* readable while there are lines */
};

/* Did a signal ask for the end? */
static bool stream_asked(struct stream *s)
{
	int sig;

	while ((sig = signals_next(s->signals, NULL)))
		s->ended |= signal_ends(sig);
	return s->ended;
}

/* Writes a line. After a signal a reader has LAST_MS for the rest of a line that was begun, and what it does not take at
 * once of others is left out. */
static void stream_put(struct stream *s, const char *text, size_t size)
{
	bool begun = false;

	while (size > 0 && !s->error && !s->unread) {
		struct pollfd p[2] = {{.fd = s->fd, .events = POLLOUT}, {.fd = s->signals, .events = POLLIN}};
		ssize_t n = 0;
		/* A line after one that was left out would hide the hole. */
		int ready = s->left ? 0 : poll(p, 2, !s->ended ? -1 : begun ? LAST_MS : 0);

		if (ready == 0) {
			s->left++;
			return;
		}
		if (ready > 0 && p[0].revents)
			n = write(s->fd, text, size < PIECE ? size : PIECE);
		if (n < 0 && errno == EPIPE) {
			s->ended = s->unread = true;
			return;
		}
		begun |= n > 0;
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			s->error = errno;
		text += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
		if (!s->ended)
			stream_asked(s);
	}
}

static int stream_begin(void *arg, const struct session *about, struct err *e)
{
	struct stream *s = arg;
	char missing[64];

	int r = channels_select(about, s->o->pick.select, -1, &s->channels, missing, sizeof missing);

	if (r < 0)
		return err_set(e, ERR_FAILED, "%s", _("out of memory"));
	if (r > 0)
		return err_set(e, ERR_USAGE, _("there is no signal \"%s\": nvmtop once lists those of this machine"), missing);
	s->lines.channels = s->channels.list;
	s->lines.n = s->channels.n;
	return 0;
}

static bool stream_take(void *arg, const struct interval *i)
{
	struct stream *s = arg;
	struct line line = {NULL, 0};
	bool full;
	FILE *f;

	pthread_mutex_lock(&s->lock);
	full = s->n == QUEUE;
	pthread_mutex_unlock(&s->lock);
	f = full ? NULL : open_memstream(&line.text, &line.size);
	if (!f)
		return false;
	if (!s->begun && s->form->begin)
		s->form->begin(f, &s->lines, i->about);
	s->begun = true;
	s->form->line(f, &s->lines, i);
	if (fclose(f) != 0) {
		free(line.text);
		return false;
	}
	if (!s->live) {
		stream_put(s, line.text, line.size);
		free(line.text);
		return true;
	}
	pthread_mutex_lock(&s->lock);
	s->queue[(s->first + s->n++) % QUEUE] = line;
	pthread_mutex_unlock(&s->lock);
	eventfd_write(s->wake, 1);
	return true;
}

/* Writes the lines of the queue. */
static void stream_drain(struct stream *s)
{
	eventfd_t unused;

	eventfd_read(s->wake, &unused);
	for (;;) {
		struct line line = {NULL, 0};

		pthread_mutex_lock(&s->lock);
		if (s->n > 0) {
			line = s->queue[s->first];
			s->first = (s->first + 1) % QUEUE;
			s->n--;
		}
		pthread_mutex_unlock(&s->lock);
		if (!line.text)
			return;
		stream_put(s, line.text, line.size);
		free(line.text);
	}
}

static int stream_live(struct stream *s, struct intervals *v, struct err *e)
{
	const struct options *o = s->o;
	struct root *root = NULL;
	struct board *board;
	struct probe_set *probes = open_probes(o, &root, &board, NULL, 0, e);
	struct engine *engine = NULL;
	int r = -1;

	if (!probes)
		return -1;
	if (e->code != ERR_NONE)
		complain(e);
	board_free(board);
	engine = engine_for(o, probes, e);
	if (engine && o->every_ns >= DELAY_NS)
		engine_unwatched(engine, LOG_CELL_ZOOM);
	s->live = true;
	if (engine && engine_begin(engine, intervals_sink(v), e) == 0 && engine_start(engine, e) == 0) {
		r = 0;
		while (!s->error && !stream_asked(s)) {
			struct pollfd p[] = {{.fd = s->signals, .events = POLLIN}, {.fd = s->wake, .events = POLLIN},
					     {.fd = s->fd}};

			poll(p, 3, -1);
			s->unread |= (p[2].revents & (POLLERR | POLLNVAL)) != 0;
			s->ended |= s->unread;
			stream_drain(s);
		}
		engine_stop(engine);
		stream_drain(s);
	}
	engine_free(engine);
	root_close(root);
	return r;
}

static int stream_follow(struct stream *s, struct intervals *v, struct err *e)
{
	struct follow *f;
	int more = 0;

	if (isatty(STDIN_FILENO))
		return err_set(e, ERR_USAGE,
			       _("standard input is a terminal: read a stream from a pipe, as in ssh board nvmtop record - | "
				 "nvmtop stream -"));
	f = follow_open("-", intervals_sink(v), e);
	if (!f)
		return -1;
	while (!s->error && !stream_asked(s) && (more = follow_take(f, e)) >= 0) {
		struct pollfd p[] = {{.fd = s->signals, .events = POLLIN}, {.fd = follow_fd(f), .events = POLLIN}, {.fd = s->fd}};

		if (more == 0)
			poll(p, 3, follow_fd(f) < 0 ? FOLLOW_MS : -1);
		s->unread |= more == 0 && (p[2].revents & (POLLERR | POLLNVAL)) != 0;
		s->ended |= s->unread;
	}
	follow_close(f);
	return more < 0 && e->code != ERR_NONE ? -1 : 0;
}

/* Sends a trace as if it came now, as fast as it is read. */
static int stream_trace(struct stream *s, struct trace *t, struct sink *sink, struct err *e)
{
	struct copy copy = {.t = t};
	int64_t at_ns, end_ns, row_ns;
	int r = -1;

	if (copy_init(&copy, sink, trace_session(t)) < 0)
		err_set(e, ERR_FAILED, "%s", _("out of memory"));
	else
		r = sink->ops->begin(sink, trace_session(t), e);
	if (!trace_extent(t, &at_ns, &end_ns))
		at_ns = INT64_MAX;
	while (r == 0 && at_ns < INT64_MAX && !s->error && !stream_asked(s)) {
		copy_stretch(&copy, at_ns, at_ns + STEP_NS);
		sink->ops->rest(sink);
		at_ns = INT64_MAX; /* of the next row: a pause takes no time */
		for (int tier = 0; tier < TIERS; tier++)
			if (copy.row[tier] < trace_rows(t, (enum tier)tier)) {
				trace_row_times(t, (enum tier)tier, copy.row[tier], 1, &row_ns);
				at_ns = row_ns < at_ns ? row_ns : at_ns;
			}
	}
	if (r == 0 && !s->ended)
		sink->ops->end(sink, NULL);
	free(copy.values);
	return r;
}

static int stream_output(struct stream *s, struct err *e)
{
	char shown[512];

	s->fd = STDOUT_FILENO;
	if (!s->o->logfile)
		return 0;
	s->fd = open(s->o->logfile, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
	text_printable(shown, sizeof shown, s->o->logfile, strlen(s->o->logfile));
	return s->fd < 0 ? err_sys(e, ERR_FAILED, errno, _("cannot write %s"), shown) : 0;
}

static int cmd_stream(const struct options *o)
{
	struct stream s = {.o = o, .form = forms[o->stream_form], .wake = -1, .lock = PTHREAD_MUTEX_INITIALIZER};
	struct intervals *v = NULL;
	struct trace *t = NULL;
	struct err e = {.code = ERR_NONE};
	unsigned long long skipped;
	int r = -1, status = 0;

	for (int i = 0; i < STREAM_STATS_ALL; i++)
		s.lines.stats[i] = o->stats_of >> i & 1;
	s.signals = signals_open(&e);
	if (s.signals < 0 || stream_output(&s, &e) < 0)
		return complain(&e);
	s.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	v = intervals_new(o->every_ns, o->input != NULL, s.form->joules, stream_begin, stream_take, &s, &e);
	if (s.wake < 0)
		err_sys(&e, ERR_FAILED, errno, _("cannot open a descriptor for lines"));
	else if (v && !o->input)
		r = stream_live(&s, v, &e);
	else if (v && is_stream(o->input))
		r = stream_follow(&s, v, &e);
	else if (v && (t = open_trace(&o->input, 1, &e)) != NULL) {
		status = e.code == ERR_NONE ? 0 : complain(&e);
		r = stream_trace(&s, t, intervals_sink(v), &e);
		status = close_read(t, status);
	}
	if (r < 0)
		status = complain(&e);
	skipped = v ? intervals_skipped(v) : 0;
	if (skipped)
		fprintf(stderr,
			P_("nvmtop: the reader was too slow: %llu interval has no line of its own, the line after it has both\n",
			   "nvmtop: the reader was too slow: %llu intervals have no line of their own, the line after them has "
			   "all\n",
			   skipped),
			skipped);
	if (s.left)
		fprintf(stderr,
			P_("nvmtop: the last line was not read\n", "nvmtop: the last %llu lines were not read\n", s.left),
			(unsigned long long)s.left);
	if (s.error) {
		char shown[512];

		text_printable(shown, sizeof shown, o->logfile ? o->logfile : "", o->logfile ? strlen(o->logfile) : 0);
		err_sys(&e, ERR_FAILED, s.error, o->logfile ? _("cannot write %s") : _("cannot write to standard output%s"), shown);
		status = complain(&e);
	}
	for (size_t i = 0; i < s.n; i++)
		free(s.queue[(s.first + i) % QUEUE].text);
	intervals_free(v);
	channels_free(&s.channels);
	close(s.wake);
	if (o->logfile)
		close(s.fd);
	return status;
}

static int value_stats(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	o->stats_of = 0;
	for (const char *p = value;; p++) {
		size_t n = strcspn(p, ",");
		unsigned bit = 0;

		for (unsigned i = 0; t->words[i]; i++)
			if (strlen(t->words[i]) == n && !strncmp(t->words[i], p, n))
				bit = 1U << i;
		if (!bit)
			return err_set(e, ERR_USAGE, _("\"%s\" is not a valid value for --%s: it takes %s"), shown_word(value),
				       t->name, _(t->wants));
		o->stats_of |= bit;
		p += n;
		if (!*p)
			return 0;
	}
}

/* tegrastats counts in milliseconds. */
static int value_every(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	const char *end = value + strlen(value);
	int64_t ms;

	if (!o->in_ms)
		return value_time(o, t, value, e);
	if (num_i64(value, end, &ms) != end || ms < 10 || ms > 86400 * 1000)
		return err_set(e, ERR_USAGE, _("\"%s\" is not a valid value for --%s: it takes %s"), shown_word(value), t->name,
			       _("a whole number of milliseconds from 10 to 86400000"));
	o->every_ns = ms * NS_PER_MS;
	return 0;
}

static int finish(struct options *o, struct err *e)
{
	if (o->n_files > 1)
		return operand_unexpected(o->files[1], e);
	o->input = o->n_files ? o->files[0] : NULL;
	if (!o->every_ns)
		o->every_ns = NS_PER_S;
	const struct option_rule rules[] = {
		{o->stats_of && !forms[o->stream_form]->stats, N_("--stat is not for lines of tegrastats")},
		{o->input && (o->board || strcmp(o->sysroot, "/") != 0 || o->gentle),
		 N_("--demo, --board, --sysroot and --gentle are for the values of a machine, not of a FILE")},
	};

	return RULES(rules, e);
}

#define WORD_OF(name) #name,
static const char *const form_words[] = {STREAM_FORMS(WORD_OF) NULL};
static const char *const stat_words[] = {STREAM_STATS(WORD_OF) NULL};
static const struct option_entry own[] = {
	{"interval", "SEC", N_("a line every SEC seconds (1; of nvmtop-tegrastats in milliseconds)"), .take = value_every,
	 .at = AT(every_ns, int64_t), .least = 0.01, .most = 86400, .wants = N_("a time from 10ms to 24h")},
	{"select", "NAMES", N_("only these signals, such as gpu.util,*.power"), TEXT(pick.select)},
	{"stat", "LIST", N_("mean, min, max: which of them, of all readings since the last line (mean)"), .take = value_stats,
	 .words = stat_words, .wants = N_("mean, min and max, separated by commas")},
	{"format", "FORMAT", N_("jsonl (default), csv, tegrastats or openmetrics"), WORD(stream_form, int, form_words),
	 .wants = N_("jsonl, csv, tegrastats or openmetrics")},
	{"logfile", "FILE", N_("append to FILE instead of standard output"), TEXT(logfile)},
};
static const struct option_group options = {NULL, OPTIONS(own)};

const struct verb verb_stream = {
	.name = "stream",
	.operands = "[FILE|-]",
	.summary = N_("print a line of values every second, for other programs"),
	.groups = {&options, &group_sampling, &group_priority},
	.runs_as = MODE_RECORD,
	.takes_signals = true,
	.finish = finish,
	.run = cmd_stream,
};
