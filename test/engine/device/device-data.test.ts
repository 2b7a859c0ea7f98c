// Data that stays on the device: inputs that are there already and states that stay there, with the
// bits of a run whose data are on the host.
import { afterAll, describe, expect, it } from "vitest";
import { openDevice } from "../../../packages/gpu/src/index.js";
import { simulatedDriver } from "../../../packages/sim/src/index.js";
import { DenseBatchRun } from "../../../src/engine/cuda/batch/dense.js";
import { batchKernels, planBatch } from "../../../src/engine/cuda/batch/shapes.js";
import { statesThere } from "../../../src/engine/cuda/device-rows.js";
import { contextEngine } from "../../../src/engine/cuda/index.js";
import { referenceEngine } from "../../../src/engine/reference/index.js";
import {
  type AnyReservoirOptions,
  ArgumentError,
  Classifier,
  type ClassifierOptions,
  EngineUnavailableError,
  Matrix,
  ReservoirComputer,
} from "../../../src/index.js";
import { DeviceMatrix, DeviceSequences } from "../../../src/reservoir/index.js";
import { binPatternsOnDevice, DeviceSpikePattern, DeviceSpikePatterns, DeviceTemplates } from "../../../src/spikes/gpu/index.js";
import { binSpikes, jitterPattern, LiquidStateMachine, PatternTemplates, poissonPattern } from "../../../src/spikes/index.js";
import { amount, casesOf } from "../../exhaustive.js";
import { openTestDevice } from "../../gpu/device/device.js";
import { model, randomMatrix } from "../contract.js";

const context = openTestDevice();
afterAll(() => context.dispose());

/** Inputs on the device, those of a list one behind the other. */
function upload(matrices: readonly Matrix[], stepMs?: number): DeviceSequences {
  const [{ cols, data }] = matrices as [Matrix];
  const all = data instanceof Float32Array ? new Float32Array(sum(matrices)) : new Float64Array(sum(matrices));
  let at = 0;
  for (const matrix of matrices) {
    all.set(matrix.data, at);
    at += matrix.data.length;
  }
  const values = context.upload(all as Float32Array<ArrayBuffer>);
  return new DeviceSequences(context, values, { rows: matrices.map(({ rows }) => rows), cols, stepMs }, values);
}

const sum = (matrices: readonly Matrix[]) => matrices.reduce((total, { data }) => total + data.length, 0);

const lengths = [7, 3, 20, 20, 20, 5];

const spikesOf = (steps: number, seed: number) => {
  const uniform = randomMatrix(steps, 2, "float32", seed);
  return new Matrix(
    steps,
    2,
    Float32Array.from(uniform.data, (x) => (x > 0.6 ? 1 : 0)),
  );
};

const reservoirs: readonly (readonly [string, AnyReservoirOptions])[] = [
  ["small, each on a multiprocessor", { size: 40, inputSize: 2, storage: "dense", noiseLevel: 0.01, seed: 3 }],
  ["sparse", { size: 70, inputSize: 2, storage: "sparse", connectionProbability: 0.1, seed: 3 }],
  ["double, one after the other", { size: amount(200, 100), inputSize: 2, storage: "dense", precision: "float64", seed: 3 }],
  ["a liquid", { kind: "spiking", size: 40, inputSize: 2, seed: 1, background: { current: 14, deviation: 2 } }],
];

