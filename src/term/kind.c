/* Terminfo queries. Separate because <term.h> defines hundreds of common words as macros. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>

#include "util/intl.h"
#include "term/kind.h"

static bool has(const char *s)
{
	return s && s != (char *)-1;
}

/* found: as from setupterm(). */
static bool draws(const char *term, int fd, int *found)
{
	bool able = false;

	*found = 0;
	if (setupterm(term, fd, found) == 0) {
		able = has(tigetstr("cup"));
		del_curterm(cur_term);
	}
	return able;
}

/* Terminals that bring their own entry, which a machine reached by ssh may lack, understand what xterm does. */
static const char *stand_in(const char *term, int fd)
{
	static const char *const kin[] = {"xterm-*", "alacritty", "foot*", "wezterm", "*-256color", "*-direct"};
	int found;

	for (size_t i = 0; i < sizeof kin / sizeof *kin; i++)
		if (!fnmatch(kin[i], term, 0))
			return draws("xterm-256color", fd, &found) ? "xterm-256color"
			       : draws("xterm", fd, &found)        ? "xterm"
								   : NULL;
	return NULL;
}

const char *kind_find(const char *term, int fd, struct err *e)
{
	const char *other;
	char name[64];
	int found;

	if (!term || !*term) {
		err_set(e, ERR_USAGE,
			_("TERM is not set, so nothing can be drawn on this terminal; set it, or use "
			  "nvmtop record to record, nvmtop once to print one reading, or --print WxH to print "
			  "one frame as text"));
		return NULL;
	}
	if (draws(term, fd, &found))
		return term;
	other = found == 1 ? NULL : stand_in(term, fd);
	if (other)
		return other;
	text_printable(name, sizeof name, term, strlen(term));
	if (found == 1 || !strcmp(term, "dumb"))
		err_set(e, ERR_USAGE,
			_("a terminal of the kind \"%s\" cannot show the screen; use nvmtop record "
			  "to record, nvmtop once to print one reading, or --print WxH to print one "
			  "frame as text"),
			name);
	else
		err_set(e, ERR_USAGE,
			_("TERM is \"%s\", a kind of terminal that is not known here; set it to one that is, or use "
			  "nvmtop record to record, nvmtop once to print one reading, or --print WxH to print one "
			  "frame as text"),
			name);
	return NULL;
}

static bool begins(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

bool kind_reports(const char *term)
{
	/* Some of these have a mouse but no kmous in terminfo. The Linux console has kmous but prints
	 * the sequence that enables it. */
	static const char *const kinds[] = {"xterm",   "tmux",    "screen",  "rxvt", "alacritty", "foot",
					    "kitty",   "konsole", "gnome",   "vte",  "putty",     "mintty",
					    "wezterm", "contour", "ghostty", "iterm"};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (begins(term, kinds[i]))
			return true;
	return has(tigetstr("kmous")) && !begins(term, "linux");
}

/* Output of tputs(), whose callback has no context argument. */
static char *sink;
static size_t sink_used, sink_size;

static int sink_put(int c)
{
	if (sink_used + 1 < sink_size) {
		sink[sink_used++] = (char)c;
		sink[sink_used] = 0;
	}
	return c;
}

static void append(char *to, size_t size, const char *s)
{
	sink = to;
	sink_used = strlen(to);
	sink_size = size;
	if (has(s))
		tputs(s, 1, sink_put);
}

void kind_append(char *to, size_t size, const char *capability)
{
	append(to, size, tigetstr(capability));
}

bool kind_deletes(void)
{
	return has(tigetstr("dch")) && has(tigetstr("cup")) && has(tigetstr("sc")) && has(tigetstr("rc"));
}

void kind_append_delete(char *to, size_t size, int y, int x, int k)
{
	append(to, size, tiparm(tigetstr("cup"), y, x));
	append(to, size, tiparm(tigetstr("dch"), k));
}

bool kind_ansi(void)
{
	const char *reset = tigetstr("sgr0");

	return has(reset) && strstr(reset, "\033[") && strchr(reset, 'm');
}

/* RGB is from ncurses, Tc from tmux; each may have any type. */
static bool extended(const char *name)
{
	const char *s = tigetstr(name);

	return tigetflag(name) > 0 || tigetnum(name) > 0 || has(s);
}

bool kind_truecolor(const char *term)
{
	const char *says = getenv("COLORTERM"), *mux = getenv("TMUX");

	if (extended("RGB") || extended("Tc"))
		return true;
	/* GNU screen passes COLORTERM of the outer terminal on but does not support 24-bit colours. */
	if (begins(term, "screen") && !(mux && *mux))
		return false;
	return says && (!strcmp(says, "truecolor") || !strcmp(says, "24bit"));
}

bool kind_counts_colours(void)
{
	const char *fg = tigetstr("setaf"), *bg = tigetstr("setab"), *made;

	if (!has(fg) || !has(bg))
		return false;
	made = tiparm(fg, 100);
	if (!made || strcmp(made, "\033[38;5;100m"))
		return false;
	made = tiparm(bg, 100);
	return made && !strcmp(made, "\033[48;5;100m");
}
