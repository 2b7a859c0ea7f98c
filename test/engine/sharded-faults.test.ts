// One reservoir over several simulated devices when the driver fails: any call of opening, of a chunk
// and of a closed loop. One error ends all devices and names the one; nothing stays behind, and the
// next run works.
import { describe, expect, it } from "vitest";
import { deviceEngine } from "../../src/engine/cuda/index.js";
import { referenceEngine } from "../../src/engine/reference/index.js";
import type { DriverCall, DriverFunction } from "../../src/gpu/driver-calls.js";
import { type Fault, FaultyDriver } from "../../src/gpu/fault-injection.js";
import { openDevice } from "../../src/gpu/index.js";
import { Matrix } from "../../src/numerics/index.js";
import { dealtEngine } from "../../src/reservoir/engine/dealt.js";
import type { Engine, EngineSession } from "../../src/reservoir/engine.js";
import { simulatedDriver } from "../../src/sim/index.js";
import { amount, casesOf } from "../exhaustive.js";
import { bits, model, randomMatrix, randomReadout } from "./contract.js";
import { nvcc } from "./sharded/nvcc.js";

const of = model({ size: 20, inputSize: 1, storage: "dense", seed: 1 });
const inputs = randomMatrix(6, 1, "float32", 3);
const readout = randomReadout(of, 1);

/** Runs, closes the loop, and says what came of it. */
async function results(session: EngineSession): Promise<readonly Uint32Array[]> {
  const states = Matrix.zeros(6, 20, "float32");
  session.reset();
  await session.run({ inputs }, { into: states });
  const answers = await session.generate({ readout, steps: 5 });
  return [bits(states.data), bits(answers.data)];
}

const expected = await results(await referenceEngine.open(of));

/** Three devices of a driver that has some faults. */
function devices(faults: readonly Fault[], Kind = FaultyDriver) {
  const driver = new Kind(simulatedDriver({ devices: 3, memoryBytes: 2 ** 22, launchBytes: 2 ** 24 }), faults);
  const engines = [0, 1, 2].map((device) =>
    deviceEngine({
      name: device === 0 ? "sim" : `sim:${device}`,
      open: () => openDevice({ driver, device, nvrtc: nvcc, onLeak: () => undefined }),
      stepsPerChunk: 4,
    }),
  );
  return { driver, engines, engine: engines[0]!.beside(engines.slice(1)) as Engine };
}

const options = { plan: "sharded", spinLimit: 1e6 };

/** The uses of each call by opening a session, by its work, and of all. */
async function healthy() {
  const { driver, engine } = devices([]);
  engine.plan(of, options);
  const before = new Map(driver.uses);
  const session = await engine.open(of, options);
  const opened = new Map(driver.uses);
  expect(await results(session)).toEqual(expected);
  const worked = new Map(driver.uses);
  await session.dispose();
  const between = (from: ReadonlyMap<string, number>, to: ReadonlyMap<string, number>) =>
    [...to].map(([call, count]) => [call, from.get(call) ?? 0, count] as const).filter(([, a, b]) => b > a);
  return { opening: between(before, opened), working: between(opened, worked) };
}

const { opening, working } = await healthy();

describe("opening a reservoir over three devices", () => {
  const asked = opening.filter(([call]) =>
    /^cu(MemAlloc|MemHostRegister|Memcpy|Memset|ModuleLoad|Occupancy|CtxEnablePeer|StreamCreate|EventCreate)/.test(call),
  );

  it.each(casesOf(asked, ([call]) => /EnablePeer|ModuleLoad/.test(call)))(
    "leaves nothing behind when %s fails, after %i uses and up to %i",
    async (call, from, to) => {
      const step = Math.max(1, Math.floor((to - from) / amount(8, 2)));
      for (let use = from + 1; use <= to; use += step) {
        const { engine, engines } = devices([{ call: call as Fault["call"], use, code: 400 }]);
        await expect(engine.open(of, options), `${call}, use ${use}`).rejects.toMatchObject({
          code: expect.stringMatching(/device|memory/),
        });
        for (const each of engines)
          expect(
            each
              .context()
              .held()
              .filter(({ kind }) => kind !== "module"),
          ).toEqual([]);
        for (const each of engines) each.close();
      }
    },
  );
});

