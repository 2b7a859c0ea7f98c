// What the package exports: a few values at the root, and one meaning for each name.
import { describe, expect, it } from "vitest";
import { entries, exportsOf } from "./exported-names.js";

/**
 * What a user of reservoirs needs. Everything else comes from another entry point; a new name here
 * is a decision.
 */
const rootValues = [
  // Reservoirs, and where they run.
  ...["ReservoirComputer", "ReservoirEnsemble", "runEnsemble", "Matrix", "probeEngines", "cudaBlas", "deviceDoubleDouble", "loadWasm"],
  // Models, and their files.
  ...["Forecaster", "NvarForecaster", "FieldForecaster", "Classifier", "AnomalyDetector", "loadModel", "loadReservoir", "saveReservoir"],
  ...["sweepReadouts", "sweepForecasts"],
  // Trainers.
  ...["ridge", "recursiveLeastSquares", "leastMeanSquares", "softmaxRegression", "TrainedReadout"],
  // Scores.
  ...["nrmse", "rmse", "mse", "mae", "r2", "accuracy", "confusionMatrix", "validPredictionTime", "seasonalNaive"],
  // Series.
  ...["mackeyGlass", "narma", "lorenz", "rossler", "henon", "mso", "tasks", "toForecasting"],
  // Errors to catch.
  ...["SpillwayError", "ArgumentError", "DisposedError", "EngineUnavailableError", "EngineCapacityError"],
  ...["NonFiniteStateError", "WorkInterruptedError", "ModelFileError", "NotFittedError", "IllConditionedError"],
];

describe("the public surface", () => {
  it("has at its root the values that are decided on, at most 50", () => {
    const values = [...exportsOf("src/index.ts")].filter(([, { isValue }]) => isValue).map(([name]) => name);
    expect(values.sort()).toEqual(rootValues.sort());
    expect(values.length).toBeLessThanOrEqual(50);
  });

  it("has the same names at its root in a browser", () => {
    expect([...exportsOf("src/browser.ts").keys()].sort()).toEqual([...exportsOf("src/index.ts").keys()].sort());
  });

  it("has at most 13 entry points", () => {
    expect(entries.length).toBeLessThanOrEqual(13);
  });

  it("has every name of the root in another entry point", () => {
    const listed = entries.filter(([name]) => name !== "spillway").flatMap(([, path]) => [...exportsOf(path).keys()]);
    const alone = [...exportsOf("src/index.ts").keys()].filter((name) => !listed.includes(name));
    expect(alone).toEqual(["cudaBlas", "deviceDoubleDouble", "DeviceBlas", "DeviceDoubleDouble"]);
  });

  it("has what authors of engines need in spillway/reservoir and not at the root", () => {
    const root = exportsOf("src/index.ts");
    const engine = exportsOf("src/api/reservoir.ts");
    for (const name of ["Engine", "EngineSession", "EngineOptions", "registerEngine", "registerContextEngine", "registerSpikingKind"])
      expect([name, engine.has(name), root.has(name)]).toEqual([name, true, false]);
    for (const name of ["reservoirStep", "activationOf", "WorkPacer", "shapeOf", "expectedShape", "modelOf"])
      expect([name, engine.has(name), root.has(name)]).toEqual([name, true, false]);
  });

  it("is read here as the running modules have it", async () => {
    for (const [name, path] of entries) {
      const values = [...exportsOf(path)].filter(([, { isValue }]) => isValue).map(([value]) => value);
      expect(values.sort(), name).toEqual(Object.keys((await import(/* @vite-ignore */ `../${path}`)) as object).sort());
    }
  });

  it("gives each name one meaning in all entries", () => {
    const meanings = new Map<string, Map<string, string>>();
    for (const [entry, path] of entries)
      for (const [name, { at }] of exportsOf(path)) meanings.set(name, (meanings.get(name) ?? new Map<string, string>()).set(at, entry));
    const several = [...meanings].filter(([, sites]) => sites.size > 1).map(([name, sites]) => ({ name, sites: [...sites] }));
    expect(several).toEqual([]);
  });
});
