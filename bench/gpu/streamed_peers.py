"""What PyTorch's products with W take: cuBLAS for dense matrices, cuSPARSE for CSR. The product alone, by events, median of seven runs."""
import json
import statistics

import torch

torch.manual_seed(1)
results = {"about": f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}: cuBLAS torch.mv, cuSPARSE CSR torch.mv"}


def measure(multiply, repeats):
    for _ in range(5):
        multiply()
    times = []
    for _ in range(7):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(repeats):
            multiply()
        end.record()
        end.synchronize()
        times.append(1000 * start.elapsed_time(end) / repeats)
    return statistics.median(times)


for size, repeats in ((4096, 400), (8192, 200), (16384, 60), (32768, 20)):
    matrix = torch.randn(size, size, device="cuda") / size
    x, y = torch.randn(size, device="cuda"), torch.empty(size, device="cuda")
    results[f"dense N={size}"] = measure(lambda: torch.mv(matrix, x, out=y), repeats)
    del matrix

for size, row in ((10_000, 1000), (50_000, 500), (100_000, 100), (200_000, 10)):
    offsets = torch.arange(0, size * row + 1, row, device="cuda", dtype=torch.int32)
    step = size // row
    columns = torch.arange(row, device="cuda").mul(size // row).unsqueeze(0).expand(size, row) + torch.randint(0, step, (size, row), device="cuda")
    matrix = torch.sparse_csr_tensor(offsets, columns.reshape(-1).to(torch.int32), torch.randn(size * row, device="cuda"), (size, size))
    x = torch.randn(size, device="cuda")
    results[f"sparse N={size}, {row} a row"] = measure(lambda: torch.mv(matrix, x), 200)
    del matrix, columns

print(json.dumps(results))
