/* A synthetic recording for the trace tests: every kind of channel, including those not in version 1,
 * and rows of any value. */
#ifndef TEST_TRACE_H
#define TEST_TRACE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/format.h"
#include "trace/nvmt1.h"
#include "trace/trace.h"

#define START_NS INT64_C(5123456789012)

struct script {
	struct session session;
	struct channel channels[128];
	struct fact facts[2];
	size_t n[TIERS];
	int64_t *t_ns[TIERS];
	double *values[TIERS];
	uint64_t seed;
};

static uint64_t script_random(struct script *s)
{
	s->seed ^= s->seed << 13;
	s->seed ^= s->seed >> 7;
	s->seed ^= s->seed << 17;
	return s->seed;
}

static double script_between(struct script *s, double lo, double hi)
{
	return lo + (hi - lo) * (double)(script_random(s) >> 11) / 0x1p53;
}

static struct channel *script_channel(struct script *s, enum channel_kind kind, unsigned index,
				      enum tier tier, enum unit unit, const char *label)
{
	struct channel *c = &s->channels[s->session.n_channels++];

	memset(c, 0, sizeof(*c));
	c->kind = kind;
	c->index = (uint16_t)index;
	c->tier = tier;
	c->column = (uint16_t)s->session.width[tier]++;
	c->unit = unit;
	c->family = FAMILY_OTHER;
	c->lo = NAN;
	c->hi = 100.5;
	c->warn = 80.25 + index;
	c->crit = NAN;
	c->period_ns = 16700000;
	snprintf(c->name, sizeof(c->name), "%s.%s%u", label, channel_kind_name(kind), index);
	snprintf(c->label, sizeof(c->label), "%s", label);
	snprintf(c->source, sizeof(c->source), "/sys/%s", label);
	return c;
}

static void script_channels(struct script *s, unsigned cores, unsigned rails, unsigned zones)
{
	char label[32];

	script_channel(s, CHANNEL_CPU_UTIL, 0, TIER_FAST, UNIT_PERCENT, "CPU");
	script_channel(s, CHANNEL_GPU_UTIL, 0, TIER_FAST, UNIT_PERCENT, "GPU");
	for (unsigned i = 0; i < cores; i++) {
		snprintf(label, sizeof(label), "cpu%u", i);
		script_channel(s, CHANNEL_CORE_UTIL, i, TIER_FAST, UNIT_PERCENT, label);
	}
	script_channel(s, CHANNEL_RAM_USED, 0, TIER_FAST, UNIT_KB, "RAM");
	script_channel(s, CHANNEL_RAM_AVAILABLE, 0, TIER_FAST, UNIT_KB, "free");
	script_channel(s, CHANNEL_EMC_UTIL, 0, TIER_FAST, UNIT_PERCENT, "EMC");
	for (unsigned i = 0; i < rails; i++) {
		snprintf(label, sizeof(label), "VDD_RAIL_%u", i);
		script_channel(s, CHANNEL_RAIL_POWER, i, TIER_MEDIUM, UNIT_MILLIWATT, label);
		script_channel(s, CHANNEL_RAIL_VOLTAGE, i, TIER_MEDIUM, UNIT_MILLIVOLT, label);
		script_channel(s, CHANNEL_RAIL_CURRENT, i, TIER_MEDIUM, UNIT_MILLIAMPERE, label);
	}
	script_channel(s, CHANNEL_GPU_FREQ, 0, TIER_MEDIUM, UNIT_HZ, "GPU clock");
	script_channel(s, CHANNEL_RAM_USED, 1, TIER_MEDIUM, UNIT_KB, "RAM, in another tier");
	for (unsigned i = 0; i < zones; i++) {
		snprintf(label, sizeof(label), "zone%u", i);
		script_channel(s, CHANNEL_TEMPERATURE, i, TIER_SLOW, UNIT_CELSIUS, label);
	}
	script_channel(s, CHANNEL_FAN, 0, TIER_SLOW, UNIT_RPM, "fan");
	script_channel(s, CHANNEL_OTHER, 0, TIER_FAST, UNIT_NONE, "own.cost");
}

/* A probe's value: missing one time in eight, sometimes impossible. */
static double script_value(struct script *s, const struct channel *c, bool wild)
{
	unsigned dice = script_random(s) & 63;

	if (dice < 8)
		return NAN;
	if (wild && dice == 8)
		return script_between(s, -1e12, 1e12);
	if (wild && dice == 9)
		return -0.0;
	switch (c->unit) {
	case UNIT_KB:
		return channel_round(c->kind, script_between(s, 1, 64e6));
	case UNIT_MILLIVOLT:
		return channel_round(c->kind, script_between(s, 0, 20000));
	case UNIT_MILLIAMPERE:
		return channel_round(c->kind, script_between(s, -9000, 9000));
	default:
		return channel_round(c->kind, script_between(s, 0, 100));
	}
}

/* Power as the board computes it, unless an input is missing. */
static void script_power(struct script *s, double *row)
{
	for (size_t i = 0; i < s->session.n_channels; i++) {
		const struct channel *c = &s->channels[i];

		if (c->kind == CHANNEL_RAIL_POWER && (script_random(s) & 15))
			row[c->column] =
				channel_round(c->kind, row[c->column + 1] * row[c->column + 2] / 1000);
	}
}

