/* phases: the phases between marks, and the statistics of each. */
#ifndef NVMTOP_UI_PHASES_H
#define NVMTOP_UI_PHASES_H

#include "ui/energy.h"
#include "ui/quantity.h"
#include "ui/range-stats.h"
#include "ui/screen.h"

#define PHASES_MAX 4096
#define CHOSEN_MAX 8
#define LINES_MAX  128
#define MEANS_MAX  6
#define PHASE_NAME 96

/* the trace and the second trace */
#define TRACES 2

/* Where a phase lies in a trace, in that trace's clock. */
struct stretch {
	int64_t from_ns, to_ns; /* 0, 0: not in this trace */
};

/* A phase of both traces, matched by label, or by number if a label is missing. */
struct phase {
	struct stretch at[TRACES];
	uint64_t id;     /* unique, and constant while the phase grows */
	uint64_t number; /* of the mark at its start; 0: no mark */
	char label[64];
};

/* The values of a line in the list. */
struct line {
	struct stretch of; /* 0, 0: not read */
	struct span power;
	double mean[MEANS_MAX];
};

struct figure {
	bool ready, exact; /* ready: p95 is computed */
	double mean, p95, max;
};

/* All signals of a phase. */
struct sheet {
	uint64_t id;
	int trace;
	struct stretch of;
	int64_t made_ns;
	bool set, provisional;
	size_t done; /* quantiles computed */
	struct figure *cells;
};

struct phases {
	const struct session *about, *with;
	struct phase *phases;
	size_t n, room;
	bool more, failed; /* more than PHASES_MAX phases; out of memory */
	int64_t last_ns;   /* the end of a phase that still grows */
	size_t at, top;
	int scroll; /* of the signals */
	uint64_t chosen[CHOSEN_MAX];
	size_t n_chosen;
	size_t *channels, n_channels;
	int *beside; /* the same channels in the second trace, or -1 */
	struct power_parts power[TRACES]; /* n 0: none that add up, or not those of the first trace */
	int means[MEANS_MAX], n_means;
	struct scale scale;
	struct sheet sheets[CHOSEN_MAX * TRACES];
	size_t n_sheets;
	size_t *order; /* channel indices, largest difference first */
	uint64_t ordered; /* sheets that `order` was made for; 0: none */
	struct line lines[TRACES][LINES_MAX];
	struct span_scratch *scratch;
};

/* The state of the view for this session; NULL: no session, or out of memory. */
struct phases *phases_look(struct ui *u);
/* The state as last drawn; NULL: no phase was drawn. */
struct phases *phases_shown(struct ui *u);
void phases_free(void *state);
/* Compute some statistics; true: there is more to do. */
bool phases_tick(struct ui *u, const struct ui_scene *s);
bool phases_busy(const struct phases *e);
/* List the phases; none if out of memory. */
void phases_list(struct ui *u, const struct ui_scene *s, struct phases *e);
/* Make a sheet per trace for each chosen phase, or for the one under the cursor. */
void phases_sheets(struct ui *u, const struct ui_scene *s, struct phases *e);
/* The values of phase i in a trace; NULL: not in this trace. */
const struct line *phases_line(struct ui *u, const struct ui_scene *s, struct phases *e, size_t i, int trace);
/* place: the index among the chosen phases. */
bool phases_chosen(const struct phases *e, uint64_t id, size_t *place);
const struct phase *phases_find(const struct phases *e, uint64_t id); /* NULL: not found */
/* "2 load", or "A 2 load" when comparing phases or traces. */
void phases_name(const struct ui *u, const struct phases *e, const struct phase *p, int trace, char out[PHASE_NAME]);

/* phases-band.c: the phases on the time axis, with their power */
int phases_band_lines(const struct ui *u, const struct phases *e);
void phases_band_draw(struct ui *u, const struct ui_scene *s, struct canvas *c, struct phases *e);

/* phases-list.c: one line per phase; y: the first line, lines: the number of phases */
void phases_list_place(const struct ui *u, const struct phases *e, int *y, int *lines);
void phases_list_draw(struct ui *u, const struct ui_scene *s, struct canvas *c, struct phases *e);

/* phases-sides.c: all signals side by side */
void phases_sides_draw(struct ui *u, const struct ui_scene *s, struct canvas *c, struct phases *e);

#endif
