// Statistics of sequences' states on the device, and what a readout of classes makes of them: only
// these come to the host. It runs no reservoir.
import { Held, Making } from "@spillway/core/disposal.js";
import type { Context, DeviceBuffer, DeviceSlice, Parameter, Stream } from "@spillway/gpu";
import { Matrix } from "@spillway/numerics";
import { type DeviceMatrix, stretchOf } from "../../reservoir/device-matrix.js";
import { type ClassScores, numbersPerNeuron, type SummaryWork, type WhichStatistics } from "../../reservoir/engine/summaries.js";
import type { SequenceInput } from "../../reservoir/engine.js";
import type { EngineModel } from "../../reservoir/spiking-model.js";
import type { StateChunk, StateTaker } from "../session.js";
import { generatedKernel, type LoadedKernel } from "./generated.js";
import { realType } from "./kernels.js";
import type { DeviceClock } from "./profile.js";

export class DeviceSummary implements StateTaker {
  readonly #context: Context;
  readonly #work: SummaryWork;
  readonly #clock: DeviceClock | undefined;
  readonly #rows: number;
  /** Columns that are made of states. */
  readonly #statistics: number;
  /** Columns of a row. */
  readonly #columns: number;
  readonly #kernel: LoadedKernel;
  readonly #lengths: DeviceBuffer<"u32">;
  readonly #features: DeviceSlice<"f64">;
  readonly #given: DeviceBuffer<"f64"> | undefined;
  readonly #levels: readonly DeviceBuffer<"f64">[];
  readonly #owned = new Making();

  constructor(
    context: Context,
    model: Pick<EngineModel, "size" | "precision">,
    sequences: readonly SequenceInput[],
    work: SummaryWork,
    clock?: DeviceClock,
  ) {
    this.#context = context;
    this.#work = work;
    this.#clock = clock;
    const { last, mean, given, levels, features } = work;
    const { size, precision } = model;
    this.#rows = sequences.length;
    this.#statistics = size * numbersPerNeuron(work);
    this.#columns = features ? features.rows.cols : this.#statistics + given.cols;
    const which = levels ? { levels: levels.rows } : { last, mean };
    const type = { kind: "stateStatistics", size, type: realType(precision), features: this.#columns, ...which } as const;
    const states = type.type === "f32" ? "const f32*" : "const f64*";
    const heights: Parameter[] = levels && levels.rows > 0 ? ["const f64*"] : [];
    this.#kernel = generatedKernel(context, type, [
      ...([states, "u32", "u32", "u32", "u32", "const u32*", "const u32*", "f64*"] as const),
      ...heights,
    ]);
    using owned = this.#owned;
    const { own } = owned;
    const lengths = Uint32Array.from(sequences, ({ inputs }) => inputs.rows);
    this.#lengths = own(context.upload(lengths, { label: "lengths" }));
    this.#levels = heights.map(() => own(context.upload(levels!.data, { label: "levels" })));
    const total = this.#rows * this.#columns;
    this.#features = features
      ? (features.rows.values as DeviceSlice<"f64">)
      : own(context.zeros("f64", total, { label: "features of sequences" }));
    this.#given = given.cols > 0 ? own(context.upload(given.data, { label: "given features" })) : undefined;
    owned.done();
  }

  group(stream: Stream, indices: readonly number[]): (chunk: StateChunk) => void {
    const rowsThere = this.#owned.own(this.#context.upload(Uint32Array.from(indices), { label: "rows of sequences" }));
    const { kernel, generated } = this.#kernel;
    const config = { grid: [indices.length, generated.grid[1]] as const, block: generated.block };
    return ({ states, pitch, from, to }) => {
      this.#clock?.on(stream, "summarise");
      const range = [pitch, from, to, this.#work.washout];
      stream.launch(kernel, config, states, ...range, this.#lengths, rowsThere, this.#from(0), ...this.#levels);
      this.#clock?.off(stream);
    };
  }

  /** Once all states were taken: B x F features, unless they stay there, or B x K shares. */
  async finish(stream: Stream): Promise<Matrix<Float64Array>> {
    const { classes, given, features } = this.#work;
    if (this.#given) {
      const pitches = { sourcePitch: given.cols, destinationPitch: this.#columns };
      stream.copy2D(this.#from(this.#statistics), this.#given, { columns: given.cols, rows: this.#rows, ...pitches });
    }
    if (features && !classes) {
      await stream.done();
      return Matrix.zeros(this.#rows, 0);
    }
    const columns = classes ? classes.readout.weights.rows : this.#columns;
    const result = classes ? this.#sharesOf(stream, classes) : this.#features;
    const values = await stream.download(result, this.#clock?.around(stream, result.byteLength));
    return new Matrix(this.#rows, columns, values);
  }

  dispose(): void {
    this.#owned.dispose();
  }

  /** The rows of features from column `first` of what this summary writes. */
  #from(first: number): DeviceSlice<"f64"> {
    return this.#features.slice((this.#work.features?.column ?? 0) + first, this.#rows * this.#columns);
  }

  #sharesOf(stream: Stream, { readout, layerNorm, shares, factor }: ClassScores): DeviceBuffer<"f64"> {
    const { weights, intercept, features } = readout;
    const transform = features.squares ? "squares" : features.state;
    const type = { kind: "classShares", features: this.#columns, classes: weights.rows, transform, layerNorm, shares } as const;
    const scaled = factor !== undefined;
    const { kernel, generated } = generatedKernel(this.#context, { ...type, scaled }, [
      ...(["const f64*", "const f64*", "const f64*", "f64*"] as const),
      ...(scaled ? (["f64"] as const) : []),
    ]);
    const given = (values: Float64Array, label: string) => this.#owned.own(this.#context.upload(values, { label }));
    const [w, b] = [given(weights.data, "readout of classes"), given(intercept, "intercepts of classes")];
    const out = this.#owned.own(this.#context.alloc("f64", this.#rows * weights.rows, { label: "shares of classes" }));
    this.#clock?.on(stream, "summarise");
    stream.launch(kernel, { grid: this.#rows, block: generated.block }, this.#features, w, b, out, ...(scaled ? [factor] : []));
    this.#clock?.off(stream);
    return out;
  }
}

/**
 * Statistics of series that lie on the device themselves, B x F in binary64, in the order of those
 * of states.
 */
export async function statisticsThere(
  context: Context,
  series: readonly DeviceMatrix[],
  which: WhichStatistics,
): Promise<Matrix<Float64Array>> {
  const { cols: size, rows, precision } = series[0]!;
  const work = { ...which, given: Matrix.zeros(series.length, 0) };
  const inputs = series.map((one) => ({ inputs: one }));
  using held = new Held();
  const summary = held.own(new DeviceSummary(context, { size, precision }, inputs, work));
  const stream = held.own(context.stream({ label: "statistics of inputs" }));
  stream.waitFor(series.map(({ values }) => values));
  const { values, start } = stretchOf(series[0]!);
  const pitch = rows * size;
  const even = series.every((one, b) => {
    const stretch = stretchOf(one);
    return one.rows === rows && stretch.values === values && stretch.start === start + b * pitch;
  });
  if (even) {
    const states = values.slice(start, start + series.length * pitch);
    summary.group(stream, [...series.keys()])({ states, pitch, from: 0, to: rows });
  } else for (const [b, one] of series.entries()) summary.group(stream, [b])({ states: one.values, pitch: 0, from: 0, to: one.rows });
  return await summary.finish(stream);
}
