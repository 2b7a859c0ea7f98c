// The space of a search: what may be varied, within which bounds, and under which conditions. It
// holds no trial.
import { isObject } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { checked, flag, given, list, number, type OptionTable, object, option, optional, tuple, whole } from "@spillway/core/options.js";
import { describe } from "@spillway/core/text.js";
import { portableExp, portableLog } from "@spillway/numerics";

/** A value of a parameter as users see it. */
export type ParameterValue = number | string | boolean | null;

/** The parameters of a trial by name. One whose condition does not hold is not there. */
export type TrialParameters = Readonly<Record<string, ParameterValue>>;

/** The values of another parameter with which a parameter is there. */
export type ParameterCondition = Readonly<Record<string, ParameterValue | readonly ParameterValue[]>>;

/** A parameter of a space, as users write it. */
export type ParameterDescription =
  | {
      /** Any number from low to high. */
      readonly float: readonly [low: number, high: number];
      /** Spread evenly in its logarithm; low is above 0. */
      readonly log?: boolean | undefined;
      /** Only low, low + step, ...; it divides high - low. */
      readonly step?: number | undefined;
      readonly when?: ParameterCondition | undefined;
    }
  | {
      /** A whole number from low to high. */
      readonly int: readonly [low: number, high: number];
      readonly log?: boolean | undefined;
      readonly step?: number | undefined;
      readonly when?: ParameterCondition | undefined;
    }
  | { readonly choice: readonly ParameterValue[]; readonly when?: ParameterCondition | undefined }
  | {
      /** Values that every trial tries, low to high, evenly spread in their logarithm. */
      readonly sweep: readonly [low: number, high: number];
      /** How many of them. */
      readonly points: number;
    };

/** The parameters of a space by name. */
export type SpaceDescription = Readonly<Record<string, ParameterDescription>>;

/** A checked parameter. Its internal value is the number itself, or the index of the choice. */
export interface SearchParameter {
  readonly name: string;
  readonly kind: "float" | "int" | "choice";
  /** Bounds of the internal value; 0 and the last index of a choice. */
  readonly low: number;
  readonly high: number;
  /** 0 if any number between the bounds is taken. */
  readonly step: number;
  readonly log: boolean;
  /** Of a choice, its values; else none. */
  readonly choices: readonly ParameterValue[];
  /** The index of the parameter it depends on, and the internal values that it needs. */
  readonly condition?: { readonly parent: number; readonly values: readonly number[] } | undefined;
}

const boundsOf = (what: string) => tuple<[number, number]>(`a list of two ${what}, the smaller first`, [number(), number()]);
const scalar = checked<ParameterValue>(
  "null, true, false, a finite number or a text",
  (value) => value === null || typeof value === "boolean" || typeof value === "string" || Number.isFinite(value),
  { type: ["null", "boolean", "number", "string"] },
);
const when = optional(
  checked<ParameterCondition>(
    "an object with the name of one other parameter and the value, or list of values, that it needs",
    (value) => isObject(value) && Object.keys(value).length === 1,
    { type: "object", minProperties: 1, maxProperties: 1 },
  ),
  "The parameter is there only if another one has one of these values.",
);
const log = option(flag, false, "Spread evenly in the logarithm; low is above 0.");

/** The options of each kind of parameter. */
export const parameterTables = {
  float: {
    float: given(boundsOf("numbers"), "Any number from low to high."),
    log,
    step: optional(number({ above: 0 }), "Only low, low + step, ...; it divides high - low."),
    when,
  },
  int: {
    int: given(
      tuple<[number, number]>("a list of two whole numbers, the smaller first", [whole({}), whole({})]),
      "A whole number from low to high.",
    ),
    log,
    step: option(whole({ atLeast: 1 }), 1, "Only low, low + step, ...; it divides high - low."),
    when,
  },
  choice: { choice: given(list(scalar, "a list of at least one value", 1), "One of these values."), when },
  sweep: {
    sweep: given(boundsOf("numbers above 0"), "Values that every trial tries, spread evenly in their logarithm."),
    points: given(whole({ atLeast: 2, atMost: 1000 }), "How many values a sweep has."),
  },
} satisfies Readonly<Record<string, OptionTable>>;

