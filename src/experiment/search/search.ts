// Searches over the settings of an experiment: asks, evaluates, tells, and in the end trains the
// best one and tests it once.
import { join } from "node:path";
import { ArgumentError, SpillwayError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import { warnOnce } from "@spillway/core/warning.js";
import { ensureFolder, writeInto } from "@spillway/io";
import { DifferentResultsError, type DifferentTrial, MemoryStorage, type Sampler, Study, type StudyStorage } from "@spillway/search";
import { patientStorage, StorageAwayError } from "@spillway/search/patience.js";
import { type Shard, sharded, shardOf, shareOf } from "@spillway/search/shard.js";
import { stringify } from "yaml";
import { reportHtml } from "../../plot/index.js";
import { searchSection } from "../report/search-report.js";
import { describeMachine, versions } from "../runs/machine.js";
import { runExperiment } from "../runs/run.js";
import { DeviceTrials, deviceBatch } from "./search-device.js";
import { bringInSpools, ResultKeeper } from "./search-keeper.js";
import { isLowerBetter } from "./search-objective.js";
import { type ExperimentSearchOptions, experimentSearchTable, secondsOf } from "./search-options.js";
import { readSearch, type SearchInput, type SearchPlan } from "./search-plan.js";
import { refitBest } from "./search-refit.js";
import type { FinishedSearch, SearchResult } from "./search-result.js";
import { runBatches, runStream } from "./search-rounds.js";
import { openStorage } from "./search-storage.js";
import { setupOf, TrialEvaluator, type TrialRunner, type TrialSetup } from "./search-trials.js";

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

type Settings = ExperimentSearchOptions & { readonly refit: boolean; readonly patience: string | number; readonly grace: string | number };

class Search {
  readonly #plan: SearchPlan;
  readonly #options: Settings;
  readonly #signal: AbortSignal;
  readonly #evaluator: TrialEvaluator;
  readonly #setup: TrialSetup;
  readonly #begun = performance.now();
  readonly #shard: Shard | undefined;
  readonly #sampler: Sampler;
  readonly #trials: number;
  readonly #points: number;
  readonly #seconds: number;
  #keeper: ResultKeeper | undefined;

  constructor(plan: SearchPlan, options: Settings) {
    const { engine, plan: named, threads } = options;
    const signal = signalOf(options);
    const time = options.time ?? plan.budget.time;
    this.#plan = plan;
    this.#options = options;
    this.#signal = signal;
    this.#shard = options.shard === undefined ? undefined : shardOf(options.shard);
    this.#sampler = this.#shard ? sharded(plan.sampler, this.#shard) : plan.sampler;
    const share = (trials: number) => (this.#shard ? shareOf(this.#shard, trials) : trials);
    this.#trials = share(options.trials ?? plan.budget.trials ?? Number.POSITIVE_INFINITY);
    this.#points = share(plan.points);
    this.#seconds = time === undefined ? Number.POSITIVE_INFINITY : secondsOf(time);
    this.#setup = setupOf(plan, { engine, plan: named, threads });
    this.#evaluator = new TrialEvaluator(this.#setup, signal);
  }

  async run(): Promise<FinishedSearch> {
    const { experiment } = this.#plan;
    const { out } = this.#options;
    await this.#evaluator.checkWork(this.#plan);
    const part = this.#shard ? `-${this.#shard.index}-of-${this.#shard.of}` : "";
    const folder = out === undefined ? undefined : join(out, `${experiment.name}${part}`);
    if (folder !== undefined) await ensureFolder(folder);
    const location = this.#options.storage ?? (folder && join(folder, "journal.log"));
    const storage = location === undefined ? new MemoryStorage() : this.#patient(await openStorage(location));
    try {
      return await this.#searchIn(storage, folder);
    } finally {
      await storage.close();
    }
  }

  async #searchIn(storage: StudyStorage, folder: string | undefined): Promise<FinishedSearch> {
    const { experiment, space, objective } = this.#plan;
    const { study: name = experiment.name } = this.#options;
    const about = JSON.stringify([this.#plan.source, objective, this.#plan.seeds, this.#plan.statistic]);
    const direction = isLowerBetter(objective.score) ? "minimise" : "maximise";
    const study = await Study.open({
      space,
      name,
      direction,
      sampler: this.#sampler,
      storage,
      attributes: { "spillway:experiment": about },
    });
    if (study.attributes["spillway:experiment"] !== about) {
      if (study.trials.some(({ state }) => state !== "failed"))
        throw ArgumentError.because(
          `${storage.name} holds trials of another experiment, objective or list of seeds; give this one another name, or another folder with --out`,
          { field: "name" },
        );
      // Nothing came of what was there, as of a file with a mistake that is mended now.
      await study.setAttribute("spillway:experiment", about);
    }
    const keeper = new ResultKeeper(study, folder);
    this.#keeper = keeper;
    if (folder !== undefined) await bringInSpools(folder, storage, name);
    const beating = await keepBeating(study);
    try {
      await this.#runTrials(study, keeper);
    } catch (error) {
      throw error instanceof StorageAwayError ? keeper.explain(error) : error;
    } finally {
      clearInterval(beating);
    }
    this.#report(study);
    return this.#finish(study, folder);
  }

  /** The storage, waited for while it is away. */
  #patient(storage: StudyStorage): StudyStorage {
    const { patience } = this.#options;
    const onChange = async (away: Error | undefined) => {
      if (away) warnOnce("SpillwayStorageWarning", `${away.message}; it is waited for, for ${patience} at most`);
      await this.#keeper?.setAway(away !== undefined);
    };
    return patientStorage(storage, { patienceMs: 1000 * secondsOf(patience), signal: this.#signal, onChange });
  }

  async #runTrials(study: Study, keeper: ResultKeeper): Promise<void> {
    const { halving } = this.#plan;
    const runner = await this.#runner();
    const demand = {
      keeper,
      wanted: (inWork: number) => (this.#isStopping() ? 0 : this.#left(study, inWork)),
      onTold: () => {
        this.#report(study);
        if (study.finished === 0 && study.counts.failed - study.counts.retried >= 10) throw everyTrialFailed(study);
      },
    };
    try {
      this.#report(study);
      const several = runner.count > 1;
      const batch = this.#plan.batch ?? (runner instanceof DeviceTrials ? deviceBatch(this.#trials) : undefined);
      if (batch === undefined && halving === undefined) await runStream(this.#plan, study, runner, several ? 2 * runner.count : 1, demand);
      else await runBatches(this.#plan, study, runner, batch ?? 27, demand);
    } finally {
      await runner.dispose();
    }
  }

  async #runner(): Promise<TrialRunner> {
    const { workers, imports = [] } = this.#options;
    if (workers === undefined || workers < 2) {
      const device = await DeviceTrials.of(this.#plan, this.#setup, this.#evaluator, this.#trials, this.#signal);
      return device ?? this.#evaluator;
    }
    const { TrialWorkers } = await import("./search-workers.js");
    return new TrialWorkers(this.#setup, workers, imports, this.#signal);
  }

  #isStopping(): boolean {
    return this.#signal.aborted || this.#options.stop?.aborted === true;
  }

  /** Trials that the budget leaves beside those in work. */
  #left(study: Study, inWork: number): number {
    if ((performance.now() - this.#begun) / 1000 >= this.#seconds) return 0;
    const { asked, retried, waiting } = study.counts;
    return Math.min(this.#trials - study.finished - inWork, this.#points - (asked - retried) + waiting);
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

  async #finish(study: Study, folder: string | undefined): Promise<FinishedSearch> {
    const { experiment, objective } = this.#plan;
    const { refit: isRefitted } = this.#options;
    const hasWork = (isRefitted && !this.#shard) || this.#left(study, 0) > 0;
    const interrupted = this.#signal.aborted || (this.#isStopping() && hasWork);
    const isLower = isLowerBetter(objective.score);
    const { engine, plan, threads } = this.#options;
    const found = await refitBest(
      this.#plan,
      study.trials,
      isLower,
      isRefitted && !interrupted && !this.#shard
        ? async (values, seeds, best) => {
            // First what throws at the first seed that cannot be trained.
            const { result } = await runExperiment(best, { engine, plan, threads, out: folder, signal: this.#signal });
            return [(await this.#evaluator.setting(values, seeds)).value, result];
          }
        : undefined,
    );
    const refit = found?.result;
    const best = found?.experiment;
    const { complete, pruned, failed, retried } = study.counts;
    const result: SearchResult = {
      format: "spillway-search",
      formatVersion: 1,
      name: experiment.name,
      score: objective.score,
      better: isLower ? "lower" : "higher",
      objective,
      trials: { complete, pruned, failed: Math.max(0, failed - retried) },
      best: found && { trial: found.trial.number, values: found.values },
      validation: found?.trial.value,
      passedOver: found?.passedOver ?? [],
      freshSeeds: found?.freshSeeds,
      test: refit?.scores.find(({ metric }) => metric === objective.score)?.value,
      importance: study.importance(),
      interrupted,
      seconds: (performance.now() - this.#begun) / 1000,
      machine: describeMachine(),
      versions: versions(),
    };
    if (folder !== undefined) {
      const yaml = best && stringify(best, { lineWidth: 100 });
      if (yaml !== undefined) await writeInto(folder, "best.yaml", yaml);
      await writeInto(folder, "search.json", `${JSON.stringify(result, undefined, 2)}\n`);
      if (experiment.outputs.report) {
        const sections = [searchSection(result, study, yaml, refit)];
        await writeInto(folder, "report.html", await reportHtml({ title: result.name, sections }));
      }
    }
    const [different] = study.different;
    if (different) throw differentResults(study.different.length, different);
    return { result, best, refit, folder, change: study.change, adopted: study.adopted };
  }
}

/**
 * Says every 30 seconds that this process is there, however long a trial takes, and takes over the
 * trials of commands that no longer say so.
 */
async function keepBeating(study: Study): Promise<NodeJS.Timeout> {
  await study.beat();
  // The next trial reports errors of the storage.
  let isBeating = false;
  const beating = setInterval(async () => {
    if (isBeating) return;
    isBeating = true;
    await study.beat().catch(() => undefined);
    isBeating = false;
  }, 30_000);
  return beating.unref();
}

/** Ends the work: at the signal, or when the grace after `stop` is over. */
function signalOf({ signal, stop, grace }: Settings): AbortSignal {
  const over = new AbortController();
  const onStop = () => setTimeout(() => over.abort(), 1000 * secondsOf(grace)).unref();
  if (stop?.aborted) onStop();
  else stop?.addEventListener("abort", onStop, { once: true });
  return signal ? AbortSignal.any([signal, over.signal]) : over.signal;
}

function differentResults(count: number, { number, kept, other }: DifferentTrial): SpillwayError {
  const trials = count === 1 ? "a trial" : `${count} trials`;
  return new DifferentResultsError(
    `${trials} that another process took over had two results; trial ${number} has ${kept}, and came to ${other} here. The same trial gives the same bits: one of the two comes from another version or a faulty device`,
  );
}

function everyTrialFailed(study: Study): SpillwayError {
  const reasons = study.trials.flatMap(({ attributes }) => attributes["spillway:error"] ?? []);
  return new SpillwayError("value", `every one of ${reasons.length} trials failed; the last: ${String(reasons.at(-1))}`);
}
