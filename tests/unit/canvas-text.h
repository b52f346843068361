/* canvas-text: what is on a canvas, as text.  cmocka's headers come before this one. */
#ifndef TESTS_CANVAS_TEXT_H
#define TESTS_CANVAS_TEXT_H

#include <stdlib.h>

#include "ui/canvas.h"

/* To be freed. */
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
