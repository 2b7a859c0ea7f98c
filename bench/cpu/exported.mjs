// Models as WebAssembly modules: bytes, and the time of a step in Node beside the package's own,
// with what they say held against the package's bits.
//   node bench/cpu/exported.mjs
import { gzipSync } from "node:zlib";
import { Matrix } from "spillway";
import { Classifier, Forecaster, toWasm } from "spillway/model";
import { mackeyGlass } from "spillway/series";

const steps = 2000;
const rounds = 7;
const series = Matrix.from(mackeyGlass(2000 + steps, { seed: 3 }));
const next = series.subarray(2000);
const rows = Array.from(next.data, (value) => [value]);
const cases = [
  ["200 neurons, a tenth of the connections", {}],
  ["200 neurons, all connections", { connectionProbability: 1 }],
  ["200 neurons, all connections, integers", { connectionProbability: 1, arithmetic: "integer" }],
  ["1000 neurons, all connections", { size: 1000, connectionProbability: 1 }],
];

async function hostOf(model) {
  const { module, host } = await toWasm(model);
  const { load } = await import(`data:text/javascript,${encodeURIComponent(host)}`);
  return { module, host: await load(module) };
}

/** The median of several rounds, in microseconds a row. */
async function timed(work, count) {
  const times = [];
  for (let round = 0; round < rounds; round++) {
    const from = performance.now();
    await work();
    times.push(((performance.now() - from) / count) * 1000);
  }
  return times.sort((a, b) => a - b)[rounds >> 1].toFixed(2);
}

const same = (a, b) => (a.every((value, i) => Object.is(value, b[i])) && a.length === b.length ? "equal" : "DIFFER");
const kilobytes = (bytes) => (bytes.length / 1000).toFixed(1);
console.log("| model | .wasm, kB | gzipped, kB | a step, µs | a step of `predict` over all rows, µs | bits |");
console.log("|---|---|---|---|---|---|");
for (const [name, reservoir] of cases) {
  const model = await Forecaster.fit(series.subarray(0, 2000), { reservoir: { size: 200, seed: 1, ...reservoir } });
  const { module, host } = await hostOf(model);
  const expected = await model.predict(next);
  const bits = same(
    rows.flatMap((row) => host.predict(row)),
    expected.data,
  );
  const own = await timed(() => model.predict(next), steps);
  const exported = await timed(() => {
    for (const row of rows) host.predict(row);
  }, steps);
  console.log(`| ${[name, kilobytes(module), kilobytes(gzipSync(module)), exported, own, bits].join(" | ")} |`);
  await model.dispose();
}
const labels = Array.from({ length: 24 }, (_, b) => `rate ${b % 3}`);
const wave = (rate, phase) => Matrix.from(Array.from({ length: 200 }, (_, t) => Math.sin(rate * t + phase)));
const classifier = await Classifier.fit(
  labels.map((_, b) => wave(0.3 + 0.1 * (b % 3), b)),
  labels,
  { reservoir: { size: 100, seed: 1 } },
);
const { module, host } = await hostOf(classifier);
const one = wave(0.4, 0.5);
const sequence = Array.from(one.data, (value) => [value]);
const bits = same(host.classify(sequence).shares, (await classifier.predictProba([one])).data);
const own = await timed(() => classifier.predictProba([one]), 200);
const exported = await timed(() => host.classify(sequence), 200);
const cells = ["classifier of 100 neurons, a row in both directions", kilobytes(module), kilobytes(gzipSync(module)), exported, own, bits];
console.log(`| ${cells.join(" | ")} |`);
await classifier.dispose();
