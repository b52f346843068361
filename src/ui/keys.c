/* keys: what every key means, said once.
 *
 * The order is that of the key bar, and within a group that of the help page.  No
 * single key does harm: a split escape sequence may arrive as Esc, [ and A. */
#include "ui/keys.h"

#include "util/intl.h"

/* clang-format off */
static const struct key_entry table[] = {
	{ ACT_VIEW_1, KEYS_VIEWS, WHEN_ALWAYS, { { '1', 0 }, { '9', 0 } },
	  "1 .. 9", N_("this view: overview, GPU, CPU, memory, ..."), NULL, NULL },
	{ ACT_VIEW_NEXT, KEYS_VIEWS, WHEN_ALWAYS, { { K_TAB, 0 } },
	  "Tab", N_("next view; Shift-Tab: previous view"), NULL, NULL },
	{ ACT_VIEW_PREV, KEYS_VIEWS, WHEN_ALWAYS, { { K_BACKTAB, 0 }, { K_BACKTAB, MOD_SHIFT }, { K_TAB, MOD_SHIFT } },
	  NULL, NULL, NULL, NULL },
	{ ACT_MARK, KEYS_MARKS, WHEN_CHARTS, { { 's', 0 } },
	  "s", N_("set a sync mark now"), "s", N_("mark") },
	{ ACT_LABEL, KEYS_MARKS, WHEN_CHARTS, { { 'S', 0 } },
	  "S", N_("set a sync mark with a label"), NULL, NULL },
	{ ACT_RECORD, KEYS_MARKS, WHEN_CHARTS, { { 'r', 0 } },
	  "r", N_("start or stop recording to a file"), "r", N_("record") },
	{ ACT_KEEP, KEYS_MARKS, WHEN_CHARTS, { { 'w', 0 } },
	  "w", N_("write the pre-trigger buffer to a file (needs --keep)"), NULL, NULL },
	{ ACT_SPACE, KEYS_TIME, WHEN_CHARTS, { { ' ', 0 } },
	  "Space", N_("pause, or play from the cursor"), "Space", N_("pause") },
	{ ACT_OPEN, KEYS_MARKS, WHEN_CHARTS, { { 'o', 0 } },
	  "o", N_("list saved traces and open one"), "o", N_("open") },
	{ ACT_ZOOM_IN, KEYS_TIME, WHEN_CHARTS, { { '+', 0 }, { '=', 0 } },
	  "+ -", N_("zoom in, zoom out: half, twice as much time"), "+ -", N_("zoom") },
	{ ACT_ZOOM_OUT, KEYS_TIME, WHEN_CHARTS, { { '-', 0 }, { '_', 0 } }, NULL, NULL, NULL, NULL },
	{ ACT_ALL, KEYS_TIME, WHEN_CHARTS, { { '0', 0 } },
	  "0", N_("show the whole recording"), NULL, NULL },
	{ ACT_BACK, KEYS_TIME, WHEN_CHARTS, { { K_LEFT, 0 } },
	  "Left Right", N_("back, forward in time; with Shift: by one screen"), NULL, NULL },
	{ ACT_FORWARD, KEYS_TIME, WHEN_CHARTS, { { K_RIGHT, 0 } }, NULL, NULL, NULL, NULL },
	{ ACT_SCREEN_BACK, KEYS_TIME, WHEN_CHARTS, { { K_LEFT, MOD_SHIFT }, { K_LEFT, MOD_CTRL } },
	  NULL, NULL, NULL, NULL },
	{ ACT_SCREEN_FORWARD, KEYS_TIME, WHEN_CHARTS, { { K_RIGHT, MOD_SHIFT }, { K_RIGHT, MOD_CTRL } },
	  NULL, NULL, NULL, NULL },
	{ ACT_CURSOR_BACK, KEYS_TIME, WHEN_CHARTS, { { 'h', 0 }, { K_LEFT, MOD_ALT } },
	  "h l", N_("move the cursor by a dot: shows the values at that time"), NULL, NULL },
	{ ACT_CURSOR_FORWARD, KEYS_TIME, WHEN_CHARTS, { { 'l', 0 }, { K_RIGHT, MOD_ALT } }, NULL, NULL, NULL, NULL },
	{ ACT_STEP_BACK, KEYS_TIME, WHEN_CHARTS, { { ',', 0 } },
	  ", .", N_("one sample back, forward"), NULL, NULL },
	{ ACT_STEP, KEYS_TIME, WHEN_CHARTS, { { '.', 0 } }, NULL, NULL, NULL, NULL },
	{ ACT_START, KEYS_TIME, WHEN_CHARTS, { { K_HOME, 0 } },
	  "Home End", N_("to the start; to now or the end of the trace"), NULL, NULL },
	{ ACT_END, KEYS_TIME, WHEN_CHARTS, { { K_END, 0 } }, NULL, NULL, NULL, NULL },
	{ ACT_PREV_MARK, KEYS_TIME, WHEN_CHARTS, { { '[', 0 } },
	  "[ ]", N_("previous mark, next mark"), "[ ]", N_("marks") },
	{ ACT_NEXT_MARK, KEYS_TIME, WHEN_CHARTS, { { ']', 0 } }, NULL, NULL, NULL, NULL },
	{ ACT_NEXT_PART, KEYS_MARKS, WHEN_CHARTS, { { 'e', 0 } },
	  "e E", N_("next, previous file of a split recording"), NULL, NULL },
	{ ACT_PREV_PART, KEYS_MARKS, WHEN_CHARTS, { { 'E', 0 } }, NULL, NULL, NULL, NULL },
	{ ACT_GOTO, KEYS_TIME, WHEN_CHARTS, { { 'g', 0 } },
	  "g", N_("go to: 1:23, +10s, 50%, 14:32:05, m3, end"), "g", N_("go to") },
	{ ACT_SEARCH, KEYS_TIME, WHEN_CHARTS, { { '/', 0 } },
	  "/", N_("search: gpu > 95, power > 25 W for 2s"), NULL, NULL },
	{ ACT_SEARCH_NEXT, KEYS_TIME, WHEN_CHARTS, { { 'n', 0 } },
	  "n N", N_("next match, previous match"), NULL, NULL },
	{ ACT_SEARCH_PREV, KEYS_TIME, WHEN_CHARTS, { { 'N', 0 } }, NULL, NULL, NULL, NULL },
	{ ACT_SELECT, KEYS_STRETCH, WHEN_CHARTS, { { 'v', 0 } },
	  "v", N_("start a selection at the cursor; again: end it there (or drag the mouse)"), NULL, NULL },
	{ ACT_SELECT_PHASE, KEYS_STRETCH, WHEN_CHARTS, { { 'V', 0 } },
	  "V", N_("select the phase around the cursor"), NULL, NULL },
	{ ACT_CHOOSE, KEYS_STRETCH, WHEN_CHARTS, { { 'x', 0 } },
	  "x", N_("compare this phase (view 7); again: stop"), "x", N_("compare") },
	{ ACT_LOOP, KEYS_STRETCH, WHEN_CHARTS, { { 'L', 0 } },
	  "L", N_("loop the selection or phase"), NULL, NULL },
	{ ACT_NUDGE_BACK, KEYS_STRETCH, WHEN_CHARTS, { { '{', 0 } },
	  "{ }", N_("move the trace of --with by a dot"), "{ }", N_("move B") },
	{ ACT_NUDGE, KEYS_STRETCH, WHEN_CHARTS, { { '}', 0 } }, NULL, NULL, NULL, NULL },
	{ ACT_SLOWER, KEYS_TIME, WHEN_CHARTS, { { '<', 0 } },
	  "< >", N_("play slower, faster: 1/10 to 64 times, or all"),
	  "< >", N_("speed") },
	{ ACT_FASTER, KEYS_TIME, WHEN_CHARTS, { { '>', 0 } }, NULL, NULL, NULL, NULL },
	{ ACT_UP, KEYS_ROWS, WHEN_ALWAYS, { { K_UP, 0 }, { 'k', 0 } },
	  "Up Down", N_("select the row above, below; in a list: scroll"), NULL, NULL },
	{ ACT_DOWN, KEYS_ROWS, WHEN_ALWAYS, { { K_DOWN, 0 }, { 'j', 0 } }, NULL, NULL, NULL, NULL },
	{ ACT_PAGE_UP, KEYS_ROWS, WHEN_ALWAYS, { { K_PGUP, 0 }, { 'b', MOD_CTRL } },
	  "PgUp PgDn", N_("scroll by a page"), NULL, NULL },
	{ ACT_PAGE_DOWN, KEYS_ROWS, WHEN_ALWAYS, { { K_PGDN, 0 }, { 'f', MOD_CTRL } }, NULL, NULL, NULL, NULL },
	{ ACT_ENTER, KEYS_MARKS, WHEN_FILES, { { K_ENTER, 0 } },
	  "Enter", N_("open the selected trace"), "Enter", N_("open") },
	{ ACT_ABOUT, KEYS_ROWS, WHEN_CHARTS, { { K_ENTER, 0 } },
	  "Enter", N_("details of the selected row, or why it is missing"), NULL, NULL },
	{ ACT_PROC_GPU, KEYS_PROCESSES, WHEN_PROCESSES, { { 'G', 0 } },
	  "G P M N", N_("sort by GPU, CPU, memory, PID"),
	  "G P M N", N_("sort") },
	{ ACT_PROC_CPU, KEYS_PROCESSES, WHEN_PROCESSES, { { 'P', 0 } }, NULL, NULL, NULL, NULL },
	{ ACT_PROC_MEMORY, KEYS_PROCESSES, WHEN_PROCESSES, { { 'M', 0 } }, NULL, NULL, NULL, NULL },
	{ ACT_PROC_PID, KEYS_PROCESSES, WHEN_PROCESSES, { { 'N', 0 } }, NULL, NULL, NULL, NULL },
	{ ACT_PROC_TREE, KEYS_PROCESSES, WHEN_PROCESSES, { { 't', 0 } },
	  "t", N_("show as a tree, on or off"), "t", N_("tree") },
	{ ACT_PROC_FILTER, KEYS_PROCESSES, WHEN_PROCESSES, { { 'f', 0 }, { '/', 0 } },
	  "f", N_("show only matching processes"), "f", N_("filter") },
	{ ACT_PROC_KILL, KEYS_PROCESSES, WHEN_PROCESSES, { { 'x', 0 }, { K_DELETE, 0 } },
	  "x", N_("end the selected process (asks first)"), "x", N_("end") },
	{ ACT_SETUP, KEYS_SCREEN, WHEN_CHARTS | WHEN_SETUP, { { K_F2, 0 }, { 'O', 0 } },
	  "F2 O", N_("settings: colours, mouse, rows"), NULL, NULL },
	{ ACT_LESS, KEYS_SCREEN, WHEN_SETUP, { { K_LEFT, 0 } },
	  "Left Right", N_("settings: previous, next value; fewer, more lines"), NULL, NULL },
	{ ACT_MORE, KEYS_SCREEN, WHEN_SETUP, { { K_RIGHT, 0 } }, NULL, NULL, NULL, NULL },
	{ ACT_TOGGLE, KEYS_SCREEN, WHEN_SETUP, { { K_ENTER, 0 }, { ' ', 0 } },
	  "Enter Space", N_("settings: next value; show or hide the row"), "Space", N_("change") },
	{ ACT_SOLO, KEYS_ROWS, WHEN_CHARTS, { { 'z', 0 } },
	  "z", N_("show only the selected row, and back"), NULL, NULL },
	{ ACT_HIDE, KEYS_ROWS, WHEN_CHARTS | WHEN_SETUP, { { 'H', 0 } },
	  "H", N_("hide the selected row"), NULL, NULL },
	{ ACT_MOVE_UP, KEYS_ROWS, WHEN_CHARTS | WHEN_SETUP, { { 'K', 0 }, { K_UP, MOD_SHIFT } },
	  "K J", N_("move the row up, down (Shift-Up, Shift-Down)"), "K J", N_("move") },
	{ ACT_MOVE_DOWN, KEYS_ROWS, WHEN_CHARTS | WHEN_SETUP, { { 'J', 0 }, { K_DOWN, MOD_SHIFT } },
	  NULL, NULL, NULL, NULL },
	{ ACT_HIGHER, KEYS_ROWS, WHEN_CHARTS | WHEN_SETUP, { { ')', 0 } },
	  ") (", N_("make the selected row taller, shorter"), ") (", N_("height") },
	{ ACT_LOWER, KEYS_ROWS, WHEN_CHARTS | WHEN_SETUP, { { '(', 0 } }, NULL, NULL, NULL, NULL },
	{ ACT_COPY, KEYS_SCREEN, WHEN_ALWAYS, { { 'p', 0 } },
	  "p", N_("copy the screen to a file, as text or SVG"), NULL, NULL },
	{ ACT_ESC, KEYS_SCREEN, WHEN_ALWAYS, { { K_ESC, 0 } },
	  "Esc", N_("back: from a list, from the past, from a trace"), "Esc", N_("back") },
	{ ACT_WHY, KEYS_SCREEN, WHEN_ALWAYS, { { '?', 0 } },
	  "?", N_("details of the selected row; without one: all keys"), "?", N_("keys") },
	{ ACT_HELP, KEYS_SCREEN, WHEN_ALWAYS, { { K_F1, 0 } },
	  "F1", N_("all keys"), NULL, NULL },
	{ ACT_REPAINT, KEYS_SCREEN, WHEN_ALWAYS, { { 'l', MOD_CTRL } },
	  "Ctrl-L", N_("redraw the screen"), NULL, NULL },
	{ ACT_SUSPEND, KEYS_SCREEN, WHEN_ALWAYS, { { 'z', MOD_CTRL } },
	  "Ctrl-Z", N_("suspend (fg continues)"), NULL, NULL },
	{ ACT_QUIT, KEYS_SCREEN, WHEN_ALWAYS, { { 'q', 0 }, { 'c', MOD_CTRL } },
	  "q Ctrl-C", N_("quit"), "q", N_("quit") },
};

static const char *const groups[KEYS_GROUPS] = {
	[KEYS_VIEWS] = N_("Views"),
	[KEYS_MARKS] = N_("Marks and recordings"),
	[KEYS_TIME] = N_("Time"),
	[KEYS_STRETCH] = N_("Selections and phases"),
	[KEYS_ROWS] = N_("Rows"),
	[KEYS_PROCESSES] = N_("Processes"),
	[KEYS_SCREEN] = N_("Screen"),
};
/* clang-format on */

const struct key_entry *keys_entry(size_t i)
{
	return i < sizeof(table) / sizeof(table[0]) ? &table[i] : NULL;
}

const struct key_entry *keys_help(size_t i)
{
	for (int group = 0; group < KEYS_GROUPS; group++)
		for (size_t k = 0; k < sizeof(table) / sizeof(table[0]); k++)
			if (table[k].group == (enum key_group)group && table[k].shown && i-- == 0)
				return &table[k];
	return NULL;
}

const char *keys_group(enum key_group group)
{
	return groups[group];
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
