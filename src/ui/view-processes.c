/* view-processes: lists the processes, by default those that use the GPU first, then by CPU
 * load. The selection belongs to a process, not to a line. */
#include "ui/processes.h"
#include "ui/draw.h"
#include "ui/screen.h"

#include "util/intl.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static struct processes *state_of(const struct ui *u)
{
	return ui_state(u, &view_processes);
}

/* The line of the selected process, or -1. */
static int selected_line(const struct processes *ps)
{
	for (int i = 0; i < ps->n; i++)
		if (ps->line[i].pid == ps->pid && ps->line[i].start == ps->start)
			return i;
	return -1;
}

static void choose(struct ui *u, int line)
{
	struct processes *ps = state_of(u);

	if (ps->n == 0)
		return;
	line = line < 0 ? 0 : line >= ps->n ? ps->n - 1 : line;
	ps->pid = ps->line[line].pid;
	ps->start = ps->line[line].start;
	if (line < u->scroll)
		u->scroll = line;
	if (ps->lines > 0 && line >= u->scroll + ps->lines)
		u->scroll = line - ps->lines + 1;
}

static void sort_by(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	struct processes *ps = state_of(u);

	ps->sort = (enum proc_sort)arg;
	ps->again = true;
	u->scroll = 0;
}

/* Draw the headings; a click on one sorts by it. */
static void draw_heads(struct ui *u, struct canvas *c, const struct proc_columns *k, int y)
{
	const int x[] = {[PROC_BY_PID] = k->pid,
			 [PROC_BY_GPU] = k->gpu,
			 [PROC_BY_CPU] = k->cpu,
			 [PROC_BY_MEMORY] = k->memory};

	processes_heads(u, c, k, y, state_of(u)->sort);
	canvas_text(c, k->command, y, k->command_w, STYLE_DIM, _("Command"));
	for (int i = 0; i < 4; i++)
		if (x[i])
			hit_add(u, x[i], y, 7, sort_by, i);
}

/* Draw the totals above the list. */
static void draw_total(struct ui *u, const struct ui_scene *s, struct canvas *c, const struct proc_columns *k, int y)
{
	const struct processes *ps = state_of(u);
	double cpu = NAN, gpu_kb = NAN;
	int running = 0, x = k->command, right = k->command + k->command_w;
	char text[96];

	for (int i = 0; i < ps->n; i++) {
		const struct proc *p = &s->procs->procs[ps->line[i].at];

		running += p->state == 'R';
		cpu = isnan(cpu) ? p->cpu : isnan(p->cpu) ? cpu : cpu + p->cpu;
		gpu_kb = isnan(gpu_kb) ? p->gpu_kb : isnan(p->gpu_kb) ? gpu_kb : gpu_kb + p->gpu_kb;
	}
	canvas_right(c, k->pid, y, 7, STYLE_DIM, _("Total"));
	processes_memory(text, gpu_kb);
	if (k->gpu)
		canvas_right(c, k->gpu, y, 8, STYLE_TEXT, text);
	snprintf(text, sizeof(text), "%.1f", cpu);
	canvas_right(c, k->cpu, y, 6, STYLE_TEXT, isnan(cpu) ? "--" : text);
	snprintf(text, sizeof(text), P_("%d process, %d running", "%d processes, %d running", (unsigned long)ps->n),
		 ps->n, running);
	x += screen_cut(u, c, x, y, right - x, STYLE_TEXT, text) + 2;
	snprintf(text, sizeof(text), P_("+%d kernel thread", "+%d kernel threads", (unsigned long)ps->hidden),
		 ps->hidden);
	if (ps->hidden && x + text_width(text) <= right)
		canvas_text(c, x, y, right - x, STYLE_DIM, text);
}

/* Draw the filter, and why GPU memory is missing, below the list. */
static void draw_foot(struct ui *u, const struct ui_scene *s, struct canvas *c, int y)
{
	const struct processes *ps = state_of(u);
	int x = u->at.name.x, right = c->w - x;

	if (ps->filter[0] && !modal_top(u))
		x += canvas_textf(c, x, y, right - x, STYLE_STRONG, _("filter: \"%s\""), ps->filter) + 2;
	if (s->procs->gpu_missing[0] && x < right)
		screen_cut(u, c, x, y, right - x, STYLE_DIM, s->procs->gpu_missing);
}

