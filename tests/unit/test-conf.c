/* Settings files: reading returns what was written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/settings-file.h"

static char told[4096];
static unsigned lines_told;

static void tell(void *to, unsigned line, const char *text)
{
	size_t used = strlen(told);

	(void)to;
	lines_told++;
	snprintf(told + used, sizeof told - used, "%u: %s\n", line, text);
}

static const struct conf_reader any_view = {.tell = tell}, deaf = {.tell = NULL};

static struct settings read_text(const char *text)
{
	struct settings s = SETTINGS_DEFAULT;

	told[0] = 0;
	lines_told = 0;
	conf_read(&s, text, strlen(text), &any_view);
	return s;
}

static char *write_text(const struct settings *s)
{
	char *out = NULL;
	size_t n;
	FILE *f = open_memstream(&out, &n);

	assert_int_equal(conf_write(s, f), 0);
	fclose(f);
	return out;
}

static void values(void **state)
{
	struct settings s = read_text("# a comment\n"
				      "\n"
				      "theme = high-contrast-light\r\n"
				      "  mouse=no  \n"
				      "view = gpu\n"
				      "charts = braille\n"
				      "frames = 2.5\n"
				      "history = 45min\n"
				      "hide.overview = swap.used, a%20b , fan.rpm\n"
				      "lines.overview = gpu.util 4,cpu.util 30\n"
				      "move.power = c after b, a first");

	(void)state;
	assert_string_equal(told, "");
	assert_int_equal(s.theme, THEME_CONTRAST);
	assert_int_equal(s.ground, GROUND_LIGHT);
	assert_false(s.mouse);
	assert_true(s.braille);
	assert_string_equal(s.view, "gpu");
	assert_true(s.frames > 2.4 && s.frames < 2.6);
	assert_int_equal(s.history_ns, 45 * 60 * NS_PER_S);
	assert_int_equal(s.n_charts, 7);
	assert_string_equal(s.charts[1].name, "a b");
	assert_true(s.charts[1].hidden);
	assert_int_equal(s.charts[4].lines, 30);
	assert_string_equal(s.charts[5].view, "power");
	assert_string_equal(s.charts[5].after, "b");
	assert_true(s.charts[6].moved);
	assert_string_equal(s.charts[6].after, "");
}

/* A history is written in the unit it was set in. */
static void every_history(void **state)
{
	static const char *const texts[] = {"0", "10s", "90s", "10min", "45min", "168h", "10.25s"};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		char line[64], *out;
		struct settings s;

		snprintf(line, sizeof line, "history = %s\n", texts[i]);
		s = read_text(line);
		assert_string_equal(told, "");
		out = write_text(&s);
		assert_non_null(strstr(out, line));
		free(out);
	}
}

static void every_theme(void **state)
{
	(void)state;
	for (int t = 0; t < THEMES; t++)
		for (int g = 0; g < GROUNDS; g++) {
			enum theme theme;
			enum ground ground;

			assert_true(conf_theme(conf_theme_name((enum theme)t, (enum ground)g), &theme, &ground));
			assert_int_equal(theme, t);
			if (t != THEME_MONO)
				assert_int_equal(ground, g);
		}
}

static void what_is_wrong(void **state)
{
	static const char *const wrong[] = {
		"theme = blue", "charts = dots", "theme =", "theme", "= dark", "mouse = maybe", "frames = 0", "frames = 1e9",
		"frames = nan", "history = 5", "history = 64M", "history = 9s", "history = 169h",
		"history = lots", "history =", "view = ../../etc", "view = averyverylongnameofaview", "colour = red",
		"hide.overview = a b", "hide.overview = a,,b", "hide.overview = %zz", "hide.overview = %00",
		"lines.overview = a", "lines.overview = a 0", "lines.overview = a 31", "lines.overview = a 3 4",
		"move.overview = a", "move.overview = a before b", "move.overview = a after",
		"move.overview = a after a", "move.overview = a first b", "hide. = a", "hide.UP = a",
		"hide.averyverylongnameofaview = a", 
		"hide.overview = aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		"\033[31m = 3", "\377\377",
	};

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		char text[256];

		snprintf(text, sizeof text, "mouse = yes\n%s\ntheme = mono\n", wrong[i]);
		struct settings s = read_text(text);
		if (lines_told != 1 || strncmp(told, "2: ", 3))
			fail_msg("\"%s\" was told as \"%s\"", wrong[i], told);
		assert_null(strchr(told, 27));
		/* the rest is still read */
		assert_int_equal(s.theme, THEME_MONO);
		assert_int_equal(s.mouse, true);
	}
	read_text("mouse = no\nmouse = yes\n");
	assert_string_equal(told, "");
}

