/* Takes over the terminal: modes, queries and replies, and when to send a frame.
 *
 * A frame starts only after the previous one has been sent. Until then new frames replace the waiting
 * one, so a slow line shows fewer frames but never old ones, and the last frame is always sent. */
#include <errno.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/intl.h"
#include "term/term.h"
#include "term/crash.h"
#include "term/env.h"
#include "term/input.h"
#include "term/kind.h"
#include "term/painter.h"
#include "term/palette.h"
#include "term/tty.h"

#define BUSY_MS        20 /* interval for checking whether the line is free */
#define SHARED_MS      30 /* interval for reading keys when poll() does not report them */
/* Some terminals report absurd sizes, and each cell takes memory. */
#define COLUMNS_MOST 1000
#define LINES_MOST   500

#define ANSWER_HOLD_MS 5   /* how long the first frame waits for the background */
#define ANSWER_LATE_MS 150 /* how long to wait at exit, so that the shell does not get the replies */

/* Button and drag reports (SGR form), focus reports, bracketed paste. */
static const char mouse_on[] = "\033[?1002h\033[?1006h", mouse_off[] = "\033[?1006l\033[?1002l";
static const char reports_on[] = "\033[?1004h\033[?2004h", reports_off[] = "\033[?2004l\033[?1004l";

static const char sync_on[] = "\033[?2026h", sync_off[] = "\033[?2026l";

struct term {
	struct tty tty;
	struct input *input;
	struct painter *painter;
	int w, h;
	char notice[160]; /* of an unknown TERM, or "" */
	bool reports; /* supports mouse, focus and paste reports */
	bool on;      /* the terminal is in use */
	bool stale;   /* `next` has not been sent */
	bool resized, tell_resize;
	struct canvas next;
	enum theme theme;
	enum ground told, seen; /* background: configured, reported by the terminal */
	bool no_mouse;
	int64_t asked_ns; /* 0: nothing asked */
	/* enter and leave: sent in addition to ncurses' output. way_out: everything, for use without
	 * ncurses. */
	char enter[192], leave[192], way_out[512];
};

/* Get the size from the kernel and resize all buffers. Returns whether it changed; -1: out of memory. */
static int fit(struct term *t)
{
	int w = t->w, h = t->h;
	bool changed;

	if (!tty_size(&t->tty, &w, &h) && w == 0) { /* a serial line has no size */
		painter_usual_size(&w, &h);
		env_size(&w, &h);
	}
	w = w < 1 ? 1 : w > COLUMNS_MOST ? COLUMNS_MOST : w;
	h = h < 1 ? 1 : h > LINES_MOST ? LINES_MOST : h;
	if (painter_resize(t->painter, w, h) < 0)
		return -1;
	changed = w != t->w || h != t->h;
	t->w = w;
	t->h = h;
	return changed;
}

static void choose_looks(struct term *t)
{
	painter_looks(t->painter, t->theme, t->told != GROUND_AUTO ? t->told : t->seen);
}

/* Queue the painter's output, as one synchronized update if supported. -1: out of memory. */
static int pass_on(struct term *t)
{
	bool sync = t->on && input_sync(t->input);
	size_t n;
	char *bytes = painter_bytes(t->painter, &n);
	int rc = 0;

	if (!bytes)
		return 0;
	if (sync)
		rc = tty_queue(&t->tty, sync_on, strlen(sync_on));
	if (rc == 0)
		rc = tty_queue(&t->tty, bytes, n);
	if (rc == 0 && sync)
		rc = tty_queue(&t->tty, sync_off, strlen(sync_off));
	free(bytes);
	return rc;
}

/* Prepare the sequences for entering and leaving. */
static void plan_ways(struct term *t)
{
	static const char *const end[] = {"sgr0", "op", "cnorm", "rmcup"};

	kind_append(t->enter, sizeof t->enter, "smkx");
	if (t->reports) {
		strcat(t->enter, reports_on);
		strcat(t->enter, INPUT_ASKS);
		strcat(t->enter, INPUT_ASKS_GROUND);
		strcat(t->leave, reports_off);
		strcat(t->leave, mouse_off);
	}
	kind_append(t->leave, sizeof t->leave, "rmkx");
	strcpy(t->way_out, t->reports ? sync_off : ""); /* a frame may be incomplete */
	strcat(t->way_out, t->leave);
	for (size_t i = 0; i < sizeof end / sizeof *end; i++)
		kind_append(t->way_out, sizeof t->way_out, end[i]);
}

