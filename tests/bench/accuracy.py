#!/usr/bin/env python3
"""Measures how far the joules of a report are from the truth, and whether their bounds hold.

usage: accuracy.py [--quick] [--results N] [--class NAME]... [--jobs N] [--beside FILE] [--json FILE] [--write PAGE]
                   [PROGRAM]

tests/bench/animator.c writes the file of a rail in a tree of files (a Jetson Orin Nano, in /dev/shm), through a
chip that averages or not, and logs the power that it stands for. The recorder records it; what its report
says of phases, ranges and whole recordings is compared with the integral of the log, by NumPy. A class is a load, a
chip and what is asked; 400 results each (--results), or in two minutes a few (--quick, which proves nothing).
--json keeps the numbers, --beside shows those of an earlier run, --write docs/accuracy.md puts the tables there.

  --list      prints the names of the classes and of the other rows
  --class     only this one (repeat it for more; a * at the end stands for any ending)
  --jobs      recordings at a time (three for each core: one takes 3 to 5 % of a core, its animator as much). They
              disturb each other where the machine has no rest: --jobs 1 to see
  --peer      a checkout of github.com/justincdavis/fastnvmetrics, for cost.py

As root: the animator needs real-time priority, and one of the rows another user. Not with nice, which the recorder
would inherit, and best on a machine that does nothing else.
"""
import argparse
import contextlib
import fnmatch
import glob
import importlib.util
import io
import json
import math
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
TOOLS = os.path.join(HERE, "..", "tools")
BOARD = os.path.join(HERE, "..", "boards", "orin_nano-36-super.txt")
CHIP = "sys/class/hwmon/hwmon3/"
CURRENT = CHIP + "curr1_input"
NOBODY = 65534
BEGIN, END = "<!-- written by tests/bench/accuracy.py -->\n", "<!-- end -->\n"

# Conversions of the chip that a value is a mean of: microseconds and the driver's `samples`. None: the power of
# the moment, and no file that says otherwise.
CHIPS = {None: (0, None), 1: (6600, 1), 16: (105600, 16), 64: (422400, 64)}
# Seconds for which ranges keep their names, so that there are several results in a recording.
GROUP_S = {None: 3, 1: 3, 16: 6, 64: 12}


class Kind:
    """A class of recordings: the load, the chip, what is asked, and what runs beside it."""

    def __init__(self, name, title, shape, chip=None, ask="phases", busy=False):
        self.name, self.title, self.shape, self.chip, self.ask, self.busy = name, title, shape, chip, ask, busy


def phase_kinds():
    loads = [("square-1s", "square 1 s", "square 1000 0.5 5 25"), ("square-100ms", "square 100 ms", "square 100 0.2 5 25"),
             ("square-33ms", "square 33 ms", "square 33.3 0.3 5 25"), ("square-10ms", "square 10 ms", "square 10 0.5 5 25"),
             ("square-7ms", "square 7 ms", "square 7 0.5 5 25"), ("square-2s", "square 2 s", "square 2000 0.3 5 25"),
             ("random-60ms", "random steps 60 ms", "random 60 60 5 25"),
             ("random-600ms", "random steps 600 ms", "random 480 720 5 25"),
             ("sine-200ms", "sine 200 ms", "sine 200 5 25"), ("sine-2s", "sine 2 s", "sine 2000 5 25"),
             ("noise-1ms", "noise of 1 ms", "noise 1 5 25"), ("noise-20ms", "noise of 20 ms", "noise 20 5 25")]
    for chip in CHIPS:
        for name, title, shape in loads:
            common = name in ("square-1s", "square-100ms")
            if chip is None or common or (chip == 1 and name == "random-60ms"):
                yield Kind(f"phase-{name}-{chip or 0}", f"phases, {title}", shape, chip)


def kinds():
    out = list(phase_kinds())
    for chip in CHIPS:
        out.append(Kind(f"range-{chip or 0}", "ranges", f"ranges {GROUP_S[chip]}", chip, "ranges"))
    for name, title, shape in (("square-1s", "square 1 s", "square 1000 0.5 5 25"),
                               ("square-100ms", "square 100 ms", "square 100 0.2 5 25"),
                               ("random-60ms", "random steps 60 ms", "random 60 60 5 25")):
        out.append(Kind(f"busy-phase-{name}", f"phases, {title}, busy", shape, None, "phases", True))
        out.append(Kind(f"busy-whole-{name}", f"whole recordings, {title}, busy", shape, None, "whole", True))
    out.append(Kind("busy-phase-square-100ms-1", "phases, square 100 ms, busy", "square 100 0.2 5 25", 1, "phases", True))
    return out


