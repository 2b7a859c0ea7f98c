import { describe, expect, it } from "vitest";
import { generalisationRank, kernelRank } from "../../src/analysis/index.js";
import { delayLine } from "./delay-line.js";

describe.each(["float64", "float32"] as const)("ranks of a delay line of 20 taps (%s)", (precision) => {
  it("kernel rank is the smaller of taps and streams", async () => {
    await using line = await delayLine(20, precision);
    expect((await kernelRank(line)).rank).toBe(20);
    expect((await kernelRank(line, { streams: 30 })).rank).toBe(20);
    expect((await kernelRank(line, { streams: 7 })).rank).toBe(7);
  });

  it("generalisation rank: s shared inputs are one direction, the 20 - s others are told apart", async () => {
    await using line = await delayLine(20, precision);
    expect((await generalisationRank(line)).rank).toBe(20 - 3 + 1);
    expect((await generalisationRank(line, { shared: 8 })).rank).toBe(20 - 8 + 1);
    expect((await generalisationRank(line, { shared: 20 })).rank).toBe(1);
    expect((await generalisationRank(line, { shared: 50 })).rank).toBe(1);
  });
});

describe("ranks", () => {
  it("of a linear reservoir are at most those of its weights and input weights", async () => {
    // W = 0 and three inputs: the state is W_in u(t), in a space of three dimensions.
    const config = { size: 30, inputSize: 3, connectionProbability: 0, activation: "identity", leakRate: 1 } as const;
    const { rank, singularValues, tolerance } = await kernelRank(config);
    expect(rank).toBe(3);
    expect(singularValues.length).toBe(30);
    expect(singularValues[3]! / singularValues[0]!).toBeLessThan(tolerance);
  });

  it("grow where a tolerance counts more, and shrink where it counts less", async () => {
    const config = { size: 40, spectralRadius: 0.5, leakRate: 1 } as const;
    const usual = await kernelRank(config);
    expect(usual.tolerance).toBe(40 * 2 ** -23);
    expect((await kernelRank(config, { tolerance: 1e-2 })).rank).toBeLessThan(usual.rank);
    expect((await kernelRank(config, { tolerance: 1e-12 })).rank).toBe(40);
  });

  it("of a forgetful reservoir: few differences are left after shared inputs, many without", async () => {
    const config = { size: 50, spectralRadius: 0.2, leakRate: 1, seed: 3 } as const;
    const kernel = await kernelRank(config);
    const generalisation = await generalisationRank(config, { shared: 12 });
    expect(generalisation.rank).toBeLessThan(kernel.rank / 4);
  });

  it("say which option they do not take", async () => {
    await expect(kernelRank({ size: 5 }, { streams: 0 })).rejects.toThrow("streams is 0; it takes a whole number of at least 1");
    await expect(generalisationRank({ size: 5 }, { shared: 0 })).rejects.toThrow("shared is 0; it takes a whole number of at least 1");
    await expect(generalisationRank({ size: 5 }, { shared: 9, length: 8 })).rejects.toThrow(
      "length is 8; it takes a whole number of at least 9",
    );
    await expect(kernelRank({ size: 5 }, { amplitude: Number.NaN })).rejects.toThrow("amplitude is NaN; it takes a number above 0");
  });
});
