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

/* Only what is installed, with the digits of its version. */
static void packages(void **state)
{
	static const char *const installed[][2] = {
		{"libnvinfer-dev", "1.1"}, {"libnvinfer10", "10.3.0.30"}, {"libcudnn9-cuda-12", "9.3.0.75"}, {"libopencv", "4.8.0"}};
	const char *at = status;
	char name[64], version[32];

	(void)state;
	for (size_t i = 0; i < sizeof installed / sizeof *installed; i++) {
		assert_true(package_next(&at, name, version));
		assert_string_equal(name, installed[i][0]);
		assert_string_equal(version, installed[i][1]);
	}
	assert_false(package_next(&at, name, version));
	/* Truncated anywhere, it is still valid text. */
	for (size_t n = 0; n < sizeof status; n++) {
		char *part = strndup(status, n);

		assert_non_null(part);
		for (at = part; package_next(&at, name, version);)
			continue;
		free(part);
	}
}

/* All that is known, as a text to be freed. */
static char *read_tree(const struct tree *t)
{
	char *text = NULL;
	size_t size;
	struct record to = {.f = open_memstream(&text, &size)};

	assert_non_null(to.f);
	machine_json(&to, NULL, &(struct machine_source) {.root = t->root}, false);
	assert_int_equal(fclose(to.f), 0);
	return text;
}

static void says(const struct tree *t, const char *wanted)
{
	char *text = read_tree(t);

	if (!strstr(text, wanted))
		fail_msg("%s is not in %s", wanted, text);
	free(text);
}

static void says_not(const struct tree *t, const char *unwanted)
{
	char *text = read_tree(t);

	if (strstr(text, unwanted))
		fail_msg("%s is in %s", unwanted, text);
	free(text);
}

static void files(void **state)
{
	static struct machine m;
	struct tree t;
	char path[256];

	(void)state;
	tree_begin(&t);
	says(&t, "\"uptime_s\":\"/proc/uptime: "); /* why */
	says(&t, "\"serial\":\"/proc/device-tree/serial-number: ");
	says(&t, "\"power_mode\":{},\"fan\":{},");
	tree_file(&t, "/usr/local/cuda/version.json",
		  "{\n \"cuda\" : {\n \"name\" : \"CUDA SDK\",\n \"version\" : \"12.6.11\"\n }\n}\n");
	tree_bytes(&t, "/proc/device-tree/serial-number", "14\x1b[2J23", 8);
	tree_file(&t, "/proc/uptime", "93784.55 1000.00\n");
	tree_file(&t, "/var/lib/dpkg/status", status);
	says(&t, "\"libraries\":{\"cuda\":\"12.6.11\",\"tensorrt\":\"10.3.0.30\",\"cudnn\":\"9.3.0.75\",\"opencv\":\"4.8.0\"}");
	says(&t, "\"serial\":\"14?[2J23\"");
	says(&t, "\"uptime_s\":93784");
	/* A root other than "/" has no disks or addresses of its own. */
	says(&t, "\"disks\":\"only");
	says(&t, "\"interfaces\":\"only");
	/* What the screen shows of it; again only what changes by itself. */
	machine_read(&m, t.root);
	assert_string_equal(m.text[machine_field_find("serial") - machine_fields], "14?[2J23");
	assert_string_equal(m.text[machine_field_find("libraries.cudnn") - machine_fields], "9.3.0.75");
	assert_string_equal(m.text[machine_field_find("part_number") - machine_fields], "");
	assert_int_equal(m.uptime_s, 93784);
	assert_int_equal(m.n_disks + m.n_addresses, 0);
	tree_file(&t, "/proc/uptime", "93786.00 1000.00\n");
	machine_read(&m, t.root);
	assert_int_equal(m.uptime_s, 93786);
	/* The name in JetPack 4, and a version that is not a number. */
	tree_path(&t, "/usr/local/cuda/version.json", path);
	unlink(path);
	tree_file(&t, "/usr/local/cuda/version.txt", "CUDA Version 10.2.300\n");
	says(&t, "\"cuda\":\"10.2.300\"");
	tree_file(&t, "/usr/local/cuda/version.txt", "CUDA Version %n%n\n");
	says_not(&t, "\"cuda\":");
	says(&t, "\"libraries.cuda\":\"not installed");
	tree_end(&t);
}

/* Without a list of packages the files have their versions in their names. */
static void file_names(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_file(&t, "/usr/lib/libopencv_core.so.4.5.4", "");
	tree_file(&t, "/usr/lib/libopencv_core.so.4.5d", "");
	tree_file(&t, "/usr/lib/libnvinfer.so.8", "");
	tree_file(&t, "/usr/lib/libnvinfer_plugin.so.9", "");
	tree_file(&t, "/usr/local/lib/libvulkan.so.\x1b", "");
	says(&t, "\"libraries\":{\"tensorrt\":\"8\",\"opencv\":\"4.5.4\",\"opencv_cuda\":false}");
	tree_file(&t, "/usr/local/lib/libopencv_cudaimgproc.so.405", "");
	says(&t, "\"opencv_cuda\":true");
	tree_end(&t);
}

static void cores(void **state)
{
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
	says(&t, "\"cores\":[{\"id\":0,\"online\":true,\"model\":\"NVIDIA Denver 2\",\"governor\":\"schedutil\"},"
		 "{\"id\":1,\"online\":false,\"model\":\"0x99/0x001\",\"idle_states\":[{\"name\":\"C1\",\"disabled\":true}]}]");
	tree_end(&t);
}

/* The GPU of a Thor: whether its rail may be gated is said by its driver. */
static void pci_gpu(void **state)
{
	static const struct channel freq = {
		.name = "gpu.freq", .kind = CHANNEL_GPU_FREQ, .source = "/sys/class/devfreq/gpu-gpc-0/cur_freq"};
	char *text = NULL;
	size_t size;
	struct record to = {.f = open_memstream(&text, &size)};
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_file(&t, "/sys/class/devfreq/gpu-gpc-0/governor", "nvhost_podgov\n");
	tree_file(&t, "/sys/class/devfreq/gpu-gpc-0/cur_freq", "306000000\n");
	tree_file(&t, "/sys/class/devfreq/gpu-gpc-0/device/power/control", "on\n");
	tree_file(&t, "/proc/driver/nvidia/gpus/0000:01:00.0/power", "Runtime D3 status: Enabled\nRail-Gating: Enabled\n");
	tree_file(&t, "/sys/bus/pci/devices/0000:01:00.0/power/control", "auto\n");
	machine_json(&to, NULL, &(struct machine_source) {.root = t.root, .channels = &freq, .n = 1, .pinned = &(double) {1}}, false);
	assert_int_equal(fclose(to.f), 0);
	assert_non_null(strstr(text, "\"gpu\":{\"governor\":\"nvhost_podgov\",\"railgating\":true,\"power_control\":\"auto\",\"gpc_hz\":[306000000]}"));
	assert_non_null(strstr(text, "\"jetson_clocks\":true"));
	free(text);
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
		char *all = read_tree(&t);
		assert_null(strstr(all, "\\u00")); /* a control character in JSON */
		assert_null(strchr(all, 0x7f));
		free(all);
	}
	tree_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packages), cmocka_unit_test(files), cmocka_unit_test(file_names),
		cmocka_unit_test(cores),    cmocka_unit_test(pci_gpu), cmocka_unit_test(noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
