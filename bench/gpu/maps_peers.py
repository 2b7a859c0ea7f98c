"""A map of quality by PyTorch's batched operations on a GPU, the lengths of ours: exponent at all 256 x 256 points, memory capacity at 2048 of them and ranks at 512, which PyTorch factors matrix by matrix. Prints seconds and what the whole map would take."""
import math
import time

import torch

torch.backends.cuda.matmul.allow_tf32 = False
side = 256
device, size = "cuda", 100
draw = torch.Generator().manual_seed(1)
w0 = torch.randn(size, size, generator=draw, dtype=torch.float64)
w0 /= torch.linalg.eigvals(w0).abs().max()
radii = torch.linspace(0.1, 2.5, side, dtype=torch.float64)
scales = torch.logspace(math.log10(0.01), math.log10(3), side, dtype=torch.float64)
radius, scale = (each.flatten().to(device) for each in torch.meshgrid(radii, scales, indexing="ij"))
w_in = (2 * torch.rand(size, generator=draw, dtype=torch.float64) - 1).to(device)
w0 = w0.to(device)
w, w_t = w0.float(), w0.t().contiguous()
points = side * side
u = (1.6 * torch.rand(2700, generator=draw, dtype=torch.float64) - 0.8).to(device)
r32, drive = radius.float()[:, None], (scale[:, None] * w_in).float()


def some_of(count):
    return slice(0, points, points // count)


def exponent(count):
    x = torch.zeros(count, size, device=device)
    v = torch.randn(count, size, device=device, dtype=torch.float64)
    total = torch.zeros(count, device=device, dtype=torch.float64)
    for t in range(1200):
        x = torch.tanh(r32 * (x @ w.t()) + drive * u[t].float())
        v = radius[:, None] * (1 - x.double() ** 2) * (v @ w_t)
        n = torch.linalg.vector_norm(v, dim=1)
        v /= n[:, None]
        if t >= 200:
            total += n.log()
    return total / 1000


def memory(count, group=512):
    r, d = r32[some_of(count)], drive[some_of(count)]
    delays = torch.stack([u.roll(k) for k in range(101)], 1)
    out = torch.empty(count, device=device, dtype=torch.float64)
    for first in range(0, count, group):
        some = slice(first, min(first + group, count))
        x = torch.zeros(some.stop - first, size, device=device)
        states = torch.empty(some.stop - first, 2700, size + 1, device=device, dtype=torch.float64)
        states[:, :, size] = 1
        for t in range(2700):
            x = torch.tanh(r[some] * (x @ w.t()) + d[some] * u[t].float())
            states[:, t, :size] = x
        q, upper = torch.linalg.qr(states[:, 200:1700])
        weights = torch.linalg.solve_triangular(upper, q.transpose(1, 2) @ delays[200:1700], upper=True)
        y, z = states[:, 1700:] @ weights, delays[1700:]
        y, z = y - y.mean(1, keepdim=True), z - z.mean(0)
        square = (y * z).sum(1) ** 2 / ((y * y).sum(1) * (z * z).sum(0))
        out[some] = square[:, 1:].sum(1)
    return out


def ranks(count):
    r, d, out = r32[some_of(count)], drive[some_of(count)], []
    for shared in (0, 3):
        streams = 1.6 * torch.rand(50, size, device=device) - 0.8
        if shared:
            streams[-shared:] = streams[-shared:, :1]
        x = torch.zeros(count, size, size, device=device)
        for t in range(50):
            x = torch.tanh(r[:, None] * (x @ w.t()) + d[:, None] * streams[t][None, :, None])
        values = torch.linalg.svdvals(x.double())
        out.append((values > 0.01 * values[:, :1]).sum(1))
    return out


print(f"\nPyTorch {torch.__version__}, {torch.cuda.get_device_name()}: batched\n", flush=True)
print("| measure | points | seconds | for 256 x 256 |\n|---|---|---|---|")
total = 0.0
torch.linalg.svdvals(torch.randn(4, 8, 8, device=device, dtype=torch.float64))
torch.linalg.qr(torch.randn(4, 16, 8, device=device, dtype=torch.float64))
for name, work, count in (("lyapunovExponent", exponent, points), ("memoryCapacity", memory, 2048), ("kernelRank and generalisationRank", ranks, 512)):
    torch.cuda.synchronize()
    begun = time.perf_counter()
    work(count)
    torch.cuda.synchronize()
    seconds = time.perf_counter() - begun
    whole = seconds * points / count
    total += whole
    print(f"| {name} | {count} | {seconds:.2f} | {whole:.1f} |", flush=True)
print(f"| together | | | {total:.1f} |")
