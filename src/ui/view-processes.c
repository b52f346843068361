/* view-processes: who uses this machine; those that use the GPU first, then by
 * what they take of the CPU.  What is chosen is the process and not its line. */
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

/* The line of the process that was chosen, or -1. */
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
	if (u->at.body.h > 1 && line >= u->scroll + u->at.body.h - 1)
		u->scroll = line - u->at.body.h + 2;
}

/* Columns from the left; a width of 0: there is no room for it. */
struct columns {
	int pid, user, state, threads, cpu, memory, gpu, name;
	int user_w, name_w;
};

static struct columns columns_of(int x, int w)
{
	struct columns k = {.pid = x};

	x += 8;
	if (w >= 70) {
		k.user = x;
		k.user_w = w >= 100 ? 14 : 9;
		x += k.user_w + 1;
	}
	if (w >= 60) {
		k.state = x;
		x += 2;
	}
	if (w >= 90) {
		k.threads = x;
		x += 7;
	}
	k.cpu = x;
	x += 8;
	if (w >= 44) {
		k.memory = x;
		x += 9;
	}
	if (w >= 36) {
		k.gpu = x;
		x += 9;
	}
	k.name = x + 1;
	k.name_w = w + 1 - k.name > 0 ? w + 1 - k.name : 0;
	return k;
}

/* Three digits and a unit of 1024. */
static void memory_text(char out[16], double kb)
{
	static const char *const unit[] = {"K", "M", "G", "T"};
	int i = 0;

	while (kb >= 999.5 && i < 3) {
		kb /= 1024;
		i++;
	}
	snprintf(out, 16, kb < 9.95 && i ? "%.1f %s" : "%.0f %s", kb, unit[i]);
}

static void draw_memory(struct canvas *c, int x, int y, enum style style, double kb, bool none)
{
	char text[16] = "--";

	if (!none)
		memory_text(text, kb);
	canvas_right(c, x, y, 8, style == STYLE_SELECTED ? style : none || kb <= 0 ? STYLE_DIM : style, text);
}

static void sort_by(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	struct processes *ps = state_of(u);

	ps->sort = (enum proc_sort)arg;
	ps->again = true;
	u->scroll = 0;
}

static void head(struct ui *u, struct canvas *c, int x, int y, int w, const char *text, enum proc_sort by)
{
	bool here = state_of(u)->sort == by;
	int width = text_width(text);

	canvas_text(c, x + (w > width ? w - width : 0), y, w, here ? STYLE_STRONG : STYLE_DIM, text);
	hit_add(u, x, y, w, sort_by, (int)by);
}

static void draw_heads(struct ui *u, struct canvas *c, const struct columns *k, int y)
{
	head(u, c, k->pid, y, 7, _("PID"), PROC_BY_PID);
	if (k->user)
		canvas_text(c, k->user, y, k->user_w, STYLE_DIM, _("User"));
	if (k->state)
		canvas_text(c, k->state, y, 1, STYLE_DIM, "S");
	if (k->threads)
		canvas_right(c, k->threads, y, 6, STYLE_DIM, _("Thr"));
	head(u, c, k->cpu, y, 7, _("CPU %"), PROC_BY_CPU);
	if (k->memory)
		head(u, c, k->memory, y, 8, _("RSS"), PROC_BY_MEMORY);
	if (k->gpu)
		head(u, c, k->gpu, y, 8, _("GPU mem"), PROC_BY_GPU);
	canvas_text(c, k->name, y, k->name_w, STYLE_DIM, _("Name"));
}

static void draw_proc(struct ui *u, struct canvas *c, const struct columns *k, const struct proc *p,
		      int depth, int y, bool chosen)
{
	enum style text = chosen ? STYLE_SELECTED : STYLE_TEXT, dim = chosen ? STYLE_SELECTED : STYLE_DIM;
	bool idle = !isnan(p->cpu) && p->cpu < 0.05;
	char buf[32];
	int x = k->name;

	for (int i = k->pid; chosen && i < c->w - k->pid; i++)
		canvas_put(c, i, y, STYLE_SELECTED, L' ');
	snprintf(buf, sizeof(buf), "%d", p->pid);
	canvas_right(c, k->pid, y, 7, dim, buf);
	if (k->user)
		canvas_text(c, k->user, y, k->user_w, dim, p->user);
	if (k->state)
		canvas_put(c, k->state, y, p->state == 'R' ? text : dim, (wchar_t)p->state);
	if (k->threads) {
		snprintf(buf, sizeof(buf), "%ld", p->threads);
		canvas_right(c, k->threads, y, 6, dim, buf);
	}
	snprintf(buf, sizeof(buf), "%.1f", p->cpu);
	canvas_right(c, k->cpu, y, 7,
		     chosen                  ? STYLE_SELECTED
		     : isnan(p->cpu) || idle ? STYLE_DIM
					     : STYLE_STRONG,
		     isnan(p->cpu) ? "--" : buf);
	if (k->memory)
		draw_memory(c, k->memory, y, text, p->rss_kb, false);
	/* A process that maps nothing has 0, and is quiet about it. */
	if (k->gpu)
		draw_memory(c, k->gpu, y,
			    chosen   ? STYLE_SELECTED
			    : p->gpu ? STYLE_GPU
				     : STYLE_DIM,
			    p->gpu_kb, isnan(p->gpu_kb));
	if (state_of(u)->tree)
		x += 2 * (depth < PROC_DEPTH_MAX ? depth : PROC_DEPTH_MAX);
	x += screen_cut(u, c, x, y, k->name + k->name_w - x,
			p->self  ? dim
			: chosen ? STYLE_SELECTED
			: p->gpu ? STYLE_GPU
			: idle   ? STYLE_DIM
				 : STYLE_TEXT,
			p->name);
	if (p->self)
		canvas_text(c, x + 1, y, k->name + k->name_w - x - 1, dim, _("(this)"));
}

