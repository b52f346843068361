/* missing: why a sample has no value.
 *
 * The reason is made where the value is lost, and is in the NaN itself: so it reaches whoever gets the sample, from
 * whichever thread, and needs no second look at the source. Files keep only that the value is missing; reasons are in
 * them as changes (see change_is_reason()). */
#ifndef NVMTOP_MODEL_MISSING_H
#define NVMTOP_MODEL_MISSING_H

#include "model/channel.h"

enum missing {
	MISSING,	 /* no reason is known: a plain NaN */
	MISSING_ERROR,	 /* an errno */
	MISSING_TEXT,	 /* the file has another text than a number */
	MISSING_RANGE,	 /* the value cannot be */
	MISSING_FIELD,	 /* the file has no such field */
	MISSING_AGAINST, /* fields contradict each other */
	MISSING_PART,	 /* the channel in another column of the row, from which it is computed, has no value */
	MISSING_SECOND,	 /* a difference of readings, and there is only one yet */
	MISSING_OFFLINE, /* the core is */
	MISSING_OFF,	 /* the measurement is */
	MISSING_KINDS
};

/* Make the value of a missing sample. Neither allocates, locks or prints. */
double missing_value(enum missing why, unsigned number);
double missing_said(enum missing why, const char *text, size_t len); /* of the file; at most 47 bytes are kept */

enum missing missing_why(double v);

/* Writes the reason of a missing sample of channel c, one of n; "" if none is known. */
#define MISSING_REASON 96
void missing_reason(char out[MISSING_REASON], double v, const struct channel *c, const struct channel *all, size_t n);

/* Why the channel has no value: it cannot have any, or such a reason, also as a change tells it, behind the file that is read. */
void missing_at(char *out, size_t size, const struct channel *c, const char *reason);

#endif