type ParameterKind = keyof typeof parameterTables;
const kinds = Object.keys(parameterTables) as ParameterKind[];

/** Refuses more parameters than any search can fill: each costs every suggestion. */
const mostParameters = 1000;

/** A checked space: its parameters in the order of the description. */
export class SearchSpace {
  /** The dimensions of the sampler. */
  readonly parameters: readonly SearchParameter[];
  /** Values that every trial tries, by name. */
  readonly sweeps: Readonly<Record<string, readonly number[]>>;
  /** What the space was made from. */
  readonly description: SpaceDescription;
  /** Whether any parameter has a condition. */
  readonly isConditional: boolean;
  /** Parents before those that depend on them. */
  readonly #order: readonly number[];

  /**
   * @param field what errors call the description
   * @throws ArgumentError naming the parameter
   */
  constructor(description: SpaceDescription, field = "space") {
    if (!isObject(description))
      throw new ArgumentError(field, description, "an object of parameters, such as { radius: { float: [0.1, 1.5] } }");
    const entries = Object.entries(description);
    if (entries.length === 0)
      throw ArgumentError.because(`${field} is empty; it takes at least one parameter, such as { radius: { float: [0.1, 1.5] } }`, {
        field,
      });
    if (entries.length > mostParameters)
      throw ArgumentError.because(`${field} has ${entries.length} parameters; it takes at most ${mostParameters}`, { field });
    const parameters: SearchParameter[] = [];
    const conditions: (ParameterCondition | undefined)[] = [];
    const sweeps: Record<string, readonly number[]> = {};
    for (const [name, given] of entries) {
      const path = `${field}.${name}`;
      const kind = kindOf(given, path);
      const read = object(parameterTables[kind] as OptionTable).read(given, path) as never;
      if (kind === "sweep") sweeps[name] = sweepOf(read, path);
      else {
        parameters.push(parameterOf(name, kind, read, path));
        conditions.push((read as { readonly when?: ParameterCondition }).when);
      }
    }
    const indices = new Map(parameters.map(({ name }, index) => [name, index]));
    this.parameters = parameters.map((parameter, i) =>
      withCondition(parameter, conditions[i], parameters, indices, `${field}.${parameter.name}.when`),
    );
    this.sweeps = sweeps;
    this.description = description;
    this.isConditional = this.parameters.some(({ condition }) => condition !== undefined);
    this.#order = parentsFirst(this.parameters, field);
  }

  /** How many dimensions a sampler has. */
  get size(): number {
    return this.parameters.length;
  }

