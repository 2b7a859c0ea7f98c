"""Microseconds an input of coupled phase oscillators: two Heun steps on the phases, as PyTorch's matrix products and sines in a CUDA graph. Prints a table."""
import time

import torch

torch.backends.cuda.matmul.allow_tf32 = False
device = torch.device("cuda")


def graph(size, dtype, steps=64):
    w = torch.randn(size, size, device=device, dtype=dtype) * 0.7 / size**0.5
    omega, bias, w_in = (torch.randn(size, device=device, dtype=dtype) * 0.1 for _ in range(3))
    u = torch.randn(steps, device=device, dtype=dtype)
    states = torch.empty(steps, 2, size, device=device, dtype=dtype)
    start = torch.zeros(size, device=device, dtype=dtype)
    h = 0.35

    def force(phi, theta):
        cs = torch.stack([torch.cos(phi), torch.sin(phi)])
        p = cs @ w.T
        return omega + cs[0] * p[1] - cs[1] * p[0] + torch.sin(theta - phi)

    def run():
        phi = start
        for t in range(steps):
            theta = bias + w_in * u[t]
            for _ in range(2):
                k1 = force(phi, theta)
                phi = phi + 0.5 * h * (k1 + force(phi + h * k1, theta))
            states[t, 0] = torch.cos(phi)
            states[t, 1] = torch.sin(phi)

    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        run()
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        run()
    captured.replay()
    torch.cuda.synchronize()
    begun = time.perf_counter()
    for _ in range(10):
        captured.replay()
    torch.cuda.synchronize()
    return 1e6 * (time.perf_counter() - begun) / (10 * steps)


with torch.no_grad():
    for size, dtype in ((300, torch.float32), (1000, torch.float32), (1000, torch.float64), (4000, torch.float32), (10000, torch.float32)):
        print(f"PyTorch {torch.__version__} graph, {size} oscillators, {dtype}: {graph(size, dtype):.1f} us an input")
