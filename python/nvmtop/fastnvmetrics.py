"""The interface of fastnvmetrics, with nvmtop behind it: change only the import of a script.

    import nvmtop.fastnvmetrics as fastnvmetrics

    with fastnvmetrics.NVMetrics("trace.bin") as nv:
        nv.sync()
        run()
    data = fastnvmetrics.read_trace("trace.bin")
    data["gpu_load"][data["sync_id"] == 1].mean() / 10

Files are written and read in its format, NVMT version 1. A value that could not be read repeats the one before, as
scripts for fastnvmetrics expect no others: data["missing"] says where. nvmtop.read_trace() repeats none.

read_trace() needs NumPy.
"""

import os as _os
import sys as _sys
import tempfile as _tempfile
import time as _time
import warnings as _warnings
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Type

import nvmtop as _nvmtop

if TYPE_CHECKING:
    import types as _types

    import numpy as np
    import numpy.typing as npt

__all__ = ["NVMetrics", "BoardConfig", "PowerRailConfig", "ThermalZoneConfig", "detect_board", "get_board_config",
           "TraceData", "read_trace"]

_MAGIC, _VERSION, _HEADER, _LOG = 0x4E564D54, 1, 728, b"\xABNV\n"
_WARM = 10  # fast samples
_LAST_S = 1.0  # how long stop() waits for the sample of an epoch, at most


class PowerRailConfig(NamedTuple):
    """A power rail: its label, and the kernel files of its voltage (mV) and current (mA); "" if there is none."""

    label: str
    voltage_path: str
    current_path: str


class ThermalZoneConfig(NamedTuple):
    """A thermal zone: its name, and the kernel file of its temperature; "" if there is none."""

    name: str
    temp_path: str


class BoardConfig(NamedTuple):
    """What a board has, and from which kernel files it is read; "" if there is none.

    The paths only inform. A `*` in one of get_board_config() is a number that differs from boot to boot.
    """

    board_name: str
    num_cpu_cores: int
    gpu_load_path: str
    emc_actmon_path: str
    emc_clk_rate_path: str
    power_rails: List[PowerRailConfig]
    thermal_zones: List[ThermalZoneConfig]


_GPU = "/sys/devices/platform/gpu.0/load"
_ZONES = ("cpu", "gpu", "cv0", "cv1", "cv2", "soc0", "soc1", "soc2", "tj", "tboard", "tdiode")
# Cores, rails with the i2c address and number of their channel, zones.
_BOARDS: Dict[str, Any] = {
    "agx_orin": (12, (("VDD_GPU_SOC", "1-0040", 1), ("VDD_CPU_CV", "1-0040", 2), ("VIN_SYS_5V0", "1-0040", 3),
                      ("VDDQ_VDD2_1V8AO", "1-0041", 2)), _ZONES),
    "orin_nx": (8, (("VDD_IN", "1-0040", 1), ("VDD_CPU_GPU_CV", "1-0040", 2), ("VDD_SOC", "1-0040", 3)), _ZONES[:10]),
}


def get_board_config(name: str) -> BoardConfig:
    """The configuration of "agx_orin" or "orin_nx". Raises RuntimeError for another name."""
    if name not in _BOARDS:
        raise RuntimeError("Unknown board: %s (known are %s)" % (name, ", ".join(_BOARDS)))
    cores, rails, zones = _BOARDS[name]
    chip = "/sys/bus/i2c/drivers/ina3221/%s/hwmon/hwmon*/%s%d_input"
    return BoardConfig(
        name, cores, _GPU, "/sys/kernel/debug/cactmon/mc_all", "/sys/kernel/debug/bpmp/debug/clk/emc/rate",
        [PowerRailConfig(label, chip % (at, "in", n), chip % (at, "curr", n)) for label, at, n in rails],
        [ThermalZoneConfig(zone + "-thermal", "/sys/class/thermal/thermal_zone%d/temp" % i)
         for i, zone in enumerate(zones)])


def detect_board() -> BoardConfig:
    """The configuration of this machine, as a recording has it. Raises RuntimeError if it cannot be read.

    board_name is "generic" if it is not a Jetson. gpu_load_path is where the load is looked for if there is no GPU.
    """
    with _tempfile.TemporaryDirectory(prefix="nvmtop-") as folder:
        path = _os.path.join(folder, "board.nvmt")
        try:
            with _nvmtop.Recorder(path, warmup=0):
                pass
            trace = _nvmtop.read_trace(path)
        except _nvmtop.NvmtopError as e:
            raise RuntimeError(str(e)) from e
        trace.close()

    def source(name: str) -> str:
        signal = trace.signals.get(name)
        return signal.source.split(" ")[0] if signal and not signal.missing else ""

    temperatures = [name for name in trace.signals if name.startswith("temp.") and name != "temp.hottest"]
    emc = source("emc.util") and source("emc.rate")
    return BoardConfig(
        trace.board, trace.cores, source("gpu.util") or _GPU, emc and source("emc.util"), emc,
        [PowerRailConfig(rail, source(rail + ".voltage"), source(rail + ".current")) for rail in trace.rails],
        [ThermalZoneConfig(zone, source(temperatures[i])) for i, zone in enumerate(trace.zones)])


