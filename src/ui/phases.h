/* phases: the stretches between the marks, and what each of them took. */
#ifndef NVMTOP_UI_PHASES_H
#define NVMTOP_UI_PHASES_H

#include "ui/range-stats.h"
#include "ui/screen.h"

#define PHASES_MAX 4096
#define CHOSEN_MAX 8
#define LINES_MAX  128
#define MEANS_MAX  6

struct phase {
	int64_t from_ns, to_ns;
	uint64_t id; /* of the mark that begins it; 0: the start */
	char label[64];
};

/* What stands in the list. */
struct line {
	int64_t from_ns, to_ns; /* 0, 0: not taken */
	struct span power;
	double mean[MEANS_MAX];
};

struct figure {
	bool ready, exact;
	double mean, p95, max;
};

/* All signals of a phase. */
struct sheet {
	uint64_t id;
	int64_t from_ns, to_ns, made_ns;
	bool set, provisional;
	size_t done;
	struct figure *cells;
};

struct phases {
	const struct session *about;
	struct phase *phases;
	size_t n, room;
	bool more, failed; /* there are more than PHASES_MAX; there is no memory for all */
	size_t at, top;
	int scroll; /* of the signals */
	uint64_t chosen[CHOSEN_MAX];
	size_t n_chosen;
	size_t *channels, n_channels;
	int power, means[MEANS_MAX], n_means;
	struct sheet sheets[CHOSEN_MAX];
	size_t n_sheets;
	struct line lines[LINES_MAX];
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
/* A sheet for each phase that was chosen, or for the one that the line is on. */
void phases_sheets(struct phases *e, const struct ui_scene *s);
/* What a line says of phase i. */
struct line *phases_line(struct phases *e, const struct ui_scene *s, size_t i);
/* place: among those that were chosen. */
bool phases_chosen(const struct phases *e, uint64_t id, size_t *place);
const struct phase *phases_find(const struct phases *e, uint64_t id); /* NULL: it is gone */

/* phases-list.c: above, a line each. */
int phases_list_lines(const struct ui *u, const struct phases *e);
void phases_list_draw(struct ui *u, const struct ui_scene *s, struct canvas *c, struct phases *e);

/* phases-sides.c: below, side by side. */
void phases_sides_draw(struct ui *u, const struct ui_scene *s, struct canvas *c, struct phases *e);

#endif
