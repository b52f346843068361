/* ncurses knows the colours that terminfo describes, and hardly any description of
 * a terminal says that it takes 24 bits of them.  So every look gets a number of the
 * 256 that is its own, and on its way out 38;5;N becomes 38;2;R;G;B. */
#include "term/truecolor.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The numbers of one ESC [ numbers m; n of them, without its ends. */
static size_t look_bytes(const char *in, size_t n, const int rgb[256], char *out)
{
	size_t used = 0;

	for (size_t i = 0; i < n;) {
		bool begins = i == 0 || in[i - 1] == ';';
		int colour = 0, digits = 0;

		if (begins && n - i > 5 && (in[i] == '3' || in[i] == '4') && !memcmp(in + i + 1, "8;5;", 4)) {
			size_t end = i + 5;

			for (; end < n && in[end] >= '0' && in[end] <= '9' && digits < 4; end++, digits++)
				colour = 10 * colour + (in[end] - '0');
			if (digits && colour < 256 && rgb[colour] >= 0 && (end == n || in[end] == ';')) {
				used += (size_t)sprintf(out + used, "%c8;2;%d;%d;%d", in[i],
							rgb[colour] >> 16, rgb[colour] >> 8 & 255,
							rgb[colour] & 255);
				i = end;
				continue;
			}
		}
		out[used++] = in[i++];
	}
	out[used] = 0;
	return used;
}

size_t truecolor_bytes(const char *in, size_t n, const int rgb[256], char *out)
{
	size_t used = 0;

	for (size_t i = 0; i < n;) {
		size_t end = i + 2;

		if (in[i] != '\033' || i + 2 >= n || in[i + 1] != '[') {
			out[used++] = in[i++];
			continue;
		}
		while (end < n && ((in[end] >= '0' && in[end] <= '9') || in[end] == ';'))
			end++;
		if (end == n || in[end] != 'm') {
			out[used++] = in[i++];
			continue;
		}
		memcpy(out + used, "\033[", 2);
		used += 2 + look_bytes(in + i + 2, end - i - 2, rgb, out + used + 2);
		out[used++] = 'm';
		i = end + 1;
	}
	return used;
}
