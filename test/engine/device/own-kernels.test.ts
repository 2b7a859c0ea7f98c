// The named kernels for own programs: the host's bits on the device, from either source, in graphs,
// and a sentence for what they do not take.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Context, type DeviceSlice, DisposedError, type HostArray } from "../../../packages/gpu/src/index.js";
import { type FloatArray, Matrix, type Precision, rowDot, toSparse } from "../../../packages/numerics/src/index.js";
import { HostNeuromorphicKernels, NeuromorphicKernels } from "../../../src/engine/kernels/index.js";
import { reservoirStep } from "../../../src/reservoir/index.js";
import { ArgumentError, SpikePattern } from "../../../src/spikes/index.js";
import { onHardware, openTestDevice } from "../../gpu/device/device.js";
import { bits, model, randomMatrix } from "../contract.js";

const precisions = ["float32", "float64"] as const;
const activations = ["tanh", "identity", "relu", "sigmoid"] as const;
const random = (length: number, precision: Precision, seed: number) => randomMatrix(length, 1, precision, seed).data;

/** If there is a GPU there is NVRTC beside it: both sources of the kernels have the same bits. */
describe.each(onHardware ? (["ptx", "nvrtc"] as const) : (["ptx"] as const))("kernels from %s", (kernelSource) => {
  let context: Context;

  beforeAll(() => {
    context = openTestDevice({ kernelSource });
  });
  afterAll(() => context?.dispose());

  const upload = <A>(values: A) => context.upload(values as HostArray & A) as never as DeviceSlice<"f32"> & DeviceSlice<"f64">;
  const read = (slice: unknown) => context.read(slice as DeviceSlice<"f32">) as FloatArray;

  describe.each(precisions)("have the host's bits in %s:", (precision) => {
    let device: NeuromorphicKernels;
    const host = new HostNeuromorphicKernels({ precision });
    const values = (length: number, seed: number) => random(length, precision, seed);

    beforeAll(() => {
      device = new NeuromorphicKernels(context, { precision });
    });
    afterAll(() => device?.dispose());

    it.each([
      [1, 1, 1],
      [130, 40, 5],
      [70, 0, 3],
    ])("matvecInput of %i neurons, %i inputs and %i steps", (size, inputs, steps) => {
      const work = { weights: values(inputs * size, 1), inputs: values(steps * inputs, 2), bias: values(size, 3) };
      const given = inputs === 0 ? { bias: work.bias } : work;
      const there = Object.fromEntries(Object.entries(given).map(([name, array]) => [name, upload(array)]));
      for (const bias of inputs === 0 ? [true] : [true, false]) {
        const without = bias ? {} : { bias: undefined };
        const expected = host.matvecInput({ size, steps, ...given, ...without });
        expect(expected).toHaveLength(steps * size);
        expect(bits(read(device.matvecInput({ size, steps, ...there, ...without })))).toEqual(bits(expected));
      }
    });

    it.each([
      [1, 1],
      [33, 70],
      [65, 513],
    ])("matvecReservoir of %i x %i, dense and in CSR form", (rows, columns) => {
      const dense = randomMatrix(rows, columns, precision, 4);
      const sparse = toSparse(new Matrix(rows, columns, dense.data.map((w, i) => (i % 3 === 0 ? w : 0)) as FloatArray));
      const state = values(columns, 5);
      const x = upload(state);
      const { values: nonzeros, columns: at, rowOffsets } = sparse;
      const here = { values: nonzeros, columns: at, rowOffsets };
      const there = { values: upload(nonzeros), columns: upload(at) as never, rowOffsets: upload(rowOffsets) as never };
      const expected = [host.matvecReservoir({ weights: dense.data, state }), host.matvecReservoir({ weights: here, state })];
      expect(expected[1]).toEqual(expected[1]!.map((_, r) => rowDot(sparse, r, state, precision === "float32" ? Math.fround : undefined)));
      const found = [upload(dense.data), there].map((weights) => read(device.matvecReservoir({ weights, state: x })));
      expect(found.map(bits)).toEqual(expected.map(bits));
    });

    it("leakyIntegration with and without recurrence, feedback and noise, for every activation, in place too", () => {
      const n = 130;
      const leak = values(n, 6).map(Math.abs) as FloatArray;
      const all = { state: values(n, 1), drive: values(n, 2), recurrent: values(n, 3), feedback: values(n, 4), leak };
      const least = { state: all.state, drive: all.drive, leak };
      const noise = { level: 0.05, key: [7, 4_000_000_000], step: 4_000_000_001, sequence: 3 } as const;
      for (const work of [least, all]) {
        const there = Object.fromEntries(Object.entries(work).map(([name, array]) => [name, upload(array)])) as never as typeof work;
        for (const activation of activations)
          for (const more of [{ activation }, { activation, noise }]) {
            const expected = bits(host.leakyIntegration({ ...work, ...more }));
            expect(bits(read(device.leakyIntegration({ ...there, ...more } as never)))).toEqual(expected);
            const state = upload(work.state);
            device.leakyIntegration({ ...there, ...more, state, out: state } as never);
            expect(bits(read(state))).toEqual(expected);
          }
      }
    });

    it("powerIteration, dense and in CSR form, step after step", () => {
      const n = 70;
      const dense = randomMatrix(n, n, precision, 8);
      const sparse = toSparse(new Matrix(n, n, dense.data.map((w, i) => (i % 3 === 0 ? w : 0)) as FloatArray));
      const here = { values: sparse.values, columns: sparse.columns, rowOffsets: sparse.rowOffsets };
      const there = { values: upload(here.values), columns: upload(here.columns) as never, rowOffsets: upload(here.rowOffsets) as never };
      for (const [weights, sent] of [
        [dense.data, upload(dense.data)],
        [here, there],
      ] as const) {
        let [state, x]: [FloatArray, never] = [values(n, 9), upload(values(n, 9)) as never];
        for (let i = 0; i < 3; i++) {
          const expected = host.powerIteration({ weights, state });
          const found = device.powerIteration({ weights: sent, state: x } as never);
          expect(bits(read(found.out))).toEqual(bits(expected.out));
          expect(read(found.length)).toEqual(expected.length);
          [state, x] = [expected.out, found.out as never];
        }
      }
    });

    it("make the step of a reservoir, also replayed from a graph", async () => {
      const of = model({ size: 50, inputSize: 2, leakRate: 0.4, bias: 0.3, connectionProbability: 0.3, storage: "dense", precision });
      const inputWeights = values(0, 1).constructor as typeof Float32Array;
      const byInput = inputWeights.from({ length: 100 }, (_, k) => of.inputWeights.at(k % 50, Math.floor(k / 50)));
      const u = randomMatrix(6, 2, precision, 12);
      const states: FloatArray[] = [of.initialState];
      for (let t = 0; t < 6; t++) states.push(reservoirStep(of, states[t]!, u.row(t), new Float64Array(0), t, 0));
      const stream = context.stream();
      const [state, weights, leak] = [upload(of.initialState), upload((of.weights as Matrix).data), upload(of.leakRate)];
      const given = { weights: upload(byInput), bias: upload(of.bias), inputs: upload(u.row(0).slice()) };
      const [drive, recurrent] = [upload(values(50, 1)), upload(values(50, 1))];
      const graph = stream.capture((captured) => {
        const kernels = device.on(captured);
        kernels.matvecInput({ size: 50, ...given, out: drive });
        kernels.matvecReservoir({ weights, state, out: recurrent });
        kernels.leakyIntegration({ state, drive, recurrent, leak, out: state });
      });
      for (let t = 0; t < 6; t++) {
        stream.upload(given.inputs as DeviceSlice<"f32">, u.row(t).slice() as Float32Array<ArrayBuffer>);
        graph.launch(stream);
        expect(bits(read(state)), `step ${t}`).toEqual(bits(states[t + 1]!));
      }
      expect(() => stream.capture((captured) => device.on(captured).matvecReservoir({ weights, state }))).toThrow("out is left out while");
      graph.dispose();
      stream.dispose();
    });
  });

  it("spikeEncoding and patternDetection have the host's bits", async () => {
    const [device, host] = [new NeuromorphicKernels(context), new HostNeuromorphicKernels()];
    const times = Array.from({ length: 90 }, (_, i) => i * 1.1);
    const columns = { times, neurons: times.map((_, i) => (i * 7) % 12), amplitudes: times.map((_, i) => 0.5 + (i % 5)) };
    const pattern = new SpikePattern(columns, { durationMs: 100, neuronCount: 12 });
    for (const options of [{ bins: 10 }, { binMs: 7, channels: 5, values: "amplitudes" }] as const) {
      using found = await device.spikeEncoding(pattern, options);
      expect(found.toMatrix()).toEqual(await host.spikeEncoding(pattern, options));
    }
    await expect(device.spikeEncoding(pattern, { bins: 0 })).rejects.toThrow(ArgumentError);

    const [vectors, templates] = [random(5 * 70, "float32", 20), random(9 * 70, "float32", 21)] as Float32Array[];
    vectors!.fill(0, 70, 140);
    for (const score of ["cosine", "dot"] as const)
      for (const threshold of [-2, 0.05, 3]) {
        const expected = host.patternDetection({ vectors: vectors!, templates: templates!, length: 70, score, threshold });
        const found = device.patternDetection({ vectors: upload(vectors!), templates: upload(templates!), length: 70, score, threshold });
        expect(bits(read(found.scores))).toEqual(bits(expected.scores));
        expect([context.read(found.best), context.read(found.matches)]).toEqual([expected.best, expected.matches]);
      }
    device.dispose();
  });
});

