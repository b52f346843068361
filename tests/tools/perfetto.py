#!/usr/bin/env python3
"""Decodes the packets used in a Perfetto trace to JSON, without a library."""
import json
import struct
import sys

DOUBLE = struct.Struct("<d")


def varint(raw, at):
    v = shift = 0
    while True:
        b = raw[at]
        at += 1
        v |= (b & 0x7F) << shift
        shift += 7
        if b < 0x80:
            return v, at


def fields(raw):
    """(number, value) of each field; raises if the bytes are not a message."""
    at, end, out = 0, len(raw), []
    while at < end:
        key, at = raw[at], at + 1
        if key >= 0x80:
            key, at = varint(raw, at - 1)
        kind = key & 7
        if kind == 1:
            v, at = DOUBLE.unpack_from(raw, at)[0], at + 8
        elif kind == 0 or kind == 2:
            v, at = raw[at], at + 1
            if v >= 0x80:
                v, at = varint(raw, at - 1)
            if kind == 2:
                at += v
                if at > end:
                    raise ValueError("a field ends behind its message")
                v = raw[at - v:at]
        else:
            raise ValueError(f"wire type {kind}")
        out.append((key >> 3, v))
    return out


def one(raw):
    return dict(fields(raw))


def track(raw):
    f = one(raw)
    out = {"name": f.get(2, b"").decode(), "parent": f.get(5)}
    if 3 in f:
        out["process"] = [one(f[3])[1], one(f[3]).get(6, b"").decode()]
    if 4 in f:
        thread = one(f[4])
        out["thread"] = [thread[1], thread[2], thread.get(5, b"").decode()]
    out["rank"], out["order"], out["description"] = f.get(12), f.get(11), f.get(14, b"").decode()
    if 8 in f:
        counter = one(f[8])
        out["counter"] = {"unit": counter.get(3), "multiplier": counter.get(4), "unit_name": counter.get(6, b"").decode()}
    return f[1], out


def annotations(raw):
    """{name: value} of the debug annotations of an event."""
    out = {}
    for number, v in fields(raw):
        if number == 4:
            f = one(v)
            name = f.pop(10).decode()
            (kind, value), = f.items()
            out[name] = value - (1 << 64) if kind == 4 and value >= 1 << 63 else value
    return out


def path_of(tracks, uuid):
    words = []
    while uuid:
        words.insert(0, tracks[uuid]["name"])
        uuid = tracks[uuid]["parent"]
    return "/".join(words)


def decode(raw):
    out = {"clocks": None, "tracks": {}, "counters": {}, "instants": [], "slices": [], "snapshots": [],
           "details": []}
    open_slices, last = {}, 0
    for number, packet in fields(raw):
        assert number == 1, number
        p = one(packet)
        assert p[10] == 1       # the sequence
        if 6 in p:
            clocks = [one(v) for n, v in fields(p[6]) if n == 1]
            out["snapshots"].append({c[1]: c[2] for c in clocks})
            out["clocks"] = out["snapshots"][0]
        elif 60 in p:
            uuid, t = track(p[60])
            out["tracks"][uuid] = t
        elif 11 in p:
            e, at, clock = one(p[11]), p[8], p.get(58)
            assert at >= last, "not in the order of time"
            last = at
            assert e[11] in out["tracks"], "an event on a track that was not described"
            if e[9] == 4:
                out["counters"].setdefault(out["tracks"][e[11]]["name"], []).append((at, clock, e[44]))
            elif e[9] == 3:
                out["instants"].append((at, out["tracks"][e[11]]["name"], e[23].decode()))
            elif e[9] == 1:
                open_slices.setdefault(e[11], []).append((at, e[23].decode(), [v.decode() for n, v in fields(p[11]) if n == 22],
                                                          annotations(p[11])))
            elif e[9] == 2:
                stack = open_slices[e[11]]
                begin, name, category, notes = stack.pop()
                out["slices"].append((begin, at, name, path_of(out["tracks"], e[11])))
                out["details"].append((e[11], len(stack), category, notes))
        else:
            raise ValueError("a packet of nothing")
    assert not any(open_slices.values())
    return out


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as f:
        json.dump(decode(f.read()), sys.stdout)
