// Ensembles on the device: every kernel against the reference engine, bit for bit, and what members
// may share or have for themselves.
import { afterAll, describe, expect, it } from "vitest";
import { openDevice } from "../../../packages/gpu/src/index.js";
import type { Matrix } from "../../../packages/numerics/src/index.js";
import { simulatedDriver } from "../../../packages/sim/src/index.js";
import { openTogether, worthwhile } from "../../../src/engine/cuda/ensemble/index.js";
import { planMembers } from "../../../src/engine/cuda/ensemble/member-plan.js";
import type { Member } from "../../../src/engine/cuda/ensemble/members.js";
import { type MemberOptions, runMembers } from "../../../src/engine/cuda/ensemble/run.js";
import { DeviceClock } from "../../../src/engine/cuda/profile.js";
import { referenceEngine } from "../../../src/engine/reference/index.js";
import { GramAccumulator } from "../../../src/readout/index.js";
import { NonFiniteStateError, plainFeatures, type ReservoirModel, type ReservoirOptions } from "../../../src/reservoir/index.js";
import { hostInputs } from "../../../src/reservoir/inputs.js";
import { casesOf } from "../../exhaustive.js";
import { onHardware, openTestDevice } from "../../gpu/device/device.js";
import { bits, model, randomMatrix, runEnsembleOnce } from "../contract.js";
import { device } from "./engines.js";

const context = openTestDevice();
afterAll(() => context.dispose());

function sequence(of: ReservoirModel, steps: number, seed: number) {
  const teacher = of.outputSize > 0 ? { teacher: randomMatrix(steps, of.outputSize, of.precision, seed + 100) } : {};
  return { inputs: randomMatrix(steps, of.inputSize, of.precision, seed), ...teacher };
}

const membersOf = (models: readonly ReservoirModel[], steps: (r: number) => number): Member[] =>
  models.map((of, r) => ({ model: of, sequence: sequence(of, steps(r), r), number: 0 }));

/** Runs members together, at any cost, by the kernel of the given name. */
async function together(members: readonly Member[], kernel: string | undefined, options: Partial<MemberOptions> = {}): Promise<Matrix[]> {
  const plan = planMembers(context, members)!;
  if (kernel) expect(plan.groups.map((group) => group.kernel.name)).toEqual([kernel]);
  return runMembers(context, members, plan, { keep: "all", ...options });
}

async function expectReference(members: readonly Member[], states: readonly Matrix[]): Promise<void> {
  const expected = await runEnsembleOnce(
    referenceEngine,
    members.map((member) => member.model),
    members.map((member) => member.sequence),
    { keep: "all" },
  );
  for (const [r, each] of states.entries()) expect(bits(each.data), `member ${r}`).toEqual(bits(expected[r]!.data));
}

const models = (count: number, options: ReservoirOptions): ReservoirModel[] =>
  Array.from({ length: count }, (_, r) => model({ seed: r + 1, leakRate: 0.2 + 0.1 * r, ...options }));

describe("every kernel gives the reference's states", () => {
  const dense = (size: number): ReservoirOptions => ({ size, inputSize: 2, storage: "dense", bias: 0.3, noiseLevel: 0.01 });
  const sparse = (size: number): ReservoirOptions => ({ ...dense(size), storage: "sparse" });
  it.each([
    ["ensemble_dense_32", dense(1)],
    ["ensemble_dense_32", dense(29)],
    ["ensemble_dense_64", dense(64)],
    ["ensemble_dense_96", dense(70)],
    ["ensemble_dense_128", dense(128)],
    ["ensemble_dense_160", dense(131)],
    ["ensemble_dense_200", dense(199)],
    ["ensemble_dense_256", dense(256)],
    ["ensemble_dense_f32", dense(263)],
    ["ensemble_dense_f64", { ...dense(40), precision: "float64" }],
    ["ensemble_sparse_shared_f32", sparse(45)],
    ["ensemble_sparse_shared_f32", { ...sparse(100), connectionProbability: 0.02 }],
    ["ensemble_sparse_shared_f64", { ...sparse(33), precision: "float64" }],
    ["ensemble_sparse_f32", { ...sparse(1100), connectionProbability: 0.01 }],
    ["ensemble_sparse_f64", { ...sparse(1030), connectionProbability: 0.005, precision: "float64" }],
  ] as const)("%s, %j", async (kernel, options) => {
    const members = membersOf(models(2, options), (r) => (options.size > 250 ? 2 : 4) - r);
    await expectReference(members, await together(members, kernel));
  });

  it.each(["identity", "relu", "sigmoid"] as const)("with the activation %s", async (activation) => {
    const members = membersOf(models(2, { size: 20, activation, spectralRadius: 0.5, storage: "dense" }), () => 5);
    await expectReference(members, await together(members, "ensemble_dense_32"));
  });

  it.each(["dense", "sparse"] as const)("with feedback, forced by a teacher or 0, and no input, %s", async (storage) => {
    const members = membersOf(
      models(2, {
        size: 40,
        inputSize: 0,
        feedback: { size: 3 },
        storage,
        initialState: { distribution: "normal" as const, scaling: 0.1 },
      }),
      () => 5,
    );
    const unforced = members.map((member): Member => ({ ...member, sequence: { inputs: member.sequence.inputs } }));
    await expectReference(members, await together(members, undefined));
    await expectReference(unforced, await together(unforced, undefined));
  });
});

