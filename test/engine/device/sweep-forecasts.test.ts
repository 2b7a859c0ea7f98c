// Closed loops of a sweep's members on the device, and paths of penalties, against the same work
// on the host, bit for bit.
import "../../../src/index.js";
import { afterAll, describe, expect, it } from "vitest";
import { Matrix } from "../../../packages/numerics/src/index.js";
import { evaluateTogether } from "../../../src/engine/cuda/ensemble/evaluation.js";
import { type SweepSetting, sweepForecasts, sweepReadouts } from "../../../src/model/index.js";
import { type Evaluation, plainFeatures, registerEngine } from "../../../src/reservoir/index.js";
import { onHardware, openTestDevice } from "../../gpu/device/device.js";
import { bits, model, randomMatrix } from "../contract.js";
import { device } from "./engines.js";

const context = openTestDevice();
afterAll(() => context.dispose());
const name = "device that forecasts";
registerEngine(name, async () => device, { automatic: false });

const series = [40, 33].map((rows, s) => randomMatrix(rows, 2, "float64", s + 1));
const path = (setting: SweepSetting, ...lambdas: number[]) => lambdas.map((lambda) => ({ ...setting, lambda }));
const settings: SweepSetting[] = [
  ...path({ spectralRadius: 0.4 }, 1e-4, 1e-2),
  ...path({ leakRate: 0.9, inputScaling: [0.5, 2], bias: 0.3 }, 1e-3, 1, 1e-6),
  { spectralRadius: 1.2, bias: 0, lambda: 0.1 },
];
const options = { series, seeds: [1, "b"], settings, washout: 4, starts: [-8, 20, -6], horizon: 5 };

describe("forecasts of a sweep", () => {
  it.each([
    ["sparse", { size: 20, storage: "sparse" as const, connectionProbability: 0.3, bias: 0.1 }, {}],
    [
      "dense, each start with its readout",
      { size: 20, storage: "dense" as const, noiseLevel: 0.01 },
      { input: true, transform: "squareHalf" as const, refit: true, loss: "smape" as const },
    ],
    [
      "binary64",
      { size: 18, precision: "float64" as const, leakRate: Array.from({ length: 18 }, (_, r) => (r + 1) / 20) },
      { intercept: false, transform: "squares" as const, hold: false, refit: true, loss: "validTime" as const },
    ],
  ])("have the reference's scores, %s", async (_name, reservoir, further) => {
    const given = { ...options, ...further, reservoir: { inputSize: 2, ...reservoir } };
    const ours = await sweepForecasts({ ...given, engine: name });
    const theirs = await sweepForecasts({ ...given, engine: "reference" });
    expect(ours.engine.name).toBe(device.name);
    for (const [s, { data }] of theirs.scores.entries()) {
      expect(data.some((score) => Number.isFinite(score))).toBe(true);
      expect(bits(ours.scores[s]!.data)).toEqual(bits(data));
    }
  });

  it("are NaN where lambda is too small, or a state or an output is not finite", async () => {
    const reservoir = { size: 40, inputSize: 2, activation: "identity" as const, leakRate: 1, connectionProbability: 0.5 };
    const wild = [{ lambda: 1e-300 }, { spectralRadius: 1e30 }, { spectralRadius: 0.5, lambda: 1 }];
    const given = { ...options, reservoir, settings: wild, hold: false };
    const ours = await sweepForecasts({ ...given, engine: name });
    const theirs = await sweepForecasts({ ...given, engine: "reference" });
    expect([...ours.scores[0]!.data.subarray(0, 3)].map(Number.isNaN)).toEqual([true, true, false]);
    for (const [s, { data }] of theirs.scores.entries()) expect(bits(ours.scores[s]!.data)).toEqual(bits(data));
  });

  it("are the same in waves and chunks as in one piece", async () => {
    const of = [1, 2].map((seed) => model({ size: 24, inputSize: 1, seed, storage: "dense" }));
    const bases = of.map((each) => ({
      ...{ model: each, draws: new Matrix(24, 24, Float64Array.from((each.weights as Matrix).data)) },
      ...{ inputDraws: new Matrix(24, 1, Float64Array.from(each.inputWeights.data)), biasDraws: Float64Array.from(each.bias) },
    }));
    const members = [0, 1, 1, 0, 1].map((base, m) => ({
      ...{ base, factor: 1 - Math.min(m, 2) / 10, lambda: 10 ** -m, inputScaling: 1, bias: 0.2, leakRate: 0.3, noiseLevel: 0 },
    }));
    const rows = randomMatrix(30, 1, "float32", 1);
    const ends = (value: number) => new Matrix(2, 1, Float64Array.of(value, value));
    const one = { rows, targets: randomMatrix(30, 1, "float64", 2), starts: [20, 25], lower: ends(-1), upper: ends(1) };
    const made = async (budget?: number) => {
      const found: number[][] = members.map(() => []);
      const rest = { washout: 3, features: plainFeatures, constant: true, horizon: 4, refit: false, series: [one as never] };
      const take = (m: number, forecasts: Float64Array) => void found.splice(m, 1, [...forecasts]);
      const work: Evaluation = { bases, members, ask: { kind: "forecasts", ...rest, take } };
      const { plan } = await evaluateTogether(context, "sim", work, budget)!;
      return { found, plan };
    };
    const whole = await made();
    expect(whole.found).toHaveLength(5);
    expect(whole.found.flat().every((value) => Math.abs(value) <= 1)).toBe(true);
    expect((await made(5 * 24 * 4 * 7)).found).toEqual(whole.found);
    const small = await made(onHardware ? 60_000 : 30_000);
    expect(small.found).toEqual(whole.found);
    expect(small.plan.details["waves"]).toBeGreaterThan(1);
  });
});

describe("a path of penalties", () => {
  const data = { inputs: randomMatrix(40, 2, "float32", 4), targets: randomMatrix(40, 2, "float64", 5), washout: 6, validation: 12 };

  it("shares states and sums, with the scores of each penalty alone", async () => {
    const given = { reservoir: { size: 20, inputSize: 2 }, seeds: [1, 2], settings, ...data, profile: true };
    const { scores, profile } = await sweepReadouts({ ...given, engine: name });
    const steps = profile!.phases.find(({ phase }) => phase === "batch")!.steps;
    // Three shared prefixes a seed, over 40 rows.
    expect(steps).toBe(2 * 3 * 40);
    for (const [i, setting] of settings.entries()) {
      const alone = await sweepReadouts({ ...given, settings: [setting], engine: name });
      expect([scores.at(0, i), scores.at(1, i)]).toEqual([...alone.scores.data]);
    }
  });

  it("has no score where a pivot is nothing but rounding, as on the host", async () => {
    const reservoir = { size: 40, inputSize: 2, connectionProbability: 0.5 };
    const small = [1e-18, 1e-17, 1e-16, 1e-15, 1e-14, 1e-13, 1e-12].map((lambda) => ({ lambda }));
    const ours = await sweepReadouts({ reservoir, settings: small, ...data, engine: name });
    const theirs = await sweepReadouts({ reservoir, settings: small, ...data, engine: "reference" });
    expect(theirs.scores.data.some(Number.isNaN)).toBe(true);
    expect(bits(ours.scores.data)).toEqual(bits(theirs.scores.data));
  });
});
