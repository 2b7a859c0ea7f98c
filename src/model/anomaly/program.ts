// A detector as a program: the runtime in C with its constants, and where things are in its state.
// The package runs the same program that it exports.
import { isSparse, portableExp, toSparse } from "@spillway/numerics";
import { resolveConfig } from "../../reservoir/config-schema.js";
import { buildModel } from "../../reservoir/weights.js";
import { calendarRows } from "../c/calendar.js";
import { Constants, type Field, nowhere, type Program } from "../c/constants.js";
import type { AnomalySettings } from "./options.js";

/** Time stamps and alarms that a state keeps: PAST_STEPS and PAST_ALARMS in detector-types.c. */
const pastSteps = 15;
const pastAlarms = 32;

/** Fields of `shared` in detector-types.c that are read here, by their position. */
export const shared = {
  row: 0,
  alarmAt: 5,
  alarmColumn: 6,
  timed: 8,
  instant: 9,
  unordered: 11,
  refused: 12,
  steps: 13,
  nextStep: 14,
  nextAlarm: 30,
  alarmColumns: 127,
  length: 15 + 15 + 1 + 5 * 32,
} as const;
const column = { count: 2, limit: 6, novelAt: 7, alarmAt: 8, band: 5, step: 15, taken: 21, length: 22 + 640 } as const;

/** Where things are in a state. */
export interface StateLayout {
  /** Where the count and the limit R of each column are. */
  readonly counts: readonly number[];
  readonly limits: readonly number[];
  /** Where the counts of patterns are. */
  readonly banks: readonly number[];
  /** Where other whole numbers are by which the program finds something, and their largest. */
  readonly whole: readonly (readonly [at: number, most: number])[];
  /** Numbers that are kept, and all with those that a row works in. */
  readonly kept: number;
  readonly length: number;
  readonly features: number;
}

export function layoutOf({ columns, patterns, size, forecast }: AnomalySettings): StateLayout {
  const bank = 1 + patterns * (constants.scales + 2);
  const own = column.length + constants.scales;
  const width = own + 3 * bank;
  const starts = columns.map((_, c) => shared.length + c * width);
  const features = forecast ? 1 + 4 * columns.length + 6 + size : 0;
  const sums = (features * (features + 1)) / 2;
  const last = columns.length - 1;
  const alarms = Array.from({ length: pastAlarms }, (_, k) => [shared.alarmColumns + k, last] as const);
  const kept = shared.length + columns.length * width + sums + (2 * columns.length + 1) * features;
  return {
    counts: starts.map((at) => at + column.count),
    limits: starts.map((at) => at + column.limit),
    banks: starts.flatMap((at) => [0, 1, 2].map((b) => at + own + b * bank)),
    whole: [
      ...starts.map((at) => [at + column.taken, Number.MAX_SAFE_INTEGER] as const),
      ...[[shared.steps, pastSteps] as const, [shared.nextStep, pastSteps - 1] as const, [shared.nextAlarm, pastAlarms - 1] as const],
      ...[[shared.alarmColumn, last] as const, ...alarms],
    ],
    kept,
    length: kept + sums + features,
    features,
  };
}

/**
 * Constants of novelty that are no options: how fast the limit R moves, its least value, the ratio
 * of radii of the banks, the scale of asinh, the ratio of the rows of moving averages, and their
 * number, which is SCALES in detector-types.c. Only the benchmark of their choice changes them.
 */
export const constants = { gain: 0.1, leastLimit: 0.9, spread: 1.25, squash: 2, ratio: 2, scales: 8 };

/** The row of an alarm that never was. */
const never = -1_000_000;

/** A state before any row. */
export function firstState(settings: AnomalySettings): Float64Array {
  const { counts, kept } = layoutOf(settings);
  const state = new Float64Array(kept);
  state[shared.alarmAt] = never;
  for (const at of counts) {
    const start = at - column.count;
    state[start + column.limit] = constants.leastLimit;
    state[start + column.novelAt] = never;
    state[start + column.alarmAt] = never;
    state[start + column.band] = -1;
    state[start + column.step] = 1;
  }
  return state;
}

/**
 * Whether the limits of all columns move together as well, so that the incidents of all of them come
 * at the asked rate. Limits that have a least value give at most that rate without.
 */
