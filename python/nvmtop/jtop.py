"""The interface of jtop (jetson_stats), with nvmtop behind it: change only the import of a script.

    from nvmtop.jtop import jtop

    with jtop() as jetson:
        while jetson.ok():
            print(jetson.stats)

No service and no group is needed. Clocks are in kHz, memory in kB (1024 bytes), power in mW, temperatures in degrees
Celsius, loads in %. What cannot be read is absent, never 0, -256 or "": use .get(), or see nvmtop.Live for the reason.
Setters do what `nvmtop control` does, and return when it is done; what is not set raises JtopException.
"""

import copy as _copy
import ctypes as _c
import datetime as _datetime
import json as _json
import os as _os
import platform as _platform
import re as _re
import threading as _threading
import time as _time
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from . import NvmtopError as _NvmtopError
from . import _Error, _joinable, _lib, _Signal
from . import control as _control
from .live import Live as _Live
from .live import Window as _Window

__all__ = ["jtop", "JtopException", "GPU", "Memory", "Fan", "NVPModel", "JetsonClocks"]

_MACHINE_S = 2.0  # how often the description of the machine is read, at most
_HZ = 100  # samples a second, unless something in this process samples already
_SWAP_FILE = "/swapfile.nvmtop"

# Of the description of the machine; a group that is in it has its names there.
_BOARD = {
    "platform": {"Machine": "architecture", "System": "system", "Distribution": "distribution", "Release": "kernel"},
    "hardware": {"Model": "model", "699-level Part Number": "part_number", "P-Number": "p_number",
                 "BoardIDs": "board_ids", "Module": "module", "SoC": "soc", "CUDA Arch BIN": "cuda_arch",
                 "Codename": "codename",
                 "Serial Number": "serial", "L4T": "l4t", "Jetpack": "jetpack"},
    "libraries": {"CUDA": "cuda", "cuDNN": "cudnn", "TensorRT": "tensorrt", "VPI": "vpi", "Vulkan": "vulkan",
                  "OpenCV": "opencv", "OpenCV-Cuda": "opencv_cuda"},
}

Observer = Callable[["jtop"], Any]
Group = Dict[str, Any]


class JtopException(Exception):
    """A sentence that describes the problem and what to do."""


_set_at = float("-inf")  # of time.monotonic(): when this process set something last


def _set(verb: Callable[..., _control.Changes], *values: Any, **options: Any) -> _control.Changes:
    global _set_at
    try:
        return verb(*values, **options)
    except _control.ControlError as e:
        raise JtopException(str(e)) from e
    finally:
        _set_at = _time.monotonic()


def _item(name: str, number: int) -> str:
    return "%s%d" % (name, number) if number else name


def _of_type(value: Any, *kinds: type) -> Any:
    if not isinstance(value, kinds):
        raise ValueError("%r is not of type %s" % (value, " or ".join(kind.__name__ for kind in kinds)))
    return value


class _Limits(_c.Structure):
    _fields_ = _Signal._fields_ + [("warn", _c.c_double), ("crit", _c.c_double)]


_lib.nvmtop_machine.restype, _lib.nvmtop_machine.argtypes = _c.c_void_p, [_c.c_int, _c.c_void_p]
_free = _c.CDLL(None).free
_free.restype, _free.argtypes = None, [_c.c_void_p]


def _read_machine() -> Group:
    e = _Error()
    text = _lib.nvmtop_machine(0, _c.byref(e))
    if not text:
        raise e.exception()
    try:
        machine: Group = _json.loads(_c.string_at(text).decode("utf-8", "replace"))
    finally:
        _free(text)
    return machine


def _known(pairs: Group) -> Group:
    return {key: value for key, value in pairs.items() if value is not None}


def _whole(number: Optional[float]) -> Optional[int]:
    return None if number is None else round(number)


def _khz(hz: Optional[float]) -> Optional[int]:
    return None if hz is None else round(hz / 1000)


