/* Detection of the board, choice of its board file, and facts about the machine. */
#include "test-probe-tree.h"

#include "board/machine.h"

static char boards[256]; /* of the source tree */

static int match(const char *compatible, size_t len, const char *entry_wanted)
{
	static const char text[] = "board %s\ntitle T\nmatch %s\nfast cpu\n";
	static const char *const known[][2] = {{"nx", "nvidia,p3767-0000 nvidia,p3767-0001"},
					       {"nano", "nvidia,p3767-0003 nvidia,p3767-0005"},
					       {"agx", "nvidia,p3701-0000"},
					       {"agx2", "nvidia,p3701-0000"}};
	struct board *b[4];
	const char *entry = NULL;

	for (int i = 0; i < 4; i++) {
		char one[256];
		int n = snprintf(one, sizeof one, text, known[i][0], known[i][1]);
		b[i] = board_parse_text("x", one, (size_t)n, NULL);
		assert_non_null(b[i]);
	}
	int which = board_match(compatible, len, b, 4, &entry);
	if (entry_wanted)
		assert_string_equal(entry, entry_wanted);
	for (int i = 0; i < 4; i++)
		board_free(b[i]);
	return which;
}

#define MATCH(text, entry) match(text, sizeof text - 1, entry)

static void test_exact_entries(void **state)
{
	(void)state;
	assert_int_equal(MATCH("nvidia,p3701-0000\0nvidia,tegra234\0", "nvidia,p3701-0000"),
			 2); /* not agx2 */
	assert_int_equal(MATCH("nvidia,p3768-0000+p3767-0005-super\0nvidia,p3767-0005\0nvidia,tegra234\0",
			       "nvidia,p3767-0005"),
			 1);
	assert_int_equal(MATCH("nvidia,p3767-0005-super\0nvidia,tegra234\0", NULL), -1);
	assert_int_equal(MATCH("nvidia,p3737-0000+p3701-0000-as-p3767-0004\0nvidia,tegra234\0", NULL), -1);
	assert_int_equal(MATCH("xnvidia,p3701-0000\0", NULL), -1);
	assert_int_equal(MATCH("nvidia,p3701-000\0", NULL), -1);
	assert_int_equal(MATCH("nvidia,p3701-0000", "nvidia,p3701-0000"), 2); /* the last one lacks its NUL */
	assert_int_equal(MATCH("nvidia,p3701-0000\n", NULL), -1);
	assert_int_equal(MATCH("\0\0\0nvidia,p3767-0001\0", "nvidia,p3767-0001"), 0);
	assert_int_equal(MATCH("", NULL), -1);
	assert_int_equal(MATCH("\0", NULL), -1);
}

static void test_first_entry_decides(void **state)
{
	(void)state;
	assert_int_equal(MATCH("acme,x\0nvidia,p3767-0003\0nvidia,p3767-0000\0", "nvidia,p3767-0003"), 1);
	assert_int_equal(MATCH("acme,x\0nvidia,p3767-0000\0nvidia,p3767-0003\0", "nvidia,p3767-0000"), 0);
}

static void detect(struct tree *t, const char *name, char *why)
{
	struct err e;
	struct board *b = board_detect(t->root, why, 512, &e);

	if (!b)
		fail_msg("%s", e.text);
	assert_string_equal(b->name, name);
	board_free(b);
}

