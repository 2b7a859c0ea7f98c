// Phase oscillators by their kernel on a device: every bit of the host's step, through runs, single
// steps, batches, closed loops and faults. The device knows the kind by what it says of itself
// alone.
import { afterAll, describe, expect, it } from "vitest";
import { ArgumentError } from "../../../packages/core/src/errors.js";
import { Matrix, RandomStream, seedKeys } from "../../../packages/numerics/src/index.js";
import { contextEngine } from "../../../src/engine/cuda/index.js";
import { StallError } from "../../../src/engine/cuda/time-loop.js";
import { oscillatorKind } from "../../../src/oscillators/kind.js";
import type { OscillatorModel } from "../../../src/oscillators/options.js";
import { NonFiniteStateError } from "../../../src/reservoir/engine.js";
import {
  type RegisteredReservoirOptions,
  ReservoirComputer,
  type ReservoirKindOptions,
  registerReservoirKind,
} from "../../../src/reservoir/index.js";
import { casesOf } from "../../exhaustive.js";
import { openTestDevice, size } from "../../gpu/device/device.js";
import "../../../src/index.js";

const context = openTestDevice();
afterAll(() => context.dispose());
const engine = contextEngine(context);

const draws = new RandomStream(seedKeys("oscillators on a device").weights, 0);
const series = (rows: number, cols = 1) =>
  new Matrix(
    rows,
    cols,
    Float64Array.from({ length: rows * cols }, (_, i) => draws.normal(i, 0)),
  );
const shared = { kind: "oscillator", size: size(500, 70), seed: 7 } as const;
const steps = size(200, 6);

/** The same reservoir on the host and on the device. */
async function both(options: RegisteredReservoirOptions) {
  const host = await ReservoirComputer.create(options, { engine: "reference" });
  const there = await ReservoirComputer.fromModel(host.model, { context });
  return { host, there, [Symbol.asyncDispose]: async () => void (await Promise.all([host.dispose(), there.dispose()])) };
}

