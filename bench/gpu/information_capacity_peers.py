"""Information processing capacity by CuPy: degree 3 to delay 49, N = 50, one target at a time, with and without the 200 shuffled inputs of the published protocol, and 256 targets at a time. States are made before, on the host, and are not timed."""
import sys
import time

import cupy
import numpy as np

length = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
size, washout = 50, 10_000
draw = np.random.default_rng(1)
w = draw.uniform(-1, 1, (size, size)) * (draw.random((size, size)) < 0.5)
w *= 0.9 / np.abs(np.linalg.eigvals(w)).max()
w_in = 0.1 * draw.uniform(-1, 1, size)
u = draw.uniform(-1, 1, washout + length)
begun = time.perf_counter()
x, states, drive = np.zeros(size), np.empty((length, size)), np.outer(u, w_in)
for t in range(washout + length):
    x = np.tanh(w @ x + drive[t])
    if t >= washout:
        states[t - washout] = x
print(f"\nCuPy {cupy.__version__}; NumPy's states on the host: {time.perf_counter() - begun:.2f} s, not counted below\n", flush=True)


def polynomials(u):
    base = [cupy.ones_like(u), u]
    for n in range(1, 5):
        base.append(((2 * n + 1) * u * base[n] - n * base[n - 1]) / (n + 1))
    return base


def targets(degree, longest):
    """Every product of this degree at different delays."""

    def place(left, below):
        if left == 0:
            yield ()
            return
        for delay in range(below):
            for d in range(left if delay == 0 else 1, left + 1):
                for rest in place(left - d, delay):
                    yield ((d, delay),) + rest

    return list(place(degree, longest + 1))


def timed(work):
    cupy.cuda.Device().synchronize()
    begun = time.perf_counter()
    found = work()
    cupy.cuda.Device().synchronize()
    return time.perf_counter() - begun, found


def orthonormal(x):
    q, r = cupy.linalg.qr(x - x.mean(0))
    left, sigma, _ = cupy.linalg.svd(r)
    return q @ left[:, sigma**2 > sigma[0] ** 2 * size * np.finfo(float).eps]


x = cupy.asarray(states)
inputs = cupy.asarray(u)
orthonormal(x)
basis_seconds, q = timed(lambda: orthonormal(x))
across = cupy.ascontiguousarray(q.T)
base = polynomials(inputs)


def product(base, terms):
    (degree, delay), *more = terms
    z = base[degree][washout - delay : washout - delay + length]
    for degree, delay in more:
        z = z * base[degree][washout - delay : washout - delay + length]
    return z


def one(base, terms):
    z = product(base, terms)
    dots = across @ z
    return cupy.dot(dots, dots) / cupy.dot(z, z)


def one_by_one(sets):
    return cupy.stack([one(base, terms) for terms in sets])


def batched(sets, group=256):
    out = []
    for first in range(0, len(sets), group):
        z = cupy.stack([product(base, terms) for terms in sets[first : first + group]])
        out.append(((across @ z.T) ** 2).sum(0) / (z * z).sum(1))
    return cupy.concatenate(out)


def shuffled():
    found = []
    for parts in ((3,), (2, 1), (1, 1, 1)):
        for seed in range(200):
            cupy.random.seed(seed)
            own = polynomials(cupy.random.permutation(inputs))
            found.append(one(own, [(d, i) for i, d in enumerate(parts)]))
    return cupy.stack(found)


sets = targets(3, 49)
one_by_one(sets[:20])
batched(sets[:256])
print("| degree 3, targets | how | seconds | capacity |\n|---|---|---|---|")
seconds, found = timed(lambda: one_by_one(sets))
print(f"| {len(sets)} | basis | {basis_seconds:.2f} | |")
print(f"| {len(sets)} | one target at a time | {seconds:.2f} | {float(found[found > 2e-4].sum()):.4f} |", flush=True)
rate = seconds / len(sets)
seconds, found = timed(lambda: batched(sets))
print(f"| {len(sets)} | 256 at a time | {seconds:.2f} | {float(found[found > 2e-4].sum()):.4f} |", flush=True)
seconds, _ = timed(shuffled)
print(f"| 600 | 200 shuffled inputs, one target at a time | {seconds:.2f} | |", flush=True)
every = sum(len(targets(degree, longest)) for degree, longest in ((1, 1999), (2, 299), (3, 49), (4, 29), (5, 14)))
sample = [terms for degree, longest in ((1, 1999), (2, 299), (4, 29), (5, 14)) for terms in targets(degree, longest)[::60]]
seconds, _ = timed(lambda: one_by_one(sample))
print(f"| {every}, degrees 1 to 5 | one at a time, of {len(sample)} of degrees 1, 2, 4, 5 and all of 3 | {seconds / len(sample) * (every - len(sets)) + rate * len(sets):.1f} | |")
