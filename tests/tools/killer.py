#!/usr/bin/env python3
"""Kills recorders at random moments and checks what is left.

  killer.py NVMTOP STALLS KILLS LIMIT_MS [SEED]

Prints TAP. NVMTOP may be several words. A SIGKILL may lose at most the last LIMIT_MS plus
the time for which the machine stalled meanwhile (measured by STALLS): of a recording, of a file
with what --keep held and what follows, and of one that a condition began.
"""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from importlib.machinery import SourceFileLoader

log = type(sys)("nvmt_log")
SourceFileLoader("nvmt_log", os.path.join(os.path.dirname(os.path.abspath(__file__)), "nvmt-log.py")).exec_module(log)
TOGETHER = 8


class Run:
    def __init__(self, nvmtop, number, rng):
        self.nvmtop, self.number, self.rng = nvmtop, number, rng
        self.name = f"k{number}.nvmt"
        self.kind = ("recording", "keeping", "ending", "trigger", "splitting")[number % 5]
        self.problems = []
        self.missing = None  # from the last fast row to the kill, ns
        self.last = self.killed = 0

    def start(self):
        args = self.nvmtop + ["--demo", "--record", "--fast-hz", self.rng.choice(("500", "1000", "2000"))]
        if self.kind == "splitting":
            args += ["--split", "1"]
        if self.kind in ("keeping", "trigger"):
            args += ["--keep", "0.5", "--after", "60"]
        if self.kind == "trigger":
            args += ["--trigger", "ram > 1 GiB"]
        self.err = open(self.name + ".err", "wb")
        self.process = subprocess.Popen(args + [self.name], stdin=subprocess.DEVNULL, stderr=self.err)
        until = time.monotonic() + 60
        asked = self.kind != "keeping"
        while time.monotonic() < until:
            if not asked:
                with open(self.name + ".err", "rb") as said:
                    asked = b"keeping the last" in said.read()
                if asked:
                    time.sleep(0.3)
                    self.process.send_signal(signal.SIGUSR2)
            try:
                if os.path.getsize(self.name) > 12000:  # more than its first chunk
                    return
            except OSError:
                pass
            time.sleep(0.005)
        self.problems.append("never wrote a row")

    def kill(self):
        if self.kind == "splitting":
            time.sleep(self.rng.uniform(0.75, 1.35))
        else:
            time.sleep(self.rng.uniform(0, 0.7))
        self.killed = time.monotonic_ns()
        if self.kind == "ending":
            self.process.send_signal(signal.SIGTERM)
            time.sleep(self.rng.uniform(0, 0.05))
        self.process.kill()
        self.process.wait()
        self.err.close()

    def judge(self, name):
        """Opens without recovery, all chunks are valid except a torn end; returns the fast
        times and the gaps."""
        r = subprocess.run(self.nvmtop + ["report", name], stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if r.returncode != 0:
            self.problems.append(f"report {name}: {r.returncode}: {r.stderr.decode('utf-8', 'replace')}")
        with open(name, "rb") as f:
            file = log.Recording(f.read())
        times = {tier: [t for _, of, _, _ in cells for t in of] for tier, cells in file.rows.items()}
        self.problems += file.problems
        for tier, of in times.items():
            if any(b <= a for a, b in zip(of, of[1:])):
                self.problems.append(f"{name}: times of tier {tier} do not increase")
        os.unlink(name)
        return times.get(0, []), list(file.gaps.values())

    def run(self):
        self.start()
        self.kill()

    def check(self):
        if self.problems:
            return
        times, gaps = self.judge(self.name)
        second = self.name.replace(".nvmt", ".2.nvmt")
        if os.path.exists(second):
            later, later_gaps = self.judge(second)
            # a busy machine is late, which is recorded: then it is no loss
            late = max((g["to"] - g["from"] for g in gaps + later_gaps), default=0)
            if times and later and later[0] - times[-1] > late + 100 * 10 ** 6:
                self.problems.append(f"{later[0] - times[-1]} ns between the two files")
            times += later
        if not times:
            self.problems.append("no fast row is there")
            return
        self.last = times[-1]
        self.missing = self.killed - self.last


def stalls_in(stalls, begin, end):
    """How long the machine stalled between the two times."""
    return sum(max(0, min(to, end) - max(to - ns, begin)) for to, ns in stalls)


def attempt(run, what):
    try:
        what()
    except Exception as e:  # a test that cannot decide has failed
        run.problems.append(f"{type(e).__name__}: {e}")


def main():
    nvmtop, kills = sys.argv[1].split(), int(sys.argv[3])
    limit_ms = int(sys.argv[4])
    seed = int(sys.argv[5]) if len(sys.argv) > 5 else random.randrange(10 ** 9)
    with open("stalls.out", "wb") as out:
        meter = subprocess.Popen([sys.argv[2], "stalls.tmp"], stdin=subprocess.PIPE, stdout=out)
    runs = [Run(nvmtop, i, random.Random(seed + i)) for i in range(kills)]
    left = list(reversed(runs))

    def work():
        while left:
            try:
                run = left.pop()
            except IndexError:
                return
            attempt(run, run.run)

    threads = [threading.Thread(target=work) for _ in range(TOGETHER)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    meter.stdin.close()
    meter.wait()
    for r in runs:
        attempt(r, r.check)
    with open("stalls.out") as f:
        stalls = [tuple(map(int, line.split())) for line in f]

    bad = [r for r in runs if r.problems]
    late = []
    for r in runs:
        if r.missing is None:
            continue
        allowed = limit_ms * 10 ** 6 + stalls_in(stalls, r.last, r.killed)
        if r.missing > allowed:
            late.append((r, allowed))
    lost = sorted(r.missing / 1e6 for r in runs if r.missing is not None)
    print(f"{'not ok' if bad else 'ok'} 1 - {kills} recorders killed: each left a sound log")
    for r in bad[:10]:
        for line in "; ".join(r.problems).splitlines():
            print(f"# {r.name} ({r.kind}): {line}")
    print(f"{'not ok' if late or not lost else 'ok'} 2 - at most the last {limit_ms} ms are missing, "
          "and what the machine stalled")
    for r, allowed in late[:10]:
        print(f"# {r.name} ({r.kind}): {r.missing / 1e6:.1f} ms are missing, {allowed / 1e6:.1f} ms are allowed")
    if lost:
        print(f"# {kills} kills, seed {seed}: missing {lost[len(lost) // 2]:.0f} ms in the middle, "
              f"{lost[-1]:.0f} ms at most")
    for kind in sorted({r.kind for r in runs}):
        of = sorted(r.missing / 1e6 for r in runs if r.kind == kind and r.missing is not None)
        if of:
            print(f"# {kind}: {of[len(of) // 2]:.0f} ms in the middle, {of[-1]:.0f} ms at most")
    print("1..2")
    return 0


if __name__ == "__main__":
    sys.exit(main())
