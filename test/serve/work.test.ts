// Limits of work: what stops it, and that nothing stays on a signal that lives on.
import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { WorkInterruptedError } from "../../src/reservoir/index.js";
import { ByteBudget } from "../../src/serve/limits.js";
import { RequestError } from "../../src/serve/refused.js";
import { withTimeLimit } from "../../src/serve/work.js";

/** Work that goes on until its signal is aborted. */
const endless = (signal: AbortSignal) =>
  new Promise<never>((_, fail) => signal.addEventListener("abort", () => fail(new WorkInterruptedError(1, 2, signal.reason))));
const late = () => new RequestError(503, "aborted", "late");

describe("work with a time limit", () => {
  it("leaves no listener on the signal, however it ends", async () => {
    const { signal } = new AbortController();
    for (let k = 0; k < 100; k++) await withTimeLimit(signal, 60, late, async () => k);
    await expect(withTimeLimit(signal, 0.01, late, endless)).rejects.toThrow("late");
    await expect(withTimeLimit(signal, 60, late, () => Promise.reject(new Error("own")))).rejects.toThrow("own");
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("ends with the reason of the signal", async () => {
    const stop = new AbortController();
    const working = withTimeLimit(stop.signal, 60, late, endless);
    stop.abort(new RequestError(499, "aborted", "gone"));
    await expect(working).rejects.toThrow("gone");
    await expect(withTimeLimit(stop.signal, 60, late, endless)).rejects.toThrow("gone");
  });
});

describe("a budget of bytes", () => {
  it("is given back by one whose client went away as it was granted", async () => {
    const budget = new ByteBudget(10);
    const stop = new AbortController();
    const release = await budget.take(10, stop.signal);
    const second = budget.take(10, stop.signal);
    release();
    stop.abort(new Error("gone"));
    await expect(second).rejects.toThrow("gone");
    (await budget.take(10, new AbortController().signal))();
  });
});