static const char *two_views(size_t i)
{
	static const char *const names[] = {"overview", "gpu", NULL};

	return names[i];
}

/* Reported once and kept: the file may be from another version. */
static void a_view_that_there_is_not(void **state)
{
	static const struct conf_reader who = {.tell = tell, .view = two_views};
	static const char text[] = "view = gpu\nhide.gpu = x\nlines.disk = a 4, b 2\nview = cpus\n";
	struct settings s = SETTINGS_DEFAULT;
	char *same;

	(void)state;
	told[0] = 0;
	conf_read(&s, text, strlen(text), &who);
	assert_string_equal(told, "3: unknown view \"disk\"; known: overview, gpu\n"
				  "4: unknown view \"cpus\"; known: overview, gpu\n");
	assert_string_equal(s.view, "cpus");
	assert_int_equal(s.n_charts, 3);
	same = write_text(&s);
	assert_non_null(strstr(same, "lines.disk = a 4, b 2\n"));
	assert_non_null(strstr(same, "view = cpus\n"));
	free(same);
}

static void only_what_was_chosen_is_set(void **state)
{
	struct settings s = SETTINGS_DEFAULT, back;
	char *text = write_text(&s), *changed;

	(void)state;
	assert_non_null(strstr(text, "\n#theme = auto\n"));
	s.theme = THEME_MONO;
	changed = write_text(&s);
	assert_non_null(strstr(changed, "\ntheme = mono\n"));
	assert_non_null(strstr(changed, "\n#mouse = yes\n"));
	back = read_text(changed);
	assert_string_equal(told, "");
	assert_int_equal(back.theme, THEME_MONO);
	free(text);
	free(changed);
}

static void all_of_it_comes_back(void **state)
{
	struct settings s = SETTINGS_DEFAULT, back;
	char *text;

	(void)state;
	for (int i = 0; i < SETTINGS_CHARTS; i++) {
		struct chart_setting *c = &s.charts[s.n_charts++];

		snprintf(c->view, sizeof c->view, "%s", i % 2 ? "overview" : "power");
		snprintf(c->name, sizeof c->name, "odd, =%%#\033 %c name%d", i % 3 ? 'x' : '^', i);
		c->hidden = i % 5 == 0;
		c->lines = (unsigned char)(i % 4);
		c->moved = true;
		if (i % 7)
			snprintf(c->after, sizeof c->after, "name %d", i);
	}
	text = write_text(&s);
	back = read_text(text);
	assert_string_equal(told, "");
	assert_int_equal(back.n_charts, s.n_charts);
	for (size_t i = 0; i < s.n_charts; i++) {
		const struct chart_setting *a = &s.charts[i], *b = NULL;

		for (size_t k = 0; k < back.n_charts; k++)
			if (!strcmp(back.charts[k].view, a->view) && !strcmp(back.charts[k].name, a->name))
				b = &back.charts[k];
		assert_non_null(b);
		assert_int_equal(a->hidden, b->hidden);
		assert_int_equal(a->lines, b->lines);
		assert_string_equal(a->after, b->after);
	}
	/* and no more than fits */
	back = read_text("hide.cpu = a\n");
	free(text);
}

/* Random bytes: all settings stay in range, and what is written can be read back. */
static void any_bytes(void **state)
{
	static const char *const parts[] = {"theme", "mouse", "hide.", "move.", "lines.", "overview", "=", " = ",
					    ",", "\n", " ", "after", "first", "%20", "%", "#", "a", "b.c", "3",
					    "dark", "yes", "\t", "\r", "frames", "1e308",
					    "history", "0", "10min", "1h"};
	uint32_t seed = 7;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		char text[2048];
		size_t n = 0;

		while (n < 1500) {
			seed = seed * 1664525u + 1013904223u;
			unsigned roll = seed >> 8;

			if (roll % 400 == 0)
				break;
			if (roll % 9 == 0) {
				text[n++] = (char)(roll >> 8);
				continue;
			}
			const char *part = parts[(roll >> 4) % (sizeof parts / sizeof *parts)];
			memcpy(text + n, part, strlen(part));
			n += strlen(part);
		}
		struct settings s = SETTINGS_DEFAULT;
		conf_read(&s, text, n, &deaf);
		assert_true(s.n_charts <= SETTINGS_CHARTS);
		assert_true((s.frames >= 0.1 && s.frames <= 60) || !(s.frames > 0 || s.frames < 0));
		for (size_t i = 0; i < s.n_charts; i++)
			assert_true(s.charts[i].lines <= CHART_LINES_MAX);
		/* what is written can be read back */
		char *out = NULL;
		size_t size;
		FILE *f = open_memstream(&out, &size);
		assert_int_equal(conf_write(&s, f), 0);
		fclose(f);
		struct settings back = SETTINGS_DEFAULT;
		conf_read(&back, out, size, &deaf);
		assert_int_equal(back.theme, s.theme);
		assert_int_equal(back.mouse, s.mouse);
		free(out);
	}
}

