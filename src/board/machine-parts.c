/* Reads the parts of the machine of which there may be several: cores, engines, rails, disks, addresses. Where the
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
#include "board/parsed.h"
#include "probe/open.h"
#include "util/intl.h"
#include "util/num.h"

#define CPU       "/sys/devices/system/cpu"
#define DEBUG     "/sys/kernel/debug/"
#define NVIDIA    "/proc/driver/nvidia/gpus"
#define CORES_MAX 256
#define PLACES    32
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

static void read_cores(struct machine *m, const struct root *r)
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
	char *cpuinfo = malloc(room), folder[96], at[64], model[48], **names;
	bool set[CORES_MAX], known = cpulist_read(r, CPU "/online", set, CORES_MAX);
	size_t n, n_cores = 0;

	if (cpuinfo && root_read(r, "/proc/cpuinfo", cpuinfo, room) < 0) {
		machine_missing(m, "cpu.", "cores.model", "/proc/cpuinfo", root_error(errno));
		*cpuinfo = '\0';
	}
	if (root_list(r, CPU, &names, &n) < 0) {
		machine_missing(m, "cpu.", "cores", CPU, root_error(errno));
		n = 0;
		names = NULL;
	}
	for (size_t i = 0; i < n; i++) {
		const char *digits = names[i] + 3, *end = names[i] + strlen(names[i]);
		int64_t id;
		char **states;
		size_t n_states;

		if (strncmp(names[i], "cpu", 3) != 0 || num_i64(digits, end, &id) != end || id < 0 || id >= CORES_MAX)
			continue;
		snprintf(folder, sizeof folder, CPU "/%.32s", names[i]);
		snprintf(at, sizeof at, "cpu.cores[%zu].", n_cores);
		machine_put_number(m, at, "id", (double)id);
		if (known)
			machine_put_truth(m, at, "online", set[id]);
		core_model(cpuinfo ? cpuinfo : "", id, model, sizeof model);
		machine_put_text(m, at, "model", model, 0);
		machine_read_fields(m, r, fields, folder, at);
		text_join(folder, sizeof folder, folder, "/cpuidle");
		n_states = 0;
		states = NULL;
		root_list(r, folder, &states, &n_states);
		for (size_t k = 0; k < n_states; k++) {
			char state[160];
			snprintf(state, sizeof state, "%s/%.32s", folder, states[k]);
			snprintf(at, sizeof at, "cpu.cores[%zu].idle_states[%zu].", n_cores, k);
			machine_read_fields(m, r, idle, state, at);
		}
		free(states);
		n_cores++;
	}
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

/* Below the folder of devfreq; the rest is in code, for a Thor. */
static const struct machine_field gpu_fields[] = {
	{"name", FIELD_TEXT, .file = "device/of_node/name"},
	{"governor", FIELD_TEXT, .file = "governor"},
	{"min_hz", FIELD_NUMBER, .file = "min_freq", .scale = 1},
	{"max_hz", FIELD_NUMBER, .file = "max_freq", .scale = 1},
	{"railgating", FIELD_TRUTH, .file = "device/railgate_enable"},
	{"scaling_3d", FIELD_TRUTH, .file = "device/enable_3d_scaling"},
	{"tpc_mask", FIELD_NUMBER, .file = "device/tpc_pg_mask", .scale = 1},
	{"power_control", FIELD_TEXT, .file = "device/power/control"},
	{.key = NULL}};

/* Gets the folder of the file that a channel is read from. Returns false, with the reason if it has a key, if it is
 * read from no file. */
static bool folder_of(struct machine *m, const struct channel *c, const char *key, char folder[160])
{
	const char *slash = c && !c->missing[0] && *c->source == '/' ? strrchr(c->source, '/') : NULL;

	if (slash)
		snprintf(folder, 160, "%.*s", (int)(slash - c->source), c->source);
	else if (*key)
		machine_missing(m, "", key, "", c && c->missing[0] ? c->missing : _("no such signal"));
	return slash;
}

static const struct channel *channel_named(const struct channel *channels, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(channels[i].name, name))
			return &channels[i];
	return NULL;
}

