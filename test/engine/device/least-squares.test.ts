// Least squares in double-double on a device: the host's bits, as numbers of their own and in NVAR.
import { afterAll, describe, expect, it, vi } from "vitest";
import { type DoubleDoubles, ddLeastSquares, ddSet, doubleDoubles } from "../../../packages/numerics/src/double-double-rows.js";
import { ddAdd, ddDivide, doubleDouble, Matrix, RandomStream, seedKeys } from "../../../packages/numerics/src/index.js";
import { contextEngine } from "../../../src/engine/cuda/index.js";
import { deviceDoubleDouble, ridge } from "../../../src/index.js";
import { NvarForecaster } from "../../../src/model/index.js";
import type { RidgeOptions } from "../../../src/readout/options.js";
import { lorenz } from "../../../src/tasks/index.js";
import { onHardware, openTestDevice, size } from "../../gpu/device/device.js";

const context = openTestDevice();
afterAll(() => context.dispose());
const engine = contextEngine(context);

const draws = new RandomStream(seedKeys("least squares on a device").weights, 0);
const columns = (count: number, rows: number, stream: number): DoubleDoubles[] =>
  Array.from({ length: count }, (_, c) => ({
    high: Float64Array.from({ length: rows }, (_, r) => draws.normal(r, 100 * stream + c)),
    low: Float64Array.from({ length: rows }, (_, r) => 2 ** -60 * draws.normal(r, 100 * stream + c + 50)),
  }));
const copies = (all: readonly DoubleDoubles[]) => all.map(({ high, low }) => ({ high: high.slice(), low: low.slice() }));
function onHost(x: readonly DoubleDoubles[], y: readonly DoubleDoubles[]) {
  const solve = ddLeastSquares(copies(x), copies(y));
  let solved = solve.next();
  while (!solved.done) solved = solve.next();
  return solved.value;
}

describe("least squares in double-double on a device", () => {
  it.each([
    [size(2000, 150), size(150, 9), 2],
    [5, 5, 1],
    [1, 1, 3],
  ])("has the bits of the host for %d rows, %d columns and %d targets", async (rows, features, targets) => {
    const [x, y] = [columns(features, rows, 1), columns(targets, rows, 2)];
    expect(await engine.device.leastSquares(copies(x), copies(y))).toEqual(onHost(x, y));
  });

  it("solves the Hilbert matrix of 12 x 12 to 14 digits, whose condition is 1.7e16", async () => {
    const x = Array.from({ length: 12 }, (_, c) => {
      const column = doubleDoubles(12);
      for (let r = 0; r < 12; r++) ddSet(column, r, ddDivide(doubleDouble(1), doubleDouble(r + c + 1)));
      return column;
    });
    // The sums of its rows: every weight is 1.
    const y = [doubleDoubles(12)];
    for (let r = 0; r < 12; r++) {
      let sum = doubleDouble(0);
      for (const column of x) sum = ddAdd(sum, { high: column.high[r]!, low: column.low[r]! });
      ddSet(y[0]!, r, sum);
    }
    const found = (await engine.device.leastSquares(copies(x), copies(y)))!;
    expect(found).toEqual(onHost(x, y));
    for (const weight of found[0]!.high) expect(Math.abs(weight - 1)).toBeLessThan(1e-14);
  });

  it("finds columns that the others span", async () => {
    const [x, y] = [columns(3, 20, 1), columns(1, 20, 2)];
    expect(await engine.device.leastSquares([...copies(x), copies(x)[1]!], copies(y))).toBeUndefined();
    expect(await engine.device.leastSquares([...copies(x), doubleDoubles(20)], copies(y))).toBeUndefined();
  });

  it("trains NVAR to the host's bits, and refuses binary64", async () => {
    const series = lorenz(size(600, 120), { dt: 0.02 });
    const options = { arithmetic: "doubleDouble", degrees: [2], lambda: 1e-12 } as const;
    const device = onHardware ? "cuda" : "sim";
    const here = await NvarForecaster.fit(series, options);
    const there = await NvarForecaster.fit(series, { ...options, engine: device });
    expect(there.readout.weights.data).toEqual(here.readout.weights.data);
    expect((await there.forecast(20)).data).toEqual((await here.forecast(20)).data);
    await expect(NvarForecaster.fit(series, { engine: device })).rejects.toThrow('engine is "');
  });

  it("stops when it is told to", async () => {
    await expect(engine.device.leastSquares(columns(2, 9, 1), columns(1, 9, 2), { signal: AbortSignal.abort() })).rejects.toThrow(
      "stopped after 0 of 2",
    );
  });
});

