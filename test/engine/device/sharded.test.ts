// One reservoir over several devices, against the reference, bit for bit: on simulated devices, on
// the GPUs of a machine, or on its only one, named twice, whose multiprocessors its slices share.
import { afterAll, describe, expect, it } from "vitest";
import { type Context, openDevices } from "../../../packages/gpu/src/index.js";
import { Matrix, type SparseMatrix } from "../../../packages/numerics/src/index.js";
import { simulatedDriver } from "../../../packages/sim/src/index.js";
import { contextEngine, type DeviceEngine } from "../../../src/engine/cuda/index.js";
import { longestRow } from "../../../src/engine/cuda/persistent/pack.js";
import { fitDense, fitSparse, sparseVariants } from "../../../src/engine/cuda/persistent/shapes.js";
import { shapeOf } from "../../../src/engine/cuda/shape.js";
import { shardedPlan } from "../../../src/engine/cuda/sharded/index.js";
import type { TimeLoop } from "../../../src/engine/cuda/time-loop.js";
import { referenceEngine } from "../../../src/engine/reference/index.js";
import { GramAccumulator } from "../../../src/readout/index.js";
import { resolveConfig } from "../../../src/reservoir/config-schema.js";
import { accumulate } from "../../../src/reservoir/engine/accumulate.js";
import type { Engine, EngineSession } from "../../../src/reservoir/engine.js";
import { plainFeatures } from "../../../src/reservoir/features.js";
import type { ReservoirOptions } from "../../../src/reservoir/index.js";
import type { ReservoirModel } from "../../../src/reservoir/model.js";
import { buildDrawnModel } from "../../../src/reservoir/weights.js";
import { onHardware, openAllHardware, size } from "../../gpu/device/device.js";
import { bits, model, randomMatrix, randomReadout } from "../contract.js";
import { nvcc } from "../sharded/nvcc.js";

const opened: Context[] = onHardware
  ? [...openAllHardware()]
  : [...openDevices("all", { driver: simulatedDriver({ devices: 3, memoryBytes: 2 ** 24, launchBytes: 2 ** 25 }), nvrtc: nvcc })];
afterAll(() => {
  for (const context of opened) context.dispose();
});

const seats = (count: number): Context[] => Array.from({ length: count }, (_, k) => opened[k % opened.length]!);

/** The engine on so many devices. */
function over(count: number): DeviceEngine {
  const [first, ...others] = seats(count).map((context) => contextEngine(context));
  return first!.device.beside(others);
}

const options = { plan: "sharded" } as const;

/** Two rows a warp, and what a warp does not hold of them in shared memory or L2. */
const mixed = {
  plan: "grid",
  precision: "float32",
  weights: "full",
  rows: 2,
  held: 1,
  warps: 16,
  mixed: true,
  closed: true,
} as const;

async function statesOf(engine: Engine, of: ReservoirModel, steps: number, asked: object = {}): Promise<Uint32Array> {
  const session = await engine.open(of, asked);
  try {
    return await runOn(session, steps);
  } finally {
    await session.dispose();
  }
}

async function runOn(session: EngineSession, steps: number): Promise<Uint32Array> {
  const of = session.model as ReservoirModel;
  const states = Matrix.zeros(steps, of.size, of.precision) as Matrix;
  const teacher = of.outputSize > 0 ? { teacher: randomMatrix(steps, of.outputSize, of.precision, 8) } : {};
  await session.run({ inputs: randomMatrix(steps, of.inputSize, of.precision, 7), ...teacher }, { into: states });
  return bits(states.data);
}

const cases: readonly (readonly [string, number, ReservoirOptions, number])[] = [
  [
    "dense, with noise, feedback and a leak rate a neuron",
    2,
    { size: 100, storage: "dense", noiseLevel: 0.01, feedback: { size: 2 }, leakRate: { from: 0.1, to: 1 } },
    2,
  ],
  ["whose states have no bound", 2, { size: 40, storage: "dense", activation: "identity", spectralRadius: 0.7 }, 1],
  ["dense in float64", 3, { size: 70, storage: "dense", precision: "float64" }, 1],
  [
    "with states of float64 that have no bound",
    2,
    { size: 30, storage: "dense", precision: "float64", activation: "relu", spectralRadius: 0.7 },
    1,
  ],
  ["with weights of bfloat16", 3, { size: 200, storage: "dense", weightPrecision: "bfloat16" }, 1],
  ["sparse", 3, { size: 230, storage: "sparse", connectionProbability: 0.1, noiseLevel: 0.01 }, 1],
  ["sparse in float64", 2, { size: 90, storage: "sparse", connectionProbability: 0.2, precision: "float64" }, 1],
];

