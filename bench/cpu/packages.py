"""The peers of packages.mjs: ReservoirPy by its own nodes, and PyTorch, which has no leaky reservoir, in the loop that a careful user would write.

Usage: packages.py VARIANT serve FOLDER, which answers one JSON request a line, or packages.py VARIANT start FOLDER, a whole program that ends. VARIANT is
reservoirpy, torch-dense or torch-csr. Times are process CPU time.
"""
import json
import os
import sys
import time

variant, mode, folder = sys.argv[1:]
before = time.process_time()
import numpy as np  # noqa: E402

if variant == "reservoirpy":
    from reservoirpy.nodes import Reservoir, Ridge
else:
    import warnings

    import torch

    warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta")
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
imported = time.process_time() - before


class ReservoirPy:
    """float64, its default; a float32 reservoir computes in float64 all the same, since its state starts so."""

    def __init__(self, leak, arrays):
        from scipy.sparse import csr_array

        size = len(arrays["bias"])
        weights = csr_array((arrays["data"], arrays["indices"].astype(np.int32), arrays["indptr"].astype(np.int32)), shape=(size, size))
        self.reservoir = Reservoir(W=weights, Win=arrays["inputWeights"], bias=arrays["bias"], lr=leak)

    @classmethod
    def drawn(cls, size, leak):
        self = cls.__new__(cls)
        self.reservoir = Reservoir(units=size, lr=leak, sr=0.95, rc_connectivity=0.1, input_connectivity=1.0, seed=1)
        return self

    def run(self, inputs):
        if self.reservoir.initialized:
            self.reservoir.reset()
        self.states = self.reservoir.run(inputs)

    def fit(self, targets, ridge, washout):
        self.readout = Ridge(ridge=ridge).fit(self.states, targets, warmup=washout)

    def generate(self, ahead):
        """Node by node: a model of both (reservoir >> readout) does the same and takes longer a step."""
        out = np.empty((ahead, self.readout.output_dim))
        y = self.readout.step(self.states[-1])
        out[0] = y
        for k in range(1, ahead):
            y = self.readout.step(self.reservoir.step(y))
            out[k] = y
        return out


class Torch:
    """float32, its default, with the drive of all steps in one product and one fused product a step; the ridge fit in float64, without which it fails."""

    def __init__(self, leak, arrays):
        from scipy.sparse import csr_array

        size = len(arrays["bias"])
        dense = csr_array((arrays["data"], arrays["indices"].astype(np.int32), arrays["indptr"].astype(np.int32)), shape=(size, size))
        weights = torch.tensor(dense.toarray(), dtype=torch.float32)
        self.take(weights, torch.tensor(arrays["inputWeights"], dtype=torch.float32), torch.tensor(arrays["bias"], dtype=torch.float32), leak)

    @classmethod
    def drawn(cls, size, leak):
        self = cls.__new__(cls)
        torch.manual_seed(1)
        weights = (torch.rand(size, size) * 2 - 1) * (torch.rand(size, size) < 0.1)
        weights *= 0.95 / torch.linalg.eigvals(weights).abs().max()
        self.take(weights, torch.rand(size, 1) * 2 - 1, torch.zeros(size), leak)
        return self

    def take(self, weights, input_weights, bias, leak):
        self.weights = weights.to_sparse_csr() if variant == "torch-csr" else weights
        self.input_weights, self.bias, self.leak = input_weights, bias, leak

    def run(self, inputs):
        drive = torch.addmm(self.bias, torch.tensor(inputs, dtype=torch.float32), self.input_weights.T)
        self.states = torch.empty_like(drive)
        x = torch.zeros(len(self.bias))
        for driven, state in zip(drive.unbind(), self.states.unbind()):
            x = torch.lerp(x, torch.addmv(driven, self.weights, x).tanh_(), self.leak, out=state)

    def fit(self, targets, ridge, washout):
        states, targets = self.states[washout:].double(), torch.from_numpy(targets[washout:])
        centre, target_centre = states.mean(0), targets.mean(0)
        states -= centre
        gram = states.T @ states
        gram.diagonal().add_(ridge)
        readout = torch.cholesky_solve(states.T @ (targets - target_centre), torch.linalg.cholesky(gram))
        self.intercept = (target_centre - centre @ readout).float()
        self.readout = readout.T.float().contiguous()

    def generate(self, ahead):
        out = torch.empty(ahead, len(self.intercept))
        x = self.states[-1]
        for y in out.unbind():
            torch.addmv(self.intercept, self.readout, x, out=y)
            driven = torch.addmv(self.bias, self.input_weights, y)
            x = torch.lerp(x, torch.addmv(driven, self.weights, x).tanh_(), self.leak)
        return out.numpy()


Side = ReservoirPy if variant == "reservoirpy" else Torch


def start():
    with open(os.path.join(folder, "start.json")) as file:
        asked = json.load(file)
    series = np.fromfile(os.path.join(folder, "series.f64"))[:, None]
    steps = asked["steps"]
    side = Side.drawn(asked["size"], asked["leak"])
    side.run(series[:steps])
    side.fit(series[1 : steps + 1], asked["lambda"], asked["washout"])
    forecast = side.generate(asked["ahead"])
    print(json.dumps({"imported": imported, "cpu": time.process_time(), "forecast": forecast.ravel().tolist()}))


def serve():
    prepared = {}
    for line in sys.stdin:
        request = json.loads(line)
        size = request["size"]
        if request["kind"] == "prepare":
            with np.load(os.path.join(folder, f"{size}.npz")) as arrays:
                prepared[size] = Side(request["leak"], arrays), arrays["series"]
            answer = {}
        else:
            side, series = prepared[size]
            steps = request["steps"]
            marks = [time.process_time()]
            side.run(series[:steps])
            marks.append(time.process_time())
            side.fit(series[1 : steps + 1], request["lambda"], request["washout"])
            marks.append(time.process_time())
            forecast = side.generate(request["ahead"])
            marks.append(time.process_time())
            run, fit, generate = np.diff(marks).tolist()
            answer = {"run": run, "fit": fit, "generate": generate, "forecast": forecast.ravel().tolist()}
        print(json.dumps(answer), flush=True)


start() if mode == "start" else serve()
