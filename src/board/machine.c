/* The table of what is known about the machine: how each field is read, and what it is called on the screen, in JSON and
 * in traces. Most fields are one file and need nothing else. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board/machine.h"
#include "board/parsed.h"
#include "util/intl.h"
#include "util/json-csv.h"
#include "util/num.h"

#define AT(s, member)        offsetof(struct s, member), sizeof(((struct s *)NULL)->member)
#define FIELD(s, key, is, m, ...)   {key, is, AT(s, m), __VA_ARGS__}
#define TEXT(s, key, m, path, ...)  FIELD(s, key, FIELD_TEXT, m, .file = (path), ##__VA_ARGS__)
#define NUMBER(s, key, m, path, by) FIELD(s, key, FIELD_NUMBER, m, .file = (path), .scale = (by))
#define TRUTH(s, key, m, path)      FIELD(s, key, FIELD_TRUTH, m, .file = (path))
#define LIST(s, key, m, fields, item) FIELD(s, key, FIELD_LIST, m, .of = (fields), .item_size = sizeof(struct item))
#define GROUP(key, s, m, fields)    FIELD(s, key, FIELD_GROUP, m, .of = (fields))
/* The members are in the struct itself. */
#define INNER(key, fields) {key, FIELD_GROUP, .of = (fields)}

#define TREE "/proc/device-tree/"

#define LIBRARY(key, i, name) TEXT(machine, key, version[i], NULL, .title = (name))
const struct machine_field machine_libraries[] = {
	LIBRARY("cuda", LIBRARY_CUDA, "CUDA"),
	LIBRARY("tensorrt", LIBRARY_TENSORRT, "TensorRT"),
	LIBRARY("cudnn", LIBRARY_CUDNN, "cuDNN"),
	LIBRARY("vpi", LIBRARY_VPI, "VPI"),
	LIBRARY("opencv", LIBRARY_OPENCV, "OpenCV"),
	TRUTH(machine, "opencv_cuda", opencv_cuda, NULL),
	LIBRARY("vulkan", LIBRARY_VULKAN, "Vulkan"),
	LIBRARY("python", LIBRARY_PYTHON, NULL),
	{.is = FIELD_END},
};

const struct machine_field machine_net_fields[] = {
	TEXT(machine_net, "name", name, NULL),
	TEXT(machine_net, "address", address, NULL, .personal = true),
	{.is = FIELD_END},
};

const struct machine_field machine_disk_fields[] = {
	TEXT(machine_disk, "mount", mount, NULL),
	TEXT(machine_disk, "device", device, NULL),
	NUMBER(machine_disk, "total_bytes", bytes, NULL, 1),
	NUMBER(machine_disk, "used_bytes", used, NULL, 1),
	NUMBER(machine_disk, "available_bytes", free, NULL, 1),
	{.is = FIELD_END},
};

const struct machine_field machine_swap_fields[] = {
	TEXT(machine_swap, "device", device, NULL),
	TEXT(machine_swap, "type", type, NULL),
	NUMBER(machine_swap, "size_kb", kb, NULL, 1),
	NUMBER(machine_swap, "used_kb", used_kb, NULL, 1),
	NUMBER(machine_swap, "priority", priority, NULL, 1),
	{.is = FIELD_END},
};

/* devfreq; the clocks of the firmware (bpmp); those of the kernel; the memory of a tegra210. */
const struct machine_field machine_clock_fields[] = {
	TEXT(machine_clock, "name", name, NULL),
	TRUTH(machine_clock, "on", on, "device/power/runtime_status|state|clk_enable_count"),
	NUMBER(machine_clock, "min_hz", min_hz, "min_freq|min_rate|clk_min_rate|emc_min_rate", 1),
	NUMBER(machine_clock, "max_hz", max_hz, "max_freq|max_rate|clk_max_rate|emc_max_rate", 1),
	{.is = FIELD_END},
};

static const struct machine_field memory[] = {
	FIELD(machine, "ram_total_kb", FIELD_NUMBER, ram_kb, .file = "/proc/meminfo MemTotal:", .scale = 1,
	      .fact = "ram_total_kb"),
	NUMBER(machine, "iram_total_kb", iram_kb, NULL, 1),
	NUMBER(machine, "iram_used_kb", iram_used_kb, NULL, 1),
	GROUP("emc", machine, emc, machine_clock_fields + 2),
	LIST(machine, "swaps", swaps, machine_swap_fields, machine_swap),
	{.is = FIELD_END},
};

