"""Values of now, and the joules between two moments; nvmtop.Live is the way in.

A window is a number of the library, which notes only times: so windows may overlap and nest, one may begin in one
thread and end in another, and a signal handler may use them. Nothing here holds a lock of Python while it works.
"""

import array
import collections
import contextlib
import ctypes as c
import functools
import inspect
import os
import threading
import time
import weakref
from typing import Any, Callable, Deque, Dict, Iterator, List, Optional, Sequence, Set, Tuple, TypeVar, Union, cast

from . import (FAILED, USAGE, AnyPath, Energy, NvmtopError, Recorder, Signal, _Error, _joinable, _lib, _options,
               _Settings, _Signal, _text, _users)

_TIERS = ("fast", "medium", "slow")
_BATCHES = 400      # of rows that wait for a reader: some 10 s
_CALLS = 10000      # windows that measured() has
_SETTLE = 256       # at each so many windows, those that nobody has asked for are finished to make room
_FULL = 3840        # of the 4096 that the library has
_NOT_OPEN = "this Live is not open: it was closed, or is of the process before fork()"

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])


class _Rail(c.Structure):
    _fields_ = [("signal", c.c_int64), ("joules", c.c_double), ("within", c.c_double), ("known_s", c.c_double),
                ("guessed_s", c.c_double), ("readings", c.c_uint64)]


class _Joules(c.Structure):
    _fields_ = [("size", c.c_size_t), ("seconds", c.c_double), ("joules", c.c_double), ("within", c.c_double),
                ("known_s", c.c_double), ("guessed_s", c.c_double), ("readings", c.c_uint64), ("total", c.c_int64),
                ("n", c.c_uint64), ("rail", _Rail * 32)]


class _Rows(c.Structure):
    _fields_ = [("tier", c.c_int), ("n", c.c_size_t), ("width", c.c_size_t), ("times", c.c_void_p),
                ("values", c.c_void_p)]


_ROWS_FN = c.CFUNCTYPE(None, c.c_void_p, c.POINTER(_Rows))


class Value(float):
    """A float: the value of a signal in its unit; nan if it is missing.

    name, unit      of the signal
    time            s of time.monotonic() at which it was read; nan: never
    missing         the reason if it is nan, otherwise ""
    """

    __slots__ = ("name", "unit", "time", "missing")
    name: str
    unit: str
    time: float
    missing: str

    def __new__(cls, value: float, name: str, unit: str, time: float, missing: str) -> "Value":
        v = super().__new__(cls, value)
        v.name, v.unit, v.time, v.missing = name, unit, time, missing
        return v

    def __getnewargs__(self) -> Any:
        return float(self), self.name, self.unit, self.time, self.missing


class _Reader:
    """One rows(): between the thread of the library, which must not wait, and its own."""

    def __init__(self) -> None:
        self.batches: "Deque[Tuple[int, array.array[int], array.array[float]]]" = collections.deque()
        self.ready = threading.Event()
        self.full = False

    def put(self, width: int, times: "array.array[int]", values: "array.array[float]") -> None:
        self.full = self.full or len(self.batches) >= _BATCHES
        if not self.full:
            self.batches.append((width, times, values))
        self.ready.set()


