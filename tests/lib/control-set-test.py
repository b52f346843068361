"""TAP: nvmtop.control with nvmtop control and its helper, on a machine of files and programs that stand in for
NVIDIA's. What was set is read from the files."""
import contextlib
import glob
import io
import os
import re
import signal
import sys

sys.path.insert(0, os.environ["NVMTOP_SRC"] + "/tests/control")
from stage import GPU, Stage, soon

from nvmtop import control
from tap import done, ok

machine = Stage("orin", os.path.abspath("machine"))
read = machine.read
os.environ["NVMTOP_SYSROOT"] = machine.dir
before = machine.snapshot()


def differ():
    now = machine.snapshot()
    paths = [path for path in {**before, **now} if now.get(path) != before.get(path)]
    for path in paths:
        print("# %s: %r, was %r" % (path, now.get(path), before.get(path)))
    return paths


def mode():
    return read("/var/lib/nvpmodel/status")[-1]


def error_of(function, *args, **options):
    try:
        function(*args, **options)
    except control.ControlError as e:
        return e
    return None


items = {item.name: item for item in control.list()}
ok(items["mode"].value == "MODE_30W" and "0:MAXN" in items["mode"].allowed and not items["mode"].refused and
   items["mode"].needs_root and items["clocks.gpu"].value == "306000000..612000000" and items["3d-scaling"].refused and
   items["3d-scaling"].value is None, "list()")
with control.mode("MAXN") as changes:
    inside = mode()
ok(inside == "0" and mode() == "2" and [(c.name, c.before, c.after, c.result) for c in changes] ==
   [("mode", "MODE_30W", "MAXN", "done")], "with mode(): back at the end")
try:
    with control.clocks(gpu=(306e6, 408e6), cpu=(729.6e6, 1190.4e6)):
        inside = read(GPU + "max_freq")
        raise KeyError("the program's own")
except KeyError:
    ok(inside == "408000000" and not differ(), "with clocks(), and an exception: as before")
changes = control.fan(60, for_s=600)
ok(read(machine.pwm) == "153" and changes[0].after == "60%" and 590 < changes[0].back_in_s <= 600, "fan(), for a time")
ok(len(changes.keep()) == 1 and not changes.keep(), "keep()")
changes.revert()
ok(not differ() and not changes.revert(), "revert(); a second one does nothing")
control.governor("gpu", "performance", for_s=1)
ok(read(GPU + "governor") == "performance" and soon(lambda: read(GPU + "governor") == "nvhost_podgov"), "for_s: back by itself")
changes = control.clocks("max", dry_run=True)
ok(changes[0].result == "would" and changes[0].why and not differ(), "dry_run: only says it")
control.swap(64 << 20)
ok(os.path.getsize(machine.dir + "/swapfile.nvmtop") == 64 << 20, "swap()")
control.swap(None)
ok(not machine.exists("/swapfile.nvmtop"), "swap(None)")
ok(not control.restore() and not differ(), "restore(): nothing is left")
control.clocks("max")
control.mode(3)
ok({c.name for c in control.restore()} == {"clocks", "mode"} and not differ(), "restore(): all is as before")

error = error_of(control.mode, 1)
ok(error.code == control.REFUSED and "reboot" in str(error) and "nvpmodel -m 1" in str(error) and mode() == "2",
   "a mode that needs a reboot: refused, with the command")
error = error_of(control.fan, "loud")
ok(error.code in (control.USAGE, control.REFUSED) and "quiet" in str(error), "a profile that there is not: what is allowed")
error = error_of(control.clocks, gpu=(306e6, 408e6), emc=(204e6, 1e9))
ok(error.code == control.REFUSED and not differ(), "one of two limits is refused: neither is set")
machine.write("/behave/nvpmodel", "lies")
error = error_of(control.mode, "MAXN")
ok(error.code == control.FAILED and "MAXN" in str(error) and "ignoring request" in str(error) and error.changes[0].result == "not",
   "nvpmodel lies: it did not take")
machine.remove("/behave/nvpmodel")
control.restore()

with open(os.environ["NVMTOP_SRC"] + "/docs/python.md") as f:
    block, = re.findall("```control\n(.*?)```", f.read(), re.S)
seen = []
with contextlib.redirect_stdout(io.StringIO()) as printed:
    exec(block, {"infer": lambda: seen.append(mode())})
ok("clocks.gpu 306000000..612000000" in printed.getvalue() and seen == ["0"] and mode() == "2" and read(machine.pwm) == "153" and read(GPU + "max_freq") == "612000000", "docs/python.md")
control.restore()
ok(not differ(), "and all is as before")

# What would wait for the end of the times of for_s.
for path in glob.glob("/proc/[0-9]*/cmdline"):
    with contextlib.suppress(OSError), open(path) as f:
        words = f.read().split("\0")
        if words[0].endswith("/nvmtop-control-test") and words[2:4] == [machine.dir, "expire"]:
            os.kill(int(path.split("/")[2]), signal.SIGKILL)
done()