const struct machine_field machine_name_fields[] = {
	NUMBER(machine_name, "id", id, NULL, 1),
	TEXT(machine_name, "name", name, NULL),
	{.is = FIELD_END},
};
const struct machine_field machine_mode_fields[] = {
	TEXT(machine, "current", mode, "/var/lib/nvpmodel/status", .find = find_mode),
	TEXT(machine, "default", default_mode, NULL),
	LIST(machine, "modes", modes, machine_name_fields, machine_name),
	{.is = FIELD_END},
};

static const struct machine_field bare_name[] = {TEXT(machine_name, NULL, name, NULL), {.is = FIELD_END}};
static const struct machine_field bare_id[] = {NUMBER(machine_name, NULL, id, NULL, 1), {.is = FIELD_END}};

#define FAN "/var/lib/nvfancontrol/status"
const struct machine_field machine_fan_fields[] = {
	TEXT(machine, "profile", fan_profile, FAN " FAN_PROFILE:|/var/lib/nvpmodel/status fmode:"),
	TEXT(machine, "governor", fan_governor, FAN " FAN_GOVERNOR:"),
	TEXT(machine, "control", fan_control, FAN " FAN_CONTROL:"),
	TEXT(machine, "default_profile", fan_default, NULL),
	LIST(machine, "profiles", fan_profiles, bare_name, machine_name),
	{.is = FIELD_END},
};

const struct machine_field machine_idle_fields[] = {
	TEXT(machine_idle, "name", name, "name"),
	TRUTH(machine_idle, "disabled", disabled, "disable"),
	{.is = FIELD_END},
};
const struct machine_field machine_core_fields[] = {
	NUMBER(machine_core, "id", id, NULL, 1),
	TRUTH(machine_core, "online", online, NULL),
	TEXT(machine_core, "model", model, NULL),
	TEXT(machine_core, "governor", governor, "cpufreq/scaling_governor"),
	NUMBER(machine_core, "min_hz", min_hz, "cpufreq/scaling_min_freq", 1000),
	NUMBER(machine_core, "max_hz", max_hz, "cpufreq/scaling_max_freq", 1000),
	NUMBER(machine_core, "hardware_min_hz", hardware_min_hz, "cpufreq/cpuinfo_min_freq", 1000),
	NUMBER(machine_core, "hardware_max_hz", hardware_max_hz, "cpufreq/cpuinfo_max_freq", 1000),
	LIST(machine_core, "idle_states", idle, machine_idle_fields, machine_idle),
	{.is = FIELD_END},
};
static const struct machine_field cpu[] = {
	TEXT(machine, "online", cpus_online, "/sys/devices/system/cpu/online"),
	LIST(machine, "cores", cores, machine_core_fields, machine_core),
	{.is = FIELD_END},
};

/* Below the folder of devfreq; the rest is in code, for a Thor. */
const struct machine_field machine_gpu_fields[] = {
	TEXT(machine, "name", gpu_name, "device/of_node/name"),
	TEXT(machine, "governor", gpu_governor, "governor"),
	NUMBER(machine, "min_hz", gpu_min_hz, "min_freq", 1),
	NUMBER(machine, "max_hz", gpu_max_hz, "max_freq", 1),
	TRUTH(machine, "railgating", railgating, "device/railgate_enable"),
	TRUTH(machine, "scaling_3d", scaling_3d, "device/enable_3d_scaling"),
	NUMBER(machine, "tpc_mask", tpc_mask, "device/tpc_pg_mask", 1),
	TEXT(machine, "power_control", power_control, "device/power/control"),
	LIST(machine, "gpc_hz", gpcs, bare_id, machine_name),
	{.is = FIELD_END},
};

const struct machine_field machine_rail_fields[] = {
	TEXT(machine_rail, "name", name, NULL),
	NUMBER(machine_rail, "warn_ma", warn_ma, NULL, 1),
	NUMBER(machine_rail, "crit_ma", crit_ma, NULL, 1),
	NUMBER(machine_rail, "warn_mw", warn_mw, NULL, 1),
	NUMBER(machine_rail, "crit_mw", crit_mw, NULL, 1),
	{.is = FIELD_END},
};

