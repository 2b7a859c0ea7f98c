// Networks of populations and projections: their descriptions, and what is drawn from them. The
// sums of tables and the thresholds are those of a C program written from rule 13 of
// docs/numerics.md alone.
import "../../../src/index.js";
import { describe, expect, it } from "vitest";
import { normalCdf, normalQuantile } from "../../../packages/numerics/src/index.js";
import type { NetworkOptions, PopulationOptions, ProjectionOptions } from "../../../src/spikes/network/config.js";
import { drawNetwork } from "../../../src/spikes/network/draw.js";
import { microcircuit } from "../../../src/spikes/network/microcircuit.js";
import type { NetworkModel } from "../../../src/spikes/network/plan.js";
import { planNetwork } from "../../../src/spikes/network/planning.js";
import { delaySteps, poissonSteps, sample, samplerOf } from "../../../src/spikes/network/sampler.js";
import { SpikingNetwork } from "../../../src/spikes/network/spiking-network.js";
import { tableSum } from "../../../src/spikes/network/table-sum.js";
import { exhaustive } from "../../exhaustive.js";

const network = (projection: Partial<ProjectionOptions>, more: Partial<NetworkOptions> = {}): NetworkOptions => ({
  kind: "network",
  seed: 3,
  populations: { E: { size: 40 }, I: { like: "E", size: 20 } },
  projections: [{ from: "E", to: "I", connect: "allToAll", weight: 1, ...projection }],
  ...more,
});
const drawn = (projection: Partial<ProjectionOptions>, more?: Partial<NetworkOptions>) =>
  drawNetwork(planNetwork(network(projection, more)));

/** The same onto a population whose only receptor is a conductance. */
const onto = (projection: Partial<ProjectionOptions>, population: PopulationOptions = {}) =>
  drawn(projection, {
    populations: { E: { size: 40 }, I: { size: 20, receptors: { g: { timeConstant: 5, reversalPotential: 0 } }, ...population } },
  });

/** Each synapse as source, target, weight in mV and delay in steps. */
function synapses({ synapses: { offsets, packed, units, signs, cellBits }, size, fractionBits }: NetworkModel) {
  const list: { source: number; target: number; weight: number; delay: number }[] = [];
  for (let source = 0; source + 1 < offsets.length; source++)
    for (let s = offsets[source]!; s < offsets[source + 1]!; s++) {
      const target = (packed[s]! & (2 ** cellBits - 1)) % size;
      list.push({ source, target, weight: (signs[source]! * units[s]!) / 2 ** fractionBits, delay: packed[s]! >>> cellBits });
    }
  return list;
}
const counted = (numbers: readonly number[], size: number) => numbers.reduce((all, k) => all.with(k, all[k]! + 1), Array(size).fill(0));

