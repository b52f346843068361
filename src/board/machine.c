/* The table of what is known about the machine: how each field is read, and what it is called on the screen, in JSON and
 * in traces. Most fields are one file and need nothing else. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board/machine.h"
#include "board/parsed.h"
#include "util/array.h"
#include "util/intl.h"
#include "util/json-csv.h"
#include "util/num.h"
#include "util/text.h"

#define TEXT(key, path, ...)  {key, FIELD_TEXT, .file = (path), ##__VA_ARGS__}
#define TREE                  "/proc/device-tree/"
#define FAN                   "/var/lib/nvfancontrol/status"
#define LIBRARY(key, name)    {"libraries." key, FIELD_TEXT, .title = (name)}

/* Those of one object are together. */
const struct machine_field machine_fields[] = {
	TEXT("model", TREE "model|/tmp/nv_jetson_model", .fact = "model", .title = N_("Model"), .most = 128),
	TEXT("module", TREE "compatible", .find = find_module, .fact = "module", .title = N_("Module"), .most = 96),
	TEXT("soc", TREE "compatible", .find = find_soc, .fact = "soc", .title = N_("SoC")),
	TEXT("codename", TREE "nvidia,dtsfilename", .find = find_codename),
	TEXT("p_number", TREE "compatible", .find = find_p_number),
	TEXT("part_number", "/sys/bus/i2c/devices/0-0050/eeprom", .find = find_part_number, .title = N_("Part number")),
	TEXT("board_ids", TREE "nvidia,boardids"),
	TEXT("cuda_arch", TREE "compatible", .find = find_cuda_arch),
	TEXT("serial", TREE "serial-number", .title = N_("Serial")),
	TEXT("release", "/etc/os-release", .find = find_release, .fact = "release", .title = N_("Release"), .most = 160),
	TEXT("l4t", "/etc/nv_tegra_release", .find = find_l4t),
	TEXT("jetpack", "/etc/nv_tegra_release", .find = find_jetpack, .fact = "jetpack", .title = N_("JetPack")),
	TEXT("kernel", "/proc/sys/kernel/osrelease", .fact = "kernel", .title = N_("Kernel"), .most = 96),
	TEXT("system", "/proc/sys/kernel/ostype"),
	TEXT("architecture", "/proc/sys/kernel/arch", .find = find_architecture),
	TEXT("distribution", "/etc/os-release PRETTY_NAME=|/usr/lib/os-release PRETTY_NAME=", .most = 128),
	TEXT("hostname", "/proc/sys/kernel/hostname|/etc/hostname", .fact = "hostname", .most = 96),
	{"uptime_s", FIELD_NUMBER, .file = "/proc/uptime", .scale = 1},
	LIBRARY("cuda", "CUDA"),
	LIBRARY("tensorrt", "TensorRT"),
	LIBRARY("cudnn", "cuDNN"),
	LIBRARY("vpi", "VPI"),
	LIBRARY("opencv", "OpenCV"),
	LIBRARY("vulkan", "Vulkan"),
	LIBRARY("python", NULL),
	{"memory.ram_total_kb", FIELD_NUMBER, .file = "/proc/meminfo MemTotal:", .scale = 1, .fact = "ram_total_kb"},
	TEXT("power_mode.current", "/var/lib/nvpmodel/status", .find = find_mode),
	TEXT("fan.profile", FAN " FAN_PROFILE:|/var/lib/nvpmodel/status fmode:"),
	TEXT("fan.governor", FAN " FAN_GOVERNOR:"),
	TEXT("fan.control", FAN " FAN_CONTROL:"),
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

/* --- entries --- */

struct machine *machine_new(void)
{
	return calloc(1, sizeof(struct machine));
}

void machine_free(struct machine *m)
{
	for (size_t i = 0; m && i < m->n; i++)
		free(m->known[i].text);
	for (size_t i = 0; m && i < m->n_missing; i++)
		free(m->missing[i].text);
	if (m) {
		free(m->known);
		free(m->missing);
	}
	free(m);
}

/* What is known already is replaced. */
static void entry_add(struct machine *m, const char *prefix, const char *key, struct machine_entry e)
{
	struct machine_entry *all = array_grow(m->known, m->n + 1, &m->room, sizeof *all);
	size_t at = 0, len;

	len = text_join(e.key, sizeof e.key, prefix, key);
	if (!all || (e.is == MACHINE_TEXT && !e.text)) {
		free(e.text);
		return;
	}
	m->known = all;
	for (size_t i = 0; i < m->n; i++)
		if (!strcmp(all[i].key, e.key)) {
			free(all[i].text);
			all[i] = e;
			return;
		}
	/* behind what is in the same object, or in one around it */
	while (len-- && !at)
		if (e.key[len] == '.' || e.key[len] == '[')
			for (at = m->n; at && strncmp(all[at - 1].key, e.key, len + 1) != 0;)
				at--;
	at = at ? at : m->n;
	memmove(&all[at + 1], &all[at], (m->n++ - at) * sizeof *all);
	all[at] = e;
}

static char *entry_text(const char *text, size_t most)
{
	char *copy = malloc(most);

	if (copy)
		text_shortened(copy, most, text, strlen(text));
	return copy;
}

void machine_put_text(struct machine *m, const char *prefix, const char *key, const char *text, size_t most)
{
	if (*text)
		entry_add(m, prefix, key, (struct machine_entry) {.is = MACHINE_TEXT, .text = entry_text(text, most ? most : 64)});
}

void machine_put_number(struct machine *m, const char *prefix, const char *key, double v)
{
	if (isfinite(v))
		entry_add(m, prefix, key, (struct machine_entry) {.is = MACHINE_NUMBER, .v = v});
}

void machine_put_truth(struct machine *m, const char *prefix, const char *key, bool v)
{
	entry_add(m, prefix, key, (struct machine_entry) {.is = MACHINE_TRUTH, .v = v});
}

void machine_missing(struct machine *m, const char *prefix, const char *key, const char *what, const char *why)
{
	struct machine_entry *all = array_grow(m->missing, m->n_missing + 1, &m->room_missing, sizeof *all);
	char reason[200];

	if (!all)
		return;
	m->missing = all;
	text_join(reason, sizeof reason, what, *what ? ": " : "", why);
	all[m->n_missing] = (struct machine_entry) {.is = MACHINE_TEXT, .text = entry_text(reason, sizeof reason)};
	text_join(all[m->n_missing].key, sizeof all->key, prefix, key);
	m->n_missing += all[m->n_missing].text != NULL;
}

/* Forgets what has these first letters of its key. */
static void entries_forget(struct machine *m, const char *first)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->n; i++)
		if (!strncmp(m->known[i].key, first, strlen(first)))
			free(m->known[i].text);
		else
			m->known[kept++] = m->known[i];
	m->n = kept;
}

