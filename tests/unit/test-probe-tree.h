/* tree: a fake root in a temporary directory, and a probe set that reads from it with a clock controlled
 * by the test. */
#ifndef TEST_PROBE_TREE_H
#define TEST_PROBE_TREE_H

#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "board/board.h"
#include "model/missing.h"

#define MS INT64_C(1000000)

struct tree {
	char dir[64];
	struct root *root;
	struct probe_set *probes;
	int64_t t_ns;
	double row[TIERS][1024];
};

static inline void tree_begin(struct tree *t)
{
	memset(t, 0, sizeof *t);
	/* In memory where there is such a folder: most of the time would be the file system's. */
	snprintf(t->dir, sizeof t->dir, "%s/nvmtop-test-XXXXXX", access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp");
	assert_non_null(mkdtemp(t->dir));
	t->root = root_open(t->dir, NULL);
	assert_non_null(t->root);
	t->t_ns = 1000 * MS;
}

static inline int tree_unlink(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static inline void tree_end(struct tree *t)
{
	probe_set_free(t->probes);
	root_close(t->root);
	nftw(t->dir, tree_unlink, 16, FTW_DEPTH | FTW_PHYS);
}

/* Make the directories of a path in the tree; full path in out. */
static inline void tree_path(const struct tree *t, const char *path, char out[256])
{
	snprintf(out, 256, "%s%s", t->dir, path);
	for (char *p = out + strlen(t->dir) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(out, 0777);
		*p = '/';
	}
}

static inline void tree_bytes(const struct tree *t, const char *path, const char *text, size_t len)
{
	char full[256];

	tree_path(t, path, full);
	int fd = open(full, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), (ssize_t)len);
	close(fd);
}

/* Write a file in place: open descriptors read the new text. */
static inline void tree_file(const struct tree *t, const char *path, const char *text)
{
	tree_bytes(t, path, text, strlen(text));
}

/* A file that can be opened but not read, as of a powered-down unit. */
static inline void tree_unreadable(const struct tree *t, const char *path)
{
	char full[256];

	tree_path(t, path, full);
	unlink(full);
	assert_int_equal(mkdir(full, 0777), 0);
}

static inline void tree_link(const struct tree *t, const char *path, const char *to)
{
	char full[256];

	tree_path(t, path, full);
	assert_int_equal(symlink(to, full), 0);
}

/* A file of a hwmon chip. */
static inline void tree_hwmon(const struct tree *t, int n, const char *file, const char *text)
{
	char path[128];

	snprintf(path, sizeof path, "/sys/class/hwmon/hwmon%d/%s", n, file);
	tree_file(t, path, text);
}

/* An INA3221 with one rail. */
static inline void tree_rail(const struct tree *t, int n, int rail, const char *label, const char *mv,
			     const char *ma)
{
	char file[32];

	tree_hwmon(t, n, "name", "ina3221\n");
	snprintf(file, sizeof file, "in%d_label", rail);
	tree_hwmon(t, n, file, label);
	snprintf(file, sizeof file, "in%d_input", rail);
	tree_hwmon(t, n, file, mv);
	snprintf(file, sizeof file, "curr%d_input", rail);
	tree_hwmon(t, n, file, ma);
}

/* temp NULL: unreadable. */
static inline void tree_zone(const struct tree *t, int n, const char *type, const char *temp)
{
	char path[128];

	snprintf(path, sizeof path, "/sys/class/thermal/thermal_zone%d/type", n);
	tree_file(t, path, type);
	snprintf(path, sizeof path, "/sys/class/thermal/thermal_zone%d/temp", n);
	if (temp)
		tree_file(t, path, temp);
	else
		tree_unreadable(t, path);
}

/* Resolve a board with these statements; NULL with an error. */
static inline struct probe_set *tree_try(struct tree *t, const char *statements, struct err *e)
{
	static const double hz[TIERS] = {1000, 100, 10};
	char text[4096];

	snprintf(text, sizeof text, "board b\ntitle B\n%s\n", statements);
	struct board *b = board_parse_text("b.board", text, strlen(text), e);
	if (!b)
		return NULL;
	t->probes = board_resolve(b, t->root, hz, "because", e);
	board_free(b);
	for (int tier = 0; tier < TIERS; tier++)
		for (int i = 0; i < 1024; i++)
			t->row[tier][i] = NAN;
	return t->probes;
}

static inline void tree_resolve(struct tree *t, const char *statements)
{
	struct err e = {.code = ERR_NONE};

	if (!tree_try(t, statements, &e))
		fail_msg("%s", e.text);
}

/* One tick: read all probes, derived ones last. */
static inline void tree_tick(struct tree *t, int64_t step_ns)
{
	t->t_ns += step_ns;
	for (int derived = 0; derived < 2; derived++)
		for (size_t i = 0; i < t->probes->n_probes; i++) {
			struct probe *p = t->probes->probes[i];
			if (p->derived == derived)
				probe_read(p, t->t_ns, t->row[p->tier]);
		}
}

static inline const struct channel *tree_channel(const struct tree *t, const char *name)
{
	const struct channel *c = probe_set_find(t->probes, name);

	if (!c)
		fail_msg("no channel %s", name);
	return c;
}

static inline double tree_value(const struct tree *t, const char *name)
{
	const struct channel *c = tree_channel(t, name);

	return t->row[c->tier][c->column];
}

#define assert_value(t, name, want)                                                                          \
	do {                                                                                                 \
		double got_ = tree_value(t, name), want_ = (want);                                           \
		if (fabs(got_ - want_) > 1e-6 * (1 + fabs(want_)) || isnan(got_))                            \
			fail_msg("%s is %.9g, not %.9g", name, got_, want_);                                 \
	} while (0)

#define assert_missing(t, name)                                                                              \
	do {                                                                                                 \
		if (!isnan(tree_value(t, name)))                                                             \
			fail_msg("%s is %g, not missing", name, tree_value(t, name));                        \
	} while (0)

#define assert_reason(t, name, want)                                                                         \
	do {                                                                                                 \
		char why_[MISSING_REASON];                                                                   \
		missing_reason(why_, tree_value(t, name), tree_channel(t, name), (t)->probes->channels,      \
			       (t)->probes->n_channels);                                                     \
		assert_missing(t, name);                                                                     \
		assert_string_equal(why_, want);                                                             \
	} while (0)

#endif