static void test_detect(void **state)
{
	struct tree t;
	char why[512];

	(void)state;
	tree_begin(&t);
	detect(&t, "generic", why);
	assert_non_null(strstr(why, "/proc/device-tree/compatible"));
	tree_bytes(&t, "/proc/device-tree/compatible", "acme,\x1b[2Jthing\0acme,soc\0", 24);
	detect(&t, "generic", why);
	assert_non_null(strstr(why, "\"acme,?[2Jthing\", \"acme,soc\""));
	static const char *const known[][2] = {
		{"nvidia,p3701-0000", "agx_orin"},
		{"nvidia,p3701-0001", "agx_orin"},
		{"nvidia,p3701-0004", "agx_orin"},
		{"nvidia,p3701-0005", "agx_orin"},
		{"nvidia,p3701-0008", "agx_orin"},
		{"nvidia,p3767-0000", "orin_nx"},
		{"nvidia,p3767-0001", "orin_nx"},
		{"nvidia,p3767-0003", "orin_nano"},
		{"nvidia,p3767-0004", "orin_nano"},
		{"nvidia,p3767-0005", "orin_nano"},
		{"nvidia,p3701-0002", "generic"},
		{"nvidia,tegra23x", "generic"},
		{"nvidia,p3448-0002", "nano"},
		{"nvidia,jetson-cv", "tx1"},
		{"nvidia,quill", "tx2"},
		{"nvidia,p3509-0000+p3636-0001", "tx2_nx"},
		{"nvidia,galen", "agx_xavier"},
		{"nvidia,p3509-0000+p3668-0001", "xavier_nx"},
		{"nvidia,p3740-0002", "igx_orin"},
		{"nvidia,p3834-0008", "agx_thor"},
		{"nvidia,p3834-0000", "agx_thor"},
		{"nvidia,tegra210", "tegra210"},
		{"nvidia,tegra186", "tegra186"},
		{"nvidia,tegra194", "tegra194"},
		{"nvidia,tegra234", "tegra234"},
		{"nvidia,tegra264", "tegra264"},
		{"nvidia,p3737-0000+p3701-0000-as-p3767-0004", "agx_orin"},
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		tree_bytes(&t, "/proc/device-tree/compatible", known[i][0], strlen(known[i][0]) + 1);
		detect(&t, known[i][1], why);
		assert_non_null(strstr(why, known[i][0]));
	}
	tree_end(&t);
}

/* Without a device tree, as in a container. */
static void test_detect_otherwise(void **state)
{
	static const struct {
		const char *model, *board;
	} models[] = {
		{"NVIDIA Jetson Orin Nano Engineering Reference Developer Kit Super\n", "orin_nano"},
		{"NVIDIA Orin Nano Developer Kit\n", "orin_nano"},
		{"NVIDIA Jetson Orin NX Engineering Reference Developer Kit\n", "orin_nx"},
		{"NVIDIA Jetson AGX Orin Developer Kit\n", "agx_orin"},
		{"Jetson AGX Orin as Nano 4GB\n", "agx_orin"},
		{"NVIDIA IGX Orin Development Kit\n", "igx_orin"},
		{"NVIDIA Jetson AGX Thor Developer Kit\n", "agx_thor"},
		{"NVIDIA Jetson Xavier NX Developer Kit\n", "xavier_nx"},
		{"Jetson-AGX\n", "agx_xavier"},
		{"NVIDIA Jetson Nano Developer Kit\n", "nano"},
		{"jetson_tx1\n", "tx1"},
		{"quill\n", "tx2"},
		{"lanai-3636\n", "tx2_nx"},
		{"a NVIDIA Jetson Nano Developer Kit\n", "generic"},
		{"NVIDIA\n", "generic"},
		{"\n", "generic"},
	};
	struct tree t;
	char why[512];

	(void)state;
	tree_begin(&t);
	for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
		tree_file(&t, "/tmp/nv_jetson_model", models[i].model);
		detect(&t, models[i].board, why);
		assert_non_null(strstr(why, i < 13 ? "/tmp/nv_jetson_model says \"" : "there is no "));
	}
	tree_file(&t, "/sys/class/hwmon/hwmon2/name", "ina3221\n");
	tree_file(&t, "/sys/class/hwmon/hwmon2/in1_label", "VDD_CPU_GPU_CV\n");
	tree_file(&t, "/sys/class/hwmon/hwmon2/in1_input", "5000\n");
	detect(&t, "generic", why); /* half a line does not match */
	tree_file(&t, "/sys/class/thermal/thermal_zone8/type", "tj-thermal\n");
	tree_file(&t, "/sys/class/thermal/thermal_zone8/temp", "40000\n");
	detect(&t, "orin_nano", why);
	assert_non_null(strstr(why, "recognised by its sensors (hwmon=ina3221/VDD_CPU_GPU_CV"));
	tree_file(&t, "/sys/class/devfreq/nvenc/cur_freq", "115200000\n");
	detect(&t, "orin_nx", why); /* the line with more matches wins */
	tree_file(&t, "/etc/nv_tegra_release", "# R36 (release), REVISION: 4.3\n");
	tree_file(&t, "/tmp/nv_jetson_model", "NVIDIA Jetson Nano\n");
	detect(&t, "nano", why); /* an explicit choice wins over sensors */
	tree_bytes(&t, "/proc/device-tree/compatible", "nvidia,p3701-0000\0", 18);
	detect(&t, "agx_orin", why); /* the device tree wins over everything */
	tree_end(&t);
	tree_begin(&t);
	tree_file(&t, "/etc/nv_tegra_release", "# R36 (release), REVISION: 4.3\n");
	detect(&t, "generic", why);
	assert_non_null(strstr(why, "a Jetson of unknown model"));
	tree_end(&t);
}

