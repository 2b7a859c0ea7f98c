// What `profile: true` measures: phases by the host's clock on the CPU engines, and by events on a
// device, here the simulated one.
import { afterAll, describe, expect, it } from "vitest";
import "../../src/index.js";
import { openDevice } from "../../packages/gpu/src/index.js";
import { Matrix } from "../../packages/numerics/src/index.js";
import { deviceEngine } from "../../src/engine/cuda/index.js";
import { PhaseClock } from "../../src/engine/phase-clock.js";
import { sweepReadouts } from "../../src/model/index.js";
import { GramAccumulator } from "../../src/readout/index.js";
import "../../packages/sim/src/index.js";
import {
  addProfiles,
  loopTime,
  NonFiniteStateError,
  type PhaseName,
  type PhaseProfile,
  type Profile,
  ReservoirComputer,
  ReservoirEnsemble,
} from "../../src/reservoir/index.js";
import { model } from "./contract.js";

const config = { size: 20, inputSize: 2, connectionProbability: 0.5, seed: 3 };
const opened: ReservoirComputer[] = [];
afterAll(async () => {
  for (const computer of opened) await computer.dispose();
});

async function open(engine: string, options: object = {}, more: object = {}): Promise<ReservoirComputer> {
  const computer = await ReservoirComputer.create({ ...config, ...more }, { engine, profile: true, ...options });
  opened.push(computer);
  return computer;
}

function series(rows: number, cols: number): Matrix {
  const out = Matrix.zeros(rows, cols);
  for (let i = 0; i < out.data.length; i++) out.data[i] = Math.sin(i);
  return out;
}

const ones = (rows: number): Matrix => new Matrix(rows, 1, new Float32Array(rows).fill(1));
const phaseOf = ({ phases }: Profile, wanted: PhaseName): PhaseProfile | undefined => phases.find(({ phase }) => phase === wanted);
const namesOf = ({ phases }: Profile): string[] => phases.map(({ phase, clock }) => `${clock} ${phase}`).sort();

/** A readout of two outputs that predict the next input. */
const readout = {
  weights: Matrix.zeros(2, 20, "float64") as Matrix<Float64Array>,
  intercept: Float64Array.of(0.1, 0.2),
  features: { input: false, squares: false, state: "plain" as const },
  stateSize: 20,
  inputSize: 2,
};

describe("a profile on the CPU", () => {
  it("has the phases of the calls that were made, by the host's clock, and no others", async () => {
    const computer = await open("cpu");
    await computer.run(series(50, 2));
    const { engine, calls, milliseconds, plan, phases, device } = computer.profile!;
    expect({ engine, calls, device }).toEqual({ engine: "cpu", calls: 1, device: undefined });
    expect(plan).toEqual(computer.engine.plan);
    expect(namesOf(computer.profile!)).toEqual(["host keep", "host run"]);
    expect(phaseOf(computer.profile!, "run")!.steps).toBe(50);
    // Phases on the host lie one after the other within the call.
    expect(phases.reduce((sum, phase) => sum + phase.milliseconds, 0)).toBeLessThanOrEqual(milliseconds);
  });

  it("tells training and a closed loop's readout from the steps", async () => {
    const computer = await open("reference");
    const sink = new GramAccumulator({ stateSize: 20, inputSize: 2, outputSize: 1, features: readout.features });
    await computer.train(series(30, 2), series(30, 1), sink);
    await computer.generate(5, readout);
    expect(namesOf(computer.profile!)).toEqual(["host readout", "host run", "host train"]);
    expect(phaseOf(computer.profile!, "run")!.steps).toBe(35);
    expect(phaseOf(computer.profile!, "readout")!.pieces).toBe(5);
  });

  it("is not there unless it was asked for", async () => {
    const computer = await open("cpu", { profile: false });
    await computer.run(series(5, 2));
    expect(computer.profile).toBeUndefined();
  });
});