class Window:
    """The energy of a time, as Live.window() returns it: of a with block, or from begin() to end().

    While it runs its numbers are those up to now. After its end they are final; the first question waits until there
    is a reading of power after the end: some 10 ms on a Jetson, as long as a power signal has between two readings
    elsewhere. They can be asked for in any thread and after the Live was closed, but not in another process. With a
    baseline, what the machine uses anyway is subtracted.
    """

    __slots__ = ("name", "_live", "_handle", "_ended", "_joules", "_baseline", "_why", "__weakref__")

    def __init__(self, live: "Live", name: str, baseline: "Optional[Window]") -> None:
        self._handle: int = 0
        self.name = _text(name, "the name of a window")
        self._live, self._baseline, self._why = live, baseline, ""
        self._ended = 0.0
        self._joules: Optional[_Joules] = None

    def begin(self) -> "Window":
        """It begins now; once."""
        if self._handle:
            raise NvmtopError(USAGE, "this window has begun already: take another one")
        self._live._settle()
        e = _Error()
        self._handle = _lib.nvmtop_energy_begin(self._live._handle, c.byref(e))
        if not self._handle:
            raise e.exception()
        self._live._windows[self._handle] = weakref.ref(self)
        return self

    def end(self) -> None:
        """It ends now, unless it has ended: only the time is noted."""
        if not self._handle:
            raise NvmtopError(USAGE, "this window has not begun")
        if not self._ended:
            _lib.nvmtop_energy_end(self._handle)
            self._ended = time.monotonic()

    def __enter__(self) -> "Window":
        return self.begin()

    def __exit__(self, *exception: object) -> None:
        self.end()

    def __del__(self, forget: Any = _lib.nvmtop_energy_forget) -> None:  # at the end of Python there is no _lib
        if self._handle and not self._joules:
            self._live._windows.pop(self._handle, None)
            forget(self._handle)

    def _get(self, wait_ns: int = -1) -> _Joules:
        joules, e = self._joules, _Error()
        if joules:
            return joules
        if not self._handle:
            raise NvmtopError(USAGE, "this window has not begun")
        ended = self._ended
        joules = _Joules(c.sizeof(_Joules))
        if _lib.nvmtop_energy_result(self._handle, wait_ns if ended else 0, c.byref(joules), c.byref(e)) < 0:
            if self._joules:  # another thread was faster
                return self._joules
            raise e.exception()
        if joules.joules != joules.joules:
            self._why = self._live._why_no_power(joules)
        if self._baseline:
            if _lib.nvmtop_energy_subtract(c.byref(joules), c.byref(self._baseline._get())) < 0:
                raise NvmtopError(USAGE, "the baseline of this window has no duration")
            self._why = self._why or self._baseline._why
        if ended and wait_ns < 0:
            self._finish(joules)
        return joules

    def _finish(self, joules: _Joules) -> None:
        self._joules = joules
        self._live._windows.pop(self._handle, None)
        _lib.nvmtop_energy_forget(self._handle)

    @property
    def joules(self) -> float:
        """J of the whole machine as far as it is measured; nan: see missing."""
        return float(self._get().joules)

    @property
    def joules_within(self) -> float:
        """J: the bound of the error of joules for 95 %; nan: the window of a power reading is not known."""
        return float(self._get().within)

    @property
    def seconds(self) -> float:
        """Its length in s; waits for nothing."""
        return float(self._get(0).seconds)

    @property
    def watts(self) -> float:
        """Mean power in W over the time for which it is known."""
        return self.energy.watts

    @property
    def energy(self) -> Energy:
        """All of these in one tuple."""
        j = self._get()
        return Energy(j.joules, j.within, j.seconds, j.known_s)

    @property
    def rails(self) -> Dict[str, Energy]:
        """The energy of each power signal, by its name; of an input of the board and of what it feeds, too: they do not
        add up."""
        j, about = self._get(), self._live._about
        return {about[r.signal].name: Energy(r.joules, r.within, j.seconds, r.known_s) for r in j.rail[:j.n]}

    @property
    def missing(self) -> str:
        """Why joules is nan, otherwise ""."""
        return self._why if self._get().joules != self._get().joules else ""

    def __repr__(self) -> str:
        name = self.name and " " + repr(self.name)
        if not self._handle:
            return "<window%s, not begun>" % name
        j = self._get(0)
        numbers = "%.3f +- %.3f J in %.3f s" % (j.joules, j.within, j.seconds)
        return "<window%s: %s%s>" % (name, numbers, "" if self._ended else " so far")

    def __reduce__(self) -> Any:
        raise TypeError("a window is of one process: pass its numbers to another, such as window.energy")


