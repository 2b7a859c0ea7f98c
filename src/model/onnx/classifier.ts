// A trained Classifier as an ONNX graph: one sequence in, its class out.
import { ArgumentError } from "../../core/errors.js";
import { SoftmaxReadout } from "../../readout/index.js";
import type { ClassifierParts } from "../classifier/file.js";
import { layerNormEpsilon } from "../layer-norm.js";
import { type Graph, GraphBuilder } from "./graph.js";
import { readoutConstants, readoutNodes, reservoirConstants, stepNodes } from "./reservoir.js";

/**
 * Input "sequence" (T x C); outputs "label" (one text, or one number) and "probabilities" (K), in
 * the order of the classes: the mean over the members of what `predictProba` gives.
 * @throws ArgumentError for the representations "statistics" and "output", which trains a readout in
 * every sequence
 */
export function classifierGraph({ settings, classes, scale, members }: ClassifierParts): Graph {
  const { representation, input, washout, layerNorm } = settings;
  if (representation === "output" || representation === "statistics") {
    const why = representation === "output" ? "which trains a readout in every sequence" : "which counts by two reservoirs and levels";
    throw ArgumentError.because(
      `representation is "${representation}", ${why}; an ONNX graph takes a classifier of "last", "mean" or "last+mean"`,
      { field: "representation" },
    );
  }
  const builder = new GraphBuilder("classifier");
  const channels = scale.mean.length;
  const sequence = builder.input("sequence", "float32", ["T", channels]);
  const centred = builder.add("Sub", [sequence, builder.floats(scale.mean, [channels])]);
  const inputs = builder.add("Div", [centred, builder.floats(scale.deviation, [channels])]);
  const last = builder.whole([-1], []);
  const statistics = (series: string): string[] => {
    const parts: string[] = [];
    if (representation !== "mean") parts.push(builder.add("Gather", [series, last], { axis: { int: 0 } }));
    if (representation !== "last") {
      const counted =
        washout === 0
          ? series
          : builder.add("Slice", [series, builder.whole([washout]), builder.whole([Number.MAX_SAFE_INTEGER]), builder.whole([0])]);
      parts.push(builder.add("ReduceMean", [counted], { axes: { ints: [0] }, keepdims: { int: 0 } }));
    }
    return parts;
  };
  const shares = members.map(({ models, readout }, m) => {
    const model = models[0]!;
    const constants = reservoirConstants(builder, model, `member.${m}.`);
    const body = new GraphBuilder(`step.${m}`, builder);
    const x = body.input(body.name("x"), "float32", [model.size]);
    const u = body.input(body.name("u"), "float32", [channels]);
    const next = stepNodes(body, constants, x, u, undefined);
    body.output(body.name("next"), next, "float32", [model.size]);
    body.output(body.name("state"), next, "float32", [model.size]);
    const attributes = { num_scan_inputs: { int: 1 }, body: { graph: body.finish() } };
    const [, states] = builder.addAll("Scan", [constants.initialState, inputs], 2, attributes);
    const parts = [...statistics(states!), ...(input ? statistics(inputs) : [])];
    const joined = parts.length === 1 ? parts[0]! : builder.add("Concat", parts, { axis: { int: 0 } });
    const features = layerNorm ? normalised(builder, joined) : joined;
    const outputs = readoutNodes(builder, readoutConstants(builder, readout, `member.${m}.`), features, undefined);
    return readout instanceof SoftmaxReadout
      ? builder.add("Softmax", [outputs], { axis: { int: 0 } })
      : ridgeShares(builder, outputs, classes.length);
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