describe.each(reservoirs)("%s", (_, options) => {
  const isSpiking = "kind" in options;
  const precision = ("precision" in options && options.precision) || "float32";
  const given = lengths.map((steps, b) => (isSpiking ? spikesOf(steps, b) : randomMatrix(steps, 2, precision, b)));

  it("runs inputs that are on the device to states that stay there, in chunks", async () => {
    await using computer = await ReservoirComputer.create(options, { context });
    for (const every of [1, 3]) {
      computer.reset();
      const expected = await computer.run(given[2]!, { every });
      const after = computer.state;
      computer.reset();
      using inputs = upload([given[2]!], 1);
      using states = await computer.run(inputs.sequences[0]!, { keep: "device", every });
      expect(states.toMatrix()).toEqual(expected);
      expect(states.stepMs).toBe(every);
      expect(computer.state).toEqual(after);
      computer.reset();
      expect(await computer.run(inputs.sequences[0]!, { every })).toEqual(expected);
    }
  });

  it("runs a batch of inputs that are on the device to states that stay there", async () => {
    await using computer = await ReservoirComputer.create(options, { context });
    const all = await computer.batch(given);
    const last = await computer.batch(given, { keep: "last" });
    using inputs = upload(given);
    using allThere = await computer.batch(inputs.sequences, { keep: "device" });
    using lastThere = await computer.batch(inputs.sequences, { keep: "deviceLast" });
    expect(allThere.toMatrices()).toEqual(all);
    expect(lastThere.toMatrices()).toEqual(last);
    expect(lastThere.values.length).toBe(lengths.length * computer.model.size);
    using mixed = await computer.batch([given[0]!, ...inputs.sequences.slice(1)], { keep: "device" });
    expect(mixed.toMatrices()).toEqual(all);
    expect(await computer.batch(inputs.sequences)).toEqual(all);
  });

  it("gives the memory of inputs and states back", async () => {
    await using computer = await ReservoirComputer.create(options, { context });
    const buffers = () => context.held().filter(({ kind }) => kind === "buffer").length;
    (await computer.run(given[0]!, { keep: "device" })).dispose();
    const before = buffers();
    (await computer.run(given[0]!, { keep: "device" })).dispose();
    (await computer.batch(given, { keep: "device" })).dispose();
    await expect(computer.batch(given, { keep: "device", signal: AbortSignal.abort() })).rejects.toThrow("stopped");
    expect(buffers()).toBe(before);
  });
});

describe("a dense batch in step", () => {
  it.each(
    casesOf(
      batchKernels.filter(({ portable }) => portable),
      (_, k) => k === 0,
    ),
  )("takes inputs and leaves states on the device by $name, in chunks", async (kernel) => {
    const of = model({ size: 70, inputSize: 2, storage: "dense", seed: 3, noiseLevel: 0.05 });
    const given = lengths.map((steps, b) => randomMatrix(steps, 2, "float32", b));
    const session = await referenceEngine.open(of);
    const expected = await session.batch(
      given.map((inputs) => ({ inputs })),
      {},
    );
    await session.dispose();
    using inputs = upload(given);
    using stream = context.stream();
    const there = statesThere(context, of, stream);
    using into = there.side.allocate(lengths, undefined);
    const sequences = inputs.sequences.map((each) => ({ inputs: each }));
    const taker = there.keeper(into, sequences, false);
    const run = new DenseBatchRun(
      context,
      of,
      planBatch(context.info, of, 6, { kernels: [kernel] })!,
      sequences,
      { taker },
      16 * 5 * 70 * 4 * 5,
    );
    try {
      await run.run();
      expect(into.toMatrices()).toEqual(expected);
    } finally {
      run.dispose();
    }
  });
});

describe("a context that is shared", () => {
  it("names the engine, stays open with its owner, and runs what his kernels left in memory", async () => {
    const own = openTestDevice();
    const computer = await ReservoirComputer.create({ size: 10, seed: 1 }, { context: own });
    expect(computer.engine.name).toBe(contextEngine(own).name);
    expect(computer.engine.reason).toContain("the context was given");
    using values = own.alloc("f32", 12);
    using stream = own.stream();
    // Not waited for here: the reservoir does.
    stream.upload(
      values,
      Float32Array.from({ length: 12 }, (_, i) => i / 12),
    );
    using states = await computer.run(new DeviceMatrix(own, values, { rows: 12, cols: 1 }), { keep: "device" });
    await using host = await ReservoirComputer.create({ size: 10, seed: 1 }, { engine: "cpu" });
    expect(states.toMatrix()).toEqual(await host.run(Float32Array.from({ length: 12 }, (_, i) => i / 12)));
    await computer.dispose();
    expect(own.disposed).toBe(false);
    own.dispose();
    await expect(ReservoirComputer.create({ size: 10 }, { context: own })).rejects.toThrow(EngineUnavailableError);
  });

  it("is refused beside another engine, and where it is none", async () => {
    await expect(ReservoirComputer.create({ size: 10 }, { context, engine: "cpu" })).rejects.toThrow("leave engine out");
    await expect(ReservoirComputer.create({ size: 10 }, { context: "sim" as never })).rejects.toThrow("it takes an open device");
  });
});

