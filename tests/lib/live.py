"""TAP: values of now and windows of energy. The truth is a tree of files whose power this program sets."""
import asyncio
import glob
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import nvmtop
from nvmtop import Live, NvmtopError
from tap import done, ok, raises

CHIP = "tree/sys/class/hwmon/hwmon3/"


def put(name, text):
    with open(CHIP + name, "r+") as f:
        f.write(text)


def draw(milliamperes):
    """Of the whole module, whose rail has 5 V."""
    put("curr1_input", "%05d\n" % milliamperes)


def await_(condition):
    for _ in range(5000):
        if condition():
            return True
        time.sleep(0.002)
    return False


def known(read, name=None):
    """What is read once it is there: on a busy machine a reading may come too late for one."""
    for _ in range(5000):
        got = read()
        if not (got[name] if name else got).missing:
            break
        time.sleep(0.002)
    return got


def engines():
    names = []
    for f in glob.glob("/proc/self/task/*/comm"):
        try:
            names.append(open(f).read())
        except OSError:
            pass
    return sum(s.startswith("nvmtop-engine") for s in names)


# What runs in other processes.
@nvmtop.measure("worker")
def work(seconds):
    time.sleep(seconds)


def child(board):
    with Live(board=board):
        work(0.1)
        work(0.1)
    return [(w.name, w.joules > 0, w.seconds >= 0.1) for w in nvmtop.measured()]


def values():
    draw(2000)
    with Live(sysroot="tree") as b:
        power = known(lambda: b["VDD_IN.power"])
        ok(abs(power - 10000) < 0.5 and (power.name, power.unit, power.missing) == ("VDD_IN.power", "mW", ""),
           "a value, with its unit")
        ok(0 <= time.monotonic() - power.time < 60, "and its time")
        draw(3000)
        ok(await_(lambda: abs(b["VDD_IN.power"] - 15000) < 0.5), "it is the one of now")
        put("curr1_input", "broken\n")
        gone = await_(lambda: b["VDD_IN.current"] != b["VDD_IN.current"])
        why = b["VDD_IN.current"].missing
        ok(gone and "curr1_input" in why and "broken" in why, "one that cannot be read is nan, with the reason")
        draw(2000)
        ok(await_(lambda: b["VDD_IN.current"] == 2000) and not b["VDD_IN.current"].missing, "until it is there again")
        never = b["memory.pressure"]
        ok(never != never and never.missing and b.signals["memory.pressure"].missing, "one that never has a value says why")
        ok(raises(KeyError, "no.such", lambda: b["no.such"]), "a signal that is not there")
        every = known(b.read, "VDD_IN.power")
        ok(set(every) == set(b.signals) and abs(every["VDD_IN.power"] - 10000) < 0.5, "all at once")
        s = b.signals["VDD_IN.power"]
        ok((s.unit, s.tier, s.period_s) == ("mW", "medium", 0.01), "what a signal is")
        ok(raises(NvmtopError, "once", b.open), "it is opened once")
    ok(raises(NvmtopError, "not open", lambda: b["VDD_IN.power"]), "one that is closed says so")
    b.close()
    ok(raises(NvmtopError, "no such handle", lambda: b.window().begin()), "a window of one that is closed says so")
    with Live(hz=50, board="demo") as b:
        ok([b.signals[s].period_s for s in ("gpu.util", "power.total", "temp.gpu")] == [0.02, 0.02, 0.1],
           "hz is that of the fast tier, and the others are no faster")
    with Live(hz=(200, 20, 2), board="demo") as b:
        ok([b.signals[s].period_s for s in ("gpu.util", "power.total", "temp.gpu")] == [0.005, 0.05, 0.5], "or three")
    ok(raises(NvmtopError, "0.1 .. 10000", Live(hz=1e6, board="demo").open), "a rate that cannot be")
    ok(raises(NvmtopError, "three", Live, [1, 2]), "or two")
    ok(raises(NvmtopError, "no-such-board", Live(board="no-such-board").open), "a board that is not there")


