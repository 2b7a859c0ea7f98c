// The streamed plan where its kernels differ: sizes at the edges of tiles, slices and chunks, types
// of weights, columns and precision, and memory.
import { afterAll, describe, expect, it } from "vitest";
import { openDevice } from "../../../packages/gpu/src/index.js";
import { Matrix } from "../../../packages/numerics/src/index.js";
import { simulatedDriver } from "../../../packages/sim/src/index.js";
import { cpuEngine } from "../../../src/engine/cpu/index.js";
import { deviceEngine } from "../../../src/engine/cuda/index.js";
import type { ReservoirOptions } from "../../../src/reservoir/config.js";
import type { Engine } from "../../../src/reservoir/engine.js";
import { amount, casesOf } from "../../exhaustive.js";
import { onHardware, size } from "../../gpu/device/device.js";
import { bits, model, randomMatrix, randomReadout } from "../contract.js";
import { distance } from "./distance.js";
import { device } from "./engines.js";

async function statesOf(engine: Engine, config: ReservoirOptions, steps: number, every = 1, plan = "streamed"): Promise<Matrix> {
  const of = model(config);
  const session = await engine.open(of, engine === device ? { plan } : {});
  const states = Matrix.zeros(Math.floor(steps / every), of.size, of.precision) as Matrix;
  await session.run({ inputs: randomMatrix(steps, of.inputSize, of.precision, 5) }, { into: states, every });
  await session.dispose();
  return states;
}

afterAll(() => device.close());

describe("the plans of a launch a step give the CPU's bits", () => {
  const edges = [
    ...[1, 2, 31, 32, 33, 127, 128, 129, 256, 257].map((n) => ({ size: n, storage: "dense" as const, precision: "float32" as const })),
    ...[1, 63, 64, 65, 129].map((n) => ({ size: n, storage: "dense" as const, precision: "float64" as const })),
    ...[1, 3, 4, 5, 33, 250].map((n) => ({ size: n, storage: "sparse" as const, precision: "float32" as const })),
    ...[7, 120].map((n) => ({ size: n, storage: "sparse" as const, precision: "float64" as const })),
  ];

  it.each(casesOf(edges, (each) => [5, 7, 33, 65, 128].includes(each.size)))(
    "of a $storage $precision W of $size neurons",
    async (config) => {
      for (const weightPrecision of ["full", "bfloat16"] as const) {
        const options: ReservoirOptions = { ...config, weightPrecision, connectionProbability: 0.4, noiseLevel: 0.01, inputSize: 3 };
        const expected = bits((await statesOf(cpuEngine, options, 5)).data);
        for (const plan of ["streamed", "named"]) expect(bits((await statesOf(device, options, 5, 1, plan)).data), plan).toEqual(expected);
      }
    },
  );

  const sparse = [
    ["gathered from shared memory", { size: 1000, connectionProbability: 0.1 }],
    ["of few entries a row", { size: 1000, connectionProbability: 0.01 }],
    ["of long rows and of empty ones", { size: 600, topology: { type: "blockDiagonal", blocks: 3 }, connectionProbability: 0.5 }],
    ["of one entry a row", { size: 500, topology: "ring" }],
  ] as const;

  it.each(casesOf(sparse, ([, { size: n }]) => n < 1000))("of a sparse W %s", async (_what, config) => {
    for (const precision of ["float32", "float64"] as const) {
      const options: ReservoirOptions = { ...config, precision, storage: "sparse", seed: 2, spectralRadius: null };
      const expected = bits((await statesOf(cpuEngine, options, 3)).data);
      for (const plan of ["streamed", "named"]) expect(bits((await statesOf(device, options, 3, 1, plan)).data), plan).toEqual(expected);
    }
  });

  it("of a sparse W whose columns need 32 bits", async () => {
    const n = size(100_000, 66_000);
    const options: ReservoirOptions = { size: n, connectionProbability: 1.5 / n, spectralRadius: null, seed: 3 };
    expect(bits((await statesOf(device, options, 1)).data)).toEqual(bits((await statesOf(cpuEngine, options, 1)).data));
  });

  it("over more steps than one graph and one chunk hold, with every k-th state kept", async () => {
    const options: ReservoirOptions = { size: 20, seed: 1, storage: "dense", noiseLevel: 0.1 };
    const steps = size(100_000, 300, 300);
    for (const every of casesOf([1, 7, 40], (each) => each === 7)) {
      const expected = bits((await statesOf(cpuEngine, options, steps, every)).data);
      for (const plan of ["streamed", "named"])
        expect(bits((await statesOf(device, options, steps, every, plan)).data), plan).toEqual(expected);
    }
  });
});

