// A spike pattern through a reservoir: to a state, to all states, to the reservoir's own spikes.
// Any kind of reservoir on any engine.
import { checkHas } from "@spillway/core/checks.js";
import { disposeAll } from "@spillway/core/disposal.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { choice, type InputOf, option, type Resolved, resolve } from "@spillway/core/options.js";
import { warnOnce } from "@spillway/core/warning.js";
import type { DeviceSlice } from "@spillway/gpu";
import { allocate, asMatrix, columnMeans, type FloatArray, Matrix } from "@spillway/numerics";
import {
  type AnyModel,
  type AnyReservoirComputer,
  DeviceMatrix,
  DeviceSequences,
  type ReservoirComputer,
  type SpikingModel,
  type WorkOptions,
} from "../../reservoir/index.js";
import { workTable } from "../../reservoir/work.js";
import { type CaseRows, EncodedCases } from "../drive.js";
import { DeviceSpikePattern, DeviceSpikePatterns } from "../gpu/device-pattern.js";
import { checkPatterns, isPattern, SpikePattern } from "../pattern/pattern.js";
import { type InputOptions, inputTable } from "./input-options.js";
import { patternInputs, stepFor } from "./inputs.js";

export const processTable = {
  ...inputTable,
  ...workTable,
  /**
   * "last" (default): the state at the end of the pattern. "mean": the mean of the states of all
   * steps. "all": the states of all steps, T x N for each pattern.
   */
  state: option(choice("last", "mean", "all"), "last", "The state at the end, the mean of all states, or all of them."),
  /**
   * "host" (default), or "device": the states stay in the memory of the reservoir's device, in a
   * DeviceMatrix (B x N) or, of all steps, DeviceSequences. Means are computed only on the host.
   */
  keep: option(choice("host", "device"), "host", "Whether states stay in the memory of the reservoir's device."),
};

/** How patterns become inputs, and which state is kept of each. */
export interface ProcessOptions extends InputOptions, WorkOptions, InputOf<typeof processTable> {}

/** The options of `processPattern`, which gives one state on the host. */
export const oneStateTable = {
  ...inputTable,
  ...workTable,
  /** The state at the end of the pattern (default), or the mean of the states of all steps. */
  state: option(choice("last", "mean"), "last", "The state at the end, or the mean of all states."),
};

/** How one pattern becomes one state. */
export interface OneStateOptions extends InputOptions, WorkOptions, InputOf<typeof oneStateTable> {}

/** What `processPatterns` gives for its options. */
export type ProcessedPatterns<O extends ProcessOptions> = O extends ProcessOptions & { readonly keep: "device"; readonly state: "all" }
  ? DeviceSequences
  : O extends ProcessOptions & { readonly keep: "device"; readonly state?: "last" | "mean" | undefined }
    ? DeviceMatrix
    : O extends ProcessOptions & { readonly keep?: "host" | undefined; readonly state: "all" }
      ? Matrix[]
      : O extends ProcessOptions & { readonly keep?: "host" | undefined; readonly state?: "last" | "mean" | undefined }
        ? Matrix
        : Matrix | Matrix[] | DeviceMatrix | DeviceSequences;

/**
 * As `patternInputs`, of patterns in the memory of the reservoir's device, which the inputs stay
 * in.
 */
async function patternInputsThere(
  computer: AnyReservoirComputer,
  patterns: DeviceSpikePatterns,
  options: InputOptions,
): Promise<DeviceSequences> {
  const { context, engine } = computer;
  const binMs = stepFor(computer, patterns, options);
  if (!context) throw new ArgumentError("the engine of the reservoir", engine.name, "one on a device, for patterns that lie there");
  const { binPatternsOnDevice } = await import("../gpu/patterns-binning.js");
  return binPatternsOnDevice(context, patterns, { binMs, values: "amplitudes" });
}

