#!/bin/sh
# `once --json`: the whole machine, a page that says what each key is, and nothing personal in a trace.
. "$NVMTOP_SRC/tests/cli/lib.sh"
unset NVMTOP_BOARD JETSON_MODEL_NAME

json() {
    "$python" -c 'import json,sys
t=json.load(open(sys.argv[1]))
m=t["machine"]
c={x["name"]:x for x in t["channels"]}
def has(*names): return all(n in c and not ("reason" in c[n] and "second" not in c[n]["reason"]) for n in names)
def number(x): return isinstance(x, (int, float)) and not isinstance(x, bool)
sys.exit(0 if eval(sys.argv[2]) else json.dumps(m, indent=1)[:4000])' "$1" "$2"
}
all() { json all "$1"; }
live() { json live "$1"; }

run nvmtop once --json --sysroot "$roots/all_files-36"
ok 'a machine with every file' is "$status" 0
mv out all
ok 'the version of the page' all 't["version"] == 1'
run nvmtop once --json
ok 'this machine' is "$status" 0
mv out live

# What the users of jtop have, row by row, in its order. A tree does not move: rates are looked at on this machine.
ok 'platform' all 'm["system"] == "Linux" and m["architecture"] == "aarch64" and m["distribution"] == "Ubuntu 22.04.5 LTS" and m["kernel"] == "5.15.148-tegra" and m["libraries"]["python"] == "3.10.6"'
ok 'hardware' all 'm["model"] and m["module"] and m["soc"] == "tegra234" and m["l4t"] == "36.4.3" and m["jetpack"] == "6.2"'
ok 'serial number' all 'm["serial"] == "1421722000000"'
ok 'part numbers, board ids, CUDA architecture, codename' all 'm["part_number"] == "699-13701-0005-500 M.0" and m["p_number"] == "p3701-0005" and m["board_ids"] == "3701-0005-500" and m["cuda_arch"] == "8.7" and m["codename"] == "concord"'
ok 'libraries' all '{k: m["libraries"][k] for k in ("cuda", "tensorrt", "cudnn", "vpi", "opencv")} == {"cuda": "12.6.68", "tensorrt": "10.3.0.30", "cudnn": "9.3.0.75", "vpi": "3.2.4", "opencv": "4.8.0"}'
ok 'Vulkan, OpenCV with CUDA' all 'm["libraries"]["vulkan"] == "1.3.204" and m["libraries"]["opencv_cuda"] is True'
ok 'cores: load, online' all 'len(m["cpu"]["cores"]) == 12 and all(x["online"] for x in m["cpu"]["cores"]) and "cpu11.util" in c'
ok 'user, nice, system, idle' live 'has("cpu.user", "cpu0.user", "cpu0.nice", "cpu0.system", "cpu0.idle") and 0 <= c["cpu.idle"]["value"] <= 100 and c["cpu.idle"]["window_s"] == 0.1'
ok 'governor, lowest and highest clock of each core' all 'all(x["governor"] == "schedutil" and x["min_hz"] == 115200000 and x["max_hz"] == 1728000000 and x["hardware_max_hz"] == 2201600000 for x in m["cpu"]["cores"])'
ok 'idle states and model of each core' all 'all(x["model"] == "Cortex-A78AE" and [s["name"] for s in x["idle_states"]] == ["WFI", "c7"] for x in m["cpu"]["cores"]) and [x["id"] for x in m["cpu"]["cores"] if x["idle_states"][1]["disabled"]] == [11]'
if df -P / | grep -q ' */dev/'; then
    ok 'disks: total, used, available' live 'm["disks"] and all(d["total_bytes"] >= d["used_bytes"] + 0 and number(d["available_bytes"]) and d["device"].startswith("/dev/") for d in m["disks"])'
else
    skip 'disks' 'none of this machine is on a device'
