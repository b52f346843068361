#!/usr/bin/env python3
"""Measures the cost of nvmtop compared with a plain reader of the same files.

usage: cost.py [--seconds N] [--pairs N] [--only PART] [--peer SOURCE] [PROGRAM]

PART is paired, busy, late, screen or peer; all of them by default.

paired: the recorder and the baseline (tests/bench/reader, which reads every file at every
tick) take turns on one tree: the fake AGX Orin of tests/boards in memory (in /dev/shm, or
$COST_DIR) with its GPU on. If file systems can be mounted, /proc/stat and /proc/meminfo are
those of this machine, and debugfs files that generate their content on open are real ones
of this kernel, which cannot be kept open.
The baseline runs three times: with every file nvmtop reads there, at every tick of its tier,
opened and closed each time; the same with files kept open; and that with only the signals
of version 1 (GPU, cores, RAM, EMC at 1000 Hz, rails at 100 Hz, zones at 10 Hz). The ratio
of CPU times, nvmtop to reader, is computed per pair; the result is the median.
busy: the same with every core busy.

late: late ticks in a minute (or --late N seconds): idle, with every core busy, and also with
a rail that hangs for 2 s in every 10 (tests/tools/slowfs). A control runs on every core: a
1000 Hz thread that does nothing, with a higher real-time priority than any of nvmtop's. If
a control waited for its core at the same time (for at least 0.2 ms, because its ticks are at
other moments), a late tick is the machine's; the rest are nvmtop's own.

screen: the live screen.

peer: the recorder and fastnvmetrics' engine take turns on that tree with all numbers
changing; SOURCE is a checkout of github.com/justincdavis/fastnvmetrics. Its engine is
compiled with -O2 and runs in a chroot of the tree, which requires root.

CPU time is the scheduler's (CLOCK_PROCESS_CPUTIME_ID of the other process): user and system
times of rusage are sampled by the timer tick and alias with threads that wake at the same
rate. Compare only figures of one run.
"""
import argparse
import errno
import fcntl
import json
import os
import pty
import re
import random
import resource
import select
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BOARD = os.path.join(HERE, "..", "boards", "agx_orin-36.txt")
UNPACK = os.path.join(HERE, "..", "tools", "board.py")
GPU = "/sys/devices/platform/bus@0/17000000.gpu/counters"
EMC = "/sys/kernel/debug/cactmon/mc_all"
HZ = ["1000", "100", "10"]
WARM = 5.0  # the fast sources are known by then
TIERS = {"fast": 0, "medium": 1, "slow": 2}
# The channels in the peer's format, which are those the version 1 baseline reads.
VERSION_1 = re.compile(r"gpu\.util|cpu\.util|ram\.used|emc\.util|.*\.voltage|.*\.current|temp\.(?!hottest).*")


def cpu_s(pid):
    """CPU time of a running process and all its threads, including ended ones."""
    return time.clock_gettime((~pid << 3) | 2)


