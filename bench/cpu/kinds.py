"""Steps of phase oscillators and of state-affine systems as NumPy writes them. Reads lines that name a case and a number of inputs, and prints microseconds an input."""
import sys
import time

import numpy as np

try:
    import scipy
    from scipy import sparse
except ImportError:
    scipy = sparse = None

rng = np.random.default_rng(1)
made = {}


def oscillators(coupling, size, real):
    """Two Heun steps on the phases: sines, and both products of W as one."""
    omega, bias, w_in = (rng.uniform(-1, 1, size).astype(real) for _ in range(3))
    h, gain = real(0.35), real(0.45 / size)
    w = rng.normal(size=(size, size)).astype(real) * real(0.7 / size**0.5) if coupling != "mean" else None
    if coupling == "sparse":
        w[rng.uniform(size=w.shape) > 0.1] = 0
        w = sparse.csr_matrix(w)
    cs = np.empty((size, 2), real)

    def force(phi, theta):
        cs[:, 0], cs[:, 1] = np.cos(phi), np.sin(phi)
        p = gain * cs.sum(0) * np.ones((size, 1), real) if w is None else w @ cs
        return omega + cs[:, 0] * p[:, 1] - cs[:, 1] * p[:, 0] + np.sin(theta - phi)

    def run(rows):
        phi = np.zeros(size, real)
        states = np.empty((rows, 2, size), real)
        for t in range(rows):
            theta = bias + w_in * real(np.sin(0.3 * t))
            for _ in range(2):
                k1 = force(phi, theta)
                phi = phi + real(0.5) * h * (k1 + force(phi + h * k1, theta))
            states[t, 0], states[t, 1] = np.cos(phi), np.sin(phi)
        return states

    return run


def affine(size, terms, outputs, real):
    """x' = (M_0 + sum of g_k M_k) x + o_0 + sum of g_k o_k, and an output of the same form."""
    m, o = rng.normal(size=(terms * size, size)).astype(real) * real(0.3 / size**0.5), rng.uniform(size=(terms, size)).astype(real)
    p, po = rng.normal(size=(terms * outputs, size)).astype(real), rng.uniform(size=(terms, outputs)).astype(real)

    def run(rows):
        x = np.zeros(size, real)
        states = np.empty((rows, outputs or size), real)
        for t in range(rows):
            s = real(0.5 + 0.5 * np.sin(0.3 * t))
            g = np.array([1, s, np.sqrt(s * (1 - s))][:terms], real)
            if outputs:
                states[t] = g @ ((p @ x).reshape(terms, outputs) + po)
            x = g @ ((m @ x).reshape(terms, size) + o)
            if not outputs:
                states[t] = x
        return states

    return run


print(f"NumPy {np.__version__}, {np.show_config('dicts')['Build Dependencies']['blas']['name']}" + (f", SciPy {scipy.__version__}" if scipy else ""), flush=True)
for line in sys.stdin:
    *case, rows = line.split()
    key = " ".join(case)
    if key not in made:
        made.clear()
        kind, *sizes, real = case
        real = getattr(np, real)
        if kind == "sparse" and scipy is None:
            made[key] = None
        else:
            made[key] = affine(*map(int, sizes), real) if kind == "affine" else oscillators(kind, int(sizes[0]), real)
            made[key](2)
    if made[key] is None:
        print("nan", flush=True)
        continue
    begun = time.process_time()
    made[key](int(rows))
    print(1e6 * (time.process_time() - begun) / int(rows), flush=True)
