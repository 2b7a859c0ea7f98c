// Sweeps on the host: the scores are those of readouts trained and applied by hand, and "auto"
// works without a GPU.
import "../../src/index.js";
import type { Worker } from "node:worker_threads";
import { afterAll, describe, expect, it } from "vitest";
import { cpuEngine } from "../../src/engine/cpu/index.js";
import { sweepReadouts } from "../../src/model/index.js";
import { ridge } from "../../src/readout/index.js";
import { threadsFor } from "../../src/reservoir/evaluate/base-drawing.js";
import { spareThreads } from "../../src/reservoir/evaluate/draw-threads.js";
import {
  type DeviceAbilities,
  type Evaluation,
  ReservoirComputer,
  type registerTopology as register,
  registerEngine,
} from "../../src/reservoir/index.js";
import { randomMatrix } from "../engine/contract.js";
import { casesOf } from "../exhaustive.js";

const builtFile = (part: string) => new URL(`../../dist/api/${part}.js`, import.meta.url).href;
const built = (await import(builtFile("model"))) as { sweepReadouts: typeof sweepReadouts };
const { registerTopology } = (await import(builtFile("reservoir"))) as { registerTopology: typeof register };

const data = { inputs: randomMatrix(60, 1, "float64", 1), targets: randomMatrix(60, 1, "float64", 2), washout: 10, validation: 20 };
const settings = [
  { spectralRadius: 0.5, leakRate: 0.7 },
  { spectralRadius: 1.1, inputScaling: 0.2, bias: 0.4, lambda: 0.1 },
];

describe("sweepReadouts", () => {
  it("scores what a reservoir and a readout made by hand give", async () => {
    const { scores, best, member } = await sweepReadouts({ reservoir: { size: 15 }, seeds: [1, 2], settings, ...data, engine: "cpu" });
    for (const [s, seed] of [1, 2].entries())
      for (const [i, { lambda = 1e-6, ...setting }] of settings.entries()) {
        await using computer = await ReservoirComputer.create({ size: 15, seed, ...setting }, { engine: "cpu" });
        const states = await computer.run(data.inputs);
        const readout = ridge({ lambda }).fit(states.subarray(0, 40), data.targets.subarray(0, 40), { washout: 10 });
        const predicted = readout.predict(states.subarray(40)).data;
        const wanted = Array.from(data.targets.subarray(40).data);
        const mean = wanted.reduce((sum, y) => sum + y, 0) / 20;
        const error = wanted.reduce((sum, y, t) => sum + (Math.fround(predicted[t]!) - y) ** 2, 0);
        const variance = wanted.reduce((sum, y) => sum + (y - mean) ** 2, 0);
        expect(scores.at(s, i)).toBeCloseTo(error / variance, 12);
        expect(member(s, i)).toMatchObject({ seed, lambda, score: scores.at(s, i) });
        if (member(s, i).score === best.score) expect(best.readout.weights.data).toEqual(readout.weights.data);
      }
  });

  it("runs a reservoir once for settings that differ in lambda alone, with the scores of each alone", async () => {
    let opened = 0;
    const counted: typeof cpuEngine = {
      ...cpuEngine,
      name: "counting opened",
      open(...given) {
        opened++;
        return cpuEngine.open(...given);
      },
    };
    registerEngine("counting opened", async () => counted, { automatic: false });
    const path = [1e-12, 1e-6, 1].flatMap((lambda) => settings.map((setting) => ({ ...setting, lambda })));
    const given = { reservoir: { size: 15 }, seeds: [1, 2], ...data, engine: "counting opened" };
    const { scores } = await sweepReadouts({ ...given, settings: path });
    // Two settings a seed, and the best once more.
    expect(opened).toBe(5);
    for (const [i, setting] of path.entries()) {
      const alone = await sweepReadouts({ ...given, settings: [setting], engine: "cpu" });
      expect([scores.at(0, i), scores.at(1, i)]).toEqual([...alone.scores.data]);
    }
  });

  it("draws leak rates from a range as the reservoir of a seed alone does", async () => {
    const reservoir = { size: 20, leakRate: { from: 0.1, to: 1 }, precision: "float64" } as const;
    const swept = await sweepReadouts({ ...data, reservoir, seeds: [1, 2], settings: [{}], washout: 10, validation: 10 });
    for (const [s, seed] of [1, 2].entries()) {
      const alone = await sweepReadouts({ ...data, reservoir: { ...reservoir, seed }, settings: [{}], washout: 10, validation: 10 });
      expect(swept.scores.at(s, 0)).toBe(alone.scores.at(0, 0));
    }
    expect(swept.scores.at(0, 0)).not.toBe(swept.scores.at(1, 0));
  });

  it("takes the description's own seed and an engine by itself", async () => {
    const { engine, member } = await sweepReadouts({ reservoir: { size: 5, seed: 7 }, settings: [{}], ...data });
    expect(engine.reason).toMatch(/\w/);
    expect(member(0, 0).seed).toBe(7);
  });

  it.each([
    [{ settings: [] }, "settings is an array of 0; it takes a list of at least one"],
    [{ settings: { lambda: 1 } }, "it takes a list of at least one, such as [{lambda: 1e-6}]"],
    [{ seeds: [] }, "seeds is an array of 0; it takes a list of at least one seed"],
    [{ reservoir: { size: 5, feedback: { size: 1 } } }, "reservoir has feedback"],
    [{ validation: 0 }, "validation is 0"],
    [{ validation: 50 }, "leave 0 to train on"],
    [{ targets: randomMatrix(59, 1, "float64", 2) }, "targets has 59 rows and inputs has 60"],
    [{ settings: [{ lambda: -1 }] }, "lambda"],
    [{ settings: [{ spectralRadius: -1 }] }, "spectralRadius"],
  ])("refuses %j", async (wrong, message) => {
    await expect(sweepReadouts({ reservoir: { size: 5 }, settings: [{}], ...data, engine: "cpu", ...wrong } as never)).rejects.toThrow(
      message,
    );
  });
});