class Live:
    """Values of now, and windows of energy, while a with block runs or from open() to close().

    hz              samples a second: of the fast tier, and the others no faster than that; or (fast, medium, slow);
                    1000, 100 and 10 where it is not given
    board           a name, or a board file; None: the board of this machine
    sysroot         read all kernel files below this folder
    gentle          read the GPU less than twice a second, so that it can power down

    One thread of the library samples for all Lives and recorders of the process that have the same options; a Live
    without any joins what samples already. Every function may be called from any thread and from signal handlers.
    After fork() a Live belongs to the parent: in the child it is an error (NvmtopError, USAGE) to use it, and
    another one can be opened.
    """

    def __init__(self, hz: Union[None, float, Sequence[float]] = None, board: Optional[AnyPath] = None,
                 sysroot: Optional[AnyPath] = None, gentle: bool = False) -> None:
        if hz is None:
            rates: Sequence[float] = (0, 0, 0)
        else:
            rates = hz if isinstance(hz, Sequence) else (hz, min(hz, 100), min(hz, 10))
        if len(rates) != 3:
            raise NvmtopError(USAGE, "hz is one number, or three: fast, medium and slow")
        self._settings: _Settings = (board, rates[0], rates[1], rates[2], gentle, sysroot)
        self._any = hz is None and board is None and sysroot is None and not gentle
        self._handle: int = 0
        self._pid: int = 0
        self._about: List[Signal] = []
        self._ids: Dict[str, int] = {}
        self._windows: "Dict[int, weakref.ref[Window]]" = {}
        self._recorders: List[Recorder] = []
        self._readers: Dict[str, List[_Reader]] = {}
        self._watched: Set[str] = set()
        self._callbacks: Dict[str, Any] = {}

    def open(self) -> "Live":
        """Begin to sample; once. Returns when there are values, after 1 s at most."""
        if self._pid:
            raise NvmtopError(USAGE, "a Live is opened once: make another one")
        e = _Error()
        chosen = _joinable() if self._any else self._settings
        self._settings = chosen or self._settings
        handle = _lib.nvmtop_live_open(c.byref(_options(*chosen)) if chosen else None, c.byref(e))
        if not handle:
            raise e.exception()
        self._handle, self._pid = handle, os.getpid()
        self._finalize = weakref.finalize(self, _close, handle, self._callbacks)
        self._about = [self._describe(i) for i in range(_lib.nvmtop_live_signals(handle))]
        self._ids = {s.name: i for i, s in enumerate(self._about)}
        _users.append(weakref.ref(self))
        return self

    def close(self) -> None:
        """End its windows, rows and recordings, and sampling unless another needs it. Windows keep their numbers."""
        if not self._is_open():
            self._handle = 0
            return
        for reference in list(self._windows.values()):
            window = reference()
            if window:
                window.end()
                with contextlib.suppress(NvmtopError):
                    window._get()
        self._handle = 0
        for reader in [r for readers in self._readers.values() for r in readers]:
            reader.ready.set()
        try:
            while self._recorders:
                recorder = self._recorders.pop()
                if recorder.is_running:
                    recorder.stop()
        finally:
            self._finalize()

    def __enter__(self) -> "Live":
        return self.open()

    def __exit__(self, kind: object, *exception: object) -> None:
        try:
            self.close()
        except NvmtopError:
            # Do not replace the exception of the block itself.
            if kind is None:
                raise

    def __reduce__(self) -> Any:
        raise TypeError("a Live is of one process: open another one there")

    def _is_open(self) -> bool:
        return self._handle != 0 and self._pid == os.getpid()

    def _describe(self, number: int) -> Signal:
        s = _Signal(c.sizeof(_Signal))
        if _lib.nvmtop_live_describe(self._handle, number, c.byref(s)) < 0:
            raise NvmtopError(USAGE, _NOT_OPEN)
        return Signal(s, number)

    @property
    def signals(self) -> Dict[str, Signal]:
        """A Signal for each name, with the reason if it has no value now."""
        return {name: self._describe(number) for name, number in self._ids.items()}

    def read(self, *names: str) -> Dict[str, Value]:
        """The newest Value of these signals, or of all, without waiting. KeyError: there is no such signal."""
        asked = names or tuple(self._ids)
        numbers = [self._ids[name] for name in asked]
        n = len(numbers)
        values, times = (c.c_double * n)(), (c.c_int64 * n)()
        if _lib.nvmtop_live_read(self._handle, (c.c_int64 * n)(*numbers), n, values, times) < 0:
            raise NvmtopError(USAGE, _NOT_OPEN)
        return {name: self._value(numbers[i], values[i], times[i]) for i, name in enumerate(asked)}

    def _value(self, number: int, value: float, at: int) -> Value:
        about, why = self._about[number], ""
        if value != value:
            why = self._describe(number).missing or "it was not read this time"
        return Value(value, about.name, about.unit, at / 1e9 if at else float("nan"), why)

    def __getitem__(self, name: str) -> Value:
        """The newest value of a signal in its unit; nan, with the reason in .missing, if there is none, or if it is
        older than three of its periods (50 ms at least). KeyError: there is no such signal."""
        return self.read(name)[name]

    def rows(self, tier: str = "fast") -> Iterator[Tuple[float, Dict[str, float]]]:
        """Every row of a tier ("fast", "medium" or "slow") from this call on, some 40 to 65 ms after it was sampled:
        the time (s of time.monotonic()) and the value of each signal of the tier by its name, nan where one was not
        read. Iteration waits for the next one, and ends when the Live is closed. NvmtopError, FAILED: it was not
        asked for 10 s, and rows are lost."""
        columns = [(s.name, s.column) for s in self._about if s.tier == tier]
        if not columns or not self._is_open():
            raise NvmtopError(USAGE, "no signal has the tier %r" % tier if self._is_open() else _NOT_OPEN)
        rows = self._each(tier, columns)
        next(rows)  # so that it watches
        return rows

    def _each(self, tier: str, columns: List[Tuple[str, int]]) -> Iterator[Tuple[float, Dict[str, float]]]:
        reader, since_ns = _Reader(), time.monotonic() * 1e9
        readers = self._readers.setdefault(tier, [])
        readers.append(reader)
        try:
            self._watch(tier, readers)
            yield 0, {}
            while True:
                while reader.batches:
                    width, times, values = reader.batches.popleft()
                    for i, at in enumerate(times):
                        if at >= since_ns:
                            yield at / 1e9, {name: values[i * width + column] for name, column in columns}
                if reader.full:
                    raise NvmtopError(FAILED, "rows were not read for 10 s, and those that came since are lost")
                if self._pid != os.getpid():
                    raise NvmtopError(USAGE, _NOT_OPEN)
                if not self._handle:
                    return
                reader.ready.wait(1)
                reader.ready.clear()
        finally:
            readers.remove(reader)
            if not readers and self._is_open():
                _lib.nvmtop_live_on_rows(self._handle, _TIERS.index(tier), None, None, None)
                self._watched.discard(tier)
                if readers:  # of another thread, meanwhile
                    self._watch(tier, readers)

    def _watch(self, tier: str, readers: List[_Reader]) -> None:
        def deliver(_: Any, given: Any) -> None:
            r = given.contents
            times, values = array.array("q"), array.array("d")
            times.frombytes(c.string_at(r.times, 8 * r.n))
            values.frombytes(c.string_at(r.values, 8 * r.n * r.width))
            for reader in tuple(readers):
                reader.put(r.width, times, values)

        if tier in self._watched:
            return
        e, function = _Error(), self._callbacks.setdefault(tier, _ROWS_FN(deliver))
        if _lib.nvmtop_live_on_rows(self._handle, _TIERS.index(tier), function, None, c.byref(e)) < 0:
            raise e.exception()
        self._watched.add(tier)

    def window(self, name: str = "", baseline: Optional[Window] = None) -> Window:
        """A Window for a with block. baseline: one of the idle machine, whose mean power is subtracted from its joules
        (and the two bounds are added as those of independent errors)."""
        return Window(self, name, baseline)

    def _settle(self) -> None:
        """The library has a limited number of windows; those that ended a second ago have their final numbers."""
        n = len(self._windows)
        if n == 0 or n % _SETTLE:
            return
        now = time.monotonic()
        for reference in list(self._windows.values()):
            window = reference()
            if window and window._ended and (now - window._ended > 1 or n >= _FULL):
                window._finish(window._get(0))

    def _why_no_power(self, joules: _Joules) -> str:
        if not joules.n:
            return "there is no power signal"
        lost = [self._about[r.signal].name for r in joules.rail[:joules.n] if r.joules != r.joules]
        if not lost:
            return "no total: one power signal may be a part of another; rails has the joules of each"
        value = self[lost[0]]
        return "%s: %s" % (lost[0], value.missing or "it was not read in this time")

    def record(self, path: AnyPath, force: bool = False, marks: bool = False) -> Recorder:
        """Record to a file, too, from the same samples: returns the Recorder, which runs. It ends with its stop(), with
        a with block of its own, or with the Live. force, marks: see Recorder."""
        board, fast, medium, slow, gentle, sysroot = self._settings
        if not self._is_open():
            raise NvmtopError(USAGE, _NOT_OPEN)
        recorder = Recorder(path, board, fast, medium, slow, force, gentle, sysroot, marks=marks).start()
        self._recorders = [r for r in self._recorders if r.is_running] + [recorder]
        return recorder

    def mark(self, label: str = "") -> int:
        """Start a new phase in its recordings, of which this returns the id: 1, 2, 3, ...; 0 if there are none."""
        text = _text(label, "a label")
        return max([r._mark(text) for r in self._recorders], default=0)


