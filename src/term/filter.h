/* filter: removes sequences that libtermkey cannot parse safely, and the terminal's replies to
 * queries, from the input. */
#ifndef NVMTOP_TERM_FILTER_H
#define NVMTOP_TERM_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/settings.h"

#define FILTER_MOST 5 /* most bytes output for one input byte */

/* Zero all but utf8 before the first byte. */
struct filter {
	bool utf8; /* false: one byte is one character */

	/* Replies received, see input.h. */
	bool sync;
	bool answered;
	enum ground ground;

	/* Parser state, private to filter.c. */
	enum { CSI_NO, CSI_ESC, CSI_IN, CSI_CUT } csi;
	int semicolons, digits, length;
	int first;       /* first argument, -1 if missing */
	bool third, sgr; /* third argument present; starts with < */
	char said[12]; /* bytes between CSI and its final byte, truncated */
	size_t n_said;
	/* OSC_IN: after ESC ]. OSC_MINE: the reply we asked for. OSC_END: after ESC, maybe its
	 * end. */
	enum { OSC_NO, OSC_IN, OSC_MINE, OSC_END } osc;
	char colour[32]; /* the reply, truncated */
	size_t n_colour, long_osc;
	int x10, follow; /* bytes left of an X10 mouse report, of a UTF-8 character */
};

/* Filter one byte. Returns the number of bytes in out: 0 to 2, or up to FILTER_MOST when
 * held-back bytes are released. */
size_t filter_byte(struct filter *f, unsigned char c, char out[FILTER_MOST]);

/* True inside a reply of the terminal. The rest may take longer than that of a key and must not
 * be read as keys. */
bool filter_answering(const struct filter *f);

/* The rest of a started reply did not arrive: output a terminator for libtermkey. */
size_t filter_end(struct filter *f, char out[FILTER_MOST]);

/* Discard an incomplete sequence. */
void filter_forget(struct filter *f);

#endif
