/* view-files: lists the traces of a folder, to open one alone or as the second trace. */
#include "ui/draw.h"
#include "ui/screen.h"

#include "util/intl.h"
#include "util/text.h"

#include <string.h>
#include <time.h>

#define NAME_LEAST 24
#define NAME_MOST  44 /* wider names would separate the numbers too far from them */

struct files {
	char chosen[512]; /* path; "": none, the first is selected */
	uint64_t serial;  /* of the list that `at` refers to */
	int at;           /* index into the filtered list */
	char filter[64];  /* part of a name; "": all */
};

static struct files *state_of(const struct ui *u)
{
	return ui_state(u, &view_files);
}

/* Whether an entry passes the filter; folders up always do. */
static bool passes(const struct files *f, const struct ui_file *file)
{
	return !f->filter[0] || strcasestr(file->name, f->filter) || (file->folder && !strcmp(file->name, ".."));
}

static int length(const struct ui *u, const struct ui_scene *s)
{
	int n = 0;

	for (size_t i = 0; i < s->n_files && n < 100000; i++)
		n += passes(state_of(u), &s->files[i]);
	return n;
}

/* NULL past the end. */
static const struct ui_file *file_at(const struct ui *u, const struct ui_scene *s, int at)
{
	for (size_t i = 0; i < s->n_files; i++)
		if (passes(state_of(u), &s->files[i]) && at-- == 0)
			return &s->files[i];
	return NULL;
}

/* Lines for the folder and the column titles. */
static int head_lines(const struct ui *u)
{
	return u->at.body.h >= 8 ? 2 : 0;
}

/* The last line shows progress while the folder is being read. */
static int list_lines(const struct ui *u, const struct ui_scene *s)
{
	int h = u->at.body.h - head_lines(u);

	return s->files_at && h > 0 ? h - 1 : h;
}

/* Find the selected file again: the list grows while the folder is read. */
static void follow(struct ui *u, const struct ui_scene *s)
{
	struct files *f = state_of(u);
	const struct ui_file *file;

	if (f->serial == s->files_serial)
		return;
	f->serial = s->files_serial;
	for (int i = 0; f->chosen[0] && (file = file_at(u, s, i)) != NULL; i++)
		if (!strcmp(file->path, f->chosen))
			f->at = i;
}

static void settle(struct ui *u, const struct ui_scene *s)
{
	struct files *f = state_of(u);
	int n = length(u, s), h = list_lines(u, s);

	follow(u, s);
	if (f->at >= n)
		f->at = n - 1;
	if (f->at < 0)
		f->at = 0;
	if (u->over_scroll > f->at)
		u->over_scroll = f->at;
	if (u->over_scroll < f->at - h + 1)
		u->over_scroll = f->at - h + 1;
	if (u->over_scroll < 0)
		u->over_scroll = 0;
}

static void choose(struct ui *u, const struct ui_scene *s, int at)
{
	struct files *f = state_of(u);
	const struct ui_file *file;

	f->at = at;
	settle(u, s);
	file = file_at(u, s, f->at);
	if (file)
		memcpy(f->chosen, file->path, sizeof(f->chosen));
}

/* Show that the folder is being read, and the current file. */
static void draw_reading(struct ui *u, const struct ui_scene *s, struct canvas *c, int y, int w)
{
	char text[192];

	if (s->files_at[0])
		snprintf(text, sizeof(text), _("Reading this folder: %s"), s->files_at);
	else
		snprintf(text, sizeof(text), "%s", _("Reading this folder."));
	screen_cut(u, c, u->at.name.x, y, w, STYLE_DIM, text);
}

enum { COLUMN_LENGTH, COLUMN_WHEN, COLUMN_MARKS, COLUMN_SIZE, COLUMN_BOARD, COLUMNS };

static const struct {
	const char *title;
	int width, gap;
	bool left;
} columns[COLUMNS] = {
	{N_("length"), 8, 2, false}, {N_("written"), 16, 2, true}, {N_("marks"), 6, 1, false},
	{N_("size"), 8, 2, false},   {N_("board"), 12, 2, true},
};

/* Find how many columns leave enough room for names; returns their number, and the name width. */
static int fit(int w, int *name_w)
{
	int n = 0;

	*name_w = w - 2;
	while (n < COLUMNS && *name_w - columns[n].width - columns[n].gap >= NAME_LEAST) {
		*name_w -= columns[n].width + columns[n].gap;
		n++;
	}
	*name_w = *name_w > NAME_MOST ? NAME_MOST : *name_w;
	return n;
}

