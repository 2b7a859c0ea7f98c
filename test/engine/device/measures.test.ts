// Measures of many reservoirs on the device against the same measures one after the other on the
// host, bit for bit.
import "../../../src/index.js";
import { afterAll, describe, expect, it, vi } from "vitest";
import { informationCapacity } from "../../../src/analysis/index.js";
import { type MapLengths, mapLengths } from "../../../src/analysis/map/lengths.js";
import type { MapMeasure } from "../../../src/analysis/map/options.js";
import { measureAll } from "../../../src/analysis/map/reservoirs.js";
import { cpuEngine } from "../../../src/engine/cpu/index.js";
import {
  type Evaluation,
  type MeasuresAsk,
  ReservoirComputer,
  type ReservoirOptions,
  registerEngine,
} from "../../../src/reservoir/index.js";
import { onHardware } from "../../gpu/device/device.js";
import { bits } from "../contract.js";
import { device } from "./engines.js";

const name = "device that measures";
/** What the device was asked for, and how many members it may take at once. */
const asked: Evaluation[] = [];
let membersAtOnce: number | undefined;
const evaluate = (work: Evaluation) => {
  asked.push(work);
  return device.device.evaluate({ ...work, ask: { ...(work.ask as MeasuresAsk), membersAtOnce } });
};
// What is not measured together is the host's, which is faster than a simulated device.
registerEngine(name, async () => ({ ...device, device: { ...device.device, evaluate }, open: cpuEngine.open }), { automatic: false });
afterAll(() => device.close());

const lengths: MapLengths = onHardware
  ? mapLengths
  : {
      exponent: { washout: 5, length: 14 },
      memory: { mostDelays: 6, length: 40, heldOut: 20 },
      rank: 6,
      echo: { length: 12, initialStates: 2 },
      capacity: {
        degrees: [
          [1, 4],
          [3, 1],
        ],
        length: 60,
      },
      dynamics: { washout: 4, length: 30 },
    };
const all = ["lyapunovExponent", "memoryCapacity", "kernelRank", "generalisationRank", "rankDifference", "echoStateIndex"] as const;
/** Those that take longer to simulate, at fewer points. */
const longer = ["informationCapacity", "storage", "transfer"] as const;
const common = { seed: "s", amplitude: 0.8, signal: undefined, onProgress: undefined };

function grid(base: ReservoirOptions): ReservoirOptions[] {
  return [0.3, 0.9, 1.5].flatMap((spectralRadius) => [0.1, 0.5, 2].map((inputScaling) => ({ ...base, spectralRadius, inputScaling })));
}

/** Values of the device, which are the host's. */
async function compare(
  reservoirs: readonly ReservoirOptions[],
  measures: readonly MapMeasure[] = all,
  as: MapLengths = lengths,
  rest = {},
) {
  asked.length = 0;
  const ours = await measureAll(reservoirs, { ...common, ...rest, measures, engine: name }, { lengths: as });
  const theirs = await measureAll(reservoirs, { ...common, ...rest, measures, engine: "cpu" }, { lengths: as });
  expect(asked.map(({ members }) => members.length)).toEqual([reservoirs.length]);
  for (const each of measures) expect([each, bits(ours.values[each]!)]).toEqual([each, bits(theirs.values[each]!)]);
  return ours.values;
}

