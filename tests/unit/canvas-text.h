/* canvas-text: the content of a canvas as text. Include after cmocka's headers. */
#ifndef TESTS_CANVAS_TEXT_H
#define TESTS_CANVAS_TEXT_H

#include <stdlib.h>

#include "ui/canvas.h"

/* The caller frees the result. */
static inline char *canvas_to_text(const struct canvas *c)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	canvas_print(c, out);
	fclose(out);
	return text;
}

static inline void assert_canvas(const struct canvas *c, const char *expected)
{
	char *text = canvas_to_text(c);

	assert_string_equal(text, expected);
	free(text);
}

#endif
