/* Finds what the machine is, in more than one file, and makes the facts of a trace of it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "util/intl.h"
#include "util/io.h"
#include "board/machine.h"
#include "board/parsed.h"

#define TABLE_MAX (64 * 1024)
#define BLANKS    " \t\r"
#define COMPATIBLE "/proc/device-tree/compatible"
#define RELEASE    "/etc/nv_tegra_release"

static bool first_line(const struct root *r, const char *path, char *out, size_t size)
{
	return file_line(r, path, out, size) && *out;
}

/* "# R36 (release), REVISION: 4.3, GCID: ..." is L4T 36.4.3. */
static bool l4t_release(const struct root *r, char *out, size_t size)
{
	char line[256];
	int major, end = 0;
	char revision[24];

	if (!first_line(r, RELEASE, line, sizeof line))
		return false;
	if (sscanf(line, "# R%4d (release), REVISION: %20[0-9.]%n", &major, revision, &end) < 2)
		return false;
	snprintf(out, size, "%d.%s", major, revision);
	return true;
}

bool file_word(const struct root *r, const char *path, const char *word, char *out, size_t size)
{
	char text[4096];
	const char *p = root_read_trusted(r, path, text, sizeof text) < 0 ? NULL : (errno = 0, strstr(text, word));

	if (!p)
		return false;
	p += strlen(word);
	p += strspn(p, BLANKS);
	char quote = *p == '"' || *p == '\'' ? *p++ : '\0';
	const char stop[] = {'\n', quote, '\0'};
	text_printable(out, size, p, strcspn(p, quote ? stop : BLANKS ",\n"));
	return *out;
}

/* Gets the most specific NVIDIA chip in compatible. Returns its name and the version of CUDA's machine code. */
static const char *const *chip(const struct root *r)
{
	static const char *const chips[][2] = {{"tegra210", "5.3"}, {"tegra186", "6.2"}, {"tegra194", "7.2"}, {"tegra234", "8.7"}, {"tegra264", "11.0"}};
	char blob[4096];

	ssize_t len = root_read(r, COMPATIBLE, blob, sizeof blob);
	for (ssize_t i = 0; i < len; i += (ssize_t)strlen(blob + i) + 1)
		for (size_t k = 0; k < sizeof chips / sizeof *chips; k++)
			if (!strncmp(blob + i, "nvidia,", 7) && !strcmp(blob + i + 7, chips[k][0]))
				return chips[k];
	return NULL;
}

bool find_soc(const struct root *r, char *out, size_t size)
{
	const char *const *c = chip(r);

	text_join(out, size, c ? c[0] : "");
	return c;
}

bool find_cuda_arch(const struct root *r, char *out, size_t size)
{
	const char *const *c = chip(r);

	text_join(out, size, c ? c[1] : "");
	return c;
}

/* These names change with every product and release, so they are in text files next to the board files, with
 * one "KEY VALUE" per line; # begins a comment. */

/* Gets the value of key from the text of such a file. */
static bool table_look_up(const char *text, const char *key, size_t key_len, char *out, size_t size)
{
	for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n') {
		p += strspn(p, BLANKS);
		size_t len = strcspn(p, BLANKS "\n");
		if (*p == '#' || len != key_len || memcmp(p, key, len) != 0)
			continue;
		p += len;
		p += strspn(p, BLANKS);
		len = strcspn(p, "\r\n");
		text_printable(out, size, p, len);
		return *out;
	}
	return false;
}

/* Returns the text of an installed file, to be freed, or NULL. */
static char *table_load(const char *name)
{
	char path[512];
	size_t n;

	return board_find_file(name, path, sizeof path) ? read_file(path, TABLE_MAX, &n, NULL) : NULL;
}

/* Looks up "36.4.7", then "36.4", then "36". */
bool table_jetpack(const char *release, char *out, size_t size)
{
	char *text = table_load("jetpack.txt");
	size_t len = strspn(release, "0123456789.");
	bool found = false;

	while (text && len && !(found = table_look_up(text, release, len, out, size)))
		while (len && release[--len] != '.')
			;
	free(text);
	return found;
}

/* Returns the length of a number such as "p3701-0000", with or without "-super" or "-b00" after it; 0 if p
 * does not begin with one. */
static size_t number_length(const char *p, size_t len)
{
	if (len < 10 || p[5] != '-' || (len > 10 && p[10] != '-'))
		return 0;
	return strspn(p + 1, "0123456789") == 4 && strspn(p + 6, "0123456789") >= 4 ? 10 : 0;
}

/* Looks up whole entries first, because "...-as-..." is more specific than the number in it; then the number
 * of the module, which comes after that of the carrier and a '+'. */
bool table_module(const char *compatible, size_t size_in, char *out, size_t size)
{
	static const char vendor[] = "nvidia,";
	const size_t head = sizeof vendor - 1;
	char *text = table_load("modules.txt");
	bool found = false;

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; text && !found && i < size_in; i += strlen(compatible + i) + 1) {
			const char *p = compatible + i;
			if (strncmp(p, vendor, head) != 0)
				continue;
			p += head;
			size_t len = strlen(p);
			const char *plus = strrchr(p, '+');
			if (pass == 1) {
				len -= plus ? (size_t)(plus + 1 - p) : 0;
				p = plus ? plus + 1 : p;
				len = number_length(p, len);
			}
			found = len && table_look_up(text, p, len, out, size);
		}
	free(text);
	return found;
}

bool find_module(const struct root *r, char *out, size_t size)
{
	char blob[4096];

	ssize_t len = root_read(r, COMPATIBLE, blob, sizeof blob);
	return len > 0 && table_module(blob, (size_t)len, out, size);
}

