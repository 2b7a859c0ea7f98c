// Statistics of sequences' states on the device, and what a readout of classes makes of them: only
// these come to the host. It runs no reservoir.
import { Held } from "@spillway/core/disposal.js";
import type { Context, DeviceBuffer, Stream } from "@spillway/gpu";
import { Matrix } from "@spillway/numerics";
import { type DeviceMatrix, stretchOf } from "../../reservoir/device-matrix.js";
import type { ClassScores, SummaryWork } from "../../reservoir/engine/summaries.js";
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
  readonly #columns: number;
  readonly #kernel: LoadedKernel;
  readonly #lengths: DeviceBuffer<"u32">;
  readonly #features: DeviceBuffer<"f64">;
  readonly #owned = new Held();

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
    const { last, mean, given } = work;
    this.#rows = sequences.length;
    const statistics = model.size * (Number(last) + Number(mean));
    this.#columns = statistics + given.cols;
    const { size, precision } = model;
    const type = { kind: "stateStatistics", size, type: realType(precision), features: this.#columns, last, mean } as const;
    const states = type.type === "f32" ? "const f32*" : "const f64*";
    this.#kernel = generatedKernel(context, type, [states, "u32", "u32", "u32", "u32", "const u32*", "const u32*", "f64*"]);
    const features = new Float64Array(given.cols > 0 ? this.#rows * this.#columns : 0);
    if (given.cols > 0) for (let b = 0; b < this.#rows; b++) features.set(given.row(b), b * this.#columns + statistics);
    try {
      this.#lengths = this.#owned.own(
        context.upload(
          Uint32Array.from(sequences, ({ inputs }) => inputs.rows),
          { label: "lengths" },
        ),
      );
      const label = "features of sequences";
      this.#features = this.#owned.own(
        given.cols > 0 ? context.upload(features, { label }) : context.zeros("f64", this.#rows * this.#columns, { label }),
      );
    } catch (error) {
      this.#owned.disposeQuietly();
      throw error;
    }
  }

  group(stream: Stream, indices: readonly number[]): (chunk: StateChunk) => void {
    const places = this.#owned.own(this.#context.upload(Uint32Array.from(indices), { label: "places of sequences" }));
    const { kernel, generated } = this.#kernel;
    const config = { grid: [indices.length, generated.grid[1]] as const, block: generated.block };
    return ({ states, pitch, from, to }) => {
      this.#clock?.on(stream, "summarise");
      const range = [pitch, from, to, this.#work.washout];
      stream.launch(kernel, config, states, ...range, this.#lengths, places, this.#features);
      this.#clock?.off(stream);
    };
  }

  /** Once all states were taken: B x F features, or B x K shares. */
  async finish(stream: Stream): Promise<Matrix<Float64Array>> {
    const { classes } = this.#work;
    const columns = classes ? classes.readout.weights.rows : this.#columns;
    const result = classes ? this.#sharesOf(stream, classes) : this.#features;
    const values = await stream.download(result, this.#clock?.around(stream, result.byteLength));
    return new Matrix(this.#rows, columns, values);
  }

  dispose(): void {
    this.#owned.dispose();
  }

  #sharesOf(stream: Stream, { readout, layerNorm, shares }: ClassScores): DeviceBuffer<"f64"> {
    const { weights, intercept, features } = readout;
    const transform = features.squares ? "squares" : features.state;
    const type = { kind: "classShares", features: this.#columns, classes: weights.rows, transform, layerNorm, shares } as const;
    const { kernel, generated } = generatedKernel(this.#context, type, ["const f64*", "const f64*", "const f64*", "f64*"]);
    const given = (values: Float64Array, label: string) => this.#owned.own(this.#context.upload(values, { label }));
    const [w, b] = [given(weights.data, "readout of classes"), given(intercept, "intercepts of classes")];
    const out = this.#owned.own(this.#context.alloc("f64", this.#rows * weights.rows, { label: "shares of classes" }));
    this.#clock?.on(stream, "summarise");
    stream.launch(kernel, { grid: this.#rows, block: generated.block }, this.#features, w, b, out);
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
  which: Pick<SummaryWork, "last" | "mean" | "washout">,
): Promise<Matrix<Float64Array>> {
  const { cols: size, rows, precision } = series[0]!;
  const work = { ...which, given: Matrix.zeros(series.length, 0) };
  const inputs = series.map((one) => ({ inputs: one }));
  const summary = new DeviceSummary(context, { size, precision }, inputs, work);
  try {
    const stream = context.stream({ label: "statistics of inputs" });
    try {
      stream.waitFor(series.map(({ values }) => values));
      const { values, start } = stretchOf(series[0]!);
      const pitch = rows * size;
      const even = series.every((one, b) => {
        const place = stretchOf(one);
        return one.rows === rows && place.values === values && place.start === start + b * pitch;
      });
      if (even) {
        const states = values.slice(start, start + series.length * pitch);
        summary.group(stream, [...series.keys()])({ states, pitch, from: 0, to: rows });
      } else for (const [b, one] of series.entries()) summary.group(stream, [b])({ states: one.values, pitch: 0, from: 0, to: one.rows });
      return await summary.finish(stream);
    } finally {
      stream.dispose();
    }
  } finally {
    summary.dispose();
  }
}
