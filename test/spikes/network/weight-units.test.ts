// The unit of a network's weights: what is left of small weights beside large ones. Every drawn
// weight is compared with the number that its distribution gives in binary64, without a unit.
import "../../../src/index.js";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { type DistributionOptions, type NetworkOptions, SpikePattern, SpikingNetwork } from "../../../src/spikes/index.js";
import { drawNetwork } from "../../../src/spikes/network/draw.js";
import { planNetwork } from "../../../src/spikes/network/planning.js";

type Weight = number | DistributionOptions;
const network = (weights: readonly Weight[], more: Partial<NetworkOptions> = {}): NetworkOptions => ({
  kind: "network",
  seed: 5,
  populations: { E: { size: 200 }, ...Object.fromEntries(weights.map((_, k) => [`S${k}`, { size: 200, neuron: null }])) },
  projections: weights.map((weight, k) => ({ from: `S${k}`, to: "E", connect: { rule: "fixedInDegree", number: 50 }, weight })),
  ...more,
});

/** Warnings of weights while `work` runs, in a process that has given none. */
async function warningsWhile(work: () => Promise<void>): Promise<string[]> {
  vi.resetModules();
  const found: string[] = [];
  const spy = vi.spyOn(process, "emitWarning").mockImplementation(((message: string, type: string) => {
    if (type === "SpillwayWeightsWarning") found.push(message);
  }) as never);
  try {
    await work();
    return found;
  } finally {
    spy.mockRestore();
  }
}
const warningsOf = (options: NetworkOptions) =>
  warningsWhile(async () => {
    const { planNetwork: plan } = await import("../../../src/spikes/network/planning.js");
    plan(options);
  });

const neuron = {
  type: "leakyIntegrateAndFire",
  membraneTimeConstant: 10,
  refractoryPeriod: 0,
  restingPotential: 0,
  resetPotential: 0,
  threshold: 1e9,
} as const;

