#!/usr/bin/env python3
"""Bytes a second of a log, by kind of chunk, and the CPU time of its writer.

usage: log-size.py [--seconds N] [demo|orin]...

demo: the made-up board of --demo.  orin: the fake AGX Orin of tests/roots in memory, as in
cost.py, with all that it reads going up and down at random while it is recorded.  Each is
recorded for a minute (or --seconds) and then pushed through tests/bench/log-size, which is
built with `make tests/bench/log-size`.
"""
import argparse
import os
import random
import subprocess
import tempfile
import threading
import time

import cost

TOP = os.path.join(cost.HERE, "..", "..")


class Number:
    """A file with one whole number, which walks but keeps its number of digits."""

    def __init__(self, path, period):
        with open(path, encoding="ascii") as f:
            self.value = int(f.read())
        self.fd = os.open(path, os.O_WRONLY)
        self.due, self.period = 0.0, period
        digits = len(str(abs(self.value)))
        self.low, self.high = max(10 ** (digits - 1), self.value // 2), min(10**digits - 1, self.value * 3 // 2)

    def step(self):
        self.value += random.randint(-1, 1) * max(1, (self.high - self.low) // 50)
        self.value = min(max(self.value, self.low), self.high)
        os.pwrite(self.fd, b"%d" % self.value, 0)


class Counters:
    """Busy and all cycles of the GPU, of the same number of digits for ten minutes."""

    def __init__(self, path, period):
        self.fd = os.open(path, os.O_WRONLY)
        self.busy = self.total = 10**12
        self.due, self.period, self.load = 0.0, period, 0.5

    def step(self):
        self.load = min(max(self.load + random.uniform(-0.1, 0.1), 0), 1)
        self.total += 10**6
        self.busy += int(10**6 * self.load)
        os.pwrite(self.fd, b"%d %d\n" % (self.busy, self.total), 0)


def animated(program, root):
    files = []
    for tier, path in cost.files_of(program, root, None):
        path = path.lstrip("!")
        if path.startswith(root + "/proc"):
            continue
        try:
            make = Counters if path.endswith("/counters") else Number
            files.append(make(path, [0.005, 0.02, 0.1][tier]))
        except (ValueError, OSError):
            continue
    return files


def animate(files, stop):
    while not stop.is_set():
        now = time.monotonic()
        for f in files:
            if now >= f.due:
                f.due = now + f.period * random.uniform(0.7, 1.3)
                f.step()
        time.sleep(0.002)


def record(program, path, seconds, *how):
    subprocess.run([program, "--record", "--force", *how, "--duration", str(seconds), path], check=True,
                   stderr=subprocess.DEVNULL)


def orin(program, path, seconds, folder):
    tree = cost.Tree(folder)
    stop = threading.Event()
    try:
        files = animated(program, tree.root)
        print(f"{len(files)} files move")
        thread = threading.Thread(target=animate, args=(files, stop))
        thread.start()
        record(program, path, seconds, "--sysroot", tree.root)
        stop.set()
        thread.join()
    finally:
        stop.set()
        tree.close()


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--seconds", type=int, default=60)
    p.add_argument("board", nargs="*", default=["demo", "orin"])
    args = p.parse_args()
    program = os.path.join(TOP, "src", "nvmtop")
    with tempfile.TemporaryDirectory(dir=os.environ.get("COST_DIR", "/dev/shm")) as folder:
        path = os.path.join(folder, "recording.bin")
        for board in args.board:
            print(f"== {board}")
            if board == "demo":
                record(program, path, args.seconds, "--demo")
            else:
                orin(program, path, args.seconds, folder)
            print(subprocess.run([os.path.join(TOP, "tests", "bench", "log-size"), path, folder], check=True,
                                 capture_output=True, text=True).stdout)


if __name__ == "__main__":
    main()
