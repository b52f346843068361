/* The payload of the NaN has the kind of reason, the number of a text and, in the lower 16 bits, a number. Texts of files are few, because a
 * driver that has no value says the same each time: they are kept in a table that only grows. What does not fit is
 * left out of the reason. */
#include "model/missing.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "util/err.h"
#include "util/intl.h"
#include "util/root.h"

#define QUIET UINT64_C(0x7FF8000000000000)
#define TEXTS 64
#define SAID  48

static struct {
	atomic_int state;
	char text[SAID];
} texts[TEXTS];
enum { FREE, TAKEN, READY };

double missing_value(enum missing why, unsigned number)
{
	uint64_t bits = QUIET | (uint64_t)why << 32 | number;
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

double missing_said(enum missing why, const char *text, size_t len)
{
	char said[SAID];

	while (len && (text[len - 1] == '\n' || text[len - 1] == '\0' || text[len - 1] == ' '))
		len--;
	text_printable(said, sizeof(said), text, len);
	for (unsigned i = 1; i < TEXTS; i++) {
		int state = FREE;

		if (atomic_compare_exchange_strong(&texts[i].state, &state, TAKEN)) {
			memcpy(texts[i].text, said, sizeof(said));
			atomic_store(&texts[i].state, READY);
			return missing_value(why, i << 16);
		}
		if (state == READY && !strcmp(texts[i].text, said))
			return missing_value(why, i << 16);
	}
	return missing_value(why, 0);
}

static uint64_t payload(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return isnan(v) ? bits : 0;
}

enum missing missing_why(double v)
{
	unsigned why = payload(v) >> 32 & 0xFF;

	return why < MISSING_KINDS ? (enum missing)why : MISSING;
}

static const char *label_at(const struct channel *c, const struct channel *all, size_t n, unsigned column)
{
	for (size_t i = 0; i < n; i++)
		if (all[i].tier == c->tier && all[i].column == column)
			return all[i].kind == CHANNEL_RAIL_VOLTAGE || all[i].kind == CHANNEL_RAIL_CURRENT ? all[i].name
													  : all[i].label;
	return "?";
}

void missing_reason(char out[MISSING_REASON], double v, const struct channel *c, const struct channel *all, size_t n)
{
	static const char *const plain[MISSING_KINDS] = {
		[MISSING_TEXT] = N_("not a number"),
		[MISSING_RANGE] = N_("out of range"),
		[MISSING_AGAINST] = N_("contradictory"),
		[MISSING_SECOND] = N_("needs a second reading"),
		[MISSING_OFF] = N_("its measurement is off"),
	};
	unsigned number = payload(v) & 0xFFFF, text = payload(v) >> 16 & 0xFFFF;
	const char *said = text < TEXTS ? texts[text].text : "";
	enum missing why = missing_why(v);

	out[0] = '\0';
	if (plain[why])
		snprintf(out, MISSING_REASON, "%s%s%s", _(plain[why]), *said ? ": " : "", said);
	else if (why == MISSING_ERROR)
		snprintf(out, MISSING_REASON, "%s", number == EAGAIN ? _("no reading now (EAGAIN): probably powered down")
								      : root_error((int)number));
	else if (why == MISSING_FIELD)
		snprintf(out, MISSING_REASON, _("it has no %s"), said);
	else if (why == MISSING_PART)
		snprintf(out, MISSING_REASON, _("%.40s is missing"), label_at(c, all, n, number));
	else if (why == MISSING_OFFLINE)
		snprintf(out, MISSING_REASON, _("core %u is offline"), number);
}

void missing_at(char *out, size_t size, const struct channel *c, const char *reason)
{
	bool file = c->source[0] == '/' && !strchr(c->source, ' ') && !c->missing[0];

	if (!strncmp(reason, CHANGE_REASON, strlen(CHANGE_REASON)))
		reason += strlen(CHANGE_REASON);
	snprintf(out, size, "%s%s%s", file ? c->source : "", file ? ": " : "",
		 c->missing[0] ? c->missing : *reason ? reason : _("no reason is known"));
}
