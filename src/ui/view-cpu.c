/* view-cpu: shows each core, because one busy core is invisible in the mean.
 *
 * Below the total, each cluster has its clock and a strip with one band per core, on the same
 * time axis. The rows of the cores follow further down. */
#include "ui/charts.h"
#include "ui/clock-row.h"
#include "ui/core-groups.h"
#include "ui/draw.h"
#include "ui/heat-strip.h"
#include "ui/screen.h"

#include "util/intl.h"

#include <math.h>
#include <string.h>

#define CLOCK_WEIGHT 2
#define SINGLE_MAX   4 /* with more clusters, use one strip of loads and one of clocks */

/* A core without a value is offline if other cores have one. */
static void read_core(struct ui *u, const struct ui_scene *s, struct row *row)
{
	bool off = isnan(row->value) && strcmp(core_no_load(u, s), "--") != 0;

	snprintf(row->tag, sizeof(row->tag), "%s", off ? _("offline") : "");
}

/* Get the channels of a kind, in session order. */
static int of_kind(const struct session *about, enum channel_kind kind, size_t channels[CORE_GROUP_MAX])
{
	int n = 0;

	for (size_t i = 0; i < about->n_channels && n < CORE_GROUP_MAX; i++)
		if (about->channels[i].kind == kind)
			channels[n++] = i;
	return n;
}

static int share(int lines, int n, int all)
{
	return (lines * n + all - 1) / all;
}

/* The lines for n of all bands: half of the screen, or up to 3/4 before two cores share a band. */
static int strip_lines(const struct ui *u, int n, int all)
{
	bool ascii = u->charset == CHARSET_ASCII;
	int each = ascii ? n : (n + 1) / 2, half = share(u->at.body.h / 2, n, all),
	    most = share(u->at.body.h * 3 / 4, n, all), lines = each < most ? each : most;

	lines = half > lines ? half : lines;
	lines = lines > 2 * n ? 2 * n : lines;
	return heat_fit(n, lines > 1 ? lines : 1, ascii).lines;
}

/* The channels of the strip that begins with channel `first`: a group, or all of a kind. *all: those of all
 * strips. */
static int strip_channels(const struct session *about, size_t first, size_t channels[CORE_GROUP_MAX], int *all)
{
	struct core_group groups[CORE_GROUPS_MAX];
	int n = core_groups(about, groups), found = 0;

	if (n > SINGLE_MAX) {
		*all = of_kind(about, CHANNEL_CORE_UTIL, channels) + of_kind(about, CHANNEL_CPU_FREQ, channels);
		return of_kind(about, about->channels[first].kind, channels);
	}
	*all = 0;
	for (int i = 0; i < n; i++) {
		*all += groups[i].n;
		if (groups[i].core[0] != first)
			continue;
		memcpy(channels, groups[i].core, sizeof(groups[i].core));
		found = groups[i].n;
	}
	return found;
}

static void read_strip(struct ui *u, const struct ui_scene *s, struct row *row)
{
	size_t channels[CORE_GROUP_MAX];
	int all, n = strip_channels(u->about, row->channel, channels, &all);

	row->least = (unsigned char)strip_lines(u, n, all);
}

static void draw_strip(struct ui *u, const struct ui_scene *s, struct canvas *c, struct row *row,
		       const struct rect *at)
{
	size_t channels[CORE_GROUP_MAX];
	int all, n = strip_channels(u->about, row->channel, channels, &all);

	heat_strip_draw(u, s, c, at, channels, n);
	axis_lines(u, c, at->y, at->h);
}

/* channel: the first of the strip */
static void add_strip(struct row_list *l, size_t channel)
{
	struct row *row = rows_picture(l, draw_strip, 1, WEIGHT_REST);

	row->read = read_strip;
	row->channel = channel;
}

static void add_named(struct row_list *l, const char *name, bool later)
{
	int i = rows_named(l->about, name);

	if (i >= 0)
		rows_signal(l, (size_t)i, WEIGHT_REST, false)->later = later;
}

static void add_cores(struct row_list *l, bool clocks)
{
	size_t channels[CORE_GROUP_MAX];
	int n = of_kind(l->about, CHANNEL_CORE_UTIL, channels);

	if (n)
		rows_heading(l, _("CPU cores"), STYLE_CPU)->later = true;
	for (int i = 0; i < n; i++) {
		struct row *row = rows_signal(l, channels[i], WEIGHT_REST, true);

		row->later = true;
		row->read = read_core;
	}
	n = clocks ? of_kind(l->about, CHANNEL_CPU_FREQ, channels) : 0;
	for (int i = 0; i < n; i++)
		clock_row(l, channels[i], WEIGHT_REST)->later = true;
}

static void build(struct row_list *l)
{
	const struct session *about = l->about;
	struct core_group groups[CORE_GROUPS_MAX];
	int n = core_groups(about, groups), all = rows_find(about, CHANNEL_CPU_UTIL, -1);
	bool single = n <= SINGLE_MAX;

	if (all >= 0)
		rows_signal(l, (size_t)all, WEIGHT_MAIN, false);
	for (int i = 0; i < n && single; i++) {
		if (groups[i].clock >= 0)
			clock_row(l, (size_t)groups[i].clock, CLOCK_WEIGHT);
		add_strip(l, groups[i].core[0]);
	}
	if (!single) {
		add_strip(l, (size_t)rows_find(about, CHANNEL_CORE_UTIL, -1));
		rows_heading(l, _("Clocks, MHz"), STYLE_CPU);
		add_strip(l, (size_t)rows_find(about, CHANNEL_CPU_FREQ, -1));
	}
	add_named(l, "cpu.iowait", false);
	add_named(l, "load.1", false);
	add_cores(l, !single);
	add_named(l, "load.5", true);
	add_named(l, "load.15", true);
	if (!l->n)
		rows_text(l, _("CPU"), _("the trace has no CPU signals"));
}

const struct view view_cpu = {
	.name = "cpu",
	.label = N_("CPU"),
	.key = '3',
	.build = build,
};
