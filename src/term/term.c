/* Cells to the terminal, through ncurses; the one file that knows it.
 *
 * ncurses is kept to what it does best: from two grids of cells it makes the
 * shortest way for this terminal from the one to the other.  It does not own
 * the terminal: it writes into a file in memory, from which the bytes go on
 * through tty.c, which never blocks; the modes are set there too; it installs
 * no signal handler that stays; and it reads nothing (input.c does).
 *
 * A frame is only begun when the one before it has gone out.  What comes in
 * between replaces the frame that waits, so a slow line shows fewer frames and
 * never old ones, and the last picture always arrives. */
#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "nvmtop/clock.h"
#include "nvmtop/intl.h"
#include "nvmtop/term.h"
#include "term/crash.h"
#include "term/input.h"
#include "term/kind.h"
#include "term/palette.h"
#include "term/shift.h"
#include "term/trim.h"
#include "term/truecolor.h"
#include "term/tty.h"

#define BUSY_MS        20 /* how soon to look again whether the line is free */
#define SHARED_MS      30 /* poll says nothing: look for keys */
#define SIZE_MAX_CELLS 1000

#define ANSWER_HOLD_MS 25  /* a first picture waits so long to have the right background */
#define ANSWER_LATE_MS 150 /* who comes after us is not to find the answers to our questions */

/* Reports of buttons and dragging, in SGR form; of focus; brackets round pastes. */
static const char mouse_on[] = "\033[?1002h\033[?1006h", mouse_off[] = "\033[?1006l\033[?1002l";
static const char reports_on[] = "\033[?1004h\033[?2004h", reports_off[] = "\033[?2004l\033[?1004l";

static const char sync_on[] = "\033[?2026h", sync_off[] = "\033[?2026l";

struct grid {
	struct cell *cells;
	int w, h;
};

struct term {
	struct tty tty;
	struct input *input;
	SCREEN *screen;
	FILE *out; /* what ncurses writes, in memory */
	int w, h;
	bool utf8;
	bool reports; /* it knows mouse, focus and paste reports */
	bool deletes; /* it can move the rest of a row to the left */
	bool ansi;
	bool on; /* the terminal is ours */
	bool repaint;
	bool stale; /* `next` is not yet on its way */
	bool resized, tell_resize;
	struct grid next, shown;
	cchar_t *row; /* as many as shown.w */
	enum theme theme;
	enum ground told, seen; /* the background: asked for, the terminal's */
	bool no_mouse;
	int64_t asked_ns; /* 0: nothing was asked */
	int colours;
	bool count; /* more colours than ncurses has: they are numbered, see rgb */
	int rgb[256];
	attr_t attributes[STYLES];
	short pair[STYLES];
	/* Around the time the terminal is ours, beyond what ncurses sends; and
	 * all of it, for when ncurses cannot be asked. */
	char enter[192], leave[192], way_out[512];
};

enum charset term_charset(void)
{
	const char *term = getenv("TERM");

	if (strcmp(nl_langinfo(CODESET), "UTF-8"))
		return CHARSET_ASCII;
	return term && !strncmp(term, "linux", 5) ? CHARSET_BLOCKS : CHARSET_BRAILLE;
}

/* In the colours that ncurses does not know; 0: they are not on their way. */
static int queue_coloured(struct term *t, const char *bytes, size_t n)
{
	char *coloured;
	int rc;

	if (!t->count)
		return tty_queue(&t->tty, bytes, n);
	coloured = malloc(3 * n + 1);
	if (!coloured)
		return -1;
	rc = tty_queue(&t->tty, coloured, truecolor_bytes(bytes, n, t->rgb, coloured));
	free(coloured);
	return rc;
}

/* Where the terminal can show a whole frame at once, it is asked to. */
static int queue_frame(struct term *t, const char *bytes, size_t n)
{
	bool sync = t->on && input_sync(t->input);

	if (sync && tty_queue(&t->tty, sync_on, strlen(sync_on)) < 0)
		return -1;
	if (queue_coloured(t, bytes, n) < 0)
		return -1;
	return sync ? tty_queue(&t->tty, sync_off, strlen(sync_off)) : 0;
}