  /**
   * Internal values, each taken from `valueAt` if its condition holds and NaN if not.
   */
  fill(valueAt: (index: number) => number): Float64Array {
    const values = new Float64Array(this.size).fill(Number.NaN);
    for (const index of this.#order) if (this.isActive(index, values)) values[index] = valueAt(index);
    return values;
  }

  /** Whether the condition of a parameter holds. */
  isActive(index: number, values: ArrayLike<number>): boolean {
    const { condition } = this.parameters[index]!;
    return condition === undefined || condition.values.includes(values[condition.parent]!);
  }

  /** The parameters of internal values, as users see them. */
  toParameters(values: ArrayLike<number>): TrialParameters {
    const out: Record<string, ParameterValue> = {};
    this.parameters.forEach(({ name, choices, kind }, i) => {
      const value = values[i]!;
      if (!Number.isNaN(value)) out[name] = kind === "choice" ? choices[value]! : value;
    });
    return out;
  }

  /**
   * The internal values of parameters; NaN for one that is missing, unknown to its choices or out
   * of its bounds, as those of a study whose space was another may be.
   */
  toInternal(parameters: TrialParameters): Float64Array {
    return Float64Array.from(this.parameters, (parameter) =>
      Object.hasOwn(parameters, parameter.name) ? internalOf(parameter, parameters[parameter.name]) : Number.NaN,
    );
  }

  /**
   * Internal values of what a user fixes. @throws ArgumentError for what the space does not take
   */
  checkFixed(parameters: TrialParameters, field = "params"): Float64Array {
    const names = this.parameters.map(({ name }) => name);
    for (const name of Object.keys(parameters))
      if (!names.includes(name)) throw ArgumentError.unknownField(`${field}.${name}`, parameters[name], names);
    const values = this.toInternal(parameters);
    this.parameters.forEach((parameter, i) => {
      const { name } = parameter;
      if (Object.hasOwn(parameters, name) && Number.isNaN(values[i]!))
        throw new ArgumentError(`${field}.${name}`, parameters[name], takenBy(parameter));
    });
    return values;
  }
}

/** The internal value; NaN for what the parameter does not take. */
function internalOf({ kind, choices, low, high, step }: SearchParameter, value: unknown): number {
  if (kind === "choice") {
    const index = choices.indexOf(value as ParameterValue);
    return index < 0 ? Number.NaN : index;
  }
  if (typeof value !== "number" || !(value >= low && value <= high)) return Number.NaN;
  return kind === "int" && !Number.isInteger((value - low) / step) ? Number.NaN : value;
}

function takenBy({ kind, choices, low, high, step }: SearchParameter): string {
  if (kind === "choice") return choices.map((choice) => JSON.stringify(choice)).join(", ");
  return `a ${kind === "int" ? "whole " : ""}number from ${low} to ${high}${step > 0 && step !== 1 ? ` in steps of ${step}` : ""}`;
}

/** Whether a parameter has but one value. */
export function isConstant({ low, high }: SearchParameter): boolean {
  return low === high;
}

/** A value on the scale on which a parameter is spread evenly. */
export function toScale({ log }: SearchParameter, value: number): number {
  return log ? portableLog(value) : value;
}

/** The bounds on that scale; those of stepped and whole values lie half a step further out. */
export function scaledBounds(parameter: SearchParameter): readonly [low: number, high: number] {
  const { low, high, step } = parameter;
  return [toScale(parameter, low - step / 2), toScale(parameter, high + step / 2)];
}

/** The value at a position on that scale: rounded to its step, and within its bounds. */
export function fromScale({ low, high, step, log }: SearchParameter, scaled: number): number {
  const value = log ? portableExp(scaled) : scaled;
  const rounded = step > 0 ? low + Math.round((value - low) / step) * step : value;
  return Math.min(Math.max(rounded, low), high);
}

/** The value of u in [0, 1). */
export function valueOfUniform(parameter: SearchParameter, u: number): number {
  if (parameter.kind === "choice") return Math.floor(u * parameter.choices.length);
  const [low, high] = scaledBounds(parameter);
  return fromScale(parameter, low + u * (high - low));
}

/** The u in [0, 1] of a numeric value: the inverse of {@link valueOfUniform}, within a step. */
export function uniformOfValue(parameter: SearchParameter, value: number): number {
  const [low, high] = scaledBounds(parameter);
  return high > low ? (toScale(parameter, value) - low) / (high - low) : 0.5;
}

/** All values of a parameter, or undefined if any number between its bounds is one. */
export function valuesOf({ kind, choices, low, high, step }: SearchParameter): readonly number[] | undefined {
  if (kind === "choice") return choices.map((_, i) => i);
  if (low === high) return [low];
  if (step === 0) return undefined;
  return Array.from({ length: Math.round((high - low) / step) + 1 }, (_, i) => Math.min(low + i * step, high));
}

function kindOf(given: unknown, path: string): ParameterKind {
  const found = typeof given === "object" && given !== null ? kinds.filter((kind) => Object.hasOwn(given, kind)) : [];
  if (found.length === 1) return found[0]!;
  if (found.length > 1) throw new ArgumentError(path, given, `one of ${found.join(" and ")}, not both`);
  throw new ArgumentError(path, given, "an object with float: [low, high], int: [low, high], choice: [...] or sweep: [low, high]");
}

function checkBounds(low: number, high: number, isLog: boolean, path: string, kind: string): void {
  if (low > high)
    throw ArgumentError.because(`${path}.${kind} is [${low}, ${high}]: its bounds are crossed; the smaller comes first`, {
      field: `${path}.${kind}`,
      value: [low, high],
    });
  if (isLog && low <= 0) throw new ArgumentError(`${path}.${kind}[0]`, low, "a number above 0 if values are spread in their logarithm");
}

function parameterOf(
  name: string,
  kind: "float" | "int" | "choice",
  read: { float?: [number, number]; int?: [number, number]; choice?: readonly ParameterValue[]; log?: boolean; step?: number },
  path: string,
): SearchParameter {
  if (kind === "choice") {
    const choices = read.choice!;
    const twice = choices.find((value, i) => choices.indexOf(value) < i);
    if (twice !== undefined) throw new ArgumentError(`${path}.choice`, twice, "each value once");
    return { name, kind, low: 0, high: choices.length - 1, step: 0, log: false, choices };
  }
  const [low, high] = read[kind]!;
  const { log: isLog = false, step = 0 } = read;
  checkBounds(low, high, isLog, path, kind);
  if (isLog && step > (kind === "int" ? 1 : 0)) throw new ArgumentError(`${path}.step`, step, "nothing if log is true: one of the two");
  const steps = step > 0 ? (high - low) / step : 0;
  if (Math.abs(steps - Math.round(steps)) > 1e-8 * Math.max(1, steps))
    throw ArgumentError.because(
      `${path}.step is ${describe(step)}, which does not divide ${high} - ${low}; choose bounds that are whole steps apart`,
      { field: `${path}.step`, value: step },
    );
  return { name, kind, low, high, step, log: isLog, choices: [] };
}

function sweepOf({ sweep: [low, high], points }: { sweep: [number, number]; points: number }, path: string): readonly number[] {
  checkBounds(low, high, true, path, "sweep");
  const [from, to] = [portableLog(low), portableLog(high)];
  return Array.from({ length: points }, (_, i) =>
    i === 0 ? low : i === points - 1 ? high : portableExp(from + ((to - from) * i) / (points - 1)),
  );
}

function withCondition(
  parameter: SearchParameter,
  condition: ParameterCondition | undefined,
  parameters: readonly SearchParameter[],
  indices: ReadonlyMap<string, number>,
  field: string,
): SearchParameter {
  if (condition === undefined) return parameter;
  const [[name, needed] = ["", null]] = Object.entries(condition);
  const parent = indices.get(name);
  if (parent === undefined) throw ArgumentError.unknownField(`${field}.${name}`, needed, [...indices.keys()]);
  const above = parameters[parent]!;
  if (above.kind === "float")
    throw new ArgumentError(`${field}.${name}`, needed, `a choice or a whole number to depend on; ${name} is a float`);
  const list = (Array.isArray(needed) ? needed : [needed]) as readonly ParameterValue[];
  const values = list.map((value) => {
    const internal = internalOf(above, value);
    if (Number.isNaN(internal)) throw new ArgumentError(`${field}.${name}`, value, takenBy(above));
    return internal;
  });
  return { ...parameter, condition: { parent, values } };
}

/** The indices in an order in which parents come first. @throws ArgumentError for a cycle */
function parentsFirst(parameters: readonly SearchParameter[], field: string): readonly number[] {
  const order: number[] = [];
  const done = new Set<number>();
  const visit = (index: number, chain: readonly number[]): void => {
    if (done.has(index)) return;
    const names = [...chain, index].map((each) => parameters[each]!.name);
    if (chain.includes(index))
      throw ArgumentError.because(`${field}: the conditions are a circle: ${names.join(" depends on ")}`, {
        field: `${field}.${names[0]}.when`,
      });
    const { condition } = parameters[index]!;
    if (condition) visit(condition.parent, [...chain, index]);
    done.add(index);
    order.push(index);
  };
  for (const index of parameters.keys()) visit(index, []);
  return order;
}
