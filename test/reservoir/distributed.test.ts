// Work that is distributed over several devices has the bits of one, in order, and stops as one.
import { describe, expect, it } from "vitest";
import { SpillwayError } from "../../packages/core/src/errors.js";
import {
  Classifier,
  Matrix,
  probeEngines,
  ReservoirComputer,
  ReservoirEnsemble,
  ridge,
  sweepForecasts,
  sweepReadouts,
  WorkInterruptedError,
} from "../../src/index.js";
import { runShares, sharesOf } from "../../src/reservoir/engine/shares.js";

// The simulated driver of this process is made when it is first asked for.
Object.assign(process.env, { SPILLWAY_SIM_DEVICES: "3", SPILLWAY_SIM_MEMORY: `${2 ** 25}`, SPILLWAY_SIM_LAUNCH_MEMORY: `${2 ** 25}` });

const wave = (steps: number, from = 0) => Float64Array.from({ length: steps }, (_, t) => Math.sin((t + from) / 3));

describe("shares", () => {
  it.each([
    [[1, 1, 1, 1], 2, [2, 2]],
    [[1, 1, 1], 2, [2, 1]],
    [[9, 1, 1, 1], 2, [1, 3]],
    [[1, 1, 1, 9], 2, [3, 1]],
    [[1], 3, [1]],
    [[1, 1], 4, [1, 1]],
    [[], 2, []],
  ])("of %j over %d devices are %j", (costs, devices, sizes) => {
    const shares = sharesOf(costs, devices);
    expect(shares.map(({ from, to }) => to - from)).toEqual(sizes);
    expect(shares.map(({ from }) => from)).toEqual(sizes.map((_, k) => sizes.slice(0, k).reduce((a, b) => a + b, 0)));
  });

  const two = sharesOf([1, 1], 2);
  const untilStopped = (signal: AbortSignal | undefined) =>
    new Promise<never>((_, reject) => signal!.addEventListener("abort", () => reject(new WorkInterruptedError(0, 1, undefined))));

  it("end together if a device fails, by an error that names it", async () => {
    const work = runShares(two, ["a", "b"], 2, {}, async ({ device }, { signal }) => {
      if (device === 0) return untilStopped(signal);
      throw new SpillwayError("device", "the kernel gave up");
    });
    await expect(work).rejects.toMatchObject({
      code: "device",
      message: "b failed, which ended the work of all devices: the kernel gave up",
    });
  });

  it("fail by what is wrong with the first of them, whichever comes first", async () => {
    const work = runShares(two, ["a", "b"], 2, {}, async ({ device }) => {
      if (device === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      throw new SpillwayError("numeric", `of ${device}`);
    });
    await expect(work).rejects.toThrow("of 0");
  });

  it("stop by a signal, and report steps of all", async () => {
    const stop = new AbortController();
    const reported: (readonly number[])[] = [];
    const work = runShares(two, ["a", "b"], 2, { signal: stop.signal, onProgress: (...all) => reported.push(all) }, async (_, options) => {
      options.onProgress!(1, 1);
      return untilStopped(options.signal);
    });
    stop.abort();
    await expect(work).rejects.toThrow("stopped after 2 of 2 steps");
    expect(reported).toEqual([
      [1, 2],
      [2, 2],
    ]);
  });
});

describe("on several devices", () => {
  const engine = "sim:0-1";

  it("an ensemble has the states and the readouts of one device", async () => {
    const configs = [5, 9, 4].map((size, seed) => ({ size, seed, noiseLevel: 0.01, connectionProbability: 0.7 }));
    const targets = Matrix.from(Array.from(wave(20, 1), (value) => [value]));
    const solved = async (name: string) => {
      await using ensemble = await ReservoirEnsemble.create(configs, { engine: name, profile: true });
      expect(ensemble.engine).toMatchObject({ name, plan: { engine: name } });
      const trainer = ridge();
      const sinks = configs.map(({ size }) => trainer.accumulator({ stateSize: size, inputSize: 1, outputSize: 1 }));
      const last = await ensemble.run(wave(20), { keep: "last", training: { targets, washout: 4, sinks } });
      const each = await ensemble.run({ each: configs.map((_, r) => wave(10 + r, r)) });
      expect(ensemble.profile).toBeDefined();
      return [last, each, sinks.map((sink) => trainer.solve(sink).weights)];
    };
    expect(await solved(engine)).toEqual(await solved("cpu"));
  });

  it("a batch has the states of one device, with noise too", async () => {
    for (const noiseLevel of [0, 0.1]) {
      const sequences = [20, 3, 7, 11, 5].map((steps, s) => wave(steps, s));
      const states = async (name: string) => {
        await using computer = await ReservoirComputer.create({ size: 12, seed: 1, noiseLevel }, { engine: name });
        const batches = [await computer.batch(sequences), await computer.batch(sequences, { keep: "last" })];
        return [...batches, await computer.run(wave(5)), computer.state];
      };
      expect(await states(engine)).toEqual(await states("cpu"));
    }
  });

  it("a classifier has the scores of one device", async () => {
    const cases = Array.from({ length: 7 }, (_, c) => Array.from(wave(20 + c, c), (value) => [c % 2 ? value : value * value]));
    const labels = cases.map((_, c) => (c % 2 ? "odd" : "even"));
    const scores = async (name: string) => {
      await using classifier = await Classifier.fit(cases, labels, {
        reservoir: { size: 8, seed: 2, connectionProbability: 1 },
        engine: name,
      });
      return await classifier.predictProba(cases);
    };
    expect(await scores(engine)).toEqual(await scores("cpu"));
  });

  it("sweeps have the scores of one device", async () => {
    const settings = [0.5, 0.8, 1.1].map((spectralRadius) => ({ spectralRadius }));
    const work = { reservoir: { size: 6, connectionProbability: 1 }, seeds: [1], settings, washout: 5 };
    const inputs = Array.from(wave(50), (value) => [value]);
    const targets = Array.from(wave(50, 1), (value) => [value]);
    const swept = async (name: string) => {
      const { scores, best } = await sweepReadouts({ ...work, inputs, targets, validation: 20, engine: name });
      const forecasts = await sweepForecasts({ ...work, series: [inputs], horizon: 5, starts: [30, 40], engine: name });
      return [scores, best.readout.weights, best.setting, forecasts.scores];
    };
    expect(await swept(engine)).toEqual(await swept("cpu"));
  });
});

it("names of devices that cannot be are refused", async () => {
  const create = (engine: string) => ReservoirComputer.create({ size: 5, connectionProbability: 1 }, { engine });
  await expect(create("sim:0-7")).rejects.toThrow("there is no device 3");
  await expect(create("sim:1-0")).rejects.toThrow("there is no engine of that name");
  await expect(create("cpu:0-1")).rejects.toThrow("there is no engine of that name");
  await using one = await create("sim:1");
  expect(one.engine.name).toBe("sim:1");
  await using several = await create("sim:all");
  expect(several.engine).toMatchObject({ name: "sim:all", plan: { details: { devices: 3 } } });
  expect((await probeEngines()).map(({ name }) => name)).toContain("sim");
});
