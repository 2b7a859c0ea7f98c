// A trained Classifier as an ONNX graph: one sequence in, its class out.

import { ArgumentError } from "@spillway/core/errors.js";
import type { Matrix } from "@spillway/numerics";
import { SoftmaxReadout, type TrainedReadout } from "../../readout/index.js";
import type { ClassifierParts } from "../classifier/file.js";
import { layerNormEpsilon } from "../layer-norm.js";
import type { Standardisation } from "../standardisation.js";
import { viewsOf } from "../views.js";
import { type Graph, GraphBuilder } from "./graph.js";
import { type ReservoirConstants, readoutConstants, readoutNodes, reservoirConstants, squaredHalf, stepNodes } from "./reservoir.js";

/**
 * A level is a state of some training case, and the first state of a run can be that of every case:
 * a state that is a level is not above it, however the runtime rounds. A runtime's states are off
 * by some 2e-7, so that a larger tie counts more states otherwise than `predict`.
 */
const tie = 5e-7;

/**
 * The statistics of a series, T x N, as `writeStatistics` has them: 6 + 2 Q parts of N values. The
 * deviation is that of centred values, since squares of binary32 lose what is left of it.
 */
export function statisticsNodes(builder: GraphBuilder, series: string, levels: Matrix<Float64Array>): string[] {
  const over = (operator: string, values: string): string => builder.add(operator, [values], { axes: { ints: [0] }, keepdims: { int: 0 } });
  const mean = over("ReduceMean", series);
  const centred = builder.add("Sub", [series, mean]);
  const parts = [
    mean,
    builder.add("Sqrt", [over("ReduceMean", builder.add("Mul", [centred, centred]))]),
    over("ReduceMax", series),
    over("ReduceMin", series),
    builder.add("Gather", [series, builder.whole([-1], [])], { axis: { int: 0 } }),
    over("ReduceMean", changes(builder, series, levels.cols)),
  ];
  const above = Array.from({ length: levels.rows }, (_, q) => {
    const heights = levels.row(q).map((height) => height + tie);
    const level = builder.floats(heights, [levels.cols]);
    return builder.cast(builder.add("Greater", [series, level]), "float32");
  });
  return [
    ...parts,
    ...above.map((counts) => over("ReduceMean", counts)),
    ...above.map((counts) => over("ReduceMean", changes(builder, counts, levels.cols))),
  ];
}

/** |x(t) - x(t - 1)|, T x N; its first row is 0. */
function changes(builder: GraphBuilder, series: string, columns: number): string {
  return builder.add("Abs", [differenceNodes(builder, series, columns)]);
}

/** x(t) - x(t - 1), T x N; its first row is 0. */
export function differenceNodes(builder: GraphBuilder, series: string, columns: number): string {
  const rows = (from: number, to: number): string =>
    builder.add("Slice", [series, builder.whole([from]), builder.whole([to]), builder.whole([0])]);
  const none = builder.floats(new Float32Array(columns), [1, columns]);
  return builder.add("Concat", [none, builder.add("Sub", [rows(1, Number.MAX_SAFE_INTEGER), rows(0, -1)])], { axis: { int: 0 } });
}

/**
 * Input "sequence" (T x C); outputs "label" (one text, or one number) and "probabilities" (K), in
 * the order of the classes: the mean over the members of what `predictProba` gives.
 * Counts of "statistics" jump at levels: a state less than 5e-7 above one is not counted, and
 * probabilities then differ by the share of a row.
 * @throws ArgumentError for the representation "output", which trains a readout in every sequence
 */
export function classifierGraph({ settings, classes, scale, differences, members }: ClassifierParts): Graph {
  const { representation, input, washout, layerNorm } = settings;
  if (representation === "output")
    throw ArgumentError.because(
      'representation is "output", which trains a readout in every sequence; an ONNX graph takes a classifier of "statistics", "last", "mean" or "last+mean"',
      { field: "representation" },
    );
  const builder = new GraphBuilder("classifier");
  const channels = scale.mean.length;
  const sequence = builder.input("sequence", "float32", ["T", channels]);
  const scores = (values: string, { mean, deviation }: Standardisation): string => {
    const centred = builder.add("Sub", [values, builder.floats(mean, [channels])]);
    return builder.add("Div", [centred, builder.floats(deviation, [channels])]);
  };
  const inputs = scores(sequence, scale);
  const changed = differences && scores(differenceNodes(builder, inputs, channels), differences);
  const last = builder.whole([-1], []);
  const counted = (series: string): string =>
    washout === 0
      ? series
      : builder.add("Slice", [series, builder.whole([washout]), builder.whole([Number.MAX_SAFE_INTEGER]), builder.whole([0])]);
  const summary = (series: string): string[] => {
    const parts: string[] = [];
    if (representation !== "mean") parts.push(builder.add("Gather", [series, last], { axis: { int: 0 } }));
    if (representation !== "last") parts.push(builder.add("ReduceMean", [counted(series)], { axes: { ints: [0] }, keepdims: { int: 0 } }));
    return parts;
  };
  const shares = members.map(({ models, readout, levels, factor }, m) => {
    const constants = models.map((model, k) => reservoirConstants(builder, model, `member.${m}.${k > 0 ? "differences." : ""}`));
    const run = (of: 0 | 1, backward: boolean): string =>
      statesNodes(builder, constants[of]!, of === 0 ? inputs : changed!, { name: `step.${m}`, channels, backward });
    const parts: string[] = [];
    if (representation === "statistics") {
      for (const [v, { of, backward }] of viewsOf(settings).entries()) {
        parts.push(...statisticsNodes(builder, counted(run(of, backward)), levels!.states[v]!));
        if (input && !backward) parts.push(...statisticsNodes(builder, counted(of === 0 ? inputs : changed!), levels!.inputs[of]!));
      }
    } else parts.push(...summary(run(0, false)), ...(input ? summary(inputs) : []));
    const joined = parts.length === 1 ? parts[0]! : builder.add("Concat", parts, { axis: { int: 0 } });
    const features = layerNorm ? normalised(builder, joined) : joined;
    const outputs =
      representation === "statistics"
        ? preciseReadout(builder, readout, features)
        : readoutNodes(builder, readoutConstants(builder, readout, `member.${m}.`), features, undefined);
    if (readout instanceof SoftmaxReadout) return builder.add("Softmax", [outputs], { axis: { int: 0 } });
    if (factor === undefined) return ridgeShares(builder, outputs, classes.length);
    return builder.add("Softmax", [builder.add("Mul", [outputs, builder.floats([factor], [])])], { axis: { int: 0 } });
  });
  const sum = shares.reduce((total, share) => builder.add("Add", [total, share]));
  const mean = builder.add("Div", [sum, builder.floats([members.length], [])]);
  const chosen = settings.vote === "mean" || members.length === 1 ? mean : tieBroken(builder, shares, mean, classes.length);
  const best = builder.add("ArgMax", [chosen], { axis: { int: 0 }, keepdims: { int: 0 } });
  const isText = typeof classes[0] === "string";
  const isWhole = !isText && classes.every((label) => Number.isSafeInteger(label));
  const table = isText
    ? builder.texts(classes as string[])
    : isWhole
      ? builder.whole(classes as number[])
      : builder.floats(classes as number[], [classes.length]);
  const label = builder.add("Gather", [table, best], { axis: { int: 0 } });
  builder.output("label", label, isText ? "text" : isWhole ? "int64" : "float32", []);
  builder.output("probabilities", mean, "float32", [classes.length]);
  return builder.finish();
}

