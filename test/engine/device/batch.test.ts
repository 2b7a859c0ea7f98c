// Batches on the device: each dense kernel against the reference engine, and what the session makes
// of sequences.
import { afterAll, describe, expect, it, vi } from "vitest";
import { Stream } from "../../../packages/gpu/src/index.js";
import type { Matrix } from "../../../packages/numerics/src/index.js";
import { type DenseBatchOptions, DenseBatchRun } from "../../../src/engine/cuda/batch/dense.js";
import { batchKernels, planBatch } from "../../../src/engine/cuda/batch/shapes.js";
import { KeptLocked } from "../../../src/engine/cuda/kept-locked.js";
import { StallError } from "../../../src/engine/cuda/time-loop.js";
import { referenceEngine } from "../../../src/engine/reference/index.js";
import { type BatchOptions, NonFiniteStateError, type ReservoirModel, type SequenceInput } from "../../../src/reservoir/index.js";
import { casesOf } from "../../exhaustive.js";
import { onHardware, openTestDevice } from "../../gpu/device/device.js";
import { bits, model, randomMatrix } from "../contract.js";
import { device } from "./engines.js";

const context = openTestDevice();
const original = Stream.prototype.toHost;
afterAll(() => context.dispose());

const sequencesFor = (of: ReservoirModel, lengths: readonly number[]): SequenceInput<Matrix>[] =>
  lengths.map((steps, b) => ({
    inputs: randomMatrix(steps, of.inputSize, of.precision, b),
    ...(of.outputSize > 0 && b % 3 > 0 ? { teacher: randomMatrix(steps, of.outputSize, of.precision, b + 50) } : {}),
  }));

async function expected(of: ReservoirModel, sequences: readonly SequenceInput<Matrix>[], options: BatchOptions = {}): Promise<Matrix[]> {
  const session = await referenceEngine.open(of);
  const states = await session.batch(sequences, options);
  await session.dispose();
  return states;
}

/** Runs a batch by one kernel. */
async function batch(
  name: string,
  of: ReservoirModel,
  sequences: readonly SequenceInput<Matrix>[],
  options: DenseBatchOptions = {},
  chunkBytes?: number,
): Promise<Matrix[]> {
  const kernels = batchKernels.filter((kernel) => kernel.name === name);
  const run = new DenseBatchRun(context, of, planBatch(context.info, of, sequences.length, { kernels })!, sequences, options, chunkBytes);
  try {
    return await run.run();
  } finally {
    run.dispose();
  }
}

/** Page-locked memory that other batches have left numbers in. */
function usedBefore(): KeptLocked {
  const locked = new KeptLocked(context);
  const lent = Array.from({ length: 5 }, () => locked.lend(4000));
  for (const { buffer, dispose } of lent) {
    buffer.array.fill(7);
    dispose();
  }
  return locked;
}

const portable = batchKernels.filter((kernel) => kernel.portable).map(({ name }) => name);
const fast = batchKernels.filter((kernel) => !kernel.portable).map(({ name }) => name);

describe.each(casesOf(portable, (_, k) => k === 0))("%s", (name) => {
  it.each([
    [33, 1, { noiseLevel: 0.05, bias: 0.2 }],
    [70, 2, { feedback: { size: 2 }, leakRate: 1 }],
    [130, 0, { activation: "sigmoid" as const, initialState: { distribution: "uniform" as const, scaling: 0.5 } }],
  ])("gives the reference's states of N = %i with %i inputs", async (size, inputSize, options) => {
    const of = model({ size, inputSize, storage: "dense", seed: 3, ...options });
    const sequences = sequencesFor(of, [2, 5, 1, ...Array.from({ length: 32 }, () => 2)]);
    const states = await batch(name, of, sequences);
    for (const [b, each] of (await expected(of, sequences)).entries()) expect(bits(states[b]!.data), `${b}`).toEqual(bits(each.data));
  });

  it.each([
    ["without feedback", {}],
    ["with feedback, some of it forced", { feedback: { size: 1 } }],
  ])("gives them in chunks too, and the last ones alone, %s", async (_, options) => {
    const of = model({ size: 40, storage: "dense", seed: 5, noiseLevel: 0.1, ...options });
    const sequences = sequencesFor(of, [7, 3, 9, 9]);
    const chunkBytes = 4 * 40 * 4 * 4 * 2 + 200;
    const whole = await expected(of, sequences);
    const locked = usedBefore();
    const states = await batch(name, of, sequences, { locked }, chunkBytes);
    const last = await batch(name, of, sequences, { keep: "last", locked }, chunkBytes);
    locked.dispose();
    for (const [b, each] of whole.entries()) {
      expect(bits(states[b]!.data)).toEqual(bits(each.data));
      expect(bits(last[b]!.data)).toEqual(bits(each.row(each.rows - 1)));
    }
  });
});