describe("a profile on a device", () => {
  it("times upload, drive, loop and download on the device, and counts bytes each way and launches", async () => {
    const computer = await open("sim", { plan: "streamed" });
    await computer.run(series(40, 2));
    const profile = computer.profile!;
    expect(namesOf(profile)).toEqual([
      "host keep",
      "simulated check",
      "simulated download",
      "simulated drive",
      "simulated run",
      "simulated upload",
    ]);
    // The simulated device takes 16 steps a chunk: 40 steps are three.
    for (const phase of ["upload", "drive", "run", "check", "download"] as const) expect(phaseOf(profile, phase)!.pieces, phase).toBe(3);
    for (const phase of ["drive", "run", "check"] as const) expect(phaseOf(profile, phase)!.milliseconds, phase).toBeGreaterThan(0);
    expect(phaseOf(profile, "run")!.steps).toBe(40);
    // 40 x 2 inputs and 40 x 20 states in binary32; the index of the first bad state, 8 bytes, of
    // each chunk comes over with its check.
    expect(phaseOf(profile, "upload")!.bytes).toBe(40 * 2 * 4);
    expect(phaseOf(profile, "download")!.bytes).toBe(40 * 20 * 4);
    expect(profile.device!.bytesToHost).toBe(40 * 20 * 4 + 3 * 8);
    expect(profile.device!.bytesToDevice).toBe(40 * 2 * 4);
    expect(profile.device!.kernels).toMatchObject({ matvec_input: 3, first_non_finite_f32: 3 });
    const runs = Object.values(profile.device!.kernels).reduce((sum, times) => sum + times, 0);
    expect(profile.device!.launches).toBe(runs);
  });

  it("leaves out the download where no states were asked for", async () => {
    const computer = await open("sim");
    const sink = new GramAccumulator({ stateSize: 20, inputSize: 2, outputSize: 1, features: readout.features });
    await computer.train(series(20, 2), series(20, 1), sink, { washout: 4 });
    const profile = computer.profile!;
    expect(namesOf(profile)).toContain("simulated train");
    expect(namesOf(profile)).toContain("host sums");
    expect(phaseOf(profile, "train")).toMatchObject({ steps: 16, pieces: 2 });
    expect(phaseOf(profile, "keep")).toBeUndefined();
    // In this phase only the index of each chunk's first bad state comes over.
    expect(phaseOf(profile, "download")!.bytes).toBe(2 * 8);
  });

  it("counts what graphs launch, and the weights that each step reads where they stay in memory", async () => {
    const computer = await open("sim", { plan: "streamed" });
    await computer.generate(6, readout);
    const generated = computer.profile!;
    expect(phaseOf(generated, "closedLoop")).toMatchObject({ clock: "simulated", steps: 6 });
    expect(phaseOf(generated, "run")).toBeUndefined();
    expect(generated.device!.graphLaunches).toBe(1);
    expect(generated.device!.kernels["readout_f32"]).toBe(6);
    await computer.run(series(4, 2));
    const run = phaseOf(computer.profile!, "run")!;
    expect(run.bytes! % 4).toBe(0);
    expect(run.bytes! / 4).toBeGreaterThanOrEqual(20 * 20 * 0.5 * 4 * 0.5);
    expect(run.gigabytesPerSecond).toBeCloseTo(run.bytes! / run.milliseconds / 1e6, 12);
  });

  it("times batches, single steps and spiking networks too", async () => {
    const batch = await open("sim");
    await batch.batch([series(3, 2), series(5, 2)]);
    expect(phaseOf(batch.profile!, "batch")).toMatchObject({ clock: "simulated", steps: 8 });
    const single = await open("sim", { plan: "streamed" });
    single.step([1, 2]);
    single.step([2, 1]);
    expect(namesOf(single.profile!)).toEqual(["host download", "simulated drive", "simulated run", "simulated upload"]);
    expect(single.profile).toMatchObject({ calls: 2, device: { bytesToDevice: 2 * 2 * 4, bytesToHost: 2 * 20 * 4 } });
    const spiking = await ReservoirComputer.create({ kind: "spiking", size: 16, inputSize: 2, seed: 1 }, { engine: "sim", profile: true });
    await spiking.run(series(4, 2));
    expect(namesOf(spiking.profile!)).toEqual(["host keep", "simulated download", "simulated run", "simulated upload"]);
    await spiking.dispose();
  });

  it("goes on after a call that failed, and gives its events back", async () => {
    const engine = deviceEngine({ name: "sim", open: () => openDevice("sim"), stepsPerChunk: 16 });
    const session = await engine.open(
      model({ size: 6, inputSize: 1, activation: "identity", spectralRadius: 1000, connectionProbability: 1, leakRate: 1 }),
      {
        profile: true,
      },
    );
    await expect(session.run({ inputs: ones(60) }, {})).rejects.toThrow(NonFiniteStateError);
    const failed = session.profile!()!;
    session.reset();
    await session.run({ inputs: ones(8) }, {});
    expect(loopTime(session.profile!()!)!.steps).toBe(loopTime(failed)!.steps + 8);
    await session.dispose();
    // Kernels stay loaded for the next session.
    const held = engine
      .context()
      .held()
      .filter(({ kind }) => kind !== "module");
    expect(held).toEqual([]);
    engine.close();
  });

  it("changes no bit, records no event unless asked for, and is still there after disposal", async () => {
    const [plain, profiled] = [await open("sim", { profile: false }), await open("sim")];
    const states = await plain.run(series(20, 2));
    expect(plain.profile).toBeUndefined();
    expect((await profiled.run(series(20, 2))).data).toEqual(states.data);
    await profiled.dispose();
    expect(loopTime(profiled.profile!)).toMatchObject({ steps: 20 });
  });
});

