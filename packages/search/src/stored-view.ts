// A study as its journal tells it, for those who only look: its space is what its trials say of
// their parameters.
import { parameterImportance } from "./importance.js";
import type { SearchParameter } from "./space.js";
import type { Distribution, StoredParameter } from "./storage.js";
import type { StoredStudy } from "./study-log.js";
import { publicTrial, type StudyTrial } from "./study-trials.js";

/** A study that is looked at. */
export interface StoredView {
  readonly direction: StoredStudy["direction"];
  readonly trials: readonly StudyTrial[];
  readonly space: { readonly parameters: readonly SearchParameter[] };
  /** How much each parameter matters. */
  readonly importance: Readonly<Record<string, number>>;
}

/** The study with the widest bounds and all choices that one of its trials had. */
export function viewStored(study: StoredStudy): StoredView {
  const found = new Map<string, SearchParameter>();
  for (const { parameters } of study.trials)
    for (const [name, stored] of parameters) found.set(name, widened(found.get(name), parameterOf(name, stored.distribution)));
  const space = { parameters: [...found.values()] };
  const sign = study.direction === "minimise" ? 1 : -1;
  const forImportance = study.trials.map(({ number, state, value, parameters }) => ({
    number,
    state,
    values: Float64Array.from(space.parameters, (parameter) => internal(parameter, parameters.get(parameter.name))),
    loss: value === undefined ? Number.NaN : sign * value,
  }));
  return {
    direction: study.direction,
    trials: study.trials.map(publicTrial),
    space,
    importance: parameterImportance(space, forImportance),
  };
}

/** The parameter that has such values. */
export function parameterOf(name: string, distribution: Distribution): SearchParameter {
  if (distribution.kind !== "choice") return { name, ...distribution, step: distribution.step ?? 0, choices: [] };
  const { kind, choices } = distribution;
  return { name, kind, choices, low: 0, high: choices.length - 1, step: 1, log: false };
}

function widened(a: SearchParameter | undefined, b: SearchParameter): SearchParameter {
  if (!a || a.kind !== b.kind) return b;
  if (a.kind !== "choice") return { ...b, low: Math.min(a.low, b.low), high: Math.max(a.high, b.high) };
  const choices = [...new Set([...a.choices, ...b.choices])];
  return { ...b, choices, high: choices.length - 1 };
}

/** The value on the scale of the parameter; NaN if the trial has none. */
function internal({ kind, choices }: SearchParameter, stored: StoredParameter | undefined): number {
  if (!stored || stored.distribution.kind !== kind) return Number.NaN;
  if (stored.distribution.kind !== "choice") return stored.value;
  const choice = stored.distribution.choices[stored.value];
  return choice === undefined ? Number.NaN : choices.indexOf(choice);
}
