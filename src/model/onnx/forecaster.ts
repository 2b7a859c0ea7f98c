// A trained Forecaster as an ONNX graph: predictions for inputs, or a closed loop for a number of
// steps.
import { ArgumentError } from "@spillway/core/errors.js";
import type { ForecasterParts } from "../forecaster/file.js";
import { columnsOf, inScoresOf, type Standardisation, sameStandardisation } from "../standardisation.js";
import { type Graph, GraphBuilder } from "./graph.js";
import { readoutConstants, readoutNodes, reservoirConstants, stepNodes } from "./reservoir.js";

/** Which of a forecaster's two uses the graph is. */
export type ForecasterUse = "predict" | "forecast";

/**
 * "predict": "inputs" (T x I) to "outputs" (T x O), each from the state after its input, with the
 * model's own outputs fed back if it has feedback. "forecast": the closed loop; "steps" (a whole
 * number), or "inputs" (steps x E) if inputs come from outside, to "outputs" (steps x O). Both
 * begin at the state of the forecaster, or if `stateful` at the inputs "state" (N),
 * "fedBack" (O, with feedback) and "lastInput" (I), and give what they end at as "endState",
 * "endFedBack" and "endLastInput".
 */
export function forecasterGraph(parts: ForecasterParts, use: ForecasterUse, stateful: boolean): Graph {
  const [member, ...others] = parts.members;
  const { model, lags, state: position } = member!;
  const { inputScale, targetScale, known, transforms } = member!.preprocessing;
  const refuse = (what: string) => ArgumentError.because(`the model ${what}, which an ONNX file does not`, { field: "model" });
  if (others.length > 0) throw refuse(`has ${parts.members.length} members whose median is the forecast`);
  if (parts.settings.hybrid) throw refuse("calls a model of yours");
  if (lags > 0) throw refuse("has a readout that sees lags");
  if (known > 0) throw refuse("shifts known inputs");
  if (transforms.steps.length > 0) throw refuse("transforms its series");
  const { size, inputSize, outputSize } = model;
  const outputs = member!.readout.outputSize;
  const hasFeedback = outputSize > 0;
  const closed = use === "forecast" && !hasFeedback;
  if (closed && outputs > inputSize) {
    throw ArgumentError.shape(
      `a closed loop without feedback takes the ${outputs} outputs as inputs; this reservoir has ${inputSize} (inputSize)`,
    );
  }
  const outside = closed ? inputSize - outputs : inputSize;
  const loopScale = closed ? columnsOf(inputScale, 0, outputs) : targetScale;
  const readout = sameStandardisation(loopScale, targetScale) ? member!.readout : inScoresOf(member!.readout, targetScale, loopScale);

  const builder = new GraphBuilder("forecaster");
  const constants = reservoirConstants(builder, model, "");
  const weights = readoutConstants(builder, readout, "");
  const rows = scanRows(builder, outside, columnsOf(inputScale, inputSize - outside, inputSize));
  const start = (name: string, values: ArrayLike<number>, length: number) =>
    stateful && length > 0 ? builder.input(name, "float32", [length]) : builder.floats(padded(values, length), [Math.max(1, length)]);
  const state = start("state", position.reservoir.values, size);
  const fedBack = start("fedBack", position.reservoir.output, outputSize);
  const lastInput = start("lastInput", position.reservoir.input, inputSize);

  const body = new GraphBuilder("step", builder);
  const x = body.input(body.name("x"), "float32", [size]);
  const before = body.input(body.name("y"), "float32", [Math.max(1, outputSize)]);
  const inputBefore = body.input(body.name("u"), "float32", [Math.max(1, inputSize)]);
  const row = body.input(body.name("row"), "float32", [Math.max(1, outside)]);
  let y: string;
  let u: string | undefined;
  let next: string;
  if (closed) {
    y = readoutNodes(body, weights, x, inputBefore);
    u = outside > 0 ? body.add("Concat", [y, row], { axis: { int: 0 } }) : y;
    next = stepNodes(body, constants, x, u, undefined);
  } else {
    u = inputSize > 0 ? row : undefined;
    next = stepNodes(body, constants, x, u, hasFeedback ? before : undefined);
    y = readoutNodes(body, weights, next, u);
  }
  body.output(body.name("next"), next, "float32", [size]);
  body.output(body.name("fed"), hasFeedback ? y : before, "float32", [Math.max(1, outputSize)]);
  body.output(body.name("seen"), u ?? inputBefore, "float32", [Math.max(1, inputSize)]);
  body.output(body.name("output"), y, "float32", [outputs]);
  const attributes = { num_scan_inputs: { int: 1 }, body: { graph: body.finish() } };
  const [endState, endFed, endInput, all] = builder.addAll("Scan", [state, fedBack, lastInput, rows], 4, attributes);
  builder.output("outputs", unscaled(builder, all!, loopScale), "float32", ["T", outputs]);
  builder.output("endState", endState!, "float32", [size]);
  if (hasFeedback) builder.output("endFedBack", endFed!, "float32", [outputSize]);
  if (inputSize > 0) builder.output("endLastInput", endInput!, "float32", [inputSize]);
  return builder.finish();
}

/**
 * The rows that drive the loop: z-scores of "inputs", or as many rows of nothing as "steps" says.
 */
function scanRows(builder: GraphBuilder, columns: number, { mean, deviation }: Standardisation): string {
  if (columns === 0) {
    const steps = builder.input("steps", "int64", []);
    const shape = builder.add("Concat", [builder.add("Reshape", [steps, builder.whole([1])]), builder.whole([1])], { axis: { int: 0 } });
    return builder.add("ConstantOfShape", [shape]);
  }
  const inputs = builder.input("inputs", "float32", ["T", columns]);
  const centred = builder.add("Sub", [inputs, builder.floats(mean, [columns])]);
  return builder.add("Div", [centred, builder.floats(deviation, [columns])]);
}

/** A loop carries at least one value. */
function padded(values: ArrayLike<number>, length: number): Float32Array {
  const out = new Float32Array(Math.max(1, length));
  out.set(values);
  return out;
}

function unscaled(builder: GraphBuilder, scores: string, { mean, deviation }: Standardisation): string {
  const columns = mean.length;
  const spread = builder.add("Mul", [scores, builder.floats(deviation, [columns])]);
  return builder.add("Add", [spread, builder.floats(mean, [columns])]);
}
