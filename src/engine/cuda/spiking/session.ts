// The session of a spiking reservoir on a device: that of the host's engines, and what stays on the
// device besides.
import type { Context } from "@spillway/gpu";
import type { Matrix } from "@spillway/numerics";
import { DeviceMatrix } from "../../../reservoir/device-matrix.js";
import type { SummaryWork } from "../../../reservoir/engine/summaries.js";
import type { BatchOptions, DeviceSide, EnginePlan, RunOptions, SequenceInput } from "../../../reservoir/engine.js";
import type { SpikingModel } from "../../../reservoir/spiking-model.js";
import { ChunkedSession } from "../../chunked-session.js";
import { copyEvery, deviceSide, StateKeeper } from "../device-rows.js";
import type { StateTaker } from "../device-work.js";
import type { DeviceClock } from "../profile.js";
import { DeviceSummary } from "../summary.js";
import type { DeviceSpikingStepper } from "./stepper.js";

export class DeviceSpikingSession extends ChunkedSession {
  readonly device: DeviceSide;
  readonly #context: Context;
  readonly #model: SpikingModel;
  readonly #there: DeviceSpikingStepper;
  readonly #watch: DeviceClock | undefined;

  constructor(context: Context, model: SpikingModel, plan: EnginePlan, stepper: DeviceSpikingStepper, clock?: DeviceClock) {
    super(model, plan, stepper, clock);
    this.device = deviceSide(context, model);
    this.#context = context;
    this.#model = model;
    this.#there = stepper;
    this.#watch = clock;
  }

  override async run(sequence: SequenceInput, options: RunOptions): Promise<void> {
    const { into: states, every = 1 } = options;
    if (!(states instanceof DeviceMatrix)) return super.run(sequence, options);
    const { stream, statesThere } = this.#there;
    await this.runSequence(sequence, options, "device", ({ rows }, from) => copyEvery(stream, statesThere, from, rows, every, states));
    await stream.done();
  }

  override async batch(sequences: readonly SequenceInput[], options: BatchOptions): Promise<Matrix[]> {
    if (!options.into) return super.batch(sequences, options);
    await this.#taken(sequences, options, new StateKeeper(options.into, sequences, options.keep === "last"));
    await this.#there.stream.done();
    return [];
  }

  async summarise(sequences: readonly SequenceInput[], work: SummaryWork): Promise<Matrix<Float64Array>> {
    const summary = new DeviceSummary(this.#context, this.#model, sequences, work, this.#watch);
    try {
      await this.#taken(sequences, work, summary);
      return await summary.finish(this.#there.stream);
    } finally {
      summary.dispose();
    }
  }

  /** Runs sequences whose states are taken on the device. */
  async #taken(sequences: readonly SequenceInput[], { signal, onProgress, firstSequence }: BatchOptions, taker: StateTaker): Promise<void> {
    const { stream, statesThere: states } = this.#there;
    await this.runSequences(sequences, { signal, onProgress, firstSequence }, "device", {
      seen: (index) => {
        const take = taker.group(stream, [index]);
        return ({ rows }, from) => take({ states, pitch: 0, from, to: from + rows });
      },
    });
  }
}
