#!/usr/bin/env python3
"""Sends marks and checks what the recording has of them, using only mark.h and
docs/format-nvmt.md.

  marks.py send FOLDER [AGO LABEL]...   one mark each, AGO seconds old; prints
                                        the exact times
  marks.py flood FOLDER N [AGO]         N marks as fast as possible, every fourth up to
                                        AGO seconds old
  marks.py hostile FOLDER               invalid datagrams; prints how many
  marks.py check FILE EXPRESSION        fails unless the Python expression is true of t: n, marks in order of time, rows;
                                        m, the marks, labels, and sent, the numbers in the file of that name; fails
                                        if a mark is there twice, or is missing
"""

import array
import glob
import json
import os
import socket
import sys
import time
from importlib.machinery import SourceFileLoader


def sockets(folder):
    out = []
    for path in glob.glob(folder + "/*.sock"):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        if s.connect_ex(path) == 0:
            out.append(s)
    return out


def text(ns, label):
    return b"nvmtop-mark 1 %d.%09d %s" % (ns // 10**9, ns % 10**9, label.encode())


def send(folder, *what):
    times = []
    for ago, label in zip(what[::2], what[1::2]):
        ns = time.monotonic_ns() - int(float(ago) * 1e9)
        for s in sockets(folder):
            s.send(text(ns, label))
        times.append(ns)
    print(json.dumps(times))


def flood(folder, n, ago=0):
    (s,) = sockets(folder)
    for i in range(int(n)):
        late = float(ago) * (i % 100) / 100 if i % 4 == 3 else 0
        s.send(text(time.monotonic_ns() - int(late * 1e9), "flood"))
        if late and i % 100 == 99:
            time.sleep(0.05)  # only marks received together are sorted


def hostile(folder):
    now = time.monotonic_ns()
    letters = [
        b"", b"\0", b"\n", b"hello", b"nvmtop-mark", b"nvmtop-mark 1", b"nvmtop-mark 1 ", b"nvmtop-mark 2 0 of tomorrow",
        b"nvmtop-mark 1 -5", b"nvmtop-mark 1 nan", b"nvmtop-mark 1 1e9", b"nvmtop-mark 1 " + b"9" * 300,
        text(now + 10**10, "the future"), text(now - 10**10, "long ago"), text(1, "at boot"),
        b"nvmtop-mark 1 0 " + b"x" * 600, b"nvmtop-mark 1 0 " + b"x" * 60000, os.urandom(400),
    ]
    (s,) = sockets(folder)
    for letter in letters:
        s.send(letter)
    # received descriptors are closed, and the mark is accepted
    null = os.open("/dev/null", os.O_RDONLY)
    for _ in range(100):
        s.sendmsg([b"nvmtop-mark 1 0 with descriptors"],
                  [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [null] * 3))])
    s.send(b"nvmtop-mark 1 0 \033]0;evil\007\033[2J\xff\xc3\xc2\x9b31m")
    print(len(letters))


def recording(path):
    reader = os.path.join(os.path.dirname(os.path.abspath(__file__)), "nvmt-log.py")
    module = type(sys)("nvmt_log")
    SourceFileLoader("nvmt_log", reader).exec_module(module)
    with open(path, "rb") as f:
        return module.Recording(f.read())


def check(path, expression):
    log = recording(path)
    errors, ids = list(log.problems), sorted(m["id"] for m in log.marks.values())
    if ids != list(range(1, len(ids) + 1)):
        errors.append("the marks are not 1 to %d" % len(ids))
    marks = [{"id": m["id"], "t_ns": m["t"], "label": m["label"]} for _, m in sorted(log.marks.items())]
    errors += ["mark %d is older than the recording" % m["id"] for m in marks if m["t_ns"] < log.session["start"][0]]
    t = {"n": len(marks), "rows": sum(len(c[1]) for c in log.rows.get(0, ())), "errors": errors[:20], "marks": marks[:200]}
    known = {"t": t, "m": marks[:200], "labels": [m["label"] for m in marks[:200]]}
    if "sent" in expression:
        with open("sent") as f:
            known["sent"] = json.load(f)
    if errors or not eval(expression, known):
        sys.exit(json.dumps(t)[:3000])


if __name__ == "__main__":
    sys.exit(globals()[sys.argv[1]](*sys.argv[2:]))