class _Sample:
    """One look: the values of the signals that have one, the description of the machine, and the mean power in mW."""

    def __init__(self, values: Dict[str, float], machine: Group, age_s: float, means: Dict[str, float]) -> None:
        self.values, self.machine, self.means = values, machine, means
        self.time = _datetime.datetime.now()
        up = machine.get("uptime_s")
        self.uptime = None if up is None else _datetime.timedelta(seconds=up + age_s)
        # In a container the device tree may be missing.
        self.integrated = "soc" in machine or "governor" in machine.get("gpu", {})

    def about(self, *path: str) -> Any:
        found: Any = self.machine
        for key in path:
            found = found.get(key) if isinstance(found, dict) else None
        return found

    def fans(self, unit: str) -> List[float]:
        found = ((_re.match(r"fan(\d*)\.%s(\d*)$" % unit, name), value) for name, value in self.values.items())
        return [value for match, value in found if match]


class _Settable:
    def __setattr__(self, name: str, value: Any) -> None:
        about = getattr(type(self), name, None)
        if not isinstance(about, property) or about.fset is None:
            raise JtopException("%s of %s cannot be set" % (name, type(self).__name__))
        about.fset(self, value)


class _Group(_Settable, Dict[str, Any]):

    def _of(self, name: str) -> Group:
        if name not in self:
            raise JtopException("there is no %s %r: %s" % (
                type(self).__name__, name, "there are " + ", ".join(self) if self else "there is none at all"))
        found: Group = self[name]
        return found

    def _first(self) -> Group:
        return self._of(next(iter(self), ""))

    def _get(self, group: Group, key: str, index: Optional[int] = None) -> Any:
        value = group.get(key)
        if value is None or (index is not None and not 0 <= index < len(value)):
            raise JtopException("%s of this %s is not known" % (key, type(self).__name__))
        return value if index is None else value[index]


class GPU(_Group):
    """A dictionary of each GPU, by name: type ("integrated", "discrete"), status (railgate, tpc_pg_mask: whether units
    are powered down, 3d_scaling, load in %), freq (governor, min, max, cur in kHz, GPC a list of kHz),
    power_control."""

    def get_scaling_3D(self, name: str) -> bool:
        """Whether 3D scaling is on."""
        return bool(self._get(self._of(name)["status"], "3d_scaling"))

    @property
    def scaling_3D(self) -> bool:
        """The same of the first GPU."""
        return bool(self._get(self._first()["status"], "3d_scaling"))

    @scaling_3D.setter
    def scaling_3D(self, on: bool) -> None:
        self.set_scaling_3D(next(iter(self), ""), on)

    def get_railgate(self, name: str) -> bool:
        """Whether the GPU may be powered down."""
        return bool(self._get(self._of(name)["status"], "railgate"))

    @property
    def set_scaling_3D(self) -> "_Scaling3D":
        """set_scaling_3D(name, on); an example of jtop uses it as a truth value, then it is that of the first GPU."""
        return _Scaling3D(self)

    @set_scaling_3D.setter
    def set_scaling_3D(self, on: bool) -> None:
        self.scaling_3D = on

    def set_railgate(self, name: str, on: bool) -> None:
        """Raises JtopException: nvmtop does not change this."""
        raise JtopException("nvmtop does not set whether a GPU powers down: write to its railgate_enable as root")


class _Scaling3D:
    def __init__(self, gpu: GPU) -> None:
        self._gpu = gpu

    def __call__(self, name: str, value: bool) -> None:
        self._gpu._of(name)
        _set(_control.scaling_3d, value, item=_item("3d-scaling", [*self._gpu].index(name)))

    def __bool__(self) -> bool:
        return self._gpu.scaling_3D


class Memory(_Group):
    """In kB: RAM (tot, used, free, buffers, cached, shared with the GPU; lfb: free blocks of 4 MB), SWAP (tot, used,
    cached, table by device: type, prio, size, used), IRAM (tot, used); EMC (online, val in %, cur, min, max in kHz)."""

    def swap_path(self) -> str:
        """The swap file that nvmtop makes."""
        return _SWAP_FILE

    def swap_is_enable(self, path: str) -> bool:
        """Whether this file or device is swap."""
        return path in self.get("SWAP", {}).get("table", {})

    def swap_set(self, value: float, path: str = "", on_boot: bool = False) -> None:
        """Have swap of so many GB (1024 ** 3 bytes) in swap_path(), until the machine starts again."""
        if not path:
            path = _SWAP_FILE
        if path != _SWAP_FILE or on_boot:
            raise JtopException("nvmtop makes swap in %s only, and not for the next start of the machine: use mkswap, "
                                "swapon and /etc/fstab" % _SWAP_FILE)
        _set(_control.swap, int(_of_type(value, int, float) * 1024 ** 3))

    def swap_deactivate(self, path: str = "") -> None:
        """Have that of swap_path() no more."""
        if path not in ("", _SWAP_FILE):
            raise JtopException("nvmtop removes the swap of %s only: use swapoff" % _SWAP_FILE)
        _set(_control.swap, "off")

    def clear_cache(self) -> None:
        """Free what the kernel keeps of files and can read again."""
        _set(_control.drop_caches)