describe("data on a device that cannot be used", () => {
  const options = { size: 10, inputSize: 2, seed: 1 } as const;
  const [empty, fifteen, double] = [context.zeros("f32", 0), context.zeros("f32", 15), context.zeros("f64", 10)];

  it("is refused by an engine of the host", async () => {
    await using host = await ReservoirComputer.create(options, { engine: "cpu" });
    using inputs = upload([randomMatrix(5, 2, "float32", 1)]);
    await expect(host.run(inputs.sequences[0]!)).rejects.toThrow('the engine "cpu" takes series on the host');
    await expect(host.run(randomMatrix(5, 2, "float32", 1), { keep: "device" })).rejects.toThrow('the engine "cpu" has them on the host');
  });

  it.each([
    ["of another width", () => new DeviceMatrix(context, fifteen, { rows: 5, cols: 3 }), "inputs has 3 columns; this reservoir takes 2"],
    ["of another type", () => new DeviceMatrix(context, double, { rows: 5, cols: 2 }), "inputs is of f64; this reservoir takes f32"],
    ["without rows", () => new DeviceMatrix(context, empty, { rows: 0, cols: 2 }), "inputs is empty"],
    [
      "that was disposed",
      () => {
        const there = upload([randomMatrix(5, 2, "float32", 1)]);
        there.dispose();
        return there.sequences[0]!;
      },
      /inputs: the buffer .* was disposed/,
    ],
    [
      "of another context",
      () => {
        const other = openDevice({ driver: simulatedDriver() });
        return new DeviceMatrix(other, other.zeros("f32", 10), { rows: 5, cols: 2 });
      },
      "inputs lies in memory of another context",
    ],
  ])("is refused by name: memory %s", async (_, make, message) => {
    await using computer = await ReservoirComputer.create(options, { context });
    const matrix = make();
    await expect(computer.run(matrix)).rejects.toThrow(ArgumentError);
    await expect(computer.run(matrix)).rejects.toThrow(message);
    await expect(computer.batch([matrix])).rejects.toThrow(ArgumentError);
    if (matrix.context !== context) matrix.context.dispose();
  });

  it("is refused for rows of another step length", async () => {
    await using liquid = await ReservoirComputer.create({ kind: "spiking", size: 20, inputSize: 2, timeStep: 0.5, seed: 1 }, { context });
    using one = upload([spikesOf(5, 1)], 1);
    using two = upload([spikesOf(5, 1)], 2);
    await expect(liquid.run(one.sequences[0]!)).rejects.toThrow("inputs has rows of 1 ms; this reservoir takes 0.5 ms (timeStep)");
    await using computer = await ReservoirComputer.create(options, { context });
    await expect(computer.batch([one.sequences[0]!, two.sequences[0]!])).rejects.toThrow(
      "sequences[1] has rows of 2 ms and sequences[0] of 1 ms; all take the same step length",
    );
  });

  it("is refused where memory and shape do not fit", () => {
    using values = context.zeros("f32", 10);
    using whole = context.zeros("i32", 10);
    expect(() => new DeviceMatrix(context, values, { rows: 3, cols: 2 })).toThrow("values holds 10 numbers; 3 x 2 take 6");
    expect(() => new DeviceMatrix(context, whole as never, { rows: 5, cols: 2 })).toThrow("a slice of i32");
    expect(() => new DeviceMatrix(context, values, { rows: 5, cols: 2, stepMs: 0 })).toThrow("stepMs is 0");
    expect(() => new DeviceMatrix(context, values, { rows: 2.5, cols: 4 })).toThrow("rows is 2.5");
  });

  it("names the spike that is too strong for a liquid, as on the host", async () => {
    await using liquid = await ReservoirComputer.create({ kind: "spiking", size: 20, inputSize: 2, seed: 1 }, { context });
    const strong = spikesOf(9, 1);
    strong.data[9] = 1e9;
    using inputs = upload([strong]);
    const onHost = await liquid.run(strong).catch((error: Error) => error.message);
    expect(onHost).toContain("the input of channel 1 is 1000000000 at step 4");
    await expect(liquid.run(inputs.sequences[0]!)).rejects.toThrow(onHost as string);
  });
});

