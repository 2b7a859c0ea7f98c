// The warning of a reservoir whose states sit at the ends of tanh: when it comes, and that it comes
// once.
import { afterEach, describe, expect, it, vi } from "vitest";

/** The package as a process finds it that has not warned yet, and what it warns of. */
async function fresh() {
  vi.resetModules();
  const models = await import("../../src/index.js");
  const saturation = await import("../../src/model/classifier/saturation.js");
  const spy = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
  return { ...models, ...saturation, warnings: () => spy.mock.calls.map(([message]) => String(message)) };
}

afterEach(() => vi.restoreAllMocks());

const reservoir = { size: 40, seed: 1, leakRate: 1, inputScaling: 1 };
const unscaled = { standardise: false, washout: 20, engine: "cpu" } as const;
/** Concentrations near 400, as they are measured: W_in u is far beyond what tanh tells apart. */
const raw = Array.from({ length: 300 }, (_, t) => 400 + 5 * Math.sin(t / 7));

describe("a Forecaster on data that saturates its reservoir", () => {
  it.each([
    ["sums", {}],
    ["sums by QR", { solver: "qr" }],
    ["states", { solver: "dual" }],
    ["sums of squared states", { transform: "squareHalf" }],
  ] as const)("warns once, with the remedy, by its %s", async (_, readout) => {
    const { Forecaster, warnings } = await fresh();
    for (let k = 0; k < 2; k++) {
      await using forecaster = await Forecaster.fit(raw, { reservoir, readout: { lambda: 1, ...readout }, ...unscaled });
      expect(forecaster.readout).toBeDefined();
    }
    expect(warnings()).toHaveLength(1);
    expect(warnings()[0]).toMatch(
      /^\d+ % of this reservoir's states are beyond \+-0\.99, .*: input 0 drives it most, with a root mean square of 400; standardise the inputs or take a smaller inputScaling/,
    );
  });

  it.each([
    ["standardised", { reservoir, standardise: true }],
    ["scaled", { reservoir: { ...reservoir, inputScaling: 0.002 } }],
    ["of another activation", { reservoir: { ...reservoir, activation: "sigmoid" } }],
  ] as const)("does not where they are %s", async (_, options) => {
    const { Forecaster, warnings } = await fresh();
    await using _forecaster = await Forecaster.fit(raw, { ...unscaled, ...options });
    expect(warnings()).toEqual([]);
  });
});

it.each(["last", "mean", "last+mean", "output"] as const)("a Classifier warns by the representation %s", async (representation) => {
  const { Classifier, warnings } = await fresh();
  const sequences = Array.from({ length: 8 }, (_, b) => raw.slice(10 * b, 10 * b + 60));
  const labels = sequences.map((_, b) => b % 2);
  const train = (standardise: boolean) => Classifier.fit(sequences, labels, { reservoir, representation, standardise, engine: "cpu" });
  await (await train(true)).dispose();
  expect(warnings()).toEqual([]);
  await (await train(false)).dispose();
  expect(warnings()).toHaveLength(1);
});

describe("the share of saturated neurons", () => {
  it.each([{}, { solver: "qr" }, { input: true, transform: "squareHalf" }] as const)(
    "is that of states whose root mean square is above 0.99: %j",
    async (options) => {
      const { shareOfSums, ReservoirComputer, ridge, Matrix } = await fresh();
      const computer = await ReservoirComputer.create({ size: 30, seed: 2, inputScaling: 6, bias: 1 }, { engine: "cpu" });
      const inputs = raw.slice(0, 200).map((x) => (x - 400) / 5);
      const states = await computer.run(inputs);
      const sink = ridge(options).accumulator({ stateSize: 30, inputSize: 1, outputSize: 1 });
      sink.add(states, Matrix.from(inputs), Matrix.from(inputs));
      // By hand: of each neuron the mean square of its states, and of their squares if those are
      // the features.
      let beyond = 0;
      for (let i = 0; i < 30; i++) {
        const power = "transform" in options && i % 2 === 1 ? 4 : 2;
        let sum = 0;
        for (let t = 0; t < 200; t++) sum += states.row(t)[i]! ** power;
        if (sum / 200 > 0.99 ** power) beyond++;
      }
      expect(shareOfSums(sink)).toBe(beyond / 30);
      sink.dispose();
      await computer.dispose();
    },
  );
});
