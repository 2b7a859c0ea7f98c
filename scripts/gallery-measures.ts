// Pictures of measures and of other kinds of reservoir for docs/images. Usage: npx tsx
// scripts/gallery-measures.ts; npm run gallery makes them too.
import { writeFileSync } from "node:fs";
import { type AnyReservoirOptions, narma, nrmse, ReservoirComputer, ridge } from "spillway";
import { type InformationCapacity, informationCapacity, qualityMap } from "spillway/analysis";
import { type IsingModel, isingEnergy, Matrix, sampleIsing } from "spillway/numerics";
import { type Figure, plotCapacity, plotCurves, toSvg } from "spillway/plot";
import { quantumReservoir } from "spillway/reservoir";

const keep = (name: string, figure: Figure) => writeFileSync(`docs/images/${name}.svg`, toSvg(figure, { width: 640 }));

const reservoir = { size: 50, leakRate: 1, connectionProbability: 1, inputScaling: 0.5, seed: 1 } as const;
const degrees = [
  [1, 50],
  [2, 20],
  [3, 10],
] as const;
const capacities: Record<string, InformationCapacity> = {};
for (let k = 1; k <= 15; k++) {
  const spectralRadius = k / 10;
  const config = { ...reservoir, spectralRadius, bias: 0.3, precision: "float64" } as const;
  capacities[spectralRadius.toFixed(1)] = await informationCapacity(config, { degrees, length: 10_000 });
}
keep("capacity-by-radius", plotCapacity(capacities, { title: "Capacity by degree over the spectral radius, N = 50" }));

const radii = Array.from({ length: 26 }, (_, k) => (10 + 2 * k) / 40);
const { values: measured } = await qualityMap(
  { ...reservoir, size: 100 },
  {
    x: { parameter: "spectralRadius", values: radii },
    y: { parameter: "inputScaling", values: [0.5] },
    measures: ["lyapunovExponent", "storage", "transfer"],
  },
);
const exponents = measured.lyapunovExponent!.data;
const above = exponents.findIndex((value) => value >= 0);
const edge =
  radii[above - 1]! - (exponents[above - 1]! * (radii[above]! - radii[above - 1]!)) / (exponents[above]! - exponents[above - 1]!);
const most = Math.max(...measured.storage!.data, ...measured.transfer!.data);
keep(
  "information-dynamics",
  plotCurves(
    {
      "storage a neuron": { x: radii, y: measured.storage!.data },
      "transfer a connection": { x: radii, y: measured.transfer!.data },
      "exponent 0": { x: [edge, edge], y: [0, most] },
    },
    { title: "Information dynamics of 100 neurons", xLabel: "spectral radius", yLabel: "nats a step" },
  ),
);

const strengths = [0.5, 0.75, 0.9, 1.05, 1.2, 1.35, 1.5, 1.75, 2, 2.5, 3, 4];
const orders: number[] = [];
for (const strength of strengths) {
  const lorentz = { coupling: "meanField", strength, frequencySpread: 0.5, frequencyDistribution: "lorentz", order: true } as const;
  const free = { kind: "oscillator", size: 1000, pull: 1e-9, tau: 0.1, steps: 1, precision: "float64", seed: 3, ...lorentz } as const;
  await using computer = await ReservoirComputer.create(free);
  const states = await computer.run(Matrix.zeros(1000, 1));
  orders.push(Array.from({ length: 400 }, (_, t) => states.at(600 + t, 2000)).reduce((sum, order) => sum + order) / 400);
}
const exact = Array.from({ length: 141 }, (_, k) => 0.5 + k / 40);
keep(
  "synchronisation",
  plotCurves(
    {
      "sqrt(1 - Kc / K)": { x: exact, y: exact.map((strength) => Math.sqrt(Math.max(0, 1 - 1 / strength))) },
      "1000 oscillators": { x: strengths, y: orders, as: "points" },
    },
    { title: "Synchronisation", xLabel: "coupling K; Kc = 1", yLabel: "order parameter R" },
  ),
);

const [washout, train, test] = [200, 2000, 1000];
const { inputs, targets } = narma(washout + train + test, { seed: 1 });
const seeds = [1, 2, 3];
async function medianError(describe: (seed: number) => AnyReservoirOptions): Promise<number> {
  const errors: number[] = [];
  for (const seed of seeds) {
    await using computer = await ReservoirComputer.create(describe(seed));
    const states = await computer.run(inputs);
    const end = washout + train;
    const readout = ridge({ lambda: 1e-10, solver: "qr" }).fit(states.subarray(washout, end), targets.subarray(washout, end));
    errors.push(nrmse(targets.subarray(end), readout.predict(states.subarray(end))));
  }
  return errors.sort((a, b) => a - b)[1]!;
}
const virtual = [1, 2, 5, 10, 20, 30];
const features = virtual.map((nodes) => 4 * nodes);
const qubits: number[] = [];
const tanh: number[] = [];
for (const virtualNodes of virtual) {
  qubits.push(await medianError((seed) => quantumReservoir({ qubits: 4, virtualNodes, range: [0, 0.5], seed })));
  const neurons = { size: 4 * virtualNodes, spectralRadius: 0.9, leakRate: 1, inputScaling: 0.1, bias: 0.2 } as const;
  tanh.push(await medianError((seed) => ({ ...neurons, connectionProbability: 1, precision: "float64", seed })));
}
keep(
  "qubits",
  plotCurves(
    { "4 qubits": { x: features, y: qubits, as: "both" }, "tanh neurons": { x: features, y: tanh, as: "both" } },
    { title: "NARMA-10 of random input, median of 3 networks", xLabel: "features", yLabel: "NRMSE" },
  ),
);

// A ring of 10 spins: the share of samples at each energy, beside Boltzmann's.
const ring: IsingModel = { spins: 10, couplings: Array.from({ length: 10 }, (_, i) => [i, (i + 1) % 10, 1] as const) };
const beta = 0.7;
const levels = new Map<number, { weight: number; samples: number }>();
let all = 0;
for (let state = 0; state < 2 ** ring.spins; state++) {
  const energy = isingEnergy(
    ring,
    Int8Array.from({ length: ring.spins }, (_, i) => (state & (1 << i) ? 1 : -1)),
  );
  const level = levels.get(energy) ?? { weight: 0, samples: 0 };
  levels.set(energy, { ...level, weight: level.weight + Math.exp(-beta * energy) });
  all += Math.exp(-beta * energy);
}
const { energies } = await sampleIsing(ring, { beta, sweeps: 20_000 });
for (const energy of energies) levels.get(energy)!.samples++;
const sorted = [...levels].sort(([a], [b]) => a - b);
keep(
  "ising",
  plotCurves(
    {
      "exp(-beta E) / Z": { x: sorted.map(([energy]) => energy), y: sorted.map(([, { weight }]) => weight / all) },
      "20,000 samples": {
        x: sorted.map(([energy]) => energy),
        y: sorted.map(([, { samples }]) => samples / energies.length),
        as: "points",
      },
    },
    { title: "A ring of 10 spins at beta = 0.7", xLabel: "energy E", yLabel: "share of samples" },
  ),
);