/**
 * One state (N values) for each pattern, B x N in the model's precision, or with `state: "all"` the
 * states of all steps of each: the pattern runs from the initial state; the reservoir's own state
 * is untouched. A pattern without spikes gives the state
 * after that much silence. Patterns in the memory of the reservoir's device are binned there.
 * @throws ArgumentError, WorkInterruptedError
 */
export async function processPatterns<const O extends ProcessOptions = Record<never, never>>(
  computer: AnyReservoirComputer,
  patterns: readonly SpikePattern[] | DeviceSpikePatterns,
  options?: O,
): Promise<ProcessedPatterns<O>> {
  return (await processed(computer, patterns, resolve(processTable, options ?? {}))) as ProcessedPatterns<O>;
}

async function processed(
  computer: AnyReservoirComputer,
  patterns: readonly SpikePattern[] | DeviceSpikePatterns,
  options: Resolved<typeof processTable>,
): Promise<Matrix | Matrix[] | DeviceMatrix | DeviceSequences> {
  if (!(patterns instanceof DeviceSpikePatterns)) checkPatterns(patterns);
  const { state, keep, signal, onProgress, ...binning } = options;
  const count = patterns instanceof DeviceSpikePatterns ? patterns.count : patterns.length;
  if (count === 0 && keep === "device")
    throw new ArgumentError("the number of patterns", 0, 'at least 1 beside keep "device"', { code: "shape" });
  const isThere = patterns instanceof DeviceSpikePatterns;
  using inputs = isThere ? await patternInputsThere(computer, patterns, binning) : await rowsOf(computer, patterns, binning);
  if (keep === "device") return await statesThere(computer, inputs.sequences, options);
  const spikes = isThere ? 0 : patterns.reduce((sum, { spikeCount }) => sum + spikeCount, 0);
  return await statesOf(computer, inputs.sequences, state, { signal, onProgress }, spikes);
}

/** Patterns of the host as inputs: on the device of the reservoir if it has one. */
async function rowsOf(computer: AnyReservoirComputer, patterns: readonly SpikePattern[], options: InputOptions): Promise<CaseRows> {
  const steps = patterns.map((pattern) => stepFor(computer, pattern, options));
  return new EncodedCases(patterns, { bins: { binMs: steps[0] } }).rows(computer);
}

/** The last state of each sequence, B x N, or all states in the memory of the device. */
async function statesThere(
  computer: AnyReservoirComputer,
  sequences: readonly (Matrix | DeviceMatrix)[],
  { state, signal, onProgress }: ProcessOptions,
): Promise<DeviceMatrix | DeviceSequences> {
  const { size, noiseLevel } = computer.model;
  if (state === "mean") throw new ArgumentError("state", state, '"last" or "all" beside keep "device"');
  const keep = state === "all" ? "device" : "deviceLast";
  const batch = (some: readonly (Matrix | DeviceMatrix)[]) => computer.batch(some, { keep, signal, onProgress });
  const kept = noiseLevel === 0 ? await batch(sequences) : await oneByOne(sequences, batch);
  if (state === "all") return kept;
  return new DeviceMatrix(kept.sequences[0]!.context, kept.values, { rows: sequences.length, cols: size }, kept);
}

/** Each sequence has the noise of the first, as those whose states come to the host have. */
async function oneByOne(
  sequences: readonly (Matrix | DeviceMatrix)[],
  batch: (some: readonly (Matrix | DeviceMatrix)[]) => Promise<DeviceSequences>,
): Promise<DeviceSequences> {
  const parts: DeviceSequences[] = [];
  try {
    for (const sequence of sequences) parts.push(await batch([sequence]));
    const [{ context, cols, stepMs }] = parts[0]!.sequences as [DeviceMatrix];
    const rows = parts.map((part) => part.sequences[0]!.rows);
    const length = rows.reduce((sum, each) => sum + each, 0) * cols;
    const values = context.alloc(parts[0]!.values.dtype as "f32", length, { label: "kept states" });
    const stream = context.stream({ label: "states of patterns" });
    try {
      let next = 0;
      for (const part of parts) {
        stream.waitFor([part.values]);
        stream.copy(values.slice(next, next + part.values.length), part.values as DeviceSlice<"f32">);
        next += part.values.length;
      }
      await stream.done();
      return new DeviceSequences(context, values, { rows, cols, stepMs }, values);
    } catch (error) {
      values.dispose();
      throw error;
    } finally {
      stream.dispose();
    }
  } finally {
    disposeAll(parts);
  }
}