describe("a profile of an ensemble", () => {
  const configs = [1, 2, 3].map((seed) => ({ size: 24, seed }));

  it("has upload, loop and download on the device, and sums of training", async () => {
    await using ensemble = await ReservoirEnsemble.create(configs, { engine: "sim", profile: true });
    const { plan } = ensemble.engine;
    // Three reservoirs of 24 neurons: their weights are on their way before the first run.
    expect(ensemble.profile!.device!.bytesToDevice).toBe(plan.bytes);
    const sinks = configs.map(() => new GramAccumulator({ stateSize: 24, inputSize: 1, outputSize: 1, features: readout.features }));
    await ensemble.run(series(20, 1), { keep: "last", training: { targets: ones(20), washout: 4, sinks } });
    const profile = ensemble.profile!;
    expect(namesOf(profile)).toEqual(["host sums", "simulated batch", "simulated download", "simulated train", "simulated upload"]);
    expect(profile).toMatchObject({ engine: "sim", plan: { details: { plan: "ensemble" } }, calls: 1 });
    // 20 steps of three in chunks of 16 and 4; 16 of them train.
    expect(phaseOf(profile, "batch")).toMatchObject({ steps: 60, pieces: 2 });
    expect(phaseOf(profile, "train")).toMatchObject({ steps: 48, pieces: 2 });
    expect(phaseOf(profile, "download")!.bytes).toBe(3 * 24 * 4);
    expect(profile.device!.launches).toBe(4);
  });

  it("sums what the members cost one after the other", async () => {
    await using ensemble = await ReservoirEnsemble.create(configs, { engine: "cpu", profile: true });
    await ensemble.run(series(20, 1));
    await ensemble.run(series(10, 1), { keep: "none" });
    expect(namesOf(ensemble.profile!)).toEqual(["host keep", "host run"]);
    expect(phaseOf(ensemble.profile!, "run")!.steps).toBe(3 * 30);
    expect(ensemble.profile!.calls).toBe(2);
  });

  it("is not there unless it was asked for", async () => {
    for (const engine of ["cpu", "sim"]) {
      await using ensemble = await ReservoirEnsemble.create(configs, { engine });
      await ensemble.run(series(3, 1));
      expect(ensemble.profile).toBeUndefined();
    }
  });
});