describe("a reservoir over several devices", () => {
  it.each(cases)("has the bits of the reference: %s", async (_, devices, config) => {
    const of = model({ inputSize: 2, seed: 5, ...config });
    const steps = size(400, 20, 20);
    expect(await statesOf(over(devices), of, steps, options)).toEqual(await statesOf(referenceEngine, of, steps));
  });

  it.each(cases)("has them with a W that is drawn on the devices: %s", async (_, devices, config) => {
    const { of, host } = await drawnAndHost({ inputSize: 2, seed: 5, ...config }, devices);
    const session = await over(devices).open(of, options);
    expect(session.plan.details).toMatchObject({ plan: "sharded", drawn: "on the devices" });
    const steps = size(100, 10, 10);
    expect(await runOn(session, steps)).toEqual(await statesOf(referenceEngine, host, steps));
    await session.dispose();
  });

  it("has the bits of one device, if W is larger than the chip also", async () => {
    const of = model({ size: size(6000, 60, 600), inputSize: 2, storage: "dense", spectralRadius: null, seed: 9 });
    const [engine] = [contextEngine(opened[0]!)];
    const steps = size(300, 20, 5);
    expect(await statesOf(over(2), of, steps, options)).toEqual(await statesOf(engine!, of, steps, { kernelSource: "shipped" }));
  });

  it.each([
    ["shared memory", 2],
    ["shared memory and L2", 3],
  ])("has them with weights in %s", async (_, tiles) => {
    const { of, host } = await drawnAndHost(
      { size: 128 * tiles + 40, inputSize: 1, storage: "dense", seed: 2, connectionProbability: 0.3 },
      2,
    );
    const [first] = opened as [Context];
    // Memory for one tile of W beside the states, or for all of them.
    const attributes = { ...first.info.attributes, sharedBytesPerBlockOptIn: 64 + 4 * 512 * (tiles + 1) + 16_384 * (tiles === 2 ? 2 : 1) };
    const fit = fitDense(mixed, of.size, { ...first.info, attributes }, 2)!;
    expect([fit.shared > 0, fit.streamed > 0]).toEqual([true, tiles === 3]);
    for (const each of [host, of]) await holds(shardedPlan(fit, shapeOf(of), seats(2)), each, 10, host);
  });

  describe("most of whose W streams", () => {
    const of = model({ size: 17 * 128 + 40, inputSize: 1, storage: "dense", spectralRadius: null, seed: 2 });
    const [{ info }] = opened as [Context];
    // Two warps take over 576 fours of states, more than four a thread. That fits the states and no W.
    const attributes = { ...info.attributes, multiprocessors: 72, sharedBytesPerBlockOptIn: 64 + 512 * 20 };
    const fit = fitDense({ ...mixed, rows: 8, warps: 2 }, of.size, { ...info, attributes }, 2)!;

    it("has them, in one launch or several", async () => {
      expect(fit).toMatchObject({ shared: 0, streamed: 18 });
      await holds(shardedPlan(fit, shapeOf(of), seats(2)), of, [3, 1, 2]);
    });

    it("ends with an error if a block does not bring its states", async () => {
      const plan = shardedPlan({ ...fit, blocks: fit.blocks - 1 }, shapeOf(of), seats(2));
      const spinLimit = onHardware ? 20_000_000 : 3000;
      await onLoop(plan, of, randomMatrix(3, 1, "float32", 7), { spinLimit }, ({ loop, stream, x, drive, out }) => {
        loop.enqueue(stream, { steps: 3, firstStep: 0, sequence: 0, drive, state: x, states: out });
        stream.sync();
        expect(() => loop.check()).toThrow(`gave no states of block ${fit.blocks - 1} at step 0 for ${spinLimit} clock ticks`);
      });
    });
  });

  it("has them as one slice by itself", async () => {
    const of = model({ size: 168, inputSize: 1, storage: "dense", seed: 2 });
    await holds(shardedPlan(fitDense(mixed, of.size, opened[0]!.info)!, shapeOf(of), seats(1)), of, 8);
  });

  it("has them with a sparse W in shared memory", async () => {
    const { of, host } = await drawnAndHost({ size: 150, inputSize: 1, storage: "sparse", connectionProbability: 0.8, seed: 3 }, 2);
    const longest = longestRow(host.weights as SparseMatrix);
    const fit = fitSparse({ ...sparseVariants[0]!, rounds: 2, held: 1, mixed: true }, of.size, longest, opened[0]!.info, 2)!;
    expect(fit.shared).toBeGreaterThan(0);
    for (const each of [host, of]) await holds(shardedPlan(fit, shapeOf(of), seats(2)), each, 6, host);
  });

  it("goes on in pieces and step by step, with noise of the steps so far", async () => {
    const of = model({
      size: 100,
      inputSize: 2,
      storage: "dense",
      noiseLevel: 0.01,
      feedback: { size: 2 },
      leakRate: { from: 0.1, to: 1 },
      seed: 5,
    });
    const inputs = randomMatrix(40, 2, "float32", 1);
    const teacher = randomMatrix(40, 2, "float32", 2);
    const ends: Uint32Array[] = [];
    for (const session of [await over(2).open(of, options), await referenceEngine.open(of)]) {
      await session.run({ inputs: inputs.subarray(0, 17), teacher: teacher.subarray(0, 17) }, {});
      for (let t = 17; t < 20; t++) session.step(inputs.row(t), teacher.row(t));
      await session.run({ inputs: inputs.subarray(20), teacher: teacher.subarray(20) }, {});
      ends.push(bits(session.getState().values));
      await session.dispose();
    }
    expect(ends[0]).toEqual(ends[1]);
  });

  it.each([
    ["through the input", { inputSize: 3 }, "float32", "dense", 3],
    ["through feedback weights", { inputSize: 1, feedback: { size: 2 } }, "float64", "dense", 2],
    ["through the input", { inputSize: 3 }, "float32", "sparse", 2],
  ] as const)("closes the loop %s %j (%s, %s)", async (_, config, precision, storage, devices) => {
    const of = model({ size: 60, seed: 2, precision, storage, connectionProbability: 0.5, ...config });
    const readout = randomReadout(of, 2, { state: "squareHalf", input: true, squares: true });
    const steps = size(60, 24, 24);
    const inputs = randomMatrix(steps, 1, precision, 4);
    const results: Uint32Array[] = [];
    for (const session of [await over(devices).open(of, options), await referenceEngine.open(of)]) {
      await runOn(session, 10);
      const states = Matrix.zeros(steps, of.size, precision) as Matrix;
      const whole = await session.generate({ readout, steps, inputs, into: states });
      results.push(bits(whole.data), bits(states.data), bits(session.getState().values));
      await session.dispose();
    }
    expect(results.slice(0, 3)).toEqual(results.slice(3));
  });

  // 105 columns are 3 tiles, and 205 of squares 10.
  it.each([
    ["a launch for each step", "shipped", 3, plainFeatures],
    ["persistent kernels", "auto", 2, { state: "squareHalf", input: true, squares: true }],
  ] as const)("shares out Gram matrices, with the sums of one device: %s", async (_, kernelSource, devices, features) => {
    const size = kernelSource === "auto" ? 100 : 300;
    const of = model({
      size,
      inputSize: 2,
      storage: "dense",
      noiseLevel: 0.01,
      feedback: { size: 2 },
      leakRate: { from: 0.1, to: 1 },
      seed: 5,
    });
    const sequence = { inputs: randomMatrix(40, 2, "float32", 3), teacher: randomMatrix(40, 2, "float32", 4) };
    const targets = randomMatrix(40, 2, "float64", 6);
    const sums = [];
    for (const session of [await over(devices).open(of, { plan: "sharded", kernelSource }), await referenceEngine.open(of)]) {
      const sink = new GramAccumulator({ stateSize: size, inputSize: 2, outputSize: 2, features });
      for (const washout of [5, 0]) await accumulate(session, sequence, { targets, washout, sink });
      sums.push(sink.sums());
      await session.dispose();
    }
    expect(sums[0]).toEqual(sums[1]);
  });
});

