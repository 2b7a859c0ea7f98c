# Thresholds of the published table of information processing capacity, by its own protocol: the
# notebook sample1_esn and utils/ of github.com/kubota0130/ipc. Of every partition of a degree, the
# largest capacity of 200 inputs shuffled by NumPy's seeds 0 to 199, T = 1,000,000. Written once for
# information-capacity.ts; five minutes and 9 GB on two cores.
#   python3 bench/accuracy/information_capacity_thresholds.py > bench/accuracy/information-capacity-thresholds.json
import json
import numpy as np

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

shuffled = np.empty((seeds, washout + T))
for seed in range(seeds):
    np.random.seed(seed)
    shuffled[seed] = np.random.permutation(zeta)

parts = [p for degree in range(1, 6) for p in partitions(degree)]
products = np.zeros((len(radii) * N, len(parts) * seeds))
squares = np.zeros(len(parts) * seeds)
block = 4000
for t in range(0, T, block):
    at = washout + t
    u = shuffled[:, at - 5 : at + block]
    p = [np.ones_like(u), u]
    for n in range(1, 5):
        p.append(((2 * n + 1) * u * p[n] - n * p[n - 1]) / (n + 1))
    z = np.ones((len(parts), seeds, block))
    for row, each in zip(z, parts):
        for i, degree in enumerate(each):
            row *= p[degree][:, 4 - i : 4 - i + block]
    z = z.reshape(-1, block)
    products += states[t : t + block].reshape(block, -1).T @ z.T
    squares += np.einsum("ij,ij->i", z, z)

out = {}
for r, radius in enumerate(radii):
    along = directions[r].T @ products[r * N : (r + 1) * N]
    largest = ((along**2).sum(0) / squares).reshape(len(parts), seeds).max(1)
    out[radius] = {",".join(map(str, each)): float(f"{value:.9g}") for each, value in zip(parts, largest)}
print(json.dumps(out, indent=2))
