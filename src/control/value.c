/* People write "30W", "612M" and "80%"; the helper takes the name of the mode and whole hertz, so that it need not
 * guess. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "control/control.h"
#include "util/intl.h"
#include "util/num.h"
#include "util/text.h"

#define NEAR 0.01 /* "1.3G" is the step 1300500000 */

/* One end of a range of clocks, text of length n; nothing is that end of what is allowed. */
static bool clock_end(const char *allowed, const char *text, size_t n, bool highest, uint64_t *hz)
{
	const char *p = allowed;
	char number[32], *end;
	uint64_t first = 0, last = 0, nearest = 0;

	*hz = 0;
	if (n > 2 && !strncasecmp(text + n - 2, "hz", 2))
		n -= 2;
	snprintf(number, sizeof number, "%.*s", (int)n, text);
	if (n >= sizeof number || (n && !num_bytes(number, hz)))
		return false;
	for (; *p; p = end + strcspn(end, "0123456789")) {
		last = strtoull(p, &end, 10);
		first = first ? first : last;
		if (!nearest || fabs((double)last - (double)*hz) < fabs((double)nearest - (double)*hz))
			nearest = last;
	}
	if (!n)
		*hz = highest ? last : first;
	else if (strstr(allowed, ".."))
		return *hz >= first && *hz <= last;
	else if (fabs((double)nearest - (double)*hz) > NEAR * (double)nearest)
		return false;
	else
		*hz = nearest;
	return last > 0;
}

static bool clock_range(const char *allowed, const char *text, char *out, size_t size)
{
	const char *dots = strstr(text, ".."), *high = dots ? dots + 2 : text;
	uint64_t least, most;

	/* a cap alone, "0..max" */
	if (!strncmp(allowed, "0..", 3) && (!dots || dots == text || !strncmp(text, "0..", 3))) {
		if (!*high || !strcasecmp(high, "max"))
			return snprintf(out, size, "0..max") > 0 && *text;
		return num_bytes(high, &most) && most &&
		       snprintf(out, size, "0..%llu", (unsigned long long)most) > 0;
	}
	if (!*text || !clock_end(allowed, text, dots ? (size_t)(dots - text) : strlen(text), false, &least) ||
	    !clock_end(allowed, high, strlen(high), true, &most) || least > most)
		return false;
	snprintf(out, size, "%llu..%llu", (unsigned long long)least, (unsigned long long)most);
	return true;
}

/* How well a word of `allowed` is what was written: 3 it is, 2 but for MODE_, 1 it begins so; 0 it is not. */
static int likeness(enum control_kind kind, const char *word, const char *text)
{
	const char *name = strchr(word, ':'), *bare;
	size_t n = strlen(text);

	if (kind != CONTROL_MODE || !name)
		return !strcasecmp(word, text) ? 3 : 0;
	name++;
	bare = strncasecmp(name, "MODE_", 5) ? name : name + 5;
	if (!strcasecmp(name, text) || (n == (size_t)(name - 1 - word) && !strncmp(word, text, n)))
		return 3;
	if (!strcasecmp(bare, text))
		return 2;
	return n && (!strncasecmp(name, text, n) || !strncasecmp(bare, text, n));
}

int control_value(const struct control_item *i, const char *text, char *out, size_t size, struct err *e)
{
	char words[sizeof i->allowed], fits[sizeof i->allowed] = "", shown[64], *rest = words, *word;
	size_t length = strlen(text);
	int best = 0, n = 0, like;
	double percent;
	uint64_t bytes;

	text_printable(shown, sizeof shown, text, strlen(text));
	snprintf(words, sizeof words, "%s", i->allowed);
	if (i->kind == CONTROL_CLOCK && clock_range(i->allowed, text, out, size))
		return 0;
	if (i->kind == CONTROL_SWAP && num_bytes(text, &bytes)) {
		snprintf(out, size, "%llu", (unsigned long long)bytes);
		return 0;
	}
	snprintf(fits, sizeof fits, "%.*s", (int)(length - text_ends_in(text, "%")), text);
	if (i->kind == CONTROL_FAN && num_double(fits, &percent) && percent >= 0 && percent <= 100) {
		snprintf(out, size, "%.0f", percent);
		return 0;
	}
	while ((word = strsep(&rest, " ")) != NULL) {
		const char *name =
			i->kind == CONTROL_MODE && strchr(word, ':') ? strchr(word, ':') + 1 : word;

		like = i->kind == CONTROL_CLOCK || strstr(word, "..") ? 0 : likeness(i->kind, word, text);
		if (!like || like < best)
			continue;
		n = like > best ? 1 : n + 1;
		if (like > best)
			fits[0] = '\0';
		best = like;
		snprintf(fits + strlen(fits), sizeof fits - strlen(fits), "%s%s", n > 1 ? ", " : "", name);
		snprintf(out, size, "%s", name);
	}
	if (n == 1)
		return 0;
	if (n > 1)
		return err_set(e, ERR_USAGE, _("%s: \"%s\" is ambiguous: %s"), i->name, shown, fits);
	control_shown(i->name, i->allowed, fits, sizeof fits);
	return err_set(e, ERR_USAGE, _("%s cannot be \"%s\" here; it takes: %s"), i->name, shown,
		       *fits ? fits : "--");
}

void control_shown(const char *name, const char *value, char *out, size_t size)
{
	static const char digits[] = "0123456789";
	bool clock = !strncmp(name, "clocks.", 7), swap = !strcmp(name, "swap");
	char one[96];
	size_t n;

	*out = '\0';
	for (const char *p = value; *p && strlen(out) + 1 < size; p += n) {
		bool number = (n = strspn(p, digits)) > 0;
		unsigned long long v = number ? strtoull(p, NULL, 10) : 0;

		n = number ? n : strcspn(p, digits);
		if (clock && v)
			snprintf(one, sizeof one, "%.10gM", (double)v / 1e6);
		else if (swap && v)
			text_bytes(one, sizeof one, v);
		else
			snprintf(one, sizeof one, "%.*s", (int)n, p);
		snprintf(out + strlen(out), size - strlen(out), "%s", one);
	}
}

const struct control_verb *control_verb(const char *word)
{
	static const struct control_verb verbs[] = {{"list", 0, 0, VERB_LIST},
						    {"fan", 1, 1, VERB_SET},
						    {"mode", 1, 1, VERB_SET},
						    {"clocks", 1, SIZE_MAX, VERB_SET},
						    {"governor", 1, SIZE_MAX, VERB_SET},
						    {"3d-scaling", 1, 1, VERB_SET},
						    {"swap", 1, 1, VERB_SET},
						    {"drop-caches", 0, 0, VERB_SET},
						    {"restore", 0, SIZE_MAX, VERB_RESTORE},
						    {"keep", 1, SIZE_MAX, VERB_KEEP},
						    {"revert", 1, SIZE_MAX, VERB_REVERT}};

	for (const struct control_verb *v = verbs; v < verbs + sizeof verbs / sizeof *verbs; v++) {
		size_t n = strlen(v->word);

		if (!strncmp(word, v->word, n) && !word[n + (strcmp(v->word, "fan") ? 0 : strspn(word + n, "0123456789"))])
			return v;
	}
	return NULL;
}
