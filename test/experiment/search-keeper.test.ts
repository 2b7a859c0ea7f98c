// What becomes of results that a storage does not take: they stand in the run's folder, and the
// next search brings them in.
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { MemoryStorage, randomSampler, Study, type StudyOperation } from "../../packages/search/src/index.js";
import { patientStorage, StorageAwayError } from "../../packages/search/src/patience.js";
import { bringInSpools, ResultKeeper } from "../../src/experiment/search/search-keeper.js";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-spool-"));
});
afterEach(() => rm(folder, { recursive: true }));

const space = { x: { float: [0, 1] }, c: { choice: ["a", null] } } as const;
const open = (storage: MemoryStorage) => Study.open({ storage, space, sampler: randomSampler() });
const spools = () => readdir(folder);

class Shut extends MemoryStorage {
  isShut = false;

  override async append(operations: readonly StudyOperation[], expected?: number): Promise<boolean> {
    if (this.isShut) throw new StorageAwayError("memory", "shut");
    return super.append(operations, expected);
  }
}

/** A study whose storage shuts, with three trials of it in work. */
async function shutting(patienceMs: number) {
  const storage = new Shut();
  let keeper: ResultKeeper | undefined;
  const onChange = (away: Error | undefined) => keeper?.setAway(away !== undefined);
  const patient = patientStorage(storage, { patienceMs, signal: new AbortController().signal, onChange });
  const study = await Study.open({ storage: patient, space, sampler: randomSampler() });
  keeper = new ResultKeeper(study, folder);
  const [a, b, c] = await study.ask(3);
  storage.isShut = true;
  return { storage, study, keeper, trials: [a!, b!, c!] as const };
}

it("results of a storage that stays away are in a journal that is brought in, once", async () => {
  const { storage, keeper, trials } = await shutting(1);
  await keeper.add(trials[1], { value: Number.POSITIVE_INFINITY, attributes: { "spillway:seeds": [1, 2] } });
  const failed = await keeper.tell([[trials[0], 0.5]]).catch((error: StorageAwayError) => keeper.explain(error));
  expect(failed).toBeInstanceOf(StorageAwayError);
  const { message, spool } = failed as StorageAwayError;
  expect(spool).toBe(join(folder, (await spools())[0]!));
  expect(message).toContain(`the results of 2 trials could not be kept there and are in ${spool}`);
  storage.isShut = false;
  const next = await open(storage);
  for (let k = 0; k < 2; k++) await bringInSpools(folder, storage, "study");
  await next.sync();
  expect(next.trials.map(({ state, value, attributes }) => [state, value, attributes["spillway:seeds"]])).toEqual([
    ["complete", 0.5, undefined],
    ["complete", Number.POSITIVE_INFINITY, [1, 2]],
    ["running", undefined, undefined],
  ]);
  expect(await spools()).toEqual([]);
});

it("a spool whose trials another process took over meanwhile finishes those in their place", async () => {
  const { storage, study, keeper, trials } = await shutting(1);
  await keeper.tell([[trials[0], 0.5]]).catch(() => undefined);
  storage.isShut = false;
  const other = await open(storage);
  await other.giveBack(trials);
  await other.tell([[(await other.ask(1))[0]!, 0.5]]);
  await bringInSpools(folder, storage, "study");
  await study.sync();
  expect(study.counts).toMatchObject({ complete: 1, failed: 3, waiting: 2 });
});

it("a spool goes when the storage is back in time", async () => {
  const { storage, study, keeper, trials } = await shutting(60_000);
  const told = keeper.tell([[trials[0], 0.5]]);
  await expect.poll(spools, { timeout: 60_000 }).toHaveLength(1);
  await keeper.add(trials[1], 0.25);
  storage.isShut = false;
  await told;
  await keeper.tell([[trials[1], 0.25]]);
  expect([study.best?.value, await spools()]).toEqual([0.25, []]);
});

it("without a folder the sentence says that results are lost", async () => {
  const { study, trials } = await shutting(1);
  const keeper = new ResultKeeper(study, undefined);
  const error = await keeper.tell([[trials[0], 0.5]]).catch((caught: StorageAwayError) => keeper.explain(caught));
  expect((error as StorageAwayError).message).toContain("the result of a trial could not be kept");
});
