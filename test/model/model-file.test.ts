import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decodeSafetensors, encodeSafetensors, FileError, type SafetensorsTensor } from "../../packages/io/src/index.js";
import { toSparse } from "../../packages/numerics/src/index.js";
import {
  Classifier,
  Forecaster,
  loadModel,
  loadReservoir,
  Matrix,
  ReservoirComputer,
  type ReservoirOptions,
  ridge,
  saveReservoir,
} from "../../src/index.js";
import { decodeReservoir, encodeReservoir, packageVersion } from "../../src/model/index.js";
import { stableJson } from "../../src/model/stable-json.js";
import { mackeyGlass } from "../../src/tasks/index.js";
import { amount } from "../exhaustive.js";

const series = mackeyGlass(400);
const cases = Array.from({ length: 12 }, (_, b) => series.subarray(20 * b, 20 * b + 12 + b));
const labels = cases.map((_, b) => (b % 2 === 0 ? "even" : "odd"));

let folder: string;
let forecaster: Forecaster;
let classifier: Classifier;
let computer: ReservoirComputer;
const readout = () => ridge({ input: true }).fit(states, series.subarray(1, 300), { inputs: series.subarray(0, 299) });
let states: Matrix;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-model-"));
  forecaster = await Forecaster.fit(series.subarray(0, 300), {
    reservoir: { size: 30 },
    standardise: true,
    readout: { lambdas: [1e-8, 1e-4] },
  });
  classifier = await Classifier.fit(cases, labels, { reservoir: { size: 8 }, members: 3, representation: "output", input: true });
  computer = await ReservoirComputer.create({ size: 20, connectionProbability: 0.5, bias: 0.1, precision: "float64", seed: "file" });
  states = await computer.run(series.subarray(0, 299));
});
afterAll(async () => {
  for (const one of [forecaster, classifier, computer]) await one.dispose();
  await rm(folder, { recursive: true });
});

/** The bytes of each kind of model, and how they are opened. */
const kinds = {
  forecaster: {
    bytes: () => forecaster.toBytes(),
    open: (bytes: Uint8Array) => Forecaster.fromBytes(bytes),
    again: (one: Forecaster) => one.toBytes(),
  },
  classifier: {
    bytes: () => classifier.toBytes(),
    open: (bytes: Uint8Array) => Classifier.fromBytes(bytes),
    again: (one: Classifier) => one.toBytes(),
  },
  reservoir: {
    bytes: () => encodeReservoir(computer, readout()),
    open: (bytes: Uint8Array) => decodeReservoir(bytes),
    again: (one: Awaited<ReturnType<typeof decodeReservoir>>) => encodeReservoir(one.computer, one.readout),
  },
} as const;

describe.each(["forecaster", "classifier", "reservoir"] as const)("the file of a %s", (kind) => {
  const { bytes, open, again } = kinds[kind] as (typeof kinds)["forecaster"];

  it("is the same bytes each time it is saved, and after it was loaded", async () => {
    const first = await bytes();
    expect(await bytes()).toEqual(first);
    expect(await again(await open(first))).toEqual(first);
  });

  it("is a safetensors file that names format, version, kind and the package's version", async () => {
    const { metadata } = decodeSafetensors(await bytes());
    const { version } = JSON.parse(await readFile(fileURLToPath(new URL("../../package.json", import.meta.url)), "utf8"));
    expect(metadata).toMatchObject({ format: "spillway", formatVersion: "1", kind, packageVersion: version });
    expect(packageVersion).toBe(version);
  });

  it("carries the SHA-256 of the file with its digits written as zeros", async () => {
    const file = await bytes();
    const { sha256 } = decodeSafetensors(file).metadata;
    const zeroed = Buffer.from(file).toString("latin1").replace(sha256!, "0".repeat(64));
    expect(createHash("sha256").update(Buffer.from(zeroed, "latin1")).digest("hex")).toBe(sha256);
  });

  it("is rejected with any bit of it changed", async () => {
    const file = await bytes();
    await fc.assert(
      fc.asyncProperty(fc.nat(file.length - 1), fc.integer({ min: 0, max: 7 }), async (at, bit) => {
        const damaged = file.slice();
        damaged[at] = damaged[at]! ^ (1 << bit);
        await expect(open(damaged)).rejects.toThrow(FileError);
      }),
      { numRuns: 100 },
    );
  });

  it("is rejected where it is truncated", async () => {
    const file = await bytes();
    for (const length of [0, 7, 8, 100, file.length >> 1, file.length - 1])
      await expect(open(file.subarray(0, length))).rejects.toThrow(/truncated/);
    await expect(open(file.subarray(0, file.length - 1))).rejects.toThrow(FileError);
  });
});

