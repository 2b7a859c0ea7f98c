// `spillway classify`: the classes of new cases by the model of a run.
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readUea } from "../../packages/io/src/index.js";
import { classify } from "../../src/cli/commands/classify.js";
import { runExperiment } from "../../src/experiment/index.js";
import { Classifier } from "../../src/model/index.js";
import "../../src/index.js";

let folder: string;
const at = (name: string) => join(folder, name);
const { signal } = new AbortController();
const wave = (k: number) => Array.from({ length: 40 }, (_, t) => Math.sin((t * (k % 2 === 0 ? 1 : 2.3)) / 3 + k / 7).toFixed(4));
const ueaOf = (cases: number, labels: boolean) =>
  [
    "@problemName waves",
    "@timeStamps false",
    "@univariate true",
    `@classLabel ${labels ? "true slow fast" : "false"}`,
    "@data",
    ...Array.from({ length: cases }, (_, k) => `${wave(k).join(",")}${labels ? `:${k % 2 === 0 ? "slow" : "fast"}` : ""}`),
  ].join("\n");

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-classify-"));
  await writeFile(at("train.ts"), ueaOf(24, true));
  await writeFile(at("new.ts"), ueaOf(10, false));
  await mkdir(at("cases"));
  for (let k = 0; k < 4; k++) await writeFile(at(`cases/wave-${k}.csv`), `value\n${wave(k).join("\n")}\n`);
  // No size, no readout: those of a classifier by default.
  await runExperiment({ name: "waves", data: { file: at("train.ts") }, task: "classify", outputs: { report: false } }, { out: folder });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("spillway classify", () => {
  it("names the classes that a program finds, with their probabilities", async () => {
    const said = JSON.parse(await classify(at("waves"), at("new.ts"), { json: true, out: at("classes.csv"), signal }));
    await using model = await Classifier.load(at("waves/model.safetensors"));
    const { sequences } = await readUea(at("new.ts"));
    const shares = await model.predictProba(sequences);
    expect(model.computers[0]!.model.size).toBe(100);
    expect(said.cases.map((each: { class: string }) => each.class)).toEqual((await model.predict(sequences)).map(String));
    expect(said.cases.map((each: { class: string }) => each.class)).toEqual(sequences.map((_, k) => (k % 2 === 0 ? "slow" : "fast")));
    expect(said.cases[3].probabilities).toEqual(Object.fromEntries(model.classes.map((label, c) => [String(label), shares.at(3, c)])));
    expect(said.accuracy).toBeUndefined();
    const [heads, first] = (await readFile(at("classes.csv"), "utf8")).split("\n");
    expect(heads).toBe(`case,class,${model.classes.map((label) => `probability ${label}`).join(",")}`);
    expect(first).toMatch(/^case 1,slow,/);
  });

  it("takes a folder of files, one case each, and says how many of known labels it finds", async () => {
    const text = await classify(at("waves"), at("cases"), { signal });
    expect(text).toMatch(/4 cases of cases, 2 classes[\s\S]*wave-0\.csv +slow +[\d.]+\nwave-1\.csv +fast/);
    expect(await classify(at("waves/model.safetensors"), at("train.ts"), { signal })).toContain(
      "accuracy by the labels of the file: 1.000",
    );
  });

  it("refuses what holds no cases, and a model that names no classes", async () => {
    await mkdir(at("empty"));
    await expect(classify(at("waves"), at("empty"), { signal })).rejects.toThrow("it takes a folder with");
    await expect(classify(at("waves"), at("none.ts"), { signal })).rejects.toThrow("none.ts");
    const series = { name: "series", data: { task: "mackeyGlass", length: 300 }, reservoir: { size: 10 }, task: "predict" } as const;
    await runExperiment({ ...series, outputs: { report: false } }, { out: folder });
    await expect(classify(at("series"), at("new.ts"), { signal })).rejects.toThrow("it holds a forecaster, which names no classes");
  });
});