/** The last or the mean state of each sequence, B x N, or all states of each. */
async function statesOf(
  computer: AnyReservoirComputer,
  inputs: readonly (Matrix | DeviceMatrix)[],
  state: "last" | "mean" | "all",
  { signal, onProgress }: WorkOptions,
  spikes: number,
): Promise<Matrix | Matrix[]> {
  const { size, precision, noiseLevel } = computer.model;
  const isThere = noiseLevel === 0 && inputs[0] instanceof DeviceMatrix;
  if (isThere && state === "mean") {
    const which = { last: false, mean: true, washout: 0, given: Matrix.zeros(inputs.length, 0) };
    const means = await computer.summarise(inputs, { ...which, signal, onProgress });
    if (means) {
      const out = new Matrix(means.rows, size, allocate(precision, means.data.length));
      out.data.set(means.data);
      warnOfSilence(computer.model, spikes, [out.data]);
      return out;
    }
  }
  const total = inputs.reduce((sum, { rows }) => sum + rows, 0);
  const found: Matrix[] = [];
  let done = 0;
  if (isThere) found.push(...(await computer.batch(inputs, { keep: state === "last" ? "last" : "all", signal, onProgress })));
  for (const sequence of isThere ? [] : inputs) {
    const before = done;
    const progress = onProgress && ((steps: number) => onProgress(before + steps, total));
    // A sequence at a time bounds the memory that a mean takes to one sequence; the noise of each
    // is that of the first.
    const [states] = await computer.batch([sequence], { keep: state === "last" ? "last" : "all", signal, onProgress: progress });
    found.push(state === "mean" ? new Matrix(1, size, columnMeans(states!)) : states!);
    done += sequence.rows;
  }
  warnOfSilence(
    computer.model,
    spikes,
    found.map(({ data }) => data),
  );
  if (state === "all") return found;
  const out = new Matrix(found.length, size, allocate(precision, found.length * size));
  for (const [b, { data }] of found.entries()) out.row(b).set(data);
  return out;
}

/** One pattern's state, N values: see {@link processPatterns}. */
export async function processPattern(
  computer: AnyReservoirComputer,
  pattern: SpikePattern | DeviceSpikePattern,
  options: OneStateOptions = {},
): Promise<FloatArray> {
  const patterns = pattern instanceof DeviceSpikePattern ? pattern.alone() : [pattern];
  return (await processPatterns(computer, patterns, resolve(oneStateTable, options))).data;
}

const runTable = { ...inputTable, ...workTable };

/** All states of a pattern that runs on from the present state, T x N. */
export async function runPattern(
  computer: AnyReservoirComputer,
  pattern: SpikePattern | DeviceSpikePattern,
  options: InputOptions & WorkOptions = {},
): Promise<Matrix> {
  const { stepMs, ...work } = resolve(runTable, options);
  if (!(pattern instanceof DeviceSpikePattern)) {
    using rows = await rowsOf(computer, [pattern], { stepMs });
    const states = await computer.run(rows.sequences[0]!, work);
    warnOfSilence(computer.model, pattern.spikeCount, [states.data]);
    return states;
  }
  const inputs = await patternInputsThere(computer, pattern.alone(), { stepMs });
  try {
    return await computer.run(inputs.sequences[0]!, work);
  } finally {
    inputs.dispose();
  }
}

