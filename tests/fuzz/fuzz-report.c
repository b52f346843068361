/* Arbitrary bytes as a trace: checked, reported, exported. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/report.h"
#include "trace/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void found(void *to, const char *text)
{
	(void)to;
	(void)text;
}

/* way: a number that chooses. */
static void numbers_of(struct trace *t, FILE *nowhere, uint32_t way)
{
	const struct selection all = {.tier = -1};
	const struct selection some = {.tier = -1, .has_from = true, .from_ns = 20000000, .has_to = true, .to_ns = 90000000};
	struct trace *pair[] = {t, t};
	struct err e;

	for (int format = REPORT_TABLE; format <= REPORT_MARKDOWN; format++)
		report_write(pair, 1 + (size_t)format % 2, format % 2 ? &some : &all, 3,
			     (enum report_part)((format + way) % 3), (enum report_format)format, nowhere, NULL, &e);
	report_write(pair, 2, &all, 0, REPORT_PHASES, REPORT_JSON, nowhere, NULL, &e);
	/* These take much memory: one form for each input. */
	if (trace_lanes(trace_timeline(t), NULL, 0) > 0)
		report_ranges(pair, 1 + way % 2, way & 2 ? &some : &all, (enum report_by)(REPORT_BY_RANGE + way % 3),
			      (enum report_format)(way / 4 % 4), nowhere, NULL, &e);
	for (int form = EXPORT_csv; form <= EXPORT_perfetto; form++) {
		export_write(t, &all, (enum export_form)form, 0, false, nowhere, NULL, &e);
		export_write(t, &some, (enum export_form)form, 50, false, nowhere, NULL, &e);
	}
}

static void cut_of(struct trace *t)
{
	const struct selection some = {.tier = -1, .has_from = true, .from_ns = 20000000, .has_to = true, .to_ns = 900000000};
	const char *folder = getenv("TMPDIR");
	char path[4096];
	struct err e;

	snprintf(path, sizeof(path), "%s/nvmtop-fuzz-%ld.nvmt", folder ? folder : "/tmp", (long)getpid());
	trace_cut(t, &some, path, true, NULL, &e);
	unlink(path);
}

/* True if rows are far apart, up to a year: that would be too many output rows. */
static bool is_long(const struct trace *t)
{
	int64_t first, last;

	return trace_extent(t, &first, &last) && last - first > 100 * NS_PER_S;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static int memory = -1;
	static FILE *nowhere;
	struct checked checked;
	struct trace *t;
	struct err e;
	char path[64];

	if (memory < 0)
		memory = memfd_create("trace", MFD_CLOEXEC);
	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	if (!nowhere || ftruncate(memory, 0) < 0 || pwrite(memory, bytes, n, 0) != (ssize_t)n)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", memory);
	trace_check(path, found, NULL, NULL, NULL, &checked, &e);
	t = trace_open(path, &e);
	if (t && !is_long(t))
		numbers_of(t, nowhere, log_crc(bytes, n));
	if (t && log_crc(bytes, n) % 4 == 0)
		cut_of(t);
	trace_close(t);
	return 0;
}
