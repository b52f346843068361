#!/usr/bin/env python3
"""Counts the files touched by a new option, probe, statistic, export format, language, view and key.

usage: tests/bench/touch.py [WHAT]...     in a clone with a commit; WHAT: option probe statistic export language view key

Adds each to a copy of the latest commit, with its test and its part of the manual, builds it, runs that
test and the tests that check lists (manual, catalogues, headers, options), and prints the files.
"""
import os
import subprocess
import sys
import tempfile

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
LISTS = ["tests/tools/check-man.t", "tests/tools/check-po.t", "tests/tools/check-headers.t", "tests/cli/options.t"]
WORK = ""


def read(path):
    with open(os.path.join(WORK, path), encoding="utf-8") as f:
        return f.read()


def write(path, text):
    with open(os.path.join(WORK, path), "w", encoding="utf-8") as f:
        f.write(text)


def insert(path, before, text):
    old = read(path)
    if old.count(before) != 1:
        sys.exit(f"touch.py: {path} has {old.count(before)} of {before!r}: adapt this script")
    write(path, old.replace(before, text + before))


def add_test(path, text):
    insert(path, "\ndone_testing", "\n" + text)


def option():
    """report --brief: phases without the header of the file."""
    insert("src/app/app.h", "	bool summary;", "	bool brief;\n")
    insert("src/cli/report.c", '	{"per", "N"', '	{"brief", NULL, N_("the same as --summary"), FLAG(brief)},\n')
    insert("src/cli/report.c", "o->summary, o->format", "o->brief || ")
    insert("man/nvmtop.1", ".It Fl Fl per Ar n\n", ".It Fl Fl brief\nThe same as\n.Fl Fl summary .\n")
    add_test("tests/cli/report.t", """run nvmtop report --brief "$NVMTOP_SRC/tests/traces/demo.nvmt"
ok 'brief' sh -c 'grep -q ^whole out && ! grep -q cpu0.util out'""")
    return ["tests/cli/report.t"]


def probe():
    """How long the machine has been up, from /proc/uptime."""
    write("src/probe/probe-uptime.c", """/* Time since boot, which the kernel has as seconds with two decimals. */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "util/clock.h"
#include "util/num.h"
#include "probe/open.h"

#define FILE_NAME "/proc/uptime"

static void uptime_read(struct probe *p, int64_t t_ns, double *row)
{
	char buf[64];
	ssize_t n = attr_read(p->attrs, p->root, buf, sizeof(buf));
	int64_t seconds;

	(void)t_ns;
	row[p->column] = n > 0 && num_i64(buf, buf + n, &seconds) ? (double)seconds : NAN;
}

static const struct probe_ops uptime_ops = {uptime_read, probe_free};

static int open_uptime(struct probe_ctx *o, struct err *e)
{
	struct probe *p = probe_new(o, sizeof(*p), 1, &uptime_ops, NS_PER_S, e);
	struct channel ch;
	bool found;

	if (!p)
		return -1;
	found = attr_open(p->attrs, o->root, FILE_NAME) == 0;
	channel_describe(o, &ch, "uptime", false);
	snprintf(ch.source, sizeof(ch.source), "%s", FILE_NAME);
	if (!found)
		reason_one(o, &ch, FILE_NAME, errno);
	return probe_ctx_finish(o, p, probe_ctx_add(o, &ch, e), found, e);
}

const struct probe_kind probe_kind_uptime = {"uptime", 0, 0, " hint ", false, false, open_uptime};
""")
    insert("src/probe/open.h", "X(load)", "X(uptime) ")
    insert("man/nvmtop-board.5", ".It Cm load\n", ".It Cm uptime\n.Li uptime :\nseconds since boot.\n")
    add_test("tests/cli/boards.t", """mkdir -p up/proc && echo '77.25 100.00' >up/proc/uptime
printf 'board  up\\ntitle  Up\\nslow  uptime\\n' >up.board
run nvmtop once --json --board ./up.board --sysroot up
ok 'uptime' says out '"value": 77'""")
    return ["tests/cli/boards.t"]


def statistic():
    """The 90 % quantile in the report."""
    insert("src/report/stats.h", "X(p95, 0.95)", "X(p90, 0.90) ")
    insert("man/nvmtop.1", "p95, p99 and the maximum", "p90, ")
    add_test("tests/cli/report.t", """run nvmtop report --format json "$NVMTOP_SRC/tests/traces/demo.nvmt"
ok 'p90 lies between p50 and p95' "$python" -c 'import json
for s in json.load(open("out"))["traces"][0]["whole"]["signals"]:
    assert s["p90"] is None or s["p50"] <= s["p90"] <= s["p95"], s'""")
    return ["tests/cli/report.t"]


