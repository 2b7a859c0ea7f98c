// What the text of an exported forecaster depends on.
import type { Precision } from "@spillway/numerics";
import type { CalendarFeature } from "../../series/calendar.js";
import { type CTransforms, pastLength } from "./transforms.js";

/** What the calls depend on. */
export interface Shape {
  readonly name: string;
  readonly precision: Precision;
  /** Inputs of the reservoir. */
  readonly inputs: number;
  readonly outputs: number;
  /** Columns that are known beforehand. */
  readonly known: number;
  /** Columns of those that say which values of a row are missing; the program fills them. */
  readonly masks: number;
  /** Values of a row that are held if they are missing, and of a row that is fed back. */
  readonly fills: number;
  readonly fillsFed: number;
  readonly feedback: boolean;
  /** Whether a closed loop is possible. */
  readonly closes: boolean;
  /** What of the calendar is among the known columns, which it ends. */
  readonly calendar: readonly CalendarFeature[];
  /** Whether states are whole numbers. */
  readonly integers: boolean;
  /** Neurons of all reservoirs of each member, and of the largest of all. */
  readonly widths: readonly number[];
  readonly largest: number;
  /** Rows of the series that each member's readout sees. */
  readonly lags: readonly number[];
  /** Rows of the series that were seen where the model stands. */
  readonly readoutFeatureRows: number;
  /** Whether outputs of a closed loop are held in a range. */
  readonly held: boolean;
  /** Whether a readout sees more than the state. */
  readonly sees: boolean;
  /** Undefined if the series is taken as it is. */
  readonly transforms?: CTransforms | undefined;
  /** Whether a reservoir has noise. */
  readonly noise: boolean;
  /** Of a combination its own numbers in a state, and the neurons of its member of windows. */
  readonly beside?: { readonly numbers: number; readonly neurons: number } | undefined;
}

/** Columns that come from outside in a closed loop. */
export const outsideOf = ({ feedback, inputs, outputs, masks }: Shape): number => (feedback ? inputs : inputs - outputs - masks);

/** Columns that are given with a row: what is known of it but the mask. */
export const givenOf = ({ known, masks }: Shape): number => known - masks;

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** Whether it takes the series row by row, with what is known of each. */
export const observes = ({ feedback, known }: Shape): boolean => known > 0 && !feedback;

/** The fields of the state that a model has, with their lengths. */
export function stateFields(shape: Shape): readonly (readonly [string, number])[] {
  const { widths, largest, inputs, outputs, lags, beside } = shape;
  const fields: [string, number][] = [
    ["x", total(widths) + (beside?.neurons ?? 0)],
    ["next", largest],
    ["u", widths.length * inputs + Number((beside?.neurons ?? 0) > 0)],
    ["fed", shape.feedback || observes(shape) ? widths.length * outputs : 0],
    ["recent", total(lags) * outputs],
  ];
  return fields.filter(([, length]) => length > 0);
}

/** Values of the windows of one member's transforms. */
export const pastOf = ({ transforms }: Shape): number => (transforms ? pastLength(transforms) : 0);
