// Turns what users hand over into arrays of the model's precision, or says what is wrong with it.
// It runs nothing.
import { checkWhole } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { tally } from "@spillway/core/text.js";
import { describe, type FloatArray, inPrecision, Matrix, type MatrixLike, type Precision } from "@spillway/numerics";
import { checkFinite, filledSeries, noteFinite } from "@spillway/numerics/known-finite.js";
import type { AnyModel, CompositeModel } from "./composite/model.js";
import { DeviceMatrix } from "./device-matrix.js";
import type { EngineSession, SequenceInput, SessionState } from "./engine.js";
import { featureCount, type LinearReadout } from "./features.js";
import type { RegisteredModel } from "./registered/model.js";
import type { NetworkState, SpikingModel } from "./spiking-model.js";

export { ArgumentError };

/** A series: on the host, or in the memory of the device that the reservoir runs on. */
export type SequenceLike = MatrixLike | DeviceMatrix;

/**
 * Checks and converts a T x `cols` series; `what` says whose number `cols` is. @throws
 * ArgumentError
 */
export function series(source: MatrixLike, name: string, cols: number, what: string, precision: Precision): Matrix {
  const matrix = filledSeries(source, name);
  checkWidth(matrix, name, cols, what);
  return finite(matrix, name, precision);
}

function checkWidth(matrix: { readonly cols: number }, name: string, cols: number, what: string): void {
  if (matrix.cols !== cols)
    throw ArgumentError.shape(`${name} has ${tally(matrix.cols, "column")}; this reservoir takes ${cols} (${what})`, { field: name });
}

/** The same for a series of any width. @throws ArgumentError */
export function anySeries(source: MatrixLike, name: string, precision: Precision): Matrix {
  return finite(filledSeries(source, name), name, precision);
}

/**
 * The inputs of a sequence for work that takes them on the host. @throws ArgumentError for those on
 * a device
 */
export function hostInputs({ inputs }: SequenceInput): Matrix {
  return onlyHost(inputs, "inputs");
}

/** @throws ArgumentError for what lies on a device */
export function onlyHost(inputs: Matrix | DeviceMatrix, name: string): Matrix {
  if (inputs instanceof Matrix) return inputs;
  throw ArgumentError.because(`${name} lies on a device; this takes a series on the host, which toMatrix() gives`);
}

/** The session that inputs are for, and how it is called. */
export interface SequenceOwner {
  readonly session: Pick<EngineSession, "model" | "device">;
  readonly engine: string;
}

/** Inputs, T x I, with the outputs to force, T x O, if they are given. @throws ArgumentError */
export function sequenceOf(
  owner: SequenceOwner,
  inputs: SequenceLike,
  teacher: MatrixLike | undefined,
  name = "inputs",
  teacherName = "teacher",
): SequenceInput {
  const { inputSize, outputSize, precision } = owner.session.model;
  const checked = inputs instanceof DeviceMatrix ? there(owner, inputs, name) : series(inputs, name, inputSize, "inputSize", precision);
  if (teacher === undefined) return { inputs: checked };
  if (outputSize === 0)
    throw ArgumentError.because(`${teacherName} was given; this reservoir has no feedback to force, set feedback in its description`);
  const forced = series(teacher, teacherName, outputSize, "feedback.size", precision);
  if (forced.rows !== checked.rows) {
    throw ArgumentError.shape(`${teacherName} has ${tally(forced.rows, "row")} and ${name} has ${checked.rows}; they take the same number`);
  }
  return { inputs: checked, teacher: forced };
}

/**
 * Inputs on a device, as they are: whether their numbers are finite is for the states to tell.
 * @throws ArgumentError
 */
function there({ session, engine }: SequenceOwner, matrix: DeviceMatrix, name: string): DeviceMatrix {
  const { model, device } = session;
  if (!device)
    throw ArgumentError.because(`${name} lies on a device; the engine "${engine}" takes series on the host, which toMatrix() gives`);
  if (matrix.rows === 0) throw ArgumentError.shape(`${name} is empty; it takes at least one row`, { field: name });
  checkWidth(matrix, name, model.inputSize, "inputSize");
  if (matrix.precision !== model.precision)
    throw ArgumentError.because(
      `${name} is of ${matrix.values.dtype}; this reservoir takes ${model.precision === "float32" ? "f32" : "f64"} (precision ${model.precision})`,
      { field: name },
    );
  const timeStep = model.kind === "spiking" ? model.config.timeStep : undefined;
  if (timeStep !== undefined && matrix.stepMs !== undefined && matrix.stepMs !== timeStep)
    throw ArgumentError.shape(`${name} has rows of ${matrix.stepMs} ms; this reservoir takes ${timeStep} ms (timeStep)`, { field: name });
  device.check(matrix, name);
  return matrix;
}