/* Draw the full command line of the selected process at the bottom of *h lines, and reduce *h. */
static void draw_whole(struct ui *u, const struct proc *p, struct canvas *c, int y, int *h)
{
	int x = u->at.name.x, w = c->w - 2 * x, lines;
	const char *text = p->command[0] ? p->command : p->name;
	char age[16], line[160];

	lines = text_lines(text, w);
	lines = lines < *h / 2 ? lines : *h / 2;
	if (lines < 1)
		return;
	*h -= lines + 1;
	y += *h;
	for (int i = 0; i < w; i++)
		canvas_put(c, x + i, y, STYLE_BORDER, screen_glyph(u, 0x2500, '-'));
	processes_age(age, p->age_s);
	snprintf(line, sizeof(line), P_(" %d, parent %d, %s, %ld thread, age %s ", " %d, parent %d, %s, %ld threads, age %s ",
				    (unsigned long)p->threads),
		 p->pid, p->parent, p->user, p->threads, age);
	screen_cut(u, c, x + 1, y, w - 2, STYLE_DIM, line);
	text_draw(u, c, x, y + 1, w, lines, STYLE_TEXT, text);
}

static void processes_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	int x = u->at.name.x, top = u->at.axis.h ? u->at.axis.y : u->at.body.y, at;
	int y = u->at.axis.h ? u->at.body.y : u->at.body.y + 1, h;
	struct proc_columns k = processes_columns(x, c->w - 2 * x);
	struct processes *ps = state_of(u);

	if (!s->live || s->remote) {
		text_draw(u, c, x, u->at.body.y, c->w - 2 * x, u->at.body.h, STYLE_DIM,
			  !s->live ? _("Traces have no list of processes; it is shown live only.")
				   : _("Streams have no list of processes; it is shown on the board itself."));
		return;
	}
	if (!s->procs || s->procs->n == 0) {
		canvas_text(c, x, u->at.body.y, c->w - 2 * x, STYLE_DIM, _("Reading the processes."));
		return;
	}
	processes_order(ps, s);
	processes_bars(u, s->procs, &ps->bars);
	draw_heads(u, c, &k, top);
	at = selected_line(ps);
	h = u->at.body.y + u->at.body.h - y;
	if (ps->filter[0] || s->procs->gpu_missing[0])
		draw_foot(u, s, c, y + --h);
	if (ps->whole && at >= 0)
		draw_whole(u, &s->procs->procs[ps->line[at].at], c, y, &h);
	draw_total(u, s, c, &k, y++);
	h = h > 1 ? h - 1 : 0;
	ps->lines = h;
	if (u->scroll > ps->n - h)
		u->scroll = ps->n - h;
	if (u->scroll < 0)
		u->scroll = 0;
	ps->first_y = y;
	for (int i = u->scroll; i < ps->n && i < u->scroll + h; i++)
		processes_line(u, c, &k, &ps->bars, &s->procs->procs[ps->line[i].at],
			       ps->tree ? ps->line[i].depth : 0, y++, i == at);
	u->frame.below = ps->n - u->scroll - h;
}

static void processes_move(struct ui *u, const struct ui_scene *s, enum move how, int by)
{
	const struct processes *ps = state_of(u);
	int lines = view_lines(how, by, ps->lines > 1 ? ps->lines - 1 : 1);
	int at = selected_line(ps);

	if (how == MOVE_WHEEL)
		view_scroll(&u->scroll, lines, ps->n);
	else if (s->live)
		choose(u, at >= 0 ? at + lines : how == MOVE_PAGE ? u->scroll + lines : u->scroll);
}

static const char *bar_kill(const struct ui *u, const struct ui_scene *s)
{
	return state_of(u)->pid && !s->procs_kept ? _("kill") : NULL;
}

static const char *bar_whole(const struct ui *u, const struct ui_scene *s)
{
	return state_of(u)->pid ? _("command") : NULL;
}

static void show_tree(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	struct processes *ps = state_of(u);

	ps->tree = !ps->tree;
	ps->again = true;
}

static void show_kernel(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	struct processes *ps = state_of(u);

	ps->kernel = !ps->kernel;
	ps->again = true;
}

static void show_whole(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	struct processes *ps = state_of(u);

	ps->whole = !ps->whole && ps->pid;
}

static void filter_changed(struct ui *u, const char *text)
{
	struct processes *ps = state_of(u);

	snprintf(ps->filter, sizeof(ps->filter), "%s", text);
	ps->again = true;
	u->scroll = 0;
}

static void filter(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	static const struct prompt prompt = {.title = N_("filter:"),
					     .room = sizeof(state_of(NULL)->filter),
					     .hint = N_("Enter: keep   Esc: all"),
					     .changed = filter_changed};

	prompt_open(u, &prompt, state_of(u)->filter, r->t_ns, &view_processes);
}