def export():
    """A line for each value: time, signal, value."""
    write("src/report/export-lines.c", """/* One line for each value, for line-oriented tools. */
#include "report/export.h"

static void begin(struct export *x)
{
	fputs("# time_s signal value\\n", x->f);
}

static void row(struct export *x, const struct row *r)
{
	double v;

	for (size_t i = 0; i < x->channels.n; i++) {
		if (!row_value(x, r, i, &v))
			continue;
		put_seconds(x->f, r->t_ns - x->session->start.mono_ns);
		fprintf(x->f, " %s ", x->session->channels[x->channels.list[i]].name);
		put_num(x->f, v);
		putc('\\n', x->f);
	}
}

static void skip_mark(struct export *x, const struct mark *m)
{
	(void)x;
	(void)m;
}

static void skip_gap(struct export *x, const struct gap *g)
{
	(void)x;
	(void)g;
}

static void skip_change(struct export *x, const struct change *c)
{
	(void)x;
	(void)c;
}

const struct form form_lines = {begin, NULL, row, skip_mark, skip_gap, NULL, skip_change};
""")
    insert("src/report/report.h", "X(perfetto)", "X(lines) ")
    insert("man/nvmtop.1", "| nvmt1\n", "| lines ")
    insert("man/nvmtop.1", ".It Cm perfetto\n", ".It Cm lines\nA line for each value: time, signal and value.\n")
    add_test("tests/cli/export.t", """run nvmtop export lines --select gpu.util "$NVMTOP_SRC/tests/traces/demo.nvmt"
ok 'lines' test "$(grep -c '^[0-9.]* gpu.util ' out)" -gt 1000""")
    return ["tests/cli/export.t"]


def language():
    """Italian, with one text."""
    write("po/it.po", """msgid ""
msgstr ""
"Project-Id-Version: nvmtop\\n"
"Language: it\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\\n"

msgid "out of memory"
msgstr "memoria esaurita"
""")
    insert("po/LINGUAS", "ja\n", "it\n")
    return []


def view():
    """The clocks of all units."""
    write("src/ui/view-clocks.c", """/* view-clocks: the clocks of all units. */
#include "ui/charts.h"

#include "util/intl.h"

static void build(struct row_list *l)
{
	for (size_t i = 0; i < l->about->n_channels; i++)
		if (l->about->channels[i].unit == UNIT_HZ)
			rows_signal(l, i, 2, false);
}

const struct view view_clocks = {
	.name = "clocks",
	.label = N_("Clocks"),
	.key = 'Z',
	.build = build,
	.draw = charts_draw,
	.move = charts_move,
};
""")
    insert("src/ui/view.h", "X(help)", "X(clocks) ")
    insert("man/nvmtop.1", "signals , help\n", "clocks , ")
    return ["tests/cli/views.t", "tests/cli/print.t", "tests/unit/test-ui-views"]


def key():
    """Y: to the middle of the recording."""
    insert("src/ui/keys.c", "/* clang-format off */\n", """static void act_middle(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	viewport_jump(&u->vp, &u->extent, s->now_ns, u->extent.first_ns / 2 + u->extent.last_ns / 2);
}

""")
    insert("src/ui/keys.c", "	{ KEYS_TIME, WHEN_CHARTS, { { '[', 0, -1 }", """	{ KEYS_TIME, WHEN_CHARTS, { { 'Y', 0, 0 } },
	  act_middle, "Y", N_("to the middle of the recording"), NULL, NULL, NULL, 0 },
""")
    insert("man/nvmtop.1", ".It Ic \\&[ ,", ".It Ic Y\nto the middle of the recording\n")
    insert("tests/unit/test-ui-time.c", "static void the_same_keys_everywhere", """static void to_the_middle(void **state)
{
	struct bench b;

	(void)state;
	start(&b, 120, 40, false, CHARSET_BRAILLE);
	press(&b, 'Y', 0);
	assert_true(b.ui->vp.head_ns - b.fake.first_ns - (b.fake.last_ns - b.fake.first_ns) / 2 < 2);
	stop(&b);
}

""")
    insert("tests/unit/test-ui-time.c", "		cmocka_unit_test(the_same_keys_everywhere)", "		cmocka_unit_test(to_the_middle),\n")
    return ["tests/cli/print.t", "tests/unit/test-ui-parts", "tests/unit/test-ui-time"]


def shell(*command):
    done = subprocess.run(command, cwd=WORK, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        failed = [line for line in done.stdout.splitlines() if "error" in line or line.startswith(("FAIL", "# "))]
        sys.exit("\n".join(failed[-30:]) + f"\ntouch.py: {' '.join(command)}: {done.returncode}")


def add(what):
    subprocess.run(f"git -C '{TOP}' archive HEAD | tar -x -C '{WORK}'", shell=True, check=True)
    shell("git", "init", "-q")
    shell("git", "add", "-A")
    shell("git", "-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "before")
    tests = what()
    shell("./bootstrap", "--no-install", "--no-build")
    shell("./configure", "--enable-werror", "CFLAGS=-O0", *(["CC=" + os.environ["CC"]] if "CC" in os.environ else []))
    shell("make", f"-j{os.cpu_count()}")
    pictures = [t for t in tests if t in ("tests/cli/views.t", "tests/cli/print.t")]
    if pictures:
        shell("make", "check", "UPDATE=1", "TESTS=" + " ".join(pictures))
    shell("make", "check", "TESTS=" + " ".join(LISTS + tests))
    shell("git", "add", "-A")
    files = subprocess.run(["git", "diff", "--cached", "--name-only"], cwd=WORK, capture_output=True, text=True,
                           check=True).stdout.split()
    print(f"{what.__name__}: {len(files)} files: {' '.join(files)}", flush=True)


def main():
    global WORK
    kinds = [option, probe, statistic, export, language, view, key]
    for what in kinds:
        if len(sys.argv) == 1 or what.__name__ in sys.argv[1:]:
            with tempfile.TemporaryDirectory() as WORK:
                add(what)


if __name__ == "__main__":
    main()
