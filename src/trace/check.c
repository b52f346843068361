/* The reader takes what it can get; this is the other half: whoever writes
 * traces learns what is not as the format wants it, in the order of the file.
 * It shares no assumption with the reader but the names of the bytes, and the folds that
 * make stored columns. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/intl.h"
#include "trace/audit.h"
#include "trace/check.h"

#define SYNC_KINDS 3
#define RELEASE    262144 /* rows */

void check_say(struct check *c, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	c->out->wrong++;
	c->found(c->to, text);
}

void kind_note(struct kind *k, size_t at, uint64_t row, const char *fmt, ...)
{
	va_list ap;

	if (k->n++ > 0)
		return;
	k->at = at;
	k->row = row;
	va_start(ap, fmt);
	vsnprintf(k->text, sizeof(k->text), fmt, ap);
	va_end(ap);
}

void kind_say(struct check *c, const char *section, const struct kind *k)
{
	if (k->n == 1)
		check_say(c, _("%s, offset %zu, row %llu: %s"), section, k->at, (unsigned long long)k->row,
			  k->text);
	else if (k->n > 1)
		check_say(c, _("%s, offset %zu, row %llu: %s; and %llu more like it"), section, k->at,
			  (unsigned long long)k->row, k->text, (unsigned long long)(k->n - 1));
}

static void check_name(struct check *c, size_t at, size_t field, const char *what, unsigned slot, bool used)
{
	const char *name = (const char *)c->map + at;
	size_t n = strnlen(name, field);
	char shown[NAME_SIZE * 2];

	if (n == field)
		check_say(c, _("header, offset %zu: %s %u is not terminated"), at, what, slot);
	text_printable(shown, sizeof(shown), name, n);
	if (strlen(shown) != n || memcmp(shown, name, n) != 0)
		check_say(c, _("header, offset %zu: %s %u is not printable UTF-8"), at, what, slot);
	if (used && n == 0)
		check_say(c, _("header, offset %zu: %s %u is empty"), at, what, slot);
	if (!used && n > 0)
		check_say(c, _("header, offset %zu: %s %u is not used and not empty"), at, what, slot);
}

static unsigned check_count(struct check *c, size_t at, const char *what, unsigned most)
{
	if (c->map[at] <= most)
		return c->map[at];
	check_say(c, _("header, offset %zu: %u %s, at most %u can be"), at, c->map[at], what, most);
	return most;
}

static void check_header(struct check *c)
{
	unsigned rails, zones;

	check_name(c, H_BOARD, H_CORES - H_BOARD, "board name", 0, true);
	check_count(c, H_CORES, "cores", MAX_CORES);
	rails = check_count(c, H_RAILS, "rails", MAX_RAILS);
	zones = check_count(c, H_ZONES, "zones", MAX_ZONES);
	if (c->map[H_EMC] > 1)
		check_say(c, _("header, offset %d: EMC is %u, not 0 or 1"), H_EMC, c->map[H_EMC]);
	for (int t = 0; t < TIERS; t++)
		if (get_u32(c->map + H_HZ + 4 * t) == 0)
			check_say(c, _("header, offset %d: the rate of the %s tier is 0"), H_HZ + 4 * t,
				  tier_name((enum tier)t));
	for (unsigned i = 0; i < MAX_RAILS; i++)
		check_name(c, H_RAIL_NAMES + (size_t)i * NAME_SIZE, NAME_SIZE, "rail name", i, i < rails);
	for (unsigned i = 0; i < MAX_ZONES; i++)
		check_name(c, H_ZONE_NAMES + (size_t)i * NAME_SIZE, NAME_SIZE, "zone name", i, i < zones);
	for (size_t i = H_RESERVED; i < HEADER_SIZE; i++)
		if (c->map[i]) {
			check_say(c, _("header, offset %zu: a reserved byte is not 0"), i);
			break;
		}
}

