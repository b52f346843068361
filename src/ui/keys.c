/* keys: what every key means, said once.
 *
 * The order is that of the help page and of the key bar.  No single key does harm:
 * a split escape sequence may arrive as Esc, [ and A. */
#include "keys.h"

#include "nvmtop/intl.h"

/* clang-format off */
static const struct key_entry table[] = {
	{ ACT_VIEW_1, WHEN_ALWAYS, { { '1', 0 }, { '9', 0 } }, "1 .. 9", N_("this view: overview, GPU, CPU, memory, ..."),
	  NULL, NULL },
	{ ACT_VIEW_NEXT, WHEN_ALWAYS, { { K_TAB, 0 } }, "Tab", N_("the next view"), NULL, NULL },
	{ ACT_VIEW_PREV, WHEN_ALWAYS, { { K_BACKTAB, 0 }, { K_BACKTAB, MOD_SHIFT }, { K_TAB, MOD_SHIFT } },
	  "Shift-Tab", N_("the view before"), NULL, NULL },
	{ ACT_MARK, WHEN_CHARTS, { { 's', 0 } }, "s", N_("set a sync mark at this moment"), "s", N_("mark") },
	{ ACT_LABEL, WHEN_CHARTS, { { 'S', 0 } }, "S", N_("set a sync mark at this moment, and say what it is called"),
	  NULL, NULL },
	{ ACT_RECORD, WHEN_CHARTS, { { 'r', 0 } }, "r", N_("start or stop recording to a file"),
	  "r", N_("record") },
	{ ACT_KEEP, WHEN_CHARTS, { { 'w', 0 } }, "w", N_("write what was held to a file (needs --keep)"), NULL, NULL },
	{ ACT_SPACE, WHEN_CHARTS, { { ' ', 0 } }, "Space", N_("pause, or play on from where the cursor is"),
	  "Space", N_("pause") },
	{ ACT_OPEN, WHEN_CHARTS, { { 'o', 0 } }, "o", N_("list saved traces, open one"), "o", N_("open") },
	{ ACT_ZOOM_IN, WHEN_CHARTS, { { '+', 0 }, { '=', 0 } }, "+ =", N_("zoom in: half as much time"),
	  "+ -", N_("zoom") },
	{ ACT_ZOOM_OUT, WHEN_CHARTS, { { '-', 0 }, { '_', 0 } }, "- _", N_("zoom out: twice as much time"),
	  NULL, NULL },
	{ ACT_ALL, WHEN_CHARTS, { { '0', 0 } }, "0", N_("zoom out to everything there is"), NULL, NULL },
	{ ACT_BACK, WHEN_CHARTS, { { K_LEFT, 0 } }, "Left", N_("back in time"), NULL, NULL },
	{ ACT_FORWARD, WHEN_CHARTS, { { K_RIGHT, 0 } }, "Right", N_("forward in time"), NULL, NULL },
	{ ACT_CURSOR_BACK, WHEN_CHARTS, { { 'h', 0 }, { K_LEFT, MOD_ALT } }, "h",
	  N_("the cursor back by a dot: the numbers are those of its moment"), NULL, NULL },
	{ ACT_CURSOR_FORWARD, WHEN_CHARTS, { { 'l', 0 }, { K_RIGHT, MOD_ALT } }, "l",
	  N_("the cursor forward by a dot"), NULL, NULL },
	{ ACT_SCREEN_BACK, WHEN_CHARTS, { { K_LEFT, MOD_SHIFT }, { K_LEFT, MOD_CTRL } }, "Shift-Left",
	  N_("back by a whole screen"), NULL, NULL },
	{ ACT_SCREEN_FORWARD, WHEN_CHARTS, { { K_RIGHT, MOD_SHIFT }, { K_RIGHT, MOD_CTRL } }, "Shift-Right",
	  N_("forward by a whole screen"), NULL, NULL },
	{ ACT_START, WHEN_CHARTS, { { K_HOME, 0 } }, "Home", N_("to the start"), NULL, NULL },
	{ ACT_END, WHEN_CHARTS, { { K_END, 0 } }, "End", N_("to now, or to the end of the trace"), NULL, NULL },
	{ ACT_PREV_MARK, WHEN_CHARTS, { { '[', 0 } }, "[", N_("to the previous mark"), "[ ]", N_("marks") },
	{ ACT_NEXT_MARK, WHEN_CHARTS, { { ']', 0 } }, "]", N_("to the next mark"), NULL, NULL },
	{ ACT_GOTO, WHEN_CHARTS, { { 'g', 0 } }, "g", N_("go to a time or a mark: 1:23, +10s, 50%, 14:32:05, m3, end"),
	  "g", N_("go to") },
	{ ACT_SEARCH, WHEN_CHARTS, { { '/', 0 } }, "/", N_("search for a condition: gpu > 95, power > 25 W for 2s"),
	  NULL, NULL },
	{ ACT_SEARCH_NEXT, WHEN_CHARTS, { { 'n', 0 } }, "n", N_("to where it begins to hold next"), NULL, NULL },
	{ ACT_SEARCH_PREV, WHEN_CHARTS, { { 'N', 0 } }, "N", N_("to where it began to hold before"), NULL, NULL },
	{ ACT_SELECT, WHEN_CHARTS, { { 'v', 0 } }, "v",
	  N_("select from the cursor on; again: up to the cursor (or drag the mouse)"), NULL, NULL },
	{ ACT_SELECT_PHASE, WHEN_CHARTS, { { 'V', 0 } }, "V", N_("select the phase between the marks around the cursor"),
	  NULL, NULL },
	{ ACT_CHOOSE, WHEN_CHARTS, { { 'x', 0 } }, "x", N_("among the phases (7): compare this one; again: no more"),
	  "x", N_("compare") },
	{ ACT_LOOP, WHEN_CHARTS, { { 'L', 0 } }, "L", N_("play the selection, or the phase, over and over; again: no more"),
	  NULL, NULL },
	{ ACT_NUDGE_BACK, WHEN_CHARTS, { { '{', 0 } }, "{", N_("move the trace of --with back by a dot"),
	  "{ }", N_("move B") },
	{ ACT_NUDGE, WHEN_CHARTS, { { '}', 0 } }, "}", N_("move the trace of --with forward by a dot"), NULL, NULL },
	{ ACT_STEP_BACK, WHEN_CHARTS, { { ',', 0 } }, ",", N_("one sample back"), NULL, NULL },
	{ ACT_STEP, WHEN_CHARTS, { { '.', 0 } }, ".", N_("one sample forward"), NULL, NULL },
	{ ACT_SLOWER, WHEN_CHARTS, { { '<', 0 } }, "<", N_("play slower, down to a tenth"),
	  "< >", N_("speed") },
	{ ACT_FASTER, WHEN_CHARTS, { { '>', 0 } }, ">", N_("play faster, up to 64 times, and then all in 3 seconds"),
	  NULL, NULL },
	{ ACT_UP, WHEN_ALWAYS, { { K_UP, 0 }, { 'k', 0 } }, "Up", N_("choose the row above; in a list: scroll up"), NULL, NULL },
	{ ACT_DOWN, WHEN_ALWAYS, { { K_DOWN, 0 }, { 'j', 0 } }, "Down", N_("choose the row below; in a list: scroll down"), NULL, NULL },
	{ ACT_PAGE_UP, WHEN_ALWAYS, { { K_PGUP, 0 } }, "PgUp", N_("scroll up by a page"), NULL, NULL },
	{ ACT_PAGE_DOWN, WHEN_ALWAYS, { { K_PGDN, 0 } }, "PgDn", N_("scroll down by a page"), NULL, NULL },
	{ ACT_ENTER, WHEN_FILES, { { K_ENTER, 0 } }, "Enter", N_("open the chosen trace"), "Enter", N_("open") },
	{ ACT_ABOUT, WHEN_CHARTS, { { K_ENTER, 0 } }, "Enter",
	  N_("about the chosen row: its source, its limits, why it is missing"), NULL, NULL },
	{ ACT_PROC_GPU, WHEN_PROCESSES, { { 'G', 0 } }, "G", N_("processes: those that use the GPU first, then by CPU"),
	  "G P M N", N_("sort") },
	{ ACT_PROC_CPU, WHEN_PROCESSES, { { 'P', 0 } }, "P", N_("processes: by CPU"), NULL, NULL },
	{ ACT_PROC_MEMORY, WHEN_PROCESSES, { { 'M', 0 } }, "M", N_("processes: by memory"), NULL, NULL },
	{ ACT_PROC_PID, WHEN_PROCESSES, { { 'N', 0 } }, "N", N_("processes: by number"), NULL, NULL },
	{ ACT_PROC_TREE, WHEN_PROCESSES, { { 't', 0 } }, "t", N_("processes: as a tree, or not"), "t", N_("tree") },
	{ ACT_PROC_FILTER, WHEN_PROCESSES, { { 'f', 0 }, { '/', 0 } }, "f", N_("processes: only those with a text"),
	  "f", N_("filter") },
	{ ACT_PROC_KILL, WHEN_PROCESSES, { { 'x', 0 }, { K_DELETE, 0 } }, "x", N_("processes: end the chosen one (asks first)"),
	  "x", N_("end") },
	{ ACT_SOLO, WHEN_CHARTS, { { 'z', 0 } }, "z", N_("the chosen row alone over the whole screen, and back"), NULL, NULL },
	{ ACT_HIDE, WHEN_CHARTS | WHEN_SETUP, { { 'H', 0 } }, "H", N_("hide the chosen row"), NULL, NULL },
	{ ACT_MOVE_UP, WHEN_CHARTS | WHEN_SETUP, { { 'K', 0 }, { K_UP, MOD_SHIFT } }, "K Shift-Up",
	  N_("move the chosen row up"), NULL, NULL },
	{ ACT_MOVE_DOWN, WHEN_CHARTS | WHEN_SETUP, { { 'J', 0 }, { K_DOWN, MOD_SHIFT } }, "J Shift-Down",
	  N_("move the chosen row down"), NULL, NULL },
	{ ACT_HIGHER, WHEN_CHARTS | WHEN_SETUP, { { ')', 0 } }, ")", N_("make the chosen row higher"), NULL, NULL },
	{ ACT_LOWER, WHEN_CHARTS | WHEN_SETUP, { { '(', 0 } }, "(", N_("make the chosen row lower"), NULL, NULL },
	{ ACT_SETUP, WHEN_CHARTS | WHEN_SETUP, { { K_F2, 0 }, { 'O', 0 } }, "F2 O",
	  N_("set up the screen: colours, mouse, which rows and in which order"), NULL, NULL },
	{ ACT_COPY, WHEN_ALWAYS, { { 'p', 0 } }, "p", N_("copy the screen to a file, as text or as a picture (SVG)"), NULL, NULL },
	{ ACT_LESS, WHEN_SETUP, { { K_LEFT, 0 } }, "Left", N_("set-up: the value before; fewer lines"), NULL, NULL },
	{ ACT_MORE, WHEN_SETUP, { { K_RIGHT, 0 } }, "Right", N_("set-up: the next value; more lines"),
	  "Left Right", N_("change") },
	{ ACT_TOGGLE, WHEN_SETUP, { { K_ENTER, 0 }, { ' ', 0 } }, "Enter Space", N_("set-up: the next value; show or hide the row"),
	  "Space", N_("change") },
	{ ACT_ESC, WHEN_ALWAYS, { { K_ESC, 0 } }, "Esc", N_("back: from a list, from the past, from a trace"),
	  "Esc", N_("back") },
	{ ACT_WHY, WHEN_ALWAYS, { { '?', 0 } }, "?", N_("the same; when no row is chosen: all keys"),
	  "?", N_("keys") },
	{ ACT_HELP, WHEN_ALWAYS, { { K_F1, 0 } }, "F1", N_("all keys"), NULL, NULL },
	{ ACT_REPAINT, WHEN_ALWAYS, { { 'l', MOD_CTRL } }, "Ctrl-L", N_("draw the screen anew"), NULL, NULL },
	{ ACT_SUSPEND, WHEN_ALWAYS, { { 'z', MOD_CTRL } }, "Ctrl-Z", N_("stop for a while (fg continues)"),
	  NULL, NULL },
	{ ACT_QUIT, WHEN_ALWAYS, { { 'q', 0 }, { 'c', MOD_CTRL } }, "q Ctrl-C", N_("quit"), "q", N_("quit") },
};
/* clang-format on */

