import { describe, expect, it } from "vitest";
import "../../src/index.js";
import { type Measure, type Measured, measure, measureNames } from "../../src/lab/measures.js";
import { shownRows } from "../../src/lab/own-data.js";
import {
  cutToRange,
  defaultSettings,
  hasEffect,
  type LabSettings,
  type NumericSetting,
  ranges,
  signalNames,
  topologyNames,
  transforms,
} from "../../src/lab/settings.js";
import { driveOf, stateHash } from "../../src/lab/signal.js";

const all = async (measured: Measured) => {
  const out: Partial<Record<Measure["kind"], Measure>> = {};
  for (const kind of measureNames) out[kind] = await measure(kind, measured);
  return out as { [Kind in Measure["kind"]]: Extract<Measure, { kind: Kind }> };
};

/**
 * Everything that a page shows of settings is there and finite, but for a forecast, which may run
 * away.
 */
async function expectWhole(settings: LabSettings): Promise<void> {
  const { hash, forecast, spectrum, memory } = await all({ settings });
  const what = JSON.stringify(settings);
  expect(hash.hash, what).toMatch(/^[0-9a-f]{64}$/);
  expect(forecast.truth.length, what).toBe(shownRows);
  expect(forecast.forecast.length, what).toBe(shownRows);
  expect(forecast.truth.every(Number.isFinite), what).toBe(true);
  expect(spectrum.re.length, what).toBe(settings.size);
  expect([...spectrum.re, ...spectrum.im, spectrum.radius].every(Number.isFinite), what).toBe(true);
  expect(memory.curve.length, what).toBe(Math.min(100, 2 * settings.size) + 1);
  expect(memory.total >= 0 && memory.total <= settings.size, what).toBe(true);
}

describe("every measure of the lab", () => {
  const small = { ...defaultSettings, size: 20 };
  it.each(topologyNames())("is taken with %s, at both ends of each of its sliders", async (topology) => {
    await expectWhole({ ...small, topology });
    for (const [name, { minimum, maximum }] of Object.entries(ranges)) {
      if (name === "size" || !hasEffect(name as NumericSetting, topology)) continue;
      for (const end of [minimum, maximum]) await expectWhole(cutToRange({ ...small, topology, [name]: end }));
    }
    await expectWhole(cutToRange({ ...small, topology, size: ranges.size.minimum }));
  });

  it.each(signalNames)("is taken with the signal %s", async (signal) => {
    await expectWhole({ ...small, signal });
  });

  it.each(Object.keys(transforms) as LabSettings["transform"][])(
    "is taken with a readout that sees %s and the input",
    async (transform) => {
      await expectWhole({ ...small, transform });
      await expectWhole({ ...small, transform, readInput: true, signal: "narma" });
    },
  );

  it("is taken at every slider's lower end at once, and at every upper end but the size's", async () => {
    const ends = (end: "minimum" | "maximum") => Object.fromEntries(Object.entries(ranges).map(([name, range]) => [name, range[end]]));
    for (const topology of topologyNames()) {
      await expectWhole(cutToRange({ ...small, ...ends("minimum"), topology }));
      await expectWhole(cutToRange({ ...small, ...ends("maximum"), size: 20, topology }));
    }
  });

  it("says why there are no eigenvalues of a large reservoir", async () => {
    await expect(measure("spectrum", { settings: { ...small, size: 410 } })).rejects.toThrow("Eigenvalues are shown up to 400 neurons.");
  });
});

describe("a series of the user's own", () => {
  const wave = Float64Array.from({ length: 600 }, (_, t) => Math.sin(t / 5));
  const settings = { ...defaultSettings, size: 50 };

  it("goes on by itself after the rows that train", async () => {
    const { forecast, hash } = await all({ settings, own: { input: wave, trainingRows: 500 } });
    expect(forecast).toMatchObject({ free: true, follows: 99 });
    expect([...forecast.truth]).toEqual([...wave.subarray(500, 599)]);
    expect(hash.hash).toBe(await stateHash(settings, "cpu", driveOf(settings, 0, { input: wave, trainingRows: 500 }).input));
  });

  it("predicts another column from its own", async () => {
    const target = wave.map((_, t) => (t > 0 ? wave[t - 1]! ** 2 : 0));
    const { forecast } = await all({ settings, own: { input: wave, target, trainingRows: 400 } });
    expect(forecast).toMatchObject({ free: false });
    expect(forecast.truth).toEqual(target.subarray(400));
    expect(forecast.score).toBeLessThan(0.01);
  });
});
