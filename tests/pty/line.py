"""TAP: the whole program on slow and blocked lines and in any window size.

usage: line.py PROGRAM
"""
import os
import random
import re
import resource
import select
import signal
import sys
import termios
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
sys.dont_write_bytecode = True
import terminal

program = sys.argv[1]
n = 0


def ok(condition, what, note=""):
    global n
    n += 1
    print("%s %d - %s" % ("ok" if condition else "not ok", n, what))
    if note:
        print("# " + note)
    sys.stdout.flush()


class Line:
    def __init__(self, *arguments, size=(120, 40), term="xterm-256color", **environment):
        self.pid, self.master, self.slave = terminal.spawn(
            [program, *arguments], size, {"TERM": term, "LC_ALL": "C.UTF-8", **environment})
        self.seen = b""
        self.status = None

    def resize(self, w, h):
        terminal.resize(self.master, w, h)

    def read(self, seconds, until=None):
        """Read everything, or until it ends with the expected bytes."""
        end, start = time.monotonic() + seconds, len(self.seen)
        while time.monotonic() < end and not (until and until in self.seen[start:]):
            if select.select([self.master], [], [], 0.05)[0]:
                try:
                    self.seen += os.read(self.master, 1 << 16)
                except OSError:
                    break
        return self.seen[start:]

    def type(self, keys):
        os.write(self.master, keys)

    def ended(self, seconds=20):
        """Its exit status once it has exited; None while it runs."""
        end = time.monotonic() + seconds
        while self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = status
            elif time.monotonic() > end:
                return None
            else:
                self.read(0.02)
        return os.WEXITSTATUS(self.status) if os.WIFEXITED(self.status) else -os.WTERMSIG(self.status)

    def close(self):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.slave)
        os.close(self.master)


# Synchronized output, if the terminal supports it.
t = Line("--demo", "--frames", "10")
asked = t.read(10, until=b"\x1b[?2026$p")
ok(b"\x1b[?2026$p" in asked, "the terminal is asked whether it shows frames at once")
silent = t.read(2)
ok(b"\x1b[?2026h" not in silent, "what does not answer is not told to")
t.type(b"\x1b[?2026;2$y")
frames = t.read(3)
begun, done = frames.count(b"\x1b[?2026h"), frames.count(b"\x1b[?2026l")
ok(begun > 2 and abs(begun - done) <= 1, "what can is told where a frame begins and ends", "%d, %d" % (begun, done))
t.type(b"q")
ok(t.ended() == 0, "and is left in order")
t.close()

# 960 bytes per second: fewer frames, and keys still work.
t = Line("--demo", "--frames", "10")
t.read(10, until=b"quit")
start, got, asked = time.monotonic(), 0, False
while time.monotonic() < start + 6:
    time.sleep(0.1)
    if select.select([t.master], [], [], 0)[0]:
        got += len(os.read(t.master, 96))
    if not asked and time.monotonic() > start + 4:
        t.type(b"?")
        asked = True
ok(got < 7000, "a slow line gets what it can take", "%d bytes in 6 s" % got)
answer = t.read(20, until=b"move through time") if asked else b""
ok(b"through time" in answer or b"Help" in answer or b"keys" in answer.lower(), "a key is answered all the same")
t.type(b"q")
t.type(b"q")
ok(t.ended() == 0, "and q ends it")
t.close()

# A line that accepts nothing.
t = Line("--demo", "--frames", "10")
t.read(10, until=b"quit")
time.sleep(2)
t.type(b"q")
end = time.monotonic() + 20
while time.monotonic() < end and os.waitpid(t.pid, os.WNOHANG) == (0, 0):
    time.sleep(0.05)
ok(time.monotonic() < end, "q ends it when nothing reads what it writes")
t.status = 0
t.close()

