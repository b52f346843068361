#!/usr/bin/env python3
"""What nvmtop costs: CPU, memory, bytes to the disk and to the terminal.

usage: cost.py [--seconds N] [PROGRAM]

Every figure is of one run on this machine, as the kernel counts it (user and
system time of the process and its threads).  Compare figures of one run with
each other, not with those of another machine.
"""
import argparse
import fcntl
import os
import pty
import resource
import select
import signal
import struct
import sys
import tempfile
import termios
import time


def cpu_and_rss(pid):
    """CPU seconds so far, over all threads, and peak resident kB of a running process."""
    cpu = 0.0
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/schedstat") as f:
            cpu += int(f.read().split()[0]) / 1e9
    with open(f"/proc/{pid}/status") as f:
        peak = next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))
    return cpu, peak


def record(program, seconds, extra):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cost.bin")
        err = os.path.join(folder, "err")
        pid = os.fork()
        if pid == 0:
            fd = os.open(err, os.O_WRONLY | os.O_CREAT, 0o600)
            os.dup2(fd, 2)
            os.execv(program, [program, *extra, "--record", path])
        time.sleep(1.5)
        cpu0, _ = cpu_and_rss(pid)
        start = time.monotonic()
        time.sleep(seconds)
        cpu1, peak = cpu_and_rss(pid)
        wall = time.monotonic() - start
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)
        size = os.path.getsize(path)
        with open(err) as f:
            summary = [line.strip() for line in f if "late" in line]
    return {"cpu": (cpu1 - cpu0) / wall, "peak": peak, "size": size / (wall + 1.5), "summary": summary}


def screen(program, seconds, extra, size=(120, 40)):
    pid, fd = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm-256color"
        os.execv(program, [program, *extra])
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    os.kill(pid, signal.SIGWINCH)

    def drain(until):
        total = 0
        while time.monotonic() < until:
            if select.select([fd], [], [], max(0, until - time.monotonic()))[0]:
                try:
                    total += len(os.read(fd, 65536))
                except OSError:  # it has ended
                    break
        return total

    drain(time.monotonic() + 3)
    cpu0, _ = cpu_and_rss(pid)
    start = time.monotonic()
    sent = drain(start + seconds)
    cpu1, peak = cpu_and_rss(pid)
    wall = time.monotonic() - start
    os.write(fd, b"q")
    drain(time.monotonic() + 0.5)
    os.waitpid(pid, 0)
    return {"cpu": (cpu1 - cpu0) / wall, "peak": peak, "bytes": sent / wall}


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--seconds", type=float, default=10)
    p.add_argument("program", nargs="?", default="src/nvmtop")
    a = p.parse_args()
    program = os.path.abspath(a.program)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print(f"{'what':34} {'CPU of a core':>14} {'peak memory':>12} {'written':>12}")
    rows = [("--record, this machine", record, []), ("--record, demo board", record, ["--demo"]),
            ("--record, sampling at 1 Hz", record, ["--fast-hz", "1", "--medium-hz", "1", "--slow-hz", "1"]),
            ("screen 120x40, this machine", screen, []), ("screen 120x40, demo board", screen, ["--demo"]),
            ("screen 120x40, sampling at 1 Hz", screen, ["--fast-hz", "1", "--medium-hz", "1", "--slow-hz", "1"])]
    for name, run, extra in rows:
        r = run(program, a.seconds, extra)
        written = r.get("size", r.get("bytes"))
        print(f"{name:34} {100 * r['cpu']:12.2f} % {r['peak'] / 1024:9.1f} MB {written / 1000:7.1f} kB/s")
        for line in r.get("summary", []):
            print("    " + line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
