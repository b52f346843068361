"""TAP: nvmtop.control, with a program in the place of nvmtop that notes what it is asked and answers as it is told."""
import json
import os
import subprocess
import sys
import warnings

from nvmtop import NvmtopError, control
from tap import done, ok, raises

os.environ["NVMTOP_PROGRAM"] = program = os.path.abspath("program")
with open(program, "w") as f:
    f.write("""#!%s
import json, os, sys
with open("asked", "a") as f:
    f.write(json.dumps(sys.argv[1:]) + "\\n")
answers = json.load(open("answers"))
answer = answers.pop(0) if answers else [0, {"version": 1, "changes": [], "status": 0}, ""]
json.dump(answers, open("answers", "w"))
sys.stderr.write(answer[2])
if answer[1] is not None:
    print(json.dumps(answer[1]) if isinstance(answer[1], dict) else answer[1])
sys.stdout.flush()
if answer[0] < 0:
    os.kill(os.getpid(), -answer[0])
sys.exit(answer[0])
""" % sys.executable)
os.chmod(program, 0o755)


def answer(status, *changes, **more):
    return [status, dict({"version": 1, "changes": changes, "status": status}, **more), ""]


def asked(answers, function, *args, **options):
    """The words that the program got, after the verb `control`, and the result or the exception."""
    with open("answers", "w") as f:
        json.dump(answers, f)
    open("asked", "w").close()
    try:
        result = function(*args, **options)
    except NvmtopError as e:
        result = e
    with open("asked") as f:
        return [" ".join(json.loads(line)[1:]) for line in f], result


def change(name, result="done", **more):
    return dict({"name": name, "before": "a", "wanted": "b", "after": "b", "result": result}, **more)


# ---- what is asked ----

for words, function, args, options in (
        ("fan quiet", control.fan, ("quiet",), {}), ("fan 40", control.fan, (40,), {}), ("fan 33.5", control.fan, (33.5,), {}),
        ("fan1 auto", control.fan, ("auto",), {"item": "fan1"}),
        ("fan 40 --for 60s", control.fan, (40,), {"for_s": 60}), ("fan 40 --for 0.5s", control.fan, (40,), {"for_s": 0.5}),
        ("mode MAXN --dry-run", control.mode, ("MAXN",), {"dry_run": True}), ("mode 2", control.mode, (2,), {}),
        ("clocks max", control.clocks, ("max",), {}), ("clocks restore", control.clocks, ("restore",), {}),
        ("clocks gpu=306000000..612000000 emc=204000000..2133000000 --dry-run --for 86400s", control.clocks, (),
         {"gpu": (306e6, 612e6), "emc": (204e6, 2133e6), "for_s": 86400, "dry_run": True}),
        ("governor gpu=performance", control.governor, ("gpu", "performance"), {}),
        ("3d-scaling on", control.scaling_3d, (True,), {}), ("3d-scaling off", control.scaling_3d, (False,), {}),
        ("swap 8589934592", control.swap, (8 << 30,), {}), ("swap 8G", control.swap, ("8G",), {}),
        ("swap off", control.swap, (None,), {}), ("swap off", control.swap, ("off",), {}),
        ("drop-caches", control.drop_caches, (), {}), ("restore", control.restore, (), {}),
        ("restore --dry-run", control.restore, (), {"dry_run": True}),
        ("restore mode fan", control.restore, ("mode", "fan"), {})):
    got, result = asked([], function, *args, **options)
    ok(got == [words + " --json"] and result == [], words)
    if got != [words + " --json"]:
        print("# asked: %r, %r" % (got, result))
for value in ("", "a b", "a\nrestore", "\0"):
    got, error = asked([], control.mode, value)
    ok(not got and isinstance(error, control.ControlError) and error.code == control.USAGE, "%r is not one word" % value)
os.environ["NVMTOP_SYSROOT"] = "/a tree"
ok(asked([], control.drop_caches)[0] == ["drop-caches --json --sysroot /a tree"], "a tree that is not /")
del os.environ["NVMTOP_SYSROOT"]

# ---- what is answered ----

items = {"version": 1, "controls": [
    {"name": "fan", "value": "quiet", "allowed": ["0..100", "quiet", "cool", "auto"], "needs_root": True},
    {"name": "mode", "reason": "no status file", "refused": "nvpmodel is not installed", "needs_root": True}]}
got, listed = asked([[0, items, ""]], control.list)
ok(got == ["list --json"] and listed == [
    control.Item("fan", "quiet", "", ["0..100", "quiet", "cool", "auto"], "", True),
    control.Item("mode", None, "no status file", [], "nvpmodel is not installed", True)], "list()")
_, changes = asked([answer(0, change("mode", id=12, back_in_s=60.0, why="w"), {"name": "drop-caches", "result": "would"})],
                   control.mode, 1)
