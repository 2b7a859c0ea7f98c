// Distributions of parameters as Optuna writes them: JSON in a text.
import { getOrMake } from "@spillway/core/maps.js";
import { describe } from "@spillway/core/text.js";
import type { ParameterValue } from "../space.js";
import type { Distribution } from "../storage.js";
import { RecordError } from "./record-error.js";

/** Distributions by their text, and back: a study has few, and each stands in every trial. */
const known = new Map<string, Distribution>();
const texts = new WeakMap<Distribution, string>();
const mostKnown = 10_000;

/** The text of a distribution, with the fields in Optuna's order. */
export function distributionText(distribution: Distribution): string {
  return getOrMake(texts, distribution, () => JSON.stringify(described(distribution)));
}

function described(distribution: Distribution): object {
  if (distribution.kind === "choice") return { name: "CategoricalDistribution", attributes: { choices: distribution.choices } };
  const { kind, low, high, log, step } = distribution;
  return kind === "float"
    ? { name: "FloatDistribution", attributes: { step: step ?? null, low, high, log } }
    : { name: "IntDistribution", attributes: { log, step, low, high } };
}

/**
 * The distribution of a text, also in the forms of older and newer versions. @throws RecordError
 */
export function distributionOf(text: string): Distribution {
  const found = known.get(text);
  if (found) return found;
  const read = readDistribution(text);
  if (known.size >= mostKnown) known.clear();
  known.set(text, read);
  return read;
}

function readDistribution(text: string): Distribution {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    throw new RecordError(`the distribution ${describe(text)} is no JSON`);
  }
  const whole = given as { readonly name?: unknown; readonly type?: unknown; readonly attributes?: unknown } | null;
  const attributes = (whole?.name === undefined ? whole : whole.attributes) as Readonly<Record<string, unknown>> | null | undefined;
  const { low, high, step, q, log, choices } = attributes ?? {};
  const range = { low: low as number, high: high as number };
  const areBounds = Number.isFinite(low) && Number.isFinite(high) && range.low <= range.high;
  const isStep = (value: unknown): value is number => Number.isFinite(value) && (value as number) > 0;
  switch (whole?.name ?? whole?.type) {
    case "FloatDistribution":
    case "float":
      if (areBounds && (step === null || step === undefined || isStep(step)))
        return { kind: "float", ...range, log: log === true, step: step ?? undefined };
      break;
    case "UniformDistribution":
    case "LogUniformDistribution":
      if (areBounds) return { kind: "float", ...range, log: whole!.name === "LogUniformDistribution", step: undefined };
      break;
    case "DiscreteUniformDistribution":
      if (areBounds && isStep(q)) return { kind: "float", ...range, log: false, step: q };
      break;
    case "IntDistribution":
    case "IntUniformDistribution":
    case "IntLogUniformDistribution":
    case "int": {
      const isLog = whole!.name === "IntLogUniformDistribution" || log === true;
      if (areBounds && (step === undefined || step === null || isStep(step))) return { kind: "int", ...range, log: isLog, step: step ?? 1 };
      break;
    }
    case "CategoricalDistribution":
    case "categorical":
      if (Array.isArray(choices) && choices.length > 0) return { kind: "choice", choices: choices as ParameterValue[] };
  }
  throw new RecordError(`the distribution ${describe(text)} is none that this version knows`);
}
