/* What the options take: text into values, with a sentence that says what would be one. */
#include <string.h>

#include "cli/verb.h"
#include "util/clock.h"
#include "model/condition.h"
#include "app/settings-file.h"
#include "util/intl.h"
#include "util/num.h"

#define HZ_MIN 0.1
#define HZ_MAX 10000.0

static int bad_value(struct err *e, const char *name, const char *value, const char *expected)
{
	char shown[128];

	text_printable(shown, sizeof shown, value, strlen(value));
	return err_set(e, ERR_USAGE, _("\"%s\" is not a valid value for --%s: it takes %s"), shown, name, expected);
}

static int read_time(int64_t *out, const char *name, const char *value, struct err *e)
{
	if (num_duration_ns(value, out))
		return 0;
	return bad_value(e, name, value, _("a time such as 90, 1.5, 250ms, 1m30s or 1:02:03"));
}

static void *member(struct options *o, const struct option_entry *t)
{
	return (char *)o + t->at;
}

int value_flag(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	(void)value;
	(void)e;
	*(bool *)member(o, t) = true;
	return 0;
}

int value_text(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	(void)e;
	*(const char **)member(o, t) = value;
	return 0;
}

int value_hz(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	double *hz = member(o, t);

	if (num_double(value, hz) && *hz >= HZ_MIN && *hz <= HZ_MAX)
		return 0;
	return bad_value(e, t->name, value, _("a rate from 0.1 to 10000 per second"));
}

int value_time(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	return read_time(member(o, t), t->name, value, e);
}

int value_demo(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	(void)t;
	(void)value;
	(void)e;
	o->board = "demo";
	return 0;
}

int value_output(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	(void)t;
	return operand_out(o, value, e);
}

int value_duration(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	if (read_time(&o->duration_ns, t->name, value, e) < 0)
		return -1;
	return o->duration_ns ? 0 : bad_value(e, t->name, value, _("a time longer than 0"));
}

int value_keep(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	if (read_time(&o->keep_ns, t->name, value, e) < 0)
		return -1;
	return o->keep_ns >= NS_PER_S / 10 ? 0 : bad_value(e, t->name, value, _("a time of at least 100ms"));
}

int value_from(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	o->pick.has_from = true;
	return read_time(&o->pick.from_ns, t->name, value, e);
}

int value_to(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	o->pick.has_to = true;
	return read_time(&o->pick.to_ns, t->name, value, e);
}

int value_at(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	o->has_at = true;
	return read_time(&o->at_ns, t->name, value, e);
}

int value_max_size(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	if (num_bytes(value, &o->limits.max_bytes) && o->limits.max_bytes >= TRACE_BYTES_MIN)
		return 0;
	return bad_value(e, t->name, value, _("a number of bytes such as 500k, 100M or 2G, at least 64Ki"));
}

/* A plain number is seconds. */
int value_split(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	o->limits.split_ns = 0;
	o->limits.split_bytes = 0;
	if (num_duration_ns(value, &o->limits.split_ns) && o->limits.split_ns >= NS_PER_S)
		return 0;
	o->limits.split_ns = 0;
	if (*value && !strchr("0123456789", value[strlen(value) - 1]) &&
	    num_bytes(value, &o->limits.split_bytes) && o->limits.split_bytes >= TRACE_BYTES_MIN)
		return 0;
	return bad_value(e, t->name, value,
			 _("a time of at least 1 second such as 3600 or 1h, or a size of at least 64Ki "
			   "such as 500M"));
}

int value_history(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	o->has_history = true;
	if (conf_history(value, &o->history.bytes, &o->history.span_ns))
		return 0;
	return bad_value(e, t->name, value,
			 _("auto, a size from 4Mi to 64Gi such as 64M, or a time from 10s to 168h such as 1h"));
}

int value_flush(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	if (num_duration_ns(value, &o->limits.sync_ns) && o->limits.sync_ns >= NS_PER_S / 10 &&
	    o->limits.sync_ns <= 86400 * NS_PER_S)
		return 0;
	return bad_value(e, t->name, value, _("a time from 100ms to 24h"));
}

