"""Brian2 on the network of bench/cpu/plasticity-brian.ts: the same neurons, synapses, weights, delays and currents, exact integration.

Usage: plasticity.py FILE. FILE is JSON. Prints one JSON line: version, seconds, spikes (step, neuron) and the final weights of the plastic synapses.
"""
import json
import sys
import time

from brian2 import *  # noqa: E402,F403
import brian2

prefs.codegen.target = "numpy"
prefs.logging.file_log = False
with open(sys.argv[1]) as file:
    net = json.load(file)

defaultclock.dt = net["timeStep"] * ms
tau = net["tau"] * ms
neurons = NeuronGroup(
    net["size"],
    "dv/dt = (drive - v) / tau : 1\ndrive : 1 (constant)",
    threshold=f"v >= {net['threshold']}",
    reset="v = 0",
    method="exact",
)
neurons.drive = net["drive"]
parts = [neurons]
rule = net["stdp"]
stdp = Synapses(
    neurons,
    neurons,
    """w : 1
    dx/dt = -x / (%g*ms) : 1 (event-driven)
    dy/dt = -y / (%g*ms) : 1 (event-driven)"""
    % (rule["potentiationTimeConstant"], rule["depressionTimeConstant"]),
    on_pre={"arrive": "w = clip(w - down * (w / most)**muDown * y, 0, most); v_post += w", "trace": "x += 1"},
    on_post={"fire": "w = clip(w + up * (1 - w / most)**muUp * x, 0, most)", "mark": "y += 1"},
    namespace={
        "up": rule["learningRate"] * rule["maximumWeight"],
        "down": rule["learningRate"] * rule["depressionRatio"] * rule["maximumWeight"],
        "most": rule["maximumWeight"],
        "muUp": rule["potentiationExponent"],
        "muDown": rule["depressionExponent"],
    },
)
# Arrivals, then firings, then the traces: two spikes at one time are no pair.
stdp.connect(i=net["timing"]["sources"], j=net["timing"]["targets"])
stdp.arrive.order, stdp.fire.order, stdp.trace.order, stdp.mark.order = 0, 1, 2, 2
stdp.w = net["timing"]["weights"]
stdp.arrive.delay = np.array(net["timing"]["delays"]) * ms
stdp.trace.delay = np.array(net["timing"]["delays"]) * ms
parts.append(stdp)
rule = net["shortTerm"]
short = Synapses(
    neurons,
    neurons,
    """w : 1
    du/dt = -u / (%g*ms) : 1 (event-driven)
    dx/dt = (1 - x) / (%g*ms) : 1 (event-driven)"""
    % (rule["facilitationTimeConstant"], rule["recoveryTimeConstant"]),
    on_pre="u += U * (1 - u)\nv_post += w * u * x\nx -= u * x",
    namespace={"U": rule["release"]},
)
short.connect(i=net["dynamic"]["sources"], j=net["dynamic"]["targets"])
short.w = net["dynamic"]["weights"]
short.delay = np.array(net["dynamic"]["delays"]) * ms
short.x = 1
parts.append(short)
monitor = SpikeMonitor(neurons)
network = Network(*parts, monitor)
# A spike that arrives in the step of a reset adds to the potential after it.
network.schedule = ["start", "groups", "thresholds", "resets", "synapses", "end"]
began = time.process_time()
network.run(net["durationMs"] * ms)
seconds = time.process_time() - began
steps = np.rint(np.asarray(monitor.t / defaultclock.dt)).astype(int)
spikes = sorted(zip(steps.tolist(), np.asarray(monitor.i).tolist()))
print(json.dumps({"version": brian2.__version__, "seconds": seconds, "spikes": spikes, "weights": np.asarray(stdp.w).tolist()}))