it("has three chunks under way when the first states come to the host", async () => {
  const of = model({ size: 40, storage: "dense", seed: 5 });
  const launches = vi.spyOn(Stream.prototype, "launch");
  const given: number[] = [];
  const toHost = vi.spyOn(Stream.prototype, "toHost");
  toHost.mockImplementation(function (this: Stream, ...rest) {
    given.push(launches.mock.calls.length);
    return original.apply(this, rest);
  });
  try {
    await batch("reservoir_batch_16", of, sequencesFor(of, [9, 9]), {}, 2 * 40 * 4 * 4 * 2 + 200);
  } finally {
    launches.mockRestore();
    toHost.mockRestore();
  }
  // A chunk of two steps is two launches: the drive and the steps.
  expect(given).toEqual([6, 8, 10, 10, 10]);
});

describe("reservoir_batch_slices", () => {
  it("takes two tiles a block and two slots a partial sum, and rows that are no quads", async () => {
    const of = model({ size: 261, storage: "dense", seed: 6, connectionProbability: 0.1, spectralRadius: null });
    const lengths = Array.from({ length: 65 }, (_, b) => (b < 3 ? 3 : 1));
    const sequences = sequencesFor(of, lengths);
    const kernels = batchKernels.filter(({ name }) => name === "reservoir_batch_slices");
    const plan = { ...planBatch(context.info, of, sequences.length, { kernels })!, groups: 1 };
    const run = new DenseBatchRun(context, of, plan, sequences, {});
    const states = await run.run();
    run.dispose();
    for (const [b, each] of (await expected(of, sequences)).entries()) expect(bits(states[b]!.data), `${b}`).toEqual(bits(each.data));
  });
});

/** The largest difference of states from the reference's; NaN if one is no number. */
function distance(states: readonly Matrix[], exact: readonly Matrix[]): number {
  let largest = 0;
  for (const [b, each] of exact.entries())
    for (const [i, x] of each.data.entries()) largest = Math.max(largest, Math.abs(x - states[b]!.data[i]!));
  return largest;
}

