// One reservoir over several simulated devices when the driver fails: any call of opening, of a
// chunk and of a closed loop. One error ends all devices and names the one; nothing stays behind,
// and the next run works.
import { describe, expect, it } from "vitest";
import type { DriverCall, DriverFunction } from "../../packages/gpu/src/driver-calls.js";
import { type Fault, FaultyDriver } from "../../packages/gpu/src/fault-injection.js";
import { openDevice } from "../../packages/gpu/src/index.js";
import { Matrix, matrixSpectralRadius, seedKeys } from "../../packages/numerics/src/index.js";
import { simulatedDriver } from "../../packages/sim/src/index.js";
import { deviceEngine } from "../../src/engine/cuda/index.js";
import { referenceEngine } from "../../src/engine/reference/index.js";
import { GramAccumulator } from "../../src/readout/index.js";
import { resolveConfig } from "../../src/reservoir/config-schema.js";
import { accumulate } from "../../src/reservoir/engine/accumulate.js";
import { distributedEngine } from "../../src/reservoir/engine/distributed.js";
import type { Engine, EngineSession } from "../../src/reservoir/engine.js";
import { plainFeatures } from "../../src/reservoir/features.js";
import { drawWeights } from "../../src/reservoir/recurrent-weights.js";
import { unscaledDraws } from "../../src/reservoir/weight-draws.js";
import { buildDrawnModel } from "../../src/reservoir/weights.js";
import { amount, casesOf } from "../exhaustive.js";
import { bits, model, randomMatrix, randomReadout } from "./contract.js";
import { nvcc } from "./sharded/nvcc.js";

/** Three devices too small for 300 x 300 weights in binary32. */
const small = simulatedDriver({ devices: 3, memoryBytes: 370_000, launchBytes: 2 ** 24 });

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
  return { driver, engines, engine: engines[0]!.device.beside(engines.slice(1)) as Engine };
}

/** A driver that writes down the letters of calls in their order. */
const listeningTo = (order: string[], letters: Readonly<Record<string, string>>) =>
  class extends FaultyDriver {
    override resolve<Name extends DriverCall>(name: Name): DriverFunction<Name> {
      const call = super.resolve(name);
      const letter = letters[name];
      return (...values) => {
        if (letter) order.push(letter);
        return call(...values);
      };
    }
  };

