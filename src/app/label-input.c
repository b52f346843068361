/* Bytes of a character arrive one by one and are stored unchecked; the label is made printable where it
 * is used. */
#include <stdio.h>
#include <string.h>

#include "app/label-input.h"
#include "util/text.h"
#include "util/intl.h"

void label_begin(struct label *l, int64_t t_ns)
{
	*l = (struct label) {.open = true, .t_ns = t_ns};
}

bool label_take(struct label *l, int key)
{
	size_t len = strlen(l->text);

	if (key == '\r' || key == '\n') {
		l->open = false;
		return true;
	}
	if (key == 27 || key < 0) {
		l->open = false;
	} else if (key == 127 || key == '\b') {
		while (len && ((unsigned char)l->text[len - 1] & 0xc0) == 0x80)
			len--;
		l->text[len ? len - 1 : 0] = '\0';
	} else if (key >= ' ' && len + 1 < sizeof l->text) {
		l->text[len] = (char)key;
		l->text[len + 1] = '\0';
	}
	return false;
}

int label_show(const struct label *l, char *out, size_t size, int columns)
{
	char shown[MARK_LABEL];

	text_printable(shown, sizeof shown, l->text, strlen(l->text));
	snprintf(out, size, "%s %s", _("label of the mark:"), shown);
	/* Show the end of a long label, where the cursor is. */
	while (text_width(out) > columns && *out) {
		size_t n = 1;
		while (((unsigned char)out[n] & 0xc0) == 0x80)
			n++;
		memmove(out, out + n, strlen(out + n) + 1);
	}
	return text_width(out);
}