static char folder[32];

static int make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/nvmtop-conf-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof command, "chmod -R u+w %s; rm -rf %s", folder, folder);
	return system(command) == 0 ? 0 : -1;
}

static void files(void **state)
{
	struct settings s = SETTINGS_DEFAULT, back = SETTINGS_DEFAULT;
	char path[128], there[128], link_name[128];
	struct stat st;
	struct err e;

	(void)state;
	snprintf(path, sizeof path, "%s/a/b/nvmtop.conf", folder);
	assert_int_equal(conf_load(path, false, &s, &any_view, &e), 0);
	assert_int_equal(conf_load(path, true, &s, &any_view, &e), -1);
	assert_non_null(strstr(e.text, path));
	s.theme = THEME_SAFE;
	assert_int_equal(conf_save(path, &s, &e), 0);
	assert_int_equal(conf_load(path, true, &back, &any_view, &e), 0);
	assert_int_equal(back.theme, THEME_SAFE);
	/* keeps the mode of the file, and symbolic links */
	assert_int_equal(chmod(path, 0600), 0);
	snprintf(link_name, sizeof link_name, "%.40s/link", folder);
	assert_int_equal(symlink("a/b/nvmtop.conf", link_name), 0);
	s.mouse = false;
	assert_int_equal(conf_save(link_name, &s, &e), 0);
	assert_int_equal(lstat(link_name, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	back = SETTINGS_DEFAULT;
	assert_int_equal(conf_load(path, true, &back, &any_view, &e), 0);
	assert_false(back.mouse);
	/* no temporary file is left */
	snprintf(there, sizeof there, "test $(ls %s/a/b | wc -l) -eq 1", folder);
	assert_int_equal(system(there), 0);
	/* a directory, a pipe: not a file */
	snprintf(there, sizeof there, "%s/a", folder);
	assert_int_equal(conf_load(there, false, &back, &any_view, &e), -1);
	assert_int_equal(conf_save(there, &s, &e), -1);
	snprintf(there, sizeof there, "%s/pipe", folder);
	assert_int_equal(mkfifo(there, 0600), 0);
	assert_int_equal(conf_load(there, false, &back, &any_view, &e), -1);
	/* too long: neither read nor truncated */
	snprintf(there, sizeof there, "%s/long", folder);
	FILE *f = fopen(there, "w");
	for (int i = 0; i < 70000; i++)
		fputc('#', f);
	fclose(f);
	assert_int_equal(conf_load(there, false, &back, &any_view, &e), -1);
	assert_int_equal(conf_save(there, &s, &e), -1);
	assert_int_equal(stat(there, &st), 0);
	assert_int_equal(st.st_size, 70000);
}

static void a_home_that_cannot_be_written(void **state)
{
	struct settings s = SETTINGS_DEFAULT;
	char path[128];
	struct err e;

	(void)state;
	/* a file instead of the directory: fails even for root */
	snprintf(path, sizeof path, "%s/x", folder);
	FILE *f = fopen(path, "w");
	fclose(f);
	strcat(path, "/nvmtop.conf");
	s.mouse = false;
	assert_int_equal(conf_save(path, &s, &e), -1);
	assert_non_null(strstr(e.text, path));
}

static void where(void **state)
{
	char path[256];

	(void)state;
	setenv("HOME", "/home/me", 1);
	setenv("XDG_CONFIG_HOME", "/etc/me", 1);
	assert_int_equal(conf_path(path, sizeof path), 0);
	assert_string_equal(path, "/etc/me/nvmtop/nvmtop.conf");
	setenv("XDG_CONFIG_HOME", "relative", 1);
	assert_int_equal(conf_path(path, sizeof path), 0);
	assert_string_equal(path, "/home/me/.config/nvmtop/nvmtop.conf");
	assert_int_equal(conf_path(path, 20), -1);
	unsetenv("HOME");
	assert_int_equal(conf_path(path, sizeof path), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values),
		cmocka_unit_test(every_theme),
		cmocka_unit_test(every_history),
		cmocka_unit_test(what_is_wrong),
		cmocka_unit_test(a_view_that_there_is_not),
		
		cmocka_unit_test(only_what_was_chosen_is_set),
		cmocka_unit_test(all_of_it_comes_back),
		cmocka_unit_test(any_bytes),
		cmocka_unit_test_setup_teardown(files, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(a_home_that_cannot_be_written, make_folder, remove_folder),
		cmocka_unit_test(where),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
