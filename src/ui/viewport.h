/* viewport: which part of time is on the screen, and where the playhead is. */
#ifndef NVMTOP_UI_VIEWPORT_H
#define NVMTOP_UI_VIEWPORT_H

#include <stdbool.h>
#include <stdint.h>

#define SPEED_SLOWEST (-3) /* 1/10, 1/5, 1/2, 1, 2, 4 .. 64 */
#define SPEED_FASTEST 6
#define SPEED_ALL     7 /* everything there is within SPEED_ALL_NS, however long it is */
#define SPEED_ALL_NS  INT64_C(3000000000)
#define SPEED_TEXT    16

/* What there is to look at. */
struct extent {
	bool any;
	int64_t first_ns, last_ns;
};

struct viewport {
	bool live;
	int zoom, merge; /* a column of a chart is `merge` (1..7) columns of the timeline at this zoom */
	bool fit;    /* the zoom that shows everything, whatever the width and however it grows */
	bool widen;  /* live: as long as the history, up to a minute */
	bool follow; /* live: the right edge is now */
	bool still;  /* paused: what comes does not move the view, though its left may be blank */
	bool playing, played_out; /* the latter: as somebody asks */
	int speed;                         /* SPEED_SLOWEST .. SPEED_ALL; 0: as it was */
	int64_t head_ns;                   /* the moment whose values stand beside the names */
	int64_t right_ns;                  /* within the newest column that is shown */
	int64_t end_ns;                    /* of what there was, at the last settle */
	int64_t play_now_ns, play_head_ns; /* where playing began */
	bool loop;                         /* what lies in [loop_from_ns, loop_to_ns) is played over and over */
	int64_t loop_from_ns, loop_to_ns;
	int columns, per_cell;             /* of the charts, at the last settle */
};

void viewport_reset(struct viewport *v, bool live);

/* Bring everything into agreement with what there is now, before drawing and
 * before acting: moves the playhead if it plays, keeps it in view, keeps the
 * view within the extent. */
void viewport_settle(struct viewport *v, const struct extent *e, int64_t now_ns);

/* How long a column is. */
static inline int64_t viewport_column_ns(const struct viewport *v)
{
	return (int64_t)v->merge << v->zoom;
}

/* The column in which t_ns lies. */
static inline int64_t viewport_column(const struct viewport *v, int64_t t_ns)
{
	int64_t ns = viewport_column_ns(v);

	return t_ns / ns - (t_ns % ns < 0);
}

/* The first column that is shown; the last is first + columns - 1.  Cells stand
 * on the absolute grid too, so that they do not change while they scroll. */
int64_t viewport_first(const struct viewport *v);

/* The cell (0 is the left one) in which t_ns lies, or -1 outside. */
int viewport_cell(const struct viewport *v, int64_t t_ns);

/* The moment at the right edge of a cell. */
int64_t viewport_cell_ns(const struct viewport *v, int cell);

/* "1/10x", "64x", "all". */
void viewport_speed_text(char out[SPEED_TEXT], int speed);

/* Each settles too. */
void viewport_zoom(struct viewport *v, const struct extent *e, int64_t now_ns, int in);
void viewport_pan(struct viewport *v, const struct extent *e, int64_t now_ns, int columns);
void viewport_jump(struct viewport *v, const struct extent *e, int64_t now_ns, int64_t t_ns);
void viewport_now(struct viewport *v, const struct extent *e, int64_t now_ns);
void viewport_space(struct viewport *v, const struct extent *e, int64_t now_ns);
/* Move the playhead through a view that stands still as long as it stays in it. */
void viewport_cursor(struct viewport *v, const struct extent *e, int64_t now_ns, int columns);
/* Everything there is. */
void viewport_all(struct viewport *v, const struct extent *e, int64_t now_ns);
/* The stretch as large as it can be seen whole, with the playhead at its start. */
void viewport_show(struct viewport *v, const struct extent *e, int64_t now_ns, int64_t from_ns,
		   int64_t to_ns);
/* Play [from, to) over and over; from >= to: no more. */
void viewport_loop(struct viewport *v, const struct extent *e, int64_t now_ns, int64_t from_ns,
		   int64_t to_ns);
void viewport_speed(struct viewport *v, const struct extent *e, int64_t now_ns, int step);

#endif