def peak_kb(pid):
    with open(f"/proc/{pid}/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))


def stolen_s():
    """Steal time of all cores."""
    with open("/proc/stat") as f:
        fields = f.readline().split()
    return int(fields[8]) / os.sysconf("SC_CLK_TCK") if len(fields) > 8 else 0.0


def cannot_seek(path):
    """True if it has to be reopened to be read again."""
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        os.pread(fd, 64, 0)
        return False
    except OSError as e:
        return e.errno == errno.ESPIPE
    finally:
        os.close(fd)


def made_when_opened(debugfs):
    """A debugfs file that has one number and cannot seek, like those of the EMC."""
    for folder, _, names in os.walk(debugfs):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and os.stat(path).st_mode & 0o444 and cannot_seek(path):
                with open(path, "rb") as f:
                    if f.read(24).strip().isdigit():
                        return path
    return None


class Tree:
    """The fake board in memory, with live files of this machine."""

    def __init__(self, folder):
        self.root = os.path.join(folder, "agx_orin-36")
        subprocess.run([sys.executable, UNPACK, "unpack", folder, BOARD], check=True)
        with open(self.root + GPU, "w", encoding="ascii") as f:
            f.write("123456 9876543\n")
        self.mounted = []
        self.live = self.mount("/proc/stat", "--bind") and self.mount("/proc/meminfo", "--bind")
        debugfs = os.path.join(folder, "debugfs")
        os.mkdir(debugfs)
        if self.mount("debugfs", "-tdebugfs", debugfs):
            number = made_when_opened(debugfs)
            if number:
                self.mount(number, "--bind", self.root + EMC)

    def mount(self, what, how, target=None):
        target = target or self.root + what
        done = subprocess.run(["mount", how, what, target], stderr=subprocess.DEVNULL, check=False)
        if done.returncode == 0:
            self.mounted.append(target)
        return done.returncode == 0

    def close(self):
        for target in reversed(self.mounted):
            subprocess.run(["umount", target], check=False)


def files_of(program, root, only):
    """[(tier, path)] listed by boards; ! marks files to reopen each time."""
    text = subprocess.run([program, "boards", "--sysroot", root], capture_output=True, text=True,
                          env={**os.environ, "LC_ALL": "C"}, check=True).stdout
    found = []
    for line in text.split("\nMissing")[0].splitlines():
        m = re.match(r"  (\S+) +(fast|medium|slow) +(.*)", line)
        if not m or (only and not only.fullmatch(m[1])):
            continue
        for path in re.findall(r"(?<![\w/])/(?:sys|proc)/[^ ;)]+", m[3].split("  (")[0]):
            # The EMC's divisor is a clock that is not in version 1.
            if only and "/clk/" in path:
                continue
            if os.path.isdir(root + path):  # a channel that counts a chip's readings names its directory
                continue
            entry = (TIERS[m[2]], ("!" if cannot_seek(root + path) else "") + root + path)
            if entry not in found:
                found.append(entry)
    return found


class Number:
    """A file with one integer that changes but keeps its number of digits."""

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
    """Busy and total cycles of the GPU, with a constant number of digits for ten minutes."""

    def __init__(self, path, period):
        self.fd = os.open(path, os.O_WRONLY)
        self.busy = self.total = 10**12
        self.due, self.period, self.load = 0.0, period, 0.5

    def step(self):
        self.load = min(max(self.load + random.uniform(-0.1, 0.1), 0), 1)
        self.total += 10**6
        self.busy += int(10**6 * self.load)
        os.pwrite(self.fd, b"%d %d\n" % (self.busy, self.total), 0)


class Animation:
    """Random changes to all numbers that nvmtop reads in a tree, except those in /proc."""

    def __init__(self, program, root):
        self.files = []
        for tier, path in files_of(program, root, None):
            path = path.lstrip("!")
            if path.startswith(root + "/proc"):
                continue
            try:
                make = Counters if path.endswith("/counters") else Number
                self.files.append(make(path, [0.005, 0.02, 0.1][tier]))
            except (ValueError, OSError):
                continue
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.stop.is_set():
            now = time.monotonic()
            for f in self.files:
                if now >= f.due:
                    f.due = now + f.period * random.uniform(0.7, 1.3)
                    f.step()
            time.sleep(0.002)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()


def measure(pid, seconds):
    """CPU time per second and peak memory, after a warm-up."""
    time.sleep(WARM)
    cpu, start = cpu_s(pid), time.monotonic()
    time.sleep(seconds)
    cpu, wall = cpu_s(pid) - cpu, time.monotonic() - start
    return {"cpu": cpu / wall, "peak": peak_kb(pid)}


SUMMARY = {
    "late": r"samples:.* (\d+) late",
    "rows": r"samples: +(\d+) fast",
    "p50": r"50 % within ([\d.]+ \w+)",
    "p99": r"99 % within ([\d.]+ \w+)",
    "max": r"all within ([\d.]+ \w+)",
}


def microseconds(text):
    number, unit = text.split()
    return float(number) * {"us": 1, "ms": 1e3, "s": 1e6}[unit]


def record(program, extra, seconds, folder):
    path = os.path.join(folder, "cost.nvmt")
    with subprocess.Popen([program, *extra, "--record", "--force", path], stderr=subprocess.PIPE, text=True,
                          env={**os.environ, "LC_ALL": "C"}) as p:
        r = measure(p.pid, seconds)
        p.send_signal(signal.SIGTERM)
        text = p.communicate()[1]
    if p.returncode:
        sys.exit(text)
    for key, pattern in SUMMARY.items():
        m = re.search(pattern, text)
        r[key] = m and (int(m[1]) if m[1].isdigit() else microseconds(m[1]))
    r["rate"] = r["rows"] / (seconds + WARM)
    r["written"] = os.path.getsize(path) / (seconds + WARM)
    r["fifo"] = "(SCHED_FIFO)" in text
    return r


def read_plainly(reader, files, seconds, folder, *how):
    path = os.path.join(folder, "plain")
    command = [reader, "--seconds", str(int(seconds + WARM + 1)), "--out", path]
    with subprocess.Popen([*command, *how, *HZ], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as p:
        p.stdin.write("".join(f"{tier} {name}\n" for tier, name in files))
        p.stdin.close()
        r = measure(p.pid, seconds)
        told = json.loads(p.stdout.read())
    r.update(late=told["late"], p50=told["p50_us"], p99=told["p99_us"], max=told["max_us"],
             rate=told["rows"][0] / told["seconds"], written=os.path.getsize(path) / told["seconds"])
    return r


def row(name, runs, ratio=""):
    def mid(key):
        return statistics.median(r[key] for r in runs)
    print(f"{name:30} {100 * mid('cpu'):6.2f} % {1e6 * mid('cpu') / mid('rate'):6.1f} us "
          f"{ratio:>6} {mid('peak') / 1000:6.1f} MB {mid('written') / 1000:7.1f} kB/s "
          f"{mid('p50'):5.0f} {mid('p99'):6.0f} {max(r['max'] for r in runs):7.0f} us "
          f"{sum(r['late'] for r in runs):5}")


def ratio_of(recorded, plain):
    return f"{statistics.median(a['cpu'] / b['cpu'] for a, b in zip(recorded, plain)):.2f}"


def paired(program, reader, seconds, pairs, busy):
    spinners = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(os.cpu_count() * busy)]
    with tempfile.TemporaryDirectory(dir=os.environ.get("COST_DIR", "/dev/shm")) as folder:
        tree = Tree(folder)
        try:
            few = files_of(program, tree.root, VERSION_1)
            every = files_of(program, tree.root, None)
            runs = {name: [] for name in ("nvmtop", "few", "every", "open", "control")}
            stolen, start = stolen_s(), time.monotonic()
            for _ in range(pairs):
                runs["nvmtop"].append(record(program, ["--sysroot", tree.root], seconds, folder))
                runs["few"].append(read_plainly(reader, few, seconds, folder))
                runs["every"].append(read_plainly(reader, every, seconds, folder))
                runs["open"].append(read_plainly(reader, every, seconds, folder, "--open"))
                runs["control"].append(read_plainly(reader, [], seconds, folder, "--fifo"))
            stolen = (stolen_s() - stolen) / (time.monotonic() - start)
        finally:
            tree.close()
            for p in spinners:
                p.kill()
                p.wait()
    live = "with this machine's /proc" if tree.live else "with a /proc that stands still"
    print(f"\n{'all cores busy' if busy else 'quiet'}: {pairs} x {seconds:g} s in turn, {live}; "
          f"the host took {100 * stolen:.1f} % of a core")
    print(f"{'':30} {'CPU':>8} {'a sample':>9} {'ratio':>6} {'memory':>9} {'written':>12} "
          f"{'late p50':>8} {'p99':>3} {'max':>10} {'ticks':>5}")
    fifo = "" if all(r["fifo"] for r in runs["nvmtop"]) else " (no SCHED_FIFO)"
    row("nvmtop --record" + fifo, runs["nvmtop"])
    for key, name, files in (("open", "reader, opens each", every), ("every", "reader, holds them", every),
                             ("few", "reader, version 1", few)):
        row(f"{name} ({len(files)} files)", runs[key], ratio_of(runs["nvmtop"], runs[key]))
    row("control: SCHED_FIFO, no files", runs["control"])


def build_peer(source, folder):
    path = os.path.join(folder, "peer")
    subprocess.run(["g++", "-std=c++17", "-O2", "-static", "-D_GNU_SOURCE", "-I", source + "/include", "-o", path,
                    os.path.join(HERE, "peer.cpp"), source + "/src/engine.cpp", source + "/src/config.cpp",
                    "-pthread"], check=True)
    return path


def peer_once(peer, root, seconds):
    shutil.copy(peer, root + "/peer")
    with subprocess.Popen(["chroot", root, "/peer", "/peer.nvmt", str(int(seconds + WARM + 1))],
                          stdout=subprocess.PIPE, text=True) as p:
        r = measure(p.pid, seconds)
        r["rate"] = int(p.communicate()[0]) / int(seconds + WARM + 1)
    return r


def beside_peer(program, reader, source, seconds, pairs):
    with tempfile.TemporaryDirectory(dir=os.environ.get("COST_DIR", "/dev/shm")) as folder:
        peer = build_peer(source, folder)
        tree = Tree(folder)
        nvmtop, other, control = [], [], []
        try:
            with Animation(program, tree.root) as moving:
                for _ in range(pairs):
                    nvmtop.append(record(program, ["--sysroot", tree.root], seconds, folder))
                    other.append(peer_once(peer, tree.root, seconds))
                    control.append(read_plainly(reader, [], seconds, folder, "--fifo"))
        finally:
            tree.close()
    print(f"\nbeside fastnvmetrics' engine: {pairs} x {seconds:g} s in turn, {len(moving.files)} files move")
    for name, runs in (("nvmtop", nvmtop), ("fastnvmetrics", other), ("control: SCHED_FIFO, no files", control)):
        print(f"{name:30} {100 * statistics.median(r['cpu'] for r in runs):6.2f} %  "
              f"{statistics.median(r['rate'] for r in runs):6.0f} samples/s  "
              f"{statistics.median(r['peak'] for r in runs) / 1000:6.1f} MB")
    ratios = sorted(a["cpu"] / b["cpu"] for a, b in zip(nvmtop, other))
    print(f"ratio {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")


BUS = "/sys/devices/platform/bus@0/c240000.i2c"


def hang_rails(folder, root):
    """Makes a chip of the tree hang for 2 s in every 10; returns the server, or None without
    FUSE."""
    slowfs = os.path.join(HERE, "..", "tools", "slowfs")
    base, rules = os.path.join(folder, "bus"), os.path.join(folder, "rules")
    if not os.access(slowfs, os.X_OK) or not os.path.exists("/dev/fuse"):
        return None
    shutil.copytree(root + BUS, base, symlinks=True)
    with open(rules, "w", encoding="ascii") as f:
        for start in range(3000, 120000, 10000):
            f.write(f"/i2c-1/1-0040/hwmon/hwmon4/in1_input hang {start} {start + 2000}\n")
    # pylint: disable-next=consider-using-with
    server = subprocess.Popen([slowfs, base, rules, root + BUS], stderr=subprocess.DEVNULL)
    for _ in range(100):
        if os.path.exists(root + BUS + "/.rules"):
            return server
        time.sleep(0.05)
    server.kill()
    server.wait()
    return None


def late_spans(program, path):
    """Times when a fast row was due and missing, in ns of CLOCK_REALTIME."""
    build = os.path.join(os.path.dirname(program), "..")
    os.environ.setdefault("NVMTOP_LIBRARY", os.path.join(build, "libnvmtop.so.1"))
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "python"))
    import nvmtop  # pylint: disable=import-outside-toplevel
    trace = nvmtop.read_trace(path)
    start, times = trace.start_real_ns, list(trace.fast.time_s)
    return [(start + int(a * 1e9) + 1000000, start + int(b * 1e9))
            for a, b in zip(times, times[1:]) if b - a > 0.0019]


