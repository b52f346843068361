"""TAP: the setters of nvmtop.jtop as jtop documents them, with nvmtop control and its helper, on a machine of files and
programs that stand in for NVIDIA's. What was set is read from the files."""
import os
import sys

sys.path.insert(0, os.environ["NVMTOP_SRC"] + "/tests/control")
import stage
from stage import CPU, GPU, POLICIES, Stage, soon

stage.MODES[1] = stage.MODES[1][:2] + (0, ) + stage.MODES[1][3:]  # no mode needs a reboot
machine = Stage("orin", os.path.abspath("machine"))
read = machine.read
SCALING = "/sys/devices/platform/gpu.0/enable_3d_scaling"
machine.write(SCALING, "1")
os.environ["NVMTOP_SYSROOT"] = machine.dir

from nvmtop.jtop import JtopException, jtop
from tap import done, ok, said

FAST = 0.1


def pinned():
    return (read(GPU + "min_freq") == read(GPU + "max_freq") and
            all(read(CPU + "cpufreq/policy%d/scaling_min_freq" % n) == read(CPU + "cpufreq/policy%d/scaling_max_freq" % n) for n in POLICIES))


def until(jetson, condition):
    """As the examples wait. On a busy machine a reading may come too late for one look."""
    def holds():
        try:
            return jetson.ok() and condition()
        except JtopException:
            return False
    return soon(holds)


before = {path: is_[-1] for path, is_ in machine.snapshot().items()}

# ---- the example that controls ----

with jtop(FAST) as jetson:
    ok(not jetson.jetson_clocks and not pinned(), "jetson_clocks is off")
    jetson.jetson_clocks = True
    ok(pinned() and until(jetson, lambda: jetson.jetson_clocks), "jetson_clocks = True")
    jetson.jetson_clocks = not jetson.jetson_clocks
    ok(not pinned() and until(jetson, lambda: jetson.jetson_clocks.status == "inactive"), "= not jetson_clocks")
    jetson.nvpmodel = 0
    ok(read("/var/lib/nvpmodel/status") == "pmode:0000" and until(jetson, lambda: jetson.nvpmodel.id == 0), "nvpmodel = 0")
    jetson.nvpmodel += 1
    ok(read("/var/lib/nvpmodel/status") == "pmode:0001" and until(jetson, lambda: jetson.nvpmodel.id == 1), "nvpmodel += 1")
    jetson.fan.mode = "system"
    ok(until(jetson, lambda: jetson.fan.mode == "system"), "fan.mode = 'system'")
    jetson.fan.speed = 100
    ok(read(machine.pwm) == "255" and until(jetson, lambda: jetson.fan.speed == 100) and jetson.fan.mode == "manual", "fan.speed = 100")

# ---- those of each class ----

with jtop(FAST) as jetson:
    if jetson.ok():
        models = jetson.nvpmodel.models
        jetson.nvpmodel = models[3]
        ok(read("/var/lib/nvpmodel/status") == "pmode:0003" and until(jetson, lambda: jetson.nvpmodel == models[3]),
           "nvpmodel = models[3]")
        jetson.nvpmodel -= 1
        ok(until(jetson, lambda: jetson.nvpmodel.id == 2), "nvpmodel -= 1")
        jetson.nvpmodel = jetson.nvpmodel + 1
        ok(until(jetson, lambda: jetson.nvpmodel.id == 3), "nvpmodel = nvpmodel + 1")
        jetson.nvpmodel.set_nvpmodel_id(1, force=False)
        ok(until(jetson, lambda: str(jetson.nvpmodel) == "MODE_15W"), "set_nvpmodel_id()")
        jetson.nvpmodel.set_nvpmodel_name("MODE_30W", force=False)
        ok(until(jetson, lambda: jetson.nvpmodel.id == 2), "set_nvpmodel_name()")
    jetson.fan.profile = "cool"
    ok(until(jetson, lambda: jetson.fan.profile == "cool"), "fan.profile = 'cool'")
    jetson.fan.speed = 90
    ok(read(machine.pwm) in ("229", "230") and until(jetson, lambda: round(jetson.fan.speed) == 90), "fan.speed = 90")
    for name in jetson.fan:
        jetson.fan.set_speed(name, 50)
        ok(read(machine.pwm) in ("127", "128"), "set_speed()")
        jetson.fan.set_profile(name, jetson.fan.get_profile_default(name))
        ok(until(jetson, lambda: jetson.fan.mode == "system"), "set_profile()")
    jetson.gpu.set_scaling_3D("gpu", False)
    ok(read(SCALING) == "0" and until(jetson, lambda: not jetson.gpu.scaling_3D), "set_scaling_3D()")
    jetson.gpu.set_scaling_3D = True
    ok(read(SCALING) == "1" and until(jetson, lambda: jetson.gpu.scaling_3D), "set_scaling_3D = True")
    jetson.gpu.set_scaling_3D = not jetson.gpu.set_scaling_3D
    ok(read(SCALING) == "0", "set_scaling_3D = not set_scaling_3D")
    jetson.gpu.scaling_3D = True
    ok(read(SCALING) == "1", "scaling_3D = True")
    jetson.jetson_clocks.set_enable(True)
    ok(pinned() and until(jetson, lambda: jetson.jetson_clocks.get_enable()), "set_enable()")
    jetson.memory.clear_cache()
    ok(read("/proc/sys/vm/drop_caches") == "3", "clear_cache()")
    jetson.memory.swap_set(0.0625, on_boot=False)
    ok(os.path.getsize(machine.dir + jetson.memory.swap_path()) == 64 << 20 and
       until(jetson, lambda: jetson.memory.swap_is_enable(jetson.memory.swap_path())), "swap_set()")
    jetson.memory.swap_deactivate()
    ok(not os.path.exists(machine.dir + jetson.memory.swap_path()), "swap_deactivate()")
    jetson.jetson_clocks.boot = False

    # ---- what is wrong, and back ----

    ok("7" in said(JtopException, setattr, jetson, "nvpmodel", 7) and "NONE" in said(JtopException, setattr, jetson, "nvpmodel", "NONE") and
       "loud" in said(JtopException, setattr, jetson.fan, "profile", "loud") and "120" in said(JtopException, setattr, jetson.fan, "speed", 120) and
       read("/var/lib/nvpmodel/status") == "pmode:0002", "values that are not allowed: a sentence, and nothing is set")
    texts = []
    for status, message in jetson.restore():
        texts.append(message)
        ok(status, message)
    # Not the modes of files: the service that stands in for nvfancontrol makes its own.
    now = {path: is_[-1] for path, is_ in machine.snapshot().items()}
    differ = [path for path in {**before, **now} if now.get(path) != before.get(path) and not path.endswith("/drop_caches")]
    ok(texts and not differ, "restore(): all is as before")
    for path in differ:
        print("# %s: %r, was %r" % (path, now.get(path), before.get(path)))
done()
