#!/usr/bin/env python3
"""Joules of an inference loop in PyTorch: of each batch, and above those of the idle machine.

    python3 inference-joules.py [BOARD]

Without BOARD it is this machine; "demo" is a simulated one.
"""
import sys
import time

import torch

import nvmtop

BATCHES, BATCH = 50, 32
device = "cuda" if torch.cuda.is_available() else "cpu"
model = torch.nn.Sequential(torch.nn.Linear(4096, 4096), torch.nn.ReLU(), torch.nn.Linear(4096, 10)).to(device).eval()


def finished() -> None:
    """Kernels run later than they are launched: a window that ends before they do has too few joules."""
    if device == "cuda":
        torch.cuda.synchronize()


@nvmtop.measure("batch")
def infer(x: "torch.Tensor") -> "torch.Tensor":
    y = model(x)
    finished()
    return y


with nvmtop.Live(board=sys.argv[1] if sys.argv[1:] else None) as board, torch.no_grad():
    x = torch.randn(BATCH, 4096, device=device)
    infer(x)  # the first one also loads kernels
    nvmtop.measured(clear=True)
    with board.window("idle") as idle:
        time.sleep(1)
    with board.window("loop") as loop, board.window("above idle", baseline=idle) as above:
        for _ in range(BATCHES):
            infer(x)

batches = nvmtop.measured("batch")
if loop.missing:
    sys.exit("no joules: " + loop.missing)
images = BATCHES * BATCH
print("idle        %8.2f +- %.2f W" % (idle.watts, idle.joules_within / idle.seconds))
print("loop        %8.2f +- %.2f J in %.2f s, %.2f W" % (loop.joules, loop.joules_within, loop.seconds, loop.watts))
print("above idle  %8.2f +- %.2f J" % (above.joules, above.joules_within))
print("an image    %8.2f +- %.2f mJ" % (1e3 * loop.joules / images, 1e3 * loop.joules_within / images))
# A batch may be shorter than the time between two readings: its own bound says what it is worth.
longest = max(batches, key=lambda w: w.seconds)
print("longest     %8.2f +- %.2f J in %.3f s" % (longest.joules, longest.joules_within, longest.seconds))