describe("fast arithmetic of the streamed plan stays within 1e-5 of the CPU's states over five steps", () => {
  const fast = { arithmetic: "fast", connectionProbability: 0.4, noiseLevel: 0.01, inputSize: 3 } as const;

  const kinds = [
    ...[1, 31, 129, 300].map((n) => ({ size: n, storage: "dense" as const })),
    ...[5, 250].map((n) => ({ size: n, storage: "sparse" as const })),
    { size: 1000, storage: "sparse" as const, connectionProbability: 0.01 },
  ];

  it.each(casesOf(kinds, (each) => each.size < 130))("of a $storage W of $size neurons", async (config) => {
    for (const weightPrecision of ["full", "bfloat16"] as const) {
      const options: ReservoirOptions = { ...fast, ...config, weightPrecision };
      expect(distance(await statesOf(device, options, 5), await statesOf(cpuEngine, options, 5))).toBeLessThan(1e-5);
    }
  });

  it("which its plan says", () => {
    const details = (options: Partial<ReservoirOptions>) =>
      device.plan(model({ size: 64, connectionProbability: 1, ...options }), { plan: "streamed" }).details;
    expect(details({})).toMatchObject({ kernel: "dense_step_f32", bytesPerStep: 64 * 128 * 4 });
    expect(details({})).not.toHaveProperty("arithmetic");
    const rest = { arithmetic: "fast" } as const;
    expect(details(rest)).toMatchObject({ kernel: "dense_step_f32_fast", arithmetic: "fast" });
  });
});

it("runs the named kernels alone in the plan of that name, as its profile says", async () => {
  for (const storage of ["dense", "sparse"] as const) {
    const of = model({ size: 40, storage, feedback: { size: 1, scaling: 0.5 } });
    const session = await device.open(of, { plan: "named", profile: true });
    await session.run({ inputs: randomMatrix(9, 1, of.precision, 5), teacher: randomMatrix(9, 1, of.precision, 6) }, {});
    const { kernels } = session.profile!()!.device!;
    const steps = { [`matvec_reservoir${storage === "sparse" ? "_csr" : ""}`]: 9, leaky_integration: 9 };
    expect(kernels).toMatchObject(steps);
    expect(Object.keys(kernels)).toContain("matvec_input");
    expect(Object.keys(kernels).filter((name) => /_step_|drive/.test(name))).toEqual([]);
    expect(session.plan.details).toMatchObject({ plan: "named", kernels: `matvec_input, ${Object.keys(steps).join(", ")}` });
    await session.dispose();
  }
});

it("closes a loop again with a readout that lies where the last one lay", async () => {
  const of = model({ size: 5, inputSize: 1 });
  const session = await device.open(of, { plan: "streamed" });
  const readout = randomReadout(of, 1);
  for (let round = 0; round < 3; round++) {
    session.reset();
    const made = await session.generate({ readout, steps: 4 });
    expect(bits(made.data)).toEqual(bits((await (await cpuEngine.open(of)).generate({ readout, steps: 4 })).data));
  }
  await session.dispose();
});

describe("device memory", () => {
  it("is refused before any is taken, with the numbers, where a model does not fit", async () => {
    const small = deviceEngine({ name: "sim", open: () => openDevice({ driver: simulatedDriver({ memoryBytes: 2 ** 20 }) }) });
    const of = model({ size: 600, storage: "dense", spectralRadius: null });
    expect(() => small.plan(of)).toThrow(/600 neurons with 360,000 weights on .* would take 1\.40 MiB and the limit is 973 KiB/);
    await expect(small.open(of)).rejects.toThrow(/weightPrecision "bfloat16"/);
    expect(small.context().poolStatistics().usedHigh).toBe(0);
    small.close();
  });

  it("is shared out in shorter chunks where long ones do not fit", async () => {
    const small = deviceEngine({ name: "sim", open: () => openDevice({ driver: simulatedDriver({ memoryBytes: 2 ** 20 }) }) });
    const options: ReservoirOptions = { size: 420, storage: "dense", spectralRadius: null, seed: 4 };
    const of = model(options);
    const plan = small.plan(of);
    expect(plan.details["stepsPerChunk"]).toBeLessThan(60);
    const steps = amount(100, 61);
    expect(plan.bytes).toBeLessThanOrEqual(0.95 * 2 ** 20);
    const session = await small.open(of);
    const states = Matrix.zeros(steps, 420, "float32");
    await session.run({ inputs: randomMatrix(steps, 1, "float32", 5) }, { into: states });
    expect(bits(states.data)).toEqual(bits((await statesOf(cpuEngine, options, steps)).data));
    await session.dispose();
    small.close();
  });

  it.runIf(!onHardware)("is given back when a session is disposed", async () => {
    const before = device.context().held().length;
    const session = await device.open(model({ size: 50, feedback: { size: 1 }, inputSize: 2 }), { plan: "streamed" });
    await session.run({ inputs: randomMatrix(20, 2, "float32", 1) }, { into: Matrix.zeros(20, 50, "float32") });
    const held = device.context().held();
    expect(held.some(({ label }) => label === "W_fb")).toBe(true);
    await session.dispose();
    const left = device
      .context()
      .held()
      .filter(({ kind }) => kind !== "module");
    expect(left.slice(before)).toEqual([]);
  });
});
