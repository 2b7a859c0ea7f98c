"""Microseconds a step of a batch: cuDNN's RNN (tanh, which has no leak) in three precisions and PyTorch's loop as a CUDA graph. Medians; prints JSON."""
import json
import statistics
import time

import torch

torch.backends.cuda.matmul.allow_tf32 = False
device = torch.device("cuda")


def median(run):
    run()
    torch.cuda.synchronize()
    times = []
    for _ in range(5):
        start = time.perf_counter()
        run()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def cudnn(size, batch, steps, dtype, tf32):
    torch.backends.cudnn.allow_tf32 = tf32
    rnn = torch.nn.RNN(1, size, nonlinearity="tanh").to(device, dtype).eval()
    u = torch.randn(steps, batch, 1, device=device, dtype=dtype)
    return 1e6 * median(lambda: rnn(u)) / steps


def graph(size, batch, steps):
    w = (torch.randn(size, size, device=device) * 0.9 / size**0.5).T.contiguous()
    drive = torch.randn(steps, batch, size, device=device)
    states = torch.empty(steps, batch, size, device=device)

    def run():
        x = torch.zeros(batch, size, device=device)
        for t in range(steps):
            x = torch.lerp(x, torch.tanh(torch.addmm(drive[t], x, w)), 0.3)
            states[t] = x

    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        run()
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        run()
    return 1e6 * median(captured.replay) / steps


results = {}
with torch.no_grad():
    for size, batch, steps in ((1024, 64, 400), (1024, 256, 200), (1024, 512, 100), (1024, 1024, 100), (4096, 64, 50)):
        results[f"{size} {batch}"] = {
            "cuDNN fp32": cudnn(size, batch, steps, torch.float32, False),
            "cuDNN tf32": cudnn(size, batch, steps, torch.float32, True),
            "cuDNN fp16": cudnn(size, batch, steps, torch.float16, False),
            "PyTorch graph": graph(size, batch, min(steps, 100)),
        }
print(json.dumps(results))
