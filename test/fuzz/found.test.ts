// Inputs that once hung a reader, filled the memory or gave a raw error, read under the limits of
// the fuzzer.
import { afterAll, describe, expect, it } from "vitest";
import { Forecaster, ReservoirComputer } from "../../src/index.js";
import { encodeReservoir } from "../../src/model/index.js";
import { decodeModelFile, encodeModelFile } from "../../src/model/model-file.js";
import { Pipeline } from "../../src/pipeline/index.js";
import { corpus as modelCorpus } from "./formats/model.js";
import { Fuzzer } from "./run.js";
import { bytesOf } from "./text.js";

const fuzzer = new Fuzzer();
afterAll(() => fuzzer.dispose());

/** `count` pieces of text. */
const many = (count: number, piece: (i: number) => string): string => Array.from({ length: count }, (_, i) => piece(i)).join("");

async function lyingOffset(): Promise<Uint8Array> {
  await using computer = await ReservoirComputer.create({ size: 20, storage: "sparse" }, { engine: "reference" });
  const { kind, ...content } = await decodeModelFile(await encodeReservoir(computer), "model");
  (content.tensors["weights.rowOffsets"]!.data as Uint32Array)[7] = 0xff000000;
  return encodeModelFile(kind, content);
}

const failing = (name: string): string => `.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry ${name}() { trap; ret; }`;

const found: readonly [format: string, what: string, input: () => Uint8Array | Promise<Uint8Array>][] = [
  ["model", "a CSR offset beyond the values", lyingOffset],
  ["csv", "blank lines, which csv-parse makes an error of each", () => bytesOf(`a,b\n1,2\n${"\n".repeat(200_000)}3,4\n`)],
  ["ts", "60,000 classes", () => bytesOf(`@classLabel true${many(60_000, (i) => ` c${i}`)}\n@data\n${many(60_000, (i) => `1:c${i}\n`)}`)],
  ["spikes-json", "a value that cannot become a number", () => bytesOf('{"times":[0],"neurons":[{"toString":[]}]}')],
  ["ts", "a case without a channel", () => bytesOf("@targetLabel true\n@data\n0")],
  [
    "yaml",
    "10,000 options",
    () =>
      bytesOf(
        `name: a\ndata:\n  task: narma\n  options:\n${many(10_000, (i) => `    k${i}: ${i}\n`)}reservoir: {size: 5}\ntask: predict\n`,
      ),
  ],
  ["ptx", "a kernel that fails and has a name of 40,000 characters", () => bytesOf(failing("k".repeat(40_000)))],
  ["yaml", "10,000 anchors", () => bytesOf(many(10_000, (i) => `a${i}: &a${i} [1]\nb${i}: *a${i}\n`))],
  ["yaml", "aliases of aliases", () => bytesOf(`a0: &a0 [x]\n${many(30, (i) => `a${i + 1}: &a${i + 1} [${`*a${i}, `.repeat(10)}]\n`)}`)],
  ["yaml", "an alias within its own anchor", () => bytesOf("a: &a [*a]\n")],
  ["yaml", "maps within maps", () => bytesOf(`{a: ${"reservoir: ".repeat(10_000)}`)],
  ["yaml", "an error at every word", () => bytesOf("!a ".repeat(170_000))],
  ["yaml", "lists of lists", () => bytesOf("[".repeat(100_000))],
];

/** A file of the corpus of models, of which a note was changed. */
async function changedModel(kind: string, note: string, change: (value: never) => unknown): Promise<Uint8Array> {
  for (const bytes of await modelCorpus()) {
    const { kind: found, tensors, metadata } = await decodeModelFile(bytes, "model");
    if (found !== kind || metadata[note] === undefined) continue;
    return encodeModelFile(found, {
      tensors,
      metadata: { ...metadata, [note]: JSON.stringify(change(JSON.parse(metadata[note]!) as never)) },
    });
  }
  throw new Error(`no ${kind} has a note ${note}`);
}

describe("a model file whose notes name sizes that it does not have", () => {
  const small = new Fuzzer({ computeSeconds: 1, memoryBytes: 100 * 2 ** 20 });
  afterAll(() => small.dispose());
  const groupsTake = "a list of the group of each member: 0, and then each time the same or the next";

  it.each<[string, string, (value: never) => unknown, string]>([
    ["forecaster", "groups", () => [0, 2 ** 32 - 1], "it takes at most 100000000"],
    ["forecaster", "groups", () => [0, 1e8], groupsTake],
    ["forecaster", "groups", () => [1, 2], groupsTake],
    ["forecaster", "groups", () => [0, 2], groupsTake],
    ["forecaster", "member.0.preprocessing", (note: object) => ({ ...note, known: 1e8 }), "known inputs; its reservoir takes"],
    ["pipeline", "pipeline", () => null, "describes no pipeline: pipeline is null"],
    ["pipeline", "pipeline", (note: object) => ({ ...note, range: { minimum: [0], maximum: [] } }), "range has 1 minima and 0 maxima"],
    ["pipeline", "pipeline", (note: object) => ({ ...note, range: { minimum: 0 } }), "describes no pipeline: pipeline.range"],
  ])("is refused at once: %s, %s, case %#", async (kind, note, change, sentence) => {
    const bytes = await changedModel(kind, note, change);
    const open = kind === "pipeline" ? Pipeline.fromBytes(bytes) : Forecaster.fromBytes(bytes);
    await expect(open).rejects.toMatchObject({ name: "ModelFileError", message: expect.stringContaining(sentence) });
    expect(await small.once("model", bytes)).toBeUndefined();
  });
});

describe("what mutation or a user came upon", () => {
  it.each(found)("%s: %s", async (format, _, input) => {
    expect(await fuzzer.once(format, await input())).toBeUndefined();
  });
});
