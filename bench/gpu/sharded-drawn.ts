// A W that no host holds over several GPUs (the plan "sharded", drawn slice by slice, a launch for each
// step) beside one GPU: seconds until it is drawn, microseconds a step of whole runs from JavaScript,
// and what the model of cost said. The state after the run is compared with one GPU's, bit for bit.
// Usage: npx tsx bench/gpu/sharded-drawn.ts [--twice] [TEXT...], for the cases whose names have one of
// these texts; --twice names the first GPU twice, whose memory both slices are then read from
import { parseArgs } from "node:util";
import { openDevices } from "../../packages/gpu/src/index.js";
import { Matrix } from "../../packages/numerics/src/index.js";
import { contextEngine, type DeviceEngine } from "../../src/engine/cuda/index.js";
import type { Engine, EngineOptions } from "../../src/reservoir/engine.js";
import type { ReservoirOptions } from "../../src/reservoir/index.js";
import { modelOf } from "../../src/reservoir/kinds.js";
import type { ReservoirModel } from "../../src/reservoir/model.js";
import { filled } from "./filled-models.js";

const { values: flags, positionals: only } = parseArgs({ allowPositionals: true, options: { twice: { type: "boolean" } } });

const contexts = openDevices(flags.twice ? "cuda:0" : "cuda:all");
const [first, ...others] = (flags.twice ? [contexts[0]!, contexts[0]!] : contexts).map(contextEngine) as [DeviceEngine, ...DeviceEngine[]];
const all = first.device.beside(others);
const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

const dense = { connectionProbability: 1, radiusMethod: "circularLaw", spectralRadius: 0.9, seed: 1 } as const;
const cases: readonly (readonly [name: string, options: ReservoirOptions, steps: number])[] = [
  ["dense N=8192", { ...dense, size: 8192 }, 1000],
  ["dense N=32768", { ...dense, size: 32_768 }, 200],
  ["dense N=100000, bfloat16 weights", { ...dense, size: 100_000, weightPrecision: "bfloat16" }, 50],
  ["sparse N=100000, 2000 a row", { size: 100_000, connectionProbability: 0.02, spectralRadius: 0.9, seed: 1 }, 200],
];

interface Measured {
  readonly seconds: number;
  readonly microseconds: number;
  readonly modelled: number;
  readonly state: Uint32Array;
}

async function measure(engine: Engine, model: ReservoirModel, steps: number, options: EngineOptions): Promise<Measured> {
  const begun = performance.now();
  const session = await engine.open(model, options);
  const seconds = (performance.now() - begun) / 1000;
  try {
    const inputs = new Matrix(steps, 1, filled(steps, 1));
    const times: number[] = [];
    for (let round = 0; round < 4; round++) {
      const start = performance.now();
      await session.run({ inputs }, {});
      if (round > 0) times.push((1000 * (performance.now() - start)) / steps);
    }
    const state = new Uint32Array(session.getState().values.slice().buffer);
    return { seconds, microseconds: median(times), modelled: Number(session.plan.details["modelledMicrosecondsPerStep"]), state };
  } finally {
    await session.dispose();
  }
}

console.log(`${flags.twice ? "twice" : contexts.length} x ${contexts[0]!.info.name}; one input; medians of 3 runs\n`);
console.log("| case | GPUs | drawn on one, s | one GPU, us | drawn on all, s | sharded, us | modelled | times one GPU's speed | bits |");
console.log("|---|---|---|---|---|---|---|---|---|");
for (const [label, options, steps] of cases) {
  if (only.length > 0 && !only.some((text) => label.includes(text))) continue;
  const model = (await modelOf(options, all)) as ReservoirModel;
  const one = await measure(first, model, steps, { plan: "streamed" });
  const over = await measure(all, model, steps, { plan: "sharded", kernelSource: "shipped" });
  const equal = over.state.every((word, i) => word === one.state[i]);
  if (!equal) process.exitCode = 1;
  const times = `${one.seconds.toFixed(2)} | ${one.microseconds.toFixed(1)} | ${over.seconds.toFixed(2)} | ${over.microseconds.toFixed(1)}`;
  const faster = (one.microseconds / over.microseconds).toFixed(2);
  console.log(
    `| ${label} | ${others.length + 1} | ${times} | ${over.modelled.toFixed(1)} | ${faster} | ${equal ? "equal" : "DIFFERENT"} |`,
  );
}
for (const context of contexts) context.dispose();
