/* The machine information of the Board view: versions come from files of various formats, and any file
 * content yields only printable text of limited size. */
#include "test-probe-tree.h"

#include "probe/host.h"

static const char status[] =
	"Package: libnvinfer-dev\nStatus: install ok installed\nVersion: 1.1-1\n\n"
	"Package: libnvinfer10\nStatus: install ok installed\nVersion: 10.3.0.30-1+cuda12.5\n\n"
	"Package: libcudnn8\nStatus: deinstall ok config-files\nVersion: 8.9.4-1\n\n"
	"Package: libcudnn9-cuda-12\nStatus: install ok installed\nVersion: 9.3.0.75-1\n\n"
	"Package: libnvvpi3\nStatus: install ok not-installed\n\n"
	"Package: libopencv\nStatus: install ok installed\nArchitecture: arm64\nVersion: 4.8.0-1-g6371ee1";

static void packages(void **state)
{
	struct host h = {.installed = false};

	(void)state;
	host_packages(status, &h);
	assert_string_equal(h.version[HOST_TENSORRT], "10.3.0.30");
	assert_string_equal(h.version[HOST_CUDNN], "9.3.0.75"); /* the installed one */
	assert_string_equal(h.version[HOST_VPI], "");
	assert_string_equal(h.version[HOST_OPENCV], "4.8.0");
	assert_string_equal(h.version[HOST_CUDA], "");
	/* Truncated anywhere, it is still valid text. */
	for (size_t n = 0; n < sizeof status; n++) {
		char *part = strndup(status, n);

		assert_non_null(part);
		h = (struct host) {.installed = false};
		host_packages(part, &h);
		free(part);
	}
}

static void files(void **state)
{
	struct host h = {.installed = false};
	struct tree t;
	char path[256];

	(void)state;
	tree_begin(&t);
	host_read(t.root, &h);
	assert_true(isnan(h.uptime_s));
	assert_string_equal(h.serial, "");
	tree_file(&t, "/usr/local/cuda/version.json",
		  "{\n \"cuda\" : {\n \"name\" : \"CUDA SDK\",\n \"version\" : \"12.6.11\"\n }\n}\n");
	tree_bytes(&t, "/proc/device-tree/serial-number", "14\x1b[2J23", 8);
	tree_file(&t, "/proc/uptime", "93784.55 1000.00\n");
	tree_file(&t, "/var/lib/dpkg/status", status);
	h.installed = false;
	host_read(t.root, &h);
	assert_string_equal(h.version[HOST_CUDA], "12.6.11");
	assert_string_equal(h.version[HOST_TENSORRT], "10.3.0.30");
	assert_null(strchr(h.serial, '\x1b'));
	assert_true(h.uptime_s == 93784);
	/* A root other than "/" has no disks or addresses of its own. */
	assert_int_equal(h.n_disks + h.n_nets, 0);
	/* The name in JetPack 4, and a version that is not a number. */
	tree_path(&t, "/usr/local/cuda/version.json", path);
	unlink(path);
	tree_file(&t, "/usr/local/cuda/version.txt", "CUDA Version 10.2.300\n");
	h = (struct host) {.installed = false};
	host_read(t.root, &h);
	assert_string_equal(h.version[HOST_CUDA], "10.2.300");
	tree_file(&t, "/usr/local/cuda/version.txt", "CUDA Version %n%n\n");
	h = (struct host) {.installed = false};
	host_read(t.root, &h);
	assert_string_equal(h.version[HOST_CUDA], "");
	tree_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packages),
		cmocka_unit_test(files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
