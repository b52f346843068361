/* ncurses goes from one look to another by way of none: it resets the colour,
 * then the character set, then everything, then sets the new look, each in a
 * sequence of its own.  In a picture of short pieces that is a third of all bytes. */
#include "term/trim.h"

#include <stdbool.h>
#include <string.h>

#define LOOK_SIZE 64

/* The numbers of the look that is being gathered. */
struct look {
	char text[LOOK_SIZE];
	size_t n;
	bool any, reset; /* it begins with a reset */
};

/* The end of ESC [ digits ; ... m at p, or NULL. */
static const char *sgr_end(const char *p, const char *end)
{
	if (end - p < 3 || p[0] != '\033' || p[1] != '[')
		return NULL;
	for (p += 2; p < end && ((*p >= '0' && *p <= '9') || *p == ';'); p++)
		;
	return p < end && *p == 'm' ? p + 1 : NULL;
}

/* Are these numbers, or the first of them, a reset? */
static bool resets(const char *numbers, size_t n)
{
	return n == 0 || numbers[0] == ';' || (numbers[0] == '0' && (n == 1 || numbers[1] == ';'));
}

static size_t look_put(struct look *l, char *out)
{
	size_t n = 0;

	if (!l->any)
		return 0;
	out[n++] = '\033';
	out[n++] = '[';
	if (l->reset && l->n > 0)
		out[n++] = ';'; /* an empty number is 0 */
	memcpy(out + n, l->text, l->n);
	n += l->n;
	out[n++] = 'm';
	*l = (struct look) {.any = false};
	return n;
}

/* False when it does not fit: what is there must be put first. */
static bool look_add(struct look *l, const char *numbers, size_t n)
{
	if (resets(numbers, n)) {
		size_t skip = n == 0 ? 0 : numbers[0] == ';' ? 1 : n == 1 ? 1 : 2;

		*l = (struct look) {.any = true, .reset = true};
		numbers += skip;
		n -= skip;
	}
	if (l->n + n + 1 > sizeof(l->text))
		return false;
	if (n > 0 && l->n > 0)
		l->text[l->n++] = ';';
	memcpy(l->text + l->n, numbers, n);
	l->n += n;
	l->any = true;
	return true;
}

size_t trim_bytes(char *bytes, size_t size)
{
	const char *end = bytes + size, *p = bytes;
	struct look look = {.any = false};
	char *out = bytes;

	while (p < end) {
		const char *next = sgr_end(p, end);

		if (next) {
			size_t n = (size_t)(next - p) - 3;

			/* What was gathered came from before p, and is not longer than it was. */
			if (n >= LOOK_SIZE - 1 || !look_add(&look, p + 2, n)) {
				out += look_put(&look, out);
				memmove(out, p, (size_t)(next - p));
				out += next - p;
			}
			p = next;
		} else if (end - p >= 3 && !memcmp(p, "\033(B", 3)) {
			p += 3;
		} else {
			out += look_put(&look, out);
			*out++ = *p++;
		}
	}
	out += look_put(&look, out);
	return (size_t)(out - bytes);
}
