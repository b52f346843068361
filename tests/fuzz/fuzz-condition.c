/* Any text as a condition and as a formula: rejected with a message, or accepted with terms and
 * operations that can be evaluated. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/condition.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static int column(void *arg, const char *name)
{
	(void)arg;
	return strcmp(name, "gpu.util") == 0 ? 0 : -1;
}

static void try_formula(const char *text)
{
	const double row[] = {50};
	struct err e = {.code = ERR_NONE};
	struct formula *f = formula_compile(text, column, NULL, &e);

	for (double t = -2; f && t < 60; t += 1.7)
		formula_value(f, t, row);
	if (!f && strncmp(e.text, "column ", 7) != 0)
		abort();
	free(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const struct channel channels[] = {
		{.name = "gpu.util", .label = "GPU", .kind = CHANNEL_GPU_UTIL, .unit = UNIT_PERCENT},
		{.name = "power.total",
		 .label = "Total",
		 .kind = CHANNEL_POWER_TOTAL,
		 .tier = TIER_MEDIUM,
		 .unit = UNIT_MILLIWATT},
		{.name = "throttle.a", .label = "a", .kind = CHANNEL_THROTTLE, .tier = TIER_SLOW},
		{.name = "throttle.b",
		 .label = "b",
		 .kind = CHANNEL_THROTTLE,
		 .tier = TIER_SLOW,
		 .column = 1},
	};
	static const struct session about = {
		.channels = channels, .n_channels = 4, .width = {1, 1, 2}, .hz = {1000, 100, 10}};
	double row[2] = {1, NAN};
	struct condition_eval v;
	struct condition c;
	struct err e = {.code = ERR_NONE};
	char text[512];

	if (n >= sizeof(text))
		return 0;
	memcpy(text, bytes, n);
	text[n] = '\0';
	try_formula(text);
	if (condition_parse(&c, text, &e) < 0 || condition_bind(&c, &about, &e) < 0) {
		if (e.code != ERR_USAGE || !e.text[0])
			abort();
		return 0;
	}
	condition_start(&v, &c, about.hz);
	for (int t = 0; t < TIERS; t++)
		condition_row(&v, (enum tier)t, 1000 + t, row);
	return 0;
}
