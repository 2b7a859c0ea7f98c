"""A dense reservoir over several GPUs as users of PyTorch and NCCL write it: row slices of W, one process a GPU, all_gather of the state each step, eager and as a CUDA graph.
Prints one line of JSON: microseconds a step by case. NVLink multicast stays off (NCCL_NVLS_ENABLE=0)."""
import json
import os
import statistics
import time

os.environ["NCCL_NVLS_ENABLE"] = "0"

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

SIZES = (4096, 8192, 16384, 32768)


def timed(work, steps):
    times = []
    for _ in range(5):
        torch.cuda.synchronize()
        dist.barrier()
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - start) / steps * 1e6)
    return statistics.median(times)


def work(rank, world, port, results):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=world)
    torch.backends.cuda.matmul.allow_tf32 = False
    for size, kind, name in [*((n, torch.float32, f"dense N={n}") for n in SIZES), (16384, torch.bfloat16, "dense N=16384, bfloat16 weights")]:
        rows = size // world
        weights = (torch.randn(rows, size, device="cuda") / size**0.5).to(kind)
        x, drive = torch.zeros(size, device="cuda"), torch.rand(rows, device="cuda")
        mine = torch.zeros(rows, device="cuda")

        def steps(count):
            for _ in range(count):
                product = torch.mv(weights, x.to(kind)).float() if kind != torch.float32 else torch.mv(weights, x)
                mine.lerp_(torch.tanh(product + drive), 0.3)
                dist.all_gather_into_tensor(x, mine)

        steps(20)
        eager = timed(lambda: steps(200), 200)
        graph, side = torch.cuda.CUDAGraph(), torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            steps(5)
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            steps(100)
        graph.replay()
        captured = timed(graph.replay, 100)
        if rank == 0:
            results[f"{name}, {world} GPUs, eager"] = eager
            results[f"{name}, {world} GPUs, graph"] = captured
        del graph, weights
    dist.destroy_process_group()


if __name__ == "__main__":
    version = ".".join(str(part) for part in torch.cuda.nccl.version())
    with mp.Manager() as manager:
        shared = manager.dict(about=f"PyTorch {torch.__version__}, NCCL {version}: torch.mv and all_gather_into_tensor, one process a GPU")
        for world in (2, 4):
            if torch.cuda.device_count() >= world:
                mp.spawn(work, args=(world, 29500 + world, shared), nprocs=world)
        print(json.dumps(dict(shared)))
