"""TAP: the module nvmtop, of which the first run has 30 tests and the second as many."""
import os
import struct
import subprocess
import sys
import threading
import time

TESTS = 30
how, source = sys.argv[1:]
first = 0 if how == "plain" else TESTS
n = first
if how == "plain":
    print("1..%d" % (2 * TESTS))
if how == "skip":
    for i in range(TESTS):
        print("ok %d - with NumPy # SKIP there is no NumPy: ./bootstrap --tests installs it" % (first + i + 1))
    sys.exit()

import nvmtop
from nvmtop import Recorder, read_trace


def ok(condition, what):
    global n
    n += 1
    print("%s %d - %s: %s" % ("ok" if condition else "not ok", n, how, what))


path = "run-%s.bin" % how
with Recorder(path, board="demo") as r:
    a = r.sync("load")
    time.sleep(0.3)
    b = r.sync()
    while r.sample_count < 500:
        time.sleep(0.01)
    running = r.is_running
ok((a, b, running) == (1, 2, True) and not r.is_running, "a recording with two marks")
t = read_trace(path)
ok(r.sample_count == len(t.fast), "sample_count of a recording that is over is that of its file")
ok(t.board == "demo" and t.cores == 12 and len(t.rails) == 4 and t.damage is None, "its header")
ok(len(t.fast) >= 500 and len(t.fast.cpu_aggregate) == len(t.fast), "its fast samples")
ids = [int(e) for e in t.fast.epoch]
ok(ids == sorted(ids) and set(ids) <= {0, 1, 2} and [e.id for e in t.epochs] == [0, 1, 2], "its epochs")
marked = [int(i) for i in range(len(ids)) if ids[i] == 1]
ok(all(t.epochs[1].start_s <= t.fast.time_s[i] < t.epochs[1].end_s for i in marked) and marked,
   "each sample is in the epoch of its time")

# The bytes of the format, read here once more from its specification alone.
raw = open(path, "rb").read()
counts = struct.unpack_from("<3Q", raw, 56)
at = 728 + 98 * (counts[0] - 1)
row = struct.unpack_from("<dH16ffQQf", raw, at)
cpu = [t.fast.cpu_util[-1][i] for i in range(12)] if how == "numpy" else [t.fast.cpu_util[i][-1] for i in range(12)]
ok((t.fast.time_s[-1], t.fast.gpu_load[-1]) == row[:2] and tuple(float(v) for v in cpu) == row[2:14] and
   (t.fast.cpu_aggregate[-1], t.fast.ram_used_kb[-1], t.fast.ram_available_kb[-1], t.fast.emc_util[-1]) == row[18:22],
   "the last fast sample, field by field")
row = struct.unpack_from("<d8I8I8f", raw, 728 + 98 * counts[0])
get = (lambda a, i: a[0][i]) if how == "numpy" else (lambda a, i: a[i][0])
ok(all(get(t.medium.voltage_mv, i) == row[1 + i] and get(t.medium.current_ma, i) == row[9 + i] and
       get(t.medium.power_mw, i) == row[17 + i] for i in range(4)), "the first medium sample")
ok(len(t.slow) == counts[2] and len(t.slow.temp_c[0] if how == "numpy" else t.slow.temp_c) == len(t.zones),
   "a temperature for each zone")
if how == "numpy":
    import numpy
    ok(isinstance(t.fast.time_s, numpy.ndarray) and t.fast.cpu_util.shape == (len(t.fast), 12), "arrays of NumPy")
else:
    ok(t.fast.time_s.typecode == "d", "arrays without NumPy")


def first_row_without(path):
    """Cores of this machine that are online, and have no load in the first row of a recording."""
    with Recorder(path, force=True):
        time.sleep(0.05)
    t = read_trace(path)
    return [name for name in t.signals if name in loads and not t.signals[name].missing and t[name][0] != t[name][0]]


loads = ["cpu.util"]
for part in open("/sys/devices/system/cpu/online").read().strip().split(","):
    low, _, high = part.partition("-")
    loads += ["cpu%d.util" % i for i in range(int(low), int(high or low) + 1)]
without = [first_row_without("live-%s.nvmt" % how) for i in range(5)]
ok(not any(without), "the first row of five recordings has every core that is online")
print("# without a load: %s" % without)

try:
    Recorder("/no/such/folder/x.bin", board="demo").start()
    ok(False, "an error is raised")
except nvmtop.NvmtopError as e:
    ok(e.code == nvmtop.FAILED and "/no/such/folder" in str(e), "an error has a code and a sentence")
    ok(isinstance(e, FileNotFoundError) and e.errno == 2, "it is the OSError of its errno")
try:
    Recorder(path, board="demo").start()
    ok(False, "a file that is there is said in the words of the module")
except FileExistsError as e:
    ok(isinstance(e, nvmtop.NvmtopError) and "force" in str(e) and "--" not in str(e),
       "a file that is there is said in the words of the module")
try:
    Recorder(path, board="demo", fast_hz=1e9).start()
    ok(False, "an error without an errno is none of the system's")
