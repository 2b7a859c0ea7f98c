"""The networks of bench/gpu/liquid.ts in PyTorch: dense updates of the neurons, spikes delivered by index_add over the synapses of those that fired.

Prints JSON: median microseconds a step for each network.
"""
import json
import math
import statistics
import time

import torch

DELAYS = 20
device = "cuda"
torch.manual_seed(1)


def network(size, fan_out, dt, steps, rounds):
    targets = torch.randint(size, (size, fan_out), device=device, dtype=torch.int32)
    delay = (torch.arange(fan_out, device=device) * DELAYS // fan_out).to(torch.int64)
    weight = torch.full((size,), 15.0 / fan_out, device=device)
    weight[int(0.8 * size):] *= -4
    tau, tau_e, tau_i, tau_x = 30.0, 3.0, 6.0, 30.0
    keep, keep_e, keep_i, keep_x = (math.exp(-dt / t) for t in (tau, tau_e, tau_i, tau_x))
    gain_e = tau_e / (tau_e - tau) * (keep_e - keep)
    gain_i = tau_i / (tau_i - tau) * (keep_i - keep)
    threshold, reset, refractory = 15.0, 13.5, round(3 / dt)
    v, e, i, x = (torch.zeros(size, device=device) for _ in range(4))
    held = torch.zeros(size, device=device, dtype=torch.int32)
    ring = torch.zeros(2 * DELAYS * size, device=device)
    chance = 400 * dt / 1000
    state = {"row": 0, "spikes": 0}

    def step():
        nonlocal v, e, i, x, held
        row = state["row"]
        cells = ring[row * 2 * size:(row + 1) * 2 * size]
        e = e + cells[:size] + 12.0 * (torch.rand(size, device=device) < chance)
        i = i + cells[size:]
        cells.zero_()
        after = torch.where(held > 0, v, keep * v + gain_e * e + gain_i * i)
        fires = (held == 0) & (after >= threshold)
        v = torch.where(fires, reset, after)
        held = torch.where(fires, refractory, (held - 1).clamp_(min=0))
        e = e * keep_e
        i = i * keep_i
        x = x * keep_x + fires
        fired = fires.nonzero().squeeze(1)
        if fired.numel() > 0:
            state["spikes"] += fired.numel()
            w = weight[fired]
            rows = (row + 1 + delay) % DELAYS
            base = rows * 2 * size
            index = targets[fired].to(torch.int64) + base[None, :] + (w < 0).to(torch.int64)[:, None] * size
            ring.index_add_(0, index.reshape(-1), w[:, None].expand(-1, fan_out).reshape(-1))
        state["row"] = (row + 1) % DELAYS

    for _ in range(300):
        step()
    torch.cuda.synchronize()
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        for _ in range(steps):
            step()
        torch.cuda.synchronize()
        times.append(1e6 * (time.perf_counter() - begun) / steps)
    return statistics.median(times)


results = {"about": f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}"}
results["10,000 neurons, 1 % connected, 1 ms"] = network(10_000, 100, 1.0, 1000, 3)
results["100,000 neurons, 1e8 synapses, 0.1 ms"] = network(100_000, 1000, 0.1, 1000, 3)
print(json.dumps(results))
