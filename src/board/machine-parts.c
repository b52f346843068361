/* Writes the parts of the machine of which there may be several: cores, engines, rails, swaps, disks, addresses. Where the
 * kernel has a clock was found already for its signal: its limits are beside it. */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <math.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "board/machine.h"
#include "probe/open.h"
#include "util/intl.h"
#include "util/num.h"

#define CPU       "/sys/devices/system/cpu"
#define DEBUG     "/sys/kernel/debug/"
#define NVIDIA    "/proc/driver/nvidia/gpus"
#define CORES_MAX 256
#define GPCS      16

/* --- cores --- */

/* Gets the value of "key : value" in the block of /proc/cpuinfo that p is in. */
static bool cpuinfo_value(const char *p, const char *key, char *out, size_t size)
{
	const char *end = strstr(p, "\n\n"), *at = strstr(p, key);

	if (!at || (end && at > end) || !(at = strchr(at, ':')))
		return false;
	at += 1 + strspn(at + 1, " \t");
	text_printable(out, size, at, strcspn(at, "\n"));
	return *out;
}

/* ARM cores have numbers; what is called their model there is only the revision. */
static void core_model(const char *cpuinfo, int64_t core, char *out, size_t size)
{
	static const struct {
		unsigned long implementer, part;
		const char *name;
	} known[] = {{0x41, 0xd03, "Cortex-A53"},   {0x41, 0xd07, "Cortex-A57"},      {0x41, 0xd08, "Cortex-A72"},
		     {0x41, 0xd42, "Cortex-A78AE"}, {0x41, 0xd83, "Neoverse-V3AE"}, {0x4e, 0x003, "NVIDIA Denver 2"},
		     {0x4e, 0x004, "NVIDIA Carmel"}};
	char implementer[16] = "", part[16] = "";
	int64_t n;

	*out = '\0';
	for (const char *p = cpuinfo; p && *p; p = strstr(p, "\n\n"), p = p ? p + 2 : NULL) {
		const char *colon = strncmp(p, "processor", 9) ? NULL : strchr(p, ':');
		if (!colon || !num_i64(colon + 1, colon + strlen(colon), &n) || n != core)
			continue;
		if (!cpuinfo_value(p, "CPU implementer", implementer, sizeof implementer) ||
		    !cpuinfo_value(p, "CPU part", part, sizeof part))
			cpuinfo_value(p, "model name", out, size);
		else
			text_join(out, size, implementer, "/", part);
		for (size_t i = 0; i < sizeof known / sizeof *known; i++)
			if (*part && strtoul(implementer, NULL, 16) == known[i].implementer &&
			    strtoul(part, NULL, 16) == known[i].part)
				text_join(out, size, known[i].name);
		return;
	}
}

void machine_put_cores(struct machine_writer *w)
{
	static const struct machine_field fields[] = {
		{"governor", FIELD_TEXT, .file = "cpufreq/scaling_governor"},
		{"min_hz", FIELD_NUMBER, .file = "cpufreq/scaling_min_freq", .scale = 1000},
		{"max_hz", FIELD_NUMBER, .file = "cpufreq/scaling_max_freq", .scale = 1000},
		{"hardware_min_hz", FIELD_NUMBER, .file = "cpufreq/cpuinfo_min_freq", .scale = 1000},
		{"hardware_max_hz", FIELD_NUMBER, .file = "cpufreq/cpuinfo_max_freq", .scale = 1000},
		{.key = NULL}};
	static const struct machine_field idle[] = {
		{"name", FIELD_TEXT, .file = "name"}, {"disabled", FIELD_TRUTH, .file = "disable"}, {.key = NULL}};
	const size_t room = 256 * 1024;
	const struct root *r = w->of->root;
	char *cpuinfo = malloc(room), folder[96], state[160], model[48], **names = NULL, **states;
	bool set[CORES_MAX], known = cpulist_read(r, CPU "/online", set, CORES_MAX), any = false;
	size_t n = 0, n_states;
	int64_t id;

	if (cpuinfo && root_read(r, "/proc/cpuinfo", cpuinfo, room) < 0) {
		machine_missing(w, "cpu.cores.model", "/proc/cpuinfo", root_error(errno));
		*cpuinfo = '\0';
	}
	if (root_list(r, CPU, &names, &n) < 0)
		machine_missing(w, "cpu.cores", CPU, root_error(errno));
	for (size_t i = 0; i < n; i++) {
		const char *digits = names[i] + 3, *end = names[i] + strlen(names[i]);

		if (strncmp(names[i], "cpu", 3) != 0 || num_i64(digits, end, &id) != end || id < 0 || id >= CORES_MAX)
			continue;
		snprintf(folder, sizeof folder, CPU "/%.32s", names[i]);
		machine_item(w, &any, "cores");
		machine_put_number(w, "id", (double)id);
		if (known)
			machine_put_truth(w, "online", set[id]);
		core_model(cpuinfo ? cpuinfo : "", id, model, sizeof model);
		machine_put_text(w, "model", model, 0);
		machine_put_fields(w, fields, folder, NULL);
		text_join(folder, sizeof folder, folder, "/cpuidle");
		bool any_state = false;
		if (root_list(r, folder, &states, &n_states) == 0) {
			for (size_t k = 0; k < n_states; k++) {
				snprintf(state, sizeof state, "%s/%.32s", folder, states[k]);
				machine_item(w, &any_state, "idle_states");
				machine_put_fields(w, idle, state, NULL);
			}
			free(states);
		}
		machine_items_end(w, any_state);
	}
	machine_items_end(w, any);
	free(names);
	free(cpuinfo);
}

