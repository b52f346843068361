"""Sweeps of a machine whose power depends on its mode in a known way: a mode draws so many watts, and a run costs these watts
times the seconds of its recording, which another reader of the file tells."""
import csv
import fcntl
import glob
import json
import math
import os
import pty
import shutil
import signal
import struct
import subprocess
import sys
import termios
import threading
import time

from stage import GPU, SOURCE, Stage, Tap, soon

NVMTOP = os.environ.get("NVMTOP", SOURCE + "/src/nvmtop")
RAILS = "/sys/class/hwmon/hwmon4/", "/sys/class/hwmon/hwmon5/"
ZONES = "/sys/class/thermal/thermal_zone%d/temp"
VOLTS = 12.008
# mA on the only rail that carries any, and how long the command takes: by mode
MILLIAMPERES = {0: 2000, 1: 500, 2: 1000, 3: 800}
SECONDS = {0: 0.5, 1: 3.0, 2: 1.2, 3: 0.8}
NAMES = {0: "MAXN", 1: "MODE_15W", 2: "MODE_30W", 3: "MODE_50W"}
WATTS = {NAMES[i]: VOLTS * a / 1e3 for i, a in MILLIAMPERES.items()}

tap = Tap()
ok, equal, same = tap.ok, tap.equal, tap.same


class Machine(Stage):
    def __init__(self):
        super().__init__("orin")
        self.work = self.dir + ".work"
        os.makedirs(self.work)
        for folder in RAILS:
            for n in (1, 2, 3):
                if os.path.isfile(self.path(folder + "curr%d_input" % n)):
                    self.write(folder + "curr%d_input" % n, "0")
        rail = RAILS[0] + "curr1_input"
        self.write(rail, str(MILLIAMPERES[2]))
        for i, a in MILLIAMPERES.items():
            self.write("/behave/mode-%d" % i, self.read("/behave/mode-%d" % i) + "\n%s %d" % (rail, a))
        self.write("/command", """case $(cat %s/var/lib/nvpmodel/status) in %s esac""" % (
            self.dir, " ".join("pmode:000%d) sleep %s ;;" % (i, s) for i, s in SECONDS.items())))
        self.before = self.snapshot()

    def close(self):
        shutil.rmtree(self.work)
        super().close()

    def argv(self, *words, command=None):
        return [NVMTOP, "sweep", "--sysroot", self.dir, "-o", "runs", *words, "--", *(command or ["sh", self.dir + "/command"])]

    def sweep(self, *words, command=None, wrap=()):
        done = subprocess.run([*wrap, *self.argv(*words, command=command)], cwd=self.work, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              encoding="utf-8", timeout=300, check=False)
        self.text = "status %d\n%s%s" % (done.returncode, done.stdout, done.stderr)
        self.out, self.err, self.status = done.stdout, done.stderr, done.returncode
        return self.rows()

    def on_terminal(self, columns, *words, command):
        """What a terminal of that width gets."""
        terminal, its = pty.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        text = b""
        with subprocess.Popen(self.argv(*words, command=command), cwd=self.work, stdout=subprocess.DEVNULL, stderr=its):
            os.close(its)
            try:
                while more := os.read(terminal, 65536):
                    text += more
            except OSError:  # its other end is closed
                pass
        os.close(terminal)
        return text.decode().replace("\r\n", "\n")

    def rows(self):
        try:
            with open(self.work + "/runs/sweep.csv", encoding="utf-8", newline="") as f:
                return list(csv.DictReader(f))
        except FileNotFoundError:
            return []

    def seconds(self, row):
        """Of each recording of a row, by a reader that shares no code with nvmtop."""
        files = sorted(glob.glob(glob.escape("%s/runs/%s-" % (self.work, row["recordings"])) + "*.nvmt"))
        tool = os.path.join(SOURCE, "tests/tools/nvmt-log-check.py")
        read = [json.loads(subprocess.check_output([sys.executable, tool, "--judge", f])) for f in files]
        tiers = [[t[tier] for tier in ("fast", "medium", "slow") if t[tier]["first_s"] is not None] for t in read]
        return [max(t["last_s"] for t in all_) - min(t["first_s"] for t in all_) for all_ in tiers]

    def end(self, title):
        same(title + ": all is as it was", self, self.before)
        shutil.rmtree(self.work + "/runs", ignore_errors=True)


