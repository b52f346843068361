"""What the tests of the Python module share: results in TAP, and a tree whose cores are busy."""
import threading
import time

n = 0


def ok(condition, what):
    global n
    n += 1
    print("%s %d - %s" % ("ok" if condition else "not ok", n, what), flush=True)


def raises(kind, text, function, *args):
    """Is this raised, and says this, in one line?"""
    try:
        function(*args)
    except kind as e:
        if text in str(e) and "\n" not in str(e):
            return True
        print("# said: %r" % e)
    return False


def said(kind, function, *args):
    """What it says that is wrong, or nothing."""
    try:
        function(*args)
    except kind as e:
        return str(e)
    return ""


def done():
    print("1..%d" % n)


def keep_busy(tree, stop):
    """Starts a thread: each of the 12 cores of a tree is busy for 3 of 4 ticks of 10 ms, until stop is set."""
    begin = time.monotonic()

    def tick():
        i = 1 + int((time.monotonic() - begin) / 0.04)
        text = "cpu  %9d 0 %9d %9d 0 0 0 0 0 0\n" % (24 * i, 12 * i, 12 * i)
        text += "".join("cpu%d %9d 0 %9d %9d 0 0 0 0 0 0\n" % (c, 2 * i, i, i) for c in range(12))
        with open(tree + "/proc/stat", "r+") as f:
            f.write(text)
            f.truncate()

    def run():
        while not stop.wait(0.02):
            tick()

    tick()
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread
