/* Finds the versions of libraries, from files: none is loaded, and nothing is started. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board/machine.h"
#include "board/parsed.h"
#include "util/intl.h"

#define STATUS      "/var/lib/dpkg/status"
#define STATUS_SIZE ((size_t)16 * 1024 * 1024)

/* A package is named for its library, then the digits of its version, then perhaps "-cuda-12"; without a list of
 * packages the file is named for its version. */
static const struct {
	const char *key, *package, *file;
	bool plain; /* the package may have no digits */
} libraries[LIBRARIES] = {
	[LIBRARY_CUDA] = {"cuda", "cuda-cudart-", "libcudart.so.", false},
	[LIBRARY_TENSORRT] = {"tensorrt", "libnvinfer", "libnvinfer.so.", false},
	[LIBRARY_CUDNN] = {"cudnn", "libcudnn", "libcudnn.so.", false},
	[LIBRARY_VPI] = {"vpi", "libnvvpi", "libnvvpi.so.", false},
	[LIBRARY_OPENCV] = {"opencv", "libopencv", "libopencv_core.so.", true},
	[LIBRARY_VULKAN] = {"vulkan", "libvulkan", "libvulkan.so.", false},
	[LIBRARY_PYTHON] = {"python", "python3", NULL, true},
	[LIBRARY_L4T] = {NULL, "nvidia-l4t-core", NULL, true},
};

static const char *const folders[] = {"/usr/lib/aarch64-linux-gnu",
				      "/usr/lib/x86_64-linux-gnu",
				      "/usr/lib",
				      "/usr/local/lib",
				      "/usr/local/cuda/lib64",
				      "/opt/nvidia/vpi3/lib/aarch64-linux-gnu",
				      "/opt/nvidia/vpi2/lib/aarch64-linux-gnu"};

/* Copies the digits and dots of a version. */
static void take_version(char out[32], const char *p)
{
	size_t len = strspn(p, "0123456789.");

	while (len && p[len - 1] == '.')
		len--;
	text_printable(out, 32, p, len);
}

/* True for "libnvinfer10" and "libcudnn9-cuda-12", false for "libnvinfer-dev". */
static bool is_package(const char *p, size_t len, int l)
{
	size_t n = strlen(libraries[l].package), digits;

	if (len < n || strncmp(p, libraries[l].package, n) != 0)
		return false;
	digits = strspn(p + n, "0123456789");
	if (libraries[l].plain)
		return len == n || (digits && n + digits == len);
	if (l == LIBRARY_CUDA)
		return digits && !memchr(p + n, 'd', len - n); /* not -dev */
	return digits && (n + digits == len || !strncmp(p + n + digits, "-cuda-", 6));
}

void packages_parse(const char *status, library_versions out)
{
	for (const char *p = status; p && *p;) {
		const char *end = strstr(p, "\n\n"), *name, *version, *state;
		size_t len;

		end = end ? end + 1 : p + strlen(p);
		name = !strncmp(p, "Package: ", 9) ? p + 9 : NULL;
		len = name ? strcspn(name, "\n") : 0;
		version = strstr(p, "\nVersion: ");
		state = strstr(p, "\nStatus: ");
		for (int i = 0; name && i < LIBRARIES && version && version < end; i++)
			if (!out[i][0] && is_package(name, len, i) && state && state < end &&
			    strcspn(state + 1, "\n") >= 9 &&
			    !strncmp(state + 1 + strcspn(state + 1, "\n") - 9, "installed", 9) &&
			    strncmp(state + 1 + strcspn(state + 1, "\n") - 13, "not-", 4) != 0)
				take_version(out[i], version + strlen("\nVersion: "));
		p = *end ? end + 1 : end;
	}
}

/* {"cuda": {"name": ..., "version": "12.6.68"}, ...}; JetPack 4: "CUDA Version 10.2.300". */
static void read_cuda(const struct root *r, char out[32])
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

/* Of "libcudnn.so", "libcudnn.so.9" and "libcudnn.so.9.3.0" the last tells most. Returns whether OpenCV has modules for
 * CUDA. */
static bool read_files(const struct root *r, library_versions found)
{
	bool cuda = false;

	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		char **names;
		size_t n;
		if (root_list(r, folders[i], &names, &n) < 0)
			continue;
		for (size_t k = 0; k < n; k++) {
			cuda |= !strncmp(names[k], "libopencv_cuda", 14);
			for (int l = 0; l < LIBRARIES; l++) {
				size_t len = libraries[l].file ? strlen(libraries[l].file) : 0;
				char version[32];
				if (!len || strncmp(names[k], libraries[l].file, len) != 0)
					continue;
				take_version(version, names[k] + len);
				if (strlen(version) > strlen(found[l]))
					memcpy(found[l], version, sizeof version);
			}
		}
		free(names);
	}
	return cuda;
}

void packages_read(const struct root *r, library_versions out)
{
	char *status = malloc(STATUS_SIZE);

	memset(out, 0, sizeof(library_versions));
	if (status && root_read_trusted(r, STATUS, status, STATUS_SIZE) > 0)
		packages_parse(status, out);
	free(status);
}

void machine_read_libraries(struct machine *m, const struct root *r)
{
	library_versions packages, files = {""};
	char cuda[32] = "";

	read_cuda(r, cuda);
	packages_read(r, packages);
	bool opencv_cuda = read_files(r, files);
	for (int i = 0; libraries[i].key; i++) {
		const char *version = i == LIBRARY_CUDA && *cuda ? cuda : packages[i][0] ? packages[i] : files[i];
		machine_put_text(m, "libraries.", libraries[i].key, version, 0);
		if (!*version)
			machine_missing(m, "libraries.", libraries[i].key, "",
					_("not installed: no package and no file of it was found"));
	}
	if (files[LIBRARY_OPENCV][0])
		machine_put_truth(m, "libraries.", "opencv_cuda", opencv_cuda);
}