/** Sequences, with the outputs to force in each if they are given; see `sequenceOf`. @throws ArgumentError */
export function sequencesOf(
  owner: SequenceOwner,
  sequences: readonly SequenceLike[],
  teachers?: readonly MatrixLike[],
): readonly SequenceInput[] {
  checkSequences(sequences, "sequences");
  if (teachers && teachers.length !== sequences.length)
    throw ArgumentError.shape(`teachers holds ${teachers.length} series; ${sequences.length} sequences take as many`, {
      field: "teachers",
    });
  const checked = sequences.map((inputs, b) => sequenceOf(owner, inputs, teachers?.[b], `sequences[${b}]`, `teachers[${b}]`));
  checkSteps(checked, "sequences");
  return checked;
}

/** @throws ArgumentError for sequences on a device whose rows last differently */
function checkSteps(sequences: readonly SequenceInput[], name: string): void {
  let first: { readonly stepMs: number; readonly b: number } | undefined;
  for (const [b, { inputs }] of sequences.entries()) {
    const stepMs = inputs instanceof DeviceMatrix ? inputs.stepMs : undefined;
    if (stepMs === undefined) continue;
    first ??= { stepMs, b };
    if (stepMs !== first.stepMs)
      throw ArgumentError.shape(
        `${name}[${b}] has rows of ${stepMs} ms and ${name}[${first.b}] of ${first.stepMs} ms; all take the same step length`,
      );
  }
}

/** @throws ArgumentError if it is no list of series */
export function checkSequences(sequences: readonly unknown[], name: string): void {
  if (!Array.isArray(sequences)) throw new ArgumentError(name, sequences, "a list of series");
  if (sequences.length === 0) throw ArgumentError.shape(`${name} is empty; it takes at least one sequence`, { field: name });
}

/** One value for each neuron, input or output, copied. @throws ArgumentError */
export function rowOf(model: AnyModel, values: ArrayLike<number>, name: string, what: "size" | "inputSize" | "outputSize"): FloatArray {
  return listOf(values, name, model[what], what === "outputSize" ? "feedback.size" : what, model.precision);
}

function listOf(values: ArrayLike<number>, name: string, length: number, what: string, precision: Precision): FloatArray {
  if (typeof values !== "object" || typeof values?.length !== "number")
    throw new ArgumentError(name, values, `a list of ${tally(length, "number")} (${what})`);
  if (values.length !== length)
    throw ArgumentError.shape(`${name} holds ${tally(values.length, "value")}; this reservoir takes ${length} (${what})`, { field: name });
  const row = precision === "float32" ? Float32Array.from(values) : Float64Array.from(values);
  for (let i = 0; i < length; i++)
    // Of the source too: a typed array makes 0 of a null and a number of a text.
    if (!Number.isFinite(values[i]) || !Number.isFinite(row[i])) throw new ArgumentError(`${name}[${i}]`, values[i], "a finite number");
  return row;
}

/** A copy of a state that was kept, of this model or one of its sizes. @throws ArgumentError */
export function stateOf(model: AnyModel, state: SessionState): SessionState {
  if (typeof state !== "object" || state === null) throw new ArgumentError("state", state, "one that was kept");
  const step = checkWhole("state.step", state.step, 0, Number.MAX_SAFE_INTEGER);
  return {
    values: rowOf(model, state.values, "state.values", "size"),
    input: rowOf(model, state.input, "state.input", "inputSize"),
    output: rowOf(model, state.output, "state.output", "outputSize"),
    step,
    ...(model.kind === "spiking" ? { network: networkOf(model, state.network) } : {}),
    ...("below" in model && model.below > 0 ? { below: belowOf(model, state.below) } : {}),
  };
}

/** What a spiking network carries beside x, copied. @throws ArgumentError */
function networkOf({ size, ringRows, config, precision }: SpikingModel, network: NetworkState | undefined): NetworkState {
  if (!network) throw ArgumentError.because("state.network is missing; a spiking reservoir's state has one");
  const recovery = config.neuron.type === "leakyIntegrateAndFire" ? 0 : size;
  const lengths = { potential: size, recovery, excitatory: size, inhibitory: size, held: size, pending: ringRows * 2 * size };
  const checked: Record<string, FloatArray | Int32Array> = {};
  for (const [name, length] of Object.entries(lengths)) {
    const values = network[name as keyof NetworkState];
    checked[name] =
      values instanceof Int32Array && values.length === length
        ? values.slice()
        : listOf(values, `state.network.${name}`, length, name, precision);
  }
  return checked as unknown as NetworkState;
}

