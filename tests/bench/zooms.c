/* What a key costs in replay: CPU ms of a frame at each zoom, where the same place is drawn again, one column further and
 * after a jump.
 *
 *   zooms FILE [VIEW [COLUMNS ROWS]]
 *
 * A line a zoom: how much the screen shows, then the mean of ten frames of each kind and the slowest after a jump. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "trace/trace.h"
#include "ui/screen.h"
#include "ui/ui.h"

#define FRAMES 10

static struct ui *ui;
static struct canvas canvas;
static struct ui_scene scene;

static double frame(void)
{
	struct timespec from, to;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	scene.now_ns = clock_now_ns();
	ui_draw(ui, &scene, &canvas);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
	return (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6;
}

static void press(uint32_t key)
{
	scene.now_ns = clock_now_ns();
	ui_event(ui, &scene, &(struct event) {.kind = EVENT_KEY, .key = key});
}

int main(int argc, char **argv)
{
	struct ui_options o = {.charset = CHARSET_BLOCKS, .view = argc > 2 ? argv[2] : NULL};
	int columns = argc > 4 ? atoi(argv[3]) : 120, rows = argc > 4 ? atoi(argv[4]) : 40, zoom = -1, merge = -1;
	struct err e = {.code = ERR_NONE};
	struct trace *t = argc > 1 ? trace_open(argv[1], &e) : NULL;
	int64_t first, last;

	if (!t || !(ui = ui_new(&o, &e))) {
		fprintf(stderr, "%s\n", argc > 1 ? e.text : "usage: zooms FILE [VIEW [COLUMNS ROWS]]");
		return 1;
	}
	scene = (struct ui_scene) {.timeline = trace_timeline(t), .trace_name = argv[1], .own_cpu = (double)NAN};
	scene.now_ns = clock_now_ns();
	canvas_resize(&canvas, columns, rows);
	ui_reset(ui, &scene);
	frame();
	trace_extent(t, &first, &last);
	printf("%9s %6s %8s %8s %8s %8s\n", "screen, s", "zoom", "same, ms", "next", "jump", "slowest");
	for (int step = 0; step < 40; step++, press('+')) {
		double same = 0, next = 0, jump = 0, slowest = 0;

		ui_seek(ui, &scene, (last - first) / 2);
		if (ui->vp.zoom == zoom && ui->vp.merge == merge)
			continue;
		zoom = ui->vp.zoom;
		merge = ui->vp.merge;
		frame();
		frame();
		for (int i = 0; i < FRAMES; i++)
			same += frame();
		for (int i = 0; i < FRAMES; i++) {
			press(K_RIGHT);
			next += frame();
		}
		for (int i = 0; i < FRAMES; i++) {
			double took;

			ui_seek(ui, &scene, (int64_t)((double)(last - first) * (0.1 + 0.08 * i)));
			took = frame();
			jump += took;
			slowest = fmax(slowest, took);
		}
		printf("%9.2f %3d x%d %8.2f %8.2f %8.2f %8.2f\n", (double)viewport_column_ns(&ui->vp) * ui->vp.columns / 1e9, zoom, merge,
		       same / FRAMES, next / FRAMES, jump / FRAMES, slowest);
		ui_seek(ui, &scene, (last - first) / 2);
	}
	ui_free(ui);
	canvas_free(&canvas);
	trace_close(t);
	return 0;
}
