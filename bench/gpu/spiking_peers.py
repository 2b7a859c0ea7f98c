"""The work of bench/gpu/spiking.ts in PyTorch, the faster of two ways each: bincount or scatter_add for bins; matrix products with normalised templates.

Prints JSON: median microseconds by events.
"""
import json
import statistics

import torch

torch.backends.cuda.matmul.allow_tf32 = False
torch.manual_seed(1)
device = "cuda"


def median(run, rounds=21):
    times = []
    for k in range(rounds):
        begun, ended = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begun.record()
        run()
        ended.record()
        torch.cuda.synchronize()
        if k > 2:
            times.append(1000 * begun.elapsed_time(ended))
    return statistics.median(times)


def graph(run):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        run()
    torch.cuda.current_stream().wait_stream(side)
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        run()
    return captured.replay


results = {"about": f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}"}
count, duration = 10_000_000, 1000.0
times = torch.arange(count, device=device, dtype=torch.float64) * (duration / count)
amplitudes = torch.rand(count, device=device)
for name, bins, size, weighted in (
    ("1000 bins x 1000 neurons, counts", 1000, 1000, False),
    ("1000 bins x 1000 neurons, amplitudes", 1000, 1000, True),
    ("100 bins x 100,000 neurons, counts", 100, 100_000, False),
    ("20 bins x 8 neurons, counts", 20, 8, False),
):
    neurons = torch.randint(size, (count,), device=device, dtype=torch.int32)
    width = duration / bins

    def cells():
        return (times / width).to(torch.int64).clamp_(max=bins - 1) * size + neurons

    def by_bincount():
        return torch.bincount(cells(), weights=amplitudes if weighted else None, minlength=bins * size).to(torch.float32)

    ones = amplitudes if weighted else torch.ones(count, device=device)

    def by_scatter():
        return torch.zeros(bins * size, device=device).scatter_add_(0, cells(), ones)

    results[name] = min(median(by_bincount), median(by_scatter))

sets = [torch.rand(1000, 4096, device=device) * 2 - 1 for _ in range(8)]
x = torch.rand(4096, device=device) * 2 - 1
best = torch.zeros(2, 8, device=device)


def detect(templates, is_cosine):
    def run():
        for k, one in enumerate(templates):
            scores = torch.mv(one, x / torch.linalg.vector_norm(x) if is_cosine else x)
            score, index = torch.max(scores, 0)
            best[0, k] = score
            best[1, k] = torch.where(score >= 0.5, index, -1)

    return run


normalised = [one / torch.linalg.vector_norm(one, dim=1, keepdim=True) for one in sets]
with torch.no_grad():
    for score, templates in (("cosine", normalised), ("dot", sets)):
        run = detect(templates, score == "cosine")
        run()
        results[f"1000 templates x 4096, {score}"] = min(median(run), median(graph(run))) / 8
print(json.dumps(results))
