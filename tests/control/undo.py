"""The way back: after SIGKILL at every write, after a reboot, by itself, and at the end of a session."""
import os
import signal
import sys

from stage import BOOT, CPU, GPU, Stage, Tap, processes, soon

tap = Tap()
ok, equal = tap.ok, tap.equal

# Each is killed after its first write, its second, and so on until it ends; then all is put back.
KILLED = (
    ("orin", ("clocks max", "mode 0")),
    ("orin", ("mode 3", "clocks gpu=306000000..408000000")),
    ("orin", ("clocks cpu=729600000..729600000 gpu=408000000..408000000",)),
    ("orin", ("fan 40",)),
    ("orin", ("fan cool",)),
    ("orin", ("governor cpu=ondemand gpu=performance",)),
    ("nano", ("swap 64Mi",)),
    ("nano", ("swap 64Mi", "swap off")),
    ("pc", ("clocks max",)),
)


def killed():
    for board, requests in KILLED:
        die, bad = 0, []
        with Stage(board) as s:
            while True:
                die += 1
                for request in requests[:-1]:
                    s.run(request)
                a = s.run(requests[-1], die=die)
                if a.returncode != -signal.SIGKILL:
                    break
                a = s.run("restore")
                log, differ = s.log(), s.renew()
                if differ or a.status != 0:
                    bad.append("after write %d: %s\n%s\n%s" % (die, [(p, str(is_)[:90], str(was)[:90]) for p, (was, is_) in differ.items()], a.text, log))
        ok("%s, %s: killed after each of %d writes, all is as before" % (board, ", ".join(requests), die - 1), not bad and die > 2, *bad)
    # also the way back itself
    die, bad = 0, []
    with Stage("orin") as s:
        while True:
            die += 1
            for request in ("clocks gpu=306000000..408000000", "mode 0", "clocks max", "fan cool"):
                s.run(request)
            if s.run("restore", die=die).returncode != -signal.SIGKILL:
                break
            s.run("restore")
            bad += ["after write %d: %s is %r, was %r" % (die, p, is_, was) for p, (was, is_) in s.renew().items()]
    ok("restore: killed after each of %d writes, and again" % (die - 1), not bad and die > 5, *bad)


def reboot(s):
    """What a reboot does to what is not kept."""
    s.write("/proc/sys/kernel/random/boot_id", BOOT[:-1] + "2")
    for path, text in (("min_freq", "306000000"), ("max_freq", "1300500000"), ("governor", "nvhost_podgov")):
        s.write(GPU + path, text)


def rebooted():
    with Stage("orin") as s:
        for request in ("clocks gpu=306000000..408000000", "mode 0", "clocks max", "governor gpu=performance", "fan cool"):
            s.run(request)
        reboot(s)
        a = s.run("restore")
        got = {c["name"]: (c["result"], c["why"]) for c in a.changes}
        equal("a reboot ends clocks", got["clocks.gpu"], ("as-is", "it has ended with the reboot"), a)
        equal("a reboot ends a governor", got["governor.gpu"][0], "as-is", a)
        equal("a reboot does not end a mode", got["mode"], ("done", ""), a)
        equal("nor a fan profile", got["fan"], ("done", ""), a)
        equal("they are put back", (s.read("/var/lib/nvpmodel/status"), "FAN_DEFAULT_PROFILE quiet # as" in s.read("/etc/nvfancontrol.conf")), ("pmode:0002", True))
        equal("what is put back is forgotten", s.undo().count('"id"'), 0)
    with Stage("orin") as s:
        s.run("clocks max")
        reboot(s)
        n = len(s.calls())
        a = s.run("mode 0")
        equal("clocks that were at their highest before a reboot stay as they are", (a.result, s.calls()[n:]), ("done", ["nvpmodel -m 0"]), a)
    with Stage("orin") as s:
        s.run("fan 40")
        reboot(s)
        s.run(["fan", "auto"])
        a = s.run("restore")
        equal("a reboot ends a fan by hand", (a.status, s.read(s.pwm + "_enable")), (0, "1"), a)


