"""Brian2 on the network of bench/cpu/microcircuit-brian.ts: the same synapses, weights, delays and initial potentials, exact integration, Poisson spikes of the same rates.

Usage: microcircuit.py FOLDER. FOLDER holds network.json and the arrays it names. Prints one JSON line: seconds of processor time and of wall time of the
simulation alone, by C++ on the threads of network.json, and rates in Hz.
"""
import json
import os
import sys

from brian2 import *  # noqa: E402,F403

folder = sys.argv[1]
prefs.logging.console_log_level = "ERROR"
prefs.logging.file_log = False
build = os.path.join(folder, "brian")
set_device("cpp_standalone", directory=build, build_on_run=False)

with open(os.path.join(folder, "network.json")) as file:
    net = json.load(file)
prefs.devices.cpp_standalone.openmp_threads = net["threads"] if net["threads"] > 1 else 0


def array(name, dtype):
    return np.fromfile(os.path.join(folder, name), dtype)


defaultclock.dt = net["timeStep"] * ms
tau, tau_s = net["tau"] * ms, net["tauS"] * ms
equations = """
dv/dt = (synaptic + drive - v) / tau : 1 (unless refractory)
dsynaptic/dt = -synaptic / tau_s : 1
drive : 1 (constant)
"""
neurons = NeuronGroup(net["size"], equations, threshold=f"v >= {net['threshold']}", reset="v = 0", refractory=net["refractory"] * ms, method="exact")
neurons.v = array("potential.f64", "f8")
neurons.drive = array("drive.f64", "f8")
synapses = Synapses(neurons, neurons, "w : 1", on_pre="synaptic_post += w")
synapses.connect(i=array("sources.u32", "u4").astype("i4"), j=array("targets.u32", "u4").astype("i4"))
synapses.w = array("weights.f64", "f8")
synapses.delay = array("delays.f64", "f8") * ms
parts = [neurons, synapses]
for each in net["populations"]:
    group = neurons[each["first"] : each["first"] + each["size"]]
    parts.append(PoissonInput(group, "synaptic", each["inputs"], net["inputRate"] * Hz, each["weight"]))
monitor = SpikeMonitor(neurons, record=False)
network = Network(*parts, monitor)


def note_time(name):
    """Writes processor time and wall time, in seconds."""
    times = '(double)clock() / CLOCKS_PER_SEC, (double)now.tv_sec + 1e-9 * (double)now.tv_nsec'
    wall = "struct timespec now; clock_gettime(CLOCK_MONOTONIC, &now);"
    device.insert_code("main", f'{{ {wall} FILE *f = fopen("{name}", "w"); fprintf(f, "%.9f %.9f", {times}); fclose(f); }}')


# In three parts: what is discarded, and the times at the beginning and the end of the rest.
network.run(net["discardMs"] * ms)
note_time("begun.txt")
before = SpikeMonitor(neurons, record=False)
network.add(before)
network.run(net["durationMs"] * ms)
note_time("ended.txt")
device.build(directory=build, compile=True, run=True, with_output=False)


def noted(name):
    for place in (build, "."):
        path = os.path.join(place, name)
        if os.path.exists(path):
            with open(path) as file:
                return np.array([float(each) for each in file.read().split()])
    raise SystemExit(f"{name} was not written")


counts = np.asarray(before.count[:])
rates = {e["name"]: float(counts[e["first"] : e["first"] + e["size"]].sum() / e["size"] / (net["durationMs"] / 1000)) for e in net["populations"]}
import brian2  # noqa: E402

seconds, wall = noted("ended.txt") - noted("begun.txt")
print(json.dumps({"version": brian2.__version__, "seconds": seconds, "wall": wall, "rates": rates}))
