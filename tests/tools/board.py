#!/usr/bin/env python3
"""Fake boards as text: one file per board, in which each line is a file, directory or link.

  board.py unpack FOLDER BOARD.txt...   make FOLDER/BOARD, unless it is newer than its text
  board.py pack FOLDER...               print the text of directory trees

  /proc/loadavg: 0.21 0.18         a file with this line
  /proc/meminfo:                   a file with the indented lines that follow, or empty
    MemTotal: 31270 kB
  /a/model = Jetson\\0              exactly these bytes; \\0, \\n, \\t, \\\\ and \\xHH are escapes
  /proc/device-tree -> /a          a symbolic link
  /sys/class/hwmon/                an empty directory; as a file's replacement, unreadable
  # text                           a comment, except in indented lines
"""
import os
import re
import shutil
import sys

LINE = re.compile(rb"(/[^\s]*?)(?:(/)|(:)|: (.+)| = (.*)| -> (.+))$")
ESCAPES = {b"0": b"\0", b"n": b"\n", b"t": b"\t", b"\\": b"\\"}


def unescape(text):
    return re.sub(rb"\\(?:x(..)|(.))", lambda m: bytes([int(m[1], 16)]) if m[1] else ESCAPES[m[2]], text, flags=re.S)


def escape(data):
    names = {v[0]: b"\\" + k for k, v in ESCAPES.items()}
    return b"".join(names.get(c) or (bytes([c]) if 32 <= c < 127 else b"\\x%02x" % c) for c in data)


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "xb") as f:
        f.write(data)


def unpack(text, root):
    with open(text, "rb") as f:
        lines = f.read().split(b"\n")
    block = None
    for n, line in enumerate(lines, 1):
        if line.startswith(b"\t") and block:
            with open(block, "ab") as f:
                f.write(line[1:] + b"\n")
            continue
        block = None
        if not line or line.startswith(b"#"):
            continue
        m = LINE.match(line)
        if not m or b".." in m[1].split(b"/"):
            sys.exit("%s:%d: neither a file, a folder nor a link" % (text, n))
        path = os.fsencode(root) + m[1]
        if m[2]:
            os.makedirs(path)
        elif m[3]:
            write(path, b"")
            block = path
        elif m[6]:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.symlink(m[6], path)
        else:
            write(path, m[4] + b"\n" if m[4] else unescape(m[5]))


def describe(path, data):
    lines = data.split(b"\n")
    plain = data.endswith(b"\n") and not re.search(rb"[^\t\n -~]", data)
    if not data:
        return path + b":\n"
    if plain and len(lines) == 2 and lines[0]:
        return path + b": " + lines[0] + b"\n"
    if plain and len(lines) > 2:
        return path + b":\n" + b"".join(b"\t" + line + b"\n" for line in lines[:-1])
    return path + b" = " + escape(data) + b"\n"


def natural(name):
    return [(0, int(x), b"") if x.isdigit() else (1, 0, x) for x in re.split(rb"(\d+)", name)]


def pack(root, out, path=b""):
    names = sorted(os.listdir(root + path), key=natural)
    if not names and path:
        out.write(path + b"/\n")
    for name in names:
        below = path + b"/" + name
        if re.search(rb"\s", below):
            sys.exit("a name with a blank: %r" % below)
        if os.path.islink(root + below):
            out.write(below + b" -> " + os.readlink(root + below) + b"\n")
        elif os.path.isdir(root + below):
            pack(root, out, below)
        else:
            with open(root + below, "rb") as f:
                out.write(describe(below, f.read()))


def main():
    if len(sys.argv) > 2 and sys.argv[1] == "pack":
        for root in sys.argv[2:]:
            pack(os.fsencode(root.rstrip("/")), sys.stdout.buffer)
        return
    if len(sys.argv) < 4 or sys.argv[1] != "unpack":
        sys.exit(__doc__)
    os.umask(0o022)
    for text in sys.argv[3:]:
        root = os.path.join(sys.argv[2], os.path.splitext(os.path.basename(text))[0])
        if os.path.exists(root) and os.stat(root).st_mtime > os.stat(text).st_mtime:
            continue
        shutil.rmtree(root, ignore_errors=True)
        new = root + ".new"
        shutil.rmtree(new, ignore_errors=True)
        os.makedirs(new)
        unpack(text, new)
        os.utime(new)
        os.rename(new, root)


main()