def close_to(a, b, share):
    return abs(a - b) <= share * abs(b)


def sd(values):
    mean = sum(values) / len(values)
    return math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1))


def check_row(m, row, name):
    seconds = m.seconds(row)
    mean = sum(seconds) / len(seconds)
    ok(name + ": seconds of its recordings", close_to(float(row["duration_s"]), mean, 0.01), row, seconds)
    ok(name + ": joules are watts times these seconds", close_to(float(row["energy_j"]), WATTS[name] * mean, 0.01), row, seconds)
    ok(name + ": mean W", close_to(float(row["mean_power_w"]), WATTS[name], 0.002), row)
    ok(name + ": J per item", close_to(float(row["energy_per_item_j"]), WATTS[name] * mean / 8, 0.01), row)
    ok(name + ": sd of the seconds", abs(float(row["duration_sd_s"]) - sd(seconds)) < 0.004, row, seconds)
    ok(name + ": sd of the joules", abs(float(row["energy_sd_j"]) - WATTS[name] * sd(seconds)) < 0.1, row, seconds)
    equal(name + ": hottest", row["hottest_c"], "52.875")


def check_marks(rows):
    """Who is better in time and energy by the means; and not by chance where the difference is far beyond the spread."""
    for a in rows:
        time_, joules = float(a["duration_s"]), float(a["energy_j"])
        worse = [b for b in rows if float(b["duration_s"]) <= time_ and float(b["energy_j"]) <= joules and b is not a]
        clear = [b for b in worse for what in ("duration", "energy") for unit in ("s" if what == "duration" else "j",)
                 if float(a["%s_%s" % (what, unit)]) - float(b["%s_%s" % (what, unit)]) >
                 13 * max(float(a["%s_sd_%s" % (what, unit)]), float(b["%s_sd_%s" % (what, unit)]))]
        want = ["best"] if not worse else [""] if clear else ["", "tie"]
        ok(a["modes"] + ": mark", a["pareto"] in want, a, want)


