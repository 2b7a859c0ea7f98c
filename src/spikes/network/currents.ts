// Currents beside those of a network's description: what the neurons are driven by in each step of
// a run, and when it changes.
import { ArgumentError } from "@spillway/core/errors.js";
import type { FloatArray, Matrix } from "@spillway/numerics";
import { checkFinite, filledSeries } from "@spillway/numerics/known-finite.js";
import { stepsIn } from "../steps.js";
import type { NetworkPlan, NeuronRange, PlannedPopulation } from "./plan.js";
import { type NetworkCurrent, neuronsOf, wholeSteps } from "./recording.js";

interface Span extends NeuronRange {
  readonly population: PlannedPopulation;
  readonly from: number;
  readonly end: number;
  /** Steps that a row lasts. */
  readonly every: number;
  readonly rows: Matrix | undefined;
  readonly current: number;
}

/** The drive of a run whose currents change. */
export interface CurrentDrive {
  /** Whether it does. */
  readonly changes: boolean;
  /** The first step after `step` in which the drive changes; the number of steps if it does not. */
  after(step: number): number;
  /** What drives the neurons in a step and until the next change; rule 13 of docs/numerics.md. */
  at(step: number): FloatArray;
}

/** @param constant what drives the neurons without these currents. @throws ArgumentError */
export function currentDrive(plan: NetworkPlan, constant: FloatArray, currents: readonly NetworkCurrent[], steps: number): CurrentDrive {
  const spans = currents.map((each, k) => spanOf(plan, each, `currents[${k}]`, steps));
  const round = plan.precision === "float32" ? Math.fround : (value: number) => value;
  return {
    changes: spans.length > 0,
    after: (step) =>
      spans.reduce((next, { from, end, every }) => {
        if (step >= end) return next;
        return Math.min(next, step < from ? from : Math.min(end, from + every * (Math.floor((step - from) / every) + 1)));
      }, steps),
    at(step) {
      const drive = constant.slice();
      for (const { first, size, population, current, rows, from, end, every } of spans) {
        if (step < from || step >= end) continue;
        const { driveGain, resistance } = population.neuron;
        const added = (value: number) => round(driveGain * round(value * resistance));
        const row = rows?.row(Math.floor((step - from) / every));
        if (row && row.length > 1) for (let k = 0; k < size; k++) drive[first + k] = drive[first + k]! + added(row[k]!);
        else {
          const one = added(row ? row[0]! : current);
          for (let r = first; r < first + size; r++) drive[r] = drive[r]! + one;
        }
      }
      return drive;
    },
  };
}

function spanOf(plan: NetworkPlan, { to, current, rows, everyMs, fromMs = 0, toMs }: NetworkCurrent, field: string, steps: number): Span {
  const { timeStep } = plan.config;
  const range = neuronsOf(plan, to, `${field}.to`);
  if ((current === undefined) === (rows === undefined))
    throw new ArgumentError(field, { to, current, rows: rows && "rows" }, "current, or rows, and not both");
  if (everyMs !== undefined && !rows) throw new ArgumentError(`${field}.everyMs`, everyMs, "nothing beside current: rows last so long");
  const series = rows && filledSeries(rows, `${field}.rows`);
  if (series) checkFinite(series, `${field}.rows`);
  if (series && series.cols !== 1 && series.cols !== range.size)
    throw ArgumentError.shape(`${field}.rows has ${series.cols} columns; it takes 1, or ${range.size}, one for each neuron of ${to}`, {
      field: `${field}.rows`,
    });
  const every = everyMs === undefined ? 1 : wholeSteps(everyMs, timeStep, `${field}.everyMs`);
  const from = stepsIn(fromMs, timeStep);
  const rowsEnd = series ? from + series.rows * every : steps;
  const end = toMs === undefined ? rowsEnd : Math.min(rowsEnd, stepsIn(toMs, timeStep));
  if (end <= from) throw new ArgumentError(`${field}.toMs`, toMs, `more than fromMs, ${fromMs} ms`);
  return { ...range, from, end, every: series ? every : Math.max(1, end - from), rows: series, current: current ?? 0 };
}