/* Where they are, as far as the file goes.  Returns where they end. */
static size_t check_sizes(struct check *c)
{
	static const size_t sizes[4] = {FAST_SIZE, MEDIUM_SIZE, SLOW_SIZE, SYNC_SIZE};
	static const char *const names[4] = {"fast", "medium", "slow", "sync points"};
	size_t at = HEADER_SIZE;

	c->whole = true;
	for (int i = 0; i < 4; i++) {
		uint64_t count = get_u64(c->map + H_COUNTS + 8 * i), fit = (c->size - at) / sizes[i];

		if (!c->whole)
			fit = 0;
		if (count > fit && c->whole) {
			check_say(
				c,
				_("%s, offset %zu: the header says %llu rows and the file has room for %llu"),
				names[i], at, (unsigned long long)count, (unsigned long long)fit);
			c->whole = false;
		}
		if (i < TIERS) {
			c->at[i] = at;
			c->rows[i] = count < fit ? count : fit;
		} else {
			c->sync_at = at;
			c->n_sync = count < fit ? count : fit;
		}
		at += (size_t)(count < fit ? count : fit) * sizes[i];
	}
	return at;
}

/* What can be wrong in a row. */
struct faults {
	struct kind time, order, first, second, third, fourth, unused;
};

static void check_time(struct faults *f, const uint8_t *row, size_t at, uint64_t i, double *before)
{
	double s = get_f64(row);
	int64_t ns;

	if (!row_time(row, &ns))
		kind_note(&f->time, at, i, _("the time is %g s"), s);
	else if (s < *before)
		kind_note(&f->order, at, i, _("the time is %.9f s, before that of the row before it, %.9f s"),
			  s, *before);
	if (s == s)
		*before = s;
}

static bool bad_percent(float v)
{
	return !(v >= 0 && v <= 100.01F) && v == v; /* NaN is "missing" */
}

static bool zero(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i])
			return false;
	return true;
}

static void check_fast_row(const struct check *c, struct faults *f, const uint8_t *r, size_t at, uint64_t i)
{
	unsigned cores = c->map[H_CORES] < MAX_CORES ? c->map[H_CORES] : MAX_CORES;
	float emc = get_f32(r + F_EMC);

	if (get_u16(r + F_GPU) > 1000)
		kind_note(&f->first, at + F_GPU, i, _("the GPU load is %u tenths of a percent"),
			  get_u16(r + F_GPU));
	for (unsigned k = 0; k <= cores; k++) {
		size_t where = k < cores ? F_CORES + 4 * k : F_CPU;
		float v = get_f32(r + where);

		if (bad_percent(v))
			kind_note(&f->second, at + where, i,
				  k < cores ? _("core %u has %g %%") : _("all %u cores have %g %%"), k,
				  (double)v);
	}
	if (c->map[H_EMC] ? emc != -1 && !(emc >= 0 && emc <= 1000) : emc != -1 && emc == emc)
		kind_note(&f->third, at + F_EMC, i, _("EMC is %g %%"), (double)emc);
	for (int k = 0; k < 2; k++) {
		size_t where = k ? F_RAM_AVAILABLE : F_RAM_USED;
		uint64_t kb = get_u64(r + where);

		if (kb > UINT64_C(1) << 40)
			kind_note(&f->fourth, at + where, i,
				  k ? _("%lld kB of memory are available") : _("%lld kB of memory are used"),
				  (long long)kb);
	}
	if (!zero(r + F_CORES + 4 * cores, 4 * (size_t)(MAX_CORES - cores)))
		kind_note(&f->unused, at + F_CORES + 4 * cores, i,
			  _("the slot of a core that is not there is not 0"));
}