describe("a profile of a sweep", () => {
  const options = {
    ...{ reservoir: { size: 16 }, seeds: [1, 2], settings: [{ lambda: 1e-3 }, { spectralRadius: 0.5, lambda: 1e-3 }] },
    ...{ inputs: series(60, 1), targets: series(60, 1), washout: 10, validation: 12 },
  };

  it("tells weights, loop, sums, solving and scoring on the device apart", async () => {
    const { profile } = await sweepReadouts({ ...options, engine: "sim", profile: true });
    const phases = ["batch", "download", "scale", "score", "solve", "train", "upload"].map((phase) => `simulated ${phase}`);
    expect(namesOf(profile!)).toEqual(["host draw", "host radius", ...phases]);
    expect(phaseOf(profile!, "radius")!.pieces).toBe(2);
    expect(profile).toMatchObject({ engine: "sim", calls: 1, plan: { details: { plan: "sweep", reservoirs: 4, seeds: 2, waves: 1 } } });
    // Four reservoirs: 10 rows before training, 38 that train, 12 that are predicted.
    expect(phaseOf(profile!, "batch")!.steps).toBe(4 * 60);
    expect(phaseOf(profile!, "train")!.steps).toBe(4 * 38);
    expect(phaseOf(profile!, "score")!.steps).toBe(4 * 12);
    expect(phaseOf(profile!, "solve")!.pieces).toBe(1);
    // Of each a sum of squares, and whether its factorisation and its states are good: 8, 4 and 8
    // bytes.
    expect(phaseOf(profile!, "download")!.bytes).toBe(4 * (8 + 4 + 8));
    expect(profile!.device!.kernels).toMatchObject({ ensemble_scale_f32: 5, training_solve: 1 });
  });

  it("has the host's phases on an engine that does one after the other, and is not there unless it was asked for", async () => {
    const { profile } = await sweepReadouts({ ...options, engine: "cpu", profile: true });
    expect(namesOf(profile!)).toEqual(["host draw", "host keep", "host radius", "host run", "host score", "host solve", "host train"]);
    expect(phaseOf(profile!, "solve")!.pieces).toBe(4);
    expect(phaseOf(profile!, "run")!.steps).toBe(4 * 60);
    expect((await sweepReadouts({ ...options, engine: "sim" })).profile).toBeUndefined();
  });
});

describe("profiles together", () => {
  it("sum phase by phase, and bandwidth is that of all bytes in all the time", () => {
    const plan = { engine: "sim", summary: "", bytes: 0, details: {} };
    const work = { launches: 2, graphLaunches: 0, kernels: { drive_f32: 2 }, bytesToDevice: 8, bytesToHost: 0 };
    const one: Profile = {
      ...{ engine: "sim", plan, calls: 1, milliseconds: 10, device: work },
      phases: [{ phase: "upload", clock: "device", milliseconds: 1, pieces: 1, bytes: 1e6, gigabytesPerSecond: 1 }],
    };
    const two: Profile = {
      ...one,
      phases: [
        { ...one.phases[0]!, milliseconds: 3 },
        { phase: "keep", clock: "host", milliseconds: 1, pieces: 1 },
      ],
    };
    expect(addProfiles([one, two])).toEqual({
      ...{ engine: "sim", plan, calls: 2, milliseconds: 20 },
      phases: [
        { phase: "upload", clock: "device", milliseconds: 4, pieces: 2, bytes: 2e6, gigabytesPerSecond: 0.5 },
        { phase: "keep", clock: "host", milliseconds: 1, pieces: 1 },
      ],
      device: { launches: 4, graphLaunches: 0, kernels: { drive_f32: 4 }, bytesToDevice: 16, bytesToHost: 0 },
    });
    expect(addProfiles([])).toBeUndefined();
  });
});

describe("a clock of phases", () => {
  it("sums by phase and clock, and gives bandwidth as bytes by time", () => {
    const clock = new PhaseClock();
    clock.add({ phase: "upload", clock: "device", milliseconds: 2, bytes: 3e6 });
    clock.add({ phase: "upload", clock: "device", milliseconds: 1, bytes: 3e6 });
    clock.add({ phase: "upload", clock: "host", milliseconds: 5 });
    // 6e6 bytes in 3 ms are 2e9 bytes a second.
    expect(clock.read().phases).toEqual([
      { phase: "upload", clock: "device", milliseconds: 3, pieces: 2, bytes: 6e6, gigabytesPerSecond: 2 },
      { phase: "upload", clock: "host", milliseconds: 5, pieces: 1 },
    ]);
  });

  it("drops a piece of work that an error left open", () => {
    const clock = new PhaseClock();
    clock.enter("train");
    clock.enter("run", 4);
    clock.leave();
    clock.leave();
    expect(clock.read().phases.map(({ phase, steps }) => [phase, steps])).toEqual([["run", 4]]);
  });
});
