"""What can be set, set: on a machine of each kind, with programs that work, lie, fail, hang and are slow."""
import os
import time

from stage import CPU, GPU, POLICIES, Stage, Tap, soon

tap = Tap()
ok, equal = tap.ok, tap.equal


def clocks():
    with Stage("orin") as s:
        before = s.snapshot()
        a = s.run("clocks gpu=408000000..918000000")
        equal("clocks: both limits", (s.read(GPU + "min_freq"), s.read(GPU + "max_freq")), ("408000000", "918000000"), a)
        equal("clocks: with both values", (a.before, a.after, a.result, a.status, a.returncode),
              ("306000000..612000000", "408000000..918000000", "done", 0, 0))
        a = s.run("clocks gpu=1300500000..1300500000")
        equal("clocks: the lowest above the highest that was", (a.result, s.read(GPU + "min_freq")), ("done", "1300500000"), a)
        a = s.run("clocks gpu=306000000..306000000")
        equal("clocks: the highest below the lowest that was", (a.result, s.read(GPU + "max_freq")), ("done", "306000000"), a)
        a = s.run("clocks gpu=306000000..306000000")
        equal("clocks: again is no change", (a.result, a.id, a.status), ("as-is", "0", 0), a)
        a = s.run("clocks gpu=306000000..306000001")
        equal("clocks: a step that there is not", (a.result, a.status), ("refused", 4), a)
        ok("clocks: what is allowed is said", "408000000" in a.why, a)
        a = s.run("clocks gpu=918000000..306000000")
        equal("clocks: the wrong way round", a.result, "refused", a)
        a = s.run("clocks cpu=729600000..1190400000 emc=0..1600000000")
        equal("clocks: several", [(c["name"], c["result"]) for c in a.changes], [("clocks.cpu", "done"), ("clocks.emc", "done")], a)
        equal("clocks: of all groups of cores", [s.read(CPU + "cpufreq/policy%d/scaling_max_freq" % p) for p in POLICIES], ["1190400"] * 3)
        a = s.run("clocks emc=204000000..1600000000")
        equal("clocks: a cap has no lowest", a.result, "refused", a)
        a = s.run("clocks emc=0..max")
        equal("clocks: a cap can be none", (a.after, s.read("/sys/kernel/nvpmodel_clk_cap/emc")), ("0..max", "0"), a)
        a = s.run("clocks gpu=306000000..max")
        equal("clocks: max is the highest step", a.after, "306000000..1300500000", a)
        a = s.run("governor gpu=performance cpu=ondemand")
        equal("governors", (s.read(GPU + "governor"), s.read(CPU + "cpufreq/policy4/scaling_governor")), ("performance", "ondemand"), a)
        a = s.run("governor gpu=nonsense")
        equal("a governor that there is not", (a.result, a.status), ("refused", 4), a)
        a = s.run("restore")
        equal("restore: all of it", {c["result"] for c in a.changes}, {"done"}, a)
        tap.same("restore: as before", s, before)
        a = s.run("restore")
        equal("restore: nothing is left to do", (a.changes, a.status), ([], 0), a)


