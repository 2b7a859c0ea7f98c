// The filter bank: centres, gains and levels against closed forms, and a spoken digit if the
// recordings are there.
import { describe, expect, it } from "vitest";
import { cochleaEncode, cochleagram, filterCentres, neuronCounts } from "../../src/spikes/index.js";

const sampleRate = 8000;
const sine = (hertz: number, seconds = 0.5, amplitude = 1) =>
  Float64Array.from({ length: seconds * sampleRate }, (_, n) => amplitude * Math.sin((2 * Math.PI * hertz * n) / sampleRate));

describe("the filter bank", () => {
  it("spaces its centres evenly on the ERB scale", () => {
    const centres = filterCentres({ sampleRate, channels: 5, lowestHz: 100, highestHz: 3000 });
    expect(centres[0]).toBeCloseTo(100, 9);
    expect(centres[4]).toBeCloseTo(3000, 9);
    const scale = centres.map((f) => 21.4 * Math.log10(1 + 0.00437 * f));
    for (let c = 1; c < 4; c++) expect(scale[c + 1]! - scale[c]!).toBeCloseTo(scale[1]! - scale[0]!, 9);
  });

  it("has gain 1 at its centre: a sine of amplitude 0.1 has an envelope of 0.1, level 1 - 20 / 50 of a reference of 1", () => {
    const levels = cochleagram(sine(1000, 0.5, 0.1), { sampleRate, channels: 1, lowestHz: 1000, highestHz: 1000, reference: 1 });
    expect(levels.at(90, 0)).toBeCloseTo(0.6, 3);
  });

  it("falls off as a gammatone of order 4: 2 ERB away, (1 + (2 / 1.019)^2)^-2", () => {
    const away = 1000 + 2 * 24.7 * (1 + 0.00437 * 1000);
    const [level] = cochleagram(sine(away), { sampleRate, channels: 1, lowestHz: 1000, highestHz: 1000, reference: 1, frameMs: 100 }).row(
      4,
    );
    const decibels = 20 * Math.log10((1 + (2 / 1.019) ** 2) ** -2);
    // The closed form is of continuous time and one side of the spectrum: 0.3 dB of 27.
    expect(Math.abs((level! - 1) * 50 - decibels)).toBeLessThan(0.3);
  });

  it("answers most in the channel of the tone", () => {
    const options = { sampleRate, channels: 32 };
    for (const hertz of [200, 700, 2500]) {
      const counts = neuronCounts(cochleaEncode(sine(hertz), options));
      const loudest = counts.indexOf(Math.max(...counts));
      const centres = filterCentres(options);
      const nearest = centres.indexOf(centres.reduce((a, b) => (Math.abs(b - hertz) < Math.abs(a - hertz) ? b : a)));
      expect(Math.abs(loudest - nearest)).toBeLessThanOrEqual(1);
    }
  });

  it("does not hear loudness unless it is told a reference", () => {
    const loud = cochleagram(sine(440), { sampleRate });
    const soft = cochleagram(sine(440, 0.5, 2 ** -10), { sampleRate });
    expect(soft.data).toEqual(loud.data);
    expect(Math.max(...cochleagram(sine(440, 0.5, 2 ** -10), { sampleRate, reference: 1 }).data)).toBe(0);
  });

  it("is silent for silence and for no sound at all", () => {
    expect(cochleaEncode(new Float64Array(800), { sampleRate }).spikeCount).toBe(0);
    const nothing = cochleaEncode(new Float64Array(0), { sampleRate });
    expect([nothing.durationMs, nothing.neuronCount]).toEqual([0, 64]);
  });

  it("lasts as long as the sound, in whole frames", () => {
    expect(cochleaEncode(sine(440), { sampleRate }).durationMs).toBe(500);
    expect(cochleagram(new Float64Array(801), { sampleRate, frameMs: 100 }).rows).toBe(2);
  });

  it.each([
    [{ sampleRate: 0 }, "sampleRate is 0; it takes a number of Hz above 0"],
    [
      { sampleRate, highestHz: 4000 },
      "highestHz is 4000; it takes a frequency from lowestHz, 100 Hz, to below half the sample rate, 4000 Hz",
    ],
    [{ sampleRate, frameMs: 0.01 }, "frameMs is 0.01; it takes at least one sample, 0.125 ms"],
    [{ sampleRate, channels: 0 }, "channels is 0; it takes a whole number of at least 1"],
  ])("refuses %o", (options, sentence) => {
    expect(() => cochleagram(sine(440), options)).toThrow(sentence);
  });

  it("refuses stereo and samples that are not numbers", () => {
    expect(() => cochleagram([[0, 0]], { sampleRate })).toThrow("the number of channels of the sound is 2; it takes 1");
    expect(() => cochleagram([0, Number.NaN], { sampleRate })).toThrow("sample 1 is NaN; it takes finite numbers");
  });
});