describe.each(casesOf(fast, (_, k) => k === 0))("%s", (name) => {
  it.each(["tanh", "sigmoid"] as const)("keeps within 1e-3 of the reference over 8 steps of %s", async (activation) => {
    const of = model({
      size: 70,
      inputSize: 1,
      activation,
      storage: "dense",
      seed: 3,
      arithmetic: "fast",
      noiseLevel: 0.01,
      feedback: { size: 1 },
    });
    const sequences = sequencesFor(of, [8, 3, 5]);
    const largest = distance(await batch(name, of, sequences), await expected(of, sequences));
    expect(largest).toBeGreaterThan(0);
    expect(largest).toBeLessThan(1e-3);
  });

  it("takes an odd size, and more tiles than a block has at once, that end at their own steps, in chunks", async () => {
    const of = model({
      size: 33,
      storage: "dense",
      seed: 4,
      arithmetic: "fast",
      leakRate: Array.from({ length: 33 }, (_, i) => 0.2 + 0.02 * i),
    });
    const sequences = sequencesFor(
      of,
      Array.from({ length: 261 }, (_, b) => 1 + (b % 3) + (b > 250 ? 2 : 0)),
    );
    const kernels = batchKernels.filter((kernel) => kernel.name === name);
    const plan = { ...planBatch(context.info, of, sequences.length, { kernels })!, groups: 1 };
    const exact = await expected(of, sequences);
    for (const keep of ["all", "last"] as const) {
      const run = new DenseBatchRun(context, of, plan, sequences, { keep }, 261 * 33 * 4 * 4 * 2 + 9000);
      const states = await run.run();
      run.dispose();
      const kept = keep === "all" ? exact : exact.map((each) => each.subarray(each.rows - 1, each.rows));
      expect(states.map(({ rows }) => rows)).toEqual(kept.map(({ rows }) => rows));
      expect(distance(states, kept), keep).toBeLessThan(1e-3);
    }
  });

  it("names step and neuron of the first sequence whose state is no number", async () => {
    const of = model({ size: 40, inputSize: 1, storage: "dense", seed: 2, arithmetic: "fast" });
    const sequences = sequencesFor(of, [4, 4, 3]);
    sequences[1]!.inputs.data[2] = Number.NaN;
    await expect(batch(name, of, sequences)).rejects.toThrow(new NonFiniteStateError(2, 0).message);
  });
});

describe.each(batchKernels.filter(({ persistent }) => persistent))("$name when a block does not come", (kernel) => {
  it("is an error with kernel, block and step after `spinLimit` clock ticks", async () => {
    const of = model({ size: 70, storage: "dense", seed: 3, arithmetic: kernel.portable ? "portable" : "fast" });
    const plan = planBatch(context.info, of, 3, { kernels: [kernel] })!;
    const few = { ...plan, rowBlocks: plan.rowBlocks - 1 };
    const run = new DenseBatchRun(context, of, few, sequencesFor(of, [4, 3, 4]), { spinLimit: 3000 });
    const error = await run.run().catch((reason: unknown) => reason);
    run.dispose();
    expect(error, String(error)).toBeInstanceOf(StallError);
    expect((error as StallError).block).toBeLessThan(few.rowBlocks);
    expect((error as StallError).step).toBe(1);
    expect((error as StallError).message).toMatch(
      new RegExp(
        `^${kernel.name}: block \\d+ waited 3000 clock ticks at step 1 .*raise spinLimit or SPILLWAY_SPIN_LIMIT, or run the sequences one by one$`,
      ),
    );
  });
});

