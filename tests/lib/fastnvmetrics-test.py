"""TAP: nvmtop.fastnvmetrics, on a tree that this moves."""
import os
import struct
import subprocess
import sys
import threading
import time
import warnings

import numpy as np

import nvmtop.fastnvmetrics as fastnvmetrics
from tap import done, keep_busy, ok, raises

tree = os.environ["NVMTOP_SYSROOT"]


keep_busy(tree, threading.Event())


def wait_for(nv, samples):
    until = nv.sample_count + samples
    while nv.sample_count < until:
        time.sleep(0.005)


# The scripts of its README.
from nvmtop.fastnvmetrics import NVMetrics, read_trace  # noqa: E402

with NVMetrics("trace.bin") as nv:
    first = nv.sync()
    wait_for(nv, 300)
    second = nv.sync()
    wait_for(nv, 300)
    counted = nv.sample_count
data = read_trace("trace.bin")
ok((first, second) == (1, 2) and counted >= 600 and nv.sample_count >= counted, "quick start: a recording with two phases")
ok("%.1f" % (data["gpu_load"].mean() / 10) == "0.0" and 0 < data["cpu_aggregate"].mean() <= 100, "GPU load and CPU of it")
ok(data["power_rail_names"] == ["VDD_GPU_SOC", "VDD_CPU_CV", "VIN_SYS_5V0", "VDDQ_VDD2_1V8AO"], "its rails")
ok(os.listdir(".").count("trace.bin") == 1 and not [f for f in os.listdir(".") if f.startswith("trace.bin.")], "one file is left")

nv = NVMetrics("manual.bin", fast_hz=500, medium_hz=50, slow_hz=5, board=None)
idle = nv.is_running, nv.sample_count
nv.start()
twice = raises(RuntimeError, "already running", nv.start)
nv.wait_for_warmup()
warm = nv.is_running and nv.sample_count >= 10
wait_for(nv, 200)
nv.stop()
nv.stop()
ok(idle == (False, 0) and twice and warm and not nv.is_running, "start, wait_for_warmup, stop")
manual = read_trace("manual.bin")
ok((manual["fast_hz"], manual["medium_hz"], manual["slow_hz"]) == (500, 50, 5), "its rates")

epoch = data["sync_id"]
ok(list(np.unique(epoch)) == [0, 1, 2] and np.all(np.diff(epoch.astype(int)) >= 0) and
   len(data["gpu_load"][epoch == 1]) >= 290, "the samples of a phase")

from nvmtop.fastnvmetrics import detect_board, get_board_config  # noqa: E402

board = detect_board()
ok(board.board_name == "agx_orin" and board.num_cpu_cores == 12, "the board of this machine")
ok([r.label for r in board.power_rails] == data["power_rail_names"] and
   [z.name for z in board.thermal_zones] == data["thermal_zone_names"] and len(board.thermal_zones) == 11,
   "has the names of a recording")
ok(all(os.path.isfile(tree + p) for r in board.power_rails for p in (r.voltage_path, r.current_path)) and
   all(os.path.exists(tree + p) for p in (board.gpu_load_path, board.emc_actmon_path, board.emc_clk_rate_path)) and
   board.thermal_zones[0] == ("cpu-thermal", "/sys/class/thermal/thermal_zone0/temp"), "and the paths of its files")
known = get_board_config("agx_orin")
ok(known.num_cpu_cores == 12 and [r.label for r in known.power_rails] == data["power_rail_names"] and
   len(known.thermal_zones) == 11 and get_board_config("orin_nx").num_cpu_cores == 8, "get_board_config")
ok(raises(RuntimeError, "Unknown board: unknown", get_board_config, "unknown"), "of an unknown board")
with NVMetrics("named.bin", board=get_board_config("orin_nx")) as nv:
    pass
ok(read_trace("named.bin")["board_name"] == "orin_nx", "a recorder with it")

# What read_trace returns.
KINDS = dict(board_name=str, num_cpu_cores=int, num_power_rails=int, num_thermal_zones=int, emc_available=bool, fast_hz=int,
             medium_hz=int, slow_hz=int, power_rail_names=list, thermal_zone_names=list)
