"""Record NVIDIA Jetson boards, read the traces, and have values and joules now.

    import nvmtop

    with nvmtop.Live() as b:                        # values of now
        print(b["gpu.util"], b["gpu.util"].unit)
        with b.window() as w:                       # the energy of a block
            infer(model)
        print(w.joules, "+-", w.joules_within, "J in", w.seconds, "s")

    with nvmtop.Recorder("run.nvmt") as r:          # a file, in phases
        r.sync("load")
        model = load()
        r.sync("infer")
        infer(model)

    t = nvmtop.read_trace("run.nvmt")
    t["gpu.util"]                                   # any signal, nan where it was not read
    t.energy("infer").joules
    print(t.report())

Values are in the unit that .signals[name].unit says: %, Hz, kB (1024 bytes), mV, mA, mW, C, rpm, J, B/s. Energy is in
joules, power of windows and reports in watts, times are in seconds. A value that is missing is nan, never 0, and there
is a reason. Errors are NvmtopError.

libnvmtop does the work, on its own threads. The environment variable NVMTOP_LIBRARY names its file where the module
does not find it.
"""

import array as _array
import bisect as _bisect
import ctypes as _c
import importlib as _importlib
import os as _os
import struct as _struct
import sys as _sys
import types as _types
import weakref as _weakref
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple, Type, Union

_np: Any = None
if _os.environ.get("NVMTOP_NUMPY") != "no":
    try:
        _np = _importlib.import_module("numpy")
    except ImportError:
        pass

__version__ = "0.2.0"  # of nvmtop as a whole: configure.ac reads this line, too
__all__ = ["Live", "Value", "Window", "Energy", "measure", "measured", "Recorder", "read_trace", "Trace", "Report",
           "Usage", "Fast", "Medium", "Slow", "Epoch", "Signal", "Ranges", "Range", "detect_board", "version",
           "NvmtopError", "FAILED", "USAGE", "DAMAGED"]

_API = 203
_POWER = 2**64 - 2
_NAN = float("nan")
FAILED, USAGE, DAMAGED = 1, 2, 3

AnyPath = Union[str, bytes, "_os.PathLike[str]"]
Column = Any  # numpy.ndarray where NumPy is installed, otherwise array.array, or a list of them


class NvmtopError(Exception):
    """A sentence that describes the problem and what to do; .code is FAILED, USAGE or DAMAGED.

    If the system reported an error it is also an OSError, of the subclass for its .errno
    (FileNotFoundError, FileExistsError, PermissionError, ...).
    """

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code

    def __str__(self) -> str:
        return str(self.args[-1])


_kinds: Dict[type, Any] = {}


def _error(code: int, text: str, number: int) -> NvmtopError:
    if not number:
        return NvmtopError(code, text)
    kind: Any = type(OSError(number, ""))
    if kind not in _kinds:
        # OSError takes its own arguments in __new__, so it comes first.
        _kinds[kind] = type("NvmtopError", (kind, NvmtopError), {
            "__module__": __name__, "__str__": NvmtopError.__str__,
            "__init__": lambda self, *args: kind.__init__(self, *args)})
    e: NvmtopError = _kinds[kind](number, text)
    e.code = code
    return e


class _Error(_c.Structure):
    _fields_ = [("size", _c.c_size_t), ("code", _c.c_int), ("number", _c.c_int), ("text", _c.c_char * 768)]

    def __init__(self) -> None:
        super().__init__(_c.sizeof(_Error))

    def exception(self) -> NvmtopError:
        return _error(self.code, self.text.decode("utf-8", "replace"), self.number)


class _Options(_c.Structure):
    _fields_ = [("size", _c.c_size_t), ("board", _c.c_char_p), ("sysroot", _c.c_char_p),
                ("fast_hz", _c.c_double), ("medium_hz", _c.c_double), ("slow_hz", _c.c_double),
                ("force", _c.c_int), ("gentle", _c.c_int), ("marks", _c.c_int)]


