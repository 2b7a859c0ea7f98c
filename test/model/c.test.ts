// A forecaster as C: what is refused, and what the text is. What compiled programs compute is held
// in test/toolchain/c-export.test.ts.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import "../../src/index.js";
import { Matrix } from "../../packages/numerics/src/index.js";
import { compiledFrom } from "../../src/model/c/runtime.js";
import { preprocess, sources } from "../../src/model/c/source.js";
import { constant } from "../../src/model/c/text.js";
import { Classifier, type ClassifierOptions, Forecaster, type ForecasterOptions, saveC, toC } from "../../src/model/index.js";
import { registerActivation } from "../../src/reservoir/index.js";
import { registerTransform } from "../../src/series/index.js";
import { casesOfC } from "./c-cases.js";

const series = Matrix.from(Array.from({ length: 120 }, (_, t) => [Math.sin(0.3 * t) + 0.01 * t + 3]));
const integers = { size: 12, arithmetic: "integer" } as const;
const trained = (options: ForecasterOptions = {}) => Forecaster.fit(series, { reservoir: { size: 12 }, washout: 20, ...options });

it("has the C of packages/export/runtime, and modules that were compiled from it", () => {
  const folder = "packages/export/runtime";
  const files = readdirSync(folder).filter((name) => name.endsWith(".c"));
  const there = Object.fromEntries(files.map((name) => [name, readFileSync(join(folder, name), "utf8")]));
  expect(compiledFrom).toBe(createHash("sha256").update(JSON.stringify(there)).digest("hex"));
  for (const [name, text] of Object.entries(sources())) expect(there[name]).toBe(text);
});

it("keeps the lines of the runtime whose conditions hold, and every other directive", () => {
  const text = ["a", "#if ONE", "b", "#if !TWO && ONE", "c", "#else", "d", "#endif", "#else", "e", "#endif"];
  text.push("#if defined(X)", "f", "#if TWO || THREE", "g", "#endif", "#else", "h", "#endif", "i");
  const kept = (...names: string[]) =>
    preprocess(text.join("\n"), (name) => names.includes(name))
      .split("\n")
      .join(" ");
  expect(kept("ONE")).toBe("a b c #if defined(X) f #else h #endif i");
  expect(kept("ONE", "TWO")).toBe("a b d #if defined(X) f g #else h #endif i");
  expect(kept("THREE")).toBe("a e #if defined(X) f g #else h #endif i");
});