describe("fast arithmetic", () => {
  const fast = { inputSize: 2, bias: 0.3, noiseLevel: 0.01, feedback: { size: 1 }, arithmetic: "fast" } as const;
  const dense = (size: number): ReservoirOptions => ({ ...fast, size, storage: "dense" });
  const sparse = (size: number): ReservoirOptions => ({ ...fast, size, storage: "sparse" });
  /** The largest difference from the reference's states, NaN if one is no number. */
  async function distance(members: readonly Member[], states: readonly Matrix[]): Promise<number> {
    const exact = await runEnsembleOnce(
      referenceEngine,
      members.map((member) => member.model),
      members.map((member) => member.sequence),
      { keep: "all" },
    );
    let largest = 0;
    for (const [r, { data }] of exact.entries())
      for (const [i, x] of data.entries()) largest = Math.max(largest, Math.abs(x - states[r]!.data[i]!));
    return largest;
  }

  const fastOnes = [
    ["ensemble_dense_32_fast", dense(29), 1e-6],
    ["ensemble_dense_64_fast", dense(64), 1e-6],
    ["ensemble_dense_96_fast", dense(70), 1e-6],
    ["ensemble_dense_128_fast", dense(127), 1e-6],
    ["ensemble_dense_160_fast", dense(131), 1e-6],
    ["ensemble_dense_200_fast", dense(199), 1e-6],
    ["ensemble_dense_256_fast", dense(256), 1e-6],
    ["ensemble_dense_f32_fast", dense(263), 1e-6],
    ["ensemble_dense_f64_fast", { ...dense(40), precision: "float64" }, 1e-15],
    ["ensemble_sparse_shared_f32_fast", sparse(100), 1e-6],
    ["ensemble_sparse_shared_f64_fast", { ...sparse(33), precision: "float64" }, 1e-15],
    ["ensemble_sparse_f32_fast", { ...sparse(1100), connectionProbability: 0.01 }, 1e-6],
    ["ensemble_sparse_f64_fast", { ...sparse(1030), connectionProbability: 0.005, precision: "float64" }, 1e-15],
    ["ensemble_dense_32_fast", { ...dense(20), activation: "sigmoid" }, 1e-6],
    ["ensemble_dense_32_fast", { ...dense(20), activation: "relu", spectralRadius: 0.5 }, 1e-6],
  ] as const;

  it.each(casesOf(fastOnes, ([kernel]) => /_f32_fast$/.test(kernel) && !/shared/.test(kernel)))(
    "by %s keeps near the reference, %j: within %d",
    async (kernel, options, tolerance) => {
      const members = membersOf(models(2, options), (r) => (options.size > 250 ? 2 : 8) - r);
      const largest = await distance(members, await together(members, kernel));
      expect(largest).toBeGreaterThan(0);
      expect(largest).toBeLessThan(tolerance);
    },
  );

  it("is for the members that allow it alone, and the plan says so", async () => {
    const [allowed, portable] = [model({ size: 24, seed: 1, arithmetic: "fast" }), model({ size: 24, seed: 1 })];
    const detail = async (of: readonly ReservoirModel[]) => {
      const ensemble = (await openTogether(context, "sim", of))!;
      void ensemble.dispose();
      return ensemble.plan.details["arithmetic"];
    };
    const found = await Promise.all([[allowed], [allowed, portable], [portable]].map(detail));
    expect(found).toEqual(["fast", "fast and portable", undefined]);
    const members = membersOf([allowed, portable], () => 5);
    const [, own] = await together(members, undefined);
    await expectReference(members.slice(1), [own!]);
  });
});

