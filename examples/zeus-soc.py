#!/usr/bin/env python3
"""Joules of nvmtop in Zeus (https://ml.energy/zeus): a ZeusMonitor with the rails of a Jetson.

    python3 zeus-soc.py [BOARD]
"""
import sys
import time
from dataclasses import dataclass, field
from typing import Dict, Set

import zeus.device.soc
from zeus.device.soc.common import SoC, SoCMeasurement

import nvmtop


@dataclass
class Rails(SoCMeasurement):
    """mJ of each power signal; one whose energy is not known is absent."""

    mj: Dict[str, float] = field(default_factory=dict)

    def __sub__(self, other: "Rails") -> "Rails":
        return Rails({name: mj - other.mj[name] for name, mj in self.mj.items() if name in other.mj})

    def zero_all_fields(self) -> None:
        self.mj = dict.fromkeys(self.mj, 0.0)


class Board(SoC):
    def __init__(self, live: nvmtop.Live) -> None:
        self.live = live
        self.windows: Dict[str, nvmtop.Window] = {}
        self.whole = live.window().begin()

    def get_available_metrics(self) -> Set[str]:
        return set(self.get_total_energy_consumption().mj)

    def get_total_energy_consumption(self) -> Rails:
        return Rails({name: 1e3 * e.joules for name, e in self.whole.rails.items() if e.joules == e.joules})

    def begin_window(self, key: str, restart: bool = False) -> None:
        if key in self.windows and not restart:
            raise KeyError("there is a window %r already" % key)
        self.windows[key] = self.live.window(key).begin()

    def end_window(self, key: str) -> Rails:
        window = self.windows.pop(key)
        window.end()
        return Rails({name: 1e3 * e.joules for name, e in window.rails.items() if e.joules == e.joules})


if __name__ == "__main__":
    with nvmtop.Live(board=sys.argv[1] if sys.argv[1:] else None) as live:
        zeus.device.soc._soc = Board(live)  # which get_soc() returns from now on, so also to a ZeusMonitor
        soc = zeus.device.soc.get_soc()
        soc.begin_window("rest")
        time.sleep(0.5)
        print(soc.end_window("rest"))