def meet(span, others):
    slack = 200000  # agreement between the two clocks and the row times
    return any(a < span[1] + slack and span[0] < b + slack for a, b in others)


def late_once(program, reader, seconds, folder, root, name, busy):
    spinners = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(os.cpu_count() * busy)]
    path = os.path.join(folder, "late.nvmt")
    controls = [subprocess.Popen([reader, "--fifo", "--cpu", str(n), "--seconds", str(seconds + 1), "1000", "0", "0"],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
                for n in sorted(os.sched_getaffinity(0))]
    try:
        text = subprocess.run([program, "--sysroot", root, "--record", "--force", "--duration",
                               str(seconds), path], capture_output=True, text=True, check=True,
                              env={**os.environ, "LC_ALL": "C"}).stderr
        idle = [json.loads(p.communicate()[0]) for p in controls]
    finally:
        for p in spinners + controls:
            p.kill()
            p.wait()
    samples = re.search(r"samples: *(.*)", text)[1]
    late = re.search(r"lateness: *(.*)", text)[1]
    spans = late_spans(program, path)
    machine = sum(meet(s, [span for c in idle for span in c["spans_real_ns"]]) for s in spans)
    print(f"{name}: {samples}\n    {late}\n    stretches without a row: {len(spans)}, of which the machine's "
          f"{machine}, nvmtop's own {len(spans) - machine}\n    controls: "
          + "; ".join(f"{c['late']} late, 99 % within {c['p99_us']} us, all within {c['max_us']} us" for c in idle))


def late_ticks(program, reader, seconds):
    with tempfile.TemporaryDirectory(dir=os.environ.get("COST_DIR", "/dev/shm")) as folder:
        tree = Tree(folder)
        server = None
        print(f"\nlate ticks in {seconds} s")
        try:
            late_once(program, reader, seconds, folder, tree.root, "quiet", 0)
            late_once(program, reader, seconds, folder, tree.root, "all cores busy", 1)
            server = hang_rails(folder, tree.root)
            if server:
                late_once(program, reader, seconds, folder, tree.root, "all cores busy, a rail hangs", 1)
            else:
                print("a rail hangs: not measured, there is no slowfs or no FUSE here")
        finally:
            tree.close()
            if server:
                server.terminate()
                server.wait()
                subprocess.run(["umount", "-l", tree.root + BUS], stderr=subprocess.DEVNULL, check=False)


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
                except OSError:  # it has exited
                    break
        return total

    drain(time.monotonic() + 3)
    cpu, start = cpu_s(pid), time.monotonic()
    sent = drain(start + seconds)
    wall = time.monotonic() - start
    r = {"cpu": (cpu_s(pid) - cpu) / wall, "peak": peak_kb(pid), "sent": sent / wall}
    os.write(fd, b"q")
    drain(time.monotonic() + 0.5)
    os.waitpid(pid, 0)
    return r


def screens(program, seconds):
    hz1 = ["--fast-hz", "1", "--medium-hz", "1", "--slow-hz", "1"]
    print(f"\n{'screen 120x40':30} {'CPU':>8} {'memory':>10} {'to terminal':>14}")
    for name, extra in (("this machine", []), ("demo board", ["--demo"]), ("sampling at 1 Hz", hz1)):
        r = screen(program, seconds, extra)
        print(f"{name:30} {100 * r['cpu']:6.2f} % {r['peak'] / 1000:7.1f} MB {r['sent'] / 1000:9.1f} kB/s")


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--seconds", type=float, default=5)
    p.add_argument("--pairs", type=int, default=5)
    p.add_argument("--late", type=int, default=60)
    p.add_argument("--only", choices=("paired", "busy", "late", "screen", "peer"))
    p.add_argument("--peer", metavar="SOURCE")
    p.add_argument("program", nargs="?", default="src/nvmtop")
    a = p.parse_args()
    program = os.path.abspath(a.program)
    reader = os.path.join(os.path.dirname(program), "..", "tests", "bench", "reader")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if a.only in (None, "paired"):
        paired(program, reader, a.seconds, a.pairs, 0)
    if a.only in (None, "busy"):
        paired(program, reader, a.seconds, a.pairs, 1)
    if a.only in (None, "late"):
        late_ticks(program, reader, a.late)
    if a.only in (None, "screen"):
        screens(program, a.seconds)
    if a.peer and a.only in (None, "peer"):
        beside_peer(program, reader, os.path.abspath(a.peer), a.seconds, a.pairs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
