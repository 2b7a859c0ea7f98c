// Least squares in double-double on a device (kernels/least_squares.cu). The last step, against the
// triangle, is the host's: it is small.
import { DisposedByUsing, Making } from "@spillway/core/disposal.js";
import { ArgumentError } from "@spillway/core/errors.js";
import type { Context, DeviceBuffer, Parameter, Stream } from "@spillway/gpu";
import type { DoubleDoubleReflections } from "@spillway/numerics";
import { type DoubleDoubles, ddBackSubstitute, ddDotOf, ddIsPivot, doubleDoubles } from "@spillway/numerics/double-double-rows.js";
import { EngineCapacityError, type WorkOptions } from "../../reservoir/engine.js";
import { WorkPacer } from "../../reservoir/work.js";
import { shippedKernel } from "./kernels.js";
import { freeMemory } from "./memory.js";

/** Threads of a block, a column each. */
const threads = 128;

/** Columns that are given to the device before it is waited for. */
const together = 16;

/** Columns whose reflections follow one another on a device, as rows of high and of low parts. */
class Reflections {
  readonly rows: number;
  readonly columns: number;
  readonly high: DeviceBuffer<"f64">;
  readonly low: DeviceBuffer<"f64">;
  readonly pivots: DeviceBuffer<"f64">;
  readonly #scale: DeviceBuffer<"f64">;
  readonly #multiples: DeviceBuffer<"f64">;
  readonly #kernels: ReturnType<typeof kernelsOf>;
  readonly #owned = new Making();

  /** @throws EngineCapacityError */
  constructor(context: Context, columns: readonly DoubleDoubles[], features: number, rows: number) {
    this.rows = rows;
    this.columns = columns.length;
    const bytes = 16 * (rows * this.columns + this.columns + features + 1);
    const limit = freeMemory(context);
    if (bytes > limit) {
      const what = `least squares of ${rows.toLocaleString("en")} rows and ${this.columns} columns on ${context.info.name}`;
      throw new EngineCapacityError(what, bytes, limit, "take fewer rows, or leave the engine out");
    }
    this.#kernels = kernelsOf(context);
    using owned = this.#owned;
    const { own } = owned;
    const matrix = (part: "high" | "low") => {
      const values = new Float64Array(rows * this.columns);
      columns.forEach((column, c) => {
        for (let r = 0, at = c; r < rows; r++, at += this.columns) values[at] = column[part][r]!;
      });
      return own(context.upload(values, { label: `${part} parts of rows` }));
    };
    this.high = matrix("high");
    this.low = matrix("low");
    this.pivots = own(context.zeros("f64", 2 * features, { label: "pivots" }));
    this.#scale = own(context.zeros("f64", 2, { label: "scale of a reflection" }));
    this.#multiples = own(context.zeros("f64", 2 * this.columns, { label: "multiples of a reflection" }));
    owned.done();
  }

  /** Enqueues the reflection of column k. */
  reflect(stream: Stream, k: number): void {
    const { high, low, rows, columns } = this;
    const size = [rows, columns, k];
    stream.launch(this.#kernels.pivot, { grid: 1, block: threads }, high, low, this.pivots, this.#scale, ...size);
    const behind = columns - k - 1;
    if (behind === 0) return;
    const blocks = Math.ceil(behind / threads);
    const dots = [high, low, this.#scale, this.#multiples, ...size];
    stream.launch(this.#kernels.dots, { grid: blocks, block: threads }, ...dots);
    const shape = { grid: [blocks, Math.min(1024, rows - k)] as const, block: threads };
    stream.launch(this.#kernels.reflect, shape, high, low, this.#scale, this.#multiples, ...size);
  }

  dispose(): void {
    this.#owned.dispose();
  }
}

/** The engine's `leastSquares`: numerics' `ddLeastSquares`, its reflections on the device. */
export async function leastSquaresOnDevice(
  context: Context,
  x: readonly DoubleDoubles[],
  y: readonly DoubleDoubles[],
  options: WorkOptions = {},
): Promise<DoubleDoubles[] | undefined> {
  const all = [...x, ...y];
  const features = x.length;
  const rows = all[0]?.high.length ?? 0;
  if (rows < features) throw ArgumentError.shape(`${rows} rows do not determine ${features} weights; least squares takes as many rows`);
  if (features === 0) return y.map(() => doubleDoubles(0));
  using owned = new Making();
  const reflections = owned.own(new Reflections(context, all, features, rows));
  const { columns } = reflections;
  const pacer = new WorkPacer(options, features);
  const norms = x.map((column) => ddDotOf(column, column, 0, rows).high);
  const stream = owned.own(context.stream({ label: "least squares" }));
  for (let k = 0; k < features; k++) {
    reflections.reflect(stream, k);
    if ((k + 1) % together === 0) {
      await stream.done();
      pacer.check(k + 1);
      if (pacer.due()) await pacer.pause(k + 1);
    }
  }
  const triangle = (part: DeviceBuffer<"f64">) => stream.download(part.slice(0, features * columns));
  const [r, rLow, diagonal] = await Promise.all([
    triangle(reflections.high),
    triangle(reflections.low),
    stream.download(reflections.pivots),
  ]);
  pacer.finish();
  owned.dispose();
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
}

/** A device for `ridge({ solver: "doubleDouble", blas })`, with the host's bits. */
export class DeviceDoubleDouble extends DisposedByUsing implements DoubleDoubleReflections {
  readonly context: Context;
  readonly #stream: Stream;

  /** Its owner disposes of the context. */
  constructor(context: Context) {
    super();
    this.context = context;
    this.#stream = context.stream({ label: "reflections of training rows" });
  }

  /** Such as "double-double on NVIDIA H200". */
  get library(): string {
    return `double-double on ${this.context.info.name}`;
  }

  /** @throws EngineCapacityError if the rows do not fit into the device's memory */
  triangularise(x: readonly DoubleDoubles[], y: readonly DoubleDoubles[], rows: number): void {
    const features = x.length;
    using owned = new Making();
    const reflections = owned.own(new Reflections(this.context, [...x, ...y], features, rows));
    const { columns } = reflections;
    for (let k = 0; k < features; k++) {
      reflections.reflect(this.#stream, k);
      if ((k + 1) % together === 0) this.#stream.sync();
    }
    this.#stream.sync();
    const pivots = this.context.read(reflections.pivots);
    for (const [p, part] of (["high", "low"] as const).entries()) {
      const values = this.context.read(reflections[part]);
      x.forEach((column, k) => {
        for (let r = 0; r < k; r++) column[part][r] = values[r * columns + k]!;
        column[part][k] = pivots[2 * k + p]!;
        column[part].fill(0, k + 1, rows);
      });
      y.forEach((target, o) => {
        for (let r = 0; r < rows; r++) target[part][r] = values[r * columns + features + o]!;
      });
    }
    owned.dispose();
  }

  /** What stands for it in a file: its bits are the host's. */
  toJSON(): string {
    return "portable";
  }

  /** Gives the stream back. */
  dispose(): void {
    this.#stream.dispose();
  }
}

function kernelsOf(context: Context) {
  const kernel = (name: string, parameters: readonly Parameter[]) =>
    shippedKernel(context, "least_squares", `least_squares_${name}`, parameters);
  const size = ["i32", "i32", "i32"] as const;
  return {
    pivot: kernel("pivot", ["f64*", "f64*", "f64*", "f64*", ...size]),
    dots: kernel("dots", ["const f64*", "const f64*", "const f64*", "f64*", ...size]),
    reflect: kernel("reflect", ["f64*", "f64*", "const f64*", "const f64*", ...size]),
  };
}
