/* A tree read as "/": no path in it leads outside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake-pread.h"
#include "util/root.h"

static char dir[] = "/tmp/nvmtop-root-XXXXXX";

/* A reading thread that is blocked just before it reads. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool hold, done;
	char text[8]; /* what it read then */
} late = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

ssize_t faked_pread(int fd, void *buf, size_t size, off64_t offset)
{
	bool held = false;
	ssize_t n;

	pthread_mutex_lock(&late.lock);
	for (; late.hold; held = true)
		pthread_cond_wait(&late.changed, &late.lock);
	n = pread_really(fd, buf, size, offset);
	if (held) {
		memcpy(late.text, buf, n < 0 ? 0 : n < 8 ? (size_t)n : 7);
		late.done = true;
		pthread_cond_broadcast(&late.changed);
	}
	pthread_mutex_unlock(&late.lock);
	return n;
}

static void put(const char *path, const char *text, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), len);
	close(fd);
}

static int make_tree(void **state)
{
	(void)state;
	if (!mkdtemp(dir) || chdir(dir) < 0)
		return -1;
	mkdir("inside", 0755);
	mkdir("inside/sys", 0755);
	mkdir("inside/sys/real", 0755);
	put("inside/sys/real/value", "42\n", 3);
	put("inside/sys/real/two", "a\0b\0", 4);
	put("inside/sys/real/empty", "", 0);
	put("inside/sys/real/word", "off\n", 4);
	put("secret", "secret\n", 7);
	if (symlink("real", "inside/sys/relative") || symlink("/sys/real", "inside/sys/absolute") ||
	    symlink("../../secret", "inside/climbs") || symlink("/../../../../secret", "inside/climbs2") ||
	    symlink("loop2", "inside/loop1") || symlink("loop1", "inside/loop2") ||
	    symlink("/sys/real/value", "inside/to-file"))
		return -1;
	for (int i = 1; i <= 11; i++) {
		char name[64];
		snprintf(name, sizeof name, "inside/sys/hwmon%d", i);
		mkdir(name, 0755);
	}
	return 0;
}

static int remove_tree(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof command, "rm -rf %s", dir);
	return chdir("/") || system(command);
}

static struct root *inside(void)
{
	char path[64];
	struct err e;

	snprintf(path, sizeof path, "%s/inside///", dir);
	struct root *r = root_open(path, &e);
	assert_non_null(r);
	return r;
}

static void stays_inside(void **state)
{
	struct root *r = inside();
	char buf[16];
	long long v;

	(void)state;
	assert_false(root_is_live(r));
	assert_int_equal(root_read_i64(r, "/sys/real/value", &v), 0);
	assert_int_equal(v, 42);
	assert_int_equal(root_read_i64(r, "/sys/relative/value", &v), 0);
	assert_int_equal(root_read_i64(r, "/sys/absolute/value", &v), 0);
	assert_int_equal(root_read_i64(r, "/to-file", &v), 0);
	assert_int_equal(root_read_i64(r, "/sys/../../../sys/./real//value", &v), 0);
	assert_int_equal(root_read(r, "/climbs", buf, sizeof buf), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(root_read(r, "/climbs2", buf, sizeof buf), -1);
	assert_int_equal(root_read(r, "/../secret", buf, sizeof buf), -1);
	assert_int_equal(root_read(r, "/loop1", buf, sizeof buf), -1);
	assert_int_equal(errno, ELOOP);
	root_close(r);
}

static void reads(void **state)
{
	struct root *r = inside();
	char buf[16];
	long long v;

	(void)state;
	assert_int_equal(root_read(r, "/sys/real/two", buf, sizeof buf), 4);
	assert_memory_equal(buf, "a\0b\0", 5);
	assert_int_equal(root_read(r, "/sys/real/empty", buf, sizeof buf), 0);
	assert_string_equal(buf, "");
	assert_int_equal(root_read(r, "/sys/real/value", buf, 2), 1);
	assert_string_equal(buf, "4");
	assert_int_equal(root_read_i64(r, "/sys/real/word", &v), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(root_read_i64(r, "/sys/real", &v), -1);
	assert_int_equal(errno, EISDIR);
	assert_int_equal(root_read_i64(r, "/sys/none/value", &v), -1);
	assert_int_equal(errno, ENOENT);
	root_close(r);
}

static void lists_in_natural_order(void **state)
{
	struct root *r = inside();
	char **names;
	size_t n;

	(void)state;
	assert_int_equal(root_list(r, "/sys", &names, &n), 0);
	assert_int_equal(n, 14);
	assert_string_equal(names[0], "absolute");
	assert_string_equal(names[2], "hwmon2");
	assert_string_equal(names[11], "hwmon11");
	free(names);
	assert_int_equal(root_list(r, "/sys/real/value", &names, &n), -1);
	assert_int_equal(errno, ENOTDIR);
	root_close(r);
}

static void says_what_is_wrong(void **state)
{
	struct err e;

	(void)state;
	assert_null(root_open("/no/such/folder", &e));
	assert_int_equal(e.code, ERR_FAILED);
	assert_non_null(strstr(e.text, "/no/such/folder"));
	assert_null(root_open("", &e));
	struct root *live = root_open("/", &e);
	assert_true(root_is_live(live));
	assert_string_equal(root_dir(live), "/");
	root_close(live);
	root_close(NULL);
}

/* A read abandoned before it began must not use a file opened since then under the same number. */
static void gives_up_without_harm(void **state)
{
	char buf[8] = "";
	int fd = open("inside/sys/real/value", O_RDONLY), other;

	(void)state;
	assert_true(fd >= 0);
	root_give_up(true);
	assert_int_equal(root_read_at(fd, buf, 3, 0), 3);
	assert_string_equal(buf, "42\n");
	late.hold = true;
	assert_int_equal(root_read_at(fd, buf, 3, 0), -1);
	assert_int_equal(errno, ETIME);
	assert_int_equal(root_given_up(), 1);
	close(fd);
	other = open("secret", O_RDONLY);
	assert_int_equal(other, fd);
	pthread_mutex_lock(&late.lock);
	late.hold = false;
	pthread_cond_broadcast(&late.changed);
	while (!late.done)
		pthread_cond_wait(&late.changed, &late.lock);
	assert_string_equal(late.text, "42\n");
	pthread_mutex_unlock(&late.lock);
	assert_int_equal(root_read_at(other, buf, 6, 0), 6); /* by another thread */
	assert_memory_equal(buf, "secret", 6);
	root_give_up(false);
	close(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(stays_inside), cmocka_unit_test(reads),
					   cmocka_unit_test(lists_in_natural_order),
					   cmocka_unit_test(says_what_is_wrong),
					   cmocka_unit_test(gives_up_without_harm)};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