/* Pass on what ncurses has written; trim: it is a frame that changes another. */
static int pass_on(struct term *t, bool trim)
{
	int fd = fileno(t->out), rc = 0;
	off_t size;
	char *buf;

	fflush(t->out);
	size = lseek(fd, 0, SEEK_CUR);
	if (size <= 0)
		return 0;
	buf = malloc((size_t)size);
	if (!buf || pread(fd, buf, (size_t)size, 0) != size)
		rc = -1;
	if (rc == 0)
		rc = queue_frame(t, buf, trim && t->ansi ? trim_bytes(buf, (size_t)size) : (size_t)size);
	free(buf);
	lseek(fd, 0, SEEK_SET);
	if (ftruncate(fd, 0) < 0)
		rc = -1;
	return rc;
}

static int grid_size(struct grid *g, int w, int h)
{
	size_t n = (size_t)w * (size_t)h;

	if (g->cells && g->w == w && g->h == h)
		return 0;
	struct cell *cells = calloc(n ? n : 1, sizeof *cells);
	if (!cells)
		return -1;
	free(g->cells);
	*g = (struct grid) {cells, w, h};
	return 0;
}

/* Ask the kernel for the size and make everything fit; -1: out of memory. */
static int fit(struct term *t)
{
	int w = t->w, h = t->h;

	if (!tty_size(&t->tty, &w, &h) && w == 0) {
		w = COLS; /* from $COLUMNS or terminfo: a serial line has no size */
		h = LINES;
	}
	w = w < 1 ? 1 : w > SIZE_MAX_CELLS ? SIZE_MAX_CELLS : w;
	h = h < 1 ? 1 : h > SIZE_MAX_CELLS ? SIZE_MAX_CELLS : h;
	cchar_t *row = realloc(t->row, (size_t)w * sizeof *row);
	if (!row)
		return -1;
	t->row = row;
	if (grid_size(&t->shown, w, h) < 0)
		return -1;
	if (COLS != w || LINES != h)
		resize_term(h, w);
	t->w = w;
	t->h = h;
	t->repaint = true;
	return 0;
}

/* A colour as ncurses has it: its own number where it is to be counted. */
static int ink(struct term *t, int colour)
{
	if (colour < 0 || !t->count)
		return colour;
	for (int i = 16; i < 256; i++) {
		if (t->rgb[i] < 0)
			t->rgb[i] = colour;
		if (t->rgb[i] == colour)
			return i;
	}
	return -1;
}

static void choose_looks(struct term *t)
{
	struct scheme scheme = palette_scheme(t->theme, t->told, t->seen);

	memset(t->rgb, -1, sizeof t->rgb);
	memset(t->pair, 0, sizeof t->pair);
	for (int s = 0; s < STYLES; s++) {
		struct look l = palette_look(&scheme, (enum style)s, t->colours);

		t->attributes[s] = (l.attributes & LOOK_BOLD ? A_BOLD : 0) |
				   (l.attributes & LOOK_DIM ? A_DIM : 0) |
				   (l.attributes & LOOK_UNDERLINE ? A_UNDERLINE : 0) |
				   (l.attributes & LOOK_REVERSE ? A_REVERSE : 0);
		if (t->colours && (l.fg >= 0 || l.bg >= 0) &&
		    init_extended_pair(s + 1, ink(t, l.fg), ink(t, l.bg)) == OK)
			t->pair[s] = (short)(s + 1);
	}
	t->repaint = true;
}

static void count_colours(struct term *t, const char *term, enum colour_choice choice)
{
	int has = tigetnum("colors");
	bool rgb = kind_truecolor(term) && (has > 256 || kind_counts_colours());

	if (choice == COLOUR_RGB)
		rgb = has > 256 || kind_counts_colours();
	t->colours = palette_colours(choice == COLOUR_RGB && !rgb ? COLOUR_256 : choice, has, rgb);
	if (t->colours && (start_color() != OK || use_default_colors() != OK))
		t->colours = 0;
	t->count = t->colours == PALETTE_RGB && has == 256;
}

