"""TAP: nvmtop.jtop, on a tree with every file; the numbers here are those of its text."""
import csv
import datetime
import io
import json
import os
import socket
import subprocess
import sys
import threading
import time
import types

import nvmtop.jtop
from nvmtop.jtop import JtopException, jtop
from tap import done, keep_busy, ok, said

tree = os.environ["NVMTOP_SYSROOT"]
FAST = 0.05


def soon(condition):
    until = time.monotonic() + 60
    while not condition() and time.monotonic() < until:
        time.sleep(0.02)
    return condition()


def same(found, expected, what):
    ok(found == expected, what)
    if found != expected:
        print("# found    %r\n# expected %r" % (found, expected))


# ---- each property, in its shape and unit ----

with jtop() as jetson:
    board = jetson.board
    ok(jetson.ok(), "there are values at once")
    cpu, memory, gpu, engine = jetson.cpu, jetson.memory, jetson.gpu, jetson.engine
    fan, power, temperature, processes = jetson.fan, jetson.power, jetson.temperature, jetson.processes
    mode, clocks, disk, interfaces, uptime = (jetson.nvpmodel, jetson.jetson_clocks, jetson.disk, jetson.local_interfaces,
                                              jetson.uptime)
    stats = jetson.stats
    everything, flat = json.loads(jetson.json()), json.loads(jetson.json(stats=True, indent=1))
    same((jetson.interval, jetson.interval_user), (1.0, 1.0), "interval")

same({k: v for k, v in board["platform"].items() if k != "Python"},
     {"Machine": "aarch64", "System": "Linux", "Distribution": "Ubuntu 22.04.5 LTS", "Release": "5.15.148-tegra"},
     "board: platform")
ok(board["platform"]["Python"] == "%d.%d.%d" % sys.version_info[:3], "board: the Python of the script")
same(board["hardware"], {
    "Model": "NVIDIA Jetson AGX Orin Developer Kit", "699-level Part Number": "699-13701-0005-500 M.0",
    "P-Number": "p3701-0005", "BoardIDs": "3701-0005-500", "Module": "Jetson AGX Orin (first developer kit)",
    "SoC": "tegra234", "CUDA Arch BIN": "8.7", "Codename": "concord", "Serial Number": "1421722000000", "L4T": "36.4.3",
    "Jetpack": "6.2"}, "board: hardware")
same(board["libraries"], {"CUDA": "12.6.68", "cuDNN": "9.3.0.75", "TensorRT": "10.3.0.30", "VPI": "3.2.4",
                          "Vulkan": "1.3.204", "OpenCV": "4.8.0", "OpenCV-Cuda": True}, "board: libraries")
ok(len(cpu["cpu"]) == 12 and cpu["cpu"][0] == {
    "online": True, "governor": "schedutil", "freq": {"min": 115200, "max": 1728000, "cur": 729600},
    "info_freq": {"min": 115200, "max": 2201600}, "idle_state": {"WFI": 0, "c7": 0}, "model": "Cortex-A78AE"},
   "cpu: kHz; a tree that does not move has no loads")
ok(cpu["total"] == {} and cpu["cpu"][11]["idle_state"] == {"WFI": 0, "c7": 1}, "cpu: an idle state that is disabled")
same(memory["RAM"], {"tot": 64349572, "used": 5260288, "free": 43870012, "buffers": 754271, "cached": 15093215,
                     "shared": 0, "lfb": 418}, "memory: RAM in kB")
same(memory["SWAP"], {"tot": 32174784, "used": 0, "cached": 0, "table": {
    "/dev/zram0": {"type": "zram", "prio": 5, "size": 2010352, "used": 1024},
    "/mnt/swap file": {"type": "file", "prio": -2, "size": 8388604, "used": 0}}}, "memory: SWAP")
same((memory["EMC"], memory["IRAM"]), ({"online": True, "val": 6, "cur": 2133000, "max": 2133000, "min": 204000},
                                       {"tot": 252, "used": 8}), "memory: EMC with the cap of its clock, IRAM")
ok(memory.swap_is_enable("/dev/zram0") and not memory.swap_is_enable("/swfile"), "memory: what is swap")
same(gpu, {"gpu": {"type": "integrated", "status": {"railgate": True, "tpc_pg_mask": True, "3d_scaling": True, "load": 0},
                   "freq": {"governor": "nvhost_podgov", "min": 306000, "max": 612000, "cur": 306000,
                            "GPC": [1300500, 1299000]}, "power_control": "auto"}}, "gpu")