describe("a sweep whose drawing is worth threads, from the built package", () => {
  const workers: Worker[] = [];
  let drawn = 0;
  const note = (worker: Worker) => {
    workers.push(worker);
    worker.on("message", ({ parts }) => {
      drawn += parts ? 1 : 0;
    });
  };
  process.on("worker", note);
  afterAll(() => void process.off("worker", note));
  const seeds = Array.from({ length: 13 }, (_, s) => s);
  const series = { ...data, inputs: data.inputs.data, targets: data.targets.data };
  const many = { reservoir: { size: 290 }, seeds, settings: [{ lambda: 0.1 }], ...series, engine: "cpu" };
  const alone = async (seed: number, given: object = {}) =>
    (await built.sweepReadouts({ ...many, ...given, seeds: [seed] })).scores.at(0, 0);
  const ended = () => workers.splice(0).map(({ threadId }) => threadId);
  const allEnded = Array.from({ length: spareThreads() }, () => -1);

  it("starts as many as pay, and no more than there are seeds for beside the caller's own", () => {
    expect(threadsFor(100, 299, 31)).toBe(0);
    expect(threadsFor(96, 345, 31)).toBe(4);
    expect(threadsFor(3, 400, 31)).toBe(2);
    expect(threadsFor(1000, 21_000, 31)).toBe(31);
    expect(threadsFor(1000, 21_000, 0)).toBe(0);
  });

  it("starts none for a small one", async () => {
    await built.sweepReadouts({ ...many, reservoir: { size: 20 } });
    expect(workers).toHaveLength(0);
  });

  it.each(
    casesOf(
      [{}, { reservoir: { size: 800, radiusMethod: "circularLaw" } }, { reservoir: { size: 290, topology: { type: "orthogonal" } } }],
      (_, k) => k === 0,
    ),
  )("has the scores of one by one, and ends its threads, for %j", async (given) => {
    drawn = 0;
    const { scores } = await built.sweepReadouts({ ...many, ...(given as object) });
    for (const seed of [0, 7, 12]) expect(scores.at(seed, 0)).toBe(await alone(seed, given));
    expect(drawn).toBe(13);
    expect(ended()).toEqual(allEnded);
  });

  it("does without a thread that ends before", async () => {
    drawn = 0;
    process.once("worker", (worker: Worker) => void worker.terminate());
    const { scores } = await built.sweepReadouts(many);
    for (const seed of [0, 7, 12]) expect(scores.at(seed, 0)).toBe(await alone(seed));
    expect(drawn).toBe(spareThreads() > 1 ? 13 : 0);
    expect(ended()).toEqual(allEnded);
  });

  it("draws a topology itself that threads do not know", async () => {
    const { topologies } = await import("../../src/reservoir/topologies/index.js");
    registerTopology({ ...topologies.get("erdosRenyi"), name: "known-here" });
    drawn = 0;
    const { scores } = await built.sweepReadouts({ ...many, reservoir: { size: 290, topology: { type: "known-here" } as never } });
    for (const seed of [0, 12]) expect(scores.at(seed, 0)).toBe(await alone(seed));
    expect(drawn).toBe(0);
    expect(ended()).toEqual(allEnded);
  });

  it("stops while it draws, and leaves no thread", async () => {
    const controller = new AbortController();
    const swept = built.sweepReadouts({ ...many, reservoir: { size: 1500, radiusMethod: "dense" }, signal: controller.signal });
    setTimeout(() => controller.abort("enough"), 100);
    await expect(swept).rejects.toThrow("stopped after 0 of 780 steps");
    expect(ended()).toEqual(allEnded);
  });
});

