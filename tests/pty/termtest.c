/* Uses only src/term: draws a canvas and logs its input, so that the pty tests can check
 * what no screen shows (which button, which cell, pasted or typed, what reached stderr).
 *
 *   termtest LOG [WORD...]      quits on q, stops on Ctrl-Z
 *
 * Words: styles (every style by name), wide (non-ASCII text), fill (letters up to the last
 * cell), flood (a new frame every millisecond), stderr (print a line there), crash, abort,
 * overflow (after the first key), thread (do these in a thread), mono, escape=MS, notice (of
 * the terminal, and TERM). */
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "util/clock.h"
#include "term/term.h"
#include "util/thread.h"

static FILE *lg;
static char **words;

static bool has(const char *word)
{
	for (char **w = words; *w; w++)
		if (!strcmp(*w, word))
			return true;
	return false;
}

static void put(struct canvas *c, int x, int y, enum style s, const char *text)
{
	wchar_t wide[256];
	size_t n = mbstowcs(wide, text, 256);

	for (size_t i = 0; n != (size_t)-1 && i < n; i++) {
		int width = wcwidth(wide[i]);

		if (width == 0 && x > 0 && x <= c->w) {
			c->cells[y * c->w + x - 1].ch[1] = wide[i];
			continue;
		}
		if (x < c->w && y < c->h)
			c->cells[y * c->w + x] = (struct cell) {.ch = {wide[i]}, .style = (unsigned char)s};
		if (width == 2 && x + 1 < c->w && y < c->h)
			c->cells[y * c->w + x + 1] = (struct cell) {.style = (unsigned char)s};
		x += width;
	}
}

static void draw(struct canvas *c, int w, int h, int nth, const char *last)
{
	static const wchar_t wide[] = L"\u00e9 \u28ff\u2588\u2502 \u6f22\u5b57 e\u0301";
	char line[256];

	c->w = w;
	c->h = h;
	c->cells = realloc(c->cells, (size_t)(w * h) * sizeof *c->cells);
	for (int i = 0; i < w * h; i++)
		c->cells[i] = (struct cell) {.ch = {L' '}};
	if (has("fill"))
		for (int i = 0; i < w * h; i++)
			c->cells[i].ch[0] = (wchar_t)(L'a' + (i % w + i / w + nth) % 26);
	snprintf(line, sizeof line, "[%dx%d] nth=%d %s", w, h, nth, last);
	put(c, 0, 0, STYLE_TEXT, line);
	if (has("styles"))
		for (int s = 0; s < STYLES && s + 2 < h; s++) {
			snprintf(line, sizeof line, "style %d mark", s);
			put(c, 2, s + 2, (enum style)s, line);
		}
	if (has("wide") && h > 3 && w > 20) {
		int x = 0;

		for (const wchar_t *p = wide; *p; p++) {
			if (wcwidth(*p) == 0 || (*p == 0x301 && x)) {
				c->cells[3 * w + x - 1].ch[1] = *p;
				continue;
			}
			c->cells[3 * w + x++].ch[0] = *p;
			if (*p >= 0x5000 && *p < 0xa000)
				c->cells[3 * w + x++].ch[0] = 0;
		}
		c->cells[2 * w - 1].ch[0] = 0x6f22; /* does not fit */
		c->cells[2 * w].ch[0] = 7;          /* must never be output */
		c->cells[2 * w + 1].ch[0] = 0;      /* right half without a left one */
	}
}

/* A CPU fault. A sanitizer would stop the program before it and not restore the terminal. */
__attribute__((no_sanitize("undefined", "address"))) static void crash(uintptr_t where)
{
	*(volatile int *)where = 1;
}

static int overflow(int depth)
{
	volatile char room[4096];

	room[0] = (char)depth;
	return depth < 0 ? 0 : overflow(depth + 1) + room[0];
}

static void *fault(void *where)
{
	if (has("overflow"))
		return overflow(0) ? where : NULL;
	if (has("crash"))
		crash((uintptr_t)where);
	if (has("abort"))
		abort();
	return NULL;
}

/* Perform the fault requested by a word, after a key. */
static void take_fault(uintptr_t where)
{
	pthread_t thread;

	if (!has("thread"))
		fault((void *)where);
	else if (thread_start(&thread, fault, (void *)where) == 0)
		pthread_join(thread, NULL);
}

static const char *name_of(const struct event *ev, char *buf, size_t size)
{
	static const char *const special[] = {"Up",   "Down", "Left",   "Right",  "Home",   "End",
					      "PgUp", "PgDn", "Insert", "Delete", "F1",     "F2",
					      "F3",   "F4",   "F5",     "F6",     "F7",     "F8",
					      "F9",   "F10",  "F11",    "F12",    "BackTab"};
	char mods[16] = "";

	if (ev->mods & MOD_SHIFT)
		strcat(mods, "S-");
	if (ev->mods & MOD_ALT)
		strcat(mods, "A-");
	if (ev->mods & MOD_CTRL)
		strcat(mods, "C-");
	if (ev->key >= K_UP && ev->key <= K_BACKTAB)
		snprintf(buf, size, "%s%s", mods, special[ev->key - K_UP]);
	else if (ev->key == K_TAB || ev->key == K_ENTER || ev->key == K_ESC || ev->key == K_BACKSPACE)
		snprintf(buf, size, "%s%s", mods,
			 ev->key == K_TAB     ? "Tab"
			 : ev->key == K_ENTER ? "Enter"
			 : ev->key == K_ESC   ? "Esc"
					      : "Backspace");
	else
		snprintf(buf, size, "%sU+%04X", mods, ev->key);
	return buf;
}

