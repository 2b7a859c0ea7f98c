// Random streams: the published known answers of Philox, and seeds that differ.
import { describe, expect, it } from "vitest";
import { philox4x32, RandomStream, seedKeys } from "../../packages/numerics/src/index.js";

describe("Philox4x32-10", () => {
  // Known answers of Random123 (Salmon et al. 2011), tests/kat_vectors.
  it.each([
    [
      [0, 0, 0, 0],
      [0, 0],
      [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8],
    ],
    [
      [0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff],
      [0xffffffff, 0xffffffff],
      [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd],
    ],
    [
      [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
      [0xa4093822, 0x299f31d0],
      [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1],
    ],
  ])("of counter %j and key %j", (counter, key, words) => {
    const out = new Uint32Array(4);
    philox4x32(key as [number, number], counter[0]!, counter[1]!, counter[2]!, counter[3]!, out);
    expect([...out]).toEqual(words);
  });
});

describe("seeds", () => {
  it("are the same as a number and as text, and differ where one repeats the other", () => {
    expect(seedKeys(11)).toEqual(seedKeys("11"));
    const texts = [...Array.from({ length: 300 }, (_, i) => String(i)), "ab", "abab", "a", "aa", ""];
    const keys = texts.map((text) => seedKeys(text)).map(({ weights, noise }) => [...weights, ...noise].join());
    expect(new Set(keys).size).toBe(texts.length);
  });
});

describe("streams", () => {
  const stream = new RandomStream(seedKeys(1).weights, 9);

  it("are uniform in [0, 1): mean 1/2, variance 1/12", () => {
    const values = Array.from({ length: 20000 }, (_, i) => stream.uniform(i % 7, i));
    const mean = values.reduce((sum, value) => sum + value, 0) / 20000;
    // Standard deviation of the mean .002.
    expect(Math.abs(mean - 0.5)).toBeLessThan(0.008);
    expect(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 20000).toBeCloseTo(1 / 12, 2);
    expect(values.every((value) => value >= 0 && value < 1)).toBe(true);
  });

  it("are normal: mean 0, variance 1, kurtosis 3", () => {
    const values = Array.from({ length: 20000 }, (_, i) => stream.normal(3, i));
    const moment = (k: number) => values.reduce((sum, value) => sum + value ** k, 0) / 20000;
    expect(Math.abs(moment(1))).toBeLessThan(0.03);
    expect(Math.abs(moment(2) - 1)).toBeLessThan(0.04);
    expect(Math.abs(moment(4) - 3)).toBeLessThan(0.3);
  });

  it("give any draw without the ones before it", () => {
    expect(stream.uniform(4, 1000)).toBe(new RandomStream(seedKeys(1).weights, 9).uniform(4, 1000));
    expect(stream.integer(0, 5, 10)).toBe(Math.floor(stream.uniform(0, 5) * 10));
  });
});
