// A study: trials that are asked for, finished and remembered. Where they are kept is the storage's
// business; what is proposed is the sampler's; claims and results have files of their own.
import { ArgumentError } from "@spillway/core/errors.js";
import { getOrMake } from "@spillway/core/maps.js";
import { resolve } from "@spillway/core/options.js";
import { beatOf, givingBack, takeovers, WorkerWatch } from "./heartbeat.js";
import { parameterImportance } from "./importance.js";
import type { DifferentTrial } from "./merge.js";
import type { Sampler } from "./sampler.js";
import { SearchSpace, type TrialParameters } from "./space.js";
import { type Attributes, type Json, MemoryStorage, type StudyOperation, settingAttributes } from "./storage.js";
import { checkStudy, spaceAttribute } from "./study-check.js";
import { TrialClaims } from "./study-claims.js";
import { StudyLedger } from "./study-ledger.js";
import { type StoredStudy, type StoredTrial, StudyLog } from "./study-log.js";
import { type StudyOptions, studyTable } from "./study-options.js";
import { TrialResults } from "./study-results.js";
import { type AskedTrial, publicTrial, type StudyTrial, type TrialOutcomes } from "./study-trials.js";
import { fixedAttribute, StudyView, type TrialCounts } from "./study-view.js";
import { tpe } from "./tpe.js";

/**
 * Trials of one space, from any number of processes that share a storage.
 *
 * @example
 * const study = await Study.open({ space: { radius: { float: [0.1, 1.5] } } });
 * for (let k = 0; k < 100; k++) {
 *   const [trial] = await study.ask();
 *   await study.tell([[trial, score(trial.params)]]);
 * }
 * study.best;
 */
export class Study {
  readonly name: string;
  readonly space: SearchSpace;
  readonly direction: "minimise" | "maximise";
  readonly sampler: Sampler;
  /** What of the space differs from the one the study was made with; undefined if nothing. */
  readonly change: string | undefined;
  /** Trials that another program had written to the study before it was first opened here. */
  readonly adopted: number;
  readonly #ledger: StudyLedger;
  readonly #study: StoredStudy;
  readonly #worker: string;
  readonly #view: StudyView;
  readonly #claims: TrialClaims;
  readonly #results: TrialResults;
  readonly #watch: WorkerWatch;
  #beats = 0;

  /**
   * Makes a study, or goes on with the one of this name. One that another program made, such as
   * Optuna, is taken with its trials (`adopted`), and is of this space from then on.
   * @throws ArgumentError for a space that the study was not made with: another kind, scale, list
   * of choices or direction. Other bounds are taken; `change` says so
   */
  static async open(options: StudyOptions): Promise<Study> {
    const {
      space: described,
      name,
      direction,
      sampler = tpe(),
      storage = new MemoryStorage(),
      attributes = {},
    } = resolve(studyTable, options, "Study.open");
    const space = described instanceof SearchSpace ? described : new SearchSpace(described);
    const by = `${crypto.randomUUID()}-0`;
    // A study that was deleted has a view of its own, which is dropped with it.
    const views = new WeakMap<StoredStudy, StudyView>();
    const viewOf = (study: StoredStudy) => getOrMake(views, study, () => new StudyView(space, direction === "maximise"));
    const log = new StudyLog((study, trial) => {
      if (study.name === name) viewOf(study).take(trial);
    });
    log.apply(await storage.read(0));
    let adopted = 0;
    for (;;) {
      const study = log.studies.get(name);
      const change = study && checkStudy(study, space, direction, storage.name);
      if (study?.attributes.has(spaceAttribute))
        return new Study(new StudyLedger(storage, log, study, by), viewOf(study), { space, sampler, direction, change, adopted });
      const create: StudyOperation[] = study ? [] : [{ by, type: "createStudy", name, direction }];
      // Attributes name the study by its id, which is known if nobody wrote meanwhile.
      const id = study?.id ?? log.nextStudyId;
      const beside = settingAttributes(by, { study: id }, { [spaceAttribute]: JSON.stringify(space.description), ...attributes });
      if (await storage.append([...create, ...beside], log.length)) adopted = study?.trials.length ?? 0;
      log.apply(await storage.read(log.length));
    }
  }

  private constructor(ledger: StudyLedger, view: StudyView, of: Pick<Study, "space" | "sampler" | "direction" | "change" | "adopted">) {
    this.name = ledger.study.name;
    this.space = of.space;
    this.direction = of.direction;
    this.sampler = of.sampler;
    this.change = of.change;
    this.adopted = of.adopted;
    this.#ledger = ledger;
    this.#study = ledger.study;
    this.#worker = ledger.worker;
    this.#view = view;
    this.#claims = new TrialClaims(ledger, view, of.space, of.sampler);
    this.#results = new TrialResults(ledger);
    this.#watch = new WorkerWatch(ledger.worker);
  }

  /** Reads what others have written since. */
  async sync(): Promise<void> {
    await this.#ledger.inTurn(() => this.#ledger.read());
  }

