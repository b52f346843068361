"""The fan: profiles, a speed by hand and what watches it, with nvfancontrol that works, lies and fails."""
import os
import signal

from stage import Stage, Tap, processes, soon

tap = Tap()
ok, equal = tap.ok, tap.equal
ZONES = "/sys/class/thermal/thermal_zone%d/temp"
GROUP = "/sys/fs/cgroup/system.slice/nvfancontrol.service"


def watchers(s):
    return processes(s, b"watch")


def heat(s, text):
    for n in range(9):
        if os.path.isfile(s.path(ZONES % n)):  # not of a unit without power
            s.write(ZONES % n, text)


def cool(s):
    heat(s, "45000")


with Stage("orin") as s:
    cool(s)
    before = s.snapshot()
    a = s.run("fan cool")
    equal("a profile", (a.result, a.before, a.after), ("done", "quiet", "cool"), a)
    equal("a profile: the service is stopped, and started", s.calls(), ["systemctl stop nvfancontrol.service", "systemctl start nvfancontrol.service"])
    ok("a profile: its line of the configuration only", "\tFAN_DEFAULT_PROFILE cool # as the case wants it\n" in s.read("/etc/nvfancontrol.conf"))
    ok("a profile: the configuration is still a link", os.path.islink(s.dir + "/etc/nvfancontrol.conf"))
    a = s.run("fan cool")
    equal("a profile: again is no change", a.result, "as-is", a)
    a = s.run("fan 40")
    equal("by hand", (a.result, a.after, s.read(s.pwm), s.read(s.pwm + "_enable"), s.exists(GROUP)), ("done", "40%", "102", "1", False), a)
    ok("by hand: it is watched", soon(lambda: len(watchers(s)) == 1))
    s.write(ZONES % 8, "69999")
    s.run("fan 30")
    ok("by hand: by one", soon(lambda: len(watchers(s)) == 1 or None) and s.read(s.pwm) == "77")
    s.write(ZONES % 8, "70000")
    ok("at 70 C: automatic control again", soon(lambda: s.exists(GROUP)), s.log())
    ok("at 70 C: it is logged", soon(lambda: "fan: the hottest zone has 70 C: automatic control is restored" in s.log()), s.log())
    ok("at 70 C: then nothing is to be watched", soon(lambda: not watchers(s)))
    cool(s)
    s.run("fan 40")
    s.run("fan auto")
    equal("auto: the service again", s.exists(GROUP), True)
    ok("auto: then nothing is to be watched", soon(lambda: not watchers(s)))
    a = s.run("restore")
    equal("restore", (a.result, a.after), ("done", "quiet"), a)
    tap.same("restore: as before", s, before)
    # what watches is alive when the helper and its client are not
    session = s.session()
    session.ask("fan 20")
    os.kill(session.process.pid, signal.SIGKILL)
    session.process.wait()
    heat(s, "85000")
    ok("at 85 C, when the helper was killed", soon(lambda: s.exists(GROUP)), s.log())
    s.run("restore")
    ok("all that watched is gone", soon(lambda: not watchers(s)))
    cool(s)
    # a sensor that is gone is no reason to stay
    s.run("fan 20")
    heat(s, "-")
    ok("no temperature can be read: automatic control", soon(lambda: s.exists(GROUP)), s.log())
    a = s.run("fan 20")
    equal("no temperature can be read: not by hand", (a.result, a.status), ("refused", 4), a)
    cool(s)
    # what is noted is damaged: whoever set the fan is not known, and heat would not be answered
    s.run("fan 20")
    noted = s.undo()
    s.write("/var/lib/nvmtop-control/undo.json", "{}")
    ok("undo.json is damaged: automatic control", soon(lambda: s.exists(GROUP)), s.log())
    s.write("/var/lib/nvmtop-control/undo.json", noted)
    # systemd that starts nothing
    os.makedirs(s.dir + "/run/systemd/system")
    with open(s.dir + "/usr/bin/systemd-run", "w", encoding="ascii") as f:
        f.write("#!/bin/sh\necho Failed to connect to bus\nexit 1\n")
    os.chmod(s.dir + "/usr/bin/systemd-run", 0o755)
    a = s.run("fan 20")
    ok("systemd-run fails: a child watches", a.result == "done" and soon(lambda: len(watchers(s)) == 1), a)
    s.run("fan auto")
    os.rmdir(s.dir + "/run/systemd/system")
    # the fastest there is where automatic control does not come back
    s.run("fan 20")
    s.write("/behave/systemctl", "fails")
    s.write(ZONES % 0, "90000")
    ok("automatic control does not come back: the highest speed", soon(lambda: s.read(s.pwm) == "255"), s.log())
    s.write("/behave/systemctl", "works")
    ok("and then it does", soon(lambda: s.exists(GROUP)), s.log())
    cool(s)
    for does in ("lies", "fails"):
        s.write("/behave/systemctl", does)
        a = s.run("fan cool")
        ok("systemctl %s" % does, a.result in ("not", "failed") and a.status == 1 and a.why, a)
        s.write("/behave/systemctl", "works")
        s.run("restore")
    for bad in ("101", "101%", "-1", "4.5", "%", "0..100", "loud", "cool,quiet", "auto%"):
        a = s.run("fan " + bad)
        equal("fan %s" % bad, (a.result, a.status), ("refused", 4), a)
    ok("nothing is left", soon(lambda: not watchers(s)))

with Stage("nano") as s:
    # a zone of an old board that is a constant of 100 C is none
    zones = [n for n in range(6) if s.read("/sys/class/thermal/thermal_zone%d/type" % n) == "PMIC-Die"]
    for n in zones:
        s.write(ZONES % n, "100000")
    s.run("fan 30")
    ok("a legacy fan: it is watched", soon(lambda: len(watchers(s)) == 1))
    equal("a legacy fan: by hand", s.read("/sys/devices/pwm-fan/temp_control"), "0")
    s.write(ZONES % 1, "71000")
    ok("a legacy fan: automatic at 71 C", soon(lambda: s.read("/sys/devices/pwm-fan/temp_control") == "1"), s.log())
    ok("a legacy fan: then nothing is left", soon(lambda: not watchers(s)))
tap.done()
