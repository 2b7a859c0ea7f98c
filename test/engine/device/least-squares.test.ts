// Least squares in double-double on a device: the host's bits, as numbers of their own and in NVAR.
import { afterAll, describe, expect, it } from "vitest";
import { contextEngine } from "../../../src/engine/cuda/index.js";
import { NvarForecaster } from "../../../src/model/index.js";
import { type DoubleDoubles, ddLeastSquares, ddSet, doubleDoubles } from "../../../src/numerics/double-double-rows.js";
import { ddAdd, ddDivide, doubleDouble, RandomStream, seedKeys } from "../../../src/numerics/index.js";
import { lorenz } from "../../../src/tasks/index.js";
import { onHardware, openTestDevice, size } from "../../gpu/device/device.js";
import "../../../src/index.js";

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
    expect(await engine.leastSquares!(copies(x), copies(y))).toEqual(onHost(x, y));
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
    const found = (await engine.leastSquares!(copies(x), copies(y)))!;
    expect(found).toEqual(onHost(x, y));
    for (const weight of found[0]!.high) expect(Math.abs(weight - 1)).toBeLessThan(1e-14);
  });

  it("finds columns that the others span", async () => {
    const [x, y] = [columns(3, 20, 1), columns(1, 20, 2)];
    expect(await engine.leastSquares!([...copies(x), copies(x)[1]!], copies(y))).toBeUndefined();
    expect(await engine.leastSquares!([...copies(x), doubleDoubles(20)], copies(y))).toBeUndefined();
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
    await expect(engine.leastSquares!(columns(2, 9, 1), columns(1, 9, 2), { signal: AbortSignal.abort() })).rejects.toThrow(
      "stopped after 0 of 2",
    );
  });
});
