#!/usr/bin/env python3
"""The energy of each step of a training loop, by NVTX ranges that PyTorch has anyway.

    nvmtop record -o run.nvmt --nvtx -- python3 profile-training.py
    nvmtop report run.nvmt --by range

With an argument, every operator of PyTorch is a range, too: profile-training.py operators
"""
import contextlib
import sys

import torch
from torch.cuda import nvtx

model = torch.nn.Sequential(torch.nn.Linear(4096, 4096), torch.nn.ReLU(), torch.nn.Linear(4096, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
operators = torch.autograd.profiler.emit_nvtx() if sys.argv[1:] else contextlib.nullcontext()

with operators:
    for _ in range(200):
        with nvtx.range("step"):
            with nvtx.range("load"):
                x = torch.randn(1024, 4096, device="cuda")
                y = torch.randint(10, (1024,), device="cuda")
            with nvtx.range("forward"):  # only launches kernels: they run later
                loss = torch.nn.functional.cross_entropy(model(x), y)
            with nvtx.range("backward"):
                loss.backward()
            with nvtx.range("optimizer"):
                optimizer.step()
                optimizer.zero_grad()
            torch.cuda.synchronize()  # "step" ends when its kernels have run
