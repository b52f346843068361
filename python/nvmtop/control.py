"""Sets the fan, the power mode, clocks, governors and swap of a board, as `nvmtop control` does.

    import nvmtop.control

    for item in nvmtop.control.list():              # what can be set here
        print(item.name, item.value, item.allowed, item.refused)
    with nvmtop.control.mode("MAXN"):               # put back at the end of the block
        infer()
    nvmtop.control.fan(60, for_s=600)               # put back after 10 minutes, also if this process has ended
    nvmtop.control.clocks(gpu=(306e6, 612e6))       # stays, until nvmtop.control.restore()

The program nvmtop does it: without root it asks for a password. Each change is read back from the kernel. One that was
refused, failed or did not take raises ControlError, after what the same call had changed was put back. NVMTOP_PROGRAM
names the file of the program where the module does not find it.
"""

import json as _json
import os as _os
import shutil as _shutil
import subprocess as _subprocess
import warnings as _warnings
from typing import Any, List, NamedTuple, Optional, Tuple, Union

from . import FAILED, USAGE, _lib
from . import NvmtopError as _NvmtopError

__all__ = ["list", "fan", "mode", "clocks", "governor", "scaling_3d", "swap", "drop_caches", "restore", "Item",
           "Change", "Changes", "ControlError", "FAILED", "USAGE", "REFUSED"]

REFUSED = 4
_WRONG = {"not": "%s did not take", "refused": "%s is refused", "failed": "setting %s failed"}


class Item(NamedTuple):
    """What can be set: name ("fan", "mode", "clocks.gpu"); value, None with the reason in missing if it is not known;
    allowed, the values that it can have; refused, why it cannot be set here ("": it can); needs_root."""

    name: str
    value: Optional[str]
    missing: str
    allowed: List[str]
    refused: str
    needs_root: bool


class Change(NamedTuple):
    """A setting that was changed, or was to be: the name of its item; before, wanted and after (as read back), None
    where not known; result ("done", "as-is", "not": the machine has another value, "refused", "failed", or "would":
    dry_run); why, a sentence; id, by which `nvmtop control revert` knows it (0: nothing to put back); back_in_s, when
    it is put back by itself (0: never)."""

    name: str
    before: Optional[str]
    wanted: Optional[str]
    after: Optional[str]
    result: str
    why: str
    id: int
    back_in_s: float


class ControlError(_NvmtopError):
    """A sentence that says what was not set, and why; .code is FAILED, USAGE or REFUSED, .changes what was tried."""

    def __init__(self, code: int, text: str, changes: "Optional[Changes]" = None) -> None:
        super().__init__(code, text)
        self.changes = Changes() if changes is None else changes


class Changes(List[Change]):
    """The changes of one call, in their order: they are put back at the end of a with block, or by revert()."""

    def _ids(self) -> List[str]:
        return [*dict.fromkeys(str(change.id) for change in reversed(self) if change.id)]

    def revert(self) -> "Changes":
        """Put back what was changed, the last first; returns the changes that this made."""
        numbers = self._ids()
        return _ask(["revert", *numbers]) if numbers else Changes()

    def keep(self) -> "Changes":
        """Let what for_s would put back stay."""
        return Changes(change for number in self._ids() for change in _ask(["keep", number]))

    def __enter__(self) -> "Changes":
        return self

    def __exit__(self, kind: object, *exception: object) -> None:
        try:
            self.revert()
        except ControlError as e:
            # Do not replace the exception of the block itself.
            if kind is None:
                raise
            _warnings.warn(str(e), RuntimeWarning, stacklevel=2)


def _program() -> str:
    """NVMTOP_PROGRAM, or that of the library's build tree, of the prefix that has this module, or of the system."""
    asked, prefix = _os.environ.get("NVMTOP_PROGRAM"), _os.path.realpath(__file__)
    if asked:
        return asked
    for _ in range(5):  # PREFIX/lib/python3.8/site-packages/nvmtop/control.py
        prefix = _os.path.dirname(prefix)
    found = [_os.path.join(_os.path.dirname(_lib._name), "src", "nvmtop") if "/" in _lib._name else None,
             _os.path.join(prefix, "bin", "nvmtop"), _shutil.which("nvmtop"), "/usr/local/bin/nvmtop"]
    for path in found:
        if path and _os.path.isfile(path):
            return path
    raise ControlError(FAILED, "the program nvmtop was not found: install it, or set NVMTOP_PROGRAM to its file")