class NVMetrics:
    """Records to a file of NVMT version 1.

    output_path     the file, and no other is left; an earlier recording of that name is replaced
    fast_hz         samples a second of GPU, CPU, memory and EMC
    medium_hz       of the power rails
    slow_hz         of the temperatures
    board           a BoardConfig; None: that of this machine

    Until stop() the recording is in a log beside it (trace.bin.nvmt), which survives a crash: `nvmtop export
    nvmt1` makes the file of it. All failures are RuntimeError, with a sentence that describes the problem and what to do.
    """

    def __init__(self, output_path: "_nvmtop.AnyPath", fast_hz: int = 1000, medium_hz: int = 100, slow_hz: int = 10,
                 board: Optional[BoardConfig] = None) -> None:
        self._path = _os.fsdecode(output_path)
        # Only a name that ends in .bin asks for version 1.
        self._recorded = self._path if self._path.endswith(".bin") else self._path + ".part.bin"
        try:
            self._recorder = _nvmtop.Recorder(self._recorded, board and board.board_name, fast_hz, medium_hz, slow_hz,
                                              force=True, warmup=0)
        except _nvmtop.NvmtopError as e:
            raise RuntimeError(str(e)) from e
        if not min(fast_hz, medium_hz, slow_hz) > 0:
            raise RuntimeError("rates are samples a second, above 0: %g, %g, %g" % (fast_hz, medium_hz, slow_hz))
        self._enough = 0  # samples: the last epoch has one then

    def start(self) -> None:
        """Begin to record."""
        if self._recorder.is_running:
            raise RuntimeError("this recorder is already running: stop it first")
        self._enough = 0
        if self._recorded != self._path and not _replaceable(self._path):
            raise RuntimeError("%s exists and is not a recording: choose another name" % self._path)
        try:
            self._recorder.start()
        except _nvmtop.NvmtopError as e:
            raise RuntimeError(str(e)) from e

    def stop(self) -> None:
        """End the recording; the file is then complete and on the disk. Does nothing if none is running."""
        if not self._recorder.is_running:
            return
        until = _time.monotonic() + _LAST_S
        while self.sample_count < self._enough and _time.monotonic() < until:
            _time.sleep(0.001)
        try:
            self._recorder.stop()
            if self._recorded != self._path:
                _os.replace(self._recorded, self._path)
        except (OSError, _nvmtop.NvmtopError) as e:
            raise RuntimeError(str(e)) from e

    def wait_for_warmup(self) -> None:
        """Wait for the first 10 fast samples."""
        while self._recorder.is_running and self.sample_count < _WARM:
            _time.sleep(0.001)

    def sync(self) -> int:
        """Begin a new epoch, with the next sample; returns its id: 1, 2, 3, ..."""
        try:
            number = self._recorder.sync()
        except _nvmtop.NvmtopError as e:
            raise RuntimeError(str(e)) from e
        self._enough = self.sample_count + 2  # the next one may have been taken before
        return number

    @property
    def sample_count(self) -> int:
        """Number of fast samples so far."""
        return self._recorder.sample_count

    @property
    def is_running(self) -> bool:
        """Whether it records."""
        return self._recorder.is_running

    def __enter__(self) -> "NVMetrics":
        self.start()
        self.wait_for_warmup()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 traceback: "Optional[_types.TracebackType]") -> None:
        try:
            self.stop()
        except RuntimeError:
            # Do not replace the exception of the block itself.
            if kind is None:
                raise


def _replaceable(path: str) -> bool:
    try:
        with open(path, "rb") as f:
            head = f.read(4)
    except FileNotFoundError:
        return True
    except OSError as e:
        raise RuntimeError(str(e)) from e
    return head in (b"", _LOG, _MAGIC.to_bytes(4, "little"))


if TYPE_CHECKING or _sys.version_info >= (3, 8):
    from typing import TypedDict

    class TraceData(TypedDict):
        """What read_trace() returns. In each array a row is a sample, of N cores, rails or zones a column each."""

        board_name: str
        num_cpu_cores: int
        num_power_rails: int
        num_thermal_zones: int
        emc_available: bool
        fast_hz: int
        medium_hz: int
        slow_hz: int
        power_rail_names: List[str]
        thermal_zone_names: List[str]
        fast_time_s: "npt.NDArray[np.float64]"  # since the start
        gpu_load: "npt.NDArray[np.uint16]"  # tenths of a percent
        cpu_util: "npt.NDArray[np.float32]"  # %
        cpu_aggregate: "npt.NDArray[np.float32]"  # %
        ram_used_kb: "npt.NDArray[np.uint64]"
        ram_available_kb: "npt.NDArray[np.uint64]"
        emc_util: "npt.NDArray[np.float32]"  # %; -1: not available
        medium_time_s: "npt.NDArray[np.float64]"
        voltage_mv: "npt.NDArray[np.uint32]"
        current_ma: "npt.NDArray[np.uint32]"
        power_mw: "npt.NDArray[np.float32]"
        slow_time_s: "npt.NDArray[np.float64]"
        temp_c: "npt.NDArray[np.float32]"  # degrees Celsius
        sync_id: "npt.NDArray[np.uint64]"  # of each fast sample; 0: before the first sync()
        missing: "Dict[str, npt.NDArray[np.bool_]]"  # by key: where the value was not read, in the shape of that array