/** A W that is drawn on devices, and the same that the host draws. */
async function drawnAndHost(given: ReservoirOptions, devices: number): Promise<{ of: ReservoirModel; host: ReservoirModel }> {
  const described = { ...given, ...(given.spectralRadius === null ? {} : { radiusMethod: "circularLaw" as const }) };
  const of = await buildDrawnModel(resolveConfig(described), over(devices).device);
  expect(of.draws).toBeDefined();
  return { of, host: model(described) };
}

const byLaunches = { plan: "sharded", kernelSource: "shipped" } as const;

/** Sizes with a piece of rows for each device. */
const spreadCases: readonly (readonly [string, number, ReservoirOptions])[] = [
  [
    "dense, with noise, feedback and a leak rate a neuron",
    3,
    { size: 300, storage: "dense", noiseLevel: 0.01, feedback: { size: 2 }, leakRate: { from: 0.1, to: 1 } },
  ],
  [
    "dense in float64, states without a bound",
    2,
    { size: 70, storage: "dense", precision: "float64", activation: "relu", spectralRadius: 0.7 },
  ],
  ["with weights of bfloat16", 2, { size: 300, storage: "dense", weightPrecision: "bfloat16" }],
  ["sparse, with noise", 3, { size: 230, storage: "sparse", connectionProbability: 0.1, noiseLevel: 0.01 }],
  ["sparse in float64, rows of 50", 2, { size: 90, storage: "sparse", connectionProbability: 0.6, precision: "float64" }],
  ["sparse with weights of bfloat16", 2, { size: 70, storage: "sparse", connectionProbability: 0.2, weightPrecision: "bfloat16" }],
];