static const struct machine_field processes[] = {
	FIELD(proc, "pid", FIELD_INT, pid, .file = NULL),
	TEXT(proc, "name", name, NULL),
	TEXT(proc, "user", user, NULL),
	TEXT(proc, "type", type, NULL),
	FIELD(proc, "state", FIELD_LETTER, state, .file = NULL),
	FIELD(proc, "priority", FIELD_INT, priority, .file = NULL),
	FIELD(proc, "threads", FIELD_INT, threads, .file = NULL),
	NUMBER(proc, "cpu_percent", cpu, NULL, 1),
	NUMBER(proc, "rss_kb", rss_kb, NULL, 1),
	NUMBER(proc, "gpu_kb", gpu_kb, NULL, 1),
	NUMBER(proc, "age_s", age_s, NULL, 1),
	TEXT(proc, "command", command, NULL, .personal = true),
	{.is = FIELD_END},
};

const struct machine_field machine_fields[] = {
	TEXT(machine, "model", model, TREE "model|/tmp/nv_jetson_model", .fact = "model", .title = N_("Model")),
	TEXT(machine, "module", module, TREE "compatible", .find = find_module, .fact = "module", .title = N_("Module")),
	TEXT(machine, "soc", soc, TREE "compatible", .find = find_soc, .fact = "soc", .title = N_("SoC")),
	TEXT(machine, "codename", codename, TREE "nvidia,dtsfilename", .find = find_codename),
	TEXT(machine, "p_number", p_number, TREE "compatible", .find = find_p_number),
	TEXT(machine, "part_number", part_number, "/sys/bus/i2c/devices/0-0050/eeprom", .find = find_part_number,
	     .title = N_("Part number")),
	TEXT(machine, "board_ids", board_ids, TREE "nvidia,boardids"),
	TEXT(machine, "cuda_arch", cuda_arch, TREE "compatible", .find = find_cuda_arch),
	TEXT(machine, "serial", serial, TREE "serial-number", .title = N_("Serial"), .personal = true),
	TEXT(machine, "release", release, "/etc/os-release", .find = find_release, .fact = "release", .title = N_("Release")),
	TEXT(machine, "l4t", l4t, "/etc/nv_tegra_release", .find = find_l4t),
	TEXT(machine, "jetpack", jetpack, "/etc/nv_tegra_release", .find = find_jetpack, .fact = "jetpack",
	     .title = N_("JetPack")),
	TEXT(machine, "kernel", kernel, "/proc/sys/kernel/osrelease", .fact = "kernel", .title = N_("Kernel")),
	TEXT(machine, "system", system, "/proc/sys/kernel/ostype"),
	TEXT(machine, "architecture", architecture, "/proc/sys/kernel/arch", .find = find_architecture),
	TEXT(machine, "distribution", distribution, "/etc/os-release PRETTY_NAME=|/usr/lib/os-release PRETTY_NAME="),
	TEXT(machine, "hostname", hostname, "/proc/sys/kernel/hostname|/etc/hostname", .fact = "hostname"),
	NUMBER(machine, "uptime_s", uptime_s, "/proc/uptime", 1),
	INNER("libraries", machine_libraries),
	LIST(machine, "interfaces", nets, machine_net_fields, machine_net),
	LIST(machine, "disks", disks, machine_disk_fields, machine_disk),
	INNER("memory", memory),
	INNER("power_mode", machine_mode_fields),
	INNER("fan", machine_fan_fields),
	TRUTH(machine, "jetson_clocks", jetson_clocks, NULL),
	INNER("cpu", cpu),
	INNER("gpu", machine_gpu_fields),
	LIST(machine, "engines", engines, machine_clock_fields, machine_clock),
	LIST(machine, "rails", rails, machine_rail_fields, machine_rail),
	LIST(machine, "processes", processes, processes, proc),
	{.is = FIELD_END},
};

/* --- reading --- */

static void machine_clear(const struct machine_field *f, void *base)
{
	for (; f->is != FIELD_END; f++) {
		void *at = (char *)base + f->at;

		if (f->is == FIELD_NUMBER)
			*(double *)at = NAN;
		else if (f->is == FIELD_TRUTH)
			*(int *)at = MACHINE_UNKNOWN;
		else if (f->is == FIELD_GROUP)
			machine_clear(f->of, at);
	}
}