/* The EEPROM of the module, which the kernel's driver reads: its bus differs by board. It is root's. */
bool find_part_number(const struct root *r, char *out, size_t size)
{
	static const char *const buses[] = {"0", "1", "2", "7"};
	char path[96], text[64];
	int why = ENOENT;

	for (size_t i = 0; i < sizeof buses / sizeof *buses; i++) {
		text_join(path, sizeof path, "/sys/bus/i2c/devices/", buses[i], "-0050/eeprom");
		ssize_t n = root_read(r, path, text, sizeof text);
		if (n >= 49 && !strncmp(text + 20, "699-", 4)) {
			text_printable(out, size, text + 20, strnlen(text + 20, 29));
			return *out;
		}
		why = n < 0 && why == ENOENT ? errno : why;
	}
	errno = why;
	return false;
}

/* "p3701-0005": from "699-13701-0005-500 M.0", else from compatible, in which several may be. */
bool find_p_number(const struct root *r, char *out, size_t size)
{
	char blob[4096], part[48];

	if (find_part_number(r, part, sizeof part) && strlen(part) > 14) {
		snprintf(out, size, "p%.4s-%.4s", part + 5, part + 10);
		return true;
	}
	ssize_t len = root_read(r, COMPATIBLE, blob, sizeof blob);
	for (ssize_t i = 0; i < len; i += (ssize_t)strlen(blob + i) + 1) {
		const char *plus = strrchr(blob + i, '+'), *p = plus ? plus + 1 : blob + i + strcspn(blob + i, ",");
		p += *p == ',';
		if (*p == 'p' && number_length(p, strlen(p))) {
			snprintf(out, size, "%.10s", p);
			return true;
		}
	}
	return false;
}

/* "../hardware/nvidia/platform/t19x/galen/kernel-dts/tegra194-....dts" */
bool find_codename(const struct root *r, char *out, size_t size)
{
	char text[512];
	const char *p = first_line(r, "/proc/device-tree/nvidia,dtsfilename", text, sizeof text) ? strstr(text, "/platform/t") : NULL;

	if (!p || !(p = strchr(p + 11, '/')))
		return false;
	text_printable(out, size, p + 1, strcspn(p + 1, "/"));
	return *out;
}

/* Kernels before 6.1 tell it only to their own machine. */
bool find_architecture(const struct root *r, char *out, size_t size)
{
	struct utsname u;

	if (root_is_live(r) && uname(&u) == 0)
		snprintf(out, size, "%.15s", u.machine);
	return *out || first_line(r, "/proc/sys/kernel/arch", out, size) || file_word(r, RELEASE, "EABI:", out, size);
}

/* Without the release file that of the package which every L4T has: "36.4.4-20250616085344". */
bool find_l4t(const struct root *r, char *out, size_t size)
{
	library_versions packages;

	if (l4t_release(r, out, size))
		return true;
	if (!chip(r))
		return false;
	packages_read(r, packages);
	text_join(out, size, packages[LIBRARY_L4T]);
	return *out;
}

bool find_release(const struct root *r, char *out, size_t size)
{
	char text[32] = "";

	if (!find_l4t(r, text, sizeof text))
		return file_word(r, "/etc/os-release", "PRETTY_NAME=", out, size) ||
		       file_word(r, "/usr/lib/os-release", "PRETTY_NAME=", out, size);
	snprintf(out, size, "L4T %s", text);
	return true;
}

bool find_jetpack(const struct root *r, char *out, size_t size)
{
	char text[32] = "";

	return find_l4t(r, text, sizeof text) && table_jetpack(text, out, size);
}

static int fact_add(struct probe_set *probes, const char *key, const char *value, struct err *e)
{
	if (fact_get(probes->facts, probes->n_facts, key) || !*value)
		return 0;
	return probe_set_add_fact(probes, key, value) < 0 ? err_set(e, ERR_FAILED, _("out of memory")) : 0;
}

/* A demo board has a simulated memory size, and no facts of this machine. */
static int demo_facts(struct probe_set *probes, struct err *e)
{
	char text[32];
	const struct channel *ram = probe_set_find(probes, "ram.used");

	if (fact_add(probes, "demo", "yes", e) < 0)
		return -1;
	if (!ram || !(ram->hi > 0 && ram->hi < 1e15))
		return 0;
	snprintf(text, sizeof text, "%.0f", ram->hi);
	return fact_add(probes, "ram_total_kb", text, e);
}

int board_facts(const struct board *b, const struct root *r, const char *why, struct probe_set *probes,
		struct err *e)
{
	char text[sizeof(((struct fact *)NULL)->value)];

	if (fact_add(probes, "board", b->name, e) < 0 || fact_add(probes, "title", b->title, e) < 0 ||
	    fact_add(probes, "why", why ? why : "", e) < 0)
		return -1;
	for (size_t i = 0; i < b->n_facts; i++)
		if (fact_add(probes, b->facts[i].key, b->facts[i].value, e) < 0)
			return -1;
	if (b->demo)
		return demo_facts(probes, e);
	for (const struct machine_field *f = machine_fields; f->key; f++)
		if (f->fact && machine_field_text(r, f, "", text, sizeof text) && fact_add(probes, f->fact, text, e) < 0)
			return -1;
	if (board_unlisted(probes, r, text, sizeof text) && fact_add(probes, "other_sensors", text, e) < 0)
		return -1;
	if (board_settings(b, probes) < 0)
		return err_set(e, ERR_FAILED, _("out of memory"));
	/* Not in the board file, because it is translated. */
	if (!strcmp(b->name, "generic"))
		return fact_add(probes, "notice",
			   _("not a known Jetson: showing CPU, memory and sensors of this Linux machine"), e);
	return 0;
}
