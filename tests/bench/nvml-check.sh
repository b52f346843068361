#!/bin/sh
# Prints ten seconds of what the nvml probe reads on a machine with an NVIDIA driver. Needs
# only a C compiler: compiles the probe and a small reader.
# tests/bench/nvml-check.sh [SECONDS]
set -eu
src=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/read.c" <<'END'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "probe/nvml.h"
#include "probe/open.h"
#include "util/clock.h"

int main(int argc, char **argv)
{
	static const char *const names[] = {"util", "freq", "power", "temp", "memory", "enc", "dec", "jpg", "ofa"};
	const char *words[] = {"util", "freq", "power", "temp", "memory", "enc", "dec", "jpg", "ofa"};
	double seconds = argc > 1 ? atof(argv[1]) : 10, row[256];
	char why[200];
	struct err e;
	int64_t t = clock_now_ns();
	struct nvml *n = nvml_open(NVML_LIBRARY, why, sizeof why);

	if (!n) {
		printf("none: %s\n", why);
		return 1;
	}
	printf("opened in %.1f ms, %u devices\n", (double)(clock_now_ns() - t) / 1e6, nvml_devices(n));
	for (unsigned d = 0; d < nvml_devices(n); d++)
		for (int q = 0; q < NVML_QUANTITIES; q++) {
			const char *missing = nvml_device(n, d)->missing[q];
			int64_t worst = 0, sum = 0;
			double v = NAN;
			for (int i = 0; i < 100; i++) {
				t = clock_now_ns();
				v = nvml_read(n, d, (enum nvml_quantity)q);
				t = clock_now_ns() - t;
				sum += t;
				worst = t > worst ? t : worst;
			}
			printf("  %u %-7s %12.6g  mean %8.1f us  worst %8.1f us  %s\n", d, names[q], v,
			       (double)sum / 1e5, (double)worst / 1e3, missing);
		}
	nvml_close(n);

	struct probe_set *probes = calloc(1, sizeof *probes);
	probes->root = root_open("/", &e);
	struct statement s = {.file = "check", .line = 1, .tier = TIER_FAST, .probe = "nvml",
			      .words = words, .n_words = 9};
	if (probe_open(probes, &s, 1000000, &e) < 0) {
		printf("%s\n", e.text);
		return 1;
	}
	for (size_t i = 0; i < probes->n_channels; i++) {
		const struct channel *c = &probes->channels[i];
		row[c->column] = NAN;
		printf("%-12s %-4s every %.0f ms  %s%s  %s\n", c->name, unit_name(c->unit),
		       (double)c->period_ns / 1e6, c->source, c->missing, c->note);
	}
	if (!probes->n_probes)
		return 0;
	probe_set_start(probes, 0);
	double last = NAN, worst_us = 0;
	unsigned changes = 0;
	int64_t begin = clock_now_ns(), next = begin;
	while ((double)(clock_now_ns() - begin) < seconds * 1e9) {
		t = clock_now_ns();
		probes->probes[0]->ops->read(probes->probes[0], t, row);
		worst_us = fmax(worst_us, (double)(clock_now_ns() - t) / 1e3);
		changes += row[0] != last && !isnan(row[0]);
		last = row[0];
		if (t >= next) {
			printf("%6.2f s ", (double)(t - begin) / 1e9);
			for (size_t i = 0; i < probes->n_channels; i++)
				printf(" %s=%.6g", probes->channels[i].name, row[probes->channels[i].column]);
			printf("\n");
			next += 500000000;
		}
		usleep(1000);
	}
	printf("worst read on the sampling path %.1f us; the first value changed %u times\n", worst_us, changes);
	probe_set_free(probes);
	return 0;
}
END
# shellcheck disable=SC2086
${CC:-gcc} -std=gnu11 -O2 -g -D_GNU_SOURCE -DENABLE_NLS=0 ${CFLAGS-} -I"$src/include" -I"$src/src" \
    "$work/read.c" "$src"/src/probe/*.c "$src"/src/util/*.c "$src"/src/model/*.c -o "$work/read" -lm -lpthread -ldl
"$work/read" "${1:-10}"
