/* Probes that are read by other threads: rows must be what they are without, no
 * column may be left out, and what hangs keeps its bundle alone. */
#include <dirent.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "fake-rig.h"
#include "nvmtop/board.h"
#include "nvmtop/clock.h"
#include "test-probe-tree.h"

static const double rates[TIERS] = {1000, 100, 10};

static void bundle(struct rig *r)
{
	struct err e;

	assert_int_equal(rig_bundle(r, rates, &e), 0);
}

static struct fake *add(struct rig *r, enum tier tier, int64_t period_ns, double value)
{
	struct fake *f = fake_add(r, tier, CHANNEL_OTHER, period_ns);

	f->probe.column = (uint16_t)f->column;
	f->probe.width = 1;
	f->value = value;
	return f;
}

/* One for each period of each tier, and no more than a slow source has room for. */
static void probes_of_a_period_are_together(void **state)
{
	struct rig *r = fake_rig();

	(void)state;
	add(r, TIER_FAST, 0, 0);
	fake_add(r, TIER_SLOW, CHANNEL_OTHER, 0); /* one that may not */
	for (int i = 0; i < 70; i++)
		add(r, TIER_SLOW, i % 7 ? 0 : 1000 * MS, i);
	add(r, TIER_SLOW, 100 * MS, 70); /* the tier's own */
	add(r, TIER_MEDIUM, 100 * MS, 0);
	assert_int_equal(r->n_probes, 74);
	bundle(r);
	assert_int_equal(r->n_probes, 2 + 1 + 1 + 1); /* 10 each second, 61 at each tick, 1 of another tier */
	for (size_t i = 2; i < r->n_probes; i++)
		assert_non_null(r->probes[i]->start);
	rig_free(r);
}

static void more_than_a_source_holds_is_two(void **state)
{
	struct rig *r = fake_rig();
	double row[130];

	(void)state;
	for (int i = 0; i < 130; i++) {
		add(r, TIER_SLOW, 0, i);
		row[i] = NAN;
	}
	bundle(r);
	assert_int_equal(r->n_probes, 3);
	for (size_t i = 0; i < r->n_probes; i++)
		r->probes[i]->ops->read(r->probes[i], MS, row);
	for (int i = 0; i < 130; i++)
		assert_true(row[i] == i);
	rig_free(r);
}

static struct rig *resolve(const char *path)
{
	struct root *root = root_open(path, NULL);
	char why[256];
	struct err e;

	assert_non_null(root);
	struct board *b = board_detect(root, why, sizeof why, &e);
	assert_non_null(b);
	struct rig *r = board_resolve(b, root, rates, why, &e);
	assert_non_null(r);
	board_free(b);
	root_close(root); /* the rig has it, too */
	return r;
}

static void read_all(struct rig *r, int64_t t_ns, double row[TIERS][1024])
{
	for (int derived = 0; derived <= 1; derived++)
		for (size_t i = 0; i < r->n_probes; i++)
			if (r->probes[i]->derived == derived)
				r->probes[i]->ops->read(r->probes[i], t_ns, row[r->probes[i]->tier]);
}

static void rows_are_the_same(const char *path)
{
	static double plain[TIERS][1024], bundled[TIERS][1024];
	struct rig *a = resolve(path), *b = resolve(path);
	size_t before = b->n_probes;

	bundle(b);
	print_message("# %s: %zu probes, %zu with bundles\n", strrchr(path, '/') + 1, before, b->n_probes);
	assert_true(b->n_probes < before);
	for (size_t t = 0; t < TIERS; t++)
		for (size_t i = 0; i < 1024; i++)
			plain[t][i] = bundled[t][i] = NAN;
	for (int i = 1; i <= 3; i++) {
		read_all(a, i * 1000 * MS, plain);
		read_all(b, i * 1000 * MS, bundled);
	}
	for (size_t i = 0; i < a->n_channels; i++) {
		const struct channel *c = &a->channels[i];
		double x = plain[c->tier][c->column], y = bundled[c->tier][c->column];
		if (c->tier != TIER_FAST && !(x == y || (isnan(x) && isnan(y))))
			fail_msg("%s: %s is %g, and %g with bundles", path, c->name, x, y);
	}
	rig_free(a);
	rig_free(b);
}

static void of_every_fake_board(void **state)
{
	char roots[512], path[1024];
	struct dirent *d;
	int n = 0;

	(void)state;
	if (!getenv("NVMTOP_SRC"))
		skip();
	snprintf(roots, sizeof roots, "%s/tests/roots", getenv("NVMTOP_SRC"));
	DIR *dir = opendir(roots);
	assert_non_null(dir);
	while ((d = readdir(dir))) {
		snprintf(path, sizeof path, "%s/%s/proc", roots, d->d_name);
		if (d->d_name[0] == '.' || access(path, F_OK) != 0)
			continue;
		*strrchr(path, '/') = '\0';
		rows_are_the_same(path);
		n++;
	}
	closedir(dir);
	assert_true(n > 5);
}

static sem_t entered, leave;
static atomic_bool shut;

static void hang(struct fake *f)
{
	(void)f;
	if (!atomic_load(&shut))
		return;
	sem_post(&entered);
	while (sem_wait(&leave))
		continue;
}

/* A tick of the clock that is, until the column has a value or has none. */
static void until(struct rig *r, double *row, size_t column, bool there)
{
	while (isnan(row[column]) == there) {
		usleep(1000);
		for (size_t i = 0; i < r->n_probes; i++)
			r->probes[i]->ops->read(r->probes[i], clock_now_ns(), row);
	}
}

/* It is missing, not held for ever; its neighbours of another period are there; and
 * it may come back after everything else is gone. */
static void what_hangs_is_alone(void **state)
{
	unsigned left_behind = probes_left_behind();
	struct rig *r = fake_rig();
	double row[2] = {NAN, NAN};

	(void)state;
	sem_init(&entered, 0, 0);
	sem_init(&leave, 0, 0);
	add(r, TIER_MEDIUM, 0, 1)->hook = hang;
	add(r, TIER_MEDIUM, 20 * MS, 2);
	bundle(r);
	rig_start(r, clock_now_ns() + 60 * NS_PER_S);
	until(r, row, 0, true);
	until(r, row, 1, true);
	assert_null(rig_hanging(r, clock_now_ns()));
	atomic_store(&shut, true);
	while (sem_wait(&entered))
		continue;
	until(r, row, 0, false);
	assert_true(row[1] == 2);
	while (!rig_hanging(r, clock_now_ns()))
		usleep(1000);
	assert_string_equal(rig_hanging(r, clock_now_ns())->name, "fake0");
	rig_free(r);
	/* On a busy machine the other one may not have ended in time, too. */
	assert_in_range(probes_left_behind(), left_behind + 1, left_behind + 2);
	sem_post(&leave);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(probes_of_a_period_are_together),
		cmocka_unit_test(more_than_a_source_holds_is_two),
		cmocka_unit_test(of_every_fake_board),
		cmocka_unit_test(what_hangs_is_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
