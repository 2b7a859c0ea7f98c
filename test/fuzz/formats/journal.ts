// Journals of studies: opened, gone on with, and repaired. Mutants of single records are valid JSON.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SpillwayError } from "../../../packages/core/src/errors.js";
import { cmaes, journalFile, MemoryStorage, mergeStudies, repairJournal, Study, sobol, tpe } from "../../../packages/search/src/index.js";
import { encodeRecord } from "../../../packages/search/src/journal/records.js";
import type { FuzzFormat } from "../format.js";
import { mutateJson } from "../mutate.js";
import { bytesOf } from "../text.js";

const space = { x: { float: [0, 1] }, n: { int: [1, 100], log: true }, c: { choice: ["a", null] } } as const;
const fixture = new URL("../../search/journal/fixtures/optuna-4.0.0.dev.log", import.meta.url);
const folder = mkdtempSync(join(tmpdir(), "spillway-fuzz-"));
const path = join(folder, "a.log");
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

/** A study with trials of every state, attributes, values on the way, and a second study that was deleted. */
async function study(sampler = sobol()): Promise<Uint8Array> {
  const storage = new MemoryStorage();
  await storage.append([{ by: "w", type: "createStudy", name: "other", direction: "maximise" }]);
  const one = await Study.open({ storage, space, sampler, attributes: { note: [1, null] } });
  await one.enqueue({ x: 0.5 });
  await one.beat();
  const trials = await one.ask(6);
  await one.tell([
    [trials[0]!, 0.5],
    [trials[1]!, { value: 1, pruned: true, intermediate: { 1: 3, 2: 2 }, attributes: { seeds: [1, 2] } }],
    [trials[2]!, new Error("failed")],
  ]);
  await one.giveBack([trials[3]!]);
  await storage.append([{ by: "w", type: "deleteStudy", study: 0 }]);
  return bytesOf((await storage.read(0)).map((operation) => `${encodeRecord(operation)}\n`).join(""));
}

async function read(input: Uint8Array): Promise<void> {
  writeFileSync(path, input);
  rmSync(`${path}.lock`, { force: true });
  try {
    const one = await Study.open({ storage: journalFile(path), space, sampler: tpe({ seed: 1 }) });
    await one.beat(1);
    const trials = await one.ask(2);
    await one.tell(trials.map((trial) => [trial, 0.5]));
    void [one.best, one.finished, one.trials, one.importance(), one.attributes];
    await mergeStudies(new MemoryStorage(), [journalFile(path)], "study");
    await one.close();
  } finally {
    writeFileSync(path, input);
    await repairJournal(path).catch((error: unknown) => {
      if (!(error instanceof SpillwayError)) throw error;
    });
  }
}

export default {
  corpus: async () => [await study(), await study(cmaes()), new Uint8Array(readFileSync(fixture))],
  read,
  errors: [SpillwayError],
  tokens: ["op_code", "study_id", "trial_id", "NaN", "Infinity", "FloatDistribution", "params", "user_attrs", "{", "}", '"'],
  mutate(input, random) {
    const lines = new TextDecoder().decode(input).split("\n");
    const at = random.below(lines.length);
    try {
      lines[at] = JSON.stringify(mutateJson(JSON.parse(lines[at]!), random)) ?? "";
    } catch {
      lines.splice(at, 1, lines[random.below(lines.length)]!);
    }
    return bytesOf(lines.join("\n"));
  },
  testCases: 150,
} satisfies FuzzFormat;