static void cell_of(char out[64], int column, const struct ui_file *f)
{
	time_t t = (time_t)(f->changed_ns / NS_PER_S);
	struct tm tm;

	out[0] = 0;
	if (column == COLUMN_WHEN) {
		if (!f->changed_ns || !localtime_r(&t, &tm) || !strftime(out, 64, "%Y-%m-%d %H:%M", &tm))
			out[0] = 0;
	} else if (!f->readable) {
		return;
	} else if (column == COLUMN_LENGTH) {
		text_lasted(out, 64, f->duration_ns);
	} else if (column == COLUMN_SIZE) {
		text_bytes(out, 64, f->bytes);
	} else if (column == COLUMN_MARKS) {
		snprintf(out, 64, "%llu", (unsigned long long)f->marks);
	} else {
		snprintf(out, 64, "%s", f->damaged ? _("damaged") : f->board);
	}
}

static void draw_cells(struct canvas *c, int x, int y, int w, const struct ui_file *f, enum style style)
{
	int name_w, n = fit(w, &name_w);
	char text[64];

	x += 2 + name_w;
	for (int i = 0; i < n; i++) {
		int at = x + columns[i].gap;

		if (f)
			cell_of(text, i, f);
		else
			snprintf(text, sizeof(text), "%s", _(columns[i].title));
		if (columns[i].left)
			canvas_text(c, at, y, columns[i].width, style, text);
		else
			canvas_right(c, at, y, columns[i].width, style, text);
		x = at + columns[i].width;
	}
}

static void draw_file(struct ui *u, const struct ui_file *f, struct canvas *c, int y, int w, bool chosen)
{
	enum style style = chosen ? STYLE_SELECTED : f->folder ? STYLE_KEY : f->readable ? STYLE_TEXT : STYLE_DIM;
	int x = u->at.name.x, name_w;
	char name[sizeof(f->name) + 2];

	fit(w, &name_w);
	for (int k = 0; chosen && k < w; k++)
		canvas_put(c, x + k, y, style, L' ');
	canvas_put(c, x, y, style, chosen ? L'>' : L' ');
	snprintf(name, sizeof(name), f->folder ? "%s/" : "%s", f->name);
	screen_cut(u, c, x + 2, y, name_w, style, name);
	draw_cells(c, x, y, w, f, chosen ? style : f->damaged ? STYLE_ALERT : STYLE_DIM);
}

static void draw_head(struct ui *u, const struct ui_scene *s, struct canvas *c, int y, int w)
{
	const struct files *f = state_of(u);
	int x = u->at.name.x, used;
	char text[96];

	used = screen_cut(u, c, x, y, w, STYLE_TITLE, s->files_folder ? s->files_folder : "");
	if (f->filter[0]) {
		snprintf(text, sizeof(text), _("with \"%s\""), f->filter);
		canvas_text(c, x + used + 2, y, w - used - 2, STYLE_TEXT, text);
	}
	canvas_text(c, x + 2, y + 1, w, STYLE_DIM, _("name"));
	draw_cells(c, x, y + 1, w, NULL, STYLE_DIM);
}

static void files_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	int n = length(u, s), h = list_lines(u, s), y = u->at.body.y, w = c->w - 2 * u->at.name.x;
	const struct ui_file *first = file_at(u, s, 0);

	settle(u, s);
	if (head_lines(u))
		draw_head(u, s, c, y, w);
	y += head_lines(u);
	for (int i = 0; i < h && u->over_scroll + i < n; i++)
		draw_file(u, file_at(u, s, u->over_scroll + i), c, y++, w, u->over_scroll + i == state_of(u)->at);
	if (s->files_at)
		draw_reading(u, s, c, y, w);
	else if (!first || first->folder)
		screen_cut(u, c, u->at.name.x + 2, y, w - 2, STYLE_DIM,
			   state_of(u)->filter[0] ? _("No trace has such a name.")
						  : _("There are no saved traces here; r records one."));
	u->frame.below = n - u->over_scroll - h;
}

