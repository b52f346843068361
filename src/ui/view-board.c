/* view-board: describes the machine: hardware, settings, missing signals with their remedies,
 * and the cost of sampling. Sections fill as many columns as fit and are never split. */
#include "ui/control.h"
#include "ui/draw.h"
#include "ui/meter.h"
#include "ui/rows.h"
#include "ui/screen.h"

#include "util/intl.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define ITEMS_MAX 120
#define COLUMNS	  3
#define METER_W	  10

static const char *const families[] = {
	[FAMILY_GPU] = "GPU",	      [FAMILY_CPU] = "CPU",	  [FAMILY_MEMORY] = N_("memory"),
	[FAMILY_POWER] = N_("power"), [FAMILY_HEAT] = N_("heat"), [FAMILY_OTHER] = N_("other"),
};

struct item {
	bool head;
	char name[48];	  /* "" in a list */
	char text[1024];
	char second[160]; /* the value of the second trace */
	enum style style;
	double part; /* for a bar before the text; NaN: no bar */
	const struct control_item *set; /* what can be set here, or NULL */
	int lines, column, y;
};

struct page {
	struct item *items;
	int n;
	int width, names; /* of a column, and of its names */
	bool second;
};

/* Replace a preceding heading without items. */
static void add_head(struct page *p, const char *name)
{
	if (p->n && p->items[p->n - 1].head)
		p->n--;
	if (p->n == ITEMS_MAX)
		return;
	p->items[p->n] = (struct item) {.head = true, .part = NAN};
	snprintf(p->items[p->n++].name, sizeof(p->items->name), "%s", name);
}

static struct item *add(struct page *p, const char *name, const char *text)
{
	static struct item nowhere; /* used if the page is full */
	struct item *item = p->n < ITEMS_MAX ? &p->items[p->n++] : &nowhere;

	*item = (struct item) {.style = STYLE_TEXT, .part = NAN};
	snprintf(item->name, sizeof(item->name), "%.47s", name);
	snprintf(item->text, sizeof(item->text), "%s", text);
	return item;
}

static const char *second_fact(const struct ui *u, const char *key)
{
	const struct session *b = u->second.about;
	const char *value = b ? fact_get(b->facts, b->n_facts, key) : NULL;

	return value ? value : "";
}

static void add_fact(struct page *p, const struct ui *u, const char *name, const char *key)
{
	const char *a = screen_fact(u, key), *b = second_fact(u, key);

	if (*a || *b)
		snprintf(add(p, name, *a ? a : "--")->second, sizeof(p->items->second), "%s", *b ? b : "--");
}

static const struct machine *machine_of(const struct ui *u, const struct ui_scene *s)
{
	return s->live && !*screen_fact(u, "demo") ? s->machine : NULL;
}

/* A trace has some of the fields as facts; the others are those of the running machine. */
static void add_fields(struct page *p, const struct ui *u, const struct machine *m, bool libraries)
{
	for (size_t i = 0; i < MACHINE_FIELDS; i++) {
		const struct machine_field *f = &machine_fields[i];

		if (!f->title || !strncmp(f->key, "libraries.", 10) != libraries)
			continue;
		if (f->fact)
			add_fact(p, u, _(f->title), f->fact);
		else if (m && *m->text[i])
			add(p, _(f->title), m->text[i]);
	}
}

static void add_machine(struct page *p, const struct ui *u, const struct ui_scene *s)
{
	const struct machine *m = machine_of(u, s);
	char text[QUANTITY_TEXT];
	int n;

	add_head(p, _("This machine"));
	n = p->n;
	add_fact(p, u, _("Board"), *screen_fact(u, "title") ? "title" : "board");
	add_fields(p, u, m, false);
	add_fact(p, u, _("Host"), "hostname");
	if (m && m->uptime_s > 0) {
		int64_t minutes = m->uptime_s / 60, days = minutes / 1440;

		snprintf(text, sizeof(text), days ? _("%lld d %lld h %02lld min") : "%.0lld%lld h %02lld min",
			 (long long)days, (long long)(minutes / 60 % 24), (long long)(minutes % 60));
		add(p, _("Uptime"), text);
	}
	if (p->n == n)
		add(p, _("Board"), _("the trace does not name its board"));
	add_fact(p, u, _("Notice"), "notice");
	add_fact(p, u, _("Known by"), "why");
	add_fact(p, u, _("Other sensors"), "other_sensors");
}

