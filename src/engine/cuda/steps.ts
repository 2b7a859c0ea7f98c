// Steps of one reservoir on a device. W and the arithmetic of a step are the time loop's.
import { disposeAll } from "@spillway/core/disposal.js";
import type { FloatArray, Matrix } from "@spillway/numerics";
import {
  type GenerateOptions,
  NonFiniteStateError,
  type SequenceInput,
  type TargetProducts,
  type TargetWork,
  type TrainingSink,
} from "../../reservoir/engine.js";
import type { StatesThere, Steps, TakenBatchOptions, Wanted } from "../session.js";
import type { Chunks, SessionRecord } from "../session-record.js";
import { ChunkPipeline, type FinishedChunk } from "./chunk-pipeline.js";
import { ClosedLoop } from "./closed-loop.js";
import { slicesOf, statesThere } from "./device-rows.js";
import type { DeviceBatch, OpenBatch, OpenTrainer } from "./device-work.js";
import { multiplyTargets } from "./ensemble/target-products.js";
import { KeptLocked } from "./kept-locked.js";
import { type MemoryParts, SessionMemory } from "./session-memory.js";
import { singleStep } from "./single-step.js";
import { TrainingRun } from "./training-run.js";

/** What the steps are made of. */
export interface StepsParts extends MemoryParts {
  readonly openTrainer: OpenTrainer;
  readonly openBatch: OpenBatch;
  /** Whether the plan was asked for by its name: then everything runs by it. */
  readonly named: boolean;
  /** As `EngineOptions.spinLimit`. */
  readonly spinLimit?: number | undefined;
}

export class DeviceSteps implements Steps<FinishedChunk> {
  readonly place: SessionMemory;
  readonly there: StatesThere;
  readonly #parts: StepsParts;
  readonly #locked: KeptLocked;
  #batch: DeviceBatch | undefined;

  constructor(parts: StepsParts) {
    const { context, model, clock } = parts;
    this.#parts = parts;
    this.#locked = new KeptLocked(context);
    this.place = new SessionMemory(parts);
    this.there = statesThere(context, model, this.place.compute, clock);
  }

  step(record: SessionRecord, input: FloatArray): FloatArray {
    return singleStep(this.place, record, input);
  }

  chunks(sequence: SequenceInput, { step, output }: SessionRecord, number: number, { every, into }: Wanted): Chunks<FinishedChunk> {
    const memory = this.place;
    const start = { step, sequence: number, output: output.slice() };
    memory.compute.waitFor(slicesOf([sequence]));
    const pipeline = new ChunkPipeline(memory, memory.buffersFor(sequence.inputs.rows), sequence, start, { every, into: into?.values });
    return {
      next: () => pipeline.next(),
      goBack: ({ finite, slot }) => {
        const { size } = memory.model;
        return memory.goBack(finite > 0 ? slot.states.slice((finite - 1) * size, finite * size) : slot.before);
      },
      finish: () => memory.loop.check(),
      async abandon() {
        const before = pipeline.stateBeforeRest;
        if (before) await memory.goBack(before);
      },
    };
  }

  async generate(options: GenerateOptions, record: SessionRecord): Promise<Matrix> {
    const { steps, readout, inputs, into: states } = options;
    const memory = this.place;
    const { size, outputSize } = memory.model;
    const buffers = memory.buffersFor(Math.min(steps, memory.loop.closedSteps ?? ClosedLoop.chunkSteps));
    const closed = new ClosedLoop(memory, buffers, readout, inputs, steps);
    try {
      return await record.closeLoop(options, async (from, outputs) => {
        const chunk = await closed.run(from, record, states !== undefined);
        record.alive();
        outputs.data.set(chunk.outputs.data, from * outputs.cols);
        states?.data.set(chunk.states.subarray(0, chunk.finite * size), from * size);
        const fed = outputSize > 0 && chunk.answered > 0 ? outputs.row(from + chunk.answered - 1) : undefined;
        record.advance(chunk.finite, chunk.input, fed);
        if (chunk.neuron !== undefined) throw new NonFiniteStateError(record.step, chunk.neuron);
        return from + chunk.steps;
      });
    } finally {
      closed.dispose();
    }
  }

  together(sequences: readonly SequenceInput[], options: TakenBatchOptions): Promise<Matrix[]> | undefined {
    const { context, model, openBatch, clock, spinLimit, named } = this.#parts;
    if (named) return undefined;
    this.#batch ??= openBatch(context, model, { clock, spinLimit, locked: this.#locked });
    return this.#batch?.run(sequences, options);
  }

  trainer(sink: TrainingSink, targets: Matrix, washout: number): TrainingRun | undefined {
    const { context, model, openTrainer, clock } = this.#parts;
    const { compute, loop } = this.place;
    const trainer = openTrainer(context, model, sink, targets.cols, compute, loop.peers);
    return trainer && new TrainingRun(context, compute, trainer, targets, washout, model, clock);
  }

  multiplyTargets(work: TargetWork): Promise<TargetProducts> | undefined {
    const { context, model, named } = this.#parts;
    return named ? undefined : multiplyTargets(context, model, work);
  }

  dispose(): void {
    disposeAll([this.place, this.#locked, this.#batch]);
  }
}
