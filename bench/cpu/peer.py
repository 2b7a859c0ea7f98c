"""The NumPy/SciPy peer of the CPU bench: float32 loops, one thread, written as fast as they go without a compiler.

Reads one JSON request a line, answers one JSON line. Times are process CPU time.
"""
import json
import sys
import time

import numpy as np
import scipy
from scipy import sparse
from scipy.sparse import _sparsetools


def reservoir(size, density, seed):
    rng = np.random.default_rng(seed)
    if density < 1:
        w = sparse.random(size, size, density, format="csr", dtype=np.float32, random_state=seed)
        w.data = (rng.uniform(-1, 1, w.nnz) * (0.9 / np.sqrt(size * density / 3))).astype(np.float32)
    else:
        w = (rng.uniform(-1, 1, (size, size)) * (0.9 / np.sqrt(size / 3))).astype(np.float32)
    win = rng.uniform(-1, 1, (size, 3)).astype(np.float32)
    return w, win


def create(size, density, radius, distribution, seed):
    """W of spectral radius .95 in float32: drawn in float64 without a diagonal, measured, scaled, rounded once."""
    rng = np.random.default_rng(seed)
    draw = rng.standard_normal if distribution == "normal" else lambda shape: rng.uniform(-1, 1, shape)
    if density < 1:
        w = sparse.random(size, size, density, format="csr", random_state=rng, data_rvs=draw)
        w.setdiag(0)
        squares = np.square(w.data).sum()
    else:
        w = draw((size, size))
        np.fill_diagonal(w, 0)
        squares = size * size * w.var()
    if radius == "circularLaw":
        measured = np.sqrt(squares / size)
    else:
        from scipy.sparse.linalg import ArpackNoConvergence, eigs

        try:
            measured = abs(eigs(w, k=1, ncv=60, which="LM", return_eigenvectors=False)[0])
        except ArpackNoConvergence:
            measured = abs(np.linalg.eigvals(w if density == 1 else w.toarray())).max()
    w *= 0.95 / measured
    return w.astype(np.float32)


def run(w, win, inputs, states, leak):
    """x' = (1 - a) x + a tanh(W x + W_in u): the drive of all steps in one product, then in-place operations."""
    size = win.shape[0]
    drive = inputs @ win.T
    x = np.zeros(size, np.float32)
    z = np.empty(size, np.float32)
    keep, a = np.float32(1 - leak), np.float32(leak)
    dense = isinstance(w, np.ndarray)
    for t in range(inputs.shape[0]):
        if dense:
            np.dot(w, x, out=z)
        else:
            z.fill(0)
            _sparsetools.csr_matvec(size, size, w.indptr, w.indices, w.data, x, z)
        z += drive[t]
        np.tanh(z, out=z)
        z *= a
        x *= keep
        x += z
        states[t] = x


def ridge(states, targets, lam):
    gram = states.T @ states
    gram.flat[:: gram.shape[0] + 1] += lam
    return scipy.linalg.solve(gram, states.T @ targets, assume_a="pos", overwrite_a=True)


current = {}
for line in sys.stdin:
    request = json.loads(line)
    kind = request["kind"]
    if kind == "about":
        answer = {"numpy": np.__version__, "scipy": scipy.__version__}
    elif kind == "reservoir":
        key = (request["size"], request["density"])
        if current.get("key") != key:
            w, win = reservoir(*key, 1)
            current = {"key": key, "w": w, "win": win}
        steps = request["steps"]
        inputs = np.random.default_rng(2).uniform(-1, 1, (steps, 3)).astype(np.float32)
        if current.get("states") is None or len(current["states"]) != steps:
            current["states"] = np.ones((steps, key[0]), np.float32)
        states = current["states"]
        start = time.process_time()
        run(current["w"], current["win"], inputs, states, 0.3)
        answer = {"seconds": (time.process_time() - start) / steps}
    elif kind == "create":
        start = time.process_time()
        for k in range(request["steps"]):
            create(request["size"], request["density"], request["radius"], request["distribution"], request["seed"] + k)
        answer = {"seconds": (time.process_time() - start) / request["steps"]}
    elif kind == "ridge":
        import scipy.linalg

        rows, size = request["rows"], request["size"]
        rng = np.random.default_rng(3)
        states = np.tanh(rng.standard_normal((rows, size)))
        targets = rng.standard_normal((rows, 1))
        start = time.process_time()
        ridge(states, targets, 1e-6)
        answer = {"seconds": time.process_time() - start}
    print(json.dumps(answer), flush=True)
