/* Settings of the machine that users change while it runs; changes are recorded. The lowest and highest
 * clocks are signals and not included. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board/mode.h"
#include "board/parsed.h"
#include "probe/watched.h"

#define ONLINE      "/sys/devices/system/cpu/online"
#define FAN_STATUS  "/var/lib/nvfancontrol/status"
#define MODE_STATUS "/var/lib/nvpmodel/status"

/* "FAN1:FAN_PROFILE:quiet" of nvfancontrol; without it "fmode:quiet" of nvpmodel. */
static bool fan_profile(const struct root *r, void *arg, char *out, size_t size)
{
	static const struct {
		const char *file, *before;
	} places[] = {{FAN_STATUS, "FAN_PROFILE:"}, {MODE_STATUS, "fmode:"}};
	char text[1024];

	(void)arg;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		const char *p;
		if (root_read(r, places[i].file, text, sizeof text) <= 0 ||
		    !(p = strstr(text, places[i].before)))
			continue;
		p += strlen(places[i].before);
		text_printable(out, size, p, strcspn(p, " \t\n"));
		return *out;
	}
	return false;
}

static int add_text(struct probe_set *probes, struct watched *w, const struct root *r, const char *key,
		    watched_read *read, void *arg)
{
	char now[WATCHED_TEXT] = "";

	if (!read(r, arg, now, sizeof now) || !now[0]) {
		free(arg);
		return 0;
	}
	watched_text(w, key, read, arg, now);
	return probe_set_add_fact(probes, key, now);
}

static int add_mode(struct probe_set *probes, struct watched *w, const struct root *r)
{
	const struct channel *gpu = probe_set_find(probes, "gpu.freq_max");
	struct mode *m = calloc(1, sizeof *m);

	if (!m)
		return -1;
	if (gpu && !gpu->missing[0])
		text_join(m->gpu, sizeof m->gpu, gpu->source, "", "");
	return add_text(probes, w, r, "mode", mode_read, m);
}

static int add_online(struct probe_set *probes, struct watched *w, const struct root *r)
{
	char now[WATCHED_TEXT];

	if (!file_line(r, ONLINE, now, sizeof now) || !now[0])
		return 0;
	watched_file(w, "cpu.online", ONLINE, now);
	return probe_set_add_fact(probes, "cpu.online", now);
}

/* Shown with the limits of the clocks that they set. */
static void add_governors(struct probe_set *probes, struct watched *w)
{
	char key[48], path[192];

	for (size_t i = 0; i < probes->n_channels; i++) {
		const struct channel *c = &probes->channels[i];
		const char *dot = strchr(c->name, '.'), *slash = strrchr(c->source, '/'), *now;

		if (c->kind != CHANNEL_FREQ_LIMIT || c->missing[0] || !dot || !slash ||
		    strcmp(dot, ".freq_max") != 0)
			continue;
		snprintf(key, sizeof key, "%.*s.governor", (int)(dot - c->name), c->name);
		snprintf(path, sizeof path, "%.*s/%s", (int)(slash - c->source), c->source,
			 !strncmp(slash, "/scaling_", 9) ? "scaling_governor" : "governor");
		now = fact_get(probes->facts, probes->n_facts, key);
		if (now)
			watched_file(w, key, path, now);
	}
}

int board_settings(const struct root *r, struct probe_set *probes)
{
	struct watched *w = watched_new(probes->root);

	if (!w)
		return -1;
	add_governors(probes, w);
	if (add_mode(probes, w, r) < 0 || add_online(probes, w, r) < 0 ||
	    add_text(probes, w, r, "fan.profile", fan_profile, NULL) < 0) {
		watched_free(w);
		return -1;
	}
	return watched_add(w, probes);
}