ok(gpu.scaling_3D is gpu.get_scaling_3D("gpu") is gpu.get_railgate("gpu") is True, "gpu: its functions")
same({group: sorted(of) for group, of in engine.items()},
     {"NVDEC": ["NVDEC"], "NVJPG": ["NVJPG", "NVJPG1"], "VIC": ["VIC"], "OFA": ["OFA"], "APE": ["APE"], "NVENC": ["NVENC"]},
     "engine: groups")
same((engine["NVENC"]["NVENC"], engine["NVDEC"]["NVDEC"]["online"]),
     ({"online": True, "min": 115200, "max": 793600, "cur": 166400}, False), "engine: kHz")
same({k: v for k, v in fan["pwmfan"].items() if k != "speed"},
     {"rpm": [717], "profile": "quiet", "governor": "cont", "control": "close_loop"}, "fan")
ok("%.2f" % fan["pwmfan"]["speed"][0] == "%.2f" % fan.speed == "%.2f" % fan.get_speed("pwmfan") == "21.18", "fan: speed in %")
same((fan.profile, fan.rpm, fan.get_rpm("pwmfan"), fan.get_profile("pwmfan"), fan.all_profiles("pwmfan"),
      fan.get_profile_default("pwmfan")), ("quiet", 717, 717, "quiet", ["cool", "quiet"], "cool"), "fan: its functions")
same(power["rail"]["VDD_CPU_CV"], {"online": True, "volt": 12008, "curr": 40, "power": 480, "avg": 480, "warn": 32760,
                                   "crit": 32760}, "power: mV, mA, mW")
same((len(power["rail"]), power["tot"]), (4, {"power": 8711, "avg": 8711}), "power: the total is no sum of all rails")
same((temperature["cpu"], temperature["gpu"], temperature["Tboard"]["max"]),
     ({"online": True, "temp": 52.875, "max": 99, "crit": 104.5}, {"online": False, "max": 99, "crit": 104.5}, 85),
     "temperature: one that is powered down has no temp")
same(processes, [[1840, processes[0][1], "I", "Graphic", 20, "S", 0, 1649380, 1234567, "python3 (infer)"]], "processes")
same((str(mode), mode.name, mode.id, mode.models, mode.get_default(), mode + 1, mode.is_running()),
     ("MODE_30W", "MODE_30W", 2, ["MAXN", "MODE_15W", "MODE_30W", "MODE_50W"], {"name": "MODE_30W", "id": 2}, 3, False),
     "nvpmodel")
same((str(clocks), bool(clocks), clocks.status, clocks.boot, clocks.get_enable()), ("False", False, "inactive", False, False),
     "jetson_clocks")
same((disk, interfaces), ({}, {"hostname": "orin", "interfaces": {}}), "a tree has no disk and no address")
ok(uptime >= datetime.timedelta(seconds=93784) and uptime < datetime.timedelta(seconds=94784), "uptime")
same({k: v for k, v in stats.items() if k not in ("time", "uptime", "Fan pwmfan0") and not k.startswith("Temp")},
     {"RAM": 5260288 / 64349572, "SWAP": 0, "IRAM": 8 / 252, "EMC": 6, "GPU": 0, "NVDEC": "OFF", "NVJPG": "OFF",
      "NVJPG1": "OFF", "VIC": 115200, "OFA": "OFF", "APE": 174000, "NVENC": 166400, "Power VDD_GPU_SOC": 3362,
      "Power VDD_CPU_CV": 480, "Power VIN_SYS_5V0": 4869, "Power VDDQ_VDD2_1V8AO": 397, "Power TOT": 8711,
      "jetson_clocks": "OFF", "nvp model": "MODE_30W"}, "stats")
ok(isinstance(stats["time"], datetime.datetime) and isinstance(stats["uptime"], datetime.timedelta) and
   stats["Temp cpu"] == 52.875 and "Temp gpu" not in stats, "stats: times and temperatures")
ok(everything["memory"]["RAM"] == memory["RAM"] and everything["nvpmodel"] == "MODE_30W" and
   everything["cpu"]["cpu"][0] == cpu["cpu"][0] and everything["uptime"] == str(uptime), "json")
ok(flat["APE"] == 174000 and set(flat) == set(stats), "json of stats")


def unknown_by_number(x):
    if isinstance(x, dict):
        x = list(x.values())
    return any(map(unknown_by_number, x)) if isinstance(x, list) else x is None or x == -256 or x == ""


ok(not unknown_by_number([board, cpu, memory, gpu, engine, fan, power, temperature, processes, disk, interfaces, stats]),
   "nothing is unknown by a number")

# ---- the documentation's ways to use it, and its examples ----

with jtop(FAST) as jetson:
    looks = []
    while jetson.ok():
        looks.append(jetson.stats)
        if len(looks) == 3:
            break