def parts():
    with Stage("orin") as s:
        before = s.snapshot()
        s.run("clocks gpu=306000000..408000000")
        s.run("governor gpu=performance")
        a = s.run("restore governor.gpu")
        equal("restore NAME: only that", [(c["name"], c["after"]) for c in a.changes], [("governor.gpu", "nvhost_podgov")], a)
        equal("restore NAME: the rest stays", s.read(GPU + "max_freq"), "408000000")
        second = s.run("clocks gpu=306000000..510000000")
        a = s.run("revert " + second.id)
        equal("revert: that change only", (a.after, s.read(GPU + "max_freq")), ("306000000..408000000", "408000000"), a)
        first = s.undo().split('"id": ')[1].split(",")[0]
        s.run("clocks gpu=306000000..510000000")
        a = s.run("revert " + first)
        equal("revert: an older one changes nothing", (a.result, s.read(GPU + "max_freq")), ("as-is", "510000000"), a)
        s.run("restore")
        tap.same("and what was before it is not forgotten", s, before)
        equal("revert: one that there is not", (s.run("revert 77").status, s.run("revert 77").changes), (0, []))
        # very many changes: what was first is known, and the last can be taken back
        session = s.session()
        for n in range(80):
            a = session.ask("governor gpu=" + ("userspace", "performance")[n % 2])
        equal("very many changes are not all noted", s.undo().count('"id"'), 64, a)
        equal("very many changes: revert", session.ask("revert " + a.id).after, "userspace")
        session.close()
        s.run("restore")
        tap.same("very many changes: restore", s, before)
        # what cannot be put back is said, and kept
        s.run("mode 0")
        s.run("governor gpu=performance")
        s.write("/behave/nvpmodel", "fails")
        a = s.run("restore")
        equal("restore: says what it could not", [(c["name"], c["result"]) for c in a.changes], [("mode", "failed"), ("governor.gpu", "done")], a)
        equal("restore: and its status", a.status, 1)
        s.write("/behave/nvpmodel", "works")
        a = s.run("restore")
        equal("restore: and keeps its entry", [(c["name"], c["result"]) for c in a.changes], [("mode", "done")], a)
        tap.same("as before", s, before)


def damaged():
    for text in ("", "{}", '{"version": 1, "next": 2, "entries": [\n{"id": 1, "name": "clocks.gpu"', "\0" * 100, None):
        with Stage("orin") as s:
            s.run("clocks gpu=306000000..408000000")
            path = "/var/lib/nvmtop-control/undo.json"
            good = s.read(path) + "\n"
            with open(s.path(path), "w", encoding="ascii") as f:
                f.write(good.replace('"408000000"', '"1"').replace("clocks.gpu", "clocks.gpu ") + "x" if text is None else text)
            before = s.snapshot()
            for request in ("restore", "clocks gpu=306000000..612000000"):
                a = s.run(request)
                ok("damaged undo.json: %s does nothing" % request.split()[0], a.status == 1 and "damaged" in a.sentence and not a.changes, a)
            tap.same("damaged undo.json: nothing was changed", s, before)
    # a path that is none of the items'
    with Stage("orin") as s:
        s.run("clocks gpu=306000000..408000000")
        path = "/var/lib/nvmtop-control/undo.json"
        s.write("/etc/victim", "mine")
        s.write(path, s.read(path).replace("/sys/class/devfreq/17000000.gpu/min_freq", "/etc/victim"))
        a = s.run("restore")
        equal("a path that is none of what can be set is not written", (s.read("/etc/victim"), a.status), ("mine", 1), a)


def waiting(s):
    """The processes that wait for the end of a time."""
    return processes(s, b"expire")