static void check_medium_row(const struct check *c, struct faults *f, const uint8_t *r, size_t at, uint64_t i)
{
	unsigned rails = c->map[H_RAILS] < MAX_RAILS ? c->map[H_RAILS] : MAX_RAILS;

	for (unsigned k = 0; k < MAX_RAILS; k++) {
		uint32_t mv = get_u32(r + M_VOLTAGE + 4 * k), ma = get_u32(r + M_CURRENT + 4 * k);
		float mw = get_f32(r + M_POWER + 4 * k);
		/* A negative current is 0 or in two's complement. */
		double amp = ma > INT32_MAX ? (double)ma - 0x1p32 : (double)ma,
		       product = (double)mv * amp / 1000;

		if (k >= rails) {
			if (mv || ma || !zero(r + M_POWER + 4 * k, 4))
				kind_note(&f->unused, at + M_VOLTAGE + 4 * k, i,
					  _("the slot of a rail that is not there is not 0"));
			continue;
		}
		if (mw != mw || (ma == 0 && mw < 0))
			continue;
		if (!(fabs((double)mw - product) <= 0.5 + 1e-5 * fabs(product)))
			kind_note(&f->first, at + M_POWER + 4 * k, i,
				  _("rail %u has %u mV, %.0f mA and %g mW"), k, mv, amp, (double)mw);
	}
}

static void check_slow_row(const struct check *c, struct faults *f, const uint8_t *r, size_t at, uint64_t i)
{
	unsigned zones = c->map[H_ZONES] < MAX_ZONES ? c->map[H_ZONES] : MAX_ZONES;

	for (unsigned k = 0; k < MAX_ZONES; k++) {
		float v = get_f32(r + S_TEMPERATURE + 4 * k);

		if (k >= zones && !zero(r + S_TEMPERATURE + 4 * k, 4))
			kind_note(&f->unused, at + S_TEMPERATURE + 4 * k, i,
				  _("the slot of a zone that is not there is not 0"));
		else if (v == v && !(v > -273.2F && v < 1000))
			kind_note(&f->first, at + S_TEMPERATURE + 4 * k, i, _("zone %u has %g degrees"), k,
				  (double)v);
	}
}

static void check_section(struct check *c, enum tier tier)
{
	static void (*const rows[TIERS])(const struct check *, struct faults *, const uint8_t *, size_t,
					 uint64_t) = {check_fast_row, check_medium_row, check_slow_row};
	struct faults f = {0};
	const struct kind *all[] = {&f.time, &f.order, &f.first, &f.second, &f.third, &f.fourth, &f.unused};
	double before = 0;

	for (uint64_t i = 0; i < c->rows[tier]; i++) {
		size_t at = c->at[tier] + (size_t)i * row_size[tier];

		if (i % RELEASE == RELEASE - 1)
			map_release(&c->file);
		check_time(&f, c->map + at, at, i, &before);
		rows[tier](c, &f, c->map + at, at, i);
	}
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		kind_say(c, tier_name(tier), all[i]);
}

static void check_syncs(struct check *c)
{
	struct kind kinds[SYNC_KINDS] = {{0}};
	uint64_t before = 0, id_before = 0;

	for (uint64_t i = 0; i < c->n_sync; i++) {
		size_t at = c->sync_at + (size_t)i * SYNC_SIZE;
		uint64_t id = get_u64(c->map + at), row = get_u64(c->map + at + 8);

		if (id <= id_before)
			kind_note(&kinds[0], at, i, _("its id is %llu, and that of the one before it %llu"),
				  (unsigned long long)id, (unsigned long long)id_before);
		if (row < before)
			kind_note(&kinds[1], at + 8, i,
				  _("it begins at fast row %llu, before the one before it"),
				  (unsigned long long)row);
		if (row > c->rows[TIER_FAST])
			kind_note(&kinds[2], at + 8, i, _("it begins at fast row %llu of %llu"),
				  (unsigned long long)row, (unsigned long long)c->rows[TIER_FAST]);
		before = row;
		id_before = id;
	}
	for (int i = 0; i < SYNC_KINDS; i++)
		kind_say(c, "sync points", &kinds[i]);
}

static bool extension_follows(const struct check *c, size_t at)
{
	return c->size - at >= 4 && get_u32(c->map + at) == CHUNK_OPEN;
}

