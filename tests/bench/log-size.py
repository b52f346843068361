#!/usr/bin/env python3
"""Bytes per second of a log, by chunk type, and the CPU time of its writer.

usage: log-size.py [--seconds N] [demo|orin]...

demo: the synthetic board of --demo. orin: the fake AGX Orin of tests/roots in memory, as in
cost.py, with all its values changing at random during the recording. Each is recorded for a
minute (or --seconds) and then pushed through tests/bench/log-size, which is built with
`make tests/bench/log-size`.
"""
import argparse
import collections
import os
import runpy
import subprocess
import tempfile

import cost

TOP = os.path.join(cost.HERE, "..", "..")


def record(program, path, seconds, *how):
    subprocess.run([program, "record", "--force", *how, "--duration", str(seconds), path], check=True,
                   stderr=subprocess.DEVNULL)


def orin(program, path, seconds, folder):
    tree = cost.Tree(folder)
    try:
        with cost.Animation(program, tree.root) as moving:
            print(f"{len(moving.files)} files move")
            record(program, path, seconds, "--sysroot", tree.root)
    finally:
        tree.close()


def sizes(path, seconds):
    log = runpy.run_path(os.path.join(TOP, "tests", "tools", "nvmt-log.py"))
    with open(path, "rb") as f:
        data = f.read()
    of = collections.Counter()
    for head, _, _ in log["chunks"](data):
        if head:
            of[head.kind] += 48 + head.stored
    kinds = "META DATA MARK GAP STATE RANGE LOD STATS INDEX END EVENT".split()
    names = {log[k]: k for k in kinds if k in log}
    for kind, n in sorted(of.items()):
        print(f"{names.get(kind, kind):6} {n / seconds:9.0f} B/s")
    print(f"all    {len(data) / seconds:9.0f} B/s")


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--seconds", type=int, default=60)
    p.add_argument("board", nargs="*", default=["demo", "orin"])
    args = p.parse_args()
    program = os.path.join(TOP, "src", "nvmtop")
    with tempfile.TemporaryDirectory(dir=os.environ.get("COST_DIR", "/dev/shm")) as folder:
        path = os.path.join(folder, "recording.nvmt")
        for board in args.board:
            print(f"== {board}")
            if board == "demo":
                record(program, path, args.seconds, "--demo")
            else:
                orin(program, path, args.seconds, folder)
            again = os.path.join(folder, "again.nvmt")
            subprocess.run([os.path.join(TOP, "tests", "bench", "log-size"), path, again], check=True)
            sizes(again, args.seconds)


if __name__ == "__main__":
    main()