fi
ok 'addresses of interfaces' live 'all(i["name"] and i["address"] for i in m.get("interfaces", [])) and m["hostname"]'
ok 'engines: lowest and highest clock, on or off' all '(lambda e: len(e) == 7 and all(number(x["min_hz"]) and number(x["max_hz"]) and x["on"] in (True, False) for x in e) and {x["name"]: x["on"] for x in e}["VIC"])(m["engines"])'
ok 'engines: load, clock' all 'has("VIC.util", "NVENC.util", "NVDEC.util", "VIC.freq")'
ok 'fan: speed, profile' all 'has("fan.rpm", "fan.pwm") and m["fan"]["profile"] == "quiet"'
ok 'fan: governor, control, profiles' all 'm["fan"]["governor"] == "cont" and m["fan"]["control"] == "close_loop" and m["fan"]["profiles"] == ["cool", "quiet"] and m["fan"]["default_profile"] == "cool"'
ok 'GPU: load, clock, governor' all 'has("gpu.util", "gpu.freq", "gpu.gated") and m["gpu"]["governor"] == "nvhost_podgov" and m["gpu"]["min_hz"] == 306000000 and m["gpu"]["max_hz"] == 612000000'
ok 'GPU: railgating, TPC mask, 3D scaling, GPC clocks, power control' all 'm["gpu"]["railgating"] is True and m["gpu"]["tpc_mask"] == 240 and m["gpu"]["scaling_3d"] is True and m["gpu"]["gpc_hz"] == [1300500000, 1299000000] and m["gpu"]["power_control"] == "auto"'
ok 'jetson_clocks' all 'm["jetson_clocks"] is False'
ok 'RAM' all 'has("ram.used", "ram.cached", "nvmap.used", "ram.free", "ram.buffers", "ram.largest_block", "ram.largest_blocks") and m["memory"]["ram_total_kb"] == 64349572 and c["ram.largest_blocks"]["value"] == 418'
ok 'swap, and its parts' all 'has("swap.used", "swap.total", "swap.cached") and [(s["device"], s["type"], s["size_kb"], s["used_kb"], s["priority"]) for s in m["memory"]["swaps"]] == [("/dev/zram0", "zram", 2010352, 1024, 5), ("/mnt/swap file", "file", 8388604, 0, -2)]'
ok 'EMC' all 'has("emc.rate", "emc.cap") and m["memory"]["emc"] == {"min_hz": 204000000, "max_hz": 3199000000}'
ok 'IRAM' all 'm["memory"]["iram_total_kb"] == 252 and m["memory"]["iram_used_kb"] == 8'
ok 'power modes' all 'm["power_mode"]["current"] == "MODE_30W" and m["power_mode"]["default"] == "MODE_30W" and [(x["id"], x["name"]) for x in m["power_mode"]["modes"]][:2] == [(0, "MAXN"), (1, "MODE_15W")]'
ok 'power: volt, ampere, watt, mean, limits, total' all 'has("VDD_CPU_CV.voltage", "VDD_CPU_CV.current", "VDD_CPU_CV.power", "power.total") and number(c["VDD_CPU_CV.power"]["mean"]) and [r for r in m["rails"] if r["name"] == "VDD_CPU_CV"] == [{"name": "VDD_CPU_CV", "warn_ma": 32760, "crit_ma": 32760}]'
ok 'processes of the GPU' all 'len(m["processes"]) == 1 and (lambda p: p["pid"] == 1840 and p["name"] == "python3 (infer)" and p["type"] == "user" and p["state"] == "S" and p["priority"] == 20 and number(p["rss_kb"]) and p["gpu_kb"] == 1234567 and p["user"] and p["command"].startswith("/usr/bin/python3 "))(m["processes"][0])'
ok 'temperatures and their limits' all 'has("temp.cpu") and number(c["temp.cpu"]["warn"]) and number(c["temp.cpu"]["crit"])'
ok 'uptime' all 'm["uptime_s"] == 93784'
ok 'rates of disks and interfaces' all '"disk.nvme0n1.read" in c and "net.eth0.tx" in c and not [x for x in c if "loop0" in x or ".lo." in x]'

