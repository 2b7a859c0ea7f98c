import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { parseExperimentText } from "../../src/experiment/description/file.js";
import { tasks } from "../../src/tasks/index.js";
import "../../src/index.js";
import {
  defaultSettings,
  experimentOf,
  type LabSettings,
  ranges,
  settingsFromLink,
  settingsToLink,
  stateHash,
} from "../../src/lab/index.js";
import {
  comparisonToLink,
  cutToRange,
  hasEffect,
  readoutOf,
  reservoirOf,
  secondFromLink,
  signalNames,
  topologyNames,
  transforms,
} from "../../src/lab/settings.js";

const anySettings: fc.Arbitrary<LabSettings> = fc
  .record({
    ...(Object.fromEntries(
      Object.entries(ranges).map(([name, { minimum, maximum, step }]) => [
        name,
        fc.integer({ min: 0, max: Math.floor((maximum - minimum) / step) }).map((k) => Number((minimum + k * step).toFixed(4))),
      ]),
    ) as { [Name in keyof typeof ranges]: fc.Arbitrary<number> }),
    transform: fc.constantFrom(...(Object.keys(transforms) as LabSettings["transform"][])),
    readInput: fc.boolean(),
    topology: fc.constantFrom(...topologyNames()),
    signal: fc.constantFrom(...signalNames),
  })
  .map(cutToRange);

describe("the lab's link", () => {
  it("holds every setting, and only what is not the default", () => {
    fc.assert(
      fc.property(anySettings, (settings) => {
        expect(settingsFromLink(`#${settingsToLink(settings)}`)).toEqual(settings);
      }),
    );
    expect(settingsToLink(defaultSettings)).toBe("");
    expect(settingsToLink({ ...defaultSettings, size: 500 })).toBe("size=500");
  });

  it("holds a second setting beside the first, whose signal it shares", () => {
    fc.assert(
      fc.property(anySettings, anySettings, (first, other) => {
        const second = { ...other, signal: first.signal };
        const link = `#${comparisonToLink(first, second)}`;
        expect(settingsFromLink(link)).toEqual(first);
        expect(secondFromLink(link)).toEqual(second);
        expect(secondFromLink(`#${comparisonToLink(first, undefined)}`)).toBe(undefined);
      }),
    );
  });

  it("takes the default for what it does not understand, and cuts numbers to their range", () => {
    expect(settingsFromLink("#size=abc&topology=web&transform=cubes&readInput=perhaps&leakRate=7&seed=2.6&spectralRadius=")).toEqual({
      ...defaultSettings,
      leakRate: 1,
      seed: 3,
    });
  });
});

describe("the lab's reservoir", () => {
  it("of a delay line has the weight of its slider and no spectral radius to scale", () => {
    const settings = { ...defaultSettings, topology: "delayLine", lineWeight: 0.7 } as const;
    expect(reservoirOf(settings)).toMatchObject({ spectralRadius: null, topology: { type: "delayLine", weight: 0.7 } });
    expect(hasEffect("spectralRadius", "delayLine")).toBe(false);
    expect(hasEffect("leakRate", "delayLine")).toBe(true);
  });

  it("cuts jumps and blocks to the size", () => {
    expect(cutToRange({ ...defaultSettings, size: 20, jump: 60, blocks: 50 })).toMatchObject({ jump: 19, blocks: 20 });
  });
});

describe("the lab's experiment", () => {
  it("is one that spillway run takes, for every signal and topology", () => {
    for (const topology of topologyNames()) {
      const { experiment } = parseExperimentText(stringify(experimentOf({ ...defaultSettings, topology })), "lab.yaml");
      expect(experiment.reservoir).toMatchObject({ topology: { type: topology } });
    }
    for (const signal of signalNames) {
      const { experiment } = parseExperimentText(stringify(experimentOf({ ...defaultSettings, signal })), "lab.yaml");
      expect(experiment.reservoir).toMatchObject({ size: 300, spectralRadius: 0.95, leakRate: 0.3 });
      // What the page shows: a series goes on by itself, a driven one is predicted from its input.
      const isDriven = tasks.find(signal)!.kind === "driven";
      expect(experiment.task).toMatchObject(isDriven ? { type: "predict" } : { type: "forecast", horizon: 400, starts: 1 });
    }
  });
});

describe("the lab's readout", () => {
  it("sees what the settings say, in an experiment file too", () => {
    expect(readoutOf(defaultSettings)).toEqual({ lambda: 1e-7 });
    for (const transform of ["squareHalf", "squares"] as const) {
      const settings: LabSettings = { ...defaultSettings, lambdaExponent: -3, transform, readInput: true };
      const { experiment } = parseExperimentText(stringify(experimentOf(settings)), "lab.yaml");
      expect(experiment.readout).toMatchObject({ type: "ridge", lambda: 1e-3, transform, input: true });
    }
  });
});

describe("the state hash", () => {
  it("is the same on every engine, and another for other settings", async () => {
    const settings = { ...defaultSettings, size: 30 };
    const hash = await stateHash(settings, "cpu");
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(await stateHash(settings, "reference")).toBe(hash);
    expect(await stateHash({ ...settings, seed: 1 }, "cpu")).not.toBe(hash);
  });
});
