// Runs a sequence in chunks, two under way at a time: while one is computed, the states of the one
// before come over and are handed on.
import type { Context, HostArray, Stream } from "@spillway/gpu";
import { type FloatArray, Matrix } from "@spillway/numerics";
import { DeviceMatrix } from "../../reservoir/device-matrix.js";
import type { SequenceInput } from "../../reservoir/engine.js";
import type { ReservoirModel } from "../../reservoir/model.js";
import type { Chunk } from "../session.js";
import { writeFeedback } from "../session-record.js";
import type { ChunkBuffers, ChunkSlot } from "./chunk-buffers.js";
import type { CommonKernels } from "./common-kernels.js";
import type { DeviceModel } from "./device-model.js";
import type { DeviceClock, PieceSize } from "./profile.js";
import type { RealSlice, TimeLoop } from "./time-loop.js";

/** Where a chunk's states go. */
export interface ChunkTarget {
  /** Bring every k-th state of the sequence to the host; 0 brings none. */
  readonly every: number;
  /** Where they go instead, on the device: floor(T / every) x N. */
  readonly into?: RealSlice | undefined;
  /** Where they go on the host, T x N, if every state does; then a chunk has none. */
  readonly onHost?: Matrix | undefined;
}

/** A chunk that is done. The chunk after next overwrites its states. */
export interface FinishedChunk extends Chunk {
  readonly slot: ChunkSlot;
}

/** What enqueues chunks: the parts of a session that they need. */
export interface PipelineParts {
  readonly context: Context;
  readonly model: ReservoirModel;
  readonly device: DeviceModel;
  readonly loop: TimeLoop;
  readonly common: CommonKernels;
  readonly compute: Stream;
  readonly copies: Stream;
  readonly clock?: DeviceClock | undefined;
}

/** Where a sequence starts. */
export interface PipelineStart {
  /** The noise counter. */
  readonly step: number;
  readonly sequence: number;
  /** y before the first step. */
  readonly output: FloatArray;
}

interface Enqueued {
  readonly from: number;
  readonly to: number;
  readonly slot: ChunkSlot;
  readonly index: 0 | 1;
  readonly keptFrom: number;
  readonly keptRows: number;
}

export class ChunkPipeline {
  readonly #parts: PipelineParts;
  readonly #buffers: ChunkBuffers;
  readonly #sequence: SequenceInput;
  readonly #start: PipelineStart;
  readonly #target: ChunkTarget;
  readonly #underWay: Enqueued[] = [];
  #next = 0;
  #count = 0;

  constructor(parts: PipelineParts, buffers: ChunkBuffers, sequence: SequenceInput, start: PipelineStart, target: ChunkTarget) {
    this.#parts = parts;
    this.#buffers = buffers;
    this.#sequence = sequence;
    this.#start = start;
    this.#target = target;
  }

