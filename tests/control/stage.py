#!/usr/bin/env python3
"""Machines to change: trees with files that can be written, and stand-ins for NVIDIA's and the system's programs.

  stage.py BOARD FOLDER     make FOLDER: orin (with nvfancontrol), nano (with temp_control) or pc

A stand-in does what the file FOLDER/behave/NAME says: works (if there is none), lies, fails, hangs, slow; nvpmodel also reboot. It
sets what FOLDER/behave/mode-ID lists, or what it finds, so that no test depends on how nvmtop reads nvpmodel.conf.
"""
import atexit
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
HELPER = os.path.join(os.path.dirname(os.environ.get("NVMTOP", SOURCE + "/src/nvmtop")), "nvmtop-control-test")
BOOT = "0a1b2c3d-0000-4000-8000-000000000001"

GPU = "/sys/class/devfreq/17000000.gpu/"
CPU = "/sys/devices/system/cpu/"
POLICIES = (0, 4, 8)
STEPS_CPU = (115200, 729600, 1190400, 1420800, 1728000, 2201600)

NVPMODEL = """\
< PARAM TYPE=FILE NAME=CPU_ONLINE >
%s
< PARAM TYPE=FILE NAME=TPC_POWER_GATING >
TPC_PG_MASK /sys/devices/gpu.0/tpc_pg_mask
TPC_PG_MASK_KNEXT /sys/devices/platform/bus@0/17000000.gpu/tpc_pg_mask

< PARAM TYPE=FILE NAME=GPU_POWER_CONTROL_ENABLE >
GPU_PWR_CNTL_EN /sys/devices/platform/bus@0/17000000.gpu/power/control

%s
< PARAM TYPE=CLOCK NAME=GPU >
FREQ_TABLE /sys/devices/17000000.ga10b/devfreq/17000000.ga10b/available_frequencies
MAX_FREQ /sys/devices/17000000.ga10b/devfreq/17000000.ga10b/max_freq
MIN_FREQ /sys/devices/17000000.ga10b/devfreq/17000000.ga10b/min_freq
FREQ_TABLE_KNEXT /sys/class/devfreq/17000000.gpu/available_frequencies
MAX_FREQ_KNEXT /sys/class/devfreq/17000000.gpu/max_freq
MIN_FREQ_KNEXT /sys/class/devfreq/17000000.gpu/min_freq

< PARAM TYPE=CLOCK NAME=EMC >
MAX_FREQ /sys/kernel/nvpmodel_emc_cap/emc_iso_cap
MAX_FREQ_KNEXT /sys/kernel/nvpmodel_clk_cap/emc

%s
< PM_CONFIG DEFAULT=2 >
"""
# id: name, cores, TPC mask, clock of the cores, of the GPU, of memory; as nvpmodel.conf has them, and what becomes of them
MODES = {
    0: ("MAXN", 12, 0, -1, -1, 0, 2201600, 1300500000),
    1: ("MODE_15W", 4, 248, 1113600, 420750000, 2133000000, 729600, 408000000),
    2: ("MODE_30W", 8, 0, 1728000, 624750000, 2133000000, 1728000, 612000000),
    3: ("MODE_50W", 12, 0, 1497600, 828750000, 0, 1420800, 816000000),
}

NVFANCONTROL = """\
POLLING_INTERVAL 2

<FAN 1>
	TMARGIN ENABLED
	FAN_PROFILE cool {
		0	0	255	2900
	}
	FAN_PROFILE quiet {
		0	0	202	2300
	}
	FAN_DEFAULT_CONTROL open_loop
	FAN_DEFAULT_PROFILE quiet # as the case wants it
	FAN_DEFAULT_GOVERNOR pid
"""

BEGIN = """\
#!/bin/sh
# %(name)s, which is not what it seems
T=$NVMTOP_SYSROOT
echo "%(name)s $*" >>"$T/calls"
does=works
test -f "$T/behave/%(name)s" && read -r does <"$T/behave/%(name)s"
case $does in
hangs)
    sleep 1000 &
    echo $$ $! >"$T/behave/hanging"
    trap '' TERM
    while :; do sleep 1000; done ;;
fails) echo "%(name)s: this did not work"; exit 3 ;;
slow) sleep 1 ;;
esac
"""

