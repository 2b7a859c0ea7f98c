"""PyTorch's side of the bench of copies: 256 MiB between pinned memory and the device, timed by events as ours are."""
import json
import statistics

import torch

size = 256 * 2**20
pinned = torch.empty(size, dtype=torch.uint8, pin_memory=True)
target = torch.empty(size, dtype=torch.uint8, device="cuda")


def rate(copy):
    rates = []
    for round in range(23):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        copy()
        end.record()
        end.synchronize()
        if round >= 3:
            rates.append(size / start.elapsed_time(end) / 1e6)
    return statistics.median(rates)


up = rate(lambda: target.copy_(pinned, non_blocking=True))
down = rate(lambda: pinned.copy_(target, non_blocking=True))
print(json.dumps({"version": torch.__version__, "up": up, "down": down}))
