// The options of an export to ONNX. The command line reads them before it loads any model.
import { choice, flag, type InputOf, option } from "@spillway/core/options.js";

export const onnxTable = {
  /**
   * What the graph of a forecaster does: "predict" (default) for given inputs, or "forecast" in
   * closed loop.
   */
  use: option(choice("predict", "forecast"), "predict", "What the graph of a forecaster does: for given inputs, or in closed loop."),
  /**
   * Whether a forecaster's graph takes the state it begins at as inputs, to run a series in parts;
   * default false: it begins at the position of the forecaster.
   */
  stateful: option(flag, false, "Whether a forecaster's graph takes the state it begins at as inputs."),
};

/** What the graph of a forecaster does and takes; a classifier's graph has no options. */
export interface OnnxOptions extends InputOf<typeof onnxTable> {}