else:
    TraceData = dict


def _check(path: str) -> None:
    """Raises ValueError, with the words that scripts may look for, unless it is a trace."""
    with open(path, "rb") as f:
        head = f.read(_HEADER)
    if head.startswith(_LOG):
        return
    if len(head) < _HEADER:
        raise ValueError("File too small (%d bytes): %s is not a trace" % (len(head), path))
    magic, version = int.from_bytes(head[:4], "little"), int.from_bytes(head[4:8], "little")
    if magic != _MAGIC:
        raise ValueError("Bad magic: 0x%08X (expected 0x%08X): %s is not a trace" % (magic, _MAGIC, path))
    if version != _VERSION:
        raise ValueError("Unsupported version: %d: %s needs a newer nvmtop" % (version, path))


def _fill(values: Any, missing: Any) -> Any:
    """Repeats in each column the value before what is missing, or the first one where there is none before. A column
    without any stays as it is."""
    np = _nvmtop._np
    rows = np.arange(len(values)).reshape((-1,) + (1,) * (values.ndim - 1))
    last = np.maximum.accumulate(np.where(missing, -1, rows), axis=0)
    first = np.argmin(missing, axis=0) if len(values) else 0
    return np.take_along_axis(values, np.where(last < 0, first, last), axis=0)


def read_trace(path: "_nvmtop.AnyPath") -> TraceData:
    """Read a trace of fastnvmetrics or of nvmtop.

    Raises ValueError if it is none, and OSError if it cannot be read. Of a damaged one the readable part is returned,
    with a warning.
    """
    np = _nvmtop._np
    if not np:
        raise ImportError("nvmtop.fastnvmetrics.read_trace() needs NumPy: install it, or use nvmtop.read_trace()")
    name = _os.fsdecode(path)
    _check(name)
    trace = _nvmtop.read_trace(name)
    if trace.damage:
        _warnings.warn(trace.damage, stacklevel=2)
    fast, medium, slow = trace.fast, trace.medium, trace.slow

    def unread(names: List[str], otherwise: Any) -> Any:
        """Where these signals were not read; for one that the trace does not have by this name, otherwise."""
        columns = []
        for i, name in enumerate(names):
            values = trace[name] if name in trace.signals else otherwise[:, i]
            columns.append(np.isnan(values) if values.dtype.kind == "f" else values)
        return np.stack(columns, axis=1) if columns else np.zeros(otherwise.shape, bool)

    no_power = np.isnan(medium.power_mw)
    no_ram = (fast.ram_used_kb == 0) & (fast.ram_available_kb == 0)
    missing = {
        "gpu_load": unread(["gpu.util"], np.ones((len(fast), 1), bool))[:, 0],
        "cpu_util": np.isnan(fast.cpu_util),
        "cpu_aggregate": np.isnan(fast.cpu_aggregate),
        "ram_used_kb": no_ram,
        "ram_available_kb": no_ram,
        "emc_util": fast.emc_util < 0,
        "voltage_mv": unread([rail + ".voltage" for rail in trace.rails], no_power),
        "current_ma": unread([rail + ".current" for rail in trace.rails], no_power),
        "power_mw": no_power,
        "temp_c": np.isnan(slow.temp_c),
    }
    filled = {key: _fill(getattr(tier, key), missing[key]) for tier in (fast, medium, slow)
              for key in tier._fields if key in missing}
    trace.close()

    def times(tier: Any, hz: float) -> Any:
        """A tier without signals has no samples; scripts get the times at which it would have had some."""
        return tier.time_s if len(tier) else fast.time_s[::max(1, round(trace.hz[0] / hz))]

    medium_s, slow_s = times(medium, trace.hz[1]), times(slow, trace.hz[2])
    for key in ("voltage_mv", "current_ma", "power_mw", "temp_c"):
        seconds = slow_s if key == "temp_c" else medium_s
        if filled[key].shape[1] == 0:
            filled[key], missing[key] = (np.zeros((len(seconds), 0), a.dtype) for a in (filled[key], missing[key]))
    data: Any = dict(
        filled, board_name=trace.board, num_cpu_cores=trace.cores, num_power_rails=len(trace.rails),
        num_thermal_zones=len(trace.zones), emc_available=trace.emc_available,
        fast_hz=round(trace.hz[0]), medium_hz=round(trace.hz[1]), slow_hz=round(trace.hz[2]),
        power_rail_names=trace.rails, thermal_zone_names=trace.zones,
        fast_time_s=fast.time_s, medium_time_s=medium_s, slow_time_s=slow_s, sync_id=fast.epoch, missing=missing)
    result: TraceData = data
    return result
