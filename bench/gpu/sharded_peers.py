"""A dense reservoir over several GPUs as users of PyTorch and NCCL write it: row slices of W, one process a GPU, all_gather of the state each step, eager and as a CUDA graph;
and an all-reduce of 1 GiB. Prints one line of JSON: microseconds a step by case, GB/s of the bus of the all-reduce. NVLink multicast stays off (NCCL_NVLS_ENABLE=0)."""
import json
import os
import statistics
import time

os.environ["NCCL_NVLS_ENABLE"] = "0"

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

SIZES = (8192, 16384, 32768, 4096, 5792)
CASES = [*((n, torch.float32, f"dense N={n}") for n in SIZES), (16384, torch.bfloat16, "dense N=16384, bfloat16 weights")]
GIB = 2**30


def timed(work, steps, group):
    times = []
    for _ in range(5):
        torch.cuda.synchronize()
        dist.barrier(group)
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - start) / steps * 1e6)
    return statistics.median(times)


def steps_of(size, kind, world, group):
    """A function that does so many steps."""
    rows = size // world
    weights = (torch.randn(rows, size, device="cuda") / size**0.5).to(kind)
    x, drive = torch.zeros(size, device="cuda"), torch.rand(rows, device="cuda")
    mine = torch.zeros(rows, device="cuda")

    def steps(count):
        for _ in range(count):
            product = torch.mv(weights, x.to(kind)).float() if kind != torch.float32 else torch.mv(weights, x)
            mine.lerp_(torch.tanh(product + drive), 0.3)
            dist.all_gather_into_tensor(x, mine, group=group)

    return steps


def measure(world, group, results):
    for size, kind, name in CASES:
        steps = steps_of(size, kind, world, group)
        steps(20)
        results[f"{name}, {world} GPUs, eager"] = timed(lambda: steps(200), 200, group)
        graph, side = torch.cuda.CUDAGraph(), torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            steps(5)
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            steps(100)
        graph.replay()
        results[f"{name}, {world} GPUs, graph"] = timed(graph.replay, 100, group)
        del graph, steps
    values = torch.ones(GIB // 4, device="cuda")

    def reduce():
        for _ in range(20):
            dist.all_reduce(values, group=group)

    reduce()
    microseconds = timed(reduce, 20, group)
    results[f"all-reduce of 1 GiB, {world} GPUs"] = 2 * (world - 1) / world * GIB / microseconds / 1e3


def work(rank, size, port, shared):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.cuda.set_device(rank)
    torch.backends.cuda.matmul.allow_tf32 = False
    dist.init_process_group("nccl", rank=rank, world_size=size, device_id=torch.device("cuda", rank))
    for world in (2, 4):
        if world > size:
            continue
        group = dist.new_group(list(range(world)))
        results = {}
        if rank < world:
            measure(world, group, results)
        if rank == 0:
            shared.update(results)
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    version = ".".join(str(part) for part in torch.cuda.nccl.version())
    size = min(4, torch.cuda.device_count())
    with mp.Manager() as manager:
        shared = manager.dict(about=f"PyTorch {torch.__version__}, NCCL {version}: torch.mv and all_gather_into_tensor, one process a GPU")
        mp.spawn(work, args=(size, 29500, shared), nprocs=size)
        print(json.dumps(dict(shared)))