describe("members together", () => {
  it("may differ in everything, and share weights or a series", async () => {
    const shared = model({ size: 30, seed: 4 });
    const of = [
      shared,
      model({ size: 50, seed: 5, storage: "dense" }),
      { ...shared, leakRate: shared.leakRate.map(() => 0.75) as Float32Array },
      model({ size: 30, seed: 6, precision: "float64", noiseLevel: 0.1 }),
    ];
    const members = membersOf(of, (r) => 3 + r);
    members[2] = { ...members[2]!, sequence: members[0]!.sequence };
    await expectReference(members, await together(members, undefined));
  });

  it("run in chunks and waves as in one piece", async () => {
    const members = membersOf(models(3, { size: 17, inputSize: 1, noiseLevel: 0.02, feedback: { size: 1 } }), (r) => 4 + 3 * r);
    await expectReference(members, await together(members, undefined, { chunkBytes: 17 * 4 * 3 * 3 }));
  });

  it("run in portions as their weights come, also if members share some", async () => {
    const own = models(7, { size: 33, storage: "dense" });
    const members = membersOf([own[0]!, ...own, own[2]!, own[6]!], () => 6);
    // As many members at least as there are multiprocessors.
    const device = openDevice({ driver: simulatedDriver({ multiprocessors: 2 }) });
    try {
      const plan = planMembers(device, members)!;
      for (const keep of ["all", "last"] as const) {
        const whole = await runMembers(device, members, plan, { keep });
        const clock = new DeviceClock(device);
        const portions = await runMembers(device, members, plan, { keep, portionBytes: 1, clock });
        expect(portions.map(({ data }) => bits(data))).toEqual(whole.map(({ data }) => bits(data)));
        expect(clock.read().device!.kernels["ensemble_dense_64"]).toBe(5);
        clock.dispose();
      }
    } finally {
      device.dispose();
    }
  });

  it("keep the last state alone", async () => {
    const members = membersOf(models(2, { size: 17 }), (r) => 5 + r);
    const all = await together(members, undefined);
    const last = await together(members, undefined, { keep: "last", chunkBytes: 17 * 4 * 2 * 2 });
    for (const [r, each] of last.entries()) expect(bits(each.data)).toEqual(bits(all[r]!.row(4 + r)));
    expect(await together(members, undefined, { keep: "none" })).toEqual([]);
  });

  it("have an error that names the first step and neuron of the first member whose state is not finite", async () => {
    const wild = model({
      size: 12,
      activation: "identity",
      spectralRadius: 1e30,
      leakRate: 1,
      connectionProbability: 1,
      storage: "dense",
      seed: 2,
    });
    const members = membersOf([model({ size: 12, seed: 1, storage: "dense" }), wild], () => 8);
    const expected = await runEnsembleOnce(referenceEngine, [wild], members[1]!.sequence, { keep: "none" }).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(expected).toBeInstanceOf(NonFiniteStateError);
    await expect(together(members, undefined)).rejects.toThrow((expected as Error).message);
  });

  it("report progress and stop on request", async () => {
    const members = membersOf(models(2, { size: 10 }), () => 9);
    const reported: number[] = [];
    const stop = new AbortController();
    const onProgress = (done: number) => {
      reported.push(done);
      if (done === 12) stop.abort();
    };
    const work = together(members, undefined, { chunkBytes: 10 * 4 * 2 * 3, onProgress, signal: stop.signal });
    await expect(work).rejects.toThrow("stopped after 12 of 18 steps");
    expect(reported).toEqual([6, 12]);
    expect(context.held()).toEqual(expect.not.arrayContaining([expect.objectContaining({ kind: "buffer" })]));
  });
});

describe("training sinks of members", () => {
  const shape = { stateSize: 21, inputSize: 2, outputSize: 2 };
  const targets = randomMatrix(30, 2, "float64", 9);

  it.each([
    ["plain", plainFeatures],
    ["squares and input", { state: "squareHalf", input: true, squares: true } as const],
  ])("get the sums that they would make of the states: %s", async (_name, features) => {
    const members = membersOf(models(2, { size: 21, inputSize: 2 }), () => 30);
    const sinks = () => members.map(() => new GramAccumulator({ ...shape, features }));
    const [made, expected] = [sinks(), sinks()];
    const states = await together(members, undefined, { chunkBytes: 21 * 4 * 2 * 11, training: { targets, washout: 4, sinks: made } });
    for (const [r, sink] of expected.entries()) {
      sink.add(states[r]!.subarray(4), hostInputs(members[r]!.sequence).subarray(4), targets.subarray(4));
      expect(made[r]!.rows).toBe(26);
      expect(bits(made[r]!.sums().gram.data)).toEqual(bits(sink.sums().gram.data));
      expect(bits(made[r]!.sums().cross.data)).toEqual(bits(sink.sums().cross.data));
    }
  });
});

