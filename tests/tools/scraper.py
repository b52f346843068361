#!/usr/bin/env python3
"""Clients of nvmtop serve for its test: orderly ones, slow ones, and many.

  scraper.py get TARGET PATH [METHOD [HEADER...]]    prints the body; status and headers go to standard error
  scraper.py crowd TARGET N                          a scraper goes on while N others connect, say half a word, and stay
  scraper.py slow TARGET                             ... while some send a request byte by byte and others read no answer
  scraper.py leave TARGET N                          N ask and go away at once
  scraper.py noise TARGET N                          N send noise
  scraper.py animate TREE LOW HIGH                   until it is killed: the cores of a tree of files are busy, and the first rail of
                                                     its first chip has LOW and HIGH mA (four digits each) in turn, 0.11 s each
  scraper.py stop TARGET PID THREAD                  stops one thread, prints what /healthz says then and after it goes on

TARGET is a port of 127.0.0.1 or the path of a socket.
"""

import ctypes
import glob
import http.client
import os
import random
import re
import socket
import sys
import time


def connect(target, timeout=20):
    if target.isdigit():
        return socket.create_connection(("127.0.0.1", int(target)), timeout)
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(timeout)
    s.connect(target)
    return s


class Connection(http.client.HTTPConnection):
    def __init__(self, target):
        super().__init__("localhost")
        self.target = target

    def connect(self):
        self.sock = connect(self.target)


def get(target, path, method="GET", headers=()):
    c = Connection(target)
    c.request(method, path, headers=dict(h.split(": ", 1) for h in headers))
    r = c.getresponse()
    body = r.read()
    c.close()
    return r.status, {k.lower(): v for k, v in r.getheaders()}, body.decode()


def is_whole(target):
    status, _, body = get(target, "/metrics")
    return status == 200 and body.endswith("# EOF\n")


def crowd(target, n):
    """They come one after the other; between them a scraper has its answers."""
    many, answers = [], 0
    for i in range(n):
        s = connect(target)
        if i % 2:
            s.send(b"GET /metrics HTTP/1.1\r\nHost: x\r\n")
        many.append(s)
        if i % 50 == 49:
            answers += is_whole(target)
    answers += is_whole(target)
    print(f"{answers} of {n // 50 + 1}")
    return answers == n // 50 + 1


def slow(target):
    request, bytewise, deaf = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", [], []
    for i in range(5):
        bytewise.append(connect(target))
        s = socket.socket(socket.AF_INET) if target.isdigit() else socket.socket(socket.AF_UNIX)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        s.settimeout(20)
        s.connect(("127.0.0.1", int(target)) if target.isdigit() else target)
        s.send(request)
        deaf.append(s)
    for byte in request:
        for s in bytewise:
            s.send(bytes([byte]))
        if not is_whole(target):
            return False
    # The slow ones have their answers, too.
    for s in bytewise + deaf:
        text = b""
        while True:
            piece = s.recv(65536)
            if not piece:
                break
            text += piece
        if not text.startswith(b"HTTP/1.1 200 ") or not text.endswith(b"# EOF\n"):
            print(text[:100], len(text))
            return False
    return True


def leave(target, n):
    for i in range(n):
        s = connect(target)
        s.send(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        if i % 2:
            s.recv(100)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # a reset
        s.close()
    return is_whole(target)


def noise(target, n):
    random.seed(26)
    begins = [b"", b"GET ", b"GET /", b"GET / HTTP/9.9\r\n", b"\0" * 5000, b"GET /metrics HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
              b"GET /metrics HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", b"POST / HTTP/1.1\r\n",
              b"GET /%00%ff%zz HTTP/1.1\r\nHost: x\r\n\r\n", b"GET /../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
              b"GET /metrics HTTP/1.1\r\n" + b"A: b\r\n" * 3000, b"GET http://[::1/ HTTP/1.1\r\n\r\n"]
    for i in range(n):
        s = connect(target)
        try:
            s.send(begins[i % len(begins)] + random.randbytes(random.randrange(300)) + b"\r\n\r\n" * (i % 3))
            if i % 2:
                s.shutdown(socket.SHUT_WR)
                while s.recv(65536):
                    pass
        except OSError:
            pass
        s.close()
        if i % 20 == 0 and not is_whole(target):
            return False
    return is_whole(target)


def animate(tree, low, high):
    """Texts keep their length, so that nobody reads half of one."""
    with open(f"{tree}/proc/stat", encoding="ascii") as f:
        old = f.readlines()
    cores = [line.split()[0] for line in old if re.match(r"cpu\d+ ", line)]
    rest = "".join(line for line in old if not line.startswith("cpu"))
    stat = os.open(f"{tree}/proc/stat", os.O_WRONLY | os.O_TRUNC)
    (current,) = glob.glob(f"{tree}/sys/devices/**/1-0040/hwmon/hwmon*/curr1_input", recursive=True)
    rail = os.open(current, os.O_WRONLY | os.O_TRUNC)
    begun = time.monotonic()
    while True:
        t = time.monotonic() - begun
        ticks = 10**8 + int(t * 100)
        lines = "".join(f"{c} {ticks // 4:010} 0 0 {ticks - ticks // 4:010} 0 0 0 0 0 0\n" for c in ["cpu", *cores])
        os.pwrite(stat, (lines + rest).encode(), 0)
        os.pwrite(rail, b"%d\n" % (high if int(t / 0.11) % 2 else low), 0)
        time.sleep(0.005)


def stop(target, pid, name):
    """The process runs on, but for that thread."""
    ptrace = ctypes.CDLL(None, use_errno=True).ptrace
    ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    (thread,) = [int(t) for t in os.listdir(f"/proc/{pid}/task") if open(f"/proc/{pid}/task/{t}/comm").read().strip() == name]
    if ptrace(16, thread, None, None):  # PTRACE_ATTACH
        sys.exit(77)
    os.waitpid(thread, 0x40000000)  # __WALL
    until = time.monotonic() + 60
    said = get(target, "/healthz")
    while said[0] == 200 and time.monotonic() < until:
        time.sleep(0.1)
        said = get(target, "/healthz")
    metrics = get(target, "/metrics")[2]
    ptrace(17, thread, None, None)  # PTRACE_DETACH
    again = get(target, "/healthz")
    while again[0] != 200 and time.monotonic() < until:
        time.sleep(0.1)
        again = get(target, "/healthz")
    print(said[0], said[2].strip())
    print("there is no new reading" in metrics and "nvmtop_memory_used_bytes " not in metrics)
    print(again[0], again[2].strip())


def main():
    what, target, *rest = sys.argv[1:]
    if what == "get":
        status, headers, body = get(target, rest[0], *rest[1:2], headers=rest[2:])
        print(status, file=sys.stderr)
        for name, value in headers.items():
            print(f"{name}: {value}", file=sys.stderr)
        sys.stdout.write(body)
        return
    if what == "animate":
        animate(target, *map(int, rest))
    if what == "stop":
        stop(target, *rest)
        return
    done = {"crowd": crowd, "slow": slow, "leave": leave, "noise": noise}[what](target, *map(int, rest))
    sys.exit(0 if done else f"{what}: not all answers came")


if __name__ == "__main__":
    main()