/* Log it; -1: quit, 1: stop. */
static int take(const struct event *ev, char *last, size_t size)
{
	static const char *const actions[] = {"press", "drag", "release"};
	char buf[64];

	switch (ev->kind) {
	case EVENT_KEY:
		snprintf(last, size, "key %s%s", name_of(ev, buf, sizeof buf), ev->pasted ? " pasted" : "");
		break;
	case EVENT_MOUSE:
		snprintf(last, size, "mouse %s %d at %d,%d mods %u", actions[ev->action], ev->button, ev->x,
			 ev->y, ev->mods);
		break;
	case EVENT_FOCUS:
		snprintf(last, size, "focus %s", ev->press ? "in" : "out");
		break;
	case EVENT_RESIZE:
		snprintf(last, size, "resize");
		break;
	case EVENT_CLOSED:
		snprintf(last, size, "closed");
		break;
	case EVENT_NONE:
		break;
	}
	fprintf(lg, "%s\n", last);
	if (ev->kind == EVENT_CLOSED || (ev->kind == EVENT_KEY && ev->key == 'q' && !ev->pasted))
		return -1;
	return ev->kind == EVENT_KEY && ev->key == 'z' && ev->mods == MOD_CTRL;
}

static int run(struct term *t, int signals)
{
	struct canvas c = {0};
	char last[128] = "start";
	int w, h, nth = 0, rc = 0;
	bool first = true;

	for (bool on = true; on;) {
		struct pollfd p[2] = {{.fd = term_fd(t), .events = POLLIN},
				      {.fd = signals, .events = POLLIN}};
		struct signalfd_siginfo si;
		struct event ev;

		term_size(t, &w, &h);
		draw(&c, w, h, nth, last);
		if (term_draw(t, &c) < 0)
			break;
		if (first)
			fprintf(lg, "ready %dx%d\n", w, h);
		first = false;
		int ms = has("flood") ? 1 : term_timeout_ms(t);
		if (poll(p, 2, ms) < 0 && errno != EINTR)
			break;
		if (has("flood"))
			nth++;
		while (read(signals, &si, sizeof si) == sizeof si) {
			fprintf(lg, "signal %u\n", si.ssi_signo);
			if (si.ssi_signo == SIGWINCH || si.ssi_signo == SIGCONT) {
				if (term_resized(t)) {
					term_size(t, &w, &h);
					fprintf(lg, "size %dx%d\n", w, h);
				}
			} else if (si.ssi_signo == SIGTSTP) {
				term_suspend(t);
			} else {
				rc = 128 + (int)si.ssi_signo;
				on = false;
			}
		}
		term_read(t);
		while ((ev = term_event(t)).kind != EVENT_NONE) {
			int what = take(&ev, last, sizeof last);

			nth++;
			if (has("stderr"))
				fprintf(stderr, "words to stderr %d\n", nth);
			if (ev.kind == EVENT_KEY)
				take_fault((uintptr_t)nth - 1);
			if (what > 0) {
				fprintf(lg, "suspend\n");
				term_suspend(t);
				fprintf(lg, "resume\n");
			}
			if (what < 0) {
				on = false;
				break;
			}
		}
	}
	free(c.cells);
	return rc;
}

int main(int argc, char **argv)
{
	struct term_options o = {.colour = COLOUR_AUTO};
	struct err e = {0};
	sigset_t set;

	if (argc < 2) {
		fputs("usage: termtest LOG [WORD]...\n", stderr);
		return 2;
	}
	setlocale(LC_ALL, "");
	words = argv + 2;
	lg = fopen(argv[1], "ae");
	if (!lg)
		return 1;
	setvbuf(lg, NULL, _IOLBF, 0);
	for (char **w = words; *w; w++)
		if (!strncmp(*w, "escape=", 7))
			o.escape_ms = atoi(*w + 7);
	if (has("mono"))
		o.colour = COLOUR_NEVER;
	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	sigaddset(&set, SIGTSTP);
	sigaddset(&set, SIGCONT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	int signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	struct term *t = term_open(&o, &e);
	if (!t) {
		fprintf(stderr, "%s\n", e.text);
		return (int)e.code;
	}
	if (has("notice"))
		fprintf(lg, "TERM=%s notice=%s\n", getenv("TERM"), term_notice(t));
	int rc = run(t, signals);
	term_close(t);
	fprintf(lg, "bye\n");
	fclose(lg);
	return rc;
}
