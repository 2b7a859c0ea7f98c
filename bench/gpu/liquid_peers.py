"""The networks of bench/gpu/liquid.ts in PyTorch, the faster of two ways where there are two: dense updates of the neurons, and spikes delivered by index_add
over the synapses of those that fired, or by a sparse product over all synapses (cuSPARSE) in a CUDA graph of steps.

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


def network_in_a_graph(size, fan_out, dt, steps, rounds):
    source = torch.arange(size, device=device).repeat_interleave(fan_out)
    delay = (torch.arange(fan_out, device=device) * DELAYS // fan_out).repeat(size)
    weight = torch.full((size,), 15.0 / fan_out, device=device)
    weight[int(0.8 * size):] *= -4
    values = weight[source]
    cell = (delay * 2 + (values < 0)) * size + torch.randint(size, (size * fan_out,), device=device)
    indices = torch.stack((cell, source))
    synapses = torch.sparse_coo_tensor(indices, values, (2 * DELAYS * size, size)).coalesce().to_sparse_csr()
    tau, tau_e, tau_i, tau_x = 30.0, 3.0, 6.0, 30.0
    keep, keep_e, keep_i, keep_x = (math.exp(-dt / t) for t in (tau, tau_e, tau_i, tau_x))
    gain_e = tau_e / (tau_e - tau) * (keep_e - keep)
    gain_i = tau_i / (tau_i - tau) * (keep_i - keep)
    v, e, i, x = (torch.zeros(size, device=device) for _ in range(4))
    held = torch.zeros(size, device=device, dtype=torch.int32)
    ring = torch.zeros(DELAYS, 2 * size, device=device)
    silence = torch.zeros(1, 2 * size, device=device)

    def run():
        for _ in range(steps):
            e.add_(ring[0, :size] + 12.0 * (torch.rand(size, device=device) < 400 * dt / 1000))
            i.add_(ring[0, size:])
            after = torch.where(held > 0, v, keep * v + gain_e * e + gain_i * i)
            fires = (held == 0) & (after >= 15.0)
            v.copy_(torch.where(fires, 13.5, after))
            held.copy_(torch.where(fires, round(3 / dt), (held - 1).clamp_(min=0)))
            e.mul_(keep_e)
            i.mul_(keep_i)
            x.mul_(keep_x).add_(fires)
            arriving = torch.mv(synapses, fires.to(torch.float32)).view(DELAYS, 2 * size)
            ring.copy_(torch.cat((ring[1:], silence)) + arriving)

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        run()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    graph.replay()
    torch.cuda.synchronize()
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        graph.replay()
        torch.cuda.synchronize()
        times.append(1e6 * (time.perf_counter() - begun) / steps)
    return statistics.median(times)


results = {"about": f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}"}
for name, size, fan_out, dt in (
    ("10,000 neurons, 1 % connected, 1 ms", 10_000, 100, 1.0),
    ("100,000 neurons, 1e8 synapses, 0.1 ms", 100_000, 1000, 0.1),
):
    results[name] = network(size, fan_out, dt, 1000, 3)
    if size * fan_out <= 1e7:
        results[name] = min(results[name], network_in_a_graph(size, fan_out, dt, 200, 3))
print(json.dumps(results))
