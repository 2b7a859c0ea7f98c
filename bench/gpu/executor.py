"""The peers of the executor's bench, as JSON in microseconds: PyTorch and CuPy by events, NumPy and whole calls by the clock. TF32 is off."""
import json
import statistics
import time

import numpy as np
import torch

torch.backends.cuda.matmul.allow_tf32 = False
device = "cuda"


def micros(count, launch):
    rounds = []
    for round in range(18):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(count):
            launch()
        end.record()
        end.synchronize()
        if round >= 3:
            rounds.append(start.elapsed_time(end) * 1000 / count)
    return statistics.median(rounds)


def wall(call):
    times = []
    for round in range(6):
        begin = time.perf_counter()
        call()
        if round > 0:
            times.append((time.perf_counter() - begin) * 1e6)
    return statistics.median(times)


versions = f"PyTorch {torch.__version__}, NumPy {np.__version__}"
matmul = {"torch": {}, "cupy": {}, "numpy": {}}
for size in (256, 512, 1024, 2048, 4096):
    count = 50 if size <= 1024 else 5
    a, b = (torch.rand(size, size, device=device) for _ in range(2))
    c = torch.empty(size, size, device=device)
    matmul["torch"][size] = micros(count, lambda: torch.mm(a, b, out=c))
    if size <= 2048:
        left, right = (np.random.rand(size, size).astype(np.float32) for _ in range(2))
        matmul["numpy"][size] = wall(lambda: left @ right)
try:
    import cupy as cp

    versions += f", CuPy {cp.__version__}"

    def cupy_micros(count, launch):
        rounds = []
        for round in range(18):
            start, end = cp.cuda.Event(), cp.cuda.Event()
            start.record()
            for _ in range(count):
                launch()
            end.record()
            end.synchronize()
            if round >= 3:
                rounds.append(cp.cuda.get_elapsed_time(start, end) * 1000 / count)
        return statistics.median(rounds)

    for size in (256, 512, 1024, 2048, 4096):
        a, b = (cp.random.rand(size, size, dtype=cp.float32) for _ in range(2))
        c = cp.empty((size, size), dtype=cp.float32)
        matmul["cupy"][size] = cupy_micros(50 if size <= 1024 else 5, lambda: cp.matmul(a, b, out=c))
except Exception as error:
    versions += f", no CuPy ({error})"

n = 2**26
x, y, z = (torch.rand(n, device=device) for _ in range(3))
z.mul_(4).sub_(2)
wide, narrow = z.view(-1, 8192), z.view(-1, 128)
vector = torch.rand(8192, device=device)
bandwidth = {
    "vector_add": micros(5, lambda: torch.add(x, y, out=z)),
    "elementwise_exp": micros(5, lambda: torch.exp(x, out=z)),
    "relu, in place": micros(5, lambda: torch.relu_(z)),
    "sigmoid, in place": micros(5, lambda: torch.sigmoid_(z)),
    "tanh_activation, in place": micros(5, lambda: torch.tanh_(z)),
    "broadcast_add, rows of 8192": micros(5, lambda: wide.add_(vector)),
    "batch_norm, rows of 8192": micros(
        5, lambda: torch.nn.functional.batch_norm(wide, vector, vector + 1, vector, vector, training=False)
    ),
    "softmax, rows of 8192": micros(5, lambda: torch.softmax(wide, 1)),
    "softmax, rows of 128": micros(5, lambda: torch.softmax(narrow, 1)),
    "reduce_sum, in binary64": micros(5, lambda: torch.sum(x)),
    "dot_product, in binary64": micros(5, lambda: torch.dot(x, y)),
}

size = 1024
left, right = (np.random.rand(size, size).astype(np.float32) for _ in range(2))
weights = [np.random.rand(size, size).astype(np.float32) for _ in range(3)]
bias = np.random.rand(size).astype(np.float32)
on_device = [torch.from_numpy(each).to(device) for each in weights]
bias_there = torch.from_numpy(bias).to(device)


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def forward():
    x = torch.from_numpy(left).to(device)
    x = torch.relu(torch.addmm(bias_there, x, on_device[0]))
    x = torch.tanh(torch.addmm(bias_there, x, on_device[1]))
    return torch.softmax(torch.addmm(bias_there, x, on_device[2]), 1).cpu()


host = {
    "torch": {
        "matmul": wall(lambda: (torch.from_numpy(left).to(device) @ torch.from_numpy(right).to(device)).cpu()),
        "forward": wall(forward),
    },
    "numpy": {
        "matmul": wall(lambda: left @ right),
        "forward": wall(
            lambda: softmax(np.tanh(np.maximum(left @ weights[0] + bias, 0) @ weights[1] + bias) @ weights[2] + bias)
        ),
    },
}
print(json.dumps({"versions": versions, "matmul": matmul, "bandwidth": bandwidth, "host": host}))
