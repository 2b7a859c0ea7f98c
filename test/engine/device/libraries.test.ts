// Ridge regression by libraries where the states are: by cuBLAS and cuSOLVER on a GPU that has
// them, and by a stand-in for both on the simulated device.
import { afterAll, describe, expect, it } from "vitest";
import { type Context, type DeviceSlice, LibraryError, type Stream } from "../../../packages/gpu/src/index.js";
import { cholesky, Matrix } from "../../../packages/numerics/src/index.js";
import { DeviceBlas, type Routines } from "../../../src/engine/cuda/training/device-blas.js";
import { ridge } from "../../../src/readout/index.js";
import { accumulate } from "../../../src/reservoir/engine/accumulate.js";
import type { ReservoirOptions } from "../../../src/reservoir/index.js";
import { casesOf } from "../../exhaustive.js";
import { checked, onHardware } from "../../gpu/device/device.js";
import { model, randomMatrix } from "../contract.js";
import { device } from "./engines.js";

afterAll(() => device.close());

/** What the libraries do, on the host. */
function standIn(context: Context): Routines {
  const write = (stream: Stream, to: DeviceSlice<"f64">, values: Float64Array) => {
    stream.upload(to.slice(0, values.length), values as Float64Array<ArrayBuffer>);
    stream.sync();
  };
  return {
    library: "a stand-in",
    addProducts(stream, x, rows, columns, sums) {
      const [values, before] = [context.read(x.slice(0, rows * columns)), context.read(sums)];
      for (let i = 0; i < columns; i++)
        for (let j = 0; j <= i; j++)
          for (let t = 0; t < rows; t++)
            before[i * columns + j] = before[i * columns + j]! + values[t * columns + i]! * values[t * columns + j]!;
      write(stream, sums, before);
    },
    solvePositiveDefinite(stream, matrix, rhs, n, outputs) {
      const right = context.read(rhs);
      const columns = Matrix.zeros(n, outputs);
      for (let i = 0; i < n; i++) for (let o = 0; o < outputs; o++) columns.data[i * outputs + o] = right[o * n + i]!;
      const factor = cholesky(new Matrix(n, n, context.read(matrix)), new Float64Array(n), n);
      write(stream, matrix, factor.lower().data);
      const solved = factor.solve(columns);
      for (let i = 0; i < n; i++) for (let o = 0; o < outputs; o++) right[o * n + i] = solved.data[i * outputs + o]!;
      write(stream, rhs, right);
      return 0;
    },
    dispose: () => undefined,
  };
}

/** A memory checker is for this package's kernels. */
const real = onHardware && !checked;

const opened = (): DeviceBlas => (real ? new DeviceBlas(device.context()) : new DeviceBlas(device.context(), standIn(device.context())));

/** Why a GPU's machine cannot run these tests: they are reported as left out, with the reason. */
function whyNoLibraries(): string | undefined {
  if (!real) return undefined;
  try {
    opened().dispose();
    return undefined;
  } catch (error) {
    if (!(error instanceof LibraryError)) throw error;
    return error.message;
  }
}

const missing = whyNoLibraries();

describe.skipIf(missing !== undefined)(`training by libraries${missing === undefined ? "" : `, left out: ${missing}`}`, () => {
  it.each(
    casesOf(
      [
        ["float32, plain", { precision: "float32" }, {}],
        ["float32, squares and input", { precision: "float32", storage: "sparse" }, { transform: "squares", input: true }],
        ["float64, squares of every other neuron", { precision: "float64" }, { transform: "squareHalf", intercept: false }],
      ] as const,
      (_, k) => k === 1,
    ),
  )("has sums and weights near the portable ones, and no states come to the host: %s", async (_name, options, features) => {
    const blas = opened();
    const of = model({ ...({ size: 40, inputSize: 2, seed: 3 } as const), ...options } as ReservoirOptions);
    const shape = { stateSize: 40, inputSize: 2, outputSize: 2 };
    const parts = [70, 33].map((rows, k) => ({
      inputs: randomMatrix(rows, 2, of.precision, k),
      targets: randomMatrix(rows, 2, "float64", k + 5) as Matrix<Float64Array>,
    }));
    const portable = ridge({ ...features, lambda: 1e-3 });
    const trainer = ridge({ ...features, lambda: 1e-3, blas });
    const [expected, sink] = [portable.accumulator(shape), trainer.accumulator(shape)];
    const session = await device.open(of, { profile: true });
    for (const { inputs, targets } of parts) {
      const from = session.getState();
      await accumulate(session, { inputs }, { targets, washout: 5, sink: expected });
      session.setState(from);
      const before = session.profile!()!.device!.bytesToHost;
      await accumulate(session, { inputs }, { targets, washout: 5, sink });
      expect(session.profile!()!.device!.bytesToHost - before).toBeLessThan(inputs.rows * 40 * 4);
    }
    expect(sink.rows).toBe(70 + 33 - 10);
    const [mine, reference] = [trainer.solve(sink), portable.solve(expected)];
    const scale = Math.max(...reference.weights.data.map(Math.abs));
    expect(Math.max(...mine.weights.data.map((value, i) => Math.abs(value - reference.weights.data[i]!)))).toBeLessThan(1e-9 * scale);
    expect(mine.training?.details["blas"]).toBe(blas.library);
    await session.dispose();
    for (const owned of [sink, expected, blas]) owned.dispose();
  });

  it("takes rows that are on the host", async () => {
    const blas = opened();
    const states = randomMatrix(50, 6, "float32", 1);
    const targets = randomMatrix(50, 1, "float64", 2);
    const [mine, reference] = [ridge({ blas }).fit(states, targets), ridge().fit(states, targets)];
    for (const [i, weight] of reference.weights.data.entries()) expect(mine.weights.data[i]).toBeCloseTo(weight, 9);
    blas.dispose();
  });
});
