// The states of a trained model over a series: for figures, and streamed into a file.
import { join } from "node:path";
import { orErrorLater } from "@spillway/core/errors.js";
import { NpyWriter } from "@spillway/io";
import type { Matrix } from "@spillway/numerics";
import { type Figure, plotStateHeatmap, plotTrajectories } from "../../plot/index.js";
import { type AnyReservoirComputer, NonFiniteStateError } from "../../reservoir/index.js";
import type { RunFile } from "../runs/output-folder.js";

/** What drives a reservoir: inputs, and if there is feedback the outputs that are forced. */
export interface Drive {
  readonly inputs: Matrix;
  readonly teacher?: Matrix | undefined;
}

/** Steps of states that a figure shows. */
export const shownSteps = 400;

/**
 * Heat map and trajectories of the states over the last rows of a drive, from the initial state;
 * none if the states leave for infinity on the way.
 */
export async function stateFigures(
  computer: AnyReservoirComputer,
  drive: Drive,
  firstStep: number,
  signal: AbortSignal,
): Promise<Figure[]> {
  const { rows } = drive.inputs;
  const shown = Math.min(rows, shownSteps);
  const before = part(drive, 0, rows - shown);
  const after = part(drive, rows - shown, rows);
  const run = async (): Promise<Matrix> => {
    computer.reset();
    if (before.inputs.rows > 0) await computer.run(before.inputs, { teacher: before.teacher, signal });
    return await computer.run(after.inputs, { teacher: after.teacher, signal });
  };
  const states = await orErrorLater(run, NonFiniteStateError);
  if (states instanceof Error) return [];
  const start = firstStep + rows - shown;
  return [
    plotStateHeatmap(states, { title: "States around their means, driven by the data", start, centred: true }),
    plotTrajectories(states, { title: "A few neurons, driven by the data", start }),
  ];
}

/** Rows that are run and written at a time. */
const chunk = 2048;

/**
 * Runs a drive from the initial state and writes every k-th state into states.npy, a chunk at a
 * time.
 */
export async function streamStates(
  computer: AnyReservoirComputer,
  drive: Drive,
  folder: string,
  every: number,
  signal: AbortSignal,
): Promise<readonly RunFile[]> {
  const name = "states.npy";
  await using writer = await NpyWriter.create(join(folder, name), { cols: computer.model.size, dtype: computer.model.precision });
  computer.reset();
  const rows = Math.max(1, Math.floor(chunk / every)) * every;
  for (let from = 0; from < drive.inputs.rows; from += rows) {
    const { inputs, teacher } = part(drive, from, from + rows);
    const states = await computer.run(inputs, { teacher, every, signal });
    if (states.rows > 0) await writer.append(states);
  }
  await writer.close();
  return [name];
}

function part({ inputs, teacher }: Drive, from: number, to: number): Drive {
  return { inputs: inputs.subarray(from, to), teacher: teacher?.subarray(from, to) };
}