/* The clocks of the parts of the GPU, from the first source that has any. */
static void read_gpcs(struct machine *m, const struct root *r)
{
	static const struct {
		const char *before, *after; /* after NULL: there is only one */
	} files[] = {{DEBUG "bpmp/debug/clk/nafll_gpc", "/pto_counter"},
		     {"/sys/class/devfreq/gpu-gpc-", "/cur_freq"},
		     {DEBUG "bpmp/debug/clk/gpcclk/rate", NULL},
		     {DEBUG "clk/gpcclk/clk_rate", NULL}};
	char path[96];
	unsigned n = 0;
	int why = ENOENT;

	for (size_t i = 0; i < sizeof files / sizeof *files && !n; i++)
		for (unsigned k = 0; k < (files[i].after ? GPCS : 1); k++) {
			long long hz;
			text_number(path, sizeof path, files[i].before, k);
			if (file_number_of(r, &hz, files[i].after ? path : files[i].before, files[i].after ? files[i].after : "") < 0) {
				why = why == ENOENT ? errno : why;
				break;
			}
			snprintf(path, sizeof path, "gpu.gpc_hz[%u]", n++);
			machine_put_number(m, path, "", (double)hz);
		}
	if (!n)
		machine_missing(m, "gpu.", "gpc_hz", files[0].before, root_error(why));
}

/* A Thor's GPU is a PCI device of the driver nvidia, which tells whether its rail may be gated. */
static void read_pci_gpu(struct machine *m, const struct root *r)
{
	char **names, path[128], text[32];
	size_t n;

	if (root_list(r, NVIDIA, &names, &n) < 0)
		return;
	for (size_t i = 0; i < n && i < 1; i++) {
		snprintf(path, sizeof path, NVIDIA "/%.32s/power", names[i]);
		if (file_word(r, path, "Rail-Gating:", text, sizeof text))
			machine_put_truth(m, "gpu.", "railgating", !strcmp(text, "Enabled"));
		snprintf(path, sizeof path, "/sys/bus/pci/devices/%.32s/power/control", names[i]);
		if (file_line(r, path, text, sizeof text))
			machine_put_text(m, "gpu.", "power_control", text, 0);
	}
	free(names);
}

