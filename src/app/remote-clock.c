/* The recorder's clocks are not those of this machine. They are related by the sample with the shortest
 * delay: the moment of its arrival counts as the recorder's present. From there on the local clock
 * advances, so that late data are seen to be late, and by how much. */
#include "app/remote-clock.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/app.h"
#include "util/intl.h"
#include "trace/follow.h"

#define BEHIND_NS (NS_PER_S / 2) /* from here on it is reported */
#define SILENT_NS (3 * NS_PER_S) /* the stream has ended */
#define CREEP     2000           /* one part in so many, for clocks that drift apart */

struct remote {
	struct follow *follow;
	struct log *log;
	struct log_view *view;
	char path[512];
	bool ended;
	struct err end;
	bool related;
	int64_t offset_ns; /* the recorder's clock minus ours */
	int64_t looked_ns; /* of the last check */
	int64_t came_ns;   /* when something came last */
	int64_t newest_ns;
	char where[200], notice[sizeof(((struct err *)0)->text)];
};

static void relate(struct remote *r)
{
	struct log_known known = log_known(r->log);
	int64_t now = clock_now_ns(), apart;

	if (!known.any || known.last_ns == r->newest_ns)
		return;
	r->newest_ns = known.last_ns;
	r->came_ns = now;
	apart = known.last_ns - now;
	if (r->related)
		r->offset_ns -= (now - r->looked_ns) / CREEP;
	if (!r->related || apart > r->offset_ns)
		r->offset_ns = apart;
	r->looked_ns = now;
	r->related = true;
}

bool remote_take(struct remote *r)
{
	int more;

	if (r->ended)
		return false;
	more = follow_take(r->follow, &r->end);
	relate(r);
	r->ended = more < 0;
	return r->ended;
}

const struct err *remote_verdict(const struct remote *r)
{
	return &r->end;
}

int remote_fd(const struct remote *r)
{
	return r->ended ? -1 : follow_fd(r->follow);
}

int remote_patience_ms(const struct remote *r)
{
	return r->ended || follow_fd(r->follow) >= 0 ? -1 : FOLLOW_MS;
}

/* Until the session is known. -1 when there will be none, or the wait was ended. */
static int wait_for_session(struct remote *r, int signals, struct err *e)
{
	const struct follow_state *s = follow_state(r->follow);
	uint32_t generation;
	bool said = false;
	int sig;

	for (;;) {
		struct pollfd p[2] = {{.fd = remote_fd(r), .events = POLLIN},
				      {.fd = signals, .events = POLLIN}};

		remote_take(r);
		if (r->ended && r->end.code != ERR_NONE && !log_session(r->log, &generation)) {
			*e = r->end;
			return -1;
		}
		if (s->begun || r->ended)
			return 0;
		if (s->waits && !said)
			fputs(_("nvmtop: the beginning of the stream is missing: waiting for the list of "
				"signals, which is repeated every 9 s\n"),
			      stderr);
		said = s->waits;
		while ((sig = signals_next(signals, NULL)))
			if (signal_ends(sig))
				return err_set(e, ERR_FAILED, _("stopped before the recording arrived"));
		poll(p, 2, remote_patience_ms(r));
	}
}

struct remote *remote_open(const char *path, int64_t history_ns, int signals, bool *complete,
			   struct err *e)
{
	struct log_bound bound = history_bound(history_ns);
	struct remote *r = calloc(1, sizeof *r);

	*complete = false;
	if (!r || !(r->log = log_new(&bound, e)) || !(r->view = log_view_new(r->log, e))) {
		if (r)
			log_free(r->log);
		free(r);
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	text_printable(r->path, sizeof r->path, path, strlen(path));
	if (!strcmp(path, "-") && isatty(STDIN_FILENO)) {
		err_set(e, ERR_USAGE,
			_("standard input is a terminal: read a stream from a pipe, as in ssh board nvmtop "
			  "record - | nvmtop replay -"));
	} else {
		r->follow = follow_open(path, log_sink(r->log), e);
		*complete = !r->follow && e->num == ENODATA;
		if (r->follow && wait_for_session(r, signals, e) == 0)
			return r;
	}
	remote_close(r);
	return NULL;
}

void remote_close(struct remote *r)
{
	if (!r)
		return;
	follow_close(r->follow);
	log_view_free(r->view);
	log_free(r->log);
	free(r);
}

/* The recorder's name: the machine's, else the board's, else the file's. */
static const char *origin(const struct remote *r)
{
	static const char *const keys[] = {"hostname", "title", "board"};
	struct timeline *tl = log_view_timeline(r->view);
	const struct session *about = tl->ops->session(tl);

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		const char *value = fact_get(about->facts, about->n_facts, keys[i]);

		if (value && *value)
			return value;
	}
	return r->path;
}

static void say_where(struct remote *r, int64_t behind_ns, int64_t silent_ns)
{
	r->notice[0] = '\0';
	if (r->ended) {
		/* TRANSLATORS: %s is the name of a machine. */
		snprintf(r->where, sizeof r->where, _("%s, ended"), origin(r));
		if (r->end.text[0])
			snprintf(r->notice, sizeof r->notice, "%s", r->end.text);
		return;
	}
	if (behind_ns >= BEHIND_NS)
		/* TRANSLATORS: %s is the name of a machine; its samples come so many seconds late. */
		snprintf(r->where, sizeof r->where, _("%s, %.1f s behind"), origin(r),
			 (double)behind_ns / 1e9);
	else
		/* TRANSLATORS: %s is the name of a machine. */
		snprintf(r->where, sizeof r->where, _("live from %s"), origin(r));
	if (silent_ns >= SILENT_NS)
		snprintf(r->notice, sizeof r->notice, _("No data from %s for %d s."), origin(r),
			 (int)(silent_ns / NS_PER_S));
}

void remote_scene(struct remote *r, struct ui_scene *s)
{
	const struct follow_state *state = follow_state(r->follow);
	const struct clock_anchor *start;
	int64_t now = clock_now_ns();

	log_view_look(r->view);
	s->timeline = log_view_timeline(r->view);
	start = &s->timeline->ops->session(s->timeline)->start;
	s->rows_ns = log_view_state(r->view)->now.rows_ns;
	s->live = !r->ended;
	s->now_ns = r->related ? now + r->offset_ns : start->mono_ns;
	s->wall_ns = start->real_ns ? clock_wall_ns(start, s->now_ns) : 0;
	s->late = state->late[TIER_FAST];
	s->lost = state->lost[TIER_FAST];
	say_where(r, r->related ? s->now_ns - r->newest_ns : 0, r->related ? now - r->came_ns : 0);
	s->trace_name = s->remote = r->where;
	s->notice = r->notice[0] ? r->notice : NULL;
}