class _Header(_c.Structure):
    _fields_ = [("size", _c.c_size_t), ("board", _c.c_char * 33),
                ("cores", _c.c_uint32), ("rails", _c.c_uint32), ("zones", _c.c_uint32), ("emc", _c.c_int),
                ("hz", _c.c_double * 3), ("rows", _c.c_uint64 * 3), ("marks", _c.c_uint64),
                ("duration_s", _c.c_double), ("start_real_ns", _c.c_int64),
                ("rail_name", (_c.c_char * 25) * 8), ("zone_name", (_c.c_char * 25) * 16)]


class _Epoch(_c.Structure):
    _fields_ = [("size", _c.c_size_t), ("id", _c.c_uint64), ("first", _c.c_uint64), ("n", _c.c_uint64),
                ("start_s", _c.c_double), ("end_s", _c.c_double), ("label", _c.c_char * 64)]


class _Signal(_c.Structure):
    _fields_ = [("size", _c.c_size_t), ("tier", _c.c_int), ("name", _c.c_char * 48), ("label", _c.c_char * 32),
                ("unit", _c.c_char * 8), ("source", _c.c_char * 160), ("note", _c.c_char * 96),
                ("missing", _c.c_char * 200), ("column", _c.c_int), ("period_s", _c.c_double),
                ("window_s", _c.c_double), ("age_s", _c.c_double)]


class _Value(_c.Union):
    _fields_ = [("u", _c.c_uint64), ("i", _c.c_int64), ("d", _c.c_double)]


class _Range(_c.Structure):
    _fields_ = [("size", _c.c_size_t), ("begin_s", _c.c_double), ("end_s", _c.c_double),
                ("name", _c.c_char_p), ("domain", _c.c_char_p), ("category", _c.c_char_p), ("process", _c.c_char_p),
                ("thread", _c.c_char_p), ("pid", _c.c_uint32), ("tid", _c.c_uint32), ("colour", _c.c_uint32),
                ("depth", _c.c_uint32), ("open", _c.c_int), ("payload", _c.c_int), ("value", _Value)]


def _candidates() -> List[str]:
    """Where the library may be: beside the module, in the build tree of these sources, where
    make install put both, where the system looks, and where it looks only after ldconfig."""
    name = "libnvmtop.so.1"
    here = _os.path.dirname(_os.path.realpath(__file__))
    site = _os.path.dirname(here)
    above = _os.path.dirname(site)
    folders = [here]
    if _os.path.exists(_os.path.join(site, "pyproject.toml")):
        folders.append(above)
    elif _os.path.basename(above).startswith("python"):  # PREFIX/lib/python3.8/site-packages
        lib = _os.path.dirname(above)
        folders += [lib, _os.path.join(lib, getattr(_sys.implementation, "_multiarch", ""))]
    return [_os.path.join(f, name) for f in folders] + [name, "/usr/local/lib/" + name]


def _load() -> _c.CDLL:
    asked = _os.environ.get("NVMTOP_LIBRARY")
    if asked:
        try:
            return _c.CDLL(asked)
        except OSError as e:
            raise ImportError("NVMTOP_LIBRARY is not a library that can be loaded: %s" % e) from None
    broken: Optional[OSError] = None
    for name in _candidates():
        try:
            lib = _c.CDLL(name)
        except OSError as e:
            # It is not there, or it is and cannot be used: then the system names what is missing.
            there = _os.path.exists(name) if "/" in name else not str(e).startswith(name)
            broken = broken or (e if there else None)
            continue
        boards = _os.path.join(_os.path.dirname(name), "boards")
        if "/" in name and _os.path.isdir(boards):  # of a build tree, which need not be installed
            _os.environ.setdefault("NVMTOP_BOARDS", boards)
        return lib
    if broken:
        raise ImportError("libnvmtop is installed, but cannot be loaded: %s" % broken)
    raise ImportError("libnvmtop.so.1 was not found: install it (apt install libnvmtop1, or make install and ldconfig "
                      "in the sources of nvmtop), or set NVMTOP_LIBRARY to its file")