describe("a chain from spikes to classes", () => {
  const [neurons, durationMs] = [6, 24];
  const types = ["a", "b", "c"];
  const labels = Array.from({ length: 9 }, (_, b) => types[b % 3]!);
  const originals = types.map((type) => poissonPattern({ seed: type, neuronCount: neurons, durationMs, rateHz: 150 }));
  const patterns = labels.map((_, b) => jitterPattern(originals[b % 3]!, { standardDeviationMs: 1, seed: b }));
  const rate = { size: 90, storage: "dense", seed: 3, inputScaling: 0.5 } as const;
  const liquid = { kind: "spiking", size: 40, seed: 1, background: { current: 14, deviation: 0 } } as const;

  it.each([
    ["a reservoir", rate],
    ["a liquid", liquid],
  ])("through %s gives the host's shares and matches, and no state leaves the device", async (_, reservoir) => {
    const settings = { reservoir, standardise: false, representation: "last" } as const;
    await using here = await Classifier.fit(
      patterns.map((pattern) => binSpikes(pattern, { binMs: 1 })),
      labels,
      { ...settings, engine: "cpu" },
    );
    using spikes = DeviceSpikePatterns.upload(context, patterns);
    using bins = await binPatternsOnDevice(context, spikes, { binMs: 1 });
    await using there = await Classifier.fit(bins.sequences, labels, { ...settings, context });
    const host = patterns.map((pattern) => binSpikes(pattern, { binMs: 1 }));
    expect(await there.predictProba(bins.sequences)).toEqual(await here.predictProba(host));
    expect(there.predictedOn).toEqual([contextEngine(context).name]);
    expect(await there.score(bins.sequences, labels)).toBe(1);
    using wide = await binPatternsOnDevice(context, spikes, { binMs: 2 });
    await expect(there.predict(wide.sequences)).rejects.toThrow(
      "sequences have rows of 2 ms and the classifier was trained on rows of 1 ms",
    );

    const [computer, onHost] = [there.computers[0]!, here.computers[0]!];
    const last = Matrix.from(
      (await onHost.batch(host, { keep: "last" })).map(({ data }) => data),
      "float32",
    );
    const templates = new PatternTemplates(labels.slice(0, 3), last.subarray(0, 3), { bins: 1, channels: last.cols });
    using states = await computer.batch(bins.sequences, { keep: "deviceLast" });
    using matcher = new DeviceTemplates(context, templates);
    const matches = await matcher.matchVectors(states);
    expect(matches).toEqual(labels.map((_, b) => templates.matchVector(last.row(b) as Float32Array)));
  });

  const backgrounds = [
    ["with noise", { current: 14, deviation: 2 }],
    ["without noise", { current: 14, deviation: 0 }],
  ] as const;

  it.each(casesOf(backgrounds, ([, { deviation }]) => deviation > 0))(
    "processes patterns on the device, through a liquid %s",
    async (_, background) => {
      const create = { size: 40, inputSize: neurons, seed: 1, background };
      await using here = await LiquidStateMachine.create(create, { engine: "cpu" });
      await using there = await LiquidStateMachine.create(create, { context });
      using spikes = DeviceSpikePatterns.upload(context, patterns);
      using one = DeviceSpikePattern.upload(context, patterns[1]!);
      for (const state of ["last", "mean"] as const)
        expect(await there.processAll(spikes, { state })).toEqual(await here.processAll(patterns, { state }));
      for (const given of [spikes, patterns]) {
        using states = await there.processAll(given, { keep: "device" });
        expect(states.toMatrix()).toEqual(await here.processAll(patterns));
      }
      const all = await here.processAll(patterns, { state: "all" });
      expect(all.map(({ rows, cols }) => [rows, cols])).toEqual(patterns.map(() => [durationMs, 40]));
      expect(await there.processAll(spikes, { state: "all" })).toEqual(all);
      for (const given of [spikes, patterns]) {
        using states = await there.processAll(given, { state: "all", keep: "device" });
        expect(states.toMatrices()).toEqual(all);
        expect(states.sequences[0]!.stepMs).toBe(1);
      }
      await expect(there.process(one, { state: "all" as "last" })).rejects.toThrow('state is "all"; it takes "last" or "mean"');
      expect(await there.process(one)).toEqual(await here.process(patterns[1]!));
      expect(await there.run(one)).toEqual(await here.run(patterns[1]!));
      await expect(here.processAll(spikes)).rejects.toThrow('the engine of the reservoir is "cpu"; it takes one on a device');
      await expect(there.processAll(spikes, { keep: "device", state: "mean" })).rejects.toThrow(
        'state is "mean"; it takes "last" or "all" beside keep "device"',
      );
    },
  );

  it.each(casesOf(["float32", "float64"] as const, (each) => each === "float32"))(
    "takes z-scores of what lies there, with the host's bits: %s",
    async (precision) => {
      const host = patterns.map((pattern, b) => {
        const { rows, cols, data } = binSpikes(pattern, { binMs: 1 });
        // A column that never changes, one that changes by its last bit, and rows of several lengths.
        const kept = rows - (b % 2) * 3;
        return Matrix.from(
          new Matrix(
            kept,
            cols,
            data.slice(0, kept * cols).map((value, i) => {
              if (i % cols === 4) return 2;
              return i % cols === 3 ? 1013 + (i % 2) * 2 ** -43 : value + (i % 7) * 0.1;
            }),
          ),
          precision,
        );
      });
      const reservoir = { ...rate, size: 30, precision };
      for (const representation of ["last+mean", "statistics"] as const) {
        await using here = await Classifier.fit(host, labels, { reservoir, representation, engine: "cpu" });
        using together = upload(host, 1);
        await using there = await Classifier.fit(together.sequences, labels, { reservoir, representation, context });
        const bytes = await there.toBytes();
        expect(bytes).toEqual(await here.toBytes());
        const apart = host.map((one) => upload([one], 1));
        const expected = await here.predictProba(host);
        for (const given of [together.sequences, apart.flatMap(({ sequences }) => sequences)])
          expect(await there.predictProba(given)).toEqual(expected);
        expect(there.predictedOn).toEqual([contextEngine(context).name]);
        for (const one of apart) one.dispose();
      }
    },
  );

  it.each(["last", "mean", "last+mean", "statistics"] as const)("joins statistics of inputs that lie there: %s", async (representation) => {
    const host = patterns.map((pattern) => binSpikes(pattern, { binMs: 1 }));
    const short = host.map((one, b) => one.subarray(0, one.rows - (b % 2)));
    const settings = { reservoir: rate, representation, input: true, standardise: false, differences: false, washout: 2 } as const;
    await using here = await Classifier.fit(host, labels, { ...settings, engine: "cpu" });
    using even = upload(host, 1);
    using uneven = upload(short, 1);
    await using there = await Classifier.fit(even.sequences, labels, { ...settings, context });
    expect(await there.toBytes()).toEqual(await here.toBytes());
    expect(await there.predictProba(uneven.sequences)).toEqual(await here.predictProba(short));
    await expect(there.computers[0]!.statistics(even.sequences, { last: false, mean: true, washout: 99 })).rejects.toThrow("washout is 99");
  });

  it("refuses what a classifier would need on the host", async () => {
    using bins = await binPatternsOnDevice(context, patterns, { binMs: 1 });
    const trained = (options: Partial<ClassifierOptions>) =>
      Classifier.fit(bins.sequences, labels, { reservoir: rate, representation: "last+mean", context, ...options });
    await expect(trained({ representation: "statistics", input: true, standardise: false })).rejects.toThrow(
      "sequences[0] lies on a device and input and differences are true; it takes series on the host",
    );
    await expect(trained({ input: true })).rejects.toThrow("sequences[0] lies on a device and input and standardise are true");
    const mixed = [bins.sequences[0]!, ...bins.toMatrices().slice(1)];
    await expect(Classifier.fit(mixed, labels, { reservoir: rate, representation: "mean", context })).rejects.toThrow(
      "sequences[1] lies on the host and sequences[0] on a device; with standardise all lie in one place",
    );
    await expect(
      Classifier.fit(mixed, labels, { reservoir: rate, representation: "statistics", standardise: false, context }),
    ).rejects.toThrow('sequences[0] on a device; with "statistics" all lie in one place');
    await expect(trained({ standardise: false, representation: "output" })).rejects.toThrow('representation is "output"');
  });
});
