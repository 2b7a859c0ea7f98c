"""PyTorch's side of calls.ts: a 1000 x 50 product with its launch, and 100 steps of 1000 neurons from an array of the host to states on the host, its steps
in a CUDA graph (dense, or with cuSPARSE). Microseconds of each of 1000 calls; prints JSON."""
import json
import time

import torch

torch.backends.cuda.matmul.allow_tf32 = False
torch.manual_seed(1)
calls = 1000
results = {"about": f"PyTorch {torch.__version__}, the steps of a run as one CUDA graph"}


def timed(work):
    times = []
    for call in range(calls + 50):
        begin = time.perf_counter()
        work()
        if call >= 50:
            times.append(1e6 * (time.perf_counter() - begin))
    return times


a = torch.rand(1000, 50, device="cuda")
x = torch.rand(50, device="cuda")
y = torch.empty(1000, device="cuda")


def matvec():
    torch.mv(a, x, out=y)
    torch.cuda.synchronize()


results["matvec"] = timed(matvec)

bins, channels, size = 100, 50, 1000
host = (torch.rand(bins, channels) < 0.2).float()
w_in = torch.rand(size, channels, device="cuda") - 0.5
dense = (torch.rand(size, size, device="cuda") - 0.5) * 2 * 1.2 * (3 / size) ** 0.5
sparse = torch.where(torch.rand(size, size, device="cuda") < 0.1, dense * 10**0.5, torch.zeros((), device="cuda")).to_sparse_csr()
for label, weights in (("dense", dense), ("p=0.1", sparse)):
    inputs = torch.empty(bins, channels, device="cuda")
    states = torch.empty(bins, size, device="cuda")

    def run():
        drive = inputs @ w_in.T
        x = torch.zeros(size, 1, device="cuda")
        for t in range(bins):
            x = torch.lerp(x, torch.tanh(drive[t].unsqueeze(1) + weights @ x), 0.3)
            states[t] = x[:, 0]

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        run()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()

    def call(rows):
        inputs.copy_(host)
        graph.replay()
        return states[-rows:].cpu().numpy()

    results[f"{label} last"] = timed(lambda: call(1))
    results[f"{label} all"] = timed(lambda: call(bins))
print(json.dumps(results))
