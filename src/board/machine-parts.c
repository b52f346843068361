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
	const size_t room = 256 * 1024;
	char *cpuinfo = malloc(room), folder[96], **names;
	bool set[CORES_MAX], known = cpulist_read(r, CPU "/online", set, CORES_MAX);
	size_t n;

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
		struct machine_core *c;
		char **states;
		size_t n_states;

		if (strncmp(names[i], "cpu", 3) != 0 || num_i64(digits, end, &id) != end || id < 0 || id >= CORES_MAX ||
		    !(c = machine_add(&m->cores, machine_core_fields, sizeof *c)))
			continue;
		snprintf(folder, sizeof folder, CPU "/%.32s", names[i]);
		c->id = (double)id;
		c->online = known ? set[id] : MACHINE_UNKNOWN;
		core_model(cpuinfo ? cpuinfo : "", id, c->model, sizeof c->model);
		machine_read_fields(m, r, machine_core_fields, c, folder, NULL);
		text_join(folder, sizeof folder, folder, "/cpuidle");
		if (root_list(r, folder, &states, &n_states) < 0)
			continue;
		for (size_t k = 0; k < n_states; k++) {
			struct machine_idle *s = machine_add(&c->idle, machine_idle_fields, sizeof *s);
			char state[160];
			snprintf(state, sizeof state, "%s/%.32s", folder, states[k]);
			if (s)
				machine_read_fields(m, r, machine_idle_fields, s, state, NULL);
		}
		free(states);
	}
	free(names);
	free(cpuinfo);
}

/* --- clocks --- */

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
	int why = ENOENT;

	for (size_t i = 0; i < sizeof files / sizeof *files && !m->gpcs.n; i++)
		for (unsigned k = 0; k < (files[i].after ? GPCS : 1); k++) {
			struct machine_name *g;
			char path[96];
			long long hz;
			text_number(path, sizeof path, files[i].before, k);
			if (file_number_of(r, &hz, files[i].after ? path : files[i].before, files[i].after ? files[i].after : "") < 0) {
				why = why == ENOENT ? errno : why;
				break;
			}
			if ((g = machine_add(&m->gpcs, machine_name_fields, sizeof *g)))
				g->id = (double)hz;
		}
	if (!m->gpcs.n)
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
			m->railgating = !strcmp(text, "Enabled");
		snprintf(path, sizeof path, "/sys/bus/pci/devices/%.32s/power/control", names[i]);
		file_line(r, path, m->power_control, sizeof m->power_control);
	}
	free(names);
}

/* Gets the item of the list, of which the first member is a name, that is called as the part of the channel before the
 * dot; a new one if there is none. */
static void *part_of(struct machine_list *l, const struct channel *c, const struct machine_field *fields, size_t size)
{
	char name[sizeof ((struct machine_rail *)NULL)->name], *item;

	text_printable(name, sizeof name, c->name, strcspn(c->name, "."));
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp((char *)l->at + i * size, name))
			return (char *)l->at + i * size;
	item = machine_add(l, fields, size);
	return item ? memcpy(item, name, sizeof name) : NULL;
}

static void read_engine(struct machine *m, const struct root *r, const struct channel *c)
{
	struct machine_clock *e = part_of(&m->engines, c, machine_clock_fields, sizeof *e);
	char folder[160];

	if (e && c->kind == CHANNEL_ENGINE_FREQ && folder_of(m, c, "", folder))
		machine_read_fields(m, r, machine_clock_fields, e, folder, NULL);
}

