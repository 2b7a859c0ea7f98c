"""Brian2 on the network of bench/cpu/hpc-benchmark-brian.ts: the same neurons, synapses, weights, delays, potentials and spikes from outside, exact integration.

Usage: hpc_benchmark.py FILE. FILE is JSON. Prints one JSON line: version, seconds, spikes (step, neuron) and the final weights of the plastic synapses.
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
size, steps, unit = net["size"], net["steps"], net["unit"]
counts = np.zeros((steps + 1, size))
first, channels = net["inputs"]["offsets"], np.array(net["inputs"]["neurons"], dtype=int)
for step in range(steps):
    np.add.at(counts[step], channels[first[step] : first[step + 1]], 1)
outside = TimedArray(counts * net["inputs"]["weight"], dt=defaultclock.dt)
tau, tau_s = net["tau"] * ms, net["tauS"] * ms
# A spike of weight w makes the current w (t / tau_s) exp(1 - t / tau_s).
neurons = NeuronGroup(
    size,
    """dv/dt = (current + drive - v) / tau : 1 (unless refractory)
    dcurrent/dt = (2.718281828459045 * rise - current) / tau_s : 1
    drise/dt = -rise / tau_s : 1
    drive : 1 (constant)""",
    threshold=f"v >= {net['threshold']}",
    reset="v = 0",
    # A neuron is held for so long after the step in which it fires, which Brian2 counts.
    refractory=net["refractory"] * ms + defaultclock.dt,
    method="exact",
)
neurons.v = net["potential"]
neurons.drive = net["drive"]
neurons.run_regularly("rise += outside(t, i)", dt=defaultclock.dt, when="start")
fixed = Synapses(neurons, neurons, "w : 1", on_pre="rise_post += w")
fixed.connect(i=net["fixed"]["sources"], j=net["fixed"]["targets"])
fixed.w = net["fixed"]["weights"]
fixed.delay = np.array(net["fixed"]["delays"]) * ms
rule = net["plasticity"]
scale = rule["referenceWeight"] * net["perWeight"]
# The delay is dendritic: a spike is at the synapse at once, and what it sends comes later, as the target's own does. What is sent is rounded to units.
# Up to four are under way.
sent = "\n".join(f"s{k} = int(last == {k}) * floor(w / unit + 0.5) * unit + int(last != {k}) * s{k}" for k in range(4))
stdp = Synapses(
    neurons,
    neurons,
    """w : 1
    last : 1
    next : 1
    s0 : 1
    s1 : 1
    s2 : 1
    s3 : 1
    dx/dt = -x / (%g*ms) : 1 (event-driven)
    dy/dt = -y / (%g*ms) : 1 (event-driven)"""
    % (rule["potentiationTimeConstant"], rule["depressionTimeConstant"]),
    on_pre={
        "arrive": "w = clip(w - down * (w / S) * y, 0, most); last = (last + 1) % 4\n" + sent,
        "trace": "x += 1",
        "act": "next = (next + 1) % 4; rise_post += " + " + ".join(f"int(next == {k}) * s{k}" for k in range(4)),
    },
    on_post={"fire": "w = clip(w + up * (w / S)**mu * x, 0, most)", "mark": "y += 1"},
    namespace={
        "S": scale,
        "up": rule["learningRate"] * scale,
        "down": rule["learningRate"] * rule["depressionRatio"] * scale,
        "most": rule["maximumWeight"] * net["perWeight"],
        "mu": rule["potentiationExponent"],
        "unit": unit,
    },
)
stdp.connect(i=net["plastic"]["sources"], j=net["plastic"]["targets"])
stdp.w = net["plastic"]["weights"]
# Arrivals, then firings, then the traces: two spikes at one time are no pair.
stdp.act.order, stdp.arrive.order, stdp.fire.order, stdp.trace.order, stdp.mark.order = -1, 0, 1, 2, 2
delays = np.array(net["plastic"]["delays"]) * ms
stdp.act.delay = stdp.fire.delay = stdp.mark.delay = delays
monitor = SpikeMonitor(neurons)
network = Network(neurons, fixed, stdp, monitor)
# A spike that arrives in the step of a reset adds to the current after it.
network.schedule = ["start", "groups", "thresholds", "resets", "synapses", "end"]
began = time.process_time()
network.run(steps * defaultclock.dt)
seconds = time.process_time() - began
at = np.rint(np.asarray(monitor.t / defaultclock.dt)).astype(int)
spikes = sorted(zip(at.tolist(), np.asarray(monitor.i).tolist()))
print(json.dumps({"version": brian2.__version__, "seconds": seconds, "spikes": spikes, "weights": np.asarray(stdp.w).tolist()}))
