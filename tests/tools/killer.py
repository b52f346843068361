#!/usr/bin/env python3
"""Kills recorders at random moments and judges what --recover makes of it.

  killer.py NVMTOP STALLS KILLS [SEED]

Prints TAP.  NVMTOP may be several words.  The promise is that after a SIGKILL
at most the last 250 ms are missing.  What the machine itself held everybody up
for meanwhile (STALLS measures it) comes on top; nothing else does.
"""

import os
import random
import signal
import struct
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import nvmt  # noqa: E402

PROMISE_MS = 250
TOGETHER = 8


def anchor_ns(raw):
    """CLOCK_MONOTONIC at the start of a trace, as its extension says."""
    at = raw.index(b"ANCH") + 20
    return struct.unpack_from("<qqq", raw, at)[0:2]


class Run:
    def __init__(self, nvmtop, number, rng):
        self.nvmtop, self.number, self.rng = nvmtop, number, rng
        self.name = f"k{number}.bin"
        self.kind = ("recording", "recording", "ending", "recording", "splitting")[number % 5]
        self.problems = []
        self.missing = None  # from the last fast row to the kill, ns
        self.last = self.killed = 0

    def start(self):
        args = self.nvmtop + ["--demo", "--record", "--fast-hz", self.rng.choice(("500", "1000", "2000"))]
        if self.kind == "splitting":
            args += ["--split", "1"]
        self.err = open(self.name + ".err", "wb")
        self.process = subprocess.Popen(args + [self.name], stdin=subprocess.DEVNULL, stderr=self.err)
        until = time.monotonic() + 60
        while time.monotonic() < until:
            try:
                if os.path.getsize(self.name + ".part") > 728 + 98:
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

    def recover(self, name):
        """The trace of that name is whole, or becomes it."""
        if not os.path.exists(name + ".part"):
            if os.path.exists(name):
                if os.path.exists(name + ".part.side"):
                    self.command(name)
                return True
            return False
        return self.command(name)

    def command(self, name):
        r = subprocess.run(self.nvmtop + ["--recover", name], stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        said = r.stderr.decode("utf-8", "replace")
        if r.returncode == 1 and "nothing was recorded" in said and name != self.name:
            return False  # a next file that was open already
        if r.returncode not in (0, 3):
            self.problems.append(f"--recover {name}: {r.returncode}: {said}")
            return False
        if "recovered" in said and "missing" not in said:
            self.problems.append("--recover does not say what is missing: " + said)
        if r.returncode == 3 and "nvmtop:" not in said:
            self.problems.append("status 3 without a reason: " + said)
        return True

    def judge(self, name):
        found = nvmt.check(name)
        self.problems += found["errors"]
        for tier in ("fast", "medium", "slow"):
            if found[tier]["n"] and not found[tier]["increasing"]:
                self.problems.append(f"{name}: {tier} times do not increase")
        for left in (name + ".part", name + ".part.side"):
            if os.path.exists(left):
                self.problems.append(left + " is left")
        with open(name, "rb") as f:
            raw = f.read()
        n = struct.unpack_from("<Q", raw, 56)[0]
        times = [struct.unpack_from("<d", raw, 728 + 98 * i)[0] for i in (0, n - 1)] if n else None
        start = anchor_ns(raw)
        os.unlink(name)
        return start[0], times

    def run(self):
        self.start()
        self.kill()
        if self.problems:
            return
        if not self.recover(self.name):
            self.problems.append("nothing is there")
            return
        start, times = self.judge(self.name)
        if times:
            self.last = start + int(times[1] * 1e9)
        second = self.name.replace(".bin", ".2.bin")
        if self.kind == "splitting" and self.recover(second):
            start2, times = self.judge(second)
            if start2 - start != 10 ** 9:
                self.problems.append(f"the second file begins {start2 - start} ns after the first")
            if times:
                self.last = max(self.last, start2 + int(times[1] * 1e9))
        self.missing = self.killed - self.last


def stalls_in(stalls, begin, end):
    """How long, of the time between the two, the machine held somebody up."""
    return sum(max(0, min(to, end) - max(to - ns, begin)) for to, ns in stalls)


def main():
    nvmtop, kills = sys.argv[1].split(), int(sys.argv[3])
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else random.randrange(10 ** 9)
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
            try:
                run.run()
            except Exception as e:  # a test that cannot judge has failed
                run.problems.append(f"{type(e).__name__}: {e}")

    threads = [threading.Thread(target=work) for _ in range(TOGETHER)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    meter.stdin.close()
    meter.wait()
    with open("stalls.out") as f:
        stalls = [tuple(map(int, line.split())) for line in f]

    bad = [r for r in runs if r.problems]
    late = []
    for r in runs:
        if r.missing is None:
            continue
        allowed = PROMISE_MS * 10 ** 6 + stalls_in(stalls, r.last, r.killed)
        if r.missing > allowed:
            late.append((r, allowed))
    lost = sorted(r.missing / 1e6 for r in runs if r.missing is not None)
    print(f"{'not ok' if bad else 'ok'} 1 - {kills} recorders killed: each left what becomes a sound trace")
    for r in bad[:10]:
        for line in "; ".join(r.problems).splitlines():
            print(f"# {r.name} ({r.kind}): {line}")
    print(f"{'not ok' if late or not lost else 'ok'} 2 - at most the last {PROMISE_MS} ms are missing, "
          "and what the machine stalled")
    for r, allowed in late[:10]:
        print(f"# {r.name} ({r.kind}): {r.missing / 1e6:.1f} ms are missing, {allowed / 1e6:.1f} ms are allowed")
    if lost:
        print(f"# {kills} kills, seed {seed}: missing {lost[len(lost) // 2]:.0f} ms in the middle, "
              f"{lost[-1]:.0f} ms at most; {sum(m > PROMISE_MS for m in lost)} above {PROMISE_MS} ms, "
              f"where the machine stalled")
    print("1..2")
    return 0


if __name__ == "__main__":
    sys.exit(main())