static void test_tables(void **state)
{
	static const char *const releases[][2] = {
		{"36.4.3", "6.2"}, {"36.4.9", "6"}, {"36.3.0", "6.0"},   {"36.99", "6"},
		{"99.1", NULL},    {"3", NULL},     {"32.5.1", "4.5.1"}, {"38.4.0", "7.1"},
		{"", NULL},        {"x36", NULL},   {"36.", "6"},        {"...", NULL},
	};
	static const struct {
		const char *entries;
		size_t len;
		const char *name;
	} modules[] = {
#define ENTRIES(text) text, sizeof text - 1
		{ENTRIES("nvidia,p3768-0000+p3767-0005-super\0nvidia,p3767-0005\0nvidia,tegra234\0"),
		 "Jetson Orin Nano 8GB (developer kit)"},
		{ENTRIES("nvidia,p3449-0000-b00+p3448-0000-b00\0nvidia,jetson-nano\0"),
		 "Jetson Nano 4GB (developer kit)"},
		{ENTRIES("nvidia,p3737-0000+p3701-0000-as-p3767-0004\0nvidia,p3701-0000\0"),
		 "Jetson AGX Orin imitating an Orin Nano 4GB"},
		{ENTRIES("acme,p3701-0000\0nvidia,p3767-9999\0nvidia,tegra234\0"), NULL},
		{ENTRIES("nvidia,p3701-00000\0nvidia,p3701\0nvidia,\0nvidia,+\0"), NULL},
		{ENTRIES(""), NULL},
	};
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof releases / sizeof *releases; i++)
		if (table_jetpack(releases[i][0], text, sizeof text))
			assert_string_equal(text, releases[i][1] ? releases[i][1] : "nothing");
		else
			assert_null(releases[i][1]);
	for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
		if (find_module(NULL, modules[i].entries, modules[i].len, text, sizeof text))
			assert_string_equal(text, modules[i].name ? modules[i].name : "nothing");
		else
			assert_null(modules[i].name);
}

static void count_paths(void *arg, const char *path)
{
	int *n = arg;

	assert_int_equal(*path, '/');
	n[0]++;
	n[1] += !strcmp(path, "/b");
	n[2] += strstr(path, "ina3221x/*/") != NULL;
}

static void test_paths(void **state)
{
	static const char text[] =
		"board b\ntitle B\nslow value x.y path=/a path=/b\nslow value x.z path=/b\n";
	static const char rail[] = "board b\ntitle B\nmedium rail X\n";
	int n[3] = {0, 0, 0};
	struct board *b = board_parse_text("b", text, sizeof text - 1, NULL);

	(void)state;
	assert_non_null(b);
	board_paths(b, count_paths, n);
	board_free(b);
	assert_int_equal(n[0], 2);
	assert_int_equal(n[1], 1);
	assert_int_equal(n[2], 0);
	b = board_parse_text("b", rail, sizeof rail - 1, NULL);
	assert_non_null(b);
	board_paths(b, count_paths, n);
	board_free(b);
	assert_true(n[2] >= 4);
}