describe("the drawing of networks", () => {
  it.runIf(exhaustive)("has the microcircuit's table of the C reference at a tenth of its size", () => {
    const model = drawNetwork(planNetwork(microcircuit({ scale: 0.1, drive: "poisson", seed: 1 })));
    expect(model.size).toBe(7718);
    expect(model.fractionBits).toBe(9);
    expect(model.ringRows).toBe(64);
    expect(model.synapses.units).toBeInstanceOf(Uint16Array);
    expect(tableSum(model.synapses)).toBe("44402426e323ba9b");
  });

  it("plans the microcircuit at full size without drawing it", () => {
    const { size, expectedSynapses, fractionBits, populations } = planNetwork(microcircuit({ seed: 1 }));
    expect({ size, expectedSynapses, fractionBits }).toEqual({ size: 77169, expectedSynapses: 298_880_968, fractionBits: 11 });
    expect(populations.map((each) => each.first)).toEqual([0, 20683, 26517, 48432, 53911, 58761, 59826, 74221]);
    expect(populations[0]!.receptors[0]!.keep).toBe(Math.fround(0.81873075307798182));
    expect(populations[0]!.receptors[0]!.gain).toBe(Math.fround(0.0090167937195361203));
    expect(populations[0]!.neuron.refractorySteps).toBe(20);
  });

  it("draws delays by thresholds of the cut and rounded normal distribution", () => {
    const { first, thresholds } = delaySteps(
      { distribution: "normal", mean: 1.5, deviation: 0.75, least: 0.05, most: 6.35, outside: "redraw" },
      0.1,
      "delay",
    );
    expect(first).toBe(1);
    expect(thresholds).toHaveLength(62);
    expect([...thresholds.subarray(0, 4), ...thresholds.subarray(30, 33), thresholds[60]]).toEqual([
      41179099, 93509413, 158840585, 238967454, 4233620775, 4251658882, 4264880264, 4294967295,
    ]);
  });

  it("draws Poisson counts by thresholds, as many as the mean asks for", () => {
    expect(poissonSteps(1280, 1, "rate").thresholds).toHaveLength(24);
    const { thresholds } = poissonSteps(100_000, 1, "rate");
    const mean = thresholds.reduce((sum, each) => sum + (1 - each / 2 ** 32), 0);
    expect(mean).toBeCloseTo(100, 4);
    expect(() => poissonSteps(501_000, 1, "background.rate")).toThrow(/background\.rate is 501000; it takes .*at most 500 spikes a step/);
  });

  it("has SciPy's quantiles of the normal distribution, and their inverse", () => {
    for (const [p, z] of [
      [1e-10, -6.361340902404056],
      [0.001, -3.090232306167813],
      [0.3, -0.5244005127080409],
      [0.95, 1.6448536269514722],
    ] as const) {
      expect(Math.abs(normalQuantile(p) - z)).toBeLessThan(4e-15);
      expect(Math.abs(normalCdf(z) / p - 1)).toBeLessThan(1e-13);
    }
  });

  it("draws again beyond the bounds, or clips there", () => {
    const given = { distribution: "normal", mean: 0, deviation: 1, least: 1, most: 2 } as const;
    const words = Array.from({ length: 1000 }, (_, k) => Math.floor((k + 0.5) * 4294967.296));
    const again = words.map((word) => sample(samplerOf({ ...given, outside: "redraw" }, "w"), word));
    const clipped = words.map((word) => sample(samplerOf({ ...given, outside: "clip" }, "w"), word));
    expect(Math.min(...again)).toBeGreaterThan(1);
    expect(Math.max(...again)).toBeLessThan(2);
    // The mean of the normal distribution between 1 and 2.
    expect(again.reduce((sum, each) => sum + each, 0) / 1000).toBeCloseTo(1.383, 3);
    expect(clipped.filter((each) => each === 1)).toHaveLength(841);
    expect(clipped.filter((each) => each === 2)).toHaveLength(23);
  });
});

