// Whatever holds several things gives all of them back, also if one of them fails to.
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { disposeAllAsync, disposeQuietlyAsync, Making } from "../../packages/core/src/disposal.js";
import { referenceEngine } from "../../src/engine/reference/index.js";
import { Classifier, FieldForecaster, Forecaster, ReservoirComputer } from "../../src/index.js";
import { ConceptorMemory } from "../../src/model/index.js";
import { registerEngine } from "../../src/reservoir/engines.js";
import { amount } from "../exhaustive.js";

describe("things that are disposed later", () => {
  const four = () => {
    const order: number[] = [];
    const things = [0, 1, 2, 3].map((k) => ({
      dispose: async () => {
        await Promise.resolve();
        order.push(k);
        if (k % 2 === 0) throw new Error(`thing ${k}`);
      },
    }));
    return { order, things };
  };

  it("are all disposed, the last first, and the first error is thrown", async () => {
    const { order, things } = four();
    await expect(disposeAllAsync([...things, undefined, null])).rejects.toThrow("thing 2");
    expect(order).toEqual([3, 2, 1, 0]);
  });

  it("are disposed quietly beside another error", async () => {
    const { order, things } = four();
    await disposeQuietlyAsync(things);
    expect(order).toEqual([3, 2, 1, 0]);
  });
});

describe("things of something that is being made", () => {
  const disposed: string[] = [];
  const thing = (name: string) => ({
    dispose: () => {
      disposed.push(name);
      throw new Error(`${name} cannot be given back`);
    },
  });
  const make = (fails: boolean) => {
    using made = new Making();
    made.own(thing("first"));
    made.own(thing("second"));
    if (fails) throw new Error("not made");
    return made.done(made);
  };
  afterEach(() => {
    disposed.length = 0;
  });

  it("are given back if the making fails, whose error is thrown", () => {
    expect(() => make(true)).toThrow("not made");
    expect(disposed).toEqual(["second", "first"]);
  });

  it("stay if all were made, until they are disposed of", () => {
    const made = make(false);
    expect(disposed).toEqual([]);
    expect(() => made[Symbol.dispose]()).toThrow("second cannot be given back");
    expect(disposed).toEqual(["second", "first"]);
    made.dispose();
    expect(disposed.length).toBe(2);
  });
});

describe("sessions of an engine whose disposal fails", () => {
  const counts = { opened: 0, disposed: 0 };

  beforeAll(() => {
    registerEngine(
      "failing",
      async () => ({
        ...referenceEngine,
        name: "failing",
        async open(...args: Parameters<typeof referenceEngine.open>) {
          const session = await referenceEngine.open(...args);
          counts.opened++;
          session.dispose = async () => {
            counts.disposed++;
            throw new Error("cannot be given back");
          };
          return session;
        },
      }),
      { automatic: false },
    );
  });
  afterEach(() => {
    counts.opened = 0;
    counts.disposed = 0;
  });

  const engine = "failing";
  const reservoir = { size: 6 };
  const wave = (cols: number, phase = 0) =>
    Array.from({ length: 120 }, (_, t) => Array.from({ length: cols }, (_, c) => Math.sin(t / 3 + c + phase)));
  const cases = Array.from({ length: 6 }, (_, k) => wave(1, k).slice(0, 9));
  const ways: Record<string, () => Promise<{ dispose(): Promise<void> }>> = {
    "layers of a reservoir": () => ReservoirComputer.create({ layers: [reservoir, reservoir, reservoir], inputSize: 1 }, { engine }),
    "members of a classifier": () => Classifier.fit(cases, ["a", "b", "a", "b", "a", "b"], { reservoir, engine, members: 3 }),
    "members of a forecaster": () => Forecaster.fit(wave(1), { reservoir, engine, horizon: 5, members: 3 }),
    "groups of a field": () => FieldForecaster.fit(wave(6), { reservoir, engine, groups: 3, halo: 1, shared: false }),
    "the reservoirs of a conceptor memory": () => ConceptorMemory.store([wave(1), wave(1, 1)], { reservoir, engine, washout: 20 }),
  };

  it.each(Object.entries(ways))("are all given back: %s", async (_, open) => {
    const held = await open();
    expect(counts.opened).toBeGreaterThan(1);
    const before = counts.disposed;
    await expect(held.dispose()).rejects.toThrow("cannot be given back");
    expect(counts.disposed - before).toBeGreaterThan(1);
    expect(counts.disposed).toBe(counts.opened);
  });

  it("are all given back if a combination of members is stopped at any of its parts", async () => {
    const rows = Array.from({ length: 160 }, (_, t) => [10 + Math.sin(t / 3) + Math.sin(1.7 * t * t)]);
    const attempt = async (stopAt: number) => {
      const controller = new AbortController();
      let calls = 0;
      const onProgress = () => {
        if (++calls === stopAt) controller.abort();
      };
      const members = ["loop", "direct", "theta"] as const;
      const options = { reservoir, engine, horizon: 2, members, signal: controller.signal, onProgress };
      const forecaster = await Forecaster.fit(rows, options).catch((error: Error) => error);
      return { calls, forecaster };
    };
    const { calls, forecaster } = await attempt(Number.POSITIVE_INFINITY);
    await (forecaster as Forecaster).dispose().catch(() => undefined);
    expect(counts.disposed).toBe(counts.opened);
    let stopped = 0;
    for (let stopAt = 1; stopAt < calls; stopAt += Math.ceil(calls / amount(12, 6))) {
      counts.opened = 0;
      counts.disposed = 0;
      const { forecaster: made } = await attempt(stopAt);
      if (made instanceof Error) stopped++;
      else await made.dispose().catch(() => undefined);
      expect([stopAt, counts.disposed]).toEqual([stopAt, counts.opened]);
    }
    expect(stopped).toBeGreaterThan(3);
  });
});