static int start_painter(struct term *t, const char *term, enum colour_choice choice, bool utf8)
{
	size_t n;

	t->painter = painter_open(term, choice, utf8);
	if (!t->painter)
		return -1;
	t->seen = env_ground(term);
	choose_looks(t);
	t->reports = kind_reports(term);
	plan_ways(t);
	if (fit(t) < 0)
		return -1;
	/* It started with the size in terminfo. Discard its output; the first frame starts again with
	 * the real size. */
	painter_end(t->painter);
	free(painter_bytes(t->painter, &n));
	return 0;
}

static void arm(struct term *t)
{
	static char bytes[sizeof t->way_out]; /* static: a crash may happen after term_close() */
	struct crash_plan plan = {.fd = t->tty.fd,
				  .shell = t->tty.shell,
				  .bytes = bytes,
				  .parked = t->tty.parked,
				  .real_stderr = t->tty.real_stderr};

	crash_rest();
	strcpy(bytes, t->way_out);
	plan.n = strlen(bytes);
	crash_arm(&plan);
}

/* Take the terminal, at start and after a stop. */
static int take(struct term *t)
{
	if (tty_raw(&t->tty) < 0)
		return -1;
	tty_park(&t->tty);
	arm(t);
	t->on = true;
	if (t->reports)
		t->asked_ns = clock_now_ns();
	if (tty_queue(&t->tty, t->enter, strlen(t->enter)) < 0)
		return -1;
	return t->reports && !t->no_mouse ? tty_queue(&t->tty, mouse_on, strlen(mouse_on)) : 0;
}

static bool awaits(const struct term *t, int ms)
{
	return t->asked_ns && !input_answered(t->input) && !t->tty.gone &&
	       clock_now_ns() - t->asked_ns < ms * NS_PER_MS;
}

/* A late reply would become input of the shell. */
static void await_answers(struct term *t)
{
	tty_flush(&t->tty);
	while (awaits(t, ANSWER_LATE_MS)) {
		struct pollfd p = {.fd = t->tty.fd, .events = POLLIN};

		if (poll(&p, 1, 10) < 0 || (p.revents & (POLLHUP | POLLERR)))
			return;
		if (p.revents & POLLIN)
			input_read(t->input, t->tty.fd);
		while (input_event(t->input).kind != EVENT_NONE)
			;
	}
}

/* Give the terminal back to the shell. */
static void give(struct term *t)
{
	if (!t->on)
		return;
	t->on = false;
	await_answers(t);
	tty_queue(&t->tty, t->leave, strlen(t->leave));
	painter_end(t->painter);
	pass_on(t);
	if (!tty_drain(&t->tty)) {
		/* the terminal is blocked: drop the frame, way_out may still fit */
		tty_drop(&t->tty);
		tty_queue(&t->tty, t->way_out, strlen(t->way_out));
		tty_flush(&t->tty);
		tty_drop(&t->tty);
	}
	crash_rest();
	tty_cooked(&t->tty);
	tty_unpark(&t->tty);
}

struct term *term_open(const struct term_options *o, struct err *e)
{
	const char *told = getenv("TERM"), *term;
	struct term *t = calloc(1, sizeof *t);
	bool utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");

	if (!t) {
		err_sys(e, ERR_FAILED, ENOMEM, _("cannot open the screen"));
		return NULL;
	}
	if (tty_open(&t->tty, e) < 0)
		goto fail;
	term = kind_find(told, t->tty.fd, e);
	if (!term)
		goto fail;
	if (term != told) {
		char name[40];

		text_printable(name, sizeof name, told, strlen(told));
		snprintf(t->notice, sizeof t->notice, _("TERM=%s is not known here: taken for %s"), name, term);
	}
	t->tty.shared = o->shared;
	t->input = input_open(term, utf8, env_escape_ms(o->escape_ms));
	if (!t->input) {
		err_sys(e, ERR_FAILED, errno, _("cannot read keys from a terminal of the kind \"%s\""), term);
		goto fail;
	}
	t->theme = o->theme;
	t->told = o->ground;
	t->no_mouse = o->no_mouse;
	if (start_painter(t, term, o->colour, utf8) < 0 || take(t) < 0) {
		err_sys(e, ERR_FAILED, errno, _("cannot open the screen on the terminal"));
		goto fail;
	}
	tty_flush(&t->tty);
	return t;
fail:
	term_close(t);
	return NULL;
}

void term_close(struct term *t)
{
	if (!t)
		return;
	give(t);
	crash_disarm();
	painter_close(t->painter);
	input_close(t->input);
	tty_close(&t->tty);
	canvas_free(&t->next);
	free(t);
}

const char *term_notice(const struct term *t)
{
	return t->notice;
}

int term_fd(const struct term *t)
{
	return t->tty.fd;
}

