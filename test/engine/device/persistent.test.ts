// The persistent loops against the step function: every compiled shape, at sizes that leave lanes,
// groups and blocks partly empty, with states that keep to [-1, 1] and with others, in chunks; and
// what happens when a block never comes.
import { afterAll, describe, expect, it } from "vitest";
import { type Context, type DeviceInfo, type DeviceSlice, openDevice, shippedManifest } from "../../../packages/gpu/src/index.js";
import { allocate, type FloatArray, Matrix, type SparseMatrix } from "../../../packages/numerics/src/index.js";
import { simulatedDriver } from "../../../packages/sim/src/index.js";
import { fitPlan, persistentLoops, sortedPlan } from "../../../src/engine/cuda/persistent/index.js";
import { whyNoCompiler } from "../../../src/engine/cuda/persistent/kernel-code.js";
import { PersistentLoop } from "../../../src/engine/cuda/persistent/loop.js";
import { longestRow } from "../../../src/engine/cuda/persistent/pack.js";
import {
  type DenseVariant,
  denseEntry,
  denseVariants,
  fitDense,
  fitSparse,
  type SparseVariant,
  sparseEntry,
  sparseVariants,
  tileBytes,
  tileGroups,
  unitBytes,
} from "../../../src/engine/cuda/persistent/shapes.js";
import { packSorted, sortedParts } from "../../../src/engine/cuda/persistent/sorted.js";
import {
  fitSorted,
  type SortedVariant,
  sortedEntry,
  sortedVariants,
  warpUnitBytes,
} from "../../../src/engine/cuda/persistent/sorted-shapes.js";
import { choices } from "../../../src/engine/cuda/plan.js";
import { type ModelShape, shapeOf } from "../../../src/engine/cuda/shape.js";
import { type RealSlice, StallError, type TimeLoop, type TimeLoopPlan } from "../../../src/engine/cuda/time-loop.js";
import { referenceEngine } from "../../../src/engine/reference/index.js";
import {
  type LinearReadout,
  type ReservoirModel,
  type ReservoirOptions,
  reservoirStep,
  type SessionState,
} from "../../../src/reservoir/index.js";
import { casesOf } from "../../exhaustive.js";
import { onHardware, openTestDevice } from "../../gpu/device/device.js";
import { bits, model, randomMatrix, randomReadout } from "../contract.js";

/** As many multiprocessors as the GPU that the shapes were chosen on. */
const device = onHardware
  ? openTestDevice()
  : openDevice({ driver: simulatedDriver({ multiprocessors: 132, checks: { globalRaces: true } }) });
afterAll(() => device.dispose());

/** The device with so little shared memory that weights must be streamed. */
const withShared = (bytes: number): DeviceInfo => ({
  ...device.info,
  attributes: { ...device.info.attributes, sharedBytesPerBlockOptIn: bytes },
});

/**
 * Runs chunks of a loop with a drive and a feedback of its own; gives the states and the last one.
 */
async function run(context: Context, loop: TimeLoop, of: ReservoirModel, chunks: readonly number[], inputs: Matrix, teacher: Matrix) {
  const { size, precision } = of;
  const steps = chunks.reduce((sum, count) => sum + count, 0);
  const real = precision === "float32" ? "f32" : "f64";
  const drive = drives(of, inputs, steps);
  const feedback = of.feedbackWeights ? feedbacks(of, teacher, steps) : undefined;
  const upload = (values: FloatArray) => context.upload(values as Float32Array<ArrayBuffer>) as unknown as RealSlice;
  const [driveBuffer, state] = [upload(drive), upload(of.initialState)];
  const feedbackBuffer = feedback && upload(feedback);
  const states = context.zeros(real, steps * size) as unknown as RealSlice;
  const stream = context.stream();
  let done = 0;
  const rows = (slice: RealSlice, count: number) => slice.slice(done * size, (done + count) * size) as RealSlice;
  for (const [index, count] of chunks.entries()) {
    const keep = index !== 1 || chunks.length === 1;
    loop.enqueue(stream, {
      ...{ steps: count, firstStep: done, sequence: 3, state, drive: rows(driveBuffer, count) },
      feedback: feedbackBuffer && rows(feedbackBuffer, count),
      states: keep ? rows(states, count) : undefined,
    });
    done += count;
  }
  await stream.done();
  loop.check();
  const result = { states: context.read(states) as FloatArray, last: context.read(state) as FloatArray };
  for (const buffer of [driveBuffer, state, states, ...(feedbackBuffer ? [feedbackBuffer] : [])])
    (buffer as unknown as Disposable)[Symbol.dispose]();
  stream.dispose();
  return result;
}