def modes():
    with Stage("orin") as s:
        before = s.snapshot()
        a = s.run("mode MAXN")
        equal("mode: by name", (a.result, a.before, a.after, a.status), ("done", "MODE_30W", "MAXN", 0), a)
        equal("mode: by nvpmodel's number", s.calls(), ["nvpmodel -m 0"])
        a = s.run("mode 3")
        equal("mode: by number", (a.result, a.wanted, s.read(CPU + "cpufreq/policy8/scaling_max_freq")), ("done", "MODE_50W", "1420800"), a)
        a = s.run("mode 3")
        equal("mode: again is no change", a.result, "as-is", a)
        a = s.run("mode 7")
        equal("mode: that there is not", (a.result, a.status), ("refused", 4), a)
        a = s.run("mode MODE_15W")
        equal("mode: with another TPC mask", (a.result, a.status), ("refused", 4), a)
        ok("mode: what to run", a.why.endswith("run `sudo nvpmodel -m 1`"), a)
        # without the file, by the masks that the configuration has
        os.remove(s.path("/sys/devices/platform/bus@0/17000000.gpu/tpc_pg_mask"))
        a = s.run("mode 1")
        equal("mode: with another TPC mask, which no file tells", a.result, "refused", a)
        s.write("/sys/devices/platform/bus@0/17000000.gpu/tpc_pg_mask", "0")
        a = s.run("restore")
        equal("mode: restored", (a.result, a.before, a.after), ("done", "MODE_50W", "MODE_30W"), a)
        tap.same("mode: as before", s, before)
        for does, result in (("lies", "not"), ("fails", "failed"), ("reboot", "not")):
            s.write("/behave/nvpmodel", does)
            a = s.run("mode 0")
            equal("nvpmodel %s" % does, (a.result, a.status), (result, 1), a)
            print("# " + a.why)
            s.write("/behave/nvpmodel", "works")
            s.run("restore")
            tap.same("nvpmodel %s: restored" % does, s, before)
        s.write("/behave/nvpmodel", "lies")
        a = s.run("mode 0")
        ok("nvpmodel lies: with both values, and what it said", "1728000" in a.why or "has 0" in a.why and "ignoring request" in a.why, a)
        s.write("/behave/nvpmodel", "slow")
        equal("nvpmodel is slow", s.run("mode 0").result, "done")
        s.write("/behave/nvpmodel", "hangs")
        a = s.run("mode 3", patience=2)
        equal("nvpmodel hangs", (a.result, a.status), ("failed", 1), a)
        ok("nvpmodel hangs: said", "killed" in a.why, a)
        pids = s.read("/behave/hanging").split()
        ok("nvpmodel hangs: it is gone, with what it started", soon(lambda: not any(alive(p) for p in pids)))


def alive(pid):
    try:
        with open("/proc/%s/stat" % pid, encoding="ascii") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def pinned():
    with Stage("orin") as s:
        before = s.snapshot()
        a = s.run("clocks max")
        equal("clocks max", (a.result, a.before, a.after), ("done", "dynamic", "max"), a)
        ok("clocks max: jetson_clocks stores before", s.calls()[0].startswith("jetson_clocks --store ") and s.calls()[1] == "jetson_clocks ", s.calls())
        equal("clocks max: the lowest is the highest", s.read(GPU + "min_freq"), "612000000")
        equal("clocks max: again is no change", s.run("clocks max").result, "as-is")
        a = s.run("mode 0")
        equal("clocks max, then a mode", (a.result, s.read(GPU + "min_freq")), ("done", "1300500000"), a)
        ok("clocks max: off before the mode, on after it", [c.split()[0] + (" " + c.split()[1] if c.split()[1:] else "") for c in s.calls()][2:] ==
           ["jetson_clocks --restore", "nvpmodel -m", "jetson_clocks --store", "jetson_clocks"], s.calls())
        a = s.run("restore")
        equal("both restored", [(c["name"], c["result"]) for c in a.changes], [("clocks", "done"), ("mode", "done")], a)
        tap.same("both: as before", s, before)
        s.run("mode 0")
        s.run("clocks max")
        a = s.run("clocks restore")
        equal("clocks restore", (a.result, a.after, s.read(GPU + "min_freq")), ("done", "dynamic", "306000000"), a)
        equal("clocks restore: again is no change", s.run("clocks restore").result, "as-is")
        s.run("restore")
        tap.same("a mode, then clocks max: as before", s, before)
        # the fan by hand, which jetson_clocks sets to its highest
        s.run("fan 40")
        speed = s.read(s.pwm)
        s.run("clocks max")
        equal("clocks max: the fan keeps its speed", s.read(s.pwm), speed)
        s.run("clocks restore")
        equal("clocks restore: the fan keeps its speed", s.read(s.pwm), speed)
        s.run("restore")
        tap.same("with a fan: as before", s, before)
        s.run("clocks max")
        s.write("/behave/nvpmodel", "fails")
        a = s.run("mode 0")
        equal("clocks max, then a mode that fails: still max", (a.result, s.read(GPU + "min_freq")), ("failed", "612000000"), a)
        s.run("restore")
        tap.same("a mode that fails: as before", s, before)
        s.write(GPU + "min_freq", "612000000")
        for p in POLICIES:
            s.write(CPU + "cpufreq/policy%d/scaling_min_freq" % p, "1728000")
        a = s.run("clocks restore")
        equal("clocks restore: what others did", (a.result, a.status), ("refused", 4), a)
    for does, result in (("lies", "not"), ("fails", "failed"), ("slow", "done")):
        with Stage("orin") as s:
            before = s.snapshot()
            s.write("/behave/jetson_clocks", does)
            a = s.run("clocks max")
            equal("jetson_clocks %s" % does, a.result, result, a)
            s.write("/behave/jetson_clocks", "works")
            s.run("restore")
            tap.same("jetson_clocks %s: restored" % does, s, before)


