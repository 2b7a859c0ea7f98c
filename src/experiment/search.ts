// Searches over the settings of an experiment: asks, evaluates, tells, and in the end trains the
// best one and tests it once.
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import { ArgumentError, SpillwayError } from "../core/errors.js";
import { object, resolve } from "../core/options.js";
import { FileError, readText, writeFileAtomic } from "../io/index.js";
import type { Seed } from "../numerics/index.js";
import {
  type AskedTrial,
  cmaes,
  grid,
  gridSize,
  journalFile,
  MemoryStorage,
  randomSampler,
  type Sampler,
  SearchSpace,
  Study,
  sobol,
  survivors,
  type TrialOutcome,
  tpe,
} from "../search/index.js";
import type { Experiment, ExperimentInput } from "./description.js";
import { ExperimentError } from "./errors.js";
import { applyOverrides, withFields } from "./overrides.js";
import { readExperiment } from "./parse.js";
import type { ExperimentResult } from "./result.js";
import { runExperiment } from "./run.js";
import { isLowerBetter, objectiveOf, type SearchObjective, SettingEvaluator, type SettingScores } from "./search-objective.js";
import { type ExperimentSearchOptions, experimentSearchTable, searchTable, secondsOf } from "./search-options.js";
import { type PassedOver, refitBest } from "./search-refit.js";
import { readYaml, YamlError } from "./yaml.js";

/** An experiment with a search, as a file or a program says it. */
export type SearchInput = ExperimentInput & { readonly search: object };

