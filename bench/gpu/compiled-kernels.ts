// Persistent kernels compiled for a model's shape beside the shipped ones, and fast arithmetic beside
// portable: the same weights and drive, all states kept on the device, times by events, every bit
// compared. Usage: npx tsx bench/gpu/compiled-kernels.ts [--shapes] [CASE...], a case such as 1500 or
// 1000:0.1 (neurons, and the share of connections if W is sparse); with --shapes every shape
// that NVRTC might compile, beside what it is modelled at. SPILLWAY_CACHE names an empty folder for
// compilations that are not kept yet.
import { parseArgs } from "node:util";
import { Matrix, type SparseMatrix } from "../../packages/numerics/src/index.js";
import { cudaEngine } from "../../src/engine/cuda/index.js";
import { compiledDenseFits, compiledSparseFits } from "../../src/engine/cuda/persistent/compiled-shapes.js";
import { fitPlan } from "../../src/engine/cuda/persistent/index.js";
import { whyNoCompiler } from "../../src/engine/cuda/persistent/kernel-code.js";
import { longestRow } from "../../src/engine/cuda/persistent/pack.js";
import { choices } from "../../src/engine/cuda/plan.js";
import { shapeOf } from "../../src/engine/cuda/shape.js";
import type { RealSlice, TimeLoop, TimeLoopPlan } from "../../src/engine/cuda/time-loop.js";
import { resolveConfig } from "../../src/reservoir/config-schema.js";
import type { ReservoirModel } from "../../src/reservoir/model.js";
import { buildModel } from "../../src/reservoir/weights.js";

type Source = "shipped" | "nvrtc";

const engine = cudaEngine(0);
const context = engine.context();
const stream = context.stream();
const [start, end] = [context.event(), context.event()];
const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

/**
 * Uniform values in (-scale, scale), by a linear congruential generator: millions of them in no
 * time.
 */
function uniform(length: number, scale: number, seed: number): Float32Array<ArrayBuffer> {
  let state = seed;
  return Float32Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return (scale * state) / 2 ** 31;
  });
}

/** Leak rate 0.3 and a W of spectral radius about 0.9 by the circular law. */
function reservoir(size: number, density: number): ReservoirModel {
  const config = resolveConfig({ size, connectionProbability: 0, spectralRadius: null, storage: "sparse", leakRate: 0.3, inputSize: 1 });
  const scale = 0.9 * Math.sqrt(3 / (size * density));
  if (density === 1) return { ...buildModel(config), weights: new Matrix(size, size, uniform(size * size, scale, 1)) };
  const chosen = uniform(size * size, 1, 2).map((value) => (value < 2 * density - 1 ? 1 : 0));
  const rowOffsets = new Uint32Array(size + 1);
  const columns: number[] = [];
  for (let r = 0; r < size; r++) {
    for (let c = 0; c < size; c++) if (chosen[r * size + c] === 1) columns.push(c);
    rowOffsets[r + 1] = columns.length;
  }
  const weights: SparseMatrix = {
    rows: size,
    cols: size,
    rowOffsets,
    columns: Uint32Array.from(columns),
    values: uniform(columns.length, scale, 3),
  };
  return { ...buildModel(config), weights };
}

interface Measured {
  readonly loop: TimeLoop;
  readonly milliseconds: number;
  readonly microseconds: number;
  readonly states: Float32Array;
}

/**
 * The plan of a source that is modelled as fastest, opened and run; undefined if it has none.
 */
async function measure(model: ReservoirModel, kernelSource: Source, drives: Float32Array<ArrayBuffer>): Promise<Measured | undefined> {
  for (const plan of plansOf(model, kernelSource)) {
    const measured = await run(model, plan, drives);
    if (measured) return measured;
  }
  return undefined;
}

function plansOf(model: ReservoirModel, kernelSource: Source): TimeLoopPlan[] {
  const target = { engine: "cuda", device: context.info, memory: context.memoryInfo().free, whyNoCompiler: () => whyNoCompiler(context) };
  return choices(shapeOf(model), target, { kernelSource }).map(({ loop }) => loop);
}

/** Every dense or sparse shape for NVRTC that is modelled at no more than twice the best. */
function shapesOf(model: ReservoirModel): TimeLoopPlan[] {
  const made = { source: "nvrtc", arithmetic: "portable" } as const;
  const sizes = { size: model.size, precision: "float32", weightPrecision: "full", arithmetic: "portable" } as const;
  const { weights } = model;
  const plans =
    "rowOffsets" in weights
      ? compiledSparseFits(sizes, longestRow(weights), context.info).map((fit) => fitPlan(fit, made))
      : compiledDenseFits(sizes, context.info).map((fit) => fitPlan(fit, made));
  return plans.filter(({ microsecondsPerStep }) => microsecondsPerStep <= 2 * plans[0]!.microsecondsPerStep);
}

