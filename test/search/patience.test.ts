// A storage that is away is asked again, for as long as its user is patient.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FileError } from "../../src/io/index.js";
import { MemoryStorage, randomSampler, Study, type StudyOperation } from "../../src/search/index.js";
import { patientStorage, StorageAwayError } from "../../src/search/patience.js";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Fails with an error while it has one. */
class Failing extends MemoryStorage {
  error: Error | undefined;
  readonly calls: number[] = [];

  override async append(operations: readonly StudyOperation[], expected?: number): Promise<boolean> {
    this.#meet();
    return super.append(operations, expected);
  }

  override async read(from: number): Promise<readonly StudyOperation[]> {
    this.#meet();
    return super.read(from);
  }

  #meet(): void {
    this.calls.push(performance.now());
    if (this.error) throw this.error;
  }
}

const ioError = new FileError("/shared/a.log", "the file cannot be read: EIO: i/o error", "other");
const stale = new FileError("/shared/a.log", "the file cannot be read: ESTALE: stale NFS file handle", "other");

async function opened(patienceMs: number) {
  const failing = new Failing();
  const said: (string | undefined)[] = [];
  const stop = new AbortController();
  const onChange = (away: Error | undefined) => said.push(away?.message);
  const storage = patientStorage(failing, { patienceMs, signal: stop.signal, onChange });
  const study = await Study.open({ storage, space: { x: { float: [0, 1] } }, sampler: randomSampler() });
  return { failing, said, stop, study, storage };
}

describe("a storage that is away", () => {
  it("is asked again after 1, 2, 4 and so on up to 60 seconds, and nothing is lost", async () => {
    const { failing, said, study } = await opened(3_600_000);
    const [trial] = await study.ask();
    failing.error = stale;
    failing.calls.length = 0;
    const told = study.tell([[trial!, 0.5]]);
    await vi.advanceTimersByTimeAsync(300_000);
    const pauses = failing.calls.slice(1).map((at, i) => Math.round((at - failing.calls[i]!) / 1000));
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
    expect(said).toEqual([stale.message]);
    failing.error = undefined;
    await vi.advanceTimersByTimeAsync(60_000);
    await told;
    expect([study.best?.value, said]).toEqual([0.5, [stale.message, undefined]]);
  });

  it("is given up when patience ends, whichever call then waits", async () => {
    const { failing, study } = await opened(10_000);
    const [trial] = await study.ask();
    failing.error = ioError;
    const calls = Promise.allSettled([study.beat(), study.tell([[trial!, 1]])]);
    await vi.advanceTimersByTimeAsync(11_000);
    for (const call of await calls) {
      const { reason } = call as PromiseRejectedResult;
      expect(reason).toBeInstanceOf(StorageAwayError);
      expect(reason).toMatchObject({ code: "unavailable", message: expect.stringMatching(/^memory is away, for 10 s now: .*EIO/) });
    }
  });

  it("is not waited for any longer if the search is stopped", async () => {
    const { failing, stop, study } = await opened(1e9);
    failing.error = ioError;
    const asked = expect(study.ask()).rejects.toBeInstanceOf(StorageAwayError);
    await vi.advanceTimersByTimeAsync(3000);
    stop.abort();
    await asked;
  });

  it("is refused at once if it never answered, or holds what is no journal", async () => {
    const failing = new Failing();
    failing.error = ioError;
    const storage = patientStorage(failing, { patienceMs: 1e9, signal: new AbortController().signal });
    await expect(storage.read(0)).rejects.toBe(ioError);
    const { failing: broken, study } = await opened(1e9);
    broken.error = new FileError("a.log", "line 3 is no record of a journal", "content");
    await expect(study.ask()).rejects.toBe(broken.error);
  });
});