/**
 * The spikes of a spiking reservoir's own neurons while a pattern, or T x I inputs, run from the
 * initial state; the reservoir's own state is put back. A spike's time is the end of its step.
 */
export async function reservoirSpikes(
  computer: ReservoirComputer<SpikingModel>,
  input: SpikePattern | Matrix,
  options: WorkOptions = {},
): Promise<SpikePattern> {
  checkHas("computer", computer, "a ReservoirComputer of a liquid", "model");
  const { signal } = resolve(workTable, options);
  const { model } = computer;
  const { timeStep } = model.config;
  const inputs = isPattern(input) ? patternInputs(computer, input) : asMatrix(input, "input");
  const times: number[] = [];
  const neurons: number[] = [];
  const before = computer.state;
  let t = 0;
  computer.reset();
  try {
    for await (const fired of firedSteps(computer, inputs, { signal })) {
      t++;
      for (const neuron of fired) {
        times.push(t * timeStep);
        neurons.push(neuron);
      }
    }
  } finally {
    computer.state = before;
  }
  const fired = allocate("float32", model.size);
  for (const neuron of neurons) fired[neuron] = 1;
  const spikes = Array.from(inputs.data).filter((value) => value !== 0).length;
  warnOfSilence(model, spikes, [fired]);
  return new SpikePattern(
    { times, neurons },
    { durationMs: t * timeStep, neuronCount: model.size, metadata: { source: "spiking reservoir" } },
  );
}

/**
 * What fires in each step while T x I inputs run on from the present state: T lists of neurons,
 * rising.
 */
export async function* firedSteps(
  computer: ReservoirComputer<SpikingModel>,
  inputs: Matrix,
  { signal }: WorkOptions = {},
): AsyncGenerator<readonly number[]> {
  const { model } = computer;
  const rows = Math.max(1, Math.floor(2 ** 20 / model.size));
  const chunks = Array.from({ length: Math.ceil(inputs.rows / rows) }, (_, k) => inputs.subarray(k * rows, (k + 1) * rows));
  let last = computer.state.values;
  for await (const states of computer.stream(chunks, { signal })) {
    for (let row = 0; row < states.rows; row++) {
      yield firedNeurons(model, last, states.row(row));
      last = states.row(row);
    }
  }
}

/**
 * The neurons that fired between two filtered states, rising: those whose state is above what is
 * left of the earlier one.
 */
export function firedNeurons({ stateKeep, precision }: SpikingModel, before: FloatArray, after: FloatArray): number[] {
  const round = precision === "float32" ? Math.fround : (value: number) => value;
  const fired: number[] = [];
  for (let r = 0; r < after.length; r++) if (after[r] !== round(stateKeep * before[r]!)) fired.push(r);
  return fired;
}

/** The share of neurons that may never fire unsaid. */
const mayBeSilent = 0.9;

/**
 * Warns, once a process, if nine in ten neurons of a liquid were silent although there were input
 * spikes.
 * @param states filtered states of any of the steps, one or several rows of N
 */
function warnOfSilence(model: AnyModel, spikes: number, states: Iterable<FloatArray>): void {
  if (model.kind !== "spiking" || model.config.input.mode !== "spikes" || spikes === 0) return;
  const { size, config } = model;
  const fired = new Uint8Array(size);
  for (const each of states) for (let i = 0; i < each.length; i++) if (each[i] !== 0) fired[i % size] = 1;
  const silent = fired.reduce((count, any) => count + (any === 0 ? 1 : 0), 0) / size;
  if (silent <= mayBeSilent) return;
  const { weight, connectivity } = config.input;
  const each = typeof weight === "number" ? `${weight} mV` : "one a channel";
  warnOnce(
    "SpillwaySilenceWarning",
    `${Number((100 * silent).toFixed(1))} % of the liquid's ${size} neurons did not fire on ${spikes} input spikes: ` +
      `raise input.weight (${each}), input.connectivity (${connectivity}) or background.current (${config.background.current} mV)`,
  );
}
