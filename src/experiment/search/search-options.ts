// The `search` block of an experiment, and how a search runs: apart from the search, which loads
// much more.
import {
  byType,
  checked,
  checkedLater,
  choice,
  choiceOf,
  count,
  either,
  filled,
  flag,
  given,
  type InputOf,
  list,
  number,
  type OptionTable,
  object,
  option,
  optional,
  seed,
  text,
  whole,
} from "@spillway/core/options.js";
import type { SpaceDescription } from "@spillway/search";
import { cmaesTable } from "@spillway/search/cmaes.js";
import { samplerTable } from "@spillway/search/sampler-options.js";
import { tpeTable } from "@spillway/search/tpe.js";
import { metrics } from "../../metrics/index.js";
import { engineTable, planTable, threadsTable } from "../../reservoir/options.js";
import { workTable } from "../../reservoir/work.js";
import { experimentRunTable } from "../runs/run-options.js";
import type { EngineChoiceOptions } from "../tasks/trial.js";

/** The most trials of a search. */
const mostTrials = 10_000_000;
const rows = count(1);
const batch = optional(
  whole({ atLeast: 1, atMost: 100_000 }),
  "Trials that run and report together; left out, one starts as soon as one has reported; with halving 27.",
);
const duration = checked<string | number>(
  'seconds, or a text such as "90s", "10m" or "2h"',
  (value) => (typeof value === "number" && value > 0) || (typeof value === "string" && /^\d+(\.\d+)?[smh]$/.test(value)),
  { type: ["string", "number"] },
);
const share = number({ above: 0, below: 1 });
const stageList = (what: string) => list(rows, `a list of at least two numbers of ${what}, rising`, 2);

/** The samplers of a search by name, with their options. */
const samplerTables: Readonly<Record<string, OptionTable>> = {
  tpe: { ...tpeTable, batch },
  random: { ...samplerTable, batch },
  sobol: { ...samplerTable, batch },
  cmaes: { ...cmaesTable, batch },
  grid: { ...samplerTable, batch },
};

/** The fields of `search` in an experiment file. */
export const searchTable = {
  space: given(checkedLater<SpaceDescription>("an object of parameters by their paths"), "What is varied, by the paths of --set."),
  objective: filled(
    object({
      score: optional(choiceOf(metrics), "The metric; left out, the first of the experiment."),
      on: optional(
        choice("validation", "closedLoop", "folds"),
        "The last rows of the training part, forecasts from starts in it, or folds of its cases; left out, as the task is.",
      ),
      rows: optional(rows, "Rows at the end of the training part that score; left out, a quarter of it."),
      starts: optional(rows, "closedLoop: forecasts of each trial; left out, the task's."),
      horizon: optional(rows, "closedLoop: steps of each; left out, the task's."),
      folds: option(count(2, 10_000), 5, "folds: how many."),
    }),
    "What is to be small or large. Trials never see the test part.",
  ),
  statistic: option(choice("median", "mean", "worst"), "median", "How the seeds of a trial become one value."),
  seeds: option(
    either("a list of seeds, or how many: 3 is 0 to 2", list(seed, "at least one seed", 1), count(1, 100_000)),
    3,
    "The seeds of every trial, the same for all.",
  ),
  sampler: option(
    byType<{ readonly type: string; readonly batch?: number | undefined }>(samplerTables),
    { type: "tpe" },
    "What proposes trials.",
  ),
  budget: filled(
    object({
      trials: optional(count(1, mostTrials), "Finished trials, with those of earlier commands."),
      time: optional(duration, "Time of this command."),
    }),
    "When a search ends; left out, after 100 trials.",
  ),
  halving: optional(
    object({
      rows: optional(stageList("training rows"), "Training rows of each stage."),
      seeds: optional(stageList("seeds"), "Seeds of each stage."),
      keep: option(share, 1 / 3, "The share of a batch that continues at each stage."),
    }),
    "Successive halving: bad trials stop early.",
  ),
  refit: filled(object({ seeds: option(count(1, 100_000), 10, "Fresh seeds.") }), "The best setting, trained on all training rows."),
} satisfies OptionTable;

export const experimentSearchTable = {
  ...engineTable,
  plan: planTable.plan,
  ...threadsTable,
  /** The folder that receives a folder of the experiment's name. Left out, nothing is written. */
  out: experimentRunTable.out,
  /**
   * Where the trials are kept, in place of `journal.log` in the folder: the path of a journal, or
   * redis://host:6379/0?prefix=name. Any number of commands may share it.
   */
  storage: optional(text("the path of a journal, or an address"), "Where trials are kept: a path, or redis://host:6379/0?prefix=name."),
  /** The name of the study in its storage; default the experiment's. */
  study: optional(text(), "The name of the study in its storage; left out, the experiment's."),
  /**
   * A part of the search that shares nothing with the others, "0/8" to "7/8": every eighth trial of
   * the whole, and its share of the budget. Its folder is named after it.
   */
  shard: optional(text('a part such as "0/8"'), 'A part of the search that shares nothing with the others: "0/8" to "7/8".'),
  /**
   * How long a storage that is away is waited for: seconds, or "90s", "10m", "2h"; default 1 h.
   * Results meanwhile stand in a file of the run's folder, which the next search brings in.
   */
  patience: option(duration, "1h", "How long a storage that is away is waited for."),
  /**
   * How long trials in work may go on after `stop`: seconds, or "90s", "10m"; default 30 s. Those
   * that take longer are given back.
   */
  grace: option(duration, "30s", "How long trials in work may go on when the search is to end."),
  /** Asks for an end: no trial is begun any more. `signal` ends those in work, too. */
  stop: { ...workTable.signal, description: "An AbortSignal that asks for an end: no trial is begun any more." },
  /** Finished trials in all, in place of the file's. */
  trials: optional(count(1, mostTrials), "Finished trials in all, in place of the file's."),
  /** Time of this search, in place of the file's: seconds, or "90s", "10m", "2h". */
  time: optional(duration, "Time of this search, in place of the file's."),
  /**
   * Threads that evaluate trials beside each other; default 1, which evaluates in this thread. With
   * several and no `batch`, twice as many trials are in work, reported in the order of their numbers:
   * the same number of workers gives the same trials each time.
   */
  workers: optional(whole({ atLeast: 1, atMost: 1024 }), "Threads that evaluate trials beside each other; left out, 1."),
  /**
   * Modules that each worker loads first, by their addresses, such as file URLs: those that
   * register parts of your own.
   */
  imports: optional(list(text(), "a list of addresses of modules"), "Modules that each worker loads first."),
  /** Whether the best setting is trained and tested in the end; default true. */
  refit: option(flag, true, "Whether the best setting is trained and tested in the end."),
  /** Stops the search, which keeps every finished trial. */
  signal: workTable.signal,
  /** Called with trials done, trials in all, and a line about the best. */
  onProgress: optional(
    checkedLater<(done: number, total: number, label: string) => void>("a function"),
    "Called with trials done, trials in all, and a line about the best.",
  ),
};

/** How a search runs. */
export interface ExperimentSearchOptions extends Omit<EngineChoiceOptions, "profile">, InputOf<typeof experimentSearchTable> {}

/** Seconds of "90s", "10m", "2h" or a number. */
export function secondsOf(time: string | number): number {
  if (typeof time === "number") return time;
  return Number.parseFloat(time) * { s: 1, m: 60, h: 3600 }[time.at(-1) as "s" | "m" | "h"];
}
