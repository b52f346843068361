#!/usr/bin/env python3
"""Measures the cost of the screen compared with other monitors: first frame, bytes, CPU,
memory, keys.

usage: screen.py [--seconds N] [--rounds N] [PROGRAM]

Each program runs in a pseudo-terminal of 120x40 that accepts everything at once. They take
turns, and the median of the rounds is printed. Compare only lines of one run.

first frame  from the start to the last byte of the first full frame (the first pause of 3 ms
             after more than 500 bytes)
bytes        per second to the terminal, after the first 3 seconds
CPU          percent of one core: user and system time of all threads as counted by the scheduler
             (not ticks). For nvmtop only the drawing thread, because the others sample in any
             case; cost.py measures them
RSS          resident megabytes at the end
key          milliseconds from a key to the first byte of the response: median and maximum of 20
"""
import argparse
import os
import select
import shutil
import signal
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
sys.dont_write_bytecode = True
import terminal

SIZE = (120, 40)


class Terminal:
    """A program in a pseudo-terminal."""

    def __init__(self, argv, environment):
        self.started = time.monotonic()
        self.pid, self.master, slave = terminal.spawn(argv, SIZE, environment)
        os.close(slave)

    def drain(self, until):
        """Read bytes until then; returns their number."""
        total = 0
        while True:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.master], [], [], left)[0]:
                return total
            try:
                total += len(os.read(self.master, 1 << 16))
            except OSError:
                return total

    def first_frame(self):
        """Milliseconds until the first frame is complete."""
        total, last = 0, None
        while time.monotonic() < self.started + 5:
            ready = select.select([self.master], [], [], 0.003)[0]
            if ready:
                total += len(os.read(self.master, 1 << 16))
                last = time.monotonic()
            elif total > 500:
                return (last - self.started) * 1000
        return float("nan")

    def cpu(self, drawing_only):
        """CPU seconds so far."""
        tasks = [self.pid] if drawing_only else os.listdir("/proc/%d/task" % self.pid)
        ns = 0
        for t in tasks:
            with open("/proc/%d/task/%s/schedstat" % (self.pid, t)) as f:
                ns += int(f.read().split()[0])
        return ns / 1e9

    def rss(self):
        with open("/proc/%d/status" % self.pid) as f:
            return next(int(line.split()[1]) for line in f if line.startswith("VmRSS")) / 1024

    def key(self, key):
        """Milliseconds until the response starts; waits for a pause first."""
        while select.select([self.master], [], [], 0.02)[0]:
            os.read(self.master, 1 << 16)
        start = time.monotonic()
        os.write(self.master, key)
        if not select.select([self.master], [], [], 1)[0]:
            return float("nan")
        return (time.monotonic() - start) * 1000

    def end(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.master)


def measure(argv, environment, seconds, keys, drawing_only):
    t = Terminal(argv, environment)
    try:
        first = t.first_frame()
        t.drain(t.started + 3)
        cpu, start = t.cpu(drawing_only), time.monotonic()
        sent = t.drain(start + seconds)
        wall = time.monotonic() - start
        cpu = (t.cpu(drawing_only) - cpu) / wall
        answers = sorted(filter(lambda v: v == v, (t.key(k) for k in keys * 10))) if keys else []
        return (first, sent / wall, cpu * 100, t.rss(), statistics.median(answers) if answers else float("nan"),
                answers[-1] if answers else float("nan"))
    finally:
        t.end()


def contenders(program, home):
    """name, command, environment, keys that only change the picture, measure only the drawing
    thread"""
    boards = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "boards")
    base = {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "HOME": home, "XDG_CONFIG_HOME": home}
    ours = dict(base, NVMTOP_BOARDS=boards)
    keys = [b"+", b"-"]
    rows = [("nvmtop, demo, 10 frames/s", [program, "--demo", "--frames", "10"], ours, keys, True),
            ("nvmtop, here, 10 frames/s", [program, "--frames", "10"], ours, keys, True),
            ("nvmtop, demo, by itself", [program, "--demo"], ours, keys, True),
            ("nvmtop, here, 1 frame/s", [program, "--frames", "1"], ours, keys, True),
            ("nvmtop, demo, 1 frame/s", [program, "--demo", "--frames", "1"], ours, keys, True)]
    if shutil.which("htop"):
        rows.append(("htop, 10 updates/s", ["htop", "-d", "1"], base, [b"\x1b[B", b"\x1b[A"], False))
        rows.append(("htop, 1 update/s", ["htop", "-d", "10"], base, [b"\x1b[B", b"\x1b[A"], False))
    if shutil.which("btop"):
        os.makedirs(home + "/btop", exist_ok=True)
        with open(home + "/btop/btop.conf", "w") as f:
            f.write("update_ms = 100\n")
        rows.append(("btop, 10 updates/s", ["btop", "--utf-force"], base, [b"\x1b[B", b"\x1b[A"], False))
    if shutil.which("nvtop"):
        rows.append(("nvtop, 10 updates/s", ["nvtop", "-d", "1"], base, [b"\x1b[B", b"\x1b[A"], False))
    return rows


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--seconds", type=float, default=5)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("program", nargs="?", default="./src/nvmtop")
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as home:
        rows = contenders(os.path.abspath(a.program), home)
        results = {name: [] for name, *_ in rows}
        for _ in range(a.rounds):
            for name, argv, environment, keys, drawing_only in rows:
                try:
                    results[name].append(measure(argv, environment, a.seconds, keys, drawing_only))
                except OSError as e:
                    print("%s: %s" % (name, e), file=sys.stderr)
    print("%-28s %11s %9s %8s %8s %16s" % ("", "first frame", "bytes/s", "CPU", "RSS", "key, worst"))
    for name, runs in results.items():
        if not runs:
            continue
        m = [statistics.median(column) for column in zip(*runs)]
        print("%-28s %8.0f ms %9.0f %6.2f %% %5.1f MB %6.1f, %5.1f ms" % (name, *m))


main()