# What is not there is left out, and has its reason.
ok 'a tree has no disks of its own' all 'sorted(m["missing"]) == ["disks", "interfaces"]'
ok 'nothing is unknown by a number' all '(lambda f: f(f, m))(lambda f, x: all(f(f, y) for y in (x.values() if isinstance(x, dict) else x)) if isinstance(x, (dict, list)) else x not in (None, -256, ""))'
run nvmtop once --json --sysroot "$roots/pc"
mv out pc
ok 'another machine: reasons' json pc 'not {"serial", "part_number", "l4t", "engines"} & set(m) and all(m["missing"].values()) and {"serial", "part_number", "l4t", "gpu", "processes"} <= set(m["missing"])'
cp -R -P "$roots/all_files-36" denied
rm denied/sys/bus/i2c/devices/0-0050/eeprom && mkdir denied/sys/bus/i2c/devices/0-0050/eeprom
rm denied/sys/kernel/debug/nvmap/iovmm/clients
run nvmtop once --json --sysroot denied
mv out denied.json
ok 'a file that cannot be read' json denied.json '"part_number" not in m and "eeprom" in m["missing"]["part_number"] and m["p_number"] == "p3701-0000"'
ok 'processes that are not known are not none' json denied.json '"processes" not in m and "nvmap" in m["missing"]["processes"]'
run nvmtop once --json --demo
ok 'a demo is no machine' "$python" -c 'import json; assert "machine" not in json.load(open("out"))'

# Each key is on the page, and each of the page exists.
cat >keys.py <<'END'
import json, re, sys
def keys(x, at=""):
    if isinstance(x, dict):
        for k, v in x.items():
            path = (at + "." if at else "") + k
            yield path
            if path != "machine.missing":
                yield from keys(v, path)
    elif isinstance(x, list):
        for v in x:
            yield from keys(v, at + "[]")
found = set()
for name in sys.argv[2:]:
    t = json.load(open(name))
    t["facts"] = {}
    found |= set(keys(t))
page = open(sys.argv[1]).read().split("\n## Settings\n")[0]
page = set(re.findall(r"^\| `([^`]+)` \|", page, re.M))
found |= {"channels[].age_s", "machine.rails[].warn_mw", "machine.rails[].crit_mw"}  # NVML, and chips that no tree has
bad = [("not on the page", k) for k in sorted(found - page)] + [("nowhere", k) for k in sorted(page - found)]
print(*bad, sep="\n")
sys.exit(1 if bad else 0)
END
thor() { nvmtop once --json --sysroot "$roots/agx_thor-38" >thor; }
thor
ok 'the page has the keys' "$python" keys.py "$NVMTOP_SRC/docs/json.md" all live thor

# Traces are shared: serial number, addresses and command lines stay here.
run nvmtop record --sysroot "$roots/all_files-36" --duration 0.3 --force run.nvmt
ok 'recorded' is "$status" 0
nvmt() { "$python" "$NVMTOP_SRC/tests/tools/nvmt-log.py" "$1" >read; }
secrets() { nvmt "$1" && ! cat read "$1" | grep -aE '1421722000000|--model yolo|192\.0\.2\.|699-13701'; }
ok 'a trace has nothing personal' secrets run.nvmt
ok 'but what the machine is' says read '"soc": "tegra234", .*"jetpack": "6.2"'

# Texts are hostile until they were looked at.
cp -R -P "$roots/all_files-36" hostile
printf '1\033[2J\n"}]\\2\0' >hostile/sys/firmware/devicetree/base/serial-number
"$python" -c 'print("x" * 100000)' >hostile/etc/nvfancontrol.conf
"$python" -c 'print("Filename\n" + "\n".join("/dev/%d partition 1 2 3" % i for i in range(10000)))' >hostile/proc/swaps
printf 'processor\t: 99999999999999999999\n' >hostile/proc/cpuinfo
printf 'FAN_PROFILE:%s' "$(head -c 900 /dev/zero | tr '\0' 'y')" >hostile/var/lib/nvfancontrol/status
run nvmtop once --json --sysroot hostile
mv out hostile.json
ok 'hostile texts: JSON all the same' json hostile.json '"\x1b" not in json.dumps(t, ensure_ascii=False) and m["serial"].startswith("1") and len(m["fan"]["profile"]) < 64'
done_testing
