// The list of what exports refuse, in docs/small-machines.md: each row is said, by both exports.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import "../../src/index.js";
import {
  Classifier,
  type ClassifierOptions,
  Forecaster,
  type ForecasterOptions,
  NvarForecaster,
  toC,
  toWasm,
} from "../../src/model/index.js";
import { registerActivation } from "../../src/reservoir/index.js";
import { registerTransform } from "../../src/series/index.js";
import { sequences, waves } from "./c-cases.js";

type Model = Forecaster | Classifier;

const forecaster = (options: ForecasterOptions) => Forecaster.fit(waves(1, 1), { reservoir: { size: 12 }, ...options });
const classifier = (options: ClassifierOptions) => {
  const { cases, labels } = sequences(9, 1, 5);
  return Classifier.fit(cases, labels, { reservoir: { size: 8 }, ...options });
};

/** A model of each kind that is refused, by the row of the list. */
const refused: Readonly<Record<string, () => Promise<Model>>> = {
  "a liquid": () => classifier({ reservoir: { kind: "spiking", size: 20 } }),
  "a registered kind of reservoir": () => forecaster({ reservoir: { kind: "oscillator", size: 12, inputSize: 1 } as never }),
  "an activation of yours": () => {
    registerActivation({ name: "softsign", description: "z / (1 + |z|).", options: {}, bounded: true, f: (z) => z / (1 + Math.abs(z)) });
    return forecaster({ reservoir: { size: 12, activation: "softsign" as "tanh" } });
  },
  "a transform of yours": () => {
    registerTransform({ name: "twice", description: "Twice.", forward: (y) => 2 * y, back: (z) => z / 2, options: {} });
    return forecaster({ transforms: [{ transform: "twice" }] });
  },
  "a hybrid with a model of yours": () => forecaster({ model: (row) => [...row] }),
  'the representation "output"': () => classifier({ representation: "output" }),
  "several series by their keys": () =>
    Forecaster.fit({ sequences: new Map([1, 2].map((s) => [String(s), waves(1, s)])) }, { horizon: 3, members: ["theta", "ets"] }),
  "a combination after `reset`": async () => {
    const model = await Forecaster.fit(waves(1, 1), { horizon: 3, members: ["theta", "ets"] });
    model.reset();
    return model;
  },
  "any other model": () => NvarForecaster.fit(waves(1, 1)) as Promise<unknown> as Promise<Model>,
};

const page = readFileSync(new URL("../../docs/small-machines.md", import.meta.url), "utf8");
const [, list] = page.split("All else is refused in one sentence:") as [string, string];
const rows = Array.from(list.matchAll(/^\| (?!model \|)([^|]+) \| ([^|]+) \|$/gm), ([, name, sentence]) => [name!, sentence!] as const);

describe("what exports refuse", () => {
  it("is listed, and nothing else", () => {
    expect(rows.map(([name]) => name)).toEqual(Object.keys(refused));
  });

  it.each(rows)("%s", async (name, sentence) => {
    await using model = await refused[name]!();
    await expect(toC(model)).rejects.toThrow(sentence);
    await expect(toWasm(model)).rejects.toThrow(sentence);
  });
});
