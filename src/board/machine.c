/* The table of what is known about the machine: how each field is read, and what it is called on the screen, in JSON and
 * in traces. Most fields are one file and need nothing else. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "board/conf.h"
#include "board/machine.h"
#include "util/intl.h"

#define TEXT(key, path, ...)  {key, FIELD_TEXT, .file = (path), ##__VA_ARGS__}
#define TREE                  "/proc/device-tree/"
#define LIBRARY(key, name, of_package, of_file) {"libraries." key, FIELD_TEXT, .title = (name), .package = (of_package), .library = (of_file)}

/* Those of one object are together. */
const struct machine_field machine_fields[MACHINE_FIELDS + 1] = {
	TEXT("model", TREE "model|/tmp/nv_jetson_model", .fact = "model", .title = N_("Model"), .most = 128),
	TEXT("module", FILE_COMPATIBLE, .find = find_module, .fact = "module", .title = N_("Module"), .most = 96),
	TEXT("soc", FILE_COMPATIBLE, .find = find_soc, .fact = "soc", .title = N_("SoC")),
	TEXT("codename", TREE "nvidia,dtsfilename", .find = find_codename),
	TEXT("p_number", FILE_COMPATIBLE, .find = find_p_number),
	TEXT("part_number", FILE_EEPROMS, .find = find_part_number, .title = N_("Part number")),
	TEXT("board_ids", TREE "nvidia,boardids"),
	TEXT("cuda_arch", FILE_COMPATIBLE, .find = find_cuda_arch),
	TEXT("serial", TREE "serial-number", .title = N_("Serial"), .personal = true),
	TEXT("release", "/etc/os-release", .find = find_release, .fact = "release", .title = N_("Release"), .most = 160),
	TEXT("l4t", FILE_RELEASE, .find = find_l4t),
	TEXT("jetpack", FILE_RELEASE, .find = find_jetpack, .fact = "jetpack", .title = N_("JetPack")),
	TEXT("kernel", "/proc/sys/kernel/osrelease", .fact = "kernel", .title = N_("Kernel"), .most = 96),
	TEXT("system", "/proc/sys/kernel/ostype"),
	TEXT("architecture", "/proc/sys/kernel/arch", .find = find_architecture),
	TEXT("distribution", "/etc/os-release PRETTY_NAME=|/usr/lib/os-release PRETTY_NAME=", .most = 128),
	TEXT("hostname", "/proc/sys/kernel/hostname|/etc/hostname", .fact = "hostname", .most = 96),
	{"uptime_s", FIELD_NUMBER, .file = "/proc/uptime", .scale = 1},
	LIBRARY("cuda", "CUDA", "cuda-cudart-", "libcudart.so."),
	LIBRARY("tensorrt", "TensorRT", "libnvinfer", "libnvinfer.so."),
	LIBRARY("cudnn", "cuDNN", "libcudnn", "libcudnn.so."),
	LIBRARY("vpi", "VPI", "libnvvpi", "libnvvpi.so."),
	LIBRARY("opencv", "OpenCV", "libopencv", "libopencv_core.so."),
	LIBRARY("vulkan", "Vulkan", "libvulkan", "libvulkan.so."),
	LIBRARY("python", NULL, "python3", ""),
	{"memory.ram_total_kb", FIELD_NUMBER, .file = "/proc/meminfo MemTotal:", .scale = 1, .fact = "ram_total_kb"},
	TEXT("power_mode.current", CONF_MODE_STATUS, .find = find_mode),
	TEXT("fan.profile", CONF_FAN_STATUS " FAN_PROFILE:|" CONF_MODE_STATUS " fmode:"),
	TEXT("fan.governor", CONF_FAN_STATUS " FAN_GOVERNOR:"),
	TEXT("fan.control", CONF_FAN_STATUS " FAN_CONTROL:"),
	TEXT("cpu.online", "/sys/devices/system/cpu/online"),
	{.key = NULL},
};

const struct machine_field *machine_field_find(const char *key)
{
	const struct machine_field *f = machine_fields;

	while (strcmp(f->key, key) != 0)
		f++;
	return f;
}