# All window sizes in random order.
random.seed(7)
t = Line("--replay", os.path.join(os.environ["NVMTOP_SRC"], "tests/traces/demo.nvmt"))
t.read(10, until=b"quit")
for i in range(150):
    t.resize(*random.choice([(1, 1), (0, 0), (2, 1), (1, 40), (500, 200), (20, 5), (19, 4), (60, 16), (80, 24),
                             (random.randrange(1, 300), random.randrange(1, 100))]))
    if i % 10 == 0:
        t.type(random.choice([b"+", b"-", b"2", b"3", b"9", b"?", b"1", b"]", b"g5\r", b"\x1b[B"]))
    t.read(0.01)
t.resize(120, 40)
t.type(b"1")
ok(b"GPU" in t.read(20, until=b"quit"), "after a storm of sizes the picture is whole")

# Random bytes must not end or stop it. Keys that record, mark, open or quit are left out.
random.seed(11)
harmless = bytes(set(range(256)) - set(b"qQrRoOsSpwkK\x03\x04\x1a\x1c\r\n\x13\x11"))
for i in range(60):
    t.type(bytes(random.choice(harmless) for _ in range(random.randrange(1, 120))))
    t.read(0.01)
    t.type(random.choice([b"\x1b[<65;10;10M", b"\x1b[<0;5;39M\x1b[<0;5;39m", b"\x1b[200~qqq\x1b[201~",
                          b"\x1b]11;rgb:ffff/0000/q\x07", b"\x1b[M !!", b"\x1b[9999999999;1H"]))
t.read(0.5)
ok(t.ended(0) is None, "any bytes leave it running", repr(t.seen[-200:]) if t.status is not None else "")
for key in (b"\x1b", b"\x1b", b"\x1b", b"1", b"q", b"q", b"q"):
    t.type(key)
    t.read(0.3)
    if t.ended(0) is not None:
        break
status = t.ended()
ok(status == 0, "and q ends it", "status %s" % status)
left = t.seen[-400:]
ok(b"\x1b[?1049l" in left and b"\x1b[?1006l" in left, "the terminal is put back")
t.close()

# Every terminating signal restores the terminal. Left out: signals with another default action,
# uncatchable ones, keys, and write errors.
signals = set(range(1, signal.SIGRTMAX + 1)) & set(signal.valid_signals()) - {
    signal.SIGKILL, signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGCONT, signal.SIGCHLD,
    signal.SIGURG, signal.SIGWINCH, signal.SIGUSR1, signal.SIGUSR2, signal.SIGPIPE, signal.SIGXFSZ}
if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signals -= {signal.SIGHUP}
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
wrong = []
modes = termios.tcgetattr(os.openpty()[1])  # of an unmodified terminal
for sig in sorted(signals):
    t = Line("--replay", os.path.join(os.environ["NVMTOP_SRC"], "tests/traces/small.nvmt"))
    t.read(20, until=b"quit")
    taken = termios.tcgetattr(t.slave) != modes
    os.kill(t.pid, sig)
    how = t.ended()
    if b"\x1b[?1049l" not in t.seen:
        t.read(2, until=b"\x1b[?1049l")
    if not taken or how not in (0, -sig, 128 + sig) or termios.tcgetattr(t.slave) != modes \
            or b"\x1b[?1049l" not in t.seen:
        wrong.append("%d: %s" % (sig, how))
    t.close()
ok(len(signals) > 40 and not wrong, "no signal that ends it keeps the terminal", "; ".join(wrong))

# A size only in the environment.
for told, most in ((("60", "20"), b"\x1b[20;"), (("30000", "30000"), b"\x1b[500;")):
    t = Line("--demo", size=(0, 0), COLUMNS=told[0], LINES=told[1])
    t.read(20, until=b"quit")
    t.read(20, until=most)
    rows = [int(row) for row in re.findall(rb"\x1b\[(\d+);\d+H", t.seen)]
    with open("/proc/%d/status" % t.pid) as status:
        peak = int(re.search(r"VmHWM:\s*(\d+)", status.read()).group(1))
    ok(rows and 10 < max(rows) <= 500 and peak < 600000, "a line without a size: %s x %s" % told,
       "row %d, %d kB" % (max(rows, default=0), peak))
    t.type(b"q")
    ok(t.ended() == 0, "and q ends it")
    t.close()
print("1..%d" % n)
