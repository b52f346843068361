/* One status line on standard error, rewritten in place. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/pretrigger.h"
#include "cli/recorder.h"
#include "ui/canvas.h"
#include "util/clock.h"
#include "util/intl.h"

void recorder_written(const struct recorder *r, struct log_out_stats *out)
{
	struct pretrigger_stats k;

	if (r->keep)
		*out = (pretrigger_stats(r->keep, &k), k.written);
	else
		log_out_stats(r->writer, out);
}

void recorder_line_wipe(struct recorder *r)
{
	if (r->shown)
		fprintf(stderr, "\r%*s\r", r->shown, "");
	r->shown = 0;
}

void recorder_say(struct recorder *r, const char *text)
{
	recorder_line_wipe(r);
	fprintf(stderr, "nvmtop: %s\n", text);
}

/* Overwrites the previous text. */
static void line_put(struct recorder *r, const char *line, int used, int columns)
{
	int wipe = r->shown < columns ? r->shown : columns; /* the window may have shrunk */

	fprintf(stderr, "\r%s%*s", line, wipe > used ? wipe - used : 0, "");
	r->shown = used;
	if (r->label.open) /* put the cursor after the typed text */
		fprintf(stderr, "\r%s", line);
}

/* Shows as many parts as fit, the most important first. */
void recorder_line(struct recorder *r)
{
	struct engine_stats es;
	struct log_out_stats ws;
	char part[5][160], line[1024] = "", elapsed[32], size[32];
	int width = terminal_width(STDERR_FILENO), columns = (width ? width : 80) - 1, used = 0, len = 0;

	pid_t front = tcgetpgrp(STDERR_FILENO);
	if (!r->progress || (front >= 0 && front != getpgrp()))
		return;
	if (r->label.open) {
		used = label_show(&r->label, line, sizeof line, columns - 1);
		line_put(r, line, used, columns);
		return;
	}
	engine_stats(r->engine, &es);
	recorder_written(r, &ws);
	text_elapsed(elapsed, sizeof elapsed, clock_now_ns() - r->since_ns);
	text_bytes(size, sizeof size, ws.bytes);
	snprintf(part[0], sizeof part[0], "%s %s", _("recording"), elapsed);
	snprintf(part[1], sizeof part[1], _("%llu samples"), (unsigned long long)ws.rows[TIER_FAST]);
	snprintf(part[2], sizeof part[2], _("%llu late"), (unsigned long long)es.late[TIER_FAST]);
	snprintf(part[3], sizeof part[3], "%s", size);
	snprintf(part[4], sizeof part[4], P_("%llu mark", "%llu marks", ws.marks),
		 (unsigned long long)ws.marks);
	if (r->keep)
		keeping_progress(r->keep, part[0], part[3], sizeof part[0]);
	for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
		int wide = text_width(part[i]) + (used ? 2 : 0);
		if (used + wide > columns)
			break;
		len += snprintf(line + len, sizeof line - (size_t)len, "%s%s", used ? "  " : "", part[i]);
		used += wide;
	}
	const char *keys =
		r->keep ? _("w write  s mark  S with a label  q stop") : _("s mark  S with a label  q stop");
	if (used + 4 + text_width(keys) > columns)
		keys = r->keep ? _("w write  q stop") : _("s mark  q stop");
	if (r->keys.on && used + 4 + text_width(keys) <= columns) {
		snprintf(line + len, sizeof line - (size_t)len, "    %s", keys);
		used += 4 + text_width(keys);
	}
	line_put(r, line, used, columns);
}