def _declare(lib: _c.CDLL) -> _c.CDLL:
    p, u64, i64 = _c.c_void_p, _c.c_uint64, _c.c_int64
    functions: Tuple[Tuple[str, Any, List[Any]], ...] = (
        ("detect_board", _c.c_int, [p, _c.c_size_t, p, _c.c_size_t, p, _c.c_size_t, p]),
        ("start", p, [_c.c_char_p, p, p]),
        ("wait_for_warmup", _c.c_int, [p, _c.c_int]),
        ("sync", u64, [p, _c.c_char_p]),
        ("sample_count", u64, [p]),
        ("is_running", _c.c_int, [p]),
        ("stop", _c.c_int, [p, p]),
        ("free", None, [p]),
        ("open", p, [_c.c_char_p, p]),
        ("close", None, [p]),
        ("get_header", _c.c_int, [p, p]),
        ("fast_rows", p, [p, p]),
        ("medium_rows", p, [p, p]),
        ("slow_rows", p, [p, p]),
        ("epochs", u64, [p, p, u64]),
        ("signals", u64, [p]),
        ("get_signal", _c.c_int, [p, u64, p]),
        ("values", u64, [p, u64, u64, u64, p]),
        ("energy", _c.c_double, [p, u64, _c.c_double, _c.c_double, p, p]),
        ("ranges_open", p, [p, _c.c_double, _c.c_double, p]),
        ("ranges_next", _c.c_int, [p, p]),
        ("ranges_close", None, [p]),
        ("live_open", i64, [p, p]),
        ("live_close", _c.c_int, [i64, p]),
        ("live_signals", u64, [i64]),
        ("live_describe", _c.c_int, [i64, i64, p]),
        ("live_read", _c.c_int, [i64, p, _c.c_size_t, p, p]),
        ("live_on_rows", _c.c_int, [i64, _c.c_int, p, p, p]),
        ("energy_begin", i64, [i64, p]),
        ("energy_end", _c.c_int, [i64]),
        ("energy_result", _c.c_int, [i64, i64, p, p]),
        ("energy_subtract", _c.c_int, [p, p]),
        ("energy_forget", _c.c_int, [i64]))
    try:
        has = lib.nvmtop_api_version()
        lib.nvmtop_version.restype = _c.c_char_p
    except AttributeError:
        raise ImportError("%s is not libnvmtop" % lib._name) from None
    if has // 100 != _API // 100 or has < _API:
        raise ImportError("%s, of nvmtop %s, is too %s for this module, of nvmtop %s: install both of one release" % (
            lib._name, lib.nvmtop_version().decode(), "old" if has < _API else "new", __version__))
    for name, result, arguments in functions:
        f = getattr(lib, "nvmtop_" + name)
        f.restype, f.argtypes = result, arguments
    return lib


_lib: _c.CDLL = _declare(_load())


def version() -> str:
    """The version of the library."""
    return str(_lib.nvmtop_version().decode())


def detect_board() -> Tuple[str, str, str]:
    """(name, title, why) of this machine: ("agx_orin", "Jetson AGX Orin", ...)."""
    buf = [_c.create_string_buffer(256) for _ in range(3)]
    e = _Error()
    if _lib.nvmtop_detect_board(buf[0], 256, buf[1], 256, buf[2], 256, _c.byref(e)) < 0:
        raise e.exception()
    name, title, why = (b.value.decode("utf-8", "replace") for b in buf)
    return name, title, why


def _text(text: object, what: str) -> str:
    """The library would end it at a NUL."""
    if "\0" in str(text):
        raise NvmtopError(USAGE, "%s must not have a NUL character: %r" % (what, text))
    return str(text)


def _file(path: AnyPath) -> bytes:
    name = _os.fsencode(path)
    if b"\0" in name:
        raise NvmtopError(USAGE, "the name of a file must not have a NUL character: %r" % (path,))
    return name


_Settings = Tuple[Optional[AnyPath], float, float, float, bool, Optional[AnyPath]]


def _options(board: Optional[AnyPath], fast_hz: float, medium_hz: float, slow_hz: float, gentle: bool,
             sysroot: Optional[AnyPath], force: bool = False, marks: bool = False) -> _Options:
    return _Options(_c.sizeof(_Options), board and _file(board), sysroot and _file(sysroot), fast_hz, medium_hz,
                    slow_hz, force, gentle, marks)


_users: List[Any] = []  # references to the recorders and Lives of this process, in order of their start


def _joinable() -> Optional[_Settings]:
    """The settings of the newest of them that samples; None: nothing does."""
    _users[:] = [u for u in _users if u() is not None]
    for u in reversed(_users):
        user = u()
        if user is not None and user._is_open():
            settings: _Settings = user._settings
            return settings
    return None