describe("the rules of projections", () => {
  it("connects all to all, one to one, and what is listed", () => {
    expect(synapses(drawn({ connect: "allToAll" }))).toHaveLength(800);
    expect(synapses(drawn({ connect: "allToAll", to: "E", selfConnections: false }))).toHaveLength(1560);
    expect(synapses(drawn({ connect: "oneToOne", to: "E" })).every(({ source, target }) => source === target)).toBe(true);
    const listed = drawn({
      connect: {
        rule: "list",
        synapses: [
          [1, 2, -3, 0.5],
          [0, 4],
        ],
      },
    });
    expect(synapses(listed)).toEqual([
      { source: 0, target: 44, weight: 1, delay: 1 },
      { source: 1, target: 42, weight: -3, delay: 5 },
    ]);
  });

  it("has the numbers of synapses onto each target, of each source, and in all", () => {
    const onto = synapses(drawn({ connect: { rule: "fixedInDegree", number: 7 } }));
    expect(
      counted(
        onto.map(({ target }) => target - 40),
        20,
      ),
    ).toEqual(Array(20).fill(7));
    const from = synapses(drawn({ connect: { rule: "fixedOutDegree", number: 7 } }));
    expect(
      counted(
        from.map(({ source }) => source),
        40,
      ),
    ).toEqual(Array(40).fill(7));
    const all = synapses(drawn({ connect: { rule: "fixedTotalNumber", number: 123 } }));
    expect(all).toHaveLength(123);
  });

  it("leaves out self-connections and several synapses of a pair if it should", () => {
    for (const rule of ["fixedInDegree", "fixedOutDegree"] as const) {
      const once = synapses(drawn({ to: "E", connect: { rule, number: 20 }, selfConnections: false, multiple: false }));
      expect(once).toHaveLength(800);
      expect(new Set(once.map(({ source, target }) => source * 40 + target)).size).toBe(800);
      expect(once.some(({ source, target }) => source === target)).toBe(false);
    }
  });

  it("draws a synapse onto one neuron from any other, and none at all for a number of 0", () => {
    const connect = (rule: "fixedInDegree" | "fixedOutDegree" | "fixedTotalNumber", number: number) => ({ connect: { rule, number } });
    const strict = { selfConnections: false } as const;
    expect(synapses(drawn({ ...connect("fixedInDegree", 3), ...strict, from: "E", to: "E[4:5]" }))).toHaveLength(3);
    expect(synapses(drawn({ ...connect("fixedOutDegree", 3), ...strict, from: "E[4:5]", to: "E" }))).toHaveLength(3);
    expect(synapses(drawn({ ...connect("fixedTotalNumber", 0), ...strict, from: "E", to: "E[4:5]" }))).toHaveLength(0);
    expect(synapses(drawn({ ...connect("fixedOutDegree", 3), ...strict, from: "E[0:4]", to: "E[4:5]" }))).toHaveLength(12);
  });

  it("connects pairs with a chance, and by distance on a grid", () => {
    const size = { populations: { E: { size: 500 } } };
    const chance = synapses(drawn({ from: "E", to: "E", connect: { rule: "bernoulli", probability: 0.1 } }, size));
    expect(Math.abs(chance.length - 25_000)).toBeLessThan(4 * Math.sqrt(22_500));
    const near = synapses(drawn({ from: "E", to: "E", connect: { rule: "distance", probability: 1, lambda: 1 } }, size));
    // Each neuron itself, and around it six with chance 1/e, twelve with 1/e^2, eight with 1/e^3
    // ...
    expect(near.filter(({ source, target }) => source === target)).toHaveLength(500);
    expect(near.length / 500).toBeGreaterThan(3.5);
    expect(near.length / 500).toBeLessThan(5.6);
  });

  it("draws slices, weights and delays within their bounds", () => {
    const list = synapses(
      drawn({
        from: "E[10:20]",
        to: "I[:5]",
        weight: { distribution: "uniform", from: -2, to: -1 },
        delay: { distribution: "uniform", from: 1, to: 2 },
      }),
    );
    expect(list).toHaveLength(50);
    expect(list.every(({ source, target }) => source >= 10 && source < 20 && target >= 40 && target < 45)).toBe(true);
    expect(list.every(({ weight }) => weight >= -2 && weight <= -1)).toBe(true);
    expect(new Set(list.map(({ delay }) => delay)).size).toBeGreaterThan(5);
    expect(list.every(({ delay }) => delay >= 10 && delay <= 20)).toBe(true);
  });

  it("takes pA where there is a capacitance", () => {
    const neuron = { type: "leakyIntegrateAndFire", membraneTimeConstant: 10 } as const;
    const model = drawn({ weight: 100 }, { populations: { E: { size: 40 }, I: { size: 20, neuron, capacitance: 250, current: 50 } } });
    expect(synapses(model)[0]!.weight).toBe(4);
    expect(model.drive[40]).toBeCloseTo(2 * (1 - Math.exp(-0.01)), 6);
    expect(model.drive[0]).toBe(0);
  });

  it("numbers inputs after the neurons", () => {
    const model = drawn({ from: "stimulus" }, { populations: { stimulus: { size: 3, neuron: null }, I: { size: 20 } } });
    expect(model.inputs).toBe(3);
    expect(synapses(model).every(({ source }) => source >= 20)).toBe(true);
  });

  it("has other synapses with another seed, and the same with the same", () => {
    const sum = (seed: string | number) => tableSum(drawn({ connect: { rule: "fixedTotalNumber", number: 500 } }, { seed }).synapses);
    expect(sum(3)).toBe(sum("3"));
    expect(sum(3)).not.toBe(sum(4));
    expect(sum("three")).not.toBe(sum(3));
  });
});

