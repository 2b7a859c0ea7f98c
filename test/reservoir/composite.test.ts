import { afterEach, describe, expect, it } from "vitest";
import { asMatrix } from "../../packages/numerics/src/index.js";
import {
  type AnyReservoirComputer,
  type AnyReservoirOptions,
  type CompositeModel,
  type CreateOptions,
  Forecaster,
  Matrix,
  nrmse,
  ReservoirComputer,
  ReservoirEnsemble,
  WorkInterruptedError,
} from "../../src/index.js";
import { decodeReservoir, encodeReservoir } from "../../src/model/reservoir-file.js";

const open: { dispose(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.dispose();
});

async function create(config: AnyReservoirOptions, options?: CreateOptions): Promise<AnyReservoirComputer> {
  const computer = await ReservoirComputer.create(config, options);
  open.push(computer);
  return computer;
}

const wave = asMatrix(Array.from({ length: 60 }, (_, t) => [Math.fround(((t * 37) % 50) / 25 - 1), Math.fround(((t * 13) % 20) / 10 - 1)]));
const first = Float32Array.from(wave.data.filter((_, i) => i % 2 === 0));
const columns = (states: Matrix, from: number, to: number) =>
  Array.from({ length: states.rows }, (_, t) => Array.from(states.row(t).subarray(from, to))).flat();

const dense = { connectionProbability: 0.5 };
const deep = {
  layers: [{ size: 12, leakRate: 0.9 }, { size: 9 }, { size: 7, leakRate: 0.2 }],
  bias: 0.3,
  connectionProbability: 0.5,
  seed: "deep",
} as const;

