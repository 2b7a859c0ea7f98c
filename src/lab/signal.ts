// The signal that drives the lab's reservoir, and the hash by which two programs can tell that their
// states are the same bits.

import { checkHas } from "@spillway/core/checks.js";
import { Matrix } from "@spillway/numerics";
import { sha256 } from "../model/checksum.js";
import { fitStandardisation, standardised } from "../model/standardisation.js";
import { ReservoirComputer } from "../reservoir/index.js";
import { generateTask, tasks } from "../tasks/index.js";
import type { OwnDrive } from "./own-data.js";
import { type LabSettings, reservoirOf } from "./settings.js";

/** Steps whose states are hashed. */
export const hashedSteps = 1000;

/** What drives the reservoir, and what is read from its states. */
export interface Drive {
  /** T x 1. */
  readonly input: Matrix<Float64Array>;
  /** T x 1: what the readout should say after row t of the input. */
  readonly target: Matrix<Float64Array>;
  /** Whether the target is the input's next value: the reservoir can then go on by itself. */
  readonly free: boolean;
}

/**
 * A benchmark series as z-scores: its first column, to be forecast; of a driven task the first
 * input and the first target.
 */
export function signalOf(settings: LabSettings, length: number): Drive {
  checkHas("settings", settings, "settings of the lab", "signal");
  const generated = generateTask(tasks.get(settings.signal, "signal"), length + 1);
  if (generated instanceof Matrix) return freeDrive(zScores(generated.column(0) as Float64Array));
  const first = (matrix: Matrix) => new Matrix(length, 1, zScores(matrix.column(0) as Float64Array).slice(0, length));
  return { input: first(generated.inputs), target: first(generated.targets), free: false };
}

/**
 * What drives the reservoir: the whole of the user's own series, or this many rows of the settings'
 * signal.
 */
export function driveOf(settings: LabSettings, length: number, own: OwnDrive | undefined): Drive {
  if (!own) return signalOf(settings, length);
  const column = (values: Float64Array) => new Matrix(values.length, 1, values);
  return own.target ? { input: column(own.input), target: column(own.target), free: false } : freeDrive(own.input);
}

/** A series whose next value is to be predicted. */
export function freeDrive(values: Float64Array): Drive {
  const length = values.length - 1;
  return { input: new Matrix(length, 1, values.slice(0, length)), target: new Matrix(length, 1, values.slice(1)), free: true };
}

function zScores(values: Float64Array): Float64Array {
  const series = new Matrix(values.length, 1, values);
  return standardised(fitStandardisation([series]), series).data;
}

/**
 * SHA-256 of the states (binary32, little-endian, row by row) of the first 1000 steps from the
 * initial state. `input` is T x 1, and at most its first 1000 rows are used; left out, it is the
 * settings' signal.
 */
export async function stateHash(settings: LabSettings, engine?: string, input?: Matrix<Float64Array>): Promise<string> {
  const rows = input ?? signalOf(settings, hashedSteps).input;
  const computer = await ReservoirComputer.create(reservoirOf(settings), { engine });
  try {
    return await hashOf(await computer.run(rows.subarray(0, Math.min(hashedSteps, rows.rows))));
  } finally {
    await computer.dispose();
  }
}

/**
 * SHA-256 of a matrix of binary32 in memory order; every machine that runs this is little-endian.
 */
export function hashOf({ data }: Matrix): Promise<string> {
  return sha256([new Uint8Array(data.buffer, data.byteOffset, data.byteLength)]);
}