describe("descriptions of networks that cannot be", () => {
  it.each<[string, () => unknown, RegExp]>([
    ["a population that is not there", () => drawn({ to: "J" }), /projections\[0\]\.to is "J".*slice/],
    ["a slice beyond the population", () => drawn({ from: "E[30:50]" }), /within E\[0:40\]/],
    ["a rule without its number", () => drawn({ connect: { rule: "fixedInDegree" } as never }), /connect\.number/],
    ["a rule that is none", () => drawn({ connect: { rule: "fixed" } as never }), /fixedTotalNumber/],
    ["a delay under one step", () => drawn({ delay: 0.04 }), /projections\[0\]\.delay is 0\.04.*half a step of 0\.1 ms/],
    ["delays that may be below 0", () => drawn({ delay: { distribution: "normal", mean: 1, deviation: 1 } }), /give least/],
    ["a delay beyond the ring", () => drawn({ delay: 7000 }), /at most 65534 steps/],
    ["a weight of NaN", () => drawn({ weight: Number.NaN }), /projections\[0\]\.weight/],
    ["a receptor that is none", () => drawn({ receptor: "slow" }), /one of the target's receptors: current/],
    ["one to one of two sizes", () => drawn({ connect: "oneToOne" }), /not of 40 and 20/],
    ["more targets than half", () => drawn({ connect: { rule: "fixedOutDegree", number: 11 }, multiple: false }), /at most half of 20/],
    ...(["fixedInDegree", "fixedOutDegree", "fixedTotalNumber"] as const).flatMap((rule): [string, () => unknown, RegExp][] => {
      const connect = { rule, number: 3 };
      const alone = {
        connect,
        selfConnections: false,
        ...(rule === "fixedInDegree" ? { from: "E[4:5]", to: "E" } : { from: "E", to: "E[4:5]" }),
      };
      return [
        [`${rule} of a neuron without partners`, () => drawn(alone), new RegExp(`selfConnections is false.*true with ${rule} from E`)],
        [
          `${rule} of one neuron`,
          () => drawn({ ...alone, from: "E", to: "E" }, { populations: { E: { size: 1 } } }),
          /no partner but itself/,
        ],
      ];
    }),
    ["a population like itself", () => drawn({}, { populations: { E: { like: "E", size: 3 } } }), /not like this one itself/],
    ["a list of another length", () => drawn({}, { populations: { E: { size: 3, current: [1, 2] } } }), /one for each of the 3 neurons/],
    ["bounds that hold nothing", () => drawn({ weight: { distribution: "normal", mean: 0, deviation: 1, least: 9 } }), /outside: clip/],
    ["a weight below 0 onto a conductance", () => onto({ weight: -1 }), /projections\[0\]\.weight.*at least 0, as g is a conductance/],
    ["weights that may be", () => onto({ weight: { distribution: "normal", mean: 1, deviation: 0.5 } }), /take least: 0/],
    ["a listed one", () => onto({ connect: { rule: "list", synapses: [[0, 0, -1, 1]] } }), /synapses\[0\].*g is a conductance/],
    ["a background below 0", () => onto({}, { background: { rate: 1, weight: -1 } }), /background\.weight is -1.*conductance/],
    ["a conductance of no duration", () => onto({}, { receptors: { g: { timeConstant: 0, reversalPotential: 0 } } }), /more than 0 ms/],
    ["a conductance of Izhikevich neurons", () => onto({}, { neuron: "izhikevich" }), /no leak to share/],
    ["a reversal potential of NaN", () => onto({}, { receptors: { g: { timeConstant: 1, reversalPotential: NaN } } }), /reversalPotential/],
    [
      "a peak below the threshold",
      () => onto({}, { neuron: { type: "adaptiveExponential", peakPotential: -60 } }),
      /above threshold, -50\.4/,
    ],
    [
      "a peak beyond the exponential",
      () => onto({}, { neuron: { type: "adaptiveExponential", slopeFactor: 0.5 } }),
      /at most 80 slopeFactor/,
    ],
    ["a misspelt field", () => drawn({ wieght: 3 } as never), /weight/],
    [
      "a grid with too few points",
      () => drawn({ connect: { rule: "distance", probability: 1, grid: [3, 4, 3] } }),
      /connect\.grid .*at least as many points as there are neurons, 40/,
    ],
    [
      "a neuron that is none",
      () => onto({}, { neuron: "hodgkinHuxley" as never }),
      /neuron is "hodgkinHuxley".*izhikevich.*null for inputs/,
    ],
    ["a background of too many spikes", () => onto({}, { background: { rate: 1e12, weight: 1 } }), /rate is 1000000000000; it takes .*500/],
    [
      "inputs alone",
      () => drawn({}, { populations: { E: { size: 3, neuron: null } }, projections: [] }),
      /populations is "E".*these are inputs/,
    ],
  ])("refuses %s", (_, make, message) => {
    expect(make).toThrow(message);
  });

  it.each([
    ["by source", { rule: "fixedOutDegree", number: 70 }, { distribution: "uniform", from: 0.1, to: 2 }],
    ["by target", { rule: "fixedInDegree", number: 90 }, { distribution: "uniform", from: 0.1, to: 2 }],
    ["by target, with one delay", { rule: "fixedInDegree", number: 90 }, 1.5],
  ] as const)("lists plastic synapses %s as constant ones, and again by target", (_, connect, delay) => {
    const given = { connect, delay, weight: { distribution: "uniform", from: 0.5, to: 2 } } as const;
    const { synapses: constant, cellBits, size } = drawn(given);
    const rule = { kind: "stdp", potentiationTimeConstant: 20, depressionTimeConstant: 20, learningRate: 0.01, maximumWeight: 2 } as const;
    for (const way of ["axonal", "dendritic"] as const) {
      const [table] = drawn({ ...given, plasticity: { ...rule, delay: way } }).plastic;
      const { offsets, packed, units, incomingOffsets, incoming, sources, projection } = table!;
      expect(offsets).toEqual(constant.offsets.slice(0, 41));
      expect([packed, [...units]]).toEqual([constant.packed, [...constant.units]]);
      const all = Array.from(packed, (word, s) => ({
        ...{ s, delay: word >>> cellBits, target: (word & (2 ** cellBits - 1)) - projection.receptor * size - projection.target.first },
        source: offsets.findLastIndex((first) => first <= s),
      }));
      const expected = all.sort((a, b) => a.target - b.target || (way === "dendritic" ? a.delay - b.delay : 0) || a.s - b.s);
      expect([...incoming]).toEqual(expected.map(({ s }) => s));
      expect([...sources]).toEqual(expected.map(({ source }) => source));
      expect([...incomingOffsets]).toEqual(Array.from({ length: 21 }, (_, i) => all.filter(({ target }) => target < i).length));
    }
  });

  it("says before drawing that the synapses do not fit the machine", () => {
    const large = { populations: { E: { size: 1_000_000 } } };
    const make = () => drawn({ from: "E", to: "E", connect: { rule: "fixedOutDegree", number: 100_000 } }, large);
    expect(make).toThrow(/100000000000 synapses of 1000000 neurons/);
    expect(() => drawn({}, { populations: { E: { size: 2 ** 30 - 1 } }, projections: [] })).toThrow(/0 synapses of 1073741823 neurons/);
  });

  it.each([
    ["synapses", { projections: [{ from: "E", to: "E", connect: { rule: "fixedTotalNumber", number: 1e9 }, weight: 1 }] }, 1e5],
    ["neurons", {}, 5e8],
  ] as const)("says before drawing that %s do not fit the memory of the CPU engine", async (_, given, size) => {
    const create = SpikingNetwork.create({ kind: "network", populations: { E: { size } }, ...given }, { engine: "cpu" });
    await expect(create).rejects.toThrow(/on the CPU engine would take [\d.]+ GiB and the limit is 4\.00 GiB/);
  });
});
