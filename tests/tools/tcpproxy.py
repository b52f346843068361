#!/usr/bin/env python3
"""tcpproxy.py PORT: prints a free port and forwards connections from it to PORT on the
loopback. Stopped with SIGSTOP it is a dead network: nothing passes, and neither end notices."""

import selectors
import socket
import sys


def main():
    target = ("127.0.0.1", int(sys.argv[1]))
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen(64)
    print(server.getsockname()[1], flush=True)
    poll = selectors.DefaultSelector()
    poll.register(server, selectors.EVENT_READ)
    peer = {}

    def close(s):
        for one in (s, peer.pop(s, None)):
            if one is not None:
                peer.pop(one, None)
                poll.unregister(one)
                one.close()

    while True:
        for key, _ in poll.select():
            s = key.fileobj
            if s is server:
                here, _ = server.accept()
                try:
                    there = socket.create_connection(target)
                except OSError:
                    here.close()
                    continue
                peer[here], peer[there] = there, here
                for one in (here, there):
                    poll.register(one, selectors.EVENT_READ)
            elif s in peer:
                try:
                    data = s.recv(65536)
                    if data:
                        peer[s].sendall(data)
                except OSError:
                    data = b""
                if not data:
                    close(s)


if __name__ == "__main__":
    main()