ok(changes == [control.Change("mode", "a", "b", "b", "done", "w", 12, 60.0),
               control.Change("drop-caches", None, None, None, "would", "", 0, 0.0)], "changes; what is not known is None")

# ---- what goes wrong ----

for result, status, code, text in (("not", 1, control.FAILED, "mode: b did not take, it has a: a container"),
                                   ("failed", 1, control.FAILED, "mode: setting b failed: a container"),
                                   ("refused", 4, control.REFUSED, "mode: b is refused: a container")):
    got, error = asked([answer(status, change("mode", result, after="a", why="a container"))], control.mode, "b")
    ok(isinstance(error, control.ControlError) and str(error) == text and error.code == code and
       error.changes[0].result == result and len(got) == 1, text)
for text, reply in (("a second one runs", answer(1, error="a second one runs")),
                    ("\"x\" is not a mode", [2, None, "nvmtop: \"x\" is not a mode\nTry 'nvmtop control --help'.\n"]),
                    ("a password is required", [1, None, "sudo: a terminal is needed\nsudo: a password is required\n"]),
                    ("ended with status -9 and no answer", [-9, None, ""]), ("no answer", [0, "no JSON", ""]),
                    ("no answer", [0, dict(items, version=2), ""]),
                    ("ended with status 1", answer(1))):
    got, error = asked([reply], control.mode, "x")
    ok(isinstance(error, control.ControlError) and text in str(error) and "\n" not in str(error) and
       error.code == (2 if reply[0] == 2 else 1), text)
os.environ["NVMTOP_PROGRAM"] = os.path.abspath("nothing")
ok(raises(control.ControlError, "nothing: No such file or directory", control.list), "a program that is not there")
os.environ["NVMTOP_PROGRAM"] = program

# ---- the way back ----

both = answer(0, change("fan", id=7), change("mode", id=8), change("clocks.gpu", "as-is"), change("clocks.cpu", id=8))


def block(function, fails=False):
    with function(1):
        with open("asked", "a") as f:
            f.write('["", "-- the block"]\n')
        if fails:
            raise KeyError("the program's own")


ok(asked([both], block, control.mode)[0] == ["mode 1 --json", "-- the block", "revert 8 7 --json"],
   "with: at its end all is put back, the last first")
for reply, said in ((answer(0), []), (answer(1, error="too late"), ["too late"])):
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            asked([both, reply], block, control.mode, True)
            raised = ""
        except KeyError as e:
            raised = str(e)
    ok(raised == repr("the program's own") and [str(w.message) for w in warned] == said,
       "also after an exception, which stays; warnings: %s" % said)
_, error = asked([both, answer(1, error="too late")], block, control.mode)
ok(isinstance(error, control.ControlError) and str(error) == "too late", "what cannot be put back is an exception")
_, changes = asked([answer(0, change("mode", id=9))], control.mode, 1)
ok(asked([answer(0, change("mode"))], changes.revert) == (["revert 9 --json"], [control.Change("mode", "a", "b", "b", "done", "", 0, 0)]) and
   asked([], changes.keep)[0] == ["keep 9 --json"], "revert() and keep()")
part = answer(4, change("clocks.gpu", id=3), change("clocks.cpu", "refused", why="no such clock"))
got, error = asked([part], control.clocks, cpu=(1, 2), gpu=(1, 2))
ok(got[1:] == ["revert 3 --json"] and str(error) == "clocks.cpu: b is refused: no such clock",
   "one that is refused: the other is put back, too")
got, error = asked([part, answer(1, error="it hangs")], control.clocks, cpu=(1, 2), gpu=(1, 2))
ok(str(error) == "clocks.cpu: b is refused: no such clock; and what was changed before could not be put back: it hangs",
   "and if it cannot be, that is said")

# ---- where the program is looked for ----

del os.environ["NVMTOP_PROGRAM"]
library = os.environ["NVMTOP_LIBRARY"]
ok(control._program() == os.path.join(os.path.dirname(library), "src", "nvmtop"), "the program of the library's build tree")
found = subprocess.run([sys.executable, "-c", """
import os, nvmtop.control as c
c._lib = type("Lib", (), {"_name": "libnvmtop.so.1"})
os.path.isfile = lambda path: path == "/opt/bin/nvmtop"
c.__file__ = "/opt/lib/python3.8/site-packages/nvmtop/control.py"
os.path.realpath = lambda path: path
print(c._program())
os.path.isfile = lambda path: False
try:
    c._program()
except c.ControlError as e:
    print(e)
"""], stdout=subprocess.PIPE, env=dict(os.environ, PATH="/nowhere")).stdout.decode().splitlines()
ok(found == ["/opt/bin/nvmtop", "the program nvmtop was not found: install it, or set NVMTOP_PROGRAM to its file"],
   "that of the prefix of the module; or what to do")
done()
