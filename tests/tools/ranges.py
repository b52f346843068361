"""What tests/tools/ranges writes, in order of begin: see the head of ranges.c."""
from collections import namedtuple

Range = namedtuple("Range", "begin_ms end_ms name domain process pid thread tid depth colour payload open category")


def ranges():
    out = []

    def add(lane, name, begin_ms, length_ms, depth, colour=None, payload=None, still_open=False, category=""):
        process, pid, thread, tid, domain = lane
        out.append(Range(begin_ms, begin_ms + length_ms, name, domain, process, pid, thread, tid, depth, colour,
                         payload, still_open, category))

    main, dali = ("python3", 100, "main", 100, ""), ("python3", 100, "loader", 101, "DALI")
    rpc, odd = ("python3", 100, "", 0, "rpc"), ('a,b"c', 200, "", 200, "")
    add(main, "epoch", 100, 3800, 0, "#ff0000")
    for k in range(9):
        at = 200 + 400 * k
        add(main, "step", at, 300, 1, payload=k)
        add(main, "forward", at, 100, 2)
        for begin in (at + 10, at + 50):
            add(main, f"aten::addmm, seq = {k}, op_id = {2 * k}", begin, 20, 3)
    for k in range(7):
        add(dali, "load", 150 + 500 * k, 100, 0, payload=k / 2,
            category=("", "7", "", 'decode, "jpeg"', "", 'decode, "jpeg"', "")[k])
    add(rpc, "request 1", 1000, 500, 0)
    add(rpc, "request 2", 1200, 600, 0)
    add(odd, 'read, "h\u00e9llo"', 2000, 500, 0, payload=-3)
    add(odd, "server", 3000, 1000, 0, still_open=True)
    return sorted(out, key=lambda r: (r.begin_ms, -r.end_ms, r.depth))