class Fan(_Group):
    """A dictionary of the fans: speed (list of %), rpm (list), profile, governor, control."""

    def all_profiles(self, name: str) -> List[str]:
        """The names of all profiles."""
        self._of(name)
        return list(self.__dict__.get("profiles", []))

    def get_profile(self, name: str) -> str:
        """The profile that is in use."""
        return str(self._get(self._of(name), "profile"))

    def get_profile_default(self, name: str) -> str:
        """The profile that is in use after a start of the machine."""
        self._of(name)
        return str(self._get(self.__dict__, "default profile"))

    def get_speed(self, name: str, idx: int = 0) -> float:
        """%"""
        return float(self._get(self._of(name), "speed", idx))

    def get_rpm(self, name: str, idx: int = 0) -> int:
        """Revolutions a minute."""
        return int(self._get(self._of(name), "rpm", idx))

    @property
    def profile(self) -> str:
        """The profile that is in use."""
        return str(self._get(self._first(), "profile"))

    @profile.setter
    def profile(self, profile: str) -> None:
        self.set_profile(next(iter(self), ""), profile)

    @property
    def speed(self) -> float:
        """% of the first fan."""
        return float(self._get(self._first(), "speed", 0))

    @speed.setter
    def speed(self, percent: float) -> None:
        self.set_speed(next(iter(self), ""), percent)

    @property
    def rpm(self) -> int:
        """Revolutions a minute of the first fan."""
        return int(self._get(self._first(), "rpm", 0))

    def set_profile(self, name: str, profile: str) -> None:
        """Have the machine control the fan by one of all_profiles(), or "auto"."""
        self._of(name)
        _set(_control.fan, _of_type(profile, str))

    def set_speed(self, name: str, speed: float, idx: int = 0) -> None:
        """%; at 70 C the machine controls the fan again."""
        self._get(self._of(name), "speed", idx)
        _set(_control.fan, _of_type(speed, int, float), item=_item("fan", idx))

    @property
    def mode(self) -> str:
        """"manual" while its speed is one that was set, else "system"."""
        for item in _control.list():
            if item.name == "fan":
                return "manual" if item.value and item.value.endswith("%") else "system"
        raise JtopException("there is no fan that can be set")

    @mode.setter
    def mode(self, mode: str) -> None:
        if mode not in ("system", "default"):
            raise JtopException("%r is no mode of a fan: use 'system', or set its speed" % (mode,))
        self.profile = "auto"