class _Handle:
    """The result of nvmtop_start(). Another thread may be in a call with it when it is stopped and then still
    has a reference: the last one frees it."""

    free = staticmethod(_lib.nvmtop_free)

    def __init__(self, pointer: int) -> None:
        self.pointer, self.stopped = pointer, False

    def __del__(self) -> None:
        if self.stopped:
            self.free(self.pointer)


class Energy(NamedTuple):
    """The energy of a time: joules and joules_within, the bound of their error for 95 % (nan where they are not known);
    seconds, its length; known_s, for how long of it power is known."""

    joules: float
    joules_within: float
    seconds: float
    known_s: float

    @property
    def watts(self) -> float:
        """Mean power in W over the time for which it is known."""
        return self.joules / self.known_s if self.known_s else _NAN


class Recorder:
    """Records to a file from start() to stop(), or while a with block runs.

    board           a name, or a board file; None: the board of this machine
    fast_hz, medium_hz, slow_hz     samples a second; 0: 1000, 100 and 10
    force           replace an existing recording
    gentle          read the GPU less than twice a second, so that it can power down
    sysroot         read all kernel files below this folder
    warmup          s that start() waits at most until every signal has a value
    marks           accept the marks of other programs: nvmtop mark and <nvmtop/mark.h>
    """

    def __init__(self, path: "AnyPath", board: "Optional[AnyPath]" = None, fast_hz: float = 0, medium_hz: float = 0,
                 slow_hz: float = 0, force: bool = False, gentle: bool = False, sysroot: "Optional[AnyPath]" = None,
                 warmup: float = 5.0, marks: bool = False) -> None:
        self._path = _file(path)
        self._settings: _Settings = (board, fast_hz, medium_hz, slow_hz, gentle, sysroot)
        self._options = _options(*self._settings, force, marks)
        self._warmup = warmup
        self._r: Optional[_Handle] = None
        self._samples = 0

    def start(self) -> "Recorder":
        """Begin to record, and wait as long as warmup says for the first values of all signals."""
        if self._r:
            raise NvmtopError(USAGE, "this recorder is already running")
        e = _Error()
        pointer = _lib.nvmtop_start(self._path, _c.byref(self._options), _c.byref(e))
        if not pointer:
            raise e.exception()
        self._r, self._samples = _Handle(pointer), 0
        _users.append(_weakref.ref(self))
        if self._warmup:
            self.wait_for_warmup(self._warmup)
        return self

    def _running(self) -> _Handle:
        r = self._r
        if not r:
            raise NvmtopError(USAGE, "this recorder is not running")
        return r

    def wait_for_warmup(self, timeout: float = -1) -> bool:
        """Wait at most timeout seconds (below 0: no limit); True if every signal has a value."""
        r = self._running()
        return bool(_lib.nvmtop_wait_for_warmup(r.pointer, -1 if timeout < 0 else int(timeout * 1000)))

    def sync(self, label: Optional[str] = None) -> int:
        """Start a new phase (epoch) now; returns its id: 1, 2, 3, ..."""
        self._running()
        return self._mark("" if label is None else _text(label, "a label"))

    def _mark(self, label: str) -> int:
        r = self._r
        return int(_lib.nvmtop_sync(r.pointer, label.encode())) if r else 0

    def _is_open(self) -> bool:
        return self.is_running

    @property
    def sample_count(self) -> int:
        """Number of fast samples so far, or in the file after the recording has ended."""
        r = self._r
        return int(_lib.nvmtop_sample_count(r.pointer)) if r else self._samples

    @property
    def is_running(self) -> bool:
        """Whether it records: False before start() and after stop()."""
        r = self._r
        return bool(r and _lib.nvmtop_is_running(r.pointer))

    def stop(self) -> None:
        """End the recording; the file is then complete and on the disk."""
        r, self._r = self._running(), None
        e = _Error()
        status = _lib.nvmtop_stop(r.pointer, _c.byref(e))
        self._samples = _lib.nvmtop_sample_count(r.pointer)
        r.stopped = True
        del r
        if status < 0:
            raise e.exception()

    def __enter__(self) -> "Recorder":
        return self if self._r else self.start()

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 traceback: Optional[_types.TracebackType]) -> None:
        if not self._r:
            return
        try:
            self.stop()
        except NvmtopError:
            # Do not replace the exception of the block itself.
            if kind is None:
                raise


