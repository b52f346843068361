/* lex: the text of a board file as statements of words. */
#ifndef NVMTOP_BOARD_LEX_H
#define NVMTOP_BOARD_LEX_H

#include <stddef.h>

#include "util/err.h"

#define WORDS_MAX 64

struct word {
	char *text;   /* without its quotes */
	char *equals; /* the first '=' outside quotes, or NULL */
};

struct lexer {
	const char *file; /* for errors */
	unsigned line;    /* of the statement read last */
	unsigned next_line;
	char *p, *end; /* what is left; written to while reading */
};

struct words {
	struct word word[WORDS_MAX];
	size_t n;
	char *expression; /* what follows a word that begins with '=', or NULL */
};

/* text of len bytes and a byte of room behind it; it is changed and must stay. */
void lex_begin(struct lexer *l, const char *file, char *text, size_t len);

/* 1: a statement; 0: the end; -1 with "FILE:LINE: what was expected". */
int lex_next(struct lexer *l, struct words *w, struct err *e);

#endif
