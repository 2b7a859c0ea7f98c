// What the text of an exported forecaster depends on.

import { directParts, type ExportedParts } from "./parts.js";
import type { RateMember } from "./refuse.js";
import { type CTransforms, pastLength } from "./transforms.js";

/** What the calls depend on. */
export interface Shape extends ReturnType<typeof shapeOf> {
  /** Of a combination its own numbers in a state, and the neurons of its member of windows. */
  readonly beside?: { readonly numbers: number; readonly neurons: number } | undefined;
}

/** What of the calls the members say. */
export function shapeOf(name: string, members: readonly RateMember[], { settings, combination }: ExportedParts) {
  const [first] = members;
  const model = first?.model;
  const outputs = combination?.columns ?? first!.readout.outputSize;
  const known = combination?.known ?? first!.preprocessing.known;
  const inputs = model?.inputSize ?? outputs + known;
  const { missing = "error" } = settings;
  const feedback = (model?.outputSize ?? 0) > 0;
  const all = [...members.map(({ parts }) => parts), ...directParts({ combination })].flat();
  const [reservoir] = all;
  return {
    name,
    precision: reservoir?.model.precision ?? "float64",
    /** Inputs of the reservoir. */
    inputs,
    outputs,
    /** Columns that are known beforehand. */
    known,
    /** Columns of those that say which values of a row are missing; the program fills them. */
    masks: missing === "mask" ? outputs : 0,
    /** Values of a row that are held if they are missing, and of a row that is fed back. */
    fills: missing === "error" ? 0 : known === 0 ? inputs : feedback ? 0 : outputs,
    fillsFed: missing !== "error" && feedback ? outputs : 0,
    feedback,
    /** Whether a closed loop is possible. */
    closes: feedback || inputs >= outputs,
    /** Whether states are whole numbers. */
    integers: reservoir?.model.config.arithmetic === "integer",
    /** Neurons of all reservoirs of each member, and of the largest of all. */
    widths: members.map(({ parts }) => total(parts.map((part) => part.model.size))),
    largest: Math.max(0, ...all.map((part) => part.model.size)),
    /** Rows of the series that each member's readout sees. */
    lags: members.map(({ lags }) => lags),
    /** Rows of the series before the position of the model, as far as they matter. */
    recentRows: recentRowsOf(members),
    /** Whether outputs of a closed loop are held in a range. */
    held: settings.hold && members.every(({ preprocessing }) => preprocessing.held !== undefined),
    /** Undefined if the series is taken as it is. */
    transforms: transformsOf(members),
    /** Whether a readout has features beside the state. */
    hasInputFeatures: members.some(({ readout: { features } }) => features.input),
    /** Whether a reservoir has noise. */
    noise: all.some((part) => part.model.noiseLevel !== 0),
  };
}

/** A member keeps no more rows than it needs. */
function recentRowsOf(members: readonly RateMember[]): number {
  const lacks = members.filter(
    ({ state, lags, preprocessing }) => state.recent.rows < Math.max(lags, preprocessing.known > 0 ? 1 : 0) + preprocessing.transforms.lost,
  );
  return Math.min(...lacks.map(({ state }) => state.recent.rows));
}

function transformsOf(members: readonly RateMember[]): CTransforms | undefined {
  const lists = new Map(members.map(({ preprocessing }) => [JSON.stringify(preprocessing.transforms), preprocessing.transforms]));
  if ([...lists.values()].every(({ steps }) => steps.length === 0)) return undefined;
  return { lists: [...lists.values()], outputs: members[0]!.readout.outputSize };
}

/** Columns that come from outside in a closed loop. */
export const outsideOf = ({ feedback, inputs, outputs, masks }: Shape): number => (feedback ? inputs : inputs - outputs - masks);

/** Columns that are given with a row: what is known of it but the mask. */
export const givenOf = ({ known, masks }: Shape): number => known - masks;

export const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

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
