/* Probes read by other threads: rows are the same as without, no column is lost, and a hanging probe
 * blocks neither others nor the rows. */
#include <dirent.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "fake-probes.h"
#include "board/board.h"
#include "probe/async-reader.h"
#include "util/clock.h"
#include "test-probe-tree.h"

static const double rates[TIERS] = {1000, 100, 10};

static void guard(struct probe_set *r)
{
	struct err e;

	assert_int_equal(probe_set_guard(r, rates, &e), 0);
}

static struct fake *add(struct probe_set *r, enum tier tier, int64_t period_ns, double value)
{
	struct fake *f = fake_add(r, tier, CHANNEL_OTHER, period_ns);

	f->probe.column = (uint16_t)f->column;
	f->probe.width = 1;
	f->value = value;
	return f;
}

static void each_that_may_be_is_guarded(void **state)
{
	struct probe_set *r = fake_probes();
	double row[131];

	(void)state;
	fake_add(r, TIER_SLOW, CHANNEL_OTHER, 0); /* one that may not */
	add(r, TIER_SLOW, 0, 0)->probe.width = SLOW_VALUES + 1;
	for (int i = 2; i < 131; i++)
		add(r, TIER_SLOW, i % 7 ? 0 : 1000 * MS, i);
	add(r, TIER_FAST, 0, 7);
	guard(r);
	assert_int_equal(r->n_probes, 132);
	for (size_t i = 0; i < 132; i++)
		assert_true(!r->probes[i]->reader == (i < 2));
	for (int i = 0; i < 131; i++)
		row[i] = NAN;
	for (size_t i = 2; i < 131; i++)
		probe_read(r->probes[i], MS, row);
	for (int i = 2; i < 131; i++)
		assert_true(row[i] == i);
	probe_read(r->probes[131], MS, row);
	assert_true(row[0] == 7);
	probe_set_free(r);
}

static struct probe_set *resolve(const char *path)
{
	struct root *root = root_open(path, NULL);
	char why[256];
	struct err e;

	assert_non_null(root);
	struct board *b = board_detect(root, why, sizeof why, &e);
	assert_non_null(b);
	struct probe_set *r = board_resolve(b, root, rates, why, &e);
	assert_non_null(r);
	board_free(b);
	root_close(root); /* the probe set keeps a reference */
	return r;
}

static void read_all(struct probe_set *r, int64_t t_ns, double row[TIERS][1024])
{
	for (int derived = 0; derived <= 1; derived++)
		for (size_t i = 0; i < r->n_probes; i++)
			if (r->probes[i]->derived == derived)
				probe_read(r->probes[i], t_ns, row[r->probes[i]->tier]);
}

static void rows_are_the_same(const char *path)
{
	static double plain[TIERS][1024], taken[TIERS][1024];
	struct probe_set *a = resolve(path), *b = resolve(path);
	size_t guarded = 0;

	guard(b);
	for (size_t i = 0; i < b->n_probes; i++)
		guarded += b->probes[i]->own != NULL;
	print_message("# %s: %zu probes, %zu of them guarded\n", strrchr(path, '/') + 1, b->n_probes,
		      guarded);
	assert_true(guarded > 0);
	for (size_t t = 0; t < TIERS; t++)
		for (size_t i = 0; i < 1024; i++)
			plain[t][i] = taken[t][i] = NAN;
	for (int i = 1; i <= 3; i++) {
		read_all(a, i * 1000 * MS, plain);
		read_all(b, i * 1000 * MS, taken);
	}
	for (size_t i = 0; i < a->n_channels; i++) {
		const struct channel *c = &a->channels[i];
		double x = plain[c->tier][c->column], y = taken[c->tier][c->column];
		if (c->tier != TIER_FAST && !(x == y || (isnan(x) && isnan(y))))
			fail_msg("%s: %s is %g, and %g when it is taken", path, c->name, x, y);
	}
	probe_set_free(a);
	probe_set_free(b);
}

