// The options of an export to ONNX. The command line reads them before it loads any model.
import { choice, flag, option, type TableOf } from "@spillway/core/options.js";
import type { ForecasterUse } from "./forecaster.js";

/** What the graph of a forecaster does and takes; a classifier's graph has no options. */
export interface OnnxOptions {
  /**
   * What the graph of a forecaster does: "predict" (default) for given inputs, or "forecast" in
   * closed loop.
   */
  readonly use?: ForecasterUse | undefined;
  /**
   * Whether a forecaster's graph takes the state it begins at as inputs, to run a series in parts;
   * default false: it begins where the forecaster stands.
   */
  readonly stateful?: boolean | undefined;
}

/** The options of `toOnnx`. */
export const onnxTable = {
  use: option(choice("predict", "forecast"), "predict", "What the graph of a forecaster does: for given inputs, or in closed loop."),
  stateful: option(flag, false, "Whether a forecaster's graph takes the state it begins at as inputs."),
} satisfies TableOf<OnnxOptions>;