times = [s["time"] for s in looks]
ok(times == sorted(set(times)), "with and ok: new values each time")

jetson = jtop()
jetson.start()
stat = jetson.stats
jetson.close()
ok(stat["nvp model"] == "MODE_30W" and not jetson.ok(), "start, stats, close")
jetson.start()
again = jetson.ok()
jetson.close()
ok(again, "and start again")

seen = []


def read_stats(jetson):
    seen.append(jetson.stats)
    if len(seen) == 3:
        jetson.close()


jetson = jtop(FAST)
jetson.attach(read_stats)
jetson.attach(read_stats)
jetson.loop_for_ever()
ok(len(seen) == 3, "attach, loop_for_ever, and close in the callback")
jetson.detach(read_stats)
jetson.start()
before = len(seen)
while jetson.ok() and len(looks) < 6:
    looks.append(1)
jetson.close()
ok(len(seen) == before, "detach")


def fails(jetson):
    raise KeyError("the program's own")


jetson = jtop(FAST)
jetson.attach(fails)
try:
    jetson.loop_for_ever()
    raised = None
except KeyError as e:
    raised = e
ok(str(raised) == repr("the program's own"), "what a callback raises is raised there")

out = io.StringIO()  # the logger
with jtop(FAST) as jetson:
    stats = jetson.stats
    writer = csv.DictWriter(out, fieldnames=stats.keys())
    writer.writeheader()
    writer.writerow(stats)
    for _ in range(3):
        if jetson.ok():
            writer.writerow(jetson.stats)
rows = list(csv.DictReader(io.StringIO(out.getvalue())))
ok(len(rows) == 4 and {r["Power TOT"] for r in rows} == {"8711"}, "a table of stats")

with jtop(FAST) as jetson:  # readers
    if jetson.ok():
        lines = ["%d %s: %s" % (i, key, value) for i, core in enumerate(jetson.cpu["cpu"]) for key, value in core.items()]
        lines += ["%s: %s" % item for item in jetson.cpu["total"].items()]
        lines += ["%s = %s" % (name, jetson.engine[name]) for name in jetson.engine]
        lines += ["%s - %s: %s" % (kind, name, value) for kind, group in jetson.board.items() for name, value in group.items()]
        lines += ["%s %s" % item for item in jetson.memory.items()]
        lines += [str(process) for process in jetson.processes]
        for name in jetson.fan:
            lines.append("%s profile=%s speed=%s" % (name, jetson.fan.get_profile(name), jetson.fan.get_speed(name)))
        lines += [str(p) for p in (jetson.gpu, jetson.nvpmodel, jetson.jetson_clocks, jetson.disk, jetson.fan, jetson.uptime,
                                   jetson.local_interfaces, jetson.temperature, jetson.power)]
ok(len(lines) > 100 and "MODE_30W" in lines and "pwmfan profile=quiet speed=21.176470588235293" in lines, "all readers")

server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen(1)
client = socket.create_connection(server.getsockname())
with jtop(FAST) as jetson:
    if jetson.ok():
        connection, _ = server.accept()
        connection.sendall(jetson.json(stats=True).encode())
        connection.close()
got = b"".join(iter(lambda: client.recv(65536), b""))
ok(json.loads(got.decode())["EMC"] == 6, "a server")


class Flask:  # of flask, what its example uses
    def __init__(self, name):
        self.functions = {}

    def add_url_rule(self, rule, endpoint, function):
        self.functions[rule] = function

    def run(self, debug):
        self.answer = self.functions["/status"]()


sys.modules["flask"] = types.SimpleNamespace(Flask=Flask, Response=lambda response, status, mimetype: response)


class WebService:
    def __init__(self):
        from flask import Flask, Response
        self.app, self.response, self.jetson = Flask(__name__), Response, jtop()
        self.app.add_url_rule("/status", "status", self.status)
        self.jetson.start()
        self.app.run(debug=False)

    def status(self):
        answer = {"uptime": str(self.jetson.uptime)}
        self.jetson.ok(spin=True)
        return self.response(response=json.dumps(answer), status=201, mimetype="application/json")


service = WebService()
service.jetson.close()
ok(json.loads(service.app.answer)["uptime"].startswith("1 day, 2:0"), "a Flask service, with ok(spin=True)")

# ---- setters: what they set is in jtop-set-test.py ----


def wrong_type(*call):
    try:
        call[0](*call[1:])
    except ValueError as e:
        return "is not of type" in str(e)
    return False