static void test_folders(void **state)
{
	struct tree t;
	char dir[256], why[512];
	struct err e;

	(void)state;
	tree_begin(&t);
	tree_file(&t, "/own/agx_orin.board", "board agx_orin\ntitle Mine\nfast cpu\n");
	tree_file(&t, "/cfg/nvmtop/boards/agx_orin.board", "board agx_orin\ntitle Hidden\nfast cpu\n");
	tree_file(&t, "/cfg/nvmtop/boards/carrier.board",
		  "board carrier\ntitle C\nmatch nvidia,p3701-0000\ninclude other.inc\n");
	tree_file(&t, "/own/other.inc", "fast ram\n");
	tree_file(&t, "/cfg/nvmtop/boards/broken.board", "board broken\nmatch nvidia,p3701-0000\n");
	tree_path(&t, "/own", dir);
	setenv("NVMTOP_BOARDS", dir, 1);
	tree_path(&t, "/cfg", dir);
	setenv("XDG_CONFIG_HOME", dir, 1);
	struct board *b = board_load("agx_orin", &e);
	assert_non_null(b);
	assert_string_equal(b->title, "Mine");
	board_free(b);
	b = board_load("carrier", &e); /* its include is found in another directory */
	if (!b)
		fail_msg("%s", e.text);
	assert_non_null(strstr(b->path, "/cfg/nvmtop/boards/carrier.board"));
	assert_int_equal(b->n_statements, 1);
	board_free(b);
	assert_null(board_load("broken", &e));
	assert_int_equal(e.code, ERR_FAILED);
	tree_bytes(&t, "/proc/device-tree/compatible", "nvidia,p3701-0000", 18);
	detect(&t, "carrier", why); /* the broken file affects nobody */
	tree_file(&t, "/own/zz.board", "board zz\ntitle Z\nmatch nvidia,p3701-0000\nfast cpu\n");
	detect(&t, "zz", why); /* of those that fit as well that of the first folder */
	setenv("NVMTOP_BOARDS", boards, 1);
	unsetenv("XDG_CONFIG_HOME");
	tree_end(&t);
}

static void test_no_such_board(void **state)
{
	static const char *const names[] = {"nonesuch", "/nowhere/x.board", "x.board", "", ".",
					    "..",       "../boards/demo"};
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		e.code = ERR_NONE;
		assert_null(board_load(names[i], &e));
		assert_int_equal(e.code, ERR_USAGE);
	}
	assert_null(board_load(boards, &e)); /* a directory */
	assert_int_equal(e.code, ERR_FAILED);
}

struct seen {
	int good, bad;
	char last[64];
};

static void visit(void *arg, struct board *b, const struct err *e)
{
	struct seen *s = arg;

	if (!b) {
		assert_non_null(e);
		s->bad++;
		return;
	}
	assert_true(strcmp(s->last, b->name) < 0);
	snprintf(s->last, sizeof s->last, "%s", b->name);
	s->good++;
}

static void test_each(void **state)
{
	struct seen s = {.good = 0};

	(void)state;
	board_each(visit, &s);
	assert_true(s.good >= 4);
	assert_int_equal(s.bad, 0); /* every board file of the project parses */
}

static const char *fact(const struct tree *t, const char *key)
{
	const char *value = fact_get(t->probes->facts, t->probes->n_facts, key);

	return value ? value : "";
}