def rows():
    with Live(board="demo") as b:
        with b.record("rows.nvmt") as recorder:
            each = b.rows("medium")
            first = b.mark("begin")
            got = [next(each) for _ in range(40)]
            ok((first, b.mark(), engines()) == (1, 2, 1), "a recording and its marks share what samples")
            recorder.sync("own")
        ok(b.mark("nothing records") == 0, "a mark that nothing records")
        each.close()
        ok(not b._watched, "rows that are not read any more are not brought any more")
        trace = nvmtop.read_trace("rows.nvmt")
        ok([e.label for e in trace.epochs] == ["", "begin", "", "own"], "its phases")
        # The file has the same rows: independent of them but for the sampler.
        names = [s for s in trace.signals if trace.signals[s].tier == "medium"]
        columns = {s: [float(v) for v in trace[s]] for s in names}
        times = [float(t) for t in trace.medium.time_s]

        def same(first):
            apart = [at - times[first + i] for i, (at, _) in enumerate(got)]
            return max(apart) - min(apart) < 1e-6 and all(
                repr(row[s]) == repr(columns[s][first + i]) for i, (_, row) in enumerate(got) for s in names)
        ok(sum(map(same, range(len(times) - len(got) + 1))) == 1, "rows are those of the file, at their times")
        ok([at for at, _ in got] == sorted({at for at, _ in got}), "in order")
        both = b.rows(), b.rows("slow")
        ok("gpu.util" in next(both[0])[1] and "temp.gpu" in next(both[1])[1], "of two tiers")
        ok(raises(NvmtopError, "tier", b.rows, "quick"), "a tier that is not there")
        late = b.rows()
        with b.record("stopped.nvmt", force=True) as stopped:
            pass
        b.record("open.nvmt")
        ok(not stopped.is_running and b.mark() == 1, "one recording after the other")
    ok(len(list(both[1])) < 1000 and raises(NvmtopError, "not open", b.rows), "rows end with it")
    ok([e.id for e in nvmtop.read_trace("open.nvmt").epochs] == [0, 1], "a recording ends with it")
    del late
    nvmtop.live._BATCHES, many = 2, nvmtop.live._BATCHES
    with Live(board="demo") as b:
        slow = b.rows()
        ok(await_(lambda: b._readers["fast"][0].full) and raises(NvmtopError, "lost", lambda: list(slow)),
           "rows that nobody takes are not lost in silence")
    nvmtop.live._BATCHES = many
    with nvmtop.Recorder("joined.nvmt", board="demo", fast_hz=200):
        with Live() as b:
            ok(b.signals["gpu.util"].period_s == 0.005 and engines() == 1, "without options it joins what samples")
            with b.record("second.nvmt") as r:
                ok(engines() == 2 and r.is_running, "of two recorders each samples by itself, in the same way")
    ok(nvmtop.read_trace("second.nvmt").board == "demo", "and of the same board")


def windows():
    draw(2000)
    with Live(sysroot="tree") as b:
        await_(lambda: abs(b["VDD_IN.power"] - 10000) < 0.5)
        time.sleep(0.2)
        ok(raises(NvmtopError, "not begun", lambda: b.window().joules), "a window that has not begun has no joules")
        with b.window("idle") as idle:
            time.sleep(0.3)
            ok(0 < idle.joules < 10 * idle.seconds + 1 and "so far" in repr(idle), "while it runs it has those up to now")
        ok(abs(idle.joules - 10 * idle.energy.known_s) <= idle.joules_within + 1e-6 and idle.seconds >= 0.3, "joules of a window")
        ok(abs(idle.watts - 10) < 0.01 * 10 and idle.energy[:2] == (idle.joules, idle.joules_within), "and watts")
        rails = idle.rails
        ok(abs(rails["VDD_IN.power"].joules - idle.joules) < 1e-9 and len(rails) > 1, "and those of each rail")
        ok("idle" in repr(idle) and raises(NvmtopError, "already", idle.begin), "it begins once")
        draw(3000)
        await_(lambda: abs(b["VDD_IN.power"] - 15000) < 0.5)
        time.sleep(0.2)
        with b.window(baseline=idle) as above, b.window() as outer:
            time.sleep(0.3)
        ok(abs(above.joules - 5 * above.energy.known_s) <= above.joules_within + 0.02 and above.joules_within > outer.joules_within,
           "those above a baseline, with both bounds")
        ok(abs(outer.joules - 15 * outer.energy.known_s) <= outer.joules_within + 1e-6, "windows nest")
        try:
            with b.window() as raised:
                raise KeyError("mine")
        except KeyError as e:
            ok(str(e) == "'mine'" and raised.joules >= 0, "an exception ends a window, and goes on")
        kept = [b.window().begin() for _ in range(10)]

        def begin():
            kept.append(b.window("of a thread").begin())
        thread = threading.Thread(target=begin)
        thread.start()
        thread.join()
        kept[-1].end()
        ok(kept[-1].joules >= 0, "a thread that ends inside a window: another one ends it")
        for w in kept:
            w.end()
        unread = []
        for _ in range(5000):
            with b.window() as w:
                pass
            unread.append(w)
        ok(len(b._windows) < 4096 and all(w.seconds >= 0 for w in unread), "5000 windows that nobody has asked for")
        lost = b.window().begin()
        before = len(b._windows)
        del lost
        ok(len(b._windows) == before - 1, "a window that is forgotten is released")
        last = b.window("last").begin()
        time.sleep(0.05)
    joules = last.joules
    ok(joules > 0 and last.joules == joules and last.missing == "", "windows end with it, and keep their numbers")
    put("curr1_input", "broken\n")
    with Live(sysroot="tree") as b:
        with b.window() as w:
            time.sleep(0.1)
        ok(w.joules != w.joules and w.watts != w.watts and "VDD_IN.power" in w.missing,
           "no joules without power, with the reason")
        with b.window(baseline=w) as over:
            draw(2000)
            await_(lambda: abs(b["VDD_IN.power"] - 10000) < 0.5)
        ok(over.joules != over.joules and over.missing, "nor above a baseline without")
        ok(raises(NvmtopError, "not begun", b.window().end), "a window that has not begun does not end")
        never = b.window(baseline=b.window()).begin()
    ok(raises(NvmtopError, "", lambda: never.joules) and raises(NvmtopError, "not open", lambda: b["gpu.util"]),
       "a baseline that was not measured keeps nothing open")
    draw(2000)


