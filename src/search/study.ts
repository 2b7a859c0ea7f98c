// A study: trials that are asked for, told and remembered. Where they are kept is the storage's
// business; what is proposed is the sampler's.
import { ArgumentError } from "../core/errors.js";
import { checkedLater, choice, given, option, optional, resolve, type TableOf, text } from "../core/options.js";
import { beatOf, givingBack, takeovers, WorkerWatch } from "./heartbeat.js";
import { parameterImportance } from "./importance.js";
import { differenceOf, targetOf } from "./late-results.js";
import { apartOf, type DifferentTrial } from "./merge.js";
import { Draws, randomValue, type Sampler, type Suggestion } from "./sampler.js";
import { SearchSpace, type SpaceDescription, type TrialParameters } from "./space.js";
import { type Attributes, type Json, MemoryStorage, type StoredParameter, type StudyOperation, type StudyStorage } from "./storage.js";
import { checkStudy, nextStudyId, spaceAttribute } from "./study-check.js";
import { type StoredStudy, type StoredTrial, StudyLog } from "./study-log.js";
import {
  type AskedTrial,
  distributionOf,
  finishing,
  paramsOf,
  placeAttribute,
  publicTrial,
  type StudyTrial,
  type TrialOutcome,
} from "./study-trials.js";
import { fixedAttribute, generationAttribute, StudyView, type TrialCounts } from "./study-view.js";
import { tpe } from "./tpe.js";

/** Options of `Study.open`. */
export interface StudyOptions {
  /** What is varied. */
  readonly space: SpaceDescription | SearchSpace;
  /** Default "study". */
  readonly name?: string | undefined;
  /** Whether small values are good, which is the default, or large ones. */
  readonly direction?: "minimise" | "maximise" | undefined;
  /** Default `tpe()`. */
  readonly sampler?: Sampler | undefined;
  /** Where trials are kept; default in memory. */
  readonly storage?: StudyStorage | undefined;
  /** What stands beside the study when it is made, by name. */
  readonly attributes?: Attributes | undefined;
}

/** The options of `Study.open`. */
export const studyTable = {
  space: given(checkedLater<SpaceDescription | SearchSpace>("an object of parameters by name"), "What is varied."),
  name: option(text(), "study", "The name of the study in its storage."),
  direction: option(choice("minimise", "maximise"), "minimise", "Whether small values are good, or large ones."),
  sampler: optional(checkedLater<Sampler>("what tpe() and its like make"), "What proposes trials; left out, tpe()."),
  storage: optional(checkedLater<StudyStorage>("a storage"), "Where trials are kept; left out, in memory."),
  attributes: optional(checkedLater<Attributes>("an object"), "What stands beside the study when it is made."),
} satisfies TableOf<StudyOptions>;

