import type { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { cpuEngine } from "../../src/engine/cpu/index.js";
import { Matrix } from "../../src/numerics/index.js";
import { bits, engineContract, model, randomMatrix } from "./contract.js";

engineContract("cpu", cpuEngine, {}, 300);
engineContract("cpu with three threads", cpuEngine, { threads: 3 }, 20);

describe("threads", () => {
  it("stay together over thousands of barriers, also where they have to sleep in them", async () => {
    const of = model({ size: 40, storage: "dense", seed: 1 });
    const inputs = randomMatrix(8_000, 1, "float32", 2);
    const [alone, together] = [1, 3].map(() => Matrix.zeros(8_000, 40, "float32")) as [Matrix<Float32Array>, Matrix<Float32Array>];
    for (const [threads, states] of [
      [1, alone],
      [3, together],
    ] as const) {
      const session = await cpuEngine.open(of, { threads });
      await session.run({ inputs }, { states });
      await session.dispose();
    }
    expect(bits(together.data)).toEqual(bits(alone.data));
  });

  it("say so, and do not wait for ever, when one of them has ended", async () => {
    const workers: Worker[] = [];
    const seen = (worker: Worker) => workers.push(worker);
    process.on("worker", seen);
    const session = await cpuEngine.open(model({ size: 40, storage: "dense" }), { threads: 2 });
    process.off("worker", seen);
    await workers.at(-1)!.terminate();
    expect(() => session.step(Float32Array.of(0))).toThrow(/worker thread 1 of this reservoir has ended with exit code 1;/);
    await session.dispose();
  });
});
