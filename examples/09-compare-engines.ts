// The same reservoir on every engine there is: equal in every bit, or where they part. A machine
// without a GPU has the simulated one.
import { lorenz, probeEngines } from "spillway";
import { compare } from "spillway/analysis";

const engines = await probeEngines();
for (const { name, status } of engines) console.log(`${name.padEnd(10)} ${status.available ? "available" : "not available"}`);

const inputs = lorenz(60);
const names = [
  "reference",
  "cpu",
  "sim",
  ...engines.filter(({ name, status }) => name === "cuda" && status.available).map(({ name }) => name),
];
for (const [title, more] of [
  ["sparse", { connectionProbability: 0.1 }],
  ["dense", { connectionProbability: 1, leakRate: 1 }],
  ["noisy, float64", { noiseLevel: 0.01, precision: "float64" }],
] as const) {
  const config = { size: 65, inputSize: 3, spectralRadius: 1.25, bias: 0.2, seed: 1, ...more };
  const { others, equal } = await compare(config, inputs, names);
  const differing = others.map(({ engine, difference }) => `${engine} ${difference.differing} of ${difference.compared} differ`);
  console.log(`${title}: ${equal ? "the same bits" : "NOT the same bits"} (${differing.join(", ")})`);
}
