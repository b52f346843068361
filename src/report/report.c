/* Reads all traces before writing: column widths must be known first, and an error must not leave half a
 * document. */
#include <errno.h>
#include <stdlib.h>

#include "util/intl.h"
#include "util/text.h"
#include "report/analysis.h"

static void write_all(FILE *f, const struct analysis *list, size_t n, size_t n_first, enum report_part part,
		      enum report_format format)
{
	const struct page page = {f, format == REPORT_MARKDOWN, 0, terminal_width(fileno(f))};
	bool brief = part == REPORT_PHASES;

	if (format == REPORT_JSON) {
		write_json(f, list, n, n_first);
		return;
	}
	if (format == REPORT_CSV) {
		write_csv(f, list, n, n_first);
		return;
	}
	for (size_t i = 0; i < n && (brief || n == 1); i++) {
		write_head(&page, &list[i]);
		write_phases(&page, &list[i]);
	}
	if (part == REPORT_ALL && n == 1)
		write_parts(&page, &list[0]);
	if (part == REPORT_FIRST && n == 1)
		write_whole(&page, &list[0]);
	else if (!brief && n > 1)
		compare_tables(&page, part == REPORT_ALL, list, n, n_first);
}

int report_write(struct trace *const *traces, size_t n, const struct selection *p, double per, enum report_part part,
		 enum report_format format, FILE *f, report_progress *progress, struct err *e)
{
	struct analysis *list = calloc(n, sizeof(*list));
	struct reading reading = {.progress = progress};
	int r = list ? 0 : err_set(e, ERR_FAILED, _("out of memory"));
	size_t begun = 0;
	int error = 0;

	for (; r == 0 && begun < n; begun++)
		r = analysis_begin(&list[begun], traces[begun], p, per, part == REPORT_PHASES, &reading, e);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = analyse(&list[i], &reading, e);
	if (r == 0) {
		if (progress)
			progress(1);
		write_all(f, list, n, p->n_first ? p->n_first : n, part, format);
		fflush(f);
		error = errno;
	}
	for (size_t i = 0; i < begun; i++) {
		if (r == 0 && list[i].now->no_memory)
			r = err_set(e, ERR_FAILED, _("out of memory"));
		analysis_free(&list[i]);
	}
	free(list);
	errno = error;
	return r;
}
