"""The helper is what root runs for anyone who may: what others write, say and do at the same time does not get further."""
import os
import resource
import signal
import subprocess
import threading

from stage import Answer, GPU, HELPER, Stage, Tap, soon

tap = Tap()
ok, equal = tap.ok, tap.equal

REQUESTS = (
    "", "mode", "mode 0 1", "mode 0;reboot", "mode $(reboot)", "mode ../../etc/passwd", "mode -1", "mode --force", "mode 99999999999999999999999",
    "clocks", "clocks gpu", "clocks gpu=", "clocks gpu=..", "clocks gpu=1..", "clocks gpu=306000000..408000000..1", "clocks gpu=0x10..0x20",
    "clocks gpu=-1..306000000", "clocks gpu=306000000..408000000;", "clocks /sys/x=1..2", "clocks ../gpu=1..2", "clocks gpu=99999999999999999999..1",
    "clocks nonsense", "clocks max max", "clocks --store", "governor gpu", "governor gpu=", "governor gpu=../../x", "governor =performance",
    "governor fan=performance", "fan", "fan 40 50", "fanatic 40", "fan ../quiet", "fan1 40", "fan9999999 40", "3d-scaling maybe", "swap", "swap -1",
    "swap /dev/sda", "swap 64Mi /etc/passwd", "swap 1e99", "drop-caches 1", "restore nothing", "restore ../x", "revert", "revert x", "revert -1",
    "revert 99999999999", "keep 1x", "keep", "list", "session", "--revert", "--sysroot /", "expire", "MODE 0", "mode%s%n 0", "restore --for",
    "x" * 900, "restore " + " ".join(["fan"] * 60),
)

with Stage("orin") as s:
    before = s.snapshot()
    bad = []
    for request in REQUESTS:
        if request.split()[:1] in (["--revert"], ["--sysroot"], []):
            continue
        a = s.run(request)
        if a.returncode not in (2, 4) or any(c["result"] != "refused" for c in a.changes):
            bad.append("%s: %s" % (request, a.text))
    ok("as arguments: %d requests that are none, or not allowed" % len(REQUESTS), not bad, *bad)
    session = s.session()
    bad = []
    for request in REQUESTS:
        a = session.ask(request)
        if a.status not in (2, 4) or any(c["result"] != "refused" for c in a.changes):
            bad.append("%s: %s" % (request, a.text))
    ok("in a session", not bad, *bad)
    for raw in (b"mode\t0\n", b"mode  0\n", b" mode 0\n", b"mode 0 \n", b"mode\x000\n", b"mo\xc3\xa4de 0\n", b"mode 0\r\n", b"\x1b[2J\n"):
        session.process.stdin.write(raw)
        session.process.stdin.flush()
        equal("in a session: %r" % raw, session.answer().status, 2)
        if b"\0" in raw:
            session = s.session()
    session.process.stdin.write(b"x" * 5000)
    session.process.stdin.flush()
    equal("a line that does not end", session.answer().status, 2)
    session.close()
    tap.same("nothing was changed", s, before)
    equal("nothing was started", s.calls(), [])

# A link in the place of a file is not followed, nor another kind of file opened.
with Stage("orin") as s:
    s.write("/etc/victim", "306000000")
    real = s.path(GPU + "max_freq")
    os.remove(real)
    os.symlink("/etc/victim", real)
    a = s.run("clocks gpu=306000000..408000000")
    equal("a link in place of a file", (a.status, s.read("/etc/victim")), (1, "306000000"), a)
    os.remove(real)
    os.mkfifo(real)
    a = s.run("clocks gpu=306000000..408000000")
    ok("a pipe in place of a file", a.status in (1, 4), a)

for what in ("folder", "open", "undo", "lock", "swap"):
    with Stage("nano") as s:
        folder = s.dir + "/var/lib/nvmtop-control"
        os.makedirs(s.dir + "/elsewhere", 0o700)
        s.write("/elsewhere/file", "mine")
        if what == "folder":
            os.symlink("/elsewhere", folder)
        else:
            os.mkdir(folder, 0o755 if what == "open" else 0o700)
        if what in ("undo", "lock"):
            os.symlink("/elsewhere/file", folder + "/" + {"undo": "undo.json", "lock": "lock"}[what])
        if what == "swap":
            os.symlink("/elsewhere/file", s.dir + "/swapfile.nvmtop")
        a = s.run("swap 64Mi")
        ok("%s: a link, or others may open it" % what, a.status in (1, 4) and s.read("/elsewhere/file") == "mine" and os.listdir(s.dir + "/elsewhere") == ["file"], a)