class _Columns:
    _layout: Tuple[Tuple[str, str, int], ...] = ()  # of a row: name, type, slots (0: a plain field)
    time_s: Column

    def __init__(self, fields: Dict[str, Any]) -> None:
        self._fields = tuple(fields)
        self.__dict__.update(fields)

    def __len__(self) -> int:
        return len(self.time_s)

    def __repr__(self) -> str:
        return "<%d samples: %s>" % (len(self), ", ".join(self._fields))


class Fast(_Columns):
    """The fast samples, a column for each field:

    time_s          since the start
    gpu_load        tenths of a percent; repeats the last one where it was not read
    cpu_util        %, one slot per core
    cpu_aggregate   %
    ram_used_kb, ram_available_kb
    emc_util        %, -1: not available
    epoch           the id of each sample's
    """

    _layout = (("time_s", "d", 0), ("gpu_load", "H", 0), ("cpu_util", "f", 16), ("cpu_aggregate", "f", 0),
               ("ram_used_kb", "Q", 0), ("ram_available_kb", "Q", 0), ("emc_util", "f", 0))
    gpu_load: Column
    cpu_util: Column
    cpu_aggregate: Column
    ram_used_kb: Column
    ram_available_kb: Column
    emc_util: Column
    epoch: Column


class Medium(_Columns):
    """The medium samples: time_s, and voltage_mv, current_ma and power_mw with one slot per rail."""

    _layout = (("time_s", "d", 0), ("voltage_mv", "I", 8), ("current_ma", "I", 8), ("power_mw", "f", 8))
    voltage_mv: Column
    current_ma: Column
    power_mw: Column


class Slow(_Columns):
    """The slow samples: time_s, and temp_c with one slot per zone."""

    _layout = (("time_s", "d", 0), ("temp_c", "f", 16))
    temp_c: Column


_NUMPY = {"d": "<f8", "H": "<u2", "f": "<f4", "Q": "<u8", "I": "<u4"}


def _read_numpy(data: Any, layout: Tuple[Tuple[str, str, int], ...], used: int) -> Dict[str, Any]:
    dtype = _np.dtype([(n, _NUMPY[t], (s,)) if s else (n, _NUMPY[t]) for n, t, s in layout])
    rows = _np.frombuffer(data, dtype)
    # Copies: they outlive the file, and lie one value beside the next.
    return {n: _np.ascontiguousarray(rows[n][:, :used] if s else rows[n]) for n, t, s in layout}


def _read_plain(data: Any, layout: Tuple[Tuple[str, str, int], ...], used: int) -> Dict[str, Any]:
    row = _struct.Struct("<" + "".join("%d%s" % (s or 1, t) for n, t, s in layout))
    out: Dict[str, Any] = {}
    at, slots = {}, 0
    for n, t, s in layout:
        out[n] = [_array.array(t) for _ in range(used)] if s else _array.array(t)
        at[n] = slots
        slots += s or 1
    for values in row.iter_unpack(data):
        for n, _, s in layout:
            if s:
                for i in range(used):
                    out[n][i].append(values[at[n] + i])
            else:
                out[n].append(values[at[n]])
    return out


def _tier(t: int, rows: Any, layout: Tuple[Tuple[str, str, int], ...], used: int) -> Dict[str, Any]:
    n = _c.c_uint64()
    at = rows(t, _c.byref(n))
    size = _struct.calcsize("<" + "".join("%d%s" % (s or 1, k) for _, k, s in layout))
    data: Any = (_c.c_char * (size * n.value)).from_address(at) if at else b""
    return (_read_numpy if _np else _read_plain)(data, layout, used)


class Epoch:
    """A phase, from one sync mark to the next: id, label, start_s, end_s (since the start), and the fast samples
    first .. first + n - 1."""

    def __init__(self, e: _Epoch) -> None:
        self.id: int = e.id
        self.first: int = e.first
        self.n: int = e.n
        self.start_s: float = e.start_s
        self.end_s: float = e.end_s
        self.label: str = e.label.decode("utf-8", "replace")

    def __repr__(self) -> str:
        return "<epoch %d%s: %.3f s, %d samples>" % (self.id, self.label and " " + repr(self.label),
                                                     self.end_s - self.start_s, self.n)