  /**
   * Trials to evaluate, which are this process's from now on: those that wait first, then
   * suggestions. One append.
   */
  async ask(count = 1): Promise<AskedTrial[]> {
    if (!(Number.isSafeInteger(count) && count >= 1 && count <= 1_000_000))
      throw new ArgumentError("count", count, "a whole number from 1 to 1000000", { of: "ask" });
    return this.#ledger.inTurn(() => this.#claims.ask(count));
  }

  /**
   * Writes what trials came to. One append. A trial that is over already keeps its first outcome.
   * If another process took it over, the outcome goes to the trial that replaces it; if that
   * one runs or is over, it is dropped. `dropped` counts those, `different` those of other bits.
   * @throws ArgumentError for a trial that the study does not have, or an outcome that is none;
   * then nothing is written
   */
  async tell(outcomes: TrialOutcomes): Promise<void> {
    await this.#results.tell(outcomes);
  }

  /**
   * Operations that make a study of its own with these outcomes, which `mergeStudies` brings in
   * later: for results that the storage does not take now.
   * @throws ArgumentError as `tell`
   */
  apart(outcomes: TrialOutcomes): StudyOperation[] {
    return this.#results.apart(outcomes);
  }

  /**
   * Puts parameters in front: the next trials that are asked for have them; those left out are
   * suggested.
   * @throws ArgumentError for parameters that the space does not take
   */
  async enqueue(params: TrialParameters): Promise<void> {
    this.space.checkFixed(params);
    const template = { state: "waiting" as const, systemAttributes: { [fixedAttribute]: { ...params } } };
    await this.#ledger.inTurn(async () => {
      const first = this.#study.trials.length;
      const stands = ({ by, systemAttributes }: StoredTrial) =>
        by === this.#worker && JSON.stringify(systemAttributes.get(fixedAttribute)) === JSON.stringify(params);
      await this.#ledger.writeOnce(() =>
        this.#study.trials.slice(first).some(stands) ? [] : [{ by: this.#worker, type: "createTrial", study: this.#study.id, template }],
      );
    });
  }

  /**
   * Says that this process is there, and takes over the running trials of processes that said so
   * once and then nothing for `graceMs`, by this process's own clock: each fails, and waits to be
   * asked for with the same parameters, three times at most. Call it every 30 seconds or so, and
   * before a study is left alone. Trials of processes that never called it, as Optuna's, stay.
   * @returns how many trials were taken over
   */
  async beat(graceMs = 120_000): Promise<number> {
    if (!(graceMs > 0)) throw new ArgumentError("graceMs", graceMs, "a number of milliseconds above 0", { of: "beat" });
    return this.#ledger.inTurn(async () => {
      await this.#ledger.write([beatOf(this.#study, this.#worker, ++this.#beats)]);
      const operations = await this.#ledger.writeOnce(() => {
        const gone = this.#watch.stale(this.#study, graceMs, performance.now());
        return takeovers(this.#study, gone, this.#worker, Date.now());
      });
      return operations.filter(({ type }) => type === "state").length;
    });
  }

  /**
   * Gives back trials that were asked for and will not be evaluated here: each fails, and waits to
   * be asked for with the same parameters, by this process or another.
   */
  async giveBack(trials: readonly AskedTrial[]): Promise<void> {
    const mine = () => trials.map(({ number }) => this.#study.trials[number]!).filter(({ state }) => state === "running");
    await this.#ledger.inTurn(() =>
      this.#ledger.writeOnce(() => mine().flatMap((trial) => givingBack(this.#study, trial, this.#worker, Date.now()))),
    );
  }

  /** Writes a value beside the study. */
  async setAttribute(name: string, value: Json): Promise<void> {
    await this.#ledger.inTurn(() => this.#ledger.write(settingAttributes(this.#worker, { study: this.#study.id }, { [name]: value })));
  }

  /** Attributes of the study. */
  get attributes(): Attributes {
    return Object.fromEntries(this.#study.attributes);
  }

  /** All trials by number. */
  get trials(): readonly StudyTrial[] {
    return this.#study.trials.map(publicTrial);
  }

  /** How many trials are complete or pruned. */
  get finished(): number {
    const { complete, pruned } = this.counts;
    return complete + pruned;
  }

  /** How many trials there are in each state, and how many stand for another that failed. */
  get counts(): TrialCounts {
    return this.#view.counts;
  }

  /** How many outcomes came after their trial was over. */
  get dropped(): number {
    return this.#results.dropped;
  }

  /** The complete trial with the best value, the first if tied; undefined if there is none. */
  get best(): StudyTrial | undefined {
    const { best } = this.#view;
    return best && publicTrial(this.#study.trials[best.number]!);
  }

  /**
   * Outcomes that came after their trial was taken over and evaluated anew, and differ from that in
   * a bit. Of an objective that gives the same bits every time, one of the two is wrong.
   */
  get different(): readonly DifferentTrial[] {
    return this.#results.different;
  }

  /** How much each parameter matters; see `parameterImportance`. */
  importance(): Readonly<Record<string, number>> {
    return parameterImportance(this.space, this.#view.trials);
  }

  /** Closes the storage. */
  async close(): Promise<void> {
    await this.#ledger.storage.close();
  }

  /** The same, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