describe("the engine", () => {
  it("runs an ensemble of a user's together and gives the reference's bits", async () => {
    const configs = [1, 2, 3].map((seed) => ({ size: 24, seed }));
    const inputs = randomMatrix(6, 1, "float32", 3);
    const names: string[] = [];
    const states = await runEnsembleOnce(
      device,
      configs.map(model),
      { inputs },
      { keep: "all", onProgress: (done) => names.push(String(done)) },
    );
    const expected = await runEnsembleOnce(referenceEngine, configs.map(model), { inputs }, { keep: "all" });
    for (const [r, each] of states.entries()) expect(bits(each.data)).toEqual(bits(expected[r]!.data));
    expect(names).toEqual(["18", "18"]);
  });

  it("has the weights of an ensemble on the device between runs, and gives them back", async () => {
    const shared = model({ size: 24, seed: 1, storage: "dense" });
    const of = [shared, model({ size: 24, seed: 2, storage: "dense" }), model({ size: 30, seed: 3 }), shared];
    const before = context.held().filter(({ kind }) => kind !== "module").length;
    const ensemble = (await openTogether(context, "sim", of, { profile: true }))!;
    expect(ensemble.plan.details).toMatchObject({ plan: "ensemble", reservoirs: 4, weights: "kept on the device" });
    const opened = ensemble.profile!()!.device!.bytesToDevice;
    // W, W_in, b and a, the noise level and its keys, which members of one model have once, and N
    // initial values each.
    const dense = 4 * (2 * (24 * 24 + 3 * 24 + 1 + 2) + 3 * 24);
    expect(opened).toBeGreaterThan(dense);
    expect(opened).toBe(ensemble.plan.bytes);
    for (const [run, steps] of [6, 9].entries()) {
      const inputs = randomMatrix(steps, 1, "float32", 10 + run);
      const sent = ensemble.profile!()!.device!.bytesToDevice;
      const states = await ensemble.run({ inputs }, { keep: "all" });
      // To each group of members that have one shape the series, and a row of 8 words a member.
      expect(ensemble.profile!()!.device!.bytesToDevice - sent).toBe(2 * 4 * steps + 4 * 8 * 4);
      const expected = await runEnsembleOnce(referenceEngine, of, { inputs }, { keep: "all" });
      for (const [r, each] of states.entries()) expect(bits(each.data)).toEqual(bits(expected[r]!.data));
    }
    await ensemble.dispose();
    await ensemble.dispose();
    expect(context.held().filter(({ kind }) => kind !== "module")).toHaveLength(before);
    await expect(ensemble.run({ inputs: randomMatrix(2, 1, "float32", 1) }, { keep: "none" })).rejects.toThrow("was disposed");
  });

  it.runIf(!onHardware)("brings weights in each run where they do not fit half of the free memory", async () => {
    const small = openDevice({ driver: simulatedDriver({ memoryBytes: 2 ** 20 }), onLeak: () => undefined });
    const of = Array.from({ length: 30 }, (_, seed) => model({ size: 100, seed, storage: "dense", spectralRadius: null }));
    const inputs = randomMatrix(2, 1, "float32", 3);
    const ensemble = (await openTogether(small, "sim", of))!;
    expect(ensemble.plan).toMatchObject({ bytes: 0, details: { weights: "uploaded in each run" } });
    const last = await ensemble.run({ inputs }, { keep: "last" });
    const expected = await runEnsembleOnce(referenceEngine, of, { inputs }, { keep: "last" });
    for (const [r, each] of last.entries()) expect(bits(each.data)).toEqual(bits(expected[r]!.data));
    await ensemble.dispose();
    small.dispose();
  });

  it("runs a few large members one after the other, and many together", () => {
    const of = model({ size: 400, storage: "dense", connectionProbability: 0.01, spectralRadius: null });
    const members = (count: number): Member[] =>
      Array.from({ length: count }, () => ({ model: of, sequence: sequence(of, 1, 1), number: 0 }));
    const [few, many] = [members(2), members(40)];
    expect(worthwhile(context, few, planMembers(context, few)!)).toBe(false);
    expect(worthwhile(context, many, planMembers(context, many)!)).toBe(true);
  });
});