describe("a sweep in parts", () => {
  it("gives the engine some seeds after the others, and puts scores, progress and the best together", async () => {
    const works: Evaluation[] = [];
    const host = cpuEngine;
    const engine = {
      ...host,
      name: "in parts",
      // A sweep asks nothing else of the device.
      device: {
        async evaluate(work: Evaluation) {
          works.push(work);
          work.onProgress?.(work.members.length * 60, work.members.length * 60);
          for (const [m, { base, bias }] of work.members.entries())
            work.ask.take(m, Float64Array.of(bias + work.bases[base]!.model.noiseKey[0] / 2 ** 32) as never, 0);
          return { plan: host.plan(work.bases[0]!.model) };
        },
      } as Partial<DeviceAbilities> as DeviceAbilities,
    };
    registerEngine(engine.name, async () => engine, { automatic: false });
    const biases = Array.from({ length: 4100 }, (_, i) => ({ bias: (i % 4099) / 100 }));
    const seeds = [1, 2, 3, 4, 5];
    const reports: number[] = [];
    const options = { reservoir: { size: 2 }, seeds, settings: biases, ...data, engine: engine.name, profile: true };
    const { scores, best, profile } = await sweepReadouts({ ...options, onProgress: (done) => reports.push(done) });
    expect(works.map(({ members, bases }) => [members.length, bases.length])).toEqual([
      [8200, 2],
      [8200, 2],
      [4100, 1],
    ]);
    const drawn = works.flatMap(({ bases }) => bases.map(({ model }) => model.noiseKey[0] / 2 ** 32));
    const target = Array.from(data.targets.subarray(40).data);
    const mean = target.reduce((sum, y) => sum + y, 0) / 20;
    const variance = target.reduce((sum, y) => sum + (y - mean) ** 2, 0);
    for (const [s, i] of [
      [0, 0],
      [3, 4098],
      [4, 17],
    ] as const)
      expect(scores.at(s, i) * variance).toBeCloseTo(drawn[s]! + i / 100, 9);
    expect(best).toMatchObject({ seed: seeds[drawn.indexOf(Math.min(...drawn))], setting: biases[0], score: Math.min(...scores.data) });
    expect(reports).toEqual(reports.toSorted((a, b) => a - b));
    expect(reports.at(-1)).toBe(5 * 4100 * 60);
    expect(profile!.plan.details).toMatchObject({ reservoirs: 20500, parts: 3 });
  });
});
