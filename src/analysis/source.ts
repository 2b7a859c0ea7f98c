// What every analysis starts from: a reservoir in any form, driven by random input. No measure is
// defined here.
import { ArgumentError } from "@spillway/core/errors.js";
import { type InputOf, type Kind, number, option, seed, whole } from "@spillway/core/options.js";
import { Matrix, type MatrixLike, RandomStream, type Seed, seedKeys } from "@spillway/numerics";
import { isModel } from "../reservoir/composite/model.js";
import {
  type AnyModel,
  type AnyReservoirComputer,
  type AnyReservoirOptions,
  ReservoirComputer,
  type ReservoirModel,
  type ReservoirOptions,
} from "../reservoir/index.js";
import { series } from "../reservoir/inputs.js";
import { engineTable } from "../reservoir/options.js";
import { workTable } from "../reservoir/work.js";

/**
 * A reservoir to look at: its description, its matrices, or one that runs already (its state is put
 * back afterwards).
 */
export type ReservoirSource = ReservoirOptions | ReservoirModel | ReservoirComputer;

/** The same of a rate reservoir or a spiking one. */
export type AnyReservoirSource = AnyReservoirOptions | AnyModel | AnyReservoirComputer;

export const analysisTable = {
  /**
   * Where a description or a model runs; "auto" (default), "cpu", "cuda", "cuda:1" (a device by
   * number), "sim" or "reference".
   */
  engine: engineTable.engine,
  /** Draws inputs and starting points. Default "spillway". The reservoir has its own seed. */
  seed: option(seed, "spillway", "Draws inputs and starting points; the reservoir has its own seed."),
  /** Stops the work, which then throws WorkInterruptedError. */
  signal: workTable.signal,
};

/** What every analysis takes. */
export interface AnalysisOptions extends InputOf<typeof analysisTable> {}

/** Kinds of values that several analyses take. */
export const positive: Kind<number> = number({ above: 0 });
export const count: Kind<number> = whole({ atLeast: 1 });

/** The random input of an analysis. */
export const inputTable = {
  /** Random inputs are uniform in [-amplitude, amplitude). Default 0.8. */
  amplitude: option(positive, 0.8, "Random inputs are uniform in [-amplitude, amplitude)."),
};

/** Streams of the analyses; a reservoir's weights take 0 to 4 and tasks 32 and up. */
export const streams = {
  inputs: 64,
  initialStates: 65,
  tangent: 66,
  sharedInputs: 67,
  surrogates: 68,
  surrogateInputs: 69,
  equalValues: 70,
} as const;

/**
 * @throws ArgumentError if the source is no reservoir; for code that reads its fields before making
 * one
 */
export function checkSource(source: unknown): void {
  if (typeof source !== "object" || source === null)
    throw new ArgumentError("source", source, "a description of a reservoir, a model or a ReservoirComputer");
}

/**
 * Runs `use` on a rate reservoir that is at its initial state.
 * @throws ArgumentError for a reservoir whose units have no rates, or that has parts
 */
export function withReservoir<T>(
  source: ReservoirSource,
  engine: string | undefined,
  use: (computer: ReservoirComputer) => Promise<T>,
): Promise<T> {
  return withAnyReservoir(source, engine, async (computer) => {
    const { model } = computer;
    if ("parts" in model || !("activation" in model)) throw new ArgumentError("source", kindInWords(model), "one reservoir of rates");
    return use(computer as ReservoirComputer);
  });
}

function kindInWords(model: AnyModel): string {
  if (model.kind === "registered") return `a reservoir of the kind ${model.config.kind}`;
  return model.kind === "composite" ? "a composed reservoir" : "a spiking reservoir";
}

/** The same on a reservoir of either kind. */
export async function withAnyReservoir<T>(
  source: AnyReservoirSource,
  engine: string | undefined,
  use: (computer: AnyReservoirComputer) => Promise<T>,
): Promise<T> {
  checkSource(source);
  if (source instanceof ReservoirComputer) {
    const before = source.state;
    source.reset();
    try {
      return await use(source);
    } finally {
      source.state = before;
    }
  }
  const computer = await (isModel(source) ? ReservoirComputer.fromModel(source, { engine }) : ReservoirComputer.create(source, { engine }));
  try {
    return await use(computer);
  } finally {
    await computer.dispose();
  }
}

/** What drives a reservoir: a series, or random input. */
export interface Driving {
  readonly seed: Seed;
  readonly amplitude: number;
  readonly washout: number;
  readonly length: number;
  readonly inputs: MatrixLike | undefined;
}

/**
 * The series, or random input of washout + length rows.
 * @throws ArgumentError for a series of another number of rows, or that does not fit the reservoir
 */
export function drivingInputs({ inputSize, precision }: Pick<AnyModel, "inputSize" | "precision">, driving: Driving): Matrix {
  const { seed: drawnFrom, amplitude, washout, length, inputs: given } = driving;
  const total = washout + length;
  if (given === undefined) return uniformInputs(drawnFrom, "inputs", 0, total, inputSize, amplitude);
  const inputs = series(given, "inputs", inputSize, "inputSize", precision);
  if (inputs.rows === total) return inputs;
  throw new ArgumentError("inputs", `${inputs.rows} rows`, `${total}: washout ${washout} and length ${length}`, { code: "shape" });
}

/**
 * rows x cols numbers uniform in [-amplitude, amplitude); `series` separates draws of one stream.
 */
export function uniformInputs(
  seed: Seed,
  stream: keyof typeof streams,
  series: number,
  rows: number,
  cols: number,
  amplitude: number,
): Matrix<Float64Array> {
  const draws = new RandomStream(seedKeys(seed).weights, streams[stream]);
  const out = Matrix.zeros(rows, cols);
  for (let i = 0; i < out.data.length; i++) out.data[i] = amplitude * (2 * draws.uniform(series, i) - 1);
  return out;
}