/* Only y, Y and 9 confirm. */
static bool kill_key(struct ui *u, const struct ui_scene *s, const struct event *ev, struct request *r)
{
	const struct processes *ps = state_of(u);

	if (ev->pasted || (ev->mods & (MOD_CTRL | MOD_ALT)))
		return true;
	if (ev->key == 'y' || ev->key == 'Y' || ev->key == '9') {
		r->kind = REQUEST_KILL;
		r->pid = ps->pid;
		r->start = ps->start;
		r->sig = ev->key == '9' ? SIGKILL : SIGTERM;
	}
	return true;
}

static bool kill_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	int x = u->at.name.x, y = u->at.bar.y, right = c->w - x, at;
	struct processes *ps = state_of(u);
	char text[160];

	if (!s->procs)
		return false;
	processes_order(ps, s);
	at = selected_line(ps);
	if (at < 0)
		return false;
	snprintf(text, sizeof(text), _("Kill %s (%d)?"), s->procs->procs[ps->line[at].at].name, ps->pid);
	x += canvas_text(c, x, y, right - x, STYLE_WARN, text) + 2;
	canvas_text(c, x, y, right - x, STYLE_KEY_TEXT,
		    _("y: SIGTERM   9: SIGKILL   any other key: cancel"));
	return true;
}

static void ask_kill(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	static const struct modal question = {kill_key, kill_draw, true};

	if (s->procs_kept)
		screen_say(u, STYLE_DIM, "%s", s->procs_kept);
	else if (selected_line(state_of(u)) >= 0)
		modal_open(u, &question, &view_processes);
}

static bool processes_escape(struct ui *u)
{
	struct processes *ps = state_of(u);

	if (ps->whole)
		ps->whole = false;
	else if (ps->filter[0])
		filter_changed(u, "");
	else if (ps->pid)
		ps->pid = 0;
	else
		return false;
	return true;
}

static bool processes_click(struct ui *u, const struct ui_scene *s, int x, int y, struct request *r)
{
	const struct processes *ps = state_of(u);
	int line = u->scroll + y - ps->first_y;

	if (!s->procs || y < ps->first_y || y >= ps->first_y + ps->lines || line >= ps->n)
		return false;
	if (line == selected_line(ps))
		show_whole(u, s, r, 0);
	else
		choose(u, line);
	return true;
}

static void processes_free(void *state)
{
	free(((struct processes *)state)->line);
}

/* clang-format off */
static const struct key_entry keys[] = {
	{ KEYS_PROCESSES, WHEN_LIVE, { { 'G', 0, PROC_BY_GPU }, { 'P', 0, PROC_BY_CPU }, { 'M', 0, PROC_BY_MEMORY }, { 'N', 0, PROC_BY_PID } },
	  sort_by, "G P M N", N_("sort by GPU, CPU, memory, PID"), "G P M N", N_("sort"), NULL, 0 },
	{ KEYS_PROCESSES, WHEN_LIVE, { { 't', 0, 0 } },
	  show_tree, "t", N_("toggle tree"), "t", N_("tree"), NULL, 0 },
	{ KEYS_PROCESSES, WHEN_LIVE, { { 'T', 0, 0 } },
	  show_kernel, "T", N_("toggle kernel threads"), "T", N_("kernel"), NULL, 0 },
	{ KEYS_PROCESSES, WHEN_LIVE, { { K_ENTER, 0, 0 } },
	  show_whole, "Enter", N_("show the whole command line"), "Enter", NULL, bar_whole, WHEN_LIVE },
	{ KEYS_PROCESSES, WHEN_LIVE, { { 'f', 0, 0 }, { '/', 0, 0 } },
	  filter, "f", N_("filter"), "f", N_("filter"), NULL, 0 },
	{ KEYS_PROCESSES, WHEN_LIVE, { { 'x', 0, 0 }, { K_DELETE, 0, 0 } },
	  ask_kill, "x", N_("kill the selected process (asks first)"), "x", NULL, bar_kill, WHEN_LIVE },
	{ .handler = NULL }
};
/* clang-format on */

const struct view view_processes = {
	.name = "processes",
	.label = N_("Processes"),
	.key = '8',
	.keys = keys,
	.plain = true,
	.procs = 1,
	.state = sizeof(struct processes),
	.free = processes_free,
	.draw = processes_draw,
	.move = processes_move,
	.click = processes_click,
	.escape = processes_escape,
};