static const struct machine_entry *entry_find(const struct machine *m, const char *key, int is)
{
	for (size_t i = 0; i < m->n; i++)
		if ((int)m->known[i].is == is && !strcmp(m->known[i].key, key))
			return &m->known[i];
	return NULL;
}

const char *machine_text(const struct machine *m, const char *key)
{
	const struct machine_entry *e = entry_find(m, key, MACHINE_TEXT);

	return e ? e->text : "";
}

double machine_number(const struct machine *m, const char *key)
{
	const struct machine_entry *e = entry_find(m, key, MACHINE_NUMBER);

	return e ? e->v : (double)NAN;
}

/* --- reading --- */

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

/* Returns -1 for what is neither. */
static int truth_of(const char *text)
{
	static const char *const no[] = {"0", "suspended", "off", "no", "N", "disabled"};
	static const char *const yes[] = {"active", "on", "yes", "Y", "enabled"};

	for (size_t i = 0; i < sizeof no / sizeof *no; i++)
		if (!strcmp(text, no[i]))
			return 0;
	for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
		if (!strcmp(text, yes[i]))
			return 1;
	return *text >= '1' && *text <= '9' ? 1 : -1;
}

void machine_read_fields(struct machine *m, const struct root *r, const struct machine_field *f, const char *folder,
			 const char *prefix)
{
	char text[1024], path[256];
	int64_t n;

	for (; f->key; f++) {
		if (!f->file)
			continue;
		bool got = machine_field_text(r, f, folder, text, sizeof text);
		const char *why = got ? _("not a number") : errno ? root_error(errno) : _("not in it");
		if (got && f->is == FIELD_TEXT)
			machine_put_text(m, prefix, f->key, text, f->most);
		else if (got && f->is == FIELD_TRUTH && (got = truth_of(text) >= 0))
			machine_put_truth(m, prefix, f->key, truth_of(text));
		else if (got && f->is == FIELD_NUMBER && (got = num_i64(text, text + strlen(text), &n)))
			machine_put_number(m, prefix, f->key, (double)n * f->scale);
		snprintf(path, sizeof path, "%s%s%.*s", folder, *folder ? "/" : "", (int)strcspn(f->file, " |"), f->file);
		if (!got && !strchr(prefix, '['))
			machine_missing(m, prefix, f->key, path, why);
	}
}