describe("small weights beside large ones", () => {
  it.each(["reference", "cpu", "sim"])("move a potential by what they are on %s", async (engine) => {
    for (const large of [1, 100, 1000, 5000, 10_000, 60_000]) {
      await using running = await SpikingNetwork.create(
        {
          kind: "network",
          timeStep: 0.1,
          precision: "float64",
          populations: {
            A: { size: 1, neuron: null },
            teacher: { size: 1, neuron: null },
            E: { size: 1, neuron, receptors: { x: { timeConstant: 0 } } },
          },
          projections: [
            { from: "A", to: "E", connect: "oneToOne", weight: 0.1 },
            { from: "teacher", to: "E", connect: "oneToOne", weight: large },
          ],
        },
        { engine },
      );
      const A = SpikePattern.from([{ neuron: 0, timeMs: 5 }], { durationMs: 20, neuronCount: 1 });
      const { potentials } = await running.run(20, { inputs: { A }, potentials: { neurons: { E: [0] } } });
      const jump = Math.max(...potentials["E"]!.data) * Math.exp(0.01);
      expect(Math.abs(jump / 0.1 - 1), `beside ${large} mV`).toBeLessThan(1e-3);
    }
  });

  it("of any two projections are within a thousandth, or a warning says what share is not", async () => {
    await fc.assert(
      fc.asyncProperty(fc.double({ min: -3, max: 3, noNaN: true }), fc.double({ min: 0, max: 8, noNaN: true }), async (exponent, ratio) => {
        const [small, large] = [10 ** exponent, 10 ** Math.min(4.8, exponent + ratio)];
        const options = network([small, large]);
        const { synapses, fractionBits } = drawNetwork(planNetwork(options));
        const off = Array.from(synapses.units, (units) => units * 2 ** -fractionBits).some(
          (weight) => Math.min(Math.abs(weight / small - 1), Math.abs(weight / large - 1)) > 1e-3,
        );
        if (off) expect(await warningsOf(options)).toHaveLength(1);
      }),
      { numRuns: 60 },
    );
  });

  it.each([0.5, 1, 1.5])("of a lognormal distribution of deviation %f have its median and mean", async (deviation) => {
    const options = network([{ distribution: "lognormal", mean: Math.log(0.1), deviation }]);
    const { synapses, fractionBits } = drawNetwork(planNetwork(options));
    const weights = Array.from(synapses.units, (units) => units * 2 ** -fractionBits).sort((a, b) => a - b);
    expect(weights[0]).toBeGreaterThan(0);
    // Of 10,000 draws: the median's error is deviation sqrt(pi / 2) / 100, the mean's sqrt(exp(d^2)
    // - 1) / 100, of themselves; five of each.
    expect(Math.abs(weights[5000]! / 0.1 - 1)).toBeLessThan(5 * deviation * 0.0125);
    const mean = weights.reduce((all, each) => all + each, 0) / weights.length;
    const expected = 0.1 * Math.exp(deviation ** 2 / 2);
    expect(Math.abs(mean / expected - 1)).toBeLessThan(0.05 * Math.sqrt(Math.exp(deviation ** 2) - 1));
    expect(await warningsOf(options)).toEqual([]);
  });

  it("that do not fit are counted in a warning, once for a description", async () => {
    const wide = network([{ distribution: "lognormal", mean: Math.log(0.1), deviation: 2 }]);
    expect(await warningsOf(wide)).toHaveLength(1);
    const coarse = { ...wide, fractionBits: 2 };
    const said = /projections\[0\]\.weight: ([\d.]+) % of the weights .* ([\d.]+) % to 0.*2\^-2 mV/.exec((await warningsOf(coarse))[0]!)!;
    const { synapses } = drawNetwork(planNetwork(coarse));
    const zeros = Array.from(synapses.units).filter((units) => units === 0).length / synapses.units.length;
    // A share of 10,000 draws: four deviations are two in a hundred.
    expect(zeros).toBeGreaterThan(0.3);
    expect(Math.abs(Number(said[2]) - 100 * zeros)).toBeLessThan(2);
    expect(Number(said[1])).toBeGreaterThan(Number(said[2]));
    // A bound for the largest makes them fit.
    const bounded = { distribution: "lognormal", mean: Math.log(0.1), deviation: 2, most: 100 } as const;
    expect(await warningsOf(network([bounded]))).toEqual([]);
    // So do bits that were given and are too few.
    expect((await warningsOf(network([0.1], { fractionBits: 4 })))[0]).toMatch(/100 % of the weights.*2\^-4 mV/);
    expect(await warningsOf(network([0.125], { fractionBits: 4 }))).toEqual([]);
  });

  it("of plastic projections and of spikes from outside count too", async () => {
    const plastic = (plasticity: object) =>
      network([1, 30_000], {}).projections!.map((each, k) =>
        k === 0 ? { ...each, ...plasticity } : each,
      ) as NetworkOptions["projections"];
    const shortTerm = { plasticity: { kind: "shortTerm", release: 0.01, recoveryTimeConstant: 100 } };
    const plain = planNetwork(network([1, 30_000])).fractionBits;
    const released = planNetwork(network([1, 30_000], { projections: plastic(shortTerm) })).fractionBits;
    // A spike brings a hundredth of the weight: 2^7 times the bits.
    expect(released).toBeGreaterThanOrEqual(plain + 5);
    const outside = network([300]);
    const { fractionBits, populations } = planNetwork({
      ...outside,
      populations: { ...outside.populations, E: { size: 200, background: { rate: 100, weight: 0.03 } } },
    });
    expect(Math.abs((populations[0]!.background!.units * 2 ** -fractionBits) / 0.03 - 1)).toBeLessThan(1e-3);
  });

  it("leave the unit as it is if 16 bits hold them", () => {
    // The largest number that 16 bits hold with k bits of a fraction is 65535 / 2^k.
    expect(planNetwork(network([1])).fractionBits).toBe(15);
    expect(planNetwork(network([1, 0.25])).fractionBits).toBe(15);
    expect(planNetwork(network([1000, 0.5])).fractionBits).toBe(6);
    expect(planNetwork(network([{ distribution: "normal", mean: 1, deviation: 0.1 }])).fractionBits).toBe(15);
  });
});

describe("weights of a liquid", () => {
  it.each([
    [0.001, true],
    [10, false],
  ])("of %f mV on average are counted in a warning if their bits lose them", async (weight, warns) => {
    const found = await warningsWhile(async () => {
      const { build } = await import("../../../src/spikes/liquid/kind.js");
      build({ kind: "spiking", size: 100, inputSize: 1, synapses: { weight } });
    });
    expect(found.length > 0).toBe(warns);
    for (const message of found) expect(message).toMatch(/^synapses\.weight: .* 2\^-12 mV \(fractionBits\)/);
  });
});