class Signal:
    """Description of a signal: name, label, unit, tier ("fast", "medium" or "slow"), source (the kernel file), note,
    and missing, the reason if it has no value. column: its place in a row; period_s: how often it has a new value;
    window_s: each is the mean over this time (0: of its moment, nan: unknown), which ended age_s before."""

    name: str
    label: str
    unit: str
    tier: str
    source: str
    note: str
    missing: str
    column: int
    period_s: float
    window_s: float
    age_s: float

    def __init__(self, s: _Signal, number: int) -> None:
        self._number = number
        self.tier = ("fast", "medium", "slow")[s.tier]
        for field in ("name", "label", "unit", "source", "note", "missing"):
            setattr(self, field, getattr(s, field).decode("utf-8", "replace"))
        self.column, self.period_s, self.window_s, self.age_s = s.column, s.period_s, s.window_s, s.age_s

    def __repr__(self) -> str:
        return "<signal %s%s, %s>" % (self.name, self.unit and " in " + self.unit, self.missing or self.tier)


class Range(NamedTuple):
    """A range of time that a program marked with NVTX: begin and end in seconds since the start, depth (0:
    outermost) within its domain ("": the default one) and thread; colour (ARGB) and payload or None; open: it never
    ended; category ("": none)."""

    begin: float
    end: float
    name: str
    domain: str
    thread: str
    depth: int
    process: str
    pid: int
    tid: int
    colour: Optional[int]
    payload: Union[int, float, None]
    open: bool
    category: str


class Ranges:
    """The ranges of a trace, in order of their begin; they are read from the file while they are iterated over."""

    def __init__(self, trace: "Trace") -> None:
        self._trace = trace

    def __iter__(self) -> Iterator[Range]:
        return self.between(0, float("inf"))

    def between(self, begin: float, end: float) -> Iterator[Range]:
        """Those that touch this part of the time, in seconds since the start."""
        trace, r, e = self._trace, _Range(_c.sizeof(_Range)), _Error()
        order = _lib.nvmtop_ranges_open(trace._open(), begin, end, _c.byref(e))
        if not order:
            raise e.exception()
        try:
            while trace._open() and _lib.nvmtop_ranges_next(order, _c.byref(r)) > 0:
                words = (w.decode("utf-8", "replace") for w in (r.name, r.domain, r.thread, r.process, r.category))
                name, domain, thread, process, category = words
                yield Range(r.begin_s, r.end_s, name, domain, thread, r.depth, process, r.pid, r.tid, r.colour or None,
                            (None, r.value.u, r.value.i, r.value.d)[r.payload], bool(r.open), category)
        finally:
            _lib.nvmtop_ranges_close(order)


class Usage(NamedTuple):
    """What a phase used: id (-1: of the whole trace) and label, start_s and end_s since the start, joules and
    joules_within (the bound of their error for 95 %), mean watts and gpu_percent, hottest_c (the highest temperature,
    in C); nan: not known."""

    id: int
    label: str
    start_s: float
    end_s: float
    joules: float
    joules_within: float
    watts: float
    gpu_percent: float
    hottest_c: float


class Report(NamedTuple):
    """The Usage of the phases of a trace, and of all of it. pandas.DataFrame(report.phases) is a table, too."""

    phases: List[Usage]
    whole: Usage

    def __str__(self) -> str:
        rows = [("%d %s" % (u.id, u.label) if u.id >= 0 else u.label, u) for u in [*self.phases, self.whole]]
        wide = max(len(name) for name, _ in rows)
        heads = ("phase", "from s", "to s", "J", "+- J", "mean W", "GPU %", "max C")
        lines = ["%-*s %9s %9s %9s %8s %7s %6s %6s" % (wide, *heads)]
        for name, u in rows:
            numbers = "%9.3f %9.3f %9.2f %8.2f %7.2f %6.2f %6.2f" % u[2:]
            lines.append("%-*s " % (wide, name) + numbers.replace("nan", " --"))
        return "\n".join(lines)