static void files_move(struct ui *u, const struct ui_scene *s, enum move how, int by)
{
	settle(u, s);
	choose(u, s, state_of(u)->at + view_lines(how, by, u->at.body.h > 3 ? u->at.body.h - 3 : 1));
}

static void list_folder(struct ui *u, const struct ui_scene *s, struct request *r, const char *path)
{
	r->kind = REQUEST_LIST;
	snprintf(r->path, sizeof(r->path), "%s", path);
	state_of(u)->filter[0] = 0;
	choose(u, s, 0);
}

/* second: as the second trace. */
static void open_chosen(struct ui *u, const struct ui_scene *s, struct request *r, int second)
{
	const struct ui_file *file;

	settle(u, s);
	file = file_at(u, s, state_of(u)->at);
	if (!file)
		return;
	if (file->folder) {
		list_folder(u, s, r, file->path);
		return;
	}
	if (file->readable) {
		r->kind = REQUEST_OPEN;
		r->second = second;
		memcpy(r->path, file->path, sizeof(r->path));
		r->path[sizeof(r->path) - 1] = 0;
	}
	choose(u, s, state_of(u)->at);
}

static void list_parent(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	const struct ui_file *file;

	for (int i = 0; (file = file_at(u, s, i)) != NULL; i++)
		if (file->folder && !strcmp(file->name, "..")) {
			list_folder(u, s, r, file->path);
			return;
		}
}

static void close_second(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	if (s->with)
		r->kind = REQUEST_CLOSE_SECOND;
}

/* The first click selects a file, the second opens it. */
static bool files_click(struct ui *u, const struct ui_scene *s, int x, int y, struct request *r)
{
	int line = y - u->at.body.y - head_lines(u), at = u->over_scroll + line;

	if (line < 0 || at >= length(u, s) || line >= list_lines(u, s))
		return false;
	if (at == state_of(u)->at)
		open_chosen(u, s, r, 0);
	else
		choose(u, s, at);
	return true;
}

static void filter_changed(struct ui *u, const char *text)
{
	struct files *f = state_of(u);

	snprintf(f->filter, sizeof(f->filter), "%s", text);
	f->serial--; /* its index has changed */
	f->at = 0;
}

static void filter(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	static const struct prompt prompt = {.title = N_("filter:"),
					     .room = sizeof(state_of(NULL)->filter),
					     .hint = N_("Enter: keep   Esc: all"),
					     .backs_out = true,
					     .changed = filter_changed};

	prompt_open(u, &prompt, state_of(u)->filter, r->t_ns, &view_files);
}

static bool files_escape(struct ui *u)
{
	bool was = state_of(u)->filter[0] != 0;

	filter_changed(u, "");
	return was;
}

static const char *bar_beside(const struct ui *u, const struct ui_scene *s)
{
	return s->live ? NULL : _("beside");
}

static const char *bar_close(const struct ui *u, const struct ui_scene *s)
{
	return s->with ? _("close B") : NULL;
}

/* clang-format off */
static const struct key_entry keys[] = {
	{ KEYS_MARKS, WHEN_COVERED, { { K_ENTER, 0, 0 } },
	  open_chosen, "Enter", N_("open the selected trace or folder"), "Enter", N_("open"), NULL, 0 },
	{ KEYS_MARKS, WHEN_COVERED, { { 'b', 0, 1 } },
	  open_chosen, "b", N_("in the list: open it beside the one that is shown, to compare"), "b", NULL, bar_beside, 0 },
	{ KEYS_MARKS, WHEN_COVERED, { { 'B', 0, 0 } },
	  close_second, "B", N_("in the list: close the second trace"), "B", NULL, bar_close, 0 },
	{ KEYS_MARKS, WHEN_COVERED, { { K_BACKSPACE, 0, 0 }, { K_LEFT, 0, 0 } },
	  list_parent, NULL, NULL, "Left", N_("folder above"), NULL, 0 },
	{ KEYS_MARKS, WHEN_COVERED, { { '/', 0, 0 }, { 'f', 0, 0 } },
	  filter, NULL, NULL, "/", N_("filter"), NULL, 0 },
	{ .handler = NULL }
};
/* clang-format on */

const struct view view_files = {
	.keys = keys,
	.covers = true,
	.transient = true,
	.state = sizeof(struct files),
	.draw = files_draw,
	.move = files_move,
	.click = files_click,
	.escape = files_escape,
};
