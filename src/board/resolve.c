/* Turns the statements of a board file into the channels that can be sampled on this machine. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/descriptors.h"
#include "util/intl.h"
#include "board/board.h"
#include "probe/lookout.h"

/* Has the lookout open the statement again if channels from `from` on are missing, unless a file did not answer. NVML
 * answers once for all that it has. */
static int look_later(struct probe_set *probes, const struct statement *s, int64_t tick_ns, size_t from, bool hung)
{
	size_t missing = 0, n = probes->n_channels - from;

	for (size_t i = from; i < probes->n_channels; i++)
		missing += probes->channels[i].missing[0] != '\0';
	if (hung || !missing || (missing < n && !strcmp(s->probe, "nvml")))
		return 0;
	return lookout_statement(probes->lookout, s, tick_ns, from, n);
}

static int open_all(const struct board *b, struct probe_set *probes, const double hz[TIERS], struct err *e)
{
	descriptors_lacked(NULL);
	for (size_t i = 0; i < b->n_statements; i++) {
		const struct statement *s = &b->statements[i];
		double tick = hz[s->tier] > 0 ? 1e9 / hz[s->tier] : 1e9;
		int64_t tick_ns = tick < 1e12 ? (int64_t)tick : INT64_C(1000000000000);
		size_t before = probes->n_channels;
		unsigned given_up = root_given_up();
		if (probe_open(probes, s, tick_ns, e) < 0)
			return -1;
		if (look_later(probes, s, tick_ns, before, root_given_up() != given_up) < 0)
			return err_set(e, ERR_FAILED, _("out of memory"));
		for (size_t k = before; b->demo && k < probes->n_channels; k++)
			if (!probes->channels[k].note[0])
				strcpy(probes->channels[k].note, "demo");
	}
	return descriptors_lacked(e) ? -1 : 0;
}

/* Only a value that is computed can be of a time before the start. */
static int set_past(const struct board *b, struct probe_set *probes, struct err *e)
{
	for (size_t i = 0; b->past_ns && i < probes->n_probes; i++)
		if (!probes->probes[i]->computes && !probes->probes[i]->derived)
			return err_set(e, ERR_FAILED,
				       _("%s: with \"demo TIME\" all signals must be computed ones: wave, "
					 "event, total or hottest"),
				       b->path);
	probes->past_ns = b->past_ns;
	return 0;
}

static void board_release(void *board)
{
	board_free(board);
}

struct probe_set *board_resolve(struct board *b, const struct root *r, const double hz[TIERS],
				const char *why, struct err *e)
{
	struct probe_set *probes = calloc(1, sizeof *probes);
	size_t present = 0;

	if (!probes) {
		err_sys(e, ERR_FAILED, errno, _("cannot open the board \"%s\""), b->name);
		return NULL;
	}
	probes->root = root_open(root_dir(r), e);
	if (probes->root && !lookout_new(probes, hz))
		err_set(e, ERR_FAILED, _("out of memory"));
	root_give_up(true);
	int failed = !probes->lookout || open_all(b, probes, hz, e) < 0 ||
		     set_past(b, probes, e) < 0 || board_facts(b, r, why, probes, e) < 0;
	root_give_up(false);
	if (!failed && lookout_reserve(probes->lookout, probes) < 0)
		failed = err_set(e, ERR_FAILED, _("out of memory"));
	if (failed) {
		probe_set_free(probes);
		return NULL;
	}
	for (size_t i = 0; i < probes->n_channels; i++)
		present += !probes->channels[i].missing[0];
	if (!present) {
		err_set(e, ERR_FAILED,
			_("none of the signals of the board \"%s\" can be read below \"%s\"; the first: %s"),
			b->name, root_dir(r), probes->n_channels ? probes->channels[0].missing : "-");
		probe_set_free(probes);
		return NULL;
	}
	lookout_keep(probes->lookout, board_hold(b), board_release);
	if (e)
		e->code = ERR_NONE;
	return probes;
}

static bool stated_before(const struct board *b, size_t i, size_t k)
{
	const char *value = b->statements[i].settings[k].value;

	for (size_t s = 0; s <= i; s++)
		for (size_t t = 0; t < (s < i ? b->statements[s].n_settings : k); t++)
			if (!strcmp(b->statements[s].settings[t].value, value))
				return true;
	return false;
}

void board_paths(const struct board *b, void (*visit)(void *arg, const char *path), void *arg)
{
	/* Where a rail without a place may be: on some releases only root can read these files. */
	static const char *const meters[] = {"rail_name_*", "in_voltage*_input", "in_current*_input",
					     "in_power*_input", "*_current_limit_*"};
	bool meter = false;

	for (size_t i = 0; i < b->n_statements; i++) {
		const struct statement *s = &b->statements[i];
		bool hwmon = false, iio = false;
		for (size_t k = 0; k < s->n_settings; k++) {
			const struct setting *t = &s->settings[k];
			hwmon |= !strcmp(t->key, "hwmon");
			iio |= !strcmp(t->key, "iio");
			if (*t->value == '/' && !stated_before(b, i, k))
				visit(arg, t->value);
		}
		meter |= iio || (!strcmp(s->probe, "rail") && !hwmon);
	}
	for (size_t i = 0; meter && i < sizeof meters / sizeof *meters; i++) {
		char path[128];
		snprintf(path, sizeof path, "/sys/bus/i2c/drivers/ina3221x/*/iio:device*/%s", meters[i]);
		visit(arg, path);
	}
}
