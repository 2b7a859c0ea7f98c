// Experiments on spikes: recordings and series encoded, liquids, classes and templates.
import { existsSync } from "node:fs";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import "../../src/index.js";
import { loadExperiment, parseExperimentText } from "../../src/cli/experiment/file.js";
import { createProgress } from "../../src/cli/progress.js";
import { runExperiment } from "../../src/cli/experiment/run.js";
import { writeWav } from "../../src/io/index.js";
import { Matrix } from "../../src/numerics/index.js";
import { PatternTemplates } from "../../src/spikes/index.js";

/** A folder with ten vowels of two kinds, 0.1 s each at 8 kHz. */
async function vowels(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "spillway-vowels-"));
  for (const [name, formants] of Object.entries({ a: [730, 1090], i: [270, 2290] })) {
    for (let k = 0; k < 10; k++) {
      const samples = Float64Array.from({ length: 800 }, (_, n) =>
        formants.reduce((sum, hertz) => sum + 0.3 * Math.sin((2 * Math.PI * hertz * (1 + 0.02 * Math.sin(k)) * n) / 8000), 0),
      );
      await writeWav(join(folder, `${name}_me_${k}.wav`), new Matrix(800, 1, samples), { sampleRate: 8000 });
    }
  }
  return folder;
}

async function run(folder: string, task: string) {
  const path = join(folder, "vowels.yaml");
  await writeFile(
    path,
    `
name: vowels
data: { sounds: ., test: { index: [0, 1, 2, 3] } }
encode: { encoder: cochlea, channels: 20 }
liquid: { size: 60, stateTimeConstant: 100 }
task: ${task}
baselines: [majority]
`,
  );
  const progress = await createProgress(true);
  return runExperiment(await loadExperiment(path), {
    out: join(folder, "out"),
    signal: new AbortController().signal,
    progress,
    engine: "cpu",
  });
}

describe("an experiment on recordings", () => {
  it("encodes them, runs a liquid and names their classes", async () => {
    const { result, folder } = await run(await vowels(), "{ type: classify, representation: mean }");
    expect(result.scores[0]).toMatchObject({ metric: "accuracy", value: 1 });
    expect(result.data["summary"]).toContain("12 + 8 recordings, 2 classes, 8000 Hz");
    expect(result.config.reservoir).toMatchObject({ kind: "spiking", size: 60, inputSize: 20, neuron: { type: "leakyIntegrateAndFire" } });
    expect(existsSync(join(folder, "model.safetensors"))).toBe(true);
  });

  it("detects what each is most like, and keeps the templates", async () => {
    const { result, folder } = await run(await vowels(), "{ type: detect, state: mean }");
    expect(result.scores.map(({ metric, value }) => [metric, value])).toEqual([
      ["accuracy", 1],
      ["errors", 0],
      ["missed", 0],
    ]);
    expect(result.files).toContain("templates.safetensors");
    const templates = PatternTemplates.decode(await readFile(join(folder, "templates.safetensors")));
    expect(templates.labels).toEqual(["a", "i"]);
    expect(templates.channels).toBe(60);
  });

  it("gives no label where nothing is similar enough", async () => {
    const { result } = await run(await vowels(), "{ type: detect, threshold: 1 }");
    expect(result.scores.find(({ metric }) => metric === "missed")!.value).toBeGreaterThan(0);
  });
});

describe("an experiment file on spikes", () => {
  const parse = (text: string) => () => parseExperimentText(`name: x\ntask: classify\n${text}`, "x.yaml");

  it("may describe its spiking reservoir as liquid, or as a reservoir of that kind", () => {
    const liquid = parse("data: { sounds: . }\nliquid: { size: 9 }")().experiment;
    const reservoir = parse("data: { sounds: . }\nreservoir: { kind: spiking, size: 9 }")().experiment;
    expect(liquid).toEqual(reservoir);
  });

  it.each([
    ["liquid: { size: 9 }\nreservoir: { size: 9 }\ndata: { sounds: . }", "nothing where reservoir is given: one of the two"],
    ["liquid: { size: 0 }\ndata: { sounds: . }", "liquid.size is 0; it takes a whole number of at least 1"],
    ["liquid: { sise: 9, size: 9 }\ndata: { sounds: . }", 'unknown field "liquid.sise": did you mean "size"?'],
    [
      "reservoir: { kind: wet, size: 9 }\ndata: { sounds: . }",
      'reservoir.kind is "wet"; it takes "spiking", or nothing for a rate reservoir',
    ],
    ["liquid: { size: 9 }\ndata: { sounds: ., file: x }", "file or sounds, not both"],
    ["liquid: { size: 9 }\ndata: { sounds: . }\nencode: { encoder: morse }", 'encode.encoder is "morse"; it takes "cochleagram"'],
    [
      "liquid: { size: 9 }\ndata: { sounds: . }\nencode: { encoder: cochlea }\ntransforms: [standardise]",
      "none where encode turns the cases into spikes",
    ],
  ])("is refused: %s", (text, sentence) => {
    expect(parse(text)).toThrow(sentence);
  });

  it("is refused where recordings are not encoded", async () => {
    const folder = await vowels();
    const path = join(folder, "raw.yaml");
    await writeFile(path, "name: raw\ndata: { sounds: . }\nliquid: { size: 9 }\ntask: classify\n");
    const options = { out: join(folder, "out"), signal: new AbortController().signal, progress: await createProgress(true), engine: "cpu" };
    await expect(runExperiment(await loadExperiment(path), options)).rejects.toThrow("encode is missing; recordings are encoded");
  });
});
