# What the published table of information processing capacity has that ours has not, by its own
# protocol: the notebook sample1_esn and utils/ of github.com/kubota0130/ipc, T = 1,000,000. Of
# every partition of a degree, the largest capacity of 200 inputs shuffled by NumPy's seeds 0 to
# 199; of every degree, the capacity of targets with the input of the moment (delay 0), which the
# state has not heard yet, so far as it passes by chance. Written once for information-capacity.ts,
# by CuPy in two minutes; without it, a quarter of an hour and 9 GB on two cores.
#   python3 bench/accuracy/information_capacity_thresholds.py > bench/accuracy/information-capacity-thresholds.json
import json
import numpy as np

try:
    import cupy as xp
except ImportError:
    xp = np

N, washout, T, seeds = 50, 10_000, 1_000_000, 200
radii = [round(0.1 * k, 1) for k in range(1, 13)]
np.random.seed(0)
win = (2 * np.random.rand(N) - 1) * (np.random.rand(N) < 0.1)
w = (2 * np.random.rand(N, N) - 1) * (np.random.rand(N, N) < 0.5)
w = w / np.max(np.abs(np.linalg.eigvals(w)))
np.random.seed(0)
zeta = 2 * np.random.rand(washout + T) - 1


def partitions(n, most=None):
    if n == 0:
        yield ()
    for k in range(min(n, most or n), 0, -1):
        for rest in partitions(n - k, k):
            yield (k,) + rest


weights = np.stack([radius * w.T for radius in radii])
states = np.zeros((T, len(radii), N))
x = np.zeros((len(radii), 1, N))
for t in range(1, washout + T):
    x = np.tanh(x @ weights + 0.1 * win * zeta[t - 1])
    if t >= washout:
        states[t - washout] = x[:, 0]

directions = []
for r in range(len(radii)):
    states[:, r] -= states[:, r].mean(0)
    sigma, v = np.linalg.svd(np.linalg.qr(states[:, r], mode="r"))[1:]
    keep = sigma**2 > sigma[0] ** 2 * N * np.finfo(float).eps
    directions.append(v[keep].T / sigma[keep])

states, zeta_there = xp.asarray(states.reshape(T, -1)), xp.asarray(zeta)
shuffled = xp.empty((seeds, washout + T))
for seed in range(seeds):
    np.random.seed(seed)
    shuffled[seed] = xp.asarray(np.random.permutation(zeta))

parts = [p for degree in range(1, 6) for p in partitions(degree)]
products = xp.zeros((len(radii) * N, len(parts) * seeds))
squares = xp.zeros(len(parts) * seeds)
block = 4000 if xp is np else 40_000
for t in range(0, T, block):
    at = washout + t
    u = shuffled[:, at - 5 : at + block]
    p = [xp.ones_like(u), u]
    for n in range(1, 5):
        p.append(((2 * n + 1) * u * p[n] - n * p[n - 1]) / (n + 1))
    z = xp.ones((len(parts), seeds, block))
    for row, each in zip(z, parts):
        for i, degree in enumerate(each):
            row *= p[degree][:, 4 - i : 4 - i + block]
    z = z.reshape(-1, block)
    products += states[t : t + block].T @ z.T
    squares += xp.einsum("ij,ij->i", z, z)

# That code indexes its thresholds twice, and so takes another partition's for these. In degree 5
# it depends on the order of ties in a sort that is not stable; this is one such order.
taken = {(3,): (2, 1), (2, 2): (2, 1, 1), (3, 1): (2, 2), (4,): (2, 1, 1)}
taken |= {(2, 2, 1): (3, 1, 1), (3, 2): (2, 1, 1, 1), (4, 1): (2, 2, 1), (5,): (2, 1, 1, 1)}


def terms(degree, below):
    """Every product of this degree at delays below one, delays falling."""
    if degree == 0:
        yield ()
    for delay in range(below):
        for d in range(1, degree + 1):
            for rest in terms(degree - d, delay):
                yield ((d, delay),) + rest


longest = {1: 2000, 2: 300, 3: 50, 4: 30, 5: 15}
targets = [t for d, k in longest.items() for t in terms(d, k + 1) if t[-1][1] == 0]
p = [xp.ones_like(zeta_there), zeta_there]
for n in range(1, 5):
    p.append(((2 * n + 1) * zeta_there * p[n] - n * p[n - 1]) / (n + 1))
unheard = xp.zeros((len(radii) * N, len(targets)))
squared = xp.zeros(len(targets))
z = xp.empty((len(targets), block))
for t in range(0, T, block):
    for row, each in zip(z, targets):
        (d, k), *more = each
        xp.copyto(row, p[d][washout + t - k : washout + t - k + block])
        for d, k in more:
            row *= p[d][washout + t - k : washout + t - k + block]
    unheard += states[t : t + block].T @ z.T
    squared += xp.einsum("ij,ij->i", z, z)

if xp is not np:
    products, squares, unheard, squared = (xp.asnumpy(each) for each in (products, squares, unheard, squared))
out = {}
for r, radius in enumerate(radii):
    of = slice(r * N, (r + 1) * N)
    shares = (((directions[r].T @ products[of]) ** 2).sum(0) / squares).reshape(len(parts), seeds).max(1)
    largest = dict(zip(parts, shares))
    found = ((directions[r].T @ unheard[of]) ** 2).sum(0) / squared
    by_chance = dict.fromkeys(longest, 0.0)
    for value, each in zip(found, targets):
        kind = tuple(sorted((d for d, _ in each), reverse=True))
        if value > 1.2 * largest[taken.get(kind, kind)]:
            by_chance[sum(kind)] += value
    thresholds = {",".join(map(str, kind)): float(f"{1.2 * largest[taken.get(kind, kind)]:.9g}") for kind in parts}
    out[f"{radius:g}"] = {"thresholds": thresholds, "unheard": [float(f"{value:.9g}") for value in by_chance.values()]}
print(json.dumps(out, indent=2))