PROGRAMS = {
    "usr/sbin/nvpmodel": """
test "$1" = -m || exit 2
if test $does = reboot; then
    echo "NVPM WARN: Reboot required for changing to this power mode: $2"
    exit 0
fi
test -d "$T/var/lib/nvpmodel" || mkdir "$T/var/lib/nvpmodel"
echo "pmode:000$2" >"$T/var/lib/nvpmodel/status"
if test $does = lies; then
    echo "Running in chroot, ignoring request"
    exit 0
fi
while read -r path value; do
    test ! -e "$T$path" || echo "$value" >"$T$path"
done <"$T/behave/mode-$2"
""",
    # It stores the lowest clocks and the fan, and switches the fan to the highest speed.
    "usr/bin/jetson_clocks": """
fan=$(echo "$T"/sys/devices/platform/pwm-fan/hwmon/hwmon*/pwm1)
mins="$T/sys/class/devfreq/17000000.gpu/min_freq $(echo "$T"/sys/devices/system/cpu/cpufreq/policy*/scaling_min_freq)"
case ${1-} in
--store)
    test ! -e "$2" || { echo "Error: file $2 already exists!"; exit 1; }
    for f in $mins "$fan"; do read -r now <"$f"; echo "$f:$now" >>"$2"; done ;;
--restore)
    test -e "$2" || { echo "Error: $2 file not found !"; exit 1; }
    test $does = lies && exit 0
    while read -r line; do echo "${line##*:}" >"${line%:*}"; done <"$2" ;;
*)
    test $does = lies && exit 0
    for f in $mins; do read -r most <"${f%min_freq}max_freq"; echo "$most" >"$f"; done
    echo 255 >"$fan" ;;
esac
""",
    "usr/bin/systemctl": """
test "$2" = nvfancontrol.service || exit 5
group=$T/sys/fs/cgroup/system.slice/nvfancontrol.service
test $does = lies && exit 0
case $1 in
stop) rm -rf "$group" ;;
start)
    mkdir -p "$group" "$T/var/lib/nvfancontrol"
    if test ! -e "$T/var/lib/nvfancontrol/status"; then
        profile=$(sed -n 's/^[[:space:]]*FAN_DEFAULT_PROFILE[[:space:]]*\\([a-z]*\\).*/\\1/p' "$T/etc/nvfancontrol.conf")
        printf 'FAN1:FAN_PROFILE:%s\\nFAN1:FAN_GOVERNOR:pid\\nFAN1:FAN_CONTROL:open_loop\\n' "$profile" >"$T/var/lib/nvfancontrol/status"
    fi ;;
esac
""",
    "sbin/mkswap": 'echo SWAPSPACE2 >"$1.mark" && rm "$1.mark"',
    "sbin/swapon": """
printf '%s\\t\\t\\tfile\\t\\t%s\\t0\\t-2\\n' "${1#"$T"}" 65532 | sed 's/\\t/ /' >>"$T/proc/swaps"
""",
    "sbin/swapoff": """
grep -v '^/swapfile.nvmtop ' "$T/proc/swaps" >"$T/behave/swaps"
cat "$T/behave/swaps" >"$T/proc/swaps"
rm "$T/behave/swaps"
""",
}


def mode_conf():
    cores = "".join("CORE_%d %scpu%d/online\n" % (n, CPU, n) for n in range(12))
    clusters = "".join("< PARAM TYPE=CLOCK NAME=CPU_A78_%d >\n" % i + "".join(
        "%s%s %scpu%d/cpufreq/scaling_%s\n" % (key, next_, CPU, p, file)
        for next_ in ("", "_KNEXT") for key, file in (("FREQ_TABLE", "available_frequencies"), ("MAX_FREQ", "max_freq"), ("MIN_FREQ", "min_freq")))
        + "\n" for i, p in enumerate(POLICIES))
    modes = "".join(
        "< POWER_MODEL ID=%d NAME=%s >\n" % (i, m[0])
        + "".join("CPU_ONLINE CORE_%d %d\n" % (n, n < m[1]) for n in range(12))
        + "TPC_POWER_GATING TPC_PG_MASK %d\nGPU_POWER_CONTROL_ENABLE GPU_PWR_CNTL_EN on\n" % m[2]
        + "".join("CPU_A78_%d MIN_FREQ 729600\nCPU_A78_%d MAX_FREQ %d\n" % (c, c, m[3]) for c in range(3))
        + "GPU MIN_FREQ 0\nGPU MAX_FREQ %d\nEMC MAX_FREQ %d\n\n" % (m[4], m[5]) for i, m in MODES.items())
    return NVPMODEL % (cores, clusters, modes)


# When a file was written that is as it was made, in ns: whatever writes to it makes it younger.
MADE_NS = 10**18
# What the helper notes, and the stand-ins: this is not of the machine.
NOTES = "/behave", "/var/lib/nvmtop-control", "/log", "/calls"


