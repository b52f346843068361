/* Finds what the machine is called, in more than one file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "util/io.h"
#include "board/machine.h"
#include "board/board.h"

#define TABLE_MAX (64 * 1024)
#define BLANKS    " \t\r"

/* Gets the most specific NVIDIA chip in compatible. Returns its name and the version of CUDA's machine code. */
static const char *const *chip_in(const char *compatible, size_t len)
{
	static const char *const chips[][2] = {{"nvidia,tegra210", "5.3"}, {"nvidia,tegra186", "6.2"}, {"nvidia,tegra194", "7.2"}, {"nvidia,tegra234", "8.7"}, {"nvidia,tegra264", "11.0"}};

	for (size_t i = 0; i < len; i += strlen(compatible + i) + 1)
		for (size_t k = 0; k < sizeof chips / sizeof *chips; k++)
			if (!strcmp(compatible + i, chips[k][0]))
				return chips[k];
	return NULL;
}

bool find_soc(const struct root *r, const char *compatible, size_t len, char *out, size_t size)
{
	const char *const *c = chip_in(compatible, len);

	(void)r;
	text_join(out, size, c ? c[0] + strlen("nvidia,") : "");
	return c;
}

bool find_cuda_arch(const struct root *r, const char *compatible, size_t len, char *out, size_t size)
{
	const char *const *c = chip_in(compatible, len);

	(void)r;
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
bool find_module(const struct root *r, const char *compatible, size_t size_in, char *out, size_t size)
{
	static const char vendor[] = "nvidia,";
	const size_t head = sizeof vendor - 1;
	char *text = table_load("modules.txt");
	bool found = false;

	(void)r;
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

bool find_part_number(const struct root *r, const char *eeprom, size_t len, char *out, size_t size)
{
	(void)r;
	if (len < 49 || strncmp(eeprom + 20, "699-", 4) != 0)
		return false;
	text_printable(out, size, eeprom + 20, strnlen(eeprom + 20, 29));
	return *out;
}

/* "p3701-0005": from "699-13701-0005-500 M.0", else from compatible, in which several may be. */
bool find_p_number(const struct root *r, const char *compatible, size_t len, char *out, size_t size)
{
	static const struct machine_field part_number = {.file = FILE_EEPROMS, .find = find_part_number};
	char part[48];

	if (machine_field_text(r, &part_number, "", part, sizeof part) && strlen(part) > 14) {
		snprintf(out, size, "p%.4s-%.4s", part + 5, part + 10);
		return true;
	}
	for (size_t i = 0; i < len; i += strlen(compatible + i) + 1) {
		const char *plus = strrchr(compatible + i, '+'), *p = plus ? plus + 1 : compatible + i + strcspn(compatible + i, ",");
		p += *p == ',';
		if (*p == 'p' && number_length(p, strlen(p))) {
			snprintf(out, size, "%.10s", p);
			return true;
		}
	}
	return false;
}

/* "../hardware/nvidia/platform/t19x/galen/kernel-dts/tegra194-....dts" */
bool find_codename(const struct root *r, const char *text, size_t len, char *out, size_t size)
{
	const char *p = strstr(text, "/platform/t");

	(void)r, (void)len;
	if (!p || !(p = strchr(p + 11, '/')))
		return false;
	text_printable(out, size, p + 1, strcspn(p + 1, "/"));
	return *out;
}

/* Kernels before 6.1 tell it only to their own machine. */
bool find_architecture(const struct root *r, const char *text, size_t len, char *out, size_t size)
{
	struct utsname u;

	(void)len;
	if (root_is_live(r) && uname(&u) == 0)
		snprintf(out, size, "%.15s", u.machine);
	else
		text_printable(out, size, text, strcspn(text, "\n"));
	return *out || file_word(r, FILE_RELEASE, "EABI:", out, size);
}

/* "# R36 (release), REVISION: 4.3, GCID: ..." is L4T 36.4.3; else that of the package which every L4T has:
 * "36.4.4-20250616085344". */
bool find_l4t(const struct root *r, const char *text, size_t len, char *out, size_t size)
{
	char compatible[4096], revision[24], name[64], version[32], *packages;
	const char *at;
	ssize_t n;
	int major;

	(void)len;
	if (sscanf(text, "# R%4d (release), REVISION: %20[0-9.]", &major, revision) == 2) {
		snprintf(out, size, "%d.%s", major, revision);
		return true;
	}
	n = root_read(r, FILE_COMPATIBLE, compatible, sizeof compatible);
	if (n <= 0 || !chip_in(compatible, (size_t)n))
		return false;
	at = packages = packages_text(r);
	while (!*out && package_next(&at, name, version))
		text_join(out, size, strcmp(name, "nvidia-l4t-core") ? "" : version);
	free(packages);
	return *out;
}

bool find_release(const struct root *r, const char *os_release, size_t len, char *out, size_t size)
{
	char line[256] = "", l4t[32] = "";

	(void)os_release;
	file_line(r, FILE_RELEASE, line, sizeof line);
	if (!find_l4t(r, line, len, l4t, sizeof l4t))
		return machine_field_text(r, machine_field_find("distribution"), "", out, size);
	snprintf(out, size, "L4T %s", l4t);
	return true;
}

bool find_jetpack(const struct root *r, const char *text, size_t len, char *out, size_t size)
{
	char l4t[32] = "";

	return find_l4t(r, text, len, l4t, sizeof l4t) && table_jetpack(l4t, out, size);
}