/* Adds what a channel of an engine or of a rail tells to the unit that is called as it is before the dot. */
static void read_unit(struct machine *m, const struct root *r, const struct channel *c)
{
	bool engine = c->kind == CHANNEL_ENGINE_FREQ || c->kind == CHANNEL_ENGINE_UTIL, current = c->kind == CHANNEL_RAIL_CURRENT;
	char at[32], path[40], name[40], folder[160];
	const char *known;

	if (c->missing[0] || (!engine && !current && c->kind != CHANNEL_RAIL_POWER))
		return;
	text_printable(name, sizeof name, c->name, strcspn(c->name, "."));
	for (unsigned i = 0;; i++) {
		snprintf(at, sizeof at, "%s[%u].", engine ? "engines" : "rails", i);
		text_join(path, sizeof path, at, "name");
		known = machine_text(m, path);
		if (!*known)
			machine_put_text(m, at, "name", name, 0);
		if (!*known || !strcmp(known, name))
			break;
	}
	if (c->kind == CHANNEL_ENGINE_FREQ && folder_of(m, c, "", folder))
		machine_read_fields(m, r, clock_fields, folder, at);
	if (engine)
		return;
	machine_put_number(m, at, current ? "warn_ma" : "warn_mw", c->warn);
	machine_put_number(m, at, current ? "crit_ma" : "crit_mw", c->crit);
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

static void read_swaps(struct machine *m, const struct root *r)
{
	struct swap_area swaps[SWAPS_MAX];
	int n = swaps_read(r, swaps);
	char at[32];

	if (n < 0)
		machine_missing(m, "memory.", "swaps", "/proc/swaps", root_error(errno));
	for (int i = 0; i < n; i++) {
		snprintf(at, sizeof at, "memory.swaps[%d].", i);
		machine_put_text(m, at, "device", swaps[i].device, 0);
		machine_put_text(m, at, "type", swaps[i].type, 0);
		machine_put_number(m, at, "size_kb", swaps[i].kb);
		machine_put_number(m, at, "used_kb", swaps[i].used_kb);
		machine_put_number(m, at, "priority", swaps[i].priority);
	}
}

/* The memory in the chip of a tegra210: its size in hexadecimal, and a table as that of other memory. */
static void read_iram(struct machine *m, const struct root *r)
{
	char text[64];
	int64_t kb;

	if (root_read(r, DEBUG "nvmap/iram/size", text, sizeof text) <= 0) {
		if (!strcmp(machine_text(m, "soc"), "tegra210"))
			machine_missing(m, "memory.", "iram_total_kb", DEBUG "nvmap/iram/size", root_error(errno));
		return;
	}
	machine_put_number(m, "memory.", "iram_total_kb", floor((double)strtoull(text, NULL, 16) / 1024));
	if (file_word(r, DEBUG "nvmap/iram/clients", "total", text, sizeof text) &&
	    num_i64(text, text + strlen(text), &kb))
		machine_put_number(m, "memory.", "iram_used_kb", (double)kb);
}

void machine_read_parts(struct machine *m, const struct root *r, const struct channel *channels, size_t n)
{
	const struct channel *emc = channel_named(channels, n, "emc.rate");
	char folder[160];

	read_cores(m, r);
	if (folder_of(m, channel_named(channels, n, "gpu.freq"), "gpu", folder)) {
		machine_read_fields(m, r, gpu_fields, folder, "gpu.");
		read_pci_gpu(m, r);
		read_gpcs(m, r);
	}
	if (folder_of(m, emc, "memory.emc", folder))
		machine_read_fields(m, r, clock_fields + 1, strstr(folder, "/override.emc") ? DEBUG "tegra_bwmgr" : folder,
				    "memory.emc.");
	read_swaps(m, r);
	read_iram(m, r);
	for (size_t i = 0; i < n; i++)
		read_unit(m, r, &channels[i]);
	if (!root_is_live(r)) {
		machine_missing(m, "", "disks", "", _("only those of the running machine are read"));
		machine_missing(m, "", "interfaces", "", _("only those of the running machine are read"));
	}
}

/* --- disks and addresses --- */

/* Only disks of this machine: the server of another one may not answer. */
static void read_disks(struct machine *m, const struct root *r)
{
	char text[32768], *save, *line, at[32];
	double sizes[PLACES];
	int n = 0;

	if (root_read(r, "/proc/self/mounts", text, sizeof text) <= 0)
		return;
	for (line = strtok_r(text, "\n", &save); line && n < PLACES; line = strtok_r(NULL, "\n", &save)) {
		char *mount = strchr(line, ' '), *end = mount ? strchr(mount + 1, ' ') : NULL;
		struct statvfs v;
		int same = 0;

		if (!end || strncmp(line, "/dev/", 5) != 0 || !strncmp(line, "/dev/loop", 9))
			continue;
		*end = *mount++ = '\0';
		decode(mount);
		if (statvfs(mount, &v) < 0 || !v.f_blocks)
			continue;
		/* of those of the same size one: it is mounted again */
		sizes[n] = (double)v.f_blocks * (double)v.f_frsize;
		while (sizes[same] != sizes[n])
			same++;
		if (same < n)
			continue;
		snprintf(at, sizeof at, "disks[%d].", n++);
		machine_put_text(m, at, "mount", mount, 0);
		machine_put_text(m, at, "device", line, 0);
		machine_put_number(m, at, "total_bytes", sizes[same]);
		machine_put_number(m, at, "used_bytes", (double)(v.f_blocks - v.f_bfree) * (double)v.f_frsize);
		machine_put_number(m, at, "available_bytes", (double)v.f_bavail * (double)v.f_frsize);
	}
}

static void read_nets(struct machine *m)
{
	struct ifaddrs *all;
	int n = 0;

	if (getifaddrs(&all) < 0)
		return;
	for (const struct ifaddrs *a = all; a && n < PLACES; a = a->ifa_next) {
		const struct sockaddr *of = a->ifa_addr;
		bool four = of && of->sa_family == AF_INET, six = of && of->sa_family == AF_INET6;
		const void *raw = four ? (const void *)&((const struct sockaddr_in *)(const void *)of)->sin_addr
				       : (const void *)&((const struct sockaddr_in6 *)(const void *)of)->sin6_addr;
		char address[48], at[32];

		if ((!four && !six) || (a->ifa_flags & IFF_LOOPBACK) ||
		    !inet_ntop(of->sa_family, raw, address, sizeof address))
			continue;
		snprintf(at, sizeof at, "interfaces[%d].", n++);
		machine_put_text(m, at, "name", a->ifa_name, 0);
		machine_put_text(m, at, "address", address, 0);
	}
	freeifaddrs(all);
}

void machine_read_places(struct machine *m, const struct root *r)
{
	long long s;

	if (root_read_i64(r, "/proc/uptime", &s) == 0 && s >= 0)
		machine_put_number(m, "", "uptime_s", (double)s);
	if (!root_is_live(r))
		return;
	read_disks(m, r);
	read_nets(m);
}