const struct key_entry *keys_entry(size_t i)
{
	return i < sizeof(table) / sizeof(table[0]) ? &table[i] : NULL;
}

enum action keys_action(const struct event *ev, unsigned when)
{
	uint32_t key = ev->key;
	unsigned mods = ev->mods;

	if (ev->kind != EVENT_KEY || key == K_NONE)
		return ACT_NONE;
	/* A character's case already says what Shift did. */
	if (key < K_UP && key > ' ')
		mods &= ~(unsigned)MOD_SHIFT;
	if ((mods & MOD_CTRL) && key >= 'A' && key <= 'Z')
		key += 'a' - 'A';
	/* What only this view has goes before what all have. */
	for (size_t n = 0; n < 2 * sizeof(table) / sizeof(table[0]); n++) {
		size_t i = n % (sizeof(table) / sizeof(table[0]));
		bool special = table[i].when == WHEN_PROCESSES, first = n < sizeof(table) / sizeof(table[0]);

		if (!(table[i].when & when) || special != first)
			continue;
		/* One entry for all the views: its keys are the first and the last. */
		if (table[i].action == ACT_VIEW_1 && !mods && key >= '1' && key <= '9')
			return (enum action)(ACT_VIEW_1 + (key - '1'));
		for (size_t k = 0; k < 4 && table[i].keys[k].key; k++)
			if (table[i].keys[k].key == key && table[i].keys[k].mods == mods)
				return table[i].action;
	}
	return ACT_NONE;
}