static void of_every_fake_board(void **state)
{
	const char *roots = getenv("NVMTOP_ROOTS");
	char path[1024];
	struct dirent *d;
	int n = 0;

	(void)state;
	if (!roots) {
		print_message(
			"# skipped: NVMTOP_ROOTS is to say where the fake boards are, as in make check\n");
		skip();
	}
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
static atomic_int inside;

static void hang(struct fake *f)
{
	(void)f;
	if (!atomic_load(&shut))
		return;
	atomic_fetch_add(&inside, 1);
	sem_post(&entered);
	while (sem_wait(&leave))
		continue;
	atomic_fetch_sub(&inside, 1);
}

/* Tick at real time until the column has a value, or has none. */
static void until(struct probe_set *r, double *row, size_t column, bool there)
{
	while (isnan(row[column]) == there) {
		int64_t look_ns = INT64_MAX;

		usleep(1000);
		assert_false(probe_set_rescue(r, clock_now_ns(), &look_ns));
		for (size_t i = 0; i < r->n_probes; i++)
			probe_read(r->probes[i], clock_now_ns(), row);
	}
}

/* Its value becomes missing instead of staying constant, others continue, and it may return after
 * everything else is gone. */
static void what_hangs_is_alone(void **state)
{
	unsigned left_behind = probes_left_behind();
	struct probe_set *r = fake_probes();
	double row[2] = {NAN, NAN};
	int64_t since;

	(void)state;
	sem_init(&entered, 0, 0);
	sem_init(&leave, 0, 0);
	add(r, TIER_MEDIUM, 0, 1)->hook = hang;
	add(r, TIER_MEDIUM, 20 * MS, 2);
	guard(r);
	probe_set_start(r, clock_now_ns() + 60 * NS_PER_S);
	until(r, row, 0, true);
	until(r, row, 1, true);
	assert_null(probe_set_hanging(r, clock_now_ns(), 0, &since));
	atomic_store(&shut, true);
	while (sem_wait(&entered))
		continue;
	until(r, row, 0, false);
	until(r, row, 1, true); /* on a busy machine one of its readings may be late */
	assert_true(row[1] == 2);
	while (!probe_set_hanging(r, clock_now_ns(), 0, &since))
		usleep(1000);
	assert_string_equal(probe_set_hanging(r, clock_now_ns(), 0, &since)->name, "fake0");
	probe_set_free(r);
	/* On a busy machine the other one may not have ended yet. */
	assert_in_range(probes_left_behind(), left_behind + 1, left_behind + 2);
	sem_post(&leave);
	while (atomic_load(&inside)) /* or the next to hang would leave in its place */
		usleep(1000);
}

/* A thread that makes rows; a fast probe is read by itself. */
struct rows {
	struct probe_set *probes;
	_Atomic double value;
	atomic_bool stop;
};

static void *make_rows(void *arg)
{
	struct rows *w = arg;
	double row = NAN;

	while (!probes_left_me() && !atomic_load(&w->stop)) {
		probe_read(w->probes->probes[0], clock_now_ns(), &row);
		if (!probes_left_me())
			atomic_store(&w->value, row);
		usleep(1000);
	}
	return NULL;
}

static void await_value(struct rows *w, bool there)
{
	while (isnan(atomic_load(&w->value)) == there)
		usleep(1000);
}

/* The probe keeps the thread, which reads only it from then on and makes no more rows. */
static void rows_are_rescued(void **state)
{
	struct rows w = {.probes = fake_probes(), .value = NAN};
	pthread_t first, second;
	int64_t look_ns = INT64_MAX, since;

	(void)state;
	atomic_store(&shut, false);
	add(w.probes, TIER_FAST, 0, 1)->hook = hang;
	guard(w.probes);
	probe_set_start(w.probes, 0);
	assert_int_equal(pthread_create(&first, NULL, make_rows, &w), 0);
	await_value(&w, true);
	atomic_store(&shut, true);
	while (sem_wait(&entered))
		continue;
	assert_false(probe_set_rescue(w.probes, clock_now_ns(), &look_ns));
	while (!probe_set_rescue(w.probes, clock_now_ns(), &look_ns))
		usleep(1000);
	assert_non_null(probe_set_hanging(w.probes, clock_now_ns(), 0, &since));
	assert_false(probe_set_rescue(w.probes, clock_now_ns() + NS_PER_S, &look_ns));
	assert_int_equal(pthread_create(&second, NULL, make_rows, &w), 0);
	await_value(&w, false);
	atomic_store(&shut, false);
	sem_post(&leave);
	await_value(&w, true);
	assert_null(probe_set_hanging(w.probes, clock_now_ns(), 0, &since));
	atomic_store(&w.stop, true);
	pthread_join(second, NULL);
	probe_set_free(w.probes);
	pthread_join(first, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_that_may_be_is_guarded),
		cmocka_unit_test(of_every_fake_board),
		cmocka_unit_test(what_hangs_is_alone),
		cmocka_unit_test(rows_are_rescued),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