/** What the sampler had seen of the list of operations when it proposed a trial. */
const seenAttribute = "spillway:seen";

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
  readonly #storage: StudyStorage;
  readonly #log: StudyLog;
  readonly #study: StoredStudy;
  readonly #worker: string;
  readonly #draws: Draws;
  readonly #view: StudyView;
  #dropped = 0;
  readonly #different: DifferentTrial[] = [];
  /** What an append that nobody answered for may have made this process's. */
  #unsure: { readonly waiting: readonly number[]; readonly first: number } | undefined;
  #beats = 0;
  readonly #watch: WorkerWatch;
  /** The end of the last call: calls take their turns, since each reads and then writes. */
  #turn: Promise<unknown> = Promise.resolve();

  /**
   * Makes a study, or goes on with the one of this name.
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
    const view = new StudyView(space, direction === "maximise");
    const log = new StudyLog((study, trial) => {
      if (study.name === name) view.take(trial);
    });
    log.apply(await storage.read(0));
    for (;;) {
      const study = log.studies.get(name);
      if (study) {
        const change = checkStudy(study, space, direction, storage.name);
        return new Study({ space, sampler, storage, log, study, direction, by, view, change });
      }
      const create: StudyOperation = { by, type: "createStudy", name, direction };
      // Attributes name the study by its place, which is known if nobody wrote meanwhile.
      const id = await nextStudyId(storage, log);
      const told = Object.entries({ [spaceAttribute]: JSON.stringify(space.description), ...attributes });
      const beside = told.map(
        ([key, value]): StudyOperation => ({ by, type: "studyAttribute", study: id, system: false, name: key, value }),
      );
      await storage.append([create, ...beside], log.length);
      log.apply(await storage.read(log.length));
    }
  }

  private constructor(parts: {
    readonly space: SearchSpace;
    readonly sampler: Sampler;
    readonly storage: StudyStorage;
    readonly log: StudyLog;
    readonly study: StoredStudy;
    readonly direction: "minimise" | "maximise";
    readonly by: string;
    readonly view: StudyView;
    readonly change: string | undefined;
  }) {
    this.name = parts.study.name;
    this.space = parts.space;
    this.direction = parts.direction;
    this.sampler = parts.sampler;
    this.change = parts.change;
    this.#storage = parts.storage;
    this.#log = parts.log;
    this.#study = parts.study;
    this.#worker = parts.by;
    this.#watch = new WorkerWatch(parts.by);
    this.#view = parts.view;
    this.#draws = new Draws(parts.sampler.seed);
  }

  /** Reads what others have written since. */
  async sync(): Promise<void> {
    await this.#inTurn(() => this.#read());
  }

  async #read(): Promise<void> {
    this.#log.apply(await this.#storage.read(this.#log.length));
  }

  #inTurn<Result>(call: () => Promise<Result>): Promise<Result> {
    const result = this.#turn.then(call);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  /** Appends in any case, and reads what is there. */
  async #write(operations: readonly StudyOperation[]): Promise<void> {
    await this.#storage.append(operations);
    await this.#read();
  }

  /**
   * Appends what is to be done as the study stands, if nobody wrote since: it is done once, also if
   * the answer to an append was lost and it is tried again.
   */
  async #writeOnce(operations: () => readonly StudyOperation[]): Promise<readonly StudyOperation[]> {
    for (;;) {
      await this.#read();
      const wanted = operations();
      if (wanted.length > 0 && !(await this.#storage.append(wanted, this.#log.length))) continue;
      if (wanted.length > 0) await this.#read();
      return wanted;
    }
  }

  /**
   * Trials to evaluate, which are this process's from now on: those that wait first, then
   * suggestions. One append.
   */
  async ask(count = 1): Promise<AskedTrial[]> {
    if (!(Number.isSafeInteger(count) && count >= 1 && count <= 1_000_000))
      throw new ArgumentError("count", count, "a whole number from 1 to 1000000", { of: "ask" });
    return this.#inTurn(() => this.#ask(count));
  }

  async #ask(count: number): Promise<AskedTrial[]> {
    for (;;) {
      await this.#read();
      const all = this.#landed();
      const [landed, left] = [all.slice(0, count), all.slice(count)];
      const length = this.#log.length;
      const waiting = [...this.#view.waiting].slice(0, count - landed.length).map((number) => this.#study.trials[number]!);
      const first = this.#study.trials.length;
      const fresh = Array.from({ length: count - landed.length - waiting.length }, (_, i) => first + i);
      const numbers = [...waiting.map(({ number }) => number), ...fresh];
      if (numbers.length > 0) {
        // What became this process's stands in the list, whatever the answer was.
        await this.#claimAll(waiting, numbers, length);
        continue;
      }
      this.#unsure = left.length > 0 ? { waiting: left, first: Number.POSITIVE_INFINITY } : undefined;
      return landed.map((number) => ({ number, params: this.#paramsOf(this.#study.trials[number]!) }));
    }
  }

  /** Appends claims of what waits and new trials; false if somebody wrote since. */
  async #claimAll(waiting: readonly StoredTrial[], numbers: readonly number[], length: number): Promise<boolean> {
    const suggestions = this.sampler.suggest(this.#view.forSampler, numbers);
    const at = Date.now();
    const claims = waiting.flatMap((trial, i) => this.#claim(trial, suggestions[i]!, length, at));
    const created = suggestions.slice(waiting.length).map((suggestion): StudyOperation => {
      const template = {
        state: "running" as const,
        started: at,
        parameters: this.#stored(suggestion.values),
        systemAttributes: noted(suggestion, length),
      };
      return { by: this.#worker, type: "createTrial", study: this.#study.id, template };
    });
    const before = this.#unsure ?? { waiting: [], first: this.#study.trials.length };
    this.#unsure = {
      waiting: [...before.waiting, ...waiting.map(({ number }) => number)],
      first: Math.min(before.first, this.#study.trials.length),
    };
    return this.#storage.append([...claims, ...created], length);
  }

  /**
   * The numbers of trials that an append made this process's whose answer was lost, as when a
   * connection breaks: it is not known by its answer, but by what is read.
   */
  #landed(): number[] {
    if (!this.#unsure) return [];
    const { waiting, first } = this.#unsure;
    const candidates = new Set([...waiting.map((number) => this.#study.trials[number]!), ...this.#study.trials.slice(first)]);
    return [...candidates].filter(({ state, by }) => state === "running" && by === this.#worker).map(({ number }) => number);
  }

  /** Operations that take a waiting trial: what was fixed stays, the rest is suggested. */
  #claim(trial: StoredTrial, suggestion: Suggestion, length: number, at: number): StudyOperation[] {
    const { by, trial: id } = { by: this.#worker, trial: trial.id };
    const fixed = this.#fixedOf(trial);
    const { space } = this;
    const values = space.fill((place) => {
      const known = fixed[place]!;
      if (!Number.isNaN(known)) return known;
      const suggested = suggestion.values[place]!;
      return Number.isNaN(suggested) ? randomValue(space, this.#draws, trial.number, place) : suggested;
    });
    return [
      { by, type: "state", trial: id, state: "running", at },
      ...Object.entries(this.#stored(values)).map(
        ([name, parameter]): StudyOperation => ({ by, type: "parameter", trial: id, name, parameter }),
      ),
      ...Object.entries(noted(suggestion, length)).map(
        ([name, value]): StudyOperation => ({ by, type: "trialAttribute", trial: id, system: true, name, value }),
      ),
    ];
  }

  /** What was fixed of a waiting trial, by parameters that it has or by the attribute. */
  #fixedOf(trial: StoredTrial): Float64Array {
    const fixed = trial.systemAttributes.get(fixedAttribute);
    const params = typeof fixed === "object" && fixed !== null && !Array.isArray(fixed) ? (fixed as TrialParameters) : {};
    return this.space.toInternal({ ...params, ...paramsOf(trial) });
  }

  /**
   * Writes what trials came to. One append. A trial that is over already keeps its first outcome.
   * If another process took it over, the outcome goes to the trial that waits in its place; if that
   * one runs or is over, it is dropped. `dropped` counts those, `different` those of other bits.
   * @throws ArgumentError for a trial that the study does not have, or an outcome that is none;
   * then nothing is written
   */
  async tell(outcomes: readonly (readonly [trial: AskedTrial | number, outcome: TrialOutcome])[]): Promise<void> {
    const at = Date.now();
    const told = this.#told(outcomes, at);
    await this.#inTurn(async () => {
      for (;;) {
        await this.#read();
        const targets = told.map(({ trial }) => targetOf(this.#study, trial));
        const operations = told.flatMap(({ trial, finish }, i): StudyOperation[] => {
          const target = targets[i];
          if (!target || target === trial) return target ? finish(target) : [];
          return [{ by: this.#worker, type: "state", trial: target.id, state: "running", at }, ...finish(target)];
        });
        // Who finishes another trial than the own has to be the first that takes it.
        const isOther = told.some(({ trial }, i) => targets[i] && targets[i] !== trial);
        if (operations.length > 0 && !(await this.#storage.append(operations, isOther ? this.#log.length : undefined))) continue;
        for (const [i, { trial, finish }] of told.entries()) if (!targets[i]) this.#drop(trial, finish(trial));
        return this.#read();
      }
    });
  }

  /**
   * Operations that make a study of its own with these outcomes, which `mergeStudies` brings in
   * later: for results that the storage does not take now.
   * @throws ArgumentError as `tell`
   */
  apart(outcomes: readonly (readonly [trial: AskedTrial | number, outcome: TrialOutcome])[]): StudyOperation[] {
    return apartOf(this.#study, this.#told(outcomes, Date.now()), this.#worker);
  }

  /** The trials of outcomes, and what ends each with its outcome. @throws ArgumentError */
  #told(outcomes: readonly (readonly [trial: AskedTrial | number, outcome: TrialOutcome])[], at: number) {
    if (!Array.isArray(outcomes)) throw new ArgumentError("outcomes", outcomes, "a list of [trial, outcome]", { of: "tell" });
    return outcomes.map((pair, i) => {
      const [which, outcome] = Array.isArray(pair) ? pair : [pair, undefined];
      const number = typeof which === "number" ? which : (which as AskedTrial | undefined)?.number;
      const trial = this.#study.trials[number as number];
      if (!trial) throw new ArgumentError(`outcomes[${i}][0]`, which, "a trial that was asked for, or its number", { of: "tell" });
      const finish = (each: StoredTrial) => finishing(each, outcome as TrialOutcome, at, this.#worker, `outcomes[${i}][1]`);
      finish(trial);
      return { trial, finish };
    });
  }

  #drop(trial: StoredTrial, operations: readonly StudyOperation[]): void {
    this.#dropped++;
    const different = differenceOf(this.#study, trial, operations, this.#worker);
    if (different) this.#different.push(different);
  }

  /**
   * Puts parameters in front: the next trials that are asked for have them; those left out are
   * suggested.
   * @throws ArgumentError for parameters that the space does not take
   */
  async enqueue(params: TrialParameters): Promise<void> {
    this.space.checkFixed(params);
    const template = { state: "waiting" as const, systemAttributes: { [fixedAttribute]: { ...params } } };
    await this.#inTurn(async () => {
      const first = this.#study.trials.length;
      const stands = ({ by, systemAttributes }: StoredTrial) =>
        by === this.#worker && JSON.stringify(systemAttributes.get(fixedAttribute)) === JSON.stringify(params);
      await this.#writeOnce(() =>
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
    return this.#inTurn(async () => {
      await this.#write([beatOf(this.#study, this.#worker, ++this.#beats)]);
      const operations = await this.#writeOnce(() => {
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
    await this.#inTurn(() => this.#writeOnce(() => mine().flatMap((trial) => givingBack(this.#study, trial, this.#worker, Date.now()))));
  }

  /** Writes a value beside the study. */
  async setAttribute(name: string, value: Json): Promise<void> {
    await this.#inTurn(() =>
      this.#write([{ by: this.#worker, type: "studyAttribute", study: this.#study.id, system: false, name, value }]),
    );
  }

  /** What stands beside the study. */
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
    return this.#dropped;
  }

  /** The complete trial with the best value, the first of equals; undefined if there is none. */
  get best(): StudyTrial | undefined {
    const { best } = this.#view;
    return best && publicTrial(this.#study.trials[best.number]!);
  }

  /**
   * Outcomes that came after their trial was taken over and evaluated anew, and differ from that in
   * a bit. Of an objective that gives the same bits every time, one of the two is wrong.
   */
  get different(): readonly DifferentTrial[] {
    return this.#different;
  }

  /** How much each parameter matters; see `parameterImportance`. */
  importance(): Readonly<Record<string, number>> {
    return parameterImportance(this.space, this.#view.seen);
  }

  /** Closes the storage. */
  async close(): Promise<void> {
    await this.#storage.close();
  }

  /** The same, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #stored(values: Float64Array): Record<string, StoredParameter> {
    const out: Record<string, StoredParameter> = {};
    this.space.parameters.forEach((parameter, place) => {
      const value = values[place]!;
      if (!Number.isNaN(value)) out[parameter.name] = { value, distribution: distributionOf(parameter) };
    });
    return out;
  }

  #paramsOf(trial: StoredTrial): TrialParameters {
    return this.space.toParameters(this.space.toInternal(paramsOf(trial)));
  }
}

function noted({ generation, place }: Suggestion, seen: number): Record<string, Json> {
  return {
    [seenAttribute]: seen,
    ...(generation !== undefined && { [generationAttribute]: generation }),
    ...(place !== undefined && { [placeAttribute]: place }),
  };
}