const isJointly = ({ rate, columns }: AnomalySettings): boolean => rate === "exact" && columns.length > 1;

/** Numbers in the order of `settings` in detector-types.c. */
function numbersOf(settings: AnomalySettings): number[] {
  const { alarmRate, rate, detect, memory, warmUp, mergeRows, stuck, missing, radius } = settings;
  const share = alarmRate / settings.columns.length;
  const surprise = detect === "both" ? share / 2 : share;
  const part = rate === "exact" ? surprise : share;
  const { gain, leastLimit, spread, squash, ratio } = constants;
  const isJoint = isJointly(settings);
  return [
    ...[surprise, share, portableExp(-gain * part), portableExp(gain * (1 - part)), rate === "exact" ? 0 : leastLimit],
    ...[memory, warmUp, mergeRows],
    ...[detect !== "surprise", stuck, detect !== "novelty", missing === "alarm"].map(Number),
    ...[isJoint ? portableExp(-gain * part * (settings.columns.length - 1)) : 1, isJoint ? gain : 0],
    ...[squash, ratio, radius / spread, radius, radius * spread],
  ];
}

/** The reservoir of the forecast: ten inputs a neuron; the day's cycle at half the scaling. */
function reservoirOf({ columns, size, seed }: AnomalySettings) {
  const inputs = columns.length + 2;
  const model = buildModel(
    resolveConfig({
      ...{ size, seed, inputSize: inputs, precision: "float64", storage: "sparse", selfConnections: true },
      ...{ spectralRadius: 0.9, connectionProbability: Math.min(1, 10 / size), leakRate: { from: 0.05, to: 1 } },
      ...{ inputScaling: Array.from({ length: inputs }, (_, k) => (k < columns.length ? 0.5 : 0.25)), bias: 0.5 },
    }),
  );
  return { ...model, weights: isSparse(model.weights) ? model.weights : toSparse(model.weights) };
}

/** @param state what `begin` goes to; left out, there is no `begin` */
export function detectorProgram(settings: AnomalySettings, state?: Float64Array): Omit<Program, "title" | "header"> {
  const held = new Constants();
  const double = (name: string, values: ArrayLike<number> | undefined) => held.to("float64", name, values);
  const { columns, patterns, size, forecast } = settings;
  const { features } = layoutOf(settings);
  const drawn = forecast && size > 0 ? reservoirOf(settings) : undefined;
  const calendar = calendarRows(["hour", { cycle: "weekday", harmonics: 1 }], held);
  if (forecast) held.tables.push({ name: "calendar_features", type: "feature", rows: calendar.rows });
  const pointers: Readonly<Record<string, Field>> = {
    settings: double("settings", numbersOf(settings)),
    biases: double("biases", drawn?.bias),
    leak_rates: double("leak_rates", drawn?.leakRate),
    input_weights: double("input_weights", drawn?.inputWeights.data),
    recurrent: double("recurrent", drawn?.weights.values),
    recurrent_rows: held.to("uint32_t", "recurrent_rows", drawn?.weights.rowOffsets),
    recurrent_columns: held.to("uint32_t", "recurrent_columns", drawn?.weights.columns),
    calendar_features: forecast ? { to: "calendar_features" } : nowhere,
    first_state: double("first_state", state),
  };
  return {
    kind: "detector",
    constants: held,
    numbers: {
      ...{ COLUMNS: columns.length, PATTERNS: patterns, SIZE: drawn ? size : 0, FORECAST: Number(forecast) },
      ...{ FEATURES: features, CALENDAR: forecast ? calendar.rows.length : 0 },
    },
    flags: new Set([
      "DOUBLE",
      "LOG",
      "ROOT",
      ...(forecast || isJointly(settings) ? ["EXP"] : []),
      ...(isJointly(settings) ? ["JOINT"] : []),
      ...(drawn ? ["TANH_DOUBLE"] : []),
      ...(state ? ["BEGINS"] : []),
    ]),
    pointers,
    declarations: forecast ? ["static void model_calendar(int64_t wall, double *known);"] : [],
    files: [
      ...["arithmetic.c", ...(forecast ? ["calendar-types.c"] : []), "detector-types.c", null, "numbers.c"],
      ...[...(forecast ? ["calendar.c"] : []), "detector.c"],
    ],
  };
}
