/* What the kernel prints about processes.  The name of a process is its own
 * choice, blanks, brackets, line feeds and escapes among it: what stands behind
 * it is counted from its end. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/err.h"
#include "util/num.h"
#include "probe/processes.h"

#define FIELDS 22 /* behind the name: state is the first, rss the 22nd */

enum { /* index of a field behind the name */
       STAT_STATE = 0,
       STAT_PARENT = 1,
       STAT_FLAGS = 6,
       STAT_UTIME = 11,
       STAT_STIME = 12,
       STAT_THREADS = 17,
       STAT_START = 19,
       STAT_RSS = 21
};

#define PF_KTHREAD 0x00200000

/* Whole numbers behind the state, as many as are wanted. */
static bool fields(const char *p, const char *end, int64_t out[FIELDS])
{
	for (int i = 1; i < FIELDS; i++) {
		while (p < end && *p == ' ')
			p++;
		const char *next = num_i64(p, end, &out[i]);

		if (!next) {
			/* Some are larger than that, none of those that are wanted. */
			next = p;
			while (next < end && *next >= '0' && *next <= '9')
				next++;
			if (next == p)
				return false;
			out[i] = INT64_MAX;
		}
		p = next;
	}
	return true;
}

bool proc_stat_parse(const char *text, size_t len, struct proc *out, uint64_t *ticks)
{
	const char *end = text + len, *open = memchr(text, '(', len), *close = NULL;
	int64_t pid, f[FIELDS];
	char name[64];

	for (const char *p = text; p < end; p++)
		if (*p == ')')
			close = p;
	if (!open || !close || close < open || end - close < 4)
		return false;
	if (!num_i64(text, open, &pid) || pid <= 0 || pid > INT32_MAX || !fields(close + 3, end, f))
		return false;
	if (f[STAT_PARENT] < 0 || f[STAT_PARENT] > INT32_MAX || f[STAT_UTIME] < 0 || f[STAT_STIME] < 0 ||
	    f[STAT_START] < 0 || f[STAT_RSS] < 0)
		return false;
	text_printable(name, sizeof(name), open + 1, (size_t)(close - open - 1));
	*out = (struct proc) {.pid = (int)pid,
			      .parent = (int)f[STAT_PARENT],
			      .start = (uint64_t)f[STAT_START],
			      .state = close[2],
			      .cpu = NAN,
			      .gpu_kb = NAN,
			      .rss_kb = (double)f[STAT_RSS] * ((double)sysconf(_SC_PAGESIZE) / 1024),
			      .threads = (long)f[STAT_THREADS]};
	if (out->state < '!' || out->state > '~')
		out->state = '?';
	snprintf(out->name, sizeof(out->name), f[STAT_FLAGS] & PF_KTHREAD ? "[%.61s]" : "%s", name);
	*ticks = (uint64_t)f[STAT_UTIME] + (uint64_t)f[STAT_STIME];
	return true;
}

/* The last word before *end, which is moved to its beginning. */
static const char *last_word(const char *begin, const char **end, size_t *len)
{
	const char *p = *end;

	while (p > begin && (p[-1] == ' ' || p[-1] == '\t'))
		p--;
	const char *stop = p;
	while (p > begin && p[-1] != ' ' && p[-1] != '\t')
		p--;
	*end = p;
	*len = (size_t)(stop - p);
	return p;
}

bool proc_nvmap_parse(const char *line, size_t len, int *pid, double *kb)
{
	/* CLIENT PROCESS PID SIZE; PROCESS may hold blanks, SIZE ends in K. */
	const char *end = line + len;
	size_t n, m;
	const char *size = last_word(line, &end, &n), *number = last_word(line, &end, &m);
	int64_t v, p;

	if (n < 2 || size[n - 1] != 'K' || num_i64(size, size + n - 1, &v) != size + n - 1 || v < 0)
		return false;
	if (m == 0 || num_i64(number, number + m, &p) != number + m || p <= 0 || p > INT32_MAX)
		return false;
	*pid = (int)p;
	*kb = (double)v;
	return true;
}
