// Which trials become this process's: those that wait, and new ones that a sampler suggests.
import { isObject } from "@spillway/core/checks.js";
import { Draws, randomValue, type Sampler, type Suggestion } from "./sampler.js";
import type { SearchSpace, TrialParameters } from "./space.js";
import { type Json, type StoredParameter, type StudyOperation, settingAttributes } from "./storage.js";
import type { StudyLedger } from "./study-ledger.js";
import type { StoredTrial } from "./study-log.js";
import { type AskedTrial, distributionOf, paramsOf, wholeNumberAttribute } from "./study-trials.js";
import { fixedAttribute, generationAttribute, type StudyView } from "./study-view.js";

/** How long the list of operations was when the sampler proposed a trial. */
const lengthAttribute = "spillway:seen";

/** Claims of trials, whose answers may be lost. */
export class TrialClaims {
  readonly #ledger: StudyLedger;
  readonly #view: StudyView;
  readonly #space: SearchSpace;
  readonly #sampler: Sampler;
  readonly #draws: Draws;
  /** Trials that an append without an answer may have claimed for this process. */
  #unsure: { readonly waiting: readonly number[]; readonly first: number } | undefined;

  constructor(ledger: StudyLedger, view: StudyView, space: SearchSpace, sampler: Sampler) {
    this.#ledger = ledger;
    this.#view = view;
    this.#space = space;
    this.#sampler = sampler;
    this.#draws = new Draws(sampler.seed);
  }

  /** So many trials: those that wait first, then suggestions. */
  async ask(count: number): Promise<AskedTrial[]> {
    for (;;) {
      await this.#ledger.read();
      const all = this.#landed();
      const [landed, left] = [all.slice(0, count), all.slice(count)];
      const length = this.#ledger.length;
      const waiting = [...this.#view.waiting].slice(0, count - landed.length).map((number) => this.#ledger.study.trials[number]!);
      const first = this.#ledger.study.trials.length;
      const fresh = Array.from({ length: count - landed.length - waiting.length }, (_, i) => first + i);
      const numbers = [...waiting.map(({ number }) => number), ...fresh];
      if (numbers.length > 0) {
        // What became this process's stands in the list, whatever the answer was.
        await this.#claimAll(waiting, numbers, length);
        continue;
      }
      this.#unsure = left.length > 0 ? { waiting: left, first: Number.POSITIVE_INFINITY } : undefined;
      return landed.map((number) => ({ number, params: this.#paramsOf(this.#ledger.study.trials[number]!) }));
    }
  }

  /** Appends claims of what waits and new trials; false if another process wrote since. */
  async #claimAll(waiting: readonly StoredTrial[], numbers: readonly number[], length: number): Promise<boolean> {
    const suggestions = this.#sampler.suggest(this.#view.forSampler, numbers);
    const at = Date.now();
    const claims = waiting.flatMap((trial, i) => this.#claim(trial, suggestions[i]!, length, at));
    const created = suggestions.slice(waiting.length).map((suggestion): StudyOperation => {
      const template = {
        state: "running" as const,
        started: at,
        parameters: this.#stored(suggestion.values),
        systemAttributes: noted(suggestion, length),
      };
      return { by: this.#ledger.worker, type: "createTrial", study: this.#ledger.study.id, template };
    });
    const before = this.#unsure ?? { waiting: [], first: this.#ledger.study.trials.length };
    this.#unsure = {
      waiting: [...before.waiting, ...waiting.map(({ number }) => number)],
      first: Math.min(before.first, this.#ledger.study.trials.length),
    };
    return this.#ledger.storage.append([...claims, ...created], length);
  }

  /**
   * The numbers of trials that an append made this process's whose answer was lost, as when a
   * connection breaks: it is not known by its answer, but by what is read.
   */
  #landed(): number[] {
    if (!this.#unsure) return [];
    const { waiting, first } = this.#unsure;
    const candidates = new Set([...waiting.map((number) => this.#ledger.study.trials[number]!), ...this.#ledger.study.trials.slice(first)]);
    return [...candidates].filter(({ state, by }) => state === "running" && by === this.#ledger.worker).map(({ number }) => number);
  }

  /** Operations that take a waiting trial: what was fixed stays, the rest is suggested. */
  #claim(trial: StoredTrial, suggestion: Suggestion, length: number, at: number): StudyOperation[] {
    const { worker: by } = this.#ledger;
    const { id } = trial;
    const fixed = this.#fixedOf(trial);
    const space = this.#space;
    const values = space.fill((index) => {
      const known = fixed[index]!;
      if (!Number.isNaN(known)) return known;
      const suggested = suggestion.values[index]!;
      return Number.isNaN(suggested) ? randomValue(space, this.#draws, trial.number, index) : suggested;
    });
    return [
      { by, type: "state", trial: id, state: "running", at },
      ...Object.entries(this.#stored(values)).map(
        ([name, parameter]): StudyOperation => ({ by, type: "parameter", trial: id, name, parameter }),
      ),
      ...settingAttributes(by, { trial: id }, noted(suggestion, length), true),
    ];
  }

  /** What was fixed of a waiting trial, by parameters that it has or by the attribute. */
  #fixedOf(trial: StoredTrial): Float64Array {
    const fixed = trial.systemAttributes.get(fixedAttribute);
    const params = isObject(fixed) ? (fixed as TrialParameters) : {};
    return this.#space.toInternal({ ...params, ...paramsOf(trial) });
  }

  #stored(values: Float64Array): Record<string, StoredParameter> {
    const out: Record<string, StoredParameter> = {};
    this.#space.parameters.forEach((parameter, index) => {
      const value = values[index]!;
      if (!Number.isNaN(value)) out[parameter.name] = { value, distribution: distributionOf(parameter) };
    });
    return out;
  }

  #paramsOf(trial: StoredTrial): TrialParameters {
    return this.#space.toParameters(this.#space.toInternal(paramsOf(trial)));
  }
}

function noted({ generation, wholeNumber }: Suggestion, length: number): Record<string, Json> {
  return {
    [lengthAttribute]: length,
    ...(generation !== undefined && { [generationAttribute]: generation }),
    ...(wholeNumber !== undefined && { [wholeNumberAttribute]: wholeNumber }),
  };
}
