import { beforeAll, describe, expect, it } from "vitest";
import { compare } from "../../src/analysis/index.js";
import { DifferenceMeter } from "../../src/analysis/compare/difference.js";
import "../../src/index.js";
import { Matrix } from "../../src/numerics/index.js";
import { chooseEngine, type Engine, type EngineSession, registerEngine } from "../../src/reservoir/index.js";

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
    ensemble: (...all) => reference.ensemble(...all),
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
            options.states!.row(options.states!.rows - 1).set(state.values);
          },
        },
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

  it("finds the WebAssembly engine's states equal to the reference's", async () => {
    const comparison = await compare(config, inputs, ["reference", "cpu"], { chunk: 7 });
    expect(comparison.equal).toBe(true);
    const { difference } = comparison.others[0]!;
    expect(difference).toMatchObject({ equal: true, differing: 0, compared: 60 * 20, first: undefined, maximalUlps: 0, rate: undefined });
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

  it("refuses a single engine", async () => {
    await expect(compare(config, inputs, ["cpu"])).rejects.toThrow('engines holds ["cpu"]; a comparison takes at least two');
  });
});

describe("the distance of two trajectories", () => {
  const meterOf = (a: number[][], b: number[][]) => {
    const meter = new DifferenceMeter("float32", a.length);
    const matrix = (rows: number[][]) => new Matrix(rows.length, rows[0]!.length, Float32Array.from(rows.flat()));
    meter.add(matrix(a), matrix(b), 0);
    return meter.result();
  };

  it("counts units in the last place across zero and tells +0 from -0", () => {
    // The least positive binary32 is 2^-149: two of them on the other side of zero are 1 + 1 + 1 steps away, since +0 and -0 are two numbers.
    expect(meterOf([[2 ** -149]], [[-(2 ** -149)]]).maximalUlps).toBe(3);
    expect(meterOf([[0]], [[-0]])).toMatchObject({ equal: false, maximalUlps: 1 });
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
    // Growth by 1.25 a step is ln 1.25 = 0.2231 a step; rounding to binary32 leaves about 2 % on such small differences.
    expect(rate).toBeCloseTo(Math.log(1.25), 2);
  });
});
