"""PyTorch's side of the launch bench: the smallest in-place operation, alone and in a CUDA graph."""
import statistics
import time

import torch


def cost(count, work):
    rounds = []
    begin = time.perf_counter()
    while time.perf_counter() - begin < 1:
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        rounds.append((time.perf_counter() - start) * 1e6 / count)
    return statistics.median(rounds)


x = torch.zeros(32, device="cuda")
x.add_(1)
single = cost(5000, lambda: [x.add_(1) for _ in range(5000)])
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    for _ in range(1000):
        x.add_(1)
captured = cost(20000, lambda: [graph.replay() for _ in range(20)])
print(f"PyTorch {torch.__version__}: add_ {single:.2f} us; one of 1000 in a graph {captured:.3f} us")