static void add_libraries(struct page *p, const struct ui *u, const struct ui_scene *s)
{
	const struct machine *m = machine_of(u, s);

	add_head(p, _("Libraries"));
	add_fields(p, u, m, true);
}

/* List the governors of the core groups, or one name if all are equal. */
static void governors(char *out, size_t size, const struct session *about, const struct fact *facts)
{
	const char *first = NULL;
	bool same = true;
	size_t used = 0;

	out[0] = 0;
	for (size_t i = 0; about && i < about->n_facts; i++) {
		const struct fact *f = &facts[i];
		const char *dot = strchr(f->key, '.');

		if (strncmp(f->key, "cpu", 3) != 0 || !dot || strcmp(dot, ".governor") != 0)
			continue;
		same = same && (!first || !strcmp(first, f->value));
		first = first ? first : f->value;
		if (used < size)
			used += (size_t)snprintf(out + used, size - used, "%s%.*s %s", used ? ", " : "",
						 (int)(dot - f->key), f->key, f->value);
	}
	if (first && same)
		snprintf(out, size, "%s", first);
}

/* Adds what can be set of a kind. Returns false if there is none. */
static bool add_control(struct page *p, const struct ui_scene *s, enum control_kind kind)
{
	bool any = false;

	for (size_t i = 0; s->control && i < s->control->n; i++) {
		const struct control_item *it = &s->control->at[i];
		char title[CONTROL_TITLE], value[256];
		struct item *item;

		if (it->kind != kind)
			continue;
		control_title(title, it->name);
		control_shown(it->name, it->value, value, sizeof(value));
		item = add(p, title, value[0] ? value : it->missing[0] ? it->missing : kind == CONTROL_CACHES ? _("drop") : "--");
		item->set = it;
		item->style = it->refused[0] || it->missing[0] ? STYLE_DIM : STYLE_TEXT;
		any = true;
	}
	return any;
}

static void add_settings(struct page *p, struct ui *u, const struct ui_scene *s)
{
	int pinned = rows_named(u->about, "clocks.pinned");
	double v = rows_value(u, s, pinned);
	const struct session *b = u->second.about;
	char text[256], second[160];

	add_head(p, _("Settings"));
	if (!add_control(p, s, CONTROL_MODE))
		add_fact(p, u, _("Power mode"), "mode");
	if (!add_control(p, s, CONTROL_PINNED) && pinned >= 0)
		add(p, _("Clocks"),
		    isnan(v) ? "--"
		    : v > 0  ? _("jetson_clocks on")
			     : _("jetson_clocks off"));
	add_control(p, s, CONTROL_CLOCK);
	if (!add_control(p, s, CONTROL_GOVERNOR)) {
		add_fact(p, u, _("GPU governor"), "gpu.governor");
		governors(text, sizeof(text), u->about, present_facts(&u->present, u->about));
		governors(second, sizeof(second), b, b ? b->facts : NULL);
		if (text[0] || second[0])
			snprintf(add(p, _("CPU governor"), text[0] ? text : "--")->second, sizeof(p->items->second), "%s",
				 second[0] ? second : "--");
	}
	if (!add_control(p, s, CONTROL_FAN))
		add_fact(p, u, _("Fan"), "fan"), add_fact(p, u, _("Fan profile"), "fan.profile");
	add_fact(p, u, _("CPUs online"), "cpu.online");
	if (!add_control(p, s, CONTROL_3D))
		add_fact(p, u, _("3D scaling"), "3d-scaling");
	if (!add_control(p, s, CONTROL_SWAP))
		add_fact(p, u, _("Swap"), "swap");
	add_control(p, s, CONTROL_CACHES);
}

static void add_places(struct page *p, const struct ui *u, const struct ui_scene *s)
{
	const struct machine *m = machine_of(u, s);
	char text[96], free[QUANTITY_TEXT], all[QUANTITY_TEXT];

	add_head(p, _("Disks, network"));
	for (size_t i = 0; m && i < m->n_disks; i++) {
		const struct disk_space *d = &m->disks[i];

		quantity_bytes(free, (uint64_t)d->available);
		quantity_bytes(all, (uint64_t)d->total);
		snprintf(text, sizeof(text), _("%s free of %s"), free, all);
		add(p, d->mount, text)->part = 1 - d->available / d->total;
	}
	for (size_t i = 0; m && i < m->n_addresses; i++)
		if (strncmp(m->addresses[i].text, "fe80:", 5) != 0)
			add(p, m->addresses[i].name, m->addresses[i].text);
}

