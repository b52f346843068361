/* Parses values of options; error messages list the valid values. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <strings.h>

#include "cli/verb.h"
#include "util/clock.h"
#include "model/condition.h"
#include "app/settings-file.h"
#include "util/intl.h"
#include "util/num.h"

static int bad_value(struct err *e, const struct option_entry *t, const char *value, const char *wants)
{
	return err_set(e, ERR_USAGE, _("\"%s\" is not a valid value for --%s: it takes %s"), shown_word(value),
		       t->name, wants);
}

static void *member(struct options *o, size_t at)
{
	return (char *)o + at;
}

int value_flag(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	(void)value;
	(void)e;
	*(bool *)member(o, t->at) = true;
	return 0;
}

int value_text(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	(void)e;
	*(const char **)member(o, t->at) = value ? value : "";
	return 0;
}

int value_time(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	int64_t ns;

	if (!num_duration_ns(value, &ns))
		return bad_value(e, t, value, _("a time such as 90, 1.5, 250ms, 1m30s or 1:02:03"));
	if ((double)ns < t->least * NS_PER_S || (t->most > 0 && (double)ns > t->most * NS_PER_S))
		return bad_value(e, t, value, _(t->wants));
	*(int64_t *)member(o, t->at) = ns;
	if (t->has)
		*(bool *)member(o, t->has) = true;
	return 0;
}

int value_number(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	double v;

	if (!num_double(value, &v) || v < t->least || v > t->most)
		return bad_value(e, t, value, _(t->wants));
	*(double *)member(o, t->at) = v;
	return 0;
}

int value_count(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	const char *end = value + strlen(value);
	int64_t n;

	if (num_i64(value, end, &n) != end || (double)n < t->least || (double)n > t->most)
		return bad_value(e, t, value, _(t->wants));
	*(int *)member(o, t->at) = (int)n;
	if (t->has)
		*(bool *)member(o, t->has) = true;
	return 0;
}

int value_ready_fd(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	int flags;

	if (value_count(o, t, value, e) < 0)
		return -1;
	flags = fcntl(o->ready_fd, F_GETFL);
	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
		return err_set(e, ERR_USAGE, _("--ready-fd: descriptor %d is not open for writing"), o->ready_fd);
	fcntl(o->ready_fd, F_SETFD, FD_CLOEXEC); /* the command would keep it open */
	return 0;
}

static int word_find(const char *const *words, const char *value)
{
	for (int i = 0; words[i]; i++)
		if (*value && !strcmp(words[i], value))
			return i;
	return -1;
}

int value_word(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	int i = word_find(t->words, value);

	if (i < 0)
		return bad_value(e, t, value, _(t->wants));
	*(int *)member(o, t->at) = i;
	return 0;
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

int value_max_size(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	if (num_bytes(value, &o->limits.max_bytes) && o->limits.max_bytes >= TRACE_BYTES_MIN)
		return 0;
	return bad_value(e, t, value, _("a number of bytes such as 500k, 100M or 2G, at least 64Ki"));
}

int value_limit(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	struct trace_limit *l = member(o, t->at);
	uint64_t bytes;
	int64_t ns;

	if (num_duration_ns(value, &ns) && ns >= NS_PER_S)
		l->ns = ns;
	else if (*value && !strchr("0123456789", value[strlen(value) - 1]) && num_bytes(value, &bytes) &&
		 bytes >= TRACE_BYTES_MIN)
		l->bytes = bytes;
	else
		return bad_value(e, t, value,
				 _("a time of at least 1 second such as 3600, 1h or 7d, or a size of at least 64Ki "
				   "such as 500M"));
	return 0;
}

int value_history(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	o->has_history = true;
	if (conf_history(value, &o->history_ns))
		return 0;
	return bad_value(e, t, value, _("0, or a time from 10s to 168h such as 1h"));
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
	return bad_value(e, t, value, _("columns and rows such as 120x40, at most 1000x1000"));
}

int value_trigger(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	struct condition c;

	if (o->trigger)
		return err_set(e, ERR_USAGE,
			       _("--trigger can be given only once: join conditions with \"or\""));
	o->trigger = value;
	return condition_option(&c, t->name, value, NULL, e);
}

int value_on(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	size_t most = sizeof o->on / sizeof *o->on;
	struct condition c;

	if (o->n_on == most)
		return err_set(e, ERR_USAGE, _("--%s can be given at most %zu times"), t->name, most);
	if (!o->on[o->n_on].condition) {
		o->on[o->n_on].condition = value;
		return condition_option(&c, t->name, value, NULL, e);
	}
	if (!command_find(value))
		return err_sys(e, ERR_USAGE, errno, _("--%s: cannot run \"%s\", which is one program without arguments"),
			       t->name, shown_word(value));
	o->on[o->n_on++].command = value;
	return 0;
}

int value_form(struct options *o, const char *value, struct err *e)
{
	static const char *const names[] = {EXPORT_FORMS(EXPORT_NAME) "nvmt1", NULL};
	int i = word_find(names, value);
	if (i < 0)
		return err_set(e, ERR_USAGE, _("unknown export format \"%s\": use %s"), shown_word(value),
			       EXPORT_FORMS(EXPORT_LIST) "nvmt1");
	o->form = (enum export_form)i;
	return 0;
}

int value_interval(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	int64_t ns;

	if (!num_duration_ns(value, &ns) || ns < NS_PER_S / 60 || ns > 10 * NS_PER_S)
		return bad_value(e, t, value, _("a time from 17ms to 10s"));
	o->frames = (double)NS_PER_S / (double)ns;
	return 0;
}

int value_theme(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	o->has_theme = true;
	if (conf_theme(value, &o->term.theme, &o->term.ground))
		return 0;
	return bad_value(e, t, value,
			 _("auto, dark, light, high-contrast, colour-blind, terminal (all three also with -dark or "
			   "-light) or mono"));
}

int value_signal(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	static const int numbers[] = {0, SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGKILL, SIGUSR1, SIGUSR2, SIGALRM, SIGTERM};
	const char *name = strncasecmp(value, "SIG", 3) ? value : value + 3, *end = value + strlen(value);
	int64_t n;

	if (num_i64(value, end, &n) == end && n > 0 && n < NSIG) {
		o->kill = (int)n;
		return 0;
	}
	for (size_t i = 0; t->words[i]; i++)
		if (!strcasecmp(name, t->words[i])) {
			o->kill = numbers[i];
			return 0;
		}
	return bad_value(e, t, value, _("none, or a signal such as TERM, INT, KILL or 10"));
}
