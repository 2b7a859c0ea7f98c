// The activation functions f, by name. What engines make of the four of this package is theirs;
// one of the user's own is this function itself.
import { ArgumentError, SpillwayError } from "@spillway/core/errors.js";
import { callback, flag } from "@spillway/core/options.js";
import { type Part, Registry } from "@spillway/core/registry.js";
import { type Precision, portableTanh, portableTanh32 } from "@spillway/numerics";

/**
 * The names of the activation functions. To have the type of your own known, add it:
 * @example
 * declare module "spillway/reservoir" {
 *   interface ActivationNames {
 *     softsign: true;
 *   }
 * }
 */
export interface ActivationNames {
  /** The default. */
  tanh: true;
  /** f(z) = z: linear units. */
  identity: true;
  /** max(z, 0). */
  relu: true;
  /** (1 + tanh(z / 2)) / 2. */
  sigmoid: true;
}

/** The name of an activation function. */
export type Activation = keyof ActivationNames;

/** An activation function (docs/numerics.md, rule 4). It takes no options: `options` is {}. */
export interface ActivationFunction extends Part {
  /** f(z) in binary64, for the same z always the same; rounded once to the model's precision. */
  f(z: number): number;
  /** Whether f(z) is finite for every z, infinite ones too. If it is not after all, a run fails. */
  readonly bounded: boolean;
}

/** A function of this package: in binary32 it has steps of its own. */
interface OwnPrecision extends ActivationFunction {
  readonly f32: (z: number) => number;
}

const same = (z: number): number => z;
const relu = (z: number): number => (z > 0 || Number.isNaN(z) ? z : 0);
const half32 = (z: number): number => Math.fround(0.5 * z);

const builtIn: readonly OwnPrecision[] = [
  { name: "tanh", description: "The hyperbolic tangent.", options: {}, bounded: true, f: portableTanh, f32: portableTanh32 },
  { name: "identity", description: "f(z) = z: linear units.", options: {}, bounded: false, f: same, f32: same },
  { name: "relu", description: "max(z, 0).", options: {}, bounded: false, f: relu, f32: relu },
  {
    name: "sigmoid",
    description: "The logistic function, (1 + tanh(z / 2)) / 2.",
    options: {},
    bounded: true,
    f: (z) => 0.5 + 0.5 * portableTanh(0.5 * z),
    f32: (z) => Math.fround(0.5 + half32(portableTanh32(half32(z)))),
  },
];

/** Every activation function, by name. */
export const activations = new Registry<ActivationFunction>(
  {
    kind: "activation",
    register: "registerActivation",
    needs: { f: callback("a function of a number"), bounded: flag },
  },
  builtIn,
);

/** The names of functions that every engine runs. */
export const builtInNames: ReadonlySet<string> = new Set(activations.names());

/**
 * Makes an activation function known by its name. It runs on the engines "cpu" and "reference",
 * with the same bits, and on no GPU.
 * @throws ArgumentError for a name that is taken or malformed, or a field that is missing
 */
export function registerActivation(activation: ActivationFunction): void {
  activations.register(activation);
}

/** Whether an activation function is one of the user's own. */
export function isOwnActivation(name: Activation): boolean {
  return !builtInNames.has(name);
}

/** f in the model's precision. @throws ArgumentError for a name that is not registered, or an f that gives no number */
export function activationOf({ activation: name, precision }: { activation: Activation; precision: Precision }): (z: number) => number {
  const part = activations.get(name);
  const { f32 } = part as Partial<OwnPrecision>;
  if (!isOwnActivation(name)) return precision === "float32" ? f32! : part.f;
  const first: unknown = part.f(0);
  if (typeof first !== "number") throw new ArgumentError(`f(0) of the activation "${name}"`, first, "a number");
  const rounded = precision === "float32" ? (z: number) => Math.fround(part.f(z)) : (z: number) => part.f(z);
  if (!part.bounded) return rounded;
  return (z) => {
    const value = rounded(z);
    if (Number.isFinite(value)) return value;
    throw new SpillwayError("numeric", `the activation "${name}" gives ${value} for ${z}, and says that it is bounded`);
  };
}