/* The remedy after the last semicolon, or all of the reason if there is none. */
static const char *remedy(const char *missing)
{
	const char *p = missing, *at = missing;

	while ((p = strstr(p, "; ")))
		at = p += 2;
	return at;
}

static void join(char *out, size_t size, const char *name)
{
	size_t used = strlen(out);

	snprintf(out + used, size - used, "%s%s", used ? ", " : "", name);
}

/* List each remedy once, below the signals it would add; or the full reason if all of them share it. */
static void add_missing(struct page *p, const struct ui *u)
{
	const struct channel *all = u->about->channels;
	char text[256];

	add_head(p, _("Missing, and why"));
	for (size_t i = 0; i < u->about->n_channels; i++) {
		char names[sizeof(p->items->text)] = "";
		const char *last = "";
		bool told = !all[i].missing[0], same = true;

		for (size_t k = 0; k < i && !told; k++)
			told = all[k].missing[0] && !strcmp(remedy(all[k].missing), remedy(all[i].missing));
		if (told)
			continue;
		for (size_t k = i; k < u->about->n_channels; k++) {
			if (!all[k].missing[0] || strcmp(remedy(all[k].missing), remedy(all[i].missing)) != 0)
				continue;
			if (strcmp(last, all[k].label) != 0)
				join(names, sizeof(names), all[k].label);
			last = all[k].label;
			same = same && !strcmp(all[k].missing, all[i].missing);
		}
		add(p, "", names);
		add(p, " ", same ? all[i].missing : remedy(all[i].missing))->style = STYLE_DIM;
	}
	for (size_t i = 0; i < u->present.n_dead; i++) {
		/* TRANSLATORS: followed by a time, such as "12:34:56.7". */
		snprintf(text, sizeof(text), _("stopped answering at %s"), u->present.dead[i].since);
		add(p, all[u->present.dead[i].channel].label, text)->style = STYLE_WARN;
	}
}

/* Late ticks: from the sampler if live, from the gaps of a trace. */
static void add_late(struct page *p, const struct ui *u, const struct ui_scene *s)
{
	unsigned long long late = s->late, lost = s->lost;
	struct gap gaps[GAPS_MAX];
	struct item *item;
	size_t n = 0;

	if (!s->live) {
		n = u->extent.any ? s->timeline->ops->gaps(s->timeline, u->extent.first_ns,
							   u->extent.last_ns + 1, gaps, GAPS_MAX)
				  : 0;
		late = lost = 0;
		for (size_t i = 0; i < n; i++)
			if (gaps[i].tier == TIER_FAST)
				*(gaps[i].cause == GAP_LATE ? &late : &lost) += gaps[i].missed;
	}
	item = add(p, _("Late"), "");
	if (n == GAPS_MAX)
		snprintf(item->text, sizeof(item->text), _("more than %d holes in this trace"), GAPS_MAX);
	else if (s->live)
		snprintf(item->text, sizeof(item->text),
			 P_("%llu late tick of the fast tier", "%llu late ticks of the fast tier", late), late);
	else if (late || lost)
		snprintf(item->text, sizeof(item->text),
			 P_("%llu late tick in holes", "%llu late ticks in holes", late), late);
	else
		snprintf(item->text, sizeof(item->text), "%s", _("no holes"));
	if (lost)
		snprintf(item->text + strlen(item->text), sizeof(item->text) - strlen(item->text),
			 P_(", %llu row lost", ", %llu rows lost", lost), lost);
	item->style = lost ? STYLE_ALERT : STYLE_TEXT;
}

static void add_value(struct page *p, struct ui *u, const struct ui_scene *s, size_t channel)
{
	const struct channel *ch = &u->about->channels[channel];
	double v = rows_calm(u, s, channel);
	enum unit unit = quantity_of(ch, v);
	char number[QUANTITY_TEXT], text[160];

	quantity_text(number, unit, v, 8);
	snprintf(text, sizeof(text), "%s %s %s", number, isnan(v) ? "" : quantity_unit(unit),
		 unit == UNIT_PERCENT && !isnan(v) ? _("of one core") : "");
	add(p, ch->label, text);
}