describe("a deep reservoir", () => {
  // NumPy, W = [[.5, 0], [.2, -.3]], input 1, -.5, .25.
  it("lets a layer see the new state of the one below", async () => {
    const W = [
      [0.5, 0],
      [0.2, -0.3],
    ];
    const config = { layers: [{ leakRate: 0.5 }, { leakRate: 0.8 }], size: 2, precision: "float64" } as const;
    const matrices = [
      { weights: W, inputWeights: [[1], [-1]], bias: [0.1, 0.2] },
      {
        weights: [
          [0.5, 0.2],
          [0, -0.3],
        ],
        inputWeights: [
          [0.3, 0.4],
          [-0.2, 0.6],
        ],
        bias: [0, 0],
      },
    ];
    for (const engine of ["reference", "cpu", "sim"]) {
      const computer = await create(config, { engine, matrices });
      const states = await computer.run([1, -0.5, 0.25]);
      expect(Array.from(states.data, (x) => x.toFixed(8))).toEqual(
        [
          [0.40024951, -0.33201839, -0.01018545, -0.21777674],
          [0.10149704, 0.18711413, 0.04323186, 0.08125856],
          [0.24104314, 0.05074474, 0.1124408, -0.01743983],
        ].flatMap((row) => row.map((x) => x.toFixed(8))),
      );
    }
  });

  it("of one layer is that reservoir, bit for bit", async () => {
    const plain = await create({ size: 20, inputSize: 2, noiseLevel: 0.1, seed: 3 });
    const layered = await create({ layers: [{ size: 20 }], inputSize: 2, noiseLevel: 0.1, seed: 3 });
    expect((await layered.run(wave)).data).toEqual((await plain.run(wave)).data);
    const batch = await plain.batch([wave, wave.subarray(5)]);
    expect((await layered.batch([wave, wave.subarray(5)])).map(({ data }) => data)).toEqual(batch.map(({ data }) => data));
  });

  it("has the same bits on every engine, in runs, steps and batches", async () => {
    const wanted = await (await create(deep, { engine: "reference" })).run(first);
    for (const engine of ["cpu", "sim"]) {
      const computer = await create(deep, { engine });
      expect((await computer.run(first)).data).toEqual(wanted.data);
      const all = await computer.batch([first, first.subarray(3)]);
      expect(all[0]!.data).toEqual(wanted.data);
      expect((await computer.batch([first], { keep: "last" }))[0]!.data).toEqual(wanted.row(59));
      computer.reset();
      for (let t = 0; t < 60; t++) expect(computer.step([first[t]!])).toEqual(wanted.row(t));
    }
  });

  it("keeps every k-th state, and the last layer alone if that is read", async () => {
    const all = await (await create(deep)).run(first);
    const last = await create({ ...deep, read: "last" });
    expect(last.model.size).toBe(7);
    const states = await last.run(first);
    expect(Array.from(states.data)).toEqual(columns(all, 21, 28));
    last.reset();
    expect((await last.run(first, { every: 7 })).data).toEqual(
      Float32Array.from([6, 13, 20, 27, 34, 41, 48, 55].flatMap((t) => Array.from(states.row(t)))),
    );
  });

  it.each(["all", "last"] as const)("goes on from a state that was kept, also in a file: read %s", async (read) => {
    const computer = await create({ ...deep, read });
    const states = await computer.run(first);
    computer.reset();
    await computer.run(first.subarray(0, 25));
    const { state } = computer;
    const bytes = await encodeReservoir(computer);
    await computer.run(first.subarray(0, 9));
    computer.state = state;
    expect((await computer.run(first.subarray(25))).data).toEqual(states.subarray(25).data);
    const { computer: loaded } = await decodeReservoir(bytes);
    open.push(loaded);
    expect(loaded.config).toEqual(computer.config);
    expect((await loaded.run(first.subarray(25))).data).toEqual(states.subarray(25).data);
  });

  it("stands at the last step before a state that is not finite, in all layers", async () => {
    const growing = {
      layers: [{ size: 4 }, { size: 4, activation: "identity", spectralRadius: 40, leakRate: 1, inputScaling: 1 }],
    } as const;
    const computer = await create({ ...growing, connectionProbability: 1, seed: 1 });
    const into = Matrix.zeros(60, 8, "float32") as Matrix;
    await expect(computer.run(first, { into })).rejects.toThrow(/the state is not finite after step \d+ at neuron [4-7]/);
    const { step, values } = computer.state;
    expect(step).toBeGreaterThan(3);
    expect(values).toEqual(into.row(step - 1));
    const again = await create({ ...growing, connectionProbability: 1, seed: 1 });
    await again.run(first.subarray(0, step));
    expect(() => again.step([first[step]!])).toThrow(`after step ${step}`);
    expect(again.state).toEqual(computer.state);
  });

  it("stops on request between two steps", async () => {
    const computer = await create({ layers: [{}, {}], size: 400, connectionProbability: 1 });
    const signal = AbortSignal.timeout(30);
    await expect(computer.run(new Float32Array(50_000), { signal })).rejects.toThrow(WorkInterruptedError);
    const { step } = computer.state;
    expect(step).toBeLessThan(50_000);
    await computer.run([0]);
    expect(computer.state.step).toBe(step + 1);
  });
});

describe("a grouped reservoir", () => {
  it("is its groups side by side, each on its inputs", async () => {
    const grouped = await create({
      groups: [
        { size: 10, inputs: [1] },
        { size: 6, leakRate: 1, seed: "own" },
      ],
      inputSize: 2,
      ...dense,
      seed: "g",
    });
    const states = await grouped.run(wave);
    const second = wave.data.filter((_, i) => i % 2 === 1);
    expect(columns(states, 0, 10)).toEqual(Array.from((await (await create({ size: 10, ...dense, seed: "g" })).run(second)).data));
    expect(columns(states, 10, 16)).toEqual(
      Array.from((await (await create({ size: 6, leakRate: 1, inputSize: 2, ...dense, seed: "own" })).run(wave)).data),
    );
    grouped.reset();
    expect(grouped.step([wave.data[0]!, wave.data[1]!])).toEqual(states.row(0));
  });

  it("draws the groups of one seed apart", async () => {
    const states = await (await create({ groups: [{}, {}], size: 8, ...dense, seed: 1 })).run(first);
    expect(columns(states, 0, 8)).not.toEqual(columns(states, 8, 16));
  });
});