describe("what they do not take", () => {
  let context: Context;
  let device: NeuromorphicKernels;
  const host = new HostNeuromorphicKernels();

  beforeAll(() => {
    context = openTestDevice();
    device = new NeuromorphicKernels(context);
  });
  afterAll(() => context?.dispose());

  const zeros = (n: number) => new Float32Array(n);
  const leaky = (n: number) => ({ state: zeros(n), drive: zeros(n), leak: zeros(n) });

  const refused: readonly (readonly [sentence: string, work: () => unknown])[] = [
    [
      "weights has 7 values; it takes a multiple of 3, the values of state",
      () => host.matvecReservoir({ weights: zeros(7), state: zeros(3) }),
    ],
    [
      "out has 3 values; it takes 2, the rows of weights",
      () => host.matvecReservoir({ weights: zeros(6), state: zeros(3), out: zeros(3) }),
    ],
    ["weights holds f64; it takes f32", () => host.matvecReservoir({ weights: new Float64Array(9), state: zeros(3) })],
    ["weights is an array of 1; it takes a typed array of f32", () => host.matvecReservoir({ weights: [1], state: zeros(1) } as never)],
    [`unknown field "weight": did you mean "weights"?`, () => host.matvecReservoir({ weight: zeros(1), state: zeros(1) } as never)],
    ["weights has 3 values; it takes 4, inputs x size", () => host.matvecInput({ size: 2, weights: zeros(3), inputs: zeros(2) })],
    ["inputs has 3 values; 2 steps take a multiple of it", () => host.matvecInput({ size: 2, steps: 2, inputs: zeros(3) })],
    ["size is 0; it takes a whole number of at least 1", () => host.matvecInput({ size: 0 })],
    ["drive has 3 values; it takes 2, as many as state", () => host.leakyIntegration({ ...leaky(2), drive: zeros(3) })],
    [
      'activation is "sin"; it takes "tanh", "identity", "relu" or "sigmoid"',
      () => host.leakyIntegration({ ...leaky(1), activation: "sin" as "tanh" }),
    ],
    [
      "noise.key[1] is -1; it takes a whole number below 2^32",
      () => host.leakyIntegration({ ...leaky(1), noise: { level: 1, key: [1, -1], step: 0 } }),
    ],
    ["weights has 2 rows; it takes 3, as many as state", () => host.powerIteration({ weights: zeros(6), state: zeros(3) })],
    [
      "vectors has 5 values; it takes a multiple of 2, length",
      () => host.patternDetection({ vectors: zeros(5), templates: zeros(4), length: 2 }),
    ],
    [`unknown field "precison": did you mean "precision"?`, () => new HostNeuromorphicKernels({ precison: "float64" } as never)],
    ['precision is "half"; it takes "float32" or "float64"', () => new HostNeuromorphicKernels({ precision: "half" as "float32" })],
  ];
  it.each(refused)("%s", (sentence, work) => {
    expect(work).toThrow(sentence);
  });

  it("on a device: arrays of the host, another type or length, memory to be read only, disposed or of another context", () => {
    const [w, x] = [context.zeros("f32", 9), context.zeros("f32", 3)];
    expect(() => device.matvecReservoir({ weights: zeros(9), state: x } as never)).toThrow("it takes a slice of device memory of f32");
    expect(() => device.matvecReservoir({ weights: w, state: context.zeros("f64", 3) })).toThrow("state holds f64; it takes f32");
    expect(() => device.matvecReservoir({ weights: w, state: x, out: context.zeros("f32", 4) })).toThrow("out has 4 values; it takes 3");
    expect(() => device.matvecReservoir({ weights: w, state: x, out: x.readonly() as never })).toThrow("read-only");
    expect(() => device.powerIteration({ weights: w, state: x, out: x })).toThrow("out is state");
    const gone = context.zeros("f32", 3);
    gone.dispose();
    expect(() => device.matvecReservoir({ weights: w, state: gone })).toThrow(DisposedError);
    const other = openTestDevice();
    expect(() => device.matvecReservoir({ weights: w, state: other.zeros("f32", 3) })).toThrow("of another context");
    other.dispose();
  });

  it("give back the stream that they made, and no other", () => {
    const before = context.held().length;
    new NeuromorphicKernels(context).dispose();
    expect(context.held().length).toBe(before);
    device.on(device.stream).dispose();
    expect(() => device.stream.sync()).not.toThrow();
  });
});