/* Frees the lists. */
static void machine_release(const struct machine_field *f, void *base)
{
	for (; f->is != FIELD_END; f++) {
		void *at = (char *)base + f->at;
		struct machine_list *l = at;

		if (f->is == FIELD_GROUP)
			machine_release(f->of, at);
		if (f->is != FIELD_LIST)
			continue;
		for (size_t i = 0; i < l->n; i++)
			machine_release(f->of, (char *)l->at + i * f->item_size);
		free(l->at);
		*l = (struct machine_list) {NULL, 0};
	}
}

struct machine *machine_new(void)
{
	struct machine *m = calloc(1, sizeof *m);

	if (m)
		machine_clear(machine_fields, m);
	return m;
}

void machine_free(struct machine *m)
{
	if (!m)
		return;
	machine_release(machine_fields, m);
	free(m->missing.at);
	free(m);
}

void *machine_add(struct machine_list *l, const struct machine_field *fields, size_t size)
{
	char *more = reallocarray(l->at, l->n + 1, size);

	if (!more)
		return NULL;
	l->at = more;
	more += l->n++ * size;
	memset(more, 0, size);
	machine_clear(fields, more);
	return more;
}

void machine_missing(struct machine *m, const char *prefix, const char *key, const char *what, const char *why)
{
	struct machine_missing *a = machine_add(&m->missing, &(struct machine_field) {.is = FIELD_END}, sizeof *a);

	if (!a)
		return;
	text_join(a->key, sizeof a->key, prefix, key);
	text_join(a->reason, sizeof a->reason, what, *what ? ": " : "", why);
}

bool machine_field_text(const struct root *r, const struct machine_field *f, const char *folder, char *out, size_t size)
{
	char path[256], word[32];
	int why = ENOENT;

	errno = 0;
	out[0] = '\0';
	if (f->find)
		return f->find(r, out, size) && *out;
	for (const char *p = f->file, *end; p; p = *end ? end + 1 : NULL) {
		int len = (int)strcspn(p, " |");
		end = p + strcspn(p, "|");
		snprintf(path, sizeof path, "%s%s%.*s", folder, *folder ? "/" : "", len, p);
		snprintf(word, sizeof word, "%.*s", p + len < end ? (int)(end - p) - len - 1 : 0, p + len + 1);
		errno = 0;
		if (*word ? file_word(r, path, word, out, size) : file_line(r, path, out, size) && *out)
			return true;
		why = why == ENOENT ? errno : why;
	}
	errno = why;
	return false;
}

static int machine_truth(const char *text)
{
	static const char *const no[] = {"0", "suspended", "off", "no", "N", "disabled"};
	static const char *const yes[] = {"active", "on", "yes", "Y", "enabled"};

	for (size_t i = 0; i < sizeof no / sizeof *no; i++)
		if (!strcmp(text, no[i]))
			return 0;
	for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
		if (!strcmp(text, yes[i]))
			return 1;
	return *text >= '1' && *text <= '9' ? 1 : MACHINE_UNKNOWN;
}

void machine_read_fields(struct machine *m, const struct root *r, const struct machine_field *f, void *base,
			 const char *folder, const char *prefix)
{
	char text[1024], path[256];
	int64_t n;

	for (; f->is != FIELD_END; f++) {
		void *at = (char *)base + f->at;
		const char *why;

		if (!f->file && !f->find)
			continue;
		bool got = machine_field_text(r, f, folder, text, sizeof text);
		why = got ? _("not a number") : errno ? root_error(errno) : _("not in it");
		if (got && f->is == FIELD_TEXT)
			text_shortened(at, f->size, text, strlen(text));
		else if (got && f->is == FIELD_TRUTH)
			got = (*(int *)at = machine_truth(text)) != MACHINE_UNKNOWN;
		else if (got && (got = num_i64(text, text + strlen(text), &n)))
			*(double *)at = (double)n * f->scale;
		snprintf(path, sizeof path, "%s%s%.*s", folder, *folder ? "/" : "", (int)strcspn(f->file, " |"), f->file);
		if (!got && prefix)
			machine_missing(m, prefix, f->key, path, why);
	}
}