static void check_all(struct check *c)
{
	size_t end;

	check_header(c);
	end = check_sizes(c);
	if (get_u64(c->map + H_COUNTS) == 0 && end == HEADER_SIZE && c->size > end &&
	    !extension_follows(c, end))
		check_say(c,
			  _("header, offset %d: all counts are 0 and %zu bytes follow: a recording that was "
			    "not "
			    "ended; nvmtop --recover completes it"),
			  H_COUNTS, c->size - end);
	for (int t = 0; t < TIERS; t++)
		check_section(c, (enum tier)t);
	check_syncs(c);
	if (c->whole && extension_follows(c, end))
		check_extension(c, end);
	memcpy(c->out->rows, c->rows, sizeof(c->rows));
	c->out->marks = c->n_sync;
}

/* Rows against the gaps and against the stored columns, which takes the reader. */
static void check_opened(struct check *c, const char *path)
{
	struct err e;
	struct trace *t = trace_open(path, &e);
	struct audited a;

	for (size_t i = 0; t && i < t->n_leaps; i++) {
		const struct leap *l = &t->leap[i];

		if (leap_odd(t, l))
			check_say(c,
				  t->extended ? _("%s, row %llu: it comes %.3f s after the row before it, and no "
						  "gap is listed")
					      : _("%s, row %llu: it comes %.3f s after the row before it"),
				  tier_name(l->tier), (unsigned long long)l->row,
				  (double)(row_ns(t, l->tier, l->row) - row_ns(t, l->tier, l->row - 1)) / 1e9);
	}
	for (int i = 0; t && i < TIERS; i++) {
		if (t->shelf[i].levels == 0)
			continue;
		audit_tier(t, (enum tier)i, NULL, &a);
		if (a.failed)
			check_say(c, _("out of memory"));
		else if (a.wrong > 0)
			check_say(c,
				  P_("PYRM, offset %llu: column %lld of zoom %d of the %s tier is not that of its rows",
				     "PYRM, offset %llu: column %lld of zoom %d of the %s tier is not that of its "
				     "rows, the first of %llu that are not",
				     a.wrong),
				  (unsigned long long)a.at, (long long)a.column, a.zoom, tier_name((enum tier)i),
				  (unsigned long long)a.wrong);
	}
	trace_close(t);
}

static int map_file(struct check *c, const char *path, const char *shown, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return err_sys(e, ERR_FAILED, errno, _("cannot read %s"), shown);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return err_set(e, ERR_FAILED, _("%s is not a regular file: a trace must be one"), shown);
	}
	c->size = (size_t)st.st_size;
	if (c->size < 8 || map_open(&c->file, fd, c->size) < 0) {
		int num = errno;

		close(fd);
		if (c->size >= 8)
			return err_sys(e, ERR_FAILED, num, _("cannot read %s"), shown);
		return err_set(e, ERR_FAILED,
			       _("%s is not a trace: it does not begin with the magic number of NVMT"), shown);
	}
	c->map = c->file.bytes;
	if (get_u32(c->map) != NVMT_MAGIC) {
		map_close(&c->file);
		return err_set(e, ERR_FAILED,
			       _("%s is not a trace: it does not begin with the magic number of NVMT"), shown);
	}
	return 0;
}

int trace_check(const char *path, void (*found)(void *to, const char *text), void *to,
		struct trace_checked *out, struct err *e)
{
	struct check c = {.found = found, .to = to, .out = out, .start_ns = -1};
	char shown[1024];
	int r = 0;

	memset(out, 0, sizeof(*out));
	text_printable(shown, sizeof(shown), path, strlen(path));
	if (map_file(&c, path, shown, e) < 0)
		return -1;
	if (c.size < HEADER_SIZE)
		check_say(&c, _("header, offset %zu: the file ends, a header has %d bytes"), c.size,
			  HEADER_SIZE);
	else if (get_u32(c.map + H_VERSION) != NVMT_VERSION)
		r = err_set(e, ERR_FAILED, _("%s is a trace of version %u: this program knows version %d"),
			    shown, get_u32(c.map + H_VERSION), NVMT_VERSION);
	else
		check_all(&c);
	if (r == 0 && c.size >= HEADER_SIZE)
		check_opened(&c, path);
	if (map_torn(&c.file) < c.size)
		check_say(
			&c,
			_("offset %zu: the file became shorter, or could not be read, while it was checked"),
			map_torn(&c.file));
	map_close(&c.file);
	return r;
}
