/* Reads what the Board view shows of a machine besides its sensors. Versions come from files, never from
 * loading a library. */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <math.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "probe/host.h"
#include "util/err.h"
#include "util/num.h"

#define STATUS_SIZE ((size_t)16 * 1024 * 1024)

/* A package is named for its library, then the digits of its version, then perhaps "-cuda-12". */
static const struct {
	const char *name, *package;
} libraries[] = {
	[HOST_CUDA] = {"CUDA", "cuda-cudart-"}, [HOST_TENSORRT] = {"TensorRT", "libnvinfer"},
	[HOST_CUDNN] = {"cuDNN", "libcudnn"},   [HOST_VPI] = {"VPI", "libnvvpi"},
	[HOST_OPENCV] = {"OpenCV", "libopencv"},
};

const char *host_library_name(enum host_library l)
{
	return libraries[l].name;
}

/* Copies the digits and dots of a version. */
static void take_version(char out[32], const char *p)
{
	size_t len = strspn(p, "0123456789.");

	while (len && p[len - 1] == '.')
		len--;
	text_printable(out, 32, p, len);
}

/* True for "libnvinfer10" and "libcudnn9-cuda-12", false for "libnvinfer-dev". OpenCV's own package has no
 * digits. */
static bool is_package(const char *p, size_t len, enum host_library l)
{
	size_t n = strlen(libraries[l].package), digits;

	if (len < n || strncmp(p, libraries[l].package, n) != 0)
		return false;
	digits = strspn(p + n, "0123456789");
	if (l == HOST_OPENCV)
		return len == n || (digits && n + digits == len);
	if (l == HOST_CUDA)
		return digits && !memchr(p + n, 'd', len - n); /* not -dev */
	return digits && (n + digits == len || !strncmp(p + n + digits, "-cuda-", 6));
}

void host_packages(const char *status, struct host *h)
{
	for (const char *p = status; p && *p;) {
		const char *end = strstr(p, "\n\n"), *name, *version, *state;
		size_t len;

		end = end ? end + 1 : p + strlen(p);
		name = !strncmp(p, "Package: ", 9) ? p + 9 : NULL;
		len = name ? strcspn(name, "\n") : 0;
		version = strstr(p, "\nVersion: ");
		state = strstr(p, "\nStatus: ");
		for (int i = 0; name && i < HOST_LIBRARIES && version && version < end; i++)
			if (!h->version[i][0] && is_package(name, len, (enum host_library)i) && state && state < end &&
			    strcspn(state + 1, "\n") >= 9 &&
			    !strncmp(state + 1 + strcspn(state + 1, "\n") - 9, "installed", 9) &&
			    strncmp(state + 1 + strcspn(state + 1, "\n") - 13, "not-", 4) != 0)
				take_version(h->version[i], version + strlen("\nVersion: "));
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

static void read_installed(const struct root *r, struct host *h)
{
	char text[128];
	ssize_t n = root_read(r, "/proc/device-tree/serial-number", text, sizeof text);

	if (n > 0)
		text_printable(h->serial, sizeof h->serial, text, strlen(text));
	read_cuda(r, h->version[HOST_CUDA]);
	char *status = malloc(STATUS_SIZE);
	if (status && root_read_trusted(r, "/var/lib/dpkg/status", status, STATUS_SIZE) > 0)
		host_packages(status, h);
	free(status);
	h->installed = true;
}

static bool known(const struct host *h, const struct statvfs *v)
{
	for (size_t i = 0; i < h->n_disks; i++)
		if (h->disks[i].bytes == (double)v->f_blocks * (double)v->f_frsize)
			return true;
	return false;
}

/* Only disks of this machine: the server of another one may not answer. */
static void read_disks(const struct root *r, struct host *h)
{
	char text[32768];
	char *save, *line;

	if (root_read(r, "/proc/self/mounts", text, sizeof text) <= 0)
		return;
	for (line = strtok_r(text, "\n", &save); line && h->n_disks < HOST_DISKS; line = strtok_r(NULL, "\n", &save)) {
		char *mount = strchr(line, ' '), *end = mount ? strchr(mount + 1, ' ') : NULL;
		struct statvfs v;

		if (!end || strncmp(line, "/dev/", 5) != 0 || !strncmp(line, "/dev/loop", 9))
			continue;
		*end = '\0';
		mount++;
		if (statvfs(mount, &v) < 0 || !v.f_blocks || known(h, &v))
			continue;
		text_printable(h->disks[h->n_disks].mount, sizeof h->disks->mount, mount, strlen(mount));
		h->disks[h->n_disks].bytes = (double)v.f_blocks * (double)v.f_frsize;
		h->disks[h->n_disks++].free = (double)v.f_bavail * (double)v.f_frsize;
	}
}

static void read_nets(struct host *h)
{
	struct ifaddrs *all;

	if (getifaddrs(&all) < 0)
		return;
	for (const struct ifaddrs *a = all; a && h->n_nets < HOST_NETS; a = a->ifa_next) {
		char address[48];

		if (!a->ifa_addr || a->ifa_addr->sa_family != AF_INET || (a->ifa_flags & IFF_LOOPBACK) ||
		    !inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)a->ifa_addr)->sin_addr, address,
			       sizeof address))
			continue;
		text_printable(h->nets[h->n_nets].name, sizeof h->nets->name, a->ifa_name, strlen(a->ifa_name));
		text_printable(h->nets[h->n_nets++].address, sizeof h->nets->address, address, strlen(address));
	}
	freeifaddrs(all);
}

double host_uptime(const struct root *r)
{
	char text[64];
	int64_t s;
	ssize_t n = root_read(r, "/proc/uptime", text, sizeof text);

	return n > 0 && num_i64(text, text + n, &s) && s >= 0 ? (double)s : NAN;
}

void host_read(const struct root *r, struct host *h)
{
	if (!h->installed)
		read_installed(r, h);
	h->uptime_s = host_uptime(r);
	h->n_disks = h->n_nets = 0;
	if (!root_is_live(r))
		return;
	read_disks(r, h);
	read_nets(h);
}