/* --- clocks --- */

/* devfreq; the clocks of the firmware (bpmp); those of the kernel; the memory of a tegra210. */
static const struct machine_field clock_fields[] = {
	{"on", FIELD_TRUTH, .file = "device/power/runtime_status|state|clk_enable_count"},
	{"min_hz", FIELD_NUMBER, .file = "min_freq|min_rate|clk_min_rate|emc_min_rate", .scale = 1},
	{"max_hz", FIELD_NUMBER, .file = "max_freq|max_rate|clk_max_rate|emc_max_rate", .scale = 1},
	{.key = NULL}};

/* Gets the folder of the file that a channel is read from. Returns false, with the reason if it has a key, if it is
 * read from no file. */
static bool folder_of(struct machine_writer *w, const struct channel *c, const char *key, char folder[160])
{
	const char *slash = c && !c->missing[0] && *c->source == '/' ? strrchr(c->source, '/') : NULL;

	if (slash)
		snprintf(folder, 160, "%.*s", (int)(slash - c->source), c->source);
	else if (*key)
		machine_missing(w, key, "", c && c->missing[0] ? c->missing : _("no such signal"));
	return slash;
}

static const struct channel *channel_named(const struct machine_writer *w, const char *name)
{
	size_t i = channel_find(w->of->channels, w->of->n, name);

	return i < w->of->n ? &w->of->channels[i] : NULL;
}

/* The clocks of the parts of the GPU, from the first source that has any. */
static void put_gpcs(struct machine_writer *w)
{
	static const struct {
		const char *before, *after; /* after NULL: there is only one */
	} files[] = {{DEBUG "bpmp/debug/clk/nafll_gpc", "/pto_counter"},
		     {"/sys/class/devfreq/gpu-gpc-", "/cur_freq"},
		     {DEBUG "bpmp/debug/clk/gpcclk/rate", NULL},
		     {DEBUG "clk/gpcclk/clk_rate", NULL}};
	char path[96];
	bool any = false;
	int why = ENOENT;
	long long hz;

	for (size_t i = 0; i < sizeof files / sizeof *files && !any; i++)
		for (unsigned k = 0; k < (files[i].after ? GPCS : 1); k++) {
			text_number(path, sizeof path, files[i].before, k);
			if (file_number_of(w->of->root, &hz, files[i].after ? path : files[i].before,
					   files[i].after ? files[i].after : "") < 0) {
				why = why == ENOENT ? errno : why;
				break;
			}
			if (!any)
				json_open(w->to, "gpc_hz", '[');
			any = true;
			machine_put_number(w, NULL, (double)hz);
		}
	if (any)
		json_close(w->to, "]");
	else
		machine_missing(w, "gpu.gpc_hz", files[0].before, root_error(why));
}

void machine_put_gpu(struct machine_writer *w)
{
	static const struct machine_field fields[] = {{"name", FIELD_TEXT, .file = "device/of_node/name"},
						      {"governor", FIELD_TEXT, .file = "governor"},
						      {"min_hz", FIELD_NUMBER, .file = "min_freq", .scale = 1},
						      {"max_hz", FIELD_NUMBER, .file = "max_freq", .scale = 1},
						      {"scaling_3d", FIELD_TRUTH, .file = "device/enable_3d_scaling"},
						      {"tpc_mask", FIELD_NUMBER, .file = "device/tpc_pg_mask", .scale = 1},
						      {.key = NULL}};
	char folder[160], rail[128] = "device/railgate_enable", power[128] = "device/power/control", **names;
	const struct machine_field rails[] = {
		{"railgating", FIELD_TRUTH, .file = rail}, {"power_control", FIELD_TEXT, .file = power}, {.key = NULL}};
	size_t n;

	if (!folder_of(w, channel_named(w, "gpu.freq"), "gpu", folder))
		return;
	machine_put_fields(w, fields, folder, "gpu.");
	/* A Thor's GPU is a PCI device of the driver nvidia, which tells whether its rail may be gated. */
	if (root_list(w->of->root, NVIDIA, &names, &n) == 0) {
		if (n > 0) {
			snprintf(rail, sizeof rail, NVIDIA "/%.32s/power Rail-Gating:", names[0]);
			snprintf(power, sizeof power, "/sys/bus/pci/devices/%.32s/power/control", names[0]);
		}
		free(names);
	}
	machine_put_fields(w, rails, *rail == '/' ? "" : folder, "gpu.");
	put_gpcs(w);
}

