// What the package exports: a few values at the root, and one meaning for each name.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

/** Where a name is declared, and whether there is a value of it or only a type. */
interface Declaration {
  readonly at: string;
  readonly isValue: boolean;
}

type Names = ReadonlyMap<string, Declaration>;

const sourceOf = (path: string, target: string): string => join(path, "..", target).replace(/\.js$/, ".ts");
const kindsOfType = new Set(["interface", "type"]);
const known = new Map<string, Names>();

/** What stands in braces: "a, type b as c" as [a, a, false], [b, c, true]. */
function listed(braces: string): readonly (readonly [name: string, as: string, isType: boolean])[] {
  const parts = braces.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "").split(",");
  return parts.flatMap((part) => {
    const [, type, name, as = name] = /^\s*(type\s+)?(\w+)(?:\s+as\s+(\w+))?\s*$/.exec(part) ?? [];
    return name === undefined ? [] : [[name, as!, type !== undefined] as const];
  });
}

/** A name as a file that it is taken from exports it; packages are not read. */
function declarationOf(path: string, target: string, name: string): Declaration {
  if (!target.startsWith(".")) return { at: `${target}#${name}`, isValue: true };
  const found = exportsOf(sourceOf(path, target)).get(name);
  if (!found) throw new Error(`${path}: ${target} has no ${name}`);
  return found;
}

/** The names that a file exports, each with the place of its declaration. */
function exportsOf(path: string): Names {
  const before = known.get(path);
  if (before) return before;
  const text = readFileSync(path, "utf8");
  const names = new Map<string, Declaration>();
  known.set(path, names);
  const add = (name: string, { at, isValue }: Declaration, isType: boolean) => names.set(name, { at, isValue: isValue && !isType });
  const declared = /^export\s+(?:declare\s+|abstract\s+|async\s+)*(const|let|function\*?|class|interface|type|enum)\s+(\w+)/gm;
  for (const [, kind, name] of text.matchAll(declared))
    add(name!, { at: `${path}#${name}`, isValue: names.get(name!)?.isValue || !kindsOfType.has(kind!) }, false);
  const imported = new Map<string, () => Declaration>();
  for (const [, braces, target] of text.matchAll(/^import\s+(?:type\s+)?\{([^}]*)\}\s+from\s+"([^"]+)"/gm))
    for (const [name, as] of listed(braces!)) imported.set(as, () => declarationOf(path, target!, name));
  for (const [, type, braces, target] of text.matchAll(/^export\s+(type\s+)?\{([^}]*)\}(?:\s+from\s+"([^"]+)")?/gm))
    for (const [name, as, isType] of listed(braces!)) {
      const own = imported.get(name)?.() ?? { at: `${path}#${name}`, isValue: true };
      add(as, target ? declarationOf(path, target, name) : own, isType || type !== undefined);
    }
  for (const [, type, target] of text.matchAll(/^export\s+(type\s+)?\*\s+from\s+"([^"]+)"/gm))
    for (const [name, declaration] of exportsOf(sourceOf(path, target!))) if (!names.has(name)) add(name, declaration, type !== undefined);
  return names;
}

const { exports: parts } = JSON.parse(readFileSync("package.json", "utf8")) as { exports: Record<string, { types?: string }> };
const entries = Object.entries(parts).flatMap(([name, { types }]) =>
  types ? [[name.replace(/^\./, "spillway"), types.replace("./dist/", "src/").replace(".d.ts", ".ts")] as const] : [],
);

/**
 * What a user of reservoirs needs. Everything else comes from another entry point; a new name here
 * is a decision.
 */
const rootValues = [
  // Reservoirs, and where they run.
  ...["ReservoirComputer", "ReservoirEnsemble", "runEnsemble", "Matrix", "probeEngines", "cudaBlas", "deviceDoubleDouble", "loadWasm"],
  // Models, and their files.
  ...["Forecaster", "NvarForecaster", "FieldForecaster", "Classifier", "loadModel", "loadReservoir", "saveReservoir"],
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
    const rooms = entries.filter(([name]) => name !== "spillway").flatMap(([, path]) => [...exportsOf(path).keys()]);
    const alone = [...exportsOf("src/index.ts").keys()].filter((name) => !rooms.includes(name));
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
    const several = [...meanings].filter(([, places]) => places.size > 1).map(([name, places]) => ({ name, places: [...places] }));
    expect(several).toEqual([]);
  });
});
