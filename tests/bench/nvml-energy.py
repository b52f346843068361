#!/usr/bin/env python3
"""Compares the joules of NVTX ranges that nvmtop reports for an NVIDIA card with the card's own samples.

A program switches between matrix products and sleep every second, 0.2 s and 0.07 s, each for some seconds, in ranges of
NVTX. nvmtop records it, while this script takes the card's samples of 20 ms and its energy counter through
libnvidia-ml.so.1 by itself. The truth is those samples, scaled to the rise of the counter over the same time. How a
sample that spans an edge is to be shared is not known: by time gives the busy side too little, by time and the mean power
of both sides too much, as far as the card takes time to change its power. Both are printed.

    tests/bench/nvml-energy.py              # needs a built nvmtop, an NVIDIA card, and PyTorch; takes a minute
    tests/bench/nvml-energy.py --dry-run    # with a library in the place of NVML and no card; needs a C compiler

Exits 1 if for one range there is neither of both whose difference is within the bound and at most 2, 4 or 8 % (of 1 s,
0.2 s and 0.07 s).
"""
import argparse
import bisect
import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

LENGTHS = {1.0: 2, 0.2: 4, 0.07: 8}  # s of a range: % of error that is fine
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "..", "..")


class Nvml:
    """The card's own numbers, without nvmtop."""

    class Sample(ctypes.Structure):
        _fields_ = [("stamp_us", ctypes.c_ulonglong), ("value", ctypes.c_ulonglong)]

    def __init__(self, library):
        self.lib = ctypes.CDLL(library)
        self.device = ctypes.c_void_p()
        self.call("nvmlInit_v2")
        self.call("nvmlDeviceGetHandleByIndex_v2", 0, ctypes.byref(self.device))

    def call(self, name, *args):
        failed = getattr(self.lib, name)(*args)
        if failed:
            raise OSError("%s: NVML error %d" % (name, failed))

    def name(self):
        text = ctypes.create_string_buffer(96)
        self.call("nvmlDeviceGetName", self.device, text, 96)
        return text.value.decode()

    def samples(self, since_us):
        room, kind = ctypes.c_uint(0), ctypes.c_int()
        since = ctypes.c_ulonglong(since_us)
        args = self.device, 0, since, ctypes.byref(kind), ctypes.byref(room)
        if self.lib.nvmlDeviceGetSamples(*args, None) or not room.value:
            return []
        out = (self.Sample * room.value)()
        if self.lib.nvmlDeviceGetSamples(*args, out):
            return []
        return [(s.stamp_us, (s.value & 0xffffffff) / 1e3) for s in out[:room.value]]

    def joules(self):
        mj = ctypes.c_ulonglong()
        self.call("nvmlDeviceGetTotalEnergyConsumption", self.device, ctypes.byref(mj))
        return mj.value / 1e3


class Beside:
    """Takes all samples and all changes of the counter until stop()."""

    def __init__(self, library):
        self.nvml = Nvml(library)
        self.samples, self.counter, self.going = {}, [], True
        self.threads = [threading.Thread(target=f) for f in (self.take_samples, self.take_counter)]
        for t in self.threads:
            t.start()

    def take_samples(self):
        newest = 0
        while self.going:
            for stamp, watts in self.nvml.samples(newest):
                self.samples[stamp] = watts
                newest = max(newest, stamp)
            time.sleep(0.01)

    def take_counter(self):
        last = None
        while self.going:
            before, joules = time.time(), self.nvml.joules()
            if joules != last:
                self.counter.append(((before + time.time()) / 2, joules))
                last = joules
            time.sleep(0.001)

    def stop(self):
        self.going = False
        for t in self.threads:
            t.join()


def interpolate(points, x):
    at = [p[0] for p in points]
    i = min(max(bisect.bisect(at, x), 1), len(points) - 1)
    (a, p), (b, q) = points[i - 1], points[i]
    return p + (q - p) * (x - a) / (b - a)