/* What is before the dot, if the channel is of an engine or of a rail. */
static size_t unit_length(const struct channel *c, bool engine)
{
	bool is = engine ? c->kind == CHANNEL_ENGINE_FREQ || c->kind == CHANNEL_ENGINE_UTIL
			 : c->kind == CHANNEL_RAIL_CURRENT || c->kind == CHANNEL_RAIL_POWER;

	return is && !c->missing[0] ? strcspn(c->name, ".") : 0;
}

/* Puts each engine, or each rail, with what its channels tell. */
void machine_put_units(struct machine_writer *w, bool engines)
{
	const struct channel *all = w->of->channels;
	char name[40], folder[160];
	bool any = false;

	for (size_t i = 0, len, k; i < w->of->n; i++) {
		len = unit_length(&all[i], engines);
		for (k = 0; k < i && (unit_length(&all[k], engines) != len || strncmp(all[k].name, all[i].name, len) != 0);)
			k++;
		if (!len || k < i)
			continue;
		machine_item(w, &any, engines ? "engines" : "rails");
		text_printable(name, sizeof name, all[i].name, len);
		machine_put_text(w, "name", name, 0);
		for (; k < w->of->n; k++) {
			const struct channel *c = &all[k];
			bool current = c->kind == CHANNEL_RAIL_CURRENT;
			if (unit_length(c, engines) != len || strncmp(c->name, all[i].name, len) != 0)
				continue;
			if (c->kind == CHANNEL_ENGINE_FREQ && folder_of(w, c, "", folder))
				machine_put_fields(w, clock_fields, folder, NULL);
			machine_put_number(w, current ? "warn_ma" : "warn_mw", engines ? (double)NAN : c->warn);
			machine_put_number(w, current ? "crit_ma" : "crit_mw", engines ? (double)NAN : c->crit);
		}
	}
	machine_items_end(w, any);
}

/* --- memory --- */

/* The kernel writes a blank in a path as \\040. */
static void decode(char *path)
{
	char *to = path;

	for (const char *p = path; *p; to++) {
		bool octal = *p == '\\' && strspn(p + 1, "01234567") >= 3;
		*to = (char)(octal ? (p[1] - '0') << 6 | (p[2] - '0') << 3 | (p[3] - '0') : *p);
		p += octal ? 4 : 1;
	}
	*to = '\0';
}

/* "/dev/zram0   partition   1971000   0   5" */
int swaps_read(const struct root *r, struct swap_area list[SWAPS_MAX])
{
	char text[8192], *save, *line;
	int n = 0;

	if (root_read(r, "/proc/swaps", text, sizeof text) < 0)
		return -1;
	strtok_r(text, "\n", &save); /* the heading */
	while ((line = strtok_r(NULL, "\n", &save)) && n < SWAPS_MAX) {
		struct swap_area *s = &list[n];
		if (sscanf(line, "%127s %31s %lf %lf %lf", s->device, s->type, &s->kb, &s->used_kb, &s->priority) != 5 ||
		    !(s->kb >= 0 && s->kb < 1e15))
			continue;
		if (!strncmp(s->device, "/dev/zram", 9))
			strcpy(s->type, "zram");
		decode(s->device);
		n++;
	}
	return n;
}

void machine_put_memory(struct machine_writer *w)
{
	static const struct machine_field soc = {.file = FILE_COMPATIBLE, .find = find_soc};
	const struct root *r = w->of->root;
	struct swap_area swaps[SWAPS_MAX];
	int n = swaps_read(r, swaps), why;
	char text[64], folder[160];
	bool any = false;
	int64_t kb;

	if (n < 0)
		machine_missing(w, "memory.swaps", "/proc/swaps", root_error(errno));
	for (int i = 0; i < n; i++) {
		machine_item(w, &any, "swaps");
		machine_put_text(w, "device", swaps[i].device, 0);
		machine_put_text(w, "type", swaps[i].type, 0);
		machine_put_number(w, "size_kb", swaps[i].kb);
		machine_put_number(w, "used_kb", swaps[i].used_kb);
		machine_put_number(w, "priority", swaps[i].priority);
	}
	machine_items_end(w, any);
	/* The memory in the chip of a tegra210: its size in hexadecimal, and a table as that of other memory. */
	if (root_read(r, DEBUG "nvmap/iram/size", text, sizeof text) > 0) {
		machine_put_number(w, "iram_total_kb", floor((double)strtoull(text, NULL, 16) / 1024));
		if (file_word(r, DEBUG "nvmap/iram/clients", "total", text, sizeof text) &&
		    num_i64(text, text + strlen(text), &kb))
			machine_put_number(w, "iram_used_kb", (double)kb);
	} else {
		why = errno;
		if (machine_field_text(r, &soc, "", text, sizeof text) && !strcmp(text, "tegra210"))
			machine_missing(w, "memory.iram_total_kb", DEBUG "nvmap/iram/size", root_error(why));
	}
	json_open(w->to, "emc", '{');
	if (folder_of(w, channel_named(w, "emc.rate"), "memory.emc", folder))
		machine_put_fields(w, clock_fields + 1, strstr(folder, "/override.emc") ? DEBUG "tegra_bwmgr" : folder,
				   "memory.emc.");
	json_close(w->to, "}");
}