static void add_sampling(struct page *p, struct ui *u, const struct ui_scene *s)
{
	const struct session *about = u->about;
	char text[128];

	add_head(p, _("Sampling, and what it costs"));
	snprintf(text, sizeof(text), _("%g, %g and %g Hz (fast, medium, slow)"), about->hz[TIER_FAST], about->hz[TIER_MEDIUM], about->hz[TIER_SLOW]);
	add(p, _("Rates"), text);
	add_fact(p, u, _("Priority"), "priority");
	add_fact(p, u, _("CPU source"), "cpu.source");
	add_late(p, u, s);
	if (rows_named(about, "nvmtop.cpu") < 0) {
		snprintf(text, sizeof(text), _("%.1f %% of one core"), s->own_cpu);
		add(p, _("Own CPU"), isnan(s->own_cpu) ? _("not known of a saved trace") : text);
	}
	for (size_t i = 0; i < about->n_channels; i++)
		if (!strncmp(about->channels[i].name, "nvmtop.", 7) &&
		    (about->channels[i].kind == CHANNEL_OTHER || about->channels[i].kind == CHANNEL_COUNTER))
			add_value(p, u, s, i);
}

static bool number_with_unit(char out[64], const struct channel *ch, double v)
{
	enum unit unit = quantity_of(ch, v);
	char text[QUANTITY_TEXT];

	quantity_round(text, unit, v);
	snprintf(out, 64, "%s %s", text, quantity_unit(unit));
	return v > 0;
}

/* List the maximum clocks and the current limits. */
static void add_limits(struct page *p, const struct ui *u)
{
	add_head(p, _("Clocks and rails"));
	for (size_t i = 0; i < u->about->n_channels; i++) {
		const struct channel *ch = &u->about->channels[i];
		char from[64], to[64], text[160];
		bool clock = ch->kind == CHANNEL_GPU_FREQ || ch->kind == CHANNEL_CPU_FREQ || ch->kind == CHANNEL_EMC_RATE;

		if (ch->missing[0])
			continue;
		if (clock && number_with_unit(to, ch, ch->hi)) {
			if (number_with_unit(from, ch, ch->lo))
				snprintf(text, sizeof(text), _("%s to %s"), from, to);
			else
				snprintf(text, sizeof(text), _("up to %s"), to);
		} else if (ch->kind == CHANNEL_RAIL_CURRENT && number_with_unit(from, ch, rows_limit(ch))) {
			if (ch->crit > ch->warn && number_with_unit(to, ch, ch->crit))
				snprintf(text, sizeof(text), _("limit %s, critical %s"), from, to);
			else
				snprintf(text, sizeof(text), _("limit %s"), from);
		} else {
			continue;
		}
		add(p, ch->label, text);
	}
}

/* Show the number of signals and their time range. */
static void add_samples(struct page *p, const struct ui *u)
{
	const struct session *about = u->about;
	time_t begin = (time_t)(clock_wall_ns(&about->start, u->extent.first_ns) / NS_PER_S);
	int all[FAMILIES] = {0}, missing = 0;
	char text[160] = "";
	struct tm tm;

	for (size_t i = 0; i < about->n_channels; i++)
		if (about->channels[i].missing[0])
			missing++;
		else
			all[about->channels[i].family]++;
	add_head(p, _("Signals and samples"));
	for (int i = 0; i < FAMILIES; i++)
		if (all[i])
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%d %s", *text ? ", " : "", all[i],
				 _(families[i]));
	add(p, _("Signals"), text);
	if (missing) {
		snprintf(text, sizeof(text), "%d", missing);
		add(p, _("Missing"), text);
	}
	if (!u->extent.any)
		return;
	if (about->start.real_ns && localtime_r(&begin, &tm) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm))
		add(p, _("Begin"), text);
	quantity_time(text, u->extent.last_ns - u->extent.first_ns, NS_PER_S / 10);
	add(p, _("Length"), text);
}

static void add_only(struct page *p, struct ui *u, const char *name, bool in_b)
{
	char text[sizeof(p->items->text)];

	if (second_only(u, in_b, text, sizeof(text)))
		add(p, name, text);
}

static int text_width_of(const struct page *p, const struct item *item)
{
	return p->width - (item->name[0] == ' ' ? 2 : item->name[0] ? p->names + 1 : 0) -
	       (isnan(item->part) ? 0 : METER_W + 1);
}

static int second_x(const struct page *p)
{
	return p->names + 1 + (p->width - p->names) / 2;
}