class Trace:
    """A trace, as read_trace() returns it. Its rows of version 1 are in memory; other signals are read from the file
    when asked for.

    board, rails, zones (names), cores, hz (fast, medium, slow), duration_s, start_real_ns (0: not known),
    emc_available, damage (None, or a sentence), epochs (an Epoch for each phase), and the tiers:
    fast, medium, slow: see Fast, Medium and Slow; each column is a NumPy array where NumPy is installed, otherwise an
        array.array. A column with several slots (one per core, rail or zone) has two dimensions (time, slot) in
        NumPy, and otherwise is a list of arrays, one per slot.
    signals: a Signal for each name

    t["gpu.util"] are the values of a signal at the samples of its tier, in its unit, and NaN where it was not
    read: also what version 1 has no field for, and a GPU load that repeats the one before because it is missing.

    ranges: each Range that a program marked with NVTX, and ranges.between(begin, end)
    """

    def __init__(self, path: "AnyPath") -> None:
        e, h = _Error(), _Header(_c.sizeof(_Header))
        t: Optional[int] = _lib.nvmtop_open(_file(path), _c.byref(e))
        if not t:
            raise e.exception()
        self._handle: Optional[int] = t
        self._close = _weakref.finalize(self, _lib.nvmtop_close, t)
        if _lib.nvmtop_get_header(t, _c.byref(h)) < 0:
            raise NvmtopError(USAGE, "libnvmtop is of another version than this module")
        self.board: str = h.board.decode("utf-8", "replace")
        self.cores: int = h.cores
        self.hz: Tuple[float, float, float] = (h.hz[0], h.hz[1], h.hz[2])
        self.rails = _names(h.rail_name, h.rails)
        self.zones = _names(h.zone_name, h.zones)
        self.emc_available = bool(h.emc)
        self.duration_s: float = h.duration_s
        self.start_real_ns: int = h.start_real_ns
        self.damage: Optional[str] = e.text.decode("utf-8", "replace") if e.code else None
        self.epochs = _epochs(t)
        self.signals = _signals(t)
        fast = _tier(t, _lib.nvmtop_fast_rows, Fast._layout, self.cores)
        fast["epoch"] = _epoch_column(self.epochs)
        self.fast = Fast(fast)
        self.medium = Medium(_tier(t, _lib.nvmtop_medium_rows, Medium._layout, h.rails))
        self.slow = Slow(_tier(t, _lib.nvmtop_slow_rows, Slow._layout, h.zones))

    def _open(self) -> int:
        if not self._handle:
            raise NvmtopError(USAGE, "this trace is closed")
        return self._handle

    @property
    def ranges(self) -> Ranges:
        """The ranges that programs marked with NVTX."""
        return Ranges(self)

    def __getitem__(self, name: str) -> Column:
        signal = self.signals[name]
        handle = self._open()
        n = len(getattr(self, signal.tier))
        out = _np.empty(n) if _np else _array.array("d", bytes(8 * n))
        got = _lib.nvmtop_values(handle, signal._number, 0, n, out.ctypes.data if _np else out.buffer_info()[0])
        return out[:got]

    def _times(self, tier: str) -> Column:
        return getattr(self, tier).time_s

    def phase(self, phase: Union[int, str]) -> Epoch:
        """The phase with this id or label. KeyError: there is none. NvmtopError, USAGE: several have this label."""
        found = [e for e in self.epochs if phase in (e.id, e.label)]
        if not found:
            raise KeyError(phase)
        if len(found) > 1:
            raise NvmtopError(USAGE, "%d phases have the label %r: give one of .epochs" % (len(found), phase))
        return found[0]

    def energy(self, phase: Union[None, int, str, Epoch] = None, signal: Optional[str] = None,
               start_s: Optional[float] = None, end_s: Optional[float] = None) -> Energy:
        """The energy of a phase (an Epoch, its id or its label), of the whole trace, or of a part of these times, in s
        since the start.

        signal          a power signal; None: the total power; without one, the only power signal, or GPUs and
                        processors together
        """
        begin, end = 0.0, self.duration_s
        if phase is not None:
            epoch = phase if isinstance(phase, Epoch) else self.phase(phase)
            begin, end = epoch.start_s, epoch.end_s
        begin, end = begin if start_s is None else start_s, end if end_s is None else end_s
        within, known = _c.c_double(), _c.c_double()
        number = _POWER if signal is None else self.signals[signal]._number
        joules = _lib.nvmtop_energy(self._open(), number, begin, end, _c.byref(within), _c.byref(known))
        return Energy(joules, within.value, end - begin, known.value)

    def report(self) -> "Report":
        """The Usage of each phase and of the whole trace; its str() is a table."""
        phases = [self._usage(e.id, e.label, e.start_s, e.end_s) for e in self.epochs]
        return Report(phases, self._usage(-1, "whole", 0, self.duration_s))

    def _usage(self, number: int, label: str, begin: float, end: float) -> "Usage":
        energy = self.energy(None, None, begin, end)
        gpu = self._known("gpu.util", begin, end)
        hottest = self._known("temp.hottest", begin, end)
        return Usage(number, label, begin, end, energy.joules, energy.joules_within, energy.watts,
                     float(sum(gpu)) / len(gpu) if len(gpu) else _NAN, float(max(hottest, default=_NAN)))

    def _known(self, name: str, begin: float, end: float) -> Column:
        """The values of a part of the time that are not missing; the last phase ends with the last row."""
        if name not in self.signals:
            return []
        times = self._times(self.signals[name].tier)
        last = len(times) if end >= self.duration_s else _bisect.bisect_left(times, end)
        values = self[name][_bisect.bisect_left(times, begin):last]
        return values[values == values] if _np else [v for v in values if v == v]

    def to_pandas(self, tier: str = "fast") -> Any:
        """A pandas.DataFrame of all signals of a tier ("fast", "medium" or "slow"): a row for each sample, by time_s
        since the start, a column for each signal in its unit (.attrs["units"]), nan where it was not read, and phase,
        the id of each row's. ImportError: pandas is not installed."""
        pandas, numpy = _importlib.import_module("pandas"), _importlib.import_module("numpy")
        if tier not in ("fast", "medium", "slow"):
            raise NvmtopError(USAGE, "there is no tier %r: fast, medium or slow" % tier)
        times = numpy.array(self._times(tier))
        starts = numpy.searchsorted([e.start_s for e in self.epochs], times, "right")
        columns = {"phase": numpy.array([e.id for e in self.epochs])[numpy.maximum(starts, 1) - 1]}
        chosen = [s for s in self.signals.values() if s.tier == tier]
        columns.update((s.name, self[s.name]) for s in chosen)
        frame = pandas.DataFrame(columns, index=pandas.Index(times, name="time_s"))
        frame.attrs["units"] = {s.name: s.unit for s in chosen}
        return frame

    def close(self) -> None:
        """Close the file; columns already read stay valid. Also done with the last reference."""
        self._handle = None
        self._close()


