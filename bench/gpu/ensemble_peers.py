"""Independent reservoirs by JAX's vmap over scan under jit: million reservoir-steps a second, all states kept, float32. Medians; prints JSON."""
import json
import os
import statistics
import time

os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_default_matmul_precision", "highest")
results = {"version": jax.__version__}
for size, count in ((64, 1056), (128, 1056), (200, 1056), (256, 1056)):
    steps = 500
    draw = np.random.default_rng(0)
    w = jnp.asarray((draw.standard_normal((count, size, size)) * 0.9 / np.sqrt(size)).astype(np.float32))
    w_in = jnp.asarray(draw.uniform(-1, 1, (count, size)).astype(np.float32))
    u = jnp.asarray(draw.standard_normal(steps).astype(np.float32))

    @jax.jit
    def run(w, w_in, u):
        def one(w, w_in):
            def step(x, value):
                x = 0.7 * x + 0.3 * jnp.tanh(w_in * value + w @ x)
                return x, x

            return jax.lax.scan(step, jnp.zeros(size), u)[1]

        return jax.vmap(one)(w, w_in)

    run(w, w_in, u).block_until_ready()
    times = []
    for _ in range(5):
        start = time.perf_counter()
        run(w, w_in, u).block_until_ready()
        times.append(time.perf_counter() - start)
    results[f"dense N={size}"] = count * steps / statistics.median(times) / 1e6
    del w, w_in
print(json.dumps(results))
