import { describe, expect, it } from "vitest";
import { lyapunovExponent, memoryCapacity, spectrum } from "../../src/analysis/index.js";
import { Forecaster, type Matrix, ReservoirComputer, ReservoirEnsemble, type ReservoirOptions, runEnsemble } from "../../src/index.js";
import { toOnnx } from "../../src/model/onnx/index.js";
import { decodeReservoir, encodeReservoir } from "../../src/model/reservoir-file.js";

// W, W_in, b and inputs of the check values (NumPy).
const W = [
  [0.5, 0],
  [0.2, -0.3],
];
const matrices = { weights: W, inputWeights: [[1], [-1]], bias: [0.1, 0.2] };
const inputs = [1, -0.5, 0.25];
const engines = ["reference", "cpu"];
const digits = (values: ArrayLike<number>) => Array.from(values, (x) => x.toFixed(8));
const cells = [
  { type: "es2n", proximity: 0.3 },
  { type: "residual", keep: 0.9, gain: 0.4 },
  { type: "euler", step: 0.1, damping: 0.05 },
] as const;
const drive = Float32Array.from({ length: 90 }, (_, t) => ((t * 37) % 50) / 25 - 1);

describe("a cell", () => {
  it.each(engines)("es2n turns the state by O and mixes in the nonlinear step: %s", async (engine) => {
    const config = { size: 2, precision: "float64", cell: { type: "es2n", proximity: 0.25 } } as const;
    const orthogonal = [
      [0, -1],
      [1, 0],
    ];
    await using computer = await ReservoirComputer.create(config, { engine, matrices: { ...matrices, orthogonal } });
    expect(digits((await computer.run(inputs)).data)).toEqual(
      digits([0.20012476, -0.16600919, 0.05169301, 0.31467142, -0.14622982, 0.00545341]),
    );
  });

  it.each(engines)("euler adds to the state what an antisymmetric W makes of it: %s", async (engine) => {
    const config = { size: 2, precision: "float64", cell: { type: "euler", step: 0.1, damping: 0.05 } } as const;
    await using computer = await ReservoirComputer.create(config, { engine, matrices });
    expect(digits((await computer.run(inputs)).data)).toEqual(
      digits([0.0800499, -0.06640368, 0.04285167, -0.00475426, 0.0763835, -0.00887112]),
    );
  });

  it("residual with keep 1 - B and gain B is es2n", async () => {
    const of = async (cell: ReservoirOptions["cell"]) => {
      await using computer = await ReservoirComputer.create({ size: 30, seed: 2, cell });
      return (await computer.run(drive)).data;
    };
    expect(await of({ type: "residual", keep: 0.75, gain: 0.25 })).toEqual(await of({ type: "es2n", proximity: 0.25 }));
  });

  it("es2n with proximity 1 is a reservoir with leak 1, and with 0 it keeps the length of the state", async () => {
    const shared = { size: 40, storage: "dense", precision: "float64", seed: 5 } as const;
    await using plain = await ReservoirComputer.create({ ...shared, leakRate: 1 });
    await using one = await ReservoirComputer.create({ ...shared, cell: { type: "es2n", proximity: 1 } });
    expect((await one.run(drive)).data).toEqual((await plain.run(drive)).data);
    const initialState = { distribution: "normal", scaling: 1 } as const;
    await using none = await ReservoirComputer.create({ ...shared, initialState, cell: { type: "es2n", proximity: 0 } });
    const length = (x: ArrayLike<number>) => Math.sqrt(Array.from(x).reduce((sum, value) => sum + value * value, 0));
    expect(length((await none.run(drive)).row(89))).toBeCloseTo(length(none.model.initialState), 10);
  });

  it.each(
    cells.flatMap((cell) => [
      [cell.type, { size: 45, precision: "float32" }, cell] as const,
      [cell.type, { size: 70, precision: "float64", noiseLevel: 0.01, feedback: { size: 1 }, bias: 0.2 }, cell] as const,
      [cell.type, { size: 33, precision: "float32", activation: "relu", spectralRadius: 0.5, connectionProbability: 1 }, cell] as const,
    ]),
  )("%s has the same bits on the CPU, with one thread and with two: %o", async (_, options, cell) => {
    const config = { ...options, cell, seed: "bits" };
    await using reference = await ReservoirComputer.create(config, { engine: "reference" });
    const wanted = await reference.run(drive);
    for (const threads of [1, 2]) {
      await using computer = await ReservoirComputer.create(config, { engine: "cpu", threads });
      expect((await computer.run(drive)).data).toEqual(wanted.data);
      computer.reset();
      expect(computer.step([drive[0]!])).toEqual(wanted.row(0));
    }
  });

  // Beyond 8 MiB, W and O lie in two streams.
  it("es2n has the same bits with matrices that come from memory", async () => {
    const size = 1100;
    const turned = Uint32Array.from({ length: size }, (_, r) => (7 * r + 3) % size);
    const rowOffsets = Uint32Array.from({ length: size + 1 }, (_, r) => r);
    const orthogonal = { rows: size, cols: size, rowOffsets, columns: turned, values: new Float32Array(size).fill(-1) };
    const config = { size, cell: cells[0], spectralRadius: null, seed: 1 };
    await using reference = await ReservoirComputer.create(config, { engine: "reference", matrices: { orthogonal } });
    await using computer = await ReservoirComputer.fromModel(reference.model, { engine: "cpu" });
    expect((await computer.run(drive.subarray(0, 3))).data).toEqual((await reference.run(drive.subarray(0, 3))).data);
  });

  it.each(cells)("$type goes on from a file", async (cell) => {
    await using computer = await ReservoirComputer.create({ size: 20, cell, connectionProbability: 0.2, seed: 4 });
    const states = await computer.run(drive);
    computer.reset();
    await computer.run(drive.subarray(0, 40));
    const { computer: loaded } = await decodeReservoir(await encodeReservoir(computer));
    expect((await loaded.run(drive.subarray(40))).data).toEqual(states.subarray(40).data);
    expect(loaded.config).toEqual(computer.config);
    await loaded.dispose();
  });

  it("is refused by engines that have the leaky one alone, and auto takes another", async () => {
    const config = { size: 20, cell: cells[0] };
    const refusal = 'cell is "es2n"; it takes nothing on the engine "sim", which has the leaky cell alone; "cpu" and "reference" run it';
    await expect(ReservoirComputer.create(config, { engine: "sim" })).rejects.toThrow(refusal);
    await expect(ReservoirEnsemble.create([config], { engine: "sim" })).rejects.toThrow(refusal);
    await using computer = await ReservoirComputer.create(config);
    await expect(ReservoirComputer.fromModel(computer.model, { engine: "sim" })).rejects.toThrow(refusal);
    expect(computer.engine.name).toBe("cpu");
    computer.reset();
    expect((await runEnsemble([config, config], drive))[1]!.data).toEqual((await computer.run(drive)).data);
    await using forecaster = await Forecaster.fit(drive, { reservoir: config, washout: 10 });
    await expect(toOnnx(forecaster)).rejects.toThrow("the reservoir has a cell of its own; an ONNX graph takes the leaky one");
  });

  it("names what is wrong in its description", async () => {
    const refused: [object, string][] = [
      [{ cell: { type: "es2n" } }, "cell.proximity is missing; it takes a number from 0 to 1"],
      [{ cell: { type: "esn" } }, 'cell.type is "esn"; it takes one of es2n, residual, euler'],
      [{ cell: cells[0], leakRate: 0.3 }, 'leakRate is 0.3; it takes nothing beside the cell "es2n", which has no leak'],
      [{ cell: cells[1], storage: "sparse" }, 'storage is "sparse"; it takes "dense" or "auto" for the cell "residual", whose O is dense'],
    ];
    for (const [options, message] of refused)
      await expect(ReservoirComputer.create({ size: 5, ...options } as never)).rejects.toThrow(message);
    await expect(ReservoirComputer.create({ size: 2 }, { matrices: { orthogonal: W } })).rejects.toThrow("matrices.orthogonal");
  });

  it("draws an O that is orthogonal, apart from an orthogonal W", async () => {
    const config = { size: 25, topology: "orthogonal", precision: "float64", cell: cells[0], seed: 9 } as const;
    await using computer = await ReservoirComputer.create(config);
    const { data } = computer.model.cell!.orthogonal!;
    expect(data).not.toEqual((computer.model.weights as Matrix).data);
    for (let a = 0; a < 25; a++)
      for (let b = 0; b < 25; b++) {
        let dot = 0;
        for (let c = 0; c < 25; c++) dot += data[a * 25 + c]! * data[b * 25 + c]!;
        expect(dot).toBeCloseTo(a === b ? 1 : 0, 12);
      }
  });

  it("es2n remembers nearly as many inputs as it has neurons, and a random reservoir fewer", async () => {
    const base = { size: 25, inputScaling: 0.1, precision: "float64", connectionProbability: 0.3, spectralRadius: 0.9, seed: 1 } as const;
    const rows = { length: 1000, heldOut: 1000, seed: 1 };
    expect((await memoryCapacity({ ...base, leakRate: 1 }, rows)).total).toBeLessThan(18);
    expect((await memoryCapacity({ ...base, cell: { type: "es2n", proximity: 0.1 } }, rows)).total).toBeGreaterThan(23);
  });

  it("is in the effective spectrum and in the Lyapunov exponent", async () => {
    // Without a nonlinear part the step is 0.5 O: all moduli 0.5, and differences halve.
    const half = { size: 12, precision: "float64", cell: { type: "residual", keep: 0.5, gain: 0 } } as const;
    const { effective } = await spectrum(half);
    expect(effective.radius).toBeCloseTo(0.5, 10);
    expect(Math.hypot(effective.re[11]!, effective.im[11]!)).toBeCloseTo(0.5, 10);
    expect(await lyapunovExponent(half)).toBeCloseTo(Math.log(0.5), 6);
    // Euler: eigenvalues 1 + e (i w - G).
    const euler = await spectrum({
      size: 12,
      precision: "float64",
      connectionProbability: 1,
      cell: { type: "euler", step: 0.1, damping: 0.5 },
    });
    for (const re of euler.effective.re) expect(re).toBeCloseTo(0.95, 10);
  });
});