/* --- disks and addresses --- */

/* Only disks of this machine: the server of another one may not answer. */
size_t disks_read(const struct root *r, struct disk_space list[PLACES_MOST])
{
	char text[32768], *save, *line;
	size_t n = 0, same;

	if (!root_is_live(r) || root_read(r, "/proc/self/mounts", text, sizeof text) <= 0)
		return 0;
	for (line = strtok_r(text, "\n", &save); line && n < PLACES_MOST; line = strtok_r(NULL, "\n", &save)) {
		char *mount = strchr(line, ' '), *end = mount ? strchr(mount + 1, ' ') : NULL;
		struct disk_space *d = &list[n];
		struct statvfs v;

		if (!end || strncmp(line, "/dev/", 5) != 0 || !strncmp(line, "/dev/loop", 9))
			continue;
		*end = *mount++ = '\0';
		decode(mount);
		if (statvfs(mount, &v) < 0 || !v.f_blocks)
			continue;
		text_shortened(d->mount, sizeof d->mount, mount, strlen(mount));
		text_shortened(d->device, sizeof d->device, line, strlen(line));
		d->total = (double)v.f_blocks * (double)v.f_frsize;
		d->used = (double)(v.f_blocks - v.f_bfree) * (double)v.f_frsize;
		d->available = (double)v.f_bavail * (double)v.f_frsize;
		/* of those of the same size one: it is mounted again */
		for (same = 0; list[same].total != d->total;)
			same++;
		n += same == n;
	}
	return n;
}

size_t addresses_read(const struct root *r, struct net_address list[PLACES_MOST])
{
	struct ifaddrs *all;
	size_t n = 0;

	if (!root_is_live(r) || getifaddrs(&all) < 0)
		return 0;
	for (const struct ifaddrs *a = all; a && n < PLACES_MOST; a = a->ifa_next) {
		const struct sockaddr *of = a->ifa_addr;
		bool four = of && of->sa_family == AF_INET, six = of && of->sa_family == AF_INET6;
		const void *raw = four ? (const void *)&((const struct sockaddr_in *)(const void *)of)->sin_addr
				       : (const void *)&((const struct sockaddr_in6 *)(const void *)of)->sin6_addr;

		if ((!four && !six) || (a->ifa_flags & IFF_LOOPBACK) ||
		    !inet_ntop(of->sa_family, raw, list[n].text, sizeof list[n].text))
			continue;
		text_shortened(list[n].name, sizeof list[n].name, a->ifa_name, strlen(a->ifa_name));
		n++;
	}
	freeifaddrs(all);
	return n;
}

void machine_put_places(struct machine_writer *w)
{
	struct disk_space disks[PLACES_MOST];
	struct net_address addresses[PLACES_MOST];
	size_t n_disks = disks_read(w->of->root, disks), n_addresses = addresses_read(w->of->root, addresses);
	bool any = false;

	for (const struct disk_space *d = disks; d < disks + n_disks; d++) {
		machine_item(w, &any, "disks");
		machine_put_text(w, "mount", d->mount, 0);
		machine_put_text(w, "device", d->device, 0);
		machine_put_number(w, "total_bytes", d->total);
		machine_put_number(w, "used_bytes", d->used);
		machine_put_number(w, "available_bytes", d->available);
	}
	machine_items_end(w, any);
	any = false;
	for (const struct net_address *a = addresses; a < addresses + n_addresses; a++) {
		machine_item(w, &any, "interfaces");
		machine_put_text(w, "name", a->name, 0);
		if (!w->open)
			machine_put_text(w, "address", a->text, 0);
	}
	machine_items_end(w, any);
	if (!root_is_live(w->of->root)) {
		machine_missing(w, "disks", "", _("only those of the running machine are read"));
		machine_missing(w, "interfaces", "", _("only those of the running machine are read"));
	}
}