describe("a composed reservoir", () => {
  it("takes the matrices of some parts, draws the others, and keeps them in its file", async () => {
    const ring = Array.from({ length: 9 }, (_, i) => Array.from({ length: 9 }, (__, j) => ((j + 1) % 9 === i ? 0.8 : 0)));
    const computer = await create(deep, { engine: "cpu", matrices: [{}, { weights: ring }, {}] });
    const drawn = await create(deep, { engine: "cpu" });
    const [states, other] = [await computer.run(first), await drawn.run(first)];
    expect(columns(states, 0, 12)).toEqual(columns(other, 0, 12));
    expect(columns(states, 12, 21)).not.toEqual(columns(other, 12, 21));
    const again = (await decodeReservoir(await encodeReservoir(computer), { engine: "cpu" })).computer;
    open.push(again);
    again.reset();
    expect((await again.run(first)).data).toEqual(states.data);
    const series = Float32Array.from({ length: 200 }, (_, t) => Math.sin(t / 5));
    await using forecaster = await Forecaster.fit(series, { reservoir: deep, engine: "cpu", matrices: [{}, { weights: ring }, {}] });
    const weightsOf = ({ model }: AnyReservoirComputer) => (model as CompositeModel).parts[1]!.weights;
    expect(weightsOf(forecaster.computer)).toEqual(weightsOf(computer));
  });

  it("names what is wrong with a part", async () => {
    const refused: [object, string][] = [
      [{ layers: [] }, "layers is an array of 0; it takes a list of descriptions of reservoirs, the lowest first"],
      [{ layers: [{ size: 3 }, { size: 0 }] }, "layers[1].size is 0; it takes a whole number of at least 1"],
      [{ layers: [{ size: 3 }], groups: [{ size: 3 }] }, "layers and groups are given"],
      [{ layers: [{ size: 3, leekRate: 1 }] }, 'unknown field "layers[0].leekRate": did you mean "leakRate"?'],
      [{ layers: [{ size: 3 }, {}] }, "layers[1].size is missing"],
      [{ layers: [{ size: 3, feedback: {} }] }, "layers[0].feedback is {}; it takes nothing: a composed reservoir feeds no outputs back"],
      [{ layers: [{ size: 3, precision: "float64" }] }, 'layers[0].precision is "float64"; it takes "float32"'],
      [
        { groups: [{ size: 3, inputs: [0, 2] }], inputSize: 2 },
        "groups[0].inputs[1] is 2; it takes an input channel from 0 to 1 (inputSize)",
      ],
      [{ groups: [{ size: 3 }], read: "last" }, 'unknown field "read"'],
    ];
    for (const [config, message] of refused) await expect(create(config as never)).rejects.toThrow(message);
    await expect(create(deep, { matrices: { bias: [1] } })).rejects.toThrow(
      "a list for a composed reservoir, with the matrices of each part",
    );
    await expect(create(deep, { matrices: [{}, {}] })).rejects.toThrow("matrices has 2 entries and the reservoir 3 layers; give one each");
    await expect(create(deep, { matrices: [{}, { bias: [1] }, {}] })).rejects.toThrow("layers[1].matrices.bias is");
    await expect(create({ size: 3 }, { matrices: [{}] })).rejects.toThrow("an object; a list is for a composed reservoir");
    await expect(ReservoirEnsemble.create([deep as never])).rejects.toThrow(
      "configs[0] is composed of layers or groups; an ensemble takes",
    );
  });

  it.each([
    ["layers", { layers: [{ leakRate: 1 }, { leakRate: 0.3 }], size: 60 }],
    ["the last layer", { layers: [{ leakRate: 1 }, { leakRate: 0.3 }], size: 60, read: "last" }],
    ["groups", { groups: [{ leakRate: 1 }, { leakRate: 0.3 }], size: 60 }],
  ] as const)("forecasts in a closed loop, saved and loaded: %s", async (_, reservoir) => {
    const series = Float64Array.from({ length: 600 }, (_, t) => Math.sin(t / 5) + 0.5 * Math.sin(t / 3));
    await using forecaster = await Forecaster.fit(series.subarray(0, 560), { reservoir, horizon: 20, members: 1 });
    await using loaded = await Forecaster.fromBytes(await forecaster.toBytes());
    const forecast = await forecaster.forecast(20);
    expect(nrmse(series.subarray(560, 580), forecast)).toBeLessThan(0.05);
    expect((await loaded.forecast(20)).data).toEqual(forecast.data);
  });
});
