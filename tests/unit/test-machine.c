/* The description of the machine: it comes from files of various formats, and whatever they contain, the texts are
 * printable and of limited size. */
#include "test-probe-tree.h"

#include "board/machine.h"

static const char status[] =
	"Package: libnvinfer-dev\nStatus: install ok installed\nVersion: 1.1-1\n\n"
	"Package: libnvinfer10\nStatus: install ok installed\nVersion: 10.3.0.30-1+cuda12.5\n\n"
	"Package: libcudnn8\nStatus: deinstall ok config-files\nVersion: 8.9.4-1\n\n"
	"Package: libcudnn9-cuda-12\nStatus: install ok installed\nVersion: 9.3.0.75-1\n\n"
	"Package: libnvvpi3\nStatus: install ok not-installed\n\n"
	"Package: libopencv\nStatus: install ok installed\nArchitecture: arm64\nVersion: 4.8.0-1-g6371ee1";

static void packages(void **state)
{
	library_versions found = {""};

	(void)state;
	packages_parse(status, found);
	assert_string_equal(found[LIBRARY_TENSORRT], "10.3.0.30");
	assert_string_equal(found[LIBRARY_CUDNN], "9.3.0.75"); /* the installed one */
	assert_string_equal(found[LIBRARY_VPI], "");
	assert_string_equal(found[LIBRARY_OPENCV], "4.8.0");
	assert_string_equal(found[LIBRARY_CUDA], "");
	/* Truncated anywhere, it is still valid text. */
	for (size_t n = 0; n < sizeof status; n++) {
		char *part = strndup(status, n);

		assert_non_null(part);
		memset(found, 0, sizeof found);
		packages_parse(part, found);
		free(part);
	}
}

static struct machine *read_tree(const struct tree *t)
{
	struct machine *m = machine_new();

	assert_non_null(m);
	machine_read(m, t->root, NULL, 0);
	return m;
}

static const char *why(const struct machine *m, const char *key)
{
	for (size_t i = 0; i < m->n_missing; i++)
		if (!strcmp(m->missing[i].key, key))
			return m->missing[i].text;
	return "";
}

/* 1, 0; -1: not known */
static int truth(const struct machine *m, const char *key)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->known[i].is == MACHINE_TRUTH && !strcmp(m->known[i].key, key))
			return m->known[i].v > 0;
	return -1;
}

static void files(void **state)
{
	struct machine *m;
	struct tree t;
	char path[256];

	(void)state;
	tree_begin(&t);
	m = read_tree(&t);
	assert_true(isnan(machine_number(m, "uptime_s")));
	assert_string_equal(machine_text(m, "serial"), "");
	assert_non_null(strstr(why(m, "serial"), "/proc/device-tree/serial-number"));
	machine_free(m);
	tree_file(&t, "/usr/local/cuda/version.json",
		  "{\n \"cuda\" : {\n \"name\" : \"CUDA SDK\",\n \"version\" : \"12.6.11\"\n }\n}\n");
	tree_bytes(&t, "/proc/device-tree/serial-number", "14\x1b[2J23", 8);
	tree_file(&t, "/proc/uptime", "93784.55 1000.00\n");
	tree_file(&t, "/var/lib/dpkg/status", status);
	m = read_tree(&t);
	assert_string_equal(machine_text(m, "libraries.cuda"), "12.6.11");
	assert_string_equal(machine_text(m, "libraries.tensorrt"), "10.3.0.30");
	assert_null(strchr(machine_text(m, "serial"), '\x1b'));
	assert_true(machine_number(m, "uptime_s") == 93784);
	/* A root other than "/" has no disks or addresses of its own. */
	assert_string_equal(machine_text(m, "disks[0].mount"), "");
	assert_string_equal(machine_text(m, "interfaces[0].name"), "");
	assert_string_not_equal(why(m, "disks"), "");
	/* The same again: what changes by itself is read anew. */
	tree_file(&t, "/proc/uptime", "93786.00 1000.00\n");
	machine_read(m, t.root, NULL, 0);
	assert_true(machine_number(m, "uptime_s") == 93786);
	machine_free(m);
	/* The name in JetPack 4, and a version that is not a number. */
	tree_path(&t, "/usr/local/cuda/version.json", path);
	unlink(path);
	tree_file(&t, "/usr/local/cuda/version.txt", "CUDA Version 10.2.300\n");
	m = read_tree(&t);
	assert_string_equal(machine_text(m, "libraries.cuda"), "10.2.300");
	machine_free(m);
	tree_file(&t, "/usr/local/cuda/version.txt", "CUDA Version %n%n\n");
	m = read_tree(&t);
	assert_string_equal(machine_text(m, "libraries.cuda"), "");
	machine_free(m);
	tree_end(&t);
}

