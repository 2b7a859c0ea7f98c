// The representation "statistics" as ONNX nodes: what each neuron did over a sequence.
import type { Matrix } from "@spillway/numerics";
import type { GraphBuilder } from "./graph.js";

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