static void read_rail(struct machine *m, const struct channel *c)
{
	struct machine_rail *rail = part_of(&m->rails, c, machine_rail_fields, sizeof *rail);
	bool current = c->kind == CHANNEL_RAIL_CURRENT;

	if (!rail)
		return;
	*(current ? &rail->warn_ma : &rail->warn_mw) = c->warn;
	*(current ? &rail->crit_ma : &rail->crit_mw) = c->crit;
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
static void read_swaps(struct machine *m, const struct root *r)
{
	char text[8192], *save, *line;

	if (root_read(r, "/proc/swaps", text, sizeof text) < 0) {
		machine_missing(m, "memory.", "swaps", "/proc/swaps", root_error(errno));
		return;
	}
	strtok_r(text, "\n", &save); /* the heading */
	while ((line = strtok_r(NULL, "\n", &save)) && m->swaps.n < PLACES) {
		char device[128], type[32];
		double kb, used, priority;
		struct machine_swap *s;

		if (sscanf(line, "%127s %31s %lf %lf %lf", device, type, &kb, &used, &priority) != 5 ||
		    !(s = machine_add(&m->swaps, machine_swap_fields, sizeof *s)))
			continue;
		decode(device);
		text_shortened(s->device, sizeof s->device, device, strlen(device));
		text_printable(s->type, sizeof s->type, strncmp(device, "/dev/zram", 9) ? type : "zram",
			       strncmp(device, "/dev/zram", 9) ? strlen(type) : 4);
		s->kb = kb;
		s->used_kb = used;
		s->priority = priority;
	}
}

/* The memory in the chip of a tegra210: its size in hexadecimal, and a table as that of other memory. */
static void read_iram(struct machine *m, const struct root *r)
{
	char text[64];
	int64_t kb;

	if (root_read(r, DEBUG "nvmap/iram/size", text, sizeof text) <= 0) {
		if (!strcmp(m->soc, "tegra210"))
			machine_missing(m, "memory.", "iram_total_kb", DEBUG "nvmap/iram/size", root_error(errno));
		return;
	}
	m->iram_kb = floor((double)strtoull(text, NULL, 16) / 1024);
	if (file_word(r, DEBUG "nvmap/iram/clients", "total", text, sizeof text) &&
	    num_i64(text, text + strlen(text), &kb))
		m->iram_used_kb = (double)kb;
}

void machine_read_parts(struct machine *m, const struct root *r, const struct channel *channels, size_t n)
{
	const struct channel *emc = channel_named(channels, n, "emc.rate");
	char folder[160];

	read_cores(m, r);
	if (folder_of(m, channel_named(channels, n, "gpu.freq"), "gpu", folder)) {
		machine_read_fields(m, r, machine_gpu_fields, m, folder, "gpu.");
		read_pci_gpu(m, r);
		read_gpcs(m, r);
	}
	if (folder_of(m, emc, "memory.emc", folder))
		machine_read_fields(m, r, machine_clock_fields + 2, &m->emc,
				    strstr(folder, "/override.emc") ? DEBUG "tegra_bwmgr" : folder, "memory.emc.");
	read_swaps(m, r);
	read_iram(m, r);
	if (!root_is_live(r)) {
		machine_missing(m, "", "disks", "", _("only those of the running machine are read"));
		machine_missing(m, "", "interfaces", "", _("only those of the running machine are read"));
	}
	for (size_t i = 0; i < n; i++) {
		const struct channel *c = &channels[i];
		if (c->missing[0])
			continue;
		if (c->kind == CHANNEL_ENGINE_FREQ || c->kind == CHANNEL_ENGINE_UTIL)
			read_engine(m, r, c);
		if (c->kind == CHANNEL_RAIL_CURRENT || c->kind == CHANNEL_RAIL_POWER)
			read_rail(m, c);
	}
}

/* --- disks and addresses --- */

static bool known(const struct machine *m, double bytes)
{
	for (size_t i = 0; i < m->disks.n; i++)
		if (((const struct machine_disk *)m->disks.at)[i].bytes == bytes)
			return true;
	return false;
}

/* Only disks of this machine: the server of another one may not answer. */
static void read_disks(struct machine *m, const struct root *r)
{
	char text[32768];
	char *save, *line;

	if (root_read(r, "/proc/self/mounts", text, sizeof text) <= 0)
		return;
	for (line = strtok_r(text, "\n", &save); line && m->disks.n < PLACES; line = strtok_r(NULL, "\n", &save)) {
		char *mount = strchr(line, ' '), *end = mount ? strchr(mount + 1, ' ') : NULL;
		struct machine_disk *d;
		struct statvfs v;

		if (!end || strncmp(line, "/dev/", 5) != 0 || !strncmp(line, "/dev/loop", 9))
			continue;
		*end = *mount++ = '\0';
		decode(mount);
		if (statvfs(mount, &v) < 0 || !v.f_blocks || known(m, (double)v.f_blocks * (double)v.f_frsize) ||
		    !(d = machine_add(&m->disks, machine_disk_fields, sizeof *d)))
			continue;
		text_printable(d->mount, sizeof d->mount, mount, strlen(mount));
		text_printable(d->device, sizeof d->device, line, strlen(line));
		d->bytes = (double)v.f_blocks * (double)v.f_frsize;
		d->used = (double)(v.f_blocks - v.f_bfree) * (double)v.f_frsize;
		d->free = (double)v.f_bavail * (double)v.f_frsize;
	}
}

static void read_nets(struct machine *m)
{
	struct ifaddrs *all;

	if (getifaddrs(&all) < 0)
		return;
	for (const struct ifaddrs *a = all; a && m->nets.n < PLACES; a = a->ifa_next) {
		const struct sockaddr *of = a->ifa_addr;
		bool four = of && of->sa_family == AF_INET, six = of && of->sa_family == AF_INET6;
		const void *raw = four ? (const void *)&((const struct sockaddr_in *)(const void *)of)->sin_addr
				       : (const void *)&((const struct sockaddr_in6 *)(const void *)of)->sin6_addr;
		char address[48];
		struct machine_net *n;

		if ((!four && !six) || (a->ifa_flags & IFF_LOOPBACK) ||
		    !inet_ntop(of->sa_family, raw, address, sizeof address) ||
		    !(n = machine_add(&m->nets, machine_net_fields, sizeof *n)))
			continue;
		text_printable(n->name, sizeof n->name, a->ifa_name, strlen(a->ifa_name));
		text_printable(n->address, sizeof n->address, address, strlen(address));
	}
	freeifaddrs(all);
}

void machine_read_places(struct machine *m, const struct root *r)
{
	long long s;

	m->uptime_s = root_read_i64(r, "/proc/uptime", &s) == 0 && s >= 0 ? (double)s : (double)NAN;
	m->disks.n = m->nets.n = 0;
	if (!root_is_live(r))
		return;
	read_disks(m, r);
	read_nets(m);
}