def truth(beside, ranges):
    """Joules by name of ranges, a list of (name, from, to), of the samples, scaled to the counter's rise: with a
    sample that spans an edge shared by the time on each side, and by time and mean power on each side."""
    # from rest to rest, where it does not matter when the counter changed
    begin, end = min(r[1] for r in ranges) - 0.4, max(r[2] for r in ranges) + 0.4
    names = sorted(set(r[0] for r in ranges))
    windows, of_whole = [], {name: [] for name in names}
    stamps = sorted(beside.samples)
    for before, stamp in zip(stamps, stamps[1:]):
        a, b = max(before / 1e6, begin), min(stamp / 1e6, end)
        if b <= a:
            continue
        shares = dict.fromkeys(names, 0.0)
        for name, p, q in ranges:
            shares[name] += max(min(b, q) - max(a, p), 0)
        watts = beside.samples[stamp]
        windows.append((b - a, watts, shares))
        for name in names:
            if shares[name] > 0.99 * (b - a):
                of_whole[name].append(watts)
    scale = (interpolate(beside.counter, end) - interpolate(beside.counter, begin)) / sum(t * w for t, w, _ in windows)
    level = {name: sum(of_whole[name]) / len(of_whole[name]) for name in names}
    by_time, by_power = dict.fromkeys(names, 0.0), dict.fromkeys(names, 0.0)
    for seconds, watts, shares in windows:
        covered, weight = sum(shares.values()), sum(shares[n] * level[n] for n in names)
        for name in names:
            by_time[name] += watts * shares[name] * scale
            by_power[name] += watts * covered * shares[name] * level[name] / weight * scale if weight else 0
    return by_time, by_power, scale


def closed_form(start, seconds, ranges):
    """Joules by name of ranges, as tests/tools/nvml-fake.c has them."""
    def energy(t):
        busy = 0
        for i, length in enumerate(LENGTHS):
            full, part = divmod(min(max(t - start - i * (seconds + 1), 0), seconds), 2 * length)
            busy += full * length + min(part, length)
        return 120 * (t - start) + 580 * busy

    out = {}
    for name, a, b in ranges:
        out[name] = out.get(name, 0.0) + energy(b) - energy(a)
    return out


def push_and_pop():
    """Functions of the injection library, as NVTX gives them to a program; those of PyTorch where it is."""
    pointer = ctypes.c_void_p
    slots = (pointer * 32)()
    table = (pointer * 33)(*[ctypes.addressof(slots) + 8 * i for i in range(32)])

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.POINTER(pointer), ctypes.POINTER(ctypes.c_uint))
    def module(which, to, size):
        to[0] = ctypes.addressof(table)
        size[0] = 16 if which == 1 else 0
        return int(which == 1)

    class Callbacks(ctypes.Structure):
        _fields_ = [("size", ctypes.c_size_t), ("module", type(module))]

    callbacks = Callbacks(ctypes.sizeof(Callbacks), module)

    @ctypes.CFUNCTYPE(pointer, ctypes.c_uint32)
    def export(which):
        return ctypes.addressof(callbacks) if which == 1 else None

    library = ctypes.CDLL(os.environ["NVTX_INJECTION64_PATH"])
    library.InitializeInjectionNvtx2(export)
    push = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)(slots[9])
    pop = ctypes.CFUNCTYPE(ctypes.c_int)(slots[11])
    kept = library, export, module, callbacks, table
    return (lambda name: (push(name.encode()), kept)), pop


def load(args):
    """Runs below nvmtop record: the ranges, and their times to the file args.load."""
    ranges, start = [], args.start
    if start:
        push, pop = push_and_pop()

        def work():
            time.sleep(0.0005)
    else:
        import torch
        push, pop = torch.cuda.nvtx.range_push, torch.cuda.nvtx.range_pop
        a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
        b = torch.randn_like(a)

        def work():
            a @ b
            torch.cuda.synchronize()

        work()
        time.sleep(2)
        start = time.time() + 0.5
    for i, length in enumerate(LENGTHS):
        begin = start + i * (args.seconds + 1)
        for k in range(int(args.seconds / length / 2) * 2):
            time.sleep(max(begin + k * length - time.time(), 0))
            name = "%s %g" % ("rest" if k % 2 else "busy", length)
            push(name)
            t = time.time()
            while time.time() < begin + (k + 1) * length - 0.0005:
                if k % 2:
                    time.sleep(max(begin + (k + 1) * length - time.time() - 0.0005, 0))
                else:
                    work()
            ranges.append((name, t, time.time()))
            pop()
    time.sleep(1)
    with open(args.load, "w") as f:
        json.dump(ranges, f)