/** A copy of a model file with changes, and the checksum that goes with them. */
function rewritten(
  bytes: Uint8Array,
  change: (file: { tensors: Record<string, SafetensorsTensor>; metadata: Record<string, string> }) => void,
): Uint8Array {
  const { tensors, metadata } = decodeSafetensors(bytes);
  const file = { tensors: { ...tensors }, metadata: { ...metadata } };
  change(file);
  file.metadata["sha256"] = "0".repeat(64);
  const out = encodeSafetensors(file.tensors, file.metadata);
  const digest = createHash("sha256").update(out).digest("hex");
  return new Uint8Array(Buffer.from(Buffer.from(out).toString("latin1").replace("0".repeat(64), digest), "latin1"));
}

describe("a model file that cannot be used says why", () => {
  const reject = async (kind: keyof typeof kinds, change: Parameters<typeof rewritten>[1], reason: RegExp) => {
    const open = kinds[kind].open as (bytes: Uint8Array) => Promise<unknown>;
    await expect(open(rewritten(await kinds[kind].bytes(), change))).rejects.toThrow(reason);
  };
  const shaped = (shape: number[], Type: Float32ArrayConstructor | Float64ArrayConstructor = Float32Array): SafetensorsTensor => ({
    dtype: Type === Float32Array ? "F32" : "F64",
    shape,
    data: new Type(shape.reduce((a, b) => a * b, 1)),
  });
  const edit = (note: string, from: string, to: string) => (file: { metadata: Record<string, string> }) => {
    expect(file.metadata[note]).toContain(from);
    file.metadata[note] = file.metadata[note]!.replace(from, to);
  };

  it("where nothing is changed, the copy opens", async () => {
    await Forecaster.fromBytes(rewritten(await forecaster.toBytes(), () => {}));
  });

  it("a flipped byte of a weight", async () => {
    const file = await forecaster.toBytes();
    file[file.length - 3] = file[file.length - 3]! ^ 1;
    await expect(Forecaster.fromBytes(file, { source: "my.safetensors" })).rejects.toThrow(
      "my.safetensors: it is corrupted: its bytes do not give the checksum it names; take another copy",
    );
  });

  it("a newer version", () =>
    reject(
      "forecaster",
      (file) => Object.assign(file.metadata, { formatVersion: "3", packageVersion: "3.1.0" }),
      /it was written in format version 3, by spillway 3\.1\.0; this is spillway 0\.1\.0, which reads up to version 2: update spillway/,
    ));

  it("another kind", async () => {
    await expect(Classifier.fromBytes(await forecaster.toBytes())).rejects.toThrow("it holds a forecaster, and a classifier was asked for");
    await reject(
      "forecaster",
      (file) => Object.assign(file.metadata, { kind: "oracle" }),
      /its kind is "oracle"; it takes reservoir, forecaster, nvar, field, classifier/,
    );
  });

  it("a file of something else", async () => {
    const other = encodeSafetensors({ a: shaped([2]) }, { format: "pt" });
    await expect(Forecaster.fromBytes(other)).rejects.toThrow(
      'it is a safetensors file but no model of spillway: its metadata names the format "pt"',
    );
    await expect(Forecaster.fromBytes(new TextEncoder().encode('{"size": 3, "seed": 4, "spectralRadius": 1}'))).rejects.toThrow(FileError);
  });

  it("another shape", () =>
    reject(
      "forecaster",
      (file) => Object.assign(file.tensors, { inputWeights: shaped([30, 2]) }),
      /its tensor "inputWeights" is F32 \[30, 2\]; by its description it takes F32 \[30, 1\]/,
    ));

  it("another precision", () =>
    reject("forecaster", (file) => Object.assign(file.tensors, { bias: shaped([30], Float64Array) }), /"bias" is F64 \[30\].* F32 \[30\]/));

  it("a missing tensor, and one too many", async () => {
    await reject("forecaster", (file) => delete file.tensors["readout.intercept"], /it has no tensor "readout\.intercept"/);
    await reject(
      "forecaster",
      (file) => Object.assign(file.tensors, { extra: shaped([1]) }),
      /a tensor "extra" that a forecaster of this shape does not have/,
    );
  });

  it("a weight that is not a number", () =>
    reject(
      "classifier",
      (file) => {
        const tensor = file.tensors["member.1.readout.weights"]!;
        const data = (tensor.data as Float64Array).slice();
        data[4] = Number.NaN;
        file.tensors["member.1.readout.weights"] = { ...tensor, data };
      },
      /"member\.1\.readout\.weights" holds NaN at 4; it takes finite numbers/,
    ));

  it("a description that no reservoir has", async () => {
    await reject(
      "forecaster",
      edit("reservoir", '"leakRate":0.3', '"leakRate":3'),
      /leakRate is 3; it takes a number above 0 and at most 1/,
    );
    await reject("forecaster", edit("reservoir", '"leakRate"', '"leekRate"'), /unknown field "leekRate": did you mean "leakRate"\?/);
    await reject(
      "reservoir",
      edit("reservoir", '"radiusMethod":"auto"', '"radiusMethod":"guess"'),
      /radiusMethod is "guess"; it takes "auto", "dense", "krylov", "power" or "circularLaw"/,
    );
    await reject(
      "reservoir",
      edit("reservoir", '"radiusMethod":"dense"', '"radiusMethod":"xdense"'),
      /radiusMethod is "xdense"; it takes "analytic"/,
    );
    await reject("forecaster", (file) => Object.assign(file.metadata, { reservoir: "{" }), /its metadata "reservoir" is no JSON/);
  });

  it("sparse weights that point nowhere", () =>
    reject(
      "forecaster",
      (file) => {
        const tensor = file.tensors["weights.columns"]!;
        file.tensors["weights.columns"] = { ...tensor, data: (tensor.data as Uint32Array).map((column) => column + 30) };
      },
      /it takes columns below 30/,
    ));

  it("settings that no model has", async () => {
    await reject("forecaster", edit("forecaster", '"washout":100', '"washout":-1'), /washout is -1; it takes a whole number of at least 0/);
    await reject(
      "classifier",
      edit("classifier", '"vote":"majority"', '"vote":"loudest"'),
      /vote is "loudest"; it takes "majority" or "mean"/,
    );
    await reject(
      "classifier",
      edit("classes", '["even","odd"]', '["even"]'),
      /classes is an array of 1; it takes a list of at least two different texts, or numbers/,
    );
    await reject(
      "classifier",
      edit("classes", '["even","odd"]', '["a","b","c"]'),
      /the readout of member 0 has 2 outputs and there are 3 classes/,
    );
  });

  it("a readout of another reservoir", () =>
    reject(
      "reservoir",
      edit("readout", '"stateSize":20', '"stateSize":21'),
      /its readout takes 21 neurons and 1 inputs, and its reservoir has 20 and 1/,
    ));

  it("a deviation of 0", () =>
    reject(
      "forecaster",
      (file) => Object.assign(file.tensors, { "inputs.deviation": shaped([1], Float64Array) }),
      /"inputs\.deviation" holds 0 at 0; it takes numbers above 0/,
    ));
});