/* Without a list of packages the files have their versions in their names. */
static void file_names(void **state)
{
	struct machine *m;
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_file(&t, "/usr/lib/libopencv_core.so.4.5.4", "");
	tree_file(&t, "/usr/lib/libopencv_core.so.4.5d", "");
	tree_file(&t, "/usr/lib/libnvinfer.so.8", "");
	tree_file(&t, "/usr/lib/libnvinfer_plugin.so.9", "");
	tree_file(&t, "/usr/local/lib/libvulkan.so.\x1b", "");
	m = read_tree(&t);
	assert_string_equal(machine_text(m, "libraries.opencv"), "4.5.4");
	assert_int_equal(truth(m, "libraries.opencv_cuda"), false);
	assert_string_equal(machine_text(m, "libraries.tensorrt"), "8");
	assert_string_equal(machine_text(m, "libraries.vulkan"), "");
	machine_free(m);
	tree_file(&t, "/usr/local/lib/libopencv_cudaimgproc.so.405", "");
	m = read_tree(&t);
	assert_int_equal(truth(m, "libraries.opencv_cuda"), true);
	machine_free(m);
	tree_end(&t);
}

static void cores(void **state)
{
	struct machine *m;
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_file(&t, "/sys/devices/system/cpu/online", "0\n");
	tree_file(&t, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "schedutil\n");
	tree_file(&t, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_min_freq", "nonsense\n");
	tree_file(&t, "/sys/devices/system/cpu/cpu1/cpuidle/state0/name", "C1\n");
	tree_file(&t, "/sys/devices/system/cpu/cpu1/cpuidle/state0/disable", "1\n");
	tree_file(&t, "/sys/devices/system/cpu/cpufreq/policy0/x", "1\n");
	tree_file(&t, "/proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x4e\nCPU part\t: 0x003\n\n"
				       "processor\t: 1\nCPU implementer\t: 0x99\nCPU part\t: 0x001\n");
	m = read_tree(&t);
	assert_string_equal(machine_text(m, "cpu.cores[0].model"), "NVIDIA Denver 2");
	assert_string_equal(machine_text(m, "cpu.cores[0].governor"), "schedutil");
	assert_true(isnan(machine_number(m, "cpu.cores[0].min_hz")));
	assert_int_equal(truth(m, "cpu.cores[0].online"), true);
	assert_string_equal(machine_text(m, "cpu.cores[1].model"), "0x99/0x001");
	assert_int_equal(truth(m, "cpu.cores[1].online"), false);
	assert_int_equal(truth(m, "cpu.cores[1].idle_states[0].disabled"), true);
	assert_int_equal(truth(m, "cpu.cores[1].idle_states[1].disabled"), -1);
	assert_true(isnan(machine_number(m, "cpu.cores[2].id")));
	machine_free(m);
	tree_end(&t);
}

/* Files of random bytes: nothing but printable texts comes of them. */
static void noise(void **state)
{
	static const char *const paths[] = {
		"/proc/device-tree/model", "/proc/device-tree/compatible", "/proc/device-tree/nvidia,dtsfilename",
		"/proc/device-tree/nvidia,boardids", "/sys/bus/i2c/devices/0-0050/eeprom", "/etc/nv_tegra_release",
		"/etc/os-release", "/proc/swaps", "/proc/cpuinfo", "/etc/nvpmodel.conf", "/etc/nvfancontrol.conf",
		"/var/lib/nvfancontrol/status", "/var/lib/nvpmodel/status", "/var/lib/dpkg/status", "/proc/meminfo",
		"/sys/kernel/debug/nvmap/iram/size", "/sys/kernel/debug/nvmap/iram/clients"};
	static const char *const words[] = {"FAN_PROFILE ", "< POWER_MODEL ID=", " NAME=", "processor\t: ", "\n\n", "nvidia,p",
					    "-", "+", "\0", "699-", "Package: libcudnn", "/platform/t", "total", "DEFAULT=", "\x1b[2J"};
	char text[4096];
	struct tree t;

	(void)state;
	srand(26);
	tree_begin(&t);
	tree_file(&t, "/sys/devices/system/cpu/cpu0/online", "1\n");
	for (int round = 0; round < 200; round++) {
		for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
			size_t n = 0, wanted = (size_t)rand() % 3000;
			while (n < wanted) {
				const char *w = words[(size_t)rand() % (sizeof words / sizeof *words)];
				if (rand() % 3)
					n += (size_t)snprintf(text + n, 64, "%s", w);
				text[n++] = (char)rand();
			}
			tree_bytes(&t, paths[i], text, n);
		}
		struct machine *m = read_tree(&t);
		for (size_t i = 0; i < m->n; i++)
			for (const char *p = m->known[i].text; p && *p; p++)
				assert_true((unsigned char)*p >= ' ' && *p != 0x7f);
		machine_free(m);
	}
	tree_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packages), cmocka_unit_test(files), cmocka_unit_test(file_names),
		cmocka_unit_test(cores),    cmocka_unit_test(noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