/** States of a series, T x N, from its start or from its end. */
function statesNodes(
  builder: GraphBuilder,
  constants: ReservoirConstants,
  series: string,
  { name, channels, backward }: { readonly name: string; readonly channels: number; readonly backward: boolean },
): string {
  const { size } = constants.model;
  const body = new GraphBuilder(builder.name(name), builder);
  const x = body.input(body.name("x"), "float32", [size]);
  const u = body.input(body.name("u"), "float32", [channels]);
  const next = stepNodes(body, constants, x, u, undefined);
  body.output(body.name("next"), next, "float32", [size]);
  body.output(body.name("state"), next, "float32", [size]);
  const attributes = {
    num_scan_inputs: { int: 1 },
    ...(backward ? { scan_input_directions: { ints: [1] } } : {}),
    body: { graph: body.finish() },
  };
  return builder.addAll("Scan", [constants.initialState, series], 2, attributes)[1]!;
}

/**
 * A readout of plain features in binary64: of thousands of them, whose scales are in its weights,
 * large terms of either sign add up to little.
 */
function preciseReadout(builder: GraphBuilder, readout: TrainedReadout, features: string): string {
  const { state, squares } = readout.features;
  const wide = builder.cast(features, "float64");
  const parity = () => Float64Array.from({ length: readout.stateSize }, (_, i) => i & 1);
  const powers = state === "squareHalf" ? squaredHalf(builder, wide, builder.doubles(parity(), [readout.stateSize])) : wide;
  const all = squares ? builder.add("Concat", [powers, builder.add("Mul", [wide, wide])], { axis: { int: 0 } }) : powers;
  const weights = builder.doubles(Float64Array.from(readout.weights.data), [readout.weights.rows, readout.weights.cols]);
  const sums = builder.add("MatMul", [weights, all]);
  return builder.cast(builder.add("Add", [sums, builder.doubles(readout.intercept, [readout.weights.rows])]), "float32");
}

/** Layer norm of a vector. */
function normalised(builder: GraphBuilder, features: string): string {
  const mean = (values: string): string => builder.add("ReduceMean", [values], { axes: { ints: [0] }, keepdims: { int: 1 } });
  const centred = builder.add("Sub", [features, mean(features)]);
  const variance = mean(builder.add("Mul", [centred, centred]));
  return builder.add("Div", [centred, builder.add("Sqrt", [builder.add("Add", [variance, builder.floats([layerNormEpsilon], [1])])])]);
}

/** What is above 0, divided by its sum; 1 for the largest output if nothing is. */
function ridgeShares(builder: GraphBuilder, outputs: string, count: number): string {
  const positive = builder.add("Relu", [outputs]);
  const sum = builder.add("ReduceSum", [positive, builder.whole([0])], { keepdims: { int: 1 } });
  const divided = builder.add("Div", [positive, sum]);
  const any = builder.add("Greater", [sum, builder.floats([0], [1])]);
  return builder.add("Where", [any, divided, oneHot(builder, outputs, count)]);
}

function oneHot(builder: GraphBuilder, scores: string, count: number): string {
  const best = builder.add("ArgMax", [scores], { axis: { int: 0 }, keepdims: { int: 1 } });
  const row = builder.add("OneHot", [best, builder.whole([count], []), builder.floats([0, 1], [2])], { axis: { int: -1 } });
  return builder.add("Squeeze", [row, builder.whole([0])]);
}

/** The mean shares of the classes with the most votes, -1 for the others. */
function tieBroken(builder: GraphBuilder, shares: readonly string[], mean: string, count: number): string {
  const votes = shares.map((share) => oneHot(builder, share, count)).reduce((total, vote) => builder.add("Add", [total, vote]));
  const most = builder.add("ReduceMax", [votes], { axes: { ints: [0] }, keepdims: { int: 1 } });
  return builder.add("Where", [builder.add("Equal", [votes, most]), mean, builder.floats([-1], [1])]);
}