describe("a model that was loaded", () => {
  it("predicts the same bits in another process", async () => {
    const paths = ["forecaster", "classifier", "reservoir", "weekly"].map((kind) => join(folder, `${kind}.safetensors`));
    await using weekly = await Forecaster.fit(series.subarray(0, 300), {
      reservoir: { size: 20 },
      transforms: [{ log: 1000 }, { difference: 7 }],
    });
    await weekly.save(paths[3]!);
    await forecaster.save(paths[0]!);
    await classifier.save(paths[1]!);
    await saveReservoir(paths[2]!, computer, readout());
    const values = join(folder, "series.bin");
    const part = series.data.slice(0, 60);
    await writeFile(values, new Uint8Array(part.buffer));
    const script = fileURLToPath(new URL("predict-elsewhere.ts", import.meta.url));
    const tsx = fileURLToPath(new URL("../../node_modules/tsx/dist/cli.mjs", import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [tsx, script, values, ...paths]);
    const bits = (data: Float64Array | Float32Array) =>
      createHash("sha256")
        .update(Buffer.from(data.buffer, data.byteOffset, data.byteLength))
        .digest("hex");
    const given = new Matrix(60, 1, part);
    const before = computer.state;
    const generated = await computer.generate(50, readout());
    computer.state = before;
    expect(JSON.parse(stdout)).toEqual({
      forecaster: bits((await forecaster.forecast(50)).data),
      weekly: bits((await weekly.forecast(50)).data),
      classifier: bits((await classifier.predictProba([given, given.subarray(9)])).data),
      reservoir: bits(generated.data),
    });
  });

  it("has its settings, can be trained further, and runs on the engine it is opened with", async () => {
    const loaded = await Forecaster.fromBytes(await forecaster.toBytes(), { engine: "reference" });
    expect(loaded.computer.engine.name).toBe("reference");
    expect(loaded.settings).toEqual(forecaster.settings);
    expect(loaded.readout.training).toEqual(forecaster.readout.training);
    await loaded.fit(series.subarray(0, 200));
    await using fresh = await Forecaster.fit(series.subarray(0, 200), {
      reservoir: { size: 30 },
      standardise: true,
      readout: { lambdas: [1e-8, 1e-4] },
    });
    expect(await loaded.forecast(9)).toEqual(await fresh.forecast(9));
    await loaded.dispose();
  });

  it("gives the probabilities of a softmax readout", async () => {
    const options = { reservoir: { size: 8 }, readout: { type: "softmax" }, vote: "mean", scaleFeatures: true } as const;
    await using made = await Classifier.fit(
      cases,
      cases.map((_, b) => b % 3),
      options,
    );
    await using loaded = await Classifier.fromBytes(await made.toBytes());
    expect(loaded.classes).toEqual([0, 1, 2]);
    expect(await loaded.predictProba(cases)).toEqual(await made.predictProba(cases));
    expect(await loaded.predict(cases)).toEqual(await made.predict(cases));
  });

  it("goes on where its run stood, steps of noise included", async () => {
    await using noisy = await ReservoirComputer.create({ size: 12, noiseLevel: 0.1, feedback: { size: 2 } });
    await noisy.run(series.subarray(0, 30), { teacher: new Matrix(30, 2, series.data.subarray(0, 60)) });
    const path = join(folder, "noisy.safetensors");
    await saveReservoir(path, noisy);
    const { computer: loaded, readout: none } = await loadReservoir(path);
    expect(none).toBeUndefined();
    expect(loaded.state).toEqual(noisy.state);
    expect(await loaded.run(series.subarray(30, 60))).toEqual(await noisy.run(series.subarray(30, 60)));
    await loaded.dispose();
  });

  it("is missing: the error names the path", async () => {
    await expect(loadModel(join(folder, "nothing.safetensors"))).rejects.toThrow(/nothing\.safetensors: .*no such file/);
  });
});

describe("the notes of a file", () => {
  it("are JSON with sorted fields, whatever the order they were set in", () => {
    const one = { b: [1, { d: "x", c: -1e-7 }], a: null, e: undefined };
    expect(stableJson(one)).toBe('{"a":null,"b":[1,{"c":-1e-7,"d":"x"}]}');
    expect(stableJson({ e: undefined, a: null, b: [1, { c: -1e-7, d: "x" }] })).toBe(stableJson(one));
  });

  it("keep infinite scores, which JSON has no word for", () => {
    expect(JSON.parse(stableJson([1 / 0, -1 / 0, 2]))).toEqual([1 / 0, -1 / 0, 2]);
    expect(() => stableJson({ score: Number.NaN })).toThrow("NaN has no JSON");
  });
});

describe("a bare reservoir", () => {
  const oneOf = <const T extends string>(...values: T[]) => fc.constantFrom(...values);
  const config = fc.record({
    size: fc.integer({ min: 5, max: 24 }),
    inputSize: fc.integer({ min: 0, max: 3 }),
    storage: oneOf("auto", "dense", "sparse"),
    precision: oneOf("float32", "float64"),
    weightPrecision: oneOf("full", "bfloat16"),
    topology: oneOf("erdosRenyi", "ring", "delayLine", "orthogonal"),
    activation: oneOf("tanh", "identity", "relu", "sigmoid"),
    noiseLevel: fc.constantFrom(0, 0.01),
    bias: fc.constantFrom(0, 0.3),
    feedback: fc.constantFrom(null, { size: 2 }),
    initialState: fc.constantFrom<NonNullable<ReservoirOptions["initialState"]>>("zeros", { distribution: "normal", scaling: 0.1 }),
    seed: fc.integer(),
  });

  it("of any description comes back with every bit of its model", async () => {
    await fc.assert(
      fc.asyncProperty(config, async (options: ReservoirOptions) => {
        await using made = await ReservoirComputer.create(options, { engine: "reference" });
        const bytes = await encodeReservoir(made);
        const { computer: loaded } = await decodeReservoir(bytes, { engine: "reference" });
        expect(loaded.model).toEqual(made.model);
        expect(await encodeReservoir(loaded)).toEqual(bytes);
        await loaded.dispose();
      }),
      { numRuns: amount(60, 15) },
    );
  });

  it.each(["int8", "q4_k"] as const)("whose weights are steps of %s comes back with every bit of its model", async (weightPrecision) => {
    const options = { size: 300, connectionProbability: 1, arithmetic: "fast", weightPrecision } as const;
    await using made = await ReservoirComputer.create(options, { engine: "reference" });
    const { computer: loaded } = await decodeReservoir(await encodeReservoir(made), { engine: "reference" });
    expect(loaded.model).toEqual(made.model);
    await loaded.dispose();
  });

  it("of integers is refused with a state that is no whole steps", async () => {
    await using made = await ReservoirComputer.create({ size: 3, connectionProbability: 1, arithmetic: "integer" });
    const file = rewritten(await encodeReservoir(made), ({ tensors }) => {
      tensors["state.values"] = { ...tensors["state.values"]!, data: Float32Array.of(0, 0.1, 0) };
    });
    const reading = decodeReservoir(file, { source: "my.safetensors" });
    await expect(reading).rejects.toThrow(FileError);
    await expect(reading).rejects.toThrow(/my\.safetensors: .*its state cannot be used: .* at neuron 1; it takes whole steps/);
  });

  it("of a user's own matrices comes back with them", async () => {
    const weights = toSparse(Matrix.from([[0, 0.5, 0], [0, 0, 0.5], [0.25, 0, 0]])); // biome-ignore format: a matrix
    const matrices = { weights, bias: [1, 2, 3], feedbackWeights: [1, 0, -1], initialState: [0.1, 0.2, 0.3] };
    await using made = await ReservoirComputer.create({ size: 3 }, { matrices });
    const { computer: loaded } = await decodeReservoir(await encodeReservoir(made));
    expect(loaded.model).toEqual(made.model);
    await loaded.dispose();
  });

  it("does not take a readout of another one", async () => {
    await using other = await ReservoirComputer.create({ size: 21 });
    await expect(encodeReservoir(other, readout())).rejects.toThrow(
      "the readout was trained on 20 neurons and 1 input; this reservoir has 21 and 1",
    );
  });
});
