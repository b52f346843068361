#!/usr/bin/env python3
"""An independent reader and writer of NVMT version 1: uses only the layout known to existing
readers, and shares no code with nvmtop.

  nvmt.py check FILE     the content as one JSON object; exit 0 if it is valid, 1 if not
                         (see "errors")
  nvmt.py make FILE ...  a file with known waveforms (see make()), as another program would
                         write it: nothing after the last sync point
"""

import json
import math
import os
import struct
import sys

MAGIC = 0x4E564D54
HEADER = struct.Struct("<II32s4B3I4Q192s384s64s")
FAST = struct.Struct("<dH16ffQQf")
MEDIUM = struct.Struct("<d8I8I8f")
SLOW = struct.Struct("<d16f")
SYNC = struct.Struct("<QQ")
assert (HEADER.size, FAST.size, MEDIUM.size, SLOW.size, SYNC.size) == (728, 98, 104, 72, 16)

CORES, RAILS, ZONES, NAME = 16, 8, 16, 24


def column(values):
    """Mean, minimum and maximum of the numbers, and the count of NaN."""
    got = [v for v in values if v == v]
    out = {"n": len(got), "nan": len(values) - len(got), "mean": None, "min": None, "max": None}
    if got:
        out.update(mean=sum(got) / len(got), min=min(got), max=max(got))
    return out


def text(raw, what, errors):
    end = raw.find(b"\0")
    if end < 0:
        errors.append(f"{what} is not terminated")
        end = len(raw)
    try:
        return raw[:end].decode("utf-8")
    except UnicodeDecodeError:
        errors.append(f"{what} is not UTF-8")
        return raw[:end].decode("latin-1")


def read_header(raw, errors):
    f = HEADER.unpack(raw)
    head = {
        "magic": f[0], "version": f[1], "board": text(f[2], "board_name", errors),
        "cores": f[3], "rails": f[4], "zones": f[5], "emc": f[6],
        "hz": {"fast": f[7], "medium": f[8], "slow": f[9]},
        "counts": {"fast": f[10], "medium": f[11], "slow": f[12], "sync": f[13]},
    }
    if f[0] != MAGIC:
        errors.append(f"magic is {f[0]:#010x}, not {MAGIC:#010x}")
    if f[1] != 1:
        errors.append(f"version is {f[1]}, not 1")
    for what, most in (("cores", CORES), ("rails", RAILS), ("zones", ZONES), ("emc", 1)):
        if head[what] > most:
            errors.append(f"{what} is {head[what]}, above {most}")
            head[what] = most
    for what, hz in head["hz"].items():
        if hz == 0:
            errors.append(f"{what}_hz is 0")
    names = [text(f[14][i * NAME:(i + 1) * NAME], f"power_rail_names[{i}]", errors) for i in range(RAILS)]
    head["rail_names"] = names[:head["rails"]]
    names = [text(f[15][i * NAME:(i + 1) * NAME], f"thermal_zone_names[{i}]", errors) for i in range(ZONES)]
    head["zone_names"] = names[:head["zones"]]
    for what in ("rail_names", "zone_names"):
        if "" in head[what]:
            errors.append(f"{what} has an empty name")
    if any(f[16]):
        errors.append("the reserved bytes are not zero")
    return head


def read_section(raw, layout, offset, count, what, errors):
    """The complete records, and the offset after the section."""
    end = offset + count * layout.size
    if end > len(raw):
        errors.append(f"{what}: {count} records from {offset} end at {end}, "
                      f"behind the file's end at {len(raw)}")
        count = max(0, len(raw) - offset) // layout.size
    return list(layout.iter_unpack(raw[offset:offset + count * layout.size])), min(end, len(raw))


