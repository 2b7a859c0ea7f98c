// The search of an experiment, read and checked: what is varied, by which sampler, measured how.
import { ArgumentError } from "@spillway/core/errors.js";
import { object } from "@spillway/core/options.js";
import { readText } from "@spillway/io";
import type { Seed } from "@spillway/numerics";
import { cmaes, grid, gridSize, randomSampler, type Sampler, SearchSpace, sobol, tpe } from "@spillway/search";
import type { ExperimentInput, OpenExperiment } from "../description/description.js";
import { ExperimentError } from "../description/errors.js";
import { readOrThrow } from "../description/file.js";
import { applyOverrides, withFields } from "../description/overrides.js";
import { readExperiment } from "../description/parse.js";
import { objectiveOf, type SearchObjective } from "./search-objective.js";
import { searchTable } from "./search-options.js";

/** An experiment with a search, as a file or a program says it. */
export type SearchInput = ExperimentInput & { readonly search: object };

/** A checked search. */
export interface SearchPlan {
  readonly experiment: OpenExperiment;
  /** The experiment as it was written, without its search. */
  readonly source: ExperimentInput;
  readonly path: string | undefined;
  readonly space: SearchSpace;
  readonly objective: SearchObjective;
  readonly statistic: "median" | "mean" | "worst";
  readonly seeds: readonly Seed[];
  readonly sampler: Sampler;
  /**
   * Trials that are asked for and finished at once; left out, one is asked for as soon as one has finished.
   */
  readonly batch: number | undefined;
  readonly budget: { readonly trials?: number | undefined; readonly time?: string | number | undefined };
  readonly halving: { readonly of: "rows" | "seeds"; readonly steps: readonly number[]; readonly keep: number } | undefined;
  readonly refitSeeds: number;
  /** Trials after which a grid is through, whatever they came to. */
  readonly points: number;
}

/** Reads and checks a search. @throws ArgumentError, ExperimentError, FileError */
export async function readSearch(source: string | SearchInput, overrides: readonly string[] = []): Promise<SearchPlan> {
  const path = typeof source === "string" ? source : undefined;
  const written = path === undefined ? source : readOrThrow(await readText(path), path).value;
  try {
    return planOf(applyOverrides(written, overrides), path);
  } catch (error) {
    if (!(error instanceof ArgumentError) || path === undefined) throw error;
    throw new ExperimentError(error.message, { path, field: error.field, cause: error });
  }
}

const example = "a block such as {space: {reservoir.spectralRadius: {float: [0.1, 1.5]}, readout.lambda: {float: [1e-8, 1], log: true}}}";

function planOf(written: unknown, path: string | undefined): SearchPlan {
  if (typeof written !== "object" || written === null) throw new ArgumentError("the experiment", written, "an object with a search");
  const { search, ...source } = written as SearchInput;
  if (search === undefined) throw new ArgumentError("search", undefined, example);
  const block = object(searchTable).read(search, "search");
  const { experiment } = readExperiment(source);
  const space = new SearchSpace(block.space, "search.space");
  const objective = objectiveOf(experiment, block.objective);
  checkPaths(source, space);
  const list = typeof block.seeds === "number" ? Array.from({ length: block.seeds }, (_, k) => k) : block.seeds;
  const halving = halvingOf(block.halving, list.length, objective);
  const { batch } = block.sampler;
  const { time, trials = time === undefined ? 100 : undefined } = block.budget;
  return {
    ...{ experiment, source, path, space, objective, halving, batch },
    statistic: block.statistic,
    seeds: list,
    sampler: samplerOf(block.sampler),
    budget: { trials, time },
    points: block.sampler.type === "grid" ? gridSize(space) : Number.POSITIVE_INFINITY,
    refitSeeds: block.refit.seeds,
  };
}

function samplerOf({ type, batch, ...options }: { readonly type: string; readonly batch?: number | undefined }): Sampler {
  if (type === "cmaes") return cmaes({ population: batch !== undefined && batch > 4 ? batch : undefined, ...options });
  return { tpe, random: randomSampler, sobol, grid }[type as "tpe"](options);
}

function halvingOf(
  given:
    | { readonly rows?: readonly number[] | undefined; readonly seeds?: readonly number[] | undefined; readonly keep: number }
    | undefined,
  seeds: number,
  { on }: SearchObjective,
): SearchPlan["halving"] {
  if (given === undefined) return undefined;
  const { rows, seeds: bySeeds, keep } = given;
  if ((rows === undefined) === (bySeeds === undefined)) throw new ArgumentError("search.halving", given, "rows or seeds, one of the two");
  const of = rows ? "rows" : "seeds";
  const steps = (rows ?? bySeeds)!;
  if (steps.some((step, i) => i > 0 && step <= steps[i - 1]!)) throw new ArgumentError(`search.halving.${of}`, steps, "numbers that rise");
  if (of === "rows" && on === "folds") throw new ArgumentError("search.halving.rows", steps, "nothing for classify; take seeds");
  if (of === "seeds" && steps.at(-1) !== seeds)
    throw new ArgumentError("search.halving.seeds", steps, `a list that ends with the seeds of a trial, ${seeds}`);
  return { of, steps, keep };
}

const ownSeeds = "the seeds of every trial are search.seeds";
const unused = "no trial depends on it";
const sameRows = "every trial has the same rows, so that none sees the test part";

/** Fields that a search cannot vary, and why. */
const heldFields: Readonly<Record<string, string>> = {
  ...{ split: sameRows, "data.rows": sameRows },
  ...{ seed: ownSeeds, seeds: ownSeeds, "reservoir.seed": ownSeeds, "liquid.seed": ownSeeds },
  ...{ name: unused, baselines: unused, published: unused, outputs: unused },
};

/**
 * Every parameter is a field of the experiment on which trials depend, and takes the ends of its
 * range.
 */
function checkPaths(source: ExperimentInput, space: SearchSpace): void {
  for (const path of [...space.parameters.map(({ name }) => name), ...Object.keys(space.sweeps)]) {
    const held = Object.keys(heldFields).find((field) => path === field || path.startsWith(`${field}.`));
    if (held !== undefined) throw ArgumentError.because(`search.space.${path}: ${heldFields[held]}`, { field: `search.space.${path}` });
  }
  const first = Object.fromEntries(Object.entries(space.sweeps).map(([name, values]) => [name, values[0]!]));
  const check = (values: Readonly<Record<string, unknown>>) => {
    try {
      readExperiment(withFields(source, { ...first, ...values }));
    } catch (error) {
      throw error instanceof ArgumentError
        ? ArgumentError.because(`search.space: ${error.message}`, { code: error.code, field: `search.space.${error.field}` })
        : error;
    }
  };
  check(space.toParameters(space.fill((index) => space.parameters[index]!.low)));
  check(space.toParameters(space.fill((index) => space.parameters[index]!.high)));
}