def _run(words: List[str]) -> Tuple[int, Any, str]:
    """What `nvmtop control` ends with (0, FAILED, USAGE or REFUSED), prints as JSON, and says about an error."""
    for word in words:
        if word.split() != [word] or "\0" in word:
            raise ControlError(USAGE, "%r is not a value: it must be one word" % word)
    tree = _os.environ.get("NVMTOP_SYSROOT")
    command = [_program(), "control", *words, "--json", *(["--sysroot", tree] if tree else [])]
    try:
        ran = _subprocess.run(command, stdin=_subprocess.DEVNULL, stdout=_subprocess.PIPE, stderr=_subprocess.PIPE)
    except OSError as e:
        raise ControlError(FAILED, "cannot run %s: %s" % (command[0], e.strerror)) from e
    status = ran.returncode if ran.returncode in (0, USAGE, REFUSED) else FAILED
    lines = ran.stderr.decode("utf-8", "replace").splitlines()
    said = [line[len("nvmtop: "):] for line in lines if line.startswith("nvmtop: ")] or lines
    try:
        answer = _json.loads(ran.stdout.decode("utf-8", "replace"))
    except ValueError:
        answer = None
    if not isinstance(answer, dict) or answer.get("version") != 1:
        raise ControlError(status or FAILED, said[-1] if said else "%s ended with status %d and no answer" % (
            command[0], ran.returncode))
    return status, answer, said[-1] if said else ""


def _sentence(change: Change) -> str:
    other = change.result == "not" and change.after != change.wanted
    return "%s: %s%s%s" % (change.name, _WRONG[change.result] % (change.wanted or "it"),
                           ", it has %s" % (change.after or "no known value") if other else "",
                           change.why and ": " + change.why)


def _ask(words: List[str]) -> Changes:
    status, answer, said = _run(words)
    changes = Changes(Change(c["name"], c.get("before"), c.get("wanted"), c.get("after"), c["result"], c.get("why", ""),
                             c.get("id", 0), c.get("back_in_s", 0.0)) for c in answer["changes"])
    if status:
        text = "; ".join(_sentence(c) for c in changes if c.result in _WRONG) or answer.get("error") or said
        raise ControlError(status, text or "`nvmtop control` ended with status %d" % status, changes)
    return changes


def _set(words: List[str], for_s: Optional[float], dry_run: bool) -> Changes:
    options = ["--dry-run"] if dry_run else []
    if for_s is not None:
        options += ["--for", "%.12gs" % for_s]
    try:
        return _ask(words + options)
    except ControlError as e:
        try:
            e.changes.revert()
        except ControlError as other:
            raise ControlError(e.code, "%s; and what was changed before could not be put back: %s" % (e, other),
                               e.changes) from e
        raise


def list() -> List[Item]:
    """What can be set here, with its present value."""
    return [Item(i["name"], i.get("value"), i.get("reason", ""), i.get("allowed", []), i.get("refused", ""),
                 i.get("needs_root", True)) for i in _run(["list"])[1]["controls"]]


def fan(value: Union[str, float], *, item: str = "fan", for_s: Optional[float] = None,
        dry_run: bool = False) -> Changes:
    """A profile ("quiet", "cool"), a percentage, or "auto". One that is set by hand is automatic again at 70 C. item:
    which one, where there are several ("fan1")."""
    return _set([item, "%g" % value if isinstance(value, (int, float)) else value], for_s, dry_run)


def mode(mode: Union[str, int], *, for_s: Optional[float] = None, dry_run: bool = False) -> Changes:
    """A power mode, by its name or number. One that needs a reboot is refused."""
    return _set(["mode", str(mode)], for_s, dry_run)


def clocks(what: Optional[str] = None, *, for_s: Optional[float] = None, dry_run: bool = False,
           **limits: Tuple[float, float]) -> Changes:
    """All clocks at their highest ("max") or as they were before ("restore"); or limits, the least and the greatest
    clock in Hz, of the GPU, the processors or the memory: gpu=(306e6, 612e6), cpu=, emc=."""
    words = ["%s=%.0f..%.0f" % (device, least, greatest) for device, (least, greatest) in limits.items()]
    return _set(["clocks"] + ([] if what is None else [what]) + words, for_s, dry_run)


def governor(device: str, name: str, *, for_s: Optional[float] = None, dry_run: bool = False) -> Changes:
    """The governor of the clock of "gpu" or "cpu"."""
    return _set(["governor", "%s=%s" % (device, name)], for_s, dry_run)


def scaling_3d(on: bool, *, item: str = "3d-scaling", for_s: Optional[float] = None, dry_run: bool = False) -> Changes:
    """Whether the clock of the GPU follows its load."""
    return _set([item, "on" if on else "off"], for_s, dry_run)


def swap(size: Union[int, str, None], *, for_s: Optional[float] = None, dry_run: bool = False) -> Changes:
    """Swap in /swapfile.nvmtop, of so many bytes or "8G"; "off" or None: none, and the file is removed if nvmtop made
    it."""
    return _set(["swap", "off" if size is None else str(size)], for_s, dry_run)


def drop_caches(*, dry_run: bool = False) -> Changes:
    """Free what the kernel keeps of files and can read again."""
    return _set(["drop-caches"], None, dry_run)


def restore(*items: str, dry_run: bool = False) -> Changes:
    """Put back all that nvmtop has changed on this machine, or that of these items, also in earlier processes and
    before a reboot."""
    return _ask(["restore", *items] + (["--dry-run"] if dry_run else []))
