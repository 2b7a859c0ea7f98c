// A closed loop in chunks: the readout and the feedback stay on the device, only y comes to the
// host. docs/numerics.md, rule 10.

import { Making } from "@spillway/core/disposal.js";
import type { DeviceSlice } from "@spillway/gpu";
import { allocate, type FloatArray, firstNonFinite, Matrix } from "@spillway/numerics";
import { featureCount, type LinearReadout } from "../../reservoir/features.js";
import type { ChunkBuffers } from "./chunk-buffers.js";
import type { PipelineParts } from "./chunk-pipeline.js";
import { allocAny, realType } from "./kernels.js";
import type { ClosedLoopRun, DeviceReadout, RealSlice, TimeLoop } from "./time-loop.js";

/** Where a chunk starts. */
export interface ClosedStart {
  readonly step: number;
  readonly input: FloatArray;
  readonly output: FloatArray;
}

/** What a chunk made. */
export interface ClosedChunk {
  readonly steps: number;
  /** The steps after which x is left: all, or those before the loop diverged. */
  readonly finite: number;
  /** How many of their outputs are finite. */
  readonly answered: number;
  /** What was not finite: a neuron, or -1 for an output; undefined if all was. */
  readonly neuron: number | undefined;
  /** steps x O. */
  readonly outputs: Matrix;
  /** steps x N, if they were asked for. */
  readonly states: FloatArray;
  /** u of the last finite step. */
  readonly input: FloatArray;
}

export class ClosedLoop {
  static readonly chunkSteps = 128;
  readonly #parts: PipelineParts & { readonly openStreamed: () => Promise<TimeLoop> };
  readonly #buffers: ChunkBuffers;
  readonly #readout: DeviceReadout;
  readonly #outside: Matrix | undefined;
  readonly #steps: number;
  readonly #inputs: RealSlice;
  readonly #outputs: RealSlice;
  readonly #owned = new Making();

  constructor(
    parts: PipelineParts & { readonly openStreamed: () => Promise<TimeLoop> },
    buffers: ChunkBuffers,
    readout: LinearReadout,
    outside: Matrix | undefined,
    steps: number,
  ) {
    const { context, model } = parts;
    this.#parts = parts;
    this.#buffers = buffers;
    this.#outside = outside;
    this.#steps = steps;
    using owned = this.#owned;
    const { own } = owned;
    this.#readout = {
      features: readout.features,
      outputs: readout.weights.rows,
      featureCount: featureCount(readout.features, model.size, model.inputSize),
      weights: own(context.upload(readout.weights.data, { label: "readout" })),
      intercept: own(context.upload(readout.intercept, { label: "intercept" })),
    };
    const rows = this.#chunkSteps + 1;
    const real = realType(model.precision);
    this.#inputs = own(allocAny(context, real, rows * Math.max(1, model.inputSize), "inputs of the closed loop"));
    this.#outputs = own(allocAny(context, real, rows * this.#readout.outputs, "outputs of the closed loop"));
    owned.done();
  }

  get #chunkSteps(): number {
    return Math.min(this.#parts.loop.closedSteps ?? ClosedLoop.chunkSteps, this.#buffers.capacity, this.#steps);
  }

  /** Runs a chunk from step `from` of the whole; x is then that of the last finite step. */
  async run(from: number, start: ClosedStart, keepStates: boolean): Promise<ClosedChunk> {
    const { context, model, device, compute, common, loop, clock } = this.#parts;
    const { size, inputSize, precision } = model;
    const { outputs } = this.#readout;
    const slot = this.#buffers.slots[0];
    const steps = Math.min(this.#chunkSteps, this.#steps - from);
    const part = (slice: RealSlice, values: number) => slice.slice(0, values);
    const inputs = part(this.#inputs, (steps + 1) * inputSize);
    const answers = part(this.#outputs, (steps + 1) * outputs);
    const before = device.state;
    clock?.on(compute, "upload");
    if (inputSize > 0) compute.upload(inputs, this.#inputRows(from, steps, start.input));
    if (model.outputSize > 0) compute.upload(part(answers, outputs), start.output);
    clock?.off(compute);
    compute.copy(slot.before, before);
    const states = part(slot.states, steps * size);
    const run: ClosedLoopRun = {
      ...{ steps, firstStep: start.step, sequence: 0, readout: this.#readout, inputs, outputs: answers, state: before, states },
      inputWeights: device.inputWeights ?? device.bias,
      bias: device.bias,
      feedbackWeights: device.feedbackWeights ?? undefined,
      drive: part(this.#buffers.drive, steps * size),
      feedback: this.#buffers.feedback ? part(this.#buffers.feedback, steps * size) : undefined,
    };
    clock?.on(compute, "closedLoop", { steps, bytes: 0 });
    if (!loop.enqueueClosed?.(compute, run)) {
      const streamed = await this.#parts.openStreamed();
      clock?.on(compute, "closedLoop", { steps, bytes: 0 });
      streamed.enqueueClosed!(compute, run);
    }
    clock?.on(compute, "check");
    common.firstNonFinite(compute, states, slot.firstNonFinite);
    clock?.off(compute);
    const marks = (slice: DeviceSlice) => clock?.around(compute, slice.byteLength);
    const first = (await compute.download(slot.firstNonFinite, marks(slot.firstNonFinite)))[0]!;
    loop.check();
    const made = answers.slice(outputs, (steps + 1) * outputs);
    const y = await compute.download(made, marks(made));
    const end = this.#endOf(steps, first >= BigInt(steps * size) ? undefined : Number(first), y);
    const { finite } = end;
    if (end.neuron !== undefined) compute.copy(before, finite > 0 ? states.slice((finite - 1) * size, finite * size) : slot.before);
    const row = inputSize > 0 ? inputs.slice(finite * inputSize, (finite + 1) * inputSize) : undefined;
    return {
      ...{ steps, ...end },
      outputs: new Matrix(steps, outputs, y),
      states: keepStates ? await compute.download(states, marks(states)) : allocate(precision, 0),
      input: row ? context.read(row) : allocate(precision, 0),
    };
  }

  dispose(): void {
    this.#owned.dispose();
  }

  /** Where a chunk of `steps` ended; `bad` is the first number of its states that is not finite. */
  #endOf(steps: number, bad: number | undefined, y: FloatArray): Pick<ClosedChunk, "finite" | "answered" | "neuron"> {
    const { size, outputSize } = this.#parts.model;
    const finite = bad === undefined ? steps : Math.floor(bad / size);
    const at = firstNonFinite(y);
    const answered = at < 0 ? steps : Math.floor(at / this.#readout.outputs);
    // What weights feed back comes after its step, a predicted input before it.
    const made = outputSize > 0 ? answered + 1 : answered;
    if (answered < steps && made <= finite) return { finite: made, answered, neuron: -1 };
    return { finite, answered: finite, neuron: bad === undefined ? undefined : bad % size };
  }

  /**
   * The last input, and behind it the rows of the chunk, with what comes from outside in its place:
   * behind y, or all of u if y is fed back by weights.
   */
  #inputRows(from: number, steps: number, last: FloatArray): FloatArray {
    const { inputSize, outputSize, precision } = this.#parts.model;
    const rows = allocate(precision, (steps + 1) * inputSize);
    rows.set(last);
    const first = outputSize > 0 ? 0 : this.#readout.outputs;
    if (this.#outside) for (let t = 0; t < steps; t++) rows.set(this.#outside.row(from + t), (t + 1) * inputSize + first);
    return rows;
  }
}