except nvmtop.NvmtopError as e:
    ok(e.code == nvmtop.USAGE and not isinstance(e, OSError), "an error without an errno is none of the system's")
open("cut.bin", "wb").write(raw[:2000])
t = read_trace("cut.bin")
ok("damaged" in t.damage and len(t.fast) == 12, "of a damaged trace the rest is there")
try:
    with Recorder("raised-%s.nvmt" % how, board="demo") as r:
        r.sync("before")
        raise KeyError("mine")
except KeyError:
    pass
ok(read_trace("raised-%s.nvmt" % how).epochs[1].label == "before", "an exception leaves a complete trace")
name, title, why = nvmtop.detect_board()
ok(bool(name and title) and nvmtop.version() == nvmtop.__version__, "the board of this machine")

# What was not read, told from what is 0: an independent writer leaves out ten values of the GPU.
sys.path.insert(0, os.path.join(source, "tests", "tools"))
import nvmt_write
made = nvmt_write.waves(1.0)
open("waves.nvmt", "wb").write(made.log())
t = read_trace("waves.nvmt")
gpu = [float(v) for v in t["gpu.util"]]
ok([v != v for v in gpu] == [v is None for v in made.data["gpu.util"]] and sum(v != v for v in gpu) == 10 and
   all(t.fast.gpu_load[i] == t.fast.gpu_load[499] for i in range(500, 510)), "a load that was not read is NaN, and the one before in version 1")
ok(all(a == b for a, b in zip(gpu, made.data["gpu.util"]) if b is not None) and gpu[0] == 0, "0 is 0")
ok([float(v) for v in t["count.f"]] == made.data["count.f"] and "temp.gpu" in t.signals and
   all(v != v for v in t["temp.gpu"]), "signals that version 1 has no field for")
s = t.signals["wave.power"]
ok((s.unit, s.tier, s.label, s.source) == ("mW", "medium", "wave", "made up") and len(t["wave.power"]) == len(t.medium),
   "what a signal is")
try:
    t["no.such"]
    ok(False, "a signal that is not there")
except KeyError:
    ok(True, "a signal that is not there")
t.close()
t.close()
try:
    t["gpu.util"]
    ok(False, "a trace that is closed says so")
except nvmtop.NvmtopError as e:
    ok(e.code == nvmtop.USAGE and len(t.fast) == 1001, "a trace that is closed says so")

with Recorder("marked-%s.nvmt" % how, board="demo", marks=True) as r:
    r.sync("own")
    subprocess.run([os.environ["NVMTOP"], "mark", "from outside"], check=True)
ok([e.label for e in read_trace("marked-%s.nvmt" % how).epochs] == ["", "own", "from outside"],
   "marks of another program")

# A thread that is in a call while another stops the recorder: its handle lives for as long as that.
r = Recorder("threads-%s.bin" % how, board="demo").start()
lib, inside, stopped, freed, seen = nvmtop._lib, threading.Event(), threading.Event(), [], []


class Held:
    def __getattr__(self, name):
        return getattr(lib, name)

    def nvmtop_sync(self, *args):
        inside.set()
        stopped.wait()
        seen.append(len(freed))
        seen.append(lib.nvmtop_sync(*args))
        return seen[-1]


def free(pointer):
    freed.append(pointer)
    lib.nvmtop_free(pointer)


nvmtop._lib, nvmtop._Handle.free = Held(), staticmethod(free)
thread = threading.Thread(target=r.sync)
thread.start()
inside.wait()
r.stop()
stopped.set()
thread.join()
nvmtop._lib = lib
ok(seen == [0, 0] and len(freed) == 1 and not r.is_running, "stopped while another thread is in a call")

# Ranges, while they are read from the file.
tool = os.path.join(os.path.dirname(os.environ["NVMTOP"]), "..", "tests", "tools", "ranges")
subprocess.run([tool, "ranges.nvmt"], check=True)
from ranges import ranges
t = read_trace("ranges.nvmt")
got = [(round(r.begin * 1000), round(r.end * 1000), r.name, r.domain, r.process, r.pid, r.thread, r.tid, r.depth,
        r.colour and "#%06x" % (r.colour & 0xFFFFFF), r.payload, r.open, r.category) for r in t.ranges]
ok(sorted(map(str, got)) == sorted(str(tuple(r)) for r in ranges()) and
   [r[0] for r in got] == [r.begin_ms for r in ranges()], "each range, in order of begin")
ok(sorted(r.name for r in t.ranges.between(1.1, 1.9)) ==
   sorted(r.name for r in ranges() if r.begin_ms < 1900 and r.end_ms > 1100), "those of a part of the time")
half = iter(t.ranges)
first = next(half)
t.close()
try:
    next(half)
    ok(False, "a trace that is closed while they are read says so")
except nvmtop.NvmtopError as e:
    ok(e.code == nvmtop.USAGE and first.name == "epoch", "a trace that is closed while they are read says so")
ok(list(read_trace("waves.nvmt").ranges) == [], "a trace without ranges")