class Truth:
    """What the animator did: the power over time, and its ranges."""

    def __init__(self, path):
        t, mw, self.ranges, self.late_ns = [], [], [], 0
        with open(path, encoding="ascii") as f:
            for line in f:
                words = line.split()
                if words[0] == "P":
                    t.append(int(words[1]))
                    mw.append(float(words[2]))
                elif words[0] == "R":
                    self.ranges.append((words[3], int(words[1]), int(words[2])))
                else:
                    self.late_ns = int(words[1])
        self.zero = t[0]
        self.t = np.array(t) - self.zero
        self.mw = np.array(mw)
        self.j = np.concatenate([[0], np.cumsum(self.mw[:-1] * np.diff(self.t))]) * 1e-12

    def joules(self, begin_ns, end_ns):
        """None where the log does not reach."""
        if begin_ns < self.zero or end_ns - self.zero > self.t[-1]:
            return None
        return float(np.diff(np.interp([begin_ns - self.zero, end_ns - self.zero], self.t, self.j))[0])

    def at(self, t_ns):
        """Milliwatts from the last change before."""
        return self.mw[np.clip(np.searchsorted(self.t, np.asarray(t_ns) - self.zero, side="right") - 1, 0, None)]


class Bench:
    """The programs, and folders in memory, of which each recording at a time has one."""

    def __init__(self, program, folder, keep):
        self.program, self.folder, self.keep = program, folder, keep
        self.animator = os.path.join(folder, "animator")
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-std=gnu11", "-I", os.path.join(HERE, ".."), "-o", self.animator,
                        os.path.join(HERE, "animator.c"), "-ldl", "-lm"], check=True)
        subprocess.run([sys.executable, os.path.join(TOOLS, "board.py"), "unpack", folder, BOARD], check=True)
        self.local, self.lock, self.count = threading.local(), threading.Lock(), 0

    def place(self):
        """This thread's folder: a tree, and a folder for sockets."""
        if not hasattr(self.local, "place"):
            with self.lock:
                self.count += 1
                here = os.path.join(self.folder, f"job-{self.count}")
            shutil.copytree(os.path.join(self.folder, "orin_nano-36-super"), os.path.join(here, "tree"), symlinks=True)
            for name in ("run", "nvtx"):
                os.mkdir(os.path.join(here, name), 0o700)
            self.local.place = here
        return self.local.place


def write(path, text):
    with open(path, "w", encoding="ascii") as f:
        f.write(text)