/** Opens a plan and runs it; undefined if the device does not take it. */
async function run(model: ReservoirModel, plan: TimeLoopPlan, drives: Float32Array<ArrayBuffer>): Promise<Measured | undefined> {
  const { size } = model;
  const steps = drives.length / size;
  const begun = performance.now();
  const loop = await plan.open(context, model, { kernelSource: plan.kernelSource });
  if (!loop) return undefined;
  const milliseconds = loop.kernelMilliseconds ?? performance.now() - begun;
  using drive = context.upload(drives);
  using state = context.zeros("f32", size);
  using states = context.zeros("f32", size * steps);
  const times: number[] = [];
  for (let round = 0; round < 8; round++) {
    stream.fill(state);
    start.record(stream);
    loop.enqueue(stream, {
      ...{ steps, firstStep: 0, sequence: 0, drive: drive as RealSlice, state: state as RealSlice, states: states as RealSlice },
    });
    end.record(stream);
    end.sync();
    if (round > 0) times.push((1000 * end.elapsedSince(start)) / steps);
  }
  loop.check();
  const result = { loop, milliseconds, microseconds: median(times), states: context.read(states) };
  loop.dispose();
  return result;
}

function compare(mine: Float32Array, theirs: Float32Array): string {
  const [a, b] = [mine, theirs].map(({ buffer, byteOffset, length }) => new Uint32Array(buffer, byteOffset, length)) as [
    Uint32Array,
    Uint32Array,
  ];
  let different = 0;
  let worst = 0;
  for (let i = 0; i < a.length; i++) {
    if (a[i] === b[i]) continue;
    different++;
    worst = Math.max(worst, Math.abs(mine[i]! - theirs[i]!));
  }
  return different === 0 ? "equal" : `${((100 * different) / a.length).toFixed(0)} % differ, by ${worst.toExponential(1)} at most`;
}

const usual = ["256", "300", "700", "1000", "1500", "2000", "2500", "3200", "4096", "1000:0.1", "3000:0.1"];
const { values: flags, positionals: asked } = parseArgs({ allowPositionals: true, options: { shapes: { type: "boolean" } } });
const cases = (asked.length > 0 ? asked : usual).map((text) => {
  const [size, density = 1] = text.split(":").map(Number) as [number, number?];
  return [size, density] as const;
});

console.log(
  `${context.info.name}, float32, all states kept, medians of 7 runs of 2000 steps (1000 above 2000 neurons); microseconds a step. NVRTC: ${whyNoCompiler(context) ?? context.compiler.library}\n`,
);
console.log("| case | source | plan | kernel | made in, ms | us a step | of shipped | states beside shipped |");
console.log("|---|---|---|---|---|---|---|---|");
for (const [size, density] of cases) {
  const portable = reservoir(size, density);
  const fast: ReservoirModel = { ...portable, config: { ...portable.config, arithmetic: "fast" } };
  const drives = uniform(size * (size > 2000 ? 1000 : 2000), 0.5, 4);
  const automatic = engine.plan(portable).details["kernelSource"];
  const runs = [
    ["shipped", portable],
    ["nvrtc", portable],
    ["nvrtc", fast],
  ] as const;
  let shipped: Measured | undefined;
  for (const [source, model] of runs) {
    const measured = await measure(model, source, drives).catch((error: unknown) => String(error));
    const label = `${density === 1 ? "dense" : "sparse"} N=${size}${density === 1 ? "" : `, p=${density}`}`;
    const name = `${source}${model === fast ? ", fast" : ""}${source === automatic && model === portable ? " (auto)" : ""}`;
    if (measured === undefined || typeof measured === "string") {
      console.log(`| ${label} | ${name} | | ${measured ?? "none"} | | | | |`);
      continue;
    }
    shipped ??= measured;
    const { loop, milliseconds, microseconds, states } = measured;
    const share = `${((100 * microseconds) / shipped.microseconds).toFixed(0)} %`;
    const { kernel, blocks, threads } = loop.details;
    const made = source === "shipped" ? "" : milliseconds.toFixed(0);
    console.log(
      `| ${label} | ${name} | ${loop.name} | ${kernel} x ${blocks} of ${threads} | ${made} | ${microseconds.toFixed(3)} | ${share} | ${compare(states, shipped.states)} |`,
    );
  }
  if (flags.shapes) {
    for (const plan of shapesOf(portable)) {
      const measured = await run(portable, plan, drives);
      const { kernel, blocks, threads } = plan.details;
      const told = measured ? `${measured.microseconds.toFixed(3)}, modelled ${plan.microsecondsPerStep.toFixed(3)}` : "not taken";
      console.log(`| ${size} | shape | ${plan.name} | ${kernel} x ${blocks} of ${threads} | | ${told} | | |`);
    }
  }
}

/** What opening a reservoir costs in all, as a process does it for the first time and again. */
const model = reservoir(1500, 1);
for (const kernelSource of ["shipped", "nvrtc", "builder"] as const) {
  const own = cudaEngine(0);
  own.context();
  for (const round of ["first", "again"]) {
    const begun = performance.now();
    const session = await own.open(model, { kernelSource });
    console.log(`\nopen N=1500, ${kernelSource}, ${round}: ${(performance.now() - begun).toFixed(0)} ms`);
    await session.dispose();
  }
  own.close();
}
for (const owned of [stream, start, end]) owned.dispose();
engine.close();
