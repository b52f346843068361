/* parser: a board file while it is read. */
#ifndef NVMTOP_BOARD_PARSER_H
#define NVMTOP_BOARD_PARSER_H

#include "board/lex.h"
#include "board/parsed.h"

struct parser {
	struct board *b;
	struct lexer lexer;
	const struct parser *outer; /* the file that includes this one */
	int depth;
};

/* What one statement adds to the board. */
int board_say(struct parser *p, const struct words *w, struct err *e);

/* All of a file; outer: the one that includes it, or NULL. */
int board_parse_file(struct board *b, const char *path, const struct parser *outer, struct err *e);

/* Room for one more in an array of n; it grows whenever n is a power of two. */
void *board_grow(void *array, size_t n, size_t each);

#endif