describe("phase oscillators on a device", () => {
  it.each(
    casesOf(
      [
        ["a dense W and noise", { ...shared, noise: 0.01 }],
        [
          "a dense W, binary64, several inputs and harmonics",
          { ...shared, precision: "float64", inputSize: 3, inputs: "one", harmonics: 3 },
        ],
        ["a sparse W, pulled by a field", { ...shared, connectionProbability: 0.2, input: "field", precision: "float64" }],
        [
          "several blocks, a sparse W, noise and R",
          { ...shared, size: size(900, 140), connectionProbability: 0.1, noise: 0.1, order: true },
        ],
        ["several blocks, a dense W", { ...shared, size: size(700, 130), steps: 3 }],
        ["several blocks of more threads", { ...shared, size: size(3000, 1100), tau: 0.35 }],
        ["several blocks, the mean field and R", { ...shared, size: 2100, coupling: "meanField", order: true, tau: 0.35 }],
        [
          "the mean field, harmonics and R",
          { ...shared, coupling: "meanField", harmonics: 2, order: true, frequencyDistribution: "lorentz" },
        ],
        ["one oscillator", { ...shared, size: 1, order: true }],
        ["no input", { ...shared, inputSize: 0, precision: "float64" }],
      ] as const,
      ([name]) => !/^(several blocks of more threads|several blocks, a dense W|the mean field, harmonics and R)$/.test(name),
    ),
  )("have the bits of the host: %s", async (_, options) => {
    await using pair = await both(options);
    const inputs = series(steps, "inputSize" in options ? options.inputSize : 1);
    expect((await pair.there.run(inputs)).data).toEqual((await pair.host.run(inputs)).data);
    expect(pair.there.step(inputs.row(0))).toEqual(pair.host.step(inputs.row(0)));
    expect(pair.there.state).toEqual(pair.host.state);
  });

  it.each(casesOf([1, 3, 127, 128, 129, 131, 136, 137, 200], (count) => [3, 128, 137].includes(count)))(
    "have them at the edges of tiles and blocks: %i with a dense W",
    async (oscillators) => {
      await using pair = await both({ ...shared, size: oscillators, tau: 0.35 });
      const inputs = series(3);
      expect((await pair.there.run(inputs)).data).toEqual((await pair.host.run(inputs)).data);
    },
  );

  it.each(
    casesOf(
      [
        ["none", 0, 0],
        ["that of the vectors", 1, 0],
        ["that of some columns", 1, 0.5],
      ] as const,
      ([name]) => name === "that of some columns",
    ),
  )("have them whatever of a dense W shared memory keeps: %s", async (_, vectors, columns) => {
    const name = `narrowOscillator${vectors}${10 * columns}` as keyof ReservoirKindOptions;
    registerReservoirKind({
      ...oscillatorKind,
      name,
      kernel(model: OscillatorModel) {
        const kernel = oscillatorKind.kernel!(model);
        const bytes = 2 * 333 * (model.precision === "float32" ? 4 : 8);
        return { ...kernel, shared: (most, blocks) => vectors * bytes + Math.floor(columns * (kernel.shared!(most, blocks) - bytes)) };
      },
    });
    for (const precision of ["float32", "float64"] as const) {
      await using pair = await both({ ...shared, size: 333, kind: name, precision } as never);
      const inputs = series(2);
      expect((await pair.there.run(inputs)).data).toEqual((await pair.host.run(inputs)).data);
    }
  });

  it("keep them in batches, whose noise is each sequence's own", async () => {
    await using pair = await both({ ...shared, size: 150, noise: 0.05 });
    const sequences = [series(5), series(9), series(3)];
    const there = await pair.there.batch(sequences);
    expect(there.map(({ data }) => data)).toEqual((await pair.host.batch(sequences)).map(({ data }) => data));
  });

  it("keep them where a state is no longer finite, and go on from the one before", async () => {
    await using pair = await both({ ...shared, input: "field", size: 8 });
    const inputs = series(6);
    inputs.data[4] = 3e38;
    const onHost = await pair.host.run(inputs).catch((error: unknown) => error);
    expect(onHost).toBeInstanceOf(NonFiniteStateError);
    expect(await pair.there.run(inputs).catch((error: unknown) => error)).toEqual(onHost);
    expect(pair.there.state).toEqual(pair.host.state);
    expect(pair.there.step(inputs.row(0))).toEqual(pair.host.step(inputs.row(0)));
  });

  it("leave inputs beyond the kernel's sines to the host, with the same bits", async () => {
    await using pair = await both(shared);
    const inputs = series(4);
    inputs.data[2] = 3e12;
    expect((await pair.there.run(inputs)).data).toEqual((await pair.host.run(inputs)).data);
  });

  it("say how they would run, and refuse a kind without a kernel", async () => {
    const { model } = await ReservoirComputer.create({ ...shared, size: 300 } as const);
    expect(engine.plan(model as never).summary).toMatch(
      /the kind "oscillator" by its own kernel, \d+ blocks: they share out the rows of W of 300 oscillators, /,
    );
    const [few, mean] = [{ size: 9 } as const, { size: 2000, coupling: "meanField" } as const];
    for (const options of [few, mean]) {
      const { model: alone } = await ReservoirComputer.create({ ...shared, ...options });
      const what = `one block: ${options.size.toLocaleString("en")} oscillators take less time than a wait for other blocks, `;
      expect(engine.plan(alone as never).summary).toContain(what);
    }
    const affine = await ReservoirComputer.create({ kind: "stateAffine", size: 4 } as never);
    expect(() => engine.plan(affine.model as never)).toThrow(ArgumentError);
    expect(() => engine.plan(affine.model as never)).toThrow("which the kind has no kernel for");
  });

  it("give an error with the block that waited too long, and stand where they were", async () => {
    // Its count of blocks begins at -1: one is always missing.
    const name = "waitingOscillator" as keyof ReservoirKindOptions;
    registerReservoirKind({
      ...oscillatorKind,
      name,
      kernel(model: OscillatorModel) {
        const kernel = oscillatorKind.kernel!(model);
        kernel.report![1] = 0xffff_ffff_ffff_ffffn;
        return kernel;
      },
    });
    const options = { ...shared, size: 200 } as const;
    const { model } = await ReservoirComputer.create({ ...options, kind: name } as never);
    const inputs = series(4);
    const session = await engine.open(model as never, { spinLimit: 3000 });
    const before = session.getState();
    const error = await session.run({ inputs: new Matrix(4, 1, Float32Array.from(inputs.data)) }, {}).catch((reason: unknown) => reason);
    expect(error, String(error)).toBeInstanceOf(StallError);
    expect((error as StallError).message).toMatch(/^oscillators_f32: block \d+ waited 3000 clock ticks at step 0/);
    expect((error as StallError).message).toMatch(/or take the engine "cpu"$/);
    expect(session.getState()).toEqual(before);
    await session.dispose();
    // The device is not lost.
    await using pair = await both(options);
    expect((await pair.there.run(inputs)).data).toEqual((await pair.host.run(inputs)).data);
  });

  it("are no more to a device than a kind of a user's own", async () => {
    const name = "ownOscillator" as keyof ReservoirKindOptions;
    registerReservoirKind({
      ...oscillatorKind,
      name,
      kernel: (model: OscillatorModel) => ({
        ...oscillatorKind.kernel!(model),
        source: { ptx: context.shippedPtx("oscillators") },
      }),
    });
    await using pair = await both({ ...shared, kind: name } as never);
    const inputs = series(3);
    expect((await pair.there.run(inputs)).data).toEqual((await pair.host.run(inputs)).data);
    expect(context.held().some(({ label }) => label?.includes("oscillators_f32"))).toBe(true);
  });
});
