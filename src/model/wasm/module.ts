// An exported program in C as a WebAssembly module, with what its host has to know of it.
import { ArgumentError } from "../../core/errors.js";
import { wasmMemoryLimit } from "../../numerics/wasm/index.js";
import { calendarColumns } from "../../series/calendar.js";
import { cClassifier } from "../c/classifier.js";
import type { CProgram } from "../c/constants.js";
import { cProgram } from "../c/program.js";
import { givenOf, observes, outsideOf } from "../c/shape.js";
import { typeName } from "../c/text.js";
import type { ClassifierParts } from "../classifier/file.js";
import type { Label } from "../classifier/options.js";
import type { ForecasterParts } from "../forecaster/file.js";
import { customSection, joined } from "./binary.js";
import { compile, pageBytes } from "./compiler/index.js";
import { vectors } from "./vectors.js";

/** What a host has to know of a forecaster. */
interface ForecasterAbout {
  readonly kind: "forecaster";
  /** Values of a row that `predict` takes. */
  readonly inputs: number;
  readonly outputs: number;
  /**
   * Whether `observe` stands in the place of `predict`, and the values that are given with its row.
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
}

const name = "model";

/** @throws ArgumentError for what no program holds */
export function forecasterModule(
  parts: ForecasterParts,
  note: { readonly version: string; readonly calendar: Parameters<typeof cProgram>[1]["calendar"] },
): Uint8Array {
  const program = cProgram(parts, { ...note, name });
  const { shape } = program;
  return moduleOf(program, "state", {
    kind: "forecaster",
    inputs: shape.inputs,
    outputs: shape.outputs,
    observes: observes(shape),
    known: givenOf(shape),
    calendar: calendarColumns(shape.calendar),
    outside: shape.closes ? outsideOf(shape) : -1,
  });
}

/** @throws ArgumentError for what no program holds */
export function classifierModule(parts: ClassifierParts, note: { readonly version: string }): Uint8Array {
  const about = { kind: "classifier", channels: parts.scale.mean.length, classes: parts.classes } as const;
  return moduleOf(cClassifier(parts, { ...note, name }), "work", about);
}

/** A host also has to know where memory is free, and the bytes of a state or of what a call works in. */
function moduleOf(program: CProgram, memory: "state" | "work", about: ForecasterAbout | ClassifierAbout): Uint8Array {
  const text = [program.header, ...program.declarations, ...program.functions].join("\n");
  const arrays = program.constants.arrays.map(({ name: array, type, values }) => ({
    name: array,
    type: typeName(type),
    bytes: new Uint8Array(values.buffer),
  }));
  const { module, end, sizeOf } = compile(text, { arrays, prologues: vectors });
  if (end > wasmMemoryLimit - pageBytes)
    throw ArgumentError.because(`the model takes ${end} bytes; a WebAssembly memory takes at most ${wasmMemoryLimit}`, { field: "model" });
  return joined([module, customSection("spillway", JSON.stringify({ ...about, free: end, bytes: sizeOf(`${name}_${memory}`) }))]);
}
