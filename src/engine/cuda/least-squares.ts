// Least squares in double-double on a device (kernels/least_squares.cu). The last step, against the
// triangle, is the host's: it is small.
import { ArgumentError } from "../../core/errors.js";
import type { Context } from "../../gpu/index.js";
import { type DoubleDoubles, ddBackSubstitute, ddDotOf, ddIsPivot, doubleDoubles } from "../../numerics/double-double-rows.js";
import { EngineCapacityError, type WorkOptions } from "../../reservoir/engine.js";
import { WorkPacer } from "../../reservoir/work.js";
import { abandonAll, disposeAll } from "./dispose.js";
import { type AnyKernel, loadEntries } from "./kernels.js";
import { freeMemory } from "./memory.js";

/** Threads of a block, a column each. */
const threads = 128;

/** Columns that are given to the device before it is waited for. */
const together = 16;

/** The engine's `leastSquares`: numerics' `ddLeastSquares`, its reflections on the device. */
export async function leastSquaresOnDevice(
  context: Context,
  x: readonly DoubleDoubles[],
  y: readonly DoubleDoubles[],
  options: WorkOptions = {},
): Promise<DoubleDoubles[] | undefined> {
  const all = [...x, ...y];
  const columns = all.length;
  const features = x.length;
  const rows = all[0]?.high.length ?? 0;
  if (rows < features) throw ArgumentError.shape(`${rows} rows do not determine ${features} weights; least squares takes as many rows`);
  if (features === 0) return y.map(() => doubleDoubles(0));
  const bytes = 16 * (rows * columns + columns + features + 1);
  const limit = freeMemory(context);
  if (bytes > limit) {
    const what = `least squares of ${rows.toLocaleString("en")} rows and ${columns} columns on ${context.info.name}`;
    throw new EngineCapacityError(what, bytes, limit, "take fewer rows, or leave the engine out");
  }
  const pacer = new WorkPacer(options, features);
  const norms = x.map((column) => ddDotOf(column, column, 0, rows).high);
  const owned: { dispose(): void }[] = [];
  const own = <T extends { dispose(): void }>(thing: T): T => {
    owned.push(thing);
    return thing;
  };
  try {
    const stream = own(context.stream({ label: "least squares" }));
    const matrix = (part: "high" | "low") => {
      const values = new Float64Array(rows * columns);
      all.forEach((column, c) => {
        for (let r = 0, at = c; r < rows; r++, at += columns) values[at] = column[part][r]!;
      });
      return own(context.upload(values, { label: `${part} parts of rows` }));
    };
    const [high, low] = [matrix("high"), matrix("low")];
    const pivots = own(context.zeros("f64", 2 * features, { label: "pivots" }));
    const scale = own(context.zeros("f64", 2, { label: "scale of a reflection" }));
    const multiples = own(context.zeros("f64", 2 * columns, { label: "multiples of a reflection" }));
    const kernels = kernelsOf(context);
    for (let k = 0; k < features; k++) {
      const size = [rows, columns, k] as const;
      stream.launch(kernels.pivot, { grid: 1, block: threads }, ...([high, low, pivots, scale, ...size] as never[]));
      const behind = columns - k - 1;
      if (behind > 0) {
        const blocks = Math.ceil(behind / threads);
        stream.launch(kernels.dots, { grid: blocks, block: threads }, ...([high, low, scale, multiples, ...size] as never[]));
        const shape = { grid: [blocks, Math.min(1024, rows - k)] as const, block: threads };
        stream.launch(kernels.reflect, shape, ...([high, low, multiples, ...size] as never[]));
      }
      if ((k + 1) % together === 0) {
        await stream.done();
        pacer.check(k + 1);
        if (pacer.due()) await pacer.pause(k + 1);
      }
    }
    const triangle = (part: typeof high) => stream.download(part.slice(0, features * columns));
    const [r, rLow, diagonal] = await Promise.all([triangle(high), triangle(low), stream.download(pivots)]);
    pacer.finish();
    const column = (c: number): DoubleDoubles => ({
      high: Float64Array.from({ length: features }, (_, k) => r[k * columns + c]!),
      low: Float64Array.from({ length: features }, (_, k) => rLow[k * columns + c]!),
    });
    const pivotsHere = doubleDoubles(features);
    for (let k = 0; k < features; k++) {
      pivotsHere.high[k] = diagonal[2 * k]!;
      pivotsHere.low[k] = diagonal[2 * k + 1]!;
      if (!ddIsPivot({ high: pivotsHere.high[k]!, low: pivotsHere.low[k]! }, norms[k]!, rows)) return undefined;
    }
    const triangular = x.map((_, c) => column(c));
    return y.map((_, o) => ddBackSubstitute(triangular, pivotsHere, column(features + o)));
  } catch (error) {
    abandonAll(owned.splice(0));
    throw error;
  } finally {
    disposeAll(owned);
  }
}

function kernelsOf(context: Context) {
  const kernel = (name: string, parameters: readonly string[]) =>
    loadEntries(context, "least_squares", [`least_squares_${name}`]).kernel(`least_squares_${name}`, parameters as never) as AnyKernel;
  const size = ["i32", "i32", "i32"];
  return {
    pivot: kernel("pivot", ["f64*", "f64*", "f64*", "f64*", ...size]),
    dots: kernel("dots", ["const f64*", "const f64*", "const f64*", "f64*", ...size]),
    reflect: kernel("reflect", ["f64*", "f64*", "const f64*", ...size]),
  };
}
