/* viewport: the time span on the screen, and the playhead. */
#ifndef NVMTOP_UI_VIEWPORT_H
#define NVMTOP_UI_VIEWPORT_H

#include <stdbool.h>
#include <stdint.h>

#define SPEED_SLOWEST (-3) /* 1/10, 1/5, 1/2, 1, 2, 4 .. 64 */
#define SPEED_FASTEST 6
#define SPEED_ALL     7 /* the whole extent in SPEED_ALL_NS */
#define SPEED_ALL_NS  INT64_C(3000000000)
#define SPEED_TEXT    16

/* The time span with samples. */
struct extent {
	bool any;
	int64_t first_ns, last_ns;
};

struct viewport {
	bool live;
	int zoom, merge; /* a chart column is `merge` (1..7) timeline columns at this zoom */
	bool fit;    /* all of the extent, for any width and while it grows */
	bool widen;  /* live: as long as the history, up to a minute */
	bool follow; /* live: the right edge is now */
	bool still;  /* paused: new rows do not move the view, though its left may be blank */
	bool playing, played_out; /* played_out: reset when read */
	int speed;                         /* SPEED_SLOWEST .. SPEED_ALL; 0: real time */
	int64_t head_ns;                   /* the playhead */
	int64_t right_ns;                  /* within the newest visible column */
	int64_t end_ns;                    /* end of the extent at the last settle */
	int64_t play_now_ns, play_head_ns; /* where playing began */
	bool loop;                         /* repeat [loop_from_ns, loop_to_ns) */
	int64_t loop_from_ns, loop_to_ns;
	int columns, per_cell;             /* of the charts, at the last settle */
};

void viewport_reset(struct viewport *v, bool live);

/* Update the viewport, before drawing and before handling an event: move the playhead if it
 * plays, keep it in view, keep the view within the extent. */
void viewport_settle(struct viewport *v, const struct extent *e, int64_t now_ns);

/* The length of a column. */
static inline int64_t viewport_column_ns(const struct viewport *v)
{
	return (int64_t)v->merge << v->zoom;
}

/* The column that contains t_ns. */
static inline int64_t viewport_column(const struct viewport *v, int64_t t_ns)
{
	int64_t ns = viewport_column_ns(v);

	return t_ns / ns - (t_ns % ns < 0);
}

/* The first visible column; the last is first + columns - 1. Cells are on the absolute grid too,
 * so that they do not change while scrolling. */
int64_t viewport_first(const struct viewport *v);

/* The cell (0 is the left one) of t_ns, or -1 if outside. */
int viewport_cell(const struct viewport *v, int64_t t_ns);

/* The time at the right edge of a cell. */
int64_t viewport_cell_ns(const struct viewport *v, int cell);

/* "1/10x", "64x", "all". */
void viewport_speed_text(char out[SPEED_TEXT], int speed);

/* These also settle. */
void viewport_zoom(struct viewport *v, const struct extent *e, int64_t now_ns, int in);
void viewport_pan(struct viewport *v, const struct extent *e, int64_t now_ns, int columns);
void viewport_jump(struct viewport *v, const struct extent *e, int64_t now_ns, int64_t t_ns);
void viewport_now(struct viewport *v, const struct extent *e, int64_t now_ns);
void viewport_space(struct viewport *v, const struct extent *e, int64_t now_ns);
/* Move the playhead; the view moves only if the playhead would leave it. */
void viewport_cursor(struct viewport *v, const struct extent *e, int64_t now_ns, int columns);
/* Show the whole extent. */
void viewport_all(struct viewport *v, const struct extent *e, int64_t now_ns);
/* Show [from, to] as large as fits, with the playhead at its start. */
void viewport_show(struct viewport *v, const struct extent *e, int64_t now_ns, int64_t from_ns,
		   int64_t to_ns);
/* Repeat [from, to); from >= to: stop repeating. */
void viewport_loop(struct viewport *v, const struct extent *e, int64_t now_ns, int64_t from_ns,
		   int64_t to_ns);
void viewport_speed(struct viewport *v, const struct extent *e, int64_t now_ns, int step);

#endif