static void test_facts(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_file(&t, "/proc/stat", "cpu 1 1 1 1\ncpu0 1 1 1 1\n");
	tree_bytes(&t, "/proc/device-tree/model", "NVIDIA \x1bJetson\0", 15);
	tree_bytes(&t, "/proc/device-tree/compatible", "nvidia,p3767-0005\0nvidia,tegra234\0", 34);
	tree_file(&t, "/etc/nv_tegra_release",
		  "# R36 (release), REVISION: 4.3, GCID: 38968081, BOARD: generic\nx\n");
	tree_file(&t, "/etc/os-release", "PRETTY_NAME=\"Ubuntu 22.04\"\n");
	tree_file(&t, "/proc/sys/kernel/osrelease", "5.15.148-tegra\n");
	tree_file(&t, "/proc/sys/kernel/hostname", "orin\n");
	tree_file(&t, "/var/lib/nvpmodel/status", "pmode:0002\n");
	tree_file(&t, "/etc/nvpmodel/real.conf",
		  "# < POWER_MODEL >\n< POWER_MODEL ID=0 NAME=15W >\nGPU_POWER_CONTROL_ENABLE X on\n"
		  "< POWER_MODEL ID=22 NAME=NO >\n< POWER_MODEL ID=2 NAME=MAXN_SUPER >\n< PM_CONFIG "
		  "DEFAULT=1 >\n");
	tree_link(&t, "/etc/nvpmodel.conf", "/etc/nvpmodel/real.conf");
	tree_resolve(&t, "fast cpu");
	assert_string_equal(fact(&t, "board"), "b");
	assert_string_equal(fact(&t, "title"), "B");
	assert_string_equal(fact(&t, "why"), "because");
	assert_string_equal(fact(&t, "model"), "NVIDIA ?Jetson");
	assert_string_equal(fact(&t, "soc"), "tegra234");
	assert_string_equal(fact(&t, "release"), "L4T 36.4.3");
	assert_string_equal(fact(&t, "jetpack"), "6.2");
	assert_string_equal(fact(&t, "module"), "Jetson Orin Nano 8GB (developer kit)");
	assert_string_equal(fact(&t, "kernel"), "5.15.148-tegra");
	assert_string_equal(fact(&t, "hostname"), "orin");
	assert_string_equal(fact(&t, "mode"), "MAXN_SUPER");
	assert_string_equal(fact(&t, "notice"), "");
	tree_end(&t);
}

static void test_facts_elsewhere(void **state)
{
	static const char *const statuses[] = {"pmode:0009\n", "pmode:\n", "fmode:quiet\n", ""};

	(void)state;
	for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
		struct tree t;
		tree_begin(&t);
		tree_file(&t, "/proc/stat", "cpu 1 1 1 1\ncpu0 1 1 1 1\n");
		tree_file(&t, "/etc/nv_tegra_release", "# R99 (nothing)\n");
		tree_file(&t, "/etc/os-release", "NAME=x\nPRETTY_NAME='My Linux'\n");
		tree_file(&t, "/var/lib/nvpmodel/status", statuses[i]);
		tree_file(&t, "/etc/nvpmodel.conf", "< POWER_MODEL ID=0 NAME=15W >\n< POWER_MODEL ID=9");
		tree_resolve(&t, "fact kernel 1.2.3\nfast cpu");
		assert_string_equal(fact(&t, "release"), "My Linux");
		assert_string_equal(fact(&t, "mode"), "");
		assert_string_equal(fact(&t, "kernel"), "1.2.3");
		tree_end(&t);
	}
}