def _names(field: Any, n: int) -> List[str]:
    return [field[i].value.decode("utf-8", "replace") for i in range(n)]


def _epochs(t: int) -> List[Epoch]:
    n = _lib.nvmtop_epochs(t, None, 0)
    found = (_Epoch * n)()
    found[0].size = _c.sizeof(_Epoch)
    _lib.nvmtop_epochs(t, found, n)
    return [Epoch(e) for e in found]


def _signals(t: int) -> Dict[str, Signal]:
    found = {}
    s = _Signal(_c.sizeof(_Signal))
    for i in range(_lib.nvmtop_signals(t)):
        if _lib.nvmtop_get_signal(t, i, _c.byref(s)) < 0:
            raise NvmtopError(USAGE, "libnvmtop is of another version than this module")
        about = Signal(s, i)
        found[about.name] = about
    return found


def _epoch_column(epochs: List[Epoch]) -> Column:
    if _np:
        return _np.repeat(_np.array([e.id for e in epochs], "<u8"), [e.n for e in epochs])
    column = _array.array("Q")
    for e in epochs:
        column.extend(_array.array("Q", [e.id]) * e.n)
    return column


def read_trace(path: "AnyPath") -> Trace:
    """Read a trace of any writer. Of a damaged trace the readable part is returned, and .damage describes the loss."""
    return Trace(path)


from .live import Live, Value, Window, measure, measured  # noqa: E402  (needs what is above)