describe("ridge in double-double on a device", () => {
  const random = (rows: number, cols: number, stream: number) =>
    new Matrix(
      rows,
      cols,
      Float64Array.from({ length: rows * cols }, (_, i) => draws.normal(i, stream)),
    );
  const readoutBits = (options: RidgeOptions, states: Matrix<Float64Array>, targets: Matrix<Float64Array>) => {
    const { weights, intercept, training } = ridge({ ...options, solver: "doubleDouble" }).fit(states, targets);
    return { weights: weights.data, intercept, training };
  };

  it.each([
    ["intercept and lambda", { lambda: 1e-3 }],
    ["a grid", { lambdas: [1e-6, 1e-2, 1] }],
    ["squares, no intercept", { lambda: 1e-8, transform: "squares" as const, intercept: false }],
  ])("has the host's bits over several panels of rows: %s", async (_name, options) => {
    const rows = size(3000, 530);
    const states = random(rows, size(60, 4), 900);
    // A feature that is always 0 has no reflection.
    for (let t = 0; t < rows; t++) states.data[t * states.cols + 1] = 0;
    const targets = random(rows, 2, 901);
    using blas = await deviceDoubleDouble(context);
    expect(readoutBits({ ...options, blas }, states, targets)).toEqual(readoutBits(options, states, targets));
  });

  it("solves Hilbert's matrix of 12 to fourteen digits, and says what it cannot determine", async () => {
    let multiple = 1;
    const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));
    for (let k = 2; k < 24; k++) multiple = (multiple * k) / divisor(multiple, k);
    const hilbert = Matrix.zeros(12, 12);
    const sums = Matrix.zeros(12, 1);
    for (let i = 0; i < 144; i++) {
      hilbert.data[i] = multiple / (Math.floor(i / 12) + (i % 12) + 1);
      sums.data[Math.floor(i / 12)] = sums.data[Math.floor(i / 12)]! + hilbert.data[i]!;
    }
    using blas = await deviceDoubleDouble(onHardware ? "cuda" : "sim");
    const trainer = ridge({ solver: "doubleDouble", lambda: 0, intercept: false, blas });
    for (const weight of trainer.fit(hilbert, sums).weights.data) expect(Math.abs(weight - 1)).toBeLessThan(1e-14);
    for (let i = 0; i < 12; i++) hilbert.data[12 * i + 3] = hilbert.data[12 * i + 5]!;
    expect(() => trainer.fit(hilbert, sums)).toThrow(/do not determine|singular/i);
  });

  it("is refused where it does not fit, and for other solvers and engines", async () => {
    await expect(deviceDoubleDouble("cpu")).rejects.toThrow('engine is "cpu"; deviceDoubleDouble takes "cuda" or a device by number');
    using blas = await deviceDoubleDouble(context);
    expect(() => ridge({ blas })).toThrow(`blas is ${blas.library} and solver is "cholesky"; it serves "doubleDouble"`);
    expect(JSON.stringify({ blas })).toBe('{"blas":"portable"}');
    vi.spyOn(context, "poolStatistics").mockReturnValue({ ...context.poolStatistics(), reserved: 0, used: 0 });
    vi.spyOn(context, "memoryInfo").mockReturnValue({ ...context.memoryInfo(), free: 1000 });
    expect(() => ridge({ solver: "doubleDouble", blas }).fit(random(20, 3, 902), random(20, 1, 903))).toThrow(
      /least squares of 24 rows and 5 columns on .* would take .*: take fewer rows, or leave the engine out/,
    );
    vi.restoreAllMocks();
  });
});
