/* processes-draw: draws a process as one line of numbers, bars and the command line.
 *
 * Python programs differ only in their arguments, so the folder of the program is dropped before
 * any argument is cut. The script of an interpreter is highlighted too. */
#include "ui/processes.h"

#include "ui/draw.h"
#include "ui/meter.h"
#include "ui/rows.h"
#include "ui/screen.h"
#include "util/intl.h"

#include <math.h>
#include <string.h>

#define MEMORY_W 8
#define CPU_W    6

static int take(int *x, int w)
{
	int at = *x;

	*x += w;
	return at;
}

struct proc_columns processes_columns(int x, int w)
{
	struct proc_columns k = {.user_w = w >= 150 ? 12 : 8, .bar_w = w >= 150 ? 12 : w >= 100 ? 8 : w >= 72 ? 4 : 0};
	int right = x + w, bar = k.bar_w ? k.bar_w + 2 : 0;

	k.pid = take(&x, 8);
	if (w >= 100) {
		k.user = take(&x, k.user_w + 1);
		k.state = take(&x, 2);
	}
	if (w >= 150) {
		k.threads = take(&x, 6);
		k.age = take(&x, 8);
	}
	if (w >= 36)
		k.gpu = take(&x, MEMORY_W + bar + 1);
	k.cpu = take(&x, CPU_W + bar + 1);
	if (w >= 44)
		k.memory = take(&x, MEMORY_W - 2 + bar + 1);
	k.command = x + 1;
	k.command_w = right > k.command ? right - k.command : 0;
	return k;
}

void processes_bars(const struct ui *u, const struct procs_list *l, struct proc_bars *bars)
{
	int ram = u->about ? rows_find(u->about, CHANNEL_RAM_USED, -1) : -1, gpu = u->about ? rows_gpu_memory(u->about) : -1;
	double most = 0;

	bars->rss_kb = ram < 0 ? NAN : u->about->channels[ram].hi;
	bars->gpu_kb = gpu < 0 ? NAN : u->about->channels[gpu].hi;
	if (isnan(bars->gpu_kb))
		bars->gpu_kb = bars->rss_kb;
	for (size_t i = 0; i < l->n; i++)
		most = fmax(most, l->procs[i].cpu);
	/* Shrink only if far less is needed, so that the bar does not jump. */
	if (most < bars->cpu / 4)
		bars->cpu = 0;
	for (bars->cpu = fmax(bars->cpu, 100); bars->cpu < most;)
		bars->cpu *= 2;
}

void processes_memory(char out[16], double kb)
{
	static const char *const unit[] = {"K", "M", "G", "T"};
	int i = 0;

	if (isnan(kb)) {
		strcpy(out, "--");
		return;
	}
	while (kb >= 999.5 && i < 3) {
		kb /= 1024;
		i++;
	}
	snprintf(out, 16, kb < 9.95 && i ? "%.1f %s" : "%.0f %s", kb, unit[i]);
}

void processes_age(char out[16], double s)
{
	if (!(s >= 0 && s < 1e9))
		strcpy(out, "--");
	else if (s < 60)
		snprintf(out, 16, "%d s", (int)s);
	else if (s < 3600)
		snprintf(out, 16, "%d min", (int)s / 60);
	else
		snprintf(out, 16, s < 172800 ? "%d h" : "%d d", (int)s / (s < 172800 ? 3600 : 86400));
}

void processes_heads(const struct ui *u, struct canvas *c, const struct proc_columns *k, int y, enum proc_sort sort)
{
	const struct {
		int x, w;
		const char *text;
		int sort; /* -1: not sortable */
	} heads[] = {
		{k->pid, 7, _("PID"), PROC_BY_PID},
		{k->threads, 5, _("Thr"), -1},
		{k->age, 7, _("Age"), -1},
		{k->gpu, MEMORY_W, _("GPU mem"), PROC_BY_GPU},
		{k->cpu, CPU_W, _("CPU %"), PROC_BY_CPU},
		{k->memory, MEMORY_W - 2, _("RSS"), PROC_BY_MEMORY},
	};
	char text[64];

	/* Headings have a blank on each side because they can be part of a border. */
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		snprintf(text, sizeof(text), " %s ", heads[i].text);
		if (heads[i].x)
			canvas_right(c, heads[i].x - 1, y, heads[i].w + 2,
				     heads[i].sort == (int)sort ? STYLE_STRONG : STYLE_DIM, text);
	}
	if (k->user)
		canvas_text(c, k->user, y, k->user_w, STYLE_DIM, _("User"));
	if (k->state)
		canvas_text(c, k->state - 1, y, 3, STYLE_DIM, " S ");
}

/* Draw a number and, if there is room, its bar. */
static void draw_number(const struct ui *u, struct canvas *c, const struct proc_columns *k, int x, int y, int w,
			const char *text, enum style style, double part, enum hue hue)
{
	if (!x)
		return;
	canvas_right(c, x, y, w, style, text);
	if (k->bar_w && !isnan(part))
		meter_draw(c, u->charset, x + w + 1, y, k->bar_w, part, hue, ALARM_NONE);
}