describe("measures of many reservoirs", () => {
  it.each([
    ["dense", { size: 8, connectionProbability: 1, bias: 0.1 }],
    ["sparse", { size: 8, connectionProbability: 0.2, storage: "sparse" as const, leakRate: 0.5 }],
    ["binary64, with noise", { size: 7, connectionProbability: 1, precision: "float64" as const, leakRate: 1, noiseLevel: 0.01 }],
  ])("have the host's bits at 3 x 3 points, %s", async (_name, base) => {
    const values = await compare(grid(base));
    const some = await compare(onHardware ? grid(base) : grid(base).slice(3, 5), longer);
    for (const each of longer) expect(new Set(some[each]).size, each).toBeGreaterThan(1);
    // Runs from other states may all meet.
    for (const each of all.slice(0, 5)) expect(new Set(values[each]).size, each).toBeGreaterThan(1);
  });

  it("have them of several seeds and activations, also in waves", async () => {
    const seeds = [1, 2, 3].map((seed) => ({ size: 9, seed, connectionProbability: 1, activation: "sigmoid" as const, leakRate: 0.7 }));
    const whole = await compare(seeds);
    membersAtOnce = 2;
    expect(await compare(seeds)).toEqual(whole);
    membersAtOnce = undefined;
    const relu = [0.2, 0.5].map((spectralRadius) => ({ size: 6, spectralRadius, activation: "relu" as const, connectionProbability: 1 }));
    await compare(relu, ["lyapunovExponent"]);
  });

  it("take more neurons than a panel has columns, and more than a warp", async () => {
    const size = onHardware ? 300 : 40;
    await compare(
      [{ size, connectionProbability: 1, leakRate: 1 }],
      onHardware ? [...all, ...longer] : ["memoryCapacity", "lyapunovExponent"],
    );
  });

  it("go over more rows than a block of sums has, and turn more of them than a warp has lanes", async () => {
    const long = { ...lengths, capacity: { ...lengths.capacity, length: 1050 }, dynamics: { washout: 2, length: 1040 } };
    const two = [0.3, 0.9].map((spectralRadius) => ({ size: 4, spectralRadius, connectionProbability: 1, bias: 0.2 }));
    await compare(two, longer, onHardware ? lengths : long);
    const wide = { ...lengths, capacity: { degrees: [[1, 2]] as const, length: 120 } };
    const { informationCapacity: found } = await compare([{ size: 34, connectionProbability: 1 }], ["informationCapacity"], wide);
    expect(found![0]).toBeGreaterThan(0);
  });

  it("are NaN if a state is not finite, and -Infinity if every difference is gone", async () => {
    const linear = { size: 6, activation: "identity" as const, leakRate: 1, connectionProbability: 1 };
    const wild = [1, 1e20].map((spectralRadius) => ({ ...linear, spectralRadius }));
    const values = await compare(wild);
    const some = await compare(wild, longer);
    for (const each of [...all, ...longer]) expect([...(values[each] ?? some[each])!].map(Number.isNaN), each).toEqual([false, true]);
    const line = { ...linear, topology: { type: "delayLine" as const, weight: 0.5 } };
    expect((await compare([line], ["lyapunovExponent"])).lyapunovExponent![0]).toBe(Number.NEGATIVE_INFINITY);
  });

  it("leave to the host what is not measured together", async () => {
    const two = [{ size: 6, inputSize: 2, connectionProbability: 1 }];
    const byDistances = { estimator: "nearestNeighbours" };
    const { lyapunovExponent, transfer } = await compare(two, ["lyapunovExponent", "transfer"], lengths, byDistances);
    expect(Object.keys((asked[0]!.ask as MeasuresAsk).measures)).toEqual(["exponent"]);
    expect(lyapunovExponent![0]).toBeLessThan(0);
    expect(transfer![0]).toBeGreaterThan(0);
  });

  it("keep the waves that are done if they are stopped, and report reservoirs", async () => {
    membersAtOnce = 2;
    const stop = new AbortController();
    const reported: number[] = [];
    const onProgress = (done: number) => {
      reported.push(done);
      if (done >= 2) stop.abort();
    };
    const reservoirs = grid({ size: 6, connectionProbability: 1 });
    const options = { ...common, measures: ["lyapunovExponent"] as const, engine: name, signal: stop.signal, onProgress };
    const { interrupted, measured, values } = await measureAll(reservoirs, options, { lengths });
    membersAtOnce = undefined;
    expect([interrupted, measured]).toEqual([true, 2]);
    expect(reported.at(-1)).toBe(2);
    expect([...values.lyapunovExponent!].map(Number.isNaN)).toEqual([false, false, ...Array(7).fill(true)]);
    await expect(measureAll(reservoirs, options, { lengths })).rejects.toMatchObject({ code: "aborted" });
  });
});

describe("information processing capacity", () => {
  registerEngine("device of products", async () => device, { automatic: false });
  const sizes = onHardware ? { size: 70, length: 5000 } : { size: 5, length: 1100 };
  it.each([
    ["float32, sparse", { connectionProbability: 0.6, storage: "sparse" as const }],
    ["float64, dense", { connectionProbability: 1, precision: "float64" as const, noiseLevel: 0.01 }],
  ])("has the host's bits without states on the host, %s", async (_name, rest) => {
    const reservoir = { size: sizes.size, leakRate: 0.8, bias: 0.2, ...rest };
    const options = {
      degrees: [
        [1, 6],
        [2, 3],
        [3, 2],
      ] as const,
      length: sizes.length,
    };
    await using computer = await ReservoirComputer.create(reservoir, { engine: "device of products" });
    const before = computer.state;
    const run = vi.spyOn(computer, "run");
    const ours = await informationCapacity(computer, options);
    expect(run).not.toHaveBeenCalled();
    expect(computer.state).toEqual(before);
    expect(ours).toEqual(await informationCapacity(reservoir, { ...options, engine: "cpu" }));
    expect(ours.total).toBeGreaterThan(1);
    const fast = await informationCapacity({ ...reservoir, arithmetic: "fast" }, { ...options, engine: "device of products" });
    expect(fast.total).toBeCloseTo(ours.total, onHardware ? 1 : 5);
  });

  it("has the host's threshold by inputs that the reservoir never heard", async () => {
    // More of them than a byte tells apart; on hardware two chunks of rows.
    const degrees = [
      [1, 6],
      [4, 3],
    ] as const;
    const own = { connectionProbability: 1, leakRate: 0.8, bias: 0.5, inputScaling: 1, precision: "float64" } as const;
    const reservoir = { size: onHardware ? 30 : 2, ...own };
    const options = { degrees, length: onHardware ? 9000 : 24, washout: 8, threshold: "surrogate", polynomials: "sample" } as const;
    registerEngine("device of surrogates", async () => device, { automatic: false });
    const ours = await informationCapacity(reservoir, { ...options, engine: "device of surrogates" });
    expect(ours).toEqual(await informationCapacity(reservoir, { ...options, engine: "cpu" }));
    expect(ours.byDegree.at(-1)!.threshold).toBeGreaterThan(onHardware ? 0.005 : 0.3);
  });
});
