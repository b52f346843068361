/* Exports a stretch of a timeline, live or saved, at the resolution at which it is seen. */
#include "report/report.h"
#include "util/json-csv.h"

#define ROWS_MOST 20000

size_t export_columns(struct timeline *t, int64_t from_ns, int64_t to_ns, int zoom, FILE *f)
{
	const struct session *s = t->ops->session(t);
	int64_t first, end;

	while (zoom < ZOOM_MAX && (to_ns - from_ns) >> zoom > ROWS_MOST)
		zoom++;
	first = from_ns >> zoom;
	end = (to_ns + (INT64_C(1) << zoom) - 1) >> zoom;
	fputs("time_s", f);
	for (size_t i = 0; i < s->n_channels; i++) {
		char name[sizeof s->channels[i].name + 16];

		snprintf(name, sizeof name, *unit_name(s->channels[i].unit) ? "%s [%s]" : "%s%s", s->channels[i].name,
			 unit_name(s->channels[i].unit));
		putc(',', f);
		put_csv_text(f, name);
	}
	putc('\n', f);
	for (int64_t at = first; at < end; at++) {
		put_seconds(f, at * (INT64_C(1) << zoom) - s->start.mono_ns);
		for (size_t i = 0; i < s->n_channels; i++) {
			struct bin b;

			t->ops->columns(t, i, zoom, at, 1, &b);
			putc(',', f);
			if (b.n)
				put_num(f, b.sum / (double)b.n);
		}
		putc('\n', f);
	}
	return end > first ? (size_t)(end - first) : 0;
}
