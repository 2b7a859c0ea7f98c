import type { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { Matrix } from "../../packages/numerics/src/index.js";
import { cpuEngine } from "../../src/engine/cpu/index.js";
import { referenceEngine } from "../../src/engine/reference/index.js";
import { amount, casesOf } from "../exhaustive.js";
import { bits, engineContract, model, randomMatrix } from "./contract.js";

engineContract("cpu", cpuEngine, {}, amount(300, 40));
engineContract("cpu with three threads", cpuEngine, { threads: 3 }, amount(20, 4));

describe("a dense W that is larger than a cache", () => {
  it.each(
    casesOf(
      [
        ["float32", 1460, 1],
        ["float32", 1460, 3],
        ["float64", 1030, 1],
        ["float64", 1030, 2],
      ] as const,
      ([, , threads]) => threads === 2,
    ),
  )("has the reference engine's bits in %s, %i neurons on %i threads", async (precision, size, threads) => {
    const of = model({ size, storage: "dense", precision, spectralRadius: null, inputScaling: 0.3 });
    const inputs = randomMatrix(3, 1, precision, 2);
    const runs = [];
    for (const session of [await cpuEngine.open(of, { threads }), await referenceEngine.open(of, {})]) {
      const states = Matrix.zeros(3, size, precision);
      await session.run({ inputs }, { into: states });
      await session.dispose();
      runs.push(bits(states.data));
    }
    expect(runs[0]).toEqual(runs[1]);
  });
});

describe("threads", () => {
  it("stay together over thousands of barriers, also where they have to sleep in them", async () => {
    const of = model({ size: 40, storage: "dense", seed: 1 });
    const steps = amount(8_000, 2_000);
    const inputs = randomMatrix(steps, 1, "float32", 2);
    const [alone, together] = [1, 3].map(() => Matrix.zeros(steps, 40, "float32")) as [Matrix<Float32Array>, Matrix<Float32Array>];
    for (const [threads, states] of [
      [1, alone],
      [3, together],
    ] as const) {
      const session = await cpuEngine.open(of, { threads });
      await session.run({ inputs }, { into: states });
      await session.dispose();
    }
    expect(bits(together.data)).toEqual(bits(alone.data));
  });

  it("are done without when one of them has ended between two calls", async () => {
    const workers: Worker[] = [];
    const onWorker = (worker: Worker) => workers.push(worker);
    process.on("worker", onWorker);
    const of = model({ size: 40, storage: "dense" });
    const session = await cpuEngine.open(of, { threads: 2 });
    const alone = await cpuEngine.open(of, { threads: 1 });
    process.off("worker", onWorker);
    await workers.at(-1)!.terminate();
    expect(bits(session.step(Float32Array.of(1)))).toEqual(bits(alone.step(Float32Array.of(1))));
    for (const each of [session, alone]) await each.dispose();
  });
});