class Recording:
    """One recording of an animated rail, and what its report says; before() is called when the rail is animated."""

    def __init__(self, bench, kind, seconds, seed, user=None, before=None):
        self.before = before
        self.bench, self.kind, self.seconds, self.random = bench, kind, seconds, random.Random(seed)
        self.here, self.seed, self.user, self.marks, self.said = bench.place(), seed, user, [], ""
        self.file, self.log = os.path.join(self.here, f"run-{seed}.nvmt"), os.path.join(self.here, f"truth-{seed}")
        self.env = {**os.environ, "LC_ALL": "C", "XDG_RUNTIME_DIR": self.here + "/run", "NVMTOP_NVTX_DIR": self.here + "/nvtx",
                    "XDG_CONFIG_HOME": self.here + "/config", "NVMTOP_RUNTIME_DIR": self.here + "/service"}
        self.window_us, samples = CHIPS[kind.chip]
        tree = self.here + "/tree/"
        for name, value in (("update_interval", 7), ("samples", samples)):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(tree + CHIP + name)
            if samples:
                write(tree + CHIP + name, f"{value}\n")
        write(tree + CHIP + "in1_input", "5000\n")
        write(tree + CURRENT, "001000\n")
        (self.with_ranges if kind.ask in ("ranges", "work") else self.with_marks)()

    def animator(self, seconds):
        return [self.bench.animator, "--chip", str(self.window_us), "--seconds", str(seconds), "--seed", str(self.seed),
                self.here + "/tree/" + CURRENT, self.log, *self.kind.shape.split()]

    def command(self, *more):
        return [self.bench.program, "record", "--no-config", "--force", "--sysroot", self.here + "/tree", *more]

    def with_ranges(self):
        """The animator is the recorded program: its ranges and marks are its own."""
        done = subprocess.run([*self.command("--nvtx", "-o", self.file, "--"), *self.animator(self.seconds)], env=self.env,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr)
        self.said = done.stderr

    def with_marks(self):
        """The animator begins before the recording and ends after it; marks at random moments."""
        with subprocess.Popen(self.animator(self.seconds + 60)) as animator:
            try:
                self.wait_for_animator()
                if self.before:
                    self.before()
                self.record()
            finally:
                animator.terminate()

    def wait_for_animator(self):
        for _ in range(2000):
            with open(self.here + "/tree/" + CURRENT, encoding="ascii") as f:
                if f.read() not in ("001000\n", "000000\n"):
                    return
            time.sleep(0.002)
        raise RuntimeError("the animator does not begin")

    def record(self):
        how = {} if self.user is None else {"user": self.user, "group": self.user, "extra_groups": []}
        if how:
            for path in (self.here, self.here + "/run", self.here + "/nvtx"):
                os.chown(path, self.user, self.user)
        begun, ready = os.pipe()
        with subprocess.Popen(self.command("--duration", str(self.seconds), "--ready-fd", str(ready), self.file),
                              env=self.env, stderr=subprocess.PIPE, text=True, pass_fds=[ready], **how) as p:
            os.close(ready)
            os.read(begun, 1)
            os.close(begun)
            self.pid = p.pid
            if self.kind.ask in ("phases", "whole"):
                self.set_marks(time.monotonic() + self.seconds - 0.2)
            self.said = p.communicate()[1]
        if p.returncode:
            raise RuntimeError(self.said)

    def set_marks(self, until):
        """Labels are numbers; the times are this program's. A whole recording has one, which ties the clocks."""
        s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        time.sleep(self.random.uniform(0.5, 0.8))
        while time.monotonic() < until:
            t_ns = time.monotonic_ns()
            for path in glob.glob(self.here + "/run/nvmtop/*.sock"):
                s.sendto(b"nvmtop-mark 1 %d.%09d p%d" % (*divmod(t_ns, 10**9), len(self.marks)), path)
            self.marks.append(t_ns)
            if self.kind.ask == "whole":
                break
            time.sleep(math.exp(self.random.uniform(math.log(0.2), math.log(3))))
        s.close()

    def report(self, *how):
        done = subprocess.run([self.bench.program, "report", "--no-config", *how, "--format", "json", self.file],
                              env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return json.loads(done.stdout)["traces"][0]

    def close(self):
        if self.bench.keep:
            name = f"{self.kind.name}-{self.seed}"
            shutil.copy(self.file, os.path.join(self.bench.keep, name + ".nvmt"))
            shutil.copy(self.log, os.path.join(self.bench.keep, name + ".truth"))
            write(os.path.join(self.bench.keep, name + ".marks"), "".join(f"{t}\n" for t in self.marks))
        for path in (self.file, self.log):
            os.unlink(path)


def results_of_phases(r, truth):
    """(row of the table, joules said, bound, truth)."""
    trace = r.report()
    phases = {p["label"]: p for p in trace["phases"] if p["label"]}
    for k, (begin, end) in enumerate(zip(r.marks, r.marks[1:])):
        p = phases[f"p{k}"]
        if r.kind.ask == "phases":
            yield r.kind.name, p["energy_j"], p["energy_within_j"], truth.joules(begin, end)
    if r.kind.ask == "whole":
        start = r.marks[0] - round(phases["p0"]["from_s"] * 1e9)
        w = trace["whole"]
        yield (r.kind.name, w["energy_j"], w["energy_within_j"],
               truth.joules(start + round(w["from_s"] * 1e9), start + round(w["to_s"] * 1e9)))


def results_of_ranges(r, truth):
    """Each number of a name is a result. The last, which the end cuts off, has too few."""
    j, inner = {}, {}
    for name, begin, end in truth.ranges:
        j[name] = j.get(name, 0) + truth.joules(begin, end)
        number = name.split("-")[1]
        if not name.startswith("main"):
            inner[number] = inner.get(number, 0) + truth.joules(begin, end)
    last = str(max(int(n) for n in inner))
    for g in r.report("--by", "range")["groups"]:
        name, number = g["name"].split("-")
        if number == last:
            continue
        yield f"{r.kind.name}-{name}", g["energy_j"], g["energy_within_j"], j[g["name"]]
        if name == "main":
            yield (f"{r.kind.name}-main-own", g["own_energy_j"], g["own_energy_within_j"],
                   j[g["name"]] - inner[number])


class Table:
    """Results by row."""

    def __init__(self):
        self.rows, self.lock = {}, threading.Lock()

    def add(self, results):
        with self.lock:
            for name, said, within, true in results:
                if true is not None:
                    nan = math.nan
                    self.rows.setdefault(name, []).append((nan if said is None else said, nan if within is None else within, true))

    def numbers(self):
        out = {}
        for name, results in self.rows.items():
            said, bound, true = np.array(results).T
            told = np.isfinite(said) & np.isfinite(bound)
            row = out[name] = {"results": len(true), "unresolved": int(np.sum(~told))}
            said, bound, true = said[told], bound[told], true[told]
            if not len(said):
                continue
            error = np.abs(said - true)
            good = error <= bound + 1e-6 * true  # a sum of many numbers has an error of its own
            row["within"] = 100 * float(np.mean(good))
            row["bias"] = 100 * float(said.sum() / true.sum() - 1)
            row["of_bound"] = float(np.mean(error) / np.mean(bound)) if bound.any() else math.inf
            row["error"] = 100 * float(np.median(error / true))
            row["bound"] = 100 * float(np.median(bound / true))
            row["ratio"] = row["bound"] / row["error"] if row["error"] else math.inf
            row["joules"], row["hits"] = float(true.sum()), int(np.sum(good))
        return out


TITLES = {"step": "70 ms", "infer": "12.6 ms", "copy": "6 ms", "main": "one around the others",
          "main-own": "the one without the others"}


def titles():
    chip = {None: "the moment", 1: "6.6 ms", 16: "105.6 ms", 64: "422.4 ms"}
    out = {}
    for k in kinds():
        if k.ask == "ranges":
            for name, text in TITLES.items():
                out[f"{k.name}-{name}"] = (f"ranges, {text}", chip[k.chip])
        else:
            out[k.name] = (k.title, chip[k.chip])
    return out


def print_steps(rows):
    """Of all loads in steps, without averaging and quiet: here the bound should be near the error."""
    some = [r for name, results in rows.items() for r in results if re.fullmatch(r"phase-(square|random)-.*-0", name)]
    said, bound, true = np.array([r for r in some if math.isfinite(r[0]) and math.isfinite(r[1])]).reshape(-1, 3).T
    if len(true):
        print(f"Phases with a load in steps, the moment, quiet: {len(true)} results, median bound / median error "
              f"{np.median(bound / true) / np.median(np.abs(said - true) / true):.1f}.")


def print_table(numbers, before):
    def cell(row, key, form):
        return form.format(row[key]) if row and key in row else "--"
    more = " before: within | bias | bound / error |" if before else ""
    print("| what | rail is a mean of | results | within bound | bias | mean error / mean bound | median error | median bound | ratio |" + more)
    print("|---|---|---|---|---|---|---|---|---|" + "---|---|---|" * bool(before))
    for name, (what, chip) in titles().items():
        row, old = numbers.get(name), before.get(name)
        if not row:
            continue
        count = f"{row['results']}" + (f", {row['unresolved']} without" if row["unresolved"] else "")
        cells = [what, chip, count] + [cell(row, key, form) for key, form in (
            ("within", "{:.1f} %"), ("bias", "{:+.2f} %"), ("of_bound", "{:.2f}"), ("error", "{:.2f} %"),
            ("bound", "{:.2f} %"), ("ratio", "{:.1f}"))]
        if before:
            cells += [cell(old, "within", "{:.0f} %"), cell(old, "bias", "{:+.1f} %"), cell(old, "ratio", "{:.1f}")]
        print("| " + " | ".join(cells) + " |")
    told = [r for r in numbers.values() if "hits" in r]
    n = sum(r["results"] - r["unresolved"] for r in told)
    if n:
        print(f"\nAll of them: {n} results, {100 * sum(r['hits'] for r in told) / n:.1f} % within the bound.")


@contextlib.contextmanager
def loops(n):
    """Busy loops, of normal priority."""
    running = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(n)]
    try:
        yield
    finally:
        for p in running:
            p.kill()
            p.wait()