/** x of the layers that states leave out, copied. @throws ArgumentError */
function belowOf({ below, precision }: CompositeModel | RegisteredModel, values: ArrayLike<number> | undefined): FloatArray {
  return listOf(values as ArrayLike<number>, "state.below", below, "what states leave out", precision);
}

/** Matrices that take the states of sequences. @throws ArgumentError for another number, or as `statesTarget` */
export function batchTargets(model: AnyModel, matrices: readonly Matrix[], rows: readonly number[]): readonly Matrix[] {
  if (matrices.length !== rows.length)
    throw ArgumentError.shape(`into holds ${matrices.length} matrices; ${tally(rows.length, "sequence")} take as many`, {
      field: "into",
    });
  return matrices.map((matrix, b) => statesTarget(model, matrix, rows[b]!, `into[${b}]`));
}

/** A matrix that takes states. @throws ArgumentError for one of another shape or precision, or without memory */
export function statesTarget({ size, precision }: AnyModel, matrix: Matrix, rows: number, name: string): Matrix {
  const holds = matrix.data instanceof Float32Array ? "float32" : "float64";
  if (matrix.rows !== rows || matrix.cols !== size || holds !== precision) {
    throw ArgumentError.shape(`${name} is a ${matrix.rows} x ${matrix.cols} ${holds} matrix; it takes ${rows} x ${size} of ${precision}`, {
      field: name,
    });
  }
  if (matrix.data.length !== rows * size)
    throw ArgumentError.because(`the memory of ${name} is gone: it was page-locked and disposed of, or transferred`, { field: name });
  return matrix;
}

/** The inputs from outside of a closed loop, if it takes any. @throws ArgumentError, of the readout too */
export function loopInputs(model: AnyModel, steps: number, readout: LinearReadout, given: MatrixLike | undefined): Matrix | undefined {
  checkWhole("steps", steps, 1);
  checkReadout(model, readout);
  const outputs = readout.weights.rows;
  const { inputSize, outputSize } = model;
  const outside = outputSize > 0 ? inputSize : inputSize - outputs;
  if (outside < 0 || (outputSize > 0 && outputs !== outputSize)) {
    const takes = outputSize > 0 ? `exactly ${outputSize} (feedback.size)` : `at most ${inputSize} (inputSize)`;
    throw ArgumentError.shape(`the readout has ${tally(outputs, "output")}; this reservoir's closed loop takes ${takes}`);
  }
  if (outside > 0 && !given && outputSize === 0)
    throw ArgumentError.because(`inputs is missing; ${inputSize} inputs less ${outputs} outputs leave ${outside} to come from outside`, {
      field: "inputs",
    });
  const inputs = given && series(given, "inputs", outside, "inputs from outside", model.precision);
  if (inputs && inputs.rows !== steps)
    throw ArgumentError.shape(`inputs has ${tally(inputs.rows, "row")}; ${steps} steps take as many`, { field: "inputs" });
  return inputs;
}

/** @throws ArgumentError if it is no readout, or one of another reservoir */
export function checkReadout({ size, inputSize }: AnyModel, readout: LinearReadout): void {
  if (!(readout?.weights instanceof Matrix) || typeof readout.features !== "object")
    throw new ArgumentError("readout", readout, "a trained readout, such as ridge().fit(states, targets)");
  if (readout.stateSize !== size || (readout.features.input && readout.inputSize !== inputSize)) {
    throw ArgumentError.shape(
      `the readout was trained on ${tally(readout.stateSize, "neuron")} and ${tally(readout.inputSize, "input")}; this reservoir has ${size} and ${inputSize}`,
    );
  }
  if (readout.intercept?.length !== readout.weights.rows)
    throw ArgumentError.shape(
      `the readout's intercept is ${describe(readout.intercept)}; its ${tally(readout.weights.rows, "output")} take as many values`,
    );
  const features = featureCount(readout.features, size, inputSize);
  if (readout.weights.cols !== features)
    throw ArgumentError.shape(`the readout has ${readout.weights.cols} weights an output; its features are ${features}`);
}

function finite(matrix: Matrix, name: string, precision: Precision): Matrix {
  checkFinite(matrix, name);
  const converted = inPrecision(matrix, precision);
  if (converted === matrix) return matrix;
  checkFinite(converted, name, " (beyond float32; scale the data or take precision float64)");
  return noteFinite(converted);
}

/** @throws ArgumentError unless 0 <= washout < rows. */
export function checkWashout(washout: number, rows: number): void {
  checkWhole("washout", washout, 0);
  if (washout >= rows)
    throw ArgumentError.shape(`washout is ${washout} and the series has ${tally(rows, "row")}; it takes fewer: some rows must be left`, {
      field: "washout",
      value: washout,
    });
}
