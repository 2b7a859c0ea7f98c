// Maps of quality: measures of a reservoir over two numbers of its description. Drawn by plot.
import { ArgumentError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import { Matrix } from "@spillway/numerics";
import type { ReservoirConfig } from "../../reservoir/config.js";
import type { ReservoirOptions } from "../../reservoir/index.js";
import { checkSource } from "../source.js";
import { type MapAxis, type QualityMap, type QualityMapOptions, qualityMapTable } from "./options.js";
import { configsOf, measureAll } from "./reservoirs.js";

export { qualityMapFromJson, qualityMapToJson } from "./json.js";
export { axisValues, type MapAxis, type MapMeasure, mapMeasures, type QualityMap, type QualityMapOptions } from "./options.js";
export { measureReservoirs } from "./reservoirs.js";

/** Points of a map of 256 x 256. */
const mostPoints = 65_536;

/**
 * Measures a reservoir at every pair of values of two numbers of its description, by default
 * spectral radius by input scaling. All points have one seed: the same W and W_in, scaled, so the
 * map is smooth. Each measure takes fewer steps than by itself: exponent 1000, memory capacity
 * delays up to 100 on 1500 rows, ranks of N streams of 50 steps with singular values above .01 of
 * the largest, information capacity degrees 1 to 3 on 5000 rows, storage and transfer 2000.
 *
 * What it shows: the line at which the exponent changes sign leans to larger radii as the input
 * grows. Memory peaks below it, at exponents of -.1 to -.2, and kernel rank less generalisation
 * rank deeper on the ordered side: the edge of chaos is a neighbourhood and no line.
 *
 * On a GPU the points are measured together, with the same bits ({@link measureReservoirs}): "auto"
 * takes one if there is one and the map is large. A signal stops the work, and what was measured is
 * returned.
 *
 * Sources: N. Bertschinger and T. Natschläger 2004, "Real-time computation at the edge of chaos in
 * recurrent neural networks", Neural Computation 16; R. Legenstein and W. Maass 2007, "Edge of
 * chaos and prediction of computational performance for neural circuit models", Neural Networks 20.
 * @throws ArgumentError for options, more than 65,536 points, and a parameter that the description
 * does not take; WorkInterruptedError if it was stopped before the first point
 */
export async function qualityMap(reservoir: ReservoirOptions, options: QualityMapOptions = {}): Promise<QualityMap> {
  const { x, y, ...rest } = resolve(qualityMapTable, options);
  checkSource(reservoir);
  const count = x.values.length * y.values.length;
  for (const [name, { values }] of Object.entries({ x, y }))
    if (values.length === 0) throw new ArgumentError(`${name}.values`, values, "at least one value");
  if (count > mostPoints) throw new ArgumentError("the number of points", count, `at most ${mostPoints}`);
  if (x.parameter === y.parameter) throw new ArgumentError("y.parameter", y.parameter, "another parameter than x");
  const points = y.values.flatMap((upwards) => x.values.map((across) => ({ ...reservoir, [x.parameter]: across, [y.parameter]: upwards })));
  const { values, engine, interrupted } = await measureAll(points, rest, { configs: byAxes(reservoir, x, y) });
  const matrices = Object.entries(values).map(([measure, data]) => [measure, new Matrix(y.values.length, x.values.length, data)]);
  return { reservoir, x, y, values: Object.fromEntries(matrices), engine, interrupted };
}

/** Numbers that no other field of a description looks at. */
const apart = ["spectralRadius", "inputScaling", "bias", "leakRate", "noiseLevel"];

/** The points' configurations, each axis checked by itself: the same, and sooner. */
function byAxes(reservoir: ReservoirOptions, x: MapAxis, y: MapAxis): readonly ReservoirConfig[] | undefined {
  if (!apart.includes(x.parameter) || !apart.includes(y.parameter)) return undefined;
  const along = ({ parameter, values }: MapAxis) => configsOf(values.map((value) => ({ ...reservoir, [parameter]: value })));
  const [across, upwards] = [along(x), along(y)];
  return (
    across && upwards?.flatMap((row) => across.map((config) => ({ ...config, [y.parameter]: row[y.parameter as keyof ReservoirConfig] })))
  );
}