int value_print(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	const char *end = value + strlen(value);
	int64_t w, h;

	const char *p = num_i64(value, end, &w);
	if (p && *p == 'x') {
		p = num_i64(p + 1, end, &h);
		if (p == end && w >= 1 && w <= 1000 && h >= 1 && h <= 1000) {
			o->print_w = (int)w;
			o->print_h = (int)h;
			return 0;
		}
	}
	return bad_value(e, t->name, value, _("columns and rows such as 120x40, at most 1000x1000"));
}

int value_color(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	static const struct {
		const char *name;
		enum colour_choice choice;
	} names[] = {{"auto", COLOUR_AUTO}, {"never", COLOUR_NEVER}, {"8", COLOUR_8},
		     {"16", COLOUR_16},     {"256", COLOUR_256},     {"truecolor", COLOUR_RGB}};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(names[i].name, value)) {
			o->term.colour = names[i].choice;
			return 0;
		}
	return bad_value(e, t->name, value, _("auto, never, 8, 16, 256 or truecolor"));
}

int value_nice(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	const char *end = value + strlen(value);
	int64_t n;

	if (num_i64(value, end, &n) != end || n < -20 || n > 19)
		return bad_value(e, t->name, value, _("a whole number from -20 to 19"));
	o->nice = (int)n;
	o->has_nice = true;
	return 0;
}

int value_trigger(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	char why[sizeof e->text];
	struct condition c;

	(void)t;
	if (o->trigger)
		return err_set(e, ERR_USAGE,
			       _("--trigger can be given only once: join conditions with \"or\""));
	o->trigger = value;
	if (condition_parse(&c, value, e) == 0)
		return 0;
	memcpy(why, e->text, sizeof why);
	return err_set(e, ERR_USAGE, "--trigger: %s", why);
}

static int word_find(const char *const *words, int n, const char *value)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(words[i], value))
			return i;
	return -1;
}

int value_format(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	static const char *const names[] = {"table", "json", "csv", "markdown"};
	int i = word_find(names, 4, value);

	if (i < 0)
		return bad_value(e, t->name, value, _("table, json, csv or markdown"));
	o->format = (enum report_format)i;
	return 0;
}

int value_picture(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	static const char *const names[] = {"text", "svg"};
	int i = word_find(names, 2, value);

	if (i < 0)
		return bad_value(e, t->name, value, _("text or svg"));
	o->picture = i == 0 ? PICTURE_TEXT : PICTURE_SVG;
	return 0;
}

int value_form(struct options *o, const char *value, struct err *e)
{
	static const char *const names[] = {"csv", "jsonl", "perfetto", "nvmt1"};
	int i = word_find(names, 4, value);
	char shown[128];

	if (i >= 0) {
		o->form = (enum export_form)i;
		return 0;
	}
	text_printable(shown, sizeof shown, value, strlen(value));
	return err_set(e, ERR_USAGE, _("\"%s\" is not a form to export to: csv, jsonl, perfetto or nvmt1"), shown);
}

int value_tier(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	o->pick.tier = tier_find(value);
	return o->pick.tier >= 0 ? 0 : bad_value(e, t->name, value, _("fast, medium or slow"));
}

int value_per(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	if (num_double(value, &o->per) && o->per > 0)
		return 0;
	return bad_value(e, t->name, value, _("a number of items above 0"));
}

int value_frames(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	if (num_double(value, &o->frames) && o->frames >= 0.1 && o->frames <= 60)
		return 0;
	return bad_value(e, t->name, value, _("a rate from 0.1 to 60 per second"));
}

int value_interval(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	int64_t ns;

	if (!num_duration_ns(value, &ns) || ns < NS_PER_S / 60 || ns > 10 * NS_PER_S)
		return bad_value(e, t->name, value, _("a time from 17ms to 10s"));
	o->frames = (double)NS_PER_S / (double)ns;
	return 0;
}

int value_theme(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	o->has_theme = true;
	if (conf_theme(value, &o->term.theme, &o->term.ground))
		return 0;
	return bad_value(e, t->name, value,
			 _("auto, dark, light, high-contrast, colour-blind (both also with "
			   "-dark or -light) or mono"));
}

int value_pid(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	int64_t pid;

	if (num_i64(value, value + strlen(value), &pid) != value + strlen(value) || pid < 1 ||
	    pid > INT32_MAX)
		return bad_value(e, t->name, value, _("a process ID"));
	o->to = (long)pid;
	return 0;
}
