// Sessions over a W that is drawn on the device: every call of every plan, compared with the host.
import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import { Matrix } from "../../../packages/numerics/src/index.js";
import { cpuEngine } from "../../../src/engine/cpu/index.js";
import { resolveConfig } from "../../../src/reservoir/config-schema.js";
import { EngineUnavailableError } from "../../../src/reservoir/engine.js";
import { plainFeatures } from "../../../src/reservoir/features.js";
import type { ReservoirModel } from "../../../src/reservoir/model.js";
import { buildDrawnModel } from "../../../src/reservoir/weights.js";
import { runs } from "../../exhaustive.js";
import { bits, model, randomMatrix } from "../contract.js";
import { device } from "./engines.js";
import { unreadable } from "./unreadable.js";

afterAll(() => device.close());

const fields = {
  inputSize: fc.constantFrom(0, 1, 3),
  precision: fc.constantFrom("float32" as const, "float64" as const),
  weightPrecision: fc.constantFrom("full" as const, "bfloat16" as const),
  arithmetic: fc.constantFrom("portable" as const, "fast" as const),
  feedback: fc.constantFrom(null, { size: 2 }),
  noiseLevel: fc.constantFrom(0, 0.01),
  seed: fc.integer({ min: 0, max: 1000 }),
};

const anyShape = fc.record({
  ...fields,
  size: fc.integer({ min: 2, max: 90 }),
  storage: fc.constantFrom("dense" as const, "sparse" as const),
  connectionProbability: fc.constantFrom(0.2, 0.6, 1),
});

/**
 * Rows that by their description have 48 entries, from which on a lane loads four at once, and have
 * 47 without a connection to themselves: plan and layout must not differ on which it is.
 */
const rowsAtThreshold = fc
  .record({ ...fields, size: fc.constantFrom(48, 48, 48, 60), storage: fc.constant("sparse" as const) })
  .map((shape) => ({ ...shape, connectionProbability: 48 / shape.size }));

const cases = fc.oneof(
  fc.tuple(anyShape, fc.constantFrom("auto", "cluster", "grid", "streamed", "named")),
  fc.tuple(rowsAtThreshold, fc.constantFrom("auto", "streamed", "streamed", "named")),
);

type Rows = { readonly inputs: Matrix; readonly teacher?: Matrix };

/** A session of a plan; undefined if that plan does not take the shape. */
const sessionBy = (plan: string, of: ReservoirModel) =>
  device.open(of, plan === "auto" ? {} : { plan }).catch((error: unknown) => {
    expect(error).toBeInstanceOf(EngineUnavailableError);
    return undefined;
  });

async function statesOnHost(of: ReservoirModel, rows: Rows): Promise<Uint32Array> {
  const session = await cpuEngine.open(of, {});
  const states = Matrix.zeros(3, of.size, of.precision) as Matrix;
  await session.run(rows, { into: states });
  await session.dispose();
  return bits(states.data);
}

const readoutOf = (of: ReservoirModel, outputs: number) => ({
  ...{ features: { ...plainFeatures, input: false, constant: true }, stateSize: of.size, inputSize: of.inputSize },
  weights: randomMatrix(outputs, of.size, "float64", 7, 0.01) as Matrix<Float64Array>,
  intercept: new Float64Array(outputs),
});

it("run in every way that a session has, by every plan, whether or not the host may read W", { timeout: 3_600_000 }, async () => {
  const context = device.context();
  await fc.assert(
    fc.asyncProperty(cases, fc.boolean(), async ([shape, plan], readable) => {
      const options = { ...shape, spectralRadius: null };
      const drawn = await buildDrawnModel(resolveConfig(options), device.device);
      // Not readable: as if it had more connections than the host has memory for.
      const of = readable
        ? drawn
        : { ...drawn, config: { ...drawn.config, connectionProbability: 2e9 }, weights: unreadable(drawn.weights) };
      const session = await sessionBy(plan, of);
      if (!session) return;
      const teacher = of.outputSize > 0 ? { teacher: randomMatrix(3, of.outputSize, of.precision, 6) } : {};
      const rows: Rows = { inputs: randomMatrix(3, of.inputSize, of.precision, 5), ...teacher };
      const states = Matrix.zeros(3, of.size, of.precision) as Matrix;
      await session.run(rows, { into: states });
      if (of.config.arithmetic === "portable") expect(bits(states.data)).toEqual(await statesOnHost(model(options), rows));
      session.step(rows.inputs.row(0), rows.teacher?.row(0));
      await session.batch([rows, rows], { keep: "last" });
      if (of.inputSize > 0 || of.outputSize > 0) {
        const outside = of.outputSize > 0 ? of.inputSize : of.inputSize - 1;
        const inputs = outside > 0 ? { inputs: randomMatrix(3, outside, of.precision, 8) } : {};
        // A plan that was named and closes no loop says so.
        await session.generate({ steps: 3, readout: readoutOf(of, of.outputSize || 1), ...inputs }).catch((error: unknown) => {
          if (!String(error).includes("closes no loop")) throw error;
        });
      }
      await session.dispose();
    }),
    { numRuns: runs(3000, 200, 25) },
  );
  expect(context.held().filter(({ kind }) => kind === "buffer")).toEqual([]);
});