class NVPModel(_Settable):
    """The power modes: id, name, models (names of all), get_default(), status."""

    def __init__(self, modes: Group) -> None:
        self.__dict__["_modes"] = modes

    def _id(self, name: Optional[str]) -> int:
        for mode in self.__dict__["_modes"].get("modes", []):
            if mode["name"] == name:
                return int(mode["id"])
        raise JtopException("the id of the power mode %r is not known: it is not in /etc/nvpmodel.conf" % name)

    def get_nvpmodel_name(self) -> str:
        """The name of the mode that is in use."""
        return str(self.__dict__["_modes"]["current"])

    def get_nvpmodel_id(self) -> int:
        """The number of the mode that is in use."""
        return self._id(self.name)

    def get_all_nvpmodels(self) -> List[str]:
        """The names of all modes."""
        return [str(mode["name"]) for mode in self.__dict__["_modes"].get("modes", [])]

    name, id, models = property(get_nvpmodel_name), property(get_nvpmodel_id), property(get_all_nvpmodels)

    @property
    def status(self) -> List[bool]:
        """True for each mode."""
        return [True for _ in self.models]

    def get_default(self) -> Group:
        """The name and the id of the mode after a start of the machine; empty if it is not known."""
        name = self.__dict__["_modes"].get("default")
        return {} if name is None else {"name": name, "id": self._id(name)}

    def is_running(self) -> bool:
        """Whether a mode is being changed: no."""
        return False

    def __add__(self, number: int) -> int:
        return self.get_nvpmodel_id() + number

    def __sub__(self, number: int) -> int:
        return self.get_nvpmodel_id() - number

    def __eq__(self, other: object) -> bool:
        return bool((self.id if isinstance(other, int) else self.name) == other)

    __hash__ = None  # type: ignore[assignment]
    __str__ = __repr__ = get_nvpmodel_name

    def set_nvpmodel_id(self, nvpmodel_id: int, force: bool = False) -> None:
        """Change to the mode with this number. force changes nothing: one that needs a reboot is refused."""
        _set(_control.mode, _of_type(nvpmodel_id, int))

    def set_nvpmodel_name(self, nvpmodel_name: str, force: bool = False) -> None:
        """Change to the mode with this name."""
        _set(_control.mode, _of_type(nvpmodel_name, str))


class JetsonClocks(_Settable):
    """Whether GPU and cores are held at one clock each: a truth value, and status."""

    def __init__(self, pinned: bool) -> None:
        self.__dict__["_pinned"] = pinned

    def __bool__(self) -> bool:
        return bool(self.__dict__["_pinned"])

    get_enable = __bool__

    def get_status(self) -> str:
        """"running" or "inactive"."""
        return "running" if self else "inactive"

    def get_boot(self) -> bool:
        """False: nvmtop does not start it with the machine."""
        return False

    def set_enable(self, enable: bool) -> None:
        """Hold them at their highest clocks, or let them go."""
        _set(_control.clocks, "max" if _of_type(enable, bool) else "restore")

    def set_boot(self, value: bool) -> None:
        """Raises JtopException, unless False."""
        if _of_type(value, bool):
            raise JtopException("nvmtop does not start jetson_clocks with the machine: have systemd run "
                                "`nvmtop control clocks max`")

    status, boot = property(get_status), property(get_boot, set_boot)

    def clear_config(self) -> None:
        """Do nothing: nvmtop stores no clocks."""

    def is_config(self) -> bool:
        """False: nvmtop stores no clocks."""
        return False

    def __str__(self) -> str:
        return str(bool(self))

    __repr__ = __str__