DTYPES = dict(fast_time_s="f8", gpu_load="u2", cpu_util="f4", cpu_aggregate="f4", ram_used_kb="u8", ram_available_kb="u8",
              emc_util="f4", medium_time_s="f8", voltage_mv="u4", current_ma="u4", power_mw="f4", slow_time_s="f8",
              temp_c="f4", sync_id="u8")
ok(sorted(data) == sorted(list(KINDS) + list(DTYPES) + ["missing"]) and len(data) == 25, "24 keys and missing")
ok(all(type(data[k]) is t for k, t in KINDS.items()) and
   all(data[k].dtype == np.dtype("<" + t) for k, t in DTYPES.items()), "their types")
shapes = {"cpu_util": 12, "voltage_mv": 4, "current_ma": 4, "power_mw": 4, "temp_c": 11}
lengths = {k: len(data["medium_time_s" if k in ("voltage_mv", "current_ma", "power_mw") else
                       "slow_time_s" if k == "temp_c" else "fast_time_s"]) for k in DTYPES}
ok(all(data[k].shape == ((lengths[k], shapes[k]) if k in shapes else (lengths[k],)) for k in DTYPES
       if not k.startswith(("medium_", "slow_"))), "their shapes")
ok(all(m.dtype == bool and m.shape == data[k].shape for k, m in data["missing"].items()) and
   sorted(data["missing"]) == sorted(set(DTYPES) - {"sync_id", "fast_time_s", "medium_time_s", "slow_time_s"}),
   "missing has the shape of each")
ok(np.all(data["cpu_util"] >= 0) and not data["missing"]["cpu_util"][-1].any() and
   np.all(data["power_mw"][:, 1] == np.float32(480.32)) and np.all(data["voltage_mv"][:, 1] == 12008), "values")
gated = [z in ("gpu-thermal", "cv0-thermal", "cv1-thermal", "cv2-thermal") for z in data["thermal_zone_names"]]
ok(np.array_equal(data["missing"]["temp_c"].all(axis=0), gated) and np.array_equal(np.isnan(data["temp_c"]).all(axis=0), gated),
   "a zone that is never read is nan, not 0")

# A file of fastnvmetrics itself, with all that version 1 has for what was not read.
nan = float("nan")
fast = [(10, [nan, 1.5], 1.0, 0, 0, -1.0), (20, [2.5, nan], nan, 100, 900, 3.0), (30, [nan, nan], 2.0, 0, 0, -1.0)]
medium = [(5000, 100, 500.0), (0, 0, nan), (5001, 110, 550.0)]
names = b"VDD_IN".ljust(24, b"\0").ljust(192, b"\0") + b"cpu-thermal".ljust(24, b"\0").ljust(384, b"\0")
head = struct.pack("<II32sBBBBIIIQQQQ", 0x4E564D54, 1, b"orin_nx", 2, 1, 1, 1, 1000, 100, 10, 3, 3, 2, 1) + names + bytes(64)
body = b"".join(struct.pack("<dH16ffQQf", i / 1000, g, *(cpu + [0.0] * 14), total, used, free, emc)
                for i, (g, cpu, total, used, free, emc) in enumerate(fast))
body += b"".join(struct.pack("<d8I8I8f", i / 100, v, *([0] * 7), a, *([0] * 7), w, *([0.0] * 7))
                 for i, (v, a, w) in enumerate(medium))
body += b"".join(struct.pack("<d16f", i / 10, t, *([0.0] * 15)) for i, t in enumerate((nan, 44.5)))
with open("made", "wb") as f:
    f.write(head + body + struct.pack("<QQ", 1, 1))
made = read_trace("made")
miss = made["missing"]
ok((made["board_name"], made["num_cpu_cores"], made["power_rail_names"], made["thermal_zone_names"], made["emc_available"]) ==
   ("orin_nx", 2, ["VDD_IN"], ["cpu-thermal"], True), "a file that was made by hand")
ok(list(made["sync_id"]) == [0, 1, 1] and list(made["gpu_load"]) == [10, 20, 30], "its epochs")
ok(made["cpu_util"].tolist() == [[2.5, 1.5], [2.5, 1.5], [2.5, 1.5]] and
   miss["cpu_util"].tolist() == [[True, False], [False, True], [True, True]], "what was not read repeats the value before, or the first")