function drives(of: ReservoirModel, inputs: Matrix, steps: number): FloatArray {
  const round = of.precision === "float32" ? Math.fround : (value: number) => value;
  const { size, inputSize, bias, inputWeights } = of;
  const out = allocate(of.precision, steps * size);
  for (let t = 0; t < steps; t++)
    for (let r = 0; r < size; r++) {
      let sum = bias[r]!;
      for (let i = 0; i < inputSize; i++) sum = round(sum + round(inputWeights.at(r, i) * inputs.at(t, i)));
      out[t * size + r] = sum;
    }
  return out;
}

function feedbacks(of: ReservoirModel, teacher: Matrix, steps: number): FloatArray {
  const round = of.precision === "float32" ? Math.fround : (value: number) => value;
  const out = allocate(of.precision, steps * of.size);
  for (let t = 0; t < steps; t++)
    for (let r = 0; r < of.size; r++) {
      let sum = 0;
      for (let k = 0; k < of.outputSize; k++) sum = round(sum + round(of.feedbackWeights!.at(r, k) * teacher.at(t, k)));
      out[t * of.size + r] = sum;
    }
  return out;
}

/** The same chunks by the step function; the second of several is not kept and left as zeros. */
function expected(of: ReservoirModel, chunks: readonly number[], inputs: Matrix, teacher: Matrix) {
  const steps = chunks.reduce((sum, count) => sum + count, 0);
  const states = allocate(of.precision, steps * of.size);
  let x: FloatArray = of.initialState;
  for (let t = 0; t < steps; t++) {
    x = reservoirStep(of, x, inputs.row(t), teacher.row(t), t, 3);
    const skipped = chunks.length > 1 && t >= chunks[0]! && t < chunks[0]! + chunks[1]!;
    if (!skipped) states.set(x, t * of.size);
  }
  return { states, last: x };
}

async function holds(context: Context, plan: TimeLoopPlan, of: ReservoirModel, chunks: readonly number[]): Promise<void> {
  const loop = await plan.open(context, of, {});
  expect(loop, "the device takes the plan").toBeDefined();
  try {
    const steps = chunks.reduce((sum, count) => sum + count, 0);
    const inputs = randomMatrix(steps, of.inputSize, of.precision, 5);
    const teacher = randomMatrix(steps, Math.max(1, of.outputSize), of.precision, 6);
    const [mine, reference] = [await run(context, loop!, of, chunks, inputs, teacher), expected(of, chunks, inputs, teacher)];
    expect(bits(mine.states)).toEqual(bits(reference.states));
    expect(bits(mine.last)).toEqual(bits(reference.last));
  } finally {
    loop!.dispose();
  }
}

const everything = {
  inputSize: 2,
  spectralRadius: 1.25,
  bias: 0.1,
  noiseLevel: 0.01,
  feedback: { size: 2, scaling: 0.5 },
  seed: 7,
} as const;

const leaks = (size: number): number[] => Array.from({ length: size }, (_, r) => 0.1 + 0.9 * ((r % 7) / 7));

const denseModel = (size: number, precision: "float32" | "float64", more: Partial<ReservoirOptions> = {}): ReservoirModel =>
  model({ ...everything, size, precision, connectionProbability: 1, storage: "dense", leakRate: leaks(size), ...more } as ReservoirOptions);

const sparseModel = (size: number, precision: "float32" | "float64", connectionProbability: number, more: Partial<ReservoirOptions> = {}) =>
  model({ ...everything, size, precision, connectionProbability, storage: "sparse", leakRate: leaks(size), ...more } as ReservoirOptions);