describe("the choice of a kernel", () => {
  const large = (options = {}) => model({ size: 1024, storage: "dense", connectionProbability: 0.001, spectralRadius: null, ...options });
  const h200 = { ...context.info, attributes: { ...context.info.attributes, multiprocessors: 132, clockKilohertz: 1_980_000 } };

  it("is portable unless the model allows fast arithmetic and keeps its states between -1 and 1", () => {
    const portableOf = (options: object) => planBatch(h200, large(options), 64)!.kernel.portable;
    expect(portableOf({})).toBe(true);
    expect(portableOf({ arithmetic: "fast" })).toBe(false);
    expect(portableOf({ arithmetic: "fast", activation: "relu" })).toBe(true);
    expect(portableOf({ arithmetic: "fast", initialState: new Array(1024).fill(2) })).toBe(true);
  });

  it("takes small tiles for few sequences and large ones for many, and streams what does not fit", () => {
    expect(planBatch(h200, large(), 64)!.kernel.name).toBe("reservoir_batch_16");
    const ampere = { ...h200, computeCapability: [8, 0] } as const;
    expect(planBatch(ampere, large(), 1024)!.kernel.name).toBe("reservoir_batch_32");
    const wide = model({ size: 3000, storage: "dense", connectionProbability: 0, spectralRadius: null });
    expect(planBatch(h200, wide, 64)!.kernel.persistent).toBe(false);
  });

  it("divides the partial sums among warps where many sequences fill Hopper", () => {
    const name = (sequences: number, computeCapability: readonly [number, number] = [9, 0]) =>
      planBatch({ ...h200, computeCapability }, large(), sequences)!.kernel.name;
    expect(name(512)).toBe("reservoir_batch_slices");
    expect(name(1024)).toBe("reservoir_batch_slices");
    expect(name(64)).toBe("reservoir_batch_16");
    expect(name(1024, [10, 0])).toBe("reservoir_batch_32");
  });

  it("takes two tiles a block where there are many sequences and the tensor cores are Hopper's", () => {
    const name = (size: number, sequences: number, computeCapability: readonly [number, number]) =>
      planBatch(
        { ...h200, computeCapability },
        model({ size, storage: "dense", connectionProbability: 0, spectralRadius: null, arithmetic: "fast" }),
        sequences,
      )!.kernel.name;
    expect(name(1024, 1024, [9, 0])).toBe("reservoir_batch_pair");
    expect(name(1280, 1024, [9, 0])).toBe("reservoir_batch_pair");
    expect(name(1024, 64, [9, 0])).toBe("reservoir_batch_fast_16");
    for (const other of [
      [8, 0],
      [10, 0],
    ] as const)
      expect(name(1024, 1024, other)).toBe("reservoir_batch_fast_128");
  });

  it("launches no step by itself where other devices wait for the same thread, if one launch does", () => {
    const of = model({ size: 500, storage: "dense", connectionProbability: 0.001, spectralRadius: null });
    const kernel = (devices: number) => planBatch(h200, of, 528, { devices })!.kernel;
    expect(kernel(1).name).toBe("reservoir_batch_step_16");
    for (const devices of [2, 4, 8]) expect(kernel(devices).persistent).toBe(true);
    const wide = model({ size: 3000, storage: "dense", connectionProbability: 0, spectralRadius: null });
    expect(planBatch(h200, wide, 64, { devices: 8 })!.kernel.persistent).toBe(false);
  });

  it("declines sparse and binary64 models and devices without asynchronous copies", () => {
    expect(planBatch(h200, large({ storage: "sparse" }), 64)).toBeUndefined();
    expect(planBatch(h200, model({ size: 20, storage: "dense", precision: "float64" }), 64)).toBeUndefined();
    expect(planBatch({ ...h200, computeCapability: [7, 5] }, large(), 64)).toBeUndefined();
  });
});

describe("a session", () => {
  it("runs a batch in one go with the reference's bits and leaves its own state alone", async () => {
    const of = model({ size: 30, inputSize: 2, noiseLevel: 0.1, seed: 8 });
    const session = await device.open(of);
    session.step(Float32Array.of(0.5, -0.5));
    const before = session.getState();
    const sequences = sequencesFor(of, [4, 1, 6]);
    const states = await session.batch(sequences, {});
    for (const [b, each] of (await expected(of, sequences)).entries()) expect(bits(states[b]!.data)).toEqual(bits(each.data));
    expect(session.getState()).toEqual(before);
    await session.dispose();
  });

  // On a GPU the other blocks may have come before they are asked for.
  it.runIf(!onHardware)("waits no longer between blocks than it was told to", async () => {
    const of = model({ size: 300, storage: "dense", connectionProbability: 0, spectralRadius: null, arithmetic: "fast" });
    const session = await device.open(of, { spinLimit: 1 });
    const sequences = sequencesFor(of, new Array(20).fill(6));
    await expect(session.batch(sequences, {})).rejects.toThrow(/^reservoir_batch_\w+: block \d+ waited 1 clock ticks at step \d/);
    await session.dispose();
  });

  it("names step and neuron of the first sequence whose state is not finite", async () => {
    const of = model({
      size: 40,
      activation: "identity",
      spectralRadius: 1e25,
      leakRate: 1,
      connectionProbability: 1,
      storage: "dense",
      seed: 2,
    });
    const sequences = sequencesFor(of, [6, 6]);
    const error = await expected(of, sequences).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(NonFiniteStateError);
    await expect(batch("reservoir_batch_16", of, sequences)).rejects.toThrow((error as Error).message);
  });
});
