// What a user gets wrong of the options of rules, detectors and liquids: a sentence that names it,
// not work that left it out.
import { describe, expect, it } from "vitest";
import { Matrix, ReservoirComputer } from "../../src/index.js";
import {
  intrinsicPlasticity,
  KuramotoOscillators,
  PatternDetector,
  processPatterns,
  RateHebbianPlasticity,
  SpikePattern,
  SpikeTimingPlasticity,
} from "../../src/spikes/index.js";

const weights = Matrix.zeros(3, 3);

describe("spikes", () => {
  it.each([
    ["PatternDetector", (options: never) => new PatternDetector(options)],
    ["KuramotoOscillators", (options: never) => new KuramotoOscillators(options)],
    ["SpikeTimingPlasticity", (options: never) => new SpikeTimingPlasticity(weights, options)],
    ["RateHebbianPlasticity", (options: never) => new RateHebbianPlasticity(weights, options)],
    ["intrinsicPlasticity", (options: never) => intrinsicPlasticity({ size: 1, config: {} } as never, weights, options)],
  ] as const)("%s refuses an option that there is not, and options that are none", (_, make) => {
    expect(() => make({ zealous: 1 } as never)).toThrow('unknown field "zealous"');
    expect(() => make(null as never)).toThrow("options is null; it takes an object of options");
  });

  it("keep the last state, the mean of them or all, and nothing else", async () => {
    await using computer = await ReservoirComputer.create({ size: 4, inputSize: 3 }, { engine: "cpu" });
    const pattern = new SpikePattern({ times: [1, 5], neurons: [0, 2] }, { durationMs: 10, neuronCount: 3 });
    await expect(processPatterns(computer, [pattern], { stepMs: 1, state: "first" as never })).rejects.toThrow(
      'state is "first"; it takes "last", "mean" or "all"',
    );
    await expect(processPatterns(computer, [pattern], { step: 1 } as never)).rejects.toThrow('did you mean "stepMs"?');
  });

  it("take types of patterns as a list", () => {
    expect(() => new PatternDetector({ types: "burst" as never })).toThrow('types is "burst"; it takes a list of pattern types');
  });
});