/** A shape without its sizes. */
const kind = (shape: DenseVariant | SparseVariant) => JSON.stringify({ ...shape, rows: 0, rounds: 0, held: 0, warps: 0, mixed: false });

/** All shapes, or in `npm test` the first of each kind. */
function firstOfKind<T extends DenseVariant | SparseVariant>(shapes: readonly T[]): T[] {
  return casesOf(shapes, (shape, k) => shapes.findIndex((other) => kind(other) === kind(shape)) === k);
}

describe("dense shapes", () => {
  it.each(firstOfKind(denseVariants).map((variant) => [denseEntry(variant), variant] as const))(
    "%s has the step function's bits",
    async (_, variant) => {
      const size = variant.rows * variant.warps <= 16 ? 33 : 100;
      const of = denseModel(size, variant.precision, { weightPrecision: variant.weights });
      await holds(device, fitPlan(fitDense(variant, size, device.info)!), of, [2, 1, 1]);
    },
  );

  it.each(["identity", "relu", "sigmoid"] as const)("states of %s, whatever their size, go from block to block", async (activation) => {
    const of = denseModel(40, "float32", { activation, spectralRadius: 1.5 });
    const fit = fitDense(denseVariants.find(({ plan, held }) => plan === "grid" && held === 2)!, 40, device.info)!;
    of.initialState.fill(3);
    await holds(device, fitPlan(fit), of, [4, 1, 3]);
  });

  it("a run leaves [-1, 1] and comes back in the same loop", async () => {
    const of = denseModel(40, "float64", { activation: "tanh", leakRate: 0.9 });
    of.initialState.fill(-1.9);
    await holds(
      device,
      fitPlan(fitDense(denseVariants.find(({ plan, precision }) => plan === "grid" && precision === "float64")!, 40, device.info)!),
      of,
      [1, 1, 3, 2],
    );
  });

  const mixed = casesOf(
    denseVariants.filter(({ plan, mixed, held }) => plan === "grid" && mixed && held <= 6),
    ({ held, precision }) => held === 2 && precision === "float64",
  );
  it.each(mixed.map((variant) => [denseEntry(variant), variant] as const))("%s streams what the chip does not hold", async (_, variant) => {
    const { held, rows, warps, precision, weights } = variant;
    const columns = 128 * tileGroups(variant);
    const size = (held + 3) * columns - 60;
    const states = (held + 5) * columns * (precision === "float32" ? 4 : 8);
    const fit = fitDense(variant, size, withShared(64 + states + rows * warps * tileBytes(variant)))!;
    expect([fit.shared, fit.streamed]).toEqual([1, 2]);
    const of = denseModel(size, precision, { leakRate: 0.5, noiseLevel: 0, weightPrecision: weights });
    for (const kept of casesOf([0, 2 ** 31, 2 ** 32 - 1], (each) => each === 2 ** 31))
      await holds(device, fitPlan({ ...fit, kept }), of, [1, 1]);
  });
});

/** A W whose first row is full and whose others have one connection. */
function withOneFullRow(size: number): ReservoirModel {
  const rowOffsets = Uint32Array.from({ length: size + 1 }, (_, r) => (r === 0 ? 0 : size - 1 + r));
  const columns = Uint32Array.from([...Array(size).keys(), ...Array(size - 1).fill(5)]);
  const weights = { rows: size, cols: size, rowOffsets, columns, values: new Float32Array(columns.length).fill(0.01) };
  return { ...sparseModel(size, "float32", 0.1), weights };
}

/** The same reservoir, but the later half of its rows has 60 to 130 connections. */
function withShortRows(of: ReservoirModel): ReservoirModel {
  const { rows: size, cols, rowOffsets, columns, values } = of.weights as SparseMatrix;
  const kept = Array.from({ length: size }, (_, r) => {
    const length = rowOffsets[r + 1]! - rowOffsets[r]!;
    return r < size / 2 ? length : Math.min(length, 60 + ((7 * r) % 71));
  });
  const entries = kept.flatMap((length, r) => Array.from({ length }, (_, m) => rowOffsets[r]! + m));
  const offsets = Uint32Array.from({ length: size + 1 }, (_, r) => kept.slice(0, r).reduce((sum, length) => sum + length, 0));
  const chosenEntries = new Set(entries);
  const chosen = { columns: Uint32Array.from(entries, (at) => columns[at]!), values: values.filter((_, at) => chosenEntries.has(at)) };
  return { ...of, weights: { rows: size, cols, rowOffsets: offsets, ...chosen } };
}

