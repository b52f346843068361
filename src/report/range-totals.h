/* range-totals: count, time, energy and load of ranges by name, thread or domain. */
#ifndef NVMTOP_REPORT_RANGE_TOTALS_H
#define NVMTOP_REPORT_RANGE_TOTALS_H

#include "report/range-power.h"

struct analysis;

struct interval {
	int64_t begin_ns, end_ns;
};

enum { USE_ALL, USE_OWN, USES }; /* a group's ranges as they are; without those nested in them */

/* Of the intervals of a group. */
struct spent {
	int64_t time_ns;
	double load, loaded; /* GPU percent times seconds, and these seconds */
	double hottest;
	struct energy_result energy;
};

/* Rows of the GPU load or the temperature, with the integral of the load from the first of them. */
struct track {
	struct track_row {
		int64_t t_ns;
		double v, area, known;
	} * rows;
	size_t n, room;
};

/* The texts belong to the timeline. */
struct group {
	const char *first, *name; /* domain and range, or process and thread */
	int length;               /* of the name */
	uint32_t pid, tid;
	uint64_t count;
	int64_t total_ns,
		after_ns; /* sums over ranges; after: the time in which the load after a range is looked at */
	double after, after_known; /* GPU percent times seconds, and these seconds */
	uint32_t colour;	   /* of a range */
	struct spent spent[USES];
	struct group *before;
	struct range_user user[][USES]; /* for each part of the power */
};

struct collection {
	const struct analysis *about;
	int by;     /* enum report_by */
	void *tree; /* of groups */
	struct group **list, *newest, *spare;
	size_t n, most; /* groups; 0: any number */
	struct piece *pieces, *own;
	struct open *open;
	size_t n_pieces, n_own, room;
	size_t work;              /* ranges of the part that were visited, and rows read */
	int64_t begin_ns, end_ns; /* what is outside is not looked at */
	int64_t from_ns, to_ns;   /* of the part */
	bool live;		  /* floods come folded */
	uint64_t folded;	  /* so many did: they are not in the totals */
	bool full, no_memory;
	bool listed; /* the list is that of all that was added */
	struct timeline *timeline;
	size_t gpu, hottest;         /* channels; SIZE_MAX: none */
	struct power_parts parts;
	struct range_power *power; /* of each of them; at least one, even if there is no power */
	size_t n_power;
	struct track load, heat;
};

/* The totals of a recording: set about and by, the rest to zero. The list is sorted by energy. */
int collect(struct collection *c, bool (*progress)(double done), struct err *e);
void collection_free(struct collection *c);

/* Or by range of a timeline, part after part, with room for that many ranges in one: set most, begin_ns, end_ns and live.
 * There is nothing of GPU load and temperature. Returns false if out of memory. */
bool collection_begin(struct collection *c, struct timeline *t, size_t room);
/* Returns false if there are too many ranges in the part: nothing was added. */
bool collection_add(struct collection *c, int64_t from_ns, int64_t to_ns);
/* Nothing follows on the last part. */
void collection_break(struct collection *c);
/* Sorts the list. Returns false if out of memory. */
bool collection_list(struct collection *c);

/* The name of a group: of a thread with its ids, if they are wanted. */
void collection_name(const struct collection *c, const struct group *g, bool ids, char *out, size_t size);
/* The same with ids, and with the domain of a range before it. size: more than a domain. */
void collection_title(const struct collection *c, const struct group *g, char *out, size_t size);

/* What is different in each call, such as ", seq = 7", does not belong to the name. Returns the length of the rest. */
size_t range_stem(const char *name);

#endif