def modes():
    with Machine() as m:
        for _ in range(20):  # on a busy machine readings come too late, and a run has no joules
            shutil.rmtree(m.work + "/runs", ignore_errors=True)
            before = len(m.calls())
            rows = m.sweep("modes=all", "--settle", "0", "--repeat", "2", "--per", "8")
            if m.status or all(r["energy_sd_j"] for r in rows):
                break
        equal("modes=all: status", m.status, 0, m.text)
        equal("modes=all: those that need no reboot, in their order", [r["modes"] for r in rows], ["MAXN", "MODE_30W", "MODE_50W"], m.text)
        ok("modes=all: the one that does is named", "MODE_15W is left out: it needs a reboot" in m.err, m.text)
        ok("modes=all: the plan comes first", m.err.index("plan: 3 settings, runs of each: 2") < m.err.index("run 1 of 6"), m.text)
        ok("modes=all: the time left", "run 6 of 6: MODE_50W, 2 of 2; about 0" in m.err, m.text)
        equal("modes=all: which was the mode", [r["now"] for r in rows], ["false", "true", "false"])
        equal("modes=all: results", {(r["result"], r["runs"], r["failed_runs"], r["power"]) for r in rows}, {("ran", "2", "0", "power.total")})
        for r in rows:
            check_row(m, r, r["modes"])
            ok(r["modes"] + ": in the table", any(line[2:].startswith(r["modes"]) and "%.4g" % float(r["mean_power_w"]) in line
                                                  for line in m.err.split("\n")), m.text)
        check_marks(rows)
        equal("modes=all: nvpmodel in turn, and back", m.calls()[before:], ["nvpmodel -m " + i for i in "02" "32"])
        ok("modes=all: the recordings are named after the mode", os.path.exists(m.work + "/runs/03-MODE_50W-2.nvmt"), os.listdir(m.work + "/runs"))
        m.end("modes=all")

        rows = m.sweep("modes=50w,now", "gpu=306M,408M", "fan=60%", "--settle", "0", "--repeat", "1", command=["sleep", "0.2"])
        equal("several settings: all combinations, as they were given", [(r["modes"], r["gpu"], r["fan"]) for r in rows],
              [(a, b, "60%") for a in ("MODE_50W", "MODE_30W") for b in ("306M", "408M")], m.text)
        equal("several settings: status", m.status, 0, m.text)
        equal("several settings: one run has no spread", {(r["runs"], r["duration_sd_s"]) for r in rows}, {("1", "")})
        m.end("several settings")

        text = m.on_terminal(80, "modes=0,3", "gpu=306M,now", "--settle", "0", "--repeat", "2", "--per", "8", command=["sleep", "0.2"])
        table = [line for line in text.split("\n") if line.startswith("setting ") or line[2:7] in ("MAXN ", "MODE_")]
        ok("80 columns: the table fits", len(table) == 5 and max(map(len, table)) <= 80, text)
        ok("80 columns: what follows from the others is left out", "J per item" in table[0] and "throttled" in table[0] and
           " J  " not in table[0] and "mean W" not in table[0], text)
        equal("80 columns: numbers end below their heads", {line[table[0].index("max C"):][:5] for line in table[1:]}, {"52.88"}, text)
        m.end("80 columns")

        calls = m.calls()
        m.sweep("modes=all", "--dry-run")
        ok("--dry-run: the plan, and nothing else", m.status == 0 and "MODE_50W" in m.out and not os.path.exists(m.work + "/runs"), m.text)
        for wrong, why in ((["modes=MODE_31W"], "mode cannot be"), (["gpu=307.3G"], "clocks.gpu cannot be"), (["tpu=1"], '"tpu" cannot be set'),
                           (["modes"], '"modes" is no setting'), (["gpu=306M", "gpu=408M"], "given twice"), ([], "needs settings"),
                           (["--demo", "modes=all"], "a demo has no settings")):
            m.sweep(*wrong)
            ok("%s: refused, status 2" % " ".join(wrong), m.status == 2 and why in m.err, m.text)
        m.sweep("modes=all", command=["no-such-program"])
        equal("a command that there is not: status", m.status, 127, m.text)
        m.end("nothing was changed")
        equal("nothing was changed: not even for a moment", m.calls(), calls)