describe("sparse shapes", () => {
  it.each(firstOfKind(sparseVariants).map((variant) => [sparseEntry(variant), variant] as const))(
    "%s has the step function's bits",
    async (_, variant) => {
      const of = sparseModel(90, variant.precision, 0.2);
      const fit = fitSparse(variant, of.size, longestRow(of.weights as SparseMatrix), device.info)!;
      await holds(device, fitPlan(fit), of, [3, 1, 2]);
    },
  );

  const mixed: readonly SparseVariant[] = sparseVariants.filter((variant) => variant.mixed && variant.held === 1);
  it.each(firstOfKind(mixed).map((variant) => [sparseEntry(variant), variant] as const))(
    "%s streams what the chip does not hold",
    async (_, variant) => {
      const of = withShortRows(sparseModel(250, variant.precision, 0.97, { leakRate: 0.5, activation: "relu", spectralRadius: 3 }));
      const { rounds, warps, precision } = variant;
      const state = 252 * (precision === "float32" ? 4 : 8);
      const little = withShared(64 + Math.ceil(state / 16) * 16 + warps * rounds * unitBytes(precision));
      const longest = longestRow(of.weights as SparseMatrix);
      const fit = fitSparse(variant, of.size, longest, little)!;
      expect([fit.held, fit.shared, fit.streamed]).toEqual([1, 1, 2]);
      await holds(device, fitPlan(fit), of, [2, 1, 1]);
    },
  );

  it("declines rows of very different lengths", async () => {
    const of = withOneFullRow(300);
    const plan = fitPlan(fitSparse(sparseVariants[1]!, of.size, of.size, device.info)!);
    expect(await plan.open(device, of, {})).toBeUndefined();
  });
});

describe("sparse shapes with sorted rows", () => {
  const shapes = sortedVariants.map((variant) => [sortedEntry(variant), variant] as const);
  const on = (variant: SortedVariant, of: ReservoirModel, sharedBytes = device.info.attributes.sharedBytesPerBlockOptIn) =>
    fitSorted(variant, shapeOf(of), withShared(sharedBytes))!;

  it.each(casesOf(shapes, (_, k) => k === 0))("%s has the step function's bits", async (_, variant) => {
    const of = sparseModel(90, "float32", 0.2);
    await holds(device, sortedPlan(on(variant, of)), of, [3, 1, 2]);
  });

  const streaming = [...shapes.map(([name, variant]) => [name, 2, variant] as const), [shapes[0]![0], 30, shapes[0]![1]] as const];
  it.each(casesOf(streaming, ([, , { lanes }]) => lanes === 4))(
    "%s keeps %i units in shared memory and streams others",
    async (_, units, variant) => {
      const of = sparseModel(410, "float32", 0.9, { activation: "relu", spectralRadius: 3, noiseLevel: 0 });
      const fit = on(variant, of, 512 + 4 * 412 + units * warpUnitBytes);
      expect(fit.sharedUnits).toBe(units);
      const loop = (await sortedPlan(fit).open(device, of, {}))!;
      expect(loop.details["bytesStreamed"]).toBeGreaterThan(0);
      loop.dispose();
      await holds(device, sortedPlan(fit), of, [2, 1]);
    },
  );

  it("declines rows of very different lengths", async () => {
    const of = withOneFullRow(300);
    const fit = fitSorted(sortedVariants[0]!, { ...shapeOf(of), nonzeros: 300 }, device.info)!;
    expect(await sortedPlan(fit).open(device, of, {})).toBeUndefined();
  });
});

/** Where NVRTC is; a GPU's tests take it for granted. */
const compiler = whyNoCompiler(device) === undefined;

