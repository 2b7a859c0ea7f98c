// CPU bench of spiking reservoirs: 1000 integrate-and-fire neurons, 10 % connected, steps of 1 ms,
// beside Brian2 (Debian's python3-brian) on the same synapses in the same run. Usage: npm run
// bench:liquid [-- --quick] [-- --write]
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import { join } from "node:path";
import { Matrix, ReservoirComputer } from "spillway";
import { finished } from "./children.mjs";

const quick = process.argv.includes("--quick");
const samples = quick ? 3 : 7;
const steps = quick ? 5_000 : 20_000;
const python = process.env.PYTHON ?? "/usr/bin/python3";

const description = {
  kind: "spiking",
  size: 1000,
  inputSize: 0,
  connectivity: "random",
  synapses: { weight: { ee: 1.5, ei: 1.5, ie: 6, ii: 6 }, delay: [1, 5], distribution: "constant" },
  background: { rate: 400, weight: 12 },
  seed: "bench",
};

/**
 * What liquid.py reads: synapses one by one, weights in mV, delays in ms. A synapse of ours acts
 * from the step after delay + 1, as Brian2's does after its delay.
 */
function exported({ config, synapses: { offsets, targets, weights, delays }, fractionBits, size }) {
  const { neuron, inhibitory, synapses, background } = config;
  const sources = [];
  for (let source = 0; source < size; source++) for (let s = offsets[source]; s < offsets[source + 1]; s++) sources.push(source);
  const inhibitoryCount = Math.round(inhibitory.share * size);
  return {
    size,
    timeStep: config.timeStep,
    tau: neuron.membraneTimeConstant,
    tauE: synapses.excitatoryTimeConstant,
    tauI: synapses.inhibitoryTimeConstant,
    tauX: config.stateTimeConstant,
    threshold: neuron.threshold - neuron.restingPotential,
    reset: neuron.resetPotential - neuron.restingPotential,
    // Brian2 counts the step of the spike itself.
    refractory: Array.from(
      { length: size },
      (_, r) => (r < size - inhibitoryCount ? neuron : inhibitory.neuron).refractoryPeriod + config.timeStep,
    ),
    sources,
    targets: [...targets],
    weights: Array.from(weights, (units) => units / 2 ** fractionBits),
    delays: Array.from(delays, (delay) => delay * config.timeStep),
    rate: background.rate,
    weight: background.weight,
  };
}

const folder = mkdtempSync(join(os.tmpdir(), "spillway-liquid-"));
const computer = await ReservoirComputer.create(description, { engine: "cpu" });
writeFileSync(join(folder, "network.json"), JSON.stringify(exported(computer.model)));
const inputs = new Matrix(steps, 0, new Float32Array(0));
const states = Matrix.zeros(steps, 1000, "float32");

async function ours() {
  const seconds = [];
  for (let k = 0; k < samples; k++) {
    computer.reset();
    await computer.run(inputs.subarray(0, 200));
    const begun = process.cpuUsage();
    await computer.run(inputs, { into: states });
    const { user, system } = process.cpuUsage(begun);
    seconds.push((user + system) / 1e6);
  }
  return { seconds };
}

function brian(mode) {
  const { stdout, stderr, status } = finished(python, ["bench/cpu/liquid.py", folder, mode, String(steps), String(samples)], {
    encoding: "utf8",
    env: { ...process.env, OMP_NUM_THREADS: "1", MPLBACKEND: "Agg" },
  });
  if (status !== 0) throw new Error(`Brian2 (${mode}) ended with ${status}: ${stderr.trim().split("\n").at(-1)}`);
  return JSON.parse(stdout.trim().split("\n").at(-1));
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const standalone = brian("standalone");
await ours();
const first = await ours();
const cython = brian("cython");
const second = await ours();
const sides = {
  spillway: [...first.seconds, ...second.seconds],
  "Brian2, C++ standalone": standalone.seconds,
  "Brian2, Cython": cython.seconds,
};
const keep = computer.model.stateKeep;
let spikes = 0;
for (let i = 1000; i < states.data.length; i++) if (states.data[i] !== Math.fround(keep * states.data[i - 1000])) spikes++;
const hertz = (count) => (count / 1000 / (steps / 1000)).toFixed(1);

const lines = [
  `Spiking bench, ${new Date().toISOString().slice(0, 10)}, ${os.cpus()[0]?.model.trim()}, ${os.cpus().length} threads, Node ${process.versions.node}, Brian2 ${cython.version}`,
  `1000 leaky integrate-and-fire neurons, ${computer.model.synapses.targets.length.toLocaleString("en")} synapses with delays of 1 to 5 ms, steps of 1 ms, one thread each; process CPU time, median of ${samples} samples of ${steps} steps`,
  `firing: ${hertz(spikes)} Hz (spillway), ${hertz(standalone.spikes)} Hz (Brian2); spillway keeps the filtered spikes of every step, Brian2 counts spikes`,
  "",
  "| side | us a step | times real time | times spillway's |",
  "|---|---|---|---|",
];
const mine = median(sides.spillway) / steps;
for (const [name, seconds] of Object.entries(sides)) {
  const time = median(seconds) / steps;
  lines.push(`| ${name} | ${(time * 1e6).toFixed(1)} | ${(1e-3 / time).toFixed(0)} | ${(time / mine).toFixed(1)} |`);
}
console.log(lines.join("\n"));
if (process.argv.includes("--write"))
  writeFileSync(`bench/results/liquid-${new Date().toISOString().slice(0, 10)}.md`, `${lines.join("\n")}\n`);
await computer.dispose();
rmSync(folder, { recursive: true, force: true });
