/* Finds the versions of libraries, from files: none is loaded, and nothing is started. A package is named for its library,
 * then the digits of its version, then perhaps "-cuda-12"; without a list of packages the file is named for its version. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board/machine.h"
#include "probe/attr.h"

#define STATUS      "/var/lib/dpkg/status"
#define STATUS_SIZE ((size_t)16 * 1024 * 1024)

static const char *const folders[] = {"/usr/lib/aarch64-linux-gnu",
				      "/usr/lib/x86_64-linux-gnu",
				      "/usr/lib",
				      "/usr/local/lib",
				      "/usr/local/cuda/lib64",
				      "/opt/nvidia/vpi3/lib/aarch64-linux-gnu",
				      "/opt/nvidia/vpi2/lib/aarch64-linux-gnu"};

/* Copies the digits and dots of a version. */
static void take_version(char *out, const char *p)
{
	size_t len = strspn(p, "0123456789.");

	while (len && p[len - 1] == '.')
		len--;
	text_printable(out, 32, p, len);
}

char *packages_text(const struct root *r)
{
	char *status = malloc(STATUS_SIZE);

	if (status && root_read_trusted(r, STATUS, status, STATUS_SIZE) > 0)
		return status;
	free(status);
	return NULL;
}

bool package_next(const char **status, char name[64], char version[32])
{
	while (*status && **status) {
		const char *at = *status, *end = strstr(at, "\n\n"), *v = strstr(at, "\nVersion: "), *state = strstr(at, "\nStatus: ");
		size_t len;

		end = end ? end + 1 : at + strlen(at);
		*status = *end ? end + 1 : end;
		if (strncmp(at, "Package: ", 9) != 0 || !v || v >= end || !state || state >= end)
			continue;
		len = strcspn(++state, "\n");
		if (strncmp(state + len - strlen(" installed"), " installed", strlen(" installed")) != 0)
			continue;
		text_printable(name, 64, at + 9, strcspn(at + 9, "\n"));
		take_version(version, v + strlen("\nVersion: "));
		return true;
	}
	return false;
}

/* True for "libnvinfer10" and "libcudnn9-cuda-12", false for "libnvinfer-dev". */
static bool is_package(const char *name, const char *library)
{
	size_t n = strlen(library);

	if (strncmp(name, library, n) != 0)
		return false;
	name += n + strspn(name + n, "0123456789-");
	if (!strncmp(name, "cuda-", 5))
		name += 5 + strspn(name + 5, "0123456789-");
	return !*name;
}

/* {"cuda": {"name": ..., "version": "12.6.68"}, ...}; JetPack 4: "CUDA Version 10.2.300". */
static void read_cuda(const struct root *r, char *out)
{
	char text[16384];
	const char *p;

	if (root_read_trusted(r, "/usr/local/cuda/version.json", text, sizeof text) > 0 &&
	    (p = strstr(text, "\"cuda\"")) && (p = strstr(p, "\"version\"")) && (p = strchr(p, ':')))
		take_version(out, p + 1 + strspn(p + 1, " \t\""));
	else if (root_read_trusted(r, "/usr/local/cuda/version.txt", text, sizeof text) > 0 &&
		 !strncmp(text, "CUDA Version ", 13))
		take_version(out, text + 13);
}

/* Of the packages the first counts; of "libcudnn.so", "libcudnn.so.9" and "libcudnn.so.9.3.0" the last, which tells most. */
void libraries_read(const struct root *r, const struct machine_field f[LIBRARIES], char versions[LIBRARIES][64], int *opencv_cuda)
{
	char *text = packages_text(r), name[64], version[32], **names;
	bool cuda = false, packaged[LIBRARIES] = {false};
	const char *status = text;
	size_t n;

	*opencv_cuda = -1;
	memset(versions, 0, LIBRARIES * sizeof *versions);
	read_cuda(r, versions[0]);
	packaged[0] = *versions[0];
	while (package_next(&status, name, version))
		for (size_t i = 0; i < LIBRARIES; i++)
			if (!packaged[i] && *version && is_package(name, f[i].package)) {
				text_join(versions[i], sizeof versions[i], version);
				packaged[i] = true;
			}
	free(text);
	for (size_t k = 0; k < sizeof folders / sizeof *folders; k++) {
		if (root_list(r, folders[k], &names, &n) < 0)
			continue;
		for (size_t l = 0; l < n; l++) {
			if (!strncmp(names[l], "libopencv_core.so.", 18))
				*opencv_cuda = 0;
			cuda |= !strncmp(names[l], "libopencv_cuda", 14);
			for (size_t i = 0; i < LIBRARIES; i++) {
				size_t len = strlen(f[i].library);
				if (packaged[i] || !len || strncmp(names[l], f[i].library, len) != 0)
					continue;
				take_version(version, names[l] + len);
				if (strlen(version) > strlen(versions[i]))
					text_join(versions[i], sizeof versions[i], version);
			}
		}
		free(names);
	}
	*opencv_cuda = *opencv_cuda < 0 ? -1 : cuda;
}