describe.skipIf(!onHardware && !compiler)("kernels that NVRTC compiles", () => {
  const compiled = { source: "nvrtc", arithmetic: "portable" } as const;
  const rest = { weights: "full", closed: true } as const;
  const dense: readonly DenseVariant[] = [
    { plan: "cluster", precision: "float32", rows: 2, held: 1, warps: 16, mixed: true, ...rest },
    { plan: "grid", precision: "float32", rows: 2, held: 1, warps: 3, mixed: false, ...rest },
    { plan: "grid", precision: "float32", rows: 8, held: 1, warps: 5, mixed: true, ...rest },
    { plan: "grid", precision: "float64", rows: 1, held: 1, warps: 6, mixed: false, ...rest },
    { plan: "grid", precision: "float32", rows: 7, held: 1, warps: 3, mixed: true, ...rest },
    { plan: "grid", precision: "float32", rows: 3, held: 1, warps: 4, mixed: true, ...rest, weights: "bfloat16" },
  ];
  it.each(casesOf(dense, (_, k) => k === 0))(
    "$plan, $precision, $rows rows a warp, $warps warps have the step function's bits",
    async (variant) => {
      const more = { weightPrecision: variant.weights } as const;
      await holds(device, fitPlan(fitDense(variant, 100, device.info)!, compiled), denseModel(100, variant.precision, more), [2, 1, 1]);
      const quiet = denseModel(100, variant.precision, { ...more, noiseLevel: 0, feedback: undefined as never, activation: "relu" });
      await holds(device, fitPlan(fitDense(variant, 100, device.info)!, compiled), quiet, [2, 1]);
    },
  );

  it.each(casesOf(["float32", "float64"] as const, (_, k) => k === 0))("sparse, %s", async (precision) => {
    const of = sparseModel(90, precision, 0.2);
    const sizes = { precision, rounds: 2, held: 1, warps: 3, mixed: false, closed: true } as const;
    const plan = fitPlan(fitSparse(sizes, of.size, longestRow(of.weights as SparseMatrix), device.info)!, compiled);
    await holds(device, plan, of, [3, 1, 2]);
  });
});

describe.skipIf(!onHardware && !compiler)("fast arithmetic", () => {
  /** Eight steps: other bits, and states that differ by less than 1e-5 (docs/internals/one-reservoir.md). */
  it.each(casesOf(["cluster", "grid", "sparse"] as const, (kind) => kind === "sparse"))(
    "%s: keeps within 1e-5 of the portable steps, and has other bits",
    async (kind) => {
      const made = { source: "nvrtc", arithmetic: "fast" } as const;
      const options = { spectralRadius: 0.9 } as const;
      const of = kind === "sparse" ? sparseModel(200, "float32", 0.2, options) : denseModel(200, "float32", options);
      const sizes = { precision: "float32", weights: "full", held: 2, warps: 4, mixed: false, closed: false } as const;
      const plan =
        kind === "sparse"
          ? fitPlan(fitSparse({ ...sizes, rounds: 1 }, 200, longestRow(of.weights as SparseMatrix), device.info)!, made)
          : fitPlan(fitDense({ ...sizes, plan: kind, rows: 4, mixed: kind === "cluster" }, 200, device.info)!, made);
      const loop = (await plan.open(device, of, {}))!;
      const inputs = randomMatrix(8, of.inputSize, of.precision, 5);
      const teacher = randomMatrix(8, of.outputSize, of.precision, 6);
      const [mine, reference] = [await run(device, loop, of, [5, 3], inputs, teacher), expected(of, [5, 3], inputs, teacher)];
      loop.dispose();
      expect(loop.details["arithmetic"]).toBe("fast");
      const worst = Math.max(...[...reference.last].map((x, r) => Math.abs(x - mine.last[r]!)));
      expect(worst).toBeLessThan(1e-5);
      expect(worst).toBeGreaterThan(0);
    },
  );
});

