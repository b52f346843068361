/* phases: the stretches between the marks, and what each of them took. */
#ifndef NVMTOP_UI_PHASES_H
#define NVMTOP_UI_PHASES_H

#include "ui/quantity.h"
#include "ui/range-stats.h"
#include "ui/screen.h"

#define PHASES_MAX 4096
#define CHOSEN_MAX 8
#define LINES_MAX  128
#define MEANS_MAX  6
#define PHASE_NAME 96

/* A and the trace beside it. */
#define TRACES 2

/* Where a phase lies in one of the traces, on that trace's own clock. */
struct stretch {
	int64_t from_ns, to_ns; /* 0, 0: it is not in this trace */
};

/* Phases of two traces that have one label, or one number where a label is missing, are one. */
struct phase {
	struct stretch at[TRACES];
	uint64_t id;     /* tells it from all others, also while it grows */
	uint64_t number; /* of the mark that begins it; 0: none does */
	char label[64];
};

/* What stands in the list. */
struct line {
	struct stretch of; /* 0, 0: not taken */
	struct span power;
	double mean[MEANS_MAX];
};

struct figure {
	bool ready, exact; /* ready: p95 has been worked out */
	double mean, p95, max;
};

/* All signals of a phase. */
struct sheet {
	uint64_t id;
	int trace;
	struct stretch of;
	int64_t made_ns;
	bool set, provisional;
	size_t done; /* quantiles */
	struct figure *cells;
};

struct phases {
	const struct session *about, *with;
	struct phase *phases;
	size_t n, room;
	bool more, failed; /* there are more than PHASES_MAX; there is no memory for all */
	int64_t last_ns;   /* until then a phase that lasts is told of */
	size_t at, top;
	int scroll; /* of the signals */
	uint64_t chosen[CHOSEN_MAX];
	size_t n_chosen;
	size_t *channels, n_channels;
	int *beside; /* the same channels of the other trace, or -1 */
	int power, means[MEANS_MAX], n_means;
	struct scale scale;
	struct sheet sheets[CHOSEN_MAX * TRACES];
	size_t n_sheets;
	size_t *order; /* of the channels: the largest difference first */
	uint64_t ordered; /* for these sheets; 0: not yet */
	struct line lines[TRACES][LINES_MAX];
	struct span_scratch *scratch;
};

/* The state of the view for this session; NULL: there is none, or out of memory. */
struct phases *phases_look(struct ui *u);
/* The same as last drawn; NULL: no phase was. */
struct phases *phases_shown(struct ui *u);
void phases_free(void *state);
/* A step of the statistics; true: there is more to do. */
bool phases_tick(struct ui *u, const struct ui_scene *s);
bool phases_busy(const struct phases *e);
/* Which phases there are: none when there is no memory for any. */
void phases_list(struct ui *u, const struct ui_scene *s, struct phases *e);
/* A sheet for each phase that was chosen, or for the one that the cursor is on; of both traces. */
void phases_sheets(struct ui *u, const struct ui_scene *s, struct phases *e);
/* What a line says of phase i in a trace; NULL: it is not there. */
const struct line *phases_line(struct ui *u, const struct ui_scene *s, struct phases *e, size_t i, int trace);
/* place: among those that were chosen. */
bool phases_chosen(const struct phases *e, uint64_t id, size_t *place);
const struct phase *phases_find(const struct phases *e, uint64_t id); /* NULL: it is gone */
/* "2 load", or "A 2 load": with its letter while phases or traces are compared. */
void phases_name(const struct ui *u, const struct phases *e, const struct phase *p, int trace, char out[PHASE_NAME]);

/* phases-band.c: above, where they lie in time and what power they took. */
int phases_band_lines(const struct ui *u, const struct phases *e);
void phases_band_draw(struct ui *u, const struct ui_scene *s, struct canvas *c, struct phases *e);

/* phases-list.c: a line each; y: where it begins, lines: how many there are of the phases. */
void phases_list_place(const struct ui *u, const struct phases *e, int *y, int *lines);
void phases_list_draw(struct ui *u, const struct ui_scene *s, struct canvas *c, struct phases *e);

/* phases-sides.c: below, all signals side by side. */
void phases_sides_draw(struct ui *u, const struct ui_scene *s, struct canvas *c, struct phases *e);

#endif