/** The best setting of a search. */
export interface SearchBest {
  readonly trial: number;
  /** The values of the space, by their paths; of a ladder the value that was best. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** search.json. */
export interface SearchResult {
  readonly format: "spillway-search";
  readonly formatVersion: 1;
  readonly name: string;
  readonly score: string;
  readonly better: "lower" | "higher";
  readonly objective: SearchObjective;
  readonly trials: { readonly complete: number; readonly pruned: number; readonly failed: number };
  readonly best: SearchBest | undefined;
  /** The score of the best trial, by which it was chosen: too good. */
  readonly validation: number | undefined;
  /** Better trials whose setting could not be trained with every fresh seed. */
  readonly passedOver: readonly PassedOver[];
  /** The same setting and rows with seeds that no trial had. */
  readonly freshSeeds: number | undefined;
  /** Trained on all training rows, on the test part, with those seeds. */
  readonly test: number | undefined;
  readonly importance: Readonly<Record<string, number>>;
  /** Whether it was stopped before its budget was used. */
  readonly interrupted: boolean;
  readonly seconds: number;
}

/** A search that is over. */
export interface FinishedSearch {
  readonly result: SearchResult;
  /** The experiment of the best setting, without a search; undefined if no trial is complete. */
  readonly best: ExperimentInput | undefined;
  /** What the best setting gave on the test part; undefined without a refit. */
  readonly refit: ExperimentResult | undefined;
  readonly folder: string | undefined;
  /** What of the space differs from an earlier command's; undefined if nothing. */
  readonly change: string | undefined;
}

/**
 * Searches the space of an experiment. With `out`, every trial is kept in a file as soon as it is
 * told, and the same search goes on from there.
 * @param source the path of an experiment file with a `search` block, or an object of that shape
 * @param overrides `field=value` each, as `--set` takes them
 * @throws ArgumentError and ExperimentError for what the file got wrong, before the first trial
 */
export async function searchExperiment(
  source: string | SearchInput,
  options: ExperimentSearchOptions = {},
  overrides: readonly string[] = [],
): Promise<FinishedSearch> {
  const settings = resolve(experimentSearchTable, options, "searchExperiment");
  const plan = await readSearch(source, overrides);
  return new Search(plan, settings).run();
}

/** A checked search. */
export interface SearchPlan {
  readonly experiment: Experiment;
  /** The experiment as it was written, without its search. */
  readonly source: ExperimentInput;
  readonly path: string | undefined;
  readonly space: SearchSpace;
  readonly objective: SearchObjective;
  readonly statistic: "median" | "mean" | "worst";
  readonly seeds: readonly Seed[];
  readonly sampler: Sampler;
  readonly batch: number;
  readonly budget: { readonly trials?: number | undefined; readonly time?: string | number | undefined };
  readonly rungs: { readonly of: "rows" | "seeds"; readonly steps: readonly number[]; readonly keep: number } | undefined;
  readonly refitSeeds: number;
  /** Trials after which a grid is through, whatever they came to. */
  readonly points: number;
}

/** Reads and checks a search. @throws ArgumentError, ExperimentError, FileError */
export async function readSearch(source: string | SearchInput, overrides: readonly string[] = []): Promise<SearchPlan> {
  const path = typeof source === "string" ? source : undefined;
  try {
    return planOf(applyOverrides(typeof source === "string" ? readYaml(await readText(source)).value : source, overrides), path);
  } catch (error) {
    if (error instanceof YamlError) throw new ExperimentError(error.message, { path, line: error.line, cause: error });
    if (error instanceof ArgumentError && path !== undefined)
      throw new ExperimentError(error.message, { path, field: error.field, cause: error });
    throw error;
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
  const rungs = rungsOf(block.rungs, list.length, objective);
  const { batch = rungs ? 27 : 1 } = block.sampler;
  const { time, trials = time === undefined ? 100 : undefined } = block.budget;
  return {
    ...{ experiment, source, path, space, objective, rungs, batch },
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

function rungsOf(
  given:
    | { readonly rows?: readonly number[] | undefined; readonly seeds?: readonly number[] | undefined; readonly keep: number }
    | undefined,
  seeds: number,
  { on }: SearchObjective,
): SearchPlan["rungs"] {
  if (given === undefined) return undefined;
  const { rows, seeds: bySeeds, keep } = given;
  if ((rows === undefined) === (bySeeds === undefined)) throw new ArgumentError("search.rungs", given, "rows or seeds, one of the two");
  const of = rows ? "rows" : "seeds";
  const steps = (rows ?? bySeeds)!;
  if (steps.some((step, i) => i > 0 && step <= steps[i - 1]!)) throw new ArgumentError(`search.rungs.${of}`, steps, "numbers that rise");
  if (of === "rows" && on === "folds") throw new ArgumentError("search.rungs.rows", steps, "nothing for classify; take seeds");
  if (of === "seeds" && steps.at(-1) !== seeds)
    throw new ArgumentError("search.rungs.seeds", steps, `a list that ends with the seeds of a trial, ${seeds}`);
  return { of, steps, keep };
}

/** Every parameter is a field of the experiment, and takes the ends of its range. */
function checkPaths(source: ExperimentInput, space: SearchSpace): void {
  const first = Object.fromEntries(Object.entries(space.ladders).map(([name, values]) => [name, values[0]!]));
  const check = (values: Readonly<Record<string, unknown>>) => {
    try {
      readExperiment(withFields(source, { ...first, ...values }));
    } catch (error) {
      throw error instanceof ArgumentError
        ? ArgumentError.because(`search.space: ${error.message}`, { code: error.code, field: `search.space.${error.field}` })
        : error;
    }
  };
  check(space.toParameters(space.fill((place) => space.parameters[place]!.low)));
  check(space.toParameters(space.fill((place) => space.parameters[place]!.high)));
}

class Search {
  readonly #plan: SearchPlan;
  readonly #options: ExperimentSearchOptions & { readonly refit: boolean };
  readonly #signal: AbortSignal;
  readonly #evaluator: SettingEvaluator;
  readonly #begun = performance.now();
  readonly #trials: number;
  readonly #seconds: number;

  constructor(plan: SearchPlan, options: ExperimentSearchOptions & { readonly refit: boolean }) {
    const { source, path, objective, statistic, budget } = plan;
    const { engine, threads, signal = new AbortController().signal } = options;
    const time = options.time ?? budget.time;
    this.#plan = plan;
    this.#options = options;
    this.#signal = signal;
    this.#trials = options.trials ?? budget.trials ?? Number.POSITIVE_INFINITY;
    this.#seconds = time === undefined ? Number.POSITIVE_INFINITY : secondsOf(time);
    this.#evaluator = new SettingEvaluator({ source, path, objective, statistic, run: { engine, threads, signal } });
  }

  async run(): Promise<FinishedSearch> {
    const { experiment, space, objective, sampler, batch } = this.#plan;
    const { out } = this.#options;
    const folder = out === undefined ? undefined : join(out, experiment.name);
    if (folder !== undefined) await mkdir(folder, { recursive: true });
    const storage = folder === undefined ? new MemoryStorage() : journalFile(join(folder, "journal.log"));
    const about = JSON.stringify([this.#plan.source, objective, this.#plan.seeds, this.#plan.statistic]);
    const direction = isLowerBetter(objective.score) ? "minimise" : "maximise";
    const study = await Study.open({
      space,
      name: experiment.name,
      direction,
      sampler,
      storage,
      attributes: { "spillway:experiment": about },
    });
    if (study.attributes["spillway:experiment"] !== about)
      throw ArgumentError.because(
        `${storage.name} holds trials of another experiment, objective or list of seeds; give this one another name, or another folder with --out`,
        { field: "name" },
      );
    let beaten = 0;
    while (!this.#isOver(study)) {
      this.#report(study);
      // A sign of life, and the trials of commands that have given none.
      if (performance.now() - beaten > 30_000 || beaten === 0) {
        await study.beat();
        beaten = performance.now();
      }
      const trials = await study.ask(Math.min(batch, this.#trials - study.finished, this.#plan.points - study.trials.length));
      const outcomes = await this.#evaluate(trials);
      await study.tell(trials.map((trial, i) => [trial, outcomes[i]!] as const));
      if (study.finished === 0 && study.trials.length >= 10) throw everyTrialFailed(study);
    }
    this.#report(study);
    return this.#finish(study, folder);
  }

  #isOver(study: Study): boolean {
    if (study.trials.length >= this.#plan.points) return true;
    return this.#signal.aborted || study.finished >= this.#trials || (performance.now() - this.#begun) / 1000 >= this.#seconds;
  }

  #report(study: Study): void {
    const { best } = study;
    const label =
      best?.value === undefined
        ? this.#plan.experiment.name
        : `${this.#plan.objective.score} ${best.value.toPrecision(4)} (trial ${best.number})`;
    const total = Number.isFinite(this.#trials) ? this.#trials : study.finished + 1;
    this.#options.onProgress?.(study.finished, total, label);
  }

  /** The outcomes of a batch, halved at each rung. */
  async #evaluate(trials: readonly AskedTrial[]): Promise<TrialOutcome[]> {
    const { rungs, seeds, objective } = this.#plan;
    const sign = isLowerBetter(objective.score) ? 1 : -1;
    const outcomes: TrialOutcome[] = trials.map(() => new Error("it was stopped before it was evaluated"));
    const steps = rungs?.steps ?? [0];
    const intermediate = trials.map((): Record<number, number> => ({}));
    let alive = trials.map((_, i) => i);
    for (const [r, step] of steps.entries()) {
      const losses: number[] = [];
      for (const i of alive) {
        if (this.#signal.aborted) return outcomes;
        const some = rungs?.of === "seeds" ? seeds.slice(0, step) : seeds;
        const found = await this.#evaluateOne(trials[i]!.params, some, rungs?.of === "rows" ? step : undefined);
        if (found instanceof Error) {
          outcomes[i] = found;
          losses.push(Number.NaN);
          continue;
        }
        if (rungs) intermediate[i]![step] = found.value;
        losses.push(sign * found.value);
        const attributes = {
          "spillway:seeds": found.seeds,
          ...(found.diverged > 0 && { "spillway:diverged": found.diverged }),
          ...(Object.keys(found.ladder).length > 0 && { "spillway:ladder": found.ladder }),
        };
        outcomes[i] = { value: found.value, pruned: r < steps.length - 1, intermediate: intermediate[i]!, attributes };
      }
      if (r === steps.length - 1) break;
      const kept = new Set(survivors(losses, rungs!.keep).filter((k) => !Number.isNaN(losses[k]!)));
      alive = alive.filter((_, k) => kept.has(k));
    }
    return outcomes;
  }

  /** A setting with each value of the ladders; the best of them is the trial's. */
  async #evaluateOne(
    params: Readonly<Record<string, unknown>>,
    seeds: readonly Seed[],
    rows: number | undefined,
  ): Promise<(SettingScores & { readonly ladder: Record<string, number> }) | Error> {
    const sign = isLowerBetter(this.#plan.objective.score) ? 1 : -1;
    let best: (SettingScores & { readonly ladder: Record<string, number> }) | undefined;
    try {
      for (const ladder of rungsOfLadders(this.#plan.space.ladders)) {
        const found = await this.#evaluator.evaluate({ ...params, ...ladder }, seeds, rows);
        if (best === undefined || sign * found.value < sign * best.value) best = { ...found, ladder };
      }
      return best!;
    } catch (error) {
      if (error instanceof SpillwayError && !this.#signal.aborted) return error;
      if (this.#signal.aborted) return new Error("it was stopped while it was evaluated");
      throw error;
    }
  }

  async #finish(study: Study, folder: string | undefined): Promise<FinishedSearch> {
    const { experiment, objective } = this.#plan;
    const interrupted = this.#signal.aborted;
    const isLower = isLowerBetter(objective.score);
    const { engine, threads } = this.#options;
    const found = await refitBest(
      this.#plan,
      study.trials,
      isLower,
      this.#options.refit && !interrupted
        ? async (values, seeds, best) => [
            (await this.#evaluator.evaluate(values, seeds)).value,
            (await runExperiment(best, { engine, threads, out: folder, signal: this.#signal })).result,
          ]
        : undefined,
    );
    const refit = found?.result;
    const best = found?.experiment;
    const count = (state: string) => study.trials.filter((trial) => trial.state === state).length;
    const result: SearchResult = {
      format: "spillway-search",
      formatVersion: 1,
      name: experiment.name,
      score: objective.score,
      better: isLower ? "lower" : "higher",
      objective,
      trials: { complete: count("complete"), pruned: count("pruned"), failed: count("failed") },
      best: found && { trial: found.trial.number, values: found.values },
      validation: found?.trial.value,
      passedOver: found?.passedOver ?? [],
      freshSeeds: found?.freshSeeds,
      test: refit?.scores.find(({ metric }) => metric === objective.score)?.value,
      importance: study.importance(),
      interrupted,
      seconds: (performance.now() - this.#begun) / 1000,
    };
    if (folder !== undefined) {
      if (best) await writeFileAtomic(join(folder, "best.yaml"), stringify(best, { lineWidth: 100 }));
      await writeFileAtomic(join(folder, "search.json"), `${JSON.stringify(result, undefined, 2)}\n`);
    }
    await study.close();
    return { result, best, refit, folder, change: study.change };
  }
}

/** Every combination of the values of ladders; one empty one without any. */
function rungsOfLadders(ladders: Readonly<Record<string, readonly number[]>>): Record<string, number>[] {
  return Object.entries(ladders).reduce<Record<string, number>[]>(
    (all, [name, values]) => all.flatMap((chosen) => values.map((value) => ({ ...chosen, [name]: value }))),
    [{}],
  );
}

function everyTrialFailed(study: Study): SpillwayError {
  const reasons = study.trials.map(({ attributes }) => attributes["spillway:error"]);
  return new SpillwayError("value", `every one of ${reasons.length} trials failed; the last: ${String(reasons.at(-1))}`);
}

/** Reads a search.json. @throws FileError, SpillwayError */
export async function readSearchResult(folder: string): Promise<SearchResult> {
  const path = join(folder, "search.json");
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    throw new FileError(path, "no search was finished in this folder", "missing", error);
  }
  return JSON.parse(text) as SearchResult;
}