def troubles():
    with Machine() as m:
        m.write("/behave/mode-0", "/nothing 0")  # it says that it did
        m.before = m.snapshot()
        script = 'case $(cat %s/var/lib/nvpmodel/status) in pmode:0003) exit 3 ;; *) sleep 0.3 ;; esac' % m.dir
        rows = m.sweep("modes=0,1,2,3", "--settle", "0", "--repeat", "2", command=["sh", "-c", script])
        equal("troubles: each has its row", [r["result"] for r in rows], ["did not take", "refused", "ran", "failed"], m.text)
        equal("troubles: status", m.status, 1, m.text)
        ok("a mode that lies: both values", "/cpu8/online has 0, and the mode 1" in rows[0]["reason"], rows[0])
        ok("a mode that needs a reboot: the command for it", "sudo nvpmodel -m 1" in rows[1]["reason"], rows[1])
        ok("not run: no numbers", all(r[k] == "" for r in rows[:2] for k in ("duration_s", "energy_j", "exit_status", "hottest_c", "pareto")), rows)
        ok("not run: -- in the table", any(line.startswith("  MAXN") and line.count("--") == 5 and "did not take" in line
                                           for line in m.err.split("\n")), m.text)
        equal("a command that fails: its status, and no numbers", (rows[3]["exit_status"], rows[3]["runs"], rows[3]["failed_runs"], rows[3]["energy_j"]),
              ("3", "0", "2", ""), rows[3])
        ok("a command that fails: said", "failed in 2 runs, with status 3" in rows[3]["reason"], rows[3])
        equal("troubles: the others count", (rows[2]["runs"], rows[2]["pareto"]), ("2", "best"), rows[2])
        m.end("troubles")

        script = "sleep 0.2; echo fails >%s/behave/nvpmodel" % m.dir
        rows = m.sweep("modes=3,2", "gpu=408M", "--settle", "0", "--repeat", "1", command=["sh", "-c", script])
        equal("what cannot be put back: the next setting would not begin as the first did", [r["result"] for r in rows], ["ran", "cannot be set"],
              m.text)
        ok("what cannot be put back: said", m.status == 1 and "mode was not put back to MODE_30W" in m.err and "nvmtop control restore" in m.err,
           m.text)
        os.unlink(m.path("/behave/nvpmodel"))
        m.run("restore")
        m.end("what cannot be put back, by restore")

        m.write(RAILS[0] + "curr1_input", "no number")
        before, m.before = m.before, m.snapshot()
        rows = m.sweep("modes=2", "--settle", "0", "--repeat", "1", command=["sleep", "0.4"])
        ok("no power: no joules, and the reason", rows[0]["energy_j"] == "" and "no joules: " in rows[0]["reason"] and rows[0]["pareto"] == "",
           rows, m.text)
        m.end("no power")
        m.write(RAILS[0] + "curr1_input", str(MILLIAMPERES[2]))
        m.before = before

        m.sweep("modes=0,2", "-o", "no/such/folder")
        equal("two folders: status", m.status, 2, m.text)
        os.makedirs(m.work + "/runs")
        m.sweep("modes=2,3")
        ok("a folder that is there: status 1", m.status == 1 and "cannot create the folder runs" in m.err, m.text)
        shutil.rmtree(m.work + "/runs")
        calls = len(m.calls())
        rows = m.sweep("modes=3", "gpu=306M,408M", "--settle", "0", "--repeat", "1", command=["sleep", "5"],
                       wrap=["sh", "-c", 'ulimit -f 64; exec "$@"', "sh"])
        equal("a full disk: the row says it, and the sweep ends", [r["result"] for r in rows], ["not recorded", "not reached"], m.text)
        equal("a full disk: status", m.status, 1, m.text)
        ok("a full disk: after a change", len(m.calls()) > calls)
        m.end("a full disk")


def settling():
    with Machine() as m:
        rows = m.sweep("modes=3", "--settle", "60", "--repeat", "1", command=["sleep", "0.2"])
        equal("a steady zone: settled", (rows[0]["result"], m.status), ("ran", 0), m.text)
        rows, n = [], 0
        shutil.rmtree(m.work + "/runs")
        stop = threading.Event()
        zone = m.path(ZONES % 0)

        def heat():
            degrees = 40000
            while not stop.wait(0.1):
                degrees = degrees + 500 if degrees < 90000 else 40000
                with open(zone, "r+b") as f:
                    f.write(b"%d\n" % degrees)
        with open(zone, "rb") as f:
            was = f.read()
        thread = threading.Thread(target=heat)
        thread.start()
        rows = m.sweep("modes=3", "--settle", "14", "--repeat", "1", command=["sleep", "0.2"])
        stop.set()
        thread.join()
        with open(zone, "wb") as f:
            f.write(was)
        equal("a zone that never settles: run all the same", (rows[0]["result"], rows[0]["runs"], m.status), ("not settled", "1", 0), m.text)
        ok("a zone that never settles: by how much it moved", "not settled in 14 s: the temperature still moved by" in rows[0]["reason"], rows, m.text)
        m.end("settling")


