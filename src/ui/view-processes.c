/* view-processes: who uses this machine; those that use the GPU first, then by
 * what they take of the CPU.  What is chosen is the process and not its line. */
#include "ui/screen.h"

#include "util/intl.h"

#include <math.h>
#include <signal.h>
#include <string.h>

/* The line of the process that was chosen, or -1. */
static int selected_line(const struct ui *u)
{
	for (int i = 0; i < u->procs.n; i++)
		if (u->procs.line[i].pid == u->procs.pid && u->procs.line[i].start == u->procs.start)
			return i;
	return -1;
}

static void choose(struct ui *u, int line)
{
	if (u->procs.n == 0)
		return;
	line = line < 0 ? 0 : line >= u->procs.n ? u->procs.n - 1 : line;
	u->procs.pid = u->procs.line[line].pid;
	u->procs.start = u->procs.line[line].start;
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

static void head(struct ui *u, struct canvas *c, int x, int y, int w, const char *text, enum action a,
		 bool here)
{
	int width = text_width(text);

	canvas_text(c, x + (w > width ? w - width : 0), y, w, here ? STYLE_STRONG : STYLE_DIM, text);
	if (u->n_hits < (int)(sizeof(u->hits) / sizeof(u->hits[0])))
		u->hits[u->n_hits++] = (struct hit) {x, y, w, a};
}

static void draw_heads(struct ui *u, struct canvas *c, const struct columns *k, int y)
{
	enum proc_sort by = u->procs.sort;

	head(u, c, k->pid, y, 7, _("PID"), ACT_PROC_PID, by == PROC_BY_PID);
	if (k->user)
		canvas_text(c, k->user, y, k->user_w, STYLE_DIM, _("User"));
	if (k->state)
		canvas_text(c, k->state, y, 1, STYLE_DIM, "S");
	if (k->threads)
		canvas_right(c, k->threads, y, 6, STYLE_DIM, _("Thr"));
	head(u, c, k->cpu, y, 7, _("CPU %"), ACT_PROC_CPU, by == PROC_BY_CPU);
	if (k->memory)
		head(u, c, k->memory, y, 8, _("RSS"), ACT_PROC_MEMORY, by == PROC_BY_MEMORY);
	if (k->gpu)
		head(u, c, k->gpu, y, 8, _("GPU mem"), ACT_PROC_GPU, by == PROC_BY_GPU);
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
	if (u->procs.tree)
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
	int x = u->at.name.x, right = c->w - x;
	char text[96];

	snprintf(text, sizeof(text), P_("%d process", "%d processes", (unsigned long)u->procs.n), u->procs.n);
	x += canvas_text(c, x, y, right - x, STYLE_DIM, text) + 2;
	if (u->procs.filter[0] && !u->procs.filtering) {
		snprintf(text, sizeof(text), _("with \"%s\""), u->procs.filter);
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

	if (!s->live) {
		text_draw(u, c, x, u->at.body.y, c->w - 2 * x, u->at.body.h, STYLE_DIM,
			  _("Traces have no list of processes; it is shown live only."));
		return;
	}
	if (s->remote) {
		text_draw(u, c, x, u->at.body.y, c->w - 2 * x, u->at.body.h, STYLE_DIM,
			  _("Streams have no list of processes; it is shown on the board itself."));
		return;
	}
	if (!s->procs || s->procs->n == 0) {
		canvas_text(c, x, u->at.body.y, c->w - 2 * x, STYLE_DIM, _("Reading the processes."));
		return;
	}
	processes_order(u, s);
	draw_heads(u, c, &k, top);
	at = selected_line(u);
	if (u->scroll > u->procs.n - (end - y))
		u->scroll = u->procs.n - (end - y);
	if (u->scroll < 0)
		u->scroll = 0;
	u->procs.first_y = y;
	for (int i = u->scroll; i < u->procs.n && y < end; i++, y++)
		draw_proc(u, c, &k, &s->procs->procs[u->procs.line[i].at], u->procs.line[i].depth, y,
			  i == at);
	u->below = u->procs.n - u->scroll - (end - u->procs.first_y);
	if (end > u->procs.first_y)
		draw_foot(u, s, c, end);
}

static void sort_by(struct ui *u, enum proc_sort by)
{
	u->procs.sort = by;
	u->procs.again = true;
	u->scroll = 0;
}

static bool processes_act(struct ui *u, const struct ui_scene *s, enum action a, struct request *r)
{
	int at = selected_line(u), page = u->at.body.h > 2 ? u->at.body.h - 2 : 1;

	if (!s->live)
		return false;
	r->redraw = true;
	switch (a) {
	case ACT_UP:
	case ACT_DOWN:
		choose(u, at < 0 ? u->scroll : at + (a == ACT_UP ? -1 : 1));
		return true;
	case ACT_PAGE_UP:
	case ACT_PAGE_DOWN:
		choose(u, (at < 0 ? u->scroll : at) + (a == ACT_PAGE_UP ? -page : page));
		return true;
	case ACT_PROC_GPU:
	case ACT_PROC_CPU:
	case ACT_PROC_MEMORY:
	case ACT_PROC_PID:
		sort_by(u, (enum proc_sort)(PROC_BY_GPU + (a - ACT_PROC_GPU)));
		return true;
	case ACT_PROC_TREE:
		u->procs.tree = !u->procs.tree;
		u->procs.again = true;
		return true;
	case ACT_PROC_FILTER:
		u->procs.filtering = u->at.bar.h > 0;
		return true;
	case ACT_PROC_KILL:
		u->procs.asking = at >= 0;
		return true;
	case ACT_ESC:
		if (u->procs.filter[0]) {
			u->procs.filter[0] = 0;
			u->procs.again = true;
			return true;
		}
		if (u->procs.pid) {
			u->procs.pid = 0;
			return true;
		}
		return false;
	default:
		return false;
	}
}

/* The answer to whether the chosen one is to end: only these three keys say yes. */
void processes_answer(const struct ui *u, const struct event *ev, struct request *r)
{
	r->redraw = true;
	if (ev->pasted || (ev->mods & (MOD_CTRL | MOD_ALT)))
		return;
	if (ev->key == 'y' || ev->key == 'Y' || ev->key == '9') {
		r->kind = REQUEST_KILL;
		r->pid = u->procs.pid;
		r->start = u->procs.start;
		r->sig = ev->key == '9' ? SIGKILL : SIGTERM;
	}
}

static void filter_key(struct ui *u, const struct event *ev)
{
	char *text = u->procs.filter;

	u->procs.again = true;
	u->scroll = 0;
	if (ev->key == K_ENTER && !ev->pasted) {
		u->procs.filtering = false;
	} else if (ev->key == K_ESC && !ev->pasted) {
		u->procs.filtering = false;
		text[0] = 0;
	} else {
		prompt_edit(text, sizeof(u->procs.filter), ev->key);
	}
}

bool processes_key(struct ui *u, const struct event *ev, struct request *r)
{
	if (u->view != &view_processes || u->over || !u->procs.filtering || (ev->mods & (MOD_CTRL | MOD_ALT)))
		return false;
	r->redraw = true;
	filter_key(u, ev);
	return true;
}

bool processes_bar(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	int x = u->at.name.x, y = u->at.bar.y, right = c->w - x, at;
	char text[160];

	if (u->view != &view_processes || u->over || !s->procs)
		return false;
	processes_order(u, s);
	at = u->procs.asking ? selected_line(u) : -1;
	if (at >= 0) {
		u->procs.asked = true;
		snprintf(text, sizeof(text), _("End %s (%d)?"), s->procs->procs[u->procs.line[at].at].name,
			 u->procs.pid);
		x += canvas_text(c, x, y, right - x, STYLE_WARN, text) + 2;
		canvas_text(c, x, y, right - x, STYLE_KEY_TEXT,
			    _("y: ask it to (SIGTERM)   9: make it (SIGKILL)   any other key: no"));
		return true;
	}
	if (u->procs.filtering) {
		x += canvas_text(c, x, y, right - x, STYLE_KEY, _("filter:")) + 1;
		x += canvas_text(c, x, y, right - x - 1, STYLE_STRONG, u->procs.filter);
		if (x < right)
			canvas_put(c, x++, y, STYLE_SELECTED, L' ');
		canvas_text(c, x + 2, y, right - x - 2, STYLE_KEY_TEXT, _("Enter: keep   Esc: all"));
		return true;
	}
	return false;
}

static bool processes_click(struct ui *u, const struct ui_scene *s, int x, int y, struct request *r)
{
	int line = u->scroll + y - u->procs.first_y;

	(void)x;
	(void)r;
	if (!s->procs || y < u->procs.first_y || y >= u->at.body.y + u->at.body.h - 1 || line >= u->procs.n)
		return false;
	choose(u, line);
	return true;
}

static int processes_length(const struct ui *u, const struct ui_scene *s)
{
	(void)s;
	return u->procs.n;
}

const struct view view_processes = {.name = "processes",
				    .label = N_("Processes"),
				    .key = '8',
				    .keys = WHEN_PROCESSES,
				    .plain = true,
				    .draw = processes_draw,
				    .act = processes_act,
				    .length = processes_length,
				    .click = processes_click};
