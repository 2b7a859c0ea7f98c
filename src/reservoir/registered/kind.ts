// Kinds of reservoir by name: what a kind says of itself, and how a package adds one. Rate
// reservoirs, spiking and composed ones are not among them; engines know those.
import { ArgumentError } from "@spillway/core/errors.js";
import {
  callback,
  choice,
  given,
  type Kind,
  nothing,
  type OptionTable,
  object,
  option,
  optional,
  type Resolved,
  seed,
  whole,
} from "@spillway/core/options.js";
import { type Part, Registry } from "@spillway/core/registry.js";
import type { Context } from "@spillway/gpu";
import type { FloatArray } from "@spillway/numerics";
import type { KindKernel } from "./kernel.js";
import type { RegisteredReservoirConfig, RegisteredReservoirOptions } from "./options.js";
import type { KindMatrix, RegisteredModel } from "./registered-model.js";

import type { KindWasm } from "./wasm.js";

/** The fields of a description beside the kind's own options. */
const commonTable = (name: string) => ({
  kind: given(choice(name), "The kind of reservoir."),
  size: given(whole({ atLeast: 1, atMost: 2 ** 24, takes: "a whole number of at least 1" }), "How many units: neurons, oscillators."),
  inputSize: option(whole(), 1, "I, the number of input channels; left out, it follows from the data."),
  seed: option(seed, "spillway", "Determines every number; in an experiment, seed or seeds at the top of the file do."),
  feedback: optional(nothing, "null: a reservoir of a registered kind feeds no outputs back."),
  precision: option(choice("float32", "float64"), "float32", "Precision of states and matrices."),
});

export type { KindMatrix } from "./registered-model.js";

/** The sizes of a reservoir, before anything is drawn. */
export interface KindSizes {
  /** N, the values of a state that readouts see. */
  readonly states: number;
  /** H, values that a step carries on and readouts do not see; default 0. */
  readonly hidden?: number;
  /** Whether steps draw noise; default false. */
  readonly noisy?: boolean;
  /** Bytes of what a step reads beside states and matrices; default 0. */
  readonly bytes?: number;
  /** Rows and columns of each matrix, by name. */
  readonly matrices: Readonly<Record<string, readonly [number, number]>>;
}

/** What a kind draws from the seed. */
export interface KindDraw<Matrices = Readonly<Record<string, KindMatrix>>> {
  /** States and then hidden values before the first step: N + H values. */
  readonly initial: ArrayLike<number>;
  /** The matrices that `sizes` names; they are rounded to the model's precision. */
  readonly matrices: Matrices;
}

/**
 * One step: reads x(t), N states and then H hidden values, and I inputs, and writes x(t+1) into
 * `next`. Its arithmetic is the kind's own, and the same on every host.
 */
export type KindStep = (
  x: FloatArray,
  input: FloatArray,
  next: FloatArray,
  /** Steps since reset, from 0: the noise counter. */
  step: number,
  /** 0, or the index in a batch. */
  sequence: number,
) => void;

/**
 * Steps of a model in memory of the kind's own, such as a network that is loaded on an engine.
 * Rows may be made later: all but `dispose` then give promises.
 */
export interface KindRunner {
  /** In one line. */
  readonly summary: string;
  /** Whether it gives promises; single steps at once are then refused. */
  readonly later: boolean;
  /** States and then hidden values, N + H values, after the last row. */
  getState(): FloatArray | Promise<FloatArray>;
  /** Puts them back; `step` and `sequence` are those of the next row, as for `KindStep`. */
  setState(x: FloatArray, step: number, sequence: number): void | Promise<void>;
  /**
   * Makes the states of rows of inputs, rows x N, and returns how many of them are finite. After
   * one that is not, it stands before that row.
   */
  advance(inputs: FloatArray, states: FloatArray, rows: number): number | Promise<number>;
  /** Gives memory back. Idempotent. */
  dispose(): Promise<void>;
}

/** Small changes of a state, followed through steps, in binary64. */
export interface KindTangent {
  /** How many values a small change has: as many as a state can be moved in directions. */
  readonly directions: number;
  /** Follows a step from x, N + H values: every vector v, of one value a direction, becomes J v. */
  follow(x: FloatArray, input: FloatArray, step: number, sequence: number, vectors: readonly Float64Array[]): void;
}

/**
 * One kind of reservoir. `options` is a table of `spillway/reservoir`; `size`, `inputSize`, `seed`
 * and `precision` need not be in it, and stand as the kind has them if they are.
 */