/** What is left on devices beside modules, which live as long as they. */
const kept = (engines: ReturnType<typeof devices>["engines"]) =>
  engines.flatMap((each) =>
    each
      .context()
      .held()
      .filter(({ kind }) => kind !== "module"),
  );

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
    const { engine } = devices([], listeningTo(order, { cuStreamWaitEvent: "w", cuLaunchKernelEx: "L" }));
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

  it("ends launches that wait for one that was refused by a copy, which needs no multiprocessor", async () => {
    const launches = working.find(([call]) => /cuLaunchKernel/.test(call))!;
    const orders: string[] = [];
    for (let use = launches[1] + 1; use <= launches[1] + 6; use++) {
      const order: string[] = [];
      const letters = { cuStreamWaitEvent: "w", cuLaunchKernelEx: "L", cuMemcpyHtoDAsync: "c", cuStreamSynchronize: "s" };
      const { engine } = devices([{ call: launches[0] as Fault["call"], use, code: 400 }], listeningTo(order, letters));
      const session = await engine.open(of, options);
      await session.run({ inputs }, {}).catch(() => undefined);
      orders.push(order.join(""));
      await session.dispose();
    }
    // The last of three was refused: the two before it are ended.
    expect(orders.filter((order) => /wLLLcscss/.test(order))).toHaveLength(1);
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

describe.each([
  [
    "a launch for each step, W drawn, sums shared out",
    { size: 140, precision: "float64", storage: "dense" },
    { plan: "sharded", kernelSource: "shipped" },
  ],
  ["persistent kernels, W drawn", { size: 20, storage: "dense" }, options],
] as const)("a reservoir over three devices: %s", async (_name, given, asked) => {
  const described = { ...given, inputSize: 1, seed: 1, radiusMethod: "circularLaw" } as const;
  const host = model(described);
  const drawn = await buildDrawnModel(resolveConfig(described), devices([]).engine.device!);
  const rows = randomMatrix(5, 1, host.precision, 3);
  const targets = randomMatrix(5, 1, "float64", 4);
  const weights = randomReadout(host, 1);

  /** Runs, closes the loop, and learns. */
  async function allOf(session: EngineSession): Promise<readonly Uint32Array[]> {
    session.reset();
    const states = Matrix.zeros(5, host.size, host.precision);
    await session.run({ inputs: rows }, { into: states });
    const answers = await session.generate({ readout: weights, steps: 3 });
    const sink = new GramAccumulator({ stateSize: host.size, inputSize: 1, outputSize: 1, features: plainFeatures });
    await accumulate(session, { inputs: rows }, { targets, washout: 0, sink });
    return [bits(states.data), bits(answers.data), bits(sink.sums().gram.data)];
  }

  const right = await allOf(await referenceEngine.open(host));

  const { driver, engine } = devices([]);
  engine.plan(drawn, asked);
  const before = new Map(driver.uses);
  const session = await engine.open(drawn, asked);
  const opened = new Map(driver.uses);
  const found = await allOf(session);
  const worked = new Map(driver.uses);
  await session.dispose();
  it("has the bits of the host's W", () => expect(found).toEqual(right));

  const used = (pattern: RegExp, from: ReadonlyMap<string, number>, to: ReadonlyMap<string, number>) =>
    [...to].map(([call, count]) => [call, from.get(call) ?? 0, count] as const).filter(([call, a, b]) => pattern.test(call) && b > a);

  it.each(
    casesOf(used(/^cu(MemAlloc|Memcpy|Memset|ModuleLoad|LaunchKernel|CtxEnablePeer|StreamCreate|EventCreate)/, before, opened), ([call]) =>
      /LaunchKernel/.test(call),
    ),
  )("leaves nothing behind when %s fails as it opens, after %i uses and up to %i", async (call, from, to) => {
    const step = Math.max(1, Math.floor((to - from) / amount(8, 2)));
    for (let use = from + 1; use <= to; use += step) {
      const { engine, engines } = devices([{ call: call as Fault["call"], use, code: 400 }]);
      await expect(engine.open(drawn, asked), `${call}, use ${use}`).rejects.toMatchObject({
        code: expect.stringMatching(/device|memory/),
      });
      expect(kept(engines), `${call}, use ${use}`).toEqual([]);
      for (const each of engines) each.close();
    }
  });

  it.each(
    casesOf(
      used(/^cu(LaunchKernel|MemcpyPeer|MemcpyDtoD|MemAlloc|Memset|StreamWaitEvent|EventRecord|EventCreate|StreamCreate)/, opened, worked),
      ([call]) => /Launch|MemcpyPeer/.test(call),
    ),
  )("works again after %s failed, after %i uses and up to %i", async (call, from, to) => {
    const step = Math.max(1, Math.floor((to - from) / amount(12, 1)));
    for (let use = from + Math.ceil(step / 2); use <= to; use += step) {
      const { engine, engines } = devices([{ call: call as Fault["call"], use, code: 400 }]);
      const session = await engine.open(drawn, asked);
      await expect(allOf(session), `${call}, use ${use}`).rejects.toMatchObject({ code: expect.stringMatching(/device|memory/) });
      expect(await allOf(session), `${call}, use ${use}`).toEqual(right);
      await session.dispose();
      expect(kept(engines), `${call}, use ${use}`).toEqual([]);
      for (const each of engines) each.close();
    }
  });
});

it("lets each launch of a step, and of sums of training, wait for what all devices did before", async () => {
  const description = { size: 140, inputSize: 1, precision: "float64", storage: "dense", seed: 1 } as const;
  const order: string[] = [];
  const { engine } = devices([], listeningTo(order, { cuEventRecord: "r", cuStreamWaitEvent: "w", cuLaunchKernelEx: "L" }));
  const session = await engine.open(model(description), { plan: "sharded", kernelSource: "shipped" });
  order.length = 0;
  const sink = new GramAccumulator({ stateSize: 140, inputSize: 1, outputSize: 1, features: plainFeatures });
  const targets = randomMatrix(5, 1, "float64", 4);
  await accumulate(session, { inputs: randomMatrix(5, 1, "float64", 3) }, { targets, washout: 0, sink });
  await session.dispose();
  // Five steps and two chunks: the first device is ready, two others wait, launch and are done, it
  // launches, and waits for both. Copies between devices record and wait, too.
  expect(order.join("").match(/r(w[rw]*Lr){2}Lww/g)).toHaveLength(7);
});

describe("the radius of a W that fits none of three devices", () => {
  const engineOf = (memoryBytes: number, faults: readonly Fault[] = []) => {
    const driver = new FaultyDriver(simulatedDriver({ devices: 3, memoryBytes, launchBytes: 2 ** 24 }), faults);
    const engines = [0, 1, 2].map((device) =>
      deviceEngine({ name: `sim:${device}`, open: () => openDevice({ driver, device, onLeak: () => undefined }) }),
    );
    return { driver, engines, engine: engines[0]!.device.beside(engines.slice(1)) };
  };
  const krylov = { method: "krylov" } as const;

  it.each(
    casesOf(
      [
        ["dense", 100, 1, 390_000],
        ["sparse", 150, 0.4, 570_000],
      ] as const,
      ([storage]) => storage === "dense",
    ),
  )("is that of the host: %s", async (_, size, connectionProbability, memoryBytes) => {
    const config = resolveConfig({ size, connectionProbability, seed: 3 });
    const drawn = { draws: unscaledDraws(config, seedKeys(config.seed)), rounding: "none" } as const;
    const { engine, engines } = engineOf(memoryBytes);
    await expect(engines[0]!.device.spectralRadius(drawn, krylov)).rejects.toThrow(/Krylov iteration .* would take .* and the limit is/);
    expect(await engine.device!.spectralRadius(drawn, krylov)).toEqual(matrixSpectralRadius(drawWeights(config).matrix, krylov));
    expect(kept(engines)).toEqual([]);
  });

  it.each(
    casesOf(["cuLaunchKernelEx", "cuMemcpyPeerAsync", "cuMemAllocFromPoolAsync", "cuStreamWaitEvent", "cuEventRecord"] as const, (call) =>
      /Peer/.test(call),
    ),
  )("leaves nothing behind when %s fails", async (call) => {
    const config = resolveConfig({ size: 100, connectionProbability: 1, seed: 3 });
    const drawn = { draws: unscaledDraws(config, seedKeys(config.seed)), rounding: "none" } as const;
    const { driver, engine: sound } = engineOf(390_000);
    await sound.device!.spectralRadius(drawn, krylov);
    const most = driver.uses.get(call)!;
    for (let use = 2; use <= most; use += Math.max(1, Math.floor(most / amount(12, 2)))) {
      const { engine, engines } = engineOf(390_000, [{ call, use, code: 400 }]);
      await expect(engine.device!.spectralRadius(drawn, krylov), `use ${use} of ${most}`).rejects.toMatchObject({
        code: expect.stringMatching(/device|memory/),
      });
      expect(kept(engines), `use ${use} of ${most}`).toEqual([]);
      for (const each of engines) each.close();
    }
  });
});

it("runs the sequences of a batch one after the other over all devices, and a closed loop, if W fits none of them", async () => {
  const engines = [0, 1, 2].map((device) =>
    deviceEngine({
      name: `sim:${device}`,
      open: () => openDevice({ driver: small, device, nvrtc: nvcc, onLeak: () => undefined }),
      stepsPerChunk: 4,
    }),
  );
  const description = { size: 300, inputSize: 1, storage: "dense", seed: 1, radiusMethod: "circularLaw", feedback: { size: 1 } } as const;
  const host = model(description);
  const all = distributedEngine("sim:0-2", engines);
  const drawn = await buildDrawnModel(resolveConfig(description), all.device!);
  await expect(engines[0]!.open(drawn)).rejects.toThrow(
    /a reservoir of 300 neurons with 90,000 weights on .* would take .* and the limit is/,
  );
  const sequences = [3, 2].map((rows, seed) => ({
    inputs: randomMatrix(rows, 1, "float32", seed),
    teacher: randomMatrix(rows, 1, "float32", seed + 5),
  }));
  const outcomes = [];
  for (const session of [await all.open(drawn, { kernelSource: "shipped" }), await referenceEngine.open(host)]) {
    const states = await session.batch(sequences, {});
    session.reset();
    const answers = await session.generate({ readout: randomReadout(host, 1), steps: 2, inputs: randomMatrix(2, 1, "float32", 6) });
    outcomes.push([...states.map(({ data }) => bits(data)), bits(answers.data)]);
    await session.dispose();
  }
  expect(outcomes[0]).toEqual(outcomes[1]);
  for (const each of engines) each.close();
});

it("distributes batches over sessions of one device each, beside the one over all", async () => {
  const { engines } = devices([]);
  const session = await distributedEngine("sim:0-2", engines).open(of, options);
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
