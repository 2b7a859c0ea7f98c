// The same reservoir on every engine there is: equal in every bit, or where they part, as a
// picture. A machine without a GPU has the simulated one.
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { lorenz, probeEngines } from "spillway";
import { compare } from "spillway/analysis";
import { type Figure, plotComparison, toHtml } from "spillway/plot";

const engines = (await probeEngines()).filter(({ name, status }) => name !== "reference" && status.available).map(({ name }) => name);
const figures: Figure[] = [];
for (const [title, more] of [
  ["sparse", { connectionProbability: 0.1 }],
  ["dense", { connectionProbability: 1, leakRate: 1 }],
  ["noisy, float64", { noiseLevel: 0.01, precision: "float64" }],
] as const) {
  const config = { size: 65, inputSize: 3, spectralRadius: 1.25, bias: 0.2, seed: 1, ...more };
  const compared = await compare(config, lorenz(60), ["reference", ...engines]);
  const differing = compared.others.map(({ engine, difference }) => `${engine} ${difference.differing} of ${difference.compared} differ`);
  console.log(`${title}: ${compared.equal ? "the same bits" : "NOT the same bits"} (${differing.join(", ")})`);
  figures.push(plotComparison(compared, { title }));
}
const page = `${tmpdir()}/engines.html`;
writeFileSync(page, await toHtml(figures, { title: "Engines side by side" }));
console.log(`picture: ${page}`);