// biome-ignore-start lint/suspicious/noExplicitAny: a list of kinds has options and matrices of any type.
export interface ReservoirKind<Config extends RegisteredReservoirConfig = any, Matrices = any> extends Part {
  // biome-ignore-end lint/suspicious/noExplicitAny: a list of kinds has options and matrices of any type.
  /**
   * Options that models whose inputs are z-scores give in place of the kind's defaults, if they are
   * left out.
   */
  readonly forScores?: Readonly<Partial<Config>>;
  /** Checks options together, and fills in those that follow from others. @throws ArgumentError */
  complete?(config: Config): Config;
  /** The sizes that a description has. */
  sizes(config: Config): KindSizes;
  /** Draws what its seed decides: the same bits for the same description. */
  draw(config: Config): KindDraw<Matrices>;
  /**
   * The step of a model; it may keep memory of its own, but nothing between steps. Left out by
   * kinds with a `runner`.
   */
  stepper?(model: RegisteredModel<Config, Matrices>): KindStep;
  /**
   * The steps of a model on an engine, by its name, in place of `stepper`, `wasm` and `kernel`;
   * `threads` is how many the CPU engine may take, `context` the open device of a device's engine.
   * @throws EngineUnavailableError if the kind does not run there
   */
  runner?(model: RegisteredModel<Config, Matrices>, engine: string, threads: number, context?: Context): Promise<KindRunner>;
  /** The steps of a model as WebAssembly; left out, the CPU engine takes the stepper's. */
  wasm?(model: RegisteredModel<Config, Matrices>): KindWasm;
  /** The steps of a model as a kernel; left out, devices refuse it. */
  kernel?(model: RegisteredModel<Config, Matrices>): KindKernel;
  /** Its tangent, for Lyapunov exponents; left out, they are refused. */
  tangent?(model: RegisteredModel<Config, Matrices>): KindTangent;
}

/** A description with what its kind takes of z-scores. */
export function forScores<Options extends RegisteredReservoirOptions>(options: Options): Options {
  return { ...reservoirKinds.find(options.kind)?.forScores, ...options };
}

const needs = "a function of the description";

/** Every registered kind, by name. */
export const reservoirKinds = new Registry<ReservoirKind>({
  kind: "kind of reservoir",
  register: "registerReservoirKind",
  reserved: ["kind"],
  needs: { sizes: callback(needs), draw: callback(needs) },
});

/**
 * Registers a kind of reservoir under its name, for `create`, experiment files and model files. It
 * runs on the engines "cpu" and "reference", and on devices if it has a kernel.
 * @throws ArgumentError for a name that is taken or malformed, or a field that is missing
 */
export function registerReservoirKind<Table extends OptionTable, Matrices = Readonly<Record<string, KindMatrix>>>(
  kind: ReservoirKind<RegisteredReservoirConfig & Resolved<Table>, Matrices> & { readonly options: Table },
): void {
  const { name, stepper, runner } = (kind ?? {}) as Partial<typeof kind>;
  if (typeof stepper !== "function" && typeof runner !== "function")
    throw new ArgumentError(`${String(name)}.stepper`, stepper, "a function of a model that gives its step, or a runner in its place");
  reservoirKinds.register(kind);
}

/** Every field of a description of this kind. @throws ArgumentError for a name that is not known */
export function kindTable(name: string): OptionTable {
  return { ...commonTable(name), ...reservoirKinds.table(name) };
}

/**
 * Whether a description of this kind has to say its size: true of all but kinds from whose options
 * it follows.
 */
export const needsSize = (kind: unknown): boolean => reservoirKinds.find(String(kind))?.options["size"]?.required !== false;

/** A description of any registered kind, also of one that is registered later. */
export const anyRegisteredKind: Kind<unknown> = {
  get takes() {
    return `an object whose "kind" is one of ${reservoirKinds.names().join(", ")}`;
  },
  get schema() {
    // An empty anyOf is no JSON Schema.
    if (reservoirKinds.names().length === 0) return { not: {} };
    return { anyOf: reservoirKinds.names().map((name) => describedKind(name).schema) };
  },
  read: (value, field) => describedKind(String((value as { readonly kind?: unknown } | null)?.kind)).read(value, field),
};

/** A description of this kind as a field of something larger, such as an experiment. */
export const describedKind = (name: string) => object(kindTable(name), `an object that describes a reservoir of the kind "${name}"`);
