// Trials of processes that are gone are run by others, once; what comes late counts no more.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { MemoryStorage, randomSampler, Study } from "../../packages/search/src/index.js";

const space = { x: { float: [0, 1] }, c: { choice: ["a", null] } } as const;
const open = (storage: MemoryStorage, seed: number) => Study.open({ storage, space, sampler: randomSampler({ seed }) });

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance", "Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("a process that is gone", () => {
  it("has its trials taken over with the same parameters, by one of several that see it", async () => {
    const storage = new MemoryStorage();
    const [gone, one, other] = [await open(storage, 1), await open(storage, 2), await open(storage, 3)];
    await gone.beat();
    const lost = await gone.ask(3);
    await gone.tell([[lost[0]!, 1]]);
    expect([await one.beat(), await other.beat()]).toEqual([0, 0]);
    vi.advanceTimersByTime(119_000);
    expect([await one.beat(), await other.beat()]).toEqual([0, 0]);
    vi.advanceTimersByTime(2000);
    expect([await one.beat(), await other.beat()]).toEqual([2, 0]);
    expect(one.trials.map(({ state }) => state)).toEqual(["complete", "failed", "failed", "waiting", "waiting"]);
    const taken = await other.ask(2);
    expect(taken).toEqual([1, 2].map((k) => ({ number: k + 2, params: lost[k]!.params })));
    await other.tell(taken.map((trial) => [trial, 0.5]));
    await gone.tell(lost.slice(1).map((trial) => [trial, 0]));
    expect(gone.dropped).toBe(2);
    expect(gone.best).toMatchObject({ number: 3, value: 0.5 });
  });

  it("is not one that beats on, whatever the clocks of machines say", async () => {
    const storage = new MemoryStorage();
    const [slow, one] = [await open(storage, 1), await open(storage, 2)];
    await slow.beat();
    await slow.ask();
    for (let k = 0; k < 5; k++) {
      vi.setSystemTime(Date.now() + (k % 2 ? -86_400_000 : 3_600_000));
      vi.advanceTimersByTime(100_000);
      await slow.beat();
      expect(await one.beat()).toBe(0);
    }
  });

  it("is followed by three runs of a trial at most, as Optuna writes retries", async () => {
    const storage = new MemoryStorage();
    const watcher = await open(storage, 9);
    for (let k = 0; k < 3; k++) {
      const gone = await open(storage, k);
      await gone.beat();
      await gone.ask();
      await watcher.beat();
      vi.advanceTimersByTime(121_000);
      expect(await watcher.beat()).toBe(1);
    }
    expect(watcher.trials.map(({ state }) => state)).toEqual(["failed", "failed", "failed"]);
    const templates = (await storage.read(0)).flatMap((operation) => (operation.type === "createTrial" ? [operation.template] : []));
    expect(templates.slice(1).map(({ systemAttributes }) => systemAttributes)).toMatchObject([
      { failed_trial: 0, retry_history: [0], fixed_params: watcher.trials[0]!.params, "spillway:attempt": 2 },
      { failed_trial: 0, retry_history: [0, 1], "spillway:attempt": 3 },
    ]);
  });

  it("leaves the trials of those that never said they are there, and bad graces are refused", async () => {
    const storage = new MemoryStorage();
    const [silent, one] = [await open(storage, 1), await open(storage, 2)];
    await silent.ask();
    await one.beat();
    vi.advanceTimersByTime(1e6);
    expect(await one.beat()).toBe(0);
    await expect(one.beat(Number.NaN)).rejects.toThrow("beat: graceMs is NaN; it takes a number of milliseconds above 0");
  });
});
