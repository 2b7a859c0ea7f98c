// An exported program in C as a WebAssembly module, with what its host has to know of it.
import { calendarColumns } from "../../series/calendar.js";
import type { AnomalySettings } from "../anomaly/options.js";
import { detectorProgram, layoutOf } from "../anomaly/program.js";
import { cClassifier } from "../c/classifier.js";
import type { Program } from "../c/constants.js";
import type { ExportedParts } from "../c/parts.js";
import { cProgram } from "../c/program.js";
import { beyondPlain } from "../c/runtime.js";
import { givenOf, observes, outsideOf, stateFields } from "../c/shape.js";
import type { ClassifierParts } from "../classifier/file.js";
import type { Label } from "../classifier/options.js";
import { customSection, joined } from "./binary.js";
import { type LinkedModule, link } from "./link.js";
import { addFront, type ResolvedSound, type SoundAbout } from "./sound.js";

/** What a host has to know of a forecaster. */
interface ForecasterAbout {
  readonly kind: "forecaster";
  /** Values of a row that `predict` takes. */
  readonly inputs: number;
  readonly outputs: number;
  /**
   * Whether `observe` replaces `predict`, and the values that are given with its row.
   */
  readonly observes: boolean;
  readonly known: number;
  /** The last of these that the calendar makes. */
  readonly calendar: number;
  /** Values from outside that each step of a closed loop takes; -1 if there is no closed loop. */
  readonly outside: number;
}

/** What a host has to know of a classifier. */
interface ClassifierAbout {
  readonly kind: "classifier";
  /** Values of a row. */
  readonly channels: number;
  readonly classes: readonly Label[];
  readonly sound?: SoundAbout | undefined;
}

/** A module, and what a host has to know of it, which the module's section "spillway" holds as JSON. */
export interface WasmModule {
  readonly module: Uint8Array;
  readonly about: object;
}

const described = (module: Uint8Array, about: object): WasmModule => ({
  module: joined([module, customSection("spillway", JSON.stringify(about))]),
  about,
});

const name = "model";

/** Functions by what a model has to have so that they are called. */
const calledFor: Readonly<Record<string, readonly string[]>> = {
  TRANSFORMS: ["forward", "undo"],
  DIFFERENCES: ["difference", "sum_up"],
  SQUASH: ["squash", "squash_undone"],
  LOG: ["log_of"],
  EXP: ["exp_of"],
  BOX_COX: ["box_cox", "box_cox_undone"],
  YEARS: ["first_day", "year_of"],
  NOISE: ["noise_of"],
  ORTHOGONAL: ["orthogonal_row"],
  TANH_SINGLE: ["tanh_of_single"],
  TANH_DOUBLE: ["tanh_of_double"],
  FILLING: ["fill"],
  OBSERVES: ["gather_known"],
  HOLDS: ["hold"],
  STATISTICS: ["take_statistics", "give_statistics"],
  LAYER_NORM: ["normalise"],
  FEATURES: ["weigh_all"],
  COMBINED: ["take_row", "combine"],
  CLASSICAL: ["smooth", "say_smoothed"],
  WINDOWS: ["say_windows"],
  LAW: ["say_law"],
};

/** Functions that multiply rows of W, by how it is stored. */
const rowsFor = (isInteger: boolean): readonly string[] =>
  (isInteger ? ["16", "8"] : ["full", "half"]).flatMap((type) => [
    `dense_row_${type}`,
    ...[8, 16, 32].map((bits) => `sparse_row_${type}_${bits}`),
  ]);

/** Where fields of so many bytes lie behind one another, and where they end. */
function offsetsOf(lengths: readonly number[]): { readonly offsets: readonly number[]; readonly end: number } {
  let end = 0;
  const offsets = lengths.map((length) => {
    const at = end;
    end = Math.ceil((end + length) / 8) * 8;
    return at;
  });
  return { offsets, end };
}

/** @throws ArgumentError for what no program holds */
export function forecasterModule(
  parts: ExportedParts,
  note: { readonly version: string; readonly calendar: Parameters<typeof cProgram>[1]["calendar"] },
): WasmModule {
  const program = cProgram(parts, { ...note, name });
  const { shape, numbers } = program;
  const fields = new Map(stateFields(shape));
  const members = shape.widths.length;
  const real = shape.precision === "float64" ? 8 : 4;
  const neuron = shape.integers ? 2 : real;
  const { offsets, end } = offsetsOf([
    ...["x", "next"].map((field) => neuron * (fields.get(field) ?? 0)),
    ...["u", "fed", "recent"].map((field) => real * (fields.get(field) ?? 0)),
    // The runtime counts the steps of every member, with noise or without.
    ...[8 * numbers["PAST"]! * members, 8 * shape.fills, 8 * shape.fillsFed, 8 * (shape.beside?.numbers ?? 0), 4 * members, 4],
  ]);
  const { outputs, known } = shape;
  // Arrays of local variables: at most those of a forecast and of what it calls.
  const locals = 2 * members * outputs + 14 * outputs + 2 * known + 2 * members + numbers["GROUPS"]! + 2 * numbers["MOST_INPUTS"]!;
  const calls: Memory["calls"] = {
    begin: true,
    reset: "RESETS",
    predict: "PREDICTS",
    teach: "TEACHES",
    observe: "OBSERVES",
    forecast: "CLOSES",
    calendar: "CALENDAR",
  };
  return moduleOf(
    program,
    { offsets, bytes: end, locals, calls },
    {
      kind: "forecaster",
      inputs: shape.inputs,
      outputs,
      observes: observes(shape),
      known: givenOf(shape),
      calendar: calendarColumns(note.calendar),
      outside: shape.closes ? outsideOf(shape) : -1,
    },
  );
}