/* Below the list: how many, and what is not known. */
static void draw_foot(struct ui *u, const struct ui_scene *s, struct canvas *c, int y)
{
	const struct processes *ps = state_of(u);
	int x = u->at.name.x, right = c->w - x;
	char text[96];

	snprintf(text, sizeof(text), P_("%d process", "%d processes", (unsigned long)ps->n), ps->n);
	x += canvas_text(c, x, y, right - x, STYLE_DIM, text) + 2;
	if (ps->filter[0] && !modal_top(u)) {
		snprintf(text, sizeof(text), _("with \"%s\""), ps->filter);
		x += canvas_text(c, x, y, right - x, STYLE_WARN, text) + 2;
	}
	if (s->procs->gpu_missing[0] && x < right)
		screen_cut(u, c, x, y, right - x, STYLE_DIM, s->procs->gpu_missing);
}

static void processes_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	int x = u->at.name.x, top = u->at.axis.h ? u->at.axis.y : u->at.body.y, at;
	int y = u->at.axis.h ? u->at.body.y : u->at.body.y + 1, end = u->at.body.y + u->at.body.h - 1;
	struct columns k = columns_of(x, c->w - x);
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
	draw_heads(u, c, &k, top);
	at = selected_line(ps);
	if (u->scroll > ps->n - (end - y))
		u->scroll = ps->n - (end - y);
	if (u->scroll < 0)
		u->scroll = 0;
	ps->first_y = y;
	for (int i = u->scroll; i < ps->n && y < end; i++, y++)
		draw_proc(u, c, &k, &s->procs->procs[ps->line[i].at], ps->line[i].depth, y,
			  i == at);
	u->frame.below = ps->n - u->scroll - (end - ps->first_y);
	if (end > ps->first_y)
		draw_foot(u, s, c, end);
}

static void processes_move(struct ui *u, const struct ui_scene *s, enum move how, int by)
{
	int page = u->at.body.h > 2 ? u->at.body.h - 2 : 1, lines = view_lines(how, by, page);
	const struct processes *ps = state_of(u);
	int at = selected_line(ps);

	if (how == MOVE_WHEEL)
		view_scroll(&u->scroll, lines, ps->n);
	else if (s->live)
		choose(u, at >= 0 ? at + lines : how == MOVE_PAGE ? u->scroll + lines : u->scroll);
}

static const char *bar_kill(const struct ui *u, const struct ui_scene *s)
{
	return state_of(u)->pid ? _("end") : NULL;
}

static void show_tree(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	struct processes *ps = state_of(u);

	ps->tree = !ps->tree;
	ps->again = true;
}

static void filter_changed(struct ui *u, const char *text)
{
	struct processes *ps = state_of(u);

	snprintf(ps->filter, sizeof(ps->filter), "%s", text);
	ps->again = true;
	u->scroll = 0;
}

static bool filter_enter(struct ui *u, const struct ui_scene *s, struct request *r)
{
	return true;
}

static void filter(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	static const struct prompt prompt = {.title = N_("filter:"),
					     .room = sizeof(state_of(NULL)->filter),
					     .hint = N_("Enter: keep   Esc: all"),
					     .enter = filter_enter,
					     .changed = filter_changed};

	prompt_open(u, &prompt, state_of(u)->filter, r->t_ns, &view_processes);
}

/* Only these three keys say yes. */
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
	snprintf(text, sizeof(text), _("End %s (%d)?"), s->procs->procs[ps->line[at].at].name, ps->pid);
	x += canvas_text(c, x, y, right - x, STYLE_WARN, text) + 2;
	canvas_text(c, x, y, right - x, STYLE_KEY_TEXT,
		    _("y: ask it to (SIGTERM)   9: make it (SIGKILL)   any other key: no"));
	return true;
}

static void ask_kill(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	static const struct modal question = {kill_key, kill_draw, true};

	if (selected_line(state_of(u)) >= 0)
		modal_open(u, &question, &view_processes);
}

static bool processes_escape(struct ui *u)
{
	struct processes *ps = state_of(u);

	if (ps->filter[0])
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

	if (!s->procs || y < ps->first_y || y >= u->at.body.y + u->at.body.h - 1 || line >= ps->n)
		return false;
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
	  show_tree, "t", N_("show as a tree, on or off"), "t", N_("tree"), NULL, 0 },
	{ KEYS_PROCESSES, WHEN_LIVE, { { 'f', 0, 0 }, { '/', 0, 0 } },
	  filter, "f", N_("show only matching processes"), "f", N_("filter"), NULL, 0 },
	{ KEYS_PROCESSES, WHEN_LIVE, { { 'x', 0, 0 }, { K_DELETE, 0, 0 } },
	  ask_kill, "x", N_("end the selected process (asks first)"), "x", NULL, bar_kill, 0 },
	{ .handler = NULL }
};
/* clang-format on */

const struct view view_processes = {
	.name = "processes",
	.label = N_("Processes"),
	.key = '8',
	.keys = keys,
	.plain = true,
	.procs = true,
	.state = sizeof(struct processes),
	.free = processes_free,
	.draw = processes_draw,
	.move = processes_move,
	.click = processes_click,
	.escape = processes_escape,
};