class jtop:
    """The state of the board, read every interval (in seconds) while a with block runs, or from start() to close()."""

    def __init__(self, interval: float = 1.0) -> None:
        if not 0 < interval <= _threading.TIMEOUT_MAX:
            raise JtopException("an interval of %g s is not possible: it must be above 0" % interval)
        self._interval = float(interval)
        self._observers: List[Observer] = []
        self._changed = _threading.Condition()
        self._pid = 0
        self._sample: Optional[_Sample] = None
        self._machine: Group = {}
        self._looks = self._seen = 0
        self._keys: Optional[Any] = None
        self._thread: Optional[_threading.Thread] = None
        self._error: Optional[BaseException] = None

    # ---- running ----

    def start(self) -> None:
        """Begin to read: there are values when it returns, after some 1 s."""
        if self._running():
            raise JtopException("this jtop is already running")
        live = _Live() if _joinable() else _Live(_HZ)
        try:
            self._live = live.open()
            self._window: _Window = live.window().begin()
            self._machine_at = float("-inf")
            self._read_signals()
            self._sample = self._look()
        except _NvmtopError as e:
            live.close()
            raise JtopException(str(e)) from e
        self._looks, self._seen, self._pid = 1, 0, _os.getpid()
        self._stop, self._error, self._keys = _threading.Event(), None, None
        self._keys = self.stats.keys()
        self._thread = _threading.Thread(target=self._run, name="nvmtop.jtop", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Read no more. Properties keep what was read last."""
        if self._running():
            self._stop.set()
            if self._thread and self._thread is not _threading.current_thread():
                self._thread.join()

    def __enter__(self) -> "jtop":
        self.start()
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def ok(self, spin: bool = False) -> bool:
        """Wait for new values, unless spin; False after close(). Raises what an observer raised."""
        self._now()
        with self._changed:
            while not spin and self._running() and not self._stop.is_set() and self._looks == self._seen:
                self._changed.wait(1)
            self._seen = self._looks
            error, self._error = self._error, None
        if error:
            raise error
        return self._running() and not self._stop.is_set()

    def attach(self, observer: Observer) -> None:
        """Have observer(jetson) called, on a thread of jtop, each time that there are new values."""
        if observer not in self._observers:
            self._observers.append(observer)

    def detach(self, observer: Observer) -> None:
        """Have it called no more."""
        if observer in self._observers:
            self._observers.remove(observer)

    def loop_for_ever(self) -> None:
        """start(), and wait until close(), or until an observer raises something."""
        if not self._running():
            self.start()
        try:
            while self.ok():
                pass
        finally:
            self.close()

    @property
    def interval(self) -> float:
        """Seconds between two looks."""
        return self._interval

    @property
    def interval_user(self) -> float:
        """The same: each jtop has its own."""
        return self._interval

    def restore(self, max_counter: int = 10) -> Iterator[Tuple[bool, str]]:
        """Put back all that nvmtop changed: whether it succeeded, and a text, for each."""
        return iter([(True, "%s: %s" % (change.name, change.why or change.after)) for change in _set(_control.restore)])

    def _running(self) -> bool:
        return self._thread is not None and self._thread.is_alive() and self._pid == _os.getpid()

    def _run(self) -> None:
        due = _time.monotonic()
        try:
            while True:
                for observer in list(self._observers):
                    observer(self)
                due = max(due + self._interval, _time.monotonic())
                if self._stop.wait(due - _time.monotonic()):
                    break
                sample = self._look()
                with self._changed:
                    self._sample = sample
                    self._looks += 1
                    self._changed.notify_all()
        except _NvmtopError as e:
            self._error = JtopException(str(e))
        except BaseException as e:
            self._error = e
        finally:
            self._stop.set()
            self._live.close()
            with self._changed:
                self._changed.notify_all()

    def _look(self) -> _Sample:
        last, self._window = self._window, self._live.window()
        last.end()
        self._window.begin()
        now = _time.monotonic()
        if now - self._machine_at >= _MACHINE_S or self._machine_at < _set_at:
            self._machine, self._machine_at = _read_machine(), now
        values = {name: float(value) for name, value in self._live.read().items() if value == value}
        means = {name: 1000 * energy.watts for name, energy in last.rails.items() if energy.watts == energy.watts}
        return _Sample(values, self._machine, now - self._machine_at, means)

    def _read_signals(self) -> None:
        """Their labels, the formula of the total power, and the limits of the temperatures."""
        signals, s = self._live.signals, _Limits(_c.sizeof(_Limits))
        self._labels = {name: about.label for name, about in signals.items()}
        self._total = signals["power.total"].source if "power.total" in signals else ""
        self._limits: Dict[str, List[Optional[float]]] = {}
        for number, name in enumerate(signals):
            if name.startswith("temp.") and _lib.nvmtop_live_describe(self._live._handle, number, _c.byref(s)) == 0:
                self._limits[name] = [None if limit != limit else limit for limit in (s.warn, s.crit)]

    def _now(self) -> _Sample:
        if self._sample is None:
            raise JtopException("this jtop is not running: use `with jtop() as jetson:`, or start()")
        if self._pid != _os.getpid():
            raise JtopException("this jtop is of the process before fork(): make another one")
        return self._sample

    # ---- properties ----

    @property
    def board(self) -> Dict[str, Group]:
        """platform, hardware and libraries: texts (OpenCV-Cuda: True or False)."""
        m = self._now().machine
        out = {group: _known({key: (m.get(group) or m).get(name) for key, name in names.items()})
               for group, names in _BOARD.items()}
        out["platform"]["Python"] = _platform.python_version()
        return out

    def _modes(self, core: str) -> Group:
        """user, nice, system and idle in %, of a core or of all."""
        values = self._now().values
        return _known({mode: values.get("%s.%s" % (core, mode)) for mode in ("user", "nice", "system", "idle")})

    @property
    def cpu(self) -> Dict[str, Any]:
        """total (user, nice, system, idle in %), and cpu: for each core online, governor, freq (min, max, cur in kHz),
        info_freq (the hardware's min, max), idle_state (by name: 1 if it is disabled), model, and what total has."""
        now, cores = self._now(), []
        clocks: Dict[int, Optional[float]] = {}
        for name, label in self._labels.items():  # a group of cores has one clock: "cpu0,3-5"
            if name.startswith("cpu") and name.endswith(".freq"):
                for first, last in _re.findall(r"(\d+)(?:-(\d+))?", label):
                    clocks.update(dict.fromkeys(range(int(first), int(last or first) + 1), now.values.get(name)))
        for core in now.about("cpu", "cores") or []:
            number = core["id"]
            entry = _known({"online": core.get("online"), "governor": core.get("governor")})
            if entry.get("online"):
                entry["freq"] = _known({"min": _khz(core.get("min_hz")), "max": _khz(core.get("max_hz")),
                                        "cur": _khz(clocks.get(number))})
                entry["info_freq"] = _known({"min": _khz(core.get("hardware_min_hz")),
                                             "max": _khz(core.get("hardware_max_hz"))})
                entry["idle_state"] = {state["name"]: int(state.get("disabled", False))
                                       for state in core.get("idle_states", [])}
                entry.update(self._modes("cpu%d" % number))
                entry.update(_known({"model": core.get("model")}))
            cores.append(entry)
        return {"total": self._modes("cpu"), "cpu": cores}

    @property
    def memory(self) -> Memory:
        """See Memory. used is what programs cannot get; cached is what the kernel would give back."""
        now, m = self._now(), self._now().machine.get("memory", {})
        value = now.values.get
        out = Memory()
        cached, buffers, block = value("ram.cached"), value("ram.buffers"), value("ram.largest_block", 0)
        out["RAM"] = _known({
            "tot": m.get("ram_total_kb"), "used": _whole(value("ram.used")), "free": _whole(value("ram.free")),
            "buffers": _whole(buffers),
            "cached": None if cached is None or buffers is None else round(cached - buffers),
            "shared": _whole(value("nvmap.used")),
            # The largest blocks are of 4 MB or more with bigger pages; none of 4 MB is free if they are smaller.
            "lfb": int(value("ram.largest_blocks", 0) * block // 4096) if block >= 4096 else 0 if block else None})
        out["SWAP"] = _known({
            "tot": _whole(value("swap.total")), "used": _whole(value("swap.used")),
            "cached": _whole(value("swap.cached"))})
        if "swaps" in m:
            out["SWAP"]["table"] = {swap["device"]: _known({
                "type": swap.get("type"), "prio": swap.get("priority"), "size": swap.get("size_kb"),
                "used": swap.get("used_kb")}) for swap in m["swaps"]}
        if value("emc.rate") is not None or value("emc.util") is not None:
            limits = [hz for hz in (now.about("memory", "emc", "max_hz"), value("emc.cap")) if hz]
            out["EMC"] = _known({
                "online": None if value("emc.rate") is None else bool(value("emc.rate")),
                "val": _whole(value("emc.util")),
                "cur": _khz(value("emc.rate")), "max": _khz(min(limits)) if limits else None,
                "min": _khz(now.about("memory", "emc", "min_hz"))})
        if "iram_total_kb" in m:
            out["IRAM"] = _known({"tot": m["iram_total_kb"], "used": m.get("iram_used_kb")})
        return out

    @property
    def gpu(self) -> GPU:
        """See GPU. The governor and what follows are of the first one."""
        now, out = self._now(), GPU()
        for signal in self._labels:
            match = _re.match(r"(gpu\d*)\.util$", signal)
            if not match:
                continue
            first, value = not out, now.values.get
            about = now.machine.get("gpu", {}) if first else {}
            mask = about.get("tpc_mask")
            out[about.get("name", match.group(1))] = _known({
                "type": "integrated" if now.integrated else "discrete",
                "status": _known({"railgate": about.get("railgating"),
                                  "tpc_pg_mask": None if mask is None else bool(mask),
                                  "3d_scaling": about.get("scaling_3d"), "load": value(signal)}),
                "freq": _known({"governor": about.get("governor"), "min": _khz(about.get("min_hz")),
                                "max": _khz(about.get("max_hz")), "cur": _khz(value(match.group(1) + ".freq")),
                                "GPC": [_khz(hz) for hz in about["gpc_hz"]] if "gpc_hz" in about else None}),
                "power_control": about.get("power_control")})
        return out

    @property
    def engine(self) -> Dict[str, Dict[str, Group]]:
        """Groups of engines, in each the engines by name: online, min, max and cur in kHz."""
        now = self._now()
        about = {engine["name"]: engine for engine in now.machine.get("engines", [])}
        out: Dict[str, Dict[str, Group]] = {}
        for name, engine in about.items():
            base = name.rstrip("0123456789")
            out.setdefault(base if base in about else name, {})[name] = _known({
                "online": engine.get("on"), "min": _khz(engine.get("min_hz")), "max": _khz(engine.get("max_hz")),
                "cur": _khz(now.values.get(name + ".freq"))})
        return out

    @property
    def fan(self) -> Fan:
        """See Fan; all fans are in one entry, "pwmfan"."""
        now, out = self._now(), Fan()
        about, speed, rpm = now.machine.get("fan", {}), now.fans("pwm"), now.fans("rpm")
        if speed or rpm:
            out["pwmfan"] = _known({
                "speed": speed or None, "rpm": [round(r) for r in rpm] or None, "profile": about.get("profile"),
                "governor": about.get("governor"), "control": about.get("control")})
            out.__dict__.update(_known({
                "profiles": about.get("profiles"), "default profile": about.get("default_profile")}))
        return out

    @property
    def nvpmodel(self) -> Optional[NVPModel]:
        """See NVPModel; None without nvpmodel."""
        modes = self._now().machine.get("power_mode", {})
        return NVPModel(modes) if "current" in modes else None

    @nvpmodel.setter
    def nvpmodel(self, mode: Any) -> None:
        _set(_control.mode, _of_type(mode, int, str))

    @property
    def jetson_clocks(self) -> Optional[JetsonClocks]:
        """See JetsonClocks; None where there are no clocks to compare."""
        pinned = self._now().values.get("clocks.pinned")
        return None if pinned is None else JetsonClocks(pinned > 0)

    @jetson_clocks.setter
    def jetson_clocks(self, enable: Any) -> None:
        JetsonClocks(False).set_enable(enable)

    @property
    def power(self) -> Dict[str, Group]:
        """rail: for each rail online, volt (mV), curr (mA), power (mW), avg (mean mW of the last interval), warn and
        crit (limits in mA); tot: power and avg of the board, and the rest with a name where one rail measures it."""
        now, rails = self._now(), {}
        for about in now.machine.get("rails", []):
            name = about["name"]
            power = now.values.get(name + ".power")
            rails[name] = _known({
                "online": power is not None, "volt": _whole(now.values.get(name + ".voltage")),
                "curr": _whole(now.values.get(name + ".current")), "power": _whole(power),
                "avg": _whole(now.means.get(name + ".power")), "warn": about.get("warn_ma"),
                "crit": about.get("crit_ma")})
        one = self._total[:-len(".power")] if self._total.endswith(".power") and " " not in self._total else ""
        total = dict(rails[one], name=one) if one in rails else {}
        total.update(_known({
            "power": _whole(now.values.get("power.total")), "avg": _whole(now.means.get("power.total"))}))
        return {"rail": rails, "tot": total}

    @property
    def temperature(self) -> Dict[str, Group]:
        """By sensor: online, temp, max and crit (limits). One that is powered down has no temp."""
        now = self._now()
        return {name[len("temp."):]: _known({"online": name in now.values, "temp": now.values.get(name),
                                             "max": limits[0], "crit": limits[1]})
                for name, limits in self._limits.items() if name != "temp.hottest"}

    @property
    def processes(self) -> List[List[Any]]:
        """Those that use the GPU, each a list: pid, user, "I" (integrated) or "d0", type, priority, state, CPU in %,
        memory and GPU memory in kB, name; None: not known. Also empty where the driver does not tell."""
        now = self._now()
        kinds = {"user": "Graphic", "graphics": "Graphic", "compute": "Compute"}
        gpu = "I" if now.integrated else "d0"
        return [[p.get("pid"), p.get("user"), gpu, kinds.get(p.get("type", "")), p.get("priority"), p.get("state"),
                 p.get("cpu_percent"), p.get("rss_kb"), p.get("gpu_kb"), p.get("name")]
                for p in now.machine.get("processes", [])]

    @property
    def disk(self) -> Dict[str, float]:
        """total, used, available and available_no_root (to users without privileges) of / in GB (1024 ** 3 bytes)."""
        for disk in self._now().machine.get("disks", []):
            if disk.get("mount") == "/":
                total, used = disk["total_bytes"] / 1024 ** 3, disk["used_bytes"] / 1024 ** 3
                return {"total": total, "used": used, "available": total - used,
                        "available_no_root": disk["available_bytes"] / 1024 ** 3}
        return {}

    @property
    def local_interfaces(self) -> Group:
        """hostname, and interfaces: an address, IPv4 if there is one, by name."""
        m = self._now().machine
        addresses: Dict[str, str] = {}
        for i in m.get("interfaces", []):
            if i["name"] not in addresses or ("." in i["address"] and ":" in addresses[i["name"]]):
                addresses[i["name"]] = i["address"]
        return _known({"hostname": m.get("hostname"), "interfaces": addresses})

    @property
    def uptime(self) -> Optional[_datetime.timedelta]:
        """Since the start of the machine."""
        return self._now().uptime

    @property
    def stats(self) -> Group:
        """The values in one flat dictionary: time, uptime, CPU1 ... (%, "OFF"), RAM, SWAP and IRAM (0 .. 1), EMC and
        GPU (%), each engine (kHz, "OFF"), Fan (%), Temp, Power and Power TOT (mW), jetson_clocks ("ON",
        "OFF"), nvp model.

        What has no value at start() is not in it until the next one, so that a table of these has fixed columns."""
        one = _copy.copy(self)  # which keeps its look while the thread goes on
        now, memory, power = one._now(), one.memory, one.power
        out: Group = {"time": now.time, "uptime": now.uptime}
        for i, core in enumerate(one.cpu["cpu"]):
            number = now.machine["cpu"]["cores"][i]["id"]
            load = _whole(now.values.get("cpu%d.util" % number))
            out["CPU%d" % (number + 1)] = "OFF" if core.get("online") is False else load
        for name in ("RAM", "SWAP", "IRAM"):
            kind = memory.get(name, {})
            out[name] = kind["used"] / kind["tot"] if "used" in kind and kind.get("tot") else None
        out["EMC"] = memory.get("EMC", {}).get("val")
        out["GPU"] = next((gpu["status"].get("load") for gpu in one.gpu.values()), None)
        for group in one.engine.values():
            out.update((name, "OFF" if e.get("online") is False else e.get("cur")) for name, e in group.items())
        for name, fan in one.fan.items():
            out.update(("Fan %s%d" % (name, i), speed) for i, speed in enumerate(fan.get("speed", [])))
        out.update(("Temp " + name, sensor.get("temp")) for name, sensor in one.temperature.items())
        out.update(("Power " + name, rail.get("power")) for name, rail in power["rail"].items())
        out["Power TOT"] = power["tot"].get("power")
        clocks, mode = one.jetson_clocks, one.nvpmodel
        out["jetson_clocks"] = None if clocks is None else "ON" if clocks else "OFF"
        out["nvp model"] = None if mode is None else mode.name
        return {key: value for key, value in out.items()
                if value is not None and (self._keys is None or key in self._keys)}

    def json(self, stats: bool = False, **json_args: Any) -> str:
        """All properties as JSON, or stats; json_args are those of json.dumps(). Times are texts."""
        names = ("board", "cpu", "memory", "gpu", "engine", "fan", "nvpmodel", "jetson_clocks", "power", "temperature",
                 "processes", "disk", "local_interfaces", "uptime", "interval")
        one = _copy.copy(self)
        what = one.stats if stats else {"time": one._now().time, **{name: getattr(one, name) for name in names}}
        json_args.setdefault("default", str)
        return _json.dumps(what, **json_args)
