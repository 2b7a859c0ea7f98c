// A study that another process deletes: nothing more is written to it, and its trials are nobody's.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { journalFile, MemoryStorage, randomSampler, Study, type StudyStorage } from "../../packages/search/src/index.js";

const space = { x: { float: [0, 1] } } as const;
const open = (storage: StudyStorage) => Study.open({ storage, space, sampler: randomSampler({ seed: 1 }) });
const remove = (storage: StudyStorage) => storage.append([{ by: "other", type: "deleteStudy", study: 0 }]);

let folder: string;
let files = 0;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "spillway-deleted-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const storages: readonly (readonly [string, () => StudyStorage])[] = [
  ["memory", () => new MemoryStorage()],
  ["a file", () => journalFile(join(folder, `${files++}.log`))],
];

describe.each(storages)("a study in %s that is deleted while it is open", (_, make) => {
  const calls: readonly (readonly [string, (study: Study) => Promise<unknown>])[] = [
    ["ask", (study) => study.ask(2)],
    ["tell", (study) => study.tell([[0, 1]])],
    ["enqueue", (study) => study.enqueue({ x: 0.5 })],
    ["giveBack", (study) => study.giveBack([{ number: 0, params: {} }])],
    ["beat", (study) => study.beat()],
    ["setAttribute", (study) => study.setAttribute("a", 1)],
    ["sync", (study) => study.sync()],
  ];

  it.each(calls)("ends %s with a sentence, and no record is written", async (_call, call) => {
    const storage = make();
    const study = await open(storage);
    await study.ask(1);
    await remove(storage);
    const { length } = await storage.read(0);
    await expect(call(study)).rejects.toMatchObject({
      code: "lifecycle",
      message: expect.stringMatching(/^the study "study" was deleted from .+ by another process; open it again/),
    });
    expect(await storage.read(0)).toHaveLength(length);
  });

  it("begins anew if it is opened again, also if another of the name was made meanwhile", async () => {
    const storage = make();
    const study = await open(storage);
    const asked = await study.ask(3);
    await study.tell(asked.map((trial) => [trial, 0.5]));
    await remove(storage);
    const fresh = await open(storage);
    expect([fresh.best, fresh.finished, fresh.counts.asked, fresh.importance()]).toEqual([undefined, 0, 0, expect.anything()]);
    await expect(study.ask()).rejects.toThrow(/was deleted/);
    const [first] = await fresh.ask();
    expect(first).toEqual({ number: 0, params: asked[0]!.params });
    await fresh.tell([[first!, 0.25]]);
    expect((await open(storage)).best).toMatchObject({ number: 0, value: 0.25 });
  });
});