# The configuration of nvfancontrol may be a link, but not out of /etc.
with Stage("orin") as s:
    text = s.read("/etc/nvfancontrol.conf")
    s.write("/tmp/x.conf", text)
    s.remove("/etc/nvfancontrol.conf")
    os.symlink("../tmp/x.conf", s.dir + "/etc/nvfancontrol.conf")
    a = s.run("fan cool")
    equal("nvfancontrol.conf leads out of /etc", (a.result, s.read("/tmp/x.conf")), ("failed", text), a)

# Names from files are not words for a program or a terminal.
with Stage("orin") as s:
    s.write("/etc/nvpmodel.conf", '< POWER_MODEL ID=2 NAME="30W; rm \x1b[31m" >\n< POWER_MODEL ID=5 NAME="a b" >\n< PM_CONFIG DEFAULT=2 >')
    a = s.run("mode 5 --dry-run")
    ok("a mode with a blank: by its number", a.status == 0 and a.result == "would" and "-m 5" in a.why and "\x1b" not in a.text, a)
    equal("a mode with a blank: not by a part of its name", s.run("mode a").result, "refused")

# Signals, timers, limits and descriptors that its caller chose are not inherited.
def bad_manners():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    signal.alarm(1)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    os.dup2(os.open("/", os.O_RDONLY), 200)


with Stage("orin") as s:
    s.write("/behave/nvpmodel", "slow")
    with open(s.path("/usr/sbin/nvpmodel"), "a", encoding="ascii") as f:
        f.write('sleep 1\nls /proc/$$/fd >"$T/behave/descriptors"\n')
    done = subprocess.run(s.command("mode", "0"), stdout=subprocess.PIPE, preexec_fn=bad_manners, close_fds=False, check=False)
    a = Answer(done.stdout)
    equal("what the caller left is not inherited", (done.returncode, a.result), (0, "done"), a)
    ok("nor open files", "200" not in s.read("/behave/descriptors").split("\n"))

# Two at once: both are done, one after the other; a third that waits too long says so.
with Stage("orin") as s:
    s.write("/behave/nvpmodel", "slow")
    answers = []
    threads = [threading.Thread(target=lambda r=r: answers.append(s.run(r))) for r in ("mode 0", "clocks emc=0..1600000000")]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    equal("two at once", sorted(a.result for a in answers), ["done", "done"], *answers)
    equal("two at once: both are noted", s.undo().count('"id"'), 2)
    s.run("restore")
    s.write("/behave/nvpmodel", "hangs")
    first = threading.Thread(target=lambda: answers.append(s.run("mode 0", patience=15)))
    first.start()
    soon(lambda: s.exists("/behave/hanging"))
    a = s.run("governor gpu=performance")
    first.join()
    equal("one that waits too long", (a.status, a.sentence), (1, "another change is being made; try again"), a)

# A user's own board files and variables do not widen what can be set.
with Stage("orin") as s:
    own = s.dir + "/own"
    os.makedirs(own + "/nvmtop/boards")
    for name in (own + "/agx_orin.board", own + "/nvmtop/boards/agx_orin.board"):
        with open(name, "w", encoding="ascii") as f:
            f.write("board agx_orin\ntitle X\nmatch nvidia,p3701-0000\nslow value x path=/etc/victim\ncontrol clocks emc path=/etc/victim\n")
    s.write("/etc/victim", "1")
    a = s.run("clocks emc=0..1600000000", env={"NVMTOP_BOARDS": own, "XDG_CONFIG_HOME": own, "HOME": own, "NVMTOP_BOARD": own + "/agx_orin.board", "PATH": own,
                                               "LD_PRELOAD": "", "PKEXEC_UID": "12;x"})
    equal("own board files", (a.result, s.read("/etc/victim")), ("done", "1"), a)
    a = s.run("clocks emc=0..2133000000", env={"PKEXEC_UID": "1234"})
    ok("the journal has who it was", "user 1234: clocks.emc: 0..1600000000 -> 0..2133000000: done" in s.log(), s.log())

# What is installed takes no other root.
real = HELPER[:-len("-test")]
done = subprocess.run([real, "--sysroot", "/tmp", "mode", "0", "--dry-run"], stdout=subprocess.PIPE, check=False)
equal("the helper that is installed knows no --sysroot", (done.returncode, done.stdout), (2, b"end\t2\tunknown option: --sysroot\n"))
for line in open(os.path.join(os.path.dirname(os.path.dirname(HELPER)), "Makefile"), encoding="utf-8"):
    if line.startswith("helper_PROGRAMS ="):
        equal("make install installs that one only", line.split("=")[1].split(), ["src/nvmtop-control$(EXEEXT)"])
tap.done()