describe("closed loops", () => {
  const dense = denseVariants.filter(({ closed }) => closed).map((variant) => [denseEntry(variant), variant] as const);
  const closable = [...dense, ...sparseVariants.filter(({ closed }) => closed).map((variant) => [sparseEntry(variant), variant] as const)];
  const features = { state: "squareHalf", input: true, squares: true } as const;
  const shipped = { source: "shipped", arithmetic: "portable" } as const;
  const compiledByNvrtc = { source: "nvrtc", arithmetic: "portable" } as const;

  const ways = closable.flatMap(([name, variant], index) =>
    [{ size: 2, scaling: 0.5 }, undefined]
      .filter((_, way) => onHardware || way === index % 2)
      .map((feedback) => [`${name}_closed`, feedback ? "by feedback weights" : "through the input", shipped, variant, feedback] as const),
  );
  /** One of each kernel family, compiled for the model. */
  const compiledToo =
    !onHardware && !compiler ? [] : ["cluster", "grid", "sparse"].map((kind) => ways.find(([name]) => name.includes(kind))!);
  const all = [
    ...ways,
    ...compiledToo.map(([name, way, , variant, feedback]) => [`${name} by NVRTC`, way, compiledByNvrtc, variant, feedback] as const),
  ];
  const same = (one: (typeof all)[number], other: (typeof all)[number]) =>
    one[1] === other[1] && one[2] === other[2] && kind(one[3]) === kind(other[3]);
  it.each(casesOf(all, (each, k) => all.findIndex((other) => same(each, other)) === k))(
    "%s closes the loop %s",
    async (_name, _way, made, variant, feedback) => {
      const size = 37;
      const options = { ...{ inputSize: feedback ? 1 : 3, leakRate: 0.7 }, feedback } as Partial<ReservoirOptions>;
      const of = "rows" in variant ? denseModel(size, variant.precision, options) : sparseModel(size, variant.precision, 0.3, options);
      const longest = "rows" in variant ? 0 : longestRow(of.weights as SparseMatrix);
      const plan =
        "rows" in variant
          ? fitPlan(fitDense(variant, size, device.info)!, made)
          : fitPlan(fitSparse(variant, size, longest, device.info)!, made);
      const loop = (await plan.open(device, of, {}))!;
      expect(loop.details["kernelSource"]).toBe(made.source);
      const readout = randomReadout(of, 2, features);
      const outside = randomMatrix(4, 1, of.precision, 8);
      const start: SessionState = {
        values: of.initialState,
        output: randomMatrix(of.outputSize, 1, of.precision, 9).data,
        input: randomMatrix(of.inputSize, 1, of.precision, 10).data,
        step: 11,
      };
      const reference = await referenceEngine.open(of);
      reference.setState(start);
      const states = Matrix.zeros(4, size, of.precision) as Matrix;
      const expectedOutputs = await reference.generate({ readout, steps: 4, inputs: outside, into: states });
      const mine = await runClosed(loop, of, readout, outside, start);
      loop.dispose();
      expect(bits(mine.outputs)).toEqual(bits(expectedOutputs.data));
      expect(bits(mine.states)).toEqual(bits(states.data));
    },
  );
});