def times(records, hz, what, errors):
    """Whether the times increase, and their distances."""
    out = {"n": len(records), "increasing": True, "first_s": None, "last_s": None}
    if not records:
        return out
    out["first_s"], out["last_s"] = records[0][0], records[-1][0]
    steps = [b[0] - a[0] for a, b in zip(records, records[1:])]
    if not all(math.isfinite(r[0]) for r in records):
        errors.append(f"{what}: a time is not a number")
        out["increasing"] = False
    elif steps and min(steps) <= 0:
        i = next(i for i, s in enumerate(steps) if s <= 0)
        errors.append(f"{what}: the time of sample {i + 1} does not lie behind that of sample {i}")
        out["increasing"] = False
    if records[0][0] < 0:
        errors.append(f"{what}: the first time is negative")
    if steps and out["increasing"]:
        ordered = sorted(steps)
        out["step_s"] = {"min": ordered[0], "median": ordered[len(ordered) // 2], "max": ordered[-1]}
        out["hz"] = len(steps) / (out["last_s"] - out["first_s"])
        out["gaps"] = sum(s > 1.5 / hz for s in steps) if hz else None
    return out


def unused(columns, what, errors):
    """Slots without a core, rail or zone are 0."""
    if any(map(any, columns)):
        errors.append(f"{what}: an unused slot is not 0")


def read_fast(records, head, errors):
    if not records:
        return {}
    load, *rest = list(zip(*records))[1:]
    cores = rest[:head["cores"]]
    unused(rest[head["cores"]:CORES], "fast", errors)
    columns = [("gpu_load", load), *((f"cpu{i}", c) for i, c in enumerate(cores)),
               *zip(("cpu_aggregate", "ram_used_kb", "ram_available_kb", "emc_util"), rest[CORES:])]
    out = {name: column(c) for name, c in columns}
    if not out["gpu_load"]["max"] <= 1000:
        errors.append("fast: gpu_load is above 1000")
    for name, c in out.items():
        if name.startswith("cpu") and c["n"] and not (0 <= c["min"] and c["max"] <= 100.01):
            errors.append(f"fast: {name} is outside 0..100")
    if not head["emc"] and (out["emc_util"]["min"], out["emc_util"]["max"]) != (-1, -1):
        errors.append("fast: emc_util is not -1 although emc_available is 0")
    return out


def read_medium(records, head, errors):
    out, worst = {}, 0.0
    if not records:
        return out, worst
    columns = list(zip(*records))[1:]
    unused([c for i, c in enumerate(columns) if i % RAILS >= head["rails"]], "medium", errors)
    for name, volt, amp, watt in zip(head["rail_names"], columns, columns[RAILS:], columns[2 * RAILS:]):
        for end, c in (".voltage_mv", volt), (".current_ma", amp), (".power_mw", watt):
            out[name + end] = column(c)
        worst = max([worst, *(abs(mw - mv * ma / 1000) / max(1.0, abs(mw)) for mv, ma, mw in zip(volt, amp, watt) if mw == mw)])
    return out, worst


def read_slow(records, head, errors):
    columns = list(zip(*records))[1:]
    unused(columns[head["zones"]:], "slow", errors)
    return {name: column(c) for name, c in zip(head["zone_names"], columns)}


def read_sync(records, fast, errors):
    out = []
    for i, (ident, index) in enumerate(records):
        if ident != i + 1:
            errors.append(f"sync point {i} has id {ident}, not {i + 1}")
        if out and index < out[-1]["fast_index"]:
            errors.append(f"sync point {ident} lies before the one before it")
        if index > len(fast):
            errors.append(f"sync point {ident} is at fast sample {index} of {len(fast)}")
        out.append({"id": ident, "fast_index": index,
                    "time_s": fast[index][0] if index < len(fast) else None})
    bounds = [0] + [min(s["fast_index"], len(fast)) for s in out] + [len(fast)]
    epochs = [{"epoch": 0 if i == 0 else out[i - 1]["id"], "first": a, "samples": b - a}
              for i, (a, b) in enumerate(zip(bounds, bounds[1:]))]
    return out, epochs


def check(path):
    errors = []
    with open(path, "rb") as f:
        raw = f.read()
    result = {"file": os.path.basename(path), "bytes": len(raw)}
    if len(raw) < HEADER.size:
        errors.append(f"{len(raw)} bytes are less than a header of {HEADER.size}")
        result["errors"] = errors
        return result
    head = read_header(raw[:HEADER.size], errors)
    result.update(head)
    if head["magic"] == MAGIC and head["version"] == 1:
        offset = HEADER.size
        hz, counts = head["hz"], head["counts"]
        fast, offset = read_section(raw, FAST, offset, counts["fast"], "fast", errors)
        medium, offset = read_section(raw, MEDIUM, offset, counts["medium"], "medium", errors)
        slow, offset = read_section(raw, SLOW, offset, counts["slow"], "slow", errors)
        sync, offset = read_section(raw, SYNC, offset, counts["sync"], "sync", errors)
        result["trailing_bytes"] = len(raw) - offset
        result["trailing_offset"] = offset
        result["fast"] = times(fast, hz["fast"], "fast", errors)
        result["fast"]["fields"] = read_fast(fast, head, errors)
        result["medium"] = times(medium, hz["medium"], "medium", errors)
        result["medium"]["fields"], result["medium"]["power_error"] = read_medium(medium, head, errors)
        result["slow"] = times(slow, hz["slow"], "slow", errors)
        result["slow"]["fields"] = read_slow(slow, head, errors)
        result["sync"], result["epochs"] = read_sync(sync, fast, errors)
    result["errors"] = errors
    return result


def finite(v):
    """JSON has no NaN and no infinity: replace them by null."""
    if isinstance(v, dict):
        return {k: finite(x) for k, x in v.items()}
    if isinstance(v, list):
        return [finite(x) for x in v]
    return None if isinstance(v, float) and not math.isfinite(v) else v


def make(a):
    """Waveforms to compare a reader with; i is the sample number.

    time         start + i / hz, exactly as a double computes it
    gpu_load     7 i mod 1001
    cpu k        (i + 10 k) mod 101;  aggregate: the mean of the cores
    ram          used 1000000 + i kB, available 8000000 - i kB
    emc_util     i / 10 mod 101, or -1 with --no-emc
    rail k       5000 + 8 (i mod 3) + 1000 k mV,  20 (i mod 50) + 100 k mA
    zone k       30 + k + (i mod 8) / 4 degrees;  NaN in zone --nan-zone
    sync p       at fast sample p * fast / (syncs + 1)
    """
    names = ["VDD_GPU_SOC", "VDD_CPU_CV", "VIN_SYS_5V0", "VDDQ_VDD2_1V8AO"]
    names += [f"RAIL{i}" for i in range(len(names), RAILS)]
    zones = ["cpu", "gpu", "cv0", "cv1", "cv2", "soc0", "soc1", "soc2", "tj", "Tboard", "Tdiode"]
    zones += [f"zone{i}" for i in range(len(zones), ZONES)]

    def block(words, count, n):
        return b"".join(w.encode().ljust(NAME, b"\0") for w in words[:n]).ljust(count * NAME, b"\0")

    def pad(values, count):
        return list(values) + [0] * (count - len(values))

    out = [HEADER.pack(MAGIC, 1, a.board.encode()[:31], a.cores, a.rails, a.zones, not a.no_emc,
                       a.fast_hz, a.medium_hz, a.slow_hz, a.fast, a.medium, a.slow, a.syncs,
                       block(names, RAILS, a.rails), block(zones, ZONES, a.zones), b"")]
    for i in range(a.fast):
        cores = [(i + 10 * k) % 101 for k in range(a.cores)]
        out.append(FAST.pack(a.start + i / a.fast_hz, 7 * i % 1001, *pad(cores, CORES),
                             sum(cores) / a.cores if cores else 0.0, 1000000 + i, 8000000 - i,
                             -1.0 if a.no_emc else i / 10 % 101))
    for i in range(a.medium):
        mv = [5000 + 8 * (i % 3) + 1000 * k for k in range(a.rails)]
        ma = [20 * (i % 50) + 100 * k for k in range(a.rails)]
        mw = [v * c / 1000 for v, c in zip(mv, ma)]
        out.append(MEDIUM.pack(a.start + i / a.medium_hz, *pad(mv, RAILS), *pad(ma, RAILS), *pad(mw, RAILS)))
    for i in range(a.slow):
        temps = [math.nan if k == a.nan_zone else 30 + k + i % 8 / 4 for k in range(a.zones)]
        out.append(SLOW.pack(a.start + i / a.slow_hz, *pad(temps, ZONES)))
    for p in range(1, a.syncs + 1):
        out.append(SYNC.pack(p, p * a.fast // (a.syncs + 1)))
    raw = b"".join(out) + bytes(a.trailing)
    with open(a.file, "wb") as f:
        f.write(raw if a.cut is None else raw[:a.cut])


def number(low, high):
    def parse(word):
        v = int(word)
        if not low <= v <= high:
            raise ValueError(f"{v} is not in {low}..{high}")
        return v
    return parse


def main():
    import argparse  # not for those who only want check()

    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sub = p.add_subparsers(dest="command", required=True)
    c = sub.add_parser("check", help="describe and judge a file")
    c.add_argument("file")
    m = sub.add_parser("make", help="write a file with known waveforms", description=make.__doc__,
                       formatter_class=argparse.RawDescriptionHelpFormatter)
    m.add_argument("file")
    many = number(0, 10 ** 8)
    for name, default in (("fast", 3000), ("medium", 300), ("slow", 30), ("syncs", 2)):
        m.add_argument("--" + name, type=many, default=default, metavar="N", help=f"how many ({default})")
    for name, default in (("fast", 1000), ("medium", 100), ("slow", 10)):
        m.add_argument(f"--{name}-hz", type=number(1, 10 ** 6), default=default, metavar="HZ",
                       help=f"({default})")
    m.add_argument("--cores", type=number(0, CORES), default=12, metavar="N", help="(12)")
    m.add_argument("--rails", type=number(0, RAILS), default=4, metavar="N", help="(4)")
    m.add_argument("--zones", type=number(0, ZONES), default=11, metavar="N", help="(11)")
    m.add_argument("--board", default="agx_orin", metavar="NAME", help="(agx_orin)")
    m.add_argument("--start", type=float, default=0.001, metavar="S",
                   help="time of the first samples (0.001)")
    m.add_argument("--no-emc", action="store_true", help="EMC was not sampled")
    m.add_argument("--nan-zone", type=int, default=-1, metavar="K", help="this zone is never read")
    m.add_argument("--trailing", type=many, default=0, metavar="N",
                   help="zero bytes behind the last sync point")
    m.add_argument("--cut", type=many, default=None, metavar="N", help="keep only the first N bytes")
    a = p.parse_args()
    if a.command == "make":
        make(a)
        return 0
    try:
        result = check(a.file)
    except OSError as e:
        print(f"nvmt.py: {a.file}: {e.strerror}", file=sys.stderr)
        return 2
    json.dump(finite(result), sys.stdout, indent=1, allow_nan=False)
    print()
    return 1 if result["errors"] else 0


if __name__ == "__main__":
    sys.exit(main())