describe("toC", () => {
  it.each<readonly [string, () => Promise<Forecaster>]>([
    [
      'has a reservoir of the kind "oscillator"',
      () => trained({ reservoir: { kind: "oscillator", size: 12, inputSize: 1 } as ForecasterOptions["reservoir"] }),
    ],
    [
      "transforms its series by stretchedByC, a function of yours",
      () => {
        registerTransform({ name: "stretchedByC", description: "Twice.", forward: (y) => 2 * y, back: (z) => z / 2, options: {} });
        return trained({ transforms: [{ transform: "stretchedByC" }] });
      },
    ],
    ["calls a model of yours", () => trained({ model: (row) => [...row] })],
  ])("refuses a model that %s", async (what, make) => {
    await using model = await make();
    await expect(toC(model)).rejects.toThrow(`the model ${what}`);
  });

  it.each<readonly [string, ForecasterOptions]>([
    ["members", { members: 3 }],
    ["lags", { lags: 4 }],
    ["a readout of more than the state", { readout: { type: "ridge", input: true } }],
    ["other scales of inputs and of targets", { standardise: "inputs" }],
    ["transforms", { transforms: ["log"] }],
  ])("takes steps in integers beside real numbers for %s", async (_, options) => {
    await using model = await trained({ reservoir: integers, ...options });
    const { source, header } = await toC(model);
    expect(source).toContain("static int32_t tanh_of(int32_t z)");
    expect(header).toMatch(/void model_predict\(model_state \*state, const double \*input, double \*output\);/);
  });

  it("writes no floating-point number for a model in integers", async () => {
    await using model = await trained({ reservoir: integers });
    const { source, header } = await toC(model);
    const code = `${source}${header}`.replace(/\/\*[\s\S]*?\*\//g, "");
    expect(code).not.toMatch(/float|double|\d\.\d|0x[0-9a-f.]+p/i);
    expect(code).toMatch(/int16_t x\[12\]/);
  });

  it.each<readonly [string, () => ClassifierOptions]>([
    [
      'has the representation "output", which an exported program does not hold; it holds "last", "mean", "last+mean"',
      () => ({ representation: "output" }),
    ],
    [
      'has the activation "softsignInC" of yours, which an exported program does not hold; it holds tanh, identity, relu, sigmoid',
      () => {
        registerActivation({
          name: "softsignInC",
          description: "z / (1 + |z|).",
          options: {},
          bounded: true,
          f: (z) => z / (1 + Math.abs(z)),
        });
        return { reservoir: { size: 5, activation: "softsignInC" as "tanh" } };
      },
    ],
  ])("refuses a classifier that %s", async (what, options) => {
    const cases = [0, 1, 2, 3].map((b) => series.subarray(10 * b, 10 * b + 30));
    await using model = await Classifier.fit(cases, ["a", "b", "a", "b"], { reservoir: { size: 5 }, ...options() });
    await expect(toC(model)).rejects.toThrow(`the model ${what}`);
  });

  it("writes labels of any letters as text that stays text", async () => {
    const labels = ['"; int x', "\\n", "é?", "*/"];
    const cases = labels.map((_, b) => series.subarray(10 * b, 10 * b + 30));
    await using model = await Classifier.fit(cases, labels, { reservoir: { size: 5 } });
    const { source } = await toC(model);
    const written = [...source.matchAll(/^ {2}"([^"]*)",$/gm)].map(([, text]) => text!);
    const read = written.map((text) =>
      Buffer.from(
        text.replace(/\\(\d{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8))),
        "latin1",
      ).toString(),
    );
    expect(read).toEqual([...model.classes]);
    expect(written.join("")).not.toMatch(/\?/);
  });

  it("refuses a pair of functions of the user's own, which no file holds", async () => {
    await using model = await trained({ transforms: [{ forward: (value) => value + 1, back: (value) => value - 1 }] });
    await expect(toC(model)).rejects.toThrow("transforms[0] is a pair of functions");
  });

  it("takes no other kind of model, and says which it takes", async () => {
    await expect(toC({} as never)).rejects.toThrow("an export takes a Forecaster, an AnomalyDetector or a Classifier");
  });

  it.each(["", "2fast", "a b", "double", "x".repeat(41), 'a"; #include'])("refuses the name %j", async (name) => {
    await using model = await trained();
    await expect(toC(model, { name })).rejects.toThrow("name");
  });

  it("gives the same text for the same model, and every name begins with the asked one", async () => {
    await using model = await trained();
    const [one, two] = [await toC(model, { name: "tide" }), await toC(model, { name: "tide" })];
    expect(one).toEqual(two);
    expect(one.source).toContain('#include "tide.h"');
    expect([...one.header.matchAll(/^\w+ (\w+)\(/gm)].map(([, name]) => name)).toEqual([
      "tide_begin",
      "tide_reset",
      "tide_predict",
      "tide_forecast",
    ]);
  });

  it("keeps members whose arrays are the same once", async () => {
    const { source } = await casesOfC.find(({ name }) => name.startsWith("members with lags"))!.make();
    expect(source.match(/ target_mean_\d\[/g)).toBeNull();
    expect(source.match(/ input_mean_\d\[/g)).toHaveLength(1);
  });
});

it("saveC writes a source and a header beside each other", async () => {
  const folder = await mkdtemp(join(tmpdir(), "spillway-c-"));
  try {
    await using model = await trained();
    expect(await saveC(folder, model, { name: "tide" })).toEqual([join(folder, "tide.h"), join(folder, "tide.c")]);
    expect(await readFile(join(folder, "tide.c"), "utf8")).toBe((await toC(model, { name: "tide" })).source);
  } finally {
    await rm(folder, { recursive: true });
  }
});

describe("a constant of C", () => {
  it.each([0.1, -0.1, 1 / 3, 5e-324, -0, 2 ** -1030, 1.7976931348623157e308, 123456789.125])(
    "is read back as the very bits: %d",
    (value) => {
      const [, sign, lead, fraction = "", exponent] = /^(-?)0x([01])(?:\.([0-9a-f]+))?p(-?\d+)$/.exec(constant(value, "float64"))!;
      const power = Number(exponent) - 4 * fraction.length;
      const half = Math.trunc(power / 2);
      const magnitude = Number.parseInt(`${lead}${fraction}`, 16) * 2 ** half * 2 ** (power - half);
      expect(sign === "-" ? -magnitude : magnitude).toBe(value);
    },
  );

  it("is written plainly if it is a small whole number", () => {
    expect([constant(3, "float32"), constant(-2, "float64"), constant(0, "float64")]).toEqual(["3.0f", "-2.0", "0.0"]);
  });
});