describe("a reservoir over three devices", () => {
  const asked = working.filter(([call]) => /^cu(LaunchKernel|MemcpyPeer|MemcpyDtoD|StreamWaitEvent|EventRecord)/.test(call));

  it("launches, copies between devices, and orders their streams by events", () => {
    expect(asked.map(([call]) => call)).toEqual(
      expect.arrayContaining([expect.stringMatching(/cuLaunchKernel/), "cuMemcpyPeerAsync", "cuStreamWaitEvent", "cuEventRecord"]),
    );
  });

  it.each(casesOf(asked, ([call]) => /Launch/.test(call)))(
    "works again after %s failed, after %i uses and up to %i",
    async (call, from, to) => {
      const step = Math.max(1, Math.floor((to - from) / amount(12, 2)));
      for (let use = from + 1; use <= to; use += step) {
        const { engine, engines } = devices([{ call: call as Fault["call"], use, code: 400 }]);
        const session = await engine.open(of, options);
        await expect(results(session), `${call}, use ${use}`).rejects.toMatchObject({ code: "device" });
        expect(await results(session), `${call}, use ${use}`).toEqual(expected);
        await session.dispose();
        for (const each of engines) each.close();
      }
    },
  );

  it("has all devices wait for what was before, and only then launches on any", async () => {
    const order: string[] = [];
    class Listening extends FaultyDriver {
      override resolve<Name extends DriverCall>(name: Name): DriverFunction<Name> {
        const call = super.resolve(name);
        const letter = { cuStreamWaitEvent: "w", cuLaunchKernelEx: "L" }[name as string];
        return (...values) => {
          if (letter) order.push(letter);
          return call(...values);
        };
      }
    }
    const { engine } = devices([], Listening);
    const session = await engine.open(of, options);
    order.length = 0;
    await session.run({ inputs }, {});
    await session.dispose();
    // Two chunks: one launch on each device, with no wait between them.
    expect(order.join("").match(/wLLLw/g)).toHaveLength(2);
  });

  it("names the device that refuses its part", async () => {
    const launches = working.find(([call]) => /cuLaunchKernel/.test(call))!;
    const messages = new Set<string>();
    for (let use = launches[1] + 1; use <= launches[1] + 6; use++) {
      const { engine } = devices([{ call: launches[0] as Fault["call"], use, code: 719 }]);
      const session = await engine.open(of, options);
      const error = (await results(session).catch((thrown: unknown) => thrown)) as Error;
      messages.add(/^(sim:\d) failed, which ended the work of all devices/.exec(error.message)?.[1] ?? "the kernels beside the loop");
      await session.dispose().catch(() => undefined);
    }
    expect([...messages].sort()).toEqual(["sim:0", "sim:1", "sim:2", "the kernels beside the loop"]);
  });

  it("ends all devices by the one whose states do not come, and works again", async () => {
    const { engine, engines } = devices([]);
    const session = await engine.open(of, { plan: "sharded", spinLimit: 1 });
    const error = (await results(session).catch((thrown: unknown) => thrown)) as Error;
    expect(error).toMatchObject({
      name: "StallError",
      message: expect.stringMatching(
        /sim:\d gave no states of block \d+ at step \d+ for 1 clock ticks, which ended the work of all devices/,
      ),
    });
    await session.dispose();
    const again = await engine.open(of, options);
    expect(await results(again)).toEqual(expected);
    await again.dispose();
    for (const each of engines) each.close();
  });
});

it("deals batches to sessions of one device each, beside the one over all", async () => {
  const { engines } = devices([]);
  const session = await dealtEngine("sim:0-2", engines).open(of, options);
  const sequences = [6, 3, 5, 2].map((rows, seed) => ({ inputs: randomMatrix(rows, 1, "float32", seed) }));
  const reference = await referenceEngine.open(of);
  expect(session.plan.summary).toMatch(/plan "sharded".*; on sim, sim:1, sim:2, sequences of a batch over 3 devices/);
  expect(await session.batch(sequences, {})).toEqual(await reference.batch(sequences, {}));
  expect(await results(session)).toEqual(expected);
  await session.dispose();
  for (const each of engines)
    expect(
      each
        .context()
        .held()
        .filter(({ kind }) => kind !== "module"),
    ).toEqual([]);
});