/* Hold a frame that might be drawn for the wrong background. */
static bool held(const struct term *t)
{
	return t->stale && t->seen == GROUND_AUTO && t->told == GROUND_AUTO && t->theme != THEME_MONO &&
	       painter_has_colours(t->painter) && awaits(t, ANSWER_HOLD_MS);
}

int term_timeout_ms(const struct term *t)
{
	int ms = input_timeout_ms(t->input);

	if (t->tell_resize)
		return 0;
	if (held(t) && (ms < 0 || ms > ANSWER_HOLD_MS))
		ms = ANSWER_HOLD_MS;
	if (t->tty.shared && (ms < 0 || ms > SHARED_MS))
		ms = SHARED_MS;
	if ((t->stale || t->tty.from < t->tty.to) && !t->tty.gone && (ms < 0 || ms > BUSY_MS))
		ms = BUSY_MS;
	return ms;
}

void term_size(const struct term *t, int *w, int *h)
{
	*w = t->w;
	*h = t->h;
}

bool term_resized(struct term *t)
{
	int w = t->w, h = t->h;
	bool changed = t->resized;

	t->resized = false;
	if (tty_size(&t->tty, &w, &h) && (w != t->w || h != t->h) && fit(t) > 0)
		changed = true;
	return changed;
}

static int send_frame(struct term *t)
{
	t->stale = false;
	if (!painter_draw(t->painter, &t->next))
		return 0;
	if (pass_on(t) < 0)
		painter_repaint(t->painter); /* bytes are missing */
	tty_flush(&t->tty);
	return t->tty.gone ? -1 : 0;
}

int term_draw(struct term *t, const struct canvas *c)
{
	if (t->tty.gone)
		return -1;
	if (!t->next.cells || t->next.w != c->w || t->next.h != c->h) {
		/* a new size: the old rows are useless */
		painter_repaint(t->painter);
		if (canvas_resize(&t->next, c->w, c->h) < 0)
			return 0;
	}
	if (c->w && c->h)
		memcpy(t->next.cells, c->cells, (size_t)c->w * (size_t)c->h * sizeof *c->cells);
	t->stale = true;
	return !held(t) && tty_ready(&t->tty) ? send_frame(t) : 0;
}

void term_repaint(struct term *t)
{
	painter_repaint(t->painter);
}

void term_theme(struct term *t, enum theme theme, enum ground ground)
{
	if (t->theme == theme && t->told == ground)
		return;
	t->theme = theme;
	t->told = ground;
	choose_looks(t);
}

enum ground term_ground(const struct term *t)
{
	return t->seen;
}

void term_mouse(struct term *t, bool no_mouse)
{
	const char *bytes = no_mouse ? mouse_off : mouse_on;

	if (t->no_mouse == no_mouse)
		return;
	t->no_mouse = no_mouse;
	if (t->on && t->reports)
		tty_queue(&t->tty, bytes, strlen(bytes));
}

void term_read(struct term *t)
{
	input_read(t->input, t->tty.fd);
	if (input_ground(t->input) != GROUND_AUTO && input_ground(t->input) != t->seen) {
		t->seen = input_ground(t->input);
		choose_looks(t);
		t->stale = t->next.cells != NULL;
	}
	if (t->stale && !held(t) && tty_ready(&t->tty))
		send_frame(t);
	else
		tty_flush(&t->tty);
}

struct event term_event(struct term *t)
{
	if (t->tell_resize) {
		t->tell_resize = false;
		return (struct event) {.kind = EVENT_RESIZE, .t_ns = clock_now_ns()};
	}
	struct event ev = input_event(t->input);
	if (ev.kind == EVENT_CLOSED)
		t->tty.gone = true;
	return ev;
}

void term_suspend(struct term *t)
{
	struct sigaction stop = {.sa_handler = SIG_DFL}, was;
	sigset_t tstp, mask;

	if (t->tty.gone)
		return;
	give(t);
	sigemptyset(&tstp);
	sigaddset(&tstp, SIGTSTP);
	sigaction(SIGTSTP, &stop, &was);
	/* Stop the whole job, as Ctrl-Z does: a script that started us would otherwise keep waiting, and
	 * its shell with it. */
	kill(0, SIGTSTP);
	pthread_sigmask(SIG_UNBLOCK, &tstp, &mask);
	/* stops here until fg, or not at all without a job-control shell */
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	sigaction(SIGTSTP, &was, NULL);
	if (take(t) < 0)
		t->tty.gone = true;
	else if (fit(t) > 0)
		t->resized = t->tell_resize = true;
	if (t->next.cells)
		t->stale = true; /* the first output must be the screen */
}