_kept: List[Any] = []


def _close(handle: int, callbacks: Dict[str, Any]) -> None:
    # A thread of the library, where a forgotten Live may be found, cannot end itself: then it goes on to call these.
    if _lib.nvmtop_live_close(handle, None) < 0 and callbacks:
        _kept.append(callbacks)


_own: List[Live] = []
_calls: Deque[Window] = collections.deque(maxlen=_CALLS)


class _Call(Window):
    __slots__ = ()

    def __exit__(self, *exception: object) -> None:
        super().__exit__(*exception)
        _calls.append(self)


def _newest() -> Live:
    for reference in reversed(_users):
        live = reference()
        if isinstance(live, Live) and live._is_open():
            return live
    _own.append(Live().open())
    return _own[-1]


def measure(name: str, live: Optional[Live] = None) -> Callable[[AnyFunction], AnyFunction]:
    """Decorates a function: each call is a Window of that name, which measured() returns.

    live            of which; None: the Live that was opened last, and if there is none, one that the first call opens
                    (which takes up to 1 s, before its window begins) and that stays until the process ends

    Calls in several threads and recursive ones have windows of their own, which overlap: each has all joules of the
    machine in its time. That of a coroutine, a generator or an asynchronous generator is from its first step to its
    end, with the times in which it waits. A call that raises an exception has a window, too.
    """
    _text(name, "the name of a window")

    def decorate(function: AnyFunction) -> AnyFunction:
        def window() -> Window:
            return _Call(live or _newest(), name, None)

        call: Any
        if inspect.isasyncgenfunction(function):
            async def asynchronous(*args: Any, **kwargs: Any) -> Any:
                with window():
                    steps = function(*args, **kwargs)
                    try:
                        value = await steps.__anext__()
                        while True:
                            try:
                                sent = yield value
                            except Exception as e:
                                value = await steps.athrow(e)
                            else:
                                value = await steps.asend(sent)
                    except StopAsyncIteration:
                        pass
                    finally:
                        await steps.aclose()
            call = asynchronous
        elif inspect.iscoroutinefunction(function):
            async def coroutine(*args: Any, **kwargs: Any) -> Any:
                with window():
                    return await function(*args, **kwargs)
            call = coroutine
        elif inspect.isgeneratorfunction(function):
            def generator(*args: Any, **kwargs: Any) -> Any:
                with window():
                    return (yield from function(*args, **kwargs))
            call = generator
        else:
            def plain(*args: Any, **kwargs: Any) -> Any:
                with window():
                    return function(*args, **kwargs)
            call = plain
        return cast(AnyFunction, functools.wraps(function)(call))
    return decorate


def measured(name: Optional[str] = None, clear: bool = False) -> List[Window]:
    """The windows of the calls of decorated functions that have ended in this process, in order of their ends: of all,
    or of this name; the last 10000. clear: they are taken out of the list."""
    pid = os.getpid()
    found = [w for w in list(_calls) if w._live._pid == pid and name in (None, w.name)]
    if clear:
        for w in found:
            _calls.remove(w)
    return found
