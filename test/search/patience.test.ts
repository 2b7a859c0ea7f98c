// A storage that is away is asked again, for as long as its user is patient.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FileError } from "../../packages/io/src/index.js";
import { MemoryStorage, randomSampler, Study, type StudyOperation } from "../../packages/search/src/index.js";
import { patientStorage, StorageAwayError } from "../../packages/search/src/patience.js";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Fails with an error while it has one. */
class Failing extends MemoryStorage {
  error: Error | undefined;
  /** How long it takes to answer. */
  delayMs = 0;
  readonly calls: number[] = [];

  override async append(operations: readonly StudyOperation[], expected?: number): Promise<boolean> {
    await this.#meet();
    return super.append(operations, expected);
  }

  override async read(from: number): Promise<readonly StudyOperation[]> {
    await this.#meet();
    return super.read(from);
  }

  async #meet(): Promise<void> {
    this.calls.push(performance.now());
    if (this.error) throw this.error;
    if (this.delayMs > 0) await new Promise((later) => setTimeout(later, this.delayMs));
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

  it("may answer after 30 seconds: calls wait, nobody is warned, and nothing is there twice", async () => {
    const { failing, said, study } = await opened(10_000);
    failing.delayMs = 30_000;
    const asking = study.ask(2);
    // A beat of each 30 seconds, as a search gives it.
    const beats = [study.beat(), study.beat()];
    let isAsked = false;
    void asking.then(() => {
      isAsked = true;
    });
    await vi.advanceTimersByTimeAsync(29_000);
    expect(isAsked).toBe(false);
    await vi.advanceTimersByTimeAsync(600_000);
    const trials = await asking;
    await Promise.all(beats);
    const telling = study.tell(trials.map((trial, i) => [trial, i]));
    await vi.advanceTimersByTimeAsync(600_000);
    await telling;
    failing.delayMs = 0;
    const again = await Study.open({ storage: failing, space: { x: { float: [0, 1] } }, sampler: randomSampler() });
    expect(again.counts).toMatchObject({ asked: 2, complete: 2, failed: 0 });
    expect([again.best?.value, said]).toEqual([0, []]);
  });
});