def measure(args, folder):
    times, file = os.path.join(folder, "ranges.json"), os.path.join(folder, "run.nvmt")
    me = [sys.executable, os.path.abspath(__file__), "--seconds", str(args.seconds), "--load", times]
    env, library = dict(os.environ), "libnvidia-ml.so.1"
    if args.dry_run:
        subprocess.check_call([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", folder + "/libnvidia-ml.so.1",
                               os.path.join(SOURCE, "tests/tools/nvml-fake.c"), "-lm"])
        start = time.time() + 4
        library = os.path.join(folder, library)
        env["LD_LIBRARY_PATH"] = folder
        env["NVML_FAKE_LOAD"] = os.environ["NVML_FAKE_LOAD"] = " ".join(map(str, [start, args.seconds, *LENGTHS]))
        me += ["--start", str(start)]
    beside = Beside(library)
    try:
        subprocess.check_call([args.nvmtop, "record", "--no-config", "--nvtx", "-o", file, "--", *me], env=env)
    finally:
        beside.stop()
    with open(times) as f:
        ranges = json.load(f)
    by_range = json.loads(subprocess.check_output(
        [args.nvmtop, "report", "--no-config", "--by", "range", "--format", "json", "--select", "gpu.power", file]))
    groups = {g["name"]: g for g in by_range["traces"][0]["groups"]}
    wrong = []
    print("%s, ranges of NVTX, %g s of each length" % (beside.nvml.name(), args.seconds))
    truths = ["by time J", "by power J"] + ["closed form"] * args.dry_run
    print("%-10s %9s %8s" % ("range", "nvmtop J", "+-") + "".join("   %11s %7s %6s" % (t, "error %", "within") for t in truths))
    for length, fine in LENGTHS.items():
        these = [r for r in ranges if r[0].endswith(" %g" % length)]
        *both, scale = truth(beside, these)
        if args.dry_run:
            both.append(closed_form(start, args.seconds, these))
        for name in sorted(both[0]):
            got = groups.get(name, {})
            joules, bound = got.get("energy_j"), got.get("energy_within_j")
            if joules is None:
                print("%-10s        --       --   %11.1f  (%s)" % (name, both[0][name], got.get("reason")))
                wrong.append(name)
                continue
            line, good = "%-10s %9.1f %8.1f" % (name, joules, bound), False
            for true in both:
                error, within = 100 * (joules / true[name] - 1), abs(joules - true[name]) <= bound
                line += "   %11.1f %+7.1f %6s" % (true[name], error, "yes" if within else "no")
                # the closed form, where there is one, is the only truth
                good = within and abs(error) <= fine or good and not args.dry_run
            print(line)
            if not good:
                wrong.append(name)
        print("           (the counter rises by %.4f of the sum of the samples)" % scale)
    if wrong:
        print("not as it should be: " + ", ".join(wrong))
    if args.keep:
        shutil.copy(file, args.keep)
        with open(args.keep + ".json", "w") as f:
            json.dump({"samples": sorted(beside.samples.items()), "counter": beside.counter, "ranges": ranges}, f)
    return bool(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nvmtop", default=os.path.join(SOURCE, "src", "nvmtop"), help="the program (%(default)s)")
    parser.add_argument("--seconds", type=float, default=9, help="of each length (%(default)s)")
    parser.add_argument("--dry-run", action="store_true", help="with a library in the place of NVML")
    parser.add_argument("--keep", metavar="FILE", help="copy the recording to FILE, and what was taken to FILE.json")
    parser.add_argument("--load", help=argparse.SUPPRESS)
    parser.add_argument("--start", type=float, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.load:
        load(args)
        return
    if not os.access(args.nvmtop, os.X_OK):
        sys.exit("%s is not there: build it, or name it with --nvmtop" % args.nvmtop)
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(measure(args, folder))


if __name__ == "__main__":
    main()
