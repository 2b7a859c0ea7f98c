// Spillway's side of packages.mjs, on the built package. Usage: packages-ours.mjs PRECISION serve
// FOLDER, which answers one JSON request a line, or packages-ours.mjs PRECISION start FOLDER, a
// whole program that ends. Times are process CPU time.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const [precision, mode, folder] = process.argv.slice(2);

const cpuSeconds = (since) => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1e6;
};

if (mode === "start") {
  const { size, steps, ahead, leak, lambda, washout } = JSON.parse(readFileSync(join(folder, "start.json"), "utf8"));
  const before = process.cpuUsage();
  const { ReservoirComputer, ridge } = await import("spillway");
  const imported = cpuSeconds(before);
  const bytes = readFileSync(join(folder, "series.f64"));
  const series = new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  const computer = await ReservoirComputer.create({ size, connectionProbability: 0.1, spectralRadius: 0.95, leakRate: leak, precision });
  const states = await computer.run(series.subarray(0, steps));
  const readout = ridge({ lambda }).fit(states, series.subarray(1, steps + 1), { washout });
  const forecast = await computer.generate(ahead, readout);
  console.log(JSON.stringify({ imported, cpu: cpuSeconds(), forecast: [...forecast.data] }));
} else {
  await serve();
}

async function serve() {
  const { createInterface } = await import("node:readline");
  const { Matrix, ReservoirComputer, ridge } = await import("spillway");
  const { npyToMatrix, readNpz } = await import("spillway/series");
  const prepared = new Map();

  async function prepare({ size, leak }) {
    const arrays = await readNpz(join(folder, `${size}.npz`));
    const series = npyToMatrix(arrays.series);
    const { indptr, indices, data, bias } = arrays;
    const weights = { rows: size, cols: size, rowOffsets: indptr.data, columns: indices.data, values: data.data };
    const computer = await ReservoirComputer.create(
      { size, leakRate: leak, precision, storage: "sparse" },
      { threads: 1, matrices: { weights, inputWeights: npyToMatrix(arrays.inputWeights), bias: Matrix.from(bias.data) } },
    );
    return { computer, series };
  }

  async function sample({ size, steps, ahead, washout, lambda }) {
    const { computer, series } = prepared.get(size);
    computer.reset();
    const begun = process.cpuUsage();
    const states = await computer.run(series.slice(0, steps));
    const run = cpuSeconds(begun);
    const readout = ridge({ lambda }).fit(states, series.slice(1, steps + 1), { washout });
    const fit = cpuSeconds(begun);
    const forecast = await computer.generate(ahead, readout);
    const generate = cpuSeconds(begun);
    return { run, fit: fit - run, generate: generate - fit, forecast: [...forecast.data] };
  }

  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line);
    if (request.kind === "prepare") prepared.set(request.size, await prepare(request));
    const answer = request.kind === "prepare" ? {} : await sample(request);
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
  for (const { computer } of prepared.values()) await computer.dispose();
}
