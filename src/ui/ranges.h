/* ranges: those that programs mark with NVTX, as nested bars above the charts.
 *
 * One lane is shown: the busiest in view, or the one that a person has chosen.  Its level that is
 * chosen is the one whose range at the cursor is told of, and at whose edges [ and ] stop. */
#ifndef NVMTOP_UI_RANGES_H
#define NVMTOP_UI_RANGES_H

#include "model/timeline.h"
#include "ui/canvas.h"
#include "ui/keys.h"

#define RANGE_ROWS   5
#define RANGE_LANES  256
#define RANGE_SLICE  32 /* cells that are read at once */
#define RANGE_SLICES 32 /* a ring, for CELLS_MAX cells */
#define RANGE_CELLS  (RANGE_SLICE * RANGE_SLICES)

/* How far a search goes at once, at most and at first, what that costs beside the ranges, and how many it should
 * find there; how many for one picture. */
#define RANGE_STEP_NS	 (NS_PER_S / 16)
#define RANGE_STEP_FIRST (RANGE_STEP_NS / 16)
#define RANGE_STEP_COST	 25
#define RANGE_STEP_MOST	 32768
#define RANGE_NAME_COST	 1 /* to look at another name */
#define RANGE_BUDGET	 20000 /* two milliseconds or so */

/* What lies in a cell at one depth. */
struct range_cell {
	const char *name; /* NULL: nothing; the following are of the range that takes most of the cell */
	int64_t begin_ns, end_ns, most_ns;
	int64_t covered_ns; /* by all of them */
	uint32_t n, colour;
};

struct ranges_lane {
	const struct range_lane *lanes[RANGE_LANES];
	size_t n_lanes, at; /* the lane that is shown */
	bool picked;	    /* by a person, not as the busiest */
	bool more;	    /* there is something left to read */
	bool reading;	    /* a trace is not yet ready to be asked */
	int level, top;	    /* depths: chosen, and of the first row */
	int depths;	    /* of all ranges seen so far; 0: not known */
	int64_t step_ns;    /* of the search; 0: of none yet */
	/* What was read is of these: */
	const struct range_lane *lane;
	int64_t cell_ns, first, last; /* slices in view */
	int rows;
	struct range_cell cells[RANGE_ROWS][RANGE_CELLS];
	struct {
		int64_t index, made_ns; /* made_ns: the end of the samples then; 0: never */
		int64_t busy[RANGE_LANES];
	} slices[RANGE_SLICES];
};

/* Reads on. Returns false until all that the timeline needs was read, and the next picture reads on. */
bool ranges_ready(struct ui *u, const struct ui_scene *s);
/* The lines for them on a screen of so many. */
int ranges_lines(struct ui *u, const struct ui_scene *s, int h);
bool ranges_any(const struct ui *u);
void ranges_prepare(struct ui *u, const struct ui_scene *s);
void ranges_draw(struct ui *u, struct canvas *c);
key_handler act_range_level, act_range_lane;

/* The range at the cursor; false: there is none at the chosen level. */
bool ranges_here(const struct ui *u, const struct ui_scene *s, struct range *out);
/* The nearest edge after (by 1) or before (-1) the cursor of those that can be seen at the chosen level. */
bool ranges_edge(const struct ui *u, const struct ui_scene *s, int by, int64_t *out);
/* A step of the search for a range with u->search.text in its name; enum condition_found. */
int ranges_search(struct ui *u, const struct ui_scene *s);
/* The step after one with so many ranges; and what that one cost. */
int64_t range_step(int64_t step_ns, size_t n);
size_t range_step_cost(size_t n);

enum hue range_hue(const char *name, uint32_t colour);
void range_length(char out[32], int64_t ns); /* "3.21 ms" */

#endif
