// A model's small matrices and its state on the device: all but W, which is the time loop's. In
// integer arithmetic the matrices are words of 32 bits; the state is binary32 in any.
import { Making } from "@spillway/core/disposal.js";
import type { Context } from "@spillway/gpu";
import { type FloatArray, transposed } from "@spillway/numerics";
import { integerRows } from "../../reservoir/integer/weights.js";
import type { ReservoirModel } from "../../reservoir/model.js";
import { inWords } from "./integer-words.js";
import { allocAny, realType } from "./kernels.js";
import type { RealSlice } from "./time-loop.js";

export class DeviceModel {
  /** I x N: W_in, input by input; null if I is 0. */
  readonly inputWeights: RealSlice | null;
  /** N. */
  readonly bias: RealSlice;
  /** O x N: W_fb, output by output; null if the model has no feedback. */
  readonly feedbackWeights: RealSlice | null;
  /** N: x. */
  readonly state: RealSlice;
  readonly #owned = new Making();

  constructor(context: Context, model: ReservoirModel) {
    const { inputWeights, bias, feedbackWeights } = model.config.arithmetic === "integer" ? inWords(model, integerRows(model)) : model;
    using owned = this.#owned;
    const upload = (values: FloatArray, label: string): RealSlice => owned.own(context.upload(values, { label }));
    this.inputWeights = model.inputSize > 0 ? upload(transposed(inputWeights).data, "W_in") : null;
    this.bias = upload(bias, "b");
    this.feedbackWeights = feedbackWeights ? upload(transposed(feedbackWeights).data, "W_fb") : null;
    this.state = owned.own(allocAny(context, realType(model.precision), model.size, "x"));
    owned.done();
  }

  dispose(): void {
    this.#owned.dispose();
  }
}
