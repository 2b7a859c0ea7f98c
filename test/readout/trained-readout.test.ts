// A trained readout: plain data, evaluated in the order of rules 1 and 10.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Matrix } from "../../packages/numerics/src/index.js";
import { type ReadoutJson, TrainedReadout } from "../../src/readout/index.js";
import { applyReadout, type FeatureSpec, featureCount } from "../../src/reservoir/features.js";
import { bits, randomMatrix } from "../numerics/linear-algebra-reference.js";

function readout(features: FeatureSpec, stateSize: number, inputSize: number, outputs: number): TrainedReadout {
  const weights = randomMatrix(outputs, featureCount(features, stateSize, inputSize), "weights") as Matrix<Float64Array>;
  return new TrainedReadout({ features, stateSize, inputSize, weights, intercept: randomMatrix(outputs, 1, "b").data as Float64Array });
}

describe("a trained readout", () => {
  it("predicts short series with the bits of the reference evaluation", () => {
    const shape = fc.record({
      size: fc.integer({ min: 1, max: 130 }),
      inputSize: fc.integer({ min: 0, max: 4 }),
      outputs: fc.integer({ min: 1, max: 5 }),
      rows: fc.integer({ min: 1, max: 9 }),
      precision: fc.constantFrom("float32" as const, "float64" as const),
      features: fc.record({ state: fc.constantFrom("plain" as const, "squareHalf" as const), input: fc.boolean(), squares: fc.boolean() }),
    });
    fc.assert(
      fc.property(shape, ({ size, inputSize, outputs, rows, precision, features }) => {
        const trained = readout(features, size, inputSize, outputs);
        const states = randomMatrix(rows, size, "x", precision);
        const inputs = randomMatrix(rows, inputSize, "u", precision);
        expect(bits(trained.predict(states, inputs).data)).toEqual(bits(applyReadout(trained, states, inputs, precision)));
      }),
      { numRuns: 30, seed: 4 },
    );
  });

  it.each([1, 31, 32, 33, 64, 65, 200])("predicts long series with them too, in WebAssembly, for %i neurons", (size) => {
    const trained = readout({ state: "squareHalf", input: true, squares: true }, size, 2, 3);
    const rows = Math.ceil(70000 / trained.weights.data.length);
    const states = randomMatrix(rows, size, "long", "float32");
    const inputs = randomMatrix(rows, 2, "inputs", "float32");
    expect(bits(trained.predict(states, inputs).data)).toEqual(bits(applyReadout(trained, states, inputs, "float32")));
  });

  it("gives outputs in the precision of the states, or in the one that is asked for", () => {
    const trained = readout({ state: "plain", input: false, squares: false }, 3, 0, 1);
    expect(trained.predict(randomMatrix(2, 3, "x", "float32")).data).toBeInstanceOf(Float32Array);
    expect(trained.predict([[1, 2, 3]]).data).toBeInstanceOf(Float64Array);
    expect(trained.predict(randomMatrix(2, 3, "x", "float32"), undefined, { precision: "float64" }).data).toBeInstanceOf(Float64Array);
  });

  it("is JSON and comes back with the same bits", () => {
    const trained = readout({ state: "squareHalf", input: true, squares: true }, 5, 2, 3);
    const back = TrainedReadout.fromJSON(JSON.parse(JSON.stringify(trained)) as ReadoutJson);
    expect(back).toEqual(trained);
    expect(bits(back.weights.data)).toEqual(bits(trained.weights.data));
  });

  it("refuses states and inputs it was not trained on", () => {
    const trained = readout({ state: "plain", input: true, squares: false }, 3, 2, 1);
    expect(() => trained.predict(Matrix.zeros(4, 5))).toThrow("states has 5 columns; this readout was trained on 3 neurons");
    expect(() => trained.predict(Matrix.zeros(4, 3))).toThrow("inputs is missing; this readout sees the input beside the state");
    expect(() => trained.predict(Matrix.zeros(4, 3), Matrix.zeros(4, 1))).toThrow("inputs has 1 columns; this readout was trained on 2");
    expect(() => trained.predict(Matrix.zeros(4, 3), Matrix.zeros(3, 2))).toThrow("inputs has 3 rows and states has 4");
  });

  it("refuses weights that do not fit its features", () => {
    const features = { state: "plain", input: false, squares: false } as const;
    const data = { features, stateSize: 3, inputSize: 0, weights: Matrix.zeros(1, 4), intercept: new Float64Array(1) };
    expect(() => new TrainedReadout(data)).toThrow("the weights have 4 columns; the features of this readout take 3");
    expect(() => new TrainedReadout({ ...data, weights: Matrix.zeros(2, 3) })).toThrow(
      "the intercept holds 1 values; 2 outputs take as many",
    );
  });
});
