#!/usr/bin/env python3
"""Whether the joules of windows of nvmtop.Live hold their bounds: live.c in Python.

usage: PYTHONPATH=python tests/bench/live-windows.py [--windows N] [--seconds S]

From the top of the build tree, best as root: the animator wants real-time priority. animator.c writes the file of a rail and
logs the power that it stands for; windows of 0.1 to 5 s begin at random moments, many at a time, some by a decorated
function in a thread. Fails if fewer than 90 % are within their bounds, or a question waited for longer than 0.1 s and three times the window
of the chip.
"""
import argparse
import contextlib
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from accuracy import BOARD, CHIP, CHIPS, CURRENT, HERE, TOOLS, Truth, write

import nvmtop

KINDS = (("square 1 s", None, "square 1000 0.5 5 25"), ("square 100 ms", None, "square 100 0.2 5 25"),
         ("random steps 60 ms", None, "random 60 60 5 25"), ("sine 200 ms, mean of 106 ms", 16, "sine 200 5 25"))


def measure(live, seconds, length, waited):
    """A window after a random time; and its begin and end."""
    time.sleep(random.random() * (seconds - length))
    name = "call %d" % threading.get_ident()

    @nvmtop.measure(name, live)
    def call():
        time.sleep(length)

    begin = time.monotonic_ns()  # the library takes the time before all else
    if random.random() < 0.5:
        call()
        window, = nvmtop.measured(name, clear=True)
    else:
        with live.window() as window:
            time.sleep(length)
    asked = time.monotonic()
    window.joules
    waited.append(time.monotonic() - asked)
    return window, begin, begin + int(1e9 * window.seconds)


def one(kind, folder, n, seconds, seed):
    title, chip, shape = kind
    tree, log = folder + "/orin_nano-36-super/", folder + "/truth"
    window_us, samples = CHIPS[chip]
    for name, value in (("update_interval", 7), ("samples", samples)):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(tree + CHIP + name)
        if samples:
            write(tree + CHIP + name, "%d\n" % value)
    with subprocess.Popen([folder + "/animator", "--chip", str(window_us), "--seconds", str(seconds + 60), "--seed", str(seed),
                           tree + CURRENT, log, *shape.split()]) as animator:
        time.sleep(0.3)
        found, waited = [], []
        with nvmtop.Live(sysroot=tree) as live:
            time.sleep(0.7)
            lengths = [0.1 * 50 ** random.random() for _ in range(n)]
            threads = [threading.Thread(target=lambda s=s: found.append(measure(live, seconds, s, waited))) for s in lengths]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            time.sleep(0.5)
        animator.terminate()
    truth = Truth(log)
    errors, bounds, good = [], [], 0
    for window, begin, end in found:
        joules = truth.joules(begin, end)
        good += abs(window.joules - joules) <= window.joules_within
        errors.append(100 * abs(window.joules / joules - 1))
        bounds.append(100 * window.joules_within / joules)
    print("%-28s %4d windows: %5.1f %% within their bound, median error %.2f %%, median bound %.2f %%; waited %.1f ms "
          "(median), %.1f ms at most" % (title, n, 100 * good / n, statistics.median(errors), statistics.median(bounds),
                                         1e3 * statistics.median(waited), 1e3 * max(waited)), flush=True)
    return good / n, max(waited) - 3e-6 * window_us


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--windows", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=15)
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="nvmtop-windows-", dir="/dev/shm")
    try:
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-std=gnu11", "-I", os.path.join(HERE, ".."), "-o", folder + "/animator",
                        os.path.join(HERE, "animator.c"), "-ldl", "-lm"], check=True)
        subprocess.run([sys.executable, os.path.join(TOOLS, "board.py"), "unpack", folder, BOARD], check=True)
        write(folder + "/orin_nano-36-super/" + CHIP + "in1_input", "5000\n")
        write(folder + "/orin_nano-36-super/" + CURRENT, "001000\n")
        all_of = [one(kind, folder, options.windows, options.seconds, i + 1) for i, kind in enumerate(KINDS)]
    finally:
        shutil.rmtree(folder)
    if min(good for good, _ in all_of) < 0.9 or max(waited for _, waited in all_of) > 0.1:
        sys.exit("a bound is not held")


if __name__ == "__main__":
    main()
