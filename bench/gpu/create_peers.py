"""NumPy beside create.ts: a dense W drawn, its radius from all eigenvalues (LAPACK), and scaled.

Usage: python3 bench/gpu/create_peers.py [SIZE...]
"""

import sys
import time

import numpy

sizes = [int(size) for size in sys.argv[1:]] or [1000, 1500, 2000, 3000, 5000]
print(f"NumPy {numpy.__version__}\n")
print("| N | draw s | radius s | whole s |")
print("|---|---|---|---|")
for size in sizes:
    begun = time.perf_counter()
    weights = numpy.random.default_rng(1).uniform(-1, 1, (size, size))
    drawn = time.perf_counter()
    radius = numpy.abs(numpy.linalg.eigvals(weights)).max()
    measured = time.perf_counter()
    scaled = (weights * (0.95 / radius)).astype(numpy.float32)
    done = time.perf_counter()
    print(f"| {size} | {drawn - begun:.3f} | {measured - drawn:.3f} | {done - begun:.3f} |")