/** Four closed steps of a loop in two chunks. */
async function runClosed(loop: TimeLoop, of: ReservoirModel, readout: LinearReadout, outside: Matrix, start: SessionState) {
  const { size, inputSize, outputSize, precision } = of;
  const outputs = readout.weights.rows;
  const stream = device.stream();
  const made: { dispose(): void }[] = [stream];
  const upload = (values: FloatArray | Float64Array): RealSlice => {
    const buffer = device.upload(values as Float32Array<ArrayBuffer>);
    made.push(buffer);
    return buffer as unknown as RealSlice;
  };
  const transposed = ({ rows, cols, data }: Matrix): FloatArray => {
    const out = allocate(precision, rows * cols);
    for (let r = 0; r < rows; r++) for (let c = 0; c < cols; c++) out[c * rows + r] = data[r * cols + c]!;
    return out;
  };
  const before = (first: FloatArray, from: number): FloatArray => {
    const rows = allocate(precision, 3 * inputSize);
    rows.set(first);
    for (let t = 0; t < 2; t++) rows.set(outside.row(from + t), (t + 1) * inputSize + (outputSize > 0 ? 0 : outputs));
    return rows;
  };
  const state = upload(start.values);
  const [bias, inputWeights] = [upload(of.bias), upload(transposed(of.inputWeights))];
  const feedbackWeights = of.feedbackWeights && upload(transposed(of.feedbackWeights));
  const [weights, intercept] = [upload(readout.weights.data), upload(readout.intercept)] as unknown as [never, never];
  const deviceReadout = { features: readout.features, outputs, featureCount: readout.weights.cols, weights, intercept };
  const result = { outputs: allocate(precision, 4 * outputs), states: allocate(precision, 4 * size) };
  let [input, output] = [start.input, start.output];
  for (const from of [0, 2]) {
    const [inputs, answers] = [upload(before(input, from)), upload(allocate(precision, 3 * outputs))];
    if (outputSize > 0) stream.upload(answers.slice(0, outputs) as never, output as never);
    const [states, drive] = [upload(allocate(precision, 2 * size)), upload(allocate(precision, 2 * size))];
    const run = { steps: 2, firstStep: start.step + from, sequence: 0, readout: deviceReadout, inputWeights, bias, feedbackWeights };
    expect(loop.enqueueClosed!(stream, { ...run, inputs, outputs: answers, state, states, drive })).toBe(true);
    await stream.done();
    loop.check();
    result.outputs.set((device.read(answers) as FloatArray).subarray(outputs), from * outputs);
    result.states.set(device.read(states) as FloatArray, from * size);
    input = (device.read(inputs) as FloatArray).slice(2 * inputSize);
    output = (device.read(answers) as FloatArray).slice(2 * outputs);
  }
  for (const owned of made) owned.dispose();
  return result;
}

describe("a block that never comes", () => {
  const of = denseModel(40, "float32");
  const fit = fitDense(denseVariants.find(({ plan, held }) => plan === "grid" && held === 2)!, of.size, device.info)!;
  const inputs = randomMatrix(4, of.inputSize, of.precision, 5);

  it("is an error with the waiting block and the step, and no wait without end", async () => {
    const loop = (await fitPlan({ ...fit, blocks: fit.blocks - 1 }).open(device, of, { spinLimit: 3000 }))!;
    const error = await run(device, loop, of, [4], inputs, inputs).catch((reason: unknown) => reason);
    loop.dispose();
    expect(error, String(error)).toBeInstanceOf(StallError);
    expect((error as StallError).step).toBe(0);
    expect((error as StallError).block).toBeLessThan(fit.blocks - 1);
    expect((error as StallError).message).toMatch(/^reservoir_grid_f32_r2_h2_w4: block \d+ waited 3000 clock ticks at step 0/);
  });

  it("is an error of sorted rows too, after which a run has the step function's bits", async () => {
    const of = sparseModel(90, "float32", 0.2);
    const fit = fitSorted(sortedVariants[0]!, shapeOf(of), device.info)!;
    const { kernel, memory } = sortedParts(fit, packSorted(of.weights as SparseMatrix, fit, 100)!);
    const made = memory(device, of);
    // Long enough on hardware for the run that does not stall, under a checker too.
    const spinLimit = onHardware ? 200_000_000 : 3000;
    const loop = (await PersistentLoop.open(device, of, kernel, () => made, spinLimit))!;
    // The first count of blocks begins at -1: one is always missing.
    const stream = device.stream();
    stream.upload(made.buffers["slots"]!.slice(0, 1) as DeviceSlice<"u64">, BigUint64Array.of(0xffff_ffffn));
    await stream.done();
    stream.dispose();
    const [inputs, teacher] = [randomMatrix(3, of.inputSize, of.precision, 5), randomMatrix(3, of.outputSize, of.precision, 6)];
    const error = await run(device, loop, of, [3], inputs, teacher).catch((reason: unknown) => reason);
    expect(error, String(error)).toBeInstanceOf(StallError);
    expect((error as StallError).message).toMatch(/^reservoir_sparse_sorted_f32_l1_h7_w12: block \d+ waited \d+ clock ticks at step 0/);
    expect((error as StallError).message).toContain(`waited ${spinLimit} clock ticks`);
    const [mine, reference] = [await run(device, loop, of, [3], inputs, teacher), expected(of, [3], inputs, teacher)];
    loop.dispose();
    expect(bits(mine.states)).toEqual(bits(reference.states));
  });

  it("is not asked to: a launch of more blocks than run at once is declined", async () => {
    const multiprocessors = device.info.attributes.multiprocessors;
    expect(await fitPlan({ ...fit, blocks: 100 * multiprocessors }).open(device, of, {})).toBeUndefined();
  });
});