static void measure(struct page *p)
{
	for (int i = 0; i < p->n; i++) {
		struct item *item = &p->items[i];
		int w = text_width_of(p, item), lines;

		if (p->second && item->second[0])
			w = second_x(p) - p->names - 3;
		lines = item->head ? 1 : text_lines(item->text, w);
		if (p->second && item->second[0] && text_lines(item->second, w) > lines)
			lines = text_lines(item->second, w);
		item->lines = lines < 1 ? 1 : lines;
	}
}

/* Place whole sections into columns of at most `height` lines; false: too few columns. */
static bool flow(struct page *p, int columns, int height)
{
	int column = 0, y = 0, end;

	for (int i = 0; i < p->n; i = end) {
		int lines = 0;

		for (end = i; end < p->n && (end == i || !p->items[end].head); end++)
			lines += p->items[end].lines;
		if (y && y + 1 + lines > height) {
			column++;
			y = 0;
		}
		if (lines > height || column == columns)
			return false;
		y += y > 0;
		for (int k = i; k < end; k++) {
			p->items[k].column = column;
			p->items[k].y = y;
			y += p->items[k].lines;
		}
	}
	return true;
}

static void draw_item(const struct ui *u, struct canvas *c, const struct page *p, const struct item *item, int x, int y,
		      int h)
{
	const struct control_lines *l = ui_state(u, &view_board);
	bool chosen = item->set && !strcmp(item->set->name, l->chosen);
	int text = item->name[0] == ' ' ? 2 : item->name[0] ? p->names + 1 : 0;

	h = item->lines < h ? item->lines : h;
	if (item->head) {
		int w = canvas_text(c, x, y, p->width, STYLE_TITLE, item->name);

		for (int i = w + 1; i < p->width; i++)
			canvas_put(c, x + i, y, STYLE_BORDER, screen_glyph(u, 0x2500, '-'));
		if (p->second && x == u->at.name.x)
			canvas_text(c, x + second_x(p), y, 3, STYLE_TITLE, " B ");
		return;
	}
	if (chosen) {
		for (int i = 0; i < p->width * item->lines; i++)
			canvas_put(c, x + i % p->width, y + i / p->width, STYLE_SELECTED, L' ');
	}
	screen_cut(u, c, x, y, p->names, chosen ? STYLE_SELECTED : STYLE_DIM, item->name);
	if (!isnan(item->part)) {
		meter_draw(c, u->charset, x + text, y, METER_W, item->part, HUE_OTHER,
			   item->part > 0.95 ? ALARM_WARN : ALARM_NONE);
		text += METER_W + 1;
	}
	if (!p->second || !item->second[0]) {
		text_draw(u, c, x + text, y, text_width_of(p, item), h, chosen ? STYLE_SELECTED : item->style, item->text);
		return;
	}
	text_draw(u, c, x + text, y, second_x(p) - text - 2, h, STYLE_TEXT, item->text);
	text_draw(u, c, x + second_x(p) + 1, y, p->width - second_x(p) - 1, h,
		  strcmp(item->text, item->second) ? STYLE_TEXT : STYLE_DIM, item->second);
}

static void board_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	struct item items[ITEMS_MAX];
	struct page p = {.items = items, .second = u->second.about != NULL};
	int x = u->at.name.x, top = u->at.axis.h && !u->at.second.h ? u->at.axis.y : u->at.body.y;
	int room = c->w - 2 * x, h = u->at.body.y + u->at.body.h - top, columns, height, gap = 3;
	struct control_lines *l = ui_state(u, &view_board);

	if (!u->about)
		return;
	columns = p.second ? 1 : room >= 180 ? COLUMNS : room >= 96 ? 2 : 1;
	p.width = (room - (columns - 1) * gap) / columns;
	p.names = p.width >= 46 ? 15 : p.width >= 32 ? 11 : 7;
	add_machine(&p, u, s);
	add_libraries(&p, u, s);
	add_settings(&p, u, s);
	add_head(&p, _("Signals of one trace"));
	add_only(&p, u, _("Only in A"), false);
	add_only(&p, u, _("Only in B"), true);
	add_missing(&p, u);
	add_places(&p, u, s);
	add_limits(&p, u);
	add_samples(&p, u);
	add_sampling(&p, u, s);
	if (p.n && items[p.n - 1].head)
		p.n--;
	measure(&p);
	for (height = 1; !flow(&p, columns, height); height++)
		;
	l->height = height;
	if (u->scroll > height - h)
		u->scroll = height > h ? height - h : 0;
	l->n = 0;
	for (int i = 0; i < p.n; i++) {
		struct rect at = {x + items[i].column * (p.width + gap), items[i].y, p.width, items[i].lines};
		int y = items[i].y - u->scroll;

		if (y >= 0 && y < h)
			draw_item(u, c, &p, &items[i], at.x, top + y, h - y);
		if (!items[i].set || l->n == CONTROL_LINES)
			continue;
		snprintf(l->line[l->n].name, sizeof(l->line[0].name), "%s", items[i].set->name);
		l->line[l->n++].at = at;
	}
	l->top = top;
	l->shown = h;
	for (int i = 0; i < l->n; i++)
		if (!strcmp(l->line[i].name, l->chosen))
			control_choice_draw(u, s, c, &(struct rect) {l->line[i].at.x + p.names - 2, top + l->line[i].at.y - u->scroll, p.width, 1});
	u->frame.below = height - u->scroll - h;
}