static bool is_interpreter(const char *base)
{
	static const char *const names[] = {"python", "perl", "ruby", "node", "java", "bash", "sh "};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(base, names[i], strlen(names[i])))
			return true;
	return false;
}

/* Skip the folder of the word at *word. */
static void base_name(const char **word, size_t *n)
{
	*n = strcspn(*word, " ");
	for (size_t i = *n; i-- > 0;)
		if ((*word)[i] == '/') {
			*word += i + 1;
			*n -= i + 1;
			return;
		}
}

/* The first argument that is not an option, or NULL. */
static const char *script_of(const char *text)
{
	while ((text = strchr(text, ' ')) && text[strspn(text, " ")] == '-')
		text += strspn(text, " ");
	return text ? text + strspn(text, " ") : NULL;
}

/* Redraw n bytes at `at`, a part of `text`, in another style. */
static void restyle(struct canvas *c, int x, int y, int w, enum style style, const char *text, const char *at, size_t n)
{
	char part[PROC_COMMAND];
	int before;

	snprintf(part, sizeof(part), "%.*s", (int)(at - text), text);
	before = text_width(part);
	snprintf(part, sizeof(part), "%.*s", (int)n, at);
	if (before < w)
		canvas_text(c, x + before, y, w - before, style, part);
}

static void draw_command(const struct ui *u, struct canvas *c, int x, int y, int w, const struct proc *p, bool chosen)
{
	bool idle = !(p->cpu >= 0.05) && !p->gpu;
	enum style dim = chosen ? STYLE_SELECTED : STYLE_DIM, rest = idle ? dim : chosen ? STYLE_SELECTED : STYLE_TEXT;
	enum style strong = chosen   ? STYLE_SELECTED
			    : p->gpu ? STYLE_GPU
			    : idle   ? STYLE_TEXT
				     : STYLE_STRONG;
	const char *text = p->command[0] ? p->command : p->name, *base = text, *script;
	size_t n;

	if (p->kernel || !p->command[0]) {
		screen_cut(u, c, x, y, w, dim, text);
		return;
	}
	base_name(&base, &n);
	if (text_width(text) > w)
		text = base;
	screen_cut(u, c, x, y, w, rest, text);
	w -= text_width(text) > w;
	restyle(c, x, y, w, dim, text, text, (size_t)(base - text));
	restyle(c, x, y, w, strong, text, base, n);
	script = is_interpreter(base) ? script_of(base) : NULL;
	if (!script)
		return;
	base_name(&script, &n);
	restyle(c, x, y, w, strong, text, script, n);
}

void processes_line(const struct ui *u, struct canvas *c, const struct proc_columns *k, const struct proc_bars *bars,
		    const struct proc *p, int depth, int y, bool chosen)
{
	enum style text = chosen ? STYLE_SELECTED : STYLE_TEXT, dim = chosen ? STYLE_SELECTED : STYLE_DIM;
	enum style strong = chosen ? STYLE_SELECTED : STYLE_STRONG;
	int x = k->command, w = k->command_w;
	char buf[32];

	for (int i = k->pid; chosen && i < x + w; i++)
		canvas_put(c, i, y, STYLE_SELECTED, L' ');
	snprintf(buf, sizeof(buf), "%d", p->pid);
	canvas_right(c, k->pid, y, 7, dim, buf);
	if (k->user)
		screen_cut(u, c, k->user, y, k->user_w, dim, p->user);
	if (k->state)
		canvas_put(c, k->state, y, p->state == 'R' ? strong : dim, (wchar_t)p->state);
	snprintf(buf, sizeof(buf), "%ld", p->threads);
	if (k->threads)
		canvas_right(c, k->threads, y, 5, dim, buf);
	processes_age(buf, p->age_s);
	if (k->age)
		canvas_right(c, k->age, y, 7, dim, buf);
	processes_memory(buf, p->gpu_kb);
	draw_number(u, c, k, k->gpu, y, MEMORY_W, buf, p->gpu_kb > 0 ? strong : dim, p->gpu_kb / bars->gpu_kb, HUE_GPU);
	snprintf(buf, sizeof(buf), "%.1f", p->cpu);
	draw_number(u, c, k, k->cpu, y, CPU_W, isnan(p->cpu) ? "--" : buf, p->cpu >= 0.05 ? strong : dim,
		    p->cpu / bars->cpu, HUE_CPU);
	processes_memory(buf, p->rss_kb);
	draw_number(u, c, k, k->memory, y, MEMORY_W - 2, buf, p->rss_kb > 0 ? text : dim, p->rss_kb / bars->rss_kb,
		    HUE_MEMORY);
	if (depth > 0) {
		x += 2 * (depth < PROC_DEPTH_MAX ? depth : PROC_DEPTH_MAX);
		if (x < k->command + w)
			canvas_put(c, x - 2, y, dim, screen_glyph(u, 0x2514, '`'));
	}
	w -= x - k->command;
	if (p->self && w > 16)
		w -= 1 + canvas_right(c, x, y, w, dim, _("(this)"));
	if (w > 0)
		draw_command(u, c, x, y, w, p, chosen);
}