def others():
    with Stage("nano") as s:
        before = s.snapshot()
        a = s.run("3d-scaling off")
        equal("3d-scaling", (a.result, a.before, a.after, s.read("/sys/devices/57000000.gpu/enable_3d_scaling")), ("done", "on", "off", "0"), a)
        a = s.run("fan 50%")
        equal("a legacy fan", (a.result, a.before, a.after, s.read(s.pwm), s.read("/sys/devices/pwm-fan/temp_control")),
              ("done", "auto", "50%", "128", "0"), a)
        a = s.run("fan auto")
        equal("a legacy fan: auto", (a.result, a.after, s.read("/sys/devices/pwm-fan/temp_control")), ("done", "auto", "1"), a)
        a = s.run("fan quiet")
        equal("a profile without nvfancontrol", a.result, "refused", a)
        a = s.run("drop-caches")
        equal("drop-caches", (a.result, s.read("/proc/sys/vm/drop_caches")), ("done", "3"), a)
        s.write("/proc/sys/vm/drop_caches", "0")
        a = s.run("swap 64Mi")
        equal("swap", (a.result, a.before, a.after), ("done", "off", str(64 << 20)), a)
        equal("swap: only root's", os.stat(s.dir + "/swapfile.nvmtop").st_mode & 0o777, 0o600)
        a = s.run("swap 128Mi")
        equal("swap: of another size", (a.result, os.stat(s.dir + "/swapfile.nvmtop").st_size), ("done", 128 << 20), a)
        s.run("restore")
        tap.same("restore: as before", s, before)
        s.run("swap 64Mi")
        a = s.run("swap off")
        equal("swap off", (a.result, a.after, s.exists("/swapfile.nvmtop")), ("done", "off", False), a)
        s.run("swap 64Mi")
        s.write("/proc/swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority")
        a = s.run("swap off")
        equal("swap off: of one that is not used, as after a reboot", (a.result, s.exists("/swapfile.nvmtop")), ("done", False), a)
        a = s.run("swap 1")
        equal("swap: too small", a.result, "refused", a)
        a = s.run("swap 100000T")
        equal("swap: more than there is", a.result, "refused", a)
        s.write("/swapfile.nvmtop", "mine")
        a = s.run("swap 64Mi")
        equal("swap: a file that was not made here", (a.result, s.read("/swapfile.nvmtop")), ("refused", "mine"), a)
        equal("swap off: neither", (s.run("swap off").result, s.read("/swapfile.nvmtop")), ("refused", "mine"))
    with Stage("pc") as s:
        before = s.snapshot()
        a = s.run("clocks max")
        equal("a PC: clocks max", (a.result, a.after), ("done", "max"), a)
        a = s.run("fan1 30")
        equal("a PC: the second fan", (a.result, s.read("/sys/class/hwmon/hwmon3/pwm2"), s.read(s.pwm)), ("done", "77", "120"), a)
        s.run("fan 30")
        a = s.run("fan auto")
        equal("a PC: automatic as it was", (a.result, s.read(s.pwm + "_enable")), ("done", "5"), a)
        s.run("restore")
        tap.same("a PC: as before", s, before)
        a = s.run("mode 2")
        equal("a PC has no modes", (a.status, a.sentence), (2, "no such thing can be set here: mode"), a)


def dry():
    with Stage("orin") as s:
        before = s.snapshot()
        for request in ("mode 0", "fan 40", "fan cool", "fan auto", "clocks max", "clocks gpu=306000000..408000000", "governor cpu=performance",
                        "swap 64Mi", "drop-caches"):
            a = s.run(request + " --dry-run")
            ok("--dry-run: " + request, a.result in ("would", "as-is") and a.status == 0 and (a.why or a.result == "as-is"), a)
        a = s.run("mode 1 --dry-run")
        equal("--dry-run: what would be refused is", (a.result, a.status), ("refused", 4), a)
        tap.same("--dry-run changes nothing", s, before)
        equal("--dry-run notes nothing, and starts nothing", (s.undo(), s.calls()), ("", []))


start = time.monotonic()
for part in (clocks, modes, pinned, others, dry):
    part()
    print("# %s: %.1f s" % (part.__name__, time.monotonic() - start))
tap.done()