/** @throws ArgumentError for what no program holds */
export function classifierModule(
  parts: ClassifierParts,
  note: { readonly version: string; readonly sound?: ResolvedSound | undefined },
): WasmModule {
  const program = cClassifier(parts, { ...note, name });
  const { shape, numbers, flags } = program;
  const { channels, classes, levels, features, settings } = shape;
  const neuron = flags.has("INTEGER") ? 2 : flags.has("DOUBLE") ? 8 : 4;
  const width = 8 * Math.max(shape.size, settings.input ? channels : 0);
  const statistics = settings.representation === "statistics" ? width : 0;
  const { offsets, end } = offsetsOf([
    ...[neuron * shape.width, neuron * shape.largest, width, statistics, statistics, width, statistics, statistics],
    ...[(levels * width) / 2, (levels * width) / 2, 8 * 32 * classes.length, 8 * features],
  ]);
  const locals = numbers["WIDTH"]! + 4 * channels + 4 * classes.length + 2 * numbers["MOST_INPUTS"]!;
  const about = { kind: "classifier", channels, classes } as const;
  const passes = 2 * numbers["MEMBERS"]! * numbers["VIEWS"]!;
  const work = { words: true, columns: channels, each: end, all: 8 * classes.length + passes * end };
  const front = note.sound && addFront(note.sound, work, program.constants);
  const calls: Memory["calls"] = { classify: true, ...(front && { process: true }) };
  return moduleOf(program, { offsets, bytes: end, locals, calls, front }, about);
}

/** A detector's program, and where its state may lie. @param state what `begin` sets, if any */
export function detectorModule(settings: AnomalySettings, state?: Float64Array): LinkedModule {
  return linkedDetector(settings, detectorProgram(settings, state), state ? ["model_begin"] : []);
}

function linkedDetector(settings: AnomalySettings, program: ReturnType<typeof detectorProgram>, more: readonly string[]): LinkedModule {
  const { constants, numbers, pointers } = program;
  return link({
    ...{ runtime: "detector-double", constants, model: [...Object.values(numbers), ...Object.values(pointers)] },
    stack: 4096 + 40 * settings.columns.length,
    calls: new Set(["model_update", "model_feedback", ...more]),
    without: new Set(),
  });
}

/** A detector's module as a file, with what its host has to know of it. @throws ArgumentError */
export function detectorFile(settings: AnomalySettings, state: Float64Array, sound: ResolvedSound | undefined): WasmModule {
  const program = detectorProgram(settings, state);
  const { columns } = settings;
  const { length, kept } = layoutOf(settings);
  const work = { words: false, columns: columns.length, each: 8 * length, all: 8 * (length + 6 + 6 * columns.length) };
  const front = sound && addFront(sound, work, program.constants);
  const linked = linkedDetector(settings, program, ["model_begin", ...(front ? ["model_process"] : [])]);
  return described(linked.module, {
    ...{ kind: "detector", columns, free: linked.end, bytes: 8 * length, kept: 8 * kept },
    ...(front && { sound: { ...front, front: linked.address({ to: "front" }) } }),
  });
}

interface Memory {
  readonly offsets: readonly number[];
  /** Bytes of a state, or of what a call works in. */
  readonly bytes: number;
  /** Numbers in local variables at once. */
  readonly locals: number;
  /** Exported functions, and what a model has to have for each. */
  readonly calls: Readonly<Record<string, string | true>>;
  readonly front?: Omit<SoundAbout, "front"> | undefined;
}

/** A host also has to know where memory is free, and the bytes of a state or of what a call works in. */
function moduleOf(
  program: Program,
  { offsets, bytes, locals, calls, front }: Memory,
  about: ForecasterAbout | ClassifierAbout,
): WasmModule {
  const { kind, constants, flags, pointers } = program;
  const isInteger = flags.has("INTEGER");
  const has = (flag: string): boolean =>
    flags.has(flag) ||
    (flag === "LOG" && front !== undefined) ||
    (program.numbers[flag] ?? 0) !== 0 ||
    (flag === "FILLING" && (has("FILLS") || has("FILLS_FED")));
  const reservoirs = constants.tables.find((table) => table.name === "reservoirs")?.rows ?? [];
  const stored = new Set(reservoirs.map((row) => row[4] as number));
  const without = [
    ...Object.entries(calledFor).flatMap(([flag, functions]) => (has(flag) ? [] : functions)),
    ...rowsFor(isInteger).filter((_, k) => !stored.has(k)),
  ];
  const isPlain = kind === "forecaster" && !beyondPlain.some(has);
  const { module, end, address } = link({
    runtime: `${isPlain ? "plain" : kind}-${isInteger ? "integer" : flags.has("DOUBLE") ? "double" : "single"}`,
    constants,
    // The fields of `model` in wasm.c are in the order of the program's numbers and pointers.
    model: [...Object.values(program.numbers), ...offsets, ...Object.values(pointers)],
    stack: 4096 + 8 * locals,
    calls: new Set(Object.entries(calls).flatMap(([call, flag]) => (flag === true || has(flag) ? [`model_${call}`] : []))),
    without: new Set(without),
  });
  const sound = front && { ...front, front: address({ to: "front" }) };
  return described(module, { ...about, free: end, bytes, ...(sound && { sound }) });
}