describe("which shapes", () => {
  it("are those that are shipped", () => {
    const shipped = shippedManifest()
      .filter(({ name }) => /^reservoir_(cluster|grid|grid_streamed|sparse|sparse_sorted)$/.test(name))
      .flatMap(({ images }) => images.flatMap(({ entries }) => entries));
    const listed = [
      ...denseVariants.map((variant) => ({ name: denseEntry(variant), ...variant })),
      ...sparseVariants.map((variant) => ({ name: sparseEntry(variant), ...variant })),
      ...sortedVariants.map((variant) => ({ name: sortedEntry(variant), closed: false, ...variant })),
    ];
    const names = listed.flatMap(({ name, closed }) => (closed ? [name, `${name}_closed`] : [name]));
    expect(shipped.map(({ name }) => name).sort()).toEqual(names.sort());
    for (const { name, warps } of listed) expect(shipped.find((entry) => entry.name === name)?.maxThreads).toBe(32 * warps);
  });

  const grid: readonly DenseVariant[] = denseVariants.filter(({ plan }) => plan === "grid");

  it.each([1, 31, 256, 1000, 2000, 4096, 4224, 6000])(
    "some shape takes %i dense neurons on 132 multiprocessors with 227 KiB of shared memory",
    (size) => {
      const { attributes } = device.info;
      const h200 = {
        ...device.info,
        attributes: { ...attributes, multiprocessors: 132, sharedBytesPerBlockOptIn: 232_448, l2Bytes: 60e6 },
      };
      const fits = grid.flatMap((variant) => fitDense(variant, size, h200) ?? []);
      expect(fits.length).toBeGreaterThan(0);
      for (const fit of fits) {
        expect(fit.blocks * fit.variant.rows * fit.variant.warps).toBeGreaterThanOrEqual(size);
        expect((fit.variant.held + fit.shared + fit.streamed) * 128 * tileGroups(fit.variant)).toBeGreaterThanOrEqual(size);
        expect(fit.sharedBytes).toBeLessThanOrEqual(232_448);
      }
    },
  );

  const sparseOf = (size: number, row: number) =>
    ({
      ...({ size, inputSize: 1, outputSize: 0, nonzeros: size * row, noisy: false } as const),
      ...({ storage: "sparse", precision: "float32", weightPrecision: "full", arithmetic: "portable" } as const),
    }) as unknown as ModelShape;

  it.each([
    [36_000, 50],
    [40_000, 10],
    [50_000, 100],
  ])("%i neurons with %i entries a row have sorted rows on a device of compute capability 9.0", (size, row) => {
    const plan = (of: DeviceInfo) =>
      choices(sparseOf(size, row), { engine: "here", device: of, memory: 2 ** 34 }, { kernelSource: "shipped" })[0]!.loop;
    expect(plan(device.info).details["kernel"]).toMatch(/^reservoir_sparse_sorted_f32/);
    expect(plan({ ...device.info, computeCapability: [8, 0] }).details["kernel"]).not.toMatch(/sorted/);
  });

  it("leaves clusters out where the device has none", () => {
    const shape = {
      ...{ size: 100, inputSize: 1, outputSize: 0, nonzeros: 10_000, noisy: false },
      storage: "dense",
      precision: "float32",
      weightPrecision: "full",
    } as const;
    const without = { ...device.info, attributes: { ...device.info.attributes, clusterLaunch: 0 } };
    expect(persistentLoops.plans(shape as never, device.info, {}).map(({ name }) => name)).toContain("cluster");
    expect(persistentLoops.plans(shape as never, without, {}).map(({ name }) => name)).not.toContain("cluster");
  });
});
