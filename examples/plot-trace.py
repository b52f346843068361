#!/usr/bin/env python3
"""Power and load of a recording as a picture, with its phases; without matplotlib as a table.

    nvmtop record -o run.nvmt
    python3 plot-trace.py run.nvmt [run.png]
"""
import sys

import nvmtop

trace = nvmtop.read_trace(sys.argv[1])
picture = sys.argv[2] if sys.argv[2:] else sys.argv[1].rsplit(".", 1)[0] + ".png"
power, load = trace.to_pandas("medium"), trace.to_pandas("fast")
watts = power[[n for n, unit in power.attrs["units"].items() if unit == "mW"]].dropna(axis=1, how="all") / 1000
watts.columns = [n.replace(".power", "") for n in watts.columns]
print(trace.report())

try:
    import matplotlib
except ImportError:
    print("\nmean W of each phase (install matplotlib for a picture):")
    print(watts.groupby(power["phase"]).mean().round(2).to_string())
    sys.exit()

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (after use)

figure, (upper, lower) = pyplot.subplots(2, sharex=True, figsize=(10, 6))
watts.plot(ax=upper, ylabel="W", linewidth=0.8)
upper.set_title(trace.board)
if "gpu.util" in load:
    lower.fill_between(load.index, load["gpu.util"], alpha=0.4, label="gpu.util")
lower.plot(load.index, load["cpu.util"], linewidth=0.8, label="cpu.util")
lower.set(xlabel="s", ylabel="%", ylim=(0, 100))
lower.legend()
for phase in trace.epochs[1:]:
    for axes in (upper, lower):
        axes.axvline(phase.start_s, color="grey", linestyle=":")
    upper.annotate("%d %s" % (phase.id, phase.label), (phase.start_s, upper.get_ylim()[1]), rotation=90, va="top")
figure.savefig(picture, dpi=120)
print("\nwritten: %s" % picture)
