import { beforeAll, describe, expect, it } from "vitest";
import { differenceMeter } from "../../src/analysis/compare/difference.js";
import { compare } from "../../src/analysis/index.js";
import "../../src/index.js";
import { openDevice } from "../../packages/gpu/src/index.js";
import { Matrix } from "../../packages/numerics/src/index.js";
import { simulatedDriver } from "../../packages/sim/src/index.js";
import { chooseEngine, type Engine, type EngineSession, registerEngine } from "../../src/reservoir/index.js";
import { poissonPattern } from "../../src/spikes/index.js";
import { exhaustive } from "../exhaustive.js";

const config = { size: 20, inputSize: 1, connectionProbability: 0.5, spectralRadius: 1.5, leakRate: 1, seed: 4 };
const inputs = Matrix.zeros(60, 1);
for (let t = 0; t < 60; t++) inputs.data[t] = Math.sin(t / 3);

/** The reference engine, but one state is 4096 units in the last place off after step 10. */
function nudged(reference: Engine): Engine {
  return {
    ...reference,
    name: "nudged",
    probe: async () => ({ available: true, reason: "a test" }),
    plan: (model) => reference.plan(model),
    open: async (model) => {
      const session = await reference.open(model);
      const open: EngineSession = Object.create(session, {
        model: { value: session.model },
        plan: { value: session.plan },
        run: {
          value: async (...[sequence, options]: Parameters<EngineSession["run"]>) => {
            await session.run(sequence, options);
            const state = session.getState();
            const bits = new Int32Array(state.values.buffer);
            if (state.step === 10) bits[3] = bits[3]! + 4096;
            session.setState(state);
            (options.into as Matrix).row(options.into!.rows - 1).set(state.values);
          },
        },
        profile: { value: () => session.profile?.() },
        dispose: { value: () => session.dispose() },
      });
      return open;
    },
  };
}

describe("compare", () => {
  beforeAll(async () => {
    const { engine } = await chooseEngine("reference");
    registerEngine("nudged", async () => nudged(engine), { automatic: false });
  });

  it("takes open devices beside the names of engines, and plans of them", async () => {
    using context = openDevice({ driver: simulatedDriver() });
    const { equal, others } = await compare(config, inputs.subarray(0, 6), ["cpu", context], { plans: ["named", "auto"] });
    expect(equal).toBe(true);
    expect(others.map(({ engine }) => engine)).toEqual(["sim, named", "sim, auto"]);
    expect(others.map(({ plan }) => plan.details["plan"] === "named")).toEqual([true, false]);
    await expect(compare(config, inputs, [context])).rejects.toMatchObject({
      field: "engines",
      message: expect.stringContaining('["context"]'),
    });
    await expect(compare(config, inputs, ["cpu", {} as never])).rejects.toMatchObject({ field: "engines" });
  });

  it("finds the WebAssembly engine's states equal to the reference's", async () => {
    const comparison = await compare(config, inputs, ["reference", "cpu"], { chunk: 7 });
    expect(comparison.equal).toBe(true);
    const { difference } = comparison.others[0]!;
    expect(difference).toMatchObject({ equal: true, differing: 0, compared: 60 * 20, first: undefined, maxUlps: 0, rate: undefined });
    expect(difference.histogram).toEqual([{ label: "0", from: 0, count: 1200 }]);
    expect(comparison.reference.engine).toBe("reference");
    expect(comparison.others[0]!.stepsPerSecond).toBeGreaterThan(0);
  });

  it("names the first step and neuron that differ, and follows the difference as it grows", async () => {
    const comparison = await compare(config, inputs, ["reference", "nudged"], { chunk: 10 });
    expect(comparison.equal).toBe(false);
    const { difference } = comparison.others[0]!;
    expect(difference.first).toMatchObject({ step: 9, neuron: 3, ulps: 4096 });
    expect(difference.divergence.subarray(0, 9).every((value) => value === 0)).toBe(true);
    expect(difference.divergence[9]).toBeGreaterThan(0);
    expect(difference.differing).toBeGreaterThan(1);
  });

  it("runs sequences as a batch, each from the initial state", async () => {
    const comparison = await compare(config, inputs, ["reference", "cpu"], { sequences: 7 });
    // 60 rows make seven sequences of eight; four are left over.
    expect(comparison).toMatchObject({ equal: true, sequences: 7, steps: 8 });
    expect(comparison.others[0]!.difference).toMatchObject({ compared: 7 * 8 * 20 });
    expect(comparison.others[0]!.difference.divergence).toHaveLength(8);
  });

  it("gives the speed of the loop alone beside that of the whole, but no simulated time", async () => {
    const { reference, others } = await compare(config, inputs, ["cpu", "sim"], { chunk: 30 });
    expect(reference.loop!.clock).toBe("host");
    expect(reference.loop!.stepsPerSecond).toBeGreaterThan(reference.stepsPerSecond);
    const [sim] = others;
    expect(sim!.loop).toBeUndefined();
    expect(sim!.profile!.phases.find(({ phase }) => phase === "run")).toMatchObject({ clock: "simulated", steps: 60 });
  });

  it.runIf(exhaustive)("shows how fast arithmetic departs from portable, and how that grows", async () => {
    // Large enough that no multiprocessor holds W by itself, if a batch is computed by tensor
    // cores.
    const large = { size: 300, inputSize: 1, storage: "dense", spectralRadius: 1.2, leakRate: 1, seed: 4 } as const;
    const { reference, others, equal } = await compare(large, inputs, ["cpu", "sim:fast"], { sequences: 10 });
    const [fast] = others;
    expect(equal).toBe(false);
    expect([reference.engine, reference.arithmetic, fast!.engine, fast!.arithmetic]).toEqual(["cpu", "portable", "sim:fast", "fast"]);
    expect(Object.keys(fast!.profile!.device!.kernels)).toContainEqual(expect.stringMatching(/^reservoir_batch_(fast_|pair$)/));
    const { divergence, rate, maxAbsolute, first } = fast!.difference;
    // The first step has no state to multiply: it differs only by the fast tanh, whose absolute
    // error is below 3e-7 (the kernel says so). From the second on, weights and states are rounded
    // to the 11 bits of binary16.
    expect(first!.step).toBe(0);
    expect(divergence[0]).toBeLessThan(3e-7);
    expect(divergence[1]).toBeGreaterThan(3e-7);
    expect(divergence[3]).toBeGreaterThan(divergence[1]!);
    expect(rate).toBeGreaterThan(0);
    expect(maxAbsolute).toBeLessThan(2 ** -8);
  });

  it("lets an engine be portable where the description is fast", async () => {
    const { others } = await compare({ ...config, arithmetic: "fast" }, inputs, ["cpu:portable", "reference"]);
    expect(others[0]).toMatchObject({ engine: "reference", arithmetic: "fast", difference: { equal: true } });
  });

  it("refuses sequences that the rows do not make, and fast spiking reservoirs", async () => {
    await expect(compare(config, inputs, ["cpu", "reference"], { sequences: 61 })).rejects.toThrow(
      "sequences is 61 and inputs has 60 rows; it takes a whole number from 1 to that",
    );
    const spiking = { kind: "spiking", size: 10, inputSize: 1, seed: 1 } as const;
    await expect(compare(spiking, inputs, ["cpu", "reference:fast"])).rejects.toThrow(
      'engines holds "reference:fast"; a spiking reservoir has only portable arithmetic',
    );
  });

  it("refuses a single engine", async () => {
    await expect(compare(config, inputs, ["cpu"])).rejects.toThrow('engines holds ["cpu"]; a comparison takes at least two');
  });
});