def timed():
    with Stage("orin") as s:
        before = s.snapshot()
        a = s.run("clocks gpu=306000000..408000000 --for 1s")
        equal("--for: says when it ends", (a.result, a.left_ms), ("done", "1000"), a)
        ok("--for: ends by itself", soon(lambda: s.read(GPU + "max_freq") == "612000000"), s.log())
        ok("--for: is forgotten then", soon(lambda: '"id"' not in s.undo()))
        tap.same("--for: as before", s, before)
        a = s.run("clocks gpu=306000000..408000000 --for 2s")
        k = s.run("keep " + a.id)
        equal("keep", (k.result, k.name), ("done", "clocks.gpu"), k)
        b = s.run("governor gpu=performance --for 3s")
        ok("keep: it stays when its time is over", soon(lambda: s.read(GPU + "governor") == "nvhost_podgov"), s.log(), b)
        equal("keep: the value", s.read(GPU + "max_freq"), "408000000")
        s.run("restore")
        tap.same("keep: restore puts it back", s, before)
        # what is taken back early is not waited for
        a = s.run("clocks gpu=306000000..408000000 --for 1h")
        ok("--for: something waits", soon(lambda: waiting(s)))
        s.run("revert " + a.id)
        ok("--for: what is taken back early is not waited for", soon(lambda: not waiting(s)))
        a = s.run("clocks gpu=306000000..408000000 --for 1h")
        ok("--for: waits again", soon(lambda: waiting(s)))
        for pid in waiting(s):
            os.kill(pid, signal.SIGTERM)
        ok("--for: what waits can be ended", soon(lambda: not waiting(s)))
        s.run("restore")
        for bad in ("0s", "25h", "x", ""):
            equal("--for %s" % bad, s.run(["clocks", "max", "--for"] + ([bad] if bad else [])).status, 2)
        # the helper, and all of its process group, dies
        session = s.session()
        session.ask("clocks gpu=306000000..408000000 --for 2s")
        os.kill(session.process.pid, signal.SIGKILL)
        session.process.wait()
        ok("--for: also when the helper was killed", soon(lambda: s.read(GPU + "max_freq") == "612000000"), s.log())
        # where systemd runs, it starts what waits
        os.makedirs(s.dir + "/run/systemd/system")
        with open(s.dir + "/usr/bin/systemd-run", "w", encoding="ascii") as f:
            f.write('#!/bin/sh\necho "systemd-run $*" >>"$NVMTOP_SYSROOT/calls"\n')
        os.chmod(s.dir + "/usr/bin/systemd-run", 0o755)
        a = s.run("clocks gpu=306000000..408000000 --for 60s")
        equal("--for: by systemd, in whose hands it is", waiting(s), [])
        ok("--for: by systemd", s.calls()[-1].startswith("systemd-run --quiet --collect /") and s.calls()[-1].endswith(" expire " + a.id), s.calls())


def sessions():
    with Stage("orin") as s:
        before = s.snapshot()
        session = s.session("--revert")
        equal("a session begins", session.greeting, "ready\t1")
        for request in ("mode 0", "clocks gpu=306000000..918000000", "mode 3", "clocks gpu=306000000..408000000"):
            a = session.ask(request)
            equal("a session: " + request, (a.result, a.status), ("done", 0), a)
        a = session.ask("nonsense")
        equal("a session: no request", a.status, 2, a)
        other = s.run("governor gpu=performance")
        equal("a session does not keep others away", other.result, "done", other)
        n = len(s.calls())
        a = session.close()
        equal("a session: all of it at its end", (a.status, [c["name"] for c in a.changes]), (0, ["mode", "clocks.gpu"]), a)
        equal("a session: with one change of the mode", s.calls()[n:], ["nvpmodel -m 2"])
        equal("a session: what others set stays", s.read(GPU + "governor"), "performance")
        s.run("restore")
        tap.same("a session: as before", s, before)
        # its client is killed
        reader, writer = os.pipe()
        pid = os.fork()
        if not pid:
            os.close(reader)
            inner = s.session("--revert")
            inner.ask("clocks gpu=306000000..408000000")
            os.write(writer, b"x")
            signal.pause()
            os._exit(0)
        os.close(writer)
        os.read(reader, 1)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        ok("a session: its client was killed", soon(lambda: s.read(GPU + "max_freq") == "612000000"), s.log())
        session = s.session()
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM, signal.SIGTSTP, signal.SIGALRM):
            os.kill(session.process.pid, number)
        equal("a session: Ctrl-C is for others", session.ask("clocks gpu=306000000..408000000").result, "done")
        session.close()
        equal("a session without --revert", s.read(GPU + "max_freq"), "408000000")


for part in (killed, rebooted, parts, damaged, timed, sessions):
    if len(sys.argv) < 2 or part.__name__ in sys.argv[1:]:
        part()
tap.done()