static bool is_in_view(const struct ui *u, int line)
{
	const struct control_lines *l = ui_state(u, &view_board);

	return line >= 0 && line < l->n && l->line[line].at.y >= u->scroll && l->line[line].at.y < u->scroll + l->shown;
}

/* Chooses the next line that can be set, if it is in view; else scrolls towards it. */
static void board_move(struct ui *u, const struct ui_scene *s, enum move how, int by)
{
	struct control_lines *l = ui_state(u, &view_board);
	int at = 0;

	if (control_is_choosing(u)) {
		l->at += view_lines(how, by, CONTROL_LINES);
		return;
	}
	while (at < l->n && strcmp(l->line[at].name, l->chosen) != 0)
		at++;
	if (at < l->n && is_in_view(u, at))
		at += by;
	else
		for (at = by > 0 ? 0 : l->n - 1; at >= 0 && at < l->n && !is_in_view(u, at);)
			at += by;
	if (how == MOVE_LINE && is_in_view(u, at))
		memcpy(l->chosen, l->line[at].name, sizeof(l->chosen));
	else
		view_scroll(&u->scroll, view_lines(how, by, u->at.body.h > 1 ? u->at.body.h - 1 : 1), l->height);
}

/* The first click chooses a line, the second opens its choice. */
static bool board_click(struct ui *u, const struct ui_scene *s, int x, int y, struct request *r)
{
	struct control_lines *l = ui_state(u, &view_board);

	while (control_is_choosing(u)) /* a press beside it */
		modal_close(u);
	for (int i = 0; i < l->n; i++) {
		const struct rect *at = &l->line[i].at;

		if (x < at->x || x >= at->x + at->w || y - l->top + u->scroll < at->y || y - l->top + u->scroll >= at->y + at->h)
			continue;
		if (!strcmp(l->chosen, l->line[i].name))
			act_set(u, s, r, 0);
		memcpy(l->chosen, l->line[i].name, sizeof(l->chosen));
		return true;
	}
	return false;
}

static bool board_escape(struct ui *u)
{
	struct control_lines *l = ui_state(u, &view_board);
	bool was = l->chosen[0] != '\0';

	l->chosen[0] = '\0';
	return was;
}

static const char *bar_set(const struct ui *u, const struct ui_scene *s)
{
	const struct control_lines *l = ui_state(u, &view_board);

	return l->chosen[0] ? _("set") : NULL;
}

static const char *bar_choose(const struct ui *u, const struct ui_scene *s)
{
	const struct control_lines *l = ui_state(u, &view_board);

	return l->n ? _("choose") : NULL;
}

/* clang-format off */
static const struct key_entry keys[] = {
	{ KEYS_ROWS, WHEN_LIVE, { { K_DOWN, 0, MOVE_LINE }, { K_UP, 0, -MOVE_LINE } },
	  act_move, NULL, NULL, "Up Down", NULL, bar_choose, 0 },
	{ KEYS_ROWS, WHEN_LIVE, { { K_ENTER, 0, 0 } },
	  act_set, "Enter", N_("in Board: set the selected line (asks first)"), "Enter", NULL, bar_set, WHEN_LIVE },
	{ .handler = NULL }
};
/* clang-format on */

const struct view view_board = {
	.name = "board",
	.label = N_("Board"),
	.key = '9',
	.keys = keys,
	.plain = true,
	.draw = board_draw,
	.host = true,
	.state = sizeof(struct control_lines),
	.move = board_move,
	.click = board_click,
	.escape = board_escape,
};