  /**
   * The next chunk, once it is done; undefined after the last. What the caller enqueues on its
   * states comes before they are written again.
   */
  async next(): Promise<FinishedChunk | undefined> {
    const { rows } = this.#sequence.inputs;
    while (this.#next < rows && this.#underWay.length < 2) this.#enqueue();
    const chunk = this.#underWay.shift();
    if (!chunk) return undefined;
    await chunk.slot.copied.done();
    const finished = this.#finished(chunk);
    const { onHost } = this.#target;
    if (onHost && finished.finite > 0) {
      const { copies, clock, model } = this.#parts;
      const values = finished.finite * model.size;
      const states = chunk.slot.states.slice(0, values);
      const first = chunk.from * model.size;
      const array = onHost.data.subarray(first, first + values) as HostArray;
      await copies.toHost(states, [{ start: 0, array }], clock?.around(copies, states.byteLength));
    }
    this.#parts.clock?.collect();
    return finished;
  }

  /** x before the first chunk that is under way, if there is one. */
  get stateBeforeRest(): RealSlice | undefined {
    return this.#underWay[0]?.slot.before;
  }

  #enqueue(): void {
    const { model, device, loop, common, compute, copies, clock } = this.#parts;
    const { size, inputSize, outputSize } = model;
    const index = (this.#count++ % 2) as 0 | 1;
    const slot = this.#buffers.slots[index];
    const from = this.#next;
    const to = Math.min(this.#sequence.inputs.rows, from + this.#buffers.capacity);
    this.#next = to;
    const steps = to - from;
    const drive = this.#buffers.drive.slice(0, steps * size);
    const states = slot.states.slice(0, steps * size);
    if (slot.inputs && slot.hostInputs) {
      const { inputs } = this.#sequence;
      clock?.on(compute, "upload");
      if (inputs instanceof DeviceMatrix) {
        const given = inputs.values.slice(from * inputSize, to * inputSize);
        compute.copy(slot.inputs.slice(0, given.length), given);
      } else {
        slot.hostInputs.array.set(inputs.data.subarray(from * inputSize, to * inputSize));
        compute.copy2D(slot.inputs, slot.hostInputs, { columns: inputSize, rows: steps });
      }
    }
    clock?.on(compute, "drive");
    common.drive(compute, device.inputWeights, device.bias, slot.inputs, drive, { size, inputs: inputSize, steps });
    clock?.off(compute);
    let feedback: RealSlice | undefined;
    if (this.#buffers.feedback && slot.outputs && slot.hostOutputs) {
      writeFeedback(slot.hostOutputs.array, this.#start.output, this.#sequence.teacher, from, to);
      clock?.on(compute, "upload");
      compute.copy2D(slot.outputs, slot.hostOutputs, { columns: outputSize, rows: steps });
      feedback = this.#buffers.feedback.slice(0, steps * size);
      clock?.on(compute, "drive");
      common.drive(compute, device.feedbackWeights, null, slot.outputs, feedback, { size, inputs: outputSize, steps });
      clock?.off(compute);
    }
    compute.copy(slot.before, device.state);
    const { step, sequence } = this.#start;
    clock?.on(compute, "run", runSize(loop, steps));
    loop.enqueue(compute, { steps, firstStep: step + from, sequence, drive, feedback, state: device.state, states });
    const { every, into, onHost } = this.#target;
    clock?.on(compute, "check");
    common.firstNonFinite(compute, states, slot.firstNonFinite);
    // States go to their rows once the host knows how many are finite. That must not wait for the
    // next chunk, as the stream of copies does.
    if (onHost) compute.read(slot.firstNonFinite, slot.hostFirstNonFinite);
    clock?.off(compute);
    if (!onHost) {
      slot.computed.record(compute);
      copies.wait(slot.computed);
      clock?.on(copies, "download");
      copies.read(slot.firstNonFinite, slot.hostFirstNonFinite);
    }
    const keptFrom = every > 0 ? every - 1 - (from % every) : steps;
    const keptRows = !onHost && keptFrom < steps ? Math.floor((steps - 1 - keptFrom) / every) + 1 : 0;
    if (keptRows > 0) {
      const rectangle = { columns: size, rows: keptRows, sourcePitch: keptRows > 1 ? every * size : size };
      const source = states.slice(keptFrom * size);
      const first = ((from + keptFrom + 1) / every - 1) * size;
      const there = into?.slice(first, first + keptRows * size);
      copies.copy2D(there ?? this.#buffers.hostStates()[index], source, rectangle);
    }
    if (!onHost) clock?.off(copies);
    slot.copied.record(onHost ? compute : copies);
    this.#underWay.push({ from, to, slot, index, keptFrom, keptRows: into ? 0 : keptRows });
  }

  #finished({ from, to, slot, index, keptFrom, keptRows }: Enqueued): FinishedChunk {
    const { size } = this.#parts.model;
    const first = slot.hostFirstNonFinite.array[0]!;
    const steps = to - from;
    const all = first >= BigInt(steps * size);
    const at = all ? 0 : Number(first);
    const data = keptRows > 0 ? this.#buffers.hostStates()[index].array.subarray(0, keptRows * size) : new Float32Array(0);
    return {
      ...{ from, to, keptFrom, keptEvery: this.#target.every, slot, there: slot.states },
      finite: all ? steps : Math.floor(at / size),
      neuron: at % size,
      kept: new Matrix(keptRows, size, data),
    };
  }
}

/** What steps of a loop do. */
export function runSize(loop: TimeLoop, steps: number): PieceSize {
  return { steps, bytes: steps * (loop.bytesPerStep ?? 0) };
}
