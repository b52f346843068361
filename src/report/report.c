/* Read all traces, then write: a table cannot begin before its widths are known,
 * and an error must come before half a document. */
#include <errno.h>
#include <stdlib.h>

#include "util/intl.h"
#include "report/analysis.h"

static void write_all(FILE *o, const struct analysis *list, size_t n, enum report_format format)
{
	bool markdown = format == REPORT_MARKDOWN, brief = list[0].brief;

	switch (format) {
	case REPORT_JSON:
		write_json(o, list, n);
		break;
	case REPORT_CSV:
		if (brief)
			write_csv_phases(o, list, n);
		else if (n > 1)
			compare_csv(o, list, n);
		else
			write_csv(o, list, n);
		break;
	default:
		for (size_t i = 0; i < n && (brief || n == 1); i++) {
			write_head(o, &list[i], markdown);
			write_phases(o, &list[i], markdown);
		}
		if (brief)
			return;
		if (n == 1)
			write_tables(o, &list[0], markdown);
		compare_tables(o, list, n, markdown);
	}
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
		if (r == 0 && *list[i].no_memory)
			r = err_set(e, ERR_FAILED, _("out of memory"));
		analysis_free(&list[i]);
	}
	free(list);
	errno = error;
	return r;
}
