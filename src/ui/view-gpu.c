/* view-gpu: how busy, how fast, within which limits, asleep or not; then the engines
 * beside it, and the rail and the sensor that say what it costs. */
#include "ui/charts.h"
#include "ui/screen.h"

#include "util/intl.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* "gpu" of "gpu.util", "NVDEC" of "NVDEC.freq": is it the same unit? */
static bool same_unit(const struct channel *a, const struct channel *b)
{
	size_t n = strcspn(a->name, ".");

	return n == strcspn(b->name, ".") && !strncmp(a->name, b->name, n);
}

static int of_unit(const struct session *about, const struct channel *unit, enum channel_kind kind)
{
	for (size_t i = 0; i < about->n_channels; i++)
		if (about->channels[i].kind == kind && same_unit(unit, &about->channels[i]) &&
		    !about->channels[i].missing[0])
			return (int)i;
	return -1;
}

/* Powered down or not, and who sets the clock. */
static void read_state(struct ui *u, const struct ui_scene *s, struct row *row)
{
	int gated = rows_named(u->about, "gpu.gated"), pinned = rows_named(u->about, "clocks.pinned");
	double down = gated >= 0 ? rows_value(u, s, (size_t)gated, 0) : NAN;
	double pin = pinned >= 0 ? rows_value(u, s, (size_t)pinned, 0) : NAN;
	const char *governor = screen_fact(u, "gpu.governor");

	snprintf(row->text, sizeof(row->text), "%s%s%s%s",
		 isnan(down) ? _("not known whether it is powered down")
		 : down > 0  ? _("powered down (gated)")
			     : _("powered up"),
		 *governor ? _("; governor ") : "", governor, pin > 0 ? _("; clocks pinned") : "");
	row->text_style = down > 0 || isnan(down) ? STYLE_DIM : STYLE_TEXT;
}

static void add_engines(struct row_list *l)
{
	const struct session *about = l->about;
	bool headed = false;

	for (size_t i = 0; i < about->n_channels; i++) {
		const struct channel *ch = &about->channels[i];

		if (ch->kind != CHANNEL_ENGINE_UTIL &&
		    (ch->kind != CHANNEL_ENGINE_FREQ || of_unit(about, ch, CHANNEL_ENGINE_UTIL) >= 0))
			continue;
		if (!headed)
			rows_heading(l, _("Engines"), STYLE_OTHER);
		headed = true;
		rows_signal(l, i, WEIGHT_PART, true);
	}
}

/* Throttling of the GPU as a whole. */
static bool is_of_all(const struct channel *ch)
{
	char name[32];

	events_name(name, ch);
	return !strcasecmp(name, "gpu");
}

/* What belongs to the GPU by its name: its rail, its sensor, what throttles it. */
static bool names_gpu(const struct channel *ch)
{
	return strstr(ch->name, "GPU") || strstr(ch->name, "gpu");
}

static void add_cost(struct row_list *l)
{
	static const enum channel_kind kinds[] = {CHANNEL_RAIL_POWER, CHANNEL_TEMPERATURE, CHANNEL_THROTTLE};
	bool headed = false;

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		for (size_t i = 0; i < l->about->n_channels; i++) {
			const struct channel *ch = &l->about->channels[i];

			if (ch->kind != kinds[k] || !names_gpu(ch))
				continue;
			if (!headed)
				rows_heading(l, _("Power and heat"), STYLE_POWER);
			headed = true;
			struct row *row = rows_signal(l, i, WEIGHT_PART, true);

			/* The sensor is called gpu, too; what slows down a part has its name. */
			if (ch->kind == CHANNEL_THROTTLE && is_of_all(ch))
				snprintf(row->name, sizeof(row->name), "%s", _("throttled"));
			else if (ch->kind == CHANNEL_THROTTLE)
				snprintf(row->tag, sizeof(row->tag), "%s", _("throttled"));
		}
}

static void build(struct row_list *l)
{
	const struct session *about = l->about;
	int any = 0;

	for (size_t i = 0; i < about->n_channels; i++) {
		const struct channel *ch = &about->channels[i];

		if (ch->kind != CHANNEL_GPU_UTIL && ch->kind != CHANNEL_GPU_FREQ)
			continue;
		any++;
		rows_signal(l, i, WEIGHT_MAIN, false);
	}
	if (rows_named(about, "gpu.gated") >= 0 || fact_get(about->facts, about->n_facts, "gpu.governor"))
		rows_text(l, _("State"), read_state);
	if (!any)
		snprintf(rows_text(l, _("GPU"), NULL)->text, sizeof(l->rows->text), "%s",
			 _("none that nvmtop can read: it knows the GPUs of Jetsons (nvgpu), and others with "
			   "NVIDIA's driver (libnvidia-ml.so.1)"));
	add_engines(l);
	add_cost(l);
}

const struct view view_gpu = {
	.name = "gpu",
	.label = N_("GPU"),
	.key = '2',
	.build = build,
	.draw = charts_draw,
	.move = charts_move,
};