os.environ["NVMTOP_PROGRAM"] = "/no/nvmtop"
with jtop(FAST) as jetson:
    same(said(JtopException, setattr, jetson, "nvpmodel", 0), "cannot run /no/nvmtop: No such file or directory", "what `nvmtop control` says")
    refused = [said(JtopException, *call) for call in (
        (jetson.jetson_clocks.set_boot, True), (setattr, jetson.jetson_clocks, "boot", True),
        (setattr, jetson.fan, "mode", "manual"), (setattr, jetson.fan, "rpm", 1000), (setattr, jetson.memory, "x", 1),
        (jetson.gpu.set_railgate, "gpu", True), (jetson.memory.swap_set, 10, "/swfile"), (jetson.memory.swap_set, 10, "", True),
        (jetson.memory.swap_deactivate, "/swfile"), (setattr, jetson.nvpmodel, "id", 2))]
    ok(all(text and "\n" not in text and "/no/nvmtop" not in text for text in refused), "what has no counterpart: a sentence")
    ok(wrong_type(setattr, jetson, "nvpmodel", 1.5) and wrong_type(setattr, jetson, "jetson_clocks", 1) and
       wrong_type(jetson.memory.swap_set, "10") and wrong_type(jetson.nvpmodel.set_nvpmodel_id, "MAXN") and
       wrong_type(jetson.jetson_clocks.set_boot, 1), "a value of another type: ValueError")
    jetson.jetson_clocks.boot = False
    jetson.jetson_clocks.clear_config()
    ok(jetson.nvpmodel == "MODE_30W" and jetson.nvpmodel == 2 and jetson.nvpmodel != "MAXN" and jetson.nvpmodel == jetson.nvpmodel and
       jetson.memory.swap_path() == "/swapfile.nvmtop", "modes are compared by name and number")
    same(said(JtopException, jetson.start), "this jtop is already running", "started twice")
    ok("there is no Fan 'x': there are pwmfan" == said(JtopException, jetson.fan.get_speed, "x") and
       "speed of this Fan is not known" == said(JtopException, jetson.fan.get_speed, "pwmfan", 7), "a fan that there is not")
ok("already" not in said(JtopException, lambda: jtop().stats) and "not running" in said(JtopException, lambda: jtop().stats), "values before start()")
ok(all("interval" in said(JtopException, jtop, i) for i in (0, -1, float("nan"), float("inf"))), "intervals that are none")

# ---- what changes ----

def put(path, text):
    with open(tree + path, "w") as f:
        f.write(text)


stop = threading.Event()
thread = keep_busy(tree, stop)


def loads():
    with jtop(FAST) as jetson:
        stats = jetson.stats
        return all(isinstance(stats.get("CPU%d" % (i + 1)), int) for i in range(12))


os.rmdir(os.path.realpath(tree + "/sys/class/thermal/thermal_zone1/temp"))
put("/sys/class/thermal/thermal_zone1/temp", "")
ok(soon(loads), "stats: CPU1 to CPU12")
with jtop(FAST) as jetson:
    ok(soon(lambda: {"user", "system", "idle", "nice"} <= set(jetson.cpu["total"]) and "user" in jetson.cpu["cpu"][3]) and
       all(0 <= v <= 100 for v in jetson.cpu["total"].values()), "cpu: loads in %")
    off = jetson.temperature["gpu"]
    put("/sys/class/thermal/thermal_zone1/temp", "61500\n")
    ok(off["online"] is False and "temp" not in off and soon(lambda: jetson.temperature["gpu"].get("temp") == 61.5) and "Temp gpu" not in jetson.stats,
       "a zone that powers up has a temp, and stats the same columns")
    put("/sys/class/hwmon/hwmon4/curr2_input", "250\n")
    ok(soon(lambda: [jetson.power["rail"]["VDD_CPU_CV"].get(k) for k in ("power", "avg")] == [3002, 3002]),
       "power: the mean follows")
    if hasattr(os, "fork"):
        child = os.fork()
        if child == 0:
            os._exit("before fork()" in said(JtopException, jetson.ok) and "before fork()" in said(JtopException, lambda: jetson.stats))
        ok(os.waitpid(child, 0)[1] >> 8 == 1, "after fork(): a sentence")
stop.set()
thread.join()
script = "from nvmtop.jtop import jtop\nj = jtop()\nj.start()\nprint(j.nvpmodel)"
run = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
same((run.returncode, run.stdout), (0, b"MODE_30W\n"), "a script that ends without close()")
with jtop(FAST) as jetson:
    same(jetson.stats["Temp gpu"], 61.5, "after the next start() it is in stats")
same(sorted(nvmtop.jtop.__all__), ["Fan", "GPU", "JetsonClocks", "JtopException", "Memory", "NVPModel", "jtop"], "its names")
done()