void machine_read(struct machine *m, const struct root *r, const struct channel *channels, size_t n)
{
	static const char *const objects[] = {"libraries.", "memory.", "power_mode.", "fan.", "cpu.", "gpu.", "memory.emc."};

	if (!m->installed) {
		machine_read_fields(m, r, machine_fields, "", "");
		for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
			entry_add(m, objects[i], "", (struct machine_entry) {.is = MACHINE_NOTHING});
		machine_read_libraries(m, r);
		machine_read_settings(m, r);
		machine_read_parts(m, r, channels, n);
	}
	m->installed = true;
	entries_forget(m, "interfaces[");
	entries_forget(m, "disks[");
	machine_read_places(m, r);
}

void machine_take_clocks(struct machine *m, double pinned, const char *why)
{
	if (isnan(pinned))
		machine_missing(m, "", "jetson_clocks", "", why);
	else
		machine_put_truth(m, "", "jetson_clocks", pinned > 0);
}

void machine_take_processes(struct machine *m, const struct procs_list *list)
{
	char at[32];
	size_t n = 0;

	for (size_t i = 0; list && i < list->n; i++) {
		const struct proc *p = &list->procs[i];
		if (!p->gpu)
			continue;
		snprintf(at, sizeof at, "processes[%zu].", n++);
		machine_put_number(m, at, "pid", p->pid);
		machine_put_text(m, at, "name", p->name, 0);
		machine_put_text(m, at, "user", p->user, 0);
		machine_put_text(m, at, "type", p->type, 0);
		machine_put_text(m, at, "state", (const char[]) {p->state, '\0'}, 0);
		machine_put_number(m, at, "priority", p->priority);
		machine_put_number(m, at, "threads", (double)p->threads);
		machine_put_number(m, at, "cpu_percent", p->cpu);
		machine_put_number(m, at, "rss_kb", p->rss_kb);
		machine_put_number(m, at, "gpu_kb", p->gpu_kb);
		machine_put_number(m, at, "age_s", p->age_s);
		machine_put_text(m, at, "command", p->command, PROC_COMMAND);
	}
	if (list && list->gpu_missing[0])
		machine_missing(m, "", "processes", "", list->gpu_missing);
	else if (list && !n)
		entry_add(m, "processes[", "", (struct machine_entry) {.is = MACHINE_NOTHING});
}

/* --- writing --- */

/* Not for others to see. */
static bool is_personal(const char *key)
{
	static const char *const last[] = {"serial", "].address", "].command"};

	for (size_t i = 0; i < sizeof last / sizeof *last; i++)
		if (text_ends_in(key, last[i]))
			return true;
	return false;
}

/* Closes what a key has opened behind its first letters. */
static void entry_close(struct record *r, const char *key, size_t from)
{
	for (size_t i = strlen(key); i-- > from;)
		if (key[i] == '.' || key[i] == '[')
			json_close(r, key[i] == '.' ? "}" : "]");
}

/* An item of a list has a number instead of a name: "3]". */
static const char *name_of(const char *part)
{
	return strchr(part, ']') ? NULL : part;
}

static void entry_put(struct record *r, const struct machine_entry *e, const char *last)
{
	char part[sizeof e->key];
	const char *key = e->key;
	size_t at = 0, end;

	for (size_t i = 0; key[i] && key[i] == last[i]; i++)
		if (key[i] == '.' || key[i] == '[')
			at = i + 1;
	entry_close(r, last, at);
	for (; key[end = at + strcspn(key + at, ".[")]; at = end + 1) {
		snprintf(part, sizeof part, "%.*s", (int)(end - at), key + at);
		json_open(r, name_of(part), key[end] == '.' ? '{' : '[');
	}
	key = name_of(key + at);
	if (e->is == MACHINE_TEXT)
		PUT(r, {key, IN_JSON, TEXT_OF(e->text)});
	else if (e->is == MACHINE_TRUTH)
		PUT(r, {key, IN_JSON, TRUTH_OF(e->v > 0)});
	else if (e->is == MACHINE_NUMBER && fabs(e->v) < 0x1p53 && e->v == floor(e->v))
		PUT(r, {key, IN_JSON, COUNT_OF(e->v)});
	else if (e->is == MACHINE_NUMBER)
		PUT(r, {key, IN_JSON, NUMBER_OF(e->v)});
}

void machine_json(struct record *r, const char *name, const struct machine *m, bool open)
{
	const char *last = "";

	json_open(r, name, '{');
	for (const struct machine_entry *e = m->known; e < m->known + m->n; e++)
		if (!open || !is_personal(e->key)) {
			entry_put(r, e, last);
			last = e->key;
		}
	entry_close(r, last, 0);
	json_open(r, "missing", '{');
	for (size_t i = 0; i < m->n_missing; i++)
		PUT(r, {m->missing[i].key, IN_JSON, TEXT_OF(m->missing[i].text)});
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
