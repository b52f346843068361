#!/usr/bin/env python3
"""Makes one file of each kind in each board tree hang, be slow or go away, one after the other, during a
recording, and checks what it delays, what is said of it, and that its values come back; or has all of them come
late, after the recording began, and checks that each has values then.

  hangs.py NVMTOP SLOWFS SCRATCH TREE...

Prints one TAP line per tree and way."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time

FIRST, STEP, HANG = 0.8, 0.3, 3  # in seconds: start of the first hang, interval, duration
AT_ONCE = 6
LATE = 12  # a recording goes on for so long after they came; they are looked for once a second
# What a file does, for HANG seconds: the rule of slowfs, whether it has no values then, whether that is reported,
# the trees, and the files that do not. The kernel's own files do not go away.
WAYS = {
    "hangs": ("hang", True, True, r".*", r""),
    "is slow": ("wait=30000", False, False, r"agx_orin-36|nano-32|agx_thor-38", r""),
    "goes away": ("gone", True, False, r"agx_orin-36|nano-32|agx_thor-38", r"/proc/.*|.*/devfreq/.*"),
    "comes late": ("gone", True, False, r"agx_orin-36|nano-32|agx_thor-38", r"/proc/.*|.*/devfreq/.*"),
}
# A delayed channel has no value while the file hangs. On a busy machine others lose some too, but not
# for so long.
HELD_UP = 2.8
DERIVED = re.compile(r"power\.total|energy\.total|temp\.hottest|cpu\.window|clocks\.pinned")
PLACES = ("/sys/class/devfreq", "/sys/class/hwmon", "/sys/class/thermal", "/sys/devices/system/cpu", "/sys/kernel/debug", "/sys", "/proc")


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, **more)


class Tree:
    def __init__(self, nvmtop, slowfs, scratch, tree, way):
        self.nvmtop, self.slowfs, self.way = nvmtop, slowfs, way
        self.rule, self.misses, self.reported, _, self.spared = WAYS[way]
        self.name = os.path.basename(tree)
        self.late = way == "comes late"
        self.at = os.path.join(scratch, self.name + way.replace(" ", "-"))
        self.base, self.root = os.path.join(self.at, "base"), os.path.join(self.at, "root")
        shutil.copytree(tree, self.base, symlinks=True)
        run("chmod", "-R", "u+w", self.base)
        os.makedirs(self.root)
        self.why, self.server, self.recorder = [], None, None

    def path(self, name):
        """The real path of a file within the tree, or None."""
        real = os.path.realpath(self.base + name)
        return real[len(os.path.realpath(self.base)):] if os.path.isfile(real) else None

    def files(self, source):
        return [p for p in map(self.path, re.findall(r"/[^\s,]+", source or "")) if p]

    def mount(self):
        rules = os.path.join(self.at, "none")
        open(rules, "w").close()
        self.server = subprocess.Popen([self.slowfs, self.base, rules, self.root],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.control = os.path.join(self.root, ".rules")
        for _ in range(200):
            if os.path.exists(self.control):
                return
            time.sleep(0.05)
        raise RuntimeError("a file system cannot be mounted here")

    def move_counters(self):
        """Counters of a GPU that is off are used as they are; those that stand still are not."""
        for folder, _, names in os.walk(self.base + "/sys/devices"):
            if "counters" in names:
                with open(os.path.join(folder, "counters"), "w") as f:
                    f.write("0 0\n")

    def choose(self):
        """One file of each kind: (file, channels that may miss it)."""
        out = run(self.nvmtop, "once", "--json", "--sysroot", self.base).stdout
        self.channels = {c["name"]: c for c in json.loads(out)["channels"]}
        chosen = {}
        for c in self.channels.values():
            for source in re.findall(r"/[^\s,]+", c.get("source") or ""):
                real = self.path(source)
                place = next((p for p in PLACES if source.startswith(p)), None)
                if real and place:
                    chosen.setdefault((place, re.sub(r"\d+", "#", os.path.basename(source))), real)
        self.hung = {file: self.affected(file) for file in chosen.values() if not re.fullmatch(self.spared, file)}

    def affected(self, file):
        def reads(c):
            for p in self.files(c.get("source")):
                if p == file or (not p.startswith("/proc") and os.path.dirname(p) == os.path.dirname(file)):
                    return True
            return False
        names = {n for n, c in self.channels.items() if reads(c)}
        # derived channels and those that show one of the files may be read together
        together = {p for n in names if "kHz /" in (self.channels[n].get("source") or "") for p in self.files(self.channels[n]["source"])}
        names |= {n for n, c in self.channels.items() if together & set(self.files(c.get("source")))}
        names |= {n for n, c in self.channels.items() if any(w in names for w in (c.get("source") or "").split())}
        return names

    def tell(self, rule):
        with open(self.control, "w") as f:
            f.write(rule + "\n")

    def record(self):
        began, trace = os.path.join(self.at, "began"), os.path.join(self.at, "t.nvmt")
        length = FIRST + LATE if self.late else FIRST + STEP * len(self.hung) + HANG + 2.5
        for file in self.hung if self.late else ():
            self.tell(f"{file} {self.rule}")
        hz = "50" if self.way == "is slow" else "10"  # each read costs a request to slowfs
        self.recorder = subprocess.Popen(
            [self.nvmtop, "--record", "--sysroot", self.root, "--fast-hz", hz, "--medium-hz", hz, "-o", trace, "--",
             "sh", "-c", f"echo >{began}; exec sleep {length}"], stderr=subprocess.PIPE, text=True)
        for _ in range(600):
            if os.path.exists(began):
                break
            time.sleep(0.02)
        for i, file in enumerate(self.hung):
            from_ms = 1000 * (FIRST + STEP * i)
            self.tell(f"{file} clear" if self.late else f"{file} {self.rule} {from_ms:.0f} {from_ms + 1000 * HANG:.0f}")
        self.said = self.recorder.communicate(timeout=60)[1]
        if self.recorder.returncode:
            self.why.append(f"exit status {self.recorder.returncode}")
        export = run(self.nvmtop, "export", "jsonl", trace, "-o", "-").stdout
        self.rows = [json.loads(line) for line in export.splitlines()]

    def judge(self):
        may_miss = set().union(*self.hung.values()) if self.hung else set()
        rows, ever, since, holes = {}, {}, {}, {}
        for r in self.rows:
            tier = r.get("row")
            if tier not in ("fast", "medium", "slow"):
                continue
            rows.setdefault(tier, []).append(r["time_s"])
            for name, v in r.items():
                if v is not None:
                    ever.setdefault(name, r["time_s"])
                    since.pop(name, None)
                elif name in ever and not DERIVED.fullmatch(name):
                    hole = r["time_s"] - since.setdefault(name, r["time_s"])
                    holes[name] = max(hole, holes.get(name, 0))
        missed = {n for n, hole in holes.items() if hole > HELD_UP}
        for name in missed - (may_miss if self.misses else set()):
            self.why.append(f"{name} has no value for {holes[name]:.2f} s")
        announced = set().union(*self.rows)  # the others are read by the next recording
        for name in may_miss & announced if self.late else ():
            if self.channels[name].get("value") is not None and name not in ever:
                self.why.append(f"{name} never has a value")
        if self.late and not any(" -> now read" in str(r) or r.get("to") == "now read" for r in self.rows):
            self.why.append("nothing came late")
        for tier, times in rows.items():
            longest = max(b - a for a, b in zip(times, times[1:]))
            if longest > HELD_UP:
                self.why.append(f"no row of the {tier} tier for {longest:.2f} s")
        for name in missed:
            if rows and name in since and max(map(max, rows.values())) - since[name] > 1:
                self.why.append(f"{name} does not come back")
        for file, names in self.hung.items():
            # otherwise it was not read: powered down, for example
            if self.reported and missed & names and not any(
                    f"{n} has not answered for" in self.said and f"no answer: {n} for" in self.said for n in names):
                self.why.append(f"nothing is said of {file} ({', '.join(sorted(names))})")

    def test(self):
        try:
            self.move_counters()
            self.choose()
            self.mount()
            self.record()
            self.judge()
        except Exception as e:  # one tree of many
            self.why.append(f"{type(e).__name__}: {e}")
        finally:
            if self.server:
                self.server.terminate()
                self.server.wait()
            run("fusermount3", "-uz", self.root)
            if self.recorder and self.recorder.poll() is None:
                self.recorder.kill()


def main():
    nvmtop, slowfs, scratch, *names = sys.argv[1:]
    trees = [Tree(nvmtop, slowfs, scratch, t, way) for way in WAYS for t in names
             if re.fullmatch(WAYS[way][3], os.path.basename(t))]
    waiting, lock = list(trees), threading.Lock()

    def work():
        while True:
            with lock:
                if not waiting:
                    return
                t = waiting.pop()
            t.test()

    threads = [threading.Thread(target=work) for _ in range(AT_ONCE)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for n, t in enumerate(trees, 1):
        print(f"{'not ok' if t.why else 'ok'} {n} - {t.name}: of {len(getattr(t, 'hung', ()))} kinds of files none that {t.way} holds up another")
        for line in t.why:
            print("#", line)
    print(f"1..{len(trees)}")


if __name__ == "__main__":
    main()