ok(made["cpu_aggregate"].tolist() == [1, 1, 2] and miss["cpu_aggregate"].tolist() == [False, True, False], "of all cores, too")
ok(made["ram_used_kb"].tolist() == [100] * 3 and made["ram_available_kb"].tolist() == [900] * 3 and
   miss["ram_used_kb"].tolist() == [True, False, True], "memory")
ok(made["emc_util"].tolist() == [3] * 3 and miss["emc_util"].tolist() == [True, False, True], "EMC")
ok(made["voltage_mv"].tolist() == [[5000], [5000], [5001]] and made["current_ma"].tolist() == [[100], [100], [110]] and
   made["power_mw"].tolist() == [[500], [500], [550]] and miss["voltage_mv"].tolist() == [[False], [True], [False]], "rails")
ok(made["temp_c"].tolist() == [[44.5], [44.5]] and miss["temp_c"].tolist() == [[True], [False]], "temperatures")

# Errors.
with open("short", "wb") as f:
    f.write(bytes(10))
with open("zero", "wb") as f:
    f.write(bytes(728))
with open("newer", "wb") as f:
    f.write(struct.pack("<II", 0x4E564D54, 99) + bytes(720))
ok(raises(ValueError, "too small (10 bytes)", read_trace, "short") and raises(ValueError, "Bad magic: 0x00000000", read_trace, "zero")
   and raises(ValueError, "Unsupported version: 99", read_trace, "newer"), "what is no trace")
ok(raises(FileNotFoundError, "nowhere", read_trace, "nowhere"), "no file")
with open("cut", "wb") as f:
    f.write((head + body)[:-20])
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    cut = read_trace("cut")
ok(len(said) == 1 and "cut" in str(said[0].message) and cut["gpu_load"].tolist() == [10, 20, 30] and len(cut["temp_c"]) == 1,
   "a file that was cut: a warning, and what can be read")
ok(raises(RuntimeError, "no/where", NVMetrics("no/where/x.bin").start), "no folder: when it starts, not when it ends")
ok(raises(RuntimeError, "above 0", lambda: NVMetrics("x.bin", fast_hz=0)) and
   raises(RuntimeError, "20000", NVMetrics("x.bin", fast_hz=20000).start) and
   raises(RuntimeError, "NUL", lambda: NVMetrics("x\0.bin")), "rates and names that are none")
ok(raises(RuntimeError, "not running", NVMetrics("x.bin").sync), "a mark without a recording")
with open("text.bin", "w") as f:
    f.write("text")
with open("text", "w") as f:
    f.write("text")
ok(raises(RuntimeError, "text.bin", NVMetrics("text.bin").start) and raises(RuntimeError, "text exists", NVMetrics("text").start)
   and open("text").read() == open("text.bin").read() == "text", "another file is not replaced")

# Names.
before = set(os.listdir("."))
for _ in range(2):
    with NVMetrics("plain") as nv:
        pass
with NVMetrics("trace.bin") as nv:
    pass
ok(set(os.listdir(".")) == before | {"plain"} and len(read_trace("plain")["fast_time_s"]) >= 10 and
   open("plain", "rb").read(4) == b"TMVN", "any name, and an earlier recording is replaced")
try:
    with NVMetrics("raised.bin") as nv:
        raise KeyError("the program's own")
except KeyError:
    pass
ok(len(read_trace("raised.bin")["fast_time_s"]) >= 10, "an exception: the file is there")
script = """
import nvmtop.fastnvmetrics as f
with f.NVMetrics("without.bin") as nv: pass
try: f.read_trace("without.bin")
except ImportError as e: print(e)
"""
run = subprocess.run([sys.executable, "-c", script], env=dict(os.environ, NVMTOP_NUMPY="no"), stdout=subprocess.PIPE)
ok(run.stdout.decode().startswith("nvmtop.fastnvmetrics.read_trace() needs NumPy: install it") and
   len(read_trace("without.bin")["fast_time_s"]) >= 10, "without NumPy it records, and says what to install")
ok(sorted(fastnvmetrics.__all__) == ["BoardConfig", "NVMetrics", "PowerRailConfig", "ThermalZoneConfig", "TraceData",
                                     "detect_board", "get_board_config", "read_trace"], "the names of its module")
done()
