// What test/browser/webgpu.test.ts calls in a page.
import { Forecaster, type Matrix, mackeyGlass, ReservoirComputer, ridge } from "../../src/browser.js";
import type { ReservoirOptions } from "../../src/reservoir/index.js";
import { bitsHere } from "../bits/cases.js";
import { goldenSeries } from "../golden/series.js";

async function hash(...parts: readonly Matrix[]): Promise<string> {
  const digests = [];
  for (const { data } of parts) digests.push(new Uint8Array(await crypto.subtle.digest("SHA-256", data as Float32Array<ArrayBuffer>)));
  return digests.map((digest) => Array.from(digest.subarray(0, 8), (byte) => byte.toString(16).padStart(2, "0")).join("")).join(" ");
}

/** Sums of a run in more than a chunk, a batch, a closed loop, and the run after it. */
async function sumsOf(options: ReservoirOptions, engine: string): Promise<string> {
  await using computer = await ReservoirComputer.create({ seed: 5, arithmetic: "integer", ...options }, { engine });
  const { inputSize, outputSize } = computer.model as { inputSize: number; outputSize: number };
  const series = (seed: number, rows: number, columns: number): Matrix => {
    const made = goldenSeries(seed, rows, columns, "float32");
    // Beyond 8 inputs are cut.
    for (let i = 0; i < made.data.length; i += 7) made.data[i]! *= 12;
    return made;
  };
  const teach = (seed: number, rows: number) => (outputSize > 0 ? series(seed, rows, outputSize) : undefined);
  const inputs = series(1, 600, inputSize);
  const states = await computer.run(inputs, { teacher: teach(2, 600) });
  const batch = await computer.batch([series(3, 5, inputSize), series(4, 20, inputSize)], {
    teachers: outputSize > 0 ? [teach(5, 5)!, teach(6, 20)!] : undefined,
  });
  const outputs = outputSize || 1;
  const readout = ridge({ lambda: 1e-3 }).fit(states, goldenSeries(7, 600, outputs, "float64"), { washout: 50 });
  const outside = outputSize > 0 ? inputSize : inputSize - 1;
  const loop = inputSize > 0 ? [await computer.generate(20, readout, outside > 0 ? { inputs: series(8, 20, outside) } : {})] : [];
  const after = await computer.run(series(9, 3, inputSize), { teacher: teach(9, 3) });
  return hash(states, ...(batch as Matrix[]), ...loop, after);
}

/** A forecaster's next 30 values. */
async function forecastOf(engine: string): Promise<string> {
  const reservoir = { size: 60, seed: 2, arithmetic: "integer" } as const;
  await using forecaster = await Forecaster.fit(mackeyGlass(500, { seed: 1 }), { reservoir, engine });
  return hash((await forecaster.forecast(30)) as Matrix);
}

/** What an attempt says. */
async function refusal(attempt: "floats" | "threads" | "step" | "device"): Promise<string> {
  const integers = { size: 10, arithmetic: "integer" } as const;
  try {
    if (attempt === "floats") await ReservoirComputer.create({ size: 10 }, { engine: "webgpu" });
    if (attempt === "threads") await ReservoirComputer.create(integers, { engine: "webgpu", threads: 2 });
    if (attempt === "device") await ReservoirComputer.create(integers, { engine: "webgpu" });
    if (attempt === "step") {
      await using computer = await ReservoirComputer.create(integers, { engine: "webgpu" });
      computer.step(Float32Array.of(0.5));
    }
    return "taken";
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`;
  }
}

const page = { sumsOf, forecastOf, refusal, bitsHere };
Object.assign(globalThis, { page });
document.title = "ready";

export type Page = typeof page;
