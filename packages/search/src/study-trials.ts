// Trials as users of a study meet them, and the operations that say what became of one.
import { ArgumentError } from "@spillway/core/errors.js";
import type { TrialState } from "./sampler.js";
import type { SearchParameter, TrialParameters } from "./space.js";
import { type Attributes, type Distribution, reporting, type StoredParameter, type StudyOperation, settingAttributes } from "./storage.js";
import type { StoredTrial } from "./study-log.js";

/** The system attribute with a trial's number in the whole search, of parts of one. */
export const wholeNumberAttribute = "spillway:number";

/** A trial that is to be evaluated. */
export interface AskedTrial {
  readonly number: number;
  readonly params: TrialParameters;
}

/** What a trial came to. An Error stands for one that failed. */
export type TrialOutcome =
  | number
  | Error
  | {
      /** Its value; left out of one that was stopped early. */
      readonly value?: number | undefined;
      /** Whether it was stopped before its end. */
      readonly pruned?: boolean | undefined;
      /** Values on the way, by step. */
      readonly intermediate?: Readonly<Record<number, number>> | undefined;
      readonly attributes?: Attributes | undefined;
    };

/** Trials, or their numbers, with what they came to. */
export type TrialOutcomes = readonly (readonly [trial: AskedTrial | number, outcome: TrialOutcome])[];

/** A trial of a study, as it stands. */
export interface StudyTrial {
  readonly number: number;
  readonly state: TrialState;
  readonly params: TrialParameters;
  /** Undefined unless it is complete, or pruned with a value. */
  readonly value: number | undefined;
  readonly intermediate: Readonly<Record<number, number>>;
  readonly attributes: Attributes;
  /** Milliseconds since 1970. */
  readonly started: number | undefined;
  readonly finished: number | undefined;
}

/** The parameters of a trial, as users see them. */
export function paramsOf({ parameters }: StoredTrial): TrialParameters {
  const given = ({ value, distribution }: StoredParameter) =>
    distribution.kind === "choice" ? (distribution.choices[value] ?? null) : value;
  return Object.fromEntries([...parameters].map(([name, parameter]) => [name, given(parameter)]));
}

/** What a second try takes from the trial that it replaces, with system attributes of its own. */
export function contentOf({ parameters, attributes, systemAttributes }: StoredTrial, own: Attributes) {
  return {
    parameters: Object.fromEntries(parameters),
    attributes: Object.fromEntries(attributes),
    systemAttributes: { ...Object.fromEntries(systemAttributes), ...own },
  };
}

/** A trial as users see it. */
export function publicTrial(trial: StoredTrial): StudyTrial {
  const { number, state, value, started, finished } = trial;
  return {
    ...{ number, state, value, started, finished },
    params: paramsOf(trial),
    intermediate: Object.fromEntries(trial.intermediate),
    attributes: Object.fromEntries(trial.attributes),
  };
}

/** What others read of the values that a parameter may have. */
export function distributionOf(parameter: SearchParameter): Distribution {
  const found = distributions.get(parameter) ?? distributionAs(parameter);
  distributions.set(parameter, found);
  return found;
}

/** One object a parameter, since each stands in every trial, and its text is known by the object. */
const distributions = new WeakMap<SearchParameter, Distribution>();

function distributionAs({ kind, low, high, log, step, choices }: SearchParameter): Distribution {
  if (kind === "choice") return { kind, choices };
  return kind === "int" ? { kind, low, high, log, step } : { kind, low, high, log, step: step > 0 ? step : undefined };
}

/** The operations that end a trial: what belongs to it stands before its end. */
export function finishing(trial: StoredTrial, outcome: TrialOutcome, at: number, by: string, field: string): StudyOperation[] {
  const id = trial.id;
  const end = (state: TrialState, value?: number): StudyOperation => ({ by, type: "state", trial: id, state, value, at });
  const said = (attributes: Attributes) => settingAttributes(by, { trial: id }, attributes);
  if (outcome instanceof Error) return [...said({ "spillway:error": outcome.message }), end("failed")];
  const given = typeof outcome === "number" ? { value: outcome } : outcome;
  if (typeof given !== "object" || given === null)
    throw new ArgumentError(field, outcome, "a number, an Error, or an object with value, pruned, intermediate and attributes", {
      of: "tell",
    });
  const { value, pruned = false, intermediate = {}, attributes = {} } = given;
  if (value === undefined ? !pruned : typeof value !== "number")
    throw new ArgumentError(`${field}.value`, value, "a number", { of: "tell" });
  return [
    ...said(attributes),
    ...reporting(by, id, Object.entries(intermediate)),
    // NaN is no value to learn from: the trial failed.
    Number.isNaN(value) ? end("failed") : end(pruned ? "pruned" : "complete", value),
  ];
}
