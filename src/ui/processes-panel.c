/* processes-panel: the busiest processes, below the current values of the overview. */
#include "ui/processes.h"

#include "ui/draw.h"
#include "ui/screen.h"
#include "util/intl.h"

void processes_panel_draw(struct ui *u, const struct ui_scene *s, struct canvas *c, const struct rect *at)
{
	struct proc_columns k = processes_columns(at->x + 1, at->w - 3);
	struct processes *ps = ui_state(u, &view_processes);
	size_t busiest[PROCESSES_PANEL_LINES - 2];
	int n, room = at->h - 2 < PROCESSES_PANEL_LINES - 2 ? at->h - 2 : PROCESSES_PANEL_LINES - 2;

	box_draw(u, c, at);
	canvas_textf(c, at->x + 2, at->y, at->w, STYLE_DIM, " %s ", _("processes"));
	if (!s->procs || !s->procs->n) {
		canvas_text(c, at->x + 2, at->y + 1, at->w - 4, STYLE_DIM, _("Reading the processes."));
		return;
	}
	processes_heads(u, c, &k, at->y, PROC_BY_GPU);
	canvas_textf(c, at->x + 2, at->y, at->w, STYLE_DIM, " %s ", _("processes"));
	processes_bars(u, s->procs, &ps->bars);
	n = processes_busiest(s->procs, busiest, room);
	for (int i = 0; i < n; i++)
		processes_line(u, c, &k, &ps->bars, &s->procs->procs[busiest[i]], 0, at->y + 1 + i, false);
}