__attribute__((unused)) static struct script *script_new(uint64_t seed, size_t fast, unsigned cores, unsigned rails, unsigned zones,
				 bool wild)
{
	static const double hz[TIERS] = {1000, 100, 10};
	struct script *s = calloc(1, sizeof(*s));

	s->seed = seed;
	script_channels(s, cores, rails, zones);
	s->session.channels = s->channels;
	s->facts[0] = (struct fact) {"board", "agx_orin"};
	s->facts[1] = (struct fact) {"release", "L4T 36.4.3"};
	s->session.facts = s->facts;
	s->session.n_facts = 2;
	s->session.start = (struct clock_anchor) {START_NS, INT64_C(1763650000123456789), START_NS + 77};
	for (int t = 0; t < TIERS; t++) {
		size_t width = s->session.width[t];
		int64_t ns = START_NS;

		s->session.hz[t] = hz[t];
		s->n[t] = t == TIER_FAST ? fast : t == TIER_MEDIUM ? fast / 10 : fast / 100;
		s->t_ns[t] = calloc(s->n[t] + 1, sizeof(int64_t));
		s->values[t] = calloc(s->n[t] * width + 1, sizeof(double));
		for (size_t r = 0; r < s->n[t]; r++) {
			double *row = s->values[t] + r * width;

			ns += (int64_t)(1e9 / hz[t] * script_between(s, 0.6, 1.4));
			s->t_ns[t][r] = ns;
			for (size_t i = 0; i < s->session.n_channels; i++) {
				const struct channel *c = &s->channels[i];
				bool held = r > 0 && (script_random(s) & 3) == 0;

				if ((int)c->tier == t)
					row[c->column] = held ? row[(ptrdiff_t)c->column - (ptrdiff_t)width]
							      : script_value(s, c, wild);
			}
			if (t == TIER_MEDIUM)
				script_power(s, row);
		}
	}
	return s;
}

__attribute__((unused)) static void script_free(struct script *s)
{
	for (int t = 0; t < TIERS; t++) {
		free(s->t_ns[t]);
		free(s->values[t]);
	}
	free(s);
}

/* Push the rows of all tiers older than `until` in pieces; at[] is the position. */
static void script_push(const struct script *s, struct sink *sink, size_t at[TIERS], int64_t until)
{
	for (int t = 0; t < TIERS; t++) {
		while (at[t] < s->n[t] && s->t_ns[t][at[t]] < until) {
			size_t width = s->session.width[t], n = 0;

			while (at[t] + n < s->n[t] && n < 7 && s->t_ns[t][at[t] + n] < until)
				n++;
			sink->ops->rows(sink, &(struct rows) {(enum tier)t, n, width, s->t_ns[t] + at[t],
							      s->values[t] + at[t] * width});
			at[t] += n;
		}
	}
}

/* The same, not faster than the disk: the writer drops rows rather than wait. */
__attribute__((unused)) static void script_push_paced(const struct script *s, struct sink *to,
						      struct log_out *w, size_t at[TIERS], int64_t until)
{
	const size_t ahead = 50;

	while (at[TIER_FAST] + ahead < s->n[TIER_FAST] && s->t_ns[TIER_FAST][at[TIER_FAST] + ahead] < until) {
		script_push(s, to, at, s->t_ns[TIER_FAST][at[TIER_FAST] + ahead]);
		if (!log_out_ready(w))
			break;
	}
	script_push(s, to, at, until);
}

/* --- a directory for each program --- */

static char test_folder[128];

static int folder_make(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(test_folder, sizeof(test_folder), "%.80s/nvmtop-trace-XXXXXX", tmp ? tmp : "/tmp");
	return mkdtemp(test_folder) ? 0 : -1;
}

static int folder_remove(void **state)
{
	DIR *d = opendir(test_folder);
	const struct dirent *f;

	(void)state;
	while (d && (f = readdir(d))) {
		unlinkat(dirfd(d), f->d_name, 0);
		unlinkat(dirfd(d), f->d_name, AT_REMOVEDIR);
	}
	if (d)
		closedir(d);
	return rmdir(test_folder);
}

static const char *in_folder(const char *name)
{
	static char path[4][512];
	static unsigned turn;
	char *p = path[turn++ % 4];

	snprintf(p, sizeof(path[0]), "%s/%s", test_folder, name);
	return p;
}

__attribute__((unused)) static bool there(const char *name)
{
	return access(in_folder(name), F_OK) == 0;
}

/* The script as a file of version 1. */
__attribute__((unused)) static void script_version1(const char *path, struct log_out *w)
{
	char log[1024];
	struct err e;
	struct trace *t;

	log_out_free(w);
	snprintf(log, sizeof(log), "%s.log", path);
	t = trace_open(log, &e);
	assert_non_null(t);
	assert_int_equal(nvmt1_write(t, path, true, NULL, NULL, &e), 0);
	trace_close(t);
	unlink(log);
}

/* Run record(arg) in a child process that is killed when it returns. */
static inline void killed_after(void (*record)(void *), void *arg)
{
	int pipes[2], status;
	char byte;
	pid_t pid;

	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (pid == 0) {
		record(arg);
		if (write(pipes[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	close(pipes[1]); /* or the end of a child that fails would not be seen */
	assert_int_equal(read(pipes[0], &byte, 1), 1);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	close(pipes[0]);
}

#endif
