// A system's BLAS if there is one, and the error if there is none. The machine decides which of the
// two is tested, or SPILLWAY_BLAS: a library that it names, and that exists, must load.
import { existsSync } from "node:fs";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Matrix, SystemBlas, SystemBlasError } from "../../packages/numerics/src/index.js";
import { IllConditionedError, type RidgeOptions, ridge } from "../../src/readout/index.js";
import { randomMatrix } from "../numerics/linear-algebra-reference.js";

const found = (() => {
  try {
    return SystemBlas.load().library;
  } catch (error) {
    if (error instanceof SystemBlasError && !existsSync(process.env["SPILLWAY_BLAS"] ?? "")) return undefined;
    throw error;
  }
})();

const states = randomMatrix(3000, 60, "states", "float32");
const targets = Matrix.from(Array.from({ length: 3000 }, (_, t) => [states.at(t, 3) * states.at(t, 4), 0.3 + states.at(t, 8)]));

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("a system BLAS", () => {
  it("that is not there is an error that names every library tried", () => {
    vi.stubEnv("SPILLWAY_BLAS", "/nowhere/libblas.so");
    expect(() => ridge({ blas: "system" })).toThrow(SystemBlasError);
    expect(() => ridge({ blas: "system" })).toThrow(
      /^no system BLAS was found\. Tried: \/nowhere\/libblas\.so \(.+\)\. Install OpenBLAS .* SPILLWAY_BLAS, or ask for blas: "portable"$/,
    );
  });

  it.skipIf(found !== undefined)("is looked for under every known name where none is installed", () => {
    expect(() => ridge({ blas: "system" })).toThrow(/no system BLAS was found\. Tried: .+/);
  });
});

describe.runIf(found !== undefined)("the system BLAS", () => {
  const inputs = randomMatrix(3000, 2, "inputs");
  it.each<RidgeOptions>([
    { lambda: 1e-6 },
    { lambda: 1e-3, transform: "squareHalf" },
    { lambda: 1e-6, transform: "squares", input: true },
    { lambda: 1e-6, intercept: false },
  ])("predicts within 1e-9 of portable arithmetic with %j", (options) => {
    const portable = ridge(options).fit(states, targets, { washout: 100, inputs }).predict(states, inputs, { precision: "float64" });
    const readout = ridge({ ...options, blas: "system" }).fit(states, targets, { washout: 100, inputs });
    const system = readout.predict(states, inputs, { precision: "float64" });
    const scale = Math.max(...portable.data.map(Math.abs));
    expect(Math.max(...system.data.map((value, i) => Math.abs(value - portable.data[i]!)))).toBeLessThan(1e-9 * scale);
    expect(readout.training?.details["blas"]).toBe(found);
  });

  it("takes rows in parts and chooses lambda over a grid", () => {
    const trainer = ridge({ blas: "system", lambdas: [1e-4, 1, 100] });
    trainer.partialFit(states.slice(0, 700), targets.slice(0, 700)).partialFit(states.slice(700), targets.slice(700));
    const portable = ridge({ lambdas: [1e-4, 1, 100] }).fit(states, targets);
    const system = trainer.solve();
    expect(system.training?.details["lambda"]).toBe(portable.training?.details["lambda"]);
    expect(system.weights.at(1, 8)).toBeCloseTo(portable.weights.at(1, 8), 9);
  });

  it("fails by name if lambda is too small, at the feature where portable arithmetic fails", () => {
    // A copy of one feature, and a sum of all: whether what is left of their pivots is above 0 is
    // the luck of each library.
    for (const rows of [100, 700, 3000]) {
      const dependent = [(row: number[]) => row[2]!, (row: number[]) => row.slice(0, 20).reduce((sum, value) => sum + value, 0)];
      for (const last of dependent) {
        const few = Matrix.from(states.toArrays().slice(0, rows).map((row) => [...row.slice(0, 20), last(row)])); // biome-ignore format: one line
        const failing = (blas: "portable" | "system") => {
          try {
            return ridge({ blas, lambda: 0, intercept: false }).fit(few, targets.slice(0, rows));
          } catch (error) {
            return error;
          }
        };
        for (const error of [failing("portable"), failing("system")]) {
          expect(error).toBeInstanceOf(IllConditionedError);
          expect(error).toMatchObject({ pivotIndex: 20 });
        }
      }
    }
  });

  it("gives accumulators that refuse to be added", () => {
    const trainer = ridge({ blas: "system" });
    const shape = { stateSize: 2, inputSize: 0, outputSize: 1 };
    expect(() => trainer.accumulator(shape).merge(trainer.accumulator(shape) as never)).toThrow(
      'accumulators that sum by a library cannot be added; take blas: "portable"',
    );
  });
});