def wrong():
    with Live(board="demo") as b, b.record("nul.nvmt"):
        for what, f in (("mark", b.mark), ("window", b.window), ("sync", b._recorders[0].sync), ("measure", nvmtop.measure),
                        ("record", b.record)):
            ok(raises(NvmtopError, "NUL", f, "a\0b"), "a NUL in a label is an error: %s" % what)
    ok(raises(NvmtopError, "NUL", nvmtop.read_trace, "a\0b") and raises(NvmtopError, "NUL", nvmtop.Recorder, "x", "a\0b"),
       "and in the name of a file")
    ok(len(nvmtop.read_trace("nul.nvmt").epochs) == 1, "and makes no mark")
    ok(raises(TypeError, "another", lambda: __import__("pickle").dumps(b)), "a Live is not sent to another process")
    v = __import__("pickle").loads(__import__("pickle").dumps(nvmtop.Value(1.5, "a", "W", 2.0, "")))
    ok((v, v.unit, v.time) == (1.5, "W", 2.0), "a value is")


def calls():
    @nvmtop.measure("recursive")
    def recursive(depth):
        """About it."""
        time.sleep(0.01)
        return depth and recursive(depth - 1) + 1

    @nvmtop.measure("raises")
    def broken():
        raise KeyError("mine")

    @nvmtop.measure("generator")
    def numbers():
        got = yield 1
        yield got
        return 3

    @nvmtop.measure("coroutine")
    async def coroutine(seconds):
        await asyncio.sleep(seconds)
        return seconds

    @nvmtop.measure("asynchronous")
    async def each():
        try:
            got = yield 1
            yield got
        except KeyError:
            yield "caught"
        yield "last"

    async def asynchronous():
        both = await asyncio.gather(coroutine(0.1), coroutine(0.05))
        steps = each()
        first = [await steps.__anext__(), await steps.asend(2), await steps.athrow(KeyError()), [v async for v in steps]]
        early = each()
        await early.__anext__()
        await early.aclose()
        return both, first

    with Live(board="demo"):
        ok((recursive(3), recursive.__name__, recursive.__doc__) == (3, "recursive", "About it."), "a decorated function")
        lengths = [w.seconds for w in nvmtop.measured("recursive")]
        ok(len(lengths) == 4 and lengths == sorted(lengths), "recursive calls have a window each, the outermost is the longest")
        ok(raises(KeyError, "mine", broken) and len(nvmtop.measured("raises")) == 1, "a call that raises has one")
        g = numbers()
        ok(nvmtop.measured("generator") == [] and [next(g), g.send(2)] == [1, 2] and list(g) == [] and
           len(nvmtop.measured("generator")) == 1, "a generator has one, from its first step to its end")
        g = numbers()
        next(g)
        del g
        ok(len(nvmtop.measured("generator")) == 2, "or until it is dropped")
        ok(asyncio.new_event_loop().run_until_complete(asynchronous()) == ([0.1, 0.05], [1, 2, "caught", ["last"]]),
           "coroutines and asynchronous generators do what they did")
        lengths = [w.seconds for w in nvmtop.measured("coroutine")]
        ok(len(lengths) == 2 and lengths[0] >= 0.05 and lengths[1] >= 0.1, "coroutines have a window each, though they overlap")
        ok(len(nvmtop.measured("asynchronous")) == 2, "asynchronous generators have one each")
        threads = [threading.Thread(target=work, args=(0.1,)) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        ok(len(nvmtop.measured("worker")) == 4, "calls in threads have one each")
    ok(all(w.joules > 0 for w in nvmtop.measured("worker")), "whose joules are there after the Live")
    every = nvmtop.measured()
    ok(nvmtop.measured(clear=True) == every and nvmtop.measured() == [], "they can be cleared")
    before = engines()
    work(0.05)
    ok(before == 0 and engines() == 1 and nvmtop.measured()[0].seconds < 60, "without a Live the first call opens one")
    work(0.05)
    ok(engines() == 1 and len(nvmtop.measured(clear=True)) == 2, "and the next one uses it")


def signals():
    with Live(board="demo") as b, b.record("signals.nvmt"):
        handled = []

        def handler(*_):
            with b.window("handler") as w:
                b["gpu.util"]
                b.mark("handler")
            handled.append(w)
            if len(handled) % 10 == 0:
                handled[-10].joules

        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
        mine = 0
        while len(handled) < 200:
            with b.window("main") as w:
                b.read()
                b.mark("main")
            mine += w.seconds >= 0
        signal.setitimer(signal.ITIMER_REAL, 0)
        for w in handled:
            w.joules
        ok(mine > 0 and all(w.seconds >= 0 for w in handled), "windows, values and marks in a handler of signals")
    labels = [e.label for e in nvmtop.read_trace("signals.nvmt").epochs]
    ok(labels.count("handler") == len(handled), "each of its marks is there")
    seen = []
    signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
    with Live(board="demo") as b:
        each = b.rows("slow")
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        while not seen:
            next(each)
    ok(True, "and rows, while they are waited for")


def forks():
    with Live(board="demo") as b:
        each = b.rows()
        next(each)
        work(0.05)
        with b.window() as before:
            time.sleep(0.05)
        before.joules
        with b.window() as running:
            pid = os.fork()
            if not pid:
                status = 1
                try:
                    good = (raises(NvmtopError, "fork", lambda: b["gpu.util"]) and
                            raises(NvmtopError, "fork", lambda: running.joules) and before.joules > 0 and
                            raises(NvmtopError, "fork", lambda: list(each)) and nvmtop.measured() == [])
                    b.close()
                    good = good and child("demo") == [("worker", True, True)] * 2
                    status = 0 if good else 2
                finally:
                    os._exit(status)
            ok(os.waitpid(pid, 0)[1] == 0, "a child after fork() is told, and opens its own")
        ok(running.joules > 0 and next(each)[1]["gpu.util"] >= 0, "the parent goes on")
        for method in ("fork", "spawn"):
            with multiprocessing.get_context(method).Pool(2) as pool:
                ok(pool.map(child, ["demo"] * 2, 1)[0] == [("worker", True, True)] * 2, "multiprocessing: %s" % method)
        nvmtop.measured(clear=True)


def ends():
    def run(text):
        done = subprocess.run([sys.executable, "-c", "import nvmtop\n" + text], stderr=subprocess.PIPE, timeout=60)
        return done.stderr.decode() or done.returncode
    ok(run("b = nvmtop.Live(board='demo').open()\nfor each in b.rows(): break\nw = b.window().begin()\nb.record('end.nvmt')") == 0,
       "a program that ends without close()")
    ok(run("nvmtop.measure('x')(len)('')\nraise SystemExit(0 if len(nvmtop.measured()) == 1 else 3)") == 0, "or has none")


if __name__ == "__main__":
    put("in1_input", "5000\n")
    for part in (values, rows, windows, wrong, calls, signals, forks, ends):
        since = time.monotonic()
        part()
        print("# %s: %.1f s" % (part.__name__, time.monotonic() - since))
    done()