describe("the distance of two trajectories", () => {
  const meterOf = (a: number[][], b: number[][]) => {
    const meter = differenceMeter("float32", a.length);
    const matrix = (rows: number[][]) => new Matrix(rows.length, rows[0]!.length, Float32Array.from(rows.flat()));
    meter.add(matrix(a), matrix(b), 0);
    return meter.result();
  };

  it("counts units in the last place across zero and tells +0 from -0", () => {
    // The least positive binary32 is 2^-149: two of them on the other side of zero are 1 + 1 + 1
    // steps away, since +0 and -0 are two numbers.
    expect(meterOf([[2 ** -149]], [[-(2 ** -149)]]).maxUlps).toBe(3);
    expect(meterOf([[0]], [[-0]])).toMatchObject({ equal: false, maxUlps: 1 });
  });

  it("sorts distances into powers of two", () => {
    const next = (value: number, ulps: number) => {
      const bits = new Int32Array(Float32Array.of(value).buffer);
      bits[0] = bits[0]! + ulps;
      return new Float32Array(bits.buffer)[0]!;
    };
    const { histogram } = meterOf([[1, 1, 1, 1, 1]], [[1, next(1, 1), next(1, 2), next(1, 3), next(1, 9)]]);
    expect(histogram.map(({ label, count }) => [label, count])).toEqual([
      ["0", 1],
      ["1", 1],
      ["2", 1],
      ["3 to 4", 1],
      ["5 to 8", 0],
      ["9 to 16", 1],
    ]);
  });

  it("measures the rate at which a difference grows", () => {
    const rows = Array.from({ length: 30 }, (_, t) => [1 + 2 ** -20 * 1.25 ** t]);
    const { rate } = meterOf(
      rows.map(() => [1]),
      rows,
    );
    // Growth by 1.25 a step is ln 1.25 = 0.2231 a step; rounding to binary32 leaves about 2 % on
    // such small differences.
    expect(rate).toBeCloseTo(Math.log(1.25), 2);
  });

  it("has no rate where errors that are made anew in each step stay of one size", () => {
    const rows = Array.from({ length: 40 }, (_, t) => [1 + 2 ** -12 * (1 - 0.5 ** (t + 1))]);
    const { rate } = meterOf(
      rows.map(() => [1]),
      rows,
    );
    expect(Math.abs(rate!)).toBeLessThan(1e-5);
  });
});

describe("compare on a spike pattern", () => {
  const pattern = poissonPattern({ seed: 1, neuronCount: 3, durationMs: 20, rateHz: 100 });

  it("bins it by the liquid's time step, or by the step that is given", async () => {
    const liquid = { kind: "spiking", size: 20, inputSize: 3, timeStep: 0.5, seed: 1 } as const;
    expect(await compare(liquid, pattern, ["cpu", "reference"])).toMatchObject({ equal: true, steps: 40 });
    const rate = { size: 20, inputSize: 3, seed: 1 };
    expect(await compare(rate, pattern, ["cpu", "reference"], { stepMs: 2 })).toMatchObject({ equal: true, steps: 10 });
    await expect(compare(rate, pattern, ["cpu", "reference"])).rejects.toThrow("stepMs");
    await expect(compare(liquid, pattern, ["cpu", "reference"], { stepMs: 2 })).rejects.toThrow("the reservoir's timeStep");
    await expect(compare(config, inputs, ["cpu", "reference"], { stepMs: 2 })).rejects.toThrow("stepMs is 2; it goes with a spike pattern");
  });
});