void machine_read(struct machine *m, const struct root *r)
{
	const struct machine_field *library = machine_field_find("libraries.cuda");
	long long s;
	int unused;

	for (size_t i = 0; i < MACHINE_FIELDS && !m->read; i++) {
		const struct machine_field *f = &machine_fields[i];
		if (f->file && f->title && !f->fact && !machine_field_text(r, f, "", m->text[i], sizeof m->text[i]))
			m->text[i][0] = '\0';
	}
	if (!m->read)
		libraries_read(r, library, &m->text[library - machine_fields], &unused);
	m->read = true;
	m->uptime_s = root_read_i64(r, "/proc/uptime", &s) == 0 && s > 0 ? s : 0;
	m->n_disks = disks_read(r, m->disks);
	m->n_addresses = addresses_read(r, m->addresses);
}

/* --- writing --- */

/* Puts the fields of an object that are in files. */
static void put_fields(struct machine_writer *w, const char *object)
{
	size_t len = strlen(object);

	for (const struct machine_field *f = machine_fields; f->key; f++) {
		struct machine_field one[] = {*f, {.key = NULL}};
		if (!f->file || strncmp(f->key, object, len) != 0 || strchr(f->key + len, '.'))
			continue;
		one->key += len;
		machine_put_fields(w, one, "", object);
	}
}

static void put_libraries(struct machine_writer *w)
{
	const struct machine_field *f = machine_field_find("libraries.cuda");
	char versions[LIBRARIES][64];
	int opencv_cuda;

	libraries_read(w->of->root, f, versions, &opencv_cuda);
	for (size_t i = 0; i < LIBRARIES; i++) {
		machine_put_text(w, strchr(f[i].key, '.') + 1, versions[i], 0);
		if (!*versions[i])
			machine_missing(w, f[i].key, "", _("not installed: no package and no file of it was found"));
	}
	if (opencv_cuda >= 0)
		machine_put_truth(w, "opencv_cuda", opencv_cuda);
}

static void put_processes(struct machine_writer *w)
{
	const struct procs_list *list = w->of->procs;

	if (!list || list->gpu_missing[0]) {
		if (list)
			machine_missing(w, "processes", "", list->gpu_missing);
		return;
	}
	json_open(w->to, "processes", '[');
	for (size_t i = 0; i < list->n; i++) {
		const struct proc *p = &list->procs[i];
		if (!p->gpu)
			continue;
		json_open(w->to, NULL, '{');
		machine_put_number(w, "pid", p->pid);
		machine_put_text(w, "name", p->name, 0);
		machine_put_text(w, "user", p->user, 0);
		machine_put_text(w, "type", p->type, 0);
		machine_put_text(w, "state", (const char[]) {p->state, '\0'}, 0);
		machine_put_number(w, "priority", p->priority);
		machine_put_number(w, "threads", (double)p->threads);
		machine_put_number(w, "cpu_percent", p->cpu);
		machine_put_number(w, "rss_kb", p->rss_kb);
		machine_put_number(w, "gpu_kb", p->gpu_kb);
		machine_put_number(w, "age_s", p->age_s);
		if (!w->open)
			machine_put_text(w, "command", p->command, PROC_COMMAND);
		json_close(w->to, "}");
	}
	json_close(w->to, "]");
}

void machine_json(struct record *to, const char *name, const struct machine_source *of, bool open)
{
	static const struct {
		const char *name, *prefix;
		void (*more)(struct machine_writer *w);
	} objects[] = {{"libraries", "libraries.", put_libraries},	{"memory", "memory.", machine_put_memory},
		       {"power_mode", "power_mode.", machine_put_modes}, {"fan", "fan.", machine_put_profiles},
		       {"cpu", "cpu.", machine_put_cores},		{"gpu", "gpu.", machine_put_gpu}};
	struct machine_writer w = {.to = to, .of = of, .open = open};

	json_open(to, name, '{');
	put_fields(&w, "");
	for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
		json_open(to, objects[i].name, '{');
		put_fields(&w, objects[i].prefix);
		objects[i].more(&w);
		json_close(to, "}");
	}
	machine_put_units(&w, true);
	machine_put_units(&w, false);
	machine_put_places(&w);
	put_processes(&w);
	if (of->pinned && !isnan(*of->pinned))
		machine_put_truth(&w, "jetson_clocks", *of->pinned > 0);
	else if (of->pinned)
		machine_missing(&w, "jetson_clocks", "", of->unpinned);
	json_open(to, "missing", '{');
	for (size_t i = 0; i < w.n_missing; i++)
		PUT(to, {w.missing[i].key, IN_JSON, TEXT_OF(w.missing[i].why)});
	json_close(to, "}}");
	free(w.missing);
}