def measure(bench, wanted, a, table):
    """Records what is wanted, as many at a time as may be: first quiet, then with the busy loops."""
    problems = []

    def one(kind, seconds, seed):
        try:
            r = Recording(bench, kind, seconds, seed)
            truth = Truth(r.log)
            if not a.quiet:
                print(f"{kind.name} {seed}: changes at most {truth.late_ns / 1e6:.1f} ms late", file=sys.stderr)
            table.add((results_of_ranges if kind.ask == "ranges" else results_of_phases)(r, truth))
            r.close()
        except Exception as e:  # pylint: disable=broad-except
            problems.append(f"{kind.name}: {type(e).__name__} {e}")

    for busy in (False, True):
        tasks = []
        for k in wanted:
            if k.busy != busy:
                continue
            group = GROUP_S[k.chip]
            seconds, each = {"phases": (21, 18), "ranges": (36 + group, 36 // group), "whole": (3, 1)}[k.ask]
            if a.quick:
                seconds, each = {"phases": (5, 3), "ranges": (2 * group + 1, 2), "whole": (3, 1)}[k.ask]
            tasks += [(k, seconds) for _ in range(math.ceil((each if a.quick else a.results) / each))]
        with loops(4 if busy and tasks else 0), ThreadPoolExecutor(a.jobs) as pool:
            for seed, (kind, seconds) in enumerate(tasks, 1 + 100000 * busy):
                pool.submit(one, kind, seconds, seed)
    return problems


def load_reader():
    """The reader of logs of the tests, which shares no code with the program."""
    spec = importlib.util.spec_from_file_location("nvmt_log", os.path.join(TOOLS, "nvmt-log.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def column(recording, name):
    """Times and values of a channel, those that are there."""
    number = next((n for n, c in recording.channels.items() if c["name"] == name), None)
    t, v = [], []
    for cells in recording.rows.values():
        for _, times, columns in cells:
            if number in columns:
                t += times
                v += columns[number]
    t, v = np.array(t, dtype=np.int64), np.array(v)
    return t[np.isfinite(v)], v[np.isfinite(v)]


def repeats(bench, a):
    """Rows that have the value of before under a new time. The file has another one every millisecond."""
    kind = Kind("repeats", "", "count 0.9", None, "rows")
    seconds = 4 if a.quick else 30
    print("\n| rows of a rail, four busy loops, the file changes every 0.9 ms | as root | as a user |\n|---|---|---|")
    rows = []
    for user in (None, NOBODY):
        with loops(4):
            r = Recording(bench, kind, seconds, 900000 + (user or 0), user)
        truth = Truth(r.log)
        with open(r.file, "rb") as f:
            recording = load_reader().Recording(f.read())
        t, ma = column(recording, "VDD_IN.current")
        late = column(recording, "nvmtop.late_readings")[1]
        # what the file had at the row, and up to 2 ms before it
        seen = np.stack([np.round(truth.at(t - back * 100000) / 5) for back in range(-10, 21)])
        there = np.any(np.abs(seen - np.round(ma)) < 1, axis=0)
        repeat = np.concatenate([[False], (np.diff(ma) == 0) & ~there[1:]])
        said = re.findall(r"^ *(?:samples|readings|rails).*", r.said, re.M)
        rows.append((len(t), int(repeat.sum()), int(np.sum(~there)), seconds * 100 - len(t),
                     f"{late[-1] - late[0]:.0f}" if len(late) else "not counted", "; ".join(x.strip() for x in said)))
        r.close()
    for name, *cells in zip(("rows with a value", "repeat under a new time",
                             "have a value that the file did not have in the 2 ms before", "ticks of 10 ms without a reading",
                             "nvmtop.late_readings", "the summary says"), *rows):
        print(f"| {name} | " + " | ".join(map(str, cells)) + " |")


def switches(pid):
    """Voluntary context switches by the name of the thread."""
    out = {}
    for path in glob.glob(f"/proc/{pid}/task/*/status"):
        with open(path, encoding="ascii") as f:
            text = f.read()
        name = re.search(r"Name:\s*(.*)", text)[1]
        out[name] = out.get(name, 0) + int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", text, re.M)[1])
    return out


def wakes(bench, a):
    """Wake-ups and system calls of a recording of cost.py's animated AGX Orin."""
    spec = importlib.util.spec_from_file_location("cost", os.path.join(HERE, "cost.py"))
    cost = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(cost)
    seconds = 3 if a.quick else 20
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        tree = cost.Tree(folder)
        try:
            with cost.Animation(bench.program, tree.root), subprocess.Popen(
                    [bench.program, "record", "--no-config", "--force", "--sysroot", tree.root, folder + "/run.nvmt"],
                    stderr=subprocess.DEVNULL) as p:
                time.sleep(cost.WARM)
                first, begin, cpu = switches(p.pid), time.monotonic(), cost.cpu_s(p.pid)
                time.sleep(seconds)
                wall = time.monotonic() - begin
                last, cpu = switches(p.pid), (cost.cpu_s(p.pid) - cpu) / wall
                calls = system_calls(p.pid, seconds)
                p.terminate()
        finally:
            tree.close()
    rate = {name: (last[name] - first.get(name, 0)) / wall for name in last}
    rate = {name: r for name, r in sorted(rate.items(), key=lambda x: -x[1]) if r >= 0.5}
    print(f"\n| recording an animated AGX Orin ({cpu * 100:.2f} % of a core) | a second |\n|---|---|")
    print(f"| wake-ups | {sum(rate.values()):.0f}: " + ", ".join(f"{n} {r:.0f}" for n, r in rate.items()) + " |")
    print(f"| system calls | {calls} |")
    if a.peer:
        subprocess.run([sys.executable, os.path.join(HERE, "cost.py"), "--only", "peer", "--peer", a.peer, bench.program], check=False)
    else:
        print("| CPU time beside fastnvmetrics | not measured: --peer names a checkout |")


def system_calls(pid, seconds):
    """By strace, which makes the program slower but hardly changes what it calls."""
    if not shutil.which("strace"):
        return "not measured: no strace here"
    with subprocess.Popen(["strace", "-f", "-c", "-p", str(pid)], stderr=subprocess.PIPE, text=True) as p:
        time.sleep(seconds)
        p.send_signal(2)
        text = p.communicate()[1]
    count = {m[2]: int(m[1]) for m in re.finditer(r"^ *[\d.]+ +[\d.]+ +\d+ +(\d+)(?: +\d+)? (\w+)$", text, re.M)}
    total = count.pop("total", sum(count.values()))
    if not count:
        return "not measured: " + " ".join(text.split())[:80]
    top = sorted(count.items(), key=lambda x: -x[1])[:6]
    return f"{total / seconds:.0f}: " + ", ".join(f"{n} {c / seconds:.0f}" for n, c in top)


def compare(bench, a):
    """Runs of one program that differ by an offset as great as the noise of its phases: none differs from another."""
    runs, pairs = (12, 10) if a.quick else (60, 200)
    files, rng = [], random.Random(7)
    folder = os.path.join(bench.folder, "runs")
    os.makedirs(folder, exist_ok=True)

    def one(n, offset):
        r = Recording(bench, Kind("work", "", f"work 200 50 {10 + offset:.3f} 0.3", None, "work"), 5, 800000 + n)
        path = os.path.join(folder, f"{n}.nvmt")
        shutil.move(r.file, path)
        os.unlink(r.log)
        files.append(path)
    with ThreadPoolExecutor(a.jobs) as pool:
        for n in range(runs):
            pool.submit(one, n, rng.gauss(0, 0.3))

    def verdicts(left, right):
        done = subprocess.run([bench.program, "report", "--no-config", "--format", "json", *left,
                               *(["--against"] if len(left) > 1 else []), *right], capture_output=True, text=True, check=False)
        if done.returncode:
            return done.stderr.split("\n", maxsplit=1)[0]
        return [q for q in quantities(json.loads(done.stdout)) if q == "differs"]
    print("\n| runs that differ by an offset as great as the noise of their phases | say \"differs\" |\n|---|---|")
    for side in (1, 5):
        found = 0
        for _ in range(pairs):
            drawn = rng.sample(files, 2 * side)
            v = verdicts(drawn[:side], drawn[side:])
            if isinstance(v, str):
                found = f"not measured: {v}"
                break
            found += bool(v)
        print(f"| {side} a side | {found}" + (f" of {pairs} |" if isinstance(found, int) else " |"))


def quantities(report):
    """Verdicts on joules and watts of the phase "work", wherever the report has them."""
    for phase in report.get("comparison", []):
        if "work" in (phase.get("label"), phase.get("phase")):
            for q in phase["quantities"]:
                if q.get("quantity") in ("energy", "mean") and str(q.get("signal")).startswith("power"):
                    yield from [q["verdict"]] if "verdict" in q else [t.get("verdict") for t in q.get("traces", [])]


def late(bench, a):
    """The module of the rails comes 2 s after the start of the recording."""
    times = []
    for seed in range(1 if a.quick else 5):
        link, away = os.path.join(bench.place(), "tree", CHIP.rstrip("/")), os.path.join(bench.place(), "away")
        target, folder = os.readlink(link), os.path.realpath(link)

        def go():
            os.unlink(link)
            os.rename(folder, away)
            timer.start()

        def come():
            os.rename(away, folder)
            os.symlink(target, link)
            came.append(time.monotonic_ns())
        came, timer = [], threading.Timer(2, come)
        r = Recording(bench, Kind("late", "", "count 5", None, "rows"), 8, 950000 + seed, None, go)
        timer.join()
        with open(r.file, "rb") as f:
            t, _ = column(load_reader().Recording(f.read()), "VDD_IN.power")
        times.append(f"{(t[0] - came[0]) / 1e9:.2f} s" if len(t) else "never")
        r.close()
    print("\n| a module that is loaded 2 s after the start | its first value comes after |\n|---|---|")
    print("| ina3221 | " + ", ".join(times) + " |")


def write_page(path, text):
    """Puts the tables in the place of those in the page."""
    with open(path, encoding="utf-8") as f:
        head, rest = f.read().split(BEGIN)
    with open(path, "w", encoding="utf-8") as f:
        f.write(head + BEGIN + text.strip("\n") + "\n" + END + rest.split(END)[1])


OTHERS = {"repeats": repeats, "late": late, "wakes": wakes, "compare": compare}


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    p.add_argument("--quick", action="store_true")
    p.add_argument("--results", type=int, default=400)
    p.add_argument("--class", dest="classes", action="append", metavar="NAME")
    p.add_argument("--list", action="store_true")
    p.add_argument("--quiet", action="store_true")
    p.add_argument("--jobs", type=int, default=3 * (os.cpu_count() or 1))
    p.add_argument("--keep", metavar="FOLDER", help="keeps recordings and logs of the truth")
    p.add_argument("--json", metavar="FILE")
    p.add_argument("--write", metavar="PAGE")
    p.add_argument("--beside", metavar="FILE")
    p.add_argument("--peer", metavar="SOURCE")
    p.add_argument("program", nargs="?", default="src/nvmtop")
    a = p.parse_args()
    patterns = a.classes or ["*"]
    wanted = [k for k in kinds() if any(fnmatch.fnmatch(k.name, x) for x in patterns)]
    others = [n for n in OTHERS if any(fnmatch.fnmatch(n, x) for x in patterns)]
    if a.list:
        print(*[k.name for k in wanted], *others, sep="\n")
        return 0
    before = {}
    if a.beside:
        with open(a.beside, encoding="ascii") as f:
            before = json.load(f)
    if a.keep:
        os.makedirs(a.keep, exist_ok=True)
    table = Table()
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="accuracy-") as folder:
        os.chmod(folder, 0o755)
        bench = Bench(os.path.abspath(a.program), folder, a.keep)
        problems = measure(bench, wanted, a, table)
        numbers = table.numbers()
        if a.json:
            with open(a.json, "w", encoding="ascii") as f:
                json.dump(numbers, f, indent=1)
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            if wanted:
                print_table(numbers, before)
                print_steps(table.rows)
            for name in others:
                OTHERS[name](bench, a)
        print(text.getvalue(), end="")
        if a.write:
            write_page(a.write, text.getvalue())
    for text in sorted(set(problems)):
        print(text, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
