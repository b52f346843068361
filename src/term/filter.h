/* filter: what libtermkey may see of the bytes that a terminal sends; and the
 * terminal's answers to our questions, which it may not. */
#ifndef NVMTOP_TERM_FILTER_H
#define NVMTOP_TERM_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/settings.h"

#define FILTER_MOST 5 /* what may come of a single byte */

/* Zeroed, but for utf8, before the first byte. */
struct filter {
	bool utf8; /* otherwise one byte is one character */

	/* What was answered, see input.h. */
	bool sync;
	bool answered;
	enum ground ground;

	/* Where it is in a sequence: filter.c's own. */
	enum { CSI_NO, CSI_ESC, CSI_IN, CSI_CUT } csi;
	int semicolons, digits, length;
	int first;       /* the first argument; -1: it is not there */
	bool third, sgr; /* there is a third one; it begins with < */
	char said[12]; /* what stands between CSI and its final byte, as far as there is room */
	size_t n_said;
	/* ESC ] was there; it is the answer that was asked for; it may be at its end. */
	enum { OSC_NO, OSC_IN, OSC_MINE, OSC_END } osc;
	char colour[32]; /* the answer, as far as there is room */
	size_t n_colour, long_osc;
	int x10, follow; /* bytes still to come: of a mouse report, of a character */
};

/* What may be seen in place of this byte: none, one or two; FILTER_MOST when it ends
 * what had been held back. */
size_t filter_byte(struct filter *f, unsigned char c, char out[FILTER_MOST]);

/* Something answers that no one types: its rest may be on its way for longer than a
 * key's, and would be taken for keys. */
bool filter_answering(const struct filter *f);

/* No more comes of the answer that has begun: what ends it. */
size_t filter_end(struct filter *f, char out[FILTER_MOST]);

/* What was half there is used up: what comes is new. */
void filter_forget(struct filter *f);

#endif
