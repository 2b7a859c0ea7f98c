"""Microseconds per reservoir step of what people use today, all states kept on the device, float32, one sequence, one input, leak rate 0.3.

PyTorch's loop, the same loop as a CUDA graph, cuDNN's RNN (tanh, which has no leak), JAX's scan under jit; for sparse W, cuSPARSE in a graph of steps.
Medians; prints JSON.
"""
import json
import os
import statistics
import sys
import time

os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
import torch

torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False
torch.manual_seed(1)
results = {"about": f"PyTorch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}, CUDA {torch.version.cuda}"}


def median(run, synchronise, rounds=5):
    run()
    synchronise()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        synchronise()
        times.append(1e6 * (time.perf_counter() - start))
    return statistics.median(times)


def steps_of(multiply, size, steps):
    drive = torch.rand(steps, size, device="cuda") - 0.5
    states = torch.empty(steps, size, device="cuda")

    def run():
        x = torch.zeros(size, device="cuda")
        for t in range(steps):
            x = torch.lerp(x, torch.tanh(drive[t] + multiply(x)), 0.3)
            states[t] = x

    return run


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


def torch_peers(size):
    weights = (torch.rand(size, size, device="cuda") - 0.5) * 2 * 1.2 * (3 / size) ** 0.5
    found = {}
    found["PyTorch loop"] = median(steps_of(lambda x: torch.mv(weights, x), size, 300), torch.cuda.synchronize) / 300
    found["PyTorch graph"] = median(graph(steps_of(lambda x: torch.mv(weights, x), size, 500)), torch.cuda.synchronize) / 500
    rnn = torch.nn.RNN(1, size, nonlinearity="tanh").cuda().eval()
    inputs = torch.rand(1000, 1, 1, device="cuda")
    with torch.no_grad():
        rnn.weight_hh_l0.copy_(weights)
        found["cuDNN"] = median(lambda: rnn(inputs), torch.cuda.synchronize) / 1000
    return found


def sparse_peers(size, density):
    """Rows of equal length, a column in each of so many equal stretches: no matrix of N x N for its mask."""
    row = round(size * density)
    stretch = size // row
    offsets = torch.arange(0, size * row + 1, row, device="cuda", dtype=torch.int32)
    columns = torch.arange(row, device="cuda") * stretch + torch.randint(0, stretch, (size, row), device="cuda")
    values = (torch.rand(size * row, device="cuda") - 0.5) * 2 * 1.2 * (3 / row) ** 0.5
    weights = torch.sparse_csr_tensor(offsets, columns.reshape(-1).to(torch.int32), values, (size, size))
    found = {}
    try:
        found["cuSPARSE graph"] = median(graph(steps_of(lambda x: torch.mv(weights, x), size, 200)), torch.cuda.synchronize) / 200
    except RuntimeError as error:
        print(f"no graph of cuSPARSE products: {error}", file=sys.stderr)
    found["cuSPARSE loop"] = median(steps_of(lambda x: torch.mv(weights, x), size, 200), torch.cuda.synchronize) / 200
    return found


def jax_peer(size):
    import jax
    import jax.numpy as jnp

    weights = (jax.random.uniform(jax.random.key(1), (size, size)) - 0.5) * 2 * 1.2 * (3 / size) ** 0.5
    drive = jax.random.uniform(jax.random.key(2), (1000, size)) - 0.5

    @jax.jit
    def run(weights, drive):
        def step(x, row):
            x = 0.7 * x + 0.3 * jnp.tanh(row + weights @ x)
            return x, x

        return jax.lax.scan(step, jnp.zeros(size), drive)[1]

    return median(lambda: run(weights, drive).block_until_ready(), lambda: None) / 1000


with torch.no_grad():
    for size in (256, 512, 1000, 2000, 4096, 6000):
        results[f"dense N={size}"] = torch_peers(size)
    for size, density in ((1000, 0.1), (10_000, 0.1), (20_000, 0.005), (50_000, 0.002)):
        results[f"sparse N={size}, p={density}"] = sparse_peers(size, density)
try:
    import jax

    jax.config.update("jax_default_matmul_precision", "highest")
    results["about"] += f", JAX {jax.__version__}"
    for size in (256, 512, 1000, 2000, 4096, 6000):
        results[f"dense N={size}"]["JAX scan"] = jax_peer(size)
except ImportError as error:
    print(f"no JAX: {error}", file=sys.stderr)
print(json.dumps(results))
