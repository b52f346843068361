/* Reads all traces before writing: column widths must be known first, and an error must not leave half a
 * document. */
#include <errno.h>
#include <stdlib.h>

#include "util/intl.h"
#include "report/analysis.h"

static void write_all(FILE *f, const struct analysis *list, size_t n, enum report_format format)
{
	struct page page = {f, format == REPORT_MARKDOWN, 0};
	bool brief = list[0].brief;

	if (format == REPORT_JSON) {
		write_json(f, list, n);
		return;
	}
	if (format == REPORT_CSV) {
		write_csv(f, list, n);
		return;
	}
	for (size_t i = 0; i < n && (brief || n == 1); i++) {
		write_head(&page, &list[i]);
		write_phases(&page, &list[i]);
	}
	if (brief)
		return;
	if (n == 1)
		write_parts(&page, &list[0]);
	compare_tables(f, page.markdown, list, n);
}

int report_write(struct trace *const *traces, size_t n, const struct selection *p, double per, bool summary,
		 enum report_format format, FILE *f, report_progress *progress, struct err *e)
{
	struct analysis *list = calloc(n, sizeof(*list));
	struct reading reading = {.progress = progress};
	int r = list ? 0 : err_set(e, ERR_FAILED, _("out of memory"));
	size_t begun = 0;
	int error = 0;

	for (; r == 0 && begun < n; begun++)
		r = analysis_begin(&list[begun], traces[begun], p, per, summary, &reading, e);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = analyse(&list[i], &reading, e);
	if (r == 0) {
		if (progress)
			progress(1);
		write_all(f, list, n, format);
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
