// One reservoir over several GPUs (the plan "sharded") beside one GPU and, in the same run, PyTorch
// with NCCL as its users write it (if python3 has torch): microseconds a step of whole runs from
// JavaScript, drive and the look for states that are not finite included, and what the model of cost
// said. The state after the run is compared with one GPU's, bit for bit.
// Usage: npx tsx bench/gpu/sharded.ts [--twice] [--alone] [--load] [TEXT...], for the cases whose
// names have one of these texts; --twice names the first GPU twice, whose multiprocessors the two
// slices then share; --alone leaves PyTorch out; --load compiles the kernels of the cases and runs
// nothing, so that a later call finds them on disk
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { type Context, openDevices } from "../../packages/gpu/src/index.js";
import { Matrix } from "../../packages/numerics/src/index.js";
import { contextEngine } from "../../src/engine/cuda/index.js";
import type { Engine, EngineOptions } from "../../src/reservoir/engine.js";
import { modelOf } from "../../src/reservoir/kinds.js";
import type { ReservoirModel } from "../../src/reservoir/model.js";
import { dense, filled, modelWith } from "./filled-models.js";

const { values: flags, positionals: only } = parseArgs({
  allowPositionals: true,
  options: { twice: { type: "boolean" }, alone: { type: "boolean" }, load: { type: "boolean" } },
});

function opened(): readonly Context[] {
  try {
    return openDevices(flags.twice ? "cuda:0" : "cuda:all");
  } catch (error) {
    console.error(`this bench needs GPUs: ${(error as Error).message.split("\n")[0]}`);
    process.exit(1);
  }
}

const contexts = opened();
const engines = (flags.twice ? [contexts[0]!, contexts[0]!] : contexts).map((context) => contextEngine(context));
const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

/** Every row has `perRow` entries in columns spread over the whole. */
function sparse(size: number, perRow: number): ReservoirModel {
  const rowOffsets = Uint32Array.from({ length: size + 1 }, (_, r) => r * perRow);
  const columns = new Uint32Array(size * perRow);
  const stride = Math.floor(size / perRow);
  let state = 7;
  for (let p = 0; p < columns.length; p++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    columns[p] = (p % perRow) * stride + Math.floor((state / 2 ** 32) * stride);
  }
  return modelWith(size, { rows: size, cols: size, rowOffsets, columns, values: filled(size * perRow, 3 / Math.sqrt(perRow)) });
}

/** A dense W that the devices draw, which no host holds: quick to make at any size. */
const drawn = (size: number, weightPrecision: "full" | "bfloat16" = "full") =>
  modelOf(
    { size, connectionProbability: 1, radiusMethod: "circularLaw", spectralRadius: 0.9, seed: 1, weightPrecision },
    engines[0]!,
  ) as Promise<ReservoirModel>;

interface Measured {
  readonly microseconds: number;
  readonly modelled: number;
  readonly plan: string;
  readonly state: Uint32Array;
}

/** Steps of the run that warms up, whose states are compared. */
const compared = 1000;
/** Microseconds that a timed run aims at. */
const runMicroseconds = 60_000;

const inputsOf = (steps: number) => ({ inputs: new Matrix(steps, 1, filled(steps, 1)) });

/** x after `compared` steps, and the median microseconds of a step over five runs behind them. */
async function measure(engine: Engine, model: ReservoirModel, options: EngineOptions = {}): Promise<Measured> {
  const session = await engine.open(model, options);
  try {
    const { modelledMicrosecondsPerStep, plan: taken, kernel } = session.plan.details;
    const modelled = Number(modelledMicrosecondsPerStep);
    const plan = `${taken} ${kernel}`;
    if (flags.load) return { microseconds: 0, modelled, plan, state: new Uint32Array() };
    await session.run(inputsOf(compared), {});
    const state = new Uint32Array(session.getState().values.slice().buffer);
    const steps = Math.max(50, Math.min(10_000, Math.round(runMicroseconds / modelled)));
    const times: number[] = [];
    for (let round = 0; round < 5; round++) {
      const start = performance.now();
      await session.run(inputsOf(steps), {});
      times.push((1000 * (performance.now() - start)) / steps);
    }
    return { microseconds: median(times), modelled, plan, state };
  } finally {
    await session.dispose();
  }
}

type Case = readonly [
  name: string,
  make: () => ReservoirModel | Promise<ReservoirModel>,
  devices: readonly number[],
  options?: EngineOptions,
];

const cases: readonly Case[] = [
  ["dense N=8192", () => drawn(8192), [2, 4]],
  ["dense N=5792", () => dense(5792), [2, 4]],
  ["dense N=16384", () => drawn(16384), [2, 4]],
  ["dense N=16384, bfloat16 weights", () => drawn(16384, "bfloat16"), [2, 4]],
  ["dense N=32768", () => drawn(32768), [2, 4]],
  ["dense N=32768, by launches", () => drawn(32768), [4], { kernelSource: "shipped" }],
  ["dense N=4096", () => dense(4096), [2, 4]],
  ["dense N=2048", () => dense(2048), [2, 4]],
  ["sparse N=10000, 1000 a row", () => sparse(10_000, 1000), [2, 4]],
  ["sparse N=50000, 500 a row", () => sparse(50_000, 500), [2, 4]],
];

const peers =
  flags.alone || flags.load
    ? undefined
    : spawnSync("python3", [new URL("sharded_peers.py", import.meta.url).pathname], {
        encoding: "utf8",
        env: { ...process.env, NCCL_NVLS_ENABLE: "0" },
      });
const theirs = (peers?.status === 0 ? JSON.parse(peers.stdout.trim().split("\n").at(-1)!) : {}) as Record<string, number | string>;
if (peers && peers.status !== 0) console.log(`no PyTorch with NCCL beside it: ${peers.stderr.trim().split("\n").at(-1)}\n`);

const { name } = contexts[0]!.info;
console.log(`${contexts.length} x ${name}; float32, one input; microseconds a step, medians of 5 runs\n`);
console.log("| case | GPUs | one GPU | plan | sharded | modelled | kernel | times one GPU's speed | NCCL eager | NCCL graph | bits |");
console.log("|---|---|---|---|---|---|---|---|---|---|---|");
for (const [label, make, counts, options] of cases) {
  if (only.length > 0 && !only.some((text) => label.includes(text))) continue;
  const model = await make();
  const one = await measure(engines[0]!, model);
  for (const count of counts.filter((each) => each <= engines.length)) {
    const [first, ...others] = engines.slice(0, count);
    let cells: string;
    try {
      const all = await measure(first!.device.beside(others), model, { plan: "sharded", ...options });
      const equal = all.state.every((word, i) => word === one.state[i]);
      const peer = (kind: string) => {
        const time = theirs[`${label}, ${count} GPUs, ${kind}`];
        return typeof time === "number" ? time.toFixed(1) : "";
      };
      const faster = (one.microseconds / all.microseconds).toFixed(2);
      cells = `${all.microseconds.toFixed(2)} | ${all.modelled.toFixed(1)} | ${all.plan.split(" ")[1]} | ${faster} | ${peer("eager")} | ${peer("graph")} | ${equal ? "equal" : "DIFFERENT"}`;
      if (!equal) process.exitCode = 1;
    } catch (error) {
      cells = `${(error as Error).message.slice(0, 300)} | | | | | | `;
      process.exitCode = 1;
    }
    console.log(`| ${label} | ${count} | ${one.microseconds.toFixed(2)} | ${one.plan} | ${cells} |`);
  }
}
if (theirs["about"]) console.log(`\npeers: ${theirs["about"]}`);
for (const context of contexts) context.dispose();