def ends():
    """In the second of three settings, with the command running."""
    for sig, group in ((signal.SIGINT, True), (signal.SIGTERM, False), (signal.SIGKILL, False)):
        with Machine() as m:
            name = sig.name + (" of a terminal" if group else "")
            started = m.work + "/started"
            script = "case $(cat %s/var/lib/nvpmodel/status) in pmode:0003) echo $$ >%s.new; mv %s.new %s; exec sleep 1000 ;; esac; sleep 0.2" % (
                m.dir, started, started, started)
            with subprocess.Popen(m.argv("modes=0,3,2", "gpu=408M", "--settle", "0", "--repeat", "2", command=["sh", "-c", script]), cwd=m.work,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", start_new_session=True) as p:
                soon(lambda: os.path.exists(started))
                equal(name + ": while it runs, the setting", (m.read("/var/lib/nvpmodel/status"), m.read(GPU + "min_freq"), m.read(GPU + "max_freq")),
                      ("pmode:0003", "408000000", "408000000"))
                with open(started, encoding="utf-8") as f:
                    command = int(f.read())
                (os.killpg if group else os.kill)(p.pid, sig)
                if sig == signal.SIGKILL:
                    p.wait()
                    # the helper notices, and puts all back while the command still runs
                    soon(lambda: m.snapshot() == m.before)
                    os.kill(command, signal.SIGKILL)
                text = "".join(p.communicate(timeout=120))
            equal(name + ": status", p.returncode, -sig if sig == signal.SIGKILL else 128 + sig, text)
            rows = m.rows()
            equal(name + ": what ran is in the table", (rows[0]["result"], rows[0]["runs"]), ("ran", "2"), rows, text)
            if sig != signal.SIGKILL:
                equal(name + ": what was stopped, and what did not begin", [r["result"] for r in rows[1:]], ["not recorded", "not reached"], rows, text)
                equal(name + ": the recordings are sound", [subprocess.call([NVMTOP, "check", f], stdout=subprocess.DEVNULL) for f in
                                                            sorted(glob.glob(m.work + "/runs/*.nvmt"))], [0, 0, 0], text)
            m.end(name)


def end_before_a_run():
    with Machine() as m:
        with subprocess.Popen(m.argv("modes=0,3", "--settle", "100"), cwd=m.work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8") as p:
            soon(lambda: m.read("/var/lib/nvpmodel/status") == "pmode:0000")
            p.send_signal(signal.SIGINT)
            text = "".join(p.communicate(timeout=90))
        equal("while it settles: not a word of how far that came", (p.returncode, [(r["result"], r["reason"]) for r in m.rows()]),
              (130, [("not reached", "")] * 2), text)
        m.end("while it settles")


def helper_of(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as f:
        for child in map(int, f.read().split()):
            with open("/proc/%d/cmdline" % child, "rb") as line:
                if b"nvmtop-control" in line.read():
                    return child
    return 0


def without_helper():
    with Machine() as m:
        script = "touch %s/started; sleep 2" % m.work
        with subprocess.Popen(m.argv("modes=0,3", "--settle", "0", "--repeat", "1", command=["sh", "-c", script]), cwd=m.work,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8") as p:
            soon(lambda: os.path.exists(m.work + "/started"))
            os.kill(helper_of(p.pid), signal.SIGKILL)
            text = "".join(p.communicate(timeout=120))
        equal("a helper that dies: what ran is in the table", [r["result"] for r in m.rows()], ["ran", "not reached"], text)
        ok("a helper that dies: status, and what to do", p.returncode == 1 and "nvmtop control restore" in text, text)
        m.run("restore")
        m.end("a helper that dies: after nvmtop control restore")


modes()
troubles()
settling()
ends()
end_before_a_run()
without_helper()
tap.done()
