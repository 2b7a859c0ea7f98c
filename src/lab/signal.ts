// The signal that drives the lab's reservoir, and the hash by which two places can tell that their states are the same bits.
import { sha256 } from "../model/checksum.js";
import { describe, Matrix } from "../numerics/index.js";
import { ReservoirComputer } from "../reservoir/index.js";
import { tasks } from "../tasks/index.js";
import { type LabSettings, reservoirOf, signalNames } from "./settings.js";

/** Steps whose states are hashed. */
export const hashedSteps = 1000;

/** T x 1, z-scores of the first column of a benchmark series: what goes in. For NARMA that is its input, and `target` is what comes out. */
export function signalOf(
  settings: LabSettings,
  length: number,
): { readonly input: Matrix<Float64Array>; readonly target: Matrix<Float64Array> } {
  const task = tasks.find(({ name }) => name === settings.signal);
  if (!task) throw new RangeError(`signal is ${describe(settings.signal)}; it takes one of ${signalNames.join(", ")}`);
  const generated = task.generate(length + 1, {});
  if (generated instanceof Matrix) {
    const values = zScores(generated.column(0) as Float64Array);
    return { input: new Matrix(length, 1, values.slice(0, length)), target: new Matrix(length, 1, values.slice(1, length + 1)) };
  }
  return {
    input: new Matrix(length, 1, zScores(generated.inputs.column(0) as Float64Array).slice(0, length)),
    target: new Matrix(length, 1, zScores(generated.targets.column(0) as Float64Array).slice(0, length)),
  };
}

function zScores(values: Float64Array): Float64Array {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) * (value - mean), 0) / values.length;
  const deviation = Math.sqrt(variance) || 1;
  return values.map((value) => (value - mean) / deviation);
}

/** SHA-256 of the states (binary32, little-endian, row by row) of the first 1000 steps from the initial state. */
export async function stateHash(settings: LabSettings, engine?: string): Promise<string> {
  const computer = await ReservoirComputer.create(reservoirOf(settings), { engine });
  try {
    return await hashOf(await computer.run(signalOf(settings, hashedSteps).input));
  } finally {
    await computer.dispose();
  }
}

/** SHA-256 of a matrix of binary32 in memory order; every machine that runs this is little-endian. */
export function hashOf({ data }: Matrix): Promise<string> {
  return sha256([new Uint8Array(data.buffer, data.byteOffset, data.byteLength)]);
}
