"""Brian2 on the network of bench/cpu/liquid.mjs: exact integration, the same synapses, weights and delays, background spikes of the same rate.

Usage: liquid.py FOLDER MODE STEPS SAMPLES, MODE being cython or standalone. FOLDER holds network.json. Prints one JSON line; seconds are process CPU time of the
simulation alone, without building the network or compiling.
"""
import json
import os
import sys
import time

folder, mode, steps, samples = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
from brian2 import *  # noqa: E402,F403

prefs.logging.console_log_level = "ERROR"
prefs.logging.file_log = False
if mode == "standalone":
    set_device("cpp_standalone", directory=os.path.join(folder, "brian"), build_on_run=False)
    prefs.devices.cpp_standalone.openmp_threads = 0
else:
    prefs.codegen.target = "cython"
    prefs.codegen.runtime.cython.cache_dir = os.path.join(folder, "cython")

with open(os.path.join(folder, "network.json")) as file:
    net = json.load(file)
defaultclock.dt = net["timeStep"] * ms
tau, tau_e, tau_i, tau_x = (net[name] * ms for name in ("tau", "tauE", "tauI", "tauX"))
equations = """
dv/dt = (ge + gi - v) / tau : 1 (unless refractory)
dge/dt = -ge / tau_e : 1
dgi/dt = -gi / tau_i : 1
dx/dt = -x / tau_x : 1
hold : second
"""
neurons = NeuronGroup(
    net["size"], equations, threshold=f"v >= {net['threshold']}", reset=f"v = {net['reset']}; x += 1", refractory="hold", method="exact"
)
neurons.hold = np.array(net["refractory"]) * ms
parts = []
for sign, variable in ((1, "ge"), (-1, "gi")):
    chosen = np.sign(net["weights"]) == sign
    synapses = Synapses(neurons, neurons, "w : 1", on_pre=f"{variable}_post += w")
    synapses.connect(i=np.array(net["sources"])[chosen], j=np.array(net["targets"])[chosen])
    synapses.w = np.array(net["weights"])[chosen]
    synapses.delay = np.array(net["delays"])[chosen] * ms
    parts.append(synapses)
background = PoissonInput(neurons, "ge", 1, net["rate"] * Hz, net["weight"])
monitor = SpikeMonitor(neurons, record=False)
network = Network(neurons, *parts, background, monitor)
duration = steps * defaultclock.dt
seconds = []
if mode == "standalone":
    build = os.path.join(folder, "brian")
    device.insert_code("before_network_run", "clock_t begun = clock();")
    report = 'FILE *cpu = fopen("cpu.txt", "w"); fprintf(cpu, "%.9f", (double)(clock() - begun) / CLOCKS_PER_SEC); fclose(cpu);'
    device.insert_code("after_network_run", report)
    network.run(duration)
    device.build(directory=build, compile=True, run=False, with_output=False)
    for _ in range(samples):
        device.run(build, with_output=False, run_args=[])
        with open(os.path.join(build, "cpu.txt")) as file:
            seconds.append(float(file.read()))
    spikes = monitor.num_spikes
else:
    network.run(200 * defaultclock.dt)
    for _ in range(samples):
        before = monitor.num_spikes
        begun = time.process_time()
        network.run(duration)
        seconds.append(time.process_time() - begun)
    spikes = monitor.num_spikes - before
import brian2  # noqa: E402

print(json.dumps({"seconds": seconds, "spikes": int(spikes), "version": brian2.__version__}))