class Stage:
    kept = {}  # by board: trees that are as they were made, and what is in them
    temporary_folder, folders = None, 0

    def __init__(self, board, folder=None):
        self.board, self.temporary = board, folder is None
        if self.temporary and self.kept.get(board):
            self.dir, self.pwm, self.made = self.kept[board].pop()
            return
        self.dir = folder or self.next_folder()
        text = {"orin": "agx_orin-36", "nano": "nano-32", "pc": "pc"}[board]
        shutil.copytree(os.path.join(self.roots(), text), self.dir, symlinks=True)
        for top, _, files in os.walk(self.dir):
            os.chmod(top, 0o755)
            for name in files:
                if not os.path.islink(os.path.join(top, name)):
                    os.chmod(os.path.join(top, name), 0o644)
        self.write("/proc/sys/kernel/random/boot_id", BOOT)
        self.write("/proc/sys/vm/drop_caches", "0")
        self.write("/proc/swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority")
        os.makedirs(self.dir + "/behave")
        os.makedirs(self.dir + "/var/lib", exist_ok=True)
        for name, text in PROGRAMS.items():
            if board == "pc" and not name.startswith("sbin/"):
                continue
            path = os.path.join(self.dir, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="ascii") as f:
                f.write(BEGIN % {"name": os.path.basename(name)} + text)
            os.chmod(path, 0o755)
        getattr(self, board)()
        self.made = {}
        for path, entry in self.walk():
            self.made[path] = self.what(entry)
            if not entry.is_symlink() and not entry.is_dir():
                os.utime(entry.path, ns=(MADE_NS, MADE_NS))

    @classmethod
    def next_folder(cls):
        if not cls.temporary_folder:
            cls.temporary_folder = tempfile.mkdtemp(prefix="nvmtop-control-")
            atexit.register(shutil.rmtree, cls.temporary_folder)
        cls.folders += 1
        return "%s/%d" % (cls.temporary_folder, cls.folders)

    @staticmethod
    def roots():
        roots = os.environ.get("NVMTOP_ROOTS")
        if roots and os.path.isdir(roots):
            return roots
        roots = os.path.join(SOURCE, "tests/roots")
        if not os.path.isdir(roots):
            subprocess.run([sys.executable, SOURCE + "/tests/tools/board.py", "unpack", roots] + glob.glob(SOURCE + "/tests/boards/*.txt"), check=True)
        return roots

    def orin(self):
        self.write("/etc/nvpmodel/nvpmodel_p3701_0000.conf", mode_conf())
        for n in range(12):
            self.write(CPU + "cpu%d/online" % n, str(int(n < 8)))
        for p in POLICIES:
            self.write(CPU + "cpufreq/policy%d/scaling_available_frequencies" % p, " ".join(map(str, STEPS_CPU)) + " ")
            self.write(CPU + "cpufreq/policy%d/scaling_available_governors" % p, "performance schedutil ondemand ")
            for name, value in (("max", 1728000), ("min", 729600)):
                self.write(CPU + "cpufreq/policy%d/scaling_%s_freq" % (p, name), str(value))
            self.write(CPU + "cpufreq/policy%d/scaling_governor" % p, "schedutil")
            self.write(CPU + "cpufreq/policy%d/cpuinfo_max_freq" % p, "2201600")
        self.write(GPU + "available_frequencies", "306000000 408000000 510000000 612000000 714000000 816000000 918000000 1300500000")
        self.write(GPU + "available_governors", "nvhost_podgov performance userspace")
        self.write(GPU + "governor", "nvhost_podgov")
        self.write(GPU + "min_freq", "306000000")
        self.write(GPU + "max_freq", "612000000")
        self.write("/sys/devices/platform/bus@0/17000000.gpu/tpc_pg_mask", "0")
        self.write("/sys/kernel/nvpmodel_clk_cap/emc", "2133000000")
        self.write("/var/lib/nvpmodel/status", "pmode:0002")
        for i, m in MODES.items():
            lines = ["%scpu%d/online %d" % (CPU, n, n < m[1]) for n in range(12)]
            lines += ["%scpufreq/policy%d/scaling_max_freq %d" % (CPU, p, m[6]) for p in POLICIES]
            lines += ["%scpufreq/policy%d/scaling_min_freq 729600" % (CPU, p) for p in POLICIES]
            lines += [GPU + "max_freq %d" % m[7], GPU + "min_freq 306000000", "/sys/kernel/nvpmodel_clk_cap/emc %d" % m[5]]
            self.write("/behave/mode-%d" % i, "\n".join(lines))
        self.write("/etc/nvfan/nvfancontrol_p3701.conf", NVFANCONTROL[:-1])
        os.symlink("nvfan/nvfancontrol_p3701.conf", self.dir + "/etc/nvfancontrol.conf")
        self.write("/lib/systemd/system/nvfancontrol.service", "[Service]")
        self.write("/var/lib/nvfancontrol/status", "FAN1:FAN_PROFILE:quiet\nFAN1:FAN_GOVERNOR:pid\nFAN1:FAN_CONTROL:open_loop")
        os.makedirs(self.dir + "/sys/fs/cgroup/system.slice/nvfancontrol.service")
        self.pwm = glob.glob(self.dir + "/sys/devices/platform/pwm-fan/hwmon/hwmon*/pwm1")[0][len(self.dir):]
        self.write(self.pwm, "88")
        self.write(self.pwm + "_enable", "1")

    def nano(self):
        self.pwm = "/sys/devices/pwm-fan/target_pwm"
        self.write("/sys/devices/57000000.gpu/enable_3d_scaling", "1")
        self.write("/sys/kernel/nvpmodel_emc_cap/emc_iso_cap", "0")

    def pc(self):
        for n, (pwm, enable) in enumerate((("120", "5"), ("200", "2")), 1):
            self.write("/sys/class/hwmon/hwmon3/pwm%d" % n, pwm)
            self.write("/sys/class/hwmon/hwmon3/pwm%d_enable" % n, enable)
        self.pwm = "/sys/class/hwmon/hwmon3/pwm1"

    # --- files ---

    def path(self, path):
        """Where a path of the machine is: links in it lead to others of the machine."""
        done = self.dir
        parts = [p for p in path.split("/") if p]
        while parts:
            part = parts.pop(0)
            if part == "..":
                done = os.path.dirname(done)
                continue
            full = os.path.join(done, part)
            if os.path.islink(full):
                target = os.readlink(full)
                parts = [p for p in target.split("/") if p and p != "."] + parts
                done = self.dir if target.startswith("/") else done
                continue
            done = full
        return done

    def write(self, path, text):
        full = self.path(path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as f:
            f.write(text + "\n")

    def read(self, path):
        with open(self.path(path), encoding="utf-8") as f:
            return f.read().rstrip("\n")

    def exists(self, path):
        return os.path.lexists(self.path(path))

    def remove(self, path):
        if os.path.lexists(self.dir + path):
            os.remove(self.dir + path)

    def walk(self, inner="", but=()):
        """All that is in the tree, by path, folders before what is in them."""
        try:
            with os.scandir(self.dir + inner) as entries:
                found = list(entries)
        except FileNotFoundError:  # it is changed meanwhile
            found = []
        for entry in found:
            path = inner + "/" + entry.name
            if path not in but:
                yield path, entry
                if entry.is_dir(follow_symlinks=False):
                    yield from self.walk(path, but)

    @staticmethod
    def what(entry):
        if entry.is_symlink():
            return "-> " + os.readlink(entry.path)
        if entry.is_dir():
            return "folder"
        if not entry.is_file():
            return "neither a file, a folder nor a link"
        with open(entry.path, "rb") as f:
            return oct(entry.stat().st_mode), f.read()

    def is_as_made(self, path, entry):
        was = self.made.get(path)
        if isinstance(was, str):
            return entry.is_dir(follow_symlinks=False) if was == "folder" else entry.is_symlink() and self.what(entry) == was
        st = entry.stat(follow_symlinks=False)
        return was is not None and (st.st_mtime_ns, oct(st.st_mode)) == (MADE_NS, was[0])

    def snapshot(self):
        """All that a change may have touched, by path."""
        all_, folders = {}, {"": False}
        for path, entry in self.walk(but=NOTES):
            folders[os.path.dirname(path)] = False
            if entry.is_dir(follow_symlinks=False):
                folders[path] = path != "/var/lib"
            else:
                all_[path] = self.made[path] if self.is_as_made(path, entry) else self.what(entry)
        all_.update((path + "/", "folder") for path, empty in folders.items() if empty)
        return all_

    def renew(self):
        """Makes it as it was made, under another name: what still waits for this one is not of the next. Returns what a change
        has touched and was not as it was made, by path: what it was, and what it is."""
        before, self.dir = self.dir, self.next_folder()
        os.rename(before, self.dir)
        changed, missing = {}, dict(self.made)
        for path, entry in reversed(list(self.walk())):
            if self.is_as_made(path, entry):
                del missing[path]
                continue
            is_ = self.what(entry)
            if is_ == missing.get(path):
                os.utime(entry.path, ns=(MADE_NS, MADE_NS))
                del missing[path]
                continue
            changed[path] = missing.get(path), is_
            (os.rmdir if is_ == "folder" else os.unlink)(entry.path)
        for path, was in missing.items():
            full = self.dir + path
            if was == "folder":
                os.mkdir(full)
            elif isinstance(was, str):
                os.symlink(was[len("-> "):], full)
            else:
                with open(full, "wb") as f:
                    f.write(was[1])
                os.chmod(full, int(was[0], 8) & 0o7777)
                os.utime(full, ns=(MADE_NS, MADE_NS))
            changed.setdefault(path, (was, None))
        return {path: both for path, both in changed.items() if not (path + "/").startswith(tuple(n + "/" for n in NOTES))}

    def calls(self):
        return self.read("/calls").split("\n") if self.exists("/calls") else []

    def log(self):
        return self.read("/log") if self.exists("/log") else ""

    # --- the helper ---

    def command(self, *words):
        return [HELPER, "--sysroot", self.dir] + list(words)

    def run(self, request, die=0, patience=None, env=None):
        """One request, as arguments. Returns its answer."""
        env = dict(os.environ, **(env or {}))
        if die:
            env["NVMTOP_CONTROL_DIE"] = str(die)
        if patience:
            env["NVMTOP_CONTROL_PATIENCE"] = str(patience)
        words = request.split() if isinstance(request, str) else request
        done = subprocess.run(self.command(*words), stdout=subprocess.PIPE, env=env, timeout=300, check=False)
        return Answer(done.stdout, done.returncode)

    def session(self, *options):
        return Session(self, options)

    def undo(self):
        return self.read("/var/lib/nvmtop-control/undo.json") if self.exists("/var/lib/nvmtop-control/undo.json") else ""

    def close(self):
        """It is used again."""
        if self.temporary:
            self.renew()
            self.kept.setdefault(self.board, []).append((self.dir, self.pwm, self.made))

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


KEYS = ("name", "before", "wanted", "after", "result", "id", "left_ms", "why")


class Answer:
    def __init__(self, output, returncode=None):
        self.text = output.decode()
        self.returncode = returncode
        self.changes, self.status, self.sentence = [], None, None
        for line in self.text.splitlines():
            kind, *fields = line.split("\t")
            if kind == "change":
                assert len(fields) == len(KEYS), line
                self.changes.append(dict(zip(KEYS, fields)))
            elif kind == "end":
                self.status, self.sentence = int(fields[0]), fields[1]

    def __getattr__(self, name):  # of the only change
        if name in KEYS and len(self.changes) == 1:
            return self.changes[0][name]
        raise AttributeError("%s of %s" % (name, self.text))


class Session:
    def __init__(self, stage, options):
        command = [HELPER] + list(options) + ["--sysroot", stage.dir]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.greeting = self.process.stdout.readline().decode().rstrip("\n")

    def answer(self):
        lines = b""
        while True:
            line = self.process.stdout.readline()
            lines += line
            if not line or line.startswith(b"end\t"):
                return Answer(lines)

    def ask(self, request):
        self.process.stdin.write(request.encode() + b"\n")
        self.process.stdin.flush()
        return self.answer()

    def close(self):
        self.process.stdin.close()
        last = self.answer()
        self.process.wait()
        self.process.stdout.close()
        return last


def processes(stage, verb):
    """The processes of the helper with that verb, on this machine."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as f:
                words = f.read().split(b"\0")
        except OSError:
            continue
        if verb in words[3:] and stage.dir.encode() in words and words[0].endswith(b"nvmtop-control-test"):
            found.append(int(pid))
    return found


def soon(condition, seconds=120):
    """Waits until it holds; a generous while."""
    until, rest = time.monotonic() + seconds, 0.02
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(rest)
        rest = min(rest * 1.5, 0.2)
    return True


class Tap:
    """Results, as TAP."""
    def __init__(self):
        self.n = 0

    def ok(self, title, good, *more):
        self.n += 1
        print("%sok %d - %s" % ("" if good else "not ", self.n, title), flush=True)
        if not good:
            for one in more:
                print("# " + (one.text if isinstance(one, Answer) else str(one)).replace("\n", "\n# "), flush=True)

    def equal(self, title, got, expected, *more):
        self.ok(title, got == expected, "got      %r" % (got,), "expected %r" % (expected,), *more)

    def same(self, title, stage, before):
        now = stage.snapshot()
        differ = sorted(p for p in set(now) | set(before) if now.get(p) != before.get(p))
        self.ok(title, not differ, *["%s: %r, was %r" % (p, now.get(p), before.get(p)) for p in differ])

    def done(self):
        print("1..%d" % self.n)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    Stage(sys.argv[1], sys.argv[2])