describe("a reservoir over several devices by a launch for each step", () => {
  it.each(spreadCases)("has the bits of the reference, drawn or not: %s", async (_, devices, config) => {
    const { of, host } = await drawnAndHost({ inputSize: 2, seed: 5, ...config }, devices);
    const steps = size(200, 5, 5);
    const expected = await statesOf(referenceEngine, host, steps);
    for (const each of [host, of]) {
      const session = await over(devices).open(each, byLaunches);
      expect(session.plan.details).toMatchObject({ plan: "sharded", devices });
      expect(session.plan.details["drawn"]).toBe(each === of ? "on the devices" : undefined);
      expect(await runOn(session, steps)).toEqual(expected);
      expect(bits(session.getState().values)).toEqual(expected.slice(-bits(session.getState().values).length));
      await session.dispose();
    }
  });

  it.each([
    ["through the input", { size: 140, inputSize: 3 }, "float32"],
    ["through feedback weights", { size: 140, inputSize: 1, feedback: { size: 2 } }, "float64"],
  ] as const)("closes the loop %s with a W that is drawn", async (_, config, precision) => {
    const { of, host } = await drawnAndHost({ seed: 2, precision, storage: "dense", ...config }, 2);
    const readout = randomReadout(of, 2, { state: "squareHalf", input: true, squares: true });
    const inputs = randomMatrix(6, 1, precision, 4);
    const results: Uint32Array[] = [];
    for (const session of [await over(2).open(of, byLaunches), await referenceEngine.open(host)]) {
      await runOn(session, 4);
      const states = Matrix.zeros(6, of.size, precision) as Matrix;
      const whole = await session.generate({ readout, steps: 6, inputs, into: states });
      results.push(bits(whole.data), bits(states.data), bits(session.getState().values));
      await session.dispose();
    }
    expect(results.slice(0, 3)).toEqual(results.slice(3));
  });
});

/**
 * Runs a loop by itself on the first device's memory, in launches of so many steps, against the
 * reference.
 */
async function holds(
  plan: ReturnType<typeof shardedPlan>,
  of: ReservoirModel,
  launches: number | readonly number[],
  host = of,
): Promise<void> {
  const parts = [launches].flat();
  const steps = parts.reduce((sum, part) => sum + part);
  const reference = await referenceEngine.open(host);
  const states = Matrix.zeros(steps, of.size, of.precision) as Matrix;
  const inputs = randomMatrix(steps, of.inputSize, of.precision, 7);
  await reference.run({ inputs }, { into: states });
  await reference.dispose();
  await onLoop(plan, of, inputs, {}, ({ loop, stream, x, drive, out, context }) => {
    let firstStep = 0;
    for (const part of parts) {
      const rows = [firstStep * of.size, (firstStep + part) * of.size] as const;
      loop.enqueue(stream, { steps: part, firstStep, sequence: 0, drive: drive.slice(...rows), state: x, states: out.slice(...rows) });
      firstStep += part;
    }
    stream.sync();
    loop.check();
    expect(bits(context.read(out))).toEqual(bits(states.data));
    expect(bits(context.read(x))).toEqual(bits(states.row(steps - 1)));
  });
}

/** A loop by itself, with what it reads and writes in the first device's memory. */
async function onLoop(
  plan: ReturnType<typeof shardedPlan>,
  of: ReservoirModel,
  inputs: Matrix,
  options: { readonly spinLimit?: number },
  work: (given: ReturnType<typeof memory> & { readonly loop: TimeLoop; readonly context: Context }) => void,
): Promise<void> {
  const [context] = opened as [Context];
  const loop = (await plan.open(context, of, options))!;
  const given = memory(context, of, inputs);
  try {
    work({ ...given, loop, context });
  } finally {
    loop.dispose();
    for (const each of Object.values(given)) each.dispose();
  }
}

const memory = (context: Context, of: ReservoirModel, inputs: Matrix) => ({
  stream: context.stream(),
  x: context.upload(of.initialState as Float32Array<ArrayBuffer>),
  drive: context.upload(driveOf(of, inputs)),
  out: context.zeros("f32", inputs.rows * of.size),
});

/** docs/numerics.md, rule 3. */
function driveOf({ inputWeights, bias, size: n }: ReservoirModel, inputs: Matrix): Float32Array<ArrayBuffer> {
  const drive = new Float32Array(inputs.rows * n);
  for (let t = 0; t < inputs.rows; t++)
    for (let r = 0; r < n; r++) {
      let sum = bias[r]!;
      for (let i = 0; i < inputs.cols; i++) sum = Math.fround(sum + Math.fround(inputWeights.row(r)[i]! * inputs.row(t)[i]!));
      drive[t * n + r] = sum;
    }
  return drive;
}