/* Yocto and some images have no /etc/nv_tegra_release. */
static void test_release_by_package(void **state)
{
	static const struct {
		const char *status, *release;
	} cases[] = {
		{"Package: a\nVersion: 9\n\nPackage: nvidia-l4t-core\nStatus: install ok installed\n"
		 "Version: 36.4.4-20250616085344\n\nPackage: b\nVersion: 7\n",
		 "L4T 36.4.4"},
		{"Package: a\n\nPackage: nvidia-l4t-core\n\nPackage: b\nVersion: 7\n", ""},
		{"Package: nvidia-l4t-core-dev\nVersion: 7\n", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tree t;
		tree_begin(&t);
		tree_file(&t, "/proc/stat", "cpu 1 1 1 1\ncpu0 1 1 1 1\n");
		tree_bytes(&t, "/proc/device-tree/compatible", "nvidia,tegra234\0", 16);
		tree_file(&t, "/var/lib/dpkg/status", cases[i].status);
		tree_resolve(&t, "fast cpu");
		assert_string_equal(fact(&t, "release"), cases[i].release);
		assert_string_equal(fact(&t, "jetpack"), i ? "" : "6.2.1");
		tree_end(&t);
	}
}

/* The fake boards, read with the board files of this project. */
static void test_roots(void **state)
{
	static const struct {
		const char *root, *board, *release;
		int rails, zones, cores;
		const char *missing_value; /* a channel with a file but no value */
	} roots[] = {
		{"agx_orin-36", "agx_orin", "L4T 36.4.3", 4, 11, 12, "temp.gpu"},
		{"agx_orin-35", "agx_orin", "L4T 35.3.1", 4, 11, 12, "temp.gpu"},
		{"orin_nx-36-offline", "orin_nx", "L4T 36.4.7", 3, 9, 8, "cpu4.util"},
		{"orin_nano-36-super", "orin_nano", "L4T 36.4.3", 3, 9, 6, NULL},
		{"nano-32", "nano", "L4T 32.5.1", 3, 6, 4, NULL},
		{"tx1-32", "tx1", "L4T 32.7.1", 9, 8, 4, NULL},
		{"tx2-32", "tx2", "L4T 32.6.1", 12, 8, 6, "cpu1.util"},
		{"agx_xavier-32", "agx_xavier", "L4T 32.3.1", 6, 8, 8, NULL},
		{"agx_xavier-35", "agx_xavier", "L4T 35.4.1", 6, 8, 8, NULL},
		{"xavier_nx-35", "xavier_nx", "L4T 35.6.5", 3, 6, 6, "cpu2.util"},
		{"igx_orin-36", "igx_orin", "L4T 36.3.0", 8, 11, 12, "temp.cv0"},
		{"agx_thor-38", "agx_thor", "L4T 38.4.0", 4, 7, 14, "temp.gpu"},
		{"agx_thor-39-no-vin", "agx_thor", "L4T 39.2.0", 3, 7, 14, "temp.gpu"},
		{"agx_orin-36-as-nano", "agx_orin", "L4T 36.4.0", 4, 9, 6, "temp.cv0"},
	};
	const char *src = getenv("NVMTOP_ROOTS");

	(void)state;
	if (!src) {
		print_message("# skipped: NVMTOP_ROOTS is to say where the fake boards are, as in make check\n");
		return;
	}
	for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
		static const double hz[TIERS] = {1000, 100, 10};
		struct tree t = {.t_ns = 0};
		struct err e;
		char dir[512], why[512];
		int rails = 0, zones = 0, cores = 0;
		snprintf(dir, sizeof dir, "%s/%s", src, roots[i].root);
		struct root *r = root_open(dir, &e);
		if (!r)
			fail_msg("%s", e.text);
		struct board *b = board_detect(r, why, sizeof why, &e);
		assert_non_null(b);
		assert_string_equal(b->name, roots[i].board);
		t.probes = board_resolve(b, r, hz, why, &e);
		if (!t.probes)
			fail_msg("%s: %s", roots[i].root, e.text);
		for (size_t k = 0; k < t.probes->n_channels; k++) {
			const struct channel *c = &t.probes->channels[k];
			rails += c->kind == CHANNEL_RAIL_POWER && !c->missing[0];
			zones += c->kind == CHANNEL_TEMPERATURE && !c->missing[0];
			cores += c->kind == CHANNEL_CORE_UTIL;
			t.row[c->tier][c->column] = NAN;
		}
		assert_int_equal(rails, roots[i].rails);
		assert_int_equal(zones, roots[i].zones);
		assert_int_equal(cores, roots[i].cores);
		tree_tick(&t, MS);
		assert_true(tree_value(&t, "power.total") > 1000);
		assert_true(tree_value(&t, "temp.hottest") > 20);
		if (roots[i].missing_value)
			assert_missing(&t, roots[i].missing_value);
		assert_string_equal(fact(&t, "release"), roots[i].release);
		board_free(b);
		root_close(r);
		probe_set_free(t.probes);
	}
}

static int where_the_boards_are(void **state)
{
	const char *set = getenv("NVMTOP_BOARDS");

	(void)state;
	snprintf(boards, sizeof boards, "%s", set ? set : BOARDDIR);
	setenv("NVMTOP_BOARDS", boards, 1);
	unsetenv("XDG_CONFIG_HOME");
	setenv("HOME", "/nowhere", 1);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact_entries),
		cmocka_unit_test(test_first_entry_decides),
		cmocka_unit_test(test_detect),
		cmocka_unit_test(test_detect_otherwise),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_folders),
		cmocka_unit_test(test_no_such_board),
		cmocka_unit_test(test_each),
		cmocka_unit_test(test_facts),
		cmocka_unit_test(test_facts_elsewhere),
		cmocka_unit_test(test_release_by_package),
		cmocka_unit_test(test_roots),
	};

	return cmocka_run_group_tests(tests, where_the_boards_are, NULL);
}
