"""The peers of the generated kernels, as JSON in microseconds by events: cuBLAS and flash attention through PyTorch, and a copy within the device."""
import json
import statistics

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

torch.backends.cuda.matmul.allow_tf32 = False


def micros(count, launch, rounds=9):
    times = []
    for turn in range(rounds + 2):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(count):
            launch()
        end.record()
        end.synchronize()
        if turn >= 2:
            times.append(start.elapsed_time(end) * 1000 / count)
    return statistics.median(times)


def uniform(*shape, dtype=torch.float32):
    return (torch.rand(*shape, device="cuda") * 2 - 1).to(dtype)


result = {"version": torch.__version__}
a, b = uniform(4096, 4096), uniform(4096, 4096)
result["gemm f32"] = micros(5, lambda: a @ b)
for dtype, name in ((torch.bfloat16, "bf16"), (torch.float16, "f16")):
    x, y = a.to(dtype), b.to(dtype)
    result[f"gemm {name}"] = micros(20, lambda: x @ y)
torch.backends.cuda.matmul.allow_tf32 = True
result["gemm tf32"] = micros(20, lambda: a @ b)
torch.backends.cuda.matmul.allow_tf32 = False
small, other = uniform(256, 256), uniform(256, 256)
graph = torch.cuda.CUDAGraph()
small @ other
with torch.cuda.graph(graph):
    for _ in range(200):
        small @ other
result["gemm f32 256"] = micros(1, graph.replay) / 200
source, target = uniform(2**28), torch.empty(2**28, device="cuda")
result["copy GB/s"] = 2 * 4 * 2**28 / micros(5, lambda: target.copy_(source)) / 1000
rows, to = uniform(8192, 4096), torch.empty(8192, 4096, device="cuda")
result["copy 8192 x 4096"] = micros(20, lambda: to.copy_(rows))
gamma, beta = uniform(4096), uniform(4096)
result["softmax"] = micros(20, lambda: torch.softmax(rows, 1))
result["layernorm"] = micros(20, lambda: F.layer_norm(rows, (4096,), gamma, beta))
result["rmsnorm"] = micros(20, lambda: F.rms_norm(rows, (4096,), gamma))
q, k, v = (uniform(1, 16, 4096, 64, dtype=torch.float16) for _ in range(3))
for backend, name in ((SDPBackend.FLASH_ATTENTION, "flash"), (SDPBackend.MATH, "math")):
    with sdpa_kernel(backend):
        result[f"attention {name}"] = micros(5, lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True))
q, k, v = (uniform(1, 16, 4096, 64) for _ in range(3))
for backend, name in ((SDPBackend.EFFICIENT_ATTENTION, "efficient"), (SDPBackend.MATH, "math")):
    with sdpa_kernel(backend):
        result[f"attention f32 {name}"] = micros(3, lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True))
print(json.dumps(result))