void machine_read(struct machine *m, const struct root *r, const struct channel *channels, size_t n)
{
	if (!m->installed) {
		machine_read_fields(m, r, machine_fields, m, "", "");
		machine_read_fields(m, r, memory, m, "", "memory.");
		machine_read_fields(m, r, cpu, m, "", "cpu.");
		machine_read_libraries(m, r);
		machine_read_settings(m, r);
		machine_read_parts(m, r, channels, n);
	}
	m->installed = true;
	machine_read_places(m, r);
}

void machine_take_clocks(struct machine *m, double pinned, const char *why)
{
	if (isnan(pinned))
		machine_missing(m, "", "jetson_clocks", "", why);
	else
		m->jetson_clocks = pinned > 0;
}

void machine_take_processes(struct machine *m, const struct procs_list *list)
{
	struct proc *to = list ? calloc(list->n + 1, sizeof *to) : NULL;

	for (size_t i = 0; to && i < list->n; i++)
		if (list->procs[i].gpu)
			to[m->processes.n++] = list->procs[i];
	m->processes.at = to;
	if (!to || !list->gpu_missing[0])
		return;
	machine_missing(m, "", "processes", "", list->gpu_missing);
	if (m->processes.n)
		return;
	free(to);
	m->processes.at = NULL;
}

/* --- writing --- */

const char *machine_text(const struct machine *m, const struct machine_field *f)
{
	return f->is == FIELD_TEXT ? (const char *)m + f->at : "";
}

static void machine_put_number(struct record *r, const char *key, double v)
{
	if (fabs(v) < 0x1p53 && v == floor(v))
		PUT(r, {key, IN_JSON, COUNT_OF(v)});
	else if (isfinite(v))
		PUT(r, {key, IN_JSON, NUMBER_OF(v)});
}

static void machine_put_fields(struct record *r, const struct machine_field *f, const void *base, bool open);

static void machine_put_list(struct record *r, const struct machine_field *f, const struct machine_list *l, bool open)
{
	bool bare = !f->of->key;

	json_open(r, f->key, '[');
	for (size_t i = 0; i < l->n; i++) {
		if (!bare)
			json_open(r, NULL, '{');
		machine_put_fields(r, f->of, (const char *)l->at + i * f->item_size, open);
		if (!bare)
			json_close(r, "}");
	}
	json_close(r, "]");
}

static void machine_put_fields(struct record *r, const struct machine_field *f, const void *base, bool open)
{
	for (; f->is != FIELD_END; f++) {
		const void *at = (const char *)base + f->at;
		const struct machine_list *l = at;

		if (f->personal && open)
			continue;
		switch (f->is) {
		case FIELD_TEXT:
			PUT(r, {f->key, *(const char *)at ? IN_JSON : 0, TEXT_OF(at)});
			break;
		case FIELD_LETTER:
			PUT(r, {f->key, IN_JSON, TEXT_OF(((char[]) {*(const char *)at, '\0'}))});
			break;
		case FIELD_NUMBER:
			machine_put_number(r, f->key, *(const double *)at);
			break;
		case FIELD_INT:
			machine_put_number(r, f->key, f->size == sizeof(int) ? *(const int *)at : (double)*(const long *)at);
			break;
		case FIELD_TRUTH:
			PUT(r, {f->key, *(const int *)at == MACHINE_UNKNOWN ? 0 : IN_JSON, TRUTH_OF(*(const int *)at)});
			break;
		case FIELD_LIST:
			if (l->at)
				machine_put_list(r, f, l, open);
			break;
		default:
			json_open(r, f->key, '{');
			machine_put_fields(r, f->of, at, open);
			json_close(r, "}");
		}
	}
}

void machine_json(struct record *r, const char *name, const struct machine *m, bool open)
{
	const struct machine_missing *missing = m->missing.at;

	json_open(r, name, '{');
	machine_put_fields(r, machine_fields, m, open);
	json_open(r, "missing", '{');
	for (size_t i = 0; i < m->missing.n; i++)
		PUT(r, {missing[i].key, IN_JSON, TEXT_OF(missing[i].reason)});
	json_close(r, "}}");
}

char *machine_describe(const struct machine *m, bool open)
{
	char *text = NULL;
	size_t size;
	struct record r = {.f = open_memstream(&text, &size)};

	if (!r.f)
		return NULL;
	machine_json(&r, NULL, m, open);
	if (fclose(r.f) == 0)
		return text;
	free(text);
	return NULL;
}