/* What rxvt and those that learned from it say of the background, "15;0". */
static enum ground ground_of_environment(void)
{
	const char *says = getenv("COLORFGBG"), *last = says ? strrchr(says, ';') : NULL;
	char *end;
	long n;

	if (!last || !last[1])
		return GROUND_AUTO;
	n = strtol(last + 1, &end, 10);
	if (*end || n < 0 || n > 15)
		return GROUND_AUTO;
	return n == 7 || n > 8 ? GROUND_LIGHT : GROUND_DARK;
}

/* ncurses, on a file in memory. */
static int start_curses(struct term *t, const char *term, const struct term_options *o)
{
	static const int touched[] = {SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
	static const char *const end[] = {"sgr0", "op", "cnorm", "rmcup"};
	struct sigaction was[4];
	int fd = memfd_create("screen", MFD_CLOEXEC);

	t->out = fd < 0 ? NULL : fdopen(fd, "w+");
	if (!t->out) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	/* it installs handlers of its own for these; the program has better ones */
	for (int i = 0; i < 4; i++)
		sigaction(touched[i], NULL, &was[i]);
	t->screen = newterm(term, t->out, t->out);
	for (int i = 0; i < 4; i++)
		sigaction(touched[i], &was[i], NULL);
	if (!t->screen) {
		errno = ENOMEM;
		return -1;
	}
	nonl();
	noecho();
	typeahead(-1);
	leaveok(stdscr, TRUE);
	scrollok(stdscr, FALSE);
	curs_set(0);
	count_colours(t, term, o->colour);
	t->seen = strncmp(term, "linux", 5) ? ground_of_environment() : GROUND_DARK;
	choose_looks(t);
	t->reports = kind_reports(term);
	t->deletes = kind_deletes();
	t->ansi = kind_ansi();
	kind_append(t->enter, sizeof t->enter, "smkx");
	if (t->reports) {
		strcat(t->enter, reports_on);
		strcat(t->enter, INPUT_ASKS);
		strcat(t->enter, INPUT_ASKS_GROUND);
		strcat(t->leave, reports_off);
		strcat(t->leave, mouse_off);
	}
	kind_append(t->leave, sizeof t->leave, "rmkx");
	strcpy(t->way_out, t->reports ? sync_off : ""); /* a frame may have been cut */
	strcat(t->way_out, t->leave);
	for (size_t i = 0; i < sizeof end / sizeof *end; i++)
		kind_append(t->way_out, sizeof t->way_out, end[i]);
	/* It has begun with the size that terminfo says.  Let it end and forget
	 * that: the first frame begins anew with the true one, as after a stop. */
	if (fit(t) < 0)
		return -1;
	endwin();
	fflush(t->out);
	lseek(fd, 0, SEEK_SET);
	return ftruncate(fd, 0);
}

static void arm(struct term *t)
{
	static char bytes[sizeof t->way_out]; /* outlives the terminal: a crash comes when it likes */
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

/* The terminal becomes ours: at the start and after a stop. */
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

/* An answer that is still on its way would be typed into the shell. */
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

/* And the shell's again. */
static void give(struct term *t)
{
	if (!t->on)
		return;
	t->on = false;
	await_answers(t);
	tty_queue(&t->tty, t->leave, strlen(t->leave));
	endwin();
	pass_on(t, false);
	if (!tty_drain(&t->tty)) {
		/* it takes nothing: throw the frame away, the short way out may still fit */
		tty_drop(&t->tty);
		tty_queue(&t->tty, t->way_out, strlen(t->way_out));
		tty_flush(&t->tty);
		tty_drop(&t->tty);
	}
	crash_rest();
	tty_cooked(&t->tty);
	tty_unpark(&t->tty);
}

static int escape_ms(const struct term_options *o)
{
	const char *env = getenv("ESCDELAY");
	char *end;
	long ms = o->escape_ms;

	if (ms <= 0 && env && *env) {
		ms = strtol(env, &end, 10);
		if (*end)
			ms = 0;
	}
	return ms <= 0 ? 50 : ms > 5000 ? 5000 : (int)ms;
}

struct term *term_open(const struct term_options *o, struct err *e)
{
	const char *term = getenv("TERM");
	struct term *t = calloc(1, sizeof *t);

	if (!t) {
		err_sys(e, ERR_FAILED, ENOMEM, _("cannot open the screen"));
		return NULL;
	}
	if (tty_open(&t->tty, e) < 0)
		goto fail;
	if (kind_check(term, t->tty.fd, e) < 0)
		goto fail;
	t->tty.shared = o->shared;
	t->utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	t->input = input_open(term, t->utf8, escape_ms(o));
	if (!t->input) {
		err_sys(e, ERR_FAILED, errno, _("cannot read keys from a terminal of the kind \"%s\""), term);
		goto fail;
	}
	t->theme = o->theme;
	t->told = o->ground;
	t->no_mouse = o->no_mouse;
	if (start_curses(t, term, o) < 0 || take(t) < 0) {
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
	if (t->screen)
		delscreen(t->screen);
	if (t->out)
		fclose(t->out);
	input_close(t->input);
	tty_close(&t->tty);
	free(t->row);
	free(t->next.cells);
	free(t->shown.cells);
	free(t);
}

int term_fd(const struct term *t)
{
	return t->tty.fd;
}

/* A picture that may be of the wrong background altogether. */
static bool held(const struct term *t)
{
	return t->stale && t->seen == GROUND_AUTO && palette_scheme(t->theme, t->told, t->seen).paint &&
	       t->colours && t->theme != THEME_CONTRAST && awaits(t, ANSWER_HOLD_MS);
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
	if (tty_size(&t->tty, &w, &h) && (w != t->w || h != t->h)) {
		int was_w = t->w, was_h = t->h;

		if (fit(t) == 0 && (was_w != t->w || was_h != t->h))
			changed = true;
	}
	return changed;
}

static bool same(const struct cell *a, const struct cell *b, int n)
{
	for (int i = 0; i < n; i++)
		if (a[i].ch[0] != b[i].ch[0] || a[i].ch[1] != b[i].ch[1] || a[i].style != b[i].style)
			return false;
	return true;
}

/* What a cell may put on the terminal: one character as wide as its place. */
static int glyph(const struct term *t, const struct cell *c, int room, wchar_t out[3])
{
	int width = 1;

	memset(out, 0, 3 * sizeof *out);
	out[0] = c->ch[0];
	if (!t->utf8) {
		if (out[0] < 32 || out[0] > 126)
			out[0] = L'?';
	} else {
		width = wcwidth(out[0]);
		if (width < 1 || width > room) {
			out[0] = width > room ? L' ' : L'?';
			width = 1;
		} else if (c->ch[1] && wcwidth(c->ch[1]) == 0) {
			out[1] = c->ch[1];
		}
	}
	return width;
}

static void put_row(struct term *t, int y, const struct cell *cells, int n)
{
	static const struct cell blank = {.ch = {L' '}, .style = STYLE_TEXT};
	int used = 0;

	for (int x = 0; x < t->w;) {
		const struct cell *c = x < n ? &cells[x] : &blank;
		wchar_t text[3];
		int style = c->style < STYLES ? c->style : STYLE_TEXT;

		if (c->ch[0] == 0)
			c = &blank; /* half of a wide character that is not there */
		/* ncurses counts a wide character as one element here */
		x += glyph(t, c, t->w - x, text);
		setcchar(&t->row[used++], text, t->attributes[style], t->pair[style], NULL);
	}
	mvadd_wchnstr(y, 0, t->row, used);
}

/* Move the rest of a row to the left, on the terminal and in what ncurses
 * believes is there; it then draws what still differs. */
static void move_row(struct term *t, int y, struct shift s)
{
	char bytes[64] = "";

	kind_append_delete(bytes, sizeof bytes, y, s.x, s.k);
	fputs(bytes, t->out);
	wmove(curscr, y, s.x);
	for (int i = 0; i < s.k; i++)
		wdelch(curscr);
}

/* Rows of which a part has moved, before ncurses draws: it takes no notice of
 * this, for the terminal finds back to where ncurses left it. */
static void move_rows(struct term *t)
{
	char begin[64] = "", end[64] = "";
	int cury, curx, moved = 0;

	getyx(curscr, cury, curx);
	kind_append(begin, sizeof begin, "sc");
	kind_append(begin, sizeof begin, "sgr0");
	kind_append(end, sizeof end, "rc");
	for (int y = 0; y < t->h; y++) {
		size_t at = (size_t)y * (size_t)t->w;
		struct shift s = shift_find(&t->shown.cells[at], &t->next.cells[at], t->w);

		if (s.k == 0)
			continue;
		if (moved++ == 0)
			fputs(begin, t->out);
		move_row(t, y, s);
	}
	if (moved == 0)
		return;
	fputs(end, t->out);
	fflush(t->out);
	wmove(curscr, cury, curx);
}

/* The frame that waits goes to ncurses, row by row where it differs, and what
 * ncurses makes of it goes on its way. */
static int send_frame(struct term *t)
{
	int n = t->next.w < t->w ? t->next.w : t->w;
	bool changed = t->repaint;

	t->stale = false;
	if (!t->repaint && t->deletes && t->next.w == t->w && t->next.h == t->h)
		move_rows(t);
	for (int y = 0; y < t->h; y++) {
		const struct cell *row = y < t->next.h ? &t->next.cells[(size_t)y * (size_t)t->next.w] : NULL;
		struct cell *was = &t->shown.cells[(size_t)y * (size_t)t->w];
		int cells = row ? n : 0;

		if (!t->repaint && same(row, was, cells))
			continue;
		changed = true;
		put_row(t, y, row, cells);
		if (cells)
			memcpy(was, row, (size_t)cells * sizeof *was);
	}
	if (!changed)
		return 0;
	bool trim = !t->repaint;
	if (t->repaint)
		clearok(curscr, TRUE);
	t->repaint = false;
	wnoutrefresh(stdscr);
	doupdate();
	if (pass_on(t, trim) < 0)
		t->repaint = true; /* out of memory: bytes are missing */
	tty_flush(&t->tty);
	return t->tty.gone ? -1 : 0;
}

int term_draw(struct term *t, const struct canvas *c)
{
	if (t->tty.gone)
		return -1;
	/* a frame of another size than the last: its old rows say nothing */
	if (t->next.w != c->w || t->next.h != c->h)
		t->repaint = true;
	if (grid_size(&t->next, c->w, c->h) < 0)
		return 0;
	if (c->w && c->h)
		memcpy(t->next.cells, c->cells, (size_t)c->w * (size_t)c->h * sizeof *c->cells);
	t->stale = true;
	return !held(t) && tty_ready(&t->tty) ? send_frame(t) : 0;
}

void term_repaint(struct term *t)
{
	t->repaint = true;
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
	/* The whole job, as the key does where the kernel sees it: a script that
	 * started us would otherwise wait for us, and its shell for it. */
	kill(0, SIGTSTP);
	pthread_sigmask(SIG_UNBLOCK, &tstp, &mask);
	/* stopped here, until fg; nothing stops where there is no shell to do that */
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	sigaction(SIGTSTP, &was, NULL);

	int was_w = t->w, was_h = t->h;
	if (take(t) < 0)
		t->tty.gone = true;
	else if (fit(t) == 0 && (was_w != t->w || was_h != t->h))
		t->resized = t->tell_resize = true;
	if (t->next.cells)
		t->stale = true; /* the first bytes must be the screen's, whoever asks first */
}
